"""The bytes of our protocol: a header before each message, and arrays at declared places behind it.

All numbers are little-endian. A header has 16 bytes: the four bytes "RLB2"; the length of what follows it, in bytes;
the number of the exchange; the kind of the message, one of `Kind`. The last three are unsigned, of 32 bits.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import prod
from typing import Any

import numpy as np

from rlenvs.bridge.wire import Wire, text_bytes
from rlenvs.core.declare.errors import BridgeError, shortened

VERSION = 2
MAGIC = b"RLB2"
HEADER = struct.Struct("<4sIII")
ALIGNED = 8  # bytes: arrays begin at multiples
LARGEST = 1 << 28  # bytes of a message
TYPES = ("|u1", "|i1", "<i2", "<i4", "<i8", "<u2", "<u4", "<f4", "<f8")
MOST_AXES = 8
SPAN = 1 << 32  # numbers of exchanges


class Kind(IntEnum):
    """Kinds of messages."""

    HELLO = 1
    WELCOME = 2
    REQUEST = 3
    ANSWER = 4
    ERROR = 5
    CLOSE = 6


class Do(IntEnum):
    """What a world does in an exchange."""

    WAIT = 0
    STEP = 1
    BEGIN = 2


@dataclass(frozen=True)
class Field:
    """An array in a message: its name, type as NumPy writes it, shape, and place, in bytes from the header's start."""

    name: str
    type: str
    shape: tuple[int, ...]
    offset: int

    @property
    def end(self) -> int:
        """The place behind it."""
        return self.offset + np.dtype(self.type).itemsize * prod(self.shape)


def places(arrays: Mapping[str, tuple[Any, Sequence[int]]]) -> list[Field]:
    """Fields for arrays of a type and a shape each, one after the other."""
    fields, offset = [], HEADER.size
    for name, (type, shape) in arrays.items():
        little = np.dtype(type).newbyteorder("<")
        written = "|u1" if little.kind == "b" else little.str
        fields.append(Field(name, written, tuple(int(n) for n in shape), offset))
        offset = -(-fields[-1].end // ALIGNED) * ALIGNED
    return fields


def fields_of(told: Any) -> list[Field]:
    """Fields as the other side has told them, {"name", "type", "shape", "offset"} each.

    Raises:
        BridgeError: they are none, or lie outside of a message.
    """
    try:
        fields = [Field(str(f["name"]), f["type"], tuple(f["shape"]), f["offset"]) for f in told]
    except (TypeError, KeyError):
        raise BridgeError(
            f"needed: a list of fields with name, type, shape and offset, not {shortened(told)}"
        ) from None
    for field in fields:
        sizes = (*field.shape, field.offset)
        if field.type not in TYPES or len(field.shape) > MOST_AXES:
            raise BridgeError(f"field {field.name!r}: type {field.type!r} is not one of {', '.join(TYPES)}")
        if not all(type(n) is int and 0 <= n <= LARGEST for n in sizes) or not HEADER.size <= field.end <= LARGEST:
            raise BridgeError(f"field {field.name!r}: shape {field.shape} at {field.offset} is outside of a message")
        if field.offset < HEADER.size or field.offset % ALIGNED:
            raise BridgeError(f"field {field.name!r}: offset {field.offset} must be a multiple of {ALIGNED} from 16 on")
    if len({field.name for field in fields}) < len(fields):
        raise BridgeError("two fields have one name")
    return fields


class Message:
    """The memory of a message with arrays.

    Args:
        kind: of the message.
        fields: its arrays.

    Attributes:
        data: its bytes, header and all.
        arrays: by name; they lie in `data`.
    """

    def __init__(self, kind: Kind, fields: Sequence[Field]) -> None:
        self.kind, self.fields = kind, list(fields)
        self.data = bytearray(max((field.end for field in fields), default=HEADER.size))
        self.body = memoryview(self.data)[HEADER.size :]
        self.arrays = {
            field.name: np.frombuffer(self.data, field.type, prod(field.shape), field.offset).reshape(field.shape)
            for field in fields
        }

    def stamp(self, number: int) -> bytearray:
        """Its bytes, as the message of an exchange."""
        HEADER.pack_into(self.data, 0, MAGIC, len(self.body), number, self.kind)
        return self.data

    def told(self) -> list[dict[str, Any]]:
        """Its fields for the other side."""
        return [{"name": f.name, "type": f.type, "shape": list(f.shape), "offset": f.offset} for f in self.fields]


def json_message(kind: Kind, number: int, value: Mapping[str, Any]) -> bytes:
    """A message of JSON."""
    body = text_bytes(value)
    return HEADER.pack(MAGIC, len(body), number, kind) + body


def read_header(wire: Wire, patient: bool = False) -> tuple[int, int, int]:
    """Length, number and kind of the next message, for which a patient reader waits as long as it takes.

    Raises:
        BridgeError: these are not the first bytes of a message.
        LostConnectionError: the connection ended.
    """
    magic, length, number, kind = HEADER.unpack(wire.read(HEADER.size, patient))
    if magic != MAGIC:
        raise BridgeError(
            f"a message begins with {MAGIC.decode()}, not {shortened(magic)}: another protocol or version"
        )
    return length, number, kind
