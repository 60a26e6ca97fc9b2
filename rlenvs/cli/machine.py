"""Commands on this machine: diagnose the installation, compile environments."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from rlenvs.cli.common import Set, app, checked, console, keywords_from, say
from rlenvs.core.declare.errors import CacheError, KernelError, MissingExtraError
from rlenvs.core.declare.progress import progress

if TYPE_CHECKING:
    from rlenvs.core.batch.kernel_batch import KernelBatch
    from rlenvs.doctor import Line

PANEL = "This machine"
MOST_JOBS, MOST_PER_JOB = 4, 4  # processes by default; environments after which a process is replaced by a new one


@app.command(rich_help_panel=PANEL)
def doctor(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="Only show where the compiled code of these environments comes from."),
    ] = None,
) -> None:
    """Show installed and missing packages, where compiled code comes from, and test that environments run."""
    import rlenvs.doctor as findings

    if ids:
        _print_lines("Compiled code", findings.kernel_lines(ids), "red")
        return
    _print_lines("Packages", findings.package_lines(), "red")
    _print_lines("Extras", findings.extra_lines(), "yellow")
    _print_lines("Machine", findings.machine_lines(), "yellow")
    with progress("looking for compiled code"):
        kernels = findings.kernel_summary()
    _print_lines("Compiled code, by kind of environment", kernels, "yellow")
    with progress("flying QuadHover"):
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


@app.command("compile", rich_help_panel=PANEL)
def compile_command(
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Environments; all by default.")] = None,
    jobs: Annotated[
        int, typer.Option(min=1, max=256, metavar="N", help="Number of processes; each needs up to 1.5 GB of memory.")
    ] = min(os.cpu_count() or 1, MOST_JOBS),
    set: Set = None,
) -> None:
    """Compile environments in advance and cache the result.

    RLENVS_CACHE_DIR sets the cache folder. Options that change the action space (--set) need separate code. The exit
    code is 1 if an environment fails to compile or the cache is not writable.
    """
    from rlenvs.core.catalogue.registry import entry, list_envs
    from rlenvs.core.check import one_per_kind
    from rlenvs.core.compiler.cache import cache_folders
    from rlenvs.core.compiler.installed import need_numba

    need_numba("environments")
    keywords = keywords_from(set)
    chosen = [entry(id).id for id in ids or one_per_kind(list_envs())]  # members of a kind share their code
    folder = next((folder for folder in cache_folders() if os.access(folder, os.W_OK)), None)
    if folder is None:
        raise CacheError("no writable folder for compiled code; set RLENVS_CACHE_DIR to a folder that you own")
    if ids:
        for id in chosen:
            checked(id, keywords)
    failed = 0
    context = multiprocessing.get_context("spawn")
    with (
        context.Pool(min(jobs, len(chosen)), maxtasksperchild=MOST_PER_JOB) as pool,
        progress("compiling", total=len(chosen)) as tell,
    ):
        attempts = pool.imap_unordered(_attempt, [(id, keywords) for id in chosen])
        for done, (id, text, fine) in enumerate(attempts):
            failed += not fine
            say(f"{id}: {text}")
            tell(done + 1, id)
    say(f"The compiled code is in {folder}")
    raise typer.Exit(1 if failed else 0)


def _attempt(job: tuple[str, dict[str, Any]]) -> tuple[str, str, bool]:
    """Compile an environment, an id with keywords; returns the id, what there is to say, and whether all is well. One
    whose engine is not installed is left out."""
    id, keywords = job
    start = time.monotonic()
    try:
        _compile(id, keywords)
    except MissingExtraError as error:
        return id, f"left out. {error}", True
    except KernelError as error:
        return id, f"failed. {error}", False
    return id, f"{time.monotonic() - start:.1f} s", True


def _compile(id: str, keywords: dict[str, Any]) -> None:
    """Call everything that is compiled for an environment."""
    from rlenvs.core.batch.loops import LEAST_IN_LANES
    from rlenvs.core.catalogue.make import make_batch
    from rlenvs.core.catalogue.registry import world_of

    worlds = LEAST_IN_LANES if world_of(id).lanes else 2
    batch = make_batch(id, worlds, **{"threads": 2, **checked(id, keywords)})  # with the code that shares worlds
    try:
        batch.seed(range(worlds))
        batch.reset()
        batch.step_inplace()
        _ask_everything(batch)
    finally:
        batch.close()


def _ask_everything(batch: KernelBatch) -> None:
    """What is compiled when it is first asked for: players, experts, central states, barriers, rewards of goals."""
    import numpy as np

    world, setup = batch.world, batch.setup
    batch.central()
    if world.has_expert:
        batch.expert_actions()
    if world.players:
        batch.player_actions(world.players[0])
    if world.goal and not setup.beside_goals:
        batch.compute_reward(*np.zeros((2, 1, setup.goal_size), np.float32))
    if world.barriers:
        with contextlib.suppress(NotImplementedError):  # none with these options
            batch.barriers(np.zeros(batch.proposal_shape))
