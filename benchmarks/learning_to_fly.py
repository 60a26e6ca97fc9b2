"""The tables of "Learning to Fly" again: how fast it runs, and how well its PID tracks circles.

    python benchmarks/learning_to_fly.py                      the tracking errors, in both physics
    python benchmarks/learning_to_fly.py --peers peers.toml   the speed table too, beside gym-pybullet-drones

Published: Panerati et al., IROS 2021, and the README of its repository's branch paper. Speed is simulated seconds per
second, 240 Hz physics and a 48 Hz PID per drone. Writes learning_to_fly.md.
"""

import argparse
import shlex
import statistics
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import rlenvs
from rlenvs.robotics.quadcopter.control import PIDController
from rlenvs.robotics.quadcopter.vehicle import hover_rpm
from run import Worker, ours

HERE = Path(__file__).parent
RECORDING = HERE.parent / "tests" / "data" / "quadcopters_pid.npz"
CONTROL_HZ = 48

# --- tracking ---------------------------------------------------------------------------------------------------------

WAKE = {"downwash": True, "downwash_most": 1e6}  # without our bound
AIR = {"ground_effect": True, "drag": True, **WAKE}
# case, keywords, root mean square error [m] of the original
TRACKING: list[tuple[str, dict[str, Any], float]] = [
    ("pyb", {}, 0.0946),
    ("dyn", {"damping": 0.0, "arm": 0.0397}, 0.0934),
    ("pyb_gnd", {"ground_effect": True}, 0.0952),
    ("pyb_drag", {"drag": True}, 0.0979),
    ("pyb_dw", WAKE, 0.1032),
    ("pyb_gnd_drag_dw", AIR, 0.1066),
    ("pyb, cf2p", {"vehicle": "cf2p", "arm": 0.0397}, 0.0958),
]
# Bullet's damping and the places of the propellers in the original's drawing
BULLET = {"damping": 0.04, "arm": 0.028 * np.sqrt(2.0)}
SHIFTS = 12  # flights per case, starts shifted by 1e-10 m: the closed loop is chaotic


def tracking_error(physics: str, shift: float, keywords: dict[str, Any]) -> float:
    """Three drones on their circles for 12 s; the error of all after 2 s."""
    recording = np.load(RECORDING)
    targets, start, yaw = recording["helix_targets"], recording["helix_start"], recording["helix_rpy"][:, 2]
    choices = {**BULLET, **keywords, "action_range": 1.0, "control_hz": CONTROL_HZ, "collisions_end": False}
    batch = rlenvs.make_batch("QuadMultiHover-v0", 1, agents=3, physics=physics, horizon=10**6, **choices)
    batch.seed([0])
    batch.reset()
    p, s = batch.records(0)
    s.position[:], s.velocity[:], s.rates[:] = start, 0.0, 0.0
    s.position[:, 0] += shift
    s.attitude[:] = np.stack([0 * yaw, 0 * yaw, np.sin(yaw / 2), np.cos(yaw / 2)], axis=1)
    vehicle = choices.get("vehicle", "cf2x")
    controllers = [PIDController(vehicle, CONTROL_HZ) for _ in range(3)]
    hover, errors, rpm = hover_rpm(p), [], np.zeros((3, 4))
    for now in targets:  # as there: move by the last command, compare, then command towards the same target
        s.over, s.alive[:], s.lost[:] = False, True, False
        batch.step(np.clip(rpm / hover - 1.0, -1.0, 1.0))
        errors.append(((s.position - now) ** 2).sum(axis=1))
        state = zip(controllers, s.position, s.attitude, s.velocity, now, yaw, strict=True)
        rpm = np.array([pid.rpm(*at, goal, turn) for pid, *at, goal, turn in state])
    batch.close()
    return float(np.sqrt(np.mean(errors[2 * CONTROL_HZ :])))


def tracking_table(engines: list[str]) -> list[str]:
    """Mean (least - largest) of the shifted flights, and the deviation of the mean from the original."""
    rows = [
        f"| case | original | {' | '.join(f'{e}, deviation' for e in engines)} |",
        "|---" * (2 + len(engines)) + "|",
    ]
    for name, keywords, published in TRACKING:
        cells = []
        for physics in engines:
            found = [tracking_error(physics, 1e-10 * n, keywords) for n in range(SHIFTS)]
            mean = statistics.mean(found)
            cells.append(f"{mean:.4f} ({min(found):.4f} - {max(found):.4f}), {100 * (mean / published - 1):+.1f} %")
        rows.append(f"| {name} | {published:.4f} | {' | '.join(cells)} |")
        print(rows[-1], flush=True)
    return rows


# --- speed ------------------------------------------------------------------------------------------------------------

PID = {"action": "position", "control_hz": CONTROL_HZ, "horizon": 1_000_000}


@dataclass
class Case:
    """A row of the paper's table; numbers are multiples of real time."""

    name: str
    published: tuple[str, str]
    id: str
    form: str
    peer: str
    peers: int = 1
    num: int = 1
    threads: int = 1
    agents: int = 1
    keywords: dict[str, Any] = field(default_factory=dict)


def swarm(agents: int, **more: Any) -> dict[str, Any]:
    return {"agents": agents, "collisions_end": False, **PID, **more}


EYES = {"camera": "rgbd"}
CASES = [
    Case("1 drone", ("15.5", "16.8"), "QuadHover-v0", "single", "pybullet-drones-pid-1", keywords=PID),
    Case(
        "1 drone, vision",
        ("10.8", "1.3"),
        "QuadHover-v0",
        "single",
        "pybullet-drones-vision-1",
        keywords={**PID, **EYES},
    ),
    Case(
        *("10 drones", ("2.1", "2.3"), "QuadMultiHover-v0", "batch", "pybullet-drones-pid-10"),
        agents=10,
        keywords=swarm(10),
    ),
    Case(
        *("5 drones, vision", ("2.5", "0.2"), "QuadMultiHover-v0", "batch", "pybullet-drones-vision-5"),
        agents=5,
        keywords=swarm(5, **EYES),
    ),
    Case(
        *("80 drones in 4 worlds", ("0.8", "0.95"), "QuadMultiHover-v0", "batch", "pybullet-drones-pid-20"),
        peers=4,
        num=4,
        threads=2,
        agents=20,
        keywords=swarm(20),
    ),
    Case(
        *("80 drones in 1 world", ("-", "-"), "QuadMultiHover-v0", "batch", "pybullet-drones-pid-80"),
        agents=80,
        keywords=swarm(80),
    ),
    Case(
        *("80 drones in 1 world, downwash", ("-", "-"), "QuadMultiHover-v0", "batch", "pybullet-drones-pid-80"),
        agents=80,
        keywords=swarm(80, downwash=True),
    ),
]


def together(workers: list[Worker], seconds: float) -> float:
    """Agent-steps per second of workers that run at the same time."""
    with ThreadPoolExecutor(len(workers)) as pool:
        return sum(pool.map(lambda worker: worker.rate(seconds), workers))


def speed_table(peers: dict[str, str], rounds: int, seconds: float) -> list[str]:
    """Rows of multiples of real time: published, the original here, ours, and the ratio of the last two."""
    rows = [
        "| case | published, two laptops | original here | ours | ratio (least - largest) |",
        "|---|---|---|---|---|",
    ]
    for case in CASES:
        mine = ours(case.id, case.form, case.num, case.threads, case.keywords)
        theirs = [Worker(shlex.split(peers[case.peer])) for _ in range(case.peers)]
        drones = case.agents * case.num * CONTROL_HZ
        pairs = [(mine.rate(seconds) / drones, together(theirs, seconds) / drones) for _ in range(rounds)]
        for worker in (mine, *theirs):
            worker.close()
        ratios = sorted(a / b for a, b in pairs)
        a, b = (statistics.median(column) for column in zip(*pairs, strict=True))
        spread = f"{statistics.median(ratios):,.0f} ({ratios[0]:,.0f} - {ratios[-1]:,.0f})"
        rows.append(f"| {case.name} | {' and '.join(case.published)} | {b:,.2f} | {a:,.0f} | {spread} |")
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, help="a file like peers.example.toml")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="per turn")
    parser.add_argument("--output", type=Path, default=HERE / "learning_to_fly.md")
    parser.add_argument("--engines", nargs="*", default=["kernel", "pybullet"])
    options = parser.parse_args()
    lines = ["# Learning to Fly, again", ""]
    if options.peers:
        peers = tomllib.loads(options.peers.read_text())
        lines += ["## Multiples of real time", "", *speed_table(peers, options.rounds, options.seconds), ""]
        lines += [
            "240 Hz physics, 48 Hz PID per drone. The original takes images every other step, ours every step.",
            "The original has some obstacles around, which cost it little; ours has none.",
            "",
        ]
    lines += ["## Tracking errors of the PID [m]", "", *tracking_table(options.engines), ""]
    lines += [
        f"Mean (least - largest) of {SHIFTS} flights whose starts differ by 1e-10 m: the closed loop is chaotic.",
        "",
    ]
    options.output.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
