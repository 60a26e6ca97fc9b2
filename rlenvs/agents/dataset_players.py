"""Who plays the episodes of a dataset, and the scale of returns on which it is rated."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.agents.agent import Agent
from rlenvs.agents.evaluate import scale_score
from rlenvs.agents.files import load_agent
from rlenvs.agents.joint import has_player, joint_rollouts
from rlenvs.agents.rollouts import Player, agent_player, expert_player, mixture, random_player, rollouts
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError, UnknownNameError

MEDIUM = 0.5  # normalised score
CLOSE = 0.1  # an agent within this of MEDIUM plays as it is
TOO_POOR = 0.25  # normalised score below which nothing is made of an agent
HALVINGS = 8  # of the share of random actions
SCALE_SEEDS = range(2**31 - 100, 2**31)  # far from those of the data

# who may be given to play: an agent, its file, or a function from observations to actions
Given = Agent | str | Path | Callable[[Any], Any]


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

    @classmethod
    def joint(cls, id: str, keywords: dict[str, Any]) -> Scale:
        """The same with all agents played alike, and returns that are means over agents."""
        ends = [
            math.fsum(value for part in joint_rollouts(id, player, SCALE_SEEDS, keywords) for value in part.returns)
            for player in ("random", "expert")
            if player == "random" or has_player(id)
        ]
        random, best = (*(end / len(SCALE_SEEDS) for end in ends), math.nan)[:2]
        return cls(random, best, None, "", id, keywords)

    def on_card(self, mean: float) -> dict[str, float | None]:
        """The scale and a mean return on it."""
        return {"random": self.random, "best": self.best, "score": self.score(mean)}

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


def player_of(quality: str, scale: Scale) -> tuple[Player, str]:
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
