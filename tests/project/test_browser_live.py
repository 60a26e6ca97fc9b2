"""Exported environments in a real browser: they load, play, take keys, touches and links, and prove what they say.

`python3 run.py site --test` looks, where `python3 run.py kernels --targets wasm32` built the modules.
"""

import json
import re

import pytest
from support.browsing import CUT_OFF, NARROW, TOO_WIDE
from support.exported import export
from support.places import ROOT

from rlenvs.live.server import served

pytestmark = pytest.mark.browser
SHOTS = ROOT / "docs" / "_build" / "screenshots"
IDS = ("CartPole-v0", "QuadHover-v0", "MiniGridDoorKey5x5-v0", "Battle-v0", "ConnectFour-v0", "Breakthrough-v0")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of exported environments."""
    made = tmp_path_factory.mktemp("live")
    export(IDS, made)
    return made


@pytest.fixture(scope="module")
def address(folder):
    with served(folder) as found:
        yield found


@pytest.fixture
def visit(address, browse):
    """Opens an environment, and checks that nothing is asked for elsewhere."""
    asked = []

    def begin(id, query="", fragment="", **settings):
        page = browse(**settings)
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{address}/{id}/{query}{fragment}")
        page.wait_for_selector('.live[data-state="ready"]', timeout=20_000)
        return page

    yield begin
    assert [url for url in asked if not url.startswith((address, "data:"))] == []


def until(page, condition):
    """Wait; the page's policy forbids what Playwright's own waiting does."""
    for _ in range(500):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(20)
    raise AssertionError(condition)


def step_shown(page):
    return int(re.search(r"\d+", page.locator(".film-head").inner_text())[0])


def player(page):
    return page.locator(".live-who input:checked").get_attribute("value")


def state(page):
    """All numbers of the world."""
    return page.evaluate("[...document.querySelector('.live').live.environment.array('states')].map(Number)")


def picture(page):
    return page.evaluate("document.querySelector('.film-screen canvas').toDataURL()")


@pytest.mark.parametrize("id", IDS)
def test_an_environment_plays_and_proves_that_it_is_right(visit, id):
    page = visit(id, "?who=expert")
    first = picture(page)
    assert step_shown(page) == 0
    for _ in range(3):
        page.get_by_role("button", name="One step").click()
    assert step_shown(page) == 3
    assert picture(page) != first
    assert page.get_by_role("status").inner_text().startswith("step 3")
    page.wait_for_selector(".live-proof[data-equal]")
    assert page.locator(".live-proof").inner_text() == "300 steps computed here hash to the same as in Python: yes"


@pytest.mark.parametrize("id", IDS)
def test_a_page_fits_a_phone_and_everything_has_a_name(visit, id):
    page = visit(id, viewport=NARROW, color_scheme="dark", has_touch=True, is_mobile=True)
    page.locator("summary").click()
    page.get_by_role("button", name="Embed").click()
    assert page.evaluate(TOO_WIDE) <= 0
    assert page.evaluate(CUT_OFF) == []
    for kind in ("button", "slider", "combobox", "radio", "spinbutton", "textbox", "listbox", "application"):
        for each in page.get_by_role(kind).all():
            name = (
                each.get_attribute("aria-label") or each.inner_text() or each.evaluate("e => e.labels?.[0]?.innerText")
            )
            assert name, kind
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"live-{id}-phone.png", full_page=True)


def test_it_moves_by_itself_unless_less_motion_is_wanted(visit):
    page = visit("CartPole-v0", reduced_motion="no-preference")
    until(page, "document.querySelector('.live').live.environment.elapsed > 5")
    page.get_by_role("button", name="Pause").click()
    page = visit("CartPole-v0")
    page.wait_for_timeout(300)
    assert step_shown(page) == 0


def test_a_person_begins_when_ready(visit):
    page = visit("CartPole-v0", "?who=expert", reduced_motion="no-preference")
    until(page, "document.querySelector('.live').live.environment.elapsed > 3")
    page.get_by_role("radio", name="You").click()
    until(page, "document.querySelector('.live-said').innerText.startsWith('You play')")
    reached = step_shown(page)
    page.wait_for_timeout(200)
    assert step_shown(page) == reached
    page.keyboard.press("ArrowRight")  # the picture has the focus
    until(page, f"document.querySelector('.live').live.environment.elapsed > {reached}")


def test_keys_take_over(visit):
    page = visit("CartPole-v0")
    assert player(page) != "you"
    page.get_by_label("Speed").select_option("0.25")
    page.get_by_role("application").focus()
    page.keyboard.down("ArrowRight")
    until(page, "document.querySelector('.live').live.environment.elapsed > 1")
    assert player(page) == "you"
    page.keyboard.press("Escape")
    assert page.locator(".live-done").inner_text().endswith("push right")
    page.keyboard.up("ArrowRight")
    reached = step_shown(page)
    page.keyboard.press(".")
    assert step_shown(page) == reached + 1
    assert page.locator(".live-done").inner_text().endswith("push left")


def test_a_touch_holds_a_button(visit):
    page = visit("QuadHover-v0", viewport=NARROW, has_touch=True)
    page.get_by_role("button", name=re.compile("up$")).tap()
    until(page, "document.querySelector('.live').live.environment.elapsed > 0")
    assert player(page) == "you"


def test_a_slider_of_an_action_acts(visit):
    page = visit("QuadHover-v0", "?who=you")
    page.get_by_role("slider", name="rotor 0").fill("0.5")
    until(page, "document.querySelector('.live').live.environment.loaded()[0] !== 0")  # from the next step on
    page.get_by_role("button", name="Pause").click()
    assert page.evaluate("document.querySelector('.live').live.environment.loaded()[0]") == 0.5


def test_a_board_waits_for_moves_and_lets_the_other_side_reply(visit):
    page = visit("ConnectFour-v0", "?who=you")
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_timeout(400)
    assert step_shown(page) == 0
    page.get_by_role("application").focus()
    page.keyboard.press("4")
    until(page, "document.querySelector('.live').live.environment.elapsed === 2")
    page.wait_for_timeout(400)
    assert step_shown(page) == 2


def test_a_move_of_a_list_is_seen_before_it_is_played(visit):
    page = visit("Breakthrough-v0", "?who=you")
    page.evaluate(
        "() => { const { live } = document.querySelector('.live'); live.steering.list(live.pointing.allowed); }"
    )
    before, shown, moves = state(page), picture(page), page.get_by_role("listbox", name="Possible actions")
    moves.select_option(index=3)
    assert picture(page) != shown
    assert page.get_by_role("status").inner_text().startswith("after this move")
    assert state(page) == before
    page.get_by_role("button", name="Play this move").click()
    until(page, "document.querySelector('.live').live.environment.elapsed === 2")


def test_a_move_is_pointed_at_by_keys(visit):
    page = visit("Breakthrough-v0", "?who=you")
    page.get_by_role("application").focus()
    shown = picture(page)
    page.keyboard.press("ArrowRight")  # the mark appears
    assert picture(page) != shown
    page.keyboard.press("Enter")
    assert page.get_by_role("status").inner_text() == "Point to where it goes."
    page.keyboard.press("Backspace")
    assert page.evaluate("document.querySelector('.live').live.pointing.picked.length") == 0
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowUp")
    assert page.get_by_role("status").inner_text() == "column 1 row 2 straight"
    page.keyboard.press("Enter")
    until(page, "document.querySelector('.live').live.environment.elapsed === 2")


def test_a_move_is_pointed_at_by_clicks(visit):
    page = visit("Breakthrough-v0", "?who=you")
    box = page.get_by_role("application").bounding_box()
    unit = box["width"] / page.evaluate("document.querySelector('.live').live.screen.canvas.scene[0]")
    for _ in range(2):
        x, y = page.evaluate("document.querySelector('.live').live.pointing.targets.at(-1)")
        page.mouse.click(box["x"] + x * unit + 3, box["y"] + y * unit - 3)
    until(page, "document.querySelector('.live').live.environment.elapsed === 2")
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)  # an empty cell
    assert page.evaluate("document.querySelector('.live').live.pointing.picked.length") == 0


def test_masked_actions_are_disabled(visit):
    page = visit("Battle-v0", "?who=you")
    masked = page.evaluate("[...document.querySelector('.live').live.mask()]")
    buttons = page.locator(".live-buttons button")
    assert [not buttons.nth(i).is_disabled() for i in range(buttons.count())] == [bool(each) for each in masked]
    assert 0 in masked


def test_others_play_by_the_policy_that_is_chosen(visit):
    page = visit("Battle-v0", "?who=idle")
    page.get_by_label("with you").select_option("player:plain")
    page.get_by_role("button", name="One step").click()
    first = page.evaluate("document.querySelector('.live').live.environment.loaded()[0]")
    assert first == page.evaluate("document.querySelector('.live').live.description.action.idle")


def test_parameters_act_and_go_back(visit):
    page = visit("CartPole-v0", "?who=expert")
    page.locator("summary").click()
    usual = state_after(page, 20)
    slider = page.get_by_role("slider", name=re.compile("^gravity"))
    slider.fill("20")
    page.get_by_role("button", name="Reset").click()
    assert state_after(page, 20) != usual
    page.get_by_role("button", name="Default parameters").click()
    page.get_by_role("button", name="Reset").click()
    assert state_after(page, 20) == usual


def state_after(page, steps):
    page.evaluate(f"for (let i = 0; i < {steps}; i++) document.querySelector('.live').live.step()")
    return state(page)


def test_levels_and_seeds(visit, folder):
    levels = json.loads((folder / "QuadHover-v0" / "world.json").read_text())["levels"]
    assert len(levels) > 1
    page = visit("QuadHover-v0", "?seed=7")
    seventh = state(page)
    page.locator("summary").click()
    page.get_by_label("Seed").fill("8")
    page.get_by_role("button", name="Reset").click()
    assert state(page) != seventh
    page.get_by_label("Seed").fill("7")
    page.get_by_role("button", name="Reset").click()
    assert state(page) == seventh
    for level in filter(None, levels):
        page.get_by_label("Level").select_option(level)
        until(page, f"document.querySelector('.live').live.description.level === '{level}'")
        assert page.get_by_label("Level").input_value() == level
        page.wait_for_selector('.live-proof[data-equal="true"]')


def test_a_link_leads_to_the_same_state(visit):
    page = visit("CartPole-v0", "?who=expert")
    state_after(page, 7)
    page.get_by_role("button", name="Link to this state").click()
    link = page.get_by_label("Link", exact=True).input_value()
    other = visit("CartPole-v0", fragment="#" + link.partition("#")[2])
    assert state(other) == state(page)
    assert step_shown(other) == 7


def test_a_damaged_link_is_said_and_an_episode_begins(visit):
    page = visit("CartPole-v0", fragment="#live=abcd")
    assert page.get_by_role("status").inner_text().startswith("The link cannot be opened")
    assert step_shown(page) == 0


def test_the_line_that_embeds_a_page_works(visit, browse, address):
    page = visit("CartPole-v0")
    page.get_by_role("button", name="Embed").click()
    line = page.get_by_label("In a page").input_value()
    assert f'src="{address}/CartPole-v0/index.html"' in line
    other = browse()
    other.set_content(line)
    other.frame_locator("iframe").locator('.live[data-state="ready"]').wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("id", IDS)
def test_screenshots(visit, id, scheme):
    """For people; here, that the scheme is followed."""
    page = visit(id, "?who=expert", color_scheme=scheme)
    for _ in range(4):
        page.get_by_role("button", name="One step").click()
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"live-{id}-{scheme}.png", full_page=True)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", ground)[:3])) < 200) == (scheme == "dark")
