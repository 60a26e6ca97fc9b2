"""Tiles, pictures and texts of the crafting world. All shapes are made here."""

from typing import Any

import numpy as np

from rlenvs.core import kernel
from rlenvs.core.declare.canvas import Canvas
from rlenvs.single.exploration.crafting_things import (
    ARROW,
    FULL,
    ITEMS,
    MATERIALS,
    PLANT,
    RIPE,
    SIDE,
    STRIDE,
    cell_at,
)

UNIT = 7  # pixels of a tile
SHOT = (
    19  # tiles: materials 0 to 12, things 13 to 18, arrows by direction, players by direction and asleep, items, digits
)
PLAYER, ICON = SHOT + 4, SHOT + 9
TILES = ICON + len(ITEMS) + FULL + 1
COLOURS = {
    "water": (64, 120, 200),
    "grass": (96, 160, 72),
    "stone": (132, 134, 140),
    "path": (196, 176, 140),
    "sand": (226, 212, 150),
    "tree": (34, 96, 48),
    "lava": (228, 98, 24),
    "coal": (60, 60, 64),
    "iron": (208, 150, 110),
    "diamond": (214, 246, 250),
    "table": (150, 98, 50),
    "furnace": (90, 84, 84),
}
BODY = {
    "cow": (110, 66, 46),
    "zombie": (40, 90, 40),
    "skeleton": (236, 236, 226),
    "arrow": (40, 30, 20),
    "plant": (60, 200, 90),
}
PLAYER_COLOUR = (30, 60, 190)
ITEM_COLOURS = (
    *((220, 50, 60), (200, 130, 60), (70, 140, 230), (240, 220, 70), (80, 200, 90), (150, 98, 50), (150, 152, 158)),
    *((50, 50, 54), (214, 150, 104), (190, 240, 248), (170, 116, 62), (150, 152, 158), (224, 166, 120)),
    *((170, 116, 62), (150, 152, 158), (224, 166, 120)),
)
DIGITS: tuple[str, ...] = ("", "010110010010111", "111001111100111", "111001011001111", "101101111001001")
DIGITS += ("111100111001111", "111100111101111", "111001010010010", "111101111101111", "111101111001111")
SHAPES = {
    "cow": ".......|.#...#.|.#####.|######.|.#####.|.#...#.|.......",
    "zombie": "..###..|..###..|.#####.|#.###.#|..###..|..#.#..|..#.#..",
    "skeleton": "..###..|..#.#..|...#...|.#####.|...#...|..#.#..|.#...#.",
    "plant": ".......|...#...|.#.#.#.|..###..|...#...|...#...|.......",
    "player": "..###..|..###..|.#####.|.#####.|.#####.|..#.#..|..#.#..",
    "asleep": ".......|.......|.......|.......|#######|#######|.......",
    "food": ".......|.###...|.####..|..####.|...##..|.......|.......",
    "pickaxe": "#####..|...##..|..#.#..|.#..#..|#......|.......|.......",
    "sword": "....#..|...##..|..##...|#.#....|.#.....|#.#....|.......",
    "lump": ".###...|#####..|#####..|.###...|.......|.......|.......",
    "heart": "##.##..|#####..|#####..|.###...|..#....|.......|.......",
}
ITEM_SHAPES = ("heart", "food", "lump", "lump", "plant", *["lump"] * 5, *["pickaxe"] * 3, *["sword"] * 3)


def shaped(name: str, colour: Any) -> np.ndarray:
    """A tile (UNIT, UNIT, 4) with a shape, clear around it."""
    tile = np.zeros((UNIT, UNIT, 4), np.uint8)
    for row, line in enumerate(SHAPES[name].split("|")):
        for column, mark in enumerate(line):
            if mark == "#":
                tile[row, column] = (*colour, 255)
    return tile


def ground(name: str) -> np.ndarray:
    """A tile of a material, with specks that tell it from others."""
    tile = np.zeros((UNIT, UNIT, 4), np.uint8)
    stone = name in ("coal", "iron", "diamond")
    tile[:] = (*COLOURS["stone" if stone else "grass" if name == "tree" else name], 255)
    if stone:
        for row, column in ((1, 2), (2, 4), (4, 1), (4, 5), (5, 3), (2, 1), (5, 4)):
            tile[row, column, :3] = COLOURS[name]
    elif name == "tree":
        tile[0:5, 1:6, :3], tile[5:, 3, :3] = COLOURS["tree"], (110, 70, 40)
    elif name in ("table", "furnace"):
        tile[1:6, 1:6, :3] = np.minimum(np.array(COLOURS[name]) + 40, 255)
        tile[3:5, 2:5, :3] = (240, 120, 30) if name == "furnace" else (110, 70, 36)
    else:
        light = np.minimum(np.array(COLOURS[name]) + 22, 255)
        for row, column in ((1, 1), (2, 5), (4, 3), (5, 6), (6, 0)):
            tile[row, column, :3] = light
    return tile


def make_tiles() -> np.ndarray:
    """All tiles, (TILES, UNIT, UNIT, 4): red, green, blue, and 255 where they cover what is below."""
    tiles = np.zeros((TILES, UNIT, UNIT, 4), np.uint8)
    tiles[0] = (127, 127, 127, 255)
    for number, name in enumerate(MATERIALS, 1):
        tiles[number] = ground(name)
    for number, name in enumerate(("cow", "zombie", "skeleton"), 13):
        tiles[number] = shaped(name, BODY[name])
    tiles[17] = shaped("plant", BODY["plant"])
    tiles[18] = tiles[17]
    tiles[18, 1:3, 2:5] = (230, 40, 60, 255)
    for direction in range(4):
        arrow = tiles[SHOT + direction]
        arrow[3, 1:6] = (*BODY["arrow"], 255)
        arrow[2:5, 1] = (*BODY["arrow"], 255)
        player = shaped("player", PLAYER_COLOUR)
        player[0:2, 2:5, :3] = (240, 200, 170)
        mark = ((3, 0), (3, 6), (0, 3), (6, 3))[direction]
        player[mark] = (250, 230, 60, 255)
        tiles[PLAYER + direction] = player
    tiles[SHOT + 1] = tiles[SHOT][:, ::-1]
    tiles[SHOT + 2], tiles[SHOT + 3] = np.rot90(tiles[SHOT + 1]), np.rot90(tiles[SHOT])
    tiles[PLAYER + 4] = shaped("asleep", PLAYER_COLOUR)
    for number, (shape, colour) in enumerate(zip(ITEM_SHAPES, ITEM_COLOURS, strict=True)):
        tiles[ICON + number] = shaped(shape, colour)
    for digit in range(1, FULL + 1):
        bits = np.array([int(bit) for bit in DIGITS[digit]], bool).reshape(5, 3)
        tiles[ICON + len(ITEMS) + digit, 2:7, 4:7][bits] = 255
    return tiles


@kernel
def paint(screen, tiles, tile, x, y, light, asleep):
    """Put a tile at a place of a picture, as bright as it is there."""
    for row in range(UNIT):
        for column in range(UNIT):
            if tiles[tile, row, column, 3] == 0:
                continue
            red, green, blue = (
                float(tiles[tile, row, column, 0]),
                float(tiles[tile, row, column, 1]),
                float(tiles[tile, row, column, 2]),
            )
            grey = 0.299 * red + 0.587 * green + 0.114 * blue
            dark = 1.0 - light
            red = light * red + dark * 0.5 * (0.4 * red + 0.6 * grey)
            green = light * green + dark * (0.5 * (0.4 * green + 0.6 * grey) + 8.0)
            blue = light * blue + dark * (0.5 * (0.4 * blue + 0.6 * grey) + 32.0)
            if asleep:
                grey = 0.299 * red + 0.587 * green + 0.114 * blue
                red, green, blue = 0.5 * grey, 0.5 * grey, 0.5 * grey + 8.0
            screen[y * UNIT + row, x * UNIT + column, 0] = int(red)
            screen[y * UNIT + row, x * UNIT + column, 1] = int(green)
            screen[y * UNIT + row, x * UNIT + column, 2] = int(blue)


# --- images for people ------------------------------------------------------------------------------------------------

ACROSS, ALONG = 9, 6  # cells shown on each side of the player


def draw_land(canvas: Canvas, p: Any, s: Any, light: float) -> None:
    """The land around the player, and its inventory below."""
    canvas.legend(
        (PLAYER_COLOUR, "player"),
        (BODY["zombie"], "zombie"),
        ((236, 236, 226), "skeleton"),
        (BODY["cow"], "cow"),
        (COLOURS["water"], "water"),
        (COLOURS["lava"], "lava"),
    )
    kept: dict[tuple[int, float], list[Run]] = {}  # of the tiles that were drawn

    def draw_tile(tile: int, x: float, y: float, shade: float, size: float = 1.0) -> None:
        if (tile, shade) not in kept:
            kept[tile, shade] = runs_of(p.tiles[tile], shade)
        draw_runs(canvas, kept[tile, shade], x, y, size)

    canvas.view(-ACROSS, ACROSS + 1, -ALONG - 4.0, ALONG + 1)
    for x in range(-ACROSS, ACROSS + 1):
        for y in range(-ALONG, ALONG + 1):
            column, row = int(s.cell) // STRIDE - 5 + x, int(s.cell) % STRIDE - 5 + y
            inside = 0 <= column < SIDE and 0 <= row < SIDE
            cell = cell_at(column, row) if inside else 0
            draw_tile(int(s.material[cell]) if inside else 0, x, -y, light)
            if x == 0 and y == 0:
                draw_tile(PLAYER + (4 if s.sleeping else int(s.facing)), x, -y, 1.0)
            elif inside and s.occupant[cell]:
                k = int(s.occupant[cell]) - 1
                kind = int(s.kind[k])
                tile = SHOT + int(s.heading[k]) if kind == ARROW else 12 + kind
                tile += 1 if kind == PLANT and s.timer[k] > RIPE else 0
                draw_tile(tile, x, -y, 0.5 + 0.5 * light)
    for k in range(len(ITEMS)):
        left, low = -ACROSS + 0.3 + 2.35 * (k % 8), -ALONG - 1.7 - 1.8 * (k // 8)
        if s.items[k] > 0:
            draw_tile(ICON + k, left, low, 1.0, 1.35)
            canvas.text((left + 1.35, low + 0.5), str(int(s.items[k])), size=15)


Run = tuple[int, int, int, tuple[int, int, int]]  # row, first column, the column behind the last one, color


def runs_of(tile: np.ndarray, light: float) -> list[Run]:
    """What is to be drawn of a tile, in runs of one color."""
    shade = np.array([0.25, 0.3, 0.45]) * (1.0 - light) + light
    colours = (tile[..., :3] * shade).astype(int).tolist()
    runs = []
    for row, pixels in enumerate(tile.tolist()):
        column = 0
        while column < UNIT:
            last = column
            while last < UNIT and pixels[last] == pixels[column]:
                last += 1
            if pixels[column][3]:
                red, green, blue = colours[row][column]
                runs.append((row, column, last, (red, green, blue)))
            column = last
    return runs


def draw_runs(canvas: Canvas, runs: list[Run], x: float, y: float, size: float) -> None:
    """A tile whose lower left corner is (x, y)."""
    dot = size / UNIT
    for row, first, last, color in runs:
        top = y + size - row * dot
        canvas.rectangle(x + first * dot, top - dot, x + last * dot, top, color)


def land_text(s: Any) -> str:
    """The land in letters: ~ water, . grass, # stone, _ path, : sand, T tree, ! lava, c coal, i iron, d diamond, t
    table, f furnace; @ the player, C cow, Z zombie, S skeleton, - arrow, p plant."""
    materials, occupants, player = s.material.tolist(), s.occupant.tolist(), int(s.cell)
    lines = []
    for y in range(SIDE):
        line = ""
        for x in range(SIDE):
            cell = cell_at(x, y)
            letter = " ~.#_:T!cidtf"[materials[cell]]
            if occupants[cell]:
                letter = " CZS-p"[int(s.kind[occupants[cell] - 1])]
            line += "@" if cell == player else letter
        lines.append(line)
    return "\n".join(lines)
