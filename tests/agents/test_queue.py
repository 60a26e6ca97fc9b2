"""The queue of trainings: what is to be done, in which order, and that it goes on where it stopped."""

import multiprocessing
import os
import re
import signal
import threading
import time

import pytest
from typer.testing import CliRunner

from rlenvs.agents import hyperparameters, publish, queue, runs, store
from rlenvs.agents.benchmarks import BENCHMARKS
from rlenvs.agents.hyperparameters import algorithms_of, family_file, seeds_of
from rlenvs.agents.queue import jobs_of, summary, todo, work
from rlenvs.cli import app
from rlenvs.core.catalogue.registry import catalogue

pytest.importorskip("stable_baselines3")

FAMILY = """
[MaskablePPO]
steps = 256
num_envs = 4
hyperparameters = {n_steps = 16, batch_size = 32, n_epochs = 1}
network.layers = [8]
[Chain-v0]
algorithms = ["MaskablePPO", "DQN"]
seeds = 2
DQN.steps = 100
[Chain-v0.levels.hard]
algorithms = ["MaskablePPO"]
seeds = 1
[Chain-v0.levels.river.MaskablePPO]
steps = 99
"""
CHAIN = "Chain-v0"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A store, and settings for the family of the tables."""
    settings = tmp_path / "settings"
    settings.mkdir()
    monkeypatch.setattr(hyperparameters, "FOLDER", settings)
    (settings / family_file(CHAIN).name).write_text(FAMILY)
    (tmp_path / "agents").mkdir()
    monkeypatch.setattr(store, "stores", lambda: [tmp_path / "agents"])
    monkeypatch.setattr(queue, "stores", lambda: [tmp_path / "agents"])
    monkeypatch.setattr(publish, "_home", lambda world, name: tmp_path / "agents")
    return tmp_path / "agents"


def names(jobs):
    return [f"{job.id} {job.name}" for job in jobs]


def test_what_is_worth_more_comes_first(place):
    runs_of = ["MaskablePPO-seed-0", "DQN-seed-0", "DQN-seed-1", "MaskablePPO-seed-1", "hard-MaskablePPO-seed-0"]
    assert names(todo([CHAIN])) == [f"{CHAIN} {name}" for name in runs_of]
    words = "5 runs to do: 1 first agents, 1 other algorithms, 2 further seeds, 1 levels"
    assert summary(todo([CHAIN])) == words


def test_what_has_a_curve_is_done(place):
    (place / CHAIN / "curves").mkdir(parents=True)
    (place / CHAIN / "curves" / "MaskablePPO-seed-0.csv").write_text("")
    assert f"{CHAIN} MaskablePPO-seed-0" not in names(todo([CHAIN]))
    assert summary([]).startswith("nothing to do")


def test_all_that_is_shipped_exists_and_only_reinforcement_learning_is_in_the_queue():
    for id in catalogue:
        if id.startswith("rlenvs/") and "/mo-" not in id:
            jobs = list(jobs_of(id))
            assert len(jobs) >= sum(seeds_of(id, None, algorithm) for algorithm in algorithms_of(id))
            assert all(job.algorithm != "DAgger" for job in jobs)


def test_of_metaworld_the_tasks_of_mt10_have_an_agent():
    ids = [id for id in catalogue if id.startswith("rlenvs/MetaWorld")]
    trained = {job.id for id in ids for job in jobs_of(id)}
    assert (len(ids), trained) == (50, set(BENCHMARKS["MT10"].ids))


def test_a_finished_run_is_published(place, tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "EVALUATIONS", 2)
    monkeypatch.setattr(runs, "EVALUATION_SEEDS", range(1_000_000, 1_000_002))
    first, second = (job for job in jobs_of(CHAIN) if job.algorithm == "MaskablePPO" and job.level is None)
    for job in (first, second):
        queue._done(job, tmp_path / "runs" / job.name, runs.Stop(), lambda now: None)
    assert (place / CHAIN / "MaskablePPO.safetensors").exists()
    assert not (place / CHAIN / "MaskablePPO-seed-1.safetensors").exists()
    curves = sorted(path.name for path in (place / CHAIN / "curves").iterdir())
    assert curves == ["MaskablePPO-seed-0.csv", "MaskablePPO-seed-1.csv"]
    assert not {first, second} & set(todo([CHAIN]))


def _marks(job, output):
    (output / job.name).write_text(str(os.getpid()))


def _waits(job, output):
    (output / job.name).write_text(str(os.getpid()))
    with runs.stopped_by_signals() as stop:
        while not stop.wanted:
            time.sleep(0.05)
    (output / job.name).write_text("stopped")


@pytest.fixture
def forked(monkeypatch):
    fork = multiprocessing.get_context("fork")
    monkeypatch.setattr(queue.multiprocessing, "get_context", lambda method: fork)


def test_every_run_has_a_process_of_its_own(place, tmp_path, monkeypatch, forked):
    monkeypatch.setattr(queue, "_do", _marks)
    jobs = todo([CHAIN])
    assert work(jobs, tmp_path, 2, print) == 0
    pids = {(tmp_path / job.name).read_text() for job in jobs}
    assert len(pids) == len(jobs)
    assert str(os.getpid()) not in pids


def test_a_signal_stops_all_runs_at_a_checkpoint_and_begins_no_more(place, tmp_path, monkeypatch, forked):
    monkeypatch.setattr(queue, "_do", _waits)
    jobs, said = todo([CHAIN]), []
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGTERM)).start()
    assert work(jobs, tmp_path, 2, said.append) == signal.SIGTERM
    assert [path.read_text() for path in tmp_path.glob("*-seed-*")] == ["stopped", "stopped"]
    assert said[0].startswith("stopping")


def test_two_queues_never_do_the_same_run(place, tmp_path, monkeypatch):
    done = []
    monkeypatch.setattr(queue, "_done", lambda job, *rest: done.append(job) or "")
    monkeypatch.setattr(queue.os, "setsid", lambda: None)
    first, second = todo([CHAIN])[:2]
    with queue.claimed(tmp_path / f"{first.id}-{first.name}.lock") as free:
        assert free
        queue._do(first, tmp_path)
        queue._do(second, tmp_path)
    queue._do(first, tmp_path)
    assert done == [second, first]
    (place / CHAIN / "curves").mkdir(parents=True)
    (place / CHAIN / "curves" / f"{first.name}.csv").write_text("")
    queue._do(first, tmp_path)  # published in the meantime
    assert done == [second, first]


def test_the_command(place):
    say = CliRunner().invoke
    listed = say(app, ["train", "--todo", CHAIN, "--dry-run"])
    assert re.search("5 runs to do.*MaskablePPO-seed-0: 0.000256 M", listed.output, re.S), listed.output
    refused = say(app, ["train", "--todo", "--steps", "5"])
    assert "--steps cannot be combined with --todo" in str(refused.exception) + refused.output
    refused = say(app, ["train", CHAIN, "--dry-run"])
    assert "--dry-run requires --todo" in str(refused.exception) + refused.output
    refused = say(app, ["train"])
    assert "no environment given" in str(refused.exception) + refused.output
    listed = say(app, ["train", "--todo", CHAIN, CHAIN, "--dry-run"])
    assert "10 runs to do" in listed.output
    refused = say(app, ["train", CHAIN, "Bandit-v0"])
    assert "give one" in str(refused.exception) + refused.output
