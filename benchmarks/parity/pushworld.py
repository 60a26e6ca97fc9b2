"""Play the published puzzles and plans of PushWorld in PushWorld-v0, beside the original's own rules and frames.

    python benchmarks/parity/pushworld.py /path/to/pushworld

Installed as: git clone https://github.com/google-deepmind/pushworld (read at 103043f7). It says how many of the plans
end in the goal on their last action and not before, and how many transitions and frames, along the plans and along
random actions, are those of the original.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

import rlenvs

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--random", type=int, default=100, help="random actions per puzzle")
    options = parser.parse_args()
    sys.path.insert(0, str(options.checkout / "python3/src"))
    from pushworld.puzzle import PushWorldPuzzle

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
