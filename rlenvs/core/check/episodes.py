"""Rules on how episodes start and end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from gymnasium.vector import AutoresetMode

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue.score_cells import has_success
from rlenvs.core.check.playing import Chooser, Player, active_in, alike_actions, difference, roll, still_actions
from rlenvs.core.check.subject import Subject
from rlenvs.core.check.verdicts import Doubt, Failed, NotApplicable, compare, row_of

ENOUGH = 16  # different starts
OPENING = 12  # steps; worlds that hide most of their state show by and by how they began
CLOCKS = 5  # worlds that are told another time


def starts_differ(t: Subject) -> str:
    """6. Episodes start in many different states, for other seeds and without one; or the world declares in how many:
    `starts=4`, `same_start=True` for one.

    Among some dozens there must be 16 that differ in state, and 16 that go on differently under the same actions. Where
    `starts` is declared, half as many may go on differently: an agent that sees little may not tell some of them apart.
    To mend: draw more in `reset`, or declare how many starts there are.
    """
    if t.world.same_start:
        raise NotApplicable("the world declares same_start")
    count = 64 if t.world.starts else t.scale(64, 40)  # fewer might not find all that are declared
    batch = t.batch(count)
    found = []
    for again in range(2):
        if not again:
            batch.seed(range(count))
        batch.reset()
        found.append([b"".join(batch.states[name][i].tobytes() for name in t.world.state) for i in range(count)])
    if found[0] == found[1]:
        raise Failed("a second reset without a seed gives the same states as the first")
    states = len(set(found[0]))
    openings = len(set(_openings(batch)))
    few = t.world.starts or ENOUGH
    if states < min(few, ENOUGH) or openings < min(few, ENOUGH) / (2 if t.world.starts else 1):
        what = f"{states} different states" if states <= openings else f"{openings} different openings"
        raise Failed(f"{count} seeds give {what}; draw more in reset, or declare starts={min(states, openings)}")
    if t.world.starts and states > t.world.starts:
        raise Failed(f"{count} seeds give {states} different states, the world declares starts={t.world.starts}")
    return f"{states} different states and {openings} different openings in {count} resets"


def _openings(batch: KernelBatch) -> list[bytes]:
    """What each world shows and pays in its first steps under the same actions, coarsely: differences of less than a
    millionth of the range of the observation, or in a reward, do not count."""
    space, setup = batch.setup.state_space, batch.setup
    ends = (space.low, space.high) if setup.alone else setup.scaling[2:]  # the published bounds may be infinite
    unit = 1e-6 * np.maximum(ends[1] - ends[0], 1e-9).reshape(space.shape)
    seen = [np.round(batch.observations / unit).astype(np.int64)]
    chooser = np.random.default_rng(0)
    for _ in range(OPENING):
        batch.load_actions(alike_actions(batch, chooser))
        batch.step_inplace()
        seen.append(np.round(batch.observations / unit).astype(np.int64))
        seen.append(np.round(batch.rewards * 1e6).astype(np.int64))
    return [b"".join(step[i].tobytes() for step in seen) for i in range(batch.num_envs)]


def time_limit(t: Subject) -> str:
    """9. The horizon truncates, never terminates; the final observation is the true last one in every autoreset mode.

    To mend: leave the time limit to the core, and let `step` say when the task itself has ended.
    """
    limit, seeds = t.short, range(t.scale(8, 4))
    reached = 0
    last = []
    early, late = t.env(horizon=limit), t.env(horizon=2 * limit)
    for seed in seeds:
        short = _episode(Player(early, seed), limit)
        if t.rewrap:  # wrappers may end episodes early, or make several steps of one
            last.append(short[-1][0])
            continue
        long = _episode(Player(late, seed), limit)
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
    if t.rewrap:
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


# --- ends -------------------------------------------------------------------------------------------------------------


class Ending(NamedTuple):
    """How an episode of a world went."""

    policy: str
    world: int
    length: int  # 0 where the end was not seen
    terminated: bool = False  # by the task itself
    success: bool = False  # of some agent, at the end
    all_succeed: bool = False  # at the end
    course: tuple[int, ...] = ()  # step by step: NOBODY, SOME or ALL of the agents succeed
    last: bytes = b""  # the last observations


NOBODY, SOME, ALL = range(3)


def ends_mean_something(t: Subject) -> str:
    """23. Episodes end by what happens in them: `r.terminated` never stands for a time limit, and `r.success` tells
    success from failure.

    A world that ends by the clock declares `horizon=`, and its episodes are truncated. To mend: take the number of
    steps out of `r.terminated`; set `r.success` where the task is done, and only there.
    """
    if t.horizon >= 8:
        _check_clocks(t)
    endings = [ending for policy in (*t.policies, "still") for ending in _endings(t, policy)]
    ended = [e for e in endings if e.length]
    _check_success(ended)
    doubts = [*_own_limit(t, endings), *_easy(endings), *_vain(t, endings)]
    if doubts:
        return Doubt("; ".join(doubts))
    by_task, with_success = sum(e.terminated for e in ended), sum(e.success for e in ended)
    return f"{len(ended)} episodes, {by_task} terminated, {with_success} with success"


def _endings(t: Subject, policy: str) -> list[Ending]:
    """The first episode of each of some worlds; those that were not seen to their end have length 0."""
    batch = t.batch(t.scale(12, 3))
    batch.seed(range(batch.num_envs))
    batch.reset()
    chooser = Chooser(batch, policy)
    endings: dict[int, Ending] = {}
    courses: list[np.ndarray] = []
    for step in range(t.horizon if t.long else min(t.horizon, t.scale(400, 60))):
        chooser.load(step)
        living = active_in(batch)
        batch.step_inplace()
        success, everybody = (batch.success & living).any(axis=1), (batch.success | ~living).all(axis=1)
        courses.append(success + (success & everybody).astype(int))
        for i in np.flatnonzero(batch.over).tolist():
            if i not in endings:
                cut = (batch.truncated[i] & living[i]).any()
                course = tuple(int(now[i]) for now in courses)
                last = batch.observations[i].tobytes()
                endings[i] = Ending(policy, i, step + 1, not cut, success[i], everybody[i], course, last)
        if len(endings) == batch.num_envs:
            break
    return [endings.get(i, Ending(policy, i, 0)) for i in range(batch.num_envs)]


def _check_success(ended: list[Ending]) -> None:
    """Failed when `r.success` follows from the number of the step alone, and is True most of the time."""
    courses = [e.course for e in ended]
    longest = max(courses, key=len, default=())
    if len({e.last for e in ended}) < 3 or any(course != longest[: len(course)] for course in courses):
        return
    if 2 * sum(course.count(ALL) for course in courses) > sum(map(len, courses)):
        when = "at every step" if set(longest) == {ALL} else "at the same steps"
        who = ", ".join(dict.fromkeys(e.policy for e in ended))
        raise Failed(f"r.success is True {when} of {len(ended)} episodes by {who}, whatever happens in them")


def _own_limit(t: Subject, endings: list[Ending]) -> list[str]:
    """A doubt where the longest episodes are all terminated at the same step, and nothing tells why; Failed where this
    is true of all episodes, or where the same step a little earlier would not have ended them."""
    longest = max(e.length for e in endings)
    last = [e for e in endings if e.length == longest]
    failures = [e for e in last if not e.success]
    vain = {e.last for e in failures}
    if not all(e.length for e in endings) or not all(e.terminated for e in last) or len(vain) < t.scale(6, 2):
        return []
    found = f"{len(last)} of {len(endings)} episodes are terminated at step {longest}, and none lasts longer"
    clock = _stopping_clock(t, failures)
    if clock:
        raise Failed(f"{found}; one step earlier by {clock}, with all else equal, they go on: leave it to the horizon")
    known = t.world.turns or "exact_model" in t.world.functions
    if len(vain) < 3 or known:  # what ends there follows from the state: a full board, a tree's leaves
        return []
    if len(last) == len(endings):
        raise Failed(f"{found}: a time limit of the world's own; leave it to horizon={longest}, which truncates")
    who = " and ".join(sorted({e.policy for e in last}))
    return [f"{found} ({who}); if this is a time limit, leave it to the horizon"] if len(last) > 5 else []


def _stopping_clock(t: Subject, endings: list[Ending]) -> str:
    """The clock that ends these episodes, all at the same step: set back by one step, they go on. Empty when there is
    none. Numbers beside `elapsed` count as clocks only where the observation does not show them."""
    if endings[0].length < 3:
        return ""
    rates = _clock_rates(t)
    for clocks in ({"elapsed": rates["elapsed"]}, rates) if "elapsed" in rates else ():
        if all(_goes_on(t, policy, endings, clocks) for policy in {e.policy for e in endings}):
            return " and ".join(f"s.{name}" for name in clocks)
    return ""


def _goes_on(t: Subject, policy: str, endings: list[Ending], clocks: dict[str, np.ndarray]) -> bool:
    """Whether the episodes of a policy do not end where they ended, with clocks that are a step behind."""
    rows = [e.world for e in endings if e.policy == policy]
    batch = t.batch(t.scale(12, 3))
    batch.seed(range(batch.num_envs))
    batch.reset()
    chooser = Chooser(batch, policy)
    for step in range(endings[0].length):
        chooser.load(step)
        if step < endings[0].length - 1:
            batch.step_inplace()
    earlier = t.batch(len(rows))
    for i, row in enumerate(rows):
        earlier.set_state(batch.get_state(row), i)
    for name, rate in clocks.items():
        earlier.states[name] -= rate
    earlier.recompute_observations()
    if len(clocks) > 1 and difference(batch.observations[rows], earlier.observations):
        return False
    earlier.actions[:] = batch.actions[rows]
    earlier.step_inplace()
    return not earlier.terminated.any()


def _easy(endings: list[Ending]) -> list[str]:
    """A doubt where all succeed, even the idle policy."""
    simple = [e for e in endings if e.policy in ("random", "still") and e.length]
    if len(simple) >= 6 and all(e.all_succeed for e in simple):
        return [f"all of {len(simple)} episodes of random and still actions end with success"]
    return []


def _vain(t: Subject, endings: list[Ending]) -> list[str]:
    """A doubt where the expert seldom succeeds, and no more often than the idle or the random policy."""
    if not (t.world.has_expert and has_success(t.world)) or len(t.policies) < 2 or any(not e.length for e in endings):
        return []
    name = t.policies[1]
    shares = {who: np.mean([e.success for e in endings if e.policy == who]) for who in (name, "random", "still")}
    if shares[name] >= 0.5 or shares[name] > max(shares["random"], shares["still"]):
        return []
    told = ", ".join(f"{share:.0%} of {who}" for who, share in shares.items())
    return [f"the expert does not help: of the episodes end with success {told}"]


def _check_clocks(t: Subject) -> None:
    """Failed when a later time alone, with all else as it is, terminates episodes.

    Copies of some states get another time: `elapsed`, and all numbers of the state that grow by the same in every step,
    are set near the end of the horizon. Both play the same actions, in plain Python, where an index out of bounds is an
    error. Where the observation shows the time, or what moves with it, this decides nothing.
    """
    t = t.plain
    rates = _clock_rates(t)
    source = _begun(t, CLOCKS)
    plain = replace(t, backend="python")
    now, late = plain.batch(CLOCKS), plain.batch(CLOCKS)
    for i in range(CLOCKS):
        now.set_state(source.get_state(i), i)
        late.set_state(source.get_state(i), i)
    for i, jump in enumerate(t.horizon - 2 - source.states["elapsed"]):
        for name, rate in rates.items():
            late.states[name][i] += (jump * rate).astype(rate.dtype)
    going = ~source.over
    ended = np.zeros(CLOCKS, np.bool_)
    for _ in range(2):
        now.load_actions(still_actions(now))
        late.load_actions(now.actions)
        try:
            now.step_inplace()
            late.step_inplace()
        except IndexError:
            return
        if difference(now.observations, late.observations):
            return
        going &= ~now.terminated.any(axis=1)
        ended |= late.terminated.any(axis=1)
        if going.sum() > 1 and ended[going].all():
            clocks = " and ".join(f"s.{name}" for name in rates)
            raise Failed(
                f"episodes are terminated, with all else equal, when {clocks} says that step {t.horizon} is near: "
                f"a time limit of the world's own; leave it to horizon={t.horizon}, which truncates"
            )


def _clock_rates(t: Subject) -> dict[str, np.ndarray]:
    """By how much the numbers of the state grow that grow by the same in every step of every world; zero for others."""
    batch = _begun(t, 4)
    chooser = Chooser(batch, "random", 1)
    names = ["elapsed", *(name for name in t.world.state if batch.states[name].dtype != np.bool_)]
    rates: dict[str, np.ndarray] = {}
    for step in range(min(6, t.horizon - 3)):
        before, goes_on = batch.states.copy(), ~batch.over
        chooser.load(step)
        batch.step_inplace()
        for name in names if goes_on.any() else ():
            grown = (batch.states[name] - before[name])[goes_on]
            first = rates.setdefault(name, grown[0])
            rates[name] = np.where(np.isclose(grown, first, rtol=1e-9, atol=0.0).all(axis=0), first, 0)
    return {name: rate for name, rate in rates.items() if rate.any()}


def _begun(t: Subject, worlds: int) -> KernelBatch:
    """Worlds that have made two steps."""
    batch = t.batch(worlds)
    batch.seed(range(worlds))
    batch.reset()
    chooser = Chooser(batch, "random")
    for step in range(2):
        chooser.load(step)
        batch.step_inplace()
    return batch
