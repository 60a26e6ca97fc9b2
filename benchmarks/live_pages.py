"""Live pages in Chromium: python benchmarks/live_pages.py FOLDER [IDS]

FOLDER has been written by `rlenvs export`, or is _static/live of the built site. A row for each id: kB that the page
loads, seconds from the request to the first frame after a step, milliseconds of a step and its picture and frames per
second that they allow, the same in time of the processor (of the page's own thread, so that others at work do not
count), whether the proof holds, and errors. Needs playwright and Chromium.
"""

import argparse
import os
import shutil
import time
from pathlib import Path

from rlenvs.live.server import served

FRAMES, PATIENCE = 60, 30.0  # of a measurement; seconds
FRAME = """async frames => {
    const live = document.querySelector(".live").live;
    live.pause();
    await live.players.choose(live.players.known.some(([who]) => who === "expert") ? "expert" : "random");
    live.playing = true; // without its clock
    const start = performance.now();
    for (let i = 0; i < frames; i++) { if (live.over) live.begin(); live.step(); live.paint(); }
    live.playing = false;
    return (performance.now() - start) / frames;
}"""


def until(page, condition: str) -> None:
    """Wait; the policy of the page forbids what Playwright's own waiting does."""
    start = time.perf_counter()
    while not page.evaluate(condition):
        if time.perf_counter() - start > PATIENCE:
            raise TimeoutError(condition)
        page.wait_for_timeout(5)


def used(session) -> float:
    """Milliseconds of the processor that the page has used so far."""
    found = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    return 1e3 * found["TaskDuration"]


def row_of(browser, address: str, name: str) -> list[str]:
    """The cells of an id."""
    page, errors, loaded = browser.new_page(), [], []
    page.on("console", lambda said: errors.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("response", lambda answer: loaded.append(int(answer.headers.get("content-length", 0))))
    start = time.perf_counter()
    page.goto(f"{address}/{name}/", wait_until="commit")
    cells = [""] * 5
    try:
        until(page, "document.querySelector('.live')?.live?.environment.elapsed > 0")
        first, size = time.perf_counter() - start, sum(loaded)
        until(page, "document.querySelector('.live-proof')?.dataset.equal")
        proof = page.evaluate("document.querySelector('.live-proof').dataset.equal")
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.evaluate(FRAME, FRAMES)  # until the engine has compiled what is slow
        start = used(session)
        frame = page.evaluate(FRAME, FRAMES)
        own = (used(session) - start) / FRAMES
        cells = [f"{size / 1e3:.0f}", f"{first:.2f}", *(f"{ms:.1f} ({1e3 / ms:.0f})" for ms in (frame, own)), proof]
    except Exception as error:
        errors.append(str(error).partition("\n")[0])
    page.close()
    return [name, *cells, "; ".join(errors)]


def main() -> None:
    """Measure."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    options.add_argument("ids", nargs="*")
    given = options.parse_args()
    names = given.ids or sorted(path.parent.name for path in given.folder.glob("*/world.json"))
    if not names:
        print(f"there are no environments in {given.folder}")
        return
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("RLENVS_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    print(
        "| id | kB | first frame, s | ms per frame (frames/s) | of the processor | proof | errors |\n"
        "|---|---|---|---|---|---|---|",
        flush=True,
    )
    with sync_playwright() as started, served(given.folder) as address:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in names:
            print(f"| {' | '.join(row_of(browser, address, name))} |", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
