"""Steps of gym-pybullet-drones without a window: any of its physics modes, 240 Hz physics, counted per control step.

Installed as: a clone of utiasDSL/gym-pybullet-drones (``--clone``), with pybullet, gymnasium, transforms3d, scipy,
pillow and a setuptools that still has pkg_resources. ``--physics dyn`` is its explicit dynamics (the model that our
quadcopter shares), ``pyb`` the Bullet one; ``pyb_gnd``, ``pyb_drag``, ``pyb_dw`` and ``pyb_gnd_drag_dw`` add ground
effect, drag and downwash to the latter. All drones of an environment advance in one step and count as its agents.

``--env hover`` is HoverAviary, or MultiHoverAviary for several drones, with random RPM actions; ``--env ctrl`` is
CtrlAviary with random motor speeds within 5 % of hover, restarted every 240 steps. Both run at 30 Hz control: eight
physics steps in a counted one.

``--pid`` puts a position controller for every drone in the loop, which follows the helix of the original's
examples/pid.py; ``--vision`` (hover only) makes the observation a 64 x 48 camera image. Either sets 48 Hz control:
five physics steps in a counted one; every second counted step takes an image per drone (24 Hz, colour and depth).
"""

import argparse
import itertools
import sys

import worker

START_HEIGHT, HEIGHT_STEP, RADIUS, LAP_SECONDS, PID_RATE = 0.1, 0.05, 0.3, 10, 48
RPM_STEPS = 240  # control steps after which CtrlAviary, which has no end of its own, is restarted


def helix(num: int):
    """Start positions and yaws of the drones, and their targets [control step of a lap, drone, 3]."""
    import numpy as np

    drones, lap = np.arange(num), LAP_SECONDS * PID_RATE
    heights = START_HEIGHT + HEIGHT_STEP * drones
    steps = (np.arange(lap)[:, None] + drones * lap // 6) % lap
    angles = 2.0 * np.pi * steps / lap + np.pi / 2.0
    circle = RADIUS * np.cos(angles), RADIUS * (np.sin(angles) - 1.0)
    targets = np.stack([*circle, np.broadcast_to(heights, angles.shape)], axis=2)
    attitudes = np.zeros((num, 3))
    attitudes[:, 2] = drones * (np.pi / 2.0) / num
    return targets[0], attitudes, targets


def build(options: argparse.Namespace) -> worker.Peer:
    """The environment, and random actions or the helix for it."""
    sys.path.insert(0, options.clone)
    import numpy as np
    from gym_pybullet_drones.utils.enums import Physics

    num, rng = options.num, np.random.default_rng(0)
    start, attitudes, targets = helix(num)
    common = {"physics": Physics(options.physics), "pyb_freq": 240}
    if options.pid:
        common |= {"initial_xyzs": start, "initial_rpys": attitudes}
    common["ctrl_freq"] = PID_RATE if options.pid or options.vision else 30
    if options.env == "hover":
        env = hover(num, options.pid, options.vision, common)
        actions = targets if options.pid else rng.uniform(-1.0, 1.0, (1024, num, 4)).astype(np.float32)

        def step(action: object) -> bool:
            _, _, terminated, truncated, _ = env.step(action)
            return terminated or truncated

        return worker.Peer(step, env.reset, list(actions), num)

    from gym_pybullet_drones.envs.CtrlAviary import CtrlAviary

    env = CtrlAviary(num_drones=num, obstacles=options.obstacles, user_debug_gui=False, **common)
    if options.pid:
        return controlled(env, attitudes, targets)
    speeds = env.HOVER_RPM * rng.uniform(0.95, 1.05, (RPM_STEPS, num, 4))
    left = itertools.cycle(range(RPM_STEPS - 1, -1, -1))

    def step_and_count(speed: object) -> bool:
        env.step(speed)
        return next(left) == 0

    return worker.Peer(step_and_count, env.reset, list(speeds), num)


def hover(num: int, pid: bool, vision: bool, common: dict):
    """HoverAviary, or MultiHoverAviary for several drones."""
    from gym_pybullet_drones.envs.HoverAviary import HoverAviary
    from gym_pybullet_drones.envs.MultiHoverAviary import MultiHoverAviary
    from gym_pybullet_drones.utils.enums import ActionType, ObservationType

    kinds = {
        "obs": ObservationType.RGB if vision else ObservationType.KIN,
        "act": ActionType.PID if pid else ActionType.RPM,
    }
    return HoverAviary(**kinds, **common) if num == 1 else MultiHoverAviary(num_drones=num, **kinds, **common)


def controlled(env, attitudes, targets) -> worker.Peer:
    """CtrlAviary with a controller per drone in the loop; it never ends."""
    import numpy as np
    from gym_pybullet_drones.control.DSLPIDControl import DSLPIDControl

    num = len(attitudes)
    controls = [DSLPIDControl(drone_model=env.DRONE_MODEL) for _ in range(num)]
    rpm = np.zeros((num, 4))
    goals = itertools.cycle(targets)  # a request goes on where the last one ended

    def step(_: object) -> bool:
        states = env.step(rpm)[0]
        goal = next(goals)
        for i, control in enumerate(controls):
            rpm[i] = control.computeControlFromState(env.CTRL_TIMESTEP, states[i], goal[i], attitudes[i])[0]
        return False

    return worker.Peer(step, env.reset, [None], num)


def arguments() -> argparse.Namespace:
    """The options, checked against each other."""
    parser = worker.parser(__doc__)
    modes = ("dyn", "pyb", "pyb_gnd", "pyb_drag", "pyb_dw", "pyb_gnd_drag_dw")
    parser.add_argument("--clone", required=True, help="where the repository was cloned to")
    parser.add_argument("--physics", choices=modes, default="dyn")
    parser.add_argument("--env", choices=("hover", "ctrl"), default="hover")
    parser.add_argument("--num", type=int, default=1, help="drones in the environment")
    parser.add_argument("--pid", action="store_true", help="position controllers in the loop, 48 Hz")
    parser.add_argument("--vision", action="store_true", help="camera images as observation; hover only")
    parser.add_argument("--obstacles", action="store_true", help="the original's four objects; ctrl only")
    options = parser.parse_args()
    if options.vision and options.env != "hover":
        parser.error("--vision needs --env hover: CtrlAviary has no camera")
    if options.obstacles and options.env != "ctrl":
        parser.error("--obstacles needs --env ctrl: HoverAviary places objects of its own, with --vision only")
    return options


if __name__ == "__main__":
    worker.serve(build, arguments())
