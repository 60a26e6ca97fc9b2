"""Contact of cars: rectangles with a place, a heading and a shape (reach to the front, to the rear, to either side)."""

from typing import Any

from rlenvs.core import kernel


@kernel
def apart_along(
    c: float, s: float, ac: float, a_s: float, a: Any, bc: float, bs: float, b: Any, dx: float, dy: float
) -> float:
    """Gap [m] between two rectangles along an axis (c, s); negative where their shadows on it overlap.

    (ac, a_s) and (bc, bs): vectors of the headings; a, b: shapes; (dx, dy): from the place of a to that of b.
    """
    a_along, a_across = c * ac + s * a_s, c * -a_s + s * ac
    b_along, b_across = c * bc + s * bs, c * -bs + s * bc
    a_high = max(a[0] * a_along, -a[1] * a_along) + a[2] * abs(a_across)
    a_low = min(a[0] * a_along, -a[1] * a_along) - a[2] * abs(a_across)
    away = c * dx + s * dy
    b_high = away + max(b[0] * b_along, -b[1] * b_along) + b[2] * abs(b_across)
    b_low = away + min(b[0] * b_along, -b[1] * b_along) - b[2] * abs(b_across)
    return max(b_low - a_high, a_low - b_high)


@kernel
def bodies_gap(dx: float, dy: float, ac: float, a_s: float, a: Any, bc: float, bs: float, b: Any) -> float:
    """Largest gap [m] of two rectangles along the axes of both: positive just when they are apart.

    Between sides it is their distance, between corners somewhat less. See `apart_along` for the arguments.
    """
    gap = max(
        apart_along(ac, a_s, ac, a_s, a, bc, bs, b, dx, dy),
        apart_along(-a_s, ac, ac, a_s, a, bc, bs, b, dx, dy),
    )
    return max(
        gap,
        apart_along(bc, bs, ac, a_s, a, bc, bs, b, dx, dy),
        apart_along(-bs, bc, ac, a_s, a, bc, bs, b, dx, dy),
    )
