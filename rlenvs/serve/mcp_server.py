"""A server that speaks the Model Context Protocol: environments as tools of a language model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import wraps
from typing import Any

from rlenvs.core.catalogue.docs import sentence
from rlenvs.core.catalogue.registry import catalogue, entry, world_of
from rlenvs.core.declare.errors import MissingExtraError, RlenvsError
from rlenvs.core.forms.language import LONGEST_REPLY
from rlenvs.serve.sessions import Sessions
from rlenvs.version import __version__

try:
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from starlette.applications import Starlette
except ImportError as error:
    raise MissingExtraError("Serving over MCP", "mcp") from error

__all__ = ["http_app", "mcp_server"]

INSTRUCTIONS = f"""Reinforcement-learning environments to play in words. Start a session with `start`; read the
observation, which lists the valid actions; reply with exactly one of them to `act` until `terminated` or `truncated`.
A reply has at most {LONGEST_REPLY} characters; one that is no legal action is replaced, and `illegal_reason` says why.
`fork` copies a session at its present moment, `rewind` undoes steps, `save` and `restore` keep moments. Where `agents`
are named, `act` needs the name of the agent that replies; the step is taken when all of them have replied, until then
`waiting_for` names the others, and `observe` shows each agent its own turn."""


def mcp_server(sessions: Sessions) -> MCPServer:
    """The tools of a server, on sessions.

    Run it with `run("stdio")`, or serve `http_app(server, sessions)`.
    """
    server: MCPServer = MCPServer("rlenvs", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING")
    for tool in _tools(sessions):
        server.add_tool(_told(tool))
    return server


def http_app(server: MCPServer, sessions: Sessions, host: str = "127.0.0.1") -> Starlette:
    """The server as an application for HTTP, at /mcp. Nothing of a client is kept outside its sessions, so that it can
    connect again and go on."""
    return server.streamable_http_app(
        stateless_http=True, json_response=True, max_request_body_size=sessions.limits.characters, host=host
    )


def _told(tool: Callable[..., Any]) -> Callable[..., Any]:
    """The tool with errors of this package as those that clients are told."""

    @wraps(tool)
    def call(*arguments: Any, **keywords: Any) -> Any:
        try:
            return tool(*arguments, **keywords)
        except RlenvsError as error:
            raise ToolError(str(error)) from None

    return call


def _tools(sessions: Sessions) -> list[Callable[..., Any]]:
    """What clients may call."""

    def environments() -> list[dict[str, str]]:
        """The environments that can be played here: their ids and what they are about."""
        ids = sessions.ids or [id for id in catalogue if not id.startswith("rlenvs/mo-")]
        return [{"id": id, "about": entry(id).summary or sentence(world_of(id).doc)} for id in ids]

    def start(
        id: str | None = None,
        seed: int | None = None,
        level: str | None = None,
        settings: dict[str, float | bool | str] | None = None,
    ) -> dict[str, Any]:
        """Start a session with an episode. The same id, seed, level and settings give the same episode."""
        return asdict(sessions.open(id, seed, level, settings))

    def act(session: str, reply: str, agent: str = "") -> dict[str, Any]:
        """Reply with exactly one of the valid actions that the observation lists. The step is taken when all agents
        have replied."""
        return asdict(sessions.get(session).act(reply, agent))

    def observe(session: str, agent: str = "") -> dict[str, Any]:
        """What an agent was told last, again."""
        return asdict(sessions.get(session).observe(agent))

    def reset(session: str, seed: int | None = None) -> dict[str, Any]:
        """Start another episode in this session."""
        return asdict(sessions.get(session).reset(seed))

    def save(session: str) -> str:
        """Keep this moment; returns the name to restore it by."""
        return sessions.get(session).save()

    def restore(session: str, moment: str) -> dict[str, Any]:
        """Go back to a moment that was saved."""
        return asdict(sessions.get(session).restore(moment))

    def rewind(session: str, steps: int = 1) -> dict[str, Any]:
        """Undo the last steps of this episode."""
        return asdict(sessions.get(session).rewind(steps))

    def fork(session: str) -> dict[str, Any]:
        """Start another session from the present moment of this one; both go on by themselves."""
        return asdict(sessions.fork(session))

    def stop(session: str) -> str:
        """End a session."""
        sessions.get(session)
        sessions.close(session)
        return "closed"

    return [environments, start, act, observe, reset, save, restore, rewind, fork, stop]
