"""A sweep over weights: one network learns a policy for each, and their returns are compared with the true front.

    python examples/scalarisation.py --map convex
    python examples/scalarisation.py --map concave
    python examples/scalarisation.py --id HalfCheetah-v0 --utilities linear --steps 3000000 --parts 10 --gamma 0.99

With the utility "linear" the learner maximizes a weighted sum of the objectives, which finds no points in concave parts
of a front. With "chebyshev" it approaches an ideal point, measured along the worst objective (Van Moffaert,
Drugan and Nowe, ADPRL 2013). The reward of a step is the increase of the utility of the sums so far, which the policy
sees; over an episode it adds up to the utility of the return. The network sees the weights (Abels et al., ICML 2019),
and each world of the batch has its own. The learner is PPO (Schulman et al., 2017).

Hypervolumes are computed by moocore, if it is installed (pip install moocore).
"""

import argparse
import itertools
import math
import time

import numpy as np
import torch
from torch import nn

import rlenvs
from rlenvs.core.catalogue.registry import world_of
from rlenvs.pareto import hypervolume as area
from rlenvs.single.treasure.front import pareto_front
from rlenvs.wrappers import chebyshev

parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
parser.add_argument("--id", default="DeepSeaTreasure-v0", help="any world with several reward terms and one agent")
parser.add_argument("--level", help="of the environment")
parser.add_argument("--map", default="convex", help="of DeepSeaTreasure: convex, concave or mirrored")
parser.add_argument("--objectives", nargs="*", help="reward terms; those with a weight if not given")
parser.add_argument("--utilities", nargs="*", default=["linear", "chebyshev"], choices=["linear", "chebyshev"])
parser.add_argument("--parts", type=int, default=50, help="weights are multiples of 1 / parts")
parser.add_argument("--steps", type=int, default=300_000, help="of all worlds together, for each utility")
parser.add_argument("--worlds", type=int, default=255, help="at least one per vector of weights")
parser.add_argument("--length", type=int, default=64, help="steps of each world between two updates")
parser.add_argument("--gamma", type=float, default=1.0)
parser.add_argument("--entropy", type=float, default=0.1, help="at the start; falls to 0")
parser.add_argument("--episodes", type=int, default=1, help="of the evaluation, for each vector of weights")
parser.add_argument("--seed", type=int, default=0)
LAMBDA, CLIP, EPOCHS, PARTS, RATE, RHO = 0.95, 0.2, 4, 4, 1e-3, 0.01


# --- fronts -----------------------------------------------------------------------------------------------------------


def simplex(parts, objectives):
    """All vectors of multiples of 1 / parts with the sum 1, (vectors, objectives) (Das and Dennis, 1998)."""
    found = [v for v in itertools.product(range(parts + 1), repeat=objectives - 1) if sum(v) <= parts]
    return np.array([(*v, parts - sum(v)) for v in found]) / parts


def best(points):
    """The points that no other one dominates, each once, sorted."""
    points = np.unique(points, axis=0)
    better = (points[:, None] >= points).all(-1) & (points[:, None] > points).any(-1)
    return points[~better.any(axis=0)]


def hypervolume(points, reference):
    """What the points dominate above the reference; by moocore, or for two objectives without it by this package."""
    try:
        import moocore
    except ImportError:
        return area(points, reference) if points.shape[1] == 2 else math.nan
    return float(moocore.hypervolume(points, ref=reference, maximise=True))


# --- learning ---------------------------------------------------------------------------------------------------------


class Agent(nn.Module):
    """A policy that sees an observation, the sums of the episode so far and weights; and the utility it expects."""

    def __init__(self, inputs, actions, continuous):
        super().__init__()
        self.actor, self.critic = (
            nn.Sequential(nn.Linear(inputs, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, outputs))
            for outputs in (actions, 1)
        )
        self.continuous, self.log_std = continuous, nn.Parameter(torch.full((actions,), -0.5))
        with torch.no_grad():
            self.actor[-1].weight *= 0.01

    def policy(self, inputs, masks):
        numbers = self.actor(inputs)
        if self.continuous:
            return torch.distributions.Independent(torch.distributions.Normal(numbers, self.log_std.exp()), 1)
        return torch.distributions.Categorical(logits=numbers.masked_fill(~masks, -1e9))

    def best(self, inputs, masks):
        numbers = self.actor(inputs)
        return numbers if self.continuous else numbers.masked_fill(~masks, -1e9).argmax(-1)


class Worlds:
    """A batch in which each world has its own weights, and rewards are what they make of the objectives."""

    def __init__(self, arguments, choices, weights, utility, archive):
        self.batch = rlenvs.make_batch(arguments.id, len(weights), threads=1, **choices)
        names = list(self.batch.world.terms)
        self.columns = [names.index(name) for name in arguments.objectives]
        self.weights, self.utility, self.archive = weights, utility, archive
        self.sums = np.zeros(weights.shape)
        self.inputs = self.batch.observations[0, 0].size + 2 * weights.shape[1]

    def reset(self, seeds):
        self.batch.seed(seeds)
        self.batch.reset()
        self.sums[:] = 0.0

    def scaled(self):
        """The sums so far on the scale on which the best returns known lie between 0 and 1 in each objective."""
        low, high = self.archive.min(axis=0), self.archive.max(axis=0)
        return (self.sums - low) / np.maximum(high - low, 1e-9)

    def worth(self):
        if self.utility == "linear":
            return (self.weights * self.scaled()).sum(axis=1)
        return -chebyshev(self.scaled(), self.weights, np.ones(self.weights.shape[1]), RHO)

    def seen(self):
        flat = self.batch.observations.reshape(len(self.weights), -1)
        parts = (flat, np.clip(self.scaled(), -2.0, 2.0), self.weights)
        return torch.as_tensor(np.concatenate(parts, axis=1, dtype=np.float32))

    def masks(self):
        masks = torch.as_tensor(self.batch.masks[:, 0]) > 0
        return masks | ~masks.any(1, keepdim=True)

    def step(self, actions):
        """Advance; how much the utility of the sums has risen, float32 (worlds,)."""
        self.sums[self.batch.over] = 0.0  # this step begins their next episode, and pays nothing
        before = self.worth()
        self.batch.step(actions.numpy())
        self.sums += self.batch.reward_vectors[:, 0, self.columns]
        return torch.as_tensor((self.worth() - before).astype(np.float32))


def learn(arguments, choices, weights, utility):
    """An agent for all the weights, and the best returns of any episode that it played while it learnt."""
    torch.manual_seed(arguments.seed)
    count, length = arguments.worlds, arguments.length
    archive = np.stack([np.zeros(weights.shape[1]), np.ones(weights.shape[1])])  # until episodes have ended
    worlds = Worlds(arguments, choices, weights[np.arange(count) % len(weights)], utility, archive)
    worlds.reset(range(arguments.seed, arguments.seed + count))
    batch, continuous = worlds.batch, worlds.batch.setup.continuous
    agent = Agent(worlds.inputs, batch.setup.action_size, continuous)
    optimizer = torch.optim.Adam(agent.parameters(), RATE, eps=1e-5)
    seen = torch.zeros(length + 1, count, worlds.inputs)
    masks = torch.ones(length, count, batch.masks.shape[2], dtype=torch.bool)
    chosen = torch.zeros(length, count, *((batch.actions.shape[2],) if continuous else ()))
    paid = torch.zeros(length, count)
    terminated, done, counted = torch.zeros(3, length, count, dtype=torch.bool)
    updates, start, known = math.ceil(arguments.steps / (count * length)), time.process_time(), None
    told = time.monotonic()

    for iteration in range(updates):
        left = 1.0 - iteration / updates
        optimizer.param_groups[0]["lr"] = RATE * left
        ended = [] if known is None else [known]
        for t in range(length):
            seen[t], masks[t] = worlds.seen(), worlds.masks()
            with torch.no_grad():
                chosen[t] = agent.policy(seen[t], masks[t]).sample()
            counted[t] = torch.as_tensor(~batch.over)
            paid[t] = worlds.step(chosen[t] if continuous else chosen[t].long())
            terminated[t], done[t] = torch.as_tensor(batch.terminated[:, 0]), torch.as_tensor(batch.over)
            if batch.over.any():
                ended.append(worlds.sums[batch.over])
        seen[length] = worlds.seen()
        update(
            agent,
            optimizer,
            arguments.gamma,
            arguments.entropy * left,
            seen,
            masks,
            chosen,
            paid,
            terminated,
            done,
            counted,
        )
        if ended:
            known = best(np.concatenate(ended))
            worlds.archive = known
        if known is not None and (time.monotonic() - told > 3.0 or iteration in (0, updates - 1)):
            told = time.monotonic()
            steps, spent = (iteration + 1) * count * length, time.process_time() - start
            print(
                f"  {steps:9,} steps, {spent:4.0f} s: {len(known)} returns that no other dominates",
                flush=True,
            )
    return agent, worlds.archive


def update(agent, optimizer, gamma, entropy, seen, masks, chosen, paid, terminated, done, counted):
    """PPO's clipped step on the steps that count; those that only begin an episode do not."""
    with torch.no_grad():
        values = agent.critic(seen)[..., 0]
        found, last = torch.zeros_like(paid), torch.zeros_like(paid[0])
        for t in reversed(range(len(paid))):  # generalised advantage estimates (Schulman et al., 2016)
            error = paid[t] + gamma * values[t + 1] * ~terminated[t] - values[t]
            last = found[t] = error + gamma * LAMBDA * last * ~done[t]
        gains, targets = found[counted], (found + values[:-1])[counted]
        gains = (gains - gains.mean()) / (gains.std() + 1e-8)
        inputs, masks, chosen = seen[:-1][counted], masks[counted], chosen[counted]
        before = agent.policy(inputs, masks).log_prob(chosen)
    for _ in range(EPOCHS):
        for part in torch.randperm(len(gains)).chunk(PARTS):
            policy, gain = agent.policy(inputs[part], masks[part]), gains[part]
            ratio = (policy.log_prob(chosen[part]) - before[part]).exp()
            surrogate = torch.min(ratio * gain, ratio.clamp(1.0 - CLIP, 1.0 + CLIP) * gain).mean()
            value_loss = (agent.critic(inputs[part])[:, 0] - targets[part]).square().mean()
            loss = -surrogate + 0.5 * value_loss - entropy * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


def play(arguments, choices, weights, utility, agent, archive):
    """Mean returns, (vectors of weights, objectives), without exploration."""
    each = arguments.episodes
    worlds = Worlds(arguments, choices, np.repeat(weights, each, axis=0), utility, archive)
    worlds.reset(range(10_000, 10_000 + len(weights) * each))
    returns, playing = np.zeros(worlds.sums.shape), np.ones(len(worlds.sums), bool)
    while playing.any():
        with torch.no_grad():
            worlds.step(agent.best(worlds.seen(), worlds.masks()))
        returns[playing] = worlds.sums[playing]
        playing &= ~worlds.batch.over
    return returns.reshape(len(weights), each, -1).mean(axis=1)


def print_table(title, fronts, seconds):
    """Each front with its hypervolume; gives the shares of the first front's, or of that of all points together."""
    whole = fronts.get("true front", best(np.concatenate(list(fronts.values()))))
    reference = whole.min(axis=0) - 0.1 * np.maximum(np.ptp(whole, axis=0), 1e-9)
    print(f"\n{title}")
    print(f"hypervolume above {np.round(reference, 3).tolist()}, a tenth of the front's range below its worst values")
    print(f"{'':12}{'points':>8}{'hypervolume':>14}{'of the whole':>14}{'core s':>9}")
    shares = {}
    for name, front in fronts.items():
        volume = hypervolume(front, reference)
        shares[name] = volume / hypervolume(whole, reference)
        print(f"{name:12}{len(front):8}{volume:14.2f}{100 * shares[name]:13.1f}%{seconds.get(name, 0):9.0f}")
    for name, front in fronts.items():
        print(f"{name}: " + " ".join(f"({', '.join(f'{number:.4g}' for number in point)})" for point in front))
    return shares


def main(given=None):
    """Learn, print a table, and give the fronts and their shares of the whole hypervolume, by utility."""
    arguments = parser.parse_args(given)
    torch.set_num_threads(1)  # the networks are small
    world = world_of(arguments.id)
    arguments.objectives = arguments.objectives or [name for name, term in world.terms.items() if term.weight]
    if len(arguments.objectives) < 2 or not set(arguments.objectives) <= set(world.terms) or world.agents:
        parser.error(f"needed: one agent, and two or more of the reward terms of {world.name}: {list(world.terms)}")
    treasure = world.name == "DeepSeaTreasure-v0"
    choices = {"level": arguments.level, **({"map": arguments.map} if treasure else {})}
    if world.published:
        choices["scaled"] = True  # the network learns from numbers in [-1, 1]
    weights = simplex(arguments.parts, len(arguments.objectives))
    arguments.worlds = max(arguments.worlds, len(weights))
    fronts, seconds = {}, {}
    minutes = math.ceil(arguments.steps * len(arguments.utilities) / 6e5)
    print(f"Takes about {minutes} min on two cores; the first time half a minute more, to compile.", flush=True)
    if treasure:
        fronts["true front"] = pareto_front(arguments.map)
    for utility in arguments.utilities:
        print(f"{len(weights)} vectors of weights, utility {utility}", flush=True)
        start = time.process_time()
        agent, archive = learn(arguments, choices, weights, utility)
        fronts[utility] = best(play(arguments, choices, weights, utility, agent, archive))
        seconds[utility] = time.process_time() - start
    title = f"{world.name}{' ' + arguments.map if treasure else ''}: {', '.join(arguments.objectives)}"
    return fronts, print_table(title, fronts, seconds)


if __name__ == "__main__":
    main()
