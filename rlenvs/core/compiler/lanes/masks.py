"""Masks: which lanes take part. What lanes that disagree about a branch do with both of its results."""

from __future__ import annotations

from typing import Any

from rlenvs.core.compiler.jit import Conversion, intrinsic, ir, lower_cast, models, register_model, types
from rlenvs.core.compiler.lanes.blocks import WIDTH
from rlenvs.core.compiler.lanes.vectors import FLAG, FLAGS, Lanes, as_lanes, element_of


class Nothing(types.Type):
    """What a variable is before it has a value: of whatever type it will have."""

    def __init__(self) -> None:
        super().__init__(name="nothing")

    def unify(self, context: Any, other: Any) -> Any:
        """The other."""
        return other

    def can_convert_to(self, context: Any, other: Any) -> Any:
        """Into anything."""
        return Conversion.safe


NOTHING = Nothing()
register_model(Nothing)(models.OpaqueModel)


@lower_cast(Nothing, types.Any)
def _cast_nothing(context: Any, builder: Any, kind: Any, wanted: Any, value: Any) -> Any:
    return context.get_constant_null(wanted)


@intrinsic
def nothing(typing_context: Any) -> Any:
    """No value yet."""
    return NOTHING(), lambda context, builder, sig, args: context.get_dummy_value()


@intrinsic
def mask_of(typing_context: Any, condition: Any) -> Any:
    """The lanes in which a condition holds."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return as_lanes(context, builder, args[0], sig.args[0], types.boolean)

    return FLAGS(condition), generate


@intrinsic
def no_lanes(typing_context: Any) -> Any:
    """The mask without any lane."""
    return FLAGS(), lambda context, builder, sig, args: ir.Constant(ir.VectorType(FLAG, WIDTH), None)


@intrinsic
def outside(typing_context: Any, mask: Any) -> Any:
    """The other lanes."""
    return FLAGS(FLAGS), lambda context, builder, sig, args: builder.not_(args[0])


@intrinsic
def some(typing_context: Any, mask: Any) -> Any:
    """Whether there is a lane in a mask."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        bits = builder.bitcast(args[0], ir.IntType(WIDTH))
        return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

    return types.boolean(FLAGS), generate


def _selected(context: Any, builder: Any, mask: Any, chosen: Any, other: Any, kinds: Any, result: Any) -> Any:
    if NOTHING in kinds:
        value, kind = (other, kinds[1]) if kinds[0] is NOTHING else (chosen, kinds[0])
        return context.cast(builder, value, kind, result)
    if isinstance(result, types.BaseTuple):
        parts = [
            _selected(
                context,
                builder,
                mask,
                builder.extract_value(chosen, n),
                builder.extract_value(other, n),
                (kinds[0][n], kinds[1][n]),
                part,
            )
            for n, part in enumerate(result)
        ]
        return context.make_tuple(builder, result, parts)
    if isinstance(result, types.NoneType):
        return context.get_dummy_value()
    values = [as_lanes(context, builder, v, k, result.element) for v, k in zip((chosen, other), kinds, strict=True)]
    return builder.select(mask, *values)


def _selectable(context: Any, chosen: Any, other: Any) -> Any:
    if chosen is NOTHING or other is NOTHING:
        return _in_lanes(types.unliteral(other if chosen is NOTHING else chosen))
    if isinstance(chosen, types.BaseTuple) and isinstance(other, types.BaseTuple) and len(chosen) == len(other):
        parts = [_selectable(context, a, b) for a, b in zip(chosen, other, strict=True)]
        return types.BaseTuple.from_types(parts)
    if isinstance(chosen, types.NoneType) and isinstance(other, types.NoneType):
        return chosen
    element = context.unify_types(element_of(chosen), element_of(other))
    if not isinstance(element, (types.Number, types.Boolean)):
        raise TypeError(f"lanes cannot choose between {chosen} and {other}")
    return Lanes(element)


def _in_lanes(kind: Any) -> Any:
    if isinstance(kind, types.BaseTuple):
        return types.BaseTuple.from_types([_in_lanes(part) for part in kind])
    return Lanes(kind) if isinstance(kind, (types.Number, types.Boolean)) else kind


@intrinsic
def select(typing_context: Any, mask: Any, chosen: Any, other: Any) -> Any:
    """The first where the mask is set, the second elsewhere; numbers, vectors, or tuples of these."""
    result = _selectable(typing_context, chosen, other)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        mask, chosen, other = args
        return _selected(context, builder, mask, chosen, other, sig.args[1:], result)

    return result(FLAGS, types.unliteral(chosen), types.unliteral(other)), generate
