"""What all worlds of this family share: a declaration whose kernels play any table.

A member is a function from the values of its options to a `Table`, and names for its actions:

    SPEC = tabular("Chain-v0", doc=__doc__, build=chain, action=discrete("left", "right"), ...)

The reward of a step is one term, since a table gives one number. With `encoding="one_hot"` the state is seen as a vector
with a 1 at its place, as networks need it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlenvs.core import World, discrete_block, f8, i4, i8, kernel, term, u1, uniform, world
from rlenvs.single.tabular.table import Table

Builder = Callable[[Any], Table]


def tabular(name: str, build: Builder, lowest: float, highest: float, **declared: Any) -> World:
    """A world that plays a table.

    Args:
        name: "Name-v0".
        build: function of the values that gives the table. It is called again for every setting.
        lowest, highest: bounds of the reward of a step.
        declared: the other keywords of `world`.
    """
    spec = world(
        name,
        sizes=lambda values: build(values).sizes,
        data={
            "first": i8("pairs_and_end"),
            "chance": f8("outcomes"),
            "next_state": i4("outcomes"),
            "gain": f8("outcomes"),
            "ends": u1("outcomes"),
            "succeeds": u1("outcomes"),
            "start": i4("starts"),
            "begins": f8("starts"),
            "allowed": u1("states", "actions"),
        },
        state={"number": i4},
        observation={"state": discrete_block(lambda values: build(values).states, doc="number of the state")},
        terms={"reward": term(lowest, highest, doc="what the table says")},
        **declared,
    )
    spec.make_data(lambda values: build(values).data())
    spec.mdp(build)
    for role, function in KERNELS.items():
        getattr(spec, role)(function)
    return spec


@kernel
def drawn(chances, first, last, rng):
    """The place, from `first` to `last`, that a draw falls on; sums of chances lie in `chances`, the last one is 1."""
    if last == first:
        return first
    draw = uniform(rng, 0.0, 1.0)
    while first < last:
        middle = (first + last) // 2
        if draw < chances[middle]:
            last = middle
        else:
            first = middle + 1
    return first


def reset(p, s, rng):
    s.number = p.start[drawn(p.begins, 0, p.begins.size - 1, rng)]


def step(p, s, a, rng, r):
    pair = s.number * p.allowed.shape[1] + a
    j = drawn(p.chance, p.first[pair], p.first[pair + 1] - 1, rng)
    s.number = p.next_state[j]
    r.reward = p.gain[j]
    r.terminated = p.ends[j] != 0
    r.success = p.succeeds[j] != 0


def observe(p, s, o):
    o.state = s.number


def mask(p, s, m):
    for action in range(p.allowed.shape[1]):
        m[action] = p.allowed[s.number, action]


KERNELS = {"reset": reset, "step": step, "observe": observe, "mask": mask}
