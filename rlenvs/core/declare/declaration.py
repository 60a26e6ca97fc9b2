"""What follows from a declaration before values are known: whether it holds together, the fields of its records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rlenvs.core.declare.declared_spaces import Block, Continuous, DiscreteChoice, Image, MultiChoice, Published
from rlenvs.core.declare.errors import ParameterError, shortened
from rlenvs.core.declare.layout import Kind, Layout, b1, f8, i8, u8
from rlenvs.core.declare.limits import check_limit
from rlenvs.core.declare.options import Choice, Flag, Free, Integer, Param
from rlenvs.core.declare.parts import Cost, Term

if TYPE_CHECKING:
    from rlenvs.core.declare.spec import World

DECLARED: dict[str, tuple[Any, str]] = {  # of a dictionary of `world`, what it holds, and how that is written
    "params": (Param, '{"mass": param(1.0, 0.1, 10.0, "kg", "of the cart")}'),
    "options": ((Choice, Integer, Flag, Free), '{"map": choice("small", "large")}'),
    "state": (Kind, '{"position": f8(2), "count": i8}, numbers and arrays'),
    "persistent": (Kind, '{"position": f8(2), "count": i8}, numbers and arrays'),
    "data": (Kind, '{"heights": f8("points")}'),
    "observation": (Block, '{"position": block(2, low=-1.0, high=1.0)}'),
    "central": (Block, '{"position": block(2, low=-1.0, high=1.0)}'),
    "images": (Image, '{"camera": image(64, 64, 3)}'),
    "terms": (Term, '{"goal": term(0.0, 1.0)}, the least and the largest value'),
    "costs": (Cost, '{"crash": cost(5.0)}, the limit per episode'),
    "levels": (Mapping, '{"easy": {"mass": 0.5}}'),
}
CORE_STATE = ("rng", "players_rng", "elapsed", "over", "alive", "shown", "illegal")
ENDLESS = 2**62  # of counts that nothing else bounds: adding to them never overflows
RESERVED_TERMS = ("vector", "success", "terminated")


def check_declaration(spec: World) -> None:
    """ParameterError where parts of a declaration do not go together."""
    _check_types(spec)
    name, observation = spec.name, spec.observation
    if spec.combine_costs not in ("sum", "max"):
        raise ParameterError(f"{name}: combine_costs is 'sum' or 'max', not {spec.combine_costs!r}")
    if spec.goal:
        _check_goal(name, observation, spec.goal)
    if spec.roles and (len(observation) > 1 or any(not b.raw or len(b.shape) != 1 for b in observation.values())):
        raise ParameterError(f"{name}: with roles, the observation is one raw block of one dimension")
    if (spec.players or spec.teams or spec.roles) and not spec.agents:
        raise ParameterError(f"{name}: players, teams and roles are for worlds with agents=True")
    if spec.turns and not (spec.agents and "turn" in spec.state):
        raise ParameterError(f"{name}: turns are for worlds with agents=True and a field 'turn' of the state")
    if spec.incremental and not all(part.raw for part in observation.values()):
        raise ParameterError(f"{name}: an incremental observation is not scaled; make its blocks raw")
    _check_observation(name, observation, spec.images)
    if spec.published:
        _check_published(name, observation, spec.published, bool(spec.goal or spec.incremental), bool(spec.images))
    if spec.barriers and isinstance(spec.action, (DiscreteChoice, MultiChoice)):
        raise ParameterError(f"{name}: barriers are for worlds with continuous actions")
    for rule in spec.constraints:
        counts = {each for each, option in spec.options.items() if isinstance(option, Integer)}
        if unknown := set(rule.names) - set(spec.params) - counts:
            raise ParameterError(
                f"{name}: a constraint names {sorted(unknown)}, which are no parameters or options with whole numbers"
            )
    if spec.expert_sees not in ("observation", "state"):
        raise ParameterError(f"{name}: expert_sees is 'observation' or 'state', not {spec.expert_sees!r}")
    if "exploit" in spec.scores and not spec.scores["exploit"].note:
        raise ParameterError(f"{name}: scores['exploit'] needs a note that says what the script does")
    _check_originals(name, spec)
    if not set(spec.scratch) <= set(spec.state):
        raise ParameterError(f"{name}: scratch={list(spec.scratch)} must name fields of the state")


def _check_types(spec: World) -> None:
    """What a declaration holds is what the functions of `rlenvs.core` give."""
    for role, (types, such) in DECLARED.items():
        given = getattr(spec, role)
        if not isinstance(given, Mapping):
            raise ParameterError(f"{spec.name}: {role}={shortened(given)} must be a dictionary such as {such}")
        for name, part in given.items():
            if not isinstance(name, str) or not isinstance(part, types):
                raise ParameterError(f"{spec.name}: {role}[{name!r}] is {shortened(part)}; needed: {such}")
    if not isinstance(spec.action, (Continuous, DiscreteChoice, MultiChoice)) and not callable(spec.action):
        raise ParameterError(
            f"{spec.name}: action={shortened(spec.action)} must be made by discrete, continuous, multi_discrete or "
            "multi_binary, or a function of the values that gives one"
        )
    if not callable(spec.horizon):
        check_limit("horizon", spec.horizon)


def _check_originals(name: str, spec: World) -> None:
    named = spec.drop_in
    if own := set(named.keywords) & {*spec.params, *spec.options}:
        raise ParameterError(f"{name}: drop_in names keywords that the world already has: {sorted(own)}")
    if unknown := {param for params in named.starts.values() for param in params} - set(spec.params):
        raise ParameterError(f"{name}: drop_in starts name {sorted(unknown)}, which are no parameters")


def _check_observation(name: str, observation: Mapping[str, Block], images: Mapping[str, Image]) -> None:
    if not observation and not images:
        raise ParameterError(f"{name}: an observation must have blocks, images, or both")
    if any(part.discrete for part in observation.values()):
        fixed = [part for part in observation.values() if not any(isinstance(size, str) for size in part.shape)]
        if len(fixed) > 1 or images:
            raise ParameterError(
                f"{name}: a discrete_block is the whole observation, without images, and without other blocks but "
                "those that an option gives a size, which make a vector of it"
            )


def _check_published(
    name: str, observation: Mapping[str, Block], published: Published, other: bool, images: bool
) -> None:
    if other or not observation or any(part.discrete for part in observation.values()):
        raise ParameterError(
            f"{name}: published={published.id!r} is for observations with blocks, without a goal, incremental writing "
            "or a discrete_block (whose space is the published one anyway)"
        )
    if images and published.dtype == "int32":
        raise ParameterError(f"{name}: published dtype={published.dtype!r} is for observations without images")
    if published.dtype == "int32" and not all(part.whole for part in observation.values()):
        raise ParameterError(f"{name}: published dtype='int32' is for blocks of whole numbers, declared whole=True")


def _check_goal(name: str, observation: Mapping[str, Block], goal: tuple[str, str]) -> None:
    if tuple(observation)[-2:] != tuple(goal) or len(observation) < 3:
        raise ParameterError(f"{name}: goal={goal} must name the last two blocks of the observation, after others")
    achieved, desired = (observation[part] for part in goal)
    if not (achieved.raw and desired.raw) or achieved.shape != desired.shape:
        raise ParameterError(f"{name}: the blocks {goal[0]} and {goal[1]} must be raw and of equal shape")


def state_fields(spec: World) -> dict[str, Kind]:
    """The fields of the state: the declared ones, and those of the core."""
    taken = set(CORE_STATE) & {*spec.state, *spec.persistent}
    if taken:
        raise ParameterError(f"{spec.name}: the core already keeps {sorted(taken)} in the state")
    alive = b1("agents") if spec.agents else b1(1)
    memory = {**({"players_rng": u8(2)} if spec.players else {}), **spec.persistent}
    shown = {"shown": b1} if spec.incremental else {}
    count = i8.within(0, ENDLESS)
    illegal = {"illegal": count("agents" if spec.agents else 1)} if "mask" in spec.kernels else {}
    turn = {"turn": i8.index_of("agents", low=-1)} if spec.turns else {}
    own = {"rng": u8(2), "elapsed": count, "over": b1, "alive": alive, **shown}
    return {**own, **spec.state, **turn, **illegal, **memory}


def blocks_layout(name: str, blocks: Mapping[str, Block], number: Kind) -> Layout:
    """Where kernels write the blocks of an observation."""
    return Layout(name, {field: number(*part.shape) for field, part in blocks.items()}, True)


def param_fields(spec: World) -> dict[str, Kind]:
    """The fields of the parameters: those, the horizon and the weights, options and data."""
    encoded = {name: i8 for name, option in spec.options.items() if option.seen}
    own = {"horizon": i8, "weights": f8(len(spec.terms))}  # of each world, as its parameters are
    if taken := own.keys() & {*spec.params, *spec.options, *spec.data}:
        raise ParameterError(f"{spec.name}: the core already keeps {sorted(taken)} beside the parameters; rename yours")
    if twice := spec.params.keys() & {*spec.options, *spec.data}:  # an option may have its array among the data
        raise ParameterError(f"{spec.name}: {sorted(twice)} declared twice")
    return {**dict.fromkeys(spec.params, f8), **own, **encoded, **spec.data}


def result_fields(spec: World, per_agent: tuple[str, ...]) -> dict[str, Kind]:
    """The fields of what a step comes to: terms, costs, success, termination."""
    names = [*spec.terms, *spec.costs]
    for name in names:
        if name in RESERVED_TERMS or names.count(name) > 1:
            raise ParameterError(f"{spec.name}: a term cannot be called {name!r}")
    return {**{name: f8(*per_agent) for name in names}, "success": b1(*per_agent), "terminated": b1(*per_agent)}
