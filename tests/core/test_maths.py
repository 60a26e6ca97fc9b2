import math
import struct
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numba import njit
from support.function_errors import GREATEST, INF, LEAST, NAMES, NAN, OF_ONE, PI, bound, columns, evaluate, worst_error

from rlenvs.core import maths


def plain(name, x, y=None):
    function = getattr(maths, name)
    return np.array([function(*each) for each in (zip(x) if y is None else zip(x, y, strict=True))])


def bits(values):
    """The bits of numbers; those of all NaNs are equal."""
    values = np.array(values, np.float64)
    values[np.isnan(values)] = np.nan
    return values.view(np.int64)


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_errors_are_within_the_stated_bounds(name):
    limit = bound(name)
    worst, where = worst_error(name)
    assert worst <= limit <= 1, where


def test_whole_results_are_exact():
    exponents = np.arange(-1074.0, 1024.0)
    powers = np.ldexp(1.0, exponents.astype(int))
    assert (evaluate("exp2", exponents) == powers).all()
    assert (evaluate("log2", powers) == exponents).all()
    assert (evaluate("log10", [float(f"1e{n}") for n in range(23)]) == np.arange(23)).all()
    base, exponent = (each.ravel().astype(float) for each in np.meshgrid(np.arange(-30, 31), np.arange(10)))
    assert (evaluate("power", base, exponent) == base**exponent).all()
    assert (evaluate("hypot", [3.0, 5e200, 8e-320], [4.0, 12e200, 15e-320]) == [5.0, 13e200, 17e-320]).all()


# --- special values ---------------------------------------------------------------------------------------------------

ODD = {"sin": NAN, "tan": NAN, "asin": NAN, "atan": PI / 2, "tanh": 1.0, "expm1": INF, "log1p": INF}  # at inf
SPECIAL = [
    *((name, (zero,), zero) for name in ODD for zero in (0.0, -0.0)),
    *((name, (LEAST * sign,), LEAST * sign) for name in ODD for sign in (1, -1)),
    *((name, (INF,), end) for name, end in ODD.items()),
    *((name, (-INF,), -ODD[name]) for name in ("sin", "tan", "asin", "atan", "tanh")),
    *((name, (NAN,), NAN) for name in OF_ONE),
    *((name, arguments, NAN) for name in ("atan2", "hypot") for arguments in ((NAN, 1.0), (0.0, NAN), (NAN, NAN))),
    *((name, (x,), NAN) for name in ("asin", "acos") for x in (1.0000000000000002, -2.0, GREATEST, -INF)),
    *((name, (x,), NAN) for name in ("log", "log2", "log10") for x in (-LEAST, -1.0, -INF)),
    *((name, (zero,), -INF) for name in ("log", "log2", "log10") for zero in (0.0, -0.0)),
    *((name, (INF,), INF) for name in ("log", "log2", "log10", "exp", "exp2")),
    *((name, (-INF,), 0.0) for name in ("exp", "exp2")),
    *((name, (GREATEST,), INF) for name in ("exp", "exp2", "expm1")),
    *((name, (-GREATEST,), 0.0) for name in ("exp", "exp2")),
    *((name, (zero,), 1.0) for name in ("exp", "exp2", "cos") for zero in (0.0, -0.0)),
    *((name, (1.0,), 0.0) for name in ("log", "log2", "log10", "acos")),
    ("cos", (INF,), NAN),
    ("cos", (-INF,), NAN),
    ("acos", (INF,), NAN),
    ("acos", (-1.0,), PI),
    ("acos", (-0.0,), PI / 2),
    ("asin", (1.0,), PI / 2),
    ("asin", (-1.0,), -PI / 2),
    ("expm1", (-INF,), -1.0),
    ("expm1", (-GREATEST,), -1.0),
    ("log1p", (-1.0,), -INF),
    ("log1p", (-1.0000000000000002,), NAN),
    ("log1p", (-INF,), NAN),
    ("exp", (1.0,), math.e),
    ("tanh", (-GREATEST,), -1.0),
    # atan2(y, x): zeros, infinities, quadrants
    *(("atan2", (zero, x), zero) for zero in (0.0, -0.0) for x in (0.0, LEAST, 1.0, INF)),
    *(("atan2", (zero, x), math.copysign(PI, zero)) for zero in (0.0, -0.0) for x in (-0.0, -LEAST, -1.0, -INF)),
    *(("atan2", (y, zero), math.copysign(PI / 2, y)) for y in (LEAST, -2.0, INF) for zero in (0.0, -0.0)),
    *(("atan2", (y, x), math.copysign(PI / 2, y)) for y in (INF, -INF) for x in (1.0, -GREATEST)),
    *(("atan2", (y, INF), math.copysign(0.0, y)) for y in (GREATEST, -1.0)),
    *(("atan2", (y, -INF), math.copysign(PI, y)) for y in (GREATEST, -1.0)),
    *(("atan2", (y, a), math.copysign(PI / 4, y)) for a in (INF, LEAST, GREATEST) for y in (a, -a)),
    *(("atan2", (y, -a), math.copysign(3 * PI / 4, y)) for a in (INF, LEAST, GREATEST) for y in (a, -a)),
    # hypot
    *(("hypot", pair, INF) for pair in ((INF, NAN), (NAN, -INF), (-INF, 0.0), (1.0, INF), (GREATEST, GREATEST))),
    *(("hypot", (a, b), 0.0) for a in (0.0, -0.0) for b in (0.0, -0.0)),
    ("hypot", (-LEAST, 0.0), LEAST),
    ("hypot", (0.0, -GREATEST), GREATEST),
    # powers, in the order of C's Annex F
    *(("power", (0.0 * sign, -3.0), INF * sign) for sign in (1, -1)),
    *(("power", (zero, y), INF) for zero in (0.0, -0.0) for y in (-2.0, -0.5, -LEAST, -INF)),
    *(("power", (zero, 3.0), zero) for zero in (0.0, -0.0)),
    *(("power", (zero, y), 0.0) for zero in (0.0, -0.0) for y in (2.0, 0.5, LEAST, INF)),
    *(("power", (-1.0, y), 1.0) for y in (INF, -INF)),
    *(("power", (1.0, y), 1.0) for y in (NAN, INF, -INF, GREATEST)),
    *(("power", (x, zero), 1.0) for x in (NAN, INF, -INF, 0.0, -2.0) for zero in (0.0, -0.0)),
    *(("power", (x, y), NAN) for x in (-LEAST, -1.0, -GREATEST) for y in (0.5, -LEAST, NAN, 4503599627370495.5)),
    *(("power", (x, INF), 0.0) for x in (0.0, -0.5, 0.9999999999999999)),
    *(("power", (x, INF), INF) for x in (1.0000000000000002, -2.0, -INF)),
    *(("power", (x, -INF), INF) for x in (0.0, -0.5, 0.9999999999999999)),
    *(("power", (x, -INF), 0.0) for x in (1.0000000000000002, -2.0, INF)),
    *(("power", (-INF, y), result) for y, result in ((-3.0, -0.0), (-2.0, 0.0), (-0.5, 0.0), (3.0, -INF), (0.5, INF))),
    *(("power", (INF, y), INF if y > 0 else 0.0) for y in (LEAST, -LEAST, 3.0, -GREATEST)),
    *(("power", (NAN, y), NAN) for y in (1.0, INF)),
    ("power", (2.0, NAN), NAN),
    ("power", (-3.0, 9007199254740991.0), -INF),
    ("power", (-3.0, 9007199254740992.0), INF),
    ("power", (-3.0, -9007199254740991.0), -0.0),
    ("power", (-1.0, 9007199254740991.0), -1.0),
    ("power", (-1.0, 4503599627370497.0), -1.0),
    ("power", (2.0, -1074.0), LEAST),
    ("power", (2.0, 1024.0), INF),
    ("power", (LEAST, 1.0), LEAST),
]


def test_special_values():
    for name, arguments, expected in SPECIAL:
        for got in (getattr(maths, name)(*arguments), evaluate(name, *([each] for each in arguments))[0]):
            assert isinstance(got, float)
            assert bits(got) == bits(expected), (name, arguments, got, expected)


# --- the same bits everywhere -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_compiled_and_plain_are_equal_in_every_bit(name):
    arguments = columns(name, seed=1, count=150)
    assert (bits(evaluate(name, *arguments)) == bits(plain(name, *arguments))).all()


floats = st.floats() | st.floats(-20, 20) | st.floats(0.4, 2.5)


@settings(max_examples=300, deadline=None)
@given(floats, floats)
@example(131072.0, NAN)
@example(-0.0, INF)
def test_any_floats_give_the_same_bits_in_both_forms(x, y):
    for name in NAMES:
        arguments = (x,) if name in OF_ONE else (x, y)
        assert bits(getattr(maths, name)(*arguments)) == bits(evaluate(name, *([each] for each in arguments)))[0], name


@settings(max_examples=300, deadline=None)
@given(floats, floats)
def test_symmetries(x, y):
    for name in ("sin", "tan", "asin", "atan", "tanh"):
        assert bits(getattr(maths, name)(-x)) == bits(-getattr(maths, name)(x)), name
    assert bits(maths.cos(-x)) == bits(maths.cos(x))
    assert bits(maths.atan2(-y, x)) == bits(-maths.atan2(y, x))
    assert bits(maths.atan(x)) == bits(maths.atan2(x, 1.0)) or abs(maths.atan(x) - maths.atan2(x, 1.0)) < 3e-16
    assert bits(maths.hypot(x, y)) == bits(maths.hypot(-y, x))
    assert bits(maths.power(-x, 2.0)) == bits(maths.power(x, 2.0))
    assert bits(maths.sin_cos(x)).tolist() == bits((maths.sin(x), maths.cos(x))).tolist()


@given(st.floats(2.0**-1021, GREATEST))
def test_powers_of_one_change_nothing(x):
    assert maths.power(x, 1.0) == x


@given(floats)
def test_results_stay_in_their_ranges(x):
    for name, low, high in (
        ("sin", -1, 1),
        ("cos", -1, 1),
        ("tanh", -1, 1),
        ("atan", -PI / 2, PI / 2),
        ("exp", 0, INF),
    ):
        got = getattr(maths, name)(x)
        assert got != got or low <= got <= high, name


@pytest.mark.parametrize("function", [maths.wrapped, njit(maths.wrapped)], ids=["plain", "compiled"])
def test_directions_lose_whole_turns(function):
    assert function(PI) == function(-PI) == -PI
    for angle in np.linspace(-50.0, 50.0, 401):
        near = function(angle)
        assert -PI - 1e-14 <= near < PI
        assert near == pytest.approx(math.remainder(angle, 2 * PI), abs=1e-14)
    assert function(0.75) == 0.75


def test_other_types_of_numbers():
    @njit(error_model="numpy")
    def both(x, y):
        return maths.sin(x), maths.power(x, y), maths.sin_cos(x)

    for x, y in ((3, 5), (np.float32(0.1), np.float32(0.7)), (np.float64(0.1), -2), (np.int64(7), np.float32(0.3))):
        expected = maths.sin(float(x)), maths.power(float(x), float(y)), maths.sin_cos(float(x))
        assert both(x, y) == expected == (maths.sin(x), maths.power(x, y), maths.sin_cos(x))
        for name in NAMES:
            assert type(getattr(maths, name)(*((x,) if name in OF_ONE else (x, y)))) is float


def test_bits():
    @njit
    def there(x):
        return maths.bits_of(x)

    @njit
    def back(whole):
        return maths.float_of(whole)

    for x in (0.0, -0.0, 1.5, -LEAST, INF, -INF, NAN, 1, np.float32(0.1), np.float64(-2.5)):
        whole = struct.unpack("<q", struct.pack("<d", x))[0]
        assert maths.bits_of(x) == there(x) == whole
        for got in (maths.float_of(whole), back(whole), maths.float_of(whole + 2**64), maths.float_of(whole - 2**64)):
            assert type(got) is float
            assert struct.pack("<d", got) == struct.pack("<d", x)


def test_numba_is_not_imported():
    code = "import sys, rlenvs.core.declare.maths as maths; maths.sin(1.0); sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
