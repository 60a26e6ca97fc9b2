"""Modules import each other in no circle, not even inside functions, and none below the top imports the top."""

import graphlib

import pytest
from support.tree import Tree

TREE = Tree()


def graph_of(tree):
    """The package's modules and those that each imports, wherever in the file, but for type checkers.

    A name that a package loads at first use counts as an import of the module where it lives."""
    names = sorted(name for name in tree.files if name.startswith("rlenvs/") and name.endswith(".py"))
    return {name: set(tree._neighbours(name)) - {name} for name in names}


def circle_in(graph):
    """Modules of a circle in order, the first one again at the end; none: []."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1][::-1]
    return []


@pytest.mark.budget(4)
def test_no_modules_import_each_other_in_a_circle():
    graph = graph_of(TREE)
    assert len(graph) > 500
    assert not circle_in(graph), " imports ".join(circle_in(graph))


def test_no_module_imports_the_package_from_below():
    """The version is in rlenvs.version, `make` in rlenvs.core.catalogue.make."""
    upward = [name for name, imported in graph_of(TREE).items() if "rlenvs/__init__.py" in imported]
    assert not upward, f"{', '.join(upward)}: import the module where the name lives, not rlenvs"


def test_a_circle_behind_functions_is_found():
    """Also one that is closed by a name that a package loads at first use."""
    tree = Tree()
    told = {
        "rlenvs/a.py": "def f():\n    from rlenvs.b import g\n",
        "rlenvs/b.py": "import rlenvs\n\ndef g():\n    rlenvs.h()\n",
        "rlenvs/__init__.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from rlenvs.a import h as h\n",
    }
    tree.files = set(told)
    tree._old = {name: text.encode() for name, text in told.items()}
    assert set(circle_in(graph_of(tree))) == {"rlenvs/a.py", "rlenvs/b.py"}
