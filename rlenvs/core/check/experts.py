"""The rule on experts: one that sees more than the observation says so."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.check.playing import active_in
from rlenvs.core.check.subject import Subject
from rlenvs.core.check.verdicts import Doubt, Failed, NotApplicable

TRIALS, MORE_TRIALS = 80, 320  # swaps of a field that are tried
ROWS = 6  # of an array that are swapped one by one
MATTERS = 1e-3  # difference of an action that counts
MOST_STATES, MOST_NUMBERS = 900, 32  # of a regression
TOLD, UNTOLD = 0.8, 0.5  # part of the variance of what can, and of what cannot be told from an observation


def experts_see_what_they_declare(t: Subject) -> str:
    """25. An expert acts on what agents observe, or the world declares expert_sees="state".

    Fields of the state that the expert reads get the values that they have in other states of the world. Where this
    leaves the observation of an agent as it is, to the bit, it must leave its expert's action too; unless the value can
    be told from the observation in the states that occur, as an attitude can from its angles. What can be told is an
    estimate: in between there is a warning. Parameters do not count.
    To mend: let the expert use what the observation holds, or declare expert_sees="state": it has more than a learner.
    """
    if not t.world.has_expert:
        raise NotApplicable("the world has no expert")
    if t.world.expert_sees == "state":
        raise NotApplicable('the world declares expert_sees="state"')
    t = t.plain
    pool = [batch.get_state(0) for _, batch in t.states(t.scale(6, 4), every=t.scale(16, 5), worlds=1)]
    batch = replace(t, backend="python").batch(1)
    states = []
    for snapshot in pool:
        batch.set_state(snapshot)
        if not batch.over[0]:
            states.append(batch.states.copy())
    tried = 0
    for who in _advisers(t):
        with np.errstate(all="ignore"):  # unsigned overflow is what a generator requires
            fields = _fields_read(t, batch, who, states)
        count, found, told = _try_swaps(t, batch, who, states, fields)
        if found and told < UNTOLD:
            raise Failed(found)
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
        found = getattr(self._record, name)
        if isinstance(found, np.ndarray):  # the record's own memory, which is found at once from now on
            object.__setattr__(self, name, found)
        return found

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
        batch.states[:] = state
        p, s = batch.records(0)
        reader = _Reader(s)
        a = np.zeros_like(batch.expert_buffer(0))
        if who.startswith("player "):
            for k in np.flatnonzero(state["alive"][0]):
                kernel(p, reader, int(k), a, s["players_rng"])
        else:
            kernel(p, reader, a)
        names |= reader.names
    known = ("elapsed", *t.world.state)
    return [name for name in known if name in names]


def _try_swaps(
    t: Subject, batch: KernelBatch, who: str, states: list[np.ndarray], fields: list[str]
) -> tuple[int, str, float]:
    """How many were tried; a complaint when a value that an agent does not observe changes what its expert does; and
    the part of the value's variance that can be told from what the agent observes."""
    chooser = np.random.default_rng(0)
    tried = 0
    evidence = _Evidence(t, who, states)
    known: dict[tuple[Any, ...], float] = {}
    doubt, most = "", 1.0
    # each state is looked at once, and an expert, which may plan for long, is asked where an agent sees no difference
    shown = functools.cache(lambda i: _observed(batch, states[i]))
    asked = functools.cache(lambda i: _asked(batch, who, states[i]))
    for field in fields:
        turns = _are_turns([state[field] for state in states])
        for _ in range((MORE_TRIALS if t.long else TRIALS) // len(fields)):
            start, end = chooser.integers(len(states), size=2).tolist()
            base, donor = states[start], states[end]
            other = base.copy()
            place = _place(chooser, base[field], batch.agents, int(turns))
            other[field][place] = donor[field][place]
            if other[field].tobytes() == base[field].tobytes():
                continue
            try:
                same = (_observed(batch, other) == shown(start)).all(axis=1) & base["alive"][0, : batch.agents]
                if not same.any():
                    continue
                actions = asked(start), _asked(batch, who, other)
                moved = np.abs(actions[1] - actions[0]).max(axis=-1) > MATTERS
            except Exception:  # a state that cannot be, put together from two that can
                continue
            tried += 1
            for k in np.flatnonzero(moved & same).tolist():
                case = (k, field, *place)
                if case not in known:
                    known[case] = evidence.told(k, field, place)
                if known[case] > TOLD or known[case] > most:
                    continue
                most = known[case]
                values = f"{base[field][place]!s:.60} and {donor[field][place]!s:.60}"
                doubt = _complaint(batch, who, field, place, values, k, actions)
                if most < UNTOLD:
                    return tried, doubt, most
    return tried, doubt, most


def _are_turns(values: list[np.ndarray]) -> bool:
    """Whether these are unit quaternions: only a whole one means something, and q means the same as -q."""
    found = np.array(values)
    if found.ndim < 2 or found.shape[-1] != 4 or found.dtype.kind != "f":
        return False
    return bool(np.allclose((found**2).sum(axis=-1), 1.0, atol=1e-6))


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


class _Evidence:
    """What a value of the state may be told from: states that occur, and what agents observe there. Played when it is
    first asked for."""

    def __init__(self, t: Subject, who: str, states: list[np.ndarray]) -> None:
        self._t, self._states = t, states
        self._expert = who.removeprefix("player ") if who.startswith("player ") else "expert"
        self._turns = {name for name in t.world.state if _are_turns([state[name] for state in states])}
        self._moments: dict[tuple[str, ...], list[tuple[np.ndarray, np.ndarray, np.ndarray]]] = {}
        self._shown: dict[int, list[str]] = {}

    def told(self, agent: int, field: str, place: tuple[int, ...]) -> float:
        """The part of the variance of a value of the state that can be told from what an agent observes, or from
        another field that shows in it (angles from an attitude), in the states that occur under its expert; under it
        and random actions, where the value is always the same under the expert alone."""
        for policies in ((self._expert,), (self._expert, "random")):
            y = _numbers(self._values(policies, agent, field, place), field in self._turns)
            chosen = np.random.default_rng(0).permutation(len(y))[:MOST_STATES]
            if len(chosen) >= 30 and y[chosen].std(axis=0).any():
                return _most_told((x[chosen] for x in self._sources(policies, agent, field)), y[chosen])
        return 0.0

    def _sources(self, policies: tuple[str, ...], agent: int, field: str) -> Iterator[np.ndarray]:
        """What an agent observes, and the other fields that show in it."""
        seen = [observed[active[:, agent], agent] for active, observed, _ in self._played(policies)]
        flat = np.concatenate(seen)
        yield flat.reshape(len(flat), int(np.prod(flat.shape[1:]))).astype(np.float64)
        if agent not in self._shown:
            self._shown[agent] = _shown(self._t, agent, list(self._t.world.state), self._states)
        for name in self._shown[agent]:
            if name != field:
                where = _row_of_agent(self._states[0][name], self._agents, agent)
                yield _numbers(self._values(policies, agent, name, where), name in self._turns)

    def _values(self, policies: tuple[str, ...], agent: int, name: str, where: tuple[int, ...]) -> np.ndarray:
        """A field of the state, or its place, wherever an agent is alive."""
        rows = (slice(None), *where[1:])
        return np.concatenate([states[name][active[:, agent]][rows] for active, _, states in self._played(policies)])

    def _played(self, policies: tuple[str, ...]) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Moments under some policies: who is alive (worlds, agents), observations and states."""
        if policies not in self._moments:
            t = self._t
            batches = t.states(40, every=t.scale(6, 2), worlds=t.scale(32, 8), policies=policies)
            self._moments[policies] = [(active_in(b), b.observations.copy(), b.states.copy()) for _, b in batches]
        return self._moments[policies]

    @property
    def _agents(self) -> int:
        return self._played((self._expert,))[0][0].shape[1]


def _most_told(sources: Iterable[np.ndarray], y: np.ndarray) -> float:
    """The part of the variance of y that the best of some sources explains, or the first that explains enough."""
    most = -np.inf
    for x in sources:
        most = max(most, _fit(x, y))
        if most > TOLD:  # a fit takes a tenth of a second, and better than enough decides nothing more
            break
    return most


def _shown(t: Subject, agent: int, names: list[str], states: list[np.ndarray]) -> list[str]:
    """Those fields of the state of which an agent's own row, or the whole, shows in its observation."""
    batch = replace(t, backend="python").batch(1)
    found = []
    for name in names:
        where = _row_of_agent(states[0][name], batch.agents, agent)
        for base, donor in itertools.pairwise(states):
            other = base.copy()
            other[name][where] = donor[name][where]
            try:
                if (_observed(batch, base)[agent] != _observed(batch, other)[agent]).any():
                    found.append(name)
                    break
            except Exception:  # a state that cannot be
                continue
    return found


def _row_of_agent(values: np.ndarray, agents: int, agent: int) -> tuple[int, ...]:
    return (0, agent) if agents > 1 and values.shape[1:2] == (agents,) else (0,)


def _numbers(values: np.ndarray, turns: bool) -> np.ndarray:
    """Values (n, ...) as numbers (n, m) for a regression: of quaternions what is the same for q and -q, of choices
    which of them it is."""
    if turns:
        values = values[..., :, None] * values[..., None, :]
    values = values.reshape(len(values), int(np.prod(values.shape[1:])))[:, :MOST_NUMBERS]
    if values.dtype.kind in "iub" and values.shape[1] == 1:
        kinds = np.unique(values)
        if len(kinds) <= MOST_NUMBERS:
            values = values == kinds
    return values.astype(np.float64)


def _fit(x: np.ndarray, y: np.ndarray) -> float:
    """The part of the variance of y (n, outputs) that a regression on x (n, inputs) explains in a third of the rows
    that it was not fitted to, all outputs together: by the best of three kernels."""
    x = x[:, x.std(axis=0) > 0.0]
    if not x.size:
        return 0.0
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


def _place(chooser: np.random.Generator, values: np.ndarray, agents: int, inner: int) -> tuple[int, ...]:
    """The whole of a field, or one of its rows or elements, but for its `inner` last axes, which stay together; of a
    field with a row for each of several agents, never the whole: an agent can often tell its own row from what it
    observes, and not those of others."""
    shape = values.shape[1:]
    least = int(agents > 1 and shape[:1] == (agents,))
    depth = int(chooser.integers(least, max(least, len(shape) - inner) + 1))
    return (0, *(int(chooser.integers(min(n, ROWS))) for n in shape[:depth]))


def _asked(batch: KernelBatch, who: str, state: np.ndarray) -> np.ndarray:
    """The actions (A, numbers) of an expert in a state; of a player for one agent after the other, each with the
    player's generator as it is in the state."""
    batch.actions[:] = 0
    if not who.startswith("player "):
        batch.states[:] = state
        return batch.expert_actions()[0].astype(np.float64)
    for k in np.flatnonzero(state["alive"][0, : batch.agents]):
        batch.states[:] = state
        slots: list[str | None] = [None] * batch.agents
        slots[int(k)] = who.removeprefix("player ")
        batch.player_actions(slots)
    return batch.actions[0].astype(np.float64)


def _observed(batch: KernelBatch, state: np.ndarray) -> np.ndarray:
    """What the agents observe in a state, (A, numbers)."""
    batch.states[:] = state
    batch.recompute_observations()
    shown = [batch.observations[0].reshape(batch.agents, -1), batch.masks[0].reshape(batch.agents, -1)]
    shown += [images[0].reshape(batch.agents, -1) for images in batch.images.values()]
    return np.concatenate(shown, axis=1, dtype=np.float64)
