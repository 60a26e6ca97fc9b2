"""Images of bandits: what arms pay, and what is known of it."""

import math
from typing import Any

from rlenvs.core.declare.canvas import AGENT_COLORS, Canvas, Color

SPREAD: dict[bool, Color] = {True: (190, 228, 214), False: (208, 222, 234)}  # of the best arm, of others
AXIS: Color = (206, 206, 200)
LEFT, RIGHT = 0.8, 9.8  # of the arms
LEGIBLE = 20  # arms with numbers
MOST_ROW = 10  # pictures in a row


def draw_bandit(canvas: Canvas, p: Any, s: Any, gaussian: bool) -> None:
    """For each arm of the picture that is shown: its mean, which the agent does not see, and one standard deviation of
    what it pays; the mean of its payouts so far, with its standard error; below, how often it was pulled."""
    picture = int(s.picture)
    pictures, arms = s.means.shape
    canvas.legend(
        ("green", "mean of the best arm, hidden", "line"),
        ("blue", "of other arms", "line"),
        (SPREAD[False], "standard deviation of a payout"),
        ("black", "mean payout so far", "disc"),
        ("orange", "last payout", "disc"),
    )
    high = 10.0 * canvas.scene[1] / canvas.scene[0]
    canvas.view(0.0, 10.0, 0.0, high)
    top = high - (1.5 if pictures > 1 else 0.5)
    if pictures > 1:
        _draw_pictures(canvas, picture, pictures, high - 0.75)
    low, most = _range_of(p, s.means[picture], gaussian)

    def up(payout: float) -> float:
        return 1.5 + (top - 1.5) * (min(max(payout, low), most) - low) / (most - low)

    _draw_axis(canvas, up, low, most)
    step = (RIGHT - LEFT) / arms
    for arm in range(arms):
        x = LEFT + (arm + 0.5) * step
        _draw_arm(canvas, s, arm, x, step, up, float(p.noise) if gaussian else None)
        if arms <= LEGIBLE:
            canvas.text((x, 1.05), str(arm), "black", 15, "centre")
            canvas.text((x, 0.4), str(int(s.pulls[picture, arm])), "grey", 13, "centre")
    if arms <= LEGIBLE:
        canvas.text((0.1, 1.05), "arm", "black", 13)
        canvas.text((0.1, 0.4), "pulls", "grey", 13)
    said = f"picture {picture} of {pictures}, " if pictures > 1 else ""
    canvas.caption(f"{said}regret so far {s.regret:.1f}")


def _range_of(p: Any, means: Any, gaussian: bool) -> tuple[float, float]:
    """The payouts that the image has room for."""
    if not gaussian:
        return -0.05, 1.05
    reach = 1.2 * float(p.noise) + 0.05
    return min(float(means.min()), 0.0) - reach, max(float(means.max()), 0.0) + reach


def _draw_axis(canvas: Canvas, up: Any, low: float, most: float) -> None:
    step = next(each for each in (0.5, 1.0, 2.0, 5.0, 10.0, 100.0, 10_000.0) if (most - low) / each <= 9.0)
    for k in range(math.ceil(low / step), math.floor(most / step) + 1):
        y = up(k * step)
        canvas.line([(LEFT, y), (RIGHT, y)], "grey" if k == 0 else AXIS, 2.0 if k == 0 else 1.0)
        canvas.text((LEFT - 0.12, y), f"{k * step:g}", "black", 12, "right")


def _draw_arm(canvas: Canvas, s: Any, arm: int, x: float, step: float, up: Any, noise: float | None) -> None:
    """One arm; without `noise` it pays 1 with the probability that is its mean."""
    means = s.means[int(s.picture)]
    mean, best = float(means[arm]), bool(means[arm] == means.max())
    half = 0.36 * step
    noise = math.sqrt(mean * (1.0 - mean)) if noise is None else noise
    canvas.rectangle(x - half, up(mean - noise), x + half, up(mean + noise), SPREAD[best], rounded=0.4 * half)
    canvas.line([(x - half, up(mean)), (x + half, up(mean))], "green" if best else "blue", 4.0)
    pulls = int(s.pulls[int(s.picture), arm])
    if pulls:
        found, error = float(s.sums[int(s.picture), arm]) / pulls, noise / math.sqrt(pulls)
        canvas.line([(x, up(found - error)), (x, up(found + error))], "black", 2.0)
        canvas.circle((x, up(found)), min(0.13, half), "black")
    if int(s.pulled) == arm + 1:
        canvas.circle((x, up(float(s.paid))), min(0.16, half), "orange")
        canvas.line([(x - half, 0.78), (x + half, 0.78)], "orange", 3.0)


def _draw_pictures(canvas: Canvas, shown: int, pictures: int, y: float) -> None:
    """The pictures that the machine may show, the present one framed."""
    row = range(max(0, min(shown - MOST_ROW // 2, pictures - MOST_ROW)), pictures)[:MOST_ROW]
    first = 5.4 - 0.375 * (len(row) - 1)
    canvas.text((first - 0.5, y), "shown:", "black", 15, "right")
    for place, picture in enumerate(row):
        x = first + 0.75 * place
        here = picture == shown
        canvas.rectangle(x - 0.33, y - 0.33, x + 0.33, y + 0.33, "white", rounded=0.08)
        canvas.rectangle(x - 0.33, y - 0.33, x + 0.33, y + 0.33, "black" if here else AXIS, 4.0 if here else 1.5)
        _draw_picture(canvas, x, y, picture, 0.2)


def _draw_picture(canvas: Canvas, x: float, y: float, picture: int, size: float) -> None:
    """A shape in a colour, another one for each of the first forty."""
    color, kind = AGENT_COLORS[picture % len(AGENT_COLORS)], picture % 5
    if kind == 0:
        canvas.circle((x, y), size, color)
    elif kind == 1:
        canvas.rectangle(x - 0.9 * size, y - 0.9 * size, x + 0.9 * size, y + 0.9 * size, color)
    else:
        corners = (3, 4, 10)[kind - 2]
        points = []
        for k in range(corners):
            far = size * (1.15 if corners < 10 or k % 2 == 0 else 0.5)
            angle = 0.5 * math.pi + 2.0 * math.pi * k / corners
            points.append((x + far * math.cos(angle), y + far * math.sin(angle)))
        canvas.polygon(points, color)
