"""Runs: reproducible, resumed exactly, and whole when writing fails."""

import contextlib
import csv
import os
import subprocess
import tomllib
from dataclasses import replace

import numpy as np
import pytest
from support.training_helpers import BATTLE, CASES, REACH, SEA, StopAfter, small, weights

import rlenvs
from rlenvs.agents import checkpoint, events, runs
from rlenvs.agents.checkpoint import read_checkpoint, write_checkpoint
from rlenvs.agents.evaluate import Evaluation
from rlenvs.agents.export import agent_from_sb3, network_of
from rlenvs.agents.files import load_agent
from rlenvs.agents.hyperparameters.settings import OFF_POLICY, with_changes
from rlenvs.agents.network import Network
from rlenvs.agents.train import in_words, new_model
from rlenvs.core.declare.errors import ParameterError, RunError, UnknownNameError

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

pytestmark = pytest.mark.usefixtures("few_evaluations")


def test_a_run_leaves_what_it_promises(tmp_path):
    reports, evaluations = [], []
    id, settings = CASES["PPO"]
    settings = with_changes(settings, steps=4096, hyperparameters={"n_steps": 256, "batch_size": 1024})
    outcome = runs.run(id, settings, tmp_path / "run", seed=5, progress=reports.append, evaluated=evaluations.append)
    assert (outcome.steps, outcome.total, outcome.stopped) == (4096, 4096, False)
    assert [report.steps for report in reports] == [1024, 2048, 3072, 4096]
    seconds = [report.seconds for report in reports]
    assert seconds == sorted(seconds)
    assert outcome.best == max(found.mean for found in evaluations)
    written = tomllib.loads((tmp_path / "run" / "settings.toml").read_text())
    assert (written["id"], written["seed"], written["steps"]) == ("rlenvs/QuadHover-v0", 5, 4096)
    agent = load_agent(outcome.agent)
    assert agent.card.seeds == [5]
    assert agent.card.settings == settings.to_dict()
    assert rlenvs.evaluate(id, agent, seeds=list(runs.EVALUATION_SEEDS)).mean == outcome.best
    with open(tmp_path / "run" / "progress.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == runs.COLUMNS
    assert [float(row["evaluated_return"]) for row in rows if row["evaluated_return"]] == pytest.approx(
        [found.mean for found in evaluations], rel=1e-5
    )
    steps = [int(row["steps"]) for row in rows]
    assert steps == sorted(steps)
    assert steps[-1] == 4096


@pytest.mark.budget(7)
@pytest.mark.parametrize("name", CASES)
def test_an_interrupted_run_goes_on_to_the_same_weights(tmp_path, name):
    id, settings = CASES[name]
    runs.run(id, settings, tmp_path / "straight")
    looks = 27 if name.split("-")[0] in OFF_POLICY else 2
    part = runs.run(id, settings, tmp_path / "parts", stop=StopAfter(looks))
    assert part.stopped
    assert 0 < part.steps < settings.steps
    assert part.agent.exists()
    assert weights(tmp_path / "parts") != weights(tmp_path / "straight")
    whole = runs.run(id, settings, tmp_path / "parts", resume=True)
    assert (whole.stopped, whole.steps) == (False, settings.steps)
    assert weights(tmp_path / "parts") == weights(tmp_path / "straight")


def test_hindsight_on_a_goal_world_goes_on_exactly(tmp_path):
    pytest.importorskip("mujoco")
    settings = small("SAC", REACH, steps=300, hindsight={"goals": 4}, environment={"form": "goal"},
                     hyperparameters={"learning_starts": 220, "buffer_size": 1000})  # fmt: skip
    runs.run(REACH, settings, tmp_path / "straight")
    assert runs.run(REACH, settings, tmp_path / "parts", stop=StopAfter(60)).stopped
    runs.run(REACH, settings, tmp_path / "parts", resume=True)
    assert weights(tmp_path / "parts") == weights(tmp_path / "straight")


def test_the_seed_decides_the_weights(tmp_path):
    id, settings = CASES["PPO"]
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        runs.run(id, settings, tmp_path / name, seed=seed)
    assert weights(tmp_path / "a") == weights(tmp_path / "b") != weights(tmp_path / "c")


def test_multipliers_weigh_costs_and_follow_their_limits():
    from rlenvs.agents.lagrangian import Penalised
    from rlenvs.integrations.sb3 import sb3_vec_env

    id, slots = "ParticleSpread-v0", 6
    plain, envs = (sb3_vec_env(id, 2) for _ in range(2))
    envs = Penalised(envs, {"contact": 0.25}, learning_rate=0.5, start=3.0)
    for venv in (plain, envs):
        venv.seed(0)
        venv.reset()
    rng, spent = np.random.default_rng(0), 0.0
    for _ in range(plain.batch.setup.horizon):
        actions = np.array([rng.integers(plain.action_space.n) for _ in range(slots)])
        rewards, dones = plain.step(actions)[1:3]
        found, infos = envs.step(actions)[1], envs.env_method("get_state")
        batch = plain.batch
        costs = np.where(dones.reshape(2, 3), batch.final_costs, batch.costs).reshape(slots)
        spent += costs.sum()
        assert found == pytest.approx((rewards - 3.0 * costs) / 4.0, abs=1e-5)
    assert dones.all()
    assert spent > 0
    assert len(infos) == slots
    envs.ascend()
    assert envs.metrics()["costs"] == pytest.approx({"contact": spent / slots})
    assert envs.multipliers == pytest.approx([3.0 + 0.5 * (spent / slots - 0.25)])
    before = envs.multipliers
    envs.ascend()
    assert envs.multipliers is before
    assert envs.excess({"contact": 1.0}) == 0.75
    assert envs.excess({"contact": 0.1}) == 0.0


def test_a_run_with_costs_tells_of_them_and_keeps_the_agent_that_breaks_no_limit(tmp_path, monkeypatch):
    played = iter([(5.0, 9.0), (1.0, 0.5), (2.0, 0.2), (4.0, 3.0)])

    def evaluated(*args, **keywords):
        mean, cost = next(played, (0.0, 9.0))
        one = np.full(2, mean)
        parts = {"contact": np.full(2, cost)}
        return Evaluation(np.arange(2), one, one, one, one, parts, {"contact": 1.0})

    monkeypatch.setattr(runs, "EVALUATIONS", 4)
    monkeypatch.setattr(runs, "evaluate", evaluated)
    id, settings = CASES["PPOLagrangian"]
    settings = replace(settings, steps=3000, costs={"limits": {"contact": 1.0}})
    reports = []
    outcome = runs.run(id, settings, tmp_path / "run", progress=reports.append)
    assert outcome.best == 2.0
    with open(tmp_path / "run" / "progress.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [*runs.COLUMNS, "cost_contact", "multiplier_contact"]
    told = {float(row["multiplier_contact"]) for row in rows}
    assert len(told) > 1
    assert any(found == pytest.approx(reports[-1].multipliers["contact"], rel=1e-4) for found in told)
    assert "contact" in in_words(reports[-1])


@pytest.mark.parametrize("name", ["MAPPO", "MAPPO-masked"])
def test_the_actor_of_mappo_sees_its_own_observation_and_is_what_becomes_an_agent(name):
    import torch

    id, settings = CASES[name]
    model = new_model(id, settings, 0)
    model.learn(400)
    made = {"keywords": settings.environment, "settings": {}, "steps": 0, "seeds": [0], "seconds": 0.0}
    agent = agent_from_sb3(model, id, **made)
    assert agent.network.masked == (name == "MAPPO-masked")
    seen, masks = model.env.unwrapped._observations(), model.env.unwrapped.action_masks()
    own, normalizer = seen.shape[1], model.get_vec_normalize_env()
    scaled = seen
    if normalizer:
        blank = np.zeros((len(seen), model.observation_space.shape[0]))
        scaled = normalizer.normalize_obs(np.concatenate([seen, blank[:, own:]], axis=1))[:, :own]
    options = {"action_masks": masks} if agent.network.masked else {}
    expected = model.predict(scaled, deterministic=True, **options)[0]
    assert agent.predict(seen, **options)[0].tolist() == expected.tolist()
    whole = torch.as_tensor(model._last_obs).requires_grad_()
    values, ratings, _ = model.policy.evaluate_actions(whole, torch.zeros(len(whole), dtype=torch.long))
    behind = torch.autograd.grad(ratings.sum(), whole, retain_graph=True)[0][:, own:]
    assert (behind == 0).all()
    assert (torch.autograd.grad(values.sum(), whole)[0][:, own:] != 0).any()


@pytest.mark.parametrize("algorithm", ["MaskablePPO", "DQN"])
def test_scaled_whole_numbers_keep_what_is_behind_the_point_in_the_buffer(algorithm):
    settings = small(algorithm, normalize={"observations": True})
    model = new_model(SEA, settings, 0)
    model.learn(256)
    assert model.observation_space.dtype.kind == "f"
    if algorithm == "MaskablePPO":
        batch = next(model.rollout_buffer.get(64)).observations
    else:
        batch = model.replay_buffer.sample(64, env=model.get_vec_normalize_env()).observations
    assert (batch != batch.round()).any()


def test_in_a_league_the_learner_plays_every_team_and_rivals_the_others():
    import torch

    from rlenvs.agents.league import League

    id, settings = CASES["PPO-league"]
    settings = replace(settings, num_envs=12, league={"size": 2, "every": 1, "scripted": 0.5, "past": 1 / 3})
    model = new_model(id, settings, 0)
    league = next(env for env in checkpoint.wrappers_of(model) if isinstance(env, League))
    teams, own = league.batch.setup.teams, np.zeros((12, 4), np.bool_)
    own.flat[league.slots] = True
    assert own.tolist() == [[team == world % 2 for team in teams] for world in range(12)]
    assert model.n_envs == own.sum() == 24
    networks = []
    for steps in (1, 10, 20):
        model.num_timesteps = steps
        with torch.no_grad():
            for parameter in model.policy.parameters():
                parameter += torch.randn_like(parameter)
        league.meet(model)
        networks.append(Network(*network_of(model)))
    league.reset()
    taken, plain = [], league.venv.step_async
    league.venv.step_async = lambda actions: (taken.append(actions.reshape(12, 4)), plain(actions))
    met = set()
    for _ in range(60):
        seen, scripted = league.batch.get_observations(), league.batch.player_actions("pursuit")[..., 0]
        mine = model.action_space.sample() * np.ones(24, np.int64)
        league.step(mine)
        assert (taken[-1][own] == mine[0]).all()
        assert (taken[-1][:6] == scripted[:6])[~own[:6]].all()
        answers = [network.act(seen.reshape(48, -1))[0].reshape(12, 4) for network in networks]
        assert (taken[-1][10:] == answers[2][10:])[~own[10:]].all()
        for world in range(6, 10):
            same = [n for n in (1, 2) if (taken[-1][world] == answers[n][world])[~own[world]].all()]
            assert same
            met.add(tuple(same))
    assert {(1,), (2,)} <= met


def test_a_central_state_is_that_of_the_end_where_an_episode_ends():
    from rlenvs.agents.mappo import Central
    from rlenvs.integrations.sb3 import sb3_vec_env

    for id, stacked in (("ParticleSpread-v0", True), (BATTLE, False)):
        envs = Central(sb3_vec_env(id, 2, horizon=2))
        agents, own = envs.batch.agents, envs.batch.setup.observation_space.shape[0]
        envs.seed(0)
        envs.reset()
        for _ in range(2):
            before = envs.batch.central().reshape(2, -1)
            seen, _, dones, infos = envs.step(np.zeros(2 * agents, np.int64))
            assert np.array_equal(seen[:, own:-agents], np.repeat(envs.batch.central().reshape(2, -1), agents, axis=0))
        assert dones.all()
        for slot, info in enumerate(infos):
            last = info["terminal_observation"]
            world, agent = divmod(slot, agents)
            others = [infos[world * agents + k]["terminal_observation"][:own] for k in range(agents)]
            expected = np.concatenate(others) if stacked else before[world]
            assert np.array_equal(last[own:-agents], expected)
            assert last[-agents:].tolist() == np.eye(agents)[agent].tolist()
            assert envs.observation_space.contains(last) or not stacked


def test_looking_at_the_policy_and_saving_change_nothing(tmp_path, monkeypatch):
    id, settings = CASES["SAC"]
    runs.run(id, settings, tmp_path / "plain")
    monkeypatch.setattr(runs, "EVALUATIONS", 20)
    monkeypatch.setattr(runs, "CHECKPOINT_SHARE", 1e9)
    runs.run(id, settings, tmp_path / "often", checkpoint_seconds=0.0)
    assert weights(tmp_path / "plain") == weights(tmp_path / "often")


def test_the_expert_decides_first(monkeypatch):
    id, settings = CASES["SAC"]
    model = new_model(id, settings, 0)
    assert type(model).__name__ == "SAC"
    model.learn(80)
    batch = rlenvs.make_batch(id, 4)
    batch.seed([0, 1, 2, 3])
    batch.reset()
    advice = batch.expert_actions()[:, 0]
    assert np.abs(model.replay_buffer.actions[0] - advice).max() < 0.6  # noise of 0.1
    quiet = with_changes(settings)
    quiet.expert.pop("noise")
    model = new_model(id, quiet, 0)
    model.learn(4)
    assert model.replay_buffer.actions[0] == pytest.approx(np.clip(advice, -1, 1), abs=1e-6)


def test_a_folder_in_use_is_not_written_over(tmp_path):
    id, settings = CASES["PPO"]
    runs.run(id, settings, tmp_path / "run")
    before = weights(tmp_path / "run")
    with pytest.raises(RunError, match="--resume"):
        runs.run(id, settings, tmp_path / "run")
    with pytest.raises(RunError, match=r"hyperparameters\.gamma: nothing -> 0\.5"):
        runs.run(id, with_changes(settings, hyperparameters={"gamma": 0.5}), tmp_path / "run", resume=True)
    with pytest.raises(RunError, match="seed 1"):
        runs.run(id, settings, tmp_path / "run", seed=1, resume=True)
    with pytest.raises(RunError, match="id rlenvs/DeepSeaTreasure-v0"):
        runs.run(SEA, settings, tmp_path / "run", resume=True)
    assert weights(tmp_path / "run") == before
    assert runs.run(id, settings, tmp_path / "run", resume=True).steps == settings.steps


def test_settings_edited_behind_the_run_are_noticed(tmp_path):
    id, settings = CASES["PPO"]
    runs.run(id, settings, tmp_path / "run", stop=StopAfter(2))
    file = tmp_path / "run" / "settings.toml"
    file.write_text(file.read_text().replace("n_epochs = 1", "n_epochs = 2"))
    edited = runs.stored_settings(tmp_path / "run", id, 0)
    with pytest.raises(RunError, match="n_epochs: 1 -> 2"):
        runs.run(id, edited, tmp_path / "run", resume=True)


def test_progress_is_cut_back_to_the_checkpoint(tmp_path):
    id, settings = CASES["PPO"]
    runs.run(id, settings, tmp_path / "run", stop=StopAfter(2))
    with open(tmp_path / "run" / "progress.csv", "a") as file:
        file.write("999999,1,1\n12")
    runs.run(id, settings, tmp_path / "run", resume=True)
    rows = list(csv.reader((tmp_path / "run" / "progress.csv").read_text().splitlines()))
    assert rows[0] == runs.COLUMNS
    assert max(int(row[0]) for row in rows[1:]) == settings.steps


def interrupted_run(tmp_path):
    id, settings = CASES["SAC"]
    assert runs.run(id, settings, tmp_path / "run", stop=StopAfter(20)).stopped
    return id, settings, tmp_path / "run"


def test_a_write_that_stops_in_the_middle_leaves_the_last_checkpoint(tmp_path):
    import resource

    before = {"a": np.arange(10)}
    write_checkpoint(tmp_path / "file", before)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_checkpoint(tmp_path / "file", {"a": np.arange(10_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert read_checkpoint(tmp_path / "file")["a"].tolist() == before["a"].tolist()
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_full_disk_is_one_clear_error_and_the_run_can_go_on(tmp_path, monkeypatch):
    id, settings, folder = interrupted_run(tmp_path)
    before = weights(folder)
    real = checkpoint.replace_file

    def full(path, parts):
        if path.name != runs.CHECKPOINT:
            return real(path, parts)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "replace_file", full)
    with pytest.raises(
        RunError, match=r"No space left on device.*step 80, is unchanged; continue from it with --resume"
    ):
        runs.run(id, settings, folder, resume=True)
    monkeypatch.setattr(checkpoint, "replace_file", real)
    assert weights(folder) == before
    runs.run(id, settings, folder, resume=True)
    runs.run(id, settings, tmp_path / "straight")
    assert weights(folder) == weights(tmp_path / "straight")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounts a small file system")
def test_a_disk_that_is_really_full(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)], capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        id, settings = CASES["SAC"]
        assert runs.run(id, settings, disk / "run", stop=StopAfter(20)).stopped
        before = weights(disk / "run")
        with open(disk / "filler", "wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))
        with pytest.raises(RunError, match="No space left on device"):
            runs.run(id, settings, disk / "run", resume=True)
        assert weights(disk / "run") == before
        assert load_agent(disk / "run" / "agent.safetensors").card.algorithm == "SAC"
        (disk / "filler").unlink()
        assert runs.run(id, settings, disk / "run", resume=True).steps == settings.steps
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_tensorboard_reads_what_was_written(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    id, settings = CASES["PPO"]
    runs.run(id, settings, tmp_path / "run", tensorboard=True)
    found = accumulator.EventAccumulator(str(tmp_path / "run")).Reload()
    assert "rollout/ep_rew_mean" in found.Tags()["scalars"] or "time/fps" in found.Tags()["scalars"]
    losses = found.Scalars("train/loss")
    assert [event.step for event in losses] == sorted(event.step for event in losses)
    assert np.isfinite([event.value for event in losses]).all()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full is Linux's")
def test_events_that_cannot_be_written_are_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(events, "_new_file", lambda folder: open("/dev/full", "wb", buffering=0))  # noqa: SIM115
    id, settings = CASES["PPO"]
    with pytest.raises(RunError, match="No space left on device"):
        runs.run(id, settings, tmp_path / "run", tensorboard=True)


def test_a_run_that_could_not_begin_leaves_nothing(tmp_path):
    id, settings = CASES["PPO"]
    for wrong in ({"gamma": "x"}, {"gamma": float("nan")}, {"n_steps": 2.5}, {"gama": 1.0}):
        with pytest.raises((ParameterError, UnknownNameError)):
            runs.run(id, with_changes(settings, hyperparameters=wrong), tmp_path / "runs" / "run")
        assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    id, settings = CASES["PPO"]
    with pytest.raises(RunError, match=r"cannot be written: Not a directory. Nothing was trained"):
        runs.run(id, settings, tmp_path / "file" / "run")
