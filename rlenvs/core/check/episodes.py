"""Rules on how episodes start and end."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from rlenvs.core.check.playing import Player, difference, roll
from rlenvs.core.check.subject import Subject
from rlenvs.core.check.verdicts import Failed, NotApplicable, compare, row_of


def starts_differ(t: Subject) -> str:
    """6. Episodes start differently, for another seed and without one, unless the world declares same_start=True.

    To mend: draw something in `reset`, or declare same_start.
    """
    if t.world.same_start:
        raise NotApplicable("the world declares same_start")
    batch = t.batch(8)
    starts = []
    for seeds in (range(8), [None] * 8):
        batch.seed(seeds)
        batch.reset()
        starts.append([b"".join(batch._states[name][i].tobytes() for name in t.world.state) for i in range(8)])
    if len(set(starts[0])) == 1:
        raise Failed("eight seeds give the same state after reset")
    if starts[0] == starts[1]:
        raise Failed("a second reset without a seed gives the same states as the first")
    return f"{len({*starts[0], *starts[1]})} different states in 16 resets"


def time_limit(t: Subject) -> str:
    """9. The horizon truncates, never terminates; the final observation is the true last one in every autoreset mode.

    To mend: leave the time limit to the core, and let `step` say when the task itself has ended.
    """
    limit, seeds = t.short, range(t.scale(8, 4))
    reached = 0
    last = []
    for seed in seeds:
        if t.dress:  # layers may end episodes early, or make several steps of one
            last.append(_episode(Player(t.env(horizon=limit), seed), limit)[-1][0])
            continue
        long = _episode(Player(t.env(horizon=2 * limit), seed), limit)
        short = _episode(Player(t.env(horizon=limit), seed), limit)
        compare(f"episodes with horizon {limit} and {2 * limit}", [o[:3] for o in short], [o[:3] for o in long])
        for step, (cut, free) in enumerate(zip(short[1:], long[1:], strict=True), start=1):
            if cut[3] != (step == limit) or free[3]:
                raise Failed(f"at step {step} truncated is {cut[3]} with horizon {limit}, {free[3]} with {2 * limit}")
        reached += len(short) > limit
        last.append(short[-1][0])
    trajectory = roll(t.batch(t.scale(8, 4), horizon=limit), limit)
    if not (trajectory.terminated | trajectory.truncated).any(axis=0).all():
        raise Failed(f"an agent has not ended after {limit} steps with horizon {limit}")
    for mode in AutoresetMode:
        for row, found in _first_finals(t, mode, len(seeds)).items():
            wrong = difference(found, last[row])
            if wrong:
                raise Failed(f"{mode.name}: the final observation of world {row} is not the last one: {wrong}")
    if t.dress:
        return f"the last observations of {len(seeds)} episodes in three autoreset modes"
    return f"{reached} of {len(seeds)} short episodes reached the limit of {limit} steps"


def _episode(player: Player, most: int) -> list[Any]:
    """The record of one episode, or of its first steps."""
    while not player.ended and len(player.record) <= most:
        player.step()
    return player.record


def _first_finals(t: Subject, mode: AutoresetMode, count: int) -> dict[int, Any]:
    """The last observation of the first episode of every row of a vector form."""
    player = Player(t.vector(count, mode, horizon=t.short))
    finals: dict[int, Any] = {}
    while len(finals) < count:
        player.step()
        if len(player.last) == 2:
            continue
        for row in np.flatnonzero(player.ended):
            same_step = mode is AutoresetMode.SAME_STEP
            found = player.last[-1]["final_obs"][row] if same_step else row_of(player.last[0], int(row))
            finals.setdefault(int(row), found)
    return finals
