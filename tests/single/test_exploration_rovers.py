"""Mars rovers: a team on one map."""

import numpy as np
import pytest

import rlenvs

DOWN, UP, RIGHT, LEFT, STAY = range(5)
NAME = "MarsRovers-v0"


def make(**keywords):
    env = rlenvs.parallel_env(NAME, obstacles=0, **keywords)
    env.reset(seed=0)
    return env


def step(env, *moves):
    return env.step(dict(zip(env.possible_agents, moves, strict=True)))


def maps(env, observations):
    return [observations[agent]["observation"][..., 0] for agent in env.possible_agents]


def test_all_see_what_one_sees():
    env = make(agents=2)
    observations, *_ = step(env, STAY, RIGHT)
    first, second = maps(env, observations)
    assert np.array_equal(first > 0, second > 0)
    assert first[0, 0] == np.float32(0.6)
    assert np.count_nonzero(first == np.float32(0.8)) == np.count_nonzero(second == np.float32(0.8)) == 1


def test_new_cells_are_paid_to_who_sees_them_first():
    env = make(agents=2)
    s = env.unwrapped.batch.records(0)[1]
    before = int(s.seen)
    _, rewards, _, _, infos = step(env, STAY, DOWN)
    one, two = env.possible_agents
    assert rewards[one] == pytest.approx(-0.2)
    assert rewards[two] == pytest.approx(int(s.seen) - before - 0.2)
    assert infos[one]["reward_explored"] == pytest.approx(int(s.seen) / 441)


def test_a_single_rover_explores_as_mars_explorer_does():
    """On the same terrain the first look is that of the card."""
    assert int(make(agents=1).unwrapped.batch.records(0)[1].seen) == 39


@pytest.mark.parametrize(("collisions", "over"), [("cost", False), ("end", True)])
def test_bumping_into_each_other_and_the_border(collisions, over):
    for moves, bumps in (((UP, STAY), (1.0, 0.0)), ((RIGHT, STAY), None)):
        env = make(agents=2, collisions=collisions)
        s = env.unwrapped.batch.records(0)[1]
        if bumps is None:  # the second rover is beside the first, below or to its right
            beside = int(s.cell[1] - s.cell[0])
            moves, bumps = ((RIGHT, STAY) if beside == 1 else (DOWN, STAY)), (1.0, 0.0)
        cells = s.cell.copy()
        _, rewards, terminated, _, infos = step(env, *moves)
        one, two = env.possible_agents
        assert (infos[one]["cost"], infos[two]["cost"]) == bumps
        assert rewards[one] == pytest.approx(-10.2)
        assert (terminated[one], terminated[two]) == (over, False)
        assert np.array_equal(s.cell, cells)


def test_the_bonus_goes_to_all():
    env = rlenvs.parallel_env(NAME, agents=2, threshold=0.1)
    env.reset(seed=0)
    totals = {}
    while env.agents:
        _, rewards, terminated, _, infos = env.step(env.unwrapped.expert_actions())
        totals = rewards
    assert all(terminated.values())
    assert all(info["is_success"] for info in infos.values())
    assert min(totals.values()) > 390


def test_more_rovers_are_faster_and_never_collide():
    lengths = []
    for agents in (1, 2, 4):
        result = rlenvs.evaluate(NAME, "expert", seeds=range(30), agents=agents)
        assert result.success_rate == 1.0
        assert sum(result.mean_costs.values()) == 0.0
        lengths.append(result.mean_length)
    assert lengths[0] > 1.4 * lengths[1] > 1.4 * 1.3 * lengths[2]


def test_crowded_maps_are_safe():
    env = rlenvs.parallel_env(NAME, agents=16, height=5, width=5, row_margin=0, column_margin=0, obstacles=40)
    for seed in range(20):
        env.reset(seed=seed)
        p, s = env.unwrapped.batch.records(0)
        assert (p.home[s.cell] == s.cell).all()
        env.step(env.unwrapped.expert_actions())
