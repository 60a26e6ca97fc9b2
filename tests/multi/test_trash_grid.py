"""Trash grid: the facts of the original's records, what actions do, who is paid, the expert, sizes."""

import numpy as np
import pytest

import rlenvs
from rlenvs.core.declare.errors import ParameterError, SnapshotError

GRID = "rlenvs/TrashGrid-v0"
FORWARD, LEFT, RIGHT, PICK_UP, COMPRESS, PUT_DOWN = range(6)
SMALL, BIG = 1, 2


def batch_of(count=1, seed=0, **keywords):
    batch = rlenvs.make_batch(GRID, count, **keywords)
    batch.seed(seed)
    batch.reset()
    batch.disable_autoreset()
    return batch


def act(batch, *actions):
    batch.load_actions(np.array([actions]))
    batch.step_inplace()
    return batch.terms[0]


def alone(**keywords):
    """One robot on the station, no trash but one piece of each kind below and before it."""
    batch = batch_of(agents=1, small=1, big=1, **keywords)
    s = batch.records(0)[1]
    s.trash[:] = 0
    s.trash[4, 4], s.trash[5, 4] = SMALL, BIG
    s.row[0], s.column[0] = 4, 4
    return batch, s


def test_grid_robots_trash_and_station_are_those_of_the_records():
    batch = batch_of(300)
    seen = np.zeros((10, 10), int)
    for i in range(300):
        s = batch.records(i)[1]
        assert (s.row.tolist(), s.column.tolist(), s.direction.tolist()) == ([0, 0, 0], [0, 2, 4], [2, 2, 2])
        assert [(s.trash == kind).sum() for kind in (SMALL, BIG)] == [5, 5]
        seen += s.trash > 0
    assert (seen[3:8, :9] > 0).all()
    assert seen.sum() == seen[3:8, :9].sum()
    station = batch.get_observations()[0, 0][400:500].reshape(10, 10)
    assert np.argwhere(station == 1).tolist() == [[row, column] for row in (8, 9) for column in (6, 7, 8, 9)]
    assert batch.setup.horizon == 200
    assert batch.setup.action.labels == ("forward", "left", "right", "pick up", "compress", "put down")


def test_each_way_to_lay_the_pieces_is_as_likely():
    batch = batch_of(2000, rows=6, columns=5, small=1, big=2)  # four cells: twelve ways
    ways, counts = np.unique([batch.records(i)[1].trash[3, :4] for i in range(2000)], axis=0, return_counts=True)
    assert len(ways) == 12
    assert ((counts - 2000 / 12) ** 2 / (2000 / 12)).sum() < 31.3  # chi-square of 11 degrees, 0.999


def test_what_actions_do():
    batch, s = alone()
    act(batch, COMPRESS)  # small trash: nothing
    assert s.trash[4, 4] == SMALL
    assert act(batch, PICK_UP)[1, 0] == 1
    assert (s.trash[4, 4], s.load[0]) == (0, 1)
    act(batch, FORWARD)
    assert (s.row[0], s.column[0]) == (5, 4)
    act(batch, PICK_UP)  # big trash: nothing
    assert (s.trash[5, 4], s.load[0]) == (BIG, 1)
    assert act(batch, COMPRESS)[2, 0] == 1
    act(batch, PICK_UP)
    assert (s.trash[5, 4], s.load[0]) == (0, 2)
    act(batch, PUT_DOWN)  # not on the station: nothing
    assert s.load[0] == 2
    act(batch, LEFT)
    assert s.direction[0] == 1
    act(batch, RIGHT)
    act(batch, RIGHT)
    assert s.direction[0] == 3
    s.row[0], s.column[0] = 9, 6
    assert act(batch, PUT_DOWN)[0, 0] == 2
    assert batch.terminated[0, 0]
    assert batch.success[0, 0]


def test_a_robot_carries_three_pieces_and_stays_on_the_grid():
    batch, s = alone()
    s.load[0], s.left = 3, 5
    act(batch, PICK_UP)
    assert s.load[0] == 3
    s.row[0], s.column[0], s.direction[0] = 9, 9, 2
    act(batch, FORWARD)
    assert (s.row[0], s.column[0]) == (9, 9)
    batch, s = alone(capacity=4)
    s.load[0], s.left = 3, 5
    act(batch, PICK_UP)
    assert s.load[0] == 4


def test_masks_allow_what_changes_something():
    batch, s = alone()
    act(batch, LEFT)
    assert batch.masks[0, 0].tolist() == [1, 1, 1, 1, 0, 0]
    act(batch, RIGHT)
    act(batch, FORWARD)
    assert batch.masks[0, 0].tolist() == [1, 1, 1, 0, 1, 0]
    s.row[0], s.column[0], s.load[0], s.left = 9, 8, 1, 3
    act(batch, LEFT)
    act(batch, RIGHT)
    assert batch.masks[0, 0].tolist() == [0, 1, 1, 0, 0, 1]


@pytest.mark.parametrize(("reward", "paid"), [("team", [3, 3, 3]), ("individual", [2, 0, 1])])
def test_who_is_paid(reward, paid):
    batch = batch_of(reward=reward)
    s = batch.records(0)[1]
    s.row[:], s.column[:], s.load[:] = 8, [6, 7, 9], [2, 0, 1]
    s.left = 13
    assert act(batch, PUT_DOWN, PUT_DOWN, PUT_DOWN)[0].tolist() == paid
    assert s.left == 10


@pytest.mark.parametrize("agents", [1, 2, 3, 5])
def test_experts_recycle_everything(agents):
    batch = batch_of(50, agents=agents, horizon=400)
    playing, steps = np.ones(50, bool), 0
    while playing.any() and steps < 400:
        batch.load_actions(batch.expert_actions(playing))
        batch.step_inplace(playing)
        playing &= ~batch.terminated[:, 0]
        steps += 1
    assert not playing.any()
    assert all(batch.records(i)[1].left == 0 for i in range(50))


def test_sizes_are_checked():
    with pytest.raises(ParameterError, match="small=20 and big=20 pieces are more than the 4 cells"):
        batch_of(rows=6, columns=5, small=20, big=20)
    with pytest.raises(ParameterError, match="agents=6 need columns=11, not 10"):
        batch_of(agents=6)
    with pytest.raises(ParameterError, match="there is nothing to recycle"):
        batch_of(small=0, big=0)
    assert batch_of(rows=6, columns=5, small=4, big=0).records(0)[1].trash.sum() == 4


def test_impossible_states_are_refused():
    batch = batch_of()
    snapshot, s = batch.get_state(), batch.records(0)[1]
    s.left = 12
    forged = batch.get_state()
    batch.set_state(snapshot)
    with pytest.raises(SnapshotError, match="10 pieces lie about and are carried, 12 are left"):
        batch.set_state(forged)
