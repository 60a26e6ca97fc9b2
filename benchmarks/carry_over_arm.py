"""Do controllers and agents carry over between our arm and panda-gym's on PyBullet?

    python benchmarks/carry_over_arm.py --episodes 100

Proportional controllers, written for panda-gym's actions, and the shipped agents play our tasks, as they are and with
`level="panda-gym"`, and panda-gym's: share of episodes that end in success. The agents see panda-gym's arm through our
kernels of observation. Needs panda-gym 3.0.7 and pybullet 3.2.7 (Python 3.11) beside this package with MuJoCo.
"""

import argparse
from collections.abc import Callable

import gymnasium
import numpy as np

import rlenvs

TASKS = {
    "PandaReach-v0": ("PandaReach-v3", ["reach", "TD3"]),
    "PandaPush-v0": ("PandaPush-v3", ["push", "SAC", "DAgger"]),
    "PandaPickAndPlace-v0": ("PandaPickAndPlace-v3", ["pick", "PPO", "DAgger"]),
}
STEP = 0.05  # m per unit of action
Policy = Callable[[np.ndarray, np.ndarray, np.ndarray, float], list[float]]


# --- controllers: (hand, thing, goal, width between the fingers) -> action --------------------------------------------


def to(hand: np.ndarray, x: float, y: float, z: float) -> list[float]:
    return np.clip((np.array([x, y, z]) - hand) / STEP, -1.0, 1.0).tolist()


def reach(hand: np.ndarray, thing: np.ndarray, goal: np.ndarray, width: float) -> list[float]:
    return to(hand, *goal)


def push(hand: np.ndarray, thing: np.ndarray, goal: np.ndarray, width: float) -> list[float]:
    """Over the cube to behind it, down, and along the line to the goal."""
    way = goal[:2] - thing[:2]
    left = float(np.linalg.norm(way))
    way = way / (left + 1e-9)
    behind = thing[:2] - 0.05 * way
    off = hand[:2] - thing[:2]
    aside = float(np.linalg.norm(hand[:2] - behind))
    if left < 0.02:
        return to(hand, *hand)
    if off @ way < -0.02 and abs(off @ [-way[1], way[0]]) < 0.012 and hand[2] < 0.04:
        return to(hand, *(thing[:2] + way * min(left, 0.03)), 0.02)
    if aside <= 0.02:
        return to(hand, *behind, 0.02)
    return to(hand, *(behind if hand[2] > 0.08 or aside < 0.03 else hand[:2]), 0.12)


def pick(hand: np.ndarray, thing: np.ndarray, goal: np.ndarray, width: float) -> list[float]:
    """Over the cube, down, close, and bring it to the goal."""
    off, aside = float(np.linalg.norm(hand - thing)), float(np.linalg.norm(hand[:2] - thing[:2]))
    if off < 0.03 and width < 0.047:
        return [*to(hand, *(goal + hand - thing)), -1.0]
    if off < 0.015:
        return [0.0, 0.0, 0.0, -1.0]
    if aside > 0.03 and hand[2] < 0.07:
        return [*to(hand, hand[0], hand[1], 0.1), 1.0]
    return [*to(hand, thing[0], thing[1], 0.08 if aside > 0.015 else thing[2]), 1.0]


CONTROLLERS: dict[str, Policy] = {"reach": reach, "push": push, "pick": pick}


# --- both arms --------------------------------------------------------------------------------------------------------


def seen(batch) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """What controllers see of our arm."""
    s = batch.records(0)[1]
    thing = s.cube if "cube" in s.dtype.names else s.achieved
    return s.grip[0], thing, s.desired.astype(float), float(s.qpos[7] + s.qpos[8])


def on_ours(id: str, name: str, episodes: int, **keywords) -> float:
    if name not in CONTROLLERS:
        agent = rlenvs.load_agent(id, algorithm=name)
        return rlenvs.evaluate(id, agent, seeds=episodes, **{**agent.card.keywords, **keywords}).success_rate
    env, good = rlenvs.make(id, ends_at_success=True, **keywords), 0
    for seed in range(episodes):
        env.reset(seed=seed)
        over, info = False, {}
        while not over:
            action = CONTROLLERS[name](*seen(env.unwrapped.batch))
            *_, ended, cut, info = env.step(np.array(action, np.float32))
            over = ended or cut
        good += bool(info["is_success"])
    return good / episodes


def on_theirs(id: str, name: str, episodes: int) -> float:
    import panda_gym  # noqa: F401  # registers ids

    env, good = gymnasium.make(TASKS[id][0]), 0
    agent = None if name in CONTROLLERS else rlenvs.load_agent(id, algorithm=name)
    mirror = rlenvs.make_batch(id, 1, backend="python", **(agent.card.keywords if agent else {}))
    for seed in range(episodes):
        env.reset(seed=seed)
        mirror.reset()
        over, info = False, {}
        while not over:
            copy_into(mirror, env.unwrapped)
            if agent is None:
                action = CONTROLLERS[name](*seen(mirror))
            else:
                mirror.recompute_observations()
                action = agent.act(mirror.get_observations((0, 0)))[0]
            *_, ended, cut, info = env.step(np.array(action, np.float32))
            over = ended or cut
        good += bool(info["is_success"])
    return good / episodes


def copy_into(mirror, env) -> None:
    """The state of panda-gym's arm, cube and goal into a batch of ours, for its observation."""
    s, robot, sim = mirror.records(0)[1], env.robot, env.sim
    s.grip[0], s.grip_velocity[0] = robot.get_ee_position(), robot.get_ee_velocity()
    s.qpos[7:9] = 0.5 * robot.get_fingers_width()
    s.desired[:] = env.task.get_goal()
    s.achieved[:] = env.task.get_achieved_goal()
    if "cube" in s.dtype.names:
        x, y, z, w = sim.get_base_orientation("object")
        s.cube[:], s.cube_attitude[:] = sim.get_base_position("object"), (w, x, y, z)
        s.cube_velocity[:] = sim.get_base_velocity("object")
        s.cube_spin[:] = sim.get_base_angular_velocity("object")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=100)
    episodes = parser.parse_args().episodes
    print("| task | policy | ours | ours, level=panda-gym | panda-gym |\n|---|---|---|---|---|")
    for id, (_, policies) in TASKS.items():
        for name in policies:
            start = {"start": "neutral"} if id == "PandaPush-v0" and name in CONTROLLERS else {}
            shares = on_ours(id, name, episodes, **start), on_ours(id, name, episodes, level="panda-gym")
            cells = [f"{share:.2f}" for share in (*shares, on_theirs(id, name, episodes))]
            print(f"| {id} | {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
