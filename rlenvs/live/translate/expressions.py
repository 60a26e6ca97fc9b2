"""Python's expressions in JavaScript. What is not plainly a number or a text goes through `static/python.js`."""

from __future__ import annotations

import ast
import json
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from rlenvs.live.translate.calls import call, signature_of
from rlenvs.live.translate.kinds import Kinds, infer, is_range
from rlenvs.live.translate.literals import literal
from rlenvs.live.translate.scope import MISSING, Scope, TranslationError, js_name, names_bound, parameters

if TYPE_CHECKING:
    from rlenvs.live.translate.program import Program

OPERATORS = {
    ast.Add: ("+", "add"),
    ast.Sub: ("-", "sub"),
    ast.Mult: ("*", "mul"),
    ast.Div: ("/", "div"),
    ast.FloorDiv: ("", "floordiv"),
    ast.Mod: ("", "mod"),
    ast.Pow: ("", "pow"),
    ast.BitAnd: ("&", "and"),
    ast.BitOr: ("|", "or"),
    ast.BitXor: ("^", "xor"),
    ast.LShift: ("<<", "lshift"),
    ast.RShift: (">>", "rshift"),
    ast.MatMult: ("", "matmul"),
}
COMPARISONS = {
    ast.Eq: ("===", "eq"),
    ast.NotEq: ("!==", "ne"),
    ast.Lt: ("<", "lt"),
    ast.LtE: ("<=", "le"),
    ast.Gt: (">", "gt"),
    ast.GtE: (">=", "ge"),
}
CONTAINERS = (dict, list, tuple, set, frozenset, str, np.ndarray)


class Expressions:
    """Writes the expressions of a scope."""

    def __init__(self, scope: Scope, program: Program) -> None:
        self.scope, self.program = scope, program
        self.kinds = Kinds(scope)
        self.words = scope.source.words

    def error(self, node: ast.AST, message: str) -> TranslationError:
        """An error that says where it is."""
        return self.scope.source.error(node, message)

    def text(self, node: ast.expr, called: bool = False) -> str:
        """An expression; `called` where it is the function of a call."""
        value = self.known(node)
        if value is not MISSING:
            if isinstance(value, FunctionType) and not called and signature_of(value).hidden:
                raise self.error(
                    node, f"{value.__name__} has parameters behind a starred one, so it can only be called"
                )
            text = self.program.value(value, self._hint(node), lambda message: self.error(node, message), self.words)
            return f"({text})" if text.startswith("-") else text
        write = getattr(self, f"_{type(node).__name__.lower()}", None)
        if write is None:
            raise self.error(node, f"{type(node).__name__} cannot be translated")
        return str(write(node))

    def test(self, node: ast.expr) -> str:
        """An expression of which only the truth counts."""
        if isinstance(node, ast.BoolOp):
            return f"({self._op(node).join(self.test(each) for each in node.values)})"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return f"!{self.test(node.operand)}"
        text = self.text(node)
        return text if self.kinds.of(node) in ("bool", "str") else f"py.truth({text})"

    def all(self, nodes: list[ast.expr]) -> str:
        """Expressions with commas between them."""
        return ", ".join(self.text(node) for node in nodes)

    def known(self, node: ast.expr) -> Any:
        """The value of an expression that is the same in every call: a name, or what is in a module or an object."""
        if isinstance(node, ast.Name):
            value = self.scope.value(node.id)
            if value is MISSING and not self.scope.holder(node.id):
                raise self.error(node, f"{node.id!r} is not defined")
            return value
        if isinstance(node, ast.Attribute):
            holder = self.known(node.value)
            if holder is not MISSING and not isinstance(holder, CONTAINERS) and hasattr(holder, node.attr):
                value = getattr(holder, node.attr)
                return MISSING if callable(value) and not isinstance(holder, (ModuleType, type)) else value
        return MISSING

    def _hint(self, node: ast.expr) -> str:
        return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else "value"

    # --- atoms --------------------------------------------------------------------------------------------------------

    def _constant(self, node: ast.Constant) -> str:
        if self.words and type(node.value) is int:
            return f"{node.value}n"
        if node.value is Ellipsis:
            return "py.ELLIPSIS"
        return literal(node.value)

    def _name(self, node: ast.Name) -> str:
        return js_name(node.id)

    def _attribute(self, node: ast.Attribute) -> str:
        self.program.uses(node.attr)
        if any(True for _ in self.program.methods(node.attr)):
            return f"py.bound({self.text(node.value)}, {json.dumps(node.attr)})"
        return f"{self.text(node.value)}.{node.attr}"

    def _tuple(self, node: ast.Tuple | ast.List) -> str:
        return f"[{self.all(node.elts)}]"

    _list = _tuple

    def _set(self, node: ast.Set) -> str:
        return f"py.set([{self.all(node.elts)}])"

    def _dict(self, node: ast.Dict) -> str:
        parts = [
            f"...py.methods.items({self.text(value)})" if key is None else f"[{self.text(key)}, {self.text(value)}]"
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        return f"py.dict([{', '.join(parts)}])"

    def _starred(self, node: ast.Starred) -> str:
        return f"...py.iter({self.text(node.value)})"

    def _joinedstr(self, node: ast.JoinedStr) -> str:
        return "`" + "".join(self._part(part) for part in node.values) + "`"

    def _part(self, node: ast.expr) -> str:
        if isinstance(node, ast.Constant):
            return (
                json.dumps(str(node.value), ensure_ascii=False)[1:-1]
                .replace('\\"', '"')
                .replace("`", "\\`")
                .replace("${", "\\${")
            )
        assert isinstance(node, ast.FormattedValue)
        value, kind = self.text(node.value), self.kinds.of(node.value)
        if node.conversion == ord("r"):
            value, kind = f"py.repr({value})", "str"
        if node.format_spec is not None:
            spec = self.text(node.format_spec)
            return f"${{py.format({value}, {spec})}}"
        return f"${{{value if kind in ('int', 'str') else self.as_text(node.value)}}}"

    def as_text(self, node: ast.expr) -> str:
        """str() of an expression."""
        kind, text = self.kinds.of(node), self.text(node)
        return text if kind == "str" else f"py.float_text({text})" if kind == "float" else f"py.str({text})"

    # --- operators ----------------------------------------------------------------------------------------------------

    def _binop(self, node: ast.BinOp) -> str:
        sign, name = OPERATORS[type(node.op)]
        left, right = self.text(node.left), self.text(node.right)
        if self.words:
            return f"({left} {sign} {right})"
        plain = sign in ("+", "-", "*", "/") and self.kinds.of(node) is not None
        if plain or (sign == "+" and self.kinds.of(node) == "str"):
            return f"({left} {sign} {right})"
        return f"py.{name}({left}, {right})"

    def _unaryop(self, node: ast.UnaryOp) -> str:
        if isinstance(node.op, ast.Not):
            return f"!{self.test(node.operand)}"
        value = self.text(node.operand)
        sign = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[type(node.op)]
        if self.words or (sign != "~" and self.kinds.numeric(node.operand)):
            return f"({sign}{value})"
        return f"py.{ {'-': 'neg', '+': 'pos', '~': 'invert'}[sign] }({value})".replace(" ", "")

    def _op(self, node: ast.BoolOp) -> str:
        return " && " if isinstance(node.op, ast.And) else " || "

    def _boolop(self, node: ast.BoolOp) -> str:
        if self.kinds.of(node) in ("bool", "str") and all(
            self.kinds.of(each) in ("bool", "str") for each in node.values
        ):
            return f"({self._op(node).join(self.text(each) for each in node.values)})"
        name = "both" if isinstance(node.op, ast.And) else "either"
        rest = "".join(f", () => {self._arrow(self.text(each))}" for each in node.values[1:])
        return f"py.{name}({self.text(node.values[0])}{rest})"

    def _arrow(self, text: str) -> str:
        return f"({text})" if text.startswith("{") else text

    def _compare(self, node: ast.Compare) -> str:
        sides = [node.left, *node.comparators]
        parts = [
            self._comparison(op, left, right) for op, left, right in zip(node.ops, sides[:-1], sides[1:], strict=True)
        ]
        if len(parts) == 1:
            return parts[0]
        if any(isinstance(inner, ast.NamedExpr) for side in sides[1:-1] for inner in ast.walk(side)):
            raise self.error(node, "the middle of a chain of comparisons is evaluated twice, so it cannot assign")
        return f"({' && '.join(parts)})"

    def _comparison(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> str:
        a, b = self.text(left), self.text(right)
        if isinstance(op, (ast.Is, ast.IsNot)):
            return f"({a} {'===' if isinstance(op, ast.Is) else '!=='} {b})"
        if isinstance(op, (ast.In, ast.NotIn)):
            return f"{'!' if isinstance(op, ast.NotIn) else ''}py.contains({b}, {a})"
        sign, name = COMPARISONS[type(op)]
        kinds = {self.kinds.of(left), self.kinds.of(right)}
        same = kinds <= {"int", "float", "number"} or kinds == {"str"} or kinds == {"bool"}
        if self.words or same or ("str" in kinds and sign in ("===", "!==")):
            return f"({a} {sign} {b})"
        return f"py.{name}({a}, {b})"

    def _ifexp(self, node: ast.IfExp) -> str:
        return f"({self.test(node.test)} ? {self.text(node.body)} : {self.text(node.orelse)})"

    def _namedexpr(self, node: ast.NamedExpr) -> str:
        return f"({js_name(node.target.id)} = {self.text(node.value)})"

    # --- elements -----------------------------------------------------------------------------------------------------

    def _subscript(self, node: ast.Subscript) -> str:
        value, index = self.text(node.value), node.slice
        if self.words:
            return f"{value}[{self.text(index)}]"
        if isinstance(index, ast.Slice):
            return f"py.slice({value}, {self._bounds(index)})"
        if self.kinds.of(index) == "list":
            return f"py.taken({value}, {self.text(index)})"
        return f"py.item({value}, {self.index(index)})"

    def index(self, node: ast.expr) -> str:
        """What stands in brackets."""
        if isinstance(node, ast.Slice):
            return f"new py.Slice({self._bounds(node)})"
        if isinstance(node, ast.Tuple):
            return f"[{', '.join(self.index(each) for each in node.elts)}]"
        return self.text(node)

    def _bounds(self, node: ast.Slice) -> str:
        return ", ".join(self.text(each) if each else "null" for each in (node.lower, node.upper, node.step))

    # --- functions and comprehensions ---------------------------------------------------------------------------------

    def _lambda(self, node: ast.Lambda) -> str:
        scope = Scope(self.scope.source, {each.arg for each in parameters(node.args)}, around=self.scope)
        infer(scope, node.args, [])
        inner = type(self)(scope, self.program)
        return f"(({self.parameters(node.args)}) => {self._arrow(inner.text(node.body))})"

    def parameters(self, arguments: ast.arguments) -> str:
        """The parameters of a function, with their defaults."""
        if arguments.kwarg:
            raise self.error(arguments.kwarg, f"**{arguments.kwarg.arg} cannot be translated")
        named = [*arguments.posonlyargs, *arguments.args]
        defaults = [None] * (len(named) - len(arguments.defaults)) + list(arguments.defaults)
        pairs = [*zip(named, defaults, strict=True), *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
        told = [js_name(each.arg) + (f" = {self.text(value)}" if value else "") for each, value in pairs]
        return ", ".join([*told, *([f"...{js_name(arguments.vararg.arg)}"] if arguments.vararg else [])])

    def _listcomp(self, node: ast.ListComp | ast.GeneratorExp) -> str:
        inner = self._inner(node.generators)
        return self._loops(node.generators, inner, lambda: f"$out.push({inner.text(node.elt)});", "[]")

    _generatorexp = _listcomp

    def _setcomp(self, node: ast.SetComp) -> str:
        inner = self._inner(node.generators)
        return f"py.set({self._loops(node.generators, inner, lambda: f'$out.push({inner.text(node.elt)});', '[]')})"

    def _dictcomp(self, node: ast.DictComp) -> str:
        inner = self._inner(node.generators)
        add = lambda: f"$out.set({inner.text(node.key)}, {inner.text(node.value)});"  # noqa: E731
        return self._loops(node.generators, inner, add, "py.dict([])")

    def _inner(self, generators: list[ast.comprehension]) -> Expressions:
        own = names_bound([each.target for each in generators])
        scope = Scope(self.scope.source, own, around=self.scope)
        for each in generators:
            infer_target(scope, each)
        return type(self)(scope, self.program)

    def _loops(self, generators: list[ast.comprehension], inner: Expressions, add: Any, start: str) -> str:
        """A comprehension: loops within a function that is called at once."""
        text, closing = f"(() => {{ const $out = {start}; ", ""
        for i, each in enumerate(generators):
            source = (self if i == 0 else inner).looped(each.iter)
            text += f"for (const {inner.pattern(each.target) or '$each'} of {source}) "
            text += "".join(f"if ({inner.test(test)}) " for test in each.ifs)
            text += "{ "
            closing += " }"
        return f"{text}{add()}{closing} return $out; }})()"

    def looped(self, node: ast.expr) -> str:
        """Something to go through, as JavaScript does it."""
        text = self.text(node)
        return text if text.startswith(("py.range(", "py.enumerate(", "py.zip(", "[")) else f"py.iter({text})"

    def pattern(self, node: ast.expr) -> str:
        """What values are taken apart into, in a declaration."""
        if isinstance(node, ast.Name):
            return "" if node.id == "_" else js_name(node.id)
        if isinstance(node, ast.Tuple):
            return f"[{', '.join(self.pattern(each) for each in node.elts)}]"
        if isinstance(node, ast.Starred):
            return f"...{self.pattern(node.value)}"
        raise self.error(node, "this target of a loop cannot be translated")

    def _call(self, node: ast.Call) -> str:
        return call(self, node)


def infer_target(scope: Scope, generator: ast.comprehension) -> None:
    """The kind of the variable of a comprehension over numbers from ... to."""
    if isinstance(generator.target, ast.Name) and is_range(generator.iter):
        scope.kinds[generator.target.id] = "int"
