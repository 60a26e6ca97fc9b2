"""Three drivers of OfflineRacer for its datasets, functions of the observation and of noise.

All steer towards the middle of the free space seen by the rays, and drive as fast as the free distance ahead allows.
They are scripted, not learned; their weaknesses follow the readme of OfflineMania, where one policy struggles with the
first corner, and another completes the track now and then. All of them have noise, as in the original data, whose
actions are drawn from distributions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

PAIRS = 7
SIDES = np.array([0.0, *(side * pair for pair in range(1, PAIRS + 1) for side in (1.0, -1.0))])  # right is positive
ANGLES = SIDES * math.pi / (2 * PAIRS)  # rad
REACH, ACCELERATION, DRAG, TURN, TURN_RATE = 25.0, 6.6, 0.4, 0.9, 1.8  # of the kart
FRONT = np.abs(SIDES) <= 1.0


def drive(
    observations: Any, noise: Any, *, top: float, sight: float, stop: float, gain: float, power: float,
    shake: tuple[float, float],
) -> np.ndarray:  # fmt: skip
    """Actions (worlds, 2) of a driver.

    Args:
        observations: (worlds, 33).
        noise: (worlds, 2), standard normal.
        top: speed that it drives where the way is free [m/s].
        sight: meters per second of speed that have to be free ahead.
        stop: meters from a wall ahead at which it wants to stand.
        gain: steering per radian of error.
        power: of the distances, by which the rays are weighted.
        shake: standard deviations of steering and throttle.
    """
    distances = REACH * observations[:, 1:30:2]
    speeds = np.hypot(observations[:, 30], observations[:, 32])
    weights = distances**power * np.cos(ANGLES)
    error = weights @ ANGLES / weights.sum(axis=1)
    ahead = distances[:, FRONT].min(axis=1)
    wanted = np.clip((ahead - stop) / sight, 0.0, top)
    actions = np.empty((len(distances), 2))
    actions[:, 0] = gain * error
    actions[:, 1] = (wanted - speeds) / (ACCELERATION * 0.2) + DRAG * wanted / ACCELERATION
    moving = np.minimum(speeds, 1.0)[:, None]  # a kart that stands wants to stand
    return np.clip(actions + noise * np.array(shake) * moving, -1.0, 1.0).astype(np.float32)


def basic(observations: Any, noise: Any) -> np.ndarray:
    """Slow, steers too little, and stands before what it does not get round: the first bend, or a later one."""
    return drive(observations, noise, top=2.0, sight=1.5, stop=4.1, gain=0.5, power=1.0, shake=(0.2, 0.2))


def medium(observations: Any, noise: Any) -> np.ndarray:
    """Faster and less steady: comes farther, brakes late, touches walls now and then."""
    return drive(observations, noise, top=3.0, sight=0.7, stop=4.0, gain=0.65, power=1.0, shake=(0.3, 0.4))


def skilled(observations: Any, noise: Any) -> np.ndarray:
    """Fast where the way is free, and early in the bends."""
    return drive(observations, noise, top=5.6, sight=0.8, stop=1.5, gain=1.1, power=1.5, shake=(0.1, 0.2))
