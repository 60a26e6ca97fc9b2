"""The common parts of tasks with several quadcopters: room, starts, costs, terminations, and an expert that keeps clear
of others.

The room is that of MultiHoverAviary in gym-pybullet-drones (Panerati et al., "Learning to Fly", IROS 2021). Positions
are drawn in separate columns, so that at the start and at the goal no vehicle hovers in the downwash of another.
"""

import math
from collections.abc import Mapping
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np

from rlenvs.core import World, b1, below, choice, cost, f8, i4, i8, integer, kernel, maths, param, uniform
from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.quadcopter import geofence, tasks
from rlenvs.robotics.quadcopter.control import limited, pid_target
from rlenvs.robotics.quadcopter.flight import (
    ONE_D_POSITION,
    ONE_D_RPM,
    POSITION,
    command,
    flight_data,
    fly_to,
    kinematics,
    largest_tilt,
    mean_square,
    observe_motion,
    past_actions,
    take_off,
)
from rlenvs.robotics.quadcopter.render import draw_room_flight
from rlenvs.robotics.quadcopter.swarm import (
    SWARM_EFFECTS,
    SWARM_OPTIONS,
    SWARM_SHOWN_BY,
    WASH,
    neighbour_blocks,
    observe_neighbours,
)
from rlenvs.robotics.quadcopter.vehicle import ALL_EFFECTS, euler_angles, frame_data

ROOM, CEILING = 2.0, 2.0  # m, half side and height
REACH, LOW, HIGH = 1.8, 0.4, 1.6  # m, half side and heights of the box of starts and goals
CLOSEST, LOOSEST = 0.25, 0.6  # m, between neighbouring places, where the hulls (4 radii) allow it
SHARE = 0.6  # of a cell's width that places in neighbouring cells are apart
SAFE_TILT, SAFE_REACH, SAFE_HEIGHT = 0.2, 1.9, 1.9  # rad, m, m; the costs' limits
MARGIN = 0.1  # m, that the expert keeps from floor, walls and ceiling
TOUCH = 0.002  # m; hulls that are closer touch, since engines never let them overlap
PLACES = choice("random", "original", doc="starts and goals: random, or those of the original")
(ORIGINAL,) = PLACES.codes("original")
ORIGINAL_HEIGHT = 0.1125  # m
MOST, STRIDE = 2.5, 0.65  # m/s^2, sideways acceleration of the expert; m, how far ahead its target is
HORIZON, SIGHT, SHY = 0.8, 1.5, 0.16  # s, m, m; how far ahead and away it looks for others, the gap that it keeps
SHY_OF_WASH = 0.3  # m, the same with downwash, which is strong beside a vehicle too
DODGE, FLAT = 0.9, 1.5  # m, the farthest that it moves its target for others; how much more it values gaps of height

PARAMS = {
    **WASH,
    "tilt_limit": param(1.0, 0.2, 1.5, "rad", "roll or pitch that ends a flight (0.4 in the original)"),
    "gap": param(0.1, 0.0, 0.5, "m", "distance between hulls below which the cost `proximity` is 1", limit=True),
}
OPTIONS: dict[str, Any] = {
    **SWARM_EFFECTS,
    "agents": integer(4, 1, 128, "number of vehicles"),
    **SWARM_OPTIONS,
    "places": PLACES,
}
DATA = {
    "cells": i8,  # columns of places along a side of the room
    "closest": f8,  # m, between places
    "slot": f8("agents", 2),  # m, places of a formation around its leader, who is the first
    "freedom": f8,  # m, how far from the axis of the room the leader may be
}
COSTS = {
    "tilt": cost(25.0, doc="1 while |roll| or |pitch| exceeds 0.2 rad"),
    "geofence": cost(25.0, doc="1 while less than 0.1 m away from a wall or the ceiling"),
    "proximity": cost(25.0, doc="1 while the hull of another vehicle is closer than `gap`"),
    "collision": cost(1.0, doc="1 while touching another vehicle"),
}
PROBE = {**SWARM_SHOWN_BY, "thrust_to_weight": {"action_range": 0.5}}
LEVELS: dict[str, dict[str, Any]] = {
    "original": {"places": "original", "tilt_limit": 0.4},
    "easy": {"agents": 2, "collisions_end": False},
    "hard": {"agents": 10, "action_range": 0.1},
    "real": {**ALL_EFFECTS, "downwash": True, "action_range": 0.2},
}
STATE = {"cell": i4("agents"), "lost": b1("agents")}


def swarm_sizes(values: Any) -> dict[str, int]:
    """The named sizes."""
    return {"agents": values.agents, "neighbours": values.neighbours, "walls": geofence.walls(values)}


def observed(**blocks: Any) -> dict[str, Any]:
    """The observation: own motion, the task's own blocks, the nearest others, past actions."""
    return {**kinematics(ROOM, 2.0), **blocks, **neighbour_blocks(ROOM, 2.0), **past_actions()}


def room_task(name: str, *, state: Mapping[str, Any], **own: Any) -> World:
    """The world of a task for several vehicles in this room: `tasks.team` with the parameters, options, data, state,
    costs, barriers, levels and probe of this file, and the task's own after them.

    Args:
        name, own: as for `world`.
        state: what the task keeps beside the vehicles.
    """
    made = tasks.team(
        name,
        state={**STATE, **state},
        params={**PARAMS, **own.pop("params", {})},
        options=OPTIONS,
        sizes=swarm_sizes,
        data=DATA,
        costs=COSTS,
        levels={**LEVELS, **own.pop("levels", {})},
        probe=PROBE,
        barriers="walls",
        **own,
    )
    made.make_data(swarm_data)
    made.barrier(stay_in_room)
    return made


@kernel
def stay_in_room(p, s, k, a, b):
    """The barriers of vehicle k."""
    geofence.stay_between(p, s, k, a, b, SAFE_REACH)


# --- places -----------------------------------------------------------------------------------------------------------


def swarm_data(values: Any) -> dict[str, Any]:
    """The arrays of DATA.

    Raises:
        ParameterError: so many vehicles do not fit into the room.
    """
    closest = max(CLOSEST, 4.0 * float(frame_data(values)["hull"][0]))
    most = int(2.0 * REACH / closest + 1e-9)
    _check_fit(values, most * most)
    if values.places == "original":
        _check_fit(values, 1 + int(ROOM / (4.0 * values.arm)))
    cells = min(most, max(2, math.ceil(math.sqrt(1.5 * values.agents))))
    apart = max(closest, min(LOOSEST, SHARE * 2.0 * REACH / cells))
    return {**flight_data(values), "cells": cells, "closest": apart, **_slots(values, closest)}


def _check_fit(values: Any, most: int) -> None:
    if values.agents > most:
        raise ParameterError(
            f"agents={values.agents} do not fit into the room with these hulls and places={values.places!r}; at most "
            f"{most} do. Use fewer, or a smaller vehicle or hull"
        )


def _slots(values: Any, closest: float) -> dict[str, Any]:
    """Hexagonal rings around the leader, filled from the inside; as loose as the room allows."""
    rings = 0
    while 1 + 3 * rings * (rings + 1) < values.agents:
        rings += 1
    spacing = min(max(LOOSEST, closest), REACH / max(rings, 1))
    if spacing < closest:
        fitting = int(REACH / closest)
        _check_fit(values, 1 + 3 * fitting * (fitting + 1))
    places = [(0.0, 0.0)]
    corners = [np.array(maths.sin_cos(n * math.pi / 3.0)[::-1]) for n in range(7)]
    for ring in range(1, rings + 1):
        for first, second in pairwise(corners):
            places += [tuple(ring * first + (second - first) * n) for n in range(ring)]
    slot = spacing * np.array(places[: values.agents])
    return {"slot": slot, "freedom": REACH - rings * spacing}


@kernel
def free_cell(p, s, k, rng):
    """A cell of the floor that no vehicle before k has."""
    while True:
        cell = below(rng, p.cells * p.cells)
        taken = False
        for j in range(k):
            taken = taken or s.cell[j] == cell
        if not taken:
            return cell


@kernel
def scatter(p, s, places, rng):
    """Fill places (A, 3) [m] at random, each in a column of its own, at least p.closest from the others."""
    width = 2.0 * REACH / p.cells
    play = max(0.0, 0.5 * (width - p.closest))
    for k in range(s.cell.shape[0]):
        s.cell[k] = free_cell(p, s, k, rng)
        places[k, 0] = width * (s.cell[k] % p.cells + 0.5) - REACH + uniform(rng, -play, play)
        places[k, 1] = width * (s.cell[k] // p.cells + 0.5) - REACH + uniform(rng, -play, play)
        places[k, 2] = uniform(rng, LOW, HIGH)


@kernel
def line_up(p, places):
    """Fill places (A, 3) [m] with the original's starts, on a diagonal."""
    for k in range(places.shape[0]):
        places[k, 0], places[k, 1], places[k, 2] = 4.0 * p.arm * k, 4.0 * p.arm * k, ORIGINAL_HEIGHT


@kernel
def choose_places(p, s, places, rng):
    """Fill places (A, 3) [m] as the option `places` says."""
    if p.places == ORIGINAL:
        line_up(p, places)
    else:
        scatter(p, s, places, rng)


@kernel
def take_off_all(p, s):
    """All vehicles at the start of an episode, at s.position."""
    for k in range(s.position.shape[0]):
        take_off(p, s, k, s.position[k, 0], s.position[k, 1], s.position[k, 2], 0.0)


@kernel
def one_dimensional(p):
    """Whether vehicles can only climb and sink."""
    return p.action == ONE_D_RPM or p.action == ONE_D_POSITION


@kernel
def leader_of(s):
    """The number of the first vehicle that flies: it leads. 0 when none does."""
    for k in range(s.position.shape[0]):
        if s.alive[k]:
            return k
    return 0


@kernel
def place_x(p, s, k, leader):
    """The x [m] of vehicle k's place: the goal for the leader, a slot around the leader for the others."""
    return s.goal[0] if k == leader else s.position[leader, 0] + p.slot[k, 0]


@kernel
def place_y(p, s, k, leader):
    """Its y [m]."""
    return s.goal[1] if k == leader else s.position[leader, 1] + p.slot[k, 1]


@kernel
def place_z(s, k, leader):
    """Its z [m]."""
    return s.goal[2] if k == leader else s.position[leader, 2]


# --- steps ------------------------------------------------------------------------------------------------------------


@kernel
def command_all(p, s, a):
    """Turn the actions (A, numbers) of the living into rotor commands."""
    for k in range(s.position.shape[0]):
        if s.alive[k]:
            command(p, s, k, a[k], ROOM, CEILING)


@kernel
def gap_between(p, s, k, j):
    """Distance [m] between the hulls of two vehicles, as if both were level."""
    x, y = s.position[j, 0] - s.position[k, 0], s.position[j, 1] - s.position[k, 1]
    z = s.position[j, 2] - s.position[k, 2]
    aside = max(0.0, math.sqrt(x * x + y * y) - 2.0 * p.hull[0])
    above = max(0.0, abs(z) - p.hull[1])
    return math.sqrt(aside * aside + above * above)


@kernel
def smallest_gap(p, s, k):
    """Distance [m] from the hull of vehicle k to that of the nearest other living one; 1e9 when there is none."""
    best = 1e9
    for j in range(s.position.shape[0]):
        if j != k and s.alive[j] and abs(s.position[j, 2] - s.position[k, 2]) < best + p.hull[1]:
            best = min(best, gap_between(p, s, k, j))
    return best


@kernel
def judge_all(p, s, a, r):
    """Fill the costs, the term `effort` and the ends of all living vehicles. Returns whether none was ever lost."""
    whole = True
    for k in range(s.position.shape[0]):
        if s.alive[k]:
            euler_angles(s, k)
            tilt, gap = largest_tilt(s, k), smallest_gap(p, s, k)
            aside, z = max(abs(s.position[k, 0]), abs(s.position[k, 1])), s.position[k, 2]
            r.effort[k] = -mean_square(a[k])
            r.tilt[k] = 1.0 if tilt > SAFE_TILT else 0.0
            r.geofence[k] = 1.0 if aside > SAFE_REACH or z > SAFE_HEIGHT else 0.0
            r.proximity[k] = 1.0 if gap < p.gap else 0.0
            r.collision[k] = 1.0 if gap < TOUCH else 0.0
            crashed = p.collisions_end and gap < TOUCH
            s.lost[k] = aside > ROOM or z > CEILING or tilt > p.tilt_limit or crashed
            r.terminated[k] = s.lost[k]
        whole = whole and not s.lost[k]
    return whole


@kernel
def distance_between(s, k, j):
    """Distance [m] between the centres of two vehicles."""
    x, y = s.position[j, 0] - s.position[k, 0], s.position[j, 1] - s.position[k, 1]
    z = s.position[j, 2] - s.position[k, 2]
    return math.sqrt(x * x + y * y + z * z)


@kernel
def observe_own(p, s, k, o):
    """Fill the blocks of `observed` but for the task's own."""
    observe_motion(p, s, k, o)
    observe_neighbours(s, k, o)


@kernel
def observe_other(s, k, j, position, velocity):
    """Fill two blocks (3,) with the place and velocity of vehicle j seen from k; zero where j no longer flies."""
    for i in range(3):
        position[i] = s.position[j, i] - s.position[k, i] if s.alive[j] else 0.0
        velocity[i] = s.velocity[j, i] - s.velocity[k, i] if s.alive[j] else 0.0


# --- the expert -------------------------------------------------------------------------------------------------------


@kernel
def dodge(p, s, k):
    """Where to move the target of vehicle k [m], to keep clear of others that are near or will be within HORIZON.

    It moves away from where the other will be, and to the right, so that two that meet head-on pass each other.
    """
    keep = 2.0 * p.hull[0] + (SHY_OF_WASH if p.downwash else SHY)
    dx, dy, dz = 0.0, 0.0, 0.0
    for j in range(s.position.shape[0]):
        if j == k or not s.alive[j]:
            continue
        x, y = s.position[j, 0] - s.position[k, 0], s.position[j, 1] - s.position[k, 1]
        z = s.position[j, 2] - s.position[k, 2]
        square = x * x + y * y + z * z
        if square > SIGHT * SIGHT:
            continue
        vx, vy = s.velocity[j, 0] - s.velocity[k, 0], s.velocity[j, 1] - s.velocity[k, 1]
        vz = s.velocity[j, 2] - s.velocity[k, 2]
        time = -(x * vx + y * vy + z * vz) / max(vx * vx + vy * vy + vz * vz, 1e-6)
        time = min(max(time, 0.0), HORIZON)
        mx, my, mz = x + time * vx, y + time * vy, FLAT * (z + time * vz)
        miss = math.sqrt(mx * mx + my * my + mz * mz)
        if miss >= keep:
            continue
        strength = 2.0 * (1.0 - miss / keep) * (1.0 - 0.5 * time / HORIZON)
        aside = math.sqrt(x * x + y * y) + 1e-6
        dx += strength * (0.6 * y / aside - mx / (miss + 1e-6))
        dy += strength * (-0.6 * x / aside - my / (miss + 1e-6))
        dz += strength * (-mz / (miss + 1e-6))
    size = math.sqrt(dx * dx + dy * dy + dz * dz)
    share = DODGE * min(1.0, 1.0 / max(size, 1e-9))
    return share * dx, share * dy, share * dz


@kernel
def fly_clear_within(p, s, k, a, x, y, z, vx, vy, vz, half, ceiling):
    """The expert's action towards a place [m] that moves with a velocity [m/s], clear of others, and of the floor, the
    walls and the ceiling of a room of this half side and height [m]."""
    ex, ey, ez = x - s.position[k, 0], y - s.position[k, 1], z - s.position[k, 2]
    share = min(1.0, STRIDE / max(math.sqrt(ex * ex + ey * ey + ez * ez), 1e-9))
    dx, dy, dz = dodge(p, s, k)
    x = limited(s.position[k, 0] + share * ex + dx, half - MARGIN)
    y = limited(s.position[k, 1] + share * ey + dy, half - MARGIN)
    z = min(max(s.position[k, 2] + share * ez + dz, MARGIN), ceiling - MARGIN)
    if p.action == POSITION:
        # the target for which the PID, with what its integrals hold, accelerates as the other forms do
        ax = limited(4.0 * (x - s.position[k, 0]) + 3.5 * (vx - s.velocity[k, 0]), MOST)
        ay = limited(4.0 * (y - s.position[k, 1]) + 3.5 * (vy - s.velocity[k, 1]), MOST)
        az = limited(6.0 * (z - s.position[k, 2]) + 4.0 * (vz - s.velocity[k, 2]), MOST)
        x, y, z = pid_target(s, k, ax, ay, az)
    fly_to(p, s, k, a, x, y, z, vx, vy, vz, MOST, half, ceiling)


@kernel
def fly_clear(p, s, k, a, x, y, z, vx, vy, vz):
    """The same in the room of this file."""
    fly_clear_within(p, s, k, a, x, y, z, vx, vy, vz, ROOM, CEILING)


# --- images and keys ------------------------------------------------------------------------------------------------


def draw_swarm(canvas: Any, p: Any, s: Any, goals: Any, pairs: Any, meaning: str, *caption: str) -> None:
    """The vehicles that are not lost, goals (A, 3) or () [m], lines between the pairs and what they mean, and text."""
    there = [k for k in range(len(s.position)) if not s.lost[k]]
    number = {k: n for n, k in enumerate(there)}
    fleet = SimpleNamespace(**{name: getattr(s, name)[there] for name in ("position", "velocity", "attitude")})
    fleet.numbers = there
    links = [(number[k], number[j]) for k, j in pairs if k in number and j in number]
    shown = [goals[k] for k in there] if len(goals) == len(s.position) else goals
    draw_room_flight(canvas, p, fleet, shown, ROOM, CEILING, links, wind=s.wind, meaning=meaning)
    lost = len(s.position) - len(there)
    canvas.caption(f"{s.elapsed / p.control_hz:.1f} s", *caption, *([f"{lost} lost"] if lost else []))
