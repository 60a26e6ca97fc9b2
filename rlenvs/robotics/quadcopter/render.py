"""Images of flights: a view in perspective and, in a corner, a map.

`draw_room_flight` shows a room from a fixed side, as close up as possible; `draw_course_flight` follows the vehicles
from behind. Vehicles are drawn enlarged. Their front rotors are orange; a red arrow shows the velocity.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from rlenvs.core.declare.canvas import Canvas, Color
from rlenvs.robotics.quadcopter.painter import GROUND, SHADOW, Camera, Scene3D, circle, mix, nice_length, rectangle
from rlenvs.robotics.quadcopter.scene import BOX, COLUMNS, CYLINDER, KIND, NOTHING, SPHERE, A, B, C, X, Z
from rlenvs.robotics.quadcopter.top_view import FEW, FLOOR, LINK, draw_map

DRONE_COLORS = ("blue", "green", "pink", "sky", "black", "yellow")  # none that looks like the orange of front rotors
TILE, LEFT_WALL, RIGHT_WALL = (214, 216, 213), (238, 239, 236), (230, 232, 230)
ROTOR, BODY, GOAL = 0.6, 0.32, 0.72  # radii in arm lengths as drawn
LOWER_LEFT, UPPER_RIGHT = (0.0, 1.0), (1.0, 0.0)
ROOM_CAMERA = (2.27, -3.07, 1.67)  # in half widths of the room from what it looks at
LEAST_RING = 12.0  # pixels, the radius of a goal's ring at least
LARGE, MOST_SMALLER = 0.085, 3.6  # arm length as drawn, in sizes of what is shown; by how much less in a swarm
CHASE_ABOVE, CHASE_AHEAD = 0.7, 0.45  # height of the camera, and how far ahead it looks, in distances to the vehicle


def rotation_matrix(q: Any) -> np.ndarray:
    """From body to world, (..., 3, 3), of quaternions x, y, z, w, (..., 4)."""
    q = np.asarray(q, float)
    x, y, z, w = (q[..., k] for k in range(4))
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


class Flight:
    """What both views show; lengths in meters. For the arguments see draw_room_flight and draw_course_flight."""

    def __init__(
        self,
        p: Any,
        s: Any,
        arm: float,
        goals: Any,
        links: Any,
        path: Any,
        shapes: Any,
        wind: Any,
        gates: Any = (),
        gate_colors: Sequence[Color] = (),
        half_opening: float = 0.0,
        half_outer: float = 0.0,
    ) -> None:
        self.numbers = list(getattr(s, "numbers", range(len(np.atleast_2d(s.position)))))  # the names of the vehicles
        self.position = np.atleast_2d(np.asarray(s.position, float))
        self.velocity = np.atleast_2d(np.asarray(s.velocity, float))
        self.rotation = rotation_matrix(np.atleast_2d(s.attitude))  # (D, 3, 3), body to world
        self.rotors = np.asarray(p.rotor, float)[:, :2]  # places in arm lengths
        self.arm = max(arm, float(p.arm))  # as drawn
        self.goals = [np.asarray(goal, float) for goal in goals]
        self.links = [np.asarray(pair) for pair in links]
        self.path = np.reshape(np.asarray(path, float), (-1, 3))
        shapes = np.reshape(np.asarray(shapes, float), (-1, COLUMNS))
        self.shapes = shapes[shapes[:, KIND] != NOTHING]
        self.wind = np.asarray(wind, float)
        self.gates = np.reshape(np.asarray(gates, float), (-1, 4))
        self.gate_colors, self.half_opening, self.half_outer = gate_colors, half_opening, half_outer

    def color(self, index: int) -> str:
        """Of a vehicle."""
        return DRONE_COLORS[self.numbers[index] % len(DRONE_COLORS)]

    def goal_color(self, index: int) -> str:
        """The vehicle's color where each has a goal."""
        return self.color(index) if self.own_goals else "green"

    @property
    def own_goals(self) -> bool:
        """Whether every vehicle of several has a goal of its own."""
        return len(self.goals) == len(self.position) and max(self.numbers, default=0) > 0

    def legend(self, links: str = "") -> list[Any]:
        """What colors stand for; `links` says what the lines between vehicles do."""
        found: list[Any] = [("orange", "front rotors", "disc"), ("red", "velocity", "line")]
        if self.goals:
            found.insert(0, ("black", "goal, in its color", "ring") if self.own_goals else ("green", "goal", "ring"))
        if len(self.path):
            found.append(("pink", "path to fly", "line"))
        if self.links and links:
            found.append((LINK, links, "line"))
        if len(self.gates):
            found = [("orange", "next gate"), ("blue", "later ones"), ("grey", "passed"), *found]
        return found


# --- what a scene is made of ------------------------------------------------------------------------------------------


def _add_drones(scene: Scene3D, flight: Flight, seconds: float) -> None:
    """Vehicles with a shadow, a line down to the floor, and an arrow to where they are `seconds` later."""
    many = len(flight.position) > FEW
    corners, arm = 10 if many else 18, flight.arm
    forward, left = flight.rotation[:, None, None, :, 0], flight.rotation[:, None, None, :, 1]
    hubs = flight.position[:, None] + arm * (flight.rotation[:, None, :, :2] * flight.rotors[:, None]).sum(axis=-1)
    discs = circle(hubs[:, :, None], ROTOR * arm, forward, left, corners)
    shadow = circle((0.0, 0.0, 0.0), 1.3 * arm, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), corners)
    ends = flight.position + seconds * flight.velocity
    for k, centre in enumerate(flight.position):
        color, below = flight.color(k), centre * (1.0, 1.0, 0.0)
        scene.polygon(shadow + below, SHADOW, GROUND)
        scene.line((below, centre), SHADOW, 1.0 if many else 1.5, anchor=centre)
        for j in range(4):
            scene.line((centre, hubs[k, j]), "black", 1.5 if many else 3.5, anchor=centre)
        for j in np.argsort(-scene.camera.distance(hubs[k])):
            own = "orange" if flight.rotors[j, 0] > 0.1 else color
            scene.polygon(discs[k, j], mix(own, "white", 0.2), anchor=centre)
            scene.line(discs[k, j], mix(own, "black", 0.45), 1.0, anchor=centre, closed=True)
        scene.disc(centre, BODY * arm, "black", anchor=centre)
        if np.linalg.norm(ends[k] - centre) > arm:
            scene.arrow(centre, _nearer(centre, ends[k], 7.0 * arm), "red", 1.5 if many else 2.5, anchor=centre)
        if 1 < len(flight.position) <= FEW:
            scene.text(centre + (0.0, 0.0, 1.6 * arm), str(flight.numbers[k]), "black", 13)


def _nearer(start: np.ndarray, end: np.ndarray, longest: float) -> np.ndarray:
    """The end, drawn towards the start if it is farther away than `longest`."""
    length = float(np.linalg.norm(end - start))
    return start + (end - start) * min(1.0, longest / length)


def _add_goals(scene: Scene3D, flight: Flight) -> None:
    """A ring around each goal, and a mark on the floor below it."""
    dot = circle((0.0, 0.0, 0.0), 0.35 * flight.arm, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), 12)
    for k, goal in enumerate(flight.goals):
        color = flight.goal_color(k)
        scene.polygon(dot + goal * (1.0, 1.0, 0.0), mix(color, FLOOR, 0.4), GROUND)
        scene.line((goal * (1.0, 1.0, 0.0), goal), mix(color, FLOOR, 0.4), 1.0, anchor=goal)
        radius = max(GOAL * flight.arm, LEAST_RING * scene.pixel(goal))
        scene.ring(goal, radius, color, 3.5 if len(flight.position) <= FEW else 2.0)
        scene.disc(goal, 0.22 * radius, color)


def _add_gates(scene: Scene3D, flight: Flight) -> None:
    """Square frames on two posts, their numbers above them."""
    half, outer = flight.half_opening, flight.half_outer
    bar, middle = 0.5 * (outer - half), 0.5 * (outer + half)
    for g, (gate, color) in enumerate(zip(flight.gates, flight.gate_colors, strict=True)):
        centre, yaw = gate[:3], gate[3]
        left = np.array([-math.sin(yaw), math.cos(yaw), 0.0])
        scene.polygon(rectangle(centre * (1.0, 1.0, 0.0), bar, outer, yaw), SHADOW, GROUND)
        for side in (1.0, -1.0):
            post = centre + side * middle * left
            foot = post * (1.0, 1.0, 0.0)
            scene.line((foot, post - (0.0, 0.0, outer)), LINK, 2.0)
            scene.box(post, (bar, bar, half), yaw, color)
            scene.box(centre + (0.0, 0.0, side * middle), (bar, outer, bar), yaw, color, tile=0.5 * outer)
        scene.text(centre + (0.0, 0.0, 1.35 * outer), str(g + 1), mix(color, "black", 0.3), 16)


def _add_path(scene: Scene3D, flight: Flight) -> None:
    """A path as dots, 120 at most."""
    for point in flight.path[:: 1 + len(flight.path) // 120]:
        scene.disc(point, 0.16 * flight.arm, "pink")


def _add_links(scene: Scene3D, flight: Flight) -> None:
    for pair in flight.links:
        scene.line(flight.position[pair], LINK, 1.5)


def _add_things(scene: Scene3D, flight: Flight, seconds: float) -> None:
    for row in flight.shapes:
        scene.shape(row)
    _add_gates(scene, flight)
    _add_path(scene, flight)
    _add_goals(scene, flight)
    _add_links(scene, flight)
    _add_drones(scene, flight, seconds)


# --- room -------------------------------------------------------------------------------------------------------------


def _add_panel(scene: Scene3D, corner: Any, first: Any, second: Any, color: Color, tile: float) -> None:
    """A rectangle with lines every `tile` meters, from one corner along two edges."""
    corner, first, second = (np.asarray(v, float) for v in (corner, first, second))
    scene.polygon((corner, corner + first, corner + first + second, corner + second), color, GROUND)
    for along, across in ((first, second), (second, first)):
        length = float(np.linalg.norm(along))
        for place in np.arange(0.0, length + 1e-9, tile):
            start = corner + along * (place / length)
            scene.line((start, start + across), "white", 1.0, GROUND)


def _room_scene(canvas: Canvas, room: float, ceiling: float, shown: np.ndarray, size: float) -> Scene3D:
    """The floor of a room and the two walls that are farthest from the viewer, as near as the points (n, 3) allow.

    What they need is fitted into the image, with the floor below them and `size` [m] around them.
    """
    shown = np.clip(shown, (-2.0 * room, -2.0 * room, 0.0), (2.0 * room, 2.0 * room, 2.0 * ceiling))
    shown = np.concatenate([shown, shown * (1.0, 1.0, 0.0)])
    target = 0.5 * (shown.min(axis=0) + shown.max(axis=0))
    camera = Camera(target + room * np.array(ROOM_CAMERA), target)
    seen = camera.project(shown)
    margin = size / float(np.linalg.norm(room * np.array(ROOM_CAMERA)))
    (left, low), (right, high) = seen.min(axis=0) - margin, seen.max(axis=0) + margin
    width, height = canvas.scene
    half = max(0.5 * (high - low), 0.5 * (right - left) * height / width)
    x, y, wide = 0.5 * (left + right), 0.5 * (low + high), half * width / height
    scene = Scene3D(canvas, camera, (x - wide, x + wide, y - half, y + half))
    across, up, tile = (0.0, 2.0 * room, 0.0), (0.0, 0.0, ceiling), nice_length(0.4 * room)
    _add_panel(scene, (-room, -room, 0.0), (2.0 * room, 0.0, 0.0), across, TILE, tile)
    _add_panel(scene, (-room, -room, 0.0), across, up, LEFT_WALL, tile)
    _add_panel(scene, (-room, room, 0.0), (2.0 * room, 0.0, 0.0), up, RIGHT_WALL, tile)
    return scene


def draw_room_flight(
    canvas: Canvas,
    p: Any,
    s: Any,
    goals: Any = (),
    room: float = 1.5,
    ceiling: float = 2.0,
    links: Any = (),
    path: Any = (),
    shapes: Any = (),
    wind: Any = (0.0, 0.0, 0.0),
    meaning: str = "",
) -> None:
    """Vehicles in a room, as near as they, their goals and the path allow, and a map in the lower left corner.

    Args:
        canvas, p, s: as a world's `draw` gets them; read are p.arm, p.rotor, s.position, s.attitude, s.velocity.
        goals: of x, y, z [m]; as many as vehicles, goal k has the color of vehicle k.
        room, ceiling: half width and height of the room [m].
        links: pairs of vehicles to join by a line; `meaning` says in the legend what they are.
        path: (n, 3) points to mark [m].
        shapes: (S, 12), see scene.py.
        wind: x, y, z [m/s]; shown on the map where it blows.
    """
    flight = Flight(p, s, 0.0, goals, links, path, shapes, wind)
    canvas.legend(*flight.legend(meaning))
    shown = np.concatenate([flight.position, *(goal[None] for goal in flight.goals), flight.path, _ends(flight.shapes)])
    if not len(shown):
        shown = room * np.array([(-1.0, -1.0, 0.0), (1.0, 1.0, 0.5)])
    extent = max(float(np.ptp(shown, axis=0).max()), float(shown[:, 2].max()), 0.4 * room)
    smaller = min(math.sqrt(1.0 + (len(flight.position) - 1) / 6.0), MOST_SMALLER)
    flight.arm = max(flight.arm, LARGE * min(extent, 2.0 * room) / smaller)
    scene = _room_scene(canvas, room, ceiling, shown, 2.6 * flight.arm)
    _add_things(scene, flight, seconds=0.5)
    scene.paint()
    draw_map(canvas, flight, (0.0, 0.0), (room, room), 0.23, LOWER_LEFT)


def _ends(shapes: np.ndarray) -> np.ndarray:
    """Opposite corners (n, 3) of boxes around shapes."""
    columns = {SPHERE: [A, A, A], CYLINDER: [A, A, B], BOX: [A, B, C]}
    reach = np.array([row[np.array(columns[int(row[KIND])])] for row in shapes]).reshape(-1, 3)
    middle = shapes[:, X : Z + 1]
    return np.concatenate([middle - reach, middle + reach])


# --- course -----------------------------------------------------------------------------------------------------------


def course_heading(gates: np.ndarray, next_gate: int, position: np.ndarray) -> float:
    """The direction [rad] to look on the way from one gate to the next.

    At both gates it is their yaw, in between the direction of the leg. It changes smoothly with the position, and does
    not jump when a gate is passed.
    """
    start, end = gates[next_gate - 1], gates[next_gate]
    leg = end[:3] - start[:3]
    part = float((position - start[:3]) @ leg) / max(float(leg @ leg), 1e-9)
    part = min(max(part, 0.0), 1.0)
    part = part * part * (3.0 - 2.0 * part)
    first = float(start[3])
    along = first + _turn(first, math.atan2(leg[1], leg[0])) if math.hypot(leg[0], leg[1]) > 1e-9 else first
    last = along + _turn(along, float(end[3]))
    return (1.0 - part) ** 2 * first + 2.0 * part * (1.0 - part) * along + part**2 * last


def _turn(start: float, end: float) -> float:
    """The angle from one direction to another, -pi to pi [rad]."""
    return math.remainder(end - start, 2.0 * math.pi)


def _chase_camera(centre: np.ndarray, heading: float, distance: float) -> Camera:
    """Behind and above a point, never below the floor."""
    ahead = np.array([math.cos(heading), math.sin(heading), 0.0])
    position = centre - distance * ahead
    position[2] = max(centre[2] + CHASE_ABOVE * distance, 0.2 * distance)
    target = centre + CHASE_AHEAD * distance * ahead
    target[2] = max(target[2], 0.0)
    return Camera(position, target, field_of_view=1.1)


def _add_ground(scene: Scene3D, focus: np.ndarray, reach: float, half: np.ndarray | None, tile: float) -> None:
    """Tiles around a point, paler with the distance from it; inside the arena's half sizes, if it has any."""
    pale: Color = "background"
    low, high = focus[:2] - reach, focus[:2] + reach
    if half is not None:
        pale = FLOOR
        scene.polygon(rectangle(np.zeros(3), half[0], half[1], 0.0), FLOOR, GROUND)
        low, high = np.maximum(low, -half), np.minimum(high, half)
    columns = np.arange(math.floor(low[0] / tile), math.ceil(high[0] / tile))
    rows = np.arange(math.floor(low[1] / tile), math.ceil(high[1] / tile))
    i, j = (v.ravel() for v in np.meshgrid(columns, rows))
    i, j = (v[(i + j) % 2 == 0] for v in (i, j))
    left, right = np.maximum(i * tile, low[0]), np.minimum((i + 1) * tile, high[0])
    bottom, top = np.maximum(j * tile, low[1]), np.minimum((j + 1) * tile, high[1])
    corners = np.zeros((len(i), 4, 3))
    corners[:, :, 0] = np.stack([left, right, right, left], axis=1)
    corners[:, :, 1] = np.stack([bottom, bottom, top, top], axis=1)
    faded = np.hypot(0.5 * (left + right) - focus[0], 0.5 * (bottom + top) - focus[1]) / reach
    ahead = scene.camera.see(corners.reshape(-1, 3))[:, 2].reshape(-1, 4).max(axis=1) > 0.0
    for k in np.flatnonzero(ahead & (faded < 1.0)):
        scene.polygon(corners[k], mix(TILE, pale, float(faded[k])), GROUND)


def _add_arena(scene: Scene3D, half: np.ndarray, height: float) -> None:
    """The edges of an arena."""
    for z, width in ((0.0, 2.0), (height, 1.0)):
        scene.line(rectangle(np.array([0.0, 0.0, z]), half[0], half[1], 0.0), SHADOW, width, GROUND, closed=True)
    for corner in rectangle(np.zeros(3), half[0], half[1], 0.0):
        scene.line((corner, corner + (0.0, 0.0, height)), SHADOW, 1.0, GROUND)


def gate_color(index: int, count: int, next_gate: int, passed: int) -> Color:
    """Orange for the next gate, gray for as many as were passed before it, blue for the others."""
    behind = (next_gate - 1 - index) % count
    if index == next_gate:
        return "orange"
    return "grey" if behind < passed else "blue"


def draw_course_flight(  # 17 parameters: what may be on a course, by name; a world gives what it has
    canvas: Canvas,
    p: Any,
    s: Any,
    gates: Any = (),
    half_opening: float = 0.6,
    half_outer: float = 0.8,
    next_gate: int = 0,
    passed: int | None = None,
    arena: Any = None,
    shapes: Any = (),
    goals: Any = (),
    links: Any = (),
    path: Any = (),
    wind: Any = (0.0, 0.0, 0.0),
    heading: float = 0.0,
    follow: int | None = None,
    distance: float = 3.2,
) -> None:
    """Vehicles on a course or in the open, seen from behind and above, and a map in the upper right corner.

    Args:
        canvas, p, s, shapes, goals, links, path, wind: see `draw_room_flight`.
        gates: (G, 4) x, y, z [m] and yaw [rad], the direction of flight; the camera looks along the course.
        half_opening, half_outer: half sides of the opening and the frame of a gate [m].
        next_gate: the gate to fly through, counted from 0.
        passed: how many gates before it are gray; by default those from gate 0 on.
        arena: half sizes along x and y, and height [m]; None for an open field.
        heading: where the camera looks without gates [rad].
        follow: the vehicle to follow; None for the middle of all.
        distance: from the camera to a single vehicle [m]; a swarm is seen from farther away.
    """
    gates = np.reshape(np.asarray(gates, float), (-1, 4))
    if len(gates):
        next_gate = int(next_gate) % len(gates)
    shown = next_gate if passed is None else int(passed)
    colors = [gate_color(g, len(gates), next_gate, shown) for g in range(len(gates))]
    arm = 0.07 * distance
    flight = Flight(p, s, arm, goals, links, path, shapes, wind, gates, colors, half_opening, half_outer)
    canvas.legend(*flight.legend())
    chased = flight.position if follow is None else flight.position[[follow]]
    centre = chased.mean(axis=0)
    spread = math.sqrt(float(((chased - centre) ** 2).sum(axis=1).mean()))
    distance += 2.2 * min(spread, 10.0 * distance)
    if len(gates):
        heading = course_heading(gates, next_gate, centre)
    camera = _chase_camera(centre, heading, distance)
    scene = Scene3D(canvas, camera, fog=(2.5 * distance, 12.0 * distance), cutaway=0.9 * distance)
    half = None if arena is None else np.asarray(arena[:2], float)
    focus = centre + distance * np.array([math.cos(heading), math.sin(heading), 0.0])
    _add_ground(scene, focus, 3.5 * distance, half, nice_length(0.45 * distance))
    if half is not None:
        _add_arena(scene, half, float(arena[2]))
    _add_things(scene, flight, seconds=0.25)
    scene.paint()
    if half is not None:
        draw_map(canvas, flight, (0.0, 0.0), half, 0.28, UPPER_RIGHT)
    else:
        reach = 2.0 * nice_length(distance + 1.0)
        draw_map(canvas, flight, centre[:2], (reach, reach), 0.28, UPPER_RIGHT)
