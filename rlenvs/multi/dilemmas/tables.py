"""Payoff tables of matrix games: their shapes, and how kernels see them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

MOST_PLAYERS, MOST_CHOICES, MOST_ENTRIES, LARGEST = 100, 16, 65536, 1000.0
SHAPES = (
    "it must be (m, m), what each of two players gets by its own choice and the other's; (2, n), what each of n "
    "players gets by its own choice and the number of others with choice 1; or (m_1, ..., m_n, n), what each gets"
)


class Table(NamedTuple):
    """A payoff table.

    Attributes:
        choices: how many each player has.
        counted: whether payoffs depend on the own choice and the number of others with choice 1.
        payoffs: float64, flat: by own choice and that number, or by the choices of all, and then by player.
    """

    choices: tuple[int, ...]
    counted: bool
    payoffs: np.ndarray


def table_of(value: Any) -> Table:
    """The table that nested lists of numbers stand for.

    Raises:
        ValueError: rows of different lengths, a shape that is no table's, too many players or choices, numbers that are
            not finite or too large.
    """
    try:
        payoffs = np.array(value, np.float64)
    except (TypeError, ValueError):
        raise ValueError("a payoff table consists of numbers, in rows of equal length") from None
    shape = payoffs.shape
    if payoffs.ndim == 2 and min(shape) >= 2 and (shape[0] == 2 or shape[0] == shape[1]):
        counted = shape[0] == 2
        choices = (2,) * shape[1] if counted else (shape[0],) * 2
        made = payoffs if counted else np.stack([payoffs, payoffs.T], axis=-1)
    elif payoffs.ndim >= 3 and min(shape[:-1]) >= 2 and shape[-1] == payoffs.ndim - 1:
        counted, choices, made = False, shape[:-1], payoffs
    else:
        raise ValueError(f"a payoff table cannot have the shape {shape}: {SHAPES}")
    if len(choices) > MOST_PLAYERS or max(choices) > MOST_CHOICES or made.size > MOST_ENTRIES:
        raise ValueError(
            f"the shape {shape} is too large: at most {MOST_PLAYERS} players, {MOST_CHOICES} choices and "
            f"{MOST_ENTRIES} payoffs"
        )
    if not (np.abs(made) <= LARGEST).all():
        raise ValueError(f"payoffs must be in [{-LARGEST:g}, {LARGEST:g}]")
    return Table(choices, counted, made.ravel())


def parse_payoffs(value: Any) -> Any:
    """A payoff table as nested tuples, after a check of its shape; see `table_of`."""
    table_of(value)
    return nested(np.array(value, np.float64).tolist())


def nested(value: Any) -> Any:
    """Lists as tuples."""
    return tuple(map(nested, value)) if isinstance(value, list) else value


def two_by_two(both: float, sucker: float, tempted: float, neither: float) -> tuple[tuple[float, float], ...]:
    """The symmetric game of two players who cooperate (choice 0) or defect: payoffs R, S, T, P of the own choice."""
    return (both, sucker), (tempted, neither)


def public_goods(players: int, multiplier: float, endowment: float = 1.0) -> tuple[tuple[float, ...], ...]:
    """The public goods game: who cooperates gives 1 of its endowment; all contributions, multiplied, are shared."""
    gifts = range(players - 1, -1, -1)  # of the others, of whom 0, 1, ... defect
    return (
        tuple(endowment - 1.0 + multiplier * (given + 1) / players for given in gifts),
        tuple(endowment + multiplier * given / players for given in gifts),
    )
