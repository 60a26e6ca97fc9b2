"""Pages: headings, tables from the declaration, and that the committed pages are those that the code gives."""

import importlib.util
import itertools
import re
import sys

import pytest
from support.alone import run_alone
from support.places import ROOT

import rlenvs
import rlenvs.wrappers
from benchmarks.left import close_rivals
from rlenvs.core.catalogue import docs, member_pages, score_cells
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.parts import limits_of

HOVER = world_of("QuadHover-v0")
GOOD = "A world.\n\n" + "\n\n".join(f"## {heading}\nText." for heading in docs.HEADINGS)


def generator(name="generate"):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("id", rlenvs.list_envs())
def test_headings_of_every_world(id):
    assert docs.check_headings(world_of(id).doc) == []


@pytest.mark.parametrize(
    ("doc", "complaint"),
    [
        (GOOD.replace("## Costs\nText.\n\n", ""), "'Costs' is missing"),
        (GOOD.replace("## Costs", "## Prices"), "'Prices' is unknown"),
        (GOOD.replace("## Costs\nText.", "## Costs\n"), "nothing stands under 'Costs'"),
        (GOOD + "\n\n## Costs\nAgain.", "'Costs' comes twice"),
        (
            GOOD.replace("## Costs", "## Swap").replace("## Rewards", "## Costs").replace("## Swap", "## Rewards"),
            "in the order",
        ),
        (GOOD.removeprefix("A world.\n\n"), "the first line"),
    ],
)
def test_complaints_about_headings(doc, complaint):
    complaints = docs.check_headings(doc)
    assert any(complaint in line for line in complaints), complaints


def test_good_headings():
    assert docs.check_headings(GOOD) == []


def test_sections_keep_the_prose():
    assert docs.sections("First.\n\n## One\na\nb\n\n## Two\nc") == {"": "First.", "One": "a\nb", "Two": "c"}


def test_page_merges_prose_and_tables():
    page = docs.page(HOVER)
    headings = [line[3:] for line in page.splitlines() if line.startswith("## ")]
    assert headings == list(docs.HEADINGS)
    assert "| 0 | rotor 0 | [-1, 1] |" in page
    assert 'With `action="one_d_rpm"`:' in page
    assert "| 0 ... 2 | `position` | [-2, 2] m | [-1, 1] | position, from the middle of the floor |" in page
    assert "| none by default | `past` |" in page
    assert r"1 while \|roll\| or \|pitch\| exceeds" in page
    assert "| `mass` | 0.027 | [0.01, 2] | kg | mass of the vehicle |" in page
    assert "| `easy` | `start_spread=0.1`, `goal_spread=0.0` |" in page
    assert "Panerati" in page


@pytest.mark.parametrize("row", docs.documented(), ids=lambda row: row.id)
def test_every_world_has_reference_scores(row):
    """Random, doing nothing, and the expert where there is one, with success and the mean of every cost."""
    world = world_of(row.id)
    assert {"random", "idle"} <= set(world.scores)
    assert ("expert" in world.scores) == world.has_expert
    for name in {"random", "idle", "expert", "exploit"} & set(world.scores):
        score = world.scores[name]
        assert (score.success is not None) == score_cells.has_success(world)
        assert list(score.costs) == list(world.costs)


@pytest.mark.parametrize("row", docs.documented(), ids=lambda row: row.id)
def test_chance_and_doing_nothing_are_far_from_the_expert_or_the_page_says_why(row):
    assert not close_rivals(world_of(row.id))


def test_the_page_says_what_the_expert_sees():
    assert "The expert sees: the observation.\n" in docs.page(HOVER)
    assert "The expert sees: the state, more than a learner.\n" in docs.page(world_of("PathFinding-v0"))
    assert "expert sees" not in docs.page(world_of("Ant-v0"))


def test_the_table_of_scores():
    page = docs.page(HOVER)
    table = page.partition("## Reference Scores")[2]
    assert "| Policy | Mean return | Score | Success | Cost | Limit | Note |" in table
    assert "| random | " in table
    assert "| 0.000 | 0 % |" in table
    assert "against" not in table
    assert "Every seed is played once from each team against `pursuit`" in docs.page(world_of("ParticleTag-v0"))
    assert score_cells.cost_cells({}, {}) == ("", "", True)
    assert score_cells.cost_cells({"a": 3.0, "b": 2.0}, {"a": 10.0, "b": 2.0}) == ("b 2", "2", True)
    assert score_cells.cost_cells({"a": 30.0, "b": 0.1}, {"a": 10.0, "b": 0.0}) == ("b 0.1", "0", False)
    assert score_cells.cost_cells({"a": 30.0, "b": 0.0}, {"b": 0.0}) == ("b 0", "0", True)
    assert score_cells.success_cell(1.0, False) == "100 %, unsafe"
    assert score_cells.success_cell(None, False) == "unsafe"


def test_costs_have_one_definition_on_all_pages():
    """Of an agent's episode by name; the same cells wherever it is told, and rows above a limit are marked."""
    score_page = page_of("docs/scores.md")
    assert score_cells.COST in score_page
    for row in docs.documented():
        world = world_of(row.id)
        text = page_of(f"docs/environments/{world.name}.md").partition("## Reference Scores")[2]
        assert (score_cells.COST in text) == bool(limits_of(world.costs)), world.name
        for line in [line for line in text.splitlines() if line.startswith("| ")]:
            for name, limit in limits_of(world.costs).items():
                told = re.search(rf"\| {name} ([\d.e+-]+) \| {limit:g} \|", line)
                assert not told or ("unsafe" in line) == (float(told[1]) > limit), f"{world.name}: {line}"


def test_a_cost_that_cannot_occur_is_no_cost():
    safe = set(rlenvs.list_envs("constrained"))
    never = {row.id for row in docs.documented() if world_of(row.id).costs} - safe
    assert len(never) == 34
    assert all("MiniGrid" in id for id in never)
    for row in docs.documented():
        world = world_of(row.id)
        paid = {name for score in world.scores.values() for name, mean in score.costs.items() if mean > 0.0}
        assert paid <= set(limits_of(world.costs)), row.id
        assert paid or "MiniGrid" not in row.id or row.id in never  # random actions find lava and balls
    page = docs.page(world_of("MiniGridEmpty8x8-v0"))
    assert docs.NO_COST in page
    assert "| danger" not in page
    assert "| `danger` | 0 | 1 |" in docs.page(world_of("MiniGridLavaCrossingS9N1-v0"))


def test_a_question_ends_as_one():
    assert docs.sentence("Which arm pays most?\n\nMore.") == "Which arm pays most?"
    assert docs.sentence("A world.\n\nMore.") == "A world."
    assert all("?.\n" not in path.read_text(encoding="utf-8") for path in generator().PAGES.glob("*.md"))


def test_guides_are_links():
    assert "[docs/quadcopters.md](../quadcopters.md)" in docs.page(HOVER)
    for path in generator().PAGES.glob("*.md"):
        assert not re.search(r"(?<!\[)docs/\w+\.md(?!\])", path.read_text(encoding="utf-8")), path.name


# --- pages of members -------------------------------------------------------------------------------------------------

OF_KIND = (
    "Prose, as long as it takes to have a link in its place.\n\n| A | B |\n| --- | --- |\n| `one` | 1 |\n| `two` | 2 |"
)


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        (OF_KIND, "As in [X-v0](X-v0.md#episode-end)."),
        (
            OF_KIND.replace("`two` | 2", "`two` | 3"),
            "| A | B |\n| --- | --- |\n| `two` | 3 |\n\nAll else as in [X-v0](X-v0.md#episode-end).",
        ),
        ("More.\n\n" + OF_KIND, "More.\n\nAll else as in [X-v0](X-v0.md#episode-end)."),
        ("Other prose.", "Other prose."),
        ("Prose.", "Prose."),
    ],
)
def test_what_differs_from_the_kind(section, expected):
    assert member_pages.beside_kind(section, OF_KIND, "X-v0", "Episode End") == expected


def test_a_members_page_repeats_nothing_but_spaces_and_scores():
    member, kind = world_of("MiniGridMemoryS7-v0"), world_of("MiniGridEmpty8x8-v0")
    short, own = docs.page(member, whole=False), docs.sections(docs.page(kind))
    for heading in ("Description", "Rewards", "Costs", "Episode End"):
        assert docs.sections(short)[heading] == (
            f"As in [MiniGridEmpty8x8-v0](MiniGridEmpty8x8-v0.md#{heading.lower().replace(' ', '-')})."
        )
        assert own[heading]
    assert "| `task` | `'memory'` |" in short
    assert "| `river` |" not in short
    assert "| `recall` | `recall=True` |" in short
    assert docs.sections(short)["Observation Space"] == own["Observation Space"]
    assert docs.sections(short)["Version History"] == "v0: first version."
    assert docs.page(kind, whole=False) == docs.page(kind)
    assert "| `river` |" in docs.page(member)


def test_every_table_has_equal_columns():
    """A cell with a bare "|" would shift its row."""
    for page in generator().PAGES.glob("*.md"):  # which another test holds to be up to date
        for line, following in itertools.pairwise(page.read_text(encoding="utf-8").splitlines()):
            if line.startswith("| ") and following.startswith("| "):
                assert line.replace(r"\|", "").count("|") == following.replace(r"\|", "").count("|"), following


def test_gallery_has_every_world_once():
    names = [row.id.partition("/")[2] for row in docs.documented()]
    found = re.findall(r"^\| \[([\w-]+)\]\(\1\.md\) \|", docs.gallery(), re.MULTILINE)
    assert sorted(found) == sorted(names)


def test_families_have_counts_links_and_guides():
    table = docs.families_table(["quadcopters.md"])
    rows = [line.split(" | ") for line in table.splitlines()[2:]]
    assert sum(int(row[1]) for row in rows) == len(docs.documented())
    titles = re.findall(r"^## (\w+)$", docs.gallery(), re.MULTILINE)
    assert [re.match(r"\| \[(\w+)\]\(#(\w+)\)", row[0])[1] for row in rows] == titles
    assert "[guide](../quadcopters.md)" in table
    assert table.count("guide") == 1


@pytest.mark.budget(14)
def test_committed_pages_are_up_to_date():
    module = generator()
    if not module.PAGES.exists():
        pytest.skip("no pages yet: run `python docs/generate.py`")
    committed = {path: path.read_text(encoding="utf-8") for path in module.PAGES.glob("*.md")}
    assert committed == module.pages(), "run `python docs/generate.py`"
    catalogue = module.CATALOGUE.read_text(encoding="utf-8")
    assert catalogue == module.catalogue_text(module.FAMILIES), "run `python docs/generate.py`"


# --- the reference ----------------------------------------------------------------------------------------------------


def named_in_the_reference():
    """Module and name of everything in docs/reference.md."""
    found, module = set(), ""
    for line in (ROOT / "docs" / "reference.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            module = line[3:]
        elif name := re.match(r"- `(\w+)", line):
            found.add((module, name[1]))
    return found


def field_types():
    """The names of the types of fields, which the reference does not list."""
    module = generator("reference")
    return {name for name, home in module.homes_in("rlenvs.core").items() if home == module.FIELD_TYPES}


@pytest.mark.budget(4)
def test_everything_public_is_in_the_reference_and_nothing_else():
    public = {(one.module, one.name) for one in generator("reference").public_names()}
    assert named_in_the_reference() == public, "run `python docs/reference.py`"
    for package in (rlenvs, rlenvs.core, rlenvs.wrappers):
        assert {name for module, name in public if module == package.__name__} == {*package.__all__} - field_types()


def test_what_the_documents_and_examples_import_is_public():
    public = named_in_the_reference() | {("rlenvs.core", name) for name in field_types()}
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").glob("*.py")]:
        for module, names in re.findall(
            r"^ *from (rlenvs[\w.]*) import ([\w, ]+)", path.read_text("utf-8"), re.MULTILINE
        ):
            for name in names.split(","):
                assert (module, name.partition(" as ")[0].strip()) in public, f"{path.name}: {module}.{name}"


# --- the README and the first pages -----------------------------------------------------------------------------------


def page_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def blocks_of(*names):
    return [
        pytest.param(block, id=f"{name}: {block.strip().splitlines()[-1][:40]}")
        for name in names
        for block in re.findall(r"```python\n(.*?)```", page_of(name), re.DOTALL)
    ]


README = page_of("README.md")
EXTRAS = {
    "pybullet": "pybullet",
    "Panda": "mujoco",
    "MetaWorld": "mujoco",
    "stable_baselines3": "stable_baselines3",
    "BarrierFilter": "daqp",
    "pareto.": "moocore",
    "costs-careful": "minari",
}


def skip_without_extras(code):
    for word, module in EXTRAS.items():
        if word in code:
            pytest.importorskip(module)


@pytest.mark.parametrize("block", blocks_of("README.md", "docs/tour.md"))
def test_blocks_of_the_readme_and_the_tour_run_when_pasted_alone(block, tmp_path):
    skip_without_extras(block)
    (tmp_path / "block.py").write_text(block, encoding="utf-8")
    done = run_alone(tmp_path / "block.py", [], tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("block", blocks_of("docs/start.md", "docs/concepts.md", "docs/notebooks.md"))
def test_blocks_of_the_first_pages_run(block, tmp_path, monkeypatch):
    skip_without_extras(block)
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "block", "exec"), {"__name__": "block"})


TESTED_ELSEWHERE = ("notebooks.md", "wrappers.md", "integrations.md", "rllib.md", "start.md", "tour.md", "concepts.md")
FILE = '"FILE"'  # stands for a file of the reader
GUIDES = [
    pytest.param(block, id=f"{path.stem}: {block.strip().splitlines()[-1][:40]}")
    for path in sorted((ROOT / "docs").glob("*.md"))
    if path.name not in TESTED_ELSEWHERE
    for block in re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
    if FILE not in block
]


@pytest.mark.parametrize("block", GUIDES)
def test_blocks_of_the_guides_run_when_pasted_alone(block, tmp_path):
    skip_without_extras(block)
    (tmp_path / "block.py").write_text(block, encoding="utf-8")
    done = run_alone(tmp_path / "block.py", [], tmp_path)
    assert done.returncode == 0, done.stderr


def test_names_in_blocks_are_imported_in_them():
    """Also where what a block needs is not installed."""
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for block in re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
            for name in ("rlenvs", "gymnasium", "np"):
                used = re.search(rf"^(?!from |import )[^#\n\"]*\b{name}\.\w", block, re.MULTILINE)
                imported = re.search(rf"^(?:import {name}\b|import \w+ as {name}$)", block, re.MULTILINE)
                assert not used or imported, f"{path.name}: {block}"


def test_calls_in_the_text_of_the_concepts_work():
    """The table of forms, and whatever else is code in the text."""
    import gymnasium

    pytest.importorskip("stable_baselines3")
    env = gymnasium.make("rlenvs/QuadHover-v0")
    env.reset(seed=0)
    known = {"rlenvs": rlenvs, "gymnasium": gymnasium, "env": env, "plans": [[[0.0] * 4] * 2], "snapshot": None}
    text = re.sub(r"```.*?```", "", page_of("docs/concepts.md"), flags=re.DOTALL)
    calls = re.findall(r"`((?:rlenvs|gymnasium)\.\w+\([^`]*\))`", text)
    assert len(calls) >= 8
    for call in calls:
        if "..." not in call:
            assert eval(call, dict(known)) is not None, call


def test_every_link_of_the_documents_leads_somewhere():
    for path in [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs" / "environments").glob("*.md"),
        *(ROOT / "benchmarks").glob("*.md"),
    ]:
        for link in re.findall(r"\]\(([^)#\s]+)(?:#[\w-]*)?\)", path.read_text(encoding="utf-8")):
            assert "://" in link or (path.parent / link).exists(), f"{path.name}: {link}"


def number(text):
    return float(text.replace(",", ""))


@pytest.mark.budget(4)
def test_figures_of_the_performance_page_are_those_of_the_benchmarks():
    measured = "".join(
        (ROOT / "benchmarks" / f"{name}.md").read_text(encoding="utf-8")
        for name in ("results", "arms", "multi", "classic", "memory", "puzzles", "exploration")
    )
    table = page_of("docs/performance.md").partition("## Compared")[2].partition("\n\n[1]")[0]
    rows = [
        [cell.strip() for cell in line.strip("| ").split("|")] for line in table.splitlines() if line.startswith("| ")
    ][2:]
    assert len(rows) > 5
    for name, _, here, there, _, quotient, paired in rows:
        (line,) = [line for line in measured.splitlines() if line.startswith(f"| {name} ") and f"| {here} |" in line]
        assert f"| {there} |" in line
        assert number(quotient) == pytest.approx(number(here) / number(there), rel=0.006)
        found, wanted = re.findall(r"[\d.,]+", paired), re.findall(r"[\d.e+]+", line.split("|")[6])
        assert [number(each) for each in found] == [float(each) for each in wanted]
