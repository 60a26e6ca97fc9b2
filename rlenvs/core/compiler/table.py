"""Where compiled code finds the arrays of a batch: a record of numbers and addresses, all that the driver is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from rlenvs.core.declare.arrays import all_sizes, arrays_of, batch_layout, row_layouts
from rlenvs.core.declare.setup import Setup

AUTORESET = {AutoresetMode.NEXT_STEP: 0, AutoresetMode.SAME_STEP: 1, AutoresetMode.DISABLED: 2}  # as the driver has it


class Table:
    """The record that the driver works from, and the arrays whose addresses stand in it.

    Args:
        setup: of the batch.
        rows: its arrays, by their names in `rlenvs.core.declare.arrays`.
        autoreset, first_decides: as for `KernelBatch`.

    Attributes:
        rows: the arrays by name, but for those of a call.
        arrays: what `rlenvs.core.declare.arrays` says of each array.
        layouts: of their rows, by the driver's names for them.
        sizes: of the dimensions, by name.
        metas: by view, where the parts of its rows lie.
        record: the record, in an array of one.
        address: of the record.
        blocks: uint8 (threads, bytes of a block): the rooms in which several worlds are stepped at a time. None before
            they are needed, and after an array that they exchange rows with went elsewhere.
    """

    def __init__(
        self, setup: Setup, rows: Mapping[str, np.ndarray], autoreset: AutoresetMode, first_decides: bool
    ) -> None:
        self.setup = setup
        self.rows: dict[str, np.ndarray] = {}
        self.arrays = arrays_of(setup.world, setup.action_kind)
        self.layouts = row_layouts(setup.world, setup.action_kind)
        self.sizes = all_sizes(setup)
        self.metas = {name: layout.meta(self.sizes) for name, layout in self.layouts.items()}
        self.record = np.zeros(1, batch_layout(tuple(self.layouts)).dtype({}))
        self.address = self.record.ctypes.data
        self.blocks: np.ndarray | None = None
        for name, value in {
            "worlds": len(rows["states"]),
            "agents": setup.agents,
            "autoreset": AUTORESET[autoreset],
            "action_numbers": self.sizes["action_numbers"],
            "scaled": setup.scaled,
            "converted": setup.converted,
            "cost_maximum": setup.world.combine_costs == "max",
            "randomized": len(rows["_random_ranges"]),
            "first_decides": first_decides,
            "has_images": bool(setup.image_shapes),
        }.items():
            self.record[name] = value
        for name, array in rows.items():
            self.point(name, array)
        if setup.converted:
            self.record["action"] = self.record["advice"] = rows["_split"].ctypes.data

    def point(self, name: str, rows: np.ndarray) -> None:
        """Let the driver find the rows of one of the arrays there. One row of parameters is every world's. Rows that
        belong to a call have to live until its end."""
        array, record = self.arrays[name], self.record[0]
        shared = name == "param_rows" and len(rows) == 1
        if array.per != "call":
            self.rows[name] = rows
        if array.lanes:
            self.blocks = None
        if name == "param_rows":
            record["params_common"] = rows.ctypes.data
        elif name == "states":
            record["state_rows"] = rows.ctypes.data
        for view in array.views:
            record[view] = rows.ctypes.data
            record[f"{view}_size"] = 0 if shared else array.step(self.sizes)
            record[f"{view}_meta"] = self.metas[view].ctypes.data

    @property
    def own_params(self) -> bool:
        """Whether each of several worlds has a row of parameters of its own."""
        return len(self.rows["param_rows"]) > 1

    def records(self, index: int) -> tuple[Any, Any]:
        """Parameters and state of one world, live."""
        return self.rows["param_rows"][index if self.own_params else 0], self.rows["states"][index]

    def empty(self, name: str, *shape: int) -> np.ndarray:
        """Zeros for an array that belongs to a call."""
        return np.zeros(shape, self.arrays[name].dtype(self.sizes))

    def kept(self) -> dict[str, np.ndarray]:
        """The arrays that copies, pickles and checkpoints take along, by name."""
        return {name: self.rows[name] for name, array in self.arrays.items() if array.kept}
