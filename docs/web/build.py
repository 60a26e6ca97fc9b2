"""Build the site: the guides, a page per environment with its film, the gallery, the reference.

    python docs/web/build.py [FOLDER]      to docs/_build/site, or a folder

Pages are put together in docs/_build/source first: the Markdown of the repository, whose links are made to lead to
pages, with what only a site can show. Needs the films of docs/films.py, and no network. Warnings are errors.
Environments whose kernels lie in build/kernels as WebAssembly (`python3 run.py kernels --targets wasm32`) are played
live in their pages; the others show their films. The exercises that are solved in the browser need MicroPython as well,
which `npm ci --prefix docs/web` fetches.
"""

from __future__ import annotations

import argparse
import base64
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Collection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import exercises
import live
import pages

from rlenvs.agents.film import STYLE, player_script
from rlenvs.live.export import shared_files

HERE = Path(__file__).resolve().parent
DOCS, ROOT = HERE.parent, HERE.parent.parent
SOURCE, SITE = DOCS / "_build" / "source", DOCS / "_build" / "site"
LINK = re.compile(r"(?<=\]\()([^)#\s:]+)(#[\w-]*)?(?=\))")
CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
LANGUAGES = {".py": "python", ".toml": "toml", ".yml": "yaml", ".js": "javascript", ".json": "json"}
TREES = {"performance.md": "benchmarks/*"}  # pages below a page that is read elsewhere too
NO_EXERCISES = "no exercise is solved in the browser: npm ci --prefix docs/web, and kernels of their environments"
FOLDERS = {"examples": "examples/index.md", "benchmarks": "benchmarks/index.md", "docs/environments": "gallery.md"}


def page_files() -> dict[str, str]:
    """The files of the repository that are pages, and where they go in the site."""
    found = {path.relative_to(ROOT).as_posix(): path.name for path in DOCS.glob("*.md")}
    for path in (DOCS / "environments").glob("*.md"):
        found[path.relative_to(ROOT).as_posix()] = f"environments/{path.name.replace('README', 'index')}"
    for path in (ROOT / "benchmarks").glob("*.md"):
        found[path.relative_to(ROOT).as_posix()] = f"benchmarks/{path.name.replace('README', 'index')}"
    found |= {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "README.md": "index.md"}
    found["docs/README.md"] = "index.md"  # the index of the repository is the site's front page
    return found


class Source:
    """The folder that Sphinx reads; files in it that nobody wrote this time are deleted."""

    def __init__(self, folder: Path = SOURCE) -> None:
        self.folder = folder
        self.written: set[Path] = set()
        self.linked: set[str] = set()  # files of the repository that pages lead to
        self.pages = page_files()

    def write(self, name: str, content: str | bytes) -> None:
        """A file, whose time of change stays where its content does, so that Sphinx reads only what is new."""
        path, data = self.folder / name, content.encode() if isinstance(content, str) else content
        self.written.add(path)
        if not path.exists() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    def page(self, text: str, origin: str, name: str) -> None:
        """A page made of a file of the repository: its links lead to pages from now on."""
        parts = CODE.split(text)
        parts[::2] = [LINK.sub(lambda link: self._led(link, origin, name), part) for part in parts[::2]]
        self.write(name, "".join(parts))

    def _led(self, link: re.Match[str], origin: str, name: str) -> str:
        target = os.path.normpath(os.path.join(os.path.dirname(origin), link[1])).replace(os.sep, "/")
        path = ROOT / target
        if target in self.pages:
            goal = self.pages[target]
        elif path.is_dir():
            goal = FOLDERS.get(target, f"source/{target}.md")
        elif path.parent == ROOT / "examples" and path.suffix == ".py":
            goal = f"examples/{path.stem}.md"
        elif path.suffix in (".webp", ".png", ".svg"):
            goal = target.removeprefix("docs/")
            self.write(goal, path.read_bytes())
        elif path.suffix == ".ipynb":
            goal = f"files/{target}"
            self.write(goal, path.read_bytes())
        else:
            goal = f"source/{target}.md"
        if goal.startswith("source/"):
            self.linked.add(target)
        return os.path.relpath(goal, os.path.dirname(name) or ".").replace(os.sep, "/") + (link[2] or "")

    def tidy(self) -> None:
        """Delete what was not written this time."""
        for path in [path for path in self.folder.rglob("*") if path.is_file()]:
            if path not in self.written:
                path.unlink()


def assemble(source: Source, played: Collection[str], solved: list[str]) -> None:
    """Write everything that Sphinx reads. Environments that are played live, and exercises that are solved in the
    browser, are given by name."""
    for origin, name in source.pages.items():
        if name == "index.md":
            continue
        text = (ROOT / origin).read_text(encoding="utf-8")
        if origin.startswith("docs/environments/") and not origin.endswith("README.md"):
            text = pages.environment(Path(origin).stem, text, Path(origin).stem in played)
        if origin == "docs/scores.md":
            text = pages.scores(text)
        if origin == "docs/classroom.md":
            text = exercises.with_links(text, solved, live.FOLDER)
        if name in TREES:
            text += f"\n```{{toctree}}\n:hidden:\n:glob:\n\n{TREES[name]}\n```\n"
        source.page(text, origin, name)
    for name, text in pages.generated().items():
        source.write(name, text)
    front = pages.front((HERE / "index.md").read_text(encoding="utf-8"))
    source.page(front, "docs/index.md", "index.md")
    for path in sorted((ROOT / "examples").glob("*.py")):
        source.write(f"examples/{path.stem}.md", listing(path))
    source.write("examples/index.md", examples_index())
    for target in sorted(source.linked):
        source.write(f"source/{target}.md", listing(ROOT / target))
    for path in [*(DOCS / "images").iterdir(), *(DOCS / "environments" / "curves").iterdir()]:
        source.write(path.relative_to(DOCS).as_posix(), path.read_bytes())
    source.write("_static/player.js", player_script())
    for path in [*(HERE / "static").iterdir(), STYLE]:
        source.write(f"_static/{path.name}", path.read_bytes())
    for path in shared_files():
        source.write(f"{live.FOLDER}/static/{path.name}", path.read_bytes())
    source.write("_static/environments.js", pages.environments_script())
    for name in pages.films():
        source.write(f"_static/films/{name}.js", film_script(name))
        source.write(f"_static/stills/{name}.webp", pages.still(name, DOCS / "_build" / "stills"))
    source.tidy()


def film_script(name: str) -> str:
    """A film as a script, which a page can read without a server."""
    data, images = ((pages.FILMS / f"{name}.{kind}") for kind in ("json.gz", "webp"))
    parts = [base64.b64encode(path.read_bytes()).decode() if path.exists() else "" for path in (data, images)]
    return f'rlenvsFilm.add("{name}", "{parts[0]}", "{parts[1]}");\n'


def listing(path: Path) -> str:
    """A page that shows a file, or the names in a folder."""
    title = path.relative_to(ROOT).as_posix()
    if path.is_dir():
        names = "\n".join(f"- `{each.name}`" for each in sorted(path.iterdir()) if not each.name.startswith("_"))
        return f"---\norphan: true\n---\n# {title}\n\n{names}\n"
    language, text = LANGUAGES.get(path.suffix, "text"), path.read_text(encoding="utf-8").rstrip()
    head = "" if path.parent == ROOT / "examples" else "---\norphan: true\n---\n"
    return f"{head}# {title}\n\n``````{{code-block}} {language}\n{text}\n``````\n"


def examples_index() -> str:
    """All examples with the first sentence of each."""
    lines, entries = [], []
    for path in sorted((ROOT / "examples").glob("*.py")):
        told = path.read_text(encoding="utf-8").partition('"""')[2].partition("\n")[0].strip().rstrip('"')
        lines.append(f"- [{path.name}]({path.stem}.md): {told}")
        entries.append(path.stem)
    toc = "\n".join(entries)
    text = "Short scripts for each form, and learners in one file. Each says first how long it takes."
    return f"# Examples\n\n{text}\n\n" + "\n".join(lines) + f"\n\n```{{toctree}}\n:hidden:\n\n{toc}\n```\n"


def remove_old_pages(folder: Path) -> None:
    """Delete built pages whose source is gone, which Sphinx would leave, and the listings of code, whose links back
    it would leave."""
    shutil.rmtree(folder / "_modules", ignore_errors=True)
    for path in folder.rglob("*.html"):
        name = path.relative_to(folder)
        if name.parts[0] != "_static" and not (SOURCE / name.with_suffix(".md")).exists():
            path.unlink()


def build(folder: Path) -> int:
    """Put the pages together and run Sphinx; returns its exit code."""
    start = time.perf_counter()
    played = live.write(folder)
    told = f"{len(played)} environments are live" if played else f"no modules in {live.KERNELS}: pages show films"
    print(f"{told}, {time.perf_counter() - start:.0f} s", flush=True)
    solved = exercises.write(folder / live.FOLDER, played)
    print(f"{len(solved)} exercises are solved in the browser" if solved else NO_EXERCISES, flush=True)
    assemble(Source(), played, solved)
    remove_old_pages(folder)
    print(f"pages: {time.perf_counter() - start:.0f} s", flush=True)
    options = ("-b", "html", "-W", "--keep-going", "-q", "-c", HERE, "-d", DOCS / "_build" / "doctrees")
    command = (sys.executable, "-m", "sphinx", *options, SOURCE, folder)
    code = subprocess.call([str(part) for part in command])
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder}: {size / 1e6:.1f} MB, {time.perf_counter() - start:.0f} s", flush=True)
    return code


def main() -> None:
    """Build the site."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", nargs="?", type=Path, default=SITE)
    given = options.parse_args()
    sys.exit(build(given.folder))


if __name__ == "__main__":
    main()
