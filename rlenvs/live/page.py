"""The page of a live environment, as a file beside its world.json."""

from __future__ import annotations

import html
from pathlib import Path

from rlenvs.core.catalogue.docs import sentence
from rlenvs.core.declare.spec import World

# a page loads what lies beside it, and nothing else; "wasm-unsafe-eval" allows WebAssembly alone
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'"
)
HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{static}player.css">
<link rel="stylesheet" href="{static}page.css">
"""
PAGE = """{head}<link rel="modulepreload" href="../static/page.js">
<script type="module" src="../static/page.js"></script>
</head>
<body class="live-alone">
<main>
<h1>{name}</h1>
<p>{about}</p>
<noscript><p>The environment needs JavaScript.</p></noscript>
<div class="live" data-world="world.json"></div>
</main>
</body>
</html>
"""


def head(title: str, static: str) -> str:
    """How a page begins that runs kernels: HTML, up to what each page loads besides.

    Args:
        title: as HTML.
        static: where the shared scripts and styles lie, from the page, with a slash at the end.
    """
    return HEAD.format(policy=html.escape(POLICY), title=title, static=static)


def page_of(world: World) -> str:
    """The page of an environment: HTML that expects world.json beside it, and the scripts in ../static."""
    name, about = html.escape(world.name), html.escape(sentence(world.doc))
    return PAGE.format(head=head(name, "../static/"), name=name, about=about)


def write_page(world: World, folder: Path) -> Path:
    """Write the page of an environment.

    Args:
        world: the environment, without a level.
        folder: of all environments.

    Returns:
        the page.
    """
    path = folder / world.name / "index.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page_of(world), encoding="utf-8")
    return path
