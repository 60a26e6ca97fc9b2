"""The hash by which libraries are found: the same with all versions, another with any other source or value."""

import dis
import importlib
import os
import pkgutil
import py_compile
import sys
from types import CodeType, FunctionType

import pytest

from rlenvs.core import declare
from rlenvs.core.compiler import digest as digests
from rlenvs.core.compiler import sources
from rlenvs.core.compiler.digest import Digest, names_in
from rlenvs.core.compiler.sources import bytecode_of, source_of

SOURCE = '''
import enum, math
from collections import namedtuple
import numpy as np

class Move(enum.IntEnum):
    SLOW, FAST = 1, 3

Point = namedtuple("Point", "x y", defaults=(2.5,))
ROW = np.array([0.0, -0.0, np.inf], np.float32)
RECORD = np.zeros(2, [("name", "U3"), ("gain", "f8", (2,)), ("on", "?")])
SIZES, WORD, WHERE = (np.int8(3), np.float64(0.1)), np.uint64(1 << 63), Point(1)

def around(gain):
    def inner(x, *, power=2):
        return gain * x**power  # raised
    return inner

inner = around(0.1)

@staticmethod
def used(a, b: float = 0.5, *, c=(1, "two \\u1234", None)):
    """A function of everything."""
    # a comment
    total = 0.0
    for k in range(3):
        total += ROW[k] if k != Move.FAST else RECORD[0].gain[1]
    many = [
        math.sqrt(each) + inner(each)  # in brackets
        for each in (1.0, 2.0, "#".count("#"))
    ]
    while total < WHERE.y and not (a or b): total += float(WORD) + abs(SIZES[0])
    return min(total, sum(many)), np.float32(1), "a" \\
        "b", {"x": 1, "y": {2, 3}}, lambda q: q + Move.SLOW.value
'''
# the hash on every Python, NumPy and machine of 64 bits; another one after a change of how hashes are made
EXPECTED = "4e85edbe0e577d949b00479e"


@pytest.fixture
def module_of(tmp_path, monkeypatch):
    """A function that gives a module with some source."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # edits come within a second
    made = []

    def make(source):
        name = f"portable_{tmp_path.name}_{len(made)}".replace("-", "_")
        (tmp_path / f"{name}.py").write_text(source)
        importlib.invalidate_caches()
        made.append(importlib.import_module(name))
        return made[-1]

    return make


def hashed(module):
    digest = Digest()
    digest.add(module.used.__func__)
    assert not digest.unhashed
    return digest.hexdigest()


def test_the_hash_is_the_same_everywhere(module_of):
    assert hashed(module_of(SOURCE)) == EXPECTED


def test_versions_are_of_the_key_alone(module_of, monkeypatch):
    """NumPy's functions are the same in libraries, and numba looks at NumPy's version when it compiles them."""
    import numpy as np

    used = module_of(SOURCE.replace("math.sqrt", "np.sqrt")).used.__func__

    def both():
        digest = Digest()
        digest.add(used)
        return digest.hexdigest(), digest.key("a toy")

    before = both()
    assert both() == before
    monkeypatch.setattr(np, "__version__", "9.9.9")
    assert both()[0] == before[0]
    assert both()[1] != before[1]
    monkeypatch.setattr(np, "__version__", "9.9.8")
    monkeypatch.setattr(digests, "versions", lambda: "others")
    assert both()[0] == before[0]


EDITS = [
    ("0.0, -0.0", "0.0, 0.0"), ("np.float32)", "np.float64)"), ("FAST = 1, 3", "FAST = 1, 2"), ("(2.5,)", "(2,)"),
    ('"?")', '"u1")'), ("np.int8(3)", "np.int16(3)"), ("1 << 63", "1 << 62"), ("around(0.1)", "around(0.2)"),
    ("power=2", "power=3"), ("b: float = 0.5", "b: float = 0.25"), ("u1234", "u1235"), ("range(3)", "range(2)"),
    ("math.sqrt", "math.cbrt"), ('"#".count', '"##".count'), ("not (a or b)", "(a or b)"), ("(a or b)", "(a and b)"),
    ('"b", {', '"c", {'), ("{2, 3}", "{2, 4}"), ("q + Move", "q - Move"), ("SLOW.value", "FAST.value"),
    ("abs(SIZES[0])", "abs(SIZES[1])"), ("gain * x", "x * gain"), ("float(WORD)", "int(WORD)"),
    ("    total = 0.0\n", "    total = 0.0\n    total += 1\n"), ("WHERE.y", "WHERE.x"), ("gain[1]", "gain[0]"),
]  # fmt: skip
SAME = [
    ("# a comment", "# another\n\n\n  # and one"), ("of everything.", "of nothing."), ("  # raised", ""),
    ('    """A function of everything."""\n', ""),
    ("@staticmethod\n", "\n\n\n@staticmethod\n\n"), ("  # in brackets", ""),
    ("    many = [\n", "    many = [\n\n        # here\n"), ("inner = around", "UNUSED = 1\ninner = around"),
]  # fmt: skip


@pytest.mark.parametrize("edit", EDITS)
def test_any_edit_changes_the_hash(module_of, edit):
    assert SOURCE.count(edit[0]) == 1
    assert hashed(module_of(SOURCE.replace(*edit))) != hashed(module_of(SOURCE))


@pytest.mark.parametrize("edit", SAME)
def test_what_is_no_code_changes_nothing(module_of, edit):
    assert SOURCE.count(edit[0]) == 1
    assert hashed(module_of(SOURCE.replace(*edit))) == hashed(module_of(SOURCE))


def test_the_source_is_that_of_the_code(module_of):
    """A file that has changed since its import does not say what the code does; nor do texts that were executed."""
    module = module_of(SOURCE)
    code = module.used.__func__.__code__
    assert source_of(code).startswith("def(a, b: float = 0.5")
    assert "comment" not in source_of(code)
    with open(module.__file__, "w") as file:
        file.write(SOURCE.replace("range(3)", "range(4)"))
    assert source_of(code) is None
    scope = {}
    exec(compile(SOURCE.replace("total = 0.0", "total = 1.0"), module.__file__, "exec"), scope)
    assert source_of(scope["used"].__func__.__code__) is None
    assert source_of(scope["inner"].__code__) is not None  # which is as in the file
    assert source_of((lambda: 1).__code__) is None


def test_bytecode_that_is_older_than_its_source(module_of, monkeypatch):
    """Python takes it where both are of the same second, and of sources of the same length."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    module, second = module_of(SOURCE), 10**9
    code = module.used.__func__.__code__
    assert source_of(code) is not None
    with open(module.__file__, "w") as file:
        file.write(SOURCE.replace("range(3)", "range(4)"))
    os.utime(module.__file__, ns=(second, second))
    assert source_of(code) is None
    py_compile.compile(module.__file__)  # as an import of it does
    with open(module.__file__, "w") as file:
        file.write(SOURCE)
    os.utime(module.__cached__, ns=(second + 1000, second + 1000))
    os.utime(module.__file__, ns=(second + 2000, second + 2000))
    assert "range(4)" not in source_of(code)


def test_texts_that_are_kept_with_the_function():
    scope = {"A": 1}
    made = sources.function_from("def f(x):\n    return A + x\n", "f", scope)
    assert made(1) == 2
    assert source_of(made.__code__) == "def(x):\n    return A + x"


def functions():
    """All functions of a room of the core."""
    for found in pkgutil.walk_packages(declare.__path__, "rlenvs.core.declare."):
        for value in vars(importlib.import_module(found.name)).values():
            for each in vars(value).values() if isinstance(value, type) else [value]:
                if isinstance(each, FunctionType) and each.__module__.startswith("rlenvs.core"):
                    yield each


def names_by_dis(code, free):
    """What `names_in` finds, read slowly."""
    lines = [line for line in dis.get_instructions(code) if line.opname not in ("EXTENDED_ARG", "CACHE")]
    for place, line in enumerate(lines):
        if line.opname in ("LOAD_GLOBAL", "LOAD_NAME") or ("DEREF" in line.opname and line.argval in free):
            behind = []
            for after in lines[place + 1 :]:
                if after.opname not in ("LOAD_ATTR", "LOAD_METHOD"):
                    break
                behind.append(after.argval)
            yield line.argval, tuple(behind)
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from names_by_dis(value, free)


def test_names_are_read_as_dis_reads_them():
    many = " + ".join(f"n{k}.a{k}.b" for k in range(400))
    scope = {}
    exec(f"def long():\n    return {many}\n", scope)
    found = [scope["long"], *functions()]
    assert len(found) > 300
    for function in found:
        code = function.__code__
        assert sorted(names_in(code, code.co_freevars)) == sorted(names_by_dis(code, code.co_freevars)), function


def test_code_that_ran_is_the_code_that_was_compiled():
    """The interpreter writes into code what it has learned."""

    def run(n):
        total = 0
        for k in range(n):
            total += len(str(k))
        return total

    before = bytecode_of(run.__code__)
    run(1000)
    assert bytecode_of(run.__code__) == before
    assert source_of(run.__code__) is not None
