"""Offline learners on datasets made on the spot: `python benchmarks/offline_learning.py [racer] [safe] ...`.

- racer: behavior cloning on OfflineRacer's dataset "costs", all alike, and with weights that follow from the cost and
  the return of an episode: 0 above the limit, and below it the exponential of the return. Needs PyTorch and Minari.
- safe: the same on SafePointGoal's dataset "costs", and with a stricter limit on episodes that `grid_filter` spreads
  over costs and returns.
- careful: behavior cloning on "costs-careful", whose drivers keep the limit; all alike, and by return.
- cql: DiscreteCQL of d3rlpy on CartPole's dataset "medium". Needs d3rlpy and Minari.

Each is compared with those who made the data. About a minute each, on one thread.
"""

import argparse
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import rlenvs
from rlenvs.agents.datasets import make_dataset
from rlenvs.agents.recipes import get_dataset, grid_filter

SAFE, LIMIT, STRICT = "SafePointGoal-v0", 25.0, 10.0
RACER, TOUCHES = "OfflineRacer-v0", 1.0  # its limit
TEMPERATURE = {SAFE: 6.0, RACER: 60.0}  # units of return, in which the weight grows by a factor of e
POLE, EPISODES_OF_POLE = "CartPole-v0", 100
BATCH, HIDDEN, RATE = 512, 256, 1e-3
FIRST_SEED = 10_000  # of the evaluation, apart from the data's
Rows = dict[str, np.ndarray]  # of a dataset, by DSRL's names


def episodes_of(rows: Rows) -> np.ndarray:
    """The number of the episode to which each row belongs, (N,)."""
    ends = rows["terminals"] | rows["timeouts"]
    return np.cumsum(ends) - ends


def weights_of(rows: Rows, limit: float, temperature: float) -> np.ndarray:
    """The weight of each row, (N,): that of its episode."""
    episode = episodes_of(rows)
    costs, returns = (np.bincount(episode, rows[name]) for name in ("costs", "rewards"))
    best = returns[costs <= limit].max()
    return np.where(costs <= limit, np.exp((returns - best) / temperature), 0.0)[episode]


def cloned(rows: Rows, weights: np.ndarray, steps: int) -> Callable[[np.ndarray], np.ndarray]:
    """A policy that imitates the actions of rows, as often drawn as they weigh."""
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(1)
    generator = np.random.default_rng(0)
    size, numbers = rows["observations"].shape[1], rows["actions"].shape[1]
    network = torch.nn.Sequential(
        torch.nn.Linear(size, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, HIDDEN), torch.nn.ReLU(),
        torch.nn.Linear(HIDDEN, numbers),
    )  # fmt: skip
    optimizer = torch.optim.Adam(network.parameters(), RATE)
    rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    edges = np.cumsum(weights / weights.sum())
    for _ in range(steps):
        chosen = np.minimum(np.searchsorted(edges, generator.random(BATCH)), len(edges) - 1)
        seen, done = (torch.from_numpy(rows[name][chosen]) for name in ("observations", "actions"))
        loss = torch.nn.functional.l1_loss(network(seen), done)  # random actions have no pull
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rate.step()

    def policy(observations: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            found: np.ndarray = network(torch.from_numpy(np.asarray(observations, np.float32))).numpy()
        return np.clip(found, -1.0, 1.0)

    return policy


class Trial:
    """Clones of those who made a dataset, and the rows of the table so far.

    Args:
        id: of TEMPERATURE. quality: of the dataset, which is made in `folder`. given: the arguments of this script.
    """

    def __init__(self, id: str, quality: str, folder: Path, given: argparse.Namespace) -> None:
        self.id, self.quality, self.given = id, quality, given
        told = make_dataset(id, quality, folder=folder, **({"horizon": given.horizon} if given.horizon else {}))
        self.rows: Rows = get_dataset(told.name, folder)
        self.table: list[str] = []
        card = json.loads((told.path / "card.json").read_text(encoding="utf-8"))
        for name, player in card["players"].items():
            self._add(f"data: {name}", f"{player['return']:.1f}", player["cost"])
        self._add("data: all", f"{card['return']['mean']:.1f}", card["cost"]["mean"])

    def _add(self, policy: str, score: str, cost: float) -> None:
        self.table.append(f"| {self.id}, {self.quality} | {policy} | {score} | {cost:.1f} |")

    def clone_alike(self) -> None:
        """Add a clone of all rows."""
        self._clone("all alike", self.rows, np.ones(len(self.rows["costs"])))

    def clone_weighted(self, name: str, limit: float, rows: Rows | None = None) -> None:
        """Add a clone of `rows`, the whole dataset by default, by their weights under a limit."""
        rows = self.rows if rows is None else rows
        self._clone(name, rows, weights_of(rows, limit, TEMPERATURE[self.id]))

    def _clone(self, name: str, rows: Rows, weights: np.ndarray) -> None:
        seeds = range(FIRST_SEED, FIRST_SEED + self.given.episodes)
        policy = cloned(rows, weights, self.given.steps)
        found = rlenvs.evaluate(self.id, policy, seeds=seeds, horizon=self.given.horizon)
        self._add(f"cloned, {name}", f"{found.mean:.1f} ± {found.half_width:.1f}", found.mean_cost)


def racer(folder: Path, given: argparse.Namespace) -> list[str]:
    """Rows of the table."""
    trial = Trial(RACER, "costs", folder, given)
    trial.clone_alike()
    trial.clone_weighted("by cost and return", TOUCHES)
    return trial.table


def safe(folder: Path, given: argparse.Namespace) -> list[str]:
    """Rows of the table."""
    trial = Trial(SAFE, "costs", folder, given)
    trial.clone_alike()
    trial.clone_weighted("by cost and return", LIMIT)
    trial.clone_weighted(f"spread, cost at most {STRICT:g}", STRICT, grid_filter(trial.rows, least=1))
    return trial.table


def careful(folder: Path, given: argparse.Namespace) -> list[str]:
    """Rows of the table."""
    trial = Trial(SAFE, "costs-careful", folder, given)
    trial.clone_alike()
    trial.clone_weighted("by return", np.inf)
    return trial.table


def cql(folder: Path, given: argparse.Namespace) -> list[str]:
    """Rows of the table."""
    import d3rlpy
    import minari

    count = EPISODES_OF_POLE if given.episodes > 2 else 4
    keywords = {"horizon": given.horizon} if given.horizon else {}
    told = make_dataset(POLE, "medium", count, folder=folder, **keywords)
    found = minari.MinariDataset(folder / told.name / "data")
    parts = [(e.observations[:-1], e.actions[:, None], e.rewards[:, None], bool(e.terminations[-1])) for e in found]
    data = d3rlpy.dataset.ReplayBuffer(
        d3rlpy.dataset.InfiniteBuffer(),
        episodes=[d3rlpy.dataset.Episode(*part) for part in parts],
    )
    learner = d3rlpy.algos.DiscreteCQLConfig(batch_size=64, target_update_interval=500, alpha=1.0).create(
        device="cpu:0"
    )
    learner.fit(
        data,
        n_steps=given.steps,
        n_steps_per_epoch=given.steps,
        show_progress=False,
        logger_adapter=d3rlpy.logging.NoopAdapterFactory(),
    )
    learnt = rlenvs.evaluate(
        POLE,
        lambda observations: learner.predict(np.asarray(observations, np.float32)),
        seeds=range(FIRST_SEED, FIRST_SEED + given.episodes),
        horizon=given.horizon,
    )
    return [
        f"| {POLE}, medium | data: {told.policy} | {told.mean:.1f} | |",
        f"| {POLE}, medium | DiscreteCQL of d3rlpy | {learnt.mean:.1f} ± {learnt.half_width:.1f} | |",
    ]


LEARNERS = {"racer": racer, "safe": safe, "careful": careful, "cql": cql}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("learners", nargs="*", default=list(LEARNERS), help=", ".join(LEARNERS))
    options.add_argument("--steps", type=int, default=10_000, help="gradient steps")
    options.add_argument("--episodes", type=int, default=50, help="of the evaluation")
    options.add_argument("--horizon", type=int, help="of all episodes")
    given = options.parse_args()
    print("| dataset | policy | mean return | mean cost |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in given.learners:
            print("\n".join(LEARNERS[name](Path(folder), given)), flush=True)


if __name__ == "__main__":
    main()
