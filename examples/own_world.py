"""Your own world in 100 lines: keep a room warm, cheaply, with image and expert. It works with every API.

python examples/own_world.py --video room.gif    # videos the expert too
"""

import argparse
from pathlib import Path

import gymnasium
import numpy as np

import rlenvs
from rlenvs.agents.video import save, video
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
    levels={"easy": {"leak": 0.02}, "hard": {"leak": 0.1, "power": 2.5}},
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


@SPEC.expert
def expert(p, s, a):
    unheated = s.room + p.leak * (s.outside - s.room)
    a[0] = unheated + 0.5 * p.power < 20.0  # whichever choice comes nearer


@SPEC.draw
def draw(canvas, p, s):
    canvas.caption(f"outside {s.outside:.1f} C")
    canvas.legend(("red", "too warm"), ("green", "within a degree of 20"), ("blue", "too cold"))
    canvas.view(0.0, 10.0, 0.0, 9.0)
    color = "blue" if s.room < 19.0 else "red" if s.room > 21.0 else "green"
    canvas.polygon([(0.6, 5.0), (3.6, 8.2), (6.6, 5.0)], "grey")
    canvas.rectangle(1.0, 0.6, 6.2, 5.0, color)
    canvas.text((3.6, 2.8), f"{s.room:.1f} C", "white", size=40, align="centre")
    canvas.rectangle(8.0, 0.6, 8.8, 8.2, "light", rounded=0.4)  # a thermometer from -20 to 40 degrees
    canvas.rectangle(8.0, 0.6, 8.8, 0.6 + 7.6 * min(max((s.room + 20.0) / 60.0, 0.05), 1.0), color, rounded=0.4)
    canvas.line([(7.7, 5.67), (9.1, 5.67)], "black")
    canvas.text((9.2, 5.67), "20")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A room to keep warm: a world of your own.")
    parser.add_argument("--video", type=Path, help="where to write a video of the expert: .gif, .webp or .mp4")
    given = parser.parse_args()
    print("Takes a few seconds; the first time half a minute more, to compile.", flush=True)
    rlenvs.register("Thermostat-v0", SPEC)
    env = gymnasium.make("rlenvs/Thermostat-v0", level="hard")
    observation, info = env.reset(seed=0)
    total = 0.0
    for _ in range(200):
        observation, reward, terminated, truncated, info = env.step(env.unwrapped.expert_action())
        total += reward
    print(f"one room, hard: return {total:.1f}, {info['is_success']=}")

    for name in ("random", "expert"):
        print(f"{name:6}", rlenvs.evaluate("Thermostat-v0", name))

    rooms = rlenvs.make_vec("Thermostat-v0", 1000, leak=np.linspace(0.01, 0.1, 1000))
    observations, infos = rooms.reset(seed=0)
    for _ in range(200):  # a rule of thumb, from observations alone
        observations, rewards, *_, infos = rooms.step((observations[:, 0] < 0.2).astype(int))
    print(f"a thousand rooms with different leaks: {infos['is_success'].mean():.0%} are warm")
    if given.video:
        save(given.video, video("Thermostat-v0", "expert", seconds=8.0, every=2), fps=15.0)
        print(f"recorded in {given.video}")
