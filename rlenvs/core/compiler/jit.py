"""numba for the rest of the package: its decorator, and the processor that it compiles for."""

from llvmlite.binding import get_host_cpu_name as processor  # noqa: F401
from numba import njit as njit

from rlenvs.core.compiler.compiling import check_numba

check_numba()
