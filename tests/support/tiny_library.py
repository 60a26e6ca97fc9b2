"""Shared libraries made byte by byte, whose functions return a number each: no compiler is needed."""

import hashlib
import json
import struct
import sys
from platform import machine

from rlenvs.core.compiler import ready

POSSIBLE = sys.platform == "linux" and machine() == "x86_64"
PAGE = 4096


def tiny_library(**functions: int) -> bytes:
    """An ELF library for x86-64 with functions that take whatever they are given and return these numbers."""
    strings, symbols, code = b"\0", struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0), b""
    headers = 64 + 4 * 56
    for name, number in functions.items():
        body = b"\x48\xb8" + struct.pack("<q", number) + b"\xc3"  # mov rax, number; ret
        symbols += struct.pack("<IBBHQQ", len(strings), 0x12, 0, 1, headers + len(code), len(body))
        strings += name.encode() + b"\0"
        code += body
    count = len(functions) + 1
    chain = [0, *range(2, count), 0][:count]
    table = struct.pack(f"<{3 + count}I", 1, count, 1, *chain)
    at_symbols = -(-(headers + len(code)) // 8) * 8
    at_table = at_symbols + len(symbols)
    at_strings = at_table + len(table)
    first = b"".join([b"\0" * headers, code]).ljust(at_symbols, b"\0") + symbols + table + strings
    assert len(first) <= PAGE
    entries = {4: at_table, 5: at_strings, 6: at_symbols, 10: len(strings), 11: 24, 0: 0}
    dynamic = b"".join(struct.pack("<QQ", *entry) for entry in entries.items())
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    head += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 4, 0, 0, 0)
    parts = [(1, 5, 0, len(first)), (1, 6, PAGE, len(dynamic)), (2, 6, PAGE, len(dynamic)), (0x6474E551, 6, 0, 0)]
    for kind, flags, start, size in parts:
        head += struct.pack("<IIQQQQQQ", kind, flags, start, start, start, size, size, PAGE if kind == 1 else 8)
    return (head + first[headers:]).ljust(PAGE, b"\0") + dynamic


def put(folder, key, content, target="x86-64", names=("run_worlds",), **changed):
    """Put a library into a folder, with a manifest that knows it alone; `changed` are entries of the manifest that are
    not what they should be. Returns the library's path."""
    path = folder / target / f"{key}.so"
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.chmod(0o700)
    path.unlink(missing_ok=True)  # one that is open stays as it is
    path.write_bytes(content)
    said = {"file": f"{target}/{key}.so", "sha256": hashlib.sha256(content).hexdigest(), "functions": list(names)}
    manifest = {"format": 1, "libraries": {key: {target: said | changed}}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return path


def sole_folder(place, monkeypatch):
    """A folder of libraries beside which none is looked for."""
    monkeypatch.delenv("RLENVS_TARGET", raising=False)
    monkeypatch.setenv("RLENVS_CACHE_DIR", str(place))
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "none"))
    monkeypatch.setattr(ready, "package_folder", lambda: None)
    place.chmod(0o700)
    made = place / "kernels"
    made.mkdir(mode=0o700)
    return made
