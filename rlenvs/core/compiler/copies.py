"""How numba compiles `copied`: the bytes of a record on the stack of the kernel that asks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlenvs.core.compiler.jit import cgutils, ir, lower_builtin, type_callable
from rlenvs.core.compiler.records import RecordType
from rlenvs.core.declare.kernels import copied

ALIGNED = 64  # bytes


@type_callable(copied)
def type_copied(context: Any) -> Callable[[Any], Any]:
    """Records to records of the same layout."""
    return lambda record: record if isinstance(record, RecordType) else None


@lower_builtin(copied, RecordType)
def lower_copied(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """A row of as many bytes as the record has, which the last number of its layout's meta row tells."""
    record_type = signature.args[0]
    record = cgutils.create_struct_proxy(record_type)(context, builder, value=args[0])
    place = builder.gep(record.meta, [ir.IntType(64)(record_type.layout.size_slot.row)])
    size = builder.load(place)
    row = builder.alloca(ir.IntType(8), size)
    row.align = ALIGNED
    cgutils.raw_memcpy(builder, row, record.data, size, 1)
    record.data = row
    return record._getvalue()
