"""`rlenvs.check_env` finds what is only seen by asking twice, by restoring, by waiting, or from outside."""

import dataclasses

import pytest
from support.check_helpers import assert_fails, assert_warns, cases
from toys.broken_habits import (
    BROKEN_FORMS_OF_HABIT,
    BROKEN_HABITS,
    DOUBTFUL,
    OVERFLOW,
    RARE,
)
from toys.broken_worlds import Healthy, Team, failed

from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.check import check_env
from rlenvs.core.check.rules import RULES
from rlenvs.core.declare.errors import ParameterError


@pytest.mark.parametrize(("rule", "world"), cases(BROKEN_HABITS))
def test_broken_habit_fails_its_rule(rule, world):
    assert_fails(world, rule)


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "world"), cases(BROKEN_HABITS))
def test_broken_habit_fails_no_other_rule(rule, world):
    also = [12] if world.name == "Pushed-v0" else []  # who is drawn goes other ways than who is not
    report = check_env(world, backend="python")
    assert failed(report) == [*also, rule], report


@pytest.mark.parametrize(("rule", "form"), cases(BROKEN_FORMS_OF_HABIT))
def test_broken_form_fails_its_rule(rule, form):
    assert_fails(form(Healthy, backend="python"), rule)


@pytest.mark.parametrize(("rule", "world"), cases(DOUBTFUL))
def test_what_may_be_meant_is_a_warning(rule, world):
    assert "1 to look at" in str(assert_warns(world, rule))


def test_rewards_that_overflow_when_compiled():
    report = assert_fails(OVERFLOW, 19, backend="numba")
    assert "near" in report.failures[0].reason


@pytest.mark.parametrize(("answers", "words"), [(0, "episodes"), (3, "the answers in 3 of 32 states")])
def test_experts_that_plan_are_asked_as_often_as_their_world_says(answers, words):
    planner = dataclasses.replace(world_of("DoublePole-v0"), python_answers=answers)
    (reason,) = (found.reason for found in check_env(planner, only={19}).outcomes if found.number == 19)
    assert (words in reason, "answers" in reason) == (True, bool(answers))


@pytest.mark.slow
def test_what_is_rare_is_found_in_the_long_mode():
    assert check_env(RARE, backend="python", only={11, 14, 26}).passed
    report = assert_fails(RARE, 26, long=True)
    for word in ("speeding", "-0.5", "step", "world", "random"):
        assert word in report.failures[0].reason


@pytest.mark.slow
@pytest.mark.parametrize("world", [Healthy, Team], ids=lambda world: world.name)
def test_healthy_worlds_pass_the_long_mode(world):
    report = check_env(world, backend="python", long=True)
    assert report.passed, report
    assert next(outcome for outcome in report.outcomes if outcome.number == 26).status == "passed"


def test_only_some_rules():
    report = check_env(Healthy, backend="python", only={5})
    assert [outcome.number for outcome in report.outcomes] == [1, 5, 27]
    with pytest.raises(ParameterError, match=r"there are no rules \[99\]"):
        check_env(Healthy, only={99})
    with pytest.raises(ParameterError, match=r"without=\[99, 'x'\]: there are no rules \[99, 'x'\]"):
        check_env(Healthy, without=[99, "x"])
    report = check_env(Healthy, backend="python", only={5}, whole=False)
    assert [outcome.number for outcome in report.outcomes] == [1, 5]
    with pytest.raises(ParameterError, match=r"no rules \[3\] with whole=False; there are 1, 2, 5,"):
        check_env(Healthy, backend="python", only={3, 5}, whole=False)
    numbers = [rule.number for rule in RULES]
    assert sorted(numbers) == [number for number in range(1, 28) if number != 17]
