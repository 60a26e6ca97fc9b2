"""MicroRacer: drive a small car with a lidar one lap around a random track.

## Description
A small car drives on a narrow closed track, a new one in every episode, and senses the borders with a lidar. It has to
complete one lap without leaving the track; the physics is kept simple on purpose. After MicroRacer (Asperti and Del
Brutto, "MicroRacer: a didactic environment for Deep Reinforcement Learning", arXiv 2203.10494). Different from the
original: everything is seeded; the track is represented exactly instead of on a raster of 2 mm cells, so runs along an
edge can end differently. The raster extends 3.3 mm beyond the borders on average, hence `kerb`; walls have no kerb, and
the lidar sees them thicker by that much. Lidar distances are exact. The original's are truncated to 4 mm below 4 cm and
to 10 mm above (its intended refinement never runs) and jagged because of the cells; on average they agree. A controller
that steers towards the longest ray completes as many laps here as there; one that oversteers, by twice the ray's angle,
completes 99 % here and 64 % there. Beyond an edge the original's lidar is nearly blind; here the edge moves with the
car. An episode that fails returns the last valid observation (there an array of another shape), episodes have a time
limit, and all nineteen lidar distances are the default observation.

## Action Space
Acceleration (-1 brakes) and turn (1 turns right). A turn is limited to `max_turn` per step and, with `grip_limit`, to a
centripetal acceleration of `grip`.

## Observation Space
With observation="lidar" the distances along nineteen rays over `field_of_view`, from right to left, and the speed. With
observation="reduced" the original's five numbers: direction of the longest ray (positive to the left), the distances
on its right, along it and on its left, and the speed.

## Rewards
`progress` is the distance traveled, `failure` (weight 3) is -1 when an episode terminates without a completed lap; in
that step progress is 0. A completed lap gives a return equal to its length, 5 to 7, however fast it was.

## Costs
`near_edge`: 1 while the car is closer than 5 mm to a border or a wall. A car in the middle of the free space has no
cost; on the shortest line half of the steps have a cost. There is a barrier [m] for `BarrierFilter`: the clearance
around the position of the car in 0.15 s, which turning changes. Tested, not proved: with random actions held for
several steps, 12 % of the steps have a cost with the filter and 29 % without; with independent random actions 2 % and
25 %.

## Starting State
On the midline at polar angle 0, heading clockwise, at a speed that is uniform in [0, `start_speed`] or, with
`low_speed_rule`, at least 0.02 m/s above `min_speed`. The track has 20 random control points, by default a chicane and
six short walls at its sides. `track_seed` fixes the track; the state's `track` is the number of the current one.

## Episode End
Termination: a lap is complete (a success); the car leaves the track by more than `kerb` or hits a wall; its polar angle
did not decrease (wrong direction, standing still); with `low_speed_rule`, its speed falls below `min_speed`. After a
failure the state is the last valid one. Truncation: 2500 steps (100 s).

## Parameters
The original has no unit of length; here its unit is a meter.

## Reference Scores
Mean return over seeds 0 to 99.

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
    f8,
    flag,
    i8,
    integer,
    kernel,
    maths,
    param,
    term,
    uniform,
    world,
)
from rlenvs.robotics.racing.render import draw_race
from rlenvs.robotics.racing.track import (
    TRACK_MEMO,
    border_gap,
    free_middle,
    generate,
    prefetch_border,
    scan,
    sees,
    wall_gap,
)

OBSERVATION = choice("lidar", "reduced", doc="all distances and speed, or the original's five numbers")
(LIDAR,) = OBSERVATION.codes("lidar")
RAYS = 19
NEAR = 0.005
FARTHEST, NEAREST, SAFE, TOP_SPEED = 0.5, 0.02, 0.008, 0.25  # of the expert; rad, rad, m, m/s
FORESIGHT, SLIVER = 0.15, 0.02  # of the barrier: s, and of a turn, over which its slope is taken
LARGEST_NUMBER = 2**31 - 1
OUTCOMES = ("", "lap complete", "off the track", "wrong direction", "too slow")
RACING, LAP, OFF_TRACK, WRONG_WAY, TOO_SLOW = range(5)

SPEC = world(
    "MicroRacer-v0",
    doc=__doc__,
    source="MicroRacer (Asperti and Del Brutto, arXiv 2203.10494)",
    params={
        "dt": param(0.04, 0.02, 0.08, "s", "time step"),
        "acceleration": param(0.1, 0.02, 0.5, "m/s^2", "acceleration at full action"),
        "max_turn": param(math.pi / 6, 0.1, math.pi / 2, "rad", "largest change of heading per step"),
        "grip": param(1.741, 0.5, 5.0, "m/s^2", "largest centripetal acceleration"),
        "min_speed": param(0.05, 0.0, 0.1, "m/s", "speed below which the low-speed rule ends the episode"),
        "start_speed": param(0.5, 0.1, 1.0, "m/s", "upper end of the start speeds"),
        "width": param(0.04, 0.03, 0.06, "m", "width of the track; walls are half as thick"),
        "kerb": param(0.0033, 0.0, 0.01, "m", "how far the car may go beyond the edges seen by the lidar"),
        "spread": param(0.5, 0.1, 0.5, "m", "range of the control points' radii, from 0.7 m up"),
        "field_of_view": param(math.pi / 3, 0.5, 3.0, "rad", "angle that the lidar covers"),
    },
    options={
        "observation": OBSERVATION,
        "chicanes": flag(True, "whether the track has a chicane"),
        "obstacles": flag(True, "whether the track has six walls"),
        "grip_limit": flag(True, "whether `grip` limits turns at speed"),
        "low_speed_rule": flag(True, "whether the episode ends below `min_speed`"),
        "track_seed": integer(-1, -1, LARGEST_NUMBER, "number of the track for all episodes; -1 for a new one in each"),
    },
    sizes=lambda v: {
        "rays": RAYS if v.observation == "lidar" else 0,
        "direction": 1 if v.observation == "reduced" else 0,
        "neighbours": 3 if v.observation == "reduced" else 0,
    },
    persistent=TRACK_MEMO,
    state={
        "position": f8(2),  # m
        "heading": f8,  # rad
        "speed": f8,  # m/s
        "angle": f8,  # rad, polar angle of the position
        "lidar": f8(RAYS),  # m, from right to left
        "end": i8,  # RACING ... TOO_SLOW
    },
    observation={
        "lidar": block("rays", low=0.0, high=1.0, unit="m", doc="free distances, from right to left"),
        "direction": block("direction", low=-1.5, high=1.5, unit="rad", doc="direction of the longest ray"),
        "longest": block(
            "neighbours", low=0.0, high=1.0, unit="m", doc="the longest ray and its neighbors, right to left"
        ),
        "speed": block(low=0.0, high=1.0, unit="m/s", doc="speed"),
    },
    action=continuous("acceleration", "turn"),
    terms={
        "progress": term(0.0, 0.5, 1.0, "distance traveled in meters"),
        "failure": term(-1.0, 0.0, 3.0, "-1 when an episode terminates without a completed lap"),
    },
    costs={"near_edge": cost(25.0, doc="1 while closer than 5 mm to a border or a wall")},
    horizon=2500,
    barriers=1,
    fps=25,
    levels={
        "easy": {"chicanes": False, "obstacles": False},
        "hard": {"width": 0.035, "acceleration": 0.2, "kerb": 0.0},
    },
    expert_sees="state",
)


@kernel
def seen_thickness(p):
    """Of walls [m] as the lidar sees them: the car may go `kerb` beyond all edges that it sees."""
    return 0.5 * p.width + 2.0 * p.kerb


@kernel
def longest_ray(lidar):
    best = 0
    for j in range(1, lidar.size):
        if lidar[j] > lidar[best]:
            best = j
    return best


@kernel
def ray_direction(view, j):
    """Direction [rad] of ray j relative to the heading."""
    return view * (j / (RAYS - 1) - 0.5)


@kernel
def turn_limit(p, speed):
    """Largest change of heading [rad] in a step at this speed [m/s]."""
    if p.grip_limit and speed > 0.0:
        return min(p.max_turn, p.grip * p.dt / speed)
    return p.max_turn


@SPEC.reset
def reset(p, s, rng):
    number = p.track_seed if p.track_seed >= 0 else below(rng, LARGEST_NUMBER)
    generate(s, number, p.width, p.spread, p.chicanes, p.obstacles)
    s.speed = uniform(rng, 0.0, p.start_speed)
    if p.low_speed_rule:
        s.speed = max(s.speed, p.min_speed + 0.02)
    s.position[0], s.position[1] = s.midline[1, 0], s.midline[2, 0]
    ahead = s.midline[0, 1] - s.midline[0, 0]
    dx = (s.midline[1, 1] - s.midline[1, 0]) / ahead - ahead * (2.0 * s.midline[3, 0] + s.midline[3, 1]) / 6.0
    dy = (s.midline[2, 1] - s.midline[2, 0]) / ahead - ahead * (2.0 * s.midline[4, 0] + s.midline[4, 1]) / 6.0
    s.heading = maths.atan2(-dy, -dx)
    sn, c = maths.sin_cos(s.heading)
    x, y, angle = s.position[0], s.position[1], s.angle
    scan(s, s.lidar, x, y, s.heading, angle, seen_thickness(p), p.field_of_view, 0.5 * p.width, c, sn)


@kernel
def wall_room(p, s, angle, x, y):
    """Distance [m] of a point from the nearest wall."""
    return wall_gap(s.walls, 0.5 * p.width, angle, x, y) - p.kerb


@SPEC.fetch
def fetch(p, s):
    prefetch_border(s)


@SPEC.step
def step(p, s, a, rng, r):
    speed = max(0.0, s.speed + a[0] * p.acceleration * p.dt)
    heading = maths.wrapped(s.heading - a[1] * turn_limit(p, speed))
    sn, c = maths.sin_cos(heading)
    x, y = s.position[0] + speed * c * p.dt, s.position[1] + speed * sn * p.dt
    angle = maths.atan2(y, x)
    turned = angle - s.angle
    if s.angle < -0.9 * math.pi and angle > 0.9 * math.pi:
        turned -= 2.0 * math.pi
    edge = border_gap(s.border, angle, x, y)
    gap = min(edge, wall_room(p, s, angle, x, y))
    r.near_edge = 1.0 if gap < NEAR else 0.0
    if gap < -p.kerb:
        s.end = OFF_TRACK
    elif turned >= 0.0:
        s.end = WRONG_WAY
    elif p.low_speed_rule and speed < p.min_speed:
        s.end = TOO_SLOW
    elif s.angle > 0.0 and angle <= 0.0:
        s.end = LAP
    r.success = s.end == LAP
    r.terminated = s.end != RACING
    if s.end > LAP:
        r.failure = -1.0
        return
    r.progress = speed * p.dt
    s.position[0], s.position[1], s.heading, s.speed, s.angle = x, y, heading, speed, angle
    scan(s, s.lidar, x, y, heading, angle, seen_thickness(p), p.field_of_view, edge, c, sn)


@SPEC.observe
def observe(p, s, o):
    o.speed = s.speed
    if p.observation == LIDAR:
        for j in range(RAYS):
            o.lidar[j] = s.lidar[j]
        return
    best = longest_ray(s.lidar)
    o.direction[0] = ray_direction(p.field_of_view, best)
    o.longest[0], o.longest[1] = s.lidar[max(best - 1, 0)], s.lidar[best]
    o.longest[2] = s.lidar[min(best + 1, RAYS - 1)]


@SPEC.expert
def expert(p, s, a):
    """Drives at the farthest point that it sees of the middle of the free track, the faster the farther it is."""
    x, y, thickness = s.position[0], s.position[1], seen_thickness(p)
    ahead = FARTHEST
    while True:
        radius = free_middle(s.border, s.walls, thickness, s.angle - ahead)
        tx, ty = radius * maths.cos(s.angle - ahead), radius * maths.sin(s.angle - ahead)
        if ahead < NEAREST or sees(s, x, y, s.angle, thickness, SAFE, tx, ty):
            break
        ahead *= 0.85
    error = maths.wrapped(maths.atan2(ty - y, tx - x) - s.heading)
    target = min(TOP_SPEED, p.min_speed + 0.03 + 0.6 * ahead)
    a[0] = (target - s.speed) / (p.acceleration * p.dt)
    a[1] = -error / turn_limit(p, s.speed)


@kernel
def room_ahead(p, s, heading, distance):
    """Distance [m] from the place so far ahead to what costs, negative where it does."""
    sn, c = maths.sin_cos(heading)
    x, y = s.position[0] + distance * c, s.position[1] + distance * sn
    angle = maths.atan2(y, x)
    return min(border_gap(s.border, angle, x, y), wall_room(p, s, angle, x, y)) - NEAR


@SPEC.barrier
def barrier(p, s, a, b):
    """The room where the car will be a moment later, which turning changes at once, around the proposed turn."""
    speed = max(0.0, s.speed + min(max(a[0], -1.0), 1.0) * p.acceleration * p.dt)
    limit, distance = turn_limit(p, speed), speed * (p.dt + FORESIGHT)
    turn = min(max(a[1], -1.0), 1.0)
    here = room_ahead(p, s, s.heading - turn * limit, distance)
    right = room_ahead(p, s, s.heading - (turn + SLIVER) * limit, distance)
    left = room_ahead(p, s, s.heading - (turn - SLIVER) * limit, distance)
    slope = 0.5 * (right - left) / SLIVER
    b.value[0] = room_ahead(p, s, s.heading, s.speed * FORESIGHT)
    b.drift[0] = here - slope * turn - b.value[0]
    b.slope[0, 0], b.slope[0, 1] = 0.0, slope


@SPEC.draw
def draw(canvas, p, s):
    draw_race(canvas, p, s)
    lap = -float(s.angle) % (2.0 * math.pi) / (2.0 * math.pi)
    told = OUTCOMES[s.end] or f"{lap:.0%} of the lap"
    canvas.caption(f"{s.elapsed * p.dt:.1f} s", f"{s.speed:.2f} m/s", told)


@SPEC.keys
def keys(pressed, values):
    return [float(("up" in pressed) - ("down" in pressed)), float(("right" in pressed) - ("left" in pressed))]
