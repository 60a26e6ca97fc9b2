"""Commands that run published benchmarks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from rlenvs.cli.common import Commands, Ray, app, check_output, console, say, say_written, table_of_numbers
from rlenvs.core.declare.errors import ParameterError

benchmark = typer.Typer(cls=Commands, no_args_is_help=True, help="Run a published benchmark, such as RRLS.")
app.add_typer(benchmark, name="benchmark", rich_help_panel="Agents")

AGENT = "agent"  # the reference agent


@benchmark.callback()
def suites() -> None:
    """Run a published benchmark, such as RRLS."""


@benchmark.command()
def rrls(
    sets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SET]...", help="Sets such as hopper-2: the robot and the number of parameters. Default: all."
        ),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            "-p",
            metavar="NAME|FILE",
            help="agent (the reference agent), expert, random, idle, or a file. Can be repeated. Default: agent.",
        ),
    ] = None,
    episodes: Annotated[
        int, typer.Option(min=1, metavar="N", help="Episodes with each body, on the seeds from 0.")
    ] = 10,
    points: Annotated[int, typer.Option(min=2, metavar="N", help="Values of each parameter.")] = 10,
    compat: Annotated[
        str, typer.Option(metavar="NAME", help="rrls: bodies and grids as RRLS has them, its errors included.")
    ] = "none",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the results as JSON.")
    ] = None,
    ray: Ray = None,
) -> None:
    """Robustness (RRLS): worst case and average over grids of 10, 100 or 1000 bodies of a robot."""
    from rlenvs.agents.rrls import HEAD, RRLS_SETS, checked_set, robot_of, score_rows
    from rlenvs.agents.rrls import rrls as play

    chosen = [checked_set(name) for name in sets or RRLS_SETS]
    if output:
        check_output(output)
    policies = {set: _policies(robot_of(set), policy or [AGENT]) for set in chosen}
    scores = [score for set in chosen for score in play(set, policies[set], episodes, points, compat=compat, ray=ray)]
    console().print(table_of_numbers(HEAD, score_rows(scores)))
    say(f"Mean returns over {episodes} seeds; intervals over seeds, in rows of several policies over policies.")
    if output:
        output.write_text(json.dumps([score.to_dict() for score in scores], indent=1) + "\n", encoding="utf-8")
        say_written(output)


def _policies(id: str, names: list[str]) -> dict[str, Any]:
    """The policies by name; a file has its stem as name."""
    from rlenvs.agents.evaluate import POLICIES, check_policy
    from rlenvs.agents.files import load_agent
    from rlenvs.core.catalogue.registry import world_of

    found: dict[str, Any] = {}
    for name in names:
        key = Path(name).stem if name.endswith(".safetensors") else name
        if key in found:
            raise ParameterError(f"two policies are named {key!r}; rename a file")
        found[key] = name if name in POLICIES else load_agent(id if name == AGENT else name)
        check_policy(world_of(id), found[key])
    return found
