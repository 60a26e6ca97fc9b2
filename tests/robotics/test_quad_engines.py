"""The two physics of the quadcopters: this package's kernels and PyBullet move alike, behind the same forms."""

import importlib.util
import sys

import gymnasium
import numpy as np
import pytest
from support.places import ROOT

import rlenvs
from rlenvs.core.batch.engines import EngineBatch
from rlenvs.core.declare.errors import EngineError, MissingExtraError, ParameterError

BENCHMARKS = ROOT / "benchmarks"
TASKS = [id for id in rlenvs.list_envs("robotics") if id.startswith("rlenvs/Quad")]
MOTION = ("position", "velocity", "rates", "charge", "angles")

needs_pybullet = pytest.mark.skipif(not importlib.util.find_spec("pybullet"), reason="pybullet is not installed")


def pair(id, seed=0, backend="numba", **keywords):
    """The same world in both physics; the second in another backend, too."""
    made = []
    for physics, around in (("kernel", "numba"), ("pybullet", backend)):
        batch = rlenvs.make_batch(id, 1, physics=physics, backend=around, **keywords)
        batch.seed([seed])
        batch.reset()
        made.append(batch)
    return made


def difference(first, second):
    a, b = first.records(0)[1], second.records(0)[1]
    return max(np.abs(a[name] - b[name]).max() for name in MOTION)


EFFECTS = [
    {},
    {"damping": 0.04},
    {"level": "real", "randomize": {"mass": (0.02, 0.03)}},
    {"vehicle": "cf2p", "ground_effect": True, "start_height": 0.3},
    {"vehicle": "racer", "drag": True, "rotor_lag": True, "physics_hz": 480, "control_hz": 60},
    {"action": "thrust_rates", "wind": True, "wind_x": 3.0},
    {"action": "velocity"},
    {"action": "position", "vehicle": "cpc"},
    {"level": "wild"},
]


@needs_pybullet
@pytest.mark.parametrize("keywords", EFFECTS)
def test_open_loop_flights_agree_to_rounding(keywords):
    """Bullet integrates the same equations; what differs is the order of additions."""
    kernel, bullet = pair("QuadHover-v0", **keywords)
    assert isinstance(bullet, EngineBatch)
    actions = np.random.default_rng(1).uniform(-0.2, 0.2, (25, *kernel.actions.shape))
    start = kernel.records(0)[1].position.copy()
    for action in actions:
        for batch in (kernel, bullet):
            batch.step(action)
        if kernel.over[0] or bullet.records(0)[1].touching[0]:
            break
        assert difference(kernel, bullet) < 1e-9
    assert np.abs(kernel.records(0)[1].position - start).max() > 1e-3
    assert (kernel.records(0)[1].position != bullet.records(0)[1].position).any()  # it was another's arithmetic
    bullet.close()


@needs_pybullet
@pytest.mark.parametrize("id", [id for id in TASKS if "/mo-" not in id])
def test_every_task_runs_in_both(id):
    """The scripted experts fly the same for a second where nothing is touched. What is around Bullet runs in plain
    Python: compiled, as in the tests below, it takes as long as the whole world once more."""
    kernel, bullet = pair(id, seed=3, backend="python")
    for _ in range(20):
        for batch in (kernel, bullet):
            batch.expert_actions()
            batch.step_inplace()
        if not kernel.records(0)[1].touching.any():
            np.testing.assert_allclose(kernel.observations, bullet.observations, atol=0.05)
    np.testing.assert_allclose(kernel.rewards, bullet.rewards, atol=0.1)
    bullet.close()


@needs_pybullet
@pytest.mark.parametrize("downwash", [False, True])
def test_swarms_agree(downwash):
    kernel, bullet = pair("QuadMultiHover-v0", agents=4, downwash=downwash, damping=0.04)
    for _ in range(40):
        for batch in (kernel, bullet):
            batch.expert_actions()
            batch.step_inplace()
    assert difference(kernel, bullet) < 1e-6
    bullet.close()


@needs_pybullet
def test_both_come_to_rest_on_the_floor():
    kernel, bullet = pair("QuadHover-v0", action_range=1.0, start_height=0.1, start_spread=0.0)
    for batch in (kernel, bullet):
        for _ in range(40):
            batch.step(np.full((1, 4), -1.0))
        s = batch.records(0)[1]
        assert s.position[0, 2] == pytest.approx(0.0125, abs=1e-3)
        assert np.abs(s.velocity).max() < 0.01
        assert s.touching[0]
    bullet.close()


@needs_pybullet
def test_forms_snapshots_and_futures():
    env = gymnasium.make("rlenvs/QuadHover-v0", physics="pybullet")
    first, _ = env.reset(seed=4)
    snapshot = env.unwrapped.get_state()
    action = np.full(4, 0.3, np.float32)
    after = [env.step(action)[0] for _ in range(10)]
    assert (env.unwrapped.set_state(snapshot) == first).all()
    assert (np.array([env.step(action)[0] for _ in range(10)]) == np.array(after)).all()
    futures = rlenvs.rollout_plans(env, np.tile(action, (3, 10, 1)), snapshot)
    assert (futures.observations == after[-1]).all()
    envs = rlenvs.make_vec("QuadHover-v0", 2, physics="pybullet")
    envs.reset(seed=3)
    rows = [envs.step(np.tile(action, (2, 1)))[0][1] for _ in range(10)]
    assert (np.array(rows) == np.array(after)).all()
    envs.close()
    env.close()


@needs_pybullet
def test_the_camera_sees_the_same_in_both():
    """TinyRenderer's meshes and light are others; the distances agree."""
    kernel, bullet = pair("QuadHover-v0", camera="depth", start_spread=0.0, start_height=0.25)
    depths = [batch.images["depth"][0, 0, :, :, 0].astype(float) for batch in (kernel, bullet)]
    near = depths[0] < 60  # the floor in front and a landmark; farther on a pixel spans metres
    assert near.mean() > 0.25
    assert np.median(np.abs(depths[0] - depths[1])[near]) <= 1.0
    bullet.close()


@needs_pybullet
def test_a_client_that_is_closed_from_outside_gives_one_clear_error():
    import pybullet

    env = gymnasium.make("rlenvs/QuadHover-v0", physics="pybullet")
    env.reset(seed=0)
    pybullet.disconnect(env.unwrapped.batch.engine._worlds[0].client)
    with pytest.raises(EngineError, match="world 0 was closed from outside; reset the environment"):
        env.step(np.zeros(4))
    env.reset()
    env.step(np.zeros(4))
    pybullet.disconnect(env.unwrapped.batch.engine._worlds[0].client)
    env.close()
    env.close()


def test_without_pybullet_one_line_tells_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "pybullet", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'rlenvs-suite\[pybullet\]'"):
        gymnasium.make("rlenvs/QuadHover-v0", physics="pybullet")
    gymnasium.make("rlenvs/QuadHover-v0").reset(seed=0)


def test_other_engines_are_refused():
    with pytest.raises(ParameterError, match="physics='mujoco' is not one of 'kernel', 'pybullet'"):
        rlenvs.make_batch("QuadHover-v0", physics="mujoco")


# --- the tracking errors of the card ----------------------------------------------------------------------------------


def _reproduction():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import learning_to_fly
    finally:
        sys.path.remove(str(BENCHMARKS))
    return learning_to_fly


@pytest.mark.parametrize("case", range(7))
def test_tracking_errors_of_the_pid_are_the_cards_within_five_percent(case):
    """The mean of four flights whose starts differ by 1e-10 m, because the closed loop is chaotic."""
    _, keywords, published = _reproduction().TRACKING[case]
    errors = [_reproduction().tracking_error("kernel", 1e-10 * n, keywords) for n in range(4)]
    assert np.mean(errors) == pytest.approx(published, rel=0.05)
