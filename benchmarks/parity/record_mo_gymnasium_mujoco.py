"""Record steps of mo-gymnasium's MuJoCo worlds: where a step starts, the action, and what it pays.

Installed as: the packages mo-gymnasium and mujoco from the registry. The arrays are described in tests/data/README.md.

Vectors are recorded twice, as the package gives them, float32, and before it rounds them.
"""

import argparse
import sys
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

try:
    import mo_gymnasium
    import mujoco
    import numpy as np
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

STEPS, APART = 40, 7  # steps recorded, and how many steps lie between two of them
IDS = {
    "HalfCheetah": "mo-halfcheetah-v5",
    "Hopper": "mo-hopper-v5",
    "Hopper2": "mo-hopper-2obj-v5",
    "Walker2d": "mo-walker2d-v5",
    "Ant": "mo-ant-v5",
    "Ant2": "mo-ant-2obj-v5",
    "Swimmer": "mo-swimmer-v5",
    "Humanoid": "mo-humanoid-v5",
    "TwoLinkReacher": "mo-reacher-v5",
}


class Precise(SimpleNamespace):
    """NumPy for a module that rounds to float32, without the rounding."""

    float32 = np.float64

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def both_vectors(bare: Any, action: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """A step, played twice from the same state: the outcome, the vector, and the vector without rounding."""
    module, data = sys.modules[type(bare).__module__], mujoco.MjData(bare.model)
    mujoco.mj_copyData(data, bare.model, bare.data)
    module.np = Precise()
    precise = bare.step(action)[1]
    module.np = np
    mujoco.mj_copyData(bare.data, bare.model, data)
    outcome = bare.step(action)
    return outcome, outcome[1], precise


def place_of(name: str, bare: Any) -> np.ndarray:
    """Where the robot is, as its reward measures it."""
    if name.startswith("Humanoid"):
        return np.einsum("b,bj->j", bare.model.body_mass, bare.data.xipos)[:2] / bare.model.body_mass.sum()
    if name.startswith("Ant"):
        return bare.data.body("torso").xpos[:2].copy()
    if name == "TwoLinkReacher":
        return bare.get_body_com("fingertip")[:2].copy()
    return bare.data.qpos[:2].copy()


def record(name: str, seed: int) -> dict[str, np.ndarray]:
    """Episodes of random actions, now and then a step of them."""
    rng, id = np.random.default_rng(seed), IDS[name]
    env = mo_gymnasium.make(id, disable_env_checker=True)
    bare = env.unwrapped
    env.reset(seed=seed)
    env.action_space.seed(seed)
    rows: dict[str, list[Any]] = {}
    number = np.int64 if name == "TwoLinkReacher" else np.float64  # of float32, squares are summed as float32
    action = number(env.action_space.sample())
    for step in range(STEPS * APART):
        action = number(env.action_space.sample()) if rng.random() < 0.5 else action
        if step % APART:
            ended = env.step(action)[2]
        else:
            data = bare.data
            before = {
                "qpos": data.qpos,
                "qvel": data.qvel,
                "warmstart": data.qacc_warmstart,
                "place": place_of(name, bare),
            }
            row = {"action": action, **{key: np.array(value) for key, value in before.items()}}
            (observation, _, ended, _, info), vector, precise = both_vectors(bare, action)
            row |= {"observation": observation} if name == "TwoLinkReacher" else {}
            row |= {"vector": vector, "precise": precise, "contact": info.get("reward_contact", 0.0), "ended": ended}
            for key, value in row.items():
                rows.setdefault(key, []).append(value)
        if ended or step % 49 == 48:
            env.reset()
    return {key: np.array(value) for key, value in rows.items()}


def main() -> None:
    """Play and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("tests/data/mo_gymnasium_mujoco.npz"))
    options = parser.parse_args()
    packages = ("mo-gymnasium", "gymnasium", "mujoco")
    arrays: dict[str, np.ndarray] = {"versions": np.array([f"{name} {version(name)}" for name in packages])}
    for seed, name in enumerate(IDS):
        arrays |= {f"{name}_{key}": value for key, value in record(name, seed).items()}
    np.savez_compressed(options.out, **arrays)


if __name__ == "__main__":
    main()
