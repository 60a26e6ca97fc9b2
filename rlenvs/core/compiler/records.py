"""Records for numba: `s.position[0] = 1.0` on a raw row of memory, as fast as a C struct.

`accessor(layout)` gives a function from an address to a record that compiled code can call. Attributes of the
record are loads and stores at the layout's offsets; array fields are views without reference counts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
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
    populate_array,
    register_model,
    types,
)
from rlenvs.core.declare.layout import Layout, Place, Slot


class RecordType(types.Type):
    """The numba type of a record with a given layout."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        # part of the names of all functions that take such records, so short
        super().__init__(name=f"record_{hashlib.sha256(repr(layout.places).encode()).hexdigest()[:12]}")


@register_model(RecordType)
class RecordModel(models.StructModel):
    """Three pointers: the row of bytes, the row of run-time numbers, and the row that holds what rows share."""

    def __init__(self, dmm: Any, fe_type: RecordType) -> None:
        super().__init__(
            dmm, fe_type, [("data", types.voidptr), ("meta", types.CPointer(types.int64)), ("common", types.voidptr)]
        )


def _field_type(place: Place) -> types.Type:
    element = from_dtype(np.dtype(place.code))
    return types.Array(element, len(place.shape), "C") if place.shape else element


@infer_getattr
class RecordAttributes(AttributeTemplate):
    """Types of the attributes: a number or an array."""

    key = RecordType

    def generic_resolve(self, record: Any, attr: str) -> Any:  # type: ignore[override]
        place = record.layout.places.get(attr)
        return None if place is None else _field_type(place)


def _number(context: Any, builder: Any, record: Any, number: int | Slot) -> Any:
    if isinstance(number, Slot):
        pointer = builder.gep(record.meta, [context.get_constant(types.intp, number.row)])
        return builder.load(pointer)
    return context.get_constant(types.intp, number)


def _pointer(context: Any, builder: Any, record: Any, place: Place, element: types.Type) -> Any:
    offset = _number(context, builder, record, place.offset)
    pointer = builder.gep(record.common if place.shared else record.data, [offset])
    return builder.bitcast(pointer, context.get_data_type(element).as_pointer())


@lower_getattr_generic(RecordType)
def get_field(context: Any, builder: Any, record_type: RecordType, value: Any, attr: str) -> Any:
    """Load a number, or make a view of an array."""
    record = cgutils.create_struct_proxy(record_type)(context, builder, value=value)
    place = record_type.layout.places[attr]
    field_type = _field_type(place)
    if not place.shape:
        pointer = _pointer(context, builder, record, place, field_type)
        return context.unpack_value(builder, field_type, pointer)
    element = from_dtype(np.dtype(place.code))
    shape = [_number(context, builder, record, d) for d in place.shape]
    item = context.get_constant(types.intp, np.dtype(place.code).itemsize)
    strides = [item]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    array = context.make_array(field_type)(context, builder)
    data = _pointer(context, builder, record, place, element)
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=item, meminfo=None)
    return array._getvalue()


@lower_setattr_generic(RecordType)
def set_field(context: Any, builder: Any, sig: Any, args: Any, attr: str) -> None:
    """Store a number."""
    record_type, value_type = sig.args
    place = record_type.layout.places[attr]
    if place.shape:
        raise TypeError(f"{record_type.layout.name}.{attr} is an array: write {attr}[...] = value")
    record = cgutils.create_struct_proxy(record_type)(context, builder, value=args[0])
    field_type = _field_type(place)
    value = context.cast(builder, args[1], value_type, field_type)
    context.pack_value(builder, field_type, value, _pointer(context, builder, record, place, field_type))


def _record(context: Any, builder: Any, record_type: RecordType, data: Any, meta: Any, common: Any) -> Any:
    record = cgutils.create_struct_proxy(record_type)(context, builder)
    record.data = builder.inttoptr(data, ir.IntType(8).as_pointer())
    record.meta = builder.inttoptr(meta, ir.IntType(64).as_pointer())
    record.common = builder.inttoptr(common, ir.IntType(8).as_pointer())
    return record._getvalue()


def accessor(layout: Layout) -> Callable[..., Any]:
    """A function for compiled code: (address of the row, address of the layout's meta row) to the record."""
    record_type = RecordType(layout)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _record(context, builder, record_type, args[0], args[1], args[0])

    @intrinsic
    def record_at(typing_context: Any, address: Any, meta: Any) -> Any:
        return record_type(types.int64, types.int64), generate

    return record_at


def row_accessor(name: str, layout: Layout) -> Callable[..., Any]:
    """A function for compiled code: (b, i) to row i of the array that the record `b` of a batch names. An intrinsic,
    not a kernel: compiling some fifty kernels of one line would take seconds."""
    record_type = RecordType(layout)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def field(attribute: str) -> Any:
            return get_field(context, builder, signature.args[0], args[0], attribute)

        first = field(name)
        row = builder.add(first, builder.mul(args[1], field(f"{name}_size")))
        return _record(context, builder, record_type, row, field(f"{name}_meta"), first)

    @intrinsic
    def row_of(typing_context: Any, b: Any, i: Any) -> Any:
        return record_type(b, types.int64), generate

    return row_of
