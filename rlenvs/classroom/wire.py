"""What grader and submission say to each other: a length, then JSON, with arrays as base64. Nothing in it can run.

Imported by the worker by itself, without the rest of the package.
"""

from __future__ import annotations

import base64
import json
import math
import struct
from typing import Any, BinaryIO

import numpy as np

MOST_BYTES = 64 * 2**20  # of a message
MOST_ITEMS = 1_000_000  # outside of arrays
KINDS = "biuf"  # of numbers in arrays
DEEPEST = 20


class WireError(ValueError):
    """A message that is not one."""


def plain(value: Any, depth: int = 0) -> Any:
    """A value as JSON can hold it.

    Raises:
        WireError: it is none of None, bool, numbers, texts, lists, dictionaries and arrays of numbers.
    """
    if depth > DEEPEST:
        raise WireError(f"values may be nested {DEEPEST} deep")
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, np.ndarray):
        return _of_array(value)
    if isinstance(value, (list, tuple)):
        return [plain(each, depth + 1) for each in value]
    if isinstance(value, dict):
        return {"dict": [[plain(k, depth + 1), plain(v, depth + 1)] for k, v in value.items()]}
    raise WireError(f"a {type(value).__name__} cannot be sent; numbers, strings, lists, dictionaries and arrays can")


def _of_array(array: np.ndarray) -> Any:
    if array.dtype.kind not in KINDS:
        raise WireError(f"an array of {array.dtype} cannot be sent; arrays of numbers can")
    text = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {"array": text, "dtype": array.dtype.str, "shape": list(array.shape)}


def value_of(found: Any, depth: int = 0) -> Any:
    """The value that `plain` made JSON of.

    Raises:
        WireError: it did not.
    """
    if depth > DEEPEST:
        raise WireError(f"values may be nested {DEEPEST} deep")
    if isinstance(found, list):
        return [value_of(each, depth + 1) for each in found]
    if not isinstance(found, dict):
        return found
    try:
        if set(found) == {"dict"}:
            return {value_of(key, depth + 1): value_of(value, depth + 1) for key, value in found["dict"]}
        if set(found) == {"array", "dtype", "shape"}:
            return _array(found["array"], found["dtype"], found["shape"])
    except WireError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise WireError(f"a damaged answer: {type(error).__name__}") from None
    raise WireError("a damaged answer: an object that is neither dictionary nor array")


def _array(text: str, name: str, shape: list[int]) -> np.ndarray:
    dtype = np.dtype(name)
    sizes = [int(size) for size in shape]
    data = base64.b64decode(text, validate=True)
    if dtype.kind not in KINDS or min(sizes, default=0) < 0 or math.prod(sizes) * dtype.itemsize != len(data):
        raise WireError("a damaged array")
    return np.frombuffer(data, dtype).reshape(sizes).copy()


def frame(message: dict[str, Any]) -> bytes:
    """A message, whose values `plain` gave, as it is sent.

    Raises:
        WireError: it is too large.
    """
    data = json.dumps(message).encode()
    if len(data) > MOST_BYTES:
        raise WireError(f"an answer of {len(data)} bytes; {MOST_BYTES} are allowed")
    return struct.pack("<I", len(data)) + data


def send(pipe: BinaryIO, message: dict[str, Any]) -> None:
    """Write a message."""
    pipe.write(frame(message))
    pipe.flush()


def receive(pipe: BinaryIO, most_items: int | None = None) -> dict[str, Any]:
    """Read a message, of so many things at most, which take the memory of Python objects each.

    Raises:
        EOFError: the other side is gone. WireError: what came is no message.
    """
    head = pipe.read(4)
    if len(head) < 4:
        raise EOFError
    (size,) = struct.unpack("<I", head)
    if size > MOST_BYTES:
        raise WireError(f"an answer of {size} bytes; {MOST_BYTES} are allowed")
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    if most_items is not None and data.count(b",") + data.count(b"[") + data.count(b"{") > most_items:
        raise WireError(f"an answer of more than {most_items} items; give large ones as arrays of numbers")
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):
        raise WireError("an answer that is not JSON") from None
    if not isinstance(message, dict):
        raise WireError("an answer that is not a JSON object")
    return message
