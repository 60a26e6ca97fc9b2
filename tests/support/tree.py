"""What a test depends on: the files that it imports, the worlds that it names, and their data.

Families never import each other, so an edit in one family reaches the tests of that family alone. What is said in code
alone (a name put together from parts) is not seen; a tenth of what is skipped runs each time for that reason.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "rlenvs"
# who mentions these goes through all ids, or reads the repository's own files
WHOLE = {"list_envs", "documented", "catalogue", "stores", "ROOT"}
NAMED_ID = re.compile(r"\b(?:mo-)?[A-Z]\w*-v\d+\b")
NAMED_MODULE = re.compile(r"\b([a-z_][\w.]*)(?::[A-Z]|\.py\b)")
DATA_ENDINGS = {".json", ".toml", ".npz", ".csv", ".xz", ".txt", ".safetensors"}


@dataclass(frozen=True)
class Source:
    """What one file of Python says: the modules that it imports; of the tests' files what else matters to them."""

    imports: tuple[tuple[str, str], ...]  # (module, name taken from it), the name "" for the module itself
    ids: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()  # modules that strings name
    whole: frozenset[str] = frozenset()  # functions that mention WHOLE, directly or through the file's own names
    each: bool = False  # whether a test of those has parameters, which may be ids
    recordings: bool = False  # whether it mentions the folder of recordings


@dataclass(eq=False)
class Tree:
    """The files of the repository that git knows or does not ignore.

    Attributes:
        root: of the repository.
        versions: of Python and of all installed packages, a part of every key.
        committed: as the last commit has them, whatever was edited since.
        files: names, from the root.
    """

    root: Path = ROOT
    versions: str = ""
    committed: bool = False
    files: set[str] = field(init=False)
    _old: dict[str, bytes] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        listed = self._git("ls-files", "--cached", "--others", "--exclude-standard", "-z")
        self.files = {name for name in listed.split("\0") if name and (self.root / name).is_file()}
        if self.committed:
            edited = set(self._git("diff", "--name-only", "-z", "HEAD").split("\0")) - {""}
            there = set(self._git("ls-tree", "-r", "--name-only", "-z", "HEAD").split("\0"))
            self._old = {
                name: self._git("show", f"HEAD:{name}").encode(errors="surrogateescape") for name in edited & there
            }
            self.files = (self.files | edited) & there

    def _git(self, *arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=self.root, capture_output=True, check=True).stdout.decode(
            errors="surrogateescape"
        )

    # a tree lives as long as its process: what it caches may
    @functools.cache  # noqa: B019
    def read(self, name: str) -> bytes:
        """A file's bytes."""
        return self._old[name] if name in self._old else (self.root / name).read_bytes()

    # --- keys ---------------------------------------------------------------------------------------------------------

    @functools.cached_property
    def key(self) -> str:
        """Of everything."""
        return self._hash_of(frozenset(self.files))

    @functools.cache  # noqa: B019
    def key_of(self, file: str, id: str = "") -> str:
        """Of a file of tests, for one id where it is about an id: the others that the file names do not count then."""
        parts = [self._hash_of(self.closure(file, named=not id))]
        parts += [self._hash_of(self.world_files(id)), self._rows[id]] if id else []
        return _short("\n".join(parts))

    @functools.cache  # noqa: B019
    def _hash_of(self, names: frozenset[str]) -> str:
        return _short("\n".join([self.versions, *(f"{name} {self.digest(name)}" for name in sorted(names))]))

    @functools.cache  # noqa: B019
    def digest(self, name: str) -> str:
        """Of one file's bytes."""
        return _short(self.read(name))

    # --- what a file of tests reaches ---------------------------------------------------------------------------------

    @functools.cache  # noqa: B019
    def closure(self, file: str, named: bool = True) -> frozenset[str]:
        """The files that a file of tests depends on: by imports, by the ids that it and its helpers name, and data.

        Args:
            file: of tests.
            named: whether the ids that it names count.
        """
        reached = self._follow([file, *self._conftests(file), *self._core])
        own = [name for name in reached if name.startswith("tests/")]
        ids = {id for name in own for id in self.source(name).ids if id in self.ids} if named else set()
        return frozenset(reached).union(*(self.world_files(id) for id in ids), self._data_of(reached, own))

    @functools.cache  # noqa: B019
    def world_files(self, id: str) -> frozenset[str]:
        """The files that one environment is made of, with the data of its family."""
        reached = self._follow([self._file_of(self.ids[id].split(":")[0])])
        return frozenset(reached) | self._data_of(reached, [])

    def family(self, id: str) -> str:
        """The package of an id's world, such as rlenvs.robotics.driving."""
        return ".".join(self.ids[id].split(":")[0].split(".")[:3])

    @functools.cached_property
    def ids(self) -> dict[str, str]:
        """The addresses of the registered worlds by name, those of several objectives included."""
        return {name: json.loads(row)["address"] for name, row in self._rows.items()}

    @functools.cached_property
    def _rows(self) -> dict[str, str]:
        rows = json.loads(self.read(f"{PACKAGE}/catalogue.json"))
        return {name: json.dumps(row) for row in rows for name in (row["id"], "mo-" + row["id"])}

    @functools.cached_property
    def _core(self) -> list[str]:
        inside = [name for name in self.files if name.startswith("rlenvs/core/") and name.endswith(".py")]
        return ["rlenvs/__init__.py", *inside]

    def _conftests(self, file: str) -> list[str]:
        parents = [str(parent / "conftest.py") for parent in Path(file).parents]
        return [name for name in parents if name in self.files]

    def _follow(self, starts: Iterable[str]) -> set[str]:
        seen: set[str] = set()
        todo = [name for name in starts if name]
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo += self._neighbours(name)
        return seen

    @functools.cache  # noqa: B019
    def _neighbours(self, name: str) -> list[str]:
        if not name.endswith(".py"):
            return []
        source = self.source(name)
        pairs = [*source.imports, *((module, "") for module in source.named)]
        return [file for module, taken in pairs for file in self._files_of(module, taken)]

    def _files_of(self, module: str, taken: str) -> list[str]:
        """The files that `from module import taken` runs; of a package's lazy names the module where one lives."""
        inner = self._file_of(f"{module}.{taken}") if taken else ""
        outer = self._file_of(module)
        home = self._lazy_homes(outer).get(taken, "") if outer.endswith("__init__.py") else ""
        return [name for name in (inner, outer, self._file_of(home) if home else "") if name]

    @functools.cache  # noqa: B019
    def _lazy_homes(self, name: str) -> dict[str, str]:
        """Where the names live that a package loads at first use: as it says it to type checkers."""
        homes = {}
        for node in ast.parse(self.read(name).decode()).body:
            if _for_type_checkers(node):
                inner = [line for line in node.body if isinstance(line, ast.ImportFrom) and line.module]
                homes |= {alias.asname or alias.name: line.module for line in inner for alias in line.names}
        return homes

    @functools.cache  # noqa: B019
    def _file_of(self, module: str) -> str:
        path = module.replace(".", "/")
        choices = [f"{path}.py", f"{path}/__init__.py", f"tests/{path}.py", f"tests/{path}/__init__.py"]
        return next((name for name in choices if name in self.files), "")

    def _data_of(self, reached: Iterable[str], own: Iterable[str]) -> frozenset[str]:
        """The data beside the worlds that are reached, recordings where a test reads them, agents where it plays."""
        folders = {_folder(name) for name in reached if name.count("/") >= 3 and name.startswith(PACKAGE)}
        if any(self.source(name).recordings for name in own):
            folders.add("tests/data")
        found = frozenset(name for folder in folders for name in self._data.get(folder, ()))
        plays = any(name.startswith("rlenvs/agents/") for name in reached)
        return found | self._agents if plays else found

    @functools.cached_property
    def _data(self) -> dict[str, list[str]]:
        """Files of data by their folder."""
        found: dict[str, list[str]] = {}
        for name in self.files:
            if Path(name).suffix in DATA_ENDINGS:
                found.setdefault(_folder(name), []).append(name)
        return found

    @functools.cached_property
    def _agents(self) -> frozenset[str]:
        inside = ("agents/", "rlenvs/agents/")
        return frozenset(name for folder in self._data for name in self._data[folder] if name.startswith(inside))

    # --- what one file says -------------------------------------------------------------------------------------------

    @functools.cache  # noqa: B019
    def source(self, name: str) -> Source:
        """What one file of Python says."""
        text = self.read(name).decode()
        tree = ast.parse(text)
        imports = tuple(sorted(set(_imports(tree))))
        if not name.startswith("tests/"):
            return Source(imports)
        whole = frozenset(_tainted(tree))
        each = any(_has_parameters(node) for node in tree.body if getattr(node, "name", "") in whole)
        ids, named = frozenset(NAMED_ID.findall(text)), frozenset(NAMED_MODULE.findall(text))
        return Source(imports, ids, named, whole, each, "DATA" in text)


def _short(told: str | bytes) -> str:
    return hashlib.sha256(told.encode() if isinstance(told, str) else told).hexdigest()[:20]


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _for_type_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """What is imported, inside functions too, but for type checkers; and `rlenvs.evaluate`, which loads a module."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if _for_type_checkers(node):
            continue
        todo += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == PACKAGE:
            yield PACKAGE, node.attr


def _has_parameters(node: ast.AST) -> bool:
    marks = getattr(node, "decorator_list", [])
    return any(getattr(part, "attr", "") == "parametrize" for mark in marks for part in ast.walk(mark))


def _word(node: ast.AST) -> str:
    """The name that a node of syntax mentions."""
    return getattr(node, {ast.Name: "id", ast.Attribute: "attr", ast.arg: "arg"}.get(type(node), "_"), "")


def _tainted(tree: ast.Module) -> set[str]:
    """The file's own names that mention WHOLE, or another of the file's names that does."""
    mentions: dict[str, set[str]] = {}
    for node in tree.body:
        words = {_word(part) for part in ast.walk(node)}
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            mentions[node.name] = words
        elif isinstance(node, ast.Assign):
            mentions |= {part.id: words for target in node.targets for part in ast.walk(target) if hasattr(part, "id")}
    found: set[str] = set()
    while True:
        more = {name for name, words in mentions.items() if words & (WHOLE | found)} - found
        if not more:
            return found
        found |= more
