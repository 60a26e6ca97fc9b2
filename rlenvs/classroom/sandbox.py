"""What a submission's process takes from itself before it loads the submission: other processes, memory, time, network,
children, files.

Imported by the worker by itself, without the rest of the package. Each part says whether it is in force.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import platform
import struct
import sys
from collections.abc import Iterable
from typing import Any

EPERM, ENOSYS = 1, 38
CLONE_THREAD = 0x10000
# namespaces: mounts, names, IPC, users, processes, network
SPACES = 0x00020000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
DISK = b"size=64m,nr_inodes=4096,mode=700"
PRIVATE, NO_PROGRAMS = 0x4000 | 0x40000, 0b1110  # flags of mount: recursive and private; no set-uid, devices, programs
# system calls that are refused, on x86-64 and on 64-bit ARM; None: not there
REFUSED: dict[str, tuple[tuple[int | None, int | None], ...]] = {
    "processes and programs": ((57, None), (58, None), (59, 221), (322, 281), (112, 157), (109, 154)),
    "signals": ((62, 129), (200, 130), (234, 131), (129, 138), (297, 240)),
    "sockets": ((41, 198), (53, 199)),
    "other processes": ((101, 117), (310, 270), (311, 271), (302, 261), (312, 272), (274, 100), (298, 241), (440, 440)),
    "priorities and processors of others": ((141, 140), (142, 118), (144, 119), (203, 122), (314, 274), (251, 30)),
    "memory of others": ((256, 238), (279, 239), (323, 282), (448, 448)),
    "namespaces, mounts, roots": ((272, 97), (308, 268), (165, 40), (166, 39), (155, 41), (161, 51), (442, 442)),
    "owners and modes of files, which Landlock leaves": (
        *((90, None), (91, 52), (268, 53), (452, 452), (92, None), (93, 55), (94, None), (260, 54), (280, 88)),
        *((188, 5), (189, 6), (190, 7), (132, None), (235, None), (261, None)),
    ),
    "devices, files by handle": ((133, None), (259, 33), (303, 264), (304, 265)),
    "memory that is nobody's, or survives: shared memory, semaphores, queues of messages": (
        *(
            (29, 194),
            (30, 196),
            (31, 195),
            (67, 197),
            (64, 190),
            (65, 193),
            (66, 191),
            (220, 192),
            (68, 186),
            (69, 189),
        ),
        *((70, 188), (71, 187), (240, 180), (241, 181), (242, 182), (243, 183), (244, 184), (245, 185)),
        *((319, 279), (447, 447)),
    ),
    "keys, programs in the kernel": ((248, 217), (249, 218), (250, 219), (321, 280)),
    "processes by file, rings, new mounts": tuple((number, number) for number in (*range(424, 435), 438)),
}
# by machine: the value of the audit architecture, clone, clone3, fcntl, ioctl
CALLS = {"x86_64": (0xC000003E, 56, 435, 72, 16), "aarch64": (0xC00000B7, 220, 435, 25, 29)}
SETFL, ASYNC = 4, 0x2000
# of fcntl: copies, flags, locks, size of a pipe, seals; none of those that name who gets a signal
FCNTL = (0, 1, 2, 3, 5, 6, 7, 36, 37, 38, 1030, 1032, 1033, 1034)
IOCTL = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # is it a terminal, how wide, how much is there
READ = 0b1101  # Landlock's rights: run, read files, read folders
STARTS = ("subprocess.", "os.fork", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "pty.", "os.startfile")
CHANGES = ("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "shutil.")
MODES = ("os.chmod", "os.chown", "os.utime", "os.setxattr", "os.kill")


def separate(user: int, spaces: bool) -> dict[str, bool]:
    """Leave the grader's user and namespaces, in the present folder; what returns may be a child of what called.

    Args:
        user: whose number is to be taken, by root; 0: stay.
        spaces: whether to try namespaces.

    Returns:
        by part ("user", "spaces", "disk") whether it is in force.
    """
    found = {"user": bool(user), "spaces": False, "disk": False}
    if user:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    if not spaces or sys.platform != "linux":
        return found
    libc, place, who, group = _libc(), os.getcwd(), os.geteuid(), os.getegid()
    libc.prctl(4, 1, 0, 0, 0)  # else /proc/self is root's after a change of user
    if libc.unshare(SPACES) != 0:
        return found
    for name, text in (("setgroups", "deny"), ("uid_map", f"{who} {who} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    libc.mount(b"none", b"/", None, ctypes.c_ulong(PRIVATE), None)
    found["disk"] = libc.mount(b"none", os.fsencode(place), b"tmpfs", ctypes.c_ulong(NO_PROGRAMS), DISK) == 0
    os.chdir(place)
    child = os.fork()
    if child:
        _wait_for(child)
    libc.prctl(1, 9, 0, 0, 0)  # ends with its parent
    libc.mount(b"proc", b"/proc", b"proc", ctypes.c_ulong(NO_PROGRAMS), None)
    return {**found, "spaces": True}


def _wait_for(child: int) -> None:
    """Be the parent of a process, hold none of its pipes, and end with it."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    os.waitpid(child, 0)
    os._exit(0)


def hide(places: Iterable[str]) -> None:
    """Put empty folders over these, in a namespace of mounts."""
    for place in places:
        _libc().mount(b"none", os.fsencode(place), b"tmpfs", ctypes.c_ulong(NO_PROGRAMS), b"size=4k,mode=755")


def confine(folder: str, readable: Iterable[str], hidden: Iterable[str], memory: int, seconds: int) -> dict[str, bool]:
    """Take everything away; from here on this process reads, computes, and writes into its folder.

    Returns:
        by part ("limits", "files", "calls", "hook") whether it is in force.
    """
    limited = limit(memory, seconds)
    files = landlock(folder, readable)
    powerless()
    calls = seccomp()
    hook(folder, hidden, kernel=files and calls)
    return {"limits": limited, "files": files, "calls": calls, "hook": True}


def limit(memory: int, seconds: int) -> bool:
    """Limits of memory, processor time, size of files and number of processes, where the system has them."""
    try:
        import resource
    except ImportError:
        return False
    wanted = {
        "AS": memory,
        "CPU": seconds,
        "FSIZE": 2**24,
        "NPROC": 0,
        "CORE": 0,
        "NOFILE": 256,
        "MEMLOCK": 0,
        "MSGQUEUE": 0,
    }
    for name, most in wanted.items():
        with contextlib.suppress(ValueError, OSError, AttributeError):
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
    # since version 6 signals and abstract sockets too
    told = struct.pack("<QQQ", handled, 0, 0b11) if version >= 6 else struct.pack("<Q", handled)
    rules = libc.syscall(444, ctypes.create_string_buffer(told, len(told)), ctypes.c_size_t(len(told)), 0)
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


def powerless() -> None:
    """Give up root's powers (capabilities), where there are any."""
    if sys.platform == "linux":
        head = ctypes.create_string_buffer(struct.pack("<Ii", 0x20080522, 0), 8)
        libc = _libc()
        libc.prctl(38, 1, 0, 0, 0)
        libc.capset(head, ctypes.create_string_buffer(24))


def seccomp() -> bool:
    """No processes, programs, sockets, signals, and nothing that outlives the process: a filter of system calls."""
    machine = platform.machine()
    if sys.platform != "linux" or machine not in CALLS or struct.calcsize("P") != 8:
        return False
    code = b"".join(struct.pack("<HBBI", *line) for line in _program(machine))
    lines = ctypes.create_string_buffer(code, len(code))
    program = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(code) // 8, ctypes.addressof(lines)), 16)
    libc = _libc()
    libc.prctl(38, 1, 0, 0, 0)
    return libc.prctl(22, 2, program, 0, 0) == 0


def _program(machine: str) -> list[tuple[int, int, int, int]]:
    """The filter, in the kernel's language: (code, lines to skip if so, if not, number)."""
    architecture, clone, clone3, fcntl, ioctl = CALLS[machine]
    load, equal, least, bits, give = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, error = (give, 0, 0, 0x7FFF0000), (give, 0, 0, 0x00050000 | EPERM)
    second, third = (load, 0, 0, 24), (load, 0, 0, 32)  # arguments, their lower halves
    lines = [(load, 0, 0, 4), (equal, 1, 0, architecture), error, (load, 0, 0, 0), (least, 0, 1, 0x40000000), error]
    for pair in itertools.chain.from_iterable(REFUSED.values()):
        call = pair[list(CALLS).index(machine)]
        if call is not None:
            lines += [(equal, 0, 1, call), error]
    lines += [(equal, 0, 1, clone3), (give, 0, 0, 0x00050000 | ENOSYS)]  # the C library goes on with clone
    lines += [(equal, 0, 4, clone), (load, 0, 0, 16), (bits, 0, 1, CLONE_THREAD), allow, error]
    flags = [(equal, 0, 3, SETFL), third, (bits, 1, 0, ASYNC), allow]
    for call, values, more in ((fcntl, FCNTL, flags), (ioctl, IOCTL, [])):
        block = [
            second,
            *itertools.chain.from_iterable([(equal, 0, 1, value), allow] for value in values),
            *more,
            error,
        ]
        lines += [(equal, 0, len(block), call), *block]
    return [*lines, allow]


# --- everywhere -------------------------------------------------------------------------------------------------------


def hook(folder: str, hidden: Iterable[str], kernel: bool) -> None:
    """Refuse within Python, for good, what leads out of the folder, and reading what is hidden. Where the kernel does
    it too this is for the sake of the message; elsewhere it stops what is not written with care to get round it."""
    inside = os.path.realpath(folder) + os.sep
    realpath, fspath, null = os.path.realpath, os.fspath, os.devnull
    answers = tuple(os.path.realpath(place) + os.sep for place in hidden)

    def outside(path: Any) -> bool:
        if isinstance(path, int):
            return False
        name = os.fsdecode(fspath(path))
        return name != null and not realpath(name).startswith(inside)

    def answer(path: Any) -> bool:
        return not isinstance(path, int) and (realpath(os.fsdecode(fspath(path or "."))) + os.sep).startswith(answers)

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
            if path is not None and (writes or (isinstance(mode, str) and set(mode) & set("wax+"))) and outside(path):
                raise PermissionError("the sandbox refuses writing outside the submission's folder")
            if answer(path):
                raise PermissionError("the sandbox refuses reading the package and its exercises")
        elif event in ("os.listdir", "os.scandir") and answer(arguments[0]):
            raise PermissionError("the sandbox refuses reading the package and its exercises")
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
