"""A server that speaks OpenEnv's protocol: one environment, a session for each connection.

An action is {"text": reply}; an observation has the fields of `rlenvs.serve.Turn`, where `text` is what the agent
reads. What OpenEnv has no message for are arguments of `reset`: `session` goes on with a session of before, `fork` from
another one's moment, `rewind` undoes steps, `save` keeps a moment, and `moment` goes back to it. A session whose
connection is lost stays for as long as one may be idle, unless its place is needed. In a team session an action names
its agent, {"text": reply, "agent": name}; several connections may hold the session, each with `reset(session=,
agent=)` for the agent that it plays.
"""

from __future__ import annotations

import inspect
from dataclasses import asdict
from functools import partial
from typing import Any

from rlenvs.core.catalogue.docs import sentence
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import (
    MissingExtraError,
    ParameterError,
    RlenvsError,
    UnknownNameError,
    nearest,
    shortened,
)
from rlenvs.core.declare.inputs import truth
from rlenvs.serve.sessions import Session, Sessions, Turn
from rlenvs.version import __version__

try:
    from fastapi import FastAPI, Request
    from fastapi.responses import JSONResponse
    from openenv.core.env_server.http_server import create_fastapi_app
    from openenv.core.env_server.interfaces import Environment
    from openenv.core.env_server.types import Action, ConcurrencyConfig, EnvironmentMetadata, Observation, State
except ImportError as error:
    raise MissingExtraError("Serving over OpenEnv", "openenv") from error

__all__ = ["openenv_app"]


class Reply(Action):
    """What an agent says."""

    text: str
    agent: str = ""  # in a team session; "" for the one that the connection plays


class Told(Observation):
    """What an agent is told."""

    session: str
    text: str
    terminated: bool
    truncated: bool
    steps: int
    illegal_actions: int
    illegal_reason: str
    success: bool | None
    agent: str
    agents: list[str]
    waiting_for: list[str]
    saved: str  # the name of the moment that was saved


class Served(Environment):
    """One connection, and the session that it plays.

    Args:
        sessions: of the server, of one id.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, sessions: Sessions) -> None:
        super().__init__()
        self.sessions = sessions
        self.session: Session | None = None
        self.agent = ""

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        *,
        level: str | None = None,
        settings: dict[str, Any] | None = None,
        session: str | None = None,
        fork: str | None = None,
        rewind: int = 0,
        save: bool = False,
        moment: str | None = None,
        agent: str | None = None,
        **unknown: Any,
    ) -> Told:
        """Begin an episode, or go to another moment; see the module docstring.

        Raises:
            UnknownNameError: an argument that there is not. Nothing has changed then.
        """
        for name in unknown:  # OpenEnv would leave it out, and a misspelt `session` begin another episode
            known = [*inspect.signature(self.reset).parameters][:-1]
            raise UnknownNameError(f"reset has no argument {shortened(name)}. {nearest(name, known)}")
        truth("save", save)
        agent, there = self.agent if agent is None else agent, fork if fork is not None else session
        if there is not None or save or rewind or moment is not None:
            (self._playing() if there is None else self.sessions.get(there)).observe(agent)  # which must be there
        else:
            self._begin(seed, level, settings, agent)
        if fork is not None:
            self._hold(self.sessions.fork(fork).session)
        elif session is not None:
            self._hold(session)
        if rewind:
            self._playing().rewind(rewind)
        if moment is not None:
            self._playing().restore(moment)
        self.agent = agent
        return _told(self._playing().observe(agent), self._playing().save() if save else "")

    def _begin(self, seed: int | None, level: str | None, settings: dict[str, Any] | None, agent: str) -> None:
        """An episode; in the same session unless it is of another level or has other settings."""
        if self.session is not None and level is None and not settings:
            self.session.observe(agent)
            self.session.reset(seed)
            return
        before, key = self.session, self.sessions.open(None, seed, level, settings).session
        try:
            self.sessions.get(key).observe(agent)
        except RlenvsError:
            self.sessions.close(key)
            raise
        self._hold(key)
        if before is not None and not before.connections:
            self.sessions.close(before.key)

    def _hold(self, key: str) -> None:
        there = self.sessions.get(key)
        self.close()
        there.connections.add(id(self))
        there.attached, self.session = True, there

    def _playing(self) -> Session:
        if self.session is None:
            raise ParameterError("there is no episode yet: reset without `rewind`, `save` and `moment` first")
        return self.sessions.get(self.session.key)

    def step(self, action: Reply, timeout_s: float | None = None, session: str | None = None) -> Told:
        """Take a step with a reply."""
        if session is not None:
            self._hold(session)
        return _told(self._playing().act(action.text, action.agent or self.agent))

    @property
    def state(self) -> State:
        """The key of the session, and the steps of its episode."""
        turns = list(self.session.turns.values()) if self.session is not None else []
        return State(episode_id=turns[0].session, step_count=max(turn.steps for turn in turns)) if turns else State()

    def get_metadata(self) -> EnvironmentMetadata:
        """What is served."""
        id = self.sessions.ids[0]
        return EnvironmentMetadata(name=id, description=sentence(world_of(id).doc), version=__version__)

    def close(self) -> None:
        """Leave the session, which stays for those who know its key."""
        if self.session is not None:
            self.session.connections.discard(id(self))
            self.session.attached, self.session = bool(self.session.connections), None


def _told(turn: Turn, saved: str = "") -> Told:
    fields = asdict(turn)
    text = fields.pop("observation")
    return Told(text=text, saved=saved, done=turn.terminated or turn.truncated, **fields)


async def _refused(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, status_code=400)


def openenv_app(sessions: Sessions) -> FastAPI:
    """The application that OpenEnv's clients connect to.

    Raises:
        ParameterError: the sessions are not of one id.
    """
    if len(sessions.ids) != 1:
        raise ParameterError(f"OpenEnv serves one environment; given: {', '.join(sessions.ids) or 'none'}")
    limits = sessions.limits
    places = ConcurrencyConfig(max_concurrent_envs=limits.sessions, session_timeout=limits.idle)
    app = create_fastapi_app(partial(Served, sessions), Reply, Told, concurrency_config=places)
    app.add_exception_handler(RlenvsError, _refused)
    return app
