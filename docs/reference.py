"""Write docs/reference.md: every public name, with its arguments and the first words of its doc string.

    python docs/reference.py

Public is what a module names in `__all__`, and what CLASSES lists. Modules are read, not imported, so that no extra is
needed.
"""

from __future__ import annotations

import ast
import functools
import importlib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference.md"
LAZY = (
    "rlenvs",
    "rlenvs.bridge",
    "rlenvs.core",
    "rlenvs.pareto",
    "rlenvs.wrappers",
)  # packages whose names lie in their modules
# what makers of environments return, and what refusals raise
CLASSES = {
    "rlenvs.core.forms.gym_env": ("Env",),
    "rlenvs.core.forms.vector_env": ("VectorEnv",),
    "rlenvs.core.forms.parallel_env": ("ParallelEnv",),
    "rlenvs.core.forms.text_env": ("TextEnv", "TextParallelEnv"),
    "rlenvs.core.batch.kernel_batch": ("KernelBatch",),
    "rlenvs.core.catalogue.registry": ("world_of",),
    "rlenvs.core.declare.errors": None,  # all
}
FIELD_TYPES = "rlenvs.core.declare.layout"  # b1, f8, ..., with which world files declare states; not listed
HEAD = """# Reference

Every public name, with the first words of its doc string; `help(name)` tells all. What is not here is internal, and may
change without notice. Methods of a base class are listed with that class alone, and a name that two modules have is
described where it comes first. Environments have [pages of their own](environments/README.md); the command line
explains itself with `rlenvs --help` and `rlenvs COMMAND --help`. Written by `python docs/reference.py`.
"""


@dataclass(frozen=True)
class Public:
    """A public name: the module that it is imported from, the module that holds it, and the lines that define it."""

    module: str
    home: str
    name: str

    def definition(self) -> ast.stmt | ast.Module:
        """The function, class, assignment or module; SystemExit where the module has none of this name."""
        if path_of(f"{self.home}.{self.name}").exists():
            return tree(f"{self.home}.{self.name}")
        for node in tree(self.home).body:
            names = [getattr(node, "name", None), *(getattr(target, "id", None) for target in targets_of(node))]
            if self.name in names:
                return node
        raise SystemExit(f"{self.home} does not define {self.name}")


def path_of(module: str) -> Path:
    """The file of a module or package."""
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@functools.cache
def tree(module: str) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(path_of(module).read_text(encoding="utf-8"))


@functools.cache
def classes() -> dict[str, ast.ClassDef]:
    """All classes of the package by name."""
    modules = [path.relative_to(ROOT).with_suffix("").parts for path in (ROOT / "rlenvs").rglob("*.py")]
    nodes = [node for parts in modules for node in tree(".".join(parts).removesuffix(".__init__")).body]
    return {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}


def bases_of(node: ast.ClassDef) -> list[ast.ClassDef]:
    """The classes of the package that a class inherits from, at any distance."""
    names = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
    near = [classes()[base.id] for base in names if isinstance(base, ast.Name) and base.id in classes()]
    return [each for base in near for each in (base, *bases_of(base))]


def targets_of(node: ast.stmt) -> list[ast.expr]:
    """What an assignment assigns to; names of a tuple are told apart."""
    found = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [part for target in found for part in (target.elts if isinstance(target, ast.Tuple) else [target])]


def homes_in(package: str) -> dict[str, str]:
    """The names of a package that are loaded at first use, and their modules."""
    (block,) = [node for node in tree(package).body if isinstance(node, ast.If)]
    return {alias.name: line.module for line in block.body for alias in line.names}


def public_names() -> list[Public]:
    """All public names but those of field types: of the packages with lazy names first, then of single modules."""
    found = []
    for package in LAZY:
        homes = homes_in(package)
        names = [name for name in importlib.import_module(package).__all__ if homes[name] != FIELD_TYPES]
        found += [Public(package, homes[name], name) for name in names]
    for path in sorted((ROOT / "rlenvs").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for node in tree(module).body:
            if any(getattr(target, "id", "") == "__all__" for target in targets_of(node)):
                found += [Public(module, module, name) for name in ast.literal_eval(node.value)]
    for module, names in CLASSES.items():
        every = [node.name for node in tree(module).body if isinstance(node, ast.ClassDef)]
        found += [Public(module, module, name) for name in (every if names is None else names)]
    return found


def first_words(node: ast.AST) -> str:
    """The first paragraph of a doc string."""
    text = ast.get_docstring(node) or "" if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)) else ""
    return " ".join(text.partition("\n\n")[0].split())


def call_of(name: str, function: ast.FunctionDef | None) -> str:
    """A name with its arguments and their defaults."""
    if function is None:
        return name
    arguments = function.args
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
        if argument is not None:
            argument.annotation = None
    first = [*arguments.posonlyargs, *arguments.args][:1]
    if first and first[0].arg in ("self", "cls"):
        arguments.args = arguments.args[1:]
    return f"{name}({ast.unparse(arguments)})"


def made_by(node: ast.ClassDef) -> str:
    """A class with the arguments that make it, or with its fields."""
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and part.name == "__init__":
            return call_of(node.name, part)
    fields = [
        part.target.id for part in node.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
    ]
    return f"{node.name}({', '.join(name for name in fields if name[0] != '_')})" if fields else node.name


def methods_of(node: ast.ClassDef) -> list[ast.FunctionDef]:
    """The public methods and properties that have a doc string, but for those of its base classes."""
    inherited = {part.name for base in bases_of(node) for part in base.body if isinstance(part, ast.FunctionDef)}
    functions = [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name not in inherited]
    return [function for function in functions if function.name[0] != "_" and ast.get_docstring(function)]


def value_of(node: ast.stmt | ast.Module, name: str) -> str:
    """What a constant is, in code."""
    if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
        return ""
    names = [getattr(target, "id", None) for target in targets_of(node)]
    parts = node.value.elts if isinstance(node.value, ast.Tuple) and len(names) > 1 else [node.value]
    return f"`{ast.unparse(parts[names.index(name)])}`."


def lines_of(public: Public) -> list[str]:
    """What the reference says of a name."""
    node = public.definition()
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
        meant = Public(public.module, public.home, node.value.id).definition()
        return [f"- `{made_by(meant).replace(node.value.id, public.name, 1)}`: another name of `{node.value.id}`."]
    if not isinstance(node, ast.ClassDef):
        function = node if isinstance(node, ast.FunctionDef) else None
        return [f"- `{call_of(public.name, function)}`: {first_words(node) or value_of(node, public.name)}"]
    lines = [f"- `{made_by(node)}`: {first_words(node)}"]
    for method in methods_of(node):
        plain = any(getattr(mark, "id", "") in ("property", "cached_property") for mark in method.decorator_list)
        lines.append(f"    - `.{method.name if plain else call_of(method.name, method)}`: {first_words(method)}")
    return lines


def reference() -> str:
    """The whole page."""
    found, first = public_names(), {}
    for public in found:
        first.setdefault((public.home, public.name), public)
    parts = [HEAD]
    for module in dict.fromkeys(public.module for public in found):
        parts.append(f"\n## {module}\n\n{first_words(tree(module))}\n\n")
        for public in [public for public in found if public.module == module]:
            earlier = first[public.home, public.name]
            lines = lines_of(public) if earlier is public else [f"- `{public.name}`: see {earlier.module}."]
            parts += [f"{line}\n" for line in lines]
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
    print(f"{len(public_names())} names in {PAGE.relative_to(ROOT)}")
