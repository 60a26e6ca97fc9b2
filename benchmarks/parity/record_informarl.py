"""Record episodes of InforMARL's navigation with its graph, and of FACMAC's three sizes of predators and prey.

Needs clones of nsidn98/InforMARL (7d3c42a) and oxwhirl/facmac (d7e62b8), with numpy and scipy; neither is installed.
The arrays are described in tests/data/README.md.

    python benchmarks/parity/record_informarl.py INFORMARL FACMAC tests/data/informarl.npz
"""

import sys
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

STEPS = 25
LOOKS = 6  # steps between the graphs that are kept
NAVIGATION = ((3, 4, 4, 1.2), (11, 3, 3, 2.0), (12, 2, 1, 0.8), (13, 5, 2, 1.5), (14, 7, 5, 2.0), (15, 6, 0, 1.2))
PREDATORS = ((5, 3), (21, 3), (22, 3), (23, 6), (24, 6), (25, 9))  # seed, predators; there seed, agents, obstacles, m
RIGHT, UP = (0, -1, 1, 0, 0), (0, 0, 0, -1, 1)


def stand_in(name: str, folder: str) -> None:
    """A package without its __init__, which would import gym."""
    package = ModuleType(name)
    package.__path__ = [folder]
    sys.modules[name] = package


def state_of(bodies: Any) -> dict[str, np.ndarray]:
    return {
        "position": np.array([body.state.p_pos for body in bodies]).reshape(-1, 2),
        "velocity": np.array([body.state.p_vel for body in bodies]).reshape(-1, 2),
    }


def stacked(rows: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def navigation(clone: str, seed: int, agents: int, obstacles: int, side: float) -> dict[str, np.ndarray]:
    """Agents and obstacles close together: first at random, then towards their goals."""
    stand_in("multiagent", f"{clone}/multiagent")
    stand_in("multiagent.custom_scenarios", f"{clone}/multiagent/custom_scenarios")
    from multiagent.custom_scenarios.navigation_graph import Scenario

    np.random.seed(seed)  # noqa: NPY002 (the original draws from the global generator)
    scenario = Scenario()
    world = scenario.make_world(
        SimpleNamespace(
            num_agents=agents, world_size=side, num_scripted_agents=0, num_obstacles=obstacles, collaborative=False,
            max_speed=2.0, collision_rew=5.0, goal_rew=5.0, min_dist_thresh=0.1, use_dones=False, episode_length=STEPS,
            max_edge_dist=0.5, graph_feat_type="relative",
        )
    )  # fmt: skip

    def look() -> dict[str, Any]:
        graphs = [scenario.graph_observation(agent, world) for agent in world.agents]
        return {
            **state_of(world.agents),
            "observation": [scenario.observation(agent, world) for agent in world.agents],
            "nodes": [nodes for nodes, _ in graphs],
            "distances": world.cached_dist_mag,
        }

    states, steps = [look()], []
    dice = np.random.default_rng(seed)
    for t in range(STEPS):
        world.current_time_step += 1
        row = {"actions": [], "rewards": [], "arrival": [], "contacts": []}
        for agent, goal in zip(world.agents, world.landmarks, strict=True):
            x, y = goal.state.p_pos - agent.state.p_pos - 0.4 * agent.state.p_vel
            action = (2 if x > 0 else 1) if abs(x) > abs(y) else (4 if y > 0 else 3)
            if t < 8 or max(abs(x), abs(y)) < 0.1:
                action = int(dice.integers(5))
            row["actions"].append(action)
            agent.action.u = 5.0 * np.array([RIGHT[action], UP[action]], float)
            agent.action.c = np.zeros(world.dim_c)
        world.step()
        for agent in world.agents:
            info = scenario.info_callback(agent, world)
            row["rewards"].append(scenario.reward(agent, world))
            row["arrival"].append(info["Time_req_to_goal"])
            row["contacts"].append(info["Num_agent_collisions"] + info["Num_obst_collisions"])
        steps.append(row)
        states.append(look())
    places = {"goal": state_of(world.landmarks)["position"], "obstacle": state_of(world.obstacles)["position"]}
    found = {**stacked(states), **stacked(steps), **places}
    for name in ("nodes", "distances"):
        found[name] = found[name][::LOOKS]
    return {**found, "side": np.array(side)}


def predators(clone: str, seed: int, count: int) -> dict[str, np.ndarray]:
    """Predators that chase the first prey; the original moves all prey, and `prey` are the forces that it chose."""
    for name in ("envs", "envs.particle", "envs.particle.scenarios"):
        stand_in(name, f"{clone}/src/{name.replace('.', '/')}")
    core, base = import_module("envs.particle.core"), import_module("envs.particle.scenario")
    sys.modules |= {"multiagent.core": core, "multiagent.scenario": base}  # what two of the scenarios call them
    scenario = import_module(f"envs.particle.scenarios.continuous_pred_prey_{count}a").Scenario()
    np.random.seed(seed)  # noqa: NPY002
    world = scenario.make_world(SimpleNamespace(agent_view_radius=1.5, score_function="min"))
    hunters, preys = world.agents[:count], world.agents[count:]

    def look() -> dict[str, Any]:
        return {**state_of(world.agents), "observation": [scenario.observation(agent, world) for agent in hunters]}

    states, steps = [look()], []
    for _ in range(STEPS):
        actions = []
        for agent in hunters:
            away = preys[0].state.p_pos - agent.state.p_pos
            actions.append(np.round(32 * away / np.abs(away).max()) / 32)
            agent.action.u = 3.0 * actions[-1]
            agent.action.c = np.zeros(2)
        for agent in preys:
            agent.action.c = np.zeros(2)
        world.step()
        forces = [agent.action.u for agent in preys]
        steps.append({"actions": actions, "prey": forces, "rewards": [scenario.reward(a, world) for a in hunters]})
        states.append(look())
    return {**stacked(states), **stacked(steps), "landmark": state_of(world.landmarks)["position"]}


def main() -> None:
    informarl, facmac, target = sys.argv[1:]
    recorded = {}
    for k, choices in enumerate(NAVIGATION):
        recorded |= {f"navigation{k}/{name}": rows for name, rows in navigation(informarl, *choices).items()}
    for k, choices in enumerate(PREDATORS):
        recorded |= {f"predators{k}/{name}": rows for name, rows in predators(facmac, *choices).items()}
    for name in recorded:
        if name.endswith(("/nodes", "/observation", "/distances")):
            recorded[name] = recorded[name].astype(np.float32)
    np.savez_compressed(target, **recorded)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    try:
        main()
    except ModuleNotFoundError as error:
        raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None
