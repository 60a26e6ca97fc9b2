"""Where things lie, for tests in any folder."""

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT, DATA = TESTS.parent, TESTS / "data"
