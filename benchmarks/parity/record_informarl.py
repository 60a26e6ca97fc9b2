"""Record InforMARL's navigation with its graph, and FACMAC's predators and prey, for given starts.

Needs clones of nsidn98/InforMARL (7d3c42a) and oxwhirl/facmac (d7e62b8), with numpy and scipy; neither is installed.
The arrays are described in tests/data/README.md.

    python benchmarks/parity/record_informarl.py INFORMARL FACMAC tests/data/informarl.npz
"""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

STEPS = 25
RIGHT, UP = (0, -1, 1, 0, 0), (0, 0, 0, -1, 1)


def stand_in(name: str, folder: str) -> None:
    """A package without its __init__, which would import gym."""
    package = ModuleType(name)
    package.__path__ = [folder]
    sys.modules[name] = package


def state_of(bodies: Any) -> dict[str, np.ndarray]:
    return {
        "position": np.array([body.state.p_pos for body in bodies]),
        "velocity": np.array([body.state.p_vel for body in bodies]),
    }


def stacked(rows: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def navigation(clone: str) -> dict[str, np.ndarray]:
    """Four agents and four obstacles close together: first at random, then towards their goals."""
    stand_in("multiagent", f"{clone}/multiagent")
    stand_in("multiagent.custom_scenarios", f"{clone}/multiagent/custom_scenarios")
    from multiagent.custom_scenarios.navigation_graph import Scenario

    np.random.seed(3)  # noqa: NPY002 (the original draws from the global generator)
    scenario = Scenario()
    world = scenario.make_world(
        SimpleNamespace(
            num_agents=4, world_size=1.2, num_scripted_agents=0, num_obstacles=4, collaborative=False, max_speed=2.0,
            collision_rew=5.0, goal_rew=5.0, min_dist_thresh=0.1, use_dones=False, episode_length=STEPS,
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
    dice = np.random.default_rng(0)
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
    return {**stacked(states), **stacked(steps), **places}


def predators(clone: str) -> dict[str, np.ndarray]:
    """Three predators that chase their prey, which the original moves; `prey` is the force that it chose."""
    for name in ("envs", "envs.particle", "envs.particle.scenarios"):
        stand_in(name, f"{clone}/src/{name.replace('.', '/')}")
    from envs.particle.scenarios.continuous_pred_prey_3a import Scenario

    np.random.seed(5)  # noqa: NPY002
    scenario = Scenario()
    world = scenario.make_world(SimpleNamespace(agent_view_radius=1.5, score_function="min"))
    hunters, prey = world.agents[:3], world.agents[3]

    def look() -> dict[str, Any]:
        return {**state_of(world.agents), "observation": [scenario.observation(agent, world) for agent in hunters]}

    states, steps = [look()], []
    for _ in range(STEPS):
        actions = []
        for agent in hunters:
            away = prey.state.p_pos - agent.state.p_pos
            actions.append(np.round(32 * away / np.abs(away).max()) / 32)
            agent.action.u = 3.0 * actions[-1]
            agent.action.c = np.zeros(2)
        prey.action.c = np.zeros(2)
        world.step()
        steps.append(
            {"actions": actions, "prey": prey.action.u, "rewards": [scenario.reward(a, world) for a in hunters]}
        )
        states.append(look())
    return {**stacked(states), **stacked(steps), "landmark": state_of(world.landmarks)["position"]}


def main() -> None:
    informarl, facmac, target = sys.argv[1:]
    recorded = {f"navigation/{name}": rows for name, rows in navigation(informarl).items()}
    recorded |= {f"predators/{name}": rows for name, rows in predators(facmac).items()}
    for name in ("navigation/nodes", "navigation/observation", "navigation/distances", "predators/observation"):
        recorded[name] = recorded[name].astype(np.float32)
    np.savez_compressed(target, **recorded)


if __name__ == "__main__":
    main()
