"""Path finding in words, for language agents."""

from typing import Any

import numpy as np

from rlenvs.core.forms.language import expect, one_of, read_order
from rlenvs.multi.pathfinding.maps import cell_of
from rlenvs.multi.pathfinding.planner import neighbour

MOVES = ("stay", "up", "down", "left", "right")


def window_text(p: Any, s: Any, k: int) -> str:
    """What agent k sees, a line per row."""
    columns, window = p.frame.shape[1], 2 * int(p.radius) + 1
    row, column = int(s.position[k, 0]), int(s.position[k, 1])
    here = (slice(row, row + window), slice(column, column + window))
    cells = np.where(np.asarray(s.blocked).reshape(-1, columns)[here], "#", ".")
    cells[np.asarray(s.occupant).reshape(-1, columns)[here] > 0] = "A"
    down, right = int(s.goal[k, 0]) - row, int(s.goal[k, 1]) - column
    if max(abs(down), abs(right)) <= p.radius:
        cells[p.radius + down, p.radius + right] = "G"
    cells[p.radius, p.radius] = "@"
    return "\n".join("".join(line) for line in cells)


def describe(p: Any, s: Any, k: int) -> str:
    """What agent k observes, and what it may reply."""
    row, column = (int(value) for value in s.position[k])
    goal_row, goal_column = (int(value) for value in s.goal[k])
    cell, columns = int(cell_of(p, s, k)), p.frame.shape[1]
    legal = [move for j, move in enumerate(MOVES) if not s.blocked[neighbour(cell, j, columns)]]
    orders = ["<stay()>" if move == "stay" else f"<move({move})>" for move in legal]
    return "\n".join(
        [
            f"PathFinding, step {int(s.elapsed)}. You are agent {k} of {len(s.position)} on a grid.",
            f"You are in row {row}, column {column}. Your goal is in row {goal_row}, column {goal_column}.",
            "Up is towards row 0, left towards column 0.",
            "You see (@ you, A another agent, G your goal, # obstacle, . free):",
            window_text(p, s, k),
            f"Valid actions: {', '.join(orders)}",
            "Task: reach your goal without blocking others. Reply with exactly one of the valid actions.",
        ]
    )


def parse_action(text: str, p: Any, s: Any, k: int) -> int:
    """The action that a reply stands for; ValueError with the reason when it is none."""
    name, arguments = read_order(text)
    if name == "stay":
        expect(name, arguments, 0)
        return 0
    if name == "move":
        expect(name, arguments, 1)
        return 1 + one_of(arguments[0], MOVES[1:], "direction")
    raise ValueError(f"there is no command <{name}(...)>; commands are <stay()> and <move(direction)>")
