"""Libraries of kernels: they do what numba's loops do, follow from their sources alone, and are named by their keys."""

import ctypes
import hashlib
import importlib.util
import json
import os
import pickle
import platform
import re
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.kernels_in_turn import in_turn
from support.places import ROOT
from toys import crossroads, double_integrator

from rlenvs.core.check.libraries import command, session, verify
from rlenvs.core.check.libraries.tape import Tape
from rlenvs.core.compiler import build
from rlenvs.core.compiler.ahead import manifest
from rlenvs.core.compiler.ahead.libraries import in_copy, library_key
from rlenvs.core.compiler.ahead.targets import SUPPORT, TARGETS, BuildError, run_zig
from rlenvs.core.compiler.entry_points import entry_names
from rlenvs.core.declare.setup import Setup

linked = pytest.mark.skipif(
    importlib.util.find_spec("ziglang") is None,
    reason="the linkers of ziglang are not installed: pip install 'rlenvs-suite[kernels]', or python3 run.py kernels",
)
HOST = {"x86_64": "x86-64", "AMD64": "x86-64", "aarch64": "aarch64-linux"}.get(platform.machine(), "x86-64")
CROSS = ["x86-64", "aarch64-linux", "macos-arm64", "windows-x86-64", "wasm32"]
BUILD = """
import sys
from pathlib import Path
from rlenvs.core.compiler.ahead.libraries import build_libraries
from rlenvs.core.compiler.build import driver
from rlenvs.core.declare.setup import Setup
from toys import crossroads
setup = Setup(crossroads.SPEC)
for library in build_libraries(setup, driver(setup, "numba", False), False, sys.argv[2:], Path(sys.argv[1])):
    print(library.target, library.path, library.seconds)
"""


def built(folder, targets):
    """Paths of the toy's libraries, and whether each was made anew, by a process as those of the command."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])
    said = subprocess.run(
        [sys.executable, "-c", BUILD, str(folder), *targets],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **command.REPEATABLE, "PYTHONPATH": paths},
    ).stdout
    lines = [line.split() for line in said.splitlines()]
    return {target: Path(path) for target, path, _ in lines}, {
        target: float(seconds) > 0 for target, _, seconds in lines
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(scope="module")
def libraries(folder):
    return built(folder, CROSS)[0]


def toy_driver(world):
    setup = Setup(world)
    return setup, build.driver(setup, "numba", False)


# --- built ------------------------------------------------------------------------------------------------------------


@linked
@pytest.mark.slow
def test_a_library_does_what_numba_does(libraries, tmp_path):
    assert len(session.tapes_of(crossroads.SPEC, True, 1)) == 2  # with lanes: parameters that are shared, and own ones
    commands = {target: how for target, how in verify.players(CROSS, tmp_path).items() if isinstance(how, list)}
    assert HOST in commands
    assert verify.verified(crossroads.SPEC, 50, libraries, commands) == dict.fromkeys(commands, verify.EQUAL)


@linked
@pytest.mark.slow
def test_what_differs_is_told(libraries, tmp_path):
    """Other actions in step 7, in the file that the library plays."""
    tape = session.tapes_of(crossroads.SPEC, TARGETS[HOST].lanes, 10)[0]
    tape.save(tmp_path)
    data = bytearray((tmp_path / "data").read_bytes())
    actions = np.frombuffer(data, tape.batch.actions.dtype)
    actions[7 * tape.batch.actions.size :][: tape.batch.actions.size] *= 0.5
    (tmp_path / "data").write_bytes(data)
    player = verify.players([HOST], tmp_path)[HOST]
    said = subprocess.run([*player, libraries[HOST], tmp_path], capture_output=True, text=True, check=True).stdout
    difference = tape.difference(said.splitlines())
    assert difference.startswith("step 7: ")
    assert {"actions", "states", "observations"} <= set(difference[8:].split(", "))


@linked
@pytest.mark.slow
def test_the_same_bytes_again(libraries, folder):
    before = {target: path.read_bytes() for target, path in libraries.items()}
    kept, new = built(folder, CROSS)
    assert kept == libraries
    assert not any(new.values())  # what is there is kept
    for path in libraries.values():
        path.unlink()
    again, new = built(folder, CROSS)
    assert all(new.values())
    assert {target: path.read_bytes() for target, path in again.items()} == before


@linked
@pytest.mark.slow
def test_names_are_keys(libraries, folder):
    setup, driver = toy_driver(crossroads.SPEC)
    key = library_key(driver, entry_names(setup.world, False, False))
    for target, path in libraries.items():
        assert path == folder / target / f"{key}{TARGETS[target].suffix}"


@linked
@pytest.mark.slow
def test_formats(libraries):
    content = {target: path.read_bytes() for target, path in libraries.items()}
    for target, machine in (("x86-64", 62), ("aarch64-linux", 183)):
        assert content[target][:5] == b"\x7fELF\x02"
        assert struct.unpack_from("<H", content[target], 18) == (machine,)
    assert content["wasm32"][:8] == b"\0asm\1\0\0\0"
    assert struct.unpack_from("<Ii", content["macos-arm64"]) == (0xFEEDFACF, 0x0100000C)
    (header,) = struct.unpack_from("<I", content["windows-x86-64"], 0x3C)
    assert content["windows-x86-64"][:2] == b"MZ"
    assert struct.unpack_from("<4sH", content["windows-x86-64"], header) == (b"PE\0\0", 0x8664)
    for target, found in content.items():
        assert b"run_worlds" in found, target
        for name in ("run_blocks_shared", "run_blocks_own"):
            assert (name.encode() in found) == TARGETS[target].lanes, (target, name)


@pytest.fixture(scope="module")
def support(folder):
    path = folder / "support.so"
    run_zig(folder, "cc", "-shared", "-O2", "-fno-builtin", SUPPORT, "-o", path)
    return ctypes.CDLL(str(path))


@linked
@pytest.mark.slow
def test_rounding_in_c_is_that_of_numpy(support):
    rng = np.random.default_rng(0)
    special = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -0.3, 2.0**52 - 0.5, -(2.0**52) - 1.0, 1e300, np.inf, -np.inf, np.nan]
    for kind, rint in ((ctypes.c_double, support.rint), (ctypes.c_float, support.rintf)):
        rint.restype, rint.argtypes = kind, [kind]
        for x in [*special, *rng.normal(scale=3.0, size=500), *(rng.integers(-9, 9, 50) + 0.5)]:
            with np.errstate(over="ignore"):
                given = np.dtype(kind).type(x)
            got, wanted = np.dtype(kind).type(rint(float(given))), np.rint(given)
            assert got.tobytes() == wanted.tobytes() or np.isnan(wanted), x


def reshaped_in_c(support, array, shape):
    """The strides of axes longer than one, or None where a copy is needed."""
    words = [(ctypes.c_int64 * max(len(each), 1))(*each) for each in (array.shape, array.strides, shape, shape)]
    old, strides, new, made = words
    reshape = support.numba_attempt_nocopy_reshape
    reshape.argtypes = [ctypes.c_int64, *[ctypes.c_void_p] * 2, ctypes.c_int64, *[ctypes.c_void_p] * 2] + [
        ctypes.c_int64,
        ctypes.c_int,
    ]
    fits = reshape(array.ndim, old, strides, len(shape), new, made, array.itemsize, 0)
    return [made[k] for k in range(len(shape)) if shape[k] > 1] if fits else None


@linked
@pytest.mark.slow
def test_reshaping_in_c_is_that_of_numpy(support):
    rng, copies = np.random.default_rng(1), 0
    factors = [(2, 2, 3), (4, 3), (12,), (3, 1, 4), (1, 2, 6), (2, 3, 2), (6, 2, 1), (1, 12, 1), (2, 1, 1, 6)]
    for _ in range(2000):
        shape, wanted = (factors[k] for k in rng.integers(len(factors), size=2))
        array = np.zeros([2 * size for size in shape])
        array = array[tuple(slice(None, size) if rng.random() < 0.6 else slice(None, None, 2) for size in shape)]
        array = array.transpose(rng.permutation(array.ndim)) if rng.random() < 0.3 else array
        array = np.zeros(shape) if rng.random() < 0.4 else array
        view = array.reshape(wanted)
        copied = not np.shares_memory(view, array)
        copies += copied
        strides = [step for step, size in zip(view.strides, wanted, strict=True) if size > 1]
        assert reshaped_in_c(support, array, wanted) == (None if copied else strides), (array.shape, array.strides)
    assert 200 < copies < 1800
    assert reshaped_in_c(support, np.zeros((0, 3)), (3, 0)) is not None


# --- without linkers --------------------------------------------------------------------------------------------------


def test_a_key_follows_from_lanes_and_kernels():
    world = crossroads.SPEC
    _, driver = toy_driver(world)
    names = entry_names(world, False, False)
    key = library_key(driver, names)
    assert len(key) == 24
    assert key != library_key(driver, ["run_worlds"])
    assert key == library_key(driver, names)
    assert key != library_key(toy_driver(double_integrator.SPEC)[1], names)


def test_entry_points_of_worlds():
    world = crossroads.SPEC
    assert {"run_worlds", "run_blocks_own", "run_blocks_shared"} <= set(entry_names(world, False, False))
    assert not {"run_blocks_own", "run_blocks_shared"} & set(entry_names(world, True, False))
    assert not {"run_blocks_own", "run_blocks_shared"} & set(entry_names(world, False, True))
    assert "bar_worlds" not in entry_names(world, False, False)
    assert entry_names(double_integrator.SPEC, False, False) == ["run_worlds", "bar_worlds"]


def test_the_first_difference():
    tape = object.__new__(Tape)
    tape.watched = {"states": np.zeros(1), "none": np.zeros(0), "rewards": np.zeros(1)}
    tape.labels, tape.said = ["reset", "step 0"], ["0 aa bb", "0 cc dd"]
    assert tape.difference(["0 aa bb", "0 cc dd"]) == ""
    assert tape.difference(["0 aa bb", "0 cc de"]) == "step 0: rewards"
    assert tape.difference(["1 aa bb", "0 cc de"]) == "reset: result"
    assert tape.difference(["0 aa bb"]) == "it ends after 1 of 2 looks"


def test_a_table_of_sizes():
    results = [
        command.Built("A-v0", [command.Library("x86-64", Path("a"), [], 1200, 2.0)], seconds=12.5),
        command.Built("B-v0", [], "no"),
        command.Built("C-v0", [command.Library("x86-64", Path("c"), [], 300, 0.0)], seconds=0.5),
    ]
    assert command.sizes(results, ["x86-64"]).splitlines() == [
        "| kB   | x86-64 | numba, s | LLVM, s |",
        "| ---- | ------ | -------- | ------- |",
        "| A-v0 | 1.2    | 10.5     | 2.0     |",
        "| C-v0 | 0.3    | 0.5      | 0.0     |",
        "| all  | 1.5    |          |         |",
    ]


def library(folder, target, key, functions=("run_worlds",)):
    path = folder / target / f"{key}.so"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(f"{target} {key}".encode())
    return command.Library(target, path, list(functions), path.stat().st_size, 1.0)


def files_of(folder):
    return {str(path.relative_to(folder)) for path in folder.glob("*/*")}


def test_a_manifest_gathers_what_is_there(tmp_path):
    manifest.add_libraries(tmp_path, [library(tmp_path, "x86-64", "aa", ["b", "a"]), library(tmp_path, "wasm32", "aa")])
    manifest.add_libraries(tmp_path, [library(tmp_path, "x86-64", "bb")])
    found = json.loads((tmp_path / "manifest.json").read_text())
    assert found["format"] == 1
    assert set(found["made_with"]) == {"numba", "llvmlite", "rlenvs"}
    assert {key: set(entries) for key, entries in found["libraries"].items()} == {
        "aa": {"x86-64", "wasm32"},
        "bb": {"x86-64"},
    }
    assert found["libraries"]["aa"]["x86-64"] == {
        "file": "x86-64/aa.so",
        "sha256": hashlib.sha256(b"x86-64 aa").hexdigest(),
        "functions": ["a", "b"],
    }
    (tmp_path / "x86-64" / "aa.so").unlink()
    manifest.add_libraries(tmp_path, [])
    assert set(manifest.read_manifest(tmp_path)["libraries"]["aa"]) == {"wasm32"}


def test_what_is_of_no_kind_any_more_goes(tmp_path):
    manifest.add_libraries(tmp_path, [library(tmp_path, "x86-64", key) for key in ("aa", "bb", "cc")])
    manifest.keep_only(tmp_path, {"bb"})
    assert files_of(tmp_path) == {"x86-64/bb.so"}
    assert set(manifest.read_manifest(tmp_path)["libraries"]) == {"bb"}


@pytest.mark.parametrize("content", ["", "{", '{"format": 2, "libraries": {"aa": {}}}'])
def test_a_manifest_that_cannot_be_read_is_none(tmp_path, content):
    (tmp_path / "manifest.json").write_text(content)
    assert manifest.read_manifest(tmp_path)["libraries"] == {}


def test_work_in_a_copy_tells_why_it_failed(tmp_path):
    in_copy(Path.write_text, tmp_path / "a", "b")
    assert (tmp_path / "a").read_text() == "b"
    with pytest.raises(BuildError, match=r"No such file.*missing"):
        in_copy(Path.write_text, tmp_path / "missing" / "a", "b")
    with pytest.raises(BuildError, match="its process ended"):
        in_copy(os._exit, 3)


def test_a_tape_without_lanes_steps_one_after_the_other(tmp_path):
    for lanes in (True, False):
        session.tapes_of(crossroads.SPEC, lanes, 2)[1].save(tmp_path)
        calls = re.findall(r"(?m)^call (run_\w+) ", (tmp_path / "tape").read_text())
        assert ("run_blocks_own" in calls) == lanes
        assert "run_worlds" in calls


def test_worlds_outside_the_catalogue_have_libraries():
    """Such as the traffic that LogReplay records."""
    assert set(command.further_worlds()) == {"LogTraffic-v0"}
    assert command.world_named("LogTraffic-v0").name == "LogTraffic-v0"
    assert command.world_named("CartPole-v0").name == "CartPole-v0"
    made = [path for path in (ROOT / "rlenvs").rglob("*.py") if "new_batch(" in path.read_text(encoding="utf-8")]
    assert [path.name for path in made if path.parts[-3] in ("single", "multi", "robotics")] == ["logs.py"]


def test_kinds_are_verified_in_turn():
    names = [str(n) for n in range(12)]
    seen = [in_turn(names, first) for first in range(5)]
    assert all(len(set(few)) == 5 for few in seen)
    assert {name for few in seen[:3] for name in few} == set(names)
    assert set(in_turn(["a", "b"], 7)) == {"a", "b"}


# --- loops outside of worlds ------------------------------------------------------------------------------------------

BUILD_LOOPS = """
import pickle, sys
from pathlib import Path
from rlenvs.core.check.libraries.command import built_loops
calls = pickle.loads(Path(sys.argv[1], "calls").read_bytes())
libraries, functions = built_loops((calls, sys.argv[2:], Path(sys.argv[1])))
from rlenvs.core.compiler.ahead.manifest import add_loops
add_loops(Path(sys.argv[1]), libraries, functions)
"""


def loops_and_arguments():
    """Calls that have a result, make arrays, draw random numbers, call other loops."""
    from rlenvs.kits.tracks import line
    from rlenvs.single.puzzles import sliding_solver
    from rlenvs.wrappers import adversary_moves, masked, weights_shown

    rng = np.random.default_rng(0)
    mask, keys = rng.random(5) < 0.7, rng.integers(0, 2**60, 5).astype(np.uint64)
    road = np.abs(rng.normal(size=(40, 11))) + 1.0
    fixed = np.zeros(16, np.bool_)
    yield masked.load, [rng.random(4), np.zeros(4)]
    yield masked.load, [np.array([1.0, np.nan]), np.zeros(2)]
    yield masked.put_rows, [np.zeros((5, 3)), rng.random((5, 3)), mask]
    yield masked.put_rows, [np.zeros((5, 3)), rng.random((5, 6))[:, ::2], mask]
    yield weights_shown.draw_simplex, [mask, keys, 0.1, np.zeros((5, 3))]
    yield adversary_moves.draw_moves, [mask, keys, np.arange(5), np.zeros((5, 4))]
    yield line.search, [road, *np.zeros((3, 40)), 0.1, 1.0, 5.0, 5.0, 4.0, 9.0, 2]
    yield sliding_solver._search, [4, fixed, 15, 0, -1, 5, -1]
    yield sliding_solver._fill_table, [np.full(24, 255, np.uint8), 2, np.zeros((13, 4), np.uint8)]


@linked
@pytest.mark.slow
def test_loops_of_a_library_do_what_numba_does(tmp_path, monkeypatch):
    from rlenvs.core.compiler import ready
    from rlenvs.core.compiler.ahead.loops import call_of

    kernels = tmp_path / "kernels"
    kernels.mkdir(mode=0o700)
    (kernels / "calls").write_bytes(
        pickle.dumps(list(dict.fromkeys(call_of(loop, arguments, False) for loop, arguments in loops_and_arguments())))
    )
    env = {**os.environ, **command.REPEATABLE, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", BUILD_LOOPS, str(kernels), HOST], check=True, env=env)
    monkeypatch.setenv("RLENVS_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("RLENVS_TARGET", HOST)
    monkeypatch.setattr(ready, "package_folder", lambda: None)
    for (loop, given), (_, again) in zip(loops_and_arguments(), loops_and_arguments(), strict=True):
        loop._known.clear()
        assert loop._entry_of_library(given) is not None, loop
        assert loop._in_library(*given) == loop.dispatcher(*again), loop
        loop._known.clear()
        for one, other in zip(given, again, strict=True):
            np.testing.assert_array_equal(one, other, err_msg=loop.__name__)


def test_a_manifest_names_loops(tmp_path):
    one = library(tmp_path, "x86-64", "loops-aa", ["f", "g"])
    manifest.add_libraries(tmp_path, [library(tmp_path, "x86-64", "bb"), library(tmp_path, "x86-64", "cc")])
    manifest.add_loops(tmp_path, [one], {"11": ["f"], "22": ["g"]})
    found = manifest.read_manifest(tmp_path)["libraries"]
    assert found["11"]["x86-64"]["file"] == found["22"]["x86-64"]["file"] == "x86-64/loops-aa.so"
    assert (found["11"]["x86-64"]["functions"], found["22"]["x86-64"]["functions"]) == (["f"], ["g"])
    manifest.add_loops(tmp_path, [library(tmp_path, "x86-64", "loops-bb", ["f"])], {"11": ["f"]})
    manifest.keep_only(tmp_path, {"bb", "11"})
    assert files_of(tmp_path) == {"x86-64/bb.so", "x86-64/loops-bb.so"}
