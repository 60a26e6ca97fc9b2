"""`rlenvs.check` finds what breaks where nobody looks: at corners, in pictures, in other processes, in loops."""

import pytest
from broken_guile import BROKEN_FORMS_OF_GUILE, BROKEN_GUILE, DOUBTFUL_GUILE, PICTURED
from broken_worlds import failed

from rlenvs.core.check import check, loops

CASES = [pytest.param(rule, world, id=world.name) for rule, worlds in BROKEN_GUILE.items() for world in worlds]
FORMS = [pytest.param(rule, form, id=form.__name__) for rule, forms in BROKEN_FORMS_OF_GUILE.items() for form in forms]
DOUBTS = [pytest.param(rule, world, id=world.name) for rule, worlds in DOUBTFUL_GUILE.items() for world in worlds]


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Loops without an end are found soon."""
    monkeypatch.setattr(loops, "SUSPICIOUS", 0.2)
    monkeypatch.setattr(loops, "MOST_LINES", 100_000)


@pytest.mark.parametrize(("rule", "world"), CASES)
def test_guile_fails_its_rule(rule, world):
    report = check(world, backend="python", only={rule})
    assert failed(report) == [rule], report


@pytest.mark.parametrize(("rule", "form"), FORMS)
def test_broken_form_fails_its_rule(rule, form):
    report = check(form(PICTURED, backend="python"), only={rule})
    assert failed(report) == [rule], report


@pytest.mark.parametrize(("rule", "world"), DOUBTS)
def test_what_may_be_meant_is_a_warning(rule, world):
    report = check(world, backend="python", only={rule})
    assert report.passed, report
    assert [outcome.number for outcome in report.warnings] == [rule], report


def test_pictures_by_themselves_are_no_fault():
    report = check(PICTURED, backend="python", only={7, 12, 20})
    assert report.passed, report
    assert not report.warnings


def test_what_does_not_end_is_named():
    report = check(BROKEN_GUILE[27][0], backend="python", only={1})
    reason = report.failures[0].reason
    for part in ("cells=2", "seed 0", "reset_until_it_fits, line ", "broken_guile.py"):
        assert part in reason
    assert next(outcome for outcome in report.outcomes if outcome.number == 1).status == "not run"
