"""Memory for Generals: planes of what a player has seen, added to what it sees now.

The paper behind the game credits such features and potential-based rewards for making learning work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.wrapper import Wrapper

__all__ = ["GeneralsMemory"]

# planes of the game's observation
ARMIES, GENERALS, CITIES, MOUNTAINS, OWN, ENEMIES, FOG, HIDDEN, TICK = 0, 1, 2, 3, 5, 6, 7, 8, 13

PLANES = (
    "explored",  # 1 where the cell was in sight once
    "mountains",  # mountains seen
    "cities",  # cities seen
    "generals",  # generals of others, where they were seen last
    "enemies",  # whose owner was an enemy when it was seen last
    "armies",  # armies when they were seen last
    "age",  # ticks since the cell was in sight; the tick where it never was
    "watched",  # cells that an enemy cell in sight can see
)
MOST = 1_000_000.0


def remember(kept: np.ndarray, seen: np.ndarray, actions: np.ndarray | None, moves: int) -> np.ndarray:
    """What players know after another observation. Where its tick is 0 a game has begun and all before is forgotten.

    Args:
        kept: float32 (players, planes of the memory, height, width), what they knew.
        seen: float32 (players, planes of the game, height, width).
        actions: int (players,), the last ones; None after a reset.
        moves: how many past moves are kept.

    Returns:
        a new array like `kept`.
    """
    kept = kept.copy()
    if actions is not None and moves:
        _shift_moves(kept, actions)
    kept[seen[:, TICK, 0, 0] == 0] = 0.0
    sight = (seen[:, FOG] == 0) & (seen[:, HIDDEN] == 0)
    named = dict(zip(PLANES, np.moveaxis(kept[:, : len(PLANES)], 1, 0), strict=True))
    named["explored"][sight] = 1.0
    enemy = seen[:, ENEMIES] > 0
    for name, now in (
        ("mountains", seen[:, MOUNTAINS]), ("cities", seen[:, CITIES]), ("enemies", enemy),
        ("generals", (seen[:, GENERALS] > 0) & (seen[:, OWN] == 0)), ("armies", seen[:, ARMIES]),
    ):  # fmt: skip
        np.copyto(named[name], now, where=sight, casting="unsafe")
    tick = seen[:, TICK]
    named["age"][:] = np.where(sight, 0.0, np.where(named["explored"] > 0, named["age"] + 1.0, tick))
    named["watched"][:] = _around(enemy)
    return kept


def _shift_moves(kept: np.ndarray, actions: np.ndarray) -> None:
    first, (height, width) = len(PLANES), kept.shape[2:]
    cells = height * width
    kept[:, first + 2 :] = kept[:, first:-2].copy()
    kept[:, first : first + 2] = 0.0
    moved = np.flatnonzero((actions > 0) & (actions <= 8 * cells))
    plane, cell = np.divmod(actions[moved] - 1, cells)
    slot, column = np.divmod(cell, width)
    down, right = np.array([(-1, 0), (1, 0), (0, -1), (0, 1)])[plane % 4].T
    kept[moved, first, slot, column] = 1.0
    slot, column = slot + down, column + right
    inside = (slot >= 0) & (slot < height) & (column >= 0) & (column < width)
    kept[moved[inside], first + 1, slot[inside], column[inside]] = 1.0


def _around(cells: np.ndarray) -> np.ndarray:
    """The cells within one step, also diagonally, of marked ones, bool (players, height, width)."""
    wide = cells.copy()
    wide[:, 1:] |= cells[:, :-1]
    wide[:, :-1] |= cells[:, 1:]
    out = wide.copy()
    out[:, :, 1:] |= wide[:, :, :-1]
    out[:, :, :-1] |= wide[:, :, 1:]
    return out


@dataclass
class GeneralsMemory(Wrapper):
    """Append memory planes to the observations of Generals, separately for each player.

    Args:
        moves: of how many past moves the source and the target are shown, in planes of their own.
    """

    moves: int = 1

    def prepare(self) -> None:
        """ParameterError if `moves` is invalid, or observations are not those of Generals."""
        self.check_whole("moves")
        spaces_below = [_board(space) for space in self.below.observation_spaces]
        if any(space is None for space in spaces_below):
            raise ParameterError(
                f"GeneralsMemory: observations in {self.below.observation_spaces[0]} are not those of Generals; apply "
                f"this wrapper before others that change them"
            )
        self.observation_spaces = [_with_memory(space, self.moves) for space in self.below.observation_spaces]
        board = spaces_below[0]
        assert board is not None
        self.allocate("planes", (len(PLANES) + 2 * self.moves, *board.shape[1:]), np.float32)
        self.allocate("last", dtype=np.int64)

    @property
    def observation(self) -> Any:
        """The planes of the game, then those of the memory."""
        seen = self.below.observation
        if isinstance(seen, dict):
            return {**seen, "observation": np.concatenate([seen["observation"], self.planes], axis=1)}
        return np.concatenate([seen, self.planes], axis=1)

    def begin_episode(self, slots: np.ndarray) -> None:
        self._remember(slots, None)

    def act(self, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
        self.last[slots] = actions[slots]
        return actions

    def after_step(self, slots: np.ndarray) -> None:
        self._remember(slots, self.last[slots])

    def _remember(self, slots: np.ndarray, actions: np.ndarray | None) -> None:
        seen = self.below.observation
        seen = seen["observation"] if isinstance(seen, dict) else seen
        self.planes[slots] = remember(self.planes[slots], seen[slots], actions, self.moves)


def _board(space: spaces.Space) -> spaces.Box | None:
    """The planes of the game in an observation space; None where there are none."""
    if isinstance(space, spaces.Dict):
        space = space.spaces.get("observation", space)
    planes = isinstance(space, spaces.Box) and len(space.shape) == 3 and space.shape[0] > TICK
    return space if isinstance(space, spaces.Box) and planes else None


def _with_memory(space: spaces.Space, moves: int) -> spaces.Space:
    """The space of an observation with memory."""
    board = _board(space)
    assert board is not None
    more = (len(PLANES) + 2 * moves, *board.shape[1:])
    low, high = np.zeros(more, np.float32), np.ones(more, np.float32)
    high[PLANES.index("armies")] = high[PLANES.index("age")] = MOST
    wide = spaces.Box(np.concatenate([board.low, low]), np.concatenate([board.high, high]), dtype=np.float32)
    return spaces.Dict({**space.spaces, "observation": wide}) if isinstance(space, spaces.Dict) else wide
