"""Cars in kernels: state, bicycle model, tracking of lanes and speeds, routes.

The cars of a world are fields of one record, `CARS`, which kernels take as `c`: mostly the state `s`. Cars 0 ...
c.movers - 1 move; bodies up to c.bodies - 1 are obstacles, which are seen and hit and stay where they are. Numbers and
equations are those of highway-env 1.12 (Leurent, "An environment for autonomous driving decision-making", 2018).

What moves a car says `c.driver`: a row of the drivers' table (`drivers.py`) decides for itself; a TRACKER keeps the
lane and the speed that somebody else chose; a RAW car does what `c.slip` and `c.acceleration` say.
"""

import math

from rlenvs.core import b1, f8, i8, kernel, maths
from rlenvs.kits.roads.lanes import (
    END,
    HEADING,
    LENGTH,
    ROAD,
    SHAPE,
    START,
    STRAIGHT,
    along,
    along_and_across,
    beside,
    entered,
    heading_on,
    nearest_exit,
    nearest_lane,
    point_on,
    reachable,
    wrapped,
)

CAR_LENGTH, CAR_WIDTH = 5.0, 2.0  # m
LANE_LEFT, IDLE, LANE_RIGHT, FASTER, SLOWER = range(5)  # meta-actions
TOP_SPEED = 40.0  # m/s, forwards and backwards
TRACKER, RAW, OBSTACLE = -1, -2, -3  # of c.driver
ACCELERATION_GAIN = 1.0 / 0.6  # 1/s, of speeds
HEADING_GAIN = 1.0 / 0.2  # 1/s
LATERAL_GAIN = 1.0 / 0.6  # 1/s
PURSUIT = 0.1  # s, how far ahead a car looks along its lane
STEEPEST = 0.25 * math.pi  # rad, between a car and its lane while it changes to it
HALF_ROOT = math.sqrt(0.5)  # sine of STEEPEST
MOST_SLIP = math.sqrt(3.0 / 7.0)  # sine of the slip angle at full steering, 60 degrees
FARTHEST, FASTEST = 1e7, 1000.0  # m and m/s, of states from outside: behind what an episode reaches

CARS = {
    "movers": i8.up_to("cars"),  # cars
    "bodies": i8.up_to("cars"),  # cars and obstacles
    "linked": i8.within(0, 1),  # 1: drivers also see who is on the lanes before and behind their own
    "x": f8("cars").within(-FARTHEST, FARTHEST),  # m
    "y": f8("cars").within(-FARTHEST, FARTHEST),  # m
    "heading": f8("cars"),  # rad, 0 along x, 90 degrees along y
    "speed": f8("cars").within(-FASTEST, FASTEST),  # m/s
    "cosine": f8("cars"),  # of the heading
    "sine": f8("cars"),
    "slip": f8("cars").within(-1.0, 1.0),  # sine of the angle between the heading and the motion
    "acceleration": f8("cars"),  # m/s^2
    "target_speed": f8("cars"),  # m/s
    "timer": f8("cars"),  # s since a driver last thought of changing lanes
    "exponent": f8("cars"),  # of a driver
    "shift": f8("cars", 2),  # m, by which a collision moves a body in the next step
    "box": f8("cars", 2).within(0.0, 1000.0),  # m, length and width
    "driver": i8("cars").index_of("driver_types", low=-3),
    "lane_of": i8("cars").index_of("lanes"),  # the nearest
    "target_lane": i8("cars").index_of("lanes"),
    "station": f8("cars").within(-FARTHEST, FARTHEST),  # m along the nearest lane
    "aside": f8("cars").within(-FARTHEST, FARTHEST),  # m to the right of its middle
    "route": i8("cars", "stages").index_of("roads", low=-1),  # roads, -1 behind the last
    "route_lane": i8("cars", "stages").index_of("lanes", low=-1),  # the lane of that road, by its place, -1 for any
    "stage": i8("cars").up_to("stages"),  # how many roads of the route lie behind
    # of a driver, while cars act: (speed / wanted speed) ** exponent; acceleration behind who is next on its lane
    "ease": f8("cars"),
    "following": f8("cars"),
    "tilt": f8("cars"),  # rad, between a car and its lane, that it aims at
    "yielding": b1("cars"),
    "hit": b1("cars"),  # whether `shift` is meant
    "crashed": b1("cars"),
    "changes": b1("cars"),  # whether a driver may change lanes
    "checked": b1("cars"),  # whether its collisions with others that are not checked count
    # who is where, see `locate`: bodies by x, and the place of each; for each lane its first entry, for each entry the
    # body, the metre, and the entries before and behind it on the lane
    "sorted": i8.up_to("cars"),  # how many bodies `order` holds
    "order": i8("cars").index_of("cars"),
    "rank": i8("cars").index_of("cars"),
    "first_on": i8("lanes").index_of("entries", low=-1),  # -1: nobody
    "own_entry": i8("cars").index_of("entries", low=-1),  # on its nearest lane, -1 where it is beside it
    "entry_next": i8("entries").index_of("entries", low=-1),
    "entry_back": i8("entries").index_of("entries", low=-1),
    "entry_body": i8("entries").index_of("cars"),
    "entry_at": f8("entries"),
}


def car_sizes(cars: int, stages: int, lanes: int, overlaps: int = 8) -> dict[str, int]:
    """The sizes that `CARS` names, beside those of the road.

    Args:
        cars: bodies, at most. stages: roads of the longest route. lanes: of the network.
        overlaps: how many lanes one car may be on, where roads cross.
    """
    return {"cars": cars, "stages": stages, "entries": cars * min(lanes, overlaps)}


@kernel
def not_zero(number):
    """The number, or 0.01 with its sign where it is smaller."""
    if abs(number) > 1e-2:
        return number
    return 1e-2 if number >= 0.0 else -1e-2


@kernel
def set_direction(c, i):
    """Fill sine and cosine of the heading of a body."""
    c.sine[i], c.cosine[i] = maths.sin_cos(c.heading[i])


@kernel
def put_car(net, c, i, x, y, heading, speed):
    """Make body i a car that tracks its lane and its speed. What drives it, its route and its exponent are to be filled
    in afterwards."""
    c.x[i], c.y[i], c.heading[i], c.speed[i] = x, y, heading, speed
    set_direction(c, i)
    c.slip[i], c.acceleration[i], c.target_speed[i] = 0.0, 0.0, speed
    c.exponent[i] = 4.0
    c.shift[i, 0], c.shift[i, 1] = 0.0, 0.0
    c.box[i, 0], c.box[i, 1] = CAR_LENGTH, CAR_WIDTH
    c.driver[i] = TRACKER
    c.yielding[i], c.hit[i], c.crashed[i], c.changes[i], c.checked[i] = False, False, False, True, True
    for n in range(c.route.shape[1]):
        c.route[i, n], c.route_lane[i, n] = -1, -1
    c.stage[i] = 0
    k = nearest_lane(net, x, y, heading)
    c.lane_of[i], c.target_lane[i] = k, k
    c.station[i], c.aside[i] = along_and_across(net, k, x, y)
    c.timer[i] = ((x + y) * math.pi) % 1.0


@kernel
def put_on_lane(net, c, i, k, along, speed):
    """Make body i a car in the middle of lane k."""
    x, y = point_on(net, k, along, 0.0)
    put_car(net, c, i, x, y, heading_on(net, k, along), speed)


@kernel
def put_obstacle(net, c, i, x, y, heading, length, width):
    """Make body i something that stands in the way."""
    put_car(net, c, i, x, y, heading, 0.0)
    c.box[i, 0], c.box[i, 1] = length, width
    c.driver[i] = OBSTACLE


@kernel
def copy_car(c, i, j):
    """Make body j what body i is."""
    c.x[j], c.y[j], c.heading[j], c.speed[j] = c.x[i], c.y[i], c.heading[i], c.speed[i]
    c.cosine[j], c.sine[j], c.slip[j], c.acceleration[j] = c.cosine[i], c.sine[i], c.slip[i], c.acceleration[i]
    c.target_speed[j], c.timer[j], c.exponent[j] = c.target_speed[i], c.timer[i], c.exponent[i]
    c.driver[j], c.lane_of[j], c.target_lane[j] = c.driver[i], c.lane_of[i], c.target_lane[i]
    c.station[j], c.aside[j], c.stage[j] = c.station[i], c.aside[i], c.stage[i]
    c.yielding[j], c.hit[j], c.crashed[j] = c.yielding[i], c.hit[i], c.crashed[i]
    c.changes[j], c.checked[j] = c.changes[i], c.checked[i]
    for n in range(2):
        c.shift[j, n], c.box[j, n] = c.shift[i, n], c.box[i, n]
    for n in range(c.route.shape[1]):
        c.route[j, n], c.route_lane[j, n] = c.route[i, n], c.route_lane[i, n]


# --- routes -----------------------------------------------------------------------------------------------------------


@kernel
def distance(c, i, j):
    """Meters between the middles of two bodies."""
    right, down = c.x[i] - c.x[j], c.y[i] - c.y[j]
    return math.sqrt(right * right + down * down)


@kernel
def stage_road(c, i, n):
    """The road of car i that comes n roads after the present one of its route; -1 for none."""
    n += c.stage[i]
    return c.route[i, n] if n < c.route.shape[1] else -1


@kernel
def set_route(c, i, roads, place):
    """Give car i the roads of a route, of which it is on the first, on the lane of this place (-1 for any)."""
    for n in range(c.route.shape[1]):
        c.route[i, n] = roads[n] if n < roads.size else -1
        c.route_lane[i, n] = place if n == 0 else -1
    c.stage[i] = 0


@kernel
def next_lane(net, c, i, k):
    """The lane that car i follows at the end of lane k: that of its route, or the nearest."""
    road, wanted, place = net.lane_at[k, ROAD], -1, -1
    if stage_road(c, i, 0) == road:
        c.stage[i] += 1
    following = stage_road(c, i, 0)
    if following >= 0 and net.road[following, START] == net.road[road, END]:
        wanted, place = following, c.route_lane[i, c.stage[i]]
    x, y = point_on(net, k, along(net, k, c.x[i], c.y[i]), 0.0)
    if wanted >= 0:
        return entered(net, k, wanted, place, x, y)
    j = nearest_exit(net, k, x, y)
    return k if j < 0 else j


@kernel
def follow_road(net, c, i):
    """At the end of its lane, let car i aim at the next one."""
    k = c.target_lane[i]
    forward = c.station[i] if k == c.lane_of[i] else along(net, k, c.x[i], c.y[i])
    if forward > net.lane[k, LENGTH] - 0.5 * CAR_LENGTH:
        c.target_lane[i] = next_lane(net, c, i, k)


# --- control ----------------------------------------------------------------------------------------------------------


@kernel
def slip_of(steering):
    """The sine of the slip angle at a steering angle [rad]."""
    half = 0.5 * maths.tan(steering)
    return half / math.sqrt(1.0 + half * half)


@kernel
def steering_of(slip):
    """The steering angle [rad] whose slip angle has this sine."""
    return maths.atan(2.0 * slip / math.sqrt(1.0 - slip * slip))


@kernel
def sine_towards(across, speed):
    """The sine of the angle to its lane at which a car, so far to the right of the middle, comes back to it."""
    return -LATERAL_GAIN * across / not_zero(speed)


@kernel
def tilt_of(sine):
    """The angle [rad] with this sine, within STEEPEST."""
    angle = maths.asin(sine)
    angle = STEEPEST if sine >= HALF_ROOT else angle
    return -STEEPEST if sine <= -HALF_ROOT else angle


@kernel
def slip_at(speed, length, turn):
    """The sine of the slip angle with which a car makes a turn [rad]."""
    rate = HEADING_GAIN * wrapped(turn)
    slip = 0.5 * length / not_zero(speed) * rate
    return min(max(slip, -MOST_SLIP), MOST_SLIP)


@kernel
def slip_towards(net, c, i, k):
    """The sine of the slip angle with which car i turns towards the middle of lane k."""
    speed = c.speed[i]
    if k == c.lane_of[i]:
        forward, across = c.station[i], c.aside[i]
    else:
        forward, across = along_and_across(net, k, c.x[i], c.y[i])
    wanted = heading_on(net, k, forward + speed * PURSUIT) + tilt_of(sine_towards(across, speed))
    return slip_at(speed, c.box[i, 0], wanted - c.heading[i])


@kernel
def steer_all(net, c):
    """Let all cars that keep a lane turn towards the middle of the one that they aim at.

    The angles are found in loops of their own, which the processor takes several cars at a time.
    """
    lane_of, target_lane, speed, heading, box = c.lane_of, c.target_lane, c.speed, c.heading, c.box
    slip, station, aside, driver, crashed, tilts = c.slip, c.station, c.aside, c.driver, c.crashed, c.tilt
    for i in range(c.movers):
        k = target_lane[i]
        tilts[i] = aside[i] if k == lane_of[i] else along_and_across(net, k, c.x[i], c.y[i])[1]
    speeds, tilt = speed[: c.movers], tilts[: c.movers]
    for i in range(tilt.size):
        tilt[i] = sine_towards(tilt[i], speeds[i])
    for i in range(tilt.size):
        tilt[i] = tilt_of(tilt[i])
    for i in range(c.movers):
        if driver[i] <= RAW or (driver[i] >= 0 and crashed[i]):
            continue
        k = target_lane[i]
        wanted = tilts[i]
        if net.lane_at[k, SHAPE] == STRAIGHT:
            wanted += net.lane[k, HEADING]
        else:
            forward = station[i] if k == lane_of[i] else along(net, k, c.x[i], c.y[i])
            wanted += heading_on(net, k, forward + speed[i] * PURSUIT)
        slip[i] = slip_at(speed[i], box[i, 0], wanted - heading[i])


@kernel
def track(net, c, i):
    """Let car i keep the speed that it aims at, and follow its road."""
    follow_road(net, c, i)
    c.acceleration[i] = ACCELERATION_GAIN * (c.target_speed[i] - c.speed[i])


@kernel
def speed_index(speeds, speed):
    """Which of some evenly spaced speeds is nearest; of two the even one."""
    last = speeds.size - 1
    share = (speed - speeds[0]) / (speeds[last] - speeds[0]) * last
    whole = math.floor(share + 0.5)
    if whole - share == 0.5 and whole % 2.0 != 0.0:
        whole -= 1.0
    return int(min(max(whole, 0.0), last))


@kernel
def choose(net, c, i, speeds, action):
    """A meta-action of car i: aim at the lane beside, or at the next of some speeds."""
    follow_road(net, c, i)
    if action in (FASTER, SLOWER):
        wanted = speed_index(speeds, c.speed[i]) + (1 if action == FASTER else -1)
        c.target_speed[i] = speeds[min(max(wanted, 0), speeds.size - 1)]
    elif action in (LANE_LEFT, LANE_RIGHT):
        k = beside(net, c.target_lane[i], -1 if action == LANE_LEFT else 1)
        if reachable(net, k, c.x[i], c.y[i]):
            c.target_lane[i] = k


# --- motion -----------------------------------------------------------------------------------------------------------


@kernel
def advance(c, i, dt):
    """Move car i for a time [s]: a bicycle, one step of Euler's method. A crashed one rolls out."""
    if c.crashed[i]:
        c.slip[i], c.acceleration[i] = 0.0, -c.speed[i]
    speed, slip = c.speed[i], c.slip[i]
    if speed > TOP_SPEED:
        c.acceleration[i] = min(c.acceleration[i], TOP_SPEED - speed)
    elif speed < -TOP_SPEED:
        c.acceleration[i] = max(c.acceleration[i], -TOP_SPEED - speed)
    straight = math.sqrt(1.0 - slip * slip) if slip != 0.0 else 1.0
    c.x[i] += speed * (c.cosine[i] * straight - c.sine[i] * slip) * dt
    c.y[i] += speed * (c.sine[i] * straight + c.cosine[i] * slip) * dt
    if c.hit[i]:
        c.x[i] += c.shift[i, 0]
        c.y[i] += c.shift[i, 1]
        c.crashed[i], c.hit[i] = True, False
    c.speed[i] = speed + c.acceleration[i] * dt
    if slip != 0.0:
        c.heading[i] += speed * slip / (0.5 * c.box[i, 0]) * dt
        set_direction(c, i)


@kernel
def advance_all(c, dt):
    """Move all cars for a time [s]; those that drive on unharmed in a straight line take a short way to the same."""
    x, y, speed, slip, acceleration = c.x, c.y, c.speed, c.slip, c.acceleration
    cosine, sine, timer, crashed, hit = c.cosine, c.sine, c.timer, c.crashed, c.hit
    for i in range(c.movers):
        timer[i] += dt
        if slip[i] != 0.0 or crashed[i] or hit[i] or abs(speed[i]) > TOP_SPEED:
            advance(c, i, dt)
            continue
        x[i] += speed[i] * cosine[i] * dt
        y[i] += speed[i] * sine[i] * dt
        speed[i] += acceleration[i] * dt
