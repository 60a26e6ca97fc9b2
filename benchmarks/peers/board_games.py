"""Moves of board games, with random legal choices, whose choosing is not counted.

``--module momaland.envs.samegame.mosame_game_v0`` takes an environment with PettingZoo's AEC interface, and a move is
``step`` and ``last``. ``--game breakthrough`` takes a game of OpenSpiel, and a move is ``apply_action``, the
observation of who moves next, and the mask of what is legal.

Installed as: momaland 0.2.0 and pettingzoo 1.27 without what they require, or open-spiel 2.0.2, from the registry.
"""

import argparse
import importlib
from collections.abc import Callable

import worker


def build_aec(options: argparse.Namespace) -> worker.Peer:
    """A PettingZoo environment."""
    import numpy as np

    env = importlib.import_module(options.module).env()
    random = np.random.default_rng(0)

    def reset() -> None:
        env.reset()
        env.last()

    def choose() -> int:
        observation = env.observe(env.agent_selection)
        return int(random.choice(np.flatnonzero(observation["action_mask"])))

    def step(action: int) -> bool:
        env.step(action)
        _, _, terminated, truncated, _ = env.last()
        return terminated or truncated

    env.reset(seed=0)
    return worker.Peer(step, reset, choose=choose)


def build_spiel(options: argparse.Namespace) -> worker.Peer:
    """A game of OpenSpiel."""
    import random

    import pyspiel

    game = pyspiel.load_game(options.game)
    state = game.new_initial_state()

    def reset() -> None:
        nonlocal state
        state = game.new_initial_state()

    def choose() -> int:
        return random.choice(state.legal_actions())

    def step(action: int) -> bool:
        state.apply_action(action)
        if state.is_terminal():
            return True
        state.observation_tensor(state.current_player())
        state.legal_actions_mask()
        return False

    return worker.Peer(step, reset, choose=choose)


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--module", help="of an AEC environment")
    parser.add_argument("--game", help="of OpenSpiel")
    options = parser.parse_args()
    build: Callable[[argparse.Namespace], worker.Peer] = build_aec if options.module else build_spiel
    worker.serve(build, options)
