"""What the reference agents reach on every level, on the scale from the random policy (0) to the scripted expert (1).

    python benchmarks/levels.py --write             measure all anew, which takes long
    python benchmarks/levels.py --write --missing   only what levels.md has no line or no agent of

Levels without an agent of their own are played by the agent of the environment's defaults. Where sides play against
each other, the opponent is the world's first scripted player. `--write` puts every line into levels.md as soon as it is
measured, so that `--missing` goes on after an interruption. With names, only the lines of these environments are looked
at, and those of the others stay.
"""

import argparse
import re
from pathlib import Path

from rlenvs.agents.card import normalized
from rlenvs.agents.scores import compare, find_agent_or_reason
from rlenvs.agents.store import own_agent
from rlenvs.core.catalogue.docs import documented
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.catalogue.score_cells import has_success

HEAD = ("Environment", "Level", "Agent", "Random", "Idle", "Expert", "Reached", "Score", "Success")
PAGE = """# Reference agents on every level

`python benchmarks/levels.py --seeds {seeds} --write`. "Score" is the scale on which the random policy has 0 and the
scripted expert 1, on the same {seeds} seeds; "Idle" does nothing; "Agent" whether the level has its own. Environments
without levels are in [scores](../docs/scores.md).

"""


FILE = Path(__file__).with_name("levels.md")


def written(seeds: int) -> dict[tuple[str, str], tuple[str, ...]]:
    """The lines of levels.md by environment and level; they have to be of as many seeds."""
    text = FILE.read_text()
    if PAGE.format(seeds=seeds) not in text:
        raise SystemExit(f"levels.md was not written with --seeds {seeds}; leave out the names to measure all anew")
    lines = [tuple(re.split(r" ?\| ?", line)[1:-1]) for line in text.splitlines() if line.startswith("| ")]
    return {(line[0], line[1]): line for line in lines[2:]}


def row(name: str, level: str, seeds: int) -> tuple[str, ...]:
    """A line of the table."""
    id, agent, keywords, reason = find_agent_or_reason(name, {"level": level})
    if agent is None:
        return name, level, "none", "", "", "", "", "", reason.removeprefix("No agent: ").split(";")[0]
    own = own_agent(name, level) is not None
    found = compare(id, agent, seeds, **keywords)
    mean, chance, idle = (found[who].mean for who in ("agent", "random", "idle"))
    expert = found["expert"].mean if "expert" in found else None
    scale = normalized(mean, chance, expert)
    numbers = (
        "" if value is None else f"{0.0 if abs(value) < 1e-6 else value:.4g}" for value in (chance, idle, expert, mean)
    )
    success = f"{100 * found['agent'].success_rate:.0f} %" if has_success(world_of(name)) else ""
    return name, level, "its own" if own else "default", *numbers, "" if scale is None else f"{scale:.2f}", success


def write(lines: dict[tuple[str, str], tuple[str, ...]], seeds: int) -> None:
    """Put lines into levels.md, in the order of the catalogue."""
    keys = [(name, level) for name in everything() for level in world_of(name).levels]
    ordered = [lines[key] for key in keys if key in lines]
    table = "\n".join(f"| {' | '.join(line)} |" for line in [HEAD, ["---"] * len(HEAD), *ordered])
    FILE.write_text(PAGE.format(seeds=seeds) + table + "\n")


def everything() -> list[str]:
    """The names of all environments."""
    return [world_of(entry.id).name for entry in documented()]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("names", nargs="*", help="environments; all with levels by default")
    options.add_argument("--seeds", type=int, default=40)
    options.add_argument("--missing", action="store_true", help="leave out levels that levels.md knows an agent of")
    options.add_argument("--write", action="store_true", help="write levels.md")
    given = options.parse_args()
    lines = written(given.seeds) if given.missing or (given.names and given.write) else {}
    for name in [world_of(each).name for each in given.names or everything()]:
        for level in world_of(name).levels:
            if given.missing and (name, level) in lines and lines[name, level][2] != "none":
                continue
            lines[name, level] = row(name, level, given.seeds)
            print(" | ".join(lines[name, level]), flush=True)
            if given.write:
                write(lines, given.seeds)


if __name__ == "__main__":
    main()
