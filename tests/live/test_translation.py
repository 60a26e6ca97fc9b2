"""Python that becomes JavaScript gives the same results there."""

import ast
import functools
import inspect
import itertools
import json
import math
from collections import deque
from typing import NamedTuple

import numpy as np
import pytest
from support.node import STATIC, needs_node, run_node

from rlenvs.core import maths
from rlenvs.live.translate import TranslationError
from rlenvs.live.translate.kinds import infer
from rlenvs.live.translate.program import Program
from rlenvs.live.translate.scope import Scope, Source

pytestmark = needs_node
OFFSETS = {"left": (-1, 0), "right": (1, 0)}
TABLE = np.array([[1.5, 2.5, -0.5], [4.0, 5.0, 6.0]])


class Place(NamedTuple):
    x: float
    y: float = 2.0


class Counter:
    def __init__(self, start):
        self.count = start

    def add(self, by=1, *, twice=False):
        self.count += 2 * by if twice else by
        return self.count

    @property
    def shown(self):
        return f"{self.count:03d}"


def run(*functions):
    """What each function returns under node, as Python reads it from JSON."""
    lines = [
        f'import * as py from "{STATIC.as_uri()}/python.js";',
        f'import * as np from "{STATIC.as_uri()}/numpy.js";',
    ]
    for i, function in enumerate(functions):
        text = Program().translate(function, f"made{i}")
        # each in a scope of its own, as in modules of their own
        body, _, name = text.rpartition("export { ")
        lines.append(f"const made{i} = (() => {{ {body} return {name.split()[0]}; }})();")
    names = ", ".join(f"made{i}()" for i in range(len(functions)))
    plain = (
        "const told = (value) => value && value.tolist ? value.tolist() : value && typeof value === 'object'"
        " ? Array.from(py.iter(value), told) : value;"
    )
    return run_node("\n".join([*lines, plain, f"tell([{names}].map(told));"]))


def same(*functions):
    """Node and Python agree on what each function returns."""
    for function, found in zip(functions, run(*functions), strict=True):
        expected = json.loads(json.dumps(plain(function())))
        assert found == expected, inspect.getsource(function)


def plain(value):
    """A value as JSON knows it."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, dict | set | frozenset | tuple | list | deque):
        return [plain(each) for each in value]
    return value


def whole_numbers():
    found = [divmod(a, b) for a in (-7, 7) for b in (-3, 3)]
    return [found, -7 // 2, -7 % 3, 7.5 // -2, -0.5 % 1.0, 2**10, 2**0.5, 5 >> 1, -5 >> 1, 1 << 40, ~5, 6 & 3, 6 ^ 3]


def long_numbers():
    h = (374761393 * 668265263 + 1013904223) & 0x7FFFFFFF
    return [h, (h ^ (h >> 13)) * 1274126177 & 0x7FFFFFFF, (1 << 62) >> 60, (2**62 + 1) % 1000]


def rounding():
    halves = [0.5, 1.5, 2.5, -0.5, -1.5, 2.675, 1e15 + 0.5, 0.49999999999999994]
    return [
        [round(x) for x in halves],
        [round(x, 2) for x in halves],
        int(-2.7),
        int("12"),
        math.floor(-0.5),
        round(-1.2),
    ]


def texts():
    values = [0.125, 2.5, 1234567.891, 1e-7, 0.0, 99.995, -3.14159, 1e22]
    told = [f"{x:.2f} {x:.0f} {x:g} {x:.3g} {x:+.1f} {x:8.3f}| {x:<9.1f}| {x:,.1f} {x:.1e} {x:.1%}" for x in values]
    names = f"{'a':>3}{'b':<3}{'c':^3}{5:03d}{-5:+d}{1000:,}{255:x}{True}{None}{1.0}{0.1 + 0.2}{1e-5 * 1.0}"
    return [
        told,
        names,
        "ab" * 2 + "c",
        "a,b,".replace(",", ";"),
        "-".join(["x", "y"]),
        "Ab".upper(),
        "abc"[-1],
        "abc"[::-1],
    ]


def lists():
    numbers = [3, 1, 2]
    numbers += [5]
    first, *rest = numbers
    numbers[-1] = 7
    pairs = sorted(zip(numbers, "dcba", strict=True), key=lambda pair: pair[1])
    counted = [i * x for i, x in enumerate(numbers, 1) if x != 2]
    return [first, rest, numbers[1:3], numbers[::-1], numbers[-2:], pairs, counted, max(numbers), min(numbers, key=abs)]


def choices():
    none, empty = None, []
    return [1 < 2 <= 2, 1 == 1.0, empty or "b", none is None, 3 in (1, 2), not empty, (1, 2) == (1, 2), (1, 3) > (1, 2)]


def dictionaries():
    found = {(0, 1): "a", "k": 2, 3: [1]}
    found[0, 1] = "b"
    more = {**found, "z": 0}
    return [list(more), list(more.values()), more.get("none", 5), (0, 1) in more, OFFSETS["left"], sorted({3, 1, 2})]


def nested():
    total = 0

    def add(x, times=2):
        return x * times + total

    for i in range(3):
        total += i
    found = [add(i, times=3) for i in range(2)]
    while total > 0:
        total -= 2
        if total == 1:
            break
    return [
        found,
        total,
        *(x for x in (1, 2)),
        [(a, b) for a in range(2) for b in range(a)],
        any(x > 1 for x in (1, 2)),
    ]


def numbers_in_turn():
    yield 0
    yield 1
    yield from (5, 6)


def with_yield():
    return list(numbers_in_turn())


def objects():
    place, counter = Place(1.0), Counter(3)
    x, y = place
    counter.add(twice=True)
    add = counter.add
    return [place.y, x, y, place[0], len(place), counter.add(), add(2), counter.shown, Place(y=5.0, x=4.0)]


def star(first, *rest, last=1):
    return [first, list(rest), last]


def stars():
    return [star(1), star(1, 2, 3, last=4), star(1, *[2, 3]), max(*[1, 5], 2)]


def queues():
    queue = deque([1, 2])
    queue.append(3)
    return [queue.popleft(), list(queue), list(itertools.pairwise([1, 2, 3])), functools.partial(math.pow, 2)(5)]


def matched():
    found = []
    for word in ("a", "b", "c"):
        match word:
            case "a":
                found.append(1)
            case "b":
                found.append(2)
    return found


def exact_functions():
    angles = [0.1 * k - 3.0 for k in range(60)] + [1e6, 123456.789]
    found = [
        [maths.sin(x), maths.cos(x), maths.atan2(x, 0.7), maths.exp(1e-5 * x), maths.hypot(x, 2.0)] for x in angles
    ]
    return [
        found,
        [maths.log(x * x + 0.1) for x in angles],
        [math.hypot(x, 1.5) for x in angles],
        math.remainder(7.0, 2.0),
    ]


def arrays():
    part, order = TABLE[:, 1], np.array([2, 0])
    return [
        [TABLE.shape, TABLE.T, part, TABLE[1], TABLE[-1, 0], TABLE[:, ::-1], TABLE[:, order], TABLE[TABLE > 2.0]],
        [TABLE.sum(), TABLE.sum(axis=0), TABLE.max(axis=1), TABLE.mean(), (TABLE > 0).all(), part.tolist()],
        [TABLE * 2 - part[:, None], TABLE @ np.array([1.0, 2.0, 3.0]), TABLE @ TABLE.T, -TABLE, 1.0 / TABLE],
        [
            np.where(TABLE > 2, TABLE, 0.0),
            np.clip(TABLE, 0, 5),
            np.stack([part, part], axis=1),
            np.arange(0.0, 1.0, 0.25),
        ],
        [np.concatenate([TABLE, TABLE * 2]), np.flatnonzero(part > 3), np.argwhere(TABLE > 4.5), np.hypot(part, 1.0)],
        [np.add.reduceat(np.arange(10.0), [0, 3, 7]), np.roll(part, 1), np.round(TABLE, 0), np.linalg.norm(part)],
        [TABLE.reshape(-1, 2), TABLE[None].shape, TABLE[..., 0], np.cross(TABLE[0], TABLE[1]), np.isin(part, [5.0])],
        [
            np.linspace(0.0, 1.0, 7),
            np.linspace((0.0, 1.0), (2.0, 4.0), 5),
            (TABLE > 2).nonzero(),
            np.ptp(TABLE, axis=0),
        ],
    ]


def more_arrays():
    part, truths = TABLE[0], TABLE > 2.0
    return [
        [
            np.abs(part),
            np.sign(part),
            np.floor(part),
            np.ceil(part),
            np.sqrt(TABLE[1]),
            np.degrees(part),
            np.radians(90.0),
        ],
        [
            np.isfinite(part),
            np.isnan(part),
            np.add(part, 1),
            np.subtract(1, part),
            np.multiply(part, 2),
            np.divide(part, 2),
        ],
        [
            np.minimum(part, 1.0),
            np.maximum(part, [2, 2, 2]),
            np.logical_and(truths, TABLE < 5),
            np.array_equal(part, part),
        ],
        [np.sum(TABLE), np.max(TABLE, axis=0), np.min(TABLE), np.any(truths), np.all(truths, axis=1), np.mean(part)],
        [np.argmax(part), np.argmin(part), np.argsort(part), np.cumsum(part), np.count_nonzero(truths), np.sort(part)],
        [
            np.unique([3, 1, 3]),
            np.full((2, 2), 7),
            np.ones(2),
            np.hstack([part, part]),
            np.atleast_2d(part),
            np.float64(2),
        ],
        [
            np.meshgrid([1, 2], [3, 4, 5]),
            np.interp([0.5, 9.0], [0, 1, 2], [0, 10, 40]),
            np.reshape(TABLE, (3, 2)),
            np.int64(2.7),
        ],
        [
            np.lexsort(([2, 1, 0, 1], [0, 0, 1, 0])),
            np.nonzero(truths),
            np.roll(TABLE, 1, axis=0),
            TABLE.flat[4],
            ~truths,
        ],
        [truths | (TABLE < 0), truths & (TABLE < 5), TABLE.astype(int), TABLE[[1, 0]], TABLE[np.array([True, False])]],
    ]


def changed_arrays():
    made = np.zeros((2, 3))
    made[0] = 1.0
    made[:, 2] = np.array([7.0, 8.0])
    made[1, :2] = (4, 5)
    made[made > 7.5] = -1.0
    kept = made.astype(int)
    made *= 2.0
    return [made, kept, [row.tolist() for row in made]]


def test_results_are_those_of_python():
    same(whole_numbers, long_numbers, rounding, texts, lists, choices, dictionaries, nested, with_yield, objects, stars)
    same(queues, matched, exact_functions, arrays, more_arrays, changed_arrays)


def with_try():
    try:
        return 1
    finally:
        pass


def with_file():
    return open(__file__)


def with_unknown():
    return np.fft.fft([1.0])


def with_part_of_function():
    return np.maximum.at([1.0], 0, 2.0)


@pytest.mark.parametrize("function", [with_try, with_file, with_unknown, with_part_of_function])
def test_what_cannot_be_translated_is_refused_with_its_place(function):
    line = inspect.getsourcelines(function)[1] + 1
    with pytest.raises(TranslationError, match=rf"test_translation\.py:{line}: "):
        Program().translate(function, "made")


def test_kinds_are_found_in_the_order_of_the_source():
    """A set of names has another order in each process, and the translation would be another one."""
    names = ["north", "east", "south", "west", "up", "down", "left", "right"]
    [function] = ast.parse("def move():\n" + "".join(f"    {name} = 1\n" for name in names)).body
    scope = Scope(Source("", 1, {}), set(names))
    infer(scope, function.args, function.body)
    assert list(scope.kinds) == names
