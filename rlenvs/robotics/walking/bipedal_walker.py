"""BipedalWalker: walk over uneven ground on two legs with four motors.

## Description
A hull on two legs with hips and knees walks to the right over hilly grass, senses the ground ahead with a lidar, and
must not fall. Gymnasium's BipedalWalker-v3 (1.4, by Oleg Klimov): its constants, spaces, rewards and terminations,
simulated by this package's rigid bodies (`rlenvs/kits/planar`) instead of Box2D. `BipedalWalkerHardcore-v0`, or
`hardcore=True`, has stumps, stairs and pits. With the same start, ground and actions the walk matches the original to
about 1e-5 per step; over many steps contacts amplify float32 rounding, and walks agree in distribution
(benchmarks/planar_episodes.md). Different: solver iterations stop early when they change nothing; no clouds. Unchanged:
a foot that touches two pieces of ground counts as in the air as soon as it leaves one of them; the lidar does not see
the walker itself; the goal is ten terrain steps before the last point.

## Action Space
Hip and knee of the first leg, hip and knee of the second: the sign is the direction of the motor, the absolute value
the fraction of its torque.

## Observation Space
As in the original: angle, angular velocity and velocities of the hull; for each leg angle and speed of hip and knee and
whether the foot touches the ground; ten lidar distances as fractions of `lidar_range`, from below to forwards.

## Rewards
`progress` is 130 for 30 m, `lean` the change of -5 |angle of the hull|, `torque` (weight 0.028) minus the sum of the
absolute actions, `fall` -100 in the step of a fall, in which the other terms are 0.

## Costs
None.

## Starting State
Standing on flat ground, pushed by a horizontal force of up to `initial_random` newtons during the first step, in which
the motors are off.

## Episode End
Termination: the hull touches the ground or is left of the start of the ground (a fall); the walker is beyond the last
`terrain_grass` steps of the ground (a success). Truncation: 1600 steps (32 s), 2000 in the hardcore version.

## Parameters
The contexts of CARL (Benjamins et al., TMLR 2023) under its names; docs/carl.md describes the effect of each.

## Reference Scores
Mean return over seeds 0 to 99. The expert has the phases of Gymnasium's heuristic controller, with parameters found by
a search for the grass (with the original parameters it scores 93); on the hardcore ground it stumbles over the first
obstacles.

## Version History
v0: first version.
"""

import math

from rlenvs.core import (
    block,
    continuous,
    drop_in,
    f8,
    flag,
    instead,
    integer,
    param,
    published,
    term,
    uniform,
    world,
)
from rlenvs.kits import planar
from rlenvs.kits.planar.biped import blocks_of_leg
from rlenvs.kits.planar.gait import NUMBERS
from rlenvs.robotics.walking import terrain, walker
from rlenvs.robotics.walking.render import draw_walk
from rlenvs.robotics.walking.terrain import build_ground
from rlenvs.robotics.walking.walker import (
    HULL,
    RAYS,
    build_walker,
    follow_gait,
    hull_seen,
    lean_of,
    leg_seen,
    plan_gait,
    progress_of,
    walk,
)

LEG_LOW = (-math.pi, -5.0, -math.pi, -5.0, 0.0)
LEG_HIGH = (math.pi, 5.0, math.pi, 5.0, 5.0)
LOW = (-math.pi, -5.0, -5.0, -5.0, *LEG_LOW, *LEG_LOW, *[-1.0] * RAYS)
HIGH = (math.pi, 5.0, 5.0, 5.0, *LEG_HIGH, *LEG_HIGH, *[1.0] * RAYS)


BODIES = instead("bodies are in `env.unwrapped.batch.states`: center, angle, velocity, spin of each")

SPEC = world(
    "BipedalWalker-v0",
    doc=__doc__,
    source="Gymnasium BipedalWalker-v3 (Towers et al., arXiv 2407.17032)",
    params={
        "gravity": param(-10.0, -20.0, 0.0, "m/s^2", "gravity, upwards"),
        "gravity_x": param(0.0, -20.0, 20.0, "m/s^2", "gravity, forwards"),
        "friction": param(2.5, 0.0, 10.0, "", "of the ground"),
        "terrain_step": param(14.0 / 30.0, 0.3, 1.0, "m", "between points of the ground"),
        "terrain_height": param(400.0 / 30.0 / 4.0, 1.0, 10.0, "m", "the ground's middle height"),
        "motors_torque": param(80.0, 0.01, 200.0, "N m", "largest torque"),
        "speed_hip": param(4.0, 0.01, 15.0, "rad/s", "speed of the hips' motors"),
        "speed_knee": param(6.0, 0.01, 15.0, "rad/s", "speed of the knees' motors"),
        "lidar_range": param(160.0 / 30.0, 0.5, 20.0, "m", "range of the lidar"),
        "leg_down": param(-8.0 / 30.0, -0.5, 0.0, "m", "position of the hips in the hull"),
        "leg_w": param(8.0 / 30.0, 0.1, 0.5, "m", "width of a leg"),
        "leg_h": param(34.0 / 30.0, 0.5, 2.0, "m", "length of each of its two links"),
        "scale": param(30.0, 20.0, 60.0, "px/m", "scale of the hull, of the observed velocities, and of the reward"),
        "viewport_w": param(600.0, 400.0, 1000.0, "px", "scale of the forward velocity"),
        "viewport_h": param(400.0, 200.0, 800.0, "px", "scale of the upward velocity"),
        "initial_random": param(5.0, 0.0, 50.0, "N", "largest force of the first step"),
        "fps": param(50.0, 20.0, 200.0, "1/s", "steps per second"),
    },
    options={
        "hardcore": flag(False, "stumps, stairs and pits"),
        "terrain_length": integer(200, 100, 500, "points of the ground"),
        "terrain_grass": integer(
            10, 4, 50, "largest number of grass steps between obstacles, and length of the grass past the goal"
        ),
        "terrain_startpad": integer(20, 10, 50, "steps of flat ground at the start"),
        "velocity_iterations": integer(180, 1, 1000, "largest number of velocity iterations per step"),
        "position_iterations": integer(60, 1, 1000, "largest number of position iterations per step"),
    },
    sizes=terrain.sizes,
    data={"gait_numbers": f8(NUMBERS)},
    state={**walker.STATE, **terrain.STATE},
    observation={
        "angle": block(low=-math.pi, high=math.pi, unit="rad", doc="of the hull, positive backwards"),
        "spin": block(low=-5.0, high=5.0, unit="25 rad/s", doc="angular velocity of the hull"),
        "vx": block(low=-5.0, high=5.0, doc="velocity of the hull, forwards"),
        "vy": block(low=-5.0, high=5.0, doc="velocity of the hull, upwards"),
        **blocks_of_leg("first"),
        **blocks_of_leg("second"),
        "lidar": block(RAYS, low=0.0, high=1.0, doc="fractions of the lidar's range, from below to forwards"),
    },
    action=continuous("first hip", "first knee", "second hip", "second knee"),
    terms={
        "progress": term(-50.0, 50.0, 1.0, "130 for 30 m"),
        "lean": term(-20.0, 20.0, 1.0, "change of -5 |angle of the hull|"),
        "torque": term(-4.0, 0.0, 0.028, "minus the sum of the absolute actions"),
        "fall": term(-100.0, 0.0, 1.0, "-100 for a fall"),
    },
    published=published("Gymnasium BipedalWalker-v3", low=lambda values: LOW, high=lambda values: HIGH, clipped=True),
    expert_sees="state",
    horizon=1600,
    fps=lambda values: values.fps,
    drop_in=drop_in(views=dict.fromkeys(("hull", "legs", "joints", "world", "terrain", "lidar"), BODIES)),
    reward_threshold=300.0,
    levels={
        "fast": {"velocity_iterations": 12, "position_iterations": 6},
    },
)

HARDCORE = SPEC.member(
    "BipedalWalkerHardcore-v0",
    "BipedalWalker with obstacles: walk over stumps, stairs and pits on two legs with four motors.",
    hardcore=True,
    horizon=2000,
    reward_threshold=300.0,
)


SPEC.state_fault(planar.state_fault)


@SPEC.make_data
def data(values):
    return {"gait_numbers": walker.GAIT}


@SPEC.reset
def reset(p, s, rng):
    ground = planar.add_body(s, planar.STATIC, 0.0, 0.0, 0.0)
    build_ground(p, s, ground, rng)
    build_walker(p, s)
    s.force[HULL, 0] = uniform(rng, -p.initial_random, p.initial_random)
    walk(p, s, 0.0, 0.0, 0.0, 0.0)
    s.place, s.lean = progress_of(p, s), lean_of(s)


@SPEC.step
def step(p, s, a, rng, r):
    walk(p, s, a[0], a[1], a[2], a[3])
    plan_gait(p, s)
    place, lean = progress_of(p, s), lean_of(s)
    x = planar.origin(s, HULL)[0]
    fallen = s.hull_touched == 1 or x < 0.0
    there = x > (s.ground.shape[0] - p.terrain_grass) * p.terrain_step
    r.terminated = fallen or there
    r.success = there and not fallen
    if fallen:
        r.fall = -100.0
    else:
        r.progress = place - s.place
        r.lean = 5.0 * (s.lean - lean)
        r.torque = -(abs(a[0]) + abs(a[1]) + abs(a[2]) + abs(a[3]))
    s.place, s.lean = place, lean


@SPEC.observe
def observe(p, s, o):
    o.angle, o.spin, o.vx, o.vy = hull_seen(p, s)
    o.first_hip, o.first_hip_speed, o.first_knee, o.first_knee_speed, o.first_foot = leg_seen(p, s, 0)
    o.second_hip, o.second_hip_speed, o.second_knee, o.second_knee_speed, o.second_foot = leg_seen(p, s, 1)
    for i in range(RAYS):
        o.lidar[i] = s.lidar[i]


@SPEC.expert
def expert(p, s, a):
    a[0], a[1] = follow_gait(p, s, 0)
    a[2], a[3] = follow_gait(p, s, 1)


@SPEC.draw
def draw(canvas, p, s):
    draw_walk(canvas, p, s)


@SPEC.keys
def keys(pressed, values):
    def between(less, more):
        return float(more in pressed) - float(less in pressed)

    return [between("a", "d"), between("s", "w"), between("left", "right"), between("down", "up")]
