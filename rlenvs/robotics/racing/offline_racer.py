"""OfflineRacer: drive a kart around a walled circuit; comes with datasets for offline learning.

## Description
A kart drives around a walled circuit for 200 s, as far as it can, and touching the walls is heavily penalized. After
OfflineMania (Macaluso, Sestini and Bagdanov, "A Benchmark Environment for Offline Reinforcement Learning in Racing
Games", IEEE CoG 2024, arXiv 2407.09415; ganjiro/OfflineMania), a Unity program whose numbers are known only from its
two small data files with 10 000 steps. These give the duration of a step (progress is 0.1 of the speed), the range of
the rays (25 m, from how fast the ray ahead shortens), their order (from how turns shift the readings), the width of the
road, the acceleration, the drag, the top speed and the effect of steering. The circuit and the kart are taken from the
picture in the readme, scaled by the width of the road. Unknown, and chosen here: how the kart rebounds, and the range
of its initial heading. The wheels neither slip nor lift. `rlenvs dataset OfflineRacer-v0 --quality all` writes the six
datasets with the original's names, sizes and mixture, as episodes and as shuffled rows, and one with costs for safe
offline learning.

## Action Space
Steering (1 turns right) and throttle (-1 brakes, then reverses). The kart turns by `bend` per meter, and by at most
`turn_rate`, which models its grip.

## Observation Space
Unscaled, as in the original. For each of fifteen rays over the half circle ahead, a flag that is 1 if nothing is hit
within `reach`, and the distance as a fraction of `reach`, 1 if nothing is hit. The ray ahead comes first, then pairs of
rays on its right and left, outwards. Then the velocity: to the right, up (always 0) and ahead, with frame="world" in
map axes (the heading is not observed), with frame="body" in the axes of the kart.

## Rewards
`progress` is the new distance along the center line beyond the farthest position so far, in meters, so driving back and
forth is rewarded only once. `contact` (weight 46) is minus the largest speed at which a wall was hit in this step (the
original's four steps with contact: 45.6 to 48.3 of the speed before the step, and one 65).

## Costs
`touch`: 1 in a step that touches a wall.

## Starting State
At rest on the straight before the first bend, in an area `start_length` long, up to `start_offset` off the center line
and rotated by up to `start_turn` from it.

## Episode End
Never terminated. Truncation: 2000 steps (200 s). Success: a lap is complete.

## Parameters
When the kart hits a wall it is put back to its last free position and rebounds backwards with the fraction `bounce` of
its speed, at any angle: a graze stops it like a frontal hit, where a real kart would scrape along. How the original
rebounds is unknown (four steps of its data touch a wall, and are penalized by the whole speed, not by the component
across it); datasets and agents here use this rule.

## Reference Scores
Mean return over seeds 0 to 99. The bound holds for every kart: top speed from the start on the shortest line within the
walls, cell by cell.

## Version History
v0: first version.
"""

import functools
import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from rlenvs.core import (
    Score,
    block,
    choice,
    continuous,
    cost,
    f8,
    i8,
    json_option,
    kernel,
    maths,
    mixed,
    param,
    recipe,
    term,
    uniform,
    world,
)
from rlenvs.kits.tracks import files, lidar, line
from rlenvs.kits.tracks.generator import random_road
from rlenvs.kits.tracks.road import AT, COLUMNS, body_gap, cell_at, coordinates, gained, locate, place
from rlenvs.robotics.racing.offline_drivers import basic, medium, skilled
from rlenvs.robotics.racing.render_kart import draw_kart

RAYS, VIEW = 15, math.pi
SUBSTEPS = 5  # of 0.02 s: Unity's physics step, and ML-Agents' usual decision period
WIDTH = 6.75  # m; the rays to both sides add up to 0.27 of their reach where the kart is parallel to the walls
FRONT, REAR, HALF = 1.1, 1.1, 0.6  # m from the kart's middle; side rays are never shorter than 0.025 of their reach
NOSE = 0.7  # m from the middle to where the rays begin; the ray ahead is never shorter than 0.016 of its reach
PIXEL = 0.08  # m, of the original's picture, in which the road is 84 pixels wide
# corners x, y and radius in pixels of the picture (1269 x 952), in the direction of travel
MANIA = ((107, 112, 55), (107, 574, 55), (692, 574, 55), (692, 854, 55), (1120, 854, 55), (1120, 112, 260))
START = 345  # pixels from the left, where the area of starts begins
CELLS, SPACING = 544, 0.5  # of the named circuits; m between rungs of given ones
MARGIN, LOOK, LOOK_TIME, EASE = 1.6, 2.0, 0.35, 0.8  # of the expert: m, m, s, share of what grip allows
TRIES, HORIZON = 20, 2000
FRAME = choice("world", "body", doc="axes of the velocity: those of the map, or of the kart")
(BODY,) = FRAME.codes("body")
TRACKS = ("mania", "twisty", "eight")


SPEC = world(
    "OfflineRacer-v0",
    doc=__doc__,
    source="OfflineMania (Macaluso, Sestini and Bagdanov, arXiv 2407.09415)",
    params={
        "dt": param(0.1, 0.05, 0.15, "s", "time step, of five physics steps"),
        "acceleration": param(6.6, 3.0, 10.0, "m/s^2", "acceleration at full throttle, at rest"),
        "drag": param(0.4, 0.1, 1.0, "1/s", "deceleration per speed"),
        "top_speed": param(5.6, 3.0, 8.0, "m/s", "largest speed"),
        "reverse_speed": param(2.0, 0.5, 4.0, "m/s", "largest speed backwards", limit=True),
        "bend": param(0.9, 0.4, 1.5, "rad/m", "turn per meter at full steering"),
        "turn_rate": param(1.8, 0.8, 3.0, "rad/s", "largest rate of turn"),
        "reach": param(25.0, 10.0, 40.0, "m", "length of the rays"),
        "bounce": param(0.2, 0.0, 0.5, "", "fraction of its speed with which the kart rebounds from a wall"),
        "start_length": param(14.0, 1.0, 100.0, "m", "length of the area of starts"),
        "start_offset": param(2.0, 0.0, 2.0, "m", "largest offset of starts from the center line"),
        "start_turn": param(0.5, 0.0, 0.5, "rad", "largest angle of starts to the direction of the road"),
    },
    options={
        "track": choice(*TRACKS, doc="the circuit; 'eight' crosses itself on a bridge"),
        "centre_line": json_option(
            None,
            files.centre_line,
            f"a custom circuit, {WIDTH} m wide by default: a CSV file, or a list of [x, y] or [x, y, right, left] (m)",
        ),
        "frame": FRAME,
    },
    sizes=lambda v: {"rungs": len(circuit(v).road)},
    data={"road": f8("rungs", COLUMNS), "line": f8("rungs"), "fan": f8(2, RAYS), "body": f8(3)},
    state={
        "position": f8(2),  # m, of the kart's middle
        "heading": f8,  # rad
        "speed": f8,  # m/s, along the heading
        "cell": i8.index_of("rungs"),  # of the road, that holds the kart
        "nose_cell": i8.index_of("rungs"),  # and the beginning of the rays
        "progress": f8,  # m along the centre line, from 0 to its length
        "driven": f8,  # m along the centre line since the start
        "best": f8,  # m, the most of that so far
        "contacts": i8,  # steps with contact so far
        "rays": f8(RAYS),  # m, from right to left
    },
    observation={
        "rays": block(
            RAYS,
            2,
            low=0.0,
            high=1.0,
            doc="nothing hit (0 or 1), and the distance as a fraction of the reach, by ray",
            raw=True,
            constant=True,
        ),
        "right": block(low=-8.0, high=8.0, unit="m/s", doc="velocity to the right", raw=True, constant=True),
        "up": block(low=-8.0, high=8.0, unit="m/s", doc="velocity up", raw=True, constant=True),
        "ahead": block(low=-8.0, high=8.0, unit="m/s", doc="velocity up the map, or ahead", raw=True),
    },
    action=continuous("steering", "throttle"),
    terms={
        "progress": term(
            0.0, 12.0, 1.0, "new distance along the center line beyond the farthest position so far, in meters"
        ),
        "contact": term(-8.0, 0.0, 46.0, "minus the speed [m/s] at which a wall was hit"),
    },
    costs={"touch": cost(1.0, doc="1 in a step that touches a wall")},
    horizon=HORIZON,
    fps=10,
    levels={"slippery": {"turn_rate": 0.8}, "twisty": {"track": "twisty"}},
    scores={"bound": Score(1255, 0, "top speed from the start, the shortest line across each cell")},
    expert_sees="state",
)


# --- circuits ---------------------------------------------------------------------------------------------------------


def mania() -> np.ndarray:
    """The original's circuit; its progress begins where the area of starts does."""
    points = files.rounded(np.array(MANIA) * PIXEL, spacing=1.0)
    first = np.hypot(points[:, 0] - START * PIXEL, points[:, 1] - MANIA[0][1] * PIXEL).argmin()
    return files.road_through(np.roll(points, -first, axis=0), width=WIDTH, cells=CELLS)


@functools.lru_cache(maxsize=8)
def _circuit(name: str, given: str) -> SimpleNamespace:
    if given:
        road = files.road_of_text(given, spacing=SPACING, width=WIDTH)
    elif name == "mania":
        road = mania()
    elif name == "twisty":
        road = random_road(4, length=320.0, width=WIDTH, difficulty=1.0, radius=5.5, cells=CELLS)
    else:
        rows = 4.0 * np.array(files.CENTRE_LINES["eight"])
        road = files.road_through(rows, width=WIDTH, cells=CELLS, bridge=True)
    return SimpleNamespace(road=road, line=line.smooth_line(road, MARGIN))


def circuit(values: Any) -> SimpleNamespace:
    """Road and the expert's line of the circuit that the options choose.

    Raises:
        ParameterError: a center line that `files.road_through` refuses.
    """
    return _circuit(values.track, files.rows_text(values.centre_line))


@SPEC.make_data
def data(values: Any) -> dict[str, Any]:
    found = circuit(values)
    return {"road": found.road, "line": found.line, "fan": lidar.fan(RAYS, VIEW), "body": np.array([FRONT, REAR, HALF])}


@kernel
def nose(s: Any) -> tuple[float, float, float, float]:
    """Where the rays begin (x, y [m]), and the vector of the heading (c, s)."""
    sn, c = maths.sin_cos(s.heading)
    return s.position[0] + NOSE * c, s.position[1] + NOSE * sn, c, sn


@kernel
def look(p: Any, s: Any) -> None:
    """Fill the rays."""
    x, y, c, sn = nose(s)
    s.nose_cell = locate(p.road, s.nose_cell, x, y)
    lidar.scan(p.road, s.nose_cell, x, y, c, sn, p.fan, VIEW, p.reach, s.rays)


@kernel
def ray_of(n: int) -> int:
    """The place from right to left of the ray that is observed as number n: ahead, then right and left in turn."""
    pair = (n + 1) // 2
    return RAYS // 2 - pair if n % 2 == 1 else RAYS // 2 + pair


# --- kernels ----------------------------------------------------------------------------------------------------------


@SPEC.reset
def reset(p, s, rng):
    for _ in range(TRIES):
        at, offset = uniform(rng, 0.0, p.start_length), uniform(rng, -p.start_offset, p.start_offset)
        turned = uniform(rng, -p.start_turn, p.start_turn)
        x, y, heading = place(p.road, at, offset)
        c, sn = maths.cos(heading + turned), maths.sin(heading + turned)
        s.cell, _ = cell_at(p.road, at)
        s.cell = locate(p.road, s.cell, x, y)
        s.position[0], s.position[1], s.heading = x, y, heading + turned
        if body_gap(p.road, s.cell, x, y, c, sn, p.body) > 0.0:
            break
    s.nose_cell = s.cell
    s.progress, _ = coordinates(p.road, s.cell, s.position[0], s.position[1])
    look(p, s)


@kernel
def drive(p, s, steering, throttle, h):
    """Move the kart for h seconds. Returns the speed [m/s] at which it hit a wall, 0 where it hit none."""
    speed = s.speed + h * (p.acceleration * throttle - p.drag * s.speed)
    speed = min(max(speed, -p.reverse_speed), p.top_speed)
    heading = s.heading - h * steering * min(max(p.bend * speed, -p.turn_rate), p.turn_rate)
    sn, c = maths.sin_cos(heading)
    x, y = s.position[0] + h * speed * c, s.position[1] + h * speed * sn
    cell = locate(p.road, s.cell, x, y)
    if body_gap(p.road, cell, x, y, c, sn, p.body) < 0.0:
        s.speed = -p.bounce * speed
        return abs(speed)
    s.position[0], s.position[1], s.heading, s.speed, s.cell = x, y, heading, speed, cell
    return 0.0


@SPEC.step
def step(p, s, a, rng, r):
    hit = 0.0
    for _ in range(SUBSTEPS):
        hit = max(hit, drive(p, s, a[0], a[1], p.dt / SUBSTEPS))
    progress, _ = coordinates(p.road, s.cell, s.position[0], s.position[1])
    s.driven += gained(p.road[p.road.shape[0] - 1, AT], s.progress, progress)
    s.progress = progress
    r.progress = max(s.driven - s.best, 0.0)
    s.best = max(s.best, s.driven)
    r.contact = -hit
    if hit > 0.0:
        r.touch = 1.0
        s.contacts += 1
    r.success = s.best >= p.road[p.road.shape[0] - 1, AT]
    look(p, s)


@SPEC.observe
def observe(p, s, o):
    for n in range(RAYS):
        distance = s.rays[ray_of(n)]
        o.rays[n, 0] = 1.0 if distance >= p.reach else 0.0
        o.rays[n, 1] = distance / p.reach
    if p.frame == BODY:
        o.ahead = s.speed
        return
    sn, c = maths.sin_cos(s.heading)
    o.right, o.ahead = s.speed * c, s.speed * sn


@SPEC.expert
def expert(p, s, a):
    """Pure pursuit of a smooth line at the largest speed from which it can brake for what comes."""
    rungs = p.road.shape[0] - 1
    spacing = p.road[rungs, AT] / rungs
    i, part = cell_at(p.road, s.progress + LOOK + LOOK_TIME * max(s.speed, 0.0))
    ax, ay = line.on_rung(p.road, i, p.line[i])
    bx, by = line.on_rung(p.road, i + 1, p.line[i + 1])
    dx, dy = ax + part * (bx - ax) - s.position[0], ay + part * (by - ay) - s.position[1]
    sn, c = maths.sin_cos(s.heading)
    bend = 2.0 * (c * dy - sn * dx) / max(dx * dx + dy * dy, 1e-6)
    wanted, brake = p.top_speed, 0.7 * p.acceleration
    i, _ = cell_at(p.road, s.progress)
    for n in range(int(p.top_speed * p.top_speed / (2.0 * brake * spacing)) + 2):
        sharp = abs(line.bend_of_line(p.road, p.line, (i + n) % rungs))
        slow = min(EASE * p.turn_rate / max(sharp, 1e-6), p.top_speed)
        wanted = min(wanted, math.sqrt(slow * slow + 2.0 * brake * spacing * n))
    speed = max(abs(s.speed), 0.5)
    a[0] = min(max(-bend * speed / min(p.bend * speed, p.turn_rate), -1.0), 1.0)
    a[1] = min(max((wanted - s.speed) / (p.acceleration * p.dt) + p.drag * wanted / p.acceleration, -1.0), 1.0)


@SPEC.draw
def draw(canvas, p, s):
    draw_kart(canvas, p, s)
    laps = float(s.best) / float(p.road[-1, AT])
    canvas.caption(f"{s.elapsed * p.dt:.0f} s", f"{s.speed:.1f} m/s", f"{laps:.2f} laps", f"{s.contacts} contacts")


@SPEC.keys
def keys(pressed, values):
    return [float(("right" in pressed) - ("left" in pressed)), float(("up" in pressed) - ("down" in pressed))]


@SPEC.datasets
def datasets():
    """Those of OfflineMania: 100 000 steps of a policy each, mixtures of 90, 7 and 3 %, and 5000 steps of two; and one
    with costs, most of whose drivers touch walls."""
    mixture = {basic: 90, medium: 7, skilled: 3}
    return {
        "basic": recipe({basic: 50}, doc="a slow driver that usually stops before some bend"),
        "medium": recipe(
            {medium: 50}, doc="a driver that sometimes completes the circuit, and occasionally touches a wall"
        ),
        "expert": recipe({skilled: 50}, doc="a fast driver"),
        "mixLarge": recipe(mixture, doc="90 % basic, 7 % medium, 3 % expert"),
        "mixSmall": recipe(mixture, kept=50, doc="as mixLarge, a fortieth of it"),
        "basicSmall": recipe({basic: 50}, kept=100, doc="as basic, a twentieth of it"),
        "costs": recipe(
            {skilled: 20, mixed(skilled, 0.2): 20, mixed(skilled, 0.5): 20, "random": 20},
            layout="costs",
            doc="the fast driver with shares of random actions, and random ones, with costs",
        ),
    }


def bound(values: Any) -> float:
    """Meters of progress that no kart exceeds in an episode: at top speed from the start on, by the shortest way across
    each cell, and two cells more for those in which it begins and ends."""
    road = circuit(values).road
    cells = len(road) - 1
    crossing = np.array([line.shortest_crossing(road, i, HALF) for i in range(cells)]) / values.top_speed
    spacing, seconds = road[-1, AT] / cells, values.dt * HORIZON
    laps = int(seconds / crossing.sum()) + 2
    starts = range(int(values.start_length / spacing) + 1)
    most = max(int(np.searchsorted(np.cumsum(np.roll(np.tile(crossing, laps), -i)), seconds)) for i in starts)
    return float((most + 2) * spacing)
