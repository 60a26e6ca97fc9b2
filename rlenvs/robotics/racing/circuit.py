"""Circuits for car races: named, custom or random ones as options of a world, and the road in its state."""

import functools
from types import SimpleNamespace
from typing import Any

import numpy as np

from rlenvs.core import below, choice, f8, i8, integer, json_option, kernel, param, u8, uniform
from rlenvs.kits.tracks import bounds, files, line
from rlenvs.kits.tracks.generator import ROAD_STATE, draw_road
from rlenvs.kits.tracks.road import COLUMNS, place
from rlenvs.kits.vehicles.single_track import CAR
from rlenvs.robotics.racing.driver import DYNAMICS

NAMES = ("club", "oval", "eight", "random")
CELLS = 256  # of named and random circuits; a multiple of line.COARSEST
SPACING = 0.25  # m between rungs of given circuits
LARGEST_NUMBER = 2**31 - 1
LINE_MARGIN = 0.3  # m that the expert's line keeps from the borders, among others and on random circuits
LINE_BRAKING = 0.3  # of the brakes, for which the line is looked for
ALONE_MARGIN, ALONE_BRAKING = 0.35, 0.4  # the same for one car alone on a circuit that is not drawn
# Shares of friction, and of the brakes, that experts use, by the kind of circuit: each of linear, sliding and rolling
# cars. Linear tyres hold far beyond the limit, and sliding ones need a reserve to be steered with. Harder braking takes
# so much load from the rear axle that it comes round. A random circuit's line is only smooth, and a given circuit may
# begin in a bend. From a search on each kind of circuit; on named ones linear tyres still hold at 3.6.
ALONE_BRAKES, AMONG_BRAKES = (0.18, 0.28, 0.34), (0.34, 0.34, 0.34)
ALONE = {
    "named": ((3.2, 0.9, 1.0), ALONE_BRAKES),
    "random": ((1.1, 0.8, 1.0), ALONE_BRAKES),
    "given": ((1.1, 0.68, 0.85), ALONE_BRAKES),
}
AMONG_OTHERS = {
    "named": ((1.1, 0.62, 0.68), AMONG_BRAKES),
    "random": ((1.02, 0.58, 0.63), AMONG_BRAKES),
    "given": ((1.02, 0.58, 0.63), AMONG_BRAKES),
}
ROUNDS = 40  # of the search for the line of a circuit that is not drawn
NEAREST = 0.155  # m, half the width of a car: how near its middle comes to a border
BEHIND = 0.35  # m from the first car of the grid to the start line
TIGHTEST = 0.85  # radius of the tightest bend of a random circuit, relative to its width


CIRCUIT_PARAMS = {
    "length": param(60.0, 40.0, 100.0, "m", "length of a random track"),
    "width": param(2.2, 1.6, 2.6, "m", "width of a random track"),
    "difficulty": param(0.5, 0.0, 1.0, "", "curviness of a random track"),
}
CIRCUIT_OPTIONS: dict[str, Any] = {
    "track": choice(*NAMES, doc="the track; 'random' draws a new one for every episode"),
    "centre_line": json_option(
        None, files.centre_line, "a custom track: a CSV file, or a list of [x, y] or [x, y, right, left] (m)"
    ),
    "track_seed": integer(
        -1, -1, LARGEST_NUMBER, "number of the random track for all episodes; -1 for a new one in each"
    ),
}
RANDOM = {"track": "random", "track_seed": 3}  # settings under which the parameters show
CIRCUIT_DATA = {
    "fixed_road": f8("rungs", COLUMNS),
    "fixed_line": f8("rungs"),
    "drawn": i8,
    "cornering": f8,  # share of friction that the expert uses,
    "braking": f8,  # and of the brakes
}
CIRCUIT_STATE = {
    **ROAD_STATE,
    "line": f8("rungs"),  # offsets [m] of the line that experts drive
    "speeds": f8("rungs"),  # m/s that friction allows on it
    "built": f8(5),  # what the above was made from: number + 1, length, width, difficulty, and 1 once made
    "limits": f8(5),  # what the speeds were made from
    "track_rng": u8(2),
}


@functools.lru_cache(maxsize=16)
def _fixed_road(name: str, given: str) -> np.ndarray:
    """The road of a named or given circuit."""
    if given:
        return files.road_of_text(given, spacing=SPACING, multiple=line.COARSEST)
    return files.named_road(name, cells=CELLS)


@functools.lru_cache(maxsize=16)
def _fixed_line(name: str, given: str, margin: float, braking: float) -> np.ndarray:
    """The line that experts drive on it."""
    grip, drive, switch, top = usual_limits()
    limits = {"grip": grip, "drive": drive, "brake": braking * drive, "switch": switch, "top": top}
    return line.fast_line(_fixed_road(name, given), margin=margin, rounds=ROUNDS, **limits)[0]


def usual_limits() -> tuple[float, float, float, float]:
    """Friction, acceleration [m/s^2], speed [m/s] from which power limits it, top speed [m/s] of the usual car."""
    friction, drive = CAR["friction"].default, CAR["max_acceleration"].default
    return friction, drive, CAR["switch_speed"].default, CAR["top_speed"].default


def kind_of_circuit(values: Any) -> str:
    """The kind of circuit: "given" where there is a center line, else "random" or "named"."""
    if values.centre_line is not None:
        return "given"
    return "random" if values.track == "random" else "named"


def fixed_road(values: Any) -> np.ndarray:
    """The road of a circuit that is not drawn.

    Raises:
        ParameterError: a center line that `files.road_through` refuses.
    """
    if kind_of_circuit(values) == "random":
        return np.zeros((CELLS + 1, COLUMNS))
    return _fixed_road(values.track, files.rows_text(values.centre_line))


def fixed_line(values: Any) -> np.ndarray:
    """The line of a circuit that is not drawn."""
    if kind_of_circuit(values) == "random":
        return np.zeros(CELLS + 1)
    keeps = (ALONE_MARGIN, ALONE_BRAKING) if values.agents == 1 else (LINE_MARGIN, LINE_BRAKING)
    return _fixed_line(values.track, files.rows_text(values.centre_line), *keeps)


def circuit_sizes(values: Any) -> dict[str, int]:
    """The named size that a circuit adds."""
    return {"rungs": len(fixed_road(values))}


def circuit_data(values: Any) -> dict[str, Any]:
    """The arrays of CIRCUIT_DATA."""
    kind, tyres = kind_of_circuit(values), DYNAMICS.values.index(values.dynamics)
    cornering, braking = (ALONE if values.agents == 1 else AMONG_OTHERS)[kind]
    return {
        "fixed_road": fixed_road(values),
        "fixed_line": fixed_line(values),
        "drawn": int(kind == "random"),
        "cornering": cornering[tyres],
        "braking": braking[tyres],
    }


@kernel
def set_circuit(p: Any, s: Any, rng: Any) -> None:
    """Put the road of this episode and the expert's line and speeds into the state, unless they are there."""
    built = s.built
    if not p.drawn:
        if built[4] == 0.0:
            for i in range(s.line.size):
                s.line[i] = p.fixed_line[i]
                for column in range(COLUMNS):
                    s.road[i, column] = p.fixed_road[i, column]
    else:
        number = p.track_seed if p.track_seed >= 0 else below(rng, LARGEST_NUMBER)
        same = built[0] == number + 1.0 and built[1] == p.length and built[2] == p.width
        if not (same and built[3] == p.difficulty):
            built[0], built[1], built[2], built[3], built[4] = number + 1.0, p.length, p.width, p.difficulty, 0.0
            s.track_rng[0], s.track_rng[1] = number + 1, 1
            for _ in range(20):  # small seeds take a few draws to mix
                uniform(s.track_rng, 0.0, 1.0)
            draw_road(
                s.track_rng, s.spline, s.widths, s.road, p.length, p.width, p.difficulty, TIGHTEST * p.width
            )  # fmt: skip
            line.straighten(s.road, s.line, LINE_MARGIN)
    limits = s.limits
    same = limits[0] == p.friction and limits[1] == p.max_acceleration and limits[2] == p.switch_speed
    if built[4] == 0.0 or not (same and limits[3] == p.top_speed):
        limits[0], limits[1], limits[2], limits[3] = p.friction, p.max_acceleration, p.switch_speed, p.top_speed
        line.fastest_speeds(
            *(s.road, s.line, s.speeds, p.cornering * p.friction, p.max_acceleration, p.braking * p.max_acceleration),
            *(p.switch_speed, p.top_speed),
        )
    built[4] = 1.0


def bound_of(road: np.ndarray, laps: int) -> SimpleNamespace:
    """What is known of the least time [s] of some laps from rest on the grid, for the usual car.

    Returns:
        proved: that no car can beat, whatever its tires hold: the shortest way at full power.
        sliding: that no car can beat on tires whose forces friction bounds, proved too.
        computed: of a point mass that friction holds, on the best line found. Not proved to be the least.
        lap: the same for a flying lap.
        line: the line of `computed`.
    """
    grip, drive, switch, top = usual_limits()
    limits = {"drive": drive, "switch": switch, "top": top}
    best, speeds, lap = line.fast_line(road, margin=NEAREST, grip=grip, brake=grip * line.GRAVITY, rounds=120, **limits)
    computed = line.standing_time(road, best, speeds, laps, (grip, drive, switch, top))
    x, y, _ = place(road, -BEHIND, 0.0)
    proved, sliding = (bounds.least_laps(road, (x, y), NEAREST, laps, **limits, grip=held) for held in (None, grip))
    return SimpleNamespace(computed=computed, lap=lap, proved=proved, sliding=sliding, line=best)
