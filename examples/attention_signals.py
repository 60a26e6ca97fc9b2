"""Traffic signals that look at each other: PPO with one network that attends to the neighboring junctions.

    python examples/attention_signals.py                                            # a grid of 2 x 2 junctions
    python examples/attention_signals.py --set layout=arterial columns=6 --steps 3000000

Every junction has the same network, which weighs what it sees itself and what its neighbors see, as CoLight does (Wei
et al., "CoLight: Learning Network-level Cooperation for Traffic Signal Control", 2019; there with deep Q-learning).
Neighbors are junctions from which a road leads here. `--heads 0` leaves attention out: each junction for itself.
"""

import argparse
import json
import math
import time

import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from torch import nn

import rlenvs
from rlenvs.multi.traffic.signal_grid import metrics


def setting(text):
    """name=value, the value as JSON or else as it stands."""
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
parser.add_argument("--set", type=setting, nargs="*", default=[], metavar="NAME=VALUE", help="keywords of make_batch")
parser.add_argument("--heads", type=int, default=4, choices=(0, 1, 2, 4, 8), help="of attention; 0 for none")
parser.add_argument("--steps", type=int, default=2_000_000, help="of all junctions together")
parser.add_argument("--worlds", type=int, default=16)
parser.add_argument("--length", type=int, default=90, help="steps of each world between two updates")
parser.add_argument("--gamma", type=float, default=0.95)
parser.add_argument("--entropy", type=float, default=0.01)
parser.add_argument("--rate", type=float, default=1e-3)
parser.add_argument("--episodes", type=int, default=10, help="of the evaluation")
parser.add_argument("--seed", type=int, default=0)
ID = "SignalGrid-v0"
LAMBDA, CLIP, EPOCHS, PARTS, WIDTH = 0.9, 0.2, 4, 16, 64


def neighbors_of(batch):
    """float (junctions, junctions): 1 where a road leads from the second to the first, and for itself."""
    p, _ = batch.records(0)
    into, out = ([set(lanes[lanes >= 0].tolist()) for lanes in table] for table in (p.in_lane, p.out_lane))
    return torch.tensor([[float(j == k or bool(into[j] & out[k])) for k in range(len(out))] for j in range(len(into))])


class Attention(nn.Module):
    """Numbers of each junction, of what it sees and what its neighbors see."""

    def __init__(self, neighbors, inputs, outputs, heads, last):
        super().__init__()
        self.register_buffer("hidden_from", neighbors < 0.5)
        self.heads = heads
        self.enter, self.leave = nn.Linear(inputs, WIDTH), nn.Linear(WIDTH, outputs)
        self.asks, self.keys, self.says, self.join = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        nn.init.orthogonal_(self.leave.weight, last)
        nn.init.zeros_(self.leave.bias)

    def forward(self, seen):
        own = torch.tanh(self.enter(seen))  # (..., junctions, WIDTH)
        heard = self.heard(own) if self.heads else own
        return self.leave(torch.tanh(own + self.join(heard)))

    def heard(self, own):
        """What the heads of each junction take from itself and its neighbors."""
        ask, key, say = (
            layer(own).unflatten(-1, (self.heads, -1)).transpose(-2, -3) for layer in (self.asks, self.keys, self.says)
        )
        scores = ask @ key.transpose(-1, -2) / math.sqrt(ask.shape[-1])
        shares = scores.masked_fill(self.hidden_from, -math.inf).softmax(-1)
        return (shares @ say).transpose(-2, -3).flatten(-2)


class Agent(nn.Module):
    """The phases that junctions choose, and what each expects to be paid from here on."""

    def __init__(self, batch, heads):
        super().__init__()
        neighbors, inputs = neighbors_of(batch), batch.observations.shape[2]
        self.actor = Attention(neighbors, inputs, batch.setup.action_size, heads, 0.01)
        self.critic = Attention(neighbors, inputs, 1, heads, 1.0)

    def policy(self, seen, masks):
        return torch.distributions.Categorical(logits=self.actor(seen).masked_fill(~masks, -1e9))

    def value(self, seen):
        return self.critic(seen)[..., 0]

    @torch.no_grad()
    def act(self, batch):
        """The phases that it likes best."""
        return self.policy(torch.as_tensor(batch.observations), masks_of(batch)).probs.argmax(-1).numpy()


def masks_of(batch):
    """What each junction may choose; between episodes, where nothing is, everything."""
    masks = torch.as_tensor(batch.masks) > 0
    return masks | ~masks.any(-1, keepdim=True)


def learn(arguments, choices):
    """An agent that learnt in worlds made with these keywords."""
    torch.manual_seed(arguments.seed)
    worlds, length = arguments.worlds, arguments.length
    # under NEXT_STEP, the default, the observation after the last step of an episode is its true last one
    batch = rlenvs.make_batch(ID, worlds, threads=1, **choices)
    batch.seed(range(arguments.seed, arguments.seed + worlds))
    batch.reset()
    agent, junctions = Agent(batch, arguments.heads), batch.agents
    optimizer = torch.optim.Adam(agent.parameters(), arguments.rate, eps=1e-5)
    seen = torch.zeros(length + 1, *batch.observations.shape)
    masks = torch.ones(length, *batch.masks.shape, dtype=torch.bool)
    chosen = torch.zeros(length, worlds, junctions, dtype=torch.long)
    paid, (done, counted) = torch.zeros(length, worlds, junctions), torch.zeros(2, length, worlds, dtype=torch.bool)
    returns, finished, spread, told = np.zeros(worlds), [], 1.0, time.monotonic()
    updates = math.ceil(arguments.steps / (worlds * junctions * length))
    seen[-1] = torch.as_tensor(batch.observations)
    for iteration in range(updates):
        optimizer.param_groups[0]["lr"] = arguments.rate * (1.0 - iteration / updates)
        seen[0] = seen[-1]
        for t in range(length):
            masks[t] = masks_of(batch)
            with torch.no_grad():
                chosen[t] = agent.policy(seen[t], masks[t]).sample()
            counted[t] = torch.as_tensor(~batch.over)  # a step that begins an episode is none
            batch.step(chosen[t].numpy())
            seen[t + 1], paid[t] = torch.as_tensor(batch.observations), torch.as_tensor(batch.rewards)
            done[t] = torch.as_tensor(batch.over)  # by the time limit alone
            returns += batch.rewards.sum(1)
            finished = [*finished, *returns[batch.over]][-50:]
            returns[batch.over] = 0.0
        spread = update(agent, optimizer, arguments, spread, seen, masks, chosen, paid, done, counted)
        if finished and (time.monotonic() - told > 10.0 or iteration == updates - 1):
            told, steps = time.monotonic(), (iteration + 1) * worlds * junctions * length
            print(f"  {steps:9,} steps: return of all junctions {np.mean(finished):10.0f}", flush=True)
    return agent


def update(agent, optimizer, arguments, spread, seen, masks, chosen, paid, done, counted):
    """PPO's clipped step on the steps that count; returns the spread of returns, the unit of the critic."""
    with torch.no_grad():
        values = agent.value(seen) * spread
        found, last = torch.zeros_like(paid), torch.zeros_like(paid[0])
        for t in reversed(range(len(paid))):  # generalised advantage estimates (Schulman et al., 2016)
            error = paid[t] + arguments.gamma * values[t + 1] - values[t]
            last = found[t] = error + arguments.gamma * LAMBDA * last * ~done[t, :, None]
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
            value_loss = (agent.value(observations[part]) - targets[part]).square().mean()
            loss = -surrogate + 0.5 * value_loss - arguments.entropy * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
    return spread


def travel_times(choose, episodes, choices):
    """Mean travel times [s] after an hour, one for each seed, with actions from a function of the batch."""
    batch = rlenvs.make_batch(ID, episodes, threads=1, autoreset=AutoresetMode.DISABLED, **choices)
    batch.seed(range(10_000, 10_000 + episodes))
    batch.reset()
    while not batch.over.all():
        batch.step(choose(batch))
    return np.array([metrics(*batch.records(index))["travel_time"] for index in range(episodes)])


def main(given=None):
    """Learn, print a table, and give the mean travel times by player."""
    arguments = parser.parse_args(given)
    torch.set_num_threads(1)  # the network is small
    choices = dict(arguments.set)
    minutes = math.ceil(arguments.steps / 500_000)
    print(f"Takes about {minutes} min on two cores; the first time a minute more, to compile.", flush=True)
    agent = learn(arguments, choices)
    chooser = np.random.default_rng(0)
    players = {
        "random": lambda batch: chooser.integers(0, batch.setup.action_size, batch.actions.shape),
        "fixed": lambda batch: batch.player_actions("fixed"),
        "max_pressure": lambda batch: batch.player_actions("max_pressure"),
        "learnt": agent.act,
    }
    print(f"\nmean travel time in s, {arguments.episodes} episodes, 95 % interval")
    found = {}
    for name, choose in players.items():
        times = travel_times(choose, arguments.episodes, choices)
        found[name] = float(times.mean())
        spread = 1.96 * times.std(ddof=1) / math.sqrt(len(times))
        print(f"{name:14}{times.mean():8.1f} ± {spread:5.1f}", flush=True)
    return found


if __name__ == "__main__":
    main()
