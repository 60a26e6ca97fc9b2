"""Rows of memory into a block and back: the world's numbers lie one after the other, those of a block lane beside lane.

What is copied is a table (`rlenvs.core.compiler.lanes.blocks`), so one loop serves all worlds. Eight numbers of eight
rows are turned over in registers.
"""

from __future__ import annotations

from typing import Any

from rlenvs.core.compiler.bits import BYTE, load_early
from rlenvs.core.compiler.jit import cgutils, intrinsic, ir, types
from rlenvs.core.compiler.lanes.blocks import DENSE, FOUR, PAIR, SQUARED, WIDTH
from rlenvs.core.compiler.lanes.vectors import FLAGS, WORD, Lanes, broadcast, lane_of
from rlenvs.core.compiler.lanes.views import lengths_of


@intrinsic
def lanes_of(typing_context: Any, numbers: Any) -> Any:
    """The first WIDTH numbers of an array, as a vector."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data, _ = lengths_of(context, builder, sig.args[0], args[0])
        kind = ir.VectorType(context.get_value_type(sig.args[0].dtype), WIDTH)
        return builder.load(builder.bitcast(data, kind.as_pointer()), align=1)

    return Lanes(numbers.dtype)(numbers), generate


@intrinsic
def lanes_from(typing_context: Any, first: Any) -> Any:
    """A number and those that follow it, as a vector."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        numbers = ir.Constant(ir.VectorType(ir.IntType(64), WIDTH), list(range(WIDTH)))
        return builder.add(broadcast(builder, args[0]), numbers)

    return Lanes(types.int64)(types.int64), generate


@intrinsic
def set_lanes(typing_context: Any, numbers: Any, flags: Any) -> Any:
    """Write 1 where a flag is set, 0 elsewhere, to the first WIDTH numbers of an array."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data, _ = lengths_of(context, builder, sig.args[0], args[0])
        kind = ir.VectorType(context.get_value_type(sig.args[0].dtype), WIDTH)
        builder.store(builder.zext(args[1], kind), builder.bitcast(data, kind.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.none(numbers, FLAGS), generate


def _reader(element: Any) -> Any:
    @intrinsic
    def lanes_at(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            kind = ir.VectorType(context.get_value_type(element), WIDTH)
            return builder.load(_pointer(builder, args[0], kind), align=1)

        return Lanes(element)(types.int64), generate

    return lanes_at


lanes_at_8, lanes_at_4 = _reader(types.float64), _reader(types.float32)


@intrinsic
def prefetch(typing_context: Any, address: Any) -> Any:
    """Let the processor load what lies at an address, which need not be there."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        load_early(builder, _pointer(builder, args[0], BYTE))
        return context.get_dummy_value()

    return types.none(types.int64), generate


def _turned(builder: Any, rows: list[Any]) -> list[Any]:
    """The columns of a square of numbers: halves of pairs of rows change places, then quarters, and so on."""
    half = WIDTH // 2
    while half:
        turned = list(rows)
        for n in range(WIDTH):
            if n & half:
                continue
            low = [j if not j & half else WIDTH + j - half for j in range(WIDTH)]
            high = [j + half if not j & half else WIDTH + j for j in range(WIDTH)]
            for place, order in ((n, low), (n + half, high)):
                order_constant = ir.Constant(ir.VectorType(WORD, WIDTH), order)
                turned[place] = builder.shuffle_vector(rows[n], rows[n + half], order_constant)
        rows = turned
        half //= 2
    return rows


def _pointer(builder: Any, address: Any, kind: Any) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


def _zipped(builder: Any, columns: list[Any]) -> Any:
    """The numbers of some columns, 1, 2 or 4 of them, as one vector: those of the first row, then of the second ..."""
    if len(columns) == 1:
        return columns[0]
    even, odd = _zipped(builder, columns[::2]), _zipped(builder, columns[1::2])
    size = even.type.count
    order = [size * (j % 2) + j // 2 for j in range(2 * size)]
    return builder.shuffle_vector(even, odd, ir.Constant(ir.VectorType(WORD, len(order)), order))


def _unzipped(builder: Any, rows: Any, count: int) -> list[Any]:
    """The columns, 1, 2 or 4 of them, of numbers that lie row by row in one vector."""
    if count == 1:
        return [rows]
    half = rows.type.count // 2
    parts = []
    for first in range(2):
        order = ir.Constant(ir.VectorType(WORD, half), [2 * j + first for j in range(half)])
        parts.append(_unzipped(builder, builder.shuffle_vector(rows, rows, order), count // 2))
    return [part[n] for n in range(count // 2) for part in parts]


def _joined(builder: Any, rows: list[Any]) -> Any:
    """Vectors one behind the other."""
    if len(rows) == 1:
        return rows[0]
    first, second = _joined(builder, rows[: len(rows) // 2]), _joined(builder, rows[len(rows) // 2 :])
    order = ir.Constant(ir.VectorType(WORD, 2 * first.type.count), list(range(2 * first.type.count)))
    return builder.shuffle_vector(first, second, order)


def _masked(builder: Any, name: str, vector: Any, *arguments: Any) -> Any:
    """LLVM's load or store of some elements of a vector; nothing else is touched."""
    flags, pointer = ir.VectorType(ir.IntType(1), WIDTH), vector.as_pointer()
    result = vector if name == "load" else ir.VoidType()
    given = [pointer, WORD, flags, vector] if name == "load" else [vector, pointer, WORD, flags]
    kind = ir.FunctionType(result, given)
    suffix = f"v{WIDTH}i{vector.element.width}.p0"
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.masked.{name}.{suffix}")
    return builder.call(function, arguments)


def _copier_of(count: int, item: int, inwards: bool) -> Any:
    """Copy 2 or 4 numbers of `item` bytes of each row: (addresses in the rows, address in the block). A number goes
    beside its like, so that a row is read or written in one piece."""
    number = ir.IntType(8 * item)
    row, column = ir.VectorType(number, count), ir.VectorType(number, WIDTH)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        rows = [_pointer(builder, lane_of(builder, args[0], lane), row) for lane in range(WIDTH)]
        steps = [builder.add(args[1], ir.IntType(64)(item * WIDTH * n)) for n in range(count)]
        columns = [_pointer(builder, step, column) for step in steps]
        if inwards:
            found = _joined(builder, [builder.load(pointer, align=1) for pointer in rows])
            for value, pointer in zip(_unzipped(builder, found, count), columns, strict=True):
                builder.store(value, pointer, align=1)
            return context.get_dummy_value()
        found = _zipped(builder, [builder.load(pointer, align=1) for pointer in columns])
        for lane, pointer in enumerate(rows):
            order = [lane * count + n for n in range(count)]
            part = builder.shuffle_vector(found, found, ir.Constant(ir.VectorType(WORD, count), order))
            builder.store(part, pointer, align=1)
        return context.get_dummy_value()

    @intrinsic
    def copy(typing_context: Any, rows: Any, block: Any) -> Any:
        return types.none(Lanes(types.int64), types.int64), generate

    return copy


def _single_copier(item: int, inwards: bool) -> Any:
    """Copy one number of `item` bytes of each row."""
    number = ir.IntType(8 * item)
    vector = ir.VectorType(number, WIDTH)

    def single(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        rows = [_pointer(builder, lane_of(builder, args[0], lane), number) for lane in range(WIDTH)]
        column = _pointer(builder, args[1], vector)
        if inwards:
            found = ir.Constant(vector, ir.Undefined)
            for lane, pointer in enumerate(rows):
                found = builder.insert_element(found, builder.load(pointer, align=1), WORD(lane))
            builder.store(found, column, align=1)
        else:
            found = builder.load(column, align=1)
            for lane, pointer in enumerate(rows):
                builder.store(lane_of(builder, found, lane), pointer, align=1)
        return context.get_dummy_value()

    @intrinsic
    def copy_single(typing_context: Any, rows: Any, block: Any) -> Any:
        return types.none(Lanes(types.int64), types.int64), single

    return copy_single


def _copiers(item: int, inwards: bool) -> tuple[Any, Any, Any]:
    """Copy WIDTH numbers of `item` bytes, fewer, or one, of each row: (addresses in the rows, address in the block)."""
    vector = ir.VectorType(ir.IntType(8 * item), WIDTH)

    def square(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        rows = [_pointer(builder, lane_of(builder, args[0], lane), vector) for lane in range(WIDTH)]
        steps = [builder.add(args[1], ir.IntType(64)(item * WIDTH * n)) for n in range(WIDTH)]
        columns = [_pointer(builder, step, vector) for step in steps]
        source, target = (rows, columns) if inwards else (columns, rows)
        turned = _turned(builder, [builder.load(pointer, align=1) for pointer in source])
        for value, pointer in zip(turned, target, strict=True):
            builder.store(value, pointer, align=1)
        return context.get_dummy_value()

    def few(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        rows = [_pointer(builder, lane_of(builder, args[0], lane), vector) for lane in range(WIDTH)]
        steps = [builder.add(args[1], ir.IntType(64)(item * WIDTH * n)) for n in range(WIDTH)]
        columns = [_pointer(builder, step, vector) for step in steps]
        numbers = ir.Constant(ir.VectorType(ir.IntType(64), WIDTH), list(range(WIDTH)))
        wanted = builder.icmp_signed("<", numbers, broadcast(builder, args[2]))
        if inwards:
            blank = ir.Constant(vector, None)
            source = [_masked(builder, "load", vector, row, WORD(1), wanted, blank) for row in rows]
        else:
            source = [builder.load(pointer, align=1) for pointer in columns]
        for n, value in enumerate(_turned(builder, source)):
            if inwards:
                with builder.if_then(builder.icmp_signed("<", ir.IntType(64)(n), args[2])):
                    builder.store(value, columns[n], align=1)
            else:
                _masked(builder, "store", vector, value, rows[n], WORD(1), wanted)
        return context.get_dummy_value()

    @intrinsic
    def copy_square(typing_context: Any, rows: Any, block: Any) -> Any:
        return types.none(Lanes(types.int64), types.int64), square

    @intrinsic
    def copy_few(typing_context: Any, rows: Any, block: Any, count: Any) -> Any:
        return types.none(Lanes(types.int64), types.int64, types.int64), few

    return copy_square, copy_few, _single_copier(item, inwards)


def copier(item: int, inwards: bool) -> Any:
    """A kernel that copies `count` numbers of `item` bytes of every row: (addresses of the first of them in the rows,
    address of the first in the block, count)."""
    square, some, single = _copiers(item, inwards)
    pair, four = (_copier_of(count, item, inwards) for count in (2, 4))
    side, across, at_once = item * WIDTH, item * WIDTH * WIDTH, item >= SQUARED

    def copy_run(rows: Any, block: Any, count: Any) -> None:
        left = count
        while left >= WIDTH:
            square(rows, block)
            left -= WIDTH
            rows = rows + side
            block += across
        if left > 0 and count >= WIDTH:  # the last ones, some of them for a second time
            back = WIDTH - left
            square(rows - back * item, block - back * side)
            return
        if left > FOUR and at_once:
            some(rows, block, left)
            return
        if left >= FOUR:
            four(rows, block)
            rows = rows + FOUR * item
            block += FOUR * side
            left -= FOUR
        if left >= PAIR:
            pair(rows, block)
            rows = rows + PAIR * item
            block += PAIR * side
            left -= PAIR
        if left > 0:
            single(rows, block)

    return copy_run


def _dense_copier(count: int, item: int, inwards: bool) -> Any:
    """Copy 1, 2 or 4 numbers of `item` bytes of each row, where rows lie one behind the other: (address of the first
    row, address in the block)."""
    number = ir.IntType(8 * item)
    together, column = ir.VectorType(number, count * WIDTH), ir.VectorType(number, WIDTH)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        rows = _pointer(builder, args[0], together)
        steps = [builder.add(args[1], ir.IntType(64)(item * WIDTH * n)) for n in range(count)]
        columns = [_pointer(builder, step, column) for step in steps]
        if inwards:
            for value, pointer in zip(_unzipped(builder, builder.load(rows, align=1), count), columns, strict=True):
                builder.store(value, pointer, align=1)
        else:
            found = _zipped(builder, [builder.load(pointer, align=1) for pointer in columns])
            builder.store(found, rows, align=1)
        return context.get_dummy_value()

    @intrinsic
    def copy(typing_context: Any, rows: Any, block: Any) -> Any:
        return types.none(types.int64, types.int64), generate

    return copy


def dense_copier(item: int, inwards: bool) -> Any:
    """A kernel that copies 1, 2 or 4 numbers of `item` bytes of every row, where rows lie one behind the other:
    (address of the first row, address in the block, count)."""
    single, pair, four = (_dense_copier(count, item, inwards) for count in DENSE)

    def copy_dense(rows: Any, block: Any, count: Any) -> None:
        if count == 1:
            single(rows, block)
        elif count == PAIR:
            pair(rows, block)
        else:
            four(rows, block)

    return copy_dense
