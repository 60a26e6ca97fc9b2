"""A wrapper: one definition of a wrapper, on arrays, for every API form.

A slot is one agent of one world. The single form has one slot, a vector form one per world, the parallel form one per
agent. A `Stage` has arrays with a leading slot axis that keep their values until the slot is reset or stepped again; a
`Wrapper` is a stage on top of another. The forms in `rlenvs.wrappers.forms` turn the top stage into an environment
again,
and do what only they know of: copies, autoreset, dictionaries of agents. So a wrapper never sees an API form.

To write one: a dataclass of settings with some of `prepare`, `begin_episode`, `act` and `after_step`.
"""

from __future__ import annotations

import copy
import importlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.compiler.bound import bound
from rlenvs.core.compiler.slot_loops import FEWEST, share
from rlenvs.core.declare.action_form import first_action
from rlenvs.core.declare.errors import ParameterError, nearest
from rlenvs.wrappers.masked import clear, count
from rlenvs.wrappers.randomness import begin_episodes, mix_all

SOLE = np.ones(1, np.bool_)  # the mask of a sole slot
SEEN = ("observation", "reward", "terminated", "truncated")

Observation = Any  # an array (slots, ...), or a dictionary of such arrays


class Stage:
    """Slots of an environment as arrays. A mask `slots`, bool (slots,), says which ones a call is about.

    Attributes:
        count: number of slots. agents: slots per world.
        observation_spaces: the space of a slot, one per agent of a world; equal where agents are alike.
        action_space: of a slot; of the largest one where agents differ.
        reward_space: of a slot, where rewards are vectors.
        name: what to call it in errors.
        env: the environment at the bottom.
        batch: its batch; None where it is not one of this package.
    """

    count: int
    agents: int = 1
    form: str  # of stages at the bottom: the API form behind them
    observation_spaces: list[spaces.Space]
    action_spaces: list[spaces.Space]
    reward_space: spaces.Box | None = None
    name: str
    env: Any
    batch: Any = None
    keeps_arrays: bool = False  # whether the arrays are the same objects for ever, written to in place

    # arrays: the last observation, reward (slots,) or (slots, k), and whether the episode has ended, and how
    observation: Observation
    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray

    # of wrappers: the stage below, and where their random numbers come from
    below: Stage
    key: np.ndarray
    time: np.ndarray

    def info(self) -> dict[str, np.ndarray]:
        """What the info dictionaries hold, by key: arrays (slots, ...)."""
        raise NotImplementedError

    def read(self, key: str) -> np.ndarray | None:
        """One entry of `info`; None where there is none."""
        return self.info().get(key)

    def reset(self, slots: np.ndarray, seeds: Sequence[int | None] | None = None, options: Any = None) -> None:
        """Begin episodes. seeds: one per world, or None to go on; options: as the environment below has them."""
        raise NotImplementedError

    def step(self, actions: np.ndarray, slots: np.ndarray) -> None:
        """Advance slots whose episode goes on, by actions (slots, ...); those of other slots are not looked at."""
        raise NotImplementedError

    def get_state(self, world: int) -> tuple[Any, ...]:
        """Everything that the future of a world's slots depends on, picklable: an entry per stage, the lowest first."""
        raise NotImplementedError

    def set_state(self, state: tuple[Any, ...], world: int) -> None:
        """Put the slots of a world back to what `get_state` gave."""
        raise NotImplementedError

    def check_part(self, part: Any) -> None:
        """SnapshotError unless this is the lowest entry of what `get_state` gives for such an environment."""
        raise NotImplementedError

    def slots_of_world(self, world: int) -> slice:
        """The slots of a world's agents."""
        return slice(world * self.agents, (world + 1) * self.agents)

    def set_params(self, values: Mapping[str, Any], slots: np.ndarray) -> None:
        """Give the worlds of some slots other physical parameters, from their next step on."""
        raise NotImplementedError

    def refresh_observation(self, slots: np.ndarray) -> None:
        """The worlds of these slots were put into another state, or played on, before the episode is shown: observe
        them anew, without a reward, cost, success or end."""
        raise NotImplementedError

    @property
    def seconds(self) -> float | None:
        """Simulated seconds per step; None where unknown."""
        if self.batch is not None:
            return 1.0 / self.batch.setup.fps
        own = getattr(getattr(self.env, "unwrapped", self.env), "dt", None)
        rate = (getattr(self.env, "metadata", None) or {}).get("render_fps")
        return own if isinstance(own, float) else 1.0 / rate if rate else None

    def idle_slots(self, actions: np.ndarray) -> np.ndarray:
        """Actions like those given, with which nobody does anything: the world's idle ones, or the first choices of a
        space whose meaning is not known. There may be more worlds than this stage has."""
        if not hasattr(self, "_idle_numbers"):
            of = self.batch.setup.idle_in if self.batch else lambda space, agent: first_action(space)
            self._idle_numbers = [of(space, agent) for agent, space in enumerate(self.action_spaces)]
        worlds = len(actions) // len(self._idle_numbers)
        own = [np.broadcast_to(numbers, actions.shape[1:]) for numbers in self._idle_numbers]
        return np.tile(np.array(own, actions.dtype), (worlds, *(1,) * (actions.ndim - 1)))

    @property
    def over(self) -> np.ndarray:
        """Which slots' episodes have ended, bool (slots,)."""
        return self.terminated | self.truncated

    @property
    def observation_space(self) -> spaces.Space:
        """The space of every slot's observation.

        Raises:
            ParameterError: the agents' spaces differ.
        """
        first = self.observation_spaces[0]
        if any(space != first for space in self.observation_spaces[1:]):
            raise ParameterError(f"{self.name}: the agents' observations differ; this wrapper requires equal ones")
        return first

    @property
    def action_space(self) -> spaces.Space:
        """The space of every slot's action; ParameterError where they differ."""
        first = self.action_spaces[0]
        if any(space != first for space in self.action_spaces[1:]):
            raise ParameterError(f"{self.name}: the agents' actions differ; this wrapper requires equal ones")
        return first

    @property
    def continuous(self) -> bool:
        """Whether actions are numbers; otherwise they are choices."""
        return isinstance(self.action_spaces[0], spaces.Box)


@dataclass
class Wrapper(Stage):
    """Base of all wrappers. One is made with its settings, `Sensor(noise=0.1)`, and put on environments by `wrap`.

    What subclasses may define, apart from their settings as dataclass fields:

    - `prepare()`: check the settings against `self.below`; say `self.keep(...)` for what is remembered; set
      `observation_spaces` where they change.
    - `begin_episode(slots)`: these slots have begun an episode. `act(actions, slots)`: returns the actions to pass on.
      `after_step(slots)`: these slots have made a step. They read `self.below` and fill arrays of their own.
    - `extra_info()`: entries to add to info; `told()`, where they are not there for all slots in every step.
    - the arrays `reward`, `terminated` and `truncated`, kept under these names, and `observation`, in place of those
      below. A reset clears the first three.

    `self.key` (slots,) and `self.time` (slots,) are what `rlenvs.wrappers.randomness` requires: the key of the episode
    and the steps made in it.
    """

    def bind(self, below: Stage, depth: int) -> None:
        """Put the wrapper on a stage; depth: the wrappers below, so that two of a kind draw different numbers.

        Raises:
            ParameterError: a setting does not fit the environment.
        """
        self.below, self.depth = below, depth
        self.count, self.agents = below.count, below.agents
        self.name, self.env, self.batch = below.name, below.env, below.batch
        self.observation_spaces, self.action_spaces = list(below.observation_spaces), list(below.action_spaces)
        self.reward_space = below.reward_space
        self.one_slot = self.count == 1 and below.keeps_arrays
        self._calls: dict[Any, tuple[Callable[[], None], tuple[int, ...]]] = {}
        self.kept: list[str] = []
        self.keep("base", dtype=np.uint64)
        self.keep("episode", dtype=np.uint64)
        self.keep("key", dtype=np.uint64)
        self.keep("time", dtype=np.int64)
        self._seed(np.ones(self.count, np.bool_), [None] * (self.count // self.agents))
        self.prepare()
        if below.keeps_arrays:
            self._take_arrays()

    def _take_arrays(self) -> None:
        """Hold the arrays below that this wrapper has not of its own, in place of asking for them at every use."""
        for name in SEEN:
            if name not in self.__dict__ and not hasattr(type(self), name):
                setattr(self, name, getattr(self.below, name))
        self.keeps_arrays = not any(hasattr(type(self), name) for name in SEEN)

    def keep(self, name: str, shape: tuple[int, ...] = (), dtype: Any = np.float64, fill: Any = 0) -> np.ndarray:
        """Make the array `self.<name>`, (slots, *shape): part of snapshots, copies and pickles."""
        array = np.full((self.count, *shape), fill, dtype)
        setattr(self, name, array)
        self.kept.append(name)
        return array

    # --- for subclasses -----------------------------------------------------------------------------------------------

    def in_threads(self, kernel: Callable[..., None], slots: np.ndarray, *arguments: Any) -> None:
        """Call a compiled loop `kernel(start, stop, slots, *arguments)` on all slots, in as many threads as step the
        worlds, or in one where the mask has but few; see `rlenvs.core.compiler.slot_loops.share`. Worth it for loops
        that take 200 us or more: to share them takes some 20 us, and wakes the other threads."""
        if self.count < FEWEST:
            kernel(0, self.count, slots, *arguments)
            return
        few = self.batch is None or np.count_nonzero(slots) < FEWEST
        share(kernel, 1 if few else self.batch.thread_count(), self.count, slots, *arguments)

    def run(self, loop: Any, *arguments: Any) -> None:
        """Call a compiled loop without a result, `loop(*arguments)`. With one slot and the arguments of the first time,
        the same objects, that takes a fraction of the time that numba takes to look at them."""
        if self.one_slot:
            call, same = self._calls.get(loop) or self._bind(loop, (loop, *arguments))
            if same == tuple(map(id, arguments)):
                call()
                return
        loop(*arguments)

    def run_all(
        self, name: str, loops: Callable[..., Iterable[tuple[Any, ...]]], slots: np.ndarray, lasting: bool = True
    ) -> None:
        """The loops (loop, *arguments) that `loops(slots)` gives, one after the other. With one slot, and arrays that
        are lasting, the same ones in every step, it is asked once, about that slot."""
        if self.one_slot and lasting:
            call, _ = self._calls.get(name) or self._bind(name, *loops(SOLE))
            call()
        else:
            for loop, *arguments in loops(slots):
                loop(*arguments)

    def lasting(self, key: str) -> np.ndarray | None:
        """An entry of the info below, where it is known to be the same array in every step; otherwise None."""
        value, stage = self.below.read(key), self.below
        while isinstance(stage, Wrapper):
            if any(value is getattr(stage, name) for name in stage.kept):
                return value
            stage = stage.below
        return value if stage.keeps_arrays and value is stage.read(key) else None

    def _bind(self, name: Any, *loops: tuple[Any, ...]) -> tuple[Callable[[], None], tuple[int, ...]]:
        self._calls[name] = bound(loops), tuple(map(id, loops[0][1:])) if loops else ()
        return self._calls[name]

    def unbind(self) -> None:
        """Bound loops take their arrays anew: to be called where an array was replaced by another."""
        self._calls.clear()

    def __getstate__(self) -> dict[str, Any]:
        """All but what is bound to arrays."""
        return {**self.__dict__, "_calls": {}} if "_calls" in self.__dict__ else self.__dict__

    def prepare(self) -> None:
        """Check the settings, and make room."""

    def begin_episode(self, slots: np.ndarray) -> None:
        """Slots have begun an episode."""

    def act(self, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """The actions to pass on; not the same array when they change."""
        return actions

    def after_step(self, slots: np.ndarray) -> None:
        """Slots have made a step."""

    def extra_info(self) -> dict[str, Any]:
        """What to add to info: arrays (slots, ...)."""
        return {}

    def told(self) -> np.ndarray | None:
        """Of which slots `extra_info` says something now, bool (slots,); None: of all."""
        return None

    @property
    def seconds(self) -> float | None:
        """Those of the stage below; longer where a wrapper makes several steps in one."""
        return self.below.seconds

    # --- the stage ----------------------------------------------------------------------------------------------------

    def reset(self, slots: np.ndarray, seeds: Sequence[int | None] | None = None, options: Any = None) -> None:
        """Begin episodes below, then here."""
        self.below.reset(slots, seeds, options)
        self._start(slots, seeds)
        self.begin_episode(slots)

    def _start(self, slots: np.ndarray, seeds: Sequence[int | None] | None) -> None:
        """A new episode's key, and time 0."""
        if seeds is not None:
            self._seed(slots, seeds)
        begin_episodes(slots, self.base, self.episode, self.key, self.time)
        for name in ("reward", "terminated", "truncated"):
            if name in self.kept:
                clear(getattr(self, name), slots)

    def _seed(self, slots: np.ndarray, seeds: Sequence[int | None]) -> None:
        """New streams for slots whose world has a seed; at random for all where none was ever given."""
        if not self.base.all():
            self.base[:] = np.random.SeedSequence().generate_state(self.count, np.uint64) | np.uint64(1)
        given = slots & np.repeat([seed is not None for seed in seeds], self.agents)
        numbers = np.array([(seed or 0) % 2**64 for seed in seeds], np.uint64)
        agent = np.arange(self.count, dtype=np.uint64) % np.uint64(self.agents)
        place = mix_all(agent + np.uint64(self.depth) * np.uint64(1 << 32))
        self.base[given] = mix_all(mix_all(np.repeat(numbers, self.agents)) ^ place)[given] | np.uint64(1)
        self.episode[given] = 0

    def step(self, actions: np.ndarray, slots: np.ndarray) -> None:
        """Pass on what `act` makes of the actions, and take in what came of it."""
        self.below.step(self.act(actions, slots), slots)
        if self.one_slot:
            self.time[0] += 1
        else:
            count(self.time, slots)
        self.after_step(slots)

    def shows_own(self) -> None:
        """The observation is `seen()` from now on: made once where the arrays below are lasting, else each time."""
        self._own_observation = not self.below.keeps_arrays
        if not self._own_observation:
            self.observation = self.seen()

    def seen(self) -> Any:
        """The observation, of wrappers that call `shows_own`."""
        return self.below.observation

    def __getattr__(self, name: str) -> Any:
        """The arrays that a wrapper does not change are those below."""
        if name == "observation" and self.__dict__.get("_own_observation"):
            return self.seen()
        if name in SEEN and "below" in self.__dict__:
            return getattr(self.below, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def info(self) -> dict[str, np.ndarray]:
        """The info below, and what this wrapper adds."""
        return {**self.below.info(), **self.extra_info()}

    def read(self, key: str) -> np.ndarray | None:
        """One entry of `info`; None where there is none."""
        if type(self).extra_info is Wrapper.extra_info:
            return self.below.read(key)
        told = self.extra_info()
        return told[key] if key in told else self.below.read(key)

    def get_state(self, world: int) -> tuple[Any, ...]:
        """The world's state below, and what is kept here of its slots."""
        slots = self.slots_of_world(world)
        return (*self.below.get_state(world), {name: getattr(self, name)[slots].copy() for name in self.kept})

    def set_state(self, state: tuple[Any, ...], world: int) -> None:
        """Put the slots of a world back."""
        self.below.set_state(state[:-1], world)
        slots = self.slots_of_world(world)
        for name, value in state[-1].items():
            getattr(self, name)[slots] = value

    def keeps(self, kept: Any) -> bool:
        """Whether this is what `get_state` gives for this wrapper: arrays of these names, shapes and types."""
        if not isinstance(kept, dict) or kept.keys() != set(self.kept):
            return False
        pairs = [(kept[name], getattr(self, name)[: self.agents]) for name in self.kept]
        return all(isinstance(a, np.ndarray) and (a.shape, a.dtype) == (own.shape, own.dtype) for a, own in pairs)

    def slots_kept(self, kept: Any) -> int | None:
        """Of how many slots these arrays are; None where they are no such arrays."""
        key = kept.get("key") if isinstance(kept, dict) else None
        return len(key) if isinstance(key, np.ndarray) and key.ndim else None

    def set_params(self, values: Mapping[str, Any], slots: np.ndarray) -> None:
        """Passed on."""
        self.below.set_params(values, slots)

    def refresh_observation(self, slots: np.ndarray) -> None:
        """Passed on."""
        self.below.refresh_observation(slots)

    # --- help with settings -------------------------------------------------------------------------------------------

    def refuse(self, setting: str, why: str) -> ParameterError:
        """The error for a setting: names the wrapper, the setting and its value."""
        return ParameterError(f"{type(self).__name__}: {setting}={getattr(self, setting)!r} {why}")

    def check_number(self, setting: str, low: float = 0.0, high: float = math.inf) -> None:
        """ParameterError unless a setting is one finite number, or numbers, within [low, high]."""
        value = getattr(self, setting)
        try:
            numbers = np.asarray(value, np.float64)
        except (TypeError, ValueError):
            raise self.refuse(setting, "is not a number") from None
        if isinstance(value, bool) or not np.isfinite(numbers).all() or (numbers < low).any() or (numbers > high).any():
            raise self.refuse(setting, f"must be finite and {_within(low, high)}")

    def check_whole(self, setting: str, low: int = 0, high: float = math.inf) -> None:
        """ParameterError unless a setting is a whole number within [low, high]."""
        value = getattr(self, setting)
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
            raise self.refuse(setting, f"must be a whole number, {_within(low, high)}")

    def check_choice(self, setting: str, known: Sequence[str]) -> None:
        """ParameterError unless a setting is one of some names."""
        value = getattr(self, setting)
        if value not in known:
            raise self.refuse(setting, f"is not one of {list(known)}. {nearest(str(value), known)}")

    def function(self, setting: str) -> Callable[..., Any]:
        """The function of a setting, which may be given by its address "module:name"."""
        value = getattr(self, setting)
        if isinstance(value, str) and ":" in value:
            value = named(value)
        if not callable(value):
            raise self.refuse(setting, 'must be a function, or the address "module:name" of one')
        return value

    def ask(self, policy: Callable[..., Any], observations: Any, slots: np.ndarray | slice = slice(None)) -> Any:
        """What a policy answers to observations of slots; one that has to know whose they are is told."""
        if self.batch is None or not getattr(policy, "takes_names", False):
            return policy(observations)
        names = np.array([role.name for role in self.batch.setup.roles][: self.agents])
        return policy(observations, agent=np.tile(names, self.count // self.agents)[slots].tolist())

    def settings(self) -> dict[str, Any]:
        """The settings by name, those that differ from the defaults."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.init and _differs(getattr(self, f.name), f)}

    def recipe(self) -> dict[str, Any]:
        """The wrapper as a dictionary that `wrapper_from` understands; of JSON's types where the settings are."""
        return {"wrapper": f"{type(self).__module__}:{type(self).__qualname__}", **copy.deepcopy(self.settings())}


def _within(low: float, high: float) -> str:
    return f"at least {low:g}" if math.isinf(high) else f"within [{low:g}, {high:g}]"


def _differs(value: Any, field: Any) -> bool:
    default = field.default if field.default_factory is MISSING else field.default_factory()
    return type(value) is not type(default) or bool(np.any(value != default))


def named(address: str) -> Any:
    """What lies at "module:name".

    Raises:
        ParameterError: nothing does.
    """
    module, _, name = address.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ParameterError(f"there is nothing at {address!r}: {error}") from error


def unbound(wrapper: Wrapper) -> Wrapper:
    """A wrapper with the same settings, on nothing yet."""
    return type(wrapper)(**copy.deepcopy(wrapper.settings()))


def wrapper_from(recipe: Wrapper | Mapping[str, Any]) -> Wrapper:
    """A wrapper of its own: a copy of one, or made from what `Wrapper.recipe` gave.

    Raises:
        ParameterError: not a wrapper, or a setting that it does not have.
    """
    if isinstance(recipe, Wrapper):
        return copy.deepcopy(recipe)
    if not isinstance(recipe, Mapping) or "wrapper" not in recipe:
        raise ParameterError(f'a wrapper, or a dictionary with the entry "wrapper", is wanted, not {recipe!r}')
    settings = {name: value for name, value in recipe.items() if name != "wrapper"}
    kind = named(recipe["wrapper"] if ":" in recipe["wrapper"] else f"rlenvs.wrappers:{recipe['wrapper']}")
    if not (isinstance(kind, type) and issubclass(kind, Wrapper)):
        raise ParameterError(f"{recipe['wrapper']!r} is not a wrapper")
    known = [field.name for field in fields(kind) if field.init]
    for name in settings:
        if name not in known:
            raise ParameterError(f"{kind.__name__} has no setting {name!r}. {nearest(name, known)}")
    return kind(**copy.deepcopy(settings))
