"""RL Baselines3 Zoo: its own command trains, evaluates and plays our ids, one by one and as one batch."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from support.places import ROOT

pytest.importorskip("rl_zoo3")

from stable_baselines3.common.vec_env import DummyVecEnv

from rlenvs.core.declare.errors import ParameterError
from rlenvs.integrations.rl_zoo3 import batched

HOVER = "rlenvs/QuadHover-v0"


def zoo(command, packages, folder, *options):
    """Run the zoo as a user does."""
    told = ["--algo", "ppo", "--env", HOVER, "--gym-packages", packages, "-f", "logs", "--num-threads", "1"]
    out = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", f"rl_zoo3.{command}", *told, *options],
        capture_output=True,
        text=True,
        cwd=folder,
    )
    assert out.returncode == 0, out.stderr[-3000:]
    return out.stdout


@pytest.mark.slow
@pytest.mark.parametrize("packages", ["rlenvs", "rlenvs.integrations.rl_zoo3"])
def test_training(packages, tmp_path):
    options = ["--conf-file", str(ROOT / "examples" / "rl_zoo3.yml"), "--n-timesteps", "500", "--eval-freq", "300"]
    small = ["--hyperparams", "n_envs:8", "n_steps:32", "batch_size:64"]
    out = zoo("train", packages, tmp_path, *options, *small)
    assert "total_timesteps | 512" in out
    run = tmp_path / "logs" / "ppo" / "rlenvs-QuadHover-v0_1"
    assert (run / "rlenvs-QuadHover-v0.zip").exists()
    assert np.load(run / "evaluations.npz")["results"].size >= 5
    files = list(run.glob("*.monitor.csv"))
    assert len(files) == (8 if packages == "rlenvs" else 1)
    assert sum(len(file.read_text().splitlines()) - 2 for file in files) >= 10, "the zoo's plots have nothing to show"


def envs(count, **keywords):
    return [lambda: gymnasium.make(HOVER, **keywords)] * count


def test_a_batch_in_the_place_of_single_environments():
    ours, theirs = batched(envs(3, horizon=10, mass=0.03)), DummyVecEnv(envs(3, horizon=10, mass=0.03))
    assert ours.get_attr("mass") == [0.03] * 3
    for venv in (ours, theirs):
        venv.seed(4)
    assert np.array_equal(ours.reset(), theirs.reset())
    for _ in range(25):
        actions = np.full((3, 4), 0.1, np.float32)
        (o1, r1, d1, _), (o2, r2, d2, _) = ours.step(actions), theirs.step(actions)
        assert all(np.array_equal(a, b) for a, b in ((o1, o2), (r1, r2), (d1, d2)))


def test_other_packages_keep_their_form():
    assert isinstance(batched([lambda: gymnasium.make("CartPole-v1")]), DummyVecEnv)


def test_wrappers_of_single_environments_are_refused():
    wrapped = [lambda: gymnasium.wrappers.ClipAction(gymnasium.make(HOVER))]
    with pytest.raises(ParameterError, match="ClipAction wraps single environments"):
        batched(wrapped)
