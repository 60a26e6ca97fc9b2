"""The action nearest to a proposed one, min |a - a'|^2, under linear constraints g_k . a >= n_k and within bounds,
wherever the proposed one lies.

With one constraint the minimum is a' + l g, cut to the bounds, with the multiplier l >= 0 at which the constraint
holds: l is the root of a piecewise linear function, found exactly. With several, the one that is farthest from holding
is met first; where others then fail, one after the other is met again and again (Hildreth, "A quadratic programming
procedure", 1957). What has not converged by then, and what cannot be met, is for a solver of quadratic programs (DAQP:
Arnstrom, Bemporad and Axehill, "A dual active-set solver for embedded quadratic programming using recursive LDL^T
updates", IEEE TAC 2022).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rlenvs.core.compiler.loops import compiled, helper
from rlenvs.core.declare.errors import MissingExtraError

TOLERANCE = 1e-6  # constraints count as met when this little is missing
AS_PROPOSED, MOVED, INFEASIBLE, UNSOLVED = 0, 1, 2, 3
SWEEPS, CONVERGED = 200, 1e-9  # rounds of Hildreth's procedure, and the change in a round that ends it
MISSING_WEIGHT = 1e6  # of what is missing to the constraints, beside the distance to the proposed action


# --- one slot ---------------------------------------------------------------------------------------------------------


@helper(inline="always")
def lack(x: np.ndarray, slope: np.ndarray, need: float) -> float:
    """What is missing to slope . x >= need; negative when it holds."""
    for j in range(x.size):
        need -= slope[j] * x[j]
    return need


@compiled(nogil=True, error_model="numpy")
def push(x: np.ndarray, slope: np.ndarray, need: float, low: np.ndarray, high: np.ndarray) -> None:
    """Move x to the nearest point within its bounds with slope . x >= need, or to the bounds where that cannot be.

    That point is x + l slope, cut off at the bounds. Its slope . x(l) never falls, and has a kink where a number comes
    to its bounds from outside, and where it meets the other one; l is found from kink to kink.
    """
    multiplier = 0.0
    for _ in range(2 * x.size + 1):
        gained, steepness, kink = 0.0, 0.0, math.inf
        for j in range(x.size):
            if slope[j] == 0.0:
                continue
            near, far = (low[j], high[j]) if slope[j] > 0.0 else (high[j], low[j])
            enters, leaves = (near - x[j]) / slope[j], (far - x[j]) / slope[j]
            if leaves <= multiplier:
                gained += slope[j] * far
            elif enters > multiplier:
                gained += slope[j] * near
                kink = min(kink, enters)
            else:
                gained += slope[j] * x[j]
                steepness += slope[j] * slope[j]
                kink = min(kink, leaves)
        if steepness > 0.0 and (need - gained) / steepness <= kink:
            multiplier = max((need - gained) / steepness, multiplier)
            break
        multiplier = kink
        if kink == math.inf:
            break
    for j in range(x.size):
        moved = x[j] + multiplier * slope[j] if slope[j] != 0.0 else x[j]
        x[j] = min(max(moved, low[j]), high[j])


@compiled(nogil=True, error_model="numpy")
def farthest(x: np.ndarray, slopes: np.ndarray, needs: np.ndarray) -> int:
    """The constraint that x is farthest from meeting; -1 when it meets all."""
    worst, most = -1, 0.0
    for k in range(needs.size):
        missing = lack(x, slopes[k], needs[k])
        if missing > TOLERANCE:
            size = 0.0
            for j in range(x.size):
                size += slopes[k, j] * slopes[k, j]
            distance = missing / (math.sqrt(size) + 1e-300)
            if worst < 0 or distance > most:
                worst, most = k, distance
    return worst


@compiled(nogil=True, error_model="numpy")
def sweep(x: np.ndarray, slopes: np.ndarray, needs: np.ndarray, low: np.ndarray, high: np.ndarray) -> bool:
    """Move x to the nearest point that meets all constraints and bounds, by their multipliers in turn. Returns whether
    it is there."""
    count = needs.size
    multipliers = np.zeros(count + 2 * x.size)
    for _ in range(SWEEPS):
        change = 0.0
        for k in range(count):
            missing, square = needs[k], 1e-300
            for j in range(x.size):
                missing -= slopes[k, j] * x[j]
                square += slopes[k, j] * slopes[k, j]
            step = max(missing / square, -multipliers[k])
            multipliers[k] += step
            for j in range(x.size):
                x[j] += step * slopes[k, j]
            change = max(change, abs(step) * math.sqrt(square))
        for j in range(x.size):
            k = count + 2 * j
            up = max(low[j] - x[j], -multipliers[k])
            multipliers[k] += up
            down = max(x[j] + up - high[j], -multipliers[k + 1])
            multipliers[k + 1] += down
            x[j] += up - down
            change = max(change, abs(up), abs(down))
        if change < CONVERGED:
            for j in range(x.size):
                x[j] = min(max(x[j], low[j]), high[j])
            return farthest(x, slopes, needs) < 0
    return False


@compiled(nogil=True, error_model="numpy")
def settle(
    proposed: np.ndarray, slopes: np.ndarray, needs: np.ndarray, low: np.ndarray, high: np.ndarray, x: np.ndarray
) -> int:
    """Move x, the proposed action cut off at the bounds, to the allowed action that is nearest to the proposed one.
    Returns UNSOLVED where it could not, and INFEASIBLE where one constraint alone cannot be met."""
    several = needs.size > 1
    worst = farthest(x, slopes, needs) if several else needs.size - 1
    if worst < 0:
        return AS_PROPOSED
    x[:] = proposed
    push(x, slopes[worst], needs[worst], low, high)
    if lack(x, slopes[worst], needs[worst]) > TOLERANCE:
        return INFEASIBLE
    if several and farthest(x, slopes, needs) >= 0:
        x[:] = proposed
        if not sweep(x, slopes, needs, low, high):
            return UNSOLVED
    for j in range(x.size):
        x[j] = np.float32(x[j])  # what a float32 action space can hold, so that all API forms do the same
    return MOVED


# --- all slots --------------------------------------------------------------------------------------------------------


@compiled(nogil=True, error_model="numpy")
def settle_barriers(
    slots: np.ndarray,
    proposed: np.ndarray,
    barriers: tuple[np.ndarray, ...],
    rate: float,
    margin: float,
    raw: np.ndarray,
    action: np.ndarray,
    outcome: np.ndarray,
    least: np.ndarray,
    count: np.ndarray,
    infeasible: np.ndarray,
) -> None:
    """The allowed actions for slots with the barriers value, drift, slope, low, high and brake.

    Fills the proposed actions, the allowed ones, how it went (UNSOLVED is left to the solver), the smallest barriers,
    and counts actions that change and those that nothing allows.
    """
    value, drift, slope, low, high, brake = barriers
    needs = np.empty(value.shape[1])
    for i in range(len(slots)):
        if not slots[i]:
            continue
        for j in range(proposed.shape[1]):
            raw[i, j] = proposed[i, j]
            action[i, j] = min(max(proposed[i, j], low[i, j]), high[i, j])
        least[i] = math.inf
        met = True
        for k in range(needs.size):
            least[i] = min(least[i], value[i, k])
            present = value[i, k] == value[i, k]
            needs[k] = rate * (margin - value[i, k]) - drift[i, k] if present else -math.inf
            missing = needs[k]
            for j in range(proposed.shape[1]):
                missing -= slope[i, k, j] * action[i, j]
            met = met and not missing > TOLERANCE
        if met:
            outcome[i] = AS_PROPOSED
            for j in range(proposed.shape[1]):
                action[i, j] = raw[i, j]
            continue
        outcome[i] = settle(proposed[i], slope[i], needs, low[i], high[i], action[i])
        count[i] += 1
        brakes = brake[i, 0] == brake[i, 0]
        if outcome[i] == INFEASIBLE and (brakes or needs.size == 1):
            infeasible[i] += 1
            for j in range(proposed.shape[1]):
                action[i, j] = np.float32(brake[i, j] if brakes else action[i, j])
        elif outcome[i] >= INFEASIBLE:
            outcome[i] = UNSOLVED


@compiled(nogil=True, error_model="numpy")
def settle_set(
    slots: np.ndarray,
    proposed: np.ndarray,
    slopes: np.ndarray,
    needs: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    raw: np.ndarray,
    action: np.ndarray,
    outcome: np.ndarray,
    count: np.ndarray,
) -> None:
    """`settle_barriers` for slots under the same constraints, where bounds are constraints too."""
    for i in range(len(slots)):
        if not slots[i]:
            continue
        outside, met = False, True
        for j in range(proposed.shape[1]):
            raw[i, j] = proposed[i, j]
            action[i, j] = min(max(proposed[i, j], low[j]), high[j])
            outside = outside or action[i, j] != raw[i, j]
        for k in range(needs.size):
            missing = needs[k]
            for j in range(proposed.shape[1]):
                missing -= slopes[k, j] * action[i, j]
            met = met and not missing > TOLERANCE
        outcome[i] = MOVED if outside else AS_PROPOSED
        if not met:
            outcome[i] = settle(proposed[i], slopes, needs, low, high, action[i])
        count[i] += outcome[i] != AS_PROPOSED


def solver() -> Any:
    """DAQP's `solve`.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        from daqp import solve
    except ImportError as error:
        raise MissingExtraError("A filter with several constraints", "safety") from error
    return solve


def solve(
    proposed: np.ndarray, slopes: np.ndarray, needs: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, bool]:
    """The nearest allowed action by the solver, and whether there is one. Where there is none: the action in the bounds
    with the least sum of squares of what is missing to the constraints, the nearest of these."""
    find, count, size = solver(), len(needs), len(proposed)
    unbounded = np.full(count, 1e30)
    upper, lower = np.concatenate([high, unbounded]), np.concatenate([low, needs])
    settings = {"primal_tol": 1e-9}
    found, _, flag, _ = find(np.eye(size), -proposed, np.ascontiguousarray(slopes), upper, lower, None, **settings)
    if flag > 0:
        return np.clip(found, low, high), True
    weights = np.diag(np.concatenate([np.ones(size), np.full(count, MISSING_WEIGHT)]))
    widened = np.hstack([slopes, np.eye(count)])
    upper, lower = np.concatenate([high, unbounded, unbounded]), np.concatenate([low, np.zeros(count), needs])
    towards = np.concatenate([-proposed, np.zeros(count)])
    found = find(weights, towards, widened, upper, lower, None, **settings)[0]
    return np.clip(found[:size], low, high), False


@compiled(nogil=True)
def see_moved(outcome: np.ndarray, out: np.ndarray) -> None:
    """Which actions are not as proposed."""
    for i in range(out.size):
        out[i] = outcome[i] != AS_PROPOSED
