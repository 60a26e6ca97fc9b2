"""Libraries made ahead: which is taken, and that what does not fit is passed over, whatever it holds."""

import ctypes
import itertools
import json
import os
import random
import subprocess
import sys

import pytest
from support.places import ROOT
from support.tiny_library import POSSIBLE, put, sole_folder, tiny_library
from toys import crossroads, double_integrator

from rlenvs.core.batch.loops import fit_lanes
from rlenvs.core.compiler import build, origins, ready
from rlenvs.core.compiler.entry_points import LANES
from rlenvs.core.compiler.kernel_names import kernel_names
from rlenvs.core.compiler.origins import origin_of
from rlenvs.core.declare.errors import KernelError, ParameterError
from rlenvs.core.declare.setup import Setup

pytestmark = pytest.mark.skipif(not POSSIBLE, reason="tiny libraries are for Linux on x86-64")
KEY, RUN = "0123456789abcdef01234567", {"run_worlds": 4}
GOOD = tiny_library(run_worlds=7) if POSSIBLE else b""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The sole folder of libraries."""
    return sole_folder(tmp_path, monkeypatch)


def run(key=KEY):
    found = ready.library(key, RUN, "a toy")
    return found and found["run_worlds"](0, 0, 1, 2)


# --- taken ------------------------------------------------------------------------------------------------------------


def test_a_library_is_called(folder):
    put(folder, KEY, GOOD)
    assert run() == 7
    function = ready.library(KEY, RUN, "a toy")["run_worlds"]
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 4)
    assert kind(function.address)(0, 0, 1, 2) == 7
    assert run("another key") is None


def test_the_best_target_that_this_processor_can_run(folder, monkeypatch):
    monkeypatch.setattr(ready, "targets", lambda: ("x86-64-v3", "x86-64"))
    manifests = {}
    for number, target in enumerate(("x86-64-v4", "x86-64-v3", "x86-64")):
        put(folder, KEY, tiny_library(run_worlds=number), target)
        manifests |= json.loads((folder / "manifest.json").read_text())["libraries"][KEY]
    (folder / "manifest.json").write_text(json.dumps({"format": 1, "libraries": {KEY: manifests}}))
    assert run() == 1
    for target, number in (("x86-64", 2), ("x86-64-v3", 1), ("none", None)):
        monkeypatch.setenv("RLENVS_TARGET", target)
        assert run() == number
    monkeypatch.setenv("RLENVS_TARGET", "x86-64-v4")
    with pytest.raises(ParameterError, match="RLENVS_TARGET"):
        run()


def test_flags_and_levels(monkeypatch):
    def best(flags):
        monkeypatch.setattr(ready, "_flags", lambda: frozenset(flags))
        return ready.targets.__wrapped__()[0]

    assert best(ready.V4) == "x86-64-v4"
    assert best(ready.V3) == "x86-64-v3"
    for flag in ready.V3:
        assert best(ready.V4 - {flag}) == "x86-64"
    for flag in ready.V4 - ready.V3:
        assert best(ready.V4 - {flag}) == "x86-64-v3"
    assert best(()) == "x86-64"


def test_the_installed_package_goes_before_the_cache(folder, tmp_path, monkeypatch):
    put(folder, KEY, GOOD)
    installed = tmp_path / "installed" / ready.PACKAGE
    put(installed, KEY, tiny_library(run_worlds=8))
    monkeypatch.setattr(ready, "package_folder", lambda: installed)
    assert run() == 8
    put(installed, KEY, GOOD, sha256="0" * 64)
    ready._manifest.cache_clear()
    assert run() == 7


CALLER = "class Entry:\n    def __init__(self, *given): self.given = given"


@pytest.mark.parametrize("text", [CALLER, "", "import none"])
def test_what_calls_functions(folder, tmp_path, monkeypatch, text):
    """The package's own, where it works."""
    put(folder, KEY, GOOD)
    (tmp_path / "_call.py").write_text(text)
    monkeypatch.setattr(ready, "package_folder", lambda: tmp_path)
    monkeypatch.setattr(ready, "_calls", ready._calls.__wrapped__)
    monkeypatch.delitem(sys.modules, "rlenvs_kernels._call", raising=False)
    found = ready.library(KEY, RUN, "a toy")["run_worlds"]
    monkeypatch.delitem(sys.modules, "rlenvs_kernels._call", raising=False)
    if text == CALLER:
        assert found.given[1] == 4
    else:
        assert found(0, 0, 1, 2) == 7


def test_no_package_is_taken_from_the_working_directory(tmp_path, monkeypatch):
    package = tmp_path / ready.PACKAGE
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('imported')")
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), *sys.path])
    assert ready.package_folder.__wrapped__() == package
    monkeypatch.chdir(tmp_path)
    found = ready.package_folder.__wrapped__()
    assert found is None or found != package


def test_checks_of_bounds_need_code_of_their_own(folder, monkeypatch):
    put(folder, KEY, GOOD)
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    assert run() is None


# --- passed over ------------------------------------------------------------------------------------------------------

OTHER_MACHINE = GOOD[:18] + b"\xb7\x00" + GOOD[20:]  # 64-bit ARM
WRONG_CONTENT = {
    "damaged": GOOD[:300] + b"\xff" + GOOD[301:],
    "cut off": GOOD[:-1],
    "longer": GOOD + b"\0",
    "empty": b"",
    "another library": tiny_library(run_worlds=666) if POSSIBLE else b"",
}


@pytest.mark.parametrize("fault", WRONG_CONTENT)
def test_other_content_is_never_opened(folder, capsys, monkeypatch, fault):
    path = put(folder, KEY, GOOD)
    path.write_bytes(WRONG_CONTENT[fault])
    monkeypatch.setattr(ctypes, "CDLL", None)  # which would be called
    for _ in range(2):
        assert run() is None
    said = capsys.readouterr().err
    assert said.count("passed over: it is damaged, or not the file that was put there") == 1
    assert str(path) in said


@pytest.mark.parametrize("content", [b"", b"no library", OTHER_MACHINE, tiny_library(other=1) if POSSIBLE else b""])
def test_what_the_system_cannot_open(folder, capsys, content):
    put(folder, KEY, content)
    assert run() is None
    assert "passed over" in capsys.readouterr().err


def test_no_file(folder, capsys):
    put(folder, KEY, GOOD).unlink()
    assert run() is None
    assert "No such file" in capsys.readouterr().err


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
@pytest.mark.parametrize("what", ["library", "manifest"])
def test_no_plain_file(folder, capsys, make, what):
    path = put(folder, KEY, GOOD)
    path = path if what == "library" else folder / "manifest.json"
    path.unlink()
    make(path)
    assert run() is None
    assert "passed over" in capsys.readouterr().err


MANIFESTS = [
    "",
    "{",
    "[]",
    "null",
    "1e999",
    '{"format": 2, "libraries": {}}',
    '{"libraries": {}}',
    '{"format": 1}',
    '{"format": 1, "libraries": []}',
    '{"format": 1, "libraries": 0}',
    "[" * 100_000,
    "9" * 10_000,
    b"\xff\xfe",
]


@pytest.mark.parametrize("text", MANIFESTS)
def test_another_manifest(folder, capsys, text):
    put(folder, KEY, GOOD)
    (folder / "manifest.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    assert run() is None
    assert capsys.readouterr().err.count("passed over") == 1


@pytest.mark.parametrize(
    "file",
    ["../kernels/x86-64/" + KEY + ".so", "/proc/self/cwd/x", "/etc/passwd", "a\\..\\b", "x\0y", "", ".", 1, None],
)
def test_files_elsewhere(folder, capsys, file):
    put(folder, KEY, GOOD, file=file)
    assert run() is None
    assert "passed over" in capsys.readouterr().err


@pytest.mark.parametrize("changed", [{"sha256": 1}, {"sha256": "0" * 64}, {"functions": None}, {"functions": []},
                                     {"functions": ["run_world"]}, {"functions": [["run_worlds"]]}])  # fmt: skip
def test_entries_that_say_something_else(folder, capsys, changed):
    put(folder, KEY, GOOD, **changed)
    assert run() is None
    assert "passed over" in capsys.readouterr().err


@pytest.mark.parametrize("entry", [None, [], "x86-64", {"x86-64": None}, {"x86-64": []}, {"wasm32": {}}])
def test_keys_without_entries(folder, entry):
    (folder / "manifest.json").write_text(json.dumps({"format": 1, "libraries": {KEY: entry}}))
    assert run() is None


def test_a_folder_that_others_may_write_to(folder, capsys):
    put(folder, KEY, GOOD)
    folder.chmod(0o777)
    assert run() is None
    assert "may be written to by other users" in capsys.readouterr().err


def test_a_thousand_random_files(folder):
    """Under their own checksums, so that the system is asked to open them; and a good one with a bit turned round."""
    numbers, libraries = random.Random(0), {}
    (folder / "x86-64").mkdir()
    for k in range(1000):
        if k % 2:
            content, said = numbers.randbytes(numbers.randrange(5000)), None
        else:
            place = numbers.randrange(len(GOOD))
            content, said = GOOD[:place] + bytes([GOOD[place] ^ 1 << numbers.randrange(8)]) + GOOD[place + 1 :], GOOD
        put(folder, f"{k:024}", said or content)
        libraries |= json.loads((folder / "manifest.json").read_text())["libraries"]
        (folder / "x86-64" / f"{k:024}.so").write_bytes(content)
    (folder / "manifest.json").write_text(json.dumps({"format": 1, "libraries": libraries}))
    assert not any(run(f"{k:024}") for k in range(1000))


# --- kernels ----------------------------------------------------------------------------------------------------------

WORLD = """
from rlenvs.core import block, continuous, f8, kernel, term, world
GAIN = 1.0
SPEC = world(
    "Edited-v0", doc="A point.", state={"x": f8}, observation={"x": block(low=-10, high=10)},
    action=continuous("push"), terms={"x": term(-100, 100)}, horizon=10, same_start=True,
)

@SPEC.reset
def reset(p, s, rng):
    s.x = 0.0

@kernel
def push(s, a):
    s.x += GAIN * a

@SPEC.step
def step(p, s, a, rng, r):
    push(s, a[0])
    r.x = s.x

@SPEC.observe
def observe(p, s, o):
    o.x = s.x
"""


NUMBERS = itertools.count()  # of modules


@pytest.fixture
def edited(folder, tmp_path, monkeypatch):
    """A function that makes the world from a text, and gives its driver; there is a library of the first text."""

    def module_of(text):
        name = f"edited{next(NUMBERS)}"
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(str(tmp_path))
        return __import__(name)

    key, functions = wanted(module_of(WORLD).SPEC)
    put(folder, key, tiny_library(**dict.fromkeys(functions, 7)), names=functions)
    return module_of


def wanted(world):
    digest = build.digest_of(world, Setup(world).action_kind, kernel_names(world, Setup(world).action_kind, False))
    return build.wanted_library(world, digest, False, False)


def driver_of(world):
    return build.driver(Setup(world), "numba", False)


def is_ready(world):
    return isinstance(driver_of(world), build.ReadyDriver)


def test_a_driver_of_a_library(edited):
    driver = driver_of(edited(WORLD).SPEC)
    assert driver.run_worlds(0, 0, 1, 2) == 7
    assert driver.run_worlds.address


@pytest.mark.parametrize("edit", [("= 0.0", "= 0.0  # zero"), ("(s, a):", '(s, a):\n    """Move it."""'),
                                  ("def step", "def advance"), ("A point", "Another point")])  # fmt: skip
def test_what_changes_no_code_keeps_the_library(edited, edit):
    assert is_ready(edited(WORLD.replace(*edit)).SPEC)


@pytest.mark.parametrize("edit", [("GAIN = 1.0", "GAIN = 2.0"), ("GAIN = 1.0", "GAIN = 1"), ("s.x += ", "s.x -= "),
                                  ("r.x = s.x", "r.x = -s.x"), ("= 0.0", "= 0.5"),
                                  ('"x": f8', '"y": f8, "x": f8')])  # fmt: skip
def test_an_edited_kernel_has_no_library(edited, edit):
    assert not is_ready(edited(WORLD.replace(*edit)).SPEC)


def test_a_global_that_changes_before_the_first_use(edited):
    module = edited(WORLD)
    module.GAIN = 2.0
    assert not is_ready(module.SPEC)


def test_a_global_that_changes_after_it(edited):
    module = edited(WORLD)
    assert is_ready(module.SPEC)
    module.GAIN = 2.0
    with pytest.raises(KernelError, match="has changed"):
        driver_of(module.SPEC)


@pytest.mark.parametrize("before", [True, False])
def test_a_step_that_was_replaced(edited, before):
    module = edited(WORLD)
    if not before:
        assert is_ready(module.SPEC)

    def step(p, s, a, rng, r):
        r.x = 1.0

    module.SPEC.step(step)
    assert not is_ready(module.SPEC)


def test_code_that_was_replaced(edited):
    module = edited(WORLD)
    module.push.__code__ = (lambda s, a: None).__code__
    assert not is_ready(module.SPEC)


def test_a_file_that_was_edited_after_its_import(edited):
    """The code in memory is the old one, whatever the file says now."""
    module = edited(WORLD.replace("s.x += ", "s.x -= "))
    with open(module.__file__, "w") as file:
        file.write(WORLD)
    assert not is_ready(module.SPEC)


def test_where_code_comes_from(edited, monkeypatch):
    assert origin_of(edited(WORLD).SPEC) == "x86-64"
    other = edited(WORLD.replace("GAIN * a", "0.123 * GAIN * a")).SPEC
    assert origin_of(other) == origins.COMPILED
    monkeypatch.setattr(origins, "numba_is_installed", lambda: False)
    assert origin_of(other) == origins.NOWHERE


@pytest.mark.parametrize("lanes", [True, False])
def test_a_library_may_do_without_lanes(folder, lanes):
    world = crossroads.SPEC
    key, functions = wanted(world)
    assert LANES.keys() <= functions.keys()
    names = functions if lanes else functions.keys() - LANES.keys()
    put(folder, key, tiny_library(**dict.fromkeys(names, 7)), names=names)
    build._best_driver.cache_clear()
    driver = driver_of(world)
    build._best_driver.cache_clear()
    assert isinstance(driver, build.ReadyDriver)
    assert driver.lanes == lanes
    assert fit_lanes(Setup(world), 1000, driver) == lanes


# --- without numba ----------------------------------------------------------------------------------------------------

WITHOUT = """
import sys
sys.modules["numba"] = sys.modules["llvmlite"] = None
import numpy as np
import rlenvs
from rlenvs.core.declare.errors import MissingExtraError
from rlenvs.wrappers import Sensor, wrap
assert rlenvs.list_envs()
try:
    rlenvs.make_batch("CartPole-v0", 4)
except MissingExtraError as error:
    assert "pip install 'rlenvs-suite[compile]'" in str(error) and "CartPole" in str(error), error
else:
    raise AssertionError
batch = rlenvs.make_batch("CartPole-v0", 4, backend="python")
batch.seed(0); batch.reset(); batch.step(np.zeros(4, np.int64))
print(batch.rewards.ravel().tolist())
"""


def test_without_numba_and_libraries(folder):
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[1.0, 1.0, 1.0, 1.0]\n"


def test_a_toy_has_no_library_of_another(folder):
    put(folder, KEY, GOOD)
    assert not is_ready(double_integrator.SPEC)
