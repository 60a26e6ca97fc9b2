"""Steps of pogema's lifelong path finding on one random map, with random actions; agent-steps are steps * agents.

Installed as: pogema 1.4.0 from the registry, with gymnasium 0.28.1 and numpy 1.26.
"""

import argparse

import worker


def build(options: argparse.Namespace) -> worker.Peer:
    """The environment and random joint actions for it."""
    import numpy as np
    from pogema import GridConfig, pogema_v0

    config = GridConfig(
        num_agents=options.agents,
        size=options.size,
        density=0.3,
        obs_radius=5,
        max_episode_steps=256,
        on_target="restart",
        collision_system=options.collision,
        seed=0,
    )
    env = pogema_v0(config)
    actions = np.random.default_rng(0).integers(5, size=(1024, options.agents)).tolist()

    def step(action: list[int]) -> bool:
        _, _, terminated, truncated, _ = env.step(list(action))  # a copy: soft collisions overwrite the actions
        return all(terminated) or all(truncated)

    return worker.Peer(step, env.reset, actions, agents=options.agents)


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--agents", type=int, default=64)
    parser.add_argument("--size", type=int, default=32, help="side of the square map")
    parser.add_argument("--collision", choices=("priority", "block_both", "soft"), default="priority")
    worker.serve(build, parser.parse_args())
