"""One policy for many bodies: PPO trains a network that passes messages between limbs, and meets bodies it never saw.

    python examples/graph_policy.py                                  # walkers; walker_4 and walker_6 are held out
    python examples/graph_policy.py --id PlanarCheetahs-v0 --held-out cheetah_3_balanced cheetah_5_back

Every limb has the same network; what it hears of the limbs that hang at it tells it where it is (Wang et al.,
"NerveNet", 2018; Huang, Mordatch and Pathak, "One policy to control them all", 2020). A batch has another body in each
world.
"""

import argparse
import math
import time

import numpy as np
import torch
from torch import nn

import rlenvs
from rlenvs.core.catalogue.registry import world_of
from rlenvs.robotics.locomotion.limb_graphs import graph_of

parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
parser.add_argument("--id", default="PlanarWalkers-v0", help="a world of bodies made of limbs with one hinge each")
parser.add_argument(
    "--held-out", nargs="*", default=["walker_4", "walker_6"], metavar="BODY", help="seen in the test alone"
)
parser.add_argument("--steps", type=int, default=1_000_000, help="of all worlds together")
parser.add_argument("--worlds", type=int, default=64)
parser.add_argument("--length", type=int, default=128, help="steps of each world between two updates")
parser.add_argument("--gamma", type=float, default=0.99)
parser.add_argument("--rate", type=float, default=5e-4)
parser.add_argument("--episodes", type=int, default=20, help="of the evaluation of each body")
parser.add_argument("--seed", type=int, default=0)
LAMBDA, CLIP, EPOCHS, PARTS, WIDTH, ROUNDS = 0.95, 0.2, 10, 8, 64, 3


class Messages(nn.Module):
    """Numbers of each limb, of its place, of what it observes and of what it hears from those that hang at it, round by
    round. Without the places left and right legs would do the same: their limbs are alike, and so is what they hear."""

    def __init__(self, neighbors, inputs, last):
        super().__init__()
        self.register_buffer("neighbors", neighbors)
        self.enter, self.leave = nn.Linear(inputs, WIDTH), nn.Linear(WIDTH, 1)
        self.place = nn.Parameter(0.5 * torch.randn(len(neighbors), WIDTH))
        self.keep, self.hear = (nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(ROUNDS)) for _ in range(2))
        nn.init.orthogonal_(self.leave.weight, last)
        nn.init.zeros_(self.leave.bias)

    def forward(self, limbs, present):
        edges = self.neighbors * present[..., None, :] * present[..., :, None]
        edges = edges / edges.sum(-1, keepdim=True).clamp(min=1.0)
        hidden = torch.tanh(self.enter(limbs) + self.place)
        for keep, hear in zip(self.keep, self.hear, strict=True):
            hidden = torch.tanh(keep(hidden) + edges @ hear(hidden))
        return self.leave(hidden)


class Agent(nn.Module):
    """A motor for every limb but the torso, and what the body expects to be paid from here on."""

    def __init__(self, neighbors, numbers):
        super().__init__()
        self.places, self.inputs = len(neighbors), numbers // len(neighbors) - 1
        self.actor, self.critic = (Messages(neighbors, self.inputs, last) for last in (0.01, 1.0))
        self.log_std = nn.Parameter(torch.tensor(-1.0))
        self.register_buffer("mean", torch.zeros(self.inputs))
        self.register_buffer("square", torch.ones(self.inputs))
        self.register_buffer("seen", torch.tensor(1e-2))

    def parts(self, observations):
        """What limbs observe, of mean 0 and deviation 1, and which of them there are."""
        limbs, present = self.raw(observations)
        deviation = (self.square - self.mean.square()).clamp(min=1e-6).sqrt()
        return ((limbs - self.mean) / deviation).clamp(-5.0, 5.0) * present[..., None], present

    def raw(self, observations):
        limbs, present = observations[..., : -self.places], observations[..., -self.places :]
        return limbs.unflatten(-1, (self.places, self.inputs)), present

    def note(self, observations):
        """Take what limbs observe into its mean and mean square."""
        limbs, present = self.raw(observations)
        limbs = limbs[present > 0.0]
        self.seen += len(limbs)
        share = len(limbs) / self.seen
        self.mean += share * (limbs.mean(0) - self.mean)
        self.square += share * (limbs.square().mean(0) - self.square)

    def policy(self, observations):
        """The distribution of the motors' actions, and which of them there are."""
        limbs, present = self.parts(observations)
        return torch.distributions.Normal(self.actor(limbs, present)[..., 1:, 0], self.log_std.exp()), present[..., 1:]

    def log_prob(self, observations, actions):
        policy, motors = self.policy(observations)
        return (policy.log_prob(actions) * motors).sum(-1)

    def value(self, observations):
        limbs, present = self.parts(observations)
        return (self.critic(limbs, present)[..., 0] * present).sum(-1) / present.sum(-1)

    @torch.no_grad()
    def act(self, observations):
        """The means, for `rlenvs.evaluate`."""
        policy, motors = self.policy(torch.as_tensor(observations))
        return (policy.mean * motors).numpy()


def learn(arguments, chosen_bodies):
    """An agent that learnt on the bodies of these numbers."""
    torch.manual_seed(arguments.seed)
    worlds, length = arguments.worlds, arguments.length
    bodies = np.resize(np.array(chosen_bodies, float), worlds)
    # under NEXT_STEP, the default, the observation after the last step of an episode is its true last one
    batch = rlenvs.make_batch(arguments.id, worlds, threads=1, body=bodies)
    batch.seed(range(arguments.seed, arguments.seed + worlds))
    batch.reset()
    numbers = batch.observations.shape[2]
    agent = Agent(torch.as_tensor(graph_of(arguments.id), dtype=torch.float32), numbers)
    optimizer = torch.optim.Adam(agent.parameters(), arguments.rate, eps=1e-5)
    seen = torch.zeros(length + 1, worlds, numbers)
    chosen, paid = torch.zeros(length, worlds, batch.setup.action_size), torch.zeros(length, worlds)
    terminated, done, counted = torch.zeros(3, length, worlds, dtype=torch.bool)
    returns, finished, spread, told = np.zeros(worlds), [], 1.0, time.monotonic()
    updates = math.ceil(arguments.steps / (worlds * length))
    seen[-1] = torch.as_tensor(batch.observations[:, 0])
    for iteration in range(updates):
        optimizer.param_groups[0]["lr"] = arguments.rate * (1.0 - iteration / updates)
        seen[0] = seen[-1]
        for t in range(length):
            with torch.no_grad():
                chosen[t] = agent.policy(seen[t])[0].sample()
            counted[t] = torch.as_tensor(~batch.over)  # a step that begins an episode is none
            batch.step(chosen[t].numpy()[:, None])
            seen[t + 1], paid[t] = torch.as_tensor(batch.observations[:, 0]), torch.as_tensor(batch.rewards[:, 0])
            terminated[t], done[t] = torch.as_tensor(batch.terminated[:, 0]), torch.as_tensor(batch.over)
            returns += batch.rewards[:, 0]
            finished = [*finished, *returns[batch.over]][-200:]
            returns[batch.over] = 0.0
        agent.note(seen[:-1][counted])
        spread = update(agent, optimizer, arguments, spread, seen, chosen, paid, terminated, done, counted)
        if finished and (time.monotonic() - told > 10.0 or iteration == updates - 1):
            told = time.monotonic()
            print(f"  {(iteration + 1) * worlds * length:9,} steps: return {np.mean(finished):8.1f}", flush=True)
    return agent


def update(agent, optimizer, arguments, spread, seen, chosen, paid, terminated, done, counted):
    """PPO's clipped step on the steps that count; returns the spread of returns, the unit of the critic."""
    with torch.no_grad():
        values = agent.value(seen) * spread
        found, last = torch.zeros_like(paid), torch.zeros_like(paid[0])
        for t in reversed(range(len(paid))):  # generalised advantage estimates (Schulman et al., 2016)
            error = paid[t] + arguments.gamma * values[t + 1] * ~terminated[t] - values[t]
            last = found[t] = error + arguments.gamma * LAMBDA * last * ~done[t]
        returns = (found + values[:-1])[counted]
        spread = max(0.9 * spread + 0.1 * float(returns.std()), 1e-3)
        gains, targets = found[counted], returns / spread
        gains = (gains - gains.mean()) / (gains.std() + 1e-8)
        observations, chosen = seen[:-1][counted], chosen[counted]
        before = agent.log_prob(observations, chosen)
    for _ in range(EPOCHS):
        for part in torch.randperm(len(gains)).chunk(PARTS):
            ratio, gain = (agent.log_prob(observations[part], chosen[part]) - before[part]).exp(), gains[part]
            surrogate = torch.min(ratio * gain, ratio.clamp(1.0 - CLIP, 1.0 + CLIP) * gain).mean()
            loss = 0.5 * (agent.value(observations[part]) - targets[part]).square().mean() - surrogate
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
    return spread


def main(given=None):
    """Learn, print a row for each body, and give the mean returns: (held out, random, learnt) by name."""
    arguments = parser.parse_args(given)
    torch.set_num_threads(1)  # the network is small
    names = list(world_of(arguments.id).levels)
    unknown = [name for name in arguments.held_out if name not in names]
    if unknown or set(names) <= set(arguments.held_out):
        parser.error(f"--held-out {' '.join(arguments.held_out)}: some of {', '.join(names)}, and not all")
    minutes = math.ceil(arguments.steps / 200_000)
    print(f"Takes about {minutes} min on two cores; the first time a minute more, to compile.", flush=True)
    agent = learn(arguments, [i for i, name in enumerate(names) if name not in arguments.held_out])
    print(f"\n{arguments.id}, mean return of {arguments.episodes} episodes, 95 % interval")
    print(f"{'':24}{'random':>10}{'idle':>10}{'scripted':>10}{'learnt':>18}")
    found, seeds = {}, range(10_000, 10_000 + arguments.episodes)
    for name in names:
        players = ("random", "idle", "expert", agent.act)
        *rows, learnt = [rlenvs.evaluate(arguments.id, one, seeds=seeds, level=name) for one in players]
        out = name in arguments.held_out
        found[name] = out, rows[0].mean, learnt.mean
        told = f"{''.join(f'{row.mean:10.1f}' for row in rows)}{learnt.mean:10.1f} ± {learnt.half_width:5.1f}"
        print(f"{name:24}{told}{'  held out' if out else ''}", flush=True)
    return found


if __name__ == "__main__":
    main()
