"""Images of all environments, drawn by Python and by translated code under node: benchmarks/live_drawing.py [IDS]

A row for each id: how many of its frames have equal shapes, milliseconds a frame in node and in CPython, bytes of its
module. `--kinds` takes one id of each compiled kind, `--levels` the levels of each id too.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from support.drawn import NODE, Comparison, compare

import rlenvs
from rlenvs.core.catalogue.registry import world_of
from rlenvs.live.translate import TranslationError

ENOUGH = 10.0  # milliseconds
TIMED = 60  # frames


def row(id: str, level: str | None, steps: int, frames: int) -> Comparison | str:
    """How one environment is drawn, or why it is not."""
    world = world_of(id)
    if world.engine or "draw" not in world.functions:
        return "an engine draws it"
    with tempfile.TemporaryDirectory() as folder:
        try:
            return compare(id, Path(folder), steps, frames, timed=TIMED, level=level)
        except TranslationError as reason:
            return str(reason)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*")
    parser.add_argument("--kinds", action="store_true")
    parser.add_argument("--levels", action="store_true")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--frames", type=int, default=10)
    options = parser.parse_args()
    if NODE is None:
        print("this needs Node.js")
        return
    rows = json.loads((Path(rlenvs.__file__).parent / "catalogue.json").read_text(encoding="utf-8"))
    kinds = {each["kind"]: each["id"] for each in reversed(rows)}
    ids = options.ids or (sorted(kinds.values()) if options.kinds else [each["id"] for each in rows])
    equal = fast = 0
    print("| environment | equal frames | ms in node | ms in CPython | bytes |\n| --- | --- | --- | --- | --- |")
    played = [(id, level) for id in ids for level in (None, *(world_of(id).levels if options.levels else ()))]
    for id, level in played:
        found = row(id, level, options.steps, options.frames)
        id = f"{id}/{level}" if level else id
        if isinstance(found, str):
            print(f"| {id} | {found} | | | |", flush=True)
            continue
        equal += found.equal == found.frames
        fast += found.equal == found.frames and found.node < ENOUGH
        times = f"{found.node:.2f} | {found.python:.2f} | {found.size}"
        print(f"| {id} | {found.equal} of {found.frames} {found.difference} | {times} |", flush=True)
    print(f"\n{len(played)} environments, {equal} with equal frames, {fast} of them below {ENOUGH:g} ms a frame")


if __name__ == "__main__":
    main()
