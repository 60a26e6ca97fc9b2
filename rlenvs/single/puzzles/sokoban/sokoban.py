"""Sokoban: push all boxes onto the targets, one at a time, without getting any stuck.

## Description
The warehouse puzzle of 1982 (Thinking Rabbit) with the rewards of the I2A paper (Racaniere et al.,
"Imagination-Augmented Agents for Deep Reinforcement Learning", 2017, appendix D), as in Boxoban (Guez et al., 2018)
and gym-sokoban. Every episode has a new room: a random walker carves it, and random backward moves from the solution,
pulling boxes, give the start, so every room can be solved. Alternatively, levels are read from text, such as Boxoban's
files: `levels_from="boxoban-levels/unfiltered/train"`. The scripted expert finds a shortest solution.

## Action Space
up, right, down, left. A step towards a box pushes it. Moves that change nothing are masked, unless none changes
anything.

## Observation Space
Planes of 0 and 1 (4, rows, columns): walls, targets, boxes, player.

## Rewards
10 for the step after which all boxes are on targets; 1 for each box pushed onto a target, -1 for one pushed off; -0.1
for every step. With weight 0, for training: `progress`, by how many pushes boxes came nearer to their nearest targets,
around walls; the distance of a stuck box is the number of cells of the room. It is potential-based, which keeps the
optimal policy (Ng et al., ICML 1999).

## Costs
`dead_end` is 1 while a box is where no push can ever bring it to a target, such as in a corner. There are no false
alarms, but boxes that block each other are not recognized.

## Starting State
A room of `rows` x `columns` cells with `boxes` boxes, or one of the levels, drawn uniformly.

## Episode End
Termination: all boxes on targets, a success. Truncation: 120 steps.

## Parameters
Levels override `rows`, `columns` and `boxes`; levels smaller than the largest are padded with walls. `number` chooses a
level, and may differ between the worlds of a batch. The expert gives up after a million states, or if the states cannot
be numbered (seven boxes on 10 x 10 cells); then it makes the first move that changes something.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

import numpy as np

from rlenvs.core import (
    b1,
    below,
    block,
    cost,
    data_option,
    discrete,
    i2,
    i4,
    integer,
    json_option,
    kernel,
    param,
    term,
    u1,
    world,
)
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.boards.drawing import draw_tile, pressed_move, view_board
from rlenvs.kits.boards.letters import joined
from rlenvs.single.puzzles.sokoban.levels import LARGEST, levels_of, parse_levels
from rlenvs.single.puzzles.sokoban.rooms import DOWNWARD, RIGHTWARD, count_pushes, floor_of, make_room

KEYS = (("up", "w"), ("right", "d"), ("down", "s"), ("left", "a"))
MOST_BOXES = 12
MOST_PUSHES = LARGEST * LARGEST  # of one push, as a box that is lost counts
WALL, FLOOR, BOX, BOX_ON, TARGET = (72, 76, 84), (238, 234, 224), (190, 120, 50), (0, 158, 115), (213, 94, 0)

THREE = ["#####\n#@$.#\n#####", "######\n#@ $.#\n######", "#####\n#@ .#\n# $ #\n#   #\n#####"]


def sizes(values):
    found = () if values.levels_from is None else levels_of(values.levels_from)
    if not found and floor_of(values.rows, values.columns) <= 2 * values.boxes:
        raise ParameterError(
            f"boxes={values.boxes} do not fit into a room of {values.rows} x {values.columns} cells with walls; "
            f"at most {(floor_of(values.rows, values.columns) - 1) // 2}"
        )
    height = max((level.wall.shape[0] for level in found), default=values.rows)
    width = max((level.wall.shape[1] for level in found), default=values.columns)
    return {
        "height": height,
        "width": width,
        "cells": height * width,
        "boxes_room": max((int(level.box.sum()) for level in found), default=values.boxes),
        "levels_count": len(found),
    }


SPEC = world(
    "Sokoban-v0",
    doc=__doc__,
    source="Racaniere et al., NeurIPS 2017, appendix D; Boxoban (Guez et al., 2018); gym-sokoban (Schrader, 2018)",
    params={
        "number": param(
            -1, -1, 10_000_000, "", "index of the level, modulo the number of levels; -1 draws one at every reset"
        )
    },
    options={
        "levels_from": data_option(
            json_option(
                None,
                parse_levels,
                "a text file, a folder of such files, a text or a list of texts; None for generated rooms",
            )
        ),
        "rows": data_option(integer(10, 5, LARGEST, "of a room, walls included")),
        "columns": data_option(integer(10, 5, LARGEST, "of a room, walls included")),
        "boxes": integer(4, 1, MOST_BOXES, "boxes in a generated room; small rooms have fewer"),
    },
    sizes=sizes,
    data={
        "level_wall": u1("levels_count", "height", "width"),
        "level_target": u1("levels_count", "height", "width"),
        "level_box": u1("levels_count", "height", "width"),
        "level_player": i4("levels_count"),
    },
    state={
        "wall": u1("height", "width"),
        "target": u1("height", "width"),
        "box": u1("height", "width"),
        "pushes": i2("height", "width"),  # 1 + those from a cell to a target; 0 where a box is lost
        "player": i4.index_of("cells"),
        "left": i4.index_of("cells"),  # the player's cell before the last step
        "pushed": b1,  # whether a box moved in it
        "best_player": i4,
        "origin": i2("boxes_room"),
        "current": i2("boxes_room"),
        "best": i2("boxes_room"),
        "queue": i2("cells"),
        "box_count": i4,
        "on_target": i4,
        "dead": i4,
        "far": i4,  # pushes to the targets, were each box alone
    },
    expert_sees="state",
    probe={
        "number": {
            "levels_from": ["#####\n#@$.#\n#####", "#####\n#@ .#\n# $ #\n#   #\n#####", "######\n#@ $.#\n######"]
        }
    },
    observation={
        "planes": block(
            *(4, "height", "width"),
            low=0,
            high=1,
            raw=True,
            whole=True,
            constant=True,
            doc="walls, targets, boxes, player",
        )
    },
    incremental=True,
    action=discrete("up", "right", "down", "left"),
    terms={
        "solved": term(0.0, 1.0, 10.0, "1 for the step that solves the level"),
        "boxes": term(-1.0, 1.0, 1.0, "1 for a box pushed onto a target, -1 for one pushed off"),
        "time": term(-1.0, 0.0, 0.1, "-1 for every step"),
        "progress": term(-MOST_PUSHES, MOST_PUSHES, 0.0, "by how many pushes boxes came nearer to targets"),
    },
    costs={"dead_end": cost(0.0, doc="1 while a box can never reach a target")},
    horizon=120,
    fps=6,
    levels={
        "small": {"rows": 7, "columns": 7, "boxes": 1},
        "easy": {"rows": 7, "columns": 7, "boxes": 2},
        "one": {"boxes": 1},
        "hard": {"rows": 13, "columns": 13},
    },
)


@SPEC.state_fault
def state_fault(p, s):
    rim = np.ones(s.wall.shape, bool)
    rim[1:-1, 1:-1] = False
    if not s.wall[rim].all():
        return "its room is open"
    return "the player is inside a wall" if s.wall.ravel()[s.player] else ""


@SPEC.make_data
def data(values):
    size = sizes(values)
    shape = (size["levels_count"], size["height"], size["width"])
    found = {name: np.zeros(shape, np.uint8) for name in ("level_wall", "level_target", "level_box")}
    player = np.zeros(shape[0], np.int32)
    found["level_wall"][:] = 1
    for k, level in enumerate(levels_of(values.levels_from) if shape[0] else ()):
        rows, columns = level.wall.shape
        for name, grid in (("level_wall", level.wall), ("level_target", level.target), ("level_box", level.box)):
            found[name][k, :rows, :columns] = grid
        player[k] = level.player[0] * shape[2] + level.player[1]
    return {**found, "level_player": player}


@kernel
def load_level(p, s, rng):
    """Copy one of the levels into the state."""
    count = p.level_player.size
    k = int(p.number) % count
    if p.number < 0.0:
        k = below(rng, count)
    for row in range(s.wall.shape[0]):
        for column in range(s.wall.shape[1]):
            s.wall[row, column] = p.level_wall[k, row, column]
            s.target[row, column] = p.level_target[k, row, column]
            s.box[row, column] = p.level_box[k, row, column]
    s.player = p.level_player[k]


@kernel
def pushes_left(s, cell):
    """Of a box in a cell; as many as there are cells where it is lost."""
    pushes = int(s.pushes.ravel()[cell])
    return pushes - 1 if pushes else s.pushes.size


@kernel
def count_boxes(s):
    """How many there are, how many on targets, how many lost, how far all are from targets."""
    boxes, on_target, dead, far = 0, 0, 0, 0
    for row in range(s.wall.shape[0]):
        for column in range(s.wall.shape[1]):
            if s.box[row, column]:
                boxes += 1
                on_target += 1 if s.target[row, column] else 0
                dead += 0 if s.pushes[row, column] else 1
                far += pushes_left(s, row * s.wall.shape[1] + column)
    s.box_count, s.on_target, s.dead, s.far = boxes, on_target, dead, far


@SPEC.reset
def reset(p, s, rng):
    if p.level_player.size:
        load_level(p, s, rng)
    else:
        make_room(s, s.best.size, rng)
    count_pushes(s)
    count_boxes(s)


@kernel
def offset_of(s, action):
    """From a cell to the next one in the direction of an action, in an array of all cells."""
    return DOWNWARD[action] * s.wall.shape[1] + RIGHTWARD[action]


@kernel
def can_move(s, action):
    """Whether a step changes something: the way is free, or a box can be pushed out of it."""
    wall, box, offset = s.wall.ravel(), s.box.ravel(), offset_of(s, action)
    cell = s.player + offset
    if wall[cell]:
        return False
    return not box[cell] or not (wall[cell + offset] or box[cell + offset])


@SPEC.step
def step(p, s, a, rng, r):
    before, farther = s.on_target, s.far
    s.left = s.player
    s.pushed = False
    if can_move(s, a):
        box, target, pushes, offset = s.box.ravel(), s.target.ravel(), s.pushes.ravel(), offset_of(s, a)
        cell = s.player + offset
        if box[cell]:
            to = cell + offset
            box[cell], box[to], s.pushed = 0, 1, True
            s.on_target += int(target[to]) - int(target[cell])
            s.dead += int(pushes[cell] > 0) - int(pushes[to] > 0)
            s.far += pushes_left(s, to) - pushes_left(s, cell)
        s.player = cell
    solved = s.on_target == s.box_count
    r.solved = 1.0 if solved else 0.0
    r.boxes = float(s.on_target - before)
    r.time = -1.0
    r.progress = float(farther - s.far)
    r.dead_end = 1.0 if s.dead else 0.0
    r.terminated = solved
    r.success = solved


@SPEC.mask
def mask(p, s, m):
    count = 0
    for action in range(4):
        m[action] = 1 if can_move(s, action) else 0
        count += m[action]
    if count == 0:
        for action in range(4):
            m[action] = 1


@SPEC.observe
def observe(p, s, o):
    planes, cells = o.planes.ravel(), s.wall.size
    if s.shown:
        planes[3 * cells + s.left] = 0.0
        if s.pushed:
            planes[2 * cells + s.player] = 0.0
            planes[2 * cells + 2 * s.player - s.left] = 1.0
    else:
        wall, target, box = s.wall.ravel(), s.target.ravel(), s.box.ravel()
        for cell in range(cells):
            planes[cell] = wall[cell]
            planes[cells + cell] = target[cell]
            planes[2 * cells + cell] = box[cell]
            planes[3 * cells + cell] = 0.0
    planes[3 * cells + s.player] = 1.0


@SPEC.python_expert
def expert(p, s, a):
    from rlenvs.single.puzzles.sokoban.solver import first_move  # compiles

    found = None if s.dead else first_move(s)
    if found is None:
        found = next((action for action in range(4) if can_move(s, action)), 0)
    a[0] = found


@SPEC.draw
def draw(canvas, p, s):
    height, width = s.wall.shape
    canvas.caption(f"{int(s.on_target)} of {int(s.box_count)} boxes on targets", *["dead end"] * bool(s.dead))
    canvas.legend(
        ("blue", "player", "disc"),
        (BOX, "box"),
        (BOX_ON, "box on a target"),
        (TARGET, "target", "ring"),
        (WALL, "wall"),
    )
    view_board(canvas, height, width)
    for row in range(height):
        for column in range(width):
            solid = s.wall[row, column]
            draw_tile(canvas, row, column, WALL if solid else FLOOR, 0.0 if solid else 0.02, 0.0)
            if s.box[row, column]:
                draw_tile(canvas, row, column, BOX_ON if s.target[row, column] else BOX, 0.09, 0.1)
                edges = column + 0.22, -row - 0.78, column + 0.78, -row - 0.22
                canvas.rectangle(*edges, (255, 240, 220), width=2.0)
            elif s.target[row, column]:
                canvas.circle((column + 0.5, -row - 0.5), 0.32, TARGET, width=5.0)
    x, y = int(s.player) % width + 0.5, -(int(s.player) // width) - 0.5
    canvas.circle((x, y), 0.36, "white")
    canvas.circle((x, y), 0.32, "blue")
    for side in (-0.11, 0.11):
        canvas.circle((x + side, y + 0.07), 0.055, "white")


@SPEC.text
def text(p, s):
    width, lines = s.wall.shape[1], []
    for row in range(s.wall.shape[0]):
        line = []
        for column in range(width):
            on = int(bool(s.target[row, column]))
            here = row * width + column == s.player
            sign = "@+"[on] if here else "$*"[on] if s.box[row, column] else "#" if s.wall[row, column] else " ."[on]
            line.append(sign)
        lines.append(line)
    return joined(lines)


@SPEC.keys
def keys(pressed, values):
    return pressed_move(pressed, KEYS)
