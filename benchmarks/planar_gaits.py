"""Search the gaits of the experts of BipedalWalker, BipedalWalkerHardcore and MultiWalker.

    python benchmarks/planar_gaits.py MultiWalker-v0 [--seconds 120] [--seed 1] [--starts 4] [--first 0.4]

The search of gaits.py (evolution of a normal distribution by its covariance) over the numbers of
`rlenvs/kits/planar/gait.py`, from the gait of Gymnasium's controller or, with `--from`, of a JSON list. Of 24 gaits in
a generation each walks from some starts, at the level "fast"; what counts is the mean return of a walker, and for a
team a tenth of the steps. At the end the mean of the distribution, rounded, walks from 100 other starts at the world's
own iterations, and is printed as the worlds' files hold it. `--try` skips the search.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from gaits import POPULATION, search

import rlenvs
from rlenvs.core.compiler.loops import compiled
from rlenvs.kits.planar import gait as numbers
from rlenvs.kits.planar.gait import GYMNASIUM, MEMORY, NUMBERS, follow, plan

APART = 14.0 / 3.0  # m, between walkers of a team
SCALE = np.array(
    [0.08, 0.08, 0.3, 0.3, 0.2, 0.15, 0.25, 0.15, 0.12, 0.015, 0.2, 0.06, 0.8, 0.08, 0.3, 0.4, 3.0, 0.05, 0.5, 0.1, 0.3]
)


@compiled()
def act(gaits, seen, memory, actions, starting):
    """Actions of all walkers of all worlds from their observations; the first come before anything was planned."""
    team = seen.shape[1]
    for i in range(seen.shape[0]):
        for k in range(team):
            o = seen[i, k]
            hull = (float(o[0]), float(o[1]), float(o[2]), float(o[3]))
            first = (float(o[4]), float(o[5]), float(o[6]), float(o[7]), float(o[8]))
            second = (float(o[9]), float(o[10]), float(o[11]), float(o[12]), float(o[13]))
            late, low = 0.0, 0.0
            if team > 1:
                place = APART * (k - 0.5 * (team - 1))
                late, low = o[28] * 8.0 * team / 1.75 + place, -o[30] * place
            if not starting:
                plan(gaits[i], memory[i, k], hull[2], first, second, late, low)
            actions[i, k, 0], actions[i, k, 1] = follow(gaits[i], memory[i, k], hull, first, 0)
            actions[i, k, 2], actions[i, k, 3] = follow(gaits[i], memory[i, k], hull, second, 1)


def walk(batch, gaits, seeds):
    """Mean returns of walkers, lengths, falls and distances of an episode of each gait."""
    batch.seed(seeds)
    batch.reset()
    count, team = len(gaits), batch.agents
    total, lasted, going = np.zeros(count), np.zeros(count, int), np.ones(count, bool)
    fell, distance = np.zeros(count, bool), np.zeros(count)
    memory, actions = np.zeros((count, team, MEMORY)), np.zeros((count, team, 4))
    for step in range(batch.setup.horizon):
        act(gaits, batch.observations.reshape(count, team, -1), memory, actions, step == 0)
        batch.load_actions(actions)
        batch.step_inplace(only=going)
        total[going] += batch.rewards[going].mean(1)
        lasted[going] += 1
        ends = going & (batch.terminated.any(1) | batch.truncated.any(1))
        fell[ends] = batch.terminated[ends].any(1) & ~batch.success[ends].any(1)
        distance[ends] = batch.states["frame"][ends, 1, 0]  # of the hull, or of the package
        going &= ~ends
        if not going.any():
            break
    return total, lasted, fell, distance


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("id", choices=["BipedalWalker-v0", "BipedalWalkerHardcore-v0", "MultiWalker-v0"])
    parser.add_argument("--seconds", type=float, default=120.0, help="of a processor")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--starts", type=int, default=4, help="of each gait in a generation")
    parser.add_argument("--first", type=float, default=0.4, help="size of the first steps")
    parser.add_argument("--from", dest="begin", help="a JSON list of the numbers to begin with")
    parser.add_argument("--try", dest="only_try", action="store_true", help="walk the gait given, without a search")
    parser.add_argument("--episodes", type=int, default=100)
    options = parser.parse_args()
    begin = np.array(json.loads(Path(options.begin).read_text()) if options.begin else GYMNASIUM)
    batch = rlenvs.make_batch(options.id, POPULATION * options.starts, level="fast", threads=1)
    team, scale = batch.agents > 1, SCALE.copy()
    if not team:
        scale[[numbers.WAIT, numbers.BEAR]] = 1e-9

    def returns_of(gaits, generation):
        starts = [1000 * generation + options.seed + n for n in range(options.starts)]
        total, lasted, _, _ = walk(batch, np.repeat(gaits, options.starts, 0), starts * POPULATION)
        worth = (total + team * 0.1 * lasted).reshape(POPULATION, -1).mean(1)
        return worth, lasted.reshape(POPULATION, -1).mean(1).astype(int)

    gait = begin
    if not options.only_try:
        gait = search(returns_of, begin, scale, options.seconds, options.seed, options.first)
    gait = np.round(gait, 3)
    batch, count = rlenvs.make_batch(options.id, options.episodes, threads=1), options.episodes
    total, lasted, fell, distance = walk(batch, np.broadcast_to(gait, (count, NUMBERS)), list(range(count)))
    error = 1.96 * total.std(ddof=1) / np.sqrt(count)
    print(f"return of a walker {total.mean():.1f} ± {error:.1f}, falls {fell.mean():.2f}, {lasted.mean():.0f} steps,")
    print(f"to {distance.mean():.1f} m; {gait.tolist()}")


if __name__ == "__main__":
    main()
