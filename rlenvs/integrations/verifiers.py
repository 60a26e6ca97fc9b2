"""Verifiers: environments in words as tasks that language models are trained and evaluated on.

Verifiers looks for tasksets among top-level modules. Write one of your own, `rlenvs_words.py`:

    from rlenvs.integrations.verifiers import *

and then `eval rlenvs_words --env.taskset.env FrozenLake-v0`. A task is an episode: its seed decides it, the first
observation is the prompt, each further one a message of the user, each reply of the model one action. The trace gets
the return as reward, and steps, illegal actions and success as metrics.

Needs the extra `verifiers`.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rlenvs.core.catalogue.docs import sentence
from rlenvs.core.catalogue.make import text_env
from rlenvs.core.catalogue.registry import entry, world_of
from rlenvs.core.declare.errors import MissingExtraError, ParameterError
from rlenvs.core.forms.language import LONGEST_REPLY
from rlenvs.core.forms.text_env import TextEnv

try:
    import verifiers.v1 as vf
except ImportError as error:
    raise MissingExtraError("Tasks of Verifiers", "verifiers") from error

__all__ = ["Episode", "EpisodeData", "Episodes", "EpisodesConfig", "WordsEnv", "WordsEnvConfig"]

SYSTEM_PROMPT = f"""You act in an environment. Each message tells what you observe and which actions are valid. Reply
with exactly one valid action and nothing else, in at most {LONGEST_REPLY} characters."""


class EpisodesConfig(vf.TasksetConfig):
    """Which episodes are played: `--env.taskset.env`, `.level`, `.settings`, `.first_seed`, `.episodes`."""

    env: str
    level: str | None = None
    settings: dict[str, Any] = {}
    first_seed: int = 0
    episodes: int | None = None  # None: without end


class EpisodeData(vf.TaskData):
    """What decides an episode."""

    env: str
    keywords: dict[str, Any]
    seed: int


class Episode(vf.Task[EpisodeData]):
    """An episode to play."""

    def begin(self) -> tuple[TextEnv, str]:
        """The environment at the start of the episode, and what the agent reads first."""
        env = text_env(self.data.env, **self.data.keywords)
        return env, env.reset(seed=self.data.seed)[0]


class Episodes(vf.Taskset[Episode, EpisodesConfig]):
    """The episodes of an environment, seed after seed.

    Raises:
        UnknownNameError: there is no such environment.
        ParameterError: its reward is a vector, or a setting is not allowed.
    """

    INFINITE = True

    def __init__(self, config: EpisodesConfig) -> None:
        super().__init__(config)
        self._bounded = None if config.episodes is None else True
        self.name = entry(config.env).id
        if self.name.startswith("rlenvs/mo-"):
            raise ParameterError(f"the reward of {self.name} is a vector; use {self.name.replace('mo-', '')}")

    def load(self) -> Iterator[Episode]:
        """One task after the other."""
        config = self.config
        seeds = itertools.count(config.first_seed)
        keywords = {**config.settings, **({} if config.level is None else {"level": config.level})}
        for seed in itertools.islice(seeds, config.episodes):
            data = EpisodeData(
                name=f"{self.name}#{seed}",
                description=sentence(world_of(self.name).doc),
                system_prompt=SYSTEM_PROMPT,
                env=self.name,
                keywords=keywords,
                seed=seed,
            )
            yield Episode(data.model_copy(update={"prompt": Episode(data).begin()[1]}), config.task)


@dataclass
class _Outcome:
    """What came of an episode."""

    total: float = 0.0
    steps: int = 0
    illegal: int = 0
    success: bool | None = None


class WordsEnvConfig(vf.EnvConfig):
    """The model that plays: `--env.player`."""

    player: vf.AgentConfig = vf.AgentConfig()


class WordsEnv(vf.Env[WordsEnvConfig]):
    """Lets a model play an episode, its replies as actions."""

    async def run(self, task: Episode, agents: Any) -> None:
        """Play one episode to its end, or until the model's turns are used."""
        env, _ = await asyncio.to_thread(task.begin)  # it may compile
        try:
            await _play(env, task, agents)
        finally:
            env.close()


async def _play(env: TextEnv, task: Episode, agents: Any) -> None:
    """Let the model reply until the episode ends or its turns are used, and record the outcome."""
    outcome = _Outcome()
    async with agents.player.interaction(task) as interaction:
        segment = await interaction.turn()
        while not segment.terminated:
            text, reward, terminated, truncated, info = env.step(segment.last_reply)
            outcome.total, outcome.steps = outcome.total + float(reward), outcome.steps + 1
            outcome.illegal = int(info["illegal_actions"])
            outcome.success = bool(info["is_success"]) if "is_success" in info else None
            if terminated or truncated:
                break
            reason = info["illegal_reason"]
            segment = await interaction.turn(f"Your reply was not used: {reason}\n\n{text}" if reason else text)
    _record(interaction.trace, outcome)


def _record(trace: Any, outcome: _Outcome) -> None:
    trace.record_reward("return", outcome.total)
    trace.record_metric("steps", float(outcome.steps))
    trace.record_metric("illegal_actions", float(outcome.illegal))
    if outcome.success is not None:
        trace.record_metric("success", float(outcome.success))
