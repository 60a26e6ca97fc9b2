import functools
import math
import re
import struct
import subprocess
import sys

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mpmath import mpf
from numba import njit

import rlenvs.core.bits  # noqa: F401  so that kernels compile
from rlenvs.core import maths
from rlenvs.core.build import _compilable
from rlenvs.core.intermediate import make_compilable
from rlenvs.core.kernels import marked

for function in marked:
    if function.__module__ == maths.__name__ and function not in _compilable:
        make_compilable(function)
        _compilable.add(function)

OF_ONE = ["sin", "cos", "tan", "asin", "acos", "atan", "tanh", "exp", "exp2", "expm1", "log", "log1p", "log2", "log10"]
OF_TWO = ["atan2", "power", "hypot"]
NAMES = [*OF_ONE, *OF_TWO]
INF, NAN, PI = math.inf, math.nan, math.pi
GREATEST, LEAST = sys.float_info.max, 5e-324


@functools.cache
def compiled():
    """All functions in one loop, which compiles them once: (which of NAMES, x, y, results)."""
    calls = [f"maths.{name}(x[i])" for name in OF_ONE] + [f"maths.{name}(x[i], y[i])" for name in OF_TWO]
    lines = [f"        if which == {n}:\n            out[i] = {call}\n" for n, call in enumerate(calls)]
    scope = {"maths": maths}
    exec("def evaluate(which, x, y, out):\n    for i in range(x.size):\n" + "".join(lines), scope)
    return njit("(int64, float64[::1], float64[::1], float64[::1])", error_model="numpy")(scope["evaluate"])


def evaluate(name, x, y=None):
    x = np.ascontiguousarray(x, np.float64)
    out = np.empty(x.size)
    compiled()(NAMES.index(name), x, x if y is None else np.ascontiguousarray(y, np.float64), out)
    return out


def plain(name, x, y=None):
    function = getattr(maths, name)
    return np.array([function(*each) for each in (zip(x) if y is None else zip(x, y, strict=True))])


def bits(values):
    """The bits of numbers; those of all NaNs are equal."""
    values = np.array(values, np.float64)
    values[np.isnan(values)] = np.nan
    return values.view(np.int64)


# --- errors -----------------------------------------------------------------------------------------------------------


def points(name, seed=0, count=1500):
    """Columns of arguments: where a function is used, where its method changes, and where it ends."""
    rng = np.random.default_rng([seed, NAMES.index(name)])

    def flat(low, high):
        return rng.uniform(low, high, count)

    def sizes(low, high, signed=True):
        """Numbers whose exponents are uniform."""
        with np.errstate(under="ignore"):
            found = 2.0 ** rng.uniform(low, high, count)
        return found * rng.choice([-1.0, 1.0], count) if signed else found

    def near(places, distance=3):
        """Floats some steps away from given ones."""
        found = rng.choice(np.array(places, np.float64), count)
        return (found.view(np.int64) + rng.integers(-distance, distance + 1, count)).view(np.float64)

    tiny, every = sizes(-1074, -1), sizes(-1074, 1023.99)
    positive = sizes(-1022, 1023.99, signed=False)
    subnormal = sizes(-1074, -1022, signed=False)
    wide = 10**12
    if name in ("sin", "cos", "tan"):
        quarters = np.arange(1, 160_000) * (PI / 4)
        edges = near([maths.FAR, PI / 4, PI / 2, PI, 2 * PI], 5)
        hard = [6381956970095103.0 * 2.0**797, 6411027962775774.0 * 2.0**-47, 5520028710995367.0 * 2.0**-34]
        turns = [near(quarters), near(quarters, 10**5), near(quarters[:8], wide), near(hard, 1), edges]
        ranges = [flat(-4, 4), flat(-1e3, 1e3), flat(-131072, 131072), sizes(17, 40), sizes(17, 1023.99), tiny]
        return np.concatenate([*ranges, *turns])
    if name in ("asin", "acos"):
        return np.concatenate(
            [flat(-1, 1), 1 - sizes(-53, 0, False), sizes(-53, 0, False) - 1, near([0.5, -0.5], wide), tiny]
        )
    if name == "atan":
        edges = near([0.5625, 2.4142135623730951, 0.53], 2 * 10**14)
        return np.concatenate([flat(-4, 4), edges, near([0.5625, 2.4142135623730951]), tiny, every])
    if name == "tanh":
        return np.concatenate([flat(-1, 1), flat(-23, 23), flat(-0.36, 0.36), tiny, sizes(-3, 1000)])
    if name in ("exp", "exp2", "expm1"):
        unit = 1.0 if name == "exp2" else math.log(2)
        ends = [flat(-746, -707), flat(709, 709.8)] if unit < 1 else [flat(-1076, -1021), flat(1023, 1024.1)]
        halves = near((np.arange(-1000, 1000) + 0.5) * unit, 10**6)
        around = near([-0.5 * unit, 0.5 * unit, 1.5 * unit], wide)
        return np.concatenate([flat(-1, 1), flat(-700, 700), flat(-40, 40), halves, around, tiny, *ends])
    if name in ("log", "log2", "log10"):
        return np.concatenate(
            [positive, subnormal, flat(0.5, 2), flat(0, 10), near([2**0.5, 0.5**0.5], wide), 1 + sizes(-53, -3)]
        )
    if name == "log1p":
        edges = near([2**0.5 - 1, 0.5**0.5 - 1], wide)
        return np.concatenate(
            [flat(-1, 1), flat(-0.4, 0.5), flat(0, 10), edges, sizes(-53, 0, False) - 1, tiny, positive]
        )
    if name == "atan2":
        y, x = sizes(-40, 40), flat(0.9, 1.1)
        pairs = [(flat(-1, 1), flat(-1, 1)), (every, sizes(-1074, 1023.99)), (y, y * near([0.5625, 2.414], wide) * x)]
        pairs += [(sizes(-1074, -1020), sizes(-1074, -1020)), (sizes(1020, 1023.99), sizes(1020, 1023.99))]
        pairs += [(sizes(-1022, -960), sizes(-60, 60)), (y, sizes(-1030, 1000))]
        return np.concatenate(pairs, axis=1)
    if name == "hypot":
        y = sizes(-1000, 1000)
        pairs = [(flat(-1, 1), flat(-1, 1)), (sizes(-1074, 1023), sizes(-1074, 1023)), (y, y * flat(0.3, 3))]
        pairs += [(sizes(-1074, -1020), sizes(-1074, -1020)), (sizes(1020, 1023.4), sizes(1020, 1023.4))]
        pairs += [(sizes(499, 501), sizes(490, 501)), (sizes(-501, -499), sizes(-502, -490)), (y, y * sizes(-30, 0))]
        return np.concatenate(pairs, axis=1)
    base, close = flat(0.5, 3), 1 + sizes(-45, -2)
    pairs = [(flat(0, 10), flat(-10, 10)), (positive, flat(-745, 709.7) / np.log(positive)), (subnormal, flat(-1, 1))]
    pairs += [(close, flat(-740, 709) / np.log1p(close - 1)), (base, flat(690, 709.7) / np.log(base))]
    pairs += [(base, flat(-745, -708) / np.log(base)), (-flat(0, 10), rng.integers(-20, 20, count).astype(float))]
    pairs += [
        (flat(1.35, 1.41421), flat(1900, 2040)),
        (every, rng.integers(-3, 4, count) / 1.0),
        (positive, sizes(-60, -9)),
    ]
    return np.concatenate(pairs, axis=1)


def columns(name, **options):
    found = points(name, **options)
    return tuple(found) if found.ndim == 2 else (found,)


TRUE = {
    "asin": lambda x: mpmath.asin(x),
    "exp2": lambda x: mpmath.power(2, x),
    "log2": lambda x: mpmath.log(x) / mpmath.log(2),
    "log10": lambda x: mpmath.log(x) / mpmath.log(10),
}


def true(name, arguments):
    """The true value, to far more digits than a float has."""
    x = arguments[0]
    scale = max(0, mpmath.frexp(x)[1]) if name in ("sin", "cos", "tan") else 0
    with mpmath.workprec(190 + scale):
        if name in ("tanh", "expm1", "log1p") and abs(x) < 1e-20:  # mpmath's own lose digits
            return x + {"tanh": -(x**3) / 3, "expm1": x * x / 2, "log1p": -x * x / 2}[name]
        return TRUE.get(name, getattr(mpmath, name, None))(*arguments)


TRUE["power"] = mpmath.power


def error(got, expected):
    """The error in ulp, where what is beyond the greatest float counts as twice that float."""
    spacing = mpf(2) ** max(mpmath.frexp(expected)[1] - 53, -1074) if expected else mpf(2) ** -1074
    if math.isinf(got):
        assert (got > 0) == (expected > 0)
        return max(0.0, float((mpf(2) ** 1024 - abs(expected)) / mpf(2) ** 971))
    return float(abs(mpf(got) - expected) / spacing)


def bound(name):
    """What the doc string says."""
    return float(re.search(r"within ([\d.]+) ulp", getattr(maths, name).__doc__).group(1))


@pytest.mark.parametrize("name", NAMES)
def test_errors_are_within_the_stated_bounds(name):
    arguments = columns(name)
    found = evaluate(name, *arguments)
    limit = bound(name)
    assert limit <= 1
    for *each, got in zip(*arguments, found, strict=True):
        worst = error(float(got), true(name, [mpf(float(number)) for number in each]))
        assert worst <= limit, (name, each, got)


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
    code = "import sys, rlenvs.core.maths as maths; maths.sin(1.0); sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
