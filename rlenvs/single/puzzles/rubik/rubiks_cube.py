"""Rubik's cube: turn layers until every face has a single color.

## Description
Erno Rubik's cube (1974) of 3 x 3 x 3 small cubes, with the actions and the scramble of Jumanji's RubiksCube (Bonnet et
al., 2024): any face, by a quarter turn clockwise or counterclockwise, or by a half turn. No position needs more than 20
such turns (Rokicki et al., 2010). `size` allows cubes of 2 to 5; those of 4 and 5 also have inner layers.

## Action Space
The layer and how far to turn it: up, front, right, back, left, down, each clockwise, counterclockwise and by half; 18
choices. In larger cubes the inner layers of a face follow its outer layer.

## Observation Space
The colors, a plane of 0 and 1 for each of the six (6, faces, size, size); with `one_hot=False` the numbers of the
colors (1, 6, size, size).

## Rewards
1 when every face has one color. With weight 0: `time`, -1 for every turn; `uniform`, the change in the number of
stickers that have the most common color of their face.

## Costs
None.

## Starting State
The solved cube after `scramble` random turns, never two in a row of the same layer. With `shortest_scramble=k` the
number of turns is uniform in k to `scramble`: a curriculum.

## Episode End
Termination: solved, a success. Truncation: 200 turns.

## Parameters
`size`, `scramble`, `shortest_scramble`, `one_hot`. The scripted expert reverses all turns since the solved cube, those
of the scramble and of the player. The state remembers up to a thousand of them; consecutive turns of one layer count as
one.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

import numpy as np

from rlenvs.core import (
    at_most,
    below,
    block,
    data_option,
    discrete,
    drawn_from,
    flag,
    i2,
    i4,
    integer,
    kernel,
    term,
    u1,
    world,
)
from rlenvs.kits.boards.drawing import draw_tile, view_board
from rlenvs.kits.boards.letters import joined
from rlenvs.single.puzzles.rubik.table import best_turn
from rlenvs.single.puzzles.rubik.turns import FACES, turn_names, turns

MEMORY, NOTHING = 1000, -1
COLORS = ((250, 250, 250), (0, 158, 115), (213, 60, 40), (0, 114, 178), (240, 140, 20), (245, 220, 40))
NET = {0: (0, 1), 1: (1, 1), 2: (1, 2), 3: (1, 3), 4: (1, 0), 5: (2, 1)}  # where faces lie when the cube is unfolded
SIGNS = "WGRBOY"

SPEC = world(
    "RubiksCube-v0",
    doc=__doc__,
    source="Jumanji (Bonnet et al., ICLR 2024); God's number: Rokicki, Kociemba, Davidson and Dethridge, 2010",
    options={
        "size": data_option(integer(3, 2, 5, "small cubes along an edge")),
        "scramble": integer(100, 1, 500, "turns from the solved cube to the start"),
        "shortest_scramble": integer(0, 0, 500, "if not 0, the number of turns is uniform between it and `scramble`"),
        "one_hot": flag(True, "a plane for each color"),
    },
    constraints=(at_most("shortest_scramble", "scramble"),),
    sizes=lambda values: {
        "side": values.size,
        "stickers": 6 * values.size**2,
        "turn_count": len(turns(values.size)),
        "depth": 6 if values.one_hot else 1,
    },
    data={"turn": u1("turn_count", "stickers")},
    state={
        "color": u1("stickers").within(0, 5),
        "turned": u1("stickers"),
        "memory": i2(MEMORY).index_of("turn_count"),
        "remembered": i4.up_to(MEMORY),
        "uniform": i4,
    },
    scratch=("turned",),
    expert_sees="state",
    observation={
        "stickers": block(
            *("depth", 6, "side", "side"),
            low=0,
            high=lambda values: [1.0] * 6 if values.one_hot else [5.0],
            raw=True,
            whole=True,
            constant=True,
            doc="colors by face, row and column",
        )
    },
    action=lambda values: discrete(*turn_names(values.size), size="turn_count", doc="which layer to turn, and how far"),
    terms={
        "solved": term(0.0, 1.0, 1.0, "1 when every face has one color"),
        "time": term(-1.0, 0.0, 0.0, "-1 for every turn"),
        "uniform": term(
            -150.0, 150.0, 0.0, "change in the number of stickers with the most common color of their face"
        ),
    },
    horizon=200,
    fps=4,
    levels={"easy": {"scramble": 3}, "medium": {"scramble": 10}, "large": {"size": 4}},
)

SMALL = SPEC.member(
    "RubiksCube2x2-v0",
    "Rubik's cube of 2 x 2 x 2: none of its 3 674 160 positions is more than 11 turns from the solved cube.",
    size=2,
    levels={"easy": {"scramble": 3}, "medium": {"scramble": 6}},
)


@SPEC.make_data
def data(values):
    return {"turn": turns(values.size)}


@kernel
def apply(p, s, turn):
    """Turn a layer."""
    for k in range(s.color.size):
        s.turned[k] = s.color[p.turn[turn, k]]
    for k in range(s.color.size):
        s.color[k] = s.turned[k]


@kernel
def quarters(turn):
    """Quarter turns clockwise: 1, 3 or 2."""
    amount = turn % 3
    return 1 if amount == 0 else 3 if amount == 1 else 2


@kernel
def remember(s, turn):
    """Note a turn; turns of the layer that was turned last become one with it, or nothing."""
    if s.remembered and s.memory[s.remembered - 1] // 3 == turn // 3:
        total = (quarters(s.memory[s.remembered - 1]) + quarters(turn)) % 4
        s.remembered -= 1
        if total == 0:
            return
        turn = (turn // 3) * 3 + (0 if total == 1 else 1 if total == 3 else 2)
    if s.remembered < s.memory.size:
        s.memory[s.remembered] = turn
        s.remembered += 1
    else:  # the beginning is forgotten, and with it the way back
        for k in range(s.memory.size - 1):
            s.memory[k] = s.memory[k + 1]
        s.memory[s.memory.size - 1] = turn


@kernel
def count_uniform(s):
    """How many stickers have the commonest colour of their face."""
    area, total = s.color.size // 6, 0
    for face in range(6):
        most = 0
        for color in range(6):
            count = 0
            for k in range(face * area, (face + 1) * area):
                count += 1 if s.color[k] == color else 0
            most = max(most, count)
        total += most
    return total


@SPEC.reset
def reset(p, s, rng):
    area = s.color.size // 6
    scramble = drawn_from(rng, p.shortest_scramble, p.scramble)
    s.uniform = s.color.size
    while s.uniform == s.color.size:
        for k in range(s.color.size):
            s.color[k] = k // area
        s.remembered = 0
        last = NOTHING
        for _ in range(scramble):
            turn = below(rng, p.turn.shape[0])
            while turn // 3 == last:
                turn = below(rng, p.turn.shape[0])
            last = turn // 3
            apply(p, s, turn)
            remember(s, turn)
        s.uniform = count_uniform(s)


@SPEC.step
def step(p, s, a, rng, r):
    before = s.uniform
    apply(p, s, a)
    remember(s, a)
    s.uniform = count_uniform(s)
    solved = s.uniform == s.color.size
    r.solved = 1.0 if solved else 0.0
    r.time = -1.0
    r.uniform = float(s.uniform - before)
    r.terminated = solved
    r.success = solved


@SPEC.observe
def observe(p, s, o):
    side = o.stickers.shape[2]
    for face in range(6):
        for row in range(side):
            for column in range(side):
                color = s.color[(face * side + row) * side + column]
                if p.one_hot:
                    for plane in range(6):
                        o.stickers[plane, face, row, column] = 1.0 if plane == color else 0.0
                else:
                    o.stickers[0, face, row, column] = color


@SPEC.expert
def expert(p, s, a):
    a[0] = 0
    if s.remembered:
        turn = int(s.memory[s.remembered - 1])
        a[0] = (turn // 3) * 3 + (1 if turn % 3 == 0 else 0 if turn % 3 == 1 else 2)


@SMALL.python_expert
def nearest_turn(p, s, a):
    if s.color.size == 24:
        a[0] = best_turn(s.color)
    else:
        expert(p, s, a)


@SPEC.draw
def draw(canvas, p, s):
    side = p.turn.shape[1]
    side = round((side / 6) ** 0.5)
    canvas.caption(f"{int(s.uniform)} of {s.color.size} stickers have the color of their face")
    view_board(canvas, 3 * side, 4 * side, 0.3)
    for face, (down, right) in NET.items():
        edges = right * side - 0.04, -(down + 1) * side - 0.04, (right + 1) * side + 0.04, -down * side + 0.04
        canvas.rectangle(*edges, "black", rounded=0.1)
        for k in range(side * side):
            row, column = divmod(k, side)
            color = COLORS[int(s.color[face * side * side + k])]
            draw_tile(canvas, down * side + row, right * side + column, color, 0.06, 0.1)


@SPEC.text
def text(p, s):
    side = round((s.color.size / 6) ** 0.5)
    grid = np.full((3 * side, 4 * side), " ")
    for face, (down, right) in NET.items():
        colors = [SIGNS[int(k)] for k in s.color[face * side * side : (face + 1) * side * side]]
        grid[down * side : (down + 1) * side, right * side : (right + 1) * side] = np.reshape(colors, (side, side))
    return joined(grid)


@SPEC.keys
def keys(pressed, values):
    """The first letter of a face turns it clockwise, with shift anticlockwise."""
    for face, name in enumerate(FACES):
        if name[0] in pressed:
            return 3 * (values.size // 2) * face + (1 if pressed.intersection(("shift", "left shift")) else 0)
    return None
