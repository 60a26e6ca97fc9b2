"""Exercises as a page grades them, run by Node.js: points, reasons and returns are those of `rlenvs grade`."""

import dataclasses
import importlib.util
import json

import pytest
from support.classroom_helpers import FOLDER
from support.exercises_in_page import IDS, MICROPYTHON, SOLVED, needs_micropython
from support.node import needs_node, run_node

from rlenvs.classroom.exercise import find_exercise
from rlenvs.classroom.grader import grade
from rlenvs.classroom.in_page import data_of
from rlenvs.classroom.trials import trial_returns
from rlenvs.live.export import write_environment, write_static

pytest.importorskip("scipy", reason="grading uses exact models: pip install 'rlenvs-suite[classroom]'")
linked = pytest.mark.skipif(
    importlib.util.find_spec("ziglang") is None,
    reason="the linkers of ziglang are not installed: pip install 'rlenvs-suite[kernels]', or python3 run.py kernels",
)
pytestmark = [needs_node, needs_micropython, linked, pytest.mark.budget(40)]  # of which compiling takes most, once
IMPORTS = [("Submission", "submission"), ("resultOf", "grading"), ("loadEnvironment", "environment")]
SCRIPT = """
const [exercise, source, micropython, folder] = given, printed = [];
const { loadMicroPython } = await import(micropython);
const python = fs.readFileSync(new URL("static/submission.py", folder), "utf8");
const load = id => loadEnvironment(new URL(`${id}/world.json`, folder), { read });
let episodes = 0;
const place = { loadMicroPython, python, load, print: line => printed.push(line), began: () => episodes++ };
const submission = new Submission(place), failed = await submission.start(source), results = [];
for (const test of failed ? [] : exercise.tests) results.push(await resultOf(submission, test));
episodes = 0;
if (!failed) submission.add(exercise.trial.code);
const trial = failed ? null : await submission.call("trial", exercise.trial.arguments, exercise.trial.worlds);
tell({ failed, results, trial, printed, episodes });
"""
# submissions that are not right, and what both say of them
WRONG = {
    "nothing": "def update(counts, means, arm, reward): return None\ndef ucb(counts, means, c): return None\n",
    "shapes": "def update(counts, means, arm, reward): return counts + [1], [[0.5], [2.5]]\ndef ucb(*a): return [1]\n",
    "numbers": "def update(counts, means, arm, reward): return counts, means\ndef ucb(*a): return 2.5\n",
    "not finite": "def update(*a): return [1, float('nan')], [1]\ndef epsilon_greedy(*a): return [float('inf'), 1]\n",
    "texts": "def ucb(*a): return 'one'\ndef epsilon_greedy(*a): return ['a', 'b']\ndef update(*a): return 1, 2, 3\n",
    "ragged": "def epsilon_greedy(*a): return [[1], [1, 2]]\ndef ucb(*a): return []\ndef update(*a): return [1], []\n",
    "truths": "def ucb(*a): return True\ndef epsilon_greedy(*a): return (0.1, 0.9)\n",
    "errors": "def ucb(*a):\n    raise ValueError('no')\n\n\ndef update(*a):\n    return [][1]\n",
}
WAY = "def learn(env, gamma):\n    return [0 if s in {} else 2 if s % 12 == 11 else 1 for s in range(48)]\n"
POLICIES = {
    "up": "def learn(env, gamma): return [0] * env.n_states\n",
    "best": WAY.format("(36,)"),
    "longer": WAY.format("(36, 24, 12)"),
    "no actions": "def learn(env, gamma): return [4] * env.n_states\n",
    "too few": "def learn(env, gamma): return [1]\n",
    "one step": "def learn(env, gamma):\n    env.reset()\n    env.step(0)\n    return [env.step(1)[0]] * 48\n",
    "no reset": "def learn(env, gamma):\n    env.step(0)\n",
    "no action": "def learn(env, gamma):\n    env.reset()\n    env.step(4)\n",
    "half an action": "def learn(env, gamma):\n    env.reset()\n    env.step(1.0)\n",
}
TOO_MANY = "def learn(env, gamma):\n    env.reset()\n    while True:\n        if env.step(0)[3]: env.reset()\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the environments of the exercises."""
    folder = tmp_path_factory.mktemp("live")
    write_static(folder)
    for id in IDS:
        write_environment(id, folder)
    return folder


def shortened(exercise, episodes):
    """An exercise whose trial has fewer episodes."""
    code = exercise.trial.code.replace("100)", f"{episodes})")
    return dataclasses.replace(exercise, trial=dataclasses.replace(exercise.trial, code=code))


def in_page(folder, exercise, source):
    data = data_of(exercise, "")
    module = (MICROPYTHON / "micropython.mjs").as_uri()
    return run_node(SCRIPT, data, source, module, folder.as_uri() + "/", imports=IMPORTS, static=folder / "static")


def both(folder, tmp_path, name, source):
    """What page and grader say of a submission: name, points, earned, reason of each public test."""
    path = tmp_path / f"{name}.py"
    path.write_text(source)
    exercise = shortened(find_exercise(name), 1)
    page = in_page(folder, exercise, source)
    public = [each for each in grade(path, exercise).results if not each.hidden]
    return (
        [(each["name"], each["points"], each["earned"], each["reason"]) for each in page["results"]],
        [(each.name, each.points, each.earned, each.reason) for each in public],
    )


@pytest.mark.parametrize("name", SOLVED)
def test_a_solution_in_plain_python_gets_all_public_points(folder, name):
    exercise = shortened(find_exercise(name), 5)
    said = in_page(folder, exercise, (FOLDER / name / "plain.py").read_text())
    assert said["failed"] == ""
    assert [each["earned"] for each in said["results"]] == [test.points for test in exercise.tests if not test.hidden]
    assert len(said["trial"]["returns"]) == 5
    assert said["episodes"] >= 5
    assert bool(said["printed"]) == (name == "td_and_monte_carlo")


# the longest learns and plays for a minute with the grader
@pytest.mark.parametrize("name", [*SOLVED[:4], pytest.param(SOLVED[4], marks=pytest.mark.slow)])
def test_returns_are_those_of_python_to_the_bit(folder, name):
    exercise = shortened(find_exercise(name), 5)
    path = FOLDER / name / "plain.py"
    said = in_page(folder, exercise, path.read_text())
    assert said["trial"]["returns"] == trial_returns(path, exercise)
    assert len(set(said["trial"]["returns"])) > 1 or name in ("mdp_by_hand", "q_learning_and_sarsa")


@pytest.mark.parametrize("fault", WRONG)
def test_what_is_wrong_is_told_as_the_grader_tells_it(folder, tmp_path, fault):
    page, python = both(folder, tmp_path, "bandits", 'ARGUMENTS = "lists"\n' + WRONG[fault])
    assert [each[:3] for each in page] == [each[:3] for each in python]
    for ours, theirs in zip(page, python, strict=True):
        # MicroPython words its own errors otherwise
        assert ours[3] == theirs[3] or ("IndexError" in ours[3] and ours[3][-24:] == theirs[3][-24:])


@pytest.mark.parametrize("policy", POLICIES)
def test_policies_and_what_they_may_do_are_judged_as_the_grader_does(folder, tmp_path, policy):
    page, python = both(folder, tmp_path, "q_learning_and_sarsa", 'ARGUMENTS = "lists"\n' + POLICIES[policy])
    assert page == python
    assert {"best": page[2][2] == 2, "longer": 1 < page[2][2] < 2}.get(policy, page[2][2] == 0)


@pytest.mark.slow
def test_steps_beyond_the_budget_are_refused_as_the_grader_does(folder, tmp_path):
    page, python = both(folder, tmp_path, "q_learning_and_sarsa", TOO_MANY)
    assert page == python
    assert "the budget of 20000 steps is used up" in page[2][3]


def test_a_mistake_in_the_text_is_told_with_its_line(folder):
    said = in_page(folder, shortened(find_exercise("bandits"), 1), "x = 1\n\ndef f(:\n    pass\n")
    assert said["failed"] == "SyntaxError: invalid syntax (line 3 of its code)"
    said = in_page(folder, shortened(find_exercise("bandits"), 1), "import math\nimport numpy as np\n")
    assert said["failed"] == "ImportError: no module named 'numpy' (line 2 of its code)"


def test_what_only_python_can_judge_is_left_to_it(folder):
    exercise = shortened(find_exercise("bandits"), 1)
    exercise.tests = [dataclasses.replace(exercise.tests[0], ask=None), *exercise.tests[1:]]
    first, *_ = in_page(folder, exercise, (FOLDER / "bandits" / "plain.py").read_text())["results"]
    assert first == {"name": "update", "points": 1, "earned": None, "reason": "checked by rlenvs grade"}


def test_numbers_pass_as_they_are(folder):
    """To Python in a page and back, every bit of them; whole ones stay whole."""
    numbers = [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -0.0, 2.0, 2**53 + 2.0, 12345678901234567]
    said = run_node(
        "const [micropython, folder, numbers] = given, { loadMicroPython } = await import(micropython);"
        "const python = fs.readFileSync(new URL('static/submission.py', folder), 'utf8');"
        "const submission = new Submission({ loadMicroPython, python, load: null, print: () => {}, began: () => {} });"
        "await submission.start('def f(x): return x, [type(each).__name__ for each in x]');"
        "tell(submission.python.call('f', numbers, '[]'))",
        *((MICROPYTHON / "micropython.mjs").as_uri(), folder.as_uri() + "/", json.dumps([numbers])),
        imports=IMPORTS[:1],
        static=folder / "static",
    )
    values, kinds = json.loads(said)["value"]
    assert [repr(each) for each in values] == [repr(each) for each in numbers]
    assert kinds == ["float"] * 7 + ["int"]
