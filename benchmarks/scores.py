"""Measure reference scores: `python benchmarks/scores.py [ID ...] [--seeds N] [--write]`.

Random, idle and scripted expert play the defaults; where sides play against each other, every seed once from each side
against the world's first scripted player. The bound of a world with an exact model is the value of
its best policy within the time limit, and within the limits of costs that its model has. Prints the rows; `--write`
puts them into `scores.json` beside the world's file, with the notes and the other rows as they were. Afterwards:
`python docs/generate.py`.
"""

import argparse
import json
from dataclasses import asdict
from typing import Any

import rlenvs
from rlenvs.agents.evaluate import POLICIES, evaluate, opponent
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.catalogue.score_cells import has_success
from rlenvs.core.declare.errors import RlenvsError
from rlenvs.core.declare.parts import Score
from rlenvs.core.declare.scores import Rows, read_scores, scores_file

ORDER = (*POLICIES, "exploit", "bound")  # of the rows of a world; others come last


def rows_of(id: str, seeds: int) -> Rows:
    """The scores of the policies measured."""
    world = world_of(id)
    found = {}
    for name in POLICIES:
        if name == "expert" and not world.has_expert:
            continue
        result = evaluate(id, name, seeds=seeds, against=opponent(id, {}))
        half_width = result.half_width if result.half_width > 1e-9 else 0.0
        note = world.scores[name].note if name in world.scores else ""
        success = result.success_rate if has_success(world) else None
        found[name] = row_of(Score(result.mean, half_width, note, success, result.mean_costs))
    if "exact_model" in world.functions:
        env = rlenvs.make(id)
        solver = rlenvs.solve_mdp if env.unwrapped.model.costs is None else rlenvs.solve_constrained
        best = solver(env, horizon=env.spec.max_episode_steps)
        note = world.scores["bound"].note if "bound" in world.scores else "exact optimum within the time limit"
        found["bound"] = row_of(Score(best.start_value, 0.0, note))
    return found


def row_of(score: Score) -> dict[str, Any]:
    """A score as it is kept: rounded, without what is empty."""
    costs = {name: _short(mean, 3) for name, mean in score.costs.items()}
    success = None if score.success is None else _short(score.success, 3)
    row = {
        **asdict(score),
        "mean": _short(score.mean),
        "half_width": _short(score.half_width, 2),
        "success": success,
        "costs": costs,
    }
    return {name: value for name, value in row.items() if value not in (None, "", {})}


def _short(number: float, digits: int = 4) -> float:
    return json.loads(f"{0.0 if abs(number) < 1e-6 else number:.{digits}g}")


def text_of(scores: dict[str, Rows]) -> str:
    """Scores by world as they stand in a file: a line each, the worlds in the order of their names."""
    worlds = []
    for name, rows in sorted(scores.items()):
        ordered = sorted(rows, key=lambda policy: ORDER.index(policy) if policy in ORDER else len(ORDER))
        lines = [f"  {json.dumps(policy)}: {json.dumps(rows[policy], ensure_ascii=False)}" for policy in ordered]
        worlds.append(f" {json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(worlds) + "\n}\n"


def write(id: str, rows: Rows) -> None:
    """Put measured scores into the file beside the world's own, in the place of all earlier ones of POLICIES."""
    world = world_of(id)
    path = scores_file(world.address)
    assert path is not None, f"{id} is no world of this package"
    known = read_scores(path)
    others = {name: row for name, row in known.get(world.name, {}).items() if name not in POLICIES}
    text = text_of({**known, world.name: {**others, **rows}})
    path.write_text(text, encoding="utf-8")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("ids", nargs="*", help="environments; all by default")
    options.add_argument("--seeds", type=int, default=100)
    options.add_argument("--write", action="store_true", help="put the scores into the files beside the worlds")
    given = options.parse_args()
    for env_id in given.ids or [id for id in rlenvs.list_envs() if "/mo-" not in id]:
        try:
            rows = rows_of(env_id, given.seeds)
        except RlenvsError as reason:
            raise SystemExit(str(reason)) from None
        print(text_of({world_of(env_id).name: rows}), flush=True)
        if given.write:
            write(env_id, rows)


if __name__ == "__main__":
    main()
