"""The single-agent text form as a team of one, so that a session knows teams only."""

from __future__ import annotations

from typing import Any

from rlenvs.core.forms.text_env import TextEnv, TextSnapshot

NAME = ""  # of the agent


class Alone:
    """A `TextEnv` with the methods of `TextParallelEnv` that sessions use."""

    possible_agents = agents = [NAME]

    def __init__(self, env: TextEnv) -> None:
        self.env = env

    def reset(self, seed: int | None = None) -> tuple[dict[str, str], dict[str, Any]]:
        """Start an episode."""
        text, info = self.env.reset(seed=seed)
        return {NAME: text}, {NAME: info}

    def step(self, actions: dict[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        """Advance by one step. EpisodeOverError when the episode is over."""
        text, reward, terminated, truncated, info = self.env.step(actions[NAME])
        return {NAME: text}, {NAME: reward}, {NAME: terminated}, {NAME: truncated}, {NAME: info}

    def get_state(self) -> TextSnapshot:
        """A snapshot."""
        return self.env.get_state()

    def set_state(self, snapshot: TextSnapshot) -> None:
        """Restore a snapshot."""
        self.env.set_state(snapshot)

    def close(self) -> None:
        """Close the environment."""
        self.env.close()
