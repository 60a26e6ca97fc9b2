"""A painter of 3-D scenes: a perspective camera, with objects painted from far to near."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rlenvs.core.declare.canvas import COLORS, Canvas, Color
from rlenvs.robotics.quadcopter.scene import BLUE, BOX, CYLINDER, KIND, RED, SPHERE, YAW, A, B, C, X, Z

NEAR = 0.05  # m, what is nearer to the camera's plane is not seen
WIDE = 3.0  # what lies outside this multiple of the image plane's unit is cut off before it is painted
PLANES = (
    (np.array([0.0, 0.0, 1.0]), NEAR),
    *((np.array([x, y, WIDE]), 0.0) for x, y in ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))),
)
GROUND, THINGS, LABELS = 0, 1, 2  # layers: things are sorted by distance, the others are painted in the order given
LIGHT = np.array([-0.35, -0.5, 0.79])  # unit vector towards the light
CYLINDER_FACES = 16
SHADOW = (168, 172, 172)


def rgb(color: Color) -> tuple[int, int, int]:
    """Red, green and blue, 0 to 255, of a color of the canvas."""
    return COLORS[color] if isinstance(color, str) else color


def mix(color: Color, other: Color, share: float) -> tuple[int, int, int]:
    """A color with a share (0 to 1) of another one in it."""
    red, green, blue = (round(a + share * (b - a)) for a, b in zip(rgb(color), rgb(other), strict=True))
    return red, green, blue


def shade(color: Color, normal: np.ndarray) -> tuple[int, int, int]:
    """The color of a face, by the angle between its normal (a unit vector) and the light."""
    return mix(color, "black", 0.16 - 0.16 * float(normal @ LIGHT))


def circle(centre: Any, radius: float, first: Any, second: Any, corners: int = 24) -> np.ndarray:
    """Points (corners, 3) of a circle in the plane of two perpendicular unit vectors."""
    angle = np.arange(corners)[:, None] * (2.0 * math.pi / corners)
    return np.asarray(centre) + radius * (np.cos(angle) * np.asarray(first) + np.sin(angle) * np.asarray(second))


def rectangle(centre: np.ndarray, half_x: float, half_y: float, yaw: float) -> np.ndarray:
    """Corners (4, 3) of a level rectangle."""
    ahead, left = np.array([math.cos(yaw), math.sin(yaw), 0.0]), np.array([-math.sin(yaw), math.cos(yaw), 0.0])
    return np.array([centre + i * half_x * ahead + j * half_y * left for i, j in ((1, 1), (1, -1), (-1, -1), (-1, 1))])


def nice_length(longest: float) -> float:
    """The largest of ..., 0.1, 0.2, 0.5, 1, 2, 5, ... that is not longer."""
    power = 10.0 ** math.floor(math.log10(longest))
    return next(step * power for step in (5.0, 2.0, 1.0) if step * power <= longest * (1.0 + 1e-9))


def shape_color(shape: np.ndarray) -> tuple[int, int, int]:
    """The color of a shape, see scene.py."""
    red, green, blue = (round(255 * min(max(float(v), 0.0), 1.0)) for v in shape[RED : BLUE + 1])
    return red, green, blue


class Camera:
    """A camera in perspective, held level.

    Args:
        position, target: where it is and what it looks at [m], not straight above one another.
        field_of_view: from edge to edge of the image [rad].
    """

    def __init__(self, position: Any, target: Any, field_of_view: float = 1.0) -> None:
        self.position = np.asarray(position, float)
        forward = np.asarray(target, float) - self.position
        forward /= np.linalg.norm(forward)
        right = np.array([forward[1], -forward[0], 0.0])
        right /= np.linalg.norm(right)
        self.axes = np.stack([right, np.cross(right, forward), forward])
        self.half_width = math.tan(0.5 * field_of_view)

    def see(self, points: Any) -> np.ndarray:
        """Points (n, 3) of the world in the camera's axes: to the right, upwards, depth [m]."""
        return (np.asarray(points, float) - self.position) @ self.axes.T

    def project(self, points: Any) -> np.ndarray:
        """Points (n, 3) of the world, in front of the camera, on the image plane (n, 2) at depth 1."""
        seen = self.see(points)
        return seen[:, :2] / seen[:, 2:]

    def distance(self, points: Any) -> np.ndarray:
        """Distances (n,) along the floor.

        They grow along every line of sight, so what hides something is nearer, whatever the heights.
        """
        offset = np.asarray(points, float)[:, :2] - self.position[:2]
        return np.hypot(offset[:, 0], offset[:, 1])


class _Item(NamedTuple):
    verb: str
    points: np.ndarray  # (n, 3) m, world
    color: Color
    size: float  # width [pixels], or radius [m]
    layer: int
    anchor: Any  # the point whose distance counts; None for the middle
    solid: bool = False  # part of a body that is cut away close to the camera
    text: str = ""


class Scene3D:
    """Collects polygons, lines and discs of the world, then paints them from far to near.

    Args:
        canvas: what is painted on.
        camera: from where.
        frame: (left, right, bottom, top) of the image plane to show; by default the camera's field of view, from the
            lower to the upper edge.
        fog: (start, end) distances [m] between which things fade.
        cutaway: bodies nearer than this [m] are drawn as outlines, not to hide what the camera follows.
    """

    def __init__(
        self,
        canvas: Canvas,
        camera: Camera,
        frame: Sequence[float] | None = None,
        fog: tuple[float, float] = (math.inf, math.inf),
        cutaway: float = 0.0,
    ) -> None:
        self.canvas, self.camera, self.fog, self.cutaway = canvas, camera, fog, cutaway
        half = camera.half_width
        wide = half * canvas.scene[0] / canvas.scene[1]
        self._frame = tuple(frame) if frame is not None else (-wide, wide, -half, half)
        self._items: list[_Item] = []

    def pixel(self, point: Any) -> float:
        """The length [m] of a pixel at a point of the world; zero behind the camera."""
        width, height = self.canvas.scene
        left, right, bottom, top = self._frame
        return max((right - left) / width, (top - bottom) / height) * max(float(self.camera.see([point])[0, 2]), 0.0)

    def polygon(self, points: Any, color: Color, layer: int = THINGS, anchor: Any = None, solid: bool = False) -> None:
        """A filled convex polygon (n, 3); `solid` if it is part of a body that may be cut away."""
        self._items.append(_Item("polygon", np.asarray(points, float), color, 1.0, layer, anchor, solid))

    def line(
        self,
        points: Any,
        color: Color,
        width: float = 1.5,
        layer: int = THINGS,
        anchor: Any = None,
        closed: bool = False,
    ) -> None:
        """A line through points (n, 3), `width` pixels wide."""
        points = np.asarray(points, float)
        points = np.concatenate([points, points[:1]]) if closed else points
        self._items.append(_Item("line", points, color, width, layer, anchor))

    def arrow(self, start: Any, end: Any, color: Color, width: float = 2.0, anchor: Any = None) -> None:
        """A line with a head at its end."""
        self._items.append(_Item("arrow", np.array([start, end], float), color, width, THINGS, anchor))

    def disc(self, centre: Any, radius: float, color: Color, anchor: Any = None, solid: bool = False) -> None:
        """A disc that faces the camera, `radius` in meters; `solid` as of polygons."""
        self._items.append(_Item("disc", np.array([centre], float), color, radius, THINGS, anchor, solid))

    def ring(self, centre: Any, radius: float, color: Color, width: float) -> None:
        """A circle that faces the camera, `radius` in meters, its line `width` pixels wide."""
        right, up, _ = self.camera.axes
        self.line(circle(centre, radius, right, up), color, width, anchor=centre, closed=True)

    def text(self, position: Any, text: str, color: Color, size: int = 14) -> None:
        """A word centered at a point, over everything."""
        self._items.append(_Item("text", np.array([position], float), color, size, LABELS, None, text=text))

    def box(self, centre: Any, half: Any, yaw: float, color: Color, tile: float = 1.0) -> None:
        """A box turned by `yaw` [rad] about z; `half` are half its sizes [m] along its own axes."""
        centre, half = np.asarray(centre, float), np.asarray(half, float)
        c, s = math.cos(yaw), math.sin(yaw)
        axes = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
        for axis in range(3):
            for side in (1.0, -1.0):
                normal = side * axes[axis]
                middle = centre + half[axis] * normal
                if normal @ (self.camera.position - middle) > 0.0:
                    first, second = (axis + 1) % 3, (axis + 2) % 3
                    self._face(
                        middle, half[first] * axes[first], half[second] * axes[second], shade(color, normal), tile
                    )

    def _face(self, middle: np.ndarray, first: np.ndarray, second: np.ndarray, color: Color, tile: float) -> None:
        """A face from -first - second to first + second; cut where it is long on the floor, to sort its parts."""
        rows, columns = (max(1, min(16, math.ceil(2.0 * math.hypot(v[0], v[1]) / tile))) for v in (first, second))
        for i in range(rows):
            for j in range(columns):
                a0, a1, b0, b1 = (
                    2 * i / rows - 1,
                    2 * (i + 1) / rows - 1,
                    2 * j / columns - 1,
                    2 * (j + 1) / columns - 1,
                )
                corners = ((a0, b0), (a1, b0), (a1, b1), (a0, b1))
                self.polygon([middle + a * first + b * second for a, b in corners], color, solid=True)

    def cylinder(self, centre: Any, radius: float, half_height: float, color: Color) -> None:
        """An upright cylinder."""
        centre, height = np.asarray(centre, float), np.array([0.0, 0.0, half_height])
        rim = circle(centre, radius, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), CYLINDER_FACES)
        following = np.roll(rim, -1, axis=0)
        normals = 0.5 * (rim + following) - centre
        visible = (normals * (self.camera.position - rim)).sum(axis=1) > 0.0
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        for k in np.flatnonzero(visible):
            a, b = rim[k], following[k]
            side = (a - height, b - height, b + height, a + height)
            self.polygon(side, shade(color, normals[k]), anchor=centre, solid=True)
        if abs(self.camera.position[2] - centre[2]) > half_height:
            up = math.copysign(1.0, self.camera.position[2] - centre[2])
            self.polygon(rim + up * height, shade(color, np.array([0.0, 0.0, up])), anchor=centre, solid=True)

    def sphere(self, centre: Any, radius: float, color: Color) -> None:
        """A sphere, lighter towards the light."""
        anchor = np.asarray(centre, float)
        for share, size, towards in ((0.22, 1.0, 0.0), (0.1, 0.8, 0.17), (0.0, 0.5, 0.36)):
            spot = anchor + towards * radius * (0.7 * self.camera.axes[1] - 0.6 * self.camera.axes[0])
            self.disc(spot, size * radius, mix(color, "black", share), anchor, True)

    def shape(self, row: np.ndarray) -> None:
        """A sphere, box or cylinder, see scene.py, and its shadow on the floor."""
        centre, color = row[X : Z + 1], shape_color(row)
        below = centre * (1.0, 1.0, 0.0)
        if row[KIND] == BOX:
            self.polygon(rectangle(below, 1.06 * row[A], 1.06 * row[B], row[YAW]), SHADOW, GROUND)
            self.box(centre, row[A : C + 1], row[YAW], color)
            return
        self.polygon(circle(below, 1.15 * row[A], (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), SHADOW, GROUND)
        if row[KIND] == SPHERE:
            self.sphere(centre, row[A], color)
        elif row[KIND] == CYLINDER:
            self.cylinder(centre, row[A], row[B], color)

    def paint(self) -> None:
        """Paint everything collected: the ground, things from far to near, labels."""
        left, right, bottom, top = self._frame
        self.canvas.view(left, right, bottom, top)
        if not self._items:
            return
        sizes = np.array([len(item.points) for item in self._items])
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        points = np.concatenate([item.points for item in self._items])
        seen = self.camera.see(points)
        depth = np.maximum(seen[:, 2], NEAR)
        whole = np.minimum.reduceat((seen[:, 2] >= NEAR) & (np.abs(seen[:, :2]).max(axis=1) <= WIDE * depth), starts)
        plane = (seen[:, :2] / depth[:, None]).tolist()
        order, distance = self._order(points, starts, sizes)
        hidden = self._out_of_frame(seen, starts)
        for i in order[~hidden[order]].tolist():
            start, end = int(starts[i]), int(starts[i] + sizes[i])
            item = self._items[i]
            for piece in [plane[start:end]] if whole[i] else _clipped(item.verb, seen[start:end]):
                self._paint_item(item, piece, float(depth[start]), float(distance[i]))

    def _order(self, points: np.ndarray, starts: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The items' numbers in the order of painting, and their distances [m]."""
        anchors = np.add.reduceat(points, starts) / sizes[:, None]
        for i, item in enumerate(self._items):
            if item.anchor is not None:
                anchors[i] = item.anchor
        layers = np.array([item.layer for item in self._items])
        distance = self.camera.distance(anchors)
        # to micrometers: rounding errors do not choose between faces that are equally far
        return np.lexsort((np.where(layers == THINGS, -np.round(distance, 6), 0.0), layers)), distance

    def _out_of_frame(self, seen: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Whether all points of an item are beyond the same edge; discs and words, which reach farther, never are."""
        left, right, bottom, top = self._frame
        x, y, z = seen.T
        beyond = np.stack([z < NEAR, x < left * z, x > right * z, y < bottom * z, y > top * z])
        extended = np.array([item.verb in ("polygon", "line") for item in self._items])
        return np.logical_and.reduceat(beyond, starts, axis=1).any(axis=0) & extended

    def _paint_item(self, item: _Item, points: list[Any], depth: float, distance: float) -> None:
        color, (fog_start, fog_end) = item.color, self.fog
        if distance > fog_start and item.layer != GROUND:
            color = mix(color, "background", min(0.85, (distance - fog_start) / (fog_end - fog_start)))
        outline = 1.0 if item.solid and distance < self.cutaway else 0.0
        match item.verb:
            case "polygon":
                self.canvas.polygon(points, color, outline)
            case "line":
                self.canvas.line(points, color, item.size)
            case "arrow":
                self.canvas.arrow(points[0], points[1], color, item.size)
            case "disc":
                self.canvas.circle(points[0], min(item.size / depth, WIDE), color, outline)
            case "text":
                self.canvas.text(points[0], item.text, color, round(item.size), "centre")


def _clipped(verb: str, seen: np.ndarray) -> list[Any]:
    """The visible pieces, on the image plane, of an item that is partly behind the camera or far aside."""
    if verb == "polygon":
        parts = [seen]
    elif verb == "line":
        parts = [seen[k : k + 2] for k in range(len(seen) - 1)]
    else:
        return []
    cut = [_clip(part) for part in parts]
    return [(part[:, :2] / part[:, 2:]).tolist() for part in cut if len(part) > 2]


def _clip(points: np.ndarray) -> np.ndarray:
    """The part of a convex polygon, in the camera's axes, inside all planes (Sutherland and Hodgman's algorithm)."""
    for normal, offset in PLANES:
        height = points @ normal - offset
        kept = []
        for k in range(len(points)):
            if height[k - 1] * height[k] < 0.0:
                kept.append(points[k - 1] + height[k - 1] / (height[k - 1] - height[k]) * (points[k] - points[k - 1]))
            if height[k] >= 0.0:
                kept.append(points[k])
        if not kept:
            return np.zeros((0, 3))
        points = np.array(kept)
    return points
