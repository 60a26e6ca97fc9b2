"""Measure reference scores: `python benchmarks/scores.py [ID ...] [--seeds N] [--write]`.

Random, idle and scripted expert play the defaults; where sides play against each other, every seed once from each side
against the world's first scripted player. The bound of a world with an exact model is the value of
its best policy within the time limit. Prints the text that world files hold under `scores=`; `--write` puts it
there, with the notes and the other rows as they were. Afterwards: `python docs/generate.py`.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

import rlenvs
from rlenvs.agents.evaluate import POLICIES, evaluate, opponent
from rlenvs.core.catalogue.docs import has_success
from rlenvs.core.catalogue.registry import entry, world_of
from rlenvs.core.declare.parts import Score
from rlenvs.core.declare.spec import World

# a block of rows, or an empty one; nothing of it reaches over a line that is less indented than a row
PLACE = re.compile(r"^    scores=\{(?:\n(?:        .*\n)*    )?\},\n", re.MULTILINE)


def rows_of(id: str, seeds: int) -> dict[str, Score]:
    """The scores of a world: those of the policies measured, the others as they are."""
    world = world_of(id)
    found = {}
    for name in POLICIES:
        if name == "expert" and not world.has_expert:
            continue
        result = evaluate(id, name, seeds, against=opponent(id, {}))
        half_width = result.half_width if result.half_width > 1e-9 else 0.0
        note = world.scores[name].note if name in world.scores else ""
        success = result.success_rate if has_success(world) else None
        found[name] = Score(result.mean, half_width, note, success, result.mean_costs)
    if "exact_model" in world.functions:
        env = rlenvs.make(id)
        best = rlenvs.solve(env, horizon=env.spec.max_episode_steps)
        found["bound"] = Score(best.start_value, 0.0, "exact optimum within the time limit")
    return found | {name: score for name, score in world.scores.items() if name not in found}


def text_of(scores: dict[str, Score]) -> str:
    """Scores as they stand in a world's file."""
    return "".join(
        ["    scores={\n", *(f'        "{name}": {_call(score)},\n' for name, score in scores.items()), "    },\n"]
    )


def _call(score: Score) -> str:
    parts = [f"{_short(score.mean)}", f"{_short(score.half_width, 2)}"]
    if score.note:
        parts.append(f'"{score.note}"')
    if score.success is not None:
        parts.append(f"success={_short(score.success, 3)}")
    if score.costs:
        parts.append("costs={" + ", ".join(f'"{name}": {_short(mean, 3)}' for name, mean in score.costs.items()) + "}")
    return f"Score({', '.join(parts)})"


def _short(number: float, digits: int = 4) -> str:
    return f"{0.0 if abs(number) < 1e-6 else number:.{digits}g}"


def replaced(source: str, name: str, text: str) -> str | None:
    """A file with other scores in the first block behind the name of a world; None where there is none."""
    start = source.find(f'"{name}"')
    changed, count = PLACE.subn(lambda _: text, source[max(start, 0) :], count=1)
    return source[:start] + changed if start >= 0 and count == 1 else None


def formatted(source: str, path: Path) -> str:
    """A source as ruff writes it, so that long rows stand as they did."""
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", str(path), "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, encoding="utf-8", check=True).stdout


def write(world: World, text: str) -> None:
    """Put scores into the file of a world, or of its members beside it; SystemExit where none holds a block `scores={`
    behind the name of the world."""
    module = world.address.partition(":")[0]
    path = Path(rlenvs.__file__).parent.parent / Path(*module.split(".")).with_suffix(".py")
    for file in (path, *path.parent.glob(f"{path.stem}_*.py")):
        source = file.read_text(encoding="utf-8")
        changed = replaced(source, world.name, text)
        if changed is not None:
            file.write_text(formatted(changed, file), encoding="utf-8")
            return
    raise SystemExit(f'{path}: needs a block `    scores={{` behind "{world.name}"')


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("ids", nargs="*", help="environments; all by default")
    options.add_argument("--seeds", type=int, default=100)
    options.add_argument("--write", action="store_true", help="put the scores into the files of the worlds")
    given = options.parse_args()
    for env_id in given.ids or [id for id in rlenvs.list_envs() if "/mo-" not in id]:
        text = text_of(rows_of(env_id, given.seeds))
        print(f"# {entry(env_id).id}\n{text}", flush=True)
        if given.write:
            write(world_of(env_id), text)


if __name__ == "__main__":
    main()
