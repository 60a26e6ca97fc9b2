"""Policies on contexts of training and on others: evaluation in given contexts, splits, the command."""

import json

import numpy as np
import pytest
from support.agent_helpers import HOVER
from typer.testing import CliRunner

from rlenvs.agents.evaluate import evaluate
from rlenvs.agents.generalization import evaluate_contexts, generalization, generalization_rows
from rlenvs.cli import app
from rlenvs.core.declare.errors import ParameterError

CONTEXTS = [{"mass": 0.02, "gravity": 9.0}, {"mass": 0.03, "gravity": 11.0}]
FEATURES = {"mass": ("uniform", 0.02, 0.04), "gravity": ("uniform", 8.0, 11.0)}


def test_every_context_is_the_world_with_these_values():
    for visible in (False, True, ["mass"]):
        found = evaluate_contexts(HOVER, "expert", CONTEXTS, 2, visible=visible, horizon=30)
        assert found.names == ("mass", "gravity")
        for k, context in enumerate(CONTEXTS):
            alone = evaluate(HOVER, "expert", seeds=2, horizon=30, **context)
            assert found.returns[k] == pytest.approx(alone.returns, rel=1e-6 if visible else 0.0)


@pytest.mark.parametrize(("visible", "more"), [(True, 2), (["gravity"], 1), (False, 0)])
def test_policies_see_what_is_visible(visible, more):
    seen = []

    def policy(observations):
        seen.append(observations.copy())
        return np.zeros((len(observations), 4), np.float32)

    evaluate_contexts(HOVER, policy, CONTEXTS, 1, visible=visible, horizon=2)
    assert {rows.shape[-1] for rows in seen} == {15 + more}
    if more == 1:  # gravity from 0 to 20, scaled to [-1, 1]
        assert len({rows[0, -1] for rows in seen}) == 2


@pytest.mark.parametrize("mode", ["interpolation", "extrapolation"])
def test_contexts_for_testing_lie_between_or_beyond_those_for_training(mode):
    found = generalization(HOVER, "idle", FEATURES, mode, 20, 0.25, seed=3, n_episodes=2, horizon=20)
    low, high = found.train.contexts.min(axis=0), found.train.contexts.max(axis=0)
    beyond = ((found.test.contexts < low) | (found.test.contexts > high)).any(axis=1)
    assert (len(found.train.contexts), len(found.test.contexts)) == (15, 5)
    assert beyond.all() if mode == "extrapolation" else not beyond.any()
    assert found.gap == found.train.average - found.test.average
    (row,) = generalization_rows({"idle": [found]})
    assert row[:2] == ("idle", mode)
    assert row[2] == f"{found.train.average:.4g}"
    with pytest.raises(ParameterError, match="'nothing' is not one of"):
        generalization(HOVER, "idle", FEATURES, "nothing")


def test_the_command(tmp_path):
    arguments = ["benchmark", "contexts", HOVER, "-f", "mass=0.02:0.04", "-p", "idle", "-p", "expert", "--samples", "6"]
    more = ["--fraction", "0.34", "--episodes", "2", "--set", "horizon=10", "-o", str(tmp_path / "found.json")]
    result = CliRunner().invoke(app, [*arguments, *more], env={"COLUMNS": "150"})
    assert result.exit_code == 0, result.output
    rows = json.loads((tmp_path / "found.json").read_text())
    named = [(row["policy"], row["mode"]) for row in rows]
    assert named == [(p, m) for p in ("idle", "expert") for m in ("interpolation", "extrapolation")]
    assert all(len(row["test"]["contexts"]) == 2 for row in rows)
    for wrong, said in ((["-f", "mass=3"], "expected NAME=LOW:HIGH"), (["-f", "maas=1:2"], "mass")):
        refused = CliRunner().invoke(app, ["benchmark", "contexts", HOVER, "-p", "idle", *wrong])
        assert refused.exit_code == 2
        assert said in refused.output
