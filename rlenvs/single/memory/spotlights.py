"""Spotlights of Searing Spotlights: how they travel, what they hit, and what they reveal on the screen."""

import math

import numpy as np

from rlenvs.core import below, kernel, uniform
from rlenvs.core.declare.maths import cos, sin
from rlenvs.kits.raster.draw import clear, copy_image, disc, half_width, outlined, rectangle, ring, stamp
from rlenvs.single.memory.agent import SIDE, draw_agent, middle_hit, radius_of

BAR = 4  # px, height of the bar at the top
QUARTER = SIDE // 4
CHECK = 12  # px, side of a square of the floor
WHITE, BLUE, RED, GREY = (255, 255, 255), (0, 0, 255), (255, 0, 0), (50, 50, 50)
GREEN, YELLOW, ORANGE = (0, 255, 0), (255, 255, 0), (255, 165, 0)
ACTION_COLORS = ((120, 120, 120), (116, 1, 113), (255, 94, 14))
OPEN, CLOSED, BLACK = (48, 141, 70), (55, 55, 55), (0, 0, 0)
MOST_SPOTS = 48
CENTRE = SIDE // 2
DEGREE = math.pi / 180.0
NONE, ONE = np.uint64(0), np.uint64(1)
ALL = np.uint64(2**64 - 1)  # eight bytes, the first one lowest (little-endian machines)


# --- how they travel --------------------------------------------------------------------------------------------------


@kernel
def spawn(p, s, rng):
    """A spotlight outside of the screen, that will cross it. None where there are too many."""
    k = int(s.spots)
    if k >= MOST_SPOTS:
        return
    s.spots += 1
    least, most = int(p.spot_min_radius), int(p.spot_max_radius + 1.0)
    s.radius[k] = least + below(rng, max(most - least, 1))
    s.speed[k] = uniform(rng, p.spot_min_speed, p.spot_max_speed)
    s.progress[k] = 0.0
    start = below(rng, 360)
    target = start + 180 - 45 + below(rng, 90)
    bend = target - 135 + below(rng, 270)
    far = SIDE * math.sqrt(0.5) + s.radius[k]
    for end in range(3):
        degrees = start if end == 0 else (target if end == 1 else bend)
        s.ends[k, 2 * end] = CENTRE + far * cos(DEGREE * degrees)
        s.ends[k, 2 * end + 1] = CENTRE + far * sin(DEGREE * degrees)
    s.lit[k] = False
    s.spot_x[k] = s.ends[k, 0]
    s.spot_y[k] = s.ends[k, 1]


@kernel
def remove(s, k):
    """The spotlights behind one that is gone move up."""
    s.spots -= 1
    for j in range(k, s.spots):
        s.radius[j], s.speed[j], s.progress[j] = s.radius[j + 1], s.speed[j + 1], s.progress[j + 1]
        s.spot_x[j], s.spot_y[j] = s.spot_x[j + 1], s.spot_y[j + 1]
        for end in range(6):
            s.ends[j, end] = s.ends[j + 1, end]


@kernel
def spot_at(s, k, t, axis):
    """Where a spotlight is at time t of its way, 0 ... 1, along an axis."""
    start, target, bend = s.ends[k, axis], s.ends[k, 2 + axis], s.ends[k, 4 + axis]
    goal = target + t * (bend - target)
    return start + t * (goal - start)


@kernel
def move_spots(p, s):
    """All spotlights go on. Returns how many of them hit the agent."""
    hits, k = 0, 0
    while k < s.spots:
        if s.progress[k] >= 1.0:
            remove(s, k)
            if p.compat and k < s.spots:  # the original overlooks for a step the one behind one that it removes
                s.lit[k] = False
                k += 1
            continue
        s.spot_x[k] = spot_at(s, k, s.progress[k], 0)
        s.spot_y[k] = spot_at(s, k, s.progress[k], 1)
        s.lit[k] = True
        s.progress[k] += s.speed[k]
        hits += int(touches(p, s, s.spot_x[k], s.spot_y[k], float(s.radius[k])))
        k += 1
    return hits


@kernel
def touches(p, s, x, y, radius):
    """Whether the agent and a disc touch."""
    return middle_hit(x, y, s.x, s.y, radius + radius_of(p))


# --- the screen -------------------------------------------------------------------------------------------------------


@kernel
def is_lit(s, x, y):
    """Whether a spotlight shows a pixel."""
    for k in range(s.spots):
        if s.lit[k]:
            row = y - int(s.spot_y[k])
            if -s.radius[k] <= row < s.radius[k]:
                half = half_width(s.radius[k], row)
                column = x - int(s.spot_x[k])
                if -half <= column < half:
                    return True
    return False


@kernel
def dimmed(value, light):
    """A colour in a light of 0 ... 255, rounded up; in 32 bits and without a division, for the sake of speed."""
    product = np.int32(value) * np.int32(light) + np.int32(254)
    return ((product + np.int32(1)) * np.int32(257)) >> np.int32(16)  # product // 255


@kernel
def row_is_dark(s, y):
    """Whether no spotlight reaches a row."""
    found = False
    for k in range(s.spots):
        found = found or (s.lit[k] and -s.radius[k] <= y - int(s.spot_y[k]) < s.radius[k])
    return not found


@kernel
def darken(s, image, light):
    """Dim what no spotlight shows."""
    pixels, width = image.reshape(image.size), 3 * SIDE
    for y in range(SIDE):
        if row_is_dark(s, y):
            for j in range(width * y, width * (y + 1)):
                pixels[j] = dimmed(pixels[j], light)
        else:
            for x in range(SIDE):
                if not is_lit(s, x, y):
                    for c in range(3):
                        image[y, x, c] = dimmed(image[y, x, c], light)


@kernel
def near_light(s, x, y, radius):
    """Whether a spotlight may show part of a square around a point."""
    for k in range(s.spots):
        reach = s.radius[k] + radius + 1
        if s.lit[k] and abs(int(s.spot_x[k]) - x) <= reach and abs(int(s.spot_y[k]) - y) <= reach:
            return True
    return False


@kernel
def draw_floor(p, s, image):
    if p.black_background:
        clear(image)
    elif s.hit and p.visual_feedback:
        copy_image(image, p.red_floor)
    else:
        copy_image(image, p.blue_floor)


@kernel
def add_bytes(words, others, start, stop):
    """Bytes start ... stop - 1 of another image, into one that is black or the same there: eight at a time."""
    if start >= stop:
        return
    first, last = start >> 3, (stop - 1) >> 3
    head = ALL << np.uint64(8 * (start & 7))
    tail = ALL >> np.uint64(8 * (7 - ((stop - 1) & 7)))
    if first == last:
        words[first] |= others[first] & head & tail
        return
    words[first] |= others[first] & head
    for j in range(first + 1, last):
        words[j] = others[j]
    words[last] |= others[last] & tail


@kernel
def light_floor(s, image, floor):
    """What the spotlights show of the floor, on a black image."""
    words = image.reshape(image.size).view(np.uint64)
    others = floor.reshape(floor.size).view(np.uint64)
    for k in range(s.spots):
        if not s.lit[k]:
            continue
        radius, x, y = int(s.radius[k]), int(s.spot_x[k]), int(s.spot_y[k])
        if x + radius <= 0 or x - radius >= SIDE:
            continue
        for row in range(max(-radius, -y), min(radius, SIDE - y)):
            half = half_width(radius, row)
            first = SIDE * (y + row)
            add_bytes(words, others, 3 * (first + max(x - half, 0)), 3 * (first + min(x + half, SIDE)))


@kernel
def lit_bits(s, left, y):
    """Which of the 64 pixels of a row from `left` on spotlights show, a bit each."""
    bits = NONE
    for k in range(s.spots):
        row = y - int(s.spot_y[k])
        if s.lit[k] and -s.radius[k] <= row < s.radius[k]:
            half = half_width(s.radius[k], row)
            first = max(int(s.spot_x[k]) - half - left, 0)
            count = min(int(s.spot_x[k]) + half - left, 64) - first
            if count > 0:
                bits |= (ALL >> np.uint64(64 - count)) << np.uint64(first)
    return bits


@kernel
def hide_again(s, image, x, y, radius):
    """Blacken what was drawn of an object where no spotlight is. The radius is at most 32."""
    left = max(x - radius, 0)
    for row in range(max(y - radius, 0), min(y + radius, SIDE)):
        bits = lit_bits(s, left, row)
        for column in range(left, min(x + radius, SIDE)):
            if not (bits >> np.uint64(column - left)) & ONE:
                for c in range(3):
                    image[row, column, c] = 0


@kernel
def draw_borders(p, s, image, light):
    """Rims of the spotlights, which a black floor would not show."""
    if p.black_background:
        for k in range(s.spots):
            if s.lit[k]:
                shade = 255 - light
                ring(image, int(s.spot_x[k]), int(s.spot_y[k]), int(s.radius[k]), 1, (shade, shade, shade))


@kernel
def coins_hidden(p, s):
    return not p.coins_visible and not s.coin_shown


@kernel
def draw_objects(p, s, image, hidden, night):
    """Coins, exit and agent: those that the dark hides, or those that it does not. At night, what no spotlight is near
    to is left out."""
    coin, door = coin_radius(p), p.door.shape[0] // 2 + 1
    if coins_hidden(p, s) == hidden:
        for k in range(s.coins):
            if not night or near_light(s, s.coin_x[k], s.coin_y[k], coin):
                draw_coin(p, s.coin_x[k], s.coin_y[k], image)
    if p.use_exit and (not p.exit_visible) == hidden and (not night or near_light(s, s.exit_x, s.exit_y, door)):
        draw_exit(p, s, image)
    if (not p.agent_visible) == hidden and (not night or near_light(s, s.x, s.y, size_of(p))):
        draw_agent(image, s.x, s.y, s.facing if s.elapsed > 0 else 0, p.agent_scale)


@kernel
def size_of(p):
    """How far the agent with its hands reaches from its middle, px."""
    return radius_of(p) + int(10.0 * p.agent_scale) + 1


@kernel
def hide_objects(p, s, image):
    """The dark in front of coins, exit and agent."""
    coin, door = coin_radius(p), p.door.shape[0] // 2 + 1
    if coins_hidden(p, s):
        for k in range(s.coins):
            if near_light(s, s.coin_x[k], s.coin_y[k], coin):
                hide_again(s, image, int(s.coin_x[k]), int(s.coin_y[k]), coin)
    if p.use_exit and not p.exit_visible and near_light(s, s.exit_x, s.exit_y, door):
        hide_again(s, image, int(s.exit_x), int(s.exit_y), door)
    if not p.agent_visible and near_light(s, s.x, s.y, size_of(p)):
        hide_again(s, image, int(s.x), int(s.y), size_of(p))


@kernel
def coin_radius(p):
    return int(10.0 * p.coin_scale)


@kernel
def draw_coin(p, x, y, image):
    """A yellow disc with an orange border, which covers small ones."""
    disc(image, x, y, coin_radius(p), YELLOW)
    outlined(image, x, y, coin_radius(p), int(2.0 * p.coin_scale), ORANGE)


@kernel
def draw_exit(p, s, image):
    """A door with a round top."""
    side = p.door.shape[0]
    x, y = s.exit_x - side // 2, s.exit_y - side // 2
    stamp(image, p.door, x, y, OPEN if s.coins == 0 and s.elapsed > 0 else CLOSED)
    stamp(image, p.door_rim, x, y, BLACK)


@kernel
def draw_bar(p, s, image):
    """Health, and the action and the reward before the last."""
    rectangle(image, 0, 0, SIDE, BAR, GREY)
    rectangle(image, 0, 0, 2 * QUARTER, BAR, GREEN)
    lost = int(SIDE // 2 * (1.0 - s.health / p.agent_health))
    rectangle(image, 0, 0, min(max(lost, 0), 2 * QUARTER), BAR, RED)
    if p.show_last_action:
        rectangle(image, 2 * QUARTER, 0, QUARTER, BAR, ACTION_COLORS[s.seen_action[0]])
        rectangle(image, 3 * QUARTER, 0, QUARTER, BAR, ACTION_COLORS[s.seen_action[1]])
    if p.show_last_positive_reward and s.elapsed > 0:
        x, width = (int(2.75 * QUARTER), QUARTER // 2) if p.show_last_action else (2 * QUARTER, 2 * QUARTER)
        rectangle(image, x, 0, width, BAR, YELLOW if s.seen_reward else GREY)


@kernel
def draw_stage(p, s, image):
    """What the player sees."""
    light = 255 - int(s.darkness)
    if light > 0:
        draw_floor(p, s, image)
        draw_objects(p, s, image, True, False)
        if light < 255:
            darken(s, image, light)
    else:
        clear(image)
        if not p.black_background:
            light_floor(s, image, p.red_floor if s.hit and p.visual_feedback else p.blue_floor)
        draw_objects(p, s, image, True, True)
        hide_objects(p, s, image)
    draw_borders(p, s, image, light)
    draw_objects(p, s, image, False, False)
    draw_bar(p, s, image)


# --- images made once -------------------------------------------------------------------------------------------------


def make_floor(color: tuple[int, int, int], plain: bool) -> np.ndarray:
    """A chessboard of white and a color, or all white."""
    floor = np.full((SIDE, SIDE, 3), 255, np.uint8)
    for row in range(0, SIDE, CHECK):
        for column in range(0, SIDE, CHECK):
            if (row + column) // CHECK % 2 and not plain:
                rectangle(floor, column, row, CHECK, CHECK, color)
    return floor


def make_door(scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Masks of a door whose upper corners are round, and of its rim, which covers small ones."""
    side, radius, thick = int(20 * scale), int(10 * scale), int(2 * scale)
    door = np.zeros((side, side), np.uint8)
    for row in range(side):
        inset = radius - half_width(radius, radius - 1 - row) if row < radius else 0
        door[row, inset : side - inset] = 1
    if thick == 0:
        return door, door
    corner = np.zeros((2 * radius, 2 * radius, 3), np.uint8)
    ring(corner, radius, radius, radius, thick, (1, 1, 1))
    rim = np.zeros((side, side), np.uint8)
    rim[:radius, :radius] = corner[:radius, :radius, 0]
    rim[:radius, side - radius :] = corner[:radius, radius:, 0]
    for part in (rim[:thick, radius : side - radius], rim[radius:, :thick], rim[radius:, -thick:], rim[-thick:]):
        part[:] = 1
    return door, rim
