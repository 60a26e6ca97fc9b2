"""Drivers of SafePointGoal for its datasets, and these, after DSRL.

DSRL (Liu et al., "Datasets and Benchmarks for Offline Safe Reinforcement Learning", 2023) mixes trajectories of
policies that were trained for many limits of costs, so that a dataset covers the plane of cost and return. Here a
careful and a reckless driver, each with shares of random actions, cover it.
"""

from typing import Any

import numpy as np

from rlenvs.core import maths, mixed, recipe

BINS, FIRST = 16, 12  # of the goal's lidar in the observation
SINES = [maths.sin(2.0 * 3.141592653589793 * k / BINS) for k in range(BINS)]
COSINES = [maths.cos(2.0 * 3.141592653589793 * k / BINS) for k in range(BINS)]
SPEED, SIDEWAYS = 3, 4  # velocities in the observation, in units of TOP m/s
TOP, CRUISE = 2.0, 1.4  # m/s
# of the robot with the usual parameters
MASS, DRAG, THRUST, TURN = 0.00519, 0.01, 0.015, 2.4
FULL = 0.1  # action where the force is the largest; twice that at which the drive saturates, so it hurries
SHAKE = 0.05
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8)  # of random actions
EPISODES = 40  # of each player


def reckless(observations: Any, noise: Any) -> np.ndarray:
    """Drives straight to the goal, fast, through hazards.

    Args:
        observations: (worlds, 60). noise: (worlds, 2), standard normal.
    """
    lidar = np.asarray(observations, np.float64)[:, FIRST : FIRST + BINS]
    left, ahead, seen = (np.zeros(len(lidar)) for _ in range(3))
    for k in range(BINS):  # in this order on every processor
        left += lidar[:, k] * SINES[k]
        ahead += lidar[:, k] * COSINES[k]
        seen += lidar[:, k]
    seen = np.maximum(seen, 1e-6)
    # the force that brings the velocity to the wanted one
    forward, sideways = (
        4.0 * MASS * (CRUISE * part / seen - speed) + DRAG * speed
        for part, speed in ((ahead, TOP * observations[:, SPEED]), (left, TOP * observations[:, SIDEWAYS]))
    )
    length = np.sqrt(forward * forward + sideways * sideways) + 1e-9
    # the drive works in both directions, so a quarter turn is the most that is needed
    turn = TURN * np.where(forward >= 0.0, sideways, -sideways) / length
    drive = FULL * np.clip(forward / THRUST, -1.0, 1.0)
    return np.clip(np.stack([drive, turn], axis=1) + SHAKE * noise, -1.0, 1.0).astype(np.float32)


def offline_sets():
    """By name: of the careful drivers, of all, and of all in the two other levels."""
    careful = {"expert" if share == 0.0 else mixed("expert", share): EPISODES for share in SHARES}
    bold = {reckless if share == 0.0 else mixed(reckless, share): EPISODES for share in SHARES}
    everyone = {**careful, **bold, "random": EPISODES}
    return {
        "costs": recipe(everyone, layout="costs", doc="careful, reckless and random drivers; after DSRL's PointGoal1"),
        "costs-careful": recipe(careful, layout="costs", doc="careful drivers alone"),
        "costs-2": recipe(
            everyone, layout="costs", keywords={"level": "2"}, doc="as costs, with level 2; after DSRL's PointGoal2"
        ),
    }
