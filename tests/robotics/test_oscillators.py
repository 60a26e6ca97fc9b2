"""Open-loop oscillators: their phase, the torques, and Swimmer's published setting."""

import math

import numpy as np
import pytest

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.locomotion.oscillators import PUBLISHED, Oscillators, follow, phase_of


@pytest.mark.parametrize("phase", [0.0, 1.0, -2.0, 4.0, 9.0])
def test_the_phase_is_the_integral_of_both_speeds(phase):
    swing, stance, dt, found = 3.0, 8.0, 1e-4, phase
    for k in range(20_000):
        if k % 2000 == 0:
            difference = phase_of(swing, stance, phase, k * dt) - found
            assert abs(math.remainder(difference, 2.0 * math.pi)) < 2e-3
        found += dt * (swing if math.sin(found) > 0.0 else stance)


def test_torques_are_those_of_a_spring_and_a_damper():
    gait = (5.0, 5.0, 2.0, 0.5, 9.0, 9.0, 9.0, 0.3, 1.0, 0.1)
    wanted = 0.3 * math.sin(5.0 * 0.7 + 1.0) + 0.1
    assert follow(gait, 1, 0.2, 0.4, 0.7) == pytest.approx(2.0 * (wanted - 0.2) - 0.5 * 0.4)
    assert follow(gait, 0, -5.0, 0.0, 0.7) == 1.0


@pytest.mark.budget(4)
def test_swimmers_published_setting():
    """Published: 352.1, standard deviation 2.5, on ten seeds."""
    pytest.importorskip("mujoco")
    found = rlenvs.evaluate("Swimmer-v0", Oscillators("Swimmer-v0"), seeds=5)
    assert 344.0 < found.mean < 358.0


@pytest.mark.parametrize(("id", "least"), [("HalfCheetah-v0", 1300.0), ("Walker2d-v0", 2500.0), ("Hopper-v0", 880.0)])
def test_the_fitted_ones_run(id, least):
    """On ten seeds 1378, 2612 and 920, where doing nothing gives 0, 95 and 142."""
    pytest.importorskip("mujoco")
    assert rlenvs.evaluate(id, Oscillators(id), seeds=2).mean > least


def test_what_there_is_no_gait_for_is_refused():
    for arguments, told in (
        (("CartPole-v0",), "no oscillators for"),
        (("Ant-v0",), "no published oscillators"),
        (("Swimmer-v0", (1.0, 2.0)), "needs 10 numbers"),
        (("Swimmer-v0", (0.0, *PUBLISHED["Swimmer-v0"][1:])), "the first two are positive"),
    ):
        with pytest.raises(ParameterError, match=told):
            Oscillators(*arguments)
    assert np.shape(Oscillators("Ant-v0", np.ones(28))(np.zeros((3, 105)))) == (3, 8)
