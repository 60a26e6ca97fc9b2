"""Named datasets that a world declares under `@SPEC.datasets`: players, kept steps, shuffled rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.agents.rollouts import Chooser, Played, Player, agent_player, expert_player, mapped, random_player, rollouts
from rlenvs.core.catalogue.registry import entry, world_of
from rlenvs.core.declare.errors import ParameterError, UnknownNameError
from rlenvs.core.declare.parts import Recipe
from rlenvs.integrations.minari import ROWS, Episode, default_folder, require_minari

__all__ = ["get_dataset", "recipes_of"]

SCRIPTED = {"random": random_player, "expert": expert_player}
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


def players_in_words(recipe: Recipe) -> str:
    """Who plays how many episodes."""
    return ", ".join(
        f"{count} episodes of {player if isinstance(player, str) else player.__name__!r}"
        for player, count in recipe.episodes.items()
    )


def played(id: str, recipe: Recipe, seed: int, keywords: dict[str, Any]) -> Iterator[Played]:
    """The episodes of a recipe, or what is kept of them; each has a seed of its own, from `seed` on."""
    first = seed
    for player, count in recipe.episodes.items():
        policy = SCRIPTED[player] if isinstance(player, str) else noisy_player(player)
        for found in rollouts(id, policy, range(first, first + count), keywords):
            episodes = [piece_of(episode, recipe.kept) for episode in found.episodes]
            yield Played(episodes, [float(np.sum(episode.rewards)) for episode in episodes])
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


def rows_of(episodes: Sequence[Episode], seed: int) -> dict[str, np.ndarray]:
    """All steps of episodes as rows in random order, float64, with the names that D4RL and OfflineMania have for them.

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
    order = np.random.default_rng([seed, 5]).permutation(sum(len(episode.terminated) for episode in episodes))
    return {name: np.concatenate(arrays).astype(np.float64)[order] for name, arrays in parts.items()}


def get_dataset(name: str, folder: Path | str | None = None) -> dict[str, np.ndarray]:
    """The rows of a named dataset, in random order: float64 arrays "observations", "actions", "rewards", "terminals",
    "timeouts" and "next_observations", of N rows each, like OfflineMania's function of this name.

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
        return {key: np.asarray(file[key]) for key in KEYS}
