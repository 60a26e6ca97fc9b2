"""What selfish and collective agents do in social dilemmas: `python benchmarks/dilemma_agents.py [ID ...] [--write]`.

Selfish agents are those of the environments' defaults, where each is paid what it gains itself; the others are those of
the levels that pay otherwise. All play the default environment beside themselves, on the same seeds, as random actions
and two scripted players do: the expert, which cooperates, and one that takes all it can. `--write` puts the tables into
benchmarks/dilemma_agents.md.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

import rlenvs
from rlenvs.agents.agent import Agent
from rlenvs.agents.evaluate import chooser
from rlenvs.agents.store import own_agent
from rlenvs.core.catalogue.registry import world_of

Sums = dict[str, np.ndarray]  # of a term, over an episode: (episodes, agents)


def mean_of(term: str, scale: float = 1.0) -> Callable[[Sums], np.ndarray]:
    """What measures the mean over agents of a term, (episodes,)."""
    return lambda sums: scale * sums[term].mean(1)


PAYOFF = {"payoff of a player in a round": mean_of("payoff", 0.01)}
MEASURES: dict[str, dict[str, Callable[[Sums], np.ndarray]]] = {
    "MatrixGame-v0": PAYOFF,
    "PublicGoods-v0": PAYOFF,
    "CoinGame-v0": {
        "coins of both": lambda sums: (sums["own"] + sums["other"]).sum(1),
        "share of own coins": lambda sums: sums["own"].sum(1) / np.maximum((sums["own"] + sums["other"]).sum(1), 1.0),
        "return of both": lambda sums: (sums["own"] + sums["other"] + 2.0 * sums["lost"]).sum(1),
    },
}
GREEDY = {
    "MatrixGame-v0": "defect",
    "PublicGoods-v0": "defect",
    "CoinGame-v0": "greedy",
}
HEAD = """# Social dilemmas: selfish and collective agents

`python benchmarks/dilemma_agents.py --write`: {episodes} episodes of the default environment, seeds 0 on, with 95 %
intervals over these; one training of each agent, with the settings of its card.
"""


def played(id: str, policy: Agent | str, episodes: int, **keywords: Any) -> Sums:
    """The sums of all terms."""
    batch = rlenvs.make_batch(id, episodes, autoreset=AutoresetMode.DISABLED, **keywords)
    batch.seed(range(episodes))
    batch.reset()
    scripted = policy in batch.world.players
    choose = None if scripted else chooser(batch, policy, range(episodes))
    total = np.zeros(batch.terms.shape)
    while not batch.over.all():  # all episodes are equally long
        if choose is None:
            batch.player_actions(policy)
            batch.step_inplace()
        else:
            batch.step(choose())
        total += batch.terms
    return {name: total[:, i] for i, name in enumerate(batch.world.terms)}


def cell(found: np.ndarray) -> str:
    """Mean with its 95 % confidence interval."""
    return f"{found.mean():.4g} ± {1.96 * found.std(ddof=1) / np.sqrt(len(found)):.2g}"


def table(id: str, episodes: int) -> list[str]:
    """A line for each policy."""
    greedy = GREEDY[id]
    players: dict[str, Agent | str] = {"random": "random", "expert": "expert", f'scripted "{greedy}"': greedy}
    if own_agent(id) is not None:
        players["selfish"] = rlenvs.load_agent(id)
    for level in ("collective", "inequity"):
        if own_agent(id, level) is not None:
            players[level] = rlenvs.load_agent(id, level=level)
    lines = [f"| agents | {' | '.join(MEASURES[id])} |", "|---" * (1 + len(MEASURES[id])) + "|"]
    for name, policy in players.items():
        sums = played(id, policy, episodes)
        lines.append(f"| {name} | {' | '.join(cell(measure(sums)) for measure in MEASURES[id].values())} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(MEASURES)}; all by default")
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.write and options.names:
        parser.error("--write is for the whole page; leave the names out")
    pages = [HEAD.format(episodes=options.episodes)]
    for id in [world_of(name).name for name in options.names] or MEASURES:
        lines = table(id, options.episodes)
        print("\n".join([id, *lines]), flush=True)
        pages.append("\n".join([f"## {id}", "", *lines, ""]))
    if options.write:
        Path(__file__).with_suffix(".md").write_text("\n".join(pages))


if __name__ == "__main__":
    main()
