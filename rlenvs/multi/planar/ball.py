"""A ball among walls and pistons, moved like in Chipmunk 7, the physics engine of PettingZoo's Pistonball.

The rules of Chipmunk, after its documentation: a step moves the ball by its velocity, then finds contacts, then changes
velocities by gravity, then by ten iterations of contact impulses. Overlaps are removed by separate velocities, which
last for one step and do not add to the ball's speed (unlike in Box2D, the model for `rlenvs/kits/planar`). Everything
except the ball moves kinematically. The mass of the ball cancels out, and is 1. Units are the original's pixels and
seconds, x to the right and y down.
"""

import math

from rlenvs.core import f8, i8, kernel

SWEEPS = 10
SLOP = 0.1  # px, of overlap that stays
CORRECTED = 1.0 - 0.6309573444801932  # share of an overlap that a step takes away: 0.0001 is left after a second
PERSISTS = 3  # steps for which impulses of a touch that ended are remembered
LEFT, TOP, BOTTOM, RIGHT = range(4)  # walls; pistons follow
WALLS = 4
WALL_RADIUS, PISTON_RADIUS = 1.0, 5.0  # px
NEVER = -1000

STATE = {
    "position": f8(2),  # px, of the ball's centre
    "velocity": f8(2),  # px/s
    "angle": f8,  # rad, clockwise
    "spin": f8,  # rad/s
    "correction": f8(3),  # velocities, px/s and rad/s, that take overlaps out
    "height": f8("agents"),  # px, how far each piston is up
    "clock": i8,  # steps of the physics
    "impulse": f8("solids", 2),  # normal and tangential, at the last touch
    "pushed_out": f8("solids"),  # the impulse of the correction
    "touched": i8("solids"),  # step of the last touch
    "fresh": i8("solids"),  # it has just begun
    "normal": f8("solids", 2),  # from the ball to what it touches
    "arm": f8("solids", 2),  # px, from the ball's centre to the place
    "gain": f8("solids", 2),  # masses that an impulse there moves, along the normal and across
    "excess": f8("solids"),  # px/s, of the correction
    "bounce": f8("solids"),  # px/s
    "touching": i8("solids"),  # the solids that touch now, in the order of solving
    "touch_count": i8,
}


@kernel
def bounds(p, s, j):
    """The ends of solid j, a segment with round ends, and its radius."""
    wide, high, wall = 40.0 * s.height.size + 80.0, 560.0, 40.0
    if j >= WALLS:
        x = wall + PISTON_RADIUS + 40.0 * (j - WALLS)
        y = 491.0 - s.height[j - WALLS]
        return x, y, x + 30.0, y, PISTON_RADIUS
    x1 = wide - wall if j == RIGHT else wall
    x2 = wall if j == LEFT else wide - wall
    y1 = high - wall if j == BOTTOM else wall
    y2 = wall if j == TOP else high - wall
    return x1, y1, x2, y2, WALL_RADIUS


@kernel
def find_touches(p, s, dt):
    """What overlaps with the ball, and what stays the same during the sweeps. Pistons are solved from the right to the
    left, which is the order that Chipmunk's search tree most often gives."""
    s.touch_count = 0
    for j in range(s.touched.size - 1, -1, -1):
        x1, y1, x2, y2, radius = bounds(p, s, j)
        dx, dy = x2 - x1, y2 - y1
        along = ((s.position[0] - x1) * dx + (s.position[1] - y1) * dy) / (dx * dx + dy * dy)
        along = min(max(along, 0.0), 1.0)
        nearest_x, nearest_y = x1 + along * dx, y1 + along * dy
        far_x, far_y = nearest_x - s.position[0], nearest_y - s.position[1]
        reach, far2 = p.ball_radius + radius, far_x * far_x + far_y * far_y
        if far2 >= reach * reach:
            continue
        far = math.sqrt(far2)
        nx, ny = (far_x / far, far_y / far) if far > 0.0 else (0.0, 1.0)
        since = s.clock - s.touched[j]
        s.fresh[j] = since > 1
        if since > PERSISTS:
            s.impulse[j, 0], s.impulse[j, 1] = 0.0, 0.0
        s.touched[j] = s.clock
        s.touching[s.touch_count] = j
        s.touch_count += 1
        rx, ry = p.ball_radius * nx, p.ball_radius * ny
        s.normal[j, 0], s.normal[j, 1], s.arm[j, 0], s.arm[j, 1] = nx, ny, rx, ry
        inertia = 0.5 * p.ball_radius * p.ball_radius
        across = rx * ny - ry * nx
        level = rx * nx + ry * ny
        s.gain[j, 0] = 1.0 / (1.0 + across * across / inertia)
        s.gain[j, 1] = 1.0 / (1.0 + level * level / inertia)
        overlap = far - reach
        s.excess[j] = -CORRECTED * min(0.0, overlap + SLOP) / dt
        s.pushed_out[j] = 0.0
        away = -(s.velocity[0] - s.spin * ry) * nx - (s.velocity[1] + s.spin * rx) * ny
        s.bounce[j] = away * p.ball_elasticity * p.piston_elasticity


@kernel
def kick(p, s, j, normal, tangent):
    """Impulses on the ball at its touch with solid j."""
    nx, ny, rx, ry = s.normal[j, 0], s.normal[j, 1], s.arm[j, 0], s.arm[j, 1]
    px, py = -(normal * nx - tangent * ny), -(normal * ny + tangent * nx)
    s.velocity[0] += px
    s.velocity[1] += py
    s.spin += (rx * py - ry * px) / (0.5 * p.ball_radius * p.ball_radius)


@kernel
def solve(p, s, j, friction):
    """One sweep at one touch."""
    nx, ny, rx, ry = s.normal[j, 0], s.normal[j, 1], s.arm[j, 0], s.arm[j, 1]
    moving_out = -(s.correction[0] - s.correction[2] * ry) * nx - (s.correction[1] + s.correction[2] * rx) * ny
    before = s.pushed_out[j]
    s.pushed_out[j] = max(before + (s.excess[j] - moving_out) * s.gain[j, 0], 0.0)
    out = s.pushed_out[j] - before
    s.correction[0] -= out * nx
    s.correction[1] -= out * ny
    s.correction[2] -= out * (rx * ny - ry * nx) / (0.5 * p.ball_radius * p.ball_radius)
    vx, vy = -(s.velocity[0] - s.spin * ry), -(s.velocity[1] + s.spin * rx)  # of the solid against the ball
    normal, tangent = s.impulse[j, 0], s.impulse[j, 1]
    s.impulse[j, 0] = max(normal - (s.bounce[j] + vx * nx + vy * ny) * s.gain[j, 0], 0.0)
    most = friction * s.impulse[j, 0]
    s.impulse[j, 1] = min(max(tangent - (vy * nx - vx * ny) * s.gain[j, 1], -most), most)
    kick(p, s, j, s.impulse[j, 0] - normal, s.impulse[j, 1] - tangent)


@kernel
def keep_inside(s):
    """The centre of a ball that is so fast that it would pass a wall stops there."""
    wide, high = 40.0 * s.height.size + 80.0, 560.0
    s.position[0] = min(max(s.position[0], 40.0 + WALL_RADIUS), wide - 40.0 - WALL_RADIUS)
    s.position[1] = min(max(s.position[1], 40.0 + WALL_RADIUS), high - 40.0 - WALL_RADIUS)


@kernel
def move_ball(p, s, dt):
    """One step of the physics."""
    s.position[0] += dt * (s.velocity[0] + s.correction[0])
    s.position[1] += dt * (s.velocity[1] + s.correction[1])
    s.angle += dt * (s.spin + s.correction[2])
    keep_inside(s)
    s.correction[0], s.correction[1], s.correction[2] = 0.0, 0.0, 0.0
    find_touches(p, s, dt)
    s.velocity[0] += dt * p.gravity_x
    s.velocity[1] += dt * p.gravity
    for i in range(s.touch_count):
        j = s.touching[i]
        if not s.fresh[j]:
            kick(p, s, j, s.impulse[j, 0], s.impulse[j, 1])
    friction = p.ball_friction * p.piston_friction
    for _ in range(SWEEPS):
        for i in range(s.touch_count):
            solve(p, s, s.touching[i], friction)
    s.clock += 1


@kernel
def forget_touches(s):
    """At the start of an episode."""
    for j in range(s.touched.size):
        s.touched[j] = NEVER
