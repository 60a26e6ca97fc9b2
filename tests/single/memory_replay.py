"""Replays of the recorded episodes of Memory Gym: our worlds with the original's random draws."""

from dataclasses import dataclass, field

import numpy as np
from support.places import DATA

from rlenvs.core.catalogue.make import new_batch
from rlenvs.core.declare.spec import load_world

RECORDED = np.load(DATA / "memory_gym.npz")
EPISODES = 3


@dataclass
class Replay:
    """What came of a replay: differing pixels of each compared screen, and the largest differences of the rest."""

    pixels: list[int] = field(default_factory=list)
    reward: float = 0.0
    place: int = 0
    ends: int = 0
    steps: int = 0


def recorded(name, episode):
    """The arrays of an episode."""
    head = f"{name}_{episode}_"
    return {key.removeprefix(head): RECORDED[key] for key in RECORDED.files if key.startswith(head)}


def replay(address, name, episode, inject, **options):
    """Play the recorded actions; `inject(state, world, record, t)` writes what the original drew at random."""
    record = recorded(name, episode)
    batch = new_batch(load_world(address), 1, **options)
    batch.seed(0)
    batch.reset()
    state, found = batch.states[0], Replay()
    at = {int(t): k for k, t in enumerate(record["frame_at"])}
    for t in range(len(record["reward"]) + 1):
        if t:
            batch.step(record["action"][t - 1][None])
            found.reward = max(found.reward, abs(batch.rewards[0, 0] - record["reward"][t - 1]))
            over = batch.terminated[0, 0] or batch.truncated[0, 0]
            found.ends += int(over != record["done"][t - 1])
            found.steps += 1
        inject(state, batch, record, t)
        batch.recompute_observations()
        found.place = max(found.place, int(np.abs([state["x"], state["y"]] - record["agent"][t]).max()))
        if t in at:
            seen = batch.images["screen"][0, 0] if batch.images else batch.observations[0, 0]
            screen = record["frame"][at[t]] if options.get("compat") else record["frame"][at[t]].transpose(1, 0, 2)
            wrong = (seen != screen).any(axis=2)
            found.pixels.append(int(wrong.sum()))
    return found
