"""Empty room: go to the green goal in the opposite corner. The simplest MiniGrid task.

## Description
An agent with a direction sees the 7 x 7 cells ahead of it, but nothing behind walls and closed doors. It turns, moves
forward, picks up and drops objects, and opens doors and boxes. The rules, numbers of cells, rewards and time limits are
MiniGrid's 3.2 (Chevalier-Boisvert et al., NeurIPS 2023). All MiniGrid environments of this package share one
implementation with the option `task`: an empty room, four rooms, a locked door with its key, a chain of rooms, a locked
room with an object to pick up, an obstructed door, rivers of lava or walls, moving balls, a memory task in a hallway.
Different: the observation is only the image; `show_direction=True` makes it a dictionary with the direction; the
mission is left out, since it is the same in every episode of a task except for a color; `scope="full"` shows the whole
grid; a seed gives another grid than there, from the same distribution; MultiRoom-N4-S5 has four rooms, and obstructed
mazes never hide a key under a ball, as in the corrected versions there.

## Action Space
turn left, turn right, go forward, pick up, drop, toggle (open, close, unlock, empty a box), done, which does nothing.
With `task="dynamic_obstacles"` only the first three exist. With `task="memory"`, pick up acts as toggle.

## Observation Space
Bytes (7, 7, 3): column from the left, row from the farthest, then kind (0 unseen, 1 empty, 2 wall, 3 floor, 4 door,
5 key, 6 ball, 7 box, 8 goal, 9 lava, 10 agent), color (0 red, 1 green, 2 blue, 3 purple, 4 yellow, 5 grey) and state
(of doors: 0 open, 1 closed, 2 locked). The agent's own cell shows what it carries. In the hallway, with `recall=True`
(`level="recall"`), it shows the object at the beginning, for policies without memory.

## Rewards
`goal` is 1 - 0.9 * steps / limit when the task is done, else 0. `collision` is -1 for moving into a ball or a wall, in
tasks with moving balls. With weight 0, as shaping rewards for training: `progress`, by how many steps the path to the
goal became shorter, around walls and lava and through doors; `subgoal`, by how much the remaining work shrank: doors to
open, keys to fetch, balls to move away from locks, boxes to open. Both are potential-based and keep the optimal policy
(Ng et al., ICML 1999): their sum is the same for every path that completes the task. They are 0 in a step that ends in
lava or in a collision.

## Costs
`danger`: 1 for stepping into lava, or into a ball or a wall in tasks with moving balls.

## Starting State
The agent is in the upper left corner or on a random cell, depending on the task.

## Episode End
Termination: on the goal or after picking up the target object (a success); in lava; at the wrong object of the hallway;
at a collision. Truncation: at a step limit that depends on the task and the size, and also enters the reward.

## Parameters
Options that a task does not use have no effect.

## Reference Scores
Mean return over seeds 0 to 99. The expert knows the whole grid and searches for shortest paths.

## Version History
v0: first version.
"""

from typing import Any

import numpy as np

from rlenvs.core import (
    below,
    choice,
    discrete,
    flag,
    i1,
    i2,
    i4,
    image,
    integer,
    kernel,
    term,
    u1,
    world,
)
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.gridworld.cells import GOAL, LAVA, NOTHING, cell_at, kind_of, look, look_from_above
from rlenvs.kits.gridworld.render import draw_grid, grid_text, legend_of
from rlenvs.kits.gridworld.rules import ACTIONS, FORWARD, PICK_UP, TOGGLE, act, ahead_of
from rlenvs.single.exploration.minigrid_members import DANGER, MEMBERS
from rlenvs.single.exploration.rooms import (
    DYNAMIC,
    EMPTY_ROOM,
    LARGEST,
    MEMORY,
    MISSIONS,
    MOST_BALLS,
    MOST_ROOMS,
    RIVER,
    TASK,
    grid_sizes,
    make_grid,
    usual_steps,
)
from rlenvs.single.exploration.rooms_expert import advised
from rlenvs.single.exploration.rooms_shaping import begin_potentials, steps_left, things_left

SCOPE = choice("partial", "full", doc="what is observed: the cells ahead of the agent, or the whole grid")
(PARTIAL,) = SCOPE.codes("partial")


def sizes(values: Any) -> dict[str, int]:
    width, height = grid_sizes(values)
    if values.view_size % 2 == 0:
        raise ParameterError(f"view_size={values.view_size} is even; take {values.view_size + 1}")
    pad, whole = values.view_size, values.scope == "full"
    return {
        "width": width,
        "height": height,
        "area": (width + 2 * pad) * (height + 2 * pad),
        "poses": 4 * (width + 2 * pad) * (height + 2 * pad),
        "seen_columns": width if whole else values.view_size,
        "seen_rows": height if whole else values.view_size,
        "compass": int(values.show_direction),
    }


def actions(values: Any) -> Any:
    return discrete(*ACTIONS[: 3 if values.task == "dynamic_obstacles" else 7], idle=0)


SPEC = world(
    "MiniGridEmpty8x8-v0",
    doc=__doc__,
    source="MiniGrid 3.2 (Chevalier-Boisvert et al., NeurIPS 2023)",
    options={
        "task": TASK,
        "grid_size": integer(
            8, 5, LARGEST, "columns and rows of the grid; rounded up for tasks that need more, or an odd number"
        ),
        "view_size": integer(7, 3, 15, "columns and rows of the view, an odd number"),
        "scope": SCOPE,
        "show_direction": flag(False, "whether the observation is a dictionary, with the direction"),
        "random_start": flag(
            False,
            "whether the agent starts on a random cell, in the empty room and with moving balls; in the hallway, "
            "whether it faces a random direction",
        ),
        "rooms": integer(6, 2, MOST_ROOMS, 'length of the chain, for task="multi_room"'),
        "largest_room": integer(10, 4, 12, 'longest side of a room, for task="multi_room"'),
        "crossings": integer(1, 1, 16, 'number of rivers, for task="crossing"'),
        "river": RIVER,
        "balls": integer(
            4, 1, MOST_BALLS, 'number of moving balls, for task="dynamic_obstacles"; at most size / 2 + 1'
        ),
        "key_in_box": flag(False, 'whether a box hides the key, for task="obstructed_maze"'),
        "blocked": flag(False, 'whether a ball is in front of the door, for task="obstructed_maze"'),
        "quarters": integer(
            0,
            0,
            4,
            'quarters of the nine rooms that have doors, for task="obstructed_maze"; 0 for the maze of two rooms',
        ),
        "start_in_middle": flag(
            False, 'whether the agent starts in the middle room of the nine, not next to it, for task="obstructed_maze"'
        ),
        "random_length": flag(False, 'whether the hallway has a random length, for task="memory"'),
        "recall": flag(
            False,
            "whether the agent's own cell shows the object at the beginning of the hallway, as if it was carried, for "
            'task="memory"',
        ),
    },
    sizes=sizes,
    data={"pad": i4, "stride": i4, "width": i4, "height": i4},
    state={
        "cell": i4.index_of("area"),  # the agent's
        "direction": i4.within(0, 3),
        "carried": i4,  # 0 for an empty hand
        "wanted": i4,  # what to pick up
        "right_end": i4,  # of the hallway
        "wrong_end": i4,
        "balls": i4.up_to(MOST_BALLS),
        "ball": i4(MOST_BALLS).index_of("area"),  # cells of balls that move
        "grid": i2("area"),
        "chain": i4(MOST_ROOMS, 6),
        "far": i2("area"),  # steps from each cell to the aim, but in an open room
        "things_left": i4,  # to be done before ways are open
        "plan": i4(MOST_ROOMS, 6),  # from here on scratch
        "lines": u1(2, LARGEST),
        "avoid": i4,
        "queue": i4("poses"),
        "first": i1("poses"),
        "mark": u1("area"),
        "line": i4("area"),
    },
    scratch=("avoid", "queue", "first", "mark", "line"),
    expert_sees="state",
    observation={},
    images={
        "image": image("seen_columns", "seen_rows", 3, doc="kind, color and state of each cell"),
        "direction": image("compass", "compass", 1, doc="0 right, 1 down, 2 left, 3 up"),
    },
    action=actions,
    terms={
        "goal": term(0.0, 1.0, 1.0, "1 - 0.9 * steps / limit when the task is done"),
        "collision": term(-1.0, 0.0, 1.0, "-1 for moving into a ball or a wall, in tasks with moving balls"),
        "progress": term(-1.0, 1.0, 0.0, "by how many steps the path to the goal became shorter"),
        "subgoal": term(-4.0, 36.0, 0.0, "progress in opening doors and boxes, fetching keys and moving balls away"),
    },
    costs={"danger": DANGER},
    horizon=usual_steps,
    fps=5,
    same_start=True,
)


@SPEC.state_fault
def state_fault(p, s):
    inside = np.zeros(s.grid.size, bool)
    for x in range(p.width):
        inside[cell_at(p, x, 0) : cell_at(p, x, p.height)] = True
    if not inside[s.cell]:
        return "the agent is outside"
    return "something lies outside" if s.grid[~inside].any() else ""


@SPEC.make_data
def data(values):
    width, height = grid_sizes(values)
    return {"pad": values.view_size, "stride": height + 2 * values.view_size, "width": width, "height": height}


@SPEC.reset
def reset(p, s, rng):
    make_grid(p, s, rng)
    begin_potentials(p, s)


@kernel
def move_balls(p, s, rng):
    """Each ball goes to a random empty cell around it; to none when 100 draws find none."""
    for k in range(s.balls):
        ball = s.ball[k]
        for _ in range(100):
            to = ball + (below(rng, 3) - 1) * p.stride + below(rng, 3) - 1
            if s.grid[to] == NOTHING and to != s.cell:
                s.grid[to] = s.grid[ball]
                s.grid[ball] = NOTHING
                s.ball[k] = to
                break


@SPEC.step
def step(p, s, a, rng, r):
    action = a
    pay = 1.0 - 0.9 * (s.elapsed + 1) / p.horizon
    if p.task == DYNAMIC:
        front = s.grid[ahead_of(p, s.cell, s.direction)]
        in_the_way = front != NOTHING and kind_of(front) != GOAL
        move_balls(p, s, rng)
        if action == FORWARD and in_the_way:
            act(p, s, action)
            r.collision = -1.0
            r.danger = 1.0
            r.terminated = True
            return
    if p.task == MEMORY and action == PICK_UP:
        action = TOGGLE
    far, ahead = steps_left(p, s, s.cell), ahead_of(p, s.cell, s.direction)
    there = s.grid[ahead]
    entered = kind_of(act(p, s, action))
    if s.grid[ahead] != there:
        left = things_left(p, s)
        r.subgoal = float(s.things_left - left)
        s.things_left = left
    if entered != LAVA:
        r.progress = float(far - steps_left(p, s, s.cell))
    done = entered == GOAL or (action == PICK_UP and s.wanted != 0 and s.carried == s.wanted)
    if p.task == MEMORY:
        done = s.cell == s.right_end
        r.terminated = s.cell == s.wrong_end
    if entered == LAVA:
        r.danger = 1.0
        r.terminated = True
    if done:
        r.subgoal += float(s.things_left)  # nothing is left to be done
        r.goal = pay
        r.success = True
        r.terminated = True


@kernel
def shown_in_hand(p, s):
    """What the agent's own cell shows: what is carried, or the object to be remembered, which cannot be."""
    return s.grid[cell_at(p, 1, p.height // 2 - 1)] if p.recall and p.task == MEMORY else s.carried


@SPEC.observe_images
def observe_images(p, s, i):
    if p.scope == PARTIAL:
        through = p.task == EMPTY_ROOM or p.task == DYNAMIC
        look(s.grid, s.cell, p.stride, s.direction, shown_in_hand(p, s), through, i.image)
    else:
        look_from_above(s.grid, p.pad, p.stride, s.cell, s.direction, i.image)
    if p.show_direction:
        i.direction[0, 0, 0] = s.direction


@SPEC.expert
def expert(p, s, a):
    a[0] = advised(p, s)


def cells_of(p: Any, padded: Any) -> np.ndarray:
    """What lies on the grid of a padded array, (columns, rows)."""
    pad = int(p.pad)
    return np.asarray(padded).reshape(-1, int(p.stride))[pad:-pad, pad:-pad]


def place_of(p: Any, cell: Any) -> tuple[int, int]:
    """Column and row of a cell."""
    x, y = divmod(int(cell), int(p.stride))
    return x - int(p.pad), y - int(p.pad)


def seen_cells(p: Any, s: Any) -> np.ndarray:
    """Which cells are in view, (columns, rows)."""
    size = int(p.pad)
    marks, view = np.arange(s.grid.size), np.zeros((size, size, 3), np.uint8)
    through = int(p.task) in (EMPTY_ROOM, DYNAMIC)
    look(s.grid, int(s.cell), int(p.stride), int(s.direction), 0, through, view)
    seen = np.zeros(s.grid.size, bool)
    ahead = ahead_of(p, 0, int(s.direction))
    right = ahead_of(p, 0, (int(s.direction) + 1) % 4)
    for column in range(size):
        for row in range(size):
            cell = int(s.cell) + ahead * (size - 1 - row) + right * (column - size // 2)
            seen[marks[cell]] = view[column, row, 0] > 0
    return cells_of(p, seen)


@SPEC.draw
def draw(canvas, p, s):
    canvas.caption(MISSIONS[TASK.values[int(p.task)]])
    cells = cells_of(p, s.grid)
    canvas.legend(*legend_of(cells))
    draw_grid(canvas, cells, seen_cells(p, s), place_of(p, s.cell), int(s.direction), int(s.carried))


@SPEC.text
def text(p, s):
    return grid_text(cells_of(p, s.grid), place_of(p, s.cell), int(s.direction))


@SPEC.keys
def keys(pressed, values):
    for action, key in enumerate(("left", "right", "up", "p", "d", "space")):
        if key in pressed:
            return action if action < 3 or values.task != "dynamic_obstacles" else None
    return None if values.task == "dynamic_obstacles" else 6


for name, row in MEMBERS.items():
    SPEC.member(name, **row)
