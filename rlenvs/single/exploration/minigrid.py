"""Empty room: go to the green goal in the opposite corner. The simplest of the MiniGrid worlds.

## Description
An agent with a direction sees 7 x 7 cells ahead of it, but nothing behind walls and closed doors. It turns, goes, picks
up and drops objects, opens doors and boxes. The rules, numbers of cells, rewards and time limits are MiniGrid's 3.2
(Chevalier-Boisvert et al., NeurIPS 2023). All MiniGrid worlds of this package are one kind with the option `task`:
an empty room, four rooms, a locked door with its key, a chain of rooms, a locked room with something to pick up, an
obstructed door, rivers of lava or walls, balls that move, a hallway to be remembered. Different: the observation is the
image alone, `show_direction=True` makes it a dictionary with the direction; the mission, which is the same in every
episode of a task but for a colour, is no part of it; `scope="full"` shows the whole grid; episodes have other grids
than the same seed has there, from the same distribution; MultiRoom-N4-S5 has the four rooms of its corrected version.

## Action Space
turn left, turn right, go forward, pick up, drop, toggle (open, close, unlock, empty a box), done, which does nothing.
With `task="dynamic_obstacles"` only the first three. With `task="memory"`, to pick up is to toggle.

## Observation Space
Bytes (7, 7, 3): column from the left, row from the farthest, then kind (0 unseen, 1 empty, 2 wall, 3 floor, 4 door,
5 key, 6 ball, 7 box, 8 goal, 9 lava, 10 agent), colour (0 red, 1 green, 2 blue, 3 purple, 4 yellow, 5 grey) and state
(of doors: 0 open, 1 closed, 2 locked). The agent's own cell shows what it carries.

## Rewards
`goal` is 1 - 0.9 * steps / limit when the task is done, else 0. `collision` is -1 for going towards a ball or a wall,
where balls move.

## Costs
`danger`: 1 for stepping into lava, or against a ball or a wall where balls move.

## Starting State
The agent in the upper left corner, or on a random cell, as the task says.

## Episode End
Termination: on the goal, or with the wanted object in the hand, a success; in lava, at the wrong end of the hallway,
at a collision. Truncation: at the limit, which depends on the task and the size, and is also that of the reward.

## Parameters
Options that a task does not use have no effect.

## Reference Scores
Mean return over seeds 0 to 99. The expert knows the whole grid and searches for shortest ways.

## Version History
v0: first version.
"""

from typing import Any

import numpy as np

from rlenvs.core import (
    Score,
    below,
    choice,
    cost,
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
from rlenvs.core.errors import ParameterError
from rlenvs.kits.gridworld.cells import GOAL, LAVA, NOTHING, kind_of, look, look_from_above
from rlenvs.kits.gridworld.render import draw_grid, grid_text
from rlenvs.kits.gridworld.rules import ACTIONS, FORWARD, PICK_UP, TOGGLE, act, ahead_of
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

SCOPE = choice("partial", "full", doc="what is seen: the cells ahead of the agent, or the whole grid")
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
            8, 5, LARGEST, "columns and rows of the grid; tasks that need more, or an odd number, take the next"
        ),
        "view_size": integer(7, 3, 15, "columns and rows that are seen, an odd number"),
        "scope": SCOPE,
        "show_direction": flag(False, "whether the observation is a dictionary, with the direction"),
        "random_start": flag(False, "whether the agent starts anywhere, in the empty room and where balls move"),
        "rooms": integer(6, 2, MOST_ROOMS, 'length of the chain, for task="multi_room"'),
        "largest_room": integer(10, 4, 12, 'longest side of a room, for task="multi_room"'),
        "crossings": integer(1, 1, 16, 'how many rivers there are, for task="crossing"'),
        "river": RIVER,
        "balls": integer(4, 1, MOST_BALLS, 'how many balls move, for task="dynamic_obstacles"; at most size / 2 + 1'),
        "key_in_box": flag(False, 'whether a box hides the key, for task="obstructed_maze"'),
        "blocked": flag(False, 'whether a ball is in front of the door, for task="obstructed_maze"'),
        "random_length": flag(False, 'whether the hallway has a random length, for task="memory"'),
    },
    sizes=sizes,
    data={"pad": i4, "stride": i4, "width": i4, "height": i4},
    state={
        "cell": i4,  # the agent's
        "direction": i4,
        "carried": i4,  # 0 for an empty hand
        "wanted": i4,  # what to pick up
        "right_end": i4,  # of the hallway
        "wrong_end": i4,
        "balls": i4,
        "ball": i4(MOST_BALLS),  # cells of balls that move
        "grid": i2("area"),
        "chain": i4(MOST_ROOMS, 6),
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
        "image": image("seen_columns", "seen_rows", 3, doc="kind, colour and state of each cell"),
        "direction": image("compass", "compass", 1, doc="0 right, 1 down, 2 left, 3 up"),
    },
    action=actions,
    terms={
        "goal": term(0.0, 1.0, 1.0, "1 - 0.9 * steps / limit when the task is done"),
        "collision": term(-1.0, 0.0, 1.0, "-1 for going against a ball or a wall, where balls move"),
    },
    costs={"danger": cost(0.0, doc="1 for lava, and for collisions where balls move")},
    horizon=usual_steps,
    fps=5,
    same_start=True,
    scores={
        "random": Score(0.1131, 0.039, success=0.3, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9613, 0, success=1, costs={"danger": 0}),
    },
)


@SPEC.make_data
def data(values):
    width, height = grid_sizes(values)
    return {"pad": values.view_size, "stride": height + 2 * values.view_size, "width": width, "height": height}


@SPEC.reset
def reset(p, s, rng):
    make_grid(p, s, rng)


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
    entered = kind_of(act(p, s, action))
    done = entered == GOAL or (action == PICK_UP and s.wanted != 0 and s.carried == s.wanted)
    if p.task == MEMORY:
        done = s.cell == s.right_end
        r.terminated = s.cell == s.wrong_end
    if entered == LAVA:
        r.danger = 1.0
        r.terminated = True
    if done:
        r.goal = pay
        r.success = True
        r.terminated = True


@SPEC.observe_images
def observe_images(p, s, i):
    if p.scope == PARTIAL:
        through = p.task == EMPTY_ROOM or p.task == DYNAMIC
        look(s.grid, s.cell, p.stride, s.direction, s.carried, through, i.image)
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
    canvas.legend(("red", "agent", "triangle"), ("green", "goal"), ((84, 90, 100), "seen"), ((38, 42, 48), "not seen"))
    draw_grid(canvas, cells_of(p, s.grid), seen_cells(p, s), place_of(p, s.cell), int(s.direction), int(s.carried))


@SPEC.text
def text(p, s):
    return grid_text(cells_of(p, s.grid), place_of(p, s.cell), int(s.direction))


@SPEC.keys
def keys(pressed, values):
    for action, key in enumerate(("left", "right", "up", "p", "d", "space")):
        if key in pressed:
            return action if action < 3 or values.task != "dynamic_obstacles" else None
    return None if values.task == "dynamic_obstacles" else 6


# --- members ----------------------------------------------------------------------------------------------------------

RANDOM: dict[str, Any] = {"same_start": False, "starts": 0}
CORNER = "Empty room of {0} x {0} cells: go to the green goal in the opposite corner."
SPEC.member(
    "MiniGridEmpty5x5-v0",
    CORNER.format(5),
    grid_size=5,
    scores={
        "random": Score(0.216, 0.057, success=0.45, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.955, 0, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridEmptyRandom5x5-v0",
    "Empty room of 5 x 5 cells with a random start.",
    grid_size=5,
    random_start=True,
    **RANDOM,
    scores={
        "random": Score(0.3106, 0.07, success=0.52, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9686, 0.0022, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridEmpty6x6-v0",
    CORNER.format(6),
    grid_size=6,
    scores={
        "random": Score(0.1764, 0.051, success=0.4, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9563, 0, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridEmptyRandom6x6-v0",
    "Empty room of 6 x 6 cells with a random start.",
    grid_size=6,
    random_start=True,
    **RANDOM,
    scores={
        "random": Score(0.2474, 0.064, success=0.43, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9717, 0.002, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridEmpty16x16-v0",
    CORNER.format(16),
    grid_size=16,
    scores={
        "random": Score(0.03163, 0.025, success=0.07, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9763, 0, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridFourRooms-v0",
    "Four rooms, joined by gaps: reach a goal somewhere in them.",
    task="four_rooms",
    grid_size=19,
    **RANDOM,
    scores={
        "random": Score(0.01867, 0.019, success=0.04, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.8589, 0.013, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridDoorKey5x5-v0",
    "Door and key, 5 x 5 cells: fetch the key, unlock the door, go to the goal.",
    task="door_key",
    grid_size=5,
    **RANDOM,
    scores={
        "random": Score(0.04352, 0.027, success=0.1, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9643, 0.0012, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridDoorKey6x6-v0",
    "Door and key, 6 x 6 cells: fetch the key, unlock the door, go to the goal.",
    task="door_key",
    grid_size=6,
    **RANDOM,
    scores={
        "random": Score(0.00125, 0.0024, success=0.01, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9685, 0.00094, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridDoorKey8x8-v0",
    "Door and key, 8 x 8 cells: fetch the key, unlock the door, go to the goal.",
    task="door_key",
    grid_size=8,
    **RANDOM,
    scores={
        "random": Score(0.007906, 0.011, success=0.02, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9761, 0.00081, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridDoorKey16x16-v0",
    "Door and key, 16 x 16 cells: fetch the key, unlock the door, go to the goal.",
    task="door_key",
    grid_size=16,
    **RANDOM,
    scores={
        "random": Score(0, 0, success=0, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9875, 0.0005, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridMultiRoomN2S4-v0",
    "Two small rooms with a door between them, and a goal in the second.",
    task="multi_room",
    grid_size=25,
    rooms=2,
    largest_room=4,
    **RANDOM,
    scores={
        "random": Score(0.02583, 0.026, success=0.04, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.8486, 0.008, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridMultiRoomN4S5-v0",
    "Four small rooms in a chain of doors, and a goal in the last.",
    task="multi_room",
    grid_size=25,
    rooms=4,
    largest_room=5,
    **RANDOM,
    scores={
        "random": Score(0, 0, success=0, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.7701, 0.0061, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridMultiRoomN6-v0",
    "Six rooms in a chain of doors, and a goal in the last.",
    task="multi_room",
    grid_size=25,
    rooms=6,
    **RANDOM,
    scores={
        "random": Score(0, 0, success=0, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.6531, 0.008, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridUnlockPickup-v0",
    "Unlock and pick up: fetch the key, unlock the door, take the box behind it.",
    task="unlock_pickup",
    **RANDOM,
    scores={
        "random": Score(0, 0, success=0, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9444, 0.0016, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridObstructedMaze1Dl-v0",
    "Obstructed maze with one locked door: fetch the key, take the blue ball.",
    task="obstructed_maze",
    **RANDOM,
    scores={
        "random": Score(0, 0, success=0, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.943, 0.0018, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridObstructedMaze1Dlh-v0",
    "Obstructed maze with one locked door, whose key is hidden in a box.",
    task="obstructed_maze",
    key_in_box=True,
    **RANDOM,
    scores={
        "random": Score(0, 0, success=0, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9399, 0.0018, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridObstructedMaze1Dlhb-v0",
    "Obstructed maze with one locked door, its key in a box, and a ball in front of it.",
    task="obstructed_maze",
    key_in_box=True,
    blocked=True,
    **RANDOM,
    scores={
        "random": Score(0, 0, success=0, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9159, 0.0025, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridLavaCrossingS9N1-v0",
    "Lava crossing, 9 x 9 cells: find the gaps in 1 river of lava.",
    task="crossing",
    grid_size=9,
    crossings=1,
    river="lava",
    **RANDOM,
    scores={
        "random": Score(0, 0, success=0, costs={"danger": 0.88}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9606, 0.00035, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridLavaCrossingS9N2-v0",
    "Lava crossing, 9 x 9 cells: find the gaps in 2 rivers of lava.",
    task="crossing",
    grid_size=9,
    crossings=2,
    river="lava",
    **RANDOM,
    scores={
        "random": Score(0.006, 0.012, success=0.01, costs={"danger": 0.96}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9549, 0.0019, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridLavaCrossingS9N3-v0",
    "Lava crossing, 9 x 9 cells: find the gaps in 3 rivers of lava.",
    task="crossing",
    grid_size=9,
    crossings=3,
    river="lava",
    **RANDOM,
    scores={
        "random": Score(0, 0, success=0, costs={"danger": 1}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9551, 0.0016, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridLavaCrossingS11N5-v0",
    "Lava crossing, 11 x 11 cells: find the gaps in 5 rivers of lava.",
    task="crossing",
    grid_size=11,
    crossings=5,
    river="lava",
    **RANDOM,
    scores={
        "random": Score(0, 0, success=0, costs={"danger": 1}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9593, 0.0014, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridSimpleCrossingS9N1-v0",
    "Simple crossing, 9 x 9 cells: find the gaps in 1 wall.",
    task="crossing",
    grid_size=9,
    crossings=1,
    river="wall",
    **RANDOM,
    scores={
        "random": Score(0.01847, 0.013, success=0.08, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9606, 0.00035, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridSimpleCrossingS9N2-v0",
    "Simple crossing, 9 x 9 cells: find the gaps in 2 walls.",
    task="crossing",
    grid_size=9,
    crossings=2,
    river="wall",
    **RANDOM,
    scores={
        "random": Score(0.03347, 0.026, success=0.07, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9549, 0.0019, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridSimpleCrossingS9N3-v0",
    "Simple crossing, 9 x 9 cells: find the gaps in 3 walls.",
    task="crossing",
    grid_size=9,
    crossings=3,
    river="wall",
    **RANDOM,
    scores={
        "random": Score(0.006417, 0.0087, success=0.03, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9551, 0.0016, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridSimpleCrossingS11N5-v0",
    "Simple crossing, 11 x 11 cells: find the gaps in 5 walls.",
    task="crossing",
    grid_size=11,
    crossings=5,
    river="wall",
    **RANDOM,
    scores={
        "random": Score(0.004626, 0.0091, success=0.01, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9593, 0.0014, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridDynamicObstacles5x5-v0",
    "Dynamic obstacles, 5 x 5 cells: to the goal past 2 balls that move.",
    task="dynamic_obstacles",
    grid_size=5,
    balls=2,
    **RANDOM,
    scores={
        "random": Score(-1, 0, success=0, costs={"danger": 1}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.8824, 0.011, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridDynamicObstaclesRandom5x5-v0",
    "Dynamic obstacles, 5 x 5 cells: to the goal past 2 balls that move, from a random start.",
    task="dynamic_obstacles",
    grid_size=5,
    balls=2,
    random_start=True,
    **RANDOM,
    scores={
        "random": Score(-0.746, 0.13, success=0.13, costs={"danger": 0.87}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9429, 0.0081, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridDynamicObstacles6x6-v0",
    "Dynamic obstacles, 6 x 6 cells: to the goal past 3 balls that move.",
    task="dynamic_obstacles",
    grid_size=6,
    balls=3,
    **RANDOM,
    scores={
        "random": Score(-1, 0, success=0, costs={"danger": 1}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.8929, 0.0082, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridDynamicObstaclesRandom6x6-v0",
    "Dynamic obstacles, 6 x 6 cells: to the goal past 3 balls that move, from a random start.",
    task="dynamic_obstacles",
    grid_size=6,
    balls=3,
    random_start=True,
    **RANDOM,
    scores={
        "random": Score(-0.8819, 0.092, success=0.06, costs={"danger": 0.94}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9412, 0.0085, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridDynamicObstacles8x8-v0",
    "Dynamic obstacles, 8 x 8 cells: to the goal past 4 balls that move.",
    task="dynamic_obstacles",
    grid_size=8,
    balls=4,
    **RANDOM,
    scores={
        "random": Score(-1, 0, success=0, costs={"danger": 1}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9324, 0.0044, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridDynamicObstacles16x16-v0",
    "Dynamic obstacles, 16 x 16 cells: to the goal past 8 balls that move.",
    task="dynamic_obstacles",
    grid_size=16,
    balls=8,
    **RANDOM,
    scores={
        "random": Score(-1, 0, success=0, costs={"danger": 1}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9677, 0.0011, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridMemoryS7-v0",
    "Memory, 7 x 7 cells: at the end of the hallway, choose the object seen at its beginning.",
    task="memory",
    grid_size=7,
    starts=16,
    same_start=False,
    scores={
        "random": Score(0.179, 0.063, success=0.26, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9842, 0.00077, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridMemoryS9-v0",
    "Memory, 9 x 9 cells: at the end of the hallway, choose the object seen at its beginning.",
    task="memory",
    grid_size=9,
    starts=24,
    same_start=False,
    scores={
        "random": Score(0.2379, 0.073, success=0.32, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9883, 0.00072, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridMemoryS11-v0",
    "Memory, 11 x 11 cells: at the end of the hallway, choose the object seen at its beginning.",
    task="memory",
    grid_size=11,
    **RANDOM,
    scores={
        "random": Score(0.1942, 0.071, success=0.25, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9909, 0.00065, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridMemoryS13-v0",
    "Memory, 13 x 13 cells: at the end of the hallway, choose the object seen at its beginning.",
    task="memory",
    grid_size=13,
    **RANDOM,
    scores={
        "random": Score(0.2153, 0.073, success=0.27, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9925, 0.00058, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridMemoryS13Random-v0",
    "Memory, 13 x 13 cells: at the end of the hallway of a random length, choose the object seen at its beginning.",
    task="memory",
    grid_size=13,
    random_length=True,
    **RANDOM,
    scores={
        "random": Score(0.2265, 0.073, success=0.31, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9935, 0.00044, success=1, costs={"danger": 0}),
    },
)
SPEC.member(
    "MiniGridMemoryS17Random-v0",
    "Memory, 17 x 17 cells: at the end of the hallway of a random length, choose the object seen at its beginning.",
    task="memory",
    grid_size=17,
    random_length=True,
    **RANDOM,
    scores={
        "random": Score(0.3041, 0.077, success=0.43, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9955, 0.00037, success=1, costs={"danger": 0}),
    },
)
