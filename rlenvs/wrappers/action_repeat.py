"""Several steps of the environment per decision: repeated actions, and sequences of actions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.compiler.loops import compiled
from rlenvs.core.declare.errors import ActionError, ParameterError
from rlenvs.wrappers.actuators import bounds_of, whole_range
from rlenvs.wrappers.masked import add_rows, clear_rows, count, count_rows, flat, put
from rlenvs.wrappers.outcomes import came_to
from rlenvs.wrappers.randomness import bits_at, uniform_of
from rlenvs.wrappers.wrapper import Wrapper


@dataclass
class _SeveralSteps(Wrapper):
    """Several steps below in one: what the environment pays and charges is summed."""

    most = 1  # steps below in one here

    @property
    def seconds(self) -> float | None:
        """The duration of one action."""
        below = self.below.seconds
        return below * self.most if below else None

    def prepare(self) -> None:
        """Make room for the sums; what is summed of other packages' info shows when they first tell it."""
        self.allocate("reward", self.below.reward.shape[1:])
        if self.below.reward_space is not None:
            low, high = self.below.reward_space.low, self.below.reward_space.high
            self.reward_space = spaces.Box(np.minimum(low, self.most * low), np.maximum(high, self.most * high))
        self.repeats = self.allocate("repeats", dtype=np.int64)
        self.summed: list[str] = []
        self.lasts = self.entries_last = self.batch is not None
        if self.batch is not None:
            terms, costs = self.batch.world.terms, self.batch.world.costs
            self.keys = [*(f"reward_{name}" for name in terms), *(f"cost_{name}" for name in costs)]
            self._sum("terms", (len(self.keys),))
            self._sum("cost")
            self._sum("reward_vector", (len(terms),), np.float32)
            once, again = self._paid().values(), self._paid().values()
            self.lasts = all(first is second for first, second in zip(once, again, strict=True))

    def _sum(self, key: str, shape: tuple[int, ...] = (), dtype: Any = np.float64) -> None:
        self.summed.append(key)
        self.allocate(f"sum_of_{key}", shape, dtype)

    def sums(self) -> dict[str, np.ndarray]:
        return {key: getattr(self, f"sum_of_{key}") for key in self.summed}

    def begin_episode(self, slots: np.ndarray) -> None:
        """Nothing has been summed."""
        self.run_all("clear", self._clearing, slots, self.lasts)

    def _clearing(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        for array in (self.reward, self.repeats, *self.sums().values()):
            yield clear_rows, flat(array), slots

    def _run(self, slots: np.ndarray, action_of: Callable[[int], np.ndarray], wanted: np.ndarray | int) -> None:
        """Step below, by the actions of the first, the second, ... step, as often as wanted or until the end."""
        _SeveralSteps.begin_episode(self, slots)
        for k, going in enumerate(self._rounds(slots, wanted)):
            self._remember(going)
            self.below.step(action_of(k), going)
            self.run_all("add", self._adding, going, self.lasts)
        self._show(slots)
        count(self.time, slots)

    def _rounds(self, slots: np.ndarray, wanted: np.ndarray | int) -> Iterator[np.ndarray]:
        """The slots of the first, the second, ... step below."""
        if self.one_slot:
            for k in range(wanted if isinstance(wanted, int) else wanted.item()):
                if k and self.below.over.item():
                    return
                yield slots
            return
        going = slots.copy()
        for k in range(self.most):
            going &= k < wanted
            if k:
                going &= ~self.below.over
            if not going.any():
                return
            yield going

    def _remember(self, slots: np.ndarray) -> None:
        """These slots make one more step."""

    def _show(self, slots: np.ndarray) -> None:
        """These slots have made all their steps."""

    def _adding(self, slots: np.ndarray) -> Iterator[tuple[Any, ...]]:
        yield count_rows, self.repeats, slots
        yield add_rows, flat(self.reward), flat(self.below.reward), slots
        paid = self._paid_elsewhere() if self.batch is None else self._paid()
        for key, total in self.sums().items():
            if key in paid:
                yield add_rows, flat(total), flat(paid[key]), slots

    def _paid(self) -> dict[str, np.ndarray]:
        """What the last step below paid and cost in a world of this package."""
        stage = self.below
        while isinstance(stage, Wrapper):
            if isinstance(stage, _SeveralSteps):
                return stage.sums()
            stage = stage.below
        batch = self.batch
        if self.agents > 1:
            return {"terms": batch.terms[0].T, "cost": batch.costs[0], "reward_vector": batch.reward_vectors[0]}
        return getattr(stage, "came", None) or came_to(batch)

    def _paid_elsewhere(self) -> dict[str, np.ndarray]:
        """The same, as another package's info reports it."""
        paid = {}
        for key, value in self.below.info().items():
            if (
                key in ("cost", "reward_vector") or key.startswith(("cost_", "reward_"))
            ) and value.dtype.kind in "fiub":
                paid[key] = value
                if key not in self.summed:
                    self._sum(key, value.shape[1:], value.dtype if value.dtype.kind == "f" else np.float64)
        return paid

    def entries(self) -> dict[str, Any]:
        """The sums of what is reported below, and the steps made."""
        sums = self.sums()
        if self.batch is not None:
            sums.update(zip(self.keys, sums.pop("terms").T, strict=True))
            if not self.batch.world.costs:
                del sums["cost"]
            return {"repeats": self.repeats, **sums}
        below = self.below.info()
        return {"repeats": self.repeats, **{key: total for key, total in sums.items() if key in below}}


@dataclass
class ActionRepeat(_SeveralSteps):
    """Repeat each action for several steps, or fewer if the episode ends.

    Rewards are summed, and so are the costs and reward terms in info (`cost`, `cost_*`, `reward_*`, `reward_vector`).
    All else is as after the last of the steps. A learner that discounts by g per step of the environment discounts by
    g ** info["repeats"] per decision. The time limit still counts steps of the environment.

    Attributes:
        steps: steps per action. [low, high]: drawn uniformly for every action (decisions at irregular times, as in
            "Overcoming Slow Decision Frequencies in Continuous Control", arXiv 2410.08979).
        show: the "last" observation; or the "max" of the last two, number by number, for screens on which things
            flicker (the single one, where an episode ends in the first step).

    Info: `repeats`, the steps made; 0 after a reset.

    Raises:
        ParameterError: steps is not a whole number of at least 1, or two of them in order; "max" of observations that
            are dictionaries.
    """

    steps: int | Sequence[int] = 4
    show: str = "last"

    def prepare(self) -> None:
        """Check the steps."""
        self.fewest, self.most = whole_range(self, "steps", 1)
        self.check_choice("show", ("last", "max"))
        super().prepare()
        if self.show == "max":
            if isinstance(self.below.observation, dict):
                raise self.setting_error(
                    "show", f"requires single arrays, and observations of {self.name} are dictionaries"
                )
            for name in ("observation", "earlier"):
                self.allocate(name, self.below.observation.shape[1:], self.below.observation.dtype)

    def begin_episode(self, slots: np.ndarray) -> None:
        """Nothing has been summed."""
        super().begin_episode(slots)
        if self.show == "max":
            put(self.observation, self.below.observation, slots)

    def _remember(self, slots: np.ndarray) -> None:
        if self.show == "max":
            put(self.earlier, self.below.observation, slots)

    def _show(self, slots: np.ndarray) -> None:
        if self.show == "max":
            put(self.observation, self.below.observation, slots)
            several = slots & (self.repeats > 1)
            put(self.observation, np.maximum(self.earlier, self.below.observation), several)

    def step(self, actions: np.ndarray, slots: np.ndarray) -> None:
        """Repeat the actions."""
        wanted: np.ndarray | int = self.most
        if self.fewest < self.most:
            wanted = np.empty(self.count, np.int64)
            draw_whole(self.key, self.time, self.fewest, self.most, wanted)
        self._run(slots, lambda k: actions, wanted)


@compiled(nogil=True)
def draw_whole(key: np.ndarray, time: np.ndarray, low: int, high: int, out: np.ndarray) -> None:
    """A whole number from low to high per slot."""
    for i in range(key.size):
        out[i] = low + np.int64(uniform_of(bits_at(key[i], time[i], 0)) * (high - low + 1))


@dataclass
class ActionSequence(_SeveralSteps):
    """An action is a plan: a sequence of actions for the next steps, which the environment executes one after the
    other.

    The action space is a Box of steps x m numbers, the first m for the first step (MultiDiscrete for choices; a
    mask in info speaks of the first of them). Sums, discount and time limit are those of `ActionRepeat`. Source of the
    protocol: "Overcoming Slow Decision Frequencies in Continuous Control", arXiv 2410.08979.

    Attributes:
        steps: actions in a plan.

    Info: `repeats`, the steps made; 0 after a reset.

    Raises:
        ParameterError: steps is not a whole number of at least 1; the action is neither a vector nor a choice.
    """

    steps: int = 4

    def prepare(self) -> None:
        """Check the steps, and make the action space."""
        self.check_whole("steps", 1)
        self.most = self.steps
        super().prepare()
        self.numbers = self.below.continuous
        self.action_spaces = [self._plans(space) for space in self.below.action_spaces]
        self.choices = np.array([bounds_of(space, 1) for space in self.below.action_spaces if space.shape == ()])

    def _plans(self, space: spaces.Space) -> spaces.Space:
        if isinstance(space, spaces.Discrete):
            return spaces.MultiDiscrete([space.n] * self.steps, start=[space.start] * self.steps)
        if isinstance(space, spaces.Box) and len(space.shape) == 1:
            return spaces.Box(np.tile(space.low, self.steps), np.tile(space.high, self.steps), dtype=space.dtype)
        raise ParameterError(f"ActionSequence: {self.name} has the actions {space}; needed: a vector, or Discrete")

    def step(self, actions: np.ndarray, slots: np.ndarray) -> None:
        """Run the plans."""
        plans = actions.reshape(self.count, self.steps, -1)
        if self.numbers:
            self._run(slots, lambda k: plans[:, k], self.steps)
            return
        low, high = np.tile(self.choices[:, :, 0].T[:, :, None], (1, self.count // self.agents, 1))
        wrong = slots & ((plans[:, :, 0] < low) | (plans[:, :, 0] > high)).any(axis=1)
        if wrong.any():
            slot = int(np.argmax(wrong))
            raise ActionError(
                f"{self.name}, slot {slot}: the plan {actions[slot].tolist()} is not of {self.action_space}"
            )
        self._run(slots, lambda k: np.where(slots, plans[:, k, 0], low[:, 0].astype(np.int64)), self.steps)
