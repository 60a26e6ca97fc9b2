"""Measure steps per second: every id alone, and beside the published packages that are installed.

    python benchmarks/run.py                      our own environments
    python benchmarks/run.py --peers peers.toml   with the peers named there, in the same run

Both sides are workers in processes of their own (benchmarks/peers). They are timed in turn, ours, theirs, ours, ...;
a ratio is taken within each turn, and its median, minimum and maximum over the turns are printed, so that a machine
whose speed drifts does not spoil the comparison. The table goes to benchmarks/results.md.
"""

import argparse
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import rlenvs

HERE = Path(__file__).parent


@dataclass
class Case:
    """Our form of an environment, the peer it is compared with, and the ratio that we aim for."""

    id: str
    form: str
    peer: str
    goal: float
    num: int = 1
    threads: int = 1
    keywords: dict = field(default_factory=dict)
    legal: bool = False

    @property
    def label(self) -> str:
        alone = self.form in ("single", "parallel")
        form = self.form if alone else f"{self.form} of {self.num}, {self.threads} thread(s)"
        return ", ".join([form, *(f"{name}={value}" for name, value in self.keywords.items())])


BY_CPU = (
    "Seconds are those that processors worked (`--cpu`), of two threads the mean, since others used the machine. "
    "What a thread waits for another counts too, so rates of two threads are higher where each has a processor of its "
    "own."
)
WIDE = {"form": "vector", "num": 16384, "threads": 2}
ONE_TRACK = {"track_seed": 0}
WAREHOUSE = {"agents": 64, "height": 32, "width": 32, "on_target": "restart", "horizon": 256}
AIR = {"ground_effect": True, "drag": True}
PID = {"action": "position", "control_hz": 48, "horizon": 100_000}
BULLET = {"physics": "pybullet", "damping": 0.04}
CASES = [
    Case("QuadHover-v0", "single", "pybullet-drones-dyn", 200),
    Case("QuadHover-v0", "single", "pybullet-drones-pyb", 50),
    Case("QuadHover-v0", peer="pybullet-drones-dyn", goal=4000, **WIDE),
    Case("QuadHover-v0", "vector", "puffer-drone", 1 / 16, num=4096, threads=1),
    Case("QuadHover-v0", "single", "pybullet-drones-all", 150, keywords={"level": "real"}),
    Case("QuadHover-v0", peer="pybullet-drones-all", goal=3000, keywords={"level": "real"}, **WIDE),
    Case("QuadHover-v0", "single", "pybullet-drones-all", 150, keywords=AIR),
    Case("QuadHover-v0", peer="pybullet-drones-all", goal=3000, keywords=AIR, **WIDE),
    Case("QuadHover-v0", "single", "pybullet-drones-pyb", 1.5, keywords=BULLET),
    Case("QuadMultiHover-v0", "batch", "pybullet-drones-10-pyb", 3, num=1, keywords={"agents": 10, **BULLET}),
    Case("QuadMultiHover-v0", "batch", "pybullet-drones-pid-80", 1, num=1, keywords={"agents": 80, **PID}),
    Case("QuadHover-v0", "single", "pybullet-drones-rgb", 12.5, keywords={"camera": "rgbd"}),
    Case("QuadHover-v0", "vector", "pybullet-drones-rgb", 12.5, num=64, keywords={"camera": "rgbd"}),
    Case("MicroRacer-v0", "single", "micro-racer", 1, keywords=ONE_TRACK),
    Case("MicroRacer-v0", peer="micro-racer", goal=100, keywords=ONE_TRACK, **WIDE),
    Case("DeepSeaTreasure-v0", "single", "mo-deep-sea", 1),
    Case("DeepSeaTreasure-v0", peer="mo-deep-sea", goal=100, **WIDE),
    Case("PathFinding-v0", "batch", "pogema-64", 1, num=1, threads=1, keywords=WAREHOUSE),
    Case("PathFinding-v0", "batch", "pogema-64", 25, num=128, threads=2, keywords=WAREHOUSE),
    Case("SafePointGoal-v0", "single", "safety-point-goal", 1, keywords={"level": "1"}),
    Case("SafePointGoal-v0", peer="safety-point-goal", goal=1, keywords={"level": "1"}, **WIDE),
]


class Worker:
    """A process that steps an environment on request."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=HERE / "peers",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(said := tempfile.TemporaryFile("w+")),  # noqa: SIM115
            text=True,
        )
        if self._read() != "ready":
            said.seek(0)
            reason = (said.read().strip().splitlines() or ["it said nothing"])[-1]
            raise SystemExit(f"the worker did not start: {shlex.join(command)}: {reason}")

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def rate(self, seconds: float) -> float:
        """Agent-steps per second over some seconds."""
        assert self._process.stdin is not None
        print(seconds, file=self._process.stdin, flush=True)
        reply = json.loads(self._read())
        return reply["steps"] * reply["agents"] / reply["seconds"]

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def ours(
    id: str, form: str, num: int, threads: int, keywords: dict, legal: bool = False, cpu: bool = False,
    living: bool = False,
) -> Worker:  # fmt: skip
    """A worker for an environment of this package; `living`: agents that are out of the game count no steps."""
    options = ["--id", id, "--form", form, "--num", str(num), "--threads", str(threads)]
    options += [*["--legal"] * legal, *["--cpu"] * cpu, *["--living"] * living]
    return Worker([sys.executable, "ours.py", *options, "--keywords", json.dumps(keywords)])


def rate_alone(
    id: str, num: int, threads: int, keywords: dict, rounds: int, seconds: float, cpu: bool = False
) -> str:  # fmt: skip
    """A row of the table of ratios for self-play without a peer: steps of agents that are in the game."""
    mine = ours(id, "batch", num, threads, keywords, False, cpu, living=True)
    rates = sorted(mine.rate(seconds) for _ in range(rounds))
    mine.close()
    label, told = Case(id, "batch", "", 0.0, num, threads, keywords).label, statistics.median(rates)
    return f"| {id} | {label} | - | {told:,.0f} ({rates[0]:,.0f} - {rates[-1]:,.0f}) | - | - | - |"


def rates_alone(rounds: int, seconds: float) -> list[str]:
    """Rows of the table of our own environments."""
    rows = ["| id | single | 1 | 64 | 4096, 1 thread | 4096, 2 threads |", "|---|---|---|---|---|---|"]
    for id in rlenvs.list_envs():
        name = id.removeprefix("rlenvs/")
        if name.startswith("mo-"):
            continue
        form = "batch" if id in rlenvs.list_envs("multi-agent") else "vector"
        cells = []
        for kind, num, threads in (("single", 1, 1), (form, 1, 1), (form, 64, 1), (form, 4096, 1), (form, 4096, 2)):
            worker = ours(name, kind, num, threads, {})
            rate = statistics.median(worker.rate(seconds) for _ in range(rounds))
            worker.close()
            cells.append(f"{rate:,.0f}")
            print(f"{name:20} {kind:7} {num:5} x{threads}  {rate:14,.0f} steps/s", flush=True)
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return rows


def rates_beside_peers(
    cases: list[Case], peers: dict[str, str], rounds: int, seconds: float, only: str | None, cpu: bool = False
) -> list[str]:
    """Rows of the table of ratios; with `cpu` of the time that processors worked."""
    rows = ["| id | form | peer | ours | theirs | ratio (min - max) | aim |", "|---|---|---|---|---|---|---|"]
    for case in cases:
        if only and only not in case.id:
            continue
        if case.peer not in peers:
            print(f"{case.id} is not timed: the file of peers has no {case.peer}", flush=True)
            continue
        mine = ours(case.id, case.form, case.num, case.threads, case.keywords, case.legal, cpu)
        theirs = Worker([*shlex.split(peers[case.peer]), *["--cpu"] * cpu])
        pairs = [(mine.rate(seconds), theirs.rate(seconds)) for _ in range(rounds)]
        mine.close()
        theirs.close()
        ratios = sorted(a / b for a, b in pairs)
        a, b = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratio = f"{statistics.median(ratios):,.3g} ({ratios[0]:,.3g} - {ratios[-1]:,.3g})"
        rows.append(f"| {case.id} | {case.label} | {case.peer} | {a:,.0f} | {b:,.0f} | {ratio} | {case.goal:.3g} |")
        print(rows[-1], flush=True)
    return rows


def write_beside_peers(
    cases: list[Case], doc: str | None, title: str, notes: str, table: Path, alone: Sequence[tuple] = ()
) -> None:
    """The command line of a script that times some cases beside their peers; `--write` puts the table into its file.

    alone: id, worlds, threads and keywords of self-play that has no peer.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, required=True, help="a file like peers.example.toml")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="per turn")
    parser.add_argument("--only", help="part of an id")
    parser.add_argument(
        "--cpu", action="store_true", help="count the time that processors worked, for a machine that others use too"
    )
    parser.add_argument("--write", action="store_true", help=f"write benchmarks/{table.name}")
    options = parser.parse_args()
    peers = tomllib.loads(options.peers.read_text())
    lines = [
        f"# {title}: steps per second beside others",
        "",
        f"Measured on {date.today()}: {platform.machine()}, {os.cpu_count()} cores, Python {sys.version.split()[0]}.",
        f"{options.rounds} turns of {options.seconds} s; medians. {notes}",
        *[BY_CPU] * options.cpu,
        "",
        *rates_beside_peers(cases, peers, options.rounds, options.seconds, options.only, options.cpu),
    ]
    for id, num, threads, keywords in alone:
        if not options.only or options.only in id:
            lines.append(rate_alone(id, num, threads, keywords, options.rounds, options.seconds, options.cpu))
            print(lines[-1], flush=True)
    lines.append("")
    if options.write:
        table.write_text("\n".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, help="a file like peers.example.toml")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="per turn")
    parser.add_argument("--only", help="part of an id")
    parser.add_argument("--output", type=Path, default=HERE / "results.md")
    options = parser.parse_args()
    lines = [
        "# Steps per second",
        "",
        f"Measured on {date.today()}: {platform.machine()}, {os.cpu_count()} cores, Python {sys.version.split()[0]}.",
        f"Random actions; {options.rounds} turns of {options.seconds} s; medians. Several agents: agent-steps.",
        "Resets are counted in our batches and in puffer-drone, nowhere else. A step of QuadHover is 8 physics",
        "steps, one of puffer-drone is 1: the ratio per physics step is 8 times the one shown. pybullet-drones-rgb",
        "takes an image at every other step, we at every one: the ratio of images is twice the one shown.",
        "",
    ]
    if options.peers:
        peers = tomllib.loads(options.peers.read_text())
        lines += [
            "## Beside the originals",
            "",
            *rates_beside_peers(CASES, peers, options.rounds, options.seconds, options.only),
            "",
        ]
    if not options.only:
        lines += ["## Alone", "", *rates_alone(min(options.rounds, 3), options.seconds), ""]
    options.output.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
