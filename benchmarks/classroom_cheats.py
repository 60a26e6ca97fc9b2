"""What cheats earn in the classroom's exercises: the highest marks without the skill.

python benchmarks/classroom_cheats.py [NAME ...] [--write]     --write: rows of these into classroom_cheats.md
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE / "classroom_cheats.md"
sys.path[:0] = [str(HERE.parent / "tests")]
from support.classroom_cheats import GENERAL, SPECIFIC, mark  # noqa: E402

HEAD = ("Exercise", "Cheats", "Points", "Made of nothing", "by", "Recorded answers", "by", "Solution but one", "by")
TOP = """# Cheats in the classroom

`python benchmarks/classroom_cheats.py --write`. The highest marks that submissions without the skill earn, with all
hidden tests. *Made of nothing*: zeros, the arguments, NaN, huge arrays, objects that equal everything, forged reports,
searches for the solution's file and through the process. *Recorded answers*: what the solution answered to the public
tests, or to the hidden ones with another secret, by the arguments or by the order. *Solution but one*: the solution,
with the function that needs the skill replaced by something that has not learnt. The cheats are in
`tests/support/classroom_cheats.py`; tests see that none earns full marks.

"""


def row(name: str) -> tuple[str, ...]:
    """The row of an exercise: the best of three kinds of cheats."""
    recorded = [each for each in GENERAL if each.startswith(("public", "leaked"))]
    kinds = [[each for each in GENERAL if each not in recorded], recorded, list(SPECIFIC[name])]
    cells = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds:
            grades = {each: mark(name, each, Path(folder)) for each in kind}
            best = max(grades, key=lambda each: grades[each].earned)
            cells += [f"{grades[best].earned:g}", best if grades[best].earned else ""]
    return (f"`{name}`", str(sum(map(len, kinds))), f"{grades[best].points:g}", *cells)


def main() -> None:
    parser = argparse.ArgumentParser(description="What cheats earn.")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--write", action="store_true", help="write classroom_cheats.md")
    given = parser.parse_args()
    for name in given.names or sorted(SPECIFIC):
        found = f"| {' | '.join(row(name))} |"
        print(found, flush=True)
        if given.write:
            kept = re.findall(r"(?m)^\| `.*", PAGE.read_text(encoding="utf-8")) if PAGE.is_file() else []
            rows = sorted([found, *(each for each in kept if not each.startswith(f"| `{name}` |"))])
            lines = [f"| {' | '.join(HEAD)} |", f"|{' --- |' * len(HEAD)}", *rows]
            PAGE.write_text(TOP + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
