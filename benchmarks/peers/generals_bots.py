"""Steps of generals-bots' PettingZoo class on 24x24 boards, with random legal actions; agent-steps.

The mask of legal moves is computed outside the count, here as there: the class does not give it. Episodes end after 500
ticks, as in its JAX version.

Installed as: generals-bots 2.5.0 (the NumPy version) from the registry, with pettingzoo and numpy as it asks for them.
"""

import argparse

import worker


def build(options: argparse.Namespace) -> worker.Peer:
    """The environment and a random player for it."""
    import numpy as np
    from generals.core.action import compute_valid_move_mask
    from generals.core.grid import GridFactory
    from generals.envs import PettingZooGenerals

    side, names = (options.side, options.side), ["A", "B"]
    boards = GridFactory(mode=options.mode, min_grid_dims=side, max_grid_dims=side)
    env = PettingZooGenerals(agents=names, grid_factory=boards, truncation=500)
    generator = np.random.default_rng(0)
    observations, _ = env.reset(seed=0)
    games = 0

    def step(actions: dict) -> bool:
        nonlocal observations
        observations, _, terminated, truncated, _ = env.step(actions)
        return bool(terminated or truncated)

    def reset() -> None:
        nonlocal observations, games
        games += 1
        observations, _ = env.reset(seed=games)

    def move(observation: object) -> np.ndarray:
        moves = np.argwhere(compute_valid_move_mask(observation))
        if not len(moves):
            return np.array([1, 0, 0, 0, 0], np.int8)
        return np.array([0, *moves[generator.integers(len(moves))], generator.integers(2)], np.int8)

    def choose() -> dict:
        return {name: move(observations[name]) for name in names}

    return worker.Peer(step, reset, agents=2, choose=choose)


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--side", type=int, default=24, help="side of the square board")
    parser.add_argument("--mode", default="generalsio", help="how boards are made: generalsio or uniform")
    worker.serve(build, parser.parse_args())
