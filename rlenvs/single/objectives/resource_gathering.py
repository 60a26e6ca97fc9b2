"""Resource gathering: bring home gold and a gem, with enemies on the short paths.

## Description
A gatherer sets out from home, finds gold and a gem on a grid of 5 x 5 cells, and has to bring them home. Two enemies
guard the short paths; each kills with some probability whenever the gatherer steps on its cell (Barrett and Narayanan,
"Learning all optimal policies with multiple criteria", ICML 2008). The map, spaces, rewards and time limit are
MO-Gymnasium's (1.3). `env.unwrapped.pareto_front(gamma)` gives the exact front. Without a discount it is one point: a
detour of 18 steps around both enemies brings both resources home without risk, (0, 1, 1), which dominates the whole
published front. With discounts of 0.99 and 0.98 this path also dominates the published one through an enemy, and
published points count one step too many; `rlenvs front ResourceGathering-v0` shows both. Different: `is_success`, and
`env.unwrapped.model` has the exact matrices.

## Action Space
One move to a neighboring cell; at the border the gatherer stays (and meets an enemy on its cell again, or arrives home
again).

## Observation Space
Row and column, starting at 0, and whether the gatherer has gold and a gem (0 or 1), integers. Scaled to [-1, 1] with
`scaled=True`.

## Rewards
`killed` is -1 when an enemy kills. `gold` and `gem` are 1 when they are brought home. The default weights are all 1.

## Costs
None.

## Starting State
At home, (4, 2), with nothing.

## Episode End
Termination: at home, or when killed. Truncation: 100 steps. `is_success` means that both gold and the gem were brought
home.

## Parameters
Settings that change the transition table are options, not parameters.

## Reference Scores
Mean return over seeds 0 to 99. The bound is the exact optimum under the default weights.

## Version History
v0: first version.
"""

from typing import Any

import numpy as np

from rlenvs.core import PublishedFront, block, discrete, json_option, published, term
from rlenvs.kits.boards.drawing import draw_tile, pressed_move, view_board
from rlenvs.kits.tables.table import Table
from rlenvs.kits.tables.world import outcome, parse_probability
from rlenvs.single.objectives.family import SOURCE, multi_objective, weights_of

SIZE, HOME, GOLD, GEM = 5, (4, 2), (0, 2), (1, 4)
ENEMIES = ((1, 2), (0, 3))
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))  # up, down, left, right
KEYS = (("up", "w"), ("down", "s"), ("left", "a"), ("right", "d"))
GROUND = ((198, 214, 168), (188, 206, 156))
TERMS = {
    "killed": term(-1.0, 0.0, 1.0, "-1 when an enemy kills"),
    "gold": term(0.0, 1.0, 1.0, "1 when gold is brought home"),
    "gem": term(0.0, 1.0, 1.0, "1 when the gem is brought home"),
}


def number_of(row: int, column: int, gold: int, gem: int) -> int:
    return ((row * SIZE + column) * 2 + gold) * 2 + gem


def parts_of(number: int) -> tuple[int, int, int, int]:
    cell, carried = divmod(int(number), 4)
    return *divmod(cell, SIZE), carried // 2, carried % 2


def build(values: Any) -> Table:
    table = Table(4 * SIZE * SIZE, len(MOVES), weights_of(TERMS))
    table.starts[number_of(*HOME, 0, 0)] = 1.0
    table.features = np.array([parts_of(state) for state in range(table.states)], float)
    for state in range(table.states):
        for action, move in enumerate(MOVES):
            _add(table, state, action, move, values.danger)
    return table


def _add(table: Table, state: int, action: int, move: tuple[int, int], danger: float) -> None:
    """What comes of a move."""
    row, column, gold, gem = parts_of(state)
    cell = min(max(row + move[0], 0), SIZE - 1), min(max(column + move[1], 0), SIZE - 1)
    gold, gem = int(gold or cell == GOLD), int(gem or cell == GEM)
    follows = number_of(*cell, gold, gem)
    if cell == HOME:
        table.add(state, action, follows, (0.0, gold, gem), end=True, success=bool(gold and gem))
        return
    risk = danger if cell in ENEMIES else 0.0
    if risk > 0.0:
        table.add(state, action, follows, (-1.0, 0.0, 0.0), probability=risk, end=True)
    if risk < 1.0:
        table.add(state, action, follows, (0.0, 0.0, 0.0), probability=1.0 - risk)


SPEC = multi_objective(
    "ResourceGathering-v0",
    build,
    TERMS,
    doc=__doc__,
    source="MO-Gymnasium resource-gathering (Barrett and Narayanan, ICML 2008)",
    options={"danger": json_option(0.1, parse_probability, "probability that an enemy kills a gatherer on its cell")},
    seen=block(
        4, low=0.0, high=lambda values: [4.0, 4.0, 1.0, 1.0], whole=True, doc="row, column, has gold, has the gem"
    ),
    action=discrete("up", "down", "left", "right"),
    published=published(
        "MO-Gymnasium resource-gathering-v0", "int32", low=0.0, high=5.0, reward=lambda values: ([-1, 0, 0], [0, 1, 1])
    ),
    horizon=100,
    fps=4,
    same_start=True,
    levels={"deadly": {"danger": 0.5}, "peaceful": {"danger": 0.0}},
)


@SPEC.step
def step(p, s, a, rng, r):
    j = outcome(p, s, a, rng, r)
    r.killed = p.gain[j, 0]
    r.gold = p.gain[j, 1]
    r.gem = p.gain[j, 2]


@SPEC.published_front
def published_front(values, gamma):
    """The routes that MO-Gymnasium lists, discounted as there, from step 1 on: steps until home, and until deaths."""
    if values.danger != 0.1:
        return None
    routes = (  # chance to come home, with what, steps; then (chance, steps) of deaths
        (1.0, (0, 0, 1), 10, ()),
        (0.81, (0, 1, 1), 12, ((0.1, 7), (0.09, 9))),
        (0.81, (0, 1, 0), 8, ((0.1, 3), (0.09, 5))),
        (0.9, (0, 1, 1), 14, ((0.1, 7),)),
        (1.0, (0, 1, 0), 12, ()),
        (0.9, (0, 1, 0), 10, ((0.1, 7),)),
    )
    points = []
    for chance, carried, steps, deaths in routes:
        lost = sum(risk * gamma**when for risk, when in deaths)
        points.append(chance * gamma**steps * np.array(carried) - np.array([lost, 0.0, 0.0]))
    from rlenvs.pareto.sets import nondominated

    found = np.array(points)
    note = f"{SOURCE}, `pareto_front` of the environment; it discounts a reward of step n by gamma^n, not gamma^(n-1)"
    return PublishedFront(found[nondominated(found)], (-1.0, -1.0, -1.0), note)


@SPEC.draw
def draw(canvas, p, s):
    row, column, gold, gem = parts_of(s.number)
    canvas.legend(
        ("blue", "gatherer", "disc"),
        ("yellow", "gold"),
        ("pink", "gem"),
        ("red", "enemy", "disc"),
        ((150, 100, 60), "home"),
    )
    view_board(canvas, SIZE, SIZE)
    for r in range(SIZE):
        for c in range(SIZE):
            draw_tile(canvas, r, c, GROUND[(r + c) % 2], 0.02)
    _draw_home(canvas)
    for r, c in ENEMIES:
        _draw_enemy(canvas, c + 0.5, -r - 0.5)
    if not gold:
        _draw_gold(canvas, GOLD[1] + 0.5, -GOLD[0] - 0.5, 1.0)
    if not gem:
        _draw_gem(canvas, GEM[1] + 0.5, -GEM[0] - 0.5, 1.0)
    x, y = column + 0.5, -row - 0.5
    canvas.circle((x, y), 0.3, "white")
    canvas.circle((x, y), 0.26, "blue")
    if gold:
        _draw_gold(canvas, x - 0.2, y - 0.2, 0.55)
    if gem:
        _draw_gem(canvas, x + 0.2, y - 0.2, 0.55)
    carried = [name for name, has in (("gold", gold), ("a gem", gem)) if has]
    canvas.caption(f"carries {' and '.join(carried) or 'nothing'}")


def _draw_home(canvas: Any) -> None:
    x, y = HOME[1] + 0.5, -HOME[0] - 0.5
    canvas.rectangle(x - 0.3, y - 0.36, x + 0.3, y + 0.1, (150, 100, 60))
    canvas.polygon([(x - 0.42, y + 0.08), (x + 0.42, y + 0.08), (x, y + 0.42)], (110, 60, 40))


def _draw_enemy(canvas: Any, x: float, y: float) -> None:
    canvas.circle((x, y), 0.3, "red")
    for side in (-0.11, 0.11):
        canvas.circle((x + side, y + 0.06), 0.06, "white")
        canvas.circle((x + side, y + 0.05), 0.03, "black")
    canvas.line([(x - 0.13, y - 0.14), (x, y - 0.08), (x + 0.13, y - 0.14)], "black", 2.0)


def _draw_gold(canvas: Any, x: float, y: float, size: float) -> None:
    for dx, dy in ((-0.14, -0.12), (0.14, -0.12), (0.0, 0.1)):
        canvas.circle((x + size * dx, y + size * dy), 0.15 * size, (150, 110, 20))
        canvas.circle((x + size * dx, y + size * dy), 0.12 * size, "yellow")


def _draw_gem(canvas: Any, x: float, y: float, size: float) -> None:
    corners = ((0.0, -0.3), (0.28, 0.06), (0.15, 0.22), (-0.15, 0.22), (-0.28, 0.06))
    canvas.polygon([(x + size * dx, y + size * dy) for dx, dy in corners], "pink")
    canvas.line([(x - 0.28 * size, y + 0.06 * size), (x + 0.28 * size, y + 0.06 * size)], "white", 1.5)


@SPEC.text
def text(p, s):
    row, column, gold, gem = parts_of(s.number)
    marks = {HOME: "H", **dict.fromkeys(ENEMIES, "E")} | ({} if gold else {GOLD: "$"}) | ({} if gem else {GEM: "*"})
    marks[row, column] = "G"
    return "\n".join("".join(marks.get((r, c), ".") for c in range(SIZE)) for r in range(SIZE))


@SPEC.keys
def keys(pressed, values):
    return pressed_move(pressed, KEYS)
