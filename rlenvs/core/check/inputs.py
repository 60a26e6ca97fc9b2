"""The rule on bad input."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.check.playing import Player, choose, difference
from rlenvs.core.check.subject import Subject
from rlenvs.core.check.verdicts import Failed
from rlenvs.core.declare.action_form import counts_of
from rlenvs.core.declare.errors import (
    ActionError,
    EpisodeOverError,
    ParameterError,
    UnknownKeywordError,
    UnknownNameError,
)
from rlenvs.core.forms.gym_env import Env


def bad_input(t: Subject) -> str:
    """18. Bad input is an error that names the environment and the fault, and moves nothing.

    Wrong shape or type, NaN or no choice, unknown keyword (the nearest valid one is named), impossible parameter,
    unknown level, a step before reset and after the end. To mend: leave these to the core.
    """
    env = t.env(horizon=t.short)
    _refuses("a step before reset", EpisodeOverError, [t.world.name], env.step, _any_action(env))
    env.reset(seed=0)
    for action in _bad_actions(env.action_space):
        before = env.get_state()
        _refuses(f"the action {action!r}", ActionError, [t.world.name], env.step, action)
        if difference(before, env.get_state()):
            raise Failed(f"the refused action {action!r} moved the world")
    known = [*t.world.params, *t.world.options, "horizon"][0]
    wrong = known + "x"
    _refuses(f"the keyword {wrong}", UnknownKeywordError, [wrong, repr(known)], t.env, **{wrong: 1})
    _refuses("an unknown level", UnknownNameError, ["nowhere"], t.env, level="nowhere")
    _refuses("horizon=0", ParameterError, ["horizon"], t.env, horizon=0)
    _refuses("no environments", ParameterError, ["0"], t.vector, 0)
    for name, declared in t.world.params.items():
        for value in (declared.high + abs(declared.high) + 1.0, math.nan):
            _refuses(f"{name}={value}", ParameterError, [name], t.env, **{name: value})
    player = Player(env)
    while not player.ended:
        player.step()
    _refuses("a step after the end", EpisodeOverError, [t.world.name], env.step, _any_action(env))
    if t.world.agents:
        parallel = t.parallel()
        _refuses("a step before reset", EpisodeOverError, [t.world.name], parallel.step, {})
        parallel.reset(seed=0)
        _refuses("a missing action", ActionError, [t.world.name, parallel.agents[0]], parallel.step, {})
    return "actions, keywords, parameters, order of calls"


def _any_action(env: Env) -> Any:
    return choose(np.random.default_rng(0), env.action_space)


def _bad_actions(space: spaces.Space) -> list[Any]:
    if isinstance(space, spaces.Box):
        return [np.zeros(space.shape[0] + 1, np.float32), np.full(space.shape, np.nan, np.float32), "left", None]
    if isinstance(space, spaces.Discrete):
        return [int(space.n), -1, [0, 0], 0.5, None]
    counts = np.array(counts_of(space))
    return [counts, [0] * (len(counts) - 1) + [-1], [0] * (len(counts) + 1), counts - 0.5, None]


def _refuses(
    what: str, kind: type[Exception], named: Sequence[str], call: Callable[..., Any], *args: Any, **keywords: Any
) -> None:
    """Failed unless a call raises this kind of error, with these words in its message."""
    try:
        call(*args, **keywords)
    except kind as error:
        absent = [word for word in named if word not in str(error)]
        if absent:
            raise Failed(f"the error after {what} does not name {absent}: {error}") from None
    except Exception as error:
        raise Failed(f"{what} gave {type(error).__name__} ({error}), not {kind.__name__}") from error
    else:
        raise Failed(f"{what} was accepted; {kind.__name__} is due")
