"""SafePointGoal against Safety-Gymnasium's numbers, recordings of it, and an independent lidar."""

import math
from functools import partial

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.batches import begun
from support.places import DATA

import rlenvs
from rlenvs.robotics.navigation.lidar import scan
from rlenvs.robotics.navigation.point_goal import SPEC, hazard_depth
from rlenvs.robotics.navigation.vases import slide_vases

# recorded from safety-gymnasium 1.0.0 on MuJoCo 2.3.3: ten episodes of 200 steps per level, actions piecewise
# constant; at level 0 the robot turns at full rate all the time
RECORD = np.load(DATA / "safe_point.npz")
LEVELS = ("0", "1", "2")
EPISODES = 10
DRIFT = 0.03  # m, by which the robot may be elsewhere than the original's within an episode of levels 1 and 2


batch = partial(begun, "SafePointGoal-v0")


def recorded(level):
    return {name[7:]: RECORD[name] for name in RECORD.files if name.startswith(f"level{level}_")}


def synchronised(level, episode):
    """A batch of one in the state in which a recorded episode begins."""
    record = recorded(level)
    worlds = batch(level=level)
    _, s = worlds.records(0)
    s.position[:], s.heading = record["robot0"][episode, :2], record["robot0"][episode, 2]
    s.goal[0], s.hazards[:] = record["goal0"][episode], record["hazards"][episode]
    s.vases[:] = record["vases0"][episode, :, :2]
    s.vase_axis[:] = np.stack([np.cos(record["vases0"][episode, :, 2]), np.sin(record["vases0"][episode, :, 2])], 1)
    s.distance = np.hypot(*(s.goal[0] - s.position))
    return worlds, {name: values[episode] for name, values in record.items()}


def sensors(worlds):
    """The twelve sensor numbers in their units, in double precision."""
    p, s = worlds.records(0)
    values = np.zeros((), [(name, "f8", (part.shape[0],)) for name, part in list(SPEC.observation.items())[:4]])
    lidars = {name: np.zeros(p.lidar_bins) for name in ("goal_lidar", "hazards_lidar", "vases_lidar")}

    class Observation:
        def __getattr__(self, name):
            return lidars[name] if name in lidars else values[name]

    SPEC.kernels["observe"](p, s, Observation())
    return np.concatenate([values[name] for name in values.dtype.names])


def plain_lidar(objects, x, y, heading, reach, bins):
    """The formula with complex numbers, written down from its description."""
    reading = np.zeros(bins)
    width = 2 * np.pi / bins
    for ox, oy in objects:
        z = complex(ox - x, oy - y) * np.exp(-1j * heading)
        angle = np.angle(z) % (2 * np.pi)
        k = int(angle / width) % bins
        part = angle / width - int(angle / width)
        value = max(0, reach - abs(z)) / reach
        for where, share in ((k, 1), (k + 1, part), (k - 1, 1 - part)):
            reading[where % bins] = max(reading[where % bins], share * value)
    return reading


# --- the card's table -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "extent", "hazards", "vases", "constrained", "length"),
    [("0", 1.0, 0, 0, False, 28), ("1", 1.5, 8, 1, False, 60), ("2", 2.0, 10, 10, True, 60)],
)
def test_levels(level, extent, hazards, vases, constrained, length):
    worlds = batch(level=level)
    p, s = worlds.records(0)
    assert (p.extent, len(s.hazards), len(s.vases), bool(p.constrain_vases)) == (extent, hazards, vases, constrained)
    assert worlds.observations.shape == (1, 1, length)
    assert (worlds.setup.horizon, p.goal_radius, p.hazard_radius, p.lidar_range) == (1000, 0.3, 0.2, 3.0)


def test_default_is_level_one():
    assert vars(batch().setup.values) == vars(batch(level="1").setup.values)


def test_cost_limit_and_forms():
    assert {c.limit for c in SPEC.costs.values()} == {25.0}
    assert list(SPEC.costs) == ["hazards", "vases"]
    assert "rlenvs/mo-SafePointGoal-v0" in rlenvs.list_envs("constrained")


@pytest.mark.parametrize("level", LEVELS)
def test_placement(level):
    worlds = batch(300, level=level)
    gaps = {}
    for i in range(300):
        p, s = worlds.records(i)
        things = [("robot", 0.4, s.position), ("goal", 0.305, s.goal[0])]
        things += [("hazard", 0.18, h) for h in s.hazards] + [("vase", 0.15, v) for v in s.vases]
        names, keepouts, spots = zip(*things, strict=True)
        spots, keepouts = np.array(spots), np.array(keepouts)
        apart = np.hypot(*(spots[:, None] - spots[None]).T) - keepouts[:, None] - keepouts[None]
        assert apart[~np.eye(len(things), dtype=bool)].min() >= -1e-12
        for name, gap in zip(names, p.extent - np.abs(spots).max(1) - keepouts, strict=True):
            gaps.setdefault(name, []).append(gap)
    # inside the square, and coming close to its edge: the keep-out radii are these, not larger ones
    for found in gaps.values():
        assert -1e-12 <= min(found) < 0.015


def test_placement_never_hangs():
    worlds = batch(2, hazards=100, vases=100, extent=0.8)
    for _ in range(3):
        worlds.step(np.ones((2, 2)))
    assert np.isfinite(worlds.observations).all()


# --- dynamics ---------------------------------------------------------------------------------------------------------


def test_robot_numbers():
    p, _ = batch().records(0)
    assert p.body_mass == pytest.approx(0.00418879, rel=1e-6)
    assert p.nose_mass == 0.001
    worlds = batch(level="0")
    worlds.step(np.array([[1.0, 0.0]]))
    # 0.015 N on 5.19 g, against 0.01 N s/m, ten steps of 2 ms
    mass, v = 0.0051887902, 0.0
    for _ in range(10):
        v += 0.002 * (0.015 - 0.01 * v) / (mass + 0.002 * 0.01)
    assert np.hypot(*worlds.records(0)[1].velocity) == pytest.approx(v, rel=1e-7)
    for _ in range(400):
        worlds.step(np.array([[1.0, 1.0]]))
    assert worlds.records(0)[1].spin == pytest.approx(3.0, abs=0.05)  # 0.015 N m against 0.005 N m s/rad


def test_drive_saturates_at_a_twentieth():
    speeds = []
    for a in (1.0, 0.05, 0.025):
        worlds = batch(level="0")
        worlds.step(np.array([[a, 0.0]]))
        speeds.append(np.hypot(*worlds.records(0)[1].velocity))
    assert speeds[0] == speeds[1]
    assert speeds[2] == pytest.approx(speeds[0] / 2)


@pytest.mark.parametrize("episode", range(EPISODES))
def test_parity_with_mujoco_while_the_servo_is_stable(episode):
    worlds, record = synchronised("0", episode)
    for t, action in enumerate(record["actions"]):
        worlds.step(action[None])
        s = worlds.records(0)[1]
        # same algorithm; 1e-9 leaves room for the rounding of sums in another order, over 2000 physics steps
        np.testing.assert_allclose(s.position, record["robot"][t, :2], rtol=0, atol=1e-9)
        assert abs(math.remainder(s.heading - record["robot"][t, 2], 2 * math.pi)) < 1e-9
        np.testing.assert_allclose(sensors(worlds), record["sensors"][t], rtol=0, atol=1e-8)
        assert worlds.rewards[0, 0] == pytest.approx(record["reward"][t], abs=1e-9)
        assert worlds.costs[0, 0] == 0 == record["cost"][t, 0]


@pytest.mark.parametrize("level", ["1", "2"])
@pytest.mark.parametrize("episode", range(EPISODES))
def test_parity_with_safety_gymnasium(level, episode):
    worlds, record = synchronised(level, episode)
    hazards = []
    for t, action in enumerate(record["actions"]):
        worlds.step(action[None])
        s = worlds.records(0)[1]
        # at other turning rates the servo oscillates and turns the rounding of one step (1e-17) into half a radian per
        # second within three: headings then differ by up to 0.02 rad, and positions with them
        np.testing.assert_allclose(s.position, record["robot"][t, :2], rtol=0, atol=DRIFT)
        assert worlds.rewards[0, 0] == pytest.approx(record["reward"][t], abs=1e-3)
        hazards.append(worlds.terms[0, 2, 0])
    depths = record["robot"][:, None, :2] - record["hazards"]
    at_an_edge = (abs(np.hypot(depths[..., 0], depths[..., 1]) - 0.2) < DRIFT).any(axis=1)
    assert at_an_edge[np.array(hazards) != record["cost"][:, 1]].all()


# --- lidar ------------------------------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-4, 4), st.floats(-4, 4)), max_size=12),
    st.floats(-2, 2),
    st.floats(-2, 2),
    st.floats(-10, 10),
    st.sampled_from([4, 16, 17]),
)
def test_lidar_formula(objects, x, y, heading, bins):
    objects = np.array(objects, float).reshape(-1, 2)
    offsets = (objects - [x, y]) @ [[math.cos(heading), -math.sin(heading)], [math.sin(heading), math.cos(heading)]]
    turns = np.arctan2(offsets[:, 1], offsets[:, 0]) / (2 * math.pi) * bins
    # on the edge of a bin rounding decides which bin it is
    objects = objects[np.abs(turns - np.round(turns)) > 1e-9]
    reading = np.full(bins, np.nan)
    scan(reading, objects, x, y, heading, 3.0)
    np.testing.assert_allclose(reading, plain_lidar(objects, x, y, heading, 3.0, bins), rtol=0, atol=1e-9)


def test_lidar_by_hand():
    reading = np.zeros(16)
    width = 2 * math.pi / 16
    scan(reading, np.array([[1.5 * math.cos(2.25 * width), 1.5 * math.sin(2.25 * width)]]), 0.0, 0.0, 0.0, 3.0)
    np.testing.assert_allclose(reading[1:4], [0.375, 0.5, 0.125], atol=1e-12)
    assert reading[[0, *range(4, 16)]].max() == 0


def test_lidar_sees_the_recorded():
    for level, kinds in (("0", 1), ("1", 3), ("2", 3)):
        record = recorded(level)
        for episode in range(EPISODES):
            for row, t in enumerate(range(9, 200, 10)):
                seen = [record["goal"][episode, t][None], record["hazards"][episode]]
                seen += [record["vases"][episode, t, :, :2]] if kinds == 3 else []
                reading = np.zeros(16)
                for k in range(kinds):
                    scan(reading, seen[k], *record["robot"][episode, t], 3.0)
                    original = record["lidar"][episode, row, 16 * k : 16 * k + 16]
                    np.testing.assert_allclose(reading, original, rtol=0, atol=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_compiled_observation(level):
    worlds = batch(4, level=level)
    for _ in range(20):
        worlds.step(np.full((4, 2), 0.7))
    for i in range(4):
        _p, s = worlds.records(i)
        kinds = [s.goal] + ([s.hazards, s.vases] if level != "0" else [])
        expected = [plain_lidar(kind, *s.position, s.heading, 3.0, 16) for kind in kinds]
        # observations are float32
        np.testing.assert_allclose(worlds.observations[i, 0, 12:], np.concatenate(expected), rtol=0, atol=1e-7)


# --- rewards and costs ------------------------------------------------------------------------------------------------


def aim(worlds, distance):
    """Put the goal straight ahead of the robot."""
    s = worlds.records(0)[1]
    s.goal[0] = s.position + distance * np.array([math.cos(s.heading), math.sin(s.heading)])
    s.distance = distance
    return s


def test_reaching_a_goal():
    worlds = batch(level="0")
    s = aim(worlds, 0.3003)
    worlds.step(np.array([[1.0, 0.0]]))
    moved = worlds.terms[0, 0, 0]
    assert 5e-4 < moved < 7e-4
    assert worlds.rewards[0, 0] == pytest.approx(moved + 1.0)
    assert worlds.success[0, 0]
    assert not worlds.over[0]
    # a new goal, and no progress from its being elsewhere
    distance = np.hypot(*(s.goal[0] - s.position))
    assert distance >= 0.705
    assert s.distance == distance
    worlds.step(np.array([[0.0, 0.0]]))
    assert abs(worlds.terms[0, 0, 0]) < 1e-2
    assert worlds.terms[0, 1, 0] == 0.0
    assert worlds.success[0, 0]  # for the rest of the episode


def test_just_outside_the_goal():
    worlds = batch(level="0")
    aim(worlds, 0.3008)
    worlds.step(np.array([[1.0, 0.0]]))
    assert not worlds.success[0, 0]
    assert worlds.rewards[0, 0] < 1e-3


def test_episode_ends_when_no_goal_fits():
    worlds = batch(hazards=100, extent=0.8)
    aim(worlds, 0.2)
    worlds.step(np.zeros((1, 2)))
    assert worlds.success[0, 0]
    assert worlds.terminated[0, 0]
    assert not worlds.truncated[0, 0]


@pytest.mark.parametrize("dense", [False, True])
def test_hazard_cost(dense):
    worlds = batch(dense_costs=dense)
    p, s = worlds.records(0)
    for depth in (-0.01, 1e-6, 0.05, 0.2):
        s.velocity[:] = s.spin = 0.0
        s.hazards[:] = 40.0
        s.hazards[3] = s.position + [p.hazard_radius - depth, 0.0]
        worlds.step(np.zeros((1, 2)))
        inside = float(depth > 0)
        assert worlds.terms[0, 2, 0] == pytest.approx(max(0.0, depth) if dense else inside, abs=1e-9)
        assert worlds.costs[0, 0] == worlds.terms[0, 2, 0]


@pytest.mark.parametrize("level", ["1", "2"])
def test_cost_is_the_indicator(level):
    worlds = batch(16, level=level)
    generator = np.random.default_rng(0)
    met = 0
    for _ in range(400):
        worlds.step(np.stack([np.ones(16), generator.uniform(-1, 1, 16)], 1))
        inside = np.array([hazard_depth(*worlds.records(i)) > 0 for i in range(16)])
        assert (worlds.terms[:, 2, 0] == inside).all()
        assert (worlds.costs[:, 0] == np.maximum(worlds.terms[:, 2, 0], worlds.terms[:, 3, 0])).all()
        assert set(np.unique(worlds.costs)) <= {0.0, 1.0}
        met += inside.sum()
    assert met > 0


def test_level_zero_costs_nothing():
    worlds = batch(64, level="0")
    generator = np.random.default_rng(1)
    for _ in range(300):
        worlds.step(generator.uniform(-1, 1, (64, 2)))
        assert not worlds.costs.any()


# --- vases ------------------------------------------------------------------------------------------------------------


def with_vase(ahead, side=0.0, yaw=0.0, **keywords):
    worlds = batch(vases=1, hazards=0, constrain_vases=True, **keywords)
    s = worlds.records(0)[1]
    s.heading, s.position[:] = 0.0, 0.0
    s.vases[0] = ahead, side
    s.vase_axis[0] = math.cos(yaw), math.sin(yaw)
    return worlds, s


def move_to(s, record, t, dt):
    """The state of a recorded episode after step t, the vases' speeds from where they were before."""
    s.position[:], s.heading = record["robot"][t, :2], record["robot"][t, 2]
    forward, left = record["sensors"][t, 3:5]
    cosine, sine = math.cos(s.heading), math.sin(s.heading)
    s.velocity[:], s.spin = (cosine * forward - sine * left, sine * forward + cosine * left), record["sensors"][t, 8]
    turned, places = record["vases"][t, :, 2], record["vases"][:, :, :2]
    s.vases[:], s.vase_axis[:] = places[t], np.stack([np.cos(turned), np.sin(turned)], 1)
    mean = (places[t] - places[t - 1]) / dt
    speed = np.hypot(*mean.T)
    now = np.where(speed < 1e-4, 0.0, np.maximum(speed - 9.81 * dt / 2, 0.0))  # friction slows them within the step
    s.vase_velocity[:] = mean * (now / np.maximum(speed, 1e-9))[:, None]


def test_vases_cost_in_as_many_steps_as_the_page_says():
    counts = np.zeros(3, int)
    for episode in range(EPISODES):
        worlds, record = synchronised("2", episode)
        p, s = worlds.records(0)
        for t in range(2, 199):
            move_to(s, record, t - 1, p.substeps * 0.002)
            s.distance, s.over = 1.0, False  # no new goal
            worlds.step(record["actions"][t][None])
            ours, original = worlds.terms[0, 3, 0] > 0, (record["cost"][t, 2:] > 0).any()
            counts += original, ours, ours and original
    assert counts.tolist() == [177, 139, 139]


def test_a_vase_standing_apart_costs_nothing():
    worlds, _ = with_vase(0.2501)  # nose to 0.15, half side 0.1
    worlds.step(np.zeros((1, 2)))
    assert worlds.costs[0, 0] == 0.0
    worlds, _ = with_vase(0.2499)
    worlds.step(np.zeros((1, 2)))
    assert worlds.costs[0, 0] == 1.0


@pytest.mark.parametrize(("dense", "cost"), [(False, 1.0), (True, 1.0 + 0.5 - 9.81 * 0.02)])
def test_two_violations_cost_like_the_worse(dense, cost):
    worlds = batch(hazards=1, vases=1, constrain_vases=True, dense_costs=dense)
    s = worlds.records(0)[1]
    s.hazards[0], s.vases[0], s.vase_velocity[0] = s.position, s.position + 0.05, (0.3, 0.4)
    worlds.step(np.zeros((1, 2)))
    assert worlds.terms[0, 2, 0] == pytest.approx(0.2 if dense else 1.0, abs=1e-6)
    assert worlds.terms[0, 3, 0] == worlds.costs[0, 0] == pytest.approx(cost)


def test_an_unguarded_vase_costs_nothing():
    worlds = batch(vases=1, hazards=0)
    s = worlds.records(0)[1]
    s.vases[0] = s.position
    worlds.step(np.zeros((1, 2)))
    assert worlds.costs[0, 0] == 0.0


def test_a_vase_is_pushed_and_slides_out():
    worlds, s = with_vase(0.5)
    for _ in range(60):
        worlds.step(np.array([[1.0, 0.0]]))
    # MuJoCo pushes it 0.62 to 0.88 m in these 1.2 s, turning it or not
    assert 0.6 < s.vases[0, 0] - 0.5 < 0.95
    assert abs(s.vases[0, 1]) < 0.05
    assert s.vases[0, 0] > s.position[0] + 0.2
    assert worlds.costs[0, 0] == 1.0
    speed = s.vase_velocity[0, 0]
    assert speed == pytest.approx(s.velocity[0], rel=0.2)
    start, costly = s.vases[0, 0], 0
    for _ in range(30):
        worlds.step(np.array([[-1.0, 0.0]]))
        costly += worlds.costs[0, 0]
    assert 0 < costly < 30
    assert s.vase_velocity[0, 0] == 0.0
    assert start < s.vases[0, 0] < start + 0.3


def test_a_sliding_vase_costs_by_its_speed():
    worlds, s = with_vase(3.0, dense_costs=True)
    s.vase_velocity[0] = 0.6, 0.8
    worlds.step(np.zeros((1, 2)))
    assert worlds.terms[0, 3, 0] == pytest.approx(1.0 - 9.81 * 0.02)
    s.vase_velocity[0] = 9.81 * 0.02 + 0.9e-4, 0.0  # 0.9e-4 m/s are left
    worlds.step(np.zeros((1, 2)))
    assert worlds.terms[0, 3, 0] == 0.0


@settings(max_examples=150, deadline=None)
@given(st.floats(0.2, 0.4), st.floats(0, 7), st.floats(0, 7), st.floats(0, 7), st.floats(-1.5, 1.5), st.floats(-3, 3))
def test_pushing_leaves_little_overlap_and_adds_no_energy(distance, bearing, yaw, heading, speed, spin):
    _, s = PUSHED
    s.position[:], s.heading, s.spin = 0.0, heading, spin
    s.velocity[:] = speed * math.cos(heading), speed * math.sin(heading)
    s.vases[0] = distance * math.cos(bearing), distance * math.sin(bearing)
    s.vase_velocity[0] = 0.0
    s.vase_axis[0] = math.cos(yaw), math.sin(yaw)
    slide_vases(s, 0.02)
    assert np.isfinite(s.vases).all()
    # no faster than the fastest point of the robot, with what friction adds across
    assert np.hypot(*s.vase_velocity[0]) <= 1.2 * (abs(speed) + 0.15 * abs(spin)) + 1e-9
    corner = s.vase_axis[0]
    local = np.array([-corner @ s.vases[0], corner[1] * s.vases[0, 0] - corner[0] * s.vases[0, 1]])
    gap = np.hypot(*(local - np.clip(local, -0.1, 0.1)))
    assert gap > 0.08  # the nose may push it back against the ball a little


PUSHED = with_vase(0.5)


# --- expert, episode, image -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("level", "goals", "cost"), [("0", 14, 0.0), ("1", 8, 5.0), ("2", 5, 20.0)])
def test_expert(level, goals, cost):
    worlds = batch(20, level=level)
    reached, spent = 0, 0.0
    for _ in range(1000):
        worlds.expert_actions()
        worlds.step_inplace()
        reached, spent = reached + worlds.terms[:, 1].sum(), spent + worlds.costs.sum()
    assert worlds.truncated.all()
    assert reached / 20 > goals
    assert spent / 20 <= cost


def test_random_rarely_reaches():
    worlds = batch(20)
    generator = np.random.default_rng(0)
    reached = 0
    for _ in range(1000):
        worlds.step(generator.uniform(-1, 1, (20, 2)))
        reached += worlds.terms[:, 1].sum()
    assert reached < 10


def test_compiled_equals_python():
    compiled, plain = (batch(3, level="2", backend=backend) for backend in ("numba", "python"))
    for _ in range(30):
        for worlds in (compiled, plain):
            worlds.step(np.full((3, 2), [1.0, 0.3]))
    np.testing.assert_allclose(compiled.observations, plain.observations, atol=1e-6)


def test_image_and_keys():
    for level in LEVELS:
        env = gymnasium.make("rlenvs/SafePointGoal-v0", level=level, render_mode="rgb_array")
        env.reset(seed=0)
        env.step(np.array([1.0, 0.0], np.float32))
        assert env.render().std() > 10
        env.close()
    assert SPEC.functions["keys"]({"up", "left"}, None) == [1.0, 0.6]
