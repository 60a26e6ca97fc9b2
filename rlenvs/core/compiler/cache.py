"""Compiled code on disk: one checked file per function, in a folder that only its owner can write to.

numba's own cache looks at the file of a function alone, trusts what it finds, and keeps the bitcode that only other
functions need. Here the key of a file follows from everything that reaches the compiler (bytecode and constants of all
functions that are called, layouts, versions, processor), a damaged file is removed and compiled anew, and a folder that
somebody else may write to is refused, since what lies there is executed.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

from rlenvs.core.compiler.compiling import undisturbed
from rlenvs.core.compiler.digest import ONCE, Digest, names_in
from rlenvs.core.declare.errors import CacheError
from rlenvs.core.declare.user_files import read_whole

MAGIC = b"rlenvs-code-2\n"
DIGEST = 32  # bytes of a file's checksum
LARGEST = 1 << 28  # bytes of a file
UNUSED = 30 * 86_400  # seconds after which files that nobody read are removed


# --- the folder -------------------------------------------------------------------------------------------------------


def cache_folders() -> list[Path]:
    """Where compiled code may be: RLENVS_CACHE_DIR, then the user's cache folder. What is new goes into the first that
    can be written to; where there is none, every process compiles for itself.

    Raises:
        CacheError: RLENVS_CACHE_DIR names a folder that another user owns or may write to.
    """
    chosen, usual = os.environ.get("RLENVS_CACHE_DIR"), _users_folder()
    folders = [Path(chosen)] if chosen and _usable(Path(chosen), named=True) else []
    return [*folders, usual] if usual and _usable(usual, named=False) else folders


def _users_folder() -> Path | None:
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "rlenvs" if base and not base.startswith("~") else None


@functools.cache
def _usable(folder: Path, named: bool) -> bool:
    """Whether there is such a folder, and nobody else can have put code into it."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = folder.stat()
    except OSError:
        return False
    if not stat.S_ISDIR(found.st_mode):
        return False
    fault = fault_of(found)
    if not fault:
        return True
    if named:
        raise CacheError(
            f"RLENVS_CACHE_DIR={folder} {fault}, and compiled code from there would be executed; "
            f"run `chmod go-w {folder}` as its owner, or choose a folder of your own"
        )
    print(f"rlenvs: {folder} {fault}, so nothing is kept there; every process compiles anew", file=sys.stderr)
    return False


def fault_of(found: os.stat_result) -> str:
    """Why somebody else may have put code into a folder; empty where nobody can."""
    if os.name != "posix":
        return ""
    if found.st_uid not in (os.geteuid(), 0):
        return "belongs to another user"
    group = found.st_mode & stat.S_IWGRP and not _private(found.st_gid)
    return "may be written to by other users" if found.st_mode & stat.S_IWOTH or group else ""


def _private(group: int) -> bool:
    """Whether a group is the user's alone."""
    import grp

    try:
        return group == os.getegid() and not grp.getgrgid(group).gr_mem
    except KeyError:
        return False


# --- keys -------------------------------------------------------------------------------------------------------------


def processor() -> str:
    """The processor that numba compiles for, and what it can do."""
    from rlenvs.core.compiler.jit import cpu_target

    return repr(cpu_target.target_context.codegen().magic_tuple())


# --- files ------------------------------------------------------------------------------------------------------------


def compiled(signature: str | None = None, **options: Any) -> Any:
    """numba's `njit` for loops outside of worlds, kept on disk as compiled worlds are. They may call kernels, helpers.

    Args:
        signature: compile now, for these types; None compiles when it is first called.
        options: of `njit`, but for `cache`.
    """

    def decorate(function: FunctionType) -> Any:
        from rlenvs.core.compiler.jit import njit

        make_callable(function)
        loop = undisturbed(njit(**options)(function))
        loop._cache = code_cache(lambda: stem_of(function, options), function.__name__, linkable=True)
        if signature is not None:
            loop.compile(signature)
            loop.disable_compile()
        return loop

    return decorate


def make_callable(function: FunctionType, **settings: Any) -> None:
    """Let compiled code call the kernels and helpers that a function names, and those that they name.

    Args:
        function: names them.
        settings: options of `njit`, for all of them.
    """
    from rlenvs.core.compiler import bits, copies, runs  # noqa: F401  these compile `bits_of` and the like of kernels
    from rlenvs.core.compiler.jit import register_jitable

    for name in names_in(function.__code__, ()):
        named: Any = function.__globals__.get(name.name)
        if named.__class__ is not FunctionType or named in _callable:
            continue
        options = getattr(named, "helps", None)
        if options is None and not getattr(named, "is_kernel", False):
            continue
        _callable.add(named)
        register_jitable(**{"inline": "never", **(options or {}), **settings})(named)
        make_callable(named, **settings)


_callable: set[Any] = set()  # kernels and helpers that compiled code may call


def stem_of(function: FunctionType, options: dict[str, Any]) -> str:
    """Name and key of a loop."""
    digest = Digest()
    for value in (repr(sorted(options.items())), function):
        digest.add(value)
    return f"{function.__module__}.{function.__name__}_{digest.key(function.__name__)}"


def code_cache(stem: Callable[[], str], entry: str, linkable: bool = False) -> Any:
    """A cache for one compiled function, as numba's dispatchers want it.

    Args:
        stem: gives the key of what it belongs to, with or without a name. It is asked again before code is kept, which
            is not when a global has changed meanwhile.
        entry: the function's name.
        linkable: keep what other compiled functions need to call it.
    """
    from rlenvs.core.compiler.jit import _Cache

    class CodeCache(_Cache):
        """One file. What cannot be read or written is as good as absent."""

        cache_path = ""
        when_missing: Callable[[], None] | None = None  # called before something is compiled
        may_keep: Callable[[Any], bool] = staticmethod(lambda library: True)  # whether what was compiled is put on disk

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            target_context.refresh()
            for folder in self._folders():
                path = folder / self._name(sig)
                body = _read(path)
                if body is None:
                    continue
                try:
                    return _unpacked(body, target_context)
                except Exception:  # whatever a file of another build may hold
                    _remove(path)
            if self.when_missing is not None:
                self.when_missing()
            return None

        def save_overload(self, sig: Any, data: Any) -> None:
            if data.library.has_dynamic_globals or not self.may_keep(data.library) or stem() != self._stem():
                return
            body = _packed(data, linkable)
            for folder in self._folders():
                if _write(folder / self._name(sig), body):
                    _remove_unused(folder)
                    return

        @functools.cache  # noqa: B019 (one per function, for good)
        def _stem(self) -> str:
            return stem()

        def _folders(self) -> list[Path]:
            return [] if ONCE in self._stem() else cache_folders()

        def _name(self, sig: Any) -> str:
            return f"{self._stem()}.{entry}-{hashlib.sha256(f'{sig} {processor()}'.encode()).hexdigest()[:8]}.bin"

        def enable(self) -> None:
            pass

        disable = flush = enable

    return CodeCache()


@functools.cache
def _empty_bitcode() -> bytes:
    from rlenvs.core.compiler.jit import binding

    return binding.parse_assembly("").as_bitcode()


def _packed(result: Any, linkable: bool) -> bytes:
    """A compiled function as bytes; if no other function takes it in, without what that would need, and without what
    Python code in it would need, of which there is none in kernels."""
    from rlenvs.core.compiler.jit import serialize

    if linkable:
        return serialize.dumps((set(), result._reduce()))
    (name, kind, (code, _)), *rest, _ = result._reduce()
    described = result.fndesc
    symbols = {described.llvm_func_name, described.llvm_cpython_wrapper_name, described.llvm_cfunc_wrapper_name}
    symbols.add(described.env_name)
    return serialize.dumps((symbols, ((name, kind, (code, _empty_bitcode())), *rest, ())))


def _unpacked(body: bytes, target_context: Any) -> Any:
    """A compiled function from the bytes of `_packed`."""
    from rlenvs.core.compiler.jit import compiler, serialize

    symbols, reduced = serialize.pickle.loads(body)
    target_context.codegen()._engine._defined_symbols |= symbols
    return compiler.CompileResult._rebuild(target_context, *reduced)


def _read(path: Path) -> bytes | None:
    """What a file holds; None where there is none, or a damaged one, which is removed then."""
    try:
        whole = read_whole(path, LARGEST)
    except OSError:
        return None
    start = len(MAGIC) + DIGEST
    body = whole[start:]
    if whole[: len(MAGIC)] != MAGIC or whole[len(MAGIC) : start] != hashlib.sha256(body).digest():
        _remove(path)
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # in use: not to be removed
    return body


def _write(path: Path, body: bytes) -> bool:
    """Whether it could be written. Several processes may write the same code at once; each replaces the whole file."""
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(handle, "wb") as file:
            file.write(MAGIC + hashlib.sha256(body).digest() + body)
        os.replace(temporary, path)
    except OSError:  # a full disk, or a folder that may only be read
        if temporary:
            _remove(Path(temporary))
        return False
    return True


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _remove_unused(folder: Path) -> None:
    """Code that nobody has used for long: of kernels as they were, of older versions."""
    import time

    for path in _matching(folder, "*.bin"):
        try:
            if time.time() - path.stat().st_mtime > UNUSED:
                _remove(path)
        except OSError:
            continue


def _matching(folder: Path, pattern: str) -> Iterator[Path]:
    try:
        yield from folder.glob(pattern)
    except OSError:
        return
