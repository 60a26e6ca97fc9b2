"""The benchmark RRLS: worst case and average over grids of bodies, with intervals."""

import json

import numpy as np
import pytest
from support.agent_helpers import agent_for
from typer.testing import CliRunner

import rlenvs
from rlenvs.agents.evaluate import evaluate
from rlenvs.agents.files import save_agent
from rlenvs.agents.robustness import Robustness
from rlenvs.agents.rrls import ROBOTS, RrlsScore, checked_set, robot_of, rrls, score_rows
from rlenvs.cli import app
from rlenvs.core.declare.errors import ParameterError, UnknownNameError
from rlenvs.wrappers.robustness import RRLS_SETS

SHORT = {"horizon": 5}


def made_up(returns):
    returns = np.array(returns, float)
    worlds, seeds = returns.shape
    ones = np.ones_like(returns)
    return Robustness(("mass",), np.arange(1.0, worlds + 1)[:, None], np.arange(seeds), returns, ones, ones, ones)


def test_intervals_are_over_seeds():
    generator = np.random.default_rng(1)
    effects = generator.normal(size=40)  # of a seed, the same in every world
    found = made_up([level + effects for level in (5.0, 1.0, 3.0)])
    half = 1.96 * effects.std(ddof=1) / np.sqrt(40)
    for value, (low, high) in ((found.average, found.average_interval), (found.worst, found.worst_interval)):
        assert low < value < high
        assert (high - low) / 2 == pytest.approx(half, rel=0.1)
    assert found.worst == pytest.approx(found.average - 2.0)
    assert np.isnan(made_up([[1.0], [2.0]]).worst_interval).all()


def test_sets_have_robots():
    assert {robot_of(name) for name in RRLS_SETS} == set(ROBOTS.values())
    assert checked_set("hopper-2") == checked_set("rrls-hopper-2") == "rrls-hopper-2"
    with pytest.raises(UnknownNameError, match="rrls-hopper-2"):
        checked_set("hoper-2")


def test_a_row_for_each_policy_and_one_for_their_mean():
    scores = [
        RrlsScore("rrls-ant-1", name, made_up([[shift, shift + 2.0]])) for name, shift in (("a", 0.0), ("b", 4.0))
    ]
    first, second, mean = score_rows(scores)
    assert first[:4] == ("rrls-ant-1", "a", "1", "0 to 2")
    assert second[1:3] == ("b", "5")
    half = 1.96 * np.std([1.0, 5.0], ddof=1) / np.sqrt(2)
    assert mean[1:4] == ("mean of 2", "3", f"{3 - half:.4g} to {3 + half:.4g}")


def test_a_set_is_played_on_its_grid(mujoco):
    (score,) = rrls("rrls-hopper-1", {"random": "random"}, n_episodes=2, points=3, **SHORT)
    assert score.found.contexts[:, 0].tolist() == pytest.approx([0.1, 1.55, 3.0])
    alone = evaluate("Hopper-v0", "random", seeds=2, friction=3.0, **SHORT)
    assert (score.found.returns[2] == alone.returns).all()
    (published,) = rrls("rrls-hopper-1", {"random": "random"}, n_episodes=2, points=3, compat="rrls", **SHORT)
    assert published.found.contexts[:, 0].tolist() == pytest.approx([0.1, 0.1 + 2.9 / 3, 0.1 + 5.8 / 3])
    assert (published.found.returns == published.found.returns[0]).all()  # friction is inert below 2.0
    with pytest.raises(ParameterError, match="agent for rlenvs/QuadHover-v0"):
        rrls("rrls-hopper-1", {"mine": agent_for("QuadHover-v0")})
    with pytest.raises(ParameterError, match="compat='rls' is not one of"):
        rrls("rrls-hopper-1", {"random": "random"}, compat="rls")


@pytest.mark.budget(4)
def test_the_command(mujoco, tmp_path):
    save_agent(tmp_path / "mine", agent_for("Hopper-v0", horizon=5))
    file, output = tmp_path / "mine.safetensors", tmp_path / "found.json"
    arguments = ["benchmark", "rrls", "hopper-1", "--episodes", "2", "--points", "2", "-o", str(output)]
    result = CliRunner().invoke(app, [*arguments, "-p", str(file), "-p", "idle"], env={"COLUMNS": "150"})
    assert result.exit_code == 0, result.output
    for words in ("rrls-hopper-1", "mine", "idle", "mean of 2", "wrote"):
        assert words in result.output
    mine, idle = json.loads(output.read_text())
    assert (mine["policy"], idle["policy"]) == ("mine", "idle")
    assert mine["contexts"] == [[0.1], [3.0]]
    agent = rlenvs.load_agent(file)
    alone = evaluate("Hopper-v0", agent, seeds=2, friction=3.0, horizon=5)
    assert mine["means"][1] == pytest.approx(alone.mean, rel=1e-6)  # networks round otherwise for more worlds
    pytest.importorskip("matplotlib")
    plot = tmp_path / "map.png"
    drawn = CliRunner().invoke(app, [*arguments[:3], "walker2d-3", *arguments[3:7], "-p", "idle", "--plot", str(plot)])
    assert drawn.exit_code == 0, drawn.output
    assert plot.read_bytes().startswith(b"\x89PNG")
    for wrong, said in (
        (["ant-4"], "RRLS has no set"),
        (["hopper-1", "-p", "idle", "-p", "idle"], "two policies"),
        (["--plot", "a.doc"], "must end in"),
    ):
        refused = CliRunner().invoke(app, ["benchmark", "rrls", *wrong])
        assert refused.exit_code == 2
        assert said in refused.output
