"""The limit of many agents, to compare swarms with: where all agents affect all others, only their distribution counts,
and it moves without chance.

    from rlenvs.multi.swarm import mean_field

    mean_field.kuramoto_order(coupling=3.0, frequency_spread=1.0)  # 0.93

What a swarm of N agents does differs from it by about 1 / sqrt(N). The functions take the parameters of the worlds
under their names, and return the order parameter. Those of a course over time need SciPy.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rlenvs.core.declare.errors import MissingExtraError

__all__ = [
    "aggregation",
    "critical_coupling",
    "endemic_level",
    "kuramoto",
    "kuramoto_order",
    "sis",
    "sis_flow",
    "vicsek",
    "vicsek_order",
]

NODES = 60  # frequencies, and phases of each, of `kuramoto`
CELLS = 720  # of distributions on a grid
EXACT = {"rtol": 1e-6, "atol": 1e-8}


def _scipy() -> Any:
    try:
        import scipy.integrate
        import scipy.optimize
        import scipy.special
    except ImportError:
        raise MissingExtraError("the limit of many agents", "exact") from None
    return scipy


def _solved(rate: Any, start: Any, times: Any) -> np.ndarray:
    """The solution (n, times) of a differential equation at some times after its start."""
    end = max(float(times[-1]), 1e-9)  # SciPy finds nothing over no time
    return np.asarray(_scipy().integrate.solve_ivp(rate, (0.0, end), start, t_eval=times, **EXACT).y)


# --- SIS --------------------------------------------------------------------------------------------------------------


def endemic_level(infection: float, recovery: float) -> float:
    """The share of infected agents at which an epidemic without protection settles: 1 - recovery / infection, or 0."""
    return max(0.0, 1.0 - recovery / infection) if infection > 0.0 else 0.0


def sis(
    steps: int, infection: float, recovery: float, time_step: float, initial: float, protected: float = 0.0
) -> np.ndarray:
    """The share of infected agents (steps + 1,), if in each step a share of the susceptible agents is protected."""
    shares = [initial]
    for _ in range(steps):
        share = shares[-1]
        new = (1.0 - share) * (1.0 - protected) * min(infection * share * time_step, 1.0)
        shares.append(share + new - share * min(recovery * time_step, 1.0))
    return np.array(shares)


def sis_flow(
    times: np.ndarray, infection: float, recovery: float, initial: float, protected: float = 0.0
) -> np.ndarray:
    """The same at some times [s] after the start, in the limit of short steps, by SciPy's `solve_ivp`.

    Raises:
        MissingExtraError: SciPy is not installed.
    """

    def rate(_: float, share: np.ndarray) -> np.ndarray:
        return (1.0 - share) * (1.0 - protected) * infection * share - recovery * share

    return np.asarray(_solved(rate, [initial], times)[0])


# --- Kuramoto ---------------------------------------------------------------------------------------------------------


def critical_coupling(frequency_spread: float) -> float:
    """The coupling [rad/s] from which on there is order without noise and pushes: 2 / (pi g(0)), for normal
    frequencies."""
    return frequency_spread * math.sqrt(8.0 / math.pi)


def kuramoto_order(coupling: float, frequency_spread: float) -> float:
    """The order in which oscillators settle without noise and pushes: the solution R > 0 of
    1 = K integral cos^2(x) g(K R sin x) dx over [-pi/2, pi/2], or 0 up to the critical coupling.

    Raises:
        MissingExtraError: SciPy is not installed.
    """
    if coupling <= critical_coupling(frequency_spread):
        return 0.0
    if frequency_spread == 0.0:
        return 1.0
    scipy, ratio = _scipy(), min(coupling / frequency_spread, 1e4)  # beyond, the order is 1 to 8 digits

    def excess(order: float) -> float:
        """The integral in Bessel functions, less 1: a sum over nodes would miss a narrow density."""
        z = 0.25 * (ratio * order) ** 2
        return float(ratio * math.sqrt(math.pi / 8.0) * (scipy.special.ive(0, z) + scipy.special.ive(1, z))) - 1.0

    return 1.0 if excess(1.0) >= 0.0 else float(scipy.optimize.brentq(excess, 1e-9, 1.0))


def kuramoto(times: np.ndarray, coupling: float, frequency_spread: float, arc: float) -> np.ndarray:
    """The order at some times [s] after the start, without noise and pushes, from phases in an arc shorter than the
    circle, in the limit of short steps: SciPy's `solve_ivp` moves a grid of frequencies, equally probable, and phases.

    Raises:
        MissingExtraError: SciPy is not installed.
    """
    scipy, middles = _scipy(), (np.arange(NODES) + 0.5) / NODES
    rates = np.repeat(frequency_spread * scipy.special.ndtri(middles), NODES)

    def change(_: float, phases: np.ndarray) -> np.ndarray:
        vectors = np.exp(1j * phases)
        return np.asarray(rates + coupling * (vectors.mean() * np.conj(vectors)).imag)

    start = np.tile(arc * (middles - 0.5), NODES)
    return np.asarray(abs(np.exp(1j * _solved(change, start, times)).mean(axis=0)))


# --- Vicsek and aggregation -------------------------------------------------------------------------------------------


def vicsek_order(noise: float) -> float:
    """The alignment of agents all of which have just taken the mean direction: sin(noise / 2) / (noise / 2)."""
    return float(np.sinc(noise / (2.0 * math.pi)))


def vicsek(steps: int, noise: float, max_turn: float, arc: float) -> np.ndarray:
    """The alignment (steps + 1,) of agents that all turn to their mean direction, from headings in an arc shorter than
    the circle."""
    width = 2.0 * math.pi / CELLS
    headings = (np.arange(CELLS) + 0.5) * width - math.pi
    edges = (np.arange(3 * CELLS + 1) - CELLS) * width - math.pi  # three turns of the circle
    turned = headings - np.clip(headings, -max_turn, max_turn)
    spread = max(noise, width)
    reached = np.clip((edges[None] - turned[:, None]) / spread + 0.5, 0.0, 1.0)
    moves = np.diff(reached, axis=1).reshape(CELLS, 3, CELLS).sum(axis=1)
    inside = np.clip(0.5 + (0.5 * arc - abs(headings)) / width, 0.0, 1.0)
    return np.array([share @ np.cos(headings) for share in _course(inside / inside.sum(), moves, steps)])


def aggregation(steps: int, side: float, max_speed: float, noise: float) -> np.ndarray:
    """The mean distance to the mean (steps + 1,) of agents on a line (`dimensions=1`) that all go to the mean.

    Raises:
        MissingExtraError: SciPy is not installed.
    """
    width = side / CELLS
    places = (np.arange(CELLS) + 0.5) * width - 0.5 * side
    edges = np.r_[-np.inf, np.arange(1, CELLS) * width - 0.5 * side, np.inf]
    moved = places - np.clip(places, -max_speed, max_speed)
    moves = np.diff(_scipy().special.ndtr((edges[None] - moved[:, None]) / max(noise, 1e-6)), axis=1)
    return np.array([share @ abs(places) for share in _course(np.full(CELLS, 1.0 / CELLS), moves, steps)])


def _course(start: np.ndarray, moves: np.ndarray, steps: int) -> list[np.ndarray]:
    """A distribution over cells (cells,) and those of the following steps; moves[i, j] is what goes from i to j."""
    shares = [start]
    for _ in range(steps):
        shares.append(shares[-1] @ moves)
    return shares
