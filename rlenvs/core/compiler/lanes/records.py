"""Records in a block: `s.height` is a vector, `s.position` an array of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlenvs.core.compiler.jit import (
    AttributeTemplate,
    cgutils,
    from_dtype,
    infer_getattr,
    intrinsic,
    ir,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    register_model,
    types,
)
from rlenvs.core.compiler.lanes.blocks import BLOCK, WIDTH
from rlenvs.core.compiler.lanes.vectors import Lanes, as_lanes, broadcast
from rlenvs.core.compiler.lanes.views import Scattered, View, load, store
from rlenvs.core.compiler.records import RecordType, _number, get_field
from rlenvs.core.declare.layout import Layout, Place

WORLDS_AT = BLOCK.places["worlds"].offset  # where a block holds the numbers of its worlds


class LaneRecord(types.Type):
    """WIDTH records in a block."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        in_rows = "_".join(sorted(layout.last))  # read in another way, see `_in_rows`
        super().__init__(name=f"lane_{RecordType(layout).name}_{WIDTH}_{in_rows}")


@register_model(LaneRecord)
class LaneRecordModel(models.StructModel):
    """As `records.RecordModel`, and the addresses of the worlds' own rows."""

    def __init__(self, dmm: Any, fe_type: LaneRecord) -> None:
        members = [("data", types.voidptr), ("meta", types.CPointer(types.int64)), ("common", types.voidptr)]
        super().__init__(dmm, fe_type, [*members, ("rows", Lanes(types.int64))])


@infer_getattr
class LaneRecordAttributes(AttributeTemplate):
    """Types of the attributes: a vector or a view; what rows share is a number or an array."""

    key = LaneRecord

    def generic_resolve(self, record: Any, attr: str) -> Any:  # type: ignore[override]
        place = record.layout.places.get(attr)
        if place is None:
            return None
        element = from_dtype(np.dtype(place.code))
        if place.shared:
            return types.Array(element, len(place.shape), "C") if place.shape else element
        if attr in record.layout.last and place.shape:
            return Scattered(element, len(place.shape), False)
        return View(element, len(place.shape)) if place.shape else Lanes(element)


def _place_pointer(context: Any, builder: Any, record: Any, place: Place) -> Any:
    offset = _number(context, builder, record, place.offset)
    return builder.gep(record.data, [builder.mul(offset, ir.IntType(64)(WIDTH))])


@lower_getattr_generic(LaneRecord)
def _get_field(context: Any, builder: Any, kind: LaneRecord, value: Any, attr: str) -> Any:
    place = kind.layout.places[attr]
    if place.shared:
        plain, whole = RecordType(kind.layout), cgutils.create_struct_proxy(kind)(context, builder, value=value)
        common = cgutils.create_struct_proxy(plain)(context, builder)
        common.data, common.meta, common.common = whole.data, whole.meta, whole.common
        return get_field(context, builder, plain, common._getvalue(), attr)
    record = cgutils.create_struct_proxy(kind)(context, builder, value=value)
    element = from_dtype(np.dtype(place.code))
    if attr in kind.layout.last and place.shape:
        return _in_rows(context, builder, record, place, Scattered(element, len(place.shape), False))
    pointer = _place_pointer(context, builder, record, place)
    if not place.shape:
        return load(context, builder, pointer, element)
    view = cgutils.create_struct_proxy(View(element, len(place.shape)))(context, builder)
    view.data = pointer
    view.shape = cgutils.pack_array(builder, [_number(context, builder, record, d) for d in place.shape])
    return view._getvalue()


def _in_rows(context: Any, builder: Any, record: Any, place: Place, kind: Scattered) -> Any:
    """An array that is not copied into blocks, since it may be long and hardly changes."""
    offset = _number(context, builder, record, place.offset)
    view = cgutils.create_struct_proxy(kind)(context, builder)
    view.data = builder.add(record.rows, broadcast(builder, offset))
    view.shape = cgutils.pack_array(builder, [_number(context, builder, record, d) for d in place.shape])
    return view._getvalue()


@lower_setattr_generic(LaneRecord)
def _set_field(context: Any, builder: Any, sig: Any, args: Any, attr: str) -> None:
    kind, value_type = sig.args
    place = kind.layout.places[attr]
    record = cgutils.create_struct_proxy(kind)(context, builder, value=args[0])
    element = from_dtype(np.dtype(place.code))
    value = as_lanes(context, builder, args[1], value_type, element)
    store(context, builder, value, _place_pointer(context, builder, record, place), element)


def lane_row_accessor(name: str, layout: Layout) -> Any:
    """As `records.row_accessor`, of an array in a block: (b, i) to row i."""
    kind = LaneRecord(layout)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        def field(attribute: str) -> Any:
            return get_field(context, builder, sig.args[0], args[0], attribute)

        first = field(name)
        common = field("params_common") if layout.shared else first
        row = builder.mul(builder.mul(args[1], field(f"{name}_size")), ir.IntType(64)(WIDTH))
        record = cgutils.create_struct_proxy(kind)(context, builder)
        record.data = builder.inttoptr(builder.add(first, row), ir.IntType(8).as_pointer())
        record.meta = builder.inttoptr(field(f"{name}_meta"), ir.IntType(64).as_pointer())
        record.common = builder.inttoptr(common, ir.IntType(8).as_pointer())
        if layout.last:
            worlds = builder.inttoptr(
                builder.add(field("block"), ir.IntType(64)(WORLDS_AT)), ir.IntType(8).as_pointer()
            )
            step, base = (broadcast(builder, field(each)) for each in (f"{name}_size", "state_rows"))
            numbers = load(context, builder, worlds, types.int64)
            record.rows = builder.add(builder.mul(numbers, step), base)
        return record._getvalue()

    @intrinsic
    def row_of(typing_context: Any, b: Any, i: Any) -> Any:
        return kind(b, types.int64), generate

    return row_of
