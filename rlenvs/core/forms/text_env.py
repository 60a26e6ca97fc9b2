"""Environments for language agents, with text observations and text actions.

The world, its rewards and its ends are those of the numeric forms; `rlenvs.core.forms.language` says how a reply is
read. A reply that is no order, or an order that is not legal, is replaced by a legal action (the world's no-op, where
it names one, else the lowest; `TextOptions.fallback` has others) and counted: info has "illegal_actions", how many
there were in this episode, and "illegal_reason", why in this step ("" when it was fine). The mask of the numeric form
is info["legal_choices"] here, since learners take an "action_mask" for one of the action space. An agent that does not
speak may give `NumericAction(action)`, an action of the numeric form; it is checked and counted in the same way.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import gymnasium
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo import ParallelEnv as PettingZooParallelEnv
from pettingzoo.utils.conversions import parallel_to_aec

from rlenvs.core.batch.snapshots import Snapshot
from rlenvs.core.declare.errors import ActionError, SnapshotError, shortened
from rlenvs.core.declare.inputs import positive, seed_of
from rlenvs.core.declare.spec import World
from rlenvs.core.forms.dialogue import LONGEST_DESCRIPTION, Dialogue, PastTurn, TextOptions
from rlenvs.core.forms.dialogue import NumericAction as NumericAction
from rlenvs.core.forms.gym_env import FIRST, Env
from rlenvs.core.forms.language import LONGEST_REPLY, Interpreter, split_message
from rlenvs.core.forms.parallel_env import ParallelEnv

CHARACTERS = frozenset(string.printable)


class TextSnapshot(NamedTuple):
    """A world, how many illegal actions its agents have given in this episode, what they said last, and the turns
    before, of each agent (where `text_history` asks for them)."""

    world: Snapshot
    illegal: tuple[int, ...]
    said: tuple[str, ...] = ()
    turns: tuple[tuple[PastTurn, ...], ...] = ()


def _world_in(snapshot: Any, agents: int) -> Snapshot:
    """The world's part of a snapshot; SnapshotError when it is none of a text form with so many agents."""
    if not isinstance(snapshot, TextSnapshot) or not isinstance(snapshot.illegal, tuple):
        raise SnapshotError(f"needed: a snapshot of a text environment, not {shortened(snapshot)}")
    if len(snapshot.illegal) != agents:
        raise SnapshotError(f"the snapshot is of {len(snapshot.illegal)} agents; needed: {agents}")
    if not all(type(count) is int and count >= 0 for count in snapshot.illegal):
        raise SnapshotError("the illegal actions of the snapshot are not a count for each agent")
    if len(snapshot.said) not in (0, agents) or not all(isinstance(message, str) for message in snapshot.said):
        raise SnapshotError("the messages of the snapshot are not a text for each agent")
    if len(snapshot.turns) not in (0, agents) or not all(map(_are_turns, snapshot.turns)):
        raise SnapshotError("the turns of the snapshot are not those of each agent")
    return snapshot.world


def _are_turns(turns: Any) -> bool:
    return isinstance(turns, tuple) and all(
        isinstance(turn, PastTurn) and all(isinstance(part, str) for part in turn) for turn in turns
    )


def _dialogues(options: TextOptions, turns: Sequence[Sequence[PastTurn]], agents: int) -> list[Dialogue]:
    """A dialogue for each agent, with the turns of a snapshot where it has some."""
    return [Dialogue(options, own) for own in (turns or [()] * agents)]


def description_space() -> spaces.Text:
    """The space of textual observations."""
    return spaces.Text(LONGEST_DESCRIPTION, charset=CHARACTERS)


def reply_space() -> spaces.Text:
    """The space of replies."""
    return spaces.Text(LONGEST_REPLY, min_length=0, charset=CHARACTERS)


def _note(info: dict[str, Any], illegal: int, reason: str) -> dict[str, Any]:
    """The info of the numeric form and what became of the reply."""
    if "action_mask" in info:
        info["legal_choices"] = info.pop("action_mask")
    info["illegal_actions"] = illegal
    info["illegal_reason"] = reason
    return info


class TextParallelEnv(PettingZooParallelEnv):
    """A text environment with PettingZoo's parallel API.

    Args:
        world, keywords: as for `ParallelEnv`, which it is in `numeric`.
        messages: how many characters of `<say(message)>`, after its order, others read of a reply in the next step;
            those that the world names, all if it names none.
        text_history, text_tokens, reply_tokens, fallback: see `TextOptions`.

    Raises:
        What `ParallelEnv` raises. ParameterError: a length of messages, or an option, that is none.
    """

    metadata = ParallelEnv.metadata

    def __init__(
        self,
        world: World | str,
        messages: int = 0,
        *,
        text_history: int = 0,
        text_tokens: int = 0,
        reply_tokens: int = 0,
        fallback: str = "wait",
        **keywords: Any,
    ) -> None:
        self.options = TextOptions(text_history, text_tokens, reply_tokens, fallback)
        self.messages = messages if messages == 0 else min(positive("messages", messages), LONGEST_REPLY)
        self.numeric = ParallelEnv(world, **keywords)
        self.metadata = self.numeric.metadata
        self.render_mode = self.numeric.render_mode
        self.possible_agents = self.numeric.possible_agents
        self.state_space = self.numeric.state_space
        self.observation_spaces = {agent: description_space() for agent in self.possible_agents}
        self.action_spaces = {agent: reply_space() for agent in self.possible_agents}
        self._index = {agent: k for k, agent in enumerate(self.possible_agents)}
        self._interpreter = Interpreter(self.numeric.batch, self.options)
        self._begin()

    @property
    def agents(self) -> list[str]:
        """The agents that act next."""
        return self.numeric.agents

    def observation_space(self, agent: str) -> spaces.Text:
        """The observation space of an agent, the same object on every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Text:
        """The action space of an agent, the same object on every call."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, str], dict[str, Any]]:
        """Start an episode with all agents. Arguments as for the numeric environment."""
        _, infos = self.numeric.reset(seed, options)
        self._begin()
        return self._told(self.agents), self._noted(infos, {})

    def _begin(self) -> None:
        self._illegal = dict.fromkeys(self.possible_agents, 0)
        self._said = dict.fromkeys(self.possible_agents, "")
        self._dialogues = _dialogues(self.options, (), len(self.possible_agents))

    def step(self, actions: dict[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        """Advance by one step, with a reply of every living agent. Any reply is accepted; see the module docstring.

        Raises:
            ActionError: a reply is missing, or there is no such agent; with fallback="error" a reply is no legal
                action. Nothing has moved then.
            EpisodeOverError: no agent is alive.
        """
        if not isinstance(actions, Mapping):
            raise ActionError(f"actions={shortened(actions)} must be a dictionary with a reply for each agent")
        replies, said = self._heard_in(actions)
        read = {agent: self._interpreter.act(reply, self._index[agent]) for agent, reply in replies.items()}
        numeric: dict[str, Any] = {agent: None for agent in actions if agent not in read}
        numeric.update({agent: action for agent, (action, _) in read.items()})
        observed, rewards, ends, cuts, infos = self.numeric.step(numeric)
        self._said = said
        reasons = {agent: reason for agent, (_, reason) in read.items()}
        for agent, reason in reasons.items():
            self._illegal[agent] += reason != ""
            self._dialogues[self._index[agent]].add(actions[agent], rewards.get(agent, 0.0), reason)
        return self._told(list(observed)), rewards, ends, cuts, self._noted(infos, reasons)

    def fault(self, agent: str, reply: Any) -> str:
        """Why a reply of an agent would be replaced now; "" for a legal one."""
        said = split_message(self.options.cut_reply(reply))[0] if self.messages else reply
        return self._interpreter.read(said, self._index[agent])[1]

    def idle_action(self, agent: str) -> Any:
        """What an agent does that says nothing: a legal action of the numeric form."""
        return self._interpreter.idle(self._index[agent])

    def _heard_in(self, actions: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """The replies without their messages, and the messages of all agents."""
        replies = {agent: actions[agent] for agent in self.agents if agent in actions}
        said = dict.fromkeys(self.possible_agents, "")
        if self.messages:
            for agent, reply in replies.items():
                replies[agent], message = split_message(self.options.cut_reply(reply))
                said[agent] = message[: self.messages]
        return replies, said

    def _told(self, agents: list[str]) -> dict[str, str]:
        return {agent: self._dialogues[self._index[agent]].tell(self._described(agent)) for agent in agents}

    def _described(self, agent: str) -> str:
        return "\n".join([self._interpreter.describe(self._index[agent]), *self._messages_for(agent)])

    def _messages_for(self, agent: str) -> list[str]:
        """What others have said to an agent, and how it may speak, a line each."""
        if not self.messages:
            return []
        k, hears = self._index[agent], self.numeric.batch.world.functions.get("hears")
        others = range(len(self.possible_agents)) if hears is None else hears(*self.numeric.batch.records(0), k)
        heard = [self.possible_agents[each] for each in others if each != k]
        return [
            *(f"{other} says: {self._said[other]}" for other in heard if self._said[other]),
            f"After the order, <say(message)> tells others up to {self.messages} characters.",
        ]

    def _noted(self, infos: dict[str, Any], reasons: dict[str, str]) -> dict[str, Any]:
        return {agent: _note(info, self._illegal[agent], reasons.get(agent, "")) for agent, info in infos.items()}

    def state(self) -> Any:
        """The input of a centralized critic, in numbers."""
        return self.numeric.state()

    def render(self) -> Any:
        """The image, as `render_mode` says."""
        return self.numeric.render()

    def close(self) -> None:
        """Close the window and the physics engine, if any. Can be called twice."""
        self.numeric.close()

    def get_state(self) -> TextSnapshot:
        """A picklable copy of the world and of the counters."""
        turns = tuple(dialogue.turns for dialogue in self._dialogues)
        return TextSnapshot(self.numeric.get_state(), tuple(self._illegal.values()), tuple(self._said.values()), turns)

    def set_state(self, snapshot: TextSnapshot) -> dict[str, str]:
        """Restore a snapshot; returns the descriptions for the agents alive in it."""
        self.numeric.set_state(_world_in(snapshot, len(self.possible_agents)))
        self._begin()
        self._illegal.update(zip(self.possible_agents, snapshot.illegal, strict=True))
        self._said.update(zip(self.possible_agents, snapshot.said, strict=bool(snapshot.said)))
        self._dialogues = _dialogues(self.options, snapshot.turns, len(self.possible_agents))
        return self._told(self.agents)


class TextEnv(gymnasium.Env):
    """A text environment with the Gymnasium API, for the world's first agent.

    Args:
        world, keywords: as for `Env`, which it is in `numeric`.
        text_history, text_tokens, reply_tokens, fallback: see `TextOptions`.

    Raises:
        What `Env` raises. ParameterError: an option that is none.
    """

    metadata = Env.metadata

    def __init__(
        self,
        world: World | str,
        *,
        text_history: int = 0,
        text_tokens: int = 0,
        reply_tokens: int = 0,
        fallback: str = "wait",
        **keywords: Any,
    ) -> None:
        self.options = TextOptions(text_history, text_tokens, reply_tokens, fallback)
        self.numeric = Env(world, **keywords)
        self.metadata = self.numeric.metadata
        self.render_mode = self.numeric.render_mode
        self.observation_space: spaces.Text = description_space()
        self.action_space: spaces.Text = reply_space()
        self._interpreter = Interpreter(self.numeric.batch, self.options)
        self._illegal, self._dialogue = 0, Dialogue(self.options)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Start an episode. Arguments as for the numeric environment."""
        _, info = self.numeric.reset(seed=seed, options=options)
        super().reset(seed=seed_of(seed))
        self._illegal, self._dialogue = 0, Dialogue(self.options)
        return self._told(), _note(info, 0, "")

    def step(self, action: Any) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        """Advance by one step. Any reply is accepted; see the module docstring.

        Raises:
            ActionError: with fallback="error", the reply is no legal action. Nothing has moved then.
            EpisodeOverError: the episode is over.
        """
        chosen, reason = self._interpreter.act(action, FIRST[1])
        _, reward, terminated, truncated, info = self.numeric.step(chosen)
        self._illegal += reason != ""
        self._dialogue.add(action, reward, reason)
        return self._told(), reward, terminated, truncated, _note(info, self._illegal, reason)

    def _told(self) -> str:
        return self._dialogue.tell(self._interpreter.describe(FIRST[1]))

    def render(self) -> Any:
        """The image, as `render_mode` says."""
        return self.numeric.render()

    def close(self) -> None:
        """Close the window and the physics engine, if any. Can be called twice."""
        self.numeric.close()

    def get_state(self) -> TextSnapshot:
        """A picklable copy of the world and of the counter."""
        return TextSnapshot(self.numeric.get_state(), (self._illegal,), (), (self._dialogue.turns,))

    def set_state(self, snapshot: TextSnapshot) -> str:
        """Restore a snapshot; returns its description."""
        self.numeric.set_state(_world_in(snapshot, 1))
        self._illegal = snapshot.illegal[0]
        (self._dialogue,) = _dialogues(self.options, snapshot.turns, 1)
        return self._told()


def text_aec_env(world: World | str, **keywords: Any) -> AECEnv:
    """The agent-environment-cycle form in words, by PettingZoo's conversion."""
    return parallel_to_aec(TextParallelEnv(world, **keywords))
