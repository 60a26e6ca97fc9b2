"""PPO-Lagrangian: PPO under cost limits (Ray, Achiam and Amodei, "Benchmarking Safe Exploration in Deep Reinforcement
Learning", 2019).

What is learned from is (reward - sum of m c) / (1 + sum of m), with a multiplier m >= 0 of each named cost c. Between
two rollouts each multiplier goes up by `learning_rate` times what the mean cost of the episodes that ended exceeds its
limit, or down by what is left of it (dual ascent).

    rlenvs train SafePointGoal-v0 --algorithm PPOLagrangian
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from stable_baselines3.common.vec_env import VecEnvWrapper

from rlenvs.agents.checkpoint import wrappers_of
from rlenvs.agents.models import ppo_class
from rlenvs.core.declare.errors import ParameterError, UnknownNameError, nearest
from rlenvs.core.declare.renamed import old_names

__all__ = ["ppo_lagrangian_class"]
if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

LEARNING_RATE, START = 0.01, 0.0  # of multipliers


class Penalised(VecEnvWrapper):
    """Slots whose rewards are less by what multipliers make of costs. Returns in infos stay those of the world.

    Args:
        venv: an `SB3VecEnv` of a world with costs.
        limits: mean cost of an agent's episode by name that is allowed; the world's customary limits of the others.
        learning_rate: by what a multiplier changes where the mean cost is 1 above the limit.
        start: all multipliers at the beginning.

    Attributes:
        names: of the costs. multipliers: of each, float64.
        means: of the costs of the episodes that ended last, float64; NaN before the first.

    Raises:
        ParameterError: the world has no costs. UnknownNameError: a limit of a cost that the world does not have.
    """

    def __init__(
        self,
        venv: Any,
        limits: Mapping[str, float] | None = None,
        learning_rate: float = LEARNING_RATE,
        start: float = START,
    ) -> None:
        super().__init__(venv)
        world = venv.batch.world
        if not world.costs:
            raise ParameterError(f"PPOLagrangian requires an environment with costs; {world.name} has none. Use PPO")
        for name in limits or {}:
            if name not in world.costs:
                raise UnknownNameError(
                    f"[costs] limits: {world.name} has no cost {name!r}. {nearest(name, world.costs)}"
                )
        self.names = tuple(world.costs)
        self.limits = np.array(list({**world.cost_limits, **(limits or {})}.values()))
        self.rate, self.multipliers = learning_rate, np.full(len(self.names), float(start))
        self.means = np.full(len(self.names), np.nan)
        self._sums = np.zeros((self.num_envs, len(self.names)))  # of the costs of the present episodes
        self._ended: list[np.ndarray] = []  # the costs of episodes that ended since multipliers changed

    def reset(self) -> Any:
        """Start episodes in all worlds."""
        self._sums[:] = 0.0
        return self.venv.reset()

    def step_wait(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Advance all worlds, as `SB3VecEnv.step_wait` does."""
        observations, rewards, dones, infos = self.venv.step_wait()
        costs = self._costs()
        self._sums += costs
        for slot in np.flatnonzero(dones):
            if "idle" not in infos[slot]:
                self._ended.append(self._sums[slot].copy())
        self._sums[dones] = 0.0
        penalised = (rewards - costs @ self.multipliers) / (1.0 + self.multipliers.sum())
        return observations, penalised.astype(np.float32), dones, infos

    def _costs(self) -> np.ndarray:
        """What the last step of every slot cost, (slots, costs)."""
        batch = self.venv.batch  # type: ignore[attr-defined]
        restarted = batch.at_start[:, None, None]  # those have no last step, but one set aside
        first = len(batch.world.terms)
        found = np.where(restarted, batch.final_terms[:, first:], batch.terms[:, first:])
        return np.moveaxis(found, 1, 2).reshape(self.num_envs, len(self.names))

    def ascend(self) -> None:
        """Change the multipliers by the episodes that ended since the last time; without any they stay."""
        if self._ended:
            self.means = np.mean(self._ended, axis=0)
            self._ended.clear()
            self.multipliers = np.maximum(0.0, self.multipliers + self.rate * (self.means - self.limits))

    def metrics(self) -> dict[str, dict[str, float]]:
        """The present "costs" and "multipliers" by name."""
        columns = {"costs": self.means, "multipliers": self.multipliers}
        return {key: dict(zip(self.names, values.tolist(), strict=True)) for key, values in columns.items()}

    def excess(self, means: Mapping[str, float]) -> float:
        """By how much mean costs are above their limits, summed up."""
        over = np.array([means[name] for name in self.names]) - self.limits
        return float(np.maximum(0.0, over).sum())

    @property
    def state(self) -> dict[str, Any]:
        """All that changes in training. Setting it puts it back."""
        return {"multipliers": self.multipliers, "means": self.means, "sums": self._sums, "ended": self._ended}

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        self.multipliers, self.means, self._sums = (state[name] for name in ("multipliers", "means", "sums"))
        self._ended = state["ended"]


_Model: Any = object  # `ppo_lagrangian_class` puts Stable-Baselines3's class behind it


class Lagrangian(_Model):
    """PPO on `Penalised` environments.

    Args:
        args, kwargs: as for PPO.
    """

    def train(self) -> None:
        """Learn from the rollout, and change the multipliers for the next."""
        super().train()
        costs: Any = penalised(self)
        costs.ascend()
        for kind, values in costs.metrics().items():
            for name, value in values.items():
                self.logger.record(f"{kind}/{name}", value)


def penalised(model: Any) -> Penalised | None:
    """The `Penalised` environments of a model, if it has them."""
    return next((env for env in wrappers_of(model) if isinstance(env, Penalised)), None)


def ppo_lagrangian_class(masked: bool) -> Any:
    """The class of PPO-Lagrangian models, with the interface and hyperparameters of PPO.

    Args:
        masked: whether they are MaskablePPO, for worlds where not every choice is always allowed.

    Raises:
        MissingExtraError: sb3-contrib is not installed.
    """
    return type(
        "PPOLagrangian", (Lagrangian, ppo_class(masked)), {"__doc__": Lagrangian.__doc__, "__module__": __name__}
    )
