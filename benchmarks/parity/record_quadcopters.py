"""Record open-loop flights and the position controller of gym-pybullet-drones, in all its physics modes.

Installed as: a clone of utiasDSL/gym-pybullet-drones (``--clone``), with pybullet, gymnasium, transforms3d, scipy,
pillow and a setuptools that still has pkg_resources. Two files are written to ``--out``; tests/data/README.md
describes them.
"""

import argparse
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

STEPS = 60
SUBSTEPS = 8  # physics steps in a control step
FINE = 64  # physics steps of which every state is kept
SEQUENCES, CALLS = 60, 5  # of the controller with made-up states: 300 calls
HELIX_RATE, HELIX_SECONDS, HELIX_LAP, HELIX_RADIUS = 48, 12, 10, 0.3
HELIX_RUNS = 12  # with starts that differ by 1e-10 m
HELIX_CASES = {
    "pyb": ("cf2x", "pyb"),
    "dyn": ("cf2x", "dyn"),
    "pyb_gnd": ("cf2x", "pyb_gnd"),
    "pyb_drag": ("cf2x", "pyb_drag"),
    "pyb_dw": ("cf2x", "pyb_dw"),
    "all": ("cf2x", "pyb_gnd_drag_dw"),
    "cf2p": ("cf2p", "pyb"),
}


@dataclass
class Flight:
    """A start for every drone, and motor speeds [control step, drone, motor] as fractions of the hover speed."""

    physics: str
    position: list
    rpy: list
    speed: np.ndarray
    model: str = "cf2x"
    fine_from: int = 0


def noise(seed: int, drones: int = 1, share: float = 0.05) -> np.ndarray:
    """Speeds around hover, drawn anew for every control step."""
    return 1.0 + share * np.random.default_rng(seed).uniform(-1.0, 1.0, (STEPS, drones, 4))


def held(*speeds: float, drones: int = 1) -> np.ndarray:
    """The same four speeds for every drone and control step."""
    return np.tile(speeds, (STEPS, drones, 1))


def switched(step: int, before: float, after: float) -> np.ndarray:
    """All motors alike, at one speed and then, from a control step on, at another."""
    return np.where(np.arange(STEPS) < step, before, after)[:, None, None] * np.ones((STEPS, 1, 4))


def flights() -> dict[str, Flight]:
    """Every flight by its name."""
    aloft, level, tilted = [[0.0, 0.0, 20.0]], [[0.0, 0.0, 0.0]], [[0.4, -0.3, 1.0]]
    spin = held(1.02, 0.985, 1.01, 1.005)
    stacked = [[0.0, 0.0, 6.0], [0.0, 0.0, 6.6]]
    offset = [[0.0, 0.0, 20.0], [0.08, -0.06, 21.0]]
    three = [[0.0, 0.0, 0.12], [0.06, 0.02, 1.4], [-0.05, 0.08, 2.9]]
    three_tilts = [[0.0, 0.0, 0.0], [0.02, -0.01, 0.5], [-0.04, 0.06, -0.7]]
    climbing = noise(6, 3, 0.005) * np.array([1.05, 1.03, 1.0])[:, None]
    return {
        "noise": Flight("pyb", aloft, level, noise(1)),
        "spin": Flight("pyb", aloft, level, spin, fine_from=320),
        "tilted": Flight("pyb", aloft, tilted, noise(2, share=0.02)),
        "fall": Flight("pyb", [[0.0, 0.0, 0.3]], level, held(0.0, 0.0, 0.0, 0.0), fine_from=52),
        "fall_tilted": Flight("pyb", [[0.0, 0.0, 0.3]], tilted, held(0.0, 0.0, 0.0, 0.0), fine_from=52),
        "takeoff": Flight("pyb", [[0.0, 0.0, 0.02]], level, switched(15, 0.0, 1.1), fine_from=100),
        "ground_climb": Flight("pyb_gnd", [[0.0, 0.0, 0.05]], level, held(1.0, 1.0, 1.0, 1.0)),
        "ground_settle": Flight("pyb_gnd", [[0.0, 0.0, 0.2]], level, switched(30, 0.965, 0.92)),
        "ground_tilted": Flight("pyb_gnd", [[0.0, 0.0, 0.15]], [[0.15, 0.1, 0.4]], noise(3, share=0.01)),
        "drag": Flight("pyb_drag", aloft, [[0.3, 0.2, 0.5]], noise(4, share=0.02)),
        "downwash_stacked": Flight("pyb_dw", stacked, level * 2, held(1.0, 1.0, 1.0, 1.0, drones=2)),
        "downwash_offset": Flight("pyb_dw", offset, [[0.0, 0.0, 0.3], [0.0, 0.0, 0.0]], noise(5, 2, 0.01)),
        "all": Flight("pyb_gnd_drag_dw", three, three_tilts, climbing),
        "cf2p_pyb": Flight("pyb", aloft, tilted, noise(7), model="cf2p"),
        "cf2p_dyn": Flight("dyn", aloft, tilted, noise(7), model="cf2p"),
        "race_pyb": Flight("pyb", aloft, tilted, noise(8), model="racer"),
        "race_dyn": Flight("dyn", aloft, tilted, noise(8), model="racer"),
    }


def fly(flight: Flight) -> dict[str, np.ndarray]:
    """The states of one flight, after every control step, and after every physics step in its fine window."""
    from gym_pybullet_drones.envs.CtrlAviary import CtrlAviary
    from gym_pybullet_drones.utils.enums import DroneModel, Physics

    start = np.array(flight.position)
    env = CtrlAviary(
        drone_model=DroneModel(flight.model),
        num_drones=len(start),
        initial_xyzs=start,
        initial_rpys=np.array(flight.rpy),
        physics=Physics(flight.physics),
        pyb_freq=240,
        ctrl_freq=240,
        user_debug_gui=False,
    )
    env.reset()
    rpm = flight.speed * env.HOVER_RPM
    names = {"position": "pos", "quaternion": "quat", "velocity": "vel", "angular_velocity": "ang_v"}
    tracks: dict[str, list[np.ndarray]] = {name: [getattr(env, source).copy()] for name, source in names.items()}
    for command in np.repeat(rpm, SUBSTEPS, axis=0):
        env.step(command)
        for name, source in names.items():
            tracks[name].append(getattr(env, source).copy())
    env.close()
    record = {"rpm": rpm, "fine_from": np.array(flight.fine_from)}
    for name, track in tracks.items():
        record[name] = np.array(track[::SUBSTEPS])
        record["fine_" + name] = np.array(track[flight.fine_from : flight.fine_from + FINE + 1])
    return record


def turned(quaternion: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """A quaternion x, y, z, w after a turn by a small rotation vector [rad]."""
    from scipy.spatial.transform import Rotation

    return (Rotation.from_rotvec(vector) * Rotation.from_quat(quaternion)).as_quat()


def controller_calls(model: str, seed: int) -> dict[str, np.ndarray]:
    """Inputs and outputs of the controller: sequences near the target, far from it, and in any attitude, in turn."""
    from gym_pybullet_drones.control.DSLPIDControl import DSLPIDControl
    from gym_pybullet_drones.utils.enums import DroneModel

    rng = np.random.default_rng(seed)
    # m, rad, m/s, rad/s, rad; the first leaves most motors off their limits
    spreads = ((0.01, 0.01, 0.02, 0.1, 0.01), (1.0, 0.7, 1.0, 1.0, 1.0), (5.0, 3.0, 4.0, 20.0, 3.0))
    tracks: dict[str, list] = {}
    for sequence in range(SEQUENCES):
        control = DSLPIDControl(drone_model=DroneModel(model))
        distance, tilt, speed, rate, yaw = spreads[sequence % 3]
        dt = (1.0 / 48.0, 1.0 / 30.0, 1.0 / 240.0)[sequence // 3 % 3]
        position, velocity = rng.uniform(-distance, distance, 3), rng.uniform(-speed, speed, 3)
        quaternion = turned(np.array([0.0, 0.0, 0.0, 1.0]), rng.uniform(-tilt, tilt, 3))
        target = {
            "target_position": position + rng.uniform(-distance, distance, 3),
            "target_rpy": np.array([0.0, 0.0, rng.uniform(-yaw, yaw)]),
            "target_velocity": rng.uniform(-speed, speed, 3) * (sequence % 2),
            "target_rpy_rates": rng.uniform(-rate, rate, 3) * (sequence % 2),
        }
        for call in range(CALLS):
            if call > 0:
                position = position + dt * velocity
                velocity = velocity + 0.1 * rng.uniform(-speed, speed, 3)
                quaternion = turned(quaternion, dt * rng.uniform(-rate, rate, 3))
            rpm, _, yaw_error = control.computeControl(
                dt,
                position,
                quaternion,
                velocity,
                np.zeros(3),
                target["target_position"],
                target["target_rpy"],
                target["target_velocity"],
                target["target_rpy_rates"],
            )
            row = {
                "timestep": dt,
                "position": position,
                "quaternion": quaternion,
                "velocity": velocity,
                **target,
                "rpm": rpm,
                "yaw_error": yaw_error,
                "position_integral": control.integral_pos_e,
                "attitude_integral": control.integral_rpy_e,
            }
            for name, value in row.items():
                tracks.setdefault(name, []).append(np.copy(value))
    return {name: np.array(track).reshape(SEQUENCES, CALLS, *np.shape(track[0])) for name, track in tracks.items()}


def helix_plan(shift: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Start positions and attitudes, and targets [control step, drone, 3], of the original's examples/pid.py."""
    turn = np.arange(3) / 6.0
    angle = 2.0 * np.pi * turn + np.pi / 2.0
    height = 0.1 + 0.05 * np.arange(3)
    start = np.stack([HELIX_RADIUS * np.cos(angle), HELIX_RADIUS * np.sin(angle) - HELIX_RADIUS, height], axis=1)
    rpy = np.stack([np.zeros(3), np.zeros(3), np.arange(3) * np.pi / 6.0], axis=1)
    lap = HELIX_LAP * HELIX_RATE
    steps = (np.arange(HELIX_SECONDS * HELIX_RATE)[:, None] + (turn * lap).astype(int)) % lap
    angles = 2.0 * np.pi * steps / lap + np.pi / 2.0
    circle = [HELIX_RADIUS * np.cos(angles), HELIX_RADIUS * np.sin(angles) - HELIX_RADIUS]
    targets = np.stack([*circle, np.broadcast_to(height, angles.shape)], axis=2)
    start[:, 0] += shift * np.arange(1, 4)
    return start, rpy, targets


def fly_helix(model: str, physics: str, shift: float) -> tuple[np.ndarray, np.ndarray]:
    """Positions after every control step, and the motor speeds then commanded; the first step has none."""
    from gym_pybullet_drones.control.DSLPIDControl import DSLPIDControl
    from gym_pybullet_drones.envs.CtrlAviary import CtrlAviary
    from gym_pybullet_drones.utils.enums import DroneModel, Physics

    start, rpy, targets = helix_plan(shift)
    env = CtrlAviary(
        drone_model=DroneModel(model),
        num_drones=3,
        initial_xyzs=start,
        initial_rpys=rpy,
        physics=Physics(physics),
        pyb_freq=240,
        ctrl_freq=HELIX_RATE,
        user_debug_gui=False,
    )
    controls = [DSLPIDControl(drone_model=DroneModel(model)) for _ in range(3)]
    rpm = np.zeros((3, 4))
    positions, commands = [], []
    for target in targets:
        states = env.step(rpm)[0]
        for i, control in enumerate(controls):
            rpm[i] = control.computeControlFromState(env.CTRL_TIMESTEP, states[i], target[i], rpy[i])[0]
        positions.append(states[:, :3].copy())
        commands.append(rpm.copy())
    env.close()
    return np.array(positions), np.array(commands)


def helix(model: str, physics: str) -> dict[str, np.ndarray]:
    """One flight in detail, and the tracking error of all runs: root mean square distance after two seconds."""
    errors = []
    for run in range(HELIX_RUNS):
        positions, commands = fly_helix(model, physics, 1e-10 * run)
        if run == 0:
            first_positions, first_commands = positions, commands
        distance = positions - helix_plan(0.0)[2]
        errors.append(np.sqrt(np.mean(np.sum(distance[2 * HELIX_RATE :] ** 2, axis=2))))
    return {
        "early_position": first_positions[:HELIX_RATE],
        "early_rpm": first_commands[:HELIX_RATE],
        "position": first_positions[HELIX_RATE - 1 :: HELIX_RATE],
        "rmse": np.array(errors),
    }


def main() -> None:
    """Fly and write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clone", required=True, help="where the repository was cloned to")
    parser.add_argument("--out", type=Path, default=Path("tests/data"), help="the folder of the two files")
    options = parser.parse_args()
    sys.path.insert(0, options.clone)
    git = ["git", "-C", options.clone, "rev-parse", "HEAD"]
    found = subprocess.run(git, capture_output=True, text=True)
    if found.returncode:
        parser.error(f"--clone {options.clone}: {found.stderr.strip()}")
    commit = found.stdout.strip()

    plan = flights()
    arrays = {f"{name}_{key}": value for name, flight in plan.items() for key, value in fly(flight).items()}
    np.savez_compressed(
        options.out / "quadcopters.npz",
        commit=commit,
        flights=np.array(list(plan)),
        physics=np.array([flight.physics for flight in plan.values()]),
        model=np.array([flight.model for flight in plan.values()]),
        **arrays,
    )

    start, rpy, targets = helix_plan(0.0)
    arrays = {f"helix_{name}_{key}": value for name, case in HELIX_CASES.items() for key, value in helix(*case).items()}
    for seed, model in enumerate(("cf2x", "cf2p")):
        arrays |= {f"{model}_{key}": value for key, value in controller_calls(model, seed).items()}
    np.savez_compressed(
        options.out / "quadcopters_pid.npz",
        commit=commit,
        helix_cases=np.array(list(HELIX_CASES)),
        helix_start=start,
        helix_rpy=rpy,
        helix_targets=targets,
        **arrays,
    )


if __name__ == "__main__":
    try:
        main()
    except ModuleNotFoundError as error:
        raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None
