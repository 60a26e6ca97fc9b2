"""Commands on agents: watch, measure, train, let them play against each other, record what they do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from rlenvs.cli.common import (
    LONGEST,
    Against,
    Id,
    Level,
    Seed,
    Set,
    Source,
    app,
    check_folder,
    check_output,
    compiled,
    console,
    keywords_from,
    say,
    say_written,
    table_of_numbers,
)
from rlenvs.core.errors import ParameterError
from rlenvs.core.progress import counted, progress

if TYPE_CHECKING:
    from rlenvs.agents.demo import Demo

PANEL = "Agents"


@app.command(rich_help_panel=PANEL)
def watch(
    source: Source,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write a video, .gif, .webp or .mp4. Default: a window."),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0.1, max=LONGEST, metavar="SECONDS", help="Length. Default: 8 for videos; windows have no end."
        ),
    ] = None,
    against: Against = None,
    level: Level = None,
    seed: Seed = 0,
    set: Set = None,
) -> None:
    """Watch an agent in a window, or video it."""
    from rlenvs.agents.scores import find_agent
    from rlenvs.agents.video import check_file, pace, save, video
    from rlenvs.agents.video import watch as show
    from rlenvs.core.registry import world_of
    from rlenvs.core.setup import Setup

    if output:
        check_file(output)
        check_output(output)
    id, agent, keywords = find_agent(source, keywords_from(set, level))
    agent.check(Setup(world_of(id), **keywords))
    _check_against(id, against, keywords)
    compiled(id, keywords)
    if output is None:
        say("Esc closes the window.")
        show(id, agent, seed, seconds, against, **keywords)
        return
    own, seconds = Setup(world_of(id), **keywords).fps, seconds or 8.0
    every, fps = pace(output, own)
    frames = video(id, agent, seed, seconds, every, against, **keywords)
    save(output, counted(frames, f"recording {seconds:g} s", round(seconds * own) // every), fps)
    say_written(output)


def _check_against(id: str, against: str | None, keywords: dict[str, Any]) -> None:
    import numpy as np

    from rlenvs.agents.evaluate import check_opponent
    from rlenvs.core.registry import world_of
    from rlenvs.core.setup import Setup

    if against is not None:
        world = world_of(id)
        check_opponent(world, np.array(Setup(world, **keywords).teams), against)


@app.command("eval", rich_help_panel=PANEL)
def eval_command(
    source: Source,
    seeds: Annotated[int, typer.Option(min=1, metavar="N", help="Episodes of each policy, one per seed.")] = 100,
    seed: Seed = 0,
    against: Against = None,
    level: Level = None,
    set: Set = None,
) -> None:
    """Measure an agent beside the random policy and the scripted expert, all on the same seeds."""
    from rlenvs.agents.evaluate import check_seeds
    from rlenvs.agents.scores import compare, comparison_rows, find_agent_or_reason

    check_seeds(range(seed, seed + seeds))
    id, agent, keywords, reason = find_agent_or_reason(source, keywords_from(set, level))
    _check_against(id, against, keywords)
    compiled(id, keywords)
    found = compare(id, agent, range(seed, seed + seeds), against, **keywords)
    chosen = "".join(f", {name}={value}" for name, value in keywords.items())
    say(f"{id}{chosen}: {seeds} seeds from {seed}")
    head = ("Policy", "Mean return", "Score", "Success", "Cost", "Length")
    console().print(table_of_numbers(head, comparison_rows(found)))
    if reason:
        say(reason)


@app.command(rich_help_panel=PANEL)
def scores(
    write: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the table as Markdown.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Play every reference agent again; exit code 1 where a score does not hold.")
    ] = False,
    seeds: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="With --check: episodes of each agent. Default: all.")
    ] = None,
) -> None:
    """List what doing nothing, random actions, scripted experts and reference agents reach in every environment."""
    from rlenvs.agents.files import reference_agents
    from rlenvs.agents.scores import HEAD, page, replay_agent, score_rows

    if check:
        broken = 0
        for stem in reference_agents():
            with progress(f"{stem.name}: playing"):
                found = replay_agent(stem, seeds)
            broken += not found.holds
            say(str(found))
        say(f"{len(reference_agents())} reference agents, {broken} outside their intervals")
        raise typer.Exit(1 if broken else 0)
    if write:
        check_output(write).write_text(page(), encoding="utf-8")
        say_written(write)
        return
    console().print(table_of_numbers(HEAD, score_rows()))


@app.command(rich_help_panel=PANEL)
def train(
    id: Id,
    output: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where the runs go. Default: runs/ID.")] = None,
    seeds: Annotated[int, typer.Option(min=1, metavar="N", help="Runs, one after the other, from --seed on.")] = 1,
    seed: Seed = 0,
    steps: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Environment steps in all. Default: the settings'.")
    ] = None,
    algorithm: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="PPO, MaskablePPO, RecurrentPPO, PPOLagrangian, MAPPO, SAC, TQC, TD3, DDPG, DQN, QRDQN or DAgger. "
            "Default: the settings'.",
        ),
    ] = None,
    envs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Environments side by side. Default: the settings'.")
    ] = None,
    hyper: Annotated[
        list[str] | None,
        typer.Option("--hyper", metavar="NAME=VALUE", help="A hyper-parameter, such as gamma=0.99; may be repeated."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was interrupted.")] = False,
    tensorboard: Annotated[
        bool | None,
        typer.Option(
            "--tensorboard/--no-tensorboard", help="Write events for TensorBoard. Default: where it is installed."
        ),
    ] = None,
    level: Level = None,
    set: Set = None,
) -> None:
    """Train an agent with the settings of the environment; Ctrl-C leaves a checkpoint and the best agent so far."""
    from rlenvs.agents.training_view import Request, train_with_view

    request = Request(
        id=id,
        output=output,
        seeds=range(seed, seed + seeds),
        resume=resume,
        tensorboard=tensorboard,
        algorithm=algorithm,
        steps=steps,
        num_envs=envs,
        hyperparameters=keywords_from(hyper, option="--hyper"),
        environment=keywords_from(set, level),
    )
    code = train_with_view(request, console())
    if code:
        raise typer.Exit(code)


@app.command(rich_help_panel=PANEL)
def plot(
    folder: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder of a run, or of several, as train leaves them.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="A .png, .pdf or .svg. Default: learning_curve.png in RUN."
        ),
    ] = None,
) -> None:
    """Draw the learning curves of training runs."""
    from rlenvs.agents.curves import check_file, check_plotting, read_curves, save_curves

    path = output or folder / "learning_curve.png"
    check_file(path)
    check_plotting()
    curves = read_curves(folder)
    save_curves(curves, check_output(path), title=str(folder))
    say_written(path)


@app.command(rich_help_panel=PANEL)
def tournament(
    id: Id,
    players: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PLAYER]...",
            help="Scripted players, random, NAME=FILE for an agent (.safetensors) or a saved model (.zip). Default: "
            "all scripted ones and random.",
        ),
    ] = None,
    games: Annotated[
        int, typer.Option(min=1, metavar="N", help="Games per pair, half of them with teams swapped.")
    ] = 100,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the results as JSON.")
    ] = None,
    level: Level = None,
    seed: Seed = 0,
    set: Set = None,
) -> None:
    """Let players play against each other, and rate them."""
    from rlenvs.agents.tournament import tournament as hold

    keywords = keywords_from(set, level)
    if output:
        check_output(output)
    result = hold(id, _players_from(players), games, seed, make=keywords)
    say(str(result))
    if output:
        result.save(output)
        say_written(output)


def _players_from(texts: list[str] | None) -> dict[str, str] | None:
    """Players by name in texts "name" and "name=file"; a file alone has its stem as name."""
    named: dict[str, str] = {}
    for text in texts or []:
        name, equals, file = text.partition("=")
        name = name if equals or not name.endswith((".zip", ".safetensors")) else Path(name).stem
        if name in named:
            raise ParameterError(f"two players are called {name!r}; give one of them another name, as NAME=FILE")
        named[name] = file if equals else text
    return named or None


@app.command(rich_help_panel=PANEL)
def dataset(
    id: Id,
    quality: Annotated[
        str, typer.Option(metavar="NAME", help="random, medium, expert, or replay: what a training run saw.")
    ] = "expert",
    episodes: Annotated[int, typer.Option(min=1, metavar="N", help="How many to record.")] = 100,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Folder of all datasets. Default: where Minari looks for them."
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of the dataset. Default: rlenvs/Name-v0/QUALITY-v0.")
    ] = None,
    agent: Annotated[
        Path | None, typer.Option(metavar="FILE", help="An agent that plays in the expert's place.")
    ] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="With --quality replay: of the training run.")
    ] = None,
    level: Level = None,
    seed: Seed = 0,
    set: Set = None,
) -> None:
    """Record episodes as a Minari dataset, for offline learning."""
    from rlenvs.agents.datasets import check_quality, make_dataset

    keywords = keywords_from(set, level)
    check_quality(quality)
    if output:
        check_folder(output)
    compiled(id, keywords)
    found = make_dataset(
        id, quality, episodes, folder=output, name=name, agent=agent, seed=seed, steps=steps, **keywords
    )
    say(str(found))
    say(found.usage)


@app.command(rich_help_panel=PANEL)
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the images go.")] = Path(
        "demo"
    ),
    steps: Annotated[int, typer.Option(min=1, metavar="N", help="Environment steps of training.")] = 500_000,
    seed: Seed = 0,
) -> None:
    """Watch PPO learn to hover a drone: about a minute from nothing to a flight."""
    from rlenvs.agents.demo import ID, check_plotting, run_demo, save_curve, save_flight

    check_plotting()
    check_folder(output)
    console().print(f"[bold]PPO learns {ID}[/bold]: fly a quadcopter to a goal by the speeds of its four rotors.\n")
    compiled(ID, {})
    result = run_demo(steps, seed)
    console().print(_demo_table(result))
    console().print(
        "Score: mean return on the scale where random flight has 0 and the scripted expert 1.\n"
        "Success: within 0.1 m of the goal at the end. Trained with the reward term `distance` at weight 1, since "
        "the default reward hardly tells 0.1 m from 0.2 m; all policies are evaluated on the default reward.\n"
    )
    curve, flight = output / "learning_curve.png", output / "flight.gif"
    with progress("drawing"):
        save_curve(result, curve)
        save_flight(result, flight)
    say_written(curve, flight)


def _demo_table(result: Demo) -> Table:
    table = Table("Policy", "Mean return", "Score", "Success", "Cost", title=f"{_seeds(result)} flights each")
    names = {"random": "random", "ppo": "[bold]PPO[/bold]", "expert": "scripted expert"}
    for key, name in names.items():
        row = result.evaluations[key]
        interval = f"{row.mean:.1f} ± {row.half_width:.1f}"
        success = f"{100 * row.success_rate:.0f} %"
        table.add_row(name, interval, f"{result.scaled(key):.3f}", success, f"{row.mean_cost:.1f}")
    for column in table.columns[1:]:
        column.justify = "right"
    return table


def _seeds(result: Demo) -> int:
    return len(result.evaluations["ppo"].seeds)
