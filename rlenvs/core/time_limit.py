"""One time limit: the world's own, whose names are `horizon`, `max_episode_steps` and `max_cycles`.

The limit is part of the world's state, so that a snapshot keeps it. Gymnasium knows another, its wrapper TimeLimit,
which counts steps from the last reset, whatever snapshot is restored in between. Here
`gymnasium.make(..., max_episode_steps=N)` gives its N to the world, no wrapper stays, and the environment's spec shows
the world's limit.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec, WrapperSpec

from rlenvs.core.errors import ParameterError, shortened

LONGEST = 2**62  # steps; kernels count in 64 bits


class ShownLimit(int):
    """The limit in a spec: what follows from the other keywords, not a wish. `make(env.spec, ...)` passes it on."""


class Handover(tuple[WrapperSpec, ...]):
    """The additional wrappers of a spec, before which `gymnasium.make` calls `hand_over`.

    After its TimeLimit, `make` puts on the slice `additional_wrappers[n:]`; nobody else takes such a slice. A wrapper
    in the tuple itself would not do: `make_vec` refuses to make the native vector form of specs with any.
    """

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return (HAND_OVER, *found) if isinstance(index, slice) and index.stop is None else found

    def __add__(self, other: Any) -> Handover:
        return Handover((*self, *other))


HAND_OVER = WrapperSpec("hand_over", f"{__name__}:hand_over", {})


def hand_over(env: gymnasium.Env) -> gymnasium.Env:
    """An environment that `gymnasium.make` has put a TimeLimit on, without it: the world has its limit then.

    Raises:
        ParameterError: `horizon` is given too, and differs.
    """
    if not isinstance(env, gymnasium.wrappers.TimeLimit):
        return env
    inner, limit = env.env, env._max_episode_steps
    if not isinstance(limit, ShownLimit):
        world: Any = inner.unwrapped
        spec = dataclasses.replace(world.spec, kwargs={**world.spec.kwargs, "max_episode_steps": limit})
        world.close()
        world.__init__(**spec.kwargs)
        world.spec = spec
    return inner


class LimitSpec(EnvSpec):
    """The spec of an environment, with the environment's time limit."""

    @classmethod
    def of(cls, spec: EnvSpec, limit: int) -> LimitSpec:
        """The same spec with the limit in it."""
        fields = _fields(spec)
        kwargs = {name: value for name, value in spec.kwargs.items() if not isinstance(value, ShownLimit)}
        wrappers = Handover(spec.additional_wrappers)
        return cls(**{**fields, "kwargs": kwargs, "additional_wrappers": wrappers, "max_episode_steps": limit})

    def plain(self) -> EnvSpec:
        """The same in Gymnasium's own class. What only shows is not in it: there it would put on a TimeLimit."""
        fields = {**_fields(self), "additional_wrappers": (*self.additional_wrappers,)}
        if isinstance(self.max_episode_steps, ShownLimit):
            fields["max_episode_steps"] = None
        return EnvSpec(**fields)

    def to_json(self) -> str:
        """As JSON; `EnvSpec.from_json` makes a spec of the same environment from it."""
        return self.plain().to_json()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EnvSpec):
            return NotImplemented
        return self.plain() == (other.plain() if isinstance(other, LimitSpec) else other)

    __hash__ = None  # type: ignore[assignment]  # as EnvSpec


def _fields(spec: EnvSpec) -> dict[str, Any]:
    return {field.name: getattr(spec, field.name) for field in dataclasses.fields(spec) if field.init}


class ShowsLimit:
    """An environment whose spec shows the limit of its batch."""

    batch: Any
    _spec: EnvSpec | None = None

    @property
    def spec(self) -> EnvSpec | None:
        """What the environment was made from; `max_episode_steps` is the world's time limit."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._spec = None if spec is None else LimitSpec.of(spec, ShownLimit(self.batch.setup.horizon))


def one_limit(**wishes: Any) -> int | None:
    """The wish for a limit among those by several names; None where there is none.

    Raises:
        ParameterError: a wish that is no number of steps, or wishes that differ.
    """
    wished = {name: v for name, v in wishes.items() if v is not None and not isinstance(v, ShownLimit)}
    found = {name: check_limit(name, value) for name, value in wished.items()}
    if len(set(found.values())) > 1:
        given = " and ".join(f"{name}={value!r}" for name, value in found.items())
        raise ParameterError(f"{given} are names of one limit, the steps until truncation; give one of them")
    return next(iter(found.values()), None)


def check_limit(name: str, value: Any) -> int:
    """A number of steps as Python's integer; ParameterError otherwise."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or not 1 <= value <= LONGEST:
        raise ParameterError(f"{name}={shortened(value)} must be an integer in [1, {LONGEST}] (steps until truncation)")
    return int(value)
