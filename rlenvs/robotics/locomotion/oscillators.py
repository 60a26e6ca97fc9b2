"""Open-loop oscillators, one for each joint of a robot, all of one rhythm: the joints follow sines with springs and
dampers, and nothing else of the robot's state is looked at.

After Raffin, Sigaud, Kober, Albu-Schäffer, Silvério and Stulp, "An open-loop baseline for reinforcement learning
locomotion tasks" (RLJ 2024). `benchmarks/oscillators.py` fits their numbers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rlenvs.core import kernel
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.maths import sin

__all__ = ["Oscillators"]

PI = 3.141592653589793
RHYTHM, WAVE = 4, 3  # numbers that all joints share, and of each joint
GAITS_FILE = Path(__file__).with_name("oscillators.json")
GAITS: dict[str, list[float]] = json.loads(GAITS_FILE.read_text(encoding="utf-8"))  # that were fitted, by body or robot


@kernel
def phase_of(swing, stance, phase, time):
    """The phase [rad] at a time [s] of an oscillator that begins at `phase`: its speed is `swing` [rad/s] in the half
    circle from 0 on, where its sine is positive, and `stance` in the other."""
    first, second = PI / swing, PI / stance
    share = phase / (2.0 * PI)
    share -= float(int(share))
    if share < 0.0:
        share += 1.0
    begun = 2.0 * share * first if share < 0.5 else first + (2.0 * share - 1.0) * second
    turns = (time + begun) / (first + second)
    rest = (turns - float(int(turns))) * (first + second)
    return swing * rest if rest < first else PI + stance * (rest - first)


@kernel
def follow(gait, j, position, velocity, time):
    """The action of joint j, in [-1, 1].

    Args:
        gait: RHYTHM numbers (angular velocity of the swing and of the stance [rad/s], stiffness, damping) and WAVE
            numbers for each joint (amplitude [rad], phase [rad], offset [rad]).
        j: which joint.
        position, velocity: its angle [rad] and rate [rad/s].
        time: since the start [s].
    """
    k = RHYTHM + WAVE * j
    wave = sin(phase_of(gait[0], gait[1], gait[k + 1], time))
    torque = gait[2] * (gait[k] * wave + gait[k + 2] - position) - gait[3] * velocity
    return min(max(torque, -1.0), 1.0)


@dataclass(frozen=True)
class Robot:
    """Where a robot's observation has the angles and rates of its joints, and the seconds of a step."""

    angles: slice
    rates: slice
    dt: float


ROBOTS = {
    "Swimmer-v0": Robot(slice(1, 3), slice(6, 8), 0.04),
    "HalfCheetah-v0": Robot(slice(2, 8), slice(11, 17), 0.05),
    "Hopper-v0": Robot(slice(2, 5), slice(8, 11), 0.008),
    "Walker2d-v0": Robot(slice(2, 8), slice(11, 17), 0.008),
    "Ant-v0": Robot(slice(5, 13), slice(19, 27), 0.05),
}
PUBLISHED = {"Swimmer-v0": (1.24 * PI, 1.24 * PI, 10.0, 0.5, 1.0, 0.0, 0.0, 1.0, 1.9 * PI, 0.0)}


class Oscillators:
    """A policy of `rlenvs.evaluate` that plays a robot of ROBOTS from the start of its episodes, once.

    Attributes:
        robot: the row of ROBOTS.
        gait: what `follow` takes.
        steps: how many observations it was given.
    """

    def __init__(self, id: str, gait: Sequence[float] | None = None) -> None:
        """Args:
            id: of the robot, without "rlenvs/".
            gait: RHYTHM + WAVE * joints numbers; None: the published ones, or else those that were fitted.

        Raises:
            ParameterError: an unknown robot, none known for it, or not so many numbers.
        """
        if id not in ROBOTS:
            raise ParameterError(f"no oscillators for {id!r}; for {', '.join(ROBOTS)}")
        chosen = PUBLISHED.get(id, GAITS.get(id)) if gait is None else gait
        if chosen is None:
            raise ParameterError(f"no published oscillators for {id}, and none that were fitted; give `gait`")
        self.robot, self.steps = ROBOTS[id], 0
        self.gait = tuple(map(float, chosen))
        needed = RHYTHM + WAVE * (self.robot.angles.stop - self.robot.angles.start)
        if len(self.gait) != needed or min(self.gait[:2]) <= 0.0:
            raise ParameterError(f"{id} needs {needed} numbers, of which the first two are positive, not {self.gait}")

    def __call__(self, observations: np.ndarray) -> np.ndarray:
        """Actions (N, joints) on observations (N, numbers) of the same step of N episodes."""
        angles, rates = observations[:, self.robot.angles], observations[:, self.robot.rates]
        actions, time = np.zeros(angles.shape), self.robot.dt * self.steps
        for i, j in np.ndindex(actions.shape):
            actions[i, j] = follow(self.gait, j, float(angles[i, j]), float(rates[i, j]), time)
        self.steps += 1
        return actions
