"""Commands that run published benchmarks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from rlenvs.agents.battle_protocols import PROTOCOL_NAMES
from rlenvs.agents.benchmark_tasks import META_WORLD, SINGLE, summary_of
from rlenvs.cli.common import (
    Commands,
    Id,
    Ray,
    Seed,
    Set,
    app,
    check_output,
    console,
    keywords_from,
    say,
    say_written,
    table_of_numbers,
)
from rlenvs.core.declare.errors import ParameterError

benchmark = typer.Typer(cls=Commands, no_args_is_help=True, help="Run a published benchmark, such as RRLS or MT10.")
app.add_typer(benchmark, name="benchmark", rich_help_panel="Agents")

AGENT = "agent"  # the reference agent
Policies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        "-p",
        metavar="NAME|FILE",
        help="agent (the reference agent), expert, random, idle, or a file. Can be repeated. Default: agent.",
    ),
]
Output = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the results as JSON.")]


@benchmark.callback()
def suites() -> None:
    """Run a published benchmark, such as RRLS or MT10."""


@benchmark.command()
def rrls(
    sets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SET]...", help="Sets such as hopper-2: the robot and the number of parameters. Default: all."
        ),
    ] = None,
    policy: Policies = None,
    episodes: Annotated[
        int, typer.Option(min=1, metavar="N", help="Episodes with each body, on the seeds from 0.")
    ] = 10,
    points: Annotated[int, typer.Option(min=2, metavar="N", help="Values of each parameter.")] = 10,
    compat: Annotated[
        str, typer.Option(metavar="NAME", help="rrls: bodies and grids as RRLS has them, its errors included.")
    ] = "none",
    output: Output = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the grids as heat maps: .png, .pdf or .svg.")
    ] = None,
    ray: Ray = None,
) -> None:
    """Robustness (RRLS): worst case and average over grids of 10, 100 or 1000 bodies of a robot."""
    from rlenvs.agents.heat_maps import save_heat_maps
    from rlenvs.agents.plots import check_file, check_plotting
    from rlenvs.agents.rrls import HEAD, RRLS_SETS, checked_set, robot_of, score_rows
    from rlenvs.agents.rrls import rrls as play

    chosen = [checked_set(name) for name in sets or RRLS_SETS]
    if output:
        check_output(output)
    if plot:
        check_file(check_output(plot))
        check_plotting("A heat map")
    policies = {set: _policies(robot_of(set), policy or [AGENT]) for set in chosen}
    scores = [score for set in chosen for score in play(set, policies[set], episodes, points, compat=compat, ray=ray)]
    console().print(table_of_numbers(HEAD, score_rows(scores)))
    say(f"Mean returns over {episodes} seeds; intervals over seeds, in rows of several policies over policies.")
    if output:
        _write(output, [score.to_dict() for score in scores])
    if plot:
        save_heat_maps([(f"{score.set}, {score.policy}", score.found) for score in scores], plot)
        say_written(plot)


@benchmark.command()
def contexts(
    id: Id,
    feature: Annotated[
        list[str],
        typer.Option("--feature", "-f", metavar="NAME=LOW:HIGH", help="A parameter, drawn uniformly. Can be repeated."),
    ],
    mode: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Which contexts are for testing: interpolation, extrapolation or combinatorial. Can be repeated. "
            "Default: the first two.",
        ),
    ] = None,
    policy: Policies = None,
    samples: Annotated[int, typer.Option(min=2, metavar="N", help="Contexts to draw.")] = 100,
    fraction: Annotated[float, typer.Option(metavar="X", help="Share of the contexts for testing.")] = 0.2,
    episodes: Annotated[int, typer.Option(min=1, metavar="N", help="Episodes in each context.")] = 10,
    visible: Annotated[bool, typer.Option("--visible", help="The context is part of the observation.")] = False,
    seed: Seed = 0,
    set: Set = None,
    output: Output = None,
    ray: Ray = None,
) -> None:
    """Generalization over contexts (CARL): returns on contexts for training, and on others between or beyond them."""
    from rlenvs.agents.generalization import HEAD, generalization, generalization_rows

    if output:
        check_output(output)
    features, keywords = dict(map(_feature, feature)), keywords_from(set)
    modes = mode or ["interpolation", "extrapolation"]
    found = {
        name: [
            generalization(
                id,
                own,
                features,
                each,
                samples,
                fraction,
                seed,
                n_episodes=episodes,
                visible=visible,
                ray=ray,
                **{**getattr(getattr(own, "card", None), "keywords", {}), **keywords},
            )
            for each in modes
        ]
        for name, own in _policies(id, policy or [AGENT]).items()
    }
    console().print(table_of_numbers(HEAD, generalization_rows(found)))
    say(f"Mean returns over contexts and {episodes} seeds; intervals over seeds. Worst: of the contexts for testing.")
    if output:
        _write(output, [{"policy": name, **each.to_dict()} for name, some in found.items() for each in some])


@benchmark.command()
def battle(
    name: Annotated[str, typer.Argument(metavar="PROTOCOL", help=", ".join(PROTOCOL_NAMES))] = PROTOCOL_NAMES[0],
    policy: Annotated[
        str,
        typer.Option("--policy", "-p", metavar="NAME|FILE", help="A scripted player, expert, random, idle, or a file."),
    ] = "kiting",
    task: Annotated[
        list[str] | None, typer.Option(metavar="TASK", help="Play this task only. Can be repeated. Default: all.")
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, metavar="N", help="Episodes of each task, on the seeds from 0.")] = 20,
    set: Set = None,
    output: Output = None,
) -> None:
    """Battles (LLM-PySC2, L2RLCF): wins, ties and losses of a policy per scenario."""
    from rlenvs.agents.files import load_agent
    from rlenvs.agents.protocols import HEAD, protocol

    if output:
        check_output(output)
    chosen = load_agent(policy) if policy.endswith(".safetensors") else policy
    found = protocol(name).evaluate(chosen, episodes, tasks=task, **keywords_from(set))
    say(", ".join(f"{key}={value}" for key, value in found.protocol.items()))
    console().print(table_of_numbers(HEAD, found.rows()))
    if output:
        _write(output, [found.to_dict()])


TaskPolicy = Annotated[
    str,
    typer.Option(
        "--policy", "-p", metavar="POLICY", help="random, idle, expert, or agent: each task's reference agent."
    ),
]
HeldOut = Annotated[bool, typer.Option("--held-out", help="Play the tasks that ML benchmarks hold out.")]
Goals = Annotated[
    int | None,
    typer.Option("--episodes", min=1, metavar="N", help="Goals of each task, the seeds from 0. Default: all 50."),
]


def _show(
    found: Any, policy: str, held_out: bool, episodes: int | None, keywords: dict[str, Any], output: Path | None
) -> None:
    """Play one of Meta-World's benchmarks, and print its protocol and results."""
    from rlenvs.agents.benchmarks import HEAD
    from rlenvs.agents.files import load_agent

    if output:
        check_output(output)
    chosen: Any = policy
    if policy == AGENT:
        chosen = {id: load_agent(id) for id in (found.held_out if held_out else found.ids)}
    result = found.evaluate(chosen, held_out=held_out, seeds=episodes, **keywords)
    say(", ".join(f"{key}={value}" for key, value in result.protocol.items()))
    console().print(table_of_numbers(HEAD, result.rows()))
    if output:
        _write(output, [result.to_dict()])


def _of_tasks(name: str) -> Callable[..., None]:
    """The command of one of Meta-World's benchmarks."""

    def run(
        policy: TaskPolicy = "expert",
        held_out: HeldOut = False,
        episodes: Goals = None,
        compat: Annotated[
            str, typer.Option(metavar="NAME", help="metaworld: ML25 with the original's mistake in what it holds out.")
        ] = "none",
        set: Set = None,
        output: Output = None,
    ) -> None:
        from rlenvs.agents.benchmarks import benchmark

        _show(benchmark(name, compat=compat), policy, held_out, episodes, keywords_from(set), output)

    run.__doc__ = summary_of(name)
    return run


def _of_one_task(name: str) -> Callable[..., None]:
    """The command of MT1 or ML1."""

    def run(
        task: Annotated[str, typer.Argument(metavar="TASK", help="Such as drawer-open.")],
        policy: TaskPolicy = "expert",
        held_out: HeldOut = False,
        episodes: Goals = None,
        set: Set = None,
        output: Output = None,
    ) -> None:
        from rlenvs.agents.benchmarks import benchmark

        _show(benchmark(name, task=task), policy, held_out, episodes, keywords_from(set), output)

    run.__doc__ = SINGLE[name]
    return run


for _name in SINGLE:
    benchmark.command(_name)(_of_one_task(_name))
for _name in META_WORLD:
    benchmark.command(_name)(_of_tasks(_name))


def _feature(text: str) -> tuple[str, tuple[str, float, float]]:
    """A parameter and its distribution, from "name=low:high"."""
    name, _, ends = text.partition("=")
    try:
        low, high = map(float, ends.split(":"))
    except ValueError:
        raise ParameterError(f"--feature {text}: expected NAME=LOW:HIGH, for example mass=0.02:0.04") from None
    return name, ("uniform", low, high)


def _write(output: Path, found: list[dict[str, Any]]) -> None:
    output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
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
