"""A world's kernels under the names and signatures by which the driver calls them; what does nothing for the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlenvs.core.compiler.sources import function_from
from rlenvs.core.declare import rng
from rlenvs.core.declare.kernels import prefetch
from rlenvs.core.declare.spec import World


def _do_nothing_to_action(p: Any, s: Any, a: Any) -> None:
    return


def _show_nothing(p: Any, s: Any, k: Any, seen: Any) -> None:
    return


def _act_nothing(p: Any, s: Any, a: Any, rng: Any) -> None:
    return


def _fetch_nothing(p: Any, s: Any) -> None:
    return


def _change_nothing(p: Any, s: Any, rng: Any) -> None:
    return


def _no_goal_outcome(p: Any, achieved: Any, desired: Any, r: Any) -> None:
    return


def _no_outcome(p: Any, s: Any, a: Any, rng: Any, r: Any) -> None:
    return


def _describe_nothing(p: Any, s: Any, o: Any) -> None:
    return


def _observe_nothing(p: Any, s: Any, k: Any, o: Any) -> None:
    return


def _bar_nothing(p: Any, s: Any, a: Any, b: Any) -> None:
    return


def _players_of(world: World) -> Any:
    """One function (which, p, s, k, a, rng) for all scripted players of a world. Made from text, so that it calls each
    of them by name."""
    scope: dict[str, Any] = {f"player{n}": world.kernels[f"player {name}"] for n, name in enumerate(world.players)}
    calls = [f"    if which == {n}:\n        {name}(p, s, k, a, rng)\n" for n, name in enumerate(scope)]
    play = function_from("def play(which, p, s, k, a, rng):\n" + "".join(calls) + "    return\n", "play", scope)
    play.__qualname__ = "_players_of.<locals>.play"
    return play


def _players_generator(s: Any) -> Any:
    return s.players_rng


def _world_generator(s: Any) -> Any:
    return s.rng


def _note_shown(s: Any, shown: Any) -> None:
    s.shown = shown


def _keep_nothing(s: Any, shown: Any) -> None:
    return


def _step_of(kernels: Mapping[str, Any], engine: bool) -> Any:
    """The whole step: the world's own, or its three parts in turn; none where an engine moves the bodies."""
    if engine:
        return _no_outcome
    if "step" in kernels:
        return kernels["step"]
    act, move, outcome = kernels["act"], kernels["move"], kernels["outcome"]

    def step(p: Any, s: Any, a: Any, rng: Any, r: Any) -> None:
        act(p, s, a, rng)
        move(p, s, rng)
        outcome(p, s, a, rng, r)

    return step


def _check_roles(world: World) -> None:
    kernels = world.kernels
    stepping: tuple[str, ...] = ("step",)
    if world.engine:
        stepping = ("act", "outcome")
    elif world.engines or "act" in kernels:
        stepping = ("act", "move", "outcome")
    grading = ("goal_outcome",) if world.goal else ()
    central = ("central",) if world.central else ()
    playing = [f"player {name}" for name in world.players]
    barring = ("barrier",) if world.barriers else ()
    observing = ("observe",) if world.observation else ()
    looking = ("observe_images",) if world.images and not world.observation and not world.engine else ()
    wanted = ("reset", *stepping, *grading, *observing, *looking, *central, *barring, *playing)
    missing = [role for role in wanted if role not in kernels]
    if world.engine and "model" not in world.functions:
        missing.append("model")
    if missing:
        raise TypeError(f"{world.name} has no {' and no '.join(missing)}; add a function under @SPEC.{missing[0]}")


def kernel_names(world: World, kind: str, engine: bool) -> dict[str, Any]:
    """The world's kernels under the names and signatures that the driver uses.

    Args:
        world: the declaration.
        kind: of action, see `Setup.action_kind`.
        engine: whether an engine moves the bodies, between the parts of a step, or the kernels do.
    """
    _check_roles(world)
    kernels = world.kernels
    observe, mask, look = kernels.get("observe"), kernels.get("mask"), kernels.get("observe_images")
    barrier = kernels.get("barrier")

    def observe_one(p: Any, s: Any, k: Any, o: Any) -> None:
        observe(p, s, o)  # type: ignore[misc]

    def mask_one(p: Any, s: Any, k: Any, m: Any) -> None:
        mask(p, s, m)  # type: ignore[misc]

    def look_one(p: Any, s: Any, k: Any, i: Any) -> None:
        look(p, s, i)  # type: ignore[misc]

    def bar_agent(p: Any, s: Any, a: Any, b: Any) -> None:
        barrier(p, s, b.agent, a, b)  # type: ignore[misc]

    return {
        "reset": kernels["reset"],
        "step": _step_of(kernels, engine),
        "act": kernels.get("act", _act_nothing) if engine else _act_nothing,
        "before_physics": kernels.get("before_physics", _change_nothing) if engine else _change_nothing,
        "after_reset": kernels.get("after_reset", _change_nothing) if engine else _change_nothing,
        "goal_outcome": kernels.get("goal_outcome", _no_goal_outcome),
        "outcome": kernels.get("outcome", _no_outcome) if engine else _no_outcome,
        "expert": kernels.get("expert", _do_nothing_to_action),
        "play": _players_of(world),
        "players_rng": _players_generator if world.players else _world_generator,
        "central": kernels.get("central", _describe_nothing),
        "bar": _bar_nothing if barrier is None else (bar_agent if world.agents else barrier),
        "note_shown": _note_shown if world.incremental else _keep_nothing,
        "observe_agent": _observe_nothing if observe is None else (observe if world.agents else observe_one),
        "mask_agent": _show_nothing if mask is None else (mask if world.agents else mask_one),
        "look_agent": _show_nothing if look is None else (look if world.agents else look_one),
        "uniform": rng.uniform,
        "ALONE": not world.agents,
        "MASKED": mask is not None,
        "FETCHES": "fetch" in kernels,
        "fetch": kernels.get("fetch", _fetch_nothing),
        "prefetch_row": prefetch,
        "IN_LANES": False,
        "INCREMENTAL": world.incremental,
        "CONTINUOUS": kind == "continuous",
        "FLAT": kind == "flat",
    }
