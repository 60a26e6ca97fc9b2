"""What `run.py add` says is left to do by hand."""

import subprocess
from types import SimpleNamespace

import pytest

from benchmarks import left, scores
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.parts import Score


def world_with(**means):
    """A world with these scores."""
    return SimpleNamespace(scores={name: Score(mean, 0.0) for name, mean in means.items()})


def test_of_a_finished_environment_only_a_look_is_left():
    assert [what[:4] for what in left.left_by_hand("rlenvs/CartPole-v0")] == ["look"]


@pytest.mark.parametrize(
    ("what", "name", "value"),
    [
        ("an expert", "has_expert", False),
        ("a test of", "is_named", False),
        ("an agent", "reference_agents", []),
        ("its behaviour", "has_other_numbers", True),
        ("idle has", "close_rivals", {"idle": 0.9}),
    ],
)
def test_what_is_missing_is_told(monkeypatch, what, name, value):
    if name == "has_expert":
        monkeypatch.setattr(left.World, name, value)
    else:
        monkeypatch.setattr(left, name, lambda *given: value)
    assert any(line.startswith(what) for line in left.left_by_hand("CartPole-v0"))


def test_a_world_is_named_by_its_whole_name():
    assert left.is_named("CartPole-v0", "of `CartPole-v0`")
    assert left.is_named("CartPole-v0", "CartPole is new")
    assert not left.is_named("CartPole-v0", "CartPoleSwingUp-v0")


def test_rivals_are_close_from_four_fifths_of_the_score_on():
    assert not left.close_rivals(world_with(random=0.0, idle=0.79, expert=1.0))
    assert left.close_rivals(world_with(random=0.0, idle=0.8, expert=1.0)) == {"idle": 0.8}
    assert left.close_rivals(world_with(random=1.0, idle=1.0, expert=1.0)) == {"random": 1.0, "idle": 1.0}
    assert not left.close_rivals(world_with(random=0.0, idle=2.0))
    noted = world_with(random=0.0, idle=0.9, expert=1.0)
    noted.scores["idle"] = Score(0.9, 0.0, "standing still is a good policy here")
    assert not left.close_rivals(noted)


def test_changed_numbers_are_those_that_differ_from_the_last_commit(monkeypatch):
    world = world_of("CartPole-v0")
    assert not left.has_other_numbers(world)
    recorded = left.read_golden(left.golden_file(world))
    monkeypatch.setattr(left, "read_golden", lambda path: {**recorded, world.name: {}})
    assert left.has_other_numbers(world)
    for code, committed in ((0, "{}"), (128, "")):  # a new world, and a new family
        answer = subprocess.CompletedProcess([], code, committed)
        monkeypatch.setattr(left.subprocess, "run", lambda *given, answer=answer, **more: answer)
        assert not left.has_other_numbers(world)


def test_an_expert_that_is_gone_leaves_no_score(tmp_path, monkeypatch):
    path = tmp_path / "scores.json"
    monkeypatch.setattr(scores, "scores_file", lambda address: path)
    row = {"mean": 1, "half_width": 0.5}
    scores.write("CartPole-v0", {"random": row, "expert": row, "exploit": row | {"note": "a"}})
    scores.write("CartPole-v0", {"random": row})
    assert list(left.json.loads(path.read_text())["CartPole-v0"]) == ["random", "exploit"]


def test_scores_of_an_unknown_id_are_refused_in_a_line(monkeypatch):
    monkeypatch.setattr("sys.argv", ["scores.py", "CartPol-v0"])
    with pytest.raises(SystemExit, match="there is no environment 'CartPol-v0'"):
        scores.main()
