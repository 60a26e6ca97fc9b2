"""The MuJoCo engine, on a small world of its own (rolling_ball.py) and on an arm in contact."""

import copy
import gc
import os
import pickle
import resource
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from support.places import ROOT

from rlenvs.core.batch.engines import EngineBatch
from rlenvs.core.batch.simulate import PlanRollouts
from rlenvs.core.declare.errors import MissingExtraError, ParameterError
from rlenvs.core.forms.gym_env import Env
from rlenvs.core.forms.vector_env import VectorEnv

mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed: its engine is not tested")

from support.rolling_balls import elsewhere, play, pushes, started  # noqa: E402, F401 (a fixture)
from toys.rolling_ball import SPEC, model  # noqa: E402

from rlenvs.kits.engines import mujoco as module  # noqa: E402

BREAK, CALM = np.array([0.0, 1.0]), np.array([0.0, 0.0])


def states(batch):
    return [batch.get_state(i).state for i in range(batch.num_envs)]


# --- one world is what MuJoCo makes of it -----------------------------------------------------------------------------


def test_a_control_step_is_physics_steps_of_mujoco():
    batch = started(rate=40)
    assert batch.engine.steps == 5
    own = model(batch.setup.values).compile()
    data = mujoco.MjData(own)
    s = batch.records(0)[1]
    data.qpos[:], data.qvel[:], data.qacc_warmstart[:] = s["qpos"], s["qvel"], s["warmstart"]
    for action in pushes(40, 1):
        batch.step(action)
        data.ctrl[:] = action[0, 0, 0]
        mujoco.mj_step(own, data, 5)
        assert s["qpos"].tobytes() == data.qpos.tobytes()
        mujoco.mj_fwdPosition(own, data)
        assert s["ball"].tobytes() == data.xpos[own.body("ball").id].tobytes()
        assert s["xpos"].tobytes() == data.xpos.tobytes()  # test_locomotion.py has a world without sensors
        if batch.over[0]:
            break


def test_readings_are_there_at_the_start():
    batch = started(3)
    for i in range(3):
        s = batch.records(i)[1]
        np.testing.assert_array_equal(s["ball"], s["qpos"][:3])
        np.testing.assert_array_equal(s["start"], s["ball"])
    assert len({s.tobytes() for s in batch.states["ball"]}) == 3


def test_a_touch_is_felt():
    batch = play(started(), np.zeros((25, 1, 1, 2)))
    assert batch.records(0)[1]["touch"][0] == pytest.approx(0.1 * 9.81 * np.cos(0.1), rel=0.02)


# --- parameters -------------------------------------------------------------------------------------------------------

OTHERS = {
    "mass": (0.2, "body_mass"),
    "friction": (0.1, "geom_friction"),
    "radius": (0.08, "geom_size"),
    "gain": (3.0, "actuator_gear"),
    "gravity": (3.0, "opt.gravity"),
    "pole": (0.5, "geom_size"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_world_with_its_own_parameter_is_the_single_world_with_it(name):
    value, field = OTHERS[name]
    default = SPEC.params[name].default
    batch = started(3, **{name: np.array([default, value, default])})
    actions = pushes(20, 3)
    alone = started(1, seed=1, **{name: value})
    other = started(1, seed=1)
    found = batch.engine.simulations.expanded(field)
    assert not np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
    play(batch, actions)
    assert states(batch)[1] == states(play(alone, actions[:, 1:2]))[0]
    assert states(batch)[1] != states(play(other, actions[:, 1:2]))[0]
    assert states(batch)[2] == states(play(started(1, seed=2), actions[:, 2:3]))[0]


def test_parameters_change_in_mid_episode():
    batch, twin, actions = started(2), started(2), pushes(24, 2)
    play(batch, actions[:12])
    play(twin, actions[:12])
    batch.set_params({"gravity": 3.0}, np.array([False, True]))
    play(batch, actions[12:])
    play(twin, actions[12:])
    assert states(batch)[0] == states(twin)[0]
    assert states(batch)[1] != states(twin)[1]
    assert batch.get_params(1)["gravity"] == 3.0
    batch.set_params({"gravity": 9.81})  # and back
    batch.seed([0, 1])
    batch.reset()
    fresh = started(2)
    assert states(play(batch, actions)) == states(play(fresh, actions))


def test_parameters_drawn_at_every_reset_reach_the_model():
    batch = started(4, randomize={"mass": (0.05, 0.5)})
    masses = batch.engine.simulations.expanded("body_mass")[:, 1]
    assert masses.tolist() == [batch.get_params(i)["mass"] for i in range(4)]
    before = masses.copy()
    batch.reset()
    assert (masses != before).all()
    drawn = batch.get_params(2)["mass"]
    snapshot = batch.get_state(2)
    alone = EngineBatch(SPEC, 1, mass=drawn)
    alone.states[0] = np.frombuffer(snapshot.state, alone.states.dtype)[0]
    actions = pushes(10, 4)
    play(batch, actions)
    play(alone, actions[:, 2:3])
    assert batch.records(2)[1]["qpos"].tobytes() == alone.records(0)[1]["qpos"].tobytes()


def test_what_mujoco_refuses_is_a_parameter_error():
    with pytest.raises(ParameterError, match=r"RollingBall-v0: MuJoCo refuses the model of these parameters: .*"):
        EngineBatch(SPEC, 1, model="refused")
    with pytest.raises(ParameterError, match="longer than"):
        EngineBatch(SPEC, 1, model="short", pole=0.6)
    with pytest.raises(ParameterError, match="longer than"):
        started(2, model="short", pole=np.array([0.3, 0.6]))


def test_parameters_that_the_engine_refuses_change_nothing():
    """Also where the episode of a world is over, and the engine would see them at its next reset only."""
    batch, twin, actions = started(2, model="short"), started(2, model="short"), pushes(24, 2)
    for played in (batch, twin):
        played.set_params({"pole": np.array([0.3, 0.4])})
        play(played, actions[:5])
    fresh = EngineBatch(SPEC, 2, model="short")
    for refused in (0.6, np.array([0.2, 0.6])):
        for some in (None, np.array([False, True])):
            for asked in (batch, fresh):
                with pytest.raises(ParameterError, match="longer than"):
                    asked.set_params({"pole": refused, "mass": 1.0}, some)
    assert [batch.get_params(i) for i in range(2)] == [twin.get_params(i) for i in range(2)]
    play(batch, actions[5:])
    play(twin, actions[5:])
    assert states(batch) == states(twin)
    for played in (batch, fresh):
        played.seed([0, 1])
        played.reset()
    assert fresh.get_params(1) == {name: declared.default for name, declared in SPEC.params.items()}
    assert states(play(fresh, actions)) == states(play(started(2, model="short"), actions))
    env = Env(SPEC, model="short")
    before = env.reset(seed=0)[0]
    with pytest.raises(ParameterError, match="longer than"):
        env.reset(seed=1, options={"params": {"pole": 0.6}})
    assert np.array_equal(env.reset(seed=0)[0], before)
    with pytest.raises(ParameterError, match="longer than"):
        EngineBatch(SPEC, 2, model="short", pole=np.array([0.3, 0.6]))


@pytest.mark.parametrize("ends", [(0.2, 0.6), (0.6, 0.7)])
def test_ranges_whose_ends_the_engine_refuses_are_refused_when_the_world_is_made(ends):
    with pytest.raises(ParameterError, match=r"pole=.* is longer than"):
        EngineBatch(SPEC, 2, model="short", randomize={"mass": (0.05, 0.5), "pole": ends})
    with pytest.raises(ParameterError, match=r"pole=.* is longer than"):
        Env(SPEC, model="short", randomize={"pole": ends})


def test_looking_at_the_ends_of_ranges_leaves_no_trace(monkeypatch):
    actions, ranges = pushes(10, 2), {"gravity": (3.0, 12.0), "pole": (0.2, 0.9)}
    looked = EngineBatch(SPEC, 2, randomize=ranges)
    assert looked.get_params(0) == {name: declared.default for name, declared in SPEC.params.items()}
    looked = play(started(2, randomize=ranges), actions)
    monkeypatch.setattr(EngineBatch, "_check_ends", lambda self: None)
    assert states(looked) == states(play(started(2, randomize=ranges), actions))


@pytest.mark.parametrize("rate", [30, 300])
def test_control_steps_are_whole_physics_steps(rate):
    with pytest.raises(
        ParameterError, match=rf"{rate} control steps per second do not give an integer number .* 0\.005 s"
    ):
        EngineBatch(SPEC, 1, rate=rate)


def test_a_field_of_the_wrong_size_is_refused():
    with pytest.raises(ParameterError, match="the state field 'ball' needs f8 and 3 numbers"):
        EngineBatch(SPEC, 1, model="odd")


def test_a_missing_mujoco_is_one_clear_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    module._models.clear()
    with pytest.raises(
        MissingExtraError, match=r"simulated by MuJoCo, .*pip install 'rlenvs-suite\[mujoco\]'"
    ) as caught:
        EngineBatch(SPEC, 1)
    assert "\n" not in str(caught.value)


# --- simulations that fail --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["position", "force"])
def test_a_simulation_that_fails_ends_its_episode(fault, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    env = Env(SPEC, fault=fault)
    env.reset(seed=0)
    for _ in range(3):
        env.step(CALM)
    observation, reward, terminated, truncated, info = env.step(BREAK)
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert "unstable" in info["simulation_error"]
    assert not list(tmp_path.iterdir())  # MuJoCo's own log file
    assert np.isfinite(observation).all()
    _, info = env.reset(seed=5)
    assert "simulation_error" not in info
    twin = Env(SPEC, fault=fault)
    twin.reset(seed=5)
    for _ in range(10):
        a, b = env.step(CALM), twin.step(CALM)
        assert a[0].tobytes() == b[0].tobytes()
        assert "simulation_error" not in a[-1]


@pytest.mark.parametrize("mode", AutoresetMode)
def test_a_failure_leaves_the_others_alone(mode):
    envs, calm = (VectorEnv(SPEC, 4, autoreset_mode=mode) for _ in range(2))
    envs.reset(seed=0)
    calm.reset(seed=0)
    actions = pushes(14, 4)[:, :, 0]
    others = [0, 1, 3]
    for t, action in enumerate(actions):
        action = action.copy()
        action[2, 1] = float(t == 5)
        if mode is AutoresetMode.DISABLED and t == 6:
            _, infos = envs.reset(options={"reset_mask": np.arange(4) == 2})
            assert "simulation_error" not in infos
        observations, _, terminated, truncated, infos = envs.step(action)
        expected, *_ = calm.step(actions[t])
        assert observations[others].tobytes() == expected[others].tobytes()
        if t == 5:
            assert truncated.tolist() == [False, False, True, False]
            assert not terminated.any()
            if mode is AutoresetMode.SAME_STEP:
                told = infos["final_info"]
                assert "simulation_error" not in infos  # of the new episode
                assert np.isfinite(infos["final_obs"][2]).all()
            else:
                told = infos
            assert "unstable" in told["simulation_error"][2]
            assert told["_simulation_error"].tolist() == [False, False, True, False]
        else:
            assert not truncated.any()
            assert "simulation_error" not in infos
    assert np.isfinite(observations).all()


def test_a_failure_in_the_form_of_stable_baselines():
    pytest.importorskip("stable_baselines3")
    from rlenvs.integrations.sb3 import SB3VecEnv

    envs = SB3VecEnv(SPEC, 2)
    envs.reset()
    _, _, dones, infos = envs.step(np.array([CALM, BREAK]))
    assert dones.tolist() == [False, True]
    assert "unstable" in infos[1]["simulation_error"]
    assert infos[1]["TimeLimit.truncated"]
    _, _, dones, infos = envs.step(np.array([CALM, CALM]))
    assert not dones.any()
    assert not any("simulation_error" in info for info in infos)


def test_failures_in_rollouts():
    env = Env(SPEC)
    env.reset(seed=0)
    plan = np.zeros((3, 6, 2))
    plan[1, 2, 1] = 1.0
    found = PlanRollouts(env, 3)(plan)
    assert found.lengths.tolist() == [6, 3, 6]
    assert found.over.tolist() == [False, True, False]
    assert (found.rewards[0] == found.rewards[2]).all()
    assert (found.rewards[1, 2:] == 0.0).all()


def test_rollouts_leave_out_the_worlds_that_are_over():
    batch, plan = started(5), pushes(8, 5).swapaxes(0, 1).copy()
    expected, _ = started(5).rollout(plan)
    batch.over[[1, 4]] = True
    rewards, _ = batch.rollout(plan)
    assert (rewards[[0, 2, 3]] == expected[[0, 2, 3]]).all()
    assert (rewards[[1, 4]] == 0.0).all()
    assert batch.states["elapsed"].tolist() == [8, 0, 8, 8, 0]


# --- snapshots, copies, threads ---------------------------------------------------------------------------------------


def in_contact():
    """The arm bends down and presses its fingers onto the table."""
    env = gymnasium.make("rlenvs/PandaReach-v0", touch=True, control="joints").unwrapped
    env.reset(seed=0)
    for _ in range(20):
        env.step(np.eye(7)[1])
    assert abs(env.batch.records(0)[1]["force"]).max() > 5.0
    return env


def test_snapshots_are_exact_in_contact():
    env = in_contact()
    plan = np.random.default_rng(0).uniform(-1.0, 1.0, (20, 7))
    snapshot = env.get_state()
    first = [env.step(action)[0] for action in plan]
    env.reset(seed=99)
    again = env.set_state(snapshot)
    assert again.tobytes() != first[0].tobytes()
    assert [env.step(action)[0].tobytes() for action in plan] == [o.tobytes() for o in first]
    found = PlanRollouts(env, 2)(np.stack([plan, plan]), snapshot)
    assert found.observations.tobytes() == np.stack([first[-1], first[-1]]).tobytes()
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        twin.set_state(snapshot)
        assert [twin.step(action)[0].tobytes() for action in plan] == [o.tobytes() for o in first]


def test_snapshots_of_a_batch_are_exact_where_some_worlds_begin_anew():
    envs = VectorEnv(SPEC, 5, horizon=12)
    envs.reset(seed=0)
    actions = pushes(30, 5)[:, :, 0]
    for t in range(6):
        envs.step(actions[t])
    envs.reset(options={"reset_mask": np.array([1, 0, 1, 0, 0], bool)})
    for t in range(3):
        envs.step(actions[t])
    kept = envs.get_state()
    first = [envs.step(action)[0].tobytes() for action in actions]  # worlds 0 and 2 end after the others
    envs.set_state(kept)
    assert [envs.step(action)[0].tobytes() for action in actions] == first
    twin = pickle.loads(pickle.dumps(envs))
    twin.set_state(kept)
    assert [twin.step(action)[0].tobytes() for action in actions] == first


@pytest.mark.parametrize("mode", AutoresetMode)
def test_threads_and_batch_sizes_give_the_same_bits(mode):
    actions = pushes(40, 7)
    if mode is AutoresetMode.DISABLED:
        actions = actions[:29]
    reference = play(started(7, autoreset=mode, threads=1), actions)
    for threads, worlds in ((2, 7), (3, 7), (None, 4), (2, 1)):
        other = play(started(worlds, autoreset=mode, threads=threads), actions[:, :worlds])
        assert states(other) == states(reference)[:worlds]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_goes_on():
    batch = play(started(4, threads=2), pushes(5, 4))
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        twin = pickle.loads(pickle.dumps(batch))
        fresh = started(4, threads=2)
        digests = [play(each, pushes(5, 4, 1)).digest() for each in (twin, fresh)]
        os.write(writer, " ".join(digests).encode())
        os._exit(0)
    os.waitpid(child, 0)
    digests = os.read(reader, 200).decode().split()
    assert digests == [play(each, pushes(5, 4, 1)).digest() for each in (batch, started(4, threads=2))]


def memory():
    """MiB that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="this system does not tell its memory")
def test_resets_and_batches_leak_nothing():
    batch = started(50, randomize={"mass": (0.1, 0.2)})
    for _ in range(4):
        batch.reset()
    before = memory()
    for _ in range(6):  # 300 models
        batch.reset()
    calm = started(500)
    for _ in range(20):  # 10 000 episodes
        calm.reset()
    for _ in range(20):
        play(started(20), pushes(1, 20)).close()
    gc.collect()
    assert memory() - before < 30.0


FORKS = """
import gc, os, signal, sys
sys.path.insert(0, "tests")
def collect():  # of another package: its objects in the child make Python collect, before this package has its turn
    gc.set_threshold(1, 1, 1)
    signal.alarm(20)
    [[] for _ in range(5000)]
os.register_at_fork(after_in_child=collect)
gc.set_threshold(0)
from rlenvs.core.forms.vector_env import VectorEnv
from toys.rolling_ball import SPEC
gc.collect()
gc.freeze()
gc.collect()  # few objects are left to count, so that a collection is whole
envs = VectorEnv(SPEC, 4, threads=2)
envs.reset(seed=0)
envs.step(envs.action_space.sample())
circle = [envs]
circle.append(circle)
del envs, circle
signal.signal(signal.SIGALRM, signal.SIG_DFL)
child = os.fork()
if not child:
    gc.collect()
    os._exit(7 if gc.isenabled() else 8)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), gc.isenabled())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_does_not_wait_for_threads_of_forgotten_environments():
    done = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert done.stdout.split() == ["7", "True"], done.stderr
