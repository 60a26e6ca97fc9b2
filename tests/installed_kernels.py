"""What the installed wheel of kernels holds, and that worlds step by it: a script that `run.py package` runs, with the
ids whose kinds it holds."""

import ctypes
import hashlib
import importlib.util
import json
import sys
from pathlib import Path

import rlenvs_kernels
from rlenvs_kernels._call import Entry

import rlenvs
from rlenvs.core.compiler.build import ReadyDriver

HOME = Path(rlenvs_kernels.__file__).parent
assert "site-packages" in HOME.parts, f"{HOME} is the source tree"
manifest = json.loads((HOME / "manifest.json").read_text())
assert manifest["format"] == 1
assert len(manifest["libraries"]) == len(sys.argv), manifest  # of the kinds, and of threads
for entries in manifest["libraries"].values():
    for entry in entries.values():
        path = HOME / entry["file"]
        assert hashlib.sha256(path.read_bytes()).hexdigest() == entry["sha256"], path
        library = ctypes.CDLL(str(path))  # `--here`: all can be run
        for name in entry["functions"]:
            address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
            assert Entry(address, 4).address == address

assert importlib.util.find_spec("numba") is None, "the base install has no compiler"
for id in sys.argv[1:]:
    batch = rlenvs.make_batch(id, 64)
    assert isinstance(batch.loops.driver, ReadyDriver), id
    batch.seed(0)
    batch.reset()
    for _ in range(20):
        batch.step(batch.actions.copy())
print(HOME, "works:", len(manifest["libraries"]), "libraries")
