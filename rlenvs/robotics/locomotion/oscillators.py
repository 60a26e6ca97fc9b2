"""Open-loop oscillators, one for each joint of a robot, all of one rhythm: the joints follow sines with springs and
dampers, and nothing else of the robot's state is looked at.

After Raffin, Sigaud, Kober, Albu-Schäffer, Silvério and Stulp, "An open-loop baseline for reinforcement learning
locomotion tasks" (RLJ 2024). `benchmarks/oscillators.py` fits their numbers.
"""

from __future__ import annotations

from rlenvs.core import kernel
from rlenvs.core.declare.maths import sin

PI = 3.141592653589793
RHYTHM, WAVE = 4, 3  # numbers that all joints share, and of each joint


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
