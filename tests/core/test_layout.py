import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from rlenvs.core.compiler.records import accessor
from rlenvs.core.declare.layout import Layout, b1, f4, f8, i1, i4, u8

FIELDS = {"grid": i1("rows", "columns"), "x": f8, "on": b1, "tail": f8("agents", 2), "n": i4, "v": f4(3)}
LAYOUT = Layout("test", FIELDS)
record_at = accessor(LAYOUT)


@njit
def touch(address, size, meta, count):
    for i in range(count):
        s = record_at(address + i * size, meta)
        s.x += 1.5
        s.on = s.x > 2
        s.n -= 1
        for j in range(3):
            s.v[j] = i + j
        rows, columns = s.grid.shape
        s.grid[rows - 1, columns - 1] = 7
        for k in range(s.tail.shape[0]):
            s.tail[k, 1] = 10 * i + k


@given(rows=st.integers(1, 9), columns=st.integers(1, 9), agents=st.integers(1, 9), count=st.integers(1, 5))
def test_compiled_code_and_numpy_see_the_same_record(rows, columns, agents, count):
    sizes = {"rows": rows, "columns": columns, "agents": agents}
    dtype, meta = LAYOUT.dtype(sizes), LAYOUT.meta(sizes)
    array = np.zeros(count + 1, dtype)
    touch(array.ctypes.data, dtype.itemsize, meta.ctypes.data, count)
    touch(array.ctypes.data, dtype.itemsize, meta.ctypes.data, count)
    assert (array["x"][:count] == 3.0).all()
    assert array["on"][:count].all()
    assert (array["n"][:count] == -2).all()
    assert (array["v"][:count] == np.arange(count)[:, None] + np.arange(3)).all()
    expected = np.zeros((rows, columns))
    expected[-1, -1] = 7
    assert (array["grid"][:count] == expected).all()
    assert (array["tail"][:count, :, 1] == 10 * np.arange(count)[:, None] + np.arange(agents)).all()
    assert (array["tail"][:, :, 0] == 0).all()
    assert array[count].tobytes() == bytes(dtype.itemsize)


def test_fields_of_fixed_size_come_first_and_by_size_the_longest_numbers():
    assert list(LAYOUT.fields) == ["x", "on", "n", "v", "grid", "tail"]
    assert list(Layout("test", FIELDS, by_size=True).fields) == ["x", "n", "v", "on", "tail", "grid"]


def test_what_is_last_comes_last():
    layout = Layout("test", {"kept": f8, "on": b1, "x": f8("n")}, last=("kept",))
    assert list(layout.fields) == ["on", "x", "kept"]


def test_packed_layout_keeps_order_and_has_no_gaps():
    layout = Layout("packed", {"a": b1, "b": f8("n"), "c": f4}, packed=True)
    assert layout.dtype({"n": 3}).itemsize == 1 + 24 + 4
    assert list(layout.fields) == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["shape", "T", "item", "_hidden", "not a name", "data"])
def test_names_that_records_already_use_are_refused(name):
    with pytest.raises(ValueError, match="cannot name a field"):
        Layout("bad", {name: u8})
