"""Images and clouds of the MuJoCo engine, and the versions and renderers that it takes."""

import builtins
import gc
import os
import subprocess
import sys
from ctypes.util import find_library

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import rlenvs
from rlenvs.core.batch.engines import EngineBatch
from rlenvs.core.declare.errors import DependencyError, EngineError, MissingExtraError
from rlenvs.core.forms.gym_env import Env
from rlenvs.core.forms.vector_env import VectorEnv

mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed: its engine is not tested")

from support.rolling_balls import elsewhere, play, pushes, started  # noqa: E402, F401 (a fixture)
from toys.rolling_ball import SPEC  # noqa: E402

from rlenvs.kits.engines import images  # noqa: E402
from rlenvs.kits.engines import mujoco as module  # noqa: E402

# --- images and clouds ----------------------------------------------------------------------------------------------

SEEN = {"pixels": 24, "horizon": 6}


def test_images_show_the_state_in_every_form():
    single = Env(SPEC, **SEEN)
    first, _ = single.reset(seed=1)
    assert {name: (part.shape, part.dtype) for name, part in first.items()} == {
        "state": ((8,), np.float32),
        "side": ((24, 24, 3), np.uint8),
        "side_depth": ((24, 24, 1), np.uint8),
    }
    assert single.observation_space.contains(first)
    actions = pushes(6, 3)[:, :, 0]
    modes = list(AutoresetMode)
    vectors = [VectorEnv(SPEC, 3, autoreset_mode=mode, **SEEN) for mode in modes]
    begun = [envs.reset(seed=0)[0] for envs in vectors]
    for step, action in enumerate(actions):
        last, *_ = single.step(action[1])
        for mode, envs, start in zip(modes, vectors, begun, strict=True):
            observations, *_, infos = envs.step(action)
            final = step == 5 and mode is AutoresetMode.SAME_STEP
            found = infos["final_obs"][1] if final else {name: part[1] for name, part in observations.items()}
            for name, part in last.items():
                assert found[name].tobytes() == part.tobytes(), (mode, step, name)
            if final:  # and the first of the next episode
                assert not np.array_equal(observations["side"], start["side"])
    assert not np.array_equal(first["side"], last["side"])
    orange = (last["side"][..., 0] > 2.0 * last["side"][..., 2]) & (last["side"][..., 0] > 40)
    assert 0 < orange.sum() < 100
    again = single.set_state(single.get_state())
    assert all(again[name].tobytes() == part.tobytes() for name, part in last.items())
    for envs in (single, *vectors):
        envs.close()
        envs.close()
    assert not single.batch.engine._painters


def test_images_do_not_depend_on_environments_that_are_forgotten_meanwhile(monkeypatch):
    """OpenGL has no owners: what is freed in the context of another image is that image's."""

    def drawn(envs, collect=lambda: None):
        envs.reset(seed=1)
        found = []
        for _ in range(4):
            found.append(envs.step(np.zeros(envs.action_space.shape, np.float32))[0]["side"].tobytes())
            collect()
        return found

    env = Env(SPEC, pixels=32)
    expected = drawn(env)
    look = images.Painter._look
    gc.collect()
    gc.freeze()  # collections look at what is made from now on alone
    gc.disable()
    try:
        for in_the_middle in (False, True):
            forgotten = [Env(SPEC, pixels=32)]
            drawn(forgotten[0])
            forgotten.append(forgotten)  # in a circle, which waits for the collector
            del forgotten
            if in_the_middle:
                monkeypatch.setattr(images.Painter, "_look", lambda *a: (look(*a), gc.collect()))
            assert drawn(env, gc.collect) == expected
    finally:
        gc.enable()
        gc.unfreeze()


def test_distances_are_along_the_axis_of_the_camera():
    batch = started(1, pixels=33, gravity=0.0)
    s = batch.records(0)[1]
    s["qpos"][:3] = 0.0, 0.0, 0.3
    batch.set_state(batch.get_state())
    depth = batch.images["side_depth"][0, 0, :, :, 0] / 255.0 * module.DEPTH_RANGE
    assert depth[16, 16] == pytest.approx(1.0 - 0.3 - 0.05, abs=0.005)
    rise = np.tan(np.radians(30.0)) * 10.0 / 16.5  # of the slope, ten pixels beside the middle
    assert depth[16, 26] == pytest.approx(1.0 / (1.0 - rise * np.tan(0.1)), abs=0.02)
    batch.close()


def test_images_show_a_worlds_own_parameters():
    batch = started(2, pixels=32, radius=np.array([0.05, 0.2]))
    orange = (batch.images["side"][:, 0, :, :, 0] > 2.0 * batch.images["side"][:, 0, :, :, 2]).sum(axis=(1, 2))
    assert orange[1] > 6 * orange[0] > 0
    batch.close()


def test_a_cloud_lies_on_what_the_camera_sees():
    batch = started(3, points=64, radius=np.array([0.05, 0.05, 0.2]))
    for i in range(3):
        s, radius = batch.records(i)[1], batch.get_params(i)["radius"]
        cloud = s["side_cloud"]
        above = cloud @ [np.sin(0.1), 0.0, np.cos(0.1)]
        from_ball = np.linalg.norm(cloud - s["ball"], axis=1) - radius
        assert (np.minimum(abs(above), abs(from_ball)) < 1e-9).all()
        assert (abs(from_ball) < 1e-9).sum() >= (5 if i == 2 else 0)
        spread = cloud[:, :2] / (1.0 - cloud[:, 2:])  # slopes of the rays fill the image
        assert spread.min() > -np.tan(np.radians(30.0)) - 1e-9
        assert np.ptp(spread, axis=0).min() > 1.1
    assert batch.observations[0, 0, 8:].reshape(64, 3) == pytest.approx(batch.states["side_cloud"][0], abs=1e-6)
    play(batch, pushes(5, 3))
    alone = play(started(1, seed=1, points=64, threads=1), pushes(5, 3)[:, 1:2])
    assert alone.records(0)[1]["side_cloud"].tobytes() == batch.records(1)[1]["side_cloud"].tobytes()


def test_the_arm_is_seen():
    env = gymnasium.make(
        "rlenvs/PandaReach-v0", camera="rgbd", camera_width=20, camera_height=16, points=7, form="goal"
    )
    observation, _ = env.reset(seed=0)
    assert observation["front"].shape == observation["hand"].shape == (16, 20, 3)
    assert observation["front_depth"].shape == observation["hand_depth"].shape == (16, 20, 1)
    assert env.observation_space.contains(observation)
    cloud = observation["observation"][6:].reshape(7, 3)
    assert ((abs(cloud[:, 2]) < 1e-6) | (abs(cloud[:, 2] + 0.4) < 1e-6)).sum() >= 3  # table and floor
    env.close()
    plain, _ = gymnasium.make("rlenvs/PandaReach-v0", camera="none").reset(seed=0)
    assert isinstance(plain, np.ndarray)


DRAW = """
import sys
from ctypes.util import find_library
MUJOCO
import rlenvs, gymnasium
try:
    env = gymnasium.make("rlenvs/PandaReach-v0", render_mode="rgb_array")
    env.reset(seed=0)
    env.step(env.action_space.sample())
    print(env.render().std() > 10, [name for name in ("mujoco.egl", "mujoco.osmesa") if name in sys.modules])
except Exception as error:
    print(type(error).__name__, error)
"""


def draw(before="", imports="import mujoco", **variables):
    kept = {
        name: value for name, value in os.environ.items() if name not in ("MUJOCO_GL", "PYOPENGL_PLATFORM", "DISPLAY")
    }
    done = subprocess.run(
        [sys.executable, "-c", before + DRAW.replace("MUJOCO", imports)],
        env={**kept, **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout.strip() or done.stderr


NO_EGL = """
import ctypes, ctypes.util
load, find = ctypes.CDLL.__init__, ctypes.util.find_library
def refuse(self, name, *rest, **more):
    if name and "EGL" in str(name):
        raise OSError("no such library")
    load(self, name, *rest, **more)
ctypes.CDLL.__init__ = refuse
ctypes.util.find_library = lambda name: None if "EGL" in name else find(name)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="EGL and OSMesa are of Linux")
def test_opengl_is_found_without_being_asked_for():
    """Also where the user imported mujoco before."""
    assert draw() == "True ['mujoco.egl']"


@pytest.mark.skipif(sys.platform != "linux", reason="EGL and OSMesa are of Linux")
@pytest.mark.skipif(find_library("OSMesa") is None, reason="libOSMesa is not installed (Debian: libosmesa6)")
def test_without_egl_osmesa_draws():
    assert draw(NO_EGL) == "True ['mujoco.osmesa']"


def test_switched_off_there_is_one_clear_line():
    said = draw(MUJOCO_GL="disable")
    assert said.startswith("RenderError images of MuJoCo worlds need OpenGL")
    assert said.endswith("it is disabled by MUJOCO_GL=disable")
    assert len(said.splitlines()) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="EGL and OSMesa are of Linux")
def test_a_backend_that_is_asked_for_and_missing_is_one_clear_line():
    """MuJoCo itself refuses to be imported then."""
    said = draw(NO_EGL, "", MUJOCO_GL="egl")
    assert said.startswith("EngineError mujoco is installed, but cannot be imported with MUJOCO_GL=egl")
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("version", ["3.3.7", "3.17.0", "4.0.0"])
def test_an_old_mujoco_is_one_clear_line(monkeypatch, version):
    monkeypatch.setattr("mujoco.__version__", version)
    with pytest.raises(DependencyError, match=rf"mujoco {version} is too old.* 4.0.1 or newer.* pip install --upgrade"):
        EngineBatch(SPEC, 1, backend="python")


def test_parts_of_mujoco_that_do_not_fit_are_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtraError, match=r"rlenvs-suite\[mujoco\]"):
        EngineBatch(SPEC, 1, backend="python")
    monkeypatch.delitem(sys.modules, "mujoco")
    monkeypatch.setattr("builtins.__import__", refusing(builtins.__import__))
    with pytest.raises(DependencyError, match="cannot be imported: Version mismatch"):
        EngineBatch(SPEC, 1, backend="python")


def refusing(really):
    """An import that refuses mujoco."""

    def refuse(name, *rest):
        if name == "mujoco":
            raise ImportError("Version mismatch between\n 'mujoco' and 'mujoco-core'")
        return really(name, *rest)

    return refuse


def test_unknown_backends_are_refused(monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "vulkan")
    with pytest.raises(EngineError, match="vulkan"):
        images.gl_context(8, 8)


@pytest.mark.budget(5)
def test_conformance():
    from rlenvs.core.check.rules import RULES

    report = rlenvs.check_env(SPEC)
    assert [outcome.number for outcome in report.failures] == [15], str(report)  # no headings
    assert len(RULES) == len(report.outcomes)


def test_conformance_without_opengl(monkeypatch):
    """What needs images is not applicable; no rule fails for it."""
    monkeypatch.setenv("MUJOCO_GL", "disabled")
    outcome = next(found for found in rlenvs.check_env(SPEC, only=[14]).outcomes if found.number == 14)
    assert outcome.status == "not applicable", outcome
    assert "pixels=64 (all others hold)" in outcome.reason
    assert "disabled by MUJOCO_GL=disabled" in outcome.reason
    for found in rlenvs.check_env(SPEC, only=[1, 7], pixels=8).outcomes:
        if found.number != 27:  # on which they build: it looks at kernels alone
            assert found.status in ("not applicable", "not run"), found


def test_parameters_that_change_the_shape_of_the_model_are_a_finding():
    outcome = next(found for found in rlenvs.check_env(SPEC, only=[10], model="parts").outcomes if found.number == 10)
    assert outcome.status == "failed"
    assert "may not change the shape" in outcome.reason
