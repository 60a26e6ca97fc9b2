"""Attitudes as quaternions (w, x, y, z), numbers in a tuple or an array, for the kernels of tasks with rotations.

The attitude of a hand is split in two: from its fingers pointing down it first turns about the vertical by its
`twist`, then it tilts, about the horizontal axis (tilt_x, tilt_y) by the length of this vector, all in rad.
"""

import math

from rlenvs.core import kernel, maths
from rlenvs.robotics.manipulation.arm import TURN
from rlenvs.robotics.manipulation.panda import DOWN


@kernel
def product(a, b):
    """The rotation b, then the rotation a."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@kernel
def inverse(q):
    return (q[0], -q[1], -q[2], -q[3])


@kernel
def rotation(x, y, z):
    """The rotation about the axis (x, y, z) by the length of that vector."""
    angle = math.sqrt(x * x + y * y + z * z)
    scale = 0.5 if angle < 1e-9 else maths.sin(0.5 * angle) / angle
    return (maths.cos(0.5 * angle), scale * x, scale * y, scale * z)


@kernel
def vector(q):
    """The rotation vector of a rotation, of length pi at most."""
    size = math.sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    sign = 1.0 if q[0] >= 0.0 else -1.0
    scale = 2.0 * sign if size < 1e-9 else 2.0 * maths.atan2(size, sign * q[0]) * sign / size
    return (scale * q[1], scale * q[2], scale * q[3])


@kernel
def difference(a, b):
    """1 - <a, b>^2: 0 for equal attitudes, 1 for half a turn between them, sin(angle / 2)^2 in general."""
    return max(1.0 - (a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]) ** 2, 0.0)


@kernel
def wrapped(angle):
    """The same angle in [-pi, pi]."""
    return maths.atan2(maths.sin(angle), maths.cos(angle))


@kernel
def turned(twist, tilt_x, tilt_y):
    """The attitude of a hand with this twist and tilt."""
    return product(rotation(tilt_x, tilt_y, 0.0), product(rotation(0.0, 0.0, twist), DOWN))


@kernel
def twist_and_tilt(q):
    """Twist, tilt_x, tilt_y of a hand's attitude; the twist is in [-pi, pi]."""
    from_down = product(q, inverse(DOWN))
    twist = wrapped(2.0 * maths.atan2(from_down[3], from_down[0]))
    tilt = vector(product(from_down, rotation(0.0, 0.0, -twist)))
    return (twist, tilt[0], tilt[1])


@kernel
def turn_towards(s, k, q, a):
    """The scripted expert's way of turning the hand: actions a[3:6] that bring the target of hand k to attitude q."""
    rest = vector(product(q, inverse(s.mocap_quat[k])))
    for j in range(3):
        a[3 + j] = min(max(rest[j] / TURN, -1.0), 1.0)
