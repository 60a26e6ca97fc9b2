"""Images and texts of puzzles."""

from typing import Any

from rlenvs.core.declare.canvas import Canvas
from rlenvs.kits.boards.drawing import draw_letter, view_board
from rlenvs.kits.boards.letters import joined

GROUND, WALL, AGENT_WALL = (244, 243, 238), (62, 66, 72), (230, 159, 0)
AGENT, OBJECT, OTHER = (0, 158, 115), (213, 94, 0), (86, 180, 233)
LINE = 0.07  # half of the gap between objects


def cells_of(p: Any, s: Any) -> list[tuple[int, int, int, int]]:
    """Object, row, column and neighbors of all cells of objects."""
    k, found = int(s.puzzle_index), []
    for j in range(int(p.cell_count[k])):
        i, down, right, around = map(int, p.cell[k, j])
        found.append((i, int(s.at[i, 0]) + down, int(s.at[i, 1]) + right, around))
    return found


def goals_of(p: Any, k: int) -> list[tuple[int, int, int, int]]:
    """The same of goals."""
    found = []
    for j in range(int(p.goal_cell_count[k])):
        i, down, right, around = map(int, p.goal_cell[k, j])
        found.append((i, int(p.goal[k, i, 0]) + down, int(p.goal[k, i, 1]) + right, around))
    return found


def has_wall(lines: Any, row: int, column: int) -> bool:
    """Whether a cell is marked in rows of bits."""
    return bool(int(lines[row]) >> column & 1)


def _extent(p: Any, k: int) -> tuple[int, int, int, int]:
    """The first row and column of the puzzle in its grid, and how many it has."""
    rows = [r for r in range(p.walls.shape[1]) if int(p.walls[k, r])]
    bits = 0
    for r in rows:
        bits |= int(p.walls[k, r])
    first = (bits & -bits).bit_length() - 1
    return rows[0], first, len(rows), bits.bit_length() - first


def draw_puzzle(canvas: Canvas, p: Any, s: Any) -> None:
    """Walls, objects as connected shapes, outlines of goals."""
    k = int(s.puzzle_index)
    top, left, rows, columns = _extent(p, k)
    goals = int(p.goal_count[k])
    told = [f"{int(s.on_goal)} of {goals} on their goals"]
    canvas.caption(*told, *["dead end"] * bool(s.dead))
    canvas.legend(
        (AGENT, "agent"),
        (OBJECT, "has a goal"),
        ("red", "goal", "ring"),
        (OTHER, "movable"),
        (WALL, "wall"),
        (AGENT_WALL, "stops only the agent"),
    )
    pixels = view_board(canvas, rows, columns)
    for r in range(rows):
        for c in range(columns):
            solid = has_wall(p.walls[k], r + top, c + left)
            agents = has_wall(p.agent_walls[k], r + top, c + left)
            color = WALL if solid else AGENT_WALL if agents else GROUND
            gap = 0.0 if solid or agents else 0.02
            canvas.rectangle(c + gap, -r - 1 + gap, c + 1 - gap, -r - gap, color)
    for i, row, column, around in cells_of(p, s):
        color = AGENT if i == 0 else OBJECT if i <= goals else OTHER
        _draw_part(canvas, row - top, column - left, around, color)
    for _, row, column, around in goals_of(p, k):
        _draw_outline(canvas, row - top, column - left, around, max(3.0, 0.09 * pixels))
    if goals > 1:
        _write_numbers(canvas, p, s, top, left, 0.4 * pixels)


def _draw_part(canvas: Canvas, row: int, column: int, around: int, color: Any) -> None:
    """One cell of an object, joined to its neighbors of the same object."""
    west, east, north, south = ((around >> bit) & 1 for bit in range(4))
    edges = (
        column + (0.0 if west else LINE),
        -row - 1 + (0.0 if south else LINE),
        column + 1 - (0.0 if east else LINE),
        -row - (0.0 if north else LINE),
    )
    canvas.rectangle(*edges, color)


def _draw_outline(canvas: Canvas, row: int, column: int, around: int, width: float) -> None:
    near, far = 0.05, 0.95
    corners = {0: ((0, 0), (0, 1)), 1: ((1, 0), (1, 1)), 2: ((0, 0), (1, 0)), 3: ((0, 1), (1, 1))}
    for bit, ends in corners.items():
        if not around >> bit & 1:
            shift = {0: (near, 0.0), 1: (far - 1.0, 0.0), 2: (0.0, -near), 3: (0.0, 1.0 - far)}[bit]
            canvas.line([(column + x + shift[0], -row - y + shift[1]) for x, y in ends], "red", width)


def _write_numbers(canvas: Canvas, p: Any, s: Any, top: int, left: int, size: float) -> None:
    """Which object goes where."""
    k, told = int(s.puzzle_index), set()
    for i, row, column, _ in cells_of(p, s):
        if 0 < i <= int(p.goal_count[k]) and i not in told:
            told.add(i)
            draw_letter(canvas, row - top, column - left, str(i), size, "white")
    occupied = {(row, column) for _, row, column, _ in cells_of(p, s)}
    shown = set()
    for i, row, column, _ in goals_of(p, k):
        if i not in shown and (row, column) not in occupied:
            shown.add(i)
            draw_letter(canvas, row - top, column - left, str(i + 1), size, "red")


def puzzle_text(p: Any, s: Any) -> str:
    """The puzzle as it stands, in the format of .pwp files without the ring of walls."""
    k = int(s.puzzle_index)
    top, left, rows, columns = _extent(p, k)
    cells: dict[tuple[int, int], list[str]] = {}
    for r in range(rows):
        for c in range(columns):
            for name, lines in (("W", p.walls), ("AW", p.agent_walls)):
                if has_wall(lines[k], r + top, c + left):
                    cells.setdefault((r, c), []).append(name)
    for name, each in (("G", goals_of(p, k)), ("M", cells_of(p, s))):
        for i, row, column, _ in each:
            number = i + 1 if name == "G" else i
            cells.setdefault((row - top, column - left), []).append(f"{name}{number}" if number else "A")
    names = [["+".join(cells.get((r, c), ["."])) for c in range(1, columns - 1)] for r in range(1, rows - 1)]
    widest = max(len(each) for row in names for each in row)
    return joined(([each.ljust(widest) for each in row] for row in names), " ")
