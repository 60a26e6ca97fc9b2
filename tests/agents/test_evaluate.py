import math

import numpy as np
import pytest

import rlenvs
from rlenvs.agents import evaluate as module
from rlenvs.agents.evaluate import Evaluation, check_policy, evaluate, reference_scores, scale_score
from rlenvs.core import Score
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ActionError, ParameterError, UnknownNameError

HOVER, MAZE = "QuadHover-v0", "PathFinding-v0"


def test_statistics_are_those_of_the_rows():
    zeros = np.zeros(4)
    result = Evaluation(np.arange(4), np.array([1.0, 2.0, 3.0, 4.0]), zeros + 2.0, np.array([5, 5, 7, 7]), zeros + 0.25)
    assert (result.mean, result.mean_cost, result.mean_length, result.success_rate) == (2.5, 2.0, 6.0, 0.25)
    assert result.half_width == pytest.approx(1.96 * math.sqrt(5.0 / 3.0) / 2.0)
    assert str(result) == "return 2.50 ± 1.27, success 25 %, cost 2.00, length 6.0 (4 seeds)"
    assert math.isnan(evaluate(HOVER, "expert", seeds=1, horizon=2).half_width)


def test_rows_equal_single_episodes_played_one_by_one():
    """Each world counts until its first episode ends, whatever its neighbours do."""
    action = np.array([1.0, -1.0, 0.5, -0.5], np.float32)
    result = evaluate(HOVER, lambda o: np.tile(action, (len(o), 1)), seeds=[3, 11, 5], action_range=0.02)
    for row, seed in enumerate(result.seeds.tolist()):
        env = rlenvs.make(HOVER, action_range=0.02)
        env.reset(seed=seed)
        total, cost, steps, over = 0.0, 0.0, 0, False
        while not over:
            _, reward, terminated, truncated, info = env.step(action)
            total, cost, steps, over = total + reward, cost + info["cost"], steps + 1, terminated or truncated
        assert (result.returns[row], result.costs[row], result.lengths[row]) == (total, cost, steps)
        assert result.successes[row] == info["is_success"]


@pytest.mark.parametrize("id", [HOVER, MAZE])
@pytest.mark.parametrize("policy", ["random", "expert"])
def test_a_row_depends_on_its_own_seed_alone(id, policy):
    together, alone = evaluate(id, policy, seeds=5, horizon=40), evaluate(id, policy, seeds=[4, 2], horizon=40)
    assert together.returns[[4, 2]].tolist() == alone.returns.tolist()
    assert together.lengths[[4, 2]].tolist() == alone.lengths.tolist()


def test_random_and_expert_on_the_model_world():
    chance, expert = evaluate(HOVER, "random", seeds=20), rlenvs.evaluate(HOVER, "expert", seeds=20)
    assert chance.mean < 50 < 400 < expert.mean
    assert chance.success_rate < 0.1 < 0.9 < expert.success_rate
    assert (expert.lengths == 240).all()


def test_random_ignores_numpys_global_generator_and_covers_the_action_space():
    np.random.seed(0)  # noqa: NPY002
    state = np.random.get_state()[1].tolist()  # noqa: NPY002
    batch = rlenvs.make_batch(HOVER, 2)
    drawn = np.concatenate([module.chooser(batch, "random", [0, 1])() for _ in range(200)])
    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002
    assert drawn.min() >= -1.0
    assert drawn.max() <= 1.0
    assert (drawn[0::2] != drawn[1::2]).all()  # worlds do not share their actions
    single = module.chooser(batch, "random", [0, 1])
    numbers = np.concatenate([single() for _ in range(400)])
    assert abs(numbers.mean()) < 0.05
    assert numbers.std() == pytest.approx(2.0 / math.sqrt(12.0), abs=0.02)


def test_random_takes_allowed_choices_only():
    batch = rlenvs.make_batch(MAZE, 3)
    batch.masks[...] = 0
    batch.masks[..., [1, 3]] = 1
    choose = module.chooser(batch, "random", [0, 1, 2])
    assert set(np.concatenate([choose().ravel() for _ in range(50)]).tolist()) == {1, 3}


def test_a_function_sees_float32_copies_and_teams_have_an_agent_axis():
    seen = []

    def stay(observations):
        seen.append(observations)
        return np.zeros(observations.shape[:2], int)

    result = evaluate(MAZE, stay, seeds=3, agents=4, horizon=6)
    agents = rlenvs.make_batch(MAZE, 3, agents=4).observations
    assert seen[0].dtype == np.float32
    assert seen[0].shape == agents.shape
    assert not np.shares_memory(seen[0], seen[1])
    assert result.lengths.tolist() == [6, 6, 6]


@pytest.mark.parametrize("horizon", [6, 50])
def test_the_return_of_a_team_is_the_sum_and_its_success_the_share(horizon):
    result = evaluate(MAZE, "expert", seeds=4, agents=3, horizon=horizon)
    for seed in range(4):
        env = rlenvs.parallel_env(MAZE, agents=3, horizon=horizon)
        env.reset(seed=seed)
        total, reached = 0.0, {}
        while env.agents:
            _, rewards, _, _, infos = env.step(env.expert_actions())
            total += sum(rewards.values())
            reached.update({agent: info["is_success"] for agent, info in infos.items()})
        assert result.returns[seed] == pytest.approx(total)
        assert result.successes[seed] == pytest.approx(sum(reached.values()) / 3)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: evaluate("QuadHovr-v0", "random"), UnknownNameError, "QuadHover"),
        (lambda: evaluate(HOVER, "expart"), UnknownNameError, "'expert'"),
        (lambda: evaluate(HOVER, 3), ParameterError, "function"),
        (lambda: evaluate(HOVER, "random", seeds=0), ParameterError, "seeds=0"),
        (lambda: evaluate(HOVER, "random", seeds=[-1]), ParameterError, "seeds"),
        (lambda: evaluate(HOVER, "idle", seeds=2, max_episode_steps=-1), ParameterError, "without a time limit"),
        (lambda: evaluate(HOVER, "random", seeds=2, mas=1.0), UnknownNameError, "mass"),
        (lambda: evaluate(HOVER, lambda o: np.zeros(3), seeds=2), ActionError, "shape"),
    ],
)
def test_bad_input_is_one_clear_error(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_success_is_that_of_the_last_step():
    """A flight straight up passes the goal, and leaves the room later."""
    level = {"action": "one_d_rpm", "start_spread": 0.0, "goal_spread": 0.0}
    env = rlenvs.make(HOVER, **level)
    env.reset(seed=0)
    flags, over = [], False
    while not over:
        _, _, over, _, info = env.step([1.0])
        flags.append(info["is_success"])
    assert any(flags)
    assert not flags[-1]
    assert evaluate(HOVER, lambda o: np.ones((len(o), 1)), seeds=1, **level).success_rate == 0.0


def test_no_expert_is_said(monkeypatch):
    world = world_of(HOVER)
    monkeypatch.delitem(world.kernels, "expert")
    with pytest.raises(UnknownNameError, match="no scripted expert"):
        check_policy(world, "expert")


def test_scores(monkeypatch):
    world = world_of(HOVER)
    monkeypatch.setattr(world, "scores", {"random": Score(20.0, 1.0), "expert": Score(470.0, 1.0)})
    assert rlenvs.normalized_score(HOVER, 245.0) == 0.5
    monkeypatch.setattr(world, "scores", {"random": Score(20.0, 1.0)})
    with pytest.raises(ParameterError, match="no reference scores"):
        rlenvs.normalized_score(HOVER, 245.0)
    with pytest.raises(ParameterError, match="no scale"):
        scale_score(1.0, 2.0, 2.0)
    rows = reference_scores(HOVER, seeds=3)
    assert list(rows) == ["random", "idle", "expert"]
    assert rows["expert"].mean == evaluate(HOVER, "expert", seeds=3).mean


def test_wrappers_change_what_policies_see_and_the_expert_sees_the_truth():
    from rlenvs.wrappers.wrapper import Wrapper

    class Blind(Wrapper):
        def prepare(self):
            self.allocate("observation", self.observation_space.shape, np.float32)

    def close(policy, **keywords):
        a, b = evaluate(HOVER, policy, 5, wrappers=[Blind()], **keywords), evaluate(HOVER, policy, 5, **keywords)
        return np.allclose(a.returns, b.returns, rtol=1e-6)  # actions are float32 on one team

    assert close("expert", horizon=40)
    assert close("random")
    assert close("idle", horizon=40)
    seen = []
    evaluate(HOVER, lambda o: seen.append(o) or np.zeros((len(o), 4)), seeds=3, horizon=4, wrappers=[Blind()])
    assert len(seen) == 4
    assert not np.any(seen)
    treasure = evaluate("DeepSeaTreasure-v0", "random", seeds=4)
    assert np.array_equal(
        evaluate("DeepSeaTreasure-v0", "random", seeds=4, wrappers=[Wrapper()]).lengths, treasure.lengths
    )


def test_idle_does_nothing():
    def still(observations):
        return np.zeros((len(observations), 4))

    assert evaluate(HOVER, "idle", 4).returns.tolist() == evaluate(HOVER, still, 4).returns.tolist()
    for rules, stop in (("smax", 4), ("smac", 1)):
        batch = rlenvs.make_batch("Battle-v0", 2, backend="python", scenario="3m", rules=rules)
        batch.reset()
        choices = module.chooser(batch, "idle", [0, 1])()
        assert (choices == stop).all()
        assert batch.masks[..., stop].all()


def test_every_cost_is_held_against_its_own_limit():
    result = evaluate(HOVER, "idle", 3, start_spread=0.0, goal_spread=0.0)
    assert result.mean_costs == {"tilt": 0.0, "geofence": 0.0}
    assert result.broken_limits == []
    assert "cost tilt 0 (limit 25), length" in str(result)
    steep = evaluate(HOVER, "idle", 3, start_tilt=0.3, start_rate=3.0, action_range=0.01)
    assert sum(steep.cost_parts.values()).tolist() == steep.costs.tolist()
    assert steep.mean_costs["tilt"] > 0.0
    unsafe = Evaluation(*[np.ones(2)] * 5, {"tilt": np.array([20.0, 40.0]), "geofence": np.zeros(2)}, steep.limits)
    assert unsafe.broken_limits == ["tilt"]
    assert "cost tilt 30 (limit 25), unsafe: tilt, length" in str(unsafe)


def test_costs_of_a_team_are_those_of_an_agent():
    result = evaluate("ParticleSpread-v0", "idle", 5)
    np.testing.assert_allclose(3 * result.cost_parts["contact"], result.costs)
    game = evaluate("ParticleTag-v0", "random", 5, against="pursuit")
    np.testing.assert_allclose(4 * game.cost_parts["collision"], game.costs)
