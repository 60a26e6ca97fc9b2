"""Self-play with a league: every generation learns against itself and earlier generations, and is then rated.

    python examples/self_play.py
    python examples/self_play.py --id Battle-v0 --set scenario=3m opponent=self
    python examples/self_play.py --id Generals-v0 --set height=4 width=4 horizon=100

Half of the games are against the learning policy itself, the others against past generations, more often those that
still win (prioritized fictitious self-play of Vinyals et al., "Grandmaster level in StarCraft II using multi-agent
reinforcement learning", Nature 2019). The learner is PPO (Schulman et al., 2017), one network for all agents of either
team. Its reward is 1 for a win and -1 for a loss, plus a share of its own team's reward minus the other team's. Two
measures:

- Elo, from a tournament between all generations;
- the score of a best response: a copy of a frozen generation that learns for a fixed budget against that generation
  only. Its share of wins above one half is a lower bound of the generation's exploitability (Timbers et al.,
  "Approximate Exploitability: Learning a Best Response", IJCAI 2022).
"""

import argparse
import copy
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


def setting(text):
    """name=value, the value as JSON or else as it stands."""
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
parser.add_argument("--id", default="ParticlePush-v0", help="a world with two sides and choices as actions")
parser.add_argument("--set", type=setting, nargs="*", default=[], metavar="NAME=VALUE", help="keywords of make_batch")
parser.add_argument("--generations", type=int, default=6)
parser.add_argument(
    "--steps", type=int, default=200_000, help="of the learner's agents in a generation, and a response"
)
parser.add_argument("--worlds", type=int, default=128)
parser.add_argument("--length", type=int, default=64, help="steps of each world between two updates")
parser.add_argument("--gamma", type=float, default=0.99)
parser.add_argument(
    "--shaping", type=float, default=0.1, help="weight of rewards beside 1 for a won game, -1 for a lost"
)
parser.add_argument("--games", type=int, default=200, help="of each pair in the tournament")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--save", type=Path, help="where to write the last generation: .safetensors and .json")
LAMBDA, CLIP, EPOCHS, PARTS, RATE, ENTROPY = 0.95, 0.2, 4, 4, 5e-4, 0.01
AT_ONCE = 4  # past generations that are met between two updates


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
    """The policy of every agent on either side, and what it expects to be paid from here on."""

    def __init__(self, inputs, choices):
        super().__init__()
        self.actor, self.critic = network(inputs, choices, 0.01), network(inputs, 1, 1.0)
        self.inputs, self.spread = inputs, 1.0  # the unit of the critic is the spread of returns

    def policy(self, observations, masks):
        return torch.distributions.Categorical(logits=self.actor(observations).masked_fill(~masks, -1e9))

    def frozen(self):
        return copy.deepcopy(self).requires_grad_(False)

    def play(self, observations, masks, rng):
        """A player for `rlenvs.tournament`: chance as in training, drawn from `rng`."""
        rows = torch.zeros(len(observations), self.inputs)  # agents that see less have zeros behind it
        rows[:, : observations[0].size] = torch.as_tensor(observations.reshape(len(rows), -1))
        with torch.no_grad():
            scores = self.actor(rows).numpy()
        if masks is not None:
            scores = np.where(masks > 0, scores[:, : masks.shape[1]], -1e9)
        return np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)


class Table:
    """Worlds in which the learner holds one side, the other one in every second world."""

    def __init__(self, arguments, choices):
        self.batch = batch = rlenvs.make_batch(arguments.id, arguments.worlds, threads=1, **choices)
        self.shaping = arguments.shaping
        batch.seed(range(arguments.seed, arguments.seed + arguments.worlds))
        batch.reset()
        side = np.array(batch.setup.teams)
        own = side == np.arange(arguments.worlds)[:, None] % 2  # (worlds, agents)
        self.own_agents = own
        self.own, self.world = np.flatnonzero(own), np.nonzero(own)[0]
        self.other, self.other_world = np.flatnonzero(~own), np.nonzero(~own)[0]
        self.alive = np.ones(own.shape, bool)
        sizes = np.array([role.action for role in batch.setup.roles])
        self.able = torch.as_tensor(np.arange(batch.masks.shape[2]) < sizes[:, None]).repeat(arguments.worlds, 1)

    def observations(self):
        # copies: some batches write only what has changed, and do not lend their arrays
        return torch.tensor(self.batch.observations.reshape(self.alive.size, -1))

    def masks(self):
        """What each agent may choose, bool (rows, choices); between episodes, where nothing is, everything."""
        masks = torch.tensor(self.batch.masks.reshape(self.able.shape)) > 0
        return (masks | ~masks.any(1, keepdim=True)) & self.able

    def step(self, actions):
        """Advance all worlds; for the learner's rows: what was paid, and whether they terminated, ended, counted."""
        batch, starting = self.batch, self.batch.over[:, None].copy()  # this step begins an episode; nobody is alive
        batch.step(actions.numpy().reshape(self.alive.shape))
        ended = batch.terminated | batch.truncated | batch.over[:, None]
        counted, terminated = self.alive, batch.terminated
        self.alive = starting | (self.alive & ~ended)
        balance = self.shaping * np.where(self.own_agents, batch.rewards, -batch.rewards).sum(axis=1)
        worlds, points = self.results()
        balance[worlds] += 2.0 * points - 1.0
        paid = np.broadcast_to(balance[:, None], ended.shape)
        return [
            torch.as_tensor(np.ascontiguousarray(part).reshape(-1)[self.own])
            for part in (paid, terminated, ended, counted)
        ]

    def results(self):
        """Of the games that are over: world, and 1 for a win of the learner's side, 0.5 for a draw, 0."""
        won = (self.batch.success & self.own_agents).any(axis=1)
        lost = (self.batch.success & ~self.own_agents).any(axis=1)
        worlds = np.flatnonzero(self.batch.over)
        return worlds, 0.5 + 0.5 * (won[worlds].astype(float) - lost[worlds])


class League:
    """Past generations, and how often the learner beats each."""

    def __init__(self, members, rng):
        self.members, self.rng = members, rng
        self.points, self.games = np.full(len(members), 0.5), np.ones(len(members))

    def invite(self, count):
        """Some members, those sooner that the learner does not beat."""
        weights = (1.0 - self.points / self.games) ** 2 + 1e-3
        return self.rng.choice(len(self.members), count, p=weights / weights.sum())

    def note(self, member, points):
        self.points[member] = 0.99 * self.points[member] + points  # old games fade
        self.games[member] = 0.99 * self.games[member] + 1.0


def learn(arguments, choices, agent, past, share, seed):
    """Teach an agent for a generation: a share of the worlds against past ones, the others against itself."""
    torch.manual_seed(seed)
    table, league = Table(arguments, choices), League(past, np.random.default_rng(seed))
    worlds, length, rows = arguments.worlds, arguments.length, len(table.own)
    optimizer = torch.optim.Adam(agent.parameters(), RATE, eps=1e-5)
    seen = torch.zeros(length + 1, rows, agent.inputs)
    masks = torch.ones(length, rows, table.able.shape[1], dtype=torch.bool)
    chosen, paid = torch.zeros(2, length, rows)
    terminated, done, counted = torch.zeros(3, length, rows, dtype=torch.bool)

    updates, told = math.ceil(arguments.steps / (rows * length)), time.monotonic()
    for iteration in range(updates):
        host = np.full(worlds, -1)  # whom each world meets: itself, or a member of the league
        host[: round(share * worlds)] = np.resize(league.invite(AT_ONCE), round(share * worlds))
        groups = [(past[m], table.other[host[table.other_world] == m]) for m in np.unique(host[host >= 0])]
        for t in range(length):
            observations, allowed = table.observations(), table.masks()
            with torch.no_grad():
                actions = agent.policy(observations, allowed).sample()
                for member, theirs in groups:
                    actions[theirs] = member.policy(observations[theirs], allowed[theirs]).sample()
            seen[t], masks[t], chosen[t] = observations[table.own], allowed[table.own], actions[table.own]
            paid[t], terminated[t], done[t], counted[t] = table.step(actions)
            for world, points in zip(*table.results(), strict=True):
                if host[world] >= 0:
                    league.note(host[world], points)
        seen[length] = table.observations()[table.own]
        update(agent, optimizer, arguments.gamma, seen, masks, chosen, paid, terminated, done, counted)
        if time.monotonic() - told > 3.0:
            told = time.monotonic()
            won = league.points.sum() / league.games.sum()
            print(f"    {100 * (iteration + 1) / updates:3.0f} %: {100 * won:.0f} % of the points lately", flush=True)


def update(agent, optimizer, gamma, seen, masks, chosen, paid, terminated, done, counted):
    """PPO's clipped step on the rows that count."""
    with torch.no_grad():
        values = agent.critic(seen)[..., 0] * agent.spread
        found, last = torch.zeros_like(paid), torch.zeros_like(paid[0])
        for t in reversed(range(len(paid))):  # generalised advantage estimates (Schulman et al., 2016)
            error = paid[t] + gamma * values[t + 1] * ~terminated[t] - values[t]
            last = found[t] = error + gamma * LAMBDA * last * ~done[t]
        returns = (found + values[:-1])[counted]
        agent.spread = max(0.9 * agent.spread + 0.1 * float(returns.std()), 1e-3)
        gains, targets = found[counted], returns / agent.spread
        gains = (gains - gains.mean()) / (gains.std() + 1e-8)
        observations, masks, chosen = seen[:-1][counted], masks[counted], chosen[counted]
        before = agent.policy(observations, masks).log_prob(chosen)
    for _ in range(EPOCHS):
        for part in torch.randperm(len(gains)).chunk(PARTS):
            policy, gain = agent.policy(observations[part], masks[part]), gains[part]
            ratio = (policy.log_prob(chosen[part]) - before[part]).exp()
            surrogate = torch.min(ratio * gain, ratio.clamp(1.0 - CLIP, 1.0 + CLIP) * gain).mean()
            value_loss = (agent.critic(observations[part])[:, 0] - targets[part]).square().mean()
            loss = -surrogate + 0.5 * value_loss - ENTROPY * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


def best_response(arguments, choices, target, seed):
    """The share of points, with its 95 % interval, that a copy makes against its frozen original, after learning
    against it alone."""
    response = copy.deepcopy(target).requires_grad_(True)
    learn(arguments, choices, response, [target], 1.0, seed)
    players = {"response": response.play, "target": target.play}
    games = 2 * arguments.games
    found = rlenvs.tournament(arguments.id, players, games=games, seed=20_000, threads=1, make=choices)
    i, j = (found.players.index(name) for name in players)
    points = (found.wins[i, j] + 0.5 * found.draws[i, j]) / found.games
    return points, 1.96 * math.sqrt(points * (1.0 - points) / found.games)


def saved(arguments, choices, agent, seconds):
    """The last generation without exploration, that needs no torch; written to files where that was asked for."""
    settings = {name: getattr(arguments, name) for name in ("generations", "steps", "worlds", "length", "gamma")}
    found = agent_from_torch(
        agent.actor,
        arguments.id,
        algorithm="PPO with a league",
        settings=settings,
        steps=arguments.generations * arguments.steps,
        seeds=[arguments.seed],
        seconds=seconds,
        keywords=choices,
    )
    if arguments.save:
        print(f"saved as {save_agent(arguments.save, found)}")
    return found


def main(given=None):
    """Learn, print the tables, and give what was measured: ratings and points of best responses, by generation."""
    arguments = parser.parse_args(given)
    torch.set_num_threads(1)  # the networks are small
    if arguments.save and not arguments.save.parent.is_dir():
        parser.error(f"--save {arguments.save}: there is no folder {arguments.save.parent}")
    choices = dict(arguments.set)
    probe = rlenvs.make_batch(arguments.id, 1, **choices)
    if probe.setup.continuous or not probe.world.teams or set(probe.setup.teams) != {0, 1}:
        parser.error(f"{arguments.id} with {choices} has not two sides with choices as actions")
    minutes = math.ceil(arguments.generations * arguments.steps / 4e5)
    print(f"Takes about {minutes} min on two cores; the first time a minute more, to compile.", flush=True)
    torch.manual_seed(arguments.seed)
    agent = Agent(math.prod(probe.observations.shape[2:]), probe.masks.shape[2])
    past, start, wall = [agent.frozen()], time.process_time(), time.time()
    for generation in range(1, arguments.generations + 1):
        learn(arguments, choices, agent, past, 0.5, arguments.seed + generation)
        past.append(agent.frozen())
        print(f"  generation {generation} after {time.process_time() - start:.0f} s", flush=True)
    learnt = time.process_time() - start
    saved(arguments, choices, agent, time.time() - wall)

    names = [f"gen {k}" for k in range(len(past))]
    players = dict(zip(names, [member.play for member in past], strict=True))
    players |= {name: name for name in probe.world.players if name != "random"}
    found = rlenvs.tournament(arguments.id, players, games=arguments.games, seed=10_000, threads=1, make=choices)
    print(f"\n{found}\n")
    print("points of a best response (half is what the other side of an unexploitable policy makes)", flush=True)
    responses = {}
    for k in sorted({0, len(past) // 2, len(past) - 1}):
        responses[k] = best_response(arguments, choices, past[k], arguments.seed + 100 + k)
        points, half_width = responses[k]
        print(f"  against {names[k]}: {100 * points:.1f} ± {100 * half_width:.1f} %", flush=True)
    print(f"{learnt:.0f} s of one core for self-play, {time.process_time() - start - learnt:.0f} s to measure")
    ratings = {k: float(found.elo[found.players.index(name)]) for k, name in enumerate(names)}
    return ratings, responses


if __name__ == "__main__":
    main()
