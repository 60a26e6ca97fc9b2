"""What the installed wheel of kernels holds: a script that `run.py package` runs."""

import ctypes
import hashlib
import json
from pathlib import Path

import rlenvs_kernels
from rlenvs_kernels._call import Entry

HOME = Path(rlenvs_kernels.__file__).parent
assert "site-packages" in HOME.parts, f"{HOME} is the source tree"
manifest = json.loads((HOME / "manifest.json").read_text())
assert manifest["format"] == 1
assert len(manifest["libraries"]) == 2, manifest
for entries in manifest["libraries"].values():
    for target, entry in entries.items():
        path = HOME / entry["file"]
        assert hashlib.sha256(path.read_bytes()).hexdigest() == entry["sha256"], path
        library = ctypes.CDLL(str(path))  # --here: this machine can run all
        run = ctypes.cast(library.run_worlds, ctypes.c_void_p).value
        assert Entry(run, 4).address == run
        assert {"run_worlds"} <= set(entry["functions"]), (target, entry)
print(HOME, "works:", len(manifest["libraries"]), "kinds")
