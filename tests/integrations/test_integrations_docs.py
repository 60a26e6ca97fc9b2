"""docs/integrations.md: its examples run, where their libraries are installed, and its files exist."""

import importlib.util
import re
import sys
from types import ModuleType

import pytest
from support.places import ROOT

GUIDE = (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
ADAPTERS = {"rlenvs.integrations.torchrl": "torchrl", "rlenvs.integrations.safety": "omnisafe"}


@pytest.mark.parametrize("example", EXAMPLES, ids=[text.strip().splitlines()[-1][:40] for text in EXAMPLES])
def test_examples_run(example, tmp_path, monkeypatch):
    needed = set(re.findall(r"^(?:import|from) (\w+)", example, re.MULTILINE)) - {"rlenvs"}
    needed |= {library for adapter, library in ADAPTERS.items() if adapter in example}
    for library in needed:
        if importlib.util.find_spec(library) is None:
            pytest.skip(f"{library} is not installed")
    if importlib.util.find_spec("torch"):
        importlib.import_module("torch").set_num_threads(1)  # the networks are small
    module = ModuleType("guide_example")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "docs/integrations.md", "exec"), vars(module))


def test_files_and_headings_that_it_names_exist():
    for name in re.findall(r"`(test_\w+\.py)`", GUIDE):
        assert list((ROOT / "tests").rglob(name)), name
    for name in re.findall(r"`integrations\.(\w+)`", GUIDE):
        assert (ROOT / "rlenvs" / "integrations" / f"{name}.py").exists(), name
    headings = {text.lower().replace(" ", "-") for text in re.findall(r"^## (.+)$", GUIDE, re.MULTILINE)}
    assert set(re.findall(r"\(#([\w-]+)\)", GUIDE)) <= headings
    for name in re.findall(r"\]\((\w+\.md)\)", GUIDE):
        assert (ROOT / "docs" / name).exists(), name
    assert (ROOT / "examples" / "rl_zoo3.yml").exists()
