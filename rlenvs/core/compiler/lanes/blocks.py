"""The memory of blocks: rooms in which WIDTH worlds of a batch are stepped, and what is copied to and from them.

Each thread that steps works in a block of its own. It holds a record as the batch has one
(`rlenvs.core.declare.arrays`), whose addresses are those of rooms in the block, and a table of runs: numbers of one
size that lie one after the other in the rows of an array.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from rlenvs.core.declare.inputs import one_of
from rlenvs.core.declare.layout import Layout, i8

if TYPE_CHECKING:
    from rlenvs.core.compiler.table import Table
    from rlenvs.core.declare.arrays import Array

WIDTH = int(one_of("RLENVS_LANES", os.environ.get("RLENVS_LANES") or "8", ("1", "4", "8")))  # worlds of a block
LINE = 64  # bytes, to which rooms are aligned
PAIR, FOUR = 2, 4  # so many numbers of a row are copied at once, where there are not WIDTH of them
DENSE = (1, PAIR, FOUR)  # numbers of a row; of rows that lie one behind the other these are copied all at once
SQUARED = 4  # bytes of a number: of these, what is between FOUR and WIDTH is copied as part of a square
PHASES = ("taken", "given", "seen", "checked")  # when blocks exchange runs with the batch, and which have to be finite
# busy: whether a thread works in the block. worlds: those in it. broken: whose observation is not to be overwritten.
# batch: address of the block's record. spare: of a room for rows that nobody wants. first: the first run of each phase.
# run: where they are
BLOCK = Layout("block", {"busy": i8, "worlds": i8(WIDTH), "broken": i8(WIDTH), "batch": i8, "spare": i8,
                         "first": i8(len(PHASES) + 1), "run": i8, "run_size": i8, "run_meta": i8})  # fmt: skip
# the first row and the step to the next, where it lies in the block, bytes of a number, how many; whether the rows of
# worlds in order lie one behind the other, with 1, 2 or 4 numbers each
RUN = Layout("run", dict.fromkeys(("rows", "step", "block", "bytes_each", "count", "dense"), i8))


def make_blocks(table: Table, count: int) -> np.ndarray:
    """Memory for `count` blocks of a batch, uint8 (count, bytes of a block)."""
    rooms = [(name, array) for name, array in table.arrays.items() if array.lanes and len(table.rows[name])]
    sizes = [_bytes_of_world(table.rows[name]) * WIDTH for name, array in rooms]
    by_phase = [[run for name in names for run in _runs(table, name, phase)] for phase, names in _copied(rooms).items()]
    all_runs = [run for runs in by_phase for run in runs]
    parts = (BLOCK.dtype({}).itemsize, table.record.nbytes, len(all_runs) * RUN.dtype({}).itemsize)
    places = np.cumsum([0, *(_rounded(size) for size in (*parts, *sizes, max(sizes)))])  # the last: room for `spare`
    memory = np.zeros(count * places[-1] + LINE, np.uint8)
    memory = memory[-memory.ctypes.data % LINE :][: count * places[-1]].reshape(count, -1)
    for one in memory:
        at = [one.ctypes.data + int(place) for place in places]
        block = one[: parts[0]].view(BLOCK.dtype({}))[0]
        block["batch"], block["run"], block["run_size"], block["spare"] = at[1], at[2], RUN.dtype({}).itemsize, at[-2]
        block["first"] = np.cumsum([0, *map(len, by_phase)])
        addresses = {name: at[3 + k] for k, (name, _) in enumerate(rooms)}
        record = one[places[1] :][: parts[1]].view(table.record.dtype)
        record[0] = table.record[0]
        record[0]["block"] = at[0]
        _point_to_rooms(table, record[0], addresses)
        rows = one[places[2] :][: parts[2]].view(RUN.dtype({}))
        for row, (name, first, step, offset, item, length) in zip(rows, all_runs, strict=True):
            row["rows"], row["step"], row["dense"] = first, step, step == item * length and length in DENSE
            row["block"], row["bytes_each"], row["count"] = addresses[name] + WIDTH * offset, item, length
    return memory


def _copied(rooms: list[tuple[str, Array]]) -> dict[str, list[str]]:
    """The names of the arrays of each phase."""
    copied = {phase: [name for name, array in rooms if phase in array.lanes] for phase in PHASES}
    return {**copied, "checked": ["states"]}


def _rounded(size: int) -> int:
    return -(-size // LINE) * LINE


def _bytes_of_world(rows: np.ndarray) -> int:
    return int(rows.nbytes // len(rows))


def _point_to_rooms(table: Table, record: Any, addresses: dict[str, int]) -> None:
    for name, address in addresses.items():
        if name == "param_rows" and not table.own_params:
            continue  # all worlds have the same, which stay where they are
        for view in table.arrays[name].views:
            record[view] = address
    if table.setup.converted:
        record["action"] = record["advice"] = addresses["_split"]


def _runs(table: Table, name: str, phase: str) -> Iterator[tuple[str, int, int, int, int, int]]:
    """Of one array: its name, first row and step, and for each run its offset in a world's rows, bytes per number and
    count."""
    rows, layouts = table.rows[name], table.setup.world.layouts
    if name == "param_rows" and not table.own_params:
        return
    world = table.setup.world
    if (name == "masks" and "mask" not in world.kernels) or (name == "costs" and not world.costs):
        return  # they never change
    step = _bytes_of_world(rows)
    shared = layouts["params"].shared if name == "param_rows" else frozenset()
    for offset, item, count in _fields(rows.dtype, step, shared, layouts["state"].last, phase == "checked"):
        copied = _filled(count) if phase == "taken" and item >= SQUARED else count
        copied = copied if offset + item * copied <= step else count
        yield name, rows.ctypes.data + offset, step, offset, item, copied


def _filled(count: int) -> int:
    """A count that is copied sooner, as more is read than needed: what follows is read after it."""
    return -(-count // WIDTH) * WIDTH if count > FOUR else FOUR if count > PAIR else count


def _fields(
    dtype: np.dtype, size: int, shared: frozenset[str], last: frozenset[str], checked: bool
) -> list[tuple[int, int, int]]:
    """The runs of a world's rows: offset, bytes of a number, count. What is `shared` is not copied, nor are the arrays
    among the `last` fields of the state, which stay in the rows. Floats alone that are not `last` are `checked`."""
    if dtype.names is None:
        return [(0, dtype.itemsize, size // dtype.itemsize)]
    found: list[tuple[int, int, int]] = []
    assert dtype.fields is not None
    for name in dtype.names:
        if name.startswith("_gap") or name in shared or (name in last and dtype[name].shape):
            continue
        kind, offset = dtype.fields[name][:2]
        if checked and (name in last or kind.base.kind != "f"):
            continue
        item = kind.base.itemsize
        count = kind.itemsize // item
        if found and found[-1][1] == item and found[-1][0] + item * found[-1][2] == offset:
            found[-1] = (found[-1][0], item, found[-1][2] + count)
        elif count:
            found.append((offset, item, count))
    return found
