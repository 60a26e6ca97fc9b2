"""The barrier of particles that must not touch: each two can always glide to rest apart.

A particle at x with velocity v, of which a step of dt takes away the share d, comes to rest at R = x + v dt / d, on a
straight line. A force F per mass moves R by F dt^2 / d in a step, and nothing else does. Seen from one particle, the
other glides on the segment from x to R of their differences; the barrier is the distance of that segment from zero,
less the sum of the radii. Without forces it never falls. Each of the two has to keep half of what it may lose, so the
promise holds where all agents are filtered, in the parallel form.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from rlenvs.core.declare.errors import ParameterError
from rlenvs.multi.particle.physics import PUSH_RIGHT, PUSH_UP

MARGIN = 0.005  # m, at which contact forces are not felt yet
LEAST_DAMPING = 0.01  # below, particles hardly come to rest


def keep_apart(stage: Any, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Half the barrier [m] of each slot's agent against every other agent: value and drift (slots, K) and slope
    (slots, K, m), for `BarrierFilter(barrier="rlenvs.multi.particle.barrier:keep_apart")` on ParticleSpread-v0 with
    actions="continuous".

    Raises:
        ParameterError: another world, or a sole agent.
    """
    batch = stage.batch
    if batch is None or batch.world.name != "ParticleSpread-v0" or batch.agents < 2:
        raise ParameterError(f"keep_apart is for two or more agents of ParticleSpread-v0, not for {stage.name}")
    params = batch.param_rows
    radius, force, dt, share = (
        np.asarray(params[name], np.float64).reshape(-1, 1, 1)
        for name in ("radius", "acceleration", "time_step", "damping")
    )
    share = np.maximum(share, LEAST_DAMPING)
    position, velocity = batch.states["position"], batch.states["velocity"]
    now, rest = _from_others(position, stage.agents), _from_others(position + velocity * dt / share, stage.agents)
    towards = rest - now
    along = -(now * towards).sum(axis=-1) / np.maximum((towards**2).sum(axis=-1), 1e-12)
    nearest = now + np.clip(along, 0.0, 1.0)[..., None] * towards
    apart = np.sqrt((nearest**2).sum(axis=-1))
    away = nearest / np.maximum(apart, 1e-9)[..., None]
    clear = 2.0 * radius + MARGIN
    value = 0.5 * (apart - clear)
    drift = 0.5 * ((away * rest).sum(axis=-1) - clear) - value
    slope = (force * dt**2 / share)[..., None] * away @ _pushes(actions.shape[1])
    others = batch.agents - 1
    return value.reshape(-1, others), drift.reshape(-1, others), slope.reshape(-1, others, actions.shape[1])


def _from_others(points: np.ndarray, agents: int) -> np.ndarray:
    """From every other agent to each of the first ones, (worlds, agents, others, 2)."""
    return points[:, :agents, None] - points[:, _others(agents, points.shape[1])]


@functools.cache
def _others(agents: int, count: int) -> np.ndarray:
    """By agent the numbers of all others."""
    return np.array([[j for j in range(count) if j != k] for k in range(agents)])


def _pushes(numbers: int) -> np.ndarray:
    """What the numbers of an action push right and up, (2, numbers): two numbers, or a number for each move."""
    return np.eye(2) if numbers == 2 else np.array([PUSH_RIGHT, PUSH_UP])
