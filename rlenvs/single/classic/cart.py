"""The cart with a pole that CartPole and its swing-up share: equations, the controller that balances it, the image.

Equations: Barto, Sutton and Anderson, IEEE Transactions on Systems, Man, and Cybernetics 1983, without friction, as
Florian (2005) corrected them. `length` is half of the pole's, as in every program since.
"""

import math
from typing import Any

from rlenvs.core import kernel, param
from rlenvs.core.maths import cos, sin, sin_cos

CART = {
    "gravity": param(9.8, 0.1, 30.0, "m/s^2", "gravity"),
    "masscart": param(1.0, 0.1, 10.0, "kg", "mass of the cart"),
    "masspole": param(0.1, 0.01, 1.0, "kg", "mass of the pole"),
    "length": param(0.5, 0.05, 5.0, "m", "half of the pole's length"),
    "force_mag": param(10.0, 1.0, 100.0, "N", "force of a full push"),
}
SLOW, FAST = 0.4, 1.0  # poles of the balanced cart, in units of the falling pole's rate


@kernel
def accelerations(p, theta, theta_dot, force):
    """Of cart [m/s^2] and pole [rad/s^2]."""
    sine, cosine = sin_cos(theta)
    total = p.masspole + p.masscart
    moment = p.masspole * p.length
    pushed = (force + moment * (theta_dot * theta_dot) * sine) / total
    turn = (p.gravity * sine - cosine * pushed) / (p.length * (4.0 / 3.0 - p.masspole * (cosine * cosine) / total))
    return pushed - moment * turn * cosine / total, turn


@kernel
def balancing_force(p, x, x_dot, theta, theta_dot):
    """The force [N] that brings a nearly upright pole and its cart to rest at the origin.

    Near the top the force acts on the fourth derivative of x + reach * theta alone; it is chosen such that this number
    goes to zero with two fast and two slow rates.
    """
    total = p.masspole + p.masscart
    lever = p.length * (4.0 / 3.0 - p.masspole / total)
    rate = p.gravity / lever  # of falling, squared
    per_force = -1.0 / (total * lever)
    ratio = p.masspole * p.length / total
    reach = -(1.0 / total - ratio * per_force) / per_force
    pull = -ratio * rate + reach * rate
    fast, slow = FAST * math.sqrt(rate), SLOW * math.sqrt(rate)
    b3, b2 = 2.0 * (fast + slow), fast * fast + slow * slow + 4.0 * fast * slow
    b1, b0 = 2.0 * fast * slow * (fast + slow), fast * fast * slow * slow
    wanted = -(b0 * (x + reach * theta) + b1 * (x_dot + reach * theta_dot) + b2 * pull * theta + b3 * pull * theta_dot)
    return (wanted / pull - rate * theta) / per_force


def tip(x: float, theta: float, length: float) -> tuple[float, float]:
    """Where a pole ends that stands on a cart at x, theta from the vertical."""
    return x + length * sin(theta), length * cos(theta)


def draw_cart(canvas: Any, x: float, poles: list[tuple[float, float, str]], limit: float, force: float = 0.0) -> None:
    """A cart on its track with poles (angle, length, colour), the ends of the track, and the force in parts of 1."""
    tallest = max(length for _, length, _ in poles)
    half, below = 1.15 * limit, 0.35 * limit
    size = 0.13 * limit  # of the cart
    above = max(1.2 * tallest, 0.4 * half)
    hanging = any(cos(angle) < 0.0 for angle, _, _ in poles)
    canvas.view(-half, half, -max(below, 1.2 * tallest if hanging else below), max(above, below))
    canvas.line([(-half, -size), (half, -size)], "grey", 4)
    for end in (-limit, limit):
        canvas.rectangle(end - 0.03 * limit, -2.2 * size, end + 0.03 * limit, 1.2 * size, "red")
    canvas.rectangle(x - 1.5 * size, -size, x + 1.5 * size, size, "blue", rounded=0.3 * size)
    for angle, length, color in poles:
        canvas.line([(x, 0.0), tip(x, angle, length)], color, 14)
        canvas.circle(tip(x, angle, length), 0.028 * 2.0 * half, color)
    canvas.circle((x, 0.0), 0.4 * size, "white")
    if abs(force) > 0.02:
        side = math.copysign(1.0, force)
        canvas.arrow((x + 1.6 * size * side, 0.0), (x + (1.6 + 3.0 * abs(force)) * size * side, 0.0), "orange", 7)
