"""The hash under which compiled code is kept: another value gives another hash, or one like no other."""

import importlib
import sys
from types import ModuleType

import pytest

import rlenvs
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.compiler.digest import ONCE, Digest
from rlenvs.core.compiler.kernel_names import kernel_names
from rlenvs.core.declare.declared_spaces import Continuous
from rlenvs.core.declare.errors import KernelError

BEFORE = """
import collections, dataclasses, enum, functools, math, types
import numba
import numpy as np
from rlenvs.core import kernel
"""
# what a function uses, and how; {a} is edited
USES = {
    "a member of an enum": ("class Move(enum.Enum): FAST = {a}", "Move.FAST.value"),
    "a member of an enum by itself": ("class Move(enum.Enum): FAST = {a}\nFAST = Move.FAST", "FAST.value"),
    "a member among flags": ("class Move(enum.Flag): LEFT = 1; RIGHT = {a}\nBOTH = Move.LEFT | Move.RIGHT", "BOTH"),
    "a complex number": ("Z = complex({a}, 1)", "Z.real"),
    "an attribute of a class": ("class C: K = {a}", "C.K"),
    "an inherited attribute": ("class B: K = {a}\nclass C(B): pass", "C.K"),
    "a class in a module": ("class C: K = {a}\nsub = types.ModuleType('sub')\nsub.C = C", "sub.C.K"),
    "a function in a class": ("class C:\n    @staticmethod\n    def push(): return {a}", "C.push()"),
    "a class with defaults": ("P = collections.namedtuple('P', 'x y', defaults=({a},))", "P(1).y"),
    "a named tuple": ("P = collections.namedtuple('P', 'x y')(1, {a})", "P.y"),
    "the middle of a long array": ("A = np.zeros(3000); A[1500] = {a}", "A[1500]"),
    "an array of objects": ("A = np.array([{a}, None])", "A[0]"),
    "the order of an array": ("A = np.asarray(np.ones((2, 2)), order='CF'[{a} % 2])", "A[0, 1]"),
    "a number of NumPy": ("A = np.float32({a})", "A"),
    "a type of NumPy": ("A = (np.float32, np.float64)[{a} % 2]", "A(1)"),
    "the sign of zero": ("A = (0.0, -0.0)[{a} % 2]", "A"),
    "an integer or a float": ("A = (1, 1.0)[{a} % 2]", "A"),
    "a set": ("A = frozenset((1, 'x', {a}))", "len(A)"),
    "a range": ("A = range({a})", "len(A)"),
    "a dictionary of functions": ("def g(): return {a}\nA = {{'g': g}}", "A['g']()"),
    "a default": ("def g(x={a}): return x", "g()"),
    "a function as default": ("def h(): return {a}\ndef g(x=h): return x()", "g()"),
    "a default by name": ("def g(*, x={a}): return x", "g()"),
    "a closure": ("def around():\n    x = {a}\n    return lambda: x\ng = around()", "g()"),
    "a closure of a closure": ("def around():\n    x = {a}\n    return lambda: (lambda: x)\ng = around()", "g()()"),
    "a global in a closure": ("A = {a}\ndef g(): return (lambda: A)()", "g()"),
    "a type of numba": ("A = (numba.int8, numba.int64)[{a} % 2]", "A(1)"),
    "an option of numba": ("@numba.njit(fastmath=bool({a} % 2))\ndef g(): return 1.0", "g()"),
    "a type of elements": ("A = np.dtype(('f4', 'f8')[{a} % 2])", "A"),
    "the 200th name": (
        "A = {a}\n" + "\n".join(f"n{k} = {k}" for k in range(300)),
        "+".join(f"n{k}" for k in range(300)) + " + A",
    ),
}
UNHASHED = {
    "a data class": ("@dataclasses.dataclass\nclass D: x: int = {a}\nA = D()", "A.x"),
    "a property": ("class D:\n    @property\n    def x(self): return {a}\nA = D()", "A.x"),
    "a property of a class": ("class D:\n    @property\n    def x(self): return {a}", "D.x"),
    "a partial function": ("A = functools.partial(max, {a})", "A(1)"),
    "a method": ("A = [{a}].count", "A(1)"),
    "a vectorized function": ("@numba.vectorize\ndef A(x): return {a} * x", "A(1.0)"),
    "an overload": ("def g(): pass\n@numba.extending.overload(g)\ndef code():\n    return lambda: {a}", "g()"),
    "an intrinsic": ("@numba.extending.intrinsic\ndef g(context):\n    return {a}", "g()"),
    "a module in a variable": ("import rlenvs.core as sub", "(sub, 1)[0].kernel"),
}


def function_of(use, a):
    module = ModuleType("edited")
    sys.modules["edited"] = module  # enum looks there
    source, expression = use
    exec(BEFORE + source.format(a=a) + f"\ndef used(): return {expression}\n", vars(module))
    return module.used


def hashed(use, a):
    digest = Digest()
    digest.add(function_of(use, a))
    return digest.hexdigest()


@pytest.mark.parametrize("name", USES)
def test_another_value_has_another_hash(name):
    first = hashed(USES[name], 2)
    assert not first.startswith(ONCE)
    assert hashed(USES[name], 2) == first
    assert hashed(USES[name], 3) != first


@pytest.mark.parametrize("name", UNHASHED)
def test_what_has_no_value_is_never_kept_and_named(name):
    digest = Digest()
    digest.add(function_of(UNHASHED[name], 2))
    assert digest.hexdigest().startswith(ONCE)
    assert digest.hexdigest() != digest.hexdigest()
    assert "used" in digest.unhashed[0] or "overload" in digest.unhashed[0]


@pytest.mark.parametrize("use", ["A", "A[0]", "g"])
def test_a_global_that_changed_is_refused(use):
    used = function_of(("A = np.ones(1)\ndef g(): return 1", use), 0)
    Digest().add(used)
    Digest().add(used)
    if use == "A[0]":
        used.__globals__["A"][0] = 2.0  # in its place
    else:
        used.__globals__[use] = lambda: 2
    with pytest.raises(KernelError, match=rf"{use[0]}, which used uses, has changed from .* make it a parameter"):
        Digest().add(used)


EDITS = {  # what a function uses, and what changes it in this process
    "a global": ("A = 1", "A", "A = 2"),
    "a function": ("def g(): return 1", "g()", "def g(): return 2"),
    "a name in a module": ("sub = types.ModuleType('sub'); sub.A = 1", "sub.A", "sub.A = 2"),
    "a module": ("sub = types.ModuleType('sub'); sub.A = 1", "sub.A", "sub = types.ModuleType('sub'); sub.A = 2"),
    "an attribute of a class": ("class C: K = 1", "C.K", "C.K = 2"),
    "an attribute of a class in a module": (
        "class C: K = 1\nsub = types.ModuleType('sub'); sub.C = C",
        "sub.C.K",
        "sub.C.K = 2",
    ),
    "a closure": ("def around():\n    x = 1\n    return lambda: x\ng = around()", "g()", "g = lambda: 2"),
    "what a closure holds": (
        "def around():\n    x = 1\n    return lambda: x\ng = around()",
        "g()",
        "g.__closure__[0].cell_contents = 2",
    ),
    "a name of Python": ("", "abs(-1)", "def abs(x): return 2"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_what_is_edited_before_the_second_use_is_refused(edit):
    source, expression, change = EDITS[edit]
    used = function_of((source.replace("{", "{{").replace("}", "}}"), expression), 0)
    digest = Digest()
    digest.add(used)
    for _ in range(2):
        digest.check_unchanged()
    exec(change, used.__globals__)
    with pytest.raises(KernelError, match="has changed from"):
        digest.check_unchanged()


LOOPS = [
    "rlenvs.core.compiler.thread_loops",
    "rlenvs.pareto.learning_tables",
    "rlenvs.single.puzzles.pushworld.solver",
    "rlenvs.single.puzzles.rubik.table",
    "rlenvs.single.puzzles.sliding_solver",
    "rlenvs.single.puzzles.sokoban.solver",
    "rlenvs.wrappers.adversary",
    "rlenvs.wrappers.randomness",
]


@pytest.mark.parametrize("module", LOOPS)
def test_all_loops_of_the_package_are_kept(module):
    values = [getattr(value, "dispatcher", value) for value in vars(importlib.import_module(module)).values()]
    caches = [getattr(value, "_cache", None) for value in values]
    keys = [cache._stem() for cache in caches if type(cache).__name__ == "CodeCache"]
    assert keys
    assert not [key for key in keys if ONCE in key]


@pytest.mark.slow
def test_all_worlds_of_the_package_are_kept():
    for world in {world_of(id) for id in rlenvs.list_envs()}:
        kind = "continuous" if isinstance(world.action, Continuous) else "discrete"
        digest = Digest()
        digest.add(tuple(kernel_names(world, kind, bool(world.engine)).values()))
        assert not digest.unhashed, world.name


def test_versions_that_do_not_reach_the_code_change_nothing(monkeypatch):
    import numpy as np

    from rlenvs.core.compiler import digest as digests

    def all_of():
        return [digests.versions(), hashed(("", "np.float64(np.pi) + math.sin(1)"), 0)]

    before = all_of()
    monkeypatch.setattr(np, "__version__", "9.9.9")
    monkeypatch.setattr(sys, "version_info", (*sys.version_info[:2], 99))
    assert all_of() == before
    assert hashed(("", "np.cos(1)"), 0) != before[1]  # numba looks at NumPy's version there
