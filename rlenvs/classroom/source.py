"""What a submission is made of: the code of a script or notebook, without its experiments, or a file of weights."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from rlenvs.core.errors import ParameterError

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
    """The files of a folder that can be submissions, by name."""
    return sorted(path for path in folder.iterdir() if path.suffix in KINDS)


def submitted(path: Path) -> Submitted:
    """Read a submission.

    Raises:
        ParameterError: there is none, it is too large, or of another kind.
    """
    if not path.is_file():
        raise ParameterError(f"there is no file {path}; give a script, a notebook or a file of weights")
    if path.suffix not in KINDS:
        raise ParameterError(f"{path.name} ends in {path.suffix!r}; a submission ends in one of {', '.join(KINDS)}")
    if path.stat().st_size > MOST_BYTES:
        raise ParameterError(f"{path.name} has {path.stat().st_size} bytes; {MOST_BYTES} are allowed")
    kind = KINDS[path.suffix]
    if kind != "code":
        return Submitted(path, kind)
    try:
        text = path.read_text(encoding="utf-8")
        return Submitted(path, kind, _of_notebook(text) if path.suffix == ".ipynb" else _of_script(text))
    except (UnicodeDecodeError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ParameterError(f"{path.name} cannot be read: {type(error).__name__}: {error}") from None


def _of_script(text: str) -> str:
    """A script in percent format; left out cells become empty lines, so that line numbers stay."""
    kept, keep = [], True
    for line in text.splitlines():
        if line.startswith("# %%"):
            keep = "[markdown]" not in line and f'"{EXPERIMENT}"' not in line
        kept.append(line if keep else "")
    return "\n".join(kept) + "\n"


def _of_notebook(text: str) -> str:
    """The code cells of a notebook, without lines that are IPython's own."""
    lines: list[str] = []
    for cell in json.loads(text)["cells"]:
        if cell["cell_type"] == "code" and EXPERIMENT not in cell.get("metadata", {}).get("tags", []):
            lines += "".join(cell["source"]).splitlines()
    return "\n".join("" if line.startswith(("%", "!")) else line for line in lines) + "\n"
