"""Images of OfflineRacer: the kart on its circuit with all its walls, and a close-up."""

import math
from typing import Any

from rlenvs.core.declare.canvas import Canvas
from rlenvs.kits.tracks.road import BEND, LEFT_X, RIGHT_X

FIELD, ROAD, WALL, KERBS = (160, 216, 196), (168, 174, 180), (44, 62, 80), ((244, 176, 176), (250, 246, 240))
BODY, TYRE = (240, 150, 40), (90, 94, 100)
CLOSE = 11.0  # m, width of the close look
SHARP = 0.03  # 1/m, curvature from which on a bend has kerbs
LEGEND = (("orange", "kart"), ("sky", "rays", "line"), ("yellow", "start", "line"))


def outline(x: float, y: float, heading: float, shape: Any) -> list[tuple[float, float]]:
    """Points of a shape, in the kart's frame, on the map."""
    c, s = math.cos(heading), math.sin(heading)
    return [(x + c * u - s * v, y + s * u + c * v) for u, v in shape]


def box(u: float, v: float, length: float, width: float) -> list[tuple[float, float]]:
    """A rectangle around a place in the kart's frame."""
    return [(u + i * 0.5 * length, v + j * 0.5 * width) for i, j in ((1, 1), (1, -1), (-1, -1), (-1, 1))]


def draw_road(canvas: Canvas, road: Any, width: float, stride: int = 1) -> None:
    """Asphalt, walls and the line at progress 0."""
    left = [(float(row[LEFT_X]), float(row[LEFT_X + 1])) for row in road[::stride]] + [tuple(map(float, road[0, 2:4]))]
    right = [(float(row[RIGHT_X]), float(row[RIGHT_X + 1])) for row in road[::stride]]
    right.append((float(road[0, RIGHT_X]), float(road[0, RIGHT_X + 1])))
    for i in range(len(left) - 1):
        canvas.polygon([left[i], right[i], right[i + 1], left[i + 1]], ROAD)
    canvas.line([left[0], right[0]], "yellow", max(2.0 * width, 3.0))
    canvas.line(left, WALL, width)
    canvas.line(right, WALL, width)
    for i in range(len(left) - 1):  # kerbs outside of bends
        bend = float(road[min(i * stride, len(road) - 1), BEND])
        if abs(bend) > SHARP:
            side = right if bend > 0.0 else left
            canvas.line([side[i], side[i + 1]], KERBS[i // max(4 // stride, 1) % 2], 1.6 * width)


def draw_body(canvas: Canvas, x: float, y: float, heading: float, front: float, rear: float, half: float) -> None:
    """A kart from above: four tires, a pointed body, wings and a seat."""
    length = front + rear
    for u in (front - 0.3 * length, -rear + 0.14 * length):
        for v in (-0.78 * half, 0.78 * half):
            canvas.polygon(outline(x, y, heading, box(u, v, 0.24 * length, 0.44 * half)), TYRE)
    nose = [(front, 0.3 * half), (front, -0.3 * half), (0.1 * front, -0.55 * half), (-rear, -0.5 * half)]
    nose += [(-rear, 0.5 * half), (0.1 * front, 0.55 * half)]
    canvas.polygon(outline(x, y, heading, nose), BODY)
    canvas.polygon(outline(x, y, heading, box(front - 0.04 * length, 0.0, 0.08 * length, 1.5 * half)), BODY)
    canvas.polygon(outline(x, y, heading, box(-rear + 0.04 * length, 0.0, 0.08 * length, 1.6 * half)), TYRE)
    canvas.polygon(outline(x, y, heading, box(-0.1 * rear, 0.0, 0.2 * length, 0.5 * half)), "black")


def draw_kart(canvas: Canvas, p: Any, s: Any) -> None:
    """The whole circuit, and in a window the kart with its rays."""
    canvas.legend(*LEGEND)
    width, height = canvas.scene
    road = p.road
    low_x, low_y = (float(min(road[:, a].min(), road[:, b].min())) for a, b in ((2, 4), (3, 5)))
    high_x, high_y = (float(max(road[:, a].max(), road[:, b].max())) for a, b in ((2, 4), (3, 5)))
    canvas.view(low_x - 4.0, high_x + 4.0, low_y - 4.0, high_y + 4.0, (0.0, 0.0, 1.0, 0.62))
    canvas.rectangle(low_x - 200.0, low_y - 200.0, high_x + 200.0, high_y + 200.0, FIELD)
    draw_road(canvas, road, 2.0, 2)
    x, y, heading = float(s.position[0]), float(s.position[1]), float(s.heading)
    canvas.circle((x, y), 2.6, "white")
    canvas.polygon(outline(x, y, heading, [(2.6, 0.0), (-1.8, 1.7), (-1.8, -1.7)]), "orange")
    reach = 0.5 * CLOSE
    canvas.view(x - reach * width / (0.38 * height), x + reach * width / (0.38 * height), y - reach, y + reach,
                (0.0, 0.62, 1.0, 1.0))  # fmt: skip
    canvas.rectangle(x - 100.0, y - 100.0, x + 100.0, y + 100.0, FIELD)
    draw_road(canvas, road, 5.0)
    across = reach * width / (0.38 * height)
    canvas.line([(x - across, y + reach), (x + across, y + reach)], WALL, 6.0)
    c, sn = math.cos(heading), math.sin(heading)
    front = (x + 0.7 * c, y + 0.7 * sn)
    for u, v, distance in zip(*p.fan, s.rays, strict=True):
        du, dv = float(u) * float(distance), float(v) * float(distance)
        end = (front[0] + c * du - sn * dv, front[1] + sn * du + c * dv)
        canvas.line([front, end], "sky", 1.5)
        canvas.circle(end, 0.12, "sky")
    draw_body(canvas, x, y, heading, *(float(number) for number in p.body))
