"""WaterReservoir: control the release of a reservoir, between floods and water shortage.

## Description
Every day rain fills a reservoir, and the agent decides how much water to release (Castelletti, Pianosi and Restelli,
"Tree-based fitted Q-iteration for multi-objective Markov decision problems", IJCNN 2012). Too much water floods the
shores, too little leaves the fields dry; turbines need a high level and a large release, and the valley below needs a
small one. MO-Gymnasium's water-reservoir (1.3): its equations, numbers, rewards and time limit. The original computes
in float32; if it is changed to float64, a step from the same state gives the same numbers. Different: releases are
bounded by 200, since an unbounded box cannot be sampled uniformly (the level exceeds 200 only with probability 1e-9);
penalties on actions and starting levels are two separate options, while the original starts from integers exactly when
it penalizes; normalized actions outside [0, 1] are refused; all constants are parameters.

Two objectives are the default. `level="hydropower"` has three and `level="downstream"` four (`nO` in the original).

No policy floods less than one that releases everything: the level is then that of the rain alone, with an expected
excess of 0.833 per step. And no policy can release more water than there is: over 100 steps, the mean of `demand` is at
most -962.7. So (-83.3, -962.7) is above the front of the two objectives, and their sum is above all scores.

## Action Space
How much water to release in this step. The actual release is at most the level, and at least the excess over the
capacity. With `normalized_action=True` the action is a fraction of the possible range, from 0 (the least) to 1 (the
most).

## Observation Space
The level of the reservoir, the volume of water in it.

## Rewards
Each term is minus an amount by which a target was missed: `upstream`, how far the level at the end of the step is above
the flood level; `demand`, how far the release is below the demand of the fields; at two levels `power`, how far the
turbines are below the demand for power (which grows with the product of release and level); at the last level `valley`,
how far the release is above what the valley below can take. With `penalize=True` the amount by which the action was
outside the possible range is also subtracted from each. The default weights are all 1.

## Costs
None.

## Starting State
One of ten published levels between 13.2 and 140.1; with `start="uniform"` an integer from 0 to 159; with
`start="given"` the level `initial_level`.

## Episode End
Truncation: 100 steps. Success is not defined.

## Parameters
Rain is normally distributed and rarely negative, which removes water; the level is never below 0. `power_demand` and
`valley_limit` belong to the levels with their objectives.

## Reference Scores
Mean return over seeds 0 to 99. The expert releases the demand, plus everything that would exceed the flood level after
the mean rain and a quarter of its standard deviation. According to dynamic programming on a grid of half a unit, this
is the best policy, with -1115.9. Releasing nearly everything every day, whatever the level, is 4 % worse than the
expert. The bound is the sum of the two above.

## Version History
v0: first version.
"""

from typing import Any

from rlenvs.core import Score, below, block, choice, continuous, f8, flag, kernel, normal, param, published, term, world

LEVELS = (96.855361, 58.046026, 116.15767, 20.164311, 79.191, 140.13098, 131.01816, 44.351321, 13.185943, 73.508622)
LARGEST, HIGHEST = 200.0, 360.0  # release that one can ask for; above all levels: capacity, rain, 8.6 deviations
POWER = 9.81 * 1000.0 / 3.6e6  # of a unit of water that falls by one unit
FINE = -220.0  # no action is farther from what is possible
LISTED, UNIFORM, GIVEN = range(3)
TWO = {
    "upstream": term(FINE - HIGHEST, 0.0, 1.0, "minus the excess of the level above the flood level"),
    "demand": term(FINE - 100.0, 0.0, 1.0, "minus the deficit of the release below the demand"),
}
THREE = {**TWO, "power": term(FINE - 10.0, 0.0, 1.0, "minus the deficit of power below the demand for it")}
FOUR = {**THREE, "valley": term(FINE - HIGHEST, 0.0, 1.0, "minus the excess of the release above the valley's limit")}


def action(values: Any) -> Any:
    return continuous("release", low=0.0, high=1.0 if values.normalized_action else LARGEST)


def rewards(count: int) -> Any:
    return published(
        "MO-Gymnasium water-reservoir-v0",
        low=0.0,
        high=float("inf"),
        reward=lambda values: ([-float("inf")] * count, [0.0] * count),
    )


SPEC = world(
    "WaterReservoir-v0",
    doc=__doc__,
    source="MO-Gymnasium water-reservoir (Castelletti, Pianosi and Restelli, IJCNN 2012)",
    params={
        "inflow_mean": param(40.0, 0.0, 80.0, "", "mean of the rain per step"),
        "inflow_std": param(10.0, 0.0, 15.0, "", "standard deviation of the rain per step"),
        "capacity": param(100.0, 50.0, 150.0, "", "capacity; the excess has to be released"),
        "flood_level": param(50.0, 20.0, 100.0, "", "level above which the shores are flooded"),
        "water_demand": param(50.0, 10.0, 100.0, "", "of the fields, per step"),
        "power_demand": param(4.36, 1.0, 10.0, "", "of power, per step"),
        "valley_limit": param(30.0, 10.0, 60.0, "", "release above which the valley is flooded"),
        "initial_level": param(50.0, 0.0, 160.0, "", "the first level, with start=given"),
    },
    probe={
        "power_demand": {"level": "hydropower"},
        "valley_limit": {"level": "downstream"},
        "initial_level": {"start": "given"},
    },
    options={
        "penalize": flag(False, "whether actions outside the possible range are penalized"),
        "normalized_action": flag(False, "whether actions are fractions of the possible range"),
        "start": choice("listed", "uniform", "given", doc="the first level: one of ten, a random integer, or given"),
    },
    state={"level": f8, "released": f8, "rain": f8, "outside": f8},
    observation={"level": block(1, low=0.0, high=HIGHEST, doc="level of the reservoir")},
    action=action,
    terms=TWO,
    published=rewards(2),
    horizon=100,
    fps=4,
    starts=10,
    levels={
        "hydropower": {"terms": THREE, "published": rewards(3)},
        "downstream": {"terms": FOUR, "published": rewards(4)},
    },
    scores={"bound": Score(-1046, 0, "an upper bound of the mean return of any policy")},
)


@SPEC.reset
def reset(p, s, rng):
    s.level = p.initial_level
    if p.start == UNIFORM:
        s.level = float(below(rng, 160))
    if p.start == LISTED:
        k = below(rng, 10)
        for j in range(10):
            if j == k:
                s.level = LEVELS[j]


@kernel
def flow(p, s, asked, rng, r):
    """A step's water, and the two objectives that are always there."""
    least, most = max(s.level - p.capacity, 0.0), s.level
    if p.normalized_action:
        s.released, s.outside = least + asked * (most - least), 0.0
    else:
        s.released = min(max(asked, least), most)
        s.outside = p.penalize * abs(asked - s.released)
    s.rain = p.inflow_mean + p.inflow_std * normal(rng)
    s.level = max(s.level + s.rain - s.released, 0.0)
    r.upstream = -max(s.level - p.flood_level, 0.0) - s.outside
    r.demand = -max(p.water_demand - s.released, 0.0) - s.outside


@kernel
def missing_power(p, s):
    return max(p.power_demand - POWER * s.level * s.released, 0.0)


@SPEC.step
def step(p, s, a, rng, r):
    flow(p, s, a[0], rng, r)


@SPEC.level("hydropower").step
def step_with_power(p, s, a, rng, r):
    flow(p, s, a[0], rng, r)
    r.power = -missing_power(p, s) - s.outside


@SPEC.level("downstream").step
def step_with_valley(p, s, a, rng, r):
    flow(p, s, a[0], rng, r)
    r.power = -missing_power(p, s) - s.outside
    r.valley = -max(s.released - p.valley_limit, 0.0) - s.outside


@SPEC.observe
def observe(p, s, o):
    o.level[0] = s.level


@SPEC.expert
def expert(p, s, a):
    """Keeps what the usual rain, and a little more, will not lift above the flood level; gives away the demand."""
    kept = max(p.flood_level - p.inflow_mean + 0.25 * p.inflow_std, 0.0)
    release = max(min(s.level, p.water_demand), s.level - kept)
    a[0] = min(release, LARGEST)
    if p.normalized_action:
        least = max(s.level - p.capacity, 0.0)
        a[0] = min(max((release - least) / max(s.level - least, 1e-9), 0.0), 1.0)


TOP = 160.0  # of the image


@SPEC.draw
def draw(canvas, p, s):
    canvas.legend(("blue", "water"), ("red", "flood level", "line"), ("orange", "demand of the fields", "line"))
    wide, tall = canvas.scene
    high = 100.0 * tall / wide
    canvas.view(0.0, 100.0, 0.0, high)
    ground, unit = 0.26 * high, 0.66 * high / TOP
    canvas.rectangle(0.0, 0.0, 100.0, high, (214, 232, 244))
    canvas.polygon([(0.0, 0.92 * high), (8.0, ground), (8.0, 0.0), (0.0, 0.0)], (134, 120, 92))
    canvas.rectangle(0.0, 0.0, 60.0, ground, (134, 120, 92))
    canvas.rectangle(58.0, 0.0, 100.0, 0.1 * high, (146, 178, 112))
    level = min(float(s.level), TOP)
    surface = ground + unit * level
    edge = 8.0 - 8.0 * (surface - ground) / (0.92 * high - ground)
    canvas.polygon([(edge, surface), (52.0, surface), (52.0, ground), (8.0, ground)], "blue")
    flood = ground + unit * float(p.flood_level)
    canvas.polygon([(52.0, ground + unit * TOP), (56.0, ground + unit * TOP), (64.0, 0.1 * high), (64.0, 0.0),
                    (52.0, 0.0)], (150, 154, 160))  # fmt: skip
    canvas.line([(0.0, flood), (52.0, flood)], "red", 4.0)
    _draw_release(canvas, float(s.released), float(p.water_demand), high)
    if s.elapsed > 0:
        for k in range(min(int(max(float(s.rain), 0.0) / 8.0), 10)):
            x, y = 6.0 + 4.6 * k, (0.955 if k % 2 else 0.985) * high
            canvas.line([(x, y), (x - 1.2, y - 0.05 * high)], "sky", 4.0)
    canvas.caption(f"level {float(s.level):.1f}, rain {float(s.rain):.1f}, released {float(s.released):.1f}")


def _draw_release(canvas: Any, released: float, demand: float, high: float) -> None:
    """The water that leaves, as a column beside the dam, with the demand."""
    base, unit = 0.1 * high, 0.66 * high / TOP
    canvas.rectangle(72.0, base, 90.0, base + unit * min(released, TOP), (92, 168, 232))
    canvas.line([(60.0, 0.14 * high), (72.0, 0.14 * high)], (92, 168, 232), 2.0 + released / 8.0)
    canvas.line([(68.0, base + unit * demand), (94.0, base + unit * demand)], "orange", 4.0)
    canvas.text((81.0, 0.045 * high), "released", "black", 15, "centre")


@SPEC.text
def text(p, s):
    return f"level {float(s.level):6.1f}   rain {float(s.rain):5.1f}   released {float(s.released):6.1f}"


@SPEC.keys
def keys(pressed, values):
    """Up gives a third of what can be asked for, right two thirds, both all."""
    most = 1.0 if values.normalized_action else LARGEST
    up, right = (bool(pressed.intersection(names)) for names in (("up", "w"), ("right", "d")))
    return [most * (up + 2 * right) / 3.0]
