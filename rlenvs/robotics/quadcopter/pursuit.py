"""The common parts of catch, escort and surround: a team of quadcopters that flies to a target and keeps apart there.

The three tasks share their compiled code and differ in the target: it stands still, moves to a place, or flees. It
moves simultaneously with the vehicles, based on their previous positions. Vehicles fly (`motion="flight"`), or are
points that jump by the action, as published (`motion="point"`). Rewards, terminations and targets are the same kernels
in both; the duration of a step differs.
"""

import dataclasses
import math
from typing import Any

import numpy as np

from rlenvs.core import (
    World,
    b1,
    block,
    choice,
    continuous,
    f8,
    integer,
    kernel,
    maths,
    normal,
    param,
    term,
    uniform,
)
from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.quadcopter import control, dynamics, flight, formation, swarm, tasks, vehicle
from rlenvs.robotics.quadcopter.render import draw_room_flight

BOX, LOW, HIGH = 3.0, 0.0, 3.0  # m, half side and heights of the box of points and targets
ROOM, CEILING = 4.0, 4.0  # m, half side and height of the room in which vehicles fly
LOWEST, LOWEST_POINT = 0.5, 0.2  # m, of a fleeing target where vehicles fly, and of points
STRIDE = 0.2  # m along each axis, of a point at full action
FLIGHT_AWAY, JITTER = 0.1, 0.1  # m, a step of the fleeing target of points; a jitter relative to a step
CLOSE_MEAN = 0.2  # m, of the team's middle to the target, from where on that jitters
POINTS = 52  # equal parts of the escorted target's way where vehicles are points; it stops one before the last
CRASH = -10.0  # both terms of a vehicle that crashed
FARTHEST, LONGEST = 12.0, 1.0  # m, the largest distance and the longest way in a step that are rewarded
NEAR, APART = 0.6, 0.2  # m, success: how far from the ring, and apart
SPEED = 1.5  # m/s, of velocity actions at least
SLOW = 0.25  # m/s, of the target in level "slow"
RING, SPACE, BESIDE = 0.4, 0.4, 0.25  # m, a ring around the target: radius at least, and between vehicles on it

# x, y, z [m]: the four published starts, then the other places of their lattice, the nearest to the target first
PUBLISHED_STARTS = [(0.0, 0.0, 1.0), (1.0, 1.0, 1.0), (0.0, 1.0, 1.0), (2.0, 2.0, 1.0)]
TARGET, DESTINATION = (1.0, 1.0, 2.5), (-2.0, -2.0, 3.0)
LATTICE = sorted(((x, y, 1.0) for x in range(-1, 3) for y in range(-1, 3)), key=lambda at: (math.dist(at, TARGET), at))
STARTS = PUBLISHED_STARTS + [at for at in LATTICE if at not in PUBLISHED_STARTS]
MOST = len(STARTS)

MOTION = choice("flight", "point", doc="whether vehicles fly, or are points that jump, as published")
(POINT,) = MOTION.codes("point")
WHAT = choice("stands", "moves", "flees", doc="behavior of the target")
MOVES, FLEES = WHAT.codes("moves", "flees")
SPEEDS = {name: {**row, "speed_limit": max(SPEED, row["speed_limit"])} for name, row in vehicle.VEHICLES.items()}


def sizes(values: Any) -> dict[str, int]:
    """The named sizes: those of the blocks that points do not have are 0.

    Raises:
        ParameterError: an engine for points, which have no bodies.
    """
    point = values.motion == "point"
    if point and values.physics != "kernel":
        raise ParameterError(f"motion='point' has no bodies that physics={values.physics!r} could move; leave it out")
    found = {"agents": values.agents, "neighbours": values.neighbours, "axes": 3, "place": 0, "others": 0}
    found["moving"] = 0 if point or values.target_motion == "stands" else 3
    if point:
        found |= {"axes": 0, "place": 3, "others": values.agents - 1, "neighbours": 0, "commands": 3}
        found |= dict.fromkeys(("euler", "heading", "matrix", "quaternion"), 0)
    return found


def pursuit_action(values: Any) -> Any:
    """The action space: that of flights, or a way along each axis."""
    return continuous("x", "y", "z") if values.motion == "point" else flight.flight_action(values)


def observed() -> dict[str, Any]:
    """The observation: own motion, the target and the nearest others of vehicles that fly; all places of points."""
    own = flight.kinematics(ROOM, 3.0)
    for name in ("velocity", "rates"):
        own[name] = dataclasses.replace(own[name], shape=("axes",))
    own["position"] = block(
        3,
        low=lambda values: [-_half(values)] * 3,
        high=lambda values: [_half(values)] * 3,
        unit="m",
        doc="position, from the middle of the floor",
    )
    return {
        **own,
        "to_target": block("axes", low=-2 * ROOM, high=2 * ROOM, unit="m", doc="target minus position"),
        "target_velocity": block("moving", low=-3.0, high=3.0, unit="m/s", doc="velocity of a moving target"),
        "target": block(
            "place",
            low=-BOX,
            high=BOX,
            unit="m",
            constant=True,  # one that stands
            doc="position of the target, if vehicles are points",
        ),
        "other_positions": block(
            "others", 3, low=-BOX, high=BOX, unit="m", doc="positions of the others in order, if vehicles are points"
        ),
        **swarm.neighbour_blocks(ROOM, 3.0),
        **flight.past_actions(),
    }


def _half(values: Any) -> float:
    return BOX if values.motion == "point" else ROOM


KIND = tasks.team(
    "quadcopters and a target",
    doc=__doc__,
    state={
        "target": f8(3),
        "target_velocity": f8(3),  # m/s; of points m a step
        "before": f8("agents", 3),  # m, places before the step
        "crashed": b1("agents"),
        "bearing": f8("agents"),  # rad, from the middle of the ring, for the expert
    },
    scratch=("bearing",),
    params={
        **swarm.WASH,
        "tilt_limit": param(1.5, 0.2, 3.1, "rad", "roll or pitch that counts as a crash"),
        "closest": param(
            0.1, 0.0, 0.5, "m", "distance to another vehicle or the target that counts as a crash", limit=True
        ),
        "ground": param(0.1, 0.0, 0.5, "m", "height that counts as a crash", limit=True),
        "target_speed": param(0.75, 0.0, 3.0, "m/s", "speed of a moving target, if vehicles fly"),
    },
    options={
        "vehicle": dataclasses.replace(flight.OPTIONS["vehicle"], sets=SPEEDS),
        "action": flight.OPTIONS["action"].defaulting("velocity"),
        "motion": MOTION,
        "target_motion": WHAT,
        **swarm.SWARM_EFFECTS,
        "agents": integer(4, 2, MOST, "number of vehicles"),
        "neighbours": swarm.SWARM_OPTIONS["neighbours"],
    },
    sizes=sizes,
    data={"start": f8("agents", 3), "ring": f8},
    action=pursuit_action,
    observation=observed(),
    terms={
        "approach": term(
            CRASH, LONGEST, 1.0, "decrease of the distance to the target's position before the step, in meters"
        ),
        "distance": term(CRASH, FARTHEST, 0.001, "mean distance to the other vehicles in meters"),
    },
    horizon=200,
    same_start=True,
    probe={
        **swarm.SWARM_SHOWN_BY,
        "action_range": {"action": "rpm"},
        "target_speed": {"target_motion": "flees"},
        "thrust_to_weight": {"action": "rpm", "action_range": 0.5},
    },
)
LEVELS: dict[str, dict[str, Any]] = {
    "easy": {"agents": 2},
    "hard": {"agents": 8, "neighbours": 7},
    "real": {**vehicle.ALL_EFFECTS, "downwash": True},
}

# points have no use for the parameters of vehicles, which show where these fly
IN_FLIGHT = {name: {"motion": "flight", **KIND.probe.get(name, {})} for name in KIND.params}


def pursuit_task(name: str, *, doc: Any, published: str, target_motion: str) -> World:
    """A member of the kind.

    Args:
        name, doc: as for `world`.
        published: the id of the published task.
        target_motion: "stands", "moves" or "flees".
    """
    levels = {"point": {"motion": "point", "probe": IN_FLIGHT}, **LEVELS}
    if target_motion != "stands":
        levels["slow"] = {"target_speed": SLOW}
    return KIND.member(
        name,
        doc=doc,
        source=f"MOMAland {published} (Felten et al., arXiv 2407.16312)",
        target_motion=target_motion,
        levels=levels,
    )


@KIND.make_data
def pursuit_data(values):
    """The arrays of flights, the starts, and the radius of the ring that so many vehicles need.

    Raises:
        ParameterError: hulls that touch at the start.
    """
    made = flight.flight_data(values)
    radius = float(made["hull"][0])
    if 2.0 * radius >= 0.9:
        raise ParameterError(f"hulls of radius {radius:g} m hardly fit at the start; use at most 0.4 m")
    space = max(SPACE, 2.0 * radius + BESIDE)
    ring = max(RING, space * values.agents / (2.0 * math.pi))
    return {**made, "start": np.array(STARTS[: values.agents]), "ring": ring}


# --- a step -----------------------------------------------------------------------------------------------------------


@KIND.reset
def reset(p, s, rng):
    for k in range(s.position.shape[0]):
        flight.take_off(p, s, k, p.start[k, 0], p.start[k, 1], p.start[k, 2], 0.0)
    s.target[0], s.target[1], s.target[2] = TARGET[0], TARGET[1], TARGET[2]


@KIND.act
def act(p, s, a, rng):
    for k in range(s.position.shape[0]):
        for i in range(3):
            s.before[k, i] = s.position[k, i]
    if p.motion == POINT:
        for k in range(s.position.shape[0]):
            jump(s, k, a[k])
    else:
        dynamics.blow(p, s, rng)
        for k in range(s.position.shape[0]):
            flight.command(p, s, k, a[k], ROOM, CEILING)


@kernel
def jump(s, k, a):
    """Move a point by its action, inside the box."""
    for i in range(2):
        s.position[k, i] = control.limited(s.position[k, i] + STRIDE * a[i], BOX)
    s.position[k, 2] = min(max(s.position[k, 2] + STRIDE * a[2], LOW), HIGH)
    flight.remember(s, k, a)


@KIND.move
def move(p, s, rng):
    if p.motion != POINT:
        swarm.fly_swarm(p, s, rng)


@kernel
def to_target(s, places, k):
    """Distance [m] from a row of places to the target."""
    x, y, z = places[k, 0] - s.target[0], places[k, 1] - s.target[1], places[k, 2] - s.target[2]
    return math.sqrt(x * x + y * y + z * z)


@kernel
def find_crashes(p, s):
    """Fill s.crashed; returns whether anybody did."""
    count, anybody = s.position.shape[0], False
    flies = p.motion != POINT
    for k in range(count):
        crash = s.position[k, 2] < p.ground or to_target(s, s.position, k) < p.closest
        for j in range(count):
            if j != k:
                crash = crash or formation.distance_between(s, k, j) < p.closest
                # hulls may be wider than the limit, and engines never let them overlap
                crash = crash or (flies and formation.gap_between(p, s, k, j) < formation.TOUCH)
        if flies:
            vehicle.euler_angles(s, k)
            aside = max(abs(s.position[k, 0]), abs(s.position[k, 1]))
            out = aside > ROOM or s.position[k, 2] > CEILING
            crash = crash or out or flight.largest_tilt(s, k) > p.tilt_limit
        s.crashed[k] = crash
        anybody = anybody or crash
    return anybody


@kernel
def move_target(p, s, rng):
    """Move the target, which sees where the vehicles were before the step."""
    if p.target_motion == MOVES:
        to_x, to_y, to_z = along(p, s)
    elif p.target_motion == FLEES:
        to_x, to_y, to_z = flee(p, s, rng)
    else:
        return
    per_second = 1.0 if p.motion == POINT else p.control_hz
    s.target_velocity[0] = per_second * (to_x - s.target[0])
    s.target_velocity[1] = per_second * (to_y - s.target[1])
    s.target_velocity[2] = per_second * (to_z - s.target[2])
    s.target[0], s.target[1], s.target[2] = to_x, to_y, to_z


@kernel
def along(p, s):
    """Where the target is after this step on its straight way to the destination."""
    x, y, z = DESTINATION[0] - TARGET[0], DESTINATION[1] - TARGET[1], DESTINATION[2] - TARGET[2]
    if p.motion == POINT:
        share = min(s.elapsed + 1, POINTS - 1) / POINTS
    else:
        share = min((s.elapsed + 1) * p.target_speed / (p.control_hz * math.sqrt(x * x + y * y + z * z)), 1.0)
    return TARGET[0] + share * x, TARGET[1] + share * y, TARGET[2] + share * z


@kernel
def flee(p, s, rng):
    """Where the target is after a step away from the middle of the vehicles, or after a small random one near it."""
    x, y, z, count = 0.0, 0.0, 0.0, s.position.shape[0]
    for k in range(count):
        x += s.before[k, 0] / count
        y += s.before[k, 1] / count
        z += s.before[k, 2] / count
    x, y, z = s.target[0] - x, s.target[1] - y, s.target[2] - z
    way = FLIGHT_AWAY if p.motion == POINT else p.target_speed / p.control_hz
    if math.sqrt(x * x + y * y + z * z) > CLOSE_MEAN:
        way /= math.sqrt(x * x + y * y + z * z)
    elif p.motion == POINT:
        x, y, z = uniform(rng, 0.0, 1.0), uniform(rng, 0.0, 1.0), uniform(rng, 0.0, 1.0)
        way *= JITTER
    else:
        x, y, z = normal(rng), normal(rng), normal(rng)
        way *= JITTER / max(math.sqrt(x * x + y * y + z * z), 1e-9)
    lowest = LOWEST_POINT if p.motion == POINT else LOWEST
    return (
        control.limited(s.target[0] + way * x, BOX),
        control.limited(s.target[1] + way * y, BOX),
        min(max(s.target[2] + way * z, lowest), HIGH),
    )


@KIND.outcome
def outcome(p, s, a, rng, r):
    count, mean, nearest = s.position.shape[0], 0.0, FARTHEST
    for k in range(count):
        now = to_target(s, s.position, k)
        mean += now / count
        apart = 0.0
        for j in range(count):
            if j != k:
                between = formation.distance_between(s, k, j)
                apart += between / (count - 1)
                nearest = min(nearest, between)
        r.approach[k] = control.limited(to_target(s, s.before, k) - now, LONGEST)
        r.distance[k] = min(apart, FARTHEST)
    move_target(p, s, rng)
    crash = find_crashes(p, s)
    for k in range(count):
        if s.crashed[k]:
            r.approach[k], r.distance[k] = CRASH, CRASH
        r.terminated[k] = crash
        r.success[k] = not crash and mean < p.ring + NEAR and nearest > APART


@KIND.observe
def observe(p, s, k, o):
    if p.motion == POINT:
        row = 0
        for i in range(3):
            o.position[i], o.target[i] = s.position[k, i], s.target[i]
        for j in range(s.position.shape[0]):
            if j != k:
                for i in range(3):
                    o.other_positions[row, i] = s.position[j, i]
                row += 1
        for row in range(s.past.shape[1]):
            for i in range(s.past.shape[2]):
                o.past[row, i] = s.past[k, row, i]
    else:
        formation.observe_own(p, s, k, o)
        for i in range(3):
            o.to_target[i] = s.target[i] - s.position[k, i]
        for i in range(o.target_velocity.shape[0]):
            o.target_velocity[i] = s.target_velocity[i]


# --- the expert -------------------------------------------------------------------------------------------------------


@kernel
def ring_turn(s, x, y):
    """Fill s.bearing around the middle (x, y) of a ring; returns the turn [rad] of the ring that lies best."""
    count, cosine, sine = s.position.shape[0], 0.0, 0.0
    for k in range(count):
        s.bearing[k] = maths.atan2(s.position[k, 1] - y, s.position[k, 0] - x)
    for k in range(count):
        angle = s.bearing[k] - 2.0 * math.pi * rank_of(s, k) / count
        cosine += maths.cos(angle)
        sine += maths.sin(angle)
    return maths.atan2(sine, cosine)


@kernel
def rank_of(s, k):
    """How many vehicles come before k in the order of bearings."""
    rank = 0
    for j in range(s.bearing.size):
        if s.bearing[j] < s.bearing[k] or (s.bearing[j] == s.bearing[k] and j < k):
            rank += 1
    return rank


@KIND.expert
def expert(p, s, a):
    """A level ring around the target. Everybody keeps its place in the order around it, so that no ways cross."""
    count, half = s.position.shape[0], BOX if p.motion == POINT else ROOM - 2.0 * formation.MARGIN
    x, y = control.limited(s.target[0], half - p.ring), control.limited(s.target[1], half - p.ring)
    z, v = max(s.target[2], LOWEST), s.target_velocity
    turn = ring_turn(s, x, y)
    for k in range(count):
        angle = turn + 2.0 * math.pi * rank_of(s, k) / count
        to_x, to_y = x + p.ring * maths.cos(angle), y + p.ring * maths.sin(angle)
        if p.motion == POINT:
            dx, dy, dz = formation.dodge(p, s, k)
            a[k, 0] = control.limited((to_x + dx - s.position[k, 0]) / STRIDE, 1.0)
            a[k, 1] = control.limited((to_y + dy - s.position[k, 1]) / STRIDE, 1.0)
            a[k, 2] = control.limited((z + dz - s.position[k, 2]) / STRIDE, 1.0)
        else:
            formation.fly_clear_within(p, s, k, a[k], to_x, to_y, z, v[0], v[1], v[2], ROOM, CEILING)


# --- images and keys --------------------------------------------------------------------------------------------------


@KIND.draw
def draw(canvas, p, s):
    way = np.linspace(TARGET, DESTINATION, 50) if p.target_motion == MOVES else ()
    room, ceiling = (BOX, HIGH) if p.motion == POINT else (ROOM, CEILING)
    draw_room_flight(canvas, p, s, [s.target], room, ceiling, path=way, wind=s.wind)
    count = len(s.position)
    mean = sum(to_target(s, s.position, k) for k in range(count)) / count
    nearest = min(formation.distance_between(s, k, j) for k in range(count) for j in range(k))
    canvas.caption(f"to the target {mean:.2f} m on average", f"nearest pair {nearest:.2f} m")


@KIND.keys
def keys(pressed, values):
    if values.motion != "point":
        return flight.fly_by_keys(pressed, values)
    ahead, left = ("w" in pressed) - ("s" in pressed), ("left" in pressed) - ("right" in pressed)
    return [float(ahead), float(left), float(("up" in pressed) - ("down" in pressed))]
