"""Record votes and ends of the game of Sarkar et al.: who is ejected, and which side has won then.

Needs a checkout of https://github.com/SocialDeductionLLM/SocialDeductionLLM (commit 0cac8fa) and numpy; recorded with
Python 3.11. The arrays are described in tests/data/README.md.

    python record_social_deduction.py --clone FOLDER --out social_deduction.npz
"""

import argparse
import random
import sys
from pathlib import Path
from typing import Any

try:
    import numpy as np
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

CASES, PLAYERS, TASKS, SKIP = 400, 7, 5, -1
SIDES = {0: 1, 1: 0, 2: 0}  # of the original's kinds of ends: more impostors, no impostors, no tasks


def drawn_case() -> dict[str, Any]:
    """Who lives, for whom they vote, and how many tasks are left; not yet won by a side."""
    impostors = random.choice((1, 2))
    while True:
        living = [random.random() < 0.7 for _ in range(PLAYERS)]
        evil, good = sum(living[:impostors]), sum(living[impostors:])
        if 0 < evil < good:
            break
    alive = [k for k in range(PLAYERS) if living[k]]
    favorite = random.choice(alive)
    votes = [SKIP] * PLAYERS
    for k in alive:
        others = [j for j in alive if j != k]
        votes[k] = favorite if favorite != k and random.random() < 0.5 else random.choice([SKIP, *others])
    busy = random.random() < 0.7
    tasks = [random.randrange(TASKS + 1) if busy and k >= impostors else 0 for k in range(PLAYERS)]
    if not any(tasks[k] for k in alive):  # the crew would have won before the vote
        tasks[random.choice([k for k in alive if k >= impostors])] = 1
    return {"impostors": impostors, "living": living, "votes": votes, "tasks": tasks}


def outcome(game: Any, case: dict[str, Any]) -> tuple[int, int]:
    """Who is ejected and which side has won, -1 for nobody."""
    for state, living, left in zip(game.player_state, case["living"], case["tasks"], strict=True):
        state.alive = living
        for i, task in enumerate(state.task_list):
            task.done = i >= left
    game.votes = {k: vote for k, vote in enumerate(case["votes"]) if case["living"][k]}
    game.process_votes()
    out = [k for k, state in enumerate(game.player_state) if case["living"][k] and not state.alive]
    return out[0] if out else SKIP, SIDES[game.win_type] if game.done else SKIP


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clone", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("social_deduction.npz"))
    options = parser.parse_args()
    if not (options.clone / "src" / "string_env.py").exists():
        raise SystemExit(
            f"{options.clone} has no src/string_env.py; the docstring of this script says what it has to be"
        )
    sys.path.append(str(options.clone / "src"))
    from string_env import StringAmogus

    random.seed(0)
    cases, outcomes = [], []
    for _ in range(CASES):
        case = drawn_case()
        game = StringAmogus(num_players=PLAYERS, num_imposters=case["impostors"], num_tasks=TASKS, num_observers=0)
        cases.append(case)
        outcomes.append(outcome(game, case))
    arrays = {name: np.array([case[name] for case in cases], np.int8) for name in cases[0]}
    ejected, side = np.array(outcomes, np.int8).T
    np.savez_compressed(options.out, ejected=ejected, side=side, **arrays)


if __name__ == "__main__":
    main()
