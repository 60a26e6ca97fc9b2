"""What names stand for while a function is translated: its own variables, those around it, or values that exist."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

# words that Python has as names and JavaScript keeps for itself, and those that the written modules use
_TAKEN = (
    "arguments await break case catch class const continue debugger default delete do else enum eval "
    "export extends false finally for function if implements import in instanceof interface let new null "
    "package private protected public return static super switch this throw true try typeof undefined var "
    "void while with yield np py"
)
TAKEN = frozenset(_TAKEN.split())


class TranslationError(Exception):
    """Something that cannot be written in JavaScript; the message begins with file and line."""


class Missing:
    """In the place of a value that does not exist."""


MISSING = Missing()


def js_name(name: str) -> str:
    """A Python name as one of JavaScript."""
    return f"{name}_" if name in TAKEN else name


@dataclass
class Source:
    """Where a function comes from.

    Attributes:
        path: of its file. first: its first line there. names: the values of names that are not its own.
        words: whether its whole numbers are words of 64 bits, as in the functions that `maths` is made of.
    """

    path: str
    first: int
    names: Mapping[str, Any]
    words: bool = False

    def error(self, node: ast.AST, message: str) -> TranslationError:
        """An error that says where it is."""
        line = self.first + getattr(node, "lineno", 1) - 1
        return TranslationError(f"{self.path}:{line}: {message}")


@dataclass
class Scope:
    """The variables of a function or of a comprehension.

    Attributes:
        source: of the function. own: its variables. kinds: of those of which one is known, see `kinds`.
        around: the scope in which it lies. functions: the signatures of functions defined in it.
    """

    source: Source
    own: set[str]
    kinds: dict[str, str] = field(default_factory=dict)
    around: Scope | None = None
    temporaries: int = 0
    functions: dict[str, Any] = field(default_factory=dict)

    def holder(self, name: str) -> Scope | None:
        """The scope that has a variable of this name."""
        if name in self.own:
            return self
        return self.around.holder(name) if self.around else None

    def value(self, name: str) -> Any:
        """The value of a name that is no variable; MISSING where it has none."""
        if self.holder(name):
            return MISSING
        if name in self.source.names:
            return self.source.names[name]
        return getattr(builtins, name, MISSING)

    def kind(self, name: str) -> str | None:
        """The kind of a variable, where it is known."""
        holder = self.holder(name)
        return holder.kinds.get(name) if holder else None

    def temporary(self) -> str:
        """A name that is not in use."""
        if self.around:
            return self.around.temporary()
        self.temporaries += 1
        return f"$t{self.temporaries}"


def names_bound(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that statements bind, without those of functions and comprehensions inside."""
    found: set[str] = set()
    todo = list(nodes)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
            continue
        if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        todo += ast.iter_child_nodes(node)
    return found


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    """All parameters of a function, in order, without starred ones."""
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
