"""Curricula: which context comes next, on problems whose right answer is known."""

import itertools
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.curricula import MBTL, PrioritizedLevelReplay, SPaCE, curriculum_from, gaussian_process
from rlenvs.wrappers.curriculum import Curriculum, OneContext, RandomContexts, RoundRobin, normals, uniforms
from rlenvs.wrappers.distributions import ADR, SelfPaced, normal_kl

STREAMS = np.random.default_rng(0).integers(1, 2**63, 20_000).astype(np.uint64)
FIRST = np.ones(len(STREAMS), np.uint64)


def begun(curriculum, count):
    curriculum.begin(count)
    return curriculum


def told(curriculum, ids, returns, successes=None):
    returns = np.array(returns, np.float64)
    ids = np.array(ids)
    contexts = curriculum.values(ids, STREAMS[: len(ids)], FIRST[: len(ids)]) if curriculum.names else ids[:, None]
    curriculum.report(ids, contexts, returns, returns if successes is None else np.array(successes, np.float64))


# --- chance -----------------------------------------------------------------------------------------------------------


def test_draws_have_the_moments_of_their_distributions():
    u, n = uniforms(STREAMS, FIRST, 0), normals(STREAMS, FIRST, 0)
    assert abs(u.mean() - 0.5) < 4 / math.sqrt(12 * len(u))
    assert abs(u.var() - 1 / 12) < 0.002
    assert abs(n.mean()) < 4 / math.sqrt(len(n))
    assert abs(n.std() - 1.0) < 4 / math.sqrt(2 * len(n))
    assert abs(np.corrcoef(u, uniforms(STREAMS, FIRST, 1))[0, 1]) < 4 / math.sqrt(len(u))
    assert abs(np.corrcoef(u, uniforms(STREAMS, 2 * FIRST, 0))[0, 1]) < 4 / math.sqrt(len(u))


def test_draws_do_not_depend_on_the_other_worlds():
    assert uniforms(STREAMS[5:6], FIRST[:1], 3)[0] == uniforms(STREAMS, FIRST, 3)[5]
    assert normals(STREAMS[5:6], FIRST[:1], 3)[0] == normals(STREAMS, FIRST, 3)[5]


# --- baselines --------------------------------------------------------------------------------------------------------


def test_random_contexts_are_equally_frequent():
    counts = np.bincount(begun(RandomContexts(), 5).choose(STREAMS, FIRST), minlength=5)
    assert len(counts) == 5
    assert (abs(counts - 4000) < 4 * math.sqrt(4000 * 0.8)).all()


def test_round_robin_counts_episodes():
    for offset in (0, 2):
        curriculum = begun(RoundRobin(offset), 3)
        seen = [curriculum.choose(STREAMS[:2], np.full(2, e, np.uint64)).tolist() for e in range(1, 5)]
        assert seen == [[(offset + e) % 3] * 2 for e in range(4)]


def test_round_robin_can_begin_where_the_seed_says():
    curriculum = begun(RoundRobin("seed"), 4)
    first = curriculum.choose(STREAMS, FIRST)
    assert (abs(np.bincount(first) - 5000) < 4 * math.sqrt(5000 * 0.75)).all()
    assert (curriculum.choose(STREAMS, 2 * FIRST) == (first + 1) % 4).all()


def test_one_context_is_always_the_same():
    assert (begun(OneContext(2), 3).choose(STREAMS[:9], FIRST[:9]) == 2).all()


# --- SPaCE ------------------------------------------------------------------------------------------------------------


def test_the_set_grows_when_the_relative_change_of_its_mean_value_is_at_most_eta():
    for change, size in ((1.0 / 0.91, 2), (1.0 / 0.89, 1), (1.0 / 1.09, 2), (1.0 / 1.11, 1)):
        curriculum = begun(SPaCE(eta=0.1), 3)  # |v2 - v1| / |v2| is 0.09 or 0.11
        curriculum.update([1.0, 0.0, 0.0])
        curriculum.update([change, 0.0, 0.0])
        assert curriculum.size == size, change


def test_negative_values_and_the_first_update():
    curriculum = begun(SPaCE(eta=0.1), 3)
    curriculum.update([-1.0, -9.0, -9.0])
    assert curriculum.size == 1  # there is no change yet
    curriculum.update([-1.05, -9.0, -9.0])
    assert curriculum.size == 2
    flipped = begun(SPaCE(eta=0.1), 3)
    flipped.update([-1.0, -9.0, -9.0])
    flipped.update([1.0, -9.0, -9.0])
    assert flipped.size == 1  # from -1 to 1 is a change of 2


def test_kappa_contexts_are_added_and_no_more_than_there_are():
    curriculum = begun(SPaCE(kappa=4, first=2), 7)
    sizes = []
    for _ in range(4):
        curriculum.update(np.ones(7))
        sizes.append(curriculum.size)
    assert sizes == [2, 6, 7, 7]


def test_contexts_are_ordered_by_the_improvement_of_their_value():
    curriculum = begun(SPaCE(first=2), 4)
    curriculum.update([0.0, 3.0, 1.0, 2.0])
    assert curriculum.order.tolist() == [1, 3, 2, 0]
    curriculum.update([1.5, 3.5, 2.0, 1.0])  # better by 1.5, 0.5, 1, -1
    assert curriculum.order.tolist() == [0, 2, 1, 3]
    assert curriculum.active.tolist() == [0, 2]
    assert set(curriculum.choose(STREAMS, FIRST).tolist()) == {0, 2}


def test_the_mean_is_over_the_set_alone():
    curriculum = begun(SPaCE(), 2)
    curriculum.update([1.0, 0.0])
    curriculum.update([1.0, 50.0])  # only context 0 was in the set
    assert curriculum.size == 2


def test_returns_can_stand_in_for_values():
    curriculum = begun(SPaCE(every=2), 3)
    told(curriculum, [0], [4.0])
    assert curriculum.last_mean is None
    told(curriculum, [0], [5.0])
    assert (curriculum.last_mean, curriculum.size) == (5.0, 1)
    told(curriculum, [0, 0], [9.0, 5.1])
    assert curriculum.size == 2
    assert curriculum.active.tolist() == [0, 1]


def test_a_learner_that_masters_one_context_after_the_other_gets_all_of_them():
    curriculum, skill = begun(SPaCE(eta=0.05), 6), np.zeros(6)
    for _ in range(200):
        skill[curriculum.active] += 0.3 * (1.0 - skill[curriculum.active])
        curriculum.update(skill)
    assert curriculum.size == 6
    assert skill.min() > 0.99


# --- PLR --------------------------------------------------------------------------------------------------------------


def test_replay_probabilities_follow_ranks_and_staleness():
    curriculum = begun(PrioritizedLevelReplay(temperature=0.5, staleness=0.25), 3)
    curriculum.score([0, 1, 2], [0.1, 7.0, 0.5])
    ranks = np.array([3.0, 1.0, 2.0]) ** -2.0
    assert np.allclose(curriculum.probabilities(), ranks / ranks.sum())  # nothing is stale yet
    curriculum.stale[:] = [0, 3, 1]
    wanted = 0.75 * ranks / ranks.sum() + 0.25 * np.array([0.0, 0.75, 0.25])
    assert np.allclose(curriculum.probabilities(), wanted)


def test_defaults_are_those_for_procgen():
    curriculum = PrioritizedLevelReplay()
    assert (curriculum.temperature, curriculum.staleness) == (0.1, 0.1)


def test_choices_have_the_replay_probabilities():
    curriculum = begun(PrioritizedLevelReplay(temperature=1.0, staleness=0.0), 4)
    curriculum.score(range(4), [4.0, 3.0, 2.0, 1.0])
    share = np.bincount(curriculum.choose(STREAMS, FIRST), minlength=4) / len(STREAMS)
    wanted = np.array([1.0, 1 / 2, 1 / 3, 1 / 4]) / (25 / 12)
    assert abs(share - wanted).max() < 4 * 0.5 / math.sqrt(len(STREAMS))


def test_contexts_without_a_score_come_first():
    curriculum = begun(PrioritizedLevelReplay(), 4)
    curriculum.score([0, 2], [1.0, 1.0])
    assert set(curriculum.choose(STREAMS, FIRST).tolist()) == {1, 3}
    early = begun(PrioritizedLevelReplay(seen=0.5, staleness=0.0), 4)
    early.score([0, 2], [1.0, 1.0])
    share = np.isin(early.choose(STREAMS, FIRST), [0, 2]).mean()
    assert abs(share - 0.5) < 4 * 0.5 / math.sqrt(len(STREAMS))


def test_staleness_counts_choices_since_the_last_one():
    curriculum = begun(PrioritizedLevelReplay(), 3)
    ids = [int(curriculum.choose(STREAMS[i : i + 1], FIRST[:1])[0]) for i in range(6)]
    wanted = [6 - (max(j for j, chosen in enumerate(ids) if chosen == i) + 1) if i in ids else 6 for i in range(3)]
    assert curriculum.stale.tolist() == wanted


def test_scores_of_returns_are_their_changes():
    curriculum = begun(PrioritizedLevelReplay(smoothing=0.5), 2)
    told(curriculum, [0, 0], [4.0, 1.0])
    assert curriculum.scores[0] == 0.5 * (0.5 * 4.0) + 0.5 * 3.0
    silent = begun(PrioritizedLevelReplay(by="score"), 2)
    told(silent, [0], [4.0])
    assert not silent.met.any()


# --- MBTL -------------------------------------------------------------------------------------------------------------


def test_gaussian_process_of_one_sample_has_its_closed_form():
    x, y = np.array([2.0]), np.array([0.8])
    mean, std = gaussian_process(x, y, np.array([2.0, 12.0, 202.0]), 0.1)
    c = 0.8**2 - 0.1**2  # the variance that makes y most likely
    pull = np.exp(-0.5 * np.array([0.0, 0.1, 2.0]) ** 2)  # length 100, since the sample says nothing about it
    assert np.allclose(mean, pull * c / (c + 0.01) * 0.8, atol=0.002)
    assert np.allclose(std, np.sqrt(c - (c * pull) ** 2 / (c + 0.01)), atol=0.04)


def test_gaussian_process_maximises_the_likelihood_and_interpolates():
    x = np.linspace(0.0, 10.0, 9)
    y = np.sin(0.6 * x)
    at = np.linspace(0.0, 10.0, 50)
    mean, std = gaussian_process(x, y, at, 0.01)
    assert abs(mean - np.sin(0.6 * at)).max() < 0.02
    assert std.max() < 0.1
    far = gaussian_process(x, y, np.array([1e4]), 0.01)
    assert abs(far[0][0]) < 1e-6


def test_the_first_source_is_the_middle():
    assert begun(MBTL(), 9).source == 4
    assert begun(MBTL(), 10).source == 4  # (0 + 9) / 2 = 4.5: the lower one
    assert (begun(MBTL(), 9).choose(STREAMS[:5], FIRST[:5]) == 4).all()


def test_the_acquisition_is_the_mean_gain_of_the_optimistic_prediction():
    curriculum, x = begun(MBTL(slope=0.02, noise=0.1), 11), np.arange(11.0)
    curriculum.update(0.9)
    second = curriculum.source
    curriculum.update(np.full(11, 0.4))
    own = np.array([0.9, 0.4])
    mean, std = gaussian_process(np.array([5.0, float(second)]), own, x, 0.1)
    best = np.maximum(0.9 - 0.02 * abs(x - 5), 0.4)
    wanted = [
        np.mean([max(mean[i] + math.sqrt(math.log(3)) * std[i] - 0.02 * abs(i - j) - best[j], 0.0) for j in range(11)])
        for i in range(11)
    ]
    assert np.allclose(curriculum.acquisition(), wanted)
    wanted[5] = wanted[second] = -1.0
    assert curriculum.source == int(np.argmax(wanted))
    assert curriculum.policies.tolist() == [5 if 0.9 - 0.02 * abs(j - 5) >= 0.4 else second for j in range(11)]


def transfer(count, slope, peak):
    """Performances by source and target: training is easy near a peak, and transfer falls linearly."""
    x = np.arange(float(count))
    return (1.0 - 0.3 * abs(x - peak) / count)[:, None] - slope * abs(x[:, None] - x[None, :])


@pytest.mark.parametrize("peak", [0, 12, 20])
def test_few_sources_reach_what_exhaustive_training_reaches(peak):
    matrix, curriculum = transfer(25, 0.01, peak), begun(MBTL(slope=0.01), 25)
    oracle = matrix.max(axis=0).mean()
    regret = []
    for _ in range(8):
        curriculum.update(matrix[curriculum.source])
        regret.append(oracle - curriculum.best.mean())
    assert len(set(curriculum.sources)) == 8
    assert all(later <= earlier + 1e-12 for earlier, later in itertools.pairwise(regret))
    rng = np.random.default_rng(1)
    chance = [oracle - matrix[rng.choice(25, 8, replace=False)].max(axis=0).mean() for _ in range(500)]
    assert regret[-1] <= np.median(chance)
    assert regret[-1] < 0.015


@pytest.mark.parametrize(
    ("own", "factor"),
    [(lambda x: 1.0 + 0.0 * x, 1.0), (lambda x: 1.0 - 0.01 * x, 1.03), (lambda x: 0.8 + 0.2 * np.sin(x / 4), 2.5)],
)
def test_three_sources_are_compared_with_the_best_three(own, factor):
    x = np.arange(25.0)
    matrix, curriculum = own(x)[:, None] - 0.05 * abs(x[:, None] - x[None, :]), begun(MBTL(slope=0.05), 25)
    for _ in range(3):
        curriculum.update(matrix[curriculum.source])
    oracle = matrix.max(axis=0).mean()
    regret = np.array([oracle - matrix[list(s)].max(axis=0).mean() for s in itertools.combinations(range(25), 3)])
    assert oracle - curriculum.best.mean() <= factor * regret.min() + 1e-9
    assert oracle - curriculum.best.mean() < np.quantile(regret, 0.3)


def test_when_all_are_trained_there_is_nothing_to_choose():
    curriculum = begun(MBTL(), 3)
    for _ in range(3):
        curriculum.update(0.5)
    assert sorted(curriculum.sources) == [0, 1, 2]
    with pytest.raises(ParameterError, match="all 3 contexts"):
        curriculum.update(0.5)


# --- ADR --------------------------------------------------------------------------------------------------------------

DISC = {"start": {"mass": [1.0, 2.0], "drag": [0.5, 0.5]}, "step": {"mass": 0.25, "drag": 0.1}}


def test_bounds_move_by_the_rule():
    curriculum = begun(ADR(**DISC, low=0.25, high=0.75, buffer=3), 0)
    told(curriculum, [1, 1], [1, 1])
    assert curriculum.bounds[0].tolist() == [1.0, 2.0]  # two of three
    told(curriculum, [1], [0.25])
    assert curriculum.bounds[0].tolist() == [1.0, 2.25]  # mean 0.75: outwards
    told(curriculum, [1, 1, 1], [0.5, 0.5, 0.5])
    assert curriculum.bounds[0].tolist() == [1.0, 2.25]  # between the thresholds
    told(curriculum, [1, 1, 1], [0.25, 0.25, 0.25])
    assert curriculum.bounds[0].tolist() == [1.0, 2.0]  # inwards
    told(curriculum, [1, 1, 1], [0, 0, 0])
    assert curriculum.bounds[0].tolist() == [1.0, 2.0]  # not beyond the start
    told(curriculum, [0, 0, 0, 2, 2, 2], [1, 1, 1, 1, 1, 1])
    assert np.allclose(curriculum.bounds, [[0.75, 2.0], [0.4, 0.5]])
    told(curriculum, [-1] * 9, [1] * 9)
    assert np.allclose(curriculum.bounds, [[0.75, 2.0], [0.4, 0.5]])  # episodes inside say nothing


def test_bounds_stay_within_limits():
    curriculum = begun(ADR(**DISC, limits={"mass": [0.9, 2.4]}, buffer=1), 0)
    curriculum.fit({"mass": (0.1, 9.0), "drag": (0.45, 0.55)})
    for _ in range(5):
        told(curriculum, [0, 1, 2, 3], [1, 1, 1, 1])
    assert np.allclose(curriculum.bounds, [[0.9, 2.4], [0.45, 0.55]])


def test_half_of_the_episodes_stand_at_a_bound_and_the_others_are_uniform():
    curriculum = begun(ADR(**DISC), 0)
    assert (curriculum.boundary, curriculum.buffer) == (0.5, 240)
    ids = curriculum.choose(STREAMS, FIRST)
    values = curriculum.values(ids, STREAMS, FIRST)
    counts = np.bincount(ids + 1, minlength=5)
    assert abs(counts[0] - 10_000) < 4 * math.sqrt(5000)
    assert (abs(counts[1:] - 2500) < 4 * math.sqrt(2500)).all()
    assert (values[ids == 0, 0] == 1.0).all()
    assert (values[ids == 1, 0] == 2.0).all()
    inside = values[ids != 0, 0]
    inside = inside[inside < 2.0]
    assert abs(inside.mean() - 1.5) < 4 / math.sqrt(12 * len(inside))
    assert abs(inside.var() - 1 / 12) < 0.004
    assert (values[:, 1] == 0.5).all()


def test_measure_is_success_or_return():
    for measure, moved in (("success", False), ("return", True)):
        curriculum = begun(ADR(**DISC, measure=measure, buffer=1), 0)
        told(curriculum, [1], [100.0], [0.5])
        assert bool(curriculum.bounds[0, 1] == 2.25) is moved


@given(st.lists(st.tuples(st.integers(-1, 3), st.floats(0, 1)), max_size=60))
def test_ranges_always_hold_their_start(reports):
    curriculum = begun(ADR(**DISC, buffer=2), 0)
    curriculum.fit({"mass": (0.5, 2.5), "drag": (0.2, 0.6)})
    for i, performance in reports:
        told(curriculum, [i], [performance])
    (a, b), (c, d) = curriculum.bounds
    assert 0.5 <= a <= 1.0
    assert 2.0 <= b <= 2.5
    assert 0.2 <= c <= 0.5 <= d <= 0.6


# --- SPDL -------------------------------------------------------------------------------------------------------------

WAY = {"start": {"gate": [0.0, 2.0], "width": [4.0, 1.0]}, "target": {"gate": [3.0, 0.1], "width": [0.5, 0.2]}}


def drawn(curriculum, episode, count=400):
    return curriculum.values(np.full(count, -1), STREAMS[:count], np.full(count, episode, np.uint64))


def test_kl_of_normal_distributions():
    one, two = np.array([0.3]), np.array([1.0])
    x = np.linspace(-12.0, 12.0, 200_001)
    p = np.exp(-0.5 * ((x - 0.3) / 0.7) ** 2) / 0.7
    q = np.exp(-0.5 * ((x - 1.0) / 1.5) ** 2) / 1.5
    wanted = np.sum(p * np.log(p / q)) / p.sum()
    assert normal_kl(one, np.array([0.7]), two, np.array([1.5])) == pytest.approx(wanted, rel=1e-6)


def test_draws_are_normal_and_within_limits():
    curriculum = begun(SelfPaced(**WAY), 0)
    x = drawn(curriculum, 1, 20_000)
    assert (abs(x.mean(axis=0) - [0.0, 4.0]) < 4 * np.array([2.0, 1.0]) / math.sqrt(20_000)).all()
    assert (abs(x.std(axis=0) - [2.0, 1.0]) < 4 * np.array([2.0, 1.0]) / math.sqrt(40_000)).all()
    curriculum.fit({"gate": (-4.0, 4.0), "width": (0.5, 8.0)})
    x = drawn(curriculum, 1, 20_000)
    assert (x.min(axis=0).tolist(), x.max(axis=0).tolist()) == ([-4.0, 0.5], [4.0, x[:, 1].max()])


def test_the_gradient_is_that_of_the_objective():
    curriculum = begun(SelfPaced(**WAY), 0)
    c, v = drawn(curriculum, 1, 50), np.linspace(0.0, 3.0, 50)
    by_mean, by_log = curriculum.gradient(c, v, 0.3)
    for j, h in enumerate(np.eye(2) * 1e-5):
        ends = [curriculum.objective(curriculum.mean + s * h, curriculum.std, c, v, 0.3) for s in (1, -1)]
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(by_mean[j], rel=1e-5)
        ends = [curriculum.objective(curriculum.mean, curriculum.std * np.exp(s * h), c, v, 0.3) for s in (1, -1)]
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(by_log[j], rel=1e-5)


def test_the_distribution_reaches_the_target_in_steps_of_limited_size():
    curriculum = begun(SelfPaced(**WAY, offset=0), 0)
    sizes = []
    for e in range(1, 200):
        mean, std = curriculum.mean, curriculum.std
        curriculum.update(drawn(curriculum, e), np.full(400, 5.0))
        sizes.append(normal_kl(mean, std, curriculum.mean, curriculum.std))
    assert max(sizes) <= 0.05
    assert max(sizes[:20]) > 0.03  # the limit is used
    assert normal_kl(curriculum.mean, curriculum.std, curriculum.goal, curriculum.goal_std) < 0.1


def test_before_the_offset_the_distribution_goes_where_values_are_high():
    curriculum = begun(SelfPaced(**WAY, offset=10), 0)
    for e in range(1, 11):
        x = drawn(curriculum, e)
        curriculum.update(x, 10.0 - (x[:, 0] + 2.0) ** 2)
    assert curriculum.mean[0] < -0.5  # away from the target at 3
    assert curriculum.updates == 10


def test_nothing_pulls_while_values_are_negative():
    curriculum = begun(SelfPaced(**WAY, offset=0, zeta=9.0), 0)
    other = begun(SelfPaced(**WAY, offset=1), 0)
    for each in (curriculum, other):
        x = drawn(each, 1)
        each.update(x, -1.0 - x[:, 0] ** 2)
    assert (curriculum.mean == other.mean).all()


def test_the_pull_is_zeta_times_value_over_distance(monkeypatch):
    curriculum, alphas = begun(SelfPaced(**WAY, offset=1, zeta=1.6), 0), []
    inner = curriculum.gradient
    monkeypatch.setattr(curriculum, "gradient", lambda c, v, alpha: alphas.append(alpha) or inner(c, v, alpha))
    for e in (1, 2):
        far = normal_kl(curriculum.mean, curriculum.std, curriculum.goal, curriculum.goal_std)
        curriculum.update(drawn(curriculum, e), np.full(400, 2.0))
    assert alphas == [0.0, pytest.approx(1.6 * 2.0 / far)]


def test_standard_deviations_have_a_lower_bound_far_from_the_target():
    for threshold, least in ((0.0, 1.5), (1e9, 0.0)):
        curriculum = begun(SelfPaced(**WAY, offset=0, least_std={"gate": 1.5}, kl_threshold=threshold), 0)
        for e in range(1, 60):
            curriculum.update(drawn(curriculum, e), np.full(400, 5.0))
        assert bool(curriculum.std[0] >= 1.5) is bool(least)
    assert (SelfPaced().max_kl, SelfPaced().zeta, SelfPaced().offset, SelfPaced().kl_threshold) == (
        0.05,
        1.6,
        70,
        8000.0,
    )


# --- saving -----------------------------------------------------------------------------------------------------------


def trained(kind):
    if kind is SPaCE:
        curriculum = begun(SPaCE(every=3, eta=0.5), 5)
    elif kind is PrioritizedLevelReplay:
        curriculum = begun(PrioritizedLevelReplay(seen=0.5), 5)
    elif kind is MBTL:
        curriculum = begun(MBTL(), 5)
        curriculum.update([0.1, 0.2, 0.9, 0.2, 0.1])
    elif kind is ADR:
        curriculum = begun(ADR(**DISC, buffer=2), 0)
    elif kind is SelfPaced:
        curriculum = begun(SelfPaced(**WAY, offset=0, every=3), 0)
    else:
        return begun(kind(), 5)
    for e in range(1, 9):
        ids = curriculum.choose(STREAMS[:4], np.full(4, e, np.uint64))
        told(curriculum, ids, np.linspace(0.0, 1.0, 4))
    return curriculum


@pytest.mark.parametrize(
    "kind", [RandomContexts, RoundRobin, OneContext, SPaCE, PrioritizedLevelReplay, MBTL, ADR, SelfPaced]
)
def test_what_was_learned_survives_json_and_pickle(kind):
    curriculum = trained(kind)
    recipe = json.loads(json.dumps(curriculum.recipe()))
    again = curriculum_from(recipe, curriculum.count)
    copies = [again, pickle.loads(pickle.dumps(curriculum))]
    fresh = curriculum_from({k: v for k, v in recipe.items() if k != "state"}, curriculum.count)
    fresh.load(json.loads(json.dumps(curriculum.state())))
    for e in range(9, 12):
        episodes = np.full(4, e, np.uint64)
        ids = curriculum.choose(STREAMS[:4], episodes)
        told(curriculum, ids, [0.9, 0.8, 0.7, 0.6])
        for copy in [*copies, fresh]:
            assert (copy.choose(STREAMS[:4], episodes) == ids).all()
            told(copy, ids, [0.9, 0.8, 0.7, 0.6])
            assert copy.state() == curriculum.state()


def test_names_of_baselines():
    assert isinstance(curriculum_from("random", 3), RandomContexts)
    assert isinstance(curriculum_from("round_robin", 3), RoundRobin)
    assert isinstance(curriculum_from("static", 3), OneContext)


def test_ones_own_curriculum_by_its_address():
    made = curriculum_from({"curriculum": "rlenvs.wrappers.curricula:SPaCE", "eta": 0.3}, 4)
    assert isinstance(made, Curriculum)
    assert made.eta == 0.3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: curriculum_from("SPACE", 3), "SPaCE"),
        (lambda: curriculum_from({"curriculum": "SPaCE", "et": 1}, 3), "'eta'"),
        (lambda: begun(SPaCE(eta=-0.1), 3), "eta=-0.1"),
        (lambda: begun(SPaCE(kappa=0), 3), "kappa=0"),
        (lambda: begun(SPaCE(first=4), 3), "first=4"),
        (lambda: begun(SPaCE(), 3).update([1.0, 2.0]), r"shape \(2,\)"),
        (lambda: begun(SPaCE(), 2).update([1.0, math.nan]), "finite"),
        (lambda: begun(SPaCE(), 3).load(begun(SPaCE(), 4).state()), "3 contexts"),
        (lambda: begun(SPaCE(), 3).load({}), "size"),
        (lambda: begun(RoundRobin(3), 3), "offset=3"),
        (lambda: begun(RoundRobin("seeds"), 3), '"seed"'),
        (lambda: begun(OneContext(-1), 3), "number=-1"),
        (lambda: begun(PrioritizedLevelReplay(temperature=0), 3), "temperature=0"),
        (lambda: begun(PrioritizedLevelReplay(staleness=1.5), 3), "staleness=1.5"),
        (lambda: begun(PrioritizedLevelReplay(by="return"), 3), "'returns'"),
        (lambda: begun(MBTL(slope=math.inf), 3), "slope=inf"),
        (lambda: begun(MBTL(noise=0.0), 3), "noise=0.0"),
        (lambda: begun(MBTL(), 3).update([1.0, 2.0]), "one number or 3"),
        (lambda: begun(SelfPaced(), 0), "target="),
        (lambda: begun(SelfPaced(start={"a": [1, 0]}, target={"a": [1, 1]}), 0), "start="),
        (lambda: begun(SelfPaced(**WAY, limits={"gate": [-1, 2]}), 0), "target="),
        (lambda: begun(SelfPaced(**WAY, least_std={"door": 0.1}), 0), "least_std="),
        (lambda: begun(SelfPaced(**WAY, max_kl=0.0), 0), "max_kl=0.0"),
        (lambda: begun(SelfPaced(**WAY), 0).fit({"gate": (-1, 2), "width": (0, 9)}), r"\[-1, 2\]"),
        (lambda: begun(SelfPaced(**WAY), 0).update([[1.0, 2.0]], [1.0, 2.0]), "contexts"),
        (lambda: begun(ADR(), 0), "step="),
        (lambda: begun(ADR(start={"a": [2, 1]}, step={"a": 1}), 0), "low <= high"),
        (lambda: begun(ADR(start={"a": [1, 2]}, step={"a": 0}), 0), "above 0"),
        (lambda: begun(ADR(start={"a": [1, 2]}, step={"a": 1}, low=0.9, high=0.8), 0), "low=0.9"),
        (lambda: begun(ADR(start={"a": [1, 2]}, step={"a": 1}, limits={"a": [1.5, 3]}), 0), "limits"),
        (lambda: begun(ADR(start={"a": [1, 2]}, step={"a": 1}, limits={"b": [1, 3]}), 0), "limits"),
        (lambda: begun(ADR(start={"a": [1, 2]}, step={"a": 1}), 0).fit({"a": (0, 1.5)}), r"\[0, 1.5\]"),
        (lambda: begun(ADR(start={"a": [1, 2]}, step={"a": 1}, measure="cost"), 0), "measure='cost'"),
        (lambda: begun(ADR(start={"a": [1, 2]}, step={"a": 1}, boundary=2), 0), "boundary=2"),
        (lambda: begun(ADR(start={"a": [1, 2]}, step={"a": 1}, buffer=0), 0), "buffer=0"),
    ],
)
def test_impossible_settings_are_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_the_published_settings_are_the_defaults():
    assert (SPaCE().eta, SPaCE().kappa) == (0.1, 1)
    assert (MBTL().slope, MBTL().noise) == (0.005, 0.1)
