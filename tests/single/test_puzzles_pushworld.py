"""PushWorld: files, rules, frames, generated sets, dead ends, undo; the published plans where a checkout is named."""

import csv
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.single.puzzles.pushworld import sets
from rlenvs.single.puzzles.pushworld.files import read_puzzle
from rlenvs.single.puzzles.pushworld.generate import RECIPES, make_set
from rlenvs.single.puzzles.pushworld.tables import OTHERS, Tables

ID = "rlenvs/PushWorld-v0"
LEFT, RIGHT, UP, DOWN, UNDO = range(5)
CHECKOUT = os.environ.get("RLENVS_PUSHWORLD")  # a checkout of the original
OWN = {  # puzzles of our own with a shortest plan each
    "A M1 G1": "R",
    "A . M1 . G1\n. . . . .": "RRR",
    "A M2 M1 . G1": "RR",
    "G1 . .\n. M1 .\n. . A": None,
    ". . . .\n. M1 . .\n. G1+M2 . .\nA . . .": None,
    "A M1 M1 G1 G1": "RR",
    "A M1+AW G1": None,
}


def places(env):
    return env.unwrapped.batch.records(0)[1]["at"].tolist()


def made(text, **keywords):
    env = rlenvs.make(ID, puzzles=text + "\n", **keywords)
    env.reset(seed=0)
    return env


def play(env, letters):
    total = 0.0
    for letter in letters:
        _, reward, terminated, _, info = env.step("LRUD".index(letter))
        total += reward
    return total, terminated, info


# --- rules ------------------------------------------------------------------------------------------------------------


def test_a_chain_of_two_moves_both_and_a_wall_stops_all():
    env = made("A M1 M2 . W G2\nG1 . . . . .")
    before = places(env)
    env.step(RIGHT)
    after = places(env)
    assert [[r, c + 1] for r, c in before] == after  # all three
    _, reward, terminated, _, info = env.step(RIGHT)
    assert places(env) == after
    assert (reward, terminated) == (pytest.approx(-0.01), False)
    assert info["action_mask"].tolist() == [1, 0, 0, 1]


def test_only_the_agent_is_stopped_by_its_walls():
    env = made("A M1 AW G1\n. . . .")
    env.step(RIGHT)
    assert places(env)[0] == [1, 2]
    assert places(env)[1] == [1, 3]  # on the wall for agents
    env.step(RIGHT)
    assert places(env)[0] == [1, 2]  # the agent itself


def test_objects_are_pushed_and_never_pulled():
    env = made(". A M1 . G1\n. . . . .")
    env.step(LEFT)
    assert places(env)[1] == [1, 3]


def test_shapes_push_what_their_parts_touch():
    env = made("A . . . .\nM1 M1 M2 . .\n. . . . .\n. . . . .\nG1 G1 . . .")
    env.step(DOWN)
    assert places(env) == [[2, 1], [3, 1], [2, 3]]  # M2 stands beside and stays
    env = made("A M1 M1 .\n. . M1 .\n. . M2 .\n. . . .\nG1 G1 . .\n. G1 . .")
    env.step(RIGHT)
    assert places(env)[1:] == [[1, 3], [3, 3]]


def table_of(text):
    puzzle = read_puzzle(text, "text")
    return puzzle, Tables([puzzle], puzzle.rows, puzzle.columns, None).arrays


def reference_step(puzzle, at, action):
    """The rules of the paper with sets of cells."""
    step = ((0, -1), (0, 1), (-1, 0), (1, 0))[action]
    corners = [(min(r for r, _ in cells), min(c for _, c in cells)) for cells in puzzle.objects]
    cells = [
        {(r - top + row, c - left + column) for r, c in group}
        for group, (top, left), (row, column) in zip(puzzle.objects, corners, at, strict=True)
    ]

    def moved(group):
        return {(r + step[0], c + step[1]) for r, c in group}

    if moved(cells[0]) & (puzzle.walls | puzzle.agent_walls):
        return at
    pushed, again = {0}, True
    while again:
        again = False
        for i in range(1, len(cells)):
            if i not in pushed and any(moved(cells[j]) & cells[i] for j in pushed):
                if moved(cells[i]) & puzzle.walls:
                    return at
                pushed.add(i)
                again = True
    return [(r + step[0] * (i in pushed), c + step[1] * (i in pushed)) for i, (r, c) in enumerate(at)]


@st.composite
def puzzles(draw):
    """Random maps with shapes of up to five cells, connected or not."""
    rows, columns = draw(st.integers(3, 6)), draw(st.integers(3, 6))
    names = ["M1", "M2", "M3", "A", "W", "AW"]
    letters = draw(st.lists(st.sampled_from([".", ".", *names]), min_size=rows * columns, max_size=rows * columns))
    for name, place in (("A", 0), ("M1", 1)):
        if name not in letters:
            letters[place] = name
    grid = [letters[r * columns : (r + 1) * columns] for r in range(rows)]
    for r in range(rows):
        for c in range(columns):
            if grid[r][c] == "M1":
                grid[r][c] = "M1+G1"
    return "\n".join(" ".join(row) for row in grid)


@settings(max_examples=60, deadline=None)
@given(puzzles(), st.lists(st.integers(0, 3), min_size=1, max_size=25), st.permutations([1, 2, 3]))
def test_moves_are_those_of_the_rules_whatever_the_numbers_of_objects(text, actions, order):
    """Also: a stopped move changes nothing, and masks say so."""
    renamed = text
    for old, new in enumerate(order, start=1):
        renamed = renamed.replace(f"M{old}", f"X{new}").replace(f"G{old}", f"Y{new}")
    renamed = renamed.replace("X", "M").replace("Y", "G")
    puzzle, arrays = table_of(text)
    other, others = table_of(renamed)
    at = [tuple(place) for place in arrays["start"][0].tolist()]
    match = [other.objects.index(cells) for cells in puzzle.objects]
    theirs = [tuple(place) for place in others["start"][0].tolist()]
    env = rlenvs.make(ID, puzzles=text, backend="python", horizon=100)
    _, info = env.reset(seed=0)
    for action in actions:
        expected = reference_step(puzzle, at, action)
        changes = [reference_step(puzzle, at, each) != at for each in range(4)]
        assert info["action_mask"].tolist() == (changes if any(changes) else [1] * 4)
        theirs = reference_step(other, theirs, action)
        _, _, terminated, _, info = env.step(action)
        at = expected
        assert [tuple(place) for place in places(env)] == at
        assert [theirs[i] for i in match] == at
        if terminated:
            break


# --- rewards and ends -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "plan"), [(text, plan) for text, plan in OWN.items() if plan])
def test_the_return_of_a_plan_of_length_n(text, plan):
    total, terminated, info = play(made(text), plan)
    assert terminated
    assert info["is_success"]
    assert total == pytest.approx(10.0 - 0.01 * (len(plan) - 1))


def test_goals_are_worth_one_and_are_lost_again():
    env = made("A M1 G1 .\n. . . .\nM2 . G2 .")
    assert env.step(RIGHT)[1] == pytest.approx(0.99)
    _, reward, terminated, _, info = env.step(RIGHT)
    assert reward == pytest.approx(-1.01)
    assert not terminated
    assert info["reward_goals"] == -1.0
    assert info["cost_dead_end"] == 1.0  # in the corner


def test_the_last_goal_is_worth_ten():
    env = made("A M1 G1 .\n. . . .\n. . . .")
    _, reward, terminated, _, info = env.step(RIGHT)
    assert (reward, terminated, info["reward_goals"], info["reward_time"]) == (10.0, True, 0.0, 0.0)


def test_time_limits():
    assert rlenvs.make(ID).spec.max_episode_steps == 100
    env = made("A . M1 . G1\n. . . . .")
    assert env.unwrapped.batch.setup.horizon == 1000


# --- dead ends, undo --------------------------------------------------------------------------------------------------


def test_a_corner_is_a_dead_end_and_undo_leads_out_of_it():
    env = made(". . .\n. M1 A\nG1 . .", undo=2)
    assert env.action_space.n == 5
    _, info = env.reset(seed=0)
    assert info["action_mask"].tolist() == [1, 0, 1, 1, 0]
    start = places(env)
    assert env.step(LEFT)[4]["cost_dead_end"] == 0.0  # along a wall that leads to the goal
    env.step(UNDO)
    assert places(env) == start
    env = made("W W W W W\n. . M1 A .\n. . . . .\n. G1 . . .", undo=2)
    env.reset(seed=0)
    assert env.step(LEFT)[4]["cost_dead_end"] == 1.0  # under a wall of which no way leads down
    assert env.unwrapped.expert_action() == UNDO


def test_undo_remembers_as_many_moves_as_it_was_given():
    env = made(". . . . A\n. . . . .\nM1 . . . G1", undo=2)
    seen = [places(env)]
    for action in (LEFT, LEFT, UP, LEFT):  # the third changes nothing and is not remembered
        env.step(action)
        seen.append(places(env))
    env.step(UNDO)
    assert places(env) == seen[2]
    env.step(UNDO)
    assert places(env) == seen[1]
    info = env.step(UNDO)[4]
    assert places(env) == seen[1]
    assert info["action_mask"][UNDO] == 0


def test_no_dead_end_is_solvable():
    """Every state of ten generated puzzles within reach of random moves: what is called dead has no plan."""
    from rlenvs.single.puzzles.pushworld.solver import Arrays, solve

    batch = rlenvs.make_batch(ID, 60, puzzles="all", split="test", number=np.arange(60), horizon=1000)
    arrays = Arrays(sets.tables_of(batch.setup.values).arrays)
    free = Arrays({**arrays.__dict__, "distance": np.zeros_like(arrays.distance)})  # a search that prunes nothing
    batch.seed(range(60))
    batch.reset()
    rng, looked = np.random.default_rng(0), 0
    for _ in range(40):
        batch.step(rng.integers(4, size=batch.actions.shape).astype(batch.actions.dtype))
        for i in np.flatnonzero(batch.states["dead"] > 0)[:1]:
            try:
                plan = solve(free, int(batch.states["puzzle_index"][i]), batch.states["at"][i], 100_000)
            except RuntimeError:
                continue
            looked += 1
            assert plan is None
    assert looked > 10


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A M1 G1\n. .", "line 2 has 2 cells and line 1 has 3"),
        ("A M1 G1\n. X .", "line 2, column 2: the element 'x' is unknown"),
        ("A M1 G2\n. . .", "line 1, column 3: the goal G2 has no object M2"),
        (". M1 G1\n. . .", "there is no agent"),
        ("A M1 .\n. . .", "no goal"),
        ("A M1+M2 G1\n. . .", "two objects into one cell"),
        ("A M1+W G1\n. . .", "an object into a wall"),
        ("A+AW M1 G1\n. . .", "agent into an agent-only wall"),
        ("A M1 G1\n\n. . .", "line 2 has 0 cells"),
        ("\n", "empty"),
        (("A M1 G1" + " ." * 60) + "\n", "at most 60 x 60"),
    ],
)
def test_faulty_texts_are_refused_with_line_and_reason(text, message, tmp_path):
    with pytest.raises(ParameterError, match=message):
        rlenvs.make(ID, puzzles=text if "\n" in text else text + "\n")
    file = tmp_path / "edited.pwp"
    file.write_text(text)
    with pytest.raises(ParameterError, match=r"edited\.pwp"):
        rlenvs.make(ID, puzzles=str(tmp_path))


def test_a_goal_of_another_shape_or_in_a_wall_is_taken():
    """As in the original, the corners of boxes decide; an object whose goal it does not fit into is dead at once."""
    env = made("A M1 . G1 G1\n. M1 . G1 .\n. . . . .")
    _, terminated, info = play(env, "RR")
    assert (terminated, info["is_success"], info["cost_dead_end"]) == (True, True, 0.0)
    env = made("A M1 G1+W\n. . .")
    assert env.step(RIGHT)[4]["cost_dead_end"] == 1.0
    env = made("A M . G\n. M-1 . .")  # any text behind M and G
    assert play(env, "RR")[1]


@pytest.mark.parametrize("cell", [20, 7])
def test_frames_of_smaller_puzzles_are_centred_by_pixels(cell):
    """The frame of a puzzle alone, in as many zeros at the left as at the right, or one less."""
    texts = ["A M1 G1", "A M1 . G1\n. . . .", "A M1 . . . G1\n. . . . . .\n. . . . . .\n. . . . . ."]
    shown = {"observation": "pixels", "pixels_per_cell": cell, "border_width": 1}
    for number, text in enumerate(texts):
        alone = made(text, **shown).reset(seed=0)[0]
        frame = rlenvs.make(ID, puzzles=texts, number=number, **shown).reset(seed=0)[0]
        free = [big - small for big, small in zip(frame.shape[:2], alone.shape[:2], strict=True)]
        assert np.array_equal(frame, np.pad(alone, [*[(each // 2, each - each // 2) for each in free], (0, 0)]))


def test_files_folders_lists_and_names(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/one.pwp").write_text("A M1 G1\n")
    (tmp_path / "two.pwp").write_text("a m1 . g1\n. . . .\n\n")
    env = rlenvs.make(ID, puzzles=str(tmp_path), puzzle="deep/one")
    env.reset(seed=0)
    assert env.step(RIGHT)[2]
    assert rlenvs.make(ID, puzzles=str(tmp_path / "two.pwp")).observation_space.shape == (4, 6, 8)
    assert rlenvs.make(ID, puzzles=tmp_path).observation_space.shape == (4, 6, 8)
    env = rlenvs.make(ID, puzzles=["A M1 G1", "A M1 . G1"], puzzle=1)
    env.reset(seed=0)
    assert not env.step(RIGHT)[2]
    (tmp_path / "two.pwp").write_text("A M1 G1 . .\n")  # a changed file is read again
    assert rlenvs.make(ID, puzzles=str(tmp_path / "two.pwp")).observation_space.shape == (3, 7, 8)
    for keywords, message in (
        ({"puzzles": "bose"}, "'base'"),
        ({"puzzles": str(tmp_path / "none")}, "neither"),
        ({"puzzles": 3}, "needed"),
        ({"puzzles": []}, "needed"),
        ({"puzzles": str(tmp_path), "puzzle": "three"}, "no puzzle 'three'"),
        ({"puzzle": 2000}, "0 ... 1999"),
        ({"puzzle": "base/train/2000"}, "run from 'base/train/0'"),
        ({"puzzle": 1.5}, "needed"),
    ):
        with pytest.raises(ParameterError, match=message):
            rlenvs.make(ID, **keywords)


def test_a_batch_plays_a_different_puzzle_in_every_world():
    envs = rlenvs.make_vec(ID, 200, split="test", number=np.arange(200))
    envs.reset(seed=0)
    assert envs.unwrapped.batch.states["puzzle_index"].tolist() == list(range(200))
    drawn = rlenvs.make_batch(ID, 500)
    drawn.seed(range(500))
    drawn.reset()
    assert len(set(drawn.states["puzzle_index"].tolist())) > 400


# --- observations -----------------------------------------------------------------------------------------------------


def test_planes_tell_what_lies_where():
    env = rlenvs.make(ID, puzzles="A M1 G1 W\nM2 M2 . AW\nM3 M1 G1 .\n")
    planes, _ = env.reset(seed=0)
    assert planes.shape == (5, 6, 8)
    assert planes.dtype == np.uint8
    for plane, cells in (
        (0, [(1, 1)]),
        (2, [(2, 4)]),
        (3, [(1, 2), (3, 2)]),
        (4, [(1, 3), (3, 3)]),
        (OTHERS, [(2, 1), (2, 2), (3, 1)]),
        (6, [(2, 1)]),  # M2 goes on to the right
        (7, []),
    ):
        assert sorted(map(tuple, np.argwhere(planes[:, :, plane] == 255).tolist())) == cells
    assert (planes[:, :, 1] == 255).sum() == 2 * 6 + 2 * 3 + 1
    two = rlenvs.make(ID, puzzles="A M1 G1\n. M2 G2\n").reset(seed=0)[0]
    assert sorted({int(two[1, 2, 3]), int(two[2, 2, 3])}) == [231, 255]
    assert two[1, 2, 3] == two[1, 3, 4]  # an object and its goal


def test_small_puzzles_are_centred():
    planes, _ = rlenvs.make(ID, puzzles="A M1 G1\n", rows_at_least=8, columns_at_least=6).reset(seed=0)
    assert planes.shape == (8, 6, 8)
    assert np.argwhere(planes.any(axis=2)).min(axis=0).tolist() == [2, 0]
    assert np.argwhere(planes.any(axis=2)).max(axis=0).tolist() == [4, 4]


def test_frames_have_the_published_colours():
    env = rlenvs.make(ID, puzzles="A M1 G1 W\nM2 M2 . AW\n", observation="pixels")
    frame, _ = env.reset(seed=0)
    assert frame.shape == (4 * 20, 6 * 20, 3)
    colours = {
        (1, 1): (0x00, 0xDC, 0x00),
        (1, 2): (0xDC, 0x00, 0x00),
        (1, 3): (255, 255, 255),
        (1, 4): (0x0A, 0x0A, 0x0A),
        (2, 1): (0x46, 0x9B, 0xFF),
        (2, 4): (0xFA, 0xC7, 0x1E),
    }
    for (row, column), colour in colours.items():
        assert tuple(frame[row * 20 + 10, column * 20 + 10]) == colour
    assert tuple(frame[20, 3 * 20 + 10]) == (0xB9, 0, 0)  # the outline of the goal
    assert tuple(frame[2 * 20 + 10, 2 * 20]) == (0x46, 0x9B, 0xFF)  # no line inside an object
    assert tuple(frame[2 * 20 + 1, 20 + 10]) == (0x23, 0x48, 0x7F)


# --- generated sets ---------------------------------------------------------------------------------------------------


def test_generated_sets_have_what_their_categories_say():
    assert list(RECIPES) == list(sets.CATEGORIES)
    for category, recipe in RECIPES.items():
        train, test = (sets.generated(category, split) for split in ("train", "test"))
        assert (len(train), len(test)) == (2000, 200)
        texts = {rows for split in ("train", "test") for rows, _ in sets.stored_lines()[f"{category}/{split}"]}
        assert len(texts) == 2200  # none twice, none in both
        for puzzle in (*train, *test):
            assert recipe.side[0] <= puzzle.rows - 2 <= recipe.side[1]
            assert recipe.goals[0] <= len(puzzle.goals) <= recipe.goals[1]
            assert recipe.others[0] <= len(puzzle.objects) - 1 - len(puzzle.goals) <= recipe.others[1]


def test_only_puzzles_with_short_plans():
    """What is left is those of the set, and all of them."""
    plans = [len(puzzle.plan) for puzzle in sets.generated("base", "train")]
    left = sets.puzzles_of("base", "train", None, 5)
    assert [len(puzzle.plan) for puzzle in left] == [each for each in plans if each <= 5]
    env = rlenvs.make(ID, level="short")
    assert env.unwrapped.batch.setup.sizes["puzzle_count"] == len(left) == 506
    for seed in range(20):
        env.reset(seed=seed)
        steps, over = 0, False
        while not over:
            over, steps = env.step(env.unwrapped.expert_action())[2], steps + 1
        assert steps <= 5
    assert sets.puzzles_of("base", "train", None, 1000) == sets.generated("base", "train")
    with pytest.raises(ParameterError, match="longest_plan=5: no puzzle of the set has a known plan of so few"):
        rlenvs.make(ID, longest_plan=5, puzzles="A M1 G1\n. . .")


def test_the_generator_gives_the_stored_puzzles():
    made_now = make_set("shapes", {"train": 5})["train"]
    assert made_now == sets.stored_lines()["shapes/train"][:5]


@pytest.mark.parametrize("category", sets.CATEGORIES)
def test_stored_plans_solve_and_are_shortest(category):
    """Breadth-first search finds no shorter one; every base puzzle, and a sample of the others."""
    from rlenvs.single.puzzles.pushworld.solver import Arrays, solve

    chosen = sets.generated(category, "test")[: None if category == "base" else 12]
    arrays = Arrays(Tables(chosen, 12, 12, None).arrays)
    for k, puzzle in enumerate(chosen):
        plan = solve(arrays, k, arrays.start[k])
        assert plan is not None
        assert len(plan) == len(puzzle.plan)
    env = rlenvs.make(ID, puzzles=category, split="test", horizon=1000)
    for k in (0, 1, 2):
        env = rlenvs.make(ID, puzzles=category, split="test", puzzle=f"{category}/test/{k}", horizon=1000)
        env.reset(seed=0)
        _, terminated, info = play(env, chosen[k].plan)
        assert terminated
        assert info["is_success"]


def test_the_expert_takes_a_shortest_way():
    for k in range(8):
        env = rlenvs.make(ID, puzzles="all", split="test", puzzle=k)
        env.reset(seed=0)
        plan = sets.generated("all", "test")[k].plan
        if len(plan) > 30:
            continue
        for step in range(1, len(plan) + 1):
            terminated = env.step(env.unwrapped.expert_action())[2]
            assert terminated == (step == len(plan))


def test_texts_can_be_read_again():
    env = rlenvs.make(ID, puzzles="A M1 G1 W\nM2 M2 . AW\n", render_mode="ansi")
    env.reset(seed=0)
    assert env.render().split() == ["A", "M1", "G1", "W", "M2", "M2", ".", "AW"]
    env.step(RIGHT)
    assert rlenvs.make(ID, puzzles=env.render() + "\n") is not None


# --- the original -----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not CHECKOUT, reason="RLENVS_PUSHWORLD names no checkout of the original")
def test_the_published_plans_replay():
    sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks/parity"))
    from pushworld import plans, replay

    published = plans(Path(CHECKOUT))
    assert len(published) == 223
    assert sum(len(plan) for _, plan in published) == 18143
    assert all(replay(puzzle, plan)[0] for puzzle, plan in published)


def test_shortest_plans_of_published_puzzles():
    """Recorded beside the lengths of the published plans; searched again where a checkout is named."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks/parity"))
    from pushworld import shortest_plan

    with (Path(__file__).parents[1] / "data/pushworld_shortest.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 54
    assert all(int(row["shortest"]) <= int(row["published"]) for row in rows)
    for row in rows if CHECKOUT else ():
        puzzle = Path(CHECKOUT) / "benchmark/puzzles" / row["level"] / f"{row['puzzle']}.pwp"
        assert len(shortest_plan(puzzle, 2_000_000)) == int(row["shortest"]), row["puzzle"]
