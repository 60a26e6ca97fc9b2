"""Training runs: a folder each, with settings, results, and checkpoints for resuming.

runs/QuadHover-v0/seed-0/
    settings.toml            what was really used
    progress.csv             a row per report
    checkpoint.safetensors   the whole state of the training
    agent.safetensors, .json the best agent so far, by evaluation on seeds that training does not see
    events.*                 for TensorBoard, where it is installed
"""

from __future__ import annotations

import contextlib
import csv
import importlib.util
import io
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from rlenvs.agents.checkpoint import (
    read_checkpoint,
    restore_random,
    restore_training,
    training_state,
    write_checkpoint,
)
from rlenvs.agents.evaluate import Evaluation, evaluate, opponent
from rlenvs.agents.events import events_output
from rlenvs.agents.export import agent_from_sb3, versions
from rlenvs.agents.files import RUN_AGENT, save_agent
from rlenvs.agents.hyperparameters.settings import OFF_POLICY, Settings, differences, read_toml, settings_from, toml
from rlenvs.agents.train import Observer, Progress, Reporter, callback_of, cost_keeper, new_model, torch_threads
from rlenvs.agents.writing import replace_file
from rlenvs.core.catalogue.registry import entry
from rlenvs.core.declare.errors import AgentFileError, MissingExtraError, ParameterError, RlenvsError, RunError
from rlenvs.core.declare.inputs import first_seed_of

__all__ = ["Outcome", "run"]

EVALUATIONS = 20  # in a training
EVALUATION_SEEDS = range(1_000_000, 1_000_020)
CHECKPOINT_SECONDS = 60.0
CHECKPOINT_SHARE = 0.1  # of the time, at most, goes into checkpoints
SETTINGS, PROGRESS, CHECKPOINT, AGENT = "settings.toml", "progress.csv", "checkpoint.safetensors", RUN_AGENT
NUMBERS = [part.name for part in fields(Progress) if part.name not in ("total", "costs", "multipliers")]
COLUMNS = [*NUMBERS, "rate", "evaluated_return", "evaluated_half_width", "evaluated_success", "evaluated_cost"]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run.

    Attributes:
        folder: where it lies.
        steps, total: environment steps done and to do.
        seconds: of wall time, all parts of the run together.
        best: mean return of the agent in the folder on EVALUATION_SEEDS.
        agent: its weights file.
        stopped: whether the run was interrupted; `run(..., resume=True)` goes on.
    """

    folder: Path
    steps: int
    total: int
    seconds: float
    best: float
    agent: Path
    stopped: bool


@dataclass
class Stop:
    """A wish to stop, which a run fulfils between two rollouts."""

    wanted: bool = False
    number: int = 0  # of the signal


@contextmanager
def stopped_by_signals(told: Callable[[], Any] | None = None) -> Iterator[Stop]:
    """Ctrl-C and SIGTERM set the wish to stop; a second one raises KeyboardInterrupt at once.

    Args:
        told: called at the first one.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def want(number: int, frame: Any) -> None:
        if stop.wanted:
            raise KeyboardInterrupt
        stop.wanted, stop.number = True, number
        if told is not None:
            told()

    before = {number: signal.signal(number, want) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _StoppedError(Exception):
    """Leaves the loop of Stable-Baselines3."""


def run(
    id: str,
    settings: Settings,
    folder: str | Path,
    *,
    seed: int = 0,
    resume: bool = False,
    tensorboard: bool | None = None,
    threads: int = 1,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    progress: Callable[[Progress], Any] | None = None,
    evaluated: Callable[[Evaluation], Any] | None = None,
    stop: Stop | None = None,
) -> Outcome:
    """Train an agent, and save everything in a folder.

    Args:
        id, settings, threads, progress: as for `rlenvs.agents.train.train`.
        folder: where to; it is made.
        seed: of the training.
        resume: go on with the run in the folder. The same library versions on the same machine give, bit for bit, the
            weights of a run that was never interrupted. Where there is no checkpoint yet, it begins anew.
        tensorboard: write events for TensorBoard; None where it is installed.
        checkpoint_seconds: between two checkpoints; more where writing one takes more than a tenth of it.
        evaluated: called with each evaluation.
        stop: a wish to stop.

    Raises:
        RunError: the folder holds another run, or one and resume is false; a checkpoint that is damaged or of other
            settings; nothing can be written. The last good checkpoint stays.
        MissingExtraError, ParameterError, UnknownNameError: as `train` does.
    """
    place = Path(folder)
    seed = first_seed_of(seed)
    tree = _begin(place, entry(id).id, settings, seed, resume)
    try:
        with torch_threads(threads):
            model = _new_model(id, settings, seed, place, tree is None)
            model.set_logger(_logger(place, tensorboard))
            keeper = _Keeper(model, entry(id).id, settings, seed, place, tree)
            keeper.progress_to, keeper.evaluated, keeper.stop = progress, evaluated, stop or Stop()
            keeper.interval = checkpoint_seconds
            return keeper.train()
    except (OSError, AgentFileError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RunError(f"{place} cannot be written: {said}. {_left(place, seed)}") from None


def run_folder(output: str | Path, seed: int) -> Path:
    """Where the run of a seed lies."""
    return Path(output) / f"seed-{seed}"


def stored_settings(folder: str | Path, id: str, seed: int) -> Settings:
    """The settings of a run that has begun.

    Raises:
        RunError: it is of another environment or seed, or there is none.
        ParameterError: its file of settings was damaged.
    """
    path = Path(folder) / SETTINGS
    if not path.exists():
        raise RunError(f"{folder} contains no run to resume; leave out --resume to start one")
    table = read_toml(path)
    for name, wanted in (("id", entry(id).id), ("seed", seed)):
        if table.pop(name, None) != wanted:
            raise RunError(f"{path} does not belong to {name} {wanted}; choose another output folder")
    return settings_from(table, str(path))


def is_complete(folder: str | Path) -> bool:
    """Whether the run in a folder has done all its steps."""
    path = Path(folder) / CHECKPOINT
    return path.exists() and bool(read_checkpoint(path)["complete"])


def _begin(place: Path, id: str, settings: Settings, seed: int, resume: bool) -> dict[str, Any] | None:
    """Make the folder; the checkpoint to go on with, if there is one."""
    if (place / SETTINGS).exists():
        if not resume:
            raise RunError(
                f"{place} already contains a run; continue it with --resume, or choose another output folder"
            )
        _check_same(stored_settings(place, id, seed), settings, place)
        if (place / CHECKPOINT).exists():
            tree = read_checkpoint(place / CHECKPOINT)
            _check_same(settings_from(tree["settings"], str(place / CHECKPOINT)), settings, place)
            return tree
    try:
        place.mkdir(parents=True, exist_ok=True)
        text = toml({"id": id, "seed": seed, **settings.to_dict()})
        replace_file(place / SETTINGS, [text.encode()])
    except OSError as error:
        raise RunError(f"{place} cannot be written: {error.strerror or error}. Nothing was trained") from None
    return None


def _new_model(id: str, settings: Settings, seed: int, place: Path, fresh: bool) -> Any:
    """An untrained model. Where it cannot be made, a folder that was made for it is taken away again."""
    try:
        return new_model(id, settings, seed)
    except RlenvsError:
        if fresh:
            (place / SETTINGS).unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # others' files are in there
                place.rmdir()
                place.parent.rmdir()
        raise


def _check_same(old: Settings, new: Settings, place: Path) -> None:
    found = differences(old, new)
    if found:
        raise RunError(f"{place} was started with other settings, which cannot change during a run: {'; '.join(found)}")


def _left(place: Path, seed: int) -> str:
    """What a run leaves behind when it fails."""
    if not (place / CHECKPOINT).exists():
        return "There is no checkpoint yet"
    try:
        steps = read_checkpoint(place / CHECKPOINT)["state"]["attributes"]["num_timesteps"]
    except RunError as error:
        return str(error)
    return f"The last good checkpoint, of step {steps}, is unchanged; continue from it with --resume"


def _logger(place: Path, tensorboard: bool | None) -> Any:
    from stable_baselines3.common.logger import Logger

    installed = importlib.util.find_spec("tensorboard") is not None
    if tensorboard and not installed:
        raise MissingExtraError("TensorBoard", "sb3")
    wanted = installed if tensorboard is None else tensorboard
    return Logger(str(place), [events_output(place)] if wanted else [])


class _Keeper(Observer):
    """Keeps a run's folder while the model learns."""

    progress_to: Callable[[Progress], Any] | None
    evaluated: Callable[[Evaluation], Any] | None
    stop: Stop
    interval: float

    def __init__(
        self, model: Any, id: str, settings: Settings, seed: int, place: Path, tree: dict[str, Any] | None
    ) -> None:
        self.model, self.id, self.settings, self.seed, self.place = model, id, settings, seed, place
        self.best, self.next_evaluation, self.cost = -math.inf, self._gap, 0.0
        self.excess = math.inf  # of the best agent's costs over their limits, where the algorithm has such
        self.costs = cost_keeper(model)
        self.begun_with = tree
        seconds = 0.0
        if tree is not None:
            restore_training(model, tree["state"])
            self.best, self.next_evaluation = tree["best"], tree["next_evaluation"]
            self.excess = tree.get("excess", 0.0)
            seconds = tree["seconds"]
        self.reporter = Reporter(settings.steps, self._report, seconds)
        self.reporter.model = model
        self._open_progress(model.num_timesteps)

    @property
    def _gap(self) -> int:
        return max(1, self.settings.steps // EVALUATIONS)

    def train(self) -> Outcome:
        """Learn until all steps are done, or until asked to stop."""
        resumed = self.begun_with is not None
        if self.begun_with is not None and self.begun_with["complete"]:
            self.reporter.begin()
            return self._outcome(stopped=False)
        todo = self.settings.steps - (self.model.num_timesteps if resumed else 0)
        interval = 4 if self.settings.algorithm in OFF_POLICY else 1  # episodes or rollouts per row of the log
        stopped = False
        try:
            self.model.learn(todo, callback_of(self), log_interval=interval, reset_num_timesteps=not resumed)
        except _StoppedError:
            stopped = True
        except ValueError as error:
            if not isinstance(error, (ParameterError, AgentFileError)) and "nan" in str(error):
                raise RunError(
                    f"the network holds NaN after {self.model.num_timesteps} steps; a smaller learning_rate may help. "
                    f"{_left(self.place, self.seed)}"
                ) from None
            raise
        self._evaluate()
        self._save(complete=not stopped)
        self.model.logger.close()
        return self._outcome(stopped)

    def _outcome(self, stopped: bool) -> Outcome:
        agent = self.place / f"{AGENT}.safetensors"
        steps, total = self.model.num_timesteps, self.settings.steps
        return Outcome(self.place, steps, total, self.reporter.seconds, self.best, agent, stopped)

    # --- between rollouts ---------------------------------------------------------------------------------------------

    def begin(self) -> None:
        self.reporter.begin()
        self.saved = time.perf_counter()
        self._agent()  # what could not become an agent fails now

    def before_rollout(self) -> None:
        if self.begun_with is not None:
            restore_random(self.model, self.begun_with["state"]["random"])
            self.begun_with = None
        if self.stop.wanted:
            raise _StoppedError
        if self.model.num_timesteps >= self.next_evaluation:
            self._evaluate()
            self.next_evaluation = (self.model.num_timesteps // self._gap + 1) * self._gap
        if time.perf_counter() - self.saved >= max(self.interval, self.cost / CHECKPOINT_SHARE):
            self._save()

    def after_rollout(self) -> None:
        self.reporter.after_rollout()

    def _save(self, complete: bool = False) -> None:
        start = time.perf_counter()
        tree = {
            "settings": self.settings.to_dict(),
            "state": training_state(self.model),
            "seconds": self.reporter.seconds,
            "best": self.best,
            "excess": self.excess,
            "next_evaluation": self.next_evaluation,
            "complete": complete,
            "versions": versions(),
        }
        write_checkpoint(self.place / CHECKPOINT, tree)
        self.saved = time.perf_counter()
        self.cost = self.saved - start

    def _agent(self) -> Any:
        return agent_from_sb3(
            self.model,
            self.id,
            keywords=self.settings.environment,
            settings=self.settings.to_dict(),
            steps=self.model.num_timesteps,
            seeds=[self.seed],
            seconds=self.reporter.seconds,
        )

    def _evaluate(self) -> None:
        """Play without exploration; keep the agent where it is the best so far: that within the limits of costs, or
        least beyond, comes first."""
        agent, keywords = self._agent(), self.settings.environment
        found = evaluate(self.id, agent, seeds=EVALUATION_SEEDS, against=opponent(self.id, keywords), **keywords)
        excess = self.costs.excess(found.mean_costs) if self.costs else 0.0
        if (-excess, found.mean) >= (-self.excess, self.best):
            save_agent(self.place / AGENT, agent)
            self.best, self.excess = found.mean, excess
        self._write_row(self.reporter.progress(), found)
        if self.evaluated is not None:
            self.evaluated(found)

    # --- progress.csv -------------------------------------------------------------------------------------------------

    def _report(self, now: Progress) -> None:
        self._write_row(now)
        if self.progress_to is not None:
            self.progress_to(now)

    def _write_row(self, now: Progress, found: Evaluation | None = None) -> None:
        rate = now.steps / now.seconds if now.seconds > 0 else math.nan
        row: list[Any] = [getattr(now, name) for name in NUMBERS] + [rate]
        evaluated = [math.nan] * 4
        if found is not None:
            evaluated = [found.mean, found.half_width, found.success_rate, found.mean_cost]
        row += [*evaluated, *now.costs.values(), *now.multipliers.values()]
        with open(self.place / PROGRESS, "a", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow([_short(value) for value in row])

    def _open_progress(self, steps: int) -> None:
        """The head, and what was written up to the checkpoint."""
        path = self.place / PROGRESS
        names = self.costs.names if self.costs else ()
        rows: list[Sequence[str]] = [
            [*COLUMNS, *(f"cost_{name}" for name in names), *(f"multiplier_{name}" for name in names)]
        ]
        if steps and path.exists():
            with open(path, newline="", encoding="utf-8") as file:
                rows += [row for row in list(csv.reader(file))[1:] if row and row[0].isdigit() and int(row[0]) <= steps]
        text = io.StringIO()
        csv.writer(text).writerows(rows)
        replace_file(path, [text.getvalue().encode()])


def _short(value: float) -> str:
    return str(value) if isinstance(value, int) else "" if math.isnan(value) else f"{value:.6g}"


def resume_line(id: str, output: str | Path, seeds: int, seed: int) -> str:
    """The command that goes on with interrupted runs."""
    parts = ["rlenvs", "train", entry(id).id.rpartition("/")[2], "--output", os.fspath(output)]
    parts += ["--seeds", str(seeds)] * (seeds > 1) + ["--seed", str(seed)] * (seed > 0)
    return " ".join([*parts, "--resume"])
