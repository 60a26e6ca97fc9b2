"""Faults planted over the repository, one at a time: which of the tests that they make due finds them.

    python benchmarks/planted_faults.py              all, in a clone of the last commit; the kernels' cache is shared
    python benchmarks/planted_faults.py taxi docs    those whose name contains one of these words

The tests that a fault makes due run part by part, those in plain Python first and those of the faulty room next, until
one fails. Continuous integration starts without a record and runs all of them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support import suite  # noqa: E402
from support.record import Record  # noqa: E402
from support.tree import Tree  # noqa: E402


class Fault(NamedTuple):
    """A text of one file of a folder, and what it is changed to."""

    name: str
    folder: str
    old: str
    new: str


FAULTS = [
    Fault(
        "core: an episode a step too long",
        "rlenvs/core",
        "late = s.elapsed >= p.horizon",
        "late = s.elapsed > p.horizon",
    ),
    Fault("core: another factor of the seeds", "rlenvs/core", "0x94D049BB133111EB", "0x94D049BB133111E9"),
    Fault(
        "core: rewards of the last step are not copied",
        "rlenvs/core/forms",
        "truncated = rewards.copy(), ",
        "truncated = rewards, ",
    ),
    Fault("core: masks are not copied", "rlenvs/core/forms", "self.batch.masks[0].copy()", "self.batch.masks[0]"),
    Fault(
        "core: the final observation is the next episode's",
        "rlenvs/core/forms",
        "batch.get_observations((i, 0), final=True)",
        "batch.get_observations((i, 0))",
    ),
    Fault("kit: drivers' exponent", "rlenvs/kits/traffic", "c.exponent[i] = 4.0", "c.exponent[i] = 3.9"),
    Fault("kit: damping of spin", "rlenvs/kits/planar", "s.damping[b, 1])", "s.damping[b, 0])"),
    Fault("kit: rays of one beam", "rlenvs/kits/tracks", "(j / (beams - 1) - 0.5)", "(j / beams - 0.5)"),
    Fault(
        "kit: a player's way in a grid",
        "rlenvs/kits/gridworld",
        "state_of(there) != LOCKED",
        "state_of(there) == LOCKED",
    ),
    Fault("family: Taxi pays less for a wrong stop", "rlenvs/single/tabular", "20.0, -10.0", "20.0, -9.0"),
    Fault("family: the pole's inertia", "rlenvs/single/classic", "(4.0 / 3.0 -", "(4.1 / 3.0 -"),
    Fault(
        "family: the hover reward", "rlenvs/robotics/quadcopter", "2.0 * maths.exp(-NARROW", "2.01 * maths.exp(-NARROW"
    ),
    Fault(
        "family: only one agent pays for a touch",
        "rlenvs/multi/particle/spread.py",
        "r.collision[j] -= 1.0",
        "r.collision[j] -= 0.0",
    ),
    Fault(
        "family: the highway's weight of speed", "rlenvs/robotics/driving/highway.py", '"speed": 0.4,', '"speed": 0.5,'
    ),
    Fault("family: a map of FrozenLake", "rlenvs/single/tabular", '["SFFF", "FHFH"', '["SFFF", "FHFF"'),
    Fault(
        "wrapper: the budget holds its last cost",
        "rlenvs/wrappers",
        "over[i] = sums[i] > allowed",
        "over[i] = sums[i] >= allowed",
    ),
    Fault(
        "wrapper: a budget without its discount",
        "rlenvs/wrappers",
        "(left[i] - costs[i]) / discount",
        "(left[i] - costs[i])",
    ),
    Fault(
        "wrapper: what is normalised by",
        "rlenvs/wrappers",
        "np.sqrt(variance[i, j] + epsilon)",
        "np.sqrt(variance[i, j])",
    ),
    Fault("docs: a page says another number", "docs/environments/Taxi-v0.md", "-10", "-11"),
    Fault("docs: a link to nowhere", "README.md", "(docs/architecture.md", "(docs/architektur.md"),
    Fault("data: a recorded number", "rlenvs/single/classic/golden.json", '"ends": 8', '"ends": 9'),
]
FIRST = "all ids"  # the part that compiles nothing


def plant(root: Path, fault: Fault) -> Path:
    """Change the one file that holds the text; returns it."""
    top = root / fault.folder
    files = [top] if top.is_file() else sorted(top.rglob("*.py"))
    found = [file for file in files if fault.old in file.read_text(encoding="utf-8")]
    if not found:
        raise SystemExit(f"{fault.name}: no file under {fault.folder} has {fault.old!r}")
    found[0].write_text(found[0].read_text(encoding="utf-8").replace(fault.old, fault.new, 1), encoding="utf-8")
    return found[0]


def due_by(tree: Tree, committed: Tree) -> list[suite.Unit]:
    """The units whose key the fault has changed."""
    old = suite.keys_of(committed, suite.units_of(committed))
    units = suite.units_of(tree)
    now = suite.keys_of(tree, units)
    return [unit for unit in units if old.get(unit.name) != now[unit.name]]


def distance(part: suite.Part, file: Path) -> int:
    """How soon a part runs, where a file is faulty: that in plain Python, those of the file's room, the others."""
    rooms = set(file.parts[1:3]) if file.parts[0] == "rlenvs" else {"project"}
    return 0 if part.name == FIRST else 1 if rooms & set(part.name.split()) else 2


def found_by(root: Path, file: Path) -> tuple[int, str]:
    """How many units are due where a file is faulty, and the first test of them that fails."""
    tree = Tree(root)
    due = due_by(tree, Tree(root, committed=True))
    parts = sorted(suite.parts_of(tree, due, Record()), key=lambda part: distance(part, file))
    with tempfile.TemporaryDirectory() as place:
        for part in parts:
            part.run(tree, Path(place), "", [], float("inf"))
            if part.failures or part.broken:
                return len(due), (part.failures or [f"{part.name} broke off: {part.said[-300:]}"])[0]
    return len(due), ""


def main(words: list[str]) -> int:
    """Plant, look, mend; returns how many faults were not found."""
    suite.PYTEST = [*suite.PYTEST, "-x"]
    missed = 0
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "repository"
        subprocess.run(["git", "clone", "--quiet", ROOT, root], check=True)
        for fault in FAULTS:
            if words and not any(word in fault.name for word in words):
                continue
            start, file = time.monotonic(), plant(root, fault).relative_to(root)
            count, test = found_by(root, file)
            missed += not test
            print(
                f"| {fault.name} | {file} | {count} | {test or 'NOT FOUND'} | {time.monotonic() - start:.0f} s |",
                flush=True,
            )
            subprocess.run(["git", "checkout", "--quiet", "."], cwd=root, check=True)
    return missed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="of the names of faults")
    sys.exit(min(main(parser.parse_args().words), 1))
