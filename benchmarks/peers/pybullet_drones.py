"""Steps of gym-pybullet-drones' HoverAviary: one Crazyflie, 240 Hz physics, 30 Hz control, RPM actions, no window.

Installed as: a clone of utiasDSL/gym-pybullet-drones (``--clone``), with pybullet, gymnasium, transforms3d, scipy,
pillow and a setuptools that still has pkg_resources. ``--physics dyn`` is its explicit dynamics (the model that our
quadcopter shares), ``pyb`` the Bullet one. Eight physics steps make one counted step.
"""

import argparse
import sys

import worker


def build(options: argparse.Namespace) -> worker.Peer:
    """The environment and random actions for it."""
    sys.path.insert(0, options.clone)
    import numpy as np
    from gym_pybullet_drones.envs.HoverAviary import HoverAviary
    from gym_pybullet_drones.utils.enums import Physics

    env = HoverAviary(physics=Physics(options.physics))
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (1024, 1, 4)).astype(np.float32)

    def step(action: object) -> bool:
        _, _, terminated, truncated, _ = env.step(action)
        return terminated or truncated

    return worker.Peer(step, env.reset, list(actions))


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--clone", required=True, help="where the repository was cloned to")
    parser.add_argument("--physics", choices=("dyn", "pyb", "pyb_gnd_drag_dw"), default="dyn")
    worker.serve(build, parser.parse_args())
