"""The rule on instances: what happens to one, and what is asked of it, leaves the others and itself as they are."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

from rlenvs.core.check.playing import Player, difference
from rlenvs.core.check.subject import Subject
from rlenvs.core.check.verdicts import Failed, compare
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.setup import Setup

PICTURES = 5  # of a single form; of others, which may draw every row, one
UNSEEDED = 3  # instances


def instances_independent(t: Subject) -> str:
    """12. A second instance, with another seed and other parameters, leaves the first as it is, when it is closed too;
    pictures change nothing, parameters of `reset` last until others are given, and what was never seeded differs.

    To mend: keep nothing that changes in classes, modules or default arguments; a form keeps nothing of its options,
    and copies them before it changes them.
    """
    steps = 2 * t.short + 3
    other = {name: p.high if p.high != p.default else p.low for name, p in t.world.params.items()}
    for name, make in t.forms():
        alone = Player(make(horizon=t.short)).play(steps)
        first = Player(make(horizon=t.short))
        second = Player(_other(t, make, other), seed=99)
        for step in range(steps):
            if step < steps // 2:
                second.step()
            elif step == steps // 2:
                second.env.close()
            first.step()
        compare(f"{name} alone and beside a second instance", alone, first.record)
        _options_are_gone(t, name, make, alone)
        _drawing_is_harmless(t, name, make)
        _unseeded_differ(t, name, make)
    return f"{steps} steps beside a second instance"


def _other(t: Subject, make: Callable[..., Any], params: dict[str, float]) -> Any:
    """A form with other parameters, or with the usual ones where its wrappers hold them within a range."""
    try:
        return make(horizon=t.short, **params)
    except ParameterError:
        if not t.rewrap:
            raise
        return make(horizon=t.short)


def _options_are_gone(t: Subject, name: str, make: Callable[..., Any], alone: list[Any]) -> None:
    """Failed when parameters that are set back leave something behind, or when the options themselves are changed."""
    if t.rewrap or not t.world.params:
        return
    usual = vars(Setup(t.world, **t.choices).values)
    env = make(horizon=t.short)
    changed: dict[str, float] = {}
    for param, declared in t.world.params.items():
        other = 0.5 * (usual[param] + (declared.high if declared.high != usual[param] else declared.low))
        options = {"params": {param: other}}
        with contextlib.suppress(ParameterError):  # it does not go with the others, or an engine cannot change it
            env.reset(seed=5, options=options)
            changed[param] = usual[param]
        if options != {"params": {param: other}}:
            raise Failed(f"{name}.reset changed the options that it was given to {options}")
    if changed:
        env.reset(seed=6, options={"params": copy.copy(changed)})
        again = Player(env).play(t.short)
        which = ", ".join(changed)
        compare(f"{name} and {name} after options that were set back ({which})", alone[: t.short + 1], again)


def _drawing_is_harmless(t: Subject, name: str, make: Callable[..., Any]) -> None:
    """Failed when a form that is drawn after every call does anything else, or moves NumPy's generator."""
    if "draw" not in t.world.functions or t.rewrap:
        return
    before = np.random.get_state()  # noqa: NPY002
    quiet, drawn = Player(make(horizon=t.short)), Player(make(horizon=t.short, render_mode="rgb_array"))
    for _ in range(PICTURES if isinstance(drawn.env, gymnasium.Env) else 1):
        drawn.env.render()
        quiet.step()
        drawn.step()
    compare(f"{name} and {name} that is drawn", quiet.record, drawn.record)
    if difference(list(before), list(np.random.get_state())):  # noqa: NPY002
        raise Failed("drawing moves NumPy's global generator")


def _unseeded_differ(t: Subject, name: str, make: Callable[..., Any]) -> None:
    """Failed when several instances that were never seeded begin alike, or all rows of one."""
    if t.world.same_start or t.world.starts or t.rewrap:
        return
    starts = []
    for _ in range(UNSEEDED):
        env = make(horizon=t.short)
        env.reset()
        found = env.get_state()
        starts.append([each.state for each in (found if isinstance(found, list) else [found])])
    if all(start == starts[0] for start in starts):
        raise Failed(f"{UNSEEDED} copies of {name} that were never seeded begin in the same state")
    for start in starts:
        if len(start) > 1 and len(set(start)) == 1:
            raise Failed(f"all rows of a {name} that was never seeded begin in the same state")
