"""Tests that ask one question: a function, what it is given, and what is right. As data, so that a page can ask too."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np

from rlenvs.classroom.exercise import Failed, array_like, close, credit
from rlenvs.classroom.hosted import HostedEnv
from rlenvs.classroom.process import Submission
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.setup import Setup


@dataclass(frozen=True)
class World:
    """An environment among the arguments of a question. Attributes: id: without "rlenvs/". seed: of its first episode,
    the next ones have those that follow. budget: steps. resets: as in `HostedEnv`."""

    id: str
    seed: int
    budget: int
    resets: int | None = None

    def hosted(self) -> HostedEnv:
        """A new environment."""
        return HostedEnv(gymnasium.make(f"rlenvs/{self.id}"), self.seed, self.budget, self.resets)


@dataclass(frozen=True)
class Process:
    """A finite decision process. Attributes: P[a, s, s']: probabilities that the episode goes on there. R[s, a]: mean
    rewards. gamma: discount, below 1."""

    P: np.ndarray
    R: np.ndarray
    gamma: float

    def policy(self, found: Any) -> np.ndarray:
        """An answer as a policy, an action for each state.

        Raises:
            Failed: it is not one.
        """
        chosen = array_like(found, (len(self.R),), "the policy").astype(int)
        if chosen.min() < 0 or chosen.max() >= self.R.shape[1]:
            raise Failed("the policy holds numbers that are no actions")
        return chosen

    def values(self, policy: np.ndarray) -> np.ndarray:
        """The exact values of a policy."""
        rows = np.arange(len(self.R))
        left = np.eye(len(self.R)) - self.gamma * self.P[policy, rows]
        return np.linalg.solve(left, self.R[rows, policy])


@dataclass(frozen=True)
class Near:
    """Right is what differs by little from what is wanted.

    Attributes:
        wanted: numbers. what: they are, in words. within: the largest error.
        process: the answer is a policy in it, and `wanted` are the values of the policy.
    """

    wanted: Any
    what: str
    within: float = 1e-6
    process: Process | None = None

    def share(self, found: Any) -> float:
        """1. Failed where it is not right."""
        if self.process:
            found = self.process.values(self.process.policy(found))
        close(found, self.wanted, self.what, self.within)
        return 1.0


@dataclass(frozen=True)
class Worth:
    """Right is a policy that is worth much, with partial credit. Attributes: process: that it is for. start: the
    probabilities of the first state. none, full: see `credit`."""

    process: Process
    start: np.ndarray
    none: float
    full: float

    def share(self, found: Any) -> float:
        """Of the points. Failed where it is no policy."""
        values = self.process.values(self.process.policy(found))
        return credit(float(self.start @ values), self.none, self.full)


@dataclass(frozen=True)
class Question:
    """What a test asks of a submission.

    Attributes:
        function: its name. arguments: numbers, lists, arrays, and worlds.
        right: what its answer has to be, or where there are several, what each of the things that it returns has to be.
    """

    function: str
    arguments: tuple[Any, ...]
    right: tuple[Near | Worth, ...]

    def share(self, submission: Submission) -> float:
        """Ask; gives the share of the points.

        Raises:
            Failed: the answer is wrong. SubmissionError: there is none.
        """
        given = [each.hosted() if isinstance(each, World) else each for each in self.arguments]
        found, count = submission.call(self.function, *given), len(self.right)
        if count == 1:
            found = [found]
        elif not isinstance(found, list) or len(found) != count:
            raise Failed(f"{self.function} returns {count} things")
        return min(right.share(each) for right, each in zip(self.right, found, strict=True))


@dataclass(frozen=True)
class Trial:
    """What a submission plays on seeds 0 to 99, to be looked at; it gives no points.

    Attributes:
        id: of the environment. told: what is played, in words.
        code: plain Python that runs after the submission's, with a function `trial(env, practice, *arguments)` that
            plays in `env`; `practice` is for learning. It indexes arrays as lists are, `P[a][s][t]`.
        practice: steps. arguments: more that the function is given.
    """

    id: str
    told: str
    code: str
    practice: int = 0
    arguments: tuple[Any, ...] = field(default=())

    EPISODES = 100

    def worlds(self) -> tuple[World, World]:
        """What is played in, and what is for learning."""
        horizon = Setup(world_of(self.id)).horizon
        playing = World(self.id, 0, self.EPISODES * horizon, resets=self.EPISODES)
        return playing, World(self.id, self.EPISODES, self.practice)
