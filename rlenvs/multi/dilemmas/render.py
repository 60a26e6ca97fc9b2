"""Images of social dilemmas."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rlenvs.core.declare.canvas import Canvas, Color, agent_color
from rlenvs.kits.boards.drawing import draw_letter, draw_table, draw_tile, view_board
from rlenvs.multi.dilemmas.commons_maps import APPLE, BEYOND, PAD, RIVER, STREAM, WALL, WASTE
from rlenvs.multi.dilemmas.commons_rules import REACH
from rlenvs.multi.dilemmas.storm_rules import COOPERATION, DEFECTION, SIDE, ZAPPED

CHOICES: tuple[Color, ...] = ("green", "red", "blue", "orange", "pink", "sky", "yellow", "black", "grey")
FELT, PAPER, INK, PALE = (214, 222, 208), (247, 245, 236), (60, 64, 68), (196, 198, 192)
GRASS: tuple[Color, Color] = ((226, 234, 214), (218, 228, 206))
GOLD, BLADE = (226, 176, 46), (196, 62, 52)
STONE, WATER, MUD, BROOK = (112, 116, 122), (126, 186, 222), (124, 92, 56), (162, 208, 232)
FIRE_COLOR, CLEAN_COLOR = (250, 208, 60), (120, 236, 246)
MOST_ROWS = 20  # agents in the image of SocialSearch-v0
FIRST_AGENT = (agent_color(0), "first agent", "triangle")  # in legends


def choice_color(choice: int) -> Color:
    """Of a choice; of none yet."""
    return PALE if choice < 0 else CHOICES[min(choice, len(CHOICES) - 1)]


def draw_matrix_game(canvas: Canvas, p: Any, s: Any) -> None:
    """The players with what they did last and have got so far; with two of them, the table and where they are in it."""
    last, total = np.asarray(s.past)[0].tolist(), np.asarray(s.total).tolist()
    most = int(max(p.choices))
    names = ("cooperated (0)", "defected (1)") if most == 2 else tuple(f"chose {n}" for n in range(most))
    canvas.legend(*[(choice_color(n), name, "disc") for n, name in enumerate(names[:6])])
    canvas.caption(f"round {int(s.elapsed)}", f"payoffs {sum(total):g} together")
    canvas.view(0.0, 10.0, 0.0, 9.0)
    canvas.rectangle(-10.0, -10.0, 20.0, 20.0, FELT)
    if len(last) == 2 and most <= 4:
        _draw_table(canvas, p, last, total, most)
        return
    size = min(1.1, 9.0 / len(last))
    for k, choice in enumerate(last):
        angle = 0.5 * math.pi - 2.0 * math.pi * k / len(last)
        x, y = 5.0 + 3.4 * math.cos(angle), 4.5 + 3.1 * math.sin(angle)
        canvas.circle((x, y), size + 0.08, "white")
        canvas.circle((x, y), size, choice_color(choice))
        if size > 0.5:
            canvas.text((x, y), f"{total[k]:g}", "black" if choice < 0 else "white", 24, "centre")
    canvas.text((5.0, 4.5), f"{last.count(0)} of {len(last)}", INK, 30, "centre")


def _draw_table(canvas: Canvas, p: Any, last: list[int], total: list[float], most: int) -> None:
    """Rows are the choices of the first player, columns those of the second."""
    side = 6.0 / most
    for i in range(most):
        _draw_disc(canvas, 2.0, 7.1 - side * (i + 0.5), choice_color(i), last[0] == i)
        _draw_disc(canvas, 2.9 + side * (i + 0.5), 7.9, choice_color(i), last[1] == i)
        for j in range(most):
            if i >= p.choices[0] or j >= p.choices[1]:
                continue
            left, top = 2.9 + side * j, 7.1 - side * i
            here = last == [i, j]
            canvas.rectangle(
                left + 0.05, top - side + 0.05, left + side - 0.05, top - 0.05, "yellow" if here else PAPER
            )
            pair = [f"{_payoff(p, (i, j), k):g}" for k in range(2)]
            size = min(32, int(54.0 * side / max(len(pair[0]), len(pair[1]))))  # both in the cell, apart
            canvas.text((left + 0.32 * side, top - 0.66 * side), pair[0], INK, size, "centre")
            canvas.text((left + 0.68 * side, top - 0.34 * side), pair[1], INK, size, "centre")
    canvas.text((1.0, 4.1), f"{total[0]:g}", INK, 28, "centre")
    canvas.text((5.9, 8.6), f"{total[1]:g}", INK, 28, "centre")


def _payoff(p: Any, choices: tuple[int, int], k: int) -> float:
    if p.counted:
        return float(p.table[choices[k] * 2 + choices[1 - k]])
    return float(p.table[(choices[0] * int(p.choices[1]) + choices[1]) * 2 + k])


def _draw_disc(canvas: Canvas, x: float, y: float, color: Color, chosen: bool) -> None:
    canvas.circle((x, y), 0.44, "white" if chosen else FELT)
    canvas.circle((x, y), 0.36 if chosen else 0.24, color)


def draw_coin_game(canvas: Canvas, p: Any, s: Any) -> None:
    """Agents as discs, their coins as rings of the same color."""
    side = int(p.side)
    canvas.legend(("blue", "first agent and coin"), ("red", "second agent and coin"))
    lost = ", ".join(str(int(debt)) for debt in s.debt)
    canvas.caption(f"round {int(s.elapsed) // int(p.round_steps) + 1}", f"to be paid back {lost}")
    pixels = view_board(canvas, side, side)
    draw_table(canvas)
    for i in range(side):
        for j in range(side):
            draw_tile(canvas, i, j, GRASS[(i + j) % 2], 0.02)
    for k, (row, column) in enumerate(np.asarray(s.coin).tolist()):
        x, y = column + (0.28, 0.72)[k], -row - 0.26
        canvas.circle((x, y), 0.2, ("blue", "red")[k])
        canvas.circle((x, y), 0.13, GOLD)
    for k, (row, column) in enumerate(np.asarray(s.position).tolist()):
        x, y = column + (0.3, 0.7)[k], -row - 0.68
        canvas.circle((x, y), 0.25, "white")
        canvas.circle((x, y), 0.22, ("blue", "red")[k])
        draw_letter(canvas, row + 0.18, column + (-0.2, 0.2)[k], "AB"[k], 0.28 * pixels, "white")


def _draw_walker(canvas: Canvas, x: float, y: float, ahead: tuple[float, float], color: Color, size: float) -> None:
    """A triangle that points ahead, centered on a point."""
    for scale, paint in ((1.3 * size, "white"), (size, color)):
        corners = [(0.5, 0.0), (-0.4, 0.4), (-0.22, 0.0), (-0.4, -0.4)]
        canvas.polygon(
            [
                (x + scale * (a * ahead[0] - b * ahead[1]), y + scale * (a * ahead[1] + b * ahead[0]))
                for a, b in corners
            ],
            paint,
        )


def draw_storm(canvas: Canvas, p: Any, s: Any) -> None:
    """The grid with row 0 below, so that left is left; agents show how many tokens of both kinds they have."""
    canvas.legend(
        *(FIRST_AGENT, ("green", "cooperation", "disc"), (BLADE, "defection", "square")),
        *((FIRE_COLOR, "zap"), (PALE, "stands still")),
    )
    canvas.caption("  ".join(f"{int(c)}:{int(d)}" for c, d in s.tokens))
    canvas.view(-0.15, SIDE + 0.15, -0.15, SIDE + 0.15)
    draw_table(canvas)
    for cell, code in enumerate(np.asarray(s.grid).tolist()):
        row, column = divmod(cell, SIDE)
        canvas.rectangle(column + 0.02, row + 0.02, column + 0.98, row + 0.98, GRASS[(row + column) % 2], rounded=0.08)
        if code == ZAPPED:
            canvas.rectangle(column + 0.06, row + 0.06, column + 0.94, row + 0.94, FIRE_COLOR, rounded=0.08)
        elif code == COOPERATION:
            canvas.circle((column + 0.5, row + 0.5), 0.27, "green")
        elif code == DEFECTION:
            canvas.rectangle(column + 0.26, row + 0.26, column + 0.74, row + 0.74, BLADE)
    for k, cell in enumerate(np.asarray(s.position).tolist()):
        row, column = divmod(cell, SIDE)
        ahead = ((1, 0), (0, 1), (-1, 0), (0, -1))[int(s.facing[k])]
        color = PALE if s.frozen[k] >= 0 else agent_color(k)
        _draw_walker(canvas, column + 0.5, row + 0.5, ahead, color, 0.78)


def draw_commons(canvas: Canvas, p: Any, s: Any) -> None:
    """The map, with agents as triangles and their beams."""
    columns = int(p.stride) - 2 * PAD
    ground = np.asarray(s.ground).reshape(-1, int(p.stride))[PAD:-PAD, PAD:-PAD]
    rows = len(ground)
    river = ((WATER, "river"), (MUD, "waste"), (CLEAN_COLOR, "cleaning beam")) if p.river else ()
    canvas.legend(FIRST_AGENT, ("green", "apple", "disc"), (FIRE_COLOR, "beam"), *river)
    waste = f", waste {int(s.waste) / int(p.river):.0%}" if p.river else ""
    canvas.caption(f"{int((ground == APPLE).sum())} apples{waste}", f"picked {int(np.sum(s.apples))}")
    view_board(canvas, rows, columns)
    canvas.rectangle(-100.0, -100.0, 200.0, 100.0, STONE)
    paint: dict[int, Color] = {WALL: STONE, RIVER: WATER, WASTE: MUD, STREAM: BROOK}
    for i in range(rows):
        for j in range(columns):
            code = int(ground[i, j])
            if code not in (WALL, BEYOND):
                canvas.rectangle(j, -i - 1.0, j + 1.0, -i, paint.get(code, GRASS[(i + j) % 2]))
            if code == APPLE:
                canvas.circle((j + 0.5, -i - 0.5), 0.42, "green")
    size = max(1.2, 0.045 * max(rows, columns))  # on large maps agents are larger than their cells
    for k, cell in enumerate(np.asarray(s.position).tolist()):
        if s.away[k]:
            continue
        row, column = divmod(cell, int(p.stride))
        down, right = ((-1, 0), (0, 1), (1, 0), (0, -1))[int(s.facing[k])]
        x, y = column - PAD + 0.5, -(row - PAD) - 0.5
        if s.fired[k]:
            color = FIRE_COLOR if s.fired[k] == 1 else CLEAN_COLOR
            canvas.line([(x, y), (x + REACH * right, y - REACH * down)], color, 8.0)
        _draw_walker(canvas, x, y, (right, -down), agent_color(k), size)


def draw_lattice(canvas: Canvas, p: Any, s: Any) -> None:
    """Agents in the colors of their last choices, on a ring or in rows; those in bad conditions have a dark rim."""
    last, columns = np.asarray(s.last).tolist(), int(p.columns)
    canvas.legend(("green", "cooperated", "disc"), ("red", "defected", "disc"), (INK, "bad conditions", "ring"))
    canvas.caption(f"cooperated {last.count(0)} of {len(last)}", f"payoffs {float(np.sum(s.total)):.0f} together")
    rows = len(last) // columns
    canvas.view(-0.2, columns + 0.2, -rows - 0.2, 0.2) if rows > 1 else canvas.view(-1.3, 1.3, -1.3, 1.3)
    canvas.rectangle(-1000.0, -1000.0, 2000.0, 2000.0, FELT)
    size = 0.42 if rows > 1 else min(0.2, 2.6 / len(last))
    for k, choice in enumerate(last):
        angle = 0.5 * math.pi - 2.0 * math.pi * k / len(last)
        x, y = (k % columns + 0.5, -(k // columns) - 0.5) if rows > 1 else (math.cos(angle), math.sin(angle))
        canvas.circle((x, y), size, INK if s.bad[k] else "white")
        canvas.circle((x, y), 0.72 * size, choice_color(choice))


def draw_social_search(canvas: Canvas, p: Any, s: Any) -> None:
    """A row for each of the first agents: the bits of its solution, and a bar for its score."""
    scores, loci = np.asarray(s.score).tolist(), len(s.row)
    shown = min(len(scores), MOST_ROWS)
    canvas.legend(("blue", "1"), (PALE, "0"), ("green", "score", "square"), (INK, "best score possible", "line"))
    canvas.caption(f"mean score of {len(scores)} agents {sum(scores) / len(scores):.2f}", f"best {max(scores):.2f}")
    wide = 0.6 * loci
    canvas.view(-0.5, loci + wide + 1.0, -shown - 0.3, 0.3)
    canvas.rectangle(-1000.0, -1000.0, 2000.0, 2000.0, FELT)
    for k in range(shown):
        for b in range(loci):
            paint: Color = "blue" if int(s.solution[k]) >> b & 1 else PALE
            canvas.rectangle(b + 0.06, -k - 0.94, b + 0.94, -k - 0.06, paint)
        left = loci + 0.4
        canvas.rectangle(left, -k - 0.85, left + wide, -k - 0.15, PAPER)
        canvas.rectangle(left, -k - 0.85, left + wide * scores[k], -k - 0.15, "green")
    canvas.line([(loci + 0.4 + wide, -shown), (loci + 0.4 + wide, 0.0)], INK, 3.0)
