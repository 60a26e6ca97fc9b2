"""Learning to act as a world's scripted expert does: DAgger on the native vector form.

A policy that copies an expert's own episodes is lost as soon as it leaves them. So here the learner acts, more and more
of the time, and the expert only says what it would have done; all its answers so far are learnt (Ross, Gordon and
Bagnell, "A reduction of imitation learning and structured prediction to no-regret online learning", AISTATS 2011).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from rlenvs.core.errors import ParameterError

CAPACITY = 1_000_000  # answers that are kept; later ones replace the oldest


class Answers:
    """What the expert said, and what was seen then. A ring of `capacity` rows.

    Args:
        capacity: rows, at least 1.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity, self.count = capacity, 0
        self.columns: dict[str, np.ndarray] = {}

    def add(self, columns: dict[str, np.ndarray]) -> None:
        """Append rows: arrays of equal length, always under the same names."""
        length = len(next(iter(columns.values())))
        places = (self.count + np.arange(length)) % self.capacity
        for name, array in columns.items():
            if name not in self.columns:
                self.columns[name] = np.empty((self.capacity, *array.shape[1:]), array.dtype)
            self.columns[name][places] = array
        self.count += length

    def __len__(self) -> int:
        return min(self.count, self.capacity)

    def take(self, places: np.ndarray) -> dict[str, np.ndarray]:
        """Some rows."""
        return {name: array[places] for name, array in self.columns.items()}


def imitate(
    model: Any,
    steps: int,
    *,
    rounds: int = 10,
    epochs: int = 2,
    batch_size: int = 1024,
    learning_rate: float = 1e-3,
    seed: int = 0,
    progress: Callable[[int, float], Any] | None = None,
) -> float:
    """Teach a model of PPO or MaskablePPO what the scripted expert of its environment does.

    In round k the expert acts in a share 0.5^k of the steps (in all of the first round), the model in the others. After
    each round the model learns from all answers: the mean squared error of actions that are numbers, the cross-entropy
    of choices. The learning rate falls linearly to 0.

    Args:
        model: of Stable-Baselines3 or sb3-contrib, on an `SB3VecEnv`; it is changed. Multi-agent worlds: every agent
            that is alive is asked.
        steps: of all rows together; at least one step of all rows per round is made.
        rounds: how often the model learns, at least 1.
        epochs: passes over all answers per round.
        batch_size, learning_rate: of Adam.
        seed: of what is mixed and shuffled.
        progress: called after each round with the steps so far and the loss.

    Returns:
        the mean loss of the last epoch.

    Raises:
        ParameterError: the world has no scripted expert, the model has no policy of this kind, or a number is not
            positive.
    """
    for name, value in (("steps", steps), ("rounds", rounds), ("epochs", epochs), ("batch_size", batch_size)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise ParameterError(f"imitate: {name}={value!r} must be a whole number, at least 1")
    if not learning_rate > 0.0:
        raise ParameterError(f"imitate: learning_rate={learning_rate!r} must be above 0")
    pupil = Pupil(model, batch_size, learning_rate, rounds * epochs, np.random.default_rng(seed))
    venv = model.get_env()
    observations = venv.reset()
    per_round = max(steps // (rounds * venv.num_envs), 1)
    loss = math.nan
    for k in range(rounds):
        for _ in range(per_round):
            observations = pupil.step(observations, 0.5**k)
        for _ in range(epochs):
            loss = pupil.learn()
        if progress is not None:
            progress((k + 1) * per_round * venv.num_envs, loss)
    return loss


class Pupil:
    """A model that acts and asks. Made by `imitate`."""

    def __init__(
        self, model: Any, batch_size: int, learning_rate: float, epochs: int, rng: np.random.Generator
    ) -> None:
        import torch

        self.model, self.venv, self.rng, self.batch_size = model, model.get_env(), rng, batch_size
        if not hasattr(model.policy, "get_distribution") or not hasattr(self.venv, "batch"):
            raise ParameterError(f"imitate wants a model of PPO or MaskablePPO on sb3_vec_env(...), not {model}")
        if not self.venv.batch.world.has_expert:
            raise ParameterError(f"{self.venv.batch.world.name} has no scripted expert to imitate")
        self.masked = type(model).__name__ == "MaskablePPO"
        self.numbers = self.venv.batch.setup.continuous
        self.answers = Answers(CAPACITY)
        self.optimizer = torch.optim.Adam(model.policy.parameters(), learning_rate)
        self.schedule = torch.optim.lr_scheduler.LinearLR(self.optimizer, 1.0, 0.0, epochs)

    def step(self, observations: Any, expert_share: float) -> Any:
        """Ask the expert about all agents, let it act in some worlds and the model in the others."""
        batch = self.venv.batch
        advice = batch.advise().reshape(self.venv.num_envs, -1).copy()
        masks = self.venv.action_masks()
        alive = batch._states["alive"].reshape(-1).astype(np.bool_)
        answers = advice.astype(np.float32) if self.numbers else advice[:, 0]
        self._note(observations, answers, masks, alive)
        actions = answers
        if expert_share < 1.0:
            options = {"action_masks": masks} if self.masked else {}
            own = self.model.predict(observations, deterministic=True, **options)[0]
            led = np.repeat(self.rng.random(batch.num_worlds) < expert_share, batch.agents)
            actions = np.where(led.reshape(-1, *(1,) * (own.ndim - 1)), answers, own)
        return self.venv.step(actions)[0]

    def _note(self, observations: Any, answers: np.ndarray, masks: np.ndarray, alive: np.ndarray) -> None:
        seen = observations if isinstance(observations, dict) else {"": observations}
        columns = {f"seen {name}": array[alive] for name, array in seen.items()}
        columns["answer"] = answers[alive]
        if self.masked:
            columns["mask"] = masks[alive]
        self.answers.add(columns)

    def learn(self) -> float:
        """One pass over all answers; the mean loss."""
        import torch

        order = self.rng.permutation(len(self.answers))
        losses = []
        for start in range(0, len(order), self.batch_size):
            loss = self._loss(self.answers.take(order[start : start + self.batch_size]))
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.policy.parameters(), 1.0)
            self.optimizer.step()
            losses.append(loss.item())
        self.schedule.step()
        return float(np.mean(losses))

    def _loss(self, rows: dict[str, np.ndarray]) -> Any:
        import torch

        policy = self.model.policy
        seen = {name.removeprefix("seen "): array for name, array in rows.items() if name.startswith("seen ")}
        tensors, _ = policy.obs_to_tensor(seen.get("", seen))
        options = {"action_masks": rows["mask"]} if self.masked else {}
        found = policy.get_distribution(tensors, **options)
        answers = torch.as_tensor(rows["answer"])
        if self.numbers:
            return ((found.distribution.mean - answers) ** 2).mean()
        return -found.log_prob(answers).mean()
