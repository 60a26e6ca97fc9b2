"""The racetracks of highway-env 1.12: closed tracks with lanes 5 m wide, from the inner (left) lane to the right.

A track is a table: for each road its nodes, the center of its bend (None for a straight), and for each lane two points,
or a radius and two angles in degrees. Bends with decreasing angles turn left.
"""

from typing import Any

from rlenvs.core import maths
from rlenvs.kits.roads.network import CONTINUOUS, NONE, RADIANS, STRIPED, Network

TRACKS = ("winding", "large", "oval")
WIDTH = 5.0  # m, of a lane


def racetrack(track: str = "winding") -> Network:
    """One of the three tracks."""
    network = Network()
    for start, end, centre, lanes in {"winding": winding, "large": large, "oval": oval}[track]():
        for place, numbers in enumerate(lanes):
            lines = (CONTINUOUS if place == 0 else NONE, CONTINUOUS if place == len(lanes) - 1 else STRIPED)
            usual: Any = {"width": WIDTH, "speed_limit": 10.0, "lines": lines}
            if centre is None:
                network.straight(start, end, *numbers, **usual)
            else:
                radius, begin, stop = numbers
                network.arc(start, end, centre, radius, begin * RADIANS, stop * RADIANS, **usual)
    return network


def winding() -> Any:
    """Racetrack-v0: two lanes, five straights and bends either way."""
    return (
        ("a", "b", None, (((42.0, 0.0), (100.0, 0.0)), ((42.0, 5.0), (100.0, 5.0)))),
        ("b", "c", (100.0, -20.0), ((20.0, 90.0, -1.0), (25.0, 90.0, -1.0))),
        ("c", "d", None, (((120.0, -20.0), (120.0, -30.0)), ((125.0, -20.0), (125.0, -30.0)))),
        ("d", "e", (105.0, -30.0), ((15.0, 0.0, -181.0), (20.0, 0.0, -181.0))),
        ("e", "f", (70.0, -30.0), ((20.0, 0.0, 136.0), (15.0, 0.0, 137.0))),
        ("f", "g", None, (((55.7, -15.7), (35.7, -35.7)), ((59.3934, -19.2), (39.3934, -39.2)))),
        ("g", "h", (18.1, -18.1), ((25.0, 315.0, 170.0), (30.0, 315.0, 165.0))),
        ("h", "i", (18.1, -18.1), ((25.0, 170.0, 56.0), (30.0, 170.0, 58.0))),
        ("i", "a", (43.2, 23.4), ((23.5, 240.0, 270.0), (18.5, 238.0, 268.0))),
    )


def large() -> Any:
    """Racetrack-large-v0: three lanes and longer straights."""
    slant = (((155.7, -45.7), (105.7, -95.7)), ((159.3934, -49.2), (109.3934, -99.2)))
    third = tuple(tuple(2.0 * b - a for a, b in zip(*ends, strict=True)) for ends in zip(*slant, strict=True))
    centre, radii = (88.1, -78.1), (25.0, 30.0, 35.0)
    back = [
        (
            (centre[0] + radius * maths.cos(205.0 * RADIANS), centre[1] + radius * maths.sin(205.0 * RADIANS)),
            (42.0 - last * maths.cos(30.0 * RADIANS), -15.0 - last * maths.sin(30.0 * RADIANS)),
        )
        for radius, last in zip(radii, (15.0, 20.0, 25.0), strict=True)
    ]
    return (
        ("a", "b", None, [((42.0, y), (200.0, y)) for y in (0.0, 5.0, 10.0)]),
        ("b", "c", (200.0, -20.0), [(radius, 90.0, -1.0) for radius in (20.0, 25.0, 30.0)]),
        ("c", "d", None, [((x, -20.0), (x, -61.0)) for x in (220.0, 225.0, 230.0)]),
        ("d", "e", (205.0, -60.0), [(radius, 0.0, -181.0) for radius in (15.0, 20.0, 25.0)]),
        ("e", "f", (170.0, -60.0), ((20.0, 0.0, 136.0), (15.0, 0.0, 137.0), (10.0, 0.0, 137.0))),
        ("f", "g", None, (*slant, third)),
        ("g", "h", centre, ((25.0, 317.0, 202.0), (30.0, 317.0, 205.0), (35.0, 317.0, 205.0))),
        ("h", "i", None, back),
        ("i", "a", (42.0, -15.0), ((15.0, 210.0, 88.0), (20.0, 210.0, 90.0), (25.0, 212.0, 88.0))),
    )


def oval() -> Any:
    """Racetrack-oval-v0 with its usual length, 100 m, and three lanes."""
    wider = (0.0, 5.0, 10.0)
    return (
        ("a", "b", None, [((0.0, w), (101.0, w)) for w in wider]),
        ("b", "c", (100.0, -20.0), [(20.0 + w, 90.0, 0.0) for w in wider]),
        ("c", "d", None, [((120.0 + w, -20.0), (120.0 + w, -50.0)) for w in wider]),
        ("d", "e", (105.0, -50.0), [(15.0 + w, 0.0, -90.0) for w in wider]),
        ("e", "f", None, [((105.0, -65.0 - w), (-5.0, -65.0 - w)) for w in wider]),
        ("f", "g", (-5.0, -50.0), [(15.0 + w, -90.0, -180.0) for w in wider]),
        ("g", "h", None, [((-20.0 - w, -50.0), (-20.0 - w, -20.0)) for w in wider]),
        ("h", "a", (0.0, -20.0), [(20.0 + w, 180.0, 90.0) for w in wider]),
    )
