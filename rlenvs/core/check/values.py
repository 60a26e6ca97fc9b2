"""Rules on the values that an environment returns: observations, rewards, costs, masks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.check.playing import Chooser, Player, Trajectory, difference, roll
from rlenvs.core.check.subject import Subject
from rlenvs.core.check.verdicts import Failed
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World

# info keys that belong to Gymnasium and the learners
RESERVED_KEYS = ("episode", "terminal_observation", "TimeLimit.truncated", "final_obs", "final_info")


def spaces_hold(t: Subject) -> str:
    """1. Spaces contain every observation, with their exact dtype and shape, finite; rewards, flags and masks too.

    To mend: widen the block whose values leave it, or find the division or logarithm that gives NaN in `observe`; a raw
    block must be kept inside its bounds by the kernel; an action mask allows at least one action; scripted players
    choose what their masks allow.
    """
    count = sum(check_values(t, *t.rollout(policy), policy) for policy in t.policies)
    for _, make in t.forms():
        player = Player(make())
        for _ in range(t.scale(50, 20)):
            _check_types(player)
            player.step()
    return f"{count} observations by {' and '.join(t.policies)}" if t.policies else "the forms alone"


def check_values(t: Subject, batch: KernelBatch, trajectory: Trajectory, policy: str) -> int:
    """Failed when an observation, a mask or a choice of a player leaves its space; how many were looked at."""
    observations, space = trajectory.observations, batch.setup.state_space
    published = t.world.published is not None and not batch.setup.in_scaled_form
    if not published and not (np.isfinite(space.low).all() and np.isfinite(space.high).all()):
        raise Failed(f"the observation space has infinite bounds: {space}")
    inside = _inside(space, observations)
    broken = np.argwhere(trajectory.errors != "")
    if len(broken):
        step, world = broken[0].tolist()
        where = f"step {step} of world {world}, played by {policy}"
        raise Failed(f"the episode was broken off at {where}: {trajectory.errors[step, world]}")
    if not inside.all():
        at = tuple(np.argwhere(~inside)[0].tolist())
        name = block_names(t.world, batch.setup)[int(np.ravel_multi_index(at[3:], space.shape)) if space.shape else 0]
        where = f"step {at[0]} of world {at[1]}, agent {at[2]}, played by {policy}"
        raise Failed(f"observation {name} is {observations[at]} at {where}")
    masks = trajectory.masks[:-1]
    strange = (masks != 0) & (masks != 1)
    if strange.any():
        raise Failed(f"an action mask holds {masks[strange][0]}; it may hold 0 and 1")
    stuck = trajectory.active & ~masks.any(axis=-1)
    if stuck.any():
        at = tuple(np.argwhere(stuck)[0].tolist())
        raise Failed(f"at step {at[0]} of world {at[1]} the action mask of agent {at[2]} allows nothing")
    if policy != "random" and not batch.setup.continuous:
        _check_allowed(batch.setup, trajectory, policy)
    if not batch.setup.central_space.contains(batch.central()[0]):
        raise Failed(f"the central state is outside its space: {batch.central()[0]}")
    return int(np.prod(observations.shape[:3]))


def _inside(space: spaces.Box[Any], observations: np.ndarray) -> np.ndarray:
    """Which numbers are finite and within a space: NaN is within nothing, all bytes are within those of images."""
    if observations.dtype == np.uint8 and not space.low.any() and (space.high == 255).all():
        return np.broadcast_to(np.True_, observations.shape)  # without a look at millions of bytes
    inside = (observations >= space.low) & (observations <= space.high)
    bounded = np.isfinite(space.low).all() and np.isfinite(space.high).all()
    return inside if bounded else inside & np.isfinite(observations)


def _check_allowed(setup: Setup, trajectory: Trajectory, player: str) -> None:
    """Failed when a scripted player chose what its mask forbids."""
    parts = enumerate(setup.parts_of_mask(trajectory.masks[:-1]))
    allowed = [np.take_along_axis(part, trajectory.actions[..., j : j + 1], axis=-1) for j, part in parts]
    wrong = trajectory.active[..., None] & (np.concatenate(allowed, axis=-1) == 0)
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0].tolist())
        choice = trajectory.actions[at]
        who = "the expert" if player == "expert" else f"player {player!r}"
        where = f"agent {at[2]} of world {at[1]} at step {at[0]}"
        raise Failed(f"{who} chose {choice} as {where}, which the mask forbids")


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


def vector_of(observation: Any) -> Any:
    """The vector in an observation that may come with a mask or with images."""
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
        if isinstance(space, spaces.Discrete) and type(found) is int:
            continue
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


def no_constant_elements(t: Subject) -> str:
    """5. Every element of the observation changes at some time, unless its block is declared constant=True.

    To mend: write the element in `observe`, drop it, or declare the block constant.
    """
    batch = t.batch(1)
    if not t.world.observation or batch.setup.alone:
        return _images_change(t)
    names = block_names(t.world, batch.setup)
    exempt = np.concatenate(
        [np.full(_count(batch.setup, part), part.constant) for part in t.world.observation.values()]
    )
    low, high = np.full(len(names), np.inf), np.full(len(names), -np.inf)
    for observations in _many_observations(t):
        flat = observations.reshape(-1, len(names))
        low, high = np.minimum(low, flat.min(axis=0)), np.maximum(high, flat.max(axis=0))
        if ((low < high) | exempt).all():
            return f"{len(names)} elements, {int(exempt.sum())} declared constant"
    still = np.flatnonzero((low == high) & ~exempt)
    shown = ", ".join(f"{names[j]} = {low[j]:g}" for j in still[:4])
    raise Failed(f"{len(still)} of {len(names)} elements never change: {shown}{' ...' if len(still) > 4 else ''}")


def _images_change(t: Subject) -> str:
    """Of observations that are images alone: pixels may stay as they are, but not all of them."""
    batch = t.batch(1)
    batch.seed(0)
    batch.reset()
    first = {name: images.copy() for name, images in batch.images.items()}
    chooser = Chooser(batch, "random")
    for step in range(min(t.horizon, t.scale(400, 60))):
        chooser.load(step)
        batch.step_inplace()
        first = {name: images for name, images in first.items() if (images == batch.images[name]).all()}
        if not first:
            return f"{len(batch.images)} images"
    raise Failed(f"no pixel of {', '.join(first)} ever changes")


def _many_observations(t: Subject) -> Iterator[np.ndarray]:
    """Observations by all policies: of the common rollouts, then of others."""
    for policy in t.policies:
        yield t.rollout(policy)[1].observations
    batch = t.batch(t.scale(32, 6))
    for seed in range(1, t.scale(4, 2)):
        for policy in t.policies:
            yield roll(batch, min(2 * t.horizon, t.scale(250, 60)), policy, seed=1000 * seed).observations


def _count(setup: Setup, part: Any) -> int:
    return int(np.prod([setup.sizes[d] if isinstance(d, str) else d for d in part.shape], dtype=int))


def rewards_add_up(t: Subject) -> str:
    """11. Terms and costs are finite and inside their bounds; the weighted sum of the terms is the reward, and in a
    world with goals it is what `compute_reward` says of the goals in the observation, where it follows from them.

    To mend: correct the bounds in `terms` and `costs`, or the kernel that leaves them; keep goals as f4 fields of the
    state, let `outcome` call `goal_outcome` on them, and give terms that do not follow from goals the weight 0.
    """
    for policy in t.policies:
        batch, trajectory = t.rollout(policy)
        check_terms(t, batch, trajectory, policy)
        if t.world.goal and not batch.setup.beside_goals:
            _check_goals(batch, trajectory)
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


def check_terms(t: Subject, batch: KernelBatch, trajectory: Trajectory, policy: str) -> None:
    """Failed when a term or a cost leaves its bounds, or the reward is not their weighted sum."""
    world = batch.world  # a level may have other terms
    low, high = term_bounds(world)
    wrong = ~((trajectory.terms >= low) & (trajectory.terms <= high)) & trajectory.active[:, :, None]
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0].tolist())
        raise Failed(out_of_bounds(world, at[2], trajectory.terms[at], at[0], at[1], policy))
    terms = trajectory.terms[:, :, : len(world.terms)]
    sums = np.einsum("tnka,k->tna", terms, batch.setup.weights)
    if not np.allclose(sums, trajectory.rewards, rtol=1e-12, atol=1e-12):
        raise Failed("the weighted sum of the terms is not the reward")


def term_bounds(world: World) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest value of terms and costs, each (terms, 1), with room for rounding."""
    bounds = [(term.low, term.high) for term in world.terms.values()]
    bounds += [(0.0, cost.high) for cost in world.costs.values()]
    low, high = np.array(bounds).T[:, :, None]
    slack = 1e-9 * (1.0 + np.maximum(np.abs(low), np.abs(high)))
    return low - slack, high + slack


def out_of_bounds(world: World, j: int, value: float, step: int, row: int, policy: str) -> str:
    """What to say of the term or cost with number j."""
    name = [*world.terms, *world.costs][j]
    declared = world.terms.get(name)
    low, high = (declared.low, declared.high) if declared else (0.0, world.costs[name].high)
    where = f"at step {step} of world {row}, played by {policy}"
    return f"{name} is {value:g}, outside its bounds [{low:g}, {high:g}], {where}"


def _check_goals(batch: KernelBatch, trajectory: Trajectory) -> None:
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
