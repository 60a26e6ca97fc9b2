"""Submissions play each other; one that fails is told, and loses nothing for the others."""

import pytest
from typer.testing import CliRunner

from rlenvs.classroom.matches import class_tournament, page
from rlenvs.cli import app
from rlenvs.core.declare.errors import ParameterError

FIRST = "import numpy as np\ndef act(observations, masks):\n    return np.argmax(masks, axis=1)\n"
LAST = "import rlenvs\nassert callable(rlenvs.solve_mdp)\n" + FIRST.replace(
    "np.argmax(masks, axis=1)", "masks.shape[1] - 1 - np.argmax(masks[:, ::-1], axis=1)"
)


def test_a_class_plays(tmp_path):
    (tmp_path / "anna.py").write_text(LAST)
    (tmp_path / "ben.py").write_text(FIRST)
    (tmp_path / "<eve>.py").write_text("def act(observations, masks):\n    return 10**6\n")
    (tmp_path / "notes.txt").write_text("no submission")
    found, failed = class_tournament(tmp_path, "Battle-v0", games=2, scenario="2s3z", horizon=20)
    assert sorted(found.players) == ["<eve>", "anna", "ben", "random"]
    assert list(failed) == ["<eve>"]
    assert "shape" in failed["<eve>"]
    assert "&lt;eve&gt;" in page(found, failed)
    assert "<eve>" not in page(found, failed)


def test_no_submissions(tmp_path):
    with pytest.raises(ParameterError, match="contains no submissions"):
        class_tournament(tmp_path, "Battle-v0")


def test_damaged_and_unlucky_names(tmp_path):
    """A file that cannot be read fails by itself; so do names that are taken."""
    (tmp_path / "anna.py").write_text(LAST)
    (tmp_path / "anna.ipynb").write_text("{")
    (tmp_path / "random.py").write_text(FIRST)
    (tmp_path / "deep.py").write_text("def act(observations, masks):\n    raise Exception('a\\nb')\n")
    found, failed = class_tournament(tmp_path, "Battle-v0", games=2, scenario="2s3z", horizon=20)
    assert sorted(found.players) == ["anna", "anna.py", "deep", "random", "random.py"]
    assert sorted(failed) == ["anna", "deep"]
    assert r"a\nb" in failed["deep"]


def test_a_page_that_cannot_be_written_is_said_before_the_games(tmp_path, monkeypatch):
    from rlenvs.classroom import matches

    monkeypatch.setattr(matches, "class_tournament", None)
    done = CliRunner().invoke(app, ["class-tournament", str(tmp_path), "Battle-v0", "-o", str(tmp_path)])
    assert done.exit_code == 2
    assert "is a folder" in done.stderr
