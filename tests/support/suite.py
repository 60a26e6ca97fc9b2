"""Runs the tests that are due, in parts that each have a process of their own.

    python -m support.suite          what a change can have touched; in a fresh clone a cross-section of all families,
                                     one case of each test
    python -m support.suite --all    all that was not seen to pass as it is now, on this machine
    python -m support.suite --slow   all, and those tests, too, that are marked as slow
    python -m support.suite --turn   a sixteenth of the tests that are marked as slow, another one with each commit
    python -m support.suite --fresh  without regard to the record
    python -m support.suite --minutes 60  no part begins later; the run fails where parts were left out

`python3 run.py test` sets PYTHONPATH to tests/ and calls this.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Container, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.cross_section import EVERY_ID, KINDS, PLAIN
from support.record import ASSUMED, SAMPLED, Record, folder
from support.selection import EVERYTHING, PLAN, unit_name
from support.tree import ROOT, Tree

RECORD = "tests.json"  # in the cache folder
SHIPPED = "tests/green.json"  # in the repository, for machines without one
PARTS = {"core": 3, "project": 3}  # processes for the tests of a folder
ROOMS = {"single": 1, "multi": 3}  # processes that families of small kernels share
FEW = 10  # units, below which a family's part joins that of its area
MEMORY = 2.0  # GiB that a process of tests may take
PYTEST = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "support.selection"]
BUDGETS_KEPT = "RLENVS_BUDGETS"  # in the environment: a test fails that takes FAR times its budget
FAR = 3.0  # what other programs on the machine do to a test's time, at most
MARKS = {"slow": ("-m", "not browser"), "turn": ("-m", "slow and not browser")}  # else as pyproject.toml has it
TURNS = 16  # parts of the slow tests, one of which runs at a time
# whose kernels the tests compile for PyBullet; those of the other tasks run in plain Python around it
PYBULLET_IDS = ["QuadHover-v0", "QuadMultiHover-v0", "QuadObstacles-v0"]


def versions() -> str:
    """Of Python and all that is installed."""
    rows = sorted({f"{found.name} {found.version}" for found in importlib.metadata.distributions()})
    return hashlib.sha256("\n".join([sys.version, *rows]).encode()).hexdigest()[:20]


# --- units ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Unit:
    """A file of tests; or its tests of one id; or those of its tests that look at everything at once."""

    file: str
    id: str = ""

    @property
    def name(self) -> str:
        return unit_name(self.file, self.id)


def units_of(tree: Tree) -> list[Unit]:
    """All units of the tests."""
    files = sorted(name for name in tree.files if re.fullmatch(r"tests/.*/test_\w+\.py", name))
    every = [Unit(file, EVERYTHING) for file in files if tree.source(file).whole]
    each = [Unit(file, id) for file in files if tree.source(file).each for id in tree.ids]
    return [*map(Unit, files), *every, *each]


def keys_of(tree: Tree, units: Iterable[Unit]) -> dict[str, str]:
    """What each unit depends on."""
    return {unit.name: _key(tree, unit) for unit in units}


def _key(tree: Tree, unit: Unit) -> str:
    return tree.key if unit.id == EVERYTHING else tree.key_of(unit.file, unit.id)


# --- parts ------------------------------------------------------------------------------------------------------------


def part_of(tree: Tree, unit: Unit) -> str:
    """The part that a unit runs in: a family's, which holds its kernels once, or a folder's."""
    if unit.file in EVERY_ID:
        return "all ids"
    if unit.id in tree.ids:
        return _room(tree.family(unit.id))
    area = unit.file.split("/")[1]
    if area in PARTS:
        return f"{area} {zlib.crc32(unit.file.encode()) % PARTS[area] + 1}"
    if area not in ("single", "multi", "robotics"):
        return area
    reached = [name.split("/")[:3] for name in tree.closure(unit.file) if name.startswith(f"rlenvs/{area}/")]
    families = [".".join(parts) for parts in reached if not parts[-1].endswith(".py")]
    return _room(max(sorted(set(families)), key=families.count)) if families else area


def _room(family: str) -> str:
    """Families of small kernels share a process."""
    _, area, name = family.split(".")
    if area == "robotics" or name in ("battle", "particle"):
        return f"{area} {name}"
    rooms = ROOMS[area]
    return f"{area} {zlib.crc32(name.encode()) % rooms + 1}" if rooms > 1 else area


@dataclass
class Part:
    """What one process runs."""

    name: str
    units: list[Unit] = field(default_factory=list)
    sampled: set[str] = field(default_factory=set)  # names of units
    tests: dict[str, dict[str, Any]] = field(default_factory=dict)
    said: str = ""
    memory: float = 0.0
    code: int = 0
    began: bool = False

    def run(self, tree: Tree, place: Path, marks: str, kinds: Sequence[str], end: float) -> Part:
        """Run it, and read what it reports; not at all when it is too late.

        Args:
            tree: the repository.
            place: a folder for plans and reports.
            marks: which tests, of MARKS; "" for those that are not marked.
            kinds: ids whose kinds may be compiled; none for all.
            end: when no part may begin any more, by the clock that counts on.
        """
        if time.monotonic() > end:
            return self
        self.began = True
        files = sorted({unit.file for unit in self.units})
        stem = place / self.name.replace(" ", "-")
        plan = {
            "units": [unit.name for unit in self.units],
            "sampled": sorted(self.sampled),
            "ids": list(tree.ids),
            "kinds": list(kinds),
            "whole": {file: sorted(tree.source(file).whole) for file in files},
            "turns": TURNS if marks == "turn" else 1,
            "report": str(stem.with_suffix(".report")),
        }
        stem.with_suffix(".plan").write_text(json.dumps(plan), encoding="utf-8")
        done = subprocess.run(
            [*PYTEST, *MARKS.get(marks, ()), *files],
            cwd=tree.root,
            env={**os.environ, PLAN: str(stem.with_suffix(".plan")), "PYTHONPATH": str(ROOT / "tests")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self.said, self.code = done.stdout, done.returncode
        if stem.with_suffix(".report").exists():
            told = json.loads(stem.with_suffix(".report").read_text(encoding="utf-8"))
            self.tests, self.memory = told["tests"], told["memory"]
        return self

    @property
    def broken(self) -> bool:
        """Whether it ended in another way than with all tests run; 5: pytest found none."""
        return self.code not in (0, 1, 5)

    @property
    def failures(self) -> list[str]:
        """The tests that failed."""
        return [name for name, test in self.tests.items() if test["failed"]]

    def outcome(self) -> tuple[dict[str, float], set[str]]:
        """Units that passed, with their processor time; and those that did not."""
        taken = {unit.name: 0.0 for unit in self.units if self.began}
        for test in self.tests.values():
            taken[test["unit"]] += test["seconds"]
        bad = set(taken) if self.broken else {self.tests[name]["unit"] for name in self.failures}
        return {name: seconds for name, seconds in taken.items() if name not in bad}, bad

    @property
    def in_part(self) -> set[str]:
        """Names of units of which not all ran."""
        return self.sampled | {test["unit"] for test in self.tests.values() if test["in_part"]}


def parts_of(tree: Tree, units: Iterable[Unit], record: Record, sampled: Container[str] = ()) -> list[Part]:
    """The parts that hold these units, the longest first.

    Args:
        tree: the repository.
        units: that run.
        record: which knows how long they take.
        sampled: names of those of which one case of each test runs.
    """
    rooms: dict[str, list[Unit]] = {}
    for unit in units:
        rooms.setdefault(part_of(tree, unit), []).append(unit)
    parts: dict[str, Part] = {}
    for room, inside in rooms.items():
        name = room if len(inside) > FEW or room.split()[0] in PARTS else room.split()[0]
        part = parts.setdefault(name, Part(name))
        part.units += inside
        part.sampled |= {unit.name for unit in inside if unit.name in sampled}

    def seconds(part: Part) -> float:
        return sum(record.green.get(unit.name, {}).get("seconds", _usual_seconds(unit)) for unit in part.units)

    return sorted(parts.values(), key=seconds, reverse=True)


def _usual_seconds(unit: Unit) -> float:
    """What a unit takes of which the record knows nothing: a file more than its tests of one id."""
    return 4.0 if not unit.id else 0.2 if unit.file in EVERY_ID else 1.0


# --- a run ------------------------------------------------------------------------------------------------------------


def cross_section(units: Iterable[Unit]) -> Iterator[Unit]:
    """Of the units: the tests of the core, those for one kind of each family included, and that family's recordings."""
    kinds = {"", EVERYTHING, "mo-DeepSeaTreasure-v0", *(id for id, _ in KINDS.values())}
    files = {file for _, file in KINDS.values()}
    for unit in units:
        plain = unit.file.startswith(PLAIN) and unit.id in kinds
        if plain or unit.file in EVERY_ID or (unit.id == "" and unit.file in files):
            yield unit


def ids_of(tree: Tree, units: Iterable[Unit]) -> set[str]:
    """The ids of the worlds that the units need compiled."""
    return {unit.id.removeprefix("mo-") for unit in units if unit.id in tree.ids and unit.file not in EVERY_ID}


def compile_for(tree: Tree, units: Iterable[Unit], jobs: int) -> int:
    """Compile the worlds of the units' ids before the tests, which would grow by it and use no libraries."""
    ids = sorted(ids_of(tree, units))
    if not ids:
        return 0
    compiling = [sys.executable, "-m", "rlenvs", "--quiet", "compile", "--jobs", str(jobs)]
    environment = {**os.environ, "RLENVS_TARGET": "none"}
    code = subprocess.call([*compiling, *ids], cwd=tree.root, env=environment)
    if set(PYBULLET_IDS) <= set(ids):
        bullet = [*compiling, *PYBULLET_IDS, "--set", "physics=pybullet"]
        code = subprocess.call(bullet, cwd=tree.root, env=environment) or code
    return code


def show(part: Part) -> None:
    """One line for a part that passed, all that it said for another."""
    counted = part.said.strip().rpartition("\n")[2].strip("= ")
    status = "FAILED" if part.failures or part.broken else "passed" if part.began else "left out for want of time"
    print(f"{status}  {part.name}, {part.memory:.1f} GiB: {counted}", flush=True)
    if part.failures or part.broken:
        print(part.said, flush=True)


def run(
    tree: Tree, due: list[Unit], keys: dict[str, str], record: Record, chosen: argparse.Namespace, end: float
) -> list[Part]:
    """Run the parts side by side; the record is written after each of them."""
    done = []
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(chosen.jobs) as pool:
        marks = "turn" if chosen.turn else "slow" if chosen.slow else ""
        whole = chosen.all or chosen.slow or chosen.turn
        sampled = set() if whole else sampled_of(due, keys, record)
        kinds = [] if whole else sorted(ids_of(tree, due) | {id for id, _ in KINDS.values()})
        parts = parts_of(tree, due, record, sampled)
        waiting = [pool.submit(part.run, tree, Path(name), marks, kinds, end) for part in parts]
        for future in waiting:
            part = future.result()
            if not chosen.turn:  # passed in part
                green, red = part.outcome()
                record.passed(green, keys, part.in_part)
                record.failed(red)
                record.save(folder() / RECORD)
            show(part)
            done.append(part)
    return done


def summary(done: list[Part], left: int) -> int:
    """What came of it; returns how many tests failed, and parts that did not begin."""
    tests = {name: test for part in done for name, test in part.tests.items()}
    long = sorted((test["own"], name) for name, test in tests.items() if test["of_budget"] > 1)
    for seconds, name in reversed(long):
        print(f"{seconds:7.1f} s without compiling, over its budget: {name}")
    far = [name for name, test in tests.items() if test["of_budget"] > FAR]
    bad = [name for part in done for name in part.failures] + [part.name for part in done if part.broken]
    bad += [f"{name}: {FAR} times its budget" for name in far] if BUDGETS_KEPT in os.environ else []
    large = [f"{part.name} {part.memory:.1f}" for part in done if part.memory > MEMORY]
    print(f"GiB of memory over {MEMORY:g}: {', '.join(large)}" if large else f"no process over {MEMORY:g} GiB")
    late = [part.name for part in done if not part.began]
    spent = sum(test["seconds"] for test in tests.values())
    own = sum(test["own"] for test in tests.values())
    print(f"{len(tests)} tests, {spent:.0f} s of processor time, {own:.0f} of them not in compiling")
    sampled = sum(len(part.in_part) for part in done)
    print(f"{left} units are as they passed here, or as they were checked out, and did not run" if left else "all ran")
    if sampled:
        print(f"of {sampled} units a part ran: one case of a test, or only kinds that changed; --all runs the rest")
    if late:
        print(f"left out for want of time, and still due: {', '.join(late)}")
    print(f"failed: {', '.join(bad)}" if bad else "no test failed", flush=True)
    return len(bad) + len(late)


def options(arguments: list[str]) -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(prog="run.py test")
    parser.add_argument("--all", action="store_true", help="also what was only checked out, not run")
    parser.add_argument(
        "--slow", action="store_true", help="all, and the slow tests; the record knows nothing of these"
    )
    parser.add_argument("--turn", action="store_true", help=f"of the slow tests one of {TURNS} parts, in turn")
    parser.add_argument("--fresh", action="store_true", help="without regard to the record")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="after which no part begins any more")
    parser.add_argument("--jobs", type=int, default=2, help="processes side by side")
    return parser.parse_args(arguments)


def load_record(tree: Tree, chosen: argparse.Namespace) -> Record:
    """What passed before; where nothing is known, what was checked out is assumed to pass."""
    found = None if chosen.fresh or chosen.slow else Record.load(folder() / RECORD) or Record.load(tree.root / SHIPPED)
    if found is None:
        found = Record()
        old = Tree(tree.root, tree.versions, committed=True)
        found.assume(keys_of(old, units_of(old)))
    return found


def with_slow_tests(tree: Tree, units: Iterable[Unit]) -> list[Unit]:
    """The units of files some of whose tests are slow."""
    return [unit for unit in units if b"mark.slow" in tree.read(unit.file)]


def due_of(units: list[Unit], keys: dict[str, str], record: Record, everything: bool) -> list[Unit]:
    """The units that have to run."""
    if everything:
        return [unit for unit in units if not record.is_green(unit.name, keys[unit.name])]
    shown = {unit.name for unit in cross_section(units)}
    enough = {unit.name: {SAMPLED} if unit.name in shown else {SAMPLED, ASSUMED} for unit in units}
    return [unit for unit in units if not record.is_green(unit.name, keys[unit.name], enough[unit.name])]


def sampled_of(due: list[Unit], keys: dict[str, str], record: Record) -> set[str]:
    """The names of the units of which one case of each test runs: all that is as it was checked out, but for tests of
    one kind."""
    some = [unit for unit in due if unit.id in ("", EVERYTHING)]
    return {unit.name for unit in some if record.is_unseen(unit.name, keys[unit.name])}


def main(arguments: list[str], root: Path = ROOT) -> int:
    """Choose, compile, run, record."""
    chosen = options(arguments)
    end = time.monotonic() + 60.0 * chosen.minutes
    tree = Tree(root, versions())
    units = units_of(tree)
    keys = keys_of(tree, units)
    record = load_record(tree, chosen)
    due = with_slow_tests(tree, units) if chosen.turn else due_of(units, keys, record, chosen.all or chosen.slow)
    print(f"{len(due)} of {len(units)} units of tests are due", flush=True)
    code = 0 if chosen.turn else compile_for(tree, due, chosen.jobs)
    return summary(run(tree, due, keys, record, chosen, end), len(units) - len(due)) or code


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
