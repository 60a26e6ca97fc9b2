"""The built site in a real browser: every page, every film, search, filter, scrub bar; wide and narrow, light and dark.

`python3 run.py site --test` builds and looks. Screenshots for people go to docs/_build/screenshots.
"""

import re
from collections import Counter
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from support.browsing import CUT_OFF, NARROW, TOO_WIDE, WIDE
from support.places import ROOT
from support.searches import exact_searches, wide_searches

import rlenvs
from rlenvs.core.catalogue.docs import documented
from rlenvs.live.server import served

pytestmark = pytest.mark.browser
SITE, SHOTS = ROOT / "docs" / "_build" / "site", ROOT / "docs" / "_build" / "screenshots"
NAMES = [row.id.partition("/")[2] for row in documented()]
SHOWN = [
    "index.html",
    "gallery.html",
    "start.html",
    "concepts.html",
    "api.html",
    "scores.html",
    "families/quadcopter.html",
    *(
        f"environments/{name}.html"
        for name in ("CartPole-v0", "QuadRace-v0", "PandaPush-v0", "Battle-v0", "Crafting-v0")
    ),
]

NO_IMAGE = """[...document.images].filter(i => i.loading !== "lazy" && i.complete && !i.naturalWidth && i.offsetParent)
    .map(i => i.src)"""


def pages():
    """All pages but the listings of source code that the reference leads to."""
    found = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
    return [name for name in found if not name.startswith(("_modules/", "_static/"))]


@pytest.fixture(scope="module")
def site():
    if not (SITE / "index.html").exists():
        pytest.skip("the site is not built: python3 run.py site")
    return SITE


@pytest.fixture(scope="module")
def address(site):
    """Where the site is served."""
    with served(site) as found:
        yield found


@pytest.fixture
def page(address, browse):
    found = browse()
    found.site = address
    return found


def visit(page, name):
    """Open a page, and its film, which an environment that is played live may hide."""
    page.goto(f"{page.site}/{name}")
    if page.locator(".live[data-world]").count():
        page.wait_for_selector('.live[data-state="ready"]', timeout=20_000)
        page.get_by_role("button", name="Film", exact=True).click()
    if page.locator(".film[data-film]").count():
        page.wait_for_selector('.film[data-state="ready"]', timeout=20_000)
        page.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )  # its size is known


def show_live(page):
    """What is played live, where a page has that."""
    if page.locator(".live-tabs").count():
        page.get_by_role("button", name="Live", exact=True).click()


# --- links ------------------------------------------------------------------------------------------------------------


class Links(HTMLParser):
    """Where a page leads, and the places in it that can be led to."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.ids = [], Counter()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.targets += [found[name] for name in ("href", "src", "data-src") if found.get(name)]
        self.ids.update([found["id"]] if "id" in found else [])


def test_every_link_image_and_anchor_leads_somewhere(site):
    read = {path: Links(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    wrong = []
    for path, links in read.items():
        for target in links.targets:
            if re.match(r"\w+:|//", target):
                continue
            name, _, anchor = unquote(target).partition("#")
            goal = (path.parent / name.partition("?")[0]).resolve() if name else path
            goal = goal / "index.html" if goal.is_dir() else goal
            known = read[goal].ids if goal in read and anchor else {anchor: 1}
            if not goal.exists() or (anchor and anchor not in known):
                wrong.append(f"{path.relative_to(site)}: {target}")
    assert wrong == []


def test_nothing_is_loaded_from_elsewhere(site):
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert re.findall(r"<(?:script|img|link)[^>]+(?:src|href)=\"(?:https?:)?//[^\"]+", text) == [], path


# --- every page -------------------------------------------------------------------------------------------------------


def test_every_page_fits_wide_and_narrow_and_every_film_opens(page):
    wrong = []
    for name in pages():
        page.set_viewport_size(WIDE)
        page.emulate_media(color_scheme="light")
        visit(page, name)
        for size, scheme in ((WIDE, "light"), (NARROW, "dark")):
            page.set_viewport_size(size)
            page.emulate_media(color_scheme=scheme)
            show_live(page)
            found = [f"{page.evaluate(TOO_WIDE)} pixels too wide"] if page.evaluate(TOO_WIDE) > 0 else []
            found += [f"cut off: {each}" for each in page.evaluate(CUT_OFF)]
            found += [f"no image: {each}" for each in page.evaluate(NO_IMAGE)]
            wrong += [f"{name}, {size['width']} pixels: {each}" for each in found]
    assert wrong == []


def test_what_is_looked_for_would_be_found(page):
    visit(page, "start.html")
    assert page.evaluate(TOO_WIDE) <= 0
    assert page.evaluate(CUT_OFF) == page.evaluate(NO_IMAGE) == []
    page.evaluate("""document.querySelector("article").insertAdjacentHTML("beforeend",
        '<p style="width: 3000px">wide</p>'
        + '<p style="width: 20px; overflow: hidden; white-space: nowrap">cut off here</p>'
        + '<img src="data:image/png;base64,AAAA" style="width: 9px; height: 9px">')""")
    page.wait_for_function("[...document.images].every(image => image.complete)")
    assert page.evaluate(TOO_WIDE) > 0
    assert len(page.evaluate(CUT_OFF)) == len(page.evaluate(NO_IMAGE)) == 1


def test_a_notebook_plays_a_film_as_high_as_it_is(page, tmp_path):
    """In a frame, as notebooks show output of HTML."""
    cell = tmp_path / "cell.html"
    cell.write_text(
        f"<!doctype html><meta charset=utf-8>{rlenvs.show_episode('CartPole-v0')._repr_html_()}", encoding="utf-8"
    )
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(cell.as_uri())
    frame = page.frames[1]
    frame.wait_for_selector(".film[data-state=ready]")
    page.wait_for_timeout(300)
    inside, outside = (each.evaluate("document.body.offsetHeight") for each in (frame, page))
    assert 400 < inside <= outside
    assert frame.evaluate("document.querySelectorAll('.film-policies label').length") == 3
    frame.locator(".film .film-scrub").fill("7")
    assert frame.locator(".film .film-head").inner_text().startswith("step")
    assert errors == []


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_screenshots(page, size, scheme):
    """For people; here, that the scheme is followed."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme)
    for name in SHOWN:
        visit(page, name)
        if page.locator(".film").count():
            page.evaluate("(p => p.go(Math.round(0.6 * p.scrub.max)))(document.querySelector('.film').player)")
        page.evaluate("document.querySelectorAll('img').forEach(image => { image.loading = 'eager'; })")
        page.wait_for_function("[...document.images].every(image => image.complete)")
        page.screenshot(path=SHOTS / f"{name.replace('/', '-')[:-5]}-{size['width']}-{scheme}.png")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", ground)[:3])) < 200) == (scheme == "dark")


# --- what can be used -------------------------------------------------------------------------------------------------


def picture(page):
    return page.evaluate("document.querySelector('.film .film-screen canvas').toDataURL()")


def step_shown(page):
    return int(re.search(r"\d+", page.locator(".film .film-head").inner_text())[0])


@pytest.mark.parametrize("name", ["CartPole-v0", "PandaReach-v0"])
def test_the_scrub_bar_shows_every_state(page, name):
    visit(page, f"environments/{name}.html")
    first, bar = picture(page), page.locator(".film .film-scrub")
    last = int(bar.get_attribute("max"))
    assert step_shown(page) == 0
    bar.focus()
    page.keyboard.press("End")
    assert int(bar.input_value()) == last
    assert picture(page) != first
    end = step_shown(page)
    page.keyboard.press("ArrowLeft")
    assert int(bar.input_value()) == last - 1
    assert step_shown(page) < end
    page.keyboard.press("Home")
    assert picture(page) == first


def test_a_film_plays_pauses_and_changes_the_policy(page):
    visit(page, "environments/CartPole-v0.html")
    play = page.locator(".film .film-play")
    play.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('.film').player.frame > 3")
    page.keyboard.press("Enter")
    assert play.get_attribute("aria-label") == "Play"
    reached = step_shown(page)
    assert reached > 0
    # the others are at the same step, or at their end
    tile = page.locator(".film .film-policies label").first.locator("b")
    assert tile.inner_text() == str(min(reached, 32))
    page.get_by_role("radio", name="Random actions").check()
    assert step_shown(page) == 0
    assert int(page.locator(".film .film-scrub").get_attribute("max")) < 100  # random actions drop the pole early
    assert "return" in page.locator(".film .film-plots").inner_text()


def test_a_plot_leads_to_its_step(page):
    visit(page, "environments/CartPole-v0.html")
    box = page.locator(".film .film-plot svg").first.bounding_box()
    page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 10)
    assert 200 < step_shown(page) < 300  # of 500


def test_the_gallery_filters_searches_and_plays(page):
    visit(page, "gallery.html")
    cards = page.locator("#gallery-cards .card:visible")
    assert cards.count() == len(NAMES)
    page.locator("select[name=agents]").select_option("several")
    several = cards.count()
    assert 0 < several < len(NAMES)
    assert page.locator("#gallery-filters .filter-count").inner_text() == f"{several} of {len(NAMES)} environments"
    page.locator("#gallery-filters .filter-clear").click()
    page.locator("#gallery-filters input[type=search]").fill("pole cart")
    assert 0 < cards.count() < 20
    assert "CartPole-v0" in page.locator("#gallery-cards").inner_text()
    cards.first.hover()
    page.wait_for_selector(".film-preview")
    page.locator("h1").hover()
    assert page.locator(".film-preview").count() == 0
    page.reload()  # what was asked for stands in the address
    assert page.locator("#gallery-filters input[type=search]").input_value() == "pole cart"


def test_the_gallery_finds_the_words_of_the_field(page):
    visit(page, "gallery.html")
    search, cards = page.locator("#gallery-filters input[type=search]"), "#gallery-cards .card:not([hidden])"
    names = f"[...document.querySelectorAll('{cards}')].map(card => card.dataset.name)"
    for query, wanted in exact_searches().items():
        search.fill(query)
        assert set(page.evaluate(names)) == wanted, query
    for query, (wanted, unwanted) in wide_searches().items():
        search.fill(query)
        found = set(page.evaluate(names))
        assert wanted <= found, query
        assert not unwanted & found, query
    search.fill("quadc")  # the beginning of a word
    assert page.locator(cards).count() == len(exact_searches()["drone"])
    search.fill("no such word")
    assert page.locator(cards).count() == 0
    assert "Try another word" in page.locator("#gallery-filters .filter-count").inner_text()


COLUMN = """([table, column]) => [...document.querySelectorAll('.long-table table')[table].tBodies[0].rows]
    .filter(row => !row.hidden).map(row => row.cells[column].innerText.trim())"""


def test_the_table_of_scores_sorts(page):
    visit(page, "scores.html")
    heads = page.locator(".long-table table").first.locator("th")
    names = page.evaluate(COLUMN, [0, 0])
    assert len(names) >= len(NAMES)
    for title in ("Expert", "Score", "Success", "Cost"):
        column = heads.all_inner_texts().index(title)
        for way in ("descending", "ascending"):
            heads.nth(column).locator("button").click()
            assert heads.nth(column).get_attribute("aria-sort") == way
            cells = page.evaluate(COLUMN, [0, column])
            numbers = [float(found[0]) for cell in cells if (found := re.search(r"-?\d+(\.\d+)?(e[+-]?\d+)?", cell))]
            assert len(numbers) > 50
            assert numbers == sorted(numbers, reverse=way == "descending"), title
            assert not any(re.search(r"\d", cell) for cell in cells[len(numbers) :]), "empty cells are at the end"
    heads.first.locator("button").click()
    assert page.evaluate(COLUMN, [0, 0])[0].startswith("Acrobot")


def test_the_table_of_scores_filters(page):
    visit(page, "scores.html")
    every = page.evaluate(COLUMN, [0, 0])
    search = page.locator("#score-filters input[type=search]")
    search.fill("drone")
    assert all(name.startswith("Quad") for name in page.evaluate(COLUMN, [0, 0]))
    page.locator("#score-filters select[name=rows]").select_option("default")
    assert set(page.evaluate(COLUMN, [0, 0])) == exact_searches()["drone"]
    page.locator("#score-filters select[name=solved]").select_option("solved")
    solved = set(page.evaluate(COLUMN, [0, 0]))
    assert solved < exact_searches()["drone"]
    assert "QuadHover-v0" in solved
    page.reload()
    assert set(page.evaluate(COLUMN, [0, 0])) == solved
    page.locator("#score-filters .filter-clear").click()
    assert page.evaluate(COLUMN, [0, 0]) == every
    page.locator("#score-filters select[name=family]").select_option("Classic")
    page.locator("#score-filters select[name=tags]").select_option("multi-objective")
    assert "Pendulum-v0" in page.evaluate(COLUMN, [0, 0])
    assert "CartPole-v0" not in page.evaluate(COLUMN, [0, 0])


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_table_of_scores_keeps_its_head_and_first_column(page, size):
    page.set_viewport_size(size)
    visit(page, "scores.html")
    assert page.evaluate("document.documentElement.scrollHeight") < 12_000
    box = page.locator(".long-table .table-wrapper").first
    box.evaluate("box => box.scrollTo(500, 3000)")
    outer = box.bounding_box()
    head, corner = box.locator("th").nth(1).bounding_box(), box.locator("th").first.bounding_box()
    assert abs(head["y"] - outer["y"]) < 3
    assert abs(corner["x"] - outer["x"]) < 3
    assert abs(corner["y"] - outer["y"]) < 3
    cell = box.locator("tbody tr").nth(30).locator("td").first.bounding_box()
    assert abs(cell["x"] - outer["x"]) < 3
    assert cell["width"] < 0.45 * outer["width"]


def test_gallery_and_scores_work_from_files_without_a_server(page):
    page.goto((SITE / "gallery.html").as_uri())
    page.locator("#gallery-filters input[type=search]").fill("drone")
    assert page.locator("#gallery-cards .card:visible").count() == len(exact_searches()["drone"])
    page.goto((SITE / "scores.html").as_uri())
    page.locator("#score-filters input[type=search]").fill("starcraft")
    assert {name.split(" ")[0] for name in page.evaluate(COLUMN, [0, 0])} == exact_searches()["StarCraft"]


def test_black_and_white_in_a_legend_are_seen_in_the_dark(page):
    page.emulate_media(color_scheme="dark")
    visit(page, "environments/CartPole-v0.html")
    ground = page.evaluate("getComputedStyle(document.querySelector('.film-legend')).backgroundColor")
    assert min(map(int, re.findall(r"\d+", ground)[:3])) > 200


def test_the_search_finds(page):
    page.goto(f"{page.site}/index.html")
    page.locator(".sidebar-search").fill("quadcopter")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelectorAll('#search-results li').length > 5")
    assert "Quad" in page.locator("#search-results").inner_text()


def test_a_live_page_shows_its_film_where_that_is_asked_for_or_all_there_is(page, browse):
    name = next((name for name in NAMES if "data-world" in (SITE / "environments" / f"{name}.html").read_text()), None)
    if name is None:
        pytest.skip("no environment is live: python3 run.py kernels --targets wasm32")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{page.site}/environments/{name}.html")
    page.wait_for_selector('.live[data-state="ready"]')
    page.get_by_role("button", name="One step").click()
    assert page.locator(".live .film-head").first.inner_text().startswith("step 1")
    assert not any("/films/" in url for url in asked)  # loaded when it is asked for
    page.get_by_role("button", name="Film", exact=True).click()
    page.wait_for_selector('.film[data-state="ready"]')
    assert page.locator(".live-stage").is_hidden()
    plain = browse(java_script_enabled=False)
    plain.goto(f"{page.site}/environments/{name}.html")
    assert plain.locator(".film img").is_visible()


def test_a_film_plays_from_a_file_without_a_server(page):
    page.goto((SITE / "environments" / "CartPole-v0.html").as_uri())
    page.wait_for_selector('.film[data-state="ready"]')
    assert page.locator(".film .film-plot").count() == 2
