"""The command that plays line-ups of operators in lock-step."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rlenvs.cli.common import (
    Id,
    Level,
    Seed,
    Set,
    Text,
    app,
    check_output,
    keywords_from,
    say,
    say_written,
    text_keywords,
)
from rlenvs.core.declare.errors import ParameterError


@app.command(rich_help_panel="Agents")
def lockstep(
    id: Id,
    line_ups: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LINE_UP]...",
            help="Who plays: an operator for all agents, or AGENT=OPERATOR,... with names or patterns of agents, such "
            "as 'ally_0=human,*=random'. An operator is a scripted player, expert, random, idle, cycle, human, or the "
            "file of an agent (.safetensors) or model (.zip). Default: random and idle.",
        ),
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, metavar="N", help="Episodes of each line-up.")] = 10,
    log: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Log every step and reply there, as JSON lines.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the comparison as JSON.")
    ] = None,
    fixed_seed: Annotated[
        bool, typer.Option("--fixed-seed", help="Start all episodes alike, from --seed; operators still draw anew.")
    ] = False,
    text: Text = None,
    level: Level = None,
    seed: Seed = 0,
    set: Set = None,
) -> None:
    """Play line-ups of operators (policies, scripts, people) on the same seeds, and compare them pair by pair."""
    from rlenvs.agents.lockstep import lock_step

    keywords: dict[str, Any] = {**keywords_from(set, level), **text_keywords(text, team=True)}
    named = {each: _line_up(each) for each in line_ups or ["random", "idle"]}
    if len(named) < len(line_ups or ()):
        raise ParameterError("two line-ups are the same; give each once")
    if output:
        check_output(output)
    found = lock_step(id, named, episodes, seed, fixed_seed=fixed_seed, log=log, make=keywords)
    say(str(found))
    if output:
        found.save(output)
    say_written(*(path for path in (log, output) if path))


def _line_up(text: str) -> Any:
    """A line-up from "operator" or "agent=operator,agent=operator"."""
    if "=" not in text:
        return text
    seats: dict[str, str] = {}
    for part in text.split(","):
        agent, equals, operator = part.partition("=")
        if not (agent and equals and operator) or agent in seats:
            raise ParameterError(f"line-up {text!r}: expected AGENT=OPERATOR,... with each agent once, not {part!r}")
        seats[agent] = operator
    return seats
