"""PathFinding-v0: parity with POGEMA, its rules one by one, maps, metrics, the expert and invariants."""

from collections import Counter
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st
from support.places import DATA

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.multi.pathfinding.maps import parse_map
from rlenvs.multi.pathfinding.metrics import metrics
from rlenvs.multi.pathfinding.path_finding import SPEC

RECORDED = DATA / "pogema.npz"
STAY, UP, DOWN, LEFT, RIGHT = range(5)
COLLISIONS = ("priority", "block_both", "soft")
MODES = ("finish", "nothing", "restart")


def make(n=1, **choices):
    return rlenvs.make_batch("PathFinding-v0", n, autoreset=AutoresetMode.DISABLED, threads=1, **choices)


def placed(starts, goals, rows, **choices):
    """A batch of one world with the agents of a hand-made situation."""
    batch = make(map=rows, agents=len(starts), **choices)
    batch.seed([0])
    batch.reset()
    put(batch, starts, goals)
    return batch


def put(batch, starts, goals):
    p, s = batch.records(0)
    s.position[:], s.goal[:] = starts, goals
    s.occupant[:] = 0
    for k, (row, column) in enumerate(starts):
        s.occupant[(row + p.radius) * p.frame.shape[1] + column + p.radius] = k + 1
    batch.set_state(batch.get_state())  # observe again


def play(batch, *actions):
    for action in actions:
        batch.step(np.array([action]))
    return batch.records(0)[1]


def empty(height, width):
    return "\n".join("." * width for _ in range(height))


def places(batch):
    return batch.records(0)[1].position.tolist()


# --- parity -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded():
    if not RECORDED.exists():
        pytest.skip("no recorded trajectories of POGEMA")
    return np.load(RECORDED)


def agents_plane(positions, active, k, radius, shape):
    """The true plane of agents: the original loses followers under "soft"."""
    grid = np.zeros((shape[0] + 2 * radius, shape[1] + 2 * radius))
    for place, here in zip(positions, active, strict=True):
        grid[place[0] + radius, place[1] + radius] += here
    row, column = positions[k]
    return grid[row : row + 2 * radius + 1, column : column + 2 * radius + 1]


def replay(data, name, episode, collision, radius):
    """Play a recorded episode; everything is a whole number or a 0/1, so all comparisons are exact."""

    def of(array):
        return data[f"{name}_{array}"][episode]

    mode, actions, positions, goals, active = (of(a) for a in ("on_target", "actions", "positions", "goals", "active"))
    steps, agents = actions.shape
    batch = make(
        map=of("obstacles").tolist(),
        agents=agents,
        radius=radius,
        collision=collision,
        on_target=str(mode),
        horizon=steps,
    )
    batch.seed([0])
    batch.reset()
    put(batch, positions[0], goals[0])
    observed = data["observed_steps"].tolist()[: len(of(f"obs_r{radius}"))]
    s = batch.records(0)[1]
    compared = 0
    for t in range(steps + 1):
        if t in observed:
            seen = of(f"obs_r{radius}")[observed.index(t)]
            for k in range(agents):
                ours = batch.observations[0, k]
                np.testing.assert_array_equal(ours[[0, 2]], seen[k][[0, 2]])
                np.testing.assert_array_equal(
                    ours[1], agents_plane(positions[t], active[t], k, radius, of("obstacles").shape)
                )
                if collision != "soft":
                    np.testing.assert_array_equal(ours[1], seen[k][1])
            compared += 1
        if s.over or t == steps:
            break
        batch.step(actions[t][None].astype(int))
        where = f"{name} {episode} {collision} {mode} step {t}"
        np.testing.assert_array_equal(s.position, positions[t + 1], where)
        np.testing.assert_array_equal(batch.rewards[0], of("rewards")[t], where)
        alive = active[t]
        np.testing.assert_array_equal(batch.terminated[0][alive], of("terminated")[t][alive], where)
        np.testing.assert_array_equal(batch.truncated[0][alive], of("truncated")[t][alive], where)
        if mode == "restart":  # new goals come from our own generator: check them, then take over the recorded ones
            arrived = batch.rewards[0] > 0
            assert (s.goal[arrived] != s.position[arrived]).any(axis=1).all()
            s.goal[:] = goals[t + 1]
            batch.set_state(batch.get_state())
    ours, theirs = metrics(*batch.records(0)), dict(zip(data["metric_names"], of("metrics"), strict=True))
    before, last = ((positions[s.elapsed - back] == goals[s.elapsed - back]).all(axis=1) for back in (1, 0))
    # the original counts an agent that leaves its goal in the very last step as settled; we do not
    doubtful = {"SoC", "makespan"} if (before & ~last).any() else set()
    for metric, value in ours.items():
        original = theirs["avg_throughput" if metric == "throughput" else metric]
        if not np.isnan(original) and metric not in doubtful:
            assert value == pytest.approx(original, rel=1e-12), (where, metric)  # sums in another order
    return compared


@pytest.mark.parametrize("radius", [2, 5])
@pytest.mark.parametrize("name", ["square", "narrow"])
def test_parity_with_the_original(recorded, name, radius):
    for episode, collision in enumerate(recorded[f"{name}_collision"]):
        assert replay(recorded, name, episode, str(collision), radius) >= 1


def test_parity_of_leaving_and_returning(recorded):
    for episode in range(len(recorded["meeting_on_target"])):
        replay(recorded, "meeting", episode, "priority", 5)


# --- declaration ------------------------------------------------------------------------------------------------------


def test_defaults_are_those_of_the_original():
    values = make().setup.values
    assert (values.height, values.width, values.density, values.radius) == (8, 8, 0.3, 5)
    assert (values.collision, values.on_target, values.agents) == ("priority", "finish", 4)
    assert SPEC.horizon == 64
    assert make().setup.observation_shape == (3, 11, 11)


@pytest.mark.parametrize(
    ("action", "move"), [(STAY, (0, 0)), (UP, (-1, 0)), (DOWN, (1, 0)), (LEFT, (0, -1)), (RIGHT, (0, 1))]
)
def test_moves(action, move):
    batch = placed([(1, 1)], [(0, 0)], empty(3, 4), horizon=9)
    play(batch, [action])
    assert places(batch) == [[1 + move[0], 1 + move[1]]]
    assert batch.terms[0, :, 0].tolist() == [0.0, -1.0, -1.0 * (action != STAY), 0.0]


# --- collisions -------------------------------------------------------------------------------------------------------

# a row of cells: starts, actions, columns afterwards by collision system, who was blocked by another agent
CONFLICTS = {
    "leader has the lower index": ([2, 1], [RIGHT, RIGHT], {"priority": [3, 2], "block_both": [3, 1], "soft": [3, 2]}),
    "leader has the higher index": ([1, 2], [RIGHT, RIGHT], {"priority": [1, 3], "block_both": [1, 3], "soft": [2, 3]}),
    "two want one cell": ([1, 3], [RIGHT, LEFT], {"priority": [2, 3], "block_both": [1, 3], "soft": [2, 3]}),
    "two want one cell, order reversed": (
        [3, 1],
        [LEFT, RIGHT],
        {"priority": [2, 1], "block_both": [3, 1], "soft": [2, 1]},
    ),
    "swap": ([1, 2], [RIGHT, LEFT], {"priority": [1, 2], "block_both": [1, 2], "soft": [1, 2]}),
    "into one that stays": ([1, 2], [RIGHT, STAY], {"priority": [1, 2], "block_both": [1, 2], "soft": [1, 2]}),
    "chain against the wall": ([4, 3, 2], [RIGHT, RIGHT, RIGHT], {c: [4, 3, 2] for c in COLLISIONS}),
    "chain behind a swap": ([1, 2, 3], [RIGHT, RIGHT, LEFT], {c: [1, 2, 3] for c in COLLISIONS}),
}


@pytest.mark.parametrize("collision", COLLISIONS)
@pytest.mark.parametrize("name", CONFLICTS)
def test_conflicts_on_a_line(name, collision):
    columns, actions, after = CONFLICTS[name]
    free = [(1, j) for j in range(len(columns))]
    batch = placed([(0, c) for c in columns], free, empty(2, 5), collision=collision)
    play(batch, actions)
    assert [column for _, column in places(batch)] == after[collision]
    wall = [a == RIGHT and c == 4 for a, c in zip(actions, columns, strict=True)]
    stuck = [a != STAY and b == c for a, b, c in zip(actions, columns, after[collision], strict=True)]
    assert batch.costs[0].tolist() == [float(b and not w) for b, w in zip(stuck, wall, strict=True)]


def test_only_soft_lets_agents_rotate():
    starts, ring = [(0, 0), (0, 1), (1, 1), (1, 0)], [RIGHT, DOWN, LEFT, UP]
    for collision in COLLISIONS:
        batch = placed(starts, [(2, j) for j in range(4)], empty(3, 4), collision=collision)
        play(batch, ring)
        turned = [[0, 1], [1, 1], [1, 0], [0, 0]]
        assert places(batch) == (turned if collision == "soft" else [list(place) for place in starts])


def test_soft_refusals_cascade_through_a_rotation():
    starts = [
        (0, 2),
        (0, 0),
        (0, 1),
        (1, 1),
        (1, 0),
    ]  # agent 0 requires the cell that agent 1 requires, and has the lower index
    batch = placed(starts, [(2, j) for j in range(5)], empty(3, 5), collision="soft")
    play(batch, [LEFT, RIGHT, DOWN, LEFT, UP])
    assert places(batch) == [list(place) for place in starts]
    assert batch.costs[0].tolist() == [1.0] * 5


# --- goals ------------------------------------------------------------------------------------------------------------


def test_finish_removes_the_agent_and_frees_its_cell():
    batch = placed([(0, 0), (0, 3)], [(0, 1), (0, 0)], empty(2, 5))
    s = play(batch, [RIGHT, STAY])
    assert batch.rewards[0].tolist() == [1.0, 0.0]
    assert batch.terminated[0].tolist() == [True, False]
    assert batch.success[0].tolist() == [True, False]
    assert batch.observations[0, 0, 1, 5, 5] == 0.0  # it no longer sees itself
    play(batch, [STAY, LEFT], [STAY, LEFT])
    assert places(batch)[1] == [0, 1]  # through the cell where agent 0 finished
    play(batch, [STAY, LEFT])
    assert s.over
    assert batch.rewards[0].tolist() == [0.0, 1.0]


def test_nothing_pays_everybody_once_all_are_on_their_goals():
    batch = placed([(0, 0), (0, 3)], [(0, 1), (0, 4)], empty(2, 5), on_target="nothing")
    s = play(batch, [RIGHT, STAY])
    assert batch.rewards[0].tolist() == [0.0, 0.0]
    assert batch.success[0].tolist() == [True, False]
    play(batch, [LEFT, RIGHT])  # agent 0 leaves while agent 1 arrives
    assert batch.rewards[0].tolist() == [0.0, 0.0]
    assert not s.over
    play(batch, [RIGHT, STAY])
    assert batch.rewards[0].tolist() == [1.0, 1.0]
    assert batch.terminated[0].all()


@pytest.mark.parametrize("corner", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_restart_draws_a_goal_elsewhere_in_the_component(corner):
    batch = placed([(0, 0)], [(0, 1)], "..#..\n..#..", on_target="restart", horizon=1000)
    beside = (corner[0], 1 - corner[1])
    counts = Counter()
    for _ in range(300):
        put(batch, [beside], [corner])
        s = play(batch, [RIGHT if corner[1] else LEFT])
        assert batch.rewards[0, 0] == 1.0
        assert batch.success[0, 0]
        counts[tuple(s.goal[0].tolist())] += 1
    assert set(counts) == {(0, 0), (0, 1), (1, 0), (1, 1)} - {corner}
    assert min(counts.values()) > 60  # 100 expected, five standard deviations are 41


def test_restart_never_terminates():
    batch = make(8, on_target="restart", agents=6)
    batch.seed(range(8))
    batch.reset()
    for _ in range(64):
        assert not batch.over.any()
        batch.step(batch.expert_actions())
        assert not batch.terminated.any()
    assert batch.truncated.all()


# --- observation and mask ---------------------------------------------------------------------------------------------


def test_planes():
    batch = placed([(0, 0), (1, 2)], [(0, 9), (0, 1)], "..........\n.#........", radius=2)
    planes = batch.observations[0, 0]
    # a ring of wall around the map, nothing beyond it
    assert planes[0].tolist() == [[0, 0, 0, 0, 0], [0, 1, 1, 1, 1], [0, 1, 0, 0, 0], [0, 1, 0, 1, 0], [0, 1, 1, 1, 1]]
    assert np.argwhere(planes[1]).tolist() == [[2, 2], [3, 4]]
    assert np.argwhere(planes[2]).tolist() == [[2, 4]]  # nine cells to the right: on the border
    assert np.argwhere(batch.observations[0, 1, 2]).tolist() == [[1, 1]]


def test_mask_forbids_obstacles_and_the_map_s_edge():
    batch = placed([(0, 0), (1, 2)], [(1, 1), (0, 1)], ".#.\n...")
    assert batch.masks[0].tolist() == [[1, 0, 1, 0, 0], [1, 1, 0, 1, 0]]
    play(batch, [RIGHT, RIGHT])
    assert places(batch) == [[0, 0], [1, 2]]
    assert batch.costs[0].tolist() == [0.0, 0.0]  # walls are no collisions


# --- maps -------------------------------------------------------------------------------------------------------------


def test_maps_in_every_form():
    rows = ("..#", "#..")
    for form in (
        "..#\n#..",
        "\n ..#\n #..\n",
        ["..#", "#.."],
        [[0, 0, 1], [1, 0, 0]],
        np.array([[0, 0, 1], [1, 0, 0]]),
    ):
        assert parse_map(form) == rows
    assert make(map="..#\n#..", agents=1, radius=1).records(0)[0].frame.shape == (4, 5)


@pytest.mark.parametrize(
    ("given", "words"), [("..\n...", "row 1 has 3"), ("..x", "'..x'"), ("", "empty"), ([[0, 2]], "2"), (7, "map")]
)
def test_bad_maps_are_refused(given, words):
    with pytest.raises(ParameterError, match=words):
        make(map=given)


def test_too_many_agents_are_refused():
    with pytest.raises(ParameterError, match="at most 2 agents"):
        make(map="..#.\n##..\n", agents=3)  # components of 2 and 3 cells: a pair each
    make(map="..#.\n##..\n", agents=2)
    with pytest.raises(ParameterError, match="at most 8 agents"):
        make(height=4, width=4, agents=9)


def test_full_random_maps_lose_obstacles():
    batch = make(20, height=4, width=4, agents=8, density=0.9)
    batch.seed(range(20))
    batch.reset()
    for i in range(20):
        assert batch.records(i)[1].free_cells == 16  # eight pairs need every cell


def test_density_of_random_maps():
    batch = make(40, height=32, width=32, density=0.3)
    batch.seed(range(40))
    batch.reset()
    share = 1.0 - np.mean([batch.records(i)[1].free_cells for i in range(40)]) / 1024
    assert share == pytest.approx(0.3, abs=0.01)  # standard error 0.0023


def components(blocked):
    """Component numbers by repeated spreading; written differently from the flood fill on purpose."""
    label = np.where(blocked, 0, np.arange(1, blocked.size + 1).reshape(blocked.shape))
    while True:
        padded = np.pad(label, 1)
        spread = np.max([label, padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]], axis=0)
        spread[blocked] = 0
        if (spread == label).all():
            return label
        label = spread


@settings(max_examples=25, deadline=None)
@given(
    st.integers(2, 14),
    st.integers(2, 14),
    st.floats(0.0, 0.9),
    st.integers(1, 2),
    st.integers(1, 7),
    st.integers(0, 999),
)
def test_starts_and_goals(height, width, density, crowd, radius, seed):
    agents = max(1, crowd * height * width // 8)
    batch = make(height=height, width=width, density=density, agents=agents, radius=radius)
    batch.seed([seed])
    batch.reset()
    p, s = batch.records(0)
    blocked = s.blocked.reshape(p.frame.shape)[radius:-radius, radius:-radius] > 0
    label = components(blocked)
    starts, goals = [tuple(x) for x in s.position.tolist()], [tuple(x) for x in s.goal.tolist()]
    assert len({*starts, *goals}) == 2 * agents
    for start, goal in zip(starts, goals, strict=True):
        assert label[start] == label[goal] > 0
    ours = s.component.reshape(p.frame.shape)[radius:-radius, radius:-radius]
    assert (
        len({*zip(label.ravel().tolist(), ours.ravel().tolist(), strict=True)})
        == len(np.unique(label))
        == len(np.unique(ours))
    )
    assert not s.mark.any()
    for begin in set(ours[ours > 0].tolist()):
        assert s.extent[begin - 1] == (ours == begin).sum()


# --- invariants -------------------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(COLLISIONS),
    st.sampled_from(MODES),
    st.integers(1, 12),
    st.sampled_from([(5, 7), (3, 9), (8, 8)]),
    st.integers(0, 99),
)
def test_nobody_ever_shares_or_swaps_cells(collision, mode, agents, shape, seed):
    choices = {"height": shape[0], "width": shape[1], "density": 0.15, "agents": agents, "radius": 1}
    batch = make(collision=collision, on_target=mode, horizon=40, **choices)
    batch.seed([seed])
    batch.reset()
    p, s = batch.records(0)
    dice = np.random.default_rng(seed)
    while not s.over:
        before, alive = s.position.copy(), s.alive.copy()
        batch.step(dice.integers(0, 5, (1, agents)))
        after = s.position
        assert (np.abs(after - before).sum(axis=1) <= 1).all()
        assert (after[~alive] == before[~alive]).all()
        here = [tuple(x) for x in after[alive].tolist()]
        assert len(set(here)) == len(here)
        assert not s.mark.any()
        moves = {
            (tuple(b), tuple(a)) for b, a in zip(before[alive].tolist(), after[alive].tolist(), strict=True) if b != a
        }
        assert not any((end, start) in moves for start, end in moves)
        grid = np.zeros(p.frame.shape, int)
        staying = alive if mode != "finish" else alive & ~batch.terminated[0]
        for k in np.flatnonzero(staying):
            row, column = after[k] + p.radius
            assert not s.blocked.reshape(p.frame.shape)[row, column]
            grid[row, column] = k + 1
        np.testing.assert_array_equal(s.occupant.reshape(p.frame.shape), grid)


def test_many_agents():
    batch = make(2, agents=512, height=48, width=40, density=0.1, collision="soft", on_target="restart")
    batch.seed([0, 1])
    batch.reset()
    for _ in range(3):
        batch.step(batch.expert_actions())
    s = batch.records(0)[1]
    assert len({tuple(x) for x in s.position.tolist()}) == 512
    assert (batch.costs == 0).all()


def test_compiled_and_plain_python_agree():
    for collision in COLLISIONS:
        fast, slow = (
            make(2, agents=5, collision=collision, on_target="restart", backend=b) for b in ("numba", "python")
        )
        dice = np.random.default_rng(3)
        for batch in (fast, slow):
            batch.seed([4, 5])
            batch.reset()
        for t in range(12):
            actions = fast.expert_actions().copy() if t % 2 else dice.integers(0, 5, (2, 5, 1))
            if t % 2:
                np.testing.assert_array_equal(actions, slow.expert_actions())
            fast.step(actions)
            slow.step(actions)
        assert fast.digest() == slow.digest()
        np.testing.assert_array_equal(fast.observations, slow.observations)


# --- metrics ----------------------------------------------------------------------------------------------------------


def test_metrics_by_hand():
    p = SimpleNamespace(on_target=1)
    scores = metrics(p, SimpleNamespace(elapsed=10, settled=np.array([4, 10, 0]), arrivals=np.array([1, 2, 1])))
    assert scores == {"ISR": pytest.approx(2 / 3), "CSR": 0.0, "SoC": 24.0, "makespan": 10.0, "ep_length": 10.0}
    p.on_target = 0
    assert metrics(p, SimpleNamespace(elapsed=9, settled=np.array([4, 8]), arrivals=np.array([1, 1]))) == {
        "ISR": 1.0, "CSR": 1.0, "SoC": 12.0, "makespan": 8.0, "ep_length": 6.0
    }  # fmt: skip
    p.on_target = 2
    assert metrics(p, SimpleNamespace(elapsed=8, settled=np.zeros(2), arrivals=np.array([3, 1]))) == {"throughput": 0.5}


def test_leaving_the_goal_resets_the_settle_time():
    batch = placed([(0, 0), (0, 4)], [(0, 1), (0, 2)], empty(2, 5), on_target="nothing")
    play(batch, [RIGHT, STAY])  # agent 0 settles in step 1
    play(batch, [LEFT, LEFT])  # and leaves in step 2
    play(batch, [RIGHT, STAY])  # it settles for good in step 3
    play(batch, [STAY, LEFT])  # agent 1 settles in step 4
    assert metrics(*batch.records(0)) == {"ISR": 1.0, "CSR": 1.0, "SoC": 7.0, "makespan": 4.0, "ep_length": 4.0}


def test_agents_that_have_not_settled_count_all_steps():
    batch = placed([(0, 0), (0, 4)], [(0, 1), (1, 0)], empty(2, 5), on_target="nothing", horizon=3)
    play(batch, [RIGHT, STAY], [STAY, STAY], [STAY, STAY])
    assert metrics(*batch.records(0)) == {"ISR": 0.5, "CSR": 0.0, "SoC": 4.0, "makespan": 3.0, "ep_length": 3.0}


# --- expert and forms -------------------------------------------------------------------------------------------------


def finished(actions_of, **choices):
    """Metrics of 30 episodes, played without autoreset."""
    batch = make(30, **choices)
    batch.seed(range(30))
    batch.reset()
    while not batch.over.all():
        batch.rollout(np.asarray(actions_of(batch)).reshape(30, 1, batch.agents, 1))
    return [metrics(*batch.records(i)) for i in range(30)]


@pytest.mark.parametrize("collision", COLLISIONS)
def test_the_expert_solves_moderate_maps_and_chance_does_not(collision):
    choices = {"agents": 24, "height": 20, "width": 20, "density": 0.2, "collision": collision, "horizon": 128}
    dice = np.random.default_rng(0)
    assert np.mean([m["CSR"] for m in finished(lambda b: b.expert_actions().copy(), **choices)]) >= 0.9
    assert np.mean([m["CSR"] for m in finished(lambda b: dice.integers(0, 5, (30, 24)), **choices)]) <= 0.1


def test_the_expert_leaves_the_world_s_future_alone():
    batch = make(agents=6, on_target="restart")
    batch.seed([1])
    batch.reset()
    before = batch.records(0)[1].copy()
    batch.expert_actions()
    after = batch.records(0)[1]
    for name in ("rng", "position", "goal", "occupant", "mark"):
        np.testing.assert_array_equal(before[name], after[name])


def test_an_expert_s_soft_plan_is_free_of_conflicts():
    batch = make(10, agents=30, height=9, width=9, density=0.05, collision="soft", on_target="restart")
    batch.seed(range(10))
    batch.reset()
    for _ in range(30):
        batch.step(batch.expert_actions())
        assert not batch.costs.any()


@pytest.mark.usefixtures("strict_kit")
def test_pettingzoo_agents_leave_as_they_arrive():
    from pettingzoo.test import parallel_api_test

    env = rlenvs.parallel_env("PathFinding-v0", agents=3)
    parallel_api_test(env, 50)
    observations, _ = env.reset(seed=3)
    assert observations["agent_0"]["observation"].shape == (3, 11, 11)
    total = 0.0
    while env.agents:
        _, rewards, *_ = env.step(env.expert_actions())
        total += sum(rewards.values())
    assert total == 3.0


def test_single_agent_form_and_vector_reward():
    env = gymnasium.make("rlenvs/mo-PathFinding-v0", agents=1)
    env.reset(seed=0)
    _, reward, *_ = env.step(env.unwrapped.expert_action())
    assert reward.shape == (3,)


def test_text_and_image():
    batch = placed([(0, 0), (1, 2)], [(0, 2), (1, 0)], "..#..\n.....")
    p, s = batch.records(0)
    s.goal[0] = (0, 3)
    assert SPEC.functions["text"](p, s) == "a.#A.\nB.b.."
    env = gymnasium.make("rlenvs/PathFinding-v0", render_mode="rgb_array")
    env.reset(seed=0)
    image = env.render()
    assert image.shape == (512, 512, 3)
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 20


def test_keys():
    assert [SPEC.functions["keys"]({key}, None) for key in ("x", "up", "down", "left", "right")] == [0, 1, 2, 3, 4]
