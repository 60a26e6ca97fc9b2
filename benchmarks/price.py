"""What new worlds cost whoever adds them: forty members of one kind, and ten kinds, compiled from nothing.

    python benchmarks/price.py

Seconds of processor time, children included: recording the golden numbers, compiling, and the check, whole for a kind
and of what data can break for a member. The worlds are the tests' toys.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
cache = tempfile.TemporaryDirectory()
os.environ.update(RLENVS_CACHE_DIR=cache.name, RLENVS_QUIET="1")

from toys import double_integrator, linear_plants, rolling_ball, spaces, traffic_light  # noqa: E402

from rlenvs.core.check import check_env  # noqa: E402
from rlenvs.core.check.records import golden_digest  # noqa: E402

MEMBERS = list(linear_plants.KIND.members.values())
KINDS = [
    *(spaces.CATCH, spaces.MEET, spaces.PORTER, spaces.PORTERS, spaces.LIGHTS, spaces.WALK, spaces.WALKS),
    *(double_integrator.SPEC, rolling_ball.SPEC, traffic_light.SPEC),
]


def spent() -> float:
    """Seconds of processor time so far."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@contextmanager
def measured(what: str) -> Iterator[None]:
    """Print what a part took."""
    before, start = spent(), time.monotonic()
    yield
    print(f"{what}: {spent() - before:.1f} s of processor time, {time.monotonic() - start:.1f} s", flush=True)


def main() -> None:
    """Measure both."""
    golden = Path(cache.name) / "golden.json"
    with measured(f"golden numbers of {len(MEMBERS)} members, their kind compiled"):
        golden.write_text(json.dumps({world.name: golden_digest(world) for world in MEMBERS}), encoding="utf-8")
    with measured(f"checks of {len(MEMBERS)} members"):
        for world in MEMBERS:
            check_env(world, whole=world is MEMBERS[0], golden=golden).raise_on_failure()
    with measured(f"golden numbers of {len(KINDS)} kinds, compiled"):
        golden.write_text(json.dumps({world.name: golden_digest(world) for world in KINDS}), encoding="utf-8")
    with measured(f"whole checks of {len(KINDS)} kinds"):
        for world in KINDS:
            check_env(world, golden=golden)  # toys have no pages, and some are broken on purpose


if __name__ == "__main__":
    main()
