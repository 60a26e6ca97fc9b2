"""Submissions that attack the grader: each with all that the kernel gives, and where it gives no namespaces."""

import ctypes
import os
import resource
import sys
import tempfile
import time

import numpy as np
import pytest
from support.classroom_helpers import FOLDER

import rlenvs
from rlenvs.classroom import process
from rlenvs.classroom.process import Limits, Submission, SubmissionError
from rlenvs.classroom.scratch import remove
from rlenvs.classroom.source import submitted

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux's sandbox")
HEAD = "import ctypes, fcntl, json, os, struct, sys, threading, time\nlibc = ctypes.CDLL(None, use_errno=True)\n"


@pytest.fixture(params=["namespaces", "without"])
def started(request, tmp_path, monkeypatch):
    """A submission of some code; without namespaces too."""
    if request.param == "without":
        monkeypatch.setattr(process, "_ways", lambda: [(0, False)])
        if os.access("/dev/shm", os.W_OK):  # disks take long for many files
            monkeypatch.setattr(tempfile, "tempdir", "/dev/shm")

    def start(code, **limits):
        path = tmp_path / "submission.py"
        path.write_text(HEAD + code)
        return Submission(submitted(path), Limits(**{"seconds": 10.0, **limits}))

    return start


# --- what reaches other processes, or outlives its own ----------------------------------------------------------------

CALLS = {
    "signals by pipe": "fcntl.fcntl(os.pipe()[0], 8, {pid})",
    "which signal": "fcntl.fcntl(os.pipe()[0], 10, 9)",
    "signals by pipe, of a group": "fcntl.fcntl(os.pipe()[0], 15, struct.pack('ii', 2, {pid}))",
    "asynchronous pipes": "fcntl.fcntl(os.pipe()[0], 4, 0x2000)",
    "owners by ioctl": "fcntl.ioctl(os.pipe()[0], 0x8901, struct.pack('i', {pid}))",
    "asynchronous by ioctl": "fcntl.ioctl(os.pipe()[0], 0x5452, struct.pack('i', 1))",
    "signals": "-libc.kill({pid}, 0) and 1 / 0",
    "signals to a group": "-libc.killpg({pid}, 0) and 1 / 0",
    "groups": "os.setpgid(0, 0)",
    "sessions": "os.setsid()",
    # to what they are: whoever breaks the sandbox shall not slow down his machine by its tests
    "priority": "os.setpriority(os.PRIO_PROCESS, {pid}, {nice})",
    "processors": "os.sched_setaffinity({pid}, {processors})",
    "schedule": "os.sched_setscheduler({pid}, os.SCHED_OTHER, os.sched_param(0))",
    "limits": "__import__('resource').prlimit({pid}, 7)",
    "shared memory": "libc.shmget(0x7a7a, 4096, 0o1666) < 0 and 1 / 0",
    "semaphores": "libc.semget(0x7a7a, 1, 0o1666) < 0 and 1 / 0",
    "queues": "libc.msgget(0x7a7a, 0o1666) < 0 and 1 / 0",
    "memory that is no file": "os.memfd_create('x')",
    "socket pairs": "libc.socketpair(1, 1, 0, (ctypes.c_int * 2)()) and 1 / 0",
    "keys": "libc.syscall(249, b'user', b'x', None, 0) < 0 and ctypes.get_errno() == 1 and 1 / 0",
    "new namespaces": "libc.unshare(0x10000000) and 1 / 0",
    "mounts": "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None) and 1 / 0",
}


EVAL = """
def act(line):
    try: eval(line)
    except (OSError, ZeroDivisionError) as error: return str(error)
"""


def test_calls_are_refused(started):
    """Each would have worked: the process is there, and its limits allow it."""
    mine = {"pid": os.getpid(), "nice": os.nice(0), "processors": os.sched_getaffinity(0)}
    with started(EVAL) as submission:
        done = {what: submission.call("act", line.format(**mine)) for what, line in CALLS.items()}
    assert [what for what, error in done.items() if error is None] == []


def test_answers_are_out_of_reach(started):
    """Solutions, grading and exact models; the package can be imported, but not used."""
    lines = [f"open({str(FOLDER / 'gae' / 'exercise.py')!r})", f"os.listdir({str(FOLDER)!r})"]
    lines += [f"open({rlenvs.__file__!r})", "(sys.modules.pop('rlenvs'), __import__('rlenvs').solve_mdp)"]
    with started(EVAL.replace("OSError", "OSError, ImportError, AttributeError")) as submission:
        assert submission.call("act", "__import__('rlenvs')") is None
        assert "not available during grading" in submission.call("act", "__import__('rlenvs').solve_mdp")
        done = {line: submission.call("act", line) for line in lines}
    assert [line for line, error in done.items() if error is None] == []


def test_it_can_do_what_it_needs(started):
    lines = ["open('mine', 'w').isatty()", "os.pipe()", "os.sched_yield()", "fcntl.fcntl(os.pipe()[0], 4, 0x800)"]
    lines += ["threading.Thread(target=int).start()"] * (os.geteuid() == 0)
    with started(EVAL) as submission:
        assert [submission.call("act", line) for line in lines] == [None] * len(lines)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has powers to lose")
def test_root_has_no_powers(started):
    code = "def act():\n    libc.capget(head, data)\n    return list(struct.unpack('6I', data.raw))\n"
    code = "head = ctypes.create_string_buffer(struct.pack('<Ii', 0x20080522, 0))\n" + code
    with started(f"data = ctypes.create_string_buffer(24)\n{code}") as submission:
        assert submission.call("act") == [0] * 6


def test_it_sees_no_other_process(tmp_path):
    path = tmp_path / "submission.py"
    path.write_text("import os\ndef act():\n    return [os.getpid(), os.getppid()]\n")
    with Submission(submitted(path)) as submission:
        if not submission.sandbox["spaces"]:
            pytest.skip("no namespaces here")
        assert submission.call("act") == [1, 0]


# --- what holds the grader up, or fills it ----------------------------------------------------------------------------


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # MiB


def test_answers_that_nobody_asked_for_wait(started):
    code = """
frame = json.dumps({"value": "x" * 2**20}).encode()
def pour():
    while True:
        os.write(out, struct.pack("<I", len(frame)) + frame)
def act():
    global out
    for number in range(3, 20):
        try:
            if fcntl.fcntl(number, fcntl.F_GETFL) & 3 == 1: out = number
        except OSError: pass
    pour()
"""
    with started(code) as submission:
        submission.call("act")  # the first of them
        before = peak()
        time.sleep(1.0)
        assert peak() - before < 50


def test_questions_without_end_end(started):
    """It asks for ever, and reads the answers."""
    from rlenvs.classroom.exercise import Draws

    code = "def act(env):\n    while True:\n        try: env.reset()\n        except RuntimeError: pass\n"
    with started(code, seconds=1.0) as submission:
        env = Draws(b"key", "name").env("Chain-v0", 100)
        env.env.reset()  # takes longer the first time
        with pytest.raises(SubmissionError, match="did not answer within"):
            submission.call("act", env)
        assert env.resets == 101


@pytest.mark.parametrize("asks", [True, False])
def test_who_does_not_read_is_stopped(asks, started):
    """Neither answers to its questions nor what it is asked can fill the pipe for ever."""
    from rlenvs.classroom.exercise import Draws

    code = """
def act(env, *more):
    if ASKS:
        while True: sys.modules["wire"].send(env._link.answers, {"ask": "reset", "number": 0, "action": None})
    sys.modules["wire"].receive = lambda pipe: time.sleep(1000)
"""
    env = Draws(b"key", "name").env("Chain-v0", 10**9)
    env.env.reset()  # takes longer the first time
    with started(f"ASKS = {asks}\n" + code, seconds=1.0) as submission:
        if not asks:
            submission.call("act", env)
        with pytest.raises(SubmissionError, match=r"does not read|did not answer within"):
            submission.call("act", env, np.zeros(10**6))


def test_all_calls_together_have_a_limit(started):
    with started("def act():\n    time.sleep(0.4)\n", seconds=1.5, total=2.0) as submission:
        with pytest.raises(SubmissionError, match=r"used up its 2 s"):
            [submission.call("act") for _ in range(41)]
        with pytest.raises(SubmissionError, match="used up"):
            submission.call("act")


DEEP = ["[" * 900 + "]" * 900, '{"dict": [[1, ' * 300 + "1" + "]]}" * 300]


@pytest.mark.parametrize("text", [*DEEP, "[" + "[], " * 10**6 + "[]]"], ids=["lists", "dictionaries", "many"])
def test_answers_that_are_deep_or_many(text, started):
    code = f"""
def act():
    data = b'{{"value": ' + {text!r}.encode() + b'}}'
    sys.modules["wire"].frame = lambda message: struct.pack("<I", len(data)) + data
"""
    with started(code) as submission, pytest.raises(SubmissionError, match=r"nested 20 deep|more than 1000000 items"):
        submission.call("act")


def test_the_disk_has_an_end(started):
    code = """
def act():
    for number in range(1000):
        with open(f"file{number}", "wb") as file: file.write(bytes(2**23))
    time.sleep(2)
"""
    with started(code, seconds=60.0) as submission, pytest.raises(SubmissionError, match=r"No space|more than 64 MiB"):
        submission.call("act")


def test_many_files_have_an_end(started):
    code = "def act():\n    for number in range(10**4): open(f'file{number}', 'w').close()\n    time.sleep(2)\n"
    with started(code, seconds=60.0) as submission, pytest.raises(SubmissionError, match=r"No space left|4096 files"):
        submission.call("act")


def test_folders_in_folders_are_removed(started):
    code = "def act():\n    for _ in range(1500):\n        os.mkdir('a')\n        os.chdir('a')\n"
    with started(code) as submission:
        submission.call("act")
    assert not submission._folder.exists()


def test_a_folder_is_removed_whatever_is_in_it(tmp_path):
    folder = tmp_path / "folder"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "file").write_text("x")
    (folder / "a" / "link").symlink_to(tmp_path)
    (folder / "dangling").symlink_to("nowhere")
    os.mkfifo(folder / "pipe")
    (folder / "a" / "b").chmod(0o300)
    (folder / "a").chmod(0)
    (tmp_path / "kept").write_text("x")
    remove(folder)
    assert sorted(os.listdir(tmp_path)) == ["kept"]


def test_shared_memory_does_not_survive(started):
    with started("def act():\n    return libc.shmget(0x7a7b, 4096, 0o1666)\n") as submission:
        assert submission.call("act") == -1
    assert ctypes.CDLL(None).shmget(0x7A7B, 4096, 0) == -1


def test_errors_whose_text_is_an_error(started):
    code = """
class Bad(Exception):
    def __str__(self): raise self
def act():
    raise Bad
"""
    with started(code) as submission, pytest.raises(SubmissionError, match="one more error"):
        submission.call("act")


def test_where_namespaces_cannot_read_the_packages(tmp_path, monkeypatch):
    """A first way that ends before it answers is followed by the next."""
    path = tmp_path / "submission.py"
    path.write_text("def act():\n    return 1\n")
    worst = [(2**31, False), (0, False)]  # a user that cannot be taken
    monkeypatch.setattr(process, "_ways", lambda: worst)
    monkeypatch.setattr(process.os, "chown", lambda *_: None)
    with Submission(submitted(path)) as submission:
        assert submission.call("act") == 1
        assert not submission.sandbox["user"]
