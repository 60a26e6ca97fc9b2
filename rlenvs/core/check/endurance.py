"""The rule of the long mode: what happens once in a hundred thousand steps."""

from __future__ import annotations

import numpy as np

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.check.playing import Chooser, active_in
from rlenvs.core.check.subject import Subject
from rlenvs.core.check.values import block_names, out_of_bounds, term_bounds
from rlenvs.core.check.verdicts import Failed, NotApplicable

MOST_WORLDS = 2048
MOST_BYTES = 100_000_000  # of states and observations


def nothing_rare_breaks(t: Subject) -> str:
    """26. With long=True: in a million steps, and in every level up to its horizon, observations stay in their space,
    terms and costs in their bounds, masks allow something, and no episode is broken off.

    To mend: as for the rules 1 and 11. The message gives what is needed to see it again: the keywords, the policy, the
    number of worlds (seeded 0, 1, ...), the world and the step.
    """
    if not t.long:
        raise NotApplicable("looked at with long=True, rlenvs check ID --long")
    settings = [{}, *({"level": level} for level in t.world.levels)]
    steps = 0
    for setting in settings:
        subject = t.having(**setting)
        share = t.scale(1_000_000, 6_000) // len(t.policies) if not setting else t.scale(20_000, 200)
        for policy in t.policies:
            steps += _endure(subject, policy, share, ", ".join(f"{k}={v!r}" for k, v in setting.items()))
    return f"{steps} steps of {len(settings)} settings"


def _endure(t: Subject, policy: str, share: int, setting: str) -> int:
    """Failed when something breaks in at least so many steps of some worlds, and at least two episodes of each."""
    single = t.batch(1)
    most = max(4, min(MOST_WORLDS, MOST_BYTES // (single.nbytes + 1)))
    worlds = min(most, max(t.scale(16, 2), share // (2 * t.horizon)))
    steps = max(2 * t.horizon if t.backend == "numba" else t.horizon, share // worlds) + 1
    batch = t.batch(worlds)
    batch.seed(range(worlds))
    batch.reset()
    chooser = Chooser(batch, policy)
    watch = _Watch(t, batch, f"{setting or 'the defaults'}, played by {policy} in {worlds} worlds")
    for step in range(steps):
        chooser.load(step)
        active = active_in(batch)
        batch.step_inplace()
        watch.look(step, active)
        t.tell(f"{watch.where}, step {step} of {steps}")
    return worlds * steps


class _Watch:
    """Looks at all that a step of a batch gave."""

    def __init__(self, t: Subject, batch: KernelBatch, where: str) -> None:
        self.where = where
        self._t, self._batch = t, batch
        self._low, self._high = term_bounds(batch.world)
        space = batch.setup.state_space
        self._least, self._most = space.low, space.high

    def look(self, step: int, active: np.ndarray) -> None:
        """Failed when something is not as it should be after this step."""
        batch, t = self._batch, self._t
        seen = (batch.observations >= self._least) & (batch.observations <= self._most)
        if not seen.all():
            at = tuple(np.argwhere(~seen)[0].tolist())
            place = int(np.ravel_multi_index(at[2:], self._least.shape)) if self._least.shape else 0
            name = block_names(t.world, batch.setup)[place]
            self._fail(step, at[0], f"observation {name} of agent {at[1]} is {batch.observations[at]}")
        wrong = ~((batch.terms >= self._low) & (batch.terms <= self._high)) & active[:, None]
        if wrong.any():
            at = tuple(np.argwhere(wrong)[0].tolist())
            raise Failed(out_of_bounds(batch.world, at[1], batch.terms[at], step, at[0], self.where))
        stuck = active_in(batch) & ~batch.masks.any(axis=2)
        if stuck.any():
            at = tuple(np.argwhere(stuck)[0].tolist())
            self._fail(step, at[0], f"the action mask of agent {at[1]} allows nothing")
        broken = np.flatnonzero(batch.broken)
        if len(broken):
            self._fail(step, int(broken[0]), f"the episode was broken off: {batch.errors[broken[0]]}")
        if (batch.states["elapsed"] > batch.setup.horizon).any():
            self._fail(step, int(np.argmax(batch.states["elapsed"])), "an episode is longer than its horizon")

    def _fail(self, step: int, world: int, what: str) -> None:
        raise Failed(f"{what} at step {step} of world {world}, with {self.where}")
