"""Karel: find the marker in a maze, by single actions or by whole programs.

## Description
Karel is a robot on a grid of walls and markers. It sees whether the next cell ahead, to its left and to its right is
clear, and whether there are markers on its own, and moves, turns, picks and puts markers. These are the tasks of
LEAPS (Trivedi et al., NeurIPS 2021) and HPRL (Liu et al., ICML 2023), which look for programs of the Karel language
that solve them. All Karel environments of this package share one implementation with the option `task`:

| task | to do |
|---|---|
| stair_climber | climb stairs to the marker |
| four_corners | put one marker in each corner, and none elsewhere |
| top_off | put a second marker on each one in the bottom row, then go to the end of the row |
| maze | find the marker in a random maze |
| clean_house | pick the ten markers that lie along the walls of a house of 14 x 22 cells |
| harvester | pick the markers of all cells |
| door_key | pick the marker in the left room, which opens the door, and put one on the marker in the right room |
| one_stroke | visit all cells, each of which becomes a wall when Karel leaves it |
| seeder | put a marker on each cell |
| snake | eat 20 markers, and stay out of a tail of two cells that grows with each |

Different from HPRL: `reward="sparse"` pays 1 for a task that is solved (there the last step of FourCorners pays 0.25,
and a lost Seeder 1); in OneStroke and Harvester an action counts at once, there with the next one; a marker that does
not fit is never put, there one put on CleanHouse's two markers leaves one; programs may have numbers from 0 to 19, as
in LEAPS, there from 2 to 5; rewards of a program are added up, there averaged in StairClimber. A seed gives another
start than there, from the same distribution.

## Action Space
move, turnLeft, turnRight, pickMarker, putMarker.

With `actions="program"` an action is a whole program: `program_length` tokens, each a number from 0 to 50 (HPRL has
at most 40). The expert's programs have up to 62 tokens, those of OneStroke and DoorKey 75 and 182.

    from rlenvs.single.karel.language import encode
    env = gymnasium.make("rlenvs/KarelMaze-v0", actions="program")
    env.reset(seed=0)
    env.step(encode("DEF run m( WHILE c( frontIsClear c) w( move w) m)", length=64))

`rlenvs/single/karel/language.py` has the grammar and the tokens. A step runs the program until it ends, the episode
ends, or it has made more than `calls` calls, counted as HPRL's interpreter does. A row of tokens that is no program
does nothing. `rlenvs.text_env` takes the actions' names, or programs in words.

## Observation Space
The grid (rows, columns, 8), 0 or 1: Karel facing north, east, south, west; wall; no marker, one marker, two markers.
The snake's tail has two. With `observation="perceptions"` what Karel's five perceptions say.

## Rewards
`progress` is the change of the share of the task that is done, from 0 to 1: markers picked or put, corners, cells,
meals; in TopOff the columns that are right, up to Karel's, and the end of the row; in DoorKey one half each for key
and door, less 0.0001 for each marked cell beyond two; in StairClimber and the maze the share of the distance (without
walls) that Karel has gone. Beside the stairs an action pays minus one cell. `solved` is 1 when the task is solved.
`reward="dense"` pays the first, "sparse" the second, which is the default of StairClimber, TopOff and the maze, as in
HPRL. The dense reward of the maze is that of Carvalho et al. (ICLR 2024). `syntax` is -1 for tokens that are no
program.

## Costs
`crash`: moves into walls, markers picked where there are none, and put where no more fit (two in TopOff, DoorKey and
Seeder, else one).

## Starting State
Karel faces east; in CleanHouse south, in FourCorners along a wall. Drawn are: the maze and the place of its marker; two
of the steps; one of eight places beside corners; markers in the bottom row; ten places beside walls of the house; the
places of Karel, key and second marker; Karel's cell in OneStroke. Harvester and Seeder begin in the lower left
corner, and the snake finds its meals in HPRL's order. With `random_start=True` they begin on any cell, in any
direction, and meals are drawn, as always on other sizes than 8 x 8.

## Episode End
Termination: the task is solved (a success), or lost: a marker beside the corners, two on a cell of Seeder, a move into
a wall in OneStroke, into its tail as a snake; with `crash="end"` any crash. Truncation: 3 actions for each cell of
the grid (Snake: 16), or 5 programs.

## Parameters
Options that a task does not use have no effect.

## Reference Scores
Mean return over seeds 0 to 99. The expert follows a program for each task (`rlenvs/single/karel/programs.py`), begins
it anew when it is over or another action than its own was taken, and turns left where it has no action. It follows any
other program as well, which is how programs are measured as policies:

    program = "DEF run m( IFELSE c( frontIsClear c) i( move i) ELSE e( turnRight e) m)"
    rlenvs.evaluate("KarelMaze-v0", "expert", expert_program=program)

## Version History
v0: first version.
"""

import numpy as np

from rlenvs.core import (
    block,
    choice,
    cost,
    data_option,
    discrete,
    f8,
    flag,
    i1,
    i2,
    i4,
    integer,
    json_option,
    kernel,
    multi_discrete,
    term,
    u1,
    world,
)
from rlenvs.single.karel import maps
from rlenvs.single.karel.language import CALLS, PLACE, TOKENS, next_action, parse_program, read_program, read_words
from rlenvs.single.karel.members import MEMBERS
from rlenvs.single.karel.pictures import draw_world, grid_text
from rlenvs.single.karel.rules import ACTIONS, CRASH, TASK, TURN_LEFT, perceives
from rlenvs.single.karel.scoring import perform
from rlenvs.single.karel.starts import begin
from rlenvs.single.karel.words import describe_world, read_reply

SMALLEST, LARGEST = 5, 22
GUIDE_CALLS = 500
PROGRAMS = 5  # in an episode, as in HPRL
WORD = discrete(*(token if token else "nothing" for token in TOKENS))


def action(values):
    if values.actions == "primitives":
        return discrete(*ACTIONS, idle=TURN_LEFT)
    return multi_discrete({f"token {j + 1}": WORD for j in range(values.program_length)}, doc="the tokens of a program")


def usual_steps(values):
    """The time limit."""
    rows, columns = maps.size_of(values)
    cells = rows * columns
    return PROGRAMS if values.actions == "program" else cells * (16 if values.task == "snake" else 3)


SPEC = world(
    "KarelMaze-v0",
    doc=__doc__,
    source="HPRL (Liu et al., ICML 2023, arXiv 2301.12950); LEAPS (Trivedi et al., NeurIPS 2021)",
    options={
        "task": TASK,
        "rows": integer(
            maps.USUAL,
            SMALLEST,
            LARGEST,
            "rows, walls included; of the house always 14, for the snake at least 7",
        ),
        "columns": integer(
            maps.USUAL, SMALLEST, LARGEST, "columns; of the house always 22, for the snake at least 8, an even number"
        ),
        "actions": data_option(choice("primitives", "program", doc="one of Karel's actions, or a program")),
        "program_length": data_option(integer(64, 5, 200, "tokens of a program, at most")),
        "expert_program": data_option(
            json_option("", parse_program, 'the program that the expert follows, in words; "" for the task\'s own')
        ),
        "calls": integer(500, 1, 100_000, "calls after which a program is stopped"),
        "observation": data_option(choice("grid", "perceptions", doc="all cells, or Karel's five perceptions")),
        "reward": choice(
            "sparse",
            "dense",
            doc="1 at the end, or the change of what is done",
            sets={"sparse": {"progress": 0.0, "solved": 1.0}, "dense": {"progress": 1.0, "solved": 0.0}},
        ),
        "crash": CRASH,
        "marker_percent": integer(25, 0, 100, "chance of a marker on a cell of the bottom row in TopOff"),
        "random_start": flag(False, "whether Harvester, Seeder and Snake begin at random, too"),
    },
    sizes=maps.sizes,
    data={
        "plan": u1("height", "width"),
        "path": u1("height", "width"),
        "starts": i2("starts", 3),
        "places": i2("places", 2),
        "meals": i2("meals"),
        "litter": i4,
        "capacity": i4,  # markers on a cell
        "guide": i2("guide_tokens"),
        "guide_code": i2("guide_tokens", 2),
    },
    state={
        "wall": u1("height", "width").within(0, 1),
        "markers": u1("height", "width").within(0, 2),
        "wanted": u1("height", "width").within(0, 1),  # where markers lay at the start, in TopOff and CleanHouse
        "row": i2.index_of("height"),
        "column": i2.index_of("width"),
        "direction": i1.within(0, 3),
        "goal_row": i2.index_of("height"),
        "goal_column": i2.index_of("width"),
        "key_row": i2.index_of("height"),
        "key_column": i2.index_of("width"),
        "far": i4.within(0, 2 * LARGEST),  # from the start to the goal
        "marked": i4,  # cells with markers
        "visited": i4,
        "progress": f8,
        "length": i4.within(0, 22),
        "segments": i4.within(0, 22),
        "body": i2("body").index_of("cells"),  # of the snake, from its tail
        "bitten": u1.within(0, 1),
        "next_meal": i4.up_to("meals"),
        "advised": i1.within(0, 4),
        "run": i4(2).within(0, 2**30),
        "left": i2("run_tokens"),  # rounds of the program's loops
        "code": i2("program_tokens", 2),
        "stack": i2("cells"),
        "ways": u1(4),
    },
    scratch=("stack", "ways"),
    expert_sees="state",
    observation={
        "grid": block(
            *("seen_rows", "seen_columns", 8),
            low=0.0,
            high=1.0,
            raw=True,
            whole=True,
            constant=True,
            doc="Karel facing north, east, south, west; wall; no marker, one, two",
        ),
        "perceptions": block("percepts", low=0.0, high=1.0, raw=True, whole=True, constant=True, doc="what Karel sees"),
    },
    action=action,
    terms={
        "progress": term(-1e5, 1e2, 0.0, "change of the share of the task that is done"),
        "solved": term(0.0, 1.0, 1.0, "1 when the task is solved"),
        "syntax": term(-1.0, 0.0, 0.001, "-1 for a row of tokens that is no program"),
    },
    costs={"crash": cost(0.0, doc="moves into walls, markers picked where none is and put where no more fit")},
    horizon=usual_steps,
    fps=8,
    levels={"dense": {"reward": "dense"}, "large": {"rows": 14, "columns": 14}},
)


@SPEC.make_data
def data(values):
    tokens = np.array(read_words(maps.guide_of(values)), np.int64)
    code = np.zeros((len(tokens), 2), np.int64)
    read_program(tokens, code)
    return {
        "plan": maps.wall_of(values),
        "path": maps.path_of(values),
        "starts": np.array(maps.starts_of(values)),
        "places": np.array(maps.places_of(values)).reshape(-1, 2),
        "meals": np.array(maps.meals_of(values)),
        "litter": maps.LITTER,
        "capacity": 2 if values.task in ("top_off", "door_key", "seeder") else 1,
        "guide": tokens,
        "guide_code": code,
    }


@SPEC.state_fault
def state_fault(p, s):
    rows, columns = s.wall.shape
    border = s.wall[0].all() and s.wall[rows - 1].all() and s.wall[:, 0].all() and s.wall[:, columns - 1].all()
    if not border:
        return "the border is not wall"
    if s.row in (0, rows - 1) or s.column in (0, columns - 1):
        return "Karel is on the border"
    return ""


@kernel
def ask_guide(p, s):
    """What the expert's program does next; from its beginning where it is over, or stuck."""
    for _ in range(2):
        s.run[CALLS] = 0
        action = next_action(s, p.guide, p.guide_code, s.left, s.run, GUIDE_CALLS)
        if action >= 0:
            s.advised = action
            return
        s.run[PLACE] = 0
    s.advised = TURN_LEFT


@SPEC.reset
def reset(p, s, rng):
    begin(p, s, rng)
    if s.code.shape[0] == 0:
        ask_guide(p, s)


@kernel
def run_program(p, s, tokens, rng, r):
    """Read a program, and run it."""
    if read_program(tokens, s.code) <= 0:
        r.syntax = -1.0
        return
    s.run[PLACE], s.run[CALLS] = 0, 0
    while not r.terminated:
        action = next_action(s, tokens, s.code, s.left, s.run, p.calls)
        if action < 0:
            return
        perform(p, s, action, rng, r)


@SPEC.step
def step(p, s, a, rng, r):
    if isinstance(a, (int, np.int64)):
        perform(p, s, a, rng, r)
        if a != s.advised:
            s.run[PLACE] = 0
        ask_guide(p, s)
    else:
        run_program(p, s, a, rng, r)


@SPEC.observe
def observe(p, s, o):
    for row in range(o.grid.shape[0]):
        for column in range(o.grid.shape[1]):
            for k in range(8):
                o.grid[row, column, k] = 0.0
            o.grid[row, column, 4] = s.wall[row, column]
            o.grid[row, column, 5 + s.markers[row, column]] = 1.0
    if o.grid.shape[0] > 0:
        o.grid[s.row, s.column, s.direction] = 1.0
    for k in range(o.perceptions.shape[0]):
        o.perceptions[k] = 1.0 if perceives(s, k) else 0.0


@SPEC.expert
def expert(p, s, a):
    if s.code.shape[0] == 0:
        a[0] = s.advised
        return
    for j in range(a.size):
        a[j] = p.guide[j] if j < p.guide.size else 0


SPEC.draw(draw_world)
SPEC.text(grid_text)
SPEC.describe(describe_world)
SPEC.parse_action(read_reply, free=True)


@SPEC.keys
def keys(pressed, values):
    if values.actions == "program":
        return None
    return next((action for action, key in enumerate(("up", "left", "right", "p", "d")) if key in pressed), None)


for name, row in MEMBERS.items():
    SPEC.member(name, **row)
