"""The roads of highway-env 1.12: merge, roundabout, intersection, two-way, u-turn, exit, lane keeping,
parking lot.

Lanes are added in the same order, since lane numbers and tie-breaking depend on it.
"""

import math
from typing import Any

from rlenvs.core import maths
from rlenvs.kits.roads.network import CONTINUOUS, NONE, RADIANS, STRIPED, Network


def merge() -> Network:
    """Two lanes along x, and from the right an access lane that runs beside them for 80 m and ends."""
    network = Network()
    ends = (0.0, 230.0, 310.0, 460.0)
    for k in range(2):
        lines = (CONTINUOUS if k == 0 else NONE, STRIPED if k == 0 else CONTINUOUS)
        for n, (start, end) in enumerate((("a", "b"), ("b", "c"), ("c", "d"))):
            sides = (lines[0], STRIPED) if n == 1 else lines
            network.straight(start, end, (ends[n], 4.0 * k), (ends[n + 1], 4.0 * k), lines=sides)
    solid, side = (CONTINUOUS, CONTINUOUS), 3.25
    network.straight("j", "k", (0.0, 14.5), (150.0, 14.5), lines=solid, forbidden=True)
    wave = (side, 2.0 * math.pi / 160.0, 0.5 * math.pi)
    network.straight("k", "b", (150.0, 14.5 - side), (230.0, 14.5 - side), lines=solid, forbidden=True, wave=wave)
    network.straight("b", "c", (230.0, 8.0), (310.0, 8.0), lines=(NONE, CONTINUOUS), forbidden=True)
    return network


def roundabout() -> Network:
    """Two circular lanes and four roads, s, e, n and w, to them: "ser", "ses", "se" in, "sx", "sxs", "sxr" out."""
    network = Network()
    angle = 24.0
    arcs = (
        ("se", "ex", 90.0 - angle, angle),
        ("ex", "ee", angle, -angle),
        ("ee", "nx", -angle, -90.0 + angle),
        ("nx", "ne", -90.0 + angle, -90.0 - angle),
        ("ne", "wx", -90.0 - angle, -180.0 + angle),
        ("wx", "we", -180.0 + angle, -180.0 - angle),
        ("we", "sx", 180.0 - angle, 90.0 + angle),
        ("sx", "se", 90.0 + angle, 90.0 - angle),
    )
    for radius, lines in ((20.0, (CONTINUOUS, STRIPED)), (24.0, (NONE, CONTINUOUS))):
        for start, end, begin, stop in arcs:
            network.arc(start, end, (0.0, 0.0), radius, begin * RADIANS, stop * RADIANS, lines=lines)
    far, half, bend = 170.0, 42.5, 5.0
    curve = 17.0
    rest, pulsation = 85.0 - curve, 2.0 * math.pi / 85.0
    into = (bend, pulsation, -0.5 * math.pi)
    out = (bend, pulsation, -0.5 * math.pi + pulsation * rest)
    solid, way_in, way_out = (CONTINUOUS, CONTINUOUS), (STRIPED, CONTINUOUS), (NONE, CONTINUOUS)
    off = 2.0 + bend
    roads = (
        ("s", (2.0, far), (2.0, half), (off, half), (off, half - curve), (-off, -half + rest), (-off, half), -2.0),
        ("e", (far, -2.0), (half, -2.0), (half, -off), (half - curve, -off), (-half + rest, off), (half, off), 2.0),
        ("n", (-2.0, -far), (-2.0, -half), (-off, -half), (-off, -half + curve), (off, half - rest), (off, -half), 2.0),
        ("w", (-far, 2.0), (-half, 2.0), (-half, off), (-half + curve, off), (half - rest, -off), (-half, -off), -2.0),
    )
    for side, far_end, turn, first, last, leave, gone, aside in roads:
        network.straight(f"{side}er", f"{side}es", far_end, turn, lines=way_in)
        network.straight(f"{side}es", f"{side}e", first, last, lines=solid, wave=into)
        network.straight(f"{side}x", f"{side}xs", leave, gone, lines=solid, wave=out)
        along_y = side in "sn"
        near = (aside, turn[1]) if along_y else (turn[0], aside)
        away = (aside, far_end[1]) if along_y else (far_end[0], aside)
        network.straight(f"{side}xs", f"{side}xr", near, away, lines=way_out)
    return network


def intersection() -> Network:
    """Four roads, below, left, above and right: "o0" to "ir0" in, "il0" to "o0" out. Who drives along x goes first."""
    network = Network()
    lane, right = 4.0, 9.0
    left = right + lane
    outer, access = right + 0.5 * lane, 100.0

    def turned(corner: int, x: float, y: float) -> tuple[float, float]:
        """A point of the road below, on another road."""
        sine, cosine = maths.sin(0.5 * math.pi * corner), maths.cos(0.5 * math.pi * corner)
        return cosine * x - sine * y, sine * x + cosine * y

    for corner in range(4):
        turn, first = 0.5 * math.pi * corner, 3 if corner % 2 else 1
        into = f"ir{corner}"
        usual: dict[str, Any] = {"speed_limit": 10.0}
        begin, end = turned(corner, 0.5 * lane, access + outer), turned(corner, 0.5 * lane, outer)
        network.straight(f"o{corner}", into, begin, end, lines=(STRIPED, CONTINUOUS), priority=first, **usual)
        out, centre = f"il{(corner - 1) % 4}", turned(corner, outer, outer)
        sides: dict[str, Any] = {"lines": (NONE, CONTINUOUS), "priority": first, **usual}
        network.arc(into, out, centre, right, turn + math.pi, turn + 1.5 * math.pi, **sides)
        out, centre = f"il{(corner + 1) % 4}", turned(corner, -left + 0.5 * lane, left - 0.5 * lane)
        sides = {"lines": (NONE, NONE), "priority": first - 1, **usual}
        network.arc(into, out, centre, left, turn, turn - 0.5 * math.pi, **sides)
        out, end = f"il{(corner + 2) % 4}", turned(corner, 0.5 * lane, -outer)
        begin = turned(corner, 0.5 * lane, outer)
        network.straight(into, out, begin, end, lines=(STRIPED, NONE), priority=first, **usual)
        side = (corner - 1) % 4
        begin, end = turned(corner, outer, 0.5 * lane), turned(corner, access + outer, 0.5 * lane)
        network.straight(f"il{side}", f"o{side}", begin, end, lines=(NONE, CONTINUOUS), priority=first, **usual)
    return network


def two_way() -> Network:
    """Two lanes along x, 800 m long, of which the left one is also that of who comes the other way."""
    network = Network()
    network.straight("a", "b", (0.0, 0.0), (800.0, 0.0), lines=(CONTINUOUS, STRIPED))
    network.straight("a", "b", (0.0, 4.0), (800.0, 4.0), lines=(NONE, CONTINUOUS))
    network.straight("b", "a", (800.0, 0.0), (0.0, 0.0), lines=(NONE, NONE))
    return network


def u_turn() -> Network:
    """Two lanes along x, half a circle to the left, two lanes back."""
    network = Network()
    for y, lines in ((4.0, (CONTINUOUS, STRIPED)), (0.0, (NONE, CONTINUOUS))):
        network.straight("c", "d", (128.0, y), (0.0, y), lines=lines)
    for radius, lines in ((20.0, (CONTINUOUS, STRIPED)), (24.0, (NONE, CONTINUOUS))):
        network.arc("b", "c", (128.0, 24.0), radius, 0.5 * math.pi, -0.5 * math.pi, lines=lines)
    for y, lines in ((44.0, (CONTINUOUS, STRIPED)), (48.0, (NONE, CONTINUOUS))):
        network.straight("a", "b", (0.0, y), (128.0, y), lines=lines)
    return network


def highway_exit() -> Network:
    """Six lanes along x, a seventh between 400 and 500 m, and a bend to the right from its end. Limits fall by lane."""
    network = Network()
    for start, end, lanes, begin, stop in (
        ("0", "1", 6, 0.0, 400.0),
        ("1", "2", 7, 400.0, 500.0),
        ("2", "3", 6, 500.0, 1e3),
    ):
        for k in range(lanes):
            lines = (CONTINUOUS if k == 0 else STRIPED, CONTINUOUS if k == lanes - 1 else NONE)
            limit = 26.0 - 3.4 * k
            network.straight(start, end, (begin, 4.0 * k), (stop, 4.0 * k), lines=lines, speed_limit=limit)
    network.arc("2", "exit", (500.0, 174.0), 150.0, 1.5 * math.pi, 2.0 * math.pi, forbidden=True)
    return network


def lane_keeping() -> Network:
    """A straight lane, 10 m wide, then half a kilometer of a sine with 5 m of amplitude and 100 m of length."""
    network = Network(widest=10.0)
    usual: dict[str, Any] = {"width": 10.0, "lines": (STRIPED, STRIPED)}
    wave = (5.0, 2.0 * math.pi / 100.0, 0.0)
    network.straight("a", "b", (0.0, 0.0), (500.0, 0.0), wave=wave, **usual)
    network.straight("c", "d", (50.0, 50.0), (115.0, 15.0), **usual)
    network.straight("d", "a", (115.0, 15.0), (135.0, 15.0 - 20.0 * 35.0 / 65.0), **{**usual, "lines": (NONE, STRIPED)})
    return network


def parking_lot(spots: int = 14) -> Network:
    """Two rows of places, 4 m wide and 8 m long, above and below an aisle of 20 m."""
    network = Network()
    for k in range(spots):
        x = (k + 1 - spots // 2) * 4.0 - 2.0
        for start, end, side in (("a", "b", 1.0), ("b", "c", -1.0)):
            solid = (CONTINUOUS, CONTINUOUS)
            network.straight(start, end, (x, 10.0 * side), (x, 18.0 * side), lines=solid)
    return network
