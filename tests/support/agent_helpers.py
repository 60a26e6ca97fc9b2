"""Agents with random weights, and their files: what the tests of agents share."""

import json
from dataclasses import replace

import numpy as np
import pytest
from gymnasium.spaces.utils import flatdim
from typer.testing import CliRunner

import rlenvs
from rlenvs.agents.agent import Agent
from rlenvs.agents.architecture import expected_tensors
from rlenvs.agents.card import AgentScore, Card, digest_of
from rlenvs.agents.export import part_of
from rlenvs.agents.files import load_agent, save_agent
from rlenvs.agents.kinds import blocks_width, kinds_in
from rlenvs.agents.network import Network
from rlenvs.cli import app
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import AgentFileError
from rlenvs.core.declare.setup import Setup

HOVER, MAZE, TREASURE, SPEAKER = "QuadHover-v0", "PathFinding-v0", "DeepSeaTreasure-v0", "ParticleSpeakerListener-v0"
LAKE, TAXI = "FrozenLake-v0", "Taxi-v0"  # an observation is a whole number
SCORE = AgentScore(1.5, 0.25, 0.5, 0.0, 200.0, 100, 0, None, 0.5, 2.5)


def agent_for(id, seed=0, masked=False, memory=None, roles=False, **keywords):
    """An agent with random weights that fits an environment; no library of learners is needed.

    roles: one that knows the kinds of agents.
    """
    setup = Setup(world_of(id), **keywords)
    kinds = {"kinds": kinds_in(setup)} if roles else {}
    width = flatdim(setup.observation_space)
    width = memory["units"] if memory else blocks_width(width, len(kinds["kinds"])) if roles else width
    action = {"kind": "choice", "choices": setup.action_size, "masked": masked}
    if setup.continuous:
        bound = [1.0] * setup.action_size
        low = [-1.0] * setup.action_size
        action = {"kind": "numbers", "low": low, "high": bound, "squashed": True, "limit": None}
    architecture = {
        "observation": [{"name": None, **part_of(setup.observation_space)}],
        "normalisation": None,
        "convolutions": None,
        "memory": memory,
        "layers": [
            {"inputs": width, "units": 8, "activation": "tanh"},
            {"inputs": 8, "units": setup.action_size, "activation": "identity"},
        ],
        "action": action,
        **kinds,
    }
    rng = np.random.default_rng(seed)
    tensors = {n: rng.normal(size=shape).astype(dtype) for n, shape, dtype in expected_tensors(architecture)}
    id = id if "/" in id else f"rlenvs/{id}"
    settings_ = {"n_steps": 64, "net_arch": [8]}
    found = {"cpu": "a processor", "cores": 2}
    card = Card(id, keywords, "PPO", settings_, architecture, 1000, [0], 1.5, found, {"python": "3"}, SCORE)
    return Agent(card, Network(architecture, tensors))


def put(store, agent, name=None):
    """Write an agent where a store has it; the path without ending."""
    level = agent.card.keywords.get("level")
    stem = store / world_of(agent.card.id).name / (name or "-".join(filter(None, [level, agent.card.algorithm])))
    stem.parent.mkdir(parents=True, exist_ok=True)
    save_agent(stem, agent)
    return stem


def learnt_by(algorithm, agent, **score):
    """The agent as if another algorithm had learnt it, with changes of its score."""
    changed = replace(agent.card.score, **score) if score else agent.card.score
    return replace(agent, card=replace(agent.card, algorithm=algorithm, score=changed))


def pair(stem):
    return stem.with_name(stem.name + ".safetensors"), stem.with_name(stem.name + ".json")


def refused(stem, reason, **arguments):
    with pytest.raises(AgentFileError, match=reason):
        load_agent(stem, **arguments)


def edit(stem, **changes):
    """Change entries of a card as a forger would, with a digest that fits."""
    path = pair(stem)[1]
    table = {**json.loads(path.read_text()), **changes}
    table.pop("digest")
    path.write_text(json.dumps({**table, "digest": digest_of(table)}))


def run(*arguments, code=0):
    """What the command line prints; it has to end with this exit code."""
    result = CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "150", "NO_COLOR": "1"})
    assert result.exit_code == code, result.output + repr(result.exception)
    return result.output


def returns_alone(id, agent, seeds):
    """The return of an agent with a memory in a single environment, for seeds 0, 1, ..."""
    env, state, returns = rlenvs.make(id), None, []
    for seed in range(seeds):
        observation, _ = env.reset(seed=seed)
        total, over, start = 0.0, False, True
        while not over:
            action, state = agent.act(observation, state=state, start=start)
            observation, reward, terminated, truncated, _ = env.step(action)
            total, over, start = total + reward, terminated or truncated, False
        returns.append(total)
    return returns
