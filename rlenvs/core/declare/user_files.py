"""Files that users name, opened in one way: plain files only, as large as they may be, and never waited for.

A pipe, a device, a folder, a link to nothing, a name that no file can have: each is an OSError, of which `reason` gives
what is wrong, so that callers raise their own error with the file's name.
"""

from __future__ import annotations

import errno
import io
import math
import os
import stat
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from rlenvs.core.declare.errors import clipped

COMPRESSED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # what is read within bounds of memory
MOST_ENTRIES = 20_000  # of a folder, with those in it, that are looked through


def reason(error: OSError) -> str:
    """Why a file could not be read, without its name."""
    return error.strerror or str(error)


def open_file(path: Any) -> BinaryIO:
    """A file opened for reading, at once; OSError where it is not a regular file."""
    try:
        # without waiting for somebody to write to a pipe
        handle = os.open(os.fspath(path), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except TypeError:
        raise OSError(errno.EINVAL, f"a {type(path).__name__} is not a file path") from None
    except ValueError:  # a NUL in its name, or a letter that no file system knows
        raise OSError(errno.EINVAL, "its name contains an invalid character") from None
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        if stat.S_ISDIR(mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
        raise OSError(errno.EINVAL, "it is not a regular file")
    return open(handle, "rb")


def read_file(path: Any, largest: int) -> bytes:
    """The first `largest` + 1 bytes of a file; OSError where it cannot be read or is no plain file."""
    with open_file(path) as file:
        return file.read(largest + 1)


def read_whole(path: Any, largest: int) -> bytes:
    """All of a file; OSError where it cannot be read, is no plain file, or has more than `largest` bytes."""
    data = read_file(path, largest)
    if len(data) > largest:
        raise OSError(errno.EFBIG, f"it has more than the {largest} bytes allowed for such a file")
    return data


def read_text(path: Any, largest: int) -> str:
    """All of a text file in UTF-8; OSError as for `read_whole`, and where it is no text."""
    try:
        return read_whole(path, largest).decode("utf-8")
    except UnicodeDecodeError as error:
        raise OSError(errno.EINVAL, f"it is not UTF-8 text ({error.reason} at byte {error.start})") from None


def read_arrays(path: Any, names: Iterable[str], largest: int) -> dict[str, np.ndarray]:
    """Those of the named arrays that an .npz file holds, each read only once its header, its length and the checksum
    agree; OSError where it is none, or has more than `largest` bytes of them."""
    with open_file(path) as file:
        if file.read(6) == b"\x93NUMPY":
            raise OSError(errno.EINVAL, "it is not an .npz file; it contains a single array")
        try:
            with zipfile.ZipFile(file) as archive:
                known = {part.filename: part for part in archive.infolist()}
                parts = {name: known[f"{name}.npy"] for name in names if f"{name}.npy" in known}
                if sum(part.file_size for part in parts.values()) > largest:
                    raise OSError(errno.EFBIG, f"its arrays have more than the {largest} bytes allowed")
                if any(part.compress_type not in COMPRESSED for part in parts.values()):
                    raise ValueError("it uses a compression that NumPy does not")
                return {name: _array(archive.read(part)) for name, part in parts.items()}
        except OSError:
            raise
        except Exception as error:  # whatever zipfile, its compressors and NumPy raise where a file is damaged
            raise OSError(errno.EINVAL, f"it is not an .npz file, or it is damaged: {clipped(str(error))}") from None


def _array(data: bytes) -> np.ndarray:
    """The array of a .npy file; ValueError where its header is none, or tells of another length."""
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"a version {version} of the format .npy")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, by_columns, dtype = read(file)
    if dtype.hasobject:
        raise ValueError("arrays of Python objects are not read")
    told, there = math.prod(shape) * dtype.itemsize, len(data) - file.tell()
    if min(shape, default=0) < 0 or told != there:
        raise ValueError(f"an array's header says {told} bytes, but there are {there}")
    array = np.frombuffer(data, dtype, math.prod(shape), file.tell())
    return array.reshape(shape, order="F" if by_columns else "C").copy()


def find_files(path: Any, ending: str) -> list[Path]:
    """The file at a path, or those below a folder whose names have this ending, sorted; OSError where there is neither,
    or more than can be looked through. Links to folders are not followed, and folders are never files."""
    try:
        mode = os.stat(os.fspath(path)).st_mode
    except TypeError:
        raise OSError(errno.EINVAL, f"a {type(path).__name__} is not a path") from None
    except ValueError:
        raise OSError(errno.EINVAL, "its name contains an invalid character") from None
    if not stat.S_ISDIR(mode):
        return [Path(path)]
    found, seen = [], 0
    for folder, folders, files in os.walk(path, onerror=_refuse):
        seen += len(folders) + len(files)
        if seen > MOST_ENTRIES:
            raise OSError(errno.EFBIG, f"the folder contains more than {MOST_ENTRIES} files and folders")
        found += [Path(folder, name) for name in files if name.endswith(ending)]
    for file in found:
        if not file.exists() or not stat.S_ISREG(file.stat().st_mode):
            raise OSError(errno.EINVAL, f"{file.name} in it is not a regular file, or is a broken link")
    return sorted(found)


def _refuse(error: OSError) -> None:
    raise error
