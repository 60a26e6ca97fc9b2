"""Worlds that play a table: one set of kernels for all of them.

A world is a function from the values of its options to a `Table`, and names for its actions:

    SPEC = tabular("Chain-v0", chain, (0.0, 1.0), doc=__doc__, action=discrete("left", "right"), horizon=100)

A table that gives one number as reward has one reward term. One that gives a number for each objective has terms by
name, and a kernel `step` of its own says which is which; its features may be seen in place of the number of the state:

    SPEC = tabular("Name-v0", build, {"time": term(-1.0, 0.0), "gold": term(0.0, 1.0)}, seen=block(2, ...), ...)

    @SPEC.step
    def step(p, s, a, rng, r):
        j = outcome(p, s, a, rng, r)
        r.time, r.gold = p.gain[j, 0], p.gain[j, 1]

With `encoding="one_hot"` the state is seen as a vector
with a 1 at its place, as networks need it. `env.unwrapped.model` has the exact matrices, and `rlenvs.solve_mdp` their
values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from rlenvs.core import World, data_option, discrete_block, f8, i4, i8, kernel, term, u1, uniform, view, world
from rlenvs.core.declare.declared_spaces import Block, Parts
from rlenvs.core.declare.drop_in import DropIn, View
from rlenvs.core.declare.parts import Term
from rlenvs.kits.tables.table import BITS, FEATURES, FIRST_BITS, FIRST_MOST, MOST, SHIFT, Table

T = TypeVar("T")
DATA = {
    # what is read together lies in one number: places that differ by world are what a step of eight worlds costs
    "span": i8("states", "moves"),  # of the outcomes of an action the first, and how many (FIRST_BITS further up)
    "chance": f8("outcomes"),  # sums of the probabilities of a pair's outcomes up to this one
    "follows": i8("outcomes"),  # 4 times the next state, and 2 where the episode ends, and 1 where it is a success
    "gain": f8("outcomes"),
    "start": i4("starts"),
    "begins": f8("starts"),  # sums of the probabilities of the starts up to this one
    "allowed": i8("states", "mask_words"),  # a bit for each action
    "best": i4("states"),
    "shown": i4("states"),
    "map": u1("rows", "columns"),  # letters, for images
}


def tabular(
    name: str,
    build: Callable[[Any], Table],
    reward: tuple[float, float] | Mapping[str, Term],
    options: Mapping[str, Any] = MappingProxyType({}),
    seen: Block | None = None,
    kernel_options: Mapping[str, Any] = MappingProxyType({}),
    parts: Parts | None = None,
    **declared: Any,
) -> World:
    """A world that plays a table.

    Args:
        name: "Name-v0".
        build: function of the values that gives the table.
        reward: bounds of the reward of a step; or terms by name, in the order of the table's objectives. The world then
            needs a kernel `step`.
        options: what the table depends on. Kernels see nothing of it, so one compiled form plays all tables.
        seen: the block of the table's features, which are observed in place of the state's number.
        parts: what the number of the state is made of, for `encoding="tuple"`.
        kernel_options: options that the world's own kernels see as well.
        declared: the other keywords of `world`.
    """
    table_of = _remembered(build)
    terms = reward if isinstance(reward, Mapping) else {"reward": term(*reward, doc="what the table says")}
    number = discrete_block(
        lambda values: int(table_of(values).shown.max()) + 1, doc="number of the state", parts=parts
    )
    changed = {"gain": f8("outcomes", "objectives")} if isinstance(reward, Mapping) else {}
    extra = {"features": f8("states", "features"), "packed": i8("states", "feature_words")} if seen else {}
    declared["drop_in"] = declared.get("drop_in", DropIn()).but(views=_views(table_of))
    spec = world(
        name,
        sizes=lambda values: table_of(values).sizes,
        data={**DATA, **changed, **extra},
        state={"number": i4.index_of("states")},
        observation={"state": seen or number},
        terms=terms,
        options={**{key: data_option(option) for key, option in options.items()}, **kernel_options},
        lanes=True,
        **declared,
    )
    spec.make_data(_remembered(lambda values: table_of(values).data()))
    spec.exact_model(lambda values: _model(table_of(values)))
    spec.state_number(lambda values, s: s["number"])
    for role, function in {**KERNELS, **({"observe": observe_features} if seen else {})}.items():
        getattr(spec, role)(function)
    return spec


def parse_probability(given: Any) -> float:
    """A probability, for options; ValueError where it is none."""
    if isinstance(given, bool) or not 0.0 <= float(given) <= 1.0:
        raise ValueError(f"needed: a probability in [0, 1], not {given!r}")
    return float(given)


def letters_of(p: Any) -> list[str]:
    """The rows of the map of a table, for `draw` and `text`."""
    return ["".join(map(chr, row.tolist())) for row in p.map]


def _remembered(build: Callable[[Any], T]) -> Callable[[Any], T]:
    """The function that makes the last table, or its arrays, only once: sizes, spaces, data and model of a world each
    ask for it, and every environment."""
    last: list[tuple[str, T]] = []

    def made(values: Any) -> T:
        key = repr(vars(values))
        if not last or last[0][0] != key:
            last[:] = [(key, build(values))]
        return last[0][1]

    return made


def _views(table_of: Callable[[Any], Table]) -> dict[str, View]:
    """What Gymnasium's toy texts have: their tables, and the state."""
    transitions = _remembered(lambda values: table_of(values).transitions())
    starts = _remembered(lambda values: table_of(values).start_probabilities())
    return {
        "P": view(lambda setup, p, s: transitions(setup.values), "P[state][action]: (probability, next, reward, end)s"),
        "s": view(lambda setup, p, s: int(s.number), "number of the state"),
        "nS": view(lambda setup, p, s: table_of(setup.values).states, "how many states there are"),
        "nA": view(lambda setup, p, s: table_of(setup.values).actions, "how many actions there are"),
        "initial_state_distrib": view(lambda setup, p, s: starts(setup.values), "probability of each state at a start"),
    }


def _model(table: Table) -> Any:
    from rlenvs.kits.tables.solve import model_of  # SciPy is an extra

    return model_of(table)


@kernel
def drawn(chances, first, last, rng):
    """The place, from `first` to `last`, on which a draw falls; `chances` are sums, the last one 1."""
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
    """One of the states in which episodes begin."""
    s.number = p.start[drawn(p.begins, 0, p.begins.size - 1, rng)]


@kernel
def outcome(p, s, a, rng, r):
    """One of the outcomes of an action in a state, all but its reward. Gives its place in the table."""
    span = p.span[s.number, a]
    first = span & FIRST_MOST
    j = drawn(p.chance, first, first + (span >> FIRST_BITS) - 1, rng)
    follows = p.follows[j]
    s.number = follows >> 2
    r.terminated = follows & 2 != 0
    r.success = follows & 1 != 0
    return j


def step(p, s, a, rng, r):
    """One of the outcomes of an action in a state."""
    r.reward = p.gain[outcome(p, s, a, rng, r)]


def observe(p, s, o):
    """The number that the state shows."""
    o.state = p.shown[s.number]


def observe_features(p, s, o):
    """The features of the state."""
    count = p.features.shape[1]
    if p.packed.shape[1] == 0:
        for i in range(count):
            o.state[i] = p.features[s.number, i]
    for w in range(p.packed.shape[1]):
        word = p.packed[s.number, w]
        for i in range(FEATURES * w, min(FEATURES * w + FEATURES, count)):
            o.state[i] = (word >> (SHIFT * (i - FEATURES * w))) & MOST


def mask(p, s, m):
    """The actions that change something."""
    for w in range(p.allowed.shape[1]):
        word = p.allowed[s.number, w]
        for action in range(BITS * w, min(BITS * w + BITS, p.span.shape[1])):
            m[action] = (word >> (action - BITS * w)) & 1


def expert(p, s, a):
    """An action of the largest value, ignoring the time limit."""
    a[0] = p.best[s.number]


KERNELS = {"reset": reset, "step": step, "observe": observe, "mask": mask, "expert": expert}
