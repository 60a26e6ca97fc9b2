"""Games of Generals as tests set them up."""

import numpy as np
from gymnasium.vector import AutoresetMode

import rlenvs
from rlenvs.multi.generals.board import set_owner

UP, DOWN, LEFT, RIGHT = range(4)
PASS = 0
OPEN = "A.......\n........\n........\n........\n........\n........\n.......B"  # 7 x 8
ORDERS = ("smaller_first", "larger_first")


def make(n=1, **choices):
    return rlenvs.make_batch("Generals-v0", n, autoreset=AutoresetMode.DISABLED, threads=1, **choices)


def game(board=OPEN, cells=None, time=0, **choices):
    """One game on a board, with some cells set to {(row, column): (player or None, army)}."""
    batch = make(board=board, **choices)
    batch.seed([0])
    batch.reset()
    put(batch, cells or {}, time)
    return batch


def put(batch, cells, time=0):
    p, s = batch.records(0)
    for (row, column), (player, army) in cells.items():
        cell = row * int(p.columns) + column
        set_owner(p, s, cell, 0)
        s.army[cell] = army
        set_owner(p, s, cell, 0 if player is None else player + 1)
    s.elapsed = time
    batch.set_state(batch.get_state())  # observe again


def move(batch, row, column, direction, half=0):
    p, _ = batch.records(0)
    return 1 + (direction + 4 * half) * int(p.rows * p.columns) + row * int(p.columns) + column


def site(batch, row, column):
    p, _ = batch.records(0)
    return 1 + 8 * int(p.rows * p.columns) + row * int(p.columns) + column


def play(batch, *orders):
    """One tick; the other players pass."""
    batch.step(np.array([list(orders) + [PASS] * (batch.agents - len(orders))]))
    return batch.records(0)[1]


def grid(batch, name):
    p, s = batch.records(0)
    return np.asarray(s[name]).reshape(p.rows, p.columns)


def at(batch, row, column):
    """Owner (None for nobody) and army of a cell."""
    owner = int(grid(batch, "owner")[row, column])
    return (owner - 1 if owner else None), int(grid(batch, "army")[row, column])


LIVELY = {"height": 8, "width": 9, "distance": 5.0, "mountains": 0.1}


def lively(seed, ticks, n=1, **choices):
    """Games some ticks in, played by expanders."""
    batch = make(n, **{**LIVELY, **choices})
    batch.seed(range(seed, seed + n))
    batch.reset()
    for _ in range(ticks):
        if batch.over.any():
            break
        batch.player_actions("expander")
        batch.step_inplace()
    return batch
