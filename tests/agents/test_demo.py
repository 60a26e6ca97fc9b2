import numpy as np
import pytest
from PIL import Image

from rlenvs.agents.demo import Demo, run_demo, save_curve, save_flight
from rlenvs.agents.evaluate import evaluate
from rlenvs.agents.train import greedy, train_ppo
from rlenvs.core.declare.errors import ParameterError, UnknownNameError

pytest.importorskip("stable_baselines3")
pytest.importorskip("matplotlib")
HOVER = "QuadHover-v0"


@pytest.fixture(scope="module")
def tiny():
    reports = []
    return run_demo(steps=8_192, seeds=5, progress=reports.append), reports


def test_a_tiny_demo_reports_and_evaluates(tiny):
    result, reports = tiny
    assert [report.steps for report in reports] == [4096, 8192]
    assert reports[-1].total == 8192
    assert reports[-1].seconds > reports[0].seconds > 0
    assert result.curve == [(report.steps, report.mean_return) for report in reports]
    assert list(result.evaluations) == ["random", "ppo", "expert"]
    assert [result.scaled(name) for name in ("random", "expert")] == [0.0, 1.0]
    assert result.scaled("ppo") == result.score
    assert result.evaluations["random"].returns.tolist() == evaluate(HOVER, "random", seeds=5).returns.tolist()


def test_its_images(tiny, tmp_path):
    result, _ = tiny
    curve, flight = tmp_path / "new" / "curve.png", tmp_path / "new" / "flight.gif"
    save_curve(result, curve)
    save_flight(result, flight, seconds=1.0)
    image = np.asarray(Image.open(curve).convert("RGB"))
    assert image.shape == (480, 840, 3)
    assert (image.reshape(-1, 3) == (0, 114, 178)).all(axis=1).any()  # the curve
    video = Image.open(flight)
    assert (video.n_frames, video.size) == (15, (800, 400))
    first = np.asarray(video.convert("RGB"))
    video.seek(14)
    assert (np.asarray(video.convert("RGB")) != first).any()


def test_training_is_reproducible_and_takes_keywords():
    settings = {"n_steps": 16, "batch_size": 64, "n_epochs": 1}
    models = [train_ppo(HOVER, 128, num_envs=8, seed=3, settings=settings, action="one_d_rpm") for _ in range(2)]
    observations = np.linspace(-1, 1, 30, dtype=np.float32).reshape(2, 15)
    first, second = (greedy(model)(observations) for model in models)
    assert first.shape == (2, 1)
    assert first.tolist() == second.tolist()


def test_bad_input_fails_before_training():
    with pytest.raises(ParameterError, match="steps=0"):
        train_ppo(HOVER, 0)
    with pytest.raises(UnknownNameError, match="QuadHover"):
        train_ppo("QuadHovr-v0", 100)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_full_demo_learns(seed):
    result: Demo = run_demo(seed=seed)
    assert result.score >= 0.9
