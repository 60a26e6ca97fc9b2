"""F1Tenth: race small cars with a lidar, against the clock or against each other.

## Description
One to eight cars of scale 1:10 drive laps of a closed track. Cars, sensors, controllers and numbers are those of
F1TENTH's simulator (O'Kelly, Zheng, Karthik and Mangharam, "F1TENTH: An Open-source Evaluation Environment for
Continuous Control and Reinforcement Learning", NeurIPS 2019 Competition Track; repository f1tenth/f1tenth_gym). Cars
move as there, step by step, up to rounding (`level="original"` also has its reward and its steps). With
dynamics="brush" the same car has tires whose grip saturates, so it slides in corners that the original takes with
lateral forces of many times its weight; dynamics="kinematic" rolls without slip.

Different from the original: borders are polylines and not cells of an image, so distances are exact at any range, and
beams have exact directions (there one of 2000); a car touches a border when its body does (there when a beam is shorter
than a car outline that is some centimeters too short, and only while it moves); a car that has touched something is out
(there its heading jumps to 0); in reverse a car rolls without slip (there it diverges above 0.5 m/s); laps are counted
along the track (there by the distance from the start line, in whichever direction it is crossed); cars are on the track
at any slope; everything is seeded.

Lower bounds for a lap of the club track from rest are 4.5 s with any tires and 8.0 s with sliding tires; both are
proved (`circuit.bound_of`). A point mass limited by friction needs 8.3 s on the best line found. The scripted driver
needs 6.9 s on linear tires, whose grip is unlimited, and 10.0 s on sliding ones; it completes 100 of 100 random tracks.
Agents that see the map (`level="map"`) learned to drive the lap in 7.6 s. Among other cars drivers keep a reserve,
follow, and pass slower cars where there is room; in a pack of eight 97 % finish.

Tracks: "club", "oval", "eight" (on a bridge), "random", or a custom `centre_line`.

## Action Space
Steering angle as a fraction of `max_steer`, positive to the left; and speed as a fraction of `top_speed` forwards, or
of `reverse_speed` backwards. Controllers convert them to steering rate and acceleration in every step of `dt`, steering
with a delay of `delay` steps; an action is applied for `substeps` steps.

## Observation Space
Distances of `beams` over `view` rad, from right to left, with `lidar_noise`; speed, yaw rate, steering angle and slip
angle. With observation="track", instead of the lidar: offset from the center line, distances from both borders, sine
and cosine of the heading relative to the road, the road's curvature at 12 points up to 9 m ahead, and for the nearest
`neighbours` other cars their progress and offset relative to the car, and their speed (zeros if there is none).

## Rewards
Per car. `progress` is the distance gained along the center line [m], `time` minus the duration of the step [s]: a lap
of 73 m in 12 s gives a return of 61. `contact` (weight 10) is -1 in the step in which the car touches a border or
another car; `finish` (weight 10) is 1 over the rank in the step in which the last lap is complete; `overtake` (weight
0.5) is the number of places gained. `original` (weight 0) is the original's reward, the duration of the step;
reward="original" uses only this.

## Costs
Indicators per step: `contact`; `near_border`, less than 0.1 m from a border; `near_car`, less than 0.15 m from another.

## Starting State
At rest behind the start line in two rows, 0.8 m from car to car, with small random errors. With start="anywhere" the
start line is at a random place on the track, the same for all cars. `patches` slippery patches are at random places.

## Episode End
Termination, of each car: all laps are complete, or contact. Such a car is removed. Truncation: 30 s for each lap.
Success: all laps are complete; with several cars, before the others.

## Parameters
SI units. The tires of dynamics="linear" are integrated in steps of `dt` above a speed that is 0.5 m/s for the default
car, and higher for longer steps and stiffer tires; below it the car rolls without slip.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

import functools

import numpy as np

from rlenvs.core import (
    b1,
    block,
    choice,
    continuous,
    cost,
    f8,
    i8,
    integer,
    json_option,
    kernel,
    maths,
    param,
    term,
    u8,
    uniform,
    world,
)  # fmt: skip
from rlenvs.core.declare.rng import next_word
from rlenvs.kits.tracks import lidar
from rlenvs.kits.tracks.road import (
    AT,
    HEADING,
    LEFT,
    RIGHT,
    bend_at,
    cell_at,
    coordinates,
    gained,
    gaps,
    locate,
    place,
)  # fmt: skip
from rlenvs.kits.vehicles import single_track
from rlenvs.kits.vehicles.single_track import CAR, SLIP, SPEED, STATES, STEER, YAW, YAW_RATE, X, Y
from rlenvs.robotics.racing import circuit, driver
from rlenvs.robotics.racing.circuit import BEHIND
from rlenvs.robotics.racing.driver import DYNAMICS
from rlenvs.robotics.racing.f1tenth_motion import (
    BORDER,
    CAR_CONTACT,
    FAR_CAR,
    FINISHED,
    INTEGRATOR,
    RACING,
    SHAPE,
    nearest_car,
    tick,
)
from rlenvs.robotics.racing.f1tenth_render import draw_laps

MOST_CARS = 8
REACH = 30.0  # m, of the lidar
LAP_SECONDS, DT = 30.0, 0.01
ROW, ASIDE = 0.8, 0.42  # of the grid: m from car to car, share of the half width
PREVIEW, PREVIEW_STEP = 12, 0.75  # m
NEAR_BORDER, NEAR_CAR = 0.1, 0.15  # m
PATCH_LENGTH, PATCH_WIDTH = (1.0, 4.0), (0.5, 1.5)  # m
OBSERVATION = choice("lidar", "track", doc="lidar distances, or quantities from a map")
(LIDAR,) = OBSERVATION.codes("lidar")
START = choice("grid", "anywhere", doc="position of the start line")
(ANYWHERE,) = START.codes("anywhere")
OUTCOMES = ("", "finished", "touched the border", "touched a car")


ORIGINAL = {"progress": 0.0, "time": 0.0, "contact": 0.0, "finish": 0.0, "overtake": 0.0, "original": 1.0}


def _view(given):
    """The lidar's field of view."""
    angle = float(given)
    if not 0.1 <= angle <= 6.28:
        raise ValueError(f"view={angle} is not in [0.1, 6.28] rad")
    return angle


def sizes(values):
    seen = values.observation == "lidar"
    return {
        **circuit.circuit_sizes(values),
        "agents": values.agents,
        "beams": values.beams if seen else 0,
        "middle": 0 if seen else 1,
        "pair": 0 if seen else 2,
        "preview": 0 if seen else PREVIEW,
        "rivals": 0 if seen else values.neighbours,
        "line_of_delay": max(values.delay, 1),
        "patches": values.patches,
    }


SPEC = world(
    "F1Tenth-v0",
    doc=__doc__,
    source="F1TENTH (O'Kelly et al., NeurIPS 2019 Competition Track), f1tenth/f1tenth_gym",
    agents=True,
    params={
        "dt": param(DT, 0.005, 0.02, "s", "step of the physics"),
        **CAR,
        "lidar_noise": param(0.01, 0.0, 0.1, "m", "standard deviation of the lidar's distances"),
        "patch_grip": param(0.5, 0.2, 1.0, "", "friction on a patch, relative to the road's"),
        **circuit.CIRCUIT_PARAMS,
    },
    options={
        "agents": integer(1, 1, MOST_CARS, "number of cars"),
        "laps": integer(1, 1, 20, "laps of a race"),
        **circuit.CIRCUIT_OPTIONS,
        "dynamics": DYNAMICS,
        "integrator": INTEGRATOR,
        "delay": integer(2, 0, 20, "delay of the steering, in steps of `dt`"),
        "substeps": integer(4, 1, 20, "steps of `dt` per action"),
        "observation": OBSERVATION,
        "beams": integer(1080, 1, 4096, "number of beams of the lidar"),
        "view": json_option(4.7, _view, "angle [rad] that the lidar covers, at most 6.28"),
        "neighbours": integer(1, 0, MOST_CARS - 1, "number of other cars in the observation 'track'"),
        "patches": integer(0, 0, 16, "number of slippery patches on the track"),
        "start": START,
        "reward": choice(
            *("progress", "original"),
            doc="progress and time, or the original's reward: the duration of each step",
            sets={
                "progress": {},
                "original": ORIGINAL,
            },
        ),
    },
    sizes=sizes,
    data={**circuit.CIRCUIT_DATA, "fan": f8(2, "beams"), "field_of_view": f8},
    persistent=circuit.CIRCUIT_STATE,
    state={
        "car": f8("agents", STATES),
        "delayed": f8("agents", "line_of_delay"),  # rad, steering commands on their way, the newest first
        "ticks": i8,  # steps of the physics
        "cell": i8("agents").index_of("rungs"),  # of the road, where the car is
        "origin": f8,  # m, progress of the start line
        "progress": f8("agents"),  # m along the road, less than a lap
        "offset": f8("agents"),  # m from the centre line, to the left
        "travelled": f8("agents"),  # m gained since the start line
        "laps_done": i8("agents"),
        "lap_began": f8("agents"),  # s
        "last_lap": f8("agents"),  # s; 0 before the first
        "best_lap": f8("agents"),
        "end": i8("agents"),  # RACING ... CAR_CONTACT
        "gone": b1("agents"),
        "was_gone": b1("agents"),  # before the step
        "finished": i8,  # cars
        "patch": f8("patches", 5),
        "noise": u8(2),  # from which the lidar's noise follows
        "work": f8(5, STATES),
        "standing": i8("agents"),  # cars that are ahead
        "gap": f8("agents"),  # m, distance of the body from the borders
    },
    observation={
        "lidar": block("beams", low=0.0, high=REACH, unit="m", doc="distances, from right to left"),
        "offset": block("middle", low=-1.5, high=1.5, unit="m", doc="offset from the center line, to the left"),
        "sides": block("pair", low=0.0, high=3.0, unit="m", doc="distances from the left and the right border"),
        "direction": block("pair", low=-1.0, high=1.0, doc="sine and cosine of the heading relative to the road"),
        "preview": block("preview", low=-1.0, high=1.0, unit="1/m", doc="curvature of the road ahead"),
        "rivals": block(
            "rivals",
            3,
            low=-20.0,
            high=20.0,
            doc="progress, offset [m], relative, and speed [m/s] of the nearest",
            constant=True,
        ),
        "speed": block(low=-8.0, high=25.0, unit="m/s", doc="speed, negative backwards"),
        "yaw_rate": block(low=-15.0, high=15.0, unit="rad/s", doc="yaw rate"),
        "steer": block(low=-0.6, high=0.6, unit="rad", doc="steering angle"),
        "slip": block(low=-1.6, high=1.6, unit="rad", doc="slip angle"),
    },
    action=continuous("steering", "speed"),
    terms={
        "progress": term(-10.0, 10.0, 1.0, "distance gained along the center line, in meters"),
        "time": term(-0.4, 0.0, 1.0, "minus the duration of the step in seconds"),
        "contact": term(-1.0, 0.0, 10.0, "-1 for touching a border or a car"),
        "finish": term(0.0, 1.0, 10.0, "1 over the rank, in the step that completes the last lap"),
        "overtake": term(-MOST_CARS, MOST_CARS, 0.5, "places gained"),
        "original": term(0.0, 0.4, 0.0, "the original's reward: the duration of the step in seconds"),
    },
    costs={
        "contact_cost": cost(0.1, doc="1 in a step with a contact"),
        "near_border": cost(25.0, doc="1 while less than 0.1 m from a border"),
        "near_car": cost(25.0, doc="1 while less than 0.15 m from another car"),
    },
    horizon=lambda values: round(LAP_SECONDS * values.laps / (DT * values.substeps)),
    fps=lambda values: round(1.0 / (DT * values.substeps)),
    teams=lambda values: list(range(values.agents)),
    players=("racer", "cautious"),
    expert_sees="state",
    levels={
        "easy": {"track": "oval"},
        "hard": {"track": "random", "difficulty": 1.0},
        "wet": {"patches": 6},
        "drift": {"dynamics": "brush"},
        "map": {"observation": "track", "neighbours": 0},
        "original": {"substeps": 1, "laps": 2, "reward": "original"},
    },
    probe={
        "length": circuit.RANDOM,
        "width": circuit.RANDOM,
        "difficulty": circuit.RANDOM,
        "patch_grip": {"patches": 16},
        "rear_drive": {"dynamics": "brush"},
    },
)


@SPEC.make_data
def data(values):
    beams = values.beams if values.observation == "lidar" else 0
    fan = lidar.fan(beams, values.view) if beams else np.zeros((2, 0))
    return {**circuit.circuit_data(values), "fan": fan, "field_of_view": values.view}


@SPEC.reset
def reset(p, s, rng):
    circuit.set_circuit(p, s, rng)
    length = s.road[s.road.shape[0] - 1, AT]
    if p.start == ANYWHERE:
        s.origin = uniform(rng, 0.0, length)
    for n in range(s.patch.shape[0]):
        middle, half = uniform(rng, -0.8, 0.8), 0.5 * uniform(rng, PATCH_WIDTH[0], PATCH_WIDTH[1])
        s.patch[n, 0], s.patch[n, 1] = uniform(rng, 0.0, length), uniform(rng, PATCH_LENGTH[0], PATCH_LENGTH[1])
        s.patch[n, 2], s.patch[n, 3], s.patch[n, 4] = middle - half, middle + half, p.patch_grip
    for k in range(s.gone.size):
        line_up(p, s, k, rng)
    stir(s, rng)


@kernel
def line_up(p, s, k, rng):
    """Put a car into its place of the grid."""
    x = s.car[k]
    behind = -BEHIND - ROW * k + uniform(rng, -0.05, 0.05)
    i, _ = cell_at(s.road, s.origin + behind)
    aside = 0.0
    if s.gone.size > 1:
        aside = ASIDE * (s.road[i, LEFT] if k % 2 == 0 else -s.road[i, RIGHT])
    x[X], x[Y], heading = place(s.road, s.origin + behind, aside + uniform(rng, -0.05, 0.05))
    x[YAW] = heading + uniform(rng, -0.05, 0.05)
    single_track.wrap_yaw(x)
    s.cell[k] = locate(s.road, i, x[X], x[Y])
    s.progress[k], s.offset[k] = coordinates(s.road, s.cell[k], x[X], x[Y])
    s.travelled[k] = gained(s.road[s.road.shape[0] - 1, AT], s.origin, s.progress[k])
    s.standing[k] = k


@kernel
def stir(s, rng):
    """New numbers for the lidar's noise."""
    s.noise[0], s.noise[1] = next_word(rng), next_word(rng)


# --- a step -----------------------------------------------------------------------------------------------------------


@SPEC.step
def step(p, s, a, rng, r):
    rank = s.finished + 1
    for k in range(s.gone.size):
        r.progress[k], s.was_gone[k] = -s.travelled[k], s.gone[k]
    for _ in range(p.substeps):
        tick(p, s, a)
    stir(s, rng)
    for k in range(s.gone.size):
        if s.gone[k]:
            r.progress[k] = 0.0
        else:
            judge(p, s, k, rank, r)
    for k in range(s.gone.size):
        s.gone[k] = s.end[k] != RACING


@kernel
def judge(p, s, k, rank, r):
    """Fill what a car gains and spends in a step; `rank` is the next that is free."""
    gap, end = s.gap[k], s.end[k]
    near = nearest_car(s, k) if s.gone.size > 1 else FAR_CAR
    touched = end in (BORDER, CAR_CONTACT)
    r.progress[k] += s.travelled[k]
    r.time[k] = -p.substeps * p.dt
    r.original[k] = p.substeps * p.dt
    r.contact[k] = -1.0 if touched else 0.0
    r.contact_cost[k] = 1.0 if touched else 0.0
    r.near_border[k] = 1.0 if gap < NEAR_BORDER else 0.0
    r.near_car[k] = 1.0 if near < NEAR_CAR else 0.0
    ahead = 0
    for j in range(s.gone.size):
        if s.travelled[j] > s.travelled[k]:
            ahead += 1
    r.overtake[k] = float(s.standing[k] - ahead)
    s.standing[k] = ahead
    if end == FINISHED:
        s.finished += 1
        r.finish[k] = 1.0 / rank
        r.success[k] = rank == 1
    r.terminated[k] = end != RACING


# --- observations -----------------------------------------------------------------------------------------------------


@kernel
def look(p, s, k, beams, view, out):
    """The lidar's exact distances [m] of a car."""
    x = s.car[k]
    sn, c = maths.sin_cos(x[YAW])
    road = s.road if p.drawn else p.fixed_road  # which all worlds share
    lidar.see_borders(road, s.cell[k], x[X], x[Y], c, sn, beams, view, REACH, out)
    length = road[road.shape[0] - 1, AT]
    for j in range(s.gone.size):
        if j != k and not s.gone[j] and abs(gained(length, s.progress[k], s.progress[j])) < REACH:
            y = s.car[j]
            other_s, other_c = maths.sin_cos(y[YAW])
            lidar.see_body(x[X], x[Y], c, sn, beams, view, out, y[X], y[Y], other_c, other_s, SHAPE)
    lidar.distances(out, REACH)


@SPEC.observe
def observe(p, s, k, o):
    if s.was_gone[k]:
        see_nothing(p, o)
        return
    x = s.car[k]
    o.speed, o.yaw_rate, o.steer, o.slip = x[SPEED], x[YAW_RATE], x[STEER], x[SLIP]
    if p.observation == LIDAR:
        look(p, s, k, p.fan, p.field_of_view, o.lidar)
        if p.lidar_noise > 0.0:
            lidar.add_noise(s.noise[0] + np.uint64(k), s.noise[1], p.lidar_noise, o.lidar)
        return
    o.offset[0] = s.offset[k]
    o.sides[0], o.sides[1] = gaps(s.road, s.cell[k], x[X], x[Y])
    o.direction[0], o.direction[1] = maths.sin_cos(x[YAW] - s.road[s.cell[k], HEADING])
    for n in range(PREVIEW):
        o.preview[n] = bend_at(s.road, s.progress[k] + PREVIEW_STEP * n)
    show_rivals(s, k, o.rivals)


@kernel
def see_nothing(p, o):
    """What a car is shown that was out before the step: zeros."""
    o.speed = o.yaw_rate = o.steer = o.slip = 0.0
    if p.observation == LIDAR:
        for j in range(o.lidar.size):
            o.lidar[j] = 0.0
        return
    o.offset[0] = o.sides[0] = o.sides[1] = o.direction[0] = o.direction[1] = 0.0
    for n in range(PREVIEW):
        o.preview[n] = 0.0
    for n in range(o.rivals.shape[0]):
        o.rivals[n, 0] = o.rivals[n, 1] = o.rivals[n, 2] = 0.0


@kernel
def show_rivals(s, k, out):
    """The nearest other cars along the road, the nearest first."""
    length, last = s.road[s.road.shape[0] - 1, AT], -1.0
    for n in range(out.shape[0]):
        best, found = 1e9, -1
        for j in range(s.gone.size):
            away = abs(gained(length, s.progress[k], s.progress[j]))
            if j != k and not s.gone[j] and last < away < best:
                best, found = away, j
        out[n, 0] = out[n, 1] = out[n, 2] = 0.0
        if found >= 0:
            last = best
            out[n, 0] = gained(length, s.progress[k], s.progress[found])
            out[n, 1], out[n, 2] = s.offset[found] - s.offset[k], s.car[found, SPEED]


@SPEC.placing
def placing(p, s):
    """Those that finished in the order in which they did, then the others by how far they came."""
    racing = range(len(s.gone))
    return [1e9 - float(s.lap_began[k]) if s.end[k] == FINISHED else float(s.travelled[k]) for k in racing]


# --- drivers ----------------------------------------------------------------------------------------------------------


@SPEC.player("racer")
def racer(p, s, k, a, rng):
    """Drives the line at the limit of its tyres; among others with a reserve, and passes slower cars."""
    driver.drive(p, s, k, a[k], 1.0, s.gone.size > 1)


@SPEC.player("cautious")
def cautious(p, s, k, a, rng):
    """Drives the line at two thirds of the speed."""
    driver.drive(p, s, k, a[k], 0.65, s.gone.size > 1)


@SPEC.draw
def draw(canvas, p, s):
    draw_laps(canvas, p, s, functools.partial(look, p, s))
    there = [k for k in range(len(s.gone)) if not s.gone[k]] or [0]
    leader = max(there, key=lambda k: float(s.travelled[k]))
    told = OUTCOMES[s.end[leader]] or f"lap {s.laps_done[leader] + 1} of {p.laps}"
    canvas.caption(f"{s.ticks * p.dt:.1f} s", f"{s.car[leader, SPEED]:.1f} m/s", told)


@SPEC.keys
def keys(pressed, values):
    return [float(("left" in pressed) - ("right" in pressed)), 0.35 * ("up" in pressed) - ("down" in pressed)]


RACE = SPEC.member(
    "F1TenthRace-v0",
    "F1TenthRace: race two to eight small cars against each other.",
    agents=2,
    laps=2,
    neighbours=2,
)
