"""What the free-moving and the turning agent of Mystery Path share: options, a new path, falls, what is seen."""

from typing import Any

from rlenvs.core import World, b1, below, block, choice, flag, i1, i2, i4, image, kernel, term, u1, world
from rlenvs.kits.raster.draw import clear, rectangle, stamp
from rlenvs.single.memory.agent import AHEAD_X, AHEAD_Y, EAST, ROOT_HALF, SIDE, draw_agent
from rlenvs.single.memory.lists import draw_one, drawn, screen_side
from rlenvs.single.memory.mystery import (
    BLUE,
    CROSS,
    GREEN,
    MIDDLE,
    RED,
    SEARCH_STATE,
    SIZE,
    TILE,
    TILES,
    find_path,
    make_cross,
)

HALF = SIDE / 2
SEEN = 11
LEFT, RIGHT, TOP, BOTTOM = range(4)

OPTIONS = {
    "observation": choice("pixels", "vector", doc="the screen, or what it shows as numbers"),
    "cardinal_origin_choice": drawn([0, 1, 2, 3], 0, 3, "side of the origin: 0 left, 1 right, 2 top, 3 bottom"),
    "show_origin": flag(False, "the origin is blue"),
    "show_goal": flag(False, "the goal is green"),
    "visual_feedback": flag(True, "a red cross shows that the agent fell"),
    "recall": flag(False, "whether the observation also tells what was found out about the tiles around the agent"),
    "compat": flag(False, "the original's order of axes, and termination at the time limit"),
}
DATA = {"cross": u1(CROSS, CROSS), "list_sides": i2("number_of_sides"), "turning": i1}
STATE = {
    "x": i2.index_of(SIDE),
    "y": i2.index_of(SIDE),
    "facing": i2.within(0, 7),
    "path": i1(TILES).index_of(TILES),  # tiles from origin to goal
    "place_of": i1(TILES).up_to(TILES),  # where on the path a tile is, from 1 on; 0 beside it
    "length": i2.up_to(TILES, low=1),
    "visited": b1(TILES),
    "visited_at": i4(TILES),
    "fell": b1(TILES),  # which tiles turned out to be none of the path
    "place": i2.index_of(TILES),  # on the path, of the agent when it last was on it
    "off": b1,
    "fails": i4,
    **SEARCH_STATE,
}
OBSERVATION = {
    "seen": block("seen_numbers", low=-2, high=2, raw=True, constant=True, doc="what the screen shows"),
    "ways": block(
        "ways", low=-1, high=1, raw=True, doc="1 where the path is known to continue, -1 where it is known not to"
    ),
    "origin": block("axes", low=-1, high=1, raw=True, doc="offset to the origin / 7 tiles"),
}
IMAGES = {"screen": image("side", "side", 3, doc="the screen")}


def terms(progress):
    """The terms, with the weight of a new tile."""
    return {
        "goal": term(0, 1, 1.0, "1 for the goal"),
        "progress": term(0, 1, progress, "1 for a tile of the path that was not visited before"),
        "fall": term(0, 1, 0.0, "1 for a fall"),
        "step": term(0, 1, 0.0, "1 in every step"),
        "fails": term(0, 1e6, 0.0, "falls so far"),
        "next_x": term(-1, 1, 0.0, "where the path continues: columns to the right"),
        "next_y": term(-1, 1, 0.0, "where the path continues: rows down"),
        "memory_distance": term(0, 1e6, 0.0, "steps since the agent was on the next tile of the path; 0 if never"),
    }


def sizes(values):
    return {
        "side": screen_side(values),
        "seen_numbers": SEEN if values.observation == "vector" else 0,
        "ways": 4 if values.recall else 0,
        "axes": 2 if values.recall else 0,
        "number_of_sides": len(values.cardinal_origin_choice),
    }


@kernel
def tile_of(s):
    """The tile under the agent's middle."""
    return SIZE * (s.x // TILE) + s.y // TILE


@kernel
def go_to_tile(s, tile):
    s.x = TILE * (tile // SIZE) + MIDDLE
    s.y = TILE * (tile % SIZE) + MIDDLE


@kernel
def begin(p, s, rng):
    side = draw_one(p.list_sides, rng)
    near, far = below(rng, SIZE), below(rng, SIZE)
    last = SIZE - 1
    if side == LEFT:
        start, goal = near, SIZE * last + far
    elif side == RIGHT:
        start, goal = SIZE * last + near, far
    elif side == TOP:
        start, goal = SIZE * near, SIZE * far + last
    else:
        start, goal = SIZE * near + last, SIZE * far
    s.length = find_path(s, rng, start, goal)
    for k in range(s.length):
        tile = s.found[s.length - 1 - k]
        s.path[k] = tile
        s.place_of[tile] = k + 1
    go_to_tile(s, start)


@kernel
def judge(p, s, r):
    """What the agent's tile leads to."""
    tile, now = tile_of(s), s.elapsed + 1
    place = s.place_of[tile] - 1
    r.step = 1.0
    if place == s.length - 1:
        s.place = place
        r.goal = 1.0
        r.success = True
        r.terminated = True
    elif place >= 0:
        s.place = place
        s.off = False
        if place > 0 and not s.visited[tile]:
            r.progress = 1.0
        s.visited[tile] = True
        s.visited_at[tile] = now
    else:
        s.off = True
        s.fell[tile] = True
        s.fails += 1
        r.fall = 1.0
    r.fails = s.fails
    onward = s.path[next_place(s)]
    r.next_x = onward // SIZE - s.path[s.place] // SIZE
    r.next_y = onward % SIZE - s.path[s.place] % SIZE
    r.memory_distance = now - s.visited_at[onward] if s.visited[onward] else 0.0
    if p.compat and now >= p.horizon:
        r.terminated = True


@kernel
def next_place(s):
    """Of the tile to which the path goes on; a fall leads back to the origin."""
    return min(s.place + 1, s.length - 1)


@kernel
def way_known(s, column, row):
    """1 if the path is known to go from the agent's tile to another one, -1 if it is known not to, else 0."""
    if not (0 <= column < SIZE and 0 <= row < SIZE):
        return -1.0
    tile, here = SIZE * column + row, tile_of(s)
    stood = s.visited[tile] or s.place_of[tile] == 1
    if s.fell[tile] or (stood and s.place_of[tile] < s.place_of[here]):
        return -1.0
    return 1.0 if stood else 0.0


@kernel
def observe(p, s, o):
    first, column, row = (s.facing if p.turning else EAST), s.x // TILE, s.y // TILE
    for k in range(o.ways.size):
        direction = (first + 2 * k) % 8
        o.ways[k] = 0.0 if s.off else way_known(s, column + AHEAD_X[direction], row + AHEAD_Y[direction])
    for k in range(o.origin.size):
        direction, across, down = (first + 2 * k) % 8, s.path[0] // SIZE - column, s.path[0] % SIZE - row
        o.origin[k] = (AHEAD_X[direction] * across + AHEAD_Y[direction] * down) / SIZE
    if o.seen.size == 0:
        return
    start, goal = int(s.path[0]), int(s.path[s.length - 1])
    o.seen[0] = s.x / HALF - 1.0
    o.seen[1] = s.y / HALF - 1.0
    o.seen[2] = AHEAD_X[s.facing] * (ROOT_HALF if s.facing % 2 else 1.0)
    o.seen[3] = AHEAD_Y[s.facing] * (ROOT_HALF if s.facing % 2 else 1.0)
    o.seen[4] = 1.0 if s.off and p.visual_feedback else 0.0
    for k in range(2):
        shown, tile = (p.show_origin, start) if k == 0 else (p.show_goal, goal)
        o.seen[5 + 3 * k] = 1.0 if shown else 0.0
        o.seen[6 + 3 * k] = (TILE * (tile // SIZE) + MIDDLE) / HALF - 1.0 if shown else 0.0
        o.seen[7 + 3 * k] = (TILE * (tile % SIZE) + MIDDLE) / HALF - 1.0 if shown else 0.0


@kernel
def draw_field(p, s, image, scale):
    """What the player sees."""
    clear(image)
    start, goal = int(s.path[0]), int(s.path[s.length - 1])
    if p.show_goal:
        rectangle(image, TILE * (goal // SIZE), TILE * (goal % SIZE), TILE, TILE, GREEN)
    if p.show_origin:
        rectangle(image, TILE * (start // SIZE), TILE * (start % SIZE), TILE, TILE, BLUE)
    draw_agent(image, s.x, s.y, s.facing, scale)
    if s.off and p.visual_feedback:
        stamp(image, p.cross, s.x - CROSS // 2, s.y - CROSS // 2, RED)


def game(name: str, turning: bool, **declared: Any) -> World:
    """A world of this game, for an agent that turns or one that moves freely; `declared` are the keywords of `world` in
    which they differ."""
    spec = world(
        name,
        options=OPTIONS,
        sizes=sizes,
        data=DATA,
        state=STATE,
        observation=OBSERVATION,
        images=IMAGES,
        expert_sees="state",
        **declared,
    )
    spec.make_data(
        lambda values: {"cross": make_cross(), "list_sides": values.cardinal_origin_choice, "turning": int(turning)}
    )
    spec.reset(begin)
    spec.observe(observe)
    return spec
