"""The compiled driver on disk: reused by the next process, rebuilt when any source changes, safe under races."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

WORLD = """
from rlenvs.core import block, continuous, f8, kernel, term, world
from {package}.physics import GAIN, push

SPEC = world(
    "Cached-v0", doc="A point.", state={{"x": f8}}, observation={{"x": block(low=-10, high=10)}},
    action=continuous("push"), terms={{"x": term(-100, 100)}}, horizon=10, same_start=True,
)

@SPEC.reset
def reset(p, s, rng):
    s.x = 0.0

@SPEC.step
def step(p, s, a, rng, r):
    push(s, a[0])
    r.x = GAIN * s.x

@SPEC.observe
def observe(p, s, o):
    o.x = s.x
"""
PHYSICS = """
from rlenvs.core import kernel
GAIN = {gain}

@kernel
def push(s, a):
    s.x += {step} * a
"""
RUN = """
import sys
sys.path.insert(0, {folder!r})
from numba.core import event
compiled = []
class Listener(event.Listener):
    def on_start(self, e): compiled.append(e.data)
    def on_end(self, e): pass
event.register("numba:compile", Listener())
from rlenvs.core.batch import KernelBatch
from {package}.world import SPEC
batch = KernelBatch(SPEC, 2)
batch.seed([0, 1]); batch.reset(); batch.step([[1.0], [1.0]])
print(batch.rewards[0, 0], len(compiled))
"""


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "pkg"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "world.py").write_text(WORLD.format(package="pkg"))
    write_physics(folder)
    return folder


def write_physics(folder, gain=1.0, step=0.5):
    (folder / "physics.py").write_text(PHYSICS.format(gain=gain, step=step))


def command(folder):
    return [sys.executable, "-c", textwrap.dedent(RUN.format(folder=str(folder.parent), package=folder.name))]


def run(folder, cache):
    output = subprocess.run(
        command(folder), capture_output=True, text=True, check=True, env={**os.environ, "RLENVS_CACHE_DIR": str(cache)}
    )
    reward, compiled = output.stdout.split()
    return float(reward), int(compiled)


def test_a_second_process_compiles_nothing_and_edits_are_picked_up(package, tmp_path):
    cache = tmp_path / "cache"
    reward, compiled = run(package, cache)
    assert reward == 0.5
    assert compiled > 0
    assert run(package, cache) == (0.5, 0)
    write_physics(package, step=0.25)  # a kernel in another file
    reward, compiled = run(package, cache)
    assert reward == 0.25
    assert compiled > 0
    write_physics(package, gain=4.0, step=0.25)  # a constant that the world imports
    assert run(package, cache)[0] == 1.0


def test_processes_may_compile_at_once(package, tmp_path):
    environment = {**os.environ, "RLENVS_CACHE_DIR": str(tmp_path / "cache")}
    jobs = [subprocess.Popen(command(package), stdout=subprocess.PIPE, text=True, env=environment) for _ in range(3)]
    assert [job.communicate()[0].split()[0] for job in jobs] == ["0.5"] * 3
    assert run(package, tmp_path / "cache") == (0.5, 0)
    assert not list((tmp_path / "cache").glob("*.tmp"))


def test_an_unwritable_cache_falls_back(package, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    environment = {**os.environ, "RLENVS_CACHE_DIR": str(blocked / "cache"), "XDG_CACHE_HOME": str(blocked)}
    output = subprocess.run(command(package), capture_output=True, text=True, check=True, env=environment)
    assert output.stdout.split()[0] == "0.5"


def test_worlds_from_a_console_work_without_a_file():
    source = Path(__file__).parent.parent / "examples" / "own_world.py"
    code = source.read_text().split("if __name__")[0] + (
        "from rlenvs.core.batch import KernelBatch\n"
        "b = KernelBatch(SPEC, 2); b.seed([0, 1]); b.reset(); b.step([0, 1]); print(b.rewards.shape)\n"
    )
    output = subprocess.run([sys.executable, "-"], input=code, capture_output=True, text=True, check=True)
    assert output.stdout.strip() == "(2, 1)"
