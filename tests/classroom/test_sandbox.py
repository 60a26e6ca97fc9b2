"""Submissions that cheat are stopped, or gain nothing, and the report says why."""

import os
import sys

import numpy as np
import pytest
from support.classroom_helpers import FOLDER, SECRET

from rlenvs.classroom.exercise import Exercise, find_exercise
from rlenvs.classroom.grader import grade, grade_apart
from rlenvs.classroom.hosted import WorldError
from rlenvs.classroom.process import Limits, Submission, SubmissionError
from rlenvs.classroom.source import Submitted, submitted
from rlenvs.classroom.wire import WireError, plain, value_of

linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux's sandbox")
HALF = (FOLDER / "mdp_by_hand" / "half.py").read_text()


def started(tmp_path, code, **limits):
    path = tmp_path / "submission.py"
    path.write_text(code)
    return Submission(submitted(path), Limits(**{"seconds": 10.0, **limits}))


def refused(tmp_path, code, words, **limits):
    with started(tmp_path, code, **limits) as submission, pytest.raises(SubmissionError, match=words):
        submission.call("act")


def share_of(tmp_path, code, exercise="mdp_by_hand"):
    path = tmp_path / "submission.py"
    path.write_text(code)
    return grade(path, find_exercise(exercise), SECRET, Limits(seconds=10.0)).share


# --- what has no effect: everything that counts lives in another process ----------------------------------------------


@pytest.mark.parametrize(
    "cheat",
    [
        "import numpy as np\nnp.abs = lambda x: np.zeros(1)\nnp.allclose = lambda *a: True",
        "try:\n    import rlenvs.classroom.exercise as e\n    e.close = lambda *a, **k: None\nexcept ImportError: pass",
        "import rlenvs\nrlenvs.grade = lambda *a: 1.0",
        "import gymnasium\ngymnasium.make = None",
        'print(\'{"score": 100, "tests": []}\')\nimport sys\nsys.stdout.write(\'{"score": 100}\')',
    ],
    ids=["patches numpy", "patches the tests", "patches the grader", "edits the environment", "prints forged JSON"],
)
def test_a_patch_gains_nothing(cheat, tmp_path):
    assert share_of(tmp_path, cheat + "\n" + HALF) == share_of(tmp_path, HALF)


def test_forged_answers_in_the_pipe_are_answers(tmp_path):
    """A frame written straight into the pipe stands for what the function would have returned: it is no better."""
    forge = """
import os, json, struct
def forge():
    data = json.dumps({"score": 100, "value": {"earned": 10}}).encode()
    for number in range(3, 64):
        try: os.write(number, struct.pack("<I", len(data)) + data)
        except OSError: pass
def transitions(n):
    forge()
"""
    assert share_of(tmp_path, forge) == 0.0


def test_the_remote_environment_cannot_be_edited(tmp_path):
    """Counters set on its own side change nothing on the grader's."""
    code = """
def learn(env):
    env.budget = 10**9
    env.reset()
    for _ in range(1000):
        if any(env.step(1)[2:4]): env.reset()
"""
    exercise = Exercise("own", "own", 1)

    @exercise.test("budget", 1)
    def budget(submission, draws):
        env = draws.env("CartPole-v0", 100)
        try:
            submission.call("learn", env)
        finally:
            assert env.steps == 100

    path = tmp_path / "submission.py"
    path.write_text(code)
    (result,) = grade(path, exercise).results
    assert result.earned == 0.0
    assert "the budget of 100 steps is used up" in result.reason


def test_a_wrong_action_is_told(tmp_path):
    exercise = Exercise("own", "own", 1)

    @exercise.test("action", 1)
    def action(submission, draws):
        submission.call("learn", draws.env("CartPole-v0", 100))

    path = tmp_path / "submission.py"
    path.write_text("def learn(env):\n    env.reset()\n    env.step(7)\n")
    (result,) = grade(path, exercise).results
    assert "the action 7 is not in Discrete(2)" in result.reason


def test_a_world_that_fails_is_not_the_submission(tmp_path):
    exercise = Exercise("own", "own", 1)

    @exercise.test("broken", 1)
    def broken(submission, draws):
        env = draws.env("CartPole-v0", 100)
        env.env.step = lambda action: 1 / 0
        submission.call("learn", env)

    path = tmp_path / "submission.py"
    path.write_text("def learn(env):\n    env.reset()\n    try: env.step(1)\n    except Exception: pass\n")
    with pytest.raises(WorldError, match="the world failed, not the submission"):
        grade(path, exercise)
    (result,) = grade_apart(path, exercise).results
    assert "not graded: WorldError" in result.reason


# --- what is stopped --------------------------------------------------------------------------------------------------


def test_endless_loops_end(tmp_path):
    refused(tmp_path, "def act():\n    while True: pass", "did not answer within 1 s: an infinite loop", seconds=1.0)


def test_endless_loops_while_loading_end(tmp_path):
    path = tmp_path / "submission.py"
    path.write_text("while True: pass")
    result = grade(path, find_exercise("mdp_by_hand"), SECRET, Limits(seconds=1.0))
    assert result.earned == 0.0
    assert "infinite loop" in result.results[0].reason


@linux
def test_memory_is_limited(tmp_path):
    code = "import numpy as np\ndef act():\n    return float(np.ones(50 * 2**27).sum())"
    refused(tmp_path, code, "MemoryError|Unable to allocate")


@linux
@pytest.mark.parametrize(
    "line",
    [
        "os.fork()",
        "os.system('true')",
        "subprocess.run(['true'])",
        "__import__('_posixsubprocess')",
        "ctypes.CDLL(None, use_errno=True).fork()",
        "ctypes.CDLL(None, use_errno=True).syscall(57)",
    ],
)
def test_no_processes(line, tmp_path):
    """Python's ways are refused with words, those beneath by the kernel."""
    code = f"import os, subprocess, ctypes\ndef act():\n    return {line}"
    with started(tmp_path, code) as submission:
        if "ctypes" in line:
            assert submission.call("act") == -1
        elif "_posix" in line:
            with pytest.raises(SubmissionError):
                submission.call("act")
        else:
            with pytest.raises(SubmissionError, match="PermissionError"):
                submission.call("act")


@linux
@pytest.mark.parametrize("line", ["open({outside!r}, 'w')", "os.open({outside!r}, os.O_CREAT | os.O_WRONLY)",
                                  "os.mkdir({outside!r})", "os.remove({there!r})", "os.chmod({there!r}, 0)",
                                  "ctypes.CDLL(None).remove({bytes!r}) and 1 / 0", "os.rename({there!r}, 'mine')",
                                  "os.symlink({there!r}, 'link') or open('link', 'a')"])  # fmt: skip
def test_no_writes_outside_the_folder(line, tmp_path):
    outside, there = tmp_path / "outside", tmp_path / "there"
    there.write_text("as it was")
    line = line.format(outside=str(outside), there=str(there), bytes=os.fsencode(there))
    with started(tmp_path, f"import os, ctypes\ndef act():\n    {line}") as submission, pytest.raises(SubmissionError):
        submission.call("act")
    assert not outside.exists()
    assert there.read_text() == "as it was"


def test_writes_inside_the_folder_are_fine(tmp_path):
    code = "def act():\n    open('mine', 'w').write('x')\n    return open('mine').read()"
    with started(tmp_path, code) as submission:
        assert submission.call("act") == "x"


@linux
def test_no_network(tmp_path):
    refused(tmp_path, "import socket\ndef act():\n    socket.socket()", "refuses the network|not permitted")


@linux
def test_the_secret_is_out_of_reach(tmp_path, monkeypatch):
    """Neither in its environment, nor in the grader's, nor in a file beside the submission."""
    monkeypatch.setenv("RLENVS_GRADE_SECRET", SECRET)
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    code = f"""
import os
def environment(): return dict(os.environ)
def parent(): return open(f"/proc/{{os.getppid()}}/environ").read()
def memory(): return open(f"/proc/{{os.getppid()}}/mem", "rb").read(1)
def beside(): return open({str(secret)!r}).read()
def kill(): os.kill(os.getppid(), 9)
"""
    with started(tmp_path, code) as submission:
        assert SECRET not in str(submission.call("environment"))
        for name in ("parent", "memory", "beside", "kill"):
            with pytest.raises(SubmissionError, match=r"PermissionError|no process|No such file"):
                submission.call(name)


def test_it_may_leave(tmp_path):
    refused(tmp_path, "import os\ndef act():\n    os._exit(0)", "process ended")
    refused(tmp_path, "import sys\ndef act():\n    sys.exit(0)", "SystemExit")


def test_no_objects_cross(tmp_path):
    refused(tmp_path, "def act():\n    return object()", "a object cannot be sent")
    refused(tmp_path, "import numpy as np\ndef act():\n    return np.array([object()])", "an array of object")


def test_pickles_are_not_opened(tmp_path):
    path = tmp_path / "weights.npz"
    np.savez(path, w=np.array([{"a": 1}], dtype=object))
    with pytest.raises(SubmissionError, match="pickle"), Submission(submitted(path)):
        pass


@pytest.mark.parametrize("ending", ["npz", "safetensors"])
def test_weights(ending, tmp_path):
    from safetensors.numpy import save_file

    path = tmp_path / f"weights.{ending}"
    wanted = np.arange(6.0).reshape(2, 3)
    np.savez(path, w=wanted) if ending == "npz" else save_file({"w": wanted}, path)
    with Submission(submitted(path)) as submission:
        np.testing.assert_array_equal(submission.call("weights")["w"], wanted)


@linux
def test_the_sandbox_is_whole_here(tmp_path):
    with started(tmp_path, "") as submission:
        lacking = {name for name, there in submission.sandbox.items() if not there} - {"user"}
    assert not os.path.exists(submission._folder)
    if lacking:
        pytest.skip(f"this kernel lacks parts: {lacking}")


# --- the wire ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value", [None, True, 3, 2.5, "text", [1, [2]], {"a": 1, 2: "b"}, np.arange(6).reshape(2, 3), np.zeros((0, 3))]
)
def test_values_cross(value):
    np.testing.assert_equal(value_of(plain(value)), value)


@pytest.mark.parametrize(
    "found",
    [
        {"array": "AAAA", "dtype": "<f8", "shape": [10**9]},
        {"array": "AAAA", "dtype": "O", "shape": [1]},
        {"array": "", "dtype": "<f8", "shape": [-1, 0]},
        {"array": 3, "dtype": "<f8", "shape": [1]},
        {"dict": 3},
        {"other": 1},
    ],
)
def test_damaged_values_are_refused(found):
    with pytest.raises(WireError):
        value_of(found)


def test_experiments_are_left_out(tmp_path):
    with started(tmp_path, 'x = 1\n# %% tags=["experiment"]\nx = 2\n# %%\ny = 3\n') as submission:
        assert submission.call("x") == 1
        assert submission.call("y") == 3
    assert Submitted(tmp_path, "code").source == ""
