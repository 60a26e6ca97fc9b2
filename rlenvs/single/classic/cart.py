"""The cart with a pole that CartPole and its swing-up share: equations, the controller that balances it, the image.

Equations: Barto, Sutton and Anderson, IEEE Transactions on Systems, Man, and Cybernetics 1983, without friction.
`length` is half the pole's length, as in all implementations since.
"""

import math
from typing import Any

from rlenvs.core import kernel, param
from rlenvs.core.declare.maths import cos, sin, sin_cos

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


def draw_cart(canvas: Any, x: float, poles: list[tuple[float, float, str]], limit: float, force: float = 0.0) -> None:
    """A cart on its track with poles side by side (angle, length, color), the ends of the track, and the force in
    parts of 1. What is too short to be seen is drawn longer."""
    half, size = 1.15 * limit, 0.11 * limit
    lengths = [max(length, 0.22 * limit) for _, length, _ in poles]
    room = 1.25 * max(lengths) + size
    canvas.view(-half, half, -room, room)
    canvas.line([(-half, -size), (half, -size)], "grey", 4)
    for end in (-limit, limit):
        canvas.rectangle(end - 0.03 * limit, -2.0 * size, end + 0.03 * limit, 2.0 * size, "red")
    canvas.rectangle(x - 2.2 * size, -size, x + 2.2 * size, 0.0, "blue", rounded=0.3 * size)
    for j, (angle, _, color) in enumerate(poles):
        foot = x + (j - 0.5 * (len(poles) - 1)) * 2.0 * size
        tip = (foot + lengths[j] * sin(angle), lengths[j] * cos(angle))
        canvas.line([(foot, 0.0), tip], color, 14)
        canvas.circle(tip, 0.024 * 2.0 * half, color)
        canvas.circle((foot, 0.0), 0.45 * size, "grey")
    if abs(force) > 0.02:
        side = math.copysign(1.0, force)
        start, height = x + 2.4 * size * side, -0.5 * size
        canvas.arrow((start, height), (start + (1.0 + 3.0 * abs(force)) * size * side, height), "orange", 7)
