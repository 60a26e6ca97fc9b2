"""The engine's side of the binary protocol: what it tells, whom it refuses, and sessions that outlast connections."""

import contextlib
import json
import random
import socket
import struct
import threading
import time

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test
from support import bridge_fuzz

import rlenvs
from rlenvs.bridge import RemoteParallelEnv, RemoteVectorEnv
from rlenvs.bridge.layout import HEADER, Kind, json_message
from rlenvs.bridge.wire import Wire
from rlenvs.core.declare.errors import BridgeError, ParameterError
from rlenvs.serve import Limits
from rlenvs.serve.bridge_server import BridgeServer
from rlenvs.serve.worlds import Worlds

TOKEN = "0123456789abcdef"


def served(make, **keywords):
    server = BridgeServer(make, **keywords)
    threading.Thread(target=server.serve, daemon=True).start()
    return server


@pytest.fixture
def server():
    server = served(lambda: Worlds("CartPole-v0", 3), limits=Limits(sessions=3))
    yield server
    server.close()


class Raw:
    """A trainer that says what it likes."""

    def __init__(self, server, **hello):
        self.socket = socket.create_connection(("127.0.0.1", server.port), 5)
        if hello:
            self.say(json_message(Kind.HELLO, 0, hello))

    def say(self, message):
        self.socket.sendall(message)

    def hear(self):
        """Kind, number and content of the next message; None at the end."""
        head = self._read(16)
        if len(head) < 16:
            return None
        _, length, number, kind = HEADER.unpack(head)
        body = self._read(length)
        return kind, number, json.loads(body) if kind in (Kind.WELCOME, Kind.ERROR) else body

    def _read(self, count):
        found = b""
        while len(found) < count:
            try:
                part = self.socket.recv(count - len(found))
            except ConnectionError:
                part = b""
            if not part:
                break
            found += part
        return found

    def refused(self):
        kind, _, told = self.hear()
        assert kind == Kind.ERROR
        if told["fatal"]:
            assert self.hear() is None  # and the connection ends
        return told["code"]


HELLO = {"protocol": "rlenvs", "version": 2, "token": "", "session": None}


def request(number, do=(2, 2, 2), seeds=(-1, -1, -1), actions=(0, 0, 0), kind=Kind.REQUEST):
    body = bytes(do).ljust(8, b"\0") + struct.pack("<3q", *seeds) + struct.pack("<3q", *actions)
    return HEADER.pack(b"RLB2", len(body), number, kind) + body


@pytest.mark.parametrize("mode", ["NEXT_STEP", "SAME_STEP"])
@pytest.mark.parametrize("id", ["CartPole-v0", "Pendulum-v0", "FrozenLake-v0"])
def test_what_comes_over_the_bridge_is_the_vector_environment(id, mode):
    server = served(lambda: Worlds(id, 3, horizon=30))
    env, twin = (
        RemoteVectorEnv(server.port, autoreset_mode=mode),
        rlenvs.make_vec(id, 3, horizon=30, autoreset_mode=mode),
    )
    assert env.single_observation_space == twin.single_observation_space
    assert env.single_action_space == twin.single_action_space
    twin.action_space.seed(0)
    for seed in (7, None):
        seen, infos = env.reset(seed=seed)
        wanted, others = twin.reset(seed=seed)
        assert np.array_equal(seen, wanted)
        for _ in range(70):
            actions = twin.action_space.sample()
            *found, infos = env.step(actions)
            *wanted, others = twin.step(actions)
            for one, other in zip(found, wanted, strict=True):
                assert np.array_equal(one, other)
                assert one.dtype == other.dtype
            ended = found[2] | found[3]
            for name in infos.keys() - {"final_obs", "final_info", "_final_obs", "_final_info"}:
                rows = slice(None) if mode == "NEXT_STEP" else ~ended
                assert np.array_equal(infos[name][rows], others[name][rows]), name
            if mode == "SAME_STEP" and ended.any():
                assert np.array_equal(infos["_final_obs"], ended)
                for i in np.flatnonzero(ended):
                    assert np.array_equal(infos["final_obs"][i], others["final_obs"][i])
                    assert infos["final_info"]["is_success"][i] == others["final_info"]["is_success"][i]
    env.close()
    server.close()


def test_a_team_is_the_parallel_environment():
    server = served(lambda: Worlds("PathFinding-v0"))
    env, twin = RemoteParallelEnv(server.port), rlenvs.parallel_env("PathFinding-v0", masks="info")
    assert env.possible_agents == twin.possible_agents
    with pytest.raises(ParameterError):
        env.reset(seed=-1)
    env.reset(seed=3)
    twin.reset(seed=0)
    twin.batch.seed([3])  # the parallel form draws this from its own seed
    twin.reset()
    rng, sizes = np.random.default_rng(0), set()
    for _ in range(2):
        while env.agents:
            sizes.add(len(env.agents))
            actions = {agent: rng.integers(env.action_space(agent).n) for agent in env.agents}
            *found, infos = env.step(actions)
            *wanted, others = twin.step(actions)
            for agent in actions:
                assert np.array_equal(found[0][agent], wanted[0][agent])
                assert all(one[agent] == other[agent] for one, other in zip(found[1:], wanted[1:], strict=True))
                assert infos[agent]["is_success"] == others[agent]["is_success"]
            assert env.agents == twin.agents
        env.reset()
        twin.reset()
    assert len(sizes) > 1  # some were out before the others
    env.close()
    server.close()


def test_a_team_passes_the_test_of_pettingzoo():
    server = served(lambda: Worlds("PathFinding-v0"))
    env = RemoteParallelEnv(server.port)
    parallel_api_test(env, num_cycles=60)
    env.close()
    server.close()
    two = served(lambda: Worlds("PathFinding-v0", 2))
    with pytest.raises(ParameterError, match="has 2 worlds here"):
        RemoteParallelEnv(two.port)
    with pytest.raises(ParameterError, match="agents in a world"):
        RemoteVectorEnv(two.port)
    two.close()


@pytest.mark.parametrize(
    ("id", "keywords"),
    [
        ("MortarMayhemB-v0", {}),  # an image beside numbers, several choices
        ("FrozenLake-v0", {}),  # a number, masks
        ("SafePointGoal-v0", {}),  # costs
        ("PandaReach-v0", {"form": "goal"}),
        ("HalfCheetah-v0", {}),  # float64 without bounds
    ],
)
def test_all_kinds_of_spaces_cross(id, keywords):
    if id in ("PandaReach-v0", "HalfCheetah-v0"):
        pytest.importorskip("mujoco")
    server = served(lambda: Worlds(id, 2, **keywords))
    env, twin = RemoteVectorEnv(server.port), rlenvs.make_vec(id, 2, **keywords)
    assert env.single_observation_space == twin.single_observation_space
    assert env.single_action_space == twin.single_action_space
    twin.action_space.seed(0)
    seen, wanted = env.reset(seed=1), twin.reset(seed=1)
    for _ in range(4):
        parts = seen[0] if isinstance(seen[0], dict) else {"": seen[0]}
        for name, part in parts.items():
            other = wanted[0][name] if name else wanted[0]
            assert part.dtype == other.dtype
            assert np.array_equal(part, other)
        for name in wanted[-1].keys() - {"reward_vector", "_reward_vector"}:
            assert np.array_equal(seen[-1][name], wanted[-1][name]), name
        actions = twin.action_space.sample()
        seen, wanted = env.step(actions), twin.step(actions)
    env.close()
    server.close()


def test_agents_that_differ_are_padded():
    id = "ParticleSpeakerListener-v0"
    server = served(lambda: Worlds(id))
    env, twin = RemoteParallelEnv(server.port), rlenvs.parallel_env(id, pad=True)
    env.reset(seed=3)
    twin.reset(seed=0)
    twin.batch.seed([3])  # the parallel form draws this from its own seed
    twin.reset()
    for choice in range(5):
        actions = dict.fromkeys(env.agents, choice)
        seen, rewards, *_ = env.step(actions)
        wanted, others, *_ = twin.step(actions)
        assert rewards == others
        for agent in actions:
            assert np.array_equal(seen[agent], wanted[agent])
            assert env.observation_space(agent) == twin.observation_space(agent)
    env.close()
    server.close()


def test_a_session_goes_on_after_its_connection_was_lost(server):
    first, twin = Raw(server, **HELLO), Raw(server, **HELLO)
    key = first.hear()[2]["session"]
    assert twin.hear()[2]["session"] != key
    for trainer in (first, twin):
        trainer.say(request(1, seeds=(4, 5, 6)))
    assert first.hear() == twin.hear()
    first.say(request(2, (1, 1, 1))[:30])  # lost in the middle of a request: not taken
    first.socket.close()
    second = Raw(server, **{**HELLO, "session": key})
    assert second.hear()[2]["number"] == 1
    second.say(request(2, (1, 1, 1)))
    twin.say(request(2, (1, 1, 1)))
    assert second.hear() == twin.hear()
    second.say(request(3, (1, 1, 1)))  # lost before its answer came: taken once
    second.socket.close()
    twin.say(request(3, (1, 1, 1)))
    answer = twin.hear()
    third = Raw(server, **{**HELLO, "session": key})
    assert third.hear()[2]["number"] in (2, 3)
    third.say(request(3, (1, 1, 1)))
    assert third.hear() == answer
    third.say(request(3, (1, 1, 1)))
    assert third.hear() == answer
    third.say(request(4, (1, 2, 0)))
    twin.say(request(4, (1, 2, 0)))
    assert third.hear() == twin.hear()


class Cutter:
    """A relay that cuts each connection after some bytes."""

    def __init__(self, port, seed, bounds):
        self.rng, self.target, self.bounds, self.cuts = random.Random(seed), port, bounds, 0
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.server.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.target))
            for one, other in ((near, far), (far, near)):
                left = self.rng.randrange(*self.bounds)
                threading.Thread(target=self.relay, args=(one, other, left), daemon=True).start()

    def relay(self, source, sink, left):
        try:
            while left > 0:
                part = source.recv(min(left, 1 << 16))
                if not part:
                    break
                sink.sendall(part)
                left -= len(part)
        except OSError:
            pass
        if left <= 0:
            self.cuts += 1
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def test_a_line_that_breaks_all_the_time_changes_nothing(server):
    cutter = Cutter(server.port, 1, (2500, 6000))
    env, twin = RemoteVectorEnv(cutter.port, timeout=5), rlenvs.make_vec("CartPole-v0", 3)
    assert np.array_equal(env.reset(seed=9)[0], twin.reset(seed=9)[0])
    twin.action_space.seed(1)
    for _ in range(250):
        actions = twin.action_space.sample()
        for one, other in zip(env.step(actions)[:4], twin.step(actions)[:4], strict=True):
            assert np.array_equal(one, other)
    assert cutter.cuts > 5
    assert len(server) == 1
    env.close()
    cutter.server.close()


def test_many_trainers_leave_nothing(server):
    twin = RemoteVectorEnv(server.port)
    twin.reset(seed=0)
    for seed in range(30):
        env = RemoteVectorEnv(server.port)
        env.reset(seed=seed)
        env.close()
    for _ in range(500):
        if len(server) == len(server._wires) == 1:
            break
        time.sleep(0.01)
    assert len(server) == len(server._wires) == 1  # the twin's
    again = rlenvs.make_vec("CartPole-v0", 3)
    again.reset(seed=0)
    assert np.array_equal(twin.step(np.ones(3, int))[0], again.step(np.ones(3, int))[0])  # it has seen none of them
    twin.close()


def test_what_a_request_may_not_ask_changes_nothing(server):
    trainer = Raw(server, **HELLO)
    trainer.hear()
    trainer.say(request(1, do=(1, 1, 1)))  # before anything began
    assert trainer.refused() == "refused"
    trainer.say(request(2, seeds=(1, 2, 3)))
    assert trainer.hear()[0] == Kind.ANSWER
    before = server._sessions[next(iter(server._sessions))].worlds.batch.states.tobytes()
    for number, wrong in enumerate(
        [
            {"do": (3, 1, 1)},
            {"do": (255, 1, 1)},
            {"do": (1, 1, 1), "actions": (0, 2, 0)},
            {"do": (1, 1, 1), "actions": (-1, 0, 0)},
            {"do": (1, 1, 1), "actions": (0, 0, 2**62)},
            {"seeds": (-2, 0, 0)},
            {"do": (1, 2, 2), "seeds": (-(2**63), 0, 0)},
            {"do": (1, 2, 2), "actions": (7, 0, 0)},
        ],
        3,
    ):
        trainer.say(request(number, **wrong))
        assert trainer.refused() == "refused", wrong
        trainer.say(request(number, **wrong))
        assert trainer.refused() == "refused"  # the same answer to the same request
    assert server._sessions[next(iter(server._sessions))].worlds.batch.states.tobytes() == before
    trainer.say(request(11, do=(1, 0, 0), actions=(1, 99, -5)))  # those that do not step ignore their actions
    assert trainer.hear()[0] == Kind.ANSWER
    trainer.say(request(12, do=(2, 2, 2), seeds=(2**63 - 1, 0, 0)))
    assert trainer.hear()[0] == Kind.ANSWER


def test_nan_is_refused_and_ignored_where_a_world_waits():
    server = served(lambda: Worlds("Pendulum-v0", 2))
    env = RemoteVectorEnv(server.port)
    env.reset(seed=0)
    engine = env.engines[0]
    engine.request["actions"][:] = [[[np.nan]], [[0.0]]]
    engine.request["do"][:] = 1
    engine.send()
    with pytest.raises(BridgeError, match="NaN"):
        engine.receive()
    engine.request["do"][:] = 0, 1
    engine.send()
    engine.receive()
    assert engine.answer["rewards"][0, 0] == 0
    assert engine.answer["rewards"][1, 0] != 0
    env.close()
    server.close()


@pytest.mark.parametrize(
    ("hello", "code"),
    [
        ({"version": 1}, "version"),
        ({"version": "2"}, "version"),
        ({"version": None}, "version"),
        ({"protocol": "godot"}, "version"),
        ({"session": "none"}, "session"),
        ({"session": 3}, "session"),
        ({"session": []}, "session"),
    ],
)
def test_a_hello_that_is_none_is_told_why(server, hello, code):
    assert Raw(server, **{**HELLO, **hello}).refused() == code
    assert len(server) == 0


def test_other_protocols_and_lengths_are_told_why(server):
    for message, code in [
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "format"),
        (struct.pack("<I", 60) + b'{"type": "handshake"}', "format"),
        (HEADER.pack(b"RLB2", 1 << 14, 0, Kind.REQUEST), "format"),
        (HEADER.pack(b"RLB2", (1 << 14) + 1, 0, Kind.HELLO), "format"),
        (HEADER.pack(b"RLB2", 2**32 - 1, 0, Kind.HELLO), "format"),
        (HEADER.pack(b"RLB2", 2, 0, Kind.HELLO) + b"[]", "format"),
        (HEADER.pack(b"RLB2", 9, 0, Kind.HELLO) + b"\xff" * 9, "format"),
        (HEADER.pack(b"RLB2", 16000, 0, Kind.HELLO) + b"[" * 16000, "format"),
    ]:
        trainer = Raw(server)
        trainer.say(message)
        assert trainer.refused() == code, message[:40]
    for message, code in [
        (HEADER.pack(b"RLB2", 2**32 - 1, 1, Kind.REQUEST), "size"),
        (HEADER.pack(b"RLB2", 0, 1, Kind.REQUEST), "size"),
        (HEADER.pack(b"RLB2", 5, 1, Kind.CLOSE) + bytes(5), "format"),
        (request(1, kind=9), "format"),
        (request(2), "order"),
        (request(0), "order"),
        (request(2**32 - 1), "order"),
    ]:
        trainer = Raw(server, **HELLO)
        trainer.hear()
        trainer.say(message)
        assert trainer.refused() == code, message[:16]


def test_strangers_are_refused_and_others_need_a_token():
    server = served(lambda: Worlds("CartPole-v0", 3), token=TOKEN)
    for wrong in ("", TOKEN[:-1], TOKEN + "x", None, 3, [TOKEN], "é" * 16, "\ud800"):
        assert Raw(server, **{**HELLO, "token": wrong}).refused() == "token"
    with pytest.raises(BridgeError, match="needed: the engine's token"):
        RemoteVectorEnv(server.port)
    RemoteVectorEnv(server.port, token=TOKEN).close()
    server.close()
    with pytest.raises(ParameterError, match="can be reached from other machines"):
        BridgeServer(lambda: Worlds("CartPole-v0"), "0.0.0.0")


def test_sessions_are_limited_and_end(server):
    trainers = [Raw(server, **HELLO) for _ in range(3)]
    keys = [trainer.hear()[2]["session"] for trainer in trainers]
    assert Raw(server, **HELLO).refused() == "full"
    trainers[0].socket.close()
    while server._sessions[keys[0]].wire is not None:
        time.sleep(0.01)
    other = Raw(server, **HELLO)  # in the place of one that nobody is connected to
    assert other.hear()[0] == Kind.WELCOME
    assert Raw(server, **{**HELLO, "session": keys[0]}).refused() == "session"
    trainers[1].say(HEADER.pack(b"RLB2", 0, 0, Kind.CLOSE))
    assert trainers[1].hear() is None
    assert Raw(server, **{**HELLO, "session": keys[1]}).refused() == "session"
    server._sessions[keys[2]].left = -1e9  # connected: does not count
    assert Raw(server, **HELLO).hear()[0] == Kind.WELCOME
    assert keys[2] in server._sessions


def test_a_session_without_a_connection_ends_after_a_while():
    server = served(lambda: Worlds("CartPole-v0", 3), limits=Limits(idle=0.05))
    trainer = Raw(server, **HELLO)
    key = trainer.hear()[2]["session"]
    trainer.socket.close()
    while key in server._sessions and server._sessions[key].wire is not None:
        time.sleep(0.01)
    time.sleep(0.1)
    assert Raw(server, **{**HELLO, "session": key}).refused() == "session"
    assert len(server) == 0
    server.close()


def test_a_second_connection_takes_the_session_over(server):
    first = Raw(server, **HELLO)
    key = first.hear()[2]["session"]
    second = Raw(server, **{**HELLO, "session": key})
    assert second.hear()[0] == Kind.WELCOME
    assert first.hear() is None
    second.say(request(1))
    assert second.hear()[0] == Kind.ANSWER


def test_a_connection_that_lost_its_session_cannot_end_it(server):
    """What it has sent before it was shut may still be read."""
    kind, _, told = Raw(server, **HELLO).hear()
    assert kind == Kind.WELCOME
    session = server._sessions[told["session"]]
    with socket.create_server(("127.0.0.1", 0)) as listening:
        theirs = socket.create_connection(listening.getsockname())
        before = Wire(listening.accept()[0], 5.0)
    theirs.sendall(HEADER.pack(b"RLB2", 0, 0, Kind.CLOSE))
    assert not server._answer(before, session)
    assert told["session"] in server._sessions
    theirs.close()
    before.close()


def test_messages_that_nobody_should_send_move_nothing():
    server = served(lambda: Worlds("CartPole-v0", 3), limits=Limits(sessions=4))
    env = RemoteVectorEnv(server.port)
    env.reset(seed=3)
    key = next(iter(server._sessions))
    before = server._sessions[key].worlds.batch.states.tobytes()
    told = bridge_fuzz.to_servers(server.port, random.Random(2), 300)
    assert {"format", "size", "version", "session", "refused", "WELCOME"} <= set(told)
    assert not set(told) - {"format", "size", "version", "session", "refused", "order", "WELCOME"}
    assert server._sessions[key].worlds.batch.states.tobytes() == before
    assert np.isfinite(env.step(np.zeros(3, np.int64))[0]).all()
    env.close()
    server.close()


def test_a_connection_that_cannot_be_taken_ends_no_server():
    """As when too many files are open."""
    server = BridgeServer(lambda: Worlds("CartPole-v0", 1))
    listening, failures = server._server, [OSError(24, "Too many open files"), ConnectionAbortedError()]

    class Short:
        def accept(self):
            if failures:
                raise failures.pop()
            return listening.accept()

        def __getattr__(self, name):
            return getattr(listening, name)

    server._server = Short()
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    assert Raw(server, **HELLO).hear()[0] == Kind.WELCOME
    assert not failures
    server.close()
    thread.join(5)
    assert not thread.is_alive()


def test_a_server_that_closes_ends_its_connections():
    server = served(lambda: Worlds("CartPole-v0", 3))
    trainer = Raw(server, **HELLO)
    trainer.hear()
    server.close()
    assert trainer.hear() is None
    with pytest.raises(BridgeError, match="cannot be listened on"):
        BridgeServer(lambda: Worlds("CartPole-v0"), port=1 << 20)
