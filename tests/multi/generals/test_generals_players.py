"""Generals-v0: rewards, scripted players, forms, a person who plays."""

import gymnasium
import numpy as np
import pytest
from support.generals_games import (
    DOWN,
    LEFT,
    OPEN,
    PASS,
    RIGHT,
    game,
    make,
    move,
    play,
    put,
    site,
)

import rlenvs
from rlenvs.multi.generals.board import set_owner
from rlenvs.multi.generals.commander import Commander
from rlenvs.multi.generals.generals import SPEC

# --- rewards ----------------------------------------------------------------------------------------------------------


def test_shaping():
    """Five cells and 20 soldiers each; then six cells to five, then 24 soldiers to 20, then far more than counts."""
    ours = {(3, 3): (0, 16), (4, 0): (0, 1), (5, 0): (0, 1), (6, 0): (0, 1)}
    theirs = {(2, 7): (1, 16), (3, 7): (1, 1), (4, 7): (1, 1), (5, 7): (1, 1)}
    batch = game(cells={**ours, **theirs}, reward="shaped")
    weights = dict(zip(SPEC.terms, batch.setup.weights.tolist(), strict=True))
    assert weights == {"win": 1, "army": 0.3, "land": 0.3, "city": 0.4}
    play(batch)
    assert batch.rewards[0].tolist() == [0.0, 0.0]
    play(batch, move(batch, 3, 3, RIGHT))
    land = np.log(6 / 5) / np.log(1.3)
    np.testing.assert_allclose(batch.terms[0, :4], [[0, 0], [0, 0], [land, -land], [0, 0]], atol=1e-12)
    assert batch.rewards[0, 0] == pytest.approx(0.3 * land)
    put(batch, {(4, 0): (0, 5)}, 2)  # with the growth of tick 2: 25 to 21
    play(batch)
    army = np.log(25 / 21) / np.log(1.6)
    np.testing.assert_allclose(batch.terms[0, 1], [army, -army], atol=1e-12)
    put(batch, {(5, 0): (0, 50)}, 3)
    play(batch)
    np.testing.assert_allclose(batch.terms[0, 1], [1 - army, army - 1], atol=1e-12)


def test_cities_count():
    batch = game("A.......\n........\n.0......\n.......B", {(2, 0): (0, 60)}, reward="shaped")
    play(batch, move(batch, 2, 0, RIGHT))
    assert batch.terms[0, 3].tolist() == [1.0, 0.0]


def test_nothing_shapes_the_last_tick():
    batch = game(cells={(6, 6): (0, 9), (2, 2): (1, 7)}, reward="shaped")
    play(batch, move(batch, 6, 6, RIGHT))
    assert batch.terms[0, 1:4].tolist() == [[0, 0]] * 3
    assert batch.rewards[0].tolist() == [1.0, -1.0]


# --- scripted players and forms ---------------------------------------------------------------------------------------


def tournament(first, second, n, **choices):
    """How often each wins, sides swapped half way."""
    wins = np.zeros(2)
    for slots in ((first, second), (second, first)):
        batch = make(n, **choices)
        batch.seed(range(n))
        batch.reset()
        going, won = np.ones(n, bool), np.zeros((n, 2), bool)
        while going.any():
            batch.rollout(batch.player_actions(slots).reshape(n, 1, 2, 1).copy())
            won[going] = batch.success[going]
            going = ~batch.over
        wins += won.sum(axis=0)[[slots.index(first), slots.index(second)]]
    return wins / (2 * n)


def test_expander_beats_random():
    wins = tournament("expander", "random", 200, height=10, width=10)
    assert wins[0] >= 0.95


def test_hunters_beat_expander():
    for name in ("hunter", "harvester"):
        wins = tournament(name, "expander", 60, horizon=500)
        assert wins[0] > 5 * wins[1]


@pytest.mark.parametrize(
    ("beside", "scores"), [(2, {RIGHT: 180, DOWN: 90, LEFT: 9}), (1, {RIGHT: 9, DOWN: 90, LEFT: 9})]
)
def test_expander_draws_in_proportion(beside, scores):
    """An army of 9 between its own general, open ground, and a cell of the enemy (2) or its own (1)."""
    batch = make(4000, board="A...\n....\n....\n...B")
    batch.seed(range(4000))
    batch.reset()
    for i in range(4000):
        p, s = batch.records(i)
        for cell, (owner, army) in {1: (1, 9), 2: (beside, 1)}.items():
            set_owner(p, s, cell, 0)
            s.army[cell] = army
            set_owner(p, s, cell, owner)
    found = batch.player_actions("expander")[:, 0, 0]
    shares = {d: np.mean(found == 1 + d * 16 + 1) for d in scores}
    assert sum(shares.values()) == 1.0
    for d, score in scores.items():
        assert shares[d] == pytest.approx(score / sum(scores.values()), abs=0.02)


def test_random_draws_evenly():
    batch = make(4000, board="A...\n....\n....\n...B")
    batch.seed(range(4000))
    batch.reset()
    for i in range(4000):
        p, s = batch.records(i)
        set_owner(p, s, 1, 0)
        s.army[1] = 9
        set_owner(p, s, 1, 1)
    found = batch.player_actions("random")[:, 0, 0]
    assert np.mean(found == 0) == pytest.approx(0.05, abs=0.015)
    halves = (found - 1) // 16 >= 4
    assert np.mean(halves[found > 0]) == pytest.approx(0.25, abs=0.03)
    for d in (DOWN, LEFT, RIGHT):
        assert np.mean((found > 0) & ((found - 1) % 64 == d * 16 + 1)) == pytest.approx(0.95 / 3, abs=0.03)


@pytest.mark.parametrize("opponent", ["hunter", "harvester", "expander", "random"])
def test_one_player_against_scripted_ones(opponent):
    env = gymnasium.make("rlenvs/Generals-v0", opponent=opponent, players=3, height=9, width=9)
    assert env.unwrapped.batch.agents == 1
    env.reset(seed=3)
    over = False
    while not over:
        _, reward, terminated, truncated, info = env.step(env.unwrapped.expert_action())
        over = terminated or truncated
    assert reward in (-1.0, 0.0, 1.0)
    assert info["is_success"] == (reward == 1.0)


@pytest.mark.filterwarnings("ignore::UserWarning:pettingzoo.test")  # masks need a Dict
@pytest.mark.filterwarnings("ignore:.*reset ignores the options")
def test_pettingzoo():
    from pettingzoo.test import api_test, parallel_api_test

    for choices in ({}, {"players": 4, "teams": 2, "build": True}, {"players": 3}):
        parallel_api_test(rlenvs.parallel_env("Generals-v0", height=6, width=7, distance=3.0, **choices), 60)
        api_test(rlenvs.aec_env("Generals-v0", height=6, width=7, distance=3.0, **choices), 30)


def test_players_leave_when_their_general_falls():
    env = rlenvs.parallel_env("Generals-v0", players=4, height=8, width=8, distance=4.0)
    env.reset(seed=1)
    left = [len(env.agents)]
    total = dict.fromkeys(env.possible_agents, 0.0)
    while env.agents:
        orders = {
            **env.player_actions("random"),
            **{k: v for k, v in env.player_actions("hunter").items() if k == "agent_0"},
        }
        _, rewards, *_ = env.step(orders)
        for agent, reward in rewards.items():
            total[agent] += reward
        left.append(len(env.agents))
    assert sorted(set(left)) == sorted(set(left) | {4, 0})
    assert sorted(total.values()) == [-1.0, -1.0, -1.0, 1.0]


def test_sides():
    assert list(SPEC.teams(make(players=4, teams=2).setup.values)) == [0, 0, 1, 1]
    assert list(SPEC.teams(make(players=3).setup.values)) == [0, 1, 2]
    assert list(SPEC.teams(make(players=3, opponent="hunter").setup.values)) == [0]


def test_text_and_image():
    batch = game("A.#.\n.3..\n....\n...B", {(0, 1): (0, 5)}, opponent="hunter")
    p, s = batch.records(0)
    assert SPEC.functions["text"](p, s).split("\n")[0].split() == ["A1", "a5", "#", "~"]
    assert SPEC.functions["text"](p, s).split("\n")[3].split() == ["~"] * 4
    assert "B1" in SPEC.functions["text"](*game("A.#.\n.3..\n....\n...B").records(0))
    env = gymnasium.make("rlenvs/Generals-v0", render_mode="rgb_array")
    env.reset(seed=0)
    image = env.render()
    assert image.shape == (512, 512, 3)
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 20


# --- a person ---------------------------------------------------------------------------------------------------------


def test_keys():
    batch = game("A.......\n........\n........\n.......B", {(0, 0): (0, 9)}, build=True, opponent="random")
    p, s = batch.records(0)
    hand = Commander(batch.setup.values)
    assert hand.press([], p, s) == PASS
    assert hand.press(["right", "down"], p, s) == move(batch, 0, 0, RIGHT)
    assert hand.mark == (1, 1)
    assert hand.press([], p, s) == move(batch, 0, 1, DOWN)
    assert hand.press(["space", "left", "left", "left", "b"], p, s) == move(batch, 1, 1, LEFT, 1)
    assert hand.press([], p, s) == site(batch, 1, 0)  # it did not leave the board
    hand.press(["d", "d", "down", "down", "q"], p, s)
    assert not hand.orders
    assert hand.mark == (3, 2)
    hand.begin()
    assert hand.press(["s"], p, s) == PASS
    assert hand.mark == (1, 0)


def test_the_window():
    import pygame

    from rlenvs.play import Game, key_table

    assert ("arrows", "send the army of the marked cell") in key_table("Generals-v0")
    lines = []
    play_it = Game("Generals-v0", report=lines.append, opponent="random", board=OPEN, horizon=3)
    pygame.display.init()
    for key in (pygame.K_RIGHT, pygame.K_RIGHT):
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=key))
    for _ in range(3):
        play_it._listen(pygame)
        play_it._advance()
    assert lines
    assert "step 3 of 3" in lines[0]
    assert play_it.hand.mark == (0, 2)
    pygame.display.quit()
