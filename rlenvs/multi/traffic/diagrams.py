"""Diagrams of an episode: the ways of vehicles along a street over time, and queues over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlenvs.core.declare.canvas import Canvas, Color, agent_color
from rlenvs.multi.traffic.render import CLEARING, CLOSED, OPEN, signal_color
from rlenvs.multi.traffic.replay import vehicles
from rlenvs.multi.traffic.signals import waiting_on

AREA = (0.12, 0.03, 0.98, 0.92)  # of the scene, for the plot
MOST_JUNCTIONS = 8  # with a line of their own
TICKS = 5  # of an axis, at most


class _Plot:
    """Axes on a canvas: time to the right."""

    def __init__(self, canvas: Canvas, times: tuple[float, float], values: tuple[float, float]) -> None:
        self.canvas, self.times, self.values = canvas, times, values
        canvas.view(0.0, 1.0, 0.0, 1.0)
        wide, tall = canvas.scene
        self.wide, self.tall = wide, tall
        canvas.view(0.0, float(wide), 0.0, float(tall))

    def at(self, time: float, value: float) -> list[float]:
        """Where a value is, in pixels."""
        x = AREA[0] + (AREA[2] - AREA[0]) * (time - self.times[0]) / max(self.times[1] - self.times[0], 1e-9)
        y = AREA[1] + (AREA[3] - AREA[1]) * (self.values[1] - value) / max(self.values[1] - self.values[0], 1e-9)
        return [x * self.wide, (1.0 - y) * self.tall]

    def axes(self, unit: str) -> None:
        """Both axes with their numbers."""
        (start, end), (low, high) = self.times, self.values
        self.canvas.line([self.at(start, high), self.at(start, low), self.at(end, low)], "black", 1.5)
        for time in _ticks(start, end):
            x, y = self.at(time, low)
            self.canvas.text([x, y - 12.0], f"{time:g}", size=11, align="centre")
        for value in _ticks(low, high):
            x, y = self.at(start, value)
            self.canvas.text([x - 6.0, y], f"{value:g}", size=11, align="right")
        self.canvas.caption(f"time [s], {unit}")


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers from low to high."""
    rough = max(high - low, 1e-9) / TICKS
    power = 10.0 ** np.floor(np.log10(rough))
    step = float(power * next(n for n in (1.0, 2.0, 5.0, 10.0) if n * power >= rough))
    return [step * n for n in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]


class Queues:
    """How many vehicles wait around each junction, or in all where there are many."""

    def __init__(self) -> None:
        self._times, self._rows = list[float](), list[list[int]]()

    def note(self, p: Any, s: Any) -> None:
        """Note a step."""
        self._times.append(float(s.ticks * p.interval))
        self._rows.append(
            [sum(waiting_on(s, lane) for lane in lanes.tolist() if lane >= 0) for lanes in np.asarray(p.in_lane)]
        )

    def draw(self, canvas: Canvas) -> None:
        """Draw what has been noted."""
        rows = np.array(self._rows, float)
        if rows.shape[1] > MOST_JUNCTIONS:
            rows = rows.sum(axis=1, keepdims=True)
            names = ["all junctions"]
        else:
            names = [f"junction {j}" for j in range(rows.shape[1])]
        canvas.legend(*((agent_color(j), name, "line") for j, name in enumerate(names)))
        plot = _Plot(canvas, (self._times[0], self._times[-1]), (0.0, max(rows.max(), 1.0)))
        for j in range(rows.shape[1]):
            points = [plot.at(time, value) for time, value in zip(self._times, rows[:, j].tolist(), strict=True)]
            canvas.line(points, agent_color(j), 2.0)
        plot.axes("vehicles that wait")


class TimeSpace:
    """The ways of vehicles along the first route of the demand, and its signals."""

    def __init__(self) -> None:
        self._times = list[float]()
        self._signals = list[list[Color]]()
        self._ways = dict[tuple[int, int], list[tuple[float, float]]]()
        self._begins, self._stops = dict[int, float](), list[tuple[float, int]]()
        self._length = 0.0

    def _follow(self, p: Any) -> None:
        """Where the lanes and links of the route begin, and where it has signals."""
        lane = int(p.start_lane[0])
        for leg in range(int(p.route_begins[0]), int(p.route_begins[1])):
            road = int(p.route_road[leg])
            for each in np.flatnonzero(np.asarray(p.lane_road) == road).tolist():
                self._begins[each] = self._length
            link = int(p.route_link[leg, p.lane_index[lane]])
            self._length += float(p.length[lane])
            if link < 0:
                return
            self._stops.append((self._length, link))
            self._begins[int(p.lane_road.size) + link] = self._length
            self._length += float(p.length[p.lane_road.size + link])
            lane = int(p.link_end[link])

    def note(self, p: Any, s: Any) -> None:
        """Note a step."""
        if not self._begins:
            self._follow(p)
        now = float(s.ticks * p.interval)
        self._times.append(now)
        self._signals.append([signal_color(p, s, link) for _, link in self._stops])
        for v in vehicles(s):
            begin = self._begins.get(int(s.drivable[v]))
            if begin is not None:
                way = self._ways.setdefault((int(s.flow[v]), int(s.number[v])), [])
                way.append((now, begin + float(s.position[v])))

    def draw(self, canvas: Canvas) -> None:
        """Draw what has been noted."""
        canvas.legend(("blue", "vehicle", "line"), (OPEN, "green"), (CLEARING, "yellow"), (CLOSED, "red"))
        plot = _Plot(canvas, (self._times[0], self._times[-1]), (0.0, self._length))
        for way in self._ways.values():
            if len(way) > 1:
                canvas.line([plot.at(*point) for point in way], "blue", 1.0)
        for n, (place, _) in enumerate(self._stops):
            for step in range(1, len(self._times)):
                ends = [plot.at(time, place) for time in self._times[step - 1 : step + 1]]
                canvas.line(ends, self._signals[step][n], 4.0)
        plot.axes("distance along the first route [m]")
