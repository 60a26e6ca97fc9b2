"""How far the elementary functions are from the true values: points to try them at, and a measure of the error."""

import functools
import math
import re
import sys

import mpmath
import numpy as np
from mpmath import mpf
from numba import njit

import rlenvs.core.compiler.bits  # noqa: F401  so that kernels compile
from rlenvs.core import maths
from rlenvs.core.compiler.build import _compilable
from rlenvs.core.compiler.intermediate import make_compilable
from rlenvs.core.declare import floats, trigonometry
from rlenvs.core.declare.kernels import marked

HOMES = {module.__name__ for module in (floats, trigonometry, maths)}
for function in marked:
    if function.__module__ in HOMES and function not in _compilable:
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


def points(name, seed=0, count=500):
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
        edges = near([trigonometry.FAR, PI / 4, PI / 2, PI, 2 * PI], 5)
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


def worst_error(name, **options):
    """The largest error [ulp] over the function's points, and the arguments where it occurs."""
    arguments = columns(name, **options)
    worst = 0.0, ()
    for *each, got in zip(*arguments, evaluate(name, *arguments), strict=True):
        found = error(float(got), true(name, [mpf(float(number)) for number in each]))
        worst = max(worst, (found, tuple(each)))
    return worst
