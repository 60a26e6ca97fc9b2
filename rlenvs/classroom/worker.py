"""The process of a submission: it confines itself, loads the submission, and answers requests until the pipe closes.

Run as a file in the folder that it may write, never imported: `python -I worker.py USER spaces`.
Whatever a submission changes in here changes its own answers.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import types
from collections.abc import Callable
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import sandbox  # type: ignore[import-not-found]

# before NumPy starts threads, which cannot enter a namespace of users
SEPARATE = sandbox.separate(int(sys.argv[1]), sys.argv[2] == "spaces") if __name__ == "__main__" else {}
import wire  # type: ignore[import-not-found]  # noqa: E402

del sys.path[0]
import numpy as np  # noqa: E402
import numpy.random  # noqa: E402  (loaded lazily otherwise)


class Absent(types.ModuleType):
    """The package while grading: it has the answers to many exercises. It can be imported, since notebooks often do so
    at the top, but not used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ImportError(
            f"rlenvs.{name}: rlenvs is not available during grading; use it only in cells with the tag experiment"
        )


class RemoteEnv:
    """An environment that lives with the grader, with the methods of a Gymnasium environment that learning needs.

    Attributes:
        n_states, n_actions: of finite spaces; else None.
        budget: the steps that may be taken in all.
    """

    def __init__(self, link: Link, told: dict[str, Any], given: Callable[[Any], Any]) -> None:
        self._link, self._number, self._given = link, told["number"], given
        self.n_states, self.n_actions, self.budget = told["n_states"], told["n_actions"], told["budget"]

    def reset(self) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; its seed is the grader's."""
        return self._given(self._link.ask("reset", self._number, None)), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take a step."""
        observation, reward, terminated, truncated = self._link.ask("step", self._number, action)
        return self._given(observation), reward, terminated, truncated, {}


class Link:
    """The pipe, and what is asked over it while a function runs."""

    def __init__(self) -> None:
        # the submission's prints go nowhere; a message that it writes into the pipe is an answer like another
        self.requests, self.answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)

    def ask(self, what: str, number: int, action: Any) -> Any:
        """Something of an environment."""
        wire.send(self.answers, {"ask": what, "number": number, "action": wire.plain(action)})
        answer = wire.receive(self.requests)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return wire.value_of(answer["value"])


def load(request: dict[str, Any]) -> dict[str, Any]:
    """The names that a submission defines; of a file of weights its arrays."""
    if request["kind"] == "code":
        space: dict[str, Any] = {"__name__": "submission", "__builtins__": __builtins__}
        exec(compile(request["source"], "submission", "exec"), space)
        return space
    if request["kind"] == "npz":
        with np.load(request["file"], allow_pickle=False) as found:
            return {"weights": {name: found[name] for name in found.files}}
    from safetensors.numpy import load_file

    return {"weights": load_file(request["file"])}


def answered(link: Link, space: dict[str, Any], request: dict[str, Any]) -> Any:
    """What the submission says to a request: a function's result, or a value."""
    found = space.get(request["name"])
    if found is None:
        raise NameError(f"the submission defines no {request['name']}")
    if not callable(found):
        return found
    given = listed if space.get("ARGUMENTS") == "lists" else same
    arguments = [
        RemoteEnv(link, each["env"], given) if isinstance(each, dict) and "env" in each else given(wire.value_of(each))
        for each in request["arguments"]
    ]
    return found(*arguments)


def same(value: Any) -> Any:
    """The value."""
    return value


def listed(value: Any) -> Any:
    """The value with lists in the place of arrays: a submission that sets `ARGUMENTS = "lists"` asks for it, as those
    do that were written in a page, where there is no NumPy."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [listed(each) for each in value] if isinstance(value, list) else value


def told(error: BaseException) -> str:
    """What an error says, and where in the submission it was raised."""
    try:
        text = str(error)[:300]
    except Exception:
        text = "an error whose text is one more error"
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "submission":
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"{type(error).__name__}: {text}" + (f" (line {line} of its code)" if line else "")


def main() -> None:
    """Answer."""
    link = Link()
    request = wire.receive(link.requests)
    sys.path[:] = request["paths"]
    if request["kind"] == "safetensors":
        import safetensors.numpy  # noqa: F401  (before there is no more reading)
    if request["package"]:
        importlib.util.find_spec("rlenvs")  # folders on the way to it can be listed now, later not
    else:
        sys.modules["rlenvs"] = Absent("rlenvs")
    if SEPARATE["spaces"]:
        sandbox.hide(request["hidden"])
    limits = request["memory"], request["seconds"]
    parts = sandbox.confine(os.getcwd(), request["readable"], request["hidden"], *limits)
    wire.send(link.answers, {"value": wire.plain({**parts, **SEPARATE})})
    submission = request
    space: dict[str, Any] = {}
    while True:
        try:
            request = wire.receive(link.requests)
        except EOFError:
            return
        try:
            if "load" in request:
                space, value = load(submission), None
            else:
                value = answered(link, space, request)
            answer = wire.frame({"value": wire.plain(value)})
        except BaseException as error:
            answer = wire.frame({"error": told(error)})
        link.answers.write(answer)
        link.answers.flush()


if __name__ == "__main__":
    main()
