import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from rlenvs.agents import files, scores
from rlenvs.agents.card import Card, digest_of
from rlenvs.agents.evaluate import evaluate
from rlenvs.agents.files import load_agent, save_agent
from rlenvs.agents.network import Network
from rlenvs.agents.video import video, watch
from rlenvs.core.errors import AgentFileError, ParameterError, UnknownNameError
from rlenvs.core.registry import world_of
from rlenvs.core.setup import Setup
from tests.agent_helpers import HOVER, MAZE, agent_for, pair, run

# --- reference agents and scores --------------------------------------------------------------------------------------


@pytest.fixture
def references(tmp_path, monkeypatch):
    folder = tmp_path / "reference"
    folder.mkdir()
    monkeypatch.setattr(files, "REFERENCE", folder)
    return folder


def test_reference_agents_by_id_and_level(references):
    with pytest.raises(
        UnknownNameError, match=r"no reference agent for QuadHover-v0 yet; train one with: rlenvs train"
    ):
        load_agent(HOVER)
    save_agent(references / "QuadHover-v0", agent_for(HOVER))
    assert load_agent("rlenvs/QuadHover-v0").card.keywords == load_agent(HOVER, level="hard").card.keywords == {}
    save_agent(references / "QuadHover-v0-hard", agent_for(HOVER, level="hard"))
    assert load_agent(HOVER, level="hard").card.keywords == {"level": "hard"}
    assert load_agent("rlenvs:rlenvs/mo-QuadHover-v0").card.keywords == {}
    assert [stem.name for stem in files.reference_agents()] == ["QuadHover-v0", "QuadHover-v0-hard"]
    with pytest.raises(UnknownNameError, match=r"no level 'hrad'\. Did you mean 'hard'"):
        load_agent(HOVER, level="hrad")
    with pytest.raises(UnknownNameError, match="no environment and no agent file 'QuadHovr-v0'"):
        load_agent("QuadHovr-v0")
    save_agent(references / "QuadGate-v0", agent_for(HOVER))
    with pytest.raises(AgentFileError, match="not for QuadGate-v0"):
        load_agent("QuadGate-v0")


def measured(agent, seeds=8):
    return files.with_score(agent, scores.measure(agent, seeds, first_seed=5))


def test_measure_and_replay(references):
    agent = measured(agent_for(HOVER))
    own = evaluate(HOVER, agent, range(5, 13))
    score = agent.card.score
    assert (score.mean, score.half_width, score.success_rate) == (own.mean, own.half_width, own.success_rate)
    others = (score.random, score.idle, score.expert)
    assert others == tuple(evaluate(HOVER, p, range(5, 13)).mean for p in ("random", "idle", "expert"))
    assert score.costs == own.mean_costs
    assert (score.seeds, score.first_seed, score.against) == (8, 5, None)
    save_agent(references / "a", agent)
    found = scores.replay_agent(references / "a")
    assert (found.mean, found.seeds) == (score.mean, 8)
    assert found.holds
    assert scores.replay_agent(str(references / "a"), seeds=3) == scores.replay_agent(references / "a", seeds=3)
    for shift, holds in ((2.8, True), (2.85, False), (-2.85, False)):
        moved = replace(score, mean=score.mean + shift * score.half_width)
        save_agent(references / "a", files.with_score(agent, moved))
        assert scores.replay_agent(references / "a").holds == holds
    save_agent(references / "a", files.with_score(agent, None))
    with pytest.raises(ParameterError, match="a: the card holds no score"):
        scores.replay_agent(references / "a")
    with pytest.raises(ParameterError, match="at least 2"):
        scores.measure(agent, seeds=1)


@pytest.mark.slow
def test_replays_with_other_arithmetic_hold(tmp_path):
    """Weights in other last digits stand for another processor: a chaotic world then plays other episodes."""
    shipped = load_agent(next(stem for stem in files.reference_agents() if stem.name == "SafePointGoal-v0"))
    rng, found = np.random.default_rng(0), []
    for _ in range(20):
        noisy = {
            name: (tensor * (1.0 + 1e-7 * rng.standard_normal(tensor.shape))).astype(tensor.dtype)
            for name, tensor in shipped.network.tensors.items()
        }
        save_agent(tmp_path / "noisy", replace(shipped, network=Network(shipped.network.architecture, noisy)))
        found.append(scores.replay_agent(tmp_path / "noisy"))
    assert all(replayed.holds for replayed in found), [str(replayed) for replayed in found]
    assert np.std([replayed.mean for replayed in found]) > 0.2 * shipped.card.score.half_width  # chaotic indeed


def test_measure_against_the_scripted_team():
    id = "ParticlePush-v0"
    score = scores.measure(agent_for(id, masked=True), 4)
    world = world_of(id)
    assert score.against == world.players[0]
    assert score.expert == pytest.approx(evaluate(id, "expert", 4).mean)
    assert score.random == evaluate(id, "random", 4, against=score.against).mean


@pytest.mark.parametrize("stem", files.reference_agents(), ids=lambda stem: stem.name)
def test_shipped_agents_hold_their_scores_on_a_few_seeds(stem):
    assert load_agent(stem).card.score is not None
    found = scores.replay_agent(stem, seeds=4)
    assert found.holds, str(found)


@pytest.mark.slow
@pytest.mark.parametrize("stem", files.reference_agents(), ids=lambda stem: stem.name)
def test_shipped_agents_hold_their_scores(stem):
    found = scores.replay_agent(stem)
    assert found.holds, str(found)


def test_shipped_agents_are_small_and_named_after_their_environments():
    stems = files.reference_agents()
    assert sum(path.stat().st_size for stem in stems for path in pair(stem)) < 9e6
    for stem in stems:
        card = load_agent(stem).card
        level = card.keywords.get("level")
        assert stem.name in (world_of(card.id).name, f"{world_of(card.id).name}-{level}")


def test_a_success_that_breaks_a_limit_is_marked(references):
    """A hundred per cent at twice the allowed cost is no solution of a safe environment."""
    agent = measured(agent_for(HOVER))
    for cost, said in ((24.0, "100 %"), (26.0, "100 %, unsafe")):
        score = replace(agent.card.score, success_rate=1.0, costs={"tilt": cost, "geofence": 1.0})
        save_agent(references / "QuadHover-v0", files.with_score(agent, score))
        (row,) = [row for row in scores.score_rows() if row[0] == "QuadHover-v0"]
        told = dict(zip(scores.HEAD, row, strict=True))
        assert (told["Success"], told["Cost"], told["Limit"]) == (said, f"tilt {cost:g}", "25")
    found = evaluate(HOVER, "idle", 3)
    high = replace(found, cost_parts={"tilt": np.full(3, 26.0), "geofence": np.zeros(3)}, successes=np.ones(3))
    (row,) = scores.comparison_rows({"random": high})
    assert row[3] == "100 %, unsafe"
    assert "tilt 26, limit 25" in row[4]


def test_the_one_cost_of_a_card_without_names_is_told(references):
    agent = agent_for("ParticleSpread-v0", masked=True)
    score = replace(agent.card.score, cost=6.0, costs={})
    save_agent(references / "ParticleSpread-v0", files.with_score(agent, score))
    (row,) = [row for row in scores.score_rows() if row[0] == "ParticleSpread-v0"]
    assert dict(zip(scores.HEAD, row, strict=True))["Cost"] == "contact 2"  # of three agents


def test_cards_without_idle_and_costs_are_read(references):
    agent = measured(agent_for(HOVER))
    save_agent(references / "a", agent)
    table = json.loads((references / "a.json").read_text())
    for name in ("idle", "costs", "digest"):
        table.pop(name, None) or table["score"].pop(name, None)
    text = json.dumps({**table, "digest": digest_of(table)})
    assert Card.from_json(text).score == replace(agent.card.score, idle=None, costs={})


# --- the command line -------------------------------------------------------------------------------------------------


def test_eval(references, saved):
    output = run("eval", saved, "--seeds", 3, "--set", "horizon=20")
    assert "rlenvs/QuadHover-v0, horizon=20: 3 seeds from 0" in output
    rows = {line.split()[0]: line for line in output.splitlines()}
    assert {"random", "idle", "expert", "agent"} <= set(rows)
    own = evaluate(HOVER, load_agent(saved), 3, horizon=20)
    assert f"{own.mean:.4g} ± {own.half_width:.2g}" in rows["agent"]
    assert "1.000" in rows["expert"]
    assert f"{own.mean_length:.1f}" in rows["agent"]
    output = run("eval", HOVER, "--seeds", 2)
    assert "No agent: there is no reference agent for QuadHover-v0 yet" in output
    save_agent(references / "QuadHover-v0", agent_for(HOVER))
    output = run("eval", HOVER, "--seeds", 2, "--level", "hard", "--seed", 9)
    assert "level=hard: 2 seeds from 9" in output
    assert "agent" in output
    output = run("eval", "ParticlePush-v0", "--seeds", 2, "--against", "direct")
    assert "expert" in output
    assert "no level 'hrad'" in run("eval", HOVER, "--level", "hrad", code=2)
    assert "AgentFileError" not in run("eval", saved.with_name("none.safetensors"), code=2)


def test_an_agent_that_does_not_fit_the_keywords(references, saved):
    save_agent(references / "PathFinding-v0", agent_for(MAZE, masked=True))
    output = run("eval", MAZE, "--seeds", 2, "--set", "radius=3")
    assert "No agent: the reference agent was trained for observations" in output
    save_agent(references / "maze", agent_for(MAZE, masked=True))
    assert "was trained for" in run("eval", references / "maze", "--seeds", 2, "--set", "radius=3", code=2)


def test_watch(saved, tmp_path):
    run("watch", saved, "--output", tmp_path / "a.gif", "--seconds", 0.5)
    assert (tmp_path / "a.gif").read_bytes()[:3] == b"GIF"
    assert "Esc" in run("watch", saved, "--seconds", 0.1)
    assert "no environment and no agent file" in run("watch", "nothing", code=2)
    assert "must end in .gif, .webp or .mp4" in run("watch", saved, "--output", tmp_path / "a.png", code=2)


def test_videos_and_windows_against_a_scripted_team():
    id = "ParticleTag-v0"
    agent = agent_for(id, masked=True)
    for against in (None, "pursuit"):
        assert next(video(id, agent, seconds=0.1, against=against)).shape[2] == 3
    assert watch(id, agent, seconds=0.3, against="pursuit") == round(0.3 * Setup(world_of(id)).fps)
    with pytest.raises(ParameterError, match="one team"):
        watch(HOVER, agent_for(HOVER), seconds=0.1, against="expert")


def test_the_window_closes_with_escape(monkeypatch):
    import pygame

    pygame.init()
    steps = []

    def player(observations):
        steps.append(len(observations))
        if len(steps) == 3:
            pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_ESCAPE))
        return np.zeros((1, 4))

    assert watch(HOVER, player) == 4
    assert not pygame.display.get_init()


def test_scores(references, tmp_path):
    agent = measured(agent_for(HOVER), 4)
    save_agent(references / "QuadHover-v0", agent)
    hard = measured(agent_for(HOVER, level="hard"), 4)
    save_agent(references / "QuadHover-v0-hard", hard)
    save_agent(references / "PathFinding-v0", files.with_score(agent_for(MAZE, masked=True), None))
    output = run("scores")
    (row,) = [line for line in output.splitlines() if line.startswith("QuadHover-v0 ") and "hard" not in line]
    assert f"{agent.card.score.mean:.4g} ± " in row
    assert "480" in row  # the bound
    assert "PPO, 0.001 M steps" in row
    (row,) = [line for line in output.splitlines() if "level=hard" in line]
    assert f"{hard.card.score.mean:.4g} ± " in row
    assert "480" not in row
    assert "not measured" in output
    assert "SafePointGoal-v0" in output
    run("scores", "--write", tmp_path / "scores.md")
    assert "| QuadHover-v0 |" in (tmp_path / "scores.md").read_text()
    (references / "PathFinding-v0.json").unlink()
    assert "2 reference agents, 0 outside" in run("scores", "--check")
    assert "over 2 seeds" in run("scores", "--check", "--seeds", 2)
    wrong = replace(agent.card.score, mean=agent.card.score.mean + 100)
    save_agent(references / "QuadHover-v0", files.with_score(agent, wrong))
    assert "LEFT ITS INTERVAL" in run("scores", "--check", code=1)


def test_no_torch_is_needed(saved, tmp_path):
    code = f"""
import sys
from typer.testing import CliRunner
from rlenvs.cli import app
video = ["--output", {str(tmp_path / "a.gif")!r}, "--seconds", "0.2"]
for command in (["eval", {str(saved)!r}, "--seeds", "2"], ["watch", {str(saved)!r}, *video]):
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
print(sorted({{"torch", "stable_baselines3", "sb3_contrib", "pandas", "matplotlib", "pickle5"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_rounding_leaves_of_nothing_is_nothing(references):
    agent = measured(agent_for(HOVER), 2)
    save_agent(
        references / "QuadHover-v0", files.with_score(agent, replace(agent.card.score, idle=-6.8e-9, random=-3e-4))
    )
    (row,) = [row for row in scores.score_rows() if row[0] == "QuadHover-v0"]
    assert row[1:3] == ("-0.0003", "0")
