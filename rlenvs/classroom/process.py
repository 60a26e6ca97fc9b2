"""A submission in a process of its own, as the grader sees it: functions to call, with limits."""

from __future__ import annotations

import contextlib
import os
import queue
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

from rlenvs.classroom.hosted import HostedEnv
from rlenvs.classroom.source import Submitted
from rlenvs.classroom.wire import WireError, plain, receive, send, value_of

GONE = "the submission's process ended: it left, crashed, or went over a limit"
LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache")
DEVICES = ("/dev/null", "/dev/urandom", "/sys/devices/system/cpu")


class SubmissionError(Exception):
    """What a submission did wrong, in words for its author."""


@dataclass(frozen=True)
class Limits:
    """What a submission may use. Attributes: seconds: for one call, and of processor time for all together tenfold.
    memory: bytes of address space."""

    seconds: float = 60.0
    memory: int = 3 * 2**30


class Submission:
    """A submission in its process; a context manager, whose end ends the process and all that it may have started.

    Attributes:
        sandbox: by part, whether it is in force.
    """

    def __init__(self, submitted: Submitted, limits: Limits | None = None) -> None:
        self.submitted, self.limits = submitted, limits or Limits()
        self.sandbox: dict[str, bool] = {}
        self._folder = tempfile.mkdtemp(prefix="submission-")
        self._process: subprocess.Popen[bytes] | None = None
        self._messages: queue.Queue[dict[str, Any] | Exception] = queue.Queue()
        self._broken = ""

    def __enter__(self) -> Submission:
        self.start()
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
        self._send({"name": name, "arguments": sent})
        return self._answer(hosted, seconds or self.limits.seconds)

    def close(self) -> None:
        """End the process, its group, and its folder."""
        self._kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def start(self) -> None:
        """Start the process, confine it, and load the submission.

        Raises:
            SubmissionError: it does not load, or went over a limit.
        """
        worker = Path(__file__).with_name("worker.py")
        # nothing of the grader's environment reaches it, least of all the secret
        environment = {"HOME": self._folder, "TMPDIR": self._folder, "TEMP": self._folder, "PYTHONHASHSEED": "0"}
        environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        environment |= {name: os.environ[name] for name in ("SYSTEMROOT", "PATH") if name in os.environ}
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-B", str(worker)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self._folder,
            env=environment,
            start_new_session=True,
        )
        threading.Thread(target=self._read, args=(self._process,), daemon=True).start()
        paths = [path for path in sys.path if path and Path(path).exists()]
        self._send(
            {
                "kind": self.submitted.kind,
                "source": self.submitted.source,
                "file": self._copied(),
                "folder": self._folder,
                "paths": paths,
                "readable": [*_packages(), *LIBRARIES, *DEVICES],
                "memory": self.limits.memory,
                "seconds": int(10 * self.limits.seconds),
            }
        )
        self.sandbox = dict(self._answer([], 60.0))
        self._answer([], self.limits.seconds)

    # --- inside -------------------------------------------------------------------------------------------------------

    def _copied(self) -> str:
        if self.submitted.kind == "code":
            return ""
        return str(shutil.copy(self.submitted.path, Path(self._folder, f"weights.{self.submitted.kind}")))

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        try:
            while True:
                self._messages.put(receive(process.stdout))  # type: ignore[arg-type]
        except (EOFError, WireError, OSError, ValueError) as error:
            self._messages.put(error)

    def _send(self, message: dict[str, Any]) -> None:
        if self._broken:
            raise SubmissionError(self._broken)
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            send(self._process.stdin, message)  # type: ignore[arg-type]
        except OSError:
            raise self._break(GONE) from None

    def _answer(self, hosted: list[HostedEnv], seconds: float) -> Any:
        end = time.monotonic() + seconds
        while True:
            try:
                message = self._messages.get(timeout=max(end - time.monotonic(), 0.001))
            except queue.Empty:
                raise self._break(f"the submission gave no answer within {seconds:g} s: an endless loop?") from None
            if isinstance(message, Exception):
                raise self._break(str(message) if isinstance(message, WireError) else GONE)
            if "ask" in message:
                self._send(_asked(hosted, message))
                continue
            if isinstance(message.get("error"), str):
                raise SubmissionError(message["error"][:500])
            try:
                return value_of(message.get("value"))
            except WireError as error:
                raise SubmissionError(str(error)) from None

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
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError, ValueError):
                if pipe is not None:
                    pipe.close()


def _asked(hosted: list[HostedEnv], message: dict[str, Any]) -> dict[str, Any]:
    """The answer to what a submission asks of an environment."""
    try:
        env = hosted[message["number"]]
        found = env.reset() if message["ask"] == "reset" else env.step(value_of(message["action"]))
    except (ValueError, TypeError, KeyError, IndexError, OverflowError) as error:
        return {"error": str(error)}
    return {"value": plain(found)}


def _packages() -> list[str]:
    """Where Python and its packages lie; what a submission may read."""
    found = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    found |= {os.path.join(sys.base_prefix, "lib"), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}
    return sorted(path for path in found if path)
