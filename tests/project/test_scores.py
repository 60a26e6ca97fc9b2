"""Measured scores lie beside the worlds and are written where they belong."""

import json
from pathlib import Path

import pytest

import rlenvs
from benchmarks import scores
from rlenvs.core.catalogue.docs import documented
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.parts import Score
from rlenvs.core.declare.scores import ReferenceScores, read_scores, scores_file

FILES = sorted(Path(rlenvs.__file__).parent.rglob("scores.json"))
RANDOM, IDLE = ({"mean": mean, "half_width": 0.5} for mean in (1, 2))


def test_every_file_stands_as_it_is_written_and_names_worlds_of_its_folder_alone():
    worlds = [world_of(row.id) for row in documented()]
    places = {
        each.label: scores_file(each.address) for world in worlds for each in (world, *map(world.level, world.levels))
    }
    faults = []
    for path in FILES:
        known = read_scores(path)
        faults += [f"{path}: {label}" for label in known if places.get(label) != path]
        faults += [f"{path}: written otherwise"] * (path.read_text(encoding="utf-8") != scores.text_of(known))
        for label, rows in known.items():
            faults += [f"{label}: exploit without a note"] * ("exploit" in rows and not rows["exploit"].get("note"))
            faults += [f"{label} {name}" for name, row in rows.items() if scores.row_of(Score(**row)) != row]
    assert FILES
    assert not faults


def test_a_level_has_the_scores_of_its_own():
    world = world_of("Minecart-v0")
    assert world.level("deterministic").scores["expert"].mean == 0.64
    assert world.scores["expert"].mean != 0.64
    assert not world.level("pixels").scores


def test_measured_rows_go_before_declared_ones():
    address = "rlenvs.single.classic.cart_pole:SPEC"
    world_of("CartPole-v0")
    found = ReferenceScores(lambda: (address, "CartPole-v0"), {"idle": Score(-1.0, 0.0), "other": Score(3.0, 0.0)})
    assert list(found) == ["random", "idle", "expert", "other"]
    assert len(found) == 4
    assert found["idle"].mean == 9.39
    assert found["other"].mean == 3.0


@pytest.mark.parametrize("address", ["", "own.worlds:SPEC"])
def test_other_worlds_have_what_they_declare(address):
    assert dict(ReferenceScores(lambda: (address, "CartPole-v0"), {"idle": Score(-1.0, 0.0)})) == {
        "idle": Score(-1.0, 0.0)
    }


def test_scores_asked_for_while_a_module_is_imported_are_asked_for_again():
    addresses = iter(["", "rlenvs.single.classic.cart_pole:SPEC"])
    world_of("CartPole-v0")
    found = ReferenceScores(lambda: (next(addresses), "CartPole-v0"), {})
    assert not dict.fromkeys(found)
    assert "expert" in found


def test_only_the_rows_that_were_measured_are_replaced(tmp_path, monkeypatch):
    path = tmp_path / "scores.json"
    monkeypatch.setattr(scores, "scores_file", lambda address: path)
    scores.write("Taxi-v0", {"idle": IDLE})
    scores.write("CartPole-v0", {"exploit": IDLE | {"note": "é"}, "idle": IDLE})
    scores.write("CartPole-v0", {"idle": RANDOM, "random": RANDOM})
    row = '"mean": 1, "half_width": 0.5'
    assert path.read_text(encoding="utf-8").splitlines()[:5] == [
        "{",
        ' "CartPole-v0": {',
        f'  "random": {{{row}}},',
        f'  "idle": {{{row}}},',
        '  "exploit": {"mean": 2, "half_width": 0.5, "note": "é"}',
    ]
    assert json.loads(path.read_text(encoding="utf-8"))["Taxi-v0"] == {"idle": IDLE}


def test_a_row_is_rounded_and_without_what_is_empty():
    row = scores.row_of(Score(12345.678, 0.0, "", 0.66666, {"damage": 1e-9}))
    assert row == {"mean": 12350.0, "half_width": 0, "success": 0.667, "costs": {"damage": 0}}
