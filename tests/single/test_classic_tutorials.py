"""Programs as Gymnasium's and PyTorch's tutorials teach them run here when the id changes, and nothing else."""

import random
from collections import deque

import gymnasium
import numpy as np
import pytest

import rlenvs  # noqa: F401  registers the ids

torch = pytest.importorskip("torch")
IDS = ["CartPole-v1", "rlenvs/CartPole-v0"]


@pytest.mark.budget(5)
@pytest.mark.parametrize("id", IDS)
def test_policy_gradients_of_a_tutorial(id):
    """REINFORCE: sample episodes, weigh the log-probabilities with the returns."""
    torch.manual_seed(0)
    env = gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make(id, max_episode_steps=100), buffer_length=50)
    policy = torch.nn.Sequential(
        *(torch.nn.Linear(env.observation_space.shape[0], 16), torch.nn.Tanh(), torch.nn.Linear(16, env.action_space.n))
    )
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.02)
    lengths = []
    for episode in range(60):
        observation, info = env.reset(seed=episode)
        logs, rewards, done = [], [], False
        while not done:
            choice = torch.distributions.Categorical(logits=policy(torch.tensor(observation)))
            action = choice.sample()
            observation, reward, terminated, truncated, info = env.step(action.item())
            logs.append(choice.log_prob(action))
            rewards.append(reward)
            done = terminated or truncated
        returns = torch.tensor(np.cumsum(rewards[::-1])[::-1].copy(), dtype=torch.float32)
        loss = -(torch.stack(logs) * (returns - returns.mean()) / (returns.std() + 1e-6)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        assert info["episode"]["r"] == pytest.approx(sum(rewards))
        assert info["episode"]["l"] == len(rewards)
        lengths.append(len(rewards))
    assert np.mean(lengths[-15:]) > 1.4 * np.mean(lengths[:15])
    assert len(env.return_queue) == 50
    env.close()


@pytest.mark.parametrize("id", IDS)
def test_deep_q_learning_of_a_tutorial(id):
    """Replay memory, target network, exploration that fades: only that it runs."""
    torch.manual_seed(0)
    random.seed(0)
    env = gymnasium.make(id, max_episode_steps=100)
    state, _ = env.reset(seed=0)
    actions, numbers = env.action_space.n, len(state)
    env.action_space.seed(0)

    def network():
        return torch.nn.Sequential(torch.nn.Linear(numbers, 32), torch.nn.ReLU(), torch.nn.Linear(32, actions))

    policy, target = network(), network()
    target.load_state_dict(policy.state_dict())
    optimizer, memory, losses = torch.optim.AdamW(policy.parameters(), lr=1e-3), deque(maxlen=1000), []
    state = torch.tensor(state, dtype=torch.float32).unsqueeze(0)
    for step in range(400):
        if random.random() < max(0.05, 1.0 - step / 200):
            action = torch.tensor([[env.action_space.sample()]], dtype=torch.long)
        else:
            action = policy(state).max(1).indices.view(1, 1)
        observation, reward, terminated, truncated, _ = env.step(action.item())
        following = None if terminated else torch.tensor(observation, dtype=torch.float32).unsqueeze(0)
        memory.append((state, action, following, torch.tensor([reward])))
        state = following
        if terminated or truncated:
            state = torch.tensor(env.reset()[0], dtype=torch.float32).unsqueeze(0)
        if len(memory) < 32:
            continue
        states, chosen, after, rewards = zip(*random.sample(memory, 32), strict=True)
        values = policy(torch.cat(states)).gather(1, torch.cat(chosen))
        best = torch.zeros(32)
        going = torch.tensor([each is not None for each in after])
        with torch.no_grad():
            best[going] = target(torch.cat([each for each in after if each is not None])).max(1).values
        loss = torch.nn.functional.smooth_l1_loss(values, (best * 0.99 + torch.cat(rewards)).unsqueeze(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        for ours, theirs in zip(target.parameters(), policy.parameters(), strict=True):
            ours.data.lerp_(theirs.data, 0.005)
    assert np.isfinite(losses).all()
    env.close()


@pytest.mark.parametrize("id", IDS)
def test_wrappers_and_vectors_of_gymnasium(id):
    env = gymnasium.make(id)
    env = gymnasium.wrappers.FrameStackObservation(gymnasium.wrappers.NormalizeObservation(env), 3)
    env = gymnasium.wrappers.TransformReward(env, lambda reward: 0.1 * reward)
    observation, _ = env.reset(seed=0)
    assert observation.shape == (3, 4)
    assert env.step(1)[1] == pytest.approx(0.1)
    env.close()
    envs = gymnasium.make_vec(id, num_envs=3, vectorization_mode="sync")
    envs.reset(seed=0)
    assert envs.step(envs.action_space.sample())[0].shape == (3, 4)
    envs.close()
    envs = gymnasium.make_vec(id, num_envs=3, vectorization_mode="vector_entry_point")
    envs.reset(seed=0)
    assert envs.step(envs.action_space.sample())[0].dtype == np.float32
    envs.close()
