"""RallyRacer: FastRLAP's numbers, its recovery machine, relabelling and camera, and its own promises."""

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st
from support.batches import begun

import rlenvs
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.tracks.road import body_gap, nearest_cell, place
from rlenvs.kits.vehicles.single_track import SLIP, SPEED, STEER, YAW, YAW_RATE
from rlenvs.robotics.racing import rally_camera, rally_motion, rally_racer
from rlenvs.robotics.racing.rally_racer import LEARNING, RECOVERY

ID = "RallyRacer-v0"
WORLD = world_of(f"rlenvs/{ID}")
OWN_PARAMETERS = {
    "friction": (0.5, 2.0),
    "mass": (3.0, 7.0),
    "switch_speed": (3.0, 15.0),
    "inertia": (0.05, 0.12),
    "max_steer": (0.3, 0.5),
    "top_speed": (4.5, 8.0),
    "reverse_speed": (1.0, 4.0),
    "radius": (0.3, 3.0),
    "bounce": (0.0, 0.5),
    "wall_friction": (0.0, 1.0),
    "crash_acceleration": (5.0, 60.0),
    "recovery_time": (0.5, 2.0),
    "hills": (0.0, 0.2),
    "loosest": (0.1, 0.6),
}
FAST = (4.5 - 2.5) / 2.0


batch_of = partial(begun, ID, autoreset=AutoresetMode.DISABLED)


def flat(**keywords):
    """A batch of one on level ground."""
    return batch_of(hills=0.0, **keywords)


def act(batch, steering, speed):
    batch.step(np.array([[[steering, speed]]], np.float32))


def put(batch, progress, turned=0.0, speed=0.0, offset=0.0):
    """Put the car of a batch of one on clean ground."""
    p, s = batch.records(0)[:2]
    s.patches[:] = 0.0
    x, y, heading = place(p.road, progress, offset)
    s.car[:] = (x, y, 0.0, speed, heading + turned, 0.0, 0.0)
    s.cell, s.progress, s.offset = nearest_cell(p.road, x, y), progress, offset
    return p, s


def gap_of(p, s):
    c, sn = math.cos(s.car[YAW]), math.sin(s.car[YAW])
    return body_gap(p.road, int(s.cell), float(s.car[0]), float(s.car[1]), c, sn, p.body)


# --- numbers ----------------------------------------------------------------------------------------------------------


def test_numbers_of_the_simulator():
    values = {name: part.default for name, part in WORLD.params.items()}
    assert values["mass"] == pytest.approx(3.54 + 4 * 0.499)
    assert values["max_steer"] == 0.38
    assert values["friction"] == 2.0
    assert rlenvs.make(ID).spec.max_episode_steps == 5000
    assert WORLD.fps == 20  # 0.05 s
    assert pytest.approx(0.005) == 0.05 / (rally_racer.LOOKS * rally_motion.PARTS)
    assert (rally_racer.LONG, rally_racer.MOVED) == (500, 1.0)
    assert (rally_racer.POSITIONS, rally_racer.WITHIN) == (30, 0.3)  # of the real car's machine
    assert [WORLD.terms[name].weight for name in ("velocity", "reached", "stuck")] == [1.0, 100.0, 100.0]
    radius = WORLD.params["radius"]
    assert (radius.low, radius.high) == (0.3, 3.0)  # of the simulator, and of the real courses


def test_commands_are_those_of_the_real_car():
    batch = flat()
    for command, speed in ((1.0, 4.5), (0.0, 2.5), (-1.0, 0.5)):
        _p, s = put(batch, 1.0, speed=speed)
        act(batch, 0.0, command)
        assert s.car[SPEED] == pytest.approx(speed, abs=0.02)
    _p, s = put(batch, 1.0, speed=0.5)
    before = float(s.car[YAW])
    for _ in range(5):
        act(batch, 1.0, -1.0)
    assert s.car[STEER] == pytest.approx(0.38)
    assert s.car[YAW] > before + 0.01  # to the left


def test_reward_is_the_velocity_towards_the_checkpoint_and_100_once_it_is_reached():
    batch = flat()
    p, s = put(batch, 0.5, speed=4.5)
    s.goal, s.arrived = 1, 0
    seen = []
    for _ in range(40):
        goal, x, y = int(s.goal), float(s.car[0]), float(s.car[1])
        batch.step(batch.expert_actions())
        goal = int(s.goal)
        dx, dy = p.places[goal, 0] - s.car[0], p.places[goal, 1] - s.car[1]
        away = math.hypot(dx, dy)
        vx, vy = (float(s.car[0]) - x) / 0.05, (float(s.car[1]) - y) / 0.05
        paid = batch.rewards[0, 0] - (100.0 if away < 1.0 else 0.0)
        assert paid == pytest.approx((vx * dx + vy * dy) / away, abs=0.4)
        seen.append((goal, away < 1.0))
        if seen[-1][1]:
            break
    assert seen[-1] == (1, True)
    batch.step(batch.expert_actions())
    assert s.goal == 2
    assert s.reached == 1
    assert batch.rewards[0, 0] < 10.0


def test_success_is_five_laps():
    for reached, success in [(11, False), (58, False), (59, True)]:
        batch = flat()
        p, s = put(batch, 0.5)
        s.goal, s.arrived, s.reached = 1, 0, reached
        s.car[:2] = p.places[1]
        act(batch, 0.0, -1.0)
        assert (s.reached, bool(batch.success[0, 0])) == (reached + 1, success)


def test_starts_are_at_checkpoints_along_the_road():
    batch = batch_of(100)
    first = set()
    for i in range(100):
        p, s = batch.records(i)[:2]
        n = (int(s.goal) - 1) % 12
        first.add(n)
        assert np.hypot(*(s.car[:2] - p.places[n])) < 0.29
        heading = place(p.road, float(s.progress), 0.0)[2]
        assert abs(math.remainder(float(s.car[YAW]) - heading, 2.0 * math.pi)) < 0.35
        assert s.car[SPEED] == 0.0
        assert ((s.patches[:, 4] >= 0.25) & (s.patches[:, 4] <= 0.6)).all()
    assert len(first) == 12


def test_gravity_pulls_down_the_slope_of_the_waves():
    batch = batch_of(hills=0.2)
    p, s = put(batch, 12.0)

    def ground(x, y):
        return 0.2 * rally_camera.height(s.waves, x, y)

    rally_motion.note_slope(p, s)
    x, y, c, sn = *map(float, s.car[:2]), math.cos(s.car[YAW]), math.sin(s.car[YAW])
    step = 1e-5
    assert s.slope[0] == pytest.approx((ground(x + c * step, y + sn * step) - ground(x, y)) / step, abs=1e-4)
    assert s.slope[1] == pytest.approx((ground(x - sn * step, y + c * step) - ground(x, y)) / step, abs=1e-4)
    s.car[SPEED], s.car[SLIP] = 3.0, 0.1
    before = s.car[SPEED] * np.array([math.cos(0.1), math.sin(0.1)])
    rally_motion.roll_down(p, s, 0.01)
    after = s.car[SPEED] * np.array([math.cos(s.car[SLIP]), math.sin(s.car[SLIP])])
    assert after - before == pytest.approx(-9.81 * 0.01 * s.slope, abs=1e-12)
    numbers = np.hypot(s.waves[:, 0], s.waves[:, 1])
    assert (2.0 * math.pi / numbers >= 5.0).all()
    assert (2.0 * math.pi / numbers <= 12.0).all()


# --- practising without resets ----------------------------------------------------------------------------------------


def test_a_crash_begins_a_second_of_recovery_that_backs_the_car_off():
    batch = flat()
    p, s = put(batch, 1.0, turned=0.9, speed=4.0)
    for _ in range(20):
        act(batch, 0.0, FAST)
        if s.crashes:
            break
    assert s.crashes == 1
    assert s.mode == RECOVERY
    assert s.recoveries == 1
    assert batch.costs.sum() == 1.0
    assert not s.over
    x, y, heading = float(s.car[0]), float(s.car[1]), float(s.car[YAW])
    steer = float(s.back_steer)
    assert -1.0 <= steer <= 1.0
    for n in range(20):
        assert s.mode == RECOVERY, n
        act(batch, 0.5, 1.0)  # has no effect
    assert s.mode == LEARNING
    assert (float(s.car[0]) - x) * math.cos(heading) + (float(s.car[1]) - y) * math.sin(heading) < -0.1
    assert s.car[STEER] == pytest.approx(0.38 * steer, abs=0.02)
    assert gap_of(p, s) >= 0.0


@pytest.mark.parametrize("side", [1, -1])
def test_a_graze_keeps_the_velocity_along_the_wall_and_is_no_crash(side):
    batch = flat(course="oval")
    _p, s = put(batch, 1.0, turned=side * math.radians(5.0), speed=4.0, offset=0.88 * side)
    speeds = []
    for _ in range(10):  # on a straight, 0.35 m/s across
        act(batch, 0.0, 0.75)
        speeds.append(float(s.car[SPEED]))
    assert 3.7 < min(speeds) < 3.99  # what friction takes
    assert abs(s.offset) < 1.0
    assert abs(s.car[YAW] + s.car[SLIP]) < 0.05
    assert s.crashes == 0
    assert s.recoveries == 0


@pytest.mark.budget(6)
@given(
    speed=st.floats(0.5, 5.0),
    slip=st.floats(-3.0, 3.0),
    turn=st.floats(-5.0, 5.0),
    along=st.floats(-0.22, 0.22),
    left=st.floats(-0.13, 0.13),
    way=st.floats(-3.0, 3.0),
)
@settings(max_examples=200, deadline=None)
def test_impulses_of_walls_are_newtons_and_coulombs(speed, slip, turn, along, left, way):
    p, s = flat(backend="python").records(0)[:2]
    c, sn = math.cos(way), math.sin(way)

    def at_the_point(u, v, turn):  # across the wall, and along it
        u, v = u - turn * left, v + turn * along
        return u * c + v * sn, v * c - u * sn

    before = np.array([speed * math.cos(slip), speed * math.sin(slip), turn])
    s.car[:] = (0.0, 0.0, 0.0, speed, 0.0, turn, slip)
    hit = rally_motion.bounce_off(p, s.car, along, left, c, sn)
    size = s.car[SPEED]
    after = np.array([size * math.cos(s.car[SLIP]), size * math.sin(s.car[SLIP]), s.car[YAW_RATE]])
    assert hit == pytest.approx(max(0.0, -at_the_point(*before)[0]))
    gain = p.mass * (after - before)[:2]
    push, rub = gain @ (c, sn), gain @ (-sn, c)
    assert push >= -1e-9
    assert abs(rub) <= 0.3 * push + 1e-9
    assert p.inertia * (after - before)[2] == pytest.approx(along * gain[1] - left * gain[0], abs=1e-9)
    energy = [0.5 * (p.mass * (u * u + v * v) + p.inertia * w * w) for u, v, w in (before, after)]
    assert energy[1] <= energy[0] + 1e-9
    if abs(rub) < 1e-9:
        assert at_the_point(*after)[0] == pytest.approx(0.2 * hit if hit else at_the_point(*before)[0], abs=1e-9)


def test_thirty_positions_within_30_cm_are_stuck():
    batch = flat(crash_acceleration=60.0)
    _p, s = put(batch, 1.0, turned=1.5)
    modes = []
    for _ in range(80):
        act(batch, 0.0, -1.0)  # 0.5 m/s against the boards: never a crash
        modes.append(int(s.mode))
        if s.mode == RECOVERY:
            break
    assert s.crashes == 0
    assert s.recoveries == 1
    assert len(modes) >= 30
    assert s.filled == 0


def test_what_hardly_moves_for_500_steps_pays_100_and_may_end():
    for ends in ("never", "stuck"):
        batch = flat(ends=ends, recovery_time=0.5)
        _p, s = put(batch, 1.0)
        s.trail[:] = s.car[:2]
        s.trodden = 499
        act(batch, 0.0, -1.0)
        assert batch.rewards[0, 0] < -99.0
        assert bool(s.over) is (ends == "stuck")
        again = flat(ends=ends)
        _p, s = put(again, 1.0)
        s.trail[:] = s.car[:2] + np.array([1.1, 0.0])
        s.trodden = 499
        act(again, 0.0, -1.0)
        assert again.rewards[0, 0] > -10.0


@pytest.mark.parametrize("keywords", [{}, {"course": "oval"}, {"level": "twisty"}, {"level": "gravel"}])
def test_the_expert_drives_laps_without_contact_and_random_crashes(keywords):
    count = 60 if not keywords else 16
    env = rlenvs.make_vec(ID, count, **keywords)
    env.reset(seed=0)
    for _ in range(500):
        *_, infos = env.step(env.expert_actions())
    crashes = np.array([env.batch.records(i)[1].crashes for i in range(count)])
    reached = np.array([env.batch.records(i)[1].reached for i in range(count)])
    assert ((reached >= 12) & (crashes == 0)).mean() >= 0.98
    if not keywords:
        env.reset(seed=0)
        rng = np.random.default_rng(0)
        for _ in range(400):
            *_, infos = env.step(rng.uniform(-1.0, 1.0, (count, 2)).astype(np.float32))
        assert min(env.batch.records(i)[1].crashes for i in range(count)) >= 1
        assert not infos["is_success"].any()


def test_no_car_exceeds_the_bound():
    values = {name: part.default for name, part in WORLD.params.items()}
    bound = rally_racer.bound(SimpleNamespace(course="club", **values))
    assert WORLD.scores["bound"].mean == pytest.approx(bound, rel=1e-4)
    assert WORLD.scores["expert"].mean < bound


# --- hindsight and camera ---------------------------------------------------------------------------------------------


def test_goals_can_be_relabelled():
    env = rlenvs.make(ID, form="goal")
    observation, _ = env.reset(seed=3)
    assert set(observation) == {"observation", "achieved_goal", "desired_goal"}
    assert observation["observation"].shape == (16,)  # neither bearing nor distance of the goal
    for _ in range(60):
        observation, reward, *_, info = env.step(env.unwrapped.expert_action())
        again = env.unwrapped.compute_reward(observation["achieved_goal"], observation["desired_goal"], info)
        assert again == pytest.approx(reward, abs=1e-4)
    here = observation["achieved_goal"]
    assert env.unwrapped.compute_reward(here, here, info) == pytest.approx(100.0, abs=0.1)
    ahead = here.copy()
    ahead[:2] += 2.0 * here[2:] / np.hypot(*here[2:])
    assert env.unwrapped.compute_reward(here, ahead, info) == pytest.approx(np.hypot(*here[2:]), rel=1e-3)


def test_random_goals_are_drawn_as_the_original_does():
    rng = np.random.default_rng(0)
    headings = rng.uniform(-3.0, 3.0, 40_000)
    goals = rally_racer.random_goals(np.zeros((40_000, 2)), headings, rng)
    assert goals.shape == (40_000, 4)
    assert not goals[:, 2:].any()
    along = goals[:, 0] * np.cos(headings) + goals[:, 1] * np.sin(headings)
    assert along.mean() == pytest.approx(2.5 * math.exp(-0.5), abs=0.03)  # mean of cos of N(0, 1)
    assert (goals**2).sum(axis=1).mean() == pytest.approx(2.5**2 + 1.5**2, rel=0.02)


def test_the_camera_sees_boards_ground_patches_and_sky():
    env = rlenvs.make(ID, camera="rgb")
    assert env.observation_space["camera"].shape == (64, 128, 3)
    assert env.observation_space["camera"].dtype == np.uint8
    observation, _ = env.reset(seed=1)
    first = observation["camera"]
    assert (first[0] == rally_camera.SKY).all()
    assert not (first[-1] == rally_camera.SKY).all(axis=1).any()
    red = (first[..., 0] > 1.8 * first[..., 1].astype(int)).mean()
    assert 0.05 < red < 0.6
    batch = batch_of(camera="rgb")
    _p, s = put(batch, 10.0)
    act(batch, 0.0, -1.0)
    plain = batch.images["camera"][0].copy() if isinstance(batch.images, dict) else None
    if plain is not None:
        s.patches[0] = (8.0, 10.0, -2.0, 2.0, 0.3)
        act(batch, 0.0, -1.0)
        assert batch.images["camera"][0][-1].mean() > plain[-1].mean() + 20.0


# --- whatever is done -------------------------------------------------------------------------------------------------

PARAMS = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from([part.low, part.high]) for name, part in WORLD.params.items()}
)


@settings(max_examples=20, deadline=None)
@given(keywords=PARAMS, seed=st.integers(0, 2**31 - 200), course=st.sampled_from(rally_racer.COURSES))
def test_whatever_is_done_stays_finite_and_between_the_boards(keywords, seed, course):
    env = rlenvs.make_vec(ID, 4, course=course, **keywords)
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    for t in range(100):
        actions = rng.uniform(-1.0, 1.0, (4, 2)).astype(np.float32)
        observations, rewards, _, _, infos = env.step(np.sign(actions) if t > 50 else actions)
        assert env.observation_space.contains(observations)
        assert np.isfinite(rewards).all()
        assert "simulation_error" not in infos
    for i in range(4):
        p, s = env.batch.records(i)[:2]
        assert gap_of(p, s) >= -1e-9


def test_what_is_beyond_the_tyres_is_refused():
    for bad in ({"friction": 3.0}, {"top_speed": 40.0}, {"mass": math.nan}, {"radius": 0.0}):
        with pytest.raises(ParameterError, match=next(iter(bad))):
            rlenvs.make(ID, **bad)


def test_defaults_are_fastrlaps_and_f1tenths():
    numbers = {
        "switch_speed": 7.319,
        "mass": 3.54 + 4 * 0.499,
        "inertia": 0.0697,
        "radius": 1.0,
        "bounce": 0.2,
        "wall_friction": 0.3,
        "crash_acceleration": 20.0,
        "recovery_time": 1.0,
        "hills": 0.1,
        "loosest": 0.25,
    }
    assert {name: WORLD.params[name].default for name in numbers} == pytest.approx(numbers)


def test_numbers_that_drives_do_not_show():
    """Ranges, body, camera and driver, each as its source or the world's page has it."""
    ranges = {name: (WORLD.params[name].low, WORLD.params[name].high) for name in OWN_PARAMETERS}
    assert ranges == OWN_PARAMETERS
    assert (rally_racer.FRONT, rally_racer.REAR, rally_racer.HALF) == (0.22, 0.22, 0.13)
    assert (rally_racer.WIDTH, rally_motion.CELLS, rally_racer.CHECKPOINTS) == (2.2, 256, 12)
    assert (rally_racer.PATCHES, rally_motion.WAVES, rally_racer.SHORTEST, rally_racer.LONGEST) == (6, 3, 5.0, 12.0)
    assert (rally_racer.MIDDLE_SPEED, rally_racer.HALF_RANGE, rally_racer.BACK_SPEED) == (2.5, 2.0, 1.0)
    assert rally_racer.BEYOND == 30.0
    assert (rally_camera.ROWS_OF_IMAGE, rally_camera.COLUMNS_OF_IMAGE) == (64, 128)
    assert pytest.approx(math.pi / 2.0) == rally_camera.VIEW
    assert (rally_camera.HEIGHT, rally_camera.BOARD, rally_camera.FARTHEST) == (0.2, 0.35, 30.0)
    assert WORLD.costs["crash"].limit == 5.0
    assert WORLD.levels == {"gravel": {"friction": 1.0, "loosest": 0.2}, "twisty": {"course": "twisty"}}
