"""What the compiler found wrong with a kernel, in one sentence: where, and what.

numba's own report of a mistake in a kernel has a hundred lines, since it tells of every call on the way there; the
useful ones are in the middle. They are read out of it here. `RLENVS_FULL_ERRORS=1` shows all of it.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

from rlenvs.core.declare.errors import KernelError, nearest

if TYPE_CHECKING:
    from rlenvs.core.declare.spec import World

FULL = "RLENVS_FULL_ERRORS"
BLOCK = re.compile(r"Failed in nopython mode pipeline \(step: [^)]*\)")
PLACE = re.compile(
    r"(?:\bat|from|found) (?P<file>/[^\n]*?|[A-Za-z]:[^\n]*?|<[^\n]*?>) \((?P<line>\d+)\)"
    r"|File \"(?P<shown>[^\"\n]+)\", line (?P<number>\d+):"
    r"|\((?P<bare>/[^\n]*?) \((?P<place>\d+)\)\)"
)
ARRAY_WRITTEN = "is an array: write "  # in the message of `rlenvs.core.compiler.records.set_field`
COLORS = re.compile(r"\x1b\[[0-9;]*m")
# arguments of kernels, and the record that each of them is
ARGUMENTS = {
    **dict.fromkeys(("reset", "move", "before_physics", "after_reset"), "p s rng"),
    **dict.fromkeys(("step", "outcome"), "p s a rng r"),
    "act": "p s a rng",
    "expert": "p s a",
    "fetch": "p s",
    "central": "p s o",
    "player": "p s k a rng",
    "goal_outcome": "p achieved desired r",
}
ARGUMENTS_OF_AGENTS = {"observe": "p s {}o", "mask": "p s {}m", "observe_images": "p s {}i", "barrier": "p s {}a b"}
RECORDS = {"p": "params", "s": "state", "r": "result", "o": "observation", "i": "images", "b": "barrier"}
STATEMENTS = {
    "IMPORT_NAME": "an import; import at the top of the file",
    "IMPORT_FROM": "an import; import at the top of the file",
    "STORE_GLOBAL": "the change of a global name; keep it in the state, `s`",
    "BEFORE_WITH": "a with block",
    "LOAD_BUILD_CLASS": "a class",
    "STORE_DEREF": "a function inside a kernel that changes a name",
}
OPERATORS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
    "getitem": "[...]",
    "and_": "&",
    "or_": "|",
}
TYPES = (
    (r"Literal\[str\]\((.*?)\)", r"the text '\1'"),
    (r"Literal\[int\]\((.*?)\)", r"the number \1"),
    (r"unicode_type", "text"),
    (r"<iv=.*?>", ""),
    (r"(?:reflected )?\blist\((.*?)\)", r"a list of \1"),
    (r"array\(([^,()]+), (\d)d, [^)]*\)", r"an array of \1 (\2 axes)"),
    (r"record_\w+", "a record"),
    (r"\bnone\b", "None"),
)


class Place(NamedTuple):
    """A line of a file."""

    file: str
    line: int


def explain_compile_error(error: BaseException, world: World) -> KernelError:
    """What to raise `from None` in the place of an error of the compiler.

    Args:
        error: what numba raised when it compiled a kernel of the world.
        world: whose kernels they are.

    Returns:
        An error whose text is one sentence with file, line and reason; its attribute `full` is the compiler's own text.
    """
    full = COLORS.sub("", str(error))
    blocks = list(BLOCK.finditer(full))
    core = textwrap.dedent(full[blocks[-1].end() :] if blocks else full).strip()
    place = next(_places(core), None)
    name = _name_of(core)
    found = _function_at(world, place) if place else None
    if place is None or name:
        found, place = _search(world, full, name) or (found, place)
    if not core or ARRAY_WRITTEN in core:  # the report of these has no place
        found, place, reason = _array_written(world) or (found, place, core or "the compiler gives no reason")
    else:
        reason = _reason(core, world, found, place)
    where = f"{_shown(place)}: " if place else ""
    which = f"kernel {found[0]} of {world.name}" if found else f"a kernel of {world.name}"
    code = _code_line(place)
    sentence = f"{which} does not compile: {where}{reason}" + (f" (in: {code})" if code else "")
    if os.environ.get(FULL, "") not in ("", "0"):
        return KernelError(f"{sentence}\n\n{full}", full)
    return KernelError(f"{sentence}. {FULL}=1 shows the compiler's own words", full)


def explain_allocation(world: World, kernels: Sequence[FunctionType]) -> KernelError:
    """What to raise where kernels ask for memory while they run.

    Args:
        world: whose kernels they are.
        kernels: those that do as they are written, each before those that call it.
    """
    codes = [kernel.__code__ for kernel in kernels[:3]]
    shown = [f"{code.co_name} ({_shown(Place(code.co_filename, code.co_firstlineno))})" for code in codes]
    where = f": look into {' or '.join(shown)}" if shown else ""
    return KernelError(
        f"{world.name}: a kernel makes arrays, lists or texts, which kernels cannot{where}. "
        "Keep arrays in the state, and write loops in the place of np.zeros, .copy() and of slices of several axes, "
        "as in a[:, :] = b"
    )


# --- where ------------------------------------------------------------------------------------------------------------


def _places(text: str) -> Iterator[Place]:
    """The lines that a text names, innermost first, without those of numba and of the core."""
    core = str(Path(__file__).parent)
    for match in PLACE.finditer(text):
        file = match["file"] or match["shown"] or match["bare"]
        file = file if file.startswith("<") else os.path.abspath(file)
        if f"{os.sep}numba{os.sep}" not in file and not file.startswith(core):
            yield Place(file, int(match["line"] or match["number"] or match["place"]))


def _functions(world: World) -> Iterator[tuple[str, FunctionType]]:
    """The world's kernels by role, and what they call by name, as far as it is of Python."""
    seen: set[int] = set()
    waiting = [(role, kernel) for role, kernel in world.kernels.items()]
    while waiting:
        name, function = waiting.pop(0)
        if id(function) in seen or not isinstance(function, FunctionType):
            continue
        seen.add(id(function))
        yield name, function
        for used in function.__code__.co_names:
            value = function.__globals__.get(used)
            if isinstance(value, FunctionType) and not value.__module__.startswith("numba"):
                waiting.append((used, value))


def _function_at(world: World, place: Place) -> tuple[str, FunctionType] | None:
    for name, function in _functions(world):
        code = function.__code__
        lines = [line for *_, line in code.co_lines() if line]
        if code.co_filename == place.file and code.co_firstlineno <= place.line <= max(lines, default=0):
            return name, function
    return None


def _search(world: World, full: str, name: str | None) -> tuple[tuple[str, FunctionType], Place] | None:
    """The kernel in which the compiler was last, and the line where it uses a name, for reports that tell no line."""
    last = re.findall(r"Function\(<function (\w+) at", full)
    known = list(_functions(world))
    if name is None and not last:
        return None
    ordered = [row for function in reversed(last) for row in known if row[1].__name__ == function] or known
    for role, function in ordered:
        line = _first_line(function) if name is None else _line_of(function, name)
        if line is not None:
            return (role, function), Place(function.__code__.co_filename, line)
    return None


def _line_of(function: FunctionType, name: str) -> int | None:
    """The first line of a function in which a name is used."""
    try:
        lines, start = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return None
    found = [
        node.lineno
        for node in ast.walk(tree)
        if (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.Attribute) and node.attr == name)
    ]
    return start + min(found) - 1 if found else None


def _array_written(world: World) -> tuple[tuple[str, FunctionType], Place, str] | None:
    """Where a kernel assigns to a whole array of a record, which only its elements can be."""
    for found in _functions(world):
        _, function = found
        for node in _assigned(function):
            record = _record_of(getattr(node.value, "id", ""), found)
            place = world.layouts[record].places.get(node.attr) if record else None
            if place is not None and place.shape:
                name = ast.unparse(node)
                line = Place(function.__code__.co_filename, inspect.getsourcelines(function)[1] + node.lineno - 1)
                return found, line, f"{name} is an array: write to its elements, as in {name}[:] = ..."
    return None


def _assigned(function: FunctionType) -> Iterator[ast.Attribute]:
    """The attributes that a function assigns to."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            yield from (part for part in parts if isinstance(part, ast.Attribute))


def _first_line(function: FunctionType) -> int:
    """Where the function begins, behind its decorators."""
    lines = [line for *_, line in function.__code__.co_lines() if line]
    try:
        source, start = inspect.getsourcelines(function)
    except (OSError, TypeError):
        return min(lines)
    return start + next((k for k, text in enumerate(source) if text.lstrip().startswith("def ")), 0)


def _shown(place: Place) -> str:
    try:
        return f"{Path(place.file).relative_to(Path.cwd())}:{place.line}"
    except ValueError:
        return f"{place.file}:{place.line}"


def _code_line(place: Place | None) -> str:
    import linecache

    return linecache.getline(place.file, place.line).strip() if place else ""


# --- what -------------------------------------------------------------------------------------------------------------


def _name_of(core: str) -> str | None:
    """The name that a report without a line is about."""
    match = re.match(
        r"NameError: name '(\w+)'|module '[\w.]+' has no attribute '(\w+)'|Untyped global name '(\w+)'", core
    )
    return next(filter(None, match.groups())) if match else None


def _reason(core: str, world: World, found: tuple[str, FunctionType] | None, place: Place | None) -> str:
    rules: tuple[tuple[str, Any], ...] = (
        (r"NameError: name '(\w+)' is not defined", lambda m: f"the name {m[1]!r} is not defined"),
        (r"Unknown attribute '(\w+)' of type ([^\n]+)", lambda m: _no_attribute(m[1], m[2], world, found, place)),
        (r"Cannot resolve setattr: \(([^)]+)\)\.(\w+) =", lambda m: _no_attribute(m[2], m[1], world, found, place)),
        (r"(?s).*Cannot bind .*? to signature '(\([^']*\))' due to \"TypeError: (.*?)\"", _wrong_call(found, world)),
        (r"(?s).*Rejected as the implementation raised a specific error:\s+TypeError: (.*?)\n", r"\1"),
        (r"Cannot unify (.*?) and (.*?) for '(\w+)[^']*'", r"\3 is \1 in one place and \2 in another"),
        (
            r"Cannot cast (.*?) to (array[^\n]*?): ",
            r"\1 cannot take the place of \2; write to its elements, as in x[:] = 0",
        ),
        (r"Cannot cast (.*?) to (.*?): ", r"\1 cannot be stored where \2 is needed"),
        (r"Invalid use of BoundFunction\((\S+) for (.*?)\) with parameters \((.*?)\)", r"\1 of \2 does not take \3"),
        (r"Untyped global name '(\w+)':.*<class 'function'>", r"\1 is a plain function; put @kernel above it"),
        (r"Untyped global name '(\w+)':.*<class '(\w+)'>", r"\1, a \2, is nothing that compiled code can use"),
        (r"(?s)No implementation of function Function\(<intrinsic exception_match>\)", "kernels have no exceptions"),
        (r"(?s)Exception object cannot be stored", "kernels have no exceptions: leave out try and except"),
        (r"(?s)No implementation of function Function\(<built-in function (\w+)>\).*?>>> \w+\((.*?)\)\n", _no_operator),
        (
            r"(?s)No implementation of function Function\((?:<\S+ )?(?:function )?(\S+).*?>>> \w+\((.*?)\)\n.*",
            _no_function,
        ),
        (r"Use of unsupported opcode \((\w+)\) found", lambda m: f"kernels cannot hold {STATEMENTS.get(m[1], m[1])}"),
        (r"The 'with|.*with statement", "kernels cannot hold with blocks"),
        (r"Unsupported constraint encountered: (.*)", r"kernels cannot hold `\1`"),
    )
    for pattern, told in rules:
        match = re.match(pattern, core)
        if match:
            text = told(match) if callable(told) else match.expand(told)
            break
    else:
        text = re.sub(r" at 0x[0-9a-f]+", "", core.partition("\n")[0]).partition(". Raised from")[0]
    return _plain_types(text).rstrip(". ")


def _plain_types(text: str) -> str:
    for pattern, words in TYPES:
        text = re.sub(pattern, words, text)
    return text


def _no_attribute(
    name: str, kind: str, world: World, found: tuple[str, FunctionType] | None, place: Place | None
) -> str:
    owner = re.search(rf"(\w+)(?:\[[^\]]*\])?\s*\.\s*{name}\b", _code_line(place))
    variable = owner[1] if owner else ""
    if not kind.startswith("record_") and "({" not in kind:
        advice = "; draw by uniform(rng, low, high), normal(rng) and below(rng, n) of rlenvs.core"
        return f"{variable or kind} has no attribute {name!r}{advice if variable == 'rng' else ''}"
    record = _record_of(variable, found)
    if record is None:
        return f"{variable or 'the record'} has no field {name!r}"
    known = [field for field in world.layouts[record].places if not field.startswith("_")]
    return f"{variable} has no field {name!r}. {nearest(name, known)}"


def _record_of(variable: str, found: tuple[str, FunctionType] | None) -> str | None:
    """The layout behind an argument of a kernel: by its place among the arguments, or by its usual name."""
    if found and (wanted := _wanted(found[0], None)):
        given = list(inspect.signature(found[1]).parameters)
        if variable in given and given.index(variable) < len(wanted):
            return RECORDS.get(wanted[given.index(variable)])
    return RECORDS.get(variable)


def _wanted(role: str, world: World | None) -> list[str]:
    """The arguments of a kernel; empty for what is none."""
    role = role.partition(" ")[0]
    if role in ARGUMENTS_OF_AGENTS:
        return ARGUMENTS_OF_AGENTS[role].format("k " if world is not None and world.agents else "").split()
    return ARGUMENTS.get(role, "").split()


def _wrong_call(found: tuple[str, FunctionType] | None, world: World) -> Any:
    def told(match: re.Match[str]) -> str:
        wanted = _wanted(found[0], world) if found else []
        if wanted and len(inspect.signature(found[1]).parameters) != len(wanted):  # type: ignore[index]
            return f"it takes {match[1]}, but has to take ({', '.join(wanted)})"
        return f"the call does not fit {match[1]}: {match[2]}"

    return told


def _no_operator(match: re.Match[str]) -> str:
    name = match[1]
    symbol = OPERATORS.get(name) or (f"{OPERATORS[name[1:]]}=" if name[1:] in OPERATORS else name)
    return f"{symbol} is not possible with {match[2].replace(', ', ' and ')}"


def _no_function(match: re.Match[str]) -> str:
    why = re.search(r"(?s)specific error:\s+\w+Error: ([^\n]*)", match[0])
    return f"{match[1].rstrip('>')} does not take ({match[2]})" + (f": {why[1]}" if why else "")
