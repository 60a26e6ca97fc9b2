"""How numba compiles `combine_run`: eight numbers at once, whatever the length of the loop around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlenvs.core.compiler.jit import config, ir, lower_builtin, type_callable, types
from rlenvs.core.declare.kernels import RUN, combine_run

INDEX = ir.IntType(32)
WIDE, NARROW = ir.VectorType(ir.DoubleType(), RUN), ir.VectorType(ir.FloatType(), RUN)


@type_callable(combine_run)
def type_combine_run(context: Any) -> Callable[..., Any]:
    """Rows of float64, to a row of float64 or float32."""

    def typed(out: Any, first: Any, a: Any, u: Any, b: Any, v: Any) -> Any:
        rows = all(isinstance(row, types.Array) and row.dtype == types.float64 for row in (a, b))
        return types.none if rows and out.dtype in (types.float64, types.float32) else None

    return typed


@lower_builtin(combine_run, types.Array, types.Integer, types.Array, types.Float, types.Array, types.Float)
def lower_combine_run(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Two loads, two products, a sum and a store of vectors; the same numbers as one at a time.

    Where bounds are checked it is the loop.
    """
    if config.BOUNDSCHECK:  # type: ignore[attr-defined]
        return context.compile_internal(builder, combine_run, signature, args)
    first = context.cast(builder, args[1], signature.args[1], types.intp)

    def place(n: int, vector: Any) -> Any:
        array = context.make_array(signature.args[n])(context, builder, args[n])
        return builder.bitcast(builder.gep(array.data, [first]), vector.as_pointer())

    def times(row: int) -> Any:
        factor = context.cast(builder, args[row + 1], signature.args[row + 1], types.float64)
        return builder.fmul(builder.load(place(row, WIDE), align=8), spread(builder, factor))

    total = builder.fadd(times(2), times(4))
    if signature.args[0].dtype == types.float32:
        builder.store(builder.fptrunc(total, NARROW), place(0, NARROW), align=4)
    else:
        builder.store(total, place(0, WIDE), align=8)
    return context.get_dummy_value()


def spread(builder: Any, number: Any) -> Any:
    """A vector of the same number."""
    nothing = ir.Constant(WIDE, ir.Undefined)
    first = builder.insert_element(nothing, number, INDEX(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(INDEX, RUN), [0] * RUN))
