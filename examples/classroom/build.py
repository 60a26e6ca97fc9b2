"""Make student and solution notebooks of the exercises, and modules for those who prefer an editor.

    python examples/classroom/build.py [OUTPUT]     (default: classroom-notebooks)

Needs the extra `classroom`. OUTPUT/student/NAME.ipynb and NAME.py, which can be given to a class, lack what stands
between BEGIN SOLUTION and END SOLUTION. OUTPUT/solution/NAME.ipynb has it.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


def exercises() -> list[Path]:
    """The sources of all exercises."""
    return sorted(HERE.glob("*/exercise.py"))


def student(source: str) -> str:
    """A source without its solutions: each is one `raise NotImplementedError`, indented as its first line was."""
    lines, inside = [], False
    for line in source.splitlines():
        if line.strip() == BEGIN:
            if inside:
                raise SystemExit(f"{BEGIN} twice without {END}")
            inside = True
            lines.append(line.replace(BEGIN, 'raise NotImplementedError("your code here")'))
        elif line.strip() == END:
            if not inside:
                raise SystemExit(f"{END} without {BEGIN}")
            inside = False
        elif not inside:
            lines.append(line)
    if inside:
        raise SystemExit(f"{BEGIN} without {END}")
    return "\n".join(lines) + "\n"


def solution(source: str) -> str:
    """A source without the marks."""
    return "\n".join(line for line in source.splitlines() if line.strip() not in (BEGIN, END)) + "\n"


def write(source: str, path: Path) -> None:
    """A notebook of a source in percent format."""
    import jupytext
    import nbformat

    notebook = jupytext.reads(source, fmt="py:percent")
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"  # the same source gives the same file
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)


def main(output: Path) -> None:
    """All notebooks."""
    for path in exercises():
        source, name = path.read_text(encoding="utf-8"), f"{path.parent.name}.ipynb"
        write(student(source), output / "student" / name)
        (output / "student" / name).with_suffix(".py").write_text(student(source), encoding="utf-8")
        write(solution(source), output / "solution" / name)
        print(f"wrote {name} for students, and its solution, into {output}")


if __name__ == "__main__":
    if sys.argv[1:2] in (["-h"], ["--help"]):
        sys.exit(__doc__)
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "classroom-notebooks"))
