"""Generals: capture the enemy's general on a board under fog of war, with simultaneous moves.

## Description
The rules of generals.io as in the environment strakam/generals-bots (Straka and Schmid, "Artificial Generals
Intelligence: Mastering Generals.io with Reinforcement Learning", 2025): soldiers grow on generals and cities every
second tick and on all land every fiftieth; each player moves the army of one cell, or half of it, to a neighboring
cell; a player who enters a foreign cell with more soldiers than defend it takes it over. A player whose general is
captured is out, and the captor gets the player's land. One step is one tick, half a turn of the web game.

That environment has changed its rules between releases; the differences are options, and the levels "paper" and
"competition" set them together. `order`: two moves are made one after the other; a move onto a cell that another army
leaves comes first, then a move to one's own cell, then, in the current version, the one from the smaller army, and in
the paper's version the one from the larger army (there, earlier ties are broken by slot). `mutual_capture`: when two
players capture each other's generals in the same tick, nobody wins, or the first move wins. `build` and `deathtouch`
are rules of its competition.

Different from the original: there are 2 to 8 players, and teams. With these, a captured general becomes a city, as in
the web game, the land of players that captured each other becomes neutral, and allies share their sight; an army that
enters an ally's cell joins its army, and the cell changes hands unless it is the ally's general. A second capture in
the same tick does not undo the first. The paper's observation has a fifteenth plane, `priority`, which is always 0 in
its code and is left out here.

## Action Space
0 passes. 1 + (direction + 4 half) cells + cell moves from a cell (row times width + column) up, down, left or right,
with all soldiers except one, or with half of them, rounded down. With `build`, 1 + 8 cells + cell builds a castle (a
city of the player) on plain land: it costs 35 soldiers of that cell and max(0, 14 - 2 distance) more for every general
and city that the player owns. As planes: pass, then (9 or 8, height, width). The mask allows all possible orders;
anything else passes.

## Observation Space
Planes of height x width, as in the original: armies, generals, cities, mountains, neutral cells, own cells, cells of
enemies (all in sight only, and 0 in the fog), fog without and fog with a structure (city or mountain: they look the
same), then five planes of one number each: own land and army, land and army of all enemies together, and the tick.
With teams there is one more: cells of allies. A cell is in sight when the player's side owns one of the nine cells
around it. Cells beyond a random board that is smaller than the arrays are mountains. Numbers are not scaled; with
`encoding="unit"` all are in [0, 1], armies and other counts by their logarithms. The wrapper `GeneralsMemory`
(docs/generals.md) adds what a player would remember.

## Rewards
`win` is 1 for the last remaining side and -1 for those that lost, in teams at the end of the game, otherwise when their
general is captured. The others are potential differences, 0 in the tick that ends the game, without a discount factor,
as in the original: `army` and `land` are clipped logarithms of the ratio to the strongest other side, log(ratio) /
log(1.6) and / log(1.3), `city` is the number of own cities. They count with `reward="shaped"`.

## Costs
`invalid` is 1 when an action was impossible; the player then passes.

## Starting State
Each general has one soldier. A board is given, or drawn by a generator. "current": mountains, 9 to 11 cities carved
out of them, the first general near a city, the others at a walking distance of at least `distance` with a similar
amount of free land around. "paper": mountains, generals on random cells at a walking distance of at least `distance`, a
city within 6 steps of each, 9 to 11 cities in all. "uniform": every cell is drawn independently, generals are half a
board apart. Boards on which generals cannot reach each other are redrawn; on boards too small for these rules, they are
relaxed.

## Episode End
Termination when one side is left, and without teams for each player whose general is captured. Truncation, a draw: 1200
ticks, as in the competition; the original class has 500 and the web game no limit. Success: being on the last remaining
side.

## Parameters
A custom `board` overrides `height`, `width` and the generator. `neutral_cities=False` removes neutral cities from a
generated board, as in the competition. With an `opponent` other than "self" there is one agent, and the other players
are scripted.

## Reference Scores
Mean return over seeds 0 to 99 of one agent with `opponent="expander"`. "random" are uniformly random legal actions.

## Version History
v0: first version.
"""

import numpy as np

from rlenvs.core import (
    Score,
    b1,
    block,
    choice,
    cost,
    discrete,
    f8,
    flag,
    i1,
    i2,
    i4,
    i8,
    integer,
    json_option,
    kernel,
    maths,
    param,
    term,
    u1,
    u8,
    world,
)
from rlenvs.kits.boards.changes import forget_changes
from rlenvs.multi.generals.board import (
    GARRISON,
    LARGEST,
    MOST_PLAYERS,
    MOUNTAIN,
    PLAIN,
    SMALLEST,
    board_data,
    board_sizes,
    choice_names,
    choices_of,
    parse_board,
    sides_of,
)
from rlenvs.multi.generals.commander import STEPS, Commander
from rlenvs.multi.generals.generate import CANDIDATES, GENERATOR, draw_board, set_up, take_given
from rlenvs.multi.generals.planes import MOST, look_of, show_army, show_cell, show_change, show_number
from rlenvs.multi.generals.players import (
    EXPANDER,
    HARVESTER,
    HUNTER,
    OPPONENT,
    play_expander,
    play_harvester,
    play_hunter,
    play_random,
)
from rlenvs.multi.generals.render import draw_board_image, slot_shown, text_board
from rlenvs.multi.generals.rules import MUTUAL_CAPTURE, ORDER, PRICE, play_tick, price, read_order

ARMY_UNIT, LAND_UNIT = maths.log(1.6), maths.log(1.3)


def largest_numbers(values):
    """The largest number in each plane of the observation."""
    cells = LARGEST * LARGEST
    return [MOST, *[1] * 8, cells, MOST, cells, MOST, MOST, *[1] * (values.teams > 0)]


SPEC = world(
    "Generals-v0",
    doc=__doc__,
    source='strakam/generals-bots (Straka and Schmid, "Artificial Generals Intelligence", 2025)',
    agents=True,
    params={
        "mountains": param(0.18, 0.0, 0.5, "", "smallest fraction of mountains on a random board"),
        "mountain_spread": param(0.08, 0.0, 0.3, "", "width of the range of that fraction"),
        "distance": param(8.0, 1.0, 100.0, "cells", "least walking distance between generals"),
        "garrison": param(GARRISON, 0.0, 200.0, "", "smallest army of a random city; the largest has 10 more"),
        "city_density": param(0.05, 0.0, 0.5, "", "fraction of cities, for the uniform generator"),
    },
    options={
        "players": integer(2, 2, MOST_PLAYERS, "number of players"),
        "teams": integer(0, 0, MOST_PLAYERS // 2, "number of equally large teams; 0 for none"),
        "opponent": OPPONENT,
        "height": integer(12, SMALLEST, LARGEST, "rows of a random board"),
        "width": integer(12, SMALLEST, LARGEST, "columns of a random board"),
        "vary": integer(0, 0, LARGEST - SMALLEST, "by how much a random board may be smaller in each direction"),
        "board": json_option(
            None, parse_board, "rows of '.', '#', generals A, B, ..., cities 0 ... 9 (40 + digit) and x (50)"
        ),
        "generator": GENERATOR,
        "neutral_cities": flag(True, "whether there are neutral cities"),
        "fog": flag(True, "whether players see only cells near their land"),
        "order": ORDER,
        "mutual_capture": MUTUAL_CAPTURE,
        "build": flag(False, "whether players may build castles"),
        "deathtouch": integer(0, 0, 1_000_000, "tick from which entering a general's cell captures it; 0 for never"),
        "reward": choice(
            "sparse",
            "shaped",
            doc="whether army, land and city count",
            sets={"shaped": {"army": 0.3, "land": 0.3, "city": 0.4}},
        ),
    },
    sizes=board_sizes,
    teams=lambda values: sides_of(values) if values.opponent == "self" else [0],
    players=("hunter", "harvester", "expander", "random"),
    data={
        "rows": i8,
        "columns": i8,
        "given": b1,
        "given_terrain": u1("cells"),
        "given_army": i4("cells"),
        "given_home": i4("players"),
        "side": i4("players"),
        "near": i4("cells", 4),
    },
    state={
        "height": i8.up_to("height", low=1),  # of this board
        "width": i8.up_to("width", low=1),
        "structures": i8.up_to("cells"),  # how many generals and cities there are
        "home": i4("players").index_of("cells"),  # where each general stands
        "out": b1("players"),  # whose general was captured
        "land": i8("players"),
        "troops": i8("players"),
        "cities": i8("players"),
        "orders": i8("players"),  # of the last tick
        "army_potential": f8("players"),
        "land_potential": f8("players"),
        "city_potential": f8("players"),
        "terrain": u1("cells").within(0, 15),
        "owner": u1("cells").up_to("players"),  # 1 + player, 0 for nobody
        "camp": u1("cells").up_to("sides"),  # 1 + side of the owner, 0 for nobody
        "army": i4("cells"),
        "seen": i1("sides", "cells"),  # how many of the nine cells around it the side owns
        "structure": i4("cells").index_of("cells"),
        "drawn": i4("agents", "cells"),  # how every cell looks in the observation
        "movable": b1("agents", "cells"),  # from where moves are allowed in the mask
        "changed": i4("cells").index_of("cells"),  # cells that changed since they were observed last
        "changes": i8.up_to("cells"),
        "noted": b1("cells"),  # whether a cell is one of them
        "kind": i4("players"),  # from here on scratch
        "source": i4("players"),
        "target": i4("players"),
        "half": b1("players"),
        "rank": i8("players"),
        "captor": i4("players"),
        "candidate": i4(CANDIDATES),
        "queue": i4("cells"),
        "field": i2("cells"),
        "nearest": i2("cells"),
        "known": u1("cells"),
        "room": i2("cells"),
        "ground": u8("height"),
        "flood": u8("height"),
    },
    scratch=(
        *("drawn", "movable", "changed", "changes", "noted"),  # what an incremental observation goes by
        *("kind", "source", "target", "half", "rank", "captor", "candidate"),
        *("queue", "field", "nearest", "known", "room", "ground", "flood"),
    ),
    observation={
        # constant: some cells never hold a general, and on a given board mountains stay
        "planes": block(
            *("channels", "height", "width"),
            low=0.0,
            high=largest_numbers,
            doc="see above",
            raw=True,
            constant=True,
            whole=True,
            logarithmic=True,
        )
    },
    action=lambda values: discrete(*choice_names(values), size=choices_of(values)),
    terms={
        "win": term(-1.0, 1.0, 1.0, "1 for the winners, -1 for those who lost"),
        "army": term(-2.0, 2.0, 0.0, "change of log(army / theirs) / log(1.6), clipped to [-1, 1]"),
        "land": term(-2.0, 2.0, 0.0, "change of log(land / theirs) / log(1.3), clipped to [-1, 1]"),
        "city": term(-4096.0, 4096.0, 0.0, "change of the number of own cities"),
    },
    costs={"invalid": cost(5.0, doc="1 for an action that was not possible")},
    horizon=1200,
    fps=8,
    incremental=True,
    levels={
        "easy": {"opponent": "random", "height": 10, "width": 10},
        "small": {"opponent": "random", "height": 5, "width": 5, "neutral_cities": False, "horizon": 400},
        "medium": {"opponent": "expander"},
        "hard": {"opponent": "harvester", "height": 18, "width": 18, "distance": 15.0},
        "paper": {
            "height": 23,
            "width": 23,
            "vary": 5,
            "generator": "paper",
            "mountains": 0.2,
            "mountain_spread": 0.02,
            "distance": 20.0,
            "order": "larger_first",
            "mutual_capture": "first",
        },
        "competition": {
            "height": 21,
            "width": 21,
            "vary": 3,
            "mountains": 0.24,
            "mountain_spread": 0.02,
            "distance": 17.0,
            "neutral_cities": False,
            "build": True,
            "deathtouch": 800,
        },
    },
    scores={"bound": Score(2, 0, "both games won")},
    probe={"city_density": {"generator": "uniform"}},
)


@SPEC.state_fault
def state_fault(p, s):
    camps = np.where(s.owner > 0, p.side[np.maximum(s.owner, 1) - 1] + 1, 0)
    return "" if (s.camp == camps).all() else "a cell is of another side than its owner"


@SPEC.make_data
def data(values):
    return board_data(values)


@SPEC.reset
def reset(p, s, rng):
    if p.given:
        take_given(p, s)
    else:
        draw_board(p, s, rng)
    set_up(p, s)
    for k in range(s.home.size):
        note_potentials(p, s, k)


# --- a tick -----------------------------------------------------------------------------------------------------------


@SPEC.step
def step(p, s, a, rng, r):
    for k in range(s.home.size):
        if k < s.alive.size:
            s.orders[k] = a[k] if s.alive[k] else 0
        else:
            play_opponent(p, s, k, rng)
    for k in range(s.home.size):
        possible = read_order(p, s, k)
        if k < s.alive.size and not possible:
            r.invalid[k] = 1.0
    left = play_tick(p, s)
    for k in range(s.home.size):
        army, land, city = s.army_potential[k], s.land_potential[k], s.city_potential[k]
        note_potentials(p, s, k)
        if k < s.alive.size and left > 1:
            r.army[k] = s.army_potential[k] - army
            r.land[k] = s.land_potential[k] - land
            r.city[k] = s.city_potential[k] - city
    for k in range(s.alive.size):
        judge_player(p, s, k, left, r)


@kernel
def play_opponent(p, s, k, rng):
    """The order of a player inside the world."""
    if p.opponent == HUNTER:
        play_hunter(p, s, k, s.orders, rng)
    elif p.opponent == HARVESTER:
        play_harvester(p, s, k, s.orders, rng)
    elif p.opponent == EXPANDER:
        play_expander(p, s, k, s.orders, rng)
    else:
        play_random(p, s, k, s.orders, rng)


@kernel
def judge_player(p, s, k, left, r):
    """Victory and defeat of agent k, when `left` sides are left."""
    lives = not s.out[k]
    for j in range(s.out.size):
        lives = lives or (p.side[j] == p.side[k] and not s.out[j])
    r.success[k] = left == 1 and lives
    r.terminated[k] = left <= 1 or not lives
    if left == 1 or (left > 1 and not lives):
        r.win[k] = 1.0 if lives else -1.0


@kernel
def note_potentials(p, s, k):
    """What the shaping terms of player k are differences of."""
    army, land, other_army, other_land = 0, 0, 1, 1
    for side in range(s.seen.shape[0]):
        side_army, side_land = 0, 0
        for j in range(s.land.size):
            if p.side[j] == side:
                side_army += s.troops[j]
                side_land += s.land[j]
        if side == p.side[k]:
            army, land = side_army, side_land
        else:
            other_army, other_land = max(other_army, side_army), max(other_land, side_land)
    s.army_potential[k] = log_ratio(army, other_army, ARMY_UNIT)
    s.land_potential[k] = log_ratio(land, other_land, LAND_UNIT)
    s.city_potential[k] = s.cities[k]


@kernel
def log_ratio(own, other, unit):
    """log(own / other) / unit, clipped to [-1, 1]."""
    if own <= 0:
        return -1.0
    return 0.0 if own == other else min(max(maths.log(own / other) / unit, -1.0), 1.0)


# --- what players see -------------------------------------------------------------------------------------------------


@SPEC.observe
def observe(p, s, k, o):
    planes, cells = o.planes.ravel(), s.terrain.size
    if s.shown:
        for i in range(s.changes):
            show_change(p, s, k, planes, s.changed[i])
    else:
        for cell in range(cells):
            look = look_of(p, s, k, cell)
            s.drawn[k, cell] = look
            show_army(planes, cell, look)
            show_cell(p, planes, cell, cells, look)
    side, land, troops = p.side[k], 0, 0
    for j in range(s.land.size):
        if p.side[j] != side:
            land += s.land[j]
            troops += s.troops[j]
    for number, value in ((9, s.land[k]), (10, s.troops[k]), (11, land), (12, troops), (13, s.elapsed)):
        show_number(s, planes[number * cells : (number + 1) * cells], value)


@SPEC.mask
def mask(p, s, k, m):
    cells, own = s.terrain.size, k + 1
    if s.shown:
        for i in range(s.changes):
            cell = s.changed[i]
            ready = s.owner[cell] == own and s.army[cell] > 1
            if ready != s.movable[k, cell]:
                s.movable[k, cell] = ready
                allow(p, s, m, cell, cells, ready)
    else:
        m[0] = 1
        for cell in range(cells):
            s.movable[k, cell] = s.owner[cell] == own and s.army[cell] > 1
            allow(p, s, m, cell, cells, s.movable[k, cell])
    if p.build:
        for cell in range(cells):
            plain = s.owner[cell] == own and s.terrain[cell] == PLAIN and s.army[cell] >= PRICE
            m[1 + 8 * cells + cell] = plain and s.army[cell] >= price(p, s, k, cell)
    if k == s.alive.size - 1:
        forget_changes(s)


@kernel
def allow(p, s, m, cell, cells, ready):
    """Moves from a cell to all neighbours that are no mountains, when an army is ready there."""
    for d in range(4):
        near = p.near[cell, d]
        legal = ready and near >= 0 and s.terrain[near] != MOUNTAIN
        m[1 + d * cells + cell] = legal
        m[1 + (d + 4) * cells + cell] = legal


# --- players ----------------------------------------------------------------------------------------------------------


@SPEC.player("hunter")
def hunter(p, s, k, a, rng):
    play_hunter(p, s, k, a, rng)


@SPEC.player("harvester")
def harvester(p, s, k, a, rng):
    play_harvester(p, s, k, a, rng)


@SPEC.player("expander")
def expander(p, s, k, a, rng):
    play_expander(p, s, k, a, rng)


@SPEC.player("random")
def random(p, s, k, a, rng):
    play_random(p, s, k, a, rng)


# --- for people -------------------------------------------------------------------------------------------------------


@SPEC.draw
def draw(canvas, p, s):
    draw_board_image(canvas, p, s, slot_shown(p, s, canvas.viewer))


@SPEC.places
def places(canvas, p, s):
    """From where and to where an army goes; a cell pointed at twice sends half."""
    middles = [(k % int(p.columns) + 0.5, int(s.height) - k // int(p.columns) - 0.5) for k in range(len(s.terrain))]
    sent = [[middle, (middle[0] + x, middle[1] - y)] for y, x in STEPS for middle in middles]
    half = [[way[0], *way] for way in sent]
    return [[], *sent, *half, *([[middle] for middle in middles] if p.build else [])]


@SPEC.text
def text(p, s):
    return text_board(p, s)


SPEC.keys(Commander)
