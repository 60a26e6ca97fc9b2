"""Fixtures of the tests of agents."""

import pytest


@pytest.fixture
def references(tmp_path, monkeypatch):
    """A store of agents that is the only one."""
    from rlenvs.agents import curves, store

    folder = tmp_path / "reference"
    folder.mkdir()
    for module in (store, curves):
        monkeypatch.setattr(module, "stores", lambda: [folder])
    return folder


@pytest.fixture
def saved(tmp_path):
    """The stem of the files of an agent for QuadHover-v0."""
    from support.agent_helpers import HOVER, agent_for

    from rlenvs.agents.files import save_agent

    save_agent(tmp_path / "mine", agent_for(HOVER))
    return tmp_path / "mine"


@pytest.fixture
def few_evaluations(monkeypatch):
    """Trainings that evaluate twice, on two seeds each time."""
    from rlenvs.agents import runs

    monkeypatch.setattr(runs, "EVALUATIONS", 2)
    monkeypatch.setattr(runs, "EVALUATION_SEEDS", range(1_000_000, 1_000_002))
