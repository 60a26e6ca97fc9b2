"""RLlib's form of multi-agent worlds, and training on a real local Ray (the tests marked slow)."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from gymnasium import spaces
from support.places import ROOT, TESTS
from toys import spaces as toy_spaces

import rlenvs
from rlenvs.core.declare.errors import (
    ActionError,
    EpisodeOverError,
    ParameterError,
    UnknownKeywordError,
    UnknownNameError,
)

ray = pytest.importorskip("ray", reason="ray is not installed: RLlib's form is not tested")
pytest.importorskip("ray.rllib", reason="ray is installed without RLlib")

from ray.rllib.algorithms.algorithm import Algorithm  # noqa: E402
from ray.rllib.algorithms.ppo import PPOConfig  # noqa: E402
from ray.rllib.core.rl_module.rl_module import RLModuleSpec  # noqa: E402
from ray.rllib.env.env_context import EnvContext  # noqa: E402
from ray.rllib.env.multi_agent_episode import MultiAgentEpisode  # noqa: E402
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule  # noqa: E402
from ray.rllib.utils.pre_checks.env import check_multiagent_environments  # noqa: E402
from ray.tune.registry import ENV_CREATOR, _global_registry, register_env  # noqa: E402

from rlenvs.core.catalogue.registry import catalogue  # noqa: E402
from rlenvs.core.catalogue.registry import register as register_world  # noqa: E402
from rlenvs.integrations.rllib import RLlibEnv, forget_infos, register  # noqa: E402
from rlenvs.wrappers import Actuator, Sensor, wrap  # noqa: E402
from rlenvs.wrappers.forms import WrappedVectorEnv  # noqa: E402

# what ends how: all at once; one by one; some by reaching their goals and the others by the time limit; by the limit
WORLDS = {
    "battle": ("Battle-v0", {"dead": "leave", "opponent": "kiting"}),
    "drones": ("QuadMultiHover-v0", {}),
    "paths": ("PathFinding-v0", {"horizon": 25}),
    "tag": ("ParticleTag-v0", {}),
    "speaker": ("ParticleSpeakerListener-v0", {}),
}
MULTI = [id for id in rlenvs.list_envs("multi-agent") if "/mo-" not in id]


def legal(env, observations, generator):
    """Random actions that masks allow, and none for agents that are gone."""

    def one(agent):
        space = env.action_space(agent)
        if isinstance(space, spaces.Box):
            return generator.uniform(-1.0, 1.0, space.shape).astype(np.float32)
        mask = observations[agent]["action_mask"] if isinstance(observations[agent], dict) else np.ones(space.n)
        return int(generator.choice(np.flatnonzero(mask)))

    return {agent: one(agent) for agent in env.agents}


def equal(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    return np.array_equal(a, b)


def renamed(observation):
    if not isinstance(observation, dict):
        return observation
    return {"observations": observation["observation"], "action_mask": observation["action_mask"]}


# --- the adapter, against the parallel form ---------------------------------------------------------------------------


@pytest.mark.parametrize(("id", "keywords"), WORLDS.values(), ids=WORLDS)
def test_numbers_are_those_of_the_parallel_form(id, keywords):
    mine, other = RLlibEnv(id, **keywords), rlenvs.parallel_env(id, **keywords)
    generator = np.random.default_rng(0)
    assert mine.possible_agents == other.possible_agents
    for episode in range(3):
        (seen, infos), (expected, told) = (env.reset(seed=7 if episode == 0 else None) for env in (mine, other))
        assert infos.keys() == told.keys()
        while other.agents:
            assert seen.keys() == expected.keys()
            for agent in seen:
                assert mine.get_observation_space(agent).contains(seen[agent])
                assert equal(seen[agent], renamed(expected[agent]))
                assert equal(infos[agent], told[agent])
            actions = legal(other, expected, generator)
            seen, rewards, terminated, truncated, infos = mine.step(dict(actions))
            expected, other_rewards, ends, cuts, told = other.step(dict(actions))
            assert rewards == other_rewards
            assert mine.agents == list(ends) == list(rewards)
            over = not other.agents
            assert terminated["__all__"] == (over and not any(cuts.values()))
            assert truncated["__all__"] == (over and any(cuts.values()))
            assert {agent: terminated[agent] for agent in ends} == ends
            assert type(terminated["__all__"]) is type(truncated["__all__"]) is bool


@pytest.mark.parametrize(("id", "keywords"), WORLDS.values(), ids=WORLDS)
@pytest.mark.parametrize("cut", [False, True], ids=["whole", "in chunks"])
def test_rllib_learns_how_every_agent_ended(id, keywords, cut):
    """A time limit must not be learned as an end: RLlib adds no value of the last observation after a termination."""
    env, twin = RLlibEnv(id, **keywords), rlenvs.parallel_env(id, **keywords)
    generator, ways = np.random.default_rng(1), set()
    for seed in range(4):
        episode = MultiAgentEpisode()
        observations, infos = env.reset(seed=seed)
        expected, _ = twin.reset(seed=seed)
        episode.add_env_reset(observations=observations, infos=infos)
        found, wanted = {}, {}
        while not episode.is_done:
            actions = legal(twin, expected, generator)
            assert set(episode.get_agents_to_act()) == set(twin.agents)
            observations, rewards, terminated, truncated, infos = env.step(actions)
            episode.add_env_step(observations, actions, rewards, infos, terminateds=terminated, truncateds=truncated)
            expected, _, ends, cuts, _ = twin.step(actions)
            for agent, own in episode.agent_episodes.items():
                if own.is_done:
                    found.setdefault(agent, "terminated" if own.is_terminated else "truncated")
            wanted.update({agent: "terminated" for agent in ends if ends[agent]})
            wanted.update({agent: "truncated" for agent in ends if cuts[agent] and not ends[agent]})
            assert episode.is_done == (not twin.agents)
            if cut and not episode.is_done:
                episode = episode.cut()
        assert found == wanted
        ways.add(frozenset(found.values()))
    if id == "PathFinding-v0":
        assert frozenset({"terminated", "truncated"}) in ways


@pytest.mark.parametrize(("id", "keywords"), WORLDS.values(), ids=WORLDS)
def test_writing_into_what_was_returned_changes_nothing(id, keywords):
    mine, twin = RLlibEnv(id, **keywords), RLlibEnv(id, **keywords)
    generator = np.random.default_rng(2)

    def spoil(thing):
        for key in list(thing):
            if isinstance(thing[key], dict):
                spoil(thing[key])
            elif isinstance(thing[key], np.ndarray):
                thing[key][...] = 1
            thing.pop(key)
        thing["spoilt"] = True

    (seen, infos), (expected, told) = mine.reset(seed=3), twin.reset(seed=3)
    for _ in range(60):
        actions = legal(twin.parallel, expected, generator)
        for returned in (seen, infos):
            spoil(returned)
        mine.agents.append("nobody")
        mine.metadata["autoreset_mode"] = "next_step"
        seen, rewards, terminated, truncated, infos = mine.step(dict(actions))
        expected, *others, told = twin.step(dict(actions))
        assert equal(seen, expected)
        assert equal(infos, told)
        assert [rewards, terminated, truncated] == others
        over = terminated["__all__"] or truncated["__all__"]
        for returned in (rewards, terminated, truncated):
            spoil(returned)
        if over:
            (seen, infos), (expected, told) = mine.reset(), twin.reset()
            assert equal(seen, expected)
            assert equal(infos, told)
    assert "autoreset_mode" not in twin.metadata


@pytest.mark.parametrize("id", MULTI)
@pytest.mark.parametrize("masks", [True, False])
def test_rllibs_own_check(id, masks):
    try:
        env = RLlibEnv(id, masks=masks)
    except ImportError:
        pytest.skip("its engine is not installed")
    check_multiagent_environments(env)


def test_rllibs_own_check_where_all_die_in_the_first_step():
    check_multiagent_environments(RLlibEnv("Battle-v0", horizon=1))


def test_without_masks():
    env = RLlibEnv("Battle-v0", masks=False)
    observations, _ = env.reset(seed=0)
    expected, _ = rlenvs.parallel_env("Battle-v0").reset(seed=0)
    for agent, seen in observations.items():
        assert isinstance(env.observation_spaces[agent], spaces.Box)
        assert np.array_equal(seen, expected[agent]["observation"])
    stepped = env.step(dict.fromkeys(env.agents, 1))[0]
    assert all(isinstance(seen, np.ndarray) for seen in stepped.values())


@pytest.mark.parametrize("id", ["Battle-v0", "QuadMultiHover-v0"])
def test_wrappers(id):
    wrappers = [Actuator(delay=1)] if id == "Battle-v0" else [Actuator(delay=1), Sensor("position", noise=0.1)]
    env, expected = RLlibEnv(id, wrappers=wrappers), wrap(rlenvs.parallel_env(id), *wrappers)
    generator = np.random.default_rng(4)
    (seen, _), (wanted, _) = env.reset(seed=2), expected.reset(seed=2)
    for _ in range(10):
        assert all(equal(seen[agent], renamed(wanted[agent])) for agent in wanted)
        assert all(env.observation_spaces[agent].contains(seen[agent]) for agent in seen)
        actions = legal(expected, wanted, generator)
        seen, rewards, *_ = env.step(dict(actions))
        wanted, others, *_ = expected.step(dict(actions))
        assert rewards == others
    assert len(_global_registry.get(ENV_CREATOR, register(id, wrappers=wrappers))(EnvContext({}, 1)).parallel.wrappers)


def test_a_closed_world_may_be_closed_again():
    env = RLlibEnv("ParticleTag-v0", render_mode="rgb_array")
    env.reset(seed=0)
    assert env.render().ndim == 3
    env.close()
    env.close()


# --- seeds ------------------------------------------------------------------------------------------------------------


def first_observation(env, **keywords):
    return np.concatenate(list(env.reset(**keywords)[0].values()))


def test_the_check_does_not_give_all_worlds_one_seed():
    checked = [RLlibEnv("ParticleTag-v0") for _ in range(2)]
    for env in checked:
        check_multiagent_environments(env)
    assert not np.array_equal(*(first_observation(env) for env in checked))


def test_a_seed_is_kept_after_the_check():
    env = RLlibEnv("ParticleTag-v0")
    check_multiagent_environments(env)
    plain = RLlibEnv("ParticleTag-v0")
    for keywords in ({"seed": 5}, {}, {}):
        assert np.array_equal(first_observation(env, **keywords), first_observation(plain, **keywords))


def test_neighbouring_runners_have_no_world_in_common():
    """RLlib seeds world i of runner w with seed + w + i."""
    create = _global_registry.get(ENV_CREATOR, register("ParticleTag-v0"))
    seen = set()
    for worker in (1, 2):
        for i in range(8):
            env = create(EnvContext({}, worker_index=worker))
            seen.add(first_observation(env, seed=10 + worker + i).tobytes())
    assert len(seen) == 16


def test_local_runner_has_the_seeds_of_the_parallel_form():
    create = _global_registry.get(ENV_CREATOR, register("ParticleTag-v0"))
    expected = rlenvs.parallel_env("ParticleTag-v0").reset(seed=4)[0]
    for worker in (0, None):  # None where a runner is made by hand
        assert equal(create(EnvContext({}, worker_index=worker)).reset(seed=4)[0], expected)


# --- the register, and bad input --------------------------------------------------------------------------------------


def test_register_keeps_keywords_and_env_config_wins():
    name = register("PathFinding-v0", agents=3, masks=False)
    assert name == register("rlenvs/PathFinding-v0", agents=3, masks=False) == "rlenvs/multi-PathFinding-v0"
    create = _global_registry.get(ENV_CREATOR, name)
    assert len(create(EnvContext({}, worker_index=1)).possible_agents) == 3
    other = create(EnvContext({"agents": 2, "masks": True}, worker_index=1))
    assert len(other.possible_agents) == 2
    assert isinstance(other.observation_spaces["agent_0"], spaces.Dict)


def test_an_own_world_need_not_be_registered_in_the_runner(monkeypatch):
    register_world("Pursuit-v0", "toys.pursuit:SPEC", ["multi-agent"])
    create = _global_registry.get(ENV_CREATOR, register("Pursuit-v0"))
    monkeypatch.delitem(catalogue, "rlenvs/Pursuit-v0")
    assert create(EnvContext({}, worker_index=1)).possible_agents == ["hunter", "hare_0", "hare_1"]


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("world", [toy_spaces.MEET, toy_spaces.PORTERS, toy_spaces.WALKS], ids=lambda world: world.name)
def test_images_whole_numbers_and_several_choices(world, flat, monkeypatch):
    monkeypatch.delitem(catalogue, f"rlenvs/{world.name}", raising=False)
    register_world(world.name, world)
    env = RLlibEnv(world.name, backend="python", flat_actions=flat)
    check_multiagent_environments(env)
    observations, _ = env.reset(seed=0)
    for agent, seen in observations.items():
        assert env.observation_spaces[agent].contains(seen)
    if world is toy_spaces.PORTERS:
        assert observations["agent_0"]["action_mask"].shape == ((9,) if flat else (6,))
        expected = spaces.Discrete(9) if flat else spaces.MultiDiscrete([3, 3])
        assert env.action_spaces["agent_0"] == expected
    env.step({agent: env.action_spaces[agent].sample() for agent in env.agents})


@pytest.mark.parametrize("make", [RLlibEnv, register])
def test_bad_input(make):
    with pytest.raises(UnknownNameError, match="Battle-v0"):
        make("Batle-v0")
    with pytest.raises(UnknownKeywordError, match="scenario"):
        make("Battle-v0", scenarios="3m")
    with pytest.raises(ParameterError, match=r"not support vector rewards; use 'rlenvs/Battle-v0' with weights"):
        make("mo-Battle-v0")
    with pytest.raises(ParameterError, match="not support vector rewards"):
        make("Battle-v0", vector_reward=True)


def test_bad_steps():
    env = RLlibEnv("ParticleTag-v0", horizon=1)
    with pytest.raises(EpisodeOverError, match="reset"):
        env.step({})
    env.reset(seed=0)
    with pytest.raises(ActionError, match="no action was given for"):
        env.step({})
    env.step(dict.fromkeys(env.agents, 0))
    with pytest.raises(EpisodeOverError):
        env.step(dict.fromkeys(env.agents, 0))


# --- a real Ray -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    here = {"env_vars": {"PYTHONPATH": str(TESTS)}}  # where the runners find a test's own world
    ray.init(num_cpus=2, num_gpus=0, include_dashboard=False, log_to_driver=False, runtime_env=here)
    yield
    ray.shutdown()


@pytest.fixture
def build(cluster):
    built = []

    def make(config):
        built.append(config.debugging(seed=0, log_level="ERROR").build_algo())
        return built[-1]

    yield make
    for algorithm in built:
        algorithm.stop()


def small(config):
    return config.training(train_batch_size_per_learner=256, minibatch_size=128, num_epochs=1)


def single(runners):
    config = small(PPOConfig()).environment("rlenvs:rlenvs/QuadHover-v0", env_config={"level": "easy"})
    return config.env_runners(
        num_env_runners=runners, num_envs_per_env_runner=8, gym_env_vectorize_mode="vector_entry_point"
    )


def multi(id, runners, keywords):
    config = small(PPOConfig()).environment(register(id, **keywords))
    config.multi_agent(policies={"team"}, policy_mapping_fn=lambda agent, episode, **_: "team")
    return config.env_runners(num_env_runners=runners, num_envs_per_env_runner=4)


def masked(config):
    return config.rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))


def weights(algorithm, module):
    return {key: np.array(value) for key, value in algorithm.get_module(module).get_state().items()}


def test_update_on_a_single_agent_world(build):
    algorithm = build(single(runners=0))
    assert type(algorithm.env_runner.env.unwrapped) is rlenvs.core.forms.vector_env.VectorEnv
    before = weights(algorithm, "default_policy")
    result = algorithm.train()
    assert result["env_runners"]["num_env_steps_sampled"] >= 256
    assert np.isfinite(result["learners"]["default_policy"]["total_loss"])
    assert not equal(before, weights(algorithm, "default_policy"))


def test_update_on_a_world_with_wrappers(build):
    """A creator in Tune's register makes the vector environment; RLlib adds "num_envs" to its context."""
    register_env("noisy", lambda context: wrap(rlenvs.make_vec("QuadHover-v0", context["num_envs"]), Sensor(noise=0.1)))
    algorithm = build(single(runners=0).environment("noisy", env_config={}))
    assert algorithm.env_runner.env.unwrapped.num_envs == 8
    assert isinstance(algorithm.env_runner.env.env, WrappedVectorEnv)
    assert np.isfinite(algorithm.train()["learners"]["default_policy"]["total_loss"])


@pytest.mark.parametrize("name", ["battle", "drones"])
def test_update_on_a_multi_agent_world_whose_agents_die(build, name):
    id, keywords = WORLDS[name]
    config = multi(id, 0, keywords)
    algorithm = build(masked(config) if name == "battle" else config)
    before = weights(algorithm, "team")
    result = algorithm.train()
    assert result["env_runners"]["num_episodes"] > 0
    assert np.isfinite(result["learners"]["team"]["total_loss"])
    assert not equal(before, weights(algorithm, "team"))


def test_masks_hold_while_sampling(build):
    id, keywords = WORLDS["battle"]
    algorithm = build(masked(multi(id, 0, keywords)))
    lengths, acted = [], 0
    for episode in algorithm.env_runner.sample(num_episodes=20):
        for agent in episode.agent_episodes.values():
            allowed = agent.get_observations()["action_mask"][:-1]
            actions = agent.get_actions()
            assert allowed[np.arange(len(actions)), actions].all()
            acted += len(actions)
        lengths.append(len({len(agent) for agent in episode.agent_episodes.values()}))
    assert acted > 500
    assert max(lengths) > 1  # some have died before the others


@pytest.mark.parametrize("form", ["single", "multi"])
def test_infos_are_forgotten(build, form):
    config = single(runners=0) if form == "single" else multi("QuadMultiHover-v0", 0, {})
    seen = []
    config.callbacks(
        on_episode_step=lambda episode, **_: seen.append(bool(episode.get_infos(-1))), on_sample_end=forget_infos
    )
    algorithm = build(config)
    for episode in algorithm.env_runner.sample(num_timesteps=400):
        for own in getattr(episode, "agent_episodes", {"": episode}).values():
            assert own.get_infos() == [{}] * (len(own) + 1)
    assert seen
    assert all(seen)
    assert np.isfinite(algorithm.train()["learners"]["default_policy" if form == "single" else "team"]["total_loss"])


def test_checkpoint_and_restore(build, tmp_path):
    id, keywords = WORLDS["drones"]
    algorithm = build(multi(id, 0, keywords))
    algorithm.train()
    algorithm.save_to_path(tmp_path)
    kept, steps = weights(algorithm, "team"), algorithm.metrics.peek(("env_runners", "num_env_steps_sampled_lifetime"))
    algorithm.stop()
    again = Algorithm.from_checkpoint(tmp_path)
    try:
        assert equal(kept, weights(again, "team"))
        result = again.train()
        assert result["env_runners"]["num_env_steps_sampled_lifetime"] > steps
        assert not equal(kept, weights(again, "team"))
    finally:
        again.stop()


@pytest.mark.slow
@pytest.mark.parametrize("form", ["single", "multi"])
def test_training_goes_on_when_a_runner_is_killed(build, form):
    module = "default_policy" if form == "single" else "team"
    algorithm = build(single(runners=2) if form == "single" else multi("QuadMultiHover-v0", 2, {}))
    runners = algorithm.env_runner_group
    algorithm.train()
    first, second = runners.foreach_env_runner(lambda runner: os.getpid(), local_env_runner=False)
    assert first != second != os.getpid()
    killer = threading.Timer(0.05, os.kill, (first, signal.SIGKILL))
    killer.start()
    steps, alone, deadline = 0, False, time.monotonic() + 600
    while not runners.num_remote_worker_restarts() and time.monotonic() < deadline:
        result = algorithm.train()
        assert result["env_runners"]["num_env_steps_sampled_lifetime"] > steps
        steps = result["env_runners"]["num_env_steps_sampled_lifetime"]
        assert np.isfinite(result["learners"][module]["total_loss"])
        alone = alone or runners.num_healthy_remote_workers() == 1
    assert alone
    assert runners.num_remote_worker_restarts() == 1
    assert runners.num_healthy_remote_workers() == 2
    again = runners.foreach_env_runner(lambda runner: os.getpid(), local_env_runner=False)
    assert second in again
    assert first not in again
    algorithm.train()


@pytest.mark.slow
def test_an_own_world_in_two_runners(build):
    register_world("Pursuit-v0", "toys.pursuit:SPEC", ["multi-agent"])
    config = small(PPOConfig()).environment(register("Pursuit-v0"))
    config.multi_agent(policies={"hunter", "hare"}, policy_mapping_fn=lambda agent, episode, **_: agent.split("_")[0])
    algorithm = build(config.env_runners(num_env_runners=2, num_envs_per_env_runner=2))
    result = algorithm.train()
    assert set(result["learners"]) >= {"hunter", "hare"}
    starts = algorithm.env_runner_group.foreach_env_runner(
        lambda runner: [np.concatenate(list(env.unwrapped.reset(seed=1)[0].values())) for env in runner.env.envs[:1]],
        local_env_runner=False,
    )
    assert not np.array_equal(starts[0], starts[1])


@pytest.mark.slow
def test_scale_out_on_a_cluster_of_two_nodes():
    from ray.cluster_utils import Cluster

    example = ROOT / "examples" / "ray_scale_out.py"
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        nodes.add_node(num_cpus=1)  # a runner needs a core, so each node gets one
        done = subprocess.run(
            [sys.executable, example, "--address", nodes.address, "--runners", "2", "--iterations", "2"],
            capture_output=True,
            text=True,
            timeout=300,
        )
    finally:
        nodes.shutdown()
    assert done.returncode == 0, done.stderr
    first, second = (int(line.split()[0]) for line in done.stdout.splitlines()[1:])
    assert 16384 <= first < second


@pytest.mark.slow
@pytest.mark.parametrize(("options", "said"), [("--batch 1024", "1024"), ("--batch 0", "--batch must be at least 1")])
def test_scale_out_with_small_batches(options, said):
    example = [sys.executable, ROOT / "examples" / "ray_scale_out.py", "--envs", "8", "--iterations", "1"]
    done = subprocess.run([*example, *options.split()], capture_output=True, text=True, timeout=300)
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
