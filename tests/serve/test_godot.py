"""Environments as games of Godot RL Agents: what the game answers, and its own Python package as the trainer."""

import random
import socket
import stat
import sys
import threading

import numpy as np
import pytest
from support import bridge_fuzz

import rlenvs
from rlenvs.bridge.godot import GodotVectorEnv, send_json
from rlenvs.bridge.wire import Wire
from rlenvs.core.declare.errors import BridgeError, LostConnectionError, ParameterError
from rlenvs.serve import godot_game
from rlenvs.serve.godot_game import GodotSide, play_game

HANDSHAKE = {"type": "handshake", "major_version": "0", "minor_version": "7"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def playing(game, port):
    """A game in a thread."""
    thread = threading.Thread(target=play_game, args=(game, port), daemon=True)
    thread.start()
    return thread


def test_what_it_tells_of_its_spaces():
    told = GodotSide("CartPole-v0", 2).env_info()
    assert told["n_agents"] == 2
    assert told["action_space"] == [{"action": {"action_type": "discrete", "size": 2}}] * 2
    largest = float(np.finfo(np.float32).max)
    assert told["observation_space"] == [{"obs": {"space": "box", "size": [4], "low": -largest, "high": largest}}] * 2
    assert told["agent_policy_names"] == ["shared_policy"] * 2
    told = GodotSide("Pendulum-v0").env_info()
    assert told["action_space"] == [{"action": {"action_type": "continuous", "size": 1}}]
    told = GodotSide("FrozenLake-v0").env_info()
    assert told["observation_space"] == [{"obs": {"space": "discrete", "size": 16}}]
    told = GodotSide("MortarMayhemB-v0").env_info()
    assert list(told["observation_space"][0]) == ["screen_2d", "state"]
    assert list(told["action_space"][0]) == ["action_0", "action_1"]
    told = GodotSide("ParticleSpread-v0", 2).env_info()
    assert told["n_agents"] == 6
    assert told["agent_policy_names"] == ["agent_0", "agent_1", "agent_2"] * 2


def test_images_are_texts_under_a_name_with_2d():
    game = GodotSide("MiniGridDoorKey5x5-v0", 2, seed=1)
    told = game.env_info()["observation_space"][0]
    twin = rlenvs.make_vec("MiniGridDoorKey5x5-v0", 2)
    wanted, _ = twin.reset(seed=1)
    (name,) = [name for name in told if "2d" in name]
    image = wanted if not isinstance(wanted, dict) else wanted[name.removesuffix("_2d")]
    shape = tuple(told[name]["size"])
    seen = [np.frombuffer(bytes.fromhex(row[name]), np.uint8).reshape(shape) for row in game._seen()]
    assert np.array_equal(seen, image)
    ended = game.answer({"type": "action", "action": [{"action": 0}] * 2})
    assert all("terminal_observation" not in info for info in ended["info"])


@pytest.mark.parametrize("id", ["CartPole-v0", "Pendulum-v0"])
def test_a_game_is_the_vector_environment_that_begins_anew_in_the_same_step(id):
    port = free_port()
    game, twin = GodotSide(id, 3, seed=5, horizon=25), rlenvs.make_vec(id, 3, horizon=25, autoreset_mode="SAME_STEP")
    thread = playing(game, port)
    env = GodotVectorEnv(port)
    twin.reset(seed=5)
    assert np.allclose(env.reset()[0], twin.reset()[0])  # the second reset of both
    twin.action_space.seed(0)
    for _ in range(60):
        actions = twin.action_space.sample()
        scaled = actions / 2 if id == "Pendulum-v0" else actions  # its bounds are -2 and 2
        seen, rewards, ends, cuts, infos = env.step(scaled)
        wanted, others, ended, cut, told = twin.step(actions)
        assert np.array_equal(seen, wanted)
        assert np.array_equal(rewards, others)
        assert np.array_equal(ends, ended)
        assert np.array_equal(cuts, cut & ~ended)
        for i in np.flatnonzero(ended | cut):
            assert np.array_equal(infos["final_obs"][i], told["final_obs"][i])
    env.close()
    thread.join(5)
    assert not thread.is_alive()


def test_agents_that_are_out_wait_for_their_world():
    """As in the form for Stable-Baselines3: idle and unpaid, and done once more when the world begins anew."""
    game, rng = GodotSide("PathFinding-v0", 2, seed=0), np.random.default_rng(0)
    team, idle, begun = len(game.worlds.agents), 0, 0
    while begun < 3:
        waiting = ~game._alive.reshape(-1)
        actions = [
            {name: int(rng.integers(entry["size"])) for name, entry, _ in game._acted} for _ in range(game.slots)
        ]
        told = game.answer({"type": "action", "action": actions})
        for k in np.flatnonzero(waiting).tolist():
            assert told["info"][k]["idle"]
            assert told["reward"][k] == 0
            assert told["done"][k] == game.batch.at_start[k // team]
        for world in np.flatnonzero(game.batch.at_start).tolist():
            assert all(told["done"][world * team : (world + 1) * team])
            begun += 1
        idle += np.count_nonzero(waiting)
    assert idle > 0


WRONG = [
    {},
    {"type": None},
    {"type": []},
    {"type": "other"},
    {"type": "handshake"},
    {**HANDSHAKE, "minor_version": "6"},
    {**HANDSHAKE, "major_version": 0},
    {"type": "action"},
    {"type": "action", "action": None},
    {"type": "action", "action": {}},
    {"type": "action", "action": [{"action": 0}]},
    {"type": "action", "action": [{"action": 0}, {}]},
    {"type": "action", "action": [{"action": 0}, 0]},
    {"type": "action", "action": [{"action": 0}, {"action": 2}]},
    {"type": "action", "action": [{"action": 0}, {"action": -1}]},
    {"type": "action", "action": [{"action": 0}, {"action": 0.5}]},
    {"type": "action", "action": [{"action": 0}, {"action": True}]},
    {"type": "action", "action": [{"action": 0}, {"action": "0"}]},
    {"type": "action", "action": [{"action": 0}, {"action": [0, 1]}]},
    {"type": "action", "action": [{"action": 0}, {"action": float("nan")}]},
    {"type": "action", "action": [{"action": 0}, {"action": float("inf")}]},
    {"type": "action", "action": [{"action": 0}, {"action": 10**400}]},
    {"type": "call"},
    {"type": "call", "method": "queue_free"},
    {"type": "call", "method": ["action_masks"]},
]


@pytest.mark.parametrize("message", WRONG, ids=lambda message: str(message)[:60])
def test_a_message_that_is_refused_changes_nothing(message):
    game = GodotSide("CartPole-v0", 2)
    before = game.batch.states.tobytes()
    with pytest.raises(BridgeError):
        game.answer(message)
    assert game.batch.states.tobytes() == before


@pytest.mark.parametrize(
    "value", [0.5, [], [0.5, 0.5], [None], ["x"], [True], [float("nan")], [float("-inf")], [10**400]]
)
def test_numbers_that_are_none_are_refused(value):
    game = GodotSide("Pendulum-v0")
    before = game.batch.states.tobytes()
    with pytest.raises(BridgeError, match="must be 1 finite numbers"):
        game.answer({"type": "action", "action": [{"action": value}]})
    assert game.batch.states.tobytes() == before


def test_numbers_beyond_one_are_the_bounds():
    games = [GodotSide("Pendulum-v0", seed=1) for _ in range(2)]
    told = [
        game.answer({"type": "action", "action": [{"action": [value]}]})
        for game, value in zip(games, (1.0, 9), strict=True)
    ]
    assert told[0] == told[1]


def test_methods_that_may_be_called():
    game = GodotSide("FrozenLake-v0", 2)
    assert game.answer({"type": "call", "method": "is_success"}) == {"type": "call", "returns": [False, False]}
    assert len(game.answer({"type": "call", "method": "action_masks"})["returns"]) == 2


def test_messages_that_nobody_should_send_move_nothing():
    game = GodotSide("CartPole-v0", 2)
    before = game.batch.states.tobytes()
    told = bridge_fuzz.to_games(game, random.Random(0), 1000)
    assert told.total() == 1000
    assert set(told) == {"BridgeError", "LostConnectionError"}
    assert game.batch.states.tobytes() == before


def test_a_trainer_is_waited_for_and_then_missed():
    with pytest.raises(BridgeError, match="nobody answers"):
        play_game(GodotSide("CartPole-v0"), free_port(), patience=0.1)


def test_a_trainer_that_leaves_in_the_middle_of_a_step_leaves_the_worlds_as_they_were():
    game, errors = GodotSide("CartPole-v0", 2), []
    before = game.batch.states.tobytes()
    server = socket.create_server(("127.0.0.1", 0))

    def play():
        try:
            play_game(game, server.getsockname()[1])
        except BridgeError as error:
            errors.append(error)

    thread = threading.Thread(target=play)
    thread.start()
    wire = Wire(server.accept()[0], 5)
    send_json(wire, HANDSHAKE)
    wire.send((100).to_bytes(4, "little") + b'{"type": "action", "action": [{"action": 1}')
    wire.close()
    thread.join(5)
    server.close()
    assert isinstance(errors[0], LostConnectionError)
    assert game.batch.states.tobytes() == before


PROGRAM = """#!{python}
from rlenvs.serve.godot_game import as_game
as_game("CartPole-v0", 16)
"""


def program(tmp_path):
    path = tmp_path / "cartpole.x86_64"
    path.write_text(PROGRAM.format(python=sys.executable))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.mark.budget(8)
def test_an_environment_may_be_the_program_of_a_game(tmp_path):
    env = GodotVectorEnv(free_port(), path=program(tmp_path), seed=3)
    assert env.num_envs == 16
    twin = rlenvs.make_vec("CartPole-v0", 16)
    twin.reset(seed=3)
    assert np.array_equal(env.reset()[0], twin.reset()[0])
    env.close()
    assert env.games[0]._process.returncode == 0


def test_flags_that_are_none(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["game", "--port=x"])
    with pytest.raises(BridgeError, match="whole numbers"):
        godot_game.as_game("CartPole-v0")
    monkeypatch.setattr(sys, "argv", ["game", "--env_seed=-1", "--headless"])
    with pytest.raises(ParameterError, match="seed=-1"):
        godot_game.as_game("CartPole-v0")


# --- the package godot_rl ---------------------------------------------------------------------------------------------


def test_its_own_package_is_told_the_same(capfd):
    godot_env = pytest.importorskip("godot_rl.core.godot_env")
    port = free_port()
    thread = playing(GodotSide("Pendulum-v0", 4, seed=2, horizon=9), port)
    env = godot_env.GodotEnv(port=port)
    assert env.num_envs == 4
    assert env.action_space[0].shape == (1,)
    twin = rlenvs.make_vec("Pendulum-v0", 4, horizon=9, autoreset_mode="SAME_STEP")
    twin.reset(seed=2)
    seen, _ = env.reset()
    assert np.array_equal([row["obs"] for row in seen], twin.reset()[0])
    for step in range(1, 21):
        actions = np.full((4, 1), step / 20, np.float32)
        seen, rewards, ends, *_ = env.step([actions])
        wanted, others, _, cuts, _ = twin.step(2 * actions)
        assert np.array_equal([row["obs"] for row in seen], wanted)
        assert np.array_equal(rewards, others)
        assert ends == cuts.tolist() == [step % 9 == 0] * 4
    assert env.call("is_success") == [False] * 4
    env.close()
    thread.join(5)
    assert not thread.is_alive()


@pytest.mark.budget(40)
def test_its_own_package_trains_here(tmp_path, capfd):
    wrapper = pytest.importorskip("godot_rl.wrappers.stable_baselines_wrapper")
    from stable_baselines3 import PPO
    from stable_baselines3.common.utils import set_random_seed
    from stable_baselines3.common.vec_env import VecMonitor

    env = VecMonitor(wrapper.StableBaselinesGodotEnv(str(program(tmp_path)), n_parallel=2, port=free_port()))
    assert env.num_envs == 32
    set_random_seed(0)  # its wrapper takes no seeds
    agent = PPO("MultiInputPolicy", env, n_steps=64, batch_size=512, learning_rate=3e-3)
    agent.learn(40_000)
    lengths = [episode["l"] for episode in agent.ep_info_buffer]
    env.close()
    assert np.mean(lengths) > 60  # random actions last for 22 steps


@pytest.mark.budget(10)
def test_truncations_reach_its_learners(capfd, monkeypatch):
    """Stable-Baselines3 bootstraps from "terminal_observation" where "TimeLimit.truncated" says so."""
    wrapper = pytest.importorskip("godot_rl.wrappers.stable_baselines_wrapper")
    from stable_baselines3 import PPO
    from stable_baselines3.common.policies import ActorCriticPolicy

    seen, predict = [], ActorCriticPolicy.predict_values
    told = lambda policy, obs: (seen.append(obs["obs"].tolist()), predict(policy, obs))[1]  # noqa: E731
    monkeypatch.setattr(ActorCriticPolicy, "predict_values", told)
    port = free_port()
    thread = playing(GodotSide("Pendulum-v0", 2, horizon=5), port)
    env = wrapper.StableBaselinesGodotEnv(port=port)
    PPO("MultiInputPolicy", env, n_steps=12, batch_size=24, n_epochs=1).learn(24)
    env.close()
    thread.join(5)
    assert len(seen) == 2 * 2 + 1  # two truncations of each of two worlds, and the end of the rollout
