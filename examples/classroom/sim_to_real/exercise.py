# %% [markdown]
# # From the simulator to the world: domain randomisation
#
# About 60 minutes of work; the notebook runs in seconds. Beside Sutton and Barto, 2nd edition, chapter 17; Tobin and others,
# "Domain randomization for transferring deep neural networks from simulation to the real world" (2017); Rajeswaran and others,
# "EPOpt" (2017).
#
# A policy that was tuned in one simulator meets a world whose masses, lengths and motors are a little different. Call these numbers the
# *context* $c$, and $J(\theta, c)$ the return of the policy $\theta$ in a context. Who knows only that $c$ lies between two
# bounds draws contexts from there, and looks at their average, or at the average of the worst share $\alpha$ of them, the
# *conditional value at risk*:
#
# $$\max_\theta \; \mathbb{E}_c\, J(\theta, c), \qquad
# \max_\theta \; \mathrm{CVaR}_\alpha(\theta) = \mathbb{E}_c \big[ J(\theta, c) \,\big|\, J(\theta, c) \text{ among the worst share } \alpha \big].$$
#
# The world is a cart with a pole. Its policy is linear: push right if $\theta \cdot s > 0$, else left, for the four numbers of the
# state $s$. A context is (half the pole's length, mass of the pole, force of a push).
#
# **Hand in** this notebook, or a script with `sample_contexts`, `cvar`, `pairs`, `refit` and `search`.

# %%
import numpy as np


# %% [markdown]
# ## 1. Draw contexts
#
# Independent and uniform between `low` and `high`, arrays with a number for each part of a context. The same seed gives the same
# contexts, and another one others.


# %%
def sample_contexts(seed, low, high, count):
    """Contexts (count, k), for low (k,) and high (k,)."""
    ### BEGIN SOLUTION
    return np.random.default_rng(seed).uniform(low, high, (count, len(low)))
    ### END SOLUTION


# %% [markdown]
# ## 2. The worst share
#
# Of $n$ returns the worst $\lceil \alpha n \rceil$, and at least one of them.


# %%
def cvar(returns, alpha):
    """Mean of the worst share alpha of the returns (n,)."""
    ### BEGIN SOLUTION
    count = max(int(np.ceil(alpha * len(returns) - 1e-9)), 1)
    return float(np.sort(returns)[:count].mean())
    ### END SOLUTION


# %% [markdown]
# ## 3. Every candidate in every context
#
# The simulator takes rows $(\theta, c)$ and plays an episode for each. `pairs` makes the rows: the first candidate in all contexts, then the
# second in all of them, and so on. All candidates meet the same contexts: differences are then theirs, not those of luck.


# %%
def pairs(candidates, contexts):
    """Rows (m * n, d + k), for candidates (m, d) and contexts (n, k)."""
    ### BEGIN SOLUTION
    repeated = np.repeat(candidates, len(contexts), axis=0)
    return np.hstack([repeated, np.tile(contexts, (len(candidates), 1))])
    ### END SOLUTION


# %% [markdown]
# ## 4. The cross-entropy method
#
# Draw candidates $\theta \sim \mathcal N(\mu, \mathrm{diag}(\sigma^2))$, score them, and set $\mu$ and $\sigma$ to mean and standard
# deviation of the best `elite` of them (the standard deviation with the divisor `elite`). To keep looking, searches add a small number to
# $\sigma$ each time.


# %%
def refit(candidates, scores, elite):
    """(mean, deviation), each (d,), of the best candidates (m, d) by the scores (m,)."""
    ### BEGIN SOLUTION
    best = np.asarray(candidates)[np.argsort(-np.asarray(scores))[:elite]]
    return best.mean(axis=0), best.std(axis=0)
    ### END SOLUTION


# %% [markdown]
# ## 5. Search
#
# `env` is the simulator. After one `env.reset()`, `env.step(rows)` plays 256 episodes at once, `rows` of shape (256, 7), and gives
# `(returns, 0.0, False, False, {})` with `returns` of shape (256,): 1 for each step that the pole stands, at most 500. You have `env.budget` such
# calls, in any contexts you like. Return $\theta$. It is graded by the worst tenth of its returns in contexts between `low`
# and `high` that you have not seen. Where `low` equals `high` there is one context only, and nothing to be robust against.
#
# In hidden tests the sensors are mixed by a rotation, another one for each search, so weights that were found at home are of no
# use.


# %%
def search(env, low, high):
    """theta (4,)."""
    ### BEGIN SOLUTION
    rng, mean, deviation = np.random.default_rng(0), np.zeros(4), np.ones(4)
    env.reset()
    for call in range(env.budget):
        candidates = mean + deviation * rng.normal(size=(16, 4))
        returns = env.step(pairs(candidates, sample_contexts(call, low, high, 16)))[0]
        scores = [cvar(each, 0.3) for each in returns.reshape(16, 16)]
        mean, deviation = refit(candidates, scores, 4)
        deviation = deviation + 0.1
    return mean
    ### END SOLUTION


# %% [markdown]
# ## Look at it
#
# Three searches: in the one context of the simulator, in contexts around it, and in all that the world may have. Where does each policy
# fail? Did robustness cost anything in the simulator's own context?

# %% tags=["experiment"]
import os

import gymnasium
import matplotlib.pyplot as plt
import rlenvs

smoke = bool(os.environ.get("RLENVS_SMOKE"))
names = ("length", "masspole", "force_mag")
nominal, low, high = np.array([0.5, 0.1, 10.0]), np.array([0.2, 0.05, 4.0]), np.array([2.5, 0.5, 16.0])


def play(rows, seed):
    """Returns of an episode for each row (theta, context): a vector environment whose worlds differ."""
    envs = rlenvs.make_vec("CartPole-v0", len(rows), **dict(zip(names, rows[:, 4:].T)))
    seen, _ = envs.reset(seed=seed)
    returns, alive = np.zeros(len(rows)), np.ones(len(rows), dtype=bool)
    while alive.any():
        seen, rewards, terminated, truncated, _ = envs.step((np.sum(seen * rows[:, :4], axis=1) > 0).astype(int))
        returns += rewards * alive
        alive &= ~(terminated | truncated)
    return returns


class Simulator:
    """What `search` is graded with."""

    def __init__(self, seed):
        self.seed, self.budget = seed, 2 if smoke else 40

    def reset(self):
        return np.zeros(256), {}

    def step(self, rows):
        self.seed += 256
        return play(rows, self.seed), 0.0, False, False, {}


def trained(width, seed=0):
    """The search's result where contexts are drawn from this share of the whole range, around the nominal one."""
    return search(Simulator(seed), nominal + width * (low - nominal), nominal + width * (high - nominal))


figure, axes = plt.subplots(1, 4, figsize=(15, 3.8))
policies = {"one context": trained(0.0), "half the range": trained(0.5), "the whole range": trained(1.0)}
lengths, forces = np.linspace(low[0], high[0], 24), np.linspace(low[2], high[2], 24)
grid = np.array([[length, nominal[1], force] for force in forces for length in lengths])
for place, (name, theta) in zip(axes, policies.items()):
    returns = play(pairs(theta[None], grid), 0).reshape(24, 24)
    picture = place.imshow(
        returns, origin="lower", aspect="auto", vmin=0, vmax=500, extent=(low[0], high[0], low[2], high[2])
    )
    place.plot(nominal[0], nominal[2], "r+", markersize=12)
    place.set_title(f"searched in {name}", fontsize=10)
    place.set_xlabel("half length of the pole, m")
axes[0].set_ylabel("force of a push, N")
figure.colorbar(picture, ax=axes[2])
real = sample_contexts(1, low, high, 200)
for name, theta in policies.items():
    returns = play(pairs(theta[None], real), 1)
    axes[3].plot(np.linspace(0, 1, 200), np.sort(returns), label=name)
    print(f"{name}: mean {returns.mean():.0f}, worst tenth {cvar(returns, 0.1):.0f}")
axes[3].set_xlabel("share of the contexts")
axes[3].set_ylabel("return")
axes[3].legend()
plt.tight_layout()
plt.show()

# %% [markdown]
# ## With the package's own means
#
# Every parameter has a range; `randomize` draws a context at each reset, and `rlenvs.evaluate_robustness` plays a grid of contexts, or
# drawn ones, and says which was worst. Are its numbers yours?

# %% tags=["experiment"]
ranges = {name: (float(a), float(b)) for name, a, b in zip(names, low, high)}
points, seeds = (2, 5) if smoke else (6, 200)
for name, theta in policies.items():

    def act(seen, theta=theta):
        return (seen @ theta > 0).astype(int)

    print(f"searched in {name}:", rlenvs.evaluate("CartPole-v0", act, seeds=seeds, randomize=ranges))
    print("   ", rlenvs.evaluate_robustness("CartPole-v0", act, ranges, points=points, n_episodes=1))
env = gymnasium.make("rlenvs/CartPole-v0", length=2.5, force_mag=16.0, render_mode="rgb_array")
figure, axes = plt.subplots(1, len(policies), figsize=(12, 3.2))
for place, (name, theta) in zip(axes, policies.items()):
    seen, _ = env.reset(seed=0)
    steps, over = 0, False
    while not over and steps < 150:
        seen, _, terminated, truncated, _ = env.step(int(seen @ theta > 0))
        steps, over = steps + 1, terminated or truncated
    place.imshow(env.render())
    place.set_title(f"{name}: step {steps}")
    place.axis("off")
plt.tight_layout()
plt.show()
