"""What `rlenvs train` does and shows: runs one after the other, a bar with the time that remains, and a table."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from rlenvs.agents.hyperparameters import settings_for
from rlenvs.agents.hyperparameters.settings import Settings, differences, with_changes
from rlenvs.agents.runs import (
    SETTINGS,
    Outcome,
    is_complete,
    resume_line,
    run,
    run_folder,
    stopped_by_signals,
    stored_settings,
)
from rlenvs.agents.train import Progress as Report
from rlenvs.agents.train import in_words
from rlenvs.core.catalogue.registry import entry
from rlenvs.core.declare.errors import RunError, shortened
from rlenvs.core.declare.progress import progress

SIGNALLED = 128  # and the number of the signal, as shells count


@dataclass(frozen=True)
class Request:
    """What the command line asks for; None where it leaves the choice to the settings."""

    id: str
    output: Path | None = None
    seeds: Sequence[int] = (0,)
    resume: bool = False
    tensorboard: bool | None = None
    algorithm: str | None = None
    steps: int | None = None
    num_envs: int | None = None
    hyperparameters: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where the runs lie."""
        return self.output or Path("runs") / entry(self.id).id.rpartition("/")[2]

    @property
    def changes(self) -> dict[str, Any]:
        """What replaces settings."""
        names = ("algorithm", "steps", "num_envs", "hyperparameters", "environment")
        return {name: getattr(self, name) for name in names}

    def settings(self, seed: int) -> Settings:
        """The settings of the run of a seed: on resuming, those with which it was begun.

        Raises:
            RunError: other settings are asked for than it was begun with.
        """
        place = run_folder(self.folder, seed)
        if not (self.resume and (place / SETTINGS).exists()):
            return settings_for(self.id, **self.changes)
        stored = stored_settings(place, self.id, seed)
        found = differences(stored, with_changes(stored, **self.changes))
        if found:
            raise RunError(
                f"{place} was started with other settings, which cannot change during a run: {'; '.join(found)}"
            )
        return stored


def train_with_view(request: Request, console: Console) -> int:
    """Train what is asked for; the exit code: 0, or 128 and the number of the signal that stopped it.

    Raises:
        as `rlenvs.agents.runs.run` does.
    """
    entry(request.id)
    try:
        request.folder.exists()
    except OSError as error:  # a name that is too long
        folder = shortened(str(request.folder))
        raise RunError(f"{folder} cannot be written: {error.strerror}. Nothing was trained") from None
    if request.resume and not any((run_folder(request.folder, seed) / SETTINGS).exists() for seed in request.seeds):
        raise RunError(f"{request.folder} contains no run to resume; leave out --resume to start one")
    chosen = {seed: request.settings(seed) for seed in request.seeds}
    with progress("starting"):
        from rlenvs.integrations.sb3 import sb3_vec_env

        settings = chosen[request.seeds[0]]
        envs = sb3_vec_env(request.id, 1, **settings.train_keywords)
        envs.reset()
        envs.close()
    name = entry(request.id).id
    console.print(f"{name}: {settings.algorithm}, {settings.steps:,} steps, {settings.num_envs} parallel environments")
    outcomes: list[Outcome] = []

    def told() -> None:
        console.print(
            "stopping after the current rollout; press Ctrl-C again to stop immediately, without a checkpoint"
        )

    with stopped_by_signals(told) as stop:
        try:
            for seed in request.seeds:
                place = run_folder(request.folder, seed)
                if request.resume and is_complete(place):
                    console.print(escape(f"seed {seed}: already complete, {place}"), soft_wrap=True)
                    continue
                outcomes.append(_one(request, seed, chosen[seed], stop))
                if stop.wanted:
                    break
        except KeyboardInterrupt:
            console.print(escape(f"stopped immediately; earlier results are in {place}"), soft_wrap=True)
            return SIGNALLED + stop.number if stop.number else SIGNALLED + 2
    _tell(outcomes, console)
    if stop.wanted:
        line = resume_line(request.id, request.folder, len(request.seeds), request.seeds[0])
        console.print(escape(f"Continue with: {line}"), soft_wrap=True)
        return SIGNALLED + stop.number
    return 0


def _one(request: Request, seed: int, settings: Settings, stop: Any) -> Outcome:
    best = -float("inf")
    with progress(f"seed {seed}", total=settings.steps) as tell:

        def show(now: Report) -> None:
            words = [in_words(now)] if best == -float("inf") else [in_words(now), f"best {best:.4g}"]
            tell(min(now.steps, now.total), ", ".join(filter(None, words)))

        def evaluated(found: Any) -> None:
            nonlocal best
            best = max(best, found.mean)

        return run(
            request.id,
            settings,
            run_folder(request.folder, seed),
            seed=seed,
            resume=request.resume,
            tensorboard=request.tensorboard,
            progress=show,
            evaluated=evaluated,
            stop=stop,
        )


def _tell(outcomes: list[Outcome], console: Console) -> None:
    for outcome in outcomes:
        done = f"stopped at {outcome.steps:,} of {outcome.total:,} steps" if outcome.stopped else "complete"
        text = f"{outcome.folder}: {done}, {outcome.seconds:.0f} s, best agent {outcome.agent} ({outcome.best:.4g})"
        console.print(escape(text), soft_wrap=True)
    if outcomes:
        best = max(outcomes, key=lambda outcome: outcome.best)
        shown = outcomes[0].folder if len(outcomes) == 1 else outcomes[0].folder.parent
        for what, command in (("See it", "watch"), ("Measure it", "eval")):
            console.print(escape(f"{what}: rlenvs {command} {shlex.quote(str(best.agent))}"), soft_wrap=True)
        console.print(escape(f"Its curve: rlenvs plot {shlex.quote(str(shown))}"), soft_wrap=True)
