"""Ingenious: place two-colored tiles on a hex board; your lowest-scoring color decides the game.

## Description
The game of Reiner Knizia ("Einfach Genial", 2004), for two to six players. The board is a hexagon with players + 4
hexes along an edge (`extra`), and a color on each of its corners. A tile covers two neighboring hexes. There are 120
tiles: each pair of the six colors six times, and each color twice on one tile five times. Every player holds six tiles,
and draws at the end of a turn. Each hex of a new tile scores in its color: one point for every hex of this color in a
line from it, up to the first hex of another color, in the five directions that do not lead to the tile's other hex. A
score stops at 18. A player who reaches 18 in a color moves again, with the remaining tiles (`again`). In the first
round every player starts next to a different corner (`opening`). With `exchange=True`, which MOMAland leaves out, a
player who at the end of a turn has no tile with a color of its lowest score may put all tiles aside, draw six others,
and return the old ones to the bag. Players move in turn: the AEC API asks only the agent whose turn it is; in the other
APIs waiting agents can only choose 0, which does nothing. Scripted players: "balanced" prefers points in its
low-scoring colors; "greedy" takes the most points; "random".

## Action Space
slot * places + place: the tile in a slot of the rack (0 to 5) onto an ordered pair of neighboring hexes, with the
tile's first color on the first of them. Hexes are numbered row by row from the top, places by their first hex and then
by direction (right, lower right, lower left, left, upper left, upper right). With `exchange=True` there are two more,
to keep the tiles and to exchange them: a separate move at the end of a turn in which exchanging is allowed. Other
choices are masked; if chosen anyway, nothing is placed or exchanged, and the turn passes.

With `planes=True` choices are planes of a board whose rows and columns are the slanted axes of the hexes (7 x 7 cells
for four hexes along an edge): (6 kind + direction) * cells + cell places a tile of a kind, with its first color on the
cell and its second on the neighbor in the direction. Kinds are the pairs of colors, red and red, red and orange, and so
on. The two choices of `exchange` then come first.

## Observation Space
The color of each hex (hexes, 6) and the tiles of the own rack (6, 2, 6), both one-hot, all scores (players, 6) divided
by 18, the own scores first and then in the order of turns, and the fraction of tiles left to draw. With `planes=True`
the same as planes: the hexes of each color, the free ones, then planes of one number each: the fraction of each kind in
the rack, all scores, and the fraction of tiles left to draw.

## Rewards
`lowest` is the increase of the agent's lowest score, so its sum over a game is the lowest score at the end, which
decides the game. `red`, `orange`, `yellow`, `green`, `blue`, `violet` (weight 0) are the increases of each score, the
published objectives.

## Costs
None.

## Starting State
The colors on the corners, and randomly drawn tiles.

## Episode End
Termination: no two neighboring hexes are free, no player has a tile, or a player has 18 in all colors. Truncation: as
many moves as there are hexes. Success: no other player has a higher lowest score at the end; ties are broken by the
next lowest scores, and so on.

## Parameters
`players`, `extra`, `again`, `opening`, `colors`, `exchange` and `planes`. With fewer `colors`, tiles have only the
first of them, corners repeat them, and scores of the others are ignored.

## Reference Scores
Mean return over seeds 0 to 99 of two games together, one from each seat, against "balanced".

## Version History
v0: first version.
"""

from rlenvs.core import b1, block, data_option, discrete, flag, i1, i4, i8, integer, kernel, term, u1, world
from rlenvs.kits.boards.drawing import draw_table
from rlenvs.multi.boards.ingenious_pictures import draw_board, draw_rack, draw_scores, middle_of, view_hexes
from rlenvs.multi.boards.ingenious_players import choose_best, choose_random
from rlenvs.multi.boards.ingenious_rules import (
    COLORS,
    MOST,
    RACK,
    can_move,
    choice_of,
    draw_tiles,
    end_game,
    exchange_tiles,
    is_free,
    keeping,
    kind_at,
    lay,
    may_exchange,
    pass_turn,
    place_of,
    score_gain,
    slot_of,
    tiles_in_bag,
)

PAIRS, DOUBLES = 6, 5  # tiles of two colours and of one
KINDS = [(a, b) for a in range(COLORS) for b in range(a, COLORS)]
NAMES = ("red", "orange", "yellow", "green", "blue", "violet")
# of neighbours, in rows and columns of slanted axes: right, lower right, lower left, left, upper left, upper right
STEPS = ((0, 1), (1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1))


def cells_of(side):
    """The hexes of a board by (row, column) in slanted axes, 0 in the middle, row by row."""
    far = side - 1
    return [(r, c) for r in range(-far, far + 1) for c in range(-far, far + 1) if abs(r + c) <= far]


def shares(*shape, **more):
    """A block of numbers from 0 to 1; some stay what they are, as corners are never free."""
    return block(*shape, low=0, high=1, raw=True, constant=True, **more)


def pairs_of(side):
    """Neighbors among the hexes of a board, in both orders: where a tile may lie."""
    cells = cells_of(side)
    number = {place: i for i, place in enumerate(cells)}
    near = [[number.get((r + dr, c + dc), -1) for dr, dc in STEPS] for r, c in cells]
    return [(cell, other) for cell, row in enumerate(near) for other in row if other >= 0]


def choice_names(values):
    """Of all choices; those of planes have none."""
    if values.planes:
        return []
    pairs = pairs_of(values.players + values.extra)
    tiles = [f"tile {slot + 1} on hexes {one} and {other}" for slot in range(RACK) for one, other in pairs]
    return tiles + ["keep the tiles", "exchange the tiles"] * values.exchange


def sizes_of(values):
    """Of the board for so many players."""
    side, colors, planes = values.players + values.extra, values.colors, values.planes
    across, kinds = 2 * side - 1, colors * (colors + 1) // 2
    places = 18 * side * side - 30 * side + 12
    return {
        "agents": values.players,
        "cells": 3 * side * side - 3 * side + 1,
        "places": places,
        "spots": 6 * across * across,
        "choices": (kinds * 6 * across * across if planes else RACK * places) + 2 * values.exchange,
        "listed": 0 if planes else 1,
        "told_cells": 0 if planes else 3 * side * side - 3 * side + 1,
        "told_slots": 0 if planes else RACK,
        "told_agents": 0 if planes else values.players,
        "planes": 2 + colors + kinds + values.players * colors if planes else 0,
        "across": across,
    }


SPEC = world(
    "Ingenious-v0",
    doc=__doc__,
    source="Ingenious (Reiner Knizia, 2004); MOMAland mo-ingenious-v0 (its sizes and objectives)",
    agents=True,
    turns=True,
    options={
        "players": data_option(integer(2, 2, 6, "number of players")),
        "extra": data_option(integer(4, 2, 4, "hexes along an edge beyond the number of players")),
        "again": flag(True, "whether a player who reaches 18 moves again"),
        "opening": flag(True, "whether every player starts next to a different corner"),
        "colors": integer(COLORS, 3, COLORS, "colors of the tiles"),
        "exchange": flag(
            False, "whether a player without a tile in a color of its lowest score may exchange all tiles"
        ),
        "planes": flag(False, "observation and actions as planes over slanted axes, for convolutional networks"),
    },
    sizes=sizes_of,
    teams=lambda values: list(range(values.players)),
    players=("balanced", "greedy", "random"),
    quick={"extra": 2},
    data={
        "near": i8("cells", 6),  # the neighbour in each direction, -1 for none
        "place": i8("places", 2),  # ordered pairs of neighbours
        "corner": i8(6),
        "beside": i8("cells"),  # the corner that a hex touches, -1 for none
        "spot": i8("places"),  # a place among planes: its direction, then the row and column of its first hex
        "place_at": i8("spots"),  # and the other way round, -1 for none
        "kind": i8(len(KINDS), 2),  # the colours of tiles
    },
    state={
        "turn": i8,  # the agent that is to move, -1 when the game is over
        "moves": i8,
        "again": i8,  # moves that the agent still has in this turn
        "cell": u1("cells").up_to(COLORS),  # 1 + colour, 0 for a free hex
        "rack": i1("agents", RACK, 2).index_of(COLORS, low=-1),  # colours, -1 for an empty slot
        "score": i8("agents", COLORS),
        "bag": i8(len(KINDS)).within(0, 1000),  # tiles of each kind that are to be drawn
        "begun": b1(6),  # corners beside which somebody began
        "offered": b1,  # whether the agent may exchange its tiles now
        "last": i8.index_of("places", low=-1),  # the place of the last tile, -1 for none
        "aside": i8(len(KINDS)),  # from here on scratch: tiles of each kind that go back into the bag
        "gain": i8(COLORS),
        "order": i4("agents", COLORS),
    },
    scratch=("aside", "gain", "order"),
    observation={
        "board": shares("told_cells", COLORS, whole=True, doc="the color of each hex"),
        "rack": shares("told_slots", 2, COLORS, whole=True, doc="the colors of the own tiles"),
        "scores": shares("told_agents", COLORS, doc="scores of all players, the own first, divided by 18"),
        "bag": block("listed", low=0, high=1, raw=True, doc="fraction of tiles left to draw"),
        "planes": shares("planes", "across", "across", doc="all this, as planes"),
    },
    action=lambda values: discrete(*choice_names(values), size="choices"),
    terms={
        "lowest": term(0.0, MOST, 1.0, "increase of the own lowest score"),
        **{name: term(0.0, MOST, 0.0, f"increase of the own score in {name}") for name in NAMES},
    },
    horizon=lambda values: sizes_of(values)["cells"],
    fps=2,
    levels={
        "small": {"extra": 2},
        "few": {"extra": 2, "colors": 3},
        "three": {"players": 3},
        "six": {"players": 6},
    },
)


@SPEC.make_data
def data(values):
    """The board: which hexes touch, where tiles may lie, its corners."""
    side = values.players + values.extra
    cells = cells_of(side)
    number = {place: i for i, place in enumerate(cells)}
    near = [[number.get((r + dr, c + dc), -1) for dr, dc in STEPS] for r, c in cells]
    corners = [number[dr * (side - 1), dc * (side - 1)] for dr, dc in STEPS]
    beside = [next((i for i, corner in enumerate(corners) if corner in row), -1) for row in near]
    places = pairs_of(side)
    across, spots = 2 * side - 1, []
    for cell, other in places:
        row, column = (part + side - 1 for part in cells[cell])
        spots.append((near[cell].index(other) * across + row) * across + column)
    numbers = {spot: place for place, spot in enumerate(spots)}
    return {
        "near": near,
        "place": places,
        "corner": corners,
        "beside": beside,
        "kind": KINDS,
        "spot": spots,
        "place_at": [numbers.get(spot, -1) for spot in range(6 * across * across)],
    }


# --- rules ------------------------------------------------------------------------------------------------------------


@SPEC.reset
def reset(p, s, rng):
    for i in range(6):
        s.cell[p.corner[i]] = 1 + i % p.colors
    for kind in range(s.bag.size):
        s.bag[kind] = DOUBLES if p.kind[kind, 0] == p.kind[kind, 1] else PAIRS
        if p.kind[kind, 1] >= p.colors:
            s.bag[kind] = 0
    for k in range(s.alive.size):
        for slot in range(RACK):
            s.rack[k, slot, 0] = -1
            s.rack[k, slot, 1] = -1
        draw_tiles(p, s, k, rng)
    s.again = 1
    s.last = -1


@SPEC.step
def step(p, s, a, rng, r):
    mover = max(s.turn, 0)
    over = False
    if s.offered:
        if a[mover] == keeping(p) + 1:
            exchange_tiles(p, s, mover, rng)
    else:
        s.again -= 1
        slot, place = slot_of(p, s, mover, a[mover]), place_of(p, a[mover])
        if slot >= 0 and place >= 0 and is_free(p, s, max(place, 0)):
            lay(p, s, mover, slot, place)
            over = score_gain(p, s, mover, r)
        s.moves += 1
    ends = s.offered or s.again <= 0 or not can_move(p, s, mover)
    s.offered = p.exchange == 1 and ends and not s.offered and not over and may_exchange(p, s, mover)
    if ends and not s.offered:
        draw_tiles(p, s, mover, rng)
        s.again = 1
        over = pass_turn(p, s) or over
    if over:
        s.turn = -1
        end_game(s, r)


@SPEC.mask
def mask(p, s, k, m):
    places = p.place.shape[0]
    for action in range(m.size):
        m[action] = 0
    if s.turn != k:
        m[0] = 1
        return
    if s.offered:
        m[keeping(p)] = 1
        m[keeping(p) + 1] = 1
        return
    for place in range(places):
        if is_free(p, s, place):
            for slot in range(RACK):
                if s.rack[k, slot, 0] >= 0:
                    m[choice_of(p, s, k, slot, place)] = 1


@SPEC.observe
def observe(p, s, k, o):
    if p.planes:
        show_planes(p, s, k, o.planes)
    else:
        show_numbers(s, k, o)


@kernel
def show_numbers(s, k, o):
    for cell in range(s.cell.size):
        for color in range(COLORS):
            o.board[cell, color] = 1.0 if s.cell[cell] == 1 + color else 0.0
    for slot in range(RACK):
        for half in range(2):
            for color in range(COLORS):
                o.rack[slot, half, color] = 1.0 if s.rack[k, slot, half] == color else 0.0
    for j in range(s.alive.size):
        for color in range(COLORS):
            o.scores[j, color] = s.score[(k + j) % s.alive.size, color] / MOST
    o.bag[0] = tiles_in_bag(s) / 120.0


@kernel
def show_planes(p, s, k, planes):
    across, colors = planes.shape[1], p.colors
    board = planes.reshape(planes.shape[0], across * across)
    for plane in range(colors + 1):
        for cell in range(across * across):
            board[plane, cell] = 0.0
    for place in range(p.place.shape[0]):  # every hex is the first one of some
        color = s.cell[p.place[place, 0]]
        board[color - 1 if color > 0 else colors, p.spot[place] % (across * across)] = 1.0
    plane = colors + 1
    for kind in range(colors * (colors + 1) // 2):
        held = 0
        for slot in range(RACK):
            held += kind_at(p, s, k, slot) == kind
        fill(board, plane + kind, held / RACK)
    plane += colors * (colors + 1) // 2
    for j in range(s.alive.size):
        for color in range(colors):
            fill(board, plane + color, s.score[(k + j) % s.alive.size, color] / MOST)
        plane += colors
    fill(board, plane, tiles_in_bag(s) / 120.0)


@kernel
def fill(board, plane, number):
    """One number in all cells of a plane."""
    for cell in range(board.shape[1]):
        board[plane, cell] = number


# --- players ----------------------------------------------------------------------------------------------------------


@SPEC.player("balanced")
def play_balanced(p, s, k, a, rng):
    a[k] = choose_best(p, s, k, True, rng) if s.turn == k else 0


@SPEC.player("greedy")
def play_greedy(p, s, k, a, rng):
    a[k] = choose_best(p, s, k, False, rng) if s.turn == k else 0


@SPEC.player("random")
def play_random(p, s, k, a, rng):
    a[k] = choose_random(p, s, k, rng) if s.turn == k else 0


# --- images -----------------------------------------------------------------------------------------------------------


def side_of(s):
    """Hexes along an edge."""
    return next(side for side in range(2, 20) if 3 * side * side - 3 * side + 1 == len(s.cell))


@SPEC.draw
def draw(canvas, p, s):
    told = f"player {int(s.turn) + 1} to move" if s.turn >= 0 else "the game is over"
    told = f"player {int(s.turn) + 1} may exchange" if s.offered else told
    canvas.caption(f"move {int(s.moves)}", told)
    canvas.view(0.0, 1.0, 0.0, 1.0)
    draw_table(canvas)
    draw_board(canvas, p, s, cells_of(side_of(s)))
    draw_rack(canvas, s)
    draw_scores(canvas, s, int(p.colors), MOST)


@SPEC.places
def places(canvas, p, s):
    """The two hexes, in the order of the tile's colors; which tile, a list says."""
    cells = cells_of(side_of(s))
    view_hexes(canvas, side_of(s))
    pairs = [[middle_of(cells[one]), middle_of(cells[other])] for one, other in p.place]
    other = [[] for _ in range(2 * int(p.exchange))]
    if not p.planes:
        return pairs * RACK + other
    return other + [pairs[k] if k >= 0 else [] for k in p.place_at] * (int(p.colors) * (int(p.colors) + 1) // 2)


@SPEC.text
def text(p, s):
    side, rows = side_of(s), {}
    for cell, (row, _) in enumerate(cells_of(side)):
        rows.setdefault(row, []).append(".ROYGBV"[int(s.cell[cell])])
    lines = [" " * abs(row) + " ".join(found) for row, found in rows.items()]
    rows = enumerate(s.score[:, : int(p.colors)])
    scores = ["player " + str(k + 1) + ": " + " ".join(str(int(n)) for n in row) for k, row in rows]
    return "\n".join([*lines, "", *scores])
