"""Settings of training: files of families, levels and algorithms, and what does not fit."""

import tomllib

import pytest
from support.training_helpers import HOVER, IDS, MAZE, PLANES, REACH, SEA, small
from toys import thermostat

from rlenvs.agents import hyperparameters as settings_module
from rlenvs.agents import runs
from rlenvs.agents.card import IMITATING
from rlenvs.agents.export import agent_from_sb3
from rlenvs.agents.files import load_agent
from rlenvs.agents.hyperparameters import (
    DEFAULTS,
    FOLDER,
    algorithms_of,
    family_file,
    family_tables,
    found_of,
    needs_masks,
    seeds_of,
    settings_for,
)
from rlenvs.agents.hyperparameters.settings import (
    Settings,
    differences,
    read_settings,
    settings_from,
    toml,
    with_changes,
)
from rlenvs.agents.store import reference_agents, title
from rlenvs.agents.train import new_model
from rlenvs.core.catalogue.registry import Entry, catalogue, world_of
from rlenvs.core.declare.errors import ParameterError, UnknownNameError
from rlenvs.core.declare.setup import Setup

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

pytestmark = pytest.mark.usefixtures("few_evaluations")


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
        ("[QuadGate-v0]\nseeds = -1", r"seeds=-1 must be an integer of at least 0"),
        ("[QuadGate-v0]\nseeds = {PPO = true}", r"seeds.PPO=True must be an integer of at least 0"),
        ("[QuadGate-v0]\nseeds = {POP = 3}", r"seeds: there is no algorithm 'POP'. .*PPO"),
        ("[QuadGate-v0]\nPPO = 3", r"QuadGate-v0: PPO=3 must be a table"),
        ("[QuadGate-v0]\nlike = 3", r"QuadGate-v0: like=3 must be a string"),
        ("[QuadGate-v0]\nlike = 'far'", r"QuadGate-v0: like='far', but quadcopter.toml has no table \[shared.far\]"),
        ("[shared.near]\n[QuadGate-v0]\nlike = 'neer'", r"no table \[shared.neer\]. .*'near'"),
        ("[shared]\nfar = 3\n[QuadGate-v0]\nlike = 'far'", r"quadcopter.toml: shared.far=3 must be a table"),
        ("[shared.a]\nlevels = {}\n[QuadGate-v0]\nlike = 'a'", r"shared.a: there is no key 'levels'"),
        ("[shared.a]\nlike='b'\n[shared.b]\nlike='a'\n[QuadGate-v0]\nlike='a'", r"circular: a -> b -> a"),
    ],
)
def test_a_family_file_that_says_what_cannot_be_is_refused(family, lines, words):
    family.write_text(f"{FAMILY}\n{lines}\n")
    with pytest.raises((ParameterError, UnknownNameError), match=words):
        settings_for("QuadGate-v0")


@pytest.mark.parametrize("world", ["toys.rolling_ball:SPEC", thermostat.load()], ids=["module", "function"])
def test_a_world_outside_of_packages_has_the_defaults(world, monkeypatch):
    monkeypatch.setitem(catalogue, "rlenvs/Alone-v0", Entry("rlenvs/Alone-v0", world, ()))
    assert family_tables("Alone-v0") == []
    assert settings_for("Alone-v0").to_dict() == {"algorithm": "PPO", **DEFAULTS["PPO"]}


@pytest.mark.budget(7)
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
UNLIKE = "rlenvs/MultiHumanoid-v0"  # agents with different numbers of continuous actions, which no algorithm here takes


@pytest.mark.parametrize("id", [*KINDS, *(pytest.param(id, marks=pytest.mark.slow) for id in IDS if id != UNLIKE)])
def test_the_settings_of_an_environment_make_a_model_that_can_become_an_agent(id):
    settings = settings_for(id)
    model = new_model(id, settings, 0)
    made = {"keywords": settings.environment, "settings": {}, "steps": 0, "seeds": [0], "seconds": 0.0}
    agent = agent_from_sb3(model, id, **made)
    assert agent.card.algorithm == settings.algorithm


def test_agents_with_different_numbers_of_continuous_actions_are_refused():
    with pytest.raises(ParameterError, match="only supports"):
        new_model(UNLIKE, settings_for(UNLIKE), 0)


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
        ({"network": {"roles": True, "convolutions": [4]}}, ["roles", "one observation vector", "convolutions"]),
        ({"network": {"head": "planes"}}, ["head requires convolutions"]),
        ({"network": {"stride": 2, "convolutions": []}}, ["stride requires convolutions"]),
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
    with pytest.raises(ParameterError, match="not a valid TOML"):
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
        (HOVER, small("SAC", hyperparameters={"train_freq": [0, "step"]}), ["train_freq=[0, 'step']", "at least 1"]),
        (HOVER, small("SAC", hyperparameters={"train_freq": []}), ["train_freq=[]", "at least 1"]),
        (HOVER, small("SAC", hyperparameters={"train_freq": [1, "day"]}), ["train_freq=[1, 'day']", '"episode"']),
        ("CartPole-v0", small("DQN", hyperparameters={"batch_size": 0}), ["batch_size=0", "at least 1"]),
        (HOVER, small("DQN"), ["DQN", "discrete"]),
        (SEA, small("SAC"), ["SAC", "continuous"]),
        ("ParticleSpread-v0", small("PPO", league={"size": 3}), ["league", "one"]),
        (HOVER, small("PPO", network={"roles": True}), ["roles", "QuadHover-v0", "'agent'", "Leave it out"]),
        ("ParticleSpread-v0", small("PPO", network={"roles": True}), ["roles", "several kinds", "'agent'"]),
        (
            "ParticleTag-v0",
            small("PPO", network={"roles": True}, environment={"prey": "scripted"}),
            ["with these keywords all agents of ParticleTag-v0 are of the kind 'adversary'"],
        ),
        (HOVER, small("MAPPO"), ["MAPPO", "several agents", "PPO"]),
        (MAZE, small("MAPPO"), ["MAPPO", "one observation vector"]),
        (HOVER, small("QRDQN"), ["QRDQN", "discrete", "TQC"]),
        (SEA, small("DDPG"), ["DDPG", "continuous"]),
        (SEA, small("TQC"), ["TQC", "continuous"]),
        ("CartPole-v0", small("PPOLagrangian"), ["PPOLagrangian", "costs", "CartPole"]),
        ("Sokoban-v0", small("PPOLagrangian", costs={"limits": {"dead_ends": 1}}), ["dead_ends", "dead_end"]),
        (HOVER, small("MaskablePPO"), ["MaskablePPO", "discrete"]),
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


def test_settings_are_values():
    assert Settings(**GOOD) == settings_from(GOOD, "x")


@pytest.mark.parametrize("stem", reference_agents(), ids=title)
def test_reference_agents_were_made_with_the_settings_of_their_environments(stem):
    card = load_agent(stem).card
    found = settings_for(card.id, algorithm=card.algorithm, environment=card.keywords)
    assert found.to_dict() == card.settings
    assert card.algorithm == card.settings["algorithm"]
