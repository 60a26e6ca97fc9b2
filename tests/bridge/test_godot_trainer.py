"""Games of Godot RL Agents as environments: the trainer's side of protocol 0.7, with a game that is none of ours."""

import inspect
import json
import socket
import stat
import sys
import threading

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from support import dummy_engine

from rlenvs.bridge import GodotParallelEnv, GodotVectorEnv
from rlenvs.bridge import godot as protocol
from rlenvs.bridge.wire import Wire
from rlenvs.core.declare.errors import ActionError, BridgeError, EpisodeOverError, ParameterError


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def game(port, agents=4, patience=5.0, **keywords):
    """A game in a thread, which looks for its trainer as games do."""

    def play():
        for _ in range(int(patience * 100)):
            try:
                dummy_engine.play(port, agents, **keywords)
                return
            except ConnectionRefusedError:
                threading.Event().wait(0.01)
            except (ConnectionError, OSError):
                return

    thread = threading.Thread(target=play, daemon=True)
    thread.start()
    return thread


def acts(count, jump=1, move=0.5):
    return {"jump": np.full(count, jump), "move": np.full((count, 2), move, np.float32)}


def test_the_published_numbers():
    assert protocol.VERSION == ("0", "7")
    assert protocol.PORT == 11008
    assert inspect.signature(protocol.GodotGame).parameters["timeout"].default == 60
    assert protocol._observed("obs", {"space": "box", "size": [3]}) == spaces.Box(-1, 1, (3,), np.float32)
    assert protocol._observed("obs", {"space": "discrete", "size": 3}) == spaces.Discrete(3)
    assert protocol._acted("a", {"action_type": "continuous", "size": 2.0}) == spaces.Box(-1, 1, (2,), np.float32)


def test_a_message_has_as_many_bytes_as_characters():
    """Godot counts bytes and `godot_rl` characters, so all of them are ASCII."""
    near, far = socket.socketpair(socket.AF_UNIX)
    wire = Wire.__new__(Wire)  # this pair knows no options of TCP
    wire.socket = near
    protocol.send_json(wire, {"type": "call", "method": "größe"})
    sent = far.recv(1000)
    assert int.from_bytes(sent[:4], "little") == len(sent) - 4 == len(sent[4:].decode())
    far.sendall(sent)
    assert protocol.read_json(wire) == {"type": "call", "method": "größe"}
    near.close()
    far.close()


def test_a_game_is_a_vector_environment():
    port = free_port()
    thread = game(port, 3, seed=10)
    env = GodotVectorEnv(port)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert env.single_observation_space == spaces.Box(-100, 100, (8,), np.float32)
    jump, move = spaces.Discrete(3), spaces.Box(-1, 1, (2,), np.float32)
    assert env.single_action_space == spaces.Dict({"jump": jump, "move": move})
    seen, _ = env.reset()
    assert seen.dtype == np.float32
    assert np.allclose(seen[:, 0], [0.011, 0.012, 0.013])
    for step in range(1, 31):
        seen, rewards, ends, cuts, infos = env.step(acts(3))
        assert np.array_equal(ends, [False, step == 20, False])
        assert np.array_equal(cuts, [step == 30, False, step == 30])
        if step < 20:
            assert np.allclose(rewards, 1 + np.array([0.011, 0.012, 0.013]) + 0.005 * step)
    assert np.array_equal(infos["_final_obs"], [True, False, True])
    assert np.allclose(infos["final_obs"][0][:2], [0.011 + 0.15, 0.3])
    assert np.allclose(seen[:, 1], [0, 0.1, 0])  # the next episodes have begun in the same step
    assert env.call_games("hello") == ["hello"] * 3
    env.close()
    thread.join(5)
    assert not thread.is_alive()


def test_several_games_are_one_environment():
    port = free_port()
    threads = [game(port + i, 2, seed=100 * i) for i in range(2)]
    env = GodotVectorEnv(port, games=2)
    assert env.num_envs == 4
    env.reset()
    seen, *_ = env.step({"jump": np.arange(4) % 3, "move": np.array([[-1, 0], [0, 0], [0.5, 0], [1, 0]], np.float32)})
    assert np.allclose(seen[:, 0], [0.001 - 0.01, 0.002, 0.101 + 0.005, 0.102 + 0.01])
    env.close()
    for thread in threads:
        thread.join(5)


def test_a_game_is_a_team():
    port = free_port()
    game(port, 3)
    env = GodotParallelEnv(port)
    assert env.policies == dict.fromkeys(["agent_0", "agent_1", "agent_2"], "shared_policy")
    with pytest.raises(EpisodeOverError):
        env.step({})
    env.reset()
    one = {"jump": 2, "move": np.zeros(2, np.float32)}
    for step in range(1, 31):
        _, rewards, ends, cuts, _ = env.step(dict.fromkeys(env.agents, one))
        assert set(rewards) == ({"agent_0", "agent_1", "agent_2"} if step <= 20 else {"agent_0", "agent_2"})
        if step == 20:
            assert ends == {"agent_0": False, "agent_1": True, "agent_2": False}
    assert cuts == {"agent_0": True, "agent_2": True}
    assert env.agents == []
    assert len(env.reset()[0]) == 3
    env.close()


def test_seeds_at_a_reset_are_warned_about():
    port = free_port()
    game(port, 1)
    env = GodotVectorEnv(port)
    with pytest.warns(UserWarning, match="knows no seeds"):
        env.reset(seed=3)
    env.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {"jump": [3, 0], "move": np.zeros((2, 2))},
        {"jump": [0, 0], "move": np.full((2, 2), np.nan)},
        {"jump": [0.0, 0.0], "move": np.zeros((2, 2))},
        {"jump": [0, 0], "move": np.zeros(2)},
        {"jump": [0, 0]},
        [0, 1],
        {"jump": [[0], 1], "move": None},
    ],
)
def test_a_wrong_action_moves_no_game(wrong):
    port = free_port()
    game(port, 2)
    env = GodotVectorEnv(port)
    before, _ = env.reset()
    with pytest.raises(ActionError):
        env.step(wrong)
    seen, *_ = env.step(acts(2, move=0.0))
    assert np.allclose(seen[:, 1], 0.01)
    assert np.allclose(seen[:, 0], before[:, 0])
    env.close()


def test_a_program_is_started_with_the_published_flags(tmp_path):
    path, port = tmp_path / "game.x86_64", free_port()
    path.write_text(
        f"#!{sys.executable}\nimport json, sys\nsys.path.insert(0, {str(dummy_engine.__file__.rpartition('/')[0])!r})\n"
        f"json.dump(sys.argv[1:], open({str(tmp_path / 'flags.json')!r}, 'w'))\nimport dummy_engine\n"
        "given = dict(flag[2:].split('=') for flag in sys.argv[1:] if '=' in flag)\n"
        "dummy_engine.play(int(given['port']), 2, int(given['env_seed']))\n"
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    env = GodotVectorEnv(port, path=path, seed=7, speedup=8, action_repeat=4, quiet=True)
    flags = json.loads((tmp_path / "flags.json").read_text())
    wanted = [f"--port={port}", "--env_seed=7", "--speedup=8", "--action_repeat=4", "--quiet"]
    assert flags == [*wanted, "--disable-render-loop", "--headless"]
    assert np.allclose(env.reset()[0][:, 0], [0.008, 0.009])
    env.close()
    assert env.games[0]._process.returncode is not None


def test_a_program_that_is_none_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="a file that may be run"):
        GodotVectorEnv(free_port(), path=tmp_path)


def test_nobody_connects_and_the_port_is_taken():
    port = free_port()
    with pytest.raises(BridgeError, match="no game connected"):
        GodotVectorEnv(port, timeout=0.05)
    with socket.create_server(("127.0.0.1", port)), pytest.raises(BridgeError, match="cannot be listened on"):
        GodotVectorEnv(port)


STEP = {"type": "step", "obs": [{"obs": [0.0] * 8}], "reward": [0.0], "done": [False], "info": [{}]}
INFO = {
    "type": "env_info",
    "n_agents": 1,
    "action_space": {"a": {"action_type": "discrete", "size": 2}},
    "observation_space": {"obs": {"space": "box", "size": [8]}},
}


@pytest.mark.parametrize(
    "wrong",
    [
        {**INFO, "n_agents": 0},
        {**INFO, "n_agents": "1"},
        {**INFO, "n_agents": 1e300},
        {**INFO, "n_agents": float("inf")},
        {**INFO, "n_agents": float("nan")},
        {**INFO, "n_agents": 1.5},
        {**INFO, "observation_space": {"obs": {"space": "box", "size": [3], "low": "x"}}},
        {**INFO, "observation_space": {"obs": {"space": "box", "size": [3], "low": 2.0, "high": 1.0}}},
        {**INFO, "n_agents": 2, "action_space": [INFO["action_space"]]},
        {**INFO, "action_space": {"a": {"action_type": "other", "size": 2}}},
        {**INFO, "action_space": {"a": {"action_type": "discrete", "size": -2}}},
        {**INFO, "action_space": {}},
        {**INFO, "observation_space": {"obs": {"space": "box", "size": [1 << 20, 1 << 20]}}},
        {**INFO, "observation_space": {"obs": {"space": "text", "size": 3}}},
        {**INFO, "observation_space": None},
        {"type": "step"},
        [],
        "x" * 100,
    ],
)
def test_a_game_that_tells_nonsense_is_refused(wrong):
    port = free_port()
    game(port, 1, before_send=lambda message: json.dumps(wrong).encode())
    with pytest.raises(BridgeError):
        GodotVectorEnv(port, timeout=5)


@pytest.mark.parametrize(
    "wrong",
    [
        json.dumps({**STEP, "obs": [{"obs": [0.0] * 7}]}).encode(),
        json.dumps({**STEP, "obs": [{"other": [0.0] * 8}]}).encode(),
        json.dumps({**STEP, "obs": [{"obs": "0000"}]}).encode(),
        json.dumps({**STEP, "obs": [{"obs": [float("nan")] * 8}]}).encode(),
        json.dumps({**STEP, "obs": []}).encode(),
        json.dumps({**STEP, "reward": [None]}).encode(),
        json.dumps({**STEP, "reward": [10**400]}).encode(),
        json.dumps({**STEP, "obs": [{"obs": [10**400] * 8}]}).encode(),
        json.dumps({**STEP, "obs": [{"obs": [1e300] * 8}]}).encode(),
        json.dumps({**STEP, "reward": [float("inf")]}).encode(),
        json.dumps({**STEP, "done": [2]}).encode(),
        json.dumps({**STEP, "type": "reset"}).encode(),
        b"",
        b"\xff\xfe",
        b"[" * 100_000,
        b"1" * 10_000,
    ],
)
def test_a_step_that_is_none_ends_the_connection_with_a_reason(wrong):
    port = free_port()

    def before_send(message):
        return wrong if message["type"] == "step" else json.dumps(message).encode()

    game(port, 1, before_send=before_send)
    env = GodotVectorEnv(port, timeout=5)
    env.reset()
    with pytest.raises(BridgeError):
        env.step(acts(1))
    with pytest.raises(BridgeError):  # and stays so
        env.step(acts(1))
    env.close()


def test_a_message_that_is_too_long_is_not_read():
    port = free_port()

    kept = []

    def boast():
        kept.append(socket.create_connection(("127.0.0.1", port)))
        kept[0].sendall(b"\xff\xff\xff\xff")

    threading.Timer(0.1, boast).start()
    with pytest.raises(BridgeError, match="4294967295 bytes was announced"):
        GodotVectorEnv(port, timeout=5)
    kept[0].close()


def test_a_game_that_ends_in_the_middle_of_a_step_is_lost():
    port = free_port()

    def before_send(message):
        if message["type"] == "step":
            raise ConnectionError
        return json.dumps(message).encode()

    game(port, 1, before_send=before_send)
    env = GodotVectorEnv(port, timeout=5)
    env.reset()
    with pytest.raises(BridgeError, match="closed the connection"):
        env.step(acts(1))
    env.close()


def test_an_exchange_that_was_interrupted_is_not_mixed_up_with_the_next():
    port = free_port()
    game(port, 1)
    env = GodotVectorEnv(port, timeout=5)
    env.reset()
    env.games[0].send([{"jump": np.array(0), "move": np.zeros(2)}])
    with pytest.raises(BridgeError, match="was interrupted"):
        env.step(acts(1))
    with pytest.raises(BridgeError, match="has ended"):
        env.reset()


def test_images_come_as_hexadecimal_text():
    port = free_port()
    told = {"camera_2d": {"space": "box", "size": [2, 2, 3]}, "speed": {"space": "discrete", "size": 5}}
    row = {"camera_2d": bytes(range(12)).hex(), "speed": 3}

    def before_send(message):
        if message["type"] == "env_info":
            message = {**INFO, "observation_space": told}
        if message["type"] == "reset":
            message = {"type": "reset", "obs": [row]}
        return json.dumps(message).encode()

    game(port, 1, before_send=before_send)
    env = GodotVectorEnv(port, timeout=5)
    seen, _ = env.reset()
    assert np.array_equal(seen["camera_2d"], np.arange(12, dtype=np.uint8).reshape(1, 2, 2, 3))
    assert seen["speed"].tolist() == [3]
    for wrong in (5, -1, 1.5, "3", [3], None):
        with pytest.raises(BridgeError, match="must be in Discrete"):
            protocol.elements({"speed": wrong}, {"speed": spaces.Discrete(5)})
    assert env.single_observation_space["camera_2d"] == spaces.Box(0, 255, (2, 2, 3), np.uint8)
    env.close()
