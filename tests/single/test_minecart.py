"""Minecart: steps, spaces and fronts of the original, the exact fronts and their routes, numbers of the published
description, which are marked 'computed here' in it, and rules."""

import json
import math

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st
from support.places import DATA

import rlenvs
from rlenvs import pareto
from rlenvs.core.declare.errors import ParameterError
from rlenvs.single.objectives import minecart, minecart_front, minecart_pictures
from rlenvs.single.objectives.minecart import ACCELERATE, BRAKE, DIG, LEFT, MINES, NONE, RIGHT

ID, GAMMAS = "Minecart-v0", (1.0, 0.99, 0.98)
RECORD = np.load(DATA / "mo_gymnasium_minecart.npz")
REFERENCE = (-1.0, -1.0, -200.0)
FORMS = {  # in the recording: keywords of ours
    "deterministic": {"level": "deterministic"},
    "stochastic": {},
    "skip": {"level": "deterministic", "frame_skip": 3, "incremental": False},
}
PLACE = ("x", "y", "speed", "angle")


def synchronised(name, rows=None, **keywords):
    """A batch with a world for each recorded step, in the state before it; and which rows these are."""
    rows = np.arange(len(RECORD[f"{name}_action"])) if rows is None else rows
    batch = rlenvs.make_batch(ID, len(rows), autoreset=AutoresetMode.DISABLED, **FORMS[name] | keywords)
    batch.seed(list(range(len(rows))))
    batch.reset()
    before = RECORD[f"{name}_before"][rows]
    for k, field in enumerate(PLACE):
        batch.states[field] = before[:, k]
    batch.states["load"], batch.states["departed"] = before[:, 4:6], before[:, 6]
    return batch


# --- as the original --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compat", [True, False])
@pytest.mark.parametrize("name", FORMS)
def test_every_recorded_step(name, compat):
    """But for what chance decides, which is how much is dug; and without `compat` for how an ended episode goes on.
    The original adds up fuel as float32, so that it is off by a last place."""
    batch = synchronised(name, compat=compat)
    actions, after, ends = (RECORD[f"{name}_{key}"] for key in ("action", "after", "end"))
    batch.step(actions[:, None])
    same = np.full(len(actions), True) if compat else ~ends
    for k, field in enumerate(PLACE):
        np.testing.assert_allclose(batch.states[field][same], after[same, k], rtol=0, atol=1e-9)
    dug = (actions == DIG) if name == "stochastic" else np.full(len(actions), False)
    np.testing.assert_allclose(batch.states["load"][~dug], after[~dug, 4:6], rtol=0, atol=1e-9)
    assert batch.terminated[:, 0].tolist() == ends.tolist()
    terms = batch.terms[:, :3, 0].astype(np.float32)
    np.testing.assert_allclose(terms[:, :2], RECORD[f"{name}_reward"][:, :2], rtol=0, atol=1e-9)
    np.testing.assert_allclose(terms[:, 2], RECORD[f"{name}_reward"][:, 2], rtol=0, atol=1.5e-8)
    seen = batch.observations[:, 0].astype(np.float32)
    kept = same & ~dug
    np.testing.assert_allclose(seen[kept], RECORD[f"{name}_observation"][kept], rtol=0, atol=1e-9)
    assert not compat or batch.states["departed"].tolist() == after[:, 6].tolist()


@pytest.mark.parametrize("name", ["deterministic", "skip"])
def test_whole_recorded_episodes(name):
    """From the start on, with actions alone: rounding does not grow."""
    actions, ends = RECORD[f"{name}_action"], RECORD[f"{name}_end"]
    env = rlenvs.make(f"mo-{ID}", compat=True, **FORMS[name])
    begins = (RECORD[f"{name}_before"] == [0.0, 0.0, 0.0, 45.0, 0.0, 0.0, 0.0]).all(axis=1)
    begins[1:] &= (RECORD[f"{name}_after"][:-1] != [0.0, 0.0, 0.0, 45.0, 0.0, 0.0, 0.0]).any(axis=1)
    seen, paid, over = np.zeros((len(actions), 7), np.float32), np.zeros((len(actions), 3), np.float32), []
    for t, action in enumerate(actions.tolist()):
        if begins[t]:
            env.reset(seed=0)
        seen[t], paid[t], terminated, _, _ = env.step(action)
        over.append(terminated)
    assert begins.sum() == 24
    assert over == ends.tolist()
    np.testing.assert_allclose(seen, RECORD[f"{name}_observation"], rtol=0, atol=1e-7)
    np.testing.assert_allclose(paid, RECORD[f"{name}_reward"], rtol=0, atol=2e-7)


def test_the_recording_has_what_it_is_for():
    for name in FORMS:
        after = RECORD[f"{name}_after"]
        assert RECORD[f"{name}_end"].sum() >= 15
        assert (RECORD[f"{name}_reward"][:, :2] > 0).any(axis=0).all()
        assert all((after[:, k] == wall).sum() > 100 for k in (0, 1) for wall in (0.0, 1.0))
        assert ((after[:, 3] - 45.0) % 10.0 == 0.0).all()
        assert set(RECORD[f"{name}_action"].tolist()) == set(range(6))


def test_spaces_of_the_original():
    env = rlenvs.make(f"mo-{ID}")
    assert env.observation_space == gymnasium.spaces.Box(*RECORD["stochastic_space"], dtype=np.float32)
    rewards = gymnasium.spaces.Box(*RECORD["stochastic_reward_space"].astype(np.float32), dtype=np.float32)
    assert env.unwrapped.reward_space == rewards
    assert env.action_space == gymnasium.spaces.Discrete(6)
    assert env.spec.max_episode_steps == 1000
    pixels = rlenvs.make(ID, level="pixels")
    assert pixels.observation_space == gymnasium.spaces.Box(0, 255, (480, 480, 3), np.uint8)


# --- published fronts -------------------------------------------------------------------------------------------------


def published(level, gamma):
    return rlenvs.make(ID, **FORMS[level]).unwrapped.batch.setup.published_front(gamma)


@pytest.mark.parametrize(
    ("level", "gamma", "points", "volume", "corners", "of_corners"),
    [
        ("deterministic", 1.0, 10, 944.929, 6, 944.7378),
        ("deterministic", 0.99, 20, 823.7928, 10, 823.6371),
        ("deterministic", 0.98, 20, 723.0482, 10, 722.9454),
        ("stochastic", 1.0, 10, 879.6953, 6, None),
        ("stochastic", 0.99, 20, 763.5194, 10, None),
        ("stochastic", 0.98, 20, 668.1833, 10, None),
    ],
)
def test_published_numbers(level, gamma, points, volume, corners, of_corners):
    found = published(level, gamma)
    front = sorted(found.points.tolist(), reverse=True)
    np.testing.assert_allclose(front, RECORD[f"{level}_front_{gamma}"], rtol=0, atol=1e-12)
    assert found.reference == REFERENCE
    assert len(front) == points
    assert pareto.hypervolume(front, REFERENCE) == pytest.approx(volume, abs=5.1e-5)
    hull = RECORD[f"{level}_corners_{gamma}"]
    assert len(hull) == corners
    if of_corners:
        assert pareto.hypervolume(hull, REFERENCE) == pytest.approx(of_corners, abs=5.1e-5)


def test_points_of_the_published_front():
    points = {tuple(point) for point in np.round(published("deterministic", 1.0).points, 9).tolist()}
    assert {(1.5, 0.0, -1.0), (0.9, 0.6, -1.04), (0.75, 0.75, -0.88), (0.0, 0.0, -0.26)} <= points


def test_the_published_front_is_of_the_published_options_alone():
    assert rlenvs.make(ID, capacity=2.0).unwrapped.batch.setup.published_front(1.0) is None
    assert rlenvs.make(ID, mines=[[0.5, 0.5, 0.1, 0.1]]).unwrapped.batch.setup.published_front(1.0) is None


def test_mines_without_an_ore_yield_half_of_what_the_published_front_takes():
    """Below 0 the world digs nothing; the published mean is that of a distribution which is drawn again there."""
    batch = rlenvs.make_batch(ID, 4000, capacity=4.0)
    batch.seed(0)
    batch.reset()
    batch.states["x"], batch.states["y"] = MINES[0][:2]
    batch.step(np.full((4000, 1), DIG))
    mean = batch.states["load"].mean(axis=0) / 4.0
    assert mean == pytest.approx([0.2, 0.05 / math.sqrt(2.0 * math.pi)], abs=0.001)
    assert minecart_front.mean_yield(0.0, 0.05) == pytest.approx(0.05 * math.sqrt(2.0 / math.pi))


# --- exact fronts -----------------------------------------------------------------------------------------------------

OURS = {1.0: (22, 996.0199), 0.99: (77, 867.2766), 0.98: (60, 762.698)}  # points, hypervolume


def deterministic():
    return rlenvs.make(ID, level="deterministic")


@pytest.mark.parametrize("gamma", GAMMAS)
def test_every_point_is_replayed(gamma):
    env = deterministic()
    front = pareto.pareto_front(env, gamma)
    assert (front.values == env.unwrapped.pareto_front(gamma)).all()
    assert len(front) == OURS[gamma][0]
    assert pareto.nondominated(front.values).all()
    assert pareto.hypervolume(front.values, REFERENCE) == pytest.approx(OURS[gamma][1], abs=5.1e-5)
    for value, policy in front:
        np.testing.assert_allclose(pareto.play_policy(env, policy, gamma).mean, value, rtol=0, atol=1e-9)
        assert len(policy.actions) <= minecart_front.LONGEST


@pytest.mark.parametrize("gamma", GAMMAS)
def test_published_points_that_no_policy_attains(gamma):
    """The empty trip supposes that one is out of the base and back in it sooner than the rules allow, and two trips to
    the middle mine, with a discount, burn too little. All other points are dominated."""
    ours, theirs = deterministic().unwrapped.pareto_front(gamma), published("deterministic", gamma).points
    outside = np.array([not (minecart_front.outer_bound(gamma) >= point - 1e-9).all(axis=1).any() for point in theirs])
    reached = np.array([(ours >= point - 1e-9).all(axis=1).any() for point in theirs])
    assert (outside == ~reached).all()
    assert outside.sum() == (1 if gamma == 1.0 else 3)
    assert all(point[0] == point[1] for point in theirs[outside])


@pytest.mark.parametrize(("gamma", "attained"), [(1.0, 0), (0.99, 2), (0.98, 2)])
def test_published_trips_as_they_are_played(gamma, attained):
    """Most turn away from their mine, or miss the base on the way back."""
    env, found = deterministic(), 0
    rows = [(actions, *load, gamma ** (len(actions) - 1)) for actions, load in minecart_front.scripted_trips(0.0)]
    front = published("deterministic", gamma).points
    for actions, first, second, discount in rows:
        fuel = sum(gamma**n * minecart_front.step_fuel(action) for n, action in enumerate(actions))
        point = np.array([first * discount, second * discount, fuel])
        if (np.abs(front - point).max(axis=1) < 1e-12).any():
            found += bool(
                (np.abs(pareto.play_policy(env, pareto.OpenLoopPolicy(actions), gamma).mean - point) < 1e-6).all()
            )
    assert found == attained


def test_the_front_without_a_discount():
    front = np.round(deterministic().unwrapped.pareto_front(), 9).tolist()
    half = [point for point in front if point[0] >= point[1]]
    assert half == [
        [1.5, 0.0, -0.96],  # twice at the first mine; published 1
        [1.22, 0.28, -1.14],  # the others with a full cart dig at two mines
        [1.15, 0.35, -1.22],
        [1.1, 0.4, -1.14],
        [1.08, 0.42, -1.2],
        [0.9, 0.6, -1.0],  # twice at the second mine; published 1.04
        [0.85, 0.65, -1.2],
        [0.8, 0.7, -1.18],
        [0.8, 0.0, -0.74],  # published 0.78
        [0.75, 0.75, -0.86],  # the middle mine; published 0.88
        [0.6, 0.4, -0.78],  # published 0.82
        [0.0, 0.0, -0.3],  # published 0.26, and impossible
    ]
    assert sorted(front) == sorted([b, a, fuel] for a, b, fuel in front)


def test_the_empty_trip_cannot_be_had_for_less():
    """Every sequence of actions that burns less than 0.3 is tried: none comes home."""
    batch = rlenvs.make_batch(ID, 60_000, level="deterministic", autoreset=AutoresetMode.DISABLED)
    batch.seed(0)
    layers = {0: np.array([[0.0, 0.0, 0.0, 45.0, 0.0]])}
    homes = []
    for spent in range(15):
        for action, cost in ((LEFT, 1), (RIGHT, 1), (ACCELERATE, 6), (BRAKE, 1), (NONE, 1)):
            states = layers.get(spent, np.empty((0, 5)))
            if not len(states) or spent + cost > 15:
                continue
            batch.reset()
            assert len(states) <= 60_000
            for k, field in enumerate((*PLACE, "departed")):
                batch.states[field][: len(states)] = states[:, k]
            batch.step(np.full((60_000, 1), action))
            home = batch.terminated[: len(states), 0]
            homes += [spent + cost] * int(home.sum())
            after = np.stack([batch.states[field][: len(states)] for field in (*PLACE, "departed")], axis=1)[~home]
            after[:, 3] %= 360.0
            together = np.concatenate([layers.get(spent + cost, np.empty((0, 5))), after])
            layers[spent + cost] = np.unique(np.round(together, 9), axis=0)
    assert min(homes) == 15


@pytest.mark.parametrize("gamma", GAMMAS)
def test_no_route_that_is_changed_a_little_exceeds_the_bound(gamma):
    """An attack on the search: thousands of sequences near the best ones."""
    rng, count = np.random.default_rng(0), 3000
    known = [actions for _, actions in minecart_front.known_routes(gamma)]
    actions = np.full((count, minecart_front.LONGEST), NONE)
    for row in actions:
        route = list(known[rng.integers(len(known))])
        for _ in range(rng.integers(1, 5)):
            i, j = rng.integers(len(route), size=2)
            change = rng.integers(4)
            if change == 0:
                route[i] = int(rng.integers(6))
            elif change == 1:
                route.insert(i, int(rng.integers(6)))
            elif change == 2 and len(route) > 3:
                del route[i]
            else:
                route[i], route[j] = route[j], route[i]
        row[: len(route)] = route
    batch = rlenvs.make_batch(ID, count, level="deterministic", autoreset=AutoresetMode.DISABLED)
    batch.seed(0)
    batch.reset()
    going, returns = np.ones(count, bool), np.zeros((count, 3))
    for t in range(minecart_front.LONGEST):
        batch.load_actions(actions[:, t : t + 1].copy())
        batch.step_inplace(only=going)
        returns[going] += gamma**t * batch.terms[going, :3, 0]
        going &= ~batch.terminated[:, 0]
    home = returns[~going]
    assert len(home) > 1000
    room = (minecart_front.outer_bound(gamma)[None] - home[:, None]).min(axis=2).max(axis=1)
    assert room.min() > -1e-9


def test_where_the_front_is_not_known():
    for keywords in ({}, {"level": "deterministic", "capacity": 2.0}, {"level": "deterministic", "horizon": 50}):
        with pytest.raises(ParameterError, match="known for its level 'deterministic'"):
            rlenvs.make(ID, **keywords).unwrapped.pareto_front()
    with pytest.raises(ParameterError, match=r"gamma=0\.9 "):
        deterministic().unwrapped.pareto_front(0.9)
    with pytest.raises(ParameterError, match="a horizon of at least 60"):
        pareto.pareto_front(deterministic(), horizon=50)
    assert len(pareto.pareto_front(deterministic(), horizon=70)) == 22  # there is time for all of its routes


def test_what_the_search_left_open():
    """Nothing at gamma 1 and 0.99: what it says of fuel from below is what its routes burn. At 0.98 trips to two mines
    may burn a little less than the routes do, or may take fewer steps at a high price."""
    found = json.loads(minecart_front.ROUTES.read_text(encoding="utf-8"))
    for gamma in GAMMAS:
        routes, bounds = (
            [(tuple(trip), *rest) for trip, *rest in found[key][f"{gamma:g}"]] for key in ("routes", "bounds")
        )
        for trip, actions in routes:
            steps = len(actions) if gamma < 1.0 else 0
            fuel = -sum(gamma**n * minecart_front.step_fuel(int(action)) for n, action in enumerate(actions))
            least = min(bound for other, fewest, bound in bounds if other == trip and fewest <= steps)
            open_at = gamma == 0.98 and len(set(trip)) == 2
            assert -1e-9 <= fuel - least <= (LEFT_OPEN if open_at else 0.0) + 1e-9
        if gamma != 0.98:
            assert len(bounds) == len(routes)
        assert len({trip for trip, *_ in bounds}) == len({trip for trip, _ in routes}) == 14


LEFT_OPEN = 0.03


@pytest.mark.parametrize("gamma", GAMMAS)
def test_the_bound_from_outside(gamma):
    ours, outer = deterministic().unwrapped.pareto_front(gamma), minecart_front.outer_bound(gamma)
    assert all((outer >= point - 1e-9).all(axis=1).any() for point in ours)
    assert pareto.hypervolume(outer, REFERENCE) == pytest.approx(OUTER[gamma], abs=5.1e-5)
    if gamma != 0.98:
        np.testing.assert_allclose(outer, ours, rtol=0, atol=1e-9)


OUTER = {1.0: 996.0199, 0.99: 867.2766, 0.98: 766.8677}


# --- rules and the expert ---------------------------------------------------------------------------------------------


def test_two_digging_actions_fill_the_cart():
    """On this the list of trips in benchmarks/minecart_front.py stands."""
    for first in range(5):
        load = minecart_front.load_after([first])
        assert load.sum() > 0.75
        if first != 2:
            assert all(minecart_front.load_after([first, k]).sum() == pytest.approx(1.5) for k in range(5))
    assert minecart_front.load_after([2]).tolist() == [0.75, 0.75]


def test_the_expert_takes_the_best_route():
    env = deterministic()
    env.reset(seed=0)
    total, actions, over = 0.0, [], False
    while not over:
        actions.append(int(env.unwrapped.batch.expert_actions().item()))
        _, reward, over, _, info = env.step(actions[-1])
        total += reward
    assert tuple(actions) == minecart.BEST_ROUTE
    assert total == pytest.approx(0.64)
    assert env.unwrapped.pareto_front().sum(axis=1).max() == pytest.approx(0.64)
    assert info["is_success"]


@pytest.mark.parametrize(
    "keywords",
    [
        {"capacity": 1.4},
        {"acceleration": 0.003},
        {"frame_skip": 2},
        {"mines": [[0.6, 0.6, 0.1, 0.1]]},
        {"spread": 0.2, "incremental": False},
        {"brake": 0.01, "fuel_accelerate": 0.0},
    ],
)
def test_the_expert_comes_home_with_other_values(keywords):
    batch = rlenvs.make_batch(ID, 20, autoreset=AutoresetMode.DISABLED, **keywords)
    batch.seed(0)
    batch.reset()
    going = np.ones(20, bool)
    while going.any():
        batch.load_actions(batch.expert_actions())
        batch.step_inplace(only=going)
        going &= ~(batch.terminated[:, 0] | batch.truncated[:, 0])
    assert batch.terminated[:, 0].all()


def state_of(env):
    """Position and heading."""
    return [float(env.unwrapped.batch.states[name][0]) for name in ("x", "y", "angle")]


def turned_by_rounding(one, mirrored):
    """Whether the last bit has decided in which frame a wall turns a cart, and its mirror image in another one."""
    x, y, angle = state_of(one)
    apart = (angle + state_of(mirrored)[2] - 90.0 + 180.0) % 360.0 - 180.0
    return min(x, y, 1.0 - x, 1.0 - y) < 0.02 and abs(apart) > 1.0


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), actions=st.lists(st.integers(0, 5), min_size=1, max_size=60))
def test_what_always_holds(seed, actions):
    env = rlenvs.make(f"mo-{ID}", compat=bool(seed % 2))
    env.reset(seed=seed)
    before, mirrored = 0.0, rlenvs.make(f"mo-{ID}", level="deterministic")
    straight = rlenvs.make(f"mo-{ID}", level="deterministic")
    for each in (mirrored, straight):
        each.reset(seed=seed)
    for action in actions:
        observation, reward, terminated, _, info = env.step(action)
        assert env.unwrapped.reward_space.contains(np.float32(reward))
        assert env.observation_space.contains(observation)
        assert reward[2] == pytest.approx(-0.02 - 0.1 * (action == ACCELERATE) - 0.2 * (action == DIG))
        load = observation[5:].sum()
        assert load <= 1.0 + 1e-6
        assert load >= before - 1e-6 or terminated
        before = load
        assert terminated or not reward[:2].any()
        assert not info["is_success"] or reward[:2].sum() >= 0.9 * 1.5 - 1e-6
        if terminated:
            break
    for action in actions:  # the world is its own mirror image
        one, gain, over, *_ = straight.step(action)
        two, other, *_ = mirrored.step(minecart_front.MIRRORED_ACTION[action])
        if turned_by_rounding(straight, mirrored):
            break
        np.testing.assert_allclose(two, one[[1, 0, 2, 4, 3, 6, 5]], atol=1e-6)
        np.testing.assert_allclose(other, gain[[1, 0, 2]], atol=1e-6)
        if over:
            break


def test_pictures_show_the_cart_and_its_load():
    env = rlenvs.make(ID, level="pixels")
    first, _ = env.reset(seed=0)
    env.step(ACCELERATE)
    moved, *_ = env.step(NONE)
    assert (first != moved).any(axis=2).sum() > 500
    again, _ = env.reset(seed=1)
    assert (again == first).all()  # not the end of the last episode
    ore = (first == minecart_pictures.ORES[0]).all(axis=2).sum()
    env.unwrapped.batch.states["load"] = [1.5, 0.0]
    loaded, *_ = env.step(LEFT)
    assert (loaded == minecart_pictures.ORES[0]).all(axis=2).sum() > ore + 100


@pytest.mark.parametrize("mines", [[], [[0.5, 0.5, 0.1]], [[2.0, 0.5, 0.1, 0.1]], [[0.1] * 4] * 17, "near"])
def test_mines_that_are_refused(mines):
    with pytest.raises(ParameterError, match="mines"):
        rlenvs.make(ID, mines=mines)


# --- chance -----------------------------------------------------------------------------------------------------------


def chance():
    return rlenvs.make(ID)


def test_what_is_drawn_has_its_mean():
    """0 for what is below: by the same draws as the world's."""
    draws = np.random.default_rng(0).normal(size=400_000)
    for mean in (0.0, 0.03, 0.1):
        drawn = np.maximum(mean + 0.05 * draws, 0.0)
        assert minecart_front.mean_drawn(mean, 0.05) == pytest.approx(drawn.mean(), abs=5e-4)
    assert minecart_front.mean_drawn(0.1, 0.0) == 0.1


@pytest.mark.parametrize("seed", range(4))
def test_no_weights_are_worth_more_than_the_bound_on_chance(seed):
    """By a linear program over all sets of digging actions, of which 12 are as good as any number, and by playing."""
    optimize = pytest.importorskip("scipy.optimize")
    outer = minecart.outer_front(chance().unwrapped.batch.setup.values, 1000, 1.0)
    weights = np.random.default_rng(seed).dirichlet([1.0, 1.0, 1.0]) if seed else np.ones(3) / 3
    fuel = [0.74, 0.78, 0.86, 0.78, 0.74]
    mean = [[minecart_front.mean_drawn(m, 0.05) for m in row[2:]] for row in MINES]
    sets = [((), 0.3)]
    for many in range(1, 13):
        sets += [((*[2] * (many - 1), k), fuel[k] + 0.22 * (many - 1)) for k in range(5)]
    sets += [((j, k), max(fuel[j], fuel[k]) + 0.22) for j in range(5) for k in range(5)]
    dug = np.array([4.0 * np.sum([mean[k] for k in trip], axis=0) if trip else np.zeros(2) for trip, _ in sets])
    full = [1.5 * bool(trip) for trip, _ in sets]
    ores = np.array([[*(-dug[:, 0]), 1, 0], [*(-dug[:, 1]), 0, 1], [*np.negative(full), 1, 1]])
    gain = [*(weights[2] * burnt for _, burnt in sets), -weights[0], -weights[1]]
    best = optimize.linprog(gain, A_ub=ores, b_ub=np.zeros(3), A_eq=[[*[1] * len(sets), 0, 0]], b_eq=[1])
    assert -1e-9 <= (outer @ weights).max() + best.fun <= 0.005
    for _, actions in minecart_front.known_routes(1.0)[seed::4]:
        played = pareto.play_policy(chance(), pareto.OpenLoopPolicy(actions), episodes=300)
        assert played.mean @ weights <= (outer @ weights).max() + weights @ played.half_width + 1e-9


def test_the_expert_is_near_the_bound_on_chance():
    values = chance().unwrapped.batch.setup.values
    outer = minecart_front.chance_bound(values.spread)
    assert outer.sum(axis=1).max() == pytest.approx(0.6747, abs=5e-5)
    assert 0.0 < outer.sum(axis=1).max() - minecart.SPEC.scores["expert"].mean < 0.06
    with pytest.raises(ParameterError, match="known for"):
        minecart.outer_front(values, 1000, 0.99)
