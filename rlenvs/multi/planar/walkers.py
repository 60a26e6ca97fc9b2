"""Walkers of PettingZoo's multiwalker_v9 that carry a package: their bodies, their ground and their sensors."""

import math

from rlenvs.core import below, f8, i8, kernel, maths, normal, uniform
from rlenvs.kits import planar
from rlenvs.kits.planar.biped import (
    BACK,
    FAN,
    HIP_0,
    HIP_1,
    KNEE_0,
    KNEE_1,
    RAYS,
    ROUGHNESS,
    SCALE,
    VIEWPORT_H,
    VIEWPORT_W,
    add_hinge,
    add_hull,
    add_link,
    drive,
    hull_numbers,
    leg_numbers,
)

GROUND, PACKAGE, FIRST = range(3)  # bodies; from FIRST on five of each walker:
HULL, LEG_0, LOWER_0, LEG_1, LOWER_1 = range(5)
PARTS, JOINTS = 5, 4
TERRAIN, CARRIED, WALKER = 0x1, 0x4, 0x8  # categories: walker k has WALKER << k, and does not collide with itself
EVERYTHING = 0x7FFFFFFF
MOST = 10  # walkers
HALF_LENGTH, HALF_HEIGHT = 120.0, 5.0  # px, of the package of 1.75 walkers
LEG_DOWN, LEG_W, LEG_H = -8.0 / SCALE, 8.0 / SCALE, 34.0 / SCALE  # m: the hips in the hull; width, length of a link
STARTPAD, GRASS, SEPARATION = 20, 10, 10  # steps of the ground: flat, of a spot of grass at most, between walkers
NOISY = 7  # numbers of an observation that are measured with noise


def sizes(values):
    count = values.agents
    shapes = values.terrain_length + PARTS * count
    return {
        "agents": count,
        "points": values.terrain_length,
        "bodies": FIRST + PARTS * count,
        "shapes": shapes,
        "vertices": 4 * shapes + count,
        "joints": JOINTS * count,
        "contacts": 32 + 64 * count,
        "events": 64 + 64 * count,
    }


STATE = {
    **planar.fields("bodies", "shapes", "vertices", "joints", "contacts", "events"),
    "ground": f8("points", 2),
    "package_shape": i8,
    "lidar": f8("agents", RAYS),
    "noise": f8("agents", NOISY),
    "foot_touches": i8("agents", 2),
    "fallen": i8("agents"),  # the hull touched something else than the package
    "gone": i8("agents"),  # was taken out
    "dropped": i8,  # the package touched something else than a hull
    "place": f8,  # m, of the package at the step before
    "slant": f8,  # rad, of the package then
    "lean": f8("agents"),  # rad, of the hulls then
}


@kernel
def hull_of(k):
    return FIRST + PARTS * k + HULL


@kernel
def build_ground(p, s):
    """Edges between the points."""
    ground = planar.add_body(s, planar.STATIC, 0.0, 0.0, 0.0)
    for i in range(s.ground.shape[0] - 1):
        k = planar.add_edge(s, ground, s.ground[i, 0], s.ground[i, 1], s.ground[i + 1, 0], s.ground[i + 1, 1])
        planar.set_material(s, k, p.friction, 0.0)


@kernel
def draw_ground(p, s, rng):
    """Heights from left to right: flat at the start, then grass that goes up and down."""
    y, slope, counter, rests = p.terrain_height, 0.0, STARTPAD, False
    for i in range(s.ground.shape[0]):
        if not rests:
            slope = 0.8 * slope + BACK * (
                (1.0 if y < p.terrain_height else 0.0) - (1.0 if y > p.terrain_height else 0.0)
            )
            if i > STARTPAD:
                slope += uniform(rng, -1.0, 1.0) * ROUGHNESS
            y += slope
        s.ground[i, 0], s.ground[i, 1] = i * p.terrain_step, y
        rests = False
        counter -= 1
        if counter == 0:
            counter, rests = GRASS // 2 + below(rng, GRASS - GRASS // 2), True


@kernel
def start_of(p, k):
    """Where walker k starts."""
    return p.terrain_step * (STARTPAD / 2.0 + SEPARATION * k)


@kernel
def package_length(s):
    return 2.0 * HALF_LENGTH / SCALE * s.fallen.size / 1.75


@kernel
def build_package(p, s):
    middle = 0.5 * (start_of(p, 0) + start_of(p, s.fallen.size - 1))
    body = planar.add_body(s, planar.DYNAMIC, middle, p.terrain_height + 3.0 * LEG_H, 0.0)
    k = planar.add_box(s, body, 0.5 * package_length(s), HALF_HEIGHT / SCALE, p.package_density)
    planar.set_material(s, k, p.package_friction, 0.0)
    planar.set_filter(s, k, CARRIED, EVERYTHING)
    s.package_shape = k


@kernel
def build_walker(p, s, k):
    """A hull and two legs, apart by a tenth of a radian."""
    x, y, half = start_of(p, k), p.terrain_height + 2.0 * LEG_H, 0.5 * LEG_H
    mine = WALKER << k
    others = EVERYTHING & ~mine
    add_hull(s, x, y, SCALE, p.hull_density, mine, others)
    for side in (-1, 1):
        add_link(s, x, y - half - LEG_DOWN, 0.05 * side, 0.5 * LEG_W, half, mine, others)
        add_link(s, x, y - 3.0 * half - LEG_DOWN, 0.05 * side, 0.4 * LEG_W, half, mine, others)


@kernel
def build(p, s, push):
    """Ground, package and walkers, which are all pushed by the same force in the first step."""
    count, half = s.fallen.size, 0.5 * LEG_H
    build_ground(p, s)
    build_package(p, s)
    for k in range(count):
        build_walker(p, s, k)
    for k in range(count):
        hull = hull_of(k)
        add_hinge(s, hull + LEG_1, hull + LOWER_1, -half, half, -1.6, -0.1)
        add_hinge(s, hull, hull + LEG_1, LEG_DOWN, half, -0.8, 1.1)
        add_hinge(s, hull, hull + LEG_0, LEG_DOWN, half, -0.8, 1.1)
        add_hinge(s, hull + LEG_0, hull + LOWER_0, -half, half, -1.6, -0.1)
        s.force[hull, 0] = push
    planar.prepare(s)
    for k in range(count):
        look(p, s, k)
    s.place, s.slant = s.frame[PACKAGE, 0], s.angle[PACKAGE]


@kernel
def drive_walker(p, s, k, a):
    drive(s, JOINTS * k + HIP_0, p.speed_hip, p.motors_torque, a[0])
    drive(s, JOINTS * k + KNEE_0, p.speed_knee, p.motors_torque, a[1])
    drive(s, JOINTS * k + HIP_1, p.speed_hip, p.motors_torque, a[2])
    drive(s, JOINTS * k + KNEE_1, p.speed_knee, p.motors_torque, a[3])


@kernel
def read_event(s, mine, other, begins):
    """What a touch, or the end of one, says of one of the two shapes."""
    body, against = s.shape_body[mine], s.shape_body[other]
    hull = against >= FIRST and (against - FIRST) % PARTS == HULL
    if body == PACKAGE:
        s.dropped = 1 if s.dropped == 1 or (begins and not hull) else 0
    elif body >= FIRST:
        k, part = (body - FIRST) // PARTS, (body - FIRST) % PARTS
        if part == HULL and begins and against != PACKAGE:
            s.fallen[k] = 1
        elif part in (LOWER_0, LOWER_1):
            s.foot_touches[k, part // 2 - 1] = 1 if begins else 0


@kernel
def read_events(s):
    for e in range(s.event_count):
        begins = s.events[e, 2] > 0
        read_event(s, s.events[e, 0], s.events[e, 1], begins)
        read_event(s, s.events[e, 1], s.events[e, 0], begins)


@kernel
def take_out(s, k):
    """Walker k, with all its parts."""
    s.event_count = 0
    for part in range(PARTS):
        planar.remove_body(s, hull_of(k) + part)
    read_events(s)
    s.gone[k] = 1


@kernel
def look(p, s, k):
    """The lidar: everything but the package, one's own legs too."""
    x, y = planar.origin(s, hull_of(k))
    for i in range(RAYS):
        sn, c = maths.sin_cos(FAN * i / RAYS)
        end_x, end_y = x + sn * p.lidar_range, y - c * p.lidar_range
        s.lidar[k, i] = planar.cast_ray(s, x, y, end_x, end_y, EVERYTHING & ~CARRIED)


@kernel
def move(p, s):
    often, again = p.velocity_iterations, p.position_iterations
    planar.advance(s, 1.0 / p.fps, 0.0, p.gravity, often, again, planar.SETTLED)
    read_events(s)
    for k in range(s.fallen.size):
        if not s.gone[k]:
            look(p, s, k)


@kernel
def measure(p, s, rng):
    """The errors with which others and the package are seen until the next step."""
    for k in range(s.fallen.size):
        for j in range(NOISY):
            s.noise[k, j] = normal(rng) * (p.angle_noise if j == NOISY - 1 else p.position_noise)


@kernel
def hull_seen(p, s, k):
    """Angle, angular velocity, horizontal and vertical velocity, as the original scales them."""
    return hull_numbers(s, hull_of(k), p.fps, VIEWPORT_W / SCALE, VIEWPORT_H / SCALE)


@kernel
def leg_seen(p, s, k, leg):
    """Hip angle and speed, knee angle and speed, and whether the foot touches something."""
    hip, knee = JOINTS * k + (HIP_1 if leg else HIP_0), JOINTS * k + (KNEE_1 if leg else KNEE_0)
    return leg_numbers(p, s, hip, knee, s.foot_touches[k, leg])


@kernel
def neighbour_seen(s, k, j):
    """Where walker j is from walker k, in lengths of the package; nowhere where it is none, or taken out."""
    if j < 0 or j >= s.fallen.size or s.gone[j]:
        return 0.0, 0.0
    length, mine, other = package_length(s), hull_of(k), hull_of(j)
    first = 0 if j < k else 2
    return (
        (s.frame[other, 0] - s.frame[mine, 0]) / length + s.noise[k, first],
        (s.frame[other, 1] - s.frame[mine, 1]) / length + s.noise[k, first + 1],
    )


@kernel
def package_seen(s, k):
    """Where the package is from walker k, in its lengths, and its angle."""
    length, mine = package_length(s), hull_of(k)
    return (
        (s.frame[PACKAGE, 0] - s.frame[mine, 0]) / length + s.noise[k, 4],
        (s.frame[PACKAGE, 1] - s.frame[mine, 1]) / length + s.noise[k, 5],
        s.angle[PACKAGE] + s.noise[k, 6],
    )


@kernel
def lean_of(s, k):
    return math.fabs(s.angle[hull_of(k)])
