"""PushWorld: push rigid shapes, which push each other, until certain shapes are on their goals.

## Description
A deterministic puzzle on a grid (Kansky et al., "PushWorld: A benchmark for manipulation planning with tools and
movable obstacles", 2023), harder than Sokoban: objects have shapes, several are pushed at once, some serve as tools,
some are in the way. Puzzles are the seven generated sets that come with this package (categories of the published
level 0, 2000 puzzles to train on and 200 to test, each with a shortest plan), or .pwp files:
`puzzles="path/to/a/folder"` plays the published levels 1 to 4. Rules, rewards and frames are the published ones. New: a
compact observation, masks, `undo`, detection of dead ends, choice of a puzzle by name, and shortest plans. Some files
that the original accepts are refused: those without a goal (there the first step solves the puzzle), with an unknown
element (there an empty cell), two objects in one cell or an object in a wall, more than 60 rows or columns, 59 objects
or 20 goals. As in the original, an object is on its goal when the upper left corners of their bounding boxes coincide,
whatever their shapes.

## Action Space
left, right, up, down. With `undo=n` there is a fifth action, `undo`, which takes back the last move that changed
something, up to n of them. Moves that change nothing are masked, unless none changes anything.

## Observation Space
By default planes, uint8 (rows, columns, 8), 255 where a cell belongs to: the agent, walls, agent-only walls, objects
with goals, goals, other objects; the last two planes mark cells that belong to the same object as their right and lower
neighbor, since touching shapes could not be distinguished otherwise. With several goals, the first goal and its object
have the value 255, and each further one 24 less. With `observation="pixels"` the published frame, uint8: 20 pixels per
cell with lines of 2; divided by 255 it is the original's float32 image. Smaller puzzles are padded with zeros on all
sides, frames by pixels, planes by whole cells.

## Rewards
10 for the step that solves the puzzle; for every other step the change in the number of objects on their goals, minus
0.01. `progress` has weight 0: how much nearer objects came to their goals, a potential-based shaping reward.

## Costs
`dead_end` is 1 while an object is where it can never reach its goal, such as in a corner or at a wall. Not every dead
end is recognized, but there are no false alarms.

## Starting State
A uniformly drawn puzzle of the set. `number` chooses one, and may differ between the worlds of a batch: `make_vec(...,
200, split="test", number=np.arange(200))` plays the whole test set.

## Episode End
Termination: all objects with goals are on them, a success. Truncation: 100 steps of generated puzzles, 1000 of others.

## Parameters
`puzzles`, `split`, `puzzle` and `longest_plan` select the puzzles. The expert searches for a shortest plan through up
to a million states. That is enough for generated puzzles, but not for most published ones; without a plan it undoes a
move if it can, or makes the first move that changes something.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

import numpy as np

from rlenvs.core import (
    below,
    choice,
    cost,
    data_option,
    discrete,
    i2,
    i4,
    i8,
    image,
    integer,
    json_option,
    kernel,
    param,
    term,
    u1,
    world,
)
from rlenvs.kits.boards.drawing import pressed_move
from rlenvs.kits.raster.draw import clear
from rlenvs.single.puzzles.pushworld import sets
from rlenvs.single.puzzles.pushworld.render import draw_puzzle, puzzle_text
from rlenvs.single.puzzles.pushworld.rules import achieved, move, push_set
from rlenvs.single.puzzles.pushworld.sets import CATEGORIES
from rlenvs.single.puzzles.pushworld.tables import (
    AGENT,
    FADING,
    FAINTEST,
    FULL,
    JOINED_DOWN,
    JOINED_RIGHT,
    NOTHING,
    NOWHERE,
    OBJECTS,
    OTHERS,
    PLANES,
)

UNDO = 4
OBSERVATION = choice("planes", "pixels", doc="planes of cells, or the published frame")
SHOWS_PLANES = OBSERVATION.codes("planes")[0]
MOST_MOVES = 20 * 62 * 62  # of all objects with goals together, a bound
MOST_UNDO = 1000


def parse_puzzle(given):
    """A name or a number."""
    if given is not None and (isinstance(given, bool) or not isinstance(given, (str, int, np.integer))):
        raise ValueError(f"needed: the name or the number of a puzzle, not {given!r}")
    return given if given is None or isinstance(given, str) else int(given)


def moves(values):
    return discrete("left", "right", "up", "down", *["undo"] * bool(values.undo))


SPEC = world(
    "PushWorld-v0",
    doc=__doc__,
    source="PushWorld (Kansky et al., arXiv 2301.10289)",
    params={
        "number": param(
            -1,
            -1,
            1_000_000,
            "",
            "index of the puzzle in its set, modulo the size of the set; -1 draws one at every reset",
        )
    },
    options={
        "puzzles": data_option(
            json_option(
                "base",
                sets.parse_puzzles,
                f"a generated set ({', '.join(CATEGORIES)}), the path of a .pwp file or of a folder with such files, a "
                "text in this format, or a list of texts",
            )
        ),
        "split": data_option(choice("train", "test", "both", doc="split of a generated set")),
        "puzzle": data_option(
            json_option(None, parse_puzzle, "name or index of a single puzzle to play; None for all")
        ),
        "longest_plan": data_option(
            integer(0, 0, 1000, "only puzzles of a generated set that can be solved in this many moves; 0 for all")
        ),
        "observation": OBSERVATION,
        "undo": integer(0, 0, MOST_UNDO, "number of moves that the action undo can take back; 0 for no such action"),
        "pixels_per_cell": data_option(integer(20, 5, 64, "side of a cell in the frame")),
        "border_width": data_option(integer(2, 1, 2, "lines around objects in the frame, pixels")),
        "rows_at_least": data_option(integer(0, 0, 62, "rows of the observation, including the walls around the map")),
        "columns_at_least": data_option(
            integer(0, 0, 62, "columns of the observation, including the walls around the map")
        ),
    },
    sizes=sets.sizes,
    data={
        "walls": i8("puzzle_count", "rows"),  # a bit per column
        "agent_walls": i8("puzzle_count", "rows"),
        "outline": i8("puzzle_count", "objects", "tallest"),
        "tall": u1("puzzle_count", "objects"),
        "object_count": u1("puzzle_count"),
        "goal_count": u1("puzzle_count"),
        "start": i2("puzzle_count", "objects", 2),
        "goal": i2("puzzle_count", "goal_slots", 2),
        "distance": i2("puzzle_count", "goal_slots", "rows", "columns"),
        "cell_count": i4("puzzle_count"),
        "cell": u1("puzzle_count", "most_cells", 4),  # object, row and column in its box, neighbours of the same object
        "goal_cell_count": i4("puzzle_count"),
        "goal_cell": u1("puzzle_count", "most_goal_cells", 4),
        "board": u1("puzzle_count", "shown_rows", "shown_columns", len(PLANES)),
        "ground": i4("puzzle_count", "framed_rows", "framed_columns"),  # tiles of what never moves
        "shift": i2("puzzle_count", 2),  # pixels by which the frame lies lower and farther right
        "tile": i4("puzzle_count", "most_cells"),
        "goal_tile": i4("puzzle_count", "most_goal_cells"),
        "tile_image": u1("tile_count", "tile_size", "tile_size", 3),
        "tile_opaque": u1("tile_count", "tile_size", "tile_size"),
    },
    state={
        "puzzle_index": i4.index_of("puzzle_count"),
        "at": i2("objects", 2).within(0, 63),  # row and column of the corner of each object's box
        "on_goal": i4,  # objects on their goals
        "left_over": i4,  # moves to the goals, were each object alone
        "dead": i4,  # objects that cannot get to their goals any more
        "taken_back": i4.up_to("undo_room"),  # where the next places go in the history
        "remembered": i4.up_to("undo_room"),  # how many there are
        "history": i2("undo_room", "objects", 2).within(0, 63),
        "pushed": u1("objects"),
    },
    scratch=("pushed",),
    expert_sees="state",
    observation={},
    images={
        "planes": image("shown_rows", "shown_columns", len(PLANES), doc=", ".join(PLANES)),
        "pixels": image("frame_rows", "frame_columns", 3, doc="the published frame"),
    },
    action=moves,
    terms={
        "solved": term(0.0, 1.0, 10.0, "1 for the step that solves the puzzle"),
        "goals": term(-20.0, 20.0, 1.0, "change in the number of objects on their goals, in other steps"),
        "time": term(-1.0, 0.0, 0.01, "-1 for other steps"),
        "progress": term(-MOST_MOVES, MOST_MOVES, 0.0, "by how many moves objects came nearer to their goals"),
    },
    costs={"dead_end": cost(0.0, doc="1 while an object can never reach its goal")},
    horizon=lambda values: 100 if values.puzzles in CATEGORIES else 1000,
    fps=6,
    levels={"short": {"longest_plan": 5}, **{each: {"puzzles": each} for each in CATEGORIES[1:]}},
)

SPEC.make_data(sets.data)


@kernel
def measure(p, s):
    """How far objects are from their goals."""
    index = s.puzzle_index
    goals = p.goal_count[index]
    s.on_goal = achieved(s.at, p.goal[index], goals)
    left_over, dead = 0, 0
    for k in range(goals):
        steps = p.distance[index, k, s.at[k + 1, 0], s.at[k + 1, 1]]
        if steps == NOWHERE:
            dead += 1
            left_over += p.distance.shape[2] * p.distance.shape[3]
        else:
            left_over += steps
    s.left_over, s.dead = left_over, dead


@SPEC.state_fault
def state_fault(p, s):
    k = int(s.puzzle_index)
    cells = p.cell[k, : int(p.cell_count[k])].astype(int)  # object, down, right
    reach = np.zeros(s.at.shape, int)
    for thing, down, right in cells[:, :3].tolist():
        reach[thing] = np.maximum(reach[thing], [down, right])
    inside = [((places >= 0) & (places + reach < p.distance.shape[2:])).all() for places in (s.at, s.history)]
    return "" if all(inside) else "an object is off the map"


@SPEC.reset
def reset(p, s, rng):
    count = p.object_count.size
    index = int(p.number) % count
    if p.number < 0.0:
        index = below(rng, count)
    s.puzzle_index = index
    for i in range(p.object_count[index]):
        s.at[i, 0] = p.start[index, i, 0]
        s.at[i, 1] = p.start[index, i, 1]
    measure(p, s)


@kernel
def can_move(p, s, action):
    """Whether a move changes something; what it pushes is in s.pushed then."""
    k = s.puzzle_index
    return push_set(p.walls[k], p.agent_walls[k], p.outline[k], p.tall[k], s.at, p.object_count[k], s.pushed, action)


@kernel
def remember(p, s):
    """Keep the places of all objects, in the place of the oldest where there is no more room."""
    if p.undo:
        for i in range(s.at.shape[0]):
            s.history[s.taken_back, i, 0] = s.at[i, 0]
            s.history[s.taken_back, i, 1] = s.at[i, 1]
        s.taken_back = (s.taken_back + 1) % p.undo
        s.remembered = min(s.remembered + 1, p.undo)


@kernel
def take_back(p, s):
    if s.remembered:
        s.taken_back = (s.taken_back + p.undo - 1) % p.undo
        s.remembered -= 1
        for i in range(s.at.shape[0]):
            s.at[i, 0] = s.history[s.taken_back, i, 0]
            s.at[i, 1] = s.history[s.taken_back, i, 1]


@SPEC.step
def step(p, s, a, rng, r):
    before, farther = s.on_goal, s.left_over
    if a == UNDO:
        take_back(p, s)
    elif can_move(p, s, a):
        remember(p, s)
        move(s.at, s.pushed, p.object_count[s.puzzle_index], a)
    measure(p, s)
    solved = s.on_goal == p.goal_count[s.puzzle_index]
    r.solved = 1.0 if solved else 0.0
    r.goals = 0.0 if solved else float(s.on_goal - before)
    r.time = 0.0 if solved else -1.0
    r.progress = float(farther - s.left_over)
    r.dead_end = 1.0 if s.dead else 0.0
    r.terminated = solved
    r.success = solved


@SPEC.mask
def mask(p, s, m):
    count = 0
    for action in range(4):
        m[action] = 1 if can_move(p, s, action) else 0
        count += m[action]
    if p.undo:
        m[UNDO] = 1 if s.remembered else 0
        count += m[UNDO]
    if count == 0:
        for action in range(4):
            m[action] = 1


@kernel
def show_planes(p, s, planes):
    index = s.puzzle_index
    board, cells, goals = p.board[index], p.cell[index], p.goal_count[index]
    for row in range(planes.shape[0]):
        for column in range(planes.shape[1]):
            for plane in range(planes.shape[2]):
                planes[row, column, plane] = board[row, column, plane]
    for j in range(p.cell_count[index]):
        k = int(cells[j, 0])
        row, column = s.at[k, 0] + cells[j, 1], s.at[k, 1] + cells[j, 2]
        if k == 0:
            planes[row, column, AGENT] = FULL
        elif k <= goals:
            planes[row, column, OBJECTS] = max(FULL - FADING * (k - 1), FAINTEST)
        else:
            planes[row, column, OTHERS] = FULL
        planes[row, column, JOINED_RIGHT] = FULL * ((cells[j, 3] >> 1) & 1)
        planes[row, column, JOINED_DOWN] = FULL * ((cells[j, 3] >> 3) & 1)


@kernel
def lay_tile(frame, image, top, left):
    """Copy the image of a cell into a frame."""
    size = image.shape[0]
    for y in range(size):
        for x in range(size):
            for colour in range(3):
                frame[top + y, left + x, colour] = image[y, x, colour]


@kernel
def lay_over(frame, image, opaque, top, left):
    """Copy those of its pixels that cover what is below."""
    size = image.shape[0]
    for y in range(size):
        for x in range(size):
            if opaque[y, x]:
                for colour in range(3):
                    frame[top + y, left + x, colour] = image[y, x, colour]


@kernel
def show_pixels(p, s, frame):
    index = s.puzzle_index
    ground, cells, goal_cells, size = p.ground[index], p.cell[index], p.goal_cell[index], p.tile_image.shape[1]
    down, right = int(p.shift[index, 0]), int(p.shift[index, 1])
    clear(frame)
    for row in range(ground.shape[0]):
        for column in range(ground.shape[1]):
            if ground[row, column] != NOTHING:
                lay_tile(frame, p.tile_image[ground[row, column]], down + row * size, right + column * size)
    for j in range(p.cell_count[index]):
        k = cells[j, 0]
        row, column = s.at[k, 0] + cells[j, 1], s.at[k, 1] + cells[j, 2]
        lay_tile(frame, p.tile_image[p.tile[index, j]], down + row * size, right + column * size)
    for j in range(p.goal_cell_count[index]):
        k, number = goal_cells[j, 0], p.goal_tile[index, j]
        row, column = p.goal[index, k, 0] + goal_cells[j, 1], p.goal[index, k, 1] + goal_cells[j, 2]
        lay_over(frame, p.tile_image[number], p.tile_opaque[number], down + row * size, right + column * size)


@SPEC.observe_images
def observe_images(p, s, i):
    if p.observation == SHOWS_PLANES:
        show_planes(p, s, i.planes)
    else:
        show_pixels(p, s, i.pixels)


@SPEC.python_expert
def expert(p, s, a):
    """The first move of a shortest plan; where none is found, undo, or the first move that changes something."""
    from rlenvs.single.puzzles.pushworld.solver import first_move  # compiles

    found = None if s.dead else first_move(p, int(s.puzzle_index), s.at)
    if found is None:
        allowed = [action for action in range(4) if can_move(p, s, action)]
        found = UNDO if s.remembered else allowed[0] if allowed else 0
    a[0] = found


@SPEC.draw
def draw(canvas, p, s):
    draw_puzzle(canvas, p, s)


@SPEC.text
def text(p, s):
    return puzzle_text(p, s)


@SPEC.keys
def keys(pressed, values):
    if values.undo and pressed.intersection(("u", "backspace")):
        return UNDO
    return pressed_move(pressed)
