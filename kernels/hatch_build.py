"""What the wheel of a system holds beside Python: libraries of kernels, their manifest, and what calls them.

RLENVS_KERNELS is the folder of the libraries, `build/kernels` of the repository by default; RLENVS_PLATFORM the system,
by default that of this machine.
"""

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path(__file__).resolve().parent
PACKAGE, MANIFEST = "rlenvs_kernels", "manifest.json"


class System(NamedTuple):
    """A system that has a wheel: its tag, zig's name of it, how code is linked there, and what libraries it loads."""

    tag: str
    zig: str
    settings: tuple[str, ...]
    targets: tuple[str, ...]


SYSTEMS = {
    "linux-x86_64": System(
        "manylinux_2_17_x86_64", "x86_64-linux-gnu.2.17", ("-s",), ("x86-64", "x86-64-v3", "x86-64-v4")
    ),
    "linux-aarch64": System("manylinux_2_17_aarch64", "aarch64-linux-gnu.2.17", ("-s",), ("aarch64-linux",)),
    "macosx-arm64": System(
        "macosx_11_0_arm64", "aarch64-macos.11.0", ("-undefined", "dynamic_lookup"), ("macos-arm64",)
    ),
}


class Libraries(BuildHookInterface):
    """Adds libraries, manifest and extension to a wheel, and gives it the tag of a system."""

    def initialize(self, version, build_data):
        """Called by hatchling before the files are gathered."""
        name = os.environ.get("RLENVS_PLATFORM") or this_system()
        system, folder = SYSTEMS[name], Path(os.environ.get("RLENVS_KERNELS", HERE.parent / "build" / "kernels"))
        self.place = tempfile.TemporaryDirectory()
        place = Path(self.place.name)
        files = {place / MANIFEST: MANIFEST, place / "_call.abi3.so": "_call.abi3.so"}
        chosen = manifest_of(json.loads((folder / MANIFEST).read_text()), system.targets)
        (place / MANIFEST).write_text(json.dumps(chosen, indent=1))
        for entries in chosen["libraries"].values():
            files |= {folder / entry["file"]: entry["file"] for entry in entries.values()}
        compile_extension(system, place / "_call.abi3.so")
        build_data["force_include"] = {str(path): f"{PACKAGE}/{inside}" for path, inside in files.items()}
        build_data["tag"], build_data["pure_python"] = f"cp311-abi3-{system.tag}", False

    def finalize(self, version, build_data, artifact_path):
        """Called by hatchling when the wheel is written."""
        self.place.cleanup()


def this_system():
    """The name of this machine's system."""
    parts = sysconfig.get_platform().split("-")  # "macosx-11.0-arm64"
    return f"{parts[0]}-{parts[-1]}"


def manifest_of(manifest, targets):
    """A manifest with the libraries of some targets alone."""
    libraries = {
        key: {target: entry for target, entry in entries.items() if target in targets}
        for key, entries in manifest["libraries"].items()
    }
    return {**manifest, "libraries": {key: entries for key, entries in libraries.items() if entries}}


def compile_extension(system, path):
    """Make `_call`, one file for all versions of Python from 3.11 on."""
    settings = ("-shared", "-fPIC", "-O2", "-Wall", "-Werror", *system.settings)
    command = (sys.executable, "-m", "ziglang", "cc", "-target", system.zig, *settings)
    subprocess.run([*command, f"-I{sysconfig.get_path('include')}", HERE / "_call.c", "-o", path], check=True)
