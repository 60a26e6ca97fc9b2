"""What a submission is made of: the code of a script or notebook, without its experiments, or a file of weights."""

from __future__ import annotations

import json
import tokenize
from dataclasses import dataclass
from pathlib import Path

from rlenvs.core.declare.errors import ParameterError

KINDS = {".py": "code", ".ipynb": "code", ".npz": "npz", ".safetensors": "safetensors"}
EXPERIMENT = "experiment"  # the tag of cells that the grader leaves out
MOST_BYTES = 16 * 2**20


@dataclass(frozen=True)
class Submitted:
    """A submission. Attributes: path: its file. kind: of KINDS. source: its code, empty for weights."""

    path: Path
    kind: str
    source: str = ""


def submissions_in(folder: Path) -> list[Path]:
    """What in a folder is called like a submission, by name; whether it can be read is seen when it is graded."""
    return sorted(path for path in folder.iterdir() if path.suffix in KINDS)


def check_there(path: Path) -> None:
    """Raise unless there is a file whose name is that of a submission.

    Raises:
        ParameterError: there is none.
    """
    if not path.is_file():
        raise ParameterError(f"there is no file {path}; give a script, a notebook or a file of weights")
    if path.suffix not in KINDS:
        raise ParameterError(f"{path.name} ends in {path.suffix!r}; a submission ends in one of {', '.join(KINDS)}")


def submitted(path: Path) -> Submitted:
    """Read a submission. A script may be in any encoding that it names, as Python reads it.

    Raises:
        ParameterError: there is none, it is too large, of another kind, damaged, or a link out of its folder, which
            could lead to the secret.
    """
    check_there(path)
    if path.is_symlink() and path.resolve().parent != path.parent.resolve():
        raise ParameterError(f"{path.name} is a link to a file elsewhere; give the file itself")
    if path.stat().st_size > MOST_BYTES:
        raise ParameterError(f"{path.name} has {path.stat().st_size} bytes; {MOST_BYTES} are allowed")
    kind = KINDS[path.suffix]
    if kind != "code":
        return Submitted(path, kind)
    try:
        if path.suffix == ".ipynb":
            return Submitted(path, kind, _of_notebook(path.read_text(encoding="utf-8-sig")))
        with tokenize.open(path) as file:
            return Submitted(path, kind, code_of(file.read()))
    except (OSError, SyntaxError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ParameterError(f"{path.name} cannot be read: {type(error).__name__}: {error}") from None


def code_of(text: str) -> str:
    """A script in percent format; left out cells become empty lines, so that line numbers stay."""
    kept, keep = [], True
    for line in text.split("\n"):
        if line.startswith("# %%"):
            keep = "[markdown]" not in line and f'"{EXPERIMENT}"' not in line
        kept.append(line if keep else "")
    return "\n".join(kept) + "\n"


def _of_notebook(text: str) -> str:
    """The code cells of a notebook, without lines that are IPython's own."""
    lines: list[str] = []
    for cell in json.loads(text)["cells"]:
        if cell["cell_type"] == "code" and EXPERIMENT not in cell.get("metadata", {}).get("tags", []):
            lines += "".join(cell["source"]).split("\n")
    return "\n".join("" if line.startswith(("%", "!")) else line for line in lines) + "\n"
