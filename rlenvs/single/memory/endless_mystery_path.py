"""Endless Mystery Path: follow an endless hidden path to the right, and remember it from the beginning.

## Description
The endless form of Mystery Path in Memory Gym (Pleines et al., JMLR 26(6), 2025). The path runs to the right, in
segments of 7 x 7 tiles drawn as in MysteryPath-v0, with a tile between two of them; the screen moves along with the
agent and shows the last tiles that were passed. An agent that leaves the path is put back at its beginning, and has to
walk everything it has found again. Measured against version 1.0.2 of the original (frames, rules, random returns).
Different from the original: a time limit, which truncates; images have rows before columns; the path never goes to the
left, where the agent cannot follow; `show_origin` shows the origin, which the original never does, because of a
condition that never holds; the path has 32 segments, and the game ends after the last; agents with another
`agent_scale` start in the middle of their tile, where the original offsets them and the screen by their radius from its
corner; a fractional `camera_offset_scale` is truncated to pixels, of which up to 10 differ. `compat=True` gives the
original's order of axes, its termination at the time limit, its paths, and the origin that is never shown.

## Action Space
Stay, right, up or down; the agent cannot move left. After a fall the action has no effect.

## Observation Space
The screen, 84 x 84 RGB; the agent is always in the same column. `observation="vector"` gives numbers: row of the agent
(in halves of the screen from its center), how far it is into its tile, direction in which it faces (x, y), whether it
fell, stamina where it is shown, and for six columns up to the agent's, row by row, whether the past path is shown
there.

`recall=True` (`level="recall"`: with numbers in place of the screen) adds, for policies without memory, what an agent
with perfect memory would know of the tiles to the right, above and below: 1 if the path is known to continue there, -1
if it is known not to (the agent fell there, or came from there), else 0.

## Rewards
0.1 for each new tile. The other terms have weight 0, for use with `weights=` and as measurements in `info`: where the
path continues (east, north, south), how long ago the agent was there, tiles and columns reached. The original's reset
parameters `reward_path_progress`, `reward_path_progress_dense`, `reward_fall_off` and `reward_step` are the weights of
`progress`, `again`, `fall` and `step`.

## Costs
None.

## Starting State
On the first tile, facing right.

## Episode End
Termination: no new tile (new since the last fall) for `stamina_level` steps; a fall before the farthest column that
was reached; a second fall at the same place; the end of the path. Truncation: 1,000 steps. `is_success` means that 50
tiles were visited.

## Parameters
The reset parameters of the original, under the same names, except that `max_steps` is `horizon`.

## Reference Scores
Mean return over seeds 0 to 99. The expert knows the path.

## Version History
v0: first version.
"""

import numpy as np

from rlenvs.core import (
    b1,
    below,
    block,
    choice,
    data_option,
    discrete,
    flag,
    i2,
    i4,
    image,
    integer,
    json_option,
    kernel,
    term,
    u1,
    world,
)
from rlenvs.kits.raster.draw import clear, outline, rectangle, stamp, transpose
from rlenvs.single.memory.agent import (
    AGENT_PARAMS,
    AHEAD_X,
    AHEAD_Y,
    EAST,
    ROOT_HALF,
    SIDE,
    draw_agent,
    move_freely,
)
from rlenvs.single.memory.lists import screen_side
from rlenvs.single.memory.mystery import (
    CROSS,
    GREEN,
    MIDDLE,
    PALE,
    RED,
    SEARCH_STATE,
    SIZE,
    TILE,
    TRIES,
    WHITE,
    find_path,
    make_cross,
)
from rlenvs.single.memory.render import draw_endless_mystery, endless_mystery_text

SEGMENTS, SEGMENT = 32, SIZE + 1  # segments of the path, columns of each
COLUMNS = SEGMENTS * SEGMENT
TILES = COLUMNS * SIZE
FIRST_SEGMENTS = 2  # the original draws three at once, which nobody sees
ICE = (125, 177, 250)
BAR = 4  # px
PAST = 6  # columns of the past path in the vector
SEEN = 6 + SIZE * PAST
HALF = SIDE / 2
WELL_DONE = 50  # tiles that count as success
ON_PATH, REWARDED, REFRESHED = 1, 2, 4
OUTSIDE = SIZE  # the row that stands for all above and below the screen
RIGHT, UP, DOWN = 1, 2, 3


def parse_offset(value):
    if isinstance(value, bool) or not 0.0 <= float(value) <= 5.5:
        raise ValueError("it must be a number in [0, 5.5]")
    return float(value)


def sizes(values):
    return {
        "side": screen_side(values),
        "seen_numbers": SEEN if values.observation == "vector" else 0,
        "recalled": 3 if values.recall else 0,
    }


SPEC = world(
    "EndlessMysteryPath-v0",
    doc=__doc__,
    source="Memory Gym 1.0.2 Endless-MysteryPath-v0 (Pleines et al., JMLR 26(6), 2025)",
    params=AGENT_PARAMS,
    options={
        "observation": choice("pixels", "vector", doc="the screen, or what it shows as numbers"),
        "stamina_level": integer(20, 1, 10_000, "steps to the next new tile"),
        "camera_offset_scale": data_option(
            json_option(5.0, parse_offset, "tiles between the left border and the agent")
        ),
        "show_origin": flag(False, "the origin is green"),
        "show_past_path": flag(True, "tiles that were passed are white"),
        "show_background": flag(False, "a pattern that moves with the screen"),
        "show_stamina": flag(False, "a bar at the right shows the stamina"),
        "visual_feedback": flag(True, "a red cross shows that the agent fell"),
        "recall": flag(False, "whether the observation also tells what was found out about the tiles around the agent"),
        "compat": flag(False, "the original's order of axes, termination at the time limit, no origin"),
    },
    sizes=sizes,
    data={"cross": u1(CROSS, CROSS), "offset": i2, "depth": i2},
    state={
        "x": i4,
        "y": i2.index_of(SIDE),
        "facing": i2.within(0, 7),
        "start": i2.index_of(SIZE),  # row of the first tile
        "segments": i2.up_to(SEGMENTS),
        "end_row": i2.index_of(SIZE),
        "marks": u1(TILES),  # of each tile: on the path, rewarded, refreshed since the last fall
        "back": i2(TILES).index_of(TILES, low=-1),  # the tile before it on the path, -1 where there is none
        "onward": i2(TILES).index_of(TILES, low=-1),
        "visited_at": i4(TILES),
        "fell": u1(COLUMNS * (SIZE + 1)),  # where the agent fell
        "place": i2.index_of(TILES),  # the tile of the path on which it was last
        "off": b1,
        "stamina": i4,
        "fails": i4,
        "farthest": i2,
        "tiles": i4,
        "last": i2.index_of(TILES),  # the last tile of the path
        **SEARCH_STATE,
    },
    observation={
        "seen": block("seen_numbers", low=-4, high=4, raw=True, constant=True, doc="what the screen shows"),
        "ways": block("recalled", low=-1, high=1, raw=True, constant=True, doc="whether the path goes right, up, down"),
    },
    images={"screen": image("side", "side", 3, doc="the screen")},
    action=discrete("none", "right", "up", "down"),
    terms={
        "progress": term(0, 1, 0.1, "1 for a tile that was not visited before"),
        "again": term(0, 1, 0.0, "1 for a tile that was not visited since the last fall"),
        "fall": term(0, 1, 0.0, "1 for a fall"),
        "step": term(0, 1, 0.0, "1 in every step"),
        "tiles": term(0, TILES, 0.0, "tiles visited so far"),
        "farthest": term(0, COLUMNS, 0.0, "the farthest column on the path so far"),
        "fails": term(0, 1e6, 0.0, "falls so far"),
        "east": term(0, 1, 0.0, "1 where the path continues to the right"),
        "north": term(0, 1, 0.0, "1 where it continues up"),
        "south": term(0, 1, 0.0, "1 where it continues down"),
        "memory_distance": term(0, 1e6, 0.0, "steps since the agent was on the next tile of the path; 0 if never"),
    },
    horizon=1_000,
    fps=25,
    expert_sees="state",
    levels={
        "easy": {"stamina_level": 60, "show_stamina": True},
        "hard": {"show_past_path": False},
        "recall": {"recall": True, "observation": "vector"},
        "compat": {"compat": True},
    },
)


@SPEC.state_fault
def state_fault(p, s):
    tiles = np.zeros(s.back.size, bool)
    tile = int(s.last)
    while tile >= 0:
        if tiles[tile]:
            return "its path leads in a circle"
        tiles[tile] = True
        tile = int(s.back[tile])
    return "" if tiles[s.place] else "the agent's tile is not on its path"


@SPEC.make_data
def data(values):
    return {
        "cross": make_cross(),
        "offset": int(TILE * values.camera_offset_scale),
        "depth": int(values.camera_offset_scale),
    }


# --- the path ---------------------------------------------------------------------------------------------------------


@kernel
def add_tile(s, tile):
    """One more tile at the end of the path."""
    s.marks[tile] = ON_PATH
    s.back[tile] = s.last
    s.onward[tile] = -1
    if s.last >= 0:
        s.onward[s.last] = tile
    s.last = tile


@kernel
def turns_back(s, length):
    """Whether a path goes to the left somewhere, where no agent can follow."""
    found = False
    for k in range(1, length):  # from the end to the beginning
        found = found or s.found[k] // SIZE > s.found[k - 1] // SIZE
    return found


@kernel
def add_segment(p, s, rng):
    """Seven columns, and a tile that leads to the next ones."""
    first = SEGMENT * s.segments
    begin, end = int(s.end_row), below(rng, SIZE)
    length = 0
    for _ in range(TRIES):
        length = find_path(s, rng, begin, SIZE * (SIZE - 1) + end)
        if p.compat or not turns_back(s, length):
            break
    for k in range(length):
        tile = s.found[length - 1 - k]
        add_tile(s, SIZE * (first + tile // SIZE) + tile % SIZE)
    add_tile(s, SIZE * (first + SIZE) + end)
    s.end_row = end
    s.segments += 1


@kernel
def go_to_start(s):
    s.x, s.y = MIDDLE, TILE * s.start + MIDDLE


@SPEC.reset
def reset(p, s, rng):
    s.start = below(rng, SIZE)
    s.end_row = s.start
    s.last = -1
    for _ in range(FIRST_SEGMENTS):
        add_segment(p, s, rng)
    s.place = s.start
    s.facing = EAST
    s.stamina = p.stamina_level
    go_to_start(s)


# --- rules ------------------------------------------------------------------------------------------------------------


@kernel
def column_of(s):
    return min(s.x // TILE, COLUMNS - 1)


@kernel
def row_of(s):
    """Of the agent; OUTSIDE for all that are not on the screen."""
    row = s.y // TILE
    return row if 0 <= row < SIZE else OUTSIDE


@kernel
def walk_on(p, s, tile, r):
    """The agent is on the path."""
    s.off = False
    s.place = tile
    if tile != s.start:
        if not s.marks[tile] & REWARDED:
            r.progress = 1.0
            s.tiles += 1
        if not s.marks[tile] & REFRESHED:
            r.again = 1.0
            s.stamina = p.stamina_level
        s.marks[tile] |= REWARDED | REFRESHED
    s.visited_at[tile] = s.elapsed + 1


@kernel
def fall(p, s, r):
    """The agent left the path. It ends the game before the farthest column, and the second time at a place."""
    column = column_of(s)
    place = column * (SIZE + 1) + row_of(s)
    s.off = True
    s.fails += 1
    r.fall = 1.0
    r.terminated = column < s.farthest or s.fell[place] > 0
    s.fell[place] = 1
    for tile in range(SIZE * SEGMENT * s.segments):
        s.marks[tile] &= ON_PATH | REWARDED
    s.stamina = p.stamina_level


@kernel
def report(p, s, r):
    onward, now = int(s.onward[s.place]), s.elapsed + 1
    r.step = 1.0
    r.tiles, r.farthest, r.fails = s.tiles, s.farthest, s.fails
    r.success = s.tiles >= WELL_DONE
    if onward >= 0:
        r.east = 1.0 if onward // SIZE > s.place // SIZE else 0.0
        r.north = 1.0 if onward == s.place - 1 else 0.0
        r.south = 1.0 if onward == s.place + 1 else 0.0
        if s.marks[onward] & REWARDED:
            r.memory_distance = now - s.visited_at[onward]
    else:
        r.terminated = True
    if p.compat and now >= p.horizon:
        r.terminated = True


@SPEC.step
def step(p, s, a, rng, r):
    if s.off:
        go_to_start(s)
    else:
        move_freely(p, s, 1 if a == RIGHT else 0, -1 if a == UP else (1 if a == DOWN else 0))
    column, row = column_of(s), row_of(s)
    if column // SEGMENT > s.segments - 2 and s.segments < SEGMENTS:
        add_segment(p, s, rng)
    tile = SIZE * column + row
    if row != OUTSIDE and s.marks[tile] & ON_PATH:
        walk_on(p, s, tile, r)
    else:
        fall(p, s, r)
    s.stamina -= 1
    if s.stamina <= 0:
        r.terminated = True
    if not s.off:
        s.farthest = max(s.farthest, column)
    report(p, s, r)


# --- what is seen -----------------------------------------------------------------------------------------------------


@kernel
def first_past(p, s):
    """The first column of the past path that is shown; -1 where none is."""
    column = s.x // TILE - 1
    return max(0, column - p.depth) if column >= 0 and p.show_past_path else -1


@kernel
def camera_of(p, s):
    """The pixel of the world at the left border of the screen."""
    return s.x - MIDDLE - p.offset


@kernel
def way_known(s, column, row):
    """1 if the path is known to go from the agent's tile to another one, -1 if it is known not to, else 0."""
    if not 0 <= row < SIZE:
        return -1.0 if s.fell[column * (SIZE + 1) + OUTSIDE] > 0 else 0.0
    tile = SIZE * column + row
    if s.fell[column * (SIZE + 1) + row] > 0 or tile == s.back[s.place]:
        return -1.0
    return 1.0 if tile == s.onward[s.place] and s.marks[tile] & REWARDED else 0.0


@SPEC.observe
def observe(p, s, o):
    if o.ways.size > 0:
        column, row = column_of(s), row_of(s)
        o.ways[0] = 0.0 if s.off else way_known(s, min(column + 1, COLUMNS - 1), row)
        o.ways[1] = 0.0 if s.off else way_known(s, column, row - 1)
        o.ways[2] = 0.0 if s.off else way_known(s, column, row + 1)
    if o.seen.size == 0:
        return
    for j in range(SEEN):
        o.seen[j] = 0.0
    o.seen[0] = max(-4.0, min(s.y / HALF - 1.0, 4.0))
    o.seen[1] = (s.x % TILE) / TILE
    o.seen[2] = AHEAD_X[s.facing] * (ROOT_HALF if s.facing % 2 else 1.0)
    o.seen[3] = AHEAD_Y[s.facing] * (ROOT_HALF if s.facing % 2 else 1.0)
    o.seen[4] = 1.0 if s.off and p.visual_feedback else 0.0
    o.seen[5] = min(s.stamina / p.stamina_level, 1.0) if p.show_stamina else 0.0
    first, tile = first_past(p, s), int(s.back[s.place])
    while first >= 0 and tile >= 0:
        back = s.x // TILE - tile // SIZE
        if 0 <= back < PAST:
            o.seen[6 + SIZE * back + tile % SIZE] = 1.0
        if tile // SIZE == first:
            break
        tile = int(s.back[tile])


@kernel
def draw_past(p, s, image):
    """The tiles before the one on which the agent was last, back to the first column that is shown."""
    first, tile, left = first_past(p, s), int(s.back[s.place]), camera_of(p, s)
    while first >= 0 and tile >= 0:
        x, y = TILE * (tile // SIZE) - left, TILE * (tile % SIZE)
        rectangle(image, x, y, TILE, TILE, WHITE)
        outline(image, x, y, TILE, TILE, 1, PALE)
        if tile // SIZE == first:
            break
        tile = int(s.back[tile])


@kernel
def draw_ice(p, s, image):
    for column in range(-1, SIZE + 1):
        for row in range(SIZE):
            x = TILE * column - (s.x - MIDDLE) % TILE
            rectangle(image, x, TILE * row, TILE, TILE, ICE)
            outline(image, x, TILE * row, TILE, TILE, 1, PALE)


@SPEC.observe_images
def observe_images(p, s, i):
    screen, left = i.screen, camera_of(p, s)
    clear(screen)
    if p.show_background:
        draw_ice(p, s, screen)
    draw_past(p, s, screen)
    if p.show_origin and not p.compat and s.x // TILE < PAST - 1:
        rectangle(screen, -left, TILE * s.start, TILE, TILE, GREEN)
        outline(screen, -left, TILE * s.start, TILE, TILE, 1, PALE)
    draw_agent(screen, s.x - left, s.y, s.facing, p.agent_scale)
    if p.show_stamina:
        rectangle(screen, SIDE - BAR, 0, BAR, SIDE, GREEN)
        left_over = min(s.stamina / p.stamina_level, 1.0)
        rectangle(screen, SIDE - BAR, 0, BAR, int(SIDE * (1.0 - left_over)), RED)
    if s.off and p.visual_feedback:
        stamp(screen, p.cross, s.x - left - CROSS // 2, s.y - CROSS // 2, RED)
    if p.compat:
        transpose(screen)


@SPEC.expert
def expert(p, s, a):
    """To the next tile, by the middles of tiles."""
    onward = int(s.onward[s.place]) if not s.off else -1
    a[0] = 0
    if onward >= 0:
        down = TILE * (onward % SIZE) + MIDDLE - s.y
        a[0] = (UP if down < 0 else DOWN) if abs(down) > 0.5 * p.agent_speed else RIGHT


@SPEC.draw
def draw(canvas, p, s):
    draw_endless_mystery(canvas, p, s, SIZE, ON_PATH, REWARDED)


@SPEC.text
def text(p, s):
    return endless_mystery_text(s, SIZE, COLUMNS, ON_PATH)


@SPEC.keys
def keys(pressed, values):
    for action, name in ((RIGHT, "right"), (UP, "up"), (DOWN, "down")):
        if name in pressed:
            return action
    return 0
