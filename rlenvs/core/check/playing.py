"""Players that record what they see, rollouts of batches, and exact comparison."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.declare.action_form import counts_of


class Player:
    """Plays any API form with random actions of its own, and keeps everything that it returned.

    Row i of a vector form gets the actions that a single form gets from a player with seed + i.
    """

    def __init__(self, env: Any, seed: int = 0) -> None:
        self.env, self.seed = env, seed
        self.rows = getattr(env, "num_envs", 1)
        self.choosers = [np.random.default_rng(seed + row) for row in range(self.rows)]
        self.record: list[Any] = []
        self.raw: Any = None  # what the last call returned, itself and not a copy
        self.masks: Any = None
        self.given: Any = None  # the actions of the last step, themselves
        self.given_then: Any = None  # and as they were
        self.reset(seed=seed)

    @property
    def last(self) -> Any:
        """What the last call returned."""
        return self.record[-1]

    @property
    def ended(self) -> Any:
        """Whether the episode is over: a bool, in vector form one per row."""
        if len(self.last) == 2:
            return np.zeros(self.rows, np.bool_) if self.is_vector else False
        if self.is_parallel:
            return not self.env.agents
        ended = np.logical_or(self.last[2], self.last[3])
        return ended if self.is_vector else bool(ended)

    @property
    def is_vector(self) -> bool:
        """Whether it plays a vector form."""
        return isinstance(self.env, gymnasium.vector.VectorEnv)

    @property
    def is_parallel(self) -> bool:
        """Whether it plays a parallel form."""
        return not isinstance(self.env, (gymnasium.Env, gymnasium.vector.VectorEnv))

    def reset(self, **keywords: Any) -> None:
        """Reset the environment."""
        self._keep(self.env.reset(**keywords))

    def _keep(self, returned: Any) -> None:
        self.raw = returned
        self.record.append(_copied(returned))
        infos = returned[-1]
        if self.is_vector and "action_mask" in infos:  # a partial reset tells of the rows that were reset only
            present, masks = infos["_action_mask"], infos["action_mask"]
            self.masks = masks.copy() if self.masks is None else np.where(present[:, None], masks, self.masks)

    def step(self) -> None:
        """One step, or a reset where an episode has ended and nothing else resets it."""
        if not self.is_vector and self.ended:
            if not self.is_parallel:
                self.actions()  # the row of a vector form gets an action here, which it ignores
            self.reset()
        elif self.is_vector and self.env.metadata["autoreset_mode"] is AutoresetMode.DISABLED and self.ended.any():
            self.reset(options={"reset_mask": self.ended})
        else:
            self.given = self.actions()
            self.given_then = _copied(self.given)
            self._keep(self.env.step(self.given))

    def play(self, steps: int) -> list[Any]:
        """Some steps; returns the record."""
        for _ in range(steps):
            self.step()
        return self.record

    def going_on_in(self, env: Any) -> Player:
        """A player that goes on where this one is, with another environment."""
        twin = copy.copy(self)
        twin.env, twin.record = env, self.record[-1:]
        twin.choosers, twin.masks = copy.deepcopy((self.choosers, self.masks))
        return twin

    def actions(self) -> Any:
        """Random actions that the masks allow."""
        if self.is_parallel:
            observations = self.last[0]
            chosen = {
                agent: choose(self.choosers[0], self.env.action_space(agent), _mask(observations[agent]))
                for agent in self.env.agents
            }
            return dict(reversed(chosen.items()))  # whose they are, their names tell
        if not self.is_vector:
            return choose(self.choosers[0], self.env.action_space, self.last[-1].get("action_mask"))
        space = self.env.single_action_space
        masks = [None] * self.rows if self.masks is None else self.masks
        return np.array([choose(self.choosers[row], space, masks[row]) for row in range(self.rows)])


def _copied(value: Any) -> Any:
    """A deep copy of what a call returned, in a fifth of the time where it holds arrays and numbers alone."""
    kind = type(value)
    if kind is np.ndarray and value.dtype != object:
        return value.copy()
    if kind is dict:
        return {key: _copied(item) for key, item in value.items()}
    if kind is tuple or kind is list:
        return kind(map(_copied, value))
    return value if kind in (bool, int, float, str) else copy.deepcopy(value)


def _mask(observation: Any) -> Any:
    return observation["action_mask"] if isinstance(observation, dict) else None


def choose(chooser: np.random.Generator, space: spaces.Space, mask: Any = None) -> Any:
    """A random action of a space of numbers or choices; any when the mask allows none."""
    if isinstance(space, spaces.Box):
        return chooser.uniform(space.low, space.high).astype(np.float32)
    if not isinstance(space, spaces.Discrete):
        counts = counts_of(space)
        masks = np.split(np.ones(sum(counts)) if mask is None else mask, np.cumsum(counts)[:-1])
        return np.array([_one_of(chooser, n, own) for n, own in zip(counts, masks, strict=True)], space.dtype)
    return _one_of(chooser, int(space.n), mask)


def _one_of(chooser: np.random.Generator, count: int, mask: Any) -> int:
    """A random one of so many choices that a mask allows; any when it allows none."""
    allowed = np.arange(count) if mask is None else np.flatnonzero(mask)
    if not len(allowed):
        allowed = np.arange(count)
    return int(allowed[int(chooser.random() * len(allowed))])


class Trajectory(NamedTuple):
    """What a batch did: T steps of N worlds with A agents, starts in front of observations and masks."""

    observations: np.ndarray  # T + 1, N, A, ...
    masks: np.ndarray  # T + 1, N, A, choices
    actions: np.ndarray  # T, N, A, numbers
    rewards: np.ndarray  # T, N, A, as the next four
    costs: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    success: np.ndarray
    terms: np.ndarray  # T, N, terms, A
    active: np.ndarray  # T, N, A: whether the agent was alive before the step
    errors: np.ndarray  # T, N: why the episode was broken off, or ""


def roll(
    batch: KernelBatch, steps: int, policy: str = "random", seed: int = 0, actions: np.ndarray | None = None
) -> Trajectory:
    """Play a batch from the seeds seed, seed + 1, ... by a policy, or by given actions (T, N, A, numbers)."""
    batch.seed(range(seed, seed + batch.num_envs))
    batch.reset()
    chooser = Chooser(batch, policy, seed)
    rows: dict[str, list[np.ndarray]] = {name: [] for name in Trajectory._fields}
    _note(rows, batch, ("observations", "masks"))
    for t in range(steps):
        rows["active"].append(active_in(batch))
        if actions is not None:
            batch.load_actions(actions[t])
        else:
            chooser.load(t)
        rows["actions"].append(batch.actions.copy())
        batch.step_inplace()
        _note(rows, batch, ("observations", "masks", "rewards", "costs", "terminated", "truncated", "success", "terms"))
        rows["errors"].append(batch.errors)
    return Trajectory(**{name: np.array(values) for name, values in rows.items()})


class Chooser:
    """Loads the actions of a policy into a batch: "random" (what the masks allow; every other world keeps its action
    for some steps, to get further), "free" (the same among all choices), "still" (always the same), "expert", or one of
    the world's players."""

    def __init__(self, batch: KernelBatch, policy: str, seed: int = 0) -> None:
        self.batch, self.policy = batch, policy
        self._generator = np.random.default_rng(seed)
        shape = batch.actions.shape if batch.setup.continuous else batch.masks.shape
        self._scores = self._generator.random(shape)
        self._held = (np.arange(batch.num_envs) % 2 == 1).reshape(-1, *[1] * (len(shape) - 1))

    def load(self, t: int) -> None:
        """The actions of step t."""
        batch, policy = self.batch, self.policy
        if policy == "expert":
            batch.expert_actions()
        elif policy == "still":
            batch.load_actions(still_actions(batch))
        elif policy not in ("random", "free"):
            batch.player_actions(policy)
        else:
            fresh = self._generator.random(self._scores.shape)
            self._scores = np.where(self._held & (t % 8 != 0), self._scores, fresh)
            if policy == "free" and not batch.setup.continuous:
                lengths = np.array(batch.setup.mask_lengths)[:, None]
                exist = np.arange(self._scores.shape[2]) < lengths
                batch.load_actions(_best(batch, np.where(exist, self._scores, -1.0)))
            else:
                batch.load_actions(_random_actions(batch, self._scores))


def still_actions(batch: KernelBatch) -> np.ndarray:
    """Nothing, or the first choice that is allowed."""
    return (
        np.array(np.broadcast_to(batch.setup.idle, batch.actions.shape))
        if batch.setup.continuous
        else _best(batch, batch.masks > 0)
    )


def alike_actions(batch: KernelBatch, chooser: np.random.Generator) -> np.ndarray:
    """Random actions, the same for all worlds as far as their masks allow it."""
    if batch.setup.continuous:
        return np.broadcast_to(
            batch.setup.spread_action(chooser.uniform(-1.0, 1.0, batch.actions.shape[1:])), batch.actions.shape
        )
    scores = np.broadcast_to(chooser.random(batch.masks.shape[1:]), batch.masks.shape)
    return _random_actions(batch, scores)


def active_in(batch: KernelBatch) -> np.ndarray:
    """Whether an agent is alive in an episode that goes on, (N, A)."""
    return batch.states["alive"][:, : batch.agents].copy() & ~batch.over[:, None]


def _note(rows: dict[str, list[np.ndarray]], batch: KernelBatch, names: Sequence[str]) -> None:
    for name in names:
        rows[name].append(getattr(batch, name).copy())


def _random_actions(batch: KernelBatch, scores: np.ndarray) -> np.ndarray:
    if batch.setup.continuous:
        return batch.setup.spread_action(2.0 * scores - 1.0)
    return _best(batch, np.where(batch.masks > 0, scores, scores - 1.0))


def _best(batch: KernelBatch, scores: np.ndarray) -> np.ndarray:
    """The choices with the highest scores (N, A, choices) for each number of the actions, (N, A, numbers)."""
    return np.stack([np.argmax(part, axis=2) for part in batch.setup.parts_of_mask(scores)], axis=2)


# --- comparing --------------------------------------------------------------------------------------------------------


def difference(a: Any, b: Any, where: str = "") -> str:
    """Where two returned values differ first, bit for bit, with both values; empty when they are equal."""
    if isinstance(a, dict) and isinstance(b, dict):
        if set(a) != set(b):
            return f"{where}: keys {sorted(set(a) ^ set(b))} are on one side only"
        return next(filter(None, (difference(a[k], b[k], f"{where}[{k!r}]") for k in a)), "")
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        if len(a) != len(b):
            return f"{where}: lengths {len(a)} and {len(b)}"
        return next(
            filter(None, (difference(x, y, f"{where}[{i}]") for i, (x, y) in enumerate(zip(a, b, strict=True)))), ""
        )
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.dtype == object and b.dtype == object:
            return difference(list(a), list(b), where)
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{where}: {a.dtype} {a.shape} and {b.dtype} {b.shape}"
        if a.tobytes() == b.tobytes():  # as nearly always: in a tenth of the time
            return ""
        unequal = np.argwhere(~((a == b) | ((a != a) & (b != b))))
        if not len(unequal):
            return ""
        at = tuple(unequal[0].tolist())
        return f"{where}{list(at)}: {a[at]!r} and {b[at]!r}"
    return "" if type(a) is type(b) and (a == b or a != a) else f"{where}: {a!r} and {b!r}"
