"""Steps of Harvest and Cleanup of the published Python original, one at a time; agent-steps.

``--clone`` is a checkout of https://github.com/eugenevinitsky/sequential_social_dilemma_games (commit 0207821), which
needs an old gym and ray for its base classes alone: gymnasium and empty classes stand in for them here.

Installed as: gymnasium 1.4.0 and matplotlib from the registry, Python 3.11.
"""

import argparse
import sys
import types
from typing import Any

import worker


def load(clone: str, name: str, agents: int) -> Any:
    """The original's environment, "harvest" or "cleanup"."""
    import gymnasium
    from gymnasium import spaces

    agent_callbacks = types.ModuleType("ray.rllib.agents.callbacks")
    agent_callbacks.DefaultCallbacks = type("DefaultCallbacks", (), {})  # type: ignore[attr-defined]
    env = types.ModuleType("ray.rllib.env")
    env.MultiAgentEnv = type("MultiAgentEnv", (), {})  # type: ignore[attr-defined]
    modules = {"gym": gymnasium, "gym.spaces": spaces, "ray": types.ModuleType("ray")}
    modules |= {"ray.rllib": types.ModuleType("ray.rllib"), "ray.rllib.agents": types.ModuleType("ray.rllib.agents")}
    sys.modules.update(modules | {"ray.rllib.agents.callbacks": agent_callbacks, "ray.rllib.env": env})
    sys.path[:0] = [clone, f"{clone}/social_dilemmas/envs", f"{clone}/social_dilemmas"]
    if name == "harvest":
        from social_dilemmas.envs.harvest import HarvestEnv as Env
    else:
        from social_dilemmas.envs.cleanup import CleanupEnv as Env
    return Env(num_agents=agents)


def build(options: argparse.Namespace) -> worker.Peer:
    """The environment, and random actions for it."""
    import numpy as np

    env = load(options.clone, options.env, options.agents)
    env.reset()
    choices = 8 if options.env == "harvest" else 9
    draws = np.random.default_rng(0).integers(choices, size=(1024, options.agents)).tolist()
    actions = [{f"agent-{k}": action for k, action in enumerate(row)} for row in draws]

    def step(action: dict) -> bool:
        env.step(action)
        return False

    return worker.Peer(step, env.reset, actions, agents=options.agents, over=False)


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--clone", required=True, help="the checkout")
    parser.add_argument("--env", choices=("harvest", "cleanup"), default="harvest")
    parser.add_argument("--agents", type=int, default=5)
    worker.serve(build, parser.parse_args())
