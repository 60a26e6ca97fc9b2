"""How far reinforcement learning comes beside experts and rewards that were frozen before it was tried.

    python benchmarks/frozen.py            # the table, and how many environments reach 0.8 and 0.9
    python benchmarks/frozen.py --first    # of the 44 environments alone that came before the single-agent families

`frozen.json` has, of every environment that stood then (commit 64ab3c2), the mean returns of random actions and of the
scripted expert, the expert's success rate, the bound, the weights of the reward's terms at the defaults, and for two
without expert and bound a published return (PPO of rl-zoo after 1 M steps, MuJoCo v3). An agent reaches a share if it
has that share of the expert's return, on the scale from random (0) to the expert (1), and of its success. What an
environment declares now is compared with what is frozen; one that was changed says so.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from rlenvs.agents.card import Card, normalized
from rlenvs.agents.score_page import known
from rlenvs.agents.store import training_seeds
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.catalogue.score_cells import has_success

FROZEN = json.loads(Path(__file__).with_name("frozen.json").read_text())
SHARES = (0.8, 0.9)
HEAD = ("Environment", "Random", "Expert", "Learnt", "Score", "Success", "Expert's", "Algorithm", "Seeds", "Reaches")


def differences(name: str) -> list[str]:
    """What an environment declares now in another way than it is frozen."""
    world, frozen = world_of(name), FROZEN[name]
    weights = {term: part.weight for term, part in world.terms.items() if part.weight or term in frozen["weights"]}
    found = [] if weights == frozen["weights"] else ["weights"]
    for who in ("random", "expert", "bound"):
        now = world.scores[who].mean if who in world.scores else None
        found += [] if now == frozen.get(who) else [who]
    return found


def upper_of(name: str) -> float | None:
    """The return that counts as 1: the frozen expert's, else what was published, else the bound."""
    frozen = FROZEN[name]
    return frozen.get("expert", frozen.get("published", frozen.get("bound")))


def share_of(name: str, card: Card) -> tuple[float | None, float | None]:
    """The share of the frozen expert's return, and of its success, where there are such."""
    frozen, score = FROZEN[name], card.score
    if score is None:
        return 0.0, 0.0
    success = frozen.get("success") if has_success(world_of(name)) else None
    return normalized(score.mean, frozen["random"], upper_of(name)), score.success_rate / success if success else None


def reached(name: str, card: Card) -> float:
    """The smaller of the two shares."""
    return min((share for share in share_of(name, card) if share is not None), default=0.0)


def row(name: str, cards: dict[Path, Card]) -> tuple[str, ...]:
    """A line of the table."""
    frozen, upper = FROZEN[name], upper_of(name)
    start: tuple[Any, ...] = (name, f"{frozen['random']:.4g}", "" if upper is None else f"{upper:.4g}")
    if not cards:
        return (*start, *[""] * 6, "no agent")
    stem, card = max(cards.items(), key=lambda pair: reached(name, pair[1]))
    score = card.score
    assert score is not None
    scale, _ = share_of(name, card)
    seeds = ", ".join(map(str, sorted(training_seeds(stem))))
    goal = f"{100 * frozen['success']:.0f} %" if "success" in frozen and has_success(world_of(name)) else ""
    success = f"{100 * score.success_rate:.0f} %" if goal else ""
    verdict = next((f"{share}" for share in reversed(SHARES) if reached(name, card) >= share), "no")
    verdict += "".join(f" (changed: {part})" for part in differences(name))
    scaled = "" if scale is None else f"{scale:.3f}"
    return (*start, f"{score.mean:.4g}", scaled, success, goal, card.algorithm, seeds, verdict)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--first", action="store_true", help="only the first 44 environments")
    given = options.parse_args()
    learnt = {one.name: one.learnt for one in known() if one.level is None}
    chosen = [name for name in FROZEN if FROZEN[name]["first"] or not given.first]
    for line in [HEAD, ["---"] * len(HEAD), *(row(name, learnt[name]) for name in chosen)]:
        print(f"| {' | '.join(line)} |")
    best = [max((reached(name, card) for card in learnt[name].values()), default=0.0) for name in chosen]
    counts = ", ".join(f"{sum(value >= share for value in best)} reach {share}" for share in SHARES)
    print(f"\nOf {len(chosen)} environments, {sum(map(bool, map(learnt.get, chosen)))} have a learnt agent; {counts}.")


if __name__ == "__main__":
    main()
