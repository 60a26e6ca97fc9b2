"""Pages: headings, tables from the declaration, and that the committed pages are those that the code gives."""

import importlib.util
import itertools
from pathlib import Path

import pytest

import rlenvs
from rlenvs.core import docs
from rlenvs.core.registry import world_of

ROOT = Path(__file__).resolve().parent.parent
HOVER = world_of("QuadHover-v0")
GOOD = "A world.\n\n" + "\n\n".join(f"## {heading}\nText." for heading in docs.HEADINGS)


def generator():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    module = importlib.util.module_from_spec(spec)
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


def test_every_table_has_equal_columns():
    """A cell with a bare "|" would shift its row."""
    for row in docs.documented():
        lines = docs.page(world_of(row.id)).splitlines()
        for line, following in itertools.pairwise(lines):
            if line.startswith("| ") and following.startswith("| "):
                assert line.replace(r"\|", "").count("|") == following.replace(r"\|", "").count("|"), following


def test_gallery_has_every_world_once():
    table = docs.gallery_table()
    assert len(table.splitlines()) == 2 + len([id for id in rlenvs.list_envs() if not id.startswith("rlenvs/mo-")])
    assert "[QuadHover-v0](docs/environments/QuadHover-v0.md)" in table


def test_generator_needs_the_markers():
    with pytest.raises(SystemExit, match="<!-- environments -->"):
        generator().with_table("# README without markers")


def test_generator_replaces_only_the_table():
    module = generator()
    readme = module.with_table(f"before\n{module.START}\nSTALE TABLE\n{module.STOP}\nafter\n")
    assert readme.startswith("before\n")
    assert readme.endswith(f"{module.STOP}\nafter\n")
    assert "STALE TABLE" not in readme
    assert module.with_table(readme) == readme


def test_committed_pages_are_up_to_date():
    module = generator()
    if not module.PAGES.exists():
        pytest.skip("no pages yet: run `python docs/generate.py`")
    committed = {path: path.read_text(encoding="utf-8") for path in module.PAGES.glob("*.md")}
    assert committed == module.pages(), "run `python docs/generate.py`"
    readme = module.README.read_text(encoding="utf-8")
    assert readme == module.with_table(readme), "run `python docs/generate.py`"
