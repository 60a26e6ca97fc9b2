"""The car in the valley that both mountain cars share: where it rolls, the parameters, the image.

Source of the valley: Moore, "Efficient Memory-Based Learning for Robot Control", 1990, in the form of Gymnasium. The
height is sin(3 x), so gravity pulls with cos(3 x); all lengths and times are without units, one step is a unit of time.
"""

import math
from typing import Any

import numpy as np

from rlenvs.core import at_most, block, choice, data_option, drop_in, f8, kernel, param, uniform, view
from rlenvs.core.declare.maths import cos, sin

BOTTOM = -math.pi / 6.0
CAR = {
    "gravity": param(0.0025, 0.0005, 0.01, "", "gravity, per step squared"),
    "min_position": param(-1.2, -2.0, -0.7, "", "position of the wall", limit=True),
    "max_position": param(0.6, 0.3, 1.0, "", "where the valley ends", limit=True),
    "max_speed": param(0.07, 0.01, 0.3, "", "largest speed, per step", limit=True),
    "goal_velocity": param(0.0, -1.0, 1.0, "", "least velocity at the goal", limit=True),
    "min_position_start": param(-0.6, -0.7, 0.5, "", "least position at the start"),
    "max_position_start": param(-0.4, -0.7, 0.5, "", "largest position at the start"),
    "min_velocity_start": param(0.0, -0.07, 0.07, "", "least velocity at the start"),
    "max_velocity_start": param(0.0, -0.07, 0.07, "", "largest velocity at the start"),
}
RULES = [
    at_most(f"min_{what}_start", f"max_{what}_start", doc=f"min_{what}_start is at most max_{what}_start")
    for what in ("position", "velocity")
]
VELOCITY = {"velocity": data_option(choice("seen", "hidden", doc="whether the velocity is observed"))}
DROP_IN = drop_in(
    views={"state": view(lambda setup, p, s: np.array([s.x, s.v], np.float32), "position and velocity")},
    starts={"low": ["min_position_start"], "high": ["max_position_start"]},
)
STATE = {"x": f8, "v": f8}
DATA = {"seen_low": f8(2), "seen_high": f8(2)}  # bounds of the observation space
BLOCKS = {
    "position": block(low=lambda v: v.min_position, high=lambda v: v.max_position, doc="position of the car"),
    "velocity": block("speeds", low=lambda v: -v.max_speed, high=lambda v: v.max_speed, doc="velocity, per step"),
}


def speeds(values: Any) -> dict[str, int]:
    return {"speeds": 0 if values.velocity == "hidden" else 1}


def seen(values: Any) -> dict[str, Any]:
    low, high = [values.min_position, -values.max_speed], [values.max_position, values.max_speed]
    return {"seen_low": low, "seen_high": high}


@kernel
def start(p, s, rng):
    s.x = uniform(rng, p.min_position_start, p.max_position_start)
    s.v = uniform(rng, p.min_velocity_start, p.max_velocity_start)


@kernel
def roll(p, x, v, push):
    """Position and velocity after a step; the wall on the left stops the car."""
    v = min(max(v + (push - p.gravity * cos(3.0 * x)), -p.max_speed), p.max_speed)
    x = min(max(x + v, p.min_position), p.max_position)
    return x, (0.0 if x == p.min_position and v < 0.0 else v)


@kernel
def show(p, s, o):
    o.position = min(max(s.x, p.seen_low[0]), p.seen_high[0])
    for j in range(o.velocity.shape[0]):
        o.velocity[j] = min(max(s.v, p.seen_low[1]), p.seen_high[1])


def height(x: float) -> float:
    return 0.45 * sin(3.0 * x) + 0.55


def draw_valley(canvas: Any, p: Any, s: Any, push: float) -> None:
    """The valley with car, flag and push, in parts of a full one."""
    canvas.legend(("blue", "car"), ("green", "goal"), ("orange", "push", "line"))
    x, goal = float(s.x), float(p.goal_position)
    canvas.caption(f"position {x:+.2f}, goal {goal:+.2f}, velocity {float(s.v):+.3f}")
    left, right = float(p.min_position), float(p.max_position)
    canvas.view(left - 0.05, right + 0.1, -0.15, 1.45)
    xs = [left - 0.05 + (right - left + 0.15) * j / 100 for j in range(101)]
    ground = [(each, height(each)) for each in xs]
    canvas.polygon([*ground, (xs[-1], -0.6), (xs[0], -0.6)], "light")
    canvas.line(ground, "grey", 4)
    canvas.line([(goal, height(goal)), (goal, height(goal) + 0.3)], "black", 4)
    canvas.polygon([(goal, height(goal) + k) for k in (0.3, 0.16)] + [(goal + 0.14, height(goal) + 0.23)], "green")
    slope = 1.35 * cos(3.0 * x)
    scale = math.sqrt(1.0 + slope * slope)
    along, up = (1.0 / scale, slope / scale), (-slope / scale, 1.0 / scale)

    def place(forward: float, above: float) -> tuple[float, float]:
        return x + forward * along[0] + above * up[0], height(x) + forward * along[1] + above * up[1]

    canvas.polygon([place(*corner) for corner in ((-0.11, 0.05), (0.11, 0.05), (0.11, 0.13), (-0.11, 0.13))], "blue")
    for wheel in (-0.065, 0.065):
        canvas.circle(place(wheel, 0.045), 0.045, "black")
    if abs(push) > 0.02:
        side = math.copysign(1.0, push)
        canvas.arrow(place(0.13 * side, 0.09), place((0.22 + 0.12 * abs(push)) * side, 0.09), "orange", 7)
