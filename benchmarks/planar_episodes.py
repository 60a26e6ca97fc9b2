"""Episodes of planar worlds beside the originals on Box2D and Chipmunk: the same policies, two distributions.

    python benchmarks/planar_episodes.py --python box2d/bin/python LunarLander-v0 --seeds 1000

The lander's policy is its expert, the walker's the gait of Gymnasium's controller, that of pistons their expert or,
with `--policy random`, chance. `--python` is an interpreter with the originals (benchmarks/peers/box2d_episodes.py,
pistonball_episodes.py); `--theirs` are files with the lines that these print, of episodes played earlier. Without
either ours alone are played. Shows the mean return (of an agent), success, steps and distance of both, with 95 %
intervals, and quantiles of the returns. `--level` plays ours at a level, such as "fast".
"""

import argparse
import json
import math
import subprocess
from pathlib import Path

import numpy as np
from planar_gaits import walk

import rlenvs
from rlenvs.kits.planar.gait import GYMNASIUM, NUMBERS

PEERS = Path(__file__).parent / "peers"
ORIGINALS = {
    "LunarLander-v0": ["box2d_episodes.py", "LunarLander-v3"],
    "LunarLanderContinuous-v0": ["box2d_episodes.py", "LunarLander-v3", "--continuous"],
    "BipedalWalker-v0": ["box2d_episodes.py", "BipedalWalker-v3"],
    "Pistonball-v0": ["pistonball_episodes.py"],
}
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def play_ours(id: str, seeds: int, level: str | None, policy: str) -> dict[str, np.ndarray]:
    """One episode for each seed."""
    batch = rlenvs.make_batch(id, seeds, **({"level": level} if level else {}))
    if id == "BipedalWalker-v0":
        total, steps, fell, distance = walk(batch, np.broadcast_to(GYMNASIUM, (seeds, NUMBERS)), list(range(seeds)))
        success = ~fell & (steps < batch.setup.horizon)
        return {"return": total, "success": success * 1.0, "steps": steps * 1.0, "distance": distance}
    batch.seed(0)
    batch.reset()
    chosen = np.random.default_rng(0)
    total, steps, success, going = np.zeros(seeds), np.zeros(seeds), np.zeros(seeds), np.ones(seeds, bool)
    while going.any():
        actions = chosen.uniform(-1.0, 1.0, batch.actions.shape) if policy == "random" else batch.expert_actions()
        batch.step(actions.reshape(batch.actions.shape))
        total[going] += batch.rewards[going].mean(1)
        steps[going] += 1
        ends = going & (batch.terminated[:, 0] | batch.truncated[:, 0])
        success[ends] = batch.success[ends, 0]
        going &= ~ends
    return {"return": total, "success": success, "steps": steps}


def read(lines: list[str]) -> dict[str, np.ndarray]:
    rows = [json.loads(line) for line in lines if line.endswith("}")]
    return {name: np.array([row[name] for row in rows], float) for name in rows[0]}


def play_theirs(python: str, id: str, seeds: int, policy: str) -> dict[str, np.ndarray]:
    worker, *arguments = ORIGINALS[id]
    if worker.startswith("pistonball"):
        arguments = ["random" if policy == "random" else "slope"]
    command = [python, str(PEERS / worker), *arguments[:1], str(seeds), *arguments[1:]]
    return read(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines())


def error(numbers: np.ndarray) -> float:
    return 1.96 * numbers.std(ddof=1) / math.sqrt(len(numbers))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("id", choices=sorted(ORIGINALS))
    parser.add_argument("--python")
    parser.add_argument("--theirs", nargs="*", default=[], help="files of their episodes")
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--level")
    parser.add_argument("--policy", choices=["expert", "random"], default="expert")
    given = parser.parse_args()
    theirs = None
    if given.theirs:
        theirs = read([line for file in given.theirs for line in Path(file).read_text().splitlines()])
    elif given.python:
        theirs = play_theirs(given.python, given.id, given.seeds, given.policy)
    ours = play_ours(given.id, given.seeds, given.level, given.policy)
    counts = f"{given.seeds} and {0 if theirs is None else len(theirs['return'])}"
    print(f"| {given.id}, {counts} episodes | ours | theirs | difference | % |\n|---|---|---|---|---|")
    for name, numbers in ours.items():
        row = [name, f"{numbers.mean():.4g} ± {error(numbers):.2g}"]
        if theirs is not None:
            other = theirs[name]
            apart, spread = numbers.mean() - other.mean(), math.hypot(error(numbers), error(other))
            share = f"{100 * apart / abs(other.mean()):.1f} ± {100 * spread / abs(other.mean()):.1f}"
            row += [f"{other.mean():.4g} ± {error(other):.2g}", f"{apart:.3g} ± {spread:.2g}", share]
        print(f"| {' | '.join(row)} |")
    for name, found in (("ours", ours), ("theirs", theirs)):
        if found is not None:
            values = np.quantile(found["return"], QUANTILES)
            cuts = ", ".join(f"{q:.0%} {value:.1f}" for q, value in zip(QUANTILES, values, strict=True))
            print(f"returns, {name}: {cuts}")


if __name__ == "__main__":
    main()
