"""The command that serves environments to language agents."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from rlenvs.cli.common import Level, Set, Text, app, checked, keywords_from, say, text_keywords
from rlenvs.core.declare.errors import MissingExtraError, ParameterError

PANEL = "Environments"


@app.command(rich_help_panel=PANEL)
def serve(  # 13 parameters: the options of the command
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="Environments that clients may play; over MCP, all by default."),
    ] = None,
    mcp: Annotated[bool, typer.Option("--mcp", help="Speak MCP; needs the extra mcp.")] = False,
    openenv: Annotated[bool, typer.Option("--openenv", help="Speak OpenEnv; needs the extra openenv.")] = False,
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, metavar="N", help="Default: 8000, and for MCP standard input and output."),
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="NAME", help="Address to listen on; one that others can reach needs RLENVS_TOKEN.")
    ] = "127.0.0.1",
    sessions: Annotated[int, typer.Option(min=1, metavar="N", help="Sessions that may be open at a time.")] = 64,
    steps: Annotated[int, typer.Option(min=1, metavar="N", help="Steps that a session may take.")] = 100_000,
    idle: Annotated[float, typer.Option(min=1, metavar="S", help="Seconds until an unused session ends.")] = 600.0,
    message: Annotated[int, typer.Option(min=1000, metavar="N", help="Bytes that a message may have.")] = 100_000,
    team: Annotated[bool, typer.Option("--team", help="Clients play all agents, each by its name.")] = False,
    text: Text = None,
    level: Level = None,
    set_: Set = None,
) -> None:
    """Serve environments in words to language agents, over MCP or OpenEnv.

    The environment variable RLENVS_TOKEN is a secret that clients have to send as a bearer token.
    """
    from rlenvs.serve import Limits, Sessions

    if mcp == openenv:
        raise ParameterError("choose one protocol: --mcp or --openenv")
    if (level or set_) and len(ids or ()) != 1:
        raise ParameterError("--level and --set need exactly one ID")
    keywords = checked(ids[0], keywords_from(set_, level)) if ids else {}
    keywords |= text_keywords(text, team)
    table = Sessions(ids or (), limits=Limits(sessions, steps, message, idle), team=team, **keywords)
    if mcp and port is None:
        from rlenvs.serve.mcp_server import mcp_server

        mcp_server(table).run("stdio")
    else:
        _listen(_app(table, mcp, host), host, port or 8000, message)


def _app(table: Any, mcp: bool, host: str) -> Any:
    if mcp:
        from rlenvs.serve.mcp_server import http_app, mcp_server

        return http_app(mcp_server(table), table, host)
    from rlenvs.serve.openenv_server import openenv_app

    return openenv_app(table)


def _listen(served: Any, host: str, port: int, message: int) -> None:
    """Answer until interrupted."""
    from rlenvs.serve.guard import TOKEN, Guard, check_place

    token = os.environ.get(TOKEN, "")
    check_place(host, token)
    try:
        import uvicorn
    except ImportError:
        raise MissingExtraError("Serving over HTTP", "mcp") from None
    say(f"serving on http://{host}:{port}, until Ctrl+C")
    guarded = Guard(served, token, message)
    uvicorn.run(guarded, host=host, port=port, log_level="warning", ws_max_size=message)
