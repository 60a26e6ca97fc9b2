"""The base of wrappers that choose parameters of the world when an episode begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlenvs.core.declare.errors import ParameterError, nearest
from rlenvs.wrappers.context_lists import Context, Range
from rlenvs.wrappers.wrapper import Wrapper


@dataclass
class EpisodeParams(Wrapper):
    """Base of wrappers that set parameters when an episode begins; subclasses fill `values` in `assign`.

    `reset(options={"params": ...})` may set other parameters than theirs.
    """

    def claim(self, names: Sequence[str]) -> None:
        """Take parameters over, after a check that nothing else sets them; make `values`, (slots, parameters).

        Raises:
            ParameterError: an environment without these parameters, or one of them is set by something else.
        """
        self.require_world()
        kind, world, setup = type(self).__name__, self.batch.world, self.batch.setup
        for name in names:
            if name not in world.params:
                raise ParameterError(f"{kind}: {world.name} has no parameter {name!r}. {nearest(name, world.params)}")
            if name in setup.random_ranges or name in setup.contexts:
                how = "randomize" if name in setup.random_ranges else "an array, one value per world"
                raise ParameterError(f"{kind}: {name} is set by {how}, in `make`, too; remove it from one of them")
        for wrapper in self._wrappers_below():
            for name in set(names) & set(wrapper.names):
                raise ParameterError(f"{kind}: {name} is set by the wrapper {type(wrapper).__name__} below, too")
        self.names: list[str] = list(names)
        slot = setup.params_row()[0]
        self.usual = {name: float(slot[name]) for name in names}
        self.allocate("values", (len(names),))
        self.values[:] = list(self.usual.values())

    def require_world(self) -> None:
        """ParameterError unless the environment is one of this package."""
        if self.batch is None:
            kind = type(self).__name__
            raise ParameterError(f"{kind}: {self.name} is not an environment of this package; it has no parameters")

    def _wrappers_below(self) -> list[EpisodeParams]:
        wrappers, stage = [], self.below
        while isinstance(stage, Wrapper):
            if isinstance(stage, EpisodeParams):
                wrappers.append(stage)
            stage = stage.below
        return wrappers

    def alone(self) -> None:
        """ParameterError where there is another wrapper of the kind below; their info entries would be the same."""
        if any(type(wrapper) is type(self) for wrapper in self._wrappers_below()):
            raise ParameterError(
                f"{type(self).__name__}: there already is one below; combine their settings in one wrapper"
            )

    def check_values(self, values: Context, what: str) -> None:
        """ParameterError unless all are parameters of the world, within their ranges, and go together."""
        for name, value in values.items():
            if name not in self.batch.world.params:
                hint = nearest(str(name), self.batch.world.params)
                raise ParameterError(f"{type(self).__name__}: {what}: {self.name} has no parameter {name!r}. {hint}")
            try:
                number = self.batch.world.params[name].check(name, value)
            except ParameterError as error:
                raise ParameterError(f"{type(self).__name__}: {what}: {error}") from None
            if number.shape != ():
                raise ParameterError(f"{type(self).__name__}: {what}: {name} must be one number, not {value!r}")
        try:
            self.batch.setup.check_ranges({name: (float(value),) * 2 for name, value in values.items()})
        except ParameterError as error:
            raise ParameterError(f"{type(self).__name__}: {what}: {error}") from None

    def ranges(self, names: Sequence[str]) -> dict[str, Range]:
        """The declared ranges of parameters."""
        params = self.batch.world.params
        return {name: (params[name].low, params[name].high) for name in names}

    def reset(self, slots: np.ndarray, seeds: Sequence[int | None] | None = None, options: Any = None) -> None:
        """Look back at the episodes that end here, set the parameters of new ones, and begin them."""
        options = self.own_options(dict(options or {}))
        for name in self.names:
            if name in options.get("params", ()):
                raise ParameterError(
                    f"{type(self).__name__} sets {name}; it cannot be among the params of reset's options"
                )
        if self.wants_outcomes:
            self.report_outcomes(self._played(slots, seeds))
        self._start(slots, seeds)
        self.assign(self.worlds(slots))
        if self.names:
            self.set_params({name: self.values[:, j] for j, name in enumerate(self.names)}, slots)
        self.below.reset(slots, seeds, options)
        self.begin_episode(slots)

    def _played(self, slots: np.ndarray, seeds: Sequence[int | None] | None) -> np.ndarray:
        """Worlds whose last episode counts: it had steps, and new seeds did not cut it short."""
        worlds = self.worlds(slots & (self.time > 0))
        if seeds is None or not any(seed is not None for seed in seeds):
            return worlds
        goes_on = self.worlds(~self.below.over)
        return np.array([i for i in worlds.tolist() if seeds[i] is None or i not in goes_on], np.int64)

    # --- slots and worlds ---------------------------------------------------------------------------------------------

    def worlds(self, slots: np.ndarray) -> np.ndarray:
        """The numbers of the worlds with any of these slots."""
        return np.flatnonzero(slots if self.agents == 1 else slots.reshape(-1, self.agents).any(axis=1))

    def mean_of(self, array: np.ndarray, worlds: np.ndarray) -> np.ndarray:
        """The mean over agents of an array (slots,), for some worlds."""
        return array.reshape(-1, self.agents)[worlds].mean(axis=1, dtype=np.float64)

    def fill(self, array: np.ndarray, worlds: np.ndarray, entries: np.ndarray) -> None:
        """Write one entry per world into an array with a slot per agent."""
        array.reshape(self.count // self.agents, self.agents, *array.shape[1:])[worlds] = entries[:, None]

    def succeeded(self, worlds: np.ndarray) -> np.ndarray:
        """The share of agents with success, in the last step of some worlds."""
        success = self.below.read("is_success")
        assert success is not None
        return self.mean_of(success, worlds)

    @property
    def streams(self) -> np.ndarray:
        """The worlds' streams for `uniforms` and `normals`, uint64 (worlds,)."""
        return self.base[:: self.agents]

    @property
    def turns(self) -> np.ndarray:
        """The worlds' episodes since they were seeded, uint64 (worlds,); the first is 1."""
        return self.episode[:: self.agents]

    def own_options(self, options: dict[str, Any]) -> dict[str, Any]:
        """Take in options of `reset`, and return those for the wrappers below."""
        return options

    @property
    def wants_outcomes(self) -> bool:
        """Whether `report_outcomes` is to be called."""
        return False

    def report_outcomes(self, worlds: np.ndarray) -> None:
        """The episodes of the worlds with these numbers are over."""

    def assign(self, worlds: np.ndarray) -> None:
        """Fill `values` for worlds that begin an episode."""
        raise NotImplementedError
