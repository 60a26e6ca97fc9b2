"""The table of a batch's arrays holds for every kind of action and observation."""

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from toys import pursuit, thermostat
from toys.spaces import CATCH, LIGHTS, MEET, PORTER, PORTERS

from rlenvs.core import block, discrete, f8, term, world
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.declare.arrays import all_sizes, arrays_of, row_layouts
from rlenvs.core.declare.errors import ParameterError

WORLDS = [
    (thermostat.load(), {}),
    (pursuit.SPEC, {}),
    (CATCH, {}),
    (MEET, {}),
    (LIGHTS, {}),
    (PORTER, {}),
    (PORTER, {"flat_actions": True}),
    (PORTERS, {"flat_actions": True}),
]


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP], ids=lambda mode: mode.name)
@pytest.mark.parametrize(("spec", "choices"), WORLDS, ids=lambda part: getattr(part, "name", str(part)))
def test_what_the_driver_sees_lies_inside_the_arrays(spec, choices, mode):
    batch = KernelBatch(spec, 3, autoreset=mode, backend="python", **choices)
    kind, sizes = batch.setup.action_kind, all_sizes(batch.setup)
    arrays = arrays_of(spec, kind)
    layouts = row_layouts(spec, kind)
    for name, array in arrays.items():
        row = array.step(sizes)
        for view in array.views:
            assert layouts[view].dtype(sizes).itemsize <= max(row, 1), (name, view)
        if array.per in ("world", "agent") and name != "param_rows" and not (batch.setup.alone and row == 0):
            rows = 3 * (batch.agents if array.per == "agent" else 1)
            assert batch.loops.table.rows[name].nbytes in ((0, rows * row) if array.only else (rows * row,)), name


def test_final_arrays_are_there_where_they_are_needed():
    spec = thermostat.load()
    mode = {
        name: KernelBatch(spec, 3, autoreset=AutoresetMode[name], backend="python")
        for name in ("SAME_STEP", "DISABLED")
    }
    for name, array in arrays_of(spec, "discrete").items():
        if array.only == ("final",):
            assert [len(batch.loops.table.rows[name]) for batch in mode.values()] == [3, 0], name


def test_a_size_with_a_name_of_the_core_is_refused():
    """Kernels would read an array of the world's with the core's dimensions."""
    spec = world(
        "Clash-v0",
        doc="Clash.",
        sizes=lambda values: {"actions": 4},
        data={"table": f8("actions")},
        state={"x": f8},
        observation={"x": block(low=0.0, high=1.0)},
        action=discrete("stay", "go"),
        terms={"reward": term(0.0, 1.0)},
        horizon=5,
    )
    spec.make_data(lambda values: {"table": np.zeros(4)})
    spec.reset(lambda p, s, rng: None)
    spec.step(lambda p, s, a, rng, r: None)
    spec.observe(lambda p, s, o: None)
    with pytest.raises(ParameterError, match="'actions' is 4, but the core uses this name with the value 1"):
        KernelBatch(spec, 2, backend="python")
