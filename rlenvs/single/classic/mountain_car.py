"""MountainCar: drive out of a valley with an engine too weak to climb the slope directly.

## Description
The car has to roll back first to gather speed. Gymnasium's MountainCar-v0 (classic control, 1.4): its equations,
spaces, starts, limits, reward and keywords, so code and policies carry over. From the same state a step gives the same
numbers up to rounding. Different: all constants are parameters. `MountainCarNoVelocity-v0` hides the velocity.

## Action Space
0 pushes to the left, 1 does not push, 2 pushes to the right.

## Observation Space
Position and velocity of the car, the latter per step. With `velocity="hidden"` only the position.

## Rewards
`time` is -1 for every step, the last one included.

## Costs
None.

## Starting State
At rest, the position uniform in [-0.6, -0.4], about the bottom of the valley at -0.52: between `min_position_start` and
`max_position_start`. `reset(options={"low": ..., "high": ...})` takes other bounds for this reset, as in the original.

## Episode End
Termination, a success: the car is at 0.5 or beyond, with a velocity of at least `goal_velocity`. Truncation: 200 steps.

## Parameters
The contexts of CARL (Benjamins et al., TMLR 2023) under its names. The goal is at 0.5, as in Gymnasium; in CARL it is
at 0.45. Observed positions and velocities are clipped to the bounds of the space, which follow from the values passed
to `make`.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

from rlenvs.core import discrete, f8, kernel, param, published, term, world
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

LONGEST = 4  # steps against the pump that the expert considers
FAR = 400  # steps after which it gives up a plan

SPEC = world(
    "MountainCar-v0",
    doc=__doc__,
    source="Gymnasium MountainCar-v0 (Towers et al., arXiv 2407.17032); Moore, PhD thesis, Cambridge 1990",
    params={
        "force": param(0.001, 0.0002, 0.01, "", "change of velocity by a push, per step"),
        "goal_position": param(0.5, 0.2, 0.6, "", "where the goal is"),
        **CAR,
    },
    constraints=RULES,
    options=VELOCITY,
    sizes=speeds,
    data=DATA,
    state={**STATE, "push": f8},
    observation=BLOCKS,
    action=discrete("push left", "do not push", "push right", idle=1),
    terms={"time": term(-1.0, 0.0, 1.0, "-1 for every step")},
    published=published("Gymnasium MountainCar-v0"),
    drop_in=DROP_IN,
    reward_threshold=-110.0,
    lanes=True,
    horizon=200,
    fps=30,
    levels={"easy": {"force": 0.0015}, "hard": {"force": 0.0007, "horizon": 300}},
)

NO_VELOCITY = SPEC.member(
    "MountainCarNoVelocity-v0",
    "MountainCar without velocity: drive out of a valley when only the position is observed.",
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
    s.push = float(a - 1)
    s.x, s.v = roll(p, s.x, s.v, s.push * p.force)
    there = s.x >= p.goal_position and s.v >= p.goal_velocity
    r.time = -1.0
    r.terminated = there
    r.success = there


@SPEC.observe
def observe(p, s, o):
    show(p, s, o)


@kernel
def steps_to_goal(p, x, v, push, pushed, most):
    """How long it takes to push one way for some steps, and then in the direction of motion."""
    for t in range(most):
        x, v = roll(p, x, v, push if t < pushed or v == 0.0 else p.force if v > 0.0 else -p.force)
        if x >= p.goal_position and v >= p.goal_velocity:
            return t
    return most


@SPEC.expert
def expert(p, s, a):
    """Pushes in the direction of motion, but for a few steps first where that is faster."""
    best, choice = FAR, 2 if s.v > 0.0 else 0
    for pushed in range(LONGEST + 1):
        for right in range(2):
            needed = steps_to_goal(p, s.x, s.v, p.force if right else -p.force, pushed, best)
            if needed < best:
                best = needed
                choice = 2 * right if pushed > 0 or s.v == 0.0 else 2 if s.v > 0.0 else 0
    a[0] = choice


@SPEC.draw
def draw(canvas, p, s):
    draw_valley(canvas, p, s, float(s.push))


@SPEC.keys
def keys(pressed, values):
    return 1 + bool(pressed.intersection(("right", "d"))) - bool(pressed.intersection(("left", "a")))
