"""Rules on what is written about an environment: its page, its recorded numbers."""

from __future__ import annotations

import doctest
import hashlib
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.core.batch.engines import new_batch
from rlenvs.core.catalogue.docs import check_headings
from rlenvs.core.check.playing import Trajectory, roll
from rlenvs.core.check.subject import Subject, golden_file
from rlenvs.core.check.verdicts import Failed, NotApplicable
from rlenvs.core.declare.spec import World

FIRST_STEPS = 10
HASHES = ("hash", "start")
SECOND = """
import sys
sys.path[:] = {path!r}
from rlenvs.core.check.records import digests
from rlenvs.core.declare.spec import load_world
print(digests(load_world({address!r}), {backend!r}))
"""


def headings(t: Subject) -> str:
    """15. The docstring has the ten headings in their order, a text under each, and its examples run.

    To mend: see `rlenvs.core.catalogue.docs.HEADINGS`.
    """
    complaints = check_headings(t.world.doc)
    if complaints:
        raise Failed("; ".join(complaints))
    test = doctest.DocTestParser().get_doctest(t.world.doc, {}, t.world.name, None, 0)
    told: list[str] = []
    results = doctest.DocTestRunner().run(test, out=told.append)
    if results.failed:
        raise Failed(f"an example in the docstring fails: {''.join(told).strip().splitlines()[-1]}")
    return f"all headings, {len(test.examples)} examples"


def golden(t: Subject) -> str:
    """16. A short rollout gives the numbers recorded for this world: changed behavior needs a new version. Where none
    are recorded, those of a second process, of levels and experts too, in which sets and hashes have another order.

    To mend: draw at import from a seeded generator alone, and sort what comes out of a set. When the change alters
    learning, give the world a new -vN and keep the old one; when the record is what is wrong,
    `python -m rlenvs.core.check --record Name-v0`.
    """
    recorded = read_golden(t.golden or golden_file(t.world)).get(t.world.name)
    if recorded is None:
        return _same_elsewhere(t)
    found = golden_digest(t.world, t.backend)
    for name, value in recorded.items():
        if name in HASHES:
            continue
        if name not in found or not math.isclose(found[name], value, rel_tol=1e-5, abs_tol=1e-5):
            raise Failed(f"{name} is {found.get(name)}, recorded was {value}")
    for name in HASHES:
        if recorded.get(name) != found.get(name):
            raise Failed(
                f"the last bits differ: {name} {found.get(name)}, recorded was {recorded.get(name)}; kernels take "
                "elementary functions from rlenvs.core.declare.maths, with the same bits on every processor, not from "
                "math"
            )
    return ", ".join(f"{name} {value}" if name in HASHES else f"{name} {value:g}" for name, value in found.items())


def _same_elsewhere(t: Subject) -> str:
    """Failed when a second process finds other numbers."""
    here = f"{digests(t.world, t.backend)}"
    code = SECOND.format(path=sys.path, address=t.world.address, backend=t.backend)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYTHONHASHSEED": "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"},
    )
    there = next((line for line in done.stdout.splitlines() if line.startswith("[")), "")
    if not there:  # a world of the main program, which no other process can import
        raise NotApplicable("nothing recorded; record with `python -m rlenvs.core.check --record`")
    if there != here:
        raise Failed(f"another process finds {there}, this one {here}")
    return "nothing recorded; a second process finds the same"


def digests(world: World, backend: str) -> list[Any]:
    """What tells the behavior of a world, of its levels and of its scripted policies."""
    policies = (*world.players, *(("expert",) if {"expert", "python_expert"} & set(world.kernels) else ()))
    played = [hash_of(roll(new_batch(world, 4, backend=backend), 32, policy)) for policy in policies]
    return [*(golden_digest(world, backend, level) for level in (None, *world.levels)), *played]


def golden_digest(world: World, backend: str = "numba", level: str | None = None) -> dict[str, Any]:
    """What tells the behavior of a world's default form, or of a level: 4 worlds, 32 steps, random actions.

    Numbers that show how far a change goes; and, where the world's own kernels make them and no physics engine, a hash
    of all bits, and one of the first steps of a single world.
    """
    batch = new_batch(world, 4, backend=backend, level=level)
    trajectory = roll(batch, 32)  # longer ones of some worlds are chaotic

    def project(values: np.ndarray) -> float:
        flat = values.astype(np.float64).ravel()
        return float(f"{flat @ np.cos(np.arange(flat.size)):.12g}")

    ends = trajectory.terminated.sum() + 1000 * trajectory.truncated.sum()
    numbers = {"observations": project(trajectory.observations), "terms": project(trajectory.terms), "ends": int(ends)}
    if world.engine:
        return numbers
    return {**numbers, "hash": hash_of(trajectory), "start": start_digest(world, backend, level)}


def start_digest(world: World, backend: str = "numba", level: str | None = None) -> str:
    """A hash of the first steps of one world, quick in plain Python, too."""
    return hash_of(roll(new_batch(world, 1, backend=backend, level=level), FIRST_STEPS))


def hash_of(trajectory: Trajectory) -> str:
    """A hash of all observations, terms and ends."""
    parts = (trajectory.observations, trajectory.terms, trajectory.terminated, trajectory.truncated)
    return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()[:16]


def read_golden(path: Path | None) -> dict[str, dict[str, Any]]:
    """The recorded numbers by world; empty when there is no file."""
    return json.loads(path.read_text(encoding="utf-8")) if path and path.exists() else {}
