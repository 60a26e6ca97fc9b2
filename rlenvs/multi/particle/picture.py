"""Pictures of particle worlds: discs on a plane that zooms out when somebody runs away."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlenvs.core.canvas import Canvas

Spot = tuple[Any, float, str]  # place, radius, colour
CROWDED = 5.0  # m; half the side of planes that are too large for arrows
TALKING = 0.12  # part of the picture below the plane, where words are written


def draw_bodies(
    canvas: Canvas,
    title: str,
    s: Any,
    bodies: Sequence[tuple[float, str]],
    spots: Sequence[Spot] = (),
    fields: Sequence[Spot] = (),
    rings: Sequence[Spot] = (),
    labels: Sequence[str] = (),
    lines: Sequence[str] = (),
    half: float = 1.0,
) -> None:
    """The plane with everything on it.

    Args:
        canvas, s: the picture, and the state of the world.
        title: name of the world.
        bodies: radius and colour of each body.
        spots: landmarks and obstacles, below the bodies.
        fields: areas, below everything.
        rings: marks around places.
        labels: a short text in each body.
        lines: what is written below the plane.
        half: half the side of the square that is drawn.
    """
    position = np.asarray(s.position, dtype=float)
    places = np.array([*position, *(place for place, _, _ in spots)], dtype=float)
    shown = max(1.15 * half, float(np.abs(places).max()) + 0.2)
    bottom = 1.0 - TALKING if lines else 1.0
    canvas.view(-shown, shown, -shown, shown, (0.0, 0.06, 1.0, bottom))
    canvas.rectangle(-half, -half, half, half, "white")
    for place, radius, color in fields:
        canvas.circle(place, radius, color)
    canvas.rectangle(-half, -half, half, half, "light", 2.0)
    for place, radius, color in spots:
        canvas.circle(place, radius, color)
    for place, radius, color in rings:
        canvas.circle(place, radius, color, 3.0)
    for k, (radius, color) in enumerate(bodies):
        canvas.circle(position[k], radius, color)
        canvas.circle(position[k], radius, "black", 0.7)
        velocity = np.asarray(s.velocity[k], dtype=float)
        if shown < CROWDED and np.hypot(*velocity) > 0.05:
            canvas.arrow(position[k], position[k] + 0.2 * velocity, "black", 1.5)
        if labels and labels[k]:
            canvas.text(position[k], labels[k], "white", 15, "centre")
    canvas.view(0.0, 1.0, 0.0, 1.0)
    for row, line in enumerate(lines):
        canvas.text((0.03, TALKING - 0.03 - 0.045 * row), line, "black", 14)
    canvas.caption(f"{title}   step {s.elapsed}")


def spoken(words: Any) -> str:
    """What somebody says: a letter, several with their strength, or "_" for nothing."""
    loud = [(float(word), chr(ord("A") + j)) for j, word in enumerate(words) if word > 0.0]
    if not loud:
        return "_"
    if len(loud) == 1 and loud[0][0] == 1.0:
        return loud[0][1]
    return " ".join(f"{letter} {strength:.1f}" for strength, letter in sorted(loud, reverse=True)[:4])
