"""Steps of the original PushWorld with random moves: its Gym environment, which draws a frame in every step.

Installed as: git clone https://github.com/google-deepmind/pushworld; pip install gym==0.26.2 "numpy<1.25". The puzzles
of level 0 lie packed in benchmark/puzzles/level0.zip. ``--rules`` times its rules alone, without reward and frame.
"""

import argparse
import random
import sys

import worker

LIMIT = 100


def build(options: argparse.Namespace) -> worker.Peer:
    """The environment and random actions for it."""
    sys.path.insert(0, f"{options.clone}/python3/src")
    from pushworld.gym_env import PushWorldEnv

    draw = random.Random(0)
    actions = [draw.randrange(4) for _ in range(4096)]
    env = PushWorldEnv(options.puzzles, max_steps=LIMIT)

    def step(action: int) -> bool:
        _, _, terminated, truncated, _ = env.step(action)
        return terminated or truncated

    if not options.rules:
        return worker.Peer(step, env.reset, actions)
    puzzle, state, steps = None, None, 0

    def step_rules(action: int) -> bool:
        nonlocal state, steps
        state, steps = puzzle.get_next_state(state, action), steps + 1
        return puzzle.is_goal_state(state) or steps >= LIMIT

    def reset_rules() -> None:
        nonlocal puzzle, state, steps
        env.reset()
        puzzle, steps = env.current_puzzle, 0
        state = puzzle.initial_state

    return worker.Peer(step_rules, reset_rules, actions)


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--clone", required=True)
    parser.add_argument("--puzzles", required=True, help="a .pwp file or a folder with such files")
    parser.add_argument("--rules", action="store_true", help="its rules alone")
    worker.serve(build, parser.parse_args())
