"""RallyRacer: practice laps of checkpoints with a small car, without resets.

## Description
A car of scale 1:10 drives a course of checkpoints between boards, over patches of loose ground. When it has crashed or
is stuck, a recovery controller backs it off and it continues: learning is not interrupted by resets. After FastRLAP
(Stachowicz, Shah, Bhorkar, Kostrikov and Levine, "FastRLAP: A System for Learning High-Speed Driving via Deep RL and
Autonomous Practicing", arXiv 2304.09831; kylestach/fastrlap-release): reward, control rate, steering, masses, start and
relabeling goals are those of its MuJoCo simulator, the speed command and the recovery controller those of its real car.
Different: the ground is three waves instead of a height map, of which the car feels the slope; the car cannot turn
over, so there is neither that termination nor its penalty; there are boards where the original has the edge of a height
field; the original's test for being stuck sums 500 distances where it should take the largest. Tires are a brush model,
whose grip saturates. Courses and patches are this package's.

## Action Space
Steering (1 turns left) and speed: 2.5 m/s plus 2 m/s times the number. While the car recovers, actions have no effect.

## Observation Space
Position, direction, velocity ahead and to the left, yaw rate, steering angle and its rate, acceleration ahead and to
the left, slope of the ground ahead and to the left, the last action, whether the car is recovering, bearing and
distance of the checkpoint; then the achieved goal, position and velocity, and the desired goal, the checkpoint's
position and two zeros. With form="goal" bearing and distance are left out, and `compute_reward` relabels:
`random_goals` draws goals as in the original, hindsight experience replay uses future ones; `stuck`, which does not
follow from goals, is then left out of the reward. With camera="rgb" there is also a 128 x 64 image from a camera on the
car; the original stacks three images, which a wrapper can do.

## Rewards
`velocity` is the velocity towards the checkpoint in m/s, `reached` (weight 100) is 1 in the step that comes within
`radius` of it, `stuck` (weight 100) is -1 if the car has moved by less than 1 m in 500 steps. The next checkpoint
becomes the goal in the following step. Recovery steps are rewarded like others; the original does not record them, and
`recovers` tells which they are.

## Costs
`crash`: 1 in a step in which a wall stops the car with more than `crash_acceleration`: by default, if the touching
point of its body had more than 0.83 m/s across the wall. A graze does not count: walls remove the velocity across them,
except for the fraction `bounce`, and `wall_friction` times as much of the velocity along them.

## Starting State
At rest up to 0.2 m from a checkpoint, along the road within 0.3 rad; the next one is the goal. Six patches of ground
across parts of the course have 0.25 to 0.6 of the friction.

## Episode End
Never, with ends="never" (truncation: 5000 steps, 250 s). With ends="stuck", termination when the car is stuck. Success:
five laps, 60 checkpoints. One or two laps mean little: without any steering, at full speed, the walls and the recovery
lead a car through the first lap in three of five episodes.

## Parameters
The radius of checkpoints is 0.3 m in the original's simulator and 3 m on its real courses; the road is 2.2 m wide.

## Reference Scores
Mean return over seeds 0 to 99. The bound holds for every car: top speed towards checkpoints in every step, and as many
of them as the shortest line across each cell of the road allows.

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
    below,
    block,
    choice,
    continuous,
    cost,
    f4,
    f8,
    i8,
    image,
    kernel,
    maths,
    param,
    term,
    uniform,
    world,
)
from rlenvs.kits.tracks import files, lidar, line
from rlenvs.kits.tracks.generator import random_road
from rlenvs.kits.tracks.road import (
    AT,
    COLUMNS,
    PATCH,
    cell_at,
    coordinates,
    grip_factor,
    locate,
    place,
)
from rlenvs.kits.vehicles.single_track import (
    CAR,
    GAIN_FORWARD,
    GRAVITY,
    SLIP,
    SPEED,
    STATES,
    STEER,
    YAW,
    YAW_RATE,
    X,
    Y,
)
from rlenvs.robotics.racing.rally_camera import COLUMNS_OF_IMAGE, ROWS_OF_IMAGE, VIEW, take_picture
from rlenvs.robotics.racing.rally_motion import CELLS, WAVES, drive, note_slope
from rlenvs.robotics.racing.render_rally import draw_rally

HORIZON = 5000
LOOKS = 5  # times a step that walls are looked at
WIDTH, CHECKPOINTS, PATCHES = 2.2, 12, 6
LAPS = 5  # of success: who never steers is led through up to three by walls and the recovery, the expert drives 16
SHORTEST, LONGEST = 5.0, 12.0  # m, of the ground's waves
FRONT, REAR, HALF = 0.22, 0.22, 0.13  # m, of the car's body
POSITIONS, WITHIN = 30, 0.3  # of the recovery machine: positions within 0.3 m are stuck
LONG, MOVED = 500, 1.0  # steps in which the car has to move by 1 m
MIDDLE_SPEED, HALF_RANGE, BACK_SPEED = 2.5, 2.0, 1.0  # m/s, of commands; of the recovery
MARGIN, LOOK, LOOK_TIME = 0.45, 0.5, 0.2  # of the expert: m, m, s
EASE, PUSH, SIGHT = 0.5, 0.3, 6.0  # shares of the grip, to the side and along; m
LEARNING, RECOVERY = range(2)
COURSES = ("club", "oval", "twisty")
CAMERA = choice("none", "rgb", doc="image of a camera on the car")
ENDS = choice("never", "stuck", doc="whether an episode ends when the car has not moved")
(STUCK,) = ENDS.codes("stuck")
BEYOND = 30.0  # m, of the largest course


SPEC = world(
    "RallyRacer-v0",
    doc=__doc__,
    source="FastRLAP (Stachowicz et al., arXiv 2304.09831)",
    params={
        **CAR,
        "friction": param(2.0, 0.5, 2.0, "", "coefficient of friction of the ground, without patches"),
        "mass": param(5.536, 3.0, 7.0, "kg", "mass of the car: body 3.54, wheels 0.499 each"),
        "switch_speed": param(7.319, 3.0, 15.0, "m/s", "speed above which power limits the acceleration", limit=True),
        "inertia": param(0.0697, 0.05, 0.12, "kg m^2", "moment of inertia about the vertical axis"),
        "max_steer": param(0.38, 0.3, 0.5, "rad", "largest steering angle"),
        "top_speed": param(4.5, 4.5, 8.0, "m/s", "largest speed, by which the motor's controller is scaled"),
        "reverse_speed": param(2.0, 1.0, 4.0, "m/s", "largest speed backwards, by which braking is scaled"),
        "radius": param(1.0, 0.3, 3.0, "m", "distance at which a checkpoint is reached"),
        "bounce": param(0.2, 0.0, 0.5, "", "fraction of its speed across a wall with which the car rebounds"),
        "wall_friction": param(0.3, 0.0, 1.0, "", "coefficient of friction between the car and walls"),
        "crash_acceleration": param(
            20.0, 5.0, 60.0, "m/s^2", "acceleration across a wall that makes a contact a crash", limit=True
        ),
        "recovery_time": param(1.0, 0.5, 2.0, "s", "how long the car backs off"),
        "hills": param(0.1, 0.0, 0.2, "m", "height of each of the three waves of the ground"),
        "loosest": param(0.25, 0.1, 0.6, "", "lowest fraction of the friction on patches"),
    },
    options={
        "course": choice(*COURSES, doc="the course"),
        "ends": ENDS,
        "camera": CAMERA,
        "form": choice(
            *("flat", "goal"),
            doc='observation: one vector, or a dictionary "observation", "achieved_goal", "desired_goal", no `stuck`',
            sets={"flat": {}, "goal": {"stuck": 0.0}},
        ),
    },
    sizes=lambda v: {
        "relative": 1 if v.form == "flat" else 0,
        "rows": ROWS_OF_IMAGE if v.camera == "rgb" else 0,
        "columns": COLUMNS_OF_IMAGE if v.camera == "rgb" else 0,
    },
    data={
        "road": f8(CELLS + 1, COLUMNS),
        "line": f8(CELLS + 1),
        "places": f8(CHECKPOINTS, 2),
        "body": f8(3),
        "fan": f8(2, COLUMNS_OF_IMAGE),
    },
    state={
        "car": f8(STATES),
        "cell": i8.index_of(CELLS),
        "progress": f8,  # m
        "offset": f8,  # m
        "acceleration": f8(2),  # m/s^2, ahead and left
        "last": f8(2),  # action
        "steer_speed": f8,  # rad/s
        "goal": i8.index_of(CHECKPOINTS),  # the checkpoint that comes next
        "arrived": i8,  # 1 from when it is reached to the next step
        "achieved": f4(4),  # place and velocity
        "desired": f4(4),  # place of the checkpoint
        "reached": i8,  # how many so far
        "mode": i8,
        "left": i8,  # steps of recovery
        "back_steer": f8,
        "crashes": i8,
        "recoveries": i8,
        "positions": f8(POSITIONS, 2),
        "filled": i8.within(0, 10**9),  # counts on, and is used modulo the number of positions
        "trail": f8(LONG, 2),
        "trodden": i8.up_to(LONG),
        "patches": f8(PATCHES, PATCH),
        "waves": f8(WAVES, 3),  # of the ground: wave numbers along x and y [1/m], phase
        "slope": f8(2),  # ahead and to the left
        "scratch": f8(5, STATES),
        "before": f8(STATES),
        "distances": f8(COLUMNS_OF_IMAGE),
    },
    observation={
        "position": block(2, low=-BEYOND, high=BEYOND, unit="m", doc="place"),
        "direction": block(2, low=-1.0, high=1.0, doc="cosine and sine of the heading"),
        "velocity": block(2, low=-8.0, high=8.0, unit="m/s", doc="ahead and to the left"),
        "turn_rate": block(low=-10.0, high=10.0, unit="rad/s", doc="yaw rate"),
        "steering": block(low=-0.5, high=0.5, unit="rad", doc="steering angle"),
        "steering_rate": block(low=-6.0, high=6.0, unit="rad/s", doc="rate of the steering angle"),
        "acceleration": block(2, low=-50.0, high=50.0, unit="m/s^2", doc="ahead and to the left"),
        "slope": block(2, low=-0.8, high=0.8, doc="of the ground, ahead and to the left"),
        "last": block(2, low=-1.0, high=1.0, doc="the last action"),
        "recovers": block(low=0.0, high=1.0, doc="1 while the car is recovering", constant=True),
        "bearing": block("relative", low=-math.pi, high=math.pi, unit="rad", doc="of the checkpoint, to the left"),
        "distance": block("relative", low=0.0, high=BEYOND, unit="m", doc="of the checkpoint"),
        "achieved": block(4, low=-BEYOND, high=BEYOND, unit="m, m/s", doc="place and velocity", raw=True),
        "desired": block(
            4, low=-BEYOND, high=BEYOND, unit="m", doc="position of the checkpoint, and zeros", raw=True, constant=True
        ),
    },
    goal=("achieved", "desired"),
    images={"camera": image("rows", "columns", 3, doc="image of a camera on the car")},
    action=continuous("steering", "speed"),
    terms={
        "velocity": term(-10.0, 10.0, 1.0, "velocity towards the checkpoint in m/s"),
        "reached": term(0.0, 1.0, 100.0, "1 in the step that reaches the checkpoint"),
        "stuck": term(-1.0, 0.0, 100.0, "-1 when the car has hardly moved for 500 steps"),
    },
    costs={"crash": cost(5.0, doc="1 in a step with a crash")},
    horizon=HORIZON,
    fps=20,
    levels={"gravel": {"friction": 1.0, "loosest": 0.2}, "twisty": {"course": "twisty"}},
    scores={"bound": Score(48090.0, 0, "largest speed towards checkpoints, by the shortest line across each cell")},
    scratch=("scratch", "before", "distances"),
    expert_sees="state",
)  # fmt: skip


# --- courses ----------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=8)
def course(name: str) -> SimpleNamespace:
    """Road, smooth line and checkpoints of a course."""
    if name == "twisty":
        road = random_road(7, length=70.0, width=WIDTH, difficulty=1.0, radius=1.8, cells=CELLS)
    else:
        road = files.named_road(name, width=WIDTH, cells=CELLS)
    length = road[-1, AT]
    places = np.array([place(road, length * i / CHECKPOINTS, 0.0)[:2] for i in range(CHECKPOINTS)])
    return SimpleNamespace(road=road, line=line.smooth_line(road, MARGIN), places=places)


@SPEC.make_data
def data(values: Any) -> dict[str, Any]:
    found = course(values.course)
    body, fan = np.array([FRONT, REAR, HALF]), lidar.fan(COLUMNS_OF_IMAGE, VIEW)
    return {"road": found.road, "line": found.line, "places": found.places, "body": body, "fan": fan}


def bound(values: Any) -> float:
    """A return that no car exceeds: the largest speed in every step, and all checkpoints that it could reach.

    The largest speed is the largest command, and what the motor's controller lets pass down the steepest slope.
    """
    gain = GAIN_FORWARD * values.max_acceleration / values.reverse_speed
    steepest = WAVES * values.hills * 2.0 * math.pi / SHORTEST
    found, top = course(values.course), MIDDLE_SPEED + HALF_RANGE + GRAVITY * steepest / gain
    lap = line.least_time(found.road, 0.0, top)
    return HORIZON * top + 100.0 * (math.ceil(HORIZON * 0.05 / lap) + 1) * CHECKPOINTS


def random_goals(positions: Any, headings: Any, rng: np.random.Generator) -> np.ndarray:
    """Goals for relabeling (N, 4), drawn as the original does: bearing N(0, 1) rad, distance N(2.5, 1.5) m."""
    positions, headings = np.asarray(positions, float), np.asarray(headings, float)
    angles, away = headings + rng.standard_normal(len(headings)), rng.normal(2.5, 1.5, len(headings))
    goals = np.zeros((len(headings), 4), np.float32)
    goals[:, 0] = positions[:, 0] + away * np.cos(angles)
    goals[:, 1] = positions[:, 1] + away * np.sin(angles)
    return goals


# --- kernels ----------------------------------------------------------------------------------------------------------


@SPEC.reset
def reset(p, s, rng):
    length = p.road[CELLS, AT]
    for n in range(PATCHES):
        s.patches[n, 0], s.patches[n, 1] = uniform(rng, 0.0, length), uniform(rng, 1.0, 4.0)
        middle, half = uniform(rng, -0.6, 0.6), uniform(rng, 0.3, 0.8)
        s.patches[n, 2], s.patches[n, 3] = middle - half, middle + half
        s.patches[n, 4] = uniform(rng, p.loosest, 0.6)
    for n in range(WAVES):
        number, angle = 2.0 * math.pi / uniform(rng, SHORTEST, LONGEST), uniform(rng, 0.0, math.pi)
        s.waves[n, 0], s.waves[n, 1] = number * maths.cos(angle), number * maths.sin(angle)
        s.waves[n, 2] = uniform(rng, 0.0, 2.0 * math.pi)
    first = below(rng, CHECKPOINTS)
    at = length * first / CHECKPOINTS + uniform(rng, -0.2, 0.2)
    x, y, heading = place(p.road, at, uniform(rng, -0.2, 0.2))
    s.car[X], s.car[Y], s.car[YAW] = x, y, heading + uniform(rng, -0.3, 0.3)
    note_slope(p, s)
    s.cell, _ = cell_at(p.road, at)
    s.cell = locate(p.road, s.cell, x, y)
    s.progress, s.offset = coordinates(p.road, s.cell, x, y)
    s.goal = (first + 1) % CHECKPOINTS
    note_goals(p, s)


@kernel
def is_still(positions, count, size, x, y, within):
    """Whether as many positions as there may be are known, and all lie within a distance [m] of a place."""
    if count < size:
        return False
    for n in range(size):
        dx, dy = positions[n, 0] - x, positions[n, 1] - y
        if dx * dx + dy * dy >= within * within:
            return False
    return True


@kernel
def begin_recovery(p, s, rng):
    s.mode, s.left, s.filled = RECOVERY, int(p.recovery_time / 0.05 + 0.5), 0
    s.back_steer = uniform(rng, -1.0, 1.0)
    s.recoveries += 1


@SPEC.goal_outcome
def goal_outcome(p, achieved, desired, r):
    dx, dy = desired[0] - achieved[0], desired[1] - achieved[1]
    away = math.sqrt(dx * dx + dy * dy)
    r.velocity = min(max((achieved[2] * dx + achieved[3] * dy) / (away + 1e-6), -10.0), 10.0)
    r.reached = 1.0 if away < p.radius else 0.0


@kernel
def note_goals(p, s):
    """What is achieved, place and velocity, and desired, the place of the checkpoint."""
    sn, c = maths.sin_cos(s.car[YAW] + s.car[SLIP])
    s.achieved[0], s.achieved[1] = s.car[X], s.car[Y]
    s.achieved[2], s.achieved[3] = s.car[SPEED] * c, s.car[SPEED] * sn
    s.desired[0], s.desired[1] = p.places[s.goal, 0], p.places[s.goal, 1]


@SPEC.step
def step(p, s, a, rng, r):
    if s.arrived == 1:
        s.goal, s.arrived = (s.goal + 1) % CHECKPOINTS, 0
    recovering = s.mode == RECOVERY
    steer = (s.back_steer if recovering else a[0]) * p.max_steer
    speed = -BACK_SPEED if recovering else MIDDLE_SPEED + HALF_RANGE * a[1]
    sn, c = maths.sin_cos(s.car[SLIP])
    ahead, left, hit = s.car[SPEED] * c, s.car[SPEED] * sn, 0.0
    for _ in range(LOOKS):
        hit = max(hit, drive(p, s, steer, speed, 0.05 / LOOKS))
    sn, c = maths.sin_cos(s.car[SLIP])
    s.acceleration[0] = (s.car[SPEED] * c - ahead) / 0.05 - s.car[YAW_RATE] * s.car[SPEED] * sn
    s.acceleration[1] = (s.car[SPEED] * sn - left) / 0.05 + s.car[YAW_RATE] * s.car[SPEED] * c
    s.last[0], s.last[1] = a[0], a[1]
    x, y = s.car[X], s.car[Y]
    note_goals(p, s)
    goal_outcome(p, s.achieved, s.desired, r)
    if r.reached > 0.0:
        s.arrived = 1
        s.reached += 1
    s.positions[s.filled % POSITIONS, 0], s.positions[s.filled % POSITIONS, 1] = x, y
    s.filled += 1
    s.trail[s.trodden % LONG, 0], s.trail[s.trodden % LONG, 1] = x, y
    s.trodden += 1
    if is_still(s.trail, s.trodden, LONG, x, y, MOVED):
        r.stuck = -1.0
        s.trodden = 0
        r.terminated = p.ends == STUCK
    if recovering:
        s.left -= 1
        if s.left <= 0:
            s.mode, s.filled = LEARNING, 0
    elif (1.0 + p.bounce) * hit / 0.05 > p.crash_acceleration:
        r.crash = 1.0
        s.crashes += 1
        begin_recovery(p, s, rng)
    elif is_still(s.positions, s.filled, POSITIONS, x, y, WITHIN):
        begin_recovery(p, s, rng)
    r.success = s.reached >= LAPS * CHECKPOINTS


@SPEC.observe
def observe(p, s, o):
    sn, c = maths.sin_cos(s.car[YAW])
    slip_s, slip_c = maths.sin_cos(s.car[SLIP])
    o.position[0], o.position[1] = s.car[X], s.car[Y]
    o.direction[0], o.direction[1] = c, sn
    o.velocity[0], o.velocity[1] = s.car[SPEED] * slip_c, s.car[SPEED] * slip_s
    o.turn_rate, o.steering, o.steering_rate = s.car[YAW_RATE], s.car[STEER], s.steer_speed
    o.acceleration[0], o.acceleration[1] = s.acceleration[0], s.acceleration[1]
    o.slope[0], o.slope[1] = s.slope[0], s.slope[1]
    o.last[0], o.last[1] = s.last[0], s.last[1]
    o.recovers = 1.0 if s.mode == RECOVERY else 0.0
    for n in range(4):
        o.achieved[n], o.desired[n] = s.achieved[n], s.desired[n]
    if o.bearing.size > 0:
        dx, dy = p.places[s.goal, 0] - s.car[X], p.places[s.goal, 1] - s.car[Y]
        o.bearing[0] = maths.atan2(c * dy - sn * dx, c * dx + sn * dy)
        o.distance[0] = math.sqrt(dx * dx + dy * dy)


@SPEC.observe_images
def observe_images(p, s, i):
    take_picture(p, s, i.camera)


@SPEC.expert
def expert(p, s, a):
    """Pure pursuit of a smooth line, at speeds that the grip of what comes allows."""
    length = p.road[CELLS, AT]
    spacing = length / CELLS
    x = s.car
    ahead = s.progress + LOOK + LOOK_TIME * max(x[SPEED], 0.0)
    i, part = cell_at(p.road, ahead)
    ax, ay = line.on_rung(p.road, i, p.line[i])
    bx, by = line.on_rung(p.road, i + 1, p.line[i + 1])
    dx, dy = ax + part * (bx - ax) - x[X], ay + part * (by - ay) - x[Y]
    sn, c = maths.sin_cos(x[YAW])
    bend = 2.0 * (c * dy - sn * dx) / max(dx * dx + dy * dy, 1e-6)
    a[0] = min(max(maths.atan(bend * (p.front_axle + p.rear_axle)) / p.max_steer, -1.0), 1.0)
    wanted = MIDDLE_SPEED + HALF_RANGE
    i, _ = cell_at(p.road, s.progress)
    here = p.friction * grip_factor(s.patches, length, s.progress, s.offset)
    brake = PUSH * here * GRAVITY
    for n in range(int(SIGHT / spacing)):
        j = (i + n) % CELLS
        grip = p.friction * grip_factor(s.patches, length, p.road[j, AT], p.line[j])
        brake = min(brake, PUSH * grip * GRAVITY)
        slow = math.sqrt(EASE * min(grip, here) * GRAVITY / max(abs(line.bend_of_line(p.road, p.line, j)), 0.05))
        wanted = min(wanted, math.sqrt(slow * slow + 2.0 * brake * spacing * max(n - 1, 0)))
    change = PUSH * here * GRAVITY * 0.05  # m/s in a step; more would take the grip that steering needs
    wanted = min(max(wanted, x[SPEED] - change), x[SPEED] + change)
    a[1] = min(max((wanted - MIDDLE_SPEED) / HALF_RANGE, -1.0), 1.0)


@SPEC.draw
def draw(canvas, p, s):
    draw_rally(canvas, p, s)
    mode = "recovering" if s.mode == RECOVERY else ""
    canvas.caption(f"{abs(s.car[SPEED]):.1f} m/s", f"{s.reached} checkpoints", f"{s.crashes} crashes", mode)


@SPEC.keys
def keys(pressed, values):
    return [float(("left" in pressed) - ("right" in pressed)), float(("up" in pressed) - ("down" in pressed))]
