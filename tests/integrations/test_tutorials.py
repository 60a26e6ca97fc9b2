"""What the tutorials of Gymnasium and PettingZoo and the first pages of highway-env do, with the id alone changed.

Where the original is installed the same lines run on both.
"""

from collections import defaultdict, deque

import gymnasium as gym
import numpy as np
import pettingzoo
import pytest
from gymnasium import spaces
from gymnasium.envs.toy_text.frozen_lake import generate_random_map

import rlenvs

CHANCE = np.random.default_rng(0)


@pytest.fixture(params=["original", "rlenvs"])
def theirs(request):
    """Whether the original's own environment runs."""
    return request.param == "original"


def make(theirs, original, ours, **keywords):
    """`gym.make` of an id or of the other one."""
    return gym.make(original if theirs else ours, **keywords)


# --- Gymnasium, basic usage -------------------------------------------------------------------------------------------


def test_first_loop():
    env = gym.make("rlenvs/LunarLander-v0")
    observation, _ = env.reset(seed=42)
    for _ in range(60):
        action = env.action_space.sample()
        observation, _, terminated, truncated, _ = env.step(action)
        assert env.observation_space.contains(observation)
        if terminated or truncated:
            observation, _ = env.reset()
    env.close()


def test_made_with_physics_of_its_own():
    env = gym.make(
        "rlenvs/LunarLander-v0",
        continuous=False,
        gravity=-8.0,
        enable_wind=True,
        wind_power=10.0,
        turbulence_power=1.0,
        max_episode_steps=30,
    )
    env.reset(seed=0)
    steps, over = 0, False
    while not over:
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        over, steps = terminated or truncated, steps + 1
    assert steps <= 30


def test_attributes_through_wrappers(theirs):
    env = gym.wrappers.RescaleObservation(make(theirs, "MountainCar-v0", "rlenvs/MountainCar-v0"), 0.0, 1.0)
    env.reset(seed=0)
    assert env.get_wrapper_attr("gravity") == 0.0025
    env.set_wrapper_attr("gravity", 0.002)
    assert env.unwrapped.gravity == 0.002
    assert env.unwrapped.state.shape == (2,)
    assert env.unwrapped.goal_position == 0.5
    assert env.spec.reward_threshold == -110.0


def test_options_of_resets(theirs):
    env = make(theirs, "CartPole-v1", "rlenvs/CartPole-v0")
    observation, _ = env.reset(seed=123, options={"low": -0.1, "high": 0.1})
    assert np.abs(observation).max() <= 0.1
    assert np.allclose(env.unwrapped.state, observation)


# --- training agents --------------------------------------------------------------------------------------------------


class TabularAgent:
    """Q-learning with epsilon-greedy choices."""

    def __init__(self, env, rate=0.1, epsilon=1.0, decay=0.02, final=0.1, discount=0.95):
        self.env, self.rate, self.epsilon, self.decay, self.final = env, rate, epsilon, decay, final
        self.discount, self.errors = discount, []
        self.q_values = defaultdict(lambda: np.zeros(env.action_space.n))

    def get_action(self, obs):
        if CHANCE.random() < self.epsilon:
            return self.env.action_space.sample()
        return int(np.argmax(self.q_values[obs]))

    def update(self, obs, action, reward, terminated, next_obs):
        future = (not terminated) * np.max(self.q_values[next_obs])
        error = reward + self.discount * future - self.q_values[obs][action]
        self.q_values[obs][action] += self.rate * error
        self.errors.append(error)

    def decay_epsilon(self):
        self.epsilon = max(self.final, self.epsilon - self.decay)


def trained(env, episodes):
    """An agent, and the environment that counted its episodes."""
    env = gym.wrappers.RecordEpisodeStatistics(env, buffer_length=episodes)
    agent = TabularAgent(env)
    for _ in range(episodes):
        obs, _ = env.reset()
        done = False
        while not done:
            action = agent.get_action(obs)
            next_obs, reward, terminated, truncated, _ = env.step(action)
            agent.update(obs, action, reward, terminated, next_obs)
            done, obs = terminated or truncated, next_obs
        agent.decay_epsilon()
    return agent, env


def test_blackjack_by_q_learning(theirs):
    given = {} if theirs else {"encoding": "tuple"}
    env = make(theirs, "Blackjack-v1", "rlenvs/Blackjack-v0", sab=False, **given)
    agent, env = trained(env, 60)
    assert len(env.return_queue) == len(env.length_queue) == 60
    policy = {(total, card): int(np.argmax(q)) for (total, card, ace), q in agent.q_values.items() if not ace}
    assert set(policy.values()) <= {0, 1}
    assert all(4 <= total <= 31 and 1 <= card <= 10 for total, card in policy)


def test_blackjack_without_the_tuple():
    agent, _ = trained(gym.make("rlenvs/Blackjack-v0", natural=True, sab=False), 30)
    assert all(isinstance(obs, int) for obs in agent.q_values)


@pytest.mark.parametrize("size", [4, 7])
def test_frozen_lake_by_q_learning(theirs, size):
    env = make(
        theirs,
        "FrozenLake-v1",
        "rlenvs/FrozenLake-v0",
        is_slippery=False,
        desc=generate_random_map(size=size, p=0.9, seed=123),
    )
    env.action_space.seed(123)
    qtable = np.zeros((env.observation_space.n, env.action_space.n))
    for _ in range(5):
        state, _ = env.reset(seed=123)
        done = False
        while not done:
            action = env.action_space.sample()
            new_state, reward, terminated, truncated, _ = env.step(action)
            delta = reward + 0.95 * np.max(qtable[new_state]) - qtable[state, action]
            qtable[state, action] += 0.8 * delta
            done, state = terminated or truncated, new_state
    assert env.unwrapped.desc.shape == (size, size)
    assert env.unwrapped.desc[0, 0] == b"S"


def test_value_iteration_on_the_table(theirs):
    env = make(theirs, "FrozenLake-v1", "rlenvs/FrozenLake-v0").unwrapped
    values = np.zeros(env.observation_space.n)
    for _ in range(200):
        for state in range(env.observation_space.n):
            q = [
                sum(p * (reward + 0.99 * (not end) * values[to]) for p, to, reward, end in env.P[state][action])
                for action in range(env.action_space.n)
            ]
            values[state] = max(q)
    assert values[0] == pytest.approx(0.5420, abs=1e-3)


def test_taxi_with_masks(theirs):
    env = make(theirs, "Taxi-v4", "rlenvs/Taxi-v0")
    q_table = np.zeros((env.observation_space.n, env.action_space.n))
    state, info = env.reset(seed=123)
    env.action_space.seed(123)
    for _ in range(100):
        mask = info["action_mask"]
        action = env.action_space.sample(mask)
        assert mask[action] == 1
        valid = np.nonzero(mask == 1)[0]
        assert np.array_equal(mask, env.unwrapped.action_mask(state))
        best = valid[np.argmax(q_table[state, valid])]
        next_state, reward, terminated, truncated, info = env.step(action)
        q_table[state, best] += 0.1 * (reward - q_table[state, best])
        row, column, passenger, destination = env.unwrapped.decode(next_state)
        assert env.unwrapped.encode(row, column, passenger, destination) == next_state
        state = next_state
        if terminated or truncated:
            state, info = env.reset()


def test_reinforce(theirs):
    torch = pytest.importorskip("torch")
    env = make(theirs, "CartPole-v1", "rlenvs/CartPole-v0")
    env = gym.wrappers.RecordEpisodeStatistics(env, 50)
    net = torch.nn.Linear(env.observation_space.shape[0], env.action_space.n)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    for seed in range(3):
        obs, _ = env.reset(seed=seed)
        done, log_probs, rewards = False, [], []
        while not done:
            choices = torch.distributions.Categorical(logits=net(torch.tensor(np.array([obs]))))
            action = choices.sample()
            log_probs.append(choices.log_prob(action))
            obs, reward, terminated, truncated, _ = env.step(action.item())
            rewards.append(reward)
            done = terminated or truncated
        returns, total = deque(), 0.0
        for reward in reversed(rewards):
            total = reward + 0.99 * total
            returns.appendleft(total)
        loss = -(torch.stack(log_probs).squeeze() * torch.tensor(returns)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert len(env.return_queue) == 3


def test_replay_memory_of_dqn(theirs):
    torch = pytest.importorskip("torch")
    env = make(theirs, "CartPole-v1", "rlenvs/CartPole-v0")
    state, _ = env.reset()
    n_observations, n_actions = len(state), env.action_space.n
    net = torch.nn.Linear(n_observations, n_actions)
    state = torch.tensor(state, dtype=torch.float32).unsqueeze(0)
    for _ in range(20):
        action = net(state).max(1).indices.view(1, 1)
        observation, _, terminated, truncated, _ = env.step(action.item())
        if terminated or truncated:
            observation, _ = env.reset()
        state = torch.tensor(observation, dtype=torch.float32, device="cpu").unsqueeze(0)
    assert state.shape == (1, 4)


# --- vectors ----------------------------------------------------------------------------------------------------------


def test_vector_a2c():
    count, steps = 3, 20
    envs = gym.make_vec("rlenvs/LunarLander-v0", num_envs=count, max_episode_steps=600)
    envs = gym.wrappers.vector.RecordEpisodeStatistics(envs, buffer_length=count * steps)
    assert envs.single_observation_space.shape[0] == 8
    assert envs.single_action_space.n == 4
    states, _ = envs.reset(seed=42)
    masks = np.zeros((steps, count))
    for step in range(steps):
        states, rewards, terminated, _, _ = envs.step(envs.action_space.sample())
        masks[step] = [not term for term in terminated]
    assert states.shape == (count, 8)
    assert rewards.shape == (count,)


def test_vector_with_drawn_physics():
    envs = gym.vector.SyncVectorEnv(
        [
            lambda: gym.make(
                "rlenvs/LunarLander-v0",
                gravity=np.clip(CHANCE.normal(loc=-10.0, scale=1.0), a_min=-11.99, a_max=-0.01),
                enable_wind=CHANCE.choice([True, False]),
                wind_power=np.clip(CHANCE.normal(loc=15.0, scale=1.0), a_min=0.01, a_max=19.99),
                turbulence_power=np.clip(CHANCE.normal(loc=1.5, scale=0.5), a_min=0.01, a_max=1.99),
                max_episode_steps=600,
            )
            for _ in range(3)
        ]
    )
    envs.reset(seed=1)
    envs.step(envs.action_space.sample())
    assert all(-11.99 <= gravity <= -0.01 for gravity in envs.get_attr("gravity"))


@pytest.mark.parametrize("form", ["sync", "vector_entry_point"])
def test_attributes_of_vectors(theirs, form):
    if theirs and form != "sync":
        pytest.skip("the original's vector form has no attributes of single environments")
    envs = gym.make_vec("CartPole-v1" if theirs else "rlenvs/CartPole-v0", num_envs=2, vectorization_mode=form)
    envs.reset(seed=0)
    assert envs.get_attr("force_mag") == (10.0, 10.0)
    envs.set_attr("force_mag", [8.0, 12.0])
    assert envs.call("force_mag") == (8.0, 12.0)
    assert len(envs.call("state")) == 2
    assert envs.call("spec")[0].reward_threshold == 475.0


def test_final_observations_of_vectors(theirs):
    envs = gym.make_vec(
        "CartPole-v1" if theirs else "rlenvs/CartPole-v0",
        num_envs=2,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": gym.vector.AutoresetMode.SAME_STEP},
    )
    envs.reset(seed=0)
    infos = {}
    while "final_obs" not in infos:
        _, _, terminated, truncated, infos = envs.step(np.ones(2, np.int64))
    over = np.logical_or(terminated, truncated)
    assert np.array_equal(infos["_final_obs"], over)
    assert infos["final_obs"][np.flatnonzero(over)[0]].shape == (4,)


# --- time limits and wrappers -----------------------------------------------------------------------------------------


def test_time_limits(theirs):
    env = make(theirs, "MountainCar-v0", "rlenvs/MountainCar-v0", max_episode_steps=12)
    assert env.spec.max_episode_steps == 12
    env.reset(seed=0)
    flags = [env.step(1)[2:4] for _ in range(12)]
    assert flags[-1] == (False, True)
    assert not any(truncated or terminated for terminated, truncated in flags[:-1])
    target = 1.0 + 0.99 * (not flags[-1][0]) * 5.0  # a value goes on behind a limit of time
    assert target == pytest.approx(5.95)
    aware = gym.wrappers.TimeAwareObservation(make(theirs, "CartPole-v1", "rlenvs/CartPole-v0"), flatten=True)
    assert aware.reset(seed=0)[0].shape == (5,)


class SwapNumbers(gym.ObservationWrapper):
    """Sees the two last numbers of an observation first."""

    def __init__(self, env):
        super().__init__(env)
        self.observation_space = spaces.Box(shape=(4,), low=-np.inf, high=np.inf)

    def observation(self, observation):
        return np.concatenate([observation[2:], observation[:2]])


class DiscreteActions(gym.ActionWrapper):
    """A few of the continuous actions."""

    def __init__(self, env, choices):
        super().__init__(env)
        self.choices = choices
        self.action_space = spaces.Discrete(len(choices))

    def action(self, action):
        return self.choices[action]


class ClipReward(gym.RewardWrapper):
    """Rewards between two numbers."""

    def __init__(self, env, least, most):
        super().__init__(env)
        self.least, self.most = least, most

    def reward(self, reward):
        return float(np.clip(reward, self.least, self.most))


def test_wrappers_of_observations_and_rewards(theirs):
    env = make(theirs, "CartPole-v1", "rlenvs/CartPole-v0")
    wrapped = ClipReward(SwapNumbers(env), -0.5, 0.5)
    observation, _ = wrapped.reset(seed=0)
    assert np.allclose(observation[2:], env.unwrapped.state[:2])
    assert wrapped.step(wrapped.action_space.sample())[1] == 0.5
    assert wrapped.unwrapped is env.unwrapped


def test_wrappers_of_actions(theirs):
    env = make(theirs, "Pendulum-v1", "rlenvs/Pendulum-v0", g=9.81)
    wrapped = DiscreteActions(env, [np.array([torque], np.float32) for torque in (-2.0, 0.0, 2.0)])
    wrapped.reset(seed=0)
    for _ in range(5):
        wrapped.step(wrapped.action_space.sample())
    assert env.unwrapped.g == 9.81
    throttles = gym.make("rlenvs/LunarLanderContinuous-v0")
    lander = DiscreteActions(throttles, [np.array(each) for each in ([1, 0], [-1, 0], [0, 1], [0, -1])])
    lander.reset(seed=0)
    lander.step(0)


def test_wrappers_of_gymnasium(theirs):
    env = make(theirs, "MountainCarContinuous-v0", "rlenvs/MountainCarContinuous-v0")
    env = gym.wrappers.ClipAction(gym.wrappers.RescaleAction(env, min_action=-0.5, max_action=0.5))
    env = gym.wrappers.NormalizeReward(gym.wrappers.NormalizeObservation(env), gamma=0.99)
    env = gym.wrappers.TransformObservation(env, lambda obs: np.clip(obs, -10, 10), env.observation_space)
    observation, _ = env.reset(seed=0)
    env.step(env.action_space.sample())
    assert observation.shape == (2,)


def test_robots_of_mujoco():
    pytest.importorskip("mujoco")
    env = gym.make(
        "rlenvs/Ant-v0",
        forward_reward_weight=1.0,
        ctrl_cost_weight=0.05,
        contact_cost_weight=5e-4,
        healthy_reward=1.0,
        healthy_z_range=(0.195, 0.75),
        include_cfrc_ext_in_observation=True,
        exclude_current_positions_from_observation=True,
        reset_noise_scale=0.1,
        frame_skip=5,
        max_episode_steps=1000,
    )
    observation, _ = env.reset(seed=0)
    observation, _, _, _, _ = env.step(env.action_space.sample())
    assert np.allclose(env.unwrapped.data.qpos.flat.copy()[2:], observation[:13])
    assert env.unwrapped.dt == pytest.approx(0.05)


# --- PettingZoo -------------------------------------------------------------------------------------------------------


def test_turns_of_pettingzoo():
    env = rlenvs.aec_env("ConnectFour-v0")
    env.reset(seed=42)
    for agent in env.agent_iter():
        observation, _, termination, truncation, _ = env.last()
        if termination or truncation:
            action = None
        else:
            mask = observation["action_mask"]
            action = env.action_space(agent).sample(mask)
        env.step(action)
    assert env.agents == []
    env.close()


def test_agents_in_a_cycle():
    env = rlenvs.aec_env("ParticleSpread-v0", N=3, local_ratio=0.5, max_cycles=5, continuous_actions=False)
    env.reset(seed=42)
    assert env.num_agents == env.max_num_agents == 3
    first = env.agent_selection
    assert env.observe(first).shape == env.observation_space(first).shape
    assert set(env.rewards) == set(env.terminations) == set(env.truncations) == set(env.infos) == set(env.agents)
    for agent in env.agent_iter():
        _, _, termination, truncation, _ = env.last()
        env.step(None if termination or truncation else env.action_space(agent).sample())


@pytest.mark.parametrize(
    ("id", "keywords"),
    [
        ("ParticleSpread-v0", {"N": 4, "local_ratio": 0.2, "continuous_actions": True}),
        ("ParticleTag-v0", {"num_good": 1, "num_adversaries": 3, "num_obstacles": 2, "continuous_actions": False}),
        ("Pistonball-v0", {"n_pistons": 5, "continuous": True, "random_drop": True, "ball_friction": 0.3}),
        ("MultiWalker-v0", {"n_walkers": 2, "shared_reward": True, "fall_reward": -10.0, "remove_on_fall": True}),
    ],
)
def test_parallel_form_of_pettingzoo(id, keywords):
    env = rlenvs.parallel_env(id, max_cycles=4, **keywords)
    observations, _ = env.reset(seed=42)
    assert set(observations) == set(env.agents) == set(env.possible_agents)
    steps = 0
    while env.agents:
        actions = {agent: env.action_space(agent).sample() for agent in env.agents}
        observations, rewards, terminations, truncations, infos = env.step(actions)
        assert set(observations) == set(rewards) == set(terminations) == set(truncations) == set(infos)
        steps += 1
    assert 0 < steps <= 4
    assert env.state() is not None
    env.close()


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="PettingZoo before 1.27 has no registry")
def test_registry_of_pettingzoo():
    env = pettingzoo.make("parallel", "rlenvs/ParticleSpread-v0", N=2, max_cycles=3)
    env.reset(seed=0)
    assert len(env.possible_agents) == 2


# --- highway-env ------------------------------------------------------------------------------------------------------


def test_readme_of_highway_env():
    env = gym.make("rlenvs/Highway-v0", config={"lanes_count": 3})
    env.reset()
    for _ in range(5):
        action = env.action_space.sample()
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()
    env.close()


def test_first_steps_of_highway_env():
    env = gym.make("rlenvs/Highway-v0", render_mode="rgb_array", config={"lanes_count": 2, "vehicles_count": 10})
    env.reset(seed=0)
    for _ in range(3):
        action = env.unwrapped.action_type.actions_indexes["IDLE"]
        env.step(action)
        image = env.render()
    assert image.shape[-1] == 3
    assert env.unwrapped.config["lanes_count"] == 2
    assert env.unwrapped.vehicle.speed > 0.0
    assert not env.unwrapped.vehicle.crashed
    env.unwrapped.set_record_video_wrapper(env)


def test_highway_env_with_stable_baselines():
    stable_baselines3 = pytest.importorskip("stable_baselines3")
    env = gym.make("rlenvs/Highway-v0", level="fast")
    model = stable_baselines3.DQN(
        "MlpPolicy", env, policy_kwargs={"net_arch": [16]}, learning_starts=10, batch_size=8, train_freq=1, seed=0
    )
    model.learn(total_timesteps=30)
    obs, _ = env.reset()
    action, _ = model.predict(obs, deterministic=True)
    assert env.action_space.contains(action.item())


def test_goals_of_highway_env():
    config = {"observation": {"type": "KinematicsGoal"}, "add_walls": False, "duration": 2}
    env = gym.make("rlenvs/Parking-v0", config=config)
    observation, info = env.reset(seed=0)
    assert set(observation) == {"observation", "achieved_goal", "desired_goal"}
    assert np.isfinite(env.unwrapped.compute_reward(observation["achieved_goal"], observation["desired_goal"], info))
    assert env.spec.max_episode_steps == 10
