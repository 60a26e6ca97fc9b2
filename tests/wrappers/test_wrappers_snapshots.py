"""Where episodes begin: snapshots of a teacher, guides, and worlds that are never put back."""

from __future__ import annotations

import copy
import json
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from hypothesis import given, settings
from hypothesis import strategies as st
from support.wrapper_helpers import assert_conforms, assert_forms_agree

import rlenvs
from rlenvs.agents.teacher import collect_snapshots
from rlenvs.core.batch.snapshots import Snapshot
from rlenvs.core.check.playing import difference
from rlenvs.core.declare.errors import ActionError, ParameterError, SnapshotError
from rlenvs.core.forms.gym_env import Env
from rlenvs.core.forms.parallel_env import ParallelEnv
from rlenvs.wrappers.banks import SnapshotBuffer, classes_of
from rlenvs.wrappers.forms import wrap
from rlenvs.wrappers.guides import TRIES, GuideCurriculum, JumpStart
from rlenvs.wrappers.reset_free import ResetFree
from rlenvs.wrappers.snapshots import SnapshotReset

QUAD, SEA, TEAM, REACH = "QuadHover-v0", "DeepSeaTreasure-v0", "ParticleSpread-v0", "PandaReach-v0"
TUMBLE = np.array([1, -1, -1, 1], np.float32)  # ends an episode of QuadHover in a crash


@pytest.fixture(scope="module")
def hover():
    return collect_snapshots(QUAD, episodes=5, every=2, horizon=12)


@pytest.fixture(scope="module")
def spread():
    return collect_snapshots(TEAM, "random", episodes=4, every=2, horizon=12)


def states(env, bank):
    return bank.states.view(env.unwrapped.batch.states.dtype)[:, 0]


def everything(env, seed, steps=25, act=None):
    """What an environment in single form returns, over several episodes."""
    rng = np.random.default_rng(0)
    found = [env.reset(seed=seed)]
    for _ in range(steps):
        found.append(env.step(act if act is not None else rng.uniform(-1, 1, 4).astype(np.float32)))
        if found[-1][2] or found[-1][3]:
            found.append(env.reset())
    return found


# --- banks ------------------------------------------------------------------------------------------------------------


def test_collect_takes_every_so_many_steps_of_every_episode():
    bank = collect_snapshots(QUAD, episodes=3, every=4, seed=5, horizon=13)
    found = states(rlenvs.make(QUAD), bank)
    assert found["elapsed"].tolist() == [4, 4, 4, 8, 8, 8, 12, 12, 12]
    assert not found["over"].any()
    env = rlenvs.make(QUAD, horizon=13)
    for i in range(3):
        env.reset(seed=5 + i)
        for _ in range(4):
            env.step(env.unwrapped.batch.expert_actions()[0, 0])
        assert env.unwrapped.get_state() == bank[i]


def test_collect_takes_any_policy_and_refuses_wrong_numbers():
    seen = []
    bank = collect_snapshots(
        QUAD, lambda o: seen.append(o.shape) or np.zeros((len(o), 4)), episodes=2, every=3, horizon=7
    )
    assert len(bank) == 4
    assert seen[0] == (2, *rlenvs.make(QUAD).observation_space.shape)
    for name, value in {"episodes": 0, "every": 1.5, "seed": -1}.items():
        with pytest.raises(ParameterError, match=name):
            collect_snapshots(QUAD, **{name: value})
    with pytest.raises(ParameterError, match="every=20"):
        collect_snapshots(QUAD, every=20, horizon=12)


def test_files_hold_the_same_snapshots(hover, tmp_path):
    hover.save(tmp_path / "bank.npz")
    again = SnapshotBuffer.load(tmp_path / "bank.npz")
    assert list(again) == list(hover)
    assert len(again) == len(hover) == 25
    assert again[3] == hover[3]
    assert list(SnapshotBuffer.of(list(hover))) == list(hover)
    assert copy.deepcopy(hover) is hover
    assert "25 snapshots of QuadHover-v0" in repr(hover)


def test_banks_of_states_that_no_world_was_in_are_refused():
    env = rlenvs.make("Chain-v0", backend="python")
    env.reset(seed=0)
    whole = env.unwrapped.get_state()
    state = np.frombuffer(bytearray(whole.state), env.unwrapped.batch.states.dtype)
    state["number"] = 10
    forged = Snapshot.of(whole.world, state.tobytes(), whole.params)
    with pytest.raises(ParameterError, match=r"bank=.*number = 10, outside \[0, 9\]"):
        rlenvs.wrap(env, SnapshotReset(SnapshotBuffer.of([whole, forged])))


def test_what_is_no_bank_is_refused(hover, tmp_path):
    path = tmp_path / "bank.npz"
    with pytest.raises(SnapshotError, match=r"bank\.npz"):
        SnapshotBuffer.load(path)
    path.write_bytes(b"nothing")
    with pytest.raises(SnapshotError, match="not a snapshot file"):
        SnapshotBuffer.load(path)
    np.savez(path, states=hover.states)
    with pytest.raises(SnapshotError, match="not a snapshot file"):
        SnapshotBuffer.load(path)
    np.savez(path, format="rlenvs snapshots 9", world="", states=hover.states, params=hover.params)
    with pytest.raises(SnapshotError, match="snapshots 9"):
        SnapshotBuffer.load(path)
    np.savez(path, format="rlenvs snapshots 1", world="", states=hover.states[:3], params=hover.params)
    with pytest.raises(SnapshotError, match="not a snapshot file"):
        SnapshotBuffer.load(path)
    np.savez(path, format="rlenvs snapshots 1", world="", states=np.array([{}]), params=hover.params)
    with pytest.raises(SnapshotError, match="not a snapshot file"):
        SnapshotBuffer.load(path)  # needs pickle
    for wrong in ([], ["text"], [hover[0], hover[1]._replace(world="other")], [hover[0], hover[1]._replace(state=b"")]):
        with pytest.raises(SnapshotError):
            SnapshotBuffer.of(wrong)


def test_k_means_finds_separate_groups():
    rng = np.random.default_rng(3)
    points = np.concatenate([rng.normal(m, 0.1, (n, 2)) * [1, 1000] for m, n in ((0, 40), (2, 5), (4, 15))])
    points = np.hstack([points, np.ones((60, 1))])
    found = classes_of(points, 3)
    groups = [set(found[a:b]) for a, b in ((0, 40), (40, 45), (45, 60))]
    assert all(len(group) == 1 for group in groups)
    assert len(set.union(*groups)) == 3
    assert np.array_equal(found, classes_of(points, 3))
    assert set(classes_of(np.ones((5, 2)), 3)) == {0}


# --- SnapshotReset ----------------------------------------------------------------------------------------------------


def test_episodes_begin_at_snapshots_as_often_as_asked_and_evenly(hover):
    env = wrap(rlenvs.make_vec(QUAD, 2000, horizon=12), SnapshotReset(hover, 0.3))
    begun, at = [], []
    for seed in range(4):
        _, info = env.reset(seed=10000 * seed)
        begun.append(info["from_snapshot"])
        slots = env.batch.states[info["from_snapshot"]]
        known = {state["position"].tobytes(): k for k, state in enumerate(states(env, hover))}
        at += [known[slot["position"].tobytes()] for slot in slots]
    assert abs(np.mean(begun) - 0.3) < 4 * np.sqrt(0.21 / 8000)
    counts = np.bincount(at, minlength=25)
    expected = len(at) / 25
    assert ((counts - expected) ** 2 / expected).sum() < 51.2  # chi-square, 24 degrees of freedom, 0.1 %


def test_classes_are_drawn_evenly(hover):
    env = rlenvs.make(QUAD, horizon=12)
    pair = states(env, hover)[[0, 24]].copy()
    pair["position"][1] += 0.5  # far from the other
    common, rare = (Snapshot.of(hover[0].world, state.tobytes(), hover[0].params) for state in pair)
    bank = SnapshotBuffer.of([common] * 18 + [rare] * 2)
    for clusters, share in ((0, 0.1), (2, 0.5)):
        vector = wrap(rlenvs.make_vec(QUAD, 4000, horizon=12), SnapshotReset(bank, clusters=clusters))
        vector.reset(seed=0)
        found = np.mean(vector.batch.states["elapsed"] == pair["elapsed"][1])
        assert abs(found - share) < 4 * np.sqrt(share * (1 - share) / 4000)


def test_choosing_classes_leaves_the_world_as_it_was(hover):
    env = rlenvs.make(QUAD, horizon=12)
    env.reset(seed=1)
    env.step(np.full(4, 0.2, np.float32))
    before = env.unwrapped.get_state()
    wrap(env, SnapshotReset(hover, clusters=3))
    assert env.unwrapped.get_state() == before


def test_probability_zero_changes_nothing(hover):
    plain = rlenvs.make(QUAD, horizon=12)
    wrapped = wrap(rlenvs.make(QUAD, horizon=12), SnapshotReset(hover, 0.0, clusters=2, max_steps=3))
    for a, b in zip(everything(plain, 4), everything(wrapped, 4), strict=True):
        assert b[-1].pop("from_snapshot") is False
        assert not difference(list(a), list(b))


def test_a_reset_gives_what_the_snapshot_shows_without_reward_or_end(hover):
    env = wrap(rlenvs.make(QUAD, horizon=12), SnapshotReset([hover[7]]))
    other = rlenvs.make(QUAD, horizon=12)
    seen, info = env.reset(seed=0)
    assert np.array_equal(seen, other.unwrapped.set_state(hover[7]))
    assert info["from_snapshot"] is True
    assert not info["reward_vector"].any()
    assert info["cost"] == 0.0
    assert not env.top.over[0]
    assert env.observation_space.contains(seen)


def test_the_time_limit_goes_on_from_the_snapshot(hover):
    time = int(states(rlenvs.make(QUAD), hover)[12]["elapsed"])
    env = wrap(rlenvs.make(QUAD, horizon=12), SnapshotReset([hover[12]]))
    env.reset(seed=0)
    for k in range(12 - time):
        _, _, terminated, truncated, _ = env.step(env.expert_action())
        assert not terminated
        assert truncated == (k == 12 - time - 1)


def test_the_teachers_random_numbers_are_repeated_only_if_exact():
    bank = collect_snapshots("SafePointGoal-v0", "random", episodes=1, every=5, horizon=10)
    rng = lambda env: env.unwrapped.batch.states["rng"][0].tolist()  # noqa: E731
    taught = states(rlenvs.make("SafePointGoal-v0"), bank)["rng"][0].tolist()
    env = wrap(rlenvs.make("SafePointGoal-v0", horizon=10), SnapshotReset(bank))
    first = (env.reset(seed=0), rng(env))[1]
    second = (env.reset(), rng(env))[1]
    assert len({tuple(taught), tuple(first), tuple(second)}) == 3
    assert (env.reset(seed=0), rng(env))[1] == first
    exact = wrap(rlenvs.make("SafePointGoal-v0", horizon=10), SnapshotReset(bank, restore_rng=True))
    exact.reset(seed=0)
    assert exact.unwrapped.get_state() == bank[0]
    copied = rlenvs.make("SafePointGoal-v0", horizon=10)
    copied.unwrapped.set_state(bank[0])
    for _ in range(5):
        action = np.array([0.5, -0.1], np.float32)
        ours, theirs = exact.step(action), copied.unwrapped.step(action)
        assert ours[-1].pop("from_snapshot")
        assert not difference(list(ours), list(theirs))


def test_a_world_keeps_its_own_parameters(hover):
    env = wrap(rlenvs.make(QUAD, horizon=12, mass=0.035), SnapshotReset(hover))
    env.reset(seed=0)
    assert env.unwrapped.batch.get_params()["mass"] == 0.035
    with pytest.raises(ParameterError, match="restore_rng=True"):
        wrap(rlenvs.make(QUAD, horizon=12, mass=0.035), SnapshotReset(hover, restore_rng=True))


@given(probability=st.floats(0.2, 0.8), cut=st.integers(1, 5), seed=st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_only_episodes_from_snapshots_are_cut(hover, probability, cut, seed):
    env = wrap(
        rlenvs.make_vec(QUAD, 6, horizon=12, autoreset_mode="SAME_STEP"),
        SnapshotReset(hover, probability, max_steps=cut),
    )
    _, info = env.reset(seed=seed)
    steps, short, start = np.zeros(6, int), info["from_snapshot"], env.batch.states["elapsed"].copy()
    for _ in range(20):
        _, _, terminated, truncated, info = env.step(np.tile(env.expert_actions(), 1))
        steps += 1
        limit = np.where(short, np.minimum(cut, 12 - start), 12)
        assert np.array_equal(truncated, steps == limit)
        assert not terminated.any()
        ended = truncated
        steps[ended], start[ended] = 0, env.batch.states["elapsed"][ended]
        assert np.array_equal(short[~ended], info["from_snapshot"][~ended])
        short = info["from_snapshot"]


def test_after_some_steps_resets_are_plain(hover):
    env = wrap(rlenvs.make(QUAD, horizon=12), SnapshotReset(hover, max_steps=2, disable_after_steps=4))
    flags, made = [], 0
    for _ in range(5):
        _, info = env.reset()
        flags.append((made, info["from_snapshot"]))
        over = False
        while not over:
            _, _, terminated, truncated, info = env.step(env.expert_action())
            over, made = terminated or truncated, made + 1
            assert info["from_snapshot"] == flags[-1][1]
    assert all(flag == (made < 4) for made, flag in flags)
    assert [flag for _, flag in flags][-1] is False


@pytest.mark.parametrize("id", [QUAD, "SafePointGoal-v0", SEA, TEAM])
def test_snapshots_are_the_same_in_single_and_vector_forms(id):
    bank = collect_snapshots(id, "random", episodes=4, every=2, horizon=9)
    assert_forms_agree(id, SnapshotReset(bank, 0.6, clusters=3, max_steps=3, disable_after_steps=20))


def test_mujoco_worlds_and_their_goal_form():
    pytest.importorskip("mujoco")
    bank = collect_snapshots(REACH, episodes=2, every=3, horizon=12)
    assert_forms_agree(REACH, SnapshotReset(bank, 0.6, max_steps=4), steps=20)
    env = wrap(
        rlenvs.make(REACH, form="goal"), SnapshotReset(collect_snapshots(REACH, episodes=2, every=3, form="goal"))
    )
    seen, _ = env.reset(seed=0)
    assert env.observation_space.contains(seen)
    exact = wrap(rlenvs.make(REACH), SnapshotReset([bank[0]], restore_rng=True))
    exact.reset(seed=0)
    other = rlenvs.make(REACH)
    other.unwrapped.set_state(bank[0])
    for _ in range(4):
        assert np.array_equal(exact.step(np.ones(3, np.float32))[0], other.unwrapped.step(np.ones(3, np.float32))[0])


def test_a_team_goes_back_as_a_whole(spread):
    env = wrap(rlenvs.parallel_env(TEAM, horizon=12), SnapshotReset([spread[5]], max_steps=3))
    other = rlenvs.parallel_env(TEAM, horizon=12)
    seen, infos = env.reset(seed=3)
    assert not difference(seen, other.set_state(spread[5]))
    assert all(info["from_snapshot"] for info in infos.values())
    assert env.env.unwrapped.agents == env.agents == env.possible_agents
    for k in range(3):
        *_, ends, cuts, infos = env.step(dict.fromkeys(env.agents, 0))
        assert not any(ends.values())
        assert all(cut == (k == 2) for cut in cuts.values())
        assert all(info["from_snapshot"] for info in infos.values())
    assert env.agents == []


def test_the_single_form_of_a_team_begins_where_the_parallel_form_does(spread):
    wrapper = SnapshotReset(spread, 0.5)
    single, parallel = (
        wrap(rlenvs.make(TEAM, horizon=12), wrapper),
        wrap(rlenvs.parallel_env(TEAM, horizon=12), wrapper),
    )
    flags = []
    for seed in range(8):
        (seen, info), (all_seen, infos) = single.reset(seed=seed), parallel.reset(seed=seed)
        assert np.array_equal(seen, all_seen["agent_0"])
        assert {each["from_snapshot"] for each in infos.values()} == {info["from_snapshot"]}
        flags.append(info["from_snapshot"])
    assert len(set(flags)) == 2


def test_dead_agents_stay_dead():
    env = ParallelEnv("toys.countdown:SPEC")
    env.reset(seed=0)
    env.step(dict.fromkeys(env.agents, 0))  # the first agent dies
    snapshot = env.get_state()
    wrapped = wrap(ParallelEnv("toys.countdown:SPEC"), SnapshotReset([snapshot], 0.5))
    flags = set()
    for seed in range(8):
        seen, infos = wrapped.reset(seed=seed)
        begun = infos["agent_1"]["from_snapshot"]
        flags.add(begun)
        assert list(seen) == list(infos) == wrapped.agents == wrapped.env.agents
        assert wrapped.agents == (["agent_1", "agent_2"] if begun else wrapped.possible_agents)
        *_, ends, _, _ = wrapped.step(dict.fromkeys(wrapped.agents, 0))
        assert ends == (
            {"agent_1": True, "agent_2": False} if begun else {"agent_0": True, "agent_1": False, "agent_2": False}
        )
    assert flags == {True, False}
    with pytest.raises(ParameterError, match="first agent"):
        wrap(Env("toys.countdown:SPEC"), SnapshotReset([snapshot]))


WRAPPERS = {
    "snapshots": lambda bank: (
        QUAD,
        SnapshotReset(bank, 0.5, clusters=2, max_steps=4, disable_after_steps=30),
        {"horizon": 12},
    ),
    "jump start": lambda bank: (QUAD, JumpStart("expert", 3, random=True), {"horizon": 12}),
    "reset-free": lambda bank: (QUAD, ResetFree(backward=None, manual_reset_every=9), {"horizon": 6}),
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_copies_pickles_and_snapshots_go_on_alike(name, hover):
    id, wrapper, keywords = WRAPPERS[name](hover)
    vector = wrap(rlenvs.make_vec(id, 3, **keywords), wrapper)
    vector.reset(seed=0)
    actions = np.random.default_rng(1).uniform(-1, 1, (40, 3, 4)).astype(np.float32)
    for a in actions[:7]:
        vector.step(a)
    twins = [copy.deepcopy(vector), pickle.loads(pickle.dumps(vector))]
    state = pickle.loads(pickle.dumps(vector.get_state()))
    went = [vector.step(a) for a in actions[7:]]
    for twin in twins:
        assert not difference(went, [twin.step(a) for a in actions[7:]])
    other = wrap(rlenvs.make_vec(id, 3, **keywords), wrapper)
    other.set_state(state)
    assert not difference(went, [other.step(a) for a in actions[7:]])


def test_parallel_snapshots_go_on_alike(spread):
    env = wrap(rlenvs.parallel_env(TEAM, horizon=12), SnapshotReset(list(spread)[:8], max_steps=6))
    env.reset(seed=2)
    step = lambda env: env.step(dict.fromkeys(env.agents, 1))  # noqa: E731
    step(env)
    twin, state = pickle.loads(pickle.dumps(env)), env.get_state()
    went = [step(env) for _ in range(3)]
    assert not difference(went, [step(twin) for _ in range(3)])
    env.set_state(state)
    assert not difference(went, [step(env) for _ in range(3)])


def test_specs_make_the_same_again(hover, tmp_path):
    path = str(tmp_path / "bank.npz")
    hover.save(path)
    for bank in (hover, path):
        env = wrap(gymnasium.make("rlenvs/QuadHover-v0", horizon=12), SnapshotReset(bank, 0.5))
        specs = [env.spec] if bank is hover else [env.spec, EnvSpec.from_json(env.spec.to_json())]
        for spec in specs:
            again = gymnasium.make(spec)
            assert again.recipe == env.recipe
            for seed in range(4):
                assert not difference(list(env.reset(seed=seed)), list(again.reset(seed=seed)))
    assert json.loads(json.dumps(env.recipe))[0]["bank"] == path


@pytest.mark.parametrize(
    "wrapper",
    [
        JumpStart("expert", 3, random=True),
        JumpStart("test_wrappers_snapshots:tumble", 2),
        ResetFree("test_wrappers_reset_free:never", None, steps=4, switch="time", manual_reset_every=6),
    ],
)
def test_specs_of_json_make_the_other_wrappers_again(wrapper):
    env = wrap(gymnasium.make("rlenvs/QuadHover-v0"), wrapper)
    again = gymnasium.make(EnvSpec.from_json(env.spec.to_json()))
    assert again.recipe == env.recipe
    assert not difference(everything(env, 2), everything(again, 2))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bank": "nowhere.npz"}, ["bank", "nowhere.npz"]),
        ({"bank": []}, ["bank", "at least one"]),
        ({"bank": 3}, ["bank=3", "SnapshotBuffer"]),
        ({"probability": 1.2}, ["probability=1.2", "[0, 1]"]),
        ({"probability": float("nan")}, ["probability"]),
        ({"clusters": -1}, ["clusters=-1"]),
        ({"clusters": 26}, ["clusters=26", "25"]),
        ({"max_steps": 0}, ["max_steps=0", "at least 1"]),
        ({"disable_after_steps": 2.5}, ["disable_after_steps=2.5"]),
    ],
)
def test_impossible_snapshot_settings(hover, change, words):
    with pytest.raises(ParameterError) as error:
        wrap(rlenvs.make(QUAD, horizon=12), SnapshotReset(**{"bank": hover, **change}))
    assert all(word in str(error.value) for word in ["SnapshotReset", *words])


def test_snapshots_that_do_not_fit(hover, spread):
    env = rlenvs.make(QUAD)
    with pytest.raises(ParameterError, match="does not fit QuadHover"):
        wrap(env, SnapshotReset(spread))
    with pytest.raises(ParameterError, match="finished episodes"):
        wrap(env, SnapshotReset([env.unwrapped.get_state()]))
    with pytest.raises(ParameterError, match="before step 2"):
        wrap(rlenvs.make(QUAD, horizon=2), SnapshotReset(hover))
    assert len(wrap(rlenvs.make(QUAD, horizon=5), SnapshotReset(hover)).wrappers[0]._states) == 10


@pytest.mark.parametrize("wrapper", [lambda bank: SnapshotReset(bank), lambda bank: ResetFree(backward=None)])
def test_wrappers_that_set_states_are_the_lowest(hover, wrapper):
    with pytest.raises(ParameterError, match="innermost wrapper"):
        wrap(rlenvs.make(QUAD), JumpStart(), wrapper(hover))
    with pytest.raises(ParameterError, match="not a world of this package"):
        wrap(gymnasium.make("Pendulum-v1"), wrapper(hover))
    seen = gymnasium.wrappers.TransformObservation(rlenvs.make(QUAD), lambda o: o, None)
    with pytest.raises(ParameterError, match="below TransformObservation"):
        wrap(seen, wrapper(hover))


# --- JumpStart --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", [QUAD, SEA])
def test_the_guide_acts_in_the_world_before_the_learner(id):
    led, plain = wrap(rlenvs.make(id), JumpStart("expert", 3)), rlenvs.make(id)
    seen, info = led.reset(seed=4)
    plain.reset(seed=4)
    for _ in range(3):
        *_, last = plain.step(plain.unwrapped.expert_action())
    assert info["guide_steps"] == 3
    assert led.unwrapped.get_state() == plain.unwrapped.get_state()
    assert np.array_equal(seen, plain.unwrapped._observation())
    assert last["reward_vector"].any()
    assert not info["reward_vector"].any()  # of the guide's steps nothing is shown
    assert led.unwrapped.batch.records(0)[1]["elapsed"] == 3
    action = plain.unwrapped.expert_action()
    ours, theirs = led.step(action), plain.step(action)
    assert ours[-1].pop("guide_steps") == 3
    assert not difference(list(ours), list(theirs))


def test_no_steps_change_nothing():
    plain, wrapped = rlenvs.make(QUAD, horizon=12), wrap(rlenvs.make(QUAD, horizon=12), JumpStart("expert", 0))
    for a, b in zip(everything(plain, 4), everything(wrapped, 4), strict=True):
        assert b[-1].pop("guide_steps") == 0
        assert not difference(list(a), list(b))


def test_random_lengths_are_uniform_and_follow_from_the_seed():
    env = wrap(rlenvs.make_vec(QUAD, 3000), JumpStart("expert", 4, random=True))
    _, info = env.reset(seed=0)
    counts = np.bincount(info["guide_steps"], minlength=5)
    assert len(counts) == 5
    assert ((counts - 600) ** 2 / 600).sum() < 18.5  # chi-square, 4 degrees of freedom, 0.1 %
    assert np.array_equal(env.batch.states["elapsed"], info["guide_steps"])
    single = wrap(rlenvs.make(QUAD), JumpStart("expert", 4, random=True))
    for i in range(10):
        assert single.reset(seed=i)[1]["guide_steps"] == info["guide_steps"][i]


def test_steps_can_be_changed_while_training():
    env = wrap(rlenvs.make(QUAD), JumpStart("expert", 5))
    assert env.reset(seed=0)[1]["guide_steps"] == 5
    env.wrappers[0].steps = 2
    assert env.reset()[1]["guide_steps"] == 2


def tumble(observations):
    return np.tile(TUMBLE, (len(observations), 1))


def push(observations):
    return np.ones(len(observations), np.int64)


def test_functions_guide_worlds_of_other_packages_too():
    env = wrap(gymnasium.make("CartPole-v1"), JumpStart(push, 4))
    seen, info = env.reset(seed=1)
    plain = gymnasium.make("CartPole-v1")
    plain.reset(seed=1)
    for _ in range(4):
        expected = plain.step(1)[0]
    assert np.array_equal(seen, expected)
    assert info["guide_steps"] == 4
    by_name = wrap(gymnasium.make("CartPole-v1"), JumpStart("test_wrappers_snapshots:push", 4))
    assert np.array_equal(by_name.reset(seed=1)[0], seen)


def test_what_wrappers_below_show_stays_as_they_show_it():
    half = gymnasium.wrappers.TransformObservation(rlenvs.make(QUAD), lambda o: 0.5 * o, None)
    seen, _ = wrap(half, JumpStart("expert", 3)).reset(seed=0)
    plain = wrap(rlenvs.make(QUAD), JumpStart("expert", 3)).reset(seed=0)[0]
    assert np.array_equal(seen, 0.5 * plain)


def test_a_guide_that_ends_episodes_gives_up_after_some_tries():
    env = wrap(gymnasium.make("CartPole-v1"), JumpStart(push, 200))
    begun = []
    env.wrappers[0].below.reset = lambda *a, inner=env.wrappers[0].below.reset: begun.append(1) or inner(*a)
    _, info = env.reset(seed=1)
    assert info["guide_steps"] == 0
    assert len(begun) == 1 + TRIES
    assert not env.top.over[0]
    env.step(0)


def test_where_the_guide_fails_only_that_slot_begins_again():
    def careless(observations):
        actions = np.zeros((len(observations), 4), np.float32)
        actions[1] = TUMBLE
        return actions

    env = wrap(rlenvs.make_vec(QUAD, 3), JumpStart(careless, 40))
    plain = wrap(rlenvs.make_vec(QUAD, 3), JumpStart(lambda o: np.zeros((len(o), 4), np.float32), 40))
    seen, info = env.reset(seed=0)
    expected, _ = plain.reset(seed=0)
    assert info["guide_steps"].tolist() == [40, 0, 40]
    assert np.array_equal(seen[[0, 2]], expected[[0, 2]])


def test_the_guide_sees_what_the_wrappers_below_show(hover):
    env = wrap(rlenvs.make(QUAD, horizon=12), SnapshotReset(hover, max_steps=9), JumpStart("expert", 2))
    _, info = env.reset(seed=0)
    assert info["from_snapshot"]
    assert info["guide_steps"] == 2
    assert env.unwrapped.batch.records(0)[1]["elapsed"] in (4, 6, 8, 10, 12)


@pytest.mark.parametrize("id", [QUAD, SEA])
def test_jump_starts_are_the_same_in_single_and_vector_forms(id):
    assert_forms_agree(id, JumpStart("expert", 4, random=True))


def test_guides_lead_whole_teams():
    env, plain = wrap(rlenvs.parallel_env(TEAM), JumpStart("expert", 3, random=True)), rlenvs.parallel_env(TEAM)
    for seed in range(4):
        seen, infos = env.reset(seed=seed)
        plain.reset(seed=seed)
        steps = {info["guide_steps"] for info in infos.values()}
        assert len(steps) == 1
        for _ in range(steps.pop()):
            plain.step(plain.expert_actions())
        assert not difference(seen, plain._observations(plain.agents))
    player = plain.unwrapped.batch.world.players[-1]
    wrap(rlenvs.parallel_env(TEAM), JumpStart(player, 3)).reset(seed=0)


@pytest.mark.parametrize(
    ("wrapper", "words"),
    [
        (JumpStart(steps=-1), ["steps=-1"]),
        (JumpStart(steps=12), ["steps=12", "11"]),
        (JumpStart(random=1), ["random=1"]),
        (JumpStart("nobody"), ["guide='nobody'", "expert"]),
        (JumpStart("test_wrappers_snapshots:nobody"), ["nobody"]),
        (JumpStart(3), ["guide=3", "function"]),
    ],
)
def test_impossible_guides(wrapper, words):
    with pytest.raises(ParameterError) as error:
        wrap(rlenvs.make(QUAD, horizon=12), wrapper)
    assert all(word in str(error.value) for word in words)
    with pytest.raises(ParameterError, match="give CartPole-v1 a function"):
        wrap(gymnasium.make("CartPole-v1"), JumpStart())


def test_wrong_actions_of_a_guide_are_refused():
    env = wrap(rlenvs.make(QUAD), JumpStart(lambda o: np.zeros((len(o), 3)), 2))
    with pytest.raises(ActionError, match="guide"):
        env.reset(seed=0)


def test_the_curriculum_lowers_the_steps_when_evaluations_are_good_enough():
    curriculum = GuideCurriculum([20, 10, 0], guide_return=100.0, tolerance=0.1, window=2)
    assert curriculum.steps == 20
    assert [curriculum.update(r) for r in (80, 99)] == [20, 20]  # mean 89.5 < 90
    assert curriculum.update(81) == 10  # mean 90
    assert [curriculum.update(r) for r in (200, 200)] == [10, 0]
    assert curriculum.best == 200.0
    assert [curriculum.update(r) for r in (0, 0)] == [0, 0]
    negative = GuideCurriculum([5, 0], guide_return=-10.0, tolerance=0.2, window=1)
    assert negative.update(-12.1) == 5
    assert negative.update(-12.0) == 0
    wrong = [{"lengths": []}, {"lengths": [1, 1]}, {"lengths": [1, -1]}, {"tolerance": 1.0}, {"window": 0}]
    for change in (*wrong, {"guide_return": np.nan}):
        with pytest.raises(ParameterError, match="GuideCurriculum"):
            GuideCurriculum(**{"lengths": [1, 0], "guide_return": 1.0, **change})


# --- all wrappers ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_conformance(hover, spread):
    pytest.importorskip("mujoco")
    assert_conforms(QUAD, SnapshotReset(hover, 0.6, clusters=4, max_steps=5))
    assert_conforms(TEAM, SnapshotReset(spread, 0.6, max_steps=3))
    assert_conforms(SEA, JumpStart("expert", 2, random=True))
    assert_conforms(QUAD, ResetFree(backward=None))
    assert_conforms(REACH, ResetFree(steps=5, manual_reset_every=17))
