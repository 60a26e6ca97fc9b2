"""torchrl.envs.EnvBase: N worlds with A agents as one batched environment, without PettingZoo's dictionaries in
between.

Single-agent environments need no adapter: TorchRL's own `GymEnv(id)` and `GymWrapper(rlenvs.make_vec(...))` take them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue.make import make_batch
from rlenvs.core.declare.errors import MissingExtraError, ParameterError
from rlenvs.core.declare.renamed import renamed

try:
    import torch
    from tensordict import TensorDict
    from torchrl.data import Binary, Bounded, Categorical, Composite, Unbounded
    from torchrl.envs import EnvBase
except ImportError as error:
    raise MissingExtraError("The TorchRL form of a batch of worlds", "torchrl") from error

__all__ = ["BatchEnv"]

GROUP = "agents"


@renamed
class BatchEnv(EnvBase):
    """N worlds with A agents each, in one TorchRL environment of batch size (N,).

    All agents are in one group, "agents", in the world's order, with rows of equal length; agents with less to see or
    to choose are padded, and their action masks say so. A step copies each array of the batch once.

    Keys, behind the batch size (N,):
        ("agents", "observation"): float32 (A, numbers); in goal form and with images ("agents", name) by name.
        ("agents", "action"): float32 (A, numbers) in [-1, 1], or int64 (A,) for choices.
        ("agents", "action_mask"): bool (A, choices), where there are choices.
        ("agents", "mask"): bool (A,), whether the agent is alive; its row means nothing otherwise.
        ("agents", "reward"): float32 (A, 1). ("agents", "cost"): float32 (A, 1), where the world has costs.
        ("agents", "done"), ("agents", "terminated"), ("agents", "truncated"): bool (A, 1); true from an agent's end on.
        "done", "terminated", "truncated": bool (1,), of the world: all agents have ended; "terminated" unless one of
            them was cut off by the time limit.
        "state": float32 (numbers,), what a central critic may see; only with central_state=True.

    Args:
        id: with or without "rlenvs/".
        num_envs: N, at least 1.
        central_state: add "state".
        device: where the tensors lie; the worlds are stepped on the CPU.
        seed: of world i is seed + i; None takes one from torch.
        keywords: of `rlenvs.make_batch`: parameters, options, level, threads, ...

    Attributes:
        group_map: {"agents": names of the agents}, as multi-agent libraries on TorchRL, such as BenchMARL, ask for it.

    Raises:
        UnknownNameError, ParameterError: an id, keyword or value that the world does not have; ParameterError too for
            actions of several choices at once, which are one with flat_actions=True.
        EpisodeOverError: a step of worlds of which some have ended; TorchRL's collectors reset them first.
    """

    def __init__(
        self,
        id: str,
        num_envs: int = 1,
        *,
        central_state: bool = False,
        device: Any = "cpu",
        seed: int | None = None,
        **keywords: Any,
    ) -> None:
        self.batch: KernelBatch = make_batch(id, num_envs, autoreset=AutoresetMode.DISABLED, **keywords)
        if self.batch.setup.action_kind == "multi":
            raise ParameterError(
                f"{self.batch.world.name}: TorchRL requires a single Discrete action or continuous actions, and the "
                f"actions are "
                f"{self.batch.setup.action_space}; make it with flat_actions=True"
            )
        super().__init__(device=device, batch_size=torch.Size([self.batch.num_envs]))
        self.group_map = {GROUP: [role.name for role in self.batch.setup.roles]}
        self._central = central_state
        self._alive = np.ones((self.batch.num_envs, self.batch.agents), np.bool_)
        self._cut = np.zeros_like(self._alive)  # by the time limit
        self._make_specs()
        self.set_seed(seed)

    def _make_specs(self) -> None:
        setup, lead = self.batch.setup, (self.batch.num_envs, self.batch.agents)
        observed = setup.observation_space
        parts = observed.spaces if isinstance(observed, spaces.Dict) else {"observation": observed}
        agents: dict[str, Any] = {name: self._seen(space, lead) for name, space in parts.items()}
        # a flag for each agent; TorchRL takes the last axis of a Binary for the numbers of one
        agents["mask"] = Categorical(2, lead, device=self.device, dtype=torch.bool)
        if setup.continuous:
            action = self._box(setup.action_space, lead)
        else:
            action = Categorical(setup.action_size, lead, device=self.device, dtype=torch.int64)
            agents["action_mask"] = Binary(shape=(*lead, setup.action_size), dtype=torch.bool, device=self.device)
        if self.batch.world.costs:
            agents["cost"] = Unbounded((*lead, 1), device=self.device)
        whole: dict[str, Any] = {GROUP: self._group(agents)}
        if self._central:
            whole["state"] = self._box(setup.central_space, lead[:1])
        self.observation_spec = Composite(whole, shape=self.batch_size, device=self.device)
        self.action_spec = Composite({GROUP: self._group({"action": action})}, shape=self.batch_size)
        reward = Unbounded((*lead, 1), device=self.device)
        self.reward_spec = Composite({GROUP: self._group({"reward": reward})}, shape=self.batch_size)
        ends = ("done", "terminated", "truncated")
        own = {name: Binary(shape=(*lead, 1), dtype=torch.bool, device=self.device) for name in ends}
        world = {name: Binary(shape=(lead[0], 1), dtype=torch.bool, device=self.device) for name in ends}
        self.done_spec = Composite({**world, GROUP: self._group(own)}, shape=self.batch_size)

    def _seen(self, space: Any, lead: tuple[int, ...]) -> Any:
        if isinstance(space, spaces.Discrete):
            return Categorical(int(space.n), lead, device=self.device, dtype=torch.int64)
        return self._box(space, lead)

    def _box(self, space: Any, lead: tuple[int, ...]) -> Bounded:
        shape, dtype = (*lead, *space.shape), getattr(torch, str(space.dtype))
        low, high = (torch.as_tensor(np.broadcast_to(bound, shape).copy()) for bound in (space.low, space.high))
        return Bounded(low, high, torch.Size(shape), device=self.device, dtype=dtype)

    def _group(self, specs: dict[str, Any]) -> Composite:
        return Composite(specs, shape=(self.batch.num_envs, self.batch.agents), device=self.device)

    def _set_seed(self, seed: int | None) -> None:
        seed = int(torch.empty((), dtype=torch.int64).random_()) % 2**31 if seed is None else seed
        self.batch.seed([seed + i for i in range(self.batch.num_envs)])

    def _reset(self, tensordict: TensorDict | None = None, **_: Any) -> TensorDict:
        mask = None if tensordict is None else tensordict.get("_reset", None)
        chosen = np.ones(self.batch.num_envs, np.bool_) if mask is None else mask.reshape(-1).cpu().numpy()
        if chosen.any():
            self.batch.reset(None if chosen.all() else chosen)
            self._alive[chosen], self._cut[chosen] = True, False
        return self._observations().update(self._ends())

    def _step(self, tensordict: TensorDict) -> TensorDict:
        batch = self.batch
        batch.load_actions(tensordict.get((GROUP, "action")).detach().cpu().numpy())
        batch.step_inplace()
        self._cut |= batch.truncated & self._alive
        self._alive &= ~(batch.terminated | batch.truncated)
        found = self._observations().update(self._ends())
        found.set((GROUP, "reward"), self._tensor(batch.rewards[..., None], torch.float32))
        return found

    def _observations(self) -> TensorDict:
        batch = self.batch
        seen = batch.get_observations(copy=False)
        parts = seen if isinstance(seen, dict) else {"observation": seen}
        agents = {name: self._tensor(array) for name, array in parts.items()}
        agents["mask"] = self._tensor(self._alive)
        if not batch.setup.continuous:
            agents["action_mask"] = allowed = self._tensor(batch.masks, torch.bool)
            self.full_action_spec[GROUP, "action"].update_mask(allowed)
        if batch.world.costs:
            agents["cost"] = self._tensor(batch.costs[..., None], torch.float32)
        group = TensorDict(agents, batch_size=self._alive.shape, device=self.device)
        found = TensorDict({GROUP: group}, batch_size=self.batch_size, device=self.device)
        if self._central:
            found.set("state", self._tensor(batch.central()))
        return found

    def _ends(self) -> TensorDict:
        """Flags by agent and by world."""
        over, cut = self.batch.over, self._cut.any(axis=1)
        own = {"done": ~self._alive, "terminated": ~self._alive & ~self._cut, "truncated": self._cut}
        world = {"done": over, "terminated": over & ~cut, "truncated": over & cut}
        group = TensorDict({name: self._tensor(flags[..., None]) for name, flags in own.items()}, self._alive.shape)
        flags = {name: self._tensor(flags[:, None]) for name, flags in world.items()}
        return TensorDict({**flags, GROUP: group}, batch_size=self.batch_size, device=self.device)

    def _tensor(self, array: np.ndarray, dtype: Any = None) -> Any:
        """A copy, since the next step overwrites the batch's arrays."""
        return torch.tensor(np.ascontiguousarray(array), dtype=dtype, device=self.device)

    def close(self, *, raise_if_closed: bool = True) -> None:
        """Release the batch. Can be called twice."""
        self.batch.close()
        self.is_closed = True
