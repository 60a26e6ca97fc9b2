"""Minecart: bring two ores home, and burn little fuel.

## Description
A cart leaves its base in the corner of a square, looks for a mine, digs ore out of it and brings it home. Five mines
have two ores in different shares, the far ones yield more, and every frame burns fuel, digging and accelerating most of
all (Abels, Roijers, Lenaerts, Nowe and Steckelmacher, "Dynamic weights in multi-objective deep reinforcement learning",
ICML 2019). Map, rules, spaces, rewards and time limit are MO-Gymnasium's minecart (1.3); `level="deterministic"` is its
minecart-deterministic and `level="pixels"` its minecart-rgb, with a picture of our own. 
Different: the world's own generator draws the ore, where the original takes NumPy's global one, whatever the seed;
after the end of an episode the cart is not moved on (`compat=True` does so: there a turn, an acceleration or a
braking of the next frame shows in the last observation); the first picture of an episode shows this episode, where
the original shows the end of the last one; the base is drawn where it is; all mines share one standard deviation.

## Action Space
Dig, turn left or right by 10 degrees, accelerate, brake to a halt, or nothing; each for four frames. One digs only at a
halt and within reach of a mine, and what exceeds the capacity is left. Walls turn a cart that runs into them and take
from its speed.

## Observation Space
Position, speed per frame, sine and cosine of the heading (0 degrees along x, 90 along y, which points down), and each
ore as a share of the capacity. With `observation="pixels"` a picture of 480 x 480 pixels: the base red, the mines in
the colours of their ores, the cart with bars for its load.

## Rewards
`first_ore` and `second_ore` are what comes home, when it does; `fuel` is what all frames of an action burn, those
after the end among them. The default weights are all 1.

## Costs
None.

## Starting State
In the corner, at a halt and empty, heading for the middle.

## Episode End
Termination: back in the base after having left it. Truncation: 1000 steps. `is_success` says that the cart came home
full, to 1 % of its capacity.

## Parameters
`mines` replaces the five mines by up to 16 others.

## Reference Scores
Mean return over seeds 0 to 99. EXPERT_TEXT

## Version History
v0: first version.
"""

import math
from typing import Any

import numpy as np

from rlenvs.core import (
    Score,
    block,
    choice,
    discrete,
    f8,
    flag,
    for_data,
    free,
    image,
    integer,
    kernel,
    maths,
    normal,
    param,
    published,
    term,
    u1,
    world,
)
from rlenvs.kits.raster.draw import copy_image

DIG, LEFT, RIGHT, ACCELERATE, BRAKE, NONE = range(6)
MINES = (  # x, y, mean of each ore per frame of digging
    (0.16, 0.84, 0.2, 0.0),
    (0.5, 0.84, 0.15, 0.1),
    (0.84, 0.84, 0.2, 0.2),
    (0.84, 0.5, 0.1, 0.15),
    (0.84, 0.16, 0.0, 0.2),
)
MOST_MINES = 16
START = 45.0  # degrees
AT_REST = 0.001  # slower is no motion
SIDE = 480
RADIANS = math.pi / 180.0
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
    return {"mines": len(values.mines), "numbers": 0 if pixels else 7, "side": SIDE if pixels else 0}


SPEC = world(
    "Minecart-v0",
    doc=__doc__,
    source="MO-Gymnasium minecart (Abels et al., ICML 2019)",
    params={
        "acceleration": param(0.0075, 0.001, 0.03, "1/frame^2", "change of speed by accelerating, per frame"),
        "brake": param(1.0, 0.001, 1.0, "1/frame^2", "change of speed by braking, per frame"),
        "max_speed": param(1.0, 0.02, 1.0, "1/frame", "largest speed"),
        "turn": param(10.0, 1.0, 45.0, "deg/frame", "how far one turns; a wall turns by as much"),
        "capacity": param(1.5, 0.3, 4.0, "", "ore that the cart holds"),
        "spread": param(0.05, 0.0, 0.2, "", "standard deviation of each ore per frame of digging"),
        "mine_radius": param(0.14, 0.03, 0.3, "", "how near one has to be to dig"),
        "base_radius": param(0.15, 0.03, 0.3, "", "how near to the corner one is at home"),
        "fuel_idle": param(0.005, 0.0, 0.02, "1/frame", "fuel of every frame"),
        "fuel_accelerate": param(0.025, 0.0, 0.1, "1/frame", "further fuel of accelerating"),
        "fuel_dig": param(0.05, 0.0, 0.2, "1/frame", "further fuel of digging"),
    },
    options={
        "observation": choice("vector", "pixels", doc="numbers, or a picture"),
        "frame_skip": integer(4, 1, 16, "frames of an action"),
        "incremental": flag(True, "each frame moves; else the effects of all frames come before all motion"),
        "mines": for_data(free([list(row) for row in MINES], parse_mines, "rows (x, y, mean of each ore per frame)")),
        "compat": flag(False, "as in the original, what the next frame does shows in the last observation"),
    },
    sizes=sizes,
    data={"mine": f8("mines", 4), "picture": u1("side", "side", 3)},
    state={"x": f8, "y": f8, "speed": f8, "angle": f8, "load": f8(2), "departed": u1},
    observation={
        "seen": block(
            "numbers",
            low=lambda values: [0.0, 0.0, 0.0, -1.0, -1.0, 0.0, 0.0][: sizes(values)["numbers"]],
            high=1.0,
            doc="x, y, speed, sine and cosine of the heading, each ore as a share of the capacity",
        )
    },
    images={"screen": image("side", "side", 3, doc="the picture")},
    action=discrete("dig", "left", "right", "accelerate", "brake", "none", idle=NONE),
    terms={
        "first_ore": term(0.0, 4.0, 1.0, "the first ore that comes home"),
        "second_ore": term(0.0, 4.0, 1.0, "the second ore that comes home"),
        "fuel": term(-3.52, 0.0, 1.0, "fuel burnt, negative"),
    },
    published=published(
        "MO-Gymnasium minecart-v0",
        low=-1.0,
        high=1.0,
        reward=lambda values: ([0.0, 0.0, -1.0], [values.capacity, values.capacity, 0.0]),
    ),
    horizon=1000,
    fps=10,
    same_start=True,
    levels={"deterministic": {"spread": 0.0}, "pixels": {"observation": "pixels"}},
    scores={},
)


@SPEC.make_data
def data(values):
    pixels = values.observation == "pixels"
    return {"mine": values.mines, "picture": make_picture(values) if pixels else np.zeros((0, 0, 3))}


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
def roll(x, y, speed, angle, turn):
    """Position, speed and heading after a frame of motion. Whoever slides along a wall loses speed."""
    if speed < AT_REST:
        return x, y, speed, angle
    sine, cosine = maths.sin_cos(angle * RADIANS)
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
            s.x, s.y, s.speed, s.angle = roll(s.x, s.y, s.speed, s.angle, p.turn)
        arrive(p, s, r)


@kernel
def arrive(p, s, r):
    """Whether the cart has left the base, and has come back."""
    if math.sqrt(s.x * s.x + s.y * s.y) >= p.base_radius:
        s.departed = 1
    elif s.departed:
        r.terminated = True
        r.first_ore, r.second_ore = s.load[0], s.load[1]
        r.success = s.load[0] + s.load[1] >= 0.99 * p.capacity
        s.load[0], s.load[1] = 0.0, 0.0


@SPEC.observe
def observe(p, s, o):
    if o.seen.size == 0:
        return
    o.seen[0], o.seen[1], o.seen[2] = s.x, s.y, s.speed
    o.seen[3], o.seen[4] = maths.sin_cos(s.angle * RADIANS)
    o.seen[5], o.seen[6] = s.load[0] / p.capacity, s.load[1] / p.capacity


# --- pictures ---------------------------------------------------------------------------------------------------------

MARGIN, SCALE = 0.16, 0.68  # of a picture: what lies around the square, and the square
GROUND, WALL, BASE = (214, 203, 184), (92, 84, 76), (213, 94, 0)
ORES = ((40, 110, 220), (150, 60, 190))
CART, NOSE, HOLD = (45, 45, 48), (250, 205, 60), (236, 236, 232)
LONG, WIDE = 21.0, 14.0  # half of the cart's sides, in pixels


def ore_color(mine: Any) -> tuple[int, int, int]:
    """The colour of a mine: its ores, mixed."""
    share = float(mine[2]) / max(float(mine[2] + mine[3]), 1e-9)
    red, green, blue = (round(share * a + (1.0 - share) * b) for a, b in zip(*ORES, strict=True))
    return red, green, blue


def make_picture(values: Any) -> np.ndarray:
    """Ground, walls, base and mines, uint8 (480, 480, 3)."""
    picture = np.full((SIDE, SIDE, 3), WALL, np.uint8)
    place = ((np.arange(SIDE) + 0.5) / SIDE - MARGIN) / SCALE
    x, y = np.meshgrid(place, place)
    edge = 0.06
    picture[(np.minimum(x, y) >= -edge) & (np.maximum(x, y) <= 1.0 + edge)] = GROUND
    picture[(x * x + y * y <= values.base_radius**2) & (np.minimum(x, y) >= -edge)] = BASE
    for row in values.mines:
        distance = np.sqrt((x - row[0]) ** 2 + (y - row[1]) ** 2)
        color = np.array(ore_color(np.array(row)))
        inside = distance <= values.mine_radius
        picture[inside] = (color * 0.45 + np.array(GROUND) * 0.55).astype(np.uint8)
        picture[inside & (distance > values.mine_radius - 0.012)] = color
        picture[distance <= 0.035] = color
    return picture


@kernel
def paint(screen, row, column, color):
    screen[row, column, 0] = color[0]
    screen[row, column, 1] = color[1]
    screen[row, column, 2] = color[2]


@kernel
def draw_cart(p, s, screen):
    """The cart: its nose yellow, and its hold filled from the back by the two ores side by side."""
    middle, centre = (MARGIN + SCALE * s.x) * SIDE, (MARGIN + SCALE * s.y) * SIDE
    sine, cosine = maths.sin_cos(s.angle * RADIANS)
    reach = int(LONG + WIDE)
    for row in range(max(int(centre) - reach, 0), min(int(centre) + reach + 1, SIDE)):
        for column in range(max(int(middle) - reach, 0), min(int(middle) + reach + 1, SIDE)):
            right, down = column + 0.5 - middle, row + 0.5 - centre
            ahead, aside = cosine * right + sine * down, cosine * down - sine * right
            if abs(ahead) > LONG or abs(aside) > WIDE:
                continue
            color = CART
            if ahead > LONG - 7.0:
                color = NOSE
            elif abs(aside) <= WIDE - 3.0 and abs(aside) >= 1.0 and abs(ahead + 2.0) <= LONG - 6.0:
                k = 0 if aside < 0.0 else 1
                filled = (ahead + 2.0 + LONG - 6.0) * p.capacity < 2.0 * (LONG - 6.0) * s.load[k]
                color = HOLD if not filled else ORES[0] if k == 0 else ORES[1]
            paint(screen, row, column, color)


@SPEC.observe_images
def observe_images(p, s, i):
    copy_image(i.screen, p.picture)
    draw_cart(p, s, i.screen)


@SPEC.draw
def draw(canvas, p, s):
    canvas.legend(
        ("red", "base"),
        (ORES[0], "first ore"),
        (ORES[1], "second ore"),
        (NOSE, "front of the cart"),
    )
    wide, tall = canvas.scene
    across = 1.16 * wide / tall
    canvas.view(0.5 - across / 2, 0.5 + across / 2, -1.08, 0.08)
    canvas.rectangle(-0.5, -2.0, 2.0, 0.5, WALL)
    canvas.rectangle(-0.05, -1.05, 1.05, 0.05, GROUND)
    _draw_base(canvas, float(p.base_radius))
    for mine in p.mine:
        _draw_mine(canvas, mine, float(p.mine_radius))
    _draw_cart(canvas, p, s)
    first, second = float(s.load[0]), float(s.load[1])
    canvas.caption(f"load {first:.2f} + {second:.2f} of {float(p.capacity):g}, speed {float(s.speed):.3f}")


def _draw_base(canvas: Any, radius: float) -> None:
    arc = [(radius * math.cos(t * RADIANS), -radius * math.sin(t * RADIANS)) for t in range(0, 91, 3)]
    canvas.polygon([(-0.05, 0.05), (radius, 0.05), *arc, (-0.05, -radius)], "red")


def _draw_mine(canvas: Any, mine: Any, radius: float) -> None:
    """What is in reach, and in it each ore's yield as heaps."""
    x, y = float(mine[0]), -float(mine[1])
    color = ore_color(mine)
    canvas.circle((x, y), radius, tuple(round(0.35 * c + 0.65 * g) for c, g in zip(color, GROUND, strict=True)))
    canvas.circle((x, y), radius, color, 2.0)
    heaps = [k for k in (0, 1) if mine[2 + k] > 0.0]
    for place, k in enumerate(heaps):
        size = 0.055 * math.sqrt(float(mine[2 + k]) / 0.2)
        left = x + 0.11 * (place - (len(heaps) - 1) / 2)
        for dx, dy in ((-0.5, -0.3), (0.5, -0.3), (0.0, 0.45)):
            canvas.circle((left + size * dx, y + size * dy), 0.55 * size, "white")
            canvas.circle((left + size * dx, y + size * dy), 0.46 * size, ORES[k])


def _draw_cart(canvas: Any, p: Any, s: Any) -> None:
    x, y, angle = float(s.x), -float(s.y), -float(s.angle) * RADIANS

    def at(ahead: float, aside: float) -> tuple[float, float]:
        return (
            x + ahead * math.cos(angle) - aside * math.sin(angle),
            y + ahead * math.sin(angle) + aside * math.cos(angle),
        )

    def box(back: float, front: float, low: float, high: float, color: Any) -> None:
        canvas.polygon([at(back, low), at(front, low), at(front, high), at(back, high)], color)

    for back in (-0.042, 0.03):
        box(back - 0.014, back + 0.014, -0.056, 0.056, "black")
    box(-0.07, 0.07, -0.048, 0.048, "white")
    box(-0.066, 0.066, -0.044, 0.044, CART)
    canvas.polygon([at(0.046, -0.044), at(0.086, 0.0), at(0.046, 0.044)], NOSE)
    for k, (low, high) in enumerate(((0.003, 0.037), (-0.037, -0.003))):
        box(-0.058, 0.04, low, high, HOLD)
        filled = -0.058 + 0.098 * min(float(s.load[k]) / float(p.capacity), 1.0)
        box(-0.058, filled, low, high, ORES[k])


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
