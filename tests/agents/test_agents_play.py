from dataclasses import replace

import numpy as np
import pytest
from support.agent_helpers import HOVER, LAKE, MAZE, SPEAKER, TAXI, TREASURE, agent_for, returns_alone, run
from toys import high_numbers, tug_of_war

import rlenvs
from rlenvs.agents.agent import Seen
from rlenvs.agents.evaluate import chooser, evaluate
from rlenvs.agents.files import load_agent, save_agent
from rlenvs.core.catalogue.registry import Entry, catalogue, world_of
from rlenvs.core.declare.errors import AgentFileError, ParameterError, UnknownNameError
from rlenvs.core.declare.setup import Setup

# --- playing ----------------------------------------------------------------------------------------------------------


def test_act_in_a_plain_environment_is_what_evaluate_plays():
    agent = agent_for(HOVER)
    result = rlenvs.evaluate(HOVER, agent, seeds=[4, 7])
    for row, seed in enumerate([4, 7]):
        env = rlenvs.make(HOVER)
        observation, _ = env.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            action, state = agent.act(observation)
            assert state is None
            assert env.action_space.contains(action)
            observation, reward, terminated, truncated, _ = env.step(action)
            total, over = total + reward, terminated or truncated
        assert total == pytest.approx(result.returns[row], rel=1e-4)


def test_whole_numbers_of_a_discrete_space_are_played_in_every_form(tmp_path):
    agent = load_agent(save_agent(tmp_path / "lake", agent_for(LAKE, masked=True)), id=LAKE)
    result = rlenvs.evaluate(LAKE, agent, seeds=5)
    env, venv = rlenvs.make(LAKE), rlenvs.make_vec(LAKE, 5)
    seen, info = venv.reset(seed=list(range(5)))
    chosen, _ = agent.predict(seen, action_masks=info["action_mask"])
    for seed in range(5):
        observation, info = env.reset(seed=seed)
        assert isinstance(observation, int)
        assert agent.act(observation, info["action_mask"])[0] == chosen[seed]
        total, over = 0.0, False
        while not over:
            action, _ = agent.act(observation, info["action_mask"])
            observation, reward, terminated, truncated, info = env.step(action)
            total, over = total + reward, terminated or truncated
        assert total == pytest.approx(result.returns[seed])
    with pytest.raises(ParameterError, match="observations is 16; needed: a whole number from 0 to 15"):
        agent.act(16)
    with pytest.raises(ParameterError, match="act takes one observation"):
        agent.act(np.array([3, 4]))
    with pytest.raises(ParameterError, match=r"observations Discrete\(16\); those of Taxi-v0 are Discrete\(500\)"):
        evaluate(TAXI, agent)


def test_choices_are_drawn_with_the_probabilities_of_the_network():
    agent = agent_for(MAZE, masked=True)
    drawing = replace(agent, card=replace(agent.card, settings={"network": {"drawn": True}}))
    assert drawing.card.learner == f"{agent.card.algorithm} (samples its actions)"
    venv = rlenvs.make_vec(MAZE, 1)
    seen, info = venv.reset(seed=3)
    rows, masks = np.repeat(seen, 20_000, axis=0), np.repeat(info["action_mask"], 20_000, axis=0)
    with pytest.MonkeyPatch.context() as patch:  # what the network rates the choices
        ratings: list[np.ndarray] = []
        patch.setattr(type(agent.network), "_highest", lambda self, found: ratings.append(found) or found.argmax(1))
        agent.predict(seen, action_masks=info["action_mask"])
    shares = np.exp(ratings[0][0] - ratings[0][0].max())
    drawn = drawing.predict(rows, action_masks=masks, rng=np.random.default_rng(0))[0]
    assert np.bincount(drawn, minlength=len(shares)) / len(drawn) == pytest.approx(shares / shares.sum(), abs=0.015)
    likeliest = drawing.predict(rows, action_masks=masks, deterministic=True)[0]
    assert set(likeliest.tolist()) == set(agent.predict(rows, action_masks=masks)[0].tolist()) == {int(shares.argmax())}


def test_what_a_drawing_agent_does_depends_on_the_seed_of_its_episode_alone():
    agent = agent_for(MAZE, masked=True)
    drawing = replace(agent, card=replace(agent.card, settings={"network": {"drawn": True}}))
    together = rlenvs.evaluate(MAZE, drawing, seeds=[5, 6, 7])
    alone = [rlenvs.evaluate(MAZE, drawing, seeds=[seed]) for seed in (5, 6, 7)]
    assert together.returns.tolist() == [result.returns[0] for result in alone]
    assert together.lengths.tolist() == [result.lengths[0] for result in alone]
    assert together.costs.tolist() != rlenvs.evaluate(MAZE, agent, seeds=[5, 6, 7]).costs.tolist()
    same, infos = rlenvs.make_vec(MAZE, 1).reset(seed=0)
    masks = infos["action_mask"]
    draws = [drawing.chooser(lambda: Seen(same, masks, np.ones(1, bool)), [seed])() for seed in range(50)]
    assert len({int(draw.reshape(-1)[0]) for draw in draws}) > 1  # each seed has draws of its own
    seen, _ = rlenvs.make_vec(MAZE, 3).reset(seed=0)
    with pytest.raises(ParameterError, match="2 generators were given, which does not divide 3 rows"):
        drawing.predict(seen, rng=[np.random.default_rng(0)] * 2)
    with pytest.raises(ParameterError, match="rng=3 must be a NumPy generator"):
        drawing.predict(seen, rng=3)


def test_an_agent_is_printed_in_a_line():
    told = repr(rlenvs.load_agent("RepeatFirst-v0"))
    assert told == "Agent('rlenvs/RepeatFirst-v0', RecurrentPPO, 1,503,232 steps, return 1 on 100 seeds)"


def test_memories_begin_anew_with_every_episode():
    agent = agent_for(HOVER, memory={"layers": 2, "units": 5})
    together = evaluate(HOVER, agent, seeds=4)
    assert returns_alone(HOVER, agent, seeds=4) == pytest.approx(together.returns, rel=1e-4)
    with pytest.raises(ParameterError, match="has memory"):
        agent(rlenvs.make(HOVER).reset(seed=0)[0])


def test_memories_begin_anew_after_an_autoreset():
    agent, batch = agent_for(HOVER, memory={"layers": 1, "units": 5}), rlenvs.make_batch(HOVER, 2, horizon=3)
    batch.seed([0, 1])
    batch.reset()
    choose = chooser(batch, agent, [0, 1])
    fresh = []
    for _ in range(10):
        seen = batch.get_observations((slice(None), 0))
        actions = choose()
        fresh.append(np.array_equal(actions, agent.predict(seen)[0]))
        batch.step(actions)
    assert fresh == [True, False, False, False, True, False, False, False, True, False]


def test_masks_are_kept_where_the_agent_was_trained_with_them():
    batch = rlenvs.make_batch(MAZE, 20)
    batch.seed(range(20))
    batch.reset()
    for masked in (True, False):
        choose = chooser(batch, agent_for(MAZE, masked=masked), list(range(20)))
        allowed = np.take_along_axis(batch.masks, choose()[:, :, None], axis=2)
        assert allowed.all() == masked


def test_agents_with_roles_are_padded_as_in_training():
    agent = agent_for(SPEAKER, masked=True)
    result = evaluate(SPEAKER, agent, seeds=3)
    env = rlenvs.parallel_env(SPEAKER)
    observations, infos = env.reset(seed=1)
    total, sizes = 0.0, set()
    while env.agents:
        actions = {}
        for name in env.agents:
            seen = observations[name]
            mask = infos[name].get("action_mask")
            if isinstance(seen, dict):
                seen, mask = seen["observation"], seen["action_mask"]
            if mask is None:
                mask = np.ones(env.action_space(name).n, np.int8)
            sizes.add(len(seen))
            actions[name], _ = agent.act(seen, mask)
            assert env.action_space(name).contains(actions[name])
        observations, rewards, _, _, infos = env.step(actions)
        total += sum(rewards.values())
    assert len(sizes) == 2
    assert total == pytest.approx(result.returns[1], rel=1e-4)


def test_predict_is_a_drop_in_for_stable_baselines3(tmp_path):
    sb3 = pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.evaluation import evaluate_policy

    from rlenvs.agents.export import agent_from_sb3

    envs = rlenvs.sb3_vec_env(HOVER, 4)
    model = sb3.PPO("MlpPolicy", envs, n_steps=8, batch_size=32, seed=0, device="cpu")
    facts = {"keywords": {}, "settings": {"n_steps": 8}, "steps": 32, "seeds": [0], "seconds": 0.5}
    agent = agent_from_sb3(model, HOVER, **facts)
    assert {"rlenvs", "torch", "python", "stable-baselines3"} <= set(agent.card.versions)
    assert agent.card.hardware["cores"] >= 1
    save_agent(tmp_path / "a", agent)
    agent = load_agent(tmp_path / "a")
    for observations in (envs.reset(), envs.reset()[0]):
        mine, theirs = (player.predict(observations, deterministic=True)[0] for player in (agent, model))
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, atol=1e-5)
    envs.seed(0)
    mean, _ = evaluate_policy(agent, envs, n_eval_episodes=4, warn=False)
    assert mean == pytest.approx(evaluate(HOVER, agent, 4).mean, rel=1e-3)
    with pytest.raises(ParameterError, match=r"the model of PPO was trained for observations \(15,\)"):
        agent_from_sb3(model, "QuadGate-v0", **facts)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((np.zeros(14, np.float32),), r"shape \(1, 14\)"),
        ((np.zeros((3, 15), np.float32),), "act takes one observation"),
        (({"a": 1},), "are one array"),
        ((np.full(15, np.nan),), "NaN"),
        ((np.zeros(15), np.ones(4)), "masks are for choices"),
    ],
)
def test_bad_observations(arguments, reason):
    with pytest.raises(ParameterError, match=reason):
        agent_for(HOVER).act(*arguments)


def test_an_agent_of_another_environment_is_refused_before_it_plays():
    with pytest.raises(ParameterError, match=r"observations \(15,\); those of QuadGate-v0 are \(21,\)"):
        evaluate("QuadGate-v0", agent_for(HOVER))
    setup = Setup(world_of(TREASURE))
    setup.action_size = 3
    with pytest.raises(ParameterError, match="actions of 4 choices; those of DeepSeaTreasure-v0 have 3 choices"):
        agent_for(TREASURE).check(setup)


def test_wrappers_show_the_agent_what_they_make(tmp_path):
    from rlenvs.wrappers import Sensor

    agent = agent_for(HOVER)
    plain, wrapped = evaluate(HOVER, agent, 3), evaluate(HOVER, agent, 3, wrappers=[Sensor(noise=0.5)])
    assert not np.array_equal(plain.returns, wrapped.returns)
    same = evaluate(HOVER, agent, 3, wrappers=[Sensor(noise=0.0)])
    np.testing.assert_allclose(same.returns, plain.returns, rtol=1e-4)
    memory = agent_for(HOVER, memory={"layers": 1, "units": 5})
    same = evaluate(HOVER, memory, 3, wrappers=[Sensor(noise=0.0)])
    np.testing.assert_allclose(same.returns, evaluate(HOVER, memory, 3).returns, rtol=1e-4)


# --- two teams, tournaments -------------------------------------------------------------------------------------------

TUG = "TugOfWar-v0"


@pytest.fixture
def tug(monkeypatch):
    for name, module in ((TUG, tug_of_war), ("HighNumbers-v0", high_numbers)):
        monkeypatch.setitem(
            catalogue, f"rlenvs/{name}", Entry(f"rlenvs/{name}", f"{module.__name__}:SPEC", ("multi-agent",))
        )


def test_against_the_scripted_team(tug):
    id = "ParticleTag-v0"
    expert, agent = evaluate(id, "expert", 6), agent_for(id, masked=True)
    np.testing.assert_allclose(evaluate(id, "expert", 6, against="pursuit").returns, expert.returns)
    alone, against = evaluate(id, agent, 6), evaluate(id, agent, 6, against="pursuit")
    assert not np.allclose(alone.returns, against.returns)
    # by hand, from the team of the first agent
    batch = rlenvs.make_batch(id, 6, autoreset=rlenvs.core.batch.kernel_batch.AutoresetMode.DISABLED)
    teams = np.array(batch.setup.teams)
    total, won = np.zeros(6), np.zeros(6)
    for team in (0, 1):
        batch.seed(range(6))
        batch.reset()
        for _ in range(batch.setup.horizon):
            own = agent.predict(batch.get_observations(), action_masks=batch.masks)[0]
            actions = np.where(teams == team, own, batch.player_actions("pursuit")[:, :, 0])
            batch.step(actions)
            total += batch.rewards[:, teams == team].sum(axis=1)
        won += batch.success[:, teams == team].mean(axis=1) / 2
    assert against.successes.tolist() == won.tolist()
    np.testing.assert_allclose(total, against.returns, rtol=1e-4)
    with pytest.raises(UnknownNameError, match="no player 'hunter'"):
        evaluate(id, agent, 2, against="hunter")
    with pytest.raises(ParameterError, match="all agents are on one team"):
        evaluate(HOVER, "random", 2, against="pursuit")


def test_agents_play_tournaments(tug, tmp_path):
    agent = agent_for("HighNumbers-v0", masked=True, opponent="self")
    path = save_agent(tmp_path / "learnt", agent)
    by_file, direct = (rlenvs.tournament("HighNumbers-v0", {"a": p, "low": "low"}, games=6) for p in (path, agent))
    assert by_file.to_dict() == direct.to_dict()
    with_numbers = agent_for(TUG)
    assert rlenvs.tournament(TUG, {"a": with_numbers, "random": "random"}, games=4).games == 4
    with pytest.raises(AgentFileError, match="an agent for rlenvs/HighNumbers-v0, not for TugOfWar-v0"):
        rlenvs.tournament(TUG, {"a": path, "random": "random"}, games=4)
    with pytest.raises(ParameterError, match="the player 'a' has memory"):
        rlenvs.tournament(TUG, {"a": agent_for(TUG, memory={"layers": 1, "units": 3}), "random": "random"}, games=4)
    output = run("tournament", "HighNumbers-v0", f"mine={path}", path, "low", "--games", 2)
    assert "mine" in output
    assert "learnt" in output


def test_agents_with_roles_play_tournaments():
    id = "ParticleTag-v0"
    result = rlenvs.tournament(id, {"a": agent_for(id, masked=True), "pursuit": "pursuit"}, games=4)
    assert (result.wins + result.wins.T + result.draws)[0, 1] == 4
