import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from support.agent_helpers import HOVER, MAZE, agent_for, learnt_by, pair, put, run

from rlenvs.agents import files, score_page, scores, store
from rlenvs.agents.card import Card, digest_of
from rlenvs.agents.evaluate import evaluate, scale_score
from rlenvs.agents.files import load_agent, save_agent
from rlenvs.agents.hyperparameters import settings_for
from rlenvs.agents.learning import compared_rows
from rlenvs.agents.network import Network
from rlenvs.agents.video import video, watch
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import MissingExtraError, ParameterError
from rlenvs.core.declare.parts import Score
from rlenvs.core.declare.setup import Setup

# --- reference agents and scores --------------------------------------------------------------------------------------

DECLARED = world_of(HOVER).scores
ROUNDED = 6e-4  # relatively: pages have four digits


def mean_of(share):
    """The return that has a score."""
    random, expert = DECLARED["random"].mean, DECLARED["expert"].mean
    return random + share * (expert - random)


def measured(agent, seeds=8):
    return files.with_score(agent, scores.measure(agent, seeds, first_seed=5))


def test_measure_and_replay(references):
    agent = measured(agent_for(HOVER))
    own = evaluate(HOVER, agent, seeds=range(5, 13))
    score = agent.card.score
    assert (score.mean, score.half_width, score.success_rate) == (own.mean, own.half_width, own.success_rate)
    others = (score.random, score.idle, score.expert)
    assert others == tuple(evaluate(HOVER, p, seeds=range(5, 13)).mean for p in ("random", "idle", "expert"))
    assert score.costs == own.mean_costs
    assert score.expert_success == evaluate(HOVER, "expert", seeds=range(5, 13)).success_rate
    assert (score.seeds, score.first_seed, score.against) == (8, 5, None)
    save_agent(references / "a", agent)
    found = scores.replay_agent(references / "a")
    assert (found.mean, found.seeds) == (score.mean, 8)
    assert found.holds
    assert scores.replay_agent(str(references / "a"), seeds=3) == scores.replay_agent(references / "a", seeds=3)
    for shift, holds in ((2.95, True), (3.05, False), (-3.05, False)):
        moved = replace(score, mean=score.mean + shift * score.half_width)
        save_agent(references / "a", files.with_score(agent, moved))
        assert scores.replay_agent(references / "a").holds == holds
    save_agent(references / "a", files.with_score(agent, None))
    with pytest.raises(ParameterError, match="reference/a: the card has no score"):
        scores.replay_agent(references / "a")
    with pytest.raises(ParameterError, match="at least 2"):
        scores.measure(agent, seeds=1)


def test_episodes_that_begin_alike_hold_with_another_number_of_worlds(references):
    """A network rounds otherwise for them, and a flight of 15 s makes more of that; all seeds give the same."""
    agent = agent_for("QuadSurround-v0")
    score = scores.measure(agent, 4)
    assert score.half_width < 1e-4  # rows of a product of matrices differ in their last digits on some processors
    for share, holds in ((0.04, True), (-0.04, True), (0.06, False)):
        moved = replace(score, mean=score.mean + share * (score.mean - score.random))
        save_agent(references / "a", files.with_score(agent, moved))
        assert scores.replay_agent(references / "a").holds == holds


def test_an_agent_without_masks_plays_no_agents_of_other_choices():
    """In two_pairs some travellers have two roads, some three: the third would be chosen where there is none."""
    full = agent_for("RouteChoice-v0", level="full")
    two_pairs = Setup(world_of("RouteChoice-v0"), level="two_pairs")
    with pytest.raises(
        ParameterError, match=r"does not support masks, .* agents of RouteChoice-v0 have different numbers"
    ):
        full.check(two_pairs)


@pytest.mark.slow
def test_replays_with_other_arithmetic_hold(tmp_path):
    """Weights in other last digits stand for another processor: a chaotic world then plays other episodes."""
    shipped = load_agent("SafePointGoal-v0")
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


SHIPPED = store.reference_agents()
SOME = [stem for k, stem in enumerate(SHIPPED) if stem.parents[1] == store.REFERENCE or k % 8 == 0]


@pytest.mark.budget(5)
@pytest.mark.parametrize("stem", SOME, ids=store.title)  # all of them: rlenvs scores --check
def test_shipped_agents_hold_their_scores_on_a_few_seeds(stem):
    assert load_agent(stem).card.score is not None
    found = scores.replay_agent(stem, seeds=4)
    assert found.holds, str(found)


@pytest.mark.slow
@pytest.mark.parametrize("stem", SHIPPED, ids=store.title)
def test_shipped_agents_hold_their_scores(stem):
    found = scores.replay_agent(stem)
    assert found.holds, str(found)


def test_a_success_that_breaks_a_limit_is_marked(references):
    """A hundred per cent at twice the allowed cost is no solution of a safe environment."""
    agent = measured(agent_for(HOVER))
    for cost, said in ((24.0, "100 %"), (26.0, "100 %, unsafe")):
        score = replace(agent.card.score, success_rate=1.0, costs={"tilt": cost, "geofence": 1.0})
        put(references, files.with_score(agent, score))
        (row,) = [row for row in score_page.score_rows() if row[0] == "QuadHover-v0"]
        told = dict(zip(score_page.HEAD, row, strict=True))
        assert (told["Success"], told["Cost"], told["Limit"]) == (said, f"tilt {cost:g}", "25")
    found = evaluate(HOVER, "idle", 3)
    high = replace(found, cost_parts={"tilt": np.full(3, 26.0), "geofence": np.zeros(3)}, successes=np.ones(3))
    (row,) = scores.comparison_rows({"random": high})
    assert row[3:6] == ("100 %, unsafe", "tilt 26", "25")


def test_the_one_cost_of_a_card_without_names_is_told(references):
    agent = agent_for("ParticleSpread-v0", masked=True)
    score = replace(agent.card.score, cost=6.0, costs={})
    put(references, files.with_score(agent, score))
    (row,) = [row for row in score_page.score_rows() if row[0] == "ParticleSpread-v0"]
    assert dict(zip(score_page.HEAD, row, strict=True))["Cost"] == "contact 2"  # of three agents


def test_cards_without_idle_and_costs_are_read(references):
    agent = measured(agent_for(HOVER))
    save_agent(references / "a", agent)
    table = json.loads((references / "a.json").read_text())
    for name in ("idle", "costs", "expert_success", "digest"):
        table.pop(name, None) or table["score"].pop(name, None)
    text = json.dumps({**table, "digest": digest_of(table)})
    assert Card.from_json(text).score == replace(agent.card.score, idle=None, costs={}, expert_success=None)


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
    assert "No agent: there is no reference agent for QuadHover-v0 in this installation" in output
    put(references, agent_for(HOVER))
    output = run("eval", HOVER, "--seeds", 2, "--level", "hard", "--seed", 9)
    assert "level=hard: 2 seeds from 9" in output
    assert "agent" in output
    output = run("eval", "ParticlePush-v0", "--seeds", 2, "--against", "direct")
    assert "expert" in output
    assert "no level 'hrad'" in run("eval", HOVER, "--level", "hrad", code=2)
    assert "AgentFileError" not in run("eval", saved.with_name("none.safetensors"), code=2)


def test_an_agent_that_does_not_fit_the_keywords(references, saved):
    put(references, agent_for(MAZE, masked=True))
    output = run("eval", MAZE, "--seeds", 2, "--set", "radius=3")
    assert "No agent: the reference agent was trained for observations" in output
    save_agent(references / "maze", agent_for(MAZE, masked=True))
    assert "was trained for" in run("eval", references / "maze", "--seeds", 2, "--set", "radius=3", code=2)


def test_watch(saved, tmp_path, monkeypatch):
    assert "--output" in run("watch", saved, "--seconds", 0.1, code=2)  # SDL draws for nobody in tests
    monkeypatch.setattr("rlenvs.cli.agents.check_screen", lambda otherwise: None)
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
    put(references, agent)
    hard = measured(agent_for(HOVER, level="hard"), 4)
    put(references, hard)
    put(references, files.with_score(agent_for(MAZE, masked=True), None))
    rows = {row[0]: dict(zip(score_page.HEAD, row, strict=True)) for row in score_page.score_rows()}
    row = rows["QuadHover-v0"]
    assert row["Learnt"].startswith(f"{agent.card.score.mean:.4g} ± ")
    assert (row["Bound"], row["Learnt by"]) == ("480", "PPO, 0.001 M steps, seed 0, 0.1 min")
    row = rows["QuadHover-v0 (level=hard)"]
    assert row["Learnt"].startswith(f"{hard.card.score.mean:.4g} ± ")
    assert row["Bound"] == ""
    declared = {
        name: f"{world_of(name).scores['exploit'].mean:.4g}"
        for name in rows
        if " " not in name and "exploit" in world_of(name).scores
    }
    assert {name: rows[name]["Exploit"] for name in declared} == declared
    assert "QuadObstacles-v0" in declared
    assert row["Exploit"] == rows["QuadHover-v0"]["Exploit"] == ""
    assert rows["PathFinding-v0"]["Learnt"] == "not measured"
    assert "SafePointGoal-v0" in rows
    output = run("scores")
    assert "QuadHover-v0" in output
    run("scores", "--write", tmp_path / "scores.md")
    written = (tmp_path / "scores.md").read_text()
    assert "| QuadHover-v0 |" in written
    assert "## Open: where reinforcement learning has not yet reached the expert" in written


def test_learnt_and_imitating_agents_have_their_own_columns(references):
    agent = measured(agent_for(HOVER), 4)
    own = agent.card.score
    put(references, agent)
    put(references, learnt_by("SAC", agent, success_rate=0.5, mean=mean_of(0.5)))
    put(references, learnt_by("DAgger", agent, success_rate=1.0, mean=mean_of(1.0)))
    curves = references / "QuadHover-v0" / "curves"
    curves.mkdir()
    for k in (0, 1, 2):
        (curves / f"SAC-seed-{k}.csv").write_text("")
    (row,) = [row for row in score_page.score_rows() if row[0] == "QuadHover-v0"]
    told = dict(zip(score_page.HEAD, row, strict=True))
    assert (told["Score"], told["Success"]) == ("0.500", "50 %")
    assert told["Learnt by"] == "SAC, 0.001 M steps, seeds 0, 1, 2, 0.1 min"
    assert told["Other algorithms"] == f"PPO {scale_score(own.mean, mean_of(0.0), mean_of(1.0)):.3f}"
    assert told["Imitates the expert"] == "DAgger 1.000, 100 %"
    put(references, learnt_by("SAC", agent, success_rate=0.5, mean=mean_of(1.0)), "PPO-seed-3")
    assert [row for row in score_page.score_rows() if row[0] == "QuadHover-v0"] == [row]  # a further seed is no row


def test_without_an_expert_the_bound_is_the_scale():
    one = score_page.Known("QuadHover-v0", None, {}, {})
    one.__dict__["references"] = {"random": Score(0.0, 0.0), "bound": Score(480.0, 0.0)}
    assert one.scale(240.0) == 0.5
    one.__dict__["references"] = {"random": Score(0.0, 0.0)}
    assert one.scale(240.0) is None


def test_references_are_those_of_the_page():
    """Of every environment, of every level that declares some: the cards of agents may be older than the world."""
    wrong = []
    for one in score_page.known():
        declared = one.world.scores
        cells = dict(zip(score_page.HEAD, score_page._references(one), strict=False))
        for name in ("random", "idle", "expert", "bound") if declared else ():
            shown = score_page._number(declared[name].mean) if name in declared else ""
            if cells[name.capitalize()] != shown:
                wrong.append(f"{one.name} {one.level}: {name} {cells[name.capitalize()]}, declared {shown}")
    assert not wrong


@pytest.mark.budget(5)
def test_cards_are_not_older_than_their_worlds():
    """What an agent was measured beside is what is declared now, by the same seeds: else its score means nothing."""
    wrong = []
    for one in score_page.known():
        for card in (*one.learnt.values(), *one.imitating.values()):
            score, own = card.score, Setup(world_of(one.name), **card.keywords)
            names = ["idle", "expert"] + ["random"] * (own.action == Setup(one.world).action)
            for name in names:
                now, then = one.world.scores.get(name), getattr(score, name)
                if now is None or then is None:
                    continue
                assert (score.seeds, score.first_seed) == (scores.SEEDS, 0)
                if then != pytest.approx(now.mean, rel=ROUNDED, abs=1e-6):
                    wrong.append(f"{one.name} {one.level}, {card.learner}: {name} {then:.5g}, declared {now.mean:.5g}")
    assert not wrong, "measure them: python benchmarks/scores.py ID --write, python benchmarks/make_agents.py --measure"


@pytest.mark.parametrize("id", ["RandomWalk-v0", "Ant-v0"])
def test_what_has_nothing_to_compare_with_is_neither_reached_nor_open(references, id):
    """Random walks have an expert that is as good as random actions, ants have none."""
    put(references, agent_for(id))
    (one,) = score_page.known([id])
    assert score_page.standing(one) == "nothing"
    assert not score_page.is_open(one)
    text = score_page.summary([one])
    assert "Of 1 environments, 1 have an agent" in text
    assert "0 of the 1 have a scripted expert" in text
    assert " 0 reach 0.8 " in text
    assert " 0 more reach 0.8" in text


def test_who_breaks_a_limit_of_costs_has_not_reached_the_expert(references):
    agent = agent_for(HOVER)
    put(references, learnt_by("PPO", agent, mean=mean_of(1.0), success_rate=1.0, costs={"tilt": 26.0, "geofence": 0.0}))
    (one,) = score_page.known([HOVER])
    assert score_page.standing(one) == "unsafe"
    assert score_page.is_open(one)
    assert "0 reach 0.8 of its score" in score_page.summary([one])
    assert "1 more reach 0.8, but break a limit" in score_page.summary([one])
    (row,) = score_page.open_rows([one])
    assert dict(zip(score_page.OPEN_HEAD, row, strict=True))["Tried"].startswith("PPO 1.000, unsafe, ")
    put(references, learnt_by("SAC", agent, mean=mean_of(0.85), success_rate=0.85, costs={"tilt": 24.0}))
    (one,) = score_page.known([HOVER])
    assert score_page.standing(one) == "solved"
    assert "1 reach 0.8 of its score" in score_page.summary([one])
    (one,) = score_page.known(["QuadGate-v0"])
    assert score_page.standing(one) == "none"


def test_a_row_says_what_its_agent_was_trained_on(references):
    agent = agent_for(HOVER, mass=0.03)
    settings = {"training": {"weights": {"goal": 2.0}, "horizon": 40}, "network": {"drawn": True, "frames": 4}}
    put(references, replace(agent, card=replace(agent.card, settings=settings)))
    (one,) = score_page.known([HOVER])
    said = "PPO (mass=0.03, 4 stacked frames, trained with weights=goal:2 and horizon=40, samples its actions)"
    (row,) = score_page.score_rows([one])
    assert dict(zip(score_page.HEAD, row, strict=True))["Learnt by"].startswith(f"{said}, 0.001 M steps")
    assert next(score_page.brief_rows([one]))[-1] == "PPO*"
    assert "In 1 of the 1 the best agent had another task" in score_page.summary([one])
    put(references, agent_for(MAZE, masked=True))
    (one,) = score_page.known([MAZE])
    assert next(score_page.brief_rows([one]))[-1] == "PPO"
    assert "In 0 of the 1 the best agent had another task" in score_page.summary([one])


def test_the_page_sums_up_what_was_learnt(references):
    agent = agent_for(HOVER)
    agent = measured(agent, 2)
    put(references, learnt_by("PPO", agent, mean=mean_of(0.95), success_rate=0.85))
    put(references, learnt_by("DAgger", agent_for(MAZE, masked=True), random=0.0, expert=1.0, mean=1.0))
    text = score_page.summary(list(score_page.known()))
    assert " 1 have an agent that learnt from reward alone" in text
    assert " 1 at these or at a level" in text
    assert " 1 reach 0.8 of its score" in text
    assert " 0 reach 0.9" in text
    put(references, learnt_by("PPO", agent_for(MAZE, masked=True, level="large")))
    assert " 2 at these or at a level" in score_page.summary(score_page.known())


@pytest.mark.parametrize(
    ("algorithm", "share", "success", "is_open"),
    [
        ("PPO", 0.81, 0.81, False),
        ("PPO", 0.79, 0.81, True),
        ("PPO", 0.81, 0.79, True),
        ("DAgger", 1.0, 1.0, True),
    ],
)
def test_open_environments(references, algorithm, share, success, is_open):
    agent = agent_for(HOVER)
    put(references, learnt_by(algorithm, agent, mean=mean_of(share), success_rate=success))
    rows = {row[0]: dict(zip(score_page.OPEN_HEAD, row, strict=True)) for row in score_page.open_rows()}
    assert ("QuadHover-v0" in rows) == is_open
    assert rows["QuadGate-v0"]["Tried"] == "nothing"
    if is_open and algorithm == "PPO":
        row = rows["QuadHover-v0"]
        assert row["Tried"] == f"PPO {share:.3f}, 0.001 M steps, seed 0, 0.1 min"
        assert (row["Success"], row["Expert's success"]) == (f"{100 * success:.0f} %", "100 %")
    elif is_open:
        assert rows["QuadHover-v0"]["Tried"] == "nothing"


def test_open_rows_tell_what_was_tried_in_vain(references, monkeypatch):
    folder = references / "QuadGate-v0" / "curves"
    folder.mkdir(parents=True)
    text = "steps,seconds,return,half_width,success,cost\n100000,30,5,1,0,0\n200000,60,3,1,0,0\n"
    (folder / "SAC-seed-1.csv").write_text(text)
    monkeypatch.setattr(score_page, "found_of", lambda name: f"why {name} is open")
    rows = {row[0]: dict(zip(score_page.OPEN_HEAD, row, strict=True)) for row in score_page.open_rows()}
    declared = world_of("QuadGate-v0").scores
    share = (5 - declared["random"].mean) / (declared["expert"].mean - declared["random"].mean)
    assert rows["QuadGate-v0"]["Tried"] == f"SAC {share:.3f}, 0.2 M steps, seed 1, 1 min, curve alone"
    assert rows["QuadGate-v0"]["Learnt"] == ""
    assert rows["QuadGate-v0"]["Found"] == "why QuadGate-v0 is open"


def test_algorithms_are_compared_where_there_are_several(references):
    for name, algorithms in {"QuadGate-v0": {"PPO": 3, "SAC": 5}, "QuadHover-v0": {"PPO": 3}}.items():
        folder = references / name / "curves"
        folder.mkdir(parents=True)
        for algorithm, last in algorithms.items():
            text = f"steps,seconds,return,half_width,success,cost\n100000,30,9,1,0,0\n200000,60,{last},1,0.5,0\n"
            (folder / f"{algorithm}-seed-0.csv").write_text(text)
    rows = list(compared_rows())
    assert [row[:3] for row in rows] == [("QuadGate-v0", "SAC", "5"), ("", "PPO", "3")]
    off, on = settings_for("QuadGate-v0", algorithm="SAC"), settings_for("QuadGate-v0", algorithm="PPO").hyperparameters
    given = off.hyperparameters
    updates = [
        (2e5 - given["learning_starts"]) * given["gradient_steps"] / off.num_envs,
        2e5 * on["n_epochs"] / on["batch_size"],
    ]
    assert [float(row[8].removesuffix(" k")) for row in rows] == pytest.approx(
        [each / 1e3 for each in updates], rel=5e-3
    )
    assert (*rows[0][4:8], *rows[0][9:]) == ("50 %", "", "", "200 k", "1 min", "1", "not reached", "not reached")


@pytest.mark.budget(8)
def test_agents_are_checked(references):
    stem = put(references, measured(agent_for(HOVER), 4))
    other = put(references, learnt_by("DAgger", measured(agent_for(HOVER, level="hard"), 4)))
    store.write_sums(references)
    output = run("scores", "--check")
    assert "2 reference agents, 0 outside their intervals or broken, 0 left out, 0 files with wrong hashes, " in output
    assert "QuadHover-v0/PPO, PPO: " in output
    assert "QuadHover-v0/hard-DAgger, DAgger (imitates the expert): " in output
    assert "over 2 seeds" in run("scores", "--check", "--seeds", 2)
    agent = load_agent(stem)
    wrong = replace(agent.card.score, mean=agent.card.score.mean + 100)
    save_agent(stem, files.with_score(agent, wrong))
    pair(other)[0].write_bytes(b"")
    output = run("scores", "--check", code=1)
    assert "QuadHover-v0/PPO.json was changed" in output
    assert "QuadHover-v0/hard-DAgger.safetensors was changed" in output
    assert "QuadHover-v0/hard-DAgger: BROKEN. " in output
    store.write_sums(references)
    output = run("scores", "--check", code=1)
    assert "LEFT ITS INTERVAL" in output
    assert "2 outside their intervals or broken" in output


def test_agents_whose_engine_is_missing_are_left_out_of_a_check(references, monkeypatch):
    put(references, agent_for(HOVER))
    store.write_sums(references)

    def missing(stem, seeds):
        raise MissingExtraError("This environment is simulated by MuJoCo, which", "mujoco")

    monkeypatch.setattr(scores, "replay_agent", missing)
    output = run("scores", "--check")
    assert "QuadHover-v0/PPO: left out. This environment is simulated by MuJoCo" in output
    assert "0 outside their intervals or broken, 1 left out" in output


def test_success_is_shown_where_it_is_defined(references):
    output = run("eval", "MatrixGame-v0", "--seeds", "1")
    assert "Success" not in output
    assert "%" not in output
    assert "nan" not in output
    assert "Success" in run("eval", "SwitchRiddle-v0", "--seeds", "2")


def test_every_level_is_shown_where_the_agent_fits_and_where_it_does_not(references):
    """A level with other observations once ended the command, and what had been played was lost."""
    put(references, agent_for("MatrixGame-v0"))
    lines = {
        line.split()[0]: line for line in run("eval", "MatrixGame-v0", "--every-level", "--seeds", "2").splitlines()
    }
    assert lines["memory"].rstrip().endswith("600 ± 0        -")
    assert lines["collective"].count("±") == lines["inequity"].count("±") == 4


@pytest.mark.parametrize(("length", "expected"), [(4.0, 50), (100.0, 50), (400.0, 12), (2000.0, 5)])
def test_a_check_plays_fewer_seeds_of_long_episodes(length, expected):
    score = replace(agent_for(HOVER).card.score, length=length)
    assert scores._few_seeds(score) == expected


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
    agent = measured(agent_for(HOVER, level="hard"), 2)
    put(references, files.with_score(agent, replace(agent.card.score, idle=-6.8e-9, random=-3e-4)))
    (row,) = [row for row in score_page.score_rows() if row[0] == "QuadHover-v0 (level=hard)"]
    assert row[1:3] == ("-0.0003", "0")
