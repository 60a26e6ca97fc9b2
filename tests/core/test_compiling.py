"""Compiling: which numba can, what breaks into it, whose fault an error is."""

import re
import signal
import subprocess
import sys
import tomllib
from itertools import count

import numba
import pytest
from support.places import ROOT

from rlenvs.core import block, continuous, f8, kernel, term, world
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.compiler.intermediate import COUNTERS, AxesKnown
from rlenvs.core.compiler.jit import NUMBA
from rlenvs.core.compiler.loops import compiled
from rlenvs.core.declare.errors import DependencyError, KernelError

numbers = count()


def new_world():
    """A world like no other, which is therefore not compiled yet."""
    n = next(numbers)
    spec = world(
        f"New{n}-v0",
        doc="A point.",
        state={"x": f8},
        observation={"x": block(low=-10, high=10)},
        action=continuous("push"),
        terms={"x": term(-100, 100)},
        horizon=10,
        same_start=True,
    )

    @spec.reset
    def reset(p, s, rng):
        s.x = n

    @spec.step
    def step(p, s, a, rng, r):
        s.x += a[0]
        r.x = s.x

    @spec.observe
    def observe(p, s, o):
        o.x = s.x

    return spec


def first_reward(spec):
    batch = KernelBatch(spec, 1)
    batch.seed([0])
    batch.reset()
    batch.step([[0.5]])
    return batch.rewards[0, 0]


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("RLENVS_CACHE_DIR", str(tmp_path))


@pytest.fixture
def in_the_midst(monkeypatch):
    """Lets something happen once while a kernel is compiled."""
    happenings = []
    run_pass = AxesKnown.run_pass

    def run_and_more(self, state):
        if happenings:
            happenings.pop()()
        return run_pass(self, state)

    monkeypatch.setattr(AxesKnown, "run_pass", run_and_more)
    return happenings


@pytest.fixture
def alarm():
    """A signal handler that raises, and a list of what was raised."""
    raised = []

    def ring(number, frame):
        raised.append(number)
        raise TimeoutError("too late")

    before = signal.signal(signal.SIGALRM, ring)
    yield raised
    signal.signal(signal.SIGALRM, before)


GAIN = 1.0


@pytest.mark.budget(5)
def test_no_references_are_counted():
    """numba counts them for arrays, call by call, and kernels make none."""
    spec = world(
        f"New{next(numbers)}-v0",
        doc="Points.",
        state={"x": f8(40)},
        observation={"x": block(40, low=-10.0, high=10.0)},
        action=continuous("push"),
        terms={"x": term(-10.0, 10.0)},
        horizon=20,
    )

    @kernel
    def nearest(points, place):
        found = 0
        for n in range(points.size):
            if abs(points[n] - place) < abs(points[found] - place):
                found = n
            elif points[n] > 1e6:
                continue
        return found

    @spec.reset
    def reset(p, s, rng):
        s.x[:] = 0.0

    @spec.step
    def step(p, s, a, rng, r):
        for n in range(3):
            s.x[nearest(s.x, a[0] + n)] += a[0]
        r.x = s.x[nearest(s.x, 0.0)]

    @spec.observe
    def observe(p, s, o):
        for n in range(40):
            o.x[n] = s.x[n]

    (compiled_loop,) = KernelBatch(spec, 1).loops.driver.run_worlds.overloads.values()
    made = compiled_loop.library.get_llvm_str()
    assert not [name for name in COUNTERS if f"@{name}(" in made]


def test_a_global_that_changes_while_python_runs_is_refused(monkeypatch):
    """In what is made of the same world, and in what compiled code is asked for later."""
    spec = new_world()

    @spec.observe
    def observe(p, s, o):
        o.x = GAIN

    first = KernelBatch(spec, 1)
    monkeypatch.setitem(globals(), "GAIN", 2.0)
    words = "GAIN, which .*observe uses, has changed from 1.0 to 2.0"
    with pytest.raises(KernelError, match=words):
        KernelBatch(spec, 1)
    with pytest.raises(KernelError, match=words):
        first.reset()
    monkeypatch.setitem(globals(), "GAIN", 1.0)
    assert KernelBatch(spec, 1).num_envs == 1


@pytest.mark.parametrize("version", ["0.62.1", "0.69.0rc1", "1.0.0"])
def test_another_numba_is_named_with_the_fix(monkeypatch, version):
    monkeypatch.setattr(numba, "__version__", version)
    with pytest.raises(DependencyError, match=rf"numba {version} cannot .* pip install 'numba>=0.63,<0.69'"):
        first_reward(new_world())


def test_the_gate_stands_before_names_that_another_numba_may_not_have():
    code = (
        "import numba, numba.core.ir_utils as moved; numba.__version__ = '0.99.0'; del moved.guard\n"
        "import rlenvs.core.compiler.jit"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr.splitlines()[-1]
    assert re.fullmatch(r".*DependencyError: numba 0.99.0 cannot .* pip install 'numba>=0.63,<0.69'", told)


def test_what_is_installed_may_be_just_what_works():
    first, end = NUMBA
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["compile"]
    assert f"numba>={first[0]}.{first[1]},<{end[0]}.{end[1]}" in wanted
    pinned, oldest = (
        re.search(r"^numba==(\d+)\.(\d+)", (ROOT / file).read_text(), re.M)
        for file in ("constraints.txt", "constraints-oldest.txt")
    )
    assert (int(pinned[1]), int(pinned[2]) + 1) == end  # CI tests the newest that may be installed
    assert (int(oldest[1]), int(oldest[2])) == first


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="there are no alarms")
def test_a_signal_waits_until_a_world_is_compiled(in_the_midst, alarm):
    spec = new_world()
    in_the_midst.append(lambda: signal.raise_signal(signal.SIGALRM))
    with pytest.raises(TimeoutError, match="too late"):
        first_reward(spec)
    assert alarm == [signal.SIGALRM]
    assert signal.getsignal(signal.SIGALRM).__name__ == "ring"
    assert first_reward(spec) == first_reward(new_world()) - 1


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="there are no alarms")
def test_a_signal_waits_until_a_loop_is_compiled(alarm):
    @numba.extending.intrinsic
    def rung(context):
        signal.raise_signal(signal.SIGALRM)
        return numba.int64(), lambda context, builder, signature, values: context.get_constant(numba.int64, 7)

    loop = compiled()(lambda: rung())
    with pytest.raises(TimeoutError, match="too late"):
        loop()
    assert loop() == 7


def test_what_is_not_the_kernels_fault_is_raised_as_it_is(in_the_midst):
    def fail():
        raise MemoryError("no more")

    spec = new_world()
    in_the_midst.append(fail)
    with pytest.raises(MemoryError, match="no more"):
        first_reward(spec)
    assert first_reward(spec) == first_reward(new_world()) - 1
