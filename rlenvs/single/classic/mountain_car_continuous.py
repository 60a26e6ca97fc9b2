"""MountainCarContinuous: drive out of a valley with a weak engine, using as little effort as possible.

## Description
The mountain car with a push of any size, penalized by its square. Gymnasium's MountainCarContinuous-v0 (classic
control, 1.4): its equations, spaces, starts, limits, reward and keywords, so code and policies carry over. From the
same state a step gives the same numbers after rounding to float32. Different: the state is float64, where the original
rounds it to float32 after every step and computes in float32; an action outside the space is penalized like the clipped
one; all constants are parameters, including gravity, which is not a context in CARL.

## Action Space
The push, from -1 to 1, times `power`.

## Observation Space
Position and velocity of the car, the latter per step. With `velocity="hidden"` only the position.

## Rewards
`goal` (weight 100) is 1 when the goal is reached, `effort` (weight 0.1) minus the square of the action.

## Costs
None.

## Starting State
At rest, the position uniform in [-0.6, -0.4], about the bottom of the valley at -0.52: between `min_position_start` and
`max_position_start`. `reset(options={"low": ..., "high": ...})` takes other bounds for this reset, as in the original.

## Episode End
Termination, a success: the car is at 0.45 or beyond, with a velocity of at least `goal_velocity`. Truncation: 999
steps.

## Parameters
The contexts of CARL (Benjamins et al., TMLR 2023) under its names. The goal is at 0.45, as in Gymnasium; in CARL it is
at 0.5. Observed positions and velocities are clipped to the bounds of the space, which follow from the values passed to
`make`.

## Reference Scores
Mean return over seeds 0 to 99. Full pushes in the rhythm of the valley reach the goal without observing the state, with
a return of 90.

## Version History
v0: first version.
"""

from rlenvs.core import continuous, f8, param, published, term, world
from rlenvs.core.declare.maths import cos
from rlenvs.single.classic.hill import (
    BLOCKS,
    CAR,
    DATA,
    DROP_IN,
    RULES,
    STATE,
    VELOCITY,
    draw_valley,
    roll,
    seen,
    show,
    speeds,
    start,
)

GROWTH = 0.012  # of the velocity per step by the expert's push
STANDING, KICK = 0.001, 0.2  # where neither speed nor slope moves the car, and the push to begin with

SPEC = world(
    "MountainCarContinuous-v0",
    doc=__doc__,
    source="Gymnasium MountainCarContinuous-v0 (Towers et al., arXiv 2407.17032); Moore, PhD thesis, Cambridge 1990",
    params={
        "power": param(0.0015, 0.0003, 0.01, "", "change of velocity by a full push, per step"),
        "goal_position": param(0.45, 0.2, 0.6, "", "where the goal is"),
        **CAR,
    },
    constraints=RULES,
    options=VELOCITY,
    sizes=speeds,
    data=DATA,
    state={**STATE, "push": f8},
    observation=BLOCKS,
    action=continuous("push"),
    terms={
        "goal": term(0.0, 1.0, 100.0, "1 when the goal is reached"),
        "effort": term(-1.0, 0.0, 0.1, "minus the square of the action"),
    },
    published=published("Gymnasium MountainCarContinuous-v0"),
    drop_in=DROP_IN,
    reward_threshold=90.0,
    lanes=True,
    horizon=999,
    fps=30,
    levels={"easy": {"power": 0.003}, "hard": {"power": 0.0008}},
)

NO_VELOCITY = SPEC.member(
    "MountainCarContinuousNoVelocity-v0",
    "MountainCarContinuous without velocity: drive out of a valley when only the position is observed.",
    velocity="hidden",
    expert_sees="state",
)


@SPEC.make_data
def data(values):
    return seen(values)


@SPEC.reset
def reset(p, s, rng):
    start(p, s, rng)


@SPEC.step
def step(p, s, a, rng, r):
    s.push = a[0]
    s.x, s.v = roll(p, s.x, s.v, a[0] * p.power)
    there = s.x >= p.goal_position and s.v >= p.goal_velocity
    r.goal = 1.0 if there else 0.0
    r.effort = -(a[0] * a[0])
    r.terminated = there
    r.success = there


@SPEC.observe
def observe(p, s, o):
    show(p, s, o)


@SPEC.expert
def expert(p, s, a):
    """Pushes in proportion to the velocity, which gains the most energy for the effort."""
    push = GROWTH * s.v / p.power
    if abs(s.v) < STANDING and abs(cos(3.0 * s.x)) < 0.06:
        push = KICK if s.v >= 0.0 else -KICK
    a[0] = min(max(push, -1.0), 1.0)


@SPEC.draw
def draw(canvas, p, s):
    draw_valley(canvas, p, s, float(s.push))


@SPEC.keys
def keys(pressed, values):
    return [float(bool(pressed.intersection(("right", "d")))) - float(bool(pressed.intersection(("left", "a"))))]
