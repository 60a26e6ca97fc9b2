"""Win rates by role of pairs of scripted players, in Impostors and Werewolf.

    python benchmarks/deduction.py [--games 2000] [--write]

One player plays all who are good, the other one all who are evil. Intervals are 95 % (Wilson), seeds 0 on. With --write
the tables go to benchmarks/deduction.md.
"""

import argparse
from fractions import Fraction
from pathlib import Path

import numpy as np
from gymnasium.vector import AutoresetMode

import rlenvs
from rlenvs.agents.ratings import wilson
from rlenvs.core.catalogue.registry import world_of

TABLE = Path(__file__).with_suffix(".md")
EVIL = 1  # the role
SIDES = {"Impostors-v0": ("crew", "impostors"), "Werewolf-v0": ("village", "werewolves")}
PAIRS = (("honest", "honest"), ("honest", "liar"), ("silent", "liar"), ("random", "random"))  # at the levels
HEAD = """# Impostors and Werewolf: win rates of scripted players

Shares of {games} games (seeds 0 on) that those win who are good, with 95 % intervals (Wilson); the others win the rest.
One player plays all who are good, the other one all who are evil. The pages of the environments describe the players.
`python benchmarks/deduction.py --write` makes this page.

Those that lie ("liar", "bold") play as "honest" where they are good.

What the tables say: impostors who kill only whom they are alone with, and tell no lies, leave no evidence; talking
helps against those who lie or are seen. A crew that repeats accusations ("parrot") is worse off with liars than one
that never talks. The village wins by the word of its seer; where nobody listens, no majority is found."""
THEORY_HEAD = """## Theory

The level "mafia": no seer, no doctor, a day before the first night. "lottery" on both sides, beside the exact chance
where whom the village votes out is drawn (Braverman, Etesami and Mossel, 2008; Migdal, 2010).
"""
LIARS = ("liar", "bold")  # who are honest where they are good
THEORY = ((5, 1), (7, 1), (9, 1), (9, 2))  # players, werewolves


def wins(id: str, good: str, evil: str, games: int, **keywords: object) -> int:
    """How many games those win who are good."""
    batch = rlenvs.make_batch(id, games, autoreset=AutoresetMode.DISABLED, **keywords)
    batch.seed(range(games))
    batch.reset()
    is_evil = (batch.states["role"] == EVIL)[:, :, None]
    while not batch.over.all():
        chosen = batch.player_actions(good)
        batch.actions[:] = np.where(is_evil, batch.player_actions(evil), chosen)
        batch.step_inplace(~batch.over)
    return int((batch.success & ~is_evil[:, :, 0]).any(axis=1).sum())


def share(won: int, games: int) -> str:
    low, high = wilson(won, games)
    return f"{won / games:.3f} ({low:.3f} to {high:.3f})"


def pairs(id: str, games: int) -> list[str]:
    """Each player as those who are good (rows) against each as those who are evil."""
    good, evil = SIDES[id]
    players = world_of(id).players
    honest = [player for player in players if player not in LIARS]
    lines = [f"| {good} \\ {evil} | {' | '.join(players)} |", "|---" * (len(players) + 1) + "|"]
    for player in honest:
        found = [share(wins(id, player, other, games), games) for other in players]
        lines.append(f"| {player} | {' | '.join(found)} |")
        print(lines[-1], flush=True)
    return lines


def levels(id: str, games: int) -> list[str]:
    good, evil = SIDES[id]
    lines = [f"| level | {' | '.join(f'{a} {good}, {b} {evil}' for a, b in PAIRS)} |", "|---" * (len(PAIRS) + 1) + "|"]
    for level in (None, *world_of(id).levels):
        found = [share(wins(id, *pair, games, level=level), games) for pair in PAIRS]
        lines.append(f"| {level or 'default'} | {' | '.join(found)} |")
        print(lines[-1], flush=True)
    return lines


def chance(players: int, evil: int) -> Fraction:
    """That werewolves win who begin with a day, where whom the village votes out is drawn (Braverman et al.)."""
    if evil == 0 or 2 * evil >= players:
        return Fraction(evil > 0)
    total = Fraction(0)
    for share, left in ((Fraction(evil, players), evil - 1), (1 - Fraction(evil, players), evil)):
        living = players - 1  # after the vote; the night takes one more where the game goes on
        total += share * (Fraction(left > 0) if left == 0 or 2 * left >= living else chance(living - 1, left))
    return total


def theory(games: int) -> list[str]:
    lines = ["| players | werewolves | village wins | exact |", "|---|---|---|---|"]
    for players, evil in THEORY:
        settings = {"level": "mafia", "players": players, "werewolves": evil}
        won, exact = wins("Werewolf-v0", "lottery", "lottery", games, **settings), 1 - chance(players, evil)
        lines.append(f"| {players} | {evil} | {share(won, games)} | {exact} = {float(exact):.3f} |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    text = [HEAD.format(games=options.games)]
    for id in SIDES:
        text += ["", f"## {id}", "", *pairs(id, options.games), "", "By level:", "", *levels(id, options.games)]
    text += ["", THEORY_HEAD, *theory(options.games)]
    if options.write:
        TABLE.write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
