"""Record three open-loop flights of gym-pybullet-drones' HoverAviary with its explicit dynamics (physics DYN).

Installed as: a clone of utiasDSL/gym-pybullet-drones (``--clone``), with pybullet, gymnasium, transforms3d, scipy,
pillow and a setuptools that still has pkg_resources. The arrays are described in tests/data/README.md.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import numpy as np

STEPS = 60
START = (0.0, 0.0, 1.0)
FLIGHTS = ("random", "constant", "climb")


def flight_actions() -> np.ndarray:
    """Actions [flight, step, motor]: uniform noise, a constant difference between the motors, all motors at full."""
    noise = np.random.default_rng(1).uniform(-1.0, 1.0, (STEPS, 4))
    constant = np.tile([0.10, -0.06, 0.04, 0.02], (STEPS, 1))
    return np.stack([noise, constant, np.ones((STEPS, 4))])


def main() -> None:
    """Fly and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clone", required=True, help="where the repository was cloned to")
    parser.add_argument("--out", type=Path, default=Path("tests/data/quadhover_dyn.npz"))
    options = parser.parse_args()
    sys.path.insert(0, options.clone)
    from gym_pybullet_drones.envs.HoverAviary import HoverAviary
    from gym_pybullet_drones.utils.enums import Physics

    env = HoverAviary(physics=Physics.DYN, initial_xyzs=np.array([START]), pyb_freq=240, ctrl_freq=30)
    actions = flight_actions()
    tracks: dict[str, list[list[np.ndarray]]] = {}
    outcomes: dict[str, list[list[float]]] = {"reward": [], "terminated": [], "truncated": []}

    def note() -> None:
        values = {
            "position": env.pos, "quaternion": env.quat, "rpy": env.rpy, "velocity": env.vel,
            "angular_velocity": env.ang_v, "body_rates": env.rpy_rates,
        }  # fmt: skip
        for name, value in values.items():
            tracks[name][-1].append(value[0].copy())

    rpms = np.zeros_like(actions)
    for flight, sequence in enumerate(actions):
        for name in ("position", "quaternion", "rpy", "velocity", "angular_velocity", "body_rates"):
            tracks.setdefault(name, []).append([])
        for column in outcomes.values():
            column.append([])
        env.reset()
        note()
        for t, action in enumerate(sequence):
            _, reward, terminated, truncated, _ = env.step(action[None])
            rpms[flight, t] = env.last_clipped_action[0]
            note()
            for name, value in (("reward", reward), ("terminated", terminated), ("truncated", truncated)):
                outcomes[name][-1].append(value)
    git = ["git", "-C", options.clone, "rev-parse", "HEAD"]
    np.savez_compressed(
        options.out,
        commit=subprocess.run(git, check=True, capture_output=True, text=True).stdout.strip(),
        flights=np.array(FLIGHTS),
        actions=actions,
        rpm=rpms,
        **{name: np.array(track) for name, track in tracks.items()},
        reward=np.array(outcomes["reward"], dtype=np.float64),
        terminated=np.array(outcomes["terminated"], dtype=bool),
        truncated=np.array(outcomes["truncated"], dtype=bool),
        hover_rpm=env.HOVER_RPM,
        mass=env.M,
        arm=env.L,
        kf=env.KF,
        km=env.KM,
        inertia=np.diag(env.J),
        gravity=env.G,
    )


if __name__ == "__main__":
    try:
        main()
    except ModuleNotFoundError as error:
        raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None
