"""An exercise as `grading.py` writes it down: tests with points, of which some are hidden and draw from a secret."""

from __future__ import annotations

import ast
import hashlib
import hmac
import importlib.util
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from rlenvs.classroom.hosted import HostedEnv
from rlenvs.classroom.process import Submission
from rlenvs.core.declare.errors import ParameterError, nearest

if TYPE_CHECKING:
    from rlenvs.classroom.questions import Question, Trial

PUBLIC = b"public"  # the key of public tests
Judge = Callable[[Submission, "Draws"], float | None]


class Failed(Exception):  # noqa: N818
    """A test that earned nothing, with the reason."""


class Draws:
    """What a test draws: everything follows from the key and the test's name, and is the same for every submission."""

    def __init__(self, key: bytes, name: str) -> None:
        digest = hmac.new(key, name.encode(), hashlib.sha256).digest()
        self.rng = np.random.default_rng(list(digest))

    def seed(self) -> int:
        """A seed of 31 bits, as every generator takes it."""
        return int(self.rng.integers(2**31 - 10_000))

    def world_seed(self) -> int:
        """A seed of a world in which a submission plays: of 62 bits, too many to be found from what is seen."""
        return int(self.rng.integers(2**62))

    def env(self, id: str, budget: int, **keywords: Any) -> HostedEnv:
        """An environment that the submission may step so often."""
        return HostedEnv(gymnasium.make(f"rlenvs/{id}", **keywords), self.world_seed(), budget)


@dataclass(frozen=True)
class Test:
    """A test. Attributes: name: in words. points: it gives. hidden: whether it needs the secret. judge: gives the share
    of the points, None for all of them. ask: draws the question, of a test that asks one; a page can ask it too."""

    name: str
    points: float
    hidden: bool
    judge: Judge
    ask: Callable[[Draws], Question] | None = None


@dataclass
class Exercise:
    """What is graded.

    Attributes:
        name: of its folder. title: in words. minutes: that the notebook runs on two cores. seconds: for one call of a
            submission, generous, against endless loops. given: code that is run after the submission's, with what is
            not to be handed in. trial: what a submission plays to be looked at.
    """

    name: str
    title: str
    minutes: int
    seconds: float = 60.0
    given: str = ""
    trial: Trial | None = None
    tests: list[Test] = field(default_factory=list)

    def test(self, name: str, points: float, hidden: bool = False) -> Callable[[Judge], Judge]:
        """Make a test of the function below: it takes the submission and draws, and gives a share of the points (None:
        all), or raises Failed."""

        def add(judge: Judge) -> Judge:
            self.tests.append(Test(name, points, hidden, judge))
            return judge

        return add

    def asks(
        self, name: str, points: float, hidden: bool = False
    ) -> Callable[[Callable[[Draws], Question]], Callable[[Draws], Question]]:
        """Make a test of the function below, which takes draws and gives a question."""

        def add(ask: Callable[[Draws], Question]) -> Callable[[Draws], Question]:
            self.tests.append(Test(name, points, hidden, lambda submission, draws: ask(draws).share(submission), ask))
            return ask

        return add


# --- what tests are made of -------------------------------------------------------------------------------------------


def array_like(found: Any, shape: tuple[int, ...], what: str) -> np.ndarray:
    """An answer as an array of finite numbers of this shape.

    Raises:
        Failed: it is not one.
    """
    try:
        array = np.asarray(found, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise Failed(f"{what} is a {type(found).__name__}; expected numbers of shape {shape}") from None
    if array.shape != shape:
        raise Failed(f"{what} has the shape {array.shape}; expected {shape}")
    if not np.isfinite(array).all():
        raise Failed(f"{what} contains NaN or infinite numbers")
    return array


def close(found: Any, wanted: Any, what: str, within: float = 1e-6) -> None:
    """Failed unless an answer is what is wanted, nearly."""
    right = np.asarray(wanted, np.float64)
    error = float(np.abs(array_like(found, right.shape, what) - right).max(initial=0.0))
    if not error <= within:
        raise Failed(f"{what}: wrong by up to {error:.3g}; at most {within:g} is allowed")


def lower_bound(values: Any) -> float:
    """Lower end of the 95 % confidence interval of the mean over seeds (normal approximation)."""
    array = np.asarray(values, np.float64)
    return float(array.mean() - 1.96 * array.std(ddof=1) / math.sqrt(len(array)))


def credit(value: float, none: float, full: float) -> float:
    """Partial credit: 0 at `none`, 1 at `full`, a straight line between them; 0 for NaN."""
    if math.isnan(value):
        return 0.0
    return float(np.clip((value - none) / (full - none), 0.0, 1.0))


# --- where they lie ---------------------------------------------------------------------------------------------------


def functions_of(path: Path, *names: str) -> str:
    """The code of some functions of a file; empty if there is no such file."""
    if not path.is_file():
        return ""
    text = path.read_text(encoding="utf-8")
    found = [each for each in ast.parse(text).body if isinstance(each, ast.FunctionDef) and each.name in names]
    return "\n\n\n".join(str(ast.get_source_segment(text, each)) for each in found)


def exercise_in(folder: Path) -> Exercise:
    """The exercise of a folder, by its `grading.py`.

    Raises:
        ParameterError: there is none.
    """
    path = folder / "grading.py"
    if not path.is_file():
        raise ParameterError(f"there is no {path}; an exercise is a folder with a grading.py")
    spec = importlib.util.spec_from_file_location(f"grading_{folder.name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = getattr(module, "exercise", None)
    if not isinstance(found, Exercise):
        raise ParameterError(f"{path} defines no `exercise = Exercise(...)`")
    return found


def find_exercise(name: str, folder: Path | None = None) -> Exercise:
    """The exercise of a name, in a folder of exercises: by default the checkout's `examples/classroom`. Never in the
    present folder, which may be a student's: a grading.py is run as it is.

    Raises:
        ParameterError: there is none of this name.
    """
    checkout = Path(__file__).resolve().parent.parent.parent
    place = folder or checkout / "examples" / "classroom"
    if (place / name / "grading.py").is_file():
        return exercise_in(place / name)
    known = sorted(path.parent.name for path in place.glob("*/grading.py"))
    if not known:
        hint = "give their folder with --exercises FOLDER (examples/classroom in a checkout)"
        raise ParameterError(f"no exercises in {place}; {hint}")
    raise ParameterError(f"there is no exercise {name!r}. {nearest(name, known)}")
