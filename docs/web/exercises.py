"""The exercises that are solved in the browser: those with a trial in a live environment, where MicroPython is there.

FOLDER/exercises/NAME/index.html, exercise.json    see rlenvs/classroom/in_page.py
FOLDER/micropython/                                the Python of these pages, which `npm ci --prefix docs/web` fetches
"""

from __future__ import annotations

import html
import json
import re
import shutil
from collections.abc import Collection
from pathlib import Path

from parts import raw

from rlenvs.classroom.exercise import Exercise, find_exercise
from rlenvs.classroom.in_page import data_of
from rlenvs.live.page import head

ROOT = Path(__file__).resolve().parent.parent.parent
CLASSROOM, GUIDE = ROOT / "examples" / "classroom", ROOT / "docs" / "classroom.md"
PYTHON = Path(__file__).with_name("node_modules") / "@micropython" / "micropython-webassembly-pyscript"
EXERCISES, MICROPYTHON = "exercises", "micropython"
HOLDER = "Copyright (c) 2013-2026 Damien P. George"  # of MicroPython, whose license is MIT as ours is
HEADING = "## In the browser\n"
MATH = re.compile(r"\$\$(.+?)\$\$|\$(.+?)\$", re.DOTALL)
PAGE = """{head}<link rel="stylesheet" href="../../static/exercise.css">
<script type="module" src="../../static/exercise.js"></script>
</head>
<body class="live-alone">
<main>
<p><a href="../../../../classroom.html">In the classroom</a></p>
<h1>{title}</h1>
<details class="exercise-text" open><summary>The exercise</summary>
{text}
</details>
<p>Here you write plain Python: arrays are lists, so <code>P[a, s, t]</code> is <code>P[a][s][t]</code>. There are
<code>math</code> and <code>random</code>, and no NumPy. What you write stays in this browser.
To hand it in, download it.</p>
<noscript><p>The exercise needs JavaScript.</p></noscript>
<div class="exercise" data-exercise="exercise.json"></div>
</main>
</body>
</html>
"""


def write(folder: Path, played: Collection[str], python: Path = PYTHON) -> list[str]:
    """Write the pages of exercises, and remove those of others; returns their names, in the order of the guide.

    Args:
        folder: of all live environments. played: the names of these. python: the folder of MicroPython.
    """
    for name in (EXERCISES, MICROPYTHON):
        shutil.rmtree(folder / name, ignore_errors=True)
    if not python.is_dir():
        return []
    ladder = GUIDE.read_text(encoding="utf-8").partition("<!-- /ladder -->")[0]
    rows = re.findall(r"(?m)^\| `(\w+)` \|", ladder)
    found = [exercise for exercise in map(find_exercise, rows) if exercise.trial and exercise.trial.id in played]
    for exercise in found:
        _write_page(exercise, folder / EXERCISES / exercise.name)
    if found:
        _write_shared(folder, python)
    return [exercise.name for exercise in found]


def _write_page(exercise: Exercise, own: Path) -> None:
    source = (CLASSROOM / exercise.name / "exercise.py").read_text(encoding="utf-8")
    own.mkdir(parents=True)
    (own / "exercise.json").write_text(json.dumps(data_of(exercise, source), allow_nan=False), encoding="utf-8")
    title = html.escape(exercise.title)
    filled = PAGE.format(head=head(title, "../../static/"), title=title, text=text_of(source))
    (own / "index.html").write_text(filled, encoding="utf-8")


def _write_shared(folder: Path, python: Path) -> None:
    place = folder / MICROPYTHON
    place.mkdir()
    for name in ("micropython.mjs", "micropython.wasm"):
        shutil.copyfile(python / name, place / name)
    _, _, terms = (ROOT / "LICENSE").read_text(encoding="utf-8").split("\n\n", 2)
    (place / "LICENSE.txt").write_text(f"MIT License\n\n{HOLDER}\n\n{terms}", encoding="utf-8")


def text_of(source: str) -> str:
    """What an exercise explains, up to its experiments, as HTML."""
    from latex2mathml.converter import convert
    from markdown_it import MarkdownIt

    formulas: list[str] = []

    def kept(found: re.Match[str]) -> str:
        formula = (found[1] or found[2]).replace(r"\arg\max", r"\text{arg max}")
        shown = convert(formula, display="block" if found[1] else "inline")
        formulas.append(f'<span class="exercise-formula">{shown}</span>' if found[1] else shown)
        return f"FORMULA{len(formulas) - 1}."

    cells = source.partition("## Look at it")[0].split("# %%")
    told = [cell.partition("\n")[2] for cell in cells if cell.startswith(" [markdown]")]
    text = "\n\n".join(re.sub(r"(?m)^# ?", "", cell) for cell in told).partition("\n")[2]  # without the title
    shown = MarkdownIt().render(MATH.sub(kept, text))
    return re.sub(r"FORMULA(\d+)\.", lambda found: formulas[int(found[1])], shown)


def with_links(text: str, names: list[str], folder: str) -> str:
    """The guide with links to the pages, or with the word that there are none.

    Args:
        text: of the guide. names: of the exercises that have a page. folder: of live environments in the site.
    """
    items = "".join(
        f'<li><a href="{folder}/{EXERCISES}/{name}/index.html">{html.escape(find_exercise(name).title)}</a></li>'
        for name in names
    )
    told = raw(f"<ol>{items}</ol>") if names else "This site was built without them."
    assert HEADING in text
    return text.replace(HEADING, f"{HEADING}\n{told}\n")
