"""Spotlights of Searing Spotlights: how they travel, whom they hit, and the screen that they light."""

import math

from rlenvs.core import below, kernel, uniform
from rlenvs.core.maths import cos, sin
from rlenvs.kits.raster import clear, copy_image, disc, half_width, rectangle, ring, stamp
from rlenvs.single.memory.agent import SIDE, draw_agent, radius_of

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


# --- how they travel --------------------------------------------------------------------------------------------------


@kernel
def free_slot(s):
    """A place for one more spotlight; -1 where all are taken."""
    for k in range(MOST_SPOTS):
        if s.radius[k] == 0:
            return k
    return -1


@kernel
def spawn(p, s, rng):
    """A spotlight outside of the screen, that will cross it."""
    k = free_slot(s)
    if k < 0:
        return
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
    place_spot(s, k, 0.0)


@kernel
def spot_at(s, k, t, axis):
    """Where a spotlight is at time t of its way, 0 ... 1, along an axis."""
    start, target, bend = s.ends[k, axis], s.ends[k, 2 + axis], s.ends[k, 4 + axis]
    goal = target + t * (bend - target)
    return start + t * (goal - start)


@kernel
def place_spot(s, k, t):
    s.spot_x[k] = spot_at(s, k, t, 0)
    s.spot_y[k] = spot_at(s, k, t, 1)


@kernel
def move_spots(p, s):
    """All spotlights go on. Returns how many of them hit the agent."""
    hits = 0
    skip = False
    for k in range(MOST_SPOTS):
        s.lit[k] = False
        if s.radius[k] == 0:
            continue
        if skip:  # the original loses sight of the one behind one that it removes
            skip = False
        elif s.progress[k] >= 1.0:
            s.radius[k] = 0
            skip = p.compat == 1
        else:
            place_spot(s, k, s.progress[k])
            s.lit[k] = True
            s.progress[k] += s.speed[k]
            hits += int(touches(p, s, s.spot_x[k], s.spot_y[k], float(s.radius[k])))
    return hits


@kernel
def touches(p, s, x, y, radius):
    """Whether the agent and a disc touch."""
    reach = radius + radius_of(p)
    return (x - s.x) * (x - s.x) + (y - s.y) * (y - s.y) <= reach * reach


# --- the screen -------------------------------------------------------------------------------------------------------


@kernel
def is_lit(s, x, y):
    """Whether a spotlight shows a pixel."""
    for k in range(MOST_SPOTS):
        if s.lit[k]:
            row = y - int(s.spot_y[k])
            if -s.radius[k] <= row < s.radius[k]:
                half = half_width(s.radius[k], row)
                column = x - int(s.spot_x[k])
                if -half <= column < half:
                    return True
    return False


@kernel
def darken(s, image, light):
    """Dim what no spotlight shows; light is 256 for day and 0 for night."""
    for y in range(SIDE):
        for x in range(SIDE):
            if not is_lit(s, x, y):
                for c in range(3):
                    image[y, x, c] = (int(image[y, x, c]) * light) >> 8


@kernel
def floor_color(p, s, x, y, c):
    """Of a pixel of the floor."""
    if p.black_background:
        return 0
    return p.red_floor[y, x, c] if s.hit and p.visual_feedback else p.blue_floor[y, x, c]


@kernel
def draw_floor(p, s, image):
    if p.black_background:
        clear(image)
    elif s.hit and p.visual_feedback:
        copy_image(image, p.red_floor)
    else:
        copy_image(image, p.blue_floor)


@kernel
def light_floor(p, s, image):
    """Night, but for what the spotlights show of the floor."""
    clear(image)
    if p.black_background:
        return
    for k in range(MOST_SPOTS):
        if not s.lit[k]:
            continue
        radius, x, y = int(s.radius[k]), int(s.spot_x[k]), int(s.spot_y[k])
        for row in range(max(-radius, -y), min(radius, SIDE - y)):
            half = half_width(radius, row)
            for column in range(max(x - half, 0), min(x + half, SIDE)):
                for c in range(3):
                    image[y + row, column, c] = (
                        p.red_floor[y + row, column, c]
                        if s.hit and p.visual_feedback
                        else p.blue_floor[y + row, column, c]
                    )


@kernel
def hide_again(s, image, x, y, radius):
    """Blacken what was drawn of an object where no spotlight is."""
    for row in range(max(y - radius, 0), min(y + radius, SIDE)):
        for column in range(max(x - radius, 0), min(x + radius, SIDE)):
            if not is_lit(s, column, row):
                for c in range(3):
                    image[row, column, c] = 0


@kernel
def draw_borders(p, s, image, light):
    """Rims of the spotlights, which a black floor would not show."""
    if p.black_background:
        for k in range(MOST_SPOTS):
            if s.lit[k]:
                shade = (255 * (256 - light)) >> 8
                ring(image, int(s.spot_x[k]), int(s.spot_y[k]), int(s.radius[k]), 1, (shade, shade, shade))


@kernel
def draw_objects(p, s, image, hidden):
    """Coins, exit and agent: those that the dark hides, or those that it does not."""
    coin = coin_radius(p)
    if (p.coins_visible == 0 and s.coin_shown == 0) == hidden:
        for k in range(s.coins):
            disc(image, s.coin_x[k], s.coin_y[k], coin, ORANGE)
    if p.use_exit and (p.exit_visible == 0) == hidden:
        draw_exit(p, s, image)
    if (p.agent_visible == 0) == hidden:
        draw_agent(p, image, s.x, s.y, s.facing if s.elapsed > 0 else 0)


@kernel
def coin_radius(p):
    return int(10.0 * p.coin_scale)


@kernel
def exit_radius(p):
    return 10.0 * p.exit_scale


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
    light = 256 - s.darkness if s.darkness < 255 else 0
    if light > 0:
        draw_floor(p, s, image)
        draw_objects(p, s, image, True)
        if light < 256:
            darken(s, image, light)
    else:
        light_floor(p, s, image)
        draw_objects(p, s, image, True)
        hide_objects(p, s, image)
    draw_borders(p, s, image, light)
    draw_objects(p, s, image, False)
    draw_bar(p, s, image)


@kernel
def hide_objects(p, s, image):
    """The dark in front of coins, exit and agent."""
    if p.coins_visible == 0 and s.coin_shown == 0:
        for k in range(s.coins):
            hide_again(s, image, int(s.coin_x[k]), int(s.coin_y[k]), coin_radius(p))
    if p.use_exit and p.exit_visible == 0:
        hide_again(s, image, int(s.exit_x), int(s.exit_y), p.door.shape[0])
    if p.agent_visible == 0:
        hide_again(s, image, int(s.x), int(s.y), radius_of(p) + int(10.0 * p.agent_scale) + 1)
