"""Elementary functions for kernels, bit-identical on every processor, compiled or not.

The library of C rounds sines and exponentials differently from one system to the next, so a seed would not give the
same episode everywhere. What follows is made of +, -, *, /, square roots and moves of bits alone, which IEEE 754
defines to the last bit; the order of operations in the source is the definition. Bounds of errors are in ulp, the
distance between the two floats around the true value, and hold for all arguments. NaN stands for what is not defined,
as in C; which of the many NaNs it is, is left open. Nothing raises.

How it is written: selections are conditional expressions on values that are there already, so that compilers turn them
into masks; `if` leads to what is rare. `upper_digits(x)` has half of them, so that products of two such are exact:
that is how rounding errors become numbers. Pairs (high, low) stand for the sum of both. Polynomials are minimax fits of
our own (least squares with Lawson's weights in 240 bits, coefficients rounded one after another), evaluated after
Estrin; "a fit of 2^-58" says how near they come to the function, relative to it. Arguments are reduced after Cody and
Waite, and Payne and Hanek. What all use lies in `floats`, what is round in `trigonometry`.
"""

from __future__ import annotations

import math

from rlenvs.core.declare.floats import (
    GROW,
    INF,
    LARGE,
    NAN,
    SHIFT,
    SHIFT_BITS,
    SHRINK,
    SIGN,
    SMALL,
    SMALLEST,
    WHOLE,
    quotient,
    times_power,
    upper_digits,
    with_sign,
)
from rlenvs.core.declare.floats import (
    bits_of as bits_of,
)
from rlenvs.core.declare.floats import (
    float_of as float_of,
)
from rlenvs.core.declare.kernels import kernel
from rlenvs.core.declare.trigonometry import TWO_PI
from rlenvs.core.declare.trigonometry import acos as acos
from rlenvs.core.declare.trigonometry import asin as asin
from rlenvs.core.declare.trigonometry import atan as atan
from rlenvs.core.declare.trigonometry import atan2 as atan2
from rlenvs.core.declare.trigonometry import cos as cos
from rlenvs.core.declare.trigonometry import sin as sin
from rlenvs.core.declare.trigonometry import sin_cos as sin_cos
from rlenvs.core.declare.trigonometry import tan as tan

LN2 = 0.6931471805599453
LN2_HIGH = 0.6931471805598903  # 42 bits: products with exponents are exact
LN2_LOW = 5.497923018708371e-14
LN2_TOP = 0.6931471824645996  # 26 bits
LN2_REST = -1.904654299957768e-09
LOG2_E = 1.4426950408889634
LOG2_E_TOP = 1.4426950514316559
LOG2_E_REST = -1.0542692476429138e-08
LOG10_E = 0.4342944819032518
LOG10_E_TOP = 0.4342944845557213
LOG10_E_REST = -2.6524694553078553e-09
SQRT_HALF_BITS = 4604544271217802189
TWO_THIRDS = 0.6666666666666666
TWO_THIRDS_LOW = 3.700743415417188e-17


# --- exponentials -----------------------------------------------------------------------------------------------------


@kernel
def _exp_sum(high: float, low: float, n: int) -> float:
    """e^(high - low) 2^n, where |high - low| <= ln(2) / 2; a fit of 2^-57."""
    r = high - low
    low = (high - r) - low
    z = r * r
    z2 = z * z
    p = (0.5000000000000011 + 0.16666666666666452 * r) + (0.041666666666527095 + 0.008333333333471055 * r) * z
    q = (0.0013888888944299479 + 0.0001984126955449234 * r) + (2.4801492494948305e-05 + 2.7557545379435707e-06 * r) * z
    p = (p + q * z2) + (2.7630441597583514e-07 + 2.5012602340951592e-08 * r) * (z2 * z2)
    y = 1.0 + r
    return times_power(y + ((r - (y - 1.0)) + (low + z * p)), n)


@kernel
def exp(x: float) -> float:
    """e^x, within 0.9 ulp: e^r 2^k with |r| <= ln(2) / 2, a polynomial of e^r."""
    x = float(x) * 1.0
    x = 710.0 if x > 710.0 else x
    x = -750.0 if x < -750.0 else x
    shifted = x * LOG2_E + SHIFT
    k = shifted - SHIFT
    return _exp_sum(x - k * LN2_HIGH, k * LN2_LOW, bits_of(shifted) - SHIFT_BITS)


@kernel
def exp2(x: float) -> float:
    """2^x, within 0.9 ulp; as `exp`. Whole powers are exact."""
    x = float(x) * 1.0
    x = 1025.0 if x > 1025.0 else x
    x = -1080.0 if x < -1080.0 else x
    shifted = x + SHIFT
    part = x - (shifted - SHIFT)
    top = upper_digits(part)
    return _exp_sum(top * LN2_TOP, -(top * LN2_REST + (part - top) * LN2), bits_of(shifted) - SHIFT_BITS)


@kernel
def _expm1_parts(x: float) -> tuple[float, float, int]:
    """(a, b, n) with e^x - 1 = (a + b) 2^n, |b| < |a|; a fit of 2^-61."""
    shifted = x * LOG2_E + SHIFT
    k = shifted - SHIFT
    n = bits_of(shifted) - SHIFT_BITS
    high, low = x - k * LN2_HIGH, k * LN2_LOW
    r = high - low
    low = (high - r) - low
    z = r * r
    z2 = z * z
    p = (0.16666666666666677 + 0.04166666666666668 * r) + (0.008333333333321449 + 0.00138888888888771 * r) * z
    q = (0.00019841269886538442 + 2.480158734180445e-05 * r) + (2.7557243829366857e-06 + 2.7557257891198794e-07 * r) * z
    p = (p + q * z2) + (2.5109160107587853e-08 + 2.091997232217799e-09 * r) * (z2 * z2)
    part = float_of((1023 - (n if n < 64 else 64)) << 52)  # 2^-n
    one = 1.0 - part
    a = one + r
    low = low + ((1.0 - one) - part)
    return a, (r - (a - one)) + (low + (0.5 * z + z * r * p)), n


@kernel
def expm1(x: float) -> float:
    """e^x - 1, within 0.95 ulp near zero too: as `exp`, and the 1 is taken away before the last rounding."""
    x = float(x) * 1.0
    inner = 710.0 if x > 710.0 else x
    inner = -40.0 if inner < -40.0 else inner
    a, b, n = _expm1_parts(inner)
    return x if x == 0.0 else times_power(a + b, n)


@kernel
def tanh(x: float) -> float:
    """The hyperbolic tangent, within 0.85 ulp: m / (m + 2) with m = e^2x - 1, both with their rounding errors."""
    x = float(x) * 1.0
    size = abs(x)
    a, b, n = _expm1_parts(2.0 * (22.0 if size > 22.0 else size))
    scale = float_of((n + 1023) << 52)
    a, b = a * scale, b * scale
    m = a + b
    m_low = b - (m - a)
    under = m + 2.0
    added = under - 2.0
    under_low = (2.0 - (under - added)) + (m - added) + m_low
    return with_sign(quotient(m, m_low, under, under_low), x)


# --- logarithms -------------------------------------------------------------------------------------------------------


@kernel
def _split(x: float) -> tuple[float, float]:
    """(f, k) with x = (1 + f) 2^k and 1 + f in [sqrt(1/2), sqrt(2)), for x > 0."""
    subnormal = x < SMALLEST
    bits = bits_of(x * 18014398509481984.0 if subnormal else x)  # 2^54
    n = (bits - SQRT_HALF_BITS) >> 52
    k = float_of(n + SHIFT_BITS) - SHIFT
    return float_of(bits - (n << 52)) - 1.0, (k - 54.0 if subnormal else k)


@kernel
def _log_sum(f: float, k: float, added: float) -> float:
    """log(1 + f) + k log(2) + added: 2 atanh(f / (2 + f)); a fit of 2^-59."""
    s = f / (2.0 + f)
    z = s * s
    z2 = z * z
    p = (0.6666666666666735 + 0.3999999999941091 * z) + (0.2857142874308595 + 0.22222198511244404 * z) * z2
    q = (0.18183567180934468 + 0.15313984528529356 * z) + 0.14796555698913227 * z2
    p = p + q * (z2 * z2)
    half = 0.5 * f * f
    return k * LN2_HIGH - ((half - (s * (half + z * p) + (k * LN2_LOW + added))) - f)


@kernel
def log(x: float) -> float:
    """The natural logarithm, within 0.95 ulp; -inf at 0, NaN below."""
    x = float(x) * 1.0
    f, k = _split(x)
    y = _log_sum(f, k, 0.0)
    return (y if x < INF else x) if x > 0.0 else (-INF if x == 0.0 else NAN)


@kernel
def log1p(x: float) -> float:
    """log(1 + x), within 0.95 ulp near zero too: what 1 + x loses in rounding is added. -inf at -1, NaN below."""
    x = float(x) * 1.0
    u = 1.0 + x
    f, k = _split(u)
    near = k == 0.0
    lost = x - (u - 1.0)
    lost1 = 1.0 - (u - x)
    lost = lost if x < 1.0 else lost1
    lost = lost / (u if u > 0.0 else 1.0)
    f = x if near else f
    lost = 0.0 if near else lost
    y = _log_sum(f, k, lost)
    y = x if x == 0.0 else y
    return (y if x < INF else x) if x > -1.0 else (-INF if x == -1.0 else NAN)


@kernel
def _log_pair(x: float) -> tuple[float, float]:
    """log(x) for 0 < x < inf as a pair, to 2^-66 of it: the series of `_log_sum` with rounding errors kept; 2^-73."""
    f, k = _split(x)
    under = 2.0 + f
    inverse = 1.0 / under
    s = f / under
    z = s * s
    z2 = z * z
    p = (0.3999999999999998 + 0.2857142857144382 * z) + (0.22222222217797508 + 0.18181818842912723 * z) * z2
    q = (0.15384558505512275 + 0.13336261516808498 * z) + (0.11675840554021999 + 0.11981265666130152 * z) * z2
    p = p + q * (z2 * z2)
    top = upper_digits(s)
    under_top = upper_digits(under)
    rest = ((f - top * under_top) - top * (f - (under_top - 2.0))) * inverse  # s = top + rest
    square = top * top
    square_low = rest * (s + top)
    z = square + square_low
    p = z * p
    # w = z (2/3 + p), then s w
    third = TWO_THIRDS + p
    third_top = upper_digits(third)
    third_low = (p - (third_top - TWO_THIRDS)) + TWO_THIRDS_LOW
    z_top = upper_digits(z)
    z_low = (square - z_top) + square_low
    a = z_top * third_top
    b = z_top * third_low + z_low * third
    w = a + b
    w_top = upper_digits(w)
    w_low = (a - w_top) + b
    a = k * LN2_HIGH
    twice = 2.0 * top
    sum1 = a + twice
    b = top * w_top
    sum2 = sum1 + b
    low = (twice - (sum1 - a)) + (b - (sum2 - sum1))
    low = low + (2.0 * rest + (top * w_low + rest * w) + k * LN2_LOW)
    high = sum2 + low
    return high, low - (high - sum2)


@kernel
def _log_times(x: float, top: float, rest: float) -> float:
    """log(x) (top + rest), with the special values of logarithms."""
    high, low = _log_pair(x)
    high_top = upper_digits(high)
    y = high_top * top + (high_top * rest + (high - high_top + low) * (top + rest))
    return (y if x < INF else x) if x > 0.0 else (-INF if x == 0.0 else NAN)


@kernel
def log2(x: float) -> float:
    """The logarithm to base 2, within 0.55 ulp; exact for powers of 2. Takes 2.5 times the time of `log`."""
    x = float(x) * 1.0
    return _log_times(x, LOG2_E_TOP, LOG2_E_REST)


@kernel
def log10(x: float) -> float:
    """The logarithm to base 10, within 0.55 ulp; exact for powers of 10. Takes 2.5 times the time of `log`."""
    x = float(x) * 1.0
    return _log_times(x, LOG10_E_TOP, LOG10_E_REST)


# --- powers -----------------------------------------------------------------------------------------------------------


@kernel
def _whole(size: float) -> float:
    """1 for whole numbers and inf, else 0; for numbers >= 0."""
    near = (size + WHOLE) - WHOLE
    found = 1.0 if near == size else 0.0
    return 1.0 if size >= WHOLE else found


@kernel
def power(x: float, y: float) -> float:
    """x^y, within 0.9 ulp: e^(y log x), with y log x in twice the digits.

    Special values as in C: 1 where x is 1 or y is 0, even beside NaN; NaN for x < 0 and a broken y.
    """
    x, y = float(x) * 1.0, float(y) * 1.0
    size, times = abs(x), abs(y)
    high, low = _log_pair(size)
    by = 1e30 if y > 1e30 else (-1e30 if y < -1e30 else y)  # far too large for any x but 1, and no overflow on the way
    by_top, high_top = upper_digits(by), upper_digits(high)
    a = by_top * high_top
    b = by_top * (high - high_top + low) + (by - by_top) * (high + low)
    high = a + b
    low = b - (high - a) if abs(high) < 800.0 else 0.0
    high = 710.0 if high > 710.0 else high
    high = -750.0 if high < -750.0 else high
    shifted = high * LOG2_E + SHIFT
    k = shifted - SHIFT
    z = _exp_sum(high - k * LN2_HIGH, k * LN2_LOW - low, bits_of(shifted) - SHIFT_BITS)
    end = (INF if y > 0.0 else 0.0) if size > 1.0 else (0.0 if y > 0.0 else INF)
    z = end if size == 0.0 else z
    z = end if size == INF else z
    whole = _whole(times)
    sign = bits_of(x) & SIGN
    sign = sign if whole > _whole(0.5 * times) else 0  # odd
    z = float_of(bits_of(z) | sign)
    broken = 0.0 if x >= 0.0 else (1.0 - whole if size < INF else 0.0)
    z = NAN if broken > 0.0 else z
    z = z + x if x != x else z
    z = z + y if y != y else z
    z = 1.0 if x == 1.0 else z
    return 1.0 if y == 0.0 else z


@kernel
def hypot(x: float, y: float) -> float:
    """sqrt(x^2 + y^2) without overflow on the way, within 1 ulp; inf where one of them is, even beside NaN."""
    x, y = abs(float(x) * 1.0), abs(float(y) * 1.0)
    a, b = (x if x > y else y), (y if x > y else x)
    scale = SHRINK if a > LARGE else (GROW if a < SMALL else 1.0)
    back = GROW if a > LARGE else (SHRINK if a < SMALL else 1.0)
    a, b = a * scale, b * scale
    a_top, b_top = upper_digits(a), upper_digits(b)
    first, second = a_top * a_top, b_top * b_top
    square = first + second
    rest = (a - a_top) * (a + a_top) + (b - b_top) * (b + b_top)
    z = math.sqrt(square + (rest + (second - (square - first)))) * back
    return INF if x == INF else (INF if y == INF else z)


@kernel
def wrapped(angle: float) -> float:
    """The same direction [rad] in [-pi, pi), to rounding: less whole turns. The angle is finite and below 1e18."""
    return angle - TWO_PI * math.floor(angle / TWO_PI + 0.5)
