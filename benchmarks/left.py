"""What no command writes of an environment, and is not there: `python benchmarks/left.py ID`.

`python3 run.py add ID` ends with it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from rlenvs.agents.hyperparameters import family_file, family_tables
from rlenvs.agents.store import reference_agents
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.check.records import read_golden
from rlenvs.core.check.subject import golden_file
from rlenvs.core.declare.spec import World

ROOT = Path(__file__).resolve().parents[1]
CLOSE = 0.8  # of the expert's score, where random actions are 0
LONG_ENOUGH = 20  # characters of a note


def close_rivals(world: World) -> dict[str, float]:
    """The scores of random actions and of doing nothing, where they are close to the expert's and no note says why."""
    scores = world.scores
    if "expert" not in scores:
        return {}
    low, span = scores["random"].mean, scores["expert"].mean - scores["random"].mean
    found = {name: (scores[name].mean - low) / span if span else 1.0 for name in ("random", "idle")}
    return {name: part for name, part in found.items() if part >= CLOSE and len(scores[name].note) <= LONG_ENOUGH}


def is_named(name: str, text: str) -> bool:
    """Whether a text names a world, with or without its version; CartPoleSwingUp does not name CartPole."""
    return re.search(rf"\b{re.escape(name.rpartition('-')[0])}\b", text) is not None


def has_other_numbers(world: World) -> bool:
    """Whether the last commit has numbers of this world's behaviour that are not those recorded now."""
    path = golden_file(world)
    assert path is not None, f"{world.name} is no world of this package"
    command = ["git", "show", f"HEAD:{path.relative_to(ROOT).as_posix()}"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    committed = json.loads(shown.stdout).get(world.name) if shown.returncode == 0 else None
    return committed is not None and committed != read_golden(path).get(world.name)


def left_by_hand(id: str) -> list[str]:
    """A line about each thing that somebody has to write, train or look at."""
    world = world_of(id)
    settings = family_file(id).relative_to(ROOT).as_posix()
    learnt = bool(reference_agents(world.name)) or any("found" in table for table in family_tables(id))
    tests = [path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    missing = {
        "an expert, which shows that the world can be solved: `@SPEC.expert`": not world.has_expert,
        "an image: `@SPEC.draw`": "draw" not in world.functions,
        "a test of its numbers: no file under tests/ names it": not any(is_named(world.name, text) for text in tests),
        "a line in CHANGELOG.md": not is_named(world.name, (ROOT / "CHANGELOG.md").read_text("utf-8")),
        f"an agent: `rlenvs train --todo {world.name}` trains one, by the settings of {settings}, and puts it into "
        "agents/ (docs/agents_training.md)": not learnt,
        "its behaviour is not that of the last commit: where agents would learn something else, give what is new an id "
        "of its own, -v1, and leave this one as it was": has_other_numbers(world),
    }
    close = [
        f"{name} has {part:.2f} of the expert's score: mend the reward or the starts, or say why in a `note` in "
        "scores.json"
        for name, part in close_rivals(world).items()
    ]
    look = f"look at its pictures: docs/environments/, `rlenvs play {world.name}`"
    return [*(what for what, is_missing in missing.items() if is_missing), *close, look]


if __name__ == "__main__":
    print("\nLeft to do by hand:", *left_by_hand(sys.argv[1]), sep="\n  - ")
