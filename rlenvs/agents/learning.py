"""The learning section of an environment's page, from the published learning curves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from rlenvs.agents.card import Card, normalized, with_conditions
from rlenvs.agents.curves import Curve, MeanCurve, curves_of, mean_curves
from rlenvs.agents.hyperparameters import settings_for
from rlenvs.agents.hyperparameters.settings import OFF_POLICY, Settings
from rlenvs.agents.runs import EVALUATION_SEEDS
from rlenvs.agents.store import own_agent, read_card, references_of
from rlenvs.core.catalogue.docs import documented
from rlenvs.core.catalogue.markdown import markdown_table
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.catalogue.score_cells import cost_cells, has_success, success_cell
from rlenvs.core.declare.parts import Score, limits_of
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World

__all__ = ["steps_to"]

SHARES = (0.5, 0.9)  # of the expert's score
HEAD = ("Policy", "Return", "Score", "Success", "Cost", "Limit", "Steps", "Time", "Seeds", "To 0.5", "To 0.9")
COMPARED_HEAD = ("Environment", "Algorithm", *HEAD[1:7], "Updates", *HEAD[7:])
EPISODES = len(EVALUATION_SEEDS)
TEXT = f"""What `rlenvs train` reached. Return, score and success are those of the last evaluation, in
{EPISODES} episodes apart from training: means over the training seeds, with the lowest and the highest of them.
"Time" is wall time on one core. "To 0.5" and "To 0.9" say when the mean of the training seeds first had these scores;
between evaluations it is taken as straight. [Scores](../scores.md) has the agents, on the seeds of their cards."""
CONDITIONS = "In brackets behind an algorithm: in what its task was not the one that this page describes."
LEVELS = "At a level random and expert are of the seeds on which its agent was measured."
SEVERAL_COSTS = "Curves hold the sum of all costs alone, so the cost is that of the agent, on these seeds."


def all_curves(world: World) -> dict[str | None, list[Curve]]:
    """The curves of the defaults (under None) and of every level that has some."""
    found = {level: curves_of(world.name, level) for level in (None, *world.levels)}
    return {level: curves for level, curves in found.items() if curves}


def steps_to(mean: MeanCurve, share: float, random: float, expert: float) -> tuple[float, float] | None:
    """The step at which a mean curve first reached a score, on the scale where random actions score 0 and the expert 1.

    Args:
        mean: the curve, taken as straight between evaluations.
        share: the score. random, expert: mean returns of the two.

    Returns:
        environment steps and seconds; those of the first evaluation where it had the score already; None where the
        score was not reached, or where random and expert score alike.
    """
    if random == expert:
        return None
    scores = (mean.columns["return"] - random) / (expert - random)
    reached = np.flatnonzero(scores >= share)
    if not len(reached):
        return None
    i = max(reached[0] - 1, 0)
    j = reached[0]
    part = (share - scores[i]) / (scores[j] - scores[i]) if j > i else 0.0
    steps, seconds = (float((1 - part) * values[i] + part * values[j]) for values in _times(mean))
    return steps, seconds


def _times(mean: MeanCurve) -> tuple[np.ndarray, np.ndarray]:
    return mean.columns["steps"], mean.columns["seconds"]


# --- the section of a page --------------------------------------------------------------------------------------------


def learning_section(world: World) -> str:
    """What a world's page says of learning, in Markdown; empty where no curve ships."""
    curves = all_curves(world)
    if not curves:
        return ""
    means = {level: mean_curves(own) for level, own in curves.items()}
    differ = any(
        described(mean.algorithm, world.level(level)) != mean.algorithm for level in means for mean in means[level]
    )
    notes = {CONDITIONS: differ, SEVERAL_COSTS: len(limits_of(world.costs)) > 1, LEVELS: set(means) != {None}}
    parts = ["### Learning", " ".join([TEXT, *(note for note, holds in notes.items() if holds)])]
    for level, own in means.items():
        parts += [] if level is None else [f'Level "{level}":']
        parts += [_table(world.level(level), own, references_of(world, level))]
        parts += [f"![Learning curves of {title_of(world, level)}]({image_of(world, level)})"]
    return "\n\n".join(parts)


def image_of(world: World, level: str | None = None) -> str:
    """Where the image of the learning curves of a level (None: the defaults) lies, from the folder of the pages."""
    return f"curves/{world.name}{f'-{level}' if level else ''}.webp"


def title_of(world: World, level: str | None) -> str:
    """How the curves of a level are called."""
    return f"{world.name}, {level}" if level else world.name


def _table(world: World, means: list[MeanCurve], scores: Mapping[str, Score]) -> str:
    """Random, expert, what was learnt, and the bound; columns that say nothing are left out."""
    known = {name: scores[name] for name in ("random", "expert", "bound") if name in scores}
    rows = {name: _row_of_score(name, score, known, world) for name, score in known.items()}
    bound = [rows.pop("bound")] if "bound" in rows else []
    lines = [*rows.values(), *(_row_of_mean(mean, known, world) for mean in means), *bound]
    kept = [i for i in range(len(HEAD)) if any(line[i] for line in lines)]
    return markdown_table([HEAD[i] for i in kept], [[line[i] for i in kept] for line in lines])


def _row_of_score(name: str, score: Score, known: Mapping[str, Score], world: World) -> tuple[str, ...]:
    worst, limit, safe = cost_cells(score.costs, limits_of(world.costs))
    success = success_cell(score.success, safe)
    return name, f"{score.mean:.4g}", _scaled(score.mean, known), success, worst, limit, *[""] * 5


def _row_of_mean(mean: MeanCurve, known: Mapping[str, Score], world: World) -> tuple[str, ...]:
    ends, seeds = mean.ends, len(mean.curves)
    returns, rate = ends["return"], float(ends["success"].mean())
    several = f" ({returns.min():.4g} to {returns.max():.4g})" if seeds > 1 else ""
    worst, limit, safe = cost_cells(_costs_of(mean, world), limits_of(world.costs))
    return (
        described(mean.algorithm, world),
        f"{returns.mean():.4g}{several}",
        _scaled(returns.mean(), known),
        success_cell(rate if has_success(world) and math.isfinite(rate) else None, safe),
        worst,
        limit,
        steps_text(ends["steps"].mean()),
        time_text(ends["seconds"].mean()),
        str(seeds),
        *(_reached(mean, share, known) for share in SHARES),
    )


def described(algorithm: str, world: World) -> str:
    """An algorithm, and what its task has that the world at this level has not: as the card of its agent says, or the
    settings where a curve ships alone."""
    card = _card_of(algorithm, world)
    if card is not None:
        return card.described
    settings = _settings_of(algorithm, world)
    return with_conditions(algorithm, settings.environment, settings.to_dict())


def _costs_of(mean: MeanCurve, world: World) -> Mapping[str, float]:
    """The mean cost of an agent's episode by name; of several costs that of the agent, where there is one."""
    card = _card_of(mean.algorithm, world)
    if len(world.costs) == 1:
        keywords = _settings_of(mean.algorithm, world).environment if card is None else card.keywords
        total, agents = float(mean.ends["cost"].mean()), Setup(world_of(world.name), **keywords).agents
        return dict.fromkeys(world.costs, total / agents)
    return card.score.costs if card and card.score else {}


def _card_of(algorithm: str, world: World) -> Card | None:
    stem = own_agent(world.name, world.level_name or None, algorithm)
    return None if stem is None else read_card(stem)


def _settings_of(algorithm: str, world: World) -> Settings:
    environment = {"level": world.level_name} if world.level_name else None
    return settings_for(world.name, algorithm=algorithm, environment=environment)


def compared_rows() -> Iterator[tuple[str, ...]]:
    """Of every environment with curves of several algorithms at its defaults a row for each, the best return first."""
    for row in documented():
        world = world_of(row.id)
        means = mean_curves(curves_of(world.name))
        if len(means) > 1:
            known = {name: world.scores[name] for name in ("random", "expert") if name in world.scores}
            ordered = sorted(means, key=lambda mean: -mean.ends["return"].mean())
            for mean in ordered:
                line = _row_of_mean(mean, known, world)
                name = world.name if mean is ordered[0] else ""
                yield name, *line[:7], _updates_of(mean, world), *line[7:]


def _updates_of(mean: MeanCurve, world: World) -> str:
    """How many gradient steps a run of these settings makes in as many environment steps; for one agent alone, since
    several agents fill more batches."""
    settings = _settings_of(mean.algorithm, world)
    given, steps = settings.hyperparameters, float(mean.ends["steps"].mean())
    if world.agents:
        return ""
    if settings.algorithm in OFF_POLICY:
        rounds = (steps - given["learning_starts"]) / (settings.num_envs * given["train_freq"])
        return steps_text(max(rounds, 0.0) * given["gradient_steps"])
    return steps_text(steps / given["batch_size"] * given["n_epochs"])


def _scaled(value: float, known: Mapping[str, Score]) -> str:
    if not {"random", "expert"} <= set(known):
        return ""
    scale = normalized(value, known["random"].mean, known["expert"].mean)
    return "" if scale is None else f"{scale:.3f}"


def _reached(mean: MeanCurve, share: float, known: Mapping[str, Score]) -> str:
    """Steps and time to a share of the expert's score."""
    if not _scaled(0.0, known):
        return ""
    found = steps_to(mean, share, known["random"].mean, known["expert"].mean)
    if found is None:
        return "not reached"
    at_most = "at most " if found[0] == mean.columns["steps"][0] else ""
    return f"{at_most}{steps_text(found[0])}, {time_text(found[1])}"


def steps_text(steps: float) -> str:
    """Steps with three digits, such as 950, 62.5 k or 2 M."""
    return _with_unit(steps, {"": 1.0, " k": 1e3, " M": 1e6, " G": 1e9})


def time_text(seconds: float) -> str:
    """A time with three digits, such as 5.1 s, 12 min or 3.5 h."""
    return _with_unit(seconds, {" s": 1.0, " min": 60.0, " h": 3600.0})


def _with_unit(value: float, units: Mapping[str, float]) -> str:
    """A number with three digits, in the largest unit of which it has at least one; units in rising order."""
    rounded = float(f"{value:.3g}")
    smallest, *larger = units
    unit = next((unit for unit in reversed(larger) if rounded >= units[unit]), smallest)
    return f"{float(f'{rounded / units[unit]:.3g}'):g}{unit}"
