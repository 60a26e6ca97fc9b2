"""Sine, cosine, tangent and their inverses for kernels: the same bits on every processor, see `maths`."""

from __future__ import annotations

import math

from rlenvs.core.declare.floats import (
    FRACTION,
    GROW,
    INF,
    LEADING,
    NAN,
    SHIFT,
    SIGN,
    SMALL,
    bits_of,
    float_of,
    quotient,
    upper_digits,
    with_sign,
)
from rlenvs.core.declare.kernels import kernel

PI = 3.141592653589793
PI_LOW = 1.2246467991473532e-16
TWO_PI = 6.283185307179586
TWO_PI_HIGH = 6.283185362815857  # 26 bits
TWO_PI_LOW = -5.5636270456668466e-08
TWO_OVER_PI = 0.6366197723675814
HALF_PI = 1.5707963267948966
HALF_PI_LOW = 6.123233995736766e-17
HALF_PI_1 = 1.5707963267923333  # 36 bits, so that multiples up to 2^17 are exact
HALF_PI_2 = 2.5633441515839558e-12  # 36 more
HALF_PI_3 = 1.0562999066987428e-23
QUARTER_PI = 0.7853981633974483
QUARTER_PI_LOW = 3.061616997868383e-17
FAR = 131072.0  # 2^17
# 30 bits each of 1 / (2 pi), after two of zeros
TURNS = (
    *(0, 0, 170891318, 960041044, 704390999, 880626999, 470660649, 375714062, 272760401, 418052014, 1012276082),
    *(297330953, 231923718, 306952834, 488186319, 947367026, 824813374, 975211901, 317437000, 329675200, 649355134),
    *(273572981, 597177651, 668103185, 529251833, 168740862, 159383008, 375406524, 789678938, 43730907, 325577970),
    *(522987229, 256261990, 664271499, 391281580, 531601349, 993855289, 1038259364, 782679989, 1053064757, 487085571),
)
DIGIT = 2**30 - 1
SIXTH = 0.16666666666666666
UNIT_1, UNIT_2, UNIT_3 = 2.0**-50, 2.0**-90, 2.0**-138

# --- sine, cosine, tangent --------------------------------------------------------------------------------------------


@kernel
def _reduce_far(x: float) -> tuple[float, float, int]:
    """What `_reduce` does, for x >= 2^17: the digits of x times 180 bits of 1 / (2 pi), which begin where the products
    are no whole turns."""
    bits = bits_of(x)
    place = (bits >> 52) - (1075 - 60)
    place = place if place > 0 else 0
    first = (place * 2185) >> 16  # place // 30
    skipped = place - first * 30
    digits = (bits & FRACTION) | LEADING
    lower, upper = digits & DIGIT, digits >> 30
    carry = 0
    later, after = 0, 0  # the digit and the window of the round before
    turn, turn1, turn2, turn3, turn4 = 0, 0, 0, 0, 0
    for j in range(7):
        digit = TURNS[first + 6 - j]
        window = ((digit << skipped) | (later >> (30 - skipped))) & DIGIT
        column = window * lower + after * upper + carry
        later = digit
        after = window
        carry = column >> 30
        turn4 = turn3
        turn3 = turn2
        turn2 = turn1
        turn1 = turn
        turn = column & DIGIT
    quadrant = (turn + 134217728) >> 28
    turn = turn - (quadrant << 28)
    a = float((turn << 20) + (turn1 >> 10)) * UNIT_1
    b = float(((turn1 & 1023) << 30) + turn2) * UNIT_2
    c = float((turn3 << 18) + (turn4 >> 12)) * UNIT_3
    high = a + b
    low = b - (high - a) + c
    top = upper_digits(high)
    a = top * TWO_PI_HIGH
    b = top * TWO_PI_LOW + (high - top + low) * TWO_PI
    r = a + b
    return (r if x < INF else NAN), b - (r - a), quadrant


@kernel
def _reduce(x: float) -> tuple[float, float, int]:
    """x >= 0 as r + tail + quadrant pi / 2, with r in [-pi / 4, pi / 4]; the lowest two bits of the quadrant count."""
    shifted = x * TWO_OVER_PI + SHIFT
    k = shifted - SHIFT
    a = x - k * HALF_PI_1
    b = k * HALF_PI_2
    high = a - b
    low = k * HALF_PI_3 - ((a - high) - b)
    r = high - low
    tail = (high - r) - low
    quadrant = bits_of(shifted)
    if x >= FAR:
        r, tail, quadrant = _reduce_far(x)
    return r, tail, quadrant


@kernel
def _sine_cosine(r: float, tail: float) -> tuple[float, float, float]:
    """(a, b, c) with sine r + a and cosine b + c of r + tail; fits of 2^-58 and 2^-63."""
    z = r * r
    z2 = z * z
    z4 = z2 * z2
    a = -0.16666666666666632 + 0.008333333333322491 * z
    b = -0.00019841269829859638 + 2.7557313707679385e-06 * z
    sine = (a + b * z2) + (-2.5050760345996223e-08 + 1.589691501553878e-10 * z) * z4
    a = 0.0416666666666666 - 0.0013888888888874483 * z
    b = 2.4801587289679685e-05 - 2.7557314403795655e-07 * z
    cosine = (a + b * z2) + (2.0875729685827508e-09 - 1.1359955894532272e-11 * z) * z4
    half = 0.5 * z
    near = 1.0 - half
    return r * z * sine + tail * near, near, ((1.0 - near) - half) + (z2 * cosine - r * tail)


@kernel
def sin(x: float) -> float:
    """The sine, within 0.9 ulp.

    pi / 2 in three parts up to 2^17, in 180 bits beyond; polynomials of the sine and of the cosine.
    """
    x = float(x) * 1.0  # float64 in compiled code too, whatever it was
    r, tail, quadrant = _reduce(abs(x))
    a, b, c = _sine_cosine(r, tail)
    size = b + c if (quadrant & 1) != 0 else r + a
    return float_of(bits_of(size) ^ ((quadrant & 2) << 62) ^ (bits_of(x) & SIGN))


@kernel
def cos(x: float) -> float:
    """The cosine, within 0.9 ulp; as `sin`."""
    x = float(x) * 1.0
    r, tail, quadrant = _reduce(abs(x))
    a, b, c = _sine_cosine(r, tail)
    size = r + a if (quadrant & 1) != 0 else b + c
    return float_of(bits_of(size) ^ (((quadrant + 1) & 2) << 62))


@kernel
def sin_cos(x: float) -> tuple[float, float]:
    """`sin(x)` and `cos(x)`, in the time of one of them."""
    x = float(x) * 1.0
    r, tail, quadrant = _reduce(abs(x))
    a, b, c = _sine_cosine(r, tail)
    near = r + a
    far = b + c
    odd = (quadrant & 1) != 0
    sine = far if odd else near
    cosine = near if odd else far
    sine = float_of(bits_of(sine) ^ ((quadrant & 2) << 62) ^ (bits_of(x) & SIGN))
    return sine, float_of(bits_of(cosine) ^ (((quadrant + 1) & 2) << 62))


@kernel
def tan(x: float) -> float:
    """The tangent, within 1 ulp: sine by cosine, both with their rounding errors."""
    x = float(x) * 1.0
    r, tail, quadrant = _reduce(abs(x))
    a, b, c = _sine_cosine(r, tail)
    sine, cosine = r + a, b + c
    top = upper_digits(r)
    square_low = (top * top - r * r) + (r - top) * (r + top)
    sine_low = a - (sine - r) - SIXTH * r * square_low
    cosine_low = c - (cosine - b) - 0.5 * square_low
    odd = quadrant & 1
    over = cosine if odd != 0 else sine
    over_low = cosine_low if odd != 0 else sine_low
    under = sine if odd != 0 else cosine
    under_low = sine_low if odd != 0 else cosine_low
    size = quotient(over, over_low, under, under_low)
    return float_of(bits_of(size) ^ (odd << 63) ^ (bits_of(x) & SIGN))


# --- their inverses ---------------------------------------------------------------------------------------------------


@kernel
def _arc_cubic(z: float) -> float:
    """(asin(x) / x - 1) / x^2 for z = x^2 <= 1/4; a fit of 2^-59."""
    z2 = z * z
    z4 = z2 * z2
    z8 = z4 * z4
    a = (0.16666666666666763 + 0.07499999999970204 * z) + (0.04464285717513632 + 0.030381942684129668 * z) * z2
    b = (0.022372215620922533 + 0.017351601130053795 * z) + (0.013980945976899386 + 0.011397921998061432 * z) * z2
    c = (0.01078562391042185 + 0.0036867265595543065 * z) + (0.02175400362673527 - 0.02106323166014017 * z) * z2
    return (a + b * z4) + (c + 0.03266777078883384 * z4) * z8


@kernel
def _arc(near: float, size: float, base: float, base_low: float) -> float:
    """base + asin(near) for size = |near| <= 1/2; else base - 2 asin(sqrt((1 - size) / 2)), + for near < 0."""
    inner = size <= 0.5
    under = 0.5 - 0.5 * size
    under = 0.0 if under < 0.0 else under
    root = math.sqrt(under)
    top = upper_digits(root)
    twice = root + top
    rest = (under - top * top) / (1.0 if twice == 0.0 else twice)  # root = top + rest
    sign = -2.0 if near > 0.0 else 2.0
    top = sign * top
    rest = sign * rest
    square = size * size
    r = near if inner else top
    low = 0.0 if inner else rest
    z = square if inner else under
    high = base + r
    return high + ((r - (high - base)) + (low + base_low + (r + low) * z * _arc_cubic(z)))


@kernel
def asin(x: float) -> float:
    """The angle in [-pi / 2, pi / 2] whose sine is x, within 0.8 ulp; NaN where |x| > 1.

    A polynomial up to 1/2, beyond it pi / 2 - 2 asin(sqrt((1 - |x|) / 2)), with the root's rounding error.
    """
    x = float(x) * 1.0
    size = abs(x)
    inner = size <= 0.5
    angle = _arc(size, size, 0.0 if inner else HALF_PI, 0.0 if inner else HALF_PI_LOW)
    return with_sign(angle, x) if size <= 1.0 else NAN


@kernel
def acos(x: float) -> float:
    """The angle in [0, pi] whose cosine is x, within 0.8 ulp; NaN where |x| > 1; as `asin`."""
    x = float(x) * 1.0
    size = abs(x)
    inner = size <= 0.5
    base = HALF_PI if inner else (0.0 if x > 0.0 else PI)
    base_low = HALF_PI_LOW if inner else (0.0 if x > 0.0 else PI_LOW)
    angle = _arc(-x, size, base, base_low)
    return angle if size <= 1.0 else NAN


@kernel
def _arc_tangent(t: float, base: float, base_low: float) -> float:
    """base + base_low + atan(t), for |t| <= 9/16; a fit of 2^-57."""
    z = t * t
    z2 = z * z
    z4 = z2 * z2
    z8 = z4 * z4
    p = (-0.3333333333333303 + 0.199999999999233 * z) + (-0.14285714278886816 + 0.11111110804346365 * z) * z2
    q = (-0.0909090093620739 + 0.07692167793790172 * z) + (-0.06665035336167885 + 0.05869014037938858 * z) * z2
    s = (-0.05185367951631648 + 0.04436370065381765 * z) + (-0.03372927237036307 + 0.019277506811162654 * z) * z2
    p = (p + q * z4) + (s - 0.005859634673940095 * z4) * z8
    high = base + t
    return high + ((t - (high - base)) + (base_low + t * z * p))


@kernel
def atan(x: float) -> float:
    """The angle in [-pi / 2, pi / 2] whose tangent is x, within 0.95 ulp.

    The tangent is taken from 0, pi / 4 or pi / 2, so that what a polynomial is left with is at most 9/16.
    """
    x = float(x) * 1.0
    a = abs(x)
    inner = a <= 0.5625
    outer = a > 2.4142135623730951
    over = -1.0 if outer else a - 1.0
    under = a if outer else a + 1.0
    t = over / under
    t = a if inner else t
    base = 0.0 if inner else (HALF_PI if outer else QUARTER_PI)
    low = 0.0 if inner else (HALF_PI_LOW if outer else QUARTER_PI_LOW)
    return with_sign(_arc_tangent(t, base, low), x)


@kernel
def atan2(y: float, x: float) -> float:
    """The angle of the point (x, y) in [-pi, pi], within 0.95 ulp; signs of zeros and infinities count as in C.

    As `atan`, with the rounding error of the quotient.
    """
    y = float(y) * 1.0
    x = float(x) * 1.0
    a = abs(y)
    b = abs(x)
    total = a + b
    scale = 0.25 if total > 1e300 else (GROW if total < SMALL else 1.0)
    diagonal = a == b  # two zeros, two infinities
    one = 1.0 if a > 0.0 else 0.0
    a = a * scale
    b = b * scale
    a = one if diagonal else a
    b = 1.0 if diagonal else b
    inner = a <= 0.5625 * b
    outer = a > 2.4142135623730951 * b
    less = a - b
    more = a + b
    over = a if inner else (-b if outer else less)
    under = b if inner else (a if outer else more)
    inverse = 1.0 / under
    t = over / under
    top = upper_digits(t)
    under_top = upper_digits(under)
    low = ((over - top * under_top) - top * (under - under_top)) * inverse - (t - top)
    low = low if abs(t) > 1e-20 else 0.0
    base = 0.0 if inner else (HALF_PI if outer else QUARTER_PI)
    base_low = 0.0 if inner else (HALF_PI_LOW if outer else QUARTER_PI_LOW)
    beyond = bits_of(x) < 0
    t = -t if beyond else t
    low = -low if beyond else low
    left = PI - base
    left_low = PI_LOW - base_low
    base = left if beyond else base
    base_low = left_low if beyond else base_low
    return with_sign(_arc_tangent(t, base, base_low + (low - low * (t * t))), y)
