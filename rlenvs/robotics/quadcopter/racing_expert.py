"""The expert of the racing tasks: its speed through the next gate, and its path to it."""

import math

from rlenvs.core import kernel, maths
from rlenvs.robotics.quadcopter.control import FORCE_D, FORCE_D_Z, MASS, limited, pid_target
from rlenvs.robotics.quadcopter.flight import POSITION, THRUST_RATES, VELOCITY, steer_rotors
from rlenvs.robotics.quadcopter.gates import gate_frame
from rlenvs.robotics.quadcopter.racing import heading_to, next_gate

BOLD = 3.0  # m/s^2: the speed at a gate is sqrt(BOLD x leg), for the shorter of its legs
TURNING = 0.5  # share of that speed where the course turns back
SLOWEST, FASTEST = 1.0, 8.0  # m/s
LOOK_AHEAD = 0.6  # s, the shortest time to go that the expert plans for
CONE, CONE_FOOT = 0.6, 0.15  # the expert slows down where it is farther off the axis than CONE x way + CONE_FOOT [m]
NEAR_GATE = 3.0  # m, where that begins
WALL_ROOM, WALL_TIME, WALL_GAIN = 0.7, 0.4, 12.0  # m, s, 1/s^2: how it keeps off walls
STRONG, GENTLE = 15.0, 6.0  # m/s^2, its largest acceleration sideways, and that with position actions
QUICK = 1.8  # attitude gain, relative to that of `steer_rotors`, which is made for gentle flight


@kernel
def leg_length(s, g):
    """The distance [m] between gate g and the one before it."""
    last = (g + s.gates.shape[0] - 1) % s.gates.shape[0]
    x, y, z = s.gates[g, 0] - s.gates[last, 0], s.gates[g, 1] - s.gates[last, 1], s.gates[g, 2] - s.gates[last, 2]
    return math.sqrt(x * x + y * y + z * z)


@kernel
def race_speed(p, s, k):
    """The speed [m/s] at which the expert flies through the next gate of vehicle k."""
    g, after = next_gate(s, k, 0), next_gate(s, k, 1)
    x, y = s.gates[after, 0] - s.gates[g, 0], s.gates[after, 1] - s.gates[g, 1]
    leg = max(leg_length(s, after), 0.1)
    # 1 where the course goes on straight, 0 where it turns back
    straight = 0.5 + 0.5 * (x * maths.cos(s.gates[g, 3]) + y * maths.sin(s.gates[g, 3])) / leg
    short = min(leg_length(s, g), leg) if s.gates.shape[0] > 1 else 10.0
    speed = (TURNING + (1.0 - TURNING) * straight) * math.sqrt(BOLD * short)
    ahead, left, up = gate_frame(s.gates, g, s.position[k, 0], s.position[k, 1], s.position[k, 2])
    off = math.sqrt(left * left + up * up)
    if s.distance[k] < NEAR_GATE:
        speed *= min(1.0, (CONE_FOOT + CONE * max(-ahead, 0.0)) / max(off, 1e-9))
    speed = min(max(speed, SLOWEST), FASTEST)
    if p.action == VELOCITY:
        speed = min(speed, 0.8 * p.speed_limit)
    elif p.action == POSITION:
        speed = min(speed, 1.2)
    return speed


@kernel
def race_pull(p, s, k, speed):
    """The expert's acceleration [m/s^2]: of the cubic that ends in the next gate, along its axis, at a speed.

    Close to the gate it aims at a point beyond, so that the time to go never falls below LOOK_AHEAD.
    """
    g = next_gate(s, k, 0)
    ux, uy = maths.cos(s.gates[g, 3]), maths.sin(s.gates[g, 3])
    vx, vy, vz = s.velocity[k, 0], s.velocity[k, 1], s.velocity[k, 2]
    now = math.sqrt(vx * vx + vy * vy + vz * vz)
    time = s.distance[k] / (0.5 * (max(now, 0.5 * speed) + speed))
    beyond = max(0.0, LOOK_AHEAD - time) * speed
    time = max(time, LOOK_AHEAD)
    x = s.gates[g, 0] + beyond * ux - s.position[k, 0]
    y = s.gates[g, 1] + beyond * uy - s.position[k, 1]
    z = s.gates[g, 2] - s.position[k, 2]
    ax = (6.0 * x / time - 4.0 * vx - 2.0 * speed * ux) / time
    ay = (6.0 * y / time - 4.0 * vy - 2.0 * speed * uy) / time
    az = (6.0 * z / time - 4.0 * vz) / time
    most = GENTLE if p.action == POSITION else STRONG
    share = min(1.0, most / max(math.sqrt(ax * ax + ay * ay), 1e-9))
    ax, ay = share * ax, share * ay
    ax += off_wall(s.position[k, 0], vx, p.room[0])
    ay += off_wall(s.position[k, 1], vy, p.room[1])
    az += off_wall(s.position[k, 2] - 0.5 * p.room[2], vz, 0.5 * p.room[2] - 0.3)
    return ax, ay, az


@kernel
def off_wall(x, v, half):
    """Acceleration that keeps a coordinate within +-half."""
    beyond = abs(x + WALL_TIME * v) - (half - WALL_ROOM)
    if beyond <= 0.0:
        return 0.0
    return -WALL_GAIN * beyond if x + WALL_TIME * v > 0.0 else WALL_GAIN * beyond


@kernel
def pull_to_action(p, s, k, a, ax, ay, az, half, ceiling):
    """The action of vehicle k that accelerates it so, as well as its form can."""
    vx, vy, vz = s.velocity[k, 0], s.velocity[k, 1], s.velocity[k, 2]
    if p.action == VELOCITY:
        # the PID accelerates by FORCE_D / MASS times the error of the velocity
        gain = MASS / FORCE_D
        vx, vy, vz = vx + gain * ax, vy + gain * ay, vz + MASS / FORCE_D_Z * az
        size = max(math.sqrt(vx * vx + vy * vy + vz * vz), 1e-9)
        a[0], a[1], a[2], a[3] = vx / size, vy / size, vz / size, min(1.0, size / p.speed_limit)
        return
    if p.action == POSITION:
        x, y, z = pid_target(s, k, ax, ay, az)
        a[0], a[1] = limited(x / half, 1.0), limited(y / half, 1.0)
        a[2] = limited(2.0 * z / ceiling - 1.0, 1.0)
        return
    steer_rotors(p, s, k, a, ax, ay, az)
    if p.action == THRUST_RATES:
        # look where the course goes
        g = next_gate(s, k, 0)
        off = heading_to(s, g, s.position[k, 0], s.position[k, 1]) - s.angles[k, 2]
        off -= 2.0 * math.pi * math.floor(off / (2.0 * math.pi) + 0.5)
        a[3] = limited(limited(2.0 * off, 2.0) / p.rate_limit, 1.0)
        a[1], a[2] = limited(QUICK * a[1], 1.0), limited(QUICK * a[2], 1.0)
