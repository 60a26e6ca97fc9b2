"""Sessions: text environments that clients play by a key, with snapshots to go back to and to fork from.

In a team session all agents are played from outside, each by its name, by one client or by several that share the key.
Their replies are collected, and the step is taken when the last one comes.

A call that fails leaves its session as it was. Keys are random and never listed, so that nobody plays in another's
session. Clients choose a level, parameters and options with declared values; texts and files they cannot send, and
nothing of what they send is run.
"""

from __future__ import annotations

import math
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from rlenvs.core.catalogue.make import text_env, text_parallel_env
from rlenvs.core.catalogue.registry import entry, world_of
from rlenvs.core.declare.errors import (
    EpisodeOverError,
    ParameterError,
    SessionError,
    UnknownNameError,
    nearest,
    shortened,
)
from rlenvs.core.declare.options import Choice, Flag, Integer
from rlenvs.core.forms.text_env import TextParallelEnv, TextSnapshot
from rlenvs.serve.alone import Alone

__all__ = ["Limits", "Session", "Sessions", "Turn"]


@dataclass(frozen=True)
class Limits:
    """What clients may use of a server.

    Args:
        sessions: that are open at a time.
        steps: of a session, over all its episodes.
        characters: of a reply, and of a message in bytes.
        idle: seconds without a call after which a session is closed.
        kept: snapshots of a session, of the last steps and of those that it saved, each.

    Raises:
        ParameterError: one is not above 0.
    """

    sessions: int = 64
    steps: int = 100_000
    characters: int = 100_000
    idle: float = 600.0
    kept: int = 64

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not value > 0:
                raise ParameterError(f"{name}={value!r} must be above 0")


@dataclass(frozen=True)
class Turn:
    """What a client is told after each call; JSON as `asdict` makes it.

    Attributes:
        session: the key of the session.
        observation: the text that the agent reads.
        reward: of the last step; 0 after a reset.
        terminated, truncated: whether the episode has ended, and how.
        steps: of this episode.
        illegal_actions: replies in this episode that were no legal action, and were replaced by one.
        illegal_reason: why the last reply was replaced; "" when it was legal.
        success: whether the task was solved, where the environment says it.
        agent: whose turn this is; "" where the client plays one agent.
        agents: that act next, in a team session.
        waiting_for: agents whose replies are missing before the step can be taken, once one has come.
    """

    session: str
    observation: str
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    steps: int = 0
    illegal_actions: int = 0
    illegal_reason: str = ""
    success: bool | None = None
    agent: str = ""
    agents: list[str] = field(default_factory=list)
    waiting_for: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Moment:
    """A state to go back to: the environment, what its agents were told, and the replies that have come."""

    snapshot: TextSnapshot
    turns: Mapping[str, Turn]
    replies: Mapping[str, str]


class Session:
    """One environment; `Sessions` makes it. Its calls wait for each other."""

    def __init__(self, key: str, make: Callable[[], Alone | TextParallelEnv], limits: Limits) -> None:
        self.key, self.limits, self._make = key, limits, make
        self.env = make()
        self.taken, self.used, self.attached = 0, time.monotonic(), True
        self.connections: set[int] = set()  # of OpenEnv, which may share it
        self.turns: Mapping[str, Turn] = {}
        self._replies: Mapping[str, str] = {}
        self._past: deque[_Moment] = deque(maxlen=limits.kept)
        self._saved: dict[str, _Moment] = {}
        self._lock = threading.Lock()

    def reset(self, seed: int | None = None) -> Turn:
        """Start an episode; those before cannot be rewound into, what was saved stays."""
        with self._lock:
            told, _ = self.env.reset(seed=seed)
            self._past.clear()
            return self._told({agent: Turn(self.key, text, agent=agent) for agent, text in told.items()})

    def act(self, reply: str, agent: str = "") -> Turn:
        """Give an agent's reply; when all agents have replied, the step is taken.

        Args:
            reply: of the agent. agent: its name, in a team session.

        Returns:
            what the agent is told; the turn of before, with `waiting_for`, as long as others have not replied.

        Raises:
            SessionError: the session has used its steps, or the agent has replied already.
            UnknownNameError: there is no such agent.
            ParameterError: the reply is no text, or too long.
            EpisodeOverError: the episode is over, or this agent's.
        """
        with self._lock:
            self._now(agent)
            if not isinstance(reply, str) or len(reply) > self.limits.characters:
                said = f"{len(reply)} characters" if isinstance(reply, str) else type(reply).__name__
                raise ParameterError(f"a reply must be a text of at most {self.limits.characters} characters: {said}")
            if self.taken >= self.limits.steps:
                raise SessionError(f"this session has used its {self.limits.steps} steps; open another")
            if agent not in self.env.agents:
                raise EpisodeOverError(f"{agent or 'the agent'} is out: its episode is over; reset for another")
            if agent in self._replies:
                raise SessionError(f"{agent} has replied already; the step waits for {', '.join(self._missing())}")
            replies = {**self._replies, agent: reply}
            if set(replies) < set(self.env.agents):
                self._told(self.turns, replies)
            else:
                self._step(replies)
            return self.turns[agent]

    def _step(self, replies: Mapping[str, str]) -> None:
        before = _Moment(self.env.get_state(), self.turns, {})
        told, rewards, ends, cuts, infos = self.env.step(dict(replies))
        self.taken += 1
        self._past.append(before)
        turns = {
            agent: Turn(
                self.key,
                text,
                float(rewards[agent]),
                bool(ends[agent]),
                bool(cuts[agent]),
                self.turns[agent].steps + 1,
                int(infos[agent]["illegal_actions"]),
                infos[agent]["illegal_reason"],
                bool(infos[agent]["is_success"]) if "is_success" in infos[agent] else None,
                agent,
            )
            for agent, text in told.items()
        }
        self._told({**self.turns, **turns})

    def observe(self, agent: str = "") -> Turn:
        """The last turn of an agent again; without a name that of the first one."""
        with self._lock:
            self.used = time.monotonic()
            return self._now(agent or self.env.possible_agents[0])

    def save(self) -> str:
        """Keep this moment; returns the name to restore it by.

        Raises:
            SessionError: as many are kept as may be.
        """
        with self._lock:
            moment = self._moment()
            if len(self._saved) >= self.limits.kept:
                raise SessionError(f"this session keeps {self.limits.kept} moments already; fork it instead")
            name = f"moment-{len(self._saved)}"
            self._saved[name] = moment
            return name

    def restore(self, name: str) -> Turn:
        """Go back to a moment that was saved, as often as wished.

        Raises:
            UnknownNameError: there is none of this name.
        """
        with self._lock:
            if name not in self._saved:
                raise UnknownNameError(f"no moment {shortened(name)} was saved. {nearest(str(name), self._saved)}")
            self._past.clear()
            return self._set(self._saved[name])

    def rewind(self, steps: int = 1) -> Turn:
        """Undo the last steps of this episode.

        Raises:
            ParameterError: it is not a count from 1 to the steps that are kept.
        """
        with self._lock:
            if type(steps) is not int or not 1 <= steps <= len(self._past):
                raise ParameterError(f"steps={shortened(steps)} must be from 1 to {len(self._past)}, the steps kept")
            moments = [self._past.pop() for _ in range(steps)]
            return self._set(moments[-1])

    def fork(self, key: str) -> Session:
        """Another session at the same moment, with what was saved, and with the steps that are left to this one."""
        with self._lock:
            moment = self._moment()
            other = Session(key, self._make, self.limits)
            other.taken, other._past, other._saved = self.taken, self._past.copy(), dict(self._saved)
            other._set(moment)
            return other

    def close(self) -> None:
        """Close its environment."""
        with self._lock:
            self.env.close()

    def _now(self, agent: str) -> Turn:
        """The last turn of an agent."""
        known = self.env.possible_agents
        if agent not in known:
            one = f"there is no agent {shortened(agent)}" if agent else "say which agent replies"
            raise UnknownNameError(f"{one}. {nearest(str(agent), known) if known != [''] else 'Leave its name out.'}")
        if not self.turns:
            raise SessionError("this session has not begun: reset it first")
        return self.turns[agent]

    def _missing(self) -> list[str]:
        return [agent for agent in self.env.agents if agent not in self._replies]

    def _moment(self) -> _Moment:
        if not self.turns:
            raise SessionError("this session has not begun: reset it first")
        return _Moment(self.env.get_state(), self.turns, self._replies)

    def _set(self, moment: _Moment) -> Turn:
        self.env.set_state(moment.snapshot)
        return self._told(moment.turns, moment.replies)

    def _told(self, turns: Mapping[str, Turn], replies: Mapping[str, str] | None = None) -> Turn:
        """Keep what the agents are told, and the replies that have come; returns the turn of the first."""
        self._replies, self.used = dict(replies or {}), time.monotonic()
        agents = [agent for agent in self.env.agents if agent]
        waiting = self._missing() if self._replies else []
        self.turns = {
            agent: replace(turn, session=self.key, agents=agents, waiting_for=waiting) for agent, turn in turns.items()
        }
        return self.turns[self.env.possible_agents[0]]


class Sessions:
    """All sessions of a server.

    Args:
        ids: that clients may play; none for all but those with vectors of rewards.
        limits: what they may use.
        team: whether all agents are played from outside, instead of the first one alone.
        keywords: of `rlenvs.text_env`, or `rlenvs.text_parallel_env` of teams, for all sessions; clients cannot change
            these.

    Raises:
        UnknownNameError: there is no such id.
        ParameterError: the reward of an id is a vector, or a team would be refused replies (fallback="error").
    """

    def __init__(
        self, ids: Sequence[str] = (), *, limits: Limits | None = None, team: bool = False, **keywords: Any
    ) -> None:
        self.ids = [scalar_id(id) for id in ids]
        self.limits, self.team, self.keywords = limits or Limits(), team, keywords
        if team and keywords.get("fallback") == "error":
            raise ParameterError("fallback='error' needs one client; in a team it would refuse the others' replies")
        self._open: dict[str, Session] = {}
        self._lock = threading.Lock()

    def open(
        self,
        id: str | None = None,
        seed: int | None = None,
        level: str | None = None,
        settings: Mapping[str, float | bool | str] | None = None,
    ) -> Turn:
        """Start a session, and its first episode.

        Args:
            id: of an environment; None where one alone is served.
            seed: of the episode; None for one that is drawn.
            level: of the environment.
            settings: its parameters, and its options that take a number, a flag or one of the declared words.

        Raises:
            UnknownNameError: there is no such id, level, parameter or option, or it is not served.
            ParameterError: a value is not allowed.
            SessionError: as many sessions are open as may be.
        """
        chosen = self._served(id)
        keywords = {**_client_keywords(chosen, level, settings or {}), **self.keywords}

        def make() -> Alone | TextParallelEnv:
            return text_parallel_env(chosen, **keywords) if self.team else Alone(text_env(chosen, **keywords))

        session = self._add(lambda key: Session(key, make, self.limits))
        try:
            return session.reset(seed)
        except Exception:
            self.close(session.key)
            raise

    def get(self, key: str) -> Session:
        """The session of a key.

        Raises:
            SessionError: there is none, or it was closed.
        """
        self._sweep()
        with self._lock:
            session = self._open.get(key) if isinstance(key, str) else None
        if session is None:
            idle = f"{self.limits.idle:g} s"
            raise SessionError(f"there is no session of this key; those that nobody uses are closed after {idle}")
        session.used = time.monotonic()
        return session

    def fork(self, key: str) -> Turn:
        """Another session that goes on from the same moment.

        Raises:
            SessionError: there is no such session, it has not begun, or as many are open as may be.
        """
        session = self.get(key)
        return self._add(session.fork).observe()

    def close(self, key: str) -> None:
        """End a session; nothing when there is none."""
        with self._lock:
            session = self._open.pop(key, None)
        if session is not None:
            session.close()

    def __len__(self) -> int:
        return len(self._open)

    def _served(self, id: str | None) -> str:
        if id is None:
            if len(self.ids) == 1:
                return self.ids[0]
            raise ParameterError("say which environment, by its id")
        chosen = scalar_id(id)
        if self.ids and chosen not in self.ids:
            raise UnknownNameError(f"{chosen} is not served here. {nearest(chosen, self.ids)}")
        return chosen

    def _add(self, make: Callable[[str], Session]) -> Session:
        """A new session, in the place of one that nobody is connected to where all places are taken."""
        self._sweep()
        self._make_room()
        session = make(secrets.token_urlsafe(18))  # outside the lock: it may compile
        try:
            self._make_room(session)
        except SessionError:
            session.close()
            raise
        return session

    def _make_room(self, *sessions: Session) -> None:
        """See that one more session has its place, and put those that are given there."""
        with self._lock:
            gone = None
            if len(self._open) >= self.limits.sessions:
                left = [session for session in self._open.values() if not session.attached]
                if not left:
                    raise SessionError(f"{self.limits.sessions} sessions are open, as many as may be; close one")
                gone = self._open.pop(min(left, key=lambda session: session.used).key)
            self._open |= {session.key: session for session in sessions}
        if gone is not None:
            gone.close()

    def _sweep(self) -> None:
        """Close the sessions that were idle for too long."""
        now = time.monotonic()
        with self._lock:
            late = [key for key, session in self._open.items() if now - session.used > self.limits.idle]
        for key in late:
            self.close(key)


def scalar_id(id: str) -> str:
    """The full name of an id whose reward is a number."""
    name = entry(id).id
    if name.startswith("rlenvs/mo-"):
        raise ParameterError(f"the reward of {name} is a vector; serve {name.replace('mo-', '')}")
    return name


def _client_keywords(id: str, level: str | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords of `text_env` from what a client asks for."""
    world = world_of(id)
    open_to_clients = [name for name, option in world.options.items() if isinstance(option, (Choice, Flag, Integer))]
    allowed = [*world.params, *open_to_clients]
    if not isinstance(settings, Mapping):
        raise ParameterError(f"settings={shortened(settings)} must be an object with names and values")
    for name, value in settings.items():
        if name not in allowed:
            raise UnknownNameError(f"{id} has no setting {shortened(name)} for clients. {nearest(str(name), allowed)}")
        if not isinstance(value, (bool, int, float, str)) or (isinstance(value, float) and not math.isfinite(value)):
            raise ParameterError(f"{name}={shortened(value)} must be a number, true, false or a word")
    return {**settings, **({} if level is None else {"level": level})}
