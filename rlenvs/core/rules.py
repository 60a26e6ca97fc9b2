"""The rules of the conformance suite: one function each, run by `rlenvs.core.check`.

A rule looks at a `Subject`. It returns what it looked at, or raises `Failed` or `NotApplicable` with the reason. Its
docstring says what it checks and how to mend a failure. RULES lists them in the order in which they run. A rule is not
run when one that it builds on has failed: mend that one first.
"""

from __future__ import annotations

import copy
import doctest
import functools
import json
import math
import pickle
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from rlenvs.core.docs import check_headings
from rlenvs.core.engines import new_batch
from rlenvs.core.errors import ActionError, EpisodeOverError, ParameterError, UnknownKeywordError, UnknownNameError
from rlenvs.core.gym_env import Env
from rlenvs.core.players import Player, Subject, Trajectory, choose, difference, golden_file, roll
from rlenvs.core.setup import Setup
from rlenvs.core.spec import Integer, World

MOST_AGENTS, MOST_BYTES = 128, 4_000_000  # of a world under rule 14
# info keys that belong to Gymnasium and the learners
RESERVED_KEYS = ("episode", "terminal_observation", "TimeLimit.truncated", "final_obs", "final_info")


class Failed(Exception):  # noqa: N818
    """A rule is broken; the message says where, with the value found."""


class NotApplicable(Exception):  # noqa: N818
    """A rule that this world has nothing to show for."""


def _present(infos: dict[str, Any]) -> dict[str, Any]:
    """Vector infos without the rows that their "_key" masks call absent."""
    kept: dict[str, Any] = {}
    for key, value in infos.items():
        rows = infos.get(f"_{key}")
        if isinstance(value, dict):
            kept[key] = _present(value)
        else:
            kept[key] = value if rows is None else value[rows]
    return kept


def _compare(what: str, a: Sequence[Any], b: Sequence[Any]) -> None:
    """Failed when two records differ."""
    for t, (x, y) in enumerate(zip(a, b, strict=True)):
        found = difference(x, y)
        if found:
            names = (
                ("observation", "reward", "terminated", "truncated", "info") if len(x) == 5 else ("observation", "info")
            )
            for i, name in enumerate(names):
                found = found.replace(f"[{i}]", name, 1) if found.startswith(f"[{i}]") else found
            raise Failed(f"{what} differ at call {t}: {found}")


def _vector_record(record: Sequence[Any]) -> list[Any]:
    return [(*out[:-1], _present(out[-1])) for out in record]


def _rows_from(value: Any, first: int) -> Any:
    """Rows `first` and up of everything that a vector form returned."""
    if isinstance(value, dict):
        return {key: _rows_from(item, first) for key, item in value.items()}
    return tuple(_rows_from(item, first) for item in value) if isinstance(value, tuple) else value[first:]


def spaces_hold(t: Subject) -> str:
    """1. Spaces contain every observation, with their exact dtype and shape, finite; rewards, flags and masks too.

    To mend: widen the block whose values leave it, or find the division or logarithm that gives NaN in `observe`; a raw
    block must be kept inside its bounds by the kernel; an action mask allows at least one action; scripted players
    choose what their masks allow.
    """
    steps = t.scale(300, 40)
    count = sum(_check_values(t, t.scale(16, 3), min(steps, 2 * t.horizon), policy) for policy in t.policies)
    for _, make in t.forms():
        player = Player(make())
        for _ in range(t.scale(50, 20)):
            _check_types(player)
            player.step()
    return f"{count} observations by {' and '.join(t.policies)}"


def _check_values(t: Subject, worlds: int, steps: int, policy: str) -> int:
    batch = t.batch(worlds)
    trajectory = roll(batch, steps, policy)
    observations, space = trajectory.observations, batch.setup.state_space
    if not (np.isfinite(space.low).all() and np.isfinite(space.high).all()):
        raise Failed(f"the observation space has infinite bounds: {space}")
    inside = np.isfinite(observations) & (observations >= space.low) & (observations <= space.high)
    if not inside.all():
        at = tuple(np.argwhere(~inside)[0].tolist())
        name = block_names(t.world, batch.setup)[int(np.ravel_multi_index(at[3:], space.shape)) if space.shape else 0]
        raise Failed(f"observation {name} is {observations[at]} at step {at[0]} of world {at[1]}, agent {at[2]}")
    masks = trajectory.masks[:-1]
    if not np.isin(masks, (0, 1)).all():
        raise Failed(f"an action mask holds {masks[~np.isin(masks, (0, 1))][0]}; it may hold 0 and 1")
    stuck = trajectory.active & ~masks.any(axis=-1)
    if stuck.any():
        at = tuple(np.argwhere(stuck)[0].tolist())
        raise Failed(f"at step {at[0]} of world {at[1]} the action mask of agent {at[2]} allows nothing")
    if policy in t.world.players and not batch.setup.continuous:
        _check_allowed(trajectory, policy)
    if not batch.setup.central_space.contains(batch.central()[0]):
        raise Failed(f"the central state is outside its space: {batch.central()[0]}")
    return int(np.prod(observations.shape[:3]))


def _check_allowed(trajectory: Trajectory, player: str) -> None:
    """Failed when a scripted player chose what its mask forbids."""
    allowed = np.take_along_axis(trajectory.masks[:-1], trajectory.actions, axis=-1)[..., 0]
    wrong = trajectory.active & (allowed == 0)
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0].tolist())
        choice = trajectory.actions[at][0]
        raise Failed(f"player {player!r} chose {choice} as agent {at[2]} of world {at[1]}, which the mask forbids")


def block_names(world: World, setup: Setup) -> list[str]:
    """The block and the index within it of every observation element, as text."""
    names = []
    for name, part in world.observation.items():
        shape = tuple(setup.sizes[d] if isinstance(d, str) else d for d in part.shape)
        names += [f"{name}{list(index) if index else ''}" for index in np.ndindex(shape)]
    return names


def _parts(space: Any, observation: Any) -> list[tuple[str, Any, Any]]:
    """The parts of an observation: path, space and value of each."""
    if not isinstance(space, spaces.Dict):
        return [("", space, observation)]
    given = observation if isinstance(observation, dict) else {}
    return [(f"[{name!r}]", part, given.get(name)) for name, part in space.items()]


def _vector_of(observation: Any) -> Any:
    """The vector in an observation that may come with a mask or with pictures."""
    for key in ("observation", "state"):
        if isinstance(observation, dict) and key in observation:
            observation = observation[key]
    return observation


def _check_types(player: Player) -> None:
    env, out = player.env, player.last
    if player.is_parallel:
        for agent, observation in out[0].items():
            if not env.observation_space(agent).contains(observation):
                raise Failed(f"the observation of {agent} is outside its space: {observation!r}")
        return
    for path, space, found in _parts(env.observation_space, out[0]):
        if not isinstance(found, np.ndarray) or found.dtype != space.dtype:
            given = getattr(found, "dtype", type(found))
            raise Failed(f"{type(env).__name__} returned an observation{path} of type {given}")
    if not env.observation_space.contains(out[0]):
        raise Failed(f"{type(env).__name__} returned an observation outside its space: {out[0]!r}")
    taken = [key for key in RESERVED_KEYS if key in out[-1]]
    if taken:
        raise Failed(f"{type(env).__name__} uses the info keys {taken}, which belong to others")
    if len(out) == 2 or player.is_vector:
        return
    reward, terminated, truncated = out[1:4]
    if type(terminated) is not bool or type(truncated) is not bool:
        raise Failed(
            f"terminated and truncated are {type(terminated).__name__} and {type(truncated).__name__}, not bool"
        )
    if hasattr(env, "reward_space"):
        if not env.reward_space.contains(reward):
            raise Failed(f"the reward vector {reward!r} is outside {env.reward_space}")
    elif type(reward) is not float or not math.isfinite(reward):
        raise Failed(f"the reward {reward!r} is not a finite float")


def repeatable(t: Subject) -> str:
    """2. Two copies with the same seed return the same observations, rewards, flags and infos, reset's included.

    To mend: draw only from the `rng` that kernels are given; keep nothing outside the state; no clocks in info.
    """
    steps = 2 * t.short + 3
    for name, make in t.forms():
        env = make(horizon=t.short)
        first = Player(env, seed=3).play(steps)
        _compare(f"two copies of {name} with the same seed", first, Player(make(horizon=t.short), seed=3).play(steps))
        _compare(f"{name} and itself, seeded again", first, Player(env, seed=3).play(steps))
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
            _compare(f"{name} and its {way}", record, twin.play(2 * t.short))
    return "deepcopy and pickle of every form go on alike"


def fresh_arrays(t: Subject) -> str:
    """4. What one call returns shares no memory with what the next returns, and is never changed afterwards.

    To mend: return copies, not views of the arrays that the next step overwrites.
    """
    for name, make in t.forms():
        player = Player(make(horizon=t.short))
        for _ in range(t.short + 2):
            before = list(_arrays(player.raw))
            player.step()
            for path, array in _arrays(player.raw):
                shared = next((old for old, other in before if np.shares_memory(array, other)), None)
                if shared is not None:
                    raise Failed(f"{name} returned {path} in the memory of the previous call's {shared}")
    return "observations and infos of consecutive calls"


def _arrays(value: Any, path: str = "") -> Iterator[tuple[str, np.ndarray]]:
    if isinstance(value, np.ndarray) and value.dtype != object:
        yield path or "value", value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _arrays(item, f"{path}[{key!r}]")
    elif isinstance(value, (tuple, list)):
        for i, item in enumerate(value):
            yield from _arrays(item, f"{path}[{i}]")


def no_constant_elements(t: Subject) -> str:
    """5. Every element of the observation changes at some time, unless its block is declared constant=True.

    To mend: write the element in `observe`, drop it, or declare the block constant.
    """
    batch = t.batch(t.scale(32, 6))
    names = block_names(t.world, batch.setup)
    exempt = np.concatenate(
        [np.full(_count(batch.setup, part), part.constant) for part in t.world.observation.values()]
    )
    low, high = np.full(len(names), np.inf), np.full(len(names), -np.inf)
    for seed in range(t.scale(4, 2)):
        for policy in t.policies:
            trajectory = roll(batch, min(2 * t.horizon, t.scale(250, 60)), policy, seed=1000 * seed)
            flat = trajectory.observations.reshape(-1, len(names))
            low, high = np.minimum(low, flat.min(axis=0)), np.maximum(high, flat.max(axis=0))
            if ((low < high) | exempt).all():
                return f"{len(names)} elements, {int(exempt.sum())} declared constant"
    still = np.flatnonzero((low == high) & ~exempt)
    shown = ", ".join(f"{names[j]} = {low[j]:g}" for j in still[:4])
    raise Failed(f"{len(still)} of {len(names)} elements never change: {shown}{' ...' if len(still) > 4 else ''}")


def _count(setup: Setup, part: Any) -> int:
    return int(np.prod([setup.sizes[d] if isinstance(d, str) else d for d in part.shape], dtype=int))


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


def neighbours_untouched(t: Subject) -> str:
    """8. What one world of a batch does, when it ends and when it is reset leaves its neighbours as they are.

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
        changed = difference(_rows_from(before, 1), _rows_from(other.last[0], 1))
        if changed:
            raise Failed(f"resetting world 0 alone changed others: {changed}")
        interlude = len(other.record) - 1
        other.play(steps - 3)
        del other.record[interlude]
        mine, theirs = (_neighbours(record) for record in (calm, other.record))
        _compare(f"{mode.name}: worlds 1 to 3 beside two different worlds 0", mine, theirs)
    return f"{steps} steps beside two different neighbours"


def _neighbours(record: Sequence[Any]) -> list[Any]:
    """What a record says of all worlds but the first; whether there are finals depends on the first one too."""
    drop = ("final_obs", "final_info", "_final_obs", "_final_info")
    slim = [(*out[:-1], {key: value for key, value in out[-1].items() if key not in drop}) for out in record]
    return [_rows_from(out, 1) for out in slim]


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
        _compare(f"episodes with horizon {limit} and {2 * limit}", [o[:3] for o in short], [o[:3] for o in long])
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
            found = player.last[-1]["final_obs"][row] if same_step else _row(player.last[0], int(row))
            finals.setdefault(int(row), found)
    return finals


def _row(observations: Any, row: int) -> Any:
    if isinstance(observations, dict):
        return {name: array[row] for name, array in observations.items()}
    return observations[row]


def forms_agree(t: Subject) -> str:
    """7. Single, vector (all autoreset modes), Gymnasium's SyncVectorEnv, parallel form and batch agree bit for bit.

    To mend: let a world's kernels depend on its own state and parameters only, and API forms only copy from the batch.
    """
    steps = 2 * t.short + 3
    for mode in AutoresetMode:
        ours = Player(t.vector(3, mode, horizon=t.short)).play(steps)
        stock = Player(_sync_vector(t, mode)).play(steps)
        _compare(f"{mode.name}: VectorEnv and SyncVectorEnv of Env", _vector_record(ours), _vector_record(stock))
    reference, states = _batch_run(t, 5, 1, steps, None)
    for count, threads in ((5, 2), (2, 1), (1, 1)):
        trajectory, other = _batch_run(t, count, threads, steps, reference.actions[:, :count])
        for name in Trajectory._fields:
            wrong = difference(getattr(reference, name)[:, :count], getattr(trajectory, name))
            if wrong:
                raise Failed(f"{name} of a batch of 5 and of one of {count} with {threads} threads differ: {wrong}")
        if states[:count] != other:
            raise Failed(f"the states of a batch of 5 and of one of {count} with {threads} threads differ")
    if t.world.agents and t.dress:
        _layers_agree(t)
    elif t.world.agents:
        _parallel_agrees(t, reference)
    return f"{steps} steps in {'6' if t.world.agents else '5'} forms"


def _sync_vector(t: Subject, mode: AutoresetMode) -> SyncVectorEnv:
    stock = SyncVectorEnv([functools.partial(t.env, horizon=t.short)] * 3, autoreset_mode=mode)
    space = getattr(stock.envs[0], "reward_space", None)
    if space is not None:  # its array of rewards has no room for vectors
        stock._rewards = np.zeros((3, *space.shape), np.float32)
    return stock


def _batch_run(t: Subject, count: int, threads: int, steps: int, actions: Any) -> tuple[Trajectory, list[bytes]]:
    batch = t.batch(count, threads=threads, horizon=t.short)
    return roll(batch, steps, actions=actions), [batch.get_state(i).state for i in range(count)]


def _layers_agree(t: Subject) -> None:
    """Failed when the first agent fares otherwise in the single form, where the others do nothing, than in the parallel
    form, where they choose to do nothing."""
    single, parallel = t.env(horizon=t.short), t.parallel(horizon=t.short)
    first = parallel.possible_agents[0]
    for seed in range(2):
        (seen, _), (all_seen, _) = single.reset(seed=seed), parallel.reset(seed=seed)
        chooser = np.random.default_rng(seed)
        for step in range(t.short):
            wrong = difference(
                seen, all_seen[first]["observation"] if "action_mask" in all_seen[first] else all_seen[first]
            )
            if wrong:
                raise Failed(f"the first agent's observations in Env and ParallelEnv differ at step {step}: {wrong}")
            action = choose(chooser, single.action_space)
            idle = {a: np.zeros_like(parallel.action_space(a).sample()) for a in parallel.agents}
            seen, reward, terminated, truncated, _ = single.step(action)
            all_seen, rewards, ends, cuts, _ = parallel.step({**idle, first: action})
            wrong = difference([reward, terminated, truncated], [rewards[first], ends[first], cuts[first]])
            if wrong:
                raise Failed(f"what the first agent gets in Env and ParallelEnv differs at step {step}: {wrong}")
            if terminated or truncated:
                break


def _parallel_agrees(t: Subject, batch: Trajectory) -> None:
    """Failed when the first episode of a parallel form differs from the row of the batch with the same seed."""
    continuous = Setup(t.world, **t.choices).continuous
    for row in range(2):
        env = t.parallel(horizon=t.short)
        env.reset(seed=row)
        agents = {agent: k for k, agent in enumerate(env.possible_agents)}
        for step, given in enumerate(batch.actions[:, row]):
            if not env.agents:
                break
            sizes = [role.action for role in env.batch.setup.roles]
            actions = {a: given[k, : sizes[k]] if continuous else int(given[k, 0]) for a, k in agents.items()}
            observations, rewards, terminated, truncated, _ = env.step({a: actions[a] for a in env.agents})
            for agent in rewards:
                k = agents[agent]
                plain = _vector_of(observations[agent])
                reward = batch.terms[step, row, : len(t.world.terms), k].astype(np.float32)
                whole = batch.observations[step + 1, row, k]
                wanted = (
                    whole[: env.batch.setup.roles[k].observation] if t.world.roles else whole,
                    reward if t.vector_reward else batch.rewards[step, row, k].item(),
                    batch.terminated[step, row, k].item(),
                    batch.truncated[step, row, k].item(),
                )
                _compare(
                    f"ParallelEnv ({agent}) and batch row {row} at step {step}",
                    [(plain, rewards[agent], terminated[agent], truncated[agent])],
                    [wanted],
                )


def parameters_matter(t: Subject) -> str:
    """10. Every parameter, set to the ends of its range, changes some trajectory, and all stays finite there.

    To mend: use the parameter in a kernel (is a derived value computed elsewhere?), or drop it. If it shows only under
    certain settings, declare these in `probe={"name": {...}}`.
    """
    if not t.world.params:
        raise NotApplicable("the world has no parameters")
    seen: dict[str, list[Trajectory]] = {}
    silent = []
    for name, declared in t.world.params.items():
        setting = dict(t.world.probe.get(name, {}))
        key = repr(sorted(setting.items()))
        if key not in seen:
            steps = min(t.horizon, t.scale(400, 60))
            seen[key] = [roll(t.having(**setting).batch(t.scale(8, 3)), steps, policy) for policy in t.policies]
        ends = [{**setting, name: end} for end in (declared.low, declared.high)]
        if not any(_changes(t.having(**end), base) for base in seen[key] for end in ends):
            silent.append(f"{name} in [{declared.low:g}, {declared.high:g}]")
    if silent:
        raise Failed(f"no trajectory changes with {', '.join(silent)}")
    return f"{len(t.world.params)} parameters at both ends of their ranges"


def _changes(t: Subject, base: Trajectory) -> bool:
    """Whether a batch, given the actions of a trajectory, departs from it; Failed when it stops being finite."""
    batch = t.batch(base.actions.shape[1])
    batch.seed(range(batch.num_worlds))
    batch.reset()
    if difference(batch.observations, base.observations[0]):
        return True
    for step, actions in enumerate(base.actions):
        batch.load_actions(actions)
        batch.step_loaded()
        if not (np.isfinite(batch.observations).all() and np.isfinite(batch.terms).all()):
            raise Failed(f"observations or terms are not finite at step {step} with {dict(t.choices)}")
        now = (batch.observations, batch.terms, batch.terminated, batch.success)
        then = (base.observations[step + 1], base.terms[step], base.terminated[step], base.success[step])
        if difference(now, then):
            return True
    return False


def rewards_add_up(t: Subject) -> str:
    """11. Terms and costs are finite and inside their bounds; the weighted sum of the terms is the reward, and in a
    world with goals it is what `compute_reward` says of the goals in the observation.

    To mend: correct the bounds in `terms` and `costs`, or the kernel that leaves them; keep goals as f4 fields of the
    state, let `judge` call `grade` on them, and give terms that do not follow from goals the weight 0.
    """
    for policy in t.policies:
        _check_terms(t, t.scale(16, 3), min(2 * t.horizon, t.scale(300, 40)), policy)
        if t.world.goal:
            _check_goals(t, t.scale(16, 3), min(2 * t.horizon, t.scale(300, 40)), policy)
    setup = Setup(t.world, **t.choices)
    player = Player(t.env())
    for _ in range(t.scale(60, 20)):
        player.step()
        if len(player.last) == 2:
            continue
        reward, info = player.last[1], player.last[-1]
        terms = np.array([info[f"reward_{name}"] for name in t.world.terms])
        if difference(info["reward_vector"], terms.astype(np.float32)):
            raise Failed(f"info['reward_vector'] is {info['reward_vector']}, the terms are {terms}")
        if not np.allclose(reward, terms if t.vector_reward else terms @ setup.weights, rtol=1e-6, atol=1e-9):
            raise Failed(
                f"Env returned the reward {reward}; the terms {terms} with weights {setup.weights} give another"
            )
        costs = [info[f"cost_{name}"] for name in t.world.costs]
        if not costs:
            continue
        total = max(costs) if t.world.combine_costs == "max" else sum(costs)
        if not math.isclose(info["cost"], total, rel_tol=1e-9):
            raise Failed(f"info['cost'] is {info['cost']}, not the {t.world.combine_costs} of the costs {costs}")
    return f"{len(t.world.terms)} terms and {len(t.world.costs)} costs"


def _check_terms(t: Subject, worlds: int, steps: int, policy: str) -> None:
    batch = t.batch(worlds)
    trajectory = roll(batch, steps, policy)
    bounds = [(name, term.low, term.high) for name, term in t.world.terms.items()]
    bounds += [(name, 0.0, cost.high) for name, cost in t.world.costs.items()]
    for j, (name, low, high) in enumerate(bounds):
        values = trajectory.terms[:, :, j][trajectory.active]
        slack = 1e-9 * (1.0 + max(abs(low), abs(high)))
        wrong = values[~((values >= low - slack) & (values <= high + slack))]
        if len(wrong):
            raise Failed(f"{name} is {wrong[0]:g}, outside its bounds [{low:g}, {high:g}]")
    terms = trajectory.terms[:, :, : len(t.world.terms)]
    sums = np.einsum("tnka,k->tna", terms, batch.setup.weights)
    if not np.allclose(sums, trajectory.rewards, rtol=1e-12, atol=1e-12):
        raise Failed("the weighted sum of the terms is not the reward")


def _check_goals(t: Subject, worlds: int, steps: int, policy: str) -> None:
    batch = t.batch(worlds)
    trajectory = roll(batch, steps, policy)
    size = batch.setup.goal_size
    goals = trajectory.observations[1:, ..., -2 * size :]
    graded, _ = batch.compute_reward(goals[..., :size], goals[..., size:])
    wrong = np.argwhere((graded != trajectory.rewards) & trajectory.active)
    if len(wrong):
        at = tuple(wrong[0].tolist())
        raise Failed(
            f"the reward is {trajectory.rewards[at]:g} at step {at[0]} of world {at[1]}, and compute_reward of the "
            f"goals there {graded[at]:g}"
        )


def instances_independent(t: Subject) -> str:
    """12. A second instance, with another seed and other parameters, leaves the first as it is.

    To mend: keep nothing that changes in classes, modules or default arguments.
    """
    steps = 2 * t.short + 3
    other = {name: p.high if p.high != p.default else p.low for name, p in t.world.params.items()}
    for name, make in t.forms():
        alone = Player(make(horizon=t.short)).play(steps)
        first = Player(make(horizon=t.short))
        second = Player(make(horizon=t.short, **other), seed=99)
        for _ in range(steps):
            second.step()
            first.step()
        _compare(f"{name} alone and beside a second instance", alone, first.record)
    return f"{steps} steps beside a second instance"


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


def sizes_and_levels(t: Subject) -> str:
    """14. Levels, and the smallest, largest and non-square sizes, keep rules 1, 7 and 11 too.

    To mend: read sizes from the arrays in kernels, never write them down; refuse the impossible with ParameterError.
    """
    settings = [*({"level": level} for level in t.world.levels), *_odd_sizes(t)]
    if not settings:
        raise NotApplicable("the world has neither levels nor sizes")
    for setting in settings:
        odd = t.having(**setting)
        steps = t.scale(24, 8)
        try:
            for policy in t.policies:
                _check_values(odd, 2, steps, policy)
                _check_terms(odd, 2, steps, policy)
            for seed in range(2):
                single = Player(odd.env(horizon=steps), seed).play(steps)
                row = Player(odd.vector(2, horizon=steps)).play(steps)
                _compare("Env and row of VectorEnv", [o[0] for o in single], [_row(o[0], seed) for o in row])
        except Exception as error:
            raise Failed(f"with {setting}: {type(error).__name__}: {error}") from error
    return "; ".join(", ".join(f"{name}={value}" for name, value in setting.items()) for setting in settings)


def _odd_sizes(t: Subject) -> list[dict[str, Any]]:
    """Settings with the smallest, the largest and a non-square size."""
    usual = Setup(t.world, **t.choices)
    now = vars(usual.values)
    sized = []
    found: list[dict[str, Any]] = []
    for name, option in t.world.options.items():
        if not isinstance(option, Integer):
            continue
        ends = [_feasible(t, name, end, now[name]) for end in (option.low, option.high)]
        changed = [
            {name: end}
            for end in ends
            if end != now[name] and Setup(t.world, **{**t.choices, name: end}).sizes != usual.sizes
        ]
        found += changed
        sized += [name] if changed else []
    for pair in (("height", "width"), ("rows", "columns")):
        if set(pair) <= set(sized):
            for name in pair:
                longer = _feasible(t, name, now[name] + 3, now[name])
                found.append({name: longer if longer != now[name] else _feasible(t, name, now[name] - 3, now[name])})
    return found


def _feasible(t: Subject, name: str, value: int, usual: int) -> int:
    """The value, or the nearest on the way to the usual one that the world takes and that is not too big to check."""
    while value != usual:
        try:
            setup = Setup(t.world, **{**t.choices, name: value})
        except ParameterError:
            pass
        else:
            numbers = setup.dtypes["state"].itemsize + 4 * setup.agents * setup.scaling.shape[1]
            if value < usual or (setup.agents <= t.scale(MOST_AGENTS, 8) and numbers <= t.scale(MOST_BYTES, 20_000)):
                return value
        value = (value + usual) // 2 if value > usual else usual - (usual - value) // 2
    return value


def headings(t: Subject) -> str:
    """15. The docstring has the ten headings in their order, a text under each, and its examples run.

    To mend: see `rlenvs.core.docs.HEADINGS`.
    """
    complaints = check_headings(t.world.doc)
    if complaints:
        raise Failed("; ".join(complaints))
    test = doctest.DocTestParser().get_doctest(t.world.doc, {}, t.world.name, None, 0)
    told: list[str] = []
    results = doctest.DocTestRunner().run(test, out=told.append)
    if results.failed:
        raise Failed(f"an example in the docstring fails: {''.join(told).strip().splitlines()[-1]}")
    return f"all headings, {len(test.examples)} examples"


def golden(t: Subject) -> str:
    """16. A short rollout gives the numbers recorded for this world: changed behaviour needs a new version.

    To mend: when the change alters learning, give the world a new -vN and keep the old one; when the record is what is
    wrong, `python -m rlenvs.core.check --record Name-v0`.
    """
    recorded = read_golden(t.golden or golden_file(t.world)).get(t.world.name)
    if recorded is None:
        raise NotApplicable("nothing recorded; record with `python -m rlenvs.core.check --record`")
    found = golden_digest(t.world, t.backend)
    for name, value in recorded.items():
        if name not in found or not math.isclose(found[name], value, rel_tol=1e-5, abs_tol=1e-5):
            raise Failed(f"{name} is {found.get(name)}, recorded was {value}")
    return ", ".join(f"{name} {value:g}" for name, value in found.items())


def golden_digest(world: World, backend: str = "numba") -> dict[str, float]:
    """Numbers that tell the behaviour of a world's default form: 4 worlds, 32 steps, random actions.

    Numbers, not a hash: the last bits of sin and exp differ between machines.
    """
    batch = new_batch(world, 4, backend=backend)
    trajectory = roll(batch, 32)  # longer ones of some worlds are chaotic

    def project(values: np.ndarray) -> float:
        flat = values.astype(np.float64).ravel()
        return float(f"{flat @ np.cos(np.arange(flat.size)):.12g}")

    ends = trajectory.terminated.sum() + 1000 * trajectory.truncated.sum()
    return {"observations": project(trajectory.observations), "terms": project(trajectory.terms), "ends": int(ends)}


def read_golden(path: Path | None) -> dict[str, dict[str, float]]:
    """The recorded numbers by world; empty when there is no file."""
    return json.loads(path.read_text(encoding="utf-8")) if path and path.exists() else {}


def parity(t: Subject) -> str:
    """17. Parity with the published original: one state sync, then actions only.

    The originals are not installed with this package: their recordings, and the tests that compare with them, lie under
    tests/ and benchmarks/parity/. This rule is listed so that nobody forgets it.
    """
    raise NotApplicable("covered by the parity test of the world, where a published original exists")


def bad_input(t: Subject) -> str:
    """18. Bad input is an error that names the environment and the fault, and moves nothing.

    Wrong shape or type, NaN or no choice, unknown keyword (the nearest valid one is named), impossible parameter,
    unknown level, a step before reset and after the end. To mend: leave these to the core.
    """
    env = t.env(horizon=t.short)
    _refuses("a step before reset", EpisodeOverError, [t.world.name], env.step, _any_action(env))
    env.reset(seed=0)
    for action in _bad_actions(env.action_space):
        before = env.get_state()
        _refuses(f"the action {action!r}", ActionError, [t.world.name], env.step, action)
        if difference(before, env.get_state()):
            raise Failed(f"the refused action {action!r} moved the world")
    known = [*t.world.params, *t.world.options, "horizon"][0]
    wrong = known + "x"
    _refuses(f"the keyword {wrong}", UnknownKeywordError, [wrong, repr(known)], t.env, **{wrong: 1})
    _refuses("an unknown level", UnknownNameError, ["nowhere"], t.env, level="nowhere")
    _refuses("horizon=0", ParameterError, ["horizon"], t.env, horizon=0)
    _refuses("no environments", ParameterError, ["0"], t.vector, 0)
    for name, declared in t.world.params.items():
        for value in (declared.high + abs(declared.high) + 1.0, math.nan):
            _refuses(f"{name}={value}", ParameterError, [name], t.env, **{name: value})
    player = Player(env)
    while not player.ended:
        player.step()
    _refuses("a step after the end", EpisodeOverError, [t.world.name], env.step, _any_action(env))
    if t.world.agents:
        parallel = t.parallel()
        _refuses("a step before reset", EpisodeOverError, [t.world.name], parallel.step, {})
        parallel.reset(seed=0)
        _refuses("a missing action", ActionError, [t.world.name, parallel.agents[0]], parallel.step, {})
    return "actions, keywords, parameters, order of calls"


def _any_action(env: Env) -> Any:
    return choose(np.random.default_rng(0), env.action_space)


def _bad_actions(space: spaces.Space) -> list[Any]:
    if isinstance(space, spaces.Box):
        return [np.zeros(space.shape[0] + 1, np.float32), np.full(space.shape, np.nan, np.float32), "left", None]
    assert isinstance(space, spaces.Discrete)
    return [int(space.n), -1, [0, 0], 0.5, None]


def _refuses(
    what: str, kind: type[Exception], named: Sequence[str], call: Callable[..., Any], *args: Any, **keywords: Any
) -> None:
    """Failed unless a call raises this kind of error, with these words in its message."""
    try:
        call(*args, **keywords)
    except kind as error:
        absent = [word for word in named if word not in str(error)]
        if absent:
            raise Failed(f"the error after {what} does not name {absent}: {error}") from None
    except Exception as error:
        raise Failed(f"{what} gave {type(error).__name__} ({error}), not {kind.__name__}") from error
    else:
        raise Failed(f"{what} was accepted; {kind.__name__} is due")


def backends_agree(t: Subject) -> str:
    """19. The kernels as plain Python give what the compiled ones give.

    Integers must be equal, floats to 1e-9, what is float32 (observations) to 1e-5: compiled code may use another power
    or sine, whose last bit differs, and NumPy keeps float32 where numba takes float64. To mend: avoid integer overflow,
    uninitialised locals and arithmetic on booleans; take float(...) of float32 fields before computing with them.
    """
    if t.backend != "numba":
        raise NotApplicable("checked with the numba backend only")
    batches = [t.batch(2), replace(t, backend="python").batch(2)]
    first = roll(batches[0], 20)
    second = roll(batches[1], 20, actions=first.actions)
    if not np.allclose(first.observations, second.observations, rtol=0, atol=1e-5):
        worst = np.abs(first.observations - second.observations).max()
        raise Failed(f"observations differ by {worst:g}")
    for name in t.world.state:
        a, b = (batch._states[name] for batch in batches)
        slack = {"f8": 1e-9, "f4": 1e-5}.get(a.dtype.str[1:], 0.0)
        unequal = np.argwhere(~np.isclose(a, b, rtol=slack, atol=slack, equal_nan=True))
        if len(unequal):
            at = tuple(unequal[0].tolist())
            place = f"{name}{list(at[1:]) if at[1:] else ''} of world {at[0]}"
            raise Failed(f"after 20 steps the state {place} is {a[at]!r} compiled and {b[at]!r} as plain Python")
    return "20 steps of 2 worlds"


class Rule(NamedTuple):
    """A rule: its number, its function, and the numbers of the rules that it builds on."""

    number: int
    check: Callable[[Subject], str]
    needs: tuple[int, ...] = ()


# 7 comes late: when forms differ, one of the rules that it builds on tells better what is wrong
RULES = (
    Rule(1, spaces_hold),
    Rule(2, repeatable, (1,)),
    Rule(3, copies, (1, 2)),
    Rule(4, fresh_arrays, (1,)),
    Rule(5, no_constant_elements, (1,)),
    Rule(6, starts_differ, (1,)),
    Rule(8, neighbours_untouched, (1, 2)),
    Rule(9, time_limit, (1, 2, 8)),
    Rule(10, parameters_matter, (1, 2)),
    Rule(11, rewards_add_up, (1,)),
    Rule(12, instances_independent, (1, 2)),
    Rule(7, forms_agree, (1, 2, 4, 8, 9, 11, 12)),
    Rule(13, seeding, (1,)),
    Rule(14, sizes_and_levels, (1, 2, 7, 11)),
    Rule(15, headings),
    Rule(16, golden, (1, 2)),
    Rule(17, parity),
    Rule(18, bad_input, (1,)),
    Rule(19, backends_agree, (1, 2)),
)
# those that layers on an environment could break; the others are about the world itself
LAYER_RULES = (1, 2, 3, 4, 7, 8, 9, 12, 13, 18)
