"""What worlds of several tasks cost beside worlds of one: processor time per world and step, random actions, a thread.

    python benchmarks/mixed_tasks.py

Times `rlenvs.benchmark(name).vector(num)` and, in turn, vector environments of as many worlds of each task alone, whose
mean is weighted with the worlds that the task has in the mixture.
"""

import argparse
import time

import numpy as np

import rlenvs


def microseconds(env, actions, steps):
    """Of the processor, per world and step."""
    start = time.process_time()
    for t in range(steps):
        env.step(actions[t % len(actions)])
    return 1e6 * (time.process_time() - start) / (steps * env.num_envs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="MT10")
    parser.add_argument("--num", type=int, default=64, help="worlds")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=20, help="per turn")
    parser.add_argument("--backend", default="numba")
    given = parser.parse_args()
    chosen = rlenvs.benchmark(given.name)
    keywords = {"threads": 1, "backend": given.backend}
    mixed = chosen.vector(given.num, **keywords)
    alone = [rlenvs.make_vec(id, given.num, **chosen.keywords, **keywords) for id in chosen.ids]
    for env in (mixed, *alone):
        env.reset(seed=0)
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (8, given.num, 4)).astype(np.float32)
    shares, turns = np.bincount(mixed.task_of), []
    for _ in range(given.rounds):
        single = [microseconds(env, actions, max(given.steps // len(alone), 1)) for env in alone]
        turns.append((microseconds(mixed, actions, given.steps), np.average(single, weights=shares)))
    of_mixed, of_single = np.median(turns, axis=0)
    ratio = np.median([mine / theirs for mine, theirs in turns])
    print(
        f"{given.name}, {given.num} worlds: mixed {of_mixed:.1f} us, one task {of_single:.1f} us per world and step; "
        f"ratio {ratio:.2f}"
    )


if __name__ == "__main__":
    main()
