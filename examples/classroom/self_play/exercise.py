# %% [markdown]
# # Several agents: self-play, equilibria, teams
#
# About 75 minutes of work; the notebook runs in seconds. Beside Sutton and Barto, 2nd edition, chapters 2 and 16; Shoham and
# Leyton-Brown, *Multiagent Systems* (2008), chapters 3, 4 and 7.
#
# In a *zero-sum matrix game* the row player picks $i$, the column player $j$, and the row player gets $A_{ij}$ from the column player.
# A mixed strategy is a vector of probabilities, $p$ for rows and $q$ for columns, and the row player expects $p^\top A\, q$. What a pair
# of strategies could lose against the best opponents is its *exploitability*:
#
# $$\varepsilon(p, q) = \max_i\, (A q)_i - \min_j\, (p^\top A)_j \;\ge\; 0.$$
#
# It is 0 exactly at a *Nash equilibrium*. How often you win against weak opponents says nothing of it.
#
# **Hand in** this notebook, or a script with `best_response`, `exploitability`, `fictitious_play`, `matched`, `regret_matching`,
# `update` and `learn_jointly`.

# %%
import numpy as np


# %% [markdown]
# ## 1. Best responses


# %%
def best_response(payoffs, opponent):
    """The number of the row that earns most against a mixed strategy of the columns."""
    ### BEGIN SOLUTION
    return int(np.argmax(payoffs @ opponent))
    ### END SOLUTION


def exploitability(payoffs, row, column):
    """Of two mixed strategies, a number."""
    ### BEGIN SOLUTION
    return float((payoffs @ column).max() - (row @ payoffs).min())
    ### END SOLUTION


# %% [markdown]
# ## 2. Fictitious play
#
# Both players count what the other has played so far, and each round plays the best response to these frequencies. Both begin with
# action 0. The *frequencies* of what was played approach an equilibrium in every zero-sum game (Robinson, 1951); what is played in
# the last round need not.


# %%
def fictitious_play(payoffs, rounds):
    """The frequencies (row, column) after so many rounds."""
    ### BEGIN SOLUTION
    rows, columns = np.zeros(payoffs.shape[0]), np.zeros(payoffs.shape[1])
    rows[0] = columns[0] = 1
    for _ in range(rounds - 1):
        i, j = best_response(payoffs, columns), best_response(-payoffs.T, rows)
        rows[i] += 1
        columns[j] += 1
    return rows / rounds, columns / rounds
    ### END SOLUTION


# %% [markdown]
# ## 3. Regret matching
#
# The *regret* of an action is what it would have earned more than what was played, added up over all rounds. Each player mixes in
# proportion to the positive regrets, and equally where none is positive (Hart and Mas-Colell, 2000):
#
# $$p_{t}(i) \propto \max(r_t(i), 0), \qquad r_{t+1} = r_t + A q_t - (p_t^\top A\, q_t)\, \mathbf 1,$$
#
# and the column player likewise with $-A$. It is the core of the programs that play poker. The *average* of the strategies
# $p_1, \dots, p_T$ approaches an equilibrium, with an exploitability of at most order $1 / \sqrt T$.


# %%
def matched(regrets):
    """The mixed strategy for the regrets (n,)."""
    ### BEGIN SOLUTION
    positive = np.maximum(regrets, 0.0)
    total = positive.sum()
    return positive / total if total > 0 else np.full(len(positive), 1 / len(positive))
    ### END SOLUTION


def regret_matching(payoffs, rounds):
    """The average strategies (row, column) of so many rounds."""
    ### BEGIN SOLUTION
    regrets = [np.zeros(size) for size in payoffs.shape]
    sums = [np.zeros(size) for size in payoffs.shape]
    for _ in range(rounds):
        p, q = matched(regrets[0]), matched(regrets[1])
        value = p @ payoffs @ q
        regrets[0] += payoffs @ q - value
        regrets[1] += value - p @ payoffs
        sums[0] += p
        sums[1] += q
    return sums[0] / rounds, sums[1] / rounds
    ### END SOLUTION


# %% [markdown]
# ## 4. A team: independent learners and a joint learner
#
# In a *team game* both get the same payoff. This one, the climbing game, is hard to learn (Claus and Boutilier, 1998):
#
# | | 0 | 1 | 2 |
# | --- | --- | --- | --- |
# | **0** | 11 | -30 | 0 |
# | **1** | -30 | 7 | 6 |
# | **2** | 0 | 0 | 5 |
#
# An *independent learner* has a value $Q(a)$ for each of its own actions, and takes the other for a part of the world. While the other still
# explores, action 0 looks terrible. A *hysteretic* learner (Matignon and others, 2007) is slower to believe bad news, with $\beta <
# \alpha$:
#
# $$\delta = R - Q(a), \qquad Q(a) \leftarrow Q(a) + \begin{cases} \alpha\, \delta & \delta \ge 0 \\ \beta\, \delta & \delta < 0. \end{cases}$$
#
# With $\beta = \alpha$ it is an ordinary one. A *joint learner* has a value $Q(a, b)$ for each pair of actions.
#
# `learn_jointly` gets a team game whose payoffs have noise: after one `env.reset()`, `env.step([a, b])` gives `(0, payoff, False,
# False, {})`. You may play `env.budget` times. Return the pair of actions that earns most on average.


# %%
def update(Q, action, reward, alpha, beta):
    """The new Q (actions,) of one learner; the array that is given stays as it is."""
    Q = np.array(Q, dtype=float)
    ### BEGIN SOLUTION
    error = reward - Q[action]
    Q[action] += (alpha if error >= 0 else beta) * error
    ### END SOLUTION
    return Q


def learn_jointly(env, actions):
    """(a, b), where both players have so many actions."""
    ### BEGIN SOLUTION
    env.reset()
    sums, pairs = np.zeros((actions, actions)), list(np.ndindex(actions, actions))
    for a, b in pairs * (env.budget // len(pairs)):
        sums[a, b] += env.step([a, b])[1]
    return [int(each) for each in np.unravel_index(sums.argmax(), sums.shape)]
    ### END SOLUTION


# %% [markdown]
# ## Look at it
#
# Left: exploitability in rock, paper, scissors, lizard, Spock with unequal payoffs. Middle: how often teams find the best pair of the
# climbing game. Right: a tournament, in mean payoffs of the row against the column. Who wins it by the sum over the opponents, and
# who loses to nobody?

# %% tags=["experiment"]
import os

import matplotlib.pyplot as plt

smoke = bool(os.environ.get("RLENVS_SMOKE"))
game = np.array([[0, -1, 2, 1, -1], [1, 0, -1, -1, 1], [-2, 1, 0, 1, -1], [-1, 1, -1, 0, 1], [1, -1, 1, -1, 0.0]])
rounds = [1, 3, 10, 30, 100] if smoke else [1, 3, 10, 30, 100, 300, 1000, 3000, 10000]
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 4.4))
for method in (fictitious_play, regret_matching):
    left.loglog(rounds, [exploitability(game, *method(game, n)) for n in rounds], "o-", label=method.__name__)
left.set_xlabel("rounds")
left.set_ylabel("exploitability")
left.legend()

climbing = np.array([[11, -30, 0], [-30, 7, 6], [0, 0, 5.0]])


def independent(seed, beta, episodes):
    """The pair that two learners end with, each with values of its own actions."""
    rng, Q = np.random.default_rng(seed), [np.zeros(3), np.zeros(3)]
    for episode in range(episodes):
        explore = max(1.0 - episode / (0.8 * episodes), 0.02)
        pair = [int(rng.integers(3)) if rng.random() < explore else int(q.argmax()) for q in Q]
        Q = [update(q, action, climbing[tuple(pair)], 0.1, beta) for q, action in zip(Q, pair)]
    return tuple(int(q.argmax()) for q in Q)


class Noisy:
    """What `learn_jointly` is graded with."""

    def __init__(self, seed):
        self.rng, self.budget = np.random.default_rng(seed), 900

    def reset(self):
        return 0, {}

    def step(self, pair):
        return 0, climbing[tuple(pair)] + self.rng.normal(), False, False, {}


runs, episodes = (2, 50) if smoke else (40, 1500)
found = {
    "independent": [independent(run, 0.1, episodes) for run in range(runs)],
    "hysteretic": [independent(run, 0.005, episodes) for run in range(runs)],
    "joint": [tuple(learn_jointly(Noisy(run), 3)) for run in range(runs)],
}
middle.bar(list(found), [np.mean([pair == (0, 0) for pair in pairs]) for pairs in found.values()])
middle.set_ylabel("share that finds the best pair")

players = {
    "always rock": np.eye(5)[0],
    "uniform": np.full(5, 0.2),
    "beats rock": np.eye(5)[best_response(game, np.eye(5)[0])],
    "fictitious": fictitious_play(game, rounds[-1])[0],
    "regrets": regret_matching(game, rounds[-1])[0],
}
players["beats that"] = np.eye(5)[best_response(game, players["beats rock"])]


def show_table(axes, table, names):
    most = np.abs(table).max()
    axes.imshow(table, cmap="RdBu", vmin=-most, vmax=most)
    for (i, j), value in np.ndenumerate(table):
        color = "white" if abs(value) > 0.6 * most else "black"
        axes.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=8, color=color)
    axes.set_yticks(range(len(names)), names)
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right")


mixed = np.stack(list(players.values()))
show_table(right, mixed @ game @ mixed.T, list(players))
plt.tight_layout()
plt.show()

# %% [markdown]
# ## A tournament between teams
#
# `rlenvs.tournament` lets players meet in a world with teams, here two small armies. A player may be the name of a script of the
# world, or a function of observations and masks: write one of your own. Its table of games won and lost is a zero-sum matrix game between
# whole *policies*: its equilibrium says who would be worth choosing against an opponent who chooses well too. What is the difference
# from Elo, which is one number each?

# %% tags=["experiment"]
import rlenvs


def rusher(observations, masks, rng):
    """The last choice that is allowed: attacks, where one is possible."""
    return masks.shape[1] - 1 - np.argmax(masks[:, ::-1], axis=1)


result = rlenvs.tournament(
    "Battle-v0", {"kiting": "kiting", "plain": "plain", "rusher": rusher, "random": "random"}, games=4 if smoke else 60
)
print(result)
met = result.wins + result.wins.T + result.draws
table = (result.wins - result.wins.T) / np.maximum(met, 1)
strategy, _ = regret_matching(table, rounds[-1])
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 4.2))
show_table(left, table, result.players)
middle.bar(result.players, strategy)
middle.set_ylabel("probability at the equilibrium")
right.bar(result.players, result.elo, yerr=result.elo_half_width)
right.set_ylim(800, 2200)
right.set_ylabel("Elo")
plt.tight_layout()
plt.show()
