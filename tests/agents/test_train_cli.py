"""rlenvs train: several seeds, refusals, signals, going on in a new process."""

import signal
import subprocess
import sys
import time

import pytest
from support.training_helpers import CASES, HOVER, StopAfter, weights
from typer.testing import CliRunner

from rlenvs.agents import runs
from rlenvs.agents.checkpoint import read_checkpoint
from rlenvs.agents.files import load_agent
from rlenvs.cli import app

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

pytestmark = pytest.mark.usefixtures("few_evaluations")


def command(*arguments):
    return CliRunner().invoke(app, ["train", *map(str, arguments)], env={"COLUMNS": "200", "NO_COLOR": "1"})


TINY = ("--envs", 4, "--hyper", "n_steps=16", "--hyper", "batch_size=32", "--hyper", "n_epochs=1")


def test_several_seeds_by_the_command_line(tmp_path):
    result = command(HOVER, "--output", tmp_path, "--seeds", 2, "--seed", 3, "--steps", 128, *TINY)
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["seed-3", "seed-4"]
    assert result.stdout.count("complete") == 2
    assert weights(tmp_path / "seed-3") != weights(tmp_path / "seed-4")
    again = command(HOVER, "--output", tmp_path, "--seeds", 2, "--seed", 3, "--resume")
    assert again.exit_code == 0, again.output
    assert again.stdout.count("already complete") == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["QuadHovr-v0"], ["QuadHovr", "QuadHover"]),
        ([HOVER, "--algorithm", "SACK"], ["SACK", "SAC"]),
        ([HOVER, "--hyper", "gama=1"], ["gama", "gamma"]),
        ([HOVER, "--hyper", "gamma"], ["--hyper gamma", "NAME=VALUE"]),
        ([HOVER, "--set", "mas=1"], ["mas", "mass"]),
        ([HOVER, "--resume"], ["no run", "--resume"]),
    ],
)
def test_what_the_command_line_refuses(tmp_path, arguments, words):
    result = command(*arguments, "--output", tmp_path / "run")
    assert result.exit_code == 2, result.output
    assert result.stderr.strip().count("\n") == 0
    assert all(word in result.stderr for word in words)


def test_resuming_with_other_settings_is_refused(tmp_path):
    assert command(HOVER, "--output", tmp_path, "--steps", 64, *TINY).exit_code == 0
    result = command(HOVER, "--output", tmp_path, "--resume", "--steps", 128)
    assert result.exit_code == 2
    assert "steps: 64 -> 128" in result.stderr


def rlenvs_train(*arguments):
    command = [sys.executable, "-m", "rlenvs", "train", HOVER, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.budget(7)
@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow)]
)
def test_a_signal_leaves_a_checkpoint_and_an_agent(tmp_path, sent, code):
    process = rlenvs_train("--output", tmp_path, "--steps", 10_000_000, *TINY)
    folder = tmp_path / "seed-0"
    wait_for(lambda: (folder / "progress.csv").exists() and (folder / "progress.csv").read_text().count("\n") > 1)
    process.send_signal(sent)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (code, "")
    assert f"Continue with: rlenvs train QuadHover-v0 --output {tmp_path} --resume" in out
    steps = read_checkpoint(folder / runs.CHECKPOINT)["state"]["attributes"]["num_timesteps"]
    assert f"stopped at {steps:,} of 10,000,000 steps" in out
    assert load_agent(folder / "agent.safetensors", id=HOVER).card.steps <= steps
    if sent == signal.SIGTERM:
        return
    process = rlenvs_train("--output", tmp_path, "--resume")
    wait_for(lambda: (folder / "progress.csv").read_text().splitlines()[-1].split(",")[0].isdigit())
    process.kill()
    process.communicate()
    assert read_checkpoint(folder / runs.CHECKPOINT)["state"]["attributes"]["num_timesteps"] >= steps


@pytest.mark.budget(7)
@pytest.mark.parametrize("name", ["SAC", pytest.param("PPO", marks=pytest.mark.slow)])
def test_a_new_process_goes_on_to_the_same_weights(tmp_path, name):
    id, settings = CASES[name]
    runs.run(id, settings, tmp_path / "straight")
    assert runs.run(id, settings, tmp_path / "seed-0", stop=StopAfter(2 if name == "PPO" else 27)).stopped
    process = rlenvs_train("--output", tmp_path, "--resume")
    assert process.communicate(timeout=120)[1] == ""
    assert process.returncode == 0
    assert weights(tmp_path / "seed-0") == weights(tmp_path / "straight")


def wait_for(happened, seconds=120):
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.05)
