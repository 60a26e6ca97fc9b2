import importlib
import sys
import textwrap

import pytest

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.compiler.explain import FULL, explain_compile_error
from rlenvs.core.declare.errors import KernelError

WORLD = """
import numpy as np
from rlenvs.core import block, discrete, f8, kernel, param, term, uniform, world

SPEC = world(
    "Wrong-v0",
    doc="Wrong.",
    params={{"leak": param(0.05, 0.01, 0.2, "1/step", "a share")}},
    state={{"room": f8, "pair": f8(2)}},
    observation={{"room": block(low=-40, high=60, unit="C", doc="temperature")}},
    action=discrete("off", "on"),
    terms={{"comfort": term(-1, 0, weight=1.0, doc="comfort")}},
    horizon=20,
)


class Thing:
    value = 1.0


def plain(x):
    return x + 1.0


@kernel
def helper(x, y):
    return x + y


@kernel
def wrong_helper(x):
    return x + nothing_here


@SPEC.reset
def reset({arguments}):
    s.room = 1.0
{body}


@SPEC.step
def step(p, s, a, rng, r):
    r.comfort = -1.0


@SPEC.observe
def observe(p, s, o):
    o.room = s.room
"""
# what is written in the kernel reset, the line of it that is wrong, and what is said about it
MISTAKES = {
    "a name that is not defined": ("s.room += heat", 0, "the name 'heat' is not defined"),
    "a field of the state": ("x = 2.0\ns.rom += x", 1, "s has no field 'rom'. Did you mean 'room'?"),
    "a field that is set": ("s.rom = 1.0", 0, "s has no field 'rom'. Did you mean 'room'?"),
    "a parameter": ("s.room += p.leek", 0, "p has no field 'leek'. Did you mean 'leak'?"),
    "an attribute of rng": ("s.room = rng.uniform(0.0, 1.0)", 0, "draw by uniform(rng, low, high)"),
    "a text": ("s.room = 'warm'", 0, "the text 'warm' cannot be stored where float64 is needed"),
    "a number for a vector": ("s.pair = 1.0", 0, "write to its elements"),
    "a vector for another": ("s.pair = p.weights", 0, "s.pair is an array: write to its elements, as in s.pair[:] ="),
    "a vector of whole numbers": ("s.pair = np.zeros(2, np.int64)", 0, "s.pair is an array: write to its elements"),
    "a list": ("xs = ['a']\nxs.append(1.0)", 1, "list.append of a list of text does not take float64"),
    "a list in the state": ("s.notes.append(1.0)", 0, "s has no field 'notes'"),
    "try and except": ("try:\n    s.room = 1.0\nexcept ValueError as e:\n    pass", 2, "kernels have no exceptions"),
    "one exception": ("try:\n    s.room = 1.0\nexcept KeyError:\n    pass", 2, "kernels have no exceptions"),
    "a dictionary": ("d = {'a': 1.0}\ns.room += d['a'] + d", 1, "+ is not possible with float64 and "),
    "an f-string": ("x = f'{s.room:.2f}'", 0, "format spec in f-strings not supported yet"),
    "an import": ("import math", 0, "kernels cannot hold an import"),
    "a global": ("global N\nN = 3", 1, "kernels cannot hold the change of a global name"),
    "a with block": ("with open('x') as f:\n    pass", None, "kernels cannot hold with blocks"),
    "a class": ("s.room = Thing().value", 0, "Thing, a type, is nothing that compiled code can use"),
    "a plain function": ("s.room = plain(s.room)", 0, "plain is a plain function; put @kernel above it"),
    "missing arguments": ("s.room = helper(s.room)", 0, "missing a required argument: 'y'"),
    "None": ("x = None\ns.room += x", 1, "+= is not possible with float64 and None"),
    "two types": (
        "x = 1.0\nif s.room > 20:\n    x = 'cold'\ns.room = x",
        3,
        "x is float64 in one place and the text 'cold'",
    ),
    "a function of NumPy": ("s.room = np.linalg.foo(s.room)", 0, "'numpy.linalg' has no attribute 'foo'"),
}


def world_of(tmp_path, monkeypatch, body, arguments="p, s, rng"):
    """The world with such a kernel, and the line where its body begins."""
    before, after = WORLD.format(arguments=arguments, body="BODY").split("BODY")
    (tmp_path / "wrong_world.py").write_text(before + textwrap.indent(body, "    ") + after)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "wrong_world", raising=False)
    importlib.invalidate_caches()
    return importlib.import_module("wrong_world").SPEC, before.count("\n") + 1


def error_of(spec):
    batch = KernelBatch(spec, 1)
    batch.seed([0])
    with pytest.raises(Exception) as caught:
        batch.reset()
    return caught.value if isinstance(caught.value, KernelError) else explain_compile_error(caught.value, spec)


USUAL = ("a name that is not defined", "a field of the state", "a text", "a list", "an f-string", "a plain function")


@pytest.mark.parametrize(
    "mistake", [name if name in USUAL else pytest.param(name, marks=pytest.mark.slow) for name in MISTAKES]
)
def test_one_sentence_with_file_line_and_reason(tmp_path, monkeypatch, mistake):
    body, line, reason = MISTAKES[mistake]
    spec, first = world_of(tmp_path, monkeypatch, body)
    error = error_of(spec)
    assert reason in str(error)
    assert "\n" not in str(error)
    assert len(str(error)) < 500
    if line is not None:
        assert f"kernel reset of Wrong-v0 does not compile: {tmp_path / 'wrong_world.py'}:{first + line}: " in str(
            error
        )
        assert f"(in: {body.splitlines()[line].strip()})" in str(error)


def test_the_same_mistake_in_another_file_is_told_with_that_file(tmp_path, monkeypatch):
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        spec, _ = world_of(tmp_path / folder, monkeypatch, "s.room += cold")
        assert f"{tmp_path / folder / 'wrong_world.py'}:" in str(error_of(spec))


def test_wrong_arguments(tmp_path, monkeypatch):
    spec, _ = world_of(tmp_path, monkeypatch, "pass", "p, s")
    assert "it takes (p, s), but has to take (p, s, rng) (in: def reset(p, s):)" in str(error_of(spec))


def test_a_mistake_in_what_a_kernel_calls(tmp_path, monkeypatch):
    spec, _ = world_of(tmp_path, monkeypatch, "s.room = wrong_helper(s.room)")
    error = str(error_of(spec))
    assert "kernel wrong_helper of Wrong-v0" in error
    assert "the name 'nothing_here' is not defined (in: return x + nothing_here)" in error


def test_all_of_the_compilers_words_are_at_hand(tmp_path, monkeypatch):
    spec, _ = world_of(tmp_path, monkeypatch, "s.room += heat")
    error = error_of(spec)
    assert "nopython" in error.full
    assert "nopython" not in str(error)
    assert f"{FULL}=1" in str(error)
    monkeypatch.setenv(FULL, "1")
    assert "nopython" in str(error_of(spec))


def test_a_report_of_another_kind_is_passed_on():
    class World:
        name, kernels, layouts, agents = "Some-v0", {}, {}, False

    error = explain_compile_error(RuntimeError("LLVM ran out of memory\nand more"), World)
    assert str(error).startswith("a kernel of Some-v0 does not compile: LLVM ran out of memory. ")
    assert str(explain_compile_error(RuntimeError(""), World)).startswith("a kernel of Some-v0 does not compile: ")


@pytest.mark.parametrize("body", ["s.pair[:] = np.ones(2) * s.room", "xs = [s.room]\nxs.append(1.0)\ns.room = xs[1]"])
def test_a_kernel_that_makes_an_array_is_refused_with_its_name(tmp_path, monkeypatch, body):
    """numba would compile it; libraries of kernels have no memory of their own."""
    spec, _ = world_of(tmp_path, monkeypatch, body)
    error = error_of(spec)
    assert "Wrong-v0: a kernel makes arrays" in str(error)
    assert "reset (" in str(error)
    assert "wrong_world.py:" in str(error)
    assert "write loops" in str(error)
    assert str(error_of(spec)) == str(error)  # again: nothing of it was kept, and who did it is still known
