"""Where reference agents lie, which one is meant, and that damage to their files shows."""

import importlib.util
import re
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
from support.agent_helpers import HOVER, agent_for, learnt_by, pair, put, run
from support.places import ROOT

import rlenvs
from rlenvs.agents import publish, store
from rlenvs.agents.curves import published_curve
from rlenvs.agents.files import load_agent, save_agent
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import AgentFileError, NoAgentError, ParameterError, RunError, UnknownNameError

# --- finding ----------------------------------------------------------------------------------------------------------


def test_reference_agents_by_id_and_level(references):
    put(references, agent_for(HOVER))
    assert load_agent("rlenvs/QuadHover-v0").card.keywords == load_agent(HOVER, level="hard").card.keywords == {}
    put(references, agent_for(HOVER, level="hard"))
    assert load_agent(HOVER, level="hard").card.keywords == {"level": "hard"}
    assert load_agent("rlenvs:rlenvs/mo-QuadHover-v0").card.keywords == {}
    assert [store.title(stem) for stem in store.reference_agents()] == ["QuadHover-v0/PPO", "QuadHover-v0/hard-PPO"]
    assert store.reference_agents("QuadGate-v0") == []
    with pytest.raises(UnknownNameError, match=r"no level 'hrad'\. Did you mean 'hard'"):
        load_agent(HOVER, level="hrad")
    with pytest.raises(UnknownNameError, match="no environment and no agent file 'QuadHovr-v0'"):
        load_agent("QuadHovr-v0")
    (references / "QuadGate-v0").mkdir()
    save_agent(references / "QuadGate-v0" / "PPO", agent_for(HOVER))
    with pytest.raises(AgentFileError, match="not for QuadGate-v0"):
        load_agent("QuadGate-v0")


def test_the_best_agent_that_learnt_by_reinforcement_is_meant(references):
    agent = agent_for(HOVER)
    put(references, learnt_by("DAgger", agent, success_rate=1.0, mean=3.0))
    assert load_agent(HOVER).card.algorithm == "DAgger"
    put(references, learnt_by("PPO", agent, success_rate=0.25, mean=1.0))
    assert load_agent(HOVER).card.algorithm == "PPO"
    put(references, learnt_by("SAC", agent, success_rate=0.5, mean=0.6))
    assert load_agent(HOVER).card.algorithm == "SAC"  # success counts before the score
    put(references, learnt_by("TD3", agent, success_rate=0.5, mean=0.7))
    assert load_agent(HOVER).card.algorithm == "TD3"
    put(references, learnt_by("TD3", agent, success_rate=1.0, mean=9.0), "TD3-seed-1")
    assert load_agent(HOVER).card.score.mean == 0.7  # further seeds are there to be compared
    for name in ("DAgger", "PPO", "SAC"):
        assert rlenvs.load_agent(HOVER, algorithm=name).card.algorithm == name
    put(references, learnt_by("DAgger", agent_for(HOVER, level="hard")))
    assert load_agent(HOVER, level="hard").card.algorithm == "DAgger"  # the level's own
    assert load_agent(HOVER, level="hard", algorithm="PPO").card.keywords == {}
    with pytest.raises(NoAgentError, match=r"no reference agent of 'BC' for QuadHover-v0; there are: DAgger, PPO, SAC"):
        load_agent(HOVER, algorithm="BC")
    with pytest.raises(NoAgentError, match="no reference agent of 'BC'"):
        load_agent(HOVER, level="hard", algorithm="BC")


def test_an_agent_without_a_score_comes_last(references):
    agent = agent_for(HOVER)
    put(references, learnt_by("SAC", agent, success_rate=0.0, mean=-100.0))
    put(references, replace(agent, card=replace(agent.card, score=None)))
    assert load_agent(HOVER).card.algorithm == "SAC"


def test_stores_come_in_order(tmp_path, monkeypatch):
    base, checkout, installed = tmp_path / "base", tmp_path / "agents" / "rlenvs_agents", tmp_path / "site"
    spec = SimpleNamespace(submodule_search_locations=[str(installed)])
    monkeypatch.setattr(store, "REFERENCE", base)
    monkeypatch.setattr(store, "CHECKOUT", checkout)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec if name == "rlenvs_agents" else None)
    assert store.stores() == [base, installed]
    checkout.mkdir(parents=True)
    (checkout.parent / "pyproject.toml").write_text("")
    assert store.stores() == [base, checkout, installed]
    for k, folder in enumerate((installed, checkout, base)):
        put(folder, agent_for(HOVER, seed=k))
        assert load_agent(HOVER).network.tensors["layers.0.weight"].tolist() == (
            agent_for(HOVER, seed=k).network.tensors["layers.0.weight"].tolist()
        )
    put(installed, agent_for("ParticleSimple-v0"))
    assert store.reference_agents() == [
        installed / "ParticleSimple-v0" / "PPO",
        base / "QuadHover-v0" / "PPO",
    ]
    assert load_agent("ParticleSimple-v0").card.id == "rlenvs/ParticleSimple-v0"
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert store.stores() == [base, checkout]


def test_without_the_data_package_the_error_says_what_to_install(monkeypatch, tmp_path):
    few = [store.REFERENCE]
    monkeypatch.setattr(store, "stores", lambda: few)
    assert len(store.reference_agents()) == 12
    for name in ("QuadHover-v0", "DeepSeaTreasure-v0", "Ant-v0", "HalfCheetah-v0"):
        assert not load_agent(name).card.imitates
    with pytest.raises(NoAgentError, match=r"in this installation.*rlenvs-suite-agents: pip install ./agents"):
        load_agent("QuadRace-v0")
    with pytest.raises(
        NoAgentError, match=r"there are: PPO; more come with: the package rlenvs-suite-agents: pip install ./agents"
    ):
        load_agent("QuadHover-v0", algorithm="SAC")
    assert "pip install ./agents" in run("watch", "QuadRace-v0", code=2)
    few[:] = [tmp_path / "package", tmp_path / "data"]
    with pytest.raises(
        NoAgentError, match=r"there is no reference agent for MarsRovers-v0 yet; train one with: rlenvs"
    ):
        load_agent("MarsRovers-v0")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("PPO", (None, "PPO", None)),
        ("hard-PPO", ("hard", "PPO", None)),
        ("PPO-seed-2", (None, "PPO", 2)),
        ("facmac_3a-DAgger-seed-12", ("facmac_3a", "DAgger", 12)),
    ],
)
def test_names(name, expected):
    assert store.parse_name(name) == expected


@pytest.mark.parametrize("name", ["", "a-b-PPO", "PPO-seed-", "PPO with a league"])
def test_what_is_no_name(name):
    with pytest.raises(ParameterError, match="is not an agent name"):
        store.parse_name(name)


# --- who imitates -----------------------------------------------------------------------------------------------------


def test_an_agent_that_imitates_says_so_wherever_it_is_named(references):
    agent = agent_for(HOVER)
    assert not agent.card.imitates
    assert "imitates" not in repr(agent)
    for taught in (
        learnt_by("DAgger", agent),
        learnt_by("BC", agent),
        replace(agent, card=replace(agent.card, settings={"expert": {"steps": 10}})),
    ):
        assert taught.card.imitates
        assert f"{taught.card.algorithm} (imitates the expert)" in repr(taught)
    put(references, learnt_by("DAgger", agent))
    assert "agent: DAgger (imitates the expert), 1,000 steps" in run("eval", HOVER, "--seeds", 2)
    put(references, agent)
    assert "agent: PPO, 1,000 steps" in run("eval", HOVER, "--seeds", 2)
    assert "DAgger (imitates" in run("eval", HOVER, "--seeds", 2, "--algorithm", "DAgger")
    assert "no reference agent of 'SAC'" in run("eval", HOVER, "--seeds", 2, "--algorithm", "SAC")


# --- hashes -----------------------------------------------------------------------------------------------------------


def test_a_flipped_byte_is_refused(references):
    stem = put(references, agent_for(HOVER))
    assert store.wrong_sums(references) == ["QuadHover-v0/PPO.json is not listed"] + [
        "QuadHover-v0/PPO.safetensors is not listed"
    ]
    load_agent(HOVER)  # no list, nothing to hold
    store.write_sums(references)
    assert store.wrong_sums(references) == []
    load_agent(HOVER)
    for path in pair(stem):
        intact = path.read_bytes()
        path.write_bytes(intact[:-1] + bytes([intact[-1] ^ 1]))
        for source in (HOVER, stem):
            with pytest.raises(AgentFileError, match=rf"{path.name} is damaged.*SHA256SUMS.*Reinstall: pip install"):
                load_agent(source)
        assert store.wrong_sums(references) == [f"QuadHover-v0/{path.name} was changed"]
        path.write_bytes(intact)
    save_agent(stem, agent_for(HOVER, seed=1))  # sound for themselves, but not what was published
    with pytest.raises(AgentFileError, match="is damaged"):
        load_agent(HOVER)
    pair(stem)[0].unlink()
    assert "QuadHover-v0/PPO.safetensors is missing" in store.wrong_sums(references)


def test_the_list_is_one_of_sha256sum(references):
    put(references, agent_for(HOVER))
    (references / "QuadHover-v0" / ".SAC.json.new").write_text("")  # another process is just publishing
    store.write_sums(references)
    lines = (references / store.SUMS).read_text().splitlines()
    assert all(re.fullmatch(r"[0-9a-f]{64}  QuadHover-v0/PPO\.(json|safetensors)", line) for line in lines)
    if sys.platform == "linux":
        subprocess.run(["sha256sum", "-c", "--quiet", store.SUMS], cwd=references, check=True)


def test_an_agent_elsewhere_needs_no_list(tmp_path):
    stem = put(tmp_path, agent_for(HOVER))
    (tmp_path / store.SUMS).write_text(f"{'0' * 64}  QuadHover-v0/PPO.safetensors\n")
    load_agent(stem)


# --- what is shipped --------------------------------------------------------------------------------------------------

SHIPPED = [folder for folder in (store.REFERENCE, store.CHECKOUT) if folder.exists()]


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.name)
def test_shipped_files_are_those_of_the_list(folder):
    assert store.wrong_sums(folder) == [], "run `python benchmarks/make_agents.py --sums`"


def test_shipped_agents_are_named_after_their_environment_level_and_algorithm():
    for stem in store.reference_agents():
        card, name = store.read_card(stem), store.parse_name(stem.name)
        assert stem.parent.name == world_of(card.id).name
        assert (name.level, name.algorithm) == (card.keywords.get("level"), card.algorithm)
        assert name.seed in (None, *card.seeds)


def test_what_the_package_carries_is_small():
    assert sum(path.stat().st_size for path in store.REFERENCE.rglob("*.*")) < 0.5e6


def test_the_two_packages_have_one_version():
    texts = [(ROOT / folder / "pyproject.toml").read_text() for folder in ("", "agents")]
    found = {re.search(r'^version = "(.*)"$', text, re.MULTILINE)[1] for text in texts}
    assert found == {rlenvs.__version__}


# --- publishing -------------------------------------------------------------------------------------------------------

PROGRESS = (
    "steps,seconds,mean_return,success,rate,evaluated_return,evaluated_half_width,evaluated_success,evaluated_cost\n"
    "100,0.5,1.5,0.1,200,,,,\n200,1.25,2,0.2,200,3.5,0.25,0.5,0\n300,2,2,0.2,200,4,0.5,1,0.125\n"
)
CURVE = "steps,seconds,return,half_width,success,cost\n200,1.25,3.50000,0.25,0.5,0\n300,2,4,0.5,1,0.125\n"


def finished(folder, agent, seed=0):
    """A folder as a run leaves it."""
    folder.mkdir()
    save_agent(folder / "agent", replace(agent, card=replace(agent.card, seeds=[seed], score=None)))
    (folder / "progress.csv").write_text(PROGRESS)
    return folder


def numbers(text):
    head, *rows = text.splitlines()
    return head, [[float(cell) for cell in row.split(",")] for row in rows]


def test_a_curve_has_the_evaluations(tmp_path):
    path = tmp_path / "progress.csv"
    path.write_text(PROGRESS)
    assert numbers(published_curve(path)) == numbers(CURVE)
    with pytest.raises(RunError, match=r"none\.csv"):
        published_curve(tmp_path / "none.csv")


def test_a_finished_run_is_published(tmp_path, references):
    folder = finished(tmp_path / "run", agent_for(HOVER))
    stem = publish.publish(folder, to=references, seeds=3)
    assert stem == references / "QuadHover-v0" / "PPO"
    score = load_agent(HOVER).card.score
    assert score.seeds == 3
    assert score.expert_success == 1.0
    assert load_agent(HOVER).network.tensors["layers.0.weight"].tolist() != (
        load_agent(folder).network.tensors["layers.0.weight"].tolist()
    )  # rounded
    assert pair(stem)[0].stat().st_size < pair(folder / "agent")[0].stat().st_size
    assert numbers((references / "QuadHover-v0/curves/PPO-seed-0.csv").read_text()) == numbers(CURVE)
    assert store.wrong_sums(references) == []
    hard = finished(tmp_path / "hard", agent_for(HOVER, level="hard"), seed=2)
    assert publish.publish(hard, to=references, seeds=2).name == "hard-PPO-seed-2"
    assert publish.publish(hard, "hard-PPO", references, seeds=2).name == "hard-PPO"  # the best of some seeds
    path = publish.publish_curve(finished(tmp_path / "b", agent_for(HOVER), seed=1), references)
    assert path == references / "QuadHover-v0/curves/PPO-seed-1.csv"
    assert store.training_seeds(stem) == {0, 1}
    assert store.wrong_sums(references) == []


def test_what_is_not_published(tmp_path, references, monkeypatch):
    folder = finished(tmp_path / "run", agent_for(HOVER))
    for name in ("SAC", "hard-PPO"):
        with pytest.raises(ParameterError, match=f"the agent in .* is PPO; it does not match '{name}"):
            publish.publish(folder, name, references)
    monkeypatch.setattr(store, "CHECKOUT", tmp_path / "none" / "rlenvs_agents")
    with pytest.raises(ParameterError, match=r"not installed from a checkout .*; give the store with to=FOLDER"):
        publish.publish(finished(tmp_path / "gate", agent_for("QuadGate-v0")))
    (folder / "progress.csv").unlink()
    with pytest.raises(RunError, match=r"progress\.csv"):
        publish.publish(folder, to=references)
    assert store.reference_agents() == []
    league = agent_for(HOVER)
    league = replace(league, card=replace(league.card, algorithm="PPO with a league"))
    with pytest.raises(ParameterError, match="cannot be names of files"):
        publish.publish(finished(tmp_path / "league", league), to=references)
    with pytest.raises(AgentFileError, match="missing"):
        publish.publish(tmp_path, to=references)


def test_an_agent_goes_where_one_of_its_name_is(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "REFERENCE", tmp_path / "base")
    monkeypatch.setattr(store, "CHECKOUT", tmp_path / "agents" / "rlenvs_agents")
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "pyproject.toml").write_text("")
    folder = finished(tmp_path / "run", agent_for(HOVER))
    assert publish.publish(folder, seeds=2).parents[1] == store.CHECKOUT
    put(store.REFERENCE, agent_for(HOVER))
    assert publish.publish(folder, seeds=2).parents[1] == store.REFERENCE
