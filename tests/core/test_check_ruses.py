"""`rlenvs.check_env` finds what is broken at other sizes, seeds and calls than come to mind first."""

import pytest
from support.check_helpers import assert_fails, assert_warns, cases
from toys.broken_guile import PICTURED
from toys.broken_ruses import BROKEN_FORMS_OF_RUSE, BROKEN_RUSES, DOUBTFUL_RUSES, LATE_FORMS_OF_RUSE, InOrder
from toys.broken_worlds import Team


@pytest.mark.parametrize(("rule", "world"), cases(BROKEN_RUSES))
def test_ruse_fails_its_rule(rule, world):
    assert_fails(world, rule)


@pytest.mark.parametrize(("rule", "form"), cases(BROKEN_FORMS_OF_RUSE))
def test_broken_form_fails_its_rule(rule, form):
    assert_fails(form(PICTURED, backend="python"), rule)


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "form"), cases(LATE_FORMS_OF_RUSE))
def test_late_form_fails_its_rule_in_the_long_mode(rule, form):
    assert_fails(form(PICTURED, backend="python"), rule, long=True)


@pytest.mark.budget(4)
def test_actions_that_are_taken_in_their_order():
    assert_fails(InOrder(Team, backend="python"), 7)


@pytest.mark.parametrize(("rule", "world"), cases(DOUBTFUL_RUSES))
def test_what_may_be_meant_is_a_warning(rule, world):
    assert_warns(world, rule)
