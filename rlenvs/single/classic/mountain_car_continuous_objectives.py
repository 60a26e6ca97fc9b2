"""MountainCarContinuousObjectives: drive out of a valley, trading time against effort.

## Description
The mountain car with a push of any size and two objectives: car, valley, spaces and starts are those of
`MountainCarContinuous-v0`. MO-Gymnasium's mo-mountaincarcontinuous-v0 (1.3): its objectives and time limit. From the
same state a step gives the same numbers if the original is changed to compute in float64 instead of float32. Different:
in the original a push above 1 moves the car like 1 but is penalized by its full square. Here actions lie in [-1, 1];
`level="compat"` accepts actions in [-2, 2] and penalizes them like the original.

## Action Space
The push, from -1 to 1, times `power`. At the level `compat` from -2 to 2.

## Observation Space
Position and velocity of the car, the latter per step. With `velocity="hidden"` only the position.

## Rewards
`time` is -1 for every step except the one that reaches the goal, `effort` minus the square of the action. The default
weights are both 1.

## Costs
None.

## Starting State
At rest, the position uniform in [-0.6, -0.4], about the bottom of the valley at -0.52.

## Episode End
Termination, a success: the car is at 0.45 or beyond, with a velocity of at least `goal_velocity`. Truncation: 999
steps.

## Parameters
Those of `MountainCarContinuous-v0`.

## Reference Scores
Mean return over seeds 0 to 99. The expert takes the best of several plans: a push for up to four steps, then pushes
proportional to the velocity with one of several gains, or no push. According to dynamic programming on a grid, no
policy exceeds about -115. Full pushes in the rhythm of the valley reach the goal without observing the state, with a
return of -194.

## Version History
v0: first version.
"""

from rlenvs.core import continuous, f8, kernel, param, published, term, world
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

GAINS, LEAST_GAIN = 6, 0.015  # growths of the velocity per step that the expert considers: 0, and from twice this on
LONGEST = 4  # steps of one push that it considers before
FAR = 400  # after which it gives up a way
TIME = {"time": term(-1.0, 0.0, 1.0, "-1 for every step except the one that reaches the goal")}

SPEC = world(
    "MountainCarContinuousObjectives-v0",
    doc=__doc__,
    source="MO-Gymnasium mo-mountaincarcontinuous-v0; Moore, PhD thesis, Cambridge 1990",
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
    terms={**TIME, "effort": term(-1.0, 0.0, 1.0, "minus the square of the action")},
    published=published("MO-Gymnasium mo-mountaincarcontinuous-v0", reward=lambda values: ([-1.0] * 2, [0.0] * 2)),
    lanes=True,
    horizon=999,
    fps=30,
    levels={
        "compat": {
            "action": continuous("push", low=-2.0, high=2.0),
            "terms": {**TIME, "effort": term(-4.0, 0.0, 1.0, "minus the square of the action")},
            "published": published(
                "MO-Gymnasium mo-mountaincarcontinuous-v0", reward=lambda values: ([-1.0, -4.0], [0.0] * 2)
            ),
        }
    },
)


@SPEC.make_data
def data(values):
    return seen(values)


@SPEC.reset
def reset(p, s, rng):
    start(p, s, rng)


@SPEC.step
def step(p, s, a, rng, r):
    s.push = min(max(a[0], -1.0), 1.0)
    s.x, s.v = roll(p, s.x, s.v, s.push * p.power)
    there = s.x >= p.goal_position and s.v >= p.goal_velocity
    r.time = 0.0 if there else -1.0
    r.effort = -(a[0] * a[0])
    r.terminated = there
    r.success = there


@SPEC.observe
def observe(p, s, o):
    show(p, s, o)


@kernel
def price_of_way(p, x, v, push, pushed, gain, most):
    """What a way to the goal costs: one push for some steps, then one in proportion to the velocity."""
    price = 0.0
    for t in range(FAR):
        now = push if t < pushed else min(max(gain * v / p.power, -1.0), 1.0)
        x, v = roll(p, x, v, now * p.power)
        price += now * now
        if x >= p.goal_position and v >= p.goal_velocity:
            return price
        price += 1.0
        if price >= most:
            break
    return most


@SPEC.expert
def expert(p, s, a):
    """The first action of the cheapest way."""
    best, choice = float(FAR), 0.5 if s.v >= 0.0 else -0.5
    gain = 0.0
    for _ in range(GAINS):
        for k in range(1 + 4 * LONGEST):
            pushed, push = (k + 3) // 4, 0.5 * float((k + 3) % 4) - 1.0
            push = push if push < 0.0 else push + 0.5
            price = price_of_way(p, s.x, s.v, push, pushed, gain, best)
            if price < best:
                best = price
                choice = push if pushed > 0 else min(max(gain * s.v / p.power, -1.0), 1.0)
        gain = 2.0 * max(gain, LEAST_GAIN)
    a[0] = choice


@SPEC.draw
def draw(canvas, p, s):
    draw_valley(canvas, p, s, float(s.push))


@SPEC.keys
def keys(pressed, values):
    return [float(bool(pressed.intersection(("right", "d")))) - float(bool(pressed.intersection(("left", "a"))))]
