"""The rule on actions: they change something, and masks leave a choice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rlenvs.core.batch import KernelBatch
from rlenvs.core.check.playing import active_in, alike_actions
from rlenvs.core.check.subject import Subject
from rlenvs.core.check.verdicts import Doubt, Failed

MOST = 48  # futures of a moment that are compared
CHOICES = 6  # of an agent that are compared
STEPS = 3  # that an action is held: some take effect later
NUMBERS = (-1.0, 0.25, 1.0)  # of a continuous action: of some only the size counts
FEW = 32  # choices, each of which a mask should allow at some time


def actions_matter(t: Subject) -> str:
    """24. Actions change what comes: every number of a continuous action, two of the choices that a mask allows.

    Looked at are the futures of some moments, equal but for the action of one agent. To mend: read `a` in `step`; allow
    in the mask what the rules of the world allow.
    """
    forbidden = _check_masks(t)
    wanted: set[tuple[int, int]] | None = None
    moments = 0
    for _, batch in t.states(t.scale(8, 4), every=t.scale(20, 6)):
        if wanted is None:
            numbers = range(batch.setup.action_size) if batch.setup.continuous else range(1)
            wanted = {(k, j) for k in range(batch.agents) for j in numbers if j < batch.setup.roles[k].action}
        moments += 1
        wanted -= _effects(t, batch, sorted(wanted))
        if not wanted:
            break
    if wanted:
        setup = t.batch(1).setup
        k, j = min(wanted)
        if setup.continuous:
            raise Failed(f"number {j} of the action of {setup.roles[k].name} changes nothing in {moments} moments")
        raise Failed(f"no two choices that are allowed to {setup.roles[k].name} differ in effect in {moments} moments")
    found = f"the actions of all agents have an effect, found in {moments} moments"
    return Doubt(forbidden) if forbidden else found


def _check_masks(t: Subject) -> str:
    """Failed when masks never leave a choice; what to say of choices that are never allowed."""
    setup = t.rollout("random")[0].setup
    if setup.continuous:
        return ""
    rollouts = [t.rollout(policy)[1] for policy in t.policies]
    allowed = [(r.masks[:-1] > 0) & r.active[..., None] for r in rollouts]
    count = sum(r.active.sum() for r in rollouts)
    for k, role in enumerate(setup.roles):
        free = sum(int((masks[:, :, k].sum(axis=-1) > 1).sum()) for masks in allowed)
        if role.action > 1 and not free:
            raise Failed(f"the action mask of {role.name} never allows more than one choice, in {count} steps")
    ever = np.logical_or.reduce([masks.any(axis=(0, 1)) for masks in allowed])
    never = [(k, j) for k, role in enumerate(setup.roles) for j in range(role.action) if not ever[k, j]]
    if not never or max(role.action for role in setup.roles) > FEW:
        return ""
    k, j = never[0]
    label = f" ({setup.action.labels[j]})" if setup.action.labels else ""
    return f"the mask never allows choice {j}{label} to {setup.roles[k].name} in {count} steps"


class _Way(NamedTuple):
    """A future: what one agent does otherwise than in the others."""

    agent: int
    number: int  # of the action, where it is continuous
    value: float  # the number, or the choice


def _effects(t: Subject, batch: KernelBatch, wanted: list[tuple[int, int]]) -> set[tuple[int, int]]:
    """Which of some numbers of actions (agent, number) change the future of the first world."""
    active = active_in(batch)[0]
    ways: list[_Way] = []
    for k, j in wanted:
        if not active[k] or len(ways) >= MOST:
            continue
        if batch.setup.continuous:
            ways += [_Way(k, j, value) for value in NUMBERS]
        else:
            allowed = np.flatnonzero(batch.masks[0, k])
            chosen = np.linspace(0, len(allowed) - 1, min(CHOICES, len(allowed))).astype(int)
            ways += [_Way(k, 0, float(allowed[c])) for c in chosen]
    if not ways:
        return set()
    futures = _futures(t, batch, ways)
    kinds: dict[tuple[int, int], set[bytes]] = {}
    for way, future in zip(ways, futures, strict=True):
        kinds.setdefault((way.agent, way.number), set()).add(future)
    return {place for place, different in kinds.items() if len(different) > 1}


def _futures(t: Subject, batch: KernelBatch, ways: list[_Way]) -> list[bytes]:
    """What becomes of the first world when one agent acts in each of some ways, and all else is equally random."""
    fork = t.batch(len(ways))
    fork.set_state(batch.get_state(0), slice(None))
    chooser = np.random.default_rng(0)
    seen: list[list[bytes]] = [[] for _ in ways]
    for _ in range(STEPS):
        fork.load_actions(alike_actions(fork, chooser))
        for row, way in enumerate(ways):
            fork.actions[row, way.agent, way.number] = way.value
        fork.step_loaded()
        for row, found in enumerate(seen):
            found += [fork._states[name][row].tobytes() for name in t.world.state]
            found += [array[row].tobytes() for array in (fork.observations, fork.terms, fork.terminated)]
        if fork.over.any():
            break
    return [b"".join(found) for found in seen]
