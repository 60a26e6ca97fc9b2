"""Record MOMAland's catch, escort and surround: places, targets, rewards and ends, for given actions.

Installed as: ``pip install momaland==0.2.0 pygame``. The arrays are described in tests/data/README.md.

    python benchmarks/parity/record_momaland_drones.py tests/data/momaland_drones.npz
"""

import importlib
import sys
from typing import Any

import numpy as np

TASKS = ("catch", "escort", "surround")
EPISODES = 4  # in every second one agent 0 goes for the target
STEPS = 200  # the original's limit


def chosen(dice: np.random.Generator, place: np.ndarray, to: np.ndarray) -> np.ndarray:
    """A noisy way to a place, in sixteenths of the whole action."""
    return np.round(np.clip(2.0 * (to - place) + dice.normal(size=3), -1.0, 1.0) * 16).astype(np.int8)


def episode(task: str, number: int) -> dict[str, np.ndarray]:
    env = importlib.import_module(f"momaland.envs.crazyrl.{task}.{task}").raw_env()
    dice = np.random.default_rng(number)
    env.reset()
    agents = list(env.possible_agents)
    homes = dice.uniform(-0.5, 0.5, (4, 3)) + ((0, 0, 1.5), (2, 2, 1.2), (-2, 2, 2), (2, -1, 1.5))
    rows: dict[str, list[Any]] = {"actions": [], "target": [], "rewards": [], "ended": []}
    for _ in range(STEPS):
        to = list(homes)
        if number % 2:
            to[0] = env.target_location
        actions = [chosen(dice, env.agent_location[agent], place) for agent, place in zip(agents, to, strict=True)]
        moves = {agent: action.astype(np.float32) / 16 for agent, action in zip(agents, actions, strict=True)}
        _, rewards, terminations, truncations, _ = env.step(moves)
        rows["actions"].append(actions)
        rows["target"].append(env.target_location)
        rows["rewards"].append([rewards[agent] for agent in agents])
        rows["ended"].append(terminations[agents[0]])
        if any(terminations.values()) or any(truncations.values()):
            break
    types = {"actions": np.int8, "ended": bool}
    return {name: np.array(value, types.get(name, np.float32)) for name, value in rows.items()}


def main() -> None:
    recorded = {
        f"{task}/{number}/{name}": value
        for task in TASKS
        for number in range(EPISODES)
        for name, value in episode(task, number).items()
    }
    np.savez_compressed(sys.argv[1], **recorded)


if __name__ == "__main__":
    try:
        main()
    except ModuleNotFoundError as error:
        raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None
