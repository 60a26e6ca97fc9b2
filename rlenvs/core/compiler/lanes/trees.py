"""Syntax trees of kernels: what they assign, where names occur, what may be computed for lanes that do not need it."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Collection
from types import FunctionType
from typing import NamedTuple

CHEAP = 40  # nodes of a branch below which choosing costs less than asking whether any lane takes it
PLAIN_CALLS = {"min", "max", "abs", "float", "int", "sqrt", "fabs", "isfinite", "isnan", "isinf", "copysign"}


class LaneError(TypeError):
    """What has no lane form. The message says where and why."""


class Value(NamedTuple):
    """An expression, and whether it may differ by lane."""

    node: ast.expr
    varying: bool


def source_of(function: FunctionType) -> ast.FunctionDef:
    """The syntax tree of a function.

    Raises:
        LaneError: its source is not known.
    """
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError) as error:
        raise LaneError(f"the source of {function.__qualname__} is not known, so it has no lane form") from error
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
            return node
    raise LaneError(f"the source of {function.__qualname__} is not that of a function, so it has no lane form")


def name_of(name: str | None) -> ast.expr:
    """The value of a variable."""
    assert name is not None
    return ast.Name(name, ast.Load())


def call_of(name: str, *arguments: ast.expr) -> ast.Call:
    """A call by name."""
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def mask_call(condition: ast.expr) -> ast.expr:
    """The lanes in which a condition holds, which may be a mask already."""
    return condition if _is_mask(condition) else call_of("_mask", condition)


def _is_mask(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_mask(node.left) and _is_mask(node.right)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("_mask", "_outside")


def as_loaded(target: ast.expr) -> ast.expr:
    """What is assigned to, as it is read."""
    text = ast.unparse(target)
    read = ast.parse(text, mode="eval").body
    return ast.copy_location(read, target)


def assigned_names(tree: ast.FunctionDef) -> set[str]:
    """The variables of a function, but for its arguments."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def occurrences(tree: ast.FunctionDef) -> dict[str, list[int]]:
    """Of each name, where it stands."""
    found: dict[str, list[int]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.setdefault(node.id, []).append(id(node))
    return found


def counts(loop: ast.For, name: str) -> bool:
    """Whether a loop counts with a variable."""
    return isinstance(loop.target, ast.Name) and loop.target.id == name


def has_return(tree: ast.AST) -> bool:
    """Whether a function may be left from within."""
    return any(isinstance(node, ast.Return) for node in ast.walk(tree))


def is_harmless(node: ast.AST, varying: Collection[str]) -> bool:
    """Whether what is written may be computed for lanes that do not need it: it calls no kernels, and every index is a
    constant or a counter as it stands, none of the variables that differ by lane."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            called = each.func.attr if isinstance(each.func, ast.Attribute) else getattr(each.func, "id", "")
            if called not in PLAIN_CALLS:
                return False
        if isinstance(each, ast.BinOp) and isinstance(each.op, (ast.FloorDiv, ast.Mod)):
            return False
        if isinstance(each, ast.Subscript):
            parts = each.slice.elts if isinstance(each.slice, ast.Tuple) else [each.slice]
            if not all(isinstance(part, (ast.Constant, ast.Name)) for part in parts):
                return False
            if any(isinstance(part, ast.Name) and part.id in varying for part in parts):
                return False
    return True


def is_cheap(nodes: list[ast.stmt], varying: Collection[str]) -> bool:
    """Whether a branch costs less than asking whether any lane takes it."""
    every = [each for node in nodes for each in ast.walk(node)]
    if any(isinstance(each, (ast.For, ast.While)) for each in every):
        return False
    return len(every) <= CHEAP and all(is_harmless(node, varying) for node in nodes)
