"""Calls: of Python's own functions, NumPy's, the project's, and of methods."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import math
from types import BuiltinFunctionType, FunctionType, SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rlenvs.core.declare.canvas import Canvas
from rlenvs.live.translate.scope import MISSING, js_name

if TYPE_CHECKING:
    from rlenvs.live.translate.expressions import Expressions

# functions of Python that the runtime has under their names, with the names of their parameters
BUILTINS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("abs", "all", "any", "bool", "dict", "divmod", "float", "int", "isinstance"), ()),
    **dict.fromkeys(("len", "list", "map", "filter", "repr", "reversed", "set", "tuple", "chr", "ord", "next"), ()),
    **dict.fromkeys(("range", "iter", "frozenset", "getattr"), ()),
    "enumerate": ("iterable", "start"),
    "round": ("number", "ndigits"),
    "sum": ("iterable", "start"),
    "sorted": ("iterable", "key", "reverse"),
}
ONLY_CHECKS = {"zip": ("strict",)}  # keywords without effect where nothing is wrong

# functions of NumPy that `static/numpy.js` has, with the names of their parameters
NUMPY: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("array", "asarray"), ("a", "dtype")),
    **dict.fromkeys(("zeros", "ones"), ("shape", "dtype")),
    **dict.fromkeys(("sum", "max", "min", "any", "all", "mean"), ("a", "axis", "initial")),
    **dict.fromkeys(("argmax", "argmin", "argsort", "cumsum", "count_nonzero"), ("a", "axis")),
    **dict.fromkeys(("flatnonzero", "argwhere", "nonzero", "unique"), ("a",)),
    **dict.fromkeys(("sort", "atleast_2d"), ("a",)),
    **dict.fromkeys(("abs", "sign", "floor", "ceil", "sqrt", "sin", "cos", "tan", "exp", "log"), ("x",)),
    **dict.fromkeys(("isfinite", "isnan", "degrees", "radians"), ("x",)),
    **dict.fromkeys(("hypot", "arctan2", "minimum", "maximum", "add", "subtract", "multiply", "divide"), ("x", "y")),
    **dict.fromkeys(("logical_and", "array_equal", "isin"), ("x", "y")),
    **dict.fromkeys(("stack", "concatenate"), ("arrays", "axis")),
    "hstack": ("arrays",),
    **dict.fromkeys(("float64", "int64"), ("x",)),
    "arange": ("start", "stop", "step"),
    "linspace": ("start", "stop", "num"),
    "full": ("shape", "fill_value", "dtype"),
    "where": ("condition", "x", "y"),
    "meshgrid": ("x", "y"),
    "ptp": ("a", "axis"),
    "round": ("a", "decimals"),
    "norm": ("a", "axis"),
    "cross": ("x", "y"),
    "lexsort": ("keys",),
    "clip": ("a", "a_min", "a_max"),
    "interp": ("x", "xp", "fp"),
    "reshape": ("a", "shape"),
    "roll": ("a", "shift", "axis"),
}
ARRAY_METHODS: dict[str, tuple[str, ...]] = {
    **{name: NUMPY[name][1:] for name in ("sum", "max", "min", "any", "all", "mean", "argmax", "argmin")},
    "astype": ("dtype",),
    "reduceat": ("a", "indices", "axis"),
}
# methods of Python's texts, lists, sets and dictionaries that the runtime has
_METHODS = (
    "join split upper lower strip title capitalize replace startswith endswith index count append extend "
    "pop insert remove sort get items keys values add intersection union update bit_length copy tolist "
    "item zfill ljust rjust center setdefault reverse isdisjoint issubset difference is_integer rstrip "
    "lstrip popleft appendleft"
)
METHODS = frozenset(_METHODS.split())


def call(writer: Expressions, node: ast.Call) -> str:
    """A call."""
    function: Any = writer.known(node.func) if isinstance(node.func, (ast.Name, ast.Attribute)) else MISSING
    if function is MISSING:
        return _method(writer, node) if isinstance(node.func, ast.Attribute) else _variable(writer, node)
    if function == dict.fromkeys:
        return f"py.dict(py.map((key) => [key, null], {writer.text(node.args[0])}))"
    if function is SimpleNamespace:
        return _namespace(writer, node)
    if function is functools.partial:
        return f"py.partial({writer.all(node.args)})" if not node.keywords else _refused(writer, node)
    if isinstance(function, functools.partial):
        return _plain(writer, node, writer.text(node.func), None)
    if isinstance(function, BuiltinFunctionType | type | np.ufunc) or getattr(function, "__module__", "") == "builtins":
        found = _builtin(writer, node, function)
        if found is not None:
            return found
    if str(getattr(function, "__module__", "")).startswith("numpy") or isinstance(function, np.ufunc):
        return _numpy(writer, node, function)
    if isinstance(function, type):
        name = writer.text(node.func)
        return _plain(writer, node, name if name.startswith("py.") else f"new {name}", _class_signature(function))
    if hasattr(function, "cache_info") and not inspect.signature(function).parameters:
        # always the same, so it need not be computed in the page
        return writer.program.value(function(), function.__name__, lambda told: writer.error(node, told), False)
    if isinstance(function, FunctionType) or hasattr(function, "__wrapped__"):
        return _plain(writer, node, writer.text(node.func, called=True), signature_of(function))
    return _refused(writer, node)


def _refused(writer: Expressions, node: ast.Call) -> str:
    raise writer.error(node, f"{ast.unparse(node.func)} cannot be called here")


def _namespace(writer: Expressions, node: ast.Call) -> str:
    """An object with attributes."""
    parts = [
        f"{each.arg}: {writer.text(each.value)}" if each.arg else f"...py.attributes({writer.text(each.value)})"
        for each in node.keywords
    ]
    return f"({{ {', '.join(parts)} }})"


class Signature(NamedTuple):
    """The parameters of a function.

    Attributes:
        names: in order. required: how many of them have no default.
        front: how many stand in front of a starred one, -1 where there is none. Those behind it, which only keywords
            set, come before it in JavaScript.
    """

    names: tuple[str, ...]
    required: int
    front: int = -1

    @property
    def hidden(self) -> bool:
        """Whether there are parameters behind a starred one."""
        return 0 <= self.front < len(self.names)

    def method(self) -> Signature:
        """Without the object."""
        return Signature(self.names[1:], self.required - 1, self.front - (self.front > 0))


def signature_of(function: Any) -> Signature:
    """The signature of a function or class."""
    found = list(inspect.signature(function).parameters.values())
    starred = next((i for i, each in enumerate(found) if each.kind is each.VAR_POSITIONAL), -1)
    found = [each for each in found if each.kind is not each.VAR_POSITIONAL]
    return Signature(tuple(each.name for each in found), sum(each.default is each.empty for each in found), starred)


def named(*names: str) -> Signature:
    """A signature of which only the names are known."""
    return Signature(names, len(names))


def _plain(writer: Expressions, node: ast.Call, called: str, signature: Signature | None) -> str:
    return f"{called}({', '.join(arguments(writer, node, signature))})"


def arguments(writer: Expressions, node: ast.Call, signature: Signature | None) -> list[str]:
    """The arguments in the order of the parameters. Starred ones in front of keywords stand for as many as are left of
    those without a default."""
    given = {each.arg: each.value for each in node.keywords}
    if signature and signature.hidden:
        return _with_rest(writer, node, signature, given)
    found = [writer.text(each) for each in node.args]
    if not given:
        return found
    if None in given or signature is None:
        raise writer.error(node, "the keywords of this call cannot be translated")
    starred = any(isinstance(each, ast.Starred) for each in node.args)
    behind = signature.names[signature.required if starred else len(found) :]
    return found + _by_keyword(writer, node, behind, given)


def _with_rest(
    writer: Expressions, node: ast.Call, signature: Signature, given: dict[str | None, ast.expr]
) -> list[str]:
    """The arguments for a function with parameters behind a starred one."""
    front = node.args[: signature.front]
    if any(isinstance(each, ast.Starred) for each in front) or len(front) < signature.front:
        raise writer.error(node, "the starred arguments of this call cannot be translated")
    behind = signature.names[signature.front :]
    keywords = _by_keyword(writer, node, behind, given) if given else []
    keywords += ["undefined"] * (len(behind) - len(keywords))
    return [writer.text(each) for each in front] + keywords + [writer.text(each) for each in node.args[len(front) :]]


def _by_keyword(
    writer: Expressions, node: ast.Call, names: tuple[str, ...], given: dict[str | None, ast.expr]
) -> list[str]:
    unknown = given.keys() - set(names)
    if unknown:
        raise writer.error(node, f"the keyword {min(map(str, unknown))!r} of this call cannot be translated")
    last = max(names.index(str(name)) for name in given)
    return [writer.text(given[name]) if name in given else "undefined" for name in names[: last + 1]]


def _class_signature(function: type) -> Signature | None:
    try:
        return signature_of(function)
    except ValueError:  # a class of Python's own that does not tell
        return None


EXTREMES = named("iterable", "key", "default")


def _variable(writer: Expressions, node: ast.Call) -> str:
    """A call of a function in a variable, or of what an expression gives."""
    signature = None
    if isinstance(node.func, ast.Name) and (holder := writer.scope.holder(node.func.id)):
        signature = holder.functions.get(node.func.id)
    return _plain(writer, node, writer.text(node.func), signature)


def _builtin(writer: Expressions, node: ast.Call, function: Any) -> str | None:
    name = getattr(function, "__name__", "")
    if getattr(math, name, None) is function:
        return _plain(writer, node, f"py.math.{name}", None)
    if getattr(builtins, name, None) is not function:
        return None
    if name in ("min", "max"):
        return _extreme(writer, node, name)
    if name == "str":
        return writer.as_text(node.args[0])
    if name == "print":
        return "null"
    if name in ONLY_CHECKS:
        return f"py.{name}({writer.all(node.args)})"
    if name not in BUILTINS:
        raise writer.error(node, f"{name} cannot be translated")
    if writer.words:
        return _in_words(writer, node, name)
    if name == "float" and len(node.args) == 1 and writer.kinds.of(node.args[0]) in ("int", "float", "number"):
        return writer.text(node.args[0])
    if name == "abs" and writer.kinds.numeric(*node.args):
        return f"Math.abs({writer.all(node.args)})"
    return _plain(writer, node, f"py.{js_name(name)}", named(*BUILTINS[name]))


def _in_words(writer: Expressions, node: ast.Call, name: str) -> str:
    """The functions of kernels whose whole numbers are words."""
    told = {"float": "Number", "abs": "Math.abs", "range": "py.words"}.get(name)
    if told is None:
        raise writer.error(node, f"{name} cannot be translated here")
    return f"{told}({writer.all(node.args)})"


def _extreme(writer: Expressions, node: ast.Call, name: str) -> str:
    """The smallest or the largest of arguments, or of what one has."""
    if len(node.args) == 1 and not isinstance(node.args[0], ast.Starred):
        return _plain(writer, node, f"py.{name}_of", EXTREMES)
    if node.keywords:
        listed = ast.Call(node.func, [ast.List(node.args, ast.Load())], node.keywords)
        return _plain(writer, ast.copy_location(listed, node), f"py.{name}_of", EXTREMES)
    if len(node.args) == 2 and writer.kinds.numeric(*node.args):
        return f"py.{name}2({writer.all(node.args)})"
    return f"py.{name}({writer.all(node.args)})"


def _numpy(writer: Expressions, node: ast.Call, function: Any) -> str:
    name = str(function.__name__)
    if getattr(np, name, None) is not function:
        name = ast.unparse(node.func).split(".")[-1]
    if name == "absolute":
        name = "abs"
    if name not in NUMPY:
        raise writer.error(node, f"np.{name} cannot be translated")
    if any(each.arg == "axis" for each in node.keywords) and "axis" not in NUMPY[name]:
        raise writer.error(node, f"the axis of np.{name} cannot be translated")
    return _plain(writer, node, f"np.{name}", named(*NUMPY[name]))


def _method(writer: Expressions, node: ast.Call) -> str:
    """A call of a method of something that is known only when it runs."""
    assert isinstance(node.func, ast.Attribute)
    name, value = node.func.attr, writer.text(node.func.value)
    if name == "format":
        raise writer.error(node, "str.format cannot be translated; write an f-string")
    if isinstance(writer.known(node.func.value), np.ufunc) and name not in ARRAY_METHODS:
        return _refused(writer, node)
    if name in METHODS and not node.keywords:
        return f"py.methods.{name}({', '.join([value, *arguments(writer, node, None)])})"
    writer.program.uses(name)
    if name == "sort":
        return f"py.methods.sort({', '.join([value, *arguments(writer, node, named('key', 'reverse'))])})"
    return _plain(writer, node, f"{value}.{name}", _method_signature(writer, name, value) if node.keywords else None)


def _method_signature(writer: Expressions, name: str, holder: str) -> Signature | None:
    """The parameters of a method with this name: of a canvas, an array, or one of the project's classes."""
    verb = getattr(Canvas, name, None)
    if verb is not None and holder.endswith("canvas"):
        return signature_of(verb).method()
    found = set(writer.program.methods(name))
    if name in ARRAY_METHODS:
        found.add(named(*ARRAY_METHODS[name]))
    if verb is not None and not found:
        found.add(signature_of(verb).method())
    return found.pop() if len(found) == 1 else None
