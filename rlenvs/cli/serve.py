"""The command that serves environments to agents and trainers in other processes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from rlenvs.cli.common import Level, Set, Text, app, checked, keywords_from, say, text_keywords
from rlenvs.core.declare.errors import MissingExtraError, ParameterError

PANEL = "Environments"
LOOPBACK = "127.0.0.1"


@app.command(rich_help_panel=PANEL)
def serve(  # 16 parameters: one for each option of the command
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="Environments that clients may play; over MCP, all by default."),
    ] = None,
    mcp: Annotated[bool, typer.Option("--mcp", help="Speak MCP; needs the extra mcp.")] = False,
    openenv: Annotated[bool, typer.Option("--openenv", help="Speak OpenEnv; needs the extra openenv.")] = False,
    bridge: Annotated[bool, typer.Option("--bridge", help="Speak the binary protocol of this package.")] = False,
    godot: Annotated[
        bool, typer.Option("--godot", help="Be a game for a trainer of Godot RL Agents, which listens on the port.")
    ] = False,
    num: Annotated[int, typer.Option(min=1, metavar="N", help="Worlds of a game or of a session over the bridge.")] = 1,
    port: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=65535,
            metavar="N",
            help="Default: 8000, the bridge 11009, Godot 11008, and for MCP standard input and output.",
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="NAME", help="Address to listen on; one that others can reach needs RLENVS_TOKEN.")
    ] = LOOPBACK,
    sessions: Annotated[int, typer.Option(min=1, metavar="N", help="Sessions that may be open at a time.")] = 64,
    steps: Annotated[
        int, typer.Option(min=1, metavar="N", help="Steps that a session of MCP or OpenEnv may take.")
    ] = 100_000,
    idle: Annotated[float, typer.Option(min=1, metavar="S", help="Seconds until an unused session ends.")] = 600.0,
    message: Annotated[
        int, typer.Option(min=1000, metavar="N", help="Bytes that a message of MCP or OpenEnv may have.")
    ] = 100_000,
    team: Annotated[bool, typer.Option("--team", help="Clients play all agents, each by its name.")] = False,
    text: Text = None,
    level: Level = None,
    set_: Set = None,
) -> None:
    """Serve environments: in words to language agents (MCP, OpenEnv), or in arrays to trainers (bridge, Godot).

    The environment variable RLENVS_TOKEN is a secret that clients have to send, as a bearer token or in their hello.
    """
    from rlenvs.serve import Limits, Sessions

    if mcp + openenv + bridge + godot != 1:
        raise ParameterError("choose one protocol: --mcp, --openenv, --bridge or --godot")
    if (level or set_ or bridge or godot) and len(ids or ()) != 1:
        raise ParameterError("--bridge, --godot, --level and --set need exactly one ID")
    keywords = checked(ids[0], keywords_from(set_, level)) if ids else {}
    if (bridge or godot) and (team or text):
        raise ParameterError("--team and --text are for --mcp and --openenv; leave them out")
    limits = Limits(sessions, steps, message, idle)
    if ids and godot:
        _play_game(ids[0], num, host, port, keywords)
    elif ids and bridge:
        _bridge(ids[0], num, host, port, limits, keywords)
    else:
        table = Sessions(ids or (), limits=limits, team=team, **keywords, **text_keywords(text, team))
        _in_words(table, mcp, host, port, message)


def _play_game(id: str, num: int, host: str, port: int | None, keywords: Mapping[str, Any]) -> None:
    from rlenvs.bridge.godot import PORT
    from rlenvs.serve.godot_game import GodotSide, play_game

    if host != LOOPBACK:
        raise ParameterError(f"--host {host}: Godot RL Agents' protocol has no token; trainer and game share a machine")
    game = GodotSide(id, num, **keywords)
    say(f"{game.slots} agents of {game.worlds.name}; looking for a trainer on port {port or PORT}")
    try:
        play_game(game, port or PORT)
    finally:
        game.close()


def _bridge(id: str, num: int, host: str, port: int | None, limits: Any, keywords: Mapping[str, Any]) -> None:
    from rlenvs.bridge.remote import PORT
    from rlenvs.serve.bridge_server import BridgeServer
    from rlenvs.serve.guard import TOKEN
    from rlenvs.serve.worlds import Worlds

    def make() -> Worlds:
        return Worlds(id, num, **keywords)

    make().close()  # what is wrong, and what has to be compiled, before anybody waits
    server = BridgeServer(make, host, port or PORT, os.environ.get(TOKEN, ""), limits)
    say(f"{num} worlds of {id} for each trainer at {host}:{server.port}, until Ctrl+C")
    with contextlib.suppress(KeyboardInterrupt):
        server.serve()
    server.close()


def _in_words(table: Any, mcp: bool, host: str, port: int | None, message: int) -> None:
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
