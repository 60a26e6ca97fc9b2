"""Gaits on two legs: each follows the same course, half a period apart, and feedback keeps the robot up."""

from __future__ import annotations

from rlenvs.core import kernel
from rlenvs.core.declare.maths import sin_cos

JOINTS, COURSE, FEEDBACK = 3, 5, 7  # of a leg; numbers of a joint's course; and of what it adds for balance
NUMBERS = 1 + JOINTS * (COURSE + FEEDBACK)


@kernel
def walk(gait, positions, velocities, time, a):
    """The torques of thigh, leg and foot of the right leg, then of the left one, of a flat walker.

    Args:
        gait: NUMBERS numbers: the angular frequency [rad/s], and then for each joint its mean angle and the first two
            harmonics of its course [rad] (sine and cosine each), stiffness and damping, and what the torque gains by
            pitch, its rate, the velocity along x, the height of the torso above 1.2 m, and pitch times the cosine of
            the course.
        positions, velocities: of x, height, pitch and the joints, as the model has them.
        time: since the start [s].
        a: the torques, in [-1, 1].
    """
    for leg in range(2):
        sine, cosine = sin_cos(gait[0] * time + 3.141592653589793 * leg)
        for joint in range(JOINTS):
            k, n = 1 + joint * (COURSE + FEEDBACK), 3 + leg * JOINTS + joint
            course = gait[k] + gait[k + 1] * sine + gait[k + 2] * cosine
            course += gait[k + 3] * 2.0 * sine * cosine + gait[k + 4] * (cosine * cosine - sine * sine)
            k += COURSE
            torque = gait[k] * (course - positions[n]) - gait[k + 1] * velocities[n]
            balance = gait[k + 2] * positions[2] + gait[k + 3] * velocities[2] + gait[k + 4] * velocities[0]
            torque += balance + gait[k + 5] * (positions[1] - 1.2)
            torque += gait[k + 6] * cosine * positions[2]
            a[leg * JOINTS + joint] = min(max(torque, -1.0), 1.0)
