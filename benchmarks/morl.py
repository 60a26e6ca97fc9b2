"""How much of the proved Pareto fronts of finite worlds is learnt: Pareto Q-learning, PPO and envelope Q-learning.

    python benchmarks/morl.py                                  all, five seeds each; curves to benchmarks/curves/
    python benchmarks/morl.py --algorithms pareto_q --write    the table, from the curves, into benchmarks/morl.md

Pareto Q-learning is `rlenvs.pareto.ParetoQ`; PPO and envelope Q-learning, one network for all weights, are those of
examples/many_weights.py. Policies are judged exactly, by their values in the world's model. Objectives are scaled by
the ideal and the nadir of the front (to 1 and 0), the reference point is -0.1; a point of the front is attained where a
policy is nowhere worse by more than 0.01.
"""

import argparse
import csv
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
NAMES = {"pareto_q": "Pareto Q-learning", "ppo": "PPO, one network", "envelope": "Envelope Q-learning"}
COLOURS = {"pareto_q": "#1b6ca8", "ppo": "#d1701f", "envelope": "#3c8d4f"}
EXACT_AT = (500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000)


@dataclass
class Case:
    """A world, and how long which algorithm learns in it.

    Attributes:
        name: in tables and curves.
        id, options: of the world.
        gamma: discount.
        steps: of Pareto Q-learning, the last of EXACT_AT that counts. how: its settings.
        networks: steps of PPO and envelope Q-learning; 0 where they are not tried.
    """

    name: str
    id: str
    options: dict[str, Any] = field(default_factory=dict)
    gamma: float = 1.0
    steps: int = 32_000
    how: dict[str, Any] = field(default_factory=dict)
    networks: int = 0


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


def networks(algorithm):
    """The same of an algorithm of examples/many_weights.py."""
    spec = importlib.util.spec_from_file_location("many_weights", HERE.parent / "examples" / "many_weights.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
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

    figure, axes = plt.subplots(2, 5, figsize=(15, 5.6), sharey=True, layout="constrained")
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
        axis.set(title=case.name, xscale="log", xlim=(400, 160_000), ylim=(0.0, 1.05))
        axis.grid(alpha=0.25)
    for axis in axes[-1]:
        axis.set_xlabel("steps")
    for axis in axes[:, 0]:
        axis.set_ylabel("share of the hypervolume")
    axes[0, 0].legend(loc="lower right", fontsize=8)
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


def cell(ends, seeds):
    """Shares of runs at their ends, with steps and processor time; of how many, where it is not all seeds."""
    steps, seconds, volume, attained = ends.mean(axis=0)
    several = f" ({ends[:, 2].min():.3f} to {ends[:, 2].max():.3f})"
    fewer = f"; seeds: {len(ends)}" if len(ends) != seeds else ""
    return f"{volume:.3f}{several}, {attained:.2f}; {steps / 1000:.0f} k, {seconds:.1f} s{fewer}"


HEAD = """# Learnt fronts beside proved ones

    python benchmarks/morl.py
    python benchmarks/morl.py --table --write

Share of the proved front's hypervolume (mean over {seeds} seeds where no other number stands; the lowest and the
highest), then the share of its points that were attained; after the semicolon steps of all worlds together, and
processor time on one core. Objectives are scaled by the front's ideal and nadir to 1 and 0, the reference point is -0.1
in each; a point is attained where a policy is nowhere worse by more than 0.01. What policies are worth is computed in
the model of the world, not estimated. "By weighted sums" is what the best policies for all weights together would have:
PPO and envelope Q-learning, one network for all weights, can reach no more, Pareto Q-learning can.

"""
TAIL = """

![Shares over steps](curves/morl.png)

Curves: [Pareto Q-learning](curves/morl_pareto_q.csv), [PPO](curves/morl_ppo.csv),
[envelope](curves/morl_envelope.csv). Pareto Q-learning is `rlenvs.pareto.pareto_q_learning`; the other two are
[many_weights.py](../examples/many_weights.py). Not among the worlds: Four rooms, whose front without a discount is a
single point, and whose states are too many for tables of sets.
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
            run = pareto_q if name == "pareto_q" else networks(name)
            for case in CASES:
                if (arguments.only or "") not in case.name or (name != "pareto_q" and not case.networks):
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
            (HERE / "morl.md").write_text(HEAD.format(seeds=arguments.seeds) + text + TAIL)


if __name__ == "__main__":
    main()
