"""Checkpoints: trees of arrays in files that are whole, or are refused."""

import json
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rlenvs.agents import checkpoint
from rlenvs.agents.checkpoint import pack, read_checkpoint, unpack, write_checkpoint
from rlenvs.core.declare.errors import RunError

pytest.importorskip("torch")


def test_a_checkpoint_gives_back_what_it_was_given(tmp_path):
    import torch

    tree = {
        "numbers": [1, 2.5, None, True, "text", 2**127, float("inf")],
        0: (np.float32(0.1), np.zeros((0, 3)), np.array(3), np.arange(6).reshape(2, 3).T),
        "tensor": torch.tensor(2.5, dtype=torch.float64),
        "flags": np.array([True, False]),
    }
    write_checkpoint(tmp_path / "file", tree)
    found = read_checkpoint(tmp_path / "file")
    assert found["numbers"] == tree["numbers"]
    assert found["tensor"].dtype == torch.float64
    assert found["tensor"].item() == 2.5
    assert isinstance(found[0], tuple)
    for mine, theirs in zip(found[0], tree[0], strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        assert np.array_equal(mine, theirs)
    assert found["flags"].tolist() == [True, False]
    with pytest.raises(TypeError, match="function"):
        pack({"a": lambda: 0}, {})
    assert unpack(pack([], {}), {}) == []


def test_the_file_is_one_that_safetensors_reads(tmp_path):
    from safetensors.numpy import load_file

    write_checkpoint(tmp_path / "file", {"a": np.arange(3), "b": np.array([1, 2], np.uint8)})
    assert sorted(array.tolist() for array in load_file(tmp_path / "file").values()) == [[0, 1, 2], [1, 2]]


class Evil:
    def __reduce__(self):
        return os.mkdir, ("executed",)


@pytest.mark.parametrize("damage", ["pickle", "cut", "head", "other", "empty", "tree", "number", "weight"])
def test_a_damaged_or_foreign_checkpoint_is_refused(tmp_path, monkeypatch, damage):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "checkpoint"
    write_checkpoint(path, {"a": np.arange(100.0), "b": 7.5})
    data = path.read_bytes()
    other = b'{"__metadata__":{"format":"something"}}'
    broken = json.dumps({"__metadata__": {"format": checkpoint.FORMAT, "tree": '["array","7"]'}}).encode()
    path.write_bytes(
        {
            "pickle": pickle.dumps(Evil()),
            "cut": data[:-8],
            "head": data[:4],
            "other": len(other).to_bytes(8, "little") + other,
            "empty": b"",
            "tree": len(broken).to_bytes(8, "little") + broken,
            "number": data.replace(b"7.5", b"7.6"),
            "weight": data[:-1] + b"?",
        }[damage]
    )
    with pytest.raises(RunError, match="checkpoint"):
        read_checkpoint(path)
    assert not (tmp_path / "executed").exists()


KILLED = """
import os, sys
import numpy as np
from dataclasses import replace
from pathlib import Path
from rlenvs.agents import checkpoint
path = Path(sys.argv[1])
checkpoint.write_checkpoint(path, {"a": np.arange(3)})
def killed(*_):
    os.kill(os.getpid(), 9)
os.fsync = killed
checkpoint.write_checkpoint(path, {"a": np.arange(100000)})
"""


def test_a_kill_in_the_middle_of_writing_leaves_the_last_checkpoint(tmp_path):
    path = tmp_path / "checkpoint"
    code = KILLED.replace("os.fsync = killed", "first = os.fsync; os.fsync = killed")
    process = subprocess.run([sys.executable, "-c", code, str(path)], timeout=120)
    assert process.returncode == -signal.SIGKILL
    assert read_checkpoint(path)["a"].tolist() == [0, 1, 2]
    write_checkpoint(path, {"a": np.arange(4)})  # what was left does not disturb
    assert [found.name for found in Path(tmp_path).iterdir()] == ["checkpoint"]
