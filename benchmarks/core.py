"""What the core promises, measured: `python benchmarks/core.py` (a few minutes, on an idle machine).

Share of a batch step inside compiled code, gain of a second thread, memory per world, time of `import rlenvs` beside
`import gymnasium`, what a second process compiles and how long its first make and reset take, time to make a track.
"""

import os
import statistics
import subprocess
import sys
from time import perf_counter
from types import SimpleNamespace

import numpy as np

import rlenvs

IDS = [id for id in rlenvs.list_envs() if "/mo-" not in id]


def best(function, repeats: int = 40) -> float:
    """The shortest of some runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return min(times)


def compiled_share(id: str, worlds: int = 4096) -> float:
    """Time inside the compiled loop over the time of a whole step of the native vector form (batch with agents)."""
    if id in rlenvs.list_envs("multi-agent"):
        batch = rlenvs.make_batch(id, worlds, threads=1)
        batch.seed(range(worlds))
        batch.reset()
        actions = np.random.default_rng(0).integers(batch.setup.action_size, size=batch.actions.shape[:2])
        envs = batch
    else:
        envs = rlenvs.make_vec(id, worlds, threads=1, copy=False)
        envs.reset(seed=0)
        actions, batch = envs.action_space.sample(), envs.unwrapped.batch
    envs.step(actions)
    run, inside = batch._driver.run_worlds, []

    def timed(*arguments: int) -> int:
        start = perf_counter()
        code = run(*arguments)
        inside.append(perf_counter() - start)
        return code

    batch._driver = SimpleNamespace(run_worlds=timed)
    whole = []
    for _ in range(100):
        start = perf_counter()
        envs.step(actions)
        whole.append(perf_counter() - start)
    return sum(inside) / sum(whole)


def thread_gain(id: str, worlds: int = 16384) -> float:
    """Steps per second with two threads over those with one, in turn; the median of the ratios."""
    batches = [rlenvs.make_batch(id, worlds, threads=threads) for threads in (1, 2)]
    for batch in batches:
        batch.seed(range(worlds))
        batch.reset()
        batch.step_loaded()
    ratios = []
    for _ in range(30):
        one, two = (best(batch.step_loaded, 1) for batch in batches)
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


def import_cost() -> float:
    """How much longer `import rlenvs` takes than `import gymnasium`; the start of Python is left out of both."""
    ratios = []
    for _ in range(15):
        bare, gym, ours = (wall(code, 1) for code in ("pass", "import gymnasium", "import rlenvs"))
        ratios.append((ours - bare) / (gym - bare))
    return statistics.median(ratios) - 1.0


FIRST = """
from time import perf_counter
start = perf_counter()
import gymnasium, rlenvs
from numba.core import event
compiled = []
class Listener(event.Listener):
    def on_start(self, e): compiled.append(1)
    def on_end(self, e): pass
event.register("numba:compile", Listener())
gymnasium.make("rlenvs/QuadHover-v0").reset(seed=0)
print(round(perf_counter() - start, 3), "s with imports,", len(compiled), "functions compiled")
"""


def main() -> None:
    print(f"{os.cpu_count()} cores")
    for id in IDS:
        print(f"{id:28} share of a step inside compiled code, 4096 worlds: {compiled_share(id):.0%}")
    print(f"two threads over one, QuadHover, 16384 worlds: {thread_gain('QuadHover-v0'):.2f}")
    for id in IDS:
        batch = rlenvs.make_batch(id, 64)
        print(f"{id:28} bytes per world: {batch.nbytes / 64:,.0f}")
    print(f"import rlenvs over import gymnasium: {import_cost():+.1%}")
    for _ in range(3):
        print("first make and reset of QuadHover in a process:", end=" ", flush=True)
        subprocess.run([sys.executable, "-c", FIRST], check=True)
    tracks = rlenvs.make_batch("MicroRacer-v0", 256, threads=1)
    tracks.seed(range(256))
    print(f"a MicroRacer track with its first view: {best(tracks.reset, 10) / 256 * 1e6:.0f} us")


if __name__ == "__main__":
    main()
