"""Learning curves in the layout of Open RL Benchmark: what its reader looks for, and what results are."""

import json
import math
import sqlite3

import numpy as np
import pytest

from rlenvs.agents.curves import curves_of
from rlenvs.agents.open_rl_benchmark import (
    LIBRARIES,
    Result,
    TrackedRun,
    read_results,
    read_runs,
    result_of,
    results_text,
    shipped_runs,
    tracked,
    write_runs,
)
from rlenvs.core.declare.errors import ParameterError, RunError

OURS = LIBRARIES["rlenvs"]


def run_of(seed, values, env="rlenvs/Pendulum-v0", name="PPO", tags=("v1",), **columns):
    steps = 100.0 * np.arange(1, len(values) + 1)
    numbers = {"global_step": steps, "_runtime": steps / 50, "eval/mean_reward": np.array(values, np.float64)}
    return TrackedRun({"env_id": env, "exp_name": name, "seed": seed}, numbers | columns, tags)


# --- files ------------------------------------------------------------------------------------------------------------


def test_runs_are_written_as_the_reader_looks_for_them(tmp_path):
    """Its queries, as rlops and its cache make them, in the form of either version of the database's library."""
    runs = [run_of(0, [1.0, math.nan, 3.0]), run_of(1, [2.0, 2.0, 5.0]), run_of(0, [9.0], name="SAC", tags=())]
    place = write_runs(runs, tmp_path, "team", "project")
    assert place == tmp_path / "team" / "project"
    query = "SELECT id, path, entity, project, state FROM offlinerun WHERE json_extract(config, ?) = ?"
    with sqlite3.connect(place / "offline.sqlite") as index:
        for path in ("$.exp_name.value", '$."exp_name.value"'):
            found = index.execute(query, (path, "PPO")).fetchall()
            assert len(found) == 2
        tagged = index.execute(
            "SELECT o.id FROM offlinerun o JOIN tag_offlinerun_through t ON t.offlinerun_id = o.rowid "
            "JOIN tag ON tag.id = t.tag_id WHERE tag.name = 'v1'"
        ).fetchall()
    index.close()
    assert sorted(tagged) == sorted((id,) for id, *_ in found)
    for id, path, entity, project, state in found:
        assert (json.loads(path), entity, project, state) == (["team", "project", id], "team", "project", "finished")
        about = json.loads((place / id / "run.json").read_text())
        assert set(about) == {"id", "name", "state", "url", "project", "entity", "config", "tags", "path", "user"}
        assert set(about["user"]) == {"username", "name"}
        lines = (place / id / "run_df.csv").read_text().splitlines()
        assert lines[0] == ",global_step,_runtime,eval/mean_reward"
        assert [line.split(",")[0] for line in lines[1:]] == ["0", "1", "2"]
    first = json.loads((place / found[0][0] / "run.json").read_text())
    assert first["config"]["env_id"] == {"value": "rlenvs/Pendulum-v0"}


def test_what_is_written_is_read_and_repeats(tmp_path):
    runs = [run_of(seed, [1.5, math.nan, 3.25 + seed]) for seed in range(3)]
    places = [write_runs(runs, tmp_path / name) for name in ("a", "b")]
    back = sorted(read_runs(tmp_path / "a"), key=lambda run: run.config["seed"])
    for run, other in zip(runs, back, strict=True):
        assert other.config.items() >= run.config.items()
        assert other.tags == run.tags
        assert list(other.columns) == list(run.columns)
        for name, values in run.columns.items():
            np.testing.assert_array_equal(other.columns[name], values)
    files = [sorted(path.relative_to(place) for path in place.rglob("*") if path.suffix != "") for place in places]
    assert files[0] == files[1]
    assert all(
        (places[0] / file).read_bytes() == (places[1] / file).read_bytes()
        for file in files[0]
        if file.suffix in (".csv", ".json")
    )


def test_curves_that_ship_are_runs(tmp_path):
    (curve, *_) = curves_of("CartPole-v0", algorithm="PPO") or curves_of("CartPole-v0")
    run = tracked(curve)
    assert run.is_of(OURS, "rlenvs/CartPole-v0", curve.algorithm)
    assert not run.is_of(OURS, "rlenvs/CartPole-v0", "other")
    np.testing.assert_array_equal(run.columns["eval/mean_reward"], curve.columns["return"])
    np.testing.assert_array_equal(run.columns["global_step"], curve.columns["steps"])
    assert run.config["seed"] == curve.seed
    assert run.config["version"]
    assert len(shipped_runs(["CartPole-v0"])) >= len(curves_of("CartPole-v0"))
    write_runs(shipped_runs(["CartPole-v0"]), tmp_path)


def test_runs_that_its_program_has_fetched_are_read(tmp_path):
    """As its cache writes them: plain values in the configuration, columns that are no numbers, runs that go on."""
    for id, state, shift in (("1bvy71i6", "finished", 0), ("2cwz82j7", "crashed", 10), ("3", "running", 99)):
        place = tmp_path / "openrlbenchmark" / "cleanrl" / id
        place.mkdir(parents=True)
        config = {"env_id": "Hopper-v4", "exp_name": "ppo_continuous_action", "seed": shift, "gamma": 0.99}
        (place / "run.json").write_text(json.dumps({"id": id, "state": state, "config": config, "tags": ["pr-1"]}))
        rows = [f"{i},{i},{i * 0.5},{i * 10},{'' if i % 2 else i + shift},text,{{}}" for i in range(300)]
        head = ",_step,_runtime,global_step,charts/episodic_return,note,gradients"
        (place / "run_df.csv").write_text("\n".join([head, *rows]) + "\n")
    runs = read_runs(tmp_path)
    assert [run.config["seed"] for run in runs] == [0, 10]
    assert list(runs[0].columns) == ["_step", "_runtime", "global_step", "charts/episodic_return"]
    library = LIBRARIES["cleanrl"]
    assert all(run.is_of(library, "Hopper-v4", "ppo_continuous_action") for run in runs)
    mean = np.arange(100, 300, 2).mean()  # the last 100 episodes
    assert result_of(runs, library.metric) == Result(mean + 5, 5.0, 2)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.json", "{"),
        ("run.json", "[]"),
        ("run.json", "[" * 100_000),
        ("run.json", '{"state": "finished", "config": 3}'),
        ("run.json", '{"config": {}}'),
        ("run_df.csv", ""),
        ("run_df.csv", ",a\n0\n"),
        ("run_df.csv", None),
    ],
)
def test_damaged_runs_are_named(tmp_path, name, text):
    place = write_runs([run_of(0, [1.0])], tmp_path)
    (file,) = place.rglob(name)
    file.unlink() if text is None else file.write_text(text)
    with pytest.raises(RunError, match=file.parent.name):
        read_runs(tmp_path)


def test_a_run_that_logged_nothing_is_read(tmp_path):
    place = write_runs([run_of(0, []), run_of(1, [1.0])], tmp_path)
    empty, other = sorted(read_runs(place), key=lambda run: run.config["seed"])
    assert empty.columns.keys() == other.columns.keys()
    assert {len(column) for column in empty.columns.values()} == {0}
    assert result_of([empty, other], "eval/mean_reward") == Result(1.0, 0.0, 1)


def test_names_of_columns_may_have_commas(tmp_path):
    columns = {"global_step": np.arange(2.0), 'a,b "c"': np.array([1.5, math.nan])}
    place = write_runs([TrackedRun(run_of(0, []).config, columns)], tmp_path)
    (found,) = read_runs(place)
    assert list(found.columns) == list(columns)
    assert np.array_equal(found.columns['a,b "c"'], columns['a,b "c"'], equal_nan=True)


@pytest.mark.parametrize(
    ("config", "columns"),
    [
        ({"x": object()}, {}),
        ({"x": math.nan}, {}),
        ({}, {"global_step": np.arange(3.0), "x": np.arange(2.0)}),
        ({}, {"x": np.zeros((2, 2))}),
        ({}, {"x": ["a", "b"]}),
        ({}, {"\ud800": np.arange(2.0)}),
    ],
)
def test_a_run_that_has_no_form_leaves_nothing(tmp_path, config, columns):
    bad = TrackedRun({**run_of(1, []).config, **config}, columns)
    with pytest.raises(ParameterError, match="cannot be written"):
        write_runs([run_of(0, [1.0]), bad], tmp_path)
    assert not list(tmp_path.rglob("run.json"))
    assert write_runs([run_of(0, [1.0])], tmp_path)  # so that the same folder can be taken


def test_what_cannot_be_written_is_refused(tmp_path):
    run = run_of(0, [1.0])
    for runs, says in (([], "there are no runs"), ([run, run], "two runs are of the same")):
        with pytest.raises(ParameterError, match=says):
            write_runs(runs, tmp_path)
    with pytest.raises(ParameterError, match="has no 'seed'"):
        write_runs([TrackedRun({"env_id": "a", "exp_name": "b"}, {})], tmp_path)
    for name in ("", "..", "a/b", ".hidden", "a\0b", "\ud800", None):
        with pytest.raises(ParameterError, match="must be the name of a folder"):
            write_runs([run], tmp_path, name)
    assert not list(tmp_path.iterdir())
    write_runs([run], tmp_path)
    with pytest.raises(ParameterError, match="is there already"):
        write_runs([run], tmp_path)
    with pytest.raises(RunError, match="contains no run"):
        read_runs(tmp_path / "none")


# --- results ----------------------------------------------------------------------------------------------------------


def test_a_result_is_the_mean_over_seeds_of_the_last_values():
    runs = [run_of(0, [0.0, 1.0, 2.0, math.nan]), run_of(1, [0.0, 3.0, 6.0])]
    assert result_of(runs, "eval/mean_reward", last=1) == Result(4.0, 2.0, 2)  # deviation of the seeds themselves
    assert result_of(runs, "eval/mean_reward", last=2) == Result(3.0, 1.5, 2)
    assert result_of(runs, "eval/mean_reward", last=1, until=200) == Result(2.0, 1.0, 2)
    assert result_of(runs, "eval/mean_reward", until=50) is None
    assert result_of(runs, "other") is None
    assert result_of([], "other") is None
    shuffled = TrackedRun({}, {"global_step": np.array([3.0, 1.0, 2.0]), "r": np.array([30.0, 10.0, 20.0])})
    assert result_of([shuffled], "r", last=2) == Result(25.0, 0.0, 1)
    with pytest.raises(ParameterError, match="last"):
        result_of(runs, "eval/mean_reward", last=0)


def test_tables_of_results_are_read_and_written():
    """A table as rlops writes it: the label has a comma, a cell without runs says nan."""
    text = (
        ",CleanRL PPO,\"cleanrl/ppo ({'tag': ['a', 'b']})\"\n"
        "Hopper-v2,2311.49 ± 440.99,nan ± nan\n"
        "Ant-v2,-1.50 ± 0.00,3.00 ± 1.00\n"
    )
    found = read_results(text)
    assert found["Hopper-v2"] == {"CleanRL PPO": Result(2311.49, 440.99)}
    assert found["Ant-v2"]["cleanrl/ppo ({'tag': ['a', 'b']})"] == Result(3.0, 1.0)
    assert results_text(found) == text
    for wrong in ("", "a,b\n", ",a\nx\n", ",a\nx,3\n", ",a\nx,one ± two\n", "<html>"):
        with pytest.raises(RunError, match="no table of results"):
            read_results(wrong)
