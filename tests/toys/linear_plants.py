"""A suite of forty linear plants: one kind, and a member for each pair of matrices.

## Description
x[t + 1] = A x[t] + B u[t] + noise. Keep the state near zero, and spare the controls.

## Action Space
One number per input of the plant.

## Observation Space
The state.

## Rewards
Minus the mean square of the state, and of the controls.

## Costs
None.

## Starting State
Uniform in [-1, 1] along every axis.

## Episode End
Truncation after 60 steps. Success is not defined.

## Parameters
`noise` is the standard deviation of what disturbs each number of the state.

## Reference Scores
None.

## Version History
v0: first version.
"""

import numpy as np

from rlenvs.core import Score, block, continuous, f8, normal, param, term, uniform, world

LARGEST = 10.0
NAMES = [f"Plant{n:02d}-v0" for n in range(40)]


def plant_kind(name):
    """The kind, declared in a function, as helpers of families do; the matrices are data."""
    spec = world(
        name,
        doc=__doc__,
        params={"noise": param(0.01, 0.0, 0.1, "", "standard deviation of the disturbances")},
        data={"a": f8("states", "states"), "b": f8("states", "inputs")},
        sizes=lambda values: {"states": 1, "inputs": 1},
        state={"x": f8("states"), "u": f8("states")},
        observation={"x": block("states", low=-LARGEST, high=LARGEST, doc="the state")},
        action=continuous(size="inputs", doc="controls"),
        terms={
            "state": term(-(LARGEST**2), 0.0, 1.0, "minus the mean square of the state"),
            "control": term(-1.0, 0.0, 0.1, "minus the mean square of the controls"),
        },
        horizon=60,
    )

    @spec.make_data
    def make_data(values):
        return {"a": np.eye(1), "b": np.eye(1)}

    @spec.reset
    def reset(p, s, rng):
        for j in range(s.x.size):
            s.x[j] = uniform(rng, -1.0, 1.0)

    @spec.step
    def step(p, s, a, rng, r):
        for i in range(s.x.size):
            s.u[i] = p.noise * normal(rng)
            for j in range(s.x.size):
                s.u[i] += p.a[i, j] * s.x[j]
            for j in range(a.size):
                s.u[i] += p.b[i, j] * a[j]
        for i in range(s.x.size):
            s.x[i] = min(max(s.u[i], -LARGEST), LARGEST)
            r.state -= s.x[i] ** 2 / s.x.size
        for j in range(a.size):
            r.control -= a[j] ** 2 / a.size

    @spec.observe
    def observe(p, s, o):
        for j in range(s.x.size):
            o.x[j] = s.x[j]

    @spec.expert
    def expert(p, s, a):
        for j in range(a.size):
            a[j] = 0.0
            for i in range(s.x.size):
                a[j] -= 0.5 * p.b[i, j] * s.x[i]

    return spec


def matrices(n):
    """A plant of its own for each n: rotated and scaled so that it is just stable."""
    rng = np.random.default_rng(n)
    states, inputs = 1 + n % 5, 1 + n % 2
    rotation = np.linalg.qr(rng.normal(size=(states, states)))[0]
    return rotation * rng.uniform(0.8, 1.0), rng.normal(size=(states, inputs))


def slow_level(a):
    """A level that is more than values of parameters: another matrix, time limit, weight and scores."""
    return {
        "slow": {
            "noise": 0.0,
            "horizon": 90,
            "data": {"a": 0.5 * a},
            "terms": {"state": term(-(LARGEST**2), 0.0, 2.0, ""), "control": term(-1.0, 0.0, 0.2, "")},
            "scores": {"random": Score(-8.0, 0.5), "expert": Score(-4.0, 0.5)},
        }
    }


def add_plants(kind):
    """The forty members."""
    for n, name in enumerate(NAMES):
        a, b = matrices(n)
        kind.member(
            name,
            f"Plant {n}: {len(a)} states and {b.shape[1]} inputs.",
            sizes={"states": len(a), "inputs": b.shape[1]},
            data={"a": a, "b": b},
            scores={"idle": Score(-float(n), 0.5)},
            levels={"noisy": {"noise": 0.05}, **(slow_level(a) if n == 3 else {})},
        )


KIND = plant_kind("LinearPlant")
add_plants(KIND)
