"""The compiled driver on disk: reused by the next process, rebuilt when any source changes, safe under races."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numba
import numpy as np
import pytest
from support.places import ROOT

from rlenvs.core import kernel
from rlenvs.core.compiler import cache as cache_files
from rlenvs.core.declare.errors import CacheError

WORLD = """
from rlenvs.core import block, continuous, f8, kernel, term, world
from {package}.physics import GAIN, push

SPEC = world(
    "Cached-v0", doc="A point.", state={{"x": f8}}, observation={{"x": block(low=-10, high=10)}},
    action=continuous("push"), terms={{"x": term(-100, 100)}}, horizon=10, same_start=True,
)

@SPEC.reset
def reset(p, s, rng):
    s.x = 0.0

@SPEC.step
def step(p, s, a, rng, r):
    push(s, a[0])
    r.x = GAIN * s.x

@SPEC.observe
def observe(p, s, o):
    o.x = s.x
"""
PHYSICS = """
from rlenvs.core import kernel
GAIN = {gain}

@kernel
def push(s, a):
    s.x += {step} * a
"""
# what is compiled from now on, in a process of its own
LISTENING = """
from numba.core.dispatcher import _FunctionCompiler
compiled = []
compile_one = _FunctionCompiler.compile
def compile_and_note(self, args, return_type):
    compiled.append(self.py_func)
    return compile_one(self, args, return_type)
_FunctionCompiler.compile = compile_and_note
"""
RUN = """
import sys
sys.path.insert(0, {folder!r})
{listening}
from rlenvs.core.batch.kernel_batch import KernelBatch
from {package}.world import SPEC
batch = KernelBatch(SPEC, 2)
batch.seed([0, 1]); batch.reset(); batch.step([[1.0], [1.0]])
print(batch.rewards[0, 0], len(compiled))
"""


@pytest.fixture(autouse=True)
def no_bytecode(monkeypatch):
    """Python takes an edited file for unchanged if its size is the same and it is written within the same second."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.delenv("PYTHONPYCACHEPREFIX", raising=False)


def write_package(folder, **physics):
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "world.py").write_text(WORLD.format(package=folder.name))
    write_physics(folder, **physics)
    return folder


@pytest.fixture
def package(tmp_path):
    return write_package(tmp_path / "pkg")


def write_physics(folder, gain=1.0, step=0.5):
    (folder / "physics.py").write_text(PHYSICS.format(gain=gain, step=step))


def command(folder):
    return [
        sys.executable,
        "-c",
        textwrap.dedent(RUN.format(listening=LISTENING, folder=str(folder.parent), package=folder.name)),
    ]


def run(folder, cache):
    output = subprocess.run(
        command(folder), capture_output=True, text=True, check=True, env={**os.environ, "RLENVS_CACHE_DIR": str(cache)}
    )
    reward, compiled = output.stdout.split()
    return float(reward), int(compiled)


@pytest.fixture(scope="module")
def first_process(tmp_path_factory):
    """What the process said that was the first to use the world, and the cache that it left."""
    place = tmp_path_factory.mktemp("first")
    environment = {**os.environ, "RLENVS_CACHE_DIR": str(place / "cache"), "RLENVS_QUIET": ""}
    slow = "import rlenvs.core.declare.progress as p; p.PATIENCE = 0.05\n"
    program = [sys.executable, "-c", slow + command(write_package(place / "pkg"))[-1]]
    return subprocess.run(program, capture_output=True, text=True, check=True, env=environment), place / "cache"


@pytest.fixture
def cache(first_process, tmp_path):
    """A copy of the cache that the first process left."""
    return Path(shutil.copytree(first_process[1], tmp_path / "cache"))


@pytest.mark.budget(6)
def test_compiling_is_told(first_process):
    done, cache = first_process
    reward, compiled = done.stdout.split()
    assert reward == "0.5"
    assert int(compiled) > 0
    assert "compiling Cached-v0 for its first use" in done.stderr
    assert sum(file.stat().st_size for file in cache.iterdir()) < 500_000


def test_loading_is_not_called_compiling(package, cache):
    environment = {**os.environ, "RLENVS_CACHE_DIR": str(cache), "RLENVS_QUIET": ""}
    at_once = "import rlenvs.core.declare.progress as p; p.PATIENCE = 0\n" + command(package)[-1]
    done = subprocess.run([sys.executable, "-c", at_once], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == ["0.5", "0"]
    assert "compiling" not in done.stderr


@pytest.mark.budget(8)
def test_a_second_process_compiles_nothing_and_edits_are_picked_up(package, cache):
    # comments and doc strings compile nothing
    text = WORLD.format(package="pkg").replace('doc="A point."', 'doc="A point on a line."')
    (package / "world.py").write_text("# a comment\n" + text.replace("s.x = 0.0", "s.x = 0.0  # the origin"))
    physics = PHYSICS.format(gain=1.0, step=0.5).replace("    s.x +=", '    """Push it."""\n    # so\n    s.x +=')
    (package / "physics.py").write_text(physics)
    assert run(package, cache) == (0.5, 0)
    write_physics(package, step=0.25)  # a kernel in another file
    reward, compiled = run(package, cache)
    assert reward == 0.25
    assert compiled > 0


# names that a loop may take numbers from, before and after an edit that is not one of the loop's bytecode
VALUES = """
import enum
from collections import namedtuple
import numpy as np
from rlenvs.core import kernel
from values import deep

class Move(enum.Enum):
    SLOW, FAST = 1, {a}
class Size(enum.IntEnum):
    BIG = {a}
Point = namedtuple("Point", "x y")
ANGLE = complex({a}, 0.5)
POINT = Point(0.0, {a})
ROW = np.zeros(3000); ROW[1500] = {a}
SMALL = np.float32({a})
SWITCHES = (Move.FAST, (Size.BIG, {a}))
RECORD = np.array([(1, {a})], dtype=[("name", "i4"), ("gain", "f8")])
def around():
    gain = {a}
    @kernel
    def inner(): return gain
    return inner
inner = around()
@kernel
def defaulted(x, gain={a}): return gain
@kernel
def defaulted_by_function(x, which=inner): return which()
"""
EXPRESSIONS = [
    "values.Move.FAST.value",
    "Move.FAST.value",
    "Size.BIG.value",
    "values.deep.GAIN",
    "values.deep.deeper.GAIN",
    "POINT.y",
    "ANGLE.real",
    "values.ANGLE.real",
    "ROW[1500]",
    "SMALL",
    "SWITCHES[0].value",
    "SWITCHES[1][1]",
    "RECORD[0].gain",
    "inner()",
    "defaulted(0)",
    "defaulted_by_function(0)",
    "alias()",
]
LOOPS = """
import sys, json, time
sys.path.insert(0, {folder!r})
{listening}
import values
from values import *
from rlenvs.core import kernel
from rlenvs.core.compiler.loops import compiled as kept
@kernel
def alias():
    module = values
    return module.deep.GAIN
found = []
for expression in {expressions!r}:
    scope = dict(globals())
    exec(f"def loop(): return {{expression}}", scope)
    loop = scope["loop"]
    loop.__name__ = "loop" + str(len(found))
    found.append(float(kept()(loop)()))
print(json.dumps([found, len(compiled)]))
"""


@pytest.mark.budget(7)
def test_edits_of_values_that_are_not_plain_numbers_are_picked_up(tmp_path):
    def found(gain):
        package = tmp_path / "values"
        shutil.rmtree(package, ignore_errors=True)
        package.mkdir()
        (package / "__init__.py").write_text(VALUES.format(a=gain))
        (package / "deep.py").write_text(f"from values import deeper\nGAIN = {gain}\n")
        (package / "deeper.py").write_text(f"GAIN = {gain}\n")
        code = LOOPS.format(listening=LISTENING, folder=str(tmp_path), expressions=EXPRESSIONS)
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            env={**os.environ, "RLENVS_CACHE_DIR": str(tmp_path / "cache")},
        )
        assert done.returncode == 0, done.stderr
        numbers, compiled = json.loads(done.stdout)
        return dict(zip(EXPRESSIONS, numbers, strict=True)), compiled, done.stderr

    first, compiled, said = found(3)
    assert set(first.values()) == {3.0}
    assert compiled >= len(EXPRESSIONS)
    assert said.count("compiled anew in each process") == 1  # that with a module in a variable
    assert "alias uses <module 'values'" in said
    again, compiled, _ = found(3)
    assert again == first
    assert compiled == 2  # `alias` and its loop
    edited, _, _ = found(5)
    assert edited == dict.fromkeys(EXPRESSIONS, 5.0)


DAMAGE = {
    "empty": lambda raw: b"",
    "truncated": lambda raw: raw[: len(raw) // 2],
    "garbage": lambda raw: bytes(range(256)) * 20,
    "one bit": lambda raw: raw[:-100] + bytes([raw[-100] ^ 1]) + raw[-99:],
    "a pickle of something else": lambda raw: cache_files.MAGIC + hashlib.sha256(b"N.").digest() + b"N.",
}


def compiled(folder, monkeypatch):
    """A small function compiled with its cache in a folder, and whether it was found there."""
    monkeypatch.setenv("RLENVS_CACHE_DIR", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder.parent / "home"))
    cache_files._usable.cache_clear()
    found = []

    def double(x):
        return 2 * x

    dispatcher = numba.njit(double)
    cache = cache_files.code_cache(lambda: "Doubled_key", "double")
    load = cache.load_overload
    cache.load_overload = lambda *arguments: found.append(load(*arguments)) or found[-1]
    dispatcher._cache = cache
    assert dispatcher(21) == 42
    return found[0] is not None


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_removed_and_compiled_anew(tmp_path, monkeypatch, damage):
    cache = tmp_path / "cache"
    assert not compiled(cache, monkeypatch)
    assert compiled(cache, monkeypatch)
    (file,) = cache.iterdir()
    file.write_bytes(DAMAGE[damage](file.read_bytes()))
    assert not compiled(cache, monkeypatch)
    assert compiled(cache, monkeypatch)


posix = pytest.mark.skipif(os.name != "posix", reason="owners and modes are those of POSIX")


@posix
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o702])
def test_a_folder_that_others_may_write_to_is_refused_with_the_fix(tmp_path, monkeypatch, mode):
    cache = tmp_path / "cache"
    compiled(cache, monkeypatch)
    cache.chmod(mode)
    with pytest.raises(CacheError, match=f"chmod go-w {cache}"):
        compiled(cache, monkeypatch)
    cache.chmod(0o755)
    assert compiled(cache, monkeypatch)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_somebody_else_is_refused(tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    os.chown(cache, 12345, 12345)
    with pytest.raises(CacheError, match="belongs to another user"):
        compiled(cache, monkeypatch)
    assert not list(cache.iterdir())


def test_the_users_own_folder_is_left_alone_when_others_may_write_to_it(tmp_path, monkeypatch, capsys):
    usual = tmp_path / "home" / "rlenvs"
    usual.mkdir(parents=True)
    usual.chmod(0o777)
    (tmp_path / "file").write_text("")
    assert not compiled(tmp_path / "file", monkeypatch)
    assert "every process compiles anew" in capsys.readouterr().err
    assert not list(usual.iterdir())


def test_a_full_disk_leaves_nothing_behind_and_uses_what_is_there(tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    replace = os.replace
    monkeypatch.setattr(os, "replace", lambda *paths: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    assert not compiled(cache, monkeypatch)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    monkeypatch.setattr(os, "replace", replace)
    assert not compiled(cache, monkeypatch)
    monkeypatch.setattr(os, "replace", lambda *paths: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    assert compiled(cache, monkeypatch)


def test_files_of_older_code_go_when_nobody_has_used_them_for_long(tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    old, recent = cache / "Doubled_old.double-0.bin", cache / "Doubled_new.double-0.bin"
    for file in (old, recent):
        file.write_bytes(b"")
    os.utime(old, (0, 0))
    compiled(cache, monkeypatch)
    assert not old.exists()
    assert recent.exists()


@pytest.mark.budget(7)
def test_code_of_two_worlds_from_two_processes_is_kept_apart(package, cache, tmp_path):
    # numbered alike by the compiler in each process, and linked by name in the third; the worlds differ in a constant
    # that both import
    second = write_package(tmp_path / "second", gain=4.0)
    reward, compiled = run(second, cache)
    assert reward == 2.0
    assert compiled > 0
    both = command(package)[-1] + command(second)[-1]
    environment = {**os.environ, "RLENVS_CACHE_DIR": str(cache)}
    output = subprocess.run([sys.executable, "-c", both], capture_output=True, text=True, check=True, env=environment)
    assert output.stdout.split() == ["0.5", "0", "2.0", "0"]


@pytest.mark.budget(12)
def test_processes_may_compile_at_once(package, tmp_path):
    environment = {**os.environ, "RLENVS_CACHE_DIR": str(tmp_path / "cache")}
    jobs = [subprocess.Popen(command(package), stdout=subprocess.PIPE, text=True, env=environment) for _ in range(2)]
    assert [job.communicate()[0].split()[0] for job in jobs] == ["0.5"] * 2
    assert run(package, tmp_path / "cache") == (0.5, 0)
    assert not list((tmp_path / "cache").glob("*.tmp"))


@pytest.mark.budget(6)
def test_an_unwritable_cache_falls_back(package, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    environment = {**os.environ, "RLENVS_CACHE_DIR": str(blocked / "cache"), "XDG_CACHE_HOME": str(blocked)}
    output = subprocess.run(command(package), capture_output=True, text=True, check=True, env=environment)
    assert output.stdout.split()[0] == "0.5"


def test_worlds_from_a_console_work_without_a_file():
    source = ROOT / "examples" / "own_world.py"
    code = source.read_text().split("if __name__")[0] + (
        "from rlenvs.core.batch.kernel_batch import KernelBatch\n"
        "b = KernelBatch(SPEC, 2); b.seed([0, 1]); b.reset(); b.step([0, 1]); print(b.rewards.shape)\n"
    )
    output = subprocess.run([sys.executable, "-"], input=code, capture_output=True, text=True, check=True)
    assert output.stdout.strip() == "(2, 1)"


@kernel
def halved(number):
    return number // 2


@kernel
def halvings(number):
    """How often a number can be halved."""
    count = 0
    while number > 1:
        number = halved(number)
        count += 1
    return count


def test_loops_outside_of_worlds_call_kernels():
    @cache_files.compiled()
    def largest(numbers):
        found = 0
        for number in numbers:
            found = max(found, halvings(number))
        return found

    assert largest(np.array([3, 1025, 7])) == 10
    assert halvings(1025) == 10
