"""Parameter sharing: PPO trains one network for all agents of a team, on a batch of worlds without a wrapper.

    python examples/parameter_sharing.py                       # three marines against three
    python examples/parameter_sharing.py --id PathFinding-v0
    python examples/parameter_sharing.py --id QuadMultiHover-v0

Every agent of every world is a row (Gupta, Egorov and Kochenderfer, "Cooperative Multi-Agent Control Using Deep
Reinforcement Learning", 2017; with PPO: de Witt et al., "Is Independent Learning All You Need in the StarCraft
Multi-Agent Challenge?", 2020). Masked actions have probability 0. Rows of dead agents, and the steps that only
begin an episode, are left out of the losses.
"""

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

import rlenvs
from rlenvs.agents.files import save_agent
from rlenvs.agents.plain import agent_from_torch
from rlenvs.core.catalogue.registry import world_of


def setting(text):
    """name=value, the value as JSON or else as it stands."""
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
parser.add_argument("--id", default="Battle-v0", help="a multi-agent world")
parser.add_argument("--set", type=setting, nargs="*", default=[], metavar="NAME=VALUE", help="keywords of make_batch")
parser.add_argument("--steps", type=int, default=2_000_000, help="of all agents together")
parser.add_argument("--worlds", type=int, default=128)
parser.add_argument("--length", type=int, default=64, help="steps of each world between two updates")
parser.add_argument("--gamma", type=float, default=0.98)
parser.add_argument("--entropy", type=float, default=0.005)
parser.add_argument("--rate", type=float, default=7e-4)
parser.add_argument("--episodes", type=int, default=200, help="of the evaluation")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--save", type=Path, help="where to write the agent: .safetensors and .json")
LAMBDA, CLIP, EPOCHS, PARTS = 0.95, 0.2, 5, 4


def network(inputs, outputs, last):
    """Two hidden layers of 64."""
    sizes, wrappers = [inputs, 64, 64, outputs], []
    for i in range(3):
        wrapper = nn.Linear(sizes[i], sizes[i + 1])
        nn.init.orthogonal_(wrapper.weight, last if i == 2 else math.sqrt(2.0))
        nn.init.zeros_(wrapper.bias)
        wrappers += [wrapper, nn.Tanh()]
    return nn.Sequential(*wrappers[:-1])


class Agent(nn.Module):
    """The policy of every agent, and what it expects to be paid from here on."""

    def __init__(self, batch):
        super().__init__()
        inputs, self.continuous = math.prod(batch.observations.shape[2:]), batch.setup.continuous
        self.actor = network(inputs, batch.setup.action_size, 0.01)
        self.critic = network(inputs, 1, 1.0)
        self.log_std = nn.Parameter(torch.full((batch.setup.action_size,), -0.5))

    def policy(self, observations, masks):
        numbers = self.actor(observations)
        if self.continuous:
            return torch.distributions.Independent(torch.distributions.Normal(numbers, self.log_std.exp()), 1)
        return torch.distributions.Categorical(logits=numbers.masked_fill(~masks, -1e9))


def masks_of(batch):
    """What each row may choose, bool (rows, choices); between episodes, where nothing is, everything."""
    masks = torch.as_tensor(batch.masks.reshape(-1, batch.masks.shape[2])) > 0
    return masks | ~masks.any(1, keepdim=True)


def learn(arguments, choices):
    """An agent that learnt in worlds made with these keywords, and the mean return of its last 200 episodes there."""
    torch.manual_seed(arguments.seed)
    worlds, length = arguments.worlds, arguments.length
    # under NEXT_STEP, the default, the observation after the last step of an episode is its true last one
    batch = rlenvs.make_batch(arguments.id, worlds, threads=1, **choices)
    batch.seed(range(arguments.seed, arguments.seed + worlds))
    batch.reset()
    agent, rows = Agent(batch), worlds * batch.agents
    optimizer = torch.optim.Adam(agent.parameters(), arguments.rate, eps=1e-5)

    seen = torch.zeros(length + 1, rows, math.prod(batch.observations.shape[2:]))
    masks = torch.ones(length, rows, batch.masks.shape[2], dtype=torch.bool)
    chosen = torch.zeros(length, rows, *((batch.actions.shape[2],) if agent.continuous else ()))
    paid, (terminated, done, counted) = torch.zeros(length, rows), torch.zeros(3, length, rows, dtype=torch.bool)
    alive = np.ones((worlds, batch.agents), bool)
    returns, finished, spread, start = np.zeros(worlds), [], 1.0, time.process_time()
    told = time.monotonic()
    updates = math.ceil(arguments.steps / (rows * length))
    seen[-1] = torch.as_tensor(batch.observations.reshape(rows, -1))

    for iteration in range(updates):
        optimizer.param_groups[0]["lr"] = arguments.rate * (1.0 - iteration / updates)
        seen[0] = seen[-1]
        for t in range(length):
            masks[t] = masks_of(batch)
            with torch.no_grad():
                chosen[t] = agent.policy(seen[t], masks[t]).sample()
            starting = batch.over[:, None].copy()  # worlds in which this step begins an episode; nobody is alive there
            actions = chosen[t] if agent.continuous else chosen[t].long()
            batch.step(actions.numpy().reshape(worlds, batch.agents, *actions.shape[1:]))
            ended = batch.terminated | batch.truncated | batch.over[:, None]
            counted[t] = torch.as_tensor(alive.reshape(-1).copy())
            alive = starting | (alive & ~ended)
            seen[t + 1] = torch.as_tensor(batch.observations.reshape(rows, -1))
            paid[t] = torch.as_tensor(batch.rewards.reshape(-1))
            terminated[t], done[t] = torch.as_tensor(batch.terminated.reshape(-1)), torch.as_tensor(ended.reshape(-1))
            returns += batch.rewards.sum(axis=1)
            finished = [*finished, *returns[batch.over]][-200:]
            returns[batch.over] = 0.0
        spread = update(agent, optimizer, arguments, spread, seen, masks, chosen, paid, terminated, done, counted)
        if finished and (time.monotonic() - told > 3.0 or iteration == updates - 1):
            told = time.monotonic()
            steps, spent = (iteration + 1) * rows * length, time.process_time() - start
            print(f"  {steps:9,} steps, {spent:4.0f} s: return of the team {np.mean(finished):8.2f}", flush=True)
    return agent, float(np.mean(finished)) if finished else math.nan


def update(agent, optimizer, arguments, spread, seen, masks, chosen, paid, terminated, done, counted):
    """PPO's clipped step on the rows that count; returns the spread of returns, the unit of the critic."""
    with torch.no_grad():
        values = agent.critic(seen)[..., 0] * spread
        found, last = torch.zeros_like(paid), torch.zeros_like(paid[0])
        for t in reversed(range(len(paid))):  # generalised advantage estimates (Schulman et al., 2016)
            error = paid[t] + arguments.gamma * values[t + 1] * ~terminated[t] - values[t]
            last = found[t] = error + arguments.gamma * LAMBDA * last * ~done[t]
        returns = (found + values[:-1])[counted]
        spread = max(0.9 * spread + 0.1 * float(returns.std()), 1e-3)
        gains, targets = found[counted], returns / spread
        gains = (gains - gains.mean()) / (gains.std() + 1e-8)
        observations, masks, chosen = seen[:-1][counted], masks[counted], chosen[counted]
        before = agent.policy(observations, masks).log_prob(chosen)
    for _ in range(EPOCHS):
        for part in torch.randperm(len(gains)).chunk(PARTS):
            policy, gain = agent.policy(observations[part], masks[part]), gains[part]
            ratio = (policy.log_prob(chosen[part]) - before[part]).exp()
            surrogate = torch.min(ratio * gain, ratio.clamp(1.0 - CLIP, 1.0 + CLIP) * gain).mean()
            value_loss = (agent.critic(observations[part])[:, 0] - targets[part]).square().mean()
            loss = -surrogate + 0.5 * value_loss - arguments.entropy * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
    return spread


def saved(arguments, choices, agent, seconds):
    """The agent without exploration, that needs no torch; written to files where that was asked for."""
    settings = {name: getattr(arguments, name) for name in ("worlds", "length", "gamma", "entropy", "rate")}
    found = agent_from_torch(
        agent.actor,
        arguments.id,
        algorithm="PPO with parameter sharing",
        settings=settings,
        steps=arguments.steps,
        seeds=[arguments.seed],
        seconds=seconds,
        keywords=choices,
    )
    if arguments.save:
        print(f"saved as {save_agent(arguments.save, found)}")
    return found


def main(given=None):
    """Learn, print a table, and give what was measured: an `Evaluation` by name."""
    arguments = parser.parse_args(given)
    torch.set_num_threads(1)  # the networks are small
    if arguments.save and not arguments.save.parent.is_dir():
        parser.error(f"--save {arguments.save}: there is no folder {arguments.save.parent}")
    choices = dict(arguments.set)
    start, wall = time.process_time(), time.time()
    minutes = math.ceil(arguments.steps / 1e6)
    print(f"Takes about {minutes} min on two cores; the first time a minute more, to compile.", flush=True)
    print(f"one network for all agents of {arguments.id}", flush=True)
    agent, explored = learn(arguments, choices)
    seconds, wall = time.process_time() - start, time.time() - wall
    policies = {"random": "random", "scripted": "expert", "learnt": saved(arguments, choices, agent, wall)}
    if not world_of(arguments.id).has_expert:
        del policies["scripted"]
    print(f"\n{arguments.id}, {arguments.episodes} episodes, the whole team together, 95 % interval")
    print(f"{'':10}{'return':>18}{'success':>11}{'core s':>9}")
    found = {}
    for name, policy in policies.items():
        found[name] = result = rlenvs.evaluate(
            arguments.id, policy, seeds=range(10_000, 10_000 + arguments.episodes), **choices
        )
        took = seconds if name == "learnt" else 0.0
        print(
            f"{name:10}{result.mean:10.2f} ± {result.half_width:5.2f}{100 * result.success_rate:9.0f} %{took:9.0f}",
            flush=True,
        )
    print(f"return in the last 200 episodes of training, chance included: {explored:.2f}")
    return found


if __name__ == "__main__":
    main()
