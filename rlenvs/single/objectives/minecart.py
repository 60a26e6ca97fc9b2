"""Minecart: mine two ores, bring them home, and burn little fuel.

## Description
A cart leaves its base in the corner of a square, looks for a mine, digs ore out of it and brings it home. Five mines
hold two ores in different proportions, the distant ones yield more, and every frame burns fuel, most of all digging and
accelerating (Abels, Roijers, Lenaerts, Nowe and Steckelmacher, "Dynamic weights in multi-objective deep reinforcement
learning", ICML 2019). Map, rules, spaces, rewards and time limit are MO-Gymnasium's minecart (1.3);
`level="deterministic"` is its minecart-deterministic and `level="pixels"` its minecart-rgb, with images drawn by this
package. `env.unwrapped.pareto_front(gamma)` returns the front of the deterministic level at gamma 1, 0.99 and 0.98, and
`rlenvs.pareto.pareto_front` has a route for each point. It was found by branch and bound over all action sequences. At
1 and 0.99 it is proved optimal; at 0.98 some trips to two mines may burn up to 0.03 less fuel, and `rlenvs front` shows
the bound. The published front consists of scripted trips. Nearly all of its points are dominated, by turning while the
cart rolls and by digging at two mines; the others (its empty trip and, with a discount, two trips to the middle mine)
are not attained by any policy. Different: the ore is drawn from the seeded generator, where the original uses NumPy's
global one and ignores the seed; after the end of an episode the cart does not move on (with `compat=True` it does, as
in the original, and the last observation shows a turn, an acceleration or a braking of the next frame); the first image
of an episode shows this episode, where the original shows the end of the last one; the base is drawn at its true
position; all mines share one standard deviation.

## Action Space
Dig, turn left or right by 10 degrees, accelerate, brake to a halt, or do nothing; each for four frames. Digging works
only at a standstill within reach of a mine, and ore beyond the capacity is lost. A cart that hits a wall is turned and
slowed down.

## Observation Space
Position, speed per frame, sine and cosine of the heading (0 degrees along x, 90 along y, which points down), and each
ore as a fraction of the capacity. With `observation="pixels"` an image of 480 x 480 pixels: the base red, the mines in
the colors of their ores, the cart with bars for its load.

## Rewards
`first_ore` and `second_ore` are the amounts brought home, in the step of arrival; `fuel` is minus the fuel burnt in all
frames of an action, including those after the end. The default weights are all 1.

## Costs
None.

## Starting State
In the corner, at a standstill and empty, heading for the middle.

## Episode End
Termination: back in the base after having left it. Truncation: 1000 steps. `is_success` means that the cart came home
with at least nine tenths of its capacity.

## Parameters
`mines` replaces the five mines by up to 16 others.

## Reference Scores
Mean return over seeds 0 to 99. The expert takes the best route under the default weights,
which is known for the published values, and digs again if it was unlucky; with other values it steers by feedback.

## Version History
v0: first version.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from rlenvs.core import (
    Score,
    block,
    choice,
    data_option,
    discrete,
    f8,
    flag,
    image,
    integer,
    json_option,
    kernel,
    normal,
    param,
    published,
    term,
    u1,
    world,
)
from rlenvs.core.declare.maths import atan2, sin_cos
from rlenvs.kits.raster.draw import copy_image
from rlenvs.single.objectives import minecart_front
from rlenvs.single.objectives.minecart_facts import ACCELERATE, BRAKE, DIG, LEFT, MINES, NONE, RADIANS, RIGHT, START
from rlenvs.single.objectives.minecart_pictures import SIDE, draw_cart, draw_minecart, make_picture

MOST_MINES = 16
AT_REST = 0.001  # slower is no motion
BEST_ROUTE = tuple(int(a) for a in "31212121222240322121212")  # under the default weights, to the middle mine
FULL = 0.9  # of its capacity: with so much the expert goes home, and that is a success
KEYS = (("space", "e"), ("left", "a"), ("right", "d"), ("up", "w"), ("down", "s"))


def parse_mines(value: Any) -> list[list[float]]:
    rows = np.array(value, float)
    if rows.ndim != 2 or rows.shape[1] != 4 or not 1 <= len(rows) <= MOST_MINES:
        raise ValueError(f"it must be 1 to {MOST_MINES} rows (x, y, mean of the first ore, mean of the second ore)")
    if not ((rows >= 0.0) & (rows <= 1.0)).all():
        raise ValueError("all of its numbers must be in [0, 1]")
    return rows.tolist()


def sizes(values: Any) -> dict[str, int]:
    pixels = values.observation == "pixels"
    steps = len(BEST_ROUTE) if is_published(values) else 1
    return {"mines": len(values.mines), "numbers": 0 if pixels else 7, "side": SIDE if pixels else 0, "plan": steps}


def reward_ends(values: Any) -> tuple[list[float], list[float]]:
    """Those published, or with other values those of the terms."""
    if is_published(values):
        return [0.0, 0.0, -1.0], [1.5, 1.5, 0.0]
    return [0.0, 0.0, -3.52], [4.0, 4.0, 0.0]


SPEC = world(
    "Minecart-v0",
    doc=__doc__,
    source="MO-Gymnasium minecart (Abels et al., ICML 2019)",
    params={
        "acceleration": param(0.0075, 0.001, 0.03, "1/frame^2", "increase in speed by accelerating, per frame"),
        "brake": param(1.0, 0.001, 1.0, "1/frame^2", "largest decrease in speed by braking, per frame", limit=True),
        "max_speed": param(1.0, 0.02, 1.0, "1/frame", "largest speed", limit=True),
        "turn": param(10.0, 1.0, 45.0, "deg/frame", "angle of a turn; hitting a wall turns the cart by the same angle"),
        "capacity": param(1.5, 0.3, 4.0, "", "ore that the cart holds"),
        "spread": param(0.05, 0.0, 0.2, "", "standard deviation of each ore per frame of digging"),
        "mine_radius": param(0.14, 0.03, 0.3, "", "largest distance from a mine at which the cart can dig"),
        "base_radius": param(0.15, 0.03, 0.3, "", "radius of the base around the corner"),
        "fuel_idle": param(0.005, 0.0, 0.02, "1/frame", "fuel of every frame"),
        "fuel_accelerate": param(0.025, 0.0, 0.1, "1/frame", "additional fuel of accelerating"),
        "fuel_dig": param(0.05, 0.0, 0.2, "1/frame", "additional fuel of digging"),
    },
    options={
        "observation": choice("vector", "pixels", doc="numbers, or an image"),
        "frame_skip": integer(4, 1, 16, "frames of an action"),
        "incremental": flag(
            True, "whether each frame moves the cart; else the effects of all frames are applied before all motion"
        ),
        "mines": data_option(
            json_option([list(row) for row in MINES], parse_mines, "rows (x, y, mean of each ore per frame)")
        ),
        "compat": flag(False, "as in the original, the last observation shows the effect of the next frame"),
    },
    sizes=sizes,
    data={
        "mine": f8("mines", 4),
        "picture": u1("side", "side", 3),
        "plan": u1("plan"),  # the best route, where it is known
        "planned": f8("plan", 5),  # position, speed, heading, and whether the cart is full, before each of its steps
    },
    state={"x": f8, "y": f8, "speed": f8, "angle": f8, "load": f8(2), "departed": u1},
    observation={
        "seen": block(
            "numbers",
            low=lambda values: [0.0, 0.0, 0.0, -1.0, -1.0, 0.0, 0.0][: sizes(values)["numbers"]],
            high=1.0,
            doc="x, y, speed, sine and cosine of the heading, each ore as a fraction of the capacity",
        )
    },
    images={"screen": image("side", "side", 3, doc="the picture")},
    action=discrete("dig", "left", "right", "accelerate", "brake", "none", idle=NONE),
    terms={
        "first_ore": term(0.0, 4.0, 1.0, "amount of the first ore brought home"),
        "second_ore": term(0.0, 4.0, 1.0, "amount of the second ore brought home"),
        "fuel": term(-3.52, 0.0, 1.0, "fuel burnt, negative"),
    },
    published=published(
        "MO-Gymnasium minecart-v0",
        low=-1.0,
        high=1.0,
        reward=reward_ends,
    ),
    horizon=1000,
    lanes=True,
    fps=10,
    same_start=True,
    levels={
        "deterministic": {
            "spread": 0.0,
            "scores": {"bound": Score(0.64, 0, "best return of any policy under the default weights")},
        },
        "pixels": {"observation": "pixels"},
    },
)


@SPEC.make_data
def data(values):
    pixels = values.observation == "pixels"
    found = {"mine": values.mines, "picture": make_picture(values) if pixels else np.zeros((0, 0, 3))}
    if not is_published(values):
        return found | {"plan": [NONE], "planned": np.full((1, 5), -1.0)}
    return found | {"plan": BEST_ROUTE, "planned": planned_states(BEST_ROUTE)}


@SPEC.reset
def reset(p, s, rng):
    s.angle = START


# --- rules ------------------------------------------------------------------------------------------------------------


@kernel
def bump(angle, turn, x, y, across, down):
    """The heading after a frame: a wall that the cart runs into turns it away."""
    if y != 0.0 and y != 1.0 and abs(down) > AT_REST:
        if x == 1.0 and across > 0.0:
            angle += math.copysign(turn, down)
        if x == 0.0 and across < 0.0:
            angle -= math.copysign(turn, down)
    if x != 0.0 and x != 1.0 and abs(across) > AT_REST:
        if y == 1.0 and down > 0.0:
            angle -= math.copysign(turn, across)
        if y == 0.0 and down < 0.0:
            angle += math.copysign(turn, across)
    return angle


@kernel
def roll(x, y, speed, angle, sine, cosine, turn):
    """Position, speed and heading after a frame of motion. Whoever slides along a wall loses speed."""
    if speed < AT_REST:
        return x, y, speed, angle
    across, down = speed * cosine, speed * sine
    angle = bump(angle, turn, x, y, across, down)
    new_x, new_y = min(max(x + across, 0.0), 1.0), min(max(y + down, 0.0), 1.0)
    return new_x, new_y, math.sqrt((x - new_x) * (x - new_x) + (y - new_y) * (y - new_y)), angle


@kernel
def steer(a, speed, angle, frames, acceleration, brake, max_speed, turn):
    """Speed and heading after what an action does in so many frames."""
    if a == LEFT:
        angle = wrapped(angle - turn * frames)
    elif a == RIGHT:
        angle = wrapped(angle + turn * frames)
    elif a == ACCELERATE:
        speed = min(speed + acceleration * frames, max_speed)
    elif a == BRAKE:
        speed = max(speed - brake * frames, 0.0)
    return speed, angle


@kernel
def wrapped(angle):
    """A heading in [0, 360)."""
    return angle - 360.0 * math.floor(angle / 360.0)


@kernel
def nearest_mine(p, x, y):
    """The nearest mine and how far it is."""
    best, nearest = 0, 9.0
    for k in range(p.mine.shape[0]):
        far = math.sqrt((x - p.mine[k, 0]) * (x - p.mine[k, 0]) + (y - p.mine[k, 1]) * (y - p.mine[k, 1]))
        if far < nearest:
            best, nearest = k, far
    return best, nearest


@kernel
def dig(p, s, rng):
    """One frame of digging."""
    if s.speed >= AT_REST:
        return
    k, far = nearest_mine(p, s.x, s.y)
    if far > p.mine_radius:
        return
    first, second = p.mine[k, 2], p.mine[k, 3]
    if p.spread > 0.0:
        first = max(0.0, first + p.spread * normal(rng))
        second = max(0.0, second + p.spread * normal(rng))
    room = max(p.capacity - (s.load[0] + s.load[1]), 0.0)
    share = room / (first + second) if first + second > room else 1.0
    s.load[0] += first * share
    s.load[1] += second * share


@SPEC.step
def step(p, s, a, rng, r):
    burnt = p.fuel_idle
    if a == ACCELERATE:
        burnt += p.fuel_accelerate
    elif a == DIG:
        burnt += p.fuel_dig
    r.fuel = -burnt * p.frame_skip
    rounds, frames = (p.frame_skip, 1) if p.incremental else (1, p.frame_skip)
    for _ in range(rounds):
        if r.terminated:
            if p.compat:
                s.speed, s.angle = steer(a, s.speed, s.angle, 1, p.acceleration, p.brake, p.max_speed, p.turn)
            break
        s.speed, s.angle = steer(a, s.speed, s.angle, frames, p.acceleration, p.brake, p.max_speed, p.turn)
        for _ in range(frames if a == DIG else 0):
            dig(p, s, rng)
        for _ in range(frames):
            sine, cosine = sin_cos(s.angle * RADIANS)
            s.x, s.y, s.speed, s.angle = roll(s.x, s.y, s.speed, s.angle, sine, cosine, p.turn)
        arrive(p, s, r)


@kernel
def arrive(p, s, r):
    """Whether the cart has left the base, and has come back."""
    if math.sqrt(s.x * s.x + s.y * s.y) >= p.base_radius:
        s.departed = 1
    elif s.departed:
        r.terminated = True
        r.first_ore, r.second_ore = s.load[0], s.load[1]
        r.success = s.load[0] + s.load[1] >= FULL * p.capacity
        s.load[0], s.load[1] = 0.0, 0.0


@SPEC.observe
def observe(p, s, o):
    if o.seen.size == 0:
        return
    o.seen[0], o.seen[1], o.seen[2] = s.x, s.y, s.speed
    o.seen[3], o.seen[4] = sin_cos(s.angle * RADIANS)
    o.seen[5], o.seen[6] = s.load[0] / p.capacity, s.load[1] / p.capacity


# --- the expert -------------------------------------------------------------------------------------------------------


def planned_states(actions: Sequence[int]) -> list[list[float]]:
    """Position, speed, heading and whether the cart is full before each action of a route, as published."""
    x, y, speed, angle, full, states = 0.0, 0.0, 0.0, START, 0.0, []
    for action in actions:
        states.append([x, y, speed, angle, full])
        full = 1.0 if action == DIG else full
        for _ in range(4):
            speed, angle = steer(action, speed, angle, 1, 0.0075, 1.0, 1.0, 10.0)
            x, y, speed, angle = roll(x, y, speed, angle, *sin_cos(angle * RADIANS), 10.0)
    return states


@kernel
def on_plan(p, s):
    """Whether the cart is where the best route has it."""
    if s.elapsed >= p.plan.size or (p.planned[s.elapsed, 4] > 0.0) != (s.load[0] + s.load[1] >= FULL * p.capacity):
        return False
    off = abs(s.x - p.planned[s.elapsed, 0]) + abs(s.y - p.planned[s.elapsed, 1])
    return off + abs(s.speed - p.planned[s.elapsed, 2]) + abs(s.angle - p.planned[s.elapsed, 3]) < 1e-6


@kernel
def best_mine(p):
    """The mine that is worth most for a whole cart, less fuel."""
    best, most = 0, -1e9
    for k in range(p.mine.shape[0]):
        yielded = p.frame_skip * (p.mine[k, 2] + p.mine[k, 3])
        if yielded <= 0.0:
            continue
        digs = math.ceil(FULL * p.capacity / yielded)
        load = min(1.0, p.capacity / (digs * yielded)) * digs * p.frame_skip
        gain = p.weights[0] * load * p.mine[k, 2] + p.weights[1] * load * p.mine[k, 3]
        far = math.sqrt(p.mine[k, 0] * p.mine[k, 0] + p.mine[k, 1] * p.mine[k, 1])
        way = 2.0 * far / (p.acceleration * p.frame_skip)
        gain -= p.weights[2] * (p.fuel_dig * p.frame_skip * digs + p.fuel_idle * way)
        if gain > most:
            best, most = k, gain
    return best


@kernel
def steered(p, s, x, y):
    """The action that brings the cart to a place."""
    right, down = x - s.x, y - s.y
    far = math.sqrt(right * right + down * down)
    off = wrapped(atan2(down, right) / RADIANS - s.angle + 180.0) - 180.0
    if abs(off) > 0.5 * p.turn * p.frame_skip:
        return RIGHT if off > 0.0 else LEFT
    # so many accelerations burn least on this way
    cost = p.fuel_accelerate * p.frame_skip * p.frame_skip * p.acceleration
    times = max(1.0, math.floor(math.sqrt(p.fuel_idle * far / max(cost, 1e-4)) + 0.5))
    wanted = min(times * p.acceleration * p.frame_skip, 0.06, p.max_speed)
    return ACCELERATE if s.speed < 0.9 * min(wanted, 1.0) else NONE


@SPEC.expert
def expert(p, s, a):
    if on_plan(p, s):
        a[0] = p.plan[s.elapsed]
        return
    if s.load[0] + s.load[1] >= FULL * p.capacity:
        a[0] = steered(p, s, 0.0, 0.0)
        return
    k = best_mine(p)
    right, down = s.x - p.mine[k, 0], s.y - p.mine[k, 1]
    if math.sqrt(right * right + down * down) > p.mine_radius:
        a[0] = steered(p, s, p.mine[k, 0], p.mine[k, 1])
    else:
        a[0] = DIG if s.speed < AT_REST else BRAKE


# --- fronts -----------------------------------------------------------------------------------------------------------


def is_published(values: Any, spread: float | None = None) -> bool:
    """Whether all is as published, but for how much the yield varies."""
    params = all(getattr(values, name) == each.default for name, each in SPEC.params.items() if name != "spread")
    usual = params and values.frame_skip == 4 and values.incremental and values.mines == [list(row) for row in MINES]
    return usual and spread in (None, values.spread)


@SPEC.pareto_routes
def pareto_routes(values, horizon, gamma):
    routes = minecart_front.front_of(is_published(values, 0.0), horizon, gamma)
    values_of, actions = zip(*routes, strict=True)
    return np.array(values_of), [list(each) for each in actions]


@SPEC.outer_front
def outer_front(values, horizon, gamma):
    if values.spread > 0.0 and is_published(values) and gamma == 1.0:
        return minecart_front.chance_bound(values.spread)
    minecart_front.front_of(is_published(values, 0.0), horizon, gamma)
    return minecart_front.outer_bound(gamma)


@SPEC.published_front
def published_front(values, gamma):
    return minecart_front.supposed_front(values.spread, gamma) if is_published(values) else None


# --- pictures ---------------------------------------------------------------------------------------------------------


@SPEC.observe_images
def observe_images(p, s, i):
    copy_image(i.screen, p.picture)
    draw_cart(p, s, i.screen)


@SPEC.draw
def draw(canvas, p, s):
    draw_minecart(canvas, p, s)


@SPEC.text
def text(p, s):
    cells = 21
    rows = [["." for _ in range(cells)] for _ in range(cells)]
    for r in range(cells):
        for c in range(cells):
            x, y = c / (cells - 1), r / (cells - 1)
            k, far = nearest_mine(p, x, y)
            if far <= p.mine_radius:
                rows[r][c] = "abcdefghijklmnop"[k]
            elif math.hypot(x, y) < p.base_radius:
                rows[r][c] = "H"
    heading = ">\\v/<\\^/"[round(float(s.angle) / 45.0) % 8]
    rows[round(float(s.y) * (cells - 1))][round(float(s.x) * (cells - 1))] = heading
    load = f"load {float(s.load[0]):.2f} + {float(s.load[1]):.2f}, speed {float(s.speed):.3f}"
    return "\n".join([*map("".join, rows), load])


@SPEC.keys
def keys(pressed, values):
    for action, names in enumerate(KEYS):
        if pressed.intersection(names):
            return action
    return NONE
