"""Steps of Overcooked-AI, one kitchen at a time, with both cooks' lossless layers; agent-steps.

Its environment needs gym for base classes alone: gymnasium stands in for it here.

Installed as: overcooked-ai 1.1.0 without its dependencies, with gymnasium 1.4.0, numpy 1.26, scipy, pygame and tqdm
from the registry, Python 3.11.
"""

import argparse
import sys
from typing import Any

import worker


def load(layout: str, horizon: int) -> Any:
    """The original's environment."""
    import gymnasium

    sys.modules["gym"] = gymnasium
    from overcooked_ai_py.mdp.overcooked_env import OvercookedEnv
    from overcooked_ai_py.mdp.overcooked_mdp import OvercookedGridworld

    return OvercookedEnv.from_mdp(OvercookedGridworld.from_layout_name(layout), horizon=horizon, info_level=0)


def build(options: argparse.Namespace) -> worker.Peer:
    """The environment, and random actions for it."""
    import numpy as np

    env = load(options.layout, 400)
    from overcooked_ai_py.mdp.actions import Action

    draws = np.random.default_rng(0).integers(len(Action.ALL_ACTIONS), size=(1024, 2)).tolist()
    actions = [tuple(Action.INDEX_TO_ACTION[action] for action in row) for row in draws]

    def step(action: tuple) -> bool:
        state, _, done, _ = env.step(action)
        env.lossless_state_encoding_mdp(state)
        return done

    return worker.Peer(step, env.reset, actions, agents=2)


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--layout", default="cramped_room")
    worker.serve(build, parser.parse_args())
