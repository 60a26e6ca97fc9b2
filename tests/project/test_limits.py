"""How long files, functions and signatures of the package may be."""

import ast
import re

import pytest
from support.tree import ROOT

FILE, FUNCTION, SIGNATURE = 500, 60, 12
REASON = re.compile(r"# (\d+) parameters: \S")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def lines_of(function):
    """How many lines a function has: from the first below its docstring to its last, functions inside it included."""
    body = function.body[ast.get_docstring(function, clean=False) is not None :]
    return function.end_lineno - body[0].lineno + 1 if body else 0


def parameters_of(function):
    """How many parameters a function has, but for self and cls."""
    given = function.args
    named = [each.arg for each in [*given.posonlyargs, *given.args, *given.kwonlyargs]]
    return len(named) - (named[:1] in (["self"], ["cls"])) + (given.vararg is not None) + (given.kwarg is not None)


def has_reason(function, lines, count):
    """Whether a comment says why a function has so many parameters: between the line before it, or before its
    decorators, and that of its `def`."""
    first = min(each.lineno for each in [function, *function.decorator_list])
    return str(count) in REASON.findall("\n".join(lines[max(first - 2, 0) : function.lineno]))


def functions_in(node):
    """All functions of a module, the outer ones first. Expressions, most of a tree, hold none."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FUNCTIONS):
            yield child
        if not isinstance(child, ast.expr):
            yield from functions_in(child)


def excesses_of(file, text):
    """All that is too long in a file: the file, the function, what was counted, and its limit."""
    lines = text.splitlines()
    found = [f"{file}: {len(lines)} lines, at most {FILE}"] * (len(lines) > FILE)
    for function in functions_in(ast.parse(text)):
        length, count = lines_of(function), parameters_of(function)
        where = f"{file}, line {function.lineno}, {function.name}"
        if length > FUNCTION:
            found.append(f"{where}: {length} lines without the docstring, at most {FUNCTION}")
        if count > SIGNATURE and not has_reason(function, lines, count):
            reason = f"unless a comment beside `def` says `# {count} parameters: ` and why"
            found.append(f"{where}: {count} parameters, at most {SIGNATURE}, {reason}")
    return found


def test_nothing_in_the_package_is_too_long():
    files = sorted((ROOT / "rlenvs").rglob("*.py"))
    assert len(files) > 500
    found = [each for file in files for each in excesses_of(file.relative_to(ROOT).as_posix(), file.read_text())]
    assert not found, "\n".join(found)


def function_of(lines, parameters=0, comment="", before="", indent=""):
    """The text of a function with so many lines below its docstring."""
    names = ", ".join(f"a{i}" for i in range(parameters))
    text = [*before.splitlines(), f"def f({names}):{comment}", '    """Says', "", '    so."""', *["    a = 1"] * lines]
    return "\n".join(indent + line for line in text)


LONG = {
    "a file": ("\n" * 501, "f.py: 501 lines, at most 500"),
    "a function": (function_of(61), "f.py, line 1, f: 61 lines without the docstring, at most 60"),
    "a function among statements": (
        "try:\n    pass\nexcept E:\n" + function_of(61, indent="    "),
        "f.py, line 4, f: 61 lines",
    ),
    "a method": ("class C:\n" + function_of(61, indent="    "), "f.py, line 2, f: 61 lines"),
    "a function with one inside": (
        "def g():\n    a = 1\n" + function_of(56, indent="    "),
        "f.py, line 1, g: 61 lines",
    ),
    "a signature": (function_of(1, 13), "f.py, line 1, f: 13 parameters, at most 12, unless"),
    "stars": ("def f(a, /, b, *c, d, e, f, g, h, i, j, k, l, **m): ...", "f.py, line 1, f: 13 parameters"),
    "another number": (function_of(1, 13, "  # 14 parameters: an animal's"), "f.py, line 1, f: 13 parameters"),
    "no reason": (function_of(1, 13, before="# 13 parameters:"), "f.py, line 2, f: 13 parameters"),
    "a reason inside": (function_of(1, 13) + "  # 13 parameters: an animal's", "f.py, line 1, f: 13 parameters"),
}


@pytest.mark.parametrize("case", LONG)
def test_what_is_too_long_is_told(case):
    text, told = LONG[case]
    assert [each[: len(told)] for each in excesses_of("f.py", text)] == [told]


FINE = {
    "a file": "\n" * 500,
    "a function": function_of(60),
    "a function with one inside": "def g():\n    a = 1\n" + function_of(55, indent="    "),
    "a signature": function_of(1, 12),
    "self": "class C:\n    def f(self, a, b, c, d, e, f, g, h, i, j, k, l): ...",
    "a reason": function_of(1, 13, "  # 13 parameters: an animal's"),
    "a reason before": function_of(1, 13, before="# 13 parameters: an animal's"),
    "a reason before decorators": function_of(1, 13, before="# 13 parameters: an animal's\n@kernel"),
    "a reason after decorators": function_of(1, 13, before="@kernel\n# 13 parameters: an animal's"),
}


@pytest.mark.parametrize("case", FINE)
def test_what_is_just_short_enough_passes(case):
    assert not excesses_of("f.py", FINE[case])
