"""Kinds and their members: one compile, one set of rules, any number of ids."""

import multiprocessing
import pickle
import re
import sys
from dataclasses import replace

import cloudpickle
import gymnasium
import numpy as np
import pytest
from toys import linear_plants

import rlenvs
from rlenvs.core import choice
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue.docs import page
from rlenvs.core.catalogue.registry import catalogue, tags_of
from rlenvs.core.catalogue.rows import catalogue_row
from rlenvs.core.check import check_env, one_per_kind
from rlenvs.core.compiler import build
from rlenvs.core.compiler.kernel_names import kernel_names
from rlenvs.core.declare.errors import ParameterError, UnknownKeywordError, UnknownNameError
from rlenvs.core.declare.parts import Score
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World, load_world
from rlenvs.core.declare.whole_worlds import pickled_whole, unpickled
from rlenvs.core.forms.gym_env import Env
from rlenvs.wrappers import LevelCurriculum, wrap

KIND, NAMES = linear_plants.KIND, linear_plants.NAMES
MEMBERS = list(KIND.members.values())


@pytest.fixture
def registered():
    """The forty ids, for one test."""
    before = dict(catalogue), dict(gymnasium.registry)
    for name in NAMES:
        rlenvs.register(name, f"toys.linear_plants:KIND/{name}")
    yield NAMES
    for table, saved in zip((catalogue, gymnasium.registry), before, strict=True):
        table.clear()
        table.update(saved)


def key_of(world):
    setup = Setup(world)
    return build.code_key(world, setup.action_kind, kernel_names(world, setup.action_kind, False))


def test_forty_members_are_one_compile(monkeypatch):
    monkeypatch.setattr(build, "_drivers", {})  # other tests may have made the driver already
    batches = [KernelBatch(member, 3) for member in MEMBERS]
    assert len({id(batch.loops.driver) for batch in batches}) == 1
    assert len(build._drivers) == 1
    assert len({batch.setup.fingerprint for batch in batches}) == 40


def test_a_kind_passes_all_rules(registered):
    assert one_per_kind(registered) == NAMES[:1]
    check_env(NAMES[0]).raise_on_failure()


@pytest.mark.parametrize("name", NAMES[1::4])
def test_members_pass_the_rules_that_they_can_break(registered, name):
    check_env(name, whole=False).raise_on_failure()


@pytest.mark.parametrize("n", [0, 3, 17, 39])
def test_a_member_has_its_own_matrices(n):
    a, b = linear_plants.matrices(n)
    env = Env(MEMBERS[n], noise=0.0)
    x, _ = env.reset(seed=1)
    u = env.action_space.sample()
    after, reward, *_ = env.step(u)
    expected = a @ (10.0 * x) + b @ u
    assert 10.0 * after == pytest.approx(expected, abs=1e-5)
    assert reward == pytest.approx(-np.mean(expected**2) - 0.1 * np.mean(u**2), abs=1e-5)


def test_a_member_has_page_scores_tags_and_row():
    text, row = page(MEMBERS[7]), catalogue_row(MEMBERS[7])
    assert text.splitlines()[0] == "# Plant07-v0"
    assert "Plant 7: 3 states and 2 inputs" in text
    assert re.search(r"idle.*-7", text)
    assert "## Starting State" in text
    assert (row["kind"], row["address"]) == ("LinearPlant", "toys.linear_plants:KIND/Plant07-v0")
    assert row["summary"] == "Plant 7: 3 states and 2 inputs"
    assert tags_of(MEMBERS[7]) == ("single", "multi-objective")


def test_the_score_of_an_exploit_says_what_it_does():
    score = Score(0.5, 0.0, "pushes with all inputs")
    member = replace(MEMBERS[7], scores={**MEMBERS[7].scores, "exploit": score})
    text = page(member)
    assert re.search(r"\| exploit \| 0.5 .*pushes with all inputs", text)
    assert '"exploit" is a script' in text
    assert '"exploit"' not in page(MEMBERS[7])
    with pytest.raises(ParameterError, match="a note that says what the script does"):
        replace(member, scores={"exploit": replace(score, note="")})


def test_members_by_id_in_every_form(registered):
    env = rlenvs.make("Plant04-v0")
    envs = rlenvs.make_vec("Plant04-v0", 3, level="noisy")
    assert env.observation_space.shape == (5,)
    assert envs.unwrapped.batch.setup.values.noise == 0.05
    assert rlenvs.make("mo-Plant04-v0").unwrapped.reward_space.shape == (2,)
    envs = gymnasium.make_vec("rlenvs/Plant04-v0", 2, vectorization_mode="async")
    envs.reset(seed=0)
    envs.step(envs.action_space.sample())
    envs.close()


SLOW = MEMBERS[3]


def test_a_level_changes_data_horizon_weights_and_scores(registered):
    usual, slow = Setup(SLOW), Setup(SLOW, level="slow")
    assert (usual.horizon, slow.horizon) == (60, 90)
    assert slow.data["a"] == pytest.approx(0.5 * usual.data["a"])
    assert np.array_equal(slow.data["b"], usual.data["b"])
    assert (slow.weights == 2.0 * usual.weights).all()
    assert rlenvs.normalized_score("Plant03-v0", -5.0, level="slow") == 0.75
    with pytest.raises(ParameterError, match=r"Plant03-v0 has no reference scores for .* at level 'noisy'"):
        rlenvs.normalized_score("Plant03-v0", -5.0, level="noisy")
    assert 'Level "slow":' in page(SLOW)
    assert "`noise=0.0`, `horizon=90`, other data, other terms" in page(SLOW)
    assert gymnasium.make("rlenvs/Plant03-v0", level="slow").spec.max_episode_steps == 90


def test_what_a_level_sets_yields_to_keywords():
    assert Setup(SLOW, level="slow", horizon=7, noise=0.02).horizon == 7
    assert Setup(SLOW, level="slow", noise=0.02).values.noise == 0.02
    assert Setup(SLOW, level="slow", weights={"state": 5.0}).weights.tolist() == [5.0, 0.2]


def test_a_level_is_a_member_of_its_id():
    level = SLOW.level("slow")
    assert level is SLOW.level("slow") is level.level("slow")
    assert SLOW.level(None) is SLOW
    assert (level.name, level.kind, level.base, level.level_name) == ("Plant03-v0", KIND, SLOW, "slow")
    assert key_of(level) == key_of(KIND)
    assert level.address == SLOW.address
    assert pickle.loads(pickle.dumps(level)) is level
    with pytest.raises(UnknownNameError, match=r"Plant03-v0 has no level 'slo'. Did you mean 'slow'"):
        SLOW.level("slo")
    with pytest.raises(UnknownNameError, match="has no level"):
        Setup(SLOW, level=["slow"])
    with pytest.raises(UnknownKeywordError, match="Did you mean 'noise'"):
        KIND.member("Odd-v0", "Odd.", levels={"odd": {"noize": 0.0}}).level("odd")
    KIND.members.pop("Odd-v0")


def test_levels_in_every_form_step_the_same(registered):
    env, envs = (
        make("Plant03-v0", **k, level="slow") for make, k in ((rlenvs.make, {}), (rlenvs.make_vec, {"num_envs": 2}))
    )
    usual = rlenvs.make("Plant03-v0", noise=0.0)
    first, _ = env.reset(seed=5)
    assert np.array_equal(first, envs.reset(seed=[5, 6])[0][0])
    assert np.array_equal(first, usual.reset(seed=5)[0])
    action = np.zeros(env.action_space.shape, np.float32)
    after = env.step(action)[0]
    assert np.array_equal(after, envs.step(np.stack([action] * 2))[0][0])
    assert after == pytest.approx(0.5 * usual.step(action)[0], abs=1e-6)


def test_snapshots_move_between_levels_with_their_data():
    slow, usual = KernelBatch(SLOW, level="slow"), KernelBatch(SLOW, noise=0.0)
    for seed, batch in enumerate((slow, usual)):
        batch.seed([seed])
        batch.reset()
    usual.set_state(slow.get_state())
    for batch in (slow, usual):
        batch.step(np.zeros_like(batch.actions))
    assert np.array_equal(slow.observations, usual.observations)


def test_a_curriculum_refuses_levels_that_are_more_than_parameters(registered):
    wrap(rlenvs.make("Plant03-v0"), LevelCurriculum(["noisy"], schedule="episodes", episodes=1)).reset(seed=0)
    wrap(rlenvs.make("Plant03-v0", level="slow"), LevelCurriculum(["slow"], schedule="episodes", episodes=1)).reset(
        seed=0
    )
    with pytest.raises(ParameterError, match=r"holds 'slow', which sets \['horizon', 'data', 'terms'\]"):
        wrap(rlenvs.make("Plant03-v0"), LevelCurriculum(["slow"], schedule="episodes", episodes=1))


def test_members_and_levels_keep_what_they_set_where_a_choice_sets_it_too():
    kind = linear_plants.plant_kind("WindyPlant")
    place = choice("indoors", "outdoors", sets={"indoors": {"noise": 0.02}, "outdoors": {"noise": 0.03}})
    kind = replace(kind, options={"place": place}, levels={"calm": {"noise": 0.0}})
    quiet = kind.member("Quiet-v0", "A quiet plant.", noise=0.001)
    assert [Setup(kind, place=p).values.noise for p in place.values] == [0.02, 0.03]
    assert Setup(kind, level="calm", place="outdoors").values.noise == 0.0
    assert Setup(quiet).values.noise == 0.001
    assert Setup(quiet, level="calm").values.noise == 0.0
    copy = unpickled(World, "elsewhere", pickled_whole(quiet)[1])  # as another process gets it
    assert (copy is not quiet, Setup(copy).values.noise) == (True, 0.001)


def test_other_defaults_and_ranges():
    calm = KIND.member("CalmPlant-v0", "A plant without noise.", noise=0.0)
    assert Setup(calm).values.noise == 0.0
    assert Setup(KIND).values.noise == 0.01
    assert calm.scores == {}
    with pytest.raises(ParameterError, match=r"noise=0.5 is outside its range"):
        KIND.member("Bad-v0", "Bad.", noise=0.5)
    with pytest.raises(UnknownKeywordError, match="Did you mean 'noise'"):
        KIND.member("Bad-v0", "Bad.", noize=0.5)
    assert "Bad-v0" not in KIND.members


def test_hooks_of_the_kind_hold_for_members_and_not_the_other_way():
    kind = linear_plants.plant_kind("HookedPlant")
    first, second = (kind.member(f"Hooked{n}-v0", "A plant.") for n in range(2))
    kind.text(lambda p, s: "kind")
    first.text(lambda p, s: "first")
    assert [each.functions["text"](None, None) for each in (kind, first, second)] == ["kind", "first", "kind"]
    assert not first.has_own_kernels

    @first.reset
    def reset(p, s, rng):
        s.x[0] = 3.0

    assert first.has_own_kernels
    assert key_of(first) != key_of(second) == key_of(kind)


def test_a_mask_of_the_kind_gives_members_their_count():
    kind = linear_plants.plant_kind("MaskedPlant")
    member = kind.member("Masked-v0", "A plant.")
    kind.mask(lambda p, s, m: None)
    assert "illegal" in Setup(member).dtypes["state"].names


def test_the_key_has_no_names_and_no_texts():
    other = linear_plants.plant_kind("AnotherName")
    assert key_of(other) == key_of(KIND)
    other.doc = "Another text."
    assert key_of(other) == key_of(KIND)


def test_members_are_pickled_by_their_address():
    member = MEMBERS[5]
    assert pickle.loads(pickle.dumps(member)) is member
    assert load_world("toys.linear_plants:KIND/Plant05-v0") is member
    assert len(pickle.dumps(member)) < 200


def _play(pickled):
    """What another process makes of a pickled environment."""
    env = cloudpickle.loads(pickled)
    env.reset(seed=4)
    return "toys.linear_plants" in sys.modules, env.step(np.zeros(1))[0].tolist()


def test_a_world_that_no_module_holds_travels_whole(monkeypatch):
    world = linear_plants.plant_kind("Notebook-v0")
    assert world.address == ""
    env = Env(world, backend="python")
    assert pickle.loads(pickle.dumps(world)) is world
    env.reset(seed=4)
    expected = env.step(np.zeros(1))[0].tolist()
    cloudpickle.register_pickle_by_value(linear_plants)  # as if it had been written in a notebook
    pickled = cloudpickle.dumps(env)
    cloudpickle.unregister_pickle_by_value(linear_plants)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_play, (pickled,))[1] == expected
