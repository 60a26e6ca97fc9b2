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
from gymnasium.envs.registration import EnvSpec, WrapperSpec

from rlenvs.core.declare.errors import RlenvsError
from rlenvs.core.declare.limits import LIMIT_NAMES, LONGEST, NONE, EarlierLimit, ShownLimit, newest


class Handover(tuple[WrapperSpec, ...]):
    """The additional wrappers of a spec, before which `gymnasium.make` calls `hand_over`.

    After its TimeLimit, `make` puts on the slice `additional_wrappers[n:]`; nobody else takes such a slice. A wrapper
    in the tuple itself would not do: `make_vec` refuses to make the native vector form of specs with any.
    """

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return (HAND_OVER_NONE, *found) if isinstance(index, slice) and index.stop is None else found

    def __add__(self, other: Any) -> Handover:
        return Handover((*self, *other))


HAND_OVER = WrapperSpec("hand_over", f"{__name__}:hand_over", {})
HAND_OVER_NONE = WrapperSpec("hand_over_none", f"{__name__}:hand_over_none", {})
OURS = (HAND_OVER, HAND_OVER_NONE)


def hand_over(env: gymnasium.Env) -> gymnasium.Env:
    """An environment that `gymnasium.make` has put a TimeLimit on, without it: the world has its limit then.

    Raises:
        ParameterError: `horizon` is given too, and differs.
    """
    if not isinstance(env, gymnasium.wrappers.TimeLimit):
        return env
    return _with_limit(env.env, env._max_episode_steps)  # noqa: SLF001 (Gymnasium tells it nowhere else)


def hand_over_none(env: gymnasium.Env) -> gymnasium.Env:
    """`hand_over`, of an environment that would have a TimeLimit unless `make` was asked for max_episode_steps=-1."""
    if isinstance(env, gymnasium.wrappers.TimeLimit):
        return hand_over(env)
    spec = env.unwrapped.spec
    return env if spec is None or spec.max_episode_steps is None else _with_limit(env, NONE)


def _with_limit(inner: gymnasium.Env, limit: int) -> gymnasium.Env:
    """An environment whose world is made again with a limit, where it is a wish."""
    if not isinstance(limit, ShownLimit):
        world: Any = inner.unwrapped
        wishes = {**world.spec.asked, "max_episode_steps": limit}
        spec = dataclasses.replace(world.spec, kwargs={**_without_limits(world.spec.kwargs), **wishes})
        world.close()
        world.__init__(**spec.kwargs)
        world.spec = spec
    return inner


class LimitSpec(EnvSpec):
    """The spec of an environment of this package.

    `max_episode_steps` is the limit that is wished, or else the one that follows from the keywords, a `ShownLimit`;
    None where there is none. To set it is to wish for it, by whatever name the keywords did.
    """

    _wish: int | None = None
    asked: dict[str, int] | None = None  # wishes in the keywords of the call that made the environment
    _shown: ShownLimit | None = None  # for environments that cannot be told from their keywords

    @classmethod
    def of(cls, spec: EnvSpec, limit: ShownLimit | None = None) -> LimitSpec:
        """The same spec, which shows the limit."""
        wishes = newest(spec.kwargs)
        earlier = {name: EarlierLimit(wish) for name, wish in wishes.items()}
        kwargs = {**_without_limits(spec.kwargs), **earlier}
        wrappers = Handover(wrapper for wrapper in spec.additional_wrappers if wrapper not in OURS)
        found = cls(**{**_fields(spec), "kwargs": kwargs, "additional_wrappers": wrappers})
        found._shown = limit
        found.asked = {name: wish for name, wish in wishes.items() if not isinstance(wish, EarlierLimit)}
        return found

    @property
    def max_episode_steps(self) -> int | None:
        found = self._wish if self._wish is not None else _limit_by(self.kwargs) or self._shown
        if found is None and "world" not in self.kwargs:  # `make_vec` passes the keywords to `make` beside the spec
            return ShownLimit(LONGEST)
        return None if found in (NONE, LONGEST) else found

    @max_episode_steps.setter
    def max_episode_steps(self, limit: int | None) -> None:
        shown = isinstance(limit, ShownLimit)
        self._wish = None if shown else limit
        if limit is not None and not shown and "kwargs" in self.__dict__:
            self.kwargs = _without_limits(self.kwargs)

    def plain(self) -> EnvSpec:
        """The same in Gymnasium's own class, with a wish as its `max_episode_steps`."""
        return EnvSpec(**{**_normal(self), "additional_wrappers": (*self.additional_wrappers,)})

    def to_json(self) -> str:
        """As JSON; `EnvSpec.from_json` makes a spec of the same environment from it.

        A spec in Gymnasium's own class has to say itself that no TimeLimit is to stay.
        """
        spec = self.plain()
        if spec.kwargs.get("vectorization_mode") != "vector_entry_point":
            spec.additional_wrappers = (HAND_OVER, *spec.additional_wrappers)
        return spec.to_json()

    @staticmethod
    def from_json(json_env_spec: str) -> LimitSpec:
        """From JSON, in this class."""
        return LimitSpec.of(EnvSpec.from_json(json_env_spec))

    def __eq__(self, other: object) -> bool:
        return _normal(self) == _normal(other) if isinstance(other, EnvSpec) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as EnvSpec


def _fields(spec: EnvSpec) -> dict[str, Any]:
    return {field.name: getattr(spec, field.name) for field in dataclasses.fields(spec) if field.init}


def _normal(spec: EnvSpec) -> dict[str, Any]:
    """The fields, with the wish for a limit, by whatever name, in its own field alone."""
    fields = _fields(spec)
    found = [*newest({"max_episode_steps": fields["max_episode_steps"]}).values(), *newest(spec.kwargs).values()]
    return {
        **fields,
        "kwargs": _without_limits(spec.kwargs),
        "max_episode_steps": int(found[0]) if found else None,
        "additional_wrappers": tuple(wrapper for wrapper in spec.additional_wrappers if wrapper not in OURS),
    }


def _without_limits(keywords: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in keywords.items() if name not in LIMIT_NAMES}


def _limit_by(keywords: dict[str, Any]) -> ShownLimit | None:
    """The limit of what the keywords make; None where they do not tell."""
    from rlenvs.core.declare.spec import World, load_world
    from rlenvs.core.declare.values import horizon_of

    world = keywords.get("world")
    try:
        world = load_world(world) if isinstance(world, str) else world
        return ShownLimit(horizon_of(world, keywords)) if isinstance(world, World) else None
    except (RlenvsError, ImportError):
        return None


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
