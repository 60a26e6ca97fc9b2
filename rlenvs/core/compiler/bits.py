"""How numba compiles moves of bits (`bits_of` and `float_of` of `rlenvs.core.declare.maths`) and `prefetch`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlenvs.core.compiler.jit import cgutils, ir, lower_builtin, type_callable, types
from rlenvs.core.declare.kernels import prefetch
from rlenvs.core.declare.maths import bits_of, float_of

BYTE, WORD = ir.IntType(8), ir.IntType(32)


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


@type_callable(prefetch)
def type_prefetch(context: Any) -> Callable[[Any, Any], Any]:
    """Arrays and whole numbers to nothing."""
    return lambda rows, i: types.none if isinstance(rows, types.Array) and isinstance(i, types.Integer) else None


@lower_builtin(prefetch, types.Array, types.Integer)
def lower_prefetch(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The address of a row, whether it is there or not, to the processor."""
    array = context.make_array(signature.args[0])(context, builder, args[0])
    i = context.cast(builder, args[1], signature.args[1], types.intp)
    place = builder.ptrtoint(array.data, i.type)
    offset = builder.mul(i, cgutils.unpack_tuple(builder, array.strides)[0])
    load_early(builder, builder.inttoptr(builder.add(place, offset), BYTE.as_pointer()))
    return context.get_dummy_value()


def load_early(builder: Any, pointer: Any) -> None:
    """LLVM's prefetch: of data, to be written too, into all caches."""
    kind = ir.FunctionType(ir.VoidType(), [BYTE.as_pointer(), WORD, WORD, WORD])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    builder.call(function, [pointer, WORD(1), WORD(3), WORD(1)])
