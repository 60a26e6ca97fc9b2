"""Starts with an object in the hand, for levels and for training that starts near the end of a task."""

from rlenvs.core import kernel
from rlenvs.robotics.manipulation import arm, panda

FIRST, SECOND = panda.NEUTRAL_GRIP[0], panda.SECOND_BASE[0] + panda.BASE[0] - panda.NEUTRAL_GRIP[0]
HEIGHT = panda.NEUTRAL_GRIP[2]  # m; FIRST and SECOND are along x: where neutral arms have their grips, at y = 0


@kernel
def give(s, k, half, first, aside):
    """Put the thing whose free joint begins at qpos[first], of this half width, between the fingers of arm k, its
    middle `aside` [m] along x from the grip; called by `reset`, after the arm's pose."""
    for j in range(panda.JOINTS, panda.ARM_QPOS):
        s.qpos[panda.ARM_QPOS * k + j] = half
    arm.put(s, first, (FIRST if k == 0 else SECOND) + aside, 0.0, HEIGHT, 0.0)


@kernel
def start(s, k):
    """`arm.start`, and let fingers that are around something press."""
    arm.start(s, k)
    if s.qpos[panda.ARM_QPOS * k + panda.JOINTS] < panda.FINGER_OPEN:
        s.ctrl[k * (s.ctrl.size // s.grip.shape[0])] = 0.0
