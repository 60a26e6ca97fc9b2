"""Record random episodes of mo-gymnasium's three deep-sea-treasure maps, with the maps and their discounted fronts.

Installed as: the package mo-gymnasium from the registry. The arrays are described in tests/data/README.md.
"""

import argparse
from importlib.metadata import version
from pathlib import Path

try:
    import mo_gymnasium
    import numpy as np
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

EPISODES = 50
LIMIT = 100
IDS = {
    "convex": "deep-sea-treasure-v0",
    "concave": "deep-sea-treasure-concave-v0",
    "mirrored": "deep-sea-treasure-mirrored-v0",
}
GAMMAS = (1.0, 0.99, 0.98)


def episodes(env_id: str, seed: int) -> dict[str, np.ndarray]:
    """Episodes padded to the time limit; every second one drifts down and right."""
    rng = np.random.default_rng(seed)
    env, scaled = mo_gymnasium.make(env_id), mo_gymnasium.make(env_id, float_state=True, disable_env_checker=True)
    record = {
        "actions": np.full((EPISODES, LIMIT), -1, dtype=np.int8),
        "obs": np.full((EPISODES, LIMIT + 1, 2), -1, dtype=np.int16),
        "obs_float": np.full((EPISODES, LIMIT + 1, 2), np.nan, dtype=np.float32),
        "rewards": np.full((EPISODES, LIMIT, 2), np.nan, dtype=np.float32),
        "terminated": np.zeros((EPISODES, LIMIT), dtype=bool),
        "truncated": np.zeros((EPISODES, LIMIT), dtype=bool),
        "length": np.zeros(EPISODES, dtype=np.int16),
    }
    for episode in range(EPISODES):
        record["obs"][episode, 0] = env.reset(seed=episode)[0]
        record["obs_float"][episode, 0] = scaled.reset(seed=episode)[0]
        weights = (0.1, 0.4, 0.1, 0.4) if episode % 2 else (0.25, 0.25, 0.25, 0.25)
        for t in range(LIMIT):
            action = rng.choice(4, p=weights)
            obs, reward, terminated, truncated, _ = env.step(action)
            record["obs_float"][episode, t + 1] = scaled.step(action)[0]
            record["actions"][episode, t] = action
            record["obs"][episode, t + 1] = obs
            record["rewards"][episode, t] = reward
            record["terminated"][episode, t] = terminated
            record["truncated"][episode, t] = truncated
            if terminated or truncated:
                record["length"][episode] = t + 1
                break
    return record


def main() -> None:
    """Play and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("tests/data/dst_mo_gymnasium.npz"))
    options = parser.parse_args()
    arrays: dict[str, np.ndarray] = {"version": np.array(version("mo-gymnasium")), "gammas": np.array(GAMMAS)}
    for seed, (name, env_id) in enumerate(IDS.items()):
        bare = mo_gymnasium.make(env_id).unwrapped
        arrays[f"{name}_map"] = bare.sea_map
        arrays[f"{name}_front"] = np.array([bare.pareto_front(gamma) for gamma in GAMMAS])
        arrays |= {f"{name}_{key}": value for key, value in episodes(env_id, seed).items()}
    np.savez_compressed(options.out, **arrays)


if __name__ == "__main__":
    main()
