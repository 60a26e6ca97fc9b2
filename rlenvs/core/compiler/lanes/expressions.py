"""Expressions of kernels, in lanes: operators stay, conditions become masks, calls become those of lane forms."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from rlenvs.core.compiler.lanes.trees import (
    LaneError,
    Value,
    assigned_names,
    call_of,
    is_harmless,
    mask_call,
    name_of,
    occurrences,
    source_of,
)
from rlenvs.core.compiler.lanes.vectors import power
from rlenvs.core.declare.kernels import prefetch
from rlenvs.core.declare.maths import bits_of, float_of

if TYPE_CHECKING:
    from rlenvs.core.compiler.lanes.kernels import LaneKernels

VIEW_ATTRIBUTES = ("shape", "size", "ndim")
COMPARED_ONE_BY_ONE = (ast.In, ast.NotIn, ast.Is, ast.IsNot)
UNCHANGED = (min, max, abs, len, round, float, int, bool)


class Expressions:
    """What the expressions of a function become, for one pattern of arguments.

    Args:
        kernels: the namespace.
        function: to be made anew.
        pattern: which of its arguments differ by lane.
        masked: whether it is called under a mask.
    """

    def __init__(self, kernels: LaneKernels, function: FunctionType, pattern: tuple[bool, ...], masked: bool) -> None:
        self.kernels = kernels
        self.function = function
        self.masked = masked
        self.tree = source_of(function)
        arguments = [each.arg for each in self.tree.args.args]
        if len(arguments) != len(pattern) or self.tree.args.vararg or self.tree.args.kwonlyargs:
            raise self.unsupported(self.tree, "takes other arguments than it is given")
        self.arguments = arguments
        self.varying = {name for name, each in zip(arguments, pattern, strict=True) if each}
        self.locals = set(arguments) | assigned_names(self.tree)
        self.occurrences = occurrences(self.tree)
        closed = function.__closure__ or ()
        self.closed = dict(zip(function.__code__.co_freevars, (cell.cell_contents for cell in closed), strict=True))
        self.returns_varying = False
        self.sensitive = False
        self.returns_by_lane = False  # whether lanes return one by one
        self.temporaries = 0
        self.out: list[ast.stmt] = []  # what is made
        self.late: list[str] = []  # variables that lanes assign in a loop, and nobody before it

    def unsupported(self, node: ast.AST, why: str) -> LaneError:
        line = self.function.__code__.co_firstlineno + getattr(node, "lineno", 1) - 1
        place = f"{self.function.__module__}.{self.function.__qualname__}, line {line}"
        return LaneError(f"{place}: {why}; write it in another way, or declare the world without lanes")

    # --- writing ------------------------------------------------------------------------------------------------------

    def emit(self, text: str | ast.stmt) -> None:
        """Add a statement to what is made."""
        if isinstance(text, str):
            self.out.extend(ast.parse(text).body)
        else:
            self.out.append(text)

    def temporary(self, value: ast.expr) -> str:
        """A new name for a value."""
        name = self.new_name()
        self.set(name, value)
        return name

    def new_name(self) -> str:
        """One that nothing has."""
        self.temporaries += 1
        return f"t{self.temporaries}_"

    def set(self, name: str, value: ast.expr) -> None:
        """Assign to a variable."""
        self.emit(ast.Assign([ast.Name(name, ast.Store())], value, lineno=0))

    def within(self, mask: str | None, condition: ast.expr) -> str:
        """The lanes of a mask in which a condition holds."""
        if mask is None and isinstance(condition, ast.Name):
            return condition.id
        return self.temporary(ast.BinOp(name_of(mask), ast.BitAnd(), condition) if mask else condition)

    def inside(self, make: Callable[[], object]) -> list[ast.stmt]:
        """What `make` writes, apart."""
        outer, self.out = self.out, []
        make()
        made, self.out = self.out, outer
        return made or [ast.Pass()]

    # --- expressions --------------------------------------------------------------------------------------------------

    def expression(self, node: ast.expr, mask: str | None) -> Value:
        """An expression under a mask."""
        method = getattr(self, f"on_{type(node).__name__.lower()}", None)
        if method is None:
            raise self.unsupported(node, f"{type(node).__name__} has no lane form")
        found: Value = method(node, mask)
        return found

    def on_constant(self, node: ast.Constant, mask: str | None) -> Value:
        return Value(node, False)

    def on_name(self, node: ast.Name, mask: str | None) -> Value:
        if node.id in self.locals:
            return Value(name_of(node.id), node.id in self.varying)
        return Value(name_of(self.bound(node)), False)

    def on_attribute(self, node: ast.Attribute, mask: str | None) -> Value:
        if self.is_global(node):
            return Value(name_of(self.bound(node)), False)
        base = self.expression(node.value, mask)
        varying = base.varying and node.attr not in VIEW_ATTRIBUTES
        return Value(ast.Attribute(base.node, node.attr, ast.Load()), varying)

    def on_subscript(self, node: ast.Subscript, mask: str | None) -> Value:
        base = self.expression(node.value, mask)
        if isinstance(node.slice, ast.Slice) and base.varying:
            return self.sliced(base, node.slice, mask)
        index = self.index(node.slice, mask)
        if index.varying:
            self.sensitive = True
            return Value(call_of("_take", self.all_of(mask), base.node, index.node), True)
        return Value(ast.Subscript(base.node, index.node, ast.Load()), base.varying)

    def sliced(self, base: Value, node: ast.Slice, mask: str | None) -> Value:
        """Part of an array with one axis; the ends, or for `a[i : i + n]` the length, are those of all lanes."""
        size = ast.Attribute(base.node, "size", ast.Load())
        first = self.expression(node.lower, mask) if node.lower else Value(ast.Constant(0), False)
        if first.varying:
            length = self.expression(self.length_of(node), mask)
            if length.varying:
                raise self.unsupported(node, "slices have a lane form only where all lanes have the same length")
            self.sensitive = True
            return Value(call_of("_window", self.all_of(mask), base.node, first.node, length.node), True)
        last = self.expression(node.upper, mask) if node.upper else Value(size, False)
        if node.step or last.varying:
            raise self.unsupported(node, "slices have a lane form only where all lanes have the same")
        return Value(call_of("_slice", base.node, first.node, last.node), True)

    def length_of(self, node: ast.Slice) -> ast.expr:
        """The `n` of `a[i : i + n]`."""
        match node:
            case ast.Slice(ast.expr() as first, ast.BinOp(again, ast.Add(), length), None):
                if ast.dump(first) == ast.dump(again):
                    return length
        raise self.unsupported(node, "slices whose start differs have a lane form as `a[i : i + n]` alone")

    def all_of(self, mask: str | None) -> ast.expr:
        """The mask, where there is one; else all lanes."""
        return name_of(mask) if mask else call_of("_mask", ast.Constant(True))

    def index(self, node: ast.expr, mask: str | None) -> Value:
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        if any(isinstance(part, ast.Slice) for part in parts):
            raise self.unsupported(node, "slices have no lane form")
        found = [self.expression(part, mask) for part in parts]
        varying = any(part.varying for part in found)
        if isinstance(node, ast.Tuple):
            return Value(ast.Tuple([part.node for part in found], ast.Load()), varying)
        return found[0]

    def on_tuple(self, node: ast.Tuple, mask: str | None) -> Value:
        parts = [self.expression(part, mask) for part in node.elts]
        return Value(ast.Tuple([part.node for part in parts], ast.Load()), any(part.varying for part in parts))

    def on_unaryop(self, node: ast.UnaryOp, mask: str | None) -> Value:
        value = self.expression(node.operand, mask)
        if isinstance(node.op, ast.Not) and value.varying:
            return Value(call_of("_outside", mask_call(value.node)), True)
        return Value(ast.UnaryOp(node.op, value.node), value.varying)

    def on_binop(self, node: ast.BinOp, mask: str | None) -> Value:
        left = self.expression(node.left, mask)
        if isinstance(node.op, ast.Pow) and left.varying:
            exponent = self.constant_number(node.right)
            if isinstance(exponent, int):
                bound = self.kernels.bind(power(exponent), f"power{exponent}".replace("-", "_"))
                return Value(call_of(bound, left.node), True)
        right = self.expression(node.right, mask)
        varying = left.varying or right.varying
        divides = isinstance(node.op, (ast.FloorDiv, ast.Mod)) and self.constant_number(node.right) is None
        if varying and divides:
            self.sensitive = True  # a lane outside of the mask may divide by zero
            if mask:
                right = Value(call_of("_select", name_of(mask), right.node, ast.Constant(1)), True)
        return Value(ast.BinOp(left.node, node.op, right.node), varying)

    def on_compare(self, node: ast.Compare, mask: str | None) -> Value:
        values = [self.expression(each, mask) for each in (node.left, *node.comparators)]
        if not any(value.varying for value in values):
            return Value(ast.Compare(values[0].node, node.ops, [value.node for value in values[1:]]), False)
        found: ast.expr | None = None
        for n, op in enumerate(node.ops):
            pair = self.compared(node, values[n], op, values[n + 1], node.comparators[n])
            found = pair if found is None else ast.BinOp(found, ast.BitAnd(), pair)
        assert found is not None
        return Value(found, True)

    def compared(self, node: ast.Compare, left: Value, op: ast.cmpop, right: Value, given: ast.expr) -> ast.expr:
        if not isinstance(op, COMPARED_ONE_BY_ONE):
            return call_of("_mask", ast.Compare(left.node, [op], [right.node]))
        if not isinstance(op, (ast.In, ast.NotIn)) or not isinstance(right.node, ast.Tuple):
            raise self.unsupported(node, f"{ast.unparse(given)} cannot be compared by lane")
        name = self.temporary(left.node)
        each: list[ast.expr] = [
            call_of("_mask", ast.Compare(name_of(name), [ast.Eq()], [part])) for part in right.node.elts
        ]
        whole = functools.reduce(lambda a, b: ast.BinOp(a, ast.BitOr(), b), each)
        return call_of("_outside", whole) if isinstance(op, ast.NotIn) else whole

    def on_boolop(self, node: ast.BoolOp, mask: str | None) -> Value:
        conjunction = isinstance(node.op, ast.And)
        kept = self.out
        tried: list[Value] = []
        self.out = []
        for each in node.values:
            tried.append(self.expression(each, mask))
        plain, self.out = not self.out, kept
        if plain and not any(value.varying for value in tried):
            return Value(ast.BoolOp(node.op, [value.node for value in tried]), False)
        if all(is_harmless(each, self.varying) for each in node.values):
            values = [self.expression(each, mask) for each in node.values]
            masks: list[ast.expr] = [mask_call(value.node) for value in values]
            combine = ast.BitAnd() if conjunction else ast.BitOr()
            return Value(functools.reduce(lambda a, b: ast.BinOp(a, combine, b), masks), True)
        return self.short_circuit(node, mask, conjunction)

    def short_circuit(self, node: ast.BoolOp, mask: str | None, conjunction: bool) -> Value:
        """Operands that may be looked at only where those before them leave the result open."""
        first = self.expression(node.values[0], mask)
        name = self.temporary(mask_call(first.node))
        for each in node.values[1:]:
            is_open = name_of(name) if conjunction else call_of("_outside", name_of(name))
            asked = self.within(mask, is_open)

            def look(each: ast.expr = each, asked: str = asked) -> None:
                value = mask_call(self.expression(each, asked).node)
                combine = ast.BitAnd() if conjunction else ast.BitOr()
                self.set(name, ast.BinOp(name_of(name), combine, value))

            self.emit(ast.If(call_of("_some", name_of(asked)), self.inside(look), []))
        return Value(name_of(name), True)

    def on_ifexp(self, node: ast.IfExp, mask: str | None) -> Value:
        known = self.constant(node.test)
        if known is not None:
            return self.expression(node.body if known else node.orelse, mask)
        test = self.expression(node.test, mask)
        if not test.varying:
            kept, self.out = self.out, []
            body, other = self.expression(node.body, mask), self.expression(node.orelse, mask)
            plain, self.out = not self.out, kept
            varying = body.varying or other.varying
            if plain:
                return Value(ast.IfExp(test.node, body.node, other.node), varying)
            name = self.new_name()
            branches = []
            for each in (node.body, node.orelse):

                def choose(each: ast.expr = each) -> None:
                    self.set(name, self.expression(each, mask).node)

                branches.append(self.inside(choose))
            self.emit(ast.If(test.node, *branches))
            return Value(name_of(name), varying)
        condition = self.temporary(mask_call(test.node))
        body = self.chosen(node.body, self.within(mask, name_of(condition)))
        other = self.chosen(node.orelse, self.within(mask, call_of("_outside", name_of(condition))))
        return Value(call_of("_select", name_of(condition), body.node, other.node), True)

    def chosen(self, node: ast.expr, mask: str) -> Value:
        """One side of a conditional expression, for the lanes of a mask; looked at only if there are any, where it
        reads what may lie outside of an array for all others."""
        if is_harmless(node, self.varying):
            return self.expression(node, mask)
        name = self.new_name()
        made = self.inside(lambda: self.set(name, self.expression(node, mask).node))
        self.emit(f"{name} = _nothing()")
        self.emit(ast.If(call_of("_some", name_of(mask)), made, []))
        return Value(name_of(name), True)

    def on_call(self, node: ast.Call, mask: str | None) -> Value:
        if node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
            raise self.unsupported(node, "calls by keyword have no lane form")
        if not self.is_global(node.func):
            raise self.unsupported(node, f"{ast.unparse(node.func)} is not known before the call")
        called = self.resolved(node.func)
        if called is prefetch:  # blocks are in the caches
            return Value(ast.Constant(None), False)
        values = [self.expression(each, mask) for each in node.args]
        nodes, varying = [value.node for value in values], any(value.varying for value in values)
        if id(called) in self.kernels.varying:
            return Value(call_of(self.bound(node.func), *nodes), True)
        of_driver = isinstance(called, FunctionType) and "run_worlds" in called.__globals__
        if id(called) in self.kernels.uniform or not (varying or of_driver):
            return Value(call_of(self.bound(node.func), *nodes), False)
        if called in (min, max) and len(nodes) > 2:
            name = self.bound(node.func)
            return Value(functools.reduce(lambda a, b: call_of(name, a, b), nodes), True)
        if called in (float, int, bool):
            return Value(call_of({float: "_float", int: "_int", bool: "_bool"}[called], *nodes), True)
        if called is len:
            return Value(call_of("len", *nodes), False)
        if not isinstance(called, FunctionType) or called in (bits_of, float_of):
            return Value(call_of(self.bound(node.func), *nodes), True)
        pattern = tuple(value.varying for value in values)
        form = self.kernels.form(called, pattern, mask is not None)
        self.sensitive = self.sensitive or form.masked
        made = self.kernels.form(called, pattern, False)
        given = [name_of(mask), *nodes] if mask is not None and form.name != made.name else nodes
        return Value(call_of(form.name, *given), form.varying)

    # --- names --------------------------------------------------------------------------------------------------------

    def is_global(self, node: ast.expr) -> bool:
        """Whether a name, or a dotted one, is not a variable of the function."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id not in self.locals

    def resolved(self, node: ast.expr) -> Any:
        """What a global name stands for."""
        if isinstance(node, ast.Attribute):
            return getattr(self.resolved(node.value), node.attr)
        assert isinstance(node, ast.Name)
        scope = self.function.__globals__
        builtins = scope["__builtins__"]
        builtins = vars(builtins) if isinstance(builtins, ModuleType) else builtins
        for names in (self.closed, self.kernels.replaced if self.is_driver else {}, scope, builtins):
            if node.id in names:
                return names[node.id]
        raise self.unsupported(node, f"{node.id} is not known")

    @functools.cached_property
    def is_driver(self) -> bool:
        return "run_worlds" in self.function.__globals__

    def bound(self, node: ast.expr) -> str:
        value = self.resolved(node)
        name = node.attr if isinstance(node, ast.Attribute) else ast.unparse(node)
        if any(value is each for each in UNCHANGED):
            return name
        return self.kernels.bind(value, name)

    def constant(self, node: ast.expr) -> bool | None:
        """What a condition is that is known when the function is made."""
        if isinstance(node, ast.Name) and node.id not in self.locals:
            value = self.resolved(node)
            return value if isinstance(value, bool) else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            known = self.constant(node.operand)
            return None if known is None else not known
        if isinstance(node, ast.BoolOp):
            known_values = [self.constant(each) for each in node.values]
            deciding = isinstance(node.op, ast.Or)
            if deciding in known_values[:1]:
                return deciding
            return None if None in known_values else not deciding
        return None

    def constant_number(self, node: ast.expr) -> Any:
        """The number that an expression is, if that is known when the function is made."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            number: Any = node.operand.value
            return -number
        if isinstance(node, (ast.Name, ast.Attribute)) and self.is_global(node):
            value = self.resolved(node)
            return value if isinstance(value, (int, float)) else None
        return None
