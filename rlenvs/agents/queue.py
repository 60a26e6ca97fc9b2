"""The queue of `rlenvs train --todo`: the runs whose agents are to be shipped and are not yet, the most valuable first.

What is to be shipped stands in the files of `rlenvs.agents.hyperparameters`: the `algorithms` and `seeds` of each
environment, and of each level that names its own. A run that has come to its end is published (`rlenvs.agents.store`):
its curve, and where it is the first of its seeds, its agent.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from rlenvs.agents.cluster import packed, spread, unpack
from rlenvs.agents.hyperparameters import algorithms_of, level_tables, seeds_of, settings_for
from rlenvs.agents.hyperparameters.settings import Settings
from rlenvs.agents.publish import publish, publish_curve
from rlenvs.agents.runs import SETTINGS, Stop, run, stopped_by_signals
from rlenvs.agents.store import CURVES, file_name, read_card, stores, title
from rlenvs.core.catalogue.registry import catalogue, entry, world_of
from rlenvs.core.declare.errors import RlenvsError
from rlenvs.core.declare.progress import progress

OURS = "rlenvs/"
LOOK = 1.0  # s between two looks whether the run is to stop
KINDS = ("first agents", "other algorithms", "further seeds", "levels")


@dataclass(frozen=True)
class Job:
    """A run to be done.

    Attributes:
        id: the environment, such as "QuadHover-v0".
        level: None for the defaults.
        algorithm, seed: of the training.
        kind: its place in KINDS: what is worth more comes first.
    """

    id: str
    level: str | None
    algorithm: str
    seed: int
    kind: int

    @property
    def name(self) -> str:
        """Of its folder below the environment's, and of its curve."""
        return file_name(self.level, self.algorithm, self.seed)

    @property
    def settings(self) -> Settings:
        """Those of the family's file."""
        environment = {} if self.level is None else {"level": self.level}
        return settings_for(self.id, algorithm=self.algorithm, environment=environment)

    def __str__(self) -> str:
        return f"{self.id} {self.name}: {self.settings.steps / 1e6:g} M steps"


def jobs_of(id: str) -> Iterator[Job]:
    """All runs whose agents or curves are shipped for an environment."""
    name = entry(id).id.rpartition("/")[2]
    levels = [level for level in world_of(id).levels if _has_own_agents(id, level)]
    for level in (None, *levels):
        for place, algorithm in enumerate(algorithms_of(id, level)):
            for seed in range(seeds_of(id, level, algorithm)):
                kind = 3 if level else 2 if seed else 1 if place else 0
                yield Job(name, level, algorithm, seed, kind)


def _has_own_agents(id: str, level: str) -> bool:
    return any("algorithms" in table for table in level_tables(id, level))


def todo(ids: Sequence[str] | None = None) -> list[Job]:
    """The runs that are not published yet: kind by kind, and the shortest first.

    Args:
        ids: of these environments; by default of all that are the package's own.
    """
    if ids is None:
        ids = [id for id in catalogue if id.startswith(OURS) and "/mo-" not in id]
    missing = [job for id in ids for job in jobs_of(id) if not _is_published(job)]
    return sorted(missing, key=lambda job: (job.kind, job.settings.steps))


def _is_published(job: Job) -> bool:
    return any((store / job.id / CURVES / f"{job.name}.csv").exists() for store in stores())


def summary(jobs: Sequence[Job]) -> str:
    """How many runs of which kind."""
    counts = [(sum(job.kind == kind for job in jobs), words) for kind, words in enumerate(KINDS)]
    parts = ", ".join(f"{count} {words}" for count, words in counts if count)
    return f"{len(jobs)} runs to do: {parts}" if jobs else "nothing to do: all agents exist"


def work(jobs: Sequence[Job], output: Path, workers: int, say: Callable[[str], Any]) -> int:
    """Do the runs, so many side by side, each in a process of its own; the signal that stopped it, or 0.

    Interrupted runs leave a checkpoint, and go on from there the next time.
    """
    waiting, running = list(jobs), dict[Any, Any]()
    spawn = multiprocessing.get_context("spawn")

    def stop_all() -> None:
        say("stopping after the current rollouts; press Ctrl-C again to stop immediately")
        for process in running.values():
            process.terminate()

    with stopped_by_signals(stop_all) as stop, progress("training", total=len(jobs)) as tell:
        while running or (waiting and not stop.wanted):
            while waiting and len(running) < workers and not stop.wanted:
                process = spawn.Process(target=_do, args=(waiting.pop(0), output))
                process.start()
                running[process.sentinel] = process
            for ended in wait(list(running), LOOK):
                running.pop(ended).join()
            tell(len(jobs) - len(waiting) - len(running))
    return stop.number if stop.wanted else 0


def work_on_cluster(jobs: Sequence[Job], output: Path, ray: str, say: Callable[[str], Any]) -> None:
    """Do the runs on a Ray cluster (`rlenvs.agents.cluster`), and publish them here in their order.

    The folder of a run comes back when it has ended. One that was stopped here before goes on from its checkpoint; one
    whose worker dies begins again from there.
    """
    with ExitStack() as claims, progress("training", total=len(jobs)) as tell:
        own = [job for job in jobs if claims.enter_context(claimed(_lock(job, output))) and not _is_published(job)]
        pieces = [(job, packed(output / job.id / job.name)) for job in own]
        for done, (job, folder) in enumerate(zip(own, spread(_run_elsewhere, pieces, ray), strict=True)):
            place = output / job.id / job.name
            try:
                if isinstance(folder, RlenvsError):
                    raise folder
                unpack(folder, place)
                say(_published(job, place))
            except RlenvsError as error:
                say(f"{job.id} {job.name}: {error}")
            tell(done + 1)


def _run_elsewhere(job: Job, folder: bytes) -> bytes | RlenvsError:
    """A run on a node of a cluster: its folder, packed, or why it failed."""
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary) / job.name
        unpack(folder, place)
        try:
            run(job.id, job.settings, place, seed=job.seed, resume=(place / SETTINGS).exists())
        except RlenvsError as error:
            return error
        return packed(place)


def _lock(job: Job, output: Path) -> Path:
    return output / f"{job.id}-{job.name}.lock"


def _do(job: Job, output: Path) -> None:
    """A run, in a process that the terminal's signals do not reach: its parent passes them on."""
    if hasattr(os, "setsid"):
        os.setsid()
    parent = multiprocessing.parent_process()
    place = output / job.id / job.name
    with stopped_by_signals() as stop, claimed(_lock(job, output)) as free:
        if not free or _is_published(job):  # another queue has it, or had it
            return

        def look(now: Any) -> None:
            if parent is not None and not parent.is_alive():
                stop.wanted, stop.number = True, int(signal.SIGTERM)

        try:
            print(_done(job, place, stop, look), flush=True)
        except RlenvsError as error:
            print(f"{job.id} {job.name}: {error}", flush=True)


@contextmanager
def claimed(path: Path, wait_for_it: bool = False) -> Iterator[bool]:
    """Whether this process has a file for itself, for a while; two queues then never do the same run.

    The system lets go of the file when the process ends, however it ends. Without `fcntl` (Windows) all is claimed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait_for_it else fcntl.LOCK_NB))
        except ImportError:
            pass
        except OSError:
            yield False
            return
        yield True


def _done(job: Job, place: Path, stop: Stop, look: Callable[[Any], None]) -> str:
    """Train and publish; a line on what came of it."""
    resume = (place / SETTINGS).exists()
    outcome = run(job.id, job.settings, place, seed=job.seed, resume=resume, progress=look, stop=stop)
    if outcome.stopped:
        return f"{job.id} {job.name}: stopped at {outcome.steps:,} of {outcome.total:,} steps"
    return _published(job, place)


def _published(job: Job, place: Path) -> str:
    """Publish a finished run; a line on it."""
    with claimed(place.parent.parent / "publishing.lock", wait_for_it=True):  # hashes are of the whole store
        if job.seed:
            return f"{job.id} {job.name}: {publish_curve(place)}"
        stem = publish(place)
    score = read_card(stem).score
    assert score is not None
    return f"{title(stem)}: {score.mean:.4g} ± {score.half_width:.2g}, success {100 * score.success_rate:.0f} %"
