"""The source of a function, as a text that all versions of Python have alike, and its bytecode, which each has its own.

The text has no comments, doc strings, decorators and no name of the function. It is given only where the file, or the
cell of a notebook, still is what the function was compiled from.
"""

from __future__ import annotations

import hashlib
import linecache
import os
import re
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from importlib.util import cache_from_source
from types import CodeType, FunctionType
from typing import Any, NamedTuple

TOKEN = re.compile(
    r"""(?P<quoted>\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | (?P<comment>[ \t]*\#[^\n]*) | (?P<opened>[(\[{]) | (?P<closed>[)\]}]) | (?P<joined>\\\n) | (?P<end>\n)""",
    re.VERBOSE | re.DOTALL,
)
INDENT = re.compile(r"(?:[ \t\f]*(?:\#[^\n]*)?\n)*([ \t]*)")  # blank lines and comments, and that of the line behind
BLANK = re.compile(r"(\s*)")
HEAD = re.compile(r"(async\s+)?def\s+\w+")
DOC = re.compile(r"""[rRuU]?(\"\"\".*\"\"\"|'''.*'''|"[^"]*"|'[^']*')""", re.DOTALL)


class _File(NamedTuple):
    """A file of source: its stamp, its text, where its lines begin, and all code in it by first line and name."""

    stamp: tuple[int, ...]
    text: str
    lines: list[int]
    codes: dict[tuple[int, str], CodeType]


_files: dict[str, _File | None] = {}


def source_of(code: CodeType) -> str | None:
    """The text of a function; None where it has none, as in an interactive session, or the file has been edited since
    it was imported."""
    file = _file(code.co_filename)
    if file is None:
        return None
    compiled = file.codes.get((code.co_firstlineno, code.co_name))
    if compiled is None or (compiled is not code and bytecode_of(compiled) != bytecode_of(code)):
        return None
    return _function_at(file.text, file.lines[code.co_firstlineno - 1])


def function_from(text: str, name: str, scope: dict[str, Any]) -> FunctionType:
    """The function of that name in a text, which is kept as its source.

    Args:
        text: that defines it.
        name: of the function.
        scope: its globals, among which it then is.
    """
    file = f"<rlenvs {hashlib.sha256(text.encode()).hexdigest()[:16]}>"
    linecache.cache.setdefault(file, (len(text), None, text.splitlines(keepends=True), file))
    exec(compile(text, file, "exec", dont_inherit=True), scope)
    made: FunctionType = scope[name]
    return made


def bytecode_of(code: CodeType) -> bytes:
    """Instructions, constants and names of some code, and of all code in it; not its name, nor where it stands."""
    numbers = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars)
    parts = [repr((numbers, names)).encode(), code.co_code]
    for value in code.co_consts:
        if isinstance(value, CodeType):
            parts.append(bytecode_of(value))
        else:
            shown = sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)
            parts.append(f"{type(value).__name__} {shown}".encode())
    return b"".join(b"%d " % len(part) + part for part in parts)


def _file(name: str) -> _File | None:
    kept = linecache.cache.get(name)
    try:
        if kept is not None and len(kept) > 1 and kept[1] is None:  # a cell of a notebook, which is in no file
            stamp: tuple[int, ...] = (id(kept),)
        else:
            kept, found = None, os.stat(name)
            stamp = found.st_mtime_ns, found.st_size
    except (OSError, ValueError):
        return None
    known = _files.get(name)
    if known is None or known.stamp != stamp:
        known = _files[name] = _read(name, stamp, "".join(kept[2]) if kept else None)
    return known


def _read(name: str, stamp: tuple[int, ...], text: str | None) -> _File | None:
    try:
        if text is None:
            with open(name, encoding="utf-8-sig") as file:
                text = file.read()
        if stamp[0] < _time_of_bytecode(name):
            module = SourceFileLoader(name, name).get_code(name)  # from the .pyc, if it is of the file as it is now
        else:
            module = compile(text, name, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError, ImportError, EOFError):
        return None
    if module is None:
        return None
    lines = [0, *(found.end() for found in re.finditer("\n", text))]
    return _File(stamp, text, lines, {(code.co_firstlineno, code.co_name): code for code in _codes_in(module)})


def _time_of_bytecode(name: str) -> int:
    """When the .pyc of a file was written [ns]; 0 where there is none. Python looks at whole seconds, and may take
    one that was written before the file's last change."""
    try:
        return os.stat(cache_from_source(name)).st_mtime_ns
    except (OSError, NotImplementedError):
        return 0


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield value
            yield from _codes_in(value)


def _function_at(text: str, start: int) -> str | None:
    """The function, with its decorators, that begins there; None where it is no `def`."""
    lines: list[str] = []
    base = None
    for indent, line in _logical_lines(text, start):
        base = len(indent) if base is None else base
        if lines and len(indent) <= base:
            break
        if lines:
            if len(lines) > 1 or not DOC.fullmatch(line):
                lines.append(f"{indent[base:]}{line}")
        elif HEAD.match(line):
            lines.append(HEAD.sub(r"\1def", line, count=1))
        elif not line.startswith("@"):
            return None
    return "\n".join(lines) if lines else None


def _logical_lines(text: str, start: int) -> Iterator[tuple[str, str]]:
    """Indentation and content of the lines from there on, those in brackets joined, without comments."""
    depth, parts = 0, []
    indent, at = _skip(INDENT, text, start)
    for token in TOKEN.finditer(text, at):
        kind = token.lastgroup
        if kind == "opened":
            depth += 1
        elif kind == "closed":
            depth -= 1
        elif kind == "quoted" or token.end() <= at:
            continue
        else:
            parts.append(text[at : token.start()].rstrip())
            at = token.end()
            if kind == "end" and depth == 0:
                yield indent, " ".join(filter(None, parts))
                parts = []
                indent, at = _skip(INDENT, text, at)
            elif kind != "comment":
                at = _skip(BLANK, text, at)[1]
    yield indent, " ".join([*parts, text[at:].rstrip()])


def _skip(pattern: re.Pattern[str], text: str, start: int) -> tuple[str, int]:
    """What the group of a pattern that fits everywhere holds, and where the text goes on behind it."""
    found = pattern.match(text, start)
    assert found
    return found[1], found.end()
