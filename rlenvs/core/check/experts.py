"""The rule on experts: one that sees more than the observation says so."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from rlenvs.core.batch import KernelBatch
from rlenvs.core.check.playing import active_in
from rlenvs.core.check.subject import Subject
from rlenvs.core.check.verdicts import Doubt, NotApplicable
from rlenvs.core.driver import OBSERVE

TRIALS = 160  # swaps of a field that are tried
ROWS = 6  # of an array that are swapped one by one
MATTERS = 1e-3  # difference of an action that counts
MOST_STATES, MOST_NUMBERS = 900, 32  # of a regression
TOLD = 0.8  # part of the variance of what can be told from an observation


def experts_see_what_they_declare(t: Subject) -> str:
    """25. With long=True: an expert acts on what agents observe, or the world declares expert_sees="state".

    Fields of the state that the expert reads get the values that they have in other states of the world. Where this
    leaves the observation of an agent as it is, to the bit, it must leave its expert's action too; unless the value can
    be told from the observation in the states that occur, as an attitude can from its angles. Parameters do not count.
    What can be told is an estimate, so this is a warning.
    To mend: let the expert use what the observation holds, or declare expert_sees="state": it has more than a learner.
    """
    if not t.long:
        raise NotApplicable("looked at with long=True, rlenvs check ID --long")
    if not t.world.has_expert:
        raise NotApplicable("the world has no expert")
    if t.world.expert_sees == "state":
        raise NotApplicable('the world declares expert_sees="state"')
    pool = [batch.get_state(0) for _, batch in t.states(t.scale(6, 4), every=t.scale(16, 5), worlds=1)]
    batch = dataclasses.replace(t, backend="python").batch(1)
    states = []
    for snapshot in pool:
        batch.set_state(snapshot)
        if not batch.over[0]:
            states.append(batch._states.copy())
    tried = 0
    for who in _advisers(t):
        with np.errstate(all="ignore"):  # unsigned overflow is what a generator wants
            fields = _fields_read(t, batch, who, states)
        count, found = _try_swaps(t, batch, who, states, fields)
        if found:
            return Doubt(found)
        tried += count
    return f"{tried} states that show the same"


def _advisers(t: Subject) -> list[str]:
    """The kernels of the expert and of the players."""
    experts = [name for name in ("python_expert", "expert") if name in t.world.kernels]
    return [*experts[:1], *(f"player {name}" for name in t.world.players)]


class _Reader:
    """A record that notes which of its fields are read."""

    def __init__(self, record: Any) -> None:
        object.__setattr__(self, "_record", record)
        object.__setattr__(self, "names", set())

    def __getattr__(self, name: str) -> Any:
        self.names.add(name)
        return getattr(self._record, name)

    def __getitem__(self, name: str) -> Any:
        self.names.add(name)
        return self._record[name]

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._record, name, value)


def _fields_read(t: Subject, batch: KernelBatch, who: str, states: list[np.ndarray]) -> list[str]:
    """The fields of the state that an expert reads in some states."""
    kernel = t.world.kernels[who]
    names: set[str] = set()
    for state in states:
        batch._states[:] = state
        p, s = batch.records(0)
        reader = _Reader(s)
        a = np.zeros_like(batch.actions[0] if batch.setup.continuous else batch.actions[0, :, 0])
        if who.startswith("player "):
            for k in np.flatnonzero(state["alive"][0]):
                kernel(p, reader, int(k), a, s["players_rng"])
        else:
            kernel(p, reader, a if t.world.agents or not batch.setup.continuous else a[0])
        names |= reader.names
    known = ("elapsed", *t.world.state)
    return [name for name in known if name in names]


def _try_swaps(
    t: Subject, batch: KernelBatch, who: str, states: list[np.ndarray], fields: list[str]
) -> tuple[int, str]:
    """How many were tried, and a complaint when a value that an agent does not observe changes what its expert does."""
    chooser = np.random.default_rng(0)
    tried = 0
    told: dict[tuple[Any, ...], bool] = {}
    for field in fields:
        for _ in range(TRIALS // len(fields)):
            base, donor = (states[i] for i in chooser.integers(len(states), size=2))
            other = base.copy()
            place = _place(chooser, base[field], batch.agents)
            other[field][place] = donor[field][place]
            if other[field].tobytes() == base[field].tobytes():
                continue
            try:
                actions = _asked(batch, who, base), _asked(batch, who, other)
                moved = np.abs(actions[1] - actions[0]).max(axis=-1) > MATTERS
                if not moved.any():
                    continue
                same = (_observed(batch, base) == _observed(batch, other)).all(axis=1)
            except Exception:  # a state that cannot be, put together from two that can
                continue
            tried += 1
            hidden = np.flatnonzero(moved & same & base["alive"][0, : batch.agents])
            for k in hidden.tolist():
                case = (k, field, *place)
                if case not in told:
                    told[case] = _told_by_observation(t, who, k, field, place)
                if told[case]:
                    continue
                values = f"{base[field][place]!s:.60} and {donor[field][place]!s:.60}"
                return tried, _complaint(batch, who, field, place, values, k, actions)
    return tried, ""


def _complaint(
    batch: KernelBatch,
    who: str,
    field: str,
    place: tuple[int, ...],
    values: str,
    agent: int,
    actions: tuple[np.ndarray, np.ndarray],
) -> str:
    name = f"s.{field}{list(place[1:]) if len(place) > 1 else ''}"
    whose = f" of {batch.setup.roles[agent].name}" if batch.agents > 1 else ""
    does = " and ".join(str(action[agent].tolist()) for action in actions)
    return (
        f"two states differ in {name} alone ({values}), the observation{whose} is the same, and {who} does {does}. "
        'It sees what is not observed: say so with expert_sees="state" in world(...)'
    )


def _told_by_observation(t: Subject, who: str, agent: int, field: str, place: tuple[int, ...]) -> bool:
    """Whether values of the state can be told from what an agent observes in the states that occur under the expert: by
    a regression that is tested on other states than those it was fitted to."""
    seen, values = [], []
    policy = who.removeprefix("player ") if who.startswith("player ") else "expert"
    for _, batch in t.states(40, every=t.scale(6, 2), worlds=t.scale(32, 8), policies=(policy,)):
        active = active_in(batch)[:, agent]
        observed = batch.observations[active, agent]
        seen.append(observed.reshape(len(observed), int(np.prod(observed.shape[1:]))))
        found = batch._states[field][active][(slice(None), *place[1:])]
        values.append(found.reshape(len(found), int(np.prod(found.shape[1:])))[:, :MOST_NUMBERS])
    x, y = np.concatenate(seen).astype(np.float64), np.concatenate(values).astype(np.float64)
    chosen = np.random.default_rng(0).permutation(len(x))[:MOST_STATES]
    x, y = x[chosen], y[chosen]
    x = x[:, x.std(axis=0) > 0.0]
    if len(x) < 30 or not x.size or not y.std():
        return False
    return bool(_fit(x, y) > TOLD)


def _fit(x: np.ndarray, y: np.ndarray) -> float:
    """The part of the variance of y (n, outputs) that a regression on x (n, inputs) explains in a third of the rows
    that it was not fitted to, all outputs together: by the best of three kernels."""
    x = (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-12)
    y = y - y.mean(axis=0)
    squares = (x**2).sum(axis=1)
    distances = np.maximum(squares[:, None] + squares - 2.0 * x @ x.T, 0.0)
    linear = 1.0 + x @ x.T / max(x.shape[1], 1)
    near = np.exp(-distances / max(float(np.median(distances)), 1e-9))
    n = 2 * len(x) // 3
    best = -np.inf
    for kernel in (linear, linear + near, linear**2):
        weights = np.linalg.solve(kernel[:n, :n] + 1e-5 * n * np.eye(n), y[:n])
        missed = y[n:] - kernel[n:, :n] @ weights
        best = max(best, float(1.0 - (missed**2).mean() / max(y[n:].var(axis=0).mean(), 1e-300)))
    return best


def _place(chooser: np.random.Generator, values: np.ndarray, agents: int) -> tuple[int, ...]:
    """The whole of a field, or one of its rows or elements; of a field with a row for each of several agents, never the
    whole: an agent can often tell its own row from what it observes, and not those of others."""
    shape = values.shape[1:]
    least = int(agents > 1 and shape[:1] == (agents,))
    depth = int(chooser.integers(least, len(shape) + 1))
    return (0, *(int(chooser.integers(min(n, ROWS))) for n in shape[:depth]))


def _asked(batch: KernelBatch, who: str, state: np.ndarray) -> np.ndarray:
    """The actions (A, numbers) of an expert in a state; of a player for one agent after the other, each with the
    player's generator as it is in the state."""
    batch.actions[:] = 0
    if not who.startswith("player "):
        batch._states[:] = state
        return batch.advise()[0].astype(np.float64)
    for k in np.flatnonzero(state["alive"][0, : batch.agents]):
        batch._states[:] = state
        seats: list[str | None] = [None] * batch.agents
        seats[int(k)] = who.removeprefix("player ")
        batch.play(seats)
    return batch.actions[0].astype(np.float64)


def _observed(batch: KernelBatch, state: np.ndarray) -> np.ndarray:
    """What the agents observe in a state, (A, numbers)."""
    batch._states[:] = state
    batch._driver.run_worlds(batch._address, 0, 1, OBSERVE)
    shown = [batch.observations[0].reshape(batch.agents, -1), batch.masks[0].reshape(batch.agents, -1)]
    shown += [pictures[0].reshape(batch.agents, -1) for pictures in batch.images.values()]
    return np.concatenate(shown, axis=1, dtype=np.float64)
