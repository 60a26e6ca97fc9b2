"""Datasets for offline learning, of four qualities, from any environment: `rlenvs dataset` and `make_dataset`.

- random: every action uniform over the allowed ones.
- expert: the scripted expert, or an agent of your own.
- medium: the same, but a share of the actions is random, so many that the normalized score comes to 0.5. A
  half-trained agent of about that score plays as it is.
- replay: what a training run saw, from its first episode to its last.

A world may declare datasets of its own, by name, which are made in the same way and stored as episodes and as rows in
random order (`recipes.py`). Episodes of all but "replay" are played side by side in one vector environment, one per
seed, so that `env.reset(seed=...)` and the actions of an episode give its observations again, to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.agents.agent import Agent
from rlenvs.agents.evaluate import scale_score
from rlenvs.agents.files import load_agent
from rlenvs.agents.hyperparameters import settings_for
from rlenvs.agents.hyperparameters.settings import Settings
from rlenvs.agents.recipes import played, players_in_words, recipes_of, rows_of
from rlenvs.agents.rollouts import (
    Played,
    Player,
    agent_player,
    expert_player,
    mixture,
    random_player,
    rollouts,
    step_bytes,
    watched_training,
)
from rlenvs.core.catalogue.make import make, make_vec
from rlenvs.core.catalogue.registry import NAMESPACE, entry, world_of
from rlenvs.core.declare.errors import MissingExtraError, ParameterError, UnknownNameError, nearest
from rlenvs.core.declare.inputs import first_seed_of, positive
from rlenvs.core.declare.parts import Recipe
from rlenvs.integrations.minari import DatasetWriter, Episode, check_target, default_folder, require_minari
from rlenvs.version import __version__

__all__ = ["Dataset", "make_dataset"]

QUALITIES = ("random", "medium", "expert", "replay")
MEDIUM = 0.5  # normalised score
CLOSE = 0.1  # an agent within this of MEDIUM plays as it is
TOO_POOR = 0.25  # normalised score below which nothing is made of an agent
HALVINGS = 8  # of the share of random actions
SCALE_SEEDS = range(2**31 - 100, 2**31)  # far from those of the data
REPLAY_MEMORY = 2**31  # bytes of a training run

# who may be given to play: an agent, its file, or a function from observations to actions
Given = Agent | str | Path | Callable[[Any], Any]


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

    @property
    def per_step(self) -> float:
        """Mean reward per step."""
        return self.mean * self.episodes / self.steps

    @property
    def usage(self) -> str:
        """How to load it."""
        usual = self.folder == default_folder()
        return f"minari.load_dataset({self.name!r})" + ("" if usual else f" with MINARI_DATASETS_PATH={self.folder}")

    def __str__(self) -> str:
        score = "" if self.score is None else f", normalized score {self.score:.2f}"
        return (
            f"{self.name}: {self.episodes} episodes, {self.steps} steps, {self.megabytes:.1f} MB, by {self.policy}; "
            f"return {self.mean:.2f} ± {self.half_width:.2f}, {self.per_step:.4f} per step{score}"
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
    """Record episodes as a Minari dataset, and return a summary of it.

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
    count = sum(recipe.episodes.values()) if recipe else 100 if episodes is None else episodes
    _check_numbers(count, seed, steps)
    require_minari()
    name = name or f"{full}/{quality}-v0"
    where = (Path(folder) if folder is not None else default_folder()).absolute()
    check_target(name, where)
    settings = replay_settings(full, steps, keywords) if quality == "replay" and not recipe else None
    keywords = settings.environment if settings else keywords
    env = make(full, **keywords)
    try:
        scale = Scale.measured(full, agent, keywords, needed=quality in ("medium", "expert"))
        chunks, player = _episodes(full, quality, recipe, settings, scale, range(seed, seed + count))
        known = None if recipe and recipe.kept else scale  # pieces of episodes have no score
        about = _about(full, quality, player, known)
        returns, lengths = _write(name, env, where, about, chunks, quality, seed if recipe else None)
    finally:
        env.close()
    return _report(name, where, player, returns, lengths, known)


def _episodes(
    id: str, quality: str, recipe: Recipe | None, settings: Settings | None, scale: Scale, seeds: range
) -> tuple[Iterable[Played], str]:
    """The episodes of a dataset as they are played, and who plays, in words.

    Args:
        id: the environment.
        quality: see `make_dataset`.
        recipe: of a dataset of the world's own.
        settings: of a training run that is watched.
        scale: says who plays otherwise, and with what keywords of `make`.
        seeds: of the episodes; the first one is that of a recipe or of the training.
    """
    if recipe:
        return played(id, recipe, seeds.start, scale.keywords), players_in_words(recipe)
    if settings:
        told = f"{settings.algorithm} in the course of its training, {settings.steps} steps"
        return watched_training(id, settings, len(seeds), seeds.start), told
    policy, player = _player(quality, scale)
    return rollouts(id, policy, seeds, scale.keywords), player


def _about(id: str, quality: str, player: str, scale: Scale | None) -> dict[str, Any]:
    """What a dataset says of itself."""
    return {
        "algorithm_name": player,
        "description": f"{id}, quality {quality!r}, by {NAMESPACE} {__version__}",
        "requirements": [f"{NAMESPACE}>={__version__}"],
        **(scale.about() if scale else {}),
    }


def _write(
    name: str, env: Any, where: Path, about: dict[str, Any], chunks: Iterable[Played], quality: str, order: int | None
) -> tuple[list[float], list[int]]:
    """Write episodes as they come, and with a seed of an order their rows too. Gives their returns and lengths."""
    returns: list[float] = []
    lengths: list[int] = []
    kept: list[Episode] = []
    with DatasetWriter(name, env, where, about) as writer:
        for found in chunks:
            writer.add(found.episodes)
            returns.extend(found.returns)
            lengths.extend(len(episode.terminated) for episode in found.episodes)
            kept.extend(found.episodes if order is not None else [])
        if order is not None:
            writer.add_rows(rows_of(kept, order))
        writer.note({"quality": quality, "mean_return": float(np.mean(returns))})
    return returns, lengths


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


def _report(
    name: str, folder: Path, player: str, returns: Sequence[float], lengths: Sequence[int], scale: Scale | None
) -> Dataset:
    mean, count = float(np.mean(returns)), len(returns)
    half_width = 1.96 * float(np.std(returns, ddof=1)) / math.sqrt(count) if count > 1 else math.nan
    size = sum(file.stat().st_size for file in (folder / name).rglob("*") if file.is_file())
    score = scale.score(mean) if scale else None
    return Dataset(name, folder, player, count, int(np.sum(lengths)), mean, half_width, score, size / 1e6)


# --- policies ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scale:
    """Mean returns between which scores are normalized, and who played the upper one."""

    random: float
    best: float
    policy: Player | None
    in_words: str
    id: str
    keywords: dict[str, Any]

    @classmethod
    def measured(cls, id: str, given: Given | None, keywords: dict[str, Any], needed: bool) -> Scale:
        """Played on seeds apart from those of the data. The upper end is the scripted expert's where there is one."""
        policy, in_words = _best_player(id, given, keywords)
        if policy is None and needed:
            raise UnknownNameError(
                f"{id} has neither a scripted expert nor a reference agent; give an agent, or use quality='random'"
            )
        upper = expert_player if world_of(id).has_expert else policy
        best = math.nan if upper is None else mean_return(id, upper, keywords)
        return cls(mean_return(id, random_player, keywords), best, policy, in_words, id, keywords)

    def score(self, mean: float) -> float | None:
        """A mean return on the scale; None where there is none."""
        if math.isnan(self.best) or self.best == self.random:
            return None
        return scale_score(mean, self.random, self.best)

    def about(self) -> dict[str, Any]:
        """The scale as Minari's `get_normalized_score` requires it."""
        if math.isnan(self.best):
            return {}
        return {
            "ref_min_score": self.random,
            "ref_max_score": self.best,
            "num_episodes_average_score": len(SCALE_SEEDS),
        }


def mean_return(id: str, policy: Player, keywords: dict[str, Any]) -> float:
    """Mean return over SCALE_SEEDS."""
    return float(np.mean([value for played in rollouts(id, policy, SCALE_SEEDS, keywords) for value in played.returns]))


def _best_player(id: str, given: Given | None, keywords: dict[str, Any]) -> tuple[Player | None, str]:
    """Who plays best, and in words: what was given, else the scripted expert, else the reference agent, else nobody."""
    plain = id.replace("/mo-", "/")
    if isinstance(given, (str, Path)):
        given = load_agent(given, id=plain)
    if given is None and world_of(id).has_expert:
        return expert_player, "the scripted expert"
    if given is None:
        try:
            given = load_agent(plain, level=keywords.get("level"))
        except UnknownNameError:
            return None, ""
    if not callable(given):
        raise ParameterError(f"agent={given!r} must be an agent, its file, or a function from observations to actions")
    if isinstance(given, Agent):
        return agent_player(given), f"an agent, {given.card.learner}, {given.card.steps} steps"
    return agent_player(given), f"the function {getattr(given, '__name__', type(given).__name__)}"


def _player(quality: str, scale: Scale) -> tuple[Player, str]:
    """Who plays, and in words."""
    if quality == "random":
        return random_player, "uniformly random actions"
    assert scale.policy is not None
    share = random_share(scale) if quality == "medium" else 0.0
    if share == 0.0:
        return scale.policy, scale.in_words
    return mixture(scale.policy, share), f"{scale.in_words}, of whose actions a share of {share:.3f} is random"


def random_share(scale: Scale) -> float:
    """The share of random actions with which the normalized score is about MEDIUM, by halving an interval.

    Raises:
        ParameterError: the agent itself is no better than TOO_POOR, or is not better than random.
    """
    assert scale.policy is not None
    policy = scale.policy

    def score(share: float) -> float:
        found = scale.score(mean_return(scale.id, mixture(policy, share), scale.keywords))
        if found is None:
            raise ParameterError(
                f"{scale.id}: random actions and {scale.in_words} have the same score, so there is nothing in between"
            )
        return found

    own = score(0.0)
    if own < TOO_POOR:
        raise ParameterError(
            f"{scale.id}: {scale.in_words} has a normalized score of {own:.2f}; 'medium' needs about {MEDIUM} or more"
        )
    if own <= MEDIUM + CLOSE:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if score(middle) > MEDIUM else (low, middle)
    return (low + high) / 2


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
