"""What the core promises, measured: `python benchmarks/core.py [ID ...]` (some minutes, on an idle machine).

Share of a batch step inside compiled code, gain of a second thread, memory per world, time of `import rlenvs` beside
`import gymnasium`, what a second process compiles and how long its first make and reset take, time to make a track.
"""

import argparse
import os
import statistics
import subprocess
import sys
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

import rlenvs
from rlenvs.core.catalogue.registry import entry

IDS = [id for id in rlenvs.list_envs() if "/mo-" not in id]


def best(function, repeats: int = 40) -> float:
    """The shortest of some runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return min(times)


class Timed:
    """A driver whose loop over worlds notes how long it takes."""

    def __init__(self, driver: Any) -> None:
        self._driver, self.inside = driver, []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver, name)

    def run_worlds(self, *arguments: int) -> int:
        return self._note(self._driver.run_worlds, *arguments)

    def run_blocks(self, own: bool) -> Any:
        return partial(self._note, self._driver.run_blocks(own))

    def _note(self, function: Any, *arguments: int) -> int:
        start = perf_counter()
        code = function(*arguments)
        self.inside.append(perf_counter() - start)
        return code


def compiled_share(id: str, worlds: int) -> float:
    """Time inside the compiled loop over the time of a whole step of the native vector form (batch with agents)."""
    if id in rlenvs.list_envs("multi-agent"):
        envs = batch = rlenvs.make_batch(id, worlds, threads=1)
        batch.seed(range(worlds))
        batch.reset()
        actions = random_actions(batch)
    else:
        envs = rlenvs.make_vec(id, worlds, threads=1, copy=False)
        envs.reset(seed=0)
        actions, batch = envs.action_space.sample(), envs.unwrapped.batch
    envs.step(actions)
    timed = batch.loops.driver = Timed(batch.loops.driver)
    whole = []
    for _ in range(100):
        start = perf_counter()
        envs.step(actions)
        whole.append(perf_counter() - start)
    return sum(timed.inside) / sum(whole)


def random_actions(batch: Any) -> np.ndarray:
    generator = np.random.default_rng(0)
    if batch.setup.continuous:
        return batch.setup.spread_action(generator.uniform(-1.0, 1.0, batch.actions.shape))
    return generator.integers(batch.setup.action_size, size=batch.actions.shape[:2])


def thread_gain(id: str, worlds: int, repeats: int) -> float:
    """Steps per second with two threads over those with one, in turn; the median of the ratios."""
    batches = [rlenvs.make_batch(id, worlds, threads=threads) for threads in (1, 2)]
    for batch in batches:
        batch.seed(range(worlds))
        batch.reset()
        batch.step_inplace()
    ratios = []
    for _ in range(repeats):
        one, two = (best(batch.step_inplace, 1) for batch in batches)
        ratios.append(one / two)
    return statistics.median(ratios)


def wall(code: str, repeats: int = 15) -> float:
    """Median time of a Python process."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        times.append(perf_counter() - start)
    return statistics.median(times)


def import_cost(repeats: int) -> float:
    """How much longer `import rlenvs` takes than `import gymnasium`; the start of Python is left out of both."""
    ratios = []
    for _ in range(repeats):
        bare, gym, ours = (wall(code, 1) for code in ("pass", "import gymnasium", "import rlenvs"))
        ratios.append((ours - bare) / (gym - bare))
    return statistics.median(ratios) - 1.0


FIRST = """
from time import perf_counter
start = perf_counter()
import gymnasium, rlenvs
from numba.core.dispatcher import _FunctionCompiler
compiled = []
compile_one = _FunctionCompiler.compile
def compile_and_note(self, args, return_type):
    compiled.append(1)
    return compile_one(self, args, return_type)
_FunctionCompiler.compile = compile_and_note
gymnasium.make("rlenvs/QuadHover-v0").reset(seed=0)
print(round(perf_counter() - start, 3), "s with imports,", len(compiled), "functions compiled")
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", help="environments; all by default")
    parser.add_argument("--quick", action="store_true", help="few worlds and repeats: to see that it runs")
    options = parser.parse_args()
    few = options.quick
    worlds, repeats = (16, 2) if few else (4096, 30)
    ids = [entry(id).id for id in options.ids] or IDS
    print(f"{os.cpu_count()} cores")
    for id in ids:
        share = compiled_share(id, worlds)
        print(f"{id:28} share of a step inside compiled code, {worlds} worlds: {share:.0%}", flush=True)
    gain = thread_gain("QuadHover-v0", 4 * worlds, repeats)
    print(f"two threads over one, QuadHover, {4 * worlds} worlds: {gain:.2f}")
    for id in ids:
        batch = rlenvs.make_batch(id, 64)
        print(f"{id:28} bytes per world: {batch.nbytes / 64:,.0f}")
    print(f"import rlenvs over import gymnasium: {import_cost(1 if few else 15):+.1%}")
    for _ in range(1 if few else 3):
        print("first make and reset of QuadHover in a process:", end=" ", flush=True)
        subprocess.run([sys.executable, "-c", FIRST], check=True)
    tracks = rlenvs.make_batch("MicroRacer-v0", 4 if few else 256, threads=1)
    tracks.seed(range(tracks.num_envs))
    seconds = best(tracks.reset, 1 if few else 10)
    print(f"a MicroRacer track with its first view: {seconds / tracks.num_envs * 1e6:.0f} us")


if __name__ == "__main__":
    main()
