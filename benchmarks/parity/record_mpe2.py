"""Record the worlds of mpe2: states, words, observations and rewards, for given starts and actions.

Installed as: ``pip install mpe2``. The arrays are described in tests/data/README.md.

    python benchmarks/parity/record_mpe2.py tests/data/mpe2.npz
"""

import importlib
import sys
from typing import Any

import numpy as np

STEPS = 25
EPISODES = 2  # the second one starts crowded, so that there are contacts
SCENARIOS: dict[str, tuple[str, dict[str, Any]]] = {
    "simple": ("simple_v3", {}),
    "spread": ("simple_spread_v3", {}),
    "spread_5": ("simple_spread_v3", {"N": 5, "local_ratio": 0.25, "terminate_on_success": True}),
    "tag": ("simple_tag_v3", {}),
    "tag_7": ("simple_tag_v3", {"num_good": 3, "num_adversaries": 4, "num_obstacles": 3}),
    "adversary": ("simple_adversary_v3", {}),
    "adversary_4": ("simple_adversary_v3", {"N": 4}),
    "push": ("simple_push_v3", {}),
    "speaker_listener": ("simple_speaker_listener_v4", {}),
    "reference": ("simple_reference_v3", {}),
    "crypto": ("simple_crypto_v3", {}),
    "world_comm": ("simple_world_comm_v3", {}),
    "world_comm_5": (
        "simple_world_comm_v3",
        {"num_good": 3, "num_adversaries": 2, "num_obstacles": 2, "num_food": 3, "num_forests": 1},
    ),
}


def hidden(scenario: str, world: Any) -> list[int]:
    """What agents are not all told: goals, messages and keys, as indices of landmarks."""
    index = {id(landmark): j for j, landmark in enumerate(world.landmarks)}
    if scenario.startswith(("adversary", "push")):
        return [index[id(world.agents[0].goal_a)]]
    if scenario == "speaker_listener":
        return [index[id(world.agents[0].goal_b)]]
    if scenario == "reference":
        return [index[id(agent.goal_b)] for agent in world.agents]
    if scenario == "crypto":
        return [index[id(world.agents[0].goal_a)], int(np.argmax(world.agents[2].key))]
    return []


def chosen(dice: np.random.Generator, space: Any, agent: Any, continuous: bool) -> tuple[Any, list[float]]:
    """A random action for mpe2, and as this package takes it: numbers in [-1, 1], of which right and up are two."""
    if not continuous:
        action = int(dice.integers(space.n))
        return action, [action]
    ours: list[float] = []
    theirs: list[float] = []
    words = space.shape[0]
    if agent.movable:
        right, up = dice.integers(-32, 33, 2) / 32
        ours += [right, up]
        theirs += [0.0, max(-right, 0.0), max(right, 0.0), max(-up, 0.0), max(up, 0.0)]
        words -= 5
    said = dice.integers(-32, 33, words) / 32
    return np.array([*theirs, *(said + 1) / 2], np.float64), [*ours, *said]


def padded(rows: list[Any]) -> np.ndarray:
    """Rows of different lengths under each other, filled up with zeros."""
    width = max(len(row) for row in rows)
    return np.array([[*row, *[0.0] * (width - len(row))] for row in rows])


def snapshot(env: Any) -> dict[str, Any]:
    world, agents = env.world, env.possible_agents
    return {
        "position": np.array([agent.state.p_pos for agent in world.agents]),
        "velocity": np.array([agent.state.p_vel for agent in world.agents]),
        "words": padded([np.zeros(world.dim_c) if a.silent else a.state.c for a in world.agents]),
        "observation": padded([env.observe(agent) for agent in agents]),
    }


def episode(env: Any, scenario: str, continuous: bool, number: int) -> dict[str, np.ndarray]:
    dice = np.random.default_rng(number)
    env.reset(seed=number)
    world = env.world
    if number % 2:
        for entity in world.entities:
            entity.state.p_pos = entity.state.p_pos * 0.3
    rows = {"landmark": [landmark.state.p_pos for landmark in world.landmarks], "hidden": hidden(scenario, world)}
    states, actions, rewards, ends = [snapshot(env)], [], [], []
    for _ in range(STEPS):
        taken = []
        for agent, body in zip(env.possible_agents, world.agents, strict=True):
            theirs, ours = chosen(dice, env.action_space(agent), body, continuous)
            taken.append(ours)
            env.step(theirs)
        states.append(snapshot(env))
        actions.append(padded(taken))
        rewards.append([env.rewards[agent] for agent in env.possible_agents])
        ends.append(env.terminations[env.possible_agents[0]])
        if ends[-1]:
            break
    missing = STEPS - len(actions)
    rows |= {name: [state[name] for state in states] for name in states[0]}
    rows |= {"actions": actions, "rewards": rewards, "ended": [*ends, *[True] * missing]}
    for name in ("position", "velocity", "words", "observation", "actions", "rewards"):
        rows[name] = [*rows[name], *[np.zeros_like(rows[name][0])] * missing]
    return {name: np.array(value, np.float64) for name, value in rows.items()}


def main() -> None:
    recorded = {}
    for scenario, (module, choices) in SCENARIOS.items():
        for kind in ("discrete", "continuous"):
            make = importlib.import_module(f"mpe2.{module}").raw_env
            env = make(continuous_actions=kind == "continuous", max_cycles=STEPS + 1, **choices)
            episodes = [episode(env, scenario, kind == "continuous", number) for number in range(EPISODES)]
            for name in episodes[0]:
                stacked = np.stack([rows[name] for rows in episodes])
                exact = name not in ("observation", "hidden", "ended")
                recorded[f"{scenario}/{kind}/{name}"] = stacked if exact else stacked.astype(np.float32)
    np.savez_compressed(sys.argv[1], **recorded)


if __name__ == "__main__":
    try:
        main()
    except ModuleNotFoundError as error:
        raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None
