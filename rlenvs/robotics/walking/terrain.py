"""The ground of Gymnasium's BipedalWalker-v3: hilly grass, and stumps, stairs and pits."""

from rlenvs.core import below, f8, kernel, uniform
from rlenvs.kits import planar
from rlenvs.kits.planar.biped import BACK, ROUGHNESS

GRASS, STUMP, STAIRS, PIT = range(4)
PIT_DEPTH = 4.0  # steps
STAIR_WIDTH = 4  # steps


def sizes(values):
    """Points of the ground, shapes, vertices: obstacles with their grass take at least five steps for a polygon."""
    polygons = values.terrain_length // 4 + 8 if values.hardcore else 0
    shapes = values.terrain_length - 1 + polygons + 5
    return {"points": values.terrain_length, "shapes": shapes, "vertices": 4 * shapes + 8}


STATE = {"ground": f8("points", 2)}


@kernel
def add_block(p, s, body, left, bottom, right, top):
    k = planar.add_quad(s, body, left, bottom, right, bottom, right, top, left, top, 0.0)
    planar.set_material(s, k, p.friction, 0.0)


@kernel
def build_pit(p, s, body, x, y, width):
    """Two blocks, whose inner sides are its walls."""
    unit = p.terrain_step
    low = y - PIT_DEPTH * unit
    add_block(p, s, body, x, low, x + unit, y)
    add_block(p, s, body, x + width * unit, low, x + (width + 1) * unit, y)


@kernel
def build_stairs(p, s, body, x, y, count, up):
    unit = p.terrain_step
    for n in range(count):
        top = y + n * up * unit
        add_block(p, s, body, x + n * STAIR_WIDTH * unit, top - unit, x + (n + 1) * STAIR_WIDTH * unit, top)


@kernel
def build_ground(p, s, body, rng):
    """Heights from left to right, obstacles where `hardcore` asks for them; then the edges between the points."""
    unit, middle = p.terrain_step, p.terrain_height
    kind, counter, begins = GRASS, p.terrain_startpad, False
    y, slope, before, stairs, up = middle, 0.0, 0.0, 0, 0
    for i in range(s.ground.shape[0]):
        x = i * unit
        if kind == GRASS and not begins:
            slope = 0.8 * slope + BACK * ((1.0 if y < middle else 0.0) - (1.0 if y > middle else 0.0))
            if i > p.terrain_startpad:
                slope += uniform(rng, -1.0, 1.0) * ROUGHNESS
            y += slope
        elif kind == PIT and begins:
            counter = 3 + below(rng, 2)
            build_pit(p, s, body, x, y, counter)
            counter += 2
            before = y
        elif kind == PIT:
            y = before - (PIT_DEPTH * unit if counter > 1 else 0.0)
        elif kind == STUMP and begins:
            counter = 1 + below(rng, 2)
            add_block(p, s, body, x, y, x + counter * unit, y + counter * unit)
        elif kind == STAIRS and begins:
            up = 1 if uniform(rng, 0.0, 1.0) > 0.5 else -1
            stairs = 3 + below(rng, 2)
            before = y
            build_stairs(p, s, body, x, y, stairs, up)
            counter = stairs * STAIR_WIDTH
        elif kind == STAIRS:
            done = stairs * STAIR_WIDTH - counter - up
            y = before + done / STAIR_WIDTH * up * unit
        begins = False
        s.ground[i, 0], s.ground[i, 1] = x, y
        counter -= 1
        if counter == 0:
            half = p.terrain_grass // 2
            counter = half + below(rng, p.terrain_grass - half)
            kind = 1 + below(rng, 3) if kind == GRASS and p.hardcore else GRASS
            begins = True
    for i in range(s.ground.shape[0] - 1):
        k = planar.add_edge(s, body, s.ground[i, 0], s.ground[i, 1], s.ground[i + 1, 0], s.ground[i + 1, 1])
        planar.set_material(s, k, p.friction, 0.0)
