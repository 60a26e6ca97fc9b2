"""What compiled code follows from, as a hash: two programs that compute something else have two.

Bytecode and constants of all functions that are called, values of the globals, closures and defaults that they use,
versions, settings. What cannot be hashed by value makes the hash unlike all others, so that its code is never kept.
"""

from __future__ import annotations

import builtins
import dis
import enum
import hashlib
import itertools
import sys
import uuid
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from rlenvs.core.declare.errors import KernelError, shortened

FUNCTION = b"function "
ONCE = "once-"  # in keys of code that is kept nowhere
SETTINGS = ("BOUNDSCHECK", "OPT", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "ENABLE_AVX", "USING_SVML")
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
# whose functions and classes mean the same wherever they have the same name; numba has code of its own for them
LIBRARIES = ("builtins", "cmath", "math", "numba", "numpy", "operator", "_operator")


def versions() -> str:
    """What compiled code depends on apart from its source: bytecode is that of a minor version of Python.

    Raises:
        DependencyError: numba is too old or too new.
    """
    from rlenvs.core.compiler.jit import check_numba, llvmlite, numba

    check_numba()
    settings = [getattr(numba.config, name, None) for name in SETTINGS]
    return f"{numba.__version__} {llvmlite.__version__} {sys.version_info[:2]} {settings}"


class Name(NamedTuple):
    """What code asks for from outside: a global or a variable from around it, and attributes of that in turn."""

    name: str
    attributes: tuple[str, ...]


def _read(code: CodeType) -> tuple[bytes, tuple[Name, ...]]:
    """Instructions and constants of some code, and the names in it. Read once: worlds share most of theirs."""
    found = _known.get(id(code))
    if found is None or found[0] is not code:
        names: dict[Name, None] = {}
        found = code, b"".join(_told_instructions(code, code.co_freevars, names)), tuple(names)
        if len(_known) >= MOST_CODES:
            _known.clear()
        _known[id(code)] = found
    return found[1:]


def _told_instructions(code: CodeType, free: tuple[str, ...], names: dict[Name, None]) -> Iterator[bytes]:
    lines = [(line.opname, line.argval) for line in dis.get_instructions(code) if line.opname != "EXTENDED_ARG"]
    for place, (operation, argument) in enumerate(lines):
        if isinstance(argument, CodeType):
            yield from _told_instructions(argument, free, names)
            continue
        if operation.startswith(("LOAD_GLOBAL", "LOAD_NAME")) or ("DEREF" in operation and argument in free):
            behind = itertools.takewhile(lambda line: line[0] in ("LOAD_ATTR", "LOAD_METHOD"), lines[place + 1 :])
            names[Name(argument, tuple(attribute for _, attribute in behind))] = None
        shown = sorted(map(repr, argument)) if isinstance(argument, frozenset) else repr(argument)
        yield f"{operation} {shown}\0".encode()


ABSENT = object()
MOST_CODES = 4000
_known: dict[int, tuple[CodeType, bytes, tuple[Name, ...]]] = {}  # by id; the code is kept, so ids are
# of each function that was hashed, what it used: by name, the value and its hash
_used: weakref.WeakKeyDictionary[FunctionType, dict[str, tuple[Any, bytes]]] = weakref.WeakKeyDictionary()
_told: set[str] = set()  # whose code cannot be kept


class Digest:
    """A hash of functions: their bytecode and constants, and those of all functions that they call.

    Comments, doc strings, names of files and of modules change nothing.

    Attributes:
        unhashed: what the functions use that has no value to hash, in words.
    """

    def __init__(self) -> None:
        self.unhashed: list[str] = []
        self._hash = hashlib.sha256()
        self._functions: list[FunctionType] = []
        self._order: dict[FunctionType, int] = {}
        self._user = ""  # the function whose values are hashed
        self._watched: dict[tuple[int, str], tuple[dict[str, Any], Any]] = {}  # by a dictionary and a name in it
        self._elsewhere: list[tuple[Name, FunctionType, dict[str, Any], Any]] = []  # what dictionaries do not lead to

    def hexdigest(self) -> str:
        """The hash in text; with ONCE and a number of its own where something could not be hashed."""
        return ONCE + uuid.uuid4().hex[:19] if self.unhashed else self._hash.hexdigest()[:24]

    def key(self, name: str) -> str:
        """The hash, with words on standard error where code can't be kept under it.

        Args:
            name: of what is compiled.
        """
        if self.unhashed and name not in _told:
            _told.add(name)
            print(
                f"rlenvs: {name} is compiled anew in each process: {self.unhashed[0]}, whose value cannot be compared "
                "with that of another process; use numbers, texts, tuples, arrays, enums or kernels instead",
                file=sys.stderr,
            )
        return self.hexdigest()

    def add(self, value: Any) -> None:
        """A function with all that it reaches, or a value.

        Raises:
            KernelError: a global that a function uses has changed since it was hashed first.
        """
        found = len(self._functions)
        self._hash.update(self._bytes_of(value))
        while found < len(self._functions):
            self._hash.update(self._function(self._functions[found]))
            found += 1

    def check_unchanged(self) -> None:
        """See whether all that was hashed by a name still is what the name stands for.

        Raises:
            KernelError: something has changed.
        """
        if not self._watched:
            self._watched = {}
            self._elsewhere = [found for found in self._meanings() if not self._watch(*found)]
        if all(where.get(name, ABSENT) is value for (_, name), (where, value) in self._watched.items()) and all(
            _meant(name, function, closed)[1] is value for name, function, closed, value in self._elsewhere
        ):
            return
        for name, function, closed, _ in self._meanings():
            told, value = _meant(name, function, closed)
            self._user = function.__qualname__
            self._unchanged(told, value, _used[function])

    def _meanings(self) -> Iterator[tuple[Name, FunctionType, dict[str, Any], Any]]:
        """Each name in each function, the function with its closure, and what the name stood for."""
        for function in self._functions:
            used = _used.get(function, {})
            closed = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
            for name in _read(function.__code__)[1] if used else ():
                yield name, function, closed, used[_meant(name, function, closed)[0]][0]

    def _watch(self, name: Name, function: FunctionType, closed: dict[str, Any], value: Any) -> bool:
        """Whether globals and contents of modules alone lead from a name to its value; these are looked at from now on,
        each once, however many functions use them."""
        where, known = function.__globals__, name.name
        if known in closed:
            return False
        places = {}
        if known not in where:
            places[id(where), known] = where, ABSENT
            where = vars(builtins)
        for attribute in (*name.attributes, ""):
            found = where.get(known, ABSENT)
            places[id(where), known] = where, found
            if not _is_opened(found) or not attribute:
                break
            if not isinstance(found, ModuleType):
                return False
            where, known = vars(found), attribute
        if found is not value:
            return False
        self._watched |= places
        return True

    def _bytes_of(self, value: Any) -> bytes:
        """The value, or the number of the function that it is."""
        kind = type(value)
        if kind in PLAIN:
            return f"{kind.__name__} {value!r}\0".encode()
        if kind is FunctionType and not _from_library(value):
            if value not in self._order:
                self._order[value] = len(self._functions)
                self._functions.append(value)
            return b"%s%d\0" % (FUNCTION, self._order[value])
        if isinstance(value, np.generic) and not value.dtype.hasobject:
            return f"{value.dtype!r} {value!r}\0".encode() + value.tobytes()
        if kind is np.ndarray:
            return self._array(value)
        if isinstance(value, enum.Enum):
            return self._bytes_of(kind) + self._all_of("member", [value._name_, value._value_])
        if isinstance(value, enum.EnumMeta):
            bases = [base.__name__ for base in value.__mro__[1:]]
            members: Any = value.__members__.items()
            return self._all_of("enum", [bases, *((name, each._value_) for name, each in members)])
        if kind in (tuple, list):
            return self._all_of(kind.__name__, value)
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return self._bytes_of(kind) + self._all_of("named", list(value))
        if kind in (set, frozenset):
            parts = sorted(self._bytes_of(each) for each in value)
            return f"{kind.__name__} {len(parts)}\0".encode() + b"".join(parts)
        if kind is dict:
            return self._all_of("dict", list(value.items()))
        if kind in (slice, range):
            return self._all_of(kind.__name__, [value.start, value.stop, value.step])
        if kind is ModuleType and _is_library(value.__name__):
            return f"module {value.__name__}\0".encode()
        return self._other(value)

    def _other(self, value: Any) -> bytes:
        """What numba has a form of its own for, or what it cannot compile; the rest cannot be hashed."""
        from rlenvs.core.compiler.jit import Dispatcher, Type, _Intrinsic

        if isinstance(value, _Intrinsic) and value._defn.__module__.startswith("rlenvs.core."):
            return Path(sys.modules[value._defn.__module__].__file__ or "").read_bytes()
        if isinstance(value, Dispatcher):
            return self._bytes_of(value.py_func) + self._all_of("compiled", sorted(value.targetoptions.items()))
        if isinstance(value, (np.dtype, Type)):
            return f"{type(value).__name__} {value!r} {value}\0".encode()
        if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
            return self._all_of("named tuple", [value._fields, value.__new__.__defaults__])
        if _from_library(value) and _found_there(value):
            return f"{_library_name(value)}\0".encode()
        self.unhashed.append(f"{self._user} uses {shortened(value)} ({type(value).__name__})")
        return b"\0"

    def _all_of(self, what: str, values: Any) -> bytes:
        return f"{what} {len(values)}\0".encode() + b"".join(map(self._bytes_of, values))

    def _array(self, array: np.ndarray) -> bytes:
        if array.dtype.hasobject:
            return self._all_of("objects", [array.shape, *array.ravel().tolist()])
        form = (array.shape, array.strides, array.flags.writeable, array.flags.aligned)
        return f"array {array.dtype!r} {form}\0".encode() + array.tobytes()

    def _function(self, function: FunctionType) -> bytes:
        if hasattr(function, "made_by"):  # machine code that a module of this package makes itself
            return Path(__file__).with_name(function.made_by).read_bytes()
        if _is_overloaded(function):
            self.unhashed.append(f"{function.__qualname__} is compiled as an overload of numba says")
        code, self._user = function.__code__, function.__qualname__
        arguments = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        parts = [self._bytes_of(each) for each in (arguments, function.__defaults__, function.__kwdefaults__)]
        instructions, names = _read(code)
        used = _used.setdefault(function, {})
        closed = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        for name in names:
            told, value = _meant(name, function, closed)
            parts.append(self._unchanged(told, value, used))
        return b"".join([*parts, instructions])

    def _unchanged(self, name: str, value: Any, used: dict[str, tuple[Any, bytes]]) -> bytes:
        """The bytes of a value that a function uses by a name, if it is what it was when the function was first hashed:
        parts of compiled code are used again as long as Python runs."""
        found = self._bytes_of(value)
        before, bytes_before = used.setdefault(name, (value, found))
        if value is before if FUNCTION in found else found == bytes_before:
            return found
        raise KernelError(
            f"{name}, which {self._user} uses, has changed from {shortened(before)} to {shortened(value)} since this "
            "kernel was first compiled, and compiled code keeps what it was; make it a parameter of the world, or "
            "start Python anew after the change"
        )


def _meant(name: Name, function: FunctionType, closed: dict[str, Any]) -> tuple[str, Any]:
    """What a name in a function stands for, and the part of it that is hashed by value."""
    told = name.name
    if told in closed:
        value = _content(closed[told])
    else:
        value = function.__globals__.get(told, getattr(builtins, told, f"no {told}"))
    for attribute in name.attributes:
        if not _is_opened(value):
            break
        told, value = f"{told}.{attribute}", getattr(value, attribute, f"no {attribute}")
    return told, value


def _is_overloaded(function: FunctionType) -> bool:
    """Whether compiled code of something else takes the function's place."""
    from rlenvs.core.compiler.jit import builtin_registry

    for known, kind in builtin_registry.globals[len(_templates) :]:
        _templates.append((known, kind))
        instead = getattr(kind.templates[0], "_overload_func", None) if isinstance(known, FunctionType) else None
        if isinstance(known, FunctionType) and "register_jitable" not in getattr(instead, "__qualname__", ""):
            _overloaded.add(known)
    return function in _overloaded


_templates: list[Any] = []  # of numba, as far as they were looked at
_overloaded: weakref.WeakSet[FunctionType] = weakref.WeakSet()


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # empty
        return "nothing"


def _is_opened(value: Any) -> bool:
    """Whether compiled code depends on the attributes of a value that it uses rather than on the value."""
    if isinstance(value, type):
        return not isinstance(value, enum.EnumMeta) and not _from_library(value)
    return isinstance(value, ModuleType)


def _is_library(module: Any) -> bool:
    return isinstance(module, str) and module.partition(".")[0] in LIBRARIES


def _from_library(value: Any) -> bool:
    return _is_library(getattr(value, "__module__", "numpy" if isinstance(value, np.ufunc) else None))


def _found_there(value: Any) -> bool:
    """Whether a library has this very function or class under its name."""
    module, name = getattr(value, "__module__", "numpy"), getattr(value, "__name__", "")
    return getattr(sys.modules.get(module), name, None) is value


def _library_name(value: Any) -> str:
    """Name of a library's class or function, with the version of NumPy where numba looks at that."""
    module = getattr(value, "__module__", "numpy")
    version = np.__version__ if module.startswith("numpy") and not isinstance(value, type) else ""
    return f"{module}.{getattr(value, '__qualname__', value.__name__)} {version}"
