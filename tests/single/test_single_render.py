"""Images of worlds of one agent: what the task is about is there, is named, and does not hide what else matters."""

import numpy as np
import pytest
from support.scenes import count, is_color, scene_of, world_at_start

import rlenvs
from rlenvs.core.declare.canvas import Canvas
from rlenvs.kits.boards.cards import BACK, SUITS, draw_back, draw_card
from rlenvs.kits.gridworld.cells import EMPTY, GOAL, WALL
from rlenvs.kits.gridworld.render import outside_of
from rlenvs.kits.tables.drawing import number_text, ways_of
from rlenvs.single.tabular import taxi
from rlenvs.single.tabular.blackjack import BEST, hand_of, with_card

# --- tables -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("passenger", range(5))
def test_neither_taxi_nor_passenger_hides_the_other(passenger):
    batch, _, s = world_at_start("Taxi-v0")
    for row, column in taxi.PLACES:
        s.number = taxi.number_of(row, column, passenger, 2)
        scene = scene_of(batch)
        assert count(scene, taxi.YELLOW) > 600
        assert count(scene, taxi.PASSENGER) > 60


@pytest.mark.parametrize("options", [{}, {"level": "five"}, {"level": "thousand"}, {"length": 1}])
def test_both_ends_of_a_walk_show_wherever_the_walker_is(options):
    batch, p, s = world_at_start("RandomWalk-v0", **options)
    for state in (1, p.shown.size // 2, p.shown.size - 2):
        s.number = state
        upper = scene_of(batch)[:130]
        assert count(upper[:, :200], "orange") > 20
        assert count(upper[:, -200:], "orange") > 20
        assert count(upper, "blue") > 100, "no walker"


def test_the_arrows_of_a_state_are_what_its_actions_lead_to():
    env = rlenvs.make("Chain-v0", level="river", backend="python").unwrapped
    env.reset(seed=0)
    p, _ = env.batch.records(0)
    for state in range(env.nS):
        for action in range(env.nA):
            told = [(way.probability, way.state, way.reward, way.end) for way in ways_of(p, state, action)]
            assert np.allclose(told, env.P[state][action])
    assert [number_text(x) for x in (0.5, 1 / 3, 0.35, 1.0, -1.0)] == ["1/2", "1/3", "0.35", "1", "-1"]


def test_the_cards_of_a_hand_have_its_sum():
    for total in range(4, 32):
        for ace in (False, True):
            if ace and not 12 <= total <= BEST:
                continue
            hand, cards = (0, False), hand_of(total, ace)
            for card in sorted(cards, reverse=not ace):
                hand = with_card(hand, card)
            assert len(cards) >= 2
            assert all(1 <= card <= 10 for card in cards)
            assert hand == (total, ace), cards


def test_the_estimate_of_an_arm_is_the_mean_of_what_it_paid():
    batch, _, s = world_at_start("Bandit-v0")
    assert count(scene_of(batch), "orange") == 0
    untouched = count(scene_of(batch), "black")
    s.pulls[0, 3], s.sums[0, 3], s.pulled, s.paid = 4, 4.0 * s.means[0, 3], 4, s.means[0, 3] + 1.0
    scene = scene_of(batch)
    assert count(scene, "black") > untouched + 40
    assert count(scene, "orange") > 40


# --- cards and memory -------------------------------------------------------------------------------------------------


def test_suits_differ_and_a_back_shows_none():
    pictures = []
    for suit in (*SUITS, None):
        canvas = Canvas(framed=False)
        if suit is None:
            draw_back(canvas, 0.5, 0.5, 0.6)
        else:
            draw_card(canvas, 0.5, 0.5, 0.6, "7", suit)
        pictures.append(canvas.pixels())
    for k, one in enumerate(pictures):
        assert all((np.abs(one.astype(int) - other).max(axis=2) > 60).mean() > 0.005 for other in pictures[:k])
    assert count(pictures[-1], BACK) > 5000


@pytest.mark.parametrize("id", ["RepeatFirst-v0", "RepeatPrevious-v0", "NBack-v0"])
def test_what_is_asked_for_is_framed_as_soon_as_there_is_something(id):
    batch, _, _ = world_at_start(id)
    asked = []
    for _ in range(8):
        asked.append(count(scene_of(batch), "orange") > 500)
        batch.step(batch.expert_actions())
    assert asked == sorted(asked)
    assert asked[-1]


def test_bits_fade_when_they_are_out_of_sight():
    batch, _, _ = world_at_start("MemoryLength-v0")
    before = scene_of(batch)[:250]
    for _ in range(3):
        batch.step(batch.expert_actions())
    after = scene_of(batch)[:250]
    assert count(before, "light") < 50
    assert count(after, "light") > 2000


# --- grids ------------------------------------------------------------------------------------------------------------


def test_rooms_fill_the_frame():
    for id in ("MiniGridMultiRoomN2S4-v0", "MiniGridMultiRoomN4S5-v0"):
        for seed in range(3):
            batch, _, _ = world_at_start(id, seed)
            scene = scene_of(batch)
            walls = np.argwhere(is_color(scene, (120, 126, 134)))
            assert (np.ptp(walls, axis=0) / scene.shape[:2]).max() > 0.9


def test_what_lies_outside_of_rooms_is_not_drawn():
    cells = np.full((7, 6), EMPTY)
    assert outside_of(cells).all()
    cells[1:5, 1:5] = WALL
    cells[2:4, 2:4] = EMPTY
    cells[2, 2] = GOAL
    inside = ~outside_of(cells)
    assert inside[1:5, 1:5].all()
    assert inside.sum() == 16


def test_legends_name_a_goal_only_where_there_is_one():
    for id, there in (("MiniGridEmpty5x5-v0", True), ("MiniGridMemoryS7-v0", False)):
        batch, _, _ = world_at_start(id)
        canvas = Canvas()
        batch.world.functions["draw"](canvas, *batch.records(0))
        assert any(label == "goal" for _, label, _ in canvas._legend) == there
