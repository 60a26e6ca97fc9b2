"""Processors and systems for which libraries are made, and how: code by LLVM, linked by the linkers of `ziglang`."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlenvs.core.compiler.jit import binding, config
from rlenvs.core.declare.errors import MissingExtraError, RlenvsError

SUPPORT = Path(__file__).with_name("support.c")
STACK = 1 << 20  # bytes, of a WebAssembly module; threads of systems have as much at least


class BuildError(RlenvsError, RuntimeError):
    """A library could not be linked."""


@dataclass(frozen=True)
class Target:
    """A processor with a system.

    Attributes:
        triple, cpu, features: as LLVM has them.
        zig: processor and system as `zig` has them.
        suffix: of a library's file.
        linker: which of the linkers makes it: "elf", "coff", "wasm" or "macho".
        lanes: whether several worlds are stepped at once. Where registers are narrow only the smallest worlds gain by
            that, and it is most of the code.
    """

    triple: str
    cpu: str
    zig: str
    suffix: str
    linker: str
    features: str = ""
    lanes: bool = True


LINUX, ZIG_LINUX = "x86_64-unknown-linux-gnu", "x86_64-linux-none"
TARGETS = {
    "x86-64": Target(LINUX, "x86-64", ZIG_LINUX, ".so", "elf", lanes=False),
    "x86-64-v3": Target(LINUX, "x86-64-v3", ZIG_LINUX, ".so", "elf"),
    "x86-64-v4": Target(LINUX, "x86-64-v4", ZIG_LINUX, ".so", "elf"),
    "aarch64-linux": Target("aarch64-unknown-linux-gnu", "generic", "aarch64-linux-none", ".so", "elf"),
    "macos-arm64": Target("arm64-apple-macosx11.0.0", "apple-m1", "aarch64-macos.11.0", ".dylib", "macho"),
    "windows-x86-64": Target("x86_64-pc-windows-msvc", "x86-64", "x86_64-windows-msvc", ".dll", "coff", lanes=False),
    "wasm32": Target(
        "wasm32-unknown-unknown",
        "generic",
        "wasm32-freestanding",
        ".wasm",
        "wasm",
        "+simd128,+bulk-memory,+nontrapping-fptoint,+sign-ext",
        lanes=False,
    ),
}


def _machine(target: Target) -> Any:
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    described = binding.Target.from_triple(target.triple)
    return described.create_target_machine(
        cpu=target.cpu, features=target.features, opt=3, reloc="pic", codemodel="default"
    )


def object_code(code: bytes, target: Target, names: Collection[str]) -> bytes:
    """A module of intermediate code as the object file of a target, optimised as numba does for this processor.

    Args:
        code: bitcode.
        target: for which it is made.
        names: of the functions that it shows; what these do not use goes.
    """
    machine: Any = _machine(target)
    module = binding.parse_bitcode(code)
    for symbol in (*module.functions, *module.global_variables):
        if not symbol.is_declaration and symbol.name not in names:
            symbol.linkage = "internal"
    module.triple, module.data_layout = target.triple, str(machine.target_data)
    settings: Any = config
    tuning = binding.create_pipeline_tuning_options(speed_level=settings.OPT)
    tuning.loop_vectorization, tuning.slp_vectorization = bool(settings.LOOP_VECTORIZE), bool(settings.SLP_VECTORIZE)
    builder = binding.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))


def check_linker() -> None:
    """See whether the linkers are installed.

    Raises:
        MissingExtraError: they are not.
    """
    if importlib.util.find_spec("ziglang") is None:
        raise MissingExtraError("building libraries of kernels", "kernels")


def run_zig(folder: Path, *arguments: str | Path) -> None:
    """Run a command of zig.

    Args:
        folder: for what zig keeps.
        arguments: the command with its own.

    Raises:
        BuildError: it failed; the message is what it said.
    """
    kept = dict.fromkeys(("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"), str(folder / "zig"))
    done = subprocess.run(
        [sys.executable, "-m", "ziglang", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, **kept},
    )
    if done.returncode:
        raise BuildError(f"{arguments[0]} failed: {(done.stdout + done.stderr).strip()[:2000]}")


def make_runtime(target: Target, folder: Path) -> Path:
    """The archive of what machine code may call where the processor has no instruction for it: `floor`, `memcpy` and
    the like, of zig's own runtime, and what SUPPORT has. Made where the folder has none.
    """
    path = folder / f"{target.zig}-{_digest(SUPPORT)}.a"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as place:
            archive = Path(place, "runtime.a")
            settings = (
                "-fcompiler-rt",
                "-O",
                "ReleaseFast",
                "-fPIC",
                "-fstrip",
                "-ffunction-sections",
                "-mcpu=baseline",
            )
            flags = ("-cflags", "-std=c11", "-fno-builtin", "--", SUPPORT)
            run_zig(folder, "build-lib", "-target", target.zig, *settings, *flags, f"-femit-bin={archive}")
            write_whole(archive.read_bytes(), path)
    return path


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def link(code: bytes, target: Target, names: Sequence[str], runtimes: Path, path: Path) -> None:
    """Make a library.

    Args:
        code: an object file.
        target: for which it was made.
        names: of the functions that the library shows.
        runtimes: the folder of `make_runtime`.
        path: of the library; replaced as a whole.

    Raises:
        BuildError: the code calls something that is not there. MissingExtraError: ziglang is not installed.
    """
    check_linker()
    with tempfile.TemporaryDirectory() as place:
        made, library = Path(place, "kernels.o"), Path(place, "library")
        made.write_bytes(code)
        files = [made] if target.linker == "macho" else [made, make_runtime(target, runtimes)]
        run_zig(runtimes, *LINKERS[target.linker](target, names, files, library))
        write_whole(library.read_bytes(), path)


def _elf(target: Target, names: Collection[str], files: list[Path], library: Path) -> list[str | Path]:
    settings = ("-z", "defs", "--gc-sections", "--exclude-libs=ALL", "--strip-all", "--build-id=none")
    return ["ld.lld", "-shared", *settings, *files, "-o", library]


def _coff(target: Target, names: Collection[str], files: list[Path], library: Path) -> list[str | Path]:
    settings = ("-dll", "-noentry", "-nodefaultlib", "-Brepro", "-opt:ref", "-machine:x64")
    return ["lld-link", *settings, *(f"-export:{name}" for name in names), *files, f"-out:{library}"]


def _wasm(target: Target, names: Collection[str], files: list[Path], library: Path) -> list[str | Path]:
    shown = [f"--export={name}" for name in (*names, "__heap_base")]
    return [
        "wasm-ld",
        "--no-entry",
        "--strip-all",
        "--gc-sections",
        f"-zstack-size={STACK}",
        *shown,
        *files,
        "-o",
        library,
    ]


def _macho(target: Target, names: Collection[str], files: list[Path], library: Path) -> list[str | Path]:
    """By zig's own linker, as its wheel has LLD for the other formats alone; what C has is called of Apple's own."""
    settings = (
        "-dynamic",
        "-fstrip",
        "-OReleaseFast",
        "-fno-compiler-rt",
        "-lc",
        "-cflags",
        "-fno-builtin",
        "--",
        SUPPORT,
    )
    name = ("--name", "kernels", "-install_name", "@rpath/kernels.dylib")
    return ["build-lib", "-target", target.zig, *settings, *name, files[0], f"-femit-bin={library}"]


LINKERS = {"elf": _elf, "coff": _coff, "wasm": _wasm, "macho": _macho}


def write_whole(content: bytes, path: Path) -> None:
    """Write a file as a whole: others may look for it meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as file:
        file.write(content)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)
