"""Settings of Sphinx. The pages are put together by build.py, beside this file."""

import re
from pathlib import Path
from typing import Any

import rlenvs

project = "rlenvs"
author = "The rlenvs developers"
copyright = author
version = release = rlenvs.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
]
root_doc = "index"
smartquotes_action = "D"  # dashes; quotes stay as they are, in case one copies them
default_role = "code"  # docstrings quote code with single backticks
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": False}
napoleon_google_docstring, napoleon_numpy_docstring, napoleon_use_ivar = True, False, True
copybutton_prompt_text = "$ "
copybutton_exclude = ".linenos, .gp"
suppress_warnings = ["myst.header"]  # pages that begin below the first level

html_theme = "furo"
html_title = "rlenvs"
html_static_path = [str(Path(__file__).resolve().parent.parent / "_build" / "source" / "_static")]
html_favicon = html_logo = str(Path(__file__).with_name("static") / "icon.svg")
html_css_files = ["player.css", "live/static/page.css", "site.css"]
html_js_files = ["live.js", "player.js", "find.js", "gallery.js"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#005f94", "color-brand-content": "#005f94"},
    "dark_css_variables": {"color-brand-primary": "#6bbcf0", "color-brand-content": "#6bbcf0"},
}

QUOTED = re.compile(r"(`[^`]*`)")


def plain(app: object, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Docstrings are plain text with quoted code: what reStructuredText would take for markup is only text, and a
    paragraph that is set in is code."""
    found: list[str] = []
    literal, before = False, ""
    for line in lines:
        indented = line.startswith("    ")
        if indented and not literal and found and not found[-1].strip() and not before.startswith(" "):
            found += ["::", ""]
            literal = True
        literal &= indented or not line.strip()
        found.append(line if literal else escaped(line))
        before = line if line.strip() else before
    lines[:] = found


def escaped(line: str) -> str:
    """A line without the markup that it may seem to have."""
    parts = QUOTED.split(line)
    parts[::2] = [re.sub(r"([*|])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def setup(app: Any) -> None:
    """Before napoleon reads them."""
    app.connect("autodoc-process-docstring", plain, priority=400)
