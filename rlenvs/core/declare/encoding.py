"""Observations as other kinds of numbers: in [0, 1], bytes for images, whole for tables, one-hot, tuples.

A world whose observation is one of n whole numbers is shown as such; the batch holds it as float32 too.

The arrays of a batch keep the numbers as kernels and scaling leave them. What a form of the API gives to its user, and
says in its spaces, goes through here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rlenvs.core.declare.declared_spaces import Parts

ENCODINGS = ("float", "unit", "uint8", "integer", "one_hot", "tuple")
DTYPES = {
    "float32": np.float32,
    "unit": np.float32,
    "uint8": np.uint8,
    "integer": np.int32,
    "one_hot": np.float32,
    "discrete": np.int64,
    "tuple": np.int64,
}
EXACT = 2**24  # up to here float32 holds every whole number


class Encoding:
    """Turns observations of a world from one kind of numbers into another.

    Args:
        kind: one of ENCODINGS but "float"; "discrete": whole numbers from 0 on, of a Discrete space; or "float32": as
            they are, where a batch holds float64.
        shape: of an observation, as the batch has it; the attribute `shape` has that of one as users have it.
        scaling: gain and offset that led from physical numbers to the batch's, and their bounds, float32 (4, numbers).
        physical: low and high before scaling, float64 (2, numbers).
        logs: bool (numbers,), where the logarithm is to be taken.
        parts: of the number, for "tuple".
    """

    def __init__(
        self,
        kind: str,
        shape: tuple[int, ...],
        scaling: np.ndarray,
        physical: np.ndarray,
        logs: np.ndarray,
        parts: Parts | None = None,
    ) -> None:
        self.kind, self.parts = kind, parts
        self.keeps_units = kind == "float32"
        self._shape = self.shape = shape
        self._gain, self._offset, self._low, high = scaling
        span = high - self._low
        span = np.where(span > 0, span, 1.0)  # what never changes is 0
        self._factor = (1.0 / np.where(logs, np.log2(1.0 + span), span)).astype(np.float32)
        self._logs = logs
        whole = kind in ("integer", "discrete", "tuple")
        self.dtype: Any = DTYPES[kind]
        self._physical = np.array(physical if whole else np.zeros_like(physical), np.float32)
        most = physical[1] if whole else np.full(len(logs), 255 if kind == "uint8" else 1)
        self.low, self.high = self._physical[0].astype(self.dtype), most.astype(self.dtype)
        if kind == "float32":
            self.low, self.high = self._low, high
        if kind == "one_hot":
            self.shape = (int(physical[1, 0]) + 1,)
            self.low, self.high = np.zeros(self.shape, np.float32), np.ones(self.shape, np.float32)
        unscaled = kind == "integer" and (self._gain == 1.0).all() and (self._offset == 0.0).all()
        # the type, where another type is all: the kernel has written numbers of the space
        self.plain = np.dtype(self.dtype) if kind == "float32" or unscaled else None

    def __call__(self, values: np.ndarray, part: slice | None = None) -> Any:
        """New arrays of the same shape; one number of a Discrete space as Python's, or one-hot (..., n), or a tuple.

        Args:
            values: float32 or float64, (..., *shape); for agents that see less, with a shorter last axis.
            part: where the numbers of the last axis lie in the observation; None for all.
        """
        if self.plain is not None:
            return values.astype(self.plain)

        def own(numbers: np.ndarray) -> np.ndarray:
            numbers = numbers.reshape(self._shape) if part is None else numbers[part]
            return numbers[: values.shape[-1]] if numbers.ndim == 1 else numbers

        values = values.astype(np.float32, copy=False)
        if self.kind == "discrete":
            return values.astype(np.int64) if values.ndim else int(values)
        if self.parts is not None:
            found = self.parts.split(values.astype(np.int64) if values.ndim else int(values))
            return tuple(np.asarray(part, np.int64) if values.ndim else int(part) for part in found)
        if self.kind == "one_hot":
            return (values[..., None] == np.arange(self.shape[0])).astype(np.float32)
        if self.kind == "integer":
            found = np.rint((values - own(self._offset)) / own(self._gain))
            return np.clip(found, own(self._physical[0]), own(self._physical[1])).astype(self.dtype)
        above, logs = values - own(self._low), own(self._logs)
        if logs.all():
            above = np.log2(1.0 + above)
        elif logs.any():
            above = np.where(logs, np.log2(1.0 + above), above)
        found = np.clip(above * own(self._factor), 0.0, 1.0)
        return found if self.kind == "unit" else np.rint(found * 255.0).astype(np.uint8)
