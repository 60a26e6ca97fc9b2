"""Obstacles: fly a quadcopter through a field of pillars, boxes and balls to a goal on the other side.

## Description
A Crazyflie 2.x hovers at one side of a square arena, 10 m wide and 2.5 m high, and has to reach a goal at the other
side. Between them are upright pillars, boxes that can be flown over, and balls in the air, placed at random in every
episode. A path always exists: between any two obstacles, seen from above, there is room for the vehicle plus 0.3 m, and
half as much between an obstacle and the border; start and goal are outside the field. Two of the static obstacles,
whatever their `kind`, are pillars 0.5 m wide at the left and right borders, so that a blind flight along a border
fails. With `moving`, some balls fly straight and bounce off each other, the other obstacles and the borders of the
field, 1 m before start and goal.

Actions are velocities by default, because the task is path planning; the vehicle's `speed_limit` is then at least 1
m/s.

## Action Space
With action="velocity" a direction, and a speed relative to `speed_limit`. The other action types also work, except
those that only move vertically (one_d_rpm, one_d_position), which cannot reach any goal.

## Observation Space
Position, attitude, velocity, body rates, the vector to the goal, and `rays` horizontal distances to obstacles around
the vehicle, the first straight ahead and the others counterclockwise; with `history` also the last actions; with
`camera` the image of a forward-looking camera. The velocity of balls can be inferred only from several consecutive
observations.

## Rewards
`progress` is the decrease of the distance to the goal in a step, in meters; `goal` is 1 once, at the goal. The others
have weight 0 by default. Collisions give no negative reward, but end the episode.

## Costs
`collision` is 1 when the sphere around the hull touches an obstacle, during the step or at its end. `proximity` grows
from 0 to 1 as the hull comes nearer to an obstacle than `safe_gap`. The others are indicators.

## Starting State
Level and at rest, facing along x, 0.5 m from the border x = -arena/2. The goal is at the same distance from the
opposite border. y and height are uniform: |y| up to arena/2 - 1 m, heights from 0.7 to 1.5 m. Obstacles have a radius
from 0.1 to 0.25 m seen from above; pillars reach from the floor to the ceiling, boxes are 0.5 to 2.5 m high.

## Episode End
Termination: at the goal (success: within `goal_radius`), a collision unless collision_ends=False, |x| or |y| > arena/2,
z > 2.5 m, |roll| or |pitch| > 1.2 rad. Truncation: 2 s per meter of the arena's side. With collision_ends=False the
package's own kernels fly through obstacles; PyBullet lets the vehicle bounce off them.

## Parameters
Hover speed and largest speed follow from mass, gravity and the coefficients. More obstacles than are guaranteed to fit
are refused; the limit depends on the arena and on the hull.

## Reference Scores
Mean return over seeds 0 to 99. The expert keeps all cost limits at every level.

## Version History
v0: first version.
"""

import dataclasses
import math
from typing import Any

from rlenvs.core import below, block, choice, cost, f8, flag, integer, kernel, maths, param, term, uniform
from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.quadcopter import control, dynamics, flight, ranges, render, scene, tasks, vehicle

KIND = choice("mixed", "sphere", "box", "pillar", doc="kind of the static obstacles")
MIXED, BALL, CUBOID, PILLAR = KIND.codes("mixed", "sphere", "box", "pillar")
CEILING, CRASH_TILT = 2.5, 1.2
STRIP = 1.0  # m, free of obstacles before the two borders where start and goal are
LOWEST, HIGHEST = 0.7, 1.5  # m, heights of starts and goals
SMALLEST, LARGEST = 0.1, 0.25  # m, radii of obstacles seen from above
LOWEST_BOX = 0.5  # m, height
ROOM_TO_PASS = 0.3  # m, beside the vehicle, between any two obstacles
SIDES = 2  # obstacles that stand against the borders, the last rows
TRIES = 100  # random places per obstacle, before all are put on a grid
RANGE = 5.0  # m, of the range sensors
SAFE_TILT, SAFE_BORDER, SAFE_HEIGHT = 0.5, 0.3, 0.2
SECONDS_PER_METRE = 2.0
PILLAR_COLOR, BOX_COLOR = (0.62, 0.62, 0.64), (0.34, 0.55, 0.75)
BALL_COLOR, MOVING_COLOR = (0.36, 0.68, 0.45), (0.84, 0.32, 0.2)
FAR = 40.0  # m, the largest observed distance
CRUISE, MOST = 1.0, 4.0  # m/s and m/s^2, of the expert
HEADINGS, FORESIGHT = 48, 1.5  # directions it compares; s
CRUISE_HEIGHT, DESCENT = 1.9, 1.5  # m, above most boxes; so far from the goal it goes to the goal's height
KEEP_OFF, BETTER_OFF, WORTH = 0.1, 0.35, 1.0  # m beside the hull, needed and wished; what that is worth in m/s
LAG, SUDDEN = 0.2, 0.6  # s and m/s, of changes of velocity

SPEEDS = {name: {**row, "speed_limit": max(1.0, row["speed_limit"])} for name, row in vehicle.VEHICLES.items()}


@kernel
def ball_radius(hull):
    """Radius [m] of the ball around a hull."""
    return math.sqrt(hull[0] ** 2 + 0.25 * hull[1] ** 2)


@kernel
def passage(hull):
    """The least distance [m] between two obstacles, seen from above."""
    return 2.0 * ball_radius(hull) + ROOM_TO_PASS


@kernel
def grid_shape(arena, hull):
    """Columns and rows of a grid on the field whose cells each hold one obstacle, however large it is."""
    pitch = 2.0 * LARGEST + passage(hull)
    return int(max(arena - 2.0 * STRIP, 0.0) / pitch), int(arena / pitch)


def obstacle_sizes(values: Any) -> dict[str, int]:
    """The sizes of flight_sizes, obstacles and rays.

    Raises:
        ParameterError: more obstacles than fit, more moving ones than obstacles, or as flight_sizes.
    """
    columns, rows = grid_shape(values.arena, vehicle.frame_data(values)["hull"])
    if values.obstacles > columns * rows:
        raise ParameterError(
            f"obstacles={values.obstacles} do not fit into arena={values.arena}: with room for the vehicle between "
            f"them, at most {columns * rows} fit. Use fewer, or a larger arena"
        )
    if values.moving > values.obstacles:
        raise ParameterError(
            f"moving={values.moving} is more than obstacles={values.obstacles}; moving ones count among the obstacles"
        )
    return {"shapes": values.obstacles, "rays": values.rays}


SPEC = tasks.solo(
    "QuadObstacles-v0",
    doc=__doc__,
    source='gym-pybullet-drones (Panerati et al., "Learning to Fly", IROS 2021), the vehicle',
    params={
        "action_range": param(
            0.3, 0.01, 1.0, "", "rpm actions: change of rotor speed at full action, relative to hover"
        ),
        "goal_radius": param(0.25, 0.05, 1.0, "m", "distance at which the goal is reached"),
        "safe_gap": param(
            0.3, 0.05, 1.0, "m", "distance between hull and obstacle below which there is a proximity cost"
        ),
        "obstacle_speed": param(0.5, 0.0, 3.0, "m/s", "speed of moving obstacles"),
    },
    options={
        "vehicle": dataclasses.replace(flight.OPTIONS["vehicle"], sets=SPEEDS),
        "action": flight.OPTIONS["action"].defaulting("velocity"),
        "arena": integer(10, 5, 20, "side of the arena [m]"),
        "obstacles": integer(25, 0, 100, "number of obstacles"),
        "kind": KIND,
        "moving": integer(0, 0, 100, "number of moving balls among the obstacles"),
        "rays": integer(16, 0, 360, "number of horizontal range sensors"),
        "collision_ends": flag(True, "whether a collision ends the episode"),
    },
    sizes=obstacle_sizes,
    state={"goal": f8(3), "before": f8(3), "drift": f8("shapes", 2)},
    observation={
        **flight.kinematics(10.0, 3.0, tilt=math.pi / 2),
        "to_goal": block(3, low=-20.0, high=20.0, unit="m", doc="goal minus position"),
        "ranges": block("rays", low=0.0, high=RANGE, unit="m", doc="horizontal distances, counterclockwise from ahead"),
        **flight.past_actions(),
    },
    terms={
        "progress": term(-FAR, FAR, 1.0, "decrease of the distance to the goal in meters"),
        "goal": term(0.0, 1.0, 10.0, "1 when the goal is reached"),
        "distance": term(-FAR, 0.0, 0.0, "minus the distance to the goal in meters"),
        "clearance": term(-1.0, 0.0, 0.0, "minus the cost of proximity"),
        "effort": term(-1.0, 0.0, 0.0, "minus the mean square of the action"),
    },
    costs={
        "collision": cost(0.0, doc="1 when the vehicle touches an obstacle"),
        "proximity": cost(10.0, doc="from 0 at safe_gap to 1 where the hull touches an obstacle"),
        "tilt": cost(25.0, doc="1 while |roll| or |pitch| exceeds 0.5 rad"),
        "geofence": cost(25.0, doc="1 while within 0.3 m of a border, or 0.2 m of floor or ceiling"),
    },
    horizon=lambda values: max(1, round(SECONDS_PER_METRE * values.arena * values.control_hz)),
    levels={
        "empty": {"obstacles": 0},
        "easy": {"obstacles": 10},
        "hard": {"obstacles": 60},
        "moving": {"obstacles": 25, "moving": 15},
        "real": vehicle.ALL_EFFECTS,
        "vision": {"camera": "depth", "rays": 0},
    },
    probe={
        "thrust_to_weight": {"action": "thrust_rates"},
        "obstacle_speed": {"moving": 20},
    },
    expert_sees="state",  # also obstacles behind others, and how fast balls fly
)


# --- the field of obstacles -------------------------------------------------------------------------------------------


@kernel
def put_obstacle(p, s, rng, row, x, y, radius):
    """An obstacle of the kind that its row and `kind` say."""
    kind = BALL + below(rng, 3) if p.kind == MIXED else p.kind
    if row < p.moving:
        z, angle = uniform(rng, LOWEST, HIGHEST), uniform(rng, -math.pi, math.pi)
        scene.put_sphere(s.shapes, row, x, y, z, radius, MOVING_COLOR[0], MOVING_COLOR[1], MOVING_COLOR[2])
        s.drift[row, 0], s.drift[row, 1] = p.obstacle_speed * maths.cos(angle), p.obstacle_speed * maths.sin(angle)
    elif kind == BALL:
        z = uniform(rng, radius, CEILING - radius)
        scene.put_sphere(s.shapes, row, x, y, z, radius, BALL_COLOR[0], BALL_COLOR[1], BALL_COLOR[2])
    elif kind == CUBOID:
        half, corner = 0.5 * uniform(rng, LOWEST_BOX, CEILING), uniform(rng, math.pi / 6.0, math.pi / 3.0)
        wide, deep, yaw = radius * maths.cos(corner), radius * maths.sin(corner), uniform(rng, -math.pi, math.pi)
        scene.put_box(s.shapes, row, x, y, half, wide, deep, half, yaw, BOX_COLOR[0], BOX_COLOR[1], BOX_COLOR[2])
    elif kind == PILLAR:
        put_pillar(s, row, x, y, radius)


@kernel
def side_of(p, s, row):
    """1 or -1 for the obstacle that stands against the left or the right border, 0 for the others."""
    back = s.shapes.shape[0] - row
    return 0 if back > SIDES or row < p.moving else 3 - 2 * back


@kernel
def put_pillar(s, row, x, y, radius):
    """A pillar from the floor to the ceiling."""
    half = 0.5 * CEILING
    scene.put_cylinder(s.shapes, row, x, y, half, radius, half, PILLAR_COLOR[0], PILLAR_COLOR[1], PILLAR_COLOR[2])


@kernel
def scatter(p, s, rng):
    """Put all obstacles at random places, those at the borders first; False if one finds none."""
    gap = passage(p.hull)
    for row in range(s.shapes.shape[0] - 1, -1, -1):
        placed, side = False, side_of(p, s, row)
        for _ in range(TRIES):
            radius = LARGEST if side != 0 else uniform(rng, SMALLEST, LARGEST)
            far_x, far_y = 0.5 * p.arena - STRIP - radius - 0.5 * gap, 0.5 * p.arena - radius - 0.5 * gap
            x, y = uniform(rng, -far_x, far_x), uniform(rng, -far_y, far_y)
            if side != 0:
                y = side * (0.5 * p.arena - radius)
            if nearest_outline(s, row, x, y) > radius + gap:
                placed = True
                if side != 0:
                    put_pillar(s, row, x, y, radius)
                else:
                    put_obstacle(p, s, rng, row, x, y, radius)
                break
        if not placed:
            return False
    return True


@kernel
def nearest_outline(s, row, x, y):
    """Distance [m] from a place to the nearest of the obstacles behind a row, seen from above."""
    nearest = 1e9
    for other in range(row + 1, s.shapes.shape[0]):
        ox, oy = s.shapes[other, scene.X] - x, s.shapes[other, scene.Y] - y
        nearest = min(nearest, math.sqrt(ox * ox + oy * oy) - ranges.outline_radius(s.shapes, other))
    return nearest


@kernel
def line_up(p, s, rng):
    """Put all obstacles into cells of a grid, somewhere in a cell, or at its border: they surely fit."""
    columns, rows = grid_shape(p.arena, p.hull)
    width, depth = (p.arena - 2.0 * STRIP) / columns, p.arena / rows
    for row in range(s.shapes.shape[0] - 1, -1, -1):
        side = side_of(p, s, row)
        first, count = (0, columns * rows) if side == 0 else (0 if side < 0 else columns * (rows - 1), columns)
        place = below(rng, count)
        while taken(s, row, first + place, columns, rows, width, depth):
            place = (place + 1) % count
        column, line = (first + place) % columns, (first + place) // columns
        radius = LARGEST if side != 0 else uniform(rng, SMALLEST, LARGEST)
        play_x, play_y = 0.5 * (width - passage(p.hull)) - radius, 0.5 * (depth - passage(p.hull)) - radius
        x = (column - 0.5 * (columns - 1)) * width + uniform(rng, -play_x, play_x)
        if side != 0:
            put_pillar(s, row, x, side * (0.5 * p.arena - radius), radius)
        else:
            y = (line - 0.5 * (rows - 1)) * depth + uniform(rng, -play_y, play_y)
            put_obstacle(p, s, rng, row, x, y, radius)


@kernel
def taken(s, row, cell, columns, rows, width, depth):
    """Whether one of the obstacles behind a row is in a cell."""
    for other in range(row + 1, s.shapes.shape[0]):
        column = int(s.shapes[other, scene.X] / width + 0.5 * columns)
        if column + columns * int(s.shapes[other, scene.Y] / depth + 0.5 * rows) == cell:
            return True
    return False


@kernel
def move_obstacles(p, s):
    """Move the balls by a control step: straight on, or back where they would leave the field or touch an obstacle."""
    dt = 1.0 / p.control_hz
    for row in range(p.moving):
        x, y = s.shapes[row, scene.X] + dt * s.drift[row, 0], s.shapes[row, scene.Y] + dt * s.drift[row, 1]
        radius = ranges.outline_radius(s.shapes, row)
        free = True
        if abs(x) > 0.5 * p.arena - STRIP - radius:
            s.drift[row, 0] = -math.copysign(s.drift[row, 0], x)
            free = False
        if abs(y) > 0.5 * p.arena - radius:
            s.drift[row, 1] = -math.copysign(s.drift[row, 1], y)
            free = False
        for other in range(s.shapes.shape[0]):
            ox, oy = s.shapes[other, scene.X] - x, s.shapes[other, scene.Y] - y
            size = math.sqrt(ox * ox + oy * oy)
            if other != row and size < radius + ranges.outline_radius(s.shapes, other):
                free = False
                ox, oy = ox / max(size, 1e-9), oy / max(size, 1e-9)
                towards = max(0.0, s.drift[row, 0] * ox + s.drift[row, 1] * oy)
                s.drift[row, 0] -= 2.0 * towards * ox
                s.drift[row, 1] -= 2.0 * towards * oy
        if free:
            s.shapes[row, scene.X], s.shapes[row, scene.Y] = x, y


# --- the task ---------------------------------------------------------------------------------------------------------


@SPEC.reset
def reset(p, s, rng):
    far, wide = 0.5 * (p.arena - STRIP), 0.5 * p.arena - 1.0
    s.goal[0], s.goal[1], s.goal[2] = far, uniform(rng, -wide, wide), uniform(rng, LOWEST, HIGHEST)
    y, z = uniform(rng, -wide, wide), uniform(rng, LOWEST, HIGHEST)
    if not scatter(p, s, rng):
        line_up(p, s, rng)
    flight.take_off(p, s, 0, -far, y, z, 0.0)


@SPEC.act
def act(p, s, a, rng):
    dynamics.blow(p, s, rng)
    for j in range(3):
        s.before[j] = s.position[0, j]
    move_obstacles(p, s)
    flight.command(p, s, 0, a, 0.5 * p.arena, CEILING)


@SPEC.outcome
def outcome(p, s, a, rng, r):
    vehicle.euler_angles(s, 0)
    x, y, z = s.position[0, 0], s.position[0, 1], s.position[0, 2]
    x0, y0, z0 = s.before[0], s.before[1], s.before[2]
    gap = ranges.gap_on_way(s.shapes, x0, y0, z0, x, y, z, ball_radius(p.hull))
    hit = gap <= 0.0
    distance = flight.distance_to(s, 0, s.goal[0], s.goal[1], s.goal[2])
    past = math.sqrt((s.goal[0] - x0) ** 2 + (s.goal[1] - y0) ** 2 + (s.goal[2] - z0) ** 2)
    border = 0.5 * p.arena - max(abs(x), abs(y))
    tilt = flight.largest_tilt(s, 0)
    crashed = (hit and p.collision_ends) or border < 0.0 or z > CEILING or tilt > CRASH_TILT
    r.success = distance < p.goal_radius and not crashed
    r.progress = control.limited(past - distance, FAR)
    r.goal = 1.0 if r.success else 0.0
    r.distance = -min(distance, FAR)
    r.effort = -flight.mean_square(a)
    r.collision = 1.0 if hit else 0.0
    r.proximity = min(1.0, max(0.0, 1.0 - gap / p.safe_gap))
    r.clearance = -r.proximity
    r.tilt = 1.0 if tilt > SAFE_TILT else 0.0
    r.geofence = 1.0 if border < SAFE_BORDER or z < SAFE_HEIGHT or z > CEILING - SAFE_HEIGHT else 0.0
    r.terminated = crashed or r.success


@SPEC.observe
def observe(p, s, o):
    flight.observe_motion(p, s, 0, o)
    for j in range(3):
        o.to_goal[j] = s.goal[j] - s.position[0, j]
    x, y, z = s.position[0, 0], s.position[0, 1], s.position[0, 2]
    ranges.measure_ranges(s.shapes, x, y, z, s.angles[0, 2], RANGE, o.ranges)


# --- the expert -------------------------------------------------------------------------------------------------------


@kernel
def free_time(p, s, vx, vy, height, keep_off):
    """How long [s] the vehicle can fly at this velocity [m/s] until its hull is within `keep_off` [m] of an obstacle or
    the border.

    The change to this velocity takes its time: it carries the vehicle as far aside as LAG seconds of the difference.
    Obstacles count that reach between the vehicle's height and `height` [m]; they move on straight, and one that is too
    close already counts only if it comes closer.
    """
    low, high = min(s.position[0, 2], height), max(s.position[0, 2], height)
    reach = ball_radius(p.hull) + keep_off
    x, y = s.position[0, 0] + LAG * (s.velocity[0, 0] - vx), s.position[0, 1] + LAG * (s.velocity[0, 1] - vy)
    time = min(time_inside(x, vx, 0.5 * p.arena - reach), time_inside(y, vy, 0.5 * p.arena - reach))
    for row in range(s.shapes.shape[0]):
        ox, oy = s.shapes[row, scene.X] - x, s.shapes[row, scene.Y] - y
        ux, uy = vx - s.drift[row, 0], vy - s.drift[row, 1]
        closing = ox * ux + oy * uy
        tall = ranges.half_height(s.shapes, row) + reach
        if closing > 0.0 and low - tall < s.shapes[row, scene.Z] < high + tall:
            square = ux * ux + uy * uy
            room = ox * ox + oy * oy - (reach + ranges.outline_radius(s.shapes, row)) ** 2
            inside = closing * closing - square * room
            if room <= 0.0:
                time = 0.0
            elif inside > 0.0:
                time = min(time, (closing - math.sqrt(inside)) / square)
    return time


@kernel
def time_inside(x, v, half):
    """How long x + v t stays in [-half, half]; 1e9 for ever."""
    return max(0.0, (half - x * math.copysign(1.0, v)) / abs(v)) if abs(v) > 1e-9 else 1e9


@SPEC.expert
def expert(p, s, a):
    """Reactive: of many directions and two speeds, those that stay free long enough and lead most to the goal.

    It flies above most boxes and balls, where there are fewer obstacles.
    """
    x, y, z = s.position[0, 0], s.position[0, 1], s.position[0, 2]
    ahead, left = s.goal[0] - x, s.goal[1] - y
    distance = math.sqrt(ahead * ahead + left * left)
    course = maths.atan2(left, ahead)
    cruise = min(min(CRUISE, p.speed_limit) if p.action == flight.VELOCITY else CRUISE, 1.5 * distance)
    height = s.goal[2] if distance < DESCENT else max(s.goal[2], CRUISE_HEIGHT)
    best, vx, vy = -1e9, 0.0, 0.0
    for j in range(2 * HEADINGS):
        turn = 2.0 * math.pi * (j // 2) / HEADINGS - math.pi
        speed = cruise if j % 2 == 0 else 0.4 * cruise
        cosine, sine = maths.cos(course + turn), maths.sin(course + turn)
        needed = min(FORESIGHT, distance / max(speed, 1e-9))
        lacking = 1.0 - min(1.0, free_time(p, s, speed * cosine, speed * sine, height, KEEP_OFF) / max(needed, 1e-9))
        close = 1.0 - min(1.0, free_time(p, s, speed * cosine, speed * sine, height, BETTER_OFF) / max(needed, 1e-9))
        swerve = abs(s.velocity[0, 0] - speed * cosine) + abs(s.velocity[0, 1] - speed * sine)
        score = speed * maths.cos(turn) - 4.0 * lacking - WORTH * close - 0.1 * swerve
        if score > best:
            best, vx, vy = score, speed * cosine, speed * sine
    vx = s.velocity[0, 0] + control.limited(vx - s.velocity[0, 0], SUDDEN)
    vy = s.velocity[0, 1] + control.limited(vy - s.velocity[0, 1], SUDDEN)
    vz = control.limited(1.5 * (height - z), 0.5 * CRUISE)
    if p.action == flight.POSITION:  # as far ahead as the PID needs to fly at this speed
        x += (control.FORCE_D * vx - control.FORCE_I * s.place_integral[0, 0]) / control.FORCE_P
        y += (control.FORCE_D * vy - control.FORCE_I * s.place_integral[0, 1]) / control.FORCE_P
        z = height
    flight.fly_to(p, s, 0, a, x, y, z, vx, vy, vz, MOST, 0.5 * p.arena, CEILING)


@SPEC.draw
def draw(canvas, p, s):
    half = 0.5 * float(p.arena)
    render.draw_course_flight(
        canvas, p, s, arena=(half, half, CEILING), shapes=s.shapes, goals=[s.goal], wind=s.wind, distance=2.5
    )
    canvas.caption(
        f"{s.elapsed / p.control_hz:.1f} s",
        f"distance to goal {flight.distance_to(s, 0, *s.goal):.2f} m",
    )
