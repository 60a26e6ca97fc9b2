"""PandaDrawer: Meta-World's thresholds and reward, the mechanics of the drawer, bad input, the expert."""

import gymnasium
import numpy as np
import pytest
from support.arm_helpers import LEVELS, batch, played, simulation, states, success

from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.manipulation import drawer
from rlenvs.robotics.manipulation.drawer import SPEC, closeness

mujoco = pytest.importorskip("mujoco")
ID = "PandaDrawer-v0"

TASKS = ("open", "close")


def push(worlds, force, steps=25):
    """Pull the drawer of world 0 with a force along its way, hand aside; returns how far it is open."""
    s = worlds.records(0)[1]
    drawn = worlds.engine.model.body("drawer").id
    s.xfrc_applied[drawn, 0] = -force
    for _ in range(steps):
        worlds.step(np.zeros_like(worlds.actions))
    return worlds.records(0)[1].qpos[drawer.SLIDE]


# --- numbers of the originals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("task", "threshold"), [("open", 0.03), ("close", 0.065)])
def test_thresholds_of_meta_world(task, threshold):
    worlds = batch(ID, task=task)
    p, s = worlds.records(0)
    assert p.threshold == threshold
    away = np.array([threshold, 0.0, 0.0], np.float32)
    goals = np.stack([s.desired + 0.99 * away, s.desired + 1.01 * away])
    env = gymnasium.make("rlenvs/PandaDrawer-v0", task=task, form="goal").unwrapped
    env.reset(seed=0)
    np.testing.assert_array_equal(env.compute_reward(goals, np.stack([s.desired, s.desired]), {}), [0.0, -1.0])


def test_control_rate_and_length():
    worlds = batch(ID)
    assert (worlds.setup.fps, worlds.setup.horizon, worlds.engine.steps) == (25, 50, 8)
    assert worlds.actions.shape == (1, 1, 4)


def test_defaults_are_the_medium_level():
    assert vars(batch(ID).setup.values) == vars(batch(ID, level="medium").setup.values)


@pytest.mark.parametrize(("distance", "value"), [(0.0, 1.0), (0.01, 1.0), (0.11, 1.0 / 3.25), (0.21, 0.1)])
def test_long_tail(distance, value):
    """1 / ((s x)^2 + 1) with s = sqrt(1 / 0.1 - 1) = 3: 0.1 at the margin, here 0.2 m, behind the tolerance."""
    assert closeness(distance, 0.01, 0.2) == pytest.approx(value)


def test_shaped_reward_at_the_start_and_at_the_end():
    worlds = batch(ID, 20, reward="shaped")
    worlds.step(np.zeros_like(worlds.actions))
    names = list(SPEC.terms)
    hook, pull = worlds.terms[:, names.index("hook"), 0], worlds.terms[:, names.index("pull"), 0]
    # the drawer stands still: x is 1 less the tolerance of 2 cm by the distance at the start
    opening = np.array([s.first_pull for s in states(worlds)])
    np.testing.assert_allclose(pull, 1.0 / (1.0 + 9.0 * (1.0 - 0.02 / opening) ** 2), rtol=1e-3)
    assert hook == pytest.approx(0.1, abs=0.05)
    played(worlds, 40)
    np.testing.assert_allclose(worlds.rewards[:, 0], 5.0 * worlds.terms[:, 2:4, 0].sum(axis=1))
    assert worlds.terms[:, names.index("pull"), 0].min() > 0.95


def test_hook_counts_x_and_y_three_times():
    worlds = batch(ID, turn=0.3)
    p, s = worlds.records(0)
    behind = 0.008 + 0.025
    middle = s.handle + behind * np.array([np.cos(s.heading), np.sin(s.heading), 0.0])
    assert drawer.to_hook(p, s) == pytest.approx(np.linalg.norm((middle - s.grip[0]) * [3.0, 3.0, 1.0]))


# --- starts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("task", TASKS)
def test_starts(level, task):
    worlds = batch(ID, 200, level=level, task=task)
    values = worlds.setup.values
    wanted, first, places, turns = [], [], [], []
    for s in states(worlds):
        into = np.array([np.cos(s.heading), np.sin(s.heading)])
        wanted.append((s.shut - s.desired[:2]) @ into)
        first.append(s.qpos[drawer.SLIDE])
        # the sensor sees the handle where reset computed it
        np.testing.assert_allclose(s.handle, [*(s.shut - first[-1] * into), 0.1], atol=1e-9)
        assert np.linalg.norm(s.handle - s.desired) > values.threshold
        places.append(s.mocap_pos[1, :2])
        turns.append(s.heading)
    opening, zero = (wanted, first) if task == "open" else (first, wanted)
    np.testing.assert_allclose(zero, 0.0, atol=1e-7)
    width = values.most_opening - values.least_opening
    assert values.least_opening <= min(opening) + 1e-7 < values.least_opening + 0.05 * width
    assert values.most_opening >= max(opening) - 1e-7 > values.most_opening - 0.05 * width
    spread = np.ptp(places, axis=0)
    assert np.all(spread <= [0.04, values.place_width])
    assert np.all(spread > [0.037, 0.93 * values.place_width])
    assert max(np.abs(turns)) <= values.turn
    assert not worlds.success.any()


def test_nothing_touches_at_the_start():
    for task in TASKS:
        worlds = batch(ID, 100, task=task, level="hard", turn=0.3, most_opening=0.25)
        for i in range(100):
            assert simulation(worlds, i).ncon == 0


# --- mechanics --------------------------------------------------------------------------------------------------------


def test_dry_friction_holds_up_to_its_force():
    assert push(batch(ID, friction=20.0), 18.0) < 1e-3
    assert push(batch(ID, friction=20.0), 22.0) > 0.1


def test_mass_and_damping():
    """Without friction v' = (F - c v) / m; after 0.2 s of 4 N against 10 N s/m on 2 kg and the handle."""
    worlds = batch(ID, friction=0.0, drawer_mass=2.0, drawer_damping=10.0, handle_length=0.05)
    moved = push(worlds, 4.0, 5)
    rod = 2700.0 * np.pi * 0.008**2 * (0.05 + 4.0 / 3.0 * 0.008)
    rate = 10.0 / (2.0 + rod)
    assert moved == pytest.approx(0.4 * (0.2 - (1.0 - np.exp(-rate * 0.2)) / rate), rel=0.03)


def test_travel_ends():
    assert push(batch(ID), 50.0, 40) == pytest.approx(0.25, abs=0.005)


def test_stays_where_it_was_left():
    worlds = batch(ID, task="close")
    before = worlds.records(0)[1].qpos[drawer.SLIDE]
    for _ in range(30):
        worlds.step(np.zeros_like(worlds.actions))
    assert worlds.records(0)[1].qpos[drawer.SLIDE] == pytest.approx(before, abs=1e-4)


def test_drawer_moves_by_its_handle_alone():
    """The expert's path, but past the end of the rod: nothing to pull at."""
    worlds = batch(ID, handle_length=0.05)
    s = worlds.records(0)[1]
    aside = s.shut[1] - 0.09
    for _ in range(45):
        s = worlds.records(0)[1]
        height = 0.1 if abs(s.grip[0, 1] - aside) < 0.01 else 0.2
        target = np.array([s.shut[0] - (0.15 if s.grip[0, 2] < 0.11 else -0.03), aside, height])
        worlds.step(np.clip([[[*((target - s.mocap_pos[0]) / 0.05), -1.0]]], -1, 1))
    assert worlds.records(0)[1].qpos[drawer.SLIDE] < 1e-3


# --- snapshots, bad input, the expert ---------------------------------------------------------------------------------


def test_snapshot_in_the_middle_of_a_pull():
    worlds = batch(ID, level="hard")
    for _ in range(30):
        played(worlds, 1)
        if simulation(worlds).ncon:
            break
    assert simulation(worlds).ncon
    snapshot, rng = worlds.get_state(), np.random.default_rng(0)
    actions = rng.uniform(-1, 1, (15, *worlds.actions.shape))

    def record():
        seen = []
        for action in actions:
            worlds.step(action)
            seen.append((worlds.observations.copy(), worlds.rewards.copy()))
        return seen

    first = record()
    worlds.set_state(snapshot)
    for one, two in zip(first, record(), strict=True):
        np.testing.assert_array_equal(one[0], two[0])
        np.testing.assert_array_equal(one[1], two[1])


@pytest.mark.parametrize(
    ("choices", "reason"),
    [
        ({"least_opening": 0.2, "most_opening": 0.15}, "least_opening=0.2 is above most_opening=0.15"),
        ({"least_opening": 0.05, "threshold": 0.06}, r"least_opening=0\.05 has to be above threshold=0\.06"),
        ({"least_opening": 0.05, "task": "close"}, r"above threshold=0\.065"),
        ({"friction": -1.0}, r"friction=-1\.0 is outside its range"),
        ({"task": "shut"}, "task='shut' is not one of 'open', 'close'"),
    ],
)
def test_impossible_parameters(choices, reason):
    with pytest.raises(ParameterError, match=reason):
        batch(ID, **choices)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("task", TASKS)
def test_expert_succeeds(level, task):
    assert success(ID, 50, level=level, task=task) >= 0.98


@pytest.mark.parametrize("choices", [{"control": "pose"}, {"fingers": False}])
def test_expert_in_other_settings(choices):
    assert success(ID, 20, **choices) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("task", TASKS)
def test_expert_and_random_actions_over_500_seeds(level, task):
    assert success(ID, 500, level=level, task=task) >= 0.98
    assert success(ID, 500, "random", level=level, task=task) < 0.05


def test_success_may_end_the_episode():
    worlds = batch(ID, ends_at_success=True)
    for _ in range(50):
        worlds.step(worlds.expert_actions())
        if worlds.success[0, 0]:
            break
    assert worlds.terminated[0, 0]
    assert worlds.records(0)[1].elapsed < 30
