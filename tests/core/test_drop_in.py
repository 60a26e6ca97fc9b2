"""Names of the originals: keywords, attributes, options of resets, thresholds, beside Gymnasium's own environments."""

import importlib
import inspect
import math

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.envs.registration import EnvSpec, load_env_creator
from support import without_imageio  # noqa: F401 (for Gymnasium)
from toys import linear_plants

import rlenvs
from rlenvs.core import drop_in, instead, meaning, only, same_as, value_of, view
from rlenvs.core.catalogue.docs import page
from rlenvs.core.catalogue.registry import catalogue, world_of
from rlenvs.core.declare.errors import ParameterError, UnknownKeywordError
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.values import horizon_of
from rlenvs.core.forms.gym_env import Env
from rlenvs.core.forms.parallel_env import ParallelEnv
from rlenvs.core.forms.vector_env import VectorEnv

ORIGINALS = {
    "Acrobot-v0": "Acrobot-v1",
    "Ant-v0": "Ant-v5",
    "BipedalWalker-v0": "BipedalWalker-v3",
    "BipedalWalkerHardcore-v0": "BipedalWalkerHardcore-v3",
    "Blackjack-v0": "Blackjack-v1",
    "CarRacing-v0": "CarRacing-v3",
    "CartPole-v0": "CartPole-v1",
    "CliffWalking-v0": "CliffWalking-v1",
    "FrozenLake-v0": "FrozenLake-v1",
    "FrozenLake8x8-v0": "FrozenLake8x8-v1",
    "HalfCheetah-v0": "HalfCheetah-v5",
    "Hopper-v0": "Hopper-v5",
    "Humanoid-v0": "Humanoid-v5",
    "HumanoidStandup-v0": "HumanoidStandup-v5",
    "InvertedDoublePendulum-v0": "InvertedDoublePendulum-v5",
    "InvertedPendulum-v0": "InvertedPendulum-v5",
    "LunarLander-v0": "LunarLander-v3",
    "LunarLanderContinuous-v0": "LunarLanderContinuous-v3",
    "MountainCar-v0": "MountainCar-v0",
    "MountainCarContinuous-v0": "MountainCarContinuous-v0",
    "Pendulum-v0": "Pendulum-v1",
    "Pusher-v0": "Pusher-v5",
    "Reacher-v0": "Reacher-v5",
    "Swimmer-v0": "Swimmer-v5",
    "Taxi-v0": "Taxi-v4",
    "Walker2d-v0": "Walker2d-v5",
}
OF_ALL_FORMS = {"self", "render_mode", "kwargs"}
NEVER = {"xml_file", "default_camera_config"}  # there is nothing in their place


def signature_of(id):
    """The keywords of Gymnasium's environment, with the values that it is registered with."""
    spec = gymnasium.spec(id)
    try:
        creator = load_env_creator(spec.entry_point)
    except gymnasium.error.DependencyNotInstalled as error:
        pytest.skip(str(error))
    keywords = inspect.signature(creator.__init__).parameters
    return {name: spec.kwargs.get(name, p.default) for name, p in keywords.items() if name not in OF_ALL_FORMS}


@pytest.mark.parametrize("id", ORIGINALS)
def test_keywords_at_their_defaults_change_nothing(id):
    world = world_of(id)
    keywords = {name: value for name, value in signature_of(ORIGINALS[id]).items() if name not in NEVER}
    made, usual = Setup(world, **keywords), Setup(world)
    assert made.horizon == usual.horizon
    assert made.weights.tolist() == usual.weights.tolist()
    assert made.action_space == usual.action_space
    assert made.observation_space == usual.observation_space
    assert vars(made.values) == {
        **vars(usual.values),
        **{name: vars(made.values)[name] for name in ("desc",) if name in keywords},
    }


@pytest.mark.parametrize("id", ORIGINALS)
def test_thresholds_are_those_of_gymnasium(id):
    assert gymnasium.spec(f"rlenvs/{id}").reward_threshold == gymnasium.spec(ORIGINALS[id]).reward_threshold
    assert world_of(id).reward_threshold == gymnasium.spec(ORIGINALS[id]).reward_threshold


def test_no_other_environment_has_a_threshold():
    known = {*ORIGINALS, "CarRacingDiscrete-v0"}  # Gymnasium's CarRacing with continuous=False
    others = [row for id, row in catalogue.items() if id.removeprefix("rlenvs/") not in known]
    assert [row.id for row in others if row.reward_threshold is not None] == []


@pytest.mark.parametrize(
    ("id", "module"),
    [
        ("MultiWalker-v0", "pettingzoo.sisl.multiwalker.multiwalker_base:MultiWalkerEnv"),
        ("Pistonball-v0", "pettingzoo.butterfly.pistonball.pistonball:raw_env"),
    ],
)
def test_keywords_of_pettingzoo_at_their_defaults_change_nothing(id, module):
    home, _, name = module.partition(":")
    try:
        original = getattr(importlib.import_module(home), name)
    except ImportError as error:
        pytest.skip(str(error))
    names = inspect.signature(original.__init__).parameters.items()
    keywords = {name: p.default for name, p in names if name not in OF_ALL_FORMS}
    made, usual = Setup(world_of(id), **keywords), Setup(world_of(id))
    assert (made.horizon, made.weights.tolist()) == (usual.horizon, pytest.approx(usual.weights.tolist()))
    assert vars(made.values) == vars(usual.values)


def test_names_do_not_hide_what_forms_have():
    single, several = ({name for form in forms for name in dir(form)} for forms in ((Env, VectorEnv), (ParallelEnv,)))
    for id in {row.id for row in catalogue.values()}:
        world = world_of(id)
        taken = single | (several if world.agents else set())
        assert not set(world.drop_in.views) & taken, id


# --- the mechanism ----------------------------------------------------------------------------------------------------

KIND = linear_plants.KIND
PARAM, TERM = next(iter(KIND.params)), next(iter(KIND.terms))


@pytest.fixture
def plant():
    low = KIND.params[PARAM].low
    return KIND.member(
        "Renamed-v0",
        "A plant whose names are another package's.",
        drop_in=drop_in(
            {
                "old": same_as(PARAM),
                "pay": same_as(TERM),
                "both": meaning("twice", lambda value: {PARAM: low + value, TERM: value}),
                "span": same_as(PARAM, TERM),
                "fixed": only((1, 2), "there is no other"),
                "gone": instead("write new code"),
                "seconds": meaning("`horizon`", lambda value: {"horizon": 10 * value}),
            },
            {
                "place": view(lambda setup, p, s: np.zeros(3), "zeros"),
                "lost": instead("look elsewhere"),
                "was": value_of(PARAM),
            },
            {"first": [PARAM]},
        ),
    )


def test_keywords_are_translated(plant):
    usual, value = KIND.params[PARAM].default, KIND.params[PARAM].high
    assert vars(Setup(plant, old=value).values)[PARAM] == value
    assert Setup(plant, pay=3.0).weights[0] == 3.0
    assert Setup(plant, pay=3.0, fixed=[1, 2]).values == Setup(plant).values
    both = Setup(plant, span=(value, 2.5))
    assert (vars(both.values)[PARAM], both.weights[0]) == (value, 2.5)
    assert vars(Setup(plant).values)[PARAM] == usual
    assert Setup(plant, seconds=4).horizon == 40 == horizon_of(plant, {"seconds": 4})
    assert Setup(plant, seconds=4, horizon=3).horizon == 3 == horizon_of(plant, {"seconds": 4, "max_cycles": 3})


@pytest.mark.parametrize(
    ("keywords", "error", "said"),
    [
        ({"gone": 1}, UnknownKeywordError, "write new code"),
        ({"fixed": (1, 3)}, ParameterError, "there is no other"),
        ({"fixed": "no"}, ParameterError, "there is no other"),
        ({"span": (1.0,)}, ParameterError, "needed: 2 values"),
        ({"span": 1.0}, ParameterError, "span=1.0"),
        ({"old": 1e99}, ParameterError, r"old=1e\+99.*outside its range"),
        ({"old": KIND.params[PARAM].high, PARAM: KIND.params[PARAM].high}, ParameterError, "have the same meaning"),
        ({"pay": 1.0, "weights": {TERM: 1.0}}, ParameterError, "have the same meaning"),
        ({"pay": 1.0, "both": 0.1}, ParameterError, "have the same meaning"),
        ({"olld": 1.0}, UnknownKeywordError, "old"),
    ],
)
def test_wrong_keywords_say_what_to_write(plant, keywords, error, said):
    with pytest.raises(error, match=said):
        Setup(plant, **keywords)


def test_a_level_with_other_terms_refuses_weights_under_old_names():
    with pytest.raises(ParameterError, match="weights"):
        Setup(world_of("Hopper-v0"), level="mo-gymnasium", ctrl_cost_weight=1.0)


def test_attributes_are_read_only(plant):
    env = Env(plant, backend="python")
    env.reset(seed=0)
    assert env.was == env.batch.get_params()[PARAM] == getattr(env, PARAM)
    with pytest.raises(ValueError, match="read-only"):
        env.place[0] = 1.0
    with pytest.raises(AttributeError, match="can only be read"):
        env.place = 1.0
    with pytest.raises(AttributeError, match="look elsewhere"):
        _ = env.lost
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = env.nothing
    assert not hasattr(env, "lost")


def test_parameters_can_be_assigned_to(plant):
    env, high = Env(plant, backend="python"), KIND.params[PARAM].high
    env.reset(seed=0)
    setattr(env, PARAM, high)
    assert env.batch.get_params()[PARAM] == high
    with pytest.raises(ParameterError, match="outside its range"):
        setattr(env, PARAM, 2.0 * abs(high) + 1.0)


def test_starts_hold_for_one_reset(plant):
    env, high = Env(plant, backend="python"), KIND.params[PARAM].high
    before = env.batch.get_params()
    env.reset(seed=0, options={"first": high})
    assert env.batch.get_params() == before
    with pytest.raises(ParameterError, match="it supports 'params' and 'first'"):
        env.reset(options={"second": high})


@pytest.mark.parametrize(
    "named",
    [drop_in({PARAM: same_as(TERM)}), drop_in(starts={"low": ["no parameter"]})],
    ids=["own keyword", "no parameter"],
)
def test_declarations_are_looked_at(named):
    with pytest.raises(ParameterError, match="drop_in"):
        KIND.member("Wrong-v0", "A plant with wrong names.", drop_in=named)


def test_pages_list_the_names(plant):
    text = page(plant)
    for name in ("`old`", f"the weight of `{TERM}`", "write new code", "`first`", "`place`", "look elsewhere"):
        assert name in text


# --- beside Gymnasium's environments ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "options", "low", "high"),
    [
        ("CartPole-v0", {"low": 0.15, "high": 0.2}, 0.15, 0.2),
        ("Acrobot-v0", {"low": -0.2, "high": -0.15}, -0.2, -0.15),
        ("MountainCar-v0", {"low": 0.3, "high": 0.5}, [0.3, 0.0], [0.5, 0.0]),
        ("MountainCarContinuous-v0", {"low": -0.7, "high": -0.5}, [-0.7, 0.0], [-0.5, 0.0]),
        ("Pendulum-v0", {"x_init": 0.1, "y_init": 0.2}, [-0.1, -0.2], [0.1, 0.2]),
    ],
)
@pytest.mark.parametrize("theirs", [True, False], ids=["original", "rlenvs"])
def test_starts_are_those_of_the_original(id, options, low, high, theirs):
    env = gymnasium.make(ORIGINALS[id] if theirs else f"rlenvs/{id}")
    for seed in range(5):
        env.reset(seed=seed, options=options)
        state = np.asarray(env.unwrapped.state)
        assert ((np.float32(low) <= state + 1e-6) & (state - 1e-6 <= np.float32(high))).all()
    env.reset(seed=0)
    usual = np.asarray(env.unwrapped.state)
    env.reset(seed=0, options=options)
    assert not np.array_equal(env.unwrapped.state, usual)
    env.reset(seed=0)
    assert np.array_equal(env.unwrapped.state, usual)


def test_vector_starts_are_those_of_some_worlds():
    envs = rlenvs.make_vec("CartPole-v0", 3)
    envs.reset(seed=0)
    before = envs.get_attr("state")
    envs.reset(options={"low": 0.2, "high": 0.2, "reset_mask": np.array([True, False, True])})
    after = envs.get_attr("state")
    assert np.array_equal(after[0], [0.2] * 4)
    assert np.array_equal(after[1], before[1])
    assert envs.get_attr("initial_state_lower") == (-0.05,) * 3


TABLES = [
    ("FrozenLake-v0", {}),
    ("FrozenLake-v0", {"is_slippery": False, "map_name": "8x8"}),
    ("FrozenLake8x8-v0", {"success_rate": 0.5}),
    ("CliffWalking-v0", {"is_slippery": True}),
    ("Taxi-v0", {"is_rainy": True}),
]


def outcomes(listed):
    found = {}
    for probability, state, reward, end in listed:
        key = int(state), float(reward), bool(end)
        found[key] = round(found.get(key, 0.0) + probability, 9)
    return found


@pytest.mark.parametrize(("id", "keywords"), TABLES)
def test_tables_are_those_of_the_original(id, keywords):
    ours = gymnasium.make(f"rlenvs/{id}", **keywords).unwrapped
    theirs = gymnasium.make(ORIGINALS[id], **keywords).unwrapped
    reached, new = set(), set(np.flatnonzero(theirs.initial_state_distrib).tolist())
    while new:  # the original fills states that nobody comes to, and those behind the end
        state = new.pop()
        reached.add(state)
        for action in theirs.P[state]:
            assert outcomes(ours.P[state][action]) == outcomes(theirs.P[state][action])
            new |= {int(to) for _, to, _, end in theirs.P[state][action] if not end} - reached
    assert np.allclose(ours.initial_state_distrib, theirs.initial_state_distrib)
    for name in ("desc", "shape", "start_state_index", "nrow", "ncol", "locs"):
        assert hasattr(ours, name) == hasattr(theirs, name), name
        assert np.array_equal(getattr(ours, name, None), getattr(theirs, name, None)), name
    with pytest.raises(TypeError):
        ours.P[0][0] = []


def test_taxi_is_decoded_as_in_the_original():
    ours, theirs = gymnasium.make("rlenvs/Taxi-v0").unwrapped, gymnasium.make("Taxi-v4").unwrapped
    for state in range(500):
        assert ours.decode(state) == theirs.decode(state)
        assert ours.encode(*ours.decode(state)) == state
        assert np.array_equal(ours.action_mask(state), theirs.action_mask(state))
    observation, _ = ours.reset(seed=0)
    assert ours.s == observation


def test_blackjack_has_the_tuple_of_the_original():
    ours, theirs = gymnasium.make("rlenvs/Blackjack-v0", encoding="tuple"), gymnasium.make("Blackjack-v1")
    assert ours.observation_space == theirs.observation_space
    for seed in range(20):
        total, card, ace = ours.reset(seed=seed)[0]
        assert (total, card, ace) in ours.observation_space
        assert 4 <= total <= 21 and 1 <= card <= 10 and not (ace and total < 12)  # noqa: PT018 (one hand)
    envs = rlenvs.make_vec("Blackjack-v0", 3, encoding="tuple")
    several, _ = envs.reset(seed=7)
    assert several in envs.observation_space
    alone = [rlenvs.make("Blackjack-v0", encoding="tuple").reset(seed=7 + i)[0] for i in range(3)]
    assert [tuple(part[i] for part in several) for i in range(3)] == alone
    with pytest.raises(ParameterError, match="encoding='tuple'"):
        rlenvs.make("FrozenLake-v0", encoding="tuple")


CHANGED = {
    "Hopper-v0": {"healthy_z_range": (0.6, math.inf), "healthy_angle_range": (-0.3, 0.3), "healthy_reward": 0.5},
    "Walker2d-v0": {"healthy_z_range": (0.5, 3.0), "healthy_reward": 0.5, "terminate_when_unhealthy": False},
    "HalfCheetah-v0": {"frame_skip": 5},
    "Ant-v0": {"contact_cost_weight": 0.0, "healthy_z_range": (0.1, 1.5)},
    "Humanoid-v0": {"healthy_reward": 1.0, "healthy_z_range": (0.5, 3.0)},
}


@pytest.mark.parametrize("id", CHANGED)
def test_robots_pay_what_the_original_pays(id):
    pytest.importorskip("mujoco")
    keywords = {"forward_reward_weight": 2.0, "ctrl_cost_weight": 0.03, "reset_noise_scale": 0.01, **CHANGED[id]}
    signature_of(ORIGINALS[id])
    ours = gymnasium.make(f"rlenvs/{id}", **keywords).unwrapped
    theirs = gymnasium.make(ORIGINALS[id], **keywords).unwrapped
    ours.reset(seed=3)
    theirs.reset(seed=3)
    data = ours.data
    theirs.set_state(np.array(data.qpos), np.array(data.qvel))
    assert (ours.dt, ours.frame_skip) == (pytest.approx(theirs.dt), theirs.frame_skip)
    assert np.allclose(ours.state_vector(), theirs.state_vector())
    assert np.allclose(ours.init_qpos, theirs.init_qpos)
    assert np.abs(data.qpos - theirs.init_qpos).max() <= 0.01
    assert ours.model.nq == theirs.model.nq
    generator = np.random.default_rng(0)
    for _ in range(10):
        action = generator.uniform(-0.4, 0.4, ours.action_space.shape).astype(np.float32)
        (_, reward, end, _, _), (_, wanted, theirs_end, _, _) = ours.step(action), theirs.step(action)
        assert reward == pytest.approx(wanted, abs=1e-4)
        assert end == theirs_end
        if end:
            break


def test_data_of_robots_says_how_to_get_the_rest():
    pytest.importorskip("mujoco")
    env = gymnasium.make("rlenvs/Hopper-v0").unwrapped
    env.reset(seed=0)
    with pytest.raises(ValueError, match="read-only"):
        env.data.qpos[0] = 1.0
    with pytest.raises(AttributeError, match="mj_forward"):
        _ = env.data.xipos
    with pytest.raises(AttributeError, match="reward_healthy"):
        _ = env.is_healthy
    assert isinstance(env.data.time, float)


@pytest.mark.parametrize(
    ("id", "keywords", "said"),
    [
        ("LunarLander-v0", {"continuous": True}, "LunarLanderContinuous-v0"),
        ("LunarLanderContinuous-v0", {"continuous": False}, "LunarLander-v0"),
        ("CarRacing-v0", {"continuous": False}, "CarRacingDiscrete-v0"),
        ("Hopper-v0", {"exclude_current_positions_from_observation": False}, "data.qpos"),
        ("Hopper-v0", {"frame_skip": 2}, "4 physics steps"),
        ("Hopper-v0", {"xml_file": "my.xml"}, "parameters"),
        ("Pistonball-v0", {"ball_mass": 1.0}, "cancels"),
    ],
)
def test_what_there_is_not_names_what_there_is(id, keywords, said):
    with pytest.raises((ParameterError, UnknownKeywordError), match=said):
        Setup(world_of(id), **keywords)


# --- particles --------------------------------------------------------------------------------------------------------


def test_keywords_of_particles():
    spread = world_of("ParticleSpread-v0")
    made = Setup(spread, N=4, local_ratio=0.2, continuous_actions=True, max_cycles=40)
    assert (made.agents, made.horizon, made.values.actions) == (4, 40, "continuous")
    assert dict(zip(spread.terms, made.weights.tolist(), strict=True)) == {"distance": 0.8, "collision": 0.2}
    tag = Setup(world_of("ParticleTag-v0"), num_good=2, num_adversaries=4, num_obstacles=1, continuous_actions=False)
    assert (tag.values.good, tag.values.adversaries, tag.values.obstacles) == (2, 4, 1)
    reference = world_of("ParticleReference-v0")
    weights = dict(zip(reference.terms, Setup(reference, local_ratio=1.0).weights.tolist(), strict=True))
    assert weights == {"distance": 1.0, "team": 0.0}
    with pytest.raises(ParameterError, match=r"in \[0, 1\]"):
        Setup(spread, local_ratio=2.0)
    with pytest.raises(ParameterError, match="True or False"):
        Setup(spread, continuous_actions="yes")


def test_keywords_of_planar_teams():
    walkers = world_of("MultiWalker-v0")
    made = Setup(walkers, n_walkers=2, forward_reward=2.0, fall_reward=-5.0, terminate_reward=-50.0)
    weights = dict(zip(walkers.terms, made.weights.tolist(), strict=True))
    assert (made.agents, weights["progress"], weights["fall"], weights["drop"]) == (2, 2.0, 5.0, 50.0)
    pistons = Setup(world_of("Pistonball-v0"), n_pistons=6, continuous=False, time_penalty=-0.2, random_drop=False)
    assert (pistons.agents, pistons.values.actions, pistons.weights[1]) == (6, "discrete", 2.0)
    assert (pistons.values.drop_x, pistons.values.drop_y) == (0.0, 0.0)


# --- highway-env ------------------------------------------------------------------------------------------------------


def test_config_of_highway_env():
    config = {
        "lanes_count": 3,
        "vehicles_count": 10,
        "vehicles_density": 1.5,
        "duration": 20,
        "policy_frequency": 2,
        "simulation_frequency": 10,
        "reward_speed_range": [15, 35],
        "initial_lane_id": None,
        "collision_reward": -2.0,
        "observation": {"type": "Kinematics", "vehicles_count": 7, "see_behind": True},
        "action": {"type": "ContinuousAction"},
        "show_trajectories": False,
    }
    setup = Setup(world_of("Highway-v0"), config=config)
    values = setup.values
    assert (values.lane_count, values.cars, values.density, values.first_lane) == (3, 10, 1.5, -1)
    assert (values.policy_hz, values.simulation_hz, setup.horizon) == (2, 10, 40)
    assert (values.low_speed, values.high_speed, values.seen_cars, values.see_behind) == (15.0, 35.0, 7, True)
    assert values.actions == "continuous"
    assert setup.weights == pytest.approx([0.4 / 2.5, 0.1 / 2.5, 2.0 / 2.5])


def highway_reward(speed, lane, crashed, best=0.4, right=0.1, collision=-1.0):
    """Highway-env's formula."""
    reward = best * speed + right * lane + collision * crashed
    return (reward - collision) / (best + right - collision)


@pytest.mark.parametrize("given", [{}, {"collision_reward": -3.0, "high_speed_reward": 1.0, "right_lane_reward": 0.5}])
def test_weights_of_a_config_give_its_reward(given):
    setup = Setup(world_of("Highway-v0"), config=given)
    own = {"best": "high_speed_reward", "right": "right_lane_reward", "collision": "collision_reward"}
    paid = {name: given[key] for name, key in own.items() if key in given}
    for speed, lane, crashed in ((0.0, 0.0, 0), (1.0, 0.5, 0), (0.3, 1.0, 1)):
        terms = np.array([speed, lane, 1.0 - crashed])
        assert setup.weights @ terms == pytest.approx(highway_reward(speed, lane, crashed, **paid))


DRIVING = ["Highway", "Merge", "Roundabout", "Intersection", "Racetrack", "Exit", "TwoWay", "UTurn"]


@pytest.mark.parametrize("name", DRIVING)
def test_configs_at_their_defaults_change_nothing(name):
    world = world_of(f"{name}-v0")
    usual = Setup(world)
    hz = {"policy_frequency": usual.values.policy_hz, "simulation_frequency": usual.values.simulation_hz}
    made = Setup(world, config={**hz, "offroad_terminal": usual.values.offroad_terminal})
    assert (made.horizon, vars(made.values)) == (usual.horizon, vars(usual.values))
    assert made.weights.tolist() == usual.weights.tolist()


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (3, "a dictionary such as"),
        ({"lane_count": 3}, "Did you mean 'lanes_count'"),
        ({"lanes_count": "many"}, "lane_count='many' must be an integer"),
        ({"observation": {"type": "Kinematic"}}, "'Kinematics'"),
        ({"observation": {"type": "Kinematics", "features": ["x"]}}, "presence, x, y, vx, vy"),
        ({"observation": "Kinematics"}, "a dictionary"),
        ({"screen_width": 100}, "images have a fixed size"),
        ({"manual_control": True}, "rlenvs play"),
        ({"high_speed_reward": -4.0}, "exceed"),
    ],
)
def test_wrong_configs_say_what_is_wrong(config, said):
    with pytest.raises(ParameterError, match=said):
        Setup(world_of("Highway-v0"), config=config)


def test_specs_keep_what_was_asked_for():
    env = gymnasium.make("rlenvs/Highway-v0", config={"lanes_count": 2, "duration": 7})
    again = gymnasium.make(EnvSpec.from_json(env.spec.to_json()))
    assert again.spec.max_episode_steps == env.spec.max_episode_steps == 7
    assert again.unwrapped.config["lanes_count"] == 2


# --- vector form ------------------------------------------------------------------------------------------------------


def test_attributes_of_the_vector_form():
    ours = rlenvs.make_vec("CartPole-v0", 3, render_mode="rgb_array")
    theirs = gymnasium.make_vec("CartPole-v1", 3, vectorization_mode="sync")
    for envs in (ours, theirs):
        envs.reset(seed=0)
        assert envs.get_attr("gravity") == (9.8,) * 3
        envs.set_attr("gravity", [1.0, 2.0, 3.0])
        assert envs.get_attr("gravity") == (1.0, 2.0, 3.0)
        envs.set_attr("gravity", 5.0)
        assert envs.call("gravity") == (5.0,) * 3
        with pytest.raises(ValueError, match="3"):
            envs.set_attr("gravity", [1.0, 2.0])
    assert [image.shape[-1] for image in ours.call("render")] == [3] * 3
    assert ours.get_attr("action_space") == (ours.single_action_space,) * 3
    saved = ours.call("get_state")
    ours.step(np.ones(3, np.int64))
    ours.call("set_state", saved[0])
    assert len({tuple(state) for state in ours.get_attr("state")}) == 1
    assert all(mask.tolist() == [True, True] for mask in ours.call("action_masks"))
    assert all(action in ours.single_action_space for action in ours.call("expert_action"))
    with pytest.raises(AttributeError, match="vectorization_mode"):
        ours.call("no_such_thing")
    with pytest.raises(AttributeError, match="physical parameters"):
        ours.set_attr("state", [0, 0, 0])


def test_parallel_form_has_attributes_too():
    env = rlenvs.parallel_env("ParticleSpread-v0")
    env.reset(seed=0)
    assert env.radius == 0.15
    env.radius = 0.2
    assert env.batch.get_params()["radius"] == 0.2
    assert hasattr(pettingzoo, "__version__")
