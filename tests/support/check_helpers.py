"""What tests of `rlenvs.check_env` share: tables of broken environments as cases, and what is to come of them."""

import pytest
from toys.broken_worlds import failed

from rlenvs.core.check import check_env


def cases(table):
    """(rule, world or class) for each entry of a table {rule: environments that break it}."""
    return [
        pytest.param(rule, broken, id=getattr(broken, "name", None) or broken.__name__)
        for rule, all_broken in table.items()
        for broken in all_broken
    ]


def assert_fails(subject, rule, **keywords):
    """One rule fails, and none that it builds on; all rules are looked at with only=None."""
    report = check_env(subject, **{"backend": "python", "only": {rule}, **keywords})
    assert failed(report) == [rule], report
    return report


def assert_warns(world, rule):
    """One rule warns, and none fails."""
    report = check_env(world, backend="python", only={rule})
    assert report.passed, report
    assert [outcome.number for outcome in report.warnings] == [rule], report
    return report
