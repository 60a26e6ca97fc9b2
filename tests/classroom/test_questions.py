"""Tests as questions, submissions in plain Python, trials, and exercises as data for a page."""

import ast
import json

import numpy as np
import pytest
from support.classroom_helpers import FOLDER, NAMES, SECRET, builder
from support.exercises_in_page import SOLVED
from typer.testing import CliRunner

from rlenvs.classroom.exercise import Exercise, Failed, find_exercise
from rlenvs.classroom.grader import grade
from rlenvs.classroom.in_page import HEAD, data_of, starter
from rlenvs.classroom.process import Submission, SubmissionError
from rlenvs.classroom.questions import Near, Process, Question, Trial, World, Worth
from rlenvs.classroom.source import submitted
from rlenvs.classroom.trials import trial_returns
from rlenvs.cli import app
from rlenvs.core.declare.errors import ParameterError

pytestmark = pytest.mark.usefixtures("sockets_closed")
pytest.importorskip("scipy", reason="grading uses exact models: pip install 'rlenvs-suite[classroom]'")


LONG = ("td_and_monte_carlo", "q_learning_and_sarsa")  # they learn for half a minute
IN_TURN = [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in SOLVED]
TWO_STATES = Process(np.array([np.eye(2), np.eye(2)]), np.array([[1.0, 0.0], [0.0, 2.0]]), 0.5)


def source_of(name):
    return (FOLDER / name / "exercise.py").read_text()


def asked(tmp_path, code, question):
    path = tmp_path / "submission.py"
    path.write_text(code)
    with Submission(submitted(path)) as submission:
        return question.share(submission)


class TestPlainPython:
    @pytest.mark.budget(8)
    @pytest.mark.parametrize("name", IN_TURN)
    def test_it_is_enough_for_full_marks(self, name):
        result = grade(FOLDER / name / "plain.py", find_exercise(name), SECRET)
        assert result.share == 1.0, result.results
        assert "numpy" not in (FOLDER / name / "plain.py").read_text()

    @pytest.mark.parametrize(("head", "kind"), [('ARGUMENTS = "lists"', "list"), ("", "ndarray")])
    def test_arrays_are_lists_where_it_is_asked_for(self, tmp_path, head, kind):
        code = f"{head}\ndef f(x): return type(x).__name__\ndef g(x): return type(x[0]).__name__\n"
        path = tmp_path / "submission.py"
        path.write_text(code)
        with Submission(submitted(path)) as submission:
            assert submission.call("f", np.ones(2)) == kind
            assert submission.call("g", [np.ones((2, 2))]) == kind

    def test_observations_too(self, tmp_path):
        code = 'ARGUMENTS = "lists"\ndef f(env): return type(env.reset()[0]).__name__, type(env.step(0)[0]).__name__\n'
        path = tmp_path / "submission.py"
        path.write_text(code)
        with Submission(submitted(path)) as submission:
            assert submission.call("f", World("CartPole-v0", 0, 1).hosted()) == ["list", "list"]


class TestQuestions:
    ONE = Question("f", (np.array([1.0, 2.0]),), (Near([2.0, 4.0], "the doubles"),))
    TWO = Question("f", (3,), (Near(3, "the first"), Near([0.0], "the second")))

    def test_right_answers(self, tmp_path):
        assert asked(tmp_path, "def f(x): return 2 * x", self.ONE) == 1.0
        assert asked(tmp_path, "def f(x): return x, [0]", self.TWO) == 1.0

    @pytest.mark.parametrize(
        ("code", "told"),
        [
            ("def f(x): return x", "the doubles: wrong by up to 2; at most 1e-06 is allowed"),
            ("def f(x): return 5", r"the doubles has the shape \(\); expected \(2,\)"),
        ],
    )
    def test_wrong_answers(self, tmp_path, code, told):
        with pytest.raises(Failed, match=told):
            asked(tmp_path, code, self.ONE)

    @pytest.mark.parametrize("given", ["3", "[3]", "[3, [0], 1]", "None", '"ab"'])
    def test_several_things(self, tmp_path, given):
        with pytest.raises(Failed, match="f returns 2 things"):
            asked(tmp_path, f"def f(x): return {given}", self.TWO)

    def test_a_policy_by_its_values(self, tmp_path):
        question = Question("f", (), (Near([2.0, 4.0], "its values", 1e-9, TWO_STATES),))
        assert asked(tmp_path, "def f(): return [0, 1]", question) == 1.0
        with pytest.raises(Failed, match="its values: wrong by up to 4"):
            asked(tmp_path, "def f(): return [0, 0]", question)
        with pytest.raises(Failed, match="no actions"):
            asked(tmp_path, "def f(): return [0, 2]", question)

    def test_a_policy_with_partial_credit(self, tmp_path):
        question = Question("f", (), (Worth(TWO_STATES, np.array([0.5, 0.5]), 0.0, 4.0),))
        assert asked(tmp_path, "def f(): return [0, 1]", question) == 0.75
        assert asked(tmp_path, "def f(): return [1, 0]", question) == 0.0


class TestData:
    @pytest.mark.parametrize("name", SOLVED)
    def test_it_has_every_public_test(self, name):
        exercise = find_exercise(name)
        data = json.loads(json.dumps(data_of(exercise, source_of(name)), allow_nan=False))
        public = [(test.name, test.points) for test in exercise.tests if not test.hidden]
        assert [(test["name"], test["points"]) for test in data["tests"]] == public
        assert all(test["question"] for test in data["tests"])
        assert data["hidden"] + sum(points for _, points in public) == 10
        handed_in = {function.name for function in ast.parse(starter(source_of(name))).body[1:]}
        assert {test["question"]["function"] for test in data["tests"]} <= handed_in

    def test_what_only_python_can_judge_is_named(self):
        exercise = Exercise("one", "One", minutes=1, trial=Trial("Chain-v0", "", ""))
        exercise.test("by hand", 2)(lambda submission, draws: None)
        exercise.test("secret", 3, hidden=True)(lambda submission, draws: None)
        data = data_of(exercise, "def f(x):\n    pass\n")
        assert data["tests"] == [{"name": "by hand", "points": 2, "question": None}]
        assert data["hidden"] == 3

    def test_arguments_keep_their_types_and_worlds_their_seeds(self):
        exercise = Exercise("one", "One", minutes=1, trial=Trial("Chain-v0", "", ""))
        question = Question("f", (1, 1.0, np.array([1.0]), np.array([1]), World("Chain-v0", 2**61 + 1, 7)), ())
        exercise.asks("all", 1)(lambda draws: question)
        found = data_of(exercise, "")["tests"][0]["question"]
        assert found["arguments"] == '[1, 1.0, [1.0], [1], {"world": 0}]'
        (world,) = found["worlds"]
        assert world == {
            "id": "Chain-v0",
            "seed": str(2**61 + 1),
            "most_resets": 8,
            "n_states": 10,
            "n_actions": 2,
            "budget": 7,
        }

    def test_without_a_trial_there_is_no_page(self):
        with pytest.raises(ParameterError, match="no trial"):
            data_of(find_exercise("gae"), source_of("gae"))

    @pytest.mark.parametrize("name", SOLVED)
    def test_a_starter_is_what_is_handed_in_and_nothing_else(self, name):
        text = starter(source_of(name))
        first, *functions = ast.parse(text).body
        assert ast.unparse(first) == HEAD.partition("  #")[0].replace('"', "'")
        wanted = ast.parse(builder().student(source_of(name)).partition('"experiment"')[0]).body
        wanted = [each for each in wanted if isinstance(each, ast.FunctionDef)]
        assert [ast.unparse(each.args) for each in functions] == [ast.unparse(each.args) for each in wanted]
        assert [ast.get_docstring(each) for each in functions] == [ast.get_docstring(each) for each in wanted]
        assert "solution" not in text.lower()
        assert "np." not in text

    def test_the_first_five_exercises_have_a_trial(self):
        assert sorted(name for name in NAMES if find_exercise(name).trial) == sorted(SOLVED)


class TestTrials:
    @pytest.mark.budget(6)
    def test_the_episodes_are_those_of_the_first_seeds(self):
        exercise = find_exercise("mdp_by_hand")
        found = trial_returns(FOLDER / "mdp_by_hand" / "plain.py", exercise)
        assert found == [11.0] * 100
        half = trial_returns(FOLDER / "mdp_by_hand" / "half.py", exercise)
        assert len(half) == 100

    def test_an_error_is_the_submissions(self, tmp_path):
        path = tmp_path / "mdp_by_hand.py"
        path.write_text(starter(source_of("mdp_by_hand")))
        with pytest.raises(SubmissionError, match="NotImplementedError"):
            trial_returns(path, find_exercise("mdp_by_hand"))

    def test_worlds_are_of_the_first_seeds_and_of_others(self):
        env, practice = (world.hosted() for world in Trial("Chain-v0", "", "", practice=9).worlds())
        assert (env.seed, env.most_resets, env.budget) == (0, 100, 1900)
        assert (practice.seed, practice.budget) == (100, 9)

    @pytest.mark.budget(6)
    def test_the_command_plays_it(self):
        def run(name, *more):
            path = FOLDER / "mdp_by_hand" / name
            return CliRunner().invoke(app, ["grade", str(path), "--exercise", "mdp_by_hand", "--trial", *more])

        assert "trial: mean return 11 (100 episodes)" in run("plain.py").output
        assert "requires a single submission" in run("plain.py", "--format", "json").output

    def test_the_command_says_where_there_is_none(self, tmp_path):
        path = tmp_path / "gae.py"
        path.write_text(builder().student(source_of("gae")))
        done = CliRunner().invoke(app, ["grade", str(path), "--trial"])
        assert done.exit_code
        assert "no trial" in done.output
