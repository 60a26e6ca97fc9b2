"""Record steps of MaMuJoCo: where a step starts, the actions, what each agent sees then, and what the step pays.

Installed as: the packages gymnasium-robotics, jinja2 and mujoco from the registry. CoupledHalfCheetah needs mujoco
3.5.0 or older, and is recorded by itself, with `--only CoupledHalfCheetah` into the file of the others. The arrays are
described in tests/data/README.md.
"""

import argparse
from importlib.metadata import version
from pathlib import Path
from typing import Any

try:
    import mujoco
    import numpy as np
    from gymnasium_robotics.envs.multiagent_mujoco import mujoco_multi, obsk
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

STEPS, APART = 10, 9  # steps recorded, and how many steps lie between two of them
REACHES = (0, 1, 2)
TASKS = {
    "Walker2d": ("2x3",),
    "Hopper": ("3x1",),
    "HalfCheetah": ("6x1", "2x3"),
    "Ant": ("4x2", "2x4", "2x4d"),
    "Humanoid": ("9|8",),
    "Swimmer": ("2x1",),
    "ManySegmentSwimmer": ("10x2", "6x1"),
    "ManySegmentAnt": ("2x3", "3x1"),
    "CoupledHalfCheetah": ("1p1",),
}
ARRAYS = ("qpos", "qvel", "cinert", "cvel", "qfrc_actuator", "cfrc_ext")
PAGE = 65536  # numbers of an array, in `Numbered`


class Numbered:
    """Data whose numbers say where they are: 1e-6 (PAGE times the array's number, from 1 on, and the place in it)."""

    def __init__(self, data: Any) -> None:
        for i, name in enumerate(ARRAYS):
            array = getattr(data, name)
            setattr(self, name, 1e-6 * (PAGE * (i + 1) + np.arange(array.size)).reshape(array.shape))
        ropes = 1e-6 * (PAGE * (len(ARRAYS) + 1) + np.arange(6))
        self.ten_J, self.ten_length, self.ten_velocity = np.zeros((1, 18)), ropes[4:5], ropes[5:]
        self.ten_J[0, [0, 1, 9, 10]] = ropes[:4]


def looks(env: Any, name: str, partition: str, reach: int) -> np.ndarray:
    """Which numbers the agents see, one agent after the other."""
    parts, edges, everyone = obsk.get_parts_and_edges(name, partition)
    env.agent_obsk = reach
    categories, data = env._generate_local_categories(name), Numbered(env.single_agent_env.unwrapped.data)
    seen = [
        obsk.build_obs(data, obsk.get_joints_at_kdist(part, edges, reach), categories, everyone, ("qpos", "qvel"))
        for part in parts
    ]
    return np.rint(1e6 * np.concatenate(seen)).astype(np.int64)


def place_of(name: str, bare: Any) -> np.ndarray:
    """Where the body is, as its reward measures it."""
    if name == "Humanoid":
        return np.einsum("b,bj->j", bare.model.body_mass, bare.data.xipos)[:2] / bare.model.body_mass.sum()
    if name.endswith("Ant"):
        return bare.data.xpos[1, :2].copy()
    if name == "CoupledHalfCheetah":
        return np.array([0.5 * (bare.data.qpos[0] + bare.data.qpos[9]), 0.0])
    return np.array([bare.data.qpos[0], 0.0])


def record(name: str, partition: str, seed: int) -> dict[str, np.ndarray]:
    """Episodes of random actions, now and then a step of them."""
    rng, env = np.random.default_rng(seed), mujoco_multi.parallel_env(name, partition, agent_obsk=1)
    bare, agents = env.single_agent_env.unwrapped, env.possible_agents
    env.reset(seed=seed)
    rows: dict[str, list[Any]] = {}
    most = float(bare.action_space.high[0])
    for step in range(STEPS * APART):
        actions = {agent: rng.uniform(-most, most, env.action_space(agent).shape) for agent in agents}
        data = bare.data
        before = {"qpos": data.qpos, "qvel": data.qvel, "warmstart": data.qacc_warmstart, "place": place_of(name, bare)}
        row = {key: np.array(value) for key, value in before.items()}
        seen, rewards, ends, _, infos = env.step(actions)
        if step % APART == APART - 1:
            row |= {"action": np.concatenate(list(actions.values())), "seen": np.concatenate(list(seen.values()))}
            row |= {"state": env.state(), "reward": rewards[agents[0]], "ended": ends[agents[0]]}
            row |= {"contact": infos[agents[0]].get("reward_contact", 0.0)}
            for key, value in row.items():
                rows.setdefault(key, []).append(value)
        if ends[agents[0]]:
            env.reset()
    found = {key: np.array(value) for key, value in rows.items()}
    found |= {f"look{reach}": looks(env, name, partition, reach) for reach in REACHES}
    found["sizes"] = np.array([[len(seen[agent]), len(actions[agent])] for agent in agents])
    return found


def main() -> None:
    """Play and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("tests/data/mamujoco.npz"))
    parser.add_argument("--only", help="record one body, into the file that there is")
    options = parser.parse_args()
    names = [options.only] if options.only else [name for name in TASKS if name != "CoupledHalfCheetah"]
    arrays: dict[str, np.ndarray] = dict(np.load(options.out)) if options.only else {}
    for name in names:
        for partition in TASKS[name]:
            arrays[f"{name}|mujoco"] = np.array(mujoco.__version__)
            found = record(name, partition, len(arrays))
            arrays |= {f"{name}|{partition.replace('|', ':')}|{key}": value for key, value in found.items()}
    arrays["versions"] = np.array([f"{name} {version(name)}" for name in ("gymnasium-robotics", "gymnasium")])
    np.savez_compressed(options.out, **arrays)


if __name__ == "__main__":
    main()
