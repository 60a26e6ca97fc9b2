"""What the README and the guides claim: counts are those of the registry, defaults those of the code, anchors exist."""

import dataclasses
import importlib.util
import itertools
import re
import sys

import pytest
from support.places import ROOT

import rlenvs
import rlenvs.wrappers
from rlenvs.core.catalogue import docs
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.setup import Setup

NAMES = [row.id.partition("/")[2] for row in docs.documented()]
GUIDES = sorted([*(ROOT / "docs").glob("*.md"), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md"))])
GENERATED = ("scores.md", "reference.md")
PAGES = [*GUIDES, ROOT / "agents" / "README.md", ROOT / "benchmarks" / "README.md"]


def text_of(name):
    """A page in one line."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


def anchors_of(path):
    """The anchors that GitHub makes of the headings of a page."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    titles = [re.sub(r"[^\w\- ]", "", title.lower()) for title in re.findall(r"(?m)^#+ (.+)$", text)]
    return {title.strip().replace(" ", "-") for title in titles}


# --- counts -----------------------------------------------------------------------------------------------------------


def test_how_many_environments_there_are():
    assert text_of("README.md").startswith(f"# rlenvs {len(NAMES)} reinforcement-learning environments")


def test_how_many_have_physical_parameters():
    count = sum(bool(world_of(name).params) for name in NAMES)
    assert f"{count} of the {len(NAMES)} also have physical parameters" in text_of("README.md")
    assert f"{count} of the {len(NAMES)} environments have physical parameters" in text_of("docs/concepts.md")


def test_how_many_environments_have_an_expert_and_an_agent():
    shipped = {path.name for path in (ROOT / "rlenvs" / "agents" / "reference").iterdir() if path.is_dir()}
    others = {path.name for path in (ROOT / "agents" / "rlenvs_agents").iterdir() if path.is_dir()}
    experts, trained = sum(world_of(name).has_expert for name in NAMES), len((shipped | others) & set(NAMES))
    assert f"{experts} of them have a scripted expert, {trained} a trained agent" in text_of("README.md")
    assert len(shipped) == 12
    assert "twelve agents ship with the package" in text_of("README.md")


def test_ids_that_the_readme_proposes_exist():
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Which environment")[2].partition("\n## ")[0]
    ids = re.findall(r"`([\w-]+-v0)`", table)
    assert len(ids) > 20
    assert {f"rlenvs/{id}" for id in ids} <= set(rlenvs.list_envs())


def test_an_environment_with_one_term_has_no_id_for_vectors():
    """As docs/concepts.md and docs/pareto.md say."""
    for name in NAMES:
        assert (f"rlenvs/mo-{name}" in rlenvs.list_envs()) == (len(world_of(name).terms) > 1), name


@pytest.mark.parametrize(
    ("guide", "family", "number", "count"),
    [
        ("quadcopters.md", "quadcopter", 14, "fourteen tasks"),
        ("manipulation.md", "manipulation", 10, ""),
        ("particle.md", "particle", 10, ""),
        ("metaworld.md", "metaworld", 50, ""),
        ("swarm.md", "swarm", 4, ""),
    ],
)
def test_the_guide_to_a_family_lists_all_its_environments(guide, family, number, count):
    text = (ROOT / "docs" / guide).read_text(encoding="utf-8")
    names = [row.id.partition("/")[2] for row in docs.documented() if f".{family}." in row.address]
    assert len(names) == number
    assert count in text
    assert [name for name in names if name not in text and f"| {name.removesuffix('-v0')} |" not in text] == []


def is_image_alone(name):
    """Whether an environment shows an image and no numbers by default."""
    world = world_of(name)
    return bool(world.images) and (not world.observation or bool(Setup(world).alone))


def test_which_environments_have_words():
    table = (ROOT / "docs" / "language.md").read_text(encoding="utf-8").partition("## Which")[2].partition("\n## ")[0]
    written, _, images = [line for line in table.splitlines() if line.startswith("| ")][-3:]
    assert sorted(re.findall(r"`([\w-]+-v0)`", written)) == sorted(
        n for n in NAMES if "describe" in world_of(n).functions
    )
    named = sorted(re.findall(r"`([\w-]+-v0)`", images))
    candidates = [name for name in NAMES if not name.startswith(("MiniGrid", "Panda"))]  # arms need MuJoCo
    assert named == sorted(filter(is_image_alone, candidates))
    assert all(is_image_alone(name) for name in NAMES if name.startswith("MiniGrid"))


# --- wrappers ---------------------------------------------------------------------------------------------------------


def is_wrapper(name):
    """Whether a public name is a wrapper, and not its base or something used with wrappers."""
    value = getattr(rlenvs.wrappers, name)
    return (
        isinstance(value, type) and issubclass(value, rlenvs.wrappers.Wrapper) and value is not rlenvs.wrappers.Wrapper
    )


WRAPPERS = sorted(filter(is_wrapper, rlenvs.wrappers.__all__))


def settings_of(name):
    """The cell of the index: all settings of a wrapper with their defaults, those in bold required."""
    cells = []
    for field in dataclasses.fields(getattr(rlenvs.wrappers, name)):
        if field.default_factory is not dataclasses.MISSING:
            cells.append(f"`{field.name}={field.default_factory()!r}`")
        elif field.default is not dataclasses.MISSING:
            default = f'"{field.default}"' if isinstance(field.default, str) else f"{field.default!r}"
            cells.append(f"`{field.name}={default}`")
        elif field.init:
            cells.append(f"**`{field.name}`**")
    return ", ".join(cells)


def test_the_index_has_every_wrapper_with_its_settings():
    index = (ROOT / "docs" / "wrappers.md").read_text(encoding="utf-8").partition("## Index")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"(?m)^\| `(\w+)` \| [^|]+ \| (.*) \|$", index))
    assert sorted(rows) == WRAPPERS
    for name in WRAPPERS:
        assert rows[name] == settings_of(name), f"{name}: the index should say {settings_of(name)}"


def test_every_wrapper_has_its_place():
    places = (ROOT / "docs" / "wrapper_order.md").read_text(encoding="utf-8").partition("## Choices")[0]
    assert [name for name in WRAPPERS if f"`{name}`" not in places] == []


# --- glossary, links --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("title", ["Words for users", "Words for authors"])
def test_the_glossary_is_in_the_order_of_the_alphabet(title):
    section = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").partition(f"## {title}")[2]
    words = re.findall(r"(?m)^### (.+)$", section.partition("\n## ")[0])
    assert words == sorted(words)
    assert len(words) > 10


def test_the_index_of_the_documentation_has_every_guide():
    index = text_of("docs/README.md")
    assert [path.name for path in (ROOT / "docs").glob("*.md") if f"({path.name})" not in index] == ["README.md"]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_anchor_exists(path):
    for file, anchor in re.findall(r"\]\(([^)#\s]*)#([\w-]+)\)", path.read_text(encoding="utf-8")):
        if "://" not in file:
            target = (path.parent / file).resolve() if file else path
            assert anchor in anchors_of(target), f"{path.name}: {file}#{anchor}"


def test_the_architecture_names_every_module():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    folders = [ROOT / "rlenvs" / "core" / name for name in ("declare", "compiler", "batch", "forms", "catalogue")]
    files = {path.name for folder in [*folders, ROOT / "rlenvs" / "agents"] for path in folder.glob("*.py")}
    assert [name for name in sorted(files) if not name.startswith("_") and f"`{name}`" not in text] == []
    named = set(re.findall(r"(?<![\w/.])`(?:rlenvs/)?([\w/]+\.py)`", text))
    present = {path.relative_to(ROOT / "rlenvs").as_posix() for path in (ROOT / "rlenvs").rglob("*.py")}
    present |= {
        path.relative_to(ROOT).as_posix()
        for name in ("tests", "benchmarks", "docs")
        for path in (ROOT / name).rglob("*.py")
    }
    assert [name for name in sorted(named) if not any(f"/{path}".endswith(f"/{name}") for path in present)] == []


# --- install lines ----------------------------------------------------------------------------------------------------

INTEGRATIONS = (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8")


def installed_packages(section):
    """The packages that the install lines of a section name, without versions; extras of this package as ".extra"."""
    found = set()
    for line in re.findall(r"pip install ([^`#]+?)(?:`|\n(?! {8}))", section):
        for word in line.replace("\\\n", " ").replace("'", "").split():
            name, _, extras = word.partition("[")
            if not word.startswith("-"):
                found |= (
                    {f".{extra}" for extra in extras.strip("]").split(",")}
                    if name == "."
                    else {name.partition("==")[0]}
                )
    return found


def packages_of_the_tests():
    """Those that `python3 run.py integrations` installs."""
    spec = importlib.util.spec_from_file_location("run_of_docs", ROOT / "run.py")
    run = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = run
    spec.loader.exec_module(run)
    groups = run.GROUPS.values()
    names = {re.split("[=<>]", name)[0] for group in groups for name in [*group.more, *group.bare]}
    return (
        names
        | {f".{extra}" for group in groups for extra in group.extras.split(",")}
        | {".compile", "rl_zoo3", "minari"}
    )


def test_every_library_has_an_install_line_of_tested_packages():
    sections = dict(re.findall(r"(?ms)^## ([^\n]+)\n(.*?)(?=^## |\Z)", INTEGRATIONS))
    libraries = re.findall(r"(?m)^\| \[([^\]]+)\]", INTEGRATIONS)
    assert len(libraries) == 19
    tested = packages_of_the_tests()
    for library in libraries:
        (title,) = [title for title in sections if library.startswith(title)]
        packages = installed_packages(sections[title])
        assert ".compile" in packages, f"{title}: the install line leaves out this package"
        assert packages <= tested, f"{title}: not installed by any test: {packages - tested}"


# --- spelling ---------------------------------------------------------------------------------------------------------

BRITISH = (
    r"\b(?:\w*(?:normalis|scalaris|randomis|optimis|generalis|parametris)\w*|hyper-parameters?|data sets?|colours?"
)
BRITISH += r"|behaviour|licence|learnt|metres?|labelled|modelled|for ever|centres?|neighbours?|grey|towards)\b"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_guides_are_in_american_spelling(path):
    """Code, ids and names of files are left out."""
    if path.name not in GENERATED:
        text = re.sub(
            r"```.*?```|^    .*?$|`[^`]*`|\[\w+\.py\]|\([^()\s]*\)",
            "",
            path.read_text("utf-8"),
            flags=re.DOTALL | re.MULTILINE,
        )
        assert re.findall(BRITISH, text.lower()) == []


# --- the classroom ----------------------------------------------------------------------------------------------------


def rows_of(name):
    """The rows of the tables of exercises of a page, by exercise."""
    lines = re.findall(r"(?m)^\| `\w+` \|.*$", (ROOT / "docs" / name).read_text(encoding="utf-8"))
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0].strip("`"): row for row in rows if (ROOT / "examples" / "classroom" / row[0].strip("`")).is_dir()}


def test_both_pages_of_the_classroom_agree():
    """On order and chapters; the working time is that of the notebooks."""
    ladder, instructors = rows_of("classroom.md"), rows_of("instructors.md")
    assert len(ladder) == len(list((ROOT / "examples" / "classroom").glob("*/exercise.py")))
    assert [(name, row[5]) for name, row in ladder.items()] == [(name, row[1]) for name, row in instructors.items()]
    minutes = {name: int(row[4]) for name, row in instructors.items()}
    for name, told in minutes.items():
        head = (ROOT / "examples" / "classroom" / name / "exercise.py").read_text(encoding="utf-8")[:1000]
        assert f"About {told} minutes of work" in head
    assert f"{sum(minutes.values()) / 60:g} hours in all" in text_of("docs/instructors.md")
    assert f"{min(minutes.values())} to {max(minutes.values())} minutes" in text_of("docs/classroom.md")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_tables_of_the_guides_have_equal_columns(path):
    """A cell with a bare "|" would shift its row."""
    for line, following in itertools.pairwise(path.read_text(encoding="utf-8").splitlines()):
        if line.startswith("|") and following.startswith("|"):
            assert line.replace(r"\|", "").count("|") == following.replace(r"\|", "").count("|"), following


def test_the_readme_begins_with_the_demo_and_the_test():
    first = re.search(r"(?:^    .+\n)+", (ROOT / "README.md").read_text(encoding="utf-8"), re.M)[0]
    assert re.findall(r"python3 run\.py (\w+)", first) == ["demo", "test"]
