"""MicroRacerRace: race two to eight small cars on a random track; the first to finish wins.

## Description
The cars of [MicroRacer](MicroRacer-v0.md), on its tracks and with its lidar, several on one track at the same time.
After the races of MicroRacer's students (Asperti and Del Brutto, "MicroRacer: a didactic environment for Deep
Reinforcement Learning", arXiv 2203.10494), where cars are drawn together but do not interact; here they do. As there, a
car is a point and obstacles have the thickness of a car: another car is a disc of radius `car_size`, which the lidar
sees. A car that runs into another one loses its speed, has a cost, and continues. A single car moves bit-identically to
MicroRacer, with the same observations, so an agent of MicroRacer can take part (as `rlenvs.load_agent` returns it): its
PPO agent wins nine of ten races against the scripted driver.

`rlenvs tournament MicroRacerRace-v0` runs a championship: all players meet all others, on the same tracks and from all
grid positions.

## Action Space
Per car: acceleration (-1 brakes) and turn (1 turns right). A turn is limited to `max_turn` per step and, with
`grip_limit`, to a centripetal acceleration of `grip`.

## Observation Space
Per car. With observation="lidar" the distances along nineteen rays over `field_of_view`, from right to left, and the
speed. With observation="reduced" the original's five numbers: direction of the longest ray (positive to the left), the
distances on its right, along it and on its left, and the speed. Distances end at borders, walls and other cars.

## Rewards
Per car. `progress` is the distance traveled, `failure` (weight 3) is -1 for leaving the race without completing it; in
that step progress is 0. `finish` (weight 3) is 1 over the rank, in the step that completes the last lap. `overtake`
(weight 0.2) is the number of places gained.

## Costs
Per car. `contact`: 1 while nearer than `car_size` to another car. `near_edge`: 1 while the car is closer than 5 mm to a
border or a wall.

## Starting State
A grid before the start line, which is polar angle 0: two rows 1 cm to either side of the midline, 2 cm from car to car.
All drive clockwise at `start_speed`. `track_seed` fixes the track; the state's `track` is the number of the current
one.

## Episode End
Termination, of each car: all laps are complete; it leaves the track by more than `kerb` or hits a wall; its polar angle
did not decrease (wrong direction); with `low_speed_rule`, its own brakes bring it below `min_speed`. Such a car is
removed. A contact does not end anything: the car behind is slowed down to the speed of the one ahead, but not below
`min_speed`. Truncation: 2500 steps (100 s) for each lap. Success: all laps complete, before the others. In a tournament
cars are ranked: those that finished in their order, then the others by distance.

## Parameters
The original has no unit of length; here its unit is a meter.

## Reference Scores
Mean return of all cars together over seeds 0 to 99.

## Version History
v0: first version.
"""

import math

from rlenvs.core import (
    b1,
    below,
    continuous,
    cost,
    f8,
    i8,
    integer,
    kernel,
    maths,
    param,
    term,
    world,
)
from rlenvs.kits.tracks.splines import on_spline
from rlenvs.robotics.racing.micro_drivers import pass_by
from rlenvs.robotics.racing.micro_racer import LAP as FINISHED
from rlenvs.robotics.racing.micro_racer import (
    LARGEST_NUMBER,
    LIDAR,
    NEAR,
    OBSERVATION,
    OFF_TRACK,
    OUTCOMES,
    RACING,
    RAYS,
    TOO_SLOW,
    WRONG_WAY,
    longest_ray,
    ray_direction,
    seen_thickness,
    turn_limit,
)
from rlenvs.robotics.racing.micro_racer import SPEC as ALONE
from rlenvs.robotics.racing.render import draw_cars
from rlenvs.robotics.racing.track import TRACK_MEMO, border_gap, generate, scan, scan_disc, wall_gap

MOST_CARS = 8
ROW, ASIDE, BEFORE = 0.02, 0.01, 0.01  # m of the grid: from car to car, beside the midline, before the line
SAME_PART = 1.5  # rad of polar angle in which cars may see each other


def sizes(values):
    seen = values.observation == "lidar"
    return {
        "agents": values.agents,
        "rays": RAYS if seen else 0,
        "direction": 0 if seen else 1,
        "neighbours": 0 if seen else 3,
    }


SPEC = world(
    "MicroRacerRace-v0",
    doc=__doc__,
    source="MicroRacer (Asperti and Del Brutto, arXiv 2203.10494)",
    agents=True,
    params={
        **{name: given for name, given in ALONE.params.items() if name != "start_speed"},
        "start_speed": param(0.1, 0.06, 0.5, "m/s", "speed of all cars at the start"),
        "car_size": param(0.008, 0.004, 0.012, "m", "distance of two cars below which they touch"),
    },
    options={
        "agents": integer(2, 2, MOST_CARS, "number of cars"),
        "laps": integer(1, 1, 10, "laps of a race"),
        **{name: ALONE.options[name] for name in ("chicanes", "obstacles", "grip_limit", "low_speed_rule")},
        "observation": OBSERVATION,
        "track_seed": integer(-1, -1, LARGEST_NUMBER, "number of the track for all episodes; -1 for a new one in each"),
    },
    sizes=sizes,
    persistent=TRACK_MEMO,
    state={
        "position": f8("agents", 2),  # m
        "heading": f8("agents"),  # rad
        "speed": f8("agents"),  # m/s
        "angle": f8("agents"),  # rad, polar angle of the position
        "driven": f8("agents"),  # rad, polar angle passed since the start line; negative before it
        "lidar": f8("agents", RAYS),  # m, from right to left
        "end": i8("agents"),  # RACING ... TOO_SLOW
        "ended_at": i8("agents"),  # step
        "gone": b1("agents"),
        "standing": i8("agents"),  # cars that are ahead
        "finished": i8,  # cars
    },
    observation=dict(ALONE.observation),
    action=continuous("acceleration", "turn"),
    terms={
        "progress": term(0.0, 0.5, 1.0, "distance traveled in meters"),
        "failure": term(-1.0, 0.0, 3.0, "-1 for leaving the race without completing it"),
        "finish": term(0.0, 1.0, 3.0, "1 over the rank, in the step that completes the last lap"),
        "overtake": term(-MOST_CARS, MOST_CARS, 0.2, "places gained"),
    },
    costs={
        "contact": cost(25.0, doc="1 while nearer than `car_size` to another car"),
        "near_edge": cost(25.0, doc="1 while closer than 5 mm to a border or a wall"),
    },
    horizon=lambda values: 2500 * values.laps,
    fps=25,
    teams=lambda values: list(range(values.agents)),
    players=("racer", "cautious", "longest_ray"),
    expert_sees="state",
    levels={
        "easy": {"chicanes": False, "obstacles": False},
        "hard": {"width": 0.035, "acceleration": 0.2, "kerb": 0.0},
        "pack": {"agents": 8},
    },
)


@SPEC.reset
def reset(p, s, rng):
    number = p.track_seed if p.track_seed >= 0 else below(rng, LARGEST_NUMBER)
    generate(s, number, p.width, p.spread, p.chicanes, p.obstacles)
    for k in range(s.gone.size):
        line_up(p, s, k)
    look_around(p, s)


@kernel
def line_up(p, s, k):
    """Put a car into its place of the grid."""
    # metres to polar angle by the radius at the line; the grid need not be exact
    turn = (BEFORE + ROW * k) / s.midline[1, 0]
    i, last = 0, s.knots - 1
    while i < last and s.midline[0, i + 1] <= turn:
        i += 1
    x, y, dx, dy = on_spline(s.midline, i, turn)
    away = math.sqrt(dx * dx + dy * dy)
    shift = ASIDE * p.width / 0.04 / away
    if k % 2 == 1:
        shift = -shift
    x, y = x - dy * shift, y + dx * shift
    s.position[k, 0], s.position[k, 1] = x, y
    s.heading[k], s.speed[k] = maths.atan2(-dy, -dx), p.start_speed
    s.angle[k] = maths.atan2(y, x)
    s.driven[k] = -s.angle[k]
    s.standing[k] = k


@kernel
def look_around(p, s):
    """The lidars of all cars that are there: first the track, then the others."""
    for k in range(s.gone.size):
        if s.gone[k]:
            continue
        x, y, heading, angle = s.position[k, 0], s.position[k, 1], s.heading[k], s.angle[k]
        sn, c = maths.sin_cos(heading)
        gap, out = border_gap(s.border, angle, x, y), s.lidar[k]
        scan(s, out, x, y, heading, angle, seen_thickness(p), p.field_of_view, gap, c, sn)
        for j in range(s.gone.size):
            if j != k and not s.gone[j] and abs(maths.wrapped(s.angle[j] - angle)) < SAME_PART:
                scan_disc(s.fan, out, x, y, c, sn, s.position[j, 0], s.position[j, 1], p.car_size)


@kernel
def drive(p, s, k, acceleration, turn, r):
    """Move a car by a step, or end its race where it may not be."""
    speed = max(0.0, s.speed[k] + acceleration * p.acceleration * p.dt)
    heading = maths.wrapped(s.heading[k] - turn * turn_limit(p, speed))
    sn, c = maths.sin_cos(heading)
    x, y = s.position[k, 0] + speed * c * p.dt, s.position[k, 1] + speed * sn * p.dt
    angle = maths.atan2(y, x)
    turned = maths.wrapped(angle - s.angle[k])
    edge = border_gap(s.border, angle, x, y)
    gap = min(edge, wall_gap(s.walls, 0.5 * p.width, angle, x, y) - p.kerb)
    r.near_edge[k] = 1.0 if gap < NEAR else 0.0
    if gap < -p.kerb:
        s.end[k] = OFF_TRACK
    elif turned >= 0.0:
        s.end[k] = WRONG_WAY
    elif p.low_speed_rule and speed < p.min_speed:
        s.end[k] = TOO_SLOW
    if s.end[k] != RACING:
        r.failure[k] = -1.0
        return
    r.progress[k] = speed * p.dt
    s.position[k, 0], s.position[k, 1], s.heading[k], s.speed[k], s.angle[k] = x, y, heading, speed, angle
    s.driven[k] -= turned
    if s.driven[k] >= 2.0 * math.pi * p.laps:
        s.end[k] = FINISHED


@kernel
def touch(p, s, r):
    """Costs of cars that touch; the one behind is slowed down to the speed of the one before it."""
    for k in range(s.gone.size):
        for j in range(k):
            if s.end[j] == RACING and s.end[k] == RACING and not s.gone[j] and not s.gone[k]:
                dx, dy = s.position[j, 0] - s.position[k, 0], s.position[j, 1] - s.position[k, 1]
                if dx * dx + dy * dy < p.car_size * p.car_size:
                    r.contact[k] = r.contact[j] = 1.0
                    behind, before = (k, j) if s.driven[k] <= s.driven[j] else (j, k)
                    slowest = min(s.speed[behind], s.speed[before])
                    s.speed[behind] = min(max(slowest, p.min_speed), s.speed[behind])


@SPEC.step
def step(p, s, a, rng, r):
    for k in range(s.gone.size):
        if not s.gone[k]:
            drive(p, s, k, a[k, 0], a[k, 1], r)
    touch(p, s, r)
    rank = s.finished + 1
    for k in range(s.gone.size):
        if not s.gone[k]:
            judge(s, k, rank, r)
    for k in range(s.gone.size):
        s.gone[k] = s.end[k] != RACING
    look_around(p, s)


@kernel
def judge(s, k, rank, r):
    """Places gained, and whether the race is over for a car; `rank` is the next that is free."""
    ahead = 0
    for j in range(s.gone.size):
        if s.driven[j] > s.driven[k]:
            ahead += 1
    r.overtake[k] = float(s.standing[k] - ahead)
    s.standing[k] = ahead
    if s.end[k] == RACING:
        return
    s.ended_at[k] = s.elapsed + 1
    if s.end[k] == FINISHED:
        s.finished += 1
        r.finish[k] = 1.0 / rank
        r.success[k] = rank == 1
    r.terminated[k] = True


@SPEC.observe
def observe(p, s, k, o):
    o.speed = s.speed[k]
    lidar = s.lidar[k]
    if p.observation == LIDAR:
        for j in range(RAYS):
            o.lidar[j] = lidar[j]
        return
    best = longest_ray(lidar)
    o.direction[0] = ray_direction(p.field_of_view, best)
    o.longest[0], o.longest[1] = lidar[max(best - 1, 0)], lidar[best]
    o.longest[2] = lidar[min(best + 1, RAYS - 1)]


@SPEC.placing
def placing(p, s):
    """Those that finished in the order in which they did, then the others by how far they came."""
    return [1e9 - float(s.ended_at[k]) if s.end[k] == FINISHED else float(s.driven[k]) for k in range(len(s.gone))]


# --- drivers ----------------------------------------------------------------------------------------------------------


@SPEC.player("racer")
def racer(p, s, k, a, rng):
    """Drives at the farthest point that it sees of the middle of the free track, and passes slower cars."""
    pass_by(p, s, k, a[k], 0.25)


@SPEC.player("cautious")
def cautious(p, s, k, a, rng):
    """The same at no more than 0.15 m/s."""
    pass_by(p, s, k, a[k], 0.15)


@SPEC.player("longest_ray")
def to_longest_ray(p, s, k, a, rng):
    """Steers at the longest ray of its lidar, and drives the faster the longer it is."""
    best = longest_ray(s.lidar[k])
    target = max(p.min_speed + 0.05, min(0.25, 0.8 * s.lidar[k, best]))
    a[k, 0] = 1.0 if s.speed[k] < target else -1.0
    a[k, 1] = -ray_direction(p.field_of_view, best) / (math.pi / 6.0)


@SPEC.draw
def draw(canvas, p, s):
    there = sorted((k for k in range(len(s.gone)) if not s.gone[k]), key=lambda k: float(s.driven[k]))
    leader = there[-1] if there else max(range(len(s.gone)), key=lambda k: float(s.driven[k]))
    draw_cars(canvas, p, s, leader, there)
    done = max(float(s.driven[leader]) / (2.0 * math.pi), 0.0)
    told = OUTCOMES[s.end[leader]] or f"lap {done:.2f} of {p.laps}"
    canvas.caption(f"{s.elapsed * p.dt:.1f} s", f"{s.speed[leader]:.2f} m/s", told)


@SPEC.keys
def keys(pressed, values):
    return [float(("up" in pressed) - ("down" in pressed)), float(("right" in pressed) - ("left" in pressed))]
