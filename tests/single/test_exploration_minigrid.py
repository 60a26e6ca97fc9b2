"""MiniGrid's worlds: what is seen, done and paid as in MiniGrid 3.2, the grids of the tasks, the expert."""

from pathlib import Path

import gymnasium
import numpy as np
import pytest

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.gridworld import cells
from rlenvs.single.exploration.minigrid import SPEC, cells_of
from rlenvs.single.exploration.rooms_shaping import measure_ways, steps_left, things_left

RECORDED = np.load(Path(__file__).parents[1] / "data" / "minigrid.npz")
LEFT, RIGHT, FORWARD, PICK_UP, DROP, TOGGLE, DONE = range(7)
NAMES = ("MiniGridEmpty8x8-v0", *SPEC.members)


def ours(id):
    """The name here of a world of MiniGrid."""
    return f"MiniGrid{id[:-3].replace('-', '')}-v0"


def make(name, **keywords):
    return gymnasium.make(f"rlenvs/{name}", **keywords)


def records(env):
    return env.unwrapped.batch.records(0)


def put(env, grid, start, wanted=0, ends=(-1, -1, -1, -1)):
    """A grid of codes (columns, rows), with the agent at a column and row, looking in a direction."""
    p, s = records(env)
    cells_of(p, s.grid)[:] = grid
    s.cell, s.direction, s.carried, s.wanted = cells.cell_at(p, *start[:2]), start[2], 0, wanted
    s.right_end = cells.cell_at(p, *ends[:2]) if ends[0] >= 0 else 0
    s.wrong_end = cells.cell_at(p, *ends[2:]) if ends[0] >= 0 else 0
    return s


# --- beside MiniGrid --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", RECORDED["ids"].tolist())
def test_episodes_of_minigrid(id):
    """Its grids, starts and actions give its views, directions, rewards and ends."""
    part = {key.removeprefix(f"{id} "): RECORDED[key] for key in RECORDED if key.startswith(f"{id} ")}
    env = make(ours(id), show_direction=True)
    first, seen = 0, 0
    for episode, length in enumerate(part["length"]):
        env.reset(seed=0)
        assert env.unwrapped.batch.setup.horizon == part["limit"][episode]
        assert cells_of(*[records(env)[0], records(env)[1].grid]).shape == part["grid"][episode].shape
        put(env, part["grid"][episode], part["start"][episode], part["wanted"][episode], part["ends"][episode])
        for t in range(length):
            observation, reward, ended, late, info = env.step(int(part["actions"][first + t]))
            assert np.array_equal(observation["image"], part["views"][seen + t + 1])
            assert observation["direction"].item() == part["directions"][seen + t + 1]
            assert reward == pytest.approx(part["rewards"][first + t], abs=1e-6)
            last = t == length - 1
            # where both come at once, ours says that the episode has ended by its rules
            assert ended == (last and part["terminated"][episode])
            assert (ended or late) == (last and (part["terminated"][episode] or part["truncated"][episode]))
            assert info["is_success"] == (reward > 0)
        first, seen = first + length, seen + length + 1


@pytest.mark.parametrize("id", RECORDED["ids"].tolist())
def test_what_the_first_view_of_a_recorded_grid_shows(id):
    """A turn to the left and back shows the start again."""
    part = {key.removeprefix(f"{id} "): RECORDED[key] for key in RECORDED if key.startswith(f"{id} ")}
    env = make(ours(id))
    env.reset(seed=0)
    put(env, part["grid"][0], part["start"][0], part["wanted"][0], part["ends"][0])
    env.step(LEFT)
    observation, *_ = env.step(RIGHT)
    assert observation.dtype == np.uint8
    assert np.array_equal(observation, part["views"][0])


# --- rules ------------------------------------------------------------------------------------------------------------


def corridor(*things, length=8):
    """An empty room of 8 x 8 whose second row holds things from the third column on."""
    grid = np.full((length, length), cells.STONE)
    grid[1:-1, 1:-1] = cells.NOTHING
    for x, what in enumerate(things, start=2):
        grid[x, 1] = what
    return grid


def facing(*things, **keywords):
    env = make("MiniGridUnlockPickup-v0", **keywords) if keywords else make("MiniGridDoorKey8x8-v0")
    env.reset(seed=0)
    return env, put(env, corridor(*things), (1, 1, 0))


def at(env, x, y=1):
    p, s = records(env)
    return int(cells_of(p, s.grid)[x, y])


def test_keys_open_locked_doors_of_their_colour():
    red, blue = cells.thing(cells.KEY, cells.RED), cells.thing(cells.KEY, cells.BLUE)
    lock = cells.door(cells.BLUE, cells.LOCKED)
    env, s = facing(lock)
    for hand, opened in ((0, False), (red, False), (blue, True)):
        s.carried = hand
        env.step(TOGGLE)
        assert at(env, 2) == (cells.door(cells.BLUE, cells.OPEN) if opened else lock)
    assert s.carried == blue
    env.step(TOGGLE)
    assert at(env, 2) == cells.door(cells.BLUE, cells.CLOSED)  # and not locked again
    env.step(FORWARD)
    assert s.cell == cells.cell_at(records(env)[0], 1, 1)
    env.step(TOGGLE)
    env.step(FORWARD)
    assert s.cell == cells.cell_at(records(env)[0], 2, 1)


def test_a_box_gives_way_to_its_key():
    env, _ = facing(cells.filled_box(cells.GREY, cells.RED))
    env.step(TOGGLE)
    assert at(env, 2) == cells.thing(cells.KEY, cells.RED)
    env, _ = facing(cells.thing(cells.BOX, cells.GREY))
    env.step(TOGGLE)
    assert at(env, 2) == cells.NOTHING


def test_one_thing_in_the_hand():
    ball, key = cells.thing(cells.BALL, cells.RED), cells.thing(cells.KEY, cells.RED)
    env, s = facing(ball, key)
    observation, *_ = env.step(PICK_UP)
    assert (s.carried, at(env, 2)) == (ball, cells.NOTHING)
    assert observation[3, 6].tolist() == [cells.BALL, cells.RED, 0]  # the agent's own cell shows it
    env.step(FORWARD)
    env.step(PICK_UP)
    env.step(DROP)
    assert (s.carried, at(env, 3)) == (ball, key)  # the hand is full, the cell is taken
    env.step(RIGHT)
    env.step(DROP)
    assert (s.carried, at(env, 2, 2)) == (0, ball)


@pytest.mark.parametrize(
    ("what", "enters"),
    [
        (cells.NOTHING, True),
        (cells.thing(cells.FLOOR, cells.BLUE), True),
        (cells.STONE, False),
        (cells.thing(cells.KEY, cells.BLUE), False),
        (cells.thing(cells.BOX, cells.BLUE), False),
        (cells.door(cells.BLUE, cells.OPEN), True),
        (cells.door(cells.BLUE, cells.CLOSED), False),
    ],
)
def test_where_one_can_go(what, enters):
    env, s = facing(what)
    env.step(FORWARD)
    assert (s.cell == cells.cell_at(records(env)[0], 2, 1)) == enters


def test_lava_ends_without_success():
    env, _ = facing(cells.FIRE)
    _, reward, ended, _, info = env.step(FORWARD)
    assert (reward, ended, info["is_success"], info["cost_danger"]) == (0.0, True, False, 1.0)


def test_the_goal_pays_less_the_later():
    env, _ = facing(cells.EXIT)
    for _ in range(3):
        assert env.step(DONE)[1] == 0.0
    _, reward, ended, _, info = env.step(FORWARD)
    assert reward == pytest.approx(1 - 0.9 * 4 / 640)
    assert (ended, info["is_success"]) == (True, True)


def test_nothing_is_seen_behind_walls_and_closed_doors():
    grid = corridor()
    grid[3, 1:-1] = cells.STONE
    for state, sees in ((cells.CLOSED, False), (cells.OPEN, True)):
        grid[3, 1] = cells.door(cells.RED, state)
        env = make("MiniGridDoorKey8x8-v0")
        env.reset(seed=0)
        put(env, grid, (1, 1, 0))
        observation, *_ = env.step(DONE)
        assert observation[3, 4].tolist() == [cells.DOOR, cells.RED, state]
        assert (observation[3, 3, 0] == cells.EMPTY) == sees
        assert (observation[4, 3, 0] != cells.UNSEEN) == sees


# --- balls that move --------------------------------------------------------------------------------------------------


def test_balls_move_one_cell_and_never_onto_anything():
    env = make("MiniGridDynamicObstacles8x8-v0")
    assert env.action_space == gymnasium.spaces.Discrete(3)
    env.reset(seed=0)
    p, s = records(env)
    moved = 0
    for step in range(200):
        before = s.ball[:4].copy()
        _, _, ended, late, _ = env.step(LEFT)
        for old, new in zip(before, s.ball[:4], strict=True):
            assert max(abs(old // p.stride - new // p.stride), abs(old % p.stride - new % p.stride)) <= 1
            moved += old != new
        held = cells_of(p, s.grid)
        assert np.count_nonzero(held == cells.thing(cells.BALL, cells.BLUE)) == 4
        assert s.grid[s.cell] == cells.NOTHING
        if ended or late:
            env.reset(seed=step)
    assert moved > 600


def test_going_against_a_ball_or_a_wall():
    """What counts is what was in front before the balls moved."""
    for what, pays in ((cells.STONE, -1.0), (cells.thing(cells.BALL, cells.BLUE), -1.0), (cells.NOTHING, 0.0)):
        env = make("MiniGridDynamicObstacles8x8-v0")
        env.reset(seed=0)
        s = put(env, corridor(what), (1, 1, 0))
        s.balls = 0
        _, reward, ended, _, info = env.step(FORWARD)
        assert (reward, ended, info["cost_danger"]) == (pays, pays < 0, -pays)
        assert env.action_space.n == 3
    env = make("MiniGridDynamicObstacles8x8-v0")
    env.reset(seed=0)
    put(env, corridor(cells.EXIT), (1, 1, 0)).balls = 0
    assert env.step(FORWARD)[1] == pytest.approx(1 - 0.9 / 256)


@pytest.mark.parametrize(("size", "asked", "count"), [(5, 2, 2), (6, 3, 3), (8, 4, 4), (16, 8, 8), (8, 20, 4)])
def test_how_many_balls(size, asked, count):
    env = make("MiniGridDynamicObstacles8x8-v0", grid_size=size, balls=asked)
    env.reset(seed=0)
    assert records(env)[1].balls == count


# --- terms of weight 0 ------------------------------------------------------------------------------------------------


def shaped(*things):
    """Terms of an environment that faces things, measured anew, after an action."""
    env, s = facing(*things)
    p, _ = records(env)
    measure_ways(p, s)
    s.things_left = things_left(p, s)

    def terms(action):
        info = env.step(action)[-1]
        return info["reward_progress"], info["reward_subgoal"]

    return terms, s


def test_progress_is_paid_for_steps_towards_the_goal_and_taken_back():
    terms, _ = shaped(cells.NOTHING, cells.thing(cells.BALL, cells.RED), cells.EXIT)
    assert [terms(action)[0] for action in (FORWARD, FORWARD, LEFT, LEFT, FORWARD)] == [1.0, 0.0, 0.0, 0.0, -1.0]


def test_lava_pays_no_progress():
    terms, _ = shaped(cells.FIRE, cells.EXIT)
    assert terms(FORWARD)[0] == 0.0


def test_ways_lead_around_lava_and_walls():
    grid = corridor()
    grid[3, 1:-1] = cells.FIRE
    grid[3, 6] = cells.NOTHING
    grid[4, 1] = cells.EXIT
    env = make("MiniGridDoorKey8x8-v0")
    env.reset(seed=0)
    s = put(env, grid, (1, 1, 0))
    p, _ = records(env)
    measure_ways(p, s)
    ways = cells_of(p, s.far)
    assert (ways[1, 1], ways[3, 6], ways[4, 1]) == (13, 6, 0)
    assert ways[3, 1:6].tolist() == [0] * 5


@pytest.mark.parametrize("name", ["MiniGridDynamicObstacles8x8-v0", "MiniGridEmptyRandom6x6-v0"])
def test_ways_in_an_open_room_are_rows_and_columns(name):
    """As `measure_ways` would measure them, which such a room does not wait for."""
    env = make(name)
    env.reset(seed=0)
    p, s = records(env)
    assert not np.asarray(s.far).any()
    measure_ways(p, s)
    inside = np.flatnonzero([cells.kind_of(int(there)) not in (cells.UNSEEN, cells.WALL) for there in s.grid])
    assert len(inside) == (int(p.width) - 2) * (int(p.height) - 2)
    assert [int(s.far[cell]) for cell in inside] == [steps_left(p, s, int(cell)) for cell in inside]
    assert things_left(p, s) == s.things_left == 0


def test_subgoals_are_keys_of_locks_doors_boxes_and_balls_beside_locks():
    lock = cells.door(cells.BLUE, cells.LOCKED)
    terms, s = shaped(cells.filled_box(cells.GREY, cells.BLUE), lock, cells.EXIT)
    assert s.things_left == 3
    actions = (TOGGLE, PICK_UP, DROP, PICK_UP, FORWARD, TOGGLE, TOGGLE, TOGGLE)
    assert [terms(action)[1] for action in actions] == [1.0, 1.0, -1.0, 1.0, 0.0, 1.0, -1.0, 1.0]
    assert s.things_left == 0  # and the key is of no use any more
    terms, s = shaped(cells.thing(cells.KEY, cells.RED), lock)
    assert terms(PICK_UP)[1] == 0.0  # opens nothing here
    terms, s = shaped(cells.thing(cells.BALL, cells.RED), lock)
    assert [terms(action)[1] for action in (PICK_UP, DROP)] == [1.0, -1.0]
    assert s.things_left == 3


def test_with_the_task_done_nothing_is_left():
    """Over an episode of the expert, what was left at its start is paid, though it opens some of the doors alone."""
    env = make("MiniGridObstructedMazeFull-v0")
    env.reset(seed=0)
    s, paid, ended = records(env)[1], 0.0, False
    assert s.things_left == 36
    while not ended:
        *_, ended, _, info = env.step(int(env.unwrapped.batch.expert_actions().item()))
        paid += info["reward_subgoal"]
    assert (info["is_success"], paid) == (True, 36.0)
    assert info["reward_subgoal"] > 1.0


@pytest.mark.parametrize(
    "name", ["MiniGridObstructedMaze2Dlhb-v0", "MiniGridDoorKey6x6-v0", "MiniGridMultiRoomN4S5-v0"]
)
def test_terms_of_weight_0_are_differences_of_potentials(name):
    """What they pay over an episode of random actions, or of the expert, is what the potentials differ by."""
    batch = rlenvs.make_batch(name, 8)
    assert [batch.setup.world.terms[term].weight for term in ("progress", "subgoal")] == [0.0, 0.0]
    for expert in (False, True):
        batch.seed(range(8))
        batch.reset()
        rng = np.random.default_rng(0)
        states = batch.states
        at_start = [int(states["far"][k][states["cell"][k]]) + int(states["things_left"][k]) for k in range(8)]
        paid, going = np.zeros(8), np.ones(8, bool)
        for _ in range(60):
            batch.step(batch.expert_actions() if expert else rng.integers(0, 7, 8))
            paid += going * batch.terms[:, 2:4, 0].sum(1)
            going &= ~(batch.terminated | batch.truncated).reshape(8)
            now = [int(states["far"][k][states["cell"][k]]) + int(states["things_left"][k]) for k in range(8)]
            assert all(paid[k] == at_start[k] - now[k] for k in range(8) if going[k])


# --- grids ------------------------------------------------------------------------------------------------------------


def grids(name, count=300, **keywords):
    batch = rlenvs.make_batch(name, count, **keywords)
    batch.seed(range(count))
    batch.reset()
    p, _ = batch.records(0)
    pad = int(p.pad)
    return batch.states, batch.states["grid"].reshape(count, -1, int(p.stride))[:, pad:-pad, pad:-pad]


def test_grids_of_door_and_key():
    states, made = grids("MiniGridDoorKey8x8-v0")
    assert (made[:, 6, 6] == cells.EXIT).all()
    doors = np.argwhere(made == cells.door(cells.YELLOW, cells.LOCKED))
    keys = np.argwhere(made == cells.thing(cells.KEY, cells.YELLOW))
    assert len(doors) == len(keys) == 300
    assert set(doors[:, 1].tolist()) == {2, 3, 4, 5}
    assert set(doors[:, 2].tolist()) == {1, 2, 3, 4, 5}
    assert (keys[:, 1] < doors[:, 1]).all()
    assert set(states["direction"].tolist()) == {0, 1, 2, 3}


def test_grids_of_four_rooms():
    _, made = grids("MiniGridFourRooms-v0")
    assert made.shape[1:] == (19, 19)
    assert (np.count_nonzero(made[:, 9, 1:-1] != cells.STONE, axis=1) == 2).all()
    assert (np.count_nonzero(made[:, 1:-1, 9] != cells.STONE, axis=1) == 2).all()
    assert (np.count_nonzero(made == cells.EXIT, axis=(1, 2)) == 1).all()


@pytest.mark.parametrize(("name", "rooms", "longest"), [("N2S4", 2, 4), ("N4S5", 4, 5), ("N6", 6, 10)])
def test_chains_of_rooms(name, rooms, longest):
    states, made = grids(f"MiniGridMultiRoom{name}-v0")
    assert made.shape[1:] == (25, 25)
    assert (np.count_nonzero(made & 15 == cells.DOOR, axis=(1, 2)) == rooms - 1).all()
    chain = states["chain"][:, :rooms]
    assert (chain[:, :, 2:4].min(), chain[:, :, 2:4].max()) == (4, longest)
    assert (np.count_nonzero(made == cells.EXIT, axis=(1, 2)) == 1).all()
    colours = [made[k, x, y] >> 4 & 7 for k in range(300) for x, y in chain[k, 1:, 4:]]
    beside = np.reshape(colours, (300, rooms - 1))
    assert (beside[:, 1:] != beside[:, :-1]).all()
    assert set(beside.ravel().tolist()) == set(range(6))


def test_grids_behind_a_locked_door():
    states, made = grids("MiniGridUnlockPickup-v0")
    assert made.shape[1:] == (11, 6)
    assert (np.argwhere(made & 15 == cells.BOX)[:, 1] > 5).all()
    assert (np.argwhere(made & 15 == cells.KEY)[:, 1] < 5).all()
    assert (made[:, 5] & 15 == cells.DOOR).sum() == 300
    states, made = grids("MiniGridObstructedMaze1Dlhb-v0")
    boxes, balls = np.argwhere(made & 15 == cells.BOX), np.argwhere(made == cells.thing(cells.BALL, cells.GREEN))
    assert (boxes[:, 1] < 5).all()
    assert (made[tuple(boxes.T)] >> 9 > 0).all()
    assert (balls[:, 1] == 4).all()
    doors = np.argwhere(made & 15 == cells.DOOR)
    assert np.array_equal(doors[:, 2], balls[:, 2])
    assert set(states["wanted"].tolist()) == {cells.thing(cells.BALL, cells.BLUE)}


MAZES = {"2Dl": (1, 576), "2Dlh": (1, 576), "2Dlhb": (1, 576), "1Q": (1, 720), "2Q": (2, 1584), "Full": (4, 3600)}


def room_of(cell):
    """Column and row of the room with a cell, for cells that are in no wall."""
    return tuple((np.asarray(cell) // 5).tolist())


@pytest.mark.parametrize("name", MAZES)
def test_mazes_of_nine_rooms(name):
    quarters, limit = MAZES[name]
    assert make(f"MiniGridObstructedMaze{name}-v0").spec.max_episode_steps == limit
    states, made = grids(f"MiniGridObstructedMaze{name}-v0", 100)
    assert made.shape[1:] == (16, 16)
    sides, corners = [(2, 1), (1, 2), (0, 1), (1, 0)][:quarters], [(2, 0), (2, 2), (0, 2), (0, 0)][:quarters]
    wanted, obstacle = cells.thing(cells.BALL, cells.BLUE), cells.thing(cells.BALL, cells.GREEN)
    kinds, found, starts = made & 15, set(), set()
    for k, grid in enumerate(made):
        doors = [
            (cell, grid[tuple(cell)] >> 4 & 7, grid[tuple(cell)] >> 7) for cell in np.argwhere(kinds[k] == cells.DOOR)
        ]
        closed = [colour for _, colour, state in doors if state == cells.CLOSED]
        locked = [colour for _, colour, state in doors if state == cells.LOCKED]
        assert (len(closed), len(locked), len(set(closed))) == (quarters, 2 * quarters, quarters)
        held = np.argwhere((kinds[k] == cells.BOX) | (kinds[k] == cells.KEY))
        assert sorted(map(room_of, held)) == sorted(2 * sides)
        values = [grid[tuple(cell)] for cell in held]
        hidden = {value >> 9 for value in values} != {0}
        assert hidden == (name != "2Dl")
        assert sorted(value >> 4 & 7 if not hidden else (value >> 9) - 1 for value in values) == sorted(locked)
        balls = np.argwhere(grid == obstacle)
        assert len(balls) == (0 if name in ("2Dl", "2Dlh") else 2 * quarters)
        assert all(room_of(ball) in sides for ball in balls)
        assert all(any(abs(ball - cell).sum() == 1 for cell, _, state in doors if state == 2) for ball in balls)
        found.add(room_of(np.argwhere(grid == wanted)[0]))
        stride = 16 + 2 * 7
        starts.add(room_of(np.array(divmod(int(states["cell"][k]), stride)) - 7))
    assert found == set(corners)
    assert starts == ({(1, 1)} if name in ("1Q", "Full") else {(2, 1)})
    assert set(states["wanted"].tolist()) == {wanted}


def test_the_expert_clears_the_way():
    """A box behind the door of the side room, balls around the agent: all is lifted and dropped elsewhere."""
    env = make("MiniGridObstructedMaze1Q-v0")
    env.reset(seed=3)
    p, s = records(env)
    grid = cells_of(p, s.grid)
    x = np.argwhere(grid >> 7 == cells.CLOSED)[0, 0]
    inside = grid[x + 1, 6:10]
    inside[inside == cells.NOTHING] = cells.thing(cells.BALL, cells.GREEN)
    s.cell = cells.cell_at(p, 6, 6)
    grid[7, 6] = grid[6, 7] = cells.thing(cells.BOX, cells.RED)
    batch, ended, late = env.unwrapped.batch, False, False
    while not (ended or late):
        *_, ended, late, info = env.step(int(batch.expert_actions().item()))
    assert info["is_success"]


@pytest.mark.parametrize(
    ("name", "rivers"), [("LavaCrossingS9N1", 1), ("SimpleCrossingS9N3", 3), ("LavaCrossingS11N5", 5)]
)
def test_rivers(name, rivers):
    _, made = grids(f"MiniGrid{name}-v0")
    river = cells.FIRE if "Lava" in name else cells.STONE
    inner = made[:, 1:-1, 1:-1] == river
    size = inner.shape[1]
    across, down = inner.sum(1) >= size - 3, inner.sum(2) >= size - 3
    assert (across.sum(1) + down.sum(1) == rivers).mean() > 0.9
    assert not inner[:, ::2, ::2].any()  # on odd columns and rows of the grid there is none


def test_the_hallway():
    states, made = grids("MiniGridMemoryS13-v0")
    p_like = [cells.thing(kind, cells.GREEN) for kind in (cells.KEY, cells.BALL)]
    assert set(made[:, 1, 5].tolist()) == set(p_like)
    assert set(made[:, 11, 4].tolist()) == set(p_like)
    assert (made[:, 11, 4] != made[:, 11, 8]).all()
    up = states["right_end"] < states["wrong_end"]
    assert ((made[:, 11, 4] == made[:, 1, 5]) == up).all()
    _, made = grids("MiniGridMemoryS13Random-v0")
    ends = np.argmax(made[:, 4:, 1] == cells.STONE, axis=1) + 4
    assert set(ends.tolist()) <= set(range(4, 11))


# --- limits, forms, expert --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_expert_solves_all(name):
    result = rlenvs.evaluate(name, "expert", seeds=range(40))
    assert result.success_rate == 1.0
    assert result.mean > 0.6


def test_the_whole_grid():
    env = make("MiniGridDoorKey8x8-v0", scope="full")
    observation, _ = env.reset(seed=0)
    assert observation.shape == (8, 8, 3)
    p, s = records(env)
    (x, y), kinds = np.argwhere(observation[..., 0] == cells.AGENT)[0], observation[..., 0].copy()
    assert cells.cell_at(p, x, y) == s.cell
    assert observation[x, y, 2] == s.direction
    kinds[x, y] = cells.EMPTY
    assert np.array_equal(kinds, cells_of(p, s.grid) & 15)


def test_the_observation_is_that_of_minigrid():
    assert make("MiniGridEmpty5x5-v0").observation_space == gymnasium.spaces.Box(0, 255, (7, 7, 3), np.uint8)
    assert make("MiniGridEmpty5x5-v0").action_space == gymnasium.spaces.Discrete(7)
    space = make("MiniGridEmpty5x5-v0", show_direction=True).observation_space
    assert set(space) == {"image", "direction"}


def test_sizes_that_a_task_cannot_have():
    assert records(make("MiniGridMemoryS7-v0", grid_size=8))[0].width == 9
    with pytest.raises(ParameterError, match="view_size=4 is even; take 5"):
        make("MiniGridEmpty5x5-v0", view_size=4)
    with pytest.raises(ParameterError, match=r"\[5, 31\]"):
        make("MiniGridEmpty5x5-v0", grid_size=4)


def test_images_and_texts():
    env = make("MiniGridDoorKey8x8-v0", render_mode="rgb_array")
    env.reset(seed=0)
    before = env.render()
    env.step(LEFT)
    assert not np.array_equal(before, env.render())
    env = make("MiniGridEmpty5x5-v0", render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == "#####\n#>..#\n#...#\n#..G#\n#####"
