"""Images of kitchens."""

from __future__ import annotations

from typing import Any

from rlenvs.core.declare.canvas import AGENT_COLORS, Canvas, Color
from rlenvs.kits.boards.drawing import draw_letter, draw_table, draw_tile, view_board
from rlenvs.multi.kitchen.layouts import BUTTON, COOKED, COUNTER, FLOOR, INDICATOR, PILE, PLATES, POT, SIDES, WINDOW
from rlenvs.multi.kitchen.rules import COOK_TIME

GROUND: tuple[Color, Color] = ((240, 236, 228), (232, 227, 217))
WOOD, EDGE, STEEL, FLAME, CHINA, SHADE = (
    *((186, 146, 104), (150, 112, 76), (92, 98, 106)),
    *((236, 112, 34), (252, 252, 250), (128, 132, 138)),
)
# of ingredients 0 ... 9
PAINTS: tuple[Color, ...] = (
    *((226, 178, 44), (204, 56, 48), (98, 158, 62), (138, 88, 170), (60, 130, 200)),
    *((224, 128, 170), (120, 84, 56), (70, 170, 160), (150, 150, 60), (90, 90, 160)),
)
MEANINGS: dict[int, tuple[Color, str]] = {
    POT: (STEEL, "pot"),
    WINDOW: ("green", "serving window"),
    INDICATOR: ("sky", "recipe of the day"),
    BUTTON: ("pink", "recipe on demand"),
}
LETTERS = {FLOOR: " ", COUNTER: "#", WINDOW: "X", POT: "P", INDICATOR: "R", BUTTON: "L", PLATES: "B"}


def contents(item: int) -> list[int]:
    """The ingredients of an item, in order."""
    return [i for i in range(10) for _ in range(item >> 2 * (i + 1) & 3)]


def draw_kitchen(canvas: Canvas, p: Any, s: Any) -> None:
    """The kitchen from above: stations, things on counters and in pots, cooks with what they hold."""
    rows, columns = int(p.rows), int(p.columns)
    there = set(p.ground.tolist())
    piles = [(PAINTS[i], f"ingredient {i}") for i in range(10) if PILE + i in there]
    if piles == [(PAINTS[0], "ingredient 0")]:
        piles = [(PAINTS[0], "onion")]
    shown = [MEANINGS[code] for code in MEANINGS if code in there]
    cooks = [(AGENT_COLORS[k], f"cook {k}", "disc") for k in range(min(len(s.cell), 2))]
    canvas.legend(*cooks, *piles, *shown)
    pixels = view_board(canvas, rows, columns)
    draw_table(canvas)
    for cell in range(rows * columns):
        if _in_sight(canvas, p, s, cell):
            _draw_cell(canvas, p, s, cell, pixels)
        else:
            draw_tile(canvas, cell // columns, cell % columns, SHADE, 0.0, 0.0)
    for k in range(len(s.cell)):
        if _in_sight(canvas, p, s, int(s.cell[k])):
            _draw_cook(canvas, p, s, k, pixels)
    known = canvas.viewer is None  # a cook sees it on an indicator alone
    recipe = [f"recipe {', '.join(map(str, contents(int(s.recipe))))}"] if len(piles) > 1 and known else []
    canvas.caption(f"served {int(s.served)}", *recipe)


def _in_sight(canvas: Canvas, p: Any, s: Any, cell: int) -> bool:
    """Whether the cook for whom the image is sees a cell."""
    if canvas.viewer is None or p.radius == 0:
        return True
    columns, own = int(p.columns), int(s.cell[canvas.viewer])
    return max(abs(cell // columns - own // columns), abs(cell % columns - own % columns)) <= int(p.radius)


def _draw_cell(canvas: Canvas, p: Any, s: Any, cell: int, pixels: float) -> None:
    row, column = divmod(cell, int(p.columns))
    kind, item = int(p.ground[cell]), int(s.items[cell])
    x, y = column + 0.5, -row - 0.5
    if kind == FLOOR:
        draw_tile(canvas, row, column, GROUND[(row + column) % 2], 0.0, 0.0)
        return
    draw_tile(canvas, row, column, EDGE, 0.0, 0.0)
    draw_tile(canvas, row, column, WOOD, 0.03)
    if kind == POT:
        _draw_pot(canvas, x, y, item, int(s.timer[cell]), pixels)
    elif kind == WINDOW:
        draw_tile(canvas, row, column, "green", 0.08)
        canvas.arrow((x, y - 0.25), (x, y + 0.3), "white", 4.0)
    elif kind == PLATES:
        for lift in (-0.08, 0.0, 0.08):
            _draw_plate(canvas, x, y + lift, 0.3)
    elif kind >= PILE:
        draw_tile(canvas, row, column, EDGE, 0.1)
        for right, up in ((-0.16, -0.14), (0.16, -0.14), (0.0, 0.14)):
            _draw_ingredient(canvas, x + right, y + up, kind - PILE, 0.16)
    elif kind in (INDICATOR, BUTTON):
        draw_tile(canvas, row, column, MEANINGS[kind][0], 0.08)
        if kind == INDICATOR or s.timer[cell] > 0:
            _draw_heap(canvas, x, y, contents(int(s.recipe)), 0.14)
        else:
            canvas.circle((x, y), 0.2, "white")
    else:
        _draw_item(canvas, x, y, item, 1.0)


def _draw_plate(canvas: Canvas, x: float, y: float, radius: float) -> None:
    canvas.circle((x, y), radius, SHADE)
    canvas.circle((x, y), 0.92 * radius, CHINA)
    canvas.circle((x, y), 0.6 * radius, SHADE, 1.0)


def _draw_ingredient(canvas: Canvas, x: float, y: float, kind: int, radius: float) -> None:
    canvas.circle((x, y), radius, "white")
    canvas.circle((x, y), 0.86 * radius, PAINTS[kind])


def _draw_heap(canvas: Canvas, x: float, y: float, kinds: list[int], radius: float) -> None:
    places = ((-1.05, -0.7), (1.05, -0.7), (0.0, 1.0)) if len(kinds) > 1 else ((0.0, 0.0),)
    for kind, (right, up) in zip(kinds, places, strict=False):
        _draw_ingredient(canvas, x + right * radius, y + up * radius, kind, radius)


def _draw_item(canvas: Canvas, x: float, y: float, item: int, size: float) -> None:
    """A plate, an ingredient, or a soup on its plate."""
    kinds = contents(item)
    if item & 1:
        _draw_plate(canvas, x, y, 0.34 * size)
        if kinds:
            canvas.circle((x, y), 0.28 * size, FLAME)
            _draw_heap(canvas, x, y, kinds, 0.1 * size)
    elif kinds:
        _draw_ingredient(canvas, x, y, kinds[0], 0.26 * size)


def _draw_pot(canvas: Canvas, x: float, y: float, item: int, timer: int, pixels: float) -> None:
    """A pot with what is in it: how long it still cooks, or a green rim when it is done."""
    done = bool(item & COOKED)
    canvas.rectangle(x - 0.46, y - 0.06, x + 0.46, y + 0.06, STEEL)
    canvas.circle((x, y), 0.38, "green" if done else FLAME if timer else STEEL)
    canvas.circle((x, y), 0.3, (60, 64, 70))
    _draw_heap(canvas, x, y, contents(item), 0.12)
    if timer:
        canvas.rectangle(x - 0.42, y - 0.46, x + 0.42, y - 0.36, "white")
        canvas.rectangle(x - 0.42, y - 0.46, x - 0.42 + 0.84 * (1 - timer / COOK_TIME), y - 0.36, "green")


def _draw_cook(canvas: Canvas, p: Any, s: Any, k: int, pixels: float) -> None:
    """A cook as a disc with a hat's rim and a nose where it faces, what it holds in front of it."""
    row, column = divmod(int(s.cell[k]), int(p.columns))
    x, y = column + 0.5, -row - 0.5
    down, right = SIDES[int(s.facing[k])]
    nose = [(x + 0.46 * right, y - 0.46 * down)]
    nose += [(x + 0.3 * right + turn * 0.2 * down, y - 0.3 * down + turn * 0.2 * right) for turn in (-1, 1)]
    canvas.polygon(nose, "black")
    canvas.circle((x, y), 0.36, "white")
    canvas.circle((x, y), 0.33, AGENT_COLORS[k])
    if s.held[k]:
        _draw_item(canvas, x + 0.16 * right, y - 0.16 * down, int(s.held[k]), 0.72)
    else:
        draw_letter(canvas, row, column, str(k), 0.4 * pixels, "white")


def text_of(p: Any, s: Any) -> str:
    """The kitchen in letters: # counter, X window, P pot, B plates, R and L indicators, 0 ... 9 ingredients, cooks as
    ^ v > < ; then what lies on counters, is in pots and in hands."""
    columns = int(p.columns)
    cells = [LETTERS.get(kind) or str(kind - PILE) for kind in p.ground.tolist()]
    for cell, side in zip(s.cell.tolist(), s.facing.tolist(), strict=True):
        cells[cell] = "^v><"[side]
    lines = ["".join(cells[first : first + columns]) for first in range(0, len(cells), columns)]
    for cell in s.items.nonzero()[0].tolist():
        time = f", {int(s.timer[cell])} steps left" if s.timer[cell] else ""
        place = "pot" if p.ground[cell] == POT else "counter"
        lines.append(f"{place} ({cell // columns}, {cell % columns}): {named(int(s.items[cell]))}{time}")
    lines += [f"cook {k} holds {named(item)}" for k, item in enumerate(s.held.tolist())]
    return "\n".join([*lines, f"recipe: {contents(int(s.recipe))}, served: {int(s.served)}"])


def named(item: int) -> str:
    """An item in words."""
    kinds = contents(item)
    if item & COOKED:
        return f"soup of {kinds}" + (" on a plate" if item & 1 else "")
    return "a plate" if item == 1 else f"ingredients {kinds}" if kinds else "nothing"
