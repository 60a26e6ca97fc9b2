"""Libraries of kernels: they do what numba's loops do, follow from their sources alone, and are named by their keys."""

import importlib.util
import os
import platform
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.places import ROOT
from toys import crossroads, double_integrator

from rlenvs.core.check.libraries import command, session, verify
from rlenvs.core.check.libraries.tape import Tape
from rlenvs.core.compiler import build
from rlenvs.core.compiler.ahead.code import entry_names
from rlenvs.core.compiler.ahead.libraries import library_key
from rlenvs.core.compiler.ahead.targets import TARGETS
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
    tapes = session.tapes_of(crossroads.SPEC, 50)
    assert len(tapes) == 2  # with lanes: parameters that are shared, and own ones
    commands = {target: how for target, how in verify.players(CROSS, tmp_path).items() if isinstance(how, list)}
    assert HOST in commands
    assert verify.verified(tapes, libraries, commands) == dict.fromkeys(commands, verify.EQUAL)


@linked
@pytest.mark.slow
def test_what_differs_is_told(libraries, tmp_path):
    """Other actions in step 7, in the file that the library plays."""
    tape = session.tapes_of(crossroads.SPEC, 10)[0]
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
        for name in ("run_worlds", "run_blocks_shared", "run_blocks_own"):
            assert name.encode() in found, (target, name)


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
        command.Built("A-v0", [command.Library("x86-64", Path("a"), 1200, 2.0)]),
        command.Built("B-v0", [], "no"),
        command.Built("C-v0", [command.Library("x86-64", Path("c"), 300, 0.0)]),
    ]
    assert command.sizes(results, ["x86-64"]).splitlines() == [
        "| kB   | x86-64 | s   |",
        "| ---- | ------ | --- |",
        "| A-v0 | 1.2    | 2.0 |",
        "| C-v0 | 0.3    | 0.0 |",
        "| all  | 1.5    |     |",
    ]
