"""Exercises as pages solve them: where the site's builder lies, and MicroPython."""

import importlib
import sys

import pytest

from support.places import ROOT

MICROPYTHON = ROOT / "docs" / "web" / "node_modules" / "@micropython" / "micropython-webassembly-pyscript"
SOLVED = ["mdp_by_hand", "dynamic_programming", "bandits", "td_and_monte_carlo", "q_learning_and_sarsa"]
IDS = ["Chain-v0", "FrozenLake-v0", "Bandit-v0", "RandomWalk-v0", "CliffWalking-v0"]
needs_micropython = pytest.mark.skipif(
    not MICROPYTHON.is_dir(), reason="MicroPython is not there: npm ci --prefix docs/web"
)


def builder():
    """docs/web/exercises.py."""
    web = str(ROOT / "docs" / "web")
    sys.path.insert(0, web)
    try:
        return importlib.import_module("exercises")
    finally:
        sys.path.remove(web)
