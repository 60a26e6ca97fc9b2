"""How fast an environment is: steps per second in its single and in its batched form."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from rlenvs.core.catalogue.make import make, make_batch

DRAWS = 64  # pre-drawn actions, taken in turn


def time_single(id: str, seconds: float = 0.5, **keywords: Any) -> float:
    """Steps per second of the gymnasium.Env with random actions, resets included.

    Args:
        seconds: how long to measure, after a warm-up.
        keywords: of `rlenvs.make`.
    """
    env = make(id, disable_env_checker=True, **keywords).unwrapped
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(DRAWS)]
    env.reset(seed=0)
    env.step(actions[0])
    steps, over = 0, True
    start = time.perf_counter()
    while steps % DRAWS or time.perf_counter() - start < seconds:
        if over:
            env.reset()
        _, _, terminated, truncated, _ = env.step(actions[steps % DRAWS])
        over = terminated or truncated
        steps += 1
    return steps / (time.perf_counter() - start)


def time_batch(id: str, num_envs: int, threads: int = 1, seconds: float = 0.5, **keywords: Any) -> float:
    """World steps per second of the batch with random actions and autoreset: num_envs per call.

    Args:
        threads: of the batch.
        seconds: how long to measure, after a warm-up.
        keywords: of `rlenvs.make_batch`.
    """
    batch = make_batch(id, num_envs, threads=threads, **keywords)
    generator = np.random.default_rng(0)
    shape = (DRAWS, *batch.actions.shape)
    actions: np.ndarray = batch.setup.spread_action(2.0 * generator.random(shape) - 1.0)
    if not batch.setup.continuous:
        actions = generator.integers(batch.setup.own_choices, size=shape)
    batch.seed(range(num_envs))
    batch.reset()
    for draw in actions[:8]:
        batch.step(draw)
    calls = 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        batch.step(actions[calls % DRAWS])
        calls += 1
    return calls * num_envs / (time.perf_counter() - start)
