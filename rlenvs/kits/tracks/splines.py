"""Periodic cubic splines in kernels.

A spline is an array of seven rows: the parameter at its knots, the values of x and y there, their second derivatives,
and two rows that solving needs. Knot n repeats knot 0.
"""

from typing import Any

from rlenvs.core import kernel

ANGLE, X, Y, XX, YY, PIVOT, CORRECTION = range(7)
ROWS = 7


@kernel
def close_spline(k: Any, n: int) -> None:
    """Second derivatives of the periodic spline with n intervals through the knots 0 ... n; knot n repeats knot 0.

    The cyclic tridiagonal system is solved by elimination with a rank-one correction for its two corners.
    """
    k[X, n], k[Y, n] = k[X, 0], k[Y, 0]
    last = k[ANGLE, n] - k[ANGLE, n - 1]
    first = 2.0 * (last + k[ANGLE, 1] - k[ANGLE, 0])
    before = last
    for i in range(n):
        h = k[ANGLE, i + 1] - k[ANGLE, i]
        j = i - 1 if i > 0 else n - 1
        diagonal = 2.0 * (before + h)
        k[XX, i] = 6.0 * ((k[X, i + 1] - k[X, i]) / h - (k[X, i] - k[X, j]) / before)
        k[YY, i] = 6.0 * ((k[Y, i + 1] - k[Y, i]) / h - (k[Y, i] - k[Y, j]) / before)
        k[CORRECTION, i] = 0.0
        if i == 0:
            diagonal += first
            k[CORRECTION, 0] = -first
        elif i == n - 1:
            diagonal += last * last / first
            k[CORRECTION, i] = last
        if i > 0:
            diagonal -= before * k[PIVOT, i - 1]
            for row in (XX, YY, CORRECTION):
                k[row, i] -= before * k[row, i - 1]
        k[PIVOT, i] = h / diagonal
        for row in (XX, YY, CORRECTION):
            k[row, i] /= diagonal
        before = h
    for i in range(n - 2, -1, -1):
        for row in (XX, YY, CORRECTION):
            k[row, i] -= k[PIVOT, i] * k[row, i + 1]
    corner = -last / first
    scale = 1.0 + k[CORRECTION, 0] + corner * k[CORRECTION, n - 1]
    for row in (XX, YY):
        factor = (k[row, 0] + corner * k[row, n - 1]) / scale
        for i in range(n):
            k[row, i] -= factor * k[CORRECTION, i]
        k[row, n] = k[row, 0]


@kernel
def interval(k: Any, n: int, angle: float, guess: int) -> int:
    """The interval of the spline that holds the angle, searched from a guess."""
    i = guess
    while i < n - 1 and angle >= k[ANGLE, i + 1]:
        i += 1
    while i > 0 and angle < k[ANGLE, i]:
        i -= 1
    return i


@kernel
def cubic(k: Any, row: int, i: int) -> tuple[float, float, float, float]:
    """Coefficients of x, or y, in interval i: c_0 + c_1 b + c_2 b^2 + c_3 b^3, b from 0 to 1."""
    bend = (k[ANGLE, i + 1] - k[ANGLE, i]) * (k[ANGLE, i + 1] - k[ANGLE, i]) * (1.0 / 6.0)
    first, second = bend * k[row + XX - X, i], bend * k[row + XX - X, i + 1]
    return k[row, i], k[row, i + 1] - k[row, i] - 2.0 * first - second, 3.0 * first, second - first


@kernel
def on_spline(k: Any, i: int, angle: float) -> tuple[float, float, float, float]:
    """Point and derivative (x, y, dx, dy) of the spline in interval i."""
    per_angle = 1.0 / (k[ANGLE, i + 1] - k[ANGLE, i])
    b = (angle - k[ANGLE, i]) * per_angle
    x0, x1, x2, x3 = cubic(k, X, i)
    y0, y1, y2, y3 = cubic(k, Y, i)
    x, dx = ((x3 * b + x2) * b + x1) * b + x0, ((3.0 * x3 * b + 2.0 * x2) * b + x1) * per_angle
    y, dy = ((y3 * b + y2) * b + y1) * b + y0, ((3.0 * y3 * b + 2.0 * y2) * b + y1) * per_angle
    return x, y, dx, dy
