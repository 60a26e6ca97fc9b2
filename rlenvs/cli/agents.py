"""Commands on agents: watch, evaluate, train, rate in tournaments, record datasets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from rlenvs.cli.common import (
    LONGEST,
    Against,
    Algorithm,
    DryRun,
    Envs,
    Hyper,
    Id,
    Ids,
    Learner,
    Level,
    Ray,
    Resume,
    Runs,
    Seed,
    Seeds,
    Set,
    Source,
    Steps,
    Tensorboard,
    Todo,
    Workers,
    app,
    check_folder,
    check_output,
    check_screen,
    compiled,
    console,
    keywords_from,
    say,
    say_written,
    table_of_numbers,
)
from rlenvs.core.declare.errors import ParameterError, UnknownNameError
from rlenvs.core.declare.progress import counted, progress

if TYPE_CHECKING:
    from rlenvs.agents.demo import Demo

PANEL = "Agents"


@app.command(rich_help_panel=PANEL)
def watch(
    source: Source,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write a video (.gif, .webp or .mp4). Default: open a window."
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0.1, max=LONGEST, metavar="SECONDS", help="Duration. Default: 8 for videos, unlimited for windows."
        ),
    ] = None,
    against: Against = None,
    algorithm: Algorithm = None,
    level: Level = None,
    seed: Seed = 0,
    set: Set = None,
) -> None:
    """Watch an agent in a window, or save a video of it."""
    from rlenvs.agents.scores import find_agent
    from rlenvs.agents.video import check_file, pace, save, video
    from rlenvs.agents.video import watch as show
    from rlenvs.core.catalogue.registry import world_of
    from rlenvs.core.declare.setup import Setup

    if output:
        check_file(output)
        check_output(output)
    id, agent, keywords = find_agent(source, keywords_from(set, level), algorithm)
    say(_introduced(agent))
    agent.check(Setup(world_of(id), **keywords))
    _check_against(id, against, keywords)
    if output is None:
        check_screen("write a video with --output FILE.gif, .webp or .mp4")
    compiled(id, keywords)
    if output is None:
        say("Press Esc to close the window.")
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
    from rlenvs.core.catalogue.registry import world_of
    from rlenvs.core.declare.setup import Setup

    if against is not None:
        world = world_of(id)
        check_opponent(world, np.array(Setup(world, **keywords).teams), against)


@app.command("eval", rich_help_panel=PANEL)
def eval_command(
    source: Source,
    seeds: Annotated[int, typer.Option(min=1, metavar="N", help="Episodes per policy, one per seed.")] = 100,
    seed: Seed = 0,
    against: Against = None,
    algorithm: Algorithm = None,
    level: Level = None,
    every_level: Annotated[
        bool, typer.Option("--every-level", help="A line for each level, those that the agent never saw too.")
    ] = False,
    set: Set = None,
    ray: Ray = None,
) -> None:
    """Evaluate an agent alongside random actions and the scripted expert, on the same seeds."""
    from rlenvs.agents.evaluate import check_seeds
    from rlenvs.agents.scores import compare, comparison_rows, find_agent_or_reason
    from rlenvs.core.catalogue.registry import world_of
    from rlenvs.core.catalogue.score_cells import has_success

    check_seeds(range(seed, seed + seeds))
    _refuse(["--level"] * (every_level and level is not None), "cannot be combined with --every-level")
    id, agent, keywords, reason = find_agent_or_reason(source, keywords_from(set, level), algorithm)
    _check_against(id, against, keywords)
    compiled(id, keywords)
    if every_level:
        _compare_levels(id, agent, range(seed, seed + seeds), against, keywords)
        say(reason or _introduced(agent))
        return
    found = compare(id, agent, range(seed, seed + seeds), against, ray, **keywords)
    chosen = "".join(f", {name}={value}" for name, value in keywords.items())
    say(f"{id}{chosen}: {seeds} seeds from {seed}")
    head = ("Policy", "Mean return", "Score", "Success", "Cost", "Limit", "Length")
    console().print(table_of_numbers(head, comparison_rows(found, has_success(world_of(id)))))
    say(reason or _introduced(agent))


def _compare_levels(id: str, agent: Any, seeds: range, against: str | None, keywords: dict[str, Any]) -> None:
    """Print a line for each level, without the agent where it does not fit."""
    from rlenvs.agents.scores import compare, return_cell
    from rlenvs.core.catalogue.registry import world_of
    from rlenvs.core.declare.setup import Setup

    world = world_of(id)
    if not world.levels:
        raise ParameterError(f"{id} has no levels; leave --every-level out")
    chosen = {name: value for name, value in keywords.items() if name != "level"}

    def fits(level: str) -> bool:
        try:
            agent.check(Setup(world, level=level, **chosen), "the agent")
        except ParameterError:
            return False
        return True

    found = {
        level: compare(id, agent if agent is not None and fits(level) else None, seeds, against, level=level, **chosen)
        for level in world.levels
    }
    names = max(found.values(), key=len)
    rows = [
        (level, *(return_cell(row[name]) if name in row else "-" for name in names)) for level, row in found.items()
    ]
    say(f"{id}: mean return, {len(seeds)} seeds from {seeds.start}")
    console().print(table_of_numbers(("Level", *names), rows))


def _introduced(agent: Any) -> str:
    """The agent's algorithm and training steps; also says if it did not learn from reward."""
    return f"agent: {agent.card.learner}, {agent.card.steps:,} steps"


@app.command(rich_help_panel=PANEL)
def train(  # 16 parameters: one for each option of the command
    ids: Ids = None,
    output: Runs = None,
    seeds: Seeds = 1,
    seed: Seed = 0,
    steps: Steps = None,
    algorithm: Learner = None,
    envs: Envs = None,
    hyper: Hyper = None,
    resume: Resume = False,
    tensorboard: Tensorboard = None,
    level: Level = None,
    set: Set = None,
    todo: Todo = False,
    workers: Workers = 1,
    dry_run: DryRun = False,
    ray: Ray = None,
) -> None:
    """Train an agent with the environment's settings. Ctrl-C saves a checkpoint and the best agent so far."""
    from rlenvs.agents.training_view import Request, train_with_view

    given: dict[str, Any] = {
        "--seeds": seeds > 1,
        "--seed": seed > 0,
        "--steps": steps,
        "--algorithm": algorithm,
        "--envs": envs,
    }
    given |= {"--hyper": hyper, "--level": level, "--set": set, "--resume": resume, "--tensorboard": tensorboard}
    if todo:
        _refuse(
            [name for name, value in given.items() if value],
            "cannot be combined with --todo, which takes everything from the settings files",
        )
        _train_todo(ids or None, output or Path("runs/todo"), workers, dry_run, ray)
        return
    _refuse(["--workers"] * (workers > 1) + ["--dry-run"] * dry_run + ["--ray"] * bool(ray), "requires --todo")
    if not ids:
        raise ParameterError("no environment given; name one, such as QuadHover-v0. Run `rlenvs list` to see all")
    if len(ids) > 1:
        raise ParameterError(
            f"several environments given ({', '.join(ids)}); give one, or use --todo to train them one after the other"
        )
    request = Request(
        id=ids[0],
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


def _refuse(names: list[str], words: str) -> None:
    if names:
        raise ParameterError(f"{', '.join(names)} {words}")


def _train_todo(ids: list[str] | None, output: Path, workers: int, dry_run: bool, ray: str | None) -> None:
    from rlenvs.agents.queue import summary, todo, work, work_on_cluster

    jobs = todo(ids)
    say(summary(jobs))
    if dry_run:
        for job in jobs:
            say(str(job))
        return
    if ray:
        _refuse(["--workers"] * (workers > 1), "cannot be combined with --ray: the cluster decides")
        work_on_cluster(jobs, output, ray, say)
        return
    stopped = work(jobs, output, workers, say)
    if stopped:
        raise typer.Exit(128 + stopped)


@app.command(rich_help_panel=PANEL)
def plot(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="ID...|RUN",
            help="Environment ids, to draw their published curves; or the output folder of one or more training runs.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Output file: .png, .pdf or .svg. Default: learning_curve.png in RUN or in the current folder.",
        ),
    ] = None,
    x: Annotated[str, typer.Option("--x", metavar="NAME", help="X axis: steps or seconds (wall time).")] = "steps",
    y: Annotated[
        str | None,
        typer.Option(
            "--y", metavar="NAME", help="Y axis: return, success or cost. Default: return; all three for training runs."
        ),
    ] = None,
) -> None:
    """Plot learning curves of training runs, or the published curves of environments side by side."""
    from rlenvs.agents import plots
    from rlenvs.agents.curves import read_curves
    from rlenvs.agents.files import is_id

    of_ids = [is_id(source) for source in sources]
    if len(sources) > 1 and not all(of_ids):
        raise ParameterError(
            f"{sources[of_ids.index(False)]!r} is not an environment id; to plot several curves, give ids only"
        )
    path = output or (Path() if of_ids[0] else Path(sources[0])) / "learning_curve.png"
    plots.check_file(path)
    plots.check_axes(x, y)
    plots.check_plotting()
    if of_ids[0]:
        panels = [panel for source in sources for panel in plots.panels_of(source, y or "return")]
        plots.save_panels(panels, check_output(path), x, y or "return")
    else:
        curves = read_curves(sources[0])
        plots.save_runs(curves, check_output(path), sources[0], x, y)
    say_written(path)


@app.command(rich_help_panel=PANEL)
def tournament(
    id: Id,
    players: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PLAYER]...",
            help="Scripted players, random, or NAME=FILE for an agent (.safetensors) or a saved model (.zip). "
            "Default: all scripted players and random.",
        ),
    ] = None,
    games: Annotated[
        int, typer.Option(min=1, metavar="N", help="Games per pair of players; of two teams, half with teams swapped.")
    ] = 100,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the results as JSON.")
    ] = None,
    level: Level = None,
    seed: Seed = 0,
    set: Set = None,
    ray: Ray = None,
) -> None:
    """Run a round-robin tournament between players and rate them; where all agents are one team, show what each pair
    of players reaches together."""
    from rlenvs.agents.cross_play import cross_play, is_one_team
    from rlenvs.agents.tournament import tournament as hold

    keywords = keywords_from(set, level)
    if output:
        check_output(output)
    play = cross_play if is_one_team(id) else hold
    result = play(id, _players_from(players), games, seed, make=keywords, ray=ray)
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
            raise ParameterError(f"two players are named {name!r}; rename one with NAME=FILE")
        named[name] = file if equals else text
    return named or None


@app.command(rich_help_panel=PANEL)
def dataset(
    id: Id,
    quality: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="random, medium, expert, replay (the experience of a training run), a dataset that the environment "
            "declares (rlenvs info ID lists them), or all of the latter.",
        ),
    ] = "expert",
    episodes: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Episodes to record.  [default: 100]", show_default=False)
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Dataset root folder. Default: Minari's."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Dataset name. Default: rlenvs/Name-v0/QUALITY-v0.")
    ] = None,
    agent: Annotated[Path | None, typer.Option(metavar="FILE", help="Agent to record instead of the expert.")] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="With --quality replay: steps of the training run.")
    ] = None,
    level: Level = None,
    seed: Seed = 0,
    set: Set = None,
) -> None:
    """Record episodes as a dataset for offline reinforcement learning, with a card of what is in it."""
    from rlenvs.agents.datasets import check_quality, make_dataset
    from rlenvs.agents.recipes import recipes_of

    keywords = keywords_from(set, level)
    names = list(recipes_of(id)) if quality == "all" else [quality]
    if not names:
        raise UnknownNameError(f"{id} declares no datasets; give --quality random, medium, expert or replay")
    if name and quality == "all":
        raise ParameterError("--name cannot be combined with --quality all, which records several datasets")
    for each in names:
        check_quality(each, id)
    if output:
        check_folder(output)
    compiled(id, keywords)
    for each in names:
        found = make_dataset(
            id, each, episodes, folder=output, name=name, agent=agent, seed=seed, steps=steps, **keywords
        )
        say(str(found))
        say(found.usage)


@app.command(rich_help_panel=PANEL)
def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Output folder for the images.")
    ] = Path("demo"),
    steps: Annotated[int, typer.Option(min=1, metavar="N", help="Training steps.")] = 500_000,
    seed: Seed = 0,
) -> None:
    """Train PPO to hover a drone, in about a minute, and write a learning curve and a video."""
    from rlenvs.agents.demo import ID, check_plotting, run_demo, save_curve, save_flight

    check_plotting()
    check_folder(output)
    console().print(f"[bold]PPO learns {ID}[/bold]: fly a quadcopter to a goal by setting its four rotor speeds.\n")
    compiled(ID, {})
    result = run_demo(steps, seed)
    console().print(_demo_table(result))
    console().print(
        "Score: mean return, scaled so that random actions score 0 and the scripted expert 1.\n"
        "Success: within 0.1 m of the goal at the end. PPO was trained with weight 1 on the reward term `distance`, "
        "because the default reward barely distinguishes 0.1 m from 0.2 m. All policies are evaluated on the default "
        "reward.\n"
    )
    curve, flight = output / "learning_curve.png", output / "flight.gif"
    with progress("drawing"):
        save_curve(result, curve)
        save_flight(result, flight)
    say_written(curve, flight)


def _demo_table(result: Demo) -> Table:
    from rlenvs.core.catalogue.score_cells import cost_cells

    table = Table("Policy", "Mean return", "Score", "Success", "Cost", "Limit", title=f"{_seeds(result)} episodes each")
    names = {"random": "random", "ppo": "[bold]PPO[/bold]", "expert": "scripted expert"}
    for key, name in names.items():
        row = result.evaluations[key]
        interval = f"{row.mean:.1f} ± {row.half_width:.1f}"
        success = f"{100 * row.success_rate:.0f} %"
        worst, limit, _ = cost_cells(row.mean_costs, row.limits)
        table.add_row(name, interval, f"{result.scaled(key):.3f}", success, worst, limit)
    for column in table.columns[1:]:
        column.justify = "right"
    return table


def _seeds(result: Demo) -> int:
    return len(result.evaluations["ppo"].seeds)
