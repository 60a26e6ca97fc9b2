"""A plugin of pytest: runs the units of tests that a plan names, and notes what each took.

A unit is a file of tests; of tests that go through all ids, one id of a file; of those that look at everything at
once, the file's "*".
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.rotation import few_in_turn, has_its_turn

PLAN = "RLENVS_TEST_PLAN"  # the path of the plan
EVERYTHING = "*"
LONG = 2.0  # s of processor time that a test may take, see `reference_seconds`
CASES = 1  # of each test that runs where a sample is enough, another with each commit


def unit_name(file: str, id: str = "") -> str:
    """What the record calls a unit."""
    return f"{file} {id}".strip()


def processor_time() -> float:
    """Seconds that this process and those that it waited for have taken."""
    taken = os.times()
    return taken.user + taken.system + taken.children_user + taken.children_system


LOOP, REFERENCE = 400_000, 0.0086  # turns, and the seconds that an idle core of the reference machine takes for them


def reference_seconds(taken: float) -> float:
    """Processor time as an idle core of the reference machine would have taken it: what a loop takes here and now says
    how slow this one is. Two threads of a core slow each other down by up to 1.7."""
    start = time.process_time()
    for _ in range(LOOP):
        pass
    return taken / max(1.0, (time.process_time() - start) / REFERENCE)


@contextlib.contextmanager
def compiling_counted(counted: list[float]) -> Iterator[None]:
    """Note the processor time in which this process compiles: which test pays for it depends on their order."""
    try:
        from numba.core.dispatcher import Dispatcher
    except ImportError:
        yield
        return
    real, depth = Dispatcher.compile, [0]

    def compile_counted(dispatcher: Dispatcher, signature: Any) -> Any:
        start = time.process_time()
        depth[0] += 1
        try:
            return real(dispatcher, signature)
        finally:
            depth[0] -= 1
            if depth[0] == 0:  # what a function calls is compiled within it
                counted.append(time.process_time() - start)

    Dispatcher.compile = compile_counted  # type: ignore[method-assign]
    try:
        yield
    finally:
        Dispatcher.compile = real  # type: ignore[method-assign]


@contextlib.contextmanager
def other_kinds_skipped(ids: Collection[str], chosen: Iterable[str], skipped: list[str]) -> Iterator[None]:
    """Skip tests that would compile a world of the catalogue of another kind than those that are chosen.

    Args:
        ids: of the catalogue; where there are none, nothing is skipped.
        chosen: one id of each kind that may be compiled.
        skipped: the names of worlds for which a test was skipped are added to it.
    """
    if not ids or importlib.util.find_spec("rlenvs.core.catalogue") is None:  # a package of this name, in tests
        yield
        return
    from rlenvs.core.catalogue.registry import world_of
    from rlenvs.core.compiler.build import CompiledDriver

    steps = [world_of(id).kernels.get("step") for id in chosen]
    real = CompiledDriver._finished

    def finished(driver: CompiledDriver, entry: Any, prepare: Callable[[], object] = lambda: None) -> Any:
        world = driver.world
        other = world.name in ids and world.kernels.get("step") not in steps
        other = other and threading.current_thread() is threading.main_thread()  # elsewhere nobody skips

        def skip() -> None:
            skipped.append(world.name)
            pytest.skip(f"{world.name} is of a kind that did not change, and not compiled yet: run.py test --all")

        return real(driver, entry, skip if other else prepare)

    CompiledDriver._finished = finished  # type: ignore[method-assign]
    try:
        yield
    finally:
        CompiledDriver._finished = real  # type: ignore[method-assign]


def peak_memory() -> float:
    """GiB that this process has held at most; 0 where the system does not say it."""
    if sys.platform == "win32":
        return 0.0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)


class Selection:
    """Keeps what the plan names.

    Args:
        root: of the repository.
        plan: "units" to run, "sampled": those of which one case of each test is enough, "whole": by file the
            functions that go through all ids, "ids": all names, "kinds": those of these whose kinds may be compiled,
            none for all, "turns": of how many parts of the tests one runs, "report": where the outcomes go.
    """

    def __init__(self, root: Path, plan: dict[str, Any]) -> None:
        self.root, self.plan = root, plan
        self.units, self.ids = set(plan["units"]), set(plan["ids"])
        self.whole = {file: set(names) for file, names in plan["whole"].items()}
        self.tests: dict[str, dict[str, Any]] = {}

    def unit_of(self, item: pytest.Item) -> str:
        """The unit that a test belongs to."""
        file = str(item.path.relative_to(self.root))
        if getattr(item, "originalname", item.name) not in self.whole.get(file, ()):
            return unit_name(file)
        given = item.callspec.params.values() if hasattr(item, "callspec") else ()
        names = (str(getattr(value, "id", value)).removeprefix("rlenvs/") for value in given)
        return unit_name(file, next((name for name in names if name in self.ids), EVERYTHING))

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        turns, planned = self.plan.get("turns", 1), [item for item in items if self.unit_of(item) in self.units]
        chosen = {item.nodeid for item in planned if has_its_turn(item.nodeid, turns)} - self._beyond_sample(planned)
        kept = [item for item in items if item.nodeid in chosen]
        left = [item for item in items if item.nodeid not in chosen]
        config.hook.pytest_deselected(items=left)
        items[:] = kept

    def _beyond_sample(self, items: list[pytest.Item]) -> set[str]:
        """The cases that are left out where one is enough."""
        cases: dict[str, list[str]] = {}
        for item in items:
            if self.unit_of(item) in self.plan.get("sampled", ()):
                cases.setdefault(item.nodeid.partition("[")[0], []).append(item.nodeid)
        return {name for names in cases.values() for name in set(names) - few_in_turn(names, CASES)}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        start, begun, compiled, skipped = processor_time(), time.monotonic(), [], []
        entry = self.tests[item.nodeid] = {"unit": self.unit_of(item), "failed": False, "seconds": 0.0}
        kinds = self.plan.get("kinds", ())
        try:
            with compiling_counted(compiled), other_kinds_skipped(self.ids if kinds else (), kinds, skipped):
                return (yield)
        finally:
            # what the system counts late, of processes that ended in earlier tests, is not this test's
            taken = min(processor_time() - start, (time.monotonic() - begun) * (os.cpu_count() or 1))
            own = taken - sum(compiled)
            own = reference_seconds(own) if own > LONG else own
            budget = max((mark.args[0] for mark in item.iter_markers("budget")), default=LONG)
            share = 0.0 if item.get_closest_marker("slow") else own / budget
            entry |= {"seconds": round(taken, 2), "own": round(own, 2), "of_budget": round(share, 2)}
            entry["in_part"] = bool(skipped)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.tests[report.nodeid]["failed"] = True

    def pytest_sessionfinish(self) -> None:
        told = {"tests": self.tests, "memory": round(peak_memory(), 2)}
        Path(self.plan["report"]).write_text(json.dumps(told), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Only under a plan."""
    if PLAN in os.environ:
        plan = json.loads(Path(os.environ[PLAN]).read_text(encoding="utf-8"))
        config.pluginmanager.register(Selection(config.rootpath, plan), "selection")
