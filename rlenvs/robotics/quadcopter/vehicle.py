"""The vehicle: its parameters and state, and how four rotors give a force and torques.

Numbers of "cf2x", "cf2p", "racer", "hb": Panerati et al., "Learning to Fly", IROS 2021 (gym-pybullet-drones; "hb" from
its branch paper). "stmcfb": Ryou et al., "Multi-Fidelity RL for Time-Optimal Quadrotor Re-planning", 2024.
"cpc": Foehn et al., "Time-Optimal Planning for Quadrotor Waypoint Flight", 2021; it gives thrusts, so the coefficients
are derived here.

Two differences from the originals: the racer there has the aerodynamics and the hull of the 30 times lighter Crazyflie;
here its drag gives the same deceleration as the Crazyflie's, and its hull has its own size. And hover speed, largest
speed and the weight used by controllers follow from the parameters, so a changed mass takes effect everywhere.
"""

import math
from typing import Any

import numpy as np

from rlenvs.core import at_most, b1, choice, constraint, f8, flag, json_option, kernel, maths, param
from rlenvs.core.declare.algebra import inverse

# rotors of a vehicle: x and y in arm lengths, and the sign of the torque about body z that a faster rotor gives
DIAGONAL = math.sqrt(0.5)
CRAZYFLIE_X = ((DIAGONAL, -DIAGONAL, -1), (-DIAGONAL, -DIAGONAL, 1), (-DIAGONAL, DIAGONAL, -1), (DIAGONAL, DIAGONAL, 1))
CRAZYFLIE_PLUS = ((1, 0, -1), (0, 1, 1), (-1, 0, -1), (0, -1, 1))
RACER_ARM = maths.hypot(0.085, 0.0675)
RACER_X, RACER_Y = 0.085 / RACER_ARM, 0.0675 / RACER_ARM
RACER = ((RACER_X, RACER_Y, 1), (-RACER_X, RACER_Y, -1), (-RACER_X, -RACER_Y, 1), (RACER_X, -RACER_Y, -1))
ROTORS = {
    "cf2x": CRAZYFLIE_X,
    "cf2p": CRAZYFLIE_PLUS,
    "racer": RACER,
    "hb": CRAZYFLIE_PLUS,
    "stmcfb": CRAZYFLIE_X,
    "cpc": CRAZYFLIE_X,
}
RADIANS = 2.0 * math.pi / 60.0  # rad/s per RPM

# radius and height [m] of the hull, an upright cylinder
HULLS = {
    "cf2x": (0.06, 0.025),
    "cf2p": (0.06, 0.025),
    "racer": (0.15, 0.05),
    "hb": (0.2, 0.05),
    "stmcfb": (0.13, 0.05),
    "cpc": (0.2, 0.05),
}

# fmt: off
QUANTITIES = (
    "mass", "arm", "inertia_x", "inertia_y", "inertia_z", "thrust_coefficient", "torque_coefficient",
    "thrust_to_weight", "gravity", "propeller_radius", "drag_xy", "drag_z", "speed_limit", "lag_time", "battery_energy",
)
ROWS = {
    "cf2x": (0.027, 0.0397, 1.4e-5, 1.4e-5, 2.17e-5, 3.16e-10, 7.94e-12, 2.25,
             9.8, 0.0231348, 9.1785e-7, 10.311e-7, 0.25, 0.02, 3330.0),
    "cf2p": (0.027, 0.0397, 2.3951e-5, 2.3951e-5, 3.2347e-5, 3.16e-10, 7.94e-12, 2.25,
             9.8, 0.0231348, 9.1785e-7, 10.311e-7, 0.25, 0.02, 3330.0),
    "racer": (0.83, RACER_ARM, 3.113e-3, 3.113e-3, 3.113e-3, 8.47e-9, 2.13e-11, 4.17,
              9.8, 0.127, 2.6347e-5, 2.9597e-5, 1.6667, 0.03, 60000.0),
    "hb": (0.5, 0.175, 2.3e-3, 2.3e-3, 4.0e-3, 6.11e-8, 1.5e-9, 2.0,
           9.8, 0.12, 5.5e-5, 6.2e-5, 0.41667, 0.04, 60000.0),
    "stmcfb": (0.771, 0.08 * math.sqrt(2.0), 4e-3, 4e-3, 6e-3, 1.6201e-6 * RADIANS**2, 1.7762e-8 * RADIANS**2, 6.486,
               9.81, 0.064, 2.3e-5, 2.3e-5, 1.6667, 0.02, 60000.0),
    "cpc": (0.85, 0.15 * math.sqrt(2.0), 1e-3, 1e-3, 1.7e-3, 1e-8, 5e-10, 3.3,
            9.801, 0.127, 2.7e-5, 3.0e-5, 1.6667, 0.03, 60000.0),
}
# fmt: on
VEHICLES = {name: dict(zip(QUANTITIES, row, strict=True)) for name, row in ROWS.items()}

BODY = {
    "mass": param(0.027, 0.01, 2.0, "kg", "mass of the vehicle"),
    "arm": param(0.0397, 0.01, 0.5, "m", "distance from the center to a rotor"),
    "inertia_x": param(1.4e-5, 1e-6, 0.05, "kg m^2", "moment of inertia about body x"),
    "inertia_y": param(1.4e-5, 1e-6, 0.05, "kg m^2", "moment of inertia about body y"),
    "inertia_z": param(2.17e-5, 1e-6, 0.05, "kg m^2", "moment of inertia about body z"),
    "thrust_coefficient": param(3.16e-10, 1e-11, 1e-6, "N/RPM^2", "thrust of a rotor per squared speed"),
    "torque_coefficient": param(7.94e-12, 1e-13, 1e-7, "N m/RPM^2", "drag torque of a rotor per squared speed"),
    "thrust_to_weight": param(2.25, 1.1, 10.0, "", "largest thrust over weight; limits the rotor speed", limit=True),
    "gravity": param(9.8, 1.0, 25.0, "m/s^2", "gravitational acceleration"),
    "damping": param(0.0, 0.0, 1.0, "", "Bullet's damping of velocities and rates (the original's Bullet modes: 0.04)"),
    "speed_limit": param(0.25, 0.05, 10.0, "m/s", "speed at full command of velocity actions"),
}

LOPSIDED, DRAGGING = 3.0, 1.0  # what room `CONSTRAINTS` leave for randomised numbers; DRAGGING [m]
CONSTRAINTS = [
    constraint(
        *("inertia_x", "inertia_y", "inertia_z"),
        holds=lambda x, y, z: np.maximum(np.maximum(x, y), z) * (1.0 + LOPSIDED) <= LOPSIDED * (x + y + z),
        doc="none may exceed 3 times the sum of the other two (for a real rigid body: 1 times)",
    ),
    at_most(
        *("torque_coefficient", "thrust_coefficient"),
        DRAGGING,
        doc="the drag torque of a rotor may be at most 1 m x its thrust (0.0025 to 0.05 m x in the vehicles here)",
    ),
]

AIR = {
    "propeller_radius": param(0.0231348, 0.01, 0.3, "m", "radius of a propeller"),
    "ground_coefficient": param(11.36859, 0.0, 30.0, "", "strength of the ground effect"),
    "drag_xy": param(9.1785e-7, 0.0, 1e-3, "N s^2/(rad m)", "drag along body x, y per speed and sum of rotor speeds"),
    "drag_z": param(10.311e-7, 0.0, 1e-3, "N s^2/(rad m)", "drag along body z per speed and sum of rotor speeds"),
    "lag_time": param(0.02, 0.0, 0.2, "s", "time constant of the rotors"),
    "battery_energy": param(3330.0, 100.0, 1e6, "J", "energy of a full battery"),
    "battery_charge": param(1.0, 0.05, 1.0, "", "charge at the start of an episode"),
    "battery_sag": param(0.3, 0.0, 0.6, "", "rotor speed lost when the battery is empty, relative"),
    "wind_x": param(0.0, -10.0, 10.0, "m/s", "mean wind along x"),
    "wind_y": param(0.0, -10.0, 10.0, "m/s", "mean wind along y"),
    "wind_z": param(0.0, -5.0, 5.0, "m/s", "mean wind along z"),
    "gust": param(0.5, 0.0, 5.0, "m/s", "standard deviation of the gusts along each axis"),
    "gust_time": param(0.5, 0.05, 10.0, "s", "correlation time of the gusts"),
}

# every effect of the air and of the drive has a switch
EFFECTS = {
    "ground_effect": flag(False, "whether there is more lift close to the floor"),
    "drag": flag(False, "whether the rotors cause drag"),
    "rotor_lag": flag(False, "whether rotors follow their commands with a lag"),
    "battery": flag(False, "whether the battery discharges, which slows the rotors"),
    "wind": flag(False, "whether there is wind with gusts"),
}
ALL_EFFECTS = dict.fromkeys(EFFECTS, True)

# settings under which each parameter of AIR shows, for the conformance suite
SHOWN_BY: dict[str, dict[str, Any]] = {
    **{name: {"ground_effect": True} for name in ("propeller_radius", "ground_coefficient")},
    **{name: {"drag": True} for name in ("drag_xy", "drag_z")},
    "lag_time": {"rotor_lag": True},
    **{name: {"battery": True} for name in ("battery_energy", "battery_charge", "battery_sag")},
    **{name: {"wind": True} for name in ("wind_x", "wind_y", "wind_z", "gust", "gust_time")},
}


def _rotors(given: Any) -> list[list[float]] | None:
    if given is None:
        return None
    rows = np.array(given, float)
    if rows.shape != (4, 3) or not np.isfinite(rows).all() or not set(rows[:, 2]) <= {-1.0, 1.0}:
        raise ValueError(f"needed: four rows (x, y, spin) with x, y in arm lengths and spin 1 or -1, not {given!r}")
    if np.linalg.matrix_rank(mixing(rows)) < 4:
        raise ValueError(f"rotors {given!r} cannot give thrust and three torques independently; move or respin one")
    return rows.tolist()


def _hull(given: Any) -> tuple[float, float] | None:
    if given is None:
        return None
    radius, height = map(float, given)
    if not (0.005 <= radius <= 1.0 and 0.005 <= height <= 1.0):
        raise ValueError(f"needed: radius and height in [0.005, 1] m, not {given!r}")
    return radius, height


def mixing(rotors: Any) -> np.ndarray:
    """What rotor thrusts f add up to: (thrust, torque x, y, z) = mixing @ f, for arm 1 and drag torque f; (4, 4)."""
    x, y, spin = np.array(rotors, float).T
    return np.stack([np.ones(4), y, -x, spin])


FRAME = {
    "vehicle": choice(*VEHICLES, doc="the vehicle; explicit parameters override it", sets=VEHICLES),
    "rotors": json_option(None, _rotors, "four rows (x, y, spin) of a custom frame, x and y in arm lengths"),
    "hull": json_option(None, _hull, "radius and height [m] of a custom hull"),
}
FRAME_DATA = {"rotor": f8(4, 3), "unmix": f8(4, 4), "hull": f8(2)}


def frame_data(values: Any) -> dict[str, np.ndarray]:
    """The rotors' places and spins, (4, 3), the inverse of `mixing`, (4, 4), and the hull's radius and height, (2,)."""
    rotors = np.array(ROTORS[values.vehicle] if values.rotors is None else values.rotors, float)
    hull = HULLS[values.vehicle] if values.hull is None else values.hull
    return {"rotor": rotors, "unmix": inverse(mixing(rotors)), "hull": np.array(hull)}


def vehicle_state(drones: int | str) -> dict[str, Any]:
    """The state of some vehicles, a number or the name of a size; every field has a row per vehicle, but the wind."""
    return {
        "position": f8(drones, 3).within(-1e7, 1e7),  # m, world
        "attitude": f8(drones, 4),  # quaternion x, y, z, w from body to world
        "velocity": f8(drones, 3).within(-1e6, 1e6),  # m/s, world
        "rates": f8(drones, 3),  # rad/s, body
        "rpm": f8(drones, 4),  # rotor speeds
        "command": f8(drones, 4),  # rotor speeds that are wanted
        "angles": f8(drones, 3),  # roll, pitch, yaw [rad], at the end of a step
        "charge": f8(drones),  # of the battery, 1 is full
        "wash": f8(drones),  # push of the vehicles above [N]
        "wind": f8(3),  # m/s, world
        "force": f8(drones, 3),  # N, body; what an engine applies
        "torque": f8(drones, 3),  # N m, body
        "touching": b1(drones),  # whether something touched the hull in the last step
        "steady": b1,  # whether force and torque stay what they are for the whole control step
    }


@kernel
def hover_rpm(p):
    """The rotor speed at which thrust equals weight."""
    return math.sqrt(p.mass * p.gravity / (4.0 * p.thrust_coefficient))


@kernel
def max_rpm(p):
    """The largest rotor speed."""
    return math.sqrt(p.thrust_to_weight * p.mass * p.gravity / (4.0 * p.thrust_coefficient))


@kernel
def place(p, s, k, x, y, z, yaw):
    """Put vehicle k somewhere at rest, level, with its rotors at hover speed and its battery charged."""
    s.position[k, 0], s.position[k, 1], s.position[k, 2] = x, y, z
    s.attitude[k, 2], s.attitude[k, 3] = maths.sin(0.5 * yaw), maths.cos(0.5 * yaw)
    s.angles[k, 2] = yaw
    s.charge[k] = p.battery_charge
    for j in range(4):
        s.rpm[k, j] = hover_rpm(p)
        s.command[k, j] = s.rpm[k, j]


@kernel
def euler_angles(s, k):
    """Write roll, pitch and yaw [rad] of the attitude, rotations about x, y, z of the world in this order."""
    x, y, z, w = s.attitude[k, 0], s.attitude[k, 1], s.attitude[k, 2], s.attitude[k, 3]
    s.angles[k, 0] = maths.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    s.angles[k, 1] = maths.asin(min(1.0, max(-1.0, 2.0 * (w * y - z * x))))
    s.angles[k, 2] = maths.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


@kernel
def tilt_of(s, k):
    """The angle [rad] between the vehicle's up and the world's."""
    x, y = s.attitude[k, 0], s.attitude[k, 1]
    return maths.acos(min(1.0, max(-1.0, 1.0 - 2.0 * (x * x + y * y))))


@kernel
def rotor_thrust(p, j, thrust, torque_x, torque_y, torque_z):
    """The share [N], not negative, of rotor j in a thrust [N] and torques [N m]."""
    roll, pitch = torque_x / p.arm, torque_y / p.arm
    yaw = torque_z * p.thrust_coefficient / p.torque_coefficient
    return max(0.0, p.unmix[j, 0] * thrust + p.unmix[j, 1] * roll + p.unmix[j, 2] * pitch + p.unmix[j, 3] * yaw)


@kernel
def command_wrench(p, s, k, thrust, torque_x, torque_y, torque_z):
    """Command the rotor speeds that give a thrust [N] and torques [N m], as far as the rotors can."""
    limit = max_rpm(p)
    for j in range(4):
        f = rotor_thrust(p, j, thrust, torque_x, torque_y, torque_z)
        s.command[k, j] = min(math.sqrt(f / p.thrust_coefficient), limit)
