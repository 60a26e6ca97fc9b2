"""Contexts: which parameters an episode gets, in every API form."""

import copy
import json
import math
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from hypothesis import given
from hypothesis import strategies as st
from support.contexts import ARMS, DRIFTS, HOVER, LEVELS, SPREAD, SWARM, TAG, episodes, made, made_vec, value
from support.wrapper_helpers import assert_conforms, assert_forms_agree

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.context_lists import sample_contexts, split
from rlenvs.wrappers.contexts import Contexts, EpisodeDrift, LevelCurriculum
from rlenvs.wrappers.curricula import MBTL, SPaCE
from rlenvs.wrappers.curriculum import RoundRobin
from rlenvs.wrappers.distributions import ADR, SelfPaced
from rlenvs.wrappers.forms import wrap

MASSES = [{"torso_mass": 1.0}, {"torso_mass": 2.5}]


# --- lists of contexts ------------------------------------------------------------------------------------------------


def test_sampled_contexts_have_the_distributions_that_were_asked_for():
    features = {"mass": ("uniform", 1.0, 3.0), "drag": ("normal", 5.0, 0.5), "gain": ("log", 0.01, 100.0)}
    drawn = sample_contexts(features, 20_000, seed=1)
    mass, drag, gain = (np.array([context[name] for context in drawn]) for name in features)
    n = math.sqrt(20_000)
    assert 1.0 <= mass.min() <= mass.max() <= 3.0
    assert abs(mass.mean() - 2.0) < 4 * 2 / math.sqrt(12) / n
    assert abs(mass.std() - 2 / math.sqrt(12)) < 0.01
    assert abs(drag.mean() - 5.0) < 4 * 0.5 / n
    assert abs(drag.std() - 0.5) < 4 * 0.5 / math.sqrt(2) / n
    assert abs(np.log(gain).mean()) < 4 * math.log(1e4) / math.sqrt(12) / n
    assert abs(np.mean(gain < 1.0) - 0.5) < 4 * 0.5 / n
    assert abs(np.corrcoef(mass, drag)[0, 1]) < 4 / n


def test_a_features_values_follow_from_the_seed_and_its_name():
    a, b = {"a": ("uniform", 0, 1)}, {"b": ("normal", 0, 1)}
    both = sample_contexts({**b, **a}, 5, seed=3)
    assert [context["a"] for context in both] == [context["a"] for context in sample_contexts(a, 5, seed=3)]
    assert sample_contexts(a, 5, seed=4) != sample_contexts(a, 5, seed=3)


def test_normal_features_stay_within_the_range():
    drawn = [c["a"] for c in sample_contexts({"a": ("normal", 0.0, 1.0)}, 2000, ranges={"a": (-0.5, 2.0)})]
    assert -0.5 <= min(drawn) <= max(drawn) <= 2.0
    assert len(set(drawn)) == 2000  # drawn again, not cut off
    with pytest.raises(ParameterError, match="hardly ever"):
        sample_contexts({"a": ("normal", 0.0, 1.0)}, 10, ranges={"a": (50.0, 60.0)})


tables = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=10, max_size=60, unique=True)


@given(tables, st.floats(0.1, 0.5), st.integers(0, 3))
def test_splits_are_what_their_names_say(pairs, fraction, seed):
    contexts = [{"x": float(x), "y": float(y)} for x, y in pairs]
    for mode in ("interpolation", "extrapolation", "combinatorial"):
        try:
            train, test = split(contexts, mode, fraction, seed)
        except ParameterError:  # too few different ones
            continue
        assert sorted(map(str, train + test)) == sorted(map(str, contexts))
        box = {name: (min(c[name] for c in train), max(c[name] for c in train)) for name in "xy"}
        inside = [[box[name][0] <= c[name] <= box[name][1] for name in "xy"] for c in test]
        if mode == "interpolation":
            assert np.all(inside)
        elif mode == "extrapolation":
            assert not np.all(inside, axis=1).any()


def test_a_combinatorial_split_of_a_grid_keeps_every_value_in_training():
    contexts = {f"{x}{y}": {"x": 10**x, "y": y, "same": 1.0} for x in range(5) for y in range(5)}
    train, test = split(contexts, "combinatorial", 0.16)
    assert set(test) == {"33", "34", "43", "44"}
    assert {c["x"] for c in train.values()} == {1, 10, 100, 1000, 10_000}  # what is high is told by ranks
    assert {c["y"] for c in train.values()} == set(range(5))


def test_split_of_a_line():
    contexts = [{"x": float(x)} for x in range(11)]
    assert [c["x"] for c in split(contexts, "extrapolation", 0.2)[1]] == [0.0, 10.0]
    assert len(split(contexts, "interpolation", 0.3)[1]) == 3
    for mode, part in (("combinatorial", contexts), ("extrapolation", contexts[:1]), ("interpolation", contexts[:2])):
        with pytest.raises(ParameterError):
            split(part, mode)
    for wrong in ({"mode": "extra"}, {"mode": "extrapolation", "fraction": 1.0}):
        with pytest.raises(ParameterError, match=next(reversed(wrong))):
            split(contexts, **wrong)
    with pytest.raises(ParameterError, match="same parameters"):
        split([{"x": 1.0}, {"y": 1.0}], "extrapolation")


# --- the parameters are set, before the episode begins ----------------------------------------------------------------


def test_an_episode_in_a_context_is_one_of_an_environment_made_with_these_parameters():
    for number, context in enumerate(ARMS):
        ours, plain = made(Contexts(ARMS)), rlenvs.make(HOVER, horizon=3, **context)
        seen, info = ours.reset(seed=3, options={"context": number})
        assert np.array_equal(seen, plain.reset(seed=3)[0])  # start_height acts on the starting state
        assert info["context_id"] == number
        for _ in range(3):
            action = np.full(4, 0.3, np.float32)
            a, b = ours.step(action), plain.step(action)
            assert np.array_equal(a[0], b[0])
            assert a[1] == b[1]


def test_what_a_context_does_not_name_is_as_the_environment_was_made():
    env = made(Contexts(ARMS, selection="round_robin"), arm=0.045)
    arms = []
    for e in range(3):
        _, info = env.reset(seed=0 if e == 0 else None)
        arms.append(value(env, "arm"))
        assert info["context"].tolist() == [value(env, name) for name in ("arm", "inertia_x", "start_height")]
    assert arms == [0.03, 0.05, 0.045]


def test_nothing_to_set_is_the_bare_environment():
    bare = episodes_of_everything(rlenvs.make_vec(HOVER, 3, horizon=3))
    own = {"mass": rlenvs.make(HOVER).unwrapped.batch.get_params()["mass"]}
    for wrapper in (
        Contexts([{}], visible=True),
        Contexts([own]),
        EpisodeDrift("arm", scale=0.0),
        LevelCurriculum([{}, {}]),
    ):
        assert np.array_equal(episodes_of_everything(made_vec(3, wrapper)), bare)


def episodes_of_everything(env):
    slots = [env.reset(seed=1)[0]]
    for _ in range(8):
        seen, reward, *_ = env.step(np.full((3, 4), 0.2, np.float32))
        slots += [seen, np.repeat(reward[:, None], seen.shape[1], axis=1)]
    return np.array(slots)


def test_every_slot_that_begins_gets_its_own_context():
    env = made_vec(64, Contexts([{"arm": 0.02 + 0.001 * i} for i in range(40)]), autoreset_mode=AutoresetMode.SAME_STEP)
    env.reset(seed=0)
    met = set()
    for _ in range(12):
        *_, info = env.step(np.zeros((64, 4), np.float32))
        arms = [env.batch.get_params(i)["arm"] for i in range(64)]
        assert np.allclose(arms, 0.02 + 0.001 * info["context_id"])
        assert np.array_equal(info["context"][:, 0], arms)
        met |= set(info["context_id"].tolist())
    assert len(met) == 40


def test_a_reset_of_some_worlds_leaves_the_others_alone():
    env = made_vec(4, Contexts(ARMS), horizon=50)
    _, before = env.reset(seed=0)
    params = [env.batch.get_params(i) for i in (0, 2)]
    for _ in range(5):
        _, after = env.reset(options={"reset_mask": np.array([False, True, False, True])})
    assert (after["context_id"][[0, 2]] == before["context_id"][[0, 2]]).all()
    assert [env.batch.get_params(i) for i in (0, 2)] == params


def test_random_selection_depends_on_seed_and_episode_alone():
    ids = [info["context_id"] for info in episodes(made(Contexts(ARMS)), 40, seed=5)]
    assert ids == [info["context_id"] for info in episodes(made(Contexts(ARMS)), 40, seed=5, actor="expert")]
    assert set(ids) == {0, 1, 2}
    assert ids != [info["context_id"] for info in episodes(made(Contexts(ARMS)), 40, seed=6)]


def test_round_robin_and_static():
    for selection, wanted in (
        ("round_robin", [0, 1, 2, 0]),
        ("static", [0, 0, 0, 0]),
        (RoundRobin(offset=2), [2, 0, 1, 2]),
        ({"curriculum": "OneContext", "number": 1}, [1, 1, 1, 1]),
    ):
        env = made(Contexts(ARMS, selection=selection))
        assert [info["context_id"] for info in episodes(env, 4)] == wanted


def test_round_robin_from_a_start_that_follows_from_the_seed():
    starts = set()
    for seed in range(20):
        env = made(Contexts(ARMS, selection=RoundRobin("seed")))
        ids = np.array([info["context_id"] for info in episodes(env, 4, seed)])
        assert (np.diff(ids) % 3 == 1).all()
        starts.add(int(ids[0]))
    assert starts == {0, 1, 2}


def test_features_are_sampled_once():
    wrapper = Contexts(features={"arm": ("uniform", 0.03, 0.05), "gravity": ["normal", 9.8, 30.0]}, samples=7, seed=2)
    one, two = made(wrapper), made(wrapper)
    assert np.array_equal(one.wrappers[0].table, two.wrappers[0].table)
    assert one.wrappers[0].table.shape == (7, 2)
    assert one.wrappers[0].names == ["arm", "gravity"]
    assert one.wrappers[0].table[:, 1].min() >= 1.0  # the declared range of gravity is [1, 25]


# --- seen by the policy -----------------------------------------------------------------------------------------------


def test_visible_contexts_are_scaled_from_their_declared_ranges():
    env = made(Contexts(ARMS, visible=["start_height", "arm"]))
    seen, info = env.reset(seed=1)
    bare, _ = rlenvs.make(HOVER).reset(seed=1)
    assert env.observation_space.shape == (bare.size + 2,)
    assert seen.dtype == np.float32
    params = env.unwrapped.batch.world.params
    for _ in range(4):
        arm, _, height = info["context"]
        for own, number, name in ((seen[-2], height, "start_height"), (seen[-1], arm, "arm")):
            low, high = params[name].low, params[name].high
            assert own == np.float32(2.0 * (number - low) / (high - low) - 1.0)
        shown = seen[-2:]
        seen, *_ = env.step(np.zeros(4, np.float32))
        assert np.array_equal(seen[-2:], shown)
        assert env.observation_space.contains(seen)
        seen, info = env.reset()


def test_the_observation_follows_a_world_that_was_put_elsewhere():
    env = made(Contexts(ARMS, visible=True), horizon=50)
    env.reset(seed=1)
    below = env.wrappers[0].below
    state = below.get_state(0)
    env.step(np.ones(4, np.float32))
    below.set_state(state, 0)
    env.wrappers[0].refresh_observation(np.ones(1, np.bool_))
    assert np.array_equal(env.wrappers[0].observation[0, :-3], below.observation[0])


def test_hidden_contexts_leave_the_observation_as_it_is():
    env, bare = made(Contexts(ARMS)), rlenvs.make(HOVER)
    assert env.observation_space == bare.observation_space
    assert made(Contexts(ARMS, visible=[])).observation_space == bare.observation_space


def test_dictionaries_get_a_part():
    wrapper = Contexts([{"payload": 0.1}, {"payload": 0.5}], visible=True)
    env = made(wrapper, id="PandaReach-v0", form="goal", payload=0.2)
    seen, info = env.reset(seed=0)
    low, high = (getattr(env.unwrapped.batch.world.params["payload"], end) for end in ("low", "high"))
    assert np.allclose(seen["context"], 2.0 * (info["context"] - low) / (high - low) - 1.0)
    assert env.observation_space.contains(seen)
    assert_forms_agree("PandaReach-v0", wrapper, form="goal", payload=0.2, horizon=4, steps=10)


def test_agents_with_observations_of_different_lengths():
    env = wrap(rlenvs.parallel_env(TAG), Contexts([{"good_speed": 0.5}, {"good_speed": 2.0}], visible=True))
    bare = rlenvs.parallel_env(TAG)
    seen, infos = env.reset(seed=4)
    first, _ = bare.reset(seed=4)
    assert len({env.observation_space(agent).shape for agent in env.agents}) > 1
    for _ in range(3):
        for agent in env.agents:
            assert np.array_equal(seen[agent][:-1], first[agent])
            assert seen[agent][-1] == seen[env.agents[0]][-1]
            assert env.observation_space(agent).contains(seen[agent])
            assert infos[agent]["context"] == infos[env.agents[0]]["context"]
        seen, *_, infos = env.step(dict.fromkeys(env.agents, 0))
        bare.unwrapped.batch.set_params({"good_speed": infos[env.agents[0]]["context"][0]})
        first, *_ = bare.step(dict.fromkeys(bare.agents, 0))


# --- the same in every form -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrapper",
    [
        Contexts(ARMS, visible=True),
        Contexts(ARMS, visible=["arm"], selection="round_robin"),
        Contexts(ARMS, selection=RoundRobin("seed")),
        Contexts(features={"gravity": ("uniform", 5, 15)}, visible=True),
        Contexts(selection=ADR(start={"arm": [0.03, 0.05]}, step={"arm": 0.01}), visible=True),
        Contexts(selection=SelfPaced(start={"arm": [0.04, 0.01]}, target={"arm": [0.05, 0.001]})),
        *DRIFTS,
        *LEVELS,
    ],
    ids=lambda wrapper: type(wrapper).__name__,
)
def test_forms_agree(wrapper):
    assert_forms_agree(HOVER, wrapper, horizon=4, steps=24)


def test_wrappers_on_each_other_and_engines():
    assert_forms_agree(HOVER, Contexts([{"arm": 0.03}, {"arm": 0.05}], visible=True), *DRIFTS[1:], horizon=4, steps=24)
    assert_forms_agree("Ant-v0", Contexts(MASSES, visible=True), LEVELS[0], horizon=4, steps=12)


@pytest.mark.parametrize("id", [SPREAD, SWARM])
def test_the_agents_of_a_world_share_what_a_world_by_itself_gets(id):
    param = "damping"
    wrappers = (
        Contexts([{param: 0.1 * i} for i in range(6)]),
        EpisodeDrift("contact_force" if id == SPREAD else "arm", scale=0.01),
    )
    alone = wrap(rlenvs.make_vec(id, 3, horizon=3), *wrappers)
    ours = [wrap(rlenvs.parallel_env(id, horizon=3), *wrappers) for _ in range(3)]
    _, infos = alone.reset(seed=20)
    for e in range(5):
        for i, env in enumerate(ours):
            _, told = env.reset(seed=20 + i if e == 0 else None)
            for agent in env.agents:
                for key, own in told[agent].items():
                    if key.startswith(("context", "drift")):
                        assert np.array_equal(own, infos[key][i]), key
            assert env.unwrapped.batch.get_params()[param] == told[env.agents[0]]["context"][0]
        _, infos = alone.reset()


@pytest.mark.parametrize(
    "wrapper", [Contexts(ARMS, visible=True), DRIFTS[0], LEVELS[0]], ids=lambda x: type(x).__name__
)
def test_wrapped_environments_conform(wrapper):
    assert_conforms(HOVER, wrapper)


def test_wrapped_teams_conform():
    assert_conforms(SPREAD, Contexts([{"damping": 0.1}, {"damping": 0.4}], visible=True))


# --- copies -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrappers",
    [
        [Contexts(ARMS, visible=True, selection=SPaCE(every=1))],
        [*DRIFTS[:2], Contexts([{"gravity": 5.0}, {}])],
        LEVELS[1:],
    ],
)
def test_copies_and_snapshots_go_on_identically(wrappers):
    env = made(*wrappers, horizon=5)
    episodes(env, 3)
    env.reset()
    env.step(np.full(4, 0.1, np.float32))
    snapshot = pickle.loads(pickle.dumps(env.get_state()))
    others = [pickle.loads(pickle.dumps(env)), copy.deepcopy(env)]
    wanted = go_on(env, 4)
    for other in others:
        assert go_on(other, 4) == wanted
    env.reset()
    env.set_state(snapshot)
    assert go_on(env, 4) == wanted


def go_on(env, steps, then=2):
    told = []
    for _ in range(steps):
        seen, reward, terminated, truncated, info = env.step(np.full(4, -0.1, np.float32))
        told.append((seen.tolist(), reward, repr(info)))
    assert terminated or truncated
    return told


def test_a_snapshot_holds_which_episode_it_is():
    for wrappers in ([Contexts(ARMS)], DRIFTS, LEVELS[:1]):
        env = made(*wrappers)
        episodes(env, 3)
        snapshot = env.get_state()
        wanted = [repr(info) for info in (env.reset()[1], env.reset()[1])]
        env.set_state(snapshot)
        assert [repr(info) for info in (env.reset()[1], env.reset()[1])] == wanted


def test_made_again_from_the_spec():
    wrappers = Contexts(ARMS, visible=True, selection=SPaCE(eta=0.2)), DRIFTS[1], LEVELS[1]
    wrappers = [wrappers[0], wrappers[1], LevelCurriculum([{}, {"gravity": 11.0}], window=2)]
    env = made(*wrappers)
    again = gymnasium.make(env.spec)
    json.dumps(env.recipe)
    wrapped = again
    while not hasattr(wrapped, "wrappers"):
        wrapped = wrapped.env
    assert wrapped.recipe == env.recipe
    assert [repr(i) for i in episodes(wrapped, 4)] == [repr(i) for i in episodes(env, 4)]


# --- curricula --------------------------------------------------------------------------------------------------------


def test_a_curriculum_hears_returns_when_the_next_episode_begins():
    env = made(Contexts(ARMS, selection=SPaCE(first=3)))
    curriculum, returns = env.wrappers[0].curriculum, {}
    for e in range(8):
        before = curriculum.heard
        _, info = env.reset(seed=0 if e == 0 else None)
        assert curriculum.heard == before + (e > 0)
        total = 0.0
        for _ in range(3):
            total += env.step(np.full(4, 0.5, np.float32))[1]
        returns[info["context_id"]] = total
    env.reset()
    for i, total in returns.items():
        assert curriculum.returns[i] == pytest.approx(total, rel=1e-12)


def test_a_vector_environment_tells_all_that_end():
    env = made_vec(6, Contexts(ARMS, selection=SPaCE(first=3)), autoreset_mode=AutoresetMode.SAME_STEP)
    env.reset(seed=0)
    for _ in range(6):
        env.step(np.zeros((6, 4), np.float32))
    assert env.wrappers[0].curriculum.heard == 12


def test_the_agents_of_a_world_are_one_report_of_their_mean():
    env = wrap(rlenvs.parallel_env(SPREAD, horizon=3), Contexts([{"damping": 0.3}], selection=SPaCE()))
    env.reset(seed=0)
    totals = dict.fromkeys(env.agents, 0.0)
    while env.agents:
        _, rewards, *_ = env.step({agent: i for i, agent in enumerate(env.agents)})
        totals = {agent: totals[agent] + reward for agent, reward in rewards.items()}
    env.reset()
    curriculum = env.wrappers[0].curriculum
    assert curriculum.heard == 1
    assert curriculum.returns[0] == pytest.approx(np.mean(list(totals.values())), rel=1e-12)


def test_an_episode_cut_short_by_a_seed_is_left_out():
    env = made(Contexts(ARMS, selection=SPaCE(first=3)))
    curriculum = env.wrappers[0].curriculum
    env.reset(seed=0)
    env.step(np.zeros(4, np.float32))
    env.reset(seed=0)
    assert curriculum.heard == 0
    env.step(np.zeros(4, np.float32))
    env.reset()  # cut short, but perhaps by a wrapper above
    assert curriculum.heard == 1
    for _ in range(3):
        env.step(np.zeros(4, np.float32))
    env.reset(seed=0)  # it was over
    assert curriculum.heard == 2


def test_the_source_of_mbtl_is_the_context_of_all_episodes():
    env = made(Contexts([{"arm": 0.03 + 0.002 * i} for i in range(9)], selection=MBTL(slope=0.02)))
    assert [info["context_id"] for info in episodes(env, 2)] == [4, 4]
    following = env.wrappers[0].curriculum.update(0.8)
    assert [info["context_id"] for info in episodes(env, 2)] == [following] * 2


def test_adr_draws_contexts_within_its_bounds():
    rule = ADR(start={"arm": [0.03, 0.05]}, step={"arm": 0.01}, measure="return", low=-2.0, high=-1.0, buffer=1)
    env = made(Contexts(selection=rule))
    infos = episodes(env, 30)
    assert {info["context_id"] for info in infos} == {-1, 0, 1}
    bounds = env.wrappers[0].curriculum.bounds[0]
    assert bounds[0] == 0.01  # returns are above -1, so both grow: down to the declared range
    assert bounds[1] > 0.1
    assert all(0.01 <= info["context"][0] <= bounds[1] for info in infos)


def test_a_self_paced_distribution_learns_from_its_own_draws():
    rule = SelfPaced(start={"arm": [0.04, 0.002]}, target={"arm": [0.08, 0.002]}, offset=0, every=10)
    env = made(Contexts(selection=rule, visible=True))
    infos = episodes(env, 61)
    curriculum = env.wrappers[0].curriculum
    assert curriculum.updates == 6
    assert curriculum.mean[0] > 0.04
    arms = np.array([info["context"][0] for info in infos])
    assert abs(arms[:10].mean() - 0.04) < 4 * 0.002 / math.sqrt(10)
    assert arms[50:].mean() > arms[:10].mean()


def test_a_curriculum_given_with_what_it_has_learned():
    learned = SPaCE()
    learned.begin(3)
    learned.update([0.0, 0.0, 1.0])
    env = made(Contexts(ARMS, selection=learned))
    assert {info["context_id"] for info in episodes(env, 5)} == {2}


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrappers", "message"),
    [
        ([Contexts()], "contexts="),
        ([Contexts([])], "contexts=.*empty"),
        ([Contexts(0.3)], "contexts=0.3"),
        ([Contexts([0.3])], "contexts="),
        ([Contexts([{}, {"arms": 0.1}])], r"contexts\[1\].*'arms'.*'arm'"),
        ([Contexts([{"arm": 9.0}])], r"contexts\[0\].*arm=9.0.*\[0.01, 0.5\]"),
        ([Contexts([{"arm": [0.1, 0.2]}])], r"contexts\[0\].*one number"),
        ([Contexts([{"arm": math.nan}])], r"contexts\[0\]"),
        ([Contexts(ARMS, features={"arm": ("uniform", 0.1, 0.2)})], "features"),
        ([Contexts(ARMS, samples=3)], "samples=3"),
        ([Contexts(features={"arm": ("uniform", 0.2, 0.1)})], "low <= high"),
        ([Contexts(features={"arm": ("uniform", 0.1, 5.0)})], "arm=.*range"),
        ([Contexts(features={"arm": ("gauss", 0.1, 0.2)})], "gauss"),
        ([Contexts(features={"arm": ("normal", 0.1, -0.2)})], "negative"),
        ([Contexts(features={"arm": ("log", 0.0, 0.2)})], "0 < low"),
        ([Contexts(features={"arm": ("uniform", 0.1, 0.2)}, samples=0)], "count=0"),
        ([Contexts(ARMS, selection="round-robin")], "'round_robin'"),
        ([Contexts(ARMS, selection=RoundRobin(3))], "offset=3"),
        ([Contexts(ARMS, selection=ADR(start={"arm": [0.1, 0.1]}, step={"arm": 0.1}))], "selection"),
        ([Contexts(selection=ADR(start={"arms": [0.1, 0.1]}, step={"arms": 0.1}))], "'arm'"),
        ([Contexts(selection=ADR(start={"arm": [0.1, 0.7]}, step={"arm": 0.1}))], r"start.*\[0.01, 0.5\]"),
        ([Contexts([{"inertia_x": 0.02}])], r"contexts\[0\]: inertia_x=0.02, .* violate a constraint"),
        ([Contexts(ARMS, visible=["mass"])], "visible=.*'mass'"),
        ([Contexts(ARMS, visible="arm")], "visible='arm'"),
        ([Contexts(ARMS), Contexts([{"gravity": 9.0}])], "one below"),
        ([Contexts(ARMS), EpisodeDrift("arm", scale=0.1)], "arm is set by the wrapper Contexts"),
        ([EpisodeDrift("arms", scale=0.1)], "'arm'"),
        ([EpisodeDrift("arm", "jump", scale=0.1)], "process='jump'"),
        ([EpisodeDrift("arm")], "scale=None is needed"),
        ([EpisodeDrift("arm", scale=-0.1)], "scale=-0.1"),
        ([EpisodeDrift("arm", scale=0.1, period=3)], "period=3 has no meaning"),
        ([EpisodeDrift("arm", "sine", period=0)], "period=0"),
        ([EpisodeDrift("arm", "steps", period=3, phase=1.0)], "phase=1.0 has no meaning"),
        ([EpisodeDrift("arm", "sine", period=3, high=2.0)], "high=2.0"),
        ([EpisodeDrift("arm", "sine", period=3, low=0.3, high=0.2)], "low=0.3"),
        ([EpisodeDrift("arm", scale=0.1, low=0.1)], "start=None is 0.0397"),
        ([EpisodeDrift("arm", scale=0.1, start=0.9)], "start=0.9"),
        ([LevelCurriculum(["easy", "heavy"])], "'heavy'"),
        ([LevelCurriculum([])], "levels="),
        ([LevelCurriculum("easy")], "levels='easy'"),
        ([LevelCurriculum([{"arm": 3.0}])], "arm=3.0"),
        ([LevelCurriculum([{"arms": 3.0}])], "'arm'"),
        ([LevelCurriculum(["easy"], schedule="time")], "schedule='time'"),
        ([LevelCurriculum(["easy"], schedule="episodes")], "episodes=None"),
        ([LevelCurriculum(["easy"], schedule="episodes", episodes=3, window=3)], "window=3"),
        ([LevelCurriculum(["easy"], schedule="episodes", episodes=3, shared=True)], "shared"),
        ([LevelCurriculum(["easy"], episodes=3)], "episodes=3"),
        ([LevelCurriculum(["easy"], window=0)], "window=0"),
        ([LevelCurriculum(["easy"], threshold=1.1)], "threshold=1.1"),
    ],
)
def test_impossible_settings_are_refused(wrappers, message):
    with pytest.raises(ParameterError, match=message):
        made(*wrappers)


def test_environments_of_other_packages_and_without_parameters():
    for wrapper in (Contexts(ARMS), DRIFTS[0], LEVELS[0]):
        with pytest.raises(ParameterError, match="not an environment of this package"):
            wrap(gymnasium.make("CartPole-v1"), wrapper)
        with pytest.raises(ParameterError):
            made(wrapper, id="DeepSeaTreasure-v0")


def test_parameters_that_something_else_sets():
    with pytest.raises(ParameterError, match="arm is set by randomize"):
        made(Contexts(ARMS), randomize={"arm": (0.03, 0.05)})
    with pytest.raises(ParameterError, match="arm is set by an array"):
        made_vec(2, Contexts(ARMS), arm=np.array([0.03, 0.05]))
    env = made(Contexts(ARMS))
    with pytest.raises(ParameterError, match="sets arm"):
        env.reset(seed=0, options={"params": {"arm": 0.1}})
    env.reset(seed=0, options={"params": {"gravity": 9.0}})
    assert value(env, "gravity") == 9.0


def test_contexts_that_do_not_exist_cannot_be_asked_for():
    for wrong in (3, -1, 0.5, [0, 1], "a"):
        with pytest.raises(ParameterError, match="context"):
            made(Contexts(ARMS)).reset(seed=0, options={"context": wrong})
    env = made_vec(3, Contexts(ARMS))
    assert env.reset(seed=0, options={"context": [2, 0, 1]})[1]["context_id"].tolist() == [2, 0, 1]
    assert env.reset(seed=0, options={"context": 1})[1]["context_id"].tolist() == [1, 1, 1]


def test_a_curriculum_needs_rewards_that_are_numbers():
    with pytest.raises(ParameterError, match="selection"):
        made(Contexts(ARMS, selection=SPaCE()), id="mo-" + HOVER)
