"""The first agent of the first world: what a single environment reads and calls at every step."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rlenvs.core.compiler.driver import ACT
from rlenvs.core.compiler.entries import direct
from rlenvs.core.declare.setup import Setup

if TYPE_CHECKING:
    from rlenvs.core.batch.kernel_batch import KernelBatch


class First:
    """Views on the rows of the first agent of the first world.

    Args:
        setup: of the batch.
        rows: its arrays by name.
        piece: the memory in which the arrays of a step's outcome lie.
        terms, success: views on its results.
    """

    def __init__(
        self, setup: Setup, rows: Mapping[str, np.ndarray], piece: np.ndarray, terms: np.ndarray, success: np.ndarray
    ) -> None:
        self.observation = rows["observations"][0, 0]
        self.reward_vector = rows["reward_vectors"][0, 0]
        self.mask = rows["masks"][0, 0, : setup.mask_lengths[0]]
        self.illegal: Any = rows["states"]["illegal"][0, :1].data if "mask" in setup.world.kernels else None
        self.alive = rows["states"]["alive"][0]  # of all agents
        self.outcome_of = partial(outcome_reader, piece, rows, terms, success)
        self.outcome = self.outcome_of(1)
        # what an environment makes of these views, see `short_step`, `InfoKeys.reader` and `InfoKeys.team_reader`
        self.step: Any = None
        self.advance: Any = None  # a step by the action that lies in the batch, not read; None where that takes more
        self.read_agent: Any = None  # the last step, as this agent saw it
        self.read_team: Any = None  # as all agents of the first world did


def outcome_reader(
    piece: np.ndarray, rows: Mapping[str, np.ndarray], terms: np.ndarray, success: np.ndarray, agents: int
) -> Callable[[], tuple[Any, ...]]:
    """What reads the outcome of a step for the first agents of the first world in one go, which takes half the time of
    `item` of a record: each term, success, reward, cost, terminated, truncated, each of all these agents, and failed,
    as Python's numbers.

    Args:
        piece, rows, terms, success: see `First`.
        agents: how many.
    """
    numbers = [*(terms[0, t, :agents] for t in range(terms.shape[1])), success[0, :agents]]
    numbers += [rows[name][0, :agents] for name in ("rewards", "costs", "terminated", "truncated")]
    numbers.append(rows["_failed"][:1])
    form, end = "=", piece.ctypes.data
    for array in numbers:  # in the order in which they lie in memory
        form += f"{array.ctypes.data - end}x{array.size}{array.dtype.char}"
        end = array.ctypes.data + array.nbytes
    return partial(struct.Struct(form).unpack_from, piece.data)


def short_step(batch: KernelBatch, read: Callable[[], Any], refuses: bool) -> Callable[[Any], Any]:
    """See `KernelBatch.short_step`. All that a step needs is looked up here, once, which halves its time."""
    first, run, address = batch.first, direct(batch.loops.driver.run_worlds), batch.loops.address
    load_one, refuse = batch.loader.load_one, batch.loader.refuse
    row, allowed = batch.loader.row.data, first.mask.data  # which give Python's numbers sooner
    bare, choices, illegal = batch.loader.bare, batch.setup.action_size, first.illegal

    def advance() -> None:
        code = run(address, 0, 1, ACT)
        if code:
            refuse(code)
        if batch.totals is not None:
            batch.totals.see_step(batch, None)

    def step(action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]] | None:
        forbidden = False
        if type(action) in bare and 0 <= action < choices:
            forbidden = not allowed[action]
            if forbidden and refuses:
                return None
            row[0] = action
        elif illegal is not None:
            return None
        else:
            load_one(action)
        code = run(address, 0, 1, ACT)
        if code:
            refuse(code)
        if forbidden:
            illegal[0] += 1
        if batch.totals is not None:
            batch.totals.see_step(batch, None)
        return read()

    first.advance = advance if illegal is None else None
    return step
