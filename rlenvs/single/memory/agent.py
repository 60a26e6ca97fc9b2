"""The figure of the three games: how it moves and looks. Positions are whole pixels, x to the right, y down."""

import math

from rlenvs.core import discrete, kernel, multi_discrete, param
from rlenvs.kits.raster.draw import disc, outlined

SIDE = 84  # pixels of the square screen
SCALE = 0.25  # size of the agent, unless a parameter says otherwise
BODY, PALM, HAND = (250, 204, 153), (250, 250, 250), (50, 50, 50)
NORTH, WEST, SOUTH, EAST = 0, 2, 4, 6  # facings, in eighths of a turn to the left
ROOT_HALF = math.sqrt(0.5)
# by facing: what is ahead
AHEAD_X = (0, -1, -1, -1, 0, 1, 1, 1)
AHEAD_Y = (-1, -1, 0, 1, 1, 1, 0, -1)
# by facing, of the angle by which the original turns its drawing: 360 degrees less 45 for each, in radians, rounded as
# there, since a hand between two pixels is cut to one of them
COSINE = (1.0, 0.7071067811865474, 0.0, -0.7071067811865477, -1.0, -0.7071067811865475, 0.0, 0.7071067811865476)
SINE = (0.0, -0.7071067811865477, -1.0, -0.7071067811865475, 0.0, 0.7071067811865476, 1.0, 0.7071067811865475)

FREE = multi_discrete(
    {"horizontal": discrete("none", "left", "right"), "vertical": discrete("none", "up", "down")},
    doc="The direction of the next move; both together move diagonally.",
)
TURNING = discrete("none", "turn left", "turn right", "forward", doc="Turn by 90 degrees, or go one tile forward.")

AGENT_PARAMS = {
    "agent_scale": param(0.25, 0.1, 0.5, "", "size of the agent: its radius is 25 pixels times this, rounded down"),
    "agent_speed": param(
        3.0, 1.0, 8.0, "px/step", "distance moved per step; on diagonals each component is truncated to pixels"
    ),
}


@kernel
def radius_of(p):
    return int(25.0 * p.agent_scale)


@kernel
def middle_hit(x, y, other_x, other_y, reach):
    """Whether two points are at most `reach` apart."""
    return (other_x - x) * (other_x - x) + (other_y - y) * (other_y - y) <= reach * reach


@kernel
def sign_of(choice):
    """-1 for left or up, 1 for right or down."""
    return -1 if choice == 1 else (1 if choice == 2 else 0)


@kernel
def facing_of(dx, dy, facing):
    """The facing that goes with a move; the old one where there is none."""
    for k in range(8):
        if AHEAD_X[k] == dx and AHEAD_Y[k] == dy:
            return k
    return facing


@kernel
def part_of(p, dx, dy):
    """How far a move goes along each axis in which it goes, px; diagonals are as long as straight moves."""
    return p.agent_speed * ROOT_HALF if dx != 0 and dy != 0 else p.agent_speed


@kernel
def move_freely(p, s, dx, dy):
    """One step of the free-moving agent, in whole pixels."""
    s.facing = facing_of(dx, dy, s.facing)
    far = int(part_of(p, dx, dy))
    s.x += far * dx
    s.y += far * dy


@kernel
def keep_inside(p, s, left, top, right, bottom):
    """Hold the whole agent in a rectangle."""
    radius = radius_of(p)
    s.x = max(min(s.x, right - radius), left + radius)
    s.y = max(min(s.y, bottom - radius), top + radius)


@kernel
def turn(s, action):
    """The turning agent's turn; forward is left to the world."""
    if action == 1:
        s.facing = (s.facing + 2) % 8
    elif action == 2:
        s.facing = (s.facing + 6) % 8


@kernel
def draw_agent(image, x, y, facing, scale):
    """A body and two hands, which show where it looks; those of large agents are pale inside."""
    radius, hand, line = int(25.0 * scale), int(10.0 * scale), int(3.0 * scale)
    middle = (2 * radius + hand) // 2 + 7  # of the square in which positions of hands are cut to pixels
    side, front = float(int(18.0 * scale)), float(int(12.0 * scale) + 7 - middle)
    cosine, sine = COSINE[facing], SINE[facing]
    disc(image, x, y, radius, BODY)
    for left in range(2):
        along = -side if left == 0 else side
        column = x + int(middle + (cosine * along - sine * front)) - middle
        row = y + int(middle + (sine * along + cosine * front)) - middle
        disc(image, column, row, hand, PALM)
    for left in range(2):
        along = -side if left == 0 else side
        column = x + int(middle + (cosine * along - sine * front)) - middle
        row = y + int(middle + (sine * along + cosine * front)) - middle
        outlined(image, column, row, hand, line, HAND)


@kernel
def choose_way(p, a, dx, dy):
    """The expert's action for a free-moving agent that wants to go (dx, dy) pixels."""
    near = 0.5 * p.agent_speed
    a[0] = (1 if dx < 0 else 2) if abs(dx) > near else 0
    a[1] = (1 if dy < 0 else 2) if abs(dy) > near else 0


@kernel
def way_to_turn(facing, dx, dy):
    """The expert's action for a turning agent that wants to go (dx, dy) tiles."""
    if dx == 0 and dy == 0:
        return 0
    best, least = 0, 9
    for wanted in range(0, 8, 2):
        if AHEAD_X[wanted] * dx + AHEAD_Y[wanted] * dy > 0:
            turns = (wanted - facing) % 8
            if min(turns, 8 - turns) < least:
                best, least = turns, min(turns, 8 - turns)
    return 3 if best == 0 else (1 if best <= 4 else 2)
