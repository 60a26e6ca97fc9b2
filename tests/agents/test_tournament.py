import itertools
import json
import math
import zipfile

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import high_numbers, tug_of_war
from typer.testing import CliRunner

import rlenvs
from rlenvs.agents.matches import Match
from rlenvs.agents.ratings import MEAN, SCALE, elo, wilson
from rlenvs.agents.tournament import _slot_orders
from rlenvs.cli import app
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue.registry import Entry, catalogue
from rlenvs.core.declare.errors import ActionError, ParameterError, UnknownKeywordError, UnknownNameError

ID, TUG = "HighNumbers-v0", "TugOfWar-v0"


@pytest.fixture(autouse=True)
def ids(monkeypatch):
    """The worlds of these tests under ids, for the time of one test."""
    for name, module in ((ID, high_numbers), (TUG, tug_of_war)):
        row = Entry(f"rlenvs/{name}", f"{module.__name__}:SPEC", ("multi-agent",))
        monkeypatch.setitem(catalogue, row.id, row)


def highest(observations, masks, rng):
    return np.argmax(masks * np.arange(1, 6), axis=1)


# --- ratings ----------------------------------------------------------------------------------------------------------


def test_two_players_have_the_closed_form():
    ratings, half_widths = elo(np.array([[0, 75], [25, 0]]), np.zeros((2, 2)))
    difference = 400 * math.log10(75.5 / 25.5)  # with the drawn game of the prior
    assert ratings == pytest.approx([MEAN + difference / 2, MEAN - difference / 2])
    share = 75.5 / 101
    of_difference = 1.959964 * SCALE / math.sqrt(101 * share * (1 - share))
    assert half_widths == pytest.approx([of_difference / 2] * 2)


def test_draws_count_as_half_a_win():
    won = elo(np.array([[0, 50], [30, 0]]), np.zeros((2, 2)))
    drawn = elo(np.array([[0, 30], [10, 0]]), np.array([[0, 40], [40, 0]]))
    np.testing.assert_allclose(won, drawn)


def test_four_hundred_points_are_odds_of_ten_to_one():
    ratings, _ = elo(np.array([[0, 100_000], [10_000, 0]]), np.zeros((2, 2)))
    assert ratings[0] - ratings[1] == pytest.approx(400, abs=0.1)


@settings(max_examples=60)
@given(st.lists(st.integers(0, 2000), min_size=12, max_size=12))
def test_ratings_expect_what_was_scored(numbers):
    """The equation of the maximum, for any results: expected points equal points, the prior's games included."""
    wins = np.zeros((4, 4), np.int64)
    wins[~np.eye(4, dtype=bool)] = numbers
    if (np.triu(wins + wins.T)[np.triu_indices(4, 1)] == 0).any():
        return
    ratings, half_widths = elo(wins, np.zeros((4, 4), np.int64))
    prior = ~np.eye(4, dtype=bool)
    games = wins + wins.T + prior
    expected = games / (1 + 10 ** ((ratings[None, :] - ratings[:, None]) / 400))
    np.testing.assert_allclose(expected.sum(axis=1), (wins + prior / 2).sum(axis=1), rtol=1e-6)
    assert ratings.mean() == pytest.approx(MEAN)
    assert (half_widths > 0).all()


def test_whoever_wins_all_has_a_finite_rating_and_a_wide_interval():
    wins = np.zeros((6, 6))
    wins[np.triu_indices(6, 1)] = 10_000
    ratings, half_widths = elo(wins, np.zeros((6, 6)))
    assert np.isfinite(ratings).all()
    assert (np.diff(ratings) < -1000).all()
    assert half_widths.max() > 150


def test_intervals_hold_the_truth_in_95_of_100_cases():
    truth = np.array([150.0, 60.0, -40.0, -170.0])
    share = 1 / (1 + 10 ** ((truth[None, :] - truth[:, None]) / 400))
    generator = np.random.default_rng(0)
    inside = []
    for _ in range(400):
        wins = np.triu(generator.binomial(60, share), 1)
        wins = wins + np.tril(60 - wins.T, -1)
        ratings, half_widths = elo(wins, np.zeros((4, 4)))
        inside.append(np.abs(ratings - MEAN - truth) < half_widths)
    assert np.mean(inside) == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize(
    ("count", "total", "interval"),
    [(10, 10, (0.7225, 1.0)), (0, 10, (0.0, 0.2775)), (50, 100, (0.4038, 0.5962)), (0, 0, (0.0, 1.0))],
)
def test_wilson(count, total, interval):
    assert wilson(count, total) == pytest.approx(interval, abs=5e-5)


# --- who meets whom ---------------------------------------------------------------------------------------------------


def test_every_pair_plays_from_both_teams():
    assert _slot_orders(["a", "b", "c"], 2) == [("a", "b"), ("b", "a"), ("a", "c"), ("c", "a"), ("b", "c"), ("c", "b")]


@pytest.mark.parametrize(("players", "teams"), [(4, 3), (3, 3), (2, 3), (3, 4), (2, 4), (2, 8)])
def test_every_player_sits_in_every_slot_equally_often(players, teams):
    names = [f"p{i}" for i in range(players)]
    slot_orders = _slot_orders(names, teams)
    for name, slot in itertools.product(names, range(teams)):
        assert sum(slots[slot] == name for slots in slot_orders) == len(slot_orders) / players
    for slots in slot_orders:
        assert len(set(slots)) == min(players, teams)


# --- tournaments ------------------------------------------------------------------------------------------------------


def test_known_results():
    result = rlenvs.tournament(ID, games=40)
    assert result.players[0] == "high"
    assert result.players[-1] == "low"
    assert set(result.players) == {"high", "low", "any", "random"}
    assert result.choices == {"opponent": "self"}
    played = result.wins + result.wins.T + result.draws
    assert (played[~np.eye(4, dtype=bool)] == 40).all()
    assert (np.diag(played) == 0).all()
    assert (result.wins[0, 1:] == 40).all()
    assert result.win_rate("high", "low") == (1.0, *wilson(40, 40))
    assert result.win_rate("high") == (1.0, *wilson(120, 120))
    assert (np.diff(result.elo) < 0).all()
    with pytest.raises(UnknownNameError, match="'high'"):
        result.win_rate("hihg")


def test_an_advantage_of_a_slot_cancels():
    """With 17 points at the start the first team wins whoever sits there, and both players win half of their games."""
    result = rlenvs.tournament(ID, ["low", "high"], games=20, start=17)
    assert result.wins.tolist() == [[0, 10], [10, 0]]
    assert result.elo == pytest.approx([MEAN, MEAN])


def test_the_last_step_decides():
    """One leads after the first round, the other in the end."""

    def starter(observations, masks, rng):
        return np.where(observations[:, :2].any(axis=1), 0, 4)

    def finisher(observations, masks, rng):
        return np.where(observations[:, :2].any(axis=1), 4, 0)

    result = rlenvs.tournament(ID, {"starter": starter, "finisher": finisher}, games=10)
    assert result.players == ("finisher", "starter")
    assert result.wins.tolist() == [[0, 10], [0, 0]]


def test_nobodys_success_is_a_draw():
    result = rlenvs.tournament(ID, {"one": "high", "two": "high"}, games=10)
    assert result.draws.tolist() == [[0, 10], [10, 0]]
    assert not result.wins.any()


@pytest.mark.parametrize("choices", [{}, {"mates": 2}, {"slots": 3, "knockout": True}])
def test_results_depend_on_no_order_and_no_threads(choices):
    def drawing(observations, masks, rng):
        return rng.integers(5, size=len(observations))

    given = {"high": "high", "any": "any", "random": "random", "drawing": drawing}
    first = rlenvs.tournament(ID, given, games=30, seed=3, **choices)
    second = rlenvs.tournament(ID, dict(reversed(given.items())), games=30, seed=3, threads=2, **choices)
    assert first.to_dict() == second.to_dict()
    if "slots" not in choices:
        pair = rlenvs.tournament(ID, {"random": "random", "any": "any"}, games=30, seed=3, **choices)
        i, j = (first.players.index(name) for name in pair.players)
        assert pair.wins[0, 1] == first.wins[i, j]
        assert pair.draws[0, 1] == first.draws[i, j]


@pytest.mark.parametrize("players", [("any", "low"), ("random", "random"), ("random", "any")])
@pytest.mark.parametrize("knockout", [False, True])  # True: games of different lengths
def test_a_game_does_not_depend_on_those_beside_it(players, knockout):
    named = dict(zip(("a", "b"), players, strict=True))

    def places(count, seed):
        batch = KernelBatch(high_numbers.SPEC, count, opponent="self", knockout=knockout)
        return Match(batch, ("a", "b"), named, seed).play()

    many = places(20, 5)
    np.testing.assert_array_equal(many[:3], places(3, 5))
    np.testing.assert_array_equal(many[7:9], places(2, 12))
    assert len(np.unique(many, axis=0)) > 1


def test_random_choices_are_legal_and_uniform():
    batch = KernelBatch(high_numbers.SPEC, 2000, opponent="self")
    match = Match(batch, ("a", "b"), {"a": "random", "b": "random"}, 0)
    match._act()
    chosen = batch.actions[:, :, 0]
    assert np.take_along_axis(batch.masks, batch.actions, axis=2).all()
    for forbidden in range(4):
        counts = np.bincount(chosen[batch.masks[:, 0, forbidden] == 0].ravel(), minlength=5)
        assert counts[forbidden] == 0
        np.testing.assert_allclose(np.delete(counts, forbidden) / counts.sum(), 0.25, atol=0.06)
    assert np.corrcoef(chosen.T)[0, 1] == pytest.approx(0, abs=0.06)


def test_random_numbers_fill_the_box():
    pulls = []

    def spy(observations, masks, rng):
        assert masks is None
        pulls.append(observations[:, 1].copy())
        return np.zeros((len(observations), 2))

    rlenvs.tournament(TUG, {"spy": spy, "random": "random"}, games=100)
    theirs = np.concatenate(pulls[1:])
    assert theirs.min() < -0.9
    assert theirs.max() > 0.9
    assert abs(theirs.mean()) < 0.1


def test_functions_see_those_of_their_agents_that_play():
    shapes = set()

    def policy(observations, masks, rng):
        shapes.add((observations.shape[1:], masks.shape[1:]))
        assert len(observations) == len(masks) <= 20
        assert masks.dtype == np.int8
        return highest(observations, masks, rng)

    result = rlenvs.tournament(ID, {"mine": policy, "low": "low"}, games=20, mates=2)
    assert shapes == {((5,), (5,))}
    assert result.wins.tolist() == [[0, 20], [0, 0]]


def test_functions_are_not_asked_about_games_that_are_through():
    asked = []

    def policy(observations, masks, rng):
        asked.append(len(observations))
        return highest(observations, masks, rng)

    rlenvs.tournament(ID, {"mine": policy, "any": "any"}, games=40, knockout=True)
    rounds = np.array(asked[: len(asked) // 2])  # of the first line-up
    assert rounds[0] == 20
    assert (np.diff(rounds) <= 0).all()
    assert rounds[-1] < 20


def test_roles_are_asked_one_by_one():
    seen = set()

    def pull(observations, masks, rng):
        size = 2 if observations.shape[1] == 3 else 1
        seen.add((observations.shape[1], size))
        return np.ones((len(observations), size))

    rlenvs.tournament(TUG, {"one": pull, "two": pull}, games=4, handicap=True)
    assert seen == {(3, 2), (2, 1)}


def test_more_than_two_teams_are_ranked_by_how_long_they_live():
    """The lowest leaves after each round: high wins, and low is the first to leave."""
    result = rlenvs.tournament(ID, ["high", "any", "low"], games=30, slots=3, knockout=True)
    assert result.teams == 3
    assert result.players == ("high", "any", "low")
    assert (result.wins[0] + result.draws[0] == [0, 30, 30]).all()
    assert result.wins[0, 2] == 30
    assert result.wins[1, 2] + result.draws[1, 2] == 30
    assert result.wins[1, 2] > 10


def test_two_players_in_four_slots():
    result = rlenvs.tournament(ID, ["high", "low"], games=8, slots=4)
    assert result.games == 8
    # two slots of each: four pairs of slots a game, and the two high ones share the first place without a success
    assert result.wins[0, 1] + result.draws[0, 1] == 32


def test_games_are_rounded_up_to_whole_rotations():
    assert rlenvs.tournament(ID, ["high", "low"], games=3).games == 4
    assert rlenvs.tournament(ID, ["high", "low", "any"], games=100, slots=3).games == 102


def test_many_games_go_in_several_batches(monkeypatch):
    whole = rlenvs.tournament(ID, ["any", "random"], games=30)
    monkeypatch.setattr("rlenvs.agents.tournament.AT_ONCE", 4)
    assert rlenvs.tournament(ID, ["any", "random"], games=30).to_dict() == whole.to_dict()


def test_keywords_whose_names_are_taken():
    made = rlenvs.tournament(ID, ["high", "low"], games=2, make={"mates": 2})
    assert made.to_dict() == rlenvs.tournament(ID, ["high", "low"], games=2, mates=2).to_dict()


def test_json_and_text(tmp_path):
    result = rlenvs.tournament(ID, ["high", "low"], games=10, seed=7)
    result.save(tmp_path / "result.json")
    loaded = json.loads((tmp_path / "result.json").read_text())
    assert loaded == result.to_dict()
    assert loaded["id"] == "rlenvs/HighNumbers-v0"
    assert loaded["seed"] == 7
    assert loaded["players"][0]["name"] == "high"
    assert loaded["players"][0]["wins"] == loaded["players"][1]["losses"] == 10
    assert loaded["pairs"] == [
        {
            "players": ["high", "low"],
            "wins": 10,
            "draws": 0,
            "losses": 0,
            "win_rate": 1.0,
            "win_rate_interval": list(wilson(10, 10)),
        }
    ]
    assert "10 games per pair, seeds from 7" in str(result)
    assert str(result).splitlines()[-2:] == [
        "high  1764 ± 246  100.0 % (72.2 - 100.0)          10-0-0",
        "low   1236 ± 246      0.0 % (0.0 - 27.8)  0-0-10",
    ]


# --- learnt players ---------------------------------------------------------------------------------------------------


def untrained(algorithm, observed, action):
    import gymnasium

    class Form(gymnasium.Env):
        observation_space, action_space = observed, action

        def reset(self, *, seed=None, options=None):
            return self.observation_space.sample(), {}

        def step(self, action):
            return self.observation_space.sample(), 0.0, False, False, {}

    return algorithm("MlpPolicy", Form(), device="cpu")


BOX = spaces.Box(np.zeros(3, np.float32), np.array([100, 100, 4], np.float32))


@pytest.mark.parametrize("algorithm", ["PPO", "A2C", "DQN"])
def test_saved_models_of_choices(algorithm, tmp_path):
    sb3 = pytest.importorskip("stable_baselines3")
    model = untrained(getattr(sb3, algorithm), BOX, spaces.Discrete(5))
    model.save(tmp_path / "learnt.zip")
    saved = rlenvs.tournament(ID, {"learnt": tmp_path / "learnt.zip", "low": "low"}, games=10)
    direct = rlenvs.tournament(ID, {"learnt": model, "low": "low"}, games=10)
    assert saved.to_dict() == direct.to_dict()


@pytest.mark.parametrize("algorithm", ["SAC", "TD3", "PPO"])
def test_saved_models_of_numbers(algorithm, tmp_path):
    sb3 = pytest.importorskip("stable_baselines3")
    box = spaces.Box(-1, 1, (3,), np.float32)
    untrained(getattr(sb3, algorithm), box, spaces.Box(-1, 1, (2,), np.float32)).save(tmp_path / "learnt.zip")
    result = rlenvs.tournament(TUG, {"learnt": str(tmp_path / "learnt.zip"), "random": "random"}, games=10)
    assert (result.wins + result.wins.T + result.draws)[0, 1] == 10


def test_masked_ppo_gets_the_masks():
    class MaskablePPO:  # as sb3-contrib's, which need not be installed
        observation_space, action_space = BOX, spaces.Discrete(5)

        def predict(self, observations, deterministic, action_masks):
            return highest(observations, action_masks, None), None

    result = rlenvs.tournament(ID, {"masked": MaskablePPO(), "low": "low"}, games=10)
    assert result.wins[0, 1] == 10


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("players", "words"),
    [
        (["high"], "at least two, of different names"),
        (["high", "high"], "at least two, of different names"),
        ({}, "at least two"),
        ("high", "sequence of names"),
        ([highest, highest], "sequence of names"),
        (["high", "lwo"], "'low'"),
        ({"high": "high", "x": 3}, "no player 3"),
        (["high", "missing.zip"], "the file 'missing.zip' cannot be read"),
    ],
)
def test_bad_players(players, words):
    with pytest.raises((ParameterError, UnknownNameError), match=words):
        rlenvs.tournament(ID, players, games=2)


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"games": 0}, "games=0 must be"),
        ({"games": 2.5}, "games=2.5 must be"),
        ({"seed": -1}, "seed=-1 must be"),
        ({"opponent": "random"}, "choose opponent='self'"),
    ],
)
def test_bad_choices(keywords, words):
    with pytest.raises(ParameterError, match=words):
        rlenvs.tournament(ID, ["high", "low"], **keywords)


def test_worlds_without_teams_and_unknown_ids():
    with pytest.raises(ParameterError, match="all agents are on one team"):
        rlenvs.tournament("PathFinding-v0", {"a": highest, "b": highest})
    with pytest.raises(UnknownNameError, match="HighNumbers"):
        rlenvs.tournament("HighNumber-v0")
    with pytest.raises(UnknownKeywordError, match="'mates'"):
        rlenvs.tournament(ID, mate=2)


@pytest.mark.parametrize(
    ("id", "actions", "words"),
    [
        (ID, lambda n: np.full(n, 5), "'bad' chose 5, which is not one of 0 ... 4"),
        (ID, lambda n: np.full(n, -1), "'bad' chose -1"),
        (ID, lambda n: np.zeros(n), "'bad' returned actions of shape .* float64; needed: integers"),
        (ID, lambda n: np.zeros((n, 1), int), "'bad' returned actions of shape"),
        (ID, lambda n: 3, "'bad' returned actions of shape"),
        (TUG, lambda n: np.zeros((n, 3)), r"'bad' returned actions of shape .* of shape \(5, 2\)"),
        (TUG, lambda n: np.full((n, 2), np.nan), "none of them NaN"),
    ],
)
def test_bad_actions_name_the_player(id, actions, words):
    with pytest.raises(ActionError, match=words):
        rlenvs.tournament(id, {"bad": lambda o, m, rng: actions(len(o)), "random": "random"}, games=10)


def test_files_that_are_no_models(tmp_path):
    (tmp_path / "a.zip").write_text("nothing")
    with pytest.raises(ParameterError, match="is not a model saved by"):
        rlenvs.tournament(ID, {"a": tmp_path / "a.zip", "low": "low"})
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:  # as far as it was written
        archive.writestr("data", json.dumps({"policy_class": {"__module__": "stable_baselines3.common.policies"}}))
    with pytest.raises(ParameterError, match=r"b.zip' cannot be loaded: KeyError.*observation_space"):
        rlenvs.tournament(ID, {"b": tmp_path / "b.zip", "low": "low"})


def test_models_for_other_spaces(tmp_path):
    sb3 = pytest.importorskip("stable_baselines3")
    model = untrained(sb3.PPO, BOX, spaces.Discrete(4))
    with pytest.raises(ParameterError, match=r"'learnt' was trained for .*Discrete.4"):
        rlenvs.tournament(ID, {"learnt": model, "low": "low"})


# --- the command line -------------------------------------------------------------------------------------------------


def run(*arguments):
    return CliRunner().invoke(app, ["tournament", *map(str, arguments)], env={"COLUMNS": "120", "NO_COLOR": "1"})


def test_command(tmp_path):
    file = tmp_path / "result.json"
    done = run(ID, "high", "low", "--games", 10, "--set", "mates=2", "--seed", 4, "-o", file)
    assert done.exit_code == 0, done.output
    expected = rlenvs.tournament(ID, ["high", "low"], games=10, seed=4, mates=2)
    assert str(expected) in done.stdout
    assert json.loads(file.read_text()) == expected.to_dict()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((ID, "high", "hgih"), "no player 'hgih'"),
        ((ID, "high", "high"), "two players are named 'high'"),
        ((ID, "high"), "at least two"),
        ((ID, "high", "low", "--set", "opponent=random"), "opponent='self'"),
        ((ID, "high", "mine=missing.zip"), "the file 'missing.zip' cannot be read"),
    ],
)
def test_command_refuses_in_one_line(arguments, words):
    done = run(*arguments)
    assert done.exit_code == 2
    assert words in done.stderr
    assert done.stderr.strip().count("\n") == 0
