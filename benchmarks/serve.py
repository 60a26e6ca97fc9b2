"""What a server of sessions bears: episodes without a leak, and messages that nobody should send.

    python benchmarks/serve.py mcp --episodes 1000
    python benchmarks/serve.py openenv --episodes 1000
    python benchmarks/serve.py verifiers --episodes 1000
    python benchmarks/serve.py fuzz --messages 10000

Over loopback, with the clients of the protocols' own libraries (`pip install 'rlenvs-suite[mcp,openenv]'`). Each
episode has a session of its own; a session beside them is looked at again at the end, and has to be as it was.
Verifiers (`pip install 'rlenvs-suite[verifiers]'`) plays its tasks in this process, with a stand-in for the model.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import random
import sys
import threading
import time
from collections.abc import Sized
from pathlib import Path
from types import SimpleNamespace

import uvicorn

from rlenvs.serve import Limits, Sessions
from rlenvs.serve.guard import Guard

BYTES, STEPS = 4000, 20
WARM = 100  # episodes before memory is looked at, a tenth of all at most
REPLIES = ("<choose(0)>", "<choose(1)>")


def resident() -> float:
    """MiB that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def listening(app) -> int:
    """The port of a server on loopback."""
    server = uvicorn.Server(uvicorn.Config(Guard(app, longest=BYTES), port=0, log_level="critical", ws_max_size=BYTES))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.01)
    return server.servers[0].sockets[0].getsockname()[1]


def report(sessions: Sized, title: str, count: int, steps: int, begun: float, before: float) -> None:
    rate = steps / (time.monotonic() - begun)
    print(f"{title}: {count} episodes, {steps} steps, {rate:.0f} steps/s; {len(sessions)} sessions open, "
          f"{threading.active_count()} threads, {resident() - before:+.1f} MiB since the first tenth")  # fmt: skip


async def episodes_over_mcp(port: int, sessions: Sessions, episodes: int) -> None:
    from mcp import Client

    steps = 0
    async with Client(f"http://127.0.0.1:{port}/mcp") as client:
        for episode in range(episodes):
            if episode == min(WARM, episodes // 10):
                begun, before, steps = time.monotonic(), resident(), 0
            key = (await client.call_tool("start", {"seed": episode})).structured_content["session"]
            for step in range(STEPS):
                told = await client.call_tool("act", {"session": key, "reply": REPLIES[step % 2]})
                steps += 1
                if told.structured_content["terminated"]:
                    break
            await client.call_tool("stop", {"session": key})
    report(sessions, "mcp", episodes, steps, begun, before)


def episodes_over_openenv(port: int, sessions: Sessions, episodes: int) -> None:
    from openenv.core.generic_client import GenericEnvClient

    steps = 0
    for episode in range(episodes):
        if episode == min(WARM, episodes // 10):
            begun, before, steps = time.monotonic(), resident(), 0
        with GenericEnvClient(base_url=f"http://127.0.0.1:{port}").sync() as client:
            client.reset(seed=episode)
            for step in range(STEPS):
                steps += 1
                if client.step({"text": REPLIES[step % 2]}).done:
                    break
    report(sessions, "openenv", episodes, steps, begun, before)


class Model:
    """Two replies by turns, in place of a language model that Verifiers asks."""

    def __init__(self) -> None:
        self.turns, self.trace = 0, self

    def interaction(self, task) -> Model:
        return self

    async def __aenter__(self) -> Model:
        return self

    async def __aexit__(self, *_) -> None: ...

    async def turn(self, said: str = "") -> SimpleNamespace:
        self.turns += 1
        return SimpleNamespace(terminated=self.turns > STEPS, last_reply=REPLIES[self.turns % 2])

    def record_reward(self, name: str, value: float) -> None:
        assert math.isfinite(value), name

    record_metric = record_reward


async def episodes_of_verifiers(episodes: int) -> None:
    from rlenvs.integrations.verifiers import Episodes, EpisodesConfig, WordsEnv

    steps = 0
    for episode, task in enumerate(Episodes(EpisodesConfig(env="CartPole-v0", episodes=episodes))):
        if episode == min(WARM, episodes // 10):
            begun, before, steps = time.monotonic(), resident(), 0
        model = Model()
        await WordsEnv.run(None, task, SimpleNamespace(player=model))
        steps += model.turns
    report((), "verifiers", episodes, steps, begun, before)


def fuzz(mcp_port: int, openenv_port: int, sessions: tuple[Sessions, Sessions], messages: int) -> None:
    """Bytes, JSON and calls to both servers, half each."""
    import http.client

    import websockets.sync.client

    keys = [table.open(seed=0).session for table in sessions]
    before = [table.get(key).observe() for table, key in zip(sessions, keys, strict=True)]
    rng, answers = random.Random(0), {}
    values = [None, 0, -1, 2**70, 1e308, True, "", "x" * 300, "\x00", [], {}, [[[[]]]], {"a": 1}, "<choose(1)>"]
    tools = ["start", "act", "observe", "reset", "save", "restore", "rewind", "fork", "stop", "none"]
    names = ["session", "id", "seed", "level", "settings", "reply", "moment", "steps", "fork", "rewind", "save", "text"]

    def some() -> dict:
        return {name: rng.choice(values) for name in rng.sample(names, rng.randrange(5))}

    for count in range(messages):
        if count % 2:
            call = {"jsonrpc": "2.0", "id": 1, "method": rng.choice(["tools/call", "tools/list", "initialize", "x"])}
            call["params"] = rng.choice([{"name": rng.choice(tools), "arguments": some()}, some(), None, 3])
            body = json.dumps(call).encode() if rng.random() < 0.8 else rng.randbytes(rng.randrange(3 * BYTES // 2))
            connection = http.client.HTTPConnection("127.0.0.1", mcp_port, timeout=20)
            head = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
            connection.request("POST", "/mcp", body, head)
            answer = str(connection.getresponse().status)
            connection.close()
        else:
            with websockets.sync.client.connect(f"ws://127.0.0.1:{openenv_port}/ws", proxy=None) as socket:
                kind = rng.choice(["reset", "step", "state", "mcp", "close", "x", None])
                text = json.dumps({"type": kind, "data": rng.choice([some(), None, 3])})
                text = text if rng.random() < 0.8 else rng.randbytes(rng.randrange(3 * BYTES // 2))
                try:
                    socket.send(text)
                    answer = json.loads(socket.recv(timeout=20))["type"]
                except websockets.exceptions.ConnectionClosed as closed:
                    answer = f"closed {closed.rcvd.code if closed.rcvd else ''}"
        answers[answer] = answers.get(answer, 0) + 1
    after = [table.get(key).observe() for table, key in zip(sessions, keys, strict=True)]
    print(f"fuzz: {messages} messages; answers: {answers}; the sessions beside them moved: {after != before}")
    sys.exit(after != before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["mcp", "openenv", "verifiers", "fuzz"])
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--messages", type=int, default=10_000)
    chosen = parser.parse_args()
    os.environ["NO_PROXY"] = "127.0.0.1,localhost"
    if chosen.what == "verifiers":
        asyncio.run(episodes_of_verifiers(chosen.episodes))
        return
    from rlenvs.serve.mcp_server import http_app, mcp_server

    first, second = (Sessions(["CartPole-v0"], limits=Limits(sessions=32, characters=BYTES)) for _ in range(2))
    if chosen.what == "mcp":
        asyncio.run(episodes_over_mcp(listening(http_app(mcp_server(first), first)), first, chosen.episodes))
        return
    from rlenvs.serve.openenv_server import openenv_app

    if chosen.what == "openenv":
        episodes_over_openenv(listening(openenv_app(second)), second, chosen.episodes)
    else:
        ports = listening(http_app(mcp_server(first), first)), listening(openenv_app(second))
        fuzz(*ports, (first, second), chosen.messages)


if __name__ == "__main__":
    main()
