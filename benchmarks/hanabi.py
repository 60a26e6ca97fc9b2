"""Scores of Hanabi's scripted players and of its agent: `python benchmarks/hanabi.py [--games N] [--write]`.

Each player beside itself, with two to five players, the agent with two, on the same decks, by both conventions of what
losing the last life does. `--write` puts the table into benchmarks/hanabi.md, beside what others publish of theirs.
"""

import argparse
import itertools
from pathlib import Path

import numpy as np
from gymnasium.vector import AutoresetMode

import rlenvs

PLAYERS = ("convention", "simple", "random")
AGENT = "MaskablePPO"
PUBLISHED = """
Published beside: mean scores of the rule-based bots of Quuxplusone/Hanabi (its README; the score stays when the last
life is lost). SimpleBot hints about playable cards, ValueBot also warns of valuable ones, HolmesBot also infers,
SmartBot also plays what others do not know that it knows, InfoBot codes what it sees of all hands into each hint.

| bot | 2 | 3 | 4 | 5 |
|---|---|---|---|---|
| SimpleBot | 16.92 | 18.48 | 19.32 | 18.50 |
| ValueBot | 19.79 | 19.43 | 19.39 | 17.76 |
| HolmesBot | 20.75 | 20.86 | 20.46 | 18.40 |
| SmartBot | 23.09 | 23.30 | 22.44 | 20.69 |
| InfoBot | 20.00 | 24.26 | 24.86 | 24.89 |
"""


def scores(player: str, players: int, games: int) -> tuple[np.ndarray, np.ndarray]:
    """What lies on the fireworks at the end of each game, and whether a life was left."""
    agent = rlenvs.load_agent("Hanabi-v0", algorithm=AGENT) if player == AGENT else None
    keywords = {"players": players} if agent is None else agent.card.keywords
    batch = rlenvs.make_batch("Hanabi-v0", games, autoreset=AutoresetMode.DISABLED, **keywords)
    batch.seed(range(games))
    batch.reset()
    while not batch.over.all():
        if agent is None:
            batch.player_actions(player)
        else:
            seen, masks = (part.reshape(2 * games, -1) for part in (batch.observations, batch.masks))
            batch.load_actions(agent.predict(seen, action_masks=masks)[0].reshape(games, 2))
        batch.step_inplace(~batch.over)
    return batch.states["firework"].sum(axis=1), batch.states["lives"] > 0


def cell(found: np.ndarray) -> str:
    """Mean with its 95 % confidence interval."""
    return f"{found.mean():.2f} ± {1.96 * found.std(ddof=1) / np.sqrt(len(found)):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rows = ["| player | players | score, kept | score, lost with the last life | complete |", "|---|---|---|---|---|"]
    for player, players in (*itertools.product(PLAYERS, (2, 3, 4, 5)), (AGENT, 2)):
        placed, alive = scores(player, players, options.games)
        complete = f"{100 * (placed == 25).mean():.1f} %"
        rows.append(f"| {player} | {players} | {cell(placed)} | {cell(placed * alive)} | {complete} |")
        print(rows[-1], flush=True)
    if options.write:
        head = (
            f"# Hanabi: scores of scripted players and of the agent\n\nMeans of {options.games} games, seeds 0 on; "
            f'at most 25. The agent, {AGENT}, sees `knowledge="rated"`, and chooses what it rates highest.\n\n'
        )
        Path(__file__).with_suffix(".md").write_text(head + "\n".join(rows) + "\n" + PUBLISHED)


if __name__ == "__main__":
    main()
