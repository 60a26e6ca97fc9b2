"""LogReplay: imitate a logged driver, among cars that are replayed or react.

## Description
The task of DriverGym (Kothari, Perone, Bergamini, Alahi and Ondruska, "DriverGym: Democratising reinforcement learning
for autonomous driving", 2021, arXiv 2111.06889; in l5kit): one car of a traffic log is the ego car; for 32 steps of 0.1
s the agent moves it, and is compared with the logged driver. DriverGym's log is a thousand hours of Lyft data; the log
here is recorded from simulated drivers (IDM and MOBIL, the three types of iPLAN) on a winding or a straight road, and
is determined by `log_seed`. You can use your own log file (`log="my.npz"`; the format is described in
`rlenvs/robotics/driving/logs.py`, and `python -m rlenvs.robotics.driving.logs FILE --check` checks it for errors).

In closed loop the car is where the agent's actions brought it. In open loop (`loop="open"`) each step starts from the
logged position, and only the step is evaluated. Other cars are replayed, or (`traffic="reactive"`) drive with IDM on
their lane once they are near: within 30 m at the start, within 15 m later.

Different from DriverGym: a vector is the default observation; a car that starts reacting does so until the end (there
it may jump back to its log); everything is seeded.

`python -m rlenvs.robotics.driving.replay_metrics POLICY` computes the metrics of l5kit's closed-loop evaluation.

## Action Space
The displacement to the next frame in the car's own frame: forward, to the right, and the turn. 0 is the log's mean and
1 is ten standard deviations above it, as in DriverGym, or more if the log requires it: ten forward, but 23 to the right
and in the turn (37 on `road="highway"`), because bends and lane changes are rare. Or, with `actions="kinematic"`,
steering and acceleration of a unicycle: 20 degrees per second and 6 m/s^2 at 1.

## Observation Space
In the car's own frame (x ahead, y to the right): speed, acceleration and yaw rate of the last step, the distance from
the middle of the lane and the angle to it, points of the lane ahead, the nearest cars within 60 m, the time. With
`observation="raster"` also a top-down image of 64 x 64 pixels, one meter each, with the car at a quarter of the width,
heading to the right: road, other cars, ego car. The future of the logged driver is not observed.

## Rewards
`distance` is minus the distance [m] from the logged position, at most 15; `yaw` minus the angle [rad] to the logged
heading, with weight 1 (`reward="yaw20"`: 20, as in an older version). Sums of `ade` and `fde` over an episode are minus
the average displacement error of its 32 steps, and that of the last of them; `reward="metrics"` uses only these.
`collision` is -1 while the car overlaps another; `reward="safe"` adds it with weight 15 to the default terms. `driven`
is the distance driven [m].

## Costs
Indicators per step: `collision_front`, `collision_rear`, `collision_side`, by the side of the ego car that overlaps
most; `offroad`, its center is off all lanes; `off_path`, more than 4 m from the logged path.

## Starting State
A random car in a random frame of the log after which it is present for 32 frames (`scene`, `frame` and `logged_ego`
select them).

## Episode End
Truncation: 32 steps. Termination: the end of the log, with a longer horizon. Success: no collision, never off the road,
and at the end less than 2 m from the logged position; in open loop less than 2 m summed over all steps.

## Parameters
Meters.

## Reference Scores
Mean return over seeds 0 to 99. The expert replays the logged driver, which is the bound; with `planner="idm"` it is an
IDM planner without the log.

## Version History
v0: first version.
"""

import math

from rlenvs.core import (
    below,
    block,
    choice,
    continuous,
    cost,
    data_option,
    f8,
    i8,
    image,
    integer,
    json_option,
    kernel,
    maths,
    param,
    term,
    world,
)
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.roads.lanes import ROAD_DATA, heading_on, wrapped
from rlenvs.kits.traffic.cars import CARS, car_sizes
from rlenvs.kits.traffic.drivers import DRIVER_DATA, NORMAL, driver_table
from rlenvs.kits.traffic.lane_lists import locate
from rlenvs.kits.traffic.soundness import state_fault
from rlenvs.robotics.driving import log_view
from rlenvs.robotics.driving.log_drivers import ACTIONS, IDM, KINEMATIC, PLANNER, expert
from rlenvs.robotics.driving.logs import HEADING, ROADS, STEP, STEPS, log_of, parse_log
from rlenvs.robotics.driving.replay import (
    FRONT,
    REAR,
    collision,
    displacement,
    drive_by,
    is_on_road,
    lane_point,
    locate_ego,
    move_by,
    move_others,
    off_path,
    put_all,
    put_logged,
    wake,
)

AHEAD = (5.0, 10.0, 20.0, 35.0, 50.0)  # m, of the points of the lane that are seen
FAR = 60.0  # m, how far cars are seen
TOP_SPEED = 45.0  # m/s, which is 1 in observations
FARTHEST = 1000.0  # m, the largest error that counts
LOOP = choice("closed", "open", doc="whether a step starts where the last one ended, or at the logged position")
(OPEN,) = LOOP.codes("open")
TRAFFIC = choice("replayed", "reactive", doc="whether other cars near the ego car react to it")
(REACTIVE,) = TRAFFIC.codes("reactive")
ONLY = {"distance": 0.0, "yaw": 0.0}
REWARD = choice(
    *("displacement", "yaw20", "metrics", "safe"),
    doc="DriverGym's reward, its older version, ADE and FDE, or the first with collisions",
    sets={"yaw20": {"yaw": 20.0}, "metrics": {**ONLY, "ade": 1.0, "fde": 1.0}, "safe": {"collision": 15.0}},
)


def starts(values):
    """Where episodes may begin, of what the options leave."""
    log = log_of(values)
    rows, frames = log["starts"], log["frames"]
    for name, column in (
        ("scene", lambda rows: rows[:, 0] // frames),
        ("frame", lambda rows: rows[:, 0] % frames),
        ("logged_ego", lambda rows: rows[:, 1]),
    ):
        wanted = getattr(values, name)
        if wanted >= 0:
            there = column(rows)
            if wanted not in there:
                raise ParameterError(
                    f"{name}={wanted}: no episode can start there; allowed are {there.min()} to {there.max()}"
                )
            rows = rows[there == wanted]
    return rows


def sizes(values):
    log = log_of(values)
    network = log["network"].sizes
    raster = values.observation == "raster"
    return {
        **network,
        **car_sizes(log["log"].shape[1], 1, network["lanes"]),
        "driver_types": 1,
        "log_rows": len(log["log"]),
        "scenes": len(log["fastest"]),
        "starts": len(starts(values)),
        "seen": values.seen_cars,
        "pixels": log_view.PIXELS if raster else 0,
    }


def action(values):
    if values.actions == "kinematic":
        return continuous("steering", "acceleration", doc="20 degrees/s to the right and 6 m/s^2 at 1")
    return continuous("ahead", "aside", "turn", doc="the log's mean at 0, at least ten standard deviations more at 1")


SPEC = world(
    "LogReplay-v0",
    doc=__doc__,
    source="DriverGym (Kothari et al. 2021, arXiv 2111.06889), l5kit; logs of our own traffic",
    params={
        "far": param(30.0, 0.0, 100.0, "m", "within which cars react from the start on"),
        "close": param(15.0, 0.0, 100.0, "m", "within which cars begin to react"),
        "most_error": param(15.0, 1.0, 100.0, "m", "largest error counted by `distance`"),
        "path_width": param(4.0, 0.5, 50.0, "m", "distance from the logged path above which `off_path` is 1"),
        "near_end": param(
            2.0, 0.1, 50.0, "m", "distance from the logged position at the end that counts as success", limit=True
        ),
    },
    options={
        "actions": ACTIONS,
        "loop": LOOP,
        "traffic": TRAFFIC,
        "reward": REWARD,
        "planner": PLANNER,
        "observation": data_option(choice("vector", "raster", doc="numbers, or also an image from above")),
        "seen_cars": data_option(integer(8, 0, 32, "cars in an observation")),
        "road": data_option(choice(*ROADS, doc="road of the recorded log, or of a custom log without lanes")),
        "scenes": data_option(integer(16, 1, 1000, "recorded scenes of ten seconds")),
        "logged_cars": data_option(integer(24, 1, 60, "cars in a recorded scene")),
        "log_seed": data_option(integer(0, 0, 1_000_000, "of the recorded log")),
        "log": json_option(None, parse_log, "an .npz file with a custom log"),
        "scene": data_option(integer(-1, -1, 999, "scene in which episodes start; -1 for a random one")),
        "frame": data_option(integer(-1, -1, 99_999, "frame in which episodes start; -1 for a random one")),
        "logged_ego": data_option(integer(-1, -1, 199, "the ego car; -1 for a random one")),
    },
    state={
        **CARS,
        "ego": i8.index_of("cars"),
        "row": i8.index_of("log_rows"),  # of the log
        "first_row": i8.index_of("log_rows"),
        "last_row": i8.index_of("log_rows"),
        "acceleration_seen": f8,  # m/s^2, of the last step
        "yaw_rate": f8,  # rad/s
        "error": f8,  # m, of the last step
        "error_sum": f8,  # m
        "faults": i8,  # steps with a collision or off the road
        "side": i8.within(-1, 3),  # where the ego car is touched, -1: nowhere
        "trail": f8(STEPS + 1, 2),  # m, where the ego car was, for images
    },
    data={
        **ROAD_DATA,
        **DRIVER_DATA,
        "log": f8("log_rows", "cars", 5),
        "start": i8("starts", 3),
        "scaling": f8(2, 3),
        "fastest": f8("scenes", "cars"),
        "frames": i8,
    },
    sizes=sizes,
    observation={
        "speed": block(low=-TOP_SPEED, high=TOP_SPEED, unit="m/s", doc="speed"),
        "acceleration": block(low=-10.0, high=10.0, unit="m/s^2", doc="of the last step"),
        "yaw_rate": block(low=-0.5, high=0.5, unit="rad/s", doc="of the last step"),
        "aside": block(low=-6.0, high=6.0, unit="m", doc="to the right of the middle of the lane"),
        "angle": block(2, low=-1.0, high=1.0, raw=True, doc="sine and cosine of the angle to the lane"),
        "lane_ahead": block(len(AHEAD), 2, low=-60.0, high=60.0, unit="m", doc="points of the lane, ahead and aside"),
        "cars": block(
            "seen",
            5,
            low=-1.0,
            high=1.0,
            raw=True,
            constant=True,
            doc="presence, ahead and to the right (60 m), relative velocity ahead and to the right (45 m/s)",
        ),
        "time": block(low=0.0, high=1.0, doc="elapsed fraction of the episode"),
    },
    images={"picture": image("pixels", "pixels", 3, doc="road, others, ego car, from above")},
    action=action,
    terms={
        "distance": term(-100.0, 0.0, 1.0, "minus the distance [m] from the logged position, at most `most_error`"),
        "yaw": term(-math.pi, 0.0, 1.0, "minus the angle to the logged heading"),
        "ade": term(-FARTHEST, 0.0, 0.0, "sums to minus the average displacement error"),
        "fde": term(-FARTHEST, 0.0, 0.0, "minus the displacement error at the end"),
        "collision": term(-1.0, 0.0, 0.0, "-1 while overlapping another car"),
        "driven": term(0.0, 100.0, 0.0, "metres driven"),
    },
    costs={
        "collision_front": cost(0.0, doc="1 while another car is touched in front"),
        "collision_rear": cost(0.0, doc="1 while another car is touched behind"),
        "collision_side": cost(0.0, doc="1 while another car is touched at the left or right side"),
        "offroad": cost(0.0, doc="1 while on no lane"),
        "off_path": cost(0.0, doc="1 while more than `path_width` from the logged path"),
    },
    fps=1.0 / STEP,
    horizon=STEPS,
    expert_sees="state",
    quick={"scenes": 2, "logged_cars": 8},
    probe={
        "far": {"traffic": "reactive"},
        "close": {"traffic": "reactive", "far": 0.0},
    },
    levels={
        "open": {"loop": "open"},
        "reactive": {"traffic": "reactive"},
        "kinematic": {"actions": "kinematic"},
        "highway": {"road": "highway"},
    },
)


SPEC.state_fault(state_fault)


@SPEC.make_data
def make_data(values):
    log = log_of(values)
    return {
        **log["network"].arrays(),
        **driver_table(NORMAL),
        **{name: log[name] for name in ("log", "scaling", "fastest", "frames")},
        "start": starts(values),
    }


@SPEC.reset
def reset(p, s, rng):
    n = below(rng, p.start.shape[0])
    s.first_row, s.ego, s.last_row = p.start[n, 0], p.start[n, 1], p.start[n, 2]
    s.row = s.first_row
    put_all(p, s)
    if p.traffic == REACTIVE:
        wake(p, s, p.far)
    ego = s.ego
    s.acceleration_seen = (s.speed[ego] - p.log[s.row - 1, ego, 3]) / STEP
    s.yaw_rate = wrapped(s.heading[ego] - p.log[s.row - 1, ego, HEADING]) / STEP
    s.side = -1
    s.trail[0, 0], s.trail[0, 1] = s.x[ego], s.y[ego]


@SPEC.step
def step(p, s, a, rng, r):
    ego = s.ego
    speed, heading = s.speed[ego], s.heading[ego]
    if p.traffic == REACTIVE:
        wake(p, s, p.close)
    s.row += 1
    move_others(p, s, p.traffic == REACTIVE)
    if p.actions == KINEMATIC:
        drive_by(s, a[0], a[1])
    else:
        move_by(s, by(p, a, 0), by(p, a, 1), by(p, a, 2))
    s.acceleration_seen, s.yaw_rate = (s.speed[ego] - speed) / STEP, wrapped(s.heading[ego] - heading) / STEP
    find_places(p, s)
    judge(p, s, r)
    if p.loop == OPEN:
        put_logged(p, s, ego)
        s.acceleration_seen = (s.speed[ego] - speed) / STEP
        s.yaw_rate = wrapped(s.heading[ego] - heading) / STEP
        find_places(p, s)


@kernel
def find_places(p, s):
    """Fill on which lanes cars are: all of them where somebody asks who is next on a lane."""
    if p.traffic == REACTIVE or p.planner == IDM:
        locate(p, s)
    else:
        locate_ego(p, s)


@kernel
def by(p, a, n):
    """A number of the displacement that an action means."""
    return p.scaling[0, n] + p.scaling[1, n] * a[n]


@kernel
def judge(p, s, r):
    """Terms, costs and end."""
    steps, ego = s.elapsed + 1, s.ego
    s.error = displacement(p, s, s.row)
    s.error_sum += s.error
    r.distance = -min(s.error, p.most_error)
    r.yaw = -abs(wrapped(s.heading[ego] - p.log[s.row, ego, HEADING]))
    r.ade = -min(s.error, FARTHEST) / STEPS if steps <= STEPS else 0.0
    r.fde = -min(s.error, FARTHEST) if steps == STEPS else 0.0
    r.driven = min(abs(s.speed[ego]) * STEP, 100.0)
    s.side = collision(s)
    touched = s.side >= 0
    r.collision = -1.0 if touched else 0.0
    r.collision_front = 1.0 if s.side == FRONT else 0.0
    r.collision_rear = 1.0 if s.side == REAR else 0.0
    r.collision_side = 1.0 if s.side > REAR else 0.0
    off = not is_on_road(p, s)
    r.offroad = 1.0 if off else 0.0
    r.off_path = 1.0 if off_path(p, s, s.first_row, s.last_row) > p.path_width else 0.0
    s.faults += 1 if touched or off else 0
    n = min(steps, STEPS)
    s.trail[n, 0], s.trail[n, 1] = s.x[ego], s.y[ego]
    missed = s.error_sum if p.loop == OPEN else s.error
    r.success = steps >= STEPS and s.faults == 0 and missed < p.near_end
    r.terminated = s.row >= s.last_row and steps < p.horizon


# --- what the agent sees ----------------------------------------------------------------------------------------------


@SPEC.observe
def observe(p, s, o):
    ego = s.ego
    x, y, cosine, sine = s.x[ego], s.y[ego], s.cosine[ego], s.sine[ego]
    o.speed, o.acceleration, o.yaw_rate, o.aside = s.speed[ego], s.acceleration_seen, s.yaw_rate, s.aside[ego]
    turn_sine, turn_cosine = maths.sin_cos(s.heading[ego] - heading_on(p, s.lane_of[ego], s.station[ego]))
    o.angle[0], o.angle[1] = turn_sine, turn_cosine
    for n in range(len(AHEAD)):
        there_x, there_y, _ = lane_point(p, s, AHEAD[n])
        right, down = there_x - x, there_y - y
        o.lane_ahead[n, 0], o.lane_ahead[n, 1] = right * cosine + down * sine, down * cosine - right * sine
    see_cars(s, o.cars)
    o.time = min(s.elapsed / STEPS, 1.0)


@kernel
def see_cars(s, rows):
    """The nearest cars, the nearest first."""
    ego, last, last_far = s.ego, -1, -1.0
    for row in range(rows.shape[0]):
        best, least = -1, FAR * FAR
        for j in range(s.movers):
            right, down = s.x[j] - s.x[ego], s.y[j] - s.y[ego]
            far = right * right + down * down
            if j != ego and far < least and (far > last_far or (far == last_far and j > last)):
                best, least = j, far
        for column in range(5):
            rows[row, column] = 0.0
        if best >= 0:
            fill_row(s, best, rows[row])
            last, last_far = best, least
        else:
            last_far = math.inf


@kernel
def fill_row(s, j, row):
    """What the ego car sees of car j."""
    ego = s.ego
    cosine, sine = s.cosine[ego], s.sine[ego]
    right, down = s.x[j] - s.x[ego], s.y[j] - s.y[ego]
    pace_x = s.speed[j] * s.cosine[j] - s.speed[ego] * cosine
    pace_y = s.speed[j] * s.sine[j] - s.speed[ego] * sine
    row[0] = 1.0
    row[1], row[2] = (right * cosine + down * sine) / FAR, (down * cosine - right * sine) / FAR
    row[3] = min(max((pace_x * cosine + pace_y * sine) / TOP_SPEED, -1.0), 1.0)
    row[4] = min(max((pace_y * cosine - pace_x * sine) / TOP_SPEED, -1.0), 1.0)


@SPEC.observe_images
def observe_images(p, s, i):
    if i.picture.shape[0] > 0:
        log_view.paint(p, s, i.picture)


SPEC.expert(expert)
SPEC.draw(log_view.draw_log)


@SPEC.keys
def keys(pressed, values):
    """Arrows: faster and slower, left and right."""
    right, up = ("right" in pressed) - ("left" in pressed), ("up" in pressed) - ("down" in pressed)
    if values.actions == "kinematic":
        return [float(right), float(up)]
    return [0.05 * up, 0.1 * right, 0.1 * right]
