"""The loops of the driver as plain Python, and records that behave there as in compiled code."""

from __future__ import annotations

import ctypes
import functools
import operator
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from rlenvs.core.compiler.driver import ENTRY_POINTS
from rlenvs.core.compiler.kernel_names import kernel_names
from rlenvs.core.declare.arrays import all_sizes, batch_layout, row_layouts
from rlenvs.core.declare.setup import Setup

TEMPLATES = [Path(__file__).with_name(f"driver{part}.py") for part in ("", "_actions", "_blocks")]
MOST_ROWS = 4096  # of an array that plain Python keeps at hand


@functools.cache
def _template_code() -> list[Any]:
    return [compile(path.read_text(), str(path), "exec") for path in TEMPLATES]


def run_template(names: dict[str, Any]) -> None:
    """Put the loops of `rlenvs.core.compiler.driver` behind a world's kernels, among the names that they use."""
    for code in _template_code():
        exec(code, names)


def python_driver(setup: Setup, engine: bool) -> SimpleNamespace:
    """The same loops, uncompiled: breakpoints and print work inside kernels. Some 1000 times slower."""
    sizes, layouts = all_sizes(setup), row_layouts(setup.world, setup.action_kind)
    module: dict[str, Any] = kernel_names(setup.world, setup.action_kind, engine)
    for name, layout in layouts.items():
        module[f"{name}_of"] = _python_row_accessor(name, layout.dtype(sizes))
    module["batch_at"] = _python_accessor(batch_layout(tuple(layouts)).dtype({}))
    run_template(module)
    return SimpleNamespace(**{name: _quiet(module[name]) for name in ENTRY_POINTS})


def _python_accessor(dtype: np.dtype) -> Callable[[int, int], Any]:
    memory, Row = ctypes.c_char * dtype.itemsize, _row_class(dtype)
    known: dict[int, Any] = {}  # by address

    def record_at(address: int, meta: int) -> Any:
        row = known.get(address)
        if row is None:
            if len(known) >= MOST_ROWS:
                known.clear()
            row = known[address] = Row(np.frombuffer(memory.from_address(int(address)), dtype))  # type: ignore[call-overload]
        return row

    return record_at


def _python_row_accessor(name: str, dtype: np.dtype) -> Callable[[Any, int], Any]:
    at, size = _python_accessor(dtype), f"{name}_size"

    def row_of(b: Any, i: int) -> Any:
        return at(getattr(b, name) + i * getattr(b, size), 0)

    return row_of


SMALL = frozenset({np.bool_, np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32})


class WideArray(np.ndarray):
    """An array whose small whole numbers are read as Python's: compiled code computes with 64 bits of them, while NumPy
    would go on in theirs, and 250 + 10 of two bytes were 4."""

    def __getitem__(self, key: Any) -> Any:
        value = super().__getitem__(key)
        return value.item() if type(value) in SMALL else value


class _Row:
    """A record of live views: what `np.record` does, in a tenth of the time. `_row_class` adds the fields."""

    __slots__ = ("_record",)

    def __init__(self, row: np.ndarray) -> None:
        self._record = row[0]
        for field in _fields_of(row.dtype):
            value = row[field].reshape(row[field].shape[1:])
            setattr(self, f"_{field}", value.view(WideArray) if value.dtype.type in SMALL else value)

    def __getitem__(self, field: str) -> Any:
        return self._record[field]

    def __repr__(self) -> str:
        return repr(self._record)

    @property
    def dtype(self) -> np.dtype:
        """The type of the record."""
        return self._record.dtype

    def copy(self) -> Any:
        """A record of its own."""
        return type(self)(np.array([self._record], self._record.dtype))

    def tobytes(self) -> bytes:
        """The memory."""
        return bytes(self._record.tobytes())


def _fields_of(dtype: np.dtype) -> list[str]:
    return [name for name in dtype.names or () if not name.startswith("_gap")]


def _row_class(dtype: np.dtype) -> type:
    """Rows with the fields of a layout. Numbers can be set, arrays only written into, as in compiled code."""

    def number(place: str) -> property:
        def set_number(row: Any, value: Any) -> None:
            getattr(row, place)[()] = value

        return property(lambda row: getattr(row, place)[()], set_number)

    def array(name: str) -> property:
        def refuse(row: Any, value: Any) -> None:
            raise TypeError(f"{name} is an array: write to its elements, as in {name}[:] = ...")

        return property(operator.attrgetter(f"_{name}"), refuse)

    names = _fields_of(dtype)
    fields = {name: array(name) if dtype[name].shape else number(f"_{name}") for name in names}
    return type("Row", (_Row,), {"__slots__": [f"_{name}" for name in names], **fields})


def _quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """Unsigned overflow is what the random generator requires; as in compiled code, dividing by zero gives inf."""

    @functools.wraps(function)
    def wrapped(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args)

    return wrapped
