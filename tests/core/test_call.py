"""The extension of the wheel of kernels: code is called with as many whole numbers as it takes, never with others."""

import ctypes
import importlib.util
import shutil
import subprocess
import sys
import sysconfig

import pytest
from support.places import ROOT

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
def entry_type(folder):
    described = importlib.util.spec_from_file_location("_call", folder / "_call.abi3.so")
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
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
