"""What the commands share: the program, its errors, options, and keywords from texts."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from typer.core import TyperGroup

from rlenvs.core.declare.errors import ParameterError, RlenvsError, UnknownKeywordError, nearest, printable, shortened
from rlenvs.core.declare.progress import QUIET, progress

OF_BATCHES = ("threads", "backend")  # keywords of make that are not of the world
LONGEST = 3600.0  # s of a video
UNSEEN = ("dummy", "offscreen")  # drivers of SDL that draw windows for nobody
CONSTANTS = {"True": True, "False": False, "None": None}  # as Python writes them

# --- output -----------------------------------------------------------------------------------------------------------


def console() -> Console:
    """A console on the present standard output."""
    return Console(highlight=False)


def say(text: str) -> None:
    """A line of plain text: no markup, no control characters, never folded."""
    console().print(printable(text), markup=False, soft_wrap=True)


def say_written(*paths: Path) -> None:
    """What was written."""
    for path in paths:
        say(f"wrote {path}")


def table_of_numbers(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Table:
    """A table whose columns are numbers, but for the first; those that say nothing are left out."""
    lines = list(rows)
    kept = [j for j in range(len(head)) if j == 0 or any(line[j] for line in lines)]
    table = Table(*(head[j] for j in kept), box=None, pad_edge=False)
    table.columns[0].overflow = "fold"
    for column in table.columns[1:]:
        column.justify = "right"
    for line in lines:
        table.add_row(*(escape(printable(line[j])) for j in kept))
    return table


# --- the program ------------------------------------------------------------------------------------------------------


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
    help="Reinforcement-learning environments: list, inspect, play, record, train, evaluate and check them.",
    epilog="To start: rlenvs list, rlenvs info QuadHover-v0, rlenvs watch QuadHover-v0.",
)


def _version(wanted: bool) -> None:
    if wanted:
        from rlenvs.version import __version__

        say(f"rlenvs {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help=f"Do not print progress messages; same as {QUIET}=1.")
    ] = False,
) -> None:
    """What holds for all commands."""
    if quiet:
        os.environ[QUIET] = "1"


# --- arguments and options --------------------------------------------------------------------------------------------

Id = Annotated[str, typer.Argument(metavar="ID", help="Environment id, such as QuadHover-v0 (see rlenvs list).")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        "-s",
        metavar="NAME=VALUE",
        help="Set a parameter or option of the environment, such as mass=0.03 (see rlenvs info ID). Can be repeated.",
    ),
]
Text = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="Set an option of the texts: text_history, text_tokens, reply_tokens, fallback, and messages of teams. "
        "Can be repeated.",
    ),
]
Level = Annotated[
    str | None, typer.Option(metavar="NAME", help="Level (preset) of the environment; see rlenvs info ID.")
]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="Random seed; the same seed gives the same result.")]
Source = Annotated[
    str, typer.Argument(metavar="ID|FILE", help="Environment id, to use its reference agent, or an agent file.")
]
Algorithm = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Algorithm of the reference agent, such as PPO. Default: the best reinforcement learner, else one that "
        "imitates the expert.",
    ),
]
Against = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Scripted player for the opposing teams, in environments where teams compete."),
]
Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        help="Compute on the Ray cluster at this address, such as auto or HOST:6379. Results are the same.",
    ),
]


def keywords_from(pairs: list[str] | None, level: str | None = None, option: str = "--set") -> dict[str, Any]:
    """The keywords in "name=value" texts of an option; a value is JSON, or True, False or None as Python writes
    them, else a string."""
    keywords: dict[str, Any] = {} if level is None else {"level": level}
    for pair in pairs or []:
        name, equals, text = pair.partition("=")
        if not equals or not name.isidentifier():
            example = {"--set": "horizon=100", "--hyper": "gamma=0.99", "--text": "text_history=3"}[option]
            raise ParameterError(f"{option} {pair}: expected NAME=VALUE, for example {option} {example}")
        if name in ("self", "world"):  # names of arguments that are given anyway
            raise UnknownKeywordError(f"{option} {pair}: there is no keyword argument {name!r}")
        keywords[name] = _value_of(text)
    return keywords


def _value_of(text: str) -> Any:
    if text in CONSTANTS:
        return CONSTANTS[text]
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def text_keywords(pairs: list[str] | None, team: bool) -> dict[str, Any]:
    """Options of the texts in "name=value" texts, checked."""
    from rlenvs.core.declare.inputs import positive
    from rlenvs.core.forms.dialogue import TextOptions

    given = keywords_from(pairs, option="--text")
    known = [field.name for field in fields(TextOptions)] + ["messages"] * team
    for name in given:
        if name not in known:
            raise UnknownKeywordError(f"--text {name}: there is no such option. {nearest(name, known)}")
    TextOptions(**{name: value for name, value in given.items() if name != "messages"})
    positive("messages", given.get("messages", 1))
    return given


def checked(id: str, keywords: dict[str, Any]) -> dict[str, Any]:
    """The keywords; RlenvsError where the environment does not take them."""
    from rlenvs.core.catalogue.registry import world_of
    from rlenvs.core.declare.setup import Setup

    Setup(world_of(id), **{name: value for name, value in keywords.items() if name not in OF_BATCHES})
    return keywords


def compiled(id: str, keywords: dict[str, Any]) -> None:
    """Make the environment and step it, so that its kernels are compiled or loaded. The core says when it compiles."""
    from rlenvs.core.catalogue.make import make_batch
    from rlenvs.core.catalogue.registry import entry

    with progress(f"loading {entry(id).id}"):
        batch = make_batch(id, 1, **checked(id, keywords))
        batch.seed([0])
        batch.reset()
        batch.step_inplace()


# --- what `train` takes -----------------------------------------------------------------------------------------------

Ids = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ID", help="Environment id, such as QuadHover-v0 (see rlenvs list). With --todo: any number of ids."
    ),
]
Runs = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Output folder. Default: runs/ID, or runs/todo with --todo.")
]
Seeds = Annotated[
    int, typer.Option(min=1, metavar="N", help="Number of runs, one after the other, with seeds from --seed upwards.")
]
Steps = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Total environment steps. Default: from the settings.")
]
Learner = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="PPO, MaskablePPO, RecurrentPPO, PPOLagrangian, MAPPO, SAC, TQC, TD3, DDPG, DQN, QRDQN, DAgger or BC. "
        "Default: from the settings.",
    ),
]
Envs = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Number of parallel environments. Default: from the settings.")
]
Hyper = Annotated[
    list[str] | None,
    typer.Option("--hyper", metavar="NAME=VALUE", help="Set a hyperparameter, such as gamma=0.99. Can be repeated."),
]
Resume = Annotated[bool, typer.Option("--resume", help="Resume an interrupted run.")]
Tensorboard = Annotated[
    bool | None,
    typer.Option(
        "--tensorboard/--no-tensorboard", help="Write TensorBoard logs. Default: on if TensorBoard is installed."
    ),
]
Todo = Annotated[
    bool,
    typer.Option(
        "--todo", help="Train the reference agents that are still missing, for these environments or for all."
    ),
]
Workers = Annotated[int, typer.Option(min=1, metavar="N", help="With --todo: number of parallel runs.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="With --todo: list the runs without training.")]


# --- files ------------------------------------------------------------------------------------------------------------


def check_screen(otherwise: str) -> None:
    """ParameterError where a window could not be seen.

    Args:
        otherwise: what to do without one, for the message.
    """
    driver = os.environ.get("SDL_VIDEODRIVER", "").lower()
    found = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    if driver in UNSEEN or (sys.platform == "linux" and not found and not driver):
        why = f"SDL_VIDEODRIVER is {driver!r}" if driver else "neither DISPLAY nor WAYLAND_DISPLAY is set"
        raise ParameterError(f"no display to open a window on ({why}); {otherwise}")


def check_output(path: Path) -> Path:
    """The path of a file that is to be written; its folder is made.

    Raises:
        ParameterError: it cannot be written. Better now than after minutes of work.
    """
    if os.path.isdir(path):
        raise ParameterError(f"{path} is a folder; give a file name")
    check_folder(path.parent)
    try:
        there = path.exists()
        if there and not os.access(path, os.W_OK):
            raise PermissionError(13, "Permission denied")
        if not there:  # a name that is too long is found now
            path.touch()
            path.unlink()
    except OSError as error:
        raise ParameterError(f"{shortened(str(path))} cannot be written: {error.strerror}") from None
    return path


def check_folder(folder: Path) -> Path:
    """A folder for files that are to be written; it is made where it is missing. ParameterError where it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(13, "Permission denied")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ParameterError(f"folder {shortened(str(folder))} is not writable: {reason}") from None
    return folder
