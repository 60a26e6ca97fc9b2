"""Spaces beyond vectors and single choices: images alone, whole numbers, and several choices at once with masks."""

import pickle

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st
from pettingzoo.test import api_test, parallel_api_test
from toys.spaces import CATCH, LIGHTS, MEET, PORTER, PORTERS, WALK, WALKS

import rlenvs
from rlenvs.core import block, discrete, discrete_block, image, integer, multi_binary, multi_discrete, role, term, world
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue.docs import page, shape_text, space_text
from rlenvs.core.check.rules import RULES
from rlenvs.core.declare.errors import ActionError, ParameterError
from rlenvs.core.declare.keys import steering_keys
from rlenvs.core.declare.setup import Setup
from rlenvs.core.forms.gym_env import Env
from rlenvs.core.forms.parallel_env import ParallelEnv
from rlenvs.core.forms.text_env import TextEnv
from rlenvs.core.forms.turn_env import aec_env
from rlenvs.core.forms.vector_env import VectorEnv

TOYS = (CATCH, MEET, PORTER, PORTERS, LIGHTS, WALK, WALKS)
FLAT = (PORTER, PORTERS, LIGHTS)
HEADINGS = 15  # the rule on doc strings
NUMBERS = {rule.number for rule in RULES} - {HEADINGS}
FORMS = [(toy, {}) for toy in TOYS] + [(toy, {"flat_actions": True}) for toy in FLAT]
IDS = [toy.name + ("-flat" if keywords else "") for toy, keywords in FORMS]


def env(toy, **keywords):
    return Env(toy, backend="python", **keywords)


# --- conformance ------------------------------------------------------------------------------------------------------


@pytest.mark.budget(6)
@pytest.mark.parametrize(("toy", "keywords"), FORMS, ids=IDS)
def test_worlds_keep_all_rules(toy, keywords):
    rlenvs.check_env(toy, backend="python", only=NUMBERS, **keywords).raise_on_failure()


@pytest.mark.parametrize("toy", [CATCH, PORTER, PORTERS], ids=lambda toy: toy.name)
def test_compiled_worlds_keep_all_rules(toy):
    rlenvs.check_env(toy, only=NUMBERS).raise_on_failure()


def test_compiled_flat_actions_do_what_plain_ones_do():
    rlenvs.check_env(PORTERS, only={1, 7, 19, 21}, flat_actions=True).raise_on_failure()


@pytest.mark.filterwarnings("ignore:.*WARN.*")
@pytest.mark.parametrize(("toy", "keywords"), FORMS, ids=IDS)
def test_gymnasium_accepts_them(toy, keywords):
    check_env(env(toy, **keywords), skip_render_check=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("keywords", [{}, {"flat_actions": True}], ids=["declared", "flat"])
@pytest.mark.parametrize("toy", [MEET, PORTERS, WALKS], ids=lambda toy: toy.name)
def test_pettingzoo_accepts_them(toy, keywords):
    parallel_api_test(ParallelEnv(toy, backend="python", **keywords), num_cycles=50)
    api_test(aec_env(world=toy, backend="python", **keywords), num_cycles=20)


# --- observations -----------------------------------------------------------------------------------------------------


def test_an_image_alone_is_the_observation():
    single, vector = env(CATCH), VectorEnv(CATCH, 3, backend="python", autoreset_mode="SAME_STEP", horizon=4)
    assert single.observation_space == spaces.Box(0, 255, (36, 36, 1), np.uint8)
    seen, _ = single.reset(seed=1)
    rows, _ = vector.reset(seed=0)
    assert rows.shape == (3, 36, 36, 1)
    assert rows.dtype == np.uint8
    assert np.array_equal(seen, rows[1])
    assert set(np.unique(seen)) == {0, 128, 255}
    for _ in range(4):
        before = single.step(1)[0]
        *_, infos = vector.step(np.ones(3, int))
    assert np.array_equal(infos["final_obs"][1], before)
    copy = pickle.loads(pickle.dumps(vector))
    assert np.array_equal(copy.step(np.ones(3, int))[0], vector.step(np.ones(3, int))[0])
    assert np.array_equal(single.set_state(single.get_state()), before)


def test_central_states_are_the_images_of_all_agents():
    team = ParallelEnv(MEET, backend="python")
    team.reset(seed=0)
    assert team.state_space.contains(team.state())
    assert team.state().shape == (2, 36, 36, 3)


def test_futures_of_images_are_images():
    single = env(CATCH)
    single.reset(seed=0)
    found = rlenvs.rollout_plans(single, np.ones((2, 3), int))
    assert found.observations.dtype == np.uint8
    assert found.observations.shape == (2, 36, 36, 1)


def test_several_images_are_a_dictionary():
    two = world(
        "Two-v0",
        doc="",
        state={},
        observation={},
        images={"left": image(4, 4, 1), "right": image("side", "side", 3)},
        options={"side": rlenvs.core.integer(2, 0, 8)},
        sizes=lambda values: {"side": values.side},
        action=discrete("a", "b"),
        terms={"nothing": term(0.0, 1.0)},
        horizon=3,
    )
    both = Setup(two).observation_space
    assert isinstance(both, spaces.Dict)
    assert list(both) == ["left", "right"]
    assert Setup(two, side=0).observation_space == spaces.Box(0, 255, (4, 4, 1), np.uint8)
    with pytest.raises(ParameterError, match="is for numeric"):
        Setup(two, encoding="unit")


def test_a_whole_number_is_the_observation():
    single, vector = env(WALK), VectorEnv(WALK, 4, backend="python")
    assert single.observation_space == spaces.Discrete(7)
    assert vector.observation_space == spaces.MultiDiscrete([7] * 4)
    seen, _ = single.reset(seed=2)
    rows, _ = vector.reset(seed=0)
    assert type(seen) is int
    assert seen == rows[2]
    assert rows.dtype == np.int64
    assert env(WALK, encoding="unit").observation_space == spaces.Box(0.0, 1.0, ())
    team = ParallelEnv(WALKS, backend="python")
    assert all(type(seen) is np.int64 for seen in team.reset(seed=0)[0].values())


# --- several choices at once ------------------------------------------------------------------------------------------


def test_masks_are_those_of_the_dimensions_one_after_the_other():
    single = env(PORTER)
    assert single.action_space == spaces.MultiDiscrete([3, 3])
    _, info = single.reset(seed=0)
    state = single.batch.records(0)[1]
    state.place, state.parcel, state.carries = 0, 0, False
    single.set_state(single.get_state())
    assert single.action_masks().tolist() == [False, True, True, True, True, False]
    assert info["action_mask"].shape == (6,)


def test_samples_keep_to_masks():
    single = env(PORTER)
    _, info = single.reset(seed=0)
    for _ in range(20):
        single.step(single.action_space.sample(mask=info["action_mask"]))
        assert single.batch.records(0)[1].illegal[0] == 0
        *_, info = single.step(single.expert_action())
        _, info = single.reset()
    lamps = env(LIGHTS).action_space
    mask = np.array([1, 0, 0, 1, 1, 1] * 2, np.int8)
    assert {tuple(lamps.sample(mask=mask)[:2]) for _ in range(9)} == {(0, 1)}


def test_each_forbidden_choice_counts():
    single = env(PORTER)
    single.reset(seed=0)
    single.batch.records(0)[1].place = 0
    single.set_state(single.get_state())
    assert single.step(np.array([0, 2]))[-1]["illegal_actions"] == 2
    assert single.step(np.array([1, 2]))[-1]["illegal_actions"] == 3
    strict = env(PORTER, illegal="error")
    strict.reset(seed=0)
    with pytest.raises(ActionError, match=r"forbids choice 2 of dimension 1 \(hand\) now; it allows 0"):
        strict.step(np.array([1, 2]))


def test_errors_name_world_agent_dimension_and_value():
    batch = KernelBatch(PORTERS, 2, backend="python")
    batch.seed(0)
    batch.reset()
    actions = np.ones((2, 2, 2), int)
    actions[1, 0, 1] = 3
    with pytest.raises(
        ActionError, match=r"environment 1, agent 0: action \[1, 3\]: 3 is not one of 0 ... 2 of dim.*1"
    ):
        batch.step(actions)
    with pytest.raises(ActionError, match="needed: integers of shape"):
        env(PORTER).step(1)


def test_flat_masks_allow_what_all_dimensions_allow():
    plain, flat = env(PORTER), env(PORTER, flat_actions=True)
    assert flat.action_space == spaces.Discrete(9)
    for seed in range(5):
        mask = plain.reset(seed=seed)[1]["action_mask"]
        assert flat.reset(seed=seed)[1]["action_mask"].tolist() == np.outer(mask[:3], mask[3:]).ravel().tolist()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000), plan=st.lists(st.tuples(*[st.integers(0, 2)] * 2), min_size=1, max_size=12))
def test_a_flat_action_is_its_combination(seed, plan):
    plain, flat = env(PORTER), env(PORTER, flat_actions=True)
    plain.reset(seed=seed)
    flat.reset(seed=seed)
    for move, hand in plan:
        mine, theirs = plain.step(np.array([move, hand])), flat.step(3 * move + hand)
        assert np.array_equal(mine[0], theirs[0])
        assert mine[1:4] == theirs[1:4]
        if mine[2] or mine[3]:
            break
    states = [one.batch.records(0)[1] for one in (plain, flat)]
    assert all(states[0][name] == states[1][name] for name in PORTER.state)


def test_flat_advice_is_the_combination_of_the_experts():
    plain, flat = env(PORTER), env(PORTER, flat_actions=True)
    for seed in range(4):
        plain.reset(seed=seed)
        flat.reset(seed=seed)
        move, hand = plain.expert_action()
        assert flat.expert_action() == 3 * move + hand
    team = ParallelEnv(PORTERS, backend="python")
    flat_team = ParallelEnv(PORTERS, backend="python", flat_actions=True)
    team.reset(seed=1)
    flat_team.reset(seed=1)
    wanted = {agent: int(3 * a[0] + a[1]) for agent, a in team.player_actions("willing").items()}
    assert flat_team.player_actions("willing") == wanted


def test_too_many_combinations_are_refused():
    wide = world(
        "Wide-v0",
        doc="",
        state={},
        observation={"x": block(1, low=0.0, high=1.0)},
        action=multi_binary(size="lamps"),
        sizes=lambda values: {"lamps": values.lamps},
        options={"lamps": rlenvs.core.integer(20, 1, 40)},
        terms={"nothing": term(0.0, 1.0)},
        horizon=3,
    )
    assert Setup(wide).action_space == spaces.MultiBinary(20)
    assert Setup(wide, lamps=16, flat_actions=True).action_size == 2**16
    with pytest.raises(ParameterError, match="1,048,576 choices"):
        Setup(wide, flat_actions=True)


def test_idle_and_teams():
    single = env(PORTERS, others="idle")
    single.reset(seed=0)
    single.step(np.array([2, 0]))
    assert single.batch.actions[0].tolist() == [[2, 0], [1, 0]]
    helped = env(PORTERS, others="willing")
    helped.reset(seed=0)
    helped.step(np.array([1, 0]))
    assert helped.batch.actions[0, 0].tolist() == [1, 0]


def test_words_name_the_dimensions():
    text = TextEnv(PORTER, backend="python")
    told, _ = text.reset(seed=0)
    assert "dimension 0 (move): " in told
    assert "1 stay" in told
    assert text.step("<choose(stay, rest)>")[-1]["illegal_reason"] == ""
    assert text.step("<choose(1)>")[-1]["illegal_reason"] == "<choose(...)> takes 2 arguments, not 1"
    assert "image (36, 36, 1)" in TextEnv(CATCH, backend="python").reset(seed=0)[0]


def test_words_and_keys_of_a_world_fit_flat_actions():
    spoken = TextEnv(PORTER, backend="python", flat_actions=True)
    with_words = {"keys": lambda pressed, values: (2, 0) if "right" in pressed else (1, 0)}
    with_words["parse_action"] = lambda text, p, s, k: np.array([2, 0])
    before = dict(PORTER.functions)
    PORTER.functions.update(with_words)
    try:
        spoken.reset(seed=3)
        assert spoken.step("<go(on)>")[-1]["illegal_reason"] == ""
        assert spoken.numeric.batch.actions[0, 0].tolist() == [6]
        assert steering_keys(Setup(PORTER, flat_actions=True)) == {"right": 6}
        assert steering_keys(Setup(PORTER)) == {"right": (2, 0)}
    finally:
        PORTER.functions.clear()
        PORTER.functions.update(before)


def test_agents_of_roles_have_all_choices():
    uneven = world(
        "Uneven-v0",
        doc="",
        agents=True,
        state={},
        sizes=lambda values: {"agents": 2},
        roles=lambda values: [role("first", 3, 2), role("second", 2, values.numbers)],
        options={"numbers": rlenvs.core.integer(2, 1, 2)},
        observation={"x": block(3, low=0.0, high=1.0, raw=True)},
        action=multi_discrete({"move": discrete("a", "b"), "say": discrete(size=5)}),
        terms={"nothing": term(0.0, 1.0)},
        horizon=3,
    )
    assert Setup(uneven).agent_spaces(1)[1] == spaces.MultiDiscrete([2, 5])
    assert Setup(uneven, flat_actions=True).agent_spaces(1)[1] == spaces.Discrete(10)
    with pytest.raises(ParameterError, match="have all 2 choices"):
        Setup(uneven, numbers=1)


def test_a_number_is_one_of_a_vector_where_an_option_adds_others():
    spec = world(
        "Noted-v0",
        doc="",
        state={},
        action=discrete("a"),
        terms={"nothing": term(0.0, 1.0)},
        horizon=3,
        options={"notes": integer(0, 0, 3, "notes")},
        sizes=lambda values: {"notes": values.notes},
        observation={"cell": discrete_block(7), "notes": block("notes", low=0, high=1)},
    )
    assert Setup(spec).observation_space == spaces.Discrete(7)
    vector = Setup(spec, notes=2).observation_space
    assert vector.low.tolist() == [0, -1, -1]
    assert vector.high.tolist() == [6, 1, 1]
    with pytest.raises(ParameterError, match="one_hot"):
        Setup(spec, notes=2, encoding="one_hot")


def test_declarations_that_contradict_themselves_are_refused():
    common = {"doc": "", "state": {}, "action": discrete("a"), "terms": {"nothing": term(0, 1)}, "horizon": 3}
    with pytest.raises(ParameterError, match="blocks, images"):
        world("Blind-v0", observation={}, **common)
    with pytest.raises(ParameterError, match="whole observation"):
        world("Mixed-v0", observation={"a": discrete_block(3), "b": block(low=0, high=1)}, **common)
    with pytest.raises(ParameterError, match="whole observation"):
        world("Mixed-v0", observation={"a": discrete_block(3)}, images={"b": image(2, 2, 3)}, **common)
    with pytest.raises(ParameterError, match="at least one dimension"):
        multi_discrete({})
    with pytest.raises(ParameterError, match="values, not 0"):
        discrete_block(0)
    with pytest.raises(ParameterError, match="flat_actions"):
        Setup(PORTER, flat_actions="yes")


def test_a_snapshot_fits_both_forms_of_actions():
    plain, flat = env(PORTER), env(PORTER, flat_actions=True)
    plain.reset(seed=3)
    flat.reset(seed=4)
    plain.step(plain.expert_action())
    flat.set_state(plain.get_state())
    assert flat.get_state() == plain.get_state()


def test_pages_and_catalogue_tell_of_all_spaces():
    told = {toy.name: (space_text(Setup(toy)), shape_text(Setup(toy))) for toy in (CATCH, PORTER, LIGHTS, WALK)}
    assert told == {
        "Catch-v0": ("Discrete(3)", "36 x 36 x 1"),
        "Porter-v0": ("MultiDiscrete([3, 3])", "3"),
        "Lights-v0": ("MultiBinary(6)", "6"),
        "Walk-v0": ("Discrete(2)", "Discrete(7)"),
    }
    for toy in TOYS:
        assert "| Dimension |" in page(toy) or toy not in FLAT
