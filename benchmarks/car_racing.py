"""CarRacing beside Gymnasium's CarRacing-v3 with Box2D, in one run: the car's own numbers, and speed.

    python -m venv box2d && box2d/bin/pip install gymnasium==1.4.0 box2d==2.3.10 pygame envpool==1.2.5 numba
    PYTHONPATH=. box2d/bin/python benchmarks/car_racing.py --output benchmarks/car_racing.md

Without these packages it says what is missing. Speeds are medians of rounds that alternate between all forms, one
thread each, with the same actions; ours in batches of 64.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable

import numpy as np

import rlenvs

ACTION = np.array([0.1, 0.3, 0.0], np.float32)
MANY = 64


class Ours:
    def __init__(self) -> None:
        self.env = rlenvs.make("CarRacing-v0", level="vector", playfield=500.0)
        self.env.reset(seed=0)
        self.record = self.env.unwrapped.batch.records(0)[1]

    def step(self, *action: float) -> None:
        self.env.step(np.array(action, np.float32))

    def hull(self) -> tuple[float, ...]:
        return tuple(float(v) for v in self.record.body[0, 0])


class Theirs:
    def __init__(self, module) -> None:
        self.env = module.CarRacing()
        self.env.reset(seed=0)
        self.env._render = lambda mode: np.zeros((96, 96, 3), np.uint8)  # pictures do not move the car

    def step(self, *action: float) -> None:
        self.env.step(np.array(action, np.float32))

    def hull(self) -> tuple[float, ...]:
        hull = self.env.car.hull
        return (*hull.worldCenter, hull.angle, *hull.linearVelocity, hull.angularVelocity)


def speed_of(car) -> float:
    return math.hypot(*car.hull()[3:5])


def top_speed(car) -> float:
    """Full gas until the speed stays."""
    fastest = 0.0
    for _ in range(200):
        car.step(0.0, 1.0, 0.0)
        fastest = max(fastest, speed_of(car))
    return fastest


def braking_distance(car) -> float:
    """From 50 m/s to rest, with brakes of 0.8."""
    while speed_of(car) < 50.0:
        car.step(0.0, 0.3, 0.0)
    start = car.hull()
    while speed_of(car) > 0.5:
        car.step(0.0, 0.0, 0.8)
    return math.dist(start[:2], car.hull()[:2])


def turning_radius(car, steer: float = 0.1) -> float:
    """Speed over spin, at 15 m/s, steered by 0.1 rad, averaged over four seconds."""
    found = []
    for t in range(300):
        car.step(steer, 0.02 * max(15.0 - speed_of(car), 0.0), 0.0)
        if t >= 100:
            found.append(speed_of(car) / max(abs(car.hull()[5]), 1e-9))
    return statistics.fmean(found)


def manoeuvres(module) -> list[str]:
    rows = ["| | ours | Gymnasium's | apart |", "|---|---|---|---|"]
    for measure, unit in ((top_speed, "m/s"), (braking_distance, "m"), (turning_radius, "m")):
        ours, theirs = measure(Ours()), measure(Theirs(module))
        rows.append(
            f"| {measure.__name__.replace('_', ' ')} | {ours:.4f} {unit} | {theirs:.4f} {unit} | "
            f"{abs(ours - theirs) / theirs:.3%} |"
        )
    return rows


def single(make: Callable) -> Callable[[float], float]:
    """Steps per second of a gymnasium environment, episodes begun again."""
    env = make()
    env.reset(seed=0)

    def run(seconds: float) -> float:
        count, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds or count == 0:
            _, _, ended, cut, _ = env.step(ACTION)
            count += 1
            if ended or cut:
                env.reset()
        return count / (time.perf_counter() - start)

    run(0.01)
    return run


def batch(step: Callable, many: int) -> Callable[[float], float]:
    def run(seconds: float) -> float:
        count, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds or count == 0:
            step()
            count += many
        return count / (time.perf_counter() - start)

    run(0.01)
    return run


def our_batch(**keywords) -> Callable[[float], float]:
    env = rlenvs.make_batch("CarRacing-v0", MANY, threads=1, **keywords)
    env.seed(0)
    env.reset()
    actions = np.tile(np.array([ACTION[0], 2.0 * ACTION[1] - 1.0, -1.0]), (MANY, 1))
    return batch(lambda: env.step(actions), MANY)


def envpools() -> Callable[[float], float]:
    import envpool

    env = envpool.make_gymnasium("CarRacing-v3", num_envs=MANY, num_threads=1, seed=0)
    env.reset()
    actions = np.tile(ACTION, (MANY, 1))
    return batch(lambda: env.step(actions), MANY)


def speeds(rounds: int, seconds: float) -> list[str]:
    import gymnasium

    forms = {
        "Gymnasium": single(lambda: gymnasium.make("CarRacing-v3")),
        "ours, single, picture": single(lambda: rlenvs.make("CarRacing-v0")),
        "ours, single, vector": single(lambda: rlenvs.make("CarRacing-v0", level="vector")),
        f"EnvPool, {MANY} worlds": envpools(),
        f"ours, {MANY} worlds, picture": our_batch(),
        f"ours, {MANY} worlds, vector": our_batch(observation="vector"),
    }
    found: dict[str, list[float]] = {name: [] for name in forms}
    for _ in range(rounds):
        for name, run in forms.items():
            found[name].append(run(seconds))
    medians = {name: statistics.median(each) for name, each in found.items()}
    rows = [
        "| form | steps/s | slowest to fastest round | times Gymnasium's | times EnvPool's |",
        "|---|---|---|---|---|",
    ]
    gym, pool = medians["Gymnasium"], medians[f"EnvPool, {MANY} worlds"]
    for name, median in medians.items():
        rows.append(
            f"| {name} | {median:.0f} | {min(found[name]):.0f} to {max(found[name]):.0f} | "
            f"{median / gym:.1f} | {median / pool:.1f} |"
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each form in a round")
    parser.add_argument("--output", help="file for the tables")
    options = parser.parse_args()
    try:
        import Box2D  # noqa: F401
        import envpool  # noqa: F401
        import pygame  # noqa: F401
        from gymnasium.envs.box2d import car_racing
    except ImportError as error:
        print(f"this comparison needs gymnasium[box2d] and envpool: {error}")
        return
    text = "\n".join(
        ["# CarRacing beside Gymnasium's and EnvPool's", "", *manoeuvres(car_racing), ""]
        + speeds(options.rounds, options.seconds)
    )
    print(text)
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    main()
