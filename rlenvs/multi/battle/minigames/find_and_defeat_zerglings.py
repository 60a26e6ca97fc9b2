"""Find and defeat zerglings: search a field under fog of war with three marines.

## Description
The mini-game of SC2LE (Vinyals et al., "StarCraft II: A New Challenge for Reinforcement Learning", 2017; repository
deepmind/pysc2) about exploration: twenty-five zerglings are scattered over the field, and marines see 9 units far.
Rules, sizes and positions are those of the map's script, unit numbers those of StarCraft II. Different from the
original: the player gives orders directly, to all marines, the one nearest to a point or the weakest, without selecting
them first; there is no camera, everything that the marines see is observed; units turn and accelerate instantly and
their shots hit instantly; idle units attack enemies that come within `alert` or hurt them, and zerglings give up when
the marines are out of their sight; positions are observed as numbers, and as a feature map with `pixels`.

## Action Space
0: no new order. Then orders to all marines to move to point 0, 1, ... of the field, counted row by row from the lower
left corner; to all to attack there; to the nearest marine to move there; to it to attack there; to the weakest of
those that are not moving to move there; to it to attack there. Marines ordered to attack shoot at enemies near their
path; an attack on a point where an enemy stands attacks that enemy first. A step is 8 ticks of the game. With
`orders="headings"` 0: no new order; 1 + i: all move 4 units in one of eight directions, counterclockwise from the
right; 9 + i: all attack there.

## Observation Space
A row per marine and per zergling, zeros for dead units and for zerglings out of sight; positions from -1 to 1 across
the field of 44 by 32 units, health and cooldown as fractions of their maximum; and for cells of 4 by 4 units, from the
lower left corner, whether a marine has seen their center since the last zerglings appeared. With `near`, these lists
are replaced by the live zerglings seen so far and the unseen cells that are nearest to the middle of the marines: 1 (0
if there is none), and the offset to the right and up, in half sides of the field, at most 1. With `pixels` also a
feature map, lowest row first: marines, zerglings, the cells (255 in sight, 128 seen before), goals of orders.

## Rewards
1 for each zergling killed, -1 for each marine lost.

## Costs
None.

## Starting State
The marines are 1 unit from the center of the field. One zergling is 8 to 9 units from it, one 7.5 to 9.5, the others at
least 10.5 and at least 1 from the border, all at least 5 apart. When all are dead, twenty-five new ones appear, at
least 9 units from the marines and 5 from each other.

## Episode End
Termination: all marines are dead. Truncation: 180 seconds of 16 ticks, 360 steps of 8 ticks. Success: a score of 45,
which SC2LE's FullyConv agent reached.

## Parameters
`step_mul` changes the number of steps but not the duration of an episode.

## Reference Scores
Mean return over seeds 0 to 99. SC2LE's random policy: 4, its FullyConv agent: 45, a grandmaster: 61, relational
agents (Zambaldi et al., 2019): 62.

## Version History
v0: first version.
"""

import math

import numpy as np

from rlenvs.core import b1, block, image, integer, kernel, maths, term, u1, uniform, world
from rlenvs.multi.battle.minigames.language import foe_texts, read, report
from rlenvs.multi.battle.minigames.render import draw_search, order_places
from rlenvs.multi.battle.minigames.squads import (
    ALL,
    FAR,
    FIGHT_PARAMS,
    FIGHT_STATE,
    LARGE_FIELD,
    MARINE,
    NEAR,
    SQUAD_DATA,
    SQUAD_OPTIONS,
    TRIES,
    ZERGLING,
    all_placed,
    choice_of,
    clear_of,
    forget_foes,
    give,
    map_steps,
    order_fighters,
    orders,
    place_foe,
    place_marine,
    point_at,
    seen,
    skirmish,
    squad_data,
    squad_sizes,
    steps_per_second,
)
from rlenvs.multi.battle.minigames.views import (
    clear_map,
    clear_rows,
    comes_next,
    list_foes,
    list_marines,
    paint_foes,
    paint_marines,
    show_offset,
)

MARINES, ZERGLINGS = 3, 25
APART, BORDER = 5.0, 1.0
FIRST, SECOND, OTHERS = (8.0, 9.0), (7.5, 9.5), 10.5  # from the centre, at the start
FROM_MARINES = 9.0  # later
CELL, CELL_COLUMNS, CELL_ROWS = 4.0, 11, 8
OUTWARD = 0.6  # of the expert
PUBLISHED = 45.0
MOST_NEAR = 25

SPEC = world(
    "FindAndDefeatZerglings-v0",
    doc=__doc__,
    source="pysc2 FindAndDefeatZerglings (Vinyals et al., 2017)",
    params=FIGHT_PARAMS,
    options={**SQUAD_OPTIONS, "near": integer(0, 0, MOST_NEAR, NEAR)},
    sizes=lambda values: {
        **squad_sizes(values, LARGE_FIELD, marines=MARINES, foes=ZERGLINGS, verbs=2, groups=3),
        "listed": 0 if values.near else ZERGLINGS,
        "cell_rows": 0 if values.near else CELL_ROWS,
        "near": values.near,
    },
    data=SQUAD_DATA,
    state={**FIGHT_STATE, "explored": u1(CELL_ROWS, CELL_COLUMNS), "known": b1("foes")},
    observation={
        "marines": block(
            *("marines", 8),
            low=-1.0,
            high=1.0,
            raw=True,
            doc="1 while standing, x, y, health, cooldown, order (0, 0.5 move, 1 attack), x and y of its goal",
        ),
        "zerglings": block(
            "listed", 4, low=-1.0, high=1.0, raw=True, constant=True, doc="1 while in sight, x, y, health"
        ),
        "explored": block(
            *("cell_rows", CELL_COLUMNS), low=0.0, high=1.0, raw=True, constant=True, doc="1 once the cell was seen"
        ),
        "near": block(
            *(2, "near", 3), low=-1.0, high=1.0, raw=True, constant=True, doc="zerglings, cells: 1, offset in x, y"
        ),
    },
    images={"map": image("pixel_rows", "pixel_columns", 4, doc="marines, zerglings, cells seen, goals of orders")},
    action=orders(
        "no order, or an order to all, the nearest or the weakest marine, to move to or attack a point",
        LARGE_FIELD,
        verbs=2,
        groups=3,
    ),
    terms={
        "kill": term(0.0, ZERGLINGS, 1.0, "zerglings killed"),
        "loss": term(-MARINES, 0.0, 1.0, "-1 for each marine lost"),
    },
    horizon=map_steps(180),
    fps=steps_per_second,
    levels={"coarse": {"columns": 11}, "headings": {"orders": "headings", "near": 3}},
    expert_sees="state",
)


@SPEC.make_data
def data(values):
    return squad_data(values, LARGE_FIELD)


@kernel
def free_place(s, k, x, y):
    """Whether zergling k may stand at a place, as far as the zerglings before it go."""
    return clear_of(s, MARINES, MARINES + k, x, y, APART)


@kernel
def place_in_ring(p, s, rng, k, ring):
    """Zergling k at a distance from the centre within a ring; the area of a ring grows with the distance squared."""
    for _ in range(TRIES):
        distance = math.sqrt(uniform(rng, ring[0] * ring[0], ring[1] * ring[1]))
        angle = uniform(rng, 0.0, 2.0 * math.pi)
        x, y = 0.5 * p.width + distance * maths.cos(angle), 0.5 * p.height + distance * maths.sin(angle)
        if free_place(s, k, x, y):
            place_foe(p, s, k, ZERGLING, x, y)
            break


@kernel
def place_afield(p, s, rng, k, border, from_centre, from_marines):
    """Zergling k anywhere far enough from the border, the centre and the marines."""
    for _ in range(TRIES):
        x, y = uniform(rng, border, p.width - border), uniform(rng, border, p.height - border)
        outside = (x - 0.5 * p.width) ** 2 + (y - 0.5 * p.height) ** 2 >= from_centre * from_centre
        if outside and clear_of(s, 0, MARINES, x, y, from_marines) and free_place(s, k, x, y):
            place_foe(p, s, k, ZERGLING, x, y)
            break


@SPEC.reset
def reset(p, s, rng):
    for i in range(MARINES):
        angle = math.pi * (0.5 + i * 2.0 / MARINES)
        place_marine(p, s, i, 0.5 * p.width + maths.cos(angle), 0.5 * p.height + maths.sin(angle))
    forget_foes(s)
    place_in_ring(p, s, rng, 0, FIRST)
    place_in_ring(p, s, rng, 1, SECOND)
    for k in range(2, ZERGLINGS):
        place_afield(p, s, rng, k, BORDER, OTHERS, 0.0)
    all_placed(s)
    look_around(p, s)


@kernel
def next_zerglings(p, s, rng):
    """Twenty-five new ones, and nothing of the field is known."""
    for k in range(ZERGLINGS):
        s.known[k] = False
        place_afield(p, s, rng, k, 0.0, 0.0, FROM_MARINES)
    for row in range(CELL_ROWS):
        for column in range(CELL_COLUMNS):
            s.explored[row, column] = 0
    forget_foes(s)
    all_placed(s)


@kernel
def cell_in_sight(p, s, row, column):
    return not clear_of(s, 0, MARINES, CELL * (column + 0.5), CELL * (row + 0.5), p.unit_sight[MARINE])


@kernel
def look_around(p, s):
    """Remember what the marines see."""
    for row in range(CELL_ROWS):
        for column in range(CELL_COLUMNS):
            if s.explored[row, column] == 0 and cell_in_sight(p, s, row, column):
                s.explored[row, column] = 1
    for k in range(ZERGLINGS):
        s.known[k] = s.standing[MARINES + k] and (s.known[k] or seen(p, s, MARINES + k))


@SPEC.step
def step(p, s, a, rng, r):
    order_fighters(p, s, a)
    for _ in range(p.step_mul):
        skirmish(p, s, rng, r)
        if s.marines_left == 0:
            r.terminated = True
            break
        if s.foes_left == 0:
            next_zerglings(p, s, rng)
    look_around(p, s)
    s.score += r.kill + r.loss
    r.success = s.score >= PUBLISHED


@kernel
def thing_at(s, kind, k):
    """Whether there is a known zergling k (kind 0), or a cell k that was never seen (kind 1); and where."""
    if kind == 0:
        return s.known[k] != 0, s.x[MARINES + k], s.y[MARINES + k]
    row, column = k // CELL_COLUMNS, k % CELL_COLUMNS
    return s.explored[row, column] == 0, CELL * (column + 0.5), CELL * (row + 0.5)


@kernel
def middle_of_marines(s):
    x, y = 0.0, 0.0
    for i in range(MARINES):
        if s.standing[i]:
            x += s.x[i] / max(s.marines_left, 1)
            y += s.y[i] / max(s.marines_left, 1)
    return x, y


@kernel
def next_thing(s, kind, x, y, after, last):
    """The nearest thing of a kind to a place among those farther than thing `last` at the squared distance `after`."""
    best, least = -1, FAR
    for k in range(ZERGLINGS if kind == 0 else CELL_ROWS * CELL_COLUMNS):
        there, to_x, to_y = thing_at(s, kind, k)
        distance = (to_x - x) ** 2 + (to_y - y) ** 2
        if there and comes_next(distance, k, least, after, last):
            best, least = k, distance
    return best, least


@kernel
def list_near(p, s, kind, x, y, rows):
    """The things of a kind that are nearest to a place, the nearest first."""
    clear_rows(rows)
    last, after = -1, -1.0
    for n in range(rows.shape[0]):
        last, after = next_thing(s, kind, x, y, after, last)
        if last < 0:
            return
        _, to_x, to_y = thing_at(s, kind, last)
        show_offset(p, rows[n], to_x - x, to_y - y)


@SPEC.observe
def observe(p, s, o):
    list_marines(p, s, o.marines)
    if p.near > 0:
        x, y = middle_of_marines(s)
        for kind in range(2):
            list_near(p, s, kind, x, y, o.near[kind])
        return
    list_foes(p, s, o.zerglings, True)
    for row in range(CELL_ROWS):
        for column in range(CELL_COLUMNS):
            o.explored[row, column] = s.explored[row, column]


@SPEC.observe_images
def observe_images(p, s, i):
    clear_map(i.map)
    for row in range(i.map.shape[0]):
        for column in range(i.map.shape[1]):
            cell_row = row * CELL_ROWS // i.map.shape[0]
            cell_column = column * CELL_COLUMNS // i.map.shape[1]
            if cell_in_sight(p, s, cell_row, cell_column):
                i.map[row, column, 2] = 255
            elif s.explored[cell_row, cell_column]:
                i.map[row, column, 2] = 128
    paint_foes(p, s, i.map, True)
    paint_marines(p, s, i.map)


@kernel
def detour(p, s, x, y):
    """How little a place is worth going to first: far from the first standing marine, near the centre of the field."""
    for i in range(MARINES):
        if s.standing[i]:
            way = math.sqrt((s.x[i] - x) ** 2 + (s.y[i] - y) ** 2)
            return way - OUTWARD * math.sqrt((x - 0.5 * p.width) ** 2 + (y - 0.5 * p.height) ** 2)
    return 0.0


@SPEC.expert
def expert(p, s, a):
    """All attack the next zergling that was ever seen, or else go to the next cell that was not; corners come early."""
    x, y, least = 0.5 * p.width, 0.5 * p.height, FAR
    for j in range(MARINES, s.x.size):
        if s.known[j - MARINES] and detour(p, s, s.x[j], s.y[j]) < least:
            x, y, least = s.x[j], s.y[j], detour(p, s, s.x[j], s.y[j])
    if least == FAR:
        for row in range(CELL_ROWS):
            for column in range(CELL_COLUMNS):
                there_x, there_y = CELL * (column + 0.5), CELL * (row + 0.5)
                if s.explored[row, column] == 0 and detour(p, s, there_x, there_y) < least:
                    x, y, least = there_x, there_y, detour(p, s, there_x, there_y)
    give(p, s, a, choice_of(p, 1, 2, ALL, point_at(p, x, y)), 2)


@SPEC.draw
def draw(canvas, p, s):
    in_sight = [[cell_in_sight(p, s, row, column) for column in range(CELL_COLUMNS)] for row in range(CELL_ROWS)]
    draw_search(canvas, p, s, np.array(in_sight), np.array([seen(p, s, i) for i in range(len(s.x))]), CELL)


@SPEC.places
def places(canvas, p, s):
    return order_places(canvas, p, 6)


@SPEC.describe
def describe(p, s, k):
    unseen = [
        f"({CELL * (column + 0.5):g}, {CELL * (row + 0.5):g})"
        for row in range(CELL_ROWS)
        for column in range(CELL_COLUMNS)
        if s.explored[row, column] == 0
    ]
    things = [*foe_texts(p, s, True), f"never seen: around {', '.join(unseen) or 'nothing'}"]
    return report(p, s, "FindAndDefeatZerglings", things, "Find and defeat zerglings without losing marines.", 2, 3)


@SPEC.parse_action
def parse_action(text, p, s, k):
    return read(text, p, s, 2, 3)
