"""A wrapper: one definition of a wrapper, on arrays, for every API form.

A slot is one agent of one world. The single form has one slot, a vector form one per world, the parallel form one per
agent. A `Stage` has arrays with a leading slot axis that keep their values until the slot is reset or stepped again; a
`Wrapper` is a stage on top of another. The forms in `rlenvs.wrappers.forms` turn the top stage into an environment
again, and do what only they know of: copies, autoreset, dictionaries of agents. So a wrapper never sees an API form.

To write one: a dataclass of settings with some of `prepare`, `begin_episode`, `act` and `after_step`.
"""

from __future__ import annotations

import copy
import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any

import numpy as np

from rlenvs.core.declare.errors import ParameterError, nearest
from rlenvs.core.declare.renamed import new_name, renamed
from rlenvs.wrappers.loops import Looping
from rlenvs.wrappers.masked import clear
from rlenvs.wrappers.randomness import begin_episodes, mix_all
from rlenvs.wrappers.stage import Stage

SEEN = ("observation", "reward", "terminated", "truncated")


@renamed
@dataclass
class Wrapper(Looping):
    """Base class of all wrappers. Create one with its settings, `Sensor(noise=0.1)`, and apply it to environments with
    `wrap`.

    What subclasses may define, apart from their settings as dataclass fields:

    - `prepare()`: check the settings against `self.below`; say `self.allocate(...)` for what is remembered; set
      `observation_spaces` where they change.
    - `begin_episode(slots)`: these slots have begun an episode. `act(actions, slots)`: returns the actions to pass on.
      `after_step(slots)`: these slots have made a step. They read `self.below` and fill arrays of their own.
    - `entries()`: what to add to info, arrays of its own or from below; or `extra_info()`, where they are not the same
      arrays in every step; `info_mask()`, where they are not there for all slots in every step.
    - In place of `act` and `after_step`, of wrappers that do no more than call compiled loops: `acting(slots)` and
      `looking(slots)`, see `rlenvs.wrappers.loops`.
    - the arrays `reward`, `terminated` and `truncated`, kept under these names, and `observation`, in place of those
      below. A reset clears the first three.

    `self.key` (slots,) and `self.time` (slots,) are what `rlenvs.wrappers.randomness` requires: the key of the episode
    and the steps made in it.
    """

    def bind(self, below: Stage, depth: int) -> None:
        """Attach the wrapper to a stage; depth: the number of wrappers below, so that two equal wrappers draw different
        random numbers.

        Raises:
            ParameterError: a setting does not fit the environment.
        """
        self.below, self.depth = below, depth
        self.count, self.agents = below.count, below.agents
        self.name, self.env, self.batch = below.name, below.env, below.batch
        self.observation_spaces, self.action_spaces = list(below.observation_spaces), list(below.action_spaces)
        self.reward_space = below.reward_space
        self._begin(below)
        self.kept: list[str] = []
        self.allocate("base", dtype=np.uint64)
        self.allocate("episode", dtype=np.uint64)
        self.allocate("key", dtype=np.uint64)
        self.allocate("time", dtype=np.int64)
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

    def allocate(self, name: str, shape: tuple[int, ...] = (), dtype: Any = np.float64, fill: Any = 0) -> np.ndarray:
        """Allocate the array `self.<name>`, (slots, *shape), which becomes part of snapshots, copies and pickles."""
        array = np.full((self.count, *shape), fill, dtype)
        setattr(self, name, array)
        self.kept.append(name)
        return array

    # --- for subclasses -----------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Check the settings, and allocate arrays."""

    def begin_episode(self, slots: np.ndarray) -> None:
        """Called when slots have started an episode."""

    def entries(self) -> dict[str, Any]:
        """Entries to add to info: arrays (slots, ...), the same ones in every step of a single slot."""
        return {}

    def extra_info(self) -> dict[str, Any]:
        """Entries to add to info: arrays (slots, ...), for wrappers whose entries or arrays change from step to
        step."""
        return self.entries()

    def info_mask(self) -> np.ndarray | None:
        """The slots for which `extra_info` is valid now, bool (slots,); None for all."""
        return None

    @property
    def seconds(self) -> float | None:
        """The seconds per step of the stage below; longer if a wrapper makes several steps per action."""
        return self.below.seconds

    # --- the stage ----------------------------------------------------------------------------------------------------

    def reset(self, slots: np.ndarray, seeds: Sequence[int | None] | None = None, options: Any = None) -> None:
        """Start episodes below, then here."""
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

    def shows_own(self) -> None:
        """Use `seen()` as the observation from now on: computed once if the arrays below are persistent, otherwise each
        time."""
        self._own_observation = not self.below.keeps_arrays
        if not self._own_observation:
            self.observation = self.seen()

    def seen(self) -> Any:
        """The observation, for wrappers that call `shows_own`."""
        return self.below.observation

    def __getattr__(self, name: str) -> Any:
        """The arrays that a wrapper does not change are those below."""
        if name == "observation" and self.__dict__.get("_own_observation"):
            return self.seen()
        if name in SEEN and "below" in self.__dict__:
            return getattr(self.below, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def info(self) -> dict[str, np.ndarray]:
        """The info below, plus this wrapper's entries."""
        return {**self.below.info(), **self.extra_info()}

    def read(self, key: str) -> np.ndarray | None:
        """One entry of `info`; None where there is none."""
        told = self.extra_info()
        return told[key] if key in told else self.below.read(key)

    def get_state(self, world: int) -> tuple[Any, ...]:
        """The world's state below, plus this wrapper's state of its slots."""
        slots = self.slots_of_world(world)
        return (*self.below.get_state(world), {name: getattr(self, name)[slots].copy() for name in self.kept})

    def set_state(self, state: tuple[Any, ...], world: int) -> None:
        """Restore the slots of a world."""
        self.below.set_state(state[:-1], world)
        slots = self.slots_of_world(world)
        for name, value in state[-1].items():
            getattr(self, name)[slots] = value

    def accepts_state(self, kept: Any) -> bool:
        """Whether this is a state of this wrapper: arrays with its names, shapes and types."""
        if not isinstance(kept, dict) or kept.keys() != set(self.kept):
            return False
        pairs = [(kept[name], getattr(self, name)[: self.agents]) for name in self.kept]
        return all(isinstance(a, np.ndarray) and (a.shape, a.dtype) == (own.shape, own.dtype) for a, own in pairs)

    def slots_kept(self, kept: Any) -> int | None:
        """The number of slots of these arrays; None if they are not a state of this wrapper."""
        key = kept.get("key") if isinstance(kept, dict) else None
        return len(key) if isinstance(key, np.ndarray) and key.ndim else None

    def set_params(self, values: Mapping[str, Any], slots: np.ndarray) -> None:
        """Passed on."""
        self.below.set_params(values, slots)

    def refresh_observation(self, slots: np.ndarray) -> None:
        """Passed on."""
        self.below.refresh_observation(slots)

    # --- help with settings -------------------------------------------------------------------------------------------

    def setting_error(self, setting: str, why: str) -> ParameterError:
        """The error for a setting; it names the wrapper, the setting and its value."""
        return ParameterError(f"{type(self).__name__}: {setting}={getattr(self, setting)!r} {why}")

    def check_number(self, setting: str, low: float = 0.0, high: float = math.inf) -> None:
        """ParameterError unless a setting is one finite number, or numbers, within [low, high]."""
        value = getattr(self, setting)
        try:
            numbers = np.asarray(value, np.float64)
        except (TypeError, ValueError):
            raise self.setting_error(setting, "is not a number") from None
        if isinstance(value, bool) or not np.isfinite(numbers).all() or (numbers < low).any() or (numbers > high).any():
            raise self.setting_error(setting, f"must be finite and {_within(low, high)}")

    def check_whole(self, setting: str, low: int = 0, high: float = math.inf) -> None:
        """ParameterError unless a setting is an integer within [low, high]."""
        value = getattr(self, setting)
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
            raise self.setting_error(setting, f"must be a whole number, {_within(low, high)}")

    def check_choice(self, setting: str, known: Sequence[str]) -> None:
        """ParameterError unless a setting is one of some names."""
        value = getattr(self, setting)
        if value not in known:
            raise self.setting_error(setting, f"is not one of {list(known)}. {nearest(str(value), known)}")

    def function(self, setting: str) -> Callable[..., Any]:
        """The function of a setting, which can be given as an address "module:name"."""
        value = getattr(self, setting)
        if isinstance(value, str) and ":" in value:
            value = named(value)
        if not callable(value):
            raise self.setting_error(setting, 'must be a function, or the address "module:name" of one')
        return value

    def call_policy(
        self, policy: Callable[..., Any], observations: Any, slots: np.ndarray | slice = slice(None)
    ) -> Any:
        """The actions of a policy for the observations of slots; agent names are passed to policies that need them."""
        if self.batch is None or not getattr(policy, "takes_names", False):
            return policy(observations)
        names = np.array([role.name for role in self.batch.setup.roles][: self.agents])
        return policy(observations, agent=np.tile(names, self.count // self.agents)[slots].tolist())

    def settings(self) -> dict[str, Any]:
        """The settings that differ from the defaults, by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.init and _differs(getattr(self, f.name), f)}

    def recipe(self) -> dict[str, Any]:
        """The wrapper as a dictionary that `wrapper_from` understands; JSON-serializable if the settings are."""
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
    if module.startswith("rlenvs.wrappers."):
        name = new_name("rlenvs.wrappers", name)
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ParameterError(f"cannot import {address!r}: {error}") from error
