"""How strong players are, from who beat whom: Elo by the Bradley-Terry model, and intervals of shares."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

SCALE = 400.0 / math.log(10.0)  # Elo points per unit of the logistic scale: 400 points are odds of 10 to 1
MEAN = 1500.0
Z = 1.959964  # of a 95 % interval


def elo(wins: np.ndarray, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Maximum-likelihood ratings on the Elo scale, with half widths of their 95 % intervals.

    A draw counts as half a win. Every pair that has met has one more drawn game than it played, the prior of Jeffreys
    for a single pair: whoever won all games then still has a finite rating, and a wide interval. The intervals come
    from the Fisher information of independent games; they are those of differences to the mean of all players.

    Args:
        wins: how often i won against j, (P, P).
        draws: how often they drew, (P, P), symmetric.

    Returns:
        ratings with mean 1500, and half widths, both float64 (P,).
    """
    met = wins + wins.T + draws > 0
    games = (wins + wins.T + draws + met).astype(np.float64)
    score = (wins + 0.5 * (draws + met)).sum(axis=1)
    strength = np.zeros(len(wins))
    for _ in range(100):
        expected = _expected(strength)
        gain = score - (games * expected).sum(axis=1)
        step = np.linalg.pinv(_information(games, expected)) @ gain
        strength += step * min(
            1.0, 2.0 / max(np.abs(step).max(), 1e-12)
        )  # far from the solution a full step overshoots
        if np.abs(step).max() < 1e-10:
            break
    covariance = np.linalg.pinv(_information(games, _expected(strength)))
    return MEAN + SCALE * (strength - strength.mean()), Z * SCALE * np.sqrt(np.diag(covariance))


def _expected(strength: np.ndarray) -> np.ndarray:
    """The share of points that i gets against j."""
    return 1.0 / (1.0 + np.exp(strength[None, :] - strength[:, None]))


def _information(games: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Fisher information of the strengths: the Laplacian of the graph of games."""
    weight = games * expected * (1.0 - expected)
    return np.diag(weight.sum(axis=1)) - weight


def wilson(count: int, total: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share; (0, 1) when nothing was counted."""
    if total == 0:
        return 0.0, 1.0
    share, z2 = count / total, Z * Z
    middle = (share + z2 / (2 * total)) / (1 + z2 / total)
    half = Z * math.sqrt(share * (1 - share) / total + z2 / (4 * total * total)) / (1 + z2 / total)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table with columns of equal width, the first to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        (
            row[0].ljust(widths[0])
            + "".join(f"  {cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        ).rstrip()
        for row in table
    ]


def student(freedom: int) -> float:
    """Half width of the 95 % interval of Student's t distribution: 12.706 of one degree of freedom, 1.96 of many.

    With t = sqrt(freedom) tan(angle) its density is proportional to cos(angle) ** (freedom - 1), which is summed up.
    """
    if freedom > 1000:
        return Z
    angles = np.linspace(0.0, math.pi / 2, 20001)
    density = np.maximum(np.cos(angles), 0.0) ** (freedom - 1)
    share = np.concatenate([[0.0], np.cumsum(density[1:] + density[:-1])])
    return math.sqrt(freedom) * math.tan(float(np.interp(0.95 * share[-1], share, angles)))
