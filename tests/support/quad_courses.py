"""What the tests of courses and paths share."""

from types import FunctionType

from numba import njit
from numba.extending import register_jitable

from rlenvs.core.declare.kernels import marked
from rlenvs.robotics.quadcopter import paths

GRAVITY = 9.8
CPC = paths.Quad()
CPC_ACCELERATION = 3.3 * GRAVITY
ROOM = (3.0, 3.0, 3.0)


def compiled(function):
    for other in marked:
        if isinstance(other, FunctionType) and not hasattr(other, "_compiled_by_numba"):
            register_jitable(error_model="numpy")(other)
            other._compiled_by_numba = True
    return njit(error_model="numpy")(function)
