"""An exercise as data, for a page that asks its public questions and plays its trial."""

from __future__ import annotations

import ast
import json
from typing import Any

import numpy as np

from rlenvs.classroom.exercise import PUBLIC, Draws, Exercise
from rlenvs.classroom.questions import Near, Process, Question, World, Worth
from rlenvs.classroom.source import code_of
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError

HEAD = 'ARGUMENTS = "lists"  # rlenvs grade gives lists in the place of arrays, as the page does'
GAP = 'raise NotImplementedError("your code here")'


def data_of(exercise: Exercise, source: str) -> dict[str, Any]:
    """What a page has to know, as JSON has it.

    Args:
        exercise: with a trial.
        source: of its notebook, in percent format.

    Raises:
        ParameterError: the exercise has no trial.
    """
    if exercise.trial is None:
        raise ParameterError(f"the exercise {exercise.name} has no trial; a page needs one")
    trial = exercise.trial
    return {
        "name": exercise.name,
        "title": exercise.title,
        "seconds": exercise.seconds,
        "head": HEAD,
        "starter": starter(source),
        "tests": [
            {"name": test.name, "points": test.points, "question": _question(exercise, test.name, test.ask)}
            for test in exercise.tests
            if not test.hidden
        ],
        "hidden": sum(test.points for test in exercise.tests if test.hidden),
        "trial": {
            "id": trial.id,
            "told": trial.told,
            "code": trial.code,
            "episodes": trial.EPISODES,
            "scores": [{"label": who, "mean": score.mean} for who, score in world_of(trial.id).scores.items()],
            **_arguments((*trial.worlds(), *trial.arguments)),
        },
    }


def starter(source: str) -> str:
    """What is handed in, as functions of plain Python with nothing but their docstrings."""
    parts = [HEAD]
    for each in ast.parse(code_of(source)).body:
        if isinstance(each, ast.FunctionDef):
            head = f"def {each.name}({ast.unparse(each.args)}):"
            parts.append(f'{head}\n    """{ast.get_docstring(each)}"""\n    {GAP}')
    return "\n\n\n".join(parts) + "\n"


def _question(exercise: Exercise, name: str, ask: Any) -> dict[str, Any] | None:
    """None of a test that is more than a question: only Python can judge it."""
    if ask is None:
        return None
    question: Question = ask(Draws(PUBLIC, f"{exercise.name}/{name}"))
    return {
        "function": question.function,
        **_arguments(question.arguments),
        "right": [_right(each) for each in question.right],
    }


def _arguments(arguments: tuple[Any, ...]) -> dict[str, Any]:
    """Arguments as text, since JavaScript would not keep 1.0 and 1 apart; worlds in it have numbers."""
    worlds = [each for each in arguments if isinstance(each, World)]
    plain = [{"world": worlds.index(each)} if isinstance(each, World) else _listed(each) for each in arguments]
    return {"arguments": json.dumps(plain, allow_nan=False), "worlds": [_world(each) for each in worlds]}


def _world(world: World) -> dict[str, Any]:
    hosted = world.hosted()
    return {
        "id": world.id,
        "seed": str(world.seed),  # of 62 bits
        "most_resets": hosted.most_resets,
        **hosted.told(),
    }


def _right(right: Near | Worth) -> dict[str, Any]:
    process = right.process and _process(right.process)
    if isinstance(right, Worth):
        return {"process": process, "start": _listed(right.start), "none": right.none, "full": right.full}
    wanted = np.asarray(right.wanted, np.float64).tolist()
    return {"process": process, "wanted": wanted, "what": right.what, "within": right.within}


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _process(process: Process) -> dict[str, Any]:
    return {"P": _listed(process.P), "R": _listed(process.R), "gamma": process.gamma}
