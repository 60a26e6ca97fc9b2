"""The declarative half of a world: its parameters, options, state, spaces, terms and levels.

A world file calls `world(...)` once and hangs its kernels on the result:

    SPEC = world("Name-v0", ...)

    @SPEC.reset
    def reset(p, s, rng): ...
"""

from __future__ import annotations

import functools
import sys
from collections import ChainMap
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, TypeVar

from rlenvs.core.declare.core_options import form_option, physics_option, scaled_option
from rlenvs.core.declare.declaration import blocks_layout, check_declaration, param_fields, result_fields, state_fields
from rlenvs.core.declare.declared_spaces import Action, Block, Image, Published
from rlenvs.core.declare.drop_in import DropIn
from rlenvs.core.declare.errors import ParameterError, UnknownNameError, nearest, shortened
from rlenvs.core.declare.kernels import kernel
from rlenvs.core.declare.layout import Kind, Layout, f4, f8, u1
from rlenvs.core.declare.members import changed, doc_of_member, no_sizes
from rlenvs.core.declare.options import Constraint, Option, Param
from rlenvs.core.declare.parts import Cost, Role, Score, Term
from rlenvs.core.declare.scores import ReferenceScores
from rlenvs.core.declare.whole_worlds import pickled_whole, unpickled

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(eq=False)
class World:
    """The declaration of a world, on which its file registers the kernels. Files call it as `world(...)`.

    Args:
        name: "Name-v0"; the registered id is "rlenvs/Name-v0".
        doc: the module's docstring, with the headings that `rlenvs.core.catalogue.docs` lists.
        state: fields of the state record; "rng", "elapsed", "over" and "alive" are there already.
        observation: blocks by name, per agent. One block keeps its shape, several are flattened and joined; or one
            `discrete_block(n)`. Without blocks, images are the observation.
        action: `continuous(...)`, `discrete(...)`, `multi_discrete(...)` or `multi_binary(...)`, per agent, or a
            function of the values that gives one.
        terms: reward terms by name. The scalar reward is the sum of weight times value.
        horizon: steps until truncation, or a function of the values that gives them.
        params: physical parameters by name, seen by kernels as p.name.
        options: other keywords of `make`; kernels see Choice, Integer and Flag as integers p.name.
        costs: constraint costs by name.
        combine_costs: "sum", or "max" for indicator costs whose total stays an indicator.
        fps: steps per second of simulated time, for images; or a function of the values.
        agents: multi-agent; then `sizes` has to give "agents", terms are arrays over agents and `a` has a leading
            agent axis.
        levels: by name ("easy", "hard"), what differs from the world: values of parameters and options, and keywords of
            `world` (horizon, scores, data, terms, ...), as for `member`.
        sizes: function of the values that gives the named sizes.
        persistent: more fields of the state, which a reset does not clear: what follows from parameters alone and is
            slow to compute. Kernels keep beside it what it was computed from, and compute it again when that has
            changed.
        data: fields of p that the function under `@SPEC.make_data` fills.
        scores: reference scores: "random", "idle", "expert", an agent's name, "bound", and "exploit", the best script
            known that does without the skill that the task asks for, with a note that says what it does. Worlds of
            this package declare only what no one measures; before it come the rows of `scores.json` beside their file.
        source: of the equations and numbers: papers and repositories, as one cites them.
        probe: for a parameter that shows only in certain settings, the values under which `check` looks for its effect.
        quick: keywords under which kernels take little time as plain Python. The rules of `check` that run them so do
            it under these, unless `long` or other keywords are asked for.
        python_answers: in how many states `check`, unless `long`, compares what experts and players say with what they
            say as plain Python, where they plan and take seconds; 0: in all that it comes by.
        same_start: declares that every episode starts in the same state.
        starts: in how many different states episodes start, where these are fewer than 16.
        expert_sees: "observation", or "state" where the expert, or a scripted player, acts on what its agent does not
            observe: other agents' plans, what lies out of sight, the time. Parameters do not count.
        scratch: fields of the state where kernels that leave the state as it is (observe, experts, players, ...) may
            put intermediate results. A kernel that reads one has written it first.
        images: images by name, beside the blocks of `observation`. Where there are any, an observation is a
            dictionary of them and of "state", the vector. One image and no blocks: it is the observation.
        engines: address "module:class" by name, of the physics engines that can take over the motion. The world then
            has the option `physics`, "kernel" or one of these names, and act, move and outcome in place of step.
        engine: address "module:class" of the engine that always moves the bodies. The world then has act and outcome in
            place of step, and the function under `@SPEC.model`; the engine gives the sizes of its model.
        goal: the names of the last two blocks of `observation`, what was achieved and what is desired, raw and of
            equal shape. The world then has the option `form`, the kernel `goal_outcome`, and `compute_reward`. In goal
            form only terms that `goal_outcome` fills may have a weight.
        players: names of scripted players of single agents, each a kernel under `@SPEC.player(name)`. The first, the
            strongest, is the expert of a world that has no other.
        teams: function of the values that gives the team of each agent, where teams play against each other. A team
            wins by `r.success` of its agents in the last step.
        turns: agents move one after the other. The state then has a field `turn`, the agent that is to move (-1 for
            nobody); `step` reads the action of this one alone, and the mask allows the others choice 0, which does
            nothing. The AEC form asks the agent whose turn it is.
        roles: function of the values that gives a `role(...)` per agent, where agents differ in what they observe or
            do. The observation is then one raw block of one dimension, as long as the longest.
        central: blocks of the central state for critics, filled by the kernel under `@SPEC.central_state`; without
            them it is the observations of all agents.
        incremental: the kernels observe, mask and look write only what has changed. `s.shown` tells them whether their
            arrays hold what they wrote last for this agent in this episode; where it is False they write everything.
            Such observations are raw, and the arrays of a batch are read-only for its users.
        lanes: large batches step several worlds at a time, in vectors (`rlenvs.core.compiler.lanes`). Pays for physics,
        whose
            steps are the same arithmetic in all worlds, and for tables; not for boards and long searches.
        barriers: how many barriers for safety filters the kernel under `@SPEC.barrier` fills, of each agent where there
            are agents; or the name of a size. For continuous actions.
        constraints: what has to hold between parameters and options, see `constraint` and `at_most`.
        published: `published(...)`, the spaces of the environment that this world re-implements. They are its default,
            and the world has the option `scaled`.
        drop_in: `drop_in(...)`, the names that code for that environment uses.
        reward_threshold: the return from which that environment counts as solved in Gymnasium's registry.

    Attributes:
        kind: the world that this one is a member of, see `member`; itself where it is none.
        members: of this kind, by name.
        base: the world that this one is a level of, see `level`; itself where it is none.
        level_name: the name of that level.
        at_level: the levels of this world that were asked for, by name.
        given: the values of parameters and options that members and levels set, which go before those that a choice
            sets.
        kernels: what was hung on the world to be compiled, by role.
        functions: plain Python that was hung on it, by role.
        layouts: of its records, by name.

    Raises:
        ParameterError: a contradiction in the declaration.
    """

    name: str
    _: KW_ONLY
    doc: Any  # a text; mypy has the `__doc__` of a module as one or None
    state: Mapping[str, Kind]
    observation: Mapping[str, Block]
    action: Action | Callable[[Any], Action]
    terms: Mapping[str, Term]
    horizon: int | Callable[[Any], int]
    params: Mapping[str, Param] = field(default_factory=dict)
    options: Mapping[str, Option] = field(default_factory=dict)
    costs: Mapping[str, Cost] = field(default_factory=dict)
    combine_costs: str = "sum"
    fps: float | Callable[[Any], float] = 30.0
    agents: bool = False
    levels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    sizes: Callable[[Any], Mapping[str, int]] = no_sizes
    data: Mapping[str, Kind] = field(default_factory=dict)
    persistent: Mapping[str, Kind] = field(default_factory=dict)
    scores: Mapping[str, Score] = field(default_factory=dict)
    source: str = ""
    probe: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    quick: Mapping[str, Any] = field(default_factory=dict)
    python_answers: int = 0
    same_start: bool = False
    starts: int = 0
    expert_sees: str = "observation"
    scratch: Sequence[str] = ()
    images: Mapping[str, Image] = field(default_factory=dict)
    engines: Mapping[str, str] = field(default_factory=dict)
    engine: str = ""
    goal: tuple[str, str] | None = None
    players: Sequence[str] = ()
    teams: Callable[[Any], Sequence[int]] | None = None
    turns: bool = False
    roles: Callable[[Any], Sequence[Role]] | None = None
    central: Mapping[str, Block] = field(default_factory=dict)
    incremental: bool = False
    lanes: bool = False
    barriers: int | str = 0
    constraints: Sequence[Constraint] = ()
    published: Published | None = None
    drop_in: DropIn = field(default_factory=DropIn)
    reward_threshold: float | None = None
    kernels: MutableMapping[str, Callable[..., Any]] = field(default_factory=dict, repr=False)
    functions: MutableMapping[str, Callable[..., Any]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.kind: World = self
        self.members: dict[str, World] = {}
        self.base: World = self
        self.level_name = ""
        self.at_level: dict[str, World] = {}
        self.given: Mapping[str, Any] = {}
        self.doc = self.doc or ""
        self.options = {**self.options, **physics_option(self.engines), **form_option(self.goal, self.options)}
        self.options |= scaled_option(self.published, self.options)
        self.starts = 1 if self.same_start else self.starts
        check_declaration(self)
        self.scores = ReferenceScores(lambda: (self.address, self.label), self.scores)
        _ = self.layouts  # what is declared twice is said now

    @functools.cached_property
    def layouts(self) -> dict[str, Layout]:
        """The memory layouts of the world's records, by the name of the record."""
        per_agent = ("agents",) if self.agents else ()
        return {
            "state": Layout(
                f"{self.name} state", state_fields(self), by_size=self.lanes, last=("players_rng", *self.persistent)
            ),
            "params": Layout(
                f"{self.name} parameters",
                param_fields(self),
                by_size=self.lanes,
                shared=(*self.options, *self.data),
            ),
            "observation": blocks_layout(f"{self.name} observation", self.observation, self.seen_as),
            "central": blocks_layout(f"{self.name} central state", self.central, f4),
            "images": Layout(f"{self.name} images", {n: u1(*i.shape) for n, i in self.images.items()}, packed=True),
            "result": Layout(f"{self.name} result", result_fields(self, per_agent), packed=True),
        }

    @property
    def seen_as(self) -> Kind:
        """The type in which kernels write observations."""
        return f8 if self.published is not None and self.published.dtype == "float64" else f4

    def member(self, name: str, summary: str = "", **changes: Any) -> World:
        """A new world that shares this world's compiled kernels, with other values.

            STIFF = SPEC.member("StiffPlant-v0", "A plant with a stiff spring.", stiffness=40.0)

        What is hung on the kind later holds for its members too; what is hung on a member holds for it alone.

        Args:
            name: "Name-v0", as for `world`.
            summary: a sentence; it takes the place of the first paragraph of the kind's doc string, unless `doc=` gives
                the member one of its own.
            changes: other defaults of parameters and options (or whole `param(...)`, `choice(...)`), and what differs
                of the keywords of `world`: scores (none are inherited), levels, horizon, terms, observation, ...
                `sizes` may be numbers by name, and `data` arrays by name.

        Raises:
            UnknownKeywordError: a change of nothing that there is. ParameterError: a value outside its range.
        """
        doc = changes.pop("doc", "") or doc_of_member(self.doc, summary)
        made = changed(self, {"name": name, "doc": doc, **changes})
        self.kind.members[name] = made
        return made

    def level(self, name: str | None) -> World:
        """This world at one of its levels, under the same id. With None, the world itself.

        Raises:
            UnknownNameError: no such level. UnknownKeywordError, ParameterError: what the level says of the world.
        """
        if name is None:
            return self
        base = self.base
        if not isinstance(name, str) or name not in base.levels:
            raise UnknownNameError(f"{base.name} has no level {shortened(name)}. {nearest(name, base.levels)}")
        if name not in base.at_level:
            base.at_level[name] = changed(base, {"levels": base.levels, **base.levels[name]})
            base.at_level[name].base, base.at_level[name].level_name = base, name
        return base.at_level[name]

    # A world is a constant: copies are the same object, pickles are its address, or all of it where it has none.
    def __deepcopy__(self, memo: dict[int, Any]) -> World:
        return self

    def __reduce__(self) -> tuple[Callable[..., World], tuple[Any, ...]]:
        if self.level_name:
            return World.level, (self.base, self.level_name)
        address = self.address
        return (load_world, (address,)) if address else (unpickled, (World, *pickled_whole(self)))

    @property
    def address(self) -> str:
        """The address of the world, "module:name" or "module:name/member"; empty for one that is in no module."""
        if self.level_name:
            return self.base.address
        held = (*self.kernels.values(), *self.functions.values())
        packages = {getattr(function, "__module__", "").partition(".")[0] for function in held} - {"", "__main__"}
        modules = [module for name, module in sys.modules.items() if name.partition(".")[0] in packages]
        as_member = f"/{self.name}" if self.kind.members.get(self.name) is self else None
        for wanted, member in ((self, ""), (self.kind, as_member)):
            for module in modules:
                for name, value in vars(module).items():
                    if value is wanted and member is not None:
                        return f"{module.__name__}:{name}{member}"
        return ""

    @property
    def label(self) -> str:
        """The name, followed by a slash and the level, if any."""
        return f"{self.name}/{self.level_name}" if self.level_name else self.name

    @property
    def has_expert(self) -> bool:
        """Whether the world has a scripted expert; the first of its players counts as one."""
        return bool(self.players or {"expert", "python_expert"} & set(self.kernels))

    @property
    def cost_limits(self) -> dict[str, float]:
        """The customary limit of each cost per agent and episode, by name."""
        return {name: cost.limit for name, cost in self.costs.items()}

    @property
    def has_own_kernels(self) -> bool:
        """Whether this world has its own kernels: it is not a member, or a member with different kernels."""
        return not isinstance(self.kernels, ChainMap) or bool(self.kernels.maps[0])

    def fps_of(self, values: Any) -> float:
        """Steps per second of simulated time for the given parameter and option values."""
        return self.fps(values) if callable(self.fps) else self.fps

    def horizon_of(self, values: Any) -> int:
        """Steps until truncation for the given parameter and option values."""
        return self.horizon(values) if callable(self.horizon) else self.horizon

    def action_of(self, values: Any) -> Action:
        """The action for the given parameter and option values."""
        return self.action(values) if callable(self.action) else self.action

    def reset(self, function: Function) -> Function:
        """Kernel (p, s, rng): fills the state of a new episode, which is zero before."""
        return self._add("reset", function)

    def step(self, function: Function) -> Function:
        """Kernel (p, s, a, rng, r): advances the state in place; fills the terms and costs, r.success, r.terminated."""
        return self._add("step", function)

    def fetch(self, function: Function) -> Function:
        """Kernel (p, s): calls `prefetch` for the parts of a large state that the next step will read. Called for each
        world of a batch while the previous one is stepped; it changes nothing."""
        return self._add("fetch", function)

    def act(self, function: Function) -> Function:
        """Kernel (p, s, a, rng), first part of a step with engine support: converts actions to commands."""
        return self._add("act", function)

    def before_physics(self, function: Function) -> Function:
        """Kernel (p, s, rng), called by engines before each of their physics steps: fills what they read from `s`."""
        return self._add("before_physics", function)

    def move(self, function: Function) -> Function:
        """Kernel (p, s, rng), second part of a step: the motion, if no engine simulates it."""
        return self._add("move", function)

    def after_reset(self, function: Function) -> Function:
        """Kernel (p, s, rng), after `reset`, when the engine has placed the bodies of a new episode according to the
        state: fills what follows from the engine's readings."""
        return self._add("after_reset", function)

    def goal_outcome(self, function: Function) -> Function:
        """Kernel (p, achieved, desired, r): fills what follows from the goals alone, among r.<term>, r.success and
        r.terminated. `outcome` calls it on the goals in the state, `compute_reward` on any goals."""
        return self._add("goal_outcome", function)

    def outcome(self, function: Function) -> Function:
        """Kernel (p, s, a, rng, r), last part of a step: fills the terms and costs, r.success, r.terminated."""
        return self._add("outcome", function)

    def observe_images(self, function: Function) -> Function:
        """Kernel (p, s, i), with agents (p, s, k, i): fills the images of the observation, i.<name>, uint8."""
        return self._add("observe_images", function)

    def observe(self, function: Function) -> Function:
        """Kernel (p, s, o), with agents (p, s, k, o): fills the blocks of the observation."""
        return self._add("observe", function)

    def mask(self, function: Function) -> Function:
        """Kernel (p, s, m), with agents (p, s, k, m): sets m[j] = 1 for every allowed action, 0 otherwise."""
        for each in (self, *self.members.values(), *self.at_level.values()):
            each.__dict__.pop("layouts", None)  # the state gets a place for counts of illegal choices
        return self._add("mask", function)

    def expert(self, function: Function) -> Function:
        """The scripted expert (p, s, a): fills the action (a[0] for a discrete one). A kernel, or with
        `World.python_expert` plain Python."""
        return self._add("expert", function)

    def python_expert(self, function: Function) -> Function:
        """The scripted expert (p, s, a) as plain Python on records, for planners that need lists and heaps."""
        self.kernels["python_expert"] = function
        return function

    def player(self, name: str) -> Callable[[Function], Function]:
        """Kernel (p, s, k, a, rng), a scripted player: fills the action of agent k, a[k] (a[k, j] for numbers), drawing
        from `rng` alone. ParameterError when `players` does not name it."""
        if name not in self.players:
            raise ParameterError(f"{self.name}: add the player {name!r} to players={self.players} first")
        return lambda function: self._add(f"player {name}", function)

    def placing(self, function: Function) -> Function:
        """Plain Python (p, s) -> a number for each agent, larger is better: tournaments rank by it, not by success."""
        return self._use("placing", function)

    def central_state(self, function: Function) -> Function:
        """Kernel (p, s, o): fills the blocks of the central state."""
        return self._add("central", function)

    def barrier(self, function: Function) -> Function:
        """Kernel (p, s, a, b), with agents (p, s, k, a, b): fills the barriers for the proposed action `a` of the agent
        that acts: b.value[i], nonnegative where the state is safe, and b.drift[i] and b.slope[i, j], such that it is
        value + drift + slope . a after a step with an action a in [b.low, b.high]. Proposals outside must have the
        effect of the nearest action inside; b.low and b.high are -1 and 1 unless the kernel says otherwise, as it has
        to where actions have other bounds. b.brake is the action to take when no other keeps the state safe; NaN (at
        first) if there is none. A value of NaN: there is no barrier now. Of several agents, each has its part of it."""
        return self._add("barrier", function)

    def describe(self, function: Function) -> Function:
        """Plain Python (p, s, k) -> str: what agent k observes, in words, for language agents."""
        return self._use("describe", function)

    def parse_action(self, function: Function, free: bool = False) -> Function:
        """Plain Python (text, p, s, k) -> action of agent k, or a ValueError with the reason. `free`: of any text."""
        return self._use("parse_reply" if free else "parse_action", function)

    def hears(self, function: Function) -> Function:
        """Plain Python (p, s, k) -> the agents whose messages agent k reads, all others without it."""
        return self._use("hears", function)

    def make_data(self, function: Function) -> Function:
        """Plain Python (values) -> arrays by name: static data of the world, such as a map."""
        return self._use("data", function)

    def model(self, function: Function) -> Function:
        """Plain Python (values) -> the engine's model (MuJoCo's `MjSpec`), again for a world with own parameters."""
        return self._use("model", function)

    def state_fault(self, function: Function) -> Function:
        """Plain Python (p, s) -> str: what is wrong with a state from outside beyond the ranges; "" if nothing is."""
        return self._use("state_fault", function)

    def draw(self, function: Function) -> Function:
        """Plain Python (canvas, p, s): the image, or an overlay on the engine's image."""
        return self._use("draw", function)

    def diagram(self, name: str, drawing: type) -> None:
        """A diagram of an episode, for `rlenvs record`: a class with note(p, s), for each step, and draw(canvas)."""
        self._use(f"diagram {name}", drawing)

    def text(self, function: Function) -> Function:
        """Plain Python (p, s) -> str: the image as text, for render_mode="ansi", instead of the observations."""
        return self._use("text", function)

    def pareto_front(self, function: Function) -> Function:
        """Plain Python (values, horizon, gamma) -> array (points, terms): the exact Pareto front, the discounted sums
        of the unweighted reward terms of all nondominated policies. Used by `env.pareto_front(gamma)`."""
        return self._use("pareto_front", function)

    def pareto_routes(self, function: Function) -> Function:
        """Plain Python (values, horizon, gamma) -> (array (points, terms), actions): the same, where open-loop policies
        suffice, with the actions that attain each point: a list, or an array (steps, agents)."""
        self._use("pareto_front", lambda *given: function(*given)[0])
        return self._use("pareto_routes", function)

    def outer_front(self, function: Function) -> Function:
        """Plain Python (values, horizon, gamma) -> array (points, terms) a proved bound that no policy exceeds, for
        worlds whose `pareto_front` is not proved to be optimal; if no front is known, a bound under all weights."""
        return self._use("outer_front", function)

    def published_front(self, function: Function) -> Function:
        """Plain Python (values, gamma) -> `PublishedFront` for these options, or None, for `rlenvs front`."""
        return self._use("published_front", function)

    def exact_model(self, function: Function) -> Function:
        """Plain Python (values) -> the exact model of a finite world, see `rlenvs.kits.tables`. Used by `env.model`."""
        return self._use("exact_model", function)

    def state_number(self, function: Function) -> Function:
        """Plain Python (values, s) -> the number of a state, or of those of a batch, in the exact model."""
        return self._use("state_number", function)

    def datasets(self, function: Function) -> Function:
        """Plain Python () -> `recipe(...)` by name: further datasets that `rlenvs dataset` can record."""
        return self._use("datasets", function)

    def keys(self, function: Function) -> Function:
        """Plain Python (names of keys that are down, values) -> action, for `rlenvs play`; or an `rlenvs.play.Game`."""
        return self._use("keys", function)

    def places(self, function: Function) -> Function:
        """Plain Python (canvas, p, s) -> by choice of the first agent the points at which a person points to choose
        it, in the units of the view that it sets as `draw` does; none for what is only in a list."""
        return self._use("places", function)

    def _add(self, role: str, function: Function) -> Function:
        self.kernels[role] = function
        return kernel(function)

    def _use(self, role: str, function: Function) -> Function:
        self.functions[role] = function
        return function

    def __repr__(self) -> str:
        return f"World({self.name})"


world = World  # what world files call


def load_world(address: str | World) -> World:
    """The world at "module:name" or "module:name/member"; a world is its own address."""
    import importlib

    if isinstance(address, World):
        return address
    module, _, place = address.partition(":")
    name, _, member = place.partition("/")
    kind = getattr(importlib.import_module(module), name)
    return kind.members[member] if member else kind
