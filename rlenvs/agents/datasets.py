"""Datasets for offline learning, of four qualities, from any environment: `rlenvs dataset` and `make_dataset`.

- random: every action uniform over the allowed ones.
- expert: the scripted expert, or an agent of your own.
- medium: the same, but a share of the actions is random, so many that the normalized score comes to 0.5. A
  half-trained agent of about that score plays as it is.
- replay: what a training run saw, from its first episode to its last.

A world may declare datasets of its own, by name, which are made in the same way (`recipes.py`): episodes, with rows in
random order or with costs; joint trajectories of all agents; images of windows. Episodes of all but "replay" are played
side by side in one vector environment, one per seed, so that `env.reset(seed=...)` and the actions of an episode give
its observations again, to the bit. Beside the data lie `card.json` and `card.md` (`dataset_cards.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.agents.dataset_cards import Tally, card_json, card_text
from rlenvs.agents.dataset_players import SCALE_SEEDS, Given, Scale, player_of
from rlenvs.agents.hyperparameters import settings_for
from rlenvs.agents.hyperparameters.settings import Settings
from rlenvs.agents.recipes import in_words, joint_played, played, players_in_words, recipes_of, rows_of
from rlenvs.agents.rollouts import Played, rollouts, step_bytes, watched_training, wrapped
from rlenvs.agents.windows import Collector, WindowWriter, window_rollouts
from rlenvs.core.catalogue.make import make, make_vec
from rlenvs.core.catalogue.registry import NAMESPACE, entry, world_of
from rlenvs.core.declare.errors import MissingExtraError, ParameterError, UnknownNameError, nearest
from rlenvs.core.declare.inputs import first_seed_of, positive
from rlenvs.core.declare.parts import Recipe, Windows
from rlenvs.integrations.dataset_folder import NewDataset
from rlenvs.integrations.minari import DatasetWriter, Episode, check_target, default_folder, require_minari
from rlenvs.integrations.og_marl import VaultWriter
from rlenvs.version import DISTRIBUTION, __version__

__all__ = ["Dataset", "make_dataset"]

QUALITIES = ("random", "medium", "expert", "replay")
LOADERS = {"og_marl": "rlenvs.integrations.og_marl.read_vault", "windows": "rlenvs.agents.windows.load_windows"}
REPLAY_MEMORY = 2**31  # bytes of a training run


@dataclass(frozen=True)
class Dataset:
    """A dataset written by `make_dataset`.

    Attributes:
        name: the dataset's name; `minari.load_dataset(name)` finds it where MINARI_DATASETS_PATH is `folder`.
        folder: where all datasets lie.
        policy: who played, in words.
        episodes, steps: how many there are.
        mean: mean return; of a vector reward, of its weighted sum.
        half_width: of the 95 % confidence interval of the mean return; NaN for one episode.
        score: normalized mean return, on which random actions have 0 and the best policy has 1; None where nothing
            is known to be better than random, and for pieces of episodes.
        megabytes: on disk.
        sha256: of the content (see `dataset_cards`): equal for equal data.
        layout: "minari", "og_marl" or "windows".
    """

    name: str
    folder: Path
    policy: str
    episodes: int
    steps: int
    mean: float
    half_width: float
    score: float | None
    megabytes: float
    sha256: str
    layout: str = "minari"

    @property
    def path(self) -> Path:
        """The folder of the dataset."""
        return self.folder / self.name

    @property
    def per_step(self) -> float:
        """Mean reward per step."""
        return self.mean * self.episodes / self.steps

    @property
    def usage(self) -> str:
        """How to load it."""
        if self.layout != "minari":
            return f"{LOADERS[self.layout]}({str(self.path)!r})"
        usual = self.folder == default_folder()
        return f"minari.load_dataset({self.name!r})" + ("" if usual else f" with MINARI_DATASETS_PATH={self.folder}")

    def __str__(self) -> str:
        score = "" if self.score is None else f", normalized score {self.score:.2f}"
        return (
            f"{self.name}: {self.episodes} episodes, {self.steps} steps, {self.megabytes:.1f} MB, by {self.policy}; "
            f"return {self.mean:.2f} ± {self.half_width:.2f}, {self.per_step:.4f} per step{score}; "
            f"sha256 {self.sha256[:16]}"
        )


def make_dataset(
    id: str,
    quality: str = "expert",
    episodes: int | None = None,
    *,
    folder: Path | str | None = None,
    name: str | None = None,
    agent: Given | None = None,
    seed: int = 0,
    steps: int | None = None,
    **keywords: Any,
) -> Dataset:
    """Record episodes as a dataset, Minari's where the world says nothing else, and return a summary of it.

    Args:
        id: the environment, in its single-agent form; the others of a team are played by `team`.
        quality: "random", "medium", "expert" or "replay", or the name of a dataset that the world declares
            (`recipes_of`), which goes before these; see the module.
        episodes: how many, 100 for None; the world says it of a dataset of its own. "replay" keeps
            as many, evenly spread over the training run, or all where it saw fewer.
        folder: of all datasets; None is where Minari looks, $MINARI_DATASETS_PATH or ~/.minari/datasets.
        name: of the dataset; None for "rlenvs/Name-v0/<quality>-v0".
        agent: the policy that plays instead of the scripted expert: an `Agent`, its file, or a function from
            observations to actions. Worlds without an expert take their reference agent.
        seed: episode i is played with seed + i. Of "replay", the seed of the training.
        steps: environment steps of the training run of "replay", rounded up to whole rollouts; None for those of the
            environment's settings, as for `rlenvs train`.
        keywords: of `rlenvs.make`: parameters, options, level, ...

    Raises:
        UnknownNameError: no such id, quality or keyword, or nobody who could play better than random.
        ParameterError: a malformed or taken name, a folder that cannot be written, a number out of range, an agent
            that is too poor for "medium", or for other spaces, or episodes, an agent or steps for a dataset of the
            world's own.
        AgentFileError: a file that is no agent's.
        MissingExtraError: Minari is not installed, or for "replay" Stable-Baselines3.
    """
    full = entry(id).id
    recipe = check_quality(quality, full)
    if recipe and not (episodes is None and agent is None and steps is None):
        raise ParameterError(f"{full} defines the players and episodes of its dataset {quality!r}")
    count = recipe.total if recipe else 100 if episodes is None else episodes
    _check_numbers(count, seed, steps)
    if steps is not None and quality != "replay":
        raise ParameterError(f"steps={steps} is of the quality 'replay'; leave it out for {quality!r}")
    where = (Path(folder) if folder is not None else default_folder()).absolute()
    if recipe:
        keywords = {**recipe.keywords, **keywords}
        if isinstance(recipe.layout, Windows):
            return _make_windows(full, quality, recipe, name, where, seed, keywords)
        if recipe.layout == "joint":
            return _make_joint(full, quality, recipe, name, where, seed, keywords)
    return _make_minari(full, quality, recipe, name, where, range(seed, seed + count), agent, steps, keywords)


def _make_minari(
    id: str,
    quality: str,
    recipe: Recipe | None,
    name: str | None,
    where: Path,
    seeds: range,
    agent: Given | None,
    steps: int | None,
    keywords: dict[str, Any],
) -> Dataset:
    """Episodes of one agent, in Minari's layout."""
    require_minari()
    name = name or f"{id}/{quality}-v0"
    check_target(name, where)
    settings = replay_settings(id, steps, keywords) if quality == "replay" and not recipe else None
    keywords = settings.environment if settings else keywords
    env = wrapped(make(id, **keywords), recipe.wrappers if recipe else ())
    try:
        scale = Scale.measured(id, agent, keywords, needed=quality in ("medium", "expert") and not recipe)
        chunks, player = _episodes(id, quality, recipe, settings, scale, seeds)
        known = None if recipe and recipe.kept else scale  # pieces of episodes have no score
        about = _about(id, quality, player, known)
        told = _told(id, quality, recipe, name, seeds.start, keywords)
        tally = _write(env, where, about, told, chunks, recipe, known)
    finally:
        env.close()
    return _report(name, where, player, tally, known)


def _episodes(
    id: str, quality: str, recipe: Recipe | None, settings: Settings | None, scale: Scale, seeds: range
) -> tuple[Iterable[tuple[str, Played]], str]:
    """The episodes of a dataset as they are played, each part with its player, and who plays, in words.

    Args:
        id: the environment.
        quality: see `make_dataset`.
        recipe: of a dataset of the world's own.
        settings: of a training run that is watched.
        scale: says who plays otherwise, and with what keywords of `make`.
        seeds: of the episodes; the first one is that of a recipe or of the training.
    """
    if recipe:
        found = played(id, recipe, seeds.start, scale.keywords)
        return ((in_words(who), part) for who, part in found), players_in_words(recipe)
    if settings:
        told = f"{settings.algorithm} in the course of its training, {settings.steps} steps"
        return ((told, part) for part in watched_training(id, settings, len(seeds), seeds.start)), told
    policy, player = player_of(quality, scale)
    return ((player, part) for part in rollouts(id, policy, seeds, scale.keywords)), player


def _about(id: str, quality: str, player: str, scale: Scale | None) -> dict[str, Any]:
    """What a Minari dataset says of itself."""
    return {
        "algorithm_name": player,
        "description": f"{id}, quality {quality!r}, by {NAMESPACE} {__version__}",
        "requirements": [f"{DISTRIBUTION}>={__version__}"],
        **(scale.about() if scale else {}),
    }


def _told(
    id: str, quality: str, recipe: Recipe | None, name: str, seed: int, keywords: Mapping[str, Any]
) -> dict[str, Any]:
    """The head of a card."""
    return {
        "name": name,
        "id": id,
        "quality": quality,
        "what": recipe.doc if recipe else "",
        "keywords": dict(keywords),
        "wrappers": [dict(each) for each in recipe.wrappers] if recipe else [],
        "seed": seed,
        "made_with": f"{NAMESPACE} {__version__}",
    }


def _write(
    env: Any,
    where: Path,
    about: dict[str, Any],
    told: dict[str, Any],
    chunks: Iterable[tuple[str, Played]],
    recipe: Recipe | None,
    scale: Scale | None,
) -> Tally:
    """Write Minari episodes as they come, their rows where the recipe wants them, and the card."""
    tally = Tally(_limit_of(told["id"]))
    rows = recipe is not None and recipe.layout in ("rows", "costs")
    kept: list[Episode] = []
    with DatasetWriter(told["name"], env, where, about) as writer:
        for player, found in chunks:
            writer.add(found.episodes)
            tally.add(found, player)
            kept.extend(found.episodes if rows else [])
        if rows:
            assert recipe is not None
            writer.add_rows(rows_of(kept, None if recipe.layout == "costs" else told["seed"]))
        writer.note({"quality": told["quality"], "mean_return": float(np.mean(tally.returns)), "sha256": tally.digest})
        _add_card(writer, tally, told, scale)
    return tally


def _limit_of(id: str) -> float | None:
    """The least of the usual limits of a world's costs."""
    return min(world_of(id).cost_limits.values(), default=None)


def _add_card(writer: NewDataset, tally: Tally, told: dict[str, Any], scale: Scale | None) -> None:
    card = tally.card(told, scale.on_card(float(np.mean(tally.returns))) if scale else {})
    writer.add_text("card.json", card_json(card))
    writer.add_text("card.md", card_text(card))


def _make_joint(
    id: str, quality: str, recipe: Recipe, name: str | None, where: Path, seed: int, keywords: dict[str, Any]
) -> Dataset:
    """Joint trajectories, in OG-MARL's layout; a dataset "3m-Good" is "rlenvs/Name-v0/3m.vlt/Good"."""
    scenario, _, uid = quality.rpartition("-")
    name = name or f"{id}/{scenario or 'joint'}.vlt/{uid}"
    told, tally = _told(id, quality, recipe, name, seed, keywords), Tally(_limit_of(id))
    with VaultWriter(name, where, {"rlenvs": told}) as writer:
        scale = Scale.joint(id, keywords)
        for player, found in joint_played(id, recipe, seed, keywords):
            writer.add(found.episodes)
            tally.add(found, in_words(player))
        _add_card(writer, tally, told, scale)
    return _report(name, where, players_in_words(recipe), tally, scale, "og_marl")


def _make_windows(
    id: str, quality: str, recipe: Recipe, name: str | None, where: Path, seed: int, keywords: dict[str, Any]
) -> Dataset:
    """Images that summarize windows."""
    assert isinstance(recipe.layout, Windows)
    name = name or f"{id}/{quality}-v0"
    told, tally, collector = _told(id, quality, recipe, name, seed, keywords), Tally(), Collector(recipe.layout)
    told["classes"] = [f"{each}, {half} half" for each in recipe.layout.classes for half in ("first", "second")]
    with WindowWriter(name, where) as writer:
        for player, found in window_rollouts(id, recipe, seed, keywords, collector):
            tally.add(found, in_words(player), stored=False)
        writer.arrays = collector.arrays()
        tally.hash_arrays(writer.arrays)
        told["windows"] = len(writer.arrays["label"])
        _add_card(writer, tally, told, None)
    return _report(name, where, players_in_words(recipe), tally, None, "windows")


def _check_numbers(episodes: int, seed: int, steps: int | None) -> None:
    positive("episodes", episodes)
    first_seed_of(seed)
    if steps is not None:
        positive("steps", steps)
    if seed + episodes > SCALE_SEEDS.start:
        raise ParameterError(f"seed={seed} is too large; seeds up to {SCALE_SEEDS.start - episodes} fit")


def check_quality(quality: str, id: str) -> Recipe | None:
    """The world's own recipe of this name, None for a quality that every world has; UnknownNameError for neither."""
    own = recipes_of(id)
    if quality not in own and quality not in QUALITIES:
        raise UnknownNameError(f"there is no quality {quality!r}. {nearest(str(quality), (*QUALITIES, *own))}")
    return own.get(quality)


def _report(name: str, folder: Path, player: str, tally: Tally, scale: Scale | None, layout: str = "minari") -> Dataset:
    mean, count = float(np.mean(tally.returns)), len(tally.returns)
    half_width = 1.96 * float(np.std(tally.returns, ddof=1)) / math.sqrt(count) if count > 1 else math.nan
    size = sum(file.stat().st_size for file in (folder / name).rglob("*") if file.is_file())
    score = scale.score(mean) if scale else None
    steps = int(np.sum(tally.lengths))
    return Dataset(name, folder, player, count, steps, mean, half_width, score, size / 1e6, tally.digest, layout)


# --- what a training run saw ------------------------------------------------------------------------------------------


def replay_settings(id: str, steps: int | None, keywords: dict[str, Any]) -> Settings:
    """The settings of a training run that can be recorded.

    Rewards are those of the environment, even where the settings have others for training.

    Raises:
        ParameterError: several agents, a vector reward, or more than fits into memory.
        MissingExtraError: Stable-Baselines3 is not installed.
    """
    try:
        import stable_baselines3  # noqa: F401
    except ImportError:
        raise MissingExtraError("A dataset of what training saw", "sb3") from None
    if id.startswith(f"{NAMESPACE}/mo-"):
        raise ParameterError(
            f"{id}: the training run of 'replay' does not support vector rewards; use the id without 'mo-'"
        )
    settings = replace(settings_for(id, steps=steps, environment=keywords), training={})
    env: Any = make_vec(id, 1, **settings.environment)
    agents, size = env.batch.agents, step_bytes(env)
    env.close()
    if agents > 1:
        raise ParameterError(
            f"{id}: 'replay' is for one agent. Here all {agents} agents learn at once, and the dataset's environment, "
            "in which one plays with scripted ones, would not be what was seen"
        )
    if settings.steps * size > REPLAY_MEMORY:
        raise ParameterError(
            f"{id}: {settings.steps} steps of {size} bytes do not fit into {REPLAY_MEMORY / 1e9:.1f} GB; "
            f"at most {REPLAY_MEMORY // size} steps do"
        )
    return settings
