"""Rules on what a world remembers: all of it is in the snapshot, and nothing outlives an episode."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.batch.snapshots import Snapshot
from rlenvs.core.check.kernels import kept_fields
from rlenvs.core.check.playing import Chooser, Player, difference, roll, still_actions
from rlenvs.core.check.subject import Subject
from rlenvs.core.check.verdicts import Failed, NotApplicable, compare
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.values import engine_of

STEP = ("observations", "masks", "rewards", "costs", "terminated", "truncated", "success", "terms")


def snapshots_restore(t: Subject) -> str:
    """21. A snapshot, taken in the midst of an episode, gives the same future wherever it is put: back into the same
    environment, into one that was never reset, into a row of one with other parameters that is in the midst of its own.

    To mend: keep what the future depends on in the state, nothing in modules, closures or the arrays that kernels fill
    (an observation or a mask is written as a whole, or declared `incremental`).
    """
    if t.world.engines and t.choices.get("physics", "kernel") != "kernel":
        raise NotApplicable("an engine beside the kernels keeps contacts of its own")
    moments = 0 if t.rewrap else sum(_check_moments(t, policy) for policy in t.policies)
    for name, make in t.forms():
        _check_form(name, make(horizon=t.short), make(horizon=t.short), t.short)
    return f"{moments} moments put into 3 batches, and {len(t.forms())} forms"


def _check_moments(t: Subject, policy: str) -> int:
    """Failed when a snapshot taken under this policy does not restore; how many were taken."""
    source = t.batch(2)
    source.seed(range(2))
    source.reset()
    chooser = Chooser(source, policy)
    pauses = (t.short // 2, min(t.horizon, 40)) if t.backend == "numba" else (t.short // 2,)
    for pause in pauses:
        for step in range(pause):
            chooser.load(step)
            source.step_inplace()
        snapshot, seen = source.get_state(0), _seen(source, 0)
        when = f"a snapshot after {source.states['elapsed'][0]} steps of {policy}, put "
        actions = []
        future = []
        for step in range(t.short):
            chooser.load(step)
            actions.append(source.actions[0].copy())
            source.step_inplace()
            future.append(_outcome(source, 0))
        for where, batch, row in _places(t, source):
            _restore(batch, row, snapshot, when + where)
            wrong = difference(seen, _seen(batch, row))
            if wrong:
                raise Failed(f"{when}{where}, shows something else: {wrong}")
            for step, (action, wanted) in enumerate(zip(actions, future, strict=True)):
                batch.load_actions(still_actions(batch))
                batch.actions[row] = action
                batch.step_inplace()
                wrong = difference(wanted, _outcome(batch, row))
                if wrong:
                    raise Failed(f"{when}{where}, has another future at step {step}: {wrong}")
    return len(pauses)


def _places(t: Subject, source: KernelBatch) -> list[tuple[str, KernelBatch, int]]:
    """Where a snapshot is put: what to call the place, the batch and its row."""
    used = t.batch(3)
    used.seed(range(50, 53))
    used.reset()
    _change_params(used, t)
    roll(used, 5, seed=50)
    return [("back", source, 0), ("into a new batch", t.batch(1), 0), ("into a batch of other parameters", used, 1)]


def _change_params(batch: KernelBatch, t: Subject) -> None:
    """Other parameters in all worlds of a batch: half way to the end of their ranges, all of them or those that can."""
    ends = {name: p.high if p.high != p.default else p.low for name, p in t.world.params.items()}
    other = {name: 0.5 * (t.world.params[name].default + end) for name, end in ends.items()}
    try:
        batch.set_params(other)
    except ParameterError:  # values may exclude each other; an engine may refuse to change a body's make-up
        for name, value in other.items():
            with contextlib.suppress(ParameterError):
                batch.set_params({name: value})


def _restore(batch: KernelBatch, row: int, snapshot: Snapshot, what: str) -> None:
    """Put a snapshot into a row; Failed when another row changes."""
    rest = np.arange(batch.num_envs) != row
    before = batch.states[rest].tobytes(), batch.observations[rest].copy()
    batch.set_state(snapshot, row)
    if before[0] != batch.states[rest].tobytes() or difference(before[1], batch.observations[rest]):
        raise Failed(f"{what}, changed other worlds of the batch")


def _seen(batch: KernelBatch, row: int) -> dict[str, np.ndarray]:
    """What a world shows of itself."""
    state = batch.states[row]
    names = ("rng", "elapsed", "over", "alive", *kept_fields(batch.world))
    fields = {f"s.{name}": state[name].copy() for name in names}
    observed = {"observation": batch.observations[row].copy(), "mask": batch.masks[row].copy()}
    return {**observed, "central state": batch.central()[row], **fields}


def _outcome(batch: KernelBatch, row: int) -> dict[str, np.ndarray]:
    """What came of a step of a world."""
    return {**_seen(batch, row), **{name: getattr(batch, name)[row].copy() for name in STEP}}


def _check_form(name: str, env: Any, other: Any, steps: int) -> None:
    """Failed when an API form does not restore its snapshots, in itself and in another one of its kind."""
    player = Player(env, seed=5)
    player.play(steps // 2)
    snapshot, resumed = env.get_state(), player.going_on_in(env)
    future = player.play(steps)[-steps:]
    Player(other, seed=90).play(3)
    for where, place in (("itself", env), ("another one", other)):
        shown = place.set_state(snapshot)
        before = resumed.last[0]
        if isinstance(before, dict) and resumed.is_parallel:
            before = {agent: before[agent] for agent in shown}
        wrong = difference(before, shown)
        if wrong:
            raise Failed(f"a snapshot of {name}, put into {where}, shows something else: {wrong}")
        twin = resumed.going_on_in(place)
        compare(f"the futures of {name} and of its snapshot in {where}", future, twin.play(steps)[-steps:])


def past_is_forgotten(t: Subject) -> str:
    """22. An environment that has played many episodes, under other parameters too, is as good as new: the same seed
    gives the same persistent fields, the same states and the same episodes as in a fresh one.

    To mend: count nothing in `persistent`, in modules, closures or an engine: what is persistent follows from the
    parameters (and from what `reset` draws), and is computed again when they have changed.
    """
    worn, fresh = t.batch(t.scale(4, 2)), t.batch(t.scale(4, 2))
    episodes = t.scale(100, 50) * (20 if t.long else 1)
    worn.seed(range(90, 90 + worn.num_envs))
    if not engine_of(t.world, t.choices):  # an engine has no bodies before the first reset
        _change_params(worn, t)
    chooser = Chooser(worn, "random")
    for episode in range(episodes):
        if episode == 3:
            worn.set_params({name: fresh.get_params()[name] for name in t.world.params})
        worn.reset()
        if episode == 0:
            _change_params(worn, t)
            worn.reset()
        for step in range(2):
            chooser.load(step)
            worn.step_inplace()
    steps = min(2 * t.short, t.horizon)
    for policy in t.policies:
        old, new = roll(worn, steps, policy, seed=3), roll(fresh, steps, policy, seed=3)
        for name in old._fields:
            wrong = difference(getattr(old, name), getattr(new, name))
            if wrong:
                raise Failed(f"after {episodes} episodes, {name} differ from those of a new environment: {wrong}")
        for name in kept_fields(t.world):
            wrong = difference(worn.states[name], fresh.states[name])
            if wrong:
                raise Failed(f"after {episodes} episodes, s.{name} differs from that of a new environment: {wrong}")
    return f"{episodes} episodes, then {steps} steps by {' and '.join(t.policies)}"
