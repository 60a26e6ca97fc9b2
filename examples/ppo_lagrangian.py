"""PPO-Lagrangian: the highest return within a limit on the cost of an episode, compared with PPO without the limit.

    python examples/ppo_lagrangian.py --id SafePointGoal-v0 --limit 25

The multiplier is the price of costs. It rises while episodes exceed the limit and falls while they stay below it.
Its controller is the PID of Stooke, Achiam and Abbeel ("Responsive Safety in Reinforcement Learning by PID Lagrangian
Methods", ICML 2020); with --gains 0 1 0 it is the gradient ascent of Ray, Achiam and Amodei ("Benchmarking Safe
Exploration in Deep Reinforcement Learning", 2019). The learner is PPO (Schulman et al., 2017) with a critic for rewards
and one for costs.
"""

import argparse
import math
import time
from pathlib import Path

import numpy as np
import torch
from gymnasium.spaces import Box
from torch import nn

import rlenvs
from rlenvs.agents.files import save_agent
from rlenvs.agents.plain import agent_from_torch

parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
parser.add_argument("--id", default="SafePointGoal-v0", help="a world with costs and continuous actions")
parser.add_argument("--level", default=None)
parser.add_argument("--limit", type=float, default=25.0, help="of the cost of an episode")
parser.add_argument("--steps", type=int, default=2_000_000, help="of all worlds together, for each of the two learners")
parser.add_argument("--worlds", type=int, default=64)
parser.add_argument("--length", type=int, default=256, help="steps of each world between two updates")
parser.add_argument("--gamma", type=float, default=0.99)
parser.add_argument("--gains", type=float, nargs=3, default=(0.3, 0.02, 0.1), metavar=("P", "I", "D"))
parser.add_argument("--episodes", type=int, default=100, help="of the evaluation")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--save", type=Path, help="where to write the agent that keeps the limit: .safetensors and .json")
LAMBDA, CLIP, EPOCHS, PARTS, RATE = 0.95, 0.2, 5, 8, 3e-4


def network(inputs, outputs, last):
    """Two hidden layers of 64, as orthogonal as PPO likes them."""
    sizes, wrappers = [inputs, 64, 64, outputs], []
    for i in range(3):
        wrapper = nn.Linear(sizes[i], sizes[i + 1])
        nn.init.orthogonal_(wrapper.weight, last if i == 2 else math.sqrt(2.0))
        nn.init.zeros_(wrapper.bias)
        wrappers += [wrapper, nn.Tanh()]
    return nn.Sequential(*wrappers[:-1])


class Agent(nn.Module):
    """A Gaussian policy, and what it expects to be paid and to cost from here on."""

    def __init__(self, inputs, actions):
        super().__init__()
        self.actor, self.critic = network(inputs, actions, 0.01), network(inputs, 2, 1.0)
        self.log_std = nn.Parameter(torch.full((actions,), -0.5))

    def policy(self, observations):
        return torch.distributions.Normal(self.actor(observations), self.log_std.exp())


class Price:
    """The multiplier: a PID controller on by how much, in parts of the limit, an episode costs too much."""

    def __init__(self, limit, gains):
        self.limit, self.gains = limit, gains
        self.value, self.integral, self.last = 0.0, 0.0, math.inf

    def update(self, cost):
        if math.isinf(self.limit):
            return
        excess = (cost - self.limit) / max(self.limit, 1.0)
        proportional, integral, derivative = self.gains
        self.integral = max(self.integral + integral * excess, 0.0)
        rise = max(excess - self.last, 0.0)  # a falling cost is no reason to lower the price
        self.value = max(proportional * excess + self.integral + derivative * rise, 0.0)
        self.last = excess


class Scale:
    """The spread of discounted returns, so that one learning rate and one range of prices suit every world."""

    def __init__(self, worlds):
        self.returns, self.count, self.squares = np.zeros(worlds), 1e-4, 0.0

    def update(self, rewards, begun, gamma):
        self.returns = rewards + gamma * self.returns * ~begun
        self.count += len(rewards)
        self.squares += float((self.returns**2).sum())

    @property
    def value(self):
        return max(math.sqrt(self.squares / self.count), 1e-4)


def advantages(paid, values, terminated, done, gamma):
    """Generalised advantage estimates (Schulman et al., 2016) of what was paid, (steps, worlds, kinds)."""
    found, last = torch.zeros_like(paid), torch.zeros_like(paid[0])
    for t in reversed(range(len(paid))):
        error = paid[t] + gamma * values[t + 1] * ~terminated[t, :, None] - values[t]
        last = found[t] = error + gamma * LAMBDA * last * ~done[t, :, None]
    return found


def learn(arguments, limit):
    """An agent that learnt to stay below a limit (infinite: that ignores costs), and the last price of a cost."""
    torch.manual_seed(arguments.seed)
    worlds, length = arguments.worlds, arguments.length
    # under NEXT_STEP the observation after the last step of an episode is its true last one, and the step after it,
    # which only begins the next episode, is left out of the losses
    envs = rlenvs.make_vec(arguments.id, worlds, level=arguments.level, threads=1)
    inputs, actions = envs.single_observation_space.shape[0], envs.single_action_space.shape[0]
    agent, price, scale = Agent(inputs, actions), Price(limit, arguments.gains), Scale(worlds)
    optimizer = torch.optim.Adam(agent.parameters(), RATE, eps=1e-5)

    seen = torch.zeros(length + 1, worlds, inputs)
    chosen = torch.zeros(length, worlds, actions)
    paid = torch.zeros(length, worlds, 2)  # reward, cost
    terminated, done, counted = torch.zeros(3, length, worlds, dtype=torch.bool)
    seen[-1] = torch.as_tensor(envs.reset(seed=arguments.seed)[0])
    over = np.zeros(worlds, bool)
    lengths, returns, ended, finished = np.zeros(worlds), np.zeros(worlds), [envs.batch.setup.horizon], []
    updates, start = math.ceil(arguments.steps / (worlds * length)), time.process_time()
    told = time.monotonic()

    for iteration in range(updates):
        optimizer.param_groups[0]["lr"] = RATE * (1.0 - iteration / updates)
        seen[0] = seen[-1]
        for t in range(length):
            with torch.no_grad():
                chosen[t] = agent.policy(seen[t]).sample()
            counted[t] = torch.as_tensor(~over)
            observations, rewards, terminations, truncations, infos = envs.step(chosen[t].numpy())
            scale.update(rewards, over, arguments.gamma)
            lengths, returns = (lengths + 1) * ~over, (returns + rewards) * ~over
            over = terminations | truncations
            seen[t + 1] = torch.as_tensor(observations)
            paid[t, :, 0], paid[t, :, 1] = torch.as_tensor(rewards), torch.as_tensor(infos["cost"])
            terminated[t], done[t] = torch.as_tensor(terminations), torch.as_tensor(over)
            ended, finished = [*ended, *lengths[over]][-100:], [*finished, *returns[over]][-100:]
        cost = float(paid[..., 1].sum() / counted.sum()) * float(np.mean(ended))  # of an episode
        price.update(cost)
        update(
            agent, optimizer, price.value, scale.value, arguments.gamma, seen, chosen, paid, terminated, done, counted
        )
        if finished and (time.monotonic() - told > 3.0 or iteration == updates - 1):
            told = time.monotonic()
            steps, spent = (iteration + 1) * worlds * length, time.process_time() - start
            print(
                f"  {steps:9,} steps, {spent:4.0f} s: return {np.mean(finished):8.2f}, cost {cost:7.2f}, "
                f"multiplier {price.value:.3f}",
                flush=True,
            )
    envs.close()
    return agent, price.value


def update(agent, optimizer, price, scale, gamma, seen, chosen, paid, terminated, done, counted):
    """PPO's clipped step for reward minus price times cost, on the steps that count."""
    units = torch.tensor([1.0 / scale, 1.0])
    with torch.no_grad():
        values = agent.critic(seen)
        found = advantages(paid * units, values, terminated, done, gamma)
        targets = (found + values[:-1])[counted]
        # divided by 1 + price, so that a high price does not make steps larger (Stooke et al.)
        gains = ((found[..., 0] - price * found[..., 1]) / (1.0 + price))[counted]
        gains = (gains - gains.mean()) / (gains.std() + 1e-8)
        observations, actions = seen[:-1][counted], chosen[counted]
        before = agent.policy(observations).log_prob(actions).sum(-1)
    for _ in range(EPOCHS):
        for part in torch.randperm(len(gains)).chunk(PARTS):
            policy = agent.policy(observations[part])
            ratio = (policy.log_prob(actions[part]).sum(-1) - before[part]).exp()
            gain = gains[part]
            surrogate = torch.min(ratio * gain, ratio.clamp(1.0 - CLIP, 1.0 + CLIP) * gain).mean()
            value_loss = (agent.critic(observations[part]) - targets[part]).square().mean()
            loss = -surrogate + 0.5 * value_loss
            optimizer.zero_grad()
            loss.backward()
            for half in (agent.actor, agent.critic):  # each for itself: costs may be much larger than returns
                nn.utils.clip_grad_norm_(half.parameters(), 0.5)
            optimizer.step()


def stochastic(agent):
    """The policy as it learnt, chance included."""

    def policy(observations):
        with torch.no_grad():
            return agent.policy(torch.as_tensor(observations)).sample().numpy()

    return policy


def saved(arguments, agent, seconds):
    """The agent without exploration, that needs no torch; written to files where that was asked for."""
    settings = {name: getattr(arguments, name) for name in ("limit", "gains", "worlds", "length", "gamma")}
    found = agent_from_torch(
        agent.actor,
        arguments.id,
        algorithm="PPO-Lagrangian",
        settings=settings,
        steps=arguments.steps,
        seeds=[arguments.seed],
        seconds=seconds,
        keywords={"level": arguments.level} if arguments.level else {},
    )
    if arguments.save:
        print(f"saved as {save_agent(arguments.save, found)}")
    return found


def interval(numbers):
    return f"{np.mean(numbers):8.2f} ± {1.96 * np.std(numbers, ddof=1) / math.sqrt(len(numbers)):5.2f}"


def main(given=None):
    """Learn, print a table, and give what was measured: an `Evaluation` by name."""
    arguments = parser.parse_args(given)
    torch.set_num_threads(1)  # the networks are small
    if arguments.save and not arguments.save.parent.is_dir():
        parser.error(f"--save {arguments.save}: there is no folder {arguments.save.parent}")
    envs = rlenvs.make_vec(arguments.id, 1, level=arguments.level)
    if not envs.batch.world.costs or not isinstance(envs.single_action_space, Box):
        parser.error(f"{arguments.id} has no costs, or no continuous actions")
    if not arguments.limit >= 0.0:
        parser.error(f"--limit {arguments.limit:g} must be at least 0")
    minutes = math.ceil(arguments.steps / 4e5)
    print(f"Takes about {minutes} min on two cores; the first time half a minute more, to compile.", flush=True)
    rows = {"random": ("random", math.nan, 0.0)}
    if envs.batch.world.has_expert:
        rows["scripted"] = ("expert", math.nan, 0.0)
    for name, limit in (("PPO", math.inf), ("PPO-Lagrangian", arguments.limit)):
        print(f"{name} on {arguments.id}, limit {limit:g}", flush=True)
        start, wall = time.process_time(), time.time()
        agent, price = learn(arguments, limit)
        rows[name] = (stochastic(agent), price, time.process_time() - start)
    rows["no exploration"] = (saved(arguments, agent, time.time() - wall), price, 0.0)

    print(f"\n{arguments.id}, limit {arguments.limit:g}, {arguments.episodes} episodes, 95 % intervals")
    print(f"{'':16}{'return':>18}{'cost':>18}{'multiplier':>12}{'core s':>9}")
    found = {}
    for name, (policy, price, seconds) in rows.items():
        seeds = range(10_000, 10_000 + arguments.episodes)
        found[name] = rlenvs.evaluate(arguments.id, policy, seeds=seeds, level=arguments.level)
        returns, costs = interval(found[name].returns), interval(found[name].costs)
        print(f"{name:16}{returns:>18}{costs:>18}{price:12.3f}{seconds:9.0f}", flush=True)
    return found


if __name__ == "__main__":
    main()
