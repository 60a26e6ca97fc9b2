"""Films: what is recorded is what the canvas draws, files keep it, they are small, and every environment has one."""

import gzip
import importlib.util
import json
import re
import sys

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from support.places import ROOT
from support.searches import exact_searches, wide_searches

import rlenvs
from rlenvs.agents.film import LARGEST, MOST_FRAMES, load_film, packed, record_film, save_film, thinned
from rlenvs.core.catalogue.docs import documented
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.check import one_per_kind
from rlenvs.core.declare.canvas import Canvas
from rlenvs.core.forms.recorder import Recorder, paint
from rlenvs.core.forms.render import EpisodeTotals, compose, draw

FILMS = ROOT / "docs" / "films"
NAMES = [row.id.partition("/")[2] for row in documented()]
KINDS = one_per_kind(NAMES)
PAGE = 300_000  # bytes that a film may add to a page


def difference(name, steps=8):
    """The largest share of pixels, over some states, in which a world's image and its recording differ visibly."""
    batch = rlenvs.make_batch(name, 1, autoreset=AutoresetMode.NEXT_STEP, backend="python")
    batch.totals = EpisodeTotals(batch)
    batch.seed([0])
    batch.reset()
    canvas, again, recorder, worst = Canvas(), Canvas(), Recorder(), 0.0
    for _ in range(steps):
        image = draw(batch, 0, canvas)
        compose(batch, 0, recorder)
        paint(recorder.frame(), again, recorder.images)
        worst = max(worst, (np.abs(image.astype(int) - again.pixels()).max(axis=2) > 60).mean())
        batch.step(batch.expert_actions())
    return worst


@pytest.mark.parametrize(
    "name", ["CartPole-v0", "QuadHover-v0", "Generals-v0", "SafePointGoal-v0", "MiniGridDoorKey8x8-v0", "Blackjack-v0"]
)
def test_a_recording_painted_again_is_the_image(name):
    assert difference(name) < 0.04  # edges move by up to a quarter of a pixel


def test_every_verb_is_kept():
    """Each alone changes the image as it does on a canvas."""
    verbs = {
        "circle": ((0.5, 0.5), 0.3, "red"),
        "line": ([(0.1, 0.1), (0.9, 0.4), (0.5, 0.9)], "blue", 6.0, True),
        "polygon": ([(0.1, 0.1), (0.9, 0.4), (0.5, 0.9)], "green"),
        "rectangle": (0.2, 0.2, 0.8, 0.6, "orange", 0.0, 0.1),
        "arrow": ((0.1, 0.1), (0.9, 0.8), "black", 8.0),
        "text": ((0.5, 0.5), "text", "black", 60, "centre", "sky"),
    }
    for verb, arguments in verbs.items():
        canvas, recorder, again, empty = Canvas(), Recorder(), Canvas(), Canvas()
        for drawing in (canvas, recorder):
            drawing.legend(("red", "a legend"))
            drawing.view(0.0, 1.0, 0.0, 1.0, (0.1, 0.1, 0.9, 0.9))
            getattr(drawing, verb)(*arguments)
        paint(recorder.frame(), again, [])
        empty.legend(("red", "a legend"))
        changed = (canvas.pixels() != empty.pixels()).any(axis=2).mean()
        assert changed > 0.01, verb
        different = (np.abs(canvas.pixels().astype(int) - again.pixels()).max(axis=2) > 60).mean()
        assert different < 0.4 * changed, verb  # edges


def test_what_lies_outside_a_view_is_cut_off():
    recorder, again = Recorder(), Canvas()
    recorder.view(0.0, 1.0, 0.0, 1.0, (0.0, 0.0, 0.5, 1.0))
    recorder.rectangle(-9.0, -9.0, 9.0, 9.0, "red")
    paint(recorder.frame(), again, [])
    pixels = again.pixels()[200]
    assert tuple(pixels[100]) == (213, 94, 0)
    assert tuple(pixels[400]) != (213, 94, 0)


@pytest.fixture(scope="module")
def film():
    return record_film("CartPole-v0", most_frames=60)


def test_files_keep_all(film, tmp_path):
    assert save_film(film, tmp_path) == (tmp_path / "CartPole-v0.json.gz").stat().st_size
    again = load_film("CartPole-v0", tmp_path)
    assert [episode.policy for episode in again.episodes] == ["random", "expert", "agent"]
    for one, other in zip(film.episodes, again.episodes, strict=True):
        assert [frame.shapes for frame in one.frames] == [frame.shapes for frame in other.frames]
        assert [frame.head[2:] for frame in one.frames] == [frame.head[2:] for frame in other.frames]
        assert (one.steps, one.rewards, one.terms, one.every) == (other.steps, other.rewards, other.terms, other.every)
    assert packed(film) == (tmp_path / "CartPole-v0.json.gz").read_bytes()


def test_what_was_paid_adds_up_to_the_return(film):
    for episode in film.episodes:
        assert len(episode.frames) <= 62
        assert episode.steps[0] == 0
        assert sum(episode.rewards) == episode.steps[-1]  # 1 a step
        assert sum(episode.terms["balance"]) == episode.steps[-1]
    assert film.episodes[1].steps[-1] == 500


def test_a_thinner_film_has_fewer_frames_and_the_same_return(film):
    less = thinned(film, 3)
    for one, other in zip(film.episodes[1:], less.episodes[1:], strict=True):
        assert len(other.frames) < 0.4 * len(one.frames) + 2
        assert other.frames[-1] == one.frames[-1]
        assert sum(other.rewards) == sum(one.rewards)


def test_a_film_that_is_too_large_loses_frames(film, tmp_path):
    whole = save_film(film, tmp_path)
    assert save_film(film, tmp_path, largest=whole // 2) <= whole // 2


@pytest.mark.parametrize("name", NAMES)
def test_every_environment_has_a_small_film(name):
    data = FILMS / f"{name}.json.gz"
    assert data.exists(), f"python docs/films.py {name}"
    files = [path for path in (data, FILMS / f"{name}.webp") if path.exists()]
    assert sum(path.stat().st_size for path in files) <= LARGEST
    assert sum(path.stat().st_size for path in files) * 4 / 3 < PAGE
    told = json.loads(gzip.decompress(data.read_bytes()))
    assert told["name"] == name
    for episode in told["episodes"]:
        assert len(episode["frames"]) == len(episode["steps"]) == len(episode["rewards"]) <= MOST_FRAMES + 2


QUICK = ("CartPole-v0", "MiniGridEmpty5x5-v0", "Taxi-v0", "ParticleSpread-v0")


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in NAMES])
def test_a_film_shows_what_the_world_and_its_drawing_are_now(name, tmp_path):
    """The agent's own episode may differ by the rounding of its network, images of a camera by the machine's OpenGL.

    What an engine moves differs by the processor: of such worlds the start alone is compared.
    """
    save_film(record_film(name), tmp_path)
    now, kept = load_film(name, tmp_path), load_film(name, FILMS)
    for one, other in zip(now.episodes[:2], kept.episodes[:2], strict=True):
        if world_of(f"rlenvs/{name}").engine:
            assert one.terms.keys() == other.terms.keys(), "python docs/films.py"
            assert one.frames[0].shapes == other.frames[0].shapes, "python docs/films.py"
            continue
        assert (one.steps, one.rewards, one.terms) == (other.steps, other.rewards, other.terms), "python docs/films.py"
        if not kept.images:
            assert [frame.shapes for frame in one.frames] == [frame.shapes for frame in other.frames], (
                "python docs/films.py"
            )


def test_no_film_is_of_an_environment_that_is_gone():
    assert {path.name.partition(".")[0] for path in FILMS.iterdir()} <= set(NAMES)


# --- the pages of the site, without building it -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def pages():
    sys.path.insert(0, str(ROOT / "docs" / "web"))
    spec = importlib.util.spec_from_file_location("pages", ROOT / "docs" / "web" / "pages.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["pages"] = module
    spec.loader.exec_module(module)
    yield module
    sys.path.pop(0)
    for name in ("pages", "parts", "references", "score_table", "search_words"):
        del sys.modules[name]


def test_every_guide_is_in_the_menu_of_the_site():
    index = (ROOT / "docs" / "web" / "index.md").read_text("utf-8").splitlines()
    missing = [path.name for path in (ROOT / "docs").glob("*.md") if path.stem not in index]
    assert missing == ["README.md"]  # the index of the repository, which is the front page of the site


@pytest.mark.budget(4)
def test_the_gallery_has_a_card_for_every_environment(pages):
    text = pages.gallery()
    for name in NAMES:
        assert text.count(f'data-name="{name}"') == 1
    for key, (_, choices) in pages.FILTERS.items():
        for value in choices:
            assert value in text, (key, value)


@pytest.mark.parametrize("name", KINDS)
def test_what_a_page_says_of_using_its_environment_runs(pages, name):
    block = re.search(r"```python\n(.*?)```", pages.use(world_of(name)), re.DOTALL)[1]
    if "mujoco" in block:
        pytest.importorskip("mujoco")
    names = {}
    exec(block, names)
    for each in {"env", "envs", "team"} & names.keys():
        names[each].close()


def test_the_page_of_an_environment(pages):
    text = pages.environment("CartPole-v0", (ROOT / "docs" / "environments" / "CartPole-v0.md").read_text("utf-8"))
    assert 'data-film="CartPole-v0"' in text
    assert (
        text.index('gymnasium.make("rlenvs/CartPole-v0")')
        < text.index("data-film")
        < text.index("## Description")
        < text.index("## Train and watch")
        < text.index("## Citation")
    )
    assert "<dt>Action</dt><dd>Discrete(2)</dd>" in text
    assert "EnvPool" in text.partition("## Speed")[2] or "envpool" in text.partition("## Speed")[2]


@pytest.mark.parametrize("name", ["CartPole-v0", "ParticleSpread-v0", "Battle-v0", "PandaReach-v0"])
def test_the_lines_of_a_page_run(pages, name):
    """Pages have the same lines but for the id; one of each make."""
    if name.startswith("Panda"):
        pytest.importorskip("mujoco")
    (block,) = re.findall(r"```python\n(.*?)```", pages.use(world_of(name)), re.DOTALL)
    assert ("parallel_env" in block) == (name in ("ParticleSpread-v0", "Battle-v0"))
    exec(compile(block.replace("1024", "4"), name, "exec"), {"__name__": "block"})


def test_bibtex_says_what_the_declaration_says_and_no_more(pages):
    entry = pages.bibtex("a-1", "Gymnasium CartPole-v1 (Towers et al., arXiv 2407.17032)")
    assert "eprint = {2407.17032}" in entry
    assert "year" not in entry
    assert "year = {1983}" in pages.bibtex("a-2", "Barto, Sutton and Anderson, IEEE SMC 1983")
    assert pages.references("A (x; y); B") == ["A (x; y)", "B"]


@pytest.mark.budget(3)
@pytest.mark.parametrize("name", ["CartPole-v0", "ParticleSpread-v0"])
def test_a_page_begins_with_lines_that_make_its_environment(pages, name):
    text = pages.environment(name, (ROOT / "docs" / "environments" / f"{name}.md").read_text("utf-8"))
    (block, *_) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert text.index(block) < 1200
    assert ("parallel_env" in block) == (name == "ParticleSpread-v0")
    names = {}
    exec(block, names)
    names["env"].close()


def test_a_page_leads_to_those_beside_it_in_its_family(pages):
    names = [row.id.partition("/")[2] for row in pages.families()[0].entries]
    first, second, last = (pages.siblings(names[k]) for k in (0, 1, -1))
    assert f'href="{names[1]}.html" rel="next"' in first
    assert f'href="{names[0]}.html" rel="prev"' in second
    assert 'rel="prev"' not in first
    assert 'rel="next"' not in last
    assert f"{len(names)} of {len(names)}" in last


def test_every_environment_leads_to_its_original(pages):
    """To repositories and papers, or to a search; all but those that are of this package."""
    module, alone = sys.modules["references"], set()
    for name in NAMES:
        source = world_of(name).source
        if "](https://" not in module.linked(source) and "](http://" not in module.linked(source):
            alone.add(source.partition(";")[0])
        assert re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", module.linked(source)).replace(", 20", "")[:20] in source
    assert alone <= {"this package"}


def test_links_of_references_have_a_year_and_none_is_for_nothing(pages):
    module = sys.modules["references"]
    sources = {world_of(name).source for name in NAMES}
    used = {match["name"] for source in sources for match in module.KNOWN.finditer(source)}
    assert set(module.LINKS) - used == set()
    for source in sources:
        for text, address in re.findall(r"\[([^\]]*)\]\(([^)]*)\)", module.linked(source)):
            assert "github.com" in address or re.search(r"\d\d\d\d", text), text
    assert module.linked("MO-Gymnasium a-v0 (B et al., arXiv 2407.17032)") == (
        "[MO-Gymnasium](https://github.com/Farama-Foundation/MO-Gymnasium) a-v0 "
        "(B et al., [arXiv 2407.17032, 2024](https://arxiv.org/abs/2407.17032))"
    )
    assert module.linked("Barto and Sutton, 1983") == (
        "[Barto and Sutton, 1983](https://scholar.google.com/scholar?q=Barto+and+Sutton%2C+1983)"
    )
    assert module.linked("a problem without a paper") == "a problem without a paper"


def found_by(query):
    """As the gallery finds, where all words of a query are known."""
    words = sys.modules["search_words"].words
    return {name for name in NAMES if all(f" {word} " in f" {words(world_of(name))} " for word in query.split())}


@pytest.mark.parametrize(("query", "wanted"), exact_searches().items())
def test_the_gallery_knows_the_words_of_the_field(pages, query, wanted):
    query = query.lower()
    assert (found_by(query) or found_by(query.removesuffix("s"))) == wanted


@pytest.mark.parametrize(("query", "limits"), wide_searches().items())
def test_words_of_wider_meaning_find_what_they_should(pages, query, limits):
    wanted, unwanted = limits
    found = found_by(query.lower())
    assert wanted - found == set()
    assert unwanted & found == set()


def test_every_environment_is_found_by_some_word_of_the_field(pages):
    queries = [query.lower() for query in [*exact_searches(), *wide_searches()]]
    assert set(NAMES) - set().union(*map(found_by, queries)) == set()


def test_the_page_of_scores_has_data_for_every_row(pages):
    text = (ROOT / "docs" / "scores.md").read_text("utf-8")
    page = pages.scores(text)
    module = sys.modules["score_table"]
    standings = dict(module.standings())
    assert set(standings.values()) <= set(module.SOLVED)
    rows = [line for line in text.splitlines() if re.match(r"\| \w+-v\d+", line)]
    assert {row[2:].partition(" |")[0].partition(" against ")[0] for row in rows} == set(standings)
    assert page.count(":::{div} long-table") == len(re.findall(r"^\| ---", text, re.MULTILINE))
    assert page.count('id="score-filters"') == 1
    assert "| [Acrobot-v0](environments/Acrobot-v0.md) |" in page
    assert "\n|  |" not in page
    all_rows = [line for line in text.splitlines() if re.match(r"\|  \||\| \w+-v\d+", line)]
    for line, shown in zip(all_rows, [line for line in page.splitlines() if line.startswith("| [")], strict=True):
        assert line[1:].partition("|")[2] == shown.partition(".md)")[2].partition("|")[2]


def test_the_lines_of_the_first_page_run_and_print_what_it_says(pages, capsys):
    text = (ROOT / "docs" / "web" / "index.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (output,) = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    exec(compile(code, "index.md", "exec"), {"__name__": "block"})
    assert capsys.readouterr().out == output
    assert "{{" not in pages.front(text)


def test_the_front_page_names_environments_that_exist(pages):
    assert set(pages.FRONT) <= set(NAMES)
