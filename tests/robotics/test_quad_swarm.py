"""Several quadcopters in one world: downwash, neighbours, places, costs, ends, and four tasks against their card."""

import math

import numpy as np
import pytest
from support.batches import begun

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.robotics.quadcopter import formation
from rlenvs.robotics.quadcopter.swarm import downwash

TASKS = ("QuadMultiHover-v0", "QuadLeaderFollower-v0", "QuadFlock-v0", "QuadMeetup-v0")
MULTI_HOVER, LEADER_FOLLOWER, FLOCK, MEETUP = TASKS
WEIGHT = 0.027 * 9.8


def batch(id=MULTI_HOVER, worlds=1, backend="python", **keywords):
    return begun(id, worlds, backend=backend, **keywords)


def fleet(id=MULTI_HOVER, places=((0, 0, 1),), **keywords):
    """One world with vehicles at rest at these places."""
    made = batch(id, agents=len(places), **keywords)
    _, s = made.records(0)
    s.position[:], s.velocity[:], s.rates[:] = places, 0.0, 0.0
    return made, s


def idle(made):
    made.step(np.zeros_like(made.actions))


def told(made, name):
    """A term or cost of all agents of the first world."""
    return made.terms[0, [*made.world.terms, *made.world.costs].index(name)]


def seen(made, k, name):
    """A block of agent k's observation in physical units."""
    start = 0
    for block_name, part in made.world.observation.items():
        count = int(np.prod(made.setup.chosen.shape(part.shape), dtype=int))
        if block_name == name:
            values = made.observations[0, k, start : start + count].astype(float)
            return values if part.raw else 0.5 * (values * (part.high - part.low) + part.high + part.low)
        start += count
    raise KeyError(name)


def tilted(angle):
    return (math.sin(angle / 2), 0.0, 0.0, math.cos(angle / 2))


# --- downwash ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("below", "force"), [(0.5, 0.303), (1.0, 0.0758), (2.0, 0.019)])
def test_downwash_of_the_card_straight_below(below, force):
    made, s = fleet(places=((0, 0, 2), (0, 0, 2 - below)), downwash=True)
    p, _ = made.records(0)
    assert downwash(p, s, 1) == pytest.approx(force, abs=5e-4)
    assert downwash(p, s, 1) == pytest.approx(0.07584 / below**2, rel=1e-3)
    assert downwash(p, s, 0) == 0.0


@pytest.mark.parametrize(("below", "width"), [(0.5, 0.03), (1.0, 0.05), (2.0, 0.21)])
def test_downwash_falls_off_sideways_with_its_width(below, width):
    made, s = fleet(places=((0, 0, 3), (width, 0, 3 - below)), downwash=True)
    p, _ = made.records(0)
    assert downwash(p, s, 1) == pytest.approx(0.07584 / below**2 * math.exp(-0.5), rel=1e-3)


def test_downwash_pushes_those_below_and_only_when_asked():
    for asked, acceleration in ((True, -0.07584 / 0.027), (False, 0.0)):
        made, s = fleet(places=((0, 0, 1.5), (0, 0, 0.5)), downwash=asked, control_hz=240)
        idle(made)
        assert s.velocity[1, 2] * 240 == pytest.approx(acceleration, rel=2e-3, abs=1e-9)
        assert s.velocity[0, 2] == pytest.approx(0.0, abs=1e-12)


def test_downwash_of_several_adds_up_and_the_dead_send_none():
    made, s = fleet(places=((0, 0, 0.5), (0, 0, 1.0), (0, 0, 1.5)), downwash=True)
    p, _ = made.records(0)
    assert downwash(p, s, 0) == pytest.approx(0.07584 * (4.0 + 1.0), rel=1e-3)
    s.alive[1] = False
    assert downwash(p, s, 0) == pytest.approx(0.07584, rel=1e-3)


# --- neighbours, and those that are out -------------------------------------------------------------------------------


def test_neighbours_are_seen_nearest_first():
    made, s = fleet(places=((0, 0, 1), (1, 0, 1), (0, 0.5, 1), (0, 0, 1.7)))
    s.velocity[2] = (0.0, 0.3, 0.0)
    idle(made)
    near = seen(made, 0, "near_position").reshape(3, 3)
    wanted = (s.position[[2, 3, 1]] - s.position[0]).astype(float)
    np.testing.assert_allclose(near, wanted, atol=1e-6)
    np.testing.assert_allclose(seen(made, 0, "near_velocity")[:3], s.velocity[2] - s.velocity[0], atol=1e-6)


def test_fewer_neighbours_than_seen_leave_zeros():
    made, _ = fleet(places=((0, 0, 1), (1, 0, 1)), neighbours=3)
    idle(made)
    assert seen(made, 0, "near_position")[0] == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(seen(made, 0, "near_position")[3:], 0.0, atol=1e-7)


def test_a_lost_vehicle_vanishes_and_the_others_fly_on():
    made, s = fleet(places=((0, 0, 1), (0.5, 0, 1), (1.999, 0, 1)))
    s.velocity[2] = (1.0, 0.0, 0.0)
    idle(made)
    assert made.terminated[0].tolist() == [False, False, True]
    assert s.lost.tolist() == [False, False, True]
    frozen = s.position[2].copy()
    for _ in range(3):
        idle(made)
    assert not made.over[0]
    np.testing.assert_array_equal(s.position[2], frozen)
    np.testing.assert_allclose(seen(made, 0, "near_position")[3:], 0.0, atol=1e-7)
    assert made.rewards[0, 2] == 0.0
    assert not made.success[0].any()  # of a team that lost somebody
    assert made.rewards[0, 0] != 0.0


def test_neighbours_are_still_seen_when_time_is_up():
    made, _ = fleet(places=((0, 0, 1), (0.5, 0, 1)), horizon=1)
    idle(made)
    assert made.truncated[0].all()
    assert seen(made, 0, "near_position")[0] == pytest.approx(0.5, abs=1e-6)


# --- places -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("agents", "least"), [(2, 0.6), (5, 0.6), (10, 0.54), (30, 0.25), (128, 0.25)])
def test_starts_and_goals_are_in_columns_of_their_own(agents, least):
    made = batch(worlds=2, agents=agents)
    for i in range(2):
        _, s = made.records(i)
        for places in (s.position, s.goal):
            apart = np.linalg.norm(places[:, None, :2] - places[None, :, :2], axis=2) + 9.0 * np.eye(agents)
            assert apart.min() >= least - 1e-9
            assert np.abs(places[:, :2]).max() <= 1.8
            assert places[:, 2].min() >= 0.4
            assert places[:, 2].max() <= 1.6
        assert not np.allclose(s.position[:, :2], s.goal[:, :2])


@pytest.mark.parametrize("id", TASKS)
def test_too_many_vehicles_are_refused_with_the_number_that_fits(id):
    with pytest.raises(ParameterError, match=r"agents=40 .* 36 do"):
        rlenvs.make_batch(id, 1, agents=40, vehicle="racer")
    with pytest.raises(ParameterError, match=r"agents=14 .*'original'; at most 13 do"):
        rlenvs.make_batch(id, 1, agents=14, level="original")
    rlenvs.make_batch(id, 1, agents=13, level="original")
    rlenvs.make_batch(id, 1, agents=128)


@pytest.mark.parametrize("id", TASKS)
def test_original_starts(id):
    made = batch(id, agents=3, level="original")
    _, s = made.records(0)
    step = 4 * 0.0397
    wanted = [(0, 0, 0.1125), (step, step, 0.1125), (2 * step, 2 * step, 0.1125)]
    np.testing.assert_allclose(s.position, wanted, atol=1e-12)


def test_slots_are_apart_and_in_the_room():
    for agents, least in ((2, 0.6), (7, 0.6), (19, 0.6), (128, 0.25)):
        made = batch(LEADER_FOLLOWER, agents=agents)
        p, s = made.records(0)
        apart = np.linalg.norm(p.slot[:, None] - p.slot[None], axis=2) + 9.0 * np.eye(agents)
        assert apart.min() == pytest.approx(least, rel=0.1)
        assert apart.min() >= least - 1e-9
        assert np.abs(p.slot + s.goal[:2]).max() <= 1.8 + 1e-9
        assert not p.slot[0].any()


@pytest.mark.parametrize("action", ["one_d_rpm", "one_d_position"])
def test_one_dimensional_tasks_need_no_way_sideways(action):
    _, s = batch(agents=5, action=action).records(0)
    np.testing.assert_array_equal(s.goal[:, :2], s.position[:, :2])
    for id in (LEADER_FOLLOWER, FLOCK):
        p, s = batch(id, agents=5, action=action).records(0)
        np.testing.assert_allclose(s.position[:, :2], s.goal[:2] + p.slot, atol=1e-12)
    _, s = batch(MEETUP, agents=5, action=action).records(0)
    np.testing.assert_array_equal(s.position[[0, 1], :2], s.position[[4, 3], :2])
    assert (s.position[:2, 2] <= 0.7).all()
    assert (s.position[3:, 2] >= 1.3).all()


# --- costs and ends ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("position", "tilt", "ends"),
    [
        ((1.99, 0, 1), 0.0, False),
        ((2.01, 0, 1), 0.0, True),
        ((0, -2.01, 1), 0.0, True),
        ((0, 0, 1.99), 0.0, False),
        ((0, 0, 2.01), 0.0, True),
        ((0, 0, 1), 0.99, False),
        ((0, 0, 1), -1.01, True),
    ],
)
@pytest.mark.parametrize("id", TASKS)
def test_leaving_the_room_or_tilting_ends_the_flight_of_one(id, position, tilt, ends):
    made, s = fleet(id, places=((0, 1, 1), position), control_hz=240)
    s.attitude[1] = tilted(tilt)
    idle(made)
    assert made.terminated[0].tolist() == [False, ends]
    assert not made.truncated.any()


def test_the_original_ends_at_two_fifths_of_a_radian():
    for tilt, ends in ((0.39, False), (0.41, True)):
        made = batch(agents=2, level="original")
        _, s = made.records(0)
        s.attitude[1] = tilted(tilt)
        idle(made)
        assert made.terminated[0].tolist() == [False, ends]


@pytest.mark.parametrize(
    ("offset", "touch"),
    [
        ((0.119, 0, 0), True),
        ((0.125, 0, 0), False),
        ((0, 0, 0.024), True),
        ((0, 0, 0.03), False),
        ((0.1, 0.08, 0.0), False),
        ((0.08, 0.08, 0.02), True),
    ],
)
def test_hulls_that_touch_are_out_unless_they_may_pass(offset, touch):
    for end in (True, False):
        made, _ = fleet(places=((0, 0, 1), offset + np.array((0, 0, 1)), (1, 1, 1)), collisions_end=end)
        idle(made)
        assert told(made, "collision").tolist() == [touch, touch, False]
        assert made.terminated[0].tolist() == [touch and end, touch and end, False]


@pytest.mark.parametrize(
    ("place", "tilt", "name", "value"),
    [
        ((0, 0, 1), 0.19, "tilt", 0),
        ((0, 0, 1), -0.21, "tilt", 1),
        ((1.89, 0, 1), 0.0, "geofence", 0),
        ((0, -1.91, 1), 0.0, "geofence", 1),
        ((0, 0, 1.89), 0.0, "geofence", 0),
        ((0, 0, 1.91), 0.0, "geofence", 1),
        ((0.23, 1, 1), 0.0, "proximity", 0),
        ((0.21, 1, 1), 0.0, "proximity", 1),
    ],
)
def test_where_costs_begin(place, tilt, name, value):
    made, s = fleet(places=((0, 1, 1), place), control_hz=240)
    s.attitude[1] = tilted(tilt)
    idle(made)
    assert told(made, name)[1] == value
    assert made.costs[0, 1] == sum(told(made, cost)[1] for cost in made.world.costs)


@pytest.mark.parametrize(("id", "seconds"), list(zip(TASKS, (8, 8, 12, 8), strict=True)))
def test_length_of_episodes_and_rates(id, seconds):
    made = batch(id)
    p, _ = made.records(0)
    assert made.setup.horizon == 30 * seconds
    assert (p.physics_hz, p.control_hz, p.agents) == (240, 30, 4)
    assert rlenvs.make_batch(id, 1, control_hz=48).setup.horizon == 48 * seconds


# --- MultiHover -------------------------------------------------------------------------------------------------------


def test_multi_hover_original_goals_and_reward():
    made = batch(agents=3, level="original", weights={"goal": 0.0}, control_hz=240)
    _, s = made.records(0)
    np.testing.assert_allclose(s.goal[:, :2], s.position[:, :2])
    np.testing.assert_allclose(s.goal[:, 2], [1.1125, 0.6125, 0.1125 + 1 / 3], atol=1e-12)
    idle(made)
    np.testing.assert_allclose(made.rewards[0], [2 - 1, 2 - 0.5**4, 2 - 3.0**-4], atol=1e-9)


def test_multi_hover_terms_and_success_of_the_team():
    made, s = fleet(places=((0, 0, 1), (1, 0, 1), (0, 1.5, 1)), control_hz=240)
    s.goal[:] = s.position + [(0.09, 0, 0), (0, 0.5, 0), (0, -1.5, 0)]
    idle(made)
    hover = [2 - 0.09**4, 2 - 0.5**4, 0.0]
    np.testing.assert_allclose(told(made, "hover"), hover, atol=1e-9)
    np.testing.assert_allclose(told(made, "team"), np.mean(hover), atol=1e-9)
    np.testing.assert_allclose(told(made, "goal"), np.exp([-0.09, -0.5, -1.5]), atol=1e-9)
    np.testing.assert_allclose(told(made, "distance"), [-0.09, -0.5, -1.5], atol=1e-9)
    np.testing.assert_allclose(made.rewards[0], told(made, "hover") + told(made, "goal"))
    assert not made.success.any()
    s.goal[:] = s.position + (0.09, 0, 0)
    idle(made)
    assert made.success.all()
    s.goal[2, 0] += 0.02
    idle(made)
    assert not made.success.any()
    s.alive[2], s.lost[2] = False, True  # the mean is over those that fly
    idle(made)
    np.testing.assert_allclose(told(made, "team")[:2], 2 - 0.09**4, atol=1e-6)
    np.testing.assert_allclose(seen(made, 0, "to_goal"), (0.09, 0, 0), atol=1e-5)


# --- LeaderFollower ---------------------------------------------------------------------------------------------------


def test_leader_follower_terms_are_those_of_the_card():
    made = batch(LEADER_FOLLOWER, agents=3, level="original", control_hz=240)
    p, s = made.records(0)
    assert s.goal.tolist() == [0.0, 0.0, 0.5]
    s.position[:] = [(0, 0, 0.8), (1, 0, 0.5), (-1, 0, 1.0)]
    idle(made)
    np.testing.assert_allclose(told(made, "original"), [-(0.3**2), -(0.3**2) / 3, -(0.2**2) / 3], atol=1e-9)
    np.testing.assert_allclose(told(made, "leader"), [math.exp(-0.3), 0, 0], atol=1e-9)
    away = np.linalg.norm(s.position[0] + [*p.slot[1], 0.0] - s.position[1])
    assert told(made, "formation")[1] == pytest.approx(math.exp(-away), abs=1e-9)
    assert told(made, "formation")[0] == 0.0
    np.testing.assert_allclose(seen(made, 1, "leader_position"), s.position[0] - s.position[1], atol=1e-6)
    assert [seen(made, k, "leads")[0] for k in range(3)] == [1, 0, 0]


def test_when_the_leader_is_lost_the_first_of_the_others_leads():
    made, s = fleet(LEADER_FOLLOWER, places=((0, 0, 2.1), (0.5, 0, 1), (-0.5, 0, 1)))
    idle(made)
    idle(made)
    assert [seen(made, k, "leads")[0] for k in range(3)] == [0, 1, 0]
    assert told(made, "leader")[1] == pytest.approx(math.exp(-np.linalg.norm(s.goal - s.position[1])), abs=1e-9)
    assert told(made, "formation")[1] == 0.0
    assert told(made, "formation")[2] > 0.0


def test_leader_follower_success_is_all_in_place():
    made = batch(LEADER_FOLLOWER, agents=3, control_hz=240)
    p, s = made.records(0)
    for off, done in ((0.14, True), (0.16, False)):
        s.position[:, :2], s.position[:, 2] = s.goal[:2] + p.slot, s.goal[2]
        s.position[2, 2] += off
        idle(made)
        assert made.success[0].tolist() == [done] * 3


# --- Flock ------------------------------------------------------------------------------------------------------------


def test_flock_chain_is_that_of_the_card():
    made = batch(FLOCK, agents=3, level="original", control_hz=240)
    _, s = made.records(0)
    np.testing.assert_allclose(s.goal, (0, 0, 1), atol=1e-12)
    s.position[:] = [(0, 0, 0.8), (1, 0, 0.5), (-1, 0, 1.1)]
    idle(made)
    np.testing.assert_allclose(told(made, "chain"), [-(0.2**2), -(0.3**2), -(0.6**2)], atol=1e-9)
    np.testing.assert_allclose(told(made, "leader"), [math.exp(-0.2), 0, 0], atol=1e-9)
    np.testing.assert_allclose(s.goal, (0, 0, 1), atol=1e-12)


def test_flock_terms_of_reynolds():
    made, s = fleet(FLOCK, places=((0, 0, 1), (0.3, 0, 1), (0, 1, 1)), control_hz=240)
    s.velocity[1] = (0.4, 0.0, 0.0)
    idle(made)
    x, v = s.position.copy(), s.velocity.copy()
    for k, others in enumerate(([1, 2], [0, 2], [0, 1])):
        offset = np.linalg.norm(x[others].mean(axis=0) - x[k])
        speed = np.linalg.norm(v[others].mean(axis=0) - v[k])
        nearest = np.linalg.norm(x[others] - x[k], axis=1).min()
        assert told(made, "cohesion")[k] == pytest.approx(1 - offset / 2, abs=1e-9)
        assert told(made, "alignment")[k] == pytest.approx(1 - speed, abs=1e-9)
        assert told(made, "separation")[k] == pytest.approx(-max(0, 1 - nearest / 0.4), abs=1e-9)
    assert told(made, "separation")[2] == 0.0
    assert told(made, "separation")[0] < -0.2


def test_flock_goal_circles_at_its_speed():
    made = batch(FLOCK, agents=4, goal_speed=0.3)
    _, s = made.records(0)
    before = s.goal.copy()
    assert np.linalg.norm(before[:2]) == pytest.approx(0.8)
    assert before[2] == 1.0
    for _ in range(3):
        idle(made)
    assert np.linalg.norm(s.goal - before) == pytest.approx(0.03, rel=1e-3)
    assert np.linalg.norm(s.goal_velocity) == pytest.approx(0.3)
    assert np.linalg.norm(batch(FLOCK, agents=127).records(0)[1].goal[:2]) == pytest.approx(0.0, abs=1e-9)


def test_flock_success_is_a_flock():
    good = ((0, 0, 1), (0.5, 0, 1), (0, 0.5, 1))
    cases = (
        (good, 0.0, 0.24, True),
        (good, 0.0, 0.26, False),
        (good, 0.24, 0.0, True),
        (good, 0.26, 0.0, False),
        (((0, 0, 1), (0.19, 0, 1), (0, 0.5, 1)), 0.0, 0.0, False),
        (((0, 0, 1), (0.5, 0, 1), (0, 0.69, 1)), 0.0, 0.0, True),
        (((0, 0, 1), (0.5, 0, 1), (0, 0.71, 1)), 0.0, 0.0, False),
    )
    for places, speed, off, done in cases:
        made, s = fleet(FLOCK, places=places, control_hz=240, goal_speed=0.0, level="original")
        s.velocity[1, 2] = speed
        s.position[:, 2] -= off
        idle(made)
        assert made.success[0].tolist() == [done] * 3


@pytest.mark.parametrize(("spacing", "done"), [(0.47, True), (0.476, False)])
def test_flock_success_needs_all_near_the_middle_of_the_others(spacing, done):
    """Five in a line: 2.5 spacings from the middle of the others for the last, 0.4 + 0.35 sqrt(5) m allowed."""
    places = [(spacing * x, 0, 1) for x in (0, -2, -1, 1, 2)]
    made, _ = fleet(FLOCK, places=places, control_hz=240, level="original")
    idle(made)
    assert made.success[0].tolist() == [done] * 5


# --- Meetup -----------------------------------------------------------------------------------------------------------


def test_meetup_terms_pairs_and_the_one_in_the_middle():
    made, s = fleet(MEETUP, places=((0, 0, 1), (1, 0, 1), (0, 1, 1), (1, 0.5, 1), (0, -0.8, 1)), control_hz=240)
    s.home[2] = s.position[2] + (0.2, 0, 0)
    idle(made)
    d = np.array([0.8, 0.5, 0.2, 0.5, 0.8])
    np.testing.assert_allclose(told(made, "original"), -(d**2), atol=1e-9)
    np.testing.assert_allclose(told(made, "meet"), np.exp(-np.abs(d - [0.35, 0.35, 0, 0.35, 0.35])), atol=1e-9)
    np.testing.assert_allclose(seen(made, 0, "partner_position"), s.position[4] - s.position[0], atol=1e-6)
    np.testing.assert_allclose(seen(made, 2, "partner_position"), s.home[2] - s.position[2], atol=1e-6)
    s.alive[4], s.lost[4] = False, True
    idle(made)
    assert told(made, "meet")[0] == 0.0
    np.testing.assert_allclose(seen(made, 0, "partner_position"), 0.0, atol=1e-7)


@pytest.mark.parametrize(
    ("apart", "off", "done"),
    [(0.19, 0, False), (0.21, 0, True), (0.49, 0, True), (0.51, 0, False), (0.3, 0.14, True), (0.3, 0.16, False)],
)
def test_meetup_success_is_a_band_of_distances(apart, off, done):
    made, s = fleet(MEETUP, places=((0, 0, 1), (1, 1, 1), (apart, 0, 1)), control_hz=240)
    s.home[1] = s.position[1] + (0, 0, off)
    idle(made)
    assert made.success[0].tolist() == [done] * 3


# --- experts ----------------------------------------------------------------------------------------------------------


def successes(made, policy="expert"):
    """Which worlds end their first episode with success."""
    worlds = made.num_envs
    generator, done, success = np.random.default_rng(0), np.zeros(worlds, bool), np.zeros(worlds, bool)
    for _ in range(made.setup.horizon):
        if policy == "expert":
            made.expert_actions()
        else:
            made.load_actions(generator.uniform(-1, 1, made.actions.shape))
        made.step_inplace()
        success = np.where(done, success, made.success.any(axis=1))
        done |= made.over
    return success


@pytest.mark.parametrize("id", TASKS)
def test_experts_bring_teams_home_and_random_does_not(id):
    for agents in (2, 5, 10):
        assert successes(batch(id, 30, "numba", agents=agents)).mean() >= 0.9
    assert successes(batch(id, 30, "numba", agents=4), "random").mean() <= 0.05


def test_module_constants_are_the_originals():
    assert (formation.ROOM, formation.CEILING, formation.ORIGINAL_HEIGHT) == (2.0, 2.0, 0.1125)
