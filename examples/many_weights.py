"""One network for all weights: a policy for every linear preference, learned in one batch of worlds.

    python examples/many_weights.py ResourceGathering-v0 --gamma 0.99
    python examples/many_weights.py FruitTree-v0 --algorithm envelope

The network sees the state and the weights. "ppo" is PPO (Schulman et al., 2017) on weighted sums; each world has its
own weights, new ones for each episode (the conditioned network of Abels et al., ICML 2019). "envelope" is envelope
Q-learning (Yang, Sun and Narasimhan, NeurIPS 2019): vectors of Q values, whose targets are the best over all sampled
weights. Both find policies that are best under some weights, the corners of a front, and no points between them.
rlenvs.pareto.pareto_q_learning and the Chebyshev distance of scalarisation.py find more points.

For environments with a model (rlenvs.pareto.coverage_set), in which the learned policies are evaluated exactly.
"""

import argparse
import time

import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from torch import nn

import rlenvs
import rlenvs.pareto

parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
parser.add_argument("id", help="a finite world with one agent and several reward terms")
parser.add_argument("--algorithm", default="ppo", choices=["ppo", "envelope"])
parser.add_argument("--gamma", type=float, default=1.0)
parser.add_argument("--steps", type=int, default=200_000, help="of all worlds together")
parser.add_argument("--worlds", type=int, default=128)
parser.add_argument("--seed", type=int, default=0)


class Worlds:
    """A batch whose worlds have weights of their own, drawn anew for each episode.

    Args:
        id, options: of the world.
        scale: (objectives,) rewards are divided by these before they are weighed.
        count: of worlds. seed: of worlds and weights.
    """

    def __init__(self, id, options, scale, count, seed):
        self.batch = rlenvs.make_batch(id, count, threads=1, autoreset=AutoresetMode.DISABLED, **options)
        world, setup = self.batch.world, self.batch.setup
        self.number, self.values = world.functions["state_number"], setup.values
        self.model = setup.exact_model()
        self.states, self.actions, self.objectives = *self.model.allowed.shape, len(world.terms)
        self.scale, self.rng = scale, np.random.default_rng(seed)
        self.batch.seed([seed * 1_000_003 + i for i in range(count)])
        self.batch.reset()
        self.weights = self.rng.dirichlet(np.ones(self.objectives), count).astype(np.float32)

    def seen(self):
        """The numbers of states, (worlds,)."""
        return np.array(self.number(self.values, self.batch.states), np.int64)

    def step(self, actions):
        """Advance; the scaled vectors of rewards, and where episodes terminated, and were over."""
        self.batch.load_actions(actions.reshape(-1, 1))
        self.batch.step_inplace()
        vectors = (self.batch.terms[:, : self.objectives, 0] / self.scale).astype(np.float32)
        return vectors, self.batch.terminated[:, 0].copy(), self.batch.over.copy()

    def restart(self, over):
        """Begin the next episodes, with other weights."""
        if over.any():
            self.batch.reset(over)
            self.weights[over] = self.rng.dirichlet(np.ones(self.objectives), int(over.sum()))


class Network(nn.Module):
    """From the number of a state and weights to numbers."""

    def __init__(self, states, objectives, outputs, width=128):
        super().__init__()
        self.state = nn.Embedding(states, width)
        self.weights = nn.Linear(objectives, width)
        self.rest = nn.Sequential(nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, outputs))
        with torch.no_grad():
            self.state.weight *= 0.5
            self.rest[-1].weight *= 0.1

    def forward(self, states, weights):
        return self.rest(self.state(states) + self.weights(weights))


def forbid(numbers, allowed):
    """Numbers of actions, with those that are not allowed far below all others."""
    return numbers.masked_fill(~allowed, -1e9)


# --- PPO --------------------------------------------------------------------------------------------------------------


class PPO:
    """Clipped policy steps on weighted sums. `length` steps of each world, then `epochs` times all of them."""

    length, epochs, parts, clip, trace, rate = 32, 4, 4, 0.2, 0.95, 2e-3

    def __init__(self, worlds, gamma, steps):
        self.worlds, self.gamma = worlds, gamma
        self.actor, self.critic = (
            Network(worlds.states, worlds.objectives, outputs) for outputs in (worlds.actions, 1)
        )
        self.optimizer = torch.optim.Adam([*self.actor.parameters(), *self.critic.parameters()], self.rate, eps=1e-5)
        self.allowed = torch.as_tensor(worlds.model.allowed)
        self.updates, self.done = max(1, steps // (self.length * len(worlds.weights))), 0

    def learn(self):
        """Play, and change the networks; the steps made."""
        worlds, count = self.worlds, len(self.worlds.weights)
        states, actions = torch.zeros(2, self.length, count, dtype=torch.long)
        weights = torch.zeros(self.length, count, worlds.objectives)
        paid, values, after = torch.zeros(3, self.length, count)
        ends, overs = torch.zeros(2, self.length, count, dtype=torch.bool)
        for t in range(self.length):
            states[t], weights[t] = torch.as_tensor(worlds.seen()), torch.as_tensor(worlds.weights)
            with torch.no_grad():
                actions[t] = self.policy(states[t], weights[t]).sample()
            vectors, ended, over = worlds.step(actions[t].numpy())
            paid[t] = (torch.as_tensor(vectors) * weights[t]).sum(1)
            ends[t], overs[t] = torch.as_tensor(ended), torch.as_tensor(over)
            with torch.no_grad():  # of the state that the step led to, before the next episode begins
                values[t] = self.critic(states[t], weights[t])[:, 0]
                after[t] = self.critic(torch.as_tensor(worlds.seen()), weights[t])[:, 0]
            worlds.restart(over)
        gains, last = torch.zeros_like(paid), torch.zeros(count)
        for t in reversed(range(self.length)):  # generalised advantage estimates (Schulman et al., 2016)
            error = paid[t] + self.gamma * after[t] * ~ends[t] - values[t]
            last = gains[t] = error + self.gamma * self.trace * last * ~overs[t]
        left = 1.0 - self.done / self.updates
        self.optimizer.param_groups[0]["lr"] = self.rate * max(left, 0.05)
        self.change(states.flatten(), weights.flatten(0, 1), actions.flatten(), gains.flatten(), values.flatten(), left)
        self.done += 1
        return self.length * count

    def policy(self, states, weights):
        return torch.distributions.Categorical(logits=forbid(self.actor(states, weights), self.allowed[states]))

    def change(self, states, weights, actions, gains, values, left):
        targets, gains = gains + values, (gains - gains.mean()) / (gains.std() + 1e-8)
        with torch.no_grad():
            before = self.policy(states, weights).log_prob(actions)
        for _ in range(self.epochs):
            for part in torch.randperm(len(states)).chunk(self.parts):
                policy = self.policy(states[part], weights[part])
                ratio = (policy.log_prob(actions[part]) - before[part]).exp()
                clipped = ratio.clamp(1.0 - self.clip, 1.0 + self.clip)
                gain = torch.min(ratio * gains[part], clipped * gains[part]).mean()
                error = (self.critic(states[part], weights[part])[:, 0] - targets[part]).square().mean()
                loss = 0.5 * error - gain - 0.03 * left * policy.entropy().mean()
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_([*self.actor.parameters(), *self.critic.parameters()], 0.5)
                self.optimizer.step()

    def choices(self, states, weights):
        """The best action of each state under weights."""
        return forbid(self.actor(states, weights), self.allowed[states]).argmax(1)


# --- envelope Q-learning ----------------------------------------------------------------------------------------------


class Envelope:
    """Vectors of Q values. A transition is learnt from under `mix` vectors of weights; its target is the best, under
    each of them, of what the target network says of the next state under all of them."""

    rate, batch_size, mix, room, per_step = 1e-3, 128, 8, 200_000, 3

    def __init__(self, worlds, gamma, steps):
        self.worlds, self.gamma, self.steps, self.done = worlds, gamma, steps, 0
        self.q, self.target = (
            Network(worlds.states, worlds.objectives, worlds.actions * worlds.objectives) for _ in range(2)
        )
        self.target.load_state_dict(self.q.state_dict())
        self.optimizer = torch.optim.Adam(self.q.parameters(), self.rate)
        self.allowed = torch.as_tensor(worlds.model.allowed)
        self.kept = [torch.zeros(self.room, dtype=torch.long) for _ in range(3)]  # state, action, next state
        self.paid, self.ended = torch.zeros(self.room, worlds.objectives), torch.zeros(self.room, dtype=torch.bool)

    def vectors(self, network, states, weights):
        return network(states, weights).reshape(len(states), self.worlds.actions, self.worlds.objectives)

    def learn(self):
        """A step of all worlds, and `per_step` changes of the network; the steps made."""
        worlds, count = self.worlds, len(self.worlds.weights)
        states = torch.as_tensor(worlds.seen())
        share = self.done / self.steps
        self.optimizer.param_groups[0]["lr"] = self.rate * max(0.05, 1.0 - share)
        with torch.no_grad():
            actions = self.choices(states, torch.as_tensor(worlds.weights))
            at_random = torch.multinomial(self.allowed[states].float(), 1)[:, 0]
        explore = torch.rand(count) < max(0.1, 1.0 - 2.0 * share)
        actions = torch.where(explore, at_random, actions)
        vectors, ended, over = worlds.step(actions.numpy())
        at = (self.done + torch.arange(count)) % self.room
        for kept, new in zip(self.kept, (states, actions, torch.as_tensor(worlds.seen())), strict=True):
            kept[at] = new
        self.paid[at], self.ended[at] = torch.as_tensor(vectors), torch.as_tensor(ended)
        worlds.restart(over)
        self.done += count
        if self.done >= 10 * count:
            for _ in range(self.per_step):
                self.change(share)
        return count

    def change(self, share):
        size, mix, m = self.batch_size, self.mix, self.worlds.objectives
        at = torch.randint(min(self.done, self.room), (size,))
        states, actions, after = (kept[at] for kept in self.kept)
        weights = torch.as_tensor(self.worlds.rng.dirichlet(np.ones(m), mix), dtype=torch.float32)
        with torch.no_grad():
            everywhere = self.vectors(self.target, after.repeat_interleave(mix), weights.repeat(size, 1))
            everywhere = everywhere.reshape(size, mix * self.worlds.actions, m)
            worth = torch.einsum("wm,bkm->bwk", weights, everywhere)  # under w, of what is best under any of them
            best = forbid(worth, self.allowed[after].repeat(1, mix)[:, None]).argmax(2)
            chosen = everywhere.gather(1, best[..., None].expand(size, mix, m))
            target = self.paid[at][:, None] + self.gamma * ~self.ended[at][:, None, None] * chosen
        found = self.vectors(self.q, states.repeat_interleave(mix), weights.repeat(size, 1))
        found = found.reshape(size, mix, self.worlds.actions, m)
        found = found.gather(2, actions[:, None, None, None].expand(size, mix, 1, m))[:, :, 0]
        difference = found - target
        weighed = (weights * difference).sum(2)
        loss = (1.0 - share) * difference.square().sum(2).mean() + share * weighed.abs().mean()  # as in the paper
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.q.parameters(), 1.0)
        self.optimizer.step()
        with torch.no_grad():
            for own, new in zip(self.target.parameters(), self.q.parameters(), strict=True):
                own.lerp_(new, 0.02)

    def choices(self, states, weights):
        """The best action of each state under weights."""
        worth = (self.vectors(self.q, states, weights) * weights[:, None]).sum(2)
        return forbid(worth, self.allowed[states]).argmax(1)


ALGORITHMS = {"ppo": PPO, "envelope": Envelope}


# --- what was learnt --------------------------------------------------------------------------------------------------


def values(worlds, learner, gamma):
    """What the policies for weights all over the simplex are worth, exactly, (policies, objectives)."""
    weights = rlenvs.pareto.simplex_weights(worlds.objectives, 100 if worlds.objectives < 4 else 400)
    states = torch.arange(worlds.states)
    tables = set()
    with torch.no_grad():
        for row in torch.as_tensor(weights, dtype=torch.float32):
            tables.add(tuple(learner.choices(states, row.expand(worlds.states, -1)).tolist()))
    env = Made(worlds.batch)
    return np.array(
        [rlenvs.pareto.exact_value(env, rlenvs.pareto.TabularPolicy(np.array(table)), gamma) for table in tables]
    )


class Made:
    """What functions of rlenvs.pareto ask of an environment."""

    def __init__(self, batch):
        self.batch = batch


def ranges(front):
    """Ideal minus nadir of a front by objective; 1 where all points are alike."""
    size = np.ptp(front, axis=0)
    return np.where(size > 0.0, size, 1.0)


def train(id, options, algorithm, gamma, steps, scale, count=128, seed=0, watch=lambda steps, worlds, learner: None):
    """Learn; the worlds and the learner. `watch` is called now and then."""
    torch.manual_seed(seed)
    worlds = Worlds(id, options, scale, count, seed)
    learner = ALGORITHMS[algorithm](worlds, gamma, steps)
    made = 0
    while made < steps:
        made += learner.learn()
        watch(made, worlds, learner)
    return worlds, learner


def main(given=None):
    """Learn, print how much of the front was found; the share of its hypervolume."""
    arguments = parser.parse_args(given)
    seconds = {"ppo": 8.0, "envelope": 16.0}[arguments.algorithm] * arguments.steps / 1e5
    print(f"Takes about {seconds:.0f} s; the first time half a minute more, to compile.", flush=True)
    torch.set_num_threads(1)  # the networks are small
    known = rlenvs.pareto.coverage_set(arguments.id, arguments.gamma).values
    scale = ranges(known)
    start, told = time.monotonic(), time.monotonic()

    def watch(steps, worlds, learner):
        nonlocal told
        if time.monotonic() - told > 3.0:
            told = time.monotonic()
            print(f"  {steps:9,} steps, {told - start:4.0f} s", flush=True)

    worlds, learner = train(
        arguments.id, {}, arguments.algorithm, arguments.gamma, arguments.steps, scale,
        arguments.worlds, arguments.seed, watch,
    )  # fmt: skip
    found = values(worlds, learner, arguments.gamma)
    best = found[rlenvs.pareto.nondominated(found)]
    corner = known.min(axis=0) - 0.1 * scale
    share = rlenvs.pareto.hypervolume(best, corner) / rlenvs.pareto.hypervolume(known, corner)
    print(
        f"{arguments.id}: {len(best)} points, {100 * share:.1f} % of the hypervolume of the coverage set's {len(known)}"
    )
    for point in best[np.lexsort(best.T[::-1])][::-1]:
        print("  " + ", ".join(f"{number:.4g}" for number in point))
    return share


if __name__ == "__main__":
    main()
