"""Constrained problems on which Lagrangian learners go round: optima, best responses, last and average policies."""

import numpy as np
import pytest

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.single.tabular.cost_paradox import ARMS_LIMIT, CATCH_LIMIT, SPEC, TOLL_LIMIT

STEPS = {None: 9, "arms": 100, "toll": 100}
LIMITS = {None: CATCH_LIMIT, "arms": ARMS_LIMIT, "toll": TOLL_LIMIT}
# by hand: balls at the border in one of four cases; 30 risky pulls; 12 trips of 2 steps and 76 / 3 around
OPTIMA = {None: 0.4, "arms": 30.0, "toll": 112.0 / 3.0}
MULTIPLIERS = {None: 1.0, "arms": 1.0, "toll": 1.0 / 3.0}
LEVELS = list(LIMITS)


def model(level):
    return rlenvs.make("CostParadox-v0", level=level, backend="python").unwrapped.model


def worth(exact, policy):
    """Return and cost of a deterministic policy (steps, states)."""
    share, gained = exact.start, np.zeros(2)
    states = np.arange(len(share))
    for actions in policy:
        gained += share @ np.stack([exact.R, exact.costs[:, :, 0]], axis=-1)[states, actions]
        share = sum(matrix.T @ (share * (actions == a)) for a, matrix in enumerate(exact.P))
    return gained


@pytest.mark.parametrize("level", LEVELS)
def test_best_within_the_limit_is_the_bound_and_spends_all_of_it(level):
    env = rlenvs.make("CostParadox-v0", level=level, backend="python")
    best, spent, multipliers, _ = rlenvs.solve_constrained(env, STEPS[level])
    assert best == pytest.approx(OPTIMA[level], abs=1e-9)
    assert spent == pytest.approx(LIMITS[level], abs=1e-9)
    assert multipliers == pytest.approx(MULTIPLIERS[level], abs=1e-9)
    world = SPEC.level(level) if level else SPEC
    assert world.scores["bound"].mean == pytest.approx(best, abs=0.005)
    assert world.costs["risk"].limit == LIMITS[level]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("side", [-0.01, 0.01])
def test_best_responses_jump_over_the_limit(level, side):
    """A little below the multiplier the best policy breaks the limit, a little above it is worth less than what is
    allowed: whoever alternates between the two never stays at the optimum."""
    exact = model(level)
    penalised = exact._replace(R=exact.R - (MULTIPLIERS[level] + side) * exact.costs[:, :, 0])
    gained, spent = worth(exact, rlenvs.solve_mdp(penalised, horizon=STEPS[level]).policy)
    if side < 0.0:
        assert spent > 1.5 * LIMITS[level]
    else:
        assert spent < 0.7 * LIMITS[level]
        assert gained < OPTIMA[level] - 0.1


@pytest.mark.parametrize("level", ["arms", "toll"])
def test_no_deterministic_policy_of_the_state_is_the_best(level):
    exact = model(level)
    for actions in np.ndindex((exact.R.shape[1],) * len(exact.start)):
        gained, spent = worth(exact, np.tile(actions, (STEPS[level], 1)))
        assert spent > LIMITS[level] or gained < OPTIMA[level] - 1.0


def test_no_set_of_balls_that_are_always_caught_is_the_best():
    moves = np.array([2, 1, 0, 1, 2])
    values = []
    for caught in np.ndindex((2,) * 5):
        if np.mean(moves * caught) <= CATCH_LIMIT:
            values.append(np.mean(2.0 * np.array(caught) - 1.0))
    assert max(values) == pytest.approx(0.2)  # what the expert does


def test_constrained_values_follow_by_playing_the_policy():
    """The policy of the linear program in 20 000 episodes of catch."""
    policy = rlenvs.solve_constrained("CostParadox-v0", 9).policy
    envs = rlenvs.make_vec("CostParadox-v0", 20_000, autoreset_mode="DISABLED")
    states, _ = envs.reset(seed=0)
    draw, gained, spent = np.random.default_rng(0), 0.0, 0.0
    for step in range(9):
        actions = (draw.random((20_000, 1)) > policy[step, states].cumsum(axis=1)).sum(axis=1)
        states, rewards, *_, info = envs.step(actions)
        gained, spent = gained + rewards.mean(), spent + info["cost"].mean()
    assert (gained, spent) == pytest.approx((0.4, 0.6), abs=0.03)


def test_constrained_solver_refuses_what_it_cannot_do():
    exact = model("arms")
    assert rlenvs.solve_constrained(exact, 10, [2.5]).start_value == pytest.approx(2.5)
    with pytest.raises(ParameterError, match="no policy satisfies them"):
        rlenvs.solve_constrained(exact, 10, [-1.0])
    with pytest.raises(ParameterError, match="one for each cost"):
        rlenvs.solve_constrained(exact, 10, [1.0, 2.0])
    with pytest.raises(ParameterError, match="a Model needs explicit limits"):
        rlenvs.solve_constrained(exact, 10)
    with pytest.raises(ParameterError, match="use solve"):
        rlenvs.solve_constrained("TwoStates-v0", 10)
    with pytest.raises(ParameterError, match="horizon=0 must be a positive integer"):
        rlenvs.solve_constrained(exact, 0, [1.0])


def test_last_policies_of_gradient_descent_ascent_circle_and_optimistic_ones_arrive():
    """Policy by exponentiated gradients, multiplier by gradients, of exact values of the arms, per step."""
    exact = model("arms")
    rewards, costs, limit, rate = exact.R[0], exact.costs[0, :, 0], ARMS_LIMIT / 100, 0.1

    def gap(policy):
        return abs(policy @ rewards - limit) + max(policy @ costs - limit, 0.0)

    def learn(optimism):
        scores, multiplier = np.zeros(2), 0.0
        before, gaps, policies = (np.zeros(2), 0.0), [], []
        for _ in range(20_000):
            policy = np.exp(scores - scores.max())
            policy /= policy.sum()
            now = rewards - multiplier * costs, policy @ costs - limit
            scores += rate * ((1 + optimism) * now[0] - optimism * before[0])
            multiplier = max(multiplier + rate * ((1 + optimism) * now[1] - optimism * before[1]), 0.0)
            before = now
            gaps.append(gap(policy))
            policies.append(policy)
        return gaps, gap(np.mean(policies, axis=0))

    circling, average = learn(0.0)
    assert max(circling[-1000:]) > 0.5, "the last policies swing"
    assert average < 0.01, "their average does not"
    arriving, _ = learn(1.0)
    assert max(arriving[-1000:]) < 1e-6


@pytest.mark.parametrize(("level", "gained", "spent"), [("arms", 30.0, 30.0), ("toll", 37.0, 12.0)])
def test_expert_keeps_the_limit(level, gained, spent):
    env = rlenvs.make("CostParadox-v0", level=level, backend="python")
    env.reset(seed=0)
    total = np.zeros(2)
    over = False
    while not over:
        _, reward, ended, cut, info = env.step(env.unwrapped.expert_action())
        total += reward, info["cost"]
        over = ended or cut
    assert total.tolist() == [gained, spent]


def test_steps_are_those_of_the_model():
    """Catch: rewards, costs and next states of random moves, from a ball in each column."""
    env = rlenvs.make("CostParadox-v0", backend="python")
    exact = env.unwrapped.model
    balls = set()
    for seed in range(30):
        state, _ = env.reset(seed=seed)
        balls.add(state // 5)
        env.action_space.seed(seed)
        for step in range(9):
            action = env.action_space.sample()
            after, reward, ended, _, info = env.step(action)
            assert reward == exact.R[state, action]
            assert info["cost"] == exact.costs[state, action, 0] == (action != 1)
            assert ended == (step == 8)
            if not ended:
                assert exact.P[action].toarray()[state, after] == 1.0
            state = after
    assert balls == set(range(5))
