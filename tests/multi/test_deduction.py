"""Impostors and Werewolf: the rules of their sources, what players may know, and games of scripted players."""

from functools import cache

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.forms.recorder import Recorder
from rlenvs.core.forms.render import compose
from rlenvs.multi.deduction.language import parse_ship, parse_village, ship_orders, village_orders
from rlenvs.multi.deduction.meeting import ACTING, EJECTED, EVIL, GOOD, KILLED, NOBODY, PRESENT, TALKING, VOTING
from rlenvs.multi.deduction.ship import BUTTON, EAST, NORTH, REPORT, TASK
from rlenvs.multi.deduction.ship import FIRST_PLAYER as FIRST_ON_SHIP
from rlenvs.multi.deduction.village import DOCTOR, SEER
from rlenvs.multi.deduction.village import FIRST_PLAYER as FIRST_IN_VILLAGE

SHIP, VILLAGE = "Impostors-v0", "Werewolf-v0"
FIRST = {SHIP: FIRST_ON_SHIP, VILLAGE: FIRST_IN_VILLAGE}


def begun(id, worlds=1, roles=None, **keywords):
    """A batch at its start, with given roles; who is evil knows its like."""
    batch = rlenvs.make_batch(id, worlds, autoreset=AutoresetMode.DISABLED, **keywords)
    batch.seed(range(worlds))
    batch.reset()
    if roles is not None:
        for s in batch.states:
            s["role"] = roles
            both = np.logical_and.outer(s["role"] == EVIL, s["role"] == EVIL) | np.eye(len(roles), dtype=bool)
            s["known"] = np.where(both, 1 + s["role"][None, :], 0)
        if id == SHIP:
            batch.states["cooldown"] = 0
        batch.sync_from_state(np.arange(worlds))
    return batch


def act(batch, **chosen):
    """A step in which some agents, a0, a1, ..., do not pass."""
    batch.actions[:] = 0
    for agent, action in chosen.items():
        batch.actions[0, int(agent[1:]), 0] = action
    batch.step_inplace()
    return batch.states[0]


def at(batch, **fields):
    """The state with other values of some fields."""
    for name, value in fields.items():
        batch.states[name][0] = value
    batch.sync_from_state(np.zeros(1, np.int64))
    return batch.states[0]


def to_vote(batch):
    while batch.states["phase"][0] != VOTING:
        act(batch)


def play(batch, good, evil, steps=None):
    """Until all games are over, with a player for each side; `good` and `evil` may be the same."""
    while not batch.over.all() and steps != 0:
        batch.player_actions(good)
        chosen = batch.actions.copy()
        batch.player_actions(evil)
        batch.actions[:] = np.where((batch.states["role"] == EVIL)[:, :, None], batch.actions, chosen)
        batch.step_inplace(~batch.over)
        steps = None if steps is None else steps - 1
    return batch


def good_wins(batch):
    return (batch.success & (batch.states["role"] != EVIL)).any(axis=1)
