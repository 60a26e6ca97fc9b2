"""Split maze: two agents see half of a maze each, and move only where both want to.

## Description
The task by which "The Collaboration Gap" (Davidson et al., 2025) measures how well models work together: a maze of 6 x
6 cells with 30 % walls, whose map is cut in two. Each agent sees the cells of its half, the token and the goal; the
token moves when both name the same move. They say a word each in every step, and have to find a language for what the
other does not see, and an agreement on the way. The paper's agents are language models that talk in free text, which is
graded automatically; here words are numbers, and the grade is the reward.

The best return is 1 in every maze, since progress sums to 1 at the goal and nothing else pays; the scripted player
"mapper" reaches it in each. It spells out its half, cell by cell in the order of rows, as many at once as a word can
tell (`words` 2: one), and then takes the shortest way on the map that both have. "optimist" says nothing, takes unseen
cells for free, and leads and follows in turn; it bumps into walls. "random" is random.

## Action Space
The move (stay, up, down, left, right) and the word.

## Observation Space
Planes (walls that one sees, free cells that one sees, the token, the goal), what the other wanted in the last step, and
all words so far, one-hot: the own ones, then those of the other.

## Rewards
For both: `progress` is the decrease of the distance to the goal, by the shortest way, divided by that from the start,
so that it sums to 1 at the goal. `bump` (weight 0.05) is -1 when both choose a move into a wall or off the maze. Cells
that the token enters or bumps into are seen by both from then on.

## Costs
None.

## Starting State
A random maze with a random start and a goal that is `shortest` to `longest` steps away; a random half of all cells for
each agent.

## Episode End
Termination: the token is on the goal. Truncation: after 48 steps. Success: the goal is reached.

## Parameters
`size`, `density`, `shortest`, `longest`, `words`.

## Reference Scores
Mean return over seeds 0 to 99, summed over both agents; the expert is "mapper".

## Version History
v0: first version.
"""

import numpy as np

from rlenvs.core import (
    Score,
    at_most,
    b1,
    below,
    block,
    constraint,
    data_option,
    discrete,
    i1,
    i2,
    i8,
    integer,
    kernel,
    multi_discrete,
    param,
    term,
    u1,
    uniform,
    world,
)
from rlenvs.kits.boards.drawing import draw_table, draw_tile, view_board

STEPS, TRIES, LARGEST, WORDS = 48, 200, 8, 16
DOWN, RIGHT = (0, -1, 1, 0, 0), (0, 0, 0, -1, 1)  # of the moves stay, up, down, left, right
NOT_YET = -1

SPEC = world(
    "SplitMaze-v0",
    doc=__doc__,
    source="Davidson, Fourney, Amershi, West, Horvitz, Kamar, The Collaboration Gap, arXiv 2511.02687, 2025",
    agents=True,
    params={"density": param(0.3, 0.0, 0.6, "", "share of cells that are walls, before a way is asked for")},
    options={
        "size": data_option(integer(6, 3, LARGEST, "rows and columns")),
        "shortest": integer(7, 1, 2 * LARGEST - 2, "steps from start to goal, at least"),
        "longest": integer(9, 1, 2 * LARGEST - 2, "steps from start to goal, at most"),
        "words": integer(2, 1, WORDS, "words that there are"),
    },
    constraints=[
        at_most("shortest", "longest"),
        constraint(
            "size",
            "shortest",
            holds=lambda size, shortest: shortest <= 2 * size - 2,
            doc="shortest must not exceed 2 * size - 2, the way between corners",
        ),
    ],
    sizes=lambda values: {
        "agents": 2,
        "size": values.size,
        "cells": values.size * values.size,
        "words": values.words,
        "steps": STEPS,
    },
    players=("mapper", "optimist", "random"),
    state={
        "token": i8.index_of("cells"),
        "goal": i8.index_of("cells"),
        "far": i8.within(1, LARGEST * LARGEST),  # steps from the start to the goal
        "wall": u1("cells").within(0, 1),
        "half": i1("cells").within(0, 1),  # the agent whose cell it is
        "known": b1("cells"),  # whether both see it
        "distance": i2("cells").within(-1, LARGEST * LARGEST),  # to the goal; -1 where there is no way
        "wanted": i1("agents").within(0, 4),  # the moves that were named last
        "said": i1("agents", "steps").index_of("words", low=NOT_YET),
        "guess": u1("cells"),  # from here on scratch: walls as a player believes them, distances there, a queue
        "plan": i2("cells"),
        "queue": i2("cells"),
    },
    scratch=("guess", "plan", "queue"),
    observation={
        "planes": block(
            4, "size", "size", low=0, high=1, raw=True, whole=True, doc="seen walls, seen free cells, token, goal"
        ),
        "wanted": block(5, low=0, high=1, raw=True, whole=True, doc="the move that the other named last"),
        "said": block(
            "agents", "steps", "words", low=0, high=1, raw=True, whole=True, constant=True, doc="own words, the other's"
        ),
    },
    action=lambda values: multi_discrete(
        {
            "move": discrete("stay", "up", "down", "left", "right"),
            "say": discrete(*(f"word {n}" for n in range(values.words)), size="words"),
        }
    ),
    terms={
        "progress": term(-1.0, 1.0, 1.0, "decrease of the distance to the goal, as a share of that from the start"),
        "bump": term(-1.0, 0.0, 0.05, "-1 when both choose a move into a wall or off the maze"),
    },
    horizon=STEPS,
    fps=2,
    levels={
        "easy": {"size": 4, "shortest": 3, "longest": 5},
        "large": {"size": 8, "shortest": 10, "longest": 14, "words": 4},
        "silent": {"words": 1},
    },
    scores={"bound": Score(2, 0, "1 for each of both, without a bump; mapper reaches it in every maze")},
)


# --- the maze ---------------------------------------------------------------------------------------------------------


@kernel
def neighbor(size, cell, move):
    """The cell to which a move leads; -1 off the maze."""
    row, column = cell // size + DOWN[move], cell % size + RIGHT[move]
    return row * size + column if 0 <= row < size and 0 <= column < size else -1


@kernel
def measure(wall, goal, distance, queue, size):
    """Distances to a goal, -1 where no way leads there."""
    for cell in range(distance.size):
        distance[cell] = -1
    distance[goal], queue[0], first, last = 0, goal, 0, 1
    while first < last:
        cell = queue[first]
        first += 1
        for move in range(1, 5):
            other = neighbor(size, cell, move)
            if other >= 0 and wall[other] == 0 and distance[other] < 0:
                distance[other] = distance[cell] + 1
                queue[last] = other
                last += 1


@kernel
def side_of(s):
    """Rows and columns of the maze."""
    side = 1
    while side * side < s.wall.size:
        side += 1
    return side


@kernel
def draw_walls(p, s, rng):
    for cell in range(s.wall.size):
        s.wall[cell] = 1 if uniform(rng, 0.0, 1.0) < p.density else 0


@kernel
def draw_ends(p, s, rng, size):
    """A start, and a goal far enough from it; whether there is one."""
    s.token = below(rng, s.wall.size)
    if s.wall[s.token] == 1:
        return False
    measure(s.wall, s.token, s.distance, s.queue, size)
    count = 0
    for cell in range(s.wall.size):
        count += p.shortest <= s.distance[cell] <= p.longest
    if count == 0:
        return False
    wanted = below(rng, count)
    for cell in range(s.wall.size):
        if p.shortest <= s.distance[cell] <= p.longest:
            if wanted == 0:
                s.goal = cell
            wanted -= 1
    return True


@kernel
def draw_halves(s, rng):
    """Half of the cells for each agent."""
    for i in range(s.half.size):
        s.half[i] = i % 2
    for i in range(s.half.size - 1, 0, -1):
        j = below(rng, i + 1)
        s.half[i], s.half[j] = s.half[j], s.half[i]


@SPEC.reset
def reset(p, s, rng):
    size, found, tries = side_of(s), False, 0
    while not found and tries < TRIES:
        draw_walls(p, s, rng)
        found = draw_ends(p, s, rng, size)
        tries += 1
    if not found:  # an empty maze, from a corner
        for cell in range(s.wall.size):
            s.wall[cell] = 0
        s.token = 0
        s.goal = min(p.shortest, size - 1) + size * max(p.shortest - size + 1, 0)
    measure(s.wall, s.goal, s.distance, s.queue, size)
    s.far = s.distance[s.token]
    draw_halves(s, rng)
    s.known[s.token] = True
    s.known[s.goal] = True
    for k in range(2):
        for step in range(STEPS):
            s.said[k, step] = NOT_YET


@SPEC.step
def step(p, s, a, rng, r):
    before, move, bump = s.distance[s.token], a[0, 0], 0.0
    if move > 0 and move == a[1, 0]:
        to = neighbor(side_of(s), s.token, move)
        if to < 0 or s.wall[to] == 1:
            bump = -1.0
        else:
            s.token = to
        if to >= 0:
            s.known[to] = True
    for k in range(2):
        s.wanted[k] = a[k, 0]
        s.said[k, min(s.elapsed, STEPS - 1)] = a[k, 1]
        r.progress[k] = (before - s.distance[s.token]) / s.far
        r.bump[k] = bump
        r.success[k] = s.token == s.goal
        r.terminated[k] = s.token == s.goal


@SPEC.observe
def observe(p, s, k, o):
    planes = o.planes.reshape(4, s.wall.size)
    for cell in range(s.wall.size):
        seen = s.known[cell] or s.half[cell] == k
        planes[0, cell] = 1.0 if seen and s.wall[cell] == 1 else 0.0
        planes[1, cell] = 1.0 if seen and s.wall[cell] == 0 else 0.0
        planes[2, cell] = 1.0 if s.token == cell else 0.0
        planes[3, cell] = 1.0 if s.goal == cell else 0.0
    for move in range(5):
        o.wanted[move] = 1.0 if s.wanted[1 - k] == move else 0.0
    for j in range(2):
        for t in range(STEPS):
            for word in range(o.said.shape[2]):
                o.said[j, t, word] = 1.0 if s.said[k if j == 0 else 1 - k, t] == word else 0.0


# --- players ----------------------------------------------------------------------------------------------------------


@kernel
def bits_of(words):
    """How many cells a word can tell."""
    bits = 0
    while 2 << bits <= words:
        bits += 1
    return bits


@kernel
def believe(s, k, bits):
    """The walls as agent k knows them: those it sees, and those that the words of the other tell, `bits` in each."""
    place = 0
    for cell in range(s.wall.size):
        s.guess[cell] = 0
        if s.half[cell] == k or s.known[cell]:
            s.guess[cell] = s.wall[cell]
        elif bits > 0 and s.said[1 - k, place // bits] > 0:
            s.guess[cell] = (s.said[1 - k, place // bits] >> (place % bits)) & 1
        place += s.half[cell] != k


@kernel
def next_move(s, k):
    """The first move of a shortest way on the map that agent k believes in; 0 where there is none."""
    size = side_of(s)
    measure(s.guess, s.goal, s.plan, s.queue, size)
    for move in range(1, 5):
        other = neighbor(size, s.token, move)
        if other >= 0 and s.plan[s.token] > 0 and s.plan[other] == s.plan[s.token] - 1:
            return move
    return 0


@kernel
def spell(s, k, bits):
    """The word that tells the next cells of the own half."""
    word, place = 0, 0
    for cell in range(s.wall.size):
        if s.half[cell] == k:
            if place // bits == s.elapsed and s.wall[cell] == 1:
                word |= 1 << (place % bits)
            place += 1
    return word


@kernel
def led_move(s, k):
    """Two steps agent 0 leads, by the way that it takes for free, two steps agent 1; the other follows."""
    believe(s, k, 0)
    return next_move(s, k) if s.elapsed // 2 % 2 == k else s.wanted[1 - k]


@SPEC.player("mapper")
def play_mapper(p, s, k, a, rng):
    bits = bits_of(p.words)
    a[k, 0], a[k, 1] = 0, 0
    if bits == 0:
        a[k, 0] = led_move(s, k)
    elif s.elapsed * bits < (s.wall.size + 1) // 2:
        a[k, 1] = spell(s, k, bits)
    else:
        believe(s, k, bits)
        a[k, 0] = next_move(s, k)


@SPEC.player("optimist")
def play_optimist(p, s, k, a, rng):
    a[k, 0], a[k, 1] = led_move(s, k), 0


@SPEC.player("random")
def play_random(p, s, k, a, rng):
    a[k, 0], a[k, 1] = below(rng, 5), below(rng, p.words)


# --- images -----------------------------------------------------------------------------------------------------------

WALLS = ((0, 70, 112), (150, 98, 0), (52, 54, 58))  # of agent 0, of agent 1, of both
FLOORS = ((206, 226, 240), (250, 232, 196), (244, 244, 240))
NAMES = ("stay", "up", "down", "left", "right")


@SPEC.draw
def draw(canvas, p, s):
    size, last = side_of(s), int(s.elapsed) - 1
    told = [f"{NAMES[int(s.wanted[k])]}, word {int(s.said[k, last])}" for k in range(2)] if last >= 0 else ["-", "-"]
    canvas.caption(f"blue: {told[0]}", f"orange: {told[1]}")
    canvas.legend(
        (FLOORS[0], "seen by blue"),
        (FLOORS[1], "seen by orange"),
        (FLOORS[2], "seen by both"),
        (WALLS[2], "wall"),
        ("green", "goal", "disc"),
        ("red", "token", "disc"),
    )
    view_board(canvas, size, size, 0.3)
    draw_table(canvas)
    for cell in range(size * size):
        seer = 2 if s.known[cell] else int(s.half[cell])
        hidden = canvas.viewer is not None and seer == 1 - canvas.viewer
        draw_tile(canvas, cell // size, cell % size, (WALLS if s.wall[cell] and not hidden else FLOORS)[seer])
    for cell, color, radius in ((int(s.goal), "green", 0.36), (int(s.token), "red", 0.24)):
        centre = (cell % size + 0.5, -(cell // size) - 0.5)
        canvas.circle(centre, radius, color)
        canvas.circle(centre, radius, "black", 2.0)


@SPEC.text
def text(p, s):
    size = side_of(s)
    marks = [
        "T" if cell == s.token else "G" if cell == s.goal else "#" if s.wall[cell] else "."
        for cell in range(size * size)
    ]
    return "\n".join("".join(marks[row * size : (row + 1) * size]) for row in range(size))


@SPEC.keys
def keys(pressed, values):
    """Arrows move, digits say a word."""
    move = next((n + 1 for n, key in enumerate(("up", "down", "left", "right")) if key in pressed), 0)
    return np.array([move, next((n for n in range(min(values.words, 10)) if str(n) in pressed), 0)])
