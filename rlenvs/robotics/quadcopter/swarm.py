"""Several vehicles in one world: the downwash of each on those below.

The model of the downwash: gym-pybullet-drones (Panerati et al., "Learning to Fly", IROS 2021).
"""

from typing import Any

from rlenvs.core import block, flag, integer, kernel, maths, param
from rlenvs.robotics.quadcopter.dynamics import fly, fly_alone, load

WASH_RANGE = 10.0  # m, beyond which no downwash is felt sideways

WASH = {
    "downwash_force": param(2267.18, 0.0, 1e4, "N", "strength of the downwash of a vehicle above"),
    "downwash_most": param(2.25, 0.0, 1e6, "", "largest push of a vehicle above, in weights"),
    "downwash_spread": param(0.16, 0.0, 1.0, "", "growth of the downwash's width per meter below"),
    "downwash_width": param(-0.11, -0.5, 0.5, "m", "width of the downwash at height difference 0"),
}
SWARM_EFFECTS = {"downwash": flag(False, "whether vehicles above push down on those below")}
SWARM_SHOWN_BY = {name: {"downwash": True} for name in WASH}


@kernel
def downwash(p, s, k):
    """The push [N], along the body's -z, of the vehicles above vehicle k."""
    force = 0.0
    for j in range(s.position.shape[0]):
        above = s.position[j, 2] - s.position[k, 2]
        if above <= 0.0 or not s.alive[j]:
            continue
        x, y = s.position[j, 0] - s.position[k, 0], s.position[j, 1] - s.position[k, 1]
        square = x * x + y * y
        width = p.downwash_spread * above + p.downwash_width
        # beyond 38 widths the exponential is 0 in double precision
        if square < WASH_RANGE * WASH_RANGE and square <= 1444.0 * width * width and width != 0.0:
            ratio = p.propeller_radius / (4.0 * above)
            # the original's grows without bound for near vehicles
            strength = min(p.downwash_force * ratio * ratio, p.downwash_most * p.mass * p.gravity)
            force += strength * maths.exp(-0.5 * square / (width * width))
    return force


@kernel
def wash_all(p, s):
    """The push on every living vehicle from those above it, all from where they are now."""
    for k in range(s.position.shape[0]):
        s.wash[k] = downwash(p, s, k)


@kernel
def load_swarm(p, s, rng):
    """`before_physics` with downwash."""
    if p.downwash:
        wash_all(p, s)
    load(p, s, rng)
    s.steady = s.steady and not p.downwash


@kernel
def fly_swarm(p, s, rng):
    """`fly` with downwash, which couples the vehicles in every physics step."""
    if not p.downwash:
        fly(p, s, rng)
        return
    for _ in range(p.physics_hz // p.control_hz):
        wash_all(p, s)
        for k in range(s.position.shape[0]):
            if s.alive[k]:
                fly_alone(p, s, k, 1, 1.0 / p.physics_hz)


# --- neighbours -------------------------------------------------------------------------------------------------------

SWARM_OPTIONS: dict[str, Any] = {
    "neighbours": integer(3, 0, 20, "number of nearest other vehicles in the observation"),
    "collisions_end": flag(True, "whether vehicles that touch are out; otherwise they pass through each other"),
}


def neighbour_blocks(arena: float, speed: float) -> dict[str, Any]:
    """The observation blocks of the nearest others, nearest first, zero where there are fewer."""
    return {
        "near_position": block(
            "neighbours", 3, low=-2 * arena, high=2 * arena, unit="m", doc="other minus own position"
        ),
        "near_velocity": block("neighbours", 3, low=-speed, high=speed, unit="m/s", doc="others minus own velocity"),
    }


@kernel
def observe_neighbours(s, k, o):
    """Fill the blocks of `neighbour_blocks` for vehicle k."""
    last, last_index = -1.0, -1
    for row in range(o.near_position.shape[0]):
        best, index = 1e18, -1
        for j in range(s.position.shape[0]):
            if j == k or not s.alive[j]:
                continue
            x, y = s.position[j, 0] - s.position[k, 0], s.position[j, 1] - s.position[k, 1]
            z = s.position[j, 2] - s.position[k, 2]
            square = x * x + y * y + z * z
            # the next after the one before, in order of distance and number
            later = square > last or (square == last and j > last_index)
            if later and square < best:
                best, index = square, j
        for j in range(3):
            o.near_position[row, j] = s.position[index, j] - s.position[k, j] if index >= 0 else 0.0
            o.near_velocity[row, j] = s.velocity[index, j] - s.velocity[k, j] if index >= 0 else 0.0
        if index < 0:
            last = 1e18
        else:
            last, last_index = best, index
