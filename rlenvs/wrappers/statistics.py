"""What an episode has paid, told at its end."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlenvs.core.compiler.loops import compiled
from rlenvs.wrappers.masked import clear, flat, put_number
from rlenvs.wrappers.wrapper import Wrapper


@dataclass
class EpisodeStatistics(Wrapper):
    """Record episode statistics: the sum of rewards, also discounted, and the length.

    Rewards are those of the wrapper's place in the stack, vectors or numbers. In info, under `entry`: "r", the sum;
    "dr", the discounted sum; "l", the steps.

    Attributes:
        discount: of "dr", in [0, 1].
        buffer_length: of how many episodes `return_queue` and `length_queue` keep what came out.
        entry: name in info; "episode" is that of Gymnasium's own wrapper.
        at_end: whether only the step that ends an episode tells it, as Gymnasium's wrapper does. In the vector form the
            mask then says of which worlds, and under SAME_STEP it is final_info that tells it.
        clock: whether "t" says how many seconds the episode took; it is never the same twice.
    """

    discount: float = 1.0
    buffer_length: int = 100
    entry: str = "statistics"
    at_end: bool = False
    clock: bool = False

    def prepare(self) -> None:
        """Check the settings, and allocate arrays."""
        self.check_number("discount", 0.0, 1.0)
        self.check_whole("buffer_length", 1)
        size = self.below.reward.shape[1:]
        self.sum, self.discounted = self.allocate("sum", size), self.allocate("discounted", size)
        self.weight = self.allocate("weight", fill=1.0)  # of the next reward in the discounted sum
        self.ended = np.zeros(1, np.int64)  # how many episodes have ended in the last step
        self.entries_last = not self.clock
        self.began, self.took = np.full(self.count, time.perf_counter()), np.zeros(self.count)
        self.return_queue = deque[Any](maxlen=self.buffer_length)
        self.length_queue = deque[int](maxlen=self.buffer_length)

    def begin_episode(self, slots: np.ndarray) -> None:
        """Nothing was paid."""
        clear(self.sum, slots)
        clear(self.discounted, slots)
        put_number(self.weight, 1.0, slots)
        self.began[slots] = time.perf_counter()

    def looking(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Update the sums, and find slots whose episodes have ended."""
        sums = flat(self.sum), flat(self.discounted), self.weight
        ends = self.below.terminated, self.below.truncated
        yield accumulate, slots, flat(self.below.reward), float(self.discount), *ends, *sums, self.ended

    def after_step(self, slots: np.ndarray) -> None:
        """Update the sums, and store the results of finished episodes."""
        super().after_step(slots)
        if not self.ended.item():
            return
        over = slots & self.below.over
        self.took[over] = time.perf_counter() - self.began[over]
        for slot in np.flatnonzero(over).tolist():
            self.return_queue.append(self.sum[slot].copy()[()])
            self.length_queue.append(int(self.time[slot]))

    def info_mask(self) -> np.ndarray | None:
        """If only final values are reported: the slots whose episodes ended in this step."""
        return self.below.over & (self.time > 0) if self.at_end else None

    def entries(self) -> dict[str, Any]:
        """The sums."""
        own = {"r": self.sum, "dr": self.discounted, "l": self.time}
        if self.clock:
            own["t"] = np.round(self.took, 6)
        return {self.entry: own}


@compiled(nogil=True)
def accumulate(
    slots: np.ndarray,
    rewards: np.ndarray,
    discount: float,
    terminated: np.ndarray,
    truncated: np.ndarray,
    sums: np.ndarray,
    discounted: np.ndarray,
    weight: np.ndarray,
    ended: np.ndarray,
) -> None:
    """Sums of rewards (slots, numbers), discounted ones with the weight of the next reward; and how many end."""
    ended[0] = 0
    for i in range(slots.size):
        if slots[i]:
            for j in range(sums.shape[1]):
                sums[i, j] += rewards[i, j]
                discounted[i, j] += weight[i] * rewards[i, j]
            weight[i] *= discount
            ended[0] += np.int64(terminated[i] or truncated[i])
