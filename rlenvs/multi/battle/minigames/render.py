"""Images of the mini-games: a field with units, orders and objects, and below it a panel with the marines' health and
orders."""

import math
from typing import Any

import numpy as np

from rlenvs.core.declare.canvas import HEAD_COLOR, HEAD_TEXT, Canvas
from rlenvs.multi.battle.figures import (
    EDGE,
    GRID,
    GROUND,
    LOW_HEALTH,
    SIDE_COLORS,
    directions,
    draw_bars,
    draw_fallen,
    draw_figure,
    draw_flashes,
    draw_shots,
    mixed,
)
from rlenvs.multi.battle.minigames.squads import ATTACK, IDLE, MARINE, MOVE
from rlenvs.multi.battle.units import KINDS

RIM = 0.35  # map units around the field
PANEL = 40.0  # pixels, at least
CRYSTAL, CRYSTAL_LIGHT = (0, 158, 115), (140, 214, 190)
UNSEEN, REMEMBERED = (118, 120, 122), (184, 183, 176)
ORDER_COLORS = {MOVE: "green", ATTACK: "red"}
ORDER_NAMES = {IDLE: "waits", MOVE: "moves", ATTACK: "attacks"}
MARINES = (SIDE_COLORS[0], "M marine", "disc")
MOVES, ATTACKS = ("green", "order: move", "line"), ("red", "order: attack", "line")
FEW = 4  # marines of whom the panel has a line each


def view_field(canvas: Canvas, width: float, height: float) -> tuple[float, float, float]:
    """Show the field in the upper part of an image. Returns map units per pixel, the share of the image that it takes,
    and how far one sees beside it."""
    scene_width, scene_height = canvas.scene
    pixel = max((width + 2.0 * RIM) / scene_width, (height + 2.0 * RIM) / (scene_height - PANEL))
    share, side = (height + 2.0 * RIM) / pixel / scene_height, (scene_width * pixel - width) / 2.0
    canvas.view(-side, width + side, -RIM, height + RIM, (0.0, 0.0, 1.0, share))
    return pixel, share, side


def order_places(canvas: Canvas, p: Any, orders: int) -> list[list[tuple[float, float]]]:
    """Where the points of so many kinds of orders lie, for `SPEC.places`; no order is in a list."""
    view_field(canvas, float(p.width), float(p.height))
    rows, columns = int(p.rows), int(p.columns)
    points = [((c + 0.5) * p.width / columns, (r + 0.5) * p.height / rows) for r in range(rows) for c in range(columns)]
    return [[], *([point] for _ in range(orders) for point in points)]


class Field:
    """The field in the upper part of an image; the panel fills the rest.

    Args:
        canvas: the image, its legend already given.
        p: data of the world.
        least: smallest radius of a unit, in pixels.
    """

    def __init__(self, canvas: Canvas, p: Any, least: float = 12.0) -> None:
        self.canvas, self.p = canvas, p
        self.width, self.height = float(p.width), float(p.height)
        self.pixel, self.share, side = view_field(canvas, self.width, self.height)
        self.least = least * self.pixel
        canvas.rectangle(-side, -RIM, self.width + side, self.height + RIM, EDGE)
        canvas.rectangle(0.0, 0.0, self.width, self.height, GROUND)
        for x in np.arange(2.0, self.width, 2.0):
            canvas.line([(x, 0.0), (x, self.height)], GRID, 1.0)
        for y in np.arange(2.0, self.height, 2.0):
            canvas.line([(0.0, y), (self.width, y)], GRID, 1.0)

    def beacon(self, place: Any, reach: float) -> None:
        """Rings that a marine has to reach."""
        for share, color in ((1.0, "green"), (0.8, mixed("green", 0.25)), (0.5, "green"), (0.3, mixed("green", 0.25))):
            self.canvas.circle(place, share * reach, color)

    def shard(self, place: Any) -> None:
        """A crystal."""
        x, y, unit = float(place[0]), float(place[1]), 12.0 * self.pixel
        outline = [(0.0, 1.1), (0.75, 0.3), (0.5, -0.9), (-0.5, -0.9), (-0.75, 0.3)]
        facet = [(0.0, 1.1), (0.0, -0.9), (-0.5, -0.9), (-0.75, 0.3)]
        self.canvas.polygon([(x + unit * dx, y + unit * dy) for dx, dy in outline], CRYSTAL)
        self.canvas.polygon([(x + unit * dx, y + unit * dy) for dx, dy in facet], CRYSTAL_LIGHT)
        self.canvas.line([(x + unit * dx, y + unit * dy) for dx, dy in outline], "black", 1.0, closed=True)

    def orders(self, s: Any) -> None:
        """A line from each marine under orders to its goal, with a ring there to move, a cross to attack."""
        for i in range(len(s.order)):
            if not s.standing[i] or s.order[i] == IDLE:
                continue
            goal, color = np.array([s.goal_x[i], s.goal_y[i]]), ORDER_COLORS[int(s.order[i])]
            self.canvas.line([(s.x[i], s.y[i]), goal], mixed(color, 0.7), 1.5)
            size = 6.0 * self.pixel
            if s.order[i] == MOVE:
                self.canvas.circle(goal, size, color, 2.0)
                continue
            for slope in (1.0, -1.0):
                ends = [goal - size * np.array([1.0, slope]), goal + size * np.array([1.0, slope])]
                self.canvas.line(ends, color, 2.5)

    def units(self, s: Any, seen: Any = None) -> None:
        """Everybody: the fallen, then who shoots whom, then who stands; enemies that nobody sees as shadows."""
        p, places = self.p, np.stack([s.x, s.y], axis=1)
        radius = np.maximum(p.unit_radius[s.kind], self.least)
        ahead = directions(s)
        for i in range(len(s.order)):
            if not s.standing[i] and s.x[i] > 0.0:  # places that no marine has had yet are at 0
                draw_fallen(self.canvas, int(s.kind[i]), places[i], radius[i], int(s.side[i]), self.pixel)
        hits = draw_shots(self.canvas, p, s, float(p.tick * p.step_mul))
        for i in np.flatnonzero(s.standing)[::-1].tolist():
            life = 0.3 if seen is not None and not seen[i] else 1.0
            draw_figure(self.canvas, int(s.kind[i]), places[i], radius[i], int(s.side[i]), self.pixel, ahead[i], life)
        draw_flashes(self.canvas, s, hits, radius, self.pixel)
        for i in np.flatnonzero(s.standing).tolist():
            share = float(s.health[i] / p.unit_health[s.kind[i]])
            if share < 1.0 and (seen is None or seen[i]):
                draw_bars(self.canvas, places[i], radius[i], self.pixel, {"health": share})

    def panel(self, s: Any, *lines: str) -> None:
        """How the marines are, on the left; lines of text on the right."""
        width, height = self.canvas.scene
        tall = height * (1.0 - self.share)
        self.canvas.view(0.0, width, 0.0, tall, (0.0, self.share, 1.0, 1.0))
        self.canvas.rectangle(0.0, 0.0, width, tall, HEAD_COLOR)
        if len(s.order) <= FEW:
            self._portraits(s, tall)
        else:
            self._ranks(s, tall)
        for row, line in enumerate(lines):
            y = tall * (row + 1.0) / (len(lines) + 1.0)
            self.canvas.text((width - 12.0, tall - y), line, "white", 14, "right")

    def _portraits(self, s: Any, tall: float) -> None:
        for i in range(len(s.order)):
            x, y = 26.0 + 105.0 * i, 0.5 * tall
            if s.standing[i]:
                draw_figure(self.canvas, MARINE, (x, y - 4.0), 14.0, 0, 1.0)
                draw_bars(self.canvas, (x, y - 4.0), 14.0, 1.0, {"health": self._health(s, i)})
                told = ORDER_NAMES[int(s.order[i])]
            else:
                told = "fallen"
                draw_fallen(self.canvas, MARINE, (x, y), 14.0, 0, 1.0)
            self.canvas.text((x + 26.0, y), told, HEAD_TEXT, 13)

    def _ranks(self, s: Any, tall: float) -> None:
        """A cell for each standing marine, as full as it is healthy."""
        alive = np.flatnonzero(s.standing[: len(s.order)])
        columns, size = 20, 14.0
        rows = -(-len(alive) // columns)
        for place, i in enumerate(alive):
            x = 12.0 + (size + 2.0) * (place % columns)
            y = 0.5 * tall + (size + 2.0) * (0.5 * rows - 1.0 - place // columns)
            share = self._health(s, i)
            self.canvas.rectangle(x, y, x + size, y + size, "black")
            color = "red" if share < LOW_HEALTH else SIDE_COLORS[0]
            self.canvas.rectangle(x, y, x + size, y + size * share, color)

    def _health(self, s: Any, i: Any) -> float:
        return float(s.health[i] / self.p.unit_health[MARINE])


def draw_beacon(canvas: Canvas, p: Any, s: Any) -> None:
    """MoveToBeacon."""
    away = math.hypot(s.x[0] - s.beacon_x, s.y[0] - s.beacon_y)
    canvas.caption(f"beacons reached {float(s.score):g}")
    canvas.legend(MARINES, ("green", "beacon to reach", "ring"), MOVES)
    field = Field(canvas, p, 14.0)
    field.beacon((s.beacon_x, s.beacon_y), float(p.reach))
    field.orders(s)
    field.units(s)
    field.panel(s, f"beacons {float(s.score):g}", f"next one {away:.1f} away")


def draw_shards(canvas: Canvas, p: Any, s: Any) -> None:
    """CollectMineralShards."""
    canvas.caption(f"shards collected {float(s.score):g}, {int(s.shards_left)} left")
    canvas.legend(MARINES, (CRYSTAL, "mineral shard"), MOVES)
    field = Field(canvas, p, 14.0)
    for j in np.flatnonzero(s.there):
        field.shard((s.shard_x[j], s.shard_y[j]))
    field.orders(s)
    field.units(s)
    field.panel(s, f"shards {float(s.score):g}", f"{int(s.shards_left)} left")


def draw_search(canvas: Canvas, p: Any, s: Any, in_sight: np.ndarray, seen: np.ndarray, cell: float) -> None:
    """FindAndDefeatZerglings; `in_sight` are cells of the field, `seen` units."""
    canvas.caption(f"score {float(s.score):g}, zerglings left {int(s.foes_left)}")
    canvas.legend(
        MARINES,
        (SIDE_COLORS[1], "L zergling, pale when unseen", "disc"),
        (REMEMBERED, "seen before"),
        (UNSEEN, "never seen"),
        ATTACKS,
    )
    field = Field(canvas, p, 9.5)
    for row, column in np.argwhere(~in_sight):
        shade = REMEMBERED if s.explored[row, column] else UNSEEN
        canvas.rectangle(cell * column, cell * row, cell * (column + 1), cell * (row + 1), shade)
    field.orders(s)
    field.units(s, seen)
    field.panel(s, f"score {float(s.score):g}", f"zerglings left {int(s.foes_left)}")


def draw_waves(canvas: Canvas, p: Any, s: Any) -> None:
    """DefeatRoaches, DefeatZerglingsAndBanelings."""
    first = len(s.order)
    canvas.caption(f"score {float(s.score):g}, wave {int(s.wave)}")
    foes = sorted(set(np.asarray(s.kind[first:]).tolist()))
    names = ", ".join({"zergling": "L zergling", "baneling": "B baneling", "roach": "O roach"}[KINDS[k]] for k in foes)
    canvas.legend(
        MARINES,
        (SIDE_COLORS[1], names, "disc"),
        ("green", "health"),
        MOVES,
        ATTACKS,
    )
    field = Field(canvas, p, 12.0)
    field.orders(s)
    field.units(s)
    field.panel(s, f"score {float(s.score):g}", f"marines {int(s.marines_left)}   enemies {int(s.foes_left)}")
