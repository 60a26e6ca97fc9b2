"""Kernels compare the codes of choices with names."""

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
