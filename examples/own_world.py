"""Your own world in 60 lines: a room to keep warm, cheaply. Every API form comes with it."""

import gymnasium
import numpy as np

import rlenvs
from rlenvs.core import block, cost, discrete, f8, normal, param, term, uniform, world

SPEC = world(
    "Thermostat-v0",
    doc="Keep a room at 20 degrees.",
    params={
        "leak": param(0.05, 0.01, 0.2, "1/step", "share of the difference to outside that is lost"),
        "power": param(1.5, 0.5, 3.0, "K/step", "what the heater adds"),
    },
    state={"room": f8, "outside": f8},
    observation={
        "room": block(low=-40, high=60, unit="C", doc="temperature of the room"),
        "outside": block(low=-40, high=60, unit="C", doc="temperature outside"),
    },
    action=discrete("off", "on"),
    terms={
        "comfort": term(-1, 0, weight=1.0, doc="minus the distance to 20 degrees, at most 1 at 10 degrees"),
        "energy": term(-1, 0, weight=0.1, doc="-1 while heating"),
    },
    costs={"frost": cost(5, doc="1 while the room is below 5 degrees")},
    horizon=200,
    levels={"easy": {"leak": 0.02}, "hard": {"leak": 0.15}},
)


@SPEC.reset
def reset(p, s, rng):
    s.room = uniform(rng, 10.0, 25.0)
    s.outside = uniform(rng, -10.0, 10.0)


@SPEC.step
def step(p, s, a, rng, r):
    s.outside = min(max(s.outside + 0.2 * normal(rng), -20.0), 20.0)
    s.room += p.leak * (s.outside - s.room) + p.power * a
    r.comfort = -min(abs(s.room - 20.0) / 10.0, 1.0)
    r.energy = -float(a)
    r.frost = 1.0 if s.room < 5.0 else 0.0
    r.success = abs(s.room - 20.0) < 1.0


@SPEC.observe
def observe(p, s, o):
    o.room = s.room
    o.outside = s.outside


if __name__ == "__main__":
    rlenvs.register("Thermostat-v0", "__main__:SPEC", kinds=["single", "safe", "multi-objective"])
    env = gymnasium.make("rlenvs/Thermostat-v0", level="hard")
    observation, info = env.reset(seed=0)
    total = 0.0
    for _ in range(200):
        observation, reward, terminated, truncated, info = env.step(int(observation[0] < 0.2))
        total += reward
    print(f"one room: return {total:.1f}, {info['is_success']=}")

    rooms = rlenvs.make_vec("Thermostat-v0", 1000, leak=np.linspace(0.01, 0.2, 1000))
    observations, infos = rooms.reset(seed=0)
    for _ in range(200):
        observations, rewards, *_, infos = rooms.step((observations[:, 0] < 0.2).astype(int))
    print(f"a thousand rooms with different leaks: {infos['is_success'].mean():.0%} are warm")
