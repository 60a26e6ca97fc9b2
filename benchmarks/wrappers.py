"""What wrappers cost: steps of QuadHover with a wrapper beside the same steps without, in alternating blocks.

    python benchmarks/wrappers.py
    python benchmarks/wrappers.py --only Sensor
    python benchmarks/wrappers.py --write

One world is the single form; 64 and 4096 worlds are the vector form, with one thread. Blocks are timed by the processor
time of this process, so that other programs hardly count. Figures are medians over pairs of blocks, one bare and one
wrapped: of the times, and of the ratio within a pair. Of 4096 worlds there are two columns: in "flight" the actions are
small, episodes last 240 steps and their ends are spread out; in "crashes" actions are random, and one world in nine
begins anew in every step. All resets count. `--write` puts the tables into benchmarks/wrappers.md.
"""

import argparse
import functools
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
ID, STEPS, EPISODE = "QuadHover-v0", 40, 240
FEW, MANY = (1, 64), 4096  # worlds
PAIRS = {1: 101, 64: 51, MANY: 11}  # of blocks
ONE, FIVE_LIMIT = 3.0, 6.0  # aims for one world: times the bare step, with one wrapper and with five
LIMIT = 15.0  # percent, the aim for 4096 worlds
SPREAD = {"flight": 0.02, "crashes": 1.0}  # of the actions
OWN = {"wind_x": np.zeros(MANY)}  # parameters of its own for every world: what wrappers on parameters start from
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
    ("HideObservations", [w.HideObservations("velocity")], {}),
    ("Actuator, noise", [w.Actuator(noise=0.02)], {}),
    ("Actuator, delay", [w.Actuator(delay=2)], {}),
    ("Actuator, lag", [w.Actuator(lag=0.05)], {}),
    ("ActionRepeat(1)", [w.ActionRepeat(1)], {}),
    ("ActionSequence(1)", [w.ActionSequence(1)], {}),
    ("StateDependentNoise", [w.StateDependentNoise()], {}),
    ("ActionCost", [w.ActionCost(change=0.1)], {}),
    ("CostBudget", [w.CostBudget(limit=1e6)], {}),
    ("Lagrangian", [w.Lagrangian(limit=25.0)], {}),
    ("Saute", [w.Saute(limit=25.0)], {}),
    ("Simmer", [w.Simmer(limit=25.0, schedule=[[0, 10.0], [1000, 25.0]])], {}),
    ("ConservativeExploration", [w.ConservativeExploration(baseline=-1e6)], {}),
    ("Shield, predicate", [w.Shield(unsafe=far_out, fallback="idle")], {}),
    ("EmergencyOverride(times=1)", [w.EmergencyOverride(unsafe=far_out, times=1)], {}),
    ("SafeActions, box", [w.SafeActions(low=-0.8, high=0.8)], {}),
    ("SafeActions, half-space", [w.SafeActions(normals=[[1.0, 1.0, 1.0, 1.0]], offsets=[2.0])], {}),
    ("BarrierFilter", [w.BarrierFilter()], {"action": "velocity"}),
    ("ObservationAdversary, random", [w.ObservationAdversary(eps=0.02)], {}),
    ("ObservationAdversary, walk", [w.ObservationAdversary(eps=0.02, coupling=0.005, policy="walk")], {}),
    ("ActionAdversary", [w.ActionAdversary(eps=0.02)], {}),
    ("DomainRandomization", [w.DomainRandomization(RANGES)], OWN),
    ("ParameterAdversary", [w.ParameterAdversary(RANGES, rate=0.05)], OWN),
    ("Contexts, hidden", [w.Contexts(FAMILY)], OWN),
    ("Contexts, visible", [w.Contexts(FAMILY, visible=True)], OWN),
    ("EpisodeDrift", [w.EpisodeDrift("mass", "walk", low=0.025, high=0.03, scale=0.0005)], OWN),
    ("LinearScalarization", [w.LinearScalarization([1.0, 0.1, 0.1])], {}),
    ("ChebyshevScalarization", [w.ChebyshevScalarization([1.0, 0.1, 0.1], [500.0, 1.0, 1.0])], {}),
    ("Lexicographic", [w.Lexicographic(["hover", "distance", "effort"], slack=1.0)], {}),
    ("WeightConditioned", [w.WeightConditioned()], {}),
    ("NormalizeRewards", [w.NormalizeRewards()], {}),
    ("ClipRewards", [w.ClipRewards(low=[0.0, -1.0, -1.0])], {}),
    ("NormalizeObservations", [w.NormalizeObservations()], {}),
    ("EpisodeStatistics", [w.EpisodeStatistics()], {}),
    ("AppendEpisodeReturn", [w.AppendEpisodeReturn([500.0, 500.0, 500.0])], {}),
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
ALL_FIVE = "five: actuator, sensor, budget, cost of actions, normaliser"


@functools.cache
def bank() -> Any:
    """States for `SnapshotReset`."""
    return rlenvs.collect_snapshots(ID, "expert", episodes=10, every=20)


def made(worlds: int, wrappers: list[Any], keywords: dict[str, Any]) -> Any:
    """An environment, with wrappers or without. Where it is one world, its parameters are its own in any case."""
    if worlds == MANY:
        env = rlenvs.make_vec(ID, worlds, threads=1, **keywords)
    else:  # episodes end with the horizon alone
        own = {"crash_tilt": 3.2, **{name: value for name, value in keywords.items() if name not in OWN}}
        env = rlenvs.make(ID, **own) if worlds == 1 else rlenvs.make_vec(ID, worlds, threads=1, **own)
    wrappers = [w.SnapshotReset(bank())] if wrappers == ["bank"] else wrappers
    return w.wrap(env, *wrappers) if wrappers else env


def block_of(env: Any, worlds: int, policy: str) -> Callable[[], float]:
    """What gives the processor time of a step, in seconds, as the mean of a block of steps."""
    shape = (STEPS, *env.action_space.shape)
    actions = (SPREAD[policy] * np.random.default_rng(0).uniform(-1.0, 1.0, shape)).astype(np.float32)
    env.reset(seed=0)
    for k in range(EPISODE if worlds == MANY else 0):  # spread out the ends of episodes
        env.step(actions[k % STEPS])
        if k % 8 == 0:
            env.reset(options={"reset_mask": np.arange(worlds) % EPISODE // 8 == k // 8})

    def block() -> float:
        if worlds < MANY:
            env.reset(seed=0)
        start = time.process_time()
        for action in actions:
            env.step(action)
        return (time.process_time() - start) / STEPS

    return block


def measure(case: tuple[Any, ...], worlds: int, policy: str = "flight") -> tuple[float, float, list[float]]:
    """Medians of the bare and the wrapped step, in seconds, and the quartiles of the ratio within a pair."""
    _, wrappers, keywords = case
    bare = block_of(made(worlds, [], keywords if wrappers else {}), worlds, policy)
    wrapped = block_of(made(worlds, wrappers, keywords), worlds, policy)
    for block in (bare, wrapped):
        block()
    pairs = []
    for k in range(PAIRS[worlds]):
        first, second = (bare, wrapped) if k % 2 else (wrapped, bare)
        times = {first: first(), second: second()}
        pairs.append((times[bare], times[wrapped]))
    ratios = [after / before for before, after in pairs]
    steps = (statistics.median(column) for column in zip(*pairs, strict=True))
    return *steps, statistics.quantiles(ratios, n=4)  # type: ignore[return-value]


def few_worlds(only: str) -> list[str]:
    """The table of one world, and 64."""
    lines = [
        "## One world, and 64",
        "",
        "Microseconds per step, and how many times the bare step the wrapped one takes. What a wrapper adds here is",
        "the work of Python, not of loops over slots. The aims for one world are at most",
        f"{ONE:g} times with one wrapper, and {FIVE_LIMIT:g} with five.",
        "",
        f"| wrapper | {' | '.join(f'{n} bare | {n} wrapped | times (quartiles)' for n in FEW)} |",
        "|---|" + "---|---|---|" * len(FEW),
    ]
    print("\n".join(lines[-2:]), flush=True)
    beyond = []
    cases = [case for case in [*CASES, (ALL_FIVE, FIVE, {})] if only in case[0] and case[1]]
    for case in cases:
        cells = [case[0]]
        for worlds in FEW:
            bare, wrapped, (low, median, high) = measure(case, worlds)
            cells += [f"{bare * 1e6:.1f}", f"{wrapped * 1e6:.1f}", f"{median:.2f} ({low:.2f} - {high:.2f})"]
            if worlds == 1 and median > (FIVE_LIMIT if case[1] is FIVE else ONE):
                beyond.append(case[0])
        lines.append(f"| {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    lines += ["", f"Of {len(cases)} rows beyond the aims for one world: {', '.join(beyond) or 'none'}.", ""]
    asked = seconds_of_predicate() * 1e6
    lines += [
        f"`Shield` and `EmergencyOverride` ask a user's function in every step; the one here takes {asked:.1f} us "
        "by itself, which no wrapper saves.",
        "`BarrierFilter` asks the world for its barriers in every step, by a call of its own.",
    ]
    return lines


def seconds_of_predicate() -> float:
    """What `far_out` takes by itself."""
    env = made(1, [w.Wrapper()], {})
    env.reset(seed=0)
    actions, slots = np.zeros((1, 4)), np.ones(1, np.bool_)

    def block() -> float:
        start = time.process_time()
        for _ in range(STEPS):
            far_out(env.bottom, actions, slots)
        return (time.process_time() - start) / STEPS

    return statistics.median(block() for _ in range(PAIRS[1]))


def many_worlds(only: str) -> list[str]:
    """The table of 4096 worlds."""
    lines = [
        f"## {MANY} worlds",
        "",
        f"Milliseconds of the bare step, and what the wrapper adds, in percent. The aim is {LIMIT:g} % at most.",
        "With more threads the bare step is shorter, and most of what wrappers do is done by one thread, so that",
        "their share is larger.",
        "",
        f"| wrapper | {' | '.join(f'bare | {policy}: added, % (quartiles)' for policy in SPREAD)} |",
        "|---|" + "---|---|" * len(SPREAD),
    ]
    print("\n".join(lines[-2:]), flush=True)
    within = dict.fromkeys(SPREAD, 0)
    cases = [case for case in CASES if only in case[0]]
    for case in cases:
        cells = [case[0]]
        for policy in SPREAD:
            bare, _, ratios = measure(case, MANY, policy)
            low, median, high = (100.0 * (ratio - 1.0) for ratio in ratios)
            within[policy] += median <= LIMIT
            cells += [f"{bare * 1e3:.2f}", f"{median:.1f} ({low:.1f} - {high:.1f})"]
        lines.append(f"| {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    told = ", ".join(f"{number} ({policy})" for policy, number in within.items())
    lines += ["", f"Of {len(cases)} rows at most {LIMIT:g} %: {told}."]
    print(lines[-1])
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="part of a name")
    parser.add_argument("--write", action="store_true", help="write benchmarks/wrappers.md")
    options = parser.parse_args()
    lines = [
        "# What wrappers cost",
        "",
        f"`python benchmarks/wrappers.py --write` on {date.today()}: {platform.machine()}, {os.cpu_count()} cores, "
        f"Python {sys.version.split()[0]}.",
        f"Steps of {ID}, bare and wrapped in alternating blocks of {STEPS}, one thread, in processor time: medians",
        f"over {PAIRS[1]} pairs of blocks of one world, {PAIRS[64]} of 64, {PAIRS[MANY]} of {MANY}. Wrappers on",
        "parameters are compared with an environment whose worlds have parameters of their own; what these cost is",
        "in the last row. Wrappers that make several steps per step (`ActionRepeat(n)`, `EmergencyOverride`,",
        "`JumpStart`, a look ahead of `Shield`) cost these steps, besides what is shown here for one.",
        "",
        *few_worlds(options.only),
        "",
        *many_worlds(options.only),
    ]
    if options.write:
        (HERE / "wrappers.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
