"""Swarms: what an agent-step costs with 10, 100 and 1000 agents, and how far returns are from the limit of many agents.

    python benchmarks/swarms.py [--worlds N] [--write]

The density is that of 50 agents at the defaults, so the square grows with the number of agents. With "radius" agents
observe those within the radius, and in Kuramoto and SIS are affected by them. Times are of one thread's processor, the
best of five. Returns are those of an agent over 40 steps, in N worlds for each number of agents.
"""

import argparse
import math
import platform
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import rlenvs
from rlenvs.core.catalogue.registry import world_of
from rlenvs.multi.swarm import mean_field

IDS = ("SwarmAggregation-v0", "SwarmKuramoto-v0", "SwarmVicsek-v0", "SwarmSIS-v0")
CROWDS, SIZES, STEPS = (10, 100, 1000), (10, 30, 100, 300, 1000), 40
# by id: keywords, player, the order parameter of each step in the limit
LIMITS: dict[str, tuple[dict[str, Any], str, Callable[[], np.ndarray]]] = {
    "SwarmAggregation-v0": (
        {"dimensions": 1, "noise": 0.1}, "mean", lambda: -mean_field.aggregation(STEPS, 4.0, 0.2, 0.1)[1:],
    ),
    "SwarmKuramoto-v0": (
        {"coupling": 2.5, "noise": 0.0, "arc": 3.0, "time_step": 0.02}, "",
        lambda: mean_field.kuramoto(np.arange(STEPS + 1) * 0.02, 2.5, 1.0, 3.0)[1:],
    ),
    "SwarmVicsek-v0": (
        {"noise": 2.0, "max_turn": 0.3, "arc": 4.0}, "mean", lambda: mean_field.vicsek(STEPS, 2.0, 0.3, 4.0)[1:],
    ),
    "SwarmSIS-v0": ({}, "", lambda: -mean_field.sis(STEPS, 0.6, 0.2, 0.5, 0.3)[1:]),
}  # fmt: skip


def begun(id: str, worlds: int, **keywords: Any) -> Any:
    """A batch after its reset."""
    batch = rlenvs.make_batch(id, worlds, threads=1, **keywords)
    batch.seed(range(worlds))
    batch.reset()
    return batch


def cost(id: str, agents: int, observation: str) -> float:
    """Nanoseconds per agent and step."""
    world, grown = world_of(id), math.sqrt(agents / 50)
    side = world.params["side"].default * grown
    keywords: dict[str, Any] = {"side": side, "radius": min(world.params["radius"].default, 0.5 * side)}
    if "contacts" in world.options and observation == "radius":
        keywords["contacts"] = "radius"
    worlds = 4000 // agents
    batch = begun(id, worlds, agents=agents, observation=observation, **keywords)
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, batch.actions.shape)
    actions = actions if batch.actions.dtype.kind == "f" else (actions > 0.0).astype(int)
    times = []
    for _ in range(5):
        begin = time.process_time()
        for _ in range(40):
            batch.step(actions)
        times.append((time.process_time() - begin) / (40 * worlds * agents))
    return 1e9 * min(times)


def error(id: str, agents: int, worlds: int) -> float:
    """The root of the mean square of the difference between a swarm's return per agent and the limit's."""
    keywords, player, limit = LIMITS[id]
    batch, total = begun(id, worlds, agents=agents, **keywords), np.zeros(worlds)
    for _ in range(STEPS):
        batch.step(batch.player_actions(player) if player else np.zeros_like(batch.actions))
        total += batch.terms[:, 0].mean(axis=1)
    return float(np.sqrt(((total - limit().sum()) ** 2).mean()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=200, help="for each number of agents")
    parser.add_argument("--write", action="store_true", help="write benchmarks/swarms.md")
    options = parser.parse_args()
    rows = [f"| id | observation | {' | '.join(f'{n} agents' for n in CROWDS)} |", "|---" * 5 + "|"]
    for id in IDS:
        for observation in ("global", "radius"):
            found = " | ".join(f"{cost(id, agents, observation):.0f}" for agents in CROWDS)
            rows.append(f"| {id} | {observation} | {found} |")
            print(rows[-1], flush=True)
    errors = [f"| id | {' | '.join(f'{n} agents' for n in SIZES)} |", "|---" * 6 + "|"]
    for id in IDS:
        found = " | ".join(f"{error(id, agents, options.worlds):.3f}" for agents in SIZES)
        errors.append(f"| {id} | {found} |")
        print(errors[-1], flush=True)
    if options.write:
        told = str(__doc__).split("\n\n")[-1].strip()
        head = f"# Swarms: cost per agent, and the limit of many\n\nMeasured on {date.today()}: {platform.machine()}, "
        head += f"Python {platform.python_version()}, on a machine that others used. {told}\n"
        text = [head, "Nanoseconds per agent-step:\n", *rows, "\nDistance of returns from the limit:\n", *errors, ""]
        Path(__file__).with_suffix(".md").write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
