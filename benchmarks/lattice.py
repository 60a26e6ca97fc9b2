"""Does exploration break cooperation where agents share a network? `python benchmarks/lattice.py --write` (minutes).

The claim of Weng and Lee (arXiv 2601.05509, 2026) in miniature: deep Q-learning with a small network for all 16 agents
of LatticeDilemma-v0, or one for each, epsilon-greedy with a floor of exploration, for several payoffs P of two
defectors. Printed is the share of choices to cooperate at the end, without exploration, as a mean over seeds with its
95 % interval (bootstrap), and the difference. All seeds, and all networks, are trained side by side.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import rlenvs

AGENTS, INPUTS, HIDDEN, CHOICES = 16, 4, 32, 2
ROUNDS, WARM, KEPT, DRAWN, COPIED = 1500, 100, 1000, 32, 100  # rounds, before learning, in memory, per update, target
GAMMA, RATE, SCALE, JUDGED = 0.9, 1e-3, 4.0, 100
FLOORS, PAYOFFS = (0.01, 0.05, 0.1, 0.2), (0.5, 1.0, 1.5)
FIRST, SECOND, TINY = 0.9, 0.999, 1e-8  # of Adam


class Networks:
    """Q-networks with a hidden layer, (seeds, networks) of them, trained by Adam on the Huber loss."""

    def __init__(self, seeds: int, count: int, dice: np.random.Generator) -> None:
        lead = (seeds, count)
        self.weights = [
            dice.normal(0.0, (2.0 / INPUTS) ** 0.5, (*lead, INPUTS, HIDDEN)),
            np.zeros((*lead, 1, HIDDEN)),
            dice.normal(0.0, (1.0 / HIDDEN) ** 0.5, (*lead, HIDDEN, CHOICES)),
            np.zeros((*lead, 1, CHOICES)),
        ]
        self.means = [np.zeros_like(each) for each in self.weights]
        self.squares = [np.zeros_like(each) for each in self.weights]
        self.updates = 0
        self.copy_target()

    def copy_target(self) -> None:
        """The target network becomes the present one."""
        self.target = [each.copy() for each in self.weights]

    def values(self, seen: np.ndarray, weights: list[np.ndarray] | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The hidden layer and the values of choices, for (seeds, networks, rows, inputs)."""
        first, offset, second, last = weights or self.weights
        hidden = np.maximum(seen @ first + offset, 0.0)
        return hidden, hidden @ second + last

    def learn(self, seen: np.ndarray, chosen: np.ndarray, gained: np.ndarray, then: np.ndarray) -> None:
        """One update from (seeds, networks, rows) of transitions."""
        aim = gained + GAMMA * self.values(then, self.target)[1].max(axis=-1)
        hidden, values = self.values(seen)
        error = np.take_along_axis(values, chosen[..., None], axis=-1)[..., 0] - aim
        slope = np.zeros_like(values)
        np.put_along_axis(slope, chosen[..., None], np.clip(error, -1.0, 1.0)[..., None] / error.shape[-1], axis=-1)
        back = (slope @ self.weights[2].swapaxes(-1, -2)) * (hidden > 0)
        self._descend(
            [
                seen.swapaxes(-1, -2) @ back,
                back.sum(axis=-2, keepdims=True),
                hidden.swapaxes(-1, -2) @ slope,
                slope.sum(axis=-2, keepdims=True),
            ]
        )

    def _descend(self, slopes: list[np.ndarray]) -> None:
        self.updates += 1
        rate = RATE * (1.0 - SECOND**self.updates) ** 0.5 / (1.0 - FIRST**self.updates)
        for weight, mean, square, slope in zip(self.weights, self.means, self.squares, slopes, strict=True):
            mean += (1.0 - FIRST) * (slope - mean)
            square += (1.0 - SECOND) * (slope * slope - square)
            weight -= rate * mean / (np.sqrt(square) + TINY)


def cooperation(shared: bool, floor: float, neither: float, seeds: int, rounds: int) -> np.ndarray:
    """The share of choices to cooperate, without exploration, after training; one for each seed."""
    batch = rlenvs.make_batch("LatticeDilemma-v0", seeds, agents=AGENTS, neither=neither, horizon=rounds + JUDGED + 1)
    batch.seed(range(seeds))
    batch.reset()
    dice = np.random.default_rng(round(1000 * floor) + 7 * shared)
    networks = Networks(seeds, 1 if shared else AGENTS, dice)
    memory: dict[str, np.ndarray] = {
        "seen": np.zeros((KEPT, seeds, AGENTS, INPUTS)),
        "then": np.zeros((KEPT, seeds, AGENTS, INPUTS)),
        "chosen": np.zeros((KEPT, seeds, AGENTS), int),
        "gained": np.zeros((KEPT, seeds, AGENTS)),
    }
    kept = []
    for n in range(rounds + JUDGED):
        epsilon = max(1.0 - n / (0.3 * rounds), floor) if n < rounds else 0.0
        seen = batch.observations.astype(float)
        rows = seen.reshape(seeds, 1, AGENTS, INPUTS) if shared else seen[:, :, None]
        best = networks.values(rows)[1].argmax(axis=-1).reshape(seeds, AGENTS)
        explored = dice.random(best.shape) < epsilon
        chosen = np.where(explored, dice.integers(CHOICES, size=best.shape), best)
        batch.step(chosen)
        if n >= rounds:
            kept.append((chosen == 0).mean(axis=1))
            continue
        new = {"seen": seen, "then": batch.observations, "chosen": chosen, "gained": batch.rewards / SCALE}
        for name, value in new.items():
            memory[name][n % KEPT] = value
        if n >= WARM:
            networks.learn(**drawn(memory, min(n + 1, KEPT), seeds, shared, dice))
            if n % COPIED == 0:
                networks.copy_target()
    return np.mean(kept, axis=0)


def drawn(
    memory: dict[str, np.ndarray], filled: int, seeds: int, shared: bool, dice: np.random.Generator
) -> dict[str, Any]:
    """Transitions from the memory: of all agents for a shared network, of its own agent for each other one."""
    shape = (seeds, 1 if shared else AGENTS, DRAWN)
    rounds, worlds = dice.integers(filled, size=shape), np.arange(seeds)[:, None, None]
    agents = dice.integers(AGENTS, size=shape) if shared else np.arange(AGENTS)[None, :, None]
    return {name: values[rounds, worlds, agents] for name, values in memory.items()}


def interval(shares: np.ndarray) -> tuple[float, float]:
    """95 % of the means of resampled seeds."""
    resampled = np.random.default_rng(0).choice(shares, (10_000, len(shares))).mean(axis=1)
    low, high = np.quantile(resampled, [0.025, 0.975])
    return float(low), float(high)


def cell(shares: np.ndarray) -> str:
    low, high = interval(shares)
    return f"{shares.mean():.2f} ({low:.2f} - {high:.2f})"


def main() -> None:
    """Print the table, and write it with --write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--floors", type=float, nargs="+", default=FLOORS)
    parser.add_argument("--payoffs", type=float, nargs="+", default=PAYOFFS, help="P, of two defectors")
    parser.add_argument("--write", action="store_true", help="print into lattice.md too, between its marks")
    options = parser.parse_args()
    lines = ["| P | floor | one network | a network each | difference |", "|---|---|---|---|---|"]
    for neither in options.payoffs:
        for floor in options.floors:
            one, each = (cooperation(shared, floor, neither, options.seeds, options.rounds) for shared in (True, False))
            lines.append(f"| {neither:g} | {floor:g} | {cell(one)} | {cell(each)} | {cell(one - each)} |")
            print(lines[-1], flush=True)
    if options.write:
        path = Path(__file__).with_suffix(".md")
        before, _, rest = path.read_text("utf-8").partition("| P | floor |")
        after = rest.partition("\n\n")[2]
        path.write_text(before + "\n".join(lines) + "\n\n" + after, "utf-8")


if __name__ == "__main__":
    main()
