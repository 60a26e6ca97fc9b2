"""The command on scores: of all environments, of some, of algorithms; and whether they hold."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from rlenvs.cli.common import Ray, app, check_output, console, say, say_written, table_of_numbers
from rlenvs.core.declare.errors import NoAgentError, ParameterError
from rlenvs.core.declare.progress import progress


@app.command(rich_help_panel="Agents")
def scores(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="Environments, to see all policies of each. Default: a line for each."),
    ] = None,
    write: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the table as Markdown.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Play every reference agent again; exit code 1 where a score does not hold.")
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="With --check: episodes of each agent. Default: 5 to 50, by length."),
    ] = None,
    aggregate: Annotated[
        bool, typer.Option("--aggregate", help="Compare the algorithms over all environments with learning curves.")
    ] = False,
    ray: Ray = None,
) -> None:
    """List what random actions, scripted experts, learned and imitating agents reach."""
    from rlenvs.agents.score_page import page

    if ray and not check:
        raise ParameterError("--ray requires --check")
    if aggregate:
        _compare_algorithms()
        return
    if check:
        raise typer.Exit(_check_agents(seeds, ray))
    if write:
        check_output(write).write_text(page(), encoding="utf-8")
        say_written(write)
        return
    if ids:
        _show_policies(ids)
    else:
        _show_scores()


def _show_scores() -> None:
    """A line for each environment, and which are open."""
    from rlenvs.agents.score_page import BRIEF_HEAD, brief_rows, is_open, known

    everything = list(known())
    table = table_of_numbers(BRIEF_HEAD, brief_rows(everything))
    for column in table.columns[1:]:
        column.no_wrap = True
    table.columns[-1].justify = "left"
    console().print(table)
    say("\nMean returns. Score: 0 is random actions, 1 the scripted expert. !: a cost is above its limit.")
    say("*: trained on another observation, reward, option or start than the default, or samples its actions.")
    say("Open, with no agent at 0.8 of the expert's score and success within the limits of costs:")
    console().print(", ".join(one.name for one in everything if one.level is None and is_open(one)))
    say("\nAll policies and levels of one environment: rlenvs scores ID. The whole table: rlenvs scores --write FILE.")


def _show_policies(ids: list[str]) -> None:
    """A table for each environment, and for each of its levels that has agents."""
    from rlenvs.agents.score_page import POLICIES_HEAD, known, policy_rows
    from rlenvs.core.catalogue.registry import world_of

    for one in known([world_of(id).name for id in ids]):
        against = f", against {one.against}" if one.against else ""
        say(f"{one.name}{f', level {one.level}' if one.level else ''}{against}")
        rows = list(policy_rows(one))
        table = table_of_numbers(POLICIES_HEAD, rows)
        for column in table.columns[1:]:
            column.no_wrap = True
        console().print(table if rows else "no scores")
        say("")


def _check_agents(seeds: int | None, ray: str | None) -> int:
    """Compare all files of the stores with their hashes, and play every agent again; the exit code."""
    from rlenvs.agents.scores import check_agents
    from rlenvs.agents.store import reference_agents, stores, wrong_sums

    start, stems, verdicts = time.monotonic(), reference_agents(), []
    wrong = [f"{store / name}" for store in stores() for name in wrong_sums(store)]
    for line in wrong:
        say(line)
    with progress("playing", total=len(stems)) as tell:
        for done, (verdict, line) in enumerate(check_agents(stems, seeds, ray)):
            verdicts.append(verdict)
            say(line)
            tell(done + 1, line.partition(",")[0])
    broken, left, minutes = verdicts.count("broken"), verdicts.count("left out"), (time.monotonic() - start) / 60
    say(
        f"{len(stems)} reference agents, {broken} outside their intervals or broken, {left} left out, "
        f"{len(wrong)} files with wrong hashes, {minutes:.1f} minutes"
    )
    return 1 if wrong or "broken" in verdicts else 0


def _compare_algorithms() -> None:
    from rlenvs.agents.aggregate import HEAD, PAIRS_HEAD, final_scores, pair_rows, score_rows

    found = final_scores()
    if not found:
        raise NoAgentError("no learning curve ships with this installation, so there is nothing to compare")
    say("Interquartile mean over environments of the score at the end of training: random 0, scripted expert 1.")
    console().print(table_of_numbers(HEAD, score_rows(found)))
    pairs = pair_rows(found)
    if pairs:
        say("\nProbability that a run of the one ends with a higher score, over the environments that both have.")
        console().print(table_of_numbers(PAIRS_HEAD, pairs))
