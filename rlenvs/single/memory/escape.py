"""The expert of Searing Spotlights: of several detours, the one with the least damage and then the shortest."""

from rlenvs.core import kernel
from rlenvs.single.memory.agent import SIDE, part_of, radius_of
from rlenvs.single.memory.spotlights import BAR, spot_at

AHEAD = 60  # steps that are looked ahead
DETOURS = (1, 2, 4, 7, 11, 16, 24)  # steps that a detour takes
LEGS = (2, 5, 10, 18)  # the same where there are two
HURT = 1000.0  # steps that a hit is worth
PATIENCE = 80  # steps before the time is over from which on it goes at any price
DEATH = 1e6  # the same of the end
MARGIN, NEAR = 3.0, 4.0  # px from a spotlight that count as near, and steps that this is worth


@kernel
def direction(p, way):
    """Where an agent turns that wants to go so many pixels along an axis."""
    near = 0.5 * p.agent_speed
    return -1 if way < -near else (1 if way > near else 0)


@kernel
def danger_at(p, s, x, y, t):
    """What it costs to be at (x, y), t steps from now (0: in the next step)."""
    danger = 0.0
    for k in range(s.spots):
        place = s.progress[k] + t * s.speed[k]
        if place < 1.0:
            dx, dy = spot_at(s, k, place, 0) - x, spot_at(s, k, place, 1) - y
            reach = float(s.radius[k] + radius_of(p))
            if dx * dx + dy * dy <= reach * reach:
                return HURT - 2.0 * t  # what is far off may still be avoided
            if dx * dx + dy * dy <= (reach + MARGIN) * (reach + MARGIN):
                danger = NEAR
    return danger


@kernel
def price(p, s, first, second, goal_x, goal_y, limit):
    """What it costs to go two legs, each (across, down, steps), and then straight to the goal; or a number above the
    limit."""
    x, y, cost, health = int(s.x), int(s.y), 0.0, s.health * 1.0
    radius = radius_of(p)
    for t in range(AHEAD):
        if t < first[2]:
            dx, dy = first[0], first[1]
        elif t < first[2] + second[2]:
            dx, dy = second[0], second[1]
        else:
            dx, dy = direction(p, goal_x - x), direction(p, goal_y - y)
        far = int(part_of(p, dx, dy))
        x = max(min(x + far * dx, SIDE - radius), radius)
        y = max(min(y + far * dy, SIDE - radius), BAR + radius)
        danger = danger_at(p, s, x, y, t)
        cost += 1.0 + danger
        if danger > NEAR:
            health -= p.spot_damage
        if health <= 0.0:
            return cost + DEATH - HURT * t
        if cost >= limit:
            return cost
        if (goal_x - x) * (goal_x - x) + (goal_y - y) * (goal_y - y) <= radius * radius:
            return cost
    return cost + abs(goal_x - x) + abs(goal_y - y)


@kernel
def has_time(p, s):
    """Whether it may wait."""
    left = p.steps_per_coin - s.coin_clock if p.endless else p.horizon - s.elapsed
    return left > PATIENCE


@kernel
def advise(p, s, a, goal_x, goal_y):
    """The first step of the best way: a detour, after which the agent goes on or waits; detours of two legs where all
    others hurt."""
    none = (0, 0, 0)
    best = price(p, s, none, none, goal_x, goal_y, 1e9)
    dx, dy = direction(p, goal_x - s.x), direction(p, goal_y - s.y)
    for steps in DETOURS:
        for way in range(9):
            leg = (way // 3 - 1, way % 3 - 1, steps)
            for stay in range(2 if has_time(p, s) else 1):
                found = price(p, s, leg, (0, 0, stay * AHEAD), goal_x, goal_y, best)
                if found < best:
                    best, dx, dy = found, leg[0], leg[1]
    if best >= 0.5 * HURT:
        for steps in LEGS:
            for more in LEGS:
                for ways in range(81):
                    leg = (ways // 27 - 1, ways // 9 % 3 - 1, steps)
                    found = price(p, s, leg, (ways // 3 % 3 - 1, ways % 3 - 1, more), goal_x, goal_y, best)
                    if found < best:
                        best, dx, dy = found, leg[0], leg[1]
    a[0] = 1 if dx < 0 else (2 if dx > 0 else 0)
    a[1] = 1 if dy < 0 else (2 if dy > 0 else 0)
