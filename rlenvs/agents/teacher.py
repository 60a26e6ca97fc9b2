"""Snapshots from episodes of a teacher policy, for the wrapper `SnapshotReset`."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from rlenvs.agents.evaluate import Policy, check_policy, chooser
from rlenvs.core.batch.snapshots import Snapshot
from rlenvs.core.catalogue.make import make_batch
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.inputs import first_seed_of, positive
from rlenvs.core.declare.progress import progress
from rlenvs.wrappers.banks import SnapshotBuffer

__all__ = ["collect_snapshots"]


def collect_snapshots(
    id: str,
    policy: Policy = "expert",
    *,
    episodes: int = 10,
    every: int = 10,
    seed: int = 0,
    **keywords: Any,
) -> SnapshotBuffer:
    """Collect snapshots from episodes of a teacher policy, played in parallel.

    Args:
        id: the environment.
        policy: the teacher, as for `rlenvs.evaluate`: "expert", "random", or a function from observations, float32
            (N, *observation shape), to actions.
        episodes: how many, at least 1; episode i has the seed `seed` + i.
        every: steps from one snapshot to the next, at least 1; the start and the end of an episode are left out.
        seed: of the first episode, at least 0.
        keywords: of `rlenvs.make_batch`: parameters, options, level, horizon, ...

    Raises:
        ParameterError: a wrong number, or no episode lasts as long as `every`.
        UnknownNameError: no such id, policy or keyword.
    """
    episodes, every, seed = positive("episodes", episodes), positive("every", every), first_seed_of(seed)
    check_policy(world_of(id), policy)
    batch = make_batch(id, episodes, autoreset=AutoresetMode.DISABLED, **keywords)
    seeds = [seed + i for i in range(episodes)]
    batch.seed(seeds)
    batch.reset()
    choose = chooser(batch, policy, seeds)
    snapshots: list[Snapshot] = []
    time = 0
    with progress("the teacher plays episodes", total=episodes) as tell:
        while not batch.over.all():
            batch.load_actions(choose())
            batch.step_inplace(~batch.over)
            time += 1
            if time % every == 0:
                snapshots += [batch.get_state(i) for i in np.flatnonzero(~batch.over).tolist()]
            tell(np.count_nonzero(batch.over), f"step {time}")
    batch.close()
    if not snapshots:
        raise ParameterError(
            f"collect_snapshots: no episode lasts longer than every={every} steps; the longest had {time}"
        )
    return SnapshotBuffer.of(snapshots)
