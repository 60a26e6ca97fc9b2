"""The users' guide of wrappers: its examples run, and it names every wrapper."""

from __future__ import annotations

import re
import sys
from types import ModuleType

import pytest
from support.places import ROOT

import rlenvs.wrappers

GUIDE = (ROOT / "docs" / "wrappers.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)


@pytest.mark.budget(3)
@pytest.mark.parametrize("example", EXAMPLES, ids=[text.strip().splitlines()[-1][:40] for text in EXAMPLES])
def test_examples_run(example, tmp_path, monkeypatch):
    pytest.importorskip("mujoco")
    module = ModuleType("guide_example")  # pickles look for classes in their module
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "docs/wrappers.md", "exec"), vars(module))


@pytest.mark.parametrize("name", [name for name in rlenvs.wrappers.__all__ if name not in ("wrap", "Wrapper")])
def test_the_guide_names(name):
    assert re.search(rf"\b{name}\b", GUIDE)


def test_names_are_where_they_are_said_to_be():
    for name in rlenvs.wrappers.__all__:
        assert getattr(rlenvs.wrappers, name).__name__ == name
    with pytest.raises(AttributeError, match="Sensr"):
        rlenvs.wrappers.Sensr  # noqa: B018
