"""Gymnasium's spaces of several choices, whose `sample` takes masks as this package and MaskablePPO have them."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces


class MultiDiscrete(spaces.MultiDiscrete):
    """As Gymnasium's; `sample(mask)` also takes the masks of all dimensions one after the other, as in
    `info["action_mask"]`."""

    def sample(self, mask: Any = None, probability: Any = None) -> np.ndarray:
        """A random action; masks as one array, or as Gymnasium's tuple of arrays."""
        if isinstance(mask, np.ndarray):
            mask = tuple(np.split(mask.astype(np.int8), np.cumsum(self.nvec)[:-1]))
        return super().sample(mask, probability)


class MultiBinary(spaces.MultiBinary):
    """As Gymnasium's; `sample(mask)` also takes two entries per number: whether it may be 0, and whether 1."""

    def sample(self, mask: Any = None, probability: Any = None) -> np.ndarray:
        """A random action; masks with two entries per number, or as Gymnasium's."""
        if isinstance(mask, np.ndarray) and mask.shape == (2 * self.shape[0],):
            off, on = mask.reshape(-1, 2).T.astype(np.bool_)
            mask = np.where(on & off, 2, on).astype(np.int8)
        return super().sample(mask, probability)
