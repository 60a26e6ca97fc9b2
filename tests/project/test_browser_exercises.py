"""Exercises that are solved in a real browser: right, wrong, endless and broken submissions; keys, phones, downloads.

`python3 run.py site --test` looks, where `npm ci --prefix docs/web` and `python3 run.py kernels --targets wasm32` were
run.
"""

import re

import pytest
from support.browsing import CUT_OFF, NARROW, TOO_WIDE
from support.classroom_helpers import FOLDER
from support.exercises_in_page import IDS, MICROPYTHON, SOLVED, builder, needs_micropython
from support.exported import export
from support.places import ROOT

from rlenvs.classroom.exercise import find_exercise
from rlenvs.classroom.grader import grade
from rlenvs.live.server import served

pytestmark = [pytest.mark.browser, needs_micropython]
SHOTS = ROOT / "docs" / "_build" / "screenshots"
LOOP = "def transitions(n):\n    while True:\n        pass\n"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Where the pages are served, as the site has them."""
    folder = tmp_path_factory.mktemp("live")
    export(IDS, folder)
    assert builder().write(folder, IDS, MICROPYTHON) == SOLVED
    with served(folder) as found:
        yield found


@pytest.fixture
def visit(address, browse):
    """Opens an exercise, and checks that nothing is asked for elsewhere."""
    asked = []

    def begin(name, **settings):
        page = browse(**settings)
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{address}/exercises/{name}/index.html")
        page.wait_for_selector('.exercise[data-state="ready"]', timeout=20_000)
        return page

    yield begin
    assert [url for url in asked if not url.startswith((address, f"blob:{address}", "data:"))] == []


def run(page, text=None, seconds=90):
    """Run the tests on a text, to their end; gives what is said then."""
    if text is not None:
        page.get_by_label("Your Python").fill(text)
    page.get_by_role("button", name="Run the public tests").click()
    return wait(page, seconds)


def wait(page, seconds=90):
    for _ in range(seconds * 10):
        if page.get_by_role("button", name="Stop").is_disabled():
            return page.get_by_role("status").inner_text()
        page.wait_for_timeout(100)
    raise AssertionError(page.get_by_role("status").inner_text())


def results(page):
    return page.locator("[data-result]").all_inner_texts()


def plain(name):
    return (FOLDER / name / "plain.py").read_text()


@pytest.mark.parametrize(("name", "mean"), [("mdp_by_hand", "11"), ("q_learning_and_sarsa", "-13")])
def test_a_right_submission_passes_and_plays(visit, name, mean):
    page = visit(name)
    points = sum(test.points for test in find_exercise(name).tests if not test.hidden)
    assert run(page, plain(name)) == f"{points} of {points} public points. Mean return {mean} over 100 seeds."
    assert page.locator('[data-result="right"]').count() == 3
    assert page.locator(".exercise-trial rect").count() == 100
    assert page.locator("progress").evaluate("e => e.value") == 100


def test_what_is_downloaded_is_graded_alike_in_python(visit, tmp_path):
    page, path = visit("dynamic_programming"), tmp_path / "dynamic_programming.py"
    wrong = plain("dynamic_programming").replace("values, sweeps = [0.0]", "values, sweeps = [1.0]")
    assert wrong != plain("dynamic_programming")
    said = run(page, wrong.replace('ARGUMENTS = "lists"\n', ""))
    with page.expect_download() as found:
        page.get_by_role("button", name="Download").click()
    assert found.value.suggested_filename == path.name
    found.value.save_as(path)
    result = grade(path, find_exercise("dynamic_programming"))
    assert said.startswith(f"{result.earned:g} of {result.points} public points.")
    told = [(f"{each.earned:g} of {each.points}", each.reason) for each in result.results if not each.hidden]
    assert results(page) == [": ".join(filter(None, each)) for each in told]
    assert result.earned == 3


def test_a_wrong_one_is_told_why_and_where(visit):
    page = visit("mdp_by_hand")
    said = run(page, "def transitions(n):\n    return [[0]]\n\n\ndef rewards(n):\n    return n / 0\n")
    assert said.startswith("0 of 4 public points. The trial failed:")
    shape, error, missing = results(page)
    assert shape.endswith("transitions(5) has the shape (1, 1); expected (2, 5, 5)")
    assert "ZeroDivisionError" in error
    assert missing.endswith("NameError: the submission defines no policy_values")
    page.get_by_role("button", name="line 6").first.click()
    field = page.get_by_label("Your Python")
    assert field.evaluate("e => e.value.slice(e.selectionStart, e.selectionEnd)") == "    return n / 0"


def test_a_starter_earns_nothing(visit):
    page = visit("bandits")
    assert run(page).startswith("0 of 3 public points.")
    assert all("NotImplementedError" in each for each in results(page))


def test_an_endless_loop_is_stopped_by_hand(visit):
    page = visit("mdp_by_hand")
    page.get_by_label("Your Python").fill(LOOP)
    page.get_by_role("button", name="Run the public tests").click()
    for _ in range(200):
        if page.get_by_role("status").inner_text() == "Running: P of a chain of 5":
            break
        page.wait_for_timeout(100)
    page.get_by_role("button", name="Stop").click()
    assert page.get_by_role("status").inner_text() == "Stopped."
    assert run(page, plain("mdp_by_hand")).startswith("4 of 4")


def test_an_endless_loop_is_stopped_after_a_while(visit):
    page = visit("mdp_by_hand")
    page.evaluate("document.querySelector('.exercise').exercise.limit = 2")
    assert run(page, LOOP) == (
        "P of a chain of 5: no answer within 2 s. Does a loop never end? The tests were stopped."
    )


def test_a_mistake_in_the_text_is_told_with_its_line(visit):
    page = visit("mdp_by_hand")
    assert run(page, "x = 1\n\ndef f(:\n    pass\n") == "0 of 4 public points."
    assert all("SyntaxError" in each and "line 3" in each for each in results(page))


def test_what_is_printed_is_shown_up_to_a_limit(visit):
    page = visit("mdp_by_hand")
    run(page, "print('<b>one</b>')\nfor i in range(1000):\n    print(i)\n")
    lines = page.locator(".exercise-printed").inner_text().splitlines()
    assert lines[:2] == ["<b>one</b>", "0"]
    assert lines[-1] == "... (no more is shown)"
    assert len(lines) == 200


def test_keys_alone_are_enough(visit):
    page = visit("mdp_by_hand")
    page.get_by_label("Your Python").fill("")
    page.keyboard.type("def transitions(n):\nif n:\nreturn [[0]]\n")
    page.keyboard.press("Backspace")
    page.keyboard.press("Backspace")
    page.keyboard.type("x = 1")
    wanted = "def transitions(n):\n    if n:\n        return [[0]]\nx = 1"
    assert page.get_by_label("Your Python").input_value() == wanted
    page.keyboard.press("Control+Enter")
    wait(page)
    assert results(page)[0].endswith("has the shape (1, 1); expected (2, 5, 5)")
    page.keyboard.press("Tab")
    focused = "document.activeElement.textContent"
    assert page.evaluate(focused) == "Run the public tests"
    page.get_by_label("Your Python").fill(LOOP)
    page.get_by_role("button", name="Run the public tests").press("Enter")
    assert page.evaluate(focused) == "Stop"
    page.keyboard.press("Enter")
    assert page.evaluate(focused) == "Run the public tests"
    assert page.get_by_role("status").inner_text() == "Stopped."


def test_what_was_written_is_still_there_and_can_be_given_up(visit):
    page = visit("mdp_by_hand")
    starter = page.get_by_label("Your Python").input_value()
    page.get_by_label("Your Python").fill("x = 1")
    page.reload()
    page.wait_for_selector('.exercise[data-state="ready"]')
    assert page.get_by_label("Your Python").input_value() == "x = 1"
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Start over").click()
    assert page.get_by_label("Your Python").input_value() == starter


@pytest.mark.parametrize("name", SOLVED)
def test_a_page_fits_a_phone_and_everything_has_a_name(visit, name):
    page = visit(name, viewport=NARROW, color_scheme="dark", has_touch=True, is_mobile=True)
    if name != "bandits":  # which takes long
        run(page, plain(name))
    assert page.evaluate(TOO_WIDE) <= 0
    assert page.evaluate(CUT_OFF) == []
    for kind in ("button", "textbox", "progressbar", "img", "link"):
        for each in page.get_by_role(kind).all():
            assert each.get_attribute("aria-label") or each.inner_text(), kind
    text = page.locator("details").text_content()
    assert not set("$\\") & set(text), "an equation that could not be converted"
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"exercise-{name}-phone.png", full_page=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_screenshots(visit, scheme):
    """For people; here, that the scheme is followed, and that equations are shown."""
    page = visit("td_and_monte_carlo", color_scheme=scheme)
    run(page, plain("td_and_monte_carlo"))
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"exercise-{scheme}.png", full_page=True)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", ground)[:3])) < 200) == (scheme == "dark")
    assert page.locator("math").count() > 3
