"""Which expressions are always a number or a text, so that they need no help from the runtime.

A kind is "int", "float", "number" (one of both), "str", "bool" or "list", which as an index chooses several elements.
Products, powers and shifts of whole numbers have no kind, since they may need more digits than JavaScript's numbers
have.
"""

from __future__ import annotations

import ast
import math
from types import BuiltinFunctionType, FunctionType
from typing import Any

from rlenvs.live.translate.scope import MISSING, Scope, parameters

NUMBERS = ("int", "float", "number", "bool")
ANNOTATED = {"float": "number", "int": "int", "str": "str", "bool": "bool"}
RETURNED = {
    "len": "int",
    "int": "int",
    "float": "float",
    "str": "str",
    "bool": "bool",
    "any": "bool",
    "all": "bool",
    "list": "list",
}
WHOLE_MATH = ("floor", "ceil", "isqrt")
TRUTHS = ("isfinite", "isnan", "isinf", "isclose")
FEW = 1000  # a product with a smaller literal has digits enough


def merged(*kinds: str | None) -> str | None:
    """The kind of what has one of several kinds."""
    found = set(kinds)
    if len(found) == 1:
        return kinds[0]
    return "number" if found <= {"int", "float", "number"} else None


def annotated(annotation: Any) -> str | None:
    """The kind that an annotation tells, as text, type or syntax."""
    if isinstance(annotation, ast.expr):
        annotation = ast.unparse(annotation)
    return ANNOTATED.get(getattr(annotation, "__name__", annotation) if annotation else "")


class Kinds:
    """The kinds of expressions in a scope."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def of(self, node: ast.expr) -> str | None:
        """The kind of an expression; None where it is not known."""
        find = getattr(self, f"_{type(node).__name__.lower()}", None)
        return find(node) if find else None

    def numeric(self, *nodes: ast.expr) -> bool:
        """Whether all are numbers."""
        return all(self.of(node) in NUMBERS for node in nodes)

    def _constant(self, node: ast.Constant) -> str | None:
        return kind_of_value(node.value)

    def _name(self, node: ast.Name) -> str | None:
        if self.scope.holder(node.id):
            return self.scope.kind(node.id)
        return kind_of_value(self.scope.value(node.id))

    def _attribute(self, node: ast.Attribute) -> str | None:
        value = self.scope.value(node.value.id) if isinstance(node.value, ast.Name) else MISSING
        return kind_of_value(getattr(value, node.attr, None)) if type(value).__name__ == "module" else None

    def _joinedstr(self, _node: ast.JoinedStr) -> str:
        return "str"

    def _list(self, _node: ast.List | ast.ListComp) -> str:
        return "list"

    _listcomp = _list

    def _unaryop(self, node: ast.UnaryOp) -> str | None:
        if isinstance(node.op, ast.Not):
            return "bool"
        kind = self.of(node.operand)
        return "int" if kind == "bool" else kind if kind in NUMBERS and not isinstance(node.op, ast.Invert) else None

    def _binop(self, node: ast.BinOp) -> str | None:
        left, right = self.of(node.left), self.of(node.right)
        if left == right == "str" and isinstance(node.op, ast.Add):
            return "str"
        if left not in NUMBERS or right not in NUMBERS:
            return None
        if isinstance(node.op, ast.Div):
            return "float"
        if isinstance(node.op, (ast.Add, ast.Sub, ast.Mod, ast.FloorDiv)):
            return _sum_kind(left, right)
        if isinstance(node.op, ast.Mult):
            return self._product_kind(node, left, right)
        if isinstance(node.op, ast.Pow) and "float" in (left, right):
            return "float"
        return None

    def _product_kind(self, node: ast.BinOp, left: str, right: str) -> str | None:
        if "float" in (left, right):
            return "float"
        small = any(
            isinstance(side, ast.Constant) and isinstance(side.value, (int, float)) and abs(side.value) < FEW
            for side in (node.left, node.right)
        )
        return _sum_kind(left, right) if small else None

    def _compare(self, node: ast.Compare) -> str | None:
        sides = [node.left, *node.comparators]
        plain = all(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops)
        known = [self.of(side) for side in sides]
        return "bool" if plain or all(kind in NUMBERS for kind in known) or "str" in known else None

    def _boolop(self, node: ast.BoolOp) -> str | None:
        return merged(*map(self.of, node.values))

    def _ifexp(self, node: ast.IfExp) -> str | None:
        return merged(self.of(node.body), self.of(node.orelse))

    def _call(self, node: ast.Call) -> str | None:
        function = self.called(node.func)
        if isinstance(function, (BuiltinFunctionType, type)):
            return self._builtin_kind(node, function)
        if isinstance(function, FunctionType) and not self.scope.source.words:
            return annotated(function.__annotations__.get("return"))
        return None

    def called(self, node: ast.expr) -> Any:
        """The function or class that is called by a name that is no variable, MISSING if unknown."""
        if isinstance(node, ast.Name):
            return self.scope.value(node.id)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = self.scope.value(node.value.id)
            return getattr(module, node.attr, MISSING) if type(module).__name__ == "module" else MISSING
        return MISSING

    def _builtin_kind(self, node: ast.Call, function: Any) -> str | None:
        name, module = function.__name__, function.__module__
        if module == "math" and getattr(math, name, None) is function:
            return "int" if name in WHOLE_MATH else "bool" if name in TRUTHS else "float"
        if module != "builtins":
            return None
        if name in ("min", "max") and len(node.args) > 1 and not node.keywords:
            return merged(*map(self.of, node.args)) if self.numeric(*node.args) else None
        if name == "abs" and len(node.args) == 1:
            return self.of(node.args[0]) if self.numeric(*node.args) else None
        if name == "round":
            return "int" if len(node.args) == 1 else "float"
        return RETURNED.get(name)


def _sum_kind(left: str, right: str) -> str:
    if "float" in (left, right):
        return "float"
    return "number" if "number" in (left, right) else "int"


def kind_of_value(value: Any) -> str | None:
    """The kind of a constant."""
    kind = type(value).__name__
    if kind == "int" and abs(value) >= 2**53:
        return None
    return kind if kind in ("int", "float", "str", "bool") else None


def infer(scope: Scope, arguments: ast.arguments, body: list[ast.stmt]) -> None:
    """Find the kinds of a function's variables: those that every assignment agrees on."""
    given = {each.arg: annotated(each.annotation) for each in parameters(arguments)}
    optional = {each.arg for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value}
    assigned, opaque = _assignments(body)
    opaque |= scope.own - given.keys() - assigned.keys() - optional
    kinds = Kinds(scope)
    # in the order of the source: which of several solutions is found depends on it
    scope.kinds = {name: "int" for name in assigned if name not in opaque and name not in given}
    scope.kinds |= {name: kind for name, kind in given.items() if kind and name not in opaque}
    found: dict[str, str] = {}
    while found != scope.kinds:
        found = dict(scope.kinds)
        for name in found:
            own = [kinds.of(value) for value in assigned.get(name, [])]
            kind = merged(*own, found[name] if name in given else own[0])
            if kind is None:
                del scope.kinds[name]
            else:  # whole numbers are what all are taken for at first
                scope.kinds[name] = kind if found[name] == "int" else merged(kind, found[name]) or kind


def _assignments(body: list[ast.stmt]) -> tuple[dict[str, list[ast.expr]], set[str]]:
    """The expressions that variables are set to, and the variables for which there are others."""
    assigned: dict[str, list[ast.expr]] = {}
    opaque: set[str] = set()

    def see(target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Name) and value is not None:
            assigned.setdefault(target.id, []).append(value)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for each, own in zip(target.elts, value.elts, strict=True):
                see(each, None if isinstance(own, ast.Starred) else own)
        else:
            opaque.update(n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))

    for node in (inner for statement in body for inner in ast.walk(statement)):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                see(target, node.value)
        elif isinstance(node, ast.AnnAssign) and node.value:
            see(node.target, node.value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            see(node.target, ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value))
        elif isinstance(node, ast.For):
            see(node.target, ast.Constant(0) if is_range(node.iter) else None)
        elif isinstance(node, (ast.NamedExpr, ast.FunctionDef)):
            opaque.add(node.name if isinstance(node, ast.FunctionDef) else node.target.id)
    return assigned, opaque


def is_range(node: ast.expr) -> bool:
    """Whether an expression is range(...)."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"
