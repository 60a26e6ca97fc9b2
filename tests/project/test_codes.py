"""What stands in kernels: codes of choices by name, no powers of C."""

import ast
import re

import pytest
from support.tree import ROOT

SHARED = re.compile(r"^(\w+) = (choice|flag)\(", re.M)
DECLARED = re.compile(r"\b(\w+)\"?[:=] ?(?:for_data\()?(?:\w+\.)?(\w+)")
BARE = re.compile(r"\bp\.(\w+) [=!]= \d+\b(?!\.)")


def choices_in(texts):
    """The names of all options that are choices, declared in place or by a constant that no module has for a flag."""
    shared = {constant for text in texts for constant in SHARED.findall(text)}
    made = {"choice", *(name for name, _ in shared if (name, "flag") not in shared)}
    return {name for text in texts for name, value in DECLARED.findall(text) if value in made}


def bare_codes(texts):
    """Comparisons of a choice with a bare number, by file."""
    choices = choices_in(texts.values())
    return [
        f"{file}: {found[0]}" for file, text in texts.items() for found in BARE.finditer(text) if found[1] in choices
    ]


def test_no_choice_is_compared_with_a_bare_number():
    texts = {file.relative_to(ROOT).as_posix(): file.read_text() for file in (ROOT / "rlenvs").rglob("*.py")}
    assert {"mishaps", "drive", "cue", "checks", "opponent"} <= choices_in(texts.values())
    assert not bare_codes(texts)


@pytest.mark.parametrize(
    "declared",
    [
        'options = {"drive": choice("rear", "front")}',
        'DRIVE = choice("a", "b")\no = {"drive": DRIVE}',
        'drive=choice("a")',
    ],
)
def test_bare_numbers_are_told(declared):
    texts = {"a.py": declared + "\nC = choice()", "b.py": "if p.drive != 1 or p.gear == 1 or p.drive == FRONT:"}
    assert bare_codes(texts) == ["b.py: p.drive != 1"]


# --- what each system's C library has in its own way ------------------------------------------------------------------


COMPILED = re.compile(
    r"kernel\b|[A-Z]\w*\.(reset|observe\w*|step|expert|player|act|outcome|mask|after_reset|goal_outcome|barrier|move|fetch|"
    r"state_number|central_state)\b"
)
AREAS = ("single", "multi", "robotics", "kits")


def powers_of_c(text):
    """Powers in kernels that numba leaves to C, whose last bits differ from system to system: all but those by a whole
    constant."""
    for function in ast.walk(ast.parse(text)):
        decorators = [ast.unparse(each) for each in getattr(function, "decorator_list", ())]
        if any(COMPILED.match(each) for each in decorators):
            for part in ast.walk(function):
                if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Pow):
                    whole = isinstance(part.right, ast.Constant) and type(part.right.value) is int
                    if not whole and not ast.unparse(part.right).isupper():
                        yield f"{function.name}: {ast.unparse(part)}"


def test_no_kernel_takes_a_power_of_c():
    files = [
        path for area in ("single", "multi", "robotics", "kits") for path in (ROOT / "rlenvs" / area).rglob("*.py")
    ]
    assert {path.name: found for path in files if (found := list(powers_of_c(path.read_text())))} == {}


def test_powers_of_c_are_told():
    text = "@SPEC.step\ndef step(p, s):\n    s.x = s.x**2 + 2**s.n + s.x**0.5 + 2**N"
    text += "\n@SPEC.draw\ndef draw(s):\n    return s.x**s.n"
    assert list(powers_of_c(text)) == ["step: s.x ** 0.5", "step: 2 ** s.n"]
