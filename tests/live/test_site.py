"""The live environments of the site: which are written anew, and what is removed."""

import importlib.util
import json
import sys
from types import SimpleNamespace

import pytest
from support.places import ROOT

from rlenvs.core.catalogue.registry import world_of

NAMES = ("CartPole-v0", "Pendulum-v0", "Acrobot-v0")


class Here:
    """In the place of other processes."""

    def __init__(self, count):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    map = map


class Site:
    """A site whose environments are written by a stand-in.

    Attributes:
        rows: the environments. keys: of what they are made of. live: those that have a module.
        written: those that were written last, by name.
    """

    def __init__(self, folder, monkeypatch):
        monkeypatch.syspath_prepend(ROOT / "docs" / "web")  # for what it imports
        spec = importlib.util.spec_from_file_location("live", ROOT / "docs" / "web" / "live.py")
        self.module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "live", self.module)
        spec.loader.exec_module(self.module)
        self.key_of = self.module.key_of
        self.folder, self.rows, self.live = folder / self.module.FOLDER, list(NAMES), set(NAMES)
        self.keys, self.written = dict.fromkeys(NAMES, "1"), []
        replaced = {
            "documented": lambda: [SimpleNamespace(id=f"rlenvs/{name}") for name in self.rows],
            "key_of": lambda name: self.keys[name],
            "known_module": lambda setup, kernels: True if setup.world.name in self.live else None,
            "write_static": lambda folder: None,
            "write_environment": self.write,
            "ProcessPoolExecutor": Here,
        }
        for name, value in replaced.items():
            monkeypatch.setattr(self.module, name, value)

    def write(self, name, folder, kernels):
        self.written.append(name)
        module = folder / "kernels" / f"{name}-{self.keys[name]}.wasm"
        for path in (module, folder / name / f"{self.keys[name]}.image"):
            path.parent.mkdir(exist_ok=True)
            path.touch()
        levels = {level: {} for level in ("", *world_of(name).levels)}
        text = json.dumps({"module": f"../kernels/{module.name}", "levels": levels})
        (folder / name / "world.json").write_text(text)

    def built(self):
        """The live environments, and those that were written anew."""
        self.written.clear()
        return self.module.write(self.folder.parents[1]), list(self.written)

    def files(self):
        return {path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*.*") if path.is_file()}


@pytest.fixture
def site(tmp_path, monkeypatch):
    return Site(tmp_path, monkeypatch)


def test_an_environment_is_written_anew_when_something_has_changed(site):
    assert site.built() == (list(NAMES), list(NAMES))
    assert site.built() == (list(NAMES), [])
    site.keys["Pendulum-v0"] = "2"
    assert site.built() == (list(NAMES), ["Pendulum-v0"])
    (site.folder / "kernels" / "CartPole-v0-1.wasm").unlink()
    assert site.built() == (list(NAMES), ["CartPole-v0"])
    path = site.folder / "Acrobot-v0" / "world.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "levels": {"": {}}}))  # some levels had no module
    assert site.built() == (list(NAMES), ["Acrobot-v0"])
    assert site.built() == (list(NAMES), [])


def test_a_build_that_is_broken_off_leaves_nothing_that_counts_as_written(site, monkeypatch):
    site.built()
    site.keys = dict.fromkeys(NAMES, "2")
    write = site.write

    def fail(name, folder, kernels):
        write(name, folder, kernels)
        if name == "Pendulum-v0":
            raise OSError("no space")

    monkeypatch.setattr(site.module, "write_environment", fail)
    with pytest.raises(OSError, match="no space"):
        site.built()
    site.keys = dict.fromkeys(NAMES, "1")
    monkeypatch.setattr(site.module, "write_environment", write)
    assert site.built() == (list(NAMES), list(NAMES))


def test_what_is_not_live_any_more_is_removed(site):
    site.built()
    site.rows.remove("Acrobot-v0")
    site.live.remove("Pendulum-v0")
    site.keys |= {"CartPole-v0": "2", "Pendulum-v0": "2"}
    assert site.built()[0] == ["CartPole-v0"]
    assert site.files() == {
        *(f"CartPole-v0/{name}" for name in ("2.image", "world.json", "key.txt")),
        "kernels/CartPole-v0-2.wasm",
    }


ALL = {"CartPole-v0", "Acrobot-v0", "Chain-v0"}
PACKAGE = {  # a small one, with the files of three environments
    "rlenvs/__init__.py": "if TYPE_CHECKING:\n    from rlenvs.cli import play",
    "rlenvs/core/declare/rng.py": "",
    "rlenvs/live/export.py": "from rlenvs.agents.film import STYLE",
    "rlenvs/agents/film.py": "def style():\n    import rlenvs.agents.store",
    "rlenvs/agents/store.py": "",
    "rlenvs/agents/train.py": "import rlenvs.agents.film",
    "rlenvs/cli/play.py": "",
    "rlenvs/kits/poles.py": "",
    "rlenvs/kits/tables/__init__.py": "",
    "rlenvs/kits/tables/rows.py": "",
    "rlenvs/single/classic/cart_pole.py": "from rlenvs.kits import poles",
    "rlenvs/single/classic/acrobot.py": "import numpy as np",
    "rlenvs/single/tabular/chain.py": "from rlenvs.kits.tables.rows import ROWS",
}


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("rlenvs/single/classic/cart_pole.py", {"CartPole-v0"}),
        ("rlenvs/single/classic/golden.json", {"CartPole-v0", "Acrobot-v0"}),
        ("rlenvs/kits/poles.py", {"CartPole-v0"}),
        ("rlenvs/kits/tables/rows.py", {"Chain-v0"}),
        ("rlenvs/kits/tables/__init__.py", {"Chain-v0"}),
        ("rlenvs/kits/tables/fares.json", {"Chain-v0"}),
        ("rlenvs/core/declare/rng.py", ALL),
        ("rlenvs/core/units.json", ALL),
        ("rlenvs/live/export.py", ALL),
        ("rlenvs/agents/film.py", ALL),
        ("rlenvs/agents/store.py", ALL),
        ("rlenvs/__init__.py", ALL),
        ("agents/rlenvs_agents/Chain-v0/PPO.json", {"Chain-v0"}),
        ("agents/rlenvs_agents/Acrobot-v0/PPO.safetensors", {"Acrobot-v0"}),
        ("rlenvs/agents/train.py", set()),
        ("rlenvs/live/static/page.json", set()),
        ("rlenvs/single/classic/README.md", set()),
        ("rlenvs/single/tabular/taxi.py", set()),
        ("rlenvs/cli/play.py", set()),
        ("rlenvs/multi/boards/go.py", set()),
    ],
)
def test_an_edit_changes_the_live_pages_that_are_made_of_it(site, tmp_path, monkeypatch, file, expected):
    imports = sys.modules["imports"]
    for module in (imports, site.module):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    for name, text in {**PACKAGE, file: PACKAGE.get(file, "")}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    keys = []
    for edit in ("", " "):
        site.module._hash_of.cache_clear()
        imports.imported.cache_clear()
        (tmp_path / file).write_text((tmp_path / file).read_text() + edit)
        keys.append({name: site.key_of(name) for name in ALL})
    assert {name for name, key in keys[0].items() if keys[1][name] != key} == expected


def test_the_files_of_a_real_environment(site):
    """What its page is made of: the code that exports, its own, the kits that it uses, and no other family."""
    imports = sys.modules["imports"]
    reached = imports.followed(imports.files_of("rlenvs.single.tabular.chain"))
    names = {path.relative_to(ROOT).as_posix() for path in reached}
    assert {"rlenvs/single/tabular/chain.py", "rlenvs/core/declare/spec.py"} <= names
    assert any(name.startswith("rlenvs/kits/") for name in names)
    assert not any(name.startswith(("rlenvs/multi/", "rlenvs/robotics/", "rlenvs/single/classic/")) for name in names)
