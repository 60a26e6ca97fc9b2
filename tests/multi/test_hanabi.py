"""Hanabi: recorded games of the learning environment and of JaxMARL, the numbers of the rules, and the players."""

from pathlib import Path

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import rlenvs
from rlenvs.core.declare.errors import ParameterError, SnapshotError

DATA = Path(__file__).parent.parent / "data"
LEARNING_ENVIRONMENT = np.load(DATA / "hanabi_learning_environment.npz")
JAXMARL = np.load(DATA / "jaxmarl_cooperation.npz")
KNOWLEDGE = ("none", "possible", "seer")  # by the learning environment's observation_type
COPIES = (3, 2, 2, 2, 1)


def begun(worlds=1, **choices):
    batch = rlenvs.make_batch("Hanabi-v0", worlds, autoreset=AutoresetMode.DISABLED, **choices)
    batch.seed(range(worlds))
    batch.reset()
    return batch


def put_deck(batch, deck):
    """Begin with a deck; cards that a recorded game did not draw follow in any order."""
    s, (players, hand) = batch.states[0], batch.states["hand"].shape[1:]
    left = list(s["deck"])
    for card in deck:
        left.remove(card)
    s["deck"] = [*deck, *left]
    s["hand"] = np.reshape(deck[: players * hand], (players, hand))
    if batch.setup.values.knowledge == "seer":
        s["open_colors"], s["open_ranks"] = 1 << s["hand"] // batch.setup.sizes["ranks"], 1 << s["hand"] % 5
    batch.sync_from_state(np.zeros(1, np.int64))


def play(batch, action):
    batch.actions[0, :, 0] = 0
    batch.actions[0, int(batch.states["turn"][0]), 0] = action
    batch.step_inplace()


def recorded(archive, game):
    return {name.partition("_")[2]: archive[name] for name in archive.files if name.startswith(f"{game}_")}


@pytest.mark.parametrize("game", range(int(LEARNING_ENVIRONMENT["games"])))
def test_games_of_the_learning_environment(game):
    """All observations, allowed moves and rewards, and what its SimpleAgent would do."""
    found = recorded(LEARNING_ENVIRONMENT, f"game{game}")
    players, colors, ranks, hand, hints, lives, seen = found["options"].tolist()
    batch = begun(
        players=players, colors=colors, ranks=ranks, hand=hand, hints=hints, lives=lives, knowledge=KNOWLEDGE[seen]
    )
    put_deck(batch, found["deck"])
    length = batch.observations.shape[-1]
    assert found["observed"].shape[1] == players
    for step in range(len(found["actions"]) + 1):
        expected = np.unpackbits(found["observed"][step], axis=1)[:, :length]
        np.testing.assert_array_equal(batch.observations[0], expected, err_msg=f"move {step}")
        mover = int(batch.states["turn"][0])
        assert bool(batch.terminated[0].all()) == (step == len(found["actions"])) == (mover < 0)
        if mover < 0:
            break
        np.testing.assert_array_equal(batch.masks[0, mover], found["legal"][step, mover])
        others = np.arange(players) != mover
        assert not found["legal"][step, others].any()
        assert (batch.masks[0, others] == (np.arange(batch.masks.shape[-1]) == 0)).all()
        if seen:
            batch.player_actions("simple")
            assert batch.actions[0, mover, 0] == found["simple"][step]
        play(batch, found["actions"][step])
        assert batch.rewards[0].tolist() == [found["rewards"][step]] * players


@pytest.mark.parametrize("game", range(len(JAXMARL["players"])))
def test_games_of_jaxmarl(game):
    """The same with the V0 belief, in which JaxMARL's quotients may end on another last bit; JaxMARL has one move more,
    with which waiting players wait."""
    players, found = int(JAXMARL["players"][game]), recorded(JAXMARL, f"hanabi{game}")
    batch = begun(players=players, level="belief")
    put_deck(batch, found["deck"])
    for step, observed in enumerate(found["observed"]):
        np.testing.assert_array_max_ulp(batch.observations[0], observed, 1)
        mover = int(batch.states["turn"][0])
        if step == len(found["actions"]):
            assert batch.terminated.all()
            break
        np.testing.assert_array_equal(batch.masks[0, mover], found["legal"][step, mover, :-1])
        play(batch, found["actions"][step])
        assert batch.rewards[0].tolist() == [found["rewards"][step]] * players


def test_rated_observations_say_what_cards_are_worth():
    """The belief, then of each card how likely it can be placed now, never, and is the last that is needed, and, of
    cards that are seen, whether it is so."""
    batch, plain = begun(worlds=8, knowledge="rated"), begun(worlds=8, knowledge="belief")
    copies = np.tile(COPIES, 5)
    for _ in range(40):
        for each in (batch, plain):
            each.player_actions("convention")
            each.step_inplace(~each.over)
        s = batch.states
        rows = batch.observations[:, :, -410:].reshape(8, 2, 2, 5, 41)
        kinds = rows[..., :25].astype(float)
        np.testing.assert_array_equal(rows[..., :35], plain.observations[:, :, -350:].reshape(8, 2, 2, 5, 35))
        on_top = s["firework"][:, :, None] == np.arange(5)
        placed = s["firework"][:, :, None] > np.arange(5)
        gone = (s["discarded"] == copies).reshape(8, 5, 5) & ~placed
        below = np.cumsum(gone, axis=2) - gone > 0
        useless = placed | below
        last = (s["discarded"] == copies - 1).reshape(8, 5, 5) & ~useless
        for place, worth in enumerate((on_top, useless, last)):
            worth = worth.reshape(8, 25)
            likely = np.einsum("wojhk,wk->wojh", kinds, worth)
            np.testing.assert_allclose(rows[..., 35 + place], likely, atol=1e-6)
            for world, observer in np.ndindex(8, 2):
                held = s["hand"][world, 1 - observer]
                seen = np.where(held >= 0, worth[world][held], 0)
                np.testing.assert_array_equal(rows[world, observer, 1, :, 38 + place], seen)
                assert not rows[world, observer, 0, :, 38 + place].any(), "nobody sees its own cards"


def test_the_numbers_of_the_game():
    """50 cards, 5 in a hand of two and three players and 4 of more, 8 hint tokens, 3 lives, 20 moves, 658 numbers."""
    batch = begun()
    s, blocks = batch.states[0], batch.setup.sizes
    assert np.bincount(s["deck"]).tolist() == [*COPIES] * 5
    assert (s["hints"], s["lives"], blocks["choices"]) == (8, 3, 20)
    assert [begun(players=n).states["hand"].shape[2] for n in (2, 3, 4, 5)] == [5, 5, 4, 4]
    dtype = batch.setup.dtypes["observation"]
    sizes = {name: dtype[name].itemsize // 4 for name in dtype.names}
    assert sizes["hands"] + sizes["missing"] == 127
    assert sizes["deck"] + sizes["fireworks"] + sizes["hints"] + sizes["lives"] == 76
    assert (sizes["deck"], sizes["discards"], sizes["knowledge"]) == (40, 50, 350)
    assert sum(size for name, size in sizes.items() if name.startswith("last")) == 55
    assert batch.observations.shape == (1, 2, 658)


@pytest.mark.parametrize(("level", "numbers"), [("small", (2, 2, 3, 1, 20)), ("very_small", (1, 2, 3, 1, 10))])
def test_the_small_games_of_the_learning_environment(level, numbers):
    """Colors, cards in a hand, hint tokens, lives, cards."""
    sizes = begun(level=level).setup.sizes
    assert tuple(sizes[name] for name in ("colors", "hand", "hints", "lives", "deck")) == numbers


def bomb(**choices):
    """Place one card, then misplay until the end; the rewards of the first player."""
    batch, rewards = begun(colors=1, ranks=3, hand=2, hints=1, **choices), []
    put_deck(batch, [0, 2, 1, 0, 0, 1])  # the first player plays 1 of 3, the second and the first then wrong ones
    for action in (2, 3, 2, 2):
        play(batch, action)
        rewards.append(float(batch.rewards[0, 0]))
        if batch.terminated[0, 0]:
            break
    return batch, rewards


def test_bombing_loses_the_score_or_keeps_it():
    batch, rewards = bomb(lives=2)
    assert rewards == [1.0, 0.0, -1.0]
    assert batch.terms[0, :, 0].tolist() == [0.0, -1.0]
    batch, rewards = bomb(lives=2, bombing="keeps")
    assert rewards == [1.0, 0.0, 0.0]
    assert batch.terms[0, :, 0].tolist() == [0.0, -1.0]
    assert batch.terminated.all()
    assert not batch.success.any()


def test_a_forbidden_move_costs_a_life():
    batch = begun()
    before = batch.states.copy()
    play(batch, 0)  # a discard while all hint tokens are there
    assert batch.states["lives"][0] == 2
    assert batch.states["turn"][0] == 1
    for name in ("hand", "deck", "hints", "firework", "discarded"):
        np.testing.assert_array_equal(batch.states[name], before[name])


def test_complete_fireworks_end_the_game_with_success():
    batch = begun(colors=1, ranks=2, hand=1)
    put_deck(batch, [0, 1, 0, 0])
    play(batch, 1)
    assert not batch.terminated.any()
    play(batch, 1)
    assert batch.terminated.all()
    assert batch.success.all()
    assert batch.states["firework"][0].tolist() == [2]


def test_the_game_ends_when_all_have_moved_after_the_last_card():
    """Ten discards of cards that are drawn from a deck of ten, then a move of each player."""
    batch = begun(colors=1, hand=2, players=3, hints=1, lives=10)
    moves = 0
    while not batch.terminated[0, 0]:
        mover = int(batch.states["turn"][0])
        empty = batch.states["dealt"][0] == 10
        hint = np.flatnonzero(batch.masks[0, mover, 4:])
        play(batch, 4 + hint[0] if len(hint) else 0)
        moves += empty
    assert moves == 3


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"players": 5, "colors": 1}, "the deck has a card for each place"),
        ({"players": 6}, r"integer in \[2, 5\]"),
        ({"players": 2, "colors": 1, "ranks": 1, "hand": 2}, "the deck has a card for each place"),
    ],
)
def test_games_that_cannot_be_dealt_are_refused(choices, words):
    with pytest.raises(ParameterError, match=words):
        rlenvs.make_batch("Hanabi-v0", 1, **choices)


# --- players ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("player", "players", "score"),
    [("convention", 2, 21.91), ("convention", 5, 20.47), ("simple", 2, 3.38), ("random", 2, 1.26)],
)
def test_mean_scores_are_those_of_the_page(player, players, score):
    """Within four standard errors, on other decks than those of the page."""
    batch = begun(100, players=players)
    batch.seed(range(10_000, 10_100))
    batch.reset()
    while not batch.over.all():
        batch.player_actions(player)
        batch.step_inplace(~batch.over)
    placed = batch.states["firework"].sum(axis=1)
    assert abs(placed.mean() - score) < 4 * placed.std() / 10


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: s["hand"].__setitem__((0, 0), (s["hand"][0, 0] + 1) % 25), "a card is missing, or in two places"),
        (lambda s: s["firework"].__setitem__(0, s["firework"][0] + 1), "a card is missing, or in two places"),
        (lambda s: s["discarded"].__setitem__(4, 1), "a card is missing, or in two places"),
        (lambda s: s["deck"].__setitem__(49, (s["deck"][49] + 1) % 25), "other cards than the game"),
    ],
)
def test_states_with_other_cards_are_refused(change, words):
    """From them probabilities of cards would follow that are below 0."""
    batch = begun(knowledge="belief")
    while not batch.over.any():  # states of a game are all possible
        batch.set_state(batch.get_state())
        batch.player_actions("random")
        batch.step_inplace()
    batch.reset()
    change(batch.states[0])
    with pytest.raises(SnapshotError, match=words):
        batch.set_state(batch.get_state())


@pytest.mark.parametrize("players", [2, 4])
def test_players_see_what_their_agents_see(players):
    """Other cards in the own hand and in the deck, by all hints, change nothing of what a player does."""
    batch, dice = begun(64, players=players), np.random.default_rng(0)
    changed = 0
    for _ in range(30):
        batch.player_actions("convention")
        chosen, states = batch.actions.copy(), batch.states.copy()
        for s in batch.states:
            changed += exchange(s, int(s["turn"]), dice)
        batch.player_actions("convention")
        np.testing.assert_array_equal(batch.actions, chosen)
        batch.player_actions("simple")
        simple = batch.actions.copy()
        batch.states[:] = states
        batch.player_actions("simple")
        np.testing.assert_array_equal(batch.actions, simple)
        batch.actions[:] = chosen
        batch.step_inplace(~batch.over)
    assert changed > 500


def exchange(s, k, dice):
    """Exchange a card of player k with one of the deck that it can be, too; whether there was one."""
    slot, place = int(dice.integers(s["hand"].shape[1])), int(dice.integers(s["dealt"], len(s["deck"]) + 1))
    if k < 0 or place == len(s["deck"]) or s["hand"][k, slot] < 0:
        return False
    other = int(s["deck"][place])
    if not (s["open_colors"][k, slot] >> other // 5) & (s["open_ranks"][k, slot] >> other % 5) & 1:
        return False
    s["deck"][place], s["hand"][k, slot] = s["hand"][k, slot], other
    return other != s["deck"][place]


def test_cross_play_is_that_of_the_page():
    """Within four standard errors of both: who does not know a convention cannot play it."""
    told = rlenvs.cross_play("Hanabi-v0", games=100, seed=10_000, level="keeps")
    page = {("convention", "convention"): 21.4, ("convention", "simple"): 3.4, ("simple", "convention"): 4.3}
    for (first, other), score in page.items():
        mean, half_width = told.pair(first, other)
        assert abs(mean - score) < 4 * 2**0.5 * half_width / 1.96
    assert told.players[0] == "convention"
