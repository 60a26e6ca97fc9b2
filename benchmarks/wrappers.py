"""What wrappers cost: the batched step of QuadHover with a wrapper beside the same step without, timed in turn.

    python benchmarks/wrappers.py
    python benchmarks/wrappers.py --rounds 15 --write
    python benchmarks/wrappers.py --small --write

Both are vector environments of 4096 worlds. In "flight" the actions are small, episodes last 240 steps and their ends
are spread out; in "crashes" actions are random, and one world in nine begins anew in every step. All resets count.
Two columns are of batches with one thread per core, as users get them: their bare step is shorter, and most of what
wrappers do is done by one thread. `--small` measures the single form and 64 worlds instead, in microseconds, the least
of the turns. `--write` puts the tables into benchmarks/wrappers.md.
"""

import argparse
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import rlenvs
from rlenvs import wrappers as w

HERE = Path(__file__).parent
ID, WORLDS, STEPS, EPISODE = "QuadHover-v0", 4096, 40, 240
SMALL, MANY_TURNS, FEW = (1, 64), 20, 5  # worlds of the second table (the first is the single form), turns, steps timed
LIMIT = 15.0  # percent
SPREAD = {"flight": 0.02, "crashes": 1.0}  # of the actions
COLUMNS = [("flight", 1), ("flight", None), ("crashes", None)]  # the policy, and the batch's threads
OWN = {"wind_x": np.zeros(WORLDS)}  # parameters of its own for every world: what wrappers on parameters start from
FAMILY = [{"mass": mass} for mass in np.linspace(0.025, 0.03, 50).tolist()]
RANGES = {"mass": (0.025, 0.03), "gravity": (9.5, 10.1)}
EVERYTHING = {
    "delay": [1, 3],
    "scale": 0.01,
    "bias": 0.01,
    "walk": 0.01,
    "drift": 0.01,
    "drift_time": 2.0,
    "noise": 0.01,
    "outliers": 0.01,
    "outlier_size": 0.1,
    "dropout": 0.05,
    "burst": 3.0,
    "stuck": 0.001,
    "quantum": 0.001,
}


def far_out(stage: Any, actions: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """A predicate for shields: more than a metre from the middle."""
    return np.abs(stage.batch.states["position"][:, 0, 0]) > 1.0


# name, wrappers, keywords of the environment
CASES: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("the form alone", [w.Wrapper()], {}),
    ("Sensor, noise", [w.Sensor(noise=0.01)], {}),
    ("Sensor, bias and noise", [w.Sensor(noise=0.01, bias=0.01)], {}),
    ("Sensor, drift", [w.Sensor(drift=0.01, drift_time=2.0)], {}),
    ("Sensor, delay", [w.Sensor(delay=2)], {}),
    ("Sensor, dropout", [w.Sensor(dropout=0.05, burst=3.0)], {}),
    ("Sensor of position, all models", [w.Sensor("position", **EVERYTHING)], {}),
    ("Sensor of all channels, all models", [w.Sensor(**EVERYTHING)], {}),
    ("Mask", [w.Mask("velocity")], {}),
    ("Actuator, noise", [w.Actuator(noise=0.02)], {}),
    ("Actuator, delay", [w.Actuator(delay=2)], {}),
    ("Actuator, lag", [w.Actuator(lag=0.05)], {}),
    ("ActionRepeat(1)", [w.ActionRepeat(1)], {}),
    ("ActionCost", [w.ActionCost(change=0.1)], {}),
    ("CostBudget", [w.CostBudget(limit=1e6)], {}),
    ("Lagrangian", [w.Lagrangian(limit=25.0)], {}),
    ("Saute", [w.Saute(limit=25.0)], {}),
    ("Simmer", [w.Simmer(limit=25.0, schedule=[[0, 10.0], [1000, 25.0]])], {}),
    ("ConservativeFloor", [w.ConservativeFloor(baseline=-1e6)], {}),
    ("Shield, predicate", [w.Shield(unsafe=far_out, fallback="idle")], {}),
    ("Reflex(times=1)", [w.Reflex(unsafe=far_out, times=1)], {}),
    ("SafeActions, box", [w.SafeActions(low=-0.8, high=0.8)], {}),
    ("SafeActions, half-space", [w.SafeActions(normals=[[1.0, 1.0, 1.0, 1.0]], offsets=[2.0])], {}),
    ("BarrierFilter", [w.BarrierFilter()], {"action": "velocity"}),
    ("StateAdversary, random", [w.StateAdversary(eps=0.02)], {}),
    ("StateAdversary, walk", [w.StateAdversary(eps=0.02, coupling=0.005, policy="walk")], {}),
    ("ActionAdversary", [w.ActionAdversary(eps=0.02)], {}),
    ("RandomParameters", [w.RandomParameters(RANGES)], OWN),
    ("ParameterAdversary", [w.ParameterAdversary(RANGES, rate=0.05)], OWN),
    ("Contexts, hidden", [w.Contexts(FAMILY)], OWN),
    ("Contexts, visible", [w.Contexts(FAMILY, visible=True)], OWN),
    ("EpisodeDrift", [w.EpisodeDrift("mass", "walk", low=0.025, high=0.03, scale=0.0005)], OWN),
    ("LinearScalarization", [w.LinearScalarization([1.0, 0.1, 0.1])], {}),
    ("ChebyshevScalarization", [w.ChebyshevScalarization([1.0, 0.1, 0.1], [500.0, 1.0, 1.0])], {}),
    ("Lexicographic", [w.Lexicographic(["hover", "distance", "effort"], slack=1.0)], {}),
    ("WeightConditioned", [w.WeightConditioned()], {}),
    ("NormalizeRewards", [w.NormalizeRewards()], {}),
    ("AccruedRewards", [w.AccruedRewards([500.0, 500.0, 500.0])], {}),
    ("SnapshotReset", ["bank"], {}),
    ("JumpStart(steps=0)", [w.JumpStart(steps=0)], {}),
    ("ResetFree", [w.ResetFree(backward=None, switch="time")], {}),
    ("parameters of its own, no wrapper", [], OWN),
]

FIVE: list[Any] = [
    w.Actuator(noise=0.02),
    w.Sensor("position", noise=0.01),
    w.CostBudget(limit=1e6),
    w.ActionCost(change=0.1),
    w.NormalizeRewards(),
]


class Turn:
    """One environment, stepped for a while at a time."""

    def __init__(self, wrappers: list[Any], keywords: dict[str, Any], policy: str, threads: int | None) -> None:
        env = rlenvs.make_vec(ID, WORLDS, threads=threads, **keywords)
        if wrappers == ["bank"]:
            wrappers = [w.SnapshotReset(rlenvs.collect_snapshots(ID, "expert", episodes=10, every=20))]
        self.env = w.wrap(env, *wrappers) if wrappers else env
        shape = (STEPS, WORLDS, *self.env.single_action_space.shape)
        self.actions = (SPREAD[policy] * np.random.default_rng(0).uniform(-1.0, 1.0, shape)).astype(np.float32)
        self.env.reset(seed=0)
        for k in range(EPISODE):  # spread out the ends of episodes
            self.env.step(self.actions[k % STEPS])
            if k % 8 == 0:
                self.env.reset(options={"reset_mask": np.arange(WORLDS) % EPISODE // 8 == k // 8})

    def milliseconds(self) -> float:
        """Per step."""
        start = time.perf_counter()
        for actions in self.actions:
            self.env.step(actions)
        return (time.perf_counter() - start) / STEPS * 1e3


def label(column: tuple[str, int | None]) -> str:
    policy, threads = column
    return f"{policy}, {'one thread' if threads == 1 else 'all threads'}"


def measure(case: tuple[Any, ...], rounds: int, policy: str, threads: int | None) -> tuple[float, ...]:
    """Milliseconds of the bare step, and the percentage that the wrappers add: median, least, most."""
    _, wrappers, keywords = case
    bare = Turn([], keywords if wrappers else {}, policy, threads)
    wrapped = Turn(wrappers, keywords, policy, threads)
    pairs = []
    for k in range(rounds):
        first, second = (bare, wrapped) if k % 2 else (wrapped, bare)
        times = {first: first.milliseconds(), second: second.milliseconds()}
        pairs.append((times[bare], times[wrapped]))
    added = sorted(100.0 * (after / before - 1.0) for before, after in pairs)
    return statistics.median(before for before, _ in pairs), statistics.median(added), added[0], added[-1]


def microseconds(wrappers: list[Any], keywords: dict[str, Any], worlds: int) -> Callable[[], float]:
    """What times a step of an environment whose episodes end with the horizon alone: the best few of a turn's steps,
    so few that other programs seldom come in between."""
    keywords = {"crash_tilt": 3.2, **{name: value for name, value in keywords.items() if name not in OWN}}
    env = rlenvs.make(ID, **keywords) if worlds == 1 else rlenvs.make_vec(ID, worlds, threads=1, **keywords)
    env = w.wrap(env, *wrappers) if wrappers else env
    shape = (STEPS, *env.action_space.shape)
    actions = (0.02 * np.random.default_rng(0).uniform(-1.0, 1.0, shape)).astype(np.float32)

    def turn() -> float:
        env.reset(seed=0)
        times = []
        for first in range(0, STEPS, FEW):
            start = time.perf_counter()
            for action in actions[first : first + FEW]:
                env.step(action)
            times.append(time.perf_counter() - start)
        return min(times) / FEW * 1e6

    return turn


def small_table(only: str) -> list[str]:
    """Bare and wrapped steps of few worlds, timed in turn; the least of the turns, in microseconds."""
    lines = [
        "## One world, and 64",
        "",
        f"`python benchmarks/wrappers.py --small --write` on {date.today()}: {platform.machine()}, "
        f"{os.cpu_count()} cores.",
        f"Microseconds per step of {ID}, the least of {MANY_TURNS * STEPS // FEW} times {FEW} steps, bare and wrapped",
        "in turn; one world is the single form, 64 are the vector form with one thread. What a wrapper adds here is",
        "the work of Python, not of loops over slots.",
        "",
        f"| wrapper | {' | '.join(f'{n} bare | {n} wrapped | times' for n in SMALL)} |",
        "|---|" + "---|---|---|" * len(SMALL),
    ]
    print("\n".join(lines[-2:]), flush=True)
    for name, wrappers, keywords in [*CASES, ("five: actuator, sensor, budget, cost of actions, normaliser", FIVE, {})]:
        if only not in name or not wrappers or wrappers == ["bank"]:
            continue
        cells = [name]
        for worlds in SMALL:
            bare, wrapped = microseconds([], keywords, worlds), microseconds(wrappers, keywords, worlds)
            pairs = [(bare(), wrapped()) for _ in range(MANY_TURNS)]
            least = [min(times) for times in zip(*pairs, strict=True)]
            cells += [f"{least[0]:.1f}", f"{least[1]:.1f}", f"{least[1] / least[0]:.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return lines


def write(first: list[str] | None = None, second: list[str] | None = None) -> None:
    """Put one of the tables into the page, and keep the other."""
    page = HERE / "wrappers.md"
    before, mark, after = page.read_text(encoding="utf-8").partition("\n## One world")
    upper = "\n".join(first) + "\n" if first else before
    lower = "\n" + "\n".join(second) + "\n" if second else mark + after
    page.write_text(upper + lower, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--only", default="", help="part of a name")
    parser.add_argument("--small", action="store_true", help="one world and 64 in place of 4096")
    parser.add_argument("--write", action="store_true", help="write benchmarks/wrappers.md")
    options = parser.parse_args()
    if options.small:
        lines = small_table(options.only)
        if options.write:
            write(second=lines)
        return
    lines = [
        "# What wrappers cost",
        "",
        f"`python benchmarks/wrappers.py --rounds {options.rounds} --write` on {date.today()}: {platform.machine()}, "
        f"{os.cpu_count()} cores, Python {sys.version.split()[0]}.",
        f"The step of {ID} in vector form, {WORLDS} worlds: with the wrapper against without, {options.rounds} turns",
        f"of {STEPS} steps each, alternating; medians (ranges). The aim is {LIMIT:g} % at most. Wrappers on",
        "parameters are compared with an environment whose worlds have parameters of their own; what these cost is in",
        "the last row. Wrappers that make several steps per step (`ActionRepeat(n)`, `Reflex`, `JumpStart`, a look",
        "ahead of `Shield`) cost these steps, besides what is shown here for one.",
        "",
        f"| wrapper | {' | '.join(f'bare step, ms | {label(column)}: added, %' for column in COLUMNS)} |",
        "|---|" + "---|---|" * len(COLUMNS),
    ]
    print("\n".join(lines[-2:]), flush=True)
    within = dict.fromkeys(COLUMNS, 0)
    cases = [case for case in CASES if options.only in case[0]]
    for case in cases:
        cells = [case[0]]
        for column in COLUMNS:
            step, median, least, most = measure(case, options.rounds, *column)
            within[column] += median <= LIMIT
            cells += [f"{step:.2f}", f"{median:.1f} ({least:.1f} - {most:.1f})"]
        lines.append(f"| {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    told = ", ".join(f"{number} ({label(column)})" for column, number in within.items())
    lines += ["", f"Of {len(cases)} rows at most {LIMIT:g} %: {told}."]
    print(lines[-1])
    if options.write:
        write(first=lines)


if __name__ == "__main__":
    main()
