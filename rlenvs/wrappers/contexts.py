"""Contexts: parameters of a world that change from episode to episode.

A contextual decision process is a family of worlds (Hallak, Di Castro and Mannor, 2015); the context, here values of
declared parameters, is chosen when an episode begins, and stays. `Contexts` follows CARL (Benjamins et al.,
"Contextualize Me", TMLR 2023; automl/CARL), `EpisodeDrift` lets a parameter evolve between episodes, and
`LevelCurriculum` raises the difficulty.

They set the parameters before the environment below is reset, so that they hold for its starting state too. The agents
of a world share its context. What is chosen follows from the seed of the world and the number of its episode, so it is
the same in every API form.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlenvs.core.declare.errors import ParameterError, nearest
from rlenvs.wrappers.appended import Appends
from rlenvs.wrappers.context_lists import Context, sample_contexts
from rlenvs.wrappers.curricula import curriculum_from
from rlenvs.wrappers.curriculum import Curriculum, normals, uniforms
from rlenvs.wrappers.episode_params import EpisodeParams
from rlenvs.wrappers.masked import add_rows, flat

PROCESSES = ("walk", "sine", "steps")


# --- contexts ---------------------------------------------------------------------------------------------------------


@dataclass
class Contexts(EpisodeParams, Appends):
    """Give each episode a context: values of the world's parameters (contextual RL).

    Adds to info `context_id` (the context's number) and `context` (the values of `wrapper.names`, in their units).
    `reset(options={"context": i})`, one number or one per world, asks for a certain context.

    A curriculum hears of an episode when the world's next one begins, with the sum of rewards and the success, both
    averaged over agents; an episode that was cut short by `reset(seed=...)` is left out. `env.wrappers[0].curriculum`
    is the one in use: a copy of the one given, shared by all worlds, not part of snapshots, and not changed by seeds.

    Args:
        contexts: a list of {parameter: value}, or a dictionary of such, numbered in order. A parameter that a context
            does not name has the value that the environment was made with.
        features: or distributions to sample them from, see `sample_contexts`.
        samples: how many to sample; 100 by default.
        seed: for the sampling. The list is the same for every seed of the environment.
        selection: "random", "round_robin" (all worlds begin with context 0), "static" (context 0), or a curriculum of
            `rlenvs.wrappers.curricula`, or what its `recipe()` gave.
        visible: True: the context is part of the observation, scaled from the declared ranges to [-1, 1]: appended to a
            vector, the part "context" of a dictionary. A list of names: those. False: hidden.

    Raises:
        ParameterError: at `wrap`: an unknown parameter, a value outside its range, no contexts or contradictory ones.
    """

    contexts: Any = None
    features: Any = None
    samples: Any = None
    seed: int = 0
    selection: Any = "random"
    visible: Any = False

    def __post_init__(self) -> None:
        if isinstance(self.selection, Curriculum):
            self.selection = self.selection.recipe()

    def prepare(self) -> None:
        """Build the table of contexts and the curriculum."""
        self.require_world()
        contexts = self._contexts()
        self.curriculum = curriculum_from(self.selection, len(contexts))
        own = self.curriculum.names
        if own and contexts:
            raise self.setting_error("selection", "draws contexts itself; leave out contexts and features")
        if not own and not contexts:
            raise ParameterError(
                'Contexts: contexts=[{"name": value}, ...] or features={"name": ("uniform", low, high)}'
            )
        self.alone()
        self.claim(own or list(dict.fromkeys(name for context in contexts for name in context)))
        self.curriculum.fit(self.ranges(own))
        self.table = np.array([[c.get(name, self.usual[name]) for name in self.names] for c in contexts], np.float64)
        self.asked: np.ndarray | None = None
        self.allocate("context_id", dtype=np.int64)
        if self.curriculum.listens:
            if self.below.reward.ndim > 1:
                raise self.setting_error("selection", "requires scalar rewards; put a scalarization below")
            self.allocate("score")
        self._show()

    def _contexts(self) -> list[Context]:
        """The list of contexts; empty where none are given."""
        if self.contexts is not None and self.features is not None:
            raise self.setting_error("features", "and contexts exclude each other; give one of them")
        if self.features is not None:
            ranges = self.ranges([name for name in self.features if name in self.batch.world.params])
            found: Sequence[Context] = sample_contexts(
                self.features, 100 if self.samples is None else self.samples, self.seed, ranges
            )
        elif self.samples is not None:
            raise self.setting_error("samples", "requires features")
        else:
            given = self.contexts if self.contexts is not None else []
            found = list(given.values()) if isinstance(given, Mapping) else given
            if isinstance(found, str) or not isinstance(found, Sequence):
                raise self.setting_error("contexts", "must be a list or dictionary of dictionaries {parameter: value}")
            if self.contexts is not None and not found:
                raise self.setting_error("contexts", "is empty; at least one is needed")
        for i, context in enumerate(found):
            if not isinstance(context, Mapping):
                raise self.setting_error("contexts", "must be a list or dictionary of dictionaries {parameter: value}")
            self.check_values(context, f"contexts[{i}]" if self.features is None else f"features, context {i}")
        return list(found)

    # --- choosing -----------------------------------------------------------------------------------------------------

    def own_options(self, options: dict[str, Any]) -> dict[str, Any]:
        """Read the option "context"."""
        wanted = options.pop("context", None)
        self.asked = None
        if wanted is not None:
            numbers = np.asarray(wanted)
            worlds = self.count // self.agents
            if numbers.dtype.kind not in "iu" or numbers.shape not in ((), (worlds,)):
                raise ParameterError(f"options['context']={wanted!r} must be one whole number, or {worlds}")
            if not len(self.table) or numbers.min() < 0 or numbers.max() >= len(self.table):
                raise ParameterError(f"options['context']={wanted!r}: contexts are 0 to {len(self.table) - 1}")
            self.asked = np.broadcast_to(numbers, (worlds,))
        return options

    def assign(self, worlds: np.ndarray) -> None:
        """Choose contexts."""
        streams, turns = self.streams[worlds], self.turns[worlds]
        ids = self.curriculum.choose(streams, turns) if self.asked is None else self.asked[worlds]
        values = self.curriculum.values(ids, streams, turns) if self.curriculum.names else self.table[ids]
        self.fill(self.context_id, worlds, ids)
        self.fill(self.values, worlds, values)

    @property
    def wants_outcomes(self) -> bool:
        """Whether the curriculum needs reports."""
        return self.curriculum.listens

    def report_outcomes(self, worlds: np.ndarray) -> None:
        """Report to the curriculum."""
        if len(worlds):
            ids, values = self.context_id[:: self.agents][worlds], self.values[:: self.agents][worlds]
            self.curriculum.report(ids, values, self.mean_of(self.score, worlds), self.succeeded(worlds))

    def begin_episode(self, slots: np.ndarray) -> None:
        """Add the context to the observation; reset the return."""
        if self.curriculum.listens:
            self.score[slots] = 0.0
        if self.columns:
            begun = np.flatnonzero(slots)
            values = self.values[begun][:, self.columns]
            self.shown[begun] = np.clip((values - self.low) * self.slope - 1.0, -1.0, 1.0)
            self.join(slots)

    def refresh_observation(self, slots: np.ndarray) -> None:
        """See `Stage`."""
        super().refresh_observation(slots)
        self.begin_episode(slots)

    def looking(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Add up rewards; take the observation over."""
        if self.curriculum.listens:
            yield add_rows, flat(self.score), flat(self.below.reward), slots
        if self.columns:
            yield from self.joining(slots)

    def entries(self) -> dict[str, np.ndarray]:
        """The context."""
        return {"context_id": self.context_id, "context": self.values}

    # --- showing ------------------------------------------------------------------------------------------------------

    def _show(self) -> None:
        """Make room in the observation."""
        wanted = self.names if self.visible is True else [] if self.visible is False else self.visible
        if isinstance(wanted, str) or not isinstance(wanted, Sequence):
            raise self.setting_error("visible", "must be True, False or a list of names")
        for name in wanted:
            if name not in self.names:
                raise self.setting_error(
                    "visible", f"names {name!r}, which no context has. {nearest(str(name), self.names)}"
                )
        self.columns = [self.names.index(name) for name in wanted]
        if self.columns:
            self.make_room("context", [-1.0] * len(wanted), [1.0] * len(wanted))
            declared = np.array(list(self.ranges(wanted).values()))
            self.low = declared[:, 0]
            self.slope = 2.0 / np.maximum(declared[:, 1] - declared[:, 0], 1e-300)


# --- between episodes -------------------------------------------------------------------------------------------------


@dataclass
class EpisodeDrift(EpisodeParams):
    """Let a parameter drift from episode to episode, constant within each ("structured non-stationarity").

    With e = 1 in the first episode after seeding:

    - "walk": x_1 = start, x_(e+1) = x_e + scale n_e with standard normal n_e, reflected at low and high.
    - "sine": x_e = (low + high) / 2 + (high - low) / 2 sin(2 pi (e - 1) / period + phase).
    - "steps": uniform in [low, high], drawn anew every `period` episodes.

    Each world has its own e and its own draws. Adds the value to info, as `drift_<param>`, in the parameter's unit.

    Args:
        param: name of the parameter.
        process: "walk", "sine" or "steps".
        low, high: where the value stays, in the parameter's unit; the declared range by default.
        scale: "walk": standard deviation of a step, in the parameter's unit.
        start: "walk": the first value; by default that with which the environment was made.
        period: "sine", "steps": episodes.
        phase: "sine": radians; 0 by default.

    Raises:
        ParameterError: at `wrap`: an unknown parameter, numbers outside its range, settings of another process.
    """

    param: str = ""
    process: str = "walk"
    low: Any = None
    high: Any = None
    scale: Any = None
    start: Any = None
    period: Any = None
    phase: Any = None

    def prepare(self) -> None:
        """Check the settings."""
        self.check_choice("process", PROCESSES)
        self.claim([self.param])
        used = {"walk": ("scale",), "sine": ("period",), "steps": ("period",)}[self.process]
        allowed = {*used, *({"walk": ("start",), "sine": ("phase",)}.get(self.process, ()))}
        for setting in ("scale", "start", "period", "phase"):
            if getattr(self, setting) is None and setting in used:
                raise self.setting_error(setting, f"is needed with process={self.process!r}")
            if getattr(self, setting) is not None and setting not in allowed:
                raise self.setting_error(setting, f"has no meaning with process={self.process!r}")
        self._check_bounds()
        if self.period is not None:
            self.check_whole("period", 1)
        if self.scale is not None:
            self.check_number("scale")
        if self.phase is not None:
            self.check_number("phase", -math.inf)

    def _check_bounds(self) -> None:
        declared = self.ranges([self.param])[self.param]
        self.bounds = tuple(
            own if given is None else given for own, given in zip(declared, (self.low, self.high), strict=True)
        )
        for setting in ("low", "high"):
            if getattr(self, setting) is not None:
                self.check_number(setting, *declared)
        if self.bounds[0] >= self.bounds[1]:
            raise self.setting_error("low", f"must be below high={self.bounds[1]:g}")
        if self.start is not None:
            self.check_number("start", *self.bounds)
        first = self.usual[self.param] if self.start is None else self.start
        if self.process == "walk" and not self.bounds[0] <= first <= self.bounds[1]:
            raise self.setting_error(
                "start", f"is {first:g}, outside of low and high, [{self.bounds[0]:g}, {self.bounds[1]:g}]"
            )
        self.first = first

    def assign(self, worlds: np.ndarray) -> None:
        """The value of the next episode."""
        low, high = self.bounds
        streams, turns = self.streams[worlds], self.turns[worlds]
        value = self.values[:: self.agents, 0][worlds]
        if self.process == "walk":
            # n_e belongs to the episode before; reflected as often as needed
            stepped = (value + self.scale * normals(streams, turns - np.uint64(1), 0) - low) % (2.0 * (high - low))
            stepped = low + np.minimum(stepped, 2.0 * (high - low) - stepped) if self.scale else value
            value = np.where(turns == 1, self.first, stepped)
        elif self.process == "sine":
            angle = 2.0 * math.pi * (turns.astype(np.float64) - 1.0) / self.period + (self.phase or 0.0)
            value = 0.5 * (low + high) + 0.5 * (high - low) * np.sin(angle)
        else:
            since = (turns - np.uint64(1)) % np.uint64(self.period or 1)
            value = np.where(since == 0, low + (high - low) * uniforms(streams, turns, 0), value)
        self.fill(self.values[:, 0], worlds, np.clip(value, low, high))

    def entries(self) -> dict[str, np.ndarray]:
        """The value."""
        return {f"drift_{self.param}": self.values[:, 0]}


@dataclass
class LevelCurriculum(EpisodeParams):
    """A curriculum over the world's levels or sets of parameters, with increasing difficulty.

    A level is a set of parameters; one that it does not name has the value that the environment was made with. Levels
    may also set options (sizes, forms of observation). These cannot change in a running batch, so levels whose options
    differ from the environment's are refused.

    With schedule="episodes", a world goes to the next level after so many episodes. With "success", when the mean
    success of the last `window` episodes at its level reaches the threshold: for each world by itself, or with `shared`
    for all together; then the last ceil(window / worlds) episodes of each world count, once there are `window` of them.
    An episode's success is heard when the next one begins; one that is cut short by `reset(seed=...)` is left out. A
    world with a new seed begins anew, at the first level; with `shared`, when all have new seeds.

    Adds `level` to info: the number of the episode's level in the list.

    Args:
        levels: names of levels, or dictionaries {parameter: value}, from easy to hard; all of the world's by default.
        schedule: "success" or "episodes".
        episodes: for "episodes": how many per level.
        window: for "success": episodes that are averaged; 20 by default.
        threshold: for "success": mean success for promotion, in (0, 1]; 0.8 by default.
        shared: for "success": whether all worlds go on together.

    Raises:
        ParameterError: at `wrap`: an unknown level, one that sets options, settings of the other schedule.
    """

    levels: Any = None
    schedule: str = "success"
    episodes: Any = None
    window: Any = None
    threshold: Any = None
    shared: bool = False

    def prepare(self) -> None:
        """Make the table of levels."""
        self.require_world()
        self.check_choice("schedule", ("success", "episodes"))
        self._check_schedule()
        found = self._parameters()
        self.alone()
        self.claim(list(dict.fromkeys(name for level in found for name in level)))
        self.table = np.array(
            [[level.get(name, self.usual[name]) for name in self.names] for level in found], np.float64
        )
        worlds = self.count // self.agents
        self.needed = 20 if self.window is None else self.window
        self.goal = 0.8 if self.threshold is None else self.threshold
        depth = 1 if self.schedule == "episodes" else math.ceil(self.needed / worlds) if self.shared else self.needed
        self.allocate("level", dtype=np.int64)
        self.allocate("stage", dtype=np.int64)  # of the next episode
        self.allocate("heard", dtype=np.int64)  # episodes at this stage
        self.allocate("results", (depth,))

    def _check_schedule(self) -> None:
        other = ("window", "threshold") if self.schedule == "episodes" else ("episodes",)
        for setting in other:
            if getattr(self, setting) is not None:
                raise self.setting_error(setting, f"has no meaning with schedule={self.schedule!r}")
        if self.schedule == "episodes":
            if self.shared:
                raise self.setting_error("shared", "has no meaning with schedule='episodes'")
            self.check_whole("episodes", 1)
        if self.window is not None:
            self.check_whole("window", 1)
        if self.threshold is not None:
            self.check_number("threshold", 1e-9, 1.0)

    def _parameters(self) -> list[Context]:
        """The parameters of each level."""
        known = self.batch.world.levels
        wanted = self._levels_of_parameters() if self.levels is None else self.levels
        if isinstance(wanted, (str, Mapping)) or not wanted:
            raise self.setting_error("levels", f"must be a list, not empty; {self.name} has the levels {list(known)}")
        found = []
        for level in wanted:
            if isinstance(level, str) and level not in known:
                raise self.setting_error(
                    "levels", f"names {level!r}, which {self.name} does not have. {nearest(level, known)}"
                )
            values = known[level] if isinstance(level, str) else level
            found.append(self._without_options(level, dict(values)))
        return found

    def _levels_of_parameters(self) -> list[str]:
        """The levels that are the environment's world with other parameters; those with terms of their own are not."""
        levels = self.batch.world.levels
        return [name for name, values in levels.items() if "terms" not in values]

    def _without_options(self, level: Any, values: dict[str, Any]) -> Context:
        """A level's parameters; ParameterError where the rest of it is not the environment's."""
        world, made = self.batch.world, vars(self.batch.setup.values)
        fixed = [name for name, value in values.items() if name in world.options and made[name] != value]
        if isinstance(level, str) and level != world.level_name:
            fixed += [name for name in values if name not in (*world.options, *world.params, "scores")]
        if fixed:
            raise self.setting_error(
                "levels", f"holds {level!r}, which sets {fixed}. Only parameters can change from episode to episode; "
                f"leave out the level, or make the environment with it"
            )  # fmt: skip
        own = {name: value for name, value in values.items() if name in world.params or not isinstance(level, str)}
        own = {name: value for name, value in own.items() if name not in world.options}
        self.check_values(own, f"level {level!r}")
        return own

    @property
    def wants_outcomes(self) -> bool:
        """Whether outcomes are needed; the schedule "episodes" only counts."""
        return self.schedule == "success"

    def report_outcomes(self, worlds: np.ndarray) -> None:
        """Record successes, and promote worlds."""
        lead, heard, stage = (array[:: self.agents] for array in (self.results, self.heard, self.stage))
        mine = worlds[self.level[:: self.agents][worlds] == stage[worlds]]
        if not len(mine):
            return
        depth = lead.shape[1]
        lead[mine, heard[mine] % depth] = self.succeeded(mine)
        heard[mine] += 1
        counted = np.minimum(heard, depth)
        total = np.where(np.arange(depth) < counted[:, None], lead, 0.0).sum(axis=1)
        if self.shared:
            counted[:], total[:] = counted.sum(), total.sum()
        promoted = (counted >= self.needed) & (total >= self.goal * counted - 1e-9) & (stage < len(self.table) - 1)
        stage[promoted] += 1
        heard[promoted] = 0

    def assign(self, worlds: np.ndarray) -> None:
        """The level of the next episode."""
        stage, heard = self.stage[:: self.agents], self.heard[:: self.agents]
        if self.schedule == "episodes":
            stage[worlds] = np.minimum((self.turns[worlds].astype(np.int64) - 1) // self.episodes, len(self.table) - 1)
        else:
            fresh = worlds[self.turns[worlds] == 1]
            if not self.shared or len(fresh) == len(stage):
                stage[fresh], heard[fresh] = 0, 0
        self.fill(self.level, worlds, stage[worlds])
        self.fill(self.values, worlds, self.table[stage[worlds]])

    def entries(self) -> dict[str, np.ndarray]:
        """The level."""
        return {"level": self.level}
