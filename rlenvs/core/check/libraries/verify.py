"""Whether libraries do what numba's loops do, to the bit, where this machine can run them."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path

from rlenvs.core.check.libraries.session import tapes_of
from rlenvs.core.check.libraries.tape import Tape
from rlenvs.core.compiler.ahead.targets import TARGETS, run_zig
from rlenvs.core.compiler.jit import binding
from rlenvs.core.declare.spec import World

EQUAL = "equal"
PLAY = Path(__file__).with_name("play")  # with a suffix
SLOW = 600  # seconds after which a library is taken to hang
# targets whose libraries a system with a processor can load, and what the processor must be able to do
NATIVE = {
    ("linux", "x86_64"): {
        "x86-64": "sse2",
        "x86-64-v3": "avx2 bmi2 fma movbe",
        "x86-64-v4": "avx512bw avx512dq avx512vl",
    },
    ("linux", "aarch64"): {"aarch64-linux": ""},
    ("darwin", "arm64"): {"macos-arm64": ""},
    ("win32", "AMD64"): {"windows-x86-64": "sse2"},
}
ARM, ARM_LIBRARIES = "aarch64-linux", Path("/usr/aarch64-linux-gnu")
NODE = (20, 15)  # the first version with `zlib.crc32`


def players(targets: Collection[str], folder: Path) -> dict[str, list[str] | str]:
    """How to play a tape by the library of a target: a command to which library and folder of the tape are added, or
    why that cannot be done here.

    Args:
        targets: names of TARGETS.
        folder: for programs that have to be made.
    """
    native = NATIVE.get((sys.platform, platform.machine()), {})
    found: dict[str, list[str] | str] = {}
    for target in targets:
        if target in native:
            able = binding.get_host_cpu_features()
            missing = [name for name in native[target].split() if not able.get(name)]
            command = [sys.executable, str(PLAY.with_suffix(".py"))]
            found[target] = f"this processor has no {', '.join(missing)}" if missing else command
        elif target == "wasm32":
            found[target] = _node()
        elif target == ARM:
            found[target] = _emulated(folder)
        else:
            found[target] = "nothing here can run it"
    return found


def _node() -> list[str] | str:
    node = shutil.which("node")
    said = subprocess.run([node, "--version"], capture_output=True, text=True).stdout if node else ""
    version = tuple(map(int, said.strip().lstrip("v").split(".")[:2])) if said else ()
    if node is None or version < NODE:
        return f"it needs Node.js {'.'.join(map(str, NODE))} or newer on the PATH"
    return [node, str(PLAY.with_suffix(".mjs"))]


def _emulated(folder: Path) -> list[str] | str:
    qemu = shutil.which("qemu-aarch64")
    if qemu is None or not ARM_LIBRARIES.is_dir():
        return "it needs qemu-user and libc6-arm64-cross (apt install)"
    program = folder / "play_arm"
    run_zig(folder, "cc", "-O2", "-target", "aarch64-linux-gnu.2.34", PLAY.with_suffix(".c"), "-o", program)
    return [qemu, "-L", str(ARM_LIBRARIES), str(program)]


def verified(
    world: World, steps: int, libraries: Mapping[str, Path], commands: Mapping[str, list[str]]
) -> dict[str, str]:
    """By target, EQUAL or the first difference from what numba's loops do.

    Args:
        world: that no engine moves.
        steps: that are played.
        libraries: by target.
        commands: by target, see `players`.
    """
    tapes = {lanes: tapes_of(world, lanes, steps) for lanes in {TARGETS[target].lanes for target in commands}}
    found = dict.fromkeys(commands, EQUAL)
    for target, command in commands.items():
        for tape in tapes[TARGETS[target].lanes]:
            if found[target] == EQUAL:
                with tempfile.TemporaryDirectory() as folder:
                    tape.save(Path(folder))
                    found[target] = _played(tape, [*command, str(libraries[target]), folder]) or EQUAL
    return found


def _played(tape: Tape, command: list[str]) -> str:
    """The first difference, or how the player ended."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SLOW)
    except subprocess.TimeoutExpired:
        return f"no end after {SLOW} s"
    difference = tape.difference(done.stdout.splitlines())
    failed = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
    return f"{difference} ({failed[0]})" if done.returncode else difference
