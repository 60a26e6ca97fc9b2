"""Karel: HPRL's recorded tasks, the language, the experts' programs, options, replies in words."""

from pathlib import Path

import numpy as np
import pytest

import rlenvs
from rlenvs.core.catalogue.dimensions import dimension_rows, space_text
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError, SnapshotError
from rlenvs.core.declare.setup import Setup
from rlenvs.single.karel import maps
from rlenvs.single.karel.language import TOKENS, decode, encode
from rlenvs.single.karel.programs import PROGRAMS
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
            assert s.bitten
            assert batch.rewards[0, 0] == 0.0
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


# --- the language -----------------------------------------------------------------------------------------------------

VALID = (
    "DEF run m( move m)",
    "DEF run m( REPEAT R=0 r( move r) turnLeft m)",
    "DEF run m( WHILE c( not c( not c( frontIsClear c) c) c) w( IF c( markersPresent c) i( pickMarker i) move w) m)",
    "DEF run m( IFELSE c( leftIsClear c) i( IFELSE c( frontIsClear c) i( move i) ELSE e( move e) i) ELSE e( move e) m)",
)
INVALID = {  # by the place of the token that cannot be there
    "": 1,
    "move": 1,
    "DEF run move": 3,
    "DEF run m( m)": 4,
    "DEF run m( move": 5,
    "DEF run m( move m) move": 6,
    "DEF run m( move r)": 5,
    "DEF run m( frontIsClear m)": 4,
    "DEF run m( REPEAT move r( move r) m)": 5,
    "DEF run m( REPEAT R=3 w( move w) m)": 6,
    "DEF run m( REPEAT R=3 r( r) m)": 7,
    "DEF run m( WHILE frontIsClear w( move w) m)": 5,
    "DEF run m( WHILE c( move c) w( move w) m)": 6,
    "DEF run m( WHILE c( not c( frontIsClear c) w( move w) m)": 10,
    "DEF run m( WHILE c( not frontIsClear c) w( move w) m)": 7,
    "DEF run m( WHILE c( frontIsClear c) i( move i) m)": 8,
    "DEF run m( IF c( frontIsClear c) i( move i) ELSE e( move e) m)": 11,
    "DEF run m( IFELSE c( frontIsClear c) i( move i) m)": 11,
    "DEF run m( IFELSE c( frontIsClear c) i( move i) ELSE m)": 12,
    "DEF run m( IFELSE c( frontIsClear c) i( move i) ELSE e( e) m)": 13,
    "DEF run m( IFELSE c( frontIsClear c) i( move i)": 11,
}


@pytest.mark.parametrize("text", VALID)
def test_programs_are_read(text):
    tokens = encode(text, 60)
    assert decode(tokens) == text
    assert (tokens[len(text.split()) :] == 0).all()


@pytest.mark.parametrize("text", INVALID)
def test_what_is_no_program_is_refused_with_its_first_wrong_token(text):
    with pytest.raises(ValueError, match=rf"token {INVALID[text]} of the program"):
        encode(text, 60)
    batch = batch_of(MAZE, actions="program", program_length=60)
    tokens = [TOKENS.index(word) for word in text.split()]
    batch.load_actions(np.array([[tokens + [0] * (60 - len(tokens))]]))
    batch.step_inplace()
    assert batch.rewards[0, 0] == -0.001
    s = batch.records(0)[1]
    assert (int(s.row), int(s.column), int(s.direction)) == (6, 1, 1)


def test_words_and_lengths_are_checked():
    with pytest.raises(ValueError, match=r"'trunLeft' is not a token of the Karel language. Did you mean .turnLeft."):
        encode("DEF run m( trunLeft m)", 40)
    with pytest.raises(ValueError, match=r"has 5 tokens, at most 4 fit \(program_length\)"):
        encode("DEF run m( move m)", 4)
    assert len(TOKENS) == 51  # LEAPS' 50, and one behind the end
    assert len(set(TOKENS)) == 51


def test_random_tokens_are_no_programs_or_run_to_their_end():
    """Mutants of programs, and rows of any tokens; no state is left that is impossible."""
    rng = np.random.default_rng(0)
    batch = batch_of(id_of("seeder"), 64, actions="program", random_start=True)
    known = np.array([encode(text, 64) for text in VALID])
    invalid = 0
    for turn in range(60):
        tokens = known[rng.integers(0, len(known), 64)]
        for _ in range(turn % 4):
            tokens[np.arange(64), rng.integers(0, 40 if turn % 2 else 20, 64)] = rng.integers(0, 51, 64)
        if turn % 10 == 9:
            tokens = rng.integers(0, 51, (64, 64))
        batch.reset()
        batch.load_actions(tokens[:, None])
        batch.step_inplace()
        invalid += int((batch.rewards[:, 0] == -0.001).sum())
        batch.set_state(batch.get_state(0), 0)
    assert 500 < invalid < 3400


@pytest.mark.parametrize("task", ["door_key", "snake", "clean_house"])
def test_plain_python_runs_programs_alike(task):
    """Changed experts' programs, of which many go on for long; plain Python looks at its indices."""
    rng = np.random.default_rng(1)
    words = " ".join(f"DEF run m( {PROGRAMS.get(task, PROGRAMS['maze'])} m)".split())
    known = encode(words, 200)
    alike = {"id": id_of(task), "actions": "program", "program_length": 200, "calls": 300, "rows": 14, "columns": 22}
    batches = [batch_of(**alike, count=6, backend=backend) for backend in ("numba", "python")]
    for _ in range(3):
        tokens = np.tile(known, (6, 1))
        for i, place in enumerate(rng.integers(3, len(words.split()), 6)):
            for kind in (range(1, 6), range(6, 11), range(31, 51)):  # actions, perceptions, numbers
                if tokens[i, place] in kind:
                    tokens[i, place] = rng.choice(kind)
        for batch in batches:
            batch.reset()
            batch.load_actions(tokens[:, None])
            batch.step_inplace()
        np.testing.assert_array_equal(batches[0].rewards, batches[1].rewards)
        np.testing.assert_array_equal(batches[0].observations, batches[1].observations)


def test_a_page_has_one_row_for_all_tokens():
    setup = Setup(world_of(MAZE), actions="program")
    assert space_text(setup) == "MultiDiscrete([51] * 64)"
    ((places, names, words),) = dimension_rows(setup)
    assert (places, names) == ("0 ... 63", "token 1 ... token 64")
    assert words.startswith("0 nothing, 1 move")
    few = Setup(world_of(MAZE), actions="program", program_length=8)
    assert len(dimension_rows(few)) == 8
    assert space_text(few) == "MultiDiscrete([51, 51, 51, 51, 51, 51, 51, 51])"


# --- tasks ------------------------------------------------------------------------------------------------------------


def solved(batch, steps):
    """Which worlds the expert solves, and its costs."""
    playing, won, costs = np.ones(batch.num_envs, bool), np.zeros(batch.num_envs, bool), np.zeros(batch.num_envs)
    for _ in range(steps):
        batch.load_actions(batch.expert_actions(playing))
        batch.step_inplace(playing)
        won |= playing & batch.success[:, 0]
        costs[playing] += batch.costs[playing, 0]
        playing &= ~(batch.terminated[:, 0] | batch.truncated[:, 0])
        if not playing.any():
            break
    return won, costs


@pytest.mark.parametrize("actions", ["primitives", "program"])
@pytest.mark.parametrize("task", [task for task in TASK.values if task not in ("one_stroke", "snake")])
def test_programs_solve_tasks(task, actions):
    batch = batch_of(id_of(task), 40, actions=actions)
    won, costs = solved(batch, 1000)
    assert won.all()
    assert (costs == 0).all()


@pytest.mark.parametrize("size", [(5, 5), (6, 9), (9, 6), (12, 12), (22, 7)])
@pytest.mark.parametrize(
    "task", ["maze", "stair_climber", "four_corners", "top_off", "harvester", "door_key", "seeder"]
)
def test_the_same_programs_solve_other_sizes(task, size):
    batch = batch_of(id_of(task), 30, rows=size[0], columns=size[1], random_start=True)
    won, costs = solved(batch, 2000)
    assert won.all()
    assert (costs == 0).all()


def test_the_expert_follows_a_given_program():
    batch = batch_of(MAZE, expert_program=" DEF run m(  turnRight turnRight move m) ")
    told = []
    for _ in range(7):
        batch.load_actions(batch.expert_actions())
        told.append(int(batch.expert_actions()[0, 0, 0]))
        batch.step_inplace()
    assert told == [2, 2, 0, 2, 2, 0, 2]
    batch = batch_of(MAZE, expert_program="DEF run m( IF c( markersPresent c) i( move i) m)")
    assert batch.expert_actions()[0, 0, 0] == 1  # no action: it turns left
    assert batch_of(MAZE, expert_program="").expert_actions()[0, 0, 0] in (0, 1)
    for wrong, reason in (
        ("DEF run m( move", "token 5 of the program cannot be the end"),
        (3, "not int"),
        ("go", "token"),
    ):
        with pytest.raises(ParameterError, match=reason):
            batch_of(MAZE, expert_program=wrong)
    found = rlenvs.evaluate("KarelMaze-v0", "expert", seeds=20, expert_program=f"DEF run m( {PROGRAMS['maze']} m)")
    assert found.success_rate == 1.0


def test_the_snake_eats_twenty_meals_in_302_actions_and_any_others():
    assert solved(batch_of(id_of("snake")), 301)[0].tolist() == [False]
    assert solved(batch_of(id_of("snake")), 302)[0].tolist() == [True]
    for keywords in ({"random_start": True}, {"rows": 9, "columns": 8}, {"rows": 5, "columns": 11}):
        assert solved(batch_of(id_of("snake"), 20, **keywords), 3000)[0].all()


def test_one_stroke_is_solved_from_some_starts():
    won, costs = solved(batch_of(id_of("one_stroke"), 200), 200)
    assert 0.4 < won.mean() < 0.65
    assert (costs == 0).all()


def test_starts_are_hprls():
    def starts(task, count=400, **keywords):
        batch = batch_of(id_of(task), count, **keywords)
        return [batch.records(i) for i in range(count)]

    poses = {task: {(int(s.row), int(s.column), int(s.direction)) for _, s in starts(task)} for task in TASK.values}
    assert poses["maze"] == poses["top_off"] == poses["harvester"] == poses["seeder"] == {(6, 1, 1)}
    assert poses["clean_house"] == {(1, 13, 2)}
    assert poses["snake"] == {(1, 3, 1)}
    assert poses["stair_climber"] == {(6 - k, 1 + k, 1) for k in range(5)}
    assert len(poses["four_corners"]) == 8
    assert poses["door_key"] == {(row, column, 1) for row in range(1, 7) for column in range(1, 4)}
    assert poses["one_stroke"] == {(row, column, 1) for row in range(1, 7) for column in range(1, 7)}
    bottom = np.mean([s.markers[6, 1:6] for _, s in starts("top_off", 2000)])
    assert abs(bottom - 0.25) < 0.02
    assert all(s.markers[6, 6] == 0 for _, s in starts("top_off"))
    houses = starts("clean_house")
    assert all((s.markers == 1).sum() == 10 and s.markers[2, 12] == 2 for _, s in houses)
    often = np.mean([s.wanted for _, s in houses], axis=0)
    places = [tuple(place) for place in np.argwhere(often > 0).tolist()]
    assert places == maps.litter_places()
    assert np.abs(often[often > 0] - 10 / len(places)).max() < 0.12
    goals = {(int(s.goal_row), int(s.goal_column)) for _, s in starts("door_key")}
    assert goals == {(row, column) for row in range(1, 7) for column in (5, 6)}
    anywhere = {(int(s.row), int(s.column), int(s.direction)) for _, s in starts("seeder", 2000, random_start=True)}
    assert len(anywhere) == 6 * 6 * 4


def test_mazes_have_one_way_between_any_two_cells():
    batch = batch_of(MAZE, 100)
    for i in range(100):
        s = batch.records(i)[1]
        free = s.wall == 0
        ways = int((free[1:] & free[:-1]).sum() + (free[:, 1:] & free[:, :-1]).sum())
        assert free.sum() == ways + 1 == 17  # nine rooms on 8 x 8 cells, and the ways between them
        assert s.markers.sum() == 1


def test_crashes():
    results = {}
    for crash in ("turn_around", "stay", "end"):
        batch = batch_of(id_of("seeder"), crash=crash)
        s = batch.records(0)[1]
        for action, cost in ((2, 0), (0, 1)):  # south, where the wall is
            batch.load_actions(np.array([[action]]))
            batch.step_inplace()
            assert batch.costs[0, 0] == cost
        results[crash] = int(s.direction), bool(batch.terminated[0, 0])
    assert results == {"turn_around": (0, False), "stay": (2, False), "end": (2, True)}
    batch = batch_of(id_of("seeder"), crash="end")
    batch.load_actions(np.array([[3]]))  # nothing to pick
    batch.step_inplace()
    assert batch.terminated[0, 0]
    assert batch.costs[0, 0] == 1


def test_sparse_rewards_pay_one_for_a_task_that_is_solved():
    for task in TASK.values:
        batch = batch_of(id_of(task), 1, seed=4, reward="sparse", horizon=2000)
        s = batch.records(0)[1]
        if task == "one_stroke":
            s.row, s.column = 1, 1
        paid = []
        while not (batch.terminated[0, 0] or batch.truncated[0, 0]):
            batch.load_actions(batch.expert_actions())
            batch.step_inplace()
            paid.append(float(batch.rewards[0, 0]))
        assert sum(paid[:-1]) == 0.0
        assert paid[-1] == (1.0 if task != "one_stroke" or s.visited == 36 else 0.0)


def test_what_is_observed():
    batch = batch_of(id_of("clean_house"))
    grid = batch.get_observations()[0, 0].reshape(14, 22, 8)
    assert grid[:, :, :4].sum() == 1
    assert grid[1, 13, 2] == 1
    assert (grid[:, :, 5:].sum(axis=2) == 1).all()
    assert grid[2, 12, 7] == 1
    assert grid[:, :, 6].sum() == 10
    assert (grid[:, :, 4] == [[cell == "#" for cell in line] for line in maps.HOUSE]).all()
    batch = batch_of(id_of("clean_house"), observation="perceptions")
    assert batch.get_observations()[0, 0].tolist() == [1, 0, 0, 0, 1]  # south of it is clear; no markers


def test_the_house_and_the_snake_have_the_room_that_they_need():
    def size(task, **keywords):
        return batch_of(id_of(task), **keywords).records(0)[1].wall.shape

    assert size("clean_house", rows=5, columns=22) == (14, 22)
    assert size("snake", rows=5, columns=5) == (7, 8)
    assert size("snake", rows=9, columns=11) == (9, 12)
    assert size("maze", rows=5, columns=22) == (5, 22)
    with pytest.raises(ParameterError, match="rows"):
        batch_of(MAZE, rows=4)


def test_impossible_states_are_refused():
    batch = batch_of(MAZE)
    for change, reason in (("border", "the border is not wall"), ("outside", "Karel is on the border")):
        snapshot, s = batch.get_state(), batch.records(0)[1]
        if change == "border":
            s.wall[0, 3] = 0
        else:
            s.row = 0
        forged = batch.get_state()
        batch.set_state(snapshot)
        with pytest.raises(SnapshotError, match=reason):
            batch.set_state(forged)


def test_words():
    env = rlenvs.text_env(MAZE)
    text, _ = env.reset(seed=0)
    assert "Find the marker." in text
    assert text.count("#") > 28
    assert all(action in text for action in ACTIONS)
    text, *_, info = env.step("move forward")
    assert "is no action of Karel" in info["illegal_reason"]
    for reply in ("turnRight", " TURNRIGHT\n"):
        *_, info = env.step(reply)
        assert info["illegal_reason"] == ""
    *_, info = env.step("\ud800" * 900)
    assert len(info["illegal_reason"].encode()) < 600
    env = rlenvs.text_env(MAZE, actions="program")
    text, _ = env.reset(seed=0)
    assert "At most 64 tokens." in text
    *_, info = env.step("\ud800" * 900)
    assert len(info["illegal_reason"].encode()) < 600
    _, reward, *_, info = env.step("DEF run m( fly m)")
    assert "'fly' is not a token" in info["illegal_reason"]
    assert reward == pytest.approx(-0.001)
    program = " ".join(f"DEF run m( {PROGRAMS['maze']} m)".split())
    _, reward, terminated, *_ = env.step(program)
    assert terminated
    assert reward == 1.0
