"""How much of proved Pareto fronts is learnt: Pareto Q-learning, PPO, envelope Q-learning, and an archive of routes.

    python benchmarks/morl.py                                  all, five seeds each; curves to benchmarks/curves/
    python benchmarks/morl.py --algorithms pareto_q --write    the table, from the curves, into benchmarks/morl.md

Pareto Q-learning is `rlenvs.pareto.ParetoQ`; PPO and envelope Q-learning, one network for all weights, are those of
examples/many_weights.py; for Minecart, whose states no table holds, the archive is that of examples/route_archive.py.
Policies are judged exactly, by their values in the world's model, and routes through Minecart, which has no chance, by
playing them. Objectives are scaled by the ideal and the nadir of the front (to 1 and 0), the reference point is -0.1; a
point of the front is attained where a policy is nowhere worse by more than 0.01.
"""

import argparse
import csv
import functools
import importlib.util
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import rlenvs
from rlenvs import pareto

HERE = Path(__file__).resolve().parent
TOLERANCE, CORNER = 0.01, -0.1
COLUMNS = ("world", "seed", "steps", "seconds", "hypervolume", "attained")
NAMES = {
    "pareto_q": "Pareto Q-learning",
    "ppo": "PPO, one network",
    "envelope": "Envelope Q-learning",
    "archive": "Archive of routes",
}
COLOURS = {"pareto_q": "#1b6ca8", "ppo": "#d1701f", "envelope": "#3c8d4f", "archive": "#7a3e9d"}
EXACT_AT = (500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000)
ARCHIVE_AT = tuple(2**n * 250_000 for n in range(8))


@dataclass
class Case:
    """A world, and how long which algorithm learns in it.

    Attributes:
        name: in tables and curves.
        id, options: of the world.
        gamma: discount.
        steps: of Pareto Q-learning, the last of EXACT_AT that counts.
        how: settings of Pareto Q-learning.
        networks, archive: steps of PPO and envelope Q-learning, and of the archive. 0 is for what is not tried.
    """

    name: str
    id: str
    options: dict[str, Any] = field(default_factory=dict)
    gamma: float = 1.0
    steps: int = 32_000
    how: dict[str, Any] = field(default_factory=dict)
    networks: int = 0
    archive: int = 0

    def tries(self, name):
        """Whether an algorithm is tried."""
        return {"pareto_q": self.steps, "archive": self.archive}.get(name, self.networks) > 0


CASES = [
    Case("Deep sea treasure", "DeepSeaTreasure-v0", networks=100_000),
    Case("Deep sea treasure, concave", "DeepSeaTreasure-v0", {"map": "concave"}),
    Case("Deep sea treasure, mirrored", "DeepSeaTreasure-v0", {"map": "mirrored"}, steps=128_000),
    Case("Fruit tree, depth 5", "FruitTree-v0", {"depth": 5}, steps=8_000),
    Case("Fruit tree, depth 6", "FruitTree-v0", {"depth": 6}, steps=8_000, networks=100_000),
    Case("Fruit tree, depth 7", "FruitTree-v0", {"depth": 7}, steps=16_000),
    Case("Resource gathering, 0.99", "ResourceGathering-v0", {}, 0.99, 128_000, {"resolution": 1e-3}, 100_000),
    Case("Resource gathering, 1", "ResourceGathering-v0", {}, 1.0, 128_000, {"resolution": 1e-3, "timed": True}),
    Case("Breakable bottles", "BreakableBottles-v0", {}, 1.0, 128_000, {"resolution": 0.05}),
    Case("Fishwood", "Fishwood-v0", {}, 1.0, 32_000, {"resolution": [0.05, 0.4], "timed": True}),
    Case("Minecart, 0.99", "Minecart-v0", {"level": "deterministic"}, 0.99, 0, archive=32_000_000),
    Case("Minecart, 0.98", "Minecart-v0", {"level": "deterministic"}, 0.98, 0, archive=32_000_000),
]


class Judge:
    """How good policies are beside the proved front of a world."""

    def __init__(self, case):
        self.case, self.env = case, rlenvs.make(case.id, **case.options)
        self.front = pareto.pareto_front(self.env, case.gamma).values
        self.low, size = self.front.min(axis=0), np.ptp(self.front, axis=0)
        self.scale = np.where(size > 0.0, size, 1.0)
        self.corner = np.full(len(self.low), CORNER)
        self.known = (self.front - self.low) / self.scale
        self.whole = pareto.hypervolume(self.known, self.corner)

    def shares(self, values):
        """Of the front's hypervolume and of its points, of what policies are worth, (policies, objectives)."""
        if not len(values):
            return 0.0, 0.0
        found = (np.asarray(values) - self.low) / self.scale
        attained = [(found >= point - TOLERANCE).all(axis=1).any() for point in self.known]
        return pareto.hypervolume(found, self.corner) / self.whole, float(np.mean(attained))

    def linear(self):
        """The shares of the best that weighted sums can find."""
        return self.shares(self.front[pareto.supported(self.front)])


# --- learning ---------------------------------------------------------------------------------------------------------


def pareto_q(case, judge, seed, quick):
    """Rows of a run of Pareto Q-learning: steps, seconds of learning, shares."""
    spent, rows = 0.0, []
    learner = pareto.ParetoQ(judge.env, case.gamma, seed=seed, exploring=case.steps, **case.how)
    for steps in EXACT_AT[:1] if quick else [steps for steps in EXACT_AT if steps <= case.steps]:
        start = time.process_time()
        learner.learn(steps - learner.steps)
        front = learner.front()
        spent += time.process_time() - start
        values = [pareto.exact_value(judge.env, policy, case.gamma) for policy in front.policies]
        rows.append((learner.steps, spent, *judge.shares(values)))
    return rows


@functools.cache
def example(name):
    """A script of the examples, as a module."""
    spec = importlib.util.spec_from_file_location(name, HERE.parent / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def archive(case, judge, seed, quick):
    """The same of an archive of routes."""
    module = example("route_archive")
    learner = module.Archive(case.id, case.options, **module.MINECART, gamma=case.gamma, seed=seed)
    learner.learn(1)  # compiles
    learner = module.Archive(case.id, case.options, **module.MINECART, gamma=case.gamma, seed=seed)
    spent, rows = 0.0, []
    for steps in [20_000] if quick else [steps for steps in ARCHIVE_AT if steps <= case.archive]:
        start = time.process_time()
        learner.learn(steps - learner.steps)
        _, ways = learner.front()
        spent += time.process_time() - start
        values = [pareto.play_policy(judge.env, pareto.OpenLoopPolicy(way), case.gamma).mean for way in ways]
        rows.append((learner.steps, spent, *judge.shares(values)))
    return rows


def networks(algorithm):
    """The same of an algorithm of examples/many_weights.py."""
    module = example("many_weights")
    module.torch.set_num_threads(1)

    def run(case, judge, seed, quick):
        steps = 2_000 if quick else case.networks
        looks = [steps] if quick else np.linspace(0, steps, 6)[1:].tolist()
        rows, start, apart = [], time.process_time(), 0.0

        def watch(made, worlds, learner):
            nonlocal apart
            if looks and made >= looks[0]:
                began = time.process_time()
                looks.pop(0)
                shares = judge.shares(module.values(worlds, learner, case.gamma))
                rows.append((made, began - start - apart, *shares))
                apart += time.process_time() - began

        count = 16 if quick else 128
        module.train(case.id, case.options, algorithm, case.gamma, steps, judge.scale, count, seed, watch)
        return rows

    return run


# --- curves, picture, table -------------------------------------------------------------------------------------------


def load(path):
    """Rows of a file of curves, by world and seed."""
    found = {}
    if path.exists():
        with path.open() as file:
            for row in csv.DictReader(file):
                rows = found.setdefault((row["world"], int(row["seed"])), [])
                rows.append(tuple(float(row[name]) for name in COLUMNS[2:]))
    return found


def save(path, curves):
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        order = {case.name: i for i, case in enumerate(CASES)}
        for world, seed in sorted(curves, key=lambda key: (order[key[0]], key[1])):
            for steps, seconds, volume, attained in curves[world, seed]:
                writer.writerow([world, seed, int(steps), f"{seconds:.2f}", f"{volume:.5f}", f"{attained:.4f}"])


def draw(folder, path):
    """A panel for each world: shares of the hypervolume over steps, means of the seeds within their extremes."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 6, figsize=(18, 5.6), sharey=True, layout="constrained")
    for case, axis in zip(CASES, axes.flat, strict=True):
        for name, colour in COLOURS.items():
            runs = [rows for (world, _), rows in load(folder / f"morl_{name}.csv").items() if world == case.name]
            if not runs:
                continue
            steps = np.array(runs[0])[:, 0]
            volumes = np.array([np.array(rows)[:, 2] for rows in runs])
            axis.fill_between(steps, volumes.min(axis=0), volumes.max(axis=0), color=colour, alpha=0.2, linewidth=0)
            axis.plot(steps, volumes.mean(axis=0), color=colour, marker="o", markersize=3, label=NAMES[name])
        axis.axhline(0.99, color="0.6", linewidth=0.8, linestyle="--")
        axis.set(title=case.name, xscale="log", xlim=(2e5, 5e7) if case.archive else (400, 160_000), ylim=(0.0, 1.05))
        axis.grid(alpha=0.25)
    for axis in axes[-1]:
        axis.set_xlabel("steps")
    for axis in axes[:, 0]:
        axis.set_ylabel("share of the hypervolume")
    axes[0, 0].legend(loc="lower right", fontsize=8)
    axes[-1, -1].legend(loc="lower right", fontsize=8)
    figure.savefig(path, dpi=110)


def table(folder, seeds):
    """The table of the last rows, in Markdown."""
    heads = ["world", "points", "by weighted sums"]
    found = {name: load(folder / f"morl_{name}.csv") for name in NAMES}
    lines = [f"| {' | '.join([*heads, *NAMES.values()])} |", "|---" * (len(heads) + len(NAMES)) + "|"]
    for case in CASES:
        judge = Judge(case)
        cells = [case.name, str(len(judge.front)), "{:.3f}, {:.2f}".format(*judge.linear())]
        for name in NAMES:
            ends = np.array([rows[-1] for (world, _), rows in found[name].items() if world == case.name])
            cells.append(cell(ends, seeds) if len(ends) else "")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def published():
    """The shares of the fronts that others published for Minecart."""
    shares = []
    for case in CASES:
        if case.archive:
            judge = Judge(case)
            points = judge.env.unwrapped.batch.setup.published_front(case.gamma).points
            shares.append("{:.3f}, {:.2f}".format(*judge.shares(points)) + f" (discount {case.gamma:g})")
    return " and ".join(shares)


def cell(ends, seeds):
    """Shares of runs at their ends, with steps and processor time; of how many, where it is not all seeds."""
    steps, seconds, volume, attained = ends.mean(axis=0)
    several = f" ({ends[:, 2].min():.3f} to {ends[:, 2].max():.3f})"
    fewer = f"; {len(ends)} seeds" if len(ends) != seeds else ""
    made = f"{steps / 1e6:.0f} M" if steps >= 1e6 else f"{steps / 1000:.0f} k"
    return f"{volume:.3f}{several}, {attained:.2f}; {made}, {seconds:.1f} s{fewer}"


HEAD = """# Learnt fronts beside proved ones

    python benchmarks/morl.py
    python benchmarks/morl.py --table --write

Share of the proved front's hypervolume (mean over {seeds} seeds where no other number stands; the lowest and the
highest), then the share of its points that were attained; after the semicolon steps of all worlds together, and
processor time on one core. Objectives are scaled by the front's ideal and nadir to 1 and 0, the reference point is -0.1
in each; a point is attained where a policy is nowhere worse by more than 0.01. What policies are worth is computed in
the model of the world, not estimated; routes through Minecart, which has no chance, are played in it. "By weighted
sums" is what the best policies for all weights together would have: PPO and envelope Q-learning, one network for all
weights, can reach no more, Pareto Q-learning and the archive can.

"""
TAIL = """

![Shares over steps](curves/morl.png)

Curves: [Pareto Q-learning](curves/morl_pareto_q.csv), [PPO](curves/morl_ppo.csv),
[envelope](curves/morl_envelope.csv), [archive](curves/morl_archive.csv). Pareto Q-learning is
`rlenvs.pareto.pareto_q_learning`; PPO and envelope are [many_weights.py](../examples/many_weights.py), the archive is
[route_archive.py](../examples/route_archive.py).

Minecart is its deterministic level, at two discounts. The archive learns from steps of the world alone, every episode
from the beginning; it is told no more than the size of a cell, and its result is a sequence of actions for each point,
not a policy that would look where it is. The values that MO-Gymnasium publishes as this front, not all of which can be
attained, have {published} by the same measure.
At 0.98 the proof leaves a little room, and routes better than those known would count for more.
Sizes of cells and the archive's other settings were chosen at 0.99, and taken over for 0.98.

Not among the worlds: Four rooms, whose front without a discount is a single point, and whose states are too many for
tables of sets.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--algorithms", nargs="*", default=list(NAMES), choices=list(NAMES))
    parser.add_argument("--only", help="worlds whose name has this in it")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a few steps, to try the script")
    parser.add_argument("--table", action="store_true", help="learn nothing; the table and the picture from the curves")
    parser.add_argument("--write", action="store_true", help="the table into benchmarks/morl.md")
    parser.add_argument("--output", type=Path, default=HERE / "curves", help="folder for curves and picture")
    arguments = parser.parse_args()
    for seed in range(0 if arguments.table else arguments.seeds):
        for name in arguments.algorithms:
            run = {"pareto_q": pareto_q, "archive": archive}.get(name) or networks(name)
            for case in CASES:
                if (arguments.only or "") not in case.name or not case.tries(name):
                    continue
                rows = run(case, Judge(case), seed, arguments.quick)
                path = arguments.output / f"morl_{name}.csv"
                save(path, {**load(path), (case.name, seed): rows})
                steps, seconds, volume, attained = rows[-1]
                print(
                    f"{NAMES[name]}, {case.name}, seed {seed}: {volume:.4f} of the hypervolume, {attained:.2f} of the "
                    f"points; {steps:,} steps, {seconds:.1f} s",
                    flush=True,
                )
    if not arguments.quick:
        draw(arguments.output, arguments.output / "morl.png")
        text = table(arguments.output, arguments.seeds)
        print(text)
        if arguments.write:
            told = HEAD.format(seeds=arguments.seeds) + text + TAIL.format(published=published())
            (HERE / "morl.md").write_text(told)


if __name__ == "__main__":
    main()
