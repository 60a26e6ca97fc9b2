"""Episodes of the planar worlds beside Gymnasium's on Box2D: the same controllers, as many seeds, two distributions.

    python benchmarks/planar_episodes.py --python box2d/bin/python LunarLander-v0 --seeds 1000

`--python` is an interpreter with gymnasium 1.4 and box2d 2.3.10 (benchmarks/peers/box2d_episodes.py); without it ours
alone are played. Shows the mean return of both, the difference with its 95 % interval, success, steps and distance.
`--level` plays ours at a level, such as "fast".
"""

import argparse
import json
import math
import subprocess
from pathlib import Path

import numpy as np

import rlenvs

WORKER = Path(__file__).parent / "peers" / "box2d_episodes.py"
ORIGINALS = {
    "LunarLander-v0": ["LunarLander-v3"],
    "LunarLanderContinuous-v0": ["LunarLander-v3", "--continuous"],
    "BipedalWalker-v0": ["BipedalWalker-v3"],
}


def play_ours(id: str, seeds: int, level: str | None) -> dict[str, np.ndarray]:
    """One episode for each seed."""
    batch = rlenvs.make_batch(id, seeds, **({"level": level} if level else {}))
    batch.seed(0)
    batch.reset()
    total, steps = np.zeros(seeds), np.zeros(seeds)
    success, distance, going = np.zeros(seeds), np.zeros(seeds), np.ones(seeds, bool)
    while going.any():
        batch.step(batch.advise().reshape(seeds, *batch.setup.action_space.shape))
        total[going] += batch.rewards[going, 0]
        steps[going] += 1
        ends = going & (batch.terminated[:, 0] | batch.truncated[:, 0])
        success[ends] = batch.success[ends, 0]
        distance[ends] = batch.states["frame"][ends, 1, 0]
        going &= ~ends
    return {"return": total, "success": success, "steps": steps, "distance": distance}


def play_theirs(python: str, id: str, seeds: int) -> dict[str, np.ndarray]:
    command = [python, str(WORKER), ORIGINALS[id][0], str(seeds), *ORIGINALS[id][1:]]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [json.loads(line) for line in lines]
    return {name: np.array([row[name] for row in rows], float) for name in rows[0]}


def shown(numbers: np.ndarray) -> str:
    return f"{numbers.mean():.4g} ± {1.96 * numbers.std(ddof=1) / math.sqrt(len(numbers)):.2g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("id", choices=sorted(ORIGINALS))
    parser.add_argument("--python")
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--level")
    given = parser.parse_args()
    ours = play_ours(given.id, given.seeds, given.level)
    theirs = play_theirs(given.python, given.id, given.seeds) if given.python else None
    print(f"| {given.id}, {given.seeds} episodes | ours | theirs | difference |\n|---|---|---|---|")
    for name, numbers in ours.items():
        other, difference = "", ""
        if theirs is not None:
            other = shown(theirs[name])
            spread = math.sqrt((numbers.var(ddof=1) + theirs[name].var(ddof=1)) / given.seeds)
            difference = f"{numbers.mean() - theirs[name].mean():.3g} ± {1.96 * spread:.2g}"
        print(f"| {name} | {shown(numbers)} | {other} | {difference} |")


if __name__ == "__main__":
    main()
