"""What the installed wheel of kernels holds: a script that `run.py package` runs."""

import ctypes
import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import rlenvs_kernels
from rlenvs_kernels._call import Entry

import rlenvs

HOME = Path(rlenvs_kernels.__file__).parent
assert "site-packages" in HOME.parts, f"{HOME} is the source tree"
manifest = json.loads((HOME / "manifest.json").read_text())
assert manifest["format"] == 1
assert len(manifest["libraries"]) == 5, manifest  # four kinds, and what threads do
for entries in manifest["libraries"].values():
    for target, entry in entries.items():
        path = HOME / entry["file"]
        assert hashlib.sha256(path.read_bytes()).hexdigest() == entry["sha256"], path
        library = ctypes.CDLL(str(path))  # --here: this machine can run all
        for name in entry["functions"]:
            address = ctypes.cast(library[name], ctypes.c_void_p).value
            assert Entry(address, 4).address == address, (target, name)
batch = rlenvs.make_batch("CartPole-v0", 100, threads=2)
batch.seed(0)
batch.reset()
batch.step(np.zeros(100, np.int64))
assert isinstance(batch.loops.driver.run_worlds, Entry), batch.loops.driver
assert "numba" not in sys.modules
print(HOME, "works:", len(manifest["libraries"]), "libraries")
