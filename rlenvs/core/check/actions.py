"""The rule on actions: they change something, and masks leave a choice."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.check.playing import Chooser, active_in, alike_actions, difference, still_actions
from rlenvs.core.check.subject import Subject
from rlenvs.core.check.verdicts import Doubt, Failed, NotApplicable

MOST = 48  # futures of a moment that are compared, or as many as there are actions to look at
CHOICES = 6  # of an agent that are compared
STEPS = 3  # that an action is held: some take effect later
NUMBERS = (-1.0, 0.25, 1.0)  # of a continuous action, as parts of its bounds: of some only the size counts
MOMENTS = 6  # with agents that are out of the game
FEW = 32  # choices, each of which a mask should allow at some time


def actions_matter(t: Subject) -> str:
    """24. Actions change what comes: every number of a continuous action, two of the choices that a mask allows in each
    dimension. Those of agents that are out of the game change nothing for the others; nor do those of agents that wait
    for their turn, who may choose 0 alone. It is a warning where masks often forbid what has an effect of its own, and
    where a term lies in the state before it is paid, whatever is done then.

    Looked at are the futures of some moments, equal but for the action of one agent; where a number changes nothing, at
    the levels too. To mend: read `a` in `step`; allow in the mask what the rules of the world allow; skip agents that
    are not `s.alive`, whose actions mean nothing; with turns, read the action of agent `s.turn` alone.
    """
    forbidden = _check_masks(t)
    _check_dead_hands(t)
    _check_waiting_hands(t)
    wanted, moments = _without_effect(t, t.scale(8, 4), _all_numbers(t))
    for level in t.world.levels if wanted else ():
        wanted, more = _without_effect(t.having(level=level), t.scale(8, 4), wanted)
        moments += more
        if not wanted:
            break
    if wanted:
        setup = t.batch(1).setup
        k, j = min(wanted)
        if setup.continuous:
            raise Failed(f"number {j} of the action of {setup.roles[k].name} changes nothing in {moments} moments")
        which = f" in {setup.number_name(j)}" if setup.numbers > 1 else ""
        who = setup.roles[k].name
        raise Failed(f"no two choices that are allowed to {who}{which} differ in effect in {moments} moments")
    found = f"the actions of all agents have an effect, found in {moments} moments"
    doubts = [doubt for doubt in (forbidden, _lies(t), _late_terms(t)) if doubt]
    return Doubt("; ".join(doubts)) if doubts else found


def _all_numbers(t: Subject) -> set[tuple[int, int]]:
    """The numbers of actions, (agent, number), between whose values there is a choice."""
    setup = t.batch(1).setup
    found = {(k, j) for k in range(setup.agents) for j in range(setup.numbers) if j < setup.roles[k].action}
    if not setup.continuous:
        found = {place for place in found if setup.own_choices[place] > 1}
    if not found:
        raise NotApplicable("there is nothing to choose between")
    return found


def _without_effect(t: Subject, count: int, wanted: set[tuple[int, int]]) -> tuple[set[tuple[int, int]], int]:
    """Which of some numbers of actions change nothing, and in how many moments that was seen."""
    moments = 0
    every = t.scale(20, 6) - t.world.turns  # not always the same agent's turn
    for _, batch in t.states(count, every=every):
        moments += 1
        wanted = wanted - _effects(t, batch, sorted(wanted))
        if not wanted:
            break
    return wanted, moments


def _check_masks(t: Subject) -> str:
    """Failed when masks never leave a choice; what to say of choices that are never allowed."""
    setup = t.rollout("random")[0].setup
    if setup.continuous:
        return ""
    rollouts = [t.rollout(policy)[1] for policy in t.policies]
    allowed = [(r.masks[:-1] > 0) & r.active[..., None] for r in rollouts]
    count = sum(r.active.sum() for r in rollouts)
    exists = np.arange(rollouts[0].masks.shape[-1]) < np.array(setup.mask_lengths)[:, None]
    for k, j in np.argwhere(setup.own_choices > 1).tolist():
        free = sum(int((setup.parts_of_mask(masks[:, :, k])[j].sum(axis=-1) > 1).sum()) for masks in allowed)
        if not free:
            which = f" in {setup.number_name(j)}" if setup.numbers > 1 else ""
            name = setup.roles[k].name
            raise Failed(f"the action mask of {name}{which} never allows more than one choice, in {count} steps")
    if not all(masks[r.active[..., None] & exists].all() for masks, r in zip(allowed, rollouts, strict=True)):
        better = _forbidden_success(t)
        if better:
            return better
    ever = np.logical_or.reduce([masks.any(axis=(0, 1)) for masks in allowed])
    never = [(k, j) for k, length in enumerate(setup.mask_lengths) for j in range(length) if not ever[k, j]]
    if not never or max(setup.mask_lengths) > FEW:
        return ""
    k, j = never[0]
    return f"the mask never allows {setup.choice_name(j)} to {setup.roles[k].name} in {count} steps"


def _forbidden_success(t: Subject) -> str:
    """What to say where who chooses at random among all choices succeeds more often than who keeps to the mask."""
    count = t.scale(64, 48)
    shares = []
    for policy in ("random", "free"):
        batch = t.batch(count)
        batch.seed(range(count))
        batch.reset()
        chooser = Chooser(batch, policy)
        succeeded, over = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        for step in range(min(t.horizon, t.scale(400, 60))):
            chooser.load(step)
            batch.step_inplace()
            succeeded |= batch.success.any(axis=1) & ~over
            over |= batch.over
            if over.all():
                break
        shares.append(succeeded.mean())
    allowed, free = shares
    spread = np.sqrt((allowed * (1.0 - allowed) + free * (1.0 - free)) / count)
    if free - allowed <= 3.0 * spread:
        return ""
    return f"random choices succeed in {free:.0%} of {count} episodes, those that the mask allows in {allowed:.0%}"


def _lies(t: Subject) -> str:
    """What to say of a choice that the mask forbids in many states, in which it moves the world as no allowed choice
    and no other forbidden one does."""
    if t.batch(1).setup.continuous or t.world.turns:
        return ""
    forbidden: Counter[tuple[int, int, int]] = Counter()
    works: Counter[tuple[int, int, int]] = Counter()
    moments = t.scale(10, 8)
    for _, batch in t.states(moments, every=t.scale(13, 2), worlds=1, policies=("random",)):
        setup = batch.setup
        for k in np.flatnonzero(active_in(batch)[0]).tolist()[:1]:
            for j, part in enumerate(setup.parts_of_mask(batch.masks[0, k])[:2]):
                count = int(setup.own_choices[k, j])
                if count > FEW or part[:count].all() or not part.any():
                    continue
                before, after = _moved(t, batch, k, j, count)
                for c in np.flatnonzero(part[:count] == 0).tolist():
                    forbidden[k, j, c] += 1
                    works[k, j, c] += after.count(after[c]) == 1 and after[c] != before
    for (k, j, c), count in forbidden.items():
        if count >= moments // 2 and works[k, j, c] == count:
            name = t.batch(1).setup.choice_name(c)
            return f"the mask forbids {name} in {count} of {moments} states, where it does what no other choice does"
    return ""


def _moved(t: Subject, batch: KernelBatch, agent: int, number: int, count: int) -> tuple[bytes, list[bytes]]:
    """The state of the first world now, and after a step with each of some choices of an agent."""
    fork = t.batch(count)
    fork.set_state(batch.get_state(0), slice(None))
    before = b"".join(batch.states[name][0].tobytes() for name in t.world.state)
    fork.load_actions(np.broadcast_to(still_actions(batch)[:1], fork.actions.shape))
    fork.actions[:, agent, number] = np.arange(count)
    fork.step_inplace()
    return before, [b"".join(fork.states[name][c].tobytes() for name in t.world.state) for c in range(count)]


def _late_terms(t: Subject) -> str:
    """What to say of a term that lies in the state a step before it is paid, whatever the action is then. One that
    follows from where a world was before its step is no other than one of a world that moves a step later."""
    rows, names = 4, list(t.world.terms)
    prompt, late = np.zeros(len(names), np.int64), np.zeros(len(names), np.int64)
    fork = t.batch(rows)
    held: list[list[tuple[float, dict[str, np.ndarray]]]] = [[] for _ in names]  # what was paid, and the state before
    for number, (_, batch) in enumerate(t.states(6, every=t.scale(13, 2), worlds=1, policies=("random",))):
        fork.set_state(batch.get_state(0), slice(None))
        if fork.over.any():
            continue
        Chooser(fork, "random", number).load(0)
        fork.step_inplace()
        now = fork.terms[:, : len(names)].copy()
        prompt += (now != now[:1]).any(axis=(0, 2))
        for j, value in enumerate(now[0, :, 0].tolist()):
            if value:
                held[j].append((value, _numbers_in(batch)))
        if not fork.over.any():
            fork.load_actions(still_actions(fork))
            fork.step_inplace()
            late += (fork.terms[:, : len(names)] != fork.terms[:1, : len(names)]).any(axis=(0, 2))
    for j, moments in enumerate(held):
        if not prompt[j] and late[j] >= 3:
            place = _place_of(moments)
            if place:
                return f"{names[j]} is paid a step late: it lies in {place} before, and the action changes the next one"
    return ""


def _numbers_in(batch: KernelBatch) -> dict[str, np.ndarray]:
    """The numbers in the state of the first world that are no whole ones, by field."""
    found = {name: np.ravel(batch.states[name][0]).copy() for name in batch.world.state}
    return {name: numbers for name, numbers in found.items() if numbers.dtype.kind == "f"}


def _place_of(moments: list[tuple[float, dict[str, np.ndarray]]]) -> str:
    """Where in the state a number lies at all moments, but for its sign; or, where it has three values and more, a
    multiple of it."""
    values = np.abs([value for value, _ in moments])
    for name in moments[0][1] if moments else ():
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.abs([numbers[name] for _, numbers in moments]) / values[:, None]
        same = np.isclose(shares, shares[0], rtol=1e-6, atol=0.0).all(axis=0) & (shares[0] > 0.0)
        if (same if len(set(values.tolist())) > 2 else same & (shares[0] == 1.0)).any():
            return f"s.{name}"
    return ""


def _check_dead_hands(t: Subject) -> None:
    """Failed when the action of an agent that is out of the game changes what the living observe or get."""
    if not t.world.agents:
        return
    batch = t.batch(t.scale(8, 3))
    batch.seed(range(batch.num_envs))
    batch.reset()
    chooser = Chooser(batch, "random")
    moments = 0
    for step in range(min(t.horizon, t.scale(400, 60))):
        chooser.load(step)
        batch.step_inplace()
        dead = ~batch.states["alive"][:, : batch.agents] & ~batch.over[:, None]
        for row in np.flatnonzero(dead.any(axis=1))[:1] if step % 3 == 0 else ():
            k = int(np.flatnonzero(dead[row])[moments % dead[row].sum()])
            setup = batch.setup
            ways = [
                _Way(k, j, value)
                for j in range(setup.numbers)
                for value in (_numbers(batch, j) if setup.continuous else (0.0, setup.own_choices[k, j] - 1.0))
            ]
            if len(set(_futures(t, batch, ways, int(row), for_living=True))) > 1:
                name = batch.setup.roles[k].name
                raise Failed(f"the action of {name}, which is out of the game, changes what others observe or get")
            moments += 1
        if moments >= MOMENTS:
            return


def _check_waiting_hands(t: Subject) -> None:
    """Failed when an agent that waits for its turn has a choice, or when what it chooses changes something."""
    if not t.world.turns:
        return
    batch = t.batch(t.scale(8, 3))
    batch.seed(range(batch.num_envs))
    batch.reset()
    chooser = Chooser(batch, "random")
    twin, last = t.batch(batch.num_envs), batch.setup.own_choices[:, 0] - 1
    for step in range(min(t.horizon, t.scale(100, 20))):
        turn, going = batch.states["turn"], ~batch.over
        movers = turn[:, None] == np.arange(batch.agents)
        if not (movers.any(axis=1) & (batch.states["alive"][:, : batch.agents] | ~movers).all(axis=1))[going].all():
            raise Failed(f"at step {step} s.turn is {turn[going].tolist()}, which has to be an agent in the game")
        waits = ~movers & going[:, None]
        if (batch.masks[waits] != (np.arange(batch.masks.shape[2]) == 0)).any():
            raise Failed(f"at step {step} the mask allows an agent that waits for its turn more than choice 0")
        chooser.load(step)
        for i in range(batch.num_envs):
            twin.set_state(batch.get_state(i), i)
        twin.actions[:] = batch.actions
        twin.actions[..., 0] = np.where(waits, last, batch.actions[..., 0])
        twin.step_inplace()
        batch.step_inplace()
        same = [twin.states[i].tobytes() == batch.states[i].tobytes() for i in range(batch.num_envs)]
        if not np.array(same)[going].all() or difference(twin.terms[going], batch.terms[going]):
            raise Failed(f"at step {step} the action of an agent that waits for its turn changes something")


class _Way(NamedTuple):
    """A future: what one agent does otherwise than in the others."""

    agent: int
    number: int  # of the action
    value: float  # the number, or the choice


def _numbers(batch: KernelBatch, j: int) -> list[float]:
    """What number j of a continuous action may be, and is tried."""
    rows = np.tile(np.array(NUMBERS)[:, None], (1, batch.setup.numbers))
    return batch.setup.spread_action(rows)[:, j].tolist()


def _effects(t: Subject, batch: KernelBatch, wanted: list[tuple[int, int]]) -> set[tuple[int, int]]:
    """Which of some numbers of actions (agent, number) change the future of the first world."""
    active = active_in(batch)[0]
    ways: list[_Way] = []
    most = max(MOST, len(wanted))
    for k, j in wanted:
        if not active[k] or len(ways) >= most:
            continue
        if batch.setup.continuous:
            ways += [_Way(k, j, value) for value in _numbers(batch, j)]
        else:
            allowed = np.flatnonzero(batch.setup.parts_of_mask(batch.masks[0, k])[j])
            chosen = np.linspace(0, len(allowed) - 1, min(CHOICES, len(allowed))).astype(int)
            ways += [_Way(k, j, float(allowed[c])) for c in chosen]
    if not ways:
        return set()
    futures = _futures(t, batch, ways)
    kinds: dict[tuple[int, int], set[bytes]] = {}
    for way, future in zip(ways, futures, strict=True):
        kinds.setdefault((way.agent, way.number), set()).add(future)
    return {place for place, different in kinds.items() if len(different) > 1}


def _futures(t: Subject, batch: KernelBatch, ways: list[_Way], world: int = 0, for_living: bool = False) -> list[bytes]:
    """What becomes of a world when one agent acts in each of some ways, and all else is equally random: its state and
    what comes of its steps, or with `for_living` what comes of them for the agents that are alive."""
    fork = t.batch(len(ways))
    fork.set_state(batch.get_state(world), slice(None))
    chooser = np.random.default_rng(0)
    seen: list[list[bytes]] = [[] for _ in ways]
    for _ in range(STEPS):
        fork.load_actions(alike_actions(fork, chooser))
        for row, way in enumerate(ways):
            fork.actions[row, way.agent, way.number] = way.value
        before = active_in(fork)
        fork.step_inplace()
        for row, found in enumerate(seen):
            if for_living:
                living = before[row]
                found += [array[row][living].tobytes() for array in (fork.observations, fork.masks, fork.terminated)]
                found.append(fork.terms[row][:, living].tobytes())
                continue
            found += [fork.states[name][row].tobytes() for name in t.world.state]
            found += [array[row].tobytes() for array in (fork.observations, fork.terms, fork.terminated)]
        if fork.over.any():
            break
    return [b"".join(found) for found in seen]
