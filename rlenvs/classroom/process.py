"""A submission in a process of its own, as the grader sees it: functions to call, with limits."""

from __future__ import annotations

import contextlib
import io
import os
import queue
import selectors
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.classroom.hosted import HostedEnv, WorldError
from rlenvs.classroom.scratch import remove, too_much
from rlenvs.classroom.source import Submitted
from rlenvs.classroom.wire import MOST_ITEMS, WireError, frame, plain, receive, value_of

GONE = "the submission's process ended: it exited, crashed, or exceeded a limit"
LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache")
DEVICES = ("/dev/null", "/dev/urandom", "/sys/devices/system/cpu")
# where answers are: this package, which has exact models, and in a checkout the exercises
PACKAGE = Path(__file__).resolve().parent.parent
HIDDEN = [str(place) for place in (PACKAGE, PACKAGE.parent / "examples" / "classroom") if place.is_dir()]
FIRST_USER = 61184  # users from here on to 65519 are nobody's


class SubmissionError(Exception):
    """What a submission did wrong, in words for its author."""


@dataclass(frozen=True)
class Limits:
    """What a submission may use. Attributes: seconds: for one call. total: seconds for all calls together; 0: five
    times `seconds`. memory: bytes of address space."""

    seconds: float = 60.0
    total: float = 0.0
    memory: int = 3 * 2**30


class Submission:
    """A submission in its process; a context manager, whose end ends the process and all that it may have started.

    Attributes:
        sandbox: by part, whether it is in force.
    """

    def __init__(self, submitted: Submitted, limits: Limits | None = None, package: bool = False) -> None:
        """Of what was handed in; `package`: it may use rlenvs, which has exact models of what exercises ask."""
        self.submitted, self.limits = submitted, limits or Limits()
        self.sandbox: dict[str, bool] = {}
        self._package = package
        self._folder = Path(tempfile.mkdtemp(prefix="submission-"))
        self._total = self._left = self.limits.total or 5 * self.limits.seconds
        self._process: subprocess.Popen[bytes] | None = None
        # one message at most waits here: who sends more has to wait
        self._messages: queue.Queue[dict[str, Any] | Exception] = queue.Queue(1)
        self._closed = threading.Event()
        self._broken = ""

    def __enter__(self) -> Submission:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, name: str, *arguments: Any, seconds: float | None = None) -> Any:
        """What a function of the submission returns, or what a name of it stands for.

        Args:
            name: of the function.
            arguments: numbers, texts, lists, dictionaries, arrays, and hosted environments.
            seconds: for this call.

        Raises:
            SubmissionError: it has none, it raised an error, or it went over a limit.
        """
        hosted: list[HostedEnv] = []
        sent = []
        for argument in arguments:
            if isinstance(argument, HostedEnv):
                sent.append({"env": {"number": len(hosted), **argument.told()}})
                hosted.append(argument)
            else:
                sent.append(plain(argument))
        return self._asked({"name": name, "arguments": sent}, hosted, seconds or self.limits.seconds)

    def close(self) -> None:
        """End the process, its group, and its folder."""
        self._kill()
        remove(self._folder)

    def start(self) -> None:
        """Start the process, confine it, and load the submission.

        Raises:
            SubmissionError: it does not load, or went over a limit.
        """
        *ways, last = _ways()
        for user, spaces in ways:
            with contextlib.suppress(SubmissionError):
                self._confine(user, spaces)
                break
            self._kill()  # for another user or in namespaces the interpreter may be out of reach
            self._broken = ""
        else:
            self._confine(*last)
        self._left = self._total
        self._asked({"load": True}, [], self.limits.seconds)

    # --- inside -------------------------------------------------------------------------------------------------------

    def _confine(self, user: int, spaces: bool) -> None:
        """Start the process; it confines itself, and says how."""
        scratch = self._folder / "scratch"
        scratch.mkdir(exist_ok=True)
        if user:
            self._folder.chmod(0o711)
            os.chown(scratch, user, user)
        self._spawn(scratch, user, spaces)
        paths = [path for path in sys.path if path and Path(path).exists()]
        request = {
            "kind": self.submitted.kind,
            "source": self.submitted.source,
            "file": self._copied(),
            "paths": paths,
            "readable": [*_packages(), *LIBRARIES, *DEVICES, str(self._folder), *[str(PACKAGE)] * self._package],
            "package": self._package,
            "hidden": [] if self._package else HIDDEN,
            "memory": self.limits.memory,
            "seconds": int(self._total) + 1,
        }
        self.sandbox = dict(self._asked(request, [], 60.0))

    def _spawn(self, scratch: Path, user: int, spaces: bool) -> None:
        worker = Path(__file__).with_name("worker.py")
        # nothing of the grader's environment reaches it, least of all the secret
        environment = {"HOME": str(scratch), "TMPDIR": str(scratch), "TEMP": str(scratch), "PYTHONHASHSEED": "0"}
        environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        environment |= {name: os.environ[name] for name in ("SYSTEMROOT", "PATH") if name in os.environ}
        self._process = process = subprocess.Popen(
            [sys.executable, "-I", "-B", str(worker), str(user), "spaces" if spaces else "none"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd=scratch,
            env=environment,
            start_new_session=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        if os.name == "posix":
            os.set_blocking(process.stdin.fileno(), False)
        self._closed = threading.Event()
        self._messages = queue.Queue(1)
        threading.Thread(
            target=_read, args=(io.BufferedReader(process.stdout), self._messages, self._closed), daemon=True
        ).start()

    def _copied(self) -> str:
        if self.submitted.kind == "code":
            return ""
        copy = shutil.copyfile(self.submitted.path, self._folder / f"weights.{self.submitted.kind}")
        copy.chmod(0o644)
        return str(copy)

    def _asked(self, message: dict[str, Any], hosted: list[HostedEnv], seconds: float) -> Any:
        """The answer to a message, within a time and within what is left of the time of all."""
        late = f"the submission did not answer within {seconds:g} s: an infinite loop?"
        if self._left < seconds:
            seconds, late = self._left, f"the submission has used up its {self._total:g} s for all calls together"
        begin = time.monotonic()
        try:
            self._send(message, begin + seconds)
            return self._answer(hosted, begin + seconds, late)
        finally:
            self._left -= time.monotonic() - begin

    def _send(self, message: dict[str, Any], end: float) -> None:
        """Write a message before a time; who does not read is stopped."""
        if self._broken:
            raise SubmissionError(self._broken)
        assert self._process is not None
        assert self._process.stdin is not None
        data = memoryview(frame(message))
        try:
            while data:
                if not _writable(self._process, end - time.monotonic()):
                    raise self._break("the submission does not read its input")
                data = data[self._process.stdin.write(data) or 0 :]
        except OSError:
            raise self._break(GONE) from None

    def _answer(self, hosted: list[HostedEnv], end: float, late: str) -> Any:
        while True:
            left = end - time.monotonic()
            if left <= 0:
                raise self._break(late)
            try:
                message = self._messages.get(timeout=min(left, 1.0))
            except queue.Empty:
                self._watch_folder()
                continue
            if isinstance(message, Exception):
                raise self._break(str(message) if isinstance(message, WireError) else GONE)
            if "ask" in message:
                self._send(_of_env(hosted, message), end)
                continue
            self._watch_folder()
            if "error" in message:
                raise SubmissionError(str(message["error"])[:500])
            try:
                return value_of(message.get("value"))
            except WireError as error:
                raise SubmissionError(str(error)) from None

    def _watch_folder(self) -> None:
        """Stop who fills the disk, where the folder is no disk of its own."""
        if not self.sandbox.get("disk", True):
            reason = too_much(self._folder / "scratch")
            if reason:
                raise self._break(reason)

    def _break(self, reason: str) -> SubmissionError:
        """It is not asked again."""
        self._broken = reason
        self._kill()
        return SubmissionError(reason)

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.name == "posix":
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
        self._closed.set()
        with contextlib.suppress(OSError, ValueError):
            if process.stdin is not None:
                process.stdin.close()


def _read(pipe: io.BufferedReader, messages: queue.Queue[dict[str, Any] | Exception], closed: threading.Event) -> None:
    """Hand on what comes, one after the other, until the pipe or the grader is at its end."""
    with contextlib.closing(pipe):
        found: dict[str, Any] | Exception | None = None
        while not closed.is_set() and not isinstance(found, Exception):
            try:
                found = receive(pipe, MOST_ITEMS)
            except Exception as error:
                found = error
            while not closed.is_set():
                with contextlib.suppress(queue.Full):
                    messages.put(found, timeout=0.2)
                    break


def _writable(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether the process takes more within a time. Windows cannot tell."""
    if os.name != "posix":
        return True
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdin, selectors.EVENT_WRITE)  # type: ignore[arg-type]
        return bool(selector.select(max(seconds, 0.0)))


def _ways() -> list[tuple[int, bool]]:
    """Whose number the process takes (0: the grader's) and whether in namespaces, the best first."""
    if sys.platform != "linux":
        return [(0, False)]
    ways = [(0, True), (0, False)]
    needed = (sys.executable, __file__, np.__file__)
    if os.geteuid() == 0 and all(map(_for_all, needed)):
        ways.insert(0, (FIRST_USER + os.getpid() % 4000, True))
    return ways


def _for_all(path: str) -> bool:
    """Whether every user may read a file."""
    file = Path(path).resolve()
    return bool(file.stat().st_mode & 0o004) and all(folder.stat().st_mode & 0o001 for folder in file.parents)


def _of_env(hosted: list[HostedEnv], message: dict[str, Any]) -> dict[str, Any]:
    """The answer to what a submission asks of an environment."""
    try:
        env = hosted[message["number"]]
        return {"value": plain(env.reset() if message["ask"] == "reset" else env.step(value_of(message["action"])))}
    except WorldError:
        raise
    except Exception as error:  # what it sent may be anything
        return {"error": str(error)[:500]}


def _packages() -> list[str]:
    """Where Python and its packages lie, without this one in a checkout; what a submission may read."""
    found = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    found.add(os.path.join(sys.base_prefix, "lib"))
    return sorted(path for path in found if path)
