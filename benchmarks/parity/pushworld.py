"""Play the published puzzles and plans of PushWorld in PushWorld-v0, beside the original's own rules and frames.

    python benchmarks/parity/pushworld.py /path/to/pushworld
    python benchmarks/parity/pushworld.py /path/to/pushworld --shortest tests/data/pushworld_shortest.csv

Installed as: git clone https://github.com/google-deepmind/pushworld (read at 103043f7). It says how many of the plans
end in the goal on their last action and not before, and how many transitions and frames, along the plans and along
random actions, are those of the original.

The plans that are published with the puzzles are those of people, and need not be shortest. `--shortest` writes for
each puzzle how long the published plan is, and how long a shortest one, where our search ends within `--most` states;
where a search breadth first by the original's own rules ends within `--original` states, lengths are compared.
"""

import argparse
import csv
import sys
from pathlib import Path

import numpy as np

import rlenvs
from rlenvs.single.puzzles.pushworld.solver import solve

LETTERS = "LRUD"


def plans(checkout: Path) -> list[tuple[Path, list[int]]]:
    """The published puzzles with the actions of their plans."""
    found = []
    for file in sorted((checkout / "benchmark/solutions").rglob("*.yaml")):
        fields = dict(line.split(": ", 1) for line in file.read_text().splitlines())
        puzzle = checkout / "benchmark/puzzles" / file.parent.name / f"{file.stem}.pwp"
        found.append((puzzle, [LETTERS.index(letter) for letter in fields["plan"].strip()]))
    return found


def replay(puzzle: Path, plan: list[int]) -> tuple[bool, float]:
    """Whether a plan ends in the goal on its last action and not before, and its return."""
    env = rlenvs.make("PushWorld-v0", puzzles=str(puzzle))
    env.reset(seed=0)
    total, ends = 0.0, []
    for action in plan:
        _, reward, terminated, _, info = env.step(action)
        total += reward
        ends.append(terminated)
        if terminated:
            break
    return len(ends) == len(plan) and sum(ends) == 1 and ends[-1] and info["is_success"], total


def compare(original: object, puzzle: Path, actions: list[int], frames_every: int) -> tuple[int, int, int]:
    """Transitions, frames, and how many of either differ, of some actions played by both."""
    theirs = original(str(puzzle))
    env = rlenvs.make("PushWorld-v0", puzzles=str(puzzle), observation="pixels", horizon=len(actions) + 1)
    frame, _ = env.reset(seed=0)
    state, wrong, frames = theirs.initial_state, 0, 0
    for t, action in enumerate(actions):
        if t % frames_every == 0:
            frames += 1
            wrong += not np.array_equal(frame, theirs.render(state))
        after = theirs.get_next_state(state, action)
        change = theirs.count_achieved_goals(after) - theirs.count_achieved_goals(state)
        ends = theirs.is_goal_state(after)
        frame, reward, terminated, _, _ = env.step(action)
        places = env.unwrapped.batch.records(0)[1]["at"][:, ::-1].tolist()
        expected = 10.0 if ends else change - 0.01
        wrong += places != [list(map(int, place)) for place in after]
        wrong += terminated != ends or abs(reward - expected) > 1e-6
        state = after
        if ends:
            return t + 1, frames, wrong
    return len(actions), frames, wrong


def shortest_plan(puzzle: Path, most: int) -> str | None:
    """A shortest plan of a puzzle; None where the search gives up."""
    env = rlenvs.make("PushWorld-v0", puzzles=str(puzzle))
    env.reset(seed=0)
    p, s = env.unwrapped.batch.records(0)
    try:
        return solve(p, 0, s.at, most)
    except RuntimeError:
        return None


def shortest_by_original(original: object, puzzle: Path, most: int) -> int | None:
    """The length of a shortest plan by the original's rules; None where the search gives up."""
    theirs = original(str(puzzle))
    layer, seen, length = [theirs.initial_state], {theirs.initial_state}, 0
    while layer and len(seen) < most:
        length, following = length + 1, []
        for state in layer:
            for action in range(4):
                after = theirs.get_next_state(state, action)
                if theirs.is_goal_state(after):
                    return length
                if after not in seen:
                    seen.add(after)
                    following.append(after)
        layer = following
    return None


def write_shortest(original: object, checkout: Path, file: Path, most: int, most_of_original: int) -> None:
    """Lengths of published and of shortest plans, a line for each puzzle whose search ends."""
    published = plans(checkout)
    found, compared, wrong = [], 0, 0
    for puzzle, plan in published:
        shortest = shortest_plan(puzzle, most)
        if shortest is None:
            continue
        found.append((puzzle.parent.name, puzzle.stem, len(plan), len(shortest)))
        solved, _ = replay(puzzle, [LETTERS.index(letter) for letter in shortest])
        theirs = shortest_by_original(original, puzzle, most_of_original)
        compared += theirs is not None
        bad = not solved or len(shortest) > len(plan) or theirs not in (None, len(shortest))
        wrong += bad
        print(*found[-1], "of the original's rules:", theirs, "WRONG" if bad else "", flush=True)
    with file.open("w", newline="", encoding="utf-8") as lines:
        csv.writer(lines, lineterminator="\n").writerows([("level", "puzzle", "published", "shortest"), *found])
    print(
        f"shortest plans of {len(found)} of {len(published)} puzzles, {compared} searched by the original's rules too"
    )
    print(f"{wrong} are wrong")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--random", type=int, default=100, help="random actions per puzzle")
    parser.add_argument("--shortest", type=Path, metavar="FILE", help="write lengths of shortest plans")
    parser.add_argument("--most", type=int, default=2_000_000, help="states that our search looks at")
    parser.add_argument(
        "--original", type=int, default=20_000, help="states that a search by the original's rules looks at"
    )
    options = parser.parse_args()
    sys.path.insert(0, str(options.checkout / "python3/src"))
    from pushworld.puzzle import PushWorldPuzzle

    if options.shortest:
        write_shortest(PushWorldPuzzle, options.checkout, options.shortest, options.most, options.original)
        return
    rng = np.random.default_rng(0)
    replayed = transitions = frames = wrong = 0
    published = plans(options.checkout)
    for puzzle, plan in published:
        solved, _ = replay(puzzle, plan)
        replayed += solved
        if not solved:
            print(f"the plan of {puzzle.stem} does not replay")
        for actions in (plan, rng.integers(4, size=options.random).tolist()):
            counts = compare(PushWorldPuzzle, puzzle, actions, 10)
            transitions, frames, wrong = transitions + counts[0], frames + counts[1], wrong + counts[2]
    print(f"plans that end in the goal on their last action and not before: {replayed}/{len(published)}")
    print(f"{transitions} transitions and {frames} frames beside the original's: {wrong} differ")


if __name__ == "__main__":
    main()
