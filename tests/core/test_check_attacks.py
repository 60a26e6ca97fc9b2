"""`rlenvs.check` finds what a first look misses: what is late, seldom, for some only, or behind a declaration."""

import pytest
from broken_attacks import (
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
from broken_worlds import Healthy, Team, failed

from rlenvs.core.check import check

CASES = [pytest.param(rule, world, id=world.name) for rule, worlds in ATTACKS.items() for world in worlds]
LATE = [pytest.param(rule, world, id=world.name) for rule, worlds in LATE_ATTACKS.items() for world in worlds]


def outcome_of(report, number):
    return next(outcome for outcome in report.outcomes if outcome.number == number)


@pytest.mark.parametrize(("rule", "world"), CASES)
def test_attack_fails_its_rule(rule, world):
    report = check(world, backend="python", only={rule})
    assert failed(report) == [rule], report


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "world"), LATE)
def test_late_attack_fails_its_rule_in_the_long_mode(rule, world):
    report = check(world, backend="python", only={rule}, long=True)
    assert failed(report) == [rule], report


def test_expert_that_decides_otherwise_when_asked_again():
    report = check(MOOD, backend="python", only={20})
    assert failed(report) == [20], report
    assert "expert" in report.failures[0].reason


def test_experts_may_see_the_state_where_they_say_so():
    assert outcome_of(check(DECLARED, backend="python", only={25}), 25).status == "not applicable"


def test_mask_that_hides_the_way_to_the_goal_is_a_warning():
    report = check(AGAINST, backend="python", only={23, 24})
    assert report.passed, report
    assert "expert does not help" in outcome_of(report, 23).reason
    assert "mask allows" in outcome_of(report, 24).reason


@pytest.mark.parametrize(
    "form",
    [Ring(Healthy, backend="python"), RewardPair(Healthy, 3, backend="python"), InfoPair(Team, backend="python")],
)
def test_arrays_that_are_used_again_after_many_calls(form):
    report = check(form, backend="python", only={4}, long=True)
    assert failed(report) == [4], report


@pytest.mark.slow
def test_overflow_late_in_an_episode():
    report = check(LATE_OVERFLOW, only={19}, long=True)
    assert failed(report) == [19], report


@pytest.mark.slow
def test_what_happens_once_in_a_hundred_thousand_steps():
    report = check(VERY_RARE, only={26}, long=True)
    assert failed(report) == [26], report
    assert "speeding is -0.5" in report.failures[0].reason
