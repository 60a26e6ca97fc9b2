import contextlib
import ctypes
import functools
import gc
import os
import random
import sys
import warnings

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
# test processes share the cores: threads of NumPy's and torch's that wait for each other took most of the suite's time
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("RLENVS_TARGET", "none")  # tests are of what is compiled here, whatever libraries there are
os.environ["RLENVS_QUIET"] = "1"  # what is said of progress depends on how fast the machine is

import numpy as np
import pytest
from hypothesis import settings

# Draws that no test seeds are the same in each run: what fails can be repeated, and no run fails by chance.
# RLENVS_TEST_SEED=2 draws others.
SEED = os.environ.get("RLENVS_TEST_SEED", "1")
settings.register_profile("rlenvs", deadline=None, derandomize=SEED == "1")
settings.load_profile("rlenvs")
entropy = random.Random(SEED)
np.random.bit_generator.randbits = lambda bits: entropy.getrandbits(bits)  # what `default_rng()` asks for


@contextlib.contextmanager
def _drawn_for(name):
    """Within it, draws without a seed depend on `name` alone, and not on what ran before."""
    global entropy
    outer, entropy = entropy, random.Random(f"{SEED} {name}")
    random.seed(entropy.getrandbits(32))
    np.random.seed(entropy.getrandbits(32))  # noqa: NPY002
    try:
        yield
    finally:
        entropy = outer


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    with _drawn_for(item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef):
    """What several tests share does not depend on which of them comes first."""
    if fixturedef.scope == "function":
        return (yield)
    with _drawn_for(fixturedef.argname):
        return (yield)


def pytest_addoption(parser):
    parser.addoption("--ids", help="of the tests of all registered ids, those of these alone (with commas between)")


def pytest_collection_modifyitems(config, items):
    chosen = config.getoption("--ids")
    if chosen:
        ids = [getattr(item, "callspec", None) and item.callspec.params.get("id") for item in items]
        kept = [not str(id).startswith("rlenvs/") or id in chosen.split(",") for id in ids]
        config.hook.pytest_deselected(items=[item for item, keep in zip(items, kept, strict=True) if not keep])
        items[:] = [item for item, keep in zip(items, kept, strict=True) if keep]


def _trim():
    """Give memory that was freed back to the system, where the library of C keeps it otherwise."""
    if sys.platform == "linux" and hasattr(ctypes.CDLL(None), "malloc_trim"):
        ctypes.CDLL(None).malloc_trim(0)


ROOM = 200 << 20  # bytes by which a test process may grow before garbage is looked for, which takes 0.2 s
left = 0.0  # bytes of memory that were held when garbage had been looked for


def _resident():
    """Bytes of memory that this process holds; where the system does not say it in a file, too many."""
    try:
        with open("/proc/self/statm") as file:
            return float(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return float("inf")


def _free_memory():
    """Without this a test process keeps what its largest tests needed."""
    global left
    if _resident() < left + ROOM:
        return
    gc.collect()
    _trim()
    left = _resident()


@pytest.fixture(autouse=True, scope="module")
def free_memory():
    """Memory goes back to the system after each file of tests."""
    yield
    _free_memory()


@pytest.fixture(scope="module")
def sockets_closed():
    """Notebooks leave sockets to the garbage, which would complain in a later test that takes warnings for errors."""
    yield
    gc.collect()


@pytest.fixture
def trimmed():
    """Memory goes back to the system after the test already."""
    yield
    _free_memory()


def pytest_collection_finish():
    """Garbage is looked for among what tests make, not each time among all that was imported."""
    global left
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    left = _resident()


class Clock:
    """Notes the rates that a window asks for, and waits for none."""

    def __init__(self):
        self.rates = []

    def tick(self, rate):
        self.rates.append(rate)


@pytest.fixture
def clock(monkeypatch):
    """The clock of windows, which would let the tests sleep for most of their time."""
    import pygame

    found = Clock()
    monkeypatch.setattr(pygame.time, "Clock", lambda: found)
    return found


@pytest.fixture(scope="module")
def mujoco():
    return pytest.importorskip("mujoco", reason="mujoco is not installed: its worlds are not tested")


NO_OPENGL = "images of MuJoCo worlds need OpenGL, which does not work here"


@functools.cache
def has_opengl():
    from rlenvs.core.declare.errors import EngineError
    from rlenvs.kits.engines.images import gl_context

    try:
        gl_context(8, 8).free()
    except EngineError:
        return False
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """What draws MuJoCo's worlds, in whatever way, is skipped on a machine without OpenGL."""
    report = yield
    if report.failed and NO_OPENGL in report.longreprtext and not has_opengl():
        report.outcome = "skipped"
        report.longrepr = (str(item.path), item.location[1], f"Skipped: {NO_OPENGL} on this machine")
    return report


@pytest.fixture
def strict():
    """Warnings are errors, but for Gymnasium's opinions of infinite bounds and of actions beyond [-1, 1], which its own
    environments have, and of numbers that never change, which Meta-World's have."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*A Box observation space (min|max)imum value is -?infinity")
        warnings.filterwarnings("ignore", ".*maximum and minimum values are equal")
        warnings.filterwarnings("ignore", ".*recommend using a symmetric and normalized space")
        yield


@pytest.fixture
def strict_kit(strict):
    """Warnings are errors, but for those that PettingZoo's kit gives to every world with masks, with images, with
    agents that differ, or whose fallen agents see nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PettingZoo's kit uses what PettingZoo deprecates
        import pettingzoo.test  # noqa: F401
    warnings.filterwarnings("ignore", ".*reset ignores the options")  # the kit passes an option that nobody knows
    warnings.filterwarnings("ignore", "Observation space for each agent probably should be")  # masks need a Dict
    warnings.filterwarnings("ignore", "Action space for each agent probably should be")  # several choices at once
    warnings.filterwarnings("ignore", "Observation is not a NumPy array")
    warnings.filterwarnings("ignore", ".* space value is -?infinity")  # as in PettingZoo's own environments
    warnings.filterwarnings("ignore", "The observation contains negative numbers")  # rows of cars are no image
    warnings.filterwarnings("ignore", "State has more than 3 dimensions")  # a stack of images
    warnings.filterwarnings("ignore", "The state contains negative numbers")  # a stack of vectors is no image
    warnings.filterwarnings("ignore", "Agents have different (observation|action) space sizes")
    warnings.filterwarnings("ignore", "Observations are different shapes")
    warnings.filterwarnings("ignore", "We recommend agents to be named in the format")  # names of roles
    warnings.filterwarnings("ignore", "(Observation|State) numpy array is all zeros")
