"""The command that builds libraries of kernels, and verifies them."""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from rlenvs.core.catalogue.registry import NAMESPACE, entry, list_envs, world_of
from rlenvs.core.check import one_per_kind
from rlenvs.core.check.libraries.session import STEPS
from rlenvs.core.check.libraries.verify import EQUAL, players, verified
from rlenvs.core.compiler import ready
from rlenvs.core.compiler.ahead.libraries import Library, build_libraries, prepare, seconds_used
from rlenvs.core.compiler.ahead.loops import Call, build_loops_library, call_of, functions_of
from rlenvs.core.compiler.ahead.manifest import add_libraries, add_loops, keep_only
from rlenvs.core.compiler.ahead.targets import TARGETS, BuildError
from rlenvs.core.compiler.ahead.threads import build_threads_library
from rlenvs.core.compiler.build import driver, key_of_library
from rlenvs.core.compiler.cache import cache_folders
from rlenvs.core.compiler.keys import threads_key
from rlenvs.core.compiler.loops import Loop, watch
from rlenvs.core.declare.errors import KernelError, MissingExtraError
from rlenvs.core.declare.progress import progress
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World
from rlenvs.core.declare.values import engine_of

FOLDER = Path("build", "kernels")
ASKED = 'ids, or "ID/LEVEL"; one of each kind by default, and what is of no kind any more goes'
PAGES = "wasm32"  # the target of live pages
PLAYED = "rlenvs.loops_played"  # which the core does not import otherwise
# of processes that build: the same code on every machine. numba's first passes look at the processor, and sets of texts
# have another order in each process
REPEATABLE = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "PYTHONHASHSEED": "0"}


class Built(NamedTuple):
    """What became of a kind: its libraries, or why there are none, and seconds of a processor for all of it."""

    id: str
    libraries: list[Library]
    fault: str = ""
    seconds: float = 0.0


def further_worlds() -> dict[str, World]:
    """Worlds outside the catalogue that need a library, too, by name."""
    found: dict[str, World] = import_module(PLAYED).further_worlds()
    return found


def world_named(name: str) -> World:
    """A world of the catalogue ("Name-v0"), at a level ("Name-v0/level"), or one of `further_worlds`."""
    id, _, level = name.removeprefix(f"{NAMESPACE}/").partition("/")
    return further_worlds().get(name) or world_of(id).level(level or None)


def levels_apart(ids: Iterable[str]) -> list[str]:
    """The levels with kernels of their own, "Name-v0/level", which pages cannot compile when they need them. The "mo-"
    forms have those of their worlds."""
    found = []
    for id in ids:
        world = world_named(id)
        if "/mo-" not in id and not engine_of(world, {}):
            own = key_of_library(Setup(world))
            found += [f"{id}/{name}" for name in world.levels if key_of_library(Setup(world.level(name))) != own]
    return found


def built(job: tuple[str, Sequence[str], Path]) -> Built:
    """Build what is missing of a kind; a job is an id, names of targets, and the folder."""
    id, targets, folder = job
    start = seconds_used()
    world = world_named(id)
    engine = bool(engine_of(world, {}))
    try:
        setup = Setup(world)
        libraries = list(build_libraries(setup, driver(setup, "numba", engine), engine, targets, folder))
        return Built(id, libraries, seconds=seconds_used() - start)
    except (KernelError, MissingExtraError, BuildError) as error:
        return Built(id, [], str(error))


def built_threads(job: tuple[Sequence[str], Path]) -> list[Library]:
    """Build what is missing of the library that all worlds share; a job is names of targets, and the folder."""
    return list(build_threads_library(*job))


def played_calls(job: None) -> list[Call]:
    """The loops outside of worlds that libraries need, each with the types of its arguments."""
    found: dict[Call, None] = {}

    def note(loop: Loop, arguments: Sequence[Any], shared: bool) -> None:
        call = call_of(loop, arguments, shared)
        if call is not None:
            found[call] = None

    watch.append(note)
    import_module(PLAYED).play_all()
    return list(found)


def built_loops(job: tuple[Sequence[Call], Sequence[str], Path]) -> tuple[list[Library], dict[str, list[str]]]:
    """Build what is missing of the library of loops. The libraries, and by the key of each loop its functions.

    Args:
        job: loops, names of targets, and the folder.
    """
    calls, targets, folder = job
    return list(build_loops_library(calls, targets, folder)), functions_of(calls)


def compared(job: tuple[str, dict[str, Path], dict[str, list[str]]]) -> tuple[str, dict[str, str]]:
    """Verify the libraries of a kind; a job is an id, paths and players by target."""
    id, libraries, commands = job
    world = world_named(id)
    if engine_of(world, {}):
        return id, dict.fromkeys(commands, "not played: an engine moves it")
    return id, verified(world, STEPS, libraries, commands)


def in_processes(work: Callable[[Any], Any], jobs: Sequence[Any], count: int, text: str, context: Any) -> Iterator[Any]:
    """The results of jobs in the order in which they end, each made by a new process.

    Args:
        work: a function of a job.
        jobs: to be done.
        count: of processes at a time.
        text: says what is done.
        context: of `multiprocessing`.
    """
    pool = ProcessPoolExecutor(min(count, len(jobs)), context, max_tasks_per_child=1)
    try:
        with progress(text, len(jobs)) as tell:
            for done, result in enumerate(as_completed([pool.submit(work, job) for job in jobs])):
                tell(done + 1)
                yield result.result()
    finally:
        pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def builders() -> Iterator[Any]:
    """How to start the processes that build: copies of one that has imported all and compiled nothing."""
    before = dict(os.environ)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with tempfile.TemporaryDirectory() as cache:  # code for no processor in particular is not for users
        os.environ.update(REPEATABLE, RLENVS_CACHE_DIR=cache)
        try:
            yield context
        finally:
            os.environ.clear()
            os.environ.update(before)


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Rows of text in Markdown."""
    lines = [list(head), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(
        f"| {' | '.join(text.ljust(width) for text, width in zip(line, widths, strict=True))} |" for line in lines
    )


def sizes(results: Sequence[Built], targets: Sequence[str]) -> str:
    """The table of sizes in kB of 1000 bytes, and of the seconds that numba and what follows it took."""
    fine = [result for result in results if not result.fault]
    rows = [
        [
            each.id,
            *(f"{one.size / 1e3:.1f}" for one in each.libraries),
            f"{each.seconds - sum(one.seconds for one in each.libraries):.1f}",
            f"{sum(one.seconds for one in each.libraries):.1f}",
        ]
        for each in fine
    ]
    sums = [sum(each.libraries[n].size for each in fine) / 1e3 for n in range(len(targets))]
    return table(["kB", *targets, "numba, s", "LLVM, s"], [*rows, ["all", *(f"{size:.1f}" for size in sums), "", ""]])


def verify(results: Sequence[Built], targets: Sequence[str], jobs: int) -> int:
    """Print whether all libraries do what numba's loops do. Returns how many do not."""
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        found = players(targets, Path(folder))
        commands = {target: command for target, command in found.items() if isinstance(command, list)}
        tasks = [
            (each.id, {one.target: one.path for one in each.libraries}, commands) for each in results if not each.fault
        ]
        outcomes = list(in_processes(compared, tasks, jobs, "verifying", spawn)) if tasks else []
    print(f"\nAgainst numba, {STEPS} steps:\n")
    rows = [[id, *(outcome.get(target, "not run") for target in targets)] for id, outcome in sorted(outcomes)]
    print(table(["", *targets], rows))
    for target, why in found.items():
        if isinstance(why, str):
            print(f"{target} is not run: {why}")
    return sum(text != EQUAL and not text.startswith("not ") for _, outcome in outcomes for text in outcome.values())


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="run.py kernels", description="Build libraries of kernels.")
    parser.add_argument("ids", nargs="*", help=ASKED)
    parser.add_argument("--loops", action="store_true", help="loops of wrappers, solvers and tables, beside the ids")
    parser.add_argument("--targets", nargs="+", choices=list(TARGETS), default=list(TARGETS), help="all by default")
    parser.add_argument("--here", action="store_true", help="only targets that this machine can run")
    parser.add_argument("--verify", action="store_true", help="compare them with numba's loops where that is possible")
    parser.add_argument("--jobs", type=int, default=2, help="processes, each with up to 1.5 GB; 2 by default")
    parser.add_argument("--folder", type=Path, default=FOLDER, help=f"{FOLDER} by default")
    parser.add_argument("--own", action="store_true", help="for this processor, into the cache that rlenvs reads")
    given = parser.parse_args()
    if given.own:
        given.targets, given.folder = _own_targets(), cache_folders()[0] / ready.FOLDER
    folder = given.folder.resolve()
    os.environ["RLENVS_TARGET"] = ready.NONE  # built from and compared with numba's loops, whatever libraries there are
    targets = runnable(given.targets) if given.here else given.targets
    whole = not given.ids and not given.loops
    further = list(further_worlds())
    ids = [*one_per_kind(list_envs()), *further] if whole else []
    ids += [id if id in further or "/" in id else entry(id).id for id in given.ids]
    start = time.monotonic()
    results = build(ids, targets, given.jobs, folder)
    print(sizes(results, targets))
    print(f"\n{len(results)} kinds in {time.monotonic() - start:.0f} s, in {folder}")
    if whole and PAGES in targets:
        levels = build(levels_apart(list_envs()), [PAGES], given.jobs, folder)
        print(f"\n{len(levels)} levels with kernels of their own, for pages alone:\n\n{sizes(levels, [PAGES])}")
        results += levels
    faults = [f"{each.id} has no library: {each.fault}" for each in results if each.fault]
    print("\n".join(faults))
    loops = build_loops(targets, folder) if whole or given.loops else []
    if whole and not faults and not given.own:  # other checkouts may use the same cache
        keep_only(folder, {threads_key(), *loops, *(one.path.stem for each in results for one in each.libraries)})
    kinds = [each for each in results if each.id in ids]
    failed = len(faults) + (verify(kinds, targets, given.jobs) if given.verify else 0)
    raise SystemExit(1 if failed else 0)


def _own_targets() -> tuple[str, ...]:
    """The best target of this machine."""
    best = ready.targets()[:1]
    if not best:
        raise SystemExit("there are no libraries for this system; numba compiles what is needed")
    return best


def build(ids: Sequence[str], targets: Sequence[str], jobs: int, folder: Path) -> list[Built]:
    """The libraries of some kinds, in order of their ids, built where they are missing, and in the folder's manifest,
    with that of threads.

    Args:
        ids: one of each kind.
        targets: names of TARGETS.
        jobs: processes at a time.
        folder: of all libraries.
    """
    prepare(targets, folder)
    results: list[Built] = []
    with builders() as context:
        for libraries in in_processes(built_threads, [(targets, folder)], 1, "building threads", context):
            add_libraries(folder, libraries)
        for result in in_processes(built, [(id, targets, folder) for id in ids], jobs, "building", context):
            add_libraries(folder, result.libraries)
            results.append(result)
    return sorted(results)


def build_loops(targets: Sequence[str], folder: Path) -> list[str]:
    """The library of the loops outside of worlds, in the folder's manifest. The keys of the loops.

    Args:
        targets: names of TARGETS.
        folder: of all libraries.
    """
    prepare(targets, folder)
    spawn = multiprocessing.get_context("spawn")
    (calls,) = in_processes(played_calls, [None], 1, "playing loops", spawn)
    with builders() as context:
        ((libraries, functions),) = in_processes(built_loops, [(calls, targets, folder)], 1, "building loops", context)
    add_loops(folder, libraries, functions)
    told = ", ".join(f"{one.target} {one.size / 1e3:.1f} kB" for one in libraries)
    print(f"\n{len(functions)} loops for {len(calls)} kinds of arguments: {told}")
    return list(functions)


def runnable(targets: Sequence[str]) -> list[str]:
    """Those of some targets whose libraries this machine can run."""
    with tempfile.TemporaryDirectory() as folder:
        found = players(targets, Path(folder))
    return [target for target in targets if isinstance(found[target], list)]
