"""Images of landers: black sky, gray ground, flags at the pad, flames."""

import math
from typing import Any

from rlenvs.core.declare.canvas import Canvas
from rlenvs.kits.planar.drawing import draw_shape, outline
from rlenvs.robotics.landing.lander import CHUNKS, FIRST_CHUNK, HULL, HULL_SHAPE, LEFT_SHAPE, pad_height

SKY, SOIL, SURFACE, STAR = (16, 20, 34), (116, 112, 108), (226, 222, 214), (190, 196, 214)
HULL_COLOR, RIM, LEG_COLOR, WINDOW = (86, 180, 233), (208, 232, 248), (198, 204, 212), (16, 40, 66)
FLAME, CORE, FLAG, POLE = (230, 159, 0), (252, 240, 170), (240, 228, 66), (236, 236, 236)
STARS = tuple(((k * k * 0.6180339887) % 1.0, (k * k * k * 0.7548776662) % 1.0, 1.0 + k % 3) for k in range(1, 60))


def draw_landing(canvas: Canvas, p: Any, s: Any) -> None:
    scale = float(p.scale)
    wide, high = float(p.viewport_w) / scale, float(p.viewport_h) / scale
    canvas.legend((HULL_COLOR, "lander"), (FLAG, "pad, between the flags", "triangle"), (FLAME, "engines"))
    across, up = canvas.scene
    top = max(wide * up / across, high * 1.12)
    half = 0.5 * top * across / up
    canvas.view(0.5 * wide - half, 0.5 * wide + half, 0.0, top)
    canvas.rectangle(-wide, -high, 2.0 * wide, 3.0 * high, SKY)
    for x, y, size in STARS:
        canvas.circle((x * wide, y * top), size * wide / 1400.0, STAR)
    _draw_ground(canvas, s, wide, high)
    _draw_flags(canvas, p, wide, scale)
    _draw_flames(canvas, s, scale)
    for k in (LEFT_SHAPE, LEFT_SHAPE + 1):
        _draw_strut(canvas, s, k)
        draw_shape(canvas, s, k, LEG_COLOR if not s.leg_touches[k - LEFT_SHAPE] else "green")
    draw_shape(canvas, s, HULL_SHAPE, HULL_COLOR)
    draw_shape(canvas, s, HULL_SHAPE, RIM, 3.0)
    canvas.circle(_at(s, 0.0, 7.0 / scale), 4.5 / scale, WINDOW)
    velocity = s.velocity[HULL]
    told = "at rest" if s.at_rest else "crashed" if s.hull_touched else ""
    speed = f"{float(velocity[0]):+.1f}, {float(velocity[1]):+.1f} m/s"
    canvas.caption(
        f"{float(s.elapsed) / float(p.fps):.1f} s", speed, f"{math.degrees(float(s.angle[HULL])):+.0f} deg", told
    )


def _at(s: Any, x: float, y: float) -> tuple[float, float]:
    """A point of the lander's frame in the world."""
    ox, oy, c, sn = (float(number) for number in s.frame[HULL])
    return ox + c * x - sn * y, oy + sn * x + c * y


def _draw_ground(canvas: Canvas, s: Any, wide: float, high: float) -> None:
    points = [outline(s, FIRST_CHUNK)[0]]
    points += [outline(s, FIRST_CHUNK + i)[1] for i in range(CHUNKS - 1)]
    points = [(points[0][0] - wide, points[0][1]), *points, (points[-1][0] + wide, points[-1][1])]
    canvas.polygon([(-wide, -high), *points, (2.0 * wide, -high)], SOIL)
    canvas.line(points, SURFACE, 3.0)


def _draw_flags(canvas: Canvas, p: Any, wide: float, scale: float) -> None:
    ground = pad_height(p)
    for share in (CHUNKS // 2 - 1, CHUNKS // 2 + 1):
        x = wide / (CHUNKS - 1) * share
        canvas.line([(x, ground), (x, ground + 50.0 / scale)], POLE, 3.0)
        top = ground + 50.0 / scale
        canvas.polygon([(x, top), (x, top - 16.0 / scale), (x + 27.0 / scale, top - 8.0 / scale)], FLAG)


def _draw_flames(canvas: Canvas, s: Any, scale: float) -> None:
    main, side = float(s.main_power), float(s.side_power)
    if main > 0.0:
        for width, length, color in ((9.0, 42.0, FLAME), (5.0, 26.0, CORE)):
            tip = (0.0, -(10.0 + length * main) / scale)
            canvas.polygon(
                [_at(s, -width / scale, -10.0 / scale), _at(s, width / scale, -10.0 / scale), _at(s, *tip)], color
            )
    if side != 0.0:
        out = math.copysign(1.0, side)
        for width, length, color in ((5.0, 26.0, FLAME), (2.5, 16.0, CORE)):
            base = out * 15.5 / scale
            tip = _at(s, base + out * length * abs(side) / scale, 10.0 / scale)
            canvas.polygon([_at(s, base, (10.0 - width) / scale), _at(s, base, (10.0 + width) / scale), tip], color)


def _draw_strut(canvas: Canvas, s: Any, k: int) -> None:
    """From the hull's lower corner to the middle of the leg."""
    points = outline(s, k)
    middle = sum(x for x, _ in points) / 4.0, sum(y for _, y in points) / 4.0
    corners = outline(s, HULL_SHAPE)[2:4]
    near = min(corners, key=lambda c: math.hypot(c[0] - middle[0], c[1] - middle[1]))
    canvas.line([near, middle], LEG_COLOR, 4.0)
