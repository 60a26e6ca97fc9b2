"""The single-file learners of examples/: their parts, a few updates of each, and (slow) what they claim to learn."""

import importlib.util

import numpy as np
import pytest
from support.places import ROOT

import rlenvs

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from rlenvs.agents.files import load_agent, save_agent  # noqa: E402
from rlenvs.agents.plain import agent_from_torch  # noqa: E402
from rlenvs.core.declare.errors import ParameterError  # noqa: E402
from rlenvs.pareto import hypervolume as area  # noqa: E402
from rlenvs.single.treasure.front import pareto_front  # noqa: E402

EXAMPLES = ROOT / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


lagrangian, sharing, self_play, scalarisation, many_weights = map(
    load, ("ppo_lagrangian", "parameter_sharing", "self_play", "scalarisation", "many_weights")
)


# --- a limit on costs -------------------------------------------------------------------------------------------------


def test_the_price_rises_above_the_limit_and_falls_below_it():
    price = lagrangian.Price(25.0, (0.0, 0.1, 0.0))
    found = []
    for cost in [50.0, 50.0, 25.0, 0.0, 0.0, 0.0, 50.0]:
        price.update(cost)
        found.append(price.value)
    assert found == pytest.approx([0.1, 0.2, 0.2, 0.1, 0.0, 0.0, 0.1])  # and owes nothing


def test_the_price_answers_at_once_to_a_cost_that_rises():
    slow, fast = lagrangian.Price(25.0, (0.0, 0.1, 0.0)), lagrangian.Price(25.0, (0.5, 0.1, 1.0))
    for cost in (25.0, 50.0):
        slow.update(cost)
        fast.update(cost)
    assert slow.value == pytest.approx(0.1)
    assert fast.value == pytest.approx(0.1 + 0.5 + 1.0)
    fast.update(25.0)
    assert fast.value == pytest.approx(0.1)


def test_without_a_limit_costs_are_free():
    price = lagrangian.Price(np.inf, (1.0, 1.0, 1.0))
    price.update(1e6)
    assert price.value == 0.0


def test_advantages_end_with_episodes_and_bootstrap_where_time_was_up():
    paid, values = torch.tensor([1.0, 2.0, 3.0])[:, None, None], torch.tensor([10.0, 20.0, 30.0, 40.0])[:, None, None]
    flags = torch.zeros(3, 1, dtype=torch.bool)
    last = flags.clone()
    last[1] = True
    gamma, decay = 0.9, 0.9 * lagrangian.LAMBDA
    cut = lagrangian.advantages(paid, values, flags, last, gamma)[:, 0, 0]
    second = 2.0 + 0.9 * 30.0 - 20.0
    assert cut.tolist() == pytest.approx([1.0 + 0.9 * 20.0 - 10.0 + decay * second, second, 3.0 + 0.9 * 40.0 - 30.0])
    ended = lagrangian.advantages(paid, values, last, last, gamma)[:, 0, 0]
    assert ended[1].item() == pytest.approx(2.0 - 20.0)


def test_a_price_turns_the_policy_away_from_what_costs():
    """One observation; reward and cost are both the action. A price above 1 must push it down, a lower one up."""
    ways = {}
    for price in (0.0, 3.0):
        torch.manual_seed(0)
        agent = lagrangian.Agent(1, 1)
        optimizer = torch.optim.Adam(agent.parameters(), 1e-2)
        seen = torch.zeros(2, 4096, 1)
        for _ in range(3):
            with torch.no_grad():
                chosen = agent.policy(seen[:1]).sample()
            paid = torch.cat([chosen, chosen], dim=-1)
            done, counted = torch.ones(2, 1, 4096, dtype=torch.bool)
            lagrangian.update(agent, optimizer, price, 1.0, 0.99, seen, chosen, paid, done, done, counted)
        ways[price] = agent.actor(torch.zeros(1, 1)).item()
    assert ways[0.0] > 0.02
    assert ways[3.0] < -0.02


TINY = ["--steps", "4096", "--worlds", "16", "--length", "64"]


def test_the_constrained_learner_runs_and_saves_its_agent(tmp_path, capsys):
    stem = tmp_path / "agent"
    found = lagrangian.main([*TINY, "--id", "QuadHover-v0", "--episodes", "4", "--save", str(stem)])
    assert {"random", "scripted", "PPO", "PPO-Lagrangian", "no exploration"} == set(found)
    assert "multiplier" in capsys.readouterr().out
    agent = load_agent(stem)
    assert agent.card.algorithm == "PPO-Lagrangian"
    assert agent.card.settings["limit"] == 25.0
    again = rlenvs.evaluate("QuadHover-v0", agent, seeds=range(10_000, 10_004))
    np.testing.assert_array_equal(again.returns, found["no exploration"].returns)


def test_the_same_seed_teaches_the_same():
    arguments = lagrangian.parser.parse_args([*TINY, "--id", "QuadHover-v0"])
    first, second = (lagrangian.learn(arguments, 1.0)[0].state_dict() for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("id", ["DeepSeaTreasure-v0", "PandaReach-v0"])
def test_a_world_without_costs_is_refused(id, capsys):
    if id.startswith("Panda"):
        pytest.importorskip("mujoco")
    with pytest.raises(SystemExit):
        lagrangian.main(["--id", id])
    assert "no costs" in capsys.readouterr().err


# --- many agents, one network -----------------------------------------------------------------------------------------


def rollout_of(monkeypatch, arguments, choices):
    """What the first update was given."""
    told = {}
    names = ("seen", "masks", "chosen", "paid", "terminated", "done", "counted")

    def update(agent, optimizer, arguments, spread, *arrays):
        told.update({name: array.clone() for name, array in zip(names, arrays, strict=True)})
        return spread

    monkeypatch.setattr(sharing, "update", update)
    sharing.learn(sharing.parser.parse_args(arguments), choices)
    return told


def test_the_dead_and_the_steps_that_begin_an_episode_do_not_count(monkeypatch):
    choices = {"scenario": "3m", "dead": "leave", "opponent": "plain"}
    arguments = ["--id", "Battle-v0", "--worlds", "8", "--length", "150", "--steps", "1"]
    told = rollout_of(monkeypatch, arguments, choices)
    batch = rlenvs.make_batch("Battle-v0", 8, threads=1, **choices)
    batch.seed(range(8))
    batch.reset()
    dead, fallen, begun = np.zeros((8, 3), bool), 0, 0
    for t in range(150):
        starting = batch.over.copy()
        counts = ~dead & ~starting[:, None]
        np.testing.assert_array_equal(told["counted"][t].numpy().reshape(8, 3), counts)
        batch.step(told["chosen"][t].long().numpy().reshape(8, 3))
        dead = ~starting[:, None] & (dead | batch.terminated | batch.truncated | batch.over[:, None])
        fallen += int((dead & ~batch.over[:, None]).sum())
        begun += int(starting.sum())
    assert fallen > 0
    assert begun > 0


def test_what_does_not_count_teaches_nothing(monkeypatch):
    choices = {"scenario": "3m", "dead": "leave"}
    update = sharing.update
    arguments = ["--id", "Battle-v0", "--worlds", "8", "--length", "120", "--steps", "1"]
    told = rollout_of(monkeypatch, arguments, choices)
    batch = rlenvs.make_batch("Battle-v0", 1, **choices)
    learnt = []
    for noise in (0.0, 1e3):
        torch.manual_seed(0)
        agent = sharing.Agent(batch)
        optimizer = torch.optim.Adam(agent.parameters(), 1e-3)
        arrays = {name: array.clone() for name, array in told.items()}
        arrays["paid"][~arrays["counted"]] += noise
        update(agent, optimizer, sharing.parser.parse_args([]), 1.0, *arrays.values())
        learnt.append(agent.state_dict())
    assert all(torch.equal(learnt[0][name], learnt[1][name]) for name in learnt[0])


def test_masked_choices_are_never_chosen():
    batch = rlenvs.make_batch("Battle-v0", 4, scenario="3m")
    batch.seed(range(4))
    batch.reset()
    masks = sharing.masks_of(batch)
    policy = sharing.Agent(batch).policy(torch.as_tensor(batch.observations.reshape(12, -1)), masks)
    assert not masks.all()
    assert policy.probs[~masks].max() == 0.0


@pytest.mark.budget(5)
@pytest.mark.parametrize(
    ("id", "choices"),
    [("ParticleSpread-v0", {}), ("QuadMultiHover-v0", {}), ("PathFinding-v0", {}), ("Battle-v0", {"scenario": "3m"})],
)
def test_parameter_sharing_runs_and_saves_its_agent(id, choices, tmp_path, capsys):
    given = [f"{name}={value}" for name, value in choices.items()]
    tiny = ["--steps", "4096", "--worlds", "16", "--length", "32", "--episodes", "4"]
    found = sharing.main(["--id", id, "--set", *given, *tiny, "--save", str(tmp_path / "agent")])
    assert "learnt" in capsys.readouterr().out
    again = rlenvs.evaluate(id, load_agent(tmp_path / "agent"), seeds=range(10_000, 10_004), **choices)
    np.testing.assert_array_equal(again.returns, found["learnt"].returns)


# --- self-play --------------------------------------------------------------------------------------------------------


def test_what_one_side_gains_the_other_loses():
    arguments = self_play.parser.parse_args(["--id", "ParticlePush-v0", "--worlds", "4", "--shaping", "0.5"])
    table = self_play.Table(arguments, {})
    assert table.own.tolist() == [0, 3, 4, 7]  # agent 0 in even worlds, agent 1 in odd ones
    assert table.other.tolist() == [1, 2, 5, 6]
    paid, terminated, done, counted = table.step(torch.zeros(8, dtype=torch.long))
    rewards = table.batch.rewards
    difference = 0.5 * (rewards[:, 0] - rewards[:, 1])
    np.testing.assert_allclose(paid, difference * [1, -1, 1, -1], rtol=1e-6)
    assert counted.all()
    assert not terminated.any()
    assert not done.any()


def test_games_are_counted_for_the_side_of_the_learner():
    arguments = self_play.parser.parse_args(["--id", "ParticlePush-v0", "--worlds", "6"])
    table = self_play.Table(arguments, {})
    table.shaping = 0.0
    while not table.batch.over.any():
        paid = table.step(torch.ones(12, dtype=torch.long))[0]
    worlds, points = table.results()
    success = table.batch.success
    assert worlds.tolist() == list(range(6))
    assert points.tolist() == [float(success[i, i % 2]) for i in range(6)]
    assert 0.0 < points.mean() < 1.0
    assert paid.tolist() == (2.0 * points - 1.0).tolist()
    assert not table.step(torch.zeros(12, dtype=torch.long))[3].any()  # this step only begins the next games
    assert table.step(torch.zeros(12, dtype=torch.long))[3].all()


def test_the_league_invites_those_who_still_win():
    league = self_play.League(["weak", "strong"], np.random.default_rng(0))
    for _ in range(300):
        league.note(0, 1.0)
        league.note(1, 0.0)
    invited = league.invite(200)
    assert np.count_nonzero(invited == 1) > 190


def test_a_best_response_against_a_weak_player_wins():
    arguments = self_play.parser.parse_args(["--steps", "40000", "--games", "50"])
    torch.manual_seed(0)
    points, half_width = self_play.best_response(arguments, {}, self_play.Agent(19, 5).frozen(), 0)
    assert points - half_width > 0.5


def test_self_play_runs_and_saves_its_agent(tmp_path, capsys):
    tiny = ["--generations", "1", "--steps", "1024", "--worlds", "16", "--length", "32", "--games", "4"]
    ratings, responses = self_play.main([*tiny, "--save", str(tmp_path / "agent")])
    assert set(ratings) == {0, 1}
    assert set(responses) == {0, 1}
    assert "best response" in capsys.readouterr().out
    assert load_agent(tmp_path / "agent").card.algorithm == "PPO with a league"


def test_self_play_wants_two_sides(capsys):
    with pytest.raises(SystemExit):
        self_play.main(["--id", "ParticleSpread-v0"])
    assert "two sides" in capsys.readouterr().err


# --- several objectives -----------------------------------------------------------------------------------------------


def test_weights_cover_the_simplex():
    weights = scalarisation.simplex(4, 3)
    assert len(weights) == 15
    assert weights.min() == 0.0
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert len(np.unique(weights, axis=0)) == 15


def test_only_points_that_nothing_dominates_are_kept():
    points = np.array([[0.0, 3.0], [1.0, 2.0], [1.0, 1.0], [2.0, 0.0], [0.5, 2.0], [1.0, 2.0]])
    np.testing.assert_array_equal(scalarisation.best(points), [[0.0, 3.0], [1.0, 2.0], [2.0, 0.0]])


def test_hypervolumes_agree_with_the_library():
    pytest.importorskip("moocore")
    front = pareto_front("concave")
    assert scalarisation.hypervolume(front, np.array([0.0, -25.0])) == pytest.approx(area(front, (0.0, -25.0)))


@pytest.mark.parametrize("utility", ["linear", "chebyshev"])
def test_rewards_add_up_to_the_utility_of_the_return(utility):
    arguments = scalarisation.parser.parse_args(["--objectives", "treasure", "time"])
    weights = scalarisation.simplex(3, 2)
    worlds = scalarisation.Worlds(arguments, {"map": "concave"}, weights, utility, pareto_front("concave"))
    worlds.reset(range(4))
    begin, total = worlds.worth(), np.zeros(4)
    for action in (3, 1, 1):  # right, down, down: the second treasure
        total += worlds.step(torch.full((4,), action)).numpy()
    np.testing.assert_array_equal(worlds.sums, [[2.0, -3.0]] * 4)
    np.testing.assert_allclose(total, worlds.worth() - begin, atol=1e-6)
    worlds.step(torch.zeros(4, dtype=torch.long))  # begins the next episode
    np.testing.assert_array_equal(worlds.sums, 0.0)


def test_the_sweep_runs(capsys):
    fronts, shares = scalarisation.main(["--steps", "4000", "--parts", "4", "--length", "16", "--worlds", "20"])
    assert set(fronts) == {"true front", "linear", "chebyshev"}
    assert shares["true front"] == 1.0
    assert "hypervolume" in capsys.readouterr().out


def test_a_sweep_wants_two_objectives(capsys):
    with pytest.raises(SystemExit):
        scalarisation.main(["--objectives", "treasure"])
    assert "two or more" in capsys.readouterr().err


@pytest.mark.budget(6)
@pytest.mark.parametrize("algorithm", ["ppo", "envelope"])
def test_one_network_for_all_weights_learns(algorithm):
    share = many_weights.main(["FruitTree-v0", "--algorithm", algorithm, "--steps", "6000", "--worlds", "64"])
    assert 0.1 < share <= 1.0


def test_weights_are_drawn_anew_where_episodes_begin():
    worlds = many_weights.Worlds("FruitTree-v0", {"depth": 5}, np.full(6, 2.0), 4, 0)
    before = worlds.weights.copy()
    for _ in range(5):
        vectors, ended, over = worlds.step(np.zeros(4, np.int64))
    assert ended.all()
    np.testing.assert_allclose(vectors, worlds.batch.terms[:, :, 0] / 2.0, rtol=1e-6)
    worlds.restart(over & [True, False, True, False])
    assert (worlds.weights[[1, 3]] == before[[1, 3]]).all()
    assert (worlds.weights[[0, 2]] != before[[0, 2]]).any(axis=1).all()
    np.testing.assert_allclose(worlds.weights.sum(axis=1), 1.0, rtol=1e-6)


def test_targets_of_the_envelope_are_the_best_of_all_weights():
    """With networks that say one vector for each action, the target is that of the action that is best under w."""
    worlds = many_weights.Worlds("FruitTree-v0", {"depth": 5}, np.ones(6), 2, 0)
    learner = many_weights.Envelope(worlds, 1.0, 100)
    with torch.no_grad():
        for network in (learner.q, learner.target):
            network.rest[-1].weight.zero_()
            network.rest[-1].bias[:] = torch.tensor([1.0, 0, 0, 0, 0, 0, 0, 1.0, 0, 0, 0, 0])
    states = torch.zeros(2, dtype=torch.long)
    weights = torch.tensor([[1.0, 0, 0, 0, 0, 0], [0, 1.0, 0, 0, 0, 0]])
    assert learner.choices(states, weights).tolist() == [0, 1]


@pytest.mark.parametrize("learner", [lagrangian, sharing, self_play], ids=lambda module: module.__name__)
def test_a_folder_that_is_not_there_is_told_before_learning(learner, tmp_path, capsys):
    with pytest.raises(SystemExit):
        learner.main(["--save", str(tmp_path / "missing" / "agent")])
    assert "there is no folder" in capsys.readouterr().err


# --- agents of plain networks -----------------------------------------------------------------------------------------

CARD = {"algorithm": "mine", "settings": {}, "steps": 1, "seeds": [0], "seconds": 1.0}


def test_an_agent_acts_as_its_network_does(tmp_path):
    torch.manual_seed(0)
    actor = torch.nn.Sequential(torch.nn.Linear(15, 8), torch.nn.Tanh(), torch.nn.Linear(8, 4))
    save_agent(tmp_path / "mine", agent_from_torch(actor, "QuadHover-v0", **CARD))
    observations = np.random.default_rng(0).uniform(-1.0, 1.0, (20, 15)).astype(np.float32)
    expected = actor(torch.as_tensor(observations)).clamp(-1.0, 1.0).detach().numpy()
    np.testing.assert_allclose(load_agent(tmp_path / "mine")(observations), expected, atol=1e-6)


def test_a_plain_network_sees_whole_numbers_one_hot():
    torch.manual_seed(0)
    actor = [torch.nn.Linear(16, 4)]
    agent = agent_from_torch(actor, "FrozenLake-v0", **CARD)
    expected = actor[0](torch.eye(16)).argmax(1)
    assert agent(np.arange(16)).tolist() == expected.tolist()
    seen = agent_from_torch(actor, "FrozenLake-v0", keywords={"encoding": "one_hot"}, **CARD)  # the world's own
    assert seen(np.eye(16, dtype=np.float32)).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("actor", "keywords", "said"),
    [
        ([torch.nn.Linear(14, 4)], {}, "14 inputs"),
        ([torch.nn.Linear(15, 3)], {}, "3 units"),
        ([torch.nn.Linear(15, 4), torch.nn.Dropout()], {}, "Dropout"),
        ([torch.nn.Linear(15, 4)], {"camera": "rgb"}, "dictionaries"),
    ],
)
def test_a_network_that_does_not_fit_is_refused(actor, keywords, said):
    with pytest.raises(ParameterError, match=said):
        agent_from_torch(actor, "QuadHover-v0", keywords=keywords, **CARD)


# --- what the learners claim ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_limit_is_kept_where_ppo_breaks_it():
    found = lagrangian.main(["--id", "SafePointGoal-v0"])
    free, kept = found["PPO"], found["PPO-Lagrangian"]
    half = 1.96 * kept.costs.std(ddof=1) / len(kept.costs) ** 0.5
    assert free.mean_cost > 35.0
    assert kept.mean_cost - half <= 25.0
    assert found["random"].mean + 5.0 < kept.mean < free.mean


@pytest.mark.slow
def test_a_team_learns_to_win():
    found = sharing.main(["--id", "Battle-v0", "--set", "scenario=3m"])
    assert found["learnt"].success_rate > found["scripted"].success_rate
    assert found["random"].success_rate < 0.05


@pytest.mark.slow
def test_elo_rises_and_exploitability_falls():
    ratings, responses = self_play.main([])
    last = max(ratings)
    assert ratings[0] + 150.0 < ratings[last // 2] < ratings[last]
    assert responses[0][0] - responses[last][0] > responses[0][1] + responses[last][1]


@pytest.mark.slow
def test_the_sweep_recovers_the_fronts():
    _, convex = scalarisation.main(["--map", "convex"])
    _, concave = scalarisation.main(["--map", "concave"])
    assert convex["linear"] > 0.99
    assert concave["chebyshev"] > 0.99
    assert concave["linear"] < 0.8  # sums of weights miss what lies in the hollow
