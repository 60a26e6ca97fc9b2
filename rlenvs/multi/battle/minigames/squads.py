"""Marines under command, shared by the mini-games: orders, targets and the field.

The player gives one order per step, to all marines or to the one that is nearest to the point ordered; orders last
until they are carried out or another one comes. The numbers are StarCraft II's: ticks of 1/22.4 s at the speed
"faster", units from the table `SMAC` of units.py. The maps count time in "normal" seconds of 16 ticks: their 120 s
are 1920 ticks.
"""

import math

import numpy as np

from rlenvs.core import b1, choice, discrete, f8, i1, i4, i8, integer, kernel, multi_discrete, param, uniform
from rlenvs.core.declare.options import Option
from rlenvs.multi.battle.combat import (
    COMBAT_DATA,
    UNIT_STATE,
    in_range,
    place_unit,
    squared_distance,
    tick,
)
from rlenvs.multi.battle.units import KINDS, SMAC, UNIT_DATA, unit_data

MARINE, ROACH, ZERGLING, BANELING = (KINDS.index(name) for name in ("marine", "roach", "zergling", "baneling"))
OURS, THEIRS = 0, 1
IDLE, MOVE, ATTACK = 0, 1, 2
ALL, NEAREST, WEAKEST = 0, 1, 2  # who is ordered
TICKS_PER_SECOND = 22.4  # at the speed "faster", in whose seconds the unit table is
TICKS_PER_MAP_SECOND = 16  # the maps' timers
SMALL_FIELD, LARGE_FIELD = (22.0, 16.0), (44.0, 32.0)
MOST_MARINES = 48  # no more fresh ones come
GROUPS, VERBS = ("all", "nearest", "weakest"), ("move to", "attack")  # in words
FAR = 1e9
TRIES = 10000  # of places drawn at random
DIRECTIONS = 8  # headings, counterclockwise from the right
DIAGONAL = math.sqrt(0.5)
EAST = (1.0, DIAGONAL, 0.0, -DIAGONAL, -1.0, -DIAGONAL, 0.0, DIAGONAL)
NORTH = (0.0, DIAGONAL, 1.0, DIAGONAL, 0.0, -DIAGONAL, -1.0, -DIAGONAL)
STRIDE = 4.0  # how far an order goes that is a heading
HEADINGS_DOC = "no new order, or a heading in which to move, then headings in which to attack if possible"

ORDERS = choice(
    *("flat", "pair", "headings"),
    doc="whether an action is one choice, a pair of order (0: none) and point, or a heading (see above)",
)
FLAT, HEADINGS = ORDERS.codes("flat", "headings")
SQUAD_PARAMS = {"tick": param(1.0 / TICKS_PER_SECOND, 0.01, 0.1, "s", "length of a tick of the game")}
FIGHT_PARAMS = {**SQUAD_PARAMS, "alert": param(6.0, 0.0, 20.0, "", "distance at which idle units attack each other")}
SQUAD_OPTIONS: dict[str, Option] = {
    "step_mul": integer(8, 1, 22, "ticks per step"),
    "columns": integer(22, 2, 88, "columns of the grid of points for orders; rows in proportion"),
    "pixels": integer(0, 0, 256, "width of the feature map in the observation; 0 for none"),
    "orders": ORDERS,
}
NEAR = "number of nearest objects to observe, as offsets, instead of all; 0 for all"
SQUAD_DATA = {**UNIT_DATA, **COMBAT_DATA, "rows": i8}
SQUAD_STATE = {
    **UNIT_STATE,
    "order": i1("marines"),
    "goal_x": f8("marines"),  # of the last order; where the marine is, when it had none
    "goal_y": f8("marines"),
    "score": f8,
}
FIGHT_STATE = {
    **SQUAD_STATE,
    "quarry": i4("marines").index_of("units", low=-1),  # the enemy that was pointed at; -1 for none
    "awake": b1("foes"),
    "marines_left": i4,
    "foes_left": i4,
}


def rows_of(columns, field):
    """Rows of points, in proportion to the columns."""
    return max(1, round(columns * field[1] / field[0]))


def squad_sizes(values, field, marines, foes, verbs, groups):
    """The sizes of a mini-game: how many units, choices and pixels."""
    points = values.columns * rows_of(values.columns, field)
    return {
        "marines": marines,
        "foes": foes,
        "units": marines + foes,
        "flat_orders": 1 + points * verbs * groups,
        "orders": 1 + verbs * groups,
        "points": points,
        "headings": 1 + DIRECTIONS * verbs,
        "pixel_columns": values.pixels,
        "pixel_rows": 0 if values.pixels == 0 else rows_of(values.pixels, field),
    }


def squad_data(values, field):
    """The static data of a mini-game."""
    units = unit_data(SMAC)
    # an attack takes the tick in which it happens in addition
    units["unit_cooldown"] = np.maximum(units["unit_cooldown"] - 1.0 / TICKS_PER_SECOND, 0.0)
    return {
        **units,
        "width": field[0],
        "height": field[1],
        "edge_to_edge": 1,
        "pursues": 1,
        "walls_kill": 0,
        "abilities": 1,
        "rows": np.array(rows_of(values.columns, field)),
    }


def map_steps(seconds):
    """The horizon: a function of the values, for a limit in seconds of the map's timer."""
    return lambda values: math.ceil(seconds * TICKS_PER_MAP_SECOND / values.step_mul)


def steps_per_second(values):
    """Steps per second at the speed "faster"."""
    return TICKS_PER_SECOND / values.step_mul


def orders(doc, field, verbs, groups, squads=("all",)):
    """The action: one order, or none, as one choice, or as a pair of what is ordered and where; or a heading for each
    of the `squads`."""

    def action(values):
        if values.orders == "flat":
            points = [f"{c + 1} {r + 1}" for r in range(rows_of(values.columns, field)) for c in range(values.columns)]
            told = [f"{who} {verb}" for who in GROUPS[:groups] for verb in VERBS[:verbs]]
            names = ("no order", *(f"{order} {point}" for order in told for point in points))
            return discrete(*names, size="flat_orders", doc=doc)
        if values.orders == "headings":
            return multi_discrete({squad: discrete(size="headings") for squad in squads}, doc=HEADINGS_DOC)
        return multi_discrete({"order": discrete(size="orders"), "point": discrete(size="points")}, doc=doc)

    return action


# --- orders -----------------------------------------------------------------------------------------------------------


@kernel
def point_x(p, point):
    """Where a point of the field lies."""
    return (point % p.columns + 0.5) * p.width / p.columns


@kernel
def point_y(p, point):
    return (point // p.columns + 0.5) * p.height / p.rows


@kernel
def point_at(p, x, y):
    """The point of the field that is nearest to a place."""
    column = min(max(int(x * p.columns / p.width), 0), p.columns - 1)
    row = min(max(int(y * p.rows / p.height), 0), p.rows - 1)
    return row * p.columns + column


@kernel
def choice_of(p, verb, verbs, group, point):
    """The action that gives an order: `group` is ALL, NEAREST or WEAKEST."""
    return 1 + (group * verbs + verb) * p.columns * p.rows + point


@kernel
def order_of(p, a):
    """The choice that an action stands for: itself, or what a pair says; none for headings."""
    if isinstance(a, (int, np.int64)):
        return a
    elif p.orders == HEADINGS:
        return 0
    else:
        return 1 + (a[0] - 1) * p.columns * p.rows + a[1] if a[0] > 0 else 0


@kernel
def give(p, s, a, order, verbs):
    """Write a choice as an action."""
    points = p.columns * p.rows
    if p.orders == FLAT:
        a[0] = order
    elif p.orders == HEADINGS:
        steer(p, s, a, order, verbs)
    else:
        a[0] = 1 + (order - 1) // points if order > 0 else 0
        a[1] = (order - 1) % points if order > 0 else 0


@kernel
def steer(p, s, a, order, verbs):
    """Write a choice as headings, one for each squad. Where all marines are one squad, the nearest one leads."""
    for j in range(a.size):
        a[j] = 0
    if order == 0:
        return
    points = p.columns * p.rows
    x, y = point_x(p, (order - 1) % points), point_y(p, (order - 1) % points)
    verb, group = (order - 1) // points % verbs, (order - 1) // points // verbs
    leader = nearest_marine(s, x, y)
    for j in range(a.size):
        i = leader if a.size == 1 else j
        if i >= 0 and (a.size == 1 or group == ALL or i == leader):
            a[j] = 1 + DIRECTIONS * verb + heading_to(x - s.x[i], y - s.y[i])


@kernel
def heading_to(dx, dy):
    """The heading nearest to a direction."""
    best = 0
    for h in range(1, DIRECTIONS):
        if EAST[h] * dx + NORTH[h] * dy > EAST[best] * dx + NORTH[best] * dy:
            best = h
    return best


@kernel
def nearest_marine(s, x, y):
    """The standing marine nearest to a place; -1 when there is none."""
    best, least = -1, FAR
    for i in range(s.order.size):
        if s.standing[i]:
            distance = (s.x[i] - x) ** 2 + (s.y[i] - y) ** 2
            if distance < least:
                best, least = i, distance
    return best


@kernel
def place_marine(p, s, i, x, y):
    """A fresh marine without orders."""
    place_unit(p, s, i, MARINE, OURS, x, y)
    stand_by(s, i)


@kernel
def stand_by(s, i):
    """Marine i has no orders any more."""
    s.order[i] = IDLE
    s.goal_x[i] = s.x[i]
    s.goal_y[i] = s.y[i]


@kernel
def send(s, i, order, x, y):
    s.order[i] = order
    s.goal_x[i] = x
    s.goal_y[i] = y


@kernel
def weakest_fighter(s):
    """The marine with the least health among those that stand and are not moving away; -1 when there is none."""
    best = -1
    for i in range(s.order.size):
        if s.standing[i] and s.order[i] != MOVE and (best < 0 or s.health[i] < s.health[best]):
            best = i
    return best


@kernel
def order_squad(p, s, a, verbs):
    """The player's order: choice 0 is none. Verb 0 is to move, verb 1 to attack."""
    if not isinstance(a, (int, np.int64)):
        order_headings(p, s, a)
    chosen = order_of(p, a)
    if chosen == 0:
        return
    points = p.columns * p.rows
    point = (chosen - 1) % points
    order = MOVE + (chosen - 1) // points % verbs
    group = (chosen - 1) // points // verbs
    x, y = point_x(p, point), point_y(p, point)
    if group == ALL:
        for i in range(s.order.size):
            if s.standing[i]:
                send(s, i, order, x, y)
    else:
        i = nearest_marine(s, x, y) if group == NEAREST else weakest_fighter(s)
        if i >= 0:
            send(s, i, order, x, y)


@kernel
def order_headings(p, s, a):
    """Where an action is headings: each marine goes from where it stands as its squad is told."""
    if p.orders != HEADINGS:
        return
    for i in range(s.order.size):
        chosen = a[min(i, a.size - 1)] - 1
        if s.standing[i] and chosen >= 0:
            x, y = s.x[i] + STRIDE * EAST[chosen % DIRECTIONS], s.y[i] + STRIDE * NORTH[chosen % DIRECTIONS]
            send(s, i, MOVE + chosen // DIRECTIONS, min(max(x, 0.0), p.width), min(max(y, 0.0), p.height))


@kernel
def march(p, s, i):
    """Marine i heads for its goal, and is idle when there."""
    dx, dy = s.goal_x[i] - s.x[i], s.goal_y[i] - s.y[i]
    distance = math.sqrt(dx * dx + dy * dy)
    longest = max(distance, p.unit_speed[MARINE] * p.tick)
    s.heading_x[i] = dx / longest
    s.heading_y[i] = dy / longest
    if distance < longest:
        s.order[i] = IDLE


@kernel
def halt(s, i):
    s.heading_x[i] = 0.0
    s.heading_y[i] = 0.0


@kernel
def march_all(p, s, rng):
    """One tick of a field without enemies."""
    for i in range(s.order.size):
        if s.order[i] == IDLE:
            halt(s, i)
        else:
            march(p, s, i)
    tick(p, s, rng)


# --- fighting ---------------------------------------------------------------------------------------------------------


@kernel
def order_fighters(p, s, a):
    """The player's order to fighters. An attack on a point where an enemy stands is an attack on that enemy first."""
    order_squad(p, s, a, 2)
    chosen = order_of(p, a)
    if chosen == 0:
        return
    point = (chosen - 1) % (p.columns * p.rows)
    x, y = point_x(p, point), point_y(p, point)
    target = foe_at(p, s, x, y, 0.5 * math.sqrt((p.width / p.columns) ** 2 + (p.height / p.rows) ** 2))
    for i in range(s.order.size):
        if s.standing[i] and s.order[i] == ATTACK and s.goal_x[i] == x and s.goal_y[i] == y:
            s.quarry[i] = target


@kernel
def foe_at(p, s, x, y, within):
    """The standing enemy nearest to a place, at most `within` from its centre, and in sight; -1 for none."""
    best, least = -1, within * within
    for j in range(s.order.size, s.x.size):
        if s.standing[j]:
            distance = (s.x[j] - x) ** 2 + (s.y[j] - y) ** 2
            if distance <= least and seen(p, s, j):
                best, least = j, distance
    return best


@kernel
def seen(p, s, j):
    """Whether a marine sees unit j."""
    return not clear_of(s, 0, s.order.size, s.x[j], s.y[j], p.unit_sight[MARINE])


@kernel
def closest(s, i, first, last, within):
    """The standing unit among first ... last - 1 that is closest to unit i; -1 when none is within a distance."""
    best, least = -1, within * within
    for j in range(first, last):
        if s.standing[j]:
            distance = squared_distance(s, i, j)
            if distance <= least:
                best, least = j, distance
    return best


@kernel
def aim_marine(p, s, i):
    """What marine i does in this tick: whom it attacks, or where it goes."""
    first, last = s.order.size, s.x.size
    s.aim[i] = s.aim[i] if s.order[i] != MOVE else -1
    if s.order[i] != MOVE:
        if s.quarry[i] >= 0 and s.standing[s.quarry[i]]:
            s.aim[i] = s.quarry[i]
        else:
            s.quarry[i] = -1
            if s.aim[i] < 0 or not s.standing[s.aim[i]] or not in_range(p, s, i, s.aim[i]):
                s.aim[i] = closest(s, i, first, last, p.alert)
    if s.aim[i] < 0:
        if s.order[i] == IDLE:
            halt(s, i)
        else:
            march(p, s, i)


@kernel
def aim_foe(p, s, j):
    """Whom enemy j attacks: the closest marine, when it is near, or in sight and somebody has roused the enemy; else it
    stands still."""
    halt(s, j)
    k = j - s.order.size
    if s.unhurt[j] < 1.5 * p.tick:
        s.awake[k] = True
    if s.aim[j] < 0 or not s.standing[s.aim[j]] or not in_range(p, s, j, s.aim[j]):
        s.aim[j] = closest(s, j, 0, s.order.size, p.unit_sight[s.kind[j]] if s.awake[k] else p.alert)
    s.awake[k] = s.aim[j] >= 0


@kernel
def count_standing(s):
    """Keep the numbers of those that stand."""
    s.marines_left = 0
    s.foes_left = 0
    for i in range(s.order.size):
        s.marines_left += s.standing[i]
    for j in range(s.order.size, s.x.size):
        s.foes_left += s.standing[j]


@kernel
def skirmish(p, s, rng, r):
    """One tick of both sides, in which r.kill and r.loss count the fallen."""
    marines, foes = s.marines_left, s.foes_left
    for i in range(s.order.size):
        if s.standing[i]:
            aim_marine(p, s, i)
    for j in range(s.order.size, s.x.size):
        if s.standing[j]:
            aim_foe(p, s, j)
    tick(p, s, rng)
    count_standing(s)
    r.kill += foes - s.foes_left
    r.loss -= marines - s.marines_left


@kernel
def place_foe(p, s, k, kind, x, y):
    """A fresh enemy that has not noticed anybody."""
    place_unit(p, s, s.order.size + k, kind, THEIRS, x, y)
    s.awake[k] = False


@kernel
def forget_foes(s):
    """Nobody aims at enemies of before."""
    for i in range(s.x.size):
        s.aim[i] = -1
    for i in range(s.order.size):
        s.quarry[i] = -1


@kernel
def all_placed(s):
    """Call it when units were placed."""
    count_standing(s)


# --- places -----------------------------------------------------------------------------------------------------------


@kernel
def clear_of(s, first, last, x, y, distance):
    """Whether a place is at least a distance from all standing units first ... last - 1."""
    for i in range(first, last):
        if s.standing[i] and (s.x[i] - x) ** 2 + (s.y[i] - y) ** 2 < distance * distance:
            return False
    return True


@kernel
def draw_between(rng, middle, spread):
    return uniform(rng, middle - spread, middle + spread)
