"""Which tests are due: what an edit can have touched, and no wrong record hides a failure for long."""

import json
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from support import rotation, selection, suite
from support.cross_section import KINDS
from support.places import ROOT
from support.record import ASSUMED, GROUPS, SAMPLED, Record
from support.rotation import few_in_turn, has_its_turn
from support.selection import PLAN
from support.suite import Part, Unit, due_of, keys_of, load_record, main, options, part_of, units_of, with_slow_tests
from support.tree import Tree

from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.compiler.build import CompiledDriver
from rlenvs.core.declare.setup import Setup

FILES = {
    "rlenvs/__init__.py": "import json, pathlib\ndef list_envs():\n"
    "    rows = json.loads(pathlib.Path(__file__).with_name('catalogue.json').read_text())\n"
    "    return ['rlenvs/' + row['id'] for row in rows]\n",
    "rlenvs/core/declare/rng.py": "SEED = 1\n",
    "rlenvs/kits/roads.py": "LANES = 2\n",
    "rlenvs/single/grid/walk.py": "from rlenvs.kits.roads import LANES\nSPEC = LANES\n",
    "rlenvs/single/grid/golden.json": "{}\n",
    "rlenvs/multi/chess/game.py": "SPEC = 4\n",
    "rlenvs/wrappers/__init__.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
    "    from rlenvs.wrappers.noise import Noise\n    from rlenvs.wrappers.shield import Shield\nNoise = 1\n",
    "rlenvs/wrappers/noise.py": "Noise = 1\n",
    "rlenvs/wrappers/shield.py": "Shield = 1\n",
    "README.md": "text\n",
    "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['tests', '.']\n",
    "tests/conftest.py": "",
    "tests/core/test_rng.py": "from rlenvs.core.declare.rng import SEED\ndef test_seed():\n    assert SEED == 1\n",
    "tests/core/test_each.py": "import pytest\nfrom rlenvs import list_envs\n"
    "@pytest.mark.parametrize('id', list_envs())\n"
    "def test_each(id):\n    assert id\n\ndef test_apart():\n    pass\n",
    "tests/single/test_walk.py": "from rlenvs.single.grid.walk import SPEC\ndef test_walk():\n    assert SPEC == 2\n",
    "tests/multi/test_chess.py": "NAME = 'Chess-v0'\ndef test_chess():\n    pass\n",
    "tests/wrappers/test_noise.py": "from rlenvs.wrappers import Noise\ndef test_noise():\n    assert Noise\n",
    "tests/project/test_page.py": "from support.places import ROOT\ndef test_page():\n    assert ROOT\n",
}
ROWS = [
    {"id": "Walk-v0", "address": "rlenvs.single.grid.walk:SPEC"},
    {"id": "Chess-v0", "address": "rlenvs.multi.chess.game:SPEC"},
]
EACH = "tests/core/test_each.py"


def git(folder, *arguments):
    told = ("-c", "user.name=a", "-c", "user.email=a@b", *arguments)
    subprocess.run(["git", *told], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A small repository of the same shape, and a record of its own."""
    monkeypatch.setenv("RLENVS_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "repository"
    for name, text in {**FILES, "rlenvs/catalogue.json": json.dumps(ROWS)}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def due(folder, everything=False):
    """The names of what would run."""
    tree = Tree(folder, "1")
    units = units_of(tree)
    return {u.name for u in due_of(units, keys_of(tree, units), load_record(tree, options([])), everything)}


def all_green(folder):
    tree = Tree(folder, "1")
    keys = keys_of(tree, units_of(tree))
    record = Record()
    record.passed(dict.fromkeys(keys, 0.1), keys)
    record.save(folder.parent / "cache" / "tests.json")


def edit(folder, name, text="# edited\n"):
    with (folder / name).open("a") as file:
        file.write(text)


WALK = {"tests/single/test_walk.py", f"{EACH} Walk-v0", f"{EACH} mo-Walk-v0"}
CHESS = {"tests/multi/test_chess.py", f"{EACH} Chess-v0", f"{EACH} mo-Chess-v0"}
LOOKS = {f"{EACH} *", "tests/project/test_page.py *"}  # at everything


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("rlenvs/single/grid/walk.py", WALK | LOOKS),
        ("rlenvs/single/grid/golden.json", WALK | LOOKS),
        ("rlenvs/kits/roads.py", WALK | LOOKS),
        ("rlenvs/multi/chess/game.py", CHESS | LOOKS),
        ("rlenvs/wrappers/noise.py", {"tests/wrappers/test_noise.py"} | LOOKS),
        ("rlenvs/wrappers/shield.py", LOOKS),
        ("README.md", LOOKS),
        ("tests/single/test_walk.py", {"tests/single/test_walk.py"} | LOOKS),
        ("tests/core/test_each.py", {unit for unit in WALK | CHESS if EACH in unit} | LOOKS | {EACH}),
    ],
)
def test_an_edit_makes_due_what_depends_on_it(repository, monkeypatch, file, expected):
    all_green(repository)
    monkeypatch.setattr(Record, "_is_recent", lambda *told: True)  # what the rotation adds is tested below
    assert due(repository, True) == set()
    edit(repository, file, " " if file.endswith(".json") else "# edited\n")
    assert due(repository, True) == expected


def test_an_id_that_a_file_names_does_not_make_its_tests_of_other_ids_due(repository, monkeypatch):
    file = repository / EACH
    file.write_text(file.read_text() + "SLOW = {'Walk-v0'}\n")
    all_green(repository)
    monkeypatch.setattr(Record, "_is_recent", lambda *told: True)
    edit(repository, "rlenvs/single/grid/walk.py")
    assert {EACH, f"{EACH} Walk-v0"} <= due(repository, True)
    assert f"{EACH} Chess-v0" not in due(repository, True)


@pytest.mark.parametrize("file", ["rlenvs/core/declare/rng.py", "tests/conftest.py"])
def test_an_edit_in_the_core_makes_everything_due(repository, file):
    all_green(repository)
    edit(repository, file)
    tree = Tree(repository, "1")
    assert due(repository) == {unit.name for unit in units_of(tree)}


def test_other_versions_make_everything_due(repository):
    tree, newer = Tree(repository, "1"), Tree(repository, "2")
    keys, others = keys_of(tree, units_of(tree)), keys_of(newer, units_of(newer))
    assert not set(keys.items()) & set(others.items())


def test_a_row_of_the_catalogue_is_of_its_id_alone(repository):
    names = ("Walk-v0", "Chess-v0")
    before = [Tree(repository, "1").key_of(EACH, name) for name in names]
    rows = [ROWS[0], {**ROWS[1], "summary": "another"}]
    (repository / "rlenvs" / "catalogue.json").write_text(json.dumps(rows))
    after = [Tree(repository, "1").key_of(EACH, name) for name in names]
    assert before[0] == after[0]
    assert before[1] != after[1]


def test_a_fresh_clone_runs_a_cross_section_and_all_of_it_on_request(repository):
    units = {unit.name for unit in units_of(Tree(repository, "1"))}
    core = {"tests/core/test_rng.py", EACH, f"{EACH} *"}
    assert due(repository) == core
    assert due(repository, True) == units
    edit(repository, "rlenvs/multi/chess/game.py")  # before the first run: what was checked out is not what is here
    assert due(repository) == core | CHESS | LOOKS


@pytest.mark.parametrize("start", [1, 7, 10, 1003])
def test_a_poisoned_record_hides_a_failure_for_ten_runs_at_most(start):
    """Every unit is recorded as green with the key that it has."""
    names = [f"tests/core/test_{number}.py" for number in range(200)]
    record = Record(start, {name: {"key": "k", "run": start, "date": "2026-01-01"} for name in names})
    found, shares = set(), []
    for _ in range(GROUPS):
        record.run += 1
        now = {name for name in names if name not in found and not record.is_green(name, "k")}
        shares.append(len(now))
        found |= now
    assert found == set(names)
    assert max(shares) < 40  # about a tenth at a time


@pytest.mark.parametrize("run", [12, 10**9, "3", None, -1])
def test_a_forged_number_of_a_run_is_not_believed(run):
    record = Record(11, {"a": {"key": "k", "run": run, "date": "2026-01-01"}})
    assert not record.is_green("a", "k", {ASSUMED, SAMPLED})


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"run": 1}', '{"run": "x", "green": {}}', '{"run": 1, "green": {"a": 3}}']
)
def test_a_damaged_record_counts_as_none(tmp_path, text):
    (tmp_path / "tests.json").write_text(text)
    assert Record.load(tmp_path / "tests.json") is None


@pytest.mark.budget(11)
def test_a_test_broken_on_purpose_is_found_in_spite_of_its_green_entry(repository, monkeypatch, capsys):
    """Its file was edited without anything that the key sees: by the record itself."""
    (repository / "tests/single/test_walk.py").write_text("def test_walk():\n    assert False\n")
    for file in {*FILES} - {"tests/conftest.py", "tests/single/test_walk.py"}:
        if file.startswith("tests/"):
            (repository / file).unlink()
    all_green(repository)
    monkeypatch.setattr(suite, "compile_for", lambda *told: 0)
    codes = [main(["--all", "--jobs", "1"], repository) for _ in range(GROUPS)]
    assert codes[-1] == 1
    assert codes == sorted(codes)
    assert "tests/single/test_walk.py::test_walk" in capsys.readouterr().out


def test_units_are_told_apart_where_tests_are_collected(repository):
    tree = Tree(repository, "1")
    report = repository.parent / "report"
    plan = {
        "units": [f"{EACH} Chess-v0"],
        "ids": list(tree.ids),
        "whole": {EACH: sorted(tree.source(EACH).whole)},
        "report": str(report),
    }
    (repository / "plan").write_text(json.dumps(plan))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "support.selection", "-p", "no:cacheprovider", EACH]
    paths = f"{ROOT / 'tests'}:{repository}"
    environment = {"PYTHONPATH": paths, PLAN: "plan", "PATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(command, cwd=repository, env=environment, check=True, capture_output=True)
    tests = json.loads(report.read_text())["tests"]
    assert list(tests) == [f"{EACH}::test_each[rlenvs/Chess-v0]"]
    assert tests[f"{EACH}::test_each[rlenvs/Chess-v0]"]["unit"] == f"{EACH} Chess-v0"


def test_a_process_that_dies_leaves_nothing_green():
    part = Part("a", [Unit("tests/a.py"), Unit("tests/b.py")], code=-11, began=True)
    part.tests = {"tests/a.py::test": {"unit": "tests/a.py", "failed": False, "seconds": 1.0}}
    assert part.outcome() == ({}, {"tests/a.py", "tests/b.py"})
    part.code = 1
    assert part.outcome() == ({"tests/a.py": 1.0, "tests/b.py": 0.0}, set())
    part.tests["tests/a.py::test"]["failed"] = True
    assert part.outcome() == ({"tests/b.py": 0.0}, {"tests/a.py"})


def test_slow_tests_run_whatever_is_recorded(repository):
    all_green(repository)
    record = load_record(Tree(repository, "1"), options(["--slow"]))
    assert {entry["date"] for entry in record.green.values()} == {
        "assumed"
    }  # which counts for nothing where all is due


def test_a_sixteenth_of_the_slow_tests_runs_with_each_commit(repository, monkeypatch, capsys):
    test = repository / "tests/single/test_walk.py"
    test.write_text(
        "import pytest\n@pytest.mark.slow\n@pytest.mark.parametrize('k', range(400))\ndef test_walk(k):\n    pass\n"
    )
    tree = Tree(repository, "1")
    assert [unit.name for unit in with_slow_tests(tree, units_of(tree))] == ["tests/single/test_walk.py"]
    assert main(["--turn"], repository) == 0
    count = int(re.search(r"(\d+) tests, ", capsys.readouterr().out)[1])
    assert 10 < count < 50
    assert load_record(tree, options([])).green["tests/single/test_walk.py"]["date"] == "assumed"


BUDGET = "import pytest\nimport time\n@pytest.mark.budget(0.05)\ndef test_walk():\n"
BUSY = "    end = time.process_time() + 1.0\n    while time.process_time() < end:\n        pass\n"


@pytest.mark.budget(18)
@pytest.mark.parametrize(
    ("test", "told", "fails"),
    [
        (BUDGET + BUSY, True, True),
        (BUDGET + "    pass\n", False, False),
        (BUDGET.replace("budget(0.05)", "slow") + BUSY, False, False),
    ],
)
def test_tests_keep_their_budgets(repository, monkeypatch, capsys, test, told, fails):
    monkeypatch.setattr(suite, "compile_for", lambda *told: 0)
    (repository / "tests/single/test_walk.py").write_text(test)
    monkeypatch.setenv(suite.BUDGETS_KEPT, "1")
    assert (main(["--slow", "--jobs", "1"], repository) > 0) is fails
    assert ("over its budget: tests/single/test_walk.py::test_walk" in capsys.readouterr().out) is told
    monkeypatch.delenv(suite.BUDGETS_KEPT)
    assert main(["--slow", "--jobs", "1"], repository) == 0


def test_small_parts_share_a_process_of_their_area(monkeypatch):
    units = [Unit(f"tests/robotics/test_{name}.py", str(k)) for name in "ab" for k in range(suite.FEW)]
    units += [Unit("tests/robotics/test_b.py", "one more"), Unit("tests/project/test_page.py")]
    rooms = {"tests/robotics/test_a.py": "robotics a", "tests/robotics/test_b.py": "robotics b"}
    monkeypatch.setattr(suite, "part_of", lambda tree, unit: rooms.get(unit.file, "project 2"))
    parts = {part.name: len(part.units) for part in suite.parts_of(None, units, Record())}
    assert parts == {"robotics": suite.FEW, "robotics b": suite.FEW + 1, "project 2": 1}


CASES = "import pytest\n@pytest.mark.parametrize('k', range(30))\ndef test_seed(k):\n    pass\n"


@pytest.mark.budget(15)
def test_of_what_was_checked_out_a_few_cases_run_and_all_of_what_was_edited(repository, monkeypatch, capsys):
    """Until all is asked for; a sample stands for nothing else."""
    monkeypatch.setattr(suite, "compile_for", lambda *told: 0)
    file = repository / "tests/core/test_rng.py"
    file.write_text(CASES)
    git(repository, "commit", "-q", "-a", "-m", "cases")

    def ran(*arguments):
        assert main(list(arguments), repository) == 0
        return int(re.search(r"(\d+) tests, ", capsys.readouterr().out)[1])

    assert ran() == selection.CASES + 1  # of test_each.py what is of no id
    assert ran() == 0
    assert ran("--all") == 30 + 7
    assert ran("--all") == 0
    file.write_text(CASES + "# edited\n")
    assert ran() == 30 + 1  # and test_page.py, which reads all files


def test_samples_go_through_all_cases(monkeypatch):
    names = [f"tests/a.py::test[{k}]" for k in range(7)]
    turns = []
    for count in range(7):
        monkeypatch.setattr(rotation, "commits", lambda count=count: count)
        turns.append(few_in_turn(names, 2))
        assert len(turns[-1]) == 2
    assert set.union(*turns[:4]) == set(names)
    assert few_in_turn(names[:1], 2) == set(names[:1])
    assert few_in_turn([], 2) == set()


def test_each_name_has_its_turn_once(monkeypatch):
    names = [f"tests/a.py::test[{k}]" for k in range(100)]
    turns = []
    for count in range(8):
        monkeypatch.setattr(rotation, "commits", lambda count=count: count)
        turns += [name for name in names if has_its_turn(name, 8)]
    assert sorted(turns) == sorted(names)
    monkeypatch.setattr(rotation, "commits", lambda: None)
    assert all(has_its_turn(name, 8) for name in names)


def test_what_comes_too_late_is_neither_green_nor_red(repository, monkeypatch, capsys):
    monkeypatch.setattr(suite, "compile_for", lambda *told: 0)
    assert main(["--all", "--minutes", "0"], repository) > 0
    (told,) = re.findall("left out for want of time, and still due: (.*)", capsys.readouterr().out)
    assert {"multi", "single", "wrappers"} <= set(told.split(", "))
    assert due(repository, True) == {unit.name for unit in units_of(Tree(repository, "1"))}


def test_every_family_has_a_kind_in_the_cross_section():
    tree = Tree()
    assert set(KINDS) == {tree.family(id) for id in tree.ids}
    for family, (id, file) in KINDS.items():
        assert tree.family(id) == family
        assert file in tree.files
        assert part_of(tree, Unit(file)) == part_of(tree, Unit(EACH, id))


@pytest.mark.budget(7)
def test_edits_of_one_family_do_not_reach_another():
    """Of the repository as it is: most of the tests stay green when one family changes."""
    tree = Tree()
    files = [unit.file for unit in units_of(tree) if not unit.id]
    touched = {
        file for file in files if any(name.startswith("rlenvs/robotics/driving/") for name in tree.closure(file))
    }
    assert "tests/robotics/test_driving.py" in touched
    assert "tests/robotics/test_panda_push.py" not in touched
    assert len(touched) < len(files) / 3


def test_kinds_that_did_not_change_are_not_compiled(monkeypatch, tmp_path):
    """Tests of worlds that would have to be compiled are skipped, those of toys are not."""
    monkeypatch.setenv("RLENVS_CACHE_DIR", str(tmp_path))
    setup = Setup(world_of("LightsOut-v0"))
    fresh = CompiledDriver.__new__(CompiledDriver)
    fresh.world, asked = setup.world, []
    entry = SimpleNamespace(_cache=SimpleNamespace())
    monkeypatch.setattr(CompiledDriver, "compile_entry", lambda driver, entry: entry._cache.when_missing())
    for ids, chosen, skipped in (
        (["LightsOut-v0"], ["CartPole-v0"], True),
        (["LightsOut-v0"], ["LightsOut-v0"], False),
        (["CartPole-v0"], ["CartPole-v0"], False),  # as toys are of no id
        ([], ["CartPole-v0"], False),
    ):
        named = []
        with selection.other_kinds_skipped(ids, chosen, named):
            if skipped:
                with pytest.raises(pytest.skip.Exception, match="LightsOut-v0 is of a kind that did not change"):
                    fresh._finished(entry, lambda: asked.append(1))
            else:
                fresh._finished(entry, lambda: asked.append(1))
        assert named == ["LightsOut-v0"] * skipped
    assert len(asked) == 3
