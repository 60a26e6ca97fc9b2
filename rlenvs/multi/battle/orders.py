"""The meaning of action numbers: targets of units, legal choices, and orders from choices.

Choices are numbered as in SMAX (north, east, south, west, stop, targets) or as in SMAC (no-op, stop, north, south,
east, west, targets). The targets of an ally are the enemies in their order, those of an enemy the allies from the last
to the first, as in SMAX. Healers target their own side, in the same order.
"""

from typing import Any

import numpy as np

from rlenvs.core import f8, i8, kernel, u1
from rlenvs.multi.battle.combat import squared_distance
from rlenvs.multi.battle.units import KINDS

LEGAL_LOOKAHEAD, LONGEST_MOVE = 1.0, 2.0  # of SMAC: a move is 2 units, and legal when the point 1 ahead is on the map

ORDER_DATA = {
    "stop": i8,
    "idle": i8,  # the one choice of the dead
    "first_move": i8,
    "first_target": i8,
    "step_x": f8(4),  # by move
    "step_y": f8(4),
    "short_moves": u1,  # SMAC's moves, with its rule of action checker
    "unit_reach": f8(len(KINDS)),  # how far away a legal target may be
}


def stop_of(rules: str) -> int:
    """The choice that stops a unit."""
    return 1 if rules == "smac" else 4


def order_data(rules: str, reach: np.ndarray) -> dict[str, Any]:
    """The fields of ORDER_DATA."""
    north, east, south, west = (0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0)
    smac = rules == "smac"
    moves = (north, south, east, west) if smac else (north, east, south, west)
    return {
        "stop": stop_of(rules),
        "idle": 0 if smac else 4,
        "first_move": 2 if smac else 0,
        "first_target": 6 if smac else 5,
        "step_x": [move[0] for move in moves],
        "step_y": [move[1] for move in moves],
        "short_moves": smac,
        "unit_reach": reach,
    }


@kernel
def comrades_of(p, i):
    """The number of units of unit i's side, itself included."""
    return p.allies if i < p.allies else p.enemies


@kernel
def foes_of(p, i):
    """The number of units of the other side."""
    return p.enemies if i < p.allies else p.allies


@kernel
def comrade_of(p, i, slot):
    """The unit in place `slot` of unit i's side, upwards for allies, downwards for enemies."""
    return slot if i < p.allies else p.allies + p.enemies - 1 - slot


@kernel
def foe_of(p, i, slot):
    """The unit in place `slot` of the other side, in the same order."""
    return p.allies + slot if i < p.allies else p.allies - 1 - slot


@kernel
def targets_of(p, s, i):
    """How many targets unit i can choose among."""
    return comrades_of(p, i) if p.unit_heals[s.kind[i]] > 0.0 else foes_of(p, i)


@kernel
def target_of(p, s, i, slot):
    """The unit that is unit i's target number `slot`."""
    return comrade_of(p, i, slot) if p.unit_heals[s.kind[i]] > 0.0 else foe_of(p, i, slot)


@kernel
def in_reach(p, s, i, j):
    """Whether unit j is close enough to be a target of unit i."""
    reach = p.unit_reach[s.kind[i]]
    return squared_distance(s, i, j) < reach * reach


@kernel
def healable(p, s, i, j):
    """Whether healer i can do anything for its comrade j at any distance."""
    return i != j and s.standing[j] and p.unit_biological[s.kind[j]] != 0


@kernel
def legal_foe(p, s, i, j):
    """Whether a living unit with a weapon may choose its foe j."""
    return s.standing[j] and in_reach(p, s, i, j) and p.unit_hits_it[s.kind[i], s.kind[j]] != 0


@kernel
def legal_target(p, s, i, slot):
    """Whether a living unit may choose its target number `slot`."""
    if p.unit_heals[s.kind[i]] > 0.0:
        j = comrade_of(p, i, slot)
        return slot < comrades_of(p, i) and in_reach(p, s, i, j) and healable(p, s, i, j)
    return slot < foes_of(p, i) and legal_foe(p, s, i, foe_of(p, i, slot))


@kernel
def legal_move(p, s, i, move):
    """Whether a living unit may choose its move number `move`."""
    if not p.short_moves:
        return True
    x = s.x[i] + p.step_x[move] * LEGAL_LOOKAHEAD
    y = s.y[i] + p.step_y[move] * LEGAL_LOOKAHEAD
    return x >= 0.0 and y >= 0.0 and x < p.width and y < p.height


@kernel
def legal(p, s, i, choice):
    """Whether unit i may make a choice."""
    if not s.standing[i]:
        return choice == p.idle
    if choice == p.stop:
        return True
    if choice >= p.first_target:
        return legal_target(p, s, i, choice - p.first_target)
    return choice >= p.first_move and legal_move(p, s, i, choice - p.first_move)


@kernel
def fill_mask(p, s, i, m):
    """1 for every legal choice of unit i, 0 for the others."""
    for j in range(m.size):
        m[j] = 0
    if not s.standing[i]:
        m[p.idle] = 1
        return
    m[p.stop] = 1
    for move in range(4):
        m[p.first_move + move] = legal_move(p, s, i, move)
    x, y, standing, kind, first = s.x, s.y, s.standing, s.kind, p.first_target
    here_x, here_y, reach = x[i], y[i], p.unit_reach[kind[i]]
    if p.unit_heals[kind[i]] > 0.0:
        for slot in range(comrades_of(p, i)):
            m[first + slot] = legal_target(p, s, i, slot)
        return
    for slot in range(foes_of(p, i)):
        j = foe_of(p, i, slot)
        dx = x[j] - here_x
        dy = y[j] - here_y
        if standing[j] and dx * dx + dy * dy < reach * reach and p.unit_hits_it[kind[i], kind[j]] != 0:
            m[first + slot] = 1


@kernel
def give_order(p, s, i, choice):
    """Unit i does what it chose; an illegal target out of reach is tried, as in SMAX, unless units pursue."""
    s.last_choice[i] = choice
    s.aim[i] = -1
    s.heading_x[i] = 0.0
    s.heading_y[i] = 0.0
    move, slot = choice - p.first_move, choice - p.first_target
    if slot >= 0:
        if slot < targets_of(p, s, i) and (not p.pursues or legal_target(p, s, i, slot)):
            s.aim[i] = target_of(p, s, i, slot)
    elif move >= 0 and move < 4:
        share = 1.0
        if p.short_moves:
            share = min(1.0, LONGEST_MOVE / max(p.unit_speed[s.kind[i]] * p.tick * p.ticks, 1e-6))
        s.heading_x[i] = p.step_x[move] * share
        s.heading_y[i] = p.step_y[move] * share


@kernel
def last_move(p, s, i):
    """The move that unit i chose last, 0 to 3; -1 when it chose something else."""
    move = s.last_choice[i] - p.first_move
    return move if move >= 0 and move < 4 else -1
