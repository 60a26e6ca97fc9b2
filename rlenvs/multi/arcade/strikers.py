"""Scripted players of air hockey. Each thinks in its own frame: its goal is on the left, x grows towards the other."""

from __future__ import annotations

import math

from rlenvs.core import choice, kernel
from rlenvs.multi.arcade.table import FIRST, LENGTH, MALLET, PUCK, PUCK_BODY, WIDTH, place_of, velocity_of

OPPONENT = choice("self", "striker", "keeper", "chaser", doc="who plays the other side; self: both are agents")
SELF, STRIKER, KEEPER, CHASER = OPPONENT.codes("self", "striker", "keeper", "chaser")

REACH = PUCK + MALLET  # m, between the centres of puck and mallet that touch
GUARD = -0.5 * LENGTH + 0.16  # m, where goals are guarded
GAIN = 12.0  # 1/s, of the speed asked for, per metre that is missing
SLOW = 0.6  # m/s: a puck that can be struck
BEHIND = 0.06  # m, from where the striker takes its run-up
ROOM = 0.5 * WIDTH - MALLET  # m


@kernel
def own_view(s, k, b):
    """Place and velocity of a body as side k sees them."""
    sign = 1.0 if k == 0 else -1.0
    x, y = place_of(s, b)
    vx, vy = velocity_of(s, b)
    return sign * x, sign * y, sign * vx, sign * vy


@kernel
def go(p, out, dx, dy):
    """Towards a place that is (dx, dy) away, slower when near."""
    out[0], out[1] = GAIN * dx / p.mallet_speed, GAIN * dy / p.mallet_speed
    long = math.sqrt(out[0] * out[0] + out[1] * out[1])
    if long > 1.0:
        out[0], out[1] = out[0] / long, out[1] / long


@kernel
def arrival(x, y, vx, vy, line):
    """Where a puck that moves towards the left will cross a line x; reflected by the rims, without drag."""
    room = 0.5 * WIDTH - PUCK
    along = y + vy * (line - x) / vx
    turns = math.floor((along + room) / (2.0 * room))
    rest = along - 2.0 * room * turns
    return rest if turns % 2.0 == 0.0 else -rest


@kernel
def guard(p, s, k, foresees, out):
    """Stand where the puck will come, before the goal; or between the goal and where the puck is."""
    x, y, vx, vy = own_view(s, k, PUCK_BODY)
    mx, my, _, _ = own_view(s, k, FIRST + k)
    wanted = 0.35 * y
    if foresees and vx < -0.1 and x > GUARD:
        wanted = arrival(x, y, vx, vy, GUARD)
    most = 0.5 * p.goal_width + MALLET
    go(p, out, GUARD - mx, min(max(wanted, -most), most) - my)


@kernel
def strike(p, s, k, aim_x, aim_y, out):
    """Get behind the puck as seen from the aim, then run through it."""
    x, y, vx, vy = own_view(s, k, PUCK_BODY)
    mx, my, _, _ = own_view(s, k, FIRST + k)
    x, y = x + 0.04 * vx, y + 0.04 * vy
    far = max(math.sqrt((aim_x - x) * (aim_x - x) + (aim_y - y) * (aim_y - y)), 1e-6)
    ux, uy = (aim_x - x) / far, (aim_y - y) / far
    along, aside = (x - mx) * ux + (y - my) * uy, (x - mx) * uy - (y - my) * ux
    if along > 0.0 and abs(aside) < 0.35 * along + 0.005:
        go(p, out, ux + 6.0 * aside * uy, uy - 6.0 * aside * ux)
        return
    stand = REACH + BEHIND
    wanted_x, wanted_y = x - stand * ux, y - stand * uy
    wanted_y = min(max(wanted_y, -ROOM), ROOM)
    if along < 0.0 and abs(aside) < REACH + 0.02:  # first to the side, not to push it into the own goal
        side = 1.0 if aside < 0.0 else -1.0
        if abs(y + side * stand * ux) > ROOM:
            side = -side
        wanted_x, wanted_y = x - 0.5 * stand * ux - side * stand * uy, y + side * stand * ux
    go(p, out, wanted_x - mx, wanted_y - my)


@kernel
def play(p, s, k, player, out):
    """What a player asks of its mallet: shares of its speed, ahead and to the left."""
    x, y, vx, vy = own_view(s, k, PUCK_BODY)
    mx, my, _, _ = own_view(s, k, FIRST + k)
    if player == CHASER:
        go(p, out, x - mx, y - my)
        return
    fast = math.sqrt(vx * vx + vy * vy)
    mine = x < -0.01 and (fast < SLOW or (player == STRIKER and vx > -SLOW and fast < 2.0 * SLOW))
    if not mine:
        guard(p, s, k, player == STRIKER, out)
    elif player == KEEPER:
        strike(p, s, k, 0.5 * LENGTH, y, out)
    else:
        _, rival, _, _ = own_view(s, k, FIRST + 1 - k)
        strike(p, s, k, 0.5 * LENGTH, aim_of(p, y, rival), out)


@kernel
def aim_of(p, y, rival):
    """Straight at the corner of the goal that the other mallet leaves open; over a rim if it stands in the middle."""
    corner = -0.3 * p.goal_width if rival > 0.0 else 0.3 * p.goal_width
    if abs(rival) > 0.02 + 0.25 * p.goal_width:
        return corner
    room = WIDTH - 2.0 * PUCK
    return room - corner if y > 0.0 else -room - corner
