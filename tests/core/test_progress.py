import io
import os
import pty
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from rlenvs.core.declare import progress as module
from rlenvs.core.declare.errors import ParameterError, printable
from rlenvs.core.declare.progress import counted, progress


class Listener(io.StringIO):
    """Standard error that says when a text has arrived."""

    def wait_for(self, text):
        until = time.monotonic() + 60
        while text not in self.getvalue():
            assert time.monotonic() < until, self.getvalue()
            time.sleep(0.005)


@pytest.fixture
def said(monkeypatch):
    monkeypatch.delenv(module.QUIET)
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    monkeypatch.setattr(module, "PAUSE", 0.01)
    listener = Listener()
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=listener, stdout=sys.stdout))
    return listener


def test_lines_say_what_is_done_and_that_it_is_over(said):
    with progress("playing episodes", total=1000) as tell:
        said.wait_for("playing episodes: 0 of 1,000\n")
        tell(37, "step 120")
        said.wait_for("playing episodes: 37 of 1,000, step 120 (0 s)\n")
    assert said.getvalue().endswith("playing episodes: done (0 s)\n")
    assert not [thread for thread in threading.enumerate() if "progress" in thread.name]


def test_silence_is_never_long():
    assert module.PAUSE < 5.0
    assert module.PATIENCE < 2.0


def test_only_the_innermost_speaks(said):
    with progress("outer"):
        said.wait_for("outer ...")
        with progress("inner"):
            said.wait_for("inner ...")
            before = said.getvalue().count("outer")
            said.wait_for("inner ... (0 s)")
            time.sleep(0.1)
            assert said.getvalue().count("outer") == before
        said.wait_for("inner: done")
        said.wait_for("outer ... (0 s)")


def test_a_failure_is_not_called_done(said):
    def fail():
        said.wait_for("work ...")
        raise ParameterError("no")

    with pytest.raises(ParameterError), progress("work"):
        fail()
    assert "done" not in said.getvalue()


def test_what_is_soon_over_is_not_spoken_of(said, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 60.0)
    assert list(counted("abc", "letters", 3)) == ["a", "b", "c"]
    assert said.getvalue() == ""


@pytest.mark.parametrize("value", ["1", "yes"])
def test_silence(said, monkeypatch, value):
    monkeypatch.setenv(module.QUIET, value)
    with progress("work"):
        assert not [thread for thread in threading.enumerate() if "progress" in thread.name]
    assert said.getvalue() == ""


def test_nobody_listens(said, monkeypatch):
    said.close()
    with progress("work") as tell:
        time.sleep(0.05)
        tell(1)
    monkeypatch.setattr(module.sys, "stderr", None)
    with progress("work"):
        pass


CODE = """
import sys, time
from rlenvs.core.declare import progress as module
module.PATIENCE = 0.0
with module.progress("work [b]", total=4) as tell:
    for k in range(5):
        tell(k, "\\x1b[31mred")
        time.sleep(0.3)
    print("the result")
"""


def test_on_a_terminal_a_bar_comes_and_goes_and_what_is_printed_stays_where_it_belongs():
    ours, theirs = pty.openpty()
    environment = {**os.environ, module.QUIET: "0", "TERM": "xterm", "COLUMNS": "80"}
    done = subprocess.Popen([sys.executable, "-c", CODE], stdout=subprocess.PIPE, stderr=theirs, env=environment)
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        seen += part
    assert done.communicate()[0] == b"the result\n"
    os.close(ours)
    text = seen.decode()
    assert "work [b]: 4 of 4, \\x1b[31mred" in text
    assert "\x1b[31mred" not in text
    assert text.rstrip().endswith("\x1b[2K")  # the last line is taken away


def test_texts_cannot_steer_a_terminal():
    assert printable("a\x1b[31m\x07\r\u202e\udc80 é 数\n\tb") == "a\\x1b[31m\\x07\\r\\u202e\\udc80 é 数\n\tb"
    assert str(ParameterError("bad \x1b]0;title\x07")) == "bad \\x1b]0;title\\x07"
