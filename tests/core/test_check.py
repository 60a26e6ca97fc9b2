"""`rlenvs.check_env` passes every registered environment, and fails each broken one for the rule that it breaks."""

import json
from dataclasses import replace

import numpy as np
import pytest
from gymnasium import spaces
from support.rotation import has_its_turn
from toys.broken_guile import BROKEN_GUILE
from toys.broken_habits import BROKEN_HABITS, DOUBTFUL
from toys.broken_worlds import BOOLEAN, BROKEN_FORMS, BROKEN_WORLDS, Goal, Healthy, Redistributes, Team, failed

import rlenvs
from rlenvs.core.catalogue.docs import documented
from rlenvs.core.check import check_env, one_per_kind, one_per_shape
from rlenvs.core.check.playing import difference
from rlenvs.core.check.records import golden_digest, read_golden
from rlenvs.core.check.rules import CORE_RULES, RULES
from rlenvs.core.check.settings import odd_sizes
from rlenvs.core.check.subject import golden_file, subject_of
from rlenvs.core.check.values import _inside
from rlenvs.core.declare.errors import ConformanceError, UnknownNameError
from rlenvs.core.declare.options import integer
from rlenvs.core.declare.spec import load_world
from rlenvs.core.forms.gym_env import Env

WORLD_CASES = [pytest.param(rule, world, id=world.name) for rule, worlds in BROKEN_WORLDS.items() for world in worlds]
FORM_CASES = [pytest.param(rule, form, id=form.__name__) for rule, forms in BROKEN_FORMS.items() for form in forms]


WHOLE = {*one_per_kind(rlenvs.list_envs()), "rlenvs/mo-DeepSeaTreasure-v0"}
SHAPES = {*one_per_shape(one_per_kind(rlenvs.list_envs())), "rlenvs/mo-DeepSeaTreasure-v0"}


@pytest.mark.budget(30)  # it is thirty tests, some experts plan, and some worlds have ten players
@pytest.mark.parametrize("id", rlenvs.list_envs())
@pytest.mark.usefixtures("trimmed")
def test_registry_passes(id):
    """The rules of the core on all that differs to it, and on a tenth of the other kinds, in turn."""
    core = id in SHAPES or has_its_turn(id, 10)
    whole = id in WHOLE
    check_env(id, whole=whole, without=CORE_RULES if whole and not core else ()).raise_on_failure()


@pytest.mark.budget(4)
def test_rules_can_be_left_out():
    left = {rule.number for rule in RULES} - set(CORE_RULES)
    assert {o.number for o in check_env(Healthy, backend="python", without=CORE_RULES).outcomes} == left


def test_shapes_differ_by_what_the_core_does():
    names = ("CartPole", "Acrobot", "Pendulum", "Taxi", "ParticleSpread")
    chosen = one_per_shape([f"rlenvs/{name}-v0" for name in names])
    assert chosen == [f"rlenvs/{name}-v0" for name in ("CartPole", "Pendulum", "Taxi", "ParticleSpread")]


@pytest.mark.parametrize("row", documented(), ids=lambda row: row.id)
def test_golden_numbers_are_recorded(row):
    name = row.id.removeprefix("rlenvs/")
    recorded = read_golden(golden_file(load_world(row.address)))
    assert name in recorded, f"run `python -m rlenvs.core.check --record {name}`"


@pytest.mark.budget(6)
@pytest.mark.parametrize("world", [Healthy, Goal, Team], ids=lambda world: world.name)
def test_healthy_worlds_pass(world):
    """Without this, a broken world might fail for what it inherits."""
    report = check_env(world, backend="python")
    assert report.passed, report
    applicable = {outcome.number for outcome in report.outcomes if outcome.status == "passed"}
    assert applicable == {rule.number for rule in RULES} - {19, 26}
    assert not report.warnings, report


def test_numbers_within_a_space_are_told_one_by_one():
    small = spaces.Box(0, 9, (2, 3), np.uint8)
    given = np.array([[[0, 9, 1], [2, 3, 10]]], np.uint8)
    assert (~_inside(small, given)).sum() == 1
    assert not _inside(small, given)[0, 1, 2]
    anything = _inside(spaces.Box(0, 255, (2, 3), np.uint8), given)
    assert anything.shape == given.shape
    assert anything.all()


@pytest.mark.budget(4)
@pytest.mark.parametrize(("rule", "world"), WORLD_CASES)
def test_broken_world_fails_its_rule(rule, world):
    report = check_env(world, backend="python", only={rule})
    assert failed(report) == [rule], report


@pytest.mark.parametrize(("rule", "form"), FORM_CASES)
def test_broken_form_fails_its_rule(rule, form):
    report = check_env(form(Healthy, backend="python"), only={rule})
    assert failed(report) == [rule], report


# bounds hold at the ends of parameters' ranges, too, and a level that cannot be made has no numbers to record
FAIL_TWO = {"OutOfBounds-v0": [10, 11], "BadLevel-v0": [14, 16]}


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "world"), WORLD_CASES)
def test_broken_world_fails_no_other_rule(rule, world):
    report = check_env(world, backend="python")
    assert failed(report) == FAIL_TWO.get(world.name, [rule]), report


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "form"), FORM_CASES)
def test_broken_form_fails_no_other_rule(rule, form):
    report = check_env(form(Healthy, backend="python"))
    assert failed(report) == [rule], report


def test_broken_parallel_form_fails_its_rule():
    assert failed(check_env(Redistributes(Team, backend="python"), only={7})) == [7]


@pytest.mark.slow
def test_backends_that_differ_fail_their_rule():
    """Booleans cannot be subtracted in NumPy; numba does it."""
    report = check_env(BOOLEAN, backend="numba")
    assert failed(report) == [20], report  # the first rule that runs the kernels in plain Python


def test_other_numbers_than_recorded_fail_their_rule(tmp_path):
    path = tmp_path / "golden.json"
    numbers = golden_digest(Healthy, "python")
    path.write_text(json.dumps({Healthy.name: numbers}))
    assert check_env(Healthy, backend="python", golden=path, only={16}).outcomes[-1].status == "passed"
    path.write_text(json.dumps({Healthy.name: {**numbers, "terms": numbers["terms"] + 0.001}}))
    report = check_env(Healthy, backend="python", golden=path, only={16})
    assert failed(report) == [16]
    assert str(numbers["terms"]) in report.failures[0].reason


def test_every_rule_has_a_broken_example():
    tested = {*BROKEN_WORLDS, *BROKEN_FORMS, *BROKEN_HABITS, *BROKEN_GUILE, *DOUBTFUL, 19, 26}
    assert tested == {rule.number for rule in RULES}


def test_rules_build_on_earlier_ones():
    seen = set()
    for rule in RULES:
        assert set(rule.needs) <= seen, rule
        seen.add(rule.number)


def test_every_rule_says_how_to_mend_a_failure():
    for rule in RULES:
        assert rule.check.__doc__.startswith(f"{rule.number}. ")
        assert "To mend" in rule.check.__doc__ or rule.number == 17


@pytest.mark.budget(5)
def test_report_is_readable():
    report = check_env(BROKEN_WORLDS[5][0], backend="python")
    text = str(report)
    assert text.startswith("rlenvs.check_env Forgetful-v0: 1 failed")
    assert "goal = 0" in text
    assert len(text.splitlines()) == 1 + len(RULES)
    assert not report.passed
    with pytest.raises(ConformanceError, match="goal = 0"):
        report.raise_on_failure()


def test_rules_that_build_on_a_broken_one_do_not_run():
    report = check_env(BROKEN_WORLDS[2][0], backend="python")
    status = {outcome.number: outcome.status for outcome in report.outcomes}
    assert (status[2], status[3], status[15]) == ("failed", "not run", "passed")


def test_keywords_come_from_the_environment():
    environment = Env(Healthy, backend="python", level="easy", horizon=9, cells=7, push=0.1)
    subject = subject_of(environment, "numba", None, {})
    assert subject.backend == "python"
    assert subject.choices["level"] == "easy"
    assert (subject.choices["horizon"], subject.choices["cells"], subject.choices["push"]) == (9, 7, 0.1)
    assert "drag" not in subject.choices


@pytest.mark.parametrize(
    ("quick", "long", "largest"), [({}, False, 90), ({"cells": 4}, False, 20), ({"cells": 4}, True, 90)]
)
def test_sizes_that_make_a_world_slow_are_tried_up_to_four_times_the_usual_one(quick, long, largest):
    wide = replace(Healthy, options={"cells": integer(5, 2, 90, "numbers in the lane")}, quick=quick)
    tried = odd_sizes(replace(subject_of(wide, "numba", None, {}), long=long))
    assert [setting["cells"] for setting in tried] == [2, largest]


def test_plain_python_runs_under_the_quick_settings_of_a_world():
    """Where nothing else is asked for."""
    quick = replace(Healthy, quick={"cells": 7})
    subject = subject_of(quick, "python", None, {})
    assert subject.choices == {}
    assert subject.plain.choices == {"cells": 7}
    chosen = subject_of(quick, "python", None, {"push": 0.1})
    assert chosen.plain is chosen
    thorough = replace(subject, long=True)
    assert thorough.plain is thorough
    assert check_env(quick, backend="python", only={20, 25}).passed
    impossible = replace(Healthy, quick={"cells": -1})
    assert failed(check_env(impossible, backend="python", only={20})) == [20]


def test_what_cannot_be_checked():
    with pytest.raises(UnknownNameError, match="QuadHover"):
        check_env("QuadHovr-v0")
    with pytest.raises(TypeError, match="not an environment of rlenvs"):
        check_env(3)


def test_difference_names_the_place():
    wanted = np.array([1.0, 2.0])
    assert difference({"a": wanted}, {"a": wanted.copy()}) == ""
    assert difference({"a": wanted}, {"a": wanted + [0.0, 1.0]}).startswith("['a'][1]: ")
    assert difference(wanted, wanted.astype("f4")) != ""
    assert difference(True, 1) != ""
    assert difference(float("nan"), float("nan")) == ""


def test_declared_starts_may_look_alike():
    """In the shortest hallway, 16 states begin with 10 different sequences of views."""
    assert check_env("MiniGridMemoryS7-v0", only={6}, whole=False).outcomes[-1].status == "passed"
