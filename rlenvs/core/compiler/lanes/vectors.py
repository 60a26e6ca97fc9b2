"""Vectors for numba: several worlds in one register, and records whose fields have one number per world.

A kernel that runs over lanes sees the records that it always sees. Where `s.height` was a number it is `Lanes`, a
vector with a number of each of WIDTH worlds; where `s.position` was an array of numbers it is a `View` of vectors.
Arithmetic, comparisons and functions of `math` act on each lane as they act on a number, bit for bit: operations are
the processor's on whole vectors where it has them, and one after the other where it has not. What is the same for all
worlds, such as parameters, stays a number.

In memory a block is what WIDTH rows are, with a trailing axis: the byte at offset x of a row lies at WIDTH * x, and the
same element of the other lanes beside it.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

from rlenvs.core.compiler.jit import (
    AbstractTemplate,
    Conversion,
    cgutils,
    infer_global,
    intrinsic,
    ir,
    lower_builtin,
    lower_cast,
    models,
    register_model,
    signature,
    types,
)
from rlenvs.core.compiler.lanes.blocks import WIDTH
from rlenvs.core.declare.maths import bits_of, float_of

WORD, FLAG = ir.IntType(32), ir.IntType(1)
FIRST = {"target": "cpu"}  # of a template: tried before the dozens of numba's own, which are for any target


# --- types ------------------------------------------------------------------------------------------------------------


class Lanes(types.Type):
    """One number, or one flag, of each world."""

    def __init__(self, element: types.Type) -> None:
        self.element = element
        super().__init__(name=f"lanes{WIDTH}({element})")

    def unify(self, context: Any, other: Any) -> Any:
        """A vector where the other is a number, with the type that two numbers would have."""
        element = context.unify_types(self.element, element_of(other))
        return None if element is None else Lanes(element)

    def can_convert_from(self, context: Any, other: Any) -> Any:
        """A number becomes a vector of the same number."""
        if not isinstance(other, (Lanes, types.Number, types.Boolean)):
            return None
        return max(context.can_convert(element_of(other), self.element) or Conversion.safe, Conversion.safe)


def element_of(kind: Any) -> Any:
    """The type of a lane; of what is no vector, its own."""
    return kind.element if isinstance(kind, Lanes) else types.unliteral(kind)


def vector_of(element: Any, context: Any) -> ir.VectorType:
    """The machine's type of a vector."""
    return ir.VectorType(context.get_value_type(element), WIDTH)


@register_model(Lanes)
class LanesModel(models.PrimitiveModel):
    """A vector of the machine."""

    def __init__(self, dmm: Any, fe_type: Lanes) -> None:
        super().__init__(dmm, fe_type, ir.VectorType(dmm.lookup(fe_type.element).get_value_type(), WIDTH))


FLAGS = Lanes(types.boolean)


# --- vectors and numbers ----------------------------------------------------------------------------------------------


def broadcast(builder: Any, value: Any) -> Any:
    """A vector of the same number in all lanes."""
    vector = ir.VectorType(value.type, WIDTH)
    if isinstance(value, ir.Constant):
        return ir.Constant(vector, [value.constant] * WIDTH)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), value, WORD(0))
    return builder.shuffle_vector(
        first, ir.Constant(vector, ir.Undefined), ir.Constant(ir.VectorType(WORD, WIDTH), None)
    )


def lane_of(builder: Any, value: Any, lane: int) -> Any:
    """One lane of a vector; a number as it is."""
    return builder.extract_element(value, WORD(lane)) if isinstance(value.type, ir.VectorType) else value


def lane_by_lane(builder: Any, call: Callable[..., Any], args: Any) -> Any:
    """A vector of what `call` makes of each lane of the arguments."""
    found = [call(*(lane_of(builder, value, lane) for value in args)) for lane in range(WIDTH)]
    whole = ir.Constant(ir.VectorType(found[0].type, WIDTH), ir.Undefined)
    for lane, value in enumerate(found):
        whole = builder.insert_element(whole, value, WORD(lane))
    return whole


def as_lanes(context: Any, builder: Any, value: Any, kind: Any, element: Any) -> Any:
    """A number or vector as a vector of elements of another type."""
    if not isinstance(kind, Lanes):
        return broadcast(builder, context.cast(builder, value, kind, element))
    source, target = kind.element, element
    if source == target:
        return value
    kinds = vector_of(target, context)
    if isinstance(source, types.Boolean) and isinstance(target, types.Integer):
        return builder.zext(value, kinds)
    if isinstance(source, types.Boolean) and isinstance(target, types.Float):
        return builder.uitofp(value, kinds)
    if isinstance(target, types.Boolean):
        zero = ir.Constant(value.type, None)
        if isinstance(source, types.Float):
            return builder.fcmp_unordered("!=", value, zero)
        return builder.icmp_signed("!=", value, zero)
    if isinstance(source, types.Integer) and isinstance(target, types.Integer):
        if source.bitwidth == target.bitwidth:
            return value
        if source.bitwidth > target.bitwidth:
            return builder.trunc(value, kinds)
        return (builder.sext if source.signed else builder.zext)(value, kinds)
    if isinstance(source, types.Integer) and isinstance(target, types.Float):
        return (builder.sitofp if source.signed else builder.uitofp)(value, kinds)
    if isinstance(source, types.Float) and isinstance(target, types.Float):
        return (builder.fpext if source.bitwidth < target.bitwidth else builder.fptrunc)(value, kinds)
    if isinstance(source, types.Float) and isinstance(target, types.Integer) and target.signed:
        return builder.fptosi(value, kinds)
    return lane_by_lane(builder, lambda each: context.cast(builder, each, source, target), [value])


@lower_cast(Lanes, Lanes)
@lower_cast(types.Number, Lanes)
@lower_cast(types.Boolean, Lanes)
def _cast_to_lanes(context: Any, builder: Any, kind: Any, wanted: Lanes, value: Any) -> Any:
    return as_lanes(context, builder, value, kind, wanted.element)


# --- operators and functions, element by element ----------------------------------------------------------------------


def _of_builder(name: str) -> Callable[..., Any]:
    """An instruction by its name."""
    return lambda builder, *values: getattr(builder, name)(*values)


_FLOATS: dict[Any, Any] = {
    operator.add: _of_builder("fadd"),
    operator.sub: _of_builder("fsub"),
    operator.mul: _of_builder("fmul"),
    operator.truediv: _of_builder("fdiv"),
    operator.neg: _of_builder("fneg"),
    operator.pos: lambda builder, x: x,
}
_INTEGERS: dict[Any, Any] = {
    operator.add: _of_builder("add"),
    operator.sub: _of_builder("sub"),
    operator.mul: _of_builder("mul"),
    operator.and_: _of_builder("and_"),
    operator.or_: _of_builder("or_"),
    operator.xor: _of_builder("xor"),
    operator.neg: _of_builder("neg"),
    operator.pos: lambda builder, x: x,
    operator.invert: _of_builder("not_"),
}
_FLAGS: dict[Any, Any] = {name: _INTEGERS[name] for name in (operator.and_, operator.or_, operator.xor)}
_COMPARED = {
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}


def _machine(name: str) -> Callable[..., Any]:
    """An operation that the processor has for whole vectors of floats."""

    def emit(builder: Any, x: Any) -> Any:
        bits = 64 if isinstance(x.type.element, ir.DoubleType) else 32
        kind = ir.FunctionType(x.type, [x.type])
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{WIDTH}f{bits}")
        return builder.call(function, [x])

    return emit


_MACHINE = {math.sqrt: _machine("sqrt"), math.fabs: _machine("fabs")}


def _compare(builder: Any, function: Any, element: Any, x: Any, y: Any) -> Any:
    sign = _COMPARED[function]
    if isinstance(element, types.Float):
        return (builder.fcmp_unordered if sign == "!=" else builder.fcmp_ordered)(sign, x, y)
    return (builder.icmp_signed if getattr(element, "signed", False) else builder.icmp_unsigned)(sign, x, y)


def _shift(builder: Any, function: Any, element: Any, x: Any, y: Any) -> Any:
    if function is operator.lshift:
        return builder.shl(x, y)
    return (builder.ashr if element.signed else builder.lshr)(x, y)


def _vectorised(context: Any, builder: Any, function: Any, elements: Any, values: Any) -> Any:
    """The operation on whole vectors; None where there is none, or where it would not be what numba does."""
    element = elements[0]
    if len(set(elements)) > 1:
        return None
    is_float = isinstance(element, types.Float)
    if function in _COMPARED:
        return _compare(builder, function, element, *values)
    if function in (operator.lshift, operator.rshift):
        return _shift(builder, function, element, *values)
    if function in (min, max):
        x, y = values
        better = _compare(builder, operator.lt if function is min else operator.gt, element, y, x)
        return builder.select(better, y, x)
    if function is abs:
        if is_float:
            return _MACHINE[math.fabs](builder, values[0])
        zero = ir.Constant(values[0].type, None)
        negative = builder.icmp_signed("<", values[0], zero)
        return builder.select(negative, builder.neg(values[0]), values[0])
    if function is bits_of:
        return builder.bitcast(
            as_lanes(context, builder, values[0], Lanes(element), types.float64), vector_of(types.int64, context)
        )
    if function is float_of:
        return builder.bitcast(
            as_lanes(context, builder, values[0], Lanes(element), types.int64), vector_of(types.float64, context)
        )
    if is_float and function in _MACHINE:
        return _MACHINE[function](builder, *values)
    table = _FLOATS if is_float else _FLAGS if isinstance(element, types.Boolean) else _INTEGERS
    return table[function](builder, *values) if function in table else None


def _elementwise(function: Any, count: int) -> None:
    """Let a function of numbers take vectors, and be applied to each lane."""

    class Template(AbstractTemplate):
        key = function
        metadata = FIRST

        def generic(self, args: Any, kws: Any) -> Any:
            if kws or len(args) != count or not any(isinstance(kind, Lanes) for kind in args):
                return None
            elements = tuple(element_of(kind) for kind in args)
            found = self.context.resolve_function_type(function, elements, {})
            if found is None or not isinstance(found.return_type, (types.Number, types.Boolean)):
                return None
            given = [found.return_type] * count if function in (min, max) else found.args
            return signature(Lanes(found.return_type), *(Lanes(kind) for kind in given))

    infer_global(function)(Template)

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        elements = [kind.element for kind in sig.args]
        found = _vectorised(context, builder, function, elements, args)
        if found is not None:
            return found
        scalar = signature(sig.return_type.element, *elements)
        call = context.get_function(context.typing_context.resolve_value_type(function), scalar)
        return lane_by_lane(builder, lambda *each: call(builder, each), args)

    lower_builtin(function, *[Lanes] * count)(lower)


_BINARY = (
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow),
    *(operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift, *_COMPARED),
    *(min, max, math.atan2, math.hypot, math.copysign, math.pow, math.fmod, math.remainder),
)
_UNARY = (
    *(operator.neg, operator.pos, operator.invert, abs, round),
    *(math.sqrt, math.fabs, math.floor, math.ceil, math.trunc, math.isfinite, math.isnan, math.isinf),
    *(math.sin, math.cos, math.tan, math.asin, math.acos, math.atan, math.sinh, math.cosh, math.tanh),
    *(bits_of, float_of, math.exp, math.expm1, math.log, math.log1p, math.log10, math.log2, math.radians, math.degrees),
)
for _function in _BINARY:
    _elementwise(_function, 2)
for _function in _UNARY:
    _elementwise(_function, 1)


@functools.cache
def power(exponent: int) -> Any:
    """x ** exponent for a constant, multiplied in the order in which numba does it."""

    @intrinsic
    def raised(typing_context: Any, x: Any) -> Any:
        element = element_of(x)
        found = typing_context.resolve_function_type(operator.pow, (element, types.int64), {}).return_type

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            value = as_lanes(context, builder, args[0], sig.args[0], found)
            multiply = builder.fmul if isinstance(found, types.Float) else builder.mul
            one = broadcast(builder, ir.Constant(value.type.element, 1))
            result, left = one, abs(exponent)
            while left:
                if left & 1:
                    result = value if result is one else multiply(result, value)
                left >>= 1
                value = multiply(value, value) if left else value
            return builder.fdiv(one, result) if exponent < 0 else result

        return Lanes(found)(x), generate

    return raised


def _converted(kind: Any) -> Any:
    """`float`, `int` or `bool` of a vector, as of numbers."""

    @intrinsic
    def convert(typing_context: Any, x: Any) -> Any:
        element = kind(element_of(x))

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            if isinstance(sig.args[0], Lanes):
                return as_lanes(context, builder, args[0], sig.args[0], element)
            return context.cast(builder, args[0], sig.args[0], element)

        return (Lanes(element) if isinstance(x, Lanes) else element)(x), generate

    return convert


as_float = _converted(lambda element: element if isinstance(element, types.Float) else types.float64)
as_integer = _converted(lambda element: element if isinstance(element, types.Integer) else types.int64)
as_flag = _converted(lambda element: types.boolean)
