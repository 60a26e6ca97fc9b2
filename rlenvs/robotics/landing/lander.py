"""The lander: terrain, body, legs, engines and wind of Gymnasium's LunarLander-v3, as kernels.

Sizes are in the original's pixels, `scale` per meter, including the viewport.
"""

import math

from rlenvs.core import f8, i8, kernel, maths, uniform
from rlenvs.kits import planar

CHUNKS = 11  # points of the terrain
GROUND, HULL, LEFT, RIGHT = range(4)  # bodies; the left leg is the original's leg 0
FIRST_CHUNK = 1  # shape; below it lies the bottom of the viewport
HULL_SHAPE = CHUNKS
LEFT_SHAPE, RIGHT_SHAPE = CHUNKS + 1, CHUNKS + 2
TERRAIN, LANDER, LEG = 0x1, 0x10, 0x20  # categories
REST = 0.5 - 1e-6  # s without motion, after which the original sleeps
MAIN_ENGINE_HEIGHT = 4.0  # px
SIDE_ENGINE_ARM = 17.0  # px, where the original has it, beside `side_engine_height` on the other axis
WIND_RATE, WIND_BEAT = 0.02, math.pi * 0.01  # 1/step
LARGEST_WIND_INDEX = 9999
# px: the hull, counter-clockwise
HULL_X = (-14.0, -17.0, -17.0, 17.0, 17.0, 14.0)
HULL_Y = (17.0, 0.0, -10.0, -10.0, 0.0, 17.0)

STATE = {
    **planar.fields(bodies=4, shapes=14, vertices=58, joints=2, contacts=24, events=48, strips=12),
    "heights": f8(CHUNKS + 1),  # m, before smoothing
    "shaping": f8,
    "wind_index": i8,
    "torque_index": i8,
    "hull_touched": i8,
    "leg_touches": i8(2),
    "main_power": f8,  # of the last step
    "side_power": f8,  # negative to the left
    "at_rest": i8,
}


@kernel
def draw_terrain(p, s, rng):
    """Heights of the terrain before smoothing: flat about the pad."""
    high = p.viewport_h / p.scale
    for i in range(CHUNKS + 1):
        s.heights[i] = uniform(rng, 0.0, 0.5 * high)
    for i in range(CHUNKS // 2 - 2, CHUNKS // 2 + 3):
        s.heights[i] = 0.25 * high


@kernel
def chunk_x(p, i):
    return p.viewport_w / p.scale / (CHUNKS - 1) * i


@kernel
def chunk_y(s, i):
    """The mean of three heights, but for a hundredth; the first one has the last as its neighbour."""
    before = s.heights[i - 1] if i > 0 else s.heights[CHUNKS]
    return 0.33 * (before + s.heights[i] + s.heights[i + 1])


@kernel
def pad_height(p):
    return 0.25 * p.viewport_h / p.scale


@kernel
def build(p, s):
    """Terrain, lander and legs at their start, from the heights in the state."""
    ground = planar.add_body(s, planar.STATIC, 0.0, 0.0, 0.0)
    planar.add_edge(s, ground, 0.0, 0.0, p.viewport_w / p.scale, 0.0)
    for i in range(CHUNKS - 1):
        k = planar.add_edge(s, ground, chunk_x(p, i), chunk_y(s, i), chunk_x(p, i + 1), chunk_y(s, i + 1))
        planar.set_material(s, k, 0.1, 0.0)
    x, y = 0.5 * p.viewport_w / p.scale, p.viewport_h / p.scale
    hull = planar.add_body(s, planar.DYNAMIC, x, y, 0.0)
    k = planar.start_polygon(s, hull, 6)
    for j in range(6):
        planar.set_vertex(s, k, j, HULL_X[j] / p.scale, HULL_Y[j] / p.scale)
    planar.finish_polygon(s, k, 5.0)
    planar.set_material(s, k, 0.1, 0.0)
    planar.set_filter(s, k, LANDER, TERRAIN)
    away, down = p.leg_away / p.scale, p.leg_down / p.scale
    for side in (-1, 1):
        leg = planar.add_body(s, planar.DYNAMIC, x - side * away, y, 0.05 * side)
        k = planar.add_box(s, leg, p.leg_w / p.scale, p.leg_h / p.scale, 1.0)
        planar.set_filter(s, k, LEG, TERRAIN)
    for side in (1, -1):
        j = planar.add_revolute(s, hull, RIGHT if side > 0 else LEFT, 0.0, 0.0, side * away, down)
        planar.set_motor(s, j, 0.3 * side, p.leg_spring_torque)
        if side < 0:
            planar.set_limits(s, j, 0.4, 0.9)
        else:
            planar.set_limits(s, j, -0.9, -0.4)
    planar.prepare(s)


@kernel
def gust(index):
    """Between -1 and 1, never periodic."""
    return maths.tanh(maths.sin(WIND_RATE * index) + maths.sin(WIND_BEAT * index))


@kernel
def blow(p, s):
    """Wind and turbulence, while no leg touches the ground."""
    if p.enable_wind and not (s.leg_touches[0] or s.leg_touches[1]):
        planar.push(s, HULL, gust(s.wind_index) * p.wind_power, 0.0)
        s.wind_index += 1
        s.torque[HULL] += gust(s.torque_index) * p.turbulence_power
        s.torque_index += 1


@kernel
def fire(p, s, main, side, across, along):
    """Impulses of the engines at these powers. `across` and `along`, in [-1, 1], are chance's part in their places."""
    tip_x, tip_y = maths.sin_cos(s.angle[HULL])
    side_x, side_y = -tip_y, tip_x
    d0, d1 = across / p.scale, along / p.scale
    x, y = planar.origin(s, HULL)
    if main > 0.0:
        reach = MAIN_ENGINE_HEIGHT / p.scale + 2.0 * d0
        ox, oy = tip_x * reach + side_x * d1, -tip_y * reach - side_y * d1
        force = -p.main_engine_power * main
        planar.kick(s, HULL, ox * force, oy * force, x + ox, y + oy)
    if side != 0.0:
        direction = 1.0 if side > 0.0 else -1.0
        reach = 3.0 * d1 + direction * p.side_engine_away / p.scale
        ox, oy = tip_x * d0 + side_x * reach, -tip_y * d0 - side_y * reach
        force = -p.side_engine_power * abs(side)
        px = x + ox - tip_x * SIDE_ENGINE_ARM / p.scale
        py = y + oy + tip_y * p.side_engine_height / p.scale
        planar.kick(s, HULL, ox * force, oy * force, px, py)


@kernel
def read_contacts(s):
    """A leg forgets the ground when one of the edges it touches lets it go, as in the original."""
    for e in range(s.event_count):
        for n in range(2):
            k = s.events[e, n]
            if k == HULL_SHAPE and s.events[e, 2] > 0:
                s.hull_touched = 1
            elif k in (LEFT_SHAPE, RIGHT_SHAPE):
                s.leg_touches[k - LEFT_SHAPE] = 1 if s.events[e, 2] > 0 else 0


@kernel
def fly(p, s, main, side, across, along):
    """One step: wind, engines, motion, contacts."""
    s.main_power, s.side_power = main, side
    blow(p, s)
    fire(p, s, main, side, across, along)
    often, again = p.velocity_iterations, p.position_iterations
    planar.advance(s, 1.0 / p.fps, p.gravity_x, p.gravity, often, again, planar.SETTLED)
    read_contacts(s)
    s.at_rest = 1 if s.position_solved else 0
    for b in range(HULL, RIGHT + 1):
        if s.still[b] < REST:
            s.at_rest = 0
    if s.at_rest:
        for b in range(HULL, RIGHT + 1):
            s.velocity[b, 0], s.velocity[b, 1], s.spin[b] = 0.0, 0.0, 0.0


@kernel
def seen(p, s):
    """The original's eight numbers."""
    x, y = planar.origin(s, HULL)
    half_wide, half_high = 0.5 * p.viewport_w / p.scale, 0.5 * p.viewport_h / p.scale
    return (
        (x - half_wide) / half_wide,
        (y - pad_height(p) - p.leg_down / p.scale) / half_high,
        s.velocity[HULL, 0] * half_wide / p.fps,
        s.velocity[HULL, 1] * half_high / p.fps,
        s.angle[HULL],
        20.0 * s.spin[HULL] / p.fps,
        1.0 if s.leg_touches[0] else 0.0,
        1.0 if s.leg_touches[1] else 0.0,
    )


@kernel
def shaping_of(p, s):
    """What the original's reward is the difference of."""
    x, y, vx, vy, angle, _, left, right = seen(p, s)
    far, fast = math.sqrt(x * x + y * y), math.sqrt(vx * vx + vy * vy)
    return -100.0 * far - 100.0 * fast - 100.0 * abs(angle) + 10.0 * left + 10.0 * right
