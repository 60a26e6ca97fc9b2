"""What a server of sessions bears: episodes without a leak, and messages that nobody should send.

    python benchmarks/serve.py mcp --episodes 1000
    python benchmarks/serve.py openenv --episodes 1000
    python benchmarks/serve.py verifiers --episodes 1000
    python benchmarks/serve.py mcp --fuzz 10000          # or openenv, verifiers

Over loopback, with the clients of the protocols' own libraries (`pip install 'rlenvs-suite[mcp,openenv]'`). Each
episode has a session of its own; memory is that of server and client together. Fuzzed messages are bytes, JSON and
calls; a session beside them is looked at again at the end, and has to be as it was. Verifiers (`pip install
'rlenvs-suite[verifiers]'`) plays its tasks in this process, with a stand-in for the model, whose replies are the
messages; another episode, played by turns with them, has to be as it is alone.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import itertools
import json
import math
import os
import pickle
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sized
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import uvicorn

from rlenvs.serve import Limits, Sessions
from rlenvs.serve.guard import Guard

BYTES, STEPS = 4000, 20
WARM = 100  # episodes before memory is looked at, a tenth of all at most
PARTS = 4  # of the episodes, after each of which memory is looked at
REPLIES = ("<choose(0)>", "<choose(1)>")
VALUES = (None, 0, -1, 2**70, 1e308, True, "", "x" * 300, "\x00", "\ud7ff", [], {}, [[[[]]]], {"a": 1}, *REPLIES)
NAMES = ("session", "id", "seed", "level", "settings", "reply", "moment", "steps", "fork", "rewind", "save", "text")


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


class Watch:
    """Memory and steps after the first episodes, which fill caches.

    Args:
        title: of the line that is printed. episodes: that will be played.
    """

    def __init__(self, title: str, episodes: int) -> None:
        self.title, self.episodes, self.steps = title, episodes, 0
        self.first = min(WARM, episodes // 10)
        self.looks = [self.first + (episodes - self.first) * part // PARTS for part in range(PARTS + 1)]
        self.held: list[float] = []

    def begins(self, episode: int) -> None:
        """Before each episode, and once after the last."""
        if episode == self.first:
            self.began, self.steps = time.monotonic(), 0
        if episode in self.looks:
            self.held.append(resident())

    def told(self, sessions: Sized) -> None:
        rate = self.steps / (time.monotonic() - self.began)
        grown = ", ".join(f"{later - earlier:+.1f}" for earlier, later in itertools.pairwise(self.held))
        print(f"{self.title}: {self.episodes} episodes, {self.steps} steps, {rate:.0f} steps/s; {len(sessions)} "
              f"sessions open, {threading.active_count()} threads, MiB by quarter: {grown}")  # fmt: skip


async def episodes_over_mcp(port: int, sessions: Sessions, episodes: int) -> None:
    from mcp import Client

    watch = Watch("mcp", episodes)
    async with Client(f"http://127.0.0.1:{port}/mcp") as client:
        for episode in range(episodes):
            watch.begins(episode)
            key = (await client.call_tool("start", {"seed": episode})).structured_content["session"]
            for step in range(STEPS):
                told = await client.call_tool("act", {"session": key, "reply": REPLIES[step % 2]})
                watch.steps += 1
                if told.structured_content["terminated"]:
                    break
            await client.call_tool("stop", {"session": key})
    watch.begins(episodes)
    watch.told(sessions)


def episodes_over_openenv(port: int, sessions: Sessions, episodes: int) -> None:
    from openenv.core.generic_client import GenericEnvClient

    watch = Watch("openenv", episodes)
    for episode in range(episodes):
        watch.begins(episode)
        with GenericEnvClient(base_url=f"http://127.0.0.1:{port}").sync() as client:
            client.reset(seed=episode)
            for step in range(STEPS):
                watch.steps += 1
                if client.step({"text": REPLIES[step % 2]}).done:
                    break
    watch.begins(episodes)
    watch.told(sessions)


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

    watch = Watch("verifiers", episodes)
    for episode, task in enumerate(Episodes(EpisodesConfig(env="CartPole-v0", episodes=episodes))):
        watch.begins(episode)
        model = Model()
        await WordsEnv.run(None, task, SimpleNamespace(player=model))
        watch.steps += model.turns
    watch.begins(episodes)
    watch.told(())


def some(rng: random.Random) -> dict:
    """Arguments that no call has."""
    return {name: rng.choice(VALUES) for name in rng.sample(NAMES, rng.randrange(5))}


def answer_of_mcp(port: int, rng: random.Random) -> str:
    """The status of a request's answer."""
    tools = ["start", "act", "observe", "reset", "save", "restore", "rewind", "fork", "stop", "none"]
    call = {"jsonrpc": "2.0", "id": 1, "method": rng.choice(["tools/call", "tools/list", "initialize", "x"])}
    call["params"] = rng.choice([{"name": rng.choice(tools), "arguments": some(rng)}, some(rng), None, 3])
    body = json.dumps(call).encode() if rng.random() < 0.8 else rng.randbytes(rng.randrange(3 * BYTES // 2))
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    head = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    connection.request("POST", "/mcp", body, head)
    status = connection.getresponse().status
    connection.close()
    return str(status)


def answer_of_openenv(port: int, rng: random.Random) -> str:
    """The type of a message's answer, or the code with which the connection was closed."""
    import websockets.sync.client

    kind = rng.choice(["reset", "step", "state", "mcp", "close", "x", None])
    message = json.dumps({"type": kind, "data": rng.choice([some(rng), None, 3])})
    with websockets.sync.client.connect(f"ws://127.0.0.1:{port}/ws", proxy=None) as socket:
        try:
            socket.send(message if rng.random() < 0.8 else rng.randbytes(rng.randrange(3 * BYTES // 2)))
            told: str = json.loads(socket.recv(timeout=60))["type"]
        except websockets.exceptions.ConnectionClosed as closed:
            return f"closed {closed.rcvd.code if closed.rcvd else ''}"
    return told


def fuzz(title: str, answer: Callable[[random.Random], str], sessions: Sessions, messages: int) -> bool:
    """Send messages; whether the session beside them is as it was."""
    beside = sessions.get(sessions.open(seed=0).session)
    before, state = beside.observe(), beside.env.get_state()
    rng, answers = random.Random(0), Counter[str]()
    for _ in range(messages):
        answers[answer(rng)] += 1
    same = beside.observe() == before and pickle.dumps(beside.env.get_state()) == pickle.dumps(state)
    print(f"{title}, fuzz: {messages} messages; answers: {dict(answers)}; the session beside them moved: {not same}")
    return same


async def fuzz_verifiers(messages: int) -> bool:
    """Replies that no model should give; whether an episode beside each is as it is alone."""
    from rlenvs.integrations.verifiers import Episodes, EpisodesConfig

    rng, sent, moved, refused = random.Random(0), 0, 0, 0
    for seed in itertools.count():
        task, other = Episodes(EpisodesConfig(env="CartPole-v0", episodes=2, first_seed=seed)).load()
        (env, _), (beside, _), (alone, _) = task.begin(), other.begin(), other.begin()
        for turn in range(STEPS):
            reply = rng.choice([*VALUES, rng.randbytes(rng.randrange(2 * BYTES)).decode("latin-1")])
            told = env.step(reply)
            sent, refused = sent + 1, refused + bool(told[4]["illegal_reason"])
            moved += beside.step(REPLIES[turn % 2])[:4] != alone.step(REPLIES[turn % 2])[:4]
            if told[2] or sent == messages:
                break
        if sent == messages:
            break
    print(f"verifiers, fuzz: {sent} replies, {refused} of them replaced; steps of the episode beside moved: {moved}")
    return moved == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("protocol", choices=["mcp", "openenv", "verifiers"])
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--fuzz", type=int, metavar="MESSAGES", help="send these in place of episodes")
    given = parser.parse_args()
    os.environ["NO_PROXY"] = "127.0.0.1,localhost"
    if given.protocol == "verifiers":
        coroutine = fuzz_verifiers(given.fuzz) if given.fuzz else episodes_of_verifiers(given.episodes)
        sys.exit(asyncio.run(coroutine) is False)
    sessions = Sessions(["CartPole-v0"], limits=Limits(sessions=32, characters=BYTES))
    if given.protocol == "mcp":
        from rlenvs.serve.mcp_server import http_app, mcp_server

        app, answer = http_app(mcp_server(sessions), sessions), answer_of_mcp
    else:
        from rlenvs.serve.openenv_server import openenv_app

        app, answer = openenv_app(sessions), answer_of_openenv
    port = listening(app)
    if given.fuzz:
        sys.exit(not fuzz(given.protocol, partial(answer, port), sessions, given.fuzz))
    if given.protocol == "mcp":
        asyncio.run(episodes_over_mcp(port, sessions, given.episodes))
    else:
        episodes_over_openenv(port, sessions, given.episodes)


if __name__ == "__main__":
    main()
