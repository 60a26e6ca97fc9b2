"""Commands on environments: list, describe, play, record, benchmark and check them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from rlenvs.cli.common import (
    LONGEST,
    Id,
    Level,
    Seed,
    Set,
    app,
    check_folder,
    check_output,
    check_screen,
    checked,
    compiled,
    console,
    keywords_from,
    say,
    say_written,
)
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.progress import counted, progress

if TYPE_CHECKING:
    from rlenvs.core.declare.setup import Setup
    from rlenvs.core.declare.spec import World

PANEL = "Environments"
MOST_NAMES = 52  # of choices that are told one by one
LEAST_WIDTH = 30  # of the text beside an id


@app.command("list", rich_help_panel=PANEL)
def list_command(
    tag: Annotated[
        str | None,
        typer.Option(
            metavar="TAG",
            help="List only environments with this tag: single, multi-agent, robotics, safe or multi-objective.",
        ),
    ] = None,
) -> None:
    """List the environments."""
    from rlenvs.core.catalogue.registry import list_envs

    found = list_envs(tag)
    ids = [id for id in found if not id.startswith("rlenvs/mo-")]
    console().print(_listed(ids, console().width))
    say(f"\n{len(ids)} environments. For details of one: rlenvs info ID")
    if len(ids) < len(found):
        say(
            "Multi-objective environments also exist as rlenvs/mo-Name-v0, with a vector reward: one entry per reward "
            "term."
        )


def _listed(ids: list[str], width: int) -> Table:
    """Ids are never cut: summaries wrap, and go below the ids on narrow terminals."""
    from rlenvs.core.catalogue.docs import summary
    from rlenvs.core.catalogue.registry import catalogue, world_of

    widest = max(map(len, ids))
    beside = width >= widest + 2 + LEAST_WIDTH
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=beside, overflow="fold")
    for id in ids:
        row = catalogue[id]
        about = f"{escape(row.summary or summary(world_of(id).doc))} [dim]({', '.join(row.tags)})[/dim]"
        table.add_row(f"[bold]{id}[/bold]", about) if beside else table.add_row(f"[bold]{id}[/bold]\n{about}")
    return table


@app.command(rich_help_panel=PANEL)
def info(
    id: Id,
    short: Annotated[bool, typer.Option("--short", help="Print only the summary table, not the full page.")] = False,
) -> None:
    """Describe an environment: summary, spaces, rewards, costs, parameters, levels and scores."""
    from rich.markdown import Markdown

    from rlenvs.core.catalogue.docs import page
    from rlenvs.core.catalogue.registry import entry, world_of

    console().print(_summary(entry(id).id, world_of(id)))
    if not short:
        console().print()
        console().print(Markdown(page(world_of(id))))


def _summary(id: str, world: World) -> Table:
    """What the environment is, its actions and observations, and how to run it."""
    from rlenvs.core.catalogue.docs import sentence
    from rlenvs.core.declare.parts import limits_of
    from rlenvs.core.declare.setup import Setup

    setup = Setup(world)
    agents = f"{setup.agents}, {'one team' if len(set(setup.teams)) == 1 else f'{len(set(setup.teams))} teams'}"
    rows = [
        ("Action", _action_words(setup)),
        ("Observation", _observation_words(setup)),
        ("Agents", agents if world.agents else "1"),
        ("Reward", ", ".join(f"{name} x {term.weight:g}" for name, term in world.terms.items())),
        ("Costs", ", ".join(limits_of(world.costs)) or "none"),
        ("Horizon", f"{setup.horizon} steps, {setup.horizon / setup.fps:.3g} s at {setup.fps:g} steps/s"),
        ("Levels", ", ".join(world.levels) or "none"),
        ("Scores", ", ".join(f"{name} {score.mean:.4g}" for name, score in world.scores.items()) or "none"),
        ("Run it", f'import rlenvs; env = rlenvs.{"parallel_env" if world.agents else "make"}("{id}")'),
        ("See it", "\n".join(f"rlenvs {command} {world.name}" for command in ("watch", "play", "record"))),
    ]
    table = Table(box=None, pad_edge=False, show_header=False, title_justify="left", title_style="")
    table.title = f"[bold]{id}[/bold]\n{escape(sentence(world.doc))}\n"
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in rows:
        table.add_row(f"[bold]{name}[/bold]", escape(text))
    return table


def _action_words(setup: Setup) -> str:
    names = setup.action.labels
    labels = ", ".join(names if len(names) <= MOST_NAMES else (*names[:2], "...", names[-1])) or setup.action.doc
    if setup.action_kind == "multi":
        counts = " x ".join(map(str, setup.choices))
        return f"choices of {counts}: {labels}" if labels else f"choices of {counts}"
    kind = f"{setup.action_size} numbers in [-1, 1]" if setup.continuous else f"one of {setup.action_size} choices"
    return f"{kind}: {labels}" if labels else kind


def _observation_words(setup: Setup) -> str:
    if not setup.world.observation or setup.alone:
        return ", ".join(f"an image {shape}: {name}" for name, shape in setup.image_shapes.items())
    shape = setup.observation_shape
    if not shape:
        return f"{setup.observation_space}: {', '.join(setup.world.observation)}"
    kind = f"{shape[0]} numbers" if len(shape) == 1 else f"numbers of shape {shape}"
    images = "".join(f", and an image {shape}" for shape in setup.image_shapes.values())
    blocks = setup.world.observation.items()
    names = [name for name, part in blocks if all(setup.sizes[d] if isinstance(d, str) else d for d in part.shape)]
    return f"{kind}{images}: {', '.join(names)}"


@app.command(rich_help_panel=PANEL)
def play(
    id: Id,
    level: Level = None,
    seed: Seed = 0,
    set: Set = None,
    browser: Annotated[
        bool,
        typer.Option(
            "--browser",
            help="Play in a page of the browser, which also has sliders for parameters, and the scripted and trained "
            "policies. Without --set.",
        ),
    ] = False,
) -> None:
    """Play an environment with the keyboard."""
    from rlenvs.core.catalogue.registry import world_of
    from rlenvs.play import Game, key_table

    keywords = checked(id, keywords_from(set, level))
    if browser:
        if set:
            raise ParameterError("--browser and --set exclude each other; change parameters in the page")
        _play_in_browser(id, level, seed)
        return
    keys = key_table(id, **keywords)
    check_screen(
        f"play in a browser: rlenvs play {world_of(id).name} --browser; or record a video: "
        f"rlenvs record {world_of(id).name} --output FILE.gif"
    )
    table = Table("Key", "Action", box=None, pad_edge=False)
    for key, meaning in [*keys, ("R", "restart"), ("Esc", "quit")]:
        table.add_row(f"[bold]{key}[/bold]", escape(meaning))
    console().print(table)
    compiled(id, keywords)
    Game(id, seed, report=say, **keywords).run()


def _play_in_browser(id: str, level: str | None, seed: int) -> None:
    """Write the page of an environment to a folder that is removed afterwards, and serve it until Ctrl+C."""
    import tempfile
    import threading
    import webbrowser
    from urllib.parse import urlencode

    from rlenvs.core.catalogue.registry import world_of
    from rlenvs.live.export import write_environment, write_static
    from rlenvs.live.server import served

    with tempfile.TemporaryDirectory(prefix="rlenvs-") as folder:
        with progress(f"writing the page of {world_of(id).name}"):
            write_static(Path(folder))
            write_environment(id, Path(folder))
        with served(Path(folder)) as address:
            query = urlencode({"seed": seed, **({"level": level} if level else {}), "who": "you"})
            page = f"{address}/{world_of(id).name}/?{query}"
            say(f"{page}\nServed until Ctrl+C.")
            try:
                webbrowser.open(page)
                threading.Event().wait()
            except KeyboardInterrupt:
                say("")


@app.command(rich_help_panel=PANEL)
def export(
    id: Annotated[
        str, typer.Argument(metavar="ID", help="Environment id, or MODULE:SPEC of an environment of your own.")
    ],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Output folder; several environments can share it.")],
    kernels: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder of kernels as WebAssembly, as run.py kernels builds it; missing ones are built there. "
            "Default: in the cache folder.",
        ),
    ] = None,
) -> None:
    """Write the page of an environment, played by its own kernels, for any web server."""
    from rlenvs.live.export import world_at, write_environment, write_static

    if ":" in id:
        sys.path.insert(0, "")  # a module in this folder
    check_folder(folder)
    with progress(f"writing the page of {world_at(id).name}"):
        write_static(folder)
        own = write_environment(id, folder, kernels)
    say_written(own / "index.html")


@app.command(rich_help_panel=PANEL)
def record(
    id: Id,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Output file: .gif, .webp or .mp4. Default: Name-v0.gif."),
    ] = None,
    policy: Annotated[
        str, typer.Option(metavar="NAME", help="Policy to record: expert (scripted) or random.")
    ] = "expert",
    seconds: Annotated[float, typer.Option(min=0.1, max=LONGEST, metavar="SECONDS", help="Length of the video.")] = 8.0,
    diagram: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Instead of a video a diagram of an episode, a .png file, where there is one."
        ),
    ] = None,
    level: Level = None,
    seed: Seed = 0,
    set: Set = None,
) -> None:
    """Record a video of an environment, played by the scripted expert or at random."""
    if diagram is not None:
        _record_diagram(id, diagram, output, policy, seed, keywords_from(set, level))
        return
    from rlenvs.agents.evaluate import check_policy
    from rlenvs.agents.video import check_file, pace, save, video
    from rlenvs.core.catalogue.registry import world_of
    from rlenvs.core.declare.setup import Setup
    from rlenvs.core.forms.render import check_image

    world, keywords = world_of(id), keywords_from(set, level)
    path = output or Path(f"{world.name}.gif")
    check_file(path)
    check_policy(world, policy)
    check_image(world)
    checked(id, keywords)
    check_output(path)
    compiled(id, keywords)
    own = Setup(world, **keywords).fps
    every, fps = pace(path, own)
    frames = video(id, policy, seed, seconds, every, **keywords)
    save(path, counted(frames, f"recording {seconds:g} s", round(seconds * own) // every), fps)
    say_written(path)


def _record_diagram(id: str, name: str, output: Path | None, policy: str, seed: int, keywords: dict[str, Any]) -> None:
    from rlenvs.agents.video import diagram, save_image
    from rlenvs.core.catalogue.registry import world_of

    path = output or Path(f"{world_of(id).name}.png")
    if path.suffix.lower() != ".png":
        raise ParameterError(f"{path.name!r} must end in .png")
    checked(id, keywords)
    check_output(path)
    compiled(id, keywords)
    with progress(f"playing an episode of {world_of(id).name}"):
        image = diagram(id, name, policy, seed, **keywords)
    save_image(path, image)
    say_written(path)


@app.command(rich_help_panel=PANEL)
def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Replay file (JSON).")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write a video (.gif, .webp or .mp4). Default: open a window."
        ),
    ] = None,
) -> None:
    """Verify a recorded replay, then watch it or save it as a video."""
    from rlenvs.agents.replay import Replay
    from rlenvs.agents.video import check_file, pace, save

    if output:
        check_file(output)
        check_output(output)
    with progress("verifying the replay"):
        found = Replay.load(file)
    say(f"{found.id}: {len(found)} steps, reproduced exactly")
    if output is None:
        check_screen("write a video with --output FILE.gif, .webp or .mp4")
        found.watch()
        return
    every, fps = pace(output, found.fps)
    save(output, counted(found.frames(every), "recording", len(found) // every + 1), fps)
    say_written(output)


@app.command(rich_help_panel=PANEL)
def bench(
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Environment ids. Default: all.")] = None,
    seconds: Annotated[
        float, typer.Option(min=0.01, max=LONGEST, metavar="SECONDS", help="Duration of each measurement.")
    ] = 0.5,
    set: Set = None,
) -> None:
    """Measure environment steps per second with random actions."""
    from rlenvs.bench import time_batch, time_single
    from rlenvs.core.catalogue.registry import entry, list_envs

    keywords = keywords_from(set)
    chosen = [entry(id).id for id in ids or [id for id in list_envs() if not id.startswith("rlenvs/mo-")]]
    for id in chosen:
        checked(id, keywords)
    batches = [(1, 1), (64, 1), (4096, 1), (4096, 2)]
    table = Table(
        "Environment", "single", *(_batch_head(n, threads) for n, threads in batches), box=None, pad_edge=False
    )
    for column in table.columns[1:]:
        column.justify = "right"
    with progress("measuring", total=len(chosen) * (1 + len(batches))) as tell:
        for n, id in enumerate(chosen):
            tell(n * (1 + len(batches)), id)
            time_single(id, 0.0, **keywords)
            numbers = [time_single(id, seconds, **keywords)]
            for num_envs, threads in batches:
                tell(n * (1 + len(batches)) + len(numbers))
                numbers.append(time_batch(id, num_envs, threads, seconds, **keywords))
            table.add_row(id.removeprefix("rlenvs/"), *map(short_number, numbers))
    console().print("Environment steps per second with random actions, including resets.\n")
    console().print(table)


def _batch_head(num_envs: int, threads: int) -> str:
    return f"batch of\n{num_envs}" + (f",\n{threads} threads" if threads > 1 else "")


def short_number(number: float) -> str:
    """A number with three digits and the letter of its thousands."""
    for unit, letter in ((1e6, " M"), (1e3, " k")):
        if number >= 0.9995 * unit:
            return f"{number / unit:.3g}{letter}"
    return f"{number:.3g}"


@app.command(rich_help_panel=PANEL)
def check(
    id: Id,
    long: Annotated[
        bool,
        typer.Option(
            "--long", help="Also look for rare faults: a million steps, and every level to the end of its episodes."
        ),
    ] = False,
    level: Level = None,
    set: Set = None,
) -> None:
    """Check an environment against the rules of the package. The exit code is 1 if it breaks one."""
    from rlenvs.core.check import check_env as run_check

    keywords = keywords_from(set, level)
    compiled(id, keywords)
    report = run_check(id, long=long, **keywords)
    say(str(report))
    raise typer.Exit(0 if report.passed else 1)
