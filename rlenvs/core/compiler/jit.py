"""numba for the rest of the package: its decorator, and the processor that it compiles for."""

from llvmlite.binding import get_host_cpu_name as processor
from numba import njit

from rlenvs.core.compiler.compiling import check_numba

__all__ = ["njit", "processor"]

check_numba()
