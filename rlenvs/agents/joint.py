"""Episodes of all agents of an environment, recorded side by side: joint trajectories, and what its state shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rlenvs.agents.evaluate import chooser
from rlenvs.agents.rollouts import SIDE_BY_SIDE, Played, Track
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue.make import make_batch
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import UnknownNameError, nearest
from rlenvs.core.declare.parts import Mixed
from rlenvs.core.declare.progress import progress

Given = str | Mixed | Callable[..., Any]  # a player of a recipe
Watch = Callable[[KernelBatch, np.ndarray], None]
POLICIES = ("random", "expert")


def has_player(id: str) -> bool:
    """Whether a world has an expert, for which its first scripted player stands where it has none."""
    world = world_of(id)
    return world.has_expert or bool(world.players)


def joint_rollouts(
    id: str, player: Given, seeds: Sequence[int], keywords: Mapping[str, Any], watch: Watch | None = None
) -> Iterator[Played]:
    """Play one episode per seed, with all agents played alike.

    Args:
        player: "random", "expert", a scripted player of the world, or one that is mixed with random actions.
        watch: is called with the batch and the worlds whose first episode goes on (or has just ended), bool (N,), after
            the reset and after each step.

    Yields:
        episodes of all agents: observations (T + 1, agents, ...), actions, rewards, terminated and truncated
        (T, agents, ...), infos "state" (T + 1, ...), "legals" (T + 1, agents, choices) where there are masks, "cost"
        (T + 1, agents) where there are costs. Returns are means over agents.
    """
    for start in range(0, len(seeds), SIDE_BY_SIDE):
        chosen = list(seeds[start : start + SIDE_BY_SIDE])
        batch = make_batch(id, len(chosen), **keywords)
        try:
            with progress(f"{batch.world.name}: recording episodes of all agents", total=len(seeds)) as tell:
                tell(start)
                yield _play(batch, _chooser(batch, player, chosen), chosen, watch)
        finally:
            batch.close()


def _chooser(batch: KernelBatch, player: Given, seeds: list[int]) -> Callable[[], np.ndarray]:
    """A function that gives the next actions, (N, agents, ...)."""
    if isinstance(player, Mixed):
        own, other = _chooser(batch, player.player, seeds), chooser(batch, "random", seeds)
        generators = [np.random.default_rng([seed, 2]) for seed in seeds]

        def choose() -> np.ndarray:
            good, bad = own().copy(), other()
            drawn = np.stack([generator.random(batch.agents, np.float32) for generator in generators])
            return np.where((drawn < player.random)[..., None], bad.reshape(good.shape), good)

        return choose
    name, known = str(player), (*POLICIES, *batch.world.players)
    if name not in known:
        raise UnknownNameError(f"{batch.world.name} has no player {name!r}. {nearest(name, known)}")
    return chooser(batch, name, seeds)


def _play(batch: KernelBatch, choose: Callable[[], np.ndarray], seeds: list[int], watch: Watch | None) -> Played:
    """Step until every world has ended its first episode; what comes after is left out."""
    batch.seed(seeds)
    batch.reset()
    track = Track(batch.get_observations(), _told(batch))
    lengths, playing = np.zeros(len(seeds), np.int64), np.ones(len(seeds), np.bool_)
    if watch:
        watch(batch, playing)
    while playing.any():
        batch.step(choose())
        actions = batch.actions[..., 0] if batch.setup.single_choice else batch.actions.copy()
        ends = batch.terminated.copy(), batch.truncated.copy()
        track.add(actions.copy(), batch.rewards.copy(), *ends, batch.get_observations(), _told(batch))
        lengths[playing] += 1
        if watch:
            watch(batch, playing)
        playing &= ~batch.over
    track.stack()
    cut = [track.cut(row, 0, int(length), seed) for row, (length, seed) in enumerate(zip(lengths, seeds, strict=True))]
    return Played(cut, [float(episode.rewards.mean(axis=1).sum()) for episode in cut])


def _told(batch: KernelBatch) -> dict[str, np.ndarray]:
    """What a record has beside observations."""
    told = {"state": batch.central()}
    if batch.masks.shape[-1] and "mask" in batch.world.kernels:
        told["legals"] = batch.masks.copy()
    if batch.world.costs:
        told["cost"] = batch.costs.copy()
    return told
