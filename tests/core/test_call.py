"""The extension of the wheel of kernels: code is called with what it takes, never with anything else."""

import ctypes
import gc
import importlib.util
import shutil
import struct
import subprocess
import sys
import sysconfig
import weakref
from typing import NamedTuple

import numpy as np
import pytest
from support.places import ROOT

from rlenvs.core.compiler.arguments import described, words_of

SOURCE = ROOT / "kernels" / "_call.c"
WORD = ctypes.c_longlong
HELD = """
import ctypes, os, sys, threading
sys.path.insert(0, sys.argv[1])
from _call import Entry
read, write = os.pipe()
room = ctypes.create_string_buffer(1)
libc = ctypes.CDLL(None)
entry = Entry(ctypes.cast(libc.read, ctypes.c_void_p).value, 3)
waiting = threading.Thread(target=lambda: print(entry(read, ctypes.addressof(room), 1)))
waiting.start()  # until somebody writes, which no thread could if the call held the interpreter
os.write(write, b"x")
waiting.join()
"""


def compiler():
    """The system's, or the one that ziglang brings."""
    found = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
    if found:
        return [found]
    return [sys.executable, "-m", "ziglang", "cc"] if importlib.util.find_spec("ziglang") else None


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("call")
    include = sysconfig.get_path("include")
    if compiler() is None or sys.platform == "win32" or not (ROOT / include / "Python.h").exists():
        pytest.skip("needs a C compiler and the headers of Python")
    more = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []
    settings = ["-shared", "-fPIC", "-O2", "-Wall", "-Werror", f"-I{include}", *more]
    subprocess.run([*compiler(), *settings, str(SOURCE), "-o", str(folder / "_call.abi3.so")], check=True)
    return folder


@pytest.fixture(scope="module")
def module(folder):
    found = importlib.util.spec_from_file_location("_call", folder / "_call.abi3.so")
    made = importlib.util.module_from_spec(found)
    found.loader.exec_module(made)
    return made


@pytest.fixture(scope="module")
def entry_type(module):
    return module.Entry


def code_of(function, count):
    """Machine code that calls a function of Python with so many numbers; it must be kept."""
    code = ctypes.CFUNCTYPE(WORD, *[WORD] * count)(function)
    return code, ctypes.cast(code, ctypes.c_void_p).value


@pytest.mark.parametrize("count", range(9))
def test_all_numbers_arrive_in_their_order(entry_type, count):
    got = []
    _kept, address = code_of(lambda *numbers: got.append(numbers) or -7, count)
    entry = entry_type(address, count)
    numbers = [(-1) ** n * (2**62 + n) for n in range(count)]
    assert entry(*numbers) == -7
    assert got == [tuple(numbers)]
    assert (entry.address, entry.count) == (address, count)


def test_results_have_64_bits(entry_type):
    for value in (0, -1, 2**63 - 1, -(2**63)):
        _kept, address = code_of(lambda number: number, 1)
        assert entry_type(address, 1)(value) == value


@pytest.mark.parametrize(
    ("numbers", "keywords", "error"),
    [
        ((1,), {}, TypeError),
        ((1, 2, 3), {}, TypeError),
        ((1, 2.0), {}, TypeError),
        ((1, None), {}, TypeError),
        ((1, 2**63), {}, OverflowError),
        ((1, -(2**63) - 1), {}, OverflowError),
        ((1,), {"b": 2}, TypeError),
    ],
)
def test_bad_numbers_never_arrive(entry_type, numbers, keywords, error):
    _kept, address = code_of(lambda *numbers: pytest.fail("it was called"), 2)
    with pytest.raises(error):
        entry_type(address, 2)(*numbers, **keywords)


@pytest.mark.parametrize("given", [(1, -1), (1, 9), (0, 1), (-1, 1), (2**64, 1), ("a", 1), (1.5, 1), (1,), ()])
def test_bad_entries_are_not_made(entry_type, given):
    with pytest.raises((TypeError, ValueError, OverflowError)):
        entry_type(*given)


def test_entries_do_not_change_and_have_no_subclass(entry_type):
    entry = entry_type(1, 1)
    for name in ("address", "count"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(entry, name, 2)
    with pytest.raises(TypeError):
        type("Other", (entry_type,), {})


def test_other_threads_run_during_a_call(folder):
    done = subprocess.run([sys.executable, "-c", HELD, str(folder)], capture_output=True, text=True, timeout=60)
    assert done.stdout == "1\n", done.stderr


# --- loops ------------------------------------------------------------------------------------------------------------

NOTHING, WHOLE, REAL, FLAG, UNSIGNED = range(5)


class Words:
    """Machine code that notes the words of a loop's arguments, and leaves a result behind them."""

    def __init__(self, count, kind=NOTHING, result=0, status=0):
        self.seen = []
        self.asked = []

        def look(address):
            words = (WORD * (count + 2)).from_address(address)
            self.seen.append(list(words[:count]))
            words[count], words[count + 1] = kind, result
            return status

        self._kept, self.address = code_of(look, 1)

    def address_of(self, *arguments):
        self.asked.append(arguments)
        return self.address


class Pair(NamedTuple):
    one: object
    two: object


def never(*arguments):
    raise AssertionError(arguments)


def test_words_of_arguments(module):
    arrays = [np.zeros((2, 3)), np.zeros((4, 6), np.float32)[::2, 1:3], np.zeros(3, np.bool_), np.zeros(())]
    arguments = [arrays[0], 7, 1.5, True, arrays[1], Pair(arrays[2], (arrays[3], -1)), np.float64(0.25)]
    wanted = np.frombuffer(words_of(arguments), np.int64).tolist()
    code = Words(len(wanted))
    caller = module.Caller(np.ndarray, code.address_of, never, never)
    assert caller(*arguments) is None
    assert caller(*arguments) is None
    assert code.seen == [wanted, wanted]
    assert len(code.asked) == 1


KINDS = [
    np.zeros(3), np.zeros(3, np.float32), np.zeros(6)[::2], np.zeros((3, 1))[:, 0], np.zeros(3, np.int64),
    np.zeros(3, np.uint64), np.zeros(3, np.int8), np.zeros(3, np.uint8), np.zeros(3, np.bool_), np.zeros((3, 3)),
    np.zeros((3, 3)).T, np.zeros((3, 3))[:, :2], np.frombuffer(bytes(24)), 1, 1.0, (1,), (1.0,), (1, 1), ((1,),),
    Pair(1, 1), Pair(1, 1.0),
]  # fmt: skip


def test_each_kind_of_arguments_has_a_function_of_its_own(module):
    """Whose types, in words, differ; and those of numbers and shapes do not."""
    code = Words(0)
    caller = module.Caller(np.ndarray, code.address_of, never, never)
    told = set()
    for value in KINDS:
        told.add(described([value]))
        caller(value)
        assert len(code.asked) == len(told), value
    caller(np.zeros(500))
    caller(np.ones((1, 3)))
    caller(-(2**62))
    caller(False)
    assert len(code.asked) == len(told) == len(KINDS) - 1  # of one column there is but one layout


@pytest.mark.parametrize(
    ("kind", "word", "result"),
    [(WHOLE, -5, -5), (FLAG, 1, True), (FLAG, 0, False), (UNSIGNED, -1, 2**64 - 1), (NOTHING, 5, None)],
)
def test_results_of_loops(module, kind, word, result):
    code = Words(1, kind, word)
    found = module.Caller(np.ndarray, code.address_of, never, never)(3)
    assert found == result
    assert type(found) is type(result)


def test_a_real_result(module):
    (word,) = struct.unpack("q", struct.pack("d", -0.1))
    assert module.Caller(np.ndarray, Words(1, REAL, word).address_of, never, never)(3) == -0.1


@pytest.mark.parametrize(
    "value",
    ["text", None, 2**63, np.int64(1), np.bool_(1), np.zeros(2, ">f8"), np.zeros(2, "f8,f8"), np.zeros(2, object),
     np.zeros(2, "datetime64[s]"), np.zeros(2, np.float16), np.zeros(2, complex), b"12345678", memoryview(b"12345678"),
     (1, "text"), tuple(range(2000)), [1]],
)  # fmt: skip
def test_what_else_comes_goes_to_python(module, value):
    code, got = Words(1), []
    caller = module.Caller(np.ndarray, code.address_of, lambda *arguments: got.append(arguments) or 9, never)
    assert caller(1, value) == 9
    assert got[0][1] is value
    assert not code.seen
    assert not code.asked


def test_no_function_for_such_arguments(module):
    asked = []
    caller = module.Caller(
        np.ndarray, lambda *given: asked.append(given) or 0, never, lambda *given: ("python", *given)
    )
    assert caller(1, 2) == caller(1, 2) == ("python", 1, 2)
    assert len(asked) == 1


def test_errors_of_loops(module):
    caller = module.Caller(np.ndarray, Words(1, status=-1).address_of, never, never)
    with pytest.raises(RuntimeError, match="raised"):
        caller(1)
    with pytest.raises(AssertionError):
        module.Caller(np.ndarray, never, never, never)(1)
    with pytest.raises(TypeError, match="keyword"):
        caller(1, more=2)
    for wrong in ("text", None, -1, 2**64):
        with pytest.raises((TypeError, OverflowError)):
            module.Caller(np.ndarray, lambda *given, wrong=wrong: wrong, never, never)(1)
    for arguments in ((), (np.ndarray, never, never), (1, never, never, never)):
        with pytest.raises(TypeError):
            module.Caller(*arguments)


def test_nothing_is_kept(module):
    array, pair = np.zeros(300), Pair(np.zeros(3), 1)
    watched = array, pair, pair.one, None
    code = Words(0)
    caller = module.Caller(np.ndarray, lambda *given: code.address, never, never)
    caller(array, pair)
    before = list(map(sys.getrefcount, watched))
    for _ in range(1000):
        caller(array, pair)
    after = list(map(sys.getrefcount, watched))
    assert max(abs(one - other) for one, other in zip(before, after, strict=True)) < 10


def test_a_caller_in_a_circle_goes(module):
    class Owner:
        pass

    owner = Owner()
    owner.caller = module.Caller(np.ndarray, owner, never, never)
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None
