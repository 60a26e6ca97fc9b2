"""`rlenvs.check_env` finds what a first look misses: what is late, seldom, for some only, or behind a declaration."""

import pytest
from support.check_helpers import assert_fails, cases
from toys.broken_attacks import (
    AGAINST,
    ATTACKS,
    DECLARED,
    LATE_ATTACKS,
    LATE_OVERFLOW,
    MOOD,
    VERY_RARE,
    InfoPair,
    RewardPair,
    Ring,
)
from toys.broken_worlds import Healthy, Team

from rlenvs.core.check import check_env


def outcome_of(report, number):
    return next(outcome for outcome in report.outcomes if outcome.number == number)


@pytest.mark.parametrize(("rule", "world"), cases(ATTACKS))
def test_attack_fails_its_rule(rule, world):
    assert_fails(world, rule)


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "world"), cases(LATE_ATTACKS))
def test_late_attack_fails_its_rule_in_the_long_mode(rule, world):
    assert_fails(world, rule, long=True)


def test_expert_that_decides_otherwise_when_asked_again():
    assert "expert" in assert_fails(MOOD, 20).failures[0].reason


def test_experts_may_see_the_state_where_they_say_so():
    assert outcome_of(check_env(DECLARED, backend="python", only={25}), 25).status == "not applicable"


def test_mask_that_hides_the_way_to_the_goal_is_a_warning():
    report = check_env(AGAINST, backend="python", only={23, 24})
    assert report.passed, report
    assert "expert does not help" in outcome_of(report, 23).reason
    assert "mask allows" in outcome_of(report, 24).reason


@pytest.mark.parametrize(
    "form",
    [Ring(Healthy, backend="python"), RewardPair(Healthy, 3, backend="python"), InfoPair(Team, backend="python")],
)
def test_arrays_that_are_used_again_after_many_calls(form):
    assert_fails(form, 4, long=True)


@pytest.mark.slow
def test_overflow_late_in_an_episode():
    assert_fails(LATE_OVERFLOW, 19, backend="numba", long=True)


@pytest.mark.slow
def test_what_happens_once_in_a_hundred_thousand_steps():
    report = assert_fails(VERY_RARE, 26, backend="numba", long=True)
    assert "speeding is -0.5" in report.failures[0].reason
