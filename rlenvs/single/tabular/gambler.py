"""Gambler: choose how much to stake on each coin toss to reach a target capital.

## Description
A gambler has some capital and tries to reach `goal`. Each bet is won with probability `heads`; a won stake is doubled,
a lost stake is gone (Sutton and Barto, "Reinforcement Learning", 2nd edition, example 4.3). If the coin is unfavorable,
bold play is optimal; there are many optimal policies, and the textbook's jagged figure is one of them.
`rlenvs.solve_mdp` gives the exact probability of reaching the goal from each capital.

## Action Space
The stake, 0 to half of the goal. The mask allows stakes from 1 to the smaller of the capital and the amount still
needed; a larger stake is reduced to that, and a stake of 0 changes nothing.

## Observation Space
The capital, 0 to `goal`. With `encoding="one_hot"` a one-hot vector.

## Rewards
`reward` is 1 for reaching the goal.

## Costs
None.

## Starting State
A uniformly drawn capital between 0 and the goal.

## Episode End
Termination: at the goal, a success, or without capital. Truncation: 1000 bets.

## Parameters
Settings that change the transition table are options, not parameters.

## Reference Scores
Mean return over seeds 0 to 99. The bound is the exact optimum.

## Version History
v0: first version.
"""

import math
from typing import Any

from rlenvs.core import discrete, integer, json_option
from rlenvs.kits.tables.drawing import Way, ways_of
from rlenvs.kits.tables.table import Table
from rlenvs.kits.tables.world import parse_probability, tabular

COIN, MISSING = (230, 176, 30), (222, 222, 216)


def build(values: Any) -> Table:
    goal, heads = values.goal, values.heads
    table = Table(goal + 1, goal // 2 + 1)
    for end in (0, goal):
        table.stay(end)
    for capital in range(1, goal):
        table.starts[capital] = 1.0
        most = min(capital, goal - capital)
        table.allowed[capital] = [1 <= stake <= most for stake in range(table.actions)]
        for action in range(table.actions):
            stake = min(action, most)
            if stake == 0:
                table.add(capital, action, capital)
                continue
            for after, probability in ((capital + stake, heads), (capital - stake, 1.0 - heads)):
                won = after == goal
                if probability > 0.0:
                    end = after in (0, goal)
                    table.add(capital, action, after, float(won), probability=probability, end=end, success=won)
    return table


SPEC = tabular(
    "Gambler-v0",
    build,
    (0.0, 1.0),
    doc=__doc__,
    source="Sutton and Barto, Reinforcement Learning, 2018",
    options={
        "goal": integer(100, 2, 500, "the capital that the gambler tries to reach"),
        "heads": json_option(0.4, parse_probability, "probability that a bet is won"),
    },
    action=lambda values: discrete(*(f"stake {stake}" for stake in range(values.goal // 2 + 1))),
    horizon=1000,
    fps=4,
)


@SPEC.draw
def draw(canvas, p, s):
    goal, capital = p.shown.size - 1, int(s.number)
    canvas.legend((COIN, "capital", "disc"), (MISSING, "missing to the goal", "disc"), ("blue", "reach of one bet"))
    high = 10.0 * canvas.scene[1] / canvas.scene[0]
    canvas.view(0.0, 10.0, 0.0, high)
    columns = max(10, math.ceil(math.sqrt(goal)))
    side = min(6.2 / columns, 6.0 / -(-goal // columns))
    left, top = 5.0 - 0.5 * columns * side, high - 0.3
    for coin in range(goal):
        row, column = divmod(coin, columns)
        place = left + (column + 0.5) * side, top - (row + 0.5) * side
        canvas.circle(place, 0.42 * side, COIN if coin < capital else MISSING)
    draw_stakes(canvas, capital, goal, ways_of(p, capital, 1) if 0 < capital < goal else [])
    canvas.caption(f"capital {capital}, goal {goal}")


def draw_stakes(canvas: Any, capital: int, goal: int, ways: list[Way]) -> None:
    """The scale from ruin to the goal, and how far a bet may lead on it."""
    y, most = 1.35, min(capital, goal - capital)

    def at(amount: float) -> float:
        return 0.8 + 8.4 * amount / goal

    canvas.line([(at(0), y), (at(goal), y)], "grey", 3.0)
    for amount, label in ((0, "ruin"), (goal, f"goal {goal}")):
        canvas.line([(at(amount), y - 0.2), (at(amount), y + 0.2)], "black", 4.0)
        canvas.text((at(amount), y - 0.55), label, "black", 15, "centre")
    for way in ways:
        side = 1 if way.state > capital else -1
        canvas.arrow((at(capital), y), (at(capital + side * most), y), "blue", 4.0)
    if ways:
        chances = ", ".join(
            f"{'won' if way.state > capital else 'lost'} with probability {way.probability:g}" for way in ways
        )
        stake = f"1 to {most}" if most > 1 else "1"
        canvas.text((5.0, 0.3), f"a stake of {stake}: {chances}", "blue", 15, "centre")
    canvas.polygon([(at(capital), y + 0.12), (at(capital) - 0.16, y + 0.46), (at(capital) + 0.16, y + 0.46)], "black")
    canvas.text((at(capital), y + 0.7), str(capital), "black", 16, "centre")


@SPEC.text
def text(p, s):
    return f"capital {s.number} of {p.shown.size - 1}"


@SPEC.keys
def keys(pressed, values):
    return next((action for action in range(1, 10) if str(action) in pressed), None)
