"""The linear regulator that minimizes a sum of squares, bit-identical on every processor."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlenvs.core.declare.algebra import solve

DOUBLINGS, TERMS = 14, 12


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The product of two matrices, added up from the left."""
    total = np.zeros((len(a), b.shape[1]))
    for k in range(len(b)):
        total = total + a[:, k, None] * b[None, k]
    return total


def sampled(a: Any, b: Any, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """x' = a x + b u, with u held for dt, as x(t + dt) = A x(t) + B u: the first terms of the exponential series."""
    a, b = np.array(a, float), np.array(b, float)
    step, inputs, power = np.eye(len(a)), np.zeros(b.shape), np.eye(len(a))
    for k in range(1, TERMS):
        inputs = inputs + product(power, b) * (dt / k)
        power = product(power, a) * (dt / k)
        step = step + power
    return step, inputs


def gains(a: Any, b: Any, state_costs: Any, action_cost: float, dt: float) -> np.ndarray:
    """The row K for which u = -K x minimizes the sum of the squares, weighted with these costs, of states and actions.

    Args:
        a, b: of x' = a x + b u, (n, n) and (n, 1).
        state_costs: of the squares of the states, (n,); action_cost: of the square of u.
        dt: for how long u is held [s].
    """
    step, inputs = sampled(a, b, dt)
    unit, value = np.eye(len(step)), np.diag(np.array(state_costs, float))
    reach, motion = product(inputs, inputs.T) / action_cost, step
    for _ in range(DOUBLINGS):  # each looks twice as far ahead as the one before
        eased = solve(unit + product(reach, value), np.concatenate([motion, reach], axis=1))
        onward, spread = eased[:, : len(unit)], eased[:, len(unit) :]
        ahead = product(product(motion.T, value), onward)
        reach = reach + product(product(motion, spread), motion.T)
        motion, value = product(motion, onward), value + ahead
    weighed = product(inputs.T, value)
    return solve(product(weighed, inputs) + action_cost, product(weighed, step))[0]
