"""The mark of functions that are compiled into the batch driver."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Function = TypeVar("Function", bound=Callable[..., object])

marked: list[Callable[..., object]] = []


def kernel(function: Function) -> Function:
    """Mark a function as part of a world's dynamics.

    It stays a plain Python function (call it, debug it, test it); other kernels and the batch driver call its compiled
    form. Allowed inside: numbers, records, array views, calls to other kernels and to `math`. Not allowed: allocation,
    Python objects, exceptions, globals that change.
    """
    marked.append(function)
    return function
