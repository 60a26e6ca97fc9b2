"""Training: settings, reproducibility, run folders, checkpoints that go on exactly, and writing that fails."""

import contextlib
import csv
import hashlib
import json
import os
import pickle
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import thermostat
from typer.testing import CliRunner

import rlenvs
from rlenvs.agents import checkpoint, events, runs
from rlenvs.agents import hyperparameters as settings_module
from rlenvs.agents.card import IMITATING
from rlenvs.agents.checkpoint import pack, read_checkpoint, unpack, write_checkpoint
from rlenvs.agents.evaluate import Evaluation
from rlenvs.agents.export import agent_from, network_of
from rlenvs.agents.files import load_agent
from rlenvs.agents.hyperparameters import (
    DEFAULTS,
    FOLDER,
    OFF_POLICY,
    Settings,
    algorithms_of,
    differences,
    family_file,
    family_tables,
    found_of,
    needs_masks,
    read_settings,
    seeds_of,
    settings_for,
    settings_from,
    toml,
    with_changes,
)
from rlenvs.agents.network import Network
from rlenvs.agents.store import reference_agents, title
from rlenvs.agents.train import in_words, new_model
from rlenvs.cli import app
from rlenvs.core.errors import ParameterError, RunError, UnknownNameError
from rlenvs.core.registry import Entry, catalogue, world_of
from rlenvs.core.setup import Setup

sb3 = pytest.importorskip("stable_baselines3")
contrib = pytest.importorskip("sb3_contrib")

HOVER, SEA, REACH, MAZE = "QuadHover-v0", "DeepSeaTreasure-v0", "PandaReach-v0", "PathFinding-v0"
BATTLE = "Battle-v0"
GENERALS, SMALL_BOARD = "Generals-v0", {"height": 6, "width": 7}
PLANES = {"convolutions": [4, 4], "head": "planes", "layers": [4]}
IDS = [id for id in catalogue if "/mo-" not in id and id.startswith("rlenvs/")]
ON = {"n_steps": 16, "batch_size": 32, "n_epochs": 1}
OFF = {"learning_starts": 60, "batch_size": 16, "train_freq": 1, "gradient_steps": 1, "buffer_size": 250}
ASK = {"rounds": 4, "epochs": 2, "batch_size": 16}
SMALL = {"layers": [8]}


def small(algorithm, id=HOVER, steps=None, **tables):
    usual = ON if "PPO" in algorithm else ASK if algorithm in ("DAgger", "BC") else OFF
    hyperparameters = {**usual, **tables.pop("hyperparameters", {})}
    network = tables.pop("network", {**SMALL, **({"memory": 8} if algorithm == "RecurrentPPO" else {})})
    steps = steps or (256 if "PPO" in algorithm else 160)
    return settings_from(
        {"algorithm": algorithm, "steps": steps, "num_envs": 4, "hyperparameters": hyperparameters,
         "network": network, **tables}, "a test",
    )  # fmt: skip


CASES = {
    "PPO": (HOVER, small("PPO")),
    "PPO-normalised": (HOVER, small("PPO", normalize={"observations": True, "rewards": True})),
    "PPO-sde": (HOVER, small("PPO", hyperparameters={"use_sde": True})),
    "PPO-agents": ("ParticleSpread-v0", small("PPO", "ParticleSpread-v0", steps=768)),
    "PPO-frames": (HOVER, small("PPO", network={**SMALL, "frames": 3}, normalize={"observations": True})),
    "MaskablePPO": (SEA, small("MaskablePPO", SEA)),
    "RecurrentPPO": (HOVER, small("RecurrentPPO")),
    "SAC": (HOVER, small("SAC", expert={"steps": 80, "noise": 0.1})),
    "SAC-normalised": (HOVER, small("SAC", normalize={"observations": True})),
    "TD3": (HOVER, small("TD3", hyperparameters={"action_noise": 0.1})),
    "DQN": (SEA, small("DQN", SEA, hyperparameters={"exploration_final_eps": 0.8, "target_update_interval": 20})),
    "PPOLagrangian": (
        "ParticleSpread-v0",
        small(
            "PPOLagrangian",
            steps=1536,
            normalize={"observations": True, "rewards": True},
            costs={"limits": {"contact": 0.0}, "learning_rate": 0.5, "start": 0.1},
        ),
    ),
    "MAPPO": (
        "ParticleSpread-v0",
        small("MAPPO", steps=768, normalize={"observations": True, "rewards": True}),
    ),
    "MAPPO-masked": (BATTLE, small("MAPPO", steps=768, environment={"horizon": 10})),
    "PPO-league": (
        "ParticleTag-v0",
        small(
            "PPO",
            steps=1536,
            normalize={"observations": True, "rewards": True},
            league={"size": 2, "every": 200, "scripted": 0.5, "past": 0.5},
        ),
    ),
    "PPO-frames-league": (
        "ParticleTag-v0",
        small("PPO", steps=768, network={**SMALL, "frames": 2}, league={"every": 200, "scripted": 0.0, "past": 0.5}),
    ),
    "PPO-roles-league": (
        "ParticleTag-v0",
        small(
            "PPO",
            steps=1536,
            network={**SMALL, "roles": True},
            normalize={"observations": True, "rewards": True},
            league={"size": 2, "every": 200, "scripted": 0.5, "past": 0.5},
        ),
    ),
    "MaskablePPO-roles": (
        "ParticleSpeakerListener-v0",
        small("MaskablePPO", steps=768, network={**SMALL, "roles": True}, normalize={"observations": True}),
    ),
    "MAPPO-roles": (
        "ParticleTag-v0",
        small("MAPPO", steps=768, network={**SMALL, "roles": True}, normalize={"observations": True}),
    ),
    "MaskablePPO-league": (
        GENERALS,
        small(
            "MaskablePPO",
            GENERALS,
            network=PLANES,
            environment={**SMALL_BOARD, "opponent": "self"},
            league={"every": 100, "scripted": 0.5, "past": 0.0},
        ),
    ),
    "PPOLagrangian-masked": ("Sokoban-v0", small("PPOLagrangian", environment={"horizon": 10})),
    "TD3-normalised": (HOVER, small("TD3", normalize={"observations": True, "rewards": True})),
    "DDPG": (HOVER, small("DDPG", hyperparameters={"action_noise": 0.1})),
    "TQC": (HOVER, small("TQC", network={"layers": [8], "quantiles": 5})),
    "QRDQN": (
        SEA,
        small(
            "QRDQN",
            SEA,
            hyperparameters={"exploration_final_eps": 0.8, "target_update_interval": 20},
            network={"layers": [8], "quantiles": 5},
        ),
    ),
    "SAC-full": (HOVER, small("SAC", hyperparameters={"buffer_size": 80})),
    "DAgger": (SEA, small("DAgger", SEA)),
    "BC": (HOVER, small("BC")),
    "DAgger-normalised": (HOVER, small("DAgger", normalize={"observations": True})),
    "DAgger-planes": (GENERALS, small("DAgger", GENERALS, network=PLANES, environment=SMALL_BOARD)),
    "MaskablePPO-planes": (
        GENERALS,
        small("MaskablePPO", GENERALS, steps=768, network=PLANES, environment=SMALL_BOARD),
    ),
}


class StopAfter:
    """A wish to stop that comes at the n-th look."""

    number = int(signal.SIGINT)

    def __init__(self, looks):
        self.looks = looks

    @property
    def wanted(self):
        self.looks -= 1
        return self.looks < 0


def weights(folder):
    """A hash of all parameters and optimiser states in a run's checkpoint."""
    digest = hashlib.sha256()

    def add(part):
        if isinstance(part, dict):
            for key in part:
                add(part[key])
        elif isinstance(part, (list, tuple)):
            for value in part:
                add(value)
        else:
            digest.update(part.numpy().tobytes() if hasattr(part, "numpy") else repr(part).encode())

    add(read_checkpoint(folder / runs.CHECKPOINT)["state"]["parameters"])
    return digest.hexdigest()


@pytest.fixture(autouse=True)
def few_evaluations(monkeypatch):
    monkeypatch.setattr(runs, "EVALUATIONS", 2)
    monkeypatch.setattr(runs, "EVALUATION_SEEDS", range(1_000_000, 1_000_002))


# --- settings ---------------------------------------------------------------------------------------------------------


def test_every_environment_and_level_in_the_files_exists():
    found = {path.name: tomllib.loads(path.read_text()) for path in FOLDER.glob("*.toml")}
    assert {family_file(id).name for id in IDS} == set(found)
    for file, tables in found.items():
        for name, table in tables.items():
            if "-v" in name:
                assert file == family_file(name).name
                assert set(table.get("levels", {})) <= set(world_of(name).levels)


FAMILY = """
algorithms = ["PPO"]
[PPO]
steps = 10
num_envs = 2
hyperparameters = {gamma = 0.9, n_epochs = 3}
[QuadHover-v0]
algorithms = ["PPO", "DAgger"]
seeds = 3
environment.mass = 0.03
[QuadHover-v0.PPO]
steps = 55
hyperparameters.gamma = 0.8
[QuadHover-v0.levels.hard.PPO]
steps = 77
[QuadHover-v0.levels.easy]
algorithms = ["DAgger"]
seeds = 1
DAgger.steps = 99
[QuadTrack-v0]
"""


@pytest.fixture
def family(tmp_path, monkeypatch):
    """A file for the family of quadcopters."""
    monkeypatch.setattr(settings_module, "FOLDER", tmp_path)
    file = tmp_path / family_file(HOVER).name
    file.write_text(FAMILY)
    return file


def test_an_environment_differs_from_its_family_and_a_level_from_its_environment(family):
    found = settings_for(HOVER)
    defaults = DEFAULTS["PPO"]["hyperparameters"]
    assert (found.steps, found.hyperparameters) == (55, {**defaults, "gamma": 0.8, "n_epochs": 3})
    hard = settings_for(HOVER, environment={"level": "hard"})
    assert (hard.steps, hard.environment) == (77, {"mass": 0.03, "level": "hard"})
    assert hard.hyperparameters == found.hyperparameters
    easy = settings_for(HOVER, environment={"level": "easy"})
    assert (easy.algorithm, easy.steps) == ("DAgger", 99)
    assert easy.hyperparameters == DEFAULTS["DAgger"]["hyperparameters"]
    assert easy.environment == {"mass": 0.03, "level": "easy"}
    assert settings_for(HOVER, environment={"level": "real"}).steps == 55
    track = settings_for("QuadTrack-v0")
    assert (track.steps, track.hyperparameters["gamma"], track.environment) == (10, 0.9, {})
    for level in ("hardest", 3, ["hard"]):
        with pytest.raises((ParameterError, UnknownNameError), match="level"):
            settings_for(HOVER, environment={"level": level})


SHARED = """
[shared.far]
like = "wide"
found = "far away"
seeds = 2
PPO.hyperparameters = {gamma = 0.7, n_epochs = 5}
[shared.wide]
algorithms = ["DAgger", "PPO"]
found = "wide"
environment = {mass = 0.05, drag = 0.1}
PPO = {steps = 33, hyperparameters = {gamma = 0.6, n_steps = 8}}
[QuadGate-v0]
like = "far"
environment.mass = 0.04
PPO.hyperparameters.n_epochs = 6
[QuadGate-v0.levels.hard]
like = "wide"
PPO.steps = 44
[QuadRace-v0]
like = "wide"
found = "its own"
environment = {}
PPO.hyperparameters = {}
"""


def test_environments_and_levels_may_be_like_a_shared_table(family):
    family.write_text(FAMILY + SHARED)
    tables = family_tables("QuadGate-v0", "hard")
    assert [table.get("like") for table in tables] == [None, None, "wide", "far", None, "wide"]
    found = settings_module._own("QuadGate-v0", "PPO", None)  # the world has no drag
    own = {"gamma": 0.7, "n_steps": 8, "n_epochs": 6}
    assert found.hyperparameters == {**DEFAULTS["PPO"]["hyperparameters"], **own}
    assert (found.steps, found.num_envs, found.environment) == (33, 2, {"mass": 0.04, "drag": 0.1})
    assert (algorithms_of("QuadGate-v0"), seeds_of("QuadGate-v0", None, "PPO")) == (["DAgger", "PPO"], 2)
    hard = settings_module._own("QuadGate-v0", "PPO", "hard")
    assert (hard.steps, hard.environment) == (44, {"mass": 0.05, "drag": 0.1})
    assert hard.hyperparameters == {**found.hyperparameters, "gamma": 0.6}
    race = settings_for("QuadRace-v0", algorithm="PPO")
    assert (race.steps, race.environment, race.hyperparameters) == (33, {}, {})
    assert [found_of(id) for id in ("QuadGate-v0", "QuadRace-v0", HOVER)] == ["far away", "its own", ""]


def test_every_shared_table_is_shared():
    for path in FOLDER.glob("*.toml"):
        tables = tomllib.loads(path.read_text())
        shared = tables.pop("shared", {})
        own = [table for name, table in tables.items() if "-v" in name]
        users = [*own, *shared.values(), *(level for table in own for level in table.get("levels", {}).values())]
        for name in shared:
            assert sum(table.get("like") == name for table in users) > 1, f"{path.name}: shared.{name}"


def test_what_is_shipped_is_listed_by_environment_and_level(family):
    assert algorithms_of(HOVER) == algorithms_of(HOVER, "hard") == ["PPO", "DAgger"]
    assert algorithms_of(HOVER, "easy") == ["DAgger"]
    assert algorithms_of("QuadGate-v0") == ["PPO"]
    assert [seeds_of(HOVER, level, "PPO") for level in (None, "hard", "easy")] == [3, 3, 1]
    assert seeds_of("QuadGate-v0", None, "PPO") == 1


def test_seeds_may_be_counted_by_algorithm(family):
    family.write_text(family.read_text().replace("seeds = 3", "seeds = {PPO = 3}"))
    assert [seeds_of(HOVER, None, algorithm) for algorithm in ("PPO", "DAgger")] == [3, 1]
    assert seeds_of(HOVER, "easy", "DAgger") == 1


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("[QuadGate-v0]\nPPO.network.depth = 3", r"quadcopter.toml: QuadGate-v0, PPO: \[network\] has no key 'depth'"),
        ("[QuadGate-v0]\nstepps = 3", r"quadcopter.toml: QuadGate-v0: there is no key 'stepps'. .*seeds"),
        ("[QuadGate-v0]\nalgorithms = ['POP']", r"quadcopter.toml: QuadGate-v0: algorithms=\['POP'\] must be .*PPO"),
        ("[QuadGate-v0]\nalgorithms = 'PPO'", r"algorithms='PPO' must be a list"),
        ("[QuadGate-v0]\nseeds = 0", r"seeds=0 must be a positive integer"),
        ("[QuadGate-v0]\nseeds = {PPO = 0}", r"seeds.PPO=0 must be a positive integer"),
        ("[QuadGate-v0]\nseeds = {POP = 3}", r"seeds: there is no algorithm 'POP'. .*PPO"),
        ("[QuadGate-v0]\nPPO = 3", r"QuadGate-v0: PPO=3 must be a table"),
        ("[QuadGate-v0]\nlike = 3", r"QuadGate-v0: like=3 must be a text"),
        ("[QuadGate-v0]\nlike = 'far'", r"QuadGate-v0: like='far', and quadcopter.toml has no table \[shared.far\]"),
        ("[shared.near]\n[QuadGate-v0]\nlike = 'neer'", r"no table \[shared.neer\]. .*'near'"),
        ("[shared]\nfar = 3\n[QuadGate-v0]\nlike = 'far'", r"quadcopter.toml: shared.far=3 must be a table"),
        ("[shared.a]\nlevels = {}\n[QuadGate-v0]\nlike = 'a'", r"shared.a: there is no key 'levels'"),
        ("[shared.a]\nlike='b'\n[shared.b]\nlike='a'\n[QuadGate-v0]\nlike='a'", r"a ring: a -> b -> a"),
    ],
)
def test_a_family_file_that_says_what_cannot_be_is_refused(family, lines, words):
    family.write_text(f"{FAMILY}\n{lines}\n")
    with pytest.raises((ParameterError, UnknownNameError), match=words):
        settings_for("QuadGate-v0")


@pytest.mark.parametrize("world", ["rolling_ball:SPEC", thermostat.load()], ids=["module", "function"])
def test_a_world_outside_of_packages_has_the_defaults(world, monkeypatch):
    monkeypatch.setitem(catalogue, "rlenvs/Alone-v0", Entry("rlenvs/Alone-v0", world, ()))
    assert family_tables("Alone-v0") == []
    assert settings_for("Alone-v0").to_dict() == {"algorithm": "PPO", **DEFAULTS["PPO"]}


@pytest.mark.parametrize("id", IDS)
def test_the_file_of_an_environment_fits_it(id):
    for level in (None, *world_of(id).levels):
        environment = {} if level is None else {"level": level}
        for algorithm in algorithms_of(id, level):
            found = settings_for(id, algorithm=algorithm, environment=environment)
            assert found.algorithm == algorithm not in IMITATING
            assert settings_from(tomllib.loads(toml(found.to_dict())), "again") == found
            if needs_masks(Setup(world_of(id))) and algorithm == "PPO":
                pytest.fail("this world has masks: MaskablePPO knows them")


# one environment for each kind of observation, action and algorithm that families have; then all
KINDS = ("FrozenLake-v0", "RepeatFirst-v0", "MortarMayhemB-v0", "MiniGridEmpty8x8-v0", "Sokoban-v0", "PushWorld-v0")


@pytest.mark.parametrize("id", [*KINDS, *(pytest.param(id, marks=pytest.mark.slow) for id in IDS)])
def test_the_settings_of_an_environment_make_a_model_that_can_become_an_agent(id):
    settings = settings_for(id)
    model = new_model(id, settings, 0)
    made = {"keywords": settings.environment, "settings": {}, "steps": 0, "seeds": [0], "seconds": 0.0}
    agent = agent_from(model, id, **made)
    assert agent.card.algorithm == settings.algorithm


def test_defaults_by_kind_of_world(tmp_path, monkeypatch):
    monkeypatch.setattr(settings_module, "FOLDER", tmp_path)
    assert settings_for(HOVER).algorithm == "PPO"
    assert settings_for(SEA).algorithm == "MaskablePPO"
    assert settings_for("ParticleSpeakerListener-v0").algorithm == "MaskablePPO"  # its agents' actions differ
    reach = settings_for(REACH)
    assert (reach.algorithm, reach.hindsight, reach.environment) == ("SAC", {"goals": 4}, {"form": "goal"})


def test_another_algorithm_has_its_own_tables_and_keeps_the_environment():
    found = settings_for(HOVER, algorithm="TD3", hyperparameters={"gamma": 0.9}, environment={"mass": 0.03})
    assert (found.algorithm, found.hyperparameters["gamma"], found.environment) == ("TD3", 0.9, {"mass": 0.03})
    assert "gae_lambda" not in found.hyperparameters
    assert found.training == settings_for(HOVER).training


def test_what_is_set_for_the_environment_holds_in_training_too():
    assert settings_for(HOVER).train_keywords == {}
    assert settings_for(HOVER, environment={"weights": {"distance": 2.0}}).train_keywords["weights"] == {
        "distance": 2.0
    }


GOOD = {"algorithm": "PPO", "steps": 10, "num_envs": 2}


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"stepps": 1}, ["stepps", "steps"]),
        ({"algorithm": "POP"}, ["POP", "PPO"]),
        ({"steps": 0}, ["steps=0", "positive integer"]),
        ({"steps": True}, ["steps=True"]),
        ({"num_envs": 2.5}, ["num_envs=2.5"]),
        ({"network": {"wrapper": [1]}}, ["network", "wrapper"]),
        ({"network": {"layers": [0]}}, ["layers", "positive integers"]),
        ({"network": {"activation": "gelu"}}, ["gelu", "tanh"]),
        ({"network": {"memory": 8}}, ["memory", "RecurrentPPO"]),
        ({"algorithm": "SAC", "league": {"size": 3}}, ["league", "SAC", "MaskablePPO"]),
        ({"league": {"scripted": 1.5}}, ["scripted=1.5", "from 0 to 1"]),
        ({"league": {"scripted": 0.6, "past": 0.6}}, ["scripted and past", "sum"]),
        ({"costs": {"start": 1.0}}, ["costs", "PPOLagrangian", "PPO"]),
        ({"algorithm": "PPOLagrangian", "costs": {"limits": {"a": -1}}}, ["limits", "at least 0"]),
        ({"network": {"quantiles": 8}}, ["quantiles", "TQC", "QRDQN"]),
        ({"network": 3}, ["network", "table"]),
        ({"normalize": {"observations": 1}}, ["observations=1", "true or false"]),
        ({"expert": {"steps": 3}}, ["expert", "SAC"]),
        ({"hyperparameters": {"gamma": None}}, ["gamma", "null"]),
        ({"hyperparameters": {"gamma": float("nan")}}, ["gamma", "nan"]),
        ({"algorithm": "SAC", "hindsight": {"goals": 4}}, ["hindsight", 'form = "goal"']),
        ({"algorithm": "SAC", "network": {"log_std": 0.0}}, ["log_std", "PPO"]),
        ({"algorithm": "QRDQN", "network": {"drawn": True}}, ["drawn", "PPO"]),
        ({"network": {"convolutions": [0]}}, ["convolutions", "positive integers"]),
        ({"network": {"head": "round"}}, ["round", "planes"]),
        ({"network": {"roles": 1}}, ["roles=1", "true or false"]),
        ({"network": {"roles": True, "convolutions": [4]}}, ["roles", "one row of numbers", "convolutions"]),
        ({"network": {"head": "planes"}}, ["head is for convolutions"]),
        ({"network": {"stride": 2, "convolutions": []}}, ["stride is for convolutions"]),
        ({"num_envs": 10**8}, ["num_envs=100000000", "up to 262,144"]),
        ({"network": {"head": "planes", "convolutions": [4], "stride": 2}}, ["stride of 1"]),
        ({"algorithm": "SAC", "network": {"head": "planes", "convolutions": [4]}}, ["MaskablePPO", "SAC"]),
    ],
)
def test_bad_settings_are_refused_with_their_name(table, words):
    with pytest.raises((ParameterError, UnknownNameError)) as error:
        settings_from({**GOOD, **table}, "file.toml")
    assert "file.toml" in str(error.value)
    assert all(word in str(error.value) for word in words)


def test_a_missing_key_and_a_file_that_is_none(tmp_path):
    with pytest.raises(ParameterError, match="'steps' is missing"):
        settings_from({"algorithm": "PPO", "num_envs": 2}, "x")
    with pytest.raises(ParameterError, match="cannot be read"):
        read_settings(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("steps = = 3")
    with pytest.raises(ParameterError, match="no TOML"):
        read_settings(tmp_path / "bad.toml")


def test_differences_name_what_differs():
    old = settings_from({**GOOD, "hyperparameters": {"gamma": 0.9}}, "x")
    new = with_changes(old, steps=20, hyperparameters={"gamma": 0.8, "n_steps": 4})
    assert differences(old, new) == ["steps: 10 -> 20", "hyperparameters.gamma: 0.9 -> 0.8",
                                     "hyperparameters.n_steps: nothing -> 4"]  # fmt: skip


@pytest.mark.parametrize(
    ("id", "settings", "words"),
    [
        (HOVER, small("PPO", hyperparameters={"gama": 0.9}), ["gama", "gamma"]),
        (HOVER, small("PPO", hyperparameters={"seed": 3}), ["seed"]),
        (HOVER, small("PPO", hyperparameters={"learning_rate": "cosine 1"}), ["cosine 1", "linear"]),
        (HOVER, small("PPO", hyperparameters={"n_steps": "many"}), ["n_steps='many'", "whole number"]),
        (HOVER, small("TD3", hyperparameters={"action_noise": -1}), ["action_noise=-1"]),
        (HOVER, small("PPO", hyperparameters={"n_epochs": 0}), ["n_epochs=0", "at least 1"]),
        (HOVER, small("PPO", hyperparameters={"gamma": 1.5}), ["gamma=1.5", "from 0 to 1"]),
        (HOVER, small("PPO", hyperparameters={"clip_range": -0.2}), ["clip_range=-0.2", "at least 0"]),
        (HOVER, small("SAC", hyperparameters={"train_freq": [0, "step"]}), ["train_freq=0", "at least 1"]),
        (HOVER, small("SAC", hyperparameters={"train_freq": []}), ["train_freq=0", "at least 1"]),
        ("CartPole-v0", small("DQN", hyperparameters={"batch_size": 0}), ["batch_size=0", "at least 1"]),
        (HOVER, small("DQN"), ["DQN", "choices"]),
        (SEA, small("SAC"), ["SAC", "numbers"]),
        ("ParticleSpread-v0", small("PPO", league={"size": 3}), ["league", "one"]),
        (HOVER, small("PPO", network={"roles": True}), ["roles", "QuadHover-v0", "'agent'", "Leave it out"]),
        ("ParticleSpread-v0", small("PPO", network={"roles": True}), ["roles", "several kinds", "'agent'"]),
        (
            "ParticleTag-v0",
            small("PPO", network={"roles": True}, environment={"prey": "scripted"}),
            ["with these keywords all of ParticleTag-v0 are of the kind 'adversary'"],
        ),
        (HOVER, small("MAPPO"), ["MAPPO", "several agents", "PPO"]),
        (MAZE, small("MAPPO"), ["MAPPO", "one row of numbers"]),
        (HOVER, small("QRDQN"), ["QRDQN", "choices", "TQC"]),
        (SEA, small("DDPG"), ["DDPG", "numbers"]),
        (SEA, small("TQC"), ["TQC", "numbers"]),
        ("CartPole-v0", small("PPOLagrangian"), ["PPOLagrangian", "costs", "CartPole"]),
        ("Sokoban-v0", small("PPOLagrangian", costs={"limits": {"dead_ends": 1}}), ["dead_ends", "dead_end"]),
        (HOVER, small("MaskablePPO"), ["MaskablePPO", "choices"]),
        ("ParticleSpeakerListener-v0", small("PPO"), ["ParticleSpeakerListener-v0 differ", "MaskablePPO"]),
        (SEA, small("MaskablePPO", environment={"map": "nowhere"}), ["nowhere"]),
        (HOVER, small("PPO", network={"convolutions": [4]}), ["convolutions", "planes", "image"]),
        (MAZE, small("DAgger", MAZE, network=PLANES), ["planes of 121", "Discrete(5)", "flat"]),
        (REACH, small("SAC", hindsight={"goals": 4}, environment={"form": "goal"}), ["learning_starts", "200"]),
    ],
)
def test_settings_that_do_not_fit_fail_before_training(tmp_path, id, settings, words):
    with pytest.raises((ParameterError, UnknownNameError)) as error:
        runs.run(id, settings, tmp_path / "run")
    assert all(word in str(error.value) for word in words)


# --- trees of arrays --------------------------------------------------------------------------------------------------


def test_a_checkpoint_gives_back_what_it_was_given(tmp_path):
    import torch

    tree = {
        "numbers": [1, 2.5, None, True, "text", 2**127, float("inf")],
        0: (np.float32(0.1), np.zeros((0, 3)), np.array(3), np.arange(6).reshape(2, 3).T),
        "tensor": torch.tensor(2.5, dtype=torch.float64),
        "flags": np.array([True, False]),
    }
    write_checkpoint(tmp_path / "file", tree)
    found = read_checkpoint(tmp_path / "file")
    assert found["numbers"] == tree["numbers"]
    assert found["tensor"].dtype == torch.float64
    assert found["tensor"].item() == 2.5
    assert isinstance(found[0], tuple)
    for mine, theirs in zip(found[0], tree[0], strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        assert np.array_equal(mine, theirs)
    assert found["flags"].tolist() == [True, False]
    with pytest.raises(TypeError, match="function"):
        pack({"a": lambda: 0}, {})
    assert unpack(pack([], {}), {}) == []


def test_the_file_is_one_that_safetensors_reads(tmp_path):
    from safetensors.numpy import load_file

    write_checkpoint(tmp_path / "file", {"a": np.arange(3), "b": np.array([1, 2], np.uint8)})
    assert sorted(array.tolist() for array in load_file(tmp_path / "file").values()) == [[0, 1, 2], [1, 2]]


class Evil:
    def __reduce__(self):
        return os.mkdir, ("executed",)


@pytest.mark.parametrize("damage", ["pickle", "cut", "head", "other", "empty", "tree", "number", "weight"])
def test_a_damaged_or_foreign_checkpoint_is_refused(tmp_path, monkeypatch, damage):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "checkpoint"
    write_checkpoint(path, {"a": np.arange(100.0), "b": 7.5})
    data = path.read_bytes()
    other = b'{"__metadata__":{"format":"something"}}'
    broken = json.dumps({"__metadata__": {"format": checkpoint.FORMAT, "tree": '["array","7"]'}}).encode()
    path.write_bytes(
        {
            "pickle": pickle.dumps(Evil()),
            "cut": data[:-8],
            "head": data[:4],
            "other": len(other).to_bytes(8, "little") + other,
            "empty": b"",
            "tree": len(broken).to_bytes(8, "little") + broken,
            "number": data.replace(b"7.5", b"7.6"),
            "weight": data[:-1] + b"?",
        }[damage]
    )
    with pytest.raises(RunError, match="checkpoint"):
        read_checkpoint(path)
    assert not (tmp_path / "executed").exists()


# --- runs -------------------------------------------------------------------------------------------------------------


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
    assert rlenvs.evaluate(id, agent, list(runs.EVALUATION_SEEDS)).mean == outcome.best
    with open(tmp_path / "run" / "progress.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == runs.COLUMNS
    assert [float(row["evaluated_return"]) for row in rows if row["evaluated_return"]] == pytest.approx(
        [found.mean for found in evaluations], rel=1e-5
    )
    steps = [int(row["steps"]) for row in rows]
    assert steps == sorted(steps)
    assert steps[-1] == 4096


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
    assert envs.told()["costs"] == pytest.approx({"contact": spent / slots})
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
    agent = agent_from(model, id, **made)
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
        seen, scripted = league.batch.observed(), league.batch.play("pursuit")[..., 0]
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
    advice = batch.advise()[:, 0]
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


# --- when writing fails -----------------------------------------------------------------------------------------------


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
    with pytest.raises(RunError, match=r"No space left on device.*step 80, is untouched; --resume"):
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


# --- the command line -------------------------------------------------------------------------------------------------


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
    assert again.stdout.count("complete already") == 2


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
    assert f"Go on with: rlenvs train QuadHover-v0 --output {tmp_path} --resume" in out
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


KILLED = """
import os, sys
import numpy as np
from dataclasses import replace
from pathlib import Path
from rlenvs.agents import checkpoint
path = Path(sys.argv[1])
checkpoint.write_checkpoint(path, {"a": np.arange(3)})
def killed(*_):
    os.kill(os.getpid(), 9)
os.fsync = killed
checkpoint.write_checkpoint(path, {"a": np.arange(100000)})
"""


def test_a_kill_in_the_middle_of_writing_leaves_the_last_checkpoint(tmp_path):
    path = tmp_path / "checkpoint"
    code = KILLED.replace("os.fsync = killed", "first = os.fsync; os.fsync = killed")
    process = subprocess.run([sys.executable, "-c", code, str(path)], timeout=120)
    assert process.returncode == -signal.SIGKILL
    assert read_checkpoint(path)["a"].tolist() == [0, 1, 2]
    write_checkpoint(path, {"a": np.arange(4)})  # what was left does not disturb
    assert [found.name for found in Path(tmp_path).iterdir()] == ["checkpoint"]


def test_settings_are_values():
    assert Settings(**GOOD) == settings_from(GOOD, "x")


@pytest.mark.parametrize("stem", reference_agents(), ids=title)
def test_reference_agents_were_made_with_the_settings_of_their_environments(stem):
    card = load_agent(stem).card
    found = settings_for(card.id, algorithm=card.algorithm, environment=card.keywords)
    assert found.to_dict() == card.settings
    assert card.algorithm == card.settings["algorithm"]
