"""The command on Pareto fronts: ours, the published one, and the difference."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

from rlenvs.cli.common import Id, Level, Set, app, console, keywords_from, say, table_of_numbers
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.progress import progress

PANEL = "Environments"
SHOWN = 40  # points of a front, unless all are asked for
DIGITS = 6
TOLERANCE = 1e-9  # by which points may differ and are the same


@app.command("front", rich_help_panel=PANEL)
def front_command(
    id: Id,
    gamma: Annotated[float, typer.Option(metavar="GAMMA", help="Discount factor in (0, 1].")] = 1.0,
    all_points: Annotated[bool, typer.Option("--all", help=f"Show all points, not only the first {SHOWN}.")] = False,
    level: Level = None,
    set: Set = None,
) -> None:
    """Show the exact Pareto front, the published front, and the difference."""
    from rlenvs.core.catalogue.make import make

    env: Any = make(id, **keywords_from(set, level))
    try:
        setup = env.unwrapped.batch.setup
        if "pareto_front" not in setup.world.functions:
            raise ParameterError(
                f"{setup.world.name} has no exact Pareto front; docs/pareto.md lists the environments that have one"
            )
        published = setup.published_front(gamma) if 0.0 < gamma <= 1.0 else None
        names, reference = tuple(setup.world.terms), published.reference if published else None
        try:
            with progress("computing the front"):
                ours, exact = _front_of(env, gamma)
        except ParameterError as error:
            if published is None or published.points is None:
                raise
            say(f"Ours: unknown. {error}\n")
            if (outer := setup.world.functions.get("outer_front")) and (
                corners := _known(outer, setup, gamma)
            ) is not None:
                _show(
                    "Outer bound: under any weights, no policy is worth more than all of these",
                    names,
                    corners,
                    None,
                    all_points,
                )
            _show_published(published, names, np.empty((0, len(names))), False, all_points)
            return
        what = (
            _counted(len(ours))
            if exact
            else f"{len(ours)} corners (the convex coverage set; the front has too many points to list)"
        )
        known = "attained" if _is_open(setup, ours, gamma) else "exact"
        _show(f"Ours: {what}, {known}, at gamma={gamma:g}", names, ours, reference, all_points)
        if known == "attained":
            outer = setup.world.functions["outer_front"](setup.values, setup.horizon, gamma)
            _show("Outer bound: no policy exceeds all of these", names, outer, reference, all_points)
        _show_published(published, names, ours, exact, all_points)
    finally:
        env.close()


def _front_of(env: Any, gamma: float) -> tuple[np.ndarray, bool]:
    """The exact front, or the corners of one that has too many points; whether it is the former."""
    from rlenvs.pareto import TooManyPointsError, coverage_set

    try:
        return env.unwrapped.pareto_front(gamma), True
    except TooManyPointsError:
        return coverage_set(env, gamma).values, False


def _known(outer: Any, setup: Any, gamma: float) -> Any:
    """What is proved to be the most; None where that is not known."""
    try:
        return outer(setup.values, setup.horizon, gamma)
    except ParameterError:
        return None


def _is_open(setup: Any, ours: np.ndarray, gamma: float) -> bool:
    """Whether there is room between the front and what is proved to be the most."""
    if "outer_front" not in setup.world.functions:
        return False
    outer = setup.world.functions["outer_front"](setup.values, setup.horizon, gamma)
    return outer.shape != ours.shape or bool(np.abs(outer - ours).max() > TOLERANCE)


def _show(title: str, names: tuple[str, ...], points: np.ndarray, reference: Any, all_points: bool) -> None:
    say(title)
    shown = points if all_points else points[:SHOWN]
    console().print(table_of_numbers(("", *names), ((str(n), *map(_number, p)) for n, p in enumerate(shown, 1))))
    if len(shown) < len(points):
        say(f"... and {len(points) - len(shown)} more (use --all to show them)")
    if reference is not None:
        from rlenvs.pareto.indicators import hypervolume

        corner = ", ".join(map(_number, reference))
        say(f"hypervolume above ({corner}): {hypervolume(points, reference):.{DIGITS + 2}g}\n")


def _show_published(published: Any, names: tuple[str, ...], ours: np.ndarray, exact: bool, all_points: bool) -> None:
    """The published front and how it differs from ours."""
    if published is None:
        say("Published: none known for these options")
        return
    if published.points is None:
        say(f"Published: no points; {published.source}")
        return
    points = np.array(sorted(np.asarray(published.points, float).tolist(), reverse=True))
    _show(f"Published: {_counted(len(points))}, {published.source}", names, points, published.reference, all_points)
    if exact:
        say(_difference(ours, points))


def _difference(ours: np.ndarray, published: np.ndarray) -> str:
    """How many points are in both fronts, only in ours, and only in the published one (and how many of these ours
    dominates)."""
    gap = np.abs(ours[:, None] - published[None]).max(axis=2)
    same = (gap <= 1e-9 * max(1.0, np.abs(published).max())).any
    alone = published[~same(axis=0)]
    beaten = sum(((ours >= point - 1e-9).all(axis=1)).any() for point in alone)
    text = f"Difference: {_counted(int(same(axis=1).sum()))} in both, {int((~same(axis=1)).sum())} only in ours, "
    text += f"{len(alone)} only in the published one"
    return f"{text}, {beaten} of which ours dominates" if len(alone) else text


def _counted(points: int) -> str:
    return "1 point" if points == 1 else f"{points} points"


def _number(value: float) -> str:
    return f"{0.0 if abs(value) < 1e-12 else value:.{DIGITS}g}"
