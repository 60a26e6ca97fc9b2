"""Elementary functions for kernels: the same bits on every processor, compiled or not.

The library of C rounds sines and exponentials differently from one system to the next, so a seed would not give the
same episode everywhere. What follows is made of +, -, *, /, square roots and moves of bits alone, which IEEE 754
defines to the last bit; the order of operations in the source is the definition. Bounds of errors are in ulp, the
distance between the two floats around the true value, and hold for all arguments. NaN stands for what is not defined,
as in C; which of the many NaNs it is, is left open. Nothing raises.

How it is written: selections are conditional expressions on values that are there already, so that compilers turn them
into masks; `if` leads to what is rare. `_top(x)` has half the digits of x, so that products of two of them are exact:
that is how rounding errors become numbers. Pairs (high, low) stand for the sum of both. Polynomials are minimax fits of
our own (least squares with Lawson's weights in 240 bits, coefficients rounded one after another), evaluated after
Estrin; "a fit of 2^-58" says how near they come to the function, relative to it. Arguments are reduced after Cody and
Waite, and Payne and Hanek.
"""

from __future__ import annotations

import math
import struct

from rlenvs.core.declare.kernels import kernel

INF = float("inf")
NAN = float("nan")

FRACTION, LEADING = 2**52 - 1, 2**52  # the digits of a float, but for its first
SIGN = -(2**63)  # the bit of the sign, as a signed number
WORD = 2**64 - 1
TOP = -(2**27)  # all but the lower half of the digits

SHIFT = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to whole numbers, which its lowest bits then are
SHIFT_BITS = 4843621399236968448
WHOLE = 4503599627370496.0  # 2^52: floats from here on are whole numbers
SMALLEST = 2.2250738585072014e-308  # 2^-1022: floats below have fewer digits
LARGE, SMALL = 2.0**500, 2.0**-500
GROW, SHRINK = 2.0**600, 2.0**-600

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
UNIT_1, UNIT_2, UNIT_3 = 2.0**-50, 2.0**-90, 2.0**-138

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
SIXTH = 0.16666666666666666
TWO_THIRDS = 0.6666666666666666
TWO_THIRDS_LOW = 3.700743415417188e-17

_FLOAT, _SIGNED, _UNSIGNED = struct.Struct("<d"), struct.Struct("<q"), struct.Struct("<Q")


# --- bits -------------------------------------------------------------------------------------------------------------


def bits_of(x: float) -> int:
    """The whole number with the same 64 bits as a float64; `rlenvs.core.compiler.bits` compiles it."""
    return int(_SIGNED.unpack(_FLOAT.pack(x))[0])


def float_of(bits: int) -> float:
    """The float64 with the lowest 64 bits of a whole number; `rlenvs.core.compiler.bits` compiles it."""
    return float(_FLOAT.unpack(_UNSIGNED.pack(bits & WORD))[0])


bits_of.made_by = float_of.made_by = "bits.py"  # type: ignore[attr-defined] # which compiles them


@kernel
def _top(x: float) -> float:
    """The upper 26 of the 53 digits of x."""
    return float_of(bits_of(x) & TOP)


@kernel
def _signed(size: float, sign: float) -> float:
    """A number that is not negative, with the sign of another."""
    return float_of(bits_of(size) | (bits_of(sign) & SIGN))


@kernel
def _scaled(x: float, n: int) -> float:
    """x 2^n, in two steps, so that it is rounded once where it is subnormal."""
    half = n >> 1
    return x * float_of((half + 1023) << 52) * float_of((n - half + 1023) << 52)


@kernel
def _quotient(a: float, a_low: float, b: float, b_low: float) -> float:
    """(a + a_low) / (b + b_low), within 0.51 ulp: a digit of half the length, then the remainder."""
    first = _top(a / b)
    b_top = _top(b)
    rest = (a - first * b_top) - first * (b - b_top)
    return first + (rest + (a_low - first * b_low)) / b


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
    top = _top(high)
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
    top = _top(r)
    square_low = (top * top - r * r) + (r - top) * (r + top)
    sine_low = a - (sine - r) - SIXTH * r * square_low
    cosine_low = c - (cosine - b) - 0.5 * square_low
    odd = quadrant & 1
    over = cosine if odd != 0 else sine
    over_low = cosine_low if odd != 0 else sine_low
    under = sine if odd != 0 else cosine
    under_low = sine_low if odd != 0 else cosine_low
    size = _quotient(over, over_low, under, under_low)
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
    top = _top(root)
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
    return _signed(angle, x) if size <= 1.0 else NAN


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
    return _signed(_arc_tangent(t, base, low), x)


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
    top = _top(t)
    under_top = _top(under)
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
    return _signed(_arc_tangent(t, base, base_low + (low - low * (t * t))), y)


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
    return _scaled(y + ((r - (y - 1.0)) + (low + z * p)), n)


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
    top = _top(part)
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
    return x if x == 0.0 else _scaled(a + b, n)


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
    return _signed(_quotient(m, m_low, under, under_low), x)


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
    top = _top(s)
    under_top = _top(under)
    rest = ((f - top * under_top) - top * (f - (under_top - 2.0))) * inverse  # s = top + rest
    square = top * top
    square_low = rest * (s + top)
    z = square + square_low
    p = z * p
    # w = z (2/3 + p), then s w
    third = TWO_THIRDS + p
    third_top = _top(third)
    third_low = (p - (third_top - TWO_THIRDS)) + TWO_THIRDS_LOW
    z_top = _top(z)
    z_low = (square - z_top) + square_low
    a = z_top * third_top
    b = z_top * third_low + z_low * third
    w = a + b
    w_top = _top(w)
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
    high_top = _top(high)
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
    by_top, high_top = _top(by), _top(high)
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
    a_top, b_top = _top(a), _top(b)
    first, second = a_top * a_top, b_top * b_top
    square = first + second
    rest = (a - a_top) * (a + a_top) + (b - b_top) * (b + b_top)
    z = math.sqrt(square + (rest + (second - (square - first)))) * back
    return INF if x == INF else (INF if y == INF else z)


@kernel
def wrapped(angle: float) -> float:
    """The same direction [rad] in [-pi, pi), to rounding: less whole turns. The angle is finite and below 1e18."""
    return angle - TWO_PI * math.floor(angle / TWO_PI + 0.5)
