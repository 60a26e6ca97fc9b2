"""MountainCarObjectives: drive out of a valley, trading time, number of pushes and speed.

## Description
The mountain car with several objectives (after Vamplew et al., "Empirical evaluation methods for multiobjective
reinforcement learning algorithms", Machine Learning 2011): car, valley, spaces and starts are those of
`MountainCar-v0`. MO-Gymnasium's mo-mountaincar-v0 (1.3): its objectives and time limit. From the same state a step
gives the same numbers. Its other ids are levels: `level="3d"` (mo-mountaincar-3d-v0), `level="timemove"` and
`level="timespeed"`. Different: the reward bounds include the last step, which costs no time; the original's do not; all
constants are parameters.

## Action Space
0 pushes to the left, 1 does not push, 2 pushes to the right.

## Observation Space
Position and velocity of the car, the latter per step. With `velocity="hidden"` only the position.

## Rewards
`time` is -1 for every step except the one that reaches the goal. `reverse` is -1 for a push to the left, `forward` -1
for a push to the right. At the levels that have `move` instead, it is -1 for either; `speed` is 15 times the absolute
velocity. By default a push weighs a fifth of a step.

## Costs
None.

## Starting State
At rest, the position uniform in [-0.6, -0.4], about the bottom of the valley at -0.52.

## Episode End
Termination, a success: the car is at 0.5 or beyond, with a velocity of at least `goal_velocity`. Truncation: 200 steps.

## Parameters
Those of `MountainCar-v0`.

## Reference Scores
Mean return over seeds 0 to 99. The expert takes the best of a few plans: some steps of one action, then pushes in the
direction of motion, or coasting. According to dynamic programming on a grid, no policy exceeds about -115.

## Version History
v0: first version.
"""

from rlenvs.core import discrete, f8, kernel, param, published, term, world
from rlenvs.single.classic.hill import (
    BLOCKS,
    CAR,
    DATA,
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

LONGEST = 4  # steps of one action that the expert considers
FAR = 400  # steps after which it gives up a plan
PUSH = 0.2  # what it thinks that a push costs, in steps
TIME = {"time": term(-1.0, 0.0, 1.0, "-1 for every step except the one that reaches the goal")}
MOVE = {"move": term(-1.0, 0.0, PUSH, "-1 for a push")}
SPEED = {"speed": term(0.0, 4.5, 0.1, "15 times the absolute velocity")}


def rewards(id, *ends):
    return published(f"MO-Gymnasium {id}", reward=lambda values: tuple(zip(*ends, strict=True)))


NONE, FAST = (-1.0, 0.0), (0.0, 1.1)  # of the original's reward spaces

SPEC = world(
    "MountainCarObjectives-v0",
    doc=__doc__,
    source="MO-Gymnasium mo-mountaincar-v0; Vamplew et al., Machine Learning 2011; Moore, PhD thesis, Cambridge 1990",
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
    terms={
        **TIME,
        "reverse": term(-1.0, 0.0, PUSH, "-1 for a push to the left"),
        "forward": term(-1.0, 0.0, PUSH, "-1 for a push to the right"),
    },
    published=rewards("mo-mountaincar-v0", NONE, NONE, NONE),
    lanes=True,
    horizon=200,
    fps=30,
    levels={
        "3d": {"terms": {**TIME, **MOVE, **SPEED}, "published": rewards("mo-mountaincar-3d-v0", NONE, NONE, FAST)},
        "timemove": {"terms": {**TIME, **MOVE}, "published": rewards("mo-mountaincar-timemove-v0", NONE, NONE)},
        "timespeed": {"terms": {**TIME, **SPEED}, "published": rewards("mo-mountaincar-timespeed-v0", NONE, FAST)},
    },
)


@SPEC.make_data
def data(values):
    return seen(values)


@SPEC.reset
def reset(p, s, rng):
    start(p, s, rng)


@kernel
def drive(p, s, a, r):
    """The motion, the end, and the objective that is always there."""
    s.push = float(a - 1)
    s.x, s.v = roll(p, s.x, s.v, s.push * p.force)
    there = s.x >= p.goal_position and s.v >= p.goal_velocity
    r.time = 0.0 if there else -1.0
    r.terminated = there
    r.success = there


@SPEC.step
def step(p, s, a, rng, r):
    drive(p, s, a, r)
    r.reverse = -1.0 if a == 0 else 0.0
    r.forward = -1.0 if a == 2 else 0.0


@SPEC.level("3d").step
def step_of_three(p, s, a, rng, r):
    drive(p, s, a, r)
    r.move = 0.0 if a == 1 else -1.0
    r.speed = 15.0 * abs(s.v)


@SPEC.level("timemove").step
def step_of_moves(p, s, a, rng, r):
    drive(p, s, a, r)
    r.move = 0.0 if a == 1 else -1.0


@SPEC.level("timespeed").step
def step_of_speed(p, s, a, rng, r):
    drive(p, s, a, r)
    r.speed = 15.0 * abs(s.v)


@SPEC.observe
def observe(p, s, o):
    show(p, s, o)


@kernel
def price_of_way(p, x, v, push, pushed, coasting, most):
    """What a way to the goal costs, in steps: one push for some steps, then none, or one in the direction of motion."""
    price = 0.0
    for t in range(FAR):
        now = push if t < pushed else 0.0 if coasting == 1 else 1.0 if v > 0.0 else -1.0
        x, v = roll(p, x, v, now * p.force)
        price += PUSH * abs(now)
        if x >= p.goal_position and v >= p.goal_velocity:
            return price
        price += 1.0
        if price >= most or (coasting == 1 and t >= pushed and v <= 0.0):
            break
    return most


@SPEC.expert
def expert(p, s, a):
    """The first action of the cheapest way."""
    best, choice = float(FAR), 2 if s.v > 0.0 else 0
    for coasting in range(2):
        for pushed in range(LONGEST + 1):
            for push in range(-1, 2):
                if pushed > 0 or push == 0:
                    price = price_of_way(p, s.x, s.v, float(push), pushed, coasting, best)
                    if price < best:
                        best = price
                        choice = 1 + push if pushed > 0 else 1 if coasting == 1 else 2 if s.v > 0.0 else 0
    a[0] = choice


@SPEC.draw
def draw(canvas, p, s):
    draw_valley(canvas, p, s, float(s.push))


@SPEC.keys
def keys(pressed, values):
    return 1 + bool(pressed.intersection(("right", "d"))) - bool(pressed.intersection(("left", "a")))
