"""The classroom's exercises: what is earned by the solution, the starter and a half-right submission, and how long the
notebook and the grading take.

    python benchmarks/classroom.py [NAME ...] [--write]     --write: rows of these into classroom.md

Run it with compiled worlds in the cache: each notebook runs in a kernel of its own, each submission in a process. Times
are those of the processor, of all these processes together, so that other programs do not matter; linear algebra has
one thread, since several wait for each other by computing.
"""

import argparse
import importlib.util
import os
import re
import resource
import tempfile
from pathlib import Path

import nbclient
import nbformat

from rlenvs.classroom.exercise import find_exercise
from rlenvs.classroom.grader import grade

HERE = Path(__file__).resolve().parent
FOLDER, PAGE = HERE.parent / "examples" / "classroom", HERE / "classroom.md"
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # of kernels and submissions
USED_BY = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
SECRET = "of-the-benchmark-" * 2
HEAD = ("Exercise", "Notebook [s]", "Smoke [s]", "Grading [s]", "Solution", "Starter", "Half right")
TOP = """# The classroom's exercises

`python benchmarks/classroom.py --write`. Processor seconds of the solution's notebook in full and in smoke mode, the
start of its kernel included, and of grading the solution with all hidden tests, with compiled worlds in the cache and
one thread of linear algebra; and the share of the points that the solution, the starter code and the half-right
submission earn.

"""


def builder():
    spec = importlib.util.spec_from_file_location("build", FOLDER / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def processor_seconds() -> float:
    """Of this process and of those that it started and that have ended."""
    return sum(each.ru_utime + each.ru_stime for each in map(resource.getrusage, USED_BY))


def notebook_seconds(source: str, build, folder: Path, smoke: bool) -> float:
    """Of running a source as a notebook."""
    path = folder / "notebook.ipynb"
    build.write(build.solution(source), path)
    os.environ["RLENVS_SMOKE"] = "1" if smoke else ""
    start = processor_seconds()
    nbclient.NotebookClient(nbformat.read(path, as_version=4), timeout=600, kernel_name="python3").execute()
    return processor_seconds() - start


def row(name: str, build, folder: Path) -> tuple[str, ...]:
    """The row of an exercise."""
    source, exercise = (FOLDER / name / "exercise.py").read_text(encoding="utf-8"), find_exercise(name)
    full, smoke = (notebook_seconds(source, build, folder, smoke) for smoke in (False, True))
    starter = folder / f"{name}.py"
    starter.write_text(build.student(source), encoding="utf-8")
    start = processor_seconds()
    shares = [grade(FOLDER / name / "exercise.py", exercise, SECRET).share]
    grading = processor_seconds() - start
    shares += [grade(path, exercise, SECRET).share for path in (starter, FOLDER / name / "half.py")]
    return (f"`{name}`", *(f"{seconds:.1f}" for seconds in (full, smoke, grading)), *(f"{s:.0%}" for s in shares))


def put(name: str, found: str) -> None:
    """Write a row into the page, and leave the others."""
    kept = re.findall(r"(?m)^\| `.*", PAGE.read_text(encoding="utf-8")) if PAGE.is_file() else []
    rows = sorted([found, *(each for each in kept if not each.startswith(f"| `{name}` |"))])
    lines = [f"| {' | '.join(HEAD)} |", f"|{' --- |' * len(HEAD)}", *rows]
    PAGE.write_text(TOP + "\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="What exercises give, and how long they take.")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--write", action="store_true", help="write rows of these into classroom.md")
    given = parser.parse_args()
    build = builder()
    names = given.names or sorted(path.parent.name for path in FOLDER.glob("*/grading.py"))
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            found = f"| {' | '.join(row(name, build, Path(folder)))} |"
            print(found, flush=True)
            if given.write:
                put(name, found)


if __name__ == "__main__":
    main()
