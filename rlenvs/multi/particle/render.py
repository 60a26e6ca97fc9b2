"""Images of particle worlds: a plane seen from above, bodies with faces that look in the direction of motion, marks on
landmarks, speech balloons. `scenes.py` has the image of each world."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rlenvs.core.declare.canvas import COLORS, Canvas, Color

INSIDE, OUTSIDE = (253, 252, 248), (231, 235, 236)
LINES, FAR_LINES = (234, 235, 232), (220, 225, 227)
FOREST, FOREST_EDGE, LEAVES = (196, 228, 203), (112, 178, 133), (62, 148, 98)
BURST = (255, 196, 0)
FARTHEST_VIEW = 2.5  # halves of the square; an agent further away gets an arrow at the edge
TINY = 5.0  # pixels; smaller bodies have neither faces nor numbers
SMALLEST_DOT = 2.5  # pixels
DARK_INK = ("yellow", "sky", "orange", "light", "white")


class Body(NamedTuple):
    """Somebody on the plane: "plain", or with the "horns" of a hunter, or a leader's "crown", or a fixed "box"; a label
    takes the place of the face."""

    radius: float  # m
    color: str
    look: str = "plain"
    label: str = ""


class Plane:
    """What an image shows of the plane: the square in which episodes begin, or more when somebody leaves it.

    Args:
        canvas: the image, its legend already given.
        half: half the side of the square, in meters.
        places: (n, 2) what is to be in the image.
        room: radius of the largest body, in meters.
    """

    def __init__(self, canvas: Canvas, half: float, places: Any, room: float) -> None:
        self.canvas = canvas
        room = max(room, 0.03 * half)
        limit = FARTHEST_VIEW * half
        places = np.clip(np.asarray(places, dtype=float).reshape(-1, 2), -limit, limit)
        low = np.minimum(places.min(axis=0, initial=-half), -half) - room
        high = np.maximum(places.max(axis=0, initial=half), half) + room
        shape = np.array(canvas.scene, dtype=float)
        self.pixel = float(((high - low) / shape).max())  # m
        self.low = (low + high - self.pixel * shape) / 2.0
        self.high = (low + high + self.pixel * shape) / 2.0
        (left, bottom), (right, top) = self.low, self.high
        canvas.view(left, right, bottom, top)
        canvas.rectangle(left, bottom, right, top, OUTSIDE)
        self._grid(self.low, self.high, 0.25 * half, FAR_LINES)
        canvas.rectangle(-half, -half, half, half, INSIDE)
        self._grid(np.full(2, -half), np.full(2, half), 0.25 * half, LINES)
        canvas.rectangle(-half, -half, half, half, "grey", 1.5)

    def _grid(self, low: np.ndarray, high: np.ndarray, step: float, color: Color) -> None:
        for x in step * np.arange(math.ceil(low[0] / step), math.floor(high[0] / step) + 1):
            self.canvas.line([(x, low[1]), (x, high[1])], color, 1.0)
        for y in step * np.arange(math.ceil(low[1] / step), math.floor(high[1] / step) + 1):
            self.canvas.line([(low[0], y), (high[0], y)], color, 1.0)

    def shows(self, place: Any, radius: float = 0.0) -> bool:
        """Whether a disc is in the image, all of it."""
        return bool((self.low <= place - radius).all() and (place + radius <= self.high).all())

    def obstacle(self, place: Any, radius: float) -> None:
        """A rock that nobody passes."""
        radius = max(radius, SMALLEST_DOT * self.pixel)
        self.canvas.circle(place, radius, (104, 108, 112))
        if radius > TINY * self.pixel:
            self.canvas.circle(place, radius - 2.0 * self.pixel, "grey")

    def forest(self, place: Any, radius: float) -> None:
        """An area with trees."""
        self.canvas.circle(place, radius, FOREST)
        self.canvas.circle(place, radius, FOREST_EDGE, 2.0)
        for dx, dy in ((-0.45, 0.3), (0.4, 0.42), (0.0, -0.05), (-0.35, -0.5), (0.45, -0.4)):
            x, y, tree = place[0] + dx * radius, place[1] + dy * radius, 0.16 * radius
            self.canvas.polygon([(x - tree, y - tree), (x, y + 1.2 * tree), (x + tree, y - tree)], LEAVES)

    def food(self, place: Any) -> None:
        """An apple."""
        unit = 9.0 * self.pixel
        self.canvas.line([place, (place[0] + 0.3 * unit, place[1] + 1.7 * unit)], "black", 2.0)
        self.canvas.circle(place, 1.15 * unit, "white")
        self.canvas.circle(place, unit, "orange")
        self.canvas.circle((place[0] - 0.3 * unit, place[1] + 0.3 * unit), 0.25 * unit, "white")

    def area(self, place: Any, radius: float, color: Color) -> None:
        """Where a landmark counts as reached: a ring, that stays visible around who stands in it."""
        radius = max(radius, 11.0 * self.pixel)
        self.canvas.circle(place, radius, faded(color, 0.3))
        self.canvas.circle(place, radius, color, 3.0)

    def target(self, place: Any, color: Color) -> None:
        """A landmark as cross-hairs, to be drawn over whoever stands on it."""
        radius = 12.0 * self.pixel
        self.canvas.circle(place, radius + 1.5 * self.pixel, "white", 6.5)
        self.canvas.circle(place, radius, color, 3.5)
        for ux, uy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            ends = [(place[0] + t * radius * ux, place[1] + t * radius * uy) for t in (0.45, 1.35)]
            self.canvas.line(ends, "white", 5.5)
            self.canvas.line(ends, color, 3.0)

    def flag(self, place: Any, color: Color) -> None:
        """A flag over a place, whoever stands there."""
        x, y, unit = float(place[0]), float(place[1]), self.pixel
        self.canvas.line([(x, y), (x, y + 34 * unit)], "white", 5.0)
        self.canvas.line([(x, y), (x, y + 34 * unit)], "black", 2.5)
        cloth = [(x, y + 34 * unit), (x + 20 * unit, y + 26 * unit), (x, y + 18 * unit)]
        self.canvas.polygon(cloth, color)
        self.canvas.polygon(cloth, "white", 1.0)

    def bodies(self, s: Any, bodies: Sequence[Body]) -> None:
        """Everybody, with an arrow for a velocity; at the edge an arrow to agents out of the image."""
        for k, body in enumerate(bodies):
            place, velocity = np.asarray(s.position[k], dtype=float), np.asarray(s.velocity[k], dtype=float)
            if not self.shows(place, body.radius):
                self._pointer(place, body)
            elif body.radius < TINY * self.pixel:
                self.canvas.circle(place, max(body.radius, SMALLEST_DOT * self.pixel), body.color)
            else:
                self._draw_body(place, velocity, body)

    def _draw_body(self, place: np.ndarray, velocity: np.ndarray, body: Body) -> None:
        canvas, speed = self.canvas, float(np.hypot(*velocity))
        if speed > 0.05:
            start = place + velocity / speed * body.radius
            canvas.arrow(start, start + 0.2 * velocity, "black", 2.0)
        if body.look == "horns":
            for side in (-1.0, 1.0):
                self._polygon(place, body.radius, [(0.2 * side, 0.8), (0.85 * side, 1.5), (0.85 * side, 0.4)], "black")
        if body.look == "box":
            for half, color in ((body.radius, "black"), (body.radius - 1.5 * self.pixel, body.color)):
                x, y = float(place[0]), float(place[1])
                canvas.rectangle(x - half, y - half, x + half, y + half, color, rounded=0.3 * half)
        else:
            canvas.circle(place, body.radius + 0.5 * self.pixel, "black")
            canvas.circle(place, body.radius - 1.0 * self.pixel, body.color)
        if body.look == "crown":
            tips = [(-0.8, 0.6), (-0.9, 1.55), (-0.4, 1.1), (0.0, 1.7), (0.4, 1.1), (0.9, 1.55), (0.8, 0.6)]
            self._polygon(place, body.radius, tips, "yellow")
            canvas.polygon(self._around(place, body.radius, tips), "black", 1.0)
        if body.label:
            ink = "black" if body.color in DARK_INK else "white"
            canvas.text(place, body.label, ink, round(min(1.1 * body.radius / self.pixel, 15)), "centre")
        else:
            self._face(place, velocity / max(speed, 0.3), body.radius)

    def _face(self, place: np.ndarray, gaze: np.ndarray, radius: float) -> None:
        """Two eyes that look where the body goes."""
        for side in (-1.0, 1.0):
            eye = place + radius * np.array([0.36 * side, 0.15]) + 0.2 * radius * gaze
            self.canvas.circle(eye, 0.3 * radius, "white")
            self.canvas.circle(eye + 0.13 * radius * gaze, 0.16 * radius, "black")

    def _around(self, place: Any, unit: float, points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        return [(place[0] + unit * x, place[1] + unit * y) for x, y in points]

    def _polygon(self, place: Any, unit: float, points: Sequence[tuple[float, float]], color: Color) -> None:
        self.canvas.polygon(self._around(place, unit, points), color)

    def _pointer(self, place: np.ndarray, body: Body) -> None:
        """An arrow at the edge of the image, towards a body outside, and how far from the middle that is."""
        unit = self.pixel
        at = np.clip(place, self.low + 16.0 * unit, self.high - 16.0 * unit)
        direction = (place - at) / max(float(np.hypot(*(place - at))), 1e-9)
        across = np.array([-direction[1], direction[0]])
        for size, color in ((15.0, "black"), (12.0, body.color)):
            tip, base = at + size * unit * direction, at - 0.7 * size * unit * direction
            self.canvas.polygon([tip, base + size * unit * across, base - size * unit * across], color)
        aside = np.where(at == place, 0.0, np.sign(at - place)) * (34.0, 24.0) * unit
        self.canvas.text(at + aside, f"{np.hypot(*place):.1f} m", "black", 12, "centre", ground="white")

    def bursts(self, s: Any, bodies: Sequence[Body], solid: Sequence[tuple[Any, float]] = ()) -> int:
        """A star wherever bodies touch each other, or something solid (place, radius). Returns how many there are."""
        discs = [(np.asarray(s.position[k], dtype=float), body.radius) for k, body in enumerate(bodies)]
        count = 0
        for k, (place, radius) in enumerate(discs):
            for other, reach in [*discs[:k], *((np.asarray(there, dtype=float), size) for there, size in solid)]:
                apart = other - place
                if float(np.hypot(*apart)) < radius + reach:
                    self._burst(place + apart * radius / (radius + reach), min(radius, reach))
                    count += 1
        return count

    def _burst(self, place: np.ndarray, radius: float) -> None:
        unit = min(self.pixel, 0.06 * radius)
        for size, color in ((13.0, "black"), (10.0, BURST)):
            turns = [(size if i % 2 == 0 else 0.5 * size, math.pi * i / 8.0) for i in range(16)]
            self.canvas.polygon([place + r * unit * np.array([math.cos(t), math.sin(t)]) for r, t in turns], color)

    def says(self, place: Any, words: Any, radius: float, name: str = "") -> None:
        """A balloon with what somebody says."""
        said, unit = spoken(words), self.pixel
        text = f"{name}says nothing" if said == "_" else f'{name}"{said}"'
        up = 1.0 if place[1] < self.high[1] - radius - 40.0 * unit else -1.0
        half = (4.0 * len(text) + 10.0) * unit
        x = float(np.clip(place[0], self.low[0] + half, self.high[0] - half))
        y = float(np.clip(place[1], self.low[1], self.high[1])) + up * (radius + 24.0 * unit)
        foot = (place[0], y - up * 17.0 * unit)
        self.canvas.polygon([(x - 5.0 * unit, y), foot, (x + 5.0 * unit, y)], BALLOON)
        self.canvas.text((x, y), text, "white", 14, "centre", ground=BALLOON)


BALLOON = (37, 44, 52)


def spoken(words: Any) -> str:
    """What somebody says: a letter, several with their strength, or "_" for nothing."""
    loud = [(float(word), chr(ord("A") + j)) for j, word in enumerate(words) if word > 0.0]
    if not loud:
        return "_"
    if len(loud) == 1 and loud[0][0] == 1.0:
        return loud[0][1]
    return " ".join(f"{letter} {strength:.1f}" for strength, letter in sorted(loud, reverse=True)[:4])


def faded(color: Color, share: float, ground: Color = INSIDE) -> tuple[int, int, int]:
    """A color mixed with the ground: a share of 0 is the ground."""
    here, there = (COLORS[c] if isinstance(c, str) else c for c in (color, ground))
    red, green, blue = (round(share * a + (1.0 - share) * b) for a, b in zip(here, there, strict=True))
    return red, green, blue
