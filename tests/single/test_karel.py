"""Karel: HPRL's recorded tasks, the language, the experts' programs, options, replies in words."""

from pathlib import Path

import numpy as np
import pytest

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.single.karel import maps
from rlenvs.single.karel.karel import SPEC
from rlenvs.single.karel.language import TOKENS, decode, encode
from rlenvs.single.karel.rules import ACTIONS, TASK

RECORDED = np.load(Path(__file__).parent.parent / "data" / "karel.npz")
EPISODES = 21
LATE = ("harvester", "one_stroke")  # where the original counts what an action did with the next one
MAZE = "rlenvs/KarelMaze-v0"


def id_of(task):
    return f"rlenvs/Karel{task.title().replace('_', '')}-v0"


def batch_of(id, count=1, seed=0, **keywords):
    batch = rlenvs.make_batch(id, count, **keywords)
    batch.seed(seed)
    batch.reset()
    batch.disable_autoreset()
    return batch


def episode(task, k):
    names = ("wall", "markers", "pose", "actions", "rewards", "done", "places")
    recorded = {name: RECORDED[f"{task}.{name}"][k] for name in names}
    steps = int(RECORDED[f"{task}.steps"][k])
    return recorded | {name: recorded[name][:steps] for name in ("actions", "rewards")}


def put(batch, task, start):
    """The start of a recorded episode."""
    s = batch.records(0)[1]
    s.wall[:], s.markers[:] = start["wall"][0], start["markers"][0]
    s.row, s.column, s.direction = (int(value) for value in start["pose"][0])
    s.marked = int((start["markers"][0] > 0).sum())
    if task in ("maze", "stair_climber"):
        ((s.goal_row, s.goal_column),) = np.argwhere(start["markers"][0] == 1).tolist()
        s.far = abs(int(s.row) - int(s.goal_row)) + abs(int(s.column) - int(s.goal_column))
    elif task == "door_key":
        s.key_row, s.key_column, s.goal_row, s.goal_column = (int(place) for place in start["places"])
    elif task in ("top_off", "clean_house"):
        s.wanted[:] = start["markers"][0] == 1
    return s


# --- HPRL's tasks -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASK.values)
def test_recorded_actions_go_as_in_hprl(task):
    batch = batch_of(id_of(task), reward="sparse" if task == "maze" else "dense", horizon=1000)
    for k in range(EPISODES):
        recorded = episode(task, k)
        batch.reset()
        s = put(batch, task, recorded)
        paid = np.zeros(len(recorded["actions"]))
        for t, action in enumerate(recorded["actions"]):
            batch.load_actions(np.array([[action]]))
            batch.step_inplace()
            paid[t] = batch.rewards[0, 0]
            assert (int(s.row), int(s.column), int(s.direction)) == tuple(recorded["pose"][t + 1])
            if batch.terminated[0, 0]:
                break
        expected = recorded["rewards"]
        if task in LATE:
            paid, expected = paid[:-1].cumsum(), expected.cumsum()[1:]
        np.testing.assert_allclose(paid, expected, atol=1e-6)
        over = bool(recorded["done"][0])
        if task == "snake" and over and not batch.terminated[0, 0]:  # a bite
            batch.load_actions(np.zeros((1, 1), np.int64))
            batch.step_inplace()
            assert s.bitten and batch.rewards[0, 0] == 0.0
        assert bool(batch.terminated[0, 0]) == over or task in LATE


def test_programs_are_stopped_after_as_many_calls_as_in_hprl():
    """Of the recorded ones some are; with one call less or more they stop elsewhere."""
    differ = np.zeros(2, int)
    for index, calls in enumerate((499, 501)):
        for task in ("harvester", "door_key", "top_off", "maze"):
            batch = batch_of(id_of(task), actions="program", program_length=200, calls=calls)
            for k, text in enumerate(RECORDED[f"{task}.program"]):
                recorded = episode(task, k)
                if text and not recorded["done"][0]:
                    batch.reset()
                    s = put(batch, task, recorded)
                    batch.load_actions(encode(text, 200)[None, None])
                    batch.step_inplace()
                    place = tuple(recorded["pose"][len(recorded["actions"])])
                    differ[index] += (int(s.row), int(s.column), int(s.direction)) != place
    assert (differ > 0).all()


@pytest.mark.parametrize("task", TASK.values)
def test_recorded_programs_go_as_in_hprl(task):
    sparse = "sparse" if task == "maze" else "dense"
    batch = batch_of(id_of(task), reward=sparse, actions="program", program_length=200)
    for k, text in enumerate(RECORDED[f"{task}.program"]):
        if not text or len(text.split()) > 200:
            continue
        recorded = episode(task, k)
        batch.reset()
        s = put(batch, task, recorded)
        batch.load_actions(encode(text, 200)[None, None])
        batch.step_inplace()
        if task in LATE and recorded["done"][0]:
            continue
        place = tuple(recorded["pose"][len(recorded["actions"])])
        bitten = task == "snake" and bool(s.bitten)
        assert bitten or (int(s.row), int(s.column), int(s.direction)) == place
        assert bitten or (s.wall == recorded["wall"][1]).all()
        assert bitten or (s.markers == recorded["markers"][1]).all()
        if task not in LATE:
            np.testing.assert_allclose(batch.rewards[0, 0], recorded["rewards"].sum(), atol=1e-5)
