from typing import Any

import gymnasium
from gymnasium import spaces

from rlenvs.classroom.exercise import Exercise, Failed
from rlenvs.classroom.hosted import HostedEnv

FAULTS = ("leaky_reset", "limit_is_end", "late_limit", "early_reward", "no_wall")
exercise = Exercise("find_the_bug", "Find the bug", minutes=1, seconds=20.0)


class Corridor(gymnasium.Env):
    """Cells in a row, with faults."""

    observation_space, action_space = spaces.Discrete(10), spaces.Discrete(2)

    def __init__(self, faults):
        self.faults, self.cell, self.steps = set(faults), 4, 0

    def reset(self, *, seed=None, options=None):
        if "leaky_reset" not in self.faults or self.cell == 9:
            self.cell = 4
        self.steps = 0
        return self.cell, {}

    def step(self, action: Any):
        before, self.steps = self.cell, self.steps + 1
        self.cell += 1 if action == 1 else -1
        if self.cell < 0:
            self.cell = 8 if "no_wall" in self.faults else 0
        reward = float(self.cell == 9 or ("early_reward" in self.faults and (before, self.cell) == (7, 8)))
        ended = self.cell == 9
        late = not ended and self.steps >= (21 if "late_limit" in self.faults else 20)
        dies = "limit_is_end" in self.faults
        return self.cell, reward, ended or (late and dies), late and not dies, {}


def right(submission, draws, faults):
    """Whether the diagnosis of this corridor is right."""
    found = submission.call("diagnose", HostedEnv(Corridor(faults), draws.world_seed(), 2000))
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise Failed("diagnose returns a list of names")
    unknown = set(found) - set(FAULTS)
    if unknown:
        raise Failed(f"there is no fault {min(unknown)[:40]!r}; there are {', '.join(FAULTS)}")
    return set(found) == set(faults)


@exercise.test("a whole corridor", 1)
def whole(submission, draws):
    if not right(submission, draws, []):
        raise Failed("a fault was found where there is none")


@exercise.test("one fault: no_wall", 1)
def wall(submission, draws):
    if not right(submission, draws, ["no_wall"]):
        raise Failed("the diagnosis is wrong")


@exercise.test("each fault by itself", 4, hidden=True)
def single(submission, draws):
    order = draws.rng.permutation(len(FAULTS) + 1)  # and none; who counts the calls learns nothing
    cases = [[fault] for fault in FAULTS] + [[]]
    return sum(right(submission, draws, cases[number]) for number in order) / len(cases)


@exercise.test("several faults at once", 4, hidden=True)
def several(submission, draws):
    sets = [draws.rng.choice(FAULTS, int(draws.rng.integers(2, 5)), replace=False).tolist() for _ in range(10)]
    return sum(right(submission, draws, faults) for faults in sets) / len(sets)
