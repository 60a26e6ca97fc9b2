"""`rlenvs.check_env` finds what breaks where nobody looks: at corners, in pictures, in other processes, in loops."""

import pytest
from support.check_helpers import assert_fails, assert_warns, cases
from toys.broken_guile import BROKEN_FORMS_OF_GUILE, BROKEN_GUILE, DOUBTFUL_GUILE, PICTURED

from rlenvs.core.check import check_env, loops


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Loops without an end are found soon."""
    monkeypatch.setattr(loops, "SUSPICIOUS", 0.2)
    monkeypatch.setattr(loops, "MOST_LINES", 100_000)


@pytest.mark.parametrize(("rule", "world"), cases(BROKEN_GUILE))
def test_guile_fails_its_rule(rule, world):
    assert_fails(world, rule)


@pytest.mark.parametrize(("rule", "form"), cases(BROKEN_FORMS_OF_GUILE))
def test_broken_form_fails_its_rule(rule, form):
    assert_fails(form(PICTURED, backend="python"), rule)


@pytest.mark.parametrize(("rule", "world"), cases(DOUBTFUL_GUILE))
def test_what_may_be_meant_is_a_warning(rule, world):
    assert_warns(world, rule)


def test_pictures_by_themselves_are_no_fault():
    report = check_env(PICTURED, backend="python", only={7, 12, 20})
    assert report.passed, report
    assert not report.warnings


def test_what_does_not_end_is_named():
    report = check_env(BROKEN_GUILE[27][0], backend="python", only={1})
    reason = report.failures[0].reason
    for part in ("cells=2", "seed 0", "reset_until_it_fits, line ", "broken_guile.py"):
        assert part in reason
    assert next(outcome for outcome in report.outcomes if outcome.number == 1).status == "not run"
