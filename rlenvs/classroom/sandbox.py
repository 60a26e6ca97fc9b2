"""What a submission's process takes from itself before it loads the submission: memory, time, network, children, files.

Imported by the worker by itself, without the rest of the package. Each part says whether it is in force.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import struct
import sys
from collections.abc import Iterable
from typing import Any

EPERM, ENOSYS = 1, 38
CLONE_THREAD = 0x10000
# system calls by machine: the value of the audit architecture, clone, clone3, and those that are refused: processes,
# programs, network, signals, other processes' memory, namespaces, owners and modes of files (which Landlock leaves)
CALLS: dict[str, tuple[int, int, int, tuple[int, ...]]] = {
    "x86_64": (
        0xC000003E,
        56,
        435,
        (41, 57, 58, 59, 62, 90, 91, 92, 93, 94, 101, 129, 165, 188, 189, 190, 200, 234, 248, 250, 260, 268, 272, 280)
        + (297, 298, 302, 308, 310, 311, 321, 322, 424, 425, 434, 438, 452),
    ),
    "aarch64": (
        0xC00000B7,
        220,
        435,
        (5, 6, 7, 40, 52, 53, 54, 55, 88, 97, 117, 129, 130, 131, 138, 198, 217, 219, 221, 240, 241, 261, 268, 270)
        + (271, 280, 281, 424, 425, 434, 438, 452),
    ),
}
READ = 0b1101  # Landlock's rights: run, read files, read folders
STARTS = ("subprocess.", "os.fork", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "pty.", "os.startfile")
CHANGES = ("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "shutil.")
MODES = ("os.chmod", "os.chown", "os.utime", "os.setxattr", "os.kill")


def confine(folder: str, readable: Iterable[str], memory: int, seconds: int) -> dict[str, bool]:
    """Take everything away; from here on this process reads, computes, and writes into its folder.

    Returns:
        by part ("limits", "files", "calls", "hook") whether it is in force.
    """
    limited = limit(memory, seconds)
    files = landlock(folder, readable)
    calls = seccomp()
    hook(folder, kernel=files and calls)
    return {"limits": limited, "files": files, "calls": calls, "hook": True}


def limit(memory: int, seconds: int) -> bool:
    """Limits of memory, processor time, size of files and number of processes, where the system has them."""
    try:
        import resource
    except ImportError:
        return False
    wanted = {"AS": memory, "CPU": seconds, "FSIZE": 2**24, "NPROC": 0, "CORE": 0}
    for name, most in wanted.items():
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    return sys.platform == "linux"  # macOS does not hold a process to its address space


# --- Linux ------------------------------------------------------------------------------------------------------------


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def landlock(folder: str, readable: Iterable[str]) -> bool:
    """Files by Landlock: writing beneath the folder, reading beneath these places alone."""
    if sys.platform != "linux" or platform.machine() not in CALLS:
        return False
    libc = _libc()
    version = libc.syscall(444, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return False
    handled = (1 << (13 if version < 2 else 14 if version < 3 else 15)) - 1
    attributes = ctypes.create_string_buffer(struct.pack("<Q", handled), 8)
    rules = libc.syscall(444, attributes, ctypes.c_size_t(8), 0)
    if rules < 0:
        return False
    for place in readable:
        _allow(libc, rules, place, READ)
    _allow(libc, rules, folder, handled & ~1)
    libc.prctl(38, 1, 0, 0, 0)  # no new privileges
    done = libc.syscall(446, rules, 0) == 0
    os.close(rules)
    return done


def _allow(libc: Any, rules: int, place: str, rights: int) -> None:
    try:
        beneath = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # not there
        return
    if not os.path.isdir(place):
        rights &= 0b111
    rule = ctypes.create_string_buffer(struct.pack("<Qi", rights, beneath), 12)
    libc.syscall(445, rules, 1, rule, 0)
    os.close(beneath)


def seccomp() -> bool:
    """No processes, programs, sockets or signals: a filter of system calls."""
    if sys.platform != "linux" or platform.machine() not in CALLS or struct.calcsize("P") != 8:
        return False
    code = b"".join(struct.pack("<HBBI", *line) for line in _program(*CALLS[platform.machine()]))
    lines = ctypes.create_string_buffer(code, len(code))
    program = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(code) // 8, ctypes.addressof(lines)), 16)
    libc = _libc()
    libc.prctl(38, 1, 0, 0, 0)
    return libc.prctl(22, 2, program, 0, 0) == 0


def _program(architecture: int, clone: int, clone3: int, refused: tuple[int, ...]) -> list[tuple[int, int, int, int]]:
    """The filter, in the kernel's language: (code, lines to skip if so, if not, number)."""
    load, equal, least, bits, give = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, error = 0x7FFF0000, 0x00050000
    lines = [(load, 0, 0, 4), (equal, 1, 0, architecture), (give, 0, 0, error | EPERM), (load, 0, 0, 0)]
    lines += [(least, 0, 1, 0x40000000), (give, 0, 0, error | EPERM)]
    for call in refused:
        lines += [(equal, 0, 1, call), (give, 0, 0, error | EPERM)]
    lines += [(equal, 0, 1, clone3), (give, 0, 0, error | ENOSYS)]  # the C library goes on with clone
    lines += [(equal, 0, 3, clone), (load, 0, 0, 16), (bits, 1, 0, CLONE_THREAD), (give, 0, 0, error | EPERM)]
    return [*lines, (give, 0, 0, allow)]


# --- everywhere -------------------------------------------------------------------------------------------------------


def hook(folder: str, kernel: bool) -> None:
    """Refuse within Python, for good, what leads out of the folder. Where the kernel does it too this is for the sake
    of the message; elsewhere it stops what is not written with care to get round it."""
    inside = os.path.realpath(folder) + os.sep
    realpath, fspath, null = os.path.realpath, os.fspath, os.devnull

    def outside(path: Any) -> bool:
        if isinstance(path, int):
            return False
        name = os.fsdecode(fspath(path))
        return name != null and not realpath(name).startswith(inside)

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
            if path is not None and (writes or (isinstance(mode, str) and set(mode) & set("wax+"))) and outside(path):
                raise PermissionError("the sandbox refuses writing outside the submission's folder")
        elif event.startswith(STARTS):
            raise PermissionError("the sandbox refuses starting a process")
        elif event.startswith("socket.") and event != "socket.gethostname":
            raise PermissionError("the sandbox refuses the network")
        elif event.startswith(MODES):
            raise PermissionError(f"the sandbox refuses {event}")
        elif event.startswith(CHANGES) and any(outside(a) for a in arguments[:2] if isinstance(a, (str, bytes))):
            raise PermissionError("the sandbox refuses writing outside the submission's folder")
        elif event.startswith("ctypes.") and not kernel:
            raise PermissionError("the sandbox refuses calls of C functions")

    sys.addaudithook(refuse)
