"""A small world for tests of lanes: its worlds take different ways through every kind of branch and loop."""

import math

from rlenvs.core import (
    below,
    block,
    choice,
    continuous,
    cost,
    f4,
    f8,
    i4,
    i8,
    integer,
    kernel,
    param,
    prefetch,
    term,
    u1,
    uniform,
    world,
)

WEIGHTS = (0.5, -1.0, 2.0, 0.25, 3.0)

SPEC = world(
    "Crossroads-v0",
    doc=__doc__,
    params={"pull": param(0.5, 0.0, 2.0, "", "how far a step goes"), "limit": param(6.0, 2.0, 9.0, "", "of loops")},
    options={"width": integer(4, 1, 8, "of the table"), "way": choice("up", "down", doc="which way")},
    sizes=lambda values: {"width": values.width},
    data={"heights": f8("width")},
    state={
        "x": f8,
        "half": f4,
        "count": i8,
        "mark": i4,
        "lamps": u1(3),
        "table": f8("width", 3),
        "row": f8("width"),
        "found": i8,
        "draws": f8,
    },
    observation={
        "x": block(low=-100.0, high=100.0),
        "row": block("width", low=-100.0, high=100.0),
        "lamps": block(3, low=0.0, high=255.0),
    },
    action=continuous("a", "b"),
    terms={"gain": term(-100.0, 100.0), "loss": term(-100.0, 100.0, 0.5)},
    costs={"cost": cost(10.0)},
    horizon=23,
    lanes=True,
)


@SPEC.make_data
def make_data(values):
    return {"heights": [0.5 * j - 0.7 for j in range(values.width)]}


@SPEC.reset
def reset(p, s, rng):
    s.x = uniform(rng, -3.0, 3.0)
    s.half = 0.25
    s.count = below(rng, 5)
    for j in range(s.row.size):
        s.row[j] = uniform(rng, -1.0, 1.0)
        for k in range(3):
            s.table[j, k] = uniform(rng, -1.0, 1.0)


@kernel
def sign_of(x):
    """Early returns."""
    if x > 0.5:
        return 1.0
    if x < -0.5:
        return -1.0
    return 0.0


@kernel
def pair_of(x, y):
    """Early returns of several values."""
    if x > y:
        return x, 1
    return y, 0


@kernel
def first_above(row, level):
    """A return from within a loop."""
    for j in range(row.size):
        if row[j] > level:
            return j
    return -1


@kernel
def steps_down(x, limit):
    """A loop whose length differs, with `break` and `continue`, and variables that it leaves behind."""
    total, turns = 0.0, 0
    while x > 0.1:
        turns += 1
        x = 0.6 * x - 0.01 * turns
        if turns == 3:
            continue
        last = x
        total += x * x
        if total > limit:
            break
    if turns > 3:
        total += last
    return total, turns


@kernel
def wander(s, rng):
    """Draws of random numbers that only some worlds make."""
    if s.x > 0.0:
        s.draws += uniform(rng, 0.0, 1.0)
        if s.count % 2 == 0 and s.draws > 1.0:
            s.draws -= uniform(rng, 0.5, 1.0) if s.x > 1.0 else 0.25
    elif s.count > 2:
        s.draws = 0.0 if s.draws > 3.0 else s.draws + 0.125


@kernel
def swap(row, j, k):
    row[j], row[k] = row[k], row[j]


@kernel
def sort_row(row):
    """Loops within loops over the same length, and stores under conditions."""
    for j in range(row.size):
        for k in range(j):
            if row[k] > row[j]:
                swap(row, j, k)


@kernel
def ragged(s, most):
    """A loop over a range whose end differs, leaving its counter behind."""
    chosen, best = -1, -1e9
    for j in range(min(s.count, s.row.size)):
        if s.row[j] * WEIGHTS[j % 5] > best:
            chosen, best = j, s.row[j] * WEIGHTS[j % 5]
    for k in range(most):
        if k * 0.3 > s.x:
            break
    return chosen, k


@kernel
def shift(values, amount):
    """A part of an array, read and written."""
    for j in range(values.size):
        values[j] = 0.5 * values[j] + amount


@kernel
def move_windows(s, turns):
    """Parts that begin elsewhere in each world, of an array and of a row of a table."""
    first, n = max(s.found, 0), min(s.row.size, 1)
    if s.x > 0.0:
        shift(s.row[first : first + n], 0.125)
    place = turns % 2
    line = s.table[first][place : place + 2]
    shift(line[1 : 1 + n], s.half)
    s.draws += line[0] + line.shape[0]


@SPEC.fetch
def fetch(p, s):
    prefetch(s.table, s.count)


@SPEC.step
def step(p, s, a, rng, r):
    s.x += p.pull * a[0] * sign_of(a[1])
    s.half = s.half * 0.5 + a[1]
    s.count += 1 if a[1] > 0.0 else -1
    s.count = max(0, min(s.count, 7))
    s.mark = s.count * 3 - int(2.5 * s.x)
    prefetch(s.table, s.count)
    wander(s, rng)
    total, turns = steps_down(abs(s.x), p.limit)
    s.found = first_above(s.row, s.x)
    if s.found >= 0 and s.row[s.found] > 0.0:
        s.row[s.found] -= 0.5
        s.table[s.found, turns % 3] += total
    move_windows(s, turns)
    chosen, k = ragged(s, 6)
    high, flag = pair_of(total, float(k))
    s.lamps[turns % 3] = (s.lamps[turns % 3] + flag + 1) & 255
    s.lamps[1] ^= 1 if s.x > 2.0 or (s.found > 0 and s.row[s.found - 1] < 0.0) else 0
    if chosen >= 0:
        line = s.table[chosen]
        for j in range(3):
            line[j] = 0.5 * line[j] + p.heights[chosen] + (line[(j + 1) % 3] if j > 0 else 0.0)
    if s.mark in (3, 4, 7) and s.count != 3:
        sort_row(s.row)
    part = s.row[0 : s.row.size - 1]
    for j in range(part.size):
        part[j] += 0.01 * math.copysign(1.0, s.x)
    if p.way == 0:
        s.row[0] += 0.001 * s.mark // 2 + (s.mark % 5 if s.mark > 0 else 0)
    s.row[0] = min(max(s.row[0], -50.0), 50.0)
    r.gain = max(-100.0, min(high**2 - 0.1 * turns, 100.0))
    r.loss = -min(abs(s.x) ** 3, 100.0)
    r.cost = 1.0 if 0.5 < s.x < 2.5 else 0.0
    r.success = s.x > 1.0
    r.terminated = s.x > 4.0 or s.x < -4.0


@SPEC.observe
def observe(p, s, o):
    o.x = s.x
    for j in range(s.row.size):
        o.row[j] = s.row[j]
    for j in range(3):
        o.lamps[j] = float(s.lamps[j])
