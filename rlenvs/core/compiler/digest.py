"""What compiled code follows from, as a hash: two programs that compute something else have two.

The source of all functions that are called, values of the globals, closures and defaults that they use. What cannot be
hashed by value makes the hash unlike all others, so that its code is never kept. The hash is the same with all versions
of Python, NumPy and numba, and without numba; what is compiled here depends on these as well, see `versions`.
"""

from __future__ import annotations

import builtins
import dis
import enum
import hashlib
import re
import sys
import uuid
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from rlenvs.core.compiler.sources import bytecode_of, source_of
from rlenvs.core.declare.errors import KernelError, shortened

FUNCTION = b"function "
ONCE = "once-"  # in keys of code that is kept nowhere
SETTINGS = ("BOUNDSCHECK", "OPT", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "ENABLE_AVX", "USING_SVML")
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
# whose functions and classes mean the same wherever they have the same name; numba has code of its own for them
LIBRARIES = ("builtins", "cmath", "math", "numba", "numpy", "operator", "_operator")


def versions() -> str:
    """What code that is compiled here depends on apart from what it is compiled from: bytecode is that of a minor
    version of Python.

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


class _Read(NamedTuple):
    """A function's code as it is hashed: its source, or bytecode with the version of Python, and the names in it."""

    content: bytes
    names: tuple[Name, ...]


def _read(code: CodeType) -> _Read:
    """Read once: worlds share most of their functions."""
    found = _known.get(id(code))
    if found is None or found[0] is not code:
        source = source_of(code)
        content = f"{sys.version_info[:2]} ".encode() + bytecode_of(code) if source is None else source.encode()
        found = code, _Read(content, tuple(sorted(set(names_in(code, code.co_freevars)))))
        if len(_known) >= MOST_CODES:
            _known.clear()
        _known[id(code)] = found
    return found[1]


def names_in(code: CodeType, free: tuple[str, ...]) -> Iterator[Name]:
    """The names that some code, and all code in it, takes from outside.

    Args:
        code: of a function.
        free: the variables from around the function.
    """
    operations, arguments = code.co_code[::2], code.co_code[1::2]
    wanted = OUTER if free else GLOBAL
    for found in wanted.finditer(operations):
        place = found.start()
        number = _argument(operations, arguments, place)
        operation = operations[place]
        if operation in BY_VARIABLE:
            name = code._varname_from_oparg(number)  # type: ignore[attr-defined]
            if name not in free:
                continue
        else:
            name = code.co_names[number >> 1 if operation == LOAD_GLOBAL else number]
        yield Name(name, tuple(_attributes(code, operations, arguments, place + 1)))
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from names_in(value, free)


def _attributes(code: CodeType, operations: bytes, arguments: bytes, place: int) -> Iterator[str]:
    while True:
        while operations[place] in SKIPPED:
            place += 1
        operation = operations[place]
        if operation not in ATTRIBUTE:
            return
        yield code.co_names[_argument(operations, arguments, place) >> ATTRIBUTE[operation]]
        place += 1


def _argument(operations: bytes, arguments: bytes, place: int) -> int:
    """The argument of an instruction, with the upper bytes that the instructions before it hold."""
    number, shift = arguments[place], 8
    while place and operations[place - 1] == EXTENDED:
        place -= 1
        number |= arguments[place] << shift
        shift += 8
    return number


def _operations(*names: str) -> list[int]:
    return [dis.opmap[name] for name in names if dis.opmap.get(name, 256) < 256]


def _any_of(operations: Iterable[int]) -> re.Pattern[bytes]:
    return re.compile(b"[" + b"".join(re.escape(bytes([each])) for each in operations) + b"]")


LOAD_GLOBAL, EXTENDED = dis.opmap["LOAD_GLOBAL"], dis.opmap["EXTENDED_ARG"]
SKIPPED = (0, EXTENDED)  # 0: what the interpreter keeps behind an instruction
BY_VARIABLE = _operations(*(name for name in dis.opmap if "DEREF" in name))
# how far the number of the name is shifted, whose lowest bit tells whether the attribute is called
ATTRIBUTE = dict.fromkeys(_operations("LOAD_ATTR"), int(sys.version_info >= (3, 12))) | dict.fromkeys(
    _operations("LOAD_METHOD"), 0
)
GLOBAL = _any_of(_operations("LOAD_GLOBAL", "LOAD_NAME"))
OUTER = _any_of([*_operations("LOAD_GLOBAL", "LOAD_NAME"), *BY_VARIABLE])


ABSENT = object()
MOST_CODES = 4000
_known: dict[int, tuple[CodeType, _Read]] = {}  # by id; the code is kept, so ids are
# of each function that was hashed, what it used: by name, the value and its hash
_used: weakref.WeakKeyDictionary[FunctionType, dict[str, tuple[Any, bytes]]] = weakref.WeakKeyDictionary()
_told: set[str] = set()  # whose code cannot be kept


class Digest:
    """A hash of functions: their source, and that of all functions that they call.

    Comments, doc strings, names of functions, of files and of modules change nothing.

    Attributes:
        unhashed: what the functions use that has no value to hash, in words.
        reads_numpy: whether numba has a form of its own for something of NumPy's that they use, and looks at NumPy's
            version there.
    """

    def __init__(self) -> None:
        self.unhashed: list[str] = []
        self.reads_numpy = False
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
        """The key of what is compiled here, which follows from the versions as well, with words on standard error where
        code can't be kept under it.

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
        if self.unhashed:
            return self.hexdigest()
        numpy = np.__version__ if self.reads_numpy else ""
        return hashlib.sha256(f"{self.hexdigest()} {versions()} {numpy}".encode()).hexdigest()[:24]

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
            for name in _read(function.__code__).names if used else ():
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
        if kind is str:  # whose repr follows from the version of Unicode
            return b"str %d " % len(value) + value.encode("utf-8", "surrogatepass") + b"\0"
        if kind in PLAIN:
            return f"{kind.__name__} {value!r}\0".encode()
        if kind is FunctionType and not _from_library(value):
            if value not in self._order:
                self._order[value] = len(self._functions)
                self._functions.append(value)
            return b"%s%d\0" % (FUNCTION, self._order[value])
        if isinstance(value, np.generic) and not value.dtype.hasobject:
            return f"number {_form_of(value.dtype)}\0".encode() + value.tobytes()
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
        if isinstance(value, np.dtype):
            return f"dtype {_form_of(value)}\0".encode()
        if hasattr(value, "py_func") and hasattr(value, "options"):  # a loop
            return self._bytes_of(value.py_func) + self._all_of("compiled", sorted(value.options.items()))
        if _numba_imported():  # without it there are no values of its classes
            from rlenvs.core.compiler.jit import Dispatcher, Type, _Intrinsic

            if isinstance(value, _Intrinsic) and value._defn.__module__.startswith("rlenvs.core."):
                return Path(sys.modules[value._defn.__module__].__file__ or "").read_bytes()
            if isinstance(value, Dispatcher):
                return self._bytes_of(value.py_func) + self._all_of("compiled", sorted(value.targetoptions.items()))
            if isinstance(value, Type):
                return f"{type(value).__name__} {value!r} {value}\0".encode()
        if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
            return self._all_of("named tuple", [value._fields, value.__new__.__defaults__])
        if _from_library(value) and _found_there(value):
            module = getattr(value, "__module__", None) or "numpy"
            self.reads_numpy |= module.startswith("numpy") and not isinstance(value, type)
            return f"{module}.{getattr(value, '__qualname__', value.__name__)}\0".encode()
        self.unhashed.append(f"{self._user} uses {shortened(value)} ({type(value).__name__})")
        return b"\0"

    def _all_of(self, what: str, values: Any) -> bytes:
        return f"{what} {len(values)}\0".encode() + b"".join(map(self._bytes_of, values))

    def _array(self, array: np.ndarray) -> bytes:
        if array.dtype.hasobject:
            return self._all_of("objects", [array.shape, *array.ravel().tolist()])
        form = (array.shape, array.strides, array.flags.writeable, array.flags.aligned)
        return f"array {_form_of(array.dtype)} {form}\0".encode() + array.tobytes()

    def _function(self, function: FunctionType) -> bytes:
        if hasattr(function, "made_by"):  # machine code that a module of this package makes itself
            return Path(__file__).with_name(function.made_by).read_bytes()
        if _is_overloaded(function):
            self.unhashed.append(f"{function.__qualname__} is compiled as an overload of numba says")
        code, self._user = function.__code__, function.__qualname__
        parts = [self._bytes_of(each) for each in (function.__defaults__, function.__kwdefaults__)]
        content, names = _read(code)
        used = _used.setdefault(function, {})
        closed = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        for name in names:
            told, value = _meant(name, function, closed)
            parts += [f"{told}\0".encode(), self._unchanged(told, value, used)]
        return b"".join([*parts, content, b"\0"])

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
    if not _numba_imported():
        return False
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


def _numba_imported() -> bool:
    return sys.modules.get("numba") is not None


def _form_of(dtype: np.dtype) -> str:
    """A type of elements in words that all versions of NumPy have alike."""
    if dtype.subdtype is not None:
        return f"{_form_of(dtype.subdtype[0])}{dtype.subdtype[1]}"
    if dtype.fields is None:
        return dtype.str
    fields = [f"{name} {_form_of(dtype.fields[name][0])} {dtype.fields[name][1]}" for name in dtype.names or ()]
    return f"{fields} {dtype.itemsize} {dtype.isalignedstruct} {dtype.type.__name__}"
