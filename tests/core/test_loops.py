"""Loops outside of worlds: their arguments in words, functions of libraries, and what is done where there are none."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.places import ROOT
from support.tiny_library import POSSIBLE, put, sole_folder, tiny_library

from rlenvs.core.compiler import loops, ready
from rlenvs.core.compiler.arguments import described, function_name, result_in, words_of
from rlenvs.core.compiler.loops import Loop, compiled
from rlenvs.wrappers.masked import clear_rows

pytest.importorskip("numba")
tiny = pytest.mark.skipif(not POSSIBLE, reason="tiny libraries are for Linux on x86-64")


class Pair(NamedTuple):
    numbers: np.ndarray
    factor: float


class Turned(NamedTuple):
    factor: float
    numbers: np.ndarray


def frozen() -> np.ndarray:
    array = np.zeros(3)
    array.flags.writeable = False
    return array


SQUARE = np.zeros((4, 4))
KINDS: dict[str, Any] = {
    "f8:1C": np.zeros(3),
    "f8:1A": np.zeros(6)[::2],
    "f8:2C": SQUARE,
    "f8:2F": SQUARE.T[:, :2].copy("F"),
    "f8:2A": SQUARE[:, :2],
    "f4:1C": np.zeros(3, np.float32),
    "i8:1C": np.zeros(3, np.int64),
    "u8:1C": np.zeros(3, np.uint64),
    "u1:3C": np.zeros((2, 2, 2), np.uint8),
    "b1:1C": np.zeros(3, np.bool_),
    "f8:0C": np.zeros(()),
    "f8:1Cr": frozen(),
    "int": 3,
    "float": 3.0,
    "unsigned": np.uint64(3),
    "()": (),
    "(int,float)": (3, 3.0),
    "Pair[numbers,factor](f8:1C,float)": Pair(np.zeros(3), 1.0),
    "Turned[factor,numbers](float,f8:1C)": Turned(1.0, np.zeros(3)),
    "((int),f8:1C)": ((3,), np.zeros(3)),
}


@pytest.mark.parametrize("words", KINDS)
def test_types_in_words(words):
    assert described([KINDS[words]]) == words
    assert described([KINDS[words], 1]) == f"{words},int"


def test_the_same_words():
    assert described([True]) == described([np.bool_(1)]) == described([np.int32(1)]) == "int"
    assert described([np.float32(1)]) == described([np.float64(1)]) == "float"


@pytest.mark.parametrize("value", ["text", None, {}, np.zeros(2, object), np.zeros(2, ">f8"), np.zeros(2, "f8,f8")])
def test_what_has_no_form(value):
    assert described([value]) is None
    assert described([1, (value,)]) is None


@pytest.mark.parametrize("words", [words for words in KINDS if words[:2] in ("f8", "f4", "i8", "u8", "u1", "b1")])
def test_words_and_types_are_those_of_numba(words):
    """Of arrays: kind, axes and layout, and how many words there are."""
    from rlenvs.core.compiler.jit import typeof

    array = KINDS[words]
    kind: Any = typeof(array)
    axes, layout, told = int(words[3]), words[4], words[5:]
    assert (kind.ndim, kind.layout, kind.mutable) == (axes, layout, "r" not in told)
    assert len(words_of([array])) == 8 * (5 + 2 * array.ndim)


# --- results ----------------------------------------------------------------------------------------------------------


@compiled()
def give_int(numbers: np.ndarray) -> int:
    return np.int32(numbers[0])


@compiled()
def give_float(numbers: np.ndarray) -> float:
    return np.float32(numbers[0])


@compiled()
def give_flag(numbers: np.ndarray) -> bool:
    return numbers[0] > 0.0


@compiled()
def give_unsigned(numbers: np.ndarray) -> int:
    return np.uint64(1) << np.uint64(63)


@compiled()
def double(pair: Pair, times: int, out: np.ndarray) -> None:
    for k in range(out.size):
        out[k] = pair.numbers[k] * pair.factor * times


@pytest.fixture
def by_address(monkeypatch):
    """Loops are called as those of libraries are."""

    def entry_of(loop, arguments, shared=False):
        from rlenvs.core.compiler.loop_entries import entry

        return entry(loop, arguments, shared)

    monkeypatch.setattr(Loop, "_entry_of_library", entry_of)


@pytest.mark.parametrize(
    ("loop", "result"), [(give_int, -2), (give_float, -2.5), (give_flag, False), (give_unsigned, 1 << 63)]
)
def test_results_arrive(by_address, loop, result):
    found = loop._in_library(np.array([-2.5]))
    assert found == result
    assert type(found) is type(result)


def test_arguments_arrive(by_address):
    out = np.zeros(3)
    assert double._in_library(Pair(np.arange(6.0)[::2], 0.5), 4, out) is None
    np.testing.assert_array_equal(out, [0.0, 4.0, 8.0])


def test_a_result_in_memory():
    for kind, value, memory in ((1, -1, b"\xff" * 8), (4, 2**64 - 1, b"\xff" * 8), (3, True, b"\1" + bytes(7))):
        assert result_in(kind.to_bytes(8, "little") + memory) == value
    assert result_in(bytes(16)) is None


def test_asking():
    numbers = np.ones(2)
    ask = loops.asking(give_flag, numbers)
    assert ask is not None
    assert ask() is True
    numbers[0] = -1.0
    assert ask() is False


def test_pickles_are_names():
    assert pickle.loads(pickle.dumps(clear_rows)) is clear_rows


# --- libraries --------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The sole folder of libraries."""
    monkeypatch.setattr(ready, "_calls", lambda: None)
    return sole_folder(tmp_path, monkeypatch)


def put_loop(folder, loop, arguments, status=0):
    """A library whose function does nothing but to return a status."""
    name = function_name(loop.key, described(arguments) or "", False)
    put(folder, loop.key, tiny_library(**{name: status}), names=[name])


def cleared(array):
    """Rows of ones after `clear_rows`, by a new loop of the same function."""
    loop = Loop(clear_rows.py_func, clear_rows.options)
    array[...] = 1.0
    loop(array, np.ones(len(array), np.bool_))
    return not array.any()


@tiny
def test_a_library_is_called_for_its_types_alone(folder):
    rows = np.ones((2, 3))
    put_loop(folder, clear_rows, [rows, np.ones(2, np.bool_)])
    assert not cleared(rows)  # what the library has does nothing
    assert cleared(rows[:, :2])
    assert cleared(rows.astype(np.float32))
    call = loops.bound([(Loop(clear_rows.py_func, clear_rows.options), rows, np.ones(2, np.bool_))])
    call()
    assert rows.any()


@tiny
def test_another_target_or_none(folder, monkeypatch):
    rows = np.ones((2, 3))
    put_loop(folder, clear_rows, [rows, np.ones(2, np.bool_)])
    monkeypatch.setenv("RLENVS_TARGET", "none")
    assert cleared(rows)


@tiny
def test_errors_are_told(folder):
    rows = np.ones((2, 3))
    put_loop(folder, clear_rows, [rows, np.ones(2, np.bool_)], status=-1)
    with pytest.raises(RuntimeError, match="clear_rows"):
        cleared(rows)


def test_keys_follow_from_source_and_options():
    def one(out):
        out[0] = 1.0

    def other(out):
        out[0] = 2.0

    assert Loop(one, {}).key == Loop(one, {}).key
    assert len({Loop(one, {}).key, Loop(other, {}).key, Loop(one, {"nogil": True}).key}) == 3


ALONE = """
import sys
sys.modules["numba"] = None
import numpy as np
from rlenvs.core.compiler import loops
from rlenvs.wrappers.masked import clear_rows, count_rows
rows, mask, counter = np.ones((2, 3)), np.array([True, False]), np.zeros(2, np.int64)
clear_rows(rows, mask)
loops.bound([(count_rows, counter, mask), (count_rows, counter, mask)])()
print(rows.tolist(), counter.tolist())
"""


def test_plain_python_without_numba_and_libraries(tmp_path):
    """And that is said once."""
    env = {**os.environ, "RLENVS_TARGET": "none", "RLENVS_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, env=env, check=True)
    assert done.stdout.split("\n")[0] == "[[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]] [2, 0]"
    assert done.stderr.count("run as plain Python") == 1


BATCH = """
import sys
import rlenvs
env = rlenvs.make_vec("CartPole-v0", 1024, threads=1)
env.reset(seed=0)
env.step(env.action_space.sample())
env.step(env.action_space.sample())
print("numba" in sys.modules, "llvmlite" in sys.modules)
"""


@tiny
def test_nothing_imports_numba_where_libraries_are_complete(tmp_path):
    """Libraries of functions that do nothing."""
    from rlenvs.core.catalogue.registry import world_of
    from rlenvs.core.compiler.build import wanted_library
    from rlenvs.core.compiler.kernel_names import kernel_names
    from rlenvs.core.compiler.keys import digest_of
    from rlenvs.core.compiler.within import _all_within
    from rlenvs.core.declare.setup import Setup

    setup = Setup(world_of("CartPole-v0"))
    world, kind = setup.world, setup.action_kind
    key, functions = wanted_library(world, digest_of(world, kind, kernel_names(world, kind, False)), False, False)
    within = function_name(_all_within.key, described([np.zeros(3, np.int64), 0, 1]) or "", False)
    manifests = {}
    for each, names in ((key, list(functions)), (_all_within.key, [within])):
        put(tmp_path / "kernels", each, tiny_library(**dict.fromkeys(names, 0)), names=names)
        manifests |= json.loads((tmp_path / "kernels" / "manifest.json").read_text())["libraries"]
    (tmp_path / "kernels" / "manifest.json").write_text(json.dumps({"format": 1, "libraries": manifests}))
    tmp_path.chmod(0o700)
    env = {**os.environ, "RLENVS_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT), "RLENVS_TARGET": "x86-64"}
    done = subprocess.run([sys.executable, "-c", BATCH], capture_output=True, text=True, env=env)
    assert done.stdout == "False False\n", done.stderr
