"""Named datasets that a world declares under `@SPEC.datasets`: players, kept steps, shuffled rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.agents.joint import Given, joint_rollouts
from rlenvs.agents.rollouts import (
    Chooser,
    Played,
    Player,
    agent_player,
    expert_player,
    mapped,
    mixture,
    random_player,
    rollouts,
)
from rlenvs.core.catalogue.registry import entry, world_of
from rlenvs.core.declare.errors import ParameterError, UnknownNameError, nearest
from rlenvs.core.declare.inputs import first_seed_of, positive
from rlenvs.core.declare.parts import Mixed, Recipe
from rlenvs.integrations.minari import ROWS, Episode, default_folder, require_minari

__all__ = ["get_dataset", "grid_filter", "recipes_of"]

SCRIPTED = {"random": random_player, "expert": expert_player}
COSTS = "costs"
TYPES = {"terminals": np.bool_, "timeouts": np.bool_}
KEYS = ("observations", "actions", "rewards", "terminals", "timeouts", "next_observations")


def recipes_of(id: str) -> dict[str, Recipe]:
    """The named datasets that a world declares."""
    declared = world_of(entry(id).id).functions.get("datasets")
    return declared() if declared else {}


def noisy_player(driver: Callable[[Any, Any], Any]) -> Player:
    """A function of observations and of noise, which is the same for the same seed whatever plays beside it."""

    def player(env: Any, seeds: Sequence[int]) -> Chooser:
        size, horizon = env.single_action_space.shape or (1,), env.batch.setup.horizon
        noise = np.stack([np.random.default_rng([seed, 3]).standard_normal((horizon, *size)) for seed in seeds], 1)
        step = -1

        def decide(observations: Any) -> Any:
            nonlocal step
            step = min(step + 1, horizon - 1)
            return driver(observations, noise[step])

        return agent_player(decide)(env, seeds)

    return player


def in_words(player: Given) -> str:
    """A player of a recipe."""
    if isinstance(player, Mixed):
        return f"{in_words(player.player)} with {player.random:g} of its actions random"
    return player if isinstance(player, str) else repr(player.__name__)


def players_in_words(recipe: Recipe) -> str:
    """Who plays how many episodes."""
    return ", ".join(f"{count} episodes of {in_words(player)}" for player, count in recipe.episodes.items())


def policy_of(player: Given) -> Player:
    """A player of a recipe for one agent.

    Raises:
        UnknownNameError: a scripted player by a name that has none.
    """
    if isinstance(player, Mixed):
        return mixture(policy_of(player.player), player.random)
    if not isinstance(player, str):
        return noisy_player(player)
    if player not in SCRIPTED:
        raise UnknownNameError(f"a recipe for one agent has no player {player!r}. {nearest(player, SCRIPTED)}")
    return SCRIPTED[player]


def played(id: str, recipe: Recipe, seed: int, keywords: Mapping[str, Any]) -> Iterator[tuple[Given, Played]]:
    """The episodes of a recipe, or what is kept of them, with their players; each has its own seed, from `seed` on."""
    first = seed
    for player, count in recipe.episodes.items():
        for found in rollouts(id, policy_of(player), range(first, first + count), keywords, recipe.wrappers):
            episodes = [piece_of(episode, recipe.kept) for episode in found.episodes]
            yield player, Played(episodes, [float(np.sum(episode.rewards)) for episode in episodes])
        first += count


def joint_played(id: str, recipe: Recipe, seed: int, keywords: Mapping[str, Any]) -> Iterator[tuple[Given, Played]]:
    """The same with all agents."""
    first = seed
    for player, count in recipe.episodes.items():
        for found in joint_rollouts(id, player, range(first, first + count), keywords):
            yield player, found
        first += count


def piece_of(episode: Episode, kept: int) -> Episode:
    """So many consecutive steps of an episode, from a place that its seed chooses; all of a shorter one, or for 0."""
    steps = len(episode.terminated)
    if not 0 < kept < steps:
        return episode
    start = int(np.random.default_rng([episode.seed or 0, 4]).integers(0, steps - kept + 1))
    one, more = slice(start, start + kept), slice(start, start + kept + 1)
    truncated = episode.truncated[one].copy()
    truncated[-1] |= not episode.terminated[one][-1]
    return Episode(
        mapped(episode.observations, lambda array: array[more].copy()),
        episode.actions[one].copy(),
        episode.rewards[one].copy(),
        episode.terminated[one].copy(),
        truncated,
        mapped(episode.infos, lambda array: array[more].copy()),
        None,
    )


def rows_of(episodes: Sequence[Episode], seed: int | None) -> dict[str, np.ndarray]:
    """All steps of episodes as rows, with the names that D4RL and OfflineMania have for them: in random order, float64;
    or where `seed` is None in their own order, with costs, float32, numbers as (N,), as DSRL has them.

    Raises:
        ParameterError: observations that are dictionaries.
    """
    if any(isinstance(episode.observations, dict) for episode in episodes):
        raise ParameterError("rows are for observations that are one array")
    parts = {
        "observations": [episode.observations[:-1] for episode in episodes],
        "actions": [episode.actions for episode in episodes],
        "rewards": [episode.rewards.reshape(len(episode.rewards), -1) for episode in episodes],
        "terminals": [episode.terminated[:, None] for episode in episodes],
        "timeouts": [episode.truncated[:, None] for episode in episodes],
        "next_observations": [episode.observations[1:] for episode in episodes],
    }
    if seed is None:
        parts["costs"] = [episode.infos["cost"][1:] for episode in episodes]
        joined = {name: np.concatenate(arrays) for name, arrays in parts.items()}
        flat = {name: array[:, 0] if array.shape[1:] == (1,) else array for name, array in joined.items()}
        wide = {"observations", "next_observations", "actions"}
        return {name: (joined if name in wide else flat)[name].astype(TYPES.get(name, np.float32)) for name in joined}
    order = np.random.default_rng([seed, 5]).permutation(sum(len(episode.terminated) for episode in episodes))
    return {name: np.concatenate(arrays).astype(np.float64)[order] for name, arrays in parts.items()}


def get_dataset(name: str, folder: Path | str | None = None) -> dict[str, np.ndarray]:
    """The rows of a named dataset: arrays "observations", "actions", "rewards", "terminals", "timeouts" and
    "next_observations", of N rows each; float64 in random order, like OfflineMania's function of this name, or of a
    dataset with costs float32 in the order of the episodes, with "costs", like DSRL's.

    Args:
        name: "rlenvs/Name-v0/<data set>-v0", made by `rlenvs dataset Name-v0 --quality <data set>`. Its episodes are
            `minari.load_dataset(name)`.
        folder: of all datasets; None is where Minari looks.

    Raises:
        UnknownNameError: no such dataset, or one without rows. MissingExtraError: h5py is not installed.
    """
    require_minari()
    import h5py

    path = (Path(folder) if folder is not None else default_folder()) / name / ROWS
    if not path.is_file():
        raise UnknownNameError(f"there are no rows of a dataset {name!r}: {path} does not exist")
    with h5py.File(path) as file:
        return {key: np.asarray(file[key]) for key in (*KEYS, COSTS) if key in file}


def grid_filter(
    rows: Mapping[str, np.ndarray],
    *,
    cost_bins: int = 10,
    return_bins: int = 50,
    most: int = 5,
    least: int = 3,
    seed: int = 0,
) -> dict[str, np.ndarray]:
    """Fewer episodes, spread more evenly over costs and returns: a grid of equal cells lies over the costs and returns
    of the episodes. A cell with fewer than `least` episodes keeps none; another one keeps `most` of them, drawn at
    random, or all where it has no more.

    After the filter of DSRL's `pre_process_data` (Liu et al., "Datasets and Benchmarks for Offline Safe Reinforcement
    Learning", 2023) with its defaults; there the largest cost and return have cells of their own.

    Args:
        rows: a dataset with costs, as `get_dataset` returns it: whole episodes, one after the other.
        cost_bins: cells along the costs, 1 or more.
        return_bins: cells along the returns, 1 or more.
        most: how many episodes a cell keeps at most; `least` or more.
        least: how many episodes a cell needs to keep any; 1 or more, and 1 empties no cell.
        seed: of the draws.

    Returns:
        The rows of the episodes that are kept, in their order.

    Raises:
        ParameterError: rows without costs, with numbers that are not finite, or that end within an episode; a number
            below 1; `least` above `most`; no cell has `least` episodes.
    """
    counts = {"cost_bins": cost_bins, "return_bins": return_bins, "most": most, "least": least}
    cost_bins, return_bins, most, least = (positive(name, value) for name, value in counts.items())
    seed = first_seed_of(seed)
    if least > most:
        raise ParameterError(f"least={least} must be at most most={most}")
    if missing := {COSTS, "rewards", "terminals", "timeouts"} - rows.keys():
        raise ParameterError(f"rows lack {sorted(missing)}; take those of a dataset with costs, such as 'costs'")
    ends = rows["terminals"].astype(bool) | rows["timeouts"].astype(bool)
    if not len(ends) or not ends[-1]:
        raise ParameterError("rows must be whole episodes: the last row needs terminals or timeouts")
    episode = np.cumsum(ends) - ends
    costs, returns = (np.bincount(episode, rows[name]) for name in (COSTS, "rewards"))
    if not (np.isfinite(costs).all() and np.isfinite(returns).all()):
        raise ParameterError("rows have costs or rewards that are not finite; they lie in no cell")
    cells = _cells_of(costs, cost_bins) * return_bins + _cells_of(returns, return_bins)
    order = np.random.default_rng([seed, 6]).permutation(len(cells))
    groups = [order[cells[order] == cell] for cell in np.unique(cells)]
    kept = [group[:most] for group in groups if len(group) >= least]
    if not kept:
        raise ParameterError(
            f"no cell has least={least} of the {len(cells)} episodes; take fewer bins or a smaller least"
        )
    chosen = np.isin(episode, np.concatenate(kept))
    return {name: array[chosen] for name, array in rows.items()}


def _cells_of(values: np.ndarray, bins: int) -> np.ndarray:
    """The cell of each value, from 0, of equal ones between the least and the largest."""
    low, high = values.min(), values.max()
    return np.minimum((values - low) * bins / (high - low or 1.0), bins - 1).astype(np.int64)
