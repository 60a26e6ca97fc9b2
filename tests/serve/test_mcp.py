"""The Model Context Protocol, with the client of its own library."""

import asyncio
import json
import random
import threading
import time
from dataclasses import asdict

import pytest

pytest.importorskip("mcp")
import uvicorn
from mcp import Client, MCPError, StdioServerParameters

from rlenvs.serve import Limits, Sessions
from rlenvs.serve.guard import Guard
from rlenvs.serve.mcp_server import http_app, mcp_server

TOOLS = ["environments", "start", "act", "observe", "reset", "save", "restore", "rewind", "fork", "stop"]
LEFT, RIGHT = "<choose(0)>", "<choose(1)>"


@pytest.fixture
def sessions():
    return Sessions(["CartPole-v0"], limits=Limits(sessions=8, characters=4000))


def talk(server, conversation):
    async def run():
        async with Client(server) as client:
            return await conversation(client)

    return asyncio.run(run())


async def call(client, tool, **arguments):
    """What a tool answers; AssertionError when it is an error."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    given = result.structured_content
    return given["result"] if set(given) == {"result"} else given


async def refusal(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result
    return result.content[0].text


def test_an_episode_in_tools(sessions):
    async def conversation(client):
        assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
        assert [row["id"] for row in await call(client, "environments")] == ["rlenvs/CartPole-v0"]
        turn = await call(client, "start", seed=5)
        key = turn["session"]
        twin = sessions.get(sessions.open(seed=5).session)
        for step in range(500):
            reply = (LEFT, RIGHT)[step % 2]
            turn = await call(client, "act", session=key, reply=reply)
            assert turn == asdict(twin.act(reply)) | {"session": key}
            if turn["terminated"]:
                break
        assert turn["terminated"]
        assert "over" in await refusal(client, "act", session=key, reply=LEFT)
        assert await call(client, "observe", session=key) == turn
        assert (await call(client, "reset", session=key, seed=6))["steps"] == 0
        assert await call(client, "stop", session=key) == "closed"
        assert "no session" in await refusal(client, "observe", session=key)

    talk(mcp_server(sessions), conversation)


def test_two_clients_play_a_team():
    sessions = Sessions(["PathFinding-v0"], team=True, agents=2, backend="python")

    async def conversation(client):
        turn = await call(client, "start", seed=2)
        assert turn["agents"] == ["agent_0", "agent_1"]
        key, stay = turn["session"], "<stay()>"
        assert "say which agent replies" in await refusal(client, "act", session=key, reply=stay)
        waiting = await call(client, "act", session=key, reply=stay, agent="agent_1")
        assert (waiting["waiting_for"], waiting["steps"]) == (["agent_0"], 0)
        done = await call(client, "act", session=key, reply="what?", agent="agent_0")
        assert (done["waiting_for"], done["steps"], done["illegal_actions"]) == ([], 1, 1)
        other = await call(client, "observe", session=key, agent="agent_1")
        assert (other["steps"], other["illegal_actions"], other["agent"]) == (1, 0, "agent_1")

    talk(mcp_server(sessions), conversation)


def test_moments_and_forks(sessions):
    async def conversation(client):
        key = (await call(client, "start", seed=1))["session"]
        moment = await call(client, "save", session=key)
        first = await call(client, "act", session=key, reply=RIGHT)
        fork = (await call(client, "fork", session=key))["session"]
        second = await call(client, "act", session=key, reply=LEFT)
        assert await call(client, "act", session=fork, reply=LEFT) == second | {"session": fork}
        assert await call(client, "rewind", session=key, steps=1) == first
        assert (await call(client, "restore", session=key, moment=moment))["steps"] == 0
        assert await call(client, "act", session=key, reply=RIGHT) == first

    talk(mcp_server(sessions), conversation)


def test_errors_name_the_fix(sessions):
    async def conversation(client):
        assert "outside its range" in await refusal(client, "start", settings={"gravity": 1e9})
        assert "not served here" in await refusal(client, "start", id="Acrobot-v0")
        assert "no session of this key" in await refusal(client, "act", session="guess", reply=LEFT)
        key = (await call(client, "start", seed=0))["session"]
        assert "from 1 to 0" in await refusal(client, "rewind", session=key)
        assert "reply" in await refusal(client, "act", session=key)
        turn = await call(client, "act", session=key, reply="I push left")
        assert turn["illegal_actions"] == 1
        assert "not exactly one command" in turn["illegal_reason"]

    talk(mcp_server(sessions), conversation)


def strange(rng, key):
    """A call that nobody should send."""
    values = [None, 0, -1, 2**70, 1.5, True, "", "x" * 500, "\x00\ud7ff", [], {}, [[[]]], {"a": None}, key]
    tool = rng.choice([*TOOLS, "no_tool"])
    names = ["id", "seed", "level", "settings", "reply", "moment", "steps", "other"]
    arguments = {name: rng.choice(values) for name in rng.sample(names, rng.randrange(4))}
    if rng.random() < 0.5:
        arguments["session"] = rng.choice([value for value in values if value != key])
    return tool, arguments


def test_strange_calls_move_no_session(sessions):
    rng = random.Random(0)

    async def conversation(client):
        key = (await call(client, "start", seed=0))["session"]
        before = await call(client, "observe", session=key)
        for _ in range(150):
            tool, arguments = strange(rng, key)
            if arguments.get("session") == key:
                continue
            try:
                result = await client.call_tool(tool, arguments)
            except MCPError:
                continue
            if not result.is_error and tool == "start":
                await call(client, "stop", session=result.structured_content["session"])
        assert await call(client, "observe", session=key) == before
        assert len(sessions) == 1

    talk(mcp_server(sessions), conversation)


@pytest.fixture
def address(sessions):
    config = uvicorn.Config(
        Guard(http_app(mcp_server(sessions), sessions), longest=4000), port=0, log_level="error", lifespan="on"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/mcp"
    server.should_exit = True
    thread.join()


@pytest.mark.budget(6)
def test_a_client_that_connects_again_goes_on(sessions, address, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    async def begin(client):
        key = (await call(client, "start", seed=1))["session"]
        return await call(client, "act", session=key, reply=LEFT)

    async def go_on(client):
        assert await call(client, "observe", session=turn["session"]) == turn
        with pytest.raises(Exception, match=r"(?i)413|too large|bytes|error"):
            await client.call_tool("act", {"session": turn["session"], "reply": "x" * 10_000})
        assert await call(client, "observe", session=turn["session"]) == turn

    turn = talk(address, begin)
    talk(address, go_on)


@pytest.mark.budget(20)  # a process of its own
@pytest.mark.slow
def test_the_command_speaks_on_standard_streams():
    import sys

    async def conversation(client):
        turn = await call(client, "start", seed=0)
        return await call(client, "act", session=turn["session"], reply=RIGHT)

    command = StdioServerParameters(command=sys.executable, args=["-m", "rlenvs", "serve", "CartPole-v0", "--mcp"])
    assert json.dumps(talk(command, conversation)).count("CartPole-v0, step 1") == 1
