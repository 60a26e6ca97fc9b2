"""Learning curves in the layout of Open RL Benchmark (Huang et al., arXiv 2402.03046), and comparison with its runs.

Its program `python -m openrlbenchmark.rlops ... --scan-history --offline` reads runs from files, of which `write_runs`
makes the same (openrlbenchmark/openrlbenchmark d67da55, cache.py and offline_db.py):

    ENTITY/PROJECT/RUN/run.json      id, name, state, url, project, entity, config, tags, path, user
    ENTITY/PROJECT/RUN/run_df.csv    a row per log entry, behind its number: global_step, _runtime in seconds, metrics
    ENTITY/PROJECT/offline.sqlite    an index of the runs, by which they are found

Put them into the folder `dataset` of that package. Runs that it has fetched lie there too, and `read_runs` reads them.
Its results are tables in which every cell has the mean over seeds of the last values, and their standard deviation.

Our curves are evaluations without exploration ("eval/mean_reward"), some twenty of a run; most of its runs log training
episodes ("charts/episodic_return").
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import shutil
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rlenvs.agents.curves import Curve, curves_of
from rlenvs.agents.store import own_agent, read_card
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError, RunError
from rlenvs.core.declare.inputs import positive
from rlenvs.core.declare.user_files import read_file
from rlenvs.version import __version__

__all__ = [
    "LIBRARIES",
    "Library",
    "Result",
    "TrackedRun",
    "read_results",
    "read_runs",
    "result_of",
    "results_text",
    "shipped_runs",
    "tracked",
    "write_runs",
]

STEPS, SECONDS, RETURN = "global_step", "_runtime", "eval/mean_reward"
METRICS = {"return": RETURN, "half_width": "eval/half_width", "success": "eval/success_rate", "cost": "eval/cost"}
RUN, TABLE, INDEX = "run.json", "run_df.csv", "offline.sqlite"
LARGEST = 1 << 28  # bytes of a file
TABLES = """
CREATE TABLE offlinerun (id VARCHAR(255) NOT NULL, name VARCHAR(255) NOT NULL, state VARCHAR(255) NOT NULL,
    url VARCHAR(255) NOT NULL, path TEXT NOT NULL, username VARCHAR(255) NOT NULL, project VARCHAR(255) NOT NULL,
    entity VARCHAR(255) NOT NULL, config TEXT NOT NULL);
CREATE TABLE tag (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(255) NOT NULL);
CREATE TABLE tag_offlinerun_through (id INTEGER NOT NULL PRIMARY KEY, tag_id INTEGER NOT NULL,
    offlinerun_id INTEGER NOT NULL);
"""


class Library(NamedTuple):
    """How the runs of a library are found: the key of the environment's id in their configuration, that of the
    experiment's name, and the metric."""

    env_key: str
    name_key: str
    metric: str


# as the README of openrlbenchmark d67da55 names them
LIBRARIES = {
    "rlenvs": Library("env_id", "exp_name", RETURN),
    "cleanrl": Library("env_id", "exp_name", "charts/episodic_return"),
    "sb3": Library("env", "algo", "rollout/ep_rew_mean"),
    "sbx": Library("env", "alg", "rollout/ep_rew_mean"),
    "jaxrl": Library("env_name", "algo", "training/return"),
    "baselines": Library("env", "exp_name", "charts/episodic_return"),
    "tianshou": Library("task", "algo_name", "test/reward"),
    "morl-baselines": Library("env_id", "algo", "eval/hypervolume"),
    "phasic-policy-gradient": Library("env_name", "arch", "charts/episodic_return"),
    "sfujim-TD3": Library("env", "policy", "charts/episodic_return"),
}


@dataclass(frozen=True)
class TrackedRun:
    """One training run.

    Attributes:
        config: by name, JSON values; among them those that `Library` names, and "seed".
        columns: float64 arrays of equal length by name, NaN where nothing was logged; among them STEPS and SECONDS.
        tags: by which runs are found.
    """

    config: Mapping[str, Any]
    columns: Mapping[str, np.ndarray]
    tags: Sequence[str] = field(default_factory=tuple)

    def is_of(self, library: Library, env: str, name: str | None = None) -> bool:
        """Whether it is a run on an environment, and of an experiment of this name."""
        return self.config.get(library.env_key) == env and name in (None, self.config.get(library.name_key))


# --- our curves -------------------------------------------------------------------------------------------------------


def tracked(curve: Curve) -> TrackedRun:
    """A published curve as a run. Its environment is called "rlenvs/Name-v0", or "rlenvs/Name-v0/level"."""
    id = f"rlenvs/{curve.id}" + (f"/{curve.level}" if curve.level else "")
    config: dict[str, Any] = {"env_id": id, "exp_name": curve.algorithm, "seed": curve.seed, "level": curve.level}
    config |= {"library": "rlenvs", "version": __version__}
    stem = own_agent(curve.id, curve.level, curve.algorithm)
    if stem is not None:
        card = read_card(stem)
        config |= {"env_kwargs": card.keywords, "settings": card.settings, "versions": card.versions}
    columns = {STEPS: curve.columns["steps"], SECONDS: curve.columns["seconds"]}
    columns |= {metric: curve.columns[name] for name, metric in METRICS.items()}
    return TrackedRun(config, columns, (f"v{__version__}",))


def shipped_runs(ids: Iterable[str]) -> list[TrackedRun]:
    """All published curves of environments, of their defaults and their levels.

    Raises:
        UnknownNameError: no such id. RunError: a curve is damaged.
    """
    return [tracked(curve) for id in ids for level in (None, *world_of(id).levels) for curve in curves_of(id, level)]


# --- files ------------------------------------------------------------------------------------------------------------


def write_runs(runs: Sequence[TrackedRun], folder: str | Path, entity: str = "rlenvs", project: str = "agents") -> Path:
    """Write runs in the layout of the module's docstring; the same runs give the same files.

    Args:
        runs: with "env_id", "exp_name" and "seed" in their configuration, which no two share.
        folder: below which ENTITY/PROJECT is made; it must not be there yet.
        entity, project: names of folders.

    Returns:
        ENTITY/PROJECT in the folder.

    Raises:
        ParameterError: no runs, two that are the same, one that JSON or a table cannot hold, names that are none, or a
            folder that is there or cannot be written. Nothing is left behind.
    """
    for name, value in (("entity", entity), ("project", project)):
        folder_name = isinstance(value, str) and value != "" and value.isprintable() and not value.startswith(".")
        if not folder_name or {"/", "\\"} & set(value):
            raise ParameterError(f"{name}={value!r} must be the name of a folder")
    keys = [_key(run) for run in runs]
    if not runs or len(set(keys)) < len(keys):
        raise ParameterError("two runs are of the same env_id, exp_name and seed" if runs else "there are no runs")
    described = [_described(run, key, entity, project) for run, key in zip(runs, keys, strict=True)]
    texts = [_texts(run, about) for run, about in zip(runs, described, strict=True)]
    place = Path(folder) / entity / project
    try:
        place.mkdir(parents=True)
    except FileExistsError:
        raise ParameterError(f"{place} is there already; give another folder") from None
    except OSError as error:
        raise ParameterError(f"{place} cannot be written: {error.strerror}") from None
    try:
        for about, (run_text, table_text) in zip(described, texts, strict=True):
            (place / about["id"]).mkdir()
            (place / about["id"] / RUN).write_text(run_text, encoding="utf-8")
            (place / about["id"] / TABLE).write_text(table_text, encoding="utf-8")
        _write_index(place / INDEX, described)
    except (OSError, ValueError, sqlite3.Error) as error:  # ValueError: a text without a form in UTF-8
        shutil.rmtree(place, ignore_errors=True)
        raise ParameterError(f"{place} cannot be written: {error}") from None
    return place


def _texts(run: TrackedRun, about: Mapping[str, Any]) -> tuple[str, str]:
    """The content of a run's two files; ParameterError where it has none."""
    try:
        return json.dumps(about, indent=1, allow_nan=False) + "\n", _table_text(run.columns)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"the run {about['name']} cannot be written: {error}") from None


def _key(run: TrackedRun) -> str:
    try:
        return "__".join(str(run.config[name]) for name in ("env_id", "exp_name", "seed"))
    except KeyError as missing:
        raise ParameterError(f"a run has no {missing} in its configuration") from None


def _described(run: TrackedRun, key: str, entity: str, project: str) -> dict[str, Any]:
    """What run.json holds. A value of the configuration is {"value": ...}, as the service stores it: queries ask for
    `env_id.value`, which older versions of the reader take for a path and newer ones for a name."""
    id = hashlib.sha256(key.encode()).hexdigest()[:8]
    config: dict[str, Any] = {name: {"value": value} for name, value in run.config.items()}
    config |= {f"{name}.value": run.config[name] for name in ("env_id", "exp_name", "seed")}
    about: dict[str, Any] = {
        "id": id,
        "name": key,
        "state": "finished",
        "url": "",
        "project": project,
        "entity": entity,
    }
    about |= {"config": config, "tags": list(run.tags), "path": [entity, project, id]}
    return {**about, "user": {"username": entity, "name": entity}}


def _table_text(columns: Mapping[str, np.ndarray]) -> str:
    """A table as pandas writes it: the number of each row first, empty cells for NaN."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["", *columns])
    for number, row in enumerate(zip(*columns.values(), strict=True)):
        writer.writerow([number, *("" if math.isnan(value) else repr(float(value)) for value in row)])
    return out.getvalue()


def _write_index(file: Path, described: Sequence[Mapping[str, Any]]) -> None:
    names = ("id", "name", "state", "url", "path", "username", "project", "entity", "config")
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.executescript(TABLES)
        tags = {tag: number for number, tag in enumerate(dict.fromkeys(t for one in described for t in one["tags"]), 1)}
        connection.executemany("INSERT INTO tag VALUES (?, ?)", [(number, tag) for tag, number in tags.items()])
        for row, about in enumerate(described, 1):
            values = {**about, "username": about["user"]["username"]}
            cells = [json.dumps(values[name]) if name in ("path", "config") else values[name] for name in names]
            connection.execute(f"INSERT INTO offlinerun VALUES ({', '.join('?' * len(names))})", cells)
            through = [(tags[tag], row) for tag in about["tags"]]
            connection.executemany("INSERT INTO tag_offlinerun_through (tag_id, offlinerun_id) VALUES (?, ?)", through)


def read_runs(folder: str | Path) -> list[TrackedRun]:
    """All finished runs below a folder, ours and those that Open RL Benchmark's program has fetched.

    Columns that are no numbers are left out.

    Raises:
        RunError: there is none, or one is damaged.
    """
    files = sorted(Path(folder).rglob(RUN))
    if not files:
        raise RunError(f"{folder} contains no run: no file {RUN} lies below it")
    return [run for run in map(_read_run, files) if run is not None]


def _read_run(file: Path) -> TrackedRun | None:
    try:
        about = json.loads(read_file(file, LARGEST))
        if about["state"] == "running":
            return None
        config = {
            name: value["value"] if isinstance(value, dict) and "value" in value else value
            for name, value in about["config"].items()
        }
        head, *rows = csv.reader(io.StringIO(read_file(file.with_name(TABLE), LARGEST).decode("utf-8"), newline=""))
        found = {}
        filled = [row for row in rows if row]
        columns = zip(*filled, strict=True) if filled else [()] * len(head)  # a run may have logged nothing
        for name, cells in zip(head, columns, strict=True):
            numbers = [_number(cell) for cell in cells]
            if name and None not in numbers:
                found[name] = np.array(numbers, np.float64)
        return TrackedRun(config, found, tuple(about.get("tags", ())))
    except OSError as error:
        raise RunError(f"{file.parent} is not a whole run: {error.filename}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, csv.Error) as error:
        raise RunError(f"{file.parent} is not a run, or is damaged: {str(error)[:200]}") from None


def _number(cell: str) -> float | None:
    try:
        return float(cell) if cell else math.nan
    except ValueError:
        return None


# --- results ----------------------------------------------------------------------------------------------------------


class Result(NamedTuple):
    """Mean over seeds of the last values, their standard deviation (of the seeds themselves: divided by their number),
    and how many seeds there are; 0 where a table does not say."""

    mean: float
    deviation: float
    seeds: int = 0

    def __str__(self) -> str:
        return f"{self.mean:.2f} ± {self.deviation:.2f}"


def result_of(runs: Iterable[TrackedRun], metric: str, last: int = 100, until: float = math.inf) -> Result | None:
    """What runs reach: of each the mean of its last values, over the runs mean and deviation.

    Args:
        runs: of an environment and an experiment. metric: a column.
        last: how many values; 100 for training episodes, 1 for evaluations.
        until: steps; what was logged later does not count.

    Returns:
        None where no run has values.
    """
    last, ends = positive("last", last), []
    for run in runs:
        values, steps = run.columns.get(metric, np.empty(0)), run.columns.get(STEPS, np.empty(0))
        order = np.argsort(steps, kind="stable")
        known = [values[i] for i in order if math.isfinite(values[i]) and steps[i] <= until] if len(values) else []
        if known:
            ends.append(float(np.mean(known[-last:])))
    return Result(float(np.mean(ends)), float(np.std(ends)), len(ends)) if ends else None


def results_text(results: Mapping[str, Mapping[str, Result]]) -> str:
    """A table of results, by environment and label, as rlops writes it as CSV."""
    labels = list(dict.fromkeys(label for row in results.values() for label in row))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["", *labels])
    writer.writerows([env, *(str(row.get(label, "nan ± nan")) for label in labels)] for env, row in results.items())
    return out.getvalue()


def read_results(text: str) -> dict[str, dict[str, Result]]:
    """A table of results that rlops has written as CSV; cells without a number are left out.

    Raises:
        RunError: it is none.
    """
    try:
        (corner, *labels), *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        if corner or not labels:
            raise ValueError("its head does not begin with an empty cell")
        found: dict[str, dict[str, Result]] = {}
        for env, *cells in rows:
            pairs = [[float(part) for part in cell.split("±")] for cell in cells]
            numbers = {label: Result(mean, spread) for label, (mean, spread) in zip(labels, pairs, strict=True)}
            found[env] = {label: result for label, result in numbers.items() if math.isfinite(result.mean)}
    except (ValueError, TypeError, csv.Error) as error:
        raise RunError(f"this is no table of results: {error}") from None
    return found
