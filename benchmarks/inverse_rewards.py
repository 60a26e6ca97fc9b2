"""Rewards recovered from demonstrations of a game: `python benchmarks/inverse_rewards.py --write` (minutes).

Gems-v0 at its level "tabular", where two agents differ in what gems are worth to them. The demonstrators play a soft
equilibrium: each agent's policy is a Boltzmann policy of its soft Q-values, marginalized over the other's policy, as in
MAMQL (Haynam et al., arXiv 2503.04679). From what they did, and from nothing else, the worth of gems is then recovered,
each agent's alone: the weights of four features (the agent's shares of red and of blue gems, and the other's) that make
its demonstrations most likely, as maximum-entropy inverse learning has it. The other agent is modelled by what it was
seen to do, or, as independent learners have it, as somebody who acts at random. Transitions are counted in the world.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

import rlenvs

GEMS, LEVEL, CELLS, COLUMNS, ACTIONS, AGENTS = "rlenvs/Gems-v0", "tabular", 9, 3, 5, 2
RED, BLUE = 1, 3
RED_SHARE, BLUE_SHARE = 2, 4  # among the terms
GAMMA, SHARPNESS = 0.9, 5.0  # of the demonstrators; their inverse temperature
SAMPLES, SWEEPS, CLOSE = 20, 200, 1e-6  # per state and action; of the equilibrium; of values
PRIOR = 0.1  # times an action counts as seen in each state
FEATURES = ("own red", "own blue", "other's red", "other's blue")


@dataclass
class Game:
    """Transitions (states x 25, states), and features of each agent (agents, states, 5, 5, 4), by joint action."""

    moves: csr_matrix
    features: np.ndarray
    states: np.ndarray  # (states, 4): cells of both agents, of the red gem and of the blue one
    index: np.ndarray  # by these cells

    def expected(self, values: np.ndarray, others: np.ndarray, agent: int) -> np.ndarray:
        """The values of next states, or of anything else by joint action, by the own action: (states, 5)."""
        joint = (self.moves @ values).reshape(-1, ACTIONS, ACTIONS)
        return marginal(joint, others, agent)


def marginal(joint: np.ndarray, others: np.ndarray, agent: int) -> np.ndarray:
    """What (states, 5, 5, ...) is on average over the other's policy (states, 5), by the own action."""
    own_first = joint if agent == 0 else joint.swapaxes(1, 2)
    return np.einsum("sij...,sj->si...", own_first, others)


def read(batch: Any) -> np.ndarray:
    """The cells of agents and gems, (worlds, 4)."""
    places, ground = batch.states["position"], batch.states["ground"].reshape(batch.num_envs, CELLS)
    gems = [np.argmax(ground == color, axis=1) for color in (RED, BLUE)]
    return np.stack([*(places[:, k, 0] * COLUMNS + places[:, k, 1] for k in range(AGENTS)), *gems], axis=1)


def write(batch: Any, cells: np.ndarray) -> None:
    """Put agents and gems on these cells."""
    for k in range(AGENTS):
        batch.states["position"][:, k] = np.stack(np.divmod(cells[:, k], COLUMNS), axis=1)
    ground = np.zeros((len(cells), CELLS), np.uint8)
    for gem, color in ((2, RED), (3, BLUE)):
        ground[np.arange(len(cells)), cells[:, gem]] = color
    batch.states["ground"][:] = ground.reshape(batch.states["ground"].shape)


def game() -> Game:
    """Counted in the world: every joint action in every state, SAMPLES times."""
    every = np.stack(np.unravel_index(np.arange(CELLS**4), (CELLS,) * 4), axis=1)
    red, blue = every[:, 2:3], every[:, 3:]
    states = every[((every[:, :2] != red) & (every[:, :2] != blue)).all(1) & (red != blue)[:, 0]]
    index = np.full((CELLS,) * 4, -1)
    index[tuple(states.T)] = np.arange(len(states))
    joint = ACTIONS**AGENTS
    batch = rlenvs.make_batch(GEMS, len(states) * joint, level=LEVEL)
    batch.seed(0)
    batch.reset()
    batch.disable_autoreset()
    actions = np.stack(np.divmod(np.tile(np.arange(joint), len(states)), ACTIONS), axis=1)
    begun, counts = np.repeat(states, joint, axis=0), csr_matrix((len(states) * joint, len(states)))
    for _ in range(SAMPLES):
        write(batch, begun)
        batch.load_actions(actions)
        batch.step_inplace()
        then = index[tuple(read(batch).T)]
        counts += csr_matrix((np.full(len(then), 1 / SAMPLES), (np.arange(len(then)), then)), counts.shape)
    shares = batch.terms[:, [RED_SHARE, BLUE_SHARE]].reshape(len(states), ACTIONS, ACTIONS, 2, AGENTS)
    own = np.moveaxis(shares, -1, 0)
    return Game(counts, np.concatenate([own, own[::-1]], axis=-1), states, index)


def best_response(
    game: Game, weights: np.ndarray, others: np.ndarray, agent: int, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The Boltzmann policy of an agent's soft Q-values with these weights of features, against the other's policy, and
    the soft values of states; their search begins at those given."""
    rewards = marginal(game.features[agent] @ weights, others, agent)
    while True:
        q = rewards + GAMMA * game.expected(values, others, agent)
        highest = q.max(1)
        now = highest + np.log(np.exp(SHARPNESS * (q - highest[:, None])).sum(1)) / SHARPNESS
        if np.abs(now - values).max() < CLOSE:
            return np.exp(SHARPNESS * (q - now[:, None])), now
        values = now


def equilibrium(game: Game, weights: np.ndarray) -> np.ndarray:
    """Policies (agents, states, 5) that answer each other."""
    policies = np.full((AGENTS, len(game.states), ACTIONS), 1 / ACTIONS)
    values = np.zeros((AGENTS, len(game.states)))
    for _ in range(SWEEPS):
        before = policies.copy()
        for k in range(AGENTS):
            answer, values[k] = best_response(game, weights[k], policies[1 - k], k, values[k])
            policies[k] = 0.5 * policies[k] + 0.5 * answer
        if np.abs(policies - before).max() < 1e-5:
            break
    return policies


def demonstrate(game: Game, policies: np.ndarray, episodes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """How often each action was taken in each state (agents, states, 5), and the return of each agent."""
    batch, dice = rlenvs.make_batch(GEMS, episodes, level=LEVEL), np.random.default_rng(seed)
    batch.seed(seed)
    batch.reset()
    batch.disable_autoreset()
    counts, returns = np.zeros_like(policies), np.zeros(AGENTS)
    for _ in range(batch.setup.horizon):
        at = game.index[tuple(read(batch).T)]
        steps = policies[:, at].cumsum(-1)
        actions = (dice.random((AGENTS, episodes, 1)) * steps[..., -1:] > steps).sum(-1)
        for k in range(AGENTS):
            np.add.at(counts[k], (at, actions[k]), 1)
        batch.load_actions(actions.T)
        batch.step_inplace()
        returns += batch.rewards.mean(0)
    return counts, returns


def recovered(game: Game, counts: np.ndarray, others: np.ndarray, agent: int) -> np.ndarray:
    """The weights that make what an agent did most likely."""
    last = [np.zeros(len(game.states))]

    def surprise(weights: np.ndarray) -> float:
        policy, last[0] = best_response(game, weights, others, agent, last[0])
        return float(-(counts[agent] * np.log(np.maximum(policy, 1e-12))).sum() / counts[agent].sum())

    return minimize(surprise, np.zeros(len(FEATURES)), method="BFGS", options={"gtol": 1e-4}).x


def likely(counts: np.ndarray) -> np.ndarray:
    """A policy from counts."""
    seen = counts + PRIOR
    return seen / seen.sum(-1, keepdims=True)


def correlation(game: Game, found: np.ndarray, true: np.ndarray) -> float:
    """Of the recovered rewards with the true ones, over all states and joint actions of both agents."""
    both = ([(game.features[k] @ weights[k]).ravel() for k in range(AGENTS)] for weights in (found, true))
    rewards = [np.concatenate(each) for each in both]
    return float(np.corrcoef(np.stack(rewards))[0, 1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, nargs="+", default=[10, 100, 1000], help="demonstrated")
    parser.add_argument("--concern", type=float, nargs="+", default=[0.0, 0.5], help="for what the other gains")
    parser.add_argument("--seeds", type=int, default=5, help="of demonstrations")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    known = game()
    worth = np.array(rlenvs.make_batch(GEMS, 1, level=LEVEL).records(0)[0].worth)[:, [0, 2]]
    lines = []
    for concern in options.concern:
        true = np.stack([np.concatenate([worth[k], concern * worth[1 - k]]) for k in range(AGENTS)])
        policies = equilibrium(known, true)
        for episodes in options.episodes:
            runs = [row(known, true, policies, episodes, seed) for seed in range(options.seeds)]
            lines.append(told(concern, episodes, runs))
            print(lines[-1], flush=True)
    if options.write:
        head = ["concern", "episodes", "correlation", "correlation, the other at random", *FEATURES]
        page = ["# Rewards recovered from demonstrations of a game", "", TEXT, "", "| " + " | ".join(head) + " |"]
        page += ["|" + "---|" * len(head), *lines, ""]
        Path(__file__).with_suffix(".md").write_text("\n".join(page), encoding="utf-8")


TEXT = """\
Gems-v0, level "tabular"; means over demonstrations of five seeds, ± half a 95 % interval. The weights are those of the
first agent, to whom a red gem is worth 1 and a blue one -0.5 (to the other the reverse); what the other picks up is
worth `concern` times what it is worth to that one. What an agent does decides little of what the other finds, so these
weights come out last, and a model of the other does not help here. `python benchmarks/inverse_rewards.py --write` makes
this page."""


def row(game: Game, true: np.ndarray, policies: np.ndarray, episodes: int, seed: int) -> np.ndarray:
    """Both correlations, and the weights of the first agent."""
    counts, _ = demonstrate(game, policies, episodes, seed)
    seen, blind = likely(counts), np.full_like(policies, 1 / ACTIONS)
    found = [np.stack([recovered(game, counts, others[1 - k], k) for k in range(AGENTS)]) for others in (seen, blind)]
    return np.array([*(correlation(game, weights, true) for weights in found), *found[0][0]])


def told(concern: float, episodes: int, runs: list[np.ndarray]) -> str:
    """A row of the table."""
    means = np.mean(runs, axis=0)
    widths = 2.78 * np.std(runs, axis=0, ddof=1) / len(runs) ** 0.5 if len(runs) > 1 else np.zeros_like(means)
    cells = [f"{mean:.3f} ± {width:.3f}" for mean, width in zip(means, widths, strict=True)]
    return "| " + " | ".join([f"{concern:g}", f"{episodes:,}", *cells]) + " |"


if __name__ == "__main__":
    main()
