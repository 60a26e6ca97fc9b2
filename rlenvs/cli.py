"""The command line: `rlenvs` or `python -m rlenvs`. Heavy imports happen inside the commands."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from typer.core import TyperGroup

from rlenvs.core.errors import ParameterError, RlenvsError

if TYPE_CHECKING:
    from rlenvs.agents.demo import Demo
    from rlenvs.doctor import Line


def console() -> Console:
    """A console on the present standard output."""
    return Console(highlight=False)


class Commands(TyperGroup):
    """Commands whose own errors end in one red line and exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except RlenvsError as error:
            Console(stderr=True, highlight=False, soft_wrap=True).print(f"[red]{escape(str(error))}[/red]")
            raise typer.Exit(2) from None


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Reinforcement-learning environments: list, inspect, play, record, measure, check.",
)

Id = Annotated[str, typer.Argument(metavar="ID", help="Environment, with or without 'rlenvs/' in front.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", "-s", metavar="NAME=VALUE", help="Keyword of make, such as mass=0.03; repeatable."),
]
Level = Annotated[str | None, typer.Option(help="One of the environment's levels.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed.")]
Source = Annotated[
    str, typer.Argument(metavar="ID|FILE", help="Environment, for its reference agent; or the file of an agent.")
]
Against = Annotated[
    str | None, typer.Option(help="Where sides play against each other: the scripted player of the other sides.")
]


def keywords_from(pairs: list[str] | None, level: str | None = None, option: str = "--set") -> dict[str, Any]:
    """The keywords in "name=value" texts of an option; a value is JSON where it can be, else a string."""
    keywords: dict[str, Any] = {} if level is None else {"level": level}
    for pair in pairs or []:
        name, equals, text = pair.partition("=")
        if not equals or not name.isidentifier():
            example = {"--set": "horizon=100", "--hyper": "gamma=0.99"}[option]
            raise ParameterError(f"{option} {pair}: write it as NAME=VALUE, for example {option} {example}")
        try:
            keywords[name] = json.loads(text)
        except json.JSONDecodeError:
            keywords[name] = text
    return keywords


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """A spinner while something takes its time."""
    with console().status(text):
        yield


def compiled(id: str, keywords: dict[str, Any]) -> None:
    """Make the environment and step it, so that its kernels are compiled or loaded: some 10 s, once per change."""
    from rlenvs.core.make import make_batch
    from rlenvs.core.registry import entry

    with waiting(f"compiling {escape(entry(id).id)} (once) ..."):
        batch = make_batch(id, 1, **keywords)
        batch.seed([0])
        batch.reset()
        batch.step_loaded()


# --- looking ----------------------------------------------------------------------------------------------------------


@app.command("list")
def list_command(
    kind: Annotated[
        str | None, typer.Option(help="Only one kind: single, multi-agent, multi-objective, safe, robotics.")
    ] = None,
) -> None:
    """List the environments."""
    from rlenvs.core.docs import summary
    from rlenvs.core.registry import catalogue, list_envs, world_of

    table = Table("Id", "What to do", "Kinds", box=None, pad_edge=False)
    for id in list_envs(kind):
        if not id.startswith("rlenvs/mo-"):
            table.add_row(f"[bold]{id}[/bold]", escape(summary(world_of(id).doc)), ", ".join(catalogue[id].kinds))
    console().print(table)
    if any(id.startswith("rlenvs/mo-") for id in list_envs(kind)):
        console().print(
            "\nMulti-objective ones also exist as rlenvs/mo-Name-v0, where the reward is the vector of terms."
        )
    console().print("\nMore about one of them: rlenvs info ID")


@app.command()
def info(id: Id) -> None:
    """Describe an environment: spaces, rewards, costs, parameters, levels, scores."""
    from rich.markdown import Markdown

    from rlenvs.core.docs import page
    from rlenvs.core.registry import world_of

    console().print(Markdown(page(world_of(id))))


@app.command()
def play(id: Id, level: Level = None, seed: Seed = 0, set: Set = None) -> None:
    """Play an environment with the keyboard."""
    from rlenvs.play import Game, key_table

    keywords = keywords_from(set, level)
    table = Table("Key", "Action", box=None, pad_edge=False)
    for key, meaning in [*key_table(id, **keywords), ("R", "restart"), ("Esc", "quit")]:
        table.add_row(f"[bold]{key}[/bold]", escape(meaning))
    console().print(table)
    compiled(id, keywords)
    Game(id, seed, told=lambda line: console().print(escape(line)), **keywords).run()


@app.command()
def record(
    id: Id,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File, .gif or .mp4. Default: Name-v0.gif.")
    ] = None,
    policy: Annotated[str, typer.Option(help="expert (scripted) or random.")] = "expert",
    seconds: Annotated[float, typer.Option(min=0.1, help="Length of the film.")] = 8.0,
    level: Level = None,
    seed: Seed = 0,
    set: Set = None,
) -> None:
    """Record a film of an environment."""
    from rlenvs.agents.evaluate import check_policy
    from rlenvs.agents.film import check_file, film, pace, save
    from rlenvs.core.registry import world_of
    from rlenvs.core.render import check_mode
    from rlenvs.core.setup import Setup

    world, keywords = world_of(id), keywords_from(set, level)
    path = output or Path(f"{world.name}.gif")
    check_file(path)
    check_policy(world, policy)
    check_mode(world, "rgb_array")
    compiled(id, keywords)
    every, fps = pace(path, Setup(world, **keywords).fps)
    with waiting(f"filming {seconds:g} s ..."):
        save(path, film(id, policy, seed, seconds, every, **keywords), fps)
    console().print(f"wrote {escape(str(path))}", soft_wrap=True)


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Replay, a JSON file.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Film to write, .gif or .mp4. Default: a window.")
    ] = None,
) -> None:
    """Check a replay, and watch it or film it."""
    from rlenvs.agents.film import check_file, pace, save
    from rlenvs.agents.replay import Replay

    if output:
        check_file(output)
    with waiting("playing it through (compiling once) ..."):
        found = Replay.load(file)
    console().print(f"{escape(found.id)}: {len(found)} steps, and they come out as the file says", soft_wrap=True)
    if output is None:
        found.watch()
        return
    every, fps = pace(output, found.fps)
    with waiting("filming ..."):
        save(output, found.frames(every), fps)
    console().print(f"wrote {escape(str(output))}", soft_wrap=True)


@app.command()
def watch(
    source: Source,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Film to write, .gif or .mp4. Default: a window.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(min=0.1, help="Length; 8 s for films, no end for windows by default.")
    ] = None,
    against: Against = None,
    level: Level = None,
    seed: Seed = 0,
    set: Set = None,
) -> None:
    """Watch an agent in a window, or film it."""
    from rlenvs.agents.film import check_file, film, pace, save
    from rlenvs.agents.film import watch as show
    from rlenvs.agents.scores import find_agent
    from rlenvs.core.registry import world_of
    from rlenvs.core.setup import Setup

    if output:
        check_file(output)
    id, agent, keywords = find_agent(source, keywords_from(set, level))
    agent.check(Setup(world_of(id), **keywords))
    compiled(id, keywords)
    if output is None:
        console().print("Esc closes the window.")
        show(id, agent, seed, seconds, against, **keywords)
        return
    every, fps = pace(output, Setup(world_of(id), **keywords).fps)
    seconds = seconds or 8.0
    with waiting(f"filming {seconds:g} s ..."):
        save(output, film(id, agent, seed, seconds, every, against, **keywords), fps)
    console().print(f"wrote {escape(str(output))}", soft_wrap=True)


# --- measuring --------------------------------------------------------------------------------------------------------


@app.command()
def bench(
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Environments; all by default.")] = None,
    seconds: Annotated[float, typer.Option(min=0.01, help="How long to measure each number.")] = 0.5,
    set: Set = None,
) -> None:
    """Measure steps per second with random actions."""
    from rich.progress import Progress

    from rlenvs.bench import time_batch, time_single
    from rlenvs.core.registry import entry, list_envs

    keywords = keywords_from(set)
    chosen = [entry(id).id for id in ids or [id for id in list_envs() if not id.startswith("rlenvs/mo-")]]
    batches = [(1, 1), (64, 1), (4096, 1), (4096, 2)]
    table = Table(
        "Environment", "single", *(_batch_head(n, threads) for n, threads in batches), box=None, pad_edge=False
    )
    for column in table.columns[1:]:
        column.justify = "right"
    with Progress(console=console(), transient=True) as progress:
        task = progress.add_task("", total=len(chosen) * (2 + len(batches)))
        for id in chosen:
            progress.update(task, description=f"compiling {id} (once)")
            time_single(id, 0.0, **keywords)
            progress.update(task, description=f"measuring {id}", advance=1)
            numbers = [time_single(id, seconds, **keywords)]
            progress.advance(task)
            for num_worlds, threads in batches:
                numbers.append(time_batch(id, num_worlds, threads, seconds, **keywords))
                progress.advance(task)
            table.add_row(id.removeprefix("rlenvs/"), *map(_short, numbers))
    console().print("World steps per second, random actions, resets included.\n")
    console().print(table)


def _batch_head(num_worlds: int, threads: int) -> str:
    return f"batch of\n{num_worlds}" + (f",\n{threads} threads" if threads > 1 else "")


def _short(number: float) -> str:
    """A number with three digits and the letter of its thousands."""
    for unit, letter in ((1e6, " M"), (1e3, " k")):
        if number >= 0.9995 * unit:
            return f"{number / unit:.3g}{letter}"
    return f"{number:.3g}"


@app.command()
def train(
    id: Id,
    output: Annotated[Path | None, typer.Option(help="Folder of the runs; runs/ID where it is not given.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Runs one after the other, with the seeds seed, seed + 1, ...")] = 1,
    seed: Seed = 0,
    steps: Annotated[int | None, typer.Option(min=1, help="Environment steps, all environments together.")] = None,
    algorithm: Annotated[
        str | None, typer.Option(help="PPO, MaskablePPO, RecurrentPPO, SAC, TD3, DQN or DAgger; by default the file's.")
    ] = None,
    envs: Annotated[int | None, typer.Option(min=1, help="Worlds side by side.")] = None,
    hyper: Annotated[
        list[str] | None,
        typer.Option("--hyper", metavar="NAME=VALUE", help="Keyword of the algorithm, such as gamma=0.99; repeatable."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with runs that were interrupted.")] = False,
    tensorboard: Annotated[
        bool | None, typer.Option("--tensorboard/--no-tensorboard", help="By default where it is installed.")
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


@app.command("eval")
def eval_command(
    source: Source,
    seeds: Annotated[int, typer.Option(min=1, help="Episodes of each policy.")] = 100,
    seed: Seed = 0,
    against: Against = None,
    level: Level = None,
    set: Set = None,
) -> None:
    """Measure an agent beside the random policy and the scripted expert, all on the same seeds."""
    from rlenvs.agents.scores import compare, comparison_rows, find_agent_or_reason

    id, agent, keywords, reason = find_agent_or_reason(source, keywords_from(set, level))
    compiled(id, keywords)
    with waiting(f"{escape(id)}: playing {seeds} episodes each ..."):
        found = compare(id, agent, range(seed, seed + seeds), against, **keywords)
    chosen = "".join(f", {name}={value}" for name, value in keywords.items())
    console().print(escape(f"{id}{chosen}: {seeds} seeds from {seed}"), soft_wrap=True)
    console().print(_numbers(("Policy", "Mean return", "Score", "Success", "Cost", "Length"), comparison_rows(found)))
    if reason:
        console().print(escape(reason), soft_wrap=True)


@app.command()
def scores(
    write: Annotated[Path | None, typer.Option(help="File for the table as Markdown, such as docs/scores.md.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Play every reference agent again.")] = False,
    seeds: Annotated[int | None, typer.Option(min=1, help="With --check: only the first few seeds of each.")] = None,
) -> None:
    """List the scores of random, expert and reference agent; with --check, exit code 1 where one no longer holds."""
    from rlenvs.agents.files import reference_agents
    from rlenvs.agents.scores import HEAD, page, replay_agent, score_rows

    if check:
        broken = 0
        for stem in reference_agents():
            with waiting(f"{stem.name}: playing (compiling once) ..."):
                found = replay_agent(stem, seeds)
            broken += not found.holds
            console().print(escape(str(found)), soft_wrap=True)
        console().print(f"{len(reference_agents())} reference agents, {broken} outside their intervals")
        raise typer.Exit(1 if broken else 0)
    if write:
        write.write_text(page(), encoding="utf-8")
        console().print(f"wrote {escape(str(write))}", soft_wrap=True)
        return
    console().print(_numbers(HEAD, score_rows()))


def _numbers(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Table:
    """A table whose columns are numbers, but for the first."""
    table = Table(*head, box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows:
        table.add_row(*map(escape, row))
    return table


@app.command()
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
    games: Annotated[int, typer.Option(min=1, help="Games per pair, half of them with sides swapped.")] = 100,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File for the results as JSON.")] = None,
    level: Level = None,
    seed: Seed = 0,
    set: Set = None,
) -> None:
    """Let players play against each other, and rate them."""
    from rlenvs.agents.tournament import tournament as hold

    keywords = keywords_from(set, level)
    with waiting(f"{escape(id)}: compiling (once) and playing ..."):
        result = hold(id, _players_from(players), games, seed, make=keywords)
    console().print(escape(str(result)), soft_wrap=True)
    if output:
        result.save(output)
        console().print(f"wrote {escape(str(output))}", soft_wrap=True)


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


@app.command()
def dataset(
    id: Id,
    quality: Annotated[
        str, typer.Option(help="random, medium, expert, or replay: what a training run saw.")
    ] = "expert",
    episodes: Annotated[int, typer.Option(min=1, help="How many.")] = 100,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder of all datasets. Default: where Minari looks for them."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Of the dataset. Default: rlenvs/Name-v0/QUALITY-v0.")] = None,
    agent: Annotated[Path | None, typer.Option(help="File of an agent that plays in the expert's place.")] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Of the training run of replay.")] = None,
    level: Level = None,
    seed: Seed = 0,
    set: Set = None,
) -> None:
    """Record episodes as a Minari dataset, for offline learning."""
    from rlenvs.agents.datasets import check_quality, make_dataset

    keywords = keywords_from(set, level)
    check_quality(quality)
    compiled(id, keywords)
    with waiting(f"playing {episodes} episodes ..." if quality != "replay" else "training ..."):
        found = make_dataset(
            id, quality, episodes, folder=output, name=name, agent=agent, seed=seed, steps=steps, **keywords
        )
    console().print(escape(str(found)), soft_wrap=True)
    console().print(escape(found.usage), soft_wrap=True)


@app.command()
def check(id: Id, level: Level = None, set: Set = None) -> None:
    """Check an environment against all rules of the package. Exit code 1 when it breaks one."""
    from rlenvs.core.check import check as run_check

    keywords = keywords_from(set, level)
    compiled(id, keywords)
    with waiting(f"checking {escape(id)} ..."):
        report = run_check(id, **keywords)
    console().print(str(report), markup=False)
    raise typer.Exit(0 if report.passed else 1)


@app.command()
def doctor() -> None:
    """Show what is installed and what is missing, and test that environments work here."""
    from rlenvs import doctor as findings

    _print_lines("Packages", findings.package_lines(), "red")
    _print_lines("Extras", findings.extra_lines(), "yellow")
    _print_lines("Machine", findings.machine_lines(), "yellow")
    with waiting("compiling rlenvs/QuadHover-v0 (once) ..."):
        result = findings.self_test()
    _print_lines("Test", [result], "red")
    if not result.fine:
        raise typer.Exit(1)


def _print_lines(title: str, lines: list[Line], bad: str) -> None:
    table = Table(title, "", "", box=None, pad_edge=False, show_header=False)
    table.columns[1].min_width = 13
    for line in lines:
        mark = "[green]ok[/green]" if line.fine else f"[{bad}]--[/{bad}]"
        table.add_row(mark, line.subject, escape(line.text))
    console().print(f"[bold]{title}[/bold]")
    console().print(table)


# --- the demo ---------------------------------------------------------------------------------------------------------


@app.command()
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the pictures.")] = Path("demo"),
    steps: Annotated[int, typer.Option(min=1, help="Environment steps of training.")] = 500_000,
    seed: Seed = 0,
) -> None:
    """Watch PPO learn to hover a drone: about a minute from nothing to a flight."""
    from rlenvs.agents.demo import ID, check_plotting, save_curve, save_flight

    check_plotting()
    console().print(f"[bold]PPO learns {ID}[/bold]: fly a quadcopter to a goal by the speeds of its four rotors.\n")
    compiled(ID, {})
    result = _train_with_progress(steps, seed)
    console().print(_demo_table(result))
    console().print(
        "Score: mean return on the scale where random flight has 0 and the scripted expert 1.\n"
        "Success: within 0.1 m of the goal at the end. Trained with the reward term `distance` at weight 1, since "
        "the default reward hardly tells 0.1 m from 0.2 m; all policies are evaluated on the default reward.\n"
    )
    curve, flight = output / "learning_curve.png", output / "flight.gif"
    with waiting("drawing ..."):
        save_curve(result, curve)
        save_flight(result, flight)
    for path in (curve, flight):
        console().print(f"wrote {escape(str(path))}", soft_wrap=True)


def _train_with_progress(steps: int, seed: int) -> Demo:
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    with waiting("starting PPO ..."):
        import stable_baselines3  # noqa: F401

        from rlenvs.agents.demo import run_demo
    columns = (
        TextColumn("training"),
        BarColumn(bar_width=20),
        TextColumn("{task.completed:,.0f} steps"),
        TextColumn("{task.fields[rate]}"),
        TextColumn("return {task.fields[mean_return]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console()) as bar:
        task = bar.add_task("", total=steps, rate="", mean_return="...")

        def show(now: Any) -> None:
            mean_return = "..." if now.mean_return != now.mean_return else f"{now.mean_return:.0f}"
            rate = f"{_short(now.steps / now.seconds)}/s"
            bar.update(task, completed=min(now.steps, now.total), rate=rate, mean_return=mean_return)

        return run_demo(steps, seed, progress=show)


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
