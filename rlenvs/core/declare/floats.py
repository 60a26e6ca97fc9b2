"""Bits, halves and quotients of floats, of which `maths` makes its functions.

Products of two numbers of `upper_digits` are exact.
"""

from __future__ import annotations

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

_FLOAT, _SIGNED, _UNSIGNED = struct.Struct("<d"), struct.Struct("<q"), struct.Struct("<Q")


def bits_of(x: float) -> int:
    """The whole number with the same 64 bits as a float64; `rlenvs.core.compiler.bits` compiles it."""
    return int(_SIGNED.unpack(_FLOAT.pack(x))[0])


def float_of(bits: int) -> float:
    """The float64 with the lowest 64 bits of a whole number; `rlenvs.core.compiler.bits` compiles it."""
    return float(_FLOAT.unpack(_UNSIGNED.pack(bits & WORD))[0])


bits_of.made_by = float_of.made_by = "bits.py"  # type: ignore[attr-defined] # which compiles them


@kernel
def upper_digits(x: float) -> float:
    """The upper 26 of the 53 digits of x."""
    return float_of(bits_of(x) & TOP)


@kernel
def with_sign(size: float, sign: float) -> float:
    """A number that is not negative, with the sign of another."""
    return float_of(bits_of(size) | (bits_of(sign) & SIGN))


@kernel
def times_power(x: float, n: int) -> float:
    """x 2^n, in two steps, so that it is rounded once where it is subnormal."""
    half = n >> 1
    return x * float_of((half + 1023) << 52) * float_of((n - half + 1023) << 52)


@kernel
def quotient(a: float, a_low: float, b: float, b_low: float) -> float:
    """(a + a_low) / (b + b_low), within 0.51 ulp: a digit of half the length, then the remainder."""
    first = upper_digits(a / b)
    b_top = upper_digits(b)
    rest = (a - first * b_top) - first * (b - b_top)
    return first + (rest + (a_low - first * b_low)) / b
