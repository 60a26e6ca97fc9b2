"""Rules on the API forms: the same numbers from all of them, and nothing shared."""

from __future__ import annotations

import copy
import functools
import pickle
import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from rlenvs.core.check.playing import Player, Trajectory, choose, difference, roll
from rlenvs.core.check.subject import Subject
from rlenvs.core.check.values import vector_of
from rlenvs.core.check.verdicts import Failed, compare, row_of, rows_from, vector_record
from rlenvs.core.declare.setup import Setup

MANY = 104  # rows of a vector form, and seeds of a single one: more than a hundred, and all last two digits
SIZES = ((1, 1), (2, 1), (5, 3), (24, 2))  # rows and threads of vector forms, beside those of MANY rows
LONG_SEEDS = (2**32, 7, 2**40 + 7, 2**40 + 7)
AGAIN = 33  # episodes, of all rows together, before one that was played before
LONGER = 10  # times as many of these in the long mode


def repeatable(t: Subject) -> str:
    """2. Two copies with the same seed return the same observations, rewards, flags and infos, reset's included.

    To mend: draw only from the `rng` that kernels are given; keep nothing outside the state; no clocks and no counts of
    episodes in a form.
    """
    steps = 2 * t.short + 3
    again = AGAIN * (LONGER if t.long else 1)
    for name, make in t.forms():
        env = make(horizon=t.short)
        first = Player(env, seed=3).play(steps)
        compare(f"two copies of {name} with the same seed", first, Player(make(horizon=t.short), seed=3).play(steps))
        for _ in range(again // getattr(env, "num_envs", 1)):
            env.reset()
        compare(f"{name} and itself, seeded again after {again} episodes", first, Player(env, seed=3).play(steps))
    return f"{steps} steps in {len(t.forms())} forms"


def copies(t: Subject) -> str:
    """3. A deepcopy and a pickle, made in the middle of an episode, go on as the original does.

    To mend: keep what the environment needs in the world's state; leave nothing on it that cannot be pickled.
    """
    for name, make in t.forms():
        player = Player(make(horizon=2 * t.short))
        player.play(t.short // 2)
        try:
            twins = {"deepcopy": copy.deepcopy(player), "pickle": pickle.loads(pickle.dumps(player))}
        except Exception as error:
            raise Failed(f"{name} cannot be copied: {type(error).__name__}: {error}") from error
        record = player.play(2 * t.short)
        for way, twin in twins.items():
            compare(f"{name} and its {way}", record, twin.play(2 * t.short))
    return "deepcopy and pickle of every form go on alike"


def fresh_arrays(t: Subject) -> str:
    """4. What a call returns, pictures too, shares no memory with what later calls return, and is never changed
    afterwards; actions that are given are not changed.

    To mend: return copies, not views of arrays that a later step overwrites; copy what is given before changing it.
    """
    calls = (t.short + 2) * (10 if t.long else 1)
    for name, make in t.forms():
        player = Player(make(horizon=t.short))
        kept = [(player.raw, player.last)]
        earlier = [(0, place, array) for place, array in _arrays(player.raw)]
        ends = [_bounds(array) for *_, array in earlier]
        for call in range(1, calls + 1):
            player.step()
            changed = difference(player.given, player.given_then)
            if changed:
                raise Failed(f"{name} changed the actions that it was given at call {call}: {changed}")
            returned = [(call, path, array) for path, array in _arrays(player.raw)]
            bounds = np.array(ends, np.int64).reshape(-1, 2)
            for _, path, array in returned:
                low, high = _bounds(array)
                near = (earlier[i] for i in np.flatnonzero((bounds[:, 0] < high) & (bounds[:, 1] > low))[::-1])
                shared = next(((then, place) for then, place, other in near if np.shares_memory(array, other)), None)
                if shared is not None:
                    age = call - shared[0]
                    raise Failed(f"{name} returned {path} in the memory of {shared[1]}, returned {age} calls before")
            earlier += returned
            ends += [_bounds(array) for *_, array in returned]
            kept.append((player.raw, player.last))
        for call, (returned, copied) in enumerate(kept):
            changed = difference(returned, copied)
            if changed:
                raise Failed(f"what {name} returned at call {call} was changed later: {changed}")
    _pictures_stay(t)
    return f"observations and infos of {calls + 1} calls"


def _pictures_stay(t: Subject) -> None:
    """Failed when a picture is changed, or its memory used again, by the next one."""
    if "draw" not in t.world.functions or t.rewrap:
        return
    player = Player(t.env(horizon=t.short, render_mode="rgb_array"))
    first = player.env.render()
    then = first.copy()
    player.step()
    if np.shares_memory(first, player.env.render()) or difference(first, then):
        raise Failed("a picture lies in the memory of the one before")


def _bounds(array: np.ndarray) -> tuple[int, int]:
    """Where an array begins and ends in memory."""
    low = high = array.__array_interface__["data"][0]
    for count, stride in zip(array.shape, array.strides, strict=True):
        low, high = low + min((count - 1) * stride, 0), high + max((count - 1) * stride, 0)
    return low, high + array.itemsize


def _arrays(value: Any, path: str = "") -> Iterator[tuple[str, np.ndarray]]:
    if isinstance(value, np.ndarray) and value.dtype != object:
        yield path or "value", value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _arrays(item, f"{path}[{key!r}]")
    elif isinstance(value, (tuple, list)):
        for i, item in enumerate(value):
            yield from _arrays(item, f"{path}[{i}]")


def neighbours_untouched(t: Subject) -> str:
    """8. What one world of a batch does, when it ends and when it is reset leaves its neighbors as they are.

    To mend: a vector form resets the rows that ended and no others; a kernel knows its own world only.
    """
    steps = 2 * t.short + 3
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        calm = Player(t.vector(4, mode, horizon=t.short)).play(steps)
        other = Player(t.vector(4, mode, horizon=t.short))
        other.reset(seed=[100, 1, 2, 3])
        del other.record[0]
        other.play(3)
        before = other.last[0]
        other.reset(options={"reset_mask": np.array([True, False, False, False])})
        changed = difference(rows_from(before, 1), rows_from(other.last[0], 1))
        if changed:
            raise Failed(f"resetting world 0 alone changed others: {changed}")
        interlude = len(other.record) - 1
        other.play(steps - 3)
        del other.record[interlude]
        mine, theirs = (_neighbours(record) for record in (calm, other.record))
        compare(f"{mode.name}: worlds 1 to 3 beside two different worlds 0", mine, theirs)
    return f"{steps} steps beside two different neighbors"


def _neighbours(record: Sequence[Any]) -> list[Any]:
    """What a record says of all worlds but the first; whether there are finals depends on the first one too."""
    drop = ("final_obs", "final_info", "_final_obs", "_final_info")
    slim = [(*out[:-1], {key: value for key, value in out[-1].items() if key not in drop}) for out in record]
    return [rows_from(out, 1) for out in slim]


def forms_agree(t: Subject) -> str:
    """7. Single, vector (all autoreset modes), Gymnasium's SyncVectorEnv, parallel form and batch agree bit for bit.

    To mend: let a world's kernels depend on its own state and parameters only, and API forms only copy from the batch.
    """
    steps = 2 * t.short + 3
    for mode in AutoresetMode:
        ours = Player(t.vector(3, mode, horizon=t.short)).play(steps)
        stock = Player(_sync_vector(t, mode)).play(steps)
        compare(f"{mode.name}: VectorEnv and SyncVectorEnv of Env", vector_record(ours), vector_record(stock))
    _rows_agree(t)
    _both_flags(t)
    reference, states = _batch_run(t, 5, 1, steps, None)
    for count, threads in ((5, 2), (2, 1), (1, 1)):
        trajectory, other = _batch_run(t, count, threads, steps, reference.actions[:, :count])
        for name in Trajectory._fields:
            wrong = difference(getattr(reference, name)[:, :count], getattr(trajectory, name))
            if wrong:
                raise Failed(f"{name} of a batch of 5 and of one of {count} with {threads} threads differ: {wrong}")
        if states[:count] != other:
            raise Failed(f"the states of a batch of 5 and of one of {count} with {threads} threads differ")
    if t.world.agents and t.rewrap:
        _wrappers_agree(t)
    elif t.world.agents:
        _parallel_agrees(t, reference)
    return f"{steps} steps in {'6' if t.world.agents else '5'} forms"


def _rows_agree(t: Subject) -> None:
    """Failed when a row of a vector form does anything else than a single form with its seed, in batches of few and of
    many rows, with one thread and with more, and with seeds beyond 32 bits in a list."""
    steps = 3
    env = t.env(horizon=t.short)
    many = MANY * (LONGER if t.long else 1)
    singles = [Player(env, seed).play(steps) for seed in range(many)]
    for count, threads in (*SIZES, (many, 1)):
        rows = Player(t.vector(count, threads=threads, horizon=t.short)).play(steps)
        for seed, single in enumerate(singles[:count]):
            mine = [_told(o, None) for o in single[: _first_end(single)]]
            theirs = [_told(o, seed) for o in rows[: len(mine)]]
            compare(f"Env with seed {seed} and row {seed} of {count} with {threads} thread(s)", mine, theirs)
    rows = t.vector(len(LONG_SEEDS), horizon=t.short).reset(seed=list(LONG_SEEDS))
    for row, seed in enumerate(LONG_SEEDS):
        alone = _told(env.reset(seed=seed), None)
        compare(f"Env with seed {seed} and row {row} of seeds {list(LONG_SEEDS)}", [alone], [_told(rows, row)])


def _first_end(record: Sequence[Any]) -> int:
    """How many calls there are up to the end of the first episode."""
    ends = (i for i, out in enumerate(record) if len(out) == 5 and (out[2] or out[3]))
    return next(ends, len(record) - 1) + 1


def _told(out: Sequence[Any], row: int | None) -> Any:
    """Observation, reward and flags of a single form, or of a row of a vector form, as arrays."""
    if row is not None:
        return (row_of(out[0], row), *(np.asarray(part[row]).tolist() for part in out[1:-1]), {})
    return (out[0], *(np.asarray(part).tolist() for part in out[1:-1]), {})


def _both_flags(t: Subject) -> None:
    """Failed when a form tells something else than the batch of a step that ends the task at the time limit."""
    if t.world.agents or t.rewrap:
        return
    for policy in t.policies:
        trajectory = t.rollout(policy)[1]
        ended = np.argwhere(trajectory.terminated[1:, :, 0] & ~_ended_before(trajectory)[1:])
        if len(ended):
            break
    else:
        return
    step, world = ended[0].tolist()
    limit, actions = step + 2, trajectory.actions[: step + 2, world]
    batch = t.batch(1, horizon=limit)
    wanted = roll(batch, limit, seed=world, actions=actions[:, None])
    env = t.env(horizon=limit)
    vector = t.vector(1, horizon=limit)
    env.reset(seed=world)
    vector.reset(seed=[world])
    flags = [wanted.terminated[-1, 0, 0].item(), wanted.truncated[-1, 0, 0].item()]
    for action in actions[:, 0]:
        shown = batch.setup.shown_action(action)
        single, row = env.step(shown), vector.step(np.asarray(shown)[None])
    for name, found in (("Env", single), ("VectorEnv", [part[0] for part in row[1:4]])):
        told = [bool(flag) for flag in found[-3:-1]] if name == "Env" else [bool(flag) for flag in found[1:]]
        if told != flags:
            raise Failed(
                f"{name} says {told} of terminated and truncated in step {limit} of {limit}, which ends the "
                f"task too; the batch says {flags}"
            )
        reward = found[1] if name == "Env" else found[0]
        if not t.vector_reward and not np.isclose(reward, wanted.rewards[-1, 0, 0], rtol=1e-4, atol=1e-4):
            raise Failed(f"{name} pays {reward} in a step with both flags, the batch {wanted.rewards[-1, 0, 0]}")


def _ended_before(trajectory: Trajectory) -> np.ndarray:
    """Whether an episode of a world has ended in an earlier step, (T, N)."""
    over = (trajectory.terminated | trajectory.truncated).any(axis=2)
    return np.concatenate([np.zeros_like(over[:1]), np.logical_or.accumulate(over)[:-1]])


def _sync_vector(t: Subject, mode: AutoresetMode) -> SyncVectorEnv:
    stock = SyncVectorEnv([functools.partial(t.env, horizon=t.short)] * 3, autoreset_mode=mode)
    space = getattr(stock.envs[0], "reward_space", None)
    if space is not None:  # its array of rewards has no room for vectors
        stock._rewards = np.zeros((3, *space.shape), np.float32)  # noqa: SLF001 (Gymnasium has no other way)
    return stock


def _batch_run(t: Subject, count: int, threads: int, steps: int, actions: Any) -> tuple[Trajectory, list[bytes]]:
    batch = t.batch(count, threads=threads, horizon=t.short)
    return roll(batch, steps, actions=actions), [batch.get_state(i).state for i in range(count)]


def _wrappers_agree(t: Subject) -> None:
    """Failed when the first agent fares otherwise in the single form, where the others do nothing, than in the parallel
    form, where they choose to do nothing. Looked at as long as their wrappers leave them at that."""
    single, parallel = t.env(horizon=t.short), t.parallel(horizon=t.short)
    first = parallel.possible_agents[0]
    setup = Setup(t.world, **t.choices)
    idle = setup.idle if setup.action_kind == "multi" else setup.idle[:, 0]
    nothing = dict(zip(parallel.possible_agents, idle, strict=True))
    for seed in range(2):
        (seen, _), (all_seen, _) = single.reset(seed=seed), parallel.reset(seed=seed)
        chooser, batch = np.random.default_rng(seed), parallel.unwrapped.batch
        played = batch.states["elapsed"][0] > 0  # by a wrapper, in the reset
        for step in range(0 if played else t.short):
            wrong = difference(
                np.int64(seen) if isinstance(seen, int) else seen,
                all_seen[first]["observation"] if "action_mask" in all_seen[first] else all_seen[first],
            )
            if wrong:
                raise Failed(f"the first agent's observations in Env and ParallelEnv differ at step {step}: {wrong}")
            action = choose(chooser, single.action_space)
            others = {a: np.full_like(parallel.action_space(a).sample(), nothing[a]) for a in parallel.agents}
            seen, reward, terminated, truncated, _ = single.step(action)
            living = [k for k, agent in enumerate(parallel.possible_agents) if agent in others and k > 0]
            all_seen, rewards, ends, cuts, _ = parallel.step({**others, first: action})
            if not np.array_equal(batch.actions[0, living], setup.idle[living]):
                break
            wrong = difference([reward, terminated, truncated], [rewards[first], ends[first], cuts[first]])
            if wrong:
                raise Failed(f"what the first agent gets in Env and ParallelEnv differs at step {step}: {wrong}")
            if terminated or truncated:
                break


def _parallel_agrees(t: Subject, batch: Trajectory) -> None:
    """Failed when the first episode of a parallel form differs from the row of the batch with the same seed."""
    setup = Setup(t.world, **t.choices)
    for row in range(2):
        env = t.parallel(horizon=t.short)
        env.reset(seed=row)
        agents = {agent: k for k, agent in enumerate(env.possible_agents)}
        for step, given in enumerate(batch.actions[:, row]):
            if not env.agents:
                break
            sizes = [role.action for role in env.batch.setup.roles]
            single = setup.single_choice
            actions = {a: int(given[k, 0]) if single else given[k, : sizes[k]] for a, k in agents.items()}
            observations, rewards, terminated, truncated, _ = env.step({a: actions[a] for a in reversed(env.agents)})
            for agent in rewards:
                k = agents[agent]
                plain = vector_of(observations[agent])
                reward = batch.terms[step, row, : len(t.world.terms), k].astype(np.float32)
                whole = batch.observations[step + 1, row, k]
                if t.world.roles and t.world.observation:
                    whole = whole[: env.batch.setup.roles[k].observation]
                wanted = (
                    whole if setup.encode is None else np.asarray(setup.encode(whole))[()],
                    reward if t.vector_reward else batch.rewards[step, row, k].item(),
                    batch.terminated[step, row, k].item(),
                    batch.truncated[step, row, k].item(),
                )
                compare(
                    f"ParallelEnv ({agent}) and batch row {row} at step {step}",
                    [(plain, rewards[agent], terminated[agent], truncated[agent])],
                    [wanted],
                )


def seeding(t: Subject) -> str:
    """13. Seeding an action space survives reset; the global generators of NumPy and Python are left alone.

    To mend: draw from `rng` in kernels and from `self.np_random` elsewhere; make spaces once.
    """
    numpy_before, python_before = np.random.get_state(), random.getstate()  # noqa: NPY002
    Player(t.env(horizon=t.short)).play(t.short + 2)
    Player(t.vector(2, horizon=t.short)).play(t.short + 2)
    if difference(list(numpy_before), list(np.random.get_state())):  # noqa: NPY002
        raise Failed("NumPy's global generator was used")
    if python_before != random.getstate():
        raise Failed("Python's global generator was used")
    for env in (t.env(), t.vector(2)):
        env.action_space.seed(7)
        wanted = [env.action_space.sample() for _ in range(5)]
        env.action_space.seed(7)
        env.reset(seed=1)
        if difference(wanted, [env.action_space.sample() for _ in range(5)]):
            raise Failed(f"{type(env).__name__}: after reset the action space samples differently")
    return "global generators untouched, seeded spaces kept"
