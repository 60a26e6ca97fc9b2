"""Sensors with the figures of data sheets, for channels that a world names: `wrap(env, *imu("rates", "acceleration"))`.

Each function returns a list of wrappers. Other figures go in as settings: `gps("position", cep=0.01, dropout=0.2)`.
`noisy`, `stuck` and `pushed` are the tests of robustness of Raffin et al., "An open-loop baseline for reinforcement
learning locomotion tasks" (RLJ 2024), for any robot; their magnitudes here are typical values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rlenvs.wrappers.adversary import ForceAdversary
from rlenvs.wrappers.cameras import CameraNoise
from rlenvs.wrappers.channels import Channels
from rlenvs.wrappers.sensors import Sensor
from rlenvs.wrappers.wrapper import Wrapper


def imu(gyro: Channels = None, accelerometer: Channels = None, **settings: Any) -> list[Wrapper]:
    """A MEMS inertial measurement unit, the ADIS16448 of Analog Devices, with the values of the simulator RotorS
    (gazebo_imu_plugin.h).

    Gyroscope: 0.0194 deg/s/sqrt(Hz), offset at turn-on 0.5 deg/s, drift from a random walk of 0.0022 deg/s/sqrt(s) with
    the correlation time 1000 s. Accelerometer: 0.004 m/s^2/sqrt(Hz), 0.196 m/s^2, 0.006 m/s^2/sqrt(s), 300 s. A random
    walk w with correlation time T has the stationary standard deviation w sqrt(T / 2), with which episodes begin here.

    Args:
        gyro: channels of angular velocity, rad/s; None: there is no gyroscope.
        accelerometer: channels of acceleration, m/s^2; None: there is no accelerometer.
        settings: other settings of both sensors.
    """
    wrappers: list[Wrapper] = []
    if gyro is not None:
        density, bias, walk = (math.radians(figure) for figure in (70.0 / 3600.0, 0.5, 8.0 / 3600.0))
        wrappers.append(_inertial(gyro, density, bias, walk, 1000.0, settings))
    if accelerometer is not None:
        wrappers.append(_inertial(accelerometer, 0.004, 0.02 * 9.8, 0.006, 300.0, settings))
    return wrappers


def _inertial(
    channels: Channels, density: float, bias: float, walk: float, time: float, settings: dict[str, Any]
) -> Sensor:
    figures = {"density": density, "bias": bias, "drift": walk * math.sqrt(time / 2.0), "drift_time": time}
    return Sensor(channels, **{**figures, **settings})


def gps(
    position: Channels = None,
    velocity: Channels = None,
    *,
    cep: float = 2.5,
    speed_error: float = 0.05,
    **settings: Any,
) -> list[Wrapper]:
    """A satellite receiver, the u-blox NEO-M8: half of the positions are within 2.5 m (CEP), velocity to 0.05 m/s (data
    sheet). 5 Hz, a latency of 0.12 s, position errors correlated over 60 s, as in PX4's simulation (gazebo_gps_plugin).
    One sample in a hundred is missing, a typical value.

    Args:
        position: channels of position, m. velocity: of velocity, m/s. None: not measured.
        cep: radius in m that holds half of the horizontal positions: 1.1774 standard deviations. About 0.01 with RTK.
        speed_error: standard deviation of the velocity, m/s.
        settings: other settings of both sensors.
    """
    common = {"rate": 5.0, "latency": 0.12, "dropout": 0.01, **settings}
    wrappers: list[Wrapper] = []
    if position is not None:
        spread = cep / math.sqrt(2.0 * math.log(2.0))
        wrappers.append(Sensor(position, **{"drift": spread, "drift_time": 60.0, **common}))
    if velocity is not None:
        wrappers.append(Sensor(velocity, **{"noise": speed_error, **common}))
    return wrappers


def lidar(channels: Channels, **settings: Any) -> list[Wrapper]:
    """A laser scanner, the Hokuyo UTM-30LX: within 30 mm up to 10 m, taken as three standard deviations of 10 mm, and a
    resolution of 1 mm (data sheet). One beam in a hundred is lost and repeats its last reading, a typical value.

    Args:
        channels: ranges, m. For rays in another unit (closeness, share of the range) give `noise` and `quantum`.
        settings: other settings.
    """
    return [Sensor(channels, **{"noise": 0.01, "quantum": 0.001, "dropout": 0.01, "each": True, **settings})]


def joint_encoder(channels: Channels, *, bits: int = 14, **settings: Any) -> list[Wrapper]:
    """A magnetic encoder, the AS5048 of ams: 14 bits per turn (0.022 deg), noise of at most 0.06 deg rms (data sheet).

    Args:
        channels: angles, rad.
        bits: resolution, in bits a turn.
        settings: other settings.
    """
    return [Sensor(channels, **{"noise": math.radians(0.06), "quantum": 2.0 * math.pi / 2**bits, **settings})]


def camera(names: Any = None, **settings: Any) -> list[Wrapper]:
    """A small camera indoors: 4 gray levels of noise, brightness to 20 %, contrast to 10 %, one lost frame in a
    hundred; typical values.

    Args:
        names: images; None for all.
        settings: other settings of `CameraNoise`.
    """
    return [CameraNoise(names, **{"noise": 4.0, "brightness": 0.2, "contrast": 0.1, "drop": 0.01, **settings})]


def noisy(channels: Channels = None, *, noise: float = 0.3, **settings: Any) -> list[Wrapper]:
    """White noise on all that is observed.

    Args:
        channels: what is noisy; None: everything.
        noise: standard deviation, in each channel's unit.
        settings: other settings of the sensor.
    """
    return [Sensor(channels, **{"noise": noise, **settings})]


def stuck(channels: Channels = None, *, share: float = 0.1, samples: float = 25.0, **settings: Any) -> list[Wrapper]:
    """A sensor that sticks at its last reading again and again.

    Args:
        channels: what sticks, all together, or with `each` one by one; None: everything.
        share: of the time in which it is stuck.
        samples: for how many it is stuck, on average.
        settings: other settings of the sensor.
    """
    return [Sensor(channels, **{"dropout": share, "burst": samples, **settings})]


def pushed(
    bodies: Sequence[str] = ("torso",), *, force: float = 5.0, axes: str = "xz", **settings: Any
) -> list[Wrapper]:
    """Random pushes on a robot of MuJoCo, another one in each step.

    Args:
        bodies: their names in the model.
        force: of each component at most, N.
        axes: the components, out of "xyz".
        settings: other settings of `ForceAdversary`.
    """
    return [ForceAdversary(**{"bodies": list(bodies), "limit": force, "axes": axes, **settings})]
