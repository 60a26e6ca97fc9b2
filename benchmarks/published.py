"""Published results again: the algorithms of papers and repositories in this package's worlds, beside their figures.

    python benchmarks/published.py --list                       what there is, minutes on one core, what has run
    python benchmarks/published.py --run hover-one-d --seed 1   train; the same command goes on after an interruption
    python benchmarks/published.py --run v5 shared-bodies       all planned seeds of groups, one run after the other
    python benchmarks/published.py --write                      evaluate finished runs, and write published.md

`published.toml` says what was published, where, and what is run here, with all that differs. Runs lie in
runs/published/NAME/seed-K. `--write` plays the agents of finished runs once on seeds 0 to 99 and keeps what came of it
in `published.json`; published.md is written from that, whether or not the runs are still there. Shipped agents that
stand beside published figures are not run: their cards say what they reach.
"""

import argparse
import dataclasses
import json
import math
import statistics
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlenvs.agents.checkpoint import read_checkpoint
from rlenvs.agents.curves import curves_of
from rlenvs.agents.evaluate import Evaluation, evaluate, opponent
from rlenvs.agents.files import load_agent
from rlenvs.agents.hyperparameters.settings import Settings, differences, settings_from
from rlenvs.agents.runs import AGENT, CHECKPOINT, is_complete, run, run_folder, stopped_by_signals, stored_settings
from rlenvs.agents.store import read_card, reference_stem
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.setup import Setup

HERE = Path(__file__).parent
TABLE, RESULTS, PAGE = (HERE / f"published.{ending}" for ending in ("toml", "json", "md"))
SEEDS = 100
FIGURES = ("return", "success", "cost")
HEAD = ("Run", "Algorithm", "Compared", "Published", "Steps", "Ours", "Steps", "At equal steps", "Minutes", "Seeds")
SHIPPED_HEAD = ("Environment", "There", "Section", *HEAD[1:2], *HEAD[3:-1])
UNITS = {"k": 1e3, "M": 1e6}
TOP = f"""# Published results again

`python benchmarks/published.py --write`. What others published, and what the same algorithm, from Stable-Baselines3 or
this package, reaches in this package's worlds. Settings are the published ones where one core can afford them; what
differs is said, and `published.toml` has all of them. "Ours" is the agent that was the best of 20 evaluations in
training, played on seeds 0 to {SEEDS - 1}, which it does not see: the mean ± half of the 95 % confidence interval;
of several seeds of training the mean of their means (least to largest). "±" of published figures is what their
source gives. (?) marks a figure that was not seen in its source. Minutes are of one run on one core. "At equal steps":
whether both learnt from as many steps, of which those of several agents at once count as one; where not, which part of
the published ones ours are.
"""

Results = dict[str, dict[str, Any]]  # by name, then by seed of the training


@dataclass(frozen=True)
class Entry:
    """A published result, and the run beside it; published.toml describes the fields."""

    name: str
    group: str
    id: str
    steps: str
    figures: dict[str, list[float]]
    source: str
    differs: list[str]
    minutes: float
    settings: Settings
    seeds: int = 1
    read: bool = True
    in_units: dict[str, float] = dataclasses.field(default_factory=lambda: {"scale": 1.0, "offset": 0.0})


def read_table() -> tuple[dict[str, dict[str, str]], dict[str, Entry]]:
    """The groups and the entries of published.toml."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    entries = {}
    for name, part in table["entries"].items():
        settings = settings_from(part.pop("settings"), f"published.toml: {name}")
        entries[name] = Entry(name=name, settings=settings, **part)
    return table["groups"], entries


def read_shipped() -> dict[str, dict[str, Any]]:
    """The figures beside which shipped agents stand, by environment."""
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))["shipped"]


def read_results() -> Results:
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}


# --- running and measuring --------------------------------------------------------------------------------------------


def train(entry: Entry, seed: int, output: Path) -> bool:
    """Begin a run, or go on with it; whether it has come to its end."""

    def told(found: Evaluation) -> None:
        print(f"{entry.name}, seed {seed}: {found}", flush=True)

    with stopped_by_signals() as stop:
        folder = run_folder(output / entry.name, seed)
        done = run(entry.id, entry.settings, folder, seed=seed, resume=True, evaluated=told, stop=stop)
    print(f"{entry.name}, seed {seed}: {done.steps:,} of {done.total:,} steps in {done.seconds / 60:.1f} minutes")
    return not done.stopped


def measured(entry: Entry, seed: int, folder: Path) -> dict[str, Any]:
    """What the agent of a finished run reaches."""
    found = stored_settings(folder, entry.id, seed)
    if changed := differences(found, entry.settings):
        raise SystemExit(f"{folder} was run with other settings than published.toml has: {'; '.join(changed)}")
    agent, keywords = load_agent(folder / AGENT), entry.settings.environment
    played = evaluate(entry.id, agent, seeds=SEEDS, against=opponent(entry.id, keywords), **keywords)
    return {
        "return": [round(played.mean, 4), round(played.half_width, 4)],
        "success": [round(played.success_rate, 4)],
        "cost": [round(played.mean_cost, 4)],
        "minutes": round(read_checkpoint(folder / CHECKPOINT)["seconds"] / 60, 2),
        "settings": entry.settings.to_dict(),
    }


def still_valid(entries: dict[str, Entry], results: Results) -> Results:
    """The results of entries that are as they were when these were run."""
    return {
        name: {seed: one for seed, one in runs.items() if one["settings"] == entries[name].settings.to_dict()}
        for name, runs in results.items()
        if name in entries
    }


def collect(entries: dict[str, Entry], output: Path) -> Results:
    """The results that are kept, with those of runs that have finished since."""
    results = still_valid(entries, read_results())
    for entry in entries.values():
        for folder in sorted((output / entry.name).glob("seed-*")):
            seed = folder.name.removeprefix("seed-")
            if seed not in results.get(entry.name, {}) and is_complete(folder):
                results.setdefault(entry.name, {})[seed] = measured(entry, int(seed), folder)
                print(f"{entry.name}, seed {seed}: {results[entry.name][seed]['return'][0]:.4g}", flush=True)
    return results


# --- the page ---------------------------------------------------------------------------------------------------------


def short(value: float, digits: int = 5) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"


def number(what: str, value: float) -> str:
    return f"{100 * value:.0f} %" if what == "success" else short(value)


def published(entry: Entry, what: str) -> str:
    """A figure as published."""
    mean, *spread = entry.figures[what]
    text = number(what, mean) + "".join(f" ± {short(value, 3)}" for value in spread)
    return text if entry.read else f"{text} (?)"


def ours(entry: Entry, what: str, runs: list[dict[str, Any]]) -> str:
    """The same figure of our runs, in the published units."""
    if not runs:
        return "not run"
    units = entry.in_units if what == "return" else {"scale": 1.0, "offset": 0.0}
    means = [units["scale"] * one[what][0] + units["offset"] for one in runs]
    text = number(what, statistics.mean(means))
    if len(runs) > 1:
        return f"{text} ({number(what, min(means))} to {number(what, max(means))})"
    return text + "".join(f" ± {short(units['scale'] * value, 3)}" for value in runs[0][what][1:])


def at_equal_steps(there: str, ours: float) -> str:
    """Whether a result is one of as many steps as were published ("1 M", "at most 10 M", "600 episodes")."""
    *most, number, unit = there.split()
    if unit not in UNITS:
        return f"no: {there} there"
    part = ours / (float(number) * UNITS[unit])
    if math.isclose(part, 1.0, rel_tol=0.01):
        return "yes"
    return f"no: {part:.2g} of {'the most' if most else 'them'}"


def rows(entry: Entry, results: dict[str, Any]) -> list[tuple[str, ...]]:
    """A line per figure that is compared; what holds for all of them stands in the first."""
    runs = [results[seed] for seed in sorted(results, key=int)]
    minutes = f"{statistics.mean(one['minutes'] for one in runs):.0f}" if runs else f"some {entry.minutes:g}"
    seeds = f"{len(runs)}" if runs else ""
    steps = entry.settings.steps
    agents = Setup(world_of(entry.id), **entry.settings.train_keywords).agents
    first = (entry.name, entry.settings.algorithm)
    last = (f"{steps / 1e6:g} M", at_equal_steps(entry.steps, steps / agents), minutes, seeds)
    lines: list[tuple[str, ...]] = []
    for what in entry.figures:
        figures = (what, published(entry, what), "" if lines else entry.steps, ours(entry, what, runs))
        lines.append(("", "", *figures, *[""] * len(last)) if lines else (*first, *figures, *last))
    return lines


def section(
    group: dict[str, str], head: Sequence[str], lines: Iterable[Sequence[str]], notes: Sequence[str] = ()
) -> str:
    """A group's part of the page: its title, its text, a table, and a line for each of its notes."""
    table = "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *lines))
    listed = "".join(f"- {note}\n" for note in notes)
    return f"\n## {group['title']}\n\n{group['text'].strip()}\n\n{table}\n" + (f"\n{listed}" if notes else "")


def section_of_runs(group: dict[str, str], entries: list[Entry], results: Results) -> str:
    """The part of the page on a group of runs."""
    lines = (line for entry in entries for line in rows(entry, results.get(entry.name, {})))
    notes = [
        f"**{entry.name}** ({entry.id}), from {entry.source}. Differs: {'; '.join(entry.differs)}." for entry in entries
    ]
    return section(group, HEAD, lines, notes)


def shipped_row(id: str, there: dict[str, Any]) -> tuple[str, ...]:
    """A published figure, and what the shipped agent reaches, and its curve took."""
    card = read_card(reference_stem(id, algorithm=there["algorithm"]))
    assert card.score is not None
    reached = f"{short(card.score.mean)} ± {short(card.score.half_width, 3)}"
    source = (id, there["id"], there["section"], there["algorithm"], short(there["return"]), there["steps"])
    run = curves_of(id, algorithm=there["algorithm"])[0].columns
    steps = (f"{run['steps'][-1] / 1e6:.3g} M", at_equal_steps(there["steps"], run["steps"][-1]))
    return (*source, reached, *steps, f"{run['seconds'][-1] / 60:.0f}")


def page(groups: dict[str, dict[str, str]], entries: dict[str, Entry], results: Results) -> str:
    parts = [
        section_of_runs(group, [one for one in entries.values() if one.group == name], results)
        for name, group in groups.items()
        if name != "shipped"
    ]
    shipped = (shipped_row(id, there) for id, there in read_shipped().items())
    return TOP + "".join(parts) + section(groups["shipped"], SHIPPED_HEAD, shipped)


def listed(entry: Entry, results: dict[str, Any], folder: Path) -> str:
    """A line of the list."""
    begun = len(list(folder.glob("seed-*"))) - len(results)
    state = f"{len(results)} of {entry.seeds} kept" + (f", {begun} more begun" if begun > 0 else "")
    figures = ", ".join(f"{what} {published(entry, what)}" for what in entry.figures)
    algorithm, steps = entry.settings.algorithm, entry.settings.steps / 1e6
    return f"{entry.name:24} {entry.id:27} {algorithm:14} {steps:5.2f} M {entry.minutes:4g} min  {state:12} {figures}"


def chosen(names: list[str], entries: dict[str, Entry]) -> list[Entry]:
    """The entries of these names, or of groups of these names."""
    found: list[Entry] = []
    for name in names:
        own = [entry for entry in entries.values() if name in (entry.name, entry.group)]
        if not own:
            groups = dict.fromkeys(entry.group for entry in entries.values())
            raise SystemExit(f"there is no entry or group {name!r}; there are {', '.join((*groups, *entries))}")
        found += own
    return found


def planned(entries: list[Entry], seed: int | None, output: Path) -> list[tuple[Entry, int]]:
    """What is left to run: the first seeds of all entries, then the second ones."""
    seeds = range(max(entry.seeds for entry in entries)) if seed is None else [seed]
    runs = [(entry, one) for one in seeds for entry in entries if seed is not None or one < entry.seeds]
    return [(entry, one) for entry, one in runs if not is_complete(run_folder(output / entry.name, one))]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    task: Callable[..., Any] = options.add_mutually_exclusive_group(required=True).add_argument
    task("--list", action="store_true", help="list the entries")
    task("--run", nargs="+", metavar="NAME", help="train these entries, or those of these groups")
    task("--write", action="store_true", help="evaluate finished runs; write published.json and published.md")
    options.add_argument("--seed", type=int, help="of the training; without it all that are planned")
    options.add_argument("--output", type=Path, default=Path("runs/published"), help="folder of the runs")
    given = options.parse_args()
    groups, entries = read_table()
    if given.list:
        results = read_results()
        for entry in entries.values():
            print(listed(entry, results.get(entry.name, {}), given.output / entry.name))
    elif given.run:
        for entry, seed in planned(chosen(given.run, entries), given.seed, given.output):
            if not train(entry, seed, given.output):
                break
    else:
        results = collect(entries, given.output)
        RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        PAGE.write_text(page(groups, entries, results), encoding="utf-8")


if __name__ == "__main__":
    main()
