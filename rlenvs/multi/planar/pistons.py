"""Images of pistons and their ball: the observations, and the image of the whole row."""

import math
from typing import Any

from rlenvs.core import kernel, maths
from rlenvs.core.declare.canvas import Canvas
from rlenvs.kits.raster import draw

WALL, WIDTH = 40.0, 40  # px: the frame about it all; a piston
HIGHEST = 64.0  # px, by which a piston goes up
LOOK_WIDTH, LOOK_HEIGHT, LOOK_TOP = 120, 457, 40  # px, of what a piston sees, which begins below the upper wall
LOWEST_HEAD = 486  # px, of the top of a piston that is down
SPACE, BALL, SPOKE, OUTER, INNER = (255, 255, 255), (65, 159, 221), (58, 64, 65), (58, 64, 65), (68, 76, 77)
HALL = (214, 208, 196)  # around it
RIM, HEAD, BASE = (138, 154, 154), (69, 77, 78), (166, 186, 186)


@kernel
def show_head(image, left, top):
    """The head of a piston: a dark plate in a light rim with cut corners."""
    for row in range(11):
        cut = max(4 - row, row - 6, 0)
        draw.span(image, top + row, left + cut, left + WIDTH - cut, RIM)
    for row in range(3, 8):
        cut = 6 + (1 if row == 3 or row == 7 else 0)
        draw.span(image, top + row, left + cut, left + WIDTH - cut, HEAD)


@kernel
def show_pistons(image, p, s, k):
    """What piston k sees."""
    draw.rectangle(image, 0, 0, LOOK_WIDTH, LOOK_HEIGHT, SPACE)
    left = int(WALL) + WIDTH * (k - 1)
    x, y = int(s.position[0]) - left, int(s.position[1]) - LOOK_TOP
    draw.disc(image, x, y, int(p.ball_radius), BALL)
    sn, c = maths.sin_cos(s.angle)
    reach = p.ball_radius - 1.0
    draw.line(image, x, y, int(x + reach * c), int(y + reach * sn), 3, SPOKE)
    for j in range(k - 1, k + 2):
        first = WIDTH * (j - k + 1)
        if j < 0 or j >= s.height.size:
            draw.rectangle(image, first, 0, WIDTH, LOOK_HEIGHT, INNER)
            draw.rectangle(image, first if j < 0 else first + WIDTH // 2, 0, WIDTH // 2, LOOK_HEIGHT, OUTER)
            continue
        top = LOWEST_HEAD - int(s.height[j]) - LOOK_TOP
        draw.rectangle(image, first + 11, top + 11, 18, LOOK_HEIGHT - top, BALL)
        show_head(image, first, top)


def draw_pistons(canvas: Canvas, p: Any, s: Any) -> None:
    """All of it, upside down: y is up on a canvas."""
    count = s.height.size
    wide, high = 40.0 * count + 80.0, 560.0
    above = max(0.5 * (wide * canvas.scene[1] / canvas.scene[0] - high), 0.0)
    canvas.view(0.0, wide, -above, high + above)
    canvas.rectangle(0.0, -above, wide, high + above, HALL)
    canvas.rectangle(0.0, 0.0, wide, high, OUTER)
    canvas.rectangle(20.0, 20.0, wide - 20.0, high - 20.0, INNER)
    canvas.rectangle(40.0, 40.0, wide - 40.0, high - 40.0, SPACE)
    x, y, radius = float(s.position[0]), high - float(s.position[1]), float(p.ball_radius)
    canvas.circle((x, y), radius, BALL)
    c, sn = math.cos(float(s.angle)), math.sin(float(s.angle))
    canvas.line([(x, y), (x + (radius - 1.0) * c, y - (radius - 1.0) * sn)], SPOKE, 3.0)
    for k in range(count):
        left, top = 40.0 + 40.0 * k, high - LOWEST_HEAD + float(s.height[k])
        canvas.rectangle(left + 11.0, 46.0, left + 29.0, top - 5.0, BALL)
        canvas.rectangle(left + 3.0, 40.0, left + 37.0, 46.0, BASE)
        corners = [(4, 0), (36, 0), (40, 4), (40, 7), (36, 11), (4, 11), (0, 7), (0, 4)]
        canvas.polygon([(left + u, top - v) for u, v in corners], RIM)
        canvas.rectangle(left + 7.0, top - 8.0, left + 33.0, top - 3.0, HEAD)
    gone = 100.0 * (1.0 - max(float(s.place) - 40.0, 0.0) / float(s.distance))
    canvas.caption(f"{gone:.0f} % of the way")
