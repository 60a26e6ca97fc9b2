"""Starts with something in the hand, for levels and for training that begins near the end of a task."""

from rlenvs.core import kernel
from rlenvs.robotics.manipulation import panda

FIRST, SECOND = panda.NEUTRAL_GRIP[0], panda.SECOND_BASE[0] + panda.BASE[0] - panda.NEUTRAL_GRIP[0]
HEIGHT = panda.NEUTRAL_GRIP[2]  # m; FIRST and SECOND are along x: where neutral arms have their grips, at y = 0


@kernel
def close(s, k, half):
    """Put the fingers of arm k around a thing of this half width; called by `reset`, after the arm's pose."""
    for j in range(panda.JOINTS, panda.ARM_QPOS):
        s.qpos[panda.ARM_QPOS * k + j] = half


@kernel
def press(s, k):
    """Let them hold on; called when the engine has placed the arm, after `arm.start`."""
    s.ctrl[k * (s.ctrl.size // s.grip.shape[0])] = 0.0
