"""Images of traffic: small networks with every vehicle, large ones with the queues of their roads."""

import math
from typing import Any

from rlenvs.core.declare.canvas import Canvas, Color

GROUND, ASPHALT, DASH = (226, 234, 214), (108, 114, 120), (176, 181, 186)
MOVING, WAITING, SHORT, MIDDLE = "sky", "red", (255, 218, 160), "orange"
OPEN, CLEARING, CLOSED = (0, 190, 120), (240, 228, 66), (176, 40, 40)
INCIDENT = (20, 20, 20)
STANDING = 0.1  # m/s: slower vehicles wait
PLACE = 7.5  # m of a lane for a vehicle that waits
FINE = 0.4  # pixels per meter, from which vehicles are shown
AROUND = 140.0  # m of the roads around a single junction that are shown
EDGE = 20.0  # m around a network
THIN, STUB, SPOT = 4.0, 5.0, 5.0  # pixels, of the narrowest road, of signals, and of incidents


def draw_network(canvas: Canvas, p: Any, s: Any) -> None:
    """The network from above: its signals, and vehicles, or the queues of roads where vehicles would be too small."""
    left, right, bottom, top = _bounds(p)
    lanes, waiting = int(p.lane_road.size), _waiting(p, s)
    people = f", people {sum([int(n) for n in s.people])}" if p.walk > 0 else ""
    canvas.caption(f"vehicles {int(s.running)}, waiting {sum(waiting)}{people}")
    wide, tall = canvas.scene
    scale = min(wide / (right - left), tall / (top - bottom))
    fine = scale >= FINE
    if fine:
        vehicles: list[tuple[Color, str, str]] = [(MOVING, "vehicle", "disc"), (WAITING, "waiting", "disc")]
    else:
        vehicles = [
            (SHORT, "queue", "square"),
            (MIDDLE, "over 1/3 of the lane", "square"),
            (WAITING, "over 2/3", "square"),
        ]
    if p.incident_at.size > 0:
        vehicles.append((INCIDENT, "incident", "disc"))
    canvas.legend(*vehicles, (OPEN, "green"), (CLEARING, "yellow"), (CLOSED, "red"))
    wide, tall = canvas.scene
    scale = min(wide / (right - left), tall / (top - bottom))
    canvas.view(left, right, bottom, top)
    canvas.rectangle(left - 1e4, bottom - 1e4, right + 1e4, top + 1e4, GROUND)
    for road in range(int(p.road_begins.size) - 1):
        _draw_road(canvas, p, road, scale)
    _draw_crossroads(canvas, p, scale)
    if fine:
        for link in range(int(p.link_end.size)):
            if signal_color(p, s, link) == OPEN:
                canvas.line(points_of(p, lanes + link), OPEN, 1.5)
    for road in range(int(p.road_begins.size) - 1):
        if not fine:
            _draw_queue(canvas, p, road, waiting, scale)
        _draw_signals(canvas, p, s, road, scale)
    if fine:
        for drivable in range(int(s.first.size)):
            _draw_vehicles(canvas, p, s, drivable, scale)
    for lane in range(lanes):
        _draw_incidents(canvas, p, s, lane, scale)


def signal_color(p: Any, s: Any, link: int) -> Color:
    """What a link's signal shows: yellow where its gate is closed in the phase that comes next."""
    gate = int(p.link_gate[link])
    j = int(p.gate_junction[gate])
    begins = int(p.phase_begins[j])
    dark = s.phase[j] != s.next_phase[j] and s.clearing[j] < p.all_red
    shown = not dark and p.green[p.green_begins[begins + s.phase[j]] + gate - p.gate_begins[j]] > 0
    stays = p.green[p.green_begins[begins + s.next_phase[j]] + gate - p.gate_begins[j]] > 0
    if shown:
        return OPEN if stays else CLEARING
    return CLOSED


def points_of(p: Any, drivable: int) -> list[list[float]]:
    """The middle line of a lane or link."""
    return [
        [float(p.line[i, 0]), float(p.line[i, 1])]
        for i in range(int(p.line_begins[drivable]), int(p.line_begins[drivable + 1]))
    ]


def place_on(points: list[list[float]], distance: float) -> list[float]:
    """Where a line is at a distance from its beginning."""
    for i in range(len(points) - 1):
        x, y = points[i + 1][0] - points[i][0], points[i + 1][1] - points[i][1]
        length = math.sqrt(x * x + y * y)
        if distance <= length or i == len(points) - 2:
            part = distance / length
            return [points[i][0] + part * x, points[i][1] + part * y]
        distance -= length
    return points[-1]


def _bounds(p: Any) -> tuple[float, float, float, float]:
    """What is shown of the world: all of a network, of a single junction what is around it."""
    if p.place.shape[0] == 1:
        x, y = float(p.place[0, 0]), float(p.place[0, 1])
        lane = int(p.link_start[0])
        ends = points_of(p, lane)[-1]
        reach = max(abs(ends[0] - x), abs(ends[1] - y)) + AROUND
        return x - reach, x + reach, y - reach, y + reach
    xs = [float(x) for x in p.line[:, 0]]
    ys = [float(y) for y in p.line[:, 1]]
    return min(xs) - EDGE, max(xs) + EDGE, min(ys) - EDGE, max(ys) + EDGE


def _waiting(p: Any, s: Any) -> list[int]:
    """How many vehicles wait on each lane."""
    found = []
    for lane in range(int(p.lane_road.size)):
        count, v = 0, int(s.first[lane])
        while v >= 0:
            count += 1 if s.speed[v] < STANDING else 0
            v = int(s.behind[v])
        found.append(count)
    return found


def _strip(p: Any, road: int, scale: float) -> tuple[list[list[float]], float]:
    """The middle line of a road, and its width in pixels, at least THIN: what is wider lies on its outer side."""
    first, last = int(p.road_begins[road]), int(p.road_begins[road + 1]) - 1
    width = sum([float(p.lane_width[lane]) for lane in range(first, last + 1)])
    shift = max(width, THIN / scale) / 2.0 - float(p.lane_width[first]) / 2.0
    points, moved = points_of(p, first), []
    for i in range(len(points)):
        tail, head = points[max(i - 1, 0)], points[min(i + 1, len(points) - 1)]
        x, y = head[0] - tail[0], head[1] - tail[1]
        length = math.sqrt(x * x + y * y)
        moved.append([points[i][0] + shift * y / length, points[i][1] - shift * x / length])
    return moved, max(width * scale, THIN)


def _draw_road(canvas: Canvas, p: Any, road: int, scale: float) -> None:
    points, width = _strip(p, road, scale)
    canvas.line(points, ASPHALT, width)
    if scale < FINE:
        return
    for lane in range(int(p.road_begins[road]), int(p.road_begins[road + 1]) - 1):
        line, other = points_of(p, lane), points_of(p, lane + 1)
        between = [[(a[0] + b[0]) / 2.0, (a[1] + b[1]) / 2.0] for a, b in zip(line, other, strict=True)]
        canvas.line(between, DASH, 0.5)


def _draw_crossroads(canvas: Canvas, p: Any, scale: float) -> None:
    """The ways across junctions, as wide as a lane."""
    lanes = int(p.lane_road.size)
    for link in range(int(p.link_end.size)):
        width = max(float(p.lane_width[p.link_start[link]]) * scale, 1.0)
        canvas.line(points_of(p, lanes + link), ASPHALT, width)


def _draw_queue(canvas: Canvas, p: Any, road: int, waiting: list[int], scale: float) -> None:
    """A bar from the stop line back, as long as the longest queue of the road's lanes, colored by its share of it."""
    lanes = range(int(p.road_begins[road]), int(p.road_begins[road + 1]))
    share = max([min(waiting[lane] * PLACE / float(p.length[lane]), 1.0) for lane in lanes])
    if share == 0.0:
        return
    points, width = _strip(p, road, scale)
    tail = _between(points[-2], points[-1], 1.0 - max(share, 0.06))
    color = SHORT if share < 1.0 / 3.0 else MIDDLE if share < 2.0 / 3.0 else WAITING
    canvas.line([tail, points[-1]], color, width)


def _between(tail: list[float], head: list[float], part: float) -> list[float]:
    return [tail[0] + part * (head[0] - tail[0]), tail[1] + part * (head[1] - tail[1])]


def _draw_signals(canvas: Canvas, p: Any, s: Any, road: int, scale: float) -> None:
    """At the end of each lane, or of the road where lanes are thin, what its signal shows. Right turns, which may
    always go in most plans, do not count for a whole road."""
    first, stop = int(p.road_begins[road]), int(p.road_begins[road + 1])
    fine = scale >= FINE
    whole: list[Color] = []
    for lane in range(first, stop):
        links = [int(p.leaving[i]) for i in range(int(p.leaving_begins[lane]), int(p.leaving_begins[lane + 1]))]
        if not links:
            continue
        ahead = [link for link in links if p.gate_kind[p.link_gate[link]] > 1]
        colors = [signal_color(p, s, link) for link in (links if fine else ahead)]
        if fine:
            _stub(canvas, points_of(p, lane), _best(colors), float(p.lane_width[lane]) * scale * 0.8, scale)
        whole += colors
    if whole and not fine:
        points, width = _strip(p, road, scale)
        _stub(canvas, points, _best(whole), width, scale)


def _best(colors: list[Color]) -> Color:
    return OPEN if OPEN in colors else CLEARING if CLEARING in colors else CLOSED


def _stub(canvas: Canvas, points: list[list[float]], color: Color, width: float, scale: float) -> None:
    """A signal just behind the end of a line."""
    tail, head = points[-2], points[-1]
    x, y = head[0] - tail[0], head[1] - tail[1]
    length = math.sqrt(x * x + y * y)
    reach = STUB / scale / length
    canvas.line([head, [head[0] + reach * x, head[1] + reach * y]], color, max(width, 2.0))


def _draw_incidents(canvas: Canvas, p: Any, s: Any, lane: int, scale: float) -> None:
    now = float(s.ticks) * float(p.interval)
    for i in range(int(p.incident_begins[lane]), int(p.incident_begins[lane + 1])):
        if s.happens[i] and p.incident_start[i] <= now and now < p.incident_end[i]:
            place = place_on(points_of(p, lane), float(p.incident_at[i]))
            canvas.circle(place, SPOT / scale, INCIDENT)


def _draw_vehicles(canvas: Canvas, p: Any, s: Any, drivable: int, scale: float) -> None:
    v = int(s.first[drivable])
    if v < 0:
        return
    points = points_of(p, drivable)
    while v >= 0:
        length = max(float(p.car_length[s.kind[v]]), 4.0 / scale)
        front = place_on(points, float(s.position[v]))
        end = place_on(points, max(float(s.position[v]) - length, 0.0))
        color = WAITING if s.speed[v] < STANDING else MOVING
        canvas.line([end, front], color, max(2.4 * scale, 2.5))
        v = int(s.behind[v])
