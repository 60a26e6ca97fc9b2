"""All that a function needs, across modules, as one JavaScript module."""

from __future__ import annotations

import ast
import base64
import builtins
import collections
import functools
import inspect
import itertools
import math
import sys
import textwrap
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, FunctionType, MappingProxyType
from typing import Any

import numpy as np

from rlenvs.core.declare import canvas, floats, maths, trigonometry
from rlenvs.live.translate.calls import BUILTINS, NUMPY, Signature, signature_of
from rlenvs.live.translate.literals import literal
from rlenvs.live.translate.scope import Source, TranslationError, js_name
from rlenvs.live.translate.statements import function_text

WORDS = {module.__name__ for module in (floats, maths, trigonometry)}
# functions that the runtime has in its own words, with the same results
OWN: dict[Any, str] = {
    floats.bits_of: "py.bits_of",
    floats.float_of: "py.float_of",
    floats.upper_digits: "py.upper_digits",
    floats.with_sign: "py.with_sign",
    canvas.agent_color: "py.agent_color",
    canvas.rgb: "py.rgb",
    collections.deque: "py.list",
    itertools.pairwise: "py.pairwise",
}
LARGEST = 200_000  # bytes of a constant array

Fail = Callable[[str], TranslationError]


class Program:
    """Translates functions, and all that they use, until nothing is left.

    A function or constant has the name that it has in Python, with a number where several have it. Of classes the
    methods are translated whose names are used somewhere.
    """

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._kept: list[Any] = []  # so that ids stay
        self._taken: set[str] = set()
        self._used: set[str] = set()
        self._classes: dict[type, dict[str, str]] = {}
        self._todo: list[tuple[Any, str]] = []
        self._functions: list[str] = []
        self._constants: list[str] = []

    def uses(self, attribute: str) -> None:
        """Some attribute with this name is used."""
        self._used.add(attribute)

    def methods(self, name: str) -> Iterable[Signature]:
        """The signatures of the classes' methods of this name."""
        for each in self._classes:
            if isinstance(inspect.getattr_static(each, name, None), FunctionType):
                yield signature_of(getattr(each, name)).method()

    def translate(self, function: Any, shown: str) -> str:
        """The text, without its imports, of a module that exports the function under the name `shown`."""
        name = self.value(function, shown, _fail_without_place, False)
        while self._todo or self._add_methods():
            if self._todo:
                value, own = self._todo.pop(0)
                self._functions.append(self._text(value, own))
        classes = [self._class_text(each) for each in self._classes]
        return "\n".join([*classes, *self._constants, *self._functions, f"export {{ {name} as {shown} }};", ""])

    # --- values -------------------------------------------------------------------------------------------------------

    def value(self, value: Any, hint: str, fail: Fail, words: bool) -> str:
        """A value that exists, in JavaScript; its definition is added where it needs one."""
        if words and type(value) is int:
            return f"{value}n"
        if value is None or type(value) in (bool, int, float, str):
            return literal(value)
        if isinstance(value, (np.number, np.bool_)):
            return literal(value.item())
        if id(value) not in self._names:
            self._define(value, hint, fail, words)
        return self._names[id(value)]

    def _define(self, value: Any, hint: str, fail: Fail, words: bool) -> None:
        self._kept.append(value)
        own = _own_name(value)
        if own is not None:
            self._names[id(value)] = own
        elif isinstance(value, FunctionType) or isinstance(getattr(value, "__wrapped__", None), FunctionType):
            self._names[id(value)] = self._new_name(getattr(value, "__name__", hint))
            self._todo.append((value, self._names[id(value)]))
        elif isinstance(value, type):
            self._define_class(value, fail)
        else:
            text = self._constant(value, hint, fail, words)
            self._names[id(value)] = self._new_name(hint)
            self._constants.append(f"const {self._names[id(value)]} = {text};")

    def _new_name(self, hint: str) -> str:
        name, number = js_name(hint.replace("<lambda>", "lambda")), 1
        while name in self._taken:
            number += 1
            name = f"{js_name(hint)}_{number}"
        self._taken.add(name)
        # no variable of a function may hide it, so it gets a letter that Python's names do not have
        return f"{name}$"

    def _constant(self, value: Any, hint: str, fail: Fail, words: bool) -> str:
        """The text of a constant that has parts."""
        inner = functools.partial(self._part, hint=hint, fail=fail, words=words)
        if isinstance(value, np.ndarray):
            return _array_text(value, fail)
        if hasattr(value, "_fields") and isinstance(value, tuple):
            return f"new {self.value(type(value), hint, fail, False)}({', '.join(map(inner, value))})"
        if isinstance(value, (tuple, list)):
            return f"[{', '.join(map(inner, value))}]"
        if isinstance(value, (dict, MappingProxyType)):
            return f"py.dict([{', '.join(f'[{inner(key)}, {inner(each)}]' for key, each in value.items())}])"
        if isinstance(value, (set, frozenset)):
            named = any(isinstance(each, str) for each in value)  # whose order changes from run to run
            return f"py.set([{', '.join(map(inner, sorted(value) if named else value))}])"
        if isinstance(value, range):
            return f"py.range({value.start}, {value.stop}, {value.step})"
        if isinstance(value, functools.partial) and not value.keywords:
            given = ", ".join(map(inner, value.args))
            return f"(...rest) => {inner(value.func)}({given}{', ' if given else ''}...rest)"
        if hasattr(value, "__dict__") and _is_own(type(value)):
            fields = [
                f"{name}: {text}" for name, each in vars(value).items() if (text := self._field(name, each, inner))
            ]
            return f"py.made({self.value(type(value), hint, fail, False)}, {{ {', '.join(fields)} }})"
        raise fail(f"{hint}, a {type(value).__name__}, cannot be translated")

    def _field(self, name: str, value: Any, write: Callable[[Any], str]) -> str:
        """The value of an object's attribute; "" for what cannot be translated and is used nowhere so far."""
        try:
            return write(value)
        except TranslationError:
            if name in self._used:
                raise
            return ""

    def _part(self, value: Any, hint: str, fail: Fail, words: bool) -> str:
        """A part of a constant, written in its place unless it is a function or a class."""
        simple = value is None or isinstance(value, (bool, int, float, str, np.number, np.bool_))
        if simple or id(value) in self._names or callable(value):
            return self.value(value, hint, fail, words)
        return self._constant(value, hint, fail, words)

    # --- functions and classes ----------------------------------------------------------------------------------------

    def _text(self, function: Any, name: str) -> str:
        plain = inspect.unwrap(function)
        node, source = _parsed(plain)
        if isinstance(node, ast.Lambda):
            returned = ast.copy_location(ast.Return(node.body), node)
            node = ast.FunctionDef(name="lambda", args=node.args, body=[returned], decorator_list=[])
        if hasattr(function, "cache_info"):
            return f"const {name} = py.cached({function_text(node, source, self)});"
        return f"function {function_text(node, source, self, name=name)}"

    def _define_class(self, value: type, fail: Fail) -> None:
        if not _is_own(value):
            raise fail(f"{value.__module__}.{value.__name__} cannot be translated")
        for base in value.__bases__:
            if base not in (object, tuple):
                self.value(base, base.__name__, fail, False)
        self._names[id(value)] = self._new_name(value.__name__)
        self._classes[value] = {}
        self.uses("__init__")

    def _add_methods(self) -> bool:
        """Translate the methods of classes that are used by now. Returns whether there were any."""
        added = False
        for each, methods in list(self._classes.items()):
            for name, member in list(vars(each).items()):
                if name in self._used and name not in methods:
                    text = self._method_text(each, name, member)
                    if text:
                        methods[name] = text
                        added = True
        return added

    def _method_text(self, owner: type, name: str, member: Any) -> str:
        if isinstance(member, (property, functools.cached_property)):
            function = member.fget if isinstance(member, property) else member.func
            return f"get {self._method(function, name)}"
        if isinstance(member, FunctionType) and not (name == "__init__" and _generated(owner)):
            return self._method(member, "constructor" if name == "__init__" else name)
        return ""

    def _method(self, function: Any, name: str) -> str:
        node, source = _parsed(function)
        assert isinstance(node, ast.FunctionDef)
        return function_text(node, source, self, name=name, method=True)

    def _class_text(self, value: type) -> str:
        bases = [base for base in value.__bases__ if base in self._classes]
        base = f" extends {self._names[id(bases[0])]}" if bases else ""
        body = list(self._classes[value].values())
        fields = getattr(value, "_fields", None) or list(getattr(value, "__dataclass_fields__", ()))
        if _generated(value):
            base = base or " extends py.Named" if hasattr(value, "_fields") else base
            body.insert(0, self._constructor(value, fields, bool(base)))
        return f"class {self._names[id(value)]}{base} {{ {' '.join(body)} }}"

    def _constructor(self, value: type, fields: Iterable[str], base: bool) -> str:
        fail = _fail_without_place
        found = inspect.signature(value).parameters
        told = [
            js_name(name)
            + (
                ""
                if found[name].default is inspect.Parameter.empty
                else f" = {self._part(found[name].default, name, fail, False)}"
            )
            for name in fields
        ]
        listed = f"super([{', '.join(map(js_name, fields))}]); " if base else ""
        sets = " ".join(f"this.{name} = {js_name(name)};" for name in fields)
        return f"constructor({', '.join(told)}) {{ {listed}{sets} }}"


def _is_own(value: type) -> bool:
    """Whether a class is neither Python's nor NumPy's."""
    return value.__module__.split(".")[0] not in {*sys.stdlib_module_names, "numpy"}


def _generated(value: type) -> bool:
    """Whether a class has a constructor that nobody wrote."""
    return hasattr(value, "_fields") or hasattr(value, "__dataclass_fields__")


def _own_name(value: Any) -> str | None:
    """The name in the runtime of what it has."""
    try:
        if value in OWN:
            return OWN[value]
    except TypeError:
        return None
    name = getattr(value, "__name__", "")
    if not name or not (callable(value)):
        return None
    if isinstance(value, BuiltinFunctionType) and getattr(math, name, None) is value:
        return f"py.math.{name}"
    if getattr(builtins, name, None) is value and (name in BUILTINS or name in ("min", "max", "str", "zip")):
        return f"py.{js_name(name)}"
    if getattr(np, name, None) is value and name in NUMPY:
        return f"np.{name}"
    if isinstance(value, type) and issubclass(value, np.generic):
        return literal(np.dtype(value).str[1:])
    return None


@functools.cache
def _file(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _parsed(function: FunctionType) -> tuple[ast.FunctionDef | ast.Lambda, Source]:
    """The syntax of a function, and where it comes from."""
    path = inspect.getsourcefile(function) or "?"
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, SyntaxError, TypeError) as reason:
        raise TranslationError(f"{path}: the source of {function.__name__} cannot be read: {reason}") from None
    closure = inspect.getclosurevars(function).nonlocals
    names = {**function.__globals__, **closure}
    source = Source(path, first, names, function.__module__ in WORDS)
    kinds: tuple[type, ...] = (ast.FunctionDef, ast.Lambda)
    found = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    if not found or (isinstance(found[0], ast.Lambda) and len(found) > 1):
        raise TranslationError(f"{path}:{first}: this function cannot be told from others in its line")
    assert isinstance(found[0], (ast.FunctionDef, ast.Lambda))
    return found[0], source


def _array_text(value: np.ndarray, fail: Fail) -> str:
    if value.dtype.kind not in "fiub" or value.nbytes > LARGEST:
        raise fail(f"an array of {value.nbytes} bytes and type {value.dtype} cannot be translated")
    code = value.dtype.str[1:]
    packed = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
    return f'py.unpacked("{packed}", "{code}", [{", ".join(map(str, value.shape))}])'


def _fail_without_place(message: str) -> TranslationError:
    return TranslationError(message)
