"""Chromium for tests that look at pages, which complain of every error and warning that a page prints."""

import os
import shutil

import pytest
from support.browsing import WIDE


@pytest.fixture(scope="module")
def chromium():
    playwright = pytest.importorskip("playwright.sync_api", reason='needs playwright: pip install ".[docs]"')
    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("RLENVS_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium, or RLENVS_CHROMIUM=PATH")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def browse(chromium):
    """A new page, by settings of its context; that it complained of nothing is checked at the end of the test."""
    contexts, complaints = [], []

    def begin(**settings):
        usual = {"viewport": WIDE, "color_scheme": "light", "reduced_motion": "reduce"}
        contexts.append(chromium.new_context(**{**usual, **settings}))
        page = contexts[-1].new_page()
        page.complaints = complaints
        page.on("console", listen)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("requestfailed", miss)
        return page

    def listen(said):
        if said.type in ("error", "warning"):
            complaints.append(f"{said.text} {said.location['url']}")

    def miss(request):
        if request.failure != "net::ERR_ABORTED":  # which is what leaving a page does to what it still loads
            complaints.append(f"not there: {request.url}")

    yield begin
    for context in contexts:
        context.close()
    assert complaints == []
