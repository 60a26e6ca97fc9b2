"""How numba compiles `bits_of` and `float_of` of `rlenvs.core.maths`: one move between registers each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, type_callable

from rlenvs.core.maths import bits_of, float_of


@type_callable(bits_of)
def type_bits_of(context: Any) -> Callable[[Any], Any]:
    """Numbers to whole numbers."""
    return lambda x: types.int64 if isinstance(x, (types.Float, types.Integer)) else None


@lower_builtin(bits_of, types.Float)
@lower_builtin(bits_of, types.Integer)
def lower_bits_of(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The bits of a float64, which other numbers become first."""
    number = context.cast(builder, args[0], signature.args[0], types.float64)
    return builder.bitcast(number, ir.IntType(64))


@type_callable(float_of)
def type_float_of(context: Any) -> Callable[[Any], Any]:
    """Whole numbers to numbers."""
    return lambda bits: types.float64 if isinstance(bits, types.Integer) else None


@lower_builtin(float_of, types.Integer)
def lower_float_of(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The float64 that has these bits."""
    whole = context.cast(builder, args[0], signature.args[0], types.int64)
    return builder.bitcast(whole, ir.DoubleType())
