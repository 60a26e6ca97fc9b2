"""Social search: recorded games of SocialNet, the landscape, what agents see of each other, players."""

import itertools

import numpy as np
import pytest
from support.batches import begun
from support.places import DATA

import rlenvs
from rlenvs.core.declare.errors import ParameterError, SnapshotError

SEARCH = "SocialSearch-v0"
RECORDED = np.load(DATA / "social_net.npz")
GAMES = {
    "default": {"agents": 16},
    "published": {"level": "published", "agents": 16},
    "selective": {"level": "selective", "loci": 10, "links": 3, "seen": 5, "sharpness": 4.0},
    "group": {"level": "group", "loci": 8, "links": 0, "seen": 2, "sharpness": 2.0},
}
BASELINES = {"explore": "IndvLearning", "copy": "RandomCopy", "copy_or_explore": "FollowBest_indv"}


def bits_of(solutions, loci):
    """A last axis with the bits of solutions."""
    return np.asarray(solutions)[..., None] >> np.arange(loci) & 1


def worth(state, solutions):
    """The mean contribution of solutions (..., loci), written down from the page: each locus has a row of numbers, and
    the bits that it depends on say which of them counts."""
    total = np.zeros(solutions.shape[:-1])
    for place, row in zip(state["place"], state["worth"], strict=True):
        total += row[(solutions * place).sum(axis=-1)]
    return total / solutions.shape[-1]


def recorded(name):
    return {key.removeprefix(f"{name}_"): array for key, array in RECORDED.items() if key.startswith(f"{name}_")}


def put_landscape(states, links, worth_of_entries):
    """A landscape of the original, or one for each world: the bits of a locus are numbered as there."""
    loci = states["place"].shape[-1]
    states["place"] = ((links[..., None] == np.arange(loci)) << np.arange(links.shape[-1])[:, None]).sum(axis=-2)
    states["worth"] = worth_of_entries
    every = bits_of(np.arange(2**loci), loci)
    states["top"] = [worth(state, every).max() * loci for state in states]


def put_solutions(states, solutions, scores):
    states["solution"] = states["best"] = (solutions.astype(int) << np.arange(solutions.shape[-1])).sum(axis=-1)
    states["score"] = states["best_score"] = scores


@pytest.mark.parametrize("name", GAMES)
def test_recorded_games_are_the_same(name):
    """Each step of the original, from its state: observations, solutions, scores and rewards."""
    game = recorded(name)
    steps, loci = len(game["actions"]), game["actions"].shape[-1]
    batch = begun(SEARCH, steps, **GAMES[name])
    put_landscape(batch.states, game["links"], game["worth"])
    put_solutions(batch.states, game["solutions"][:-1], game["scores"][:-1])
    batch.states["watched"] = game["watched"][:-1]
    batch.recompute_observations()
    seen = game["seen"][:-1]
    theirs = [seen[:, :, 0, : loci + 1], seen[:, :, 1:, :loci].reshape(steps, 16, -1), seen[:, :, 1:, loci]]
    np.testing.assert_allclose(batch.observations, np.concatenate(theirs, axis=2), rtol=1e-6, atol=1e-9)
    batch.step(game["actions"])
    np.testing.assert_array_equal(bits_of(batch.states["solution"], loci), game["solutions"][1:])
    np.testing.assert_allclose(batch.states["score"], game["scores"][1:], rtol=1e-12)
    np.testing.assert_allclose(batch.rewards, game["rewards"], rtol=1e-6)


@pytest.mark.parametrize("player", BASELINES)
def test_players_do_as_the_baselines_of_the_original(player):
    """The mean score in the same landscapes, where solutions that are no better are dropped: as a player tries one bit
    or copies, so does a baseline."""
    played = recorded("baselines")
    theirs = played["means"][list(BASELINES).index(player)]
    count, copies = len(theirs), 8
    batch = begun(SEARCH, count * copies, level="selective", loci=8, links=3)
    put_landscape(batch.states, played["links"].repeat(copies, axis=0), played["worth"].repeat(copies, axis=0))
    dice = np.random.default_rng(0)
    first = dice.integers(2, size=(count * copies, 16, 8))
    put_solutions(batch.states, first, 0.0)
    batch.step(first)
    ours = []
    for _ in range(theirs.shape[1]):
        ours.append(batch.states["score"].reshape(count, copies, 16).mean(axis=(1, 2)))
        batch.step(batch.player_actions(player))
    apart = np.array(ours).T - theirs
    error = apart.std(axis=0, ddof=1) / np.sqrt(count)
    assert (np.abs(apart.mean(axis=0)) < 4 * error).all(), (apart.mean(axis=0), error)


@pytest.mark.parametrize(
    ("keywords", "sharpness"), [({}, 8.0), ({"level": "smooth", "sharpness": 2.0, "loci": 6}, 2.0)]
)
def test_scores_are_those_of_the_model(keywords, sharpness):
    """The mean contribution beside the greatest one, to a power; agents get what they propose."""
    batch = begun(SEARCH, 2, **keywords)
    loci, dice = batch.states["place"].shape[-1], np.random.default_rng(0)
    every = np.array(list(itertools.product((0, 1), repeat=loci)))
    for _ in range(3):
        chosen = dice.integers(2, size=(2, batch.agents, loci))
        batch.step(chosen)
        for world, state in enumerate(batch.states):
            expected = (worth(state, chosen[world]) / worth(state, every).max()) ** sharpness
            np.testing.assert_allclose(batch.rewards[world], expected, rtol=1e-5)
            np.testing.assert_allclose(batch.terms[world, 1], expected.mean(), rtol=1e-5)
            np.testing.assert_array_equal(bits_of(state["solution"], loci), chosen[world])


def test_who_has_the_best_solution_has_a_score_of_1():
    batch = begun(SEARCH, 3)
    every = bits_of(np.arange(2**12), 12)
    best = np.array([every[worth(state, every).argmax()] for state in batch.states])
    chosen = np.repeat(best[:, None], batch.agents, axis=1)
    batch.step(chosen)
    assert (batch.rewards == 1.0).all()
    assert batch.success.all()
    chosen[0, 4, 7] ^= 1
    batch.step(chosen)
    assert batch.rewards[0, 4] < 1.0
    assert batch.success.all(axis=1).tolist() == [False, True, True]


def test_states_that_read_beyond_a_landscape_are_refused():
    batch = begun(SEARCH, links=2)
    batch.states["place"][0, 3, 1] = 2**3
    with pytest.raises(SnapshotError, match=r"place\[3, 1\] = 8, outside \[0, 7\]"):
        batch.set_state(batch.get_state())


def test_landscapes_are_those_of_the_nk_model():
    """Each locus depends on itself and five others, evenly chosen; contributions are uniform in [0, 1]."""
    batch = begun(SEARCH, 60)
    place, found = batch.states["place"], batch.states["worth"]
    assert (np.sort(place, axis=2)[..., -6:] == 2 ** np.arange(6)).all()
    assert (np.sort(place, axis=2)[..., :-6] == 0).all()
    linked = place > 0
    assert linked[:, np.arange(12), np.arange(12)].all()
    share = linked.mean(axis=0)[~np.eye(12, dtype=bool)]
    assert np.abs(share - 5 / 11).max() < 4.5 * np.sqrt(5 / 11 * 6 / 11 / 60)
    assert abs(found.mean() - 0.5) < 4 * np.sqrt(1 / 12 / found.size)
    assert abs(found.var() - 1 / 12) < 4 * np.sqrt(1 / 180 / found.size)


@pytest.mark.parametrize("keywords", [{}, {"level": "ring", "seen": 4}])
def test_agents_see_some_others(keywords):
    """Solutions and scores of different others: any of them as often, or the nearest on a ring."""
    batch = begun(SEARCH, 2, **keywords)
    seen, agents = batch.states["watched"].shape[-1], batch.agents
    counts = np.zeros((agents, agents))
    for _ in range(60):
        batch.step(np.random.default_rng(0).integers(2, size=(2, agents, 12)))
        watched, solutions = batch.states["watched"], bits_of(batch.states["solution"], 12)
        for world, k in itertools.product(range(2), range(agents)):
            others, view = watched[world, k], batch.observations[world, k]
            assert len(set(others) | {k}) == seen + 1
            counts[k, others] += 1
            np.testing.assert_array_equal(view[:12], solutions[world, k])
            np.testing.assert_array_equal(view[13:-seen].reshape(seen, 12), solutions[world, others])
            np.testing.assert_allclose(view[[12, *range(-seen, 0)]], batch.states["score"][world, [k, *others]], 1e-6)
    if seen == 4:
        assert [(np.arange(-2, 3) + k) % agents for k in range(agents)] == [
            pytest.approx(np.array(sorted({k, *row.nonzero()[0]}, key=lambda j, k=k: (j - k + 2) % agents)))
            for k, row in enumerate(counts)
        ]
    else:
        off = counts[~np.eye(agents, dtype=bool)]
        assert np.abs(off - 120 * 3 / 15).max() < 5 * np.sqrt(120 * 0.2 * 0.8)


def test_selective_agents_keep_what_is_better():
    batch = begun(SEARCH, 2, level="selective")
    dice, before = np.random.default_rng(0), batch.states["score"].copy()
    for _ in range(5):
        chosen = dice.integers(2, size=(2, batch.agents, 12))
        kept = bits_of(batch.states["solution"], 12)
        batch.step(chosen)
        after = batch.states["score"]
        assert (after >= before).all()
        taken = (after > before)[..., None]
        np.testing.assert_array_equal(bits_of(batch.states["solution"], 12), np.where(taken, chosen, kept))
        before = after.copy()
    assert taken.any()


def test_the_reward_of_the_group_is_the_same_for_all():
    batch = begun(SEARCH, 2, level="group")
    batch.step(np.random.default_rng(0).integers(2, size=(2, batch.agents, 12)))
    expected = batch.states["score"].mean(axis=1, keepdims=True)
    np.testing.assert_allclose(batch.rewards, np.repeat(expected, batch.agents, axis=1))


def test_players():
    batch = begun(SEARCH, 20)
    for _ in range(5):
        batch.step(batch.player_actions("explore"))
    state = batch.states
    best, score, watched = (state[name] for name in ("best", "best_score", "watched"))
    rows = np.arange(20)[:, None, None]
    scores, solutions = state["score"][rows, watched], state["solution"][rows, watched]
    first = np.take_along_axis(solutions, scores.argmax(axis=2)[..., None], axis=2)[..., 0]
    copied = scores.max(axis=2) > score

    def answers(name):
        return (batch.player_actions(name) << np.arange(12)).sum(axis=-1)

    one_bit = 2 ** np.arange(12)
    assert np.isin(answers("explore") ^ best, one_bit).all()
    np.testing.assert_array_equal(answers("copy"), solutions[..., 0])
    eager = answers("copy_or_explore")
    assert 0.1 < copied.mean() < 0.9
    np.testing.assert_array_equal(eager[copied], first[copied])
    assert np.isin(eager[~copied] ^ best[~copied], one_bit).all()
    np.testing.assert_array_equal(answers("explore_then_copy") ^ best, np.tile(1 << (5 + np.arange(16)) % 12, (20, 1)))
    batch.states["elapsed"] = 36
    np.testing.assert_array_equal(answers("explore_then_copy"), np.where(copied, first, best))


@pytest.mark.parametrize(
    ("keywords", "said"),
    [({"agents": 3}, "seen is less than agents"), ({"loci": 5}, "links are fewer than loci")],
)
def test_sizes_that_do_not_fit_are_refused(keywords, said):
    with pytest.raises(ParameterError, match=said):
        rlenvs.make_batch(SEARCH, 1, **keywords)
