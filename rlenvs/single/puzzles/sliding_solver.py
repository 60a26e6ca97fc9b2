"""Solutions of sliding tiles: shortest ones up to 3 x 3; on larger boards row after row, each by shortest moves of its
tiles."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from rlenvs.core.compiler.loops import compiled

FAR = 255


@compiled()
def _rank(tiles: np.ndarray) -> int:
    """The number of a permutation in lexicographic order."""
    rank = 0
    for i in range(tiles.size):
        smaller = 0
        for j in range(i + 1, tiles.size):
            smaller += 1 if tiles[j] < tiles[i] else 0
        rank = rank * (tiles.size - i) + smaller
    return rank


@compiled()
def _fill_table(table: np.ndarray, side: int, queue: np.ndarray) -> int:
    """The number of moves from every order of a side x side board to the aim. Returns how many orders there are."""
    cells = side * side
    queue[0, :] = (np.arange(cells) + 1) % cells
    table[_rank(queue[0])] = 0
    first, last = 0, 1
    while first < last:
        steps = table[_rank(queue[first])]
        gap = 0
        while queue[first, gap]:
            gap += 1
        for action in range(4):
            row = gap // side + (-1 if action == 0 else 1 if action == 2 else 0)
            column = gap % side + (1 if action == 1 else -1 if action == 3 else 0)
            if 0 <= row < side and 0 <= column < side:
                queue[last] = queue[first]
                queue[last, gap] = queue[first, row * side + column]
                queue[last, row * side + column] = 0
                rank = _rank(queue[last])
                if table[rank] == FAR:
                    table[rank] = steps + 1
                    last += 1
        first += 1
    return last


@lru_cache(maxsize=2)
def distance_table(side: int) -> np.ndarray:
    """Moves to the aim by rank of the order, FAR where there is no way; for 2 x 2 and 3 x 3."""
    orders = {2: 24, 3: 362_880}[side]
    table = np.full(orders, FAR, np.uint8)
    _fill_table(table, side, np.zeros((orders // 2 + 1, side * side), np.uint8))
    return table


def distance(tiles: Sequence[int] | np.ndarray) -> int:
    """The least number of moves that solves a board of 4 or 9 cells; FAR where none does."""
    board = np.asarray(tiles, np.uint8)
    return int(distance_table(2 if board.size == 4 else 3)[_rank(board)])


def next_move(tiles: np.ndarray) -> int:
    """Where the gap moves next: 0 up, 1 right, 2 down, 3 left."""
    side = int(np.sqrt(tiles.size))
    board = np.asarray(tiles).reshape(side, side)
    for done in range(max(side - 3, 0)):
        corner = board[done:, done:]
        goals = [done * side + done + 1 + j for j in range(side - done)]
        goals += [(done + j) * side + done + 1 for j in range(1, side - done)]
        if not _ring_done(board, done):
            return _stage_move(board, done, goals, corner.shape[0])
    first = max(side - 3, 0)
    rest = board[first:, first:]
    numbers = np.zeros(side * side, np.uint8)
    for r in range(first, side):
        for c in range(first, side):
            numbers[r * side + c] = (r - first) * (side - first) + c - first + 1
    small = np.array([0 if n == 0 else numbers[n - 1] for n in rest.ravel()], np.uint8)
    return _table_move(small, side - first)


def _ring_done(board: np.ndarray, k: int) -> bool:
    """Whether row k and column k are in place, from the diagonal on."""
    side = len(board)
    return all(board[k, c] == k * side + c + 1 for c in range(k, side)) and all(
        board[r, k] == r * side + k + 1 for r in range(k, side)
    )


def _table_move(tiles: np.ndarray, side: int) -> int:
    gap = int(np.flatnonzero(tiles == 0)[0])
    best, least = 0, FAR
    for action, (down, right) in enumerate(((-1, 0), (0, 1), (1, 0), (0, -1))):
        row, column = gap // side + down, gap % side + right
        if 0 <= row < side and 0 <= column < side:
            after = tiles.copy()
            after[gap], after[row * side + column] = after[row * side + column], 0
            steps = distance(after)
            if steps < least:
                best, least = action, steps
    return best


def _stage_move(board: np.ndarray, k: int, goals: list[int], width: int) -> int:
    """The next move towards the first tiles of ring k that are not in place.

    Tiles are placed one by one, but the last two of the row together, and those of the column; what was placed before
    stays where it is.
    """
    side = len(board)
    row, column = goals[:width], goals[width:]
    groups = [[n] for n in row[:-2]] + [row[-2:]] + [[n] for n in column[:-2]] + [column[-2:]]
    fixed = np.zeros((side, side), np.bool_)
    fixed[:k], fixed[:, :k] = True, True
    for group in groups:
        if all(board[(n - 1) // side, (n - 1) % side] == n for n in group):
            for n in group:
                fixed[(n - 1) // side, (n - 1) % side] = True
            continue
        cells = [int(np.flatnonzero(board == n)[0]) for n in (0, *group)]
        targets = [n - 1 for n in group]
        if len(group) == 1:
            return int(_search(side, fixed.ravel(), cells[0], cells[1], -1, targets[0], -1))
        return int(_search(side, fixed.ravel(), cells[0], cells[1], cells[2], targets[0], targets[1]))
    return 0


@compiled()
def _search(side: int, fixed: np.ndarray, gap: int, one: int, two: int, goal_one: int, goal_two: int) -> int:
    """The first of the fewest moves after which one or two tiles are in place, while fixed cells stay."""
    cells = side * side
    other = cells if two < 0 else two
    first = np.full(cells * cells * (cells + 1), -1, np.int8)
    queue = np.zeros(first.size, np.int32)
    start = (gap * cells + one) * (cells + 1) + other
    queue[0] = start
    first[start] = 4
    head, tail = 0, 1
    while head < tail:
        node = queue[head]
        head += 1
        other = node % (cells + 1)
        one = (node // (cells + 1)) % cells
        gap = node // (cells + 1) // cells
        if one == goal_one and (goal_two < 0 or other == goal_two):
            return first[node]
        for action in range(4):
            row = gap // side + (-1 if action == 0 else 1 if action == 2 else 0)
            column = gap % side + (1 if action == 1 else -1 if action == 3 else 0)
            if not (0 <= row < side and 0 <= column < side):
                continue
            cell = row * side + column
            if fixed[cell]:
                continue
            moved_one = gap if cell == one else one
            moved_other = gap if cell == other else other
            after = (cell * cells + moved_one) * (cells + 1) + moved_other
            if first[after] < 0:
                first[after] = action if first[node] == 4 else first[node]
                queue[tail] = after
                tail += 1
    return 0
