"""All that this package takes of numba and llvmlite, behind a gate for their versions. No other module imports them."""

import re
import sys
from typing import Any

import llvmlite
import numba

from rlenvs.core.declare.errors import DependencyError

NUMBA = ((0, 63), (0, 69))  # the first version that works, and the first that nobody has tried


def check_numba() -> None:
    """See whether the installed numba can compile kernels.

    Raises:
        DependencyError: it is too old, or newer than any that was tried.
    """
    first, end = NUMBA
    found = re.match(r"(\d+)\.(\d+)", numba.__version__)
    if found and not first <= (int(found[1]), int(found[2])) < end:
        wanted = f"numba>={first[0]}.{first[1]},<{end[0]}.{end[1]}"
        raise DependencyError(
            f"numba {numba.__version__} cannot compile the environments. "
            f"Install one that can with: {sys.executable} -m pip install '{wanted}'"
        )


check_numba()  # before names that other versions may not have

from llvmlite import binding, ir
from llvmlite.binding import get_host_cpu_name as processor
from numba import _dynfunc  # type: ignore[attr-defined]
from numba import config, from_dtype, njit, typeof
from numba import types as numba_types
from numba.core import cgutils, compiler, event, serialize
from numba.core import ir as numba_ir
from numba.core.caching import _Cache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, PassManager, _LowerResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic, intrinsic, lower_builtin, models, register_model
from numba.core.imputils import lower_cast, lower_getattr, lower_getattr_generic, lower_setattr_generic
from numba.core.ir_utils import get_definition, guard
from numba.core.registry import cpu_target
from numba.core.typeconv import Conversion
from numba.core.typed_passes import NativeLowering
from numba.core.types import Function, Type
from numba.core.types.functions import BaseFunction
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    builtin_registry,
    infer_getattr,
    infer_global,
    signature,
)
from numba.core.untyped_passes import RewriteSemanticConstants
from numba.extending import register_jitable, type_callable, typeof_impl
from numba.np.arrayobj import populate_array

types: Any = numba_types  # whose stubs know too little
