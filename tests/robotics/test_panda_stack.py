"""PandaStack against the numbers of panda-gym, what counts as a stack, starts, bad input, expert."""

import gymnasium
import numpy as np
import pytest
from support.arm_helpers import LEVELS, batch, played, states, success

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.engines.mujoco import compiled
from rlenvs.robotics.manipulation import arm, panda
from rlenvs.robotics.manipulation.stack import LOWER, SPEC, UPPER

pytest.importorskip("mujoco")
ID = "PandaStack-v0"


def with_cubes(lower, upper, **keywords):
    """One world whose cubes are there, relative to the goal of the lower one, at rest, the hand away from them."""
    worlds = batch(ID, **keywords)
    s = worlds.records(0)[1]
    for first, place in ((LOWER, lower), (UPPER, upper)):
        s.qpos[first : first + 3] = s.desired[:3] + place
        s.qpos[first + 3 : first + 7] = 1, 0, 0, 0
    s.desired[3:] = s.desired[:3] + [0, 0, 0.04]
    return worlds, s


def stand(worlds):
    worlds.step(np.float32([[0, 0, 0, 1]]))
    return bool(worlds.success[0, 0]), float(worlds.rewards[0, 0])


# --- numbers of the original ------------------------------------------------------------------------------------------


def test_published_numbers():
    worlds = batch(ID)
    values = worlds.setup.values
    model = compiled(SPEC, values)
    np.testing.assert_allclose([model.geom("lower").size, model.geom("upper").size], 0.02)
    assert (model.body("lower").mass[0], model.body("upper").mass[0]) == (2.0, 1.0)
    assert (values.threshold, values.start_width, values.goal_width, values.yaw) == (0.1, 0.3, 0.3, 0.0)
    assert (worlds.setup.fps, worlds.setup.horizon, worlds.setup.action_size) == (25, 100, 4)
    assert SPEC.observation["achieved"].shape == SPEC.observation["desired"].shape == (6,)
    assert vars(values) == vars(batch(ID, level="medium").setup.values)


@pytest.mark.parametrize("keywords", [{}, {"apart": 0.12, "yaw": 0.5}, {"side": 0.06, "goal_width": 0.0}])
def test_starts_are_apart(keywords):
    worlds = batch(ID, 1000, **keywords)
    values, states = worlds.setup.values, worlds.states
    half, goals = 0.5 * values.side, states["desired"]
    lower, upper = states["qpos"][:, LOWER : LOWER + 3], states["qpos"][:, UPPER : UPPER + 3]
    places = [lower[:, :2], upper[:, :2], goals[:, :2]]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        gaps = np.linalg.norm(places[i] - places[j], axis=1)
        assert gaps.min() >= values.apart - 1e-7
        assert gaps.min() < values.apart + 0.02 or values.goal_width == 0.0
    np.testing.assert_allclose([lower[:, 2], upper[:, 2]], half, atol=1e-12)
    np.testing.assert_array_equal(goals[:, :2], goals[:, 3:5])
    np.testing.assert_allclose(goals[:, [2, 5]], [[half, 3 * half]] * 1000, atol=1e-7)
    assert np.abs(places[0]).max() <= 0.15
    assert np.abs(places[2]).max() <= 0.5 * values.goal_width
    assert values.apart >= values.side * 1.5  # more than the diagonal, whatever the yaw


# --- what a stack is --------------------------------------------------------------------------------------------------


def test_a_stack_at_the_goal_is_a_success():
    worlds, _ = with_cubes([0, 0, 0], [0, 0, 0.04])
    assert stand(worlds) == (True, 0.0)


def test_cubes_side_by_side_are_no_stack():
    for rule, found in (("stacked", (False, -1.0)), ("published", (True, 0.0))):
        worlds, _ = with_cubes([0, 0, 0], [0.041, 0, 0], rule=rule)
        assert stand(worlds) == found


def test_a_falling_cube_is_no_stack():
    # dropped from 4 cm above the lower one: it passes the height of the stack at 0.8 m/s
    worlds, s = with_cubes([0, 0, 0], [0.0, 0.0, 0.08])
    seen = []
    for _ in range(12):
        found, reward = stand(worlds)
        speed = np.linalg.norm(s.upper_velocity)
        seen.append(speed)
        assert not found or speed < 0.05
        assert found or reward == -1.0 or speed >= 0.05
    assert max(seen) > 0.5
    assert found  # it has come to rest there
    worlds, s = with_cubes([0, 0, 0], [0, 0, 0.0405])
    s.qvel[15:18] = 0.0, 0.0, 0.4
    assert not stand(worlds)[0]


def test_a_held_cube_is_no_stack():
    for fingers, found in ((1.0, True), (-1.0, False)):
        worlds, s = with_cubes([0, 0, 0], [0, 0, 0.04])
        s.qpos[7:9] = s.ctrl[0] = 0.04 if fingers > 0 else 0.015
        worlds.step(np.float32([[0, 0, 0, fingers]]))
        assert worlds.success[0, 0] == found
        assert worlds.rewards[0, 0] == 0.0


@pytest.mark.parametrize(("level", "held"), [("put", True), ("last", False)])
def test_a_cube_may_be_held_in_its_place_at_level_put(level, held):
    worlds, s = with_cubes([0, 0, 0], [0, 0, 0.04], level=level)
    s.qpos[7:9], s.ctrl[0] = 0.015, 0.0
    worlds.step(np.float32([[0, 0, 0, -1.0]]))
    assert worlds.success[0, 0] == held
    worlds, s = with_cubes([0, 0, 0], [0.035, 0, 0.04], level=level)
    assert stand(worlds)[0] is False  # off by more than 3 cm, and not on the lower one either


@pytest.mark.parametrize(("away", "found"), [(0.0706, True), (0.0709, False)])
def test_threshold_is_on_the_norm_of_six(away, found):
    # both cubes that far off: the norm is the root of twice the square
    env = gymnasium.make("rlenvs/PandaStack-v0", form="goal").unwrapped
    desired = np.float32([0, 0, 0.02, 0, 0, 0.06])
    achieved = desired + np.float32([away, 0, 0, away, 0, 0])
    assert env.compute_reward(achieved, desired, {}) == (0.0 if found else -1.0)
    dense = gymnasium.make("rlenvs/PandaStack-v0", form="goal", reward="dense").unwrapped
    assert dense.compute_reward(achieved, desired, {}) == pytest.approx(-away * np.sqrt(2.0), abs=1e-6)


@pytest.mark.parametrize(
    ("beside", "higher", "found"),
    [(0.019, 0.04, True), (0.021, 0.04, False), (0.0, 0.0449, True), (0.0, 0.0451, False), (0.0, 0.0349, False)],
)
def test_tolerances_of_a_stack(beside, higher, found):
    desired = np.float32([0, 0, 0.02, 0, 0, 0.06])
    achieved = np.float32([0, 0, 0.02, beside, 0, 0.02 + higher])
    for rule, expected in (("stacked", found), ("published", True)):
        env = gymnasium.make("rlenvs/PandaStack-v0", form="goal", rule=rule).unwrapped
        assert env.compute_reward(achieved, desired, {}) == (0.0 if expected else -1.0)


def test_ends_at_success():
    worlds = batch(ID, 1, ends_at_success=True)
    for _ in range(100):
        played(worlds, 1)
        if worlds.terminated.any():
            break
        assert not worlds.success.any()
    assert worlds.terminated.all()
    assert worlds.success.all()


def test_shaped_reward_grows():
    worlds, rewards, terms = batch(ID, 1, reward="shaped"), [], []
    for _ in range(100):
        played(worlds, 1)
        rewards.append(worlds.rewards[0, 0])
        terms.append(worlds.terms[0, :, 0].copy())
    reached, near, held, placed, based = (
        np.array(terms)[:, list(SPEC.terms).index(n)] for n in ("reached", "near", "held", "placed", "based")
    )
    np.testing.assert_allclose(rewards, reached + 0.1 * near + 0.1 * held + 0.3 * placed + 0.5 * based, rtol=1e-12)
    assert rewards[0] < -0.7
    assert rewards[-1] > 0.75
    assert (based[0], based[-1]) == (0.0, 1.0)
    assert 10 < held.sum() < 70


def test_stacked_cubes_stand():
    worlds = played(batch(ID, 20, horizon=200), 200)
    assert worlds.success.mean() >= 0.95
    # cubes of the same size, one on the other, neither sunk in nor shaking
    states = worlds.states[worlds.success[:, 0]]
    np.testing.assert_allclose(states["upper"][:, 2] - states["lower"][:, 2], 0.04, atol=5e-4)
    assert np.abs(states["upper_velocity"]).max() < 1e-3


def test_snapshot_in_contact_is_exact():
    worlds = played(batch(ID), 30)
    assert panda.ARM_QPOS == LOWER
    snapshot = worlds.get_state(0)
    runs = []
    for _ in range(2):
        runs.append([])
        for _ in range(30):
            played(worlds, 1)
            runs[-1].append((worlds.observations.tobytes(), worlds.states.tobytes()))
        worlds.set_state(snapshot, 0)
    assert runs[0] == runs[1]


@pytest.mark.parametrize("start", ["placed", "held"])
def test_starts_near_the_end(start):
    worlds = batch(ID, 8, start=start)
    for s in states(worlds):
        np.testing.assert_allclose(s.lower, s.desired[:3], atol=1e-6)
    played(worlds, 25, np.zeros(4))  # who does nothing holds on
    for s in states(worlds):
        assert np.hypot(*(s.lower[:2] - s.desired[:2])) < 1e-3
        assert arm.holds(s, s.upper) == (start == "held")
        assert (s.upper[2] > 0.18) == (start == "held")
    assert success(ID, 20, start=start) == 1.0


def test_any_start_is_one_of_three():
    done = [
        (s.upper[2] > 0.1, np.hypot(*(s.lower[:2] - s.desired[:2])) < 1e-6) for s in states(batch(ID, 60, start="any"))
    ]
    assert set(done) == {(False, False), (False, True), (True, True)}


# --- bad input, expert, conformance -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keywords", "named"),
    [
        ({"fingers": False}, "fingers=False"),
        ({"side": 0.06, "apart": 0.08}, "apart=0.08 must be at least one and a half sides, side=0.06"),
        ({"start_width": 0.24, "apart": 0.1}, "at most 0.4 of the starts' width, start_width=0.24"),
        ({"mass_lower": 9.0}, "mass_lower"),
        ({"rule": "mine"}, "'stacked', 'published'"),
    ],
)
def test_bad_parameters(keywords, named):
    with pytest.raises(ParameterError, match=named):
        batch(ID, **keywords)


@pytest.mark.parametrize("level", LEVELS)
def test_expert(level):
    assert success(ID, 50, level=level) >= 0.98


def test_random_never_stacks():
    assert success(ID, 50, "random", level="easy") < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_expert_and_random_on_many_seeds(level):
    assert success(ID, 500, level=level) >= 0.98
    assert success(ID, 500, "random", level=level) < 0.05


@pytest.mark.slow
def test_check():
    report = rlenvs.check_env("PandaStack-v0")
    assert report.passed, str(report)


def test_image():
    env = gymnasium.make("rlenvs/PandaStack-v0", render_mode="rgb_array")
    env.reset(seed=0)
    image = env.render().astype(int)
    assert ((image[..., 0] > 150) & (image[..., 2] < 60)).sum() > 100
    assert ((image[..., 2] > 100) & (image[..., 0] < 60)).sum() > 100
    env.close()
