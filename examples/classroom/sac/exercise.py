# %% [markdown]
# # Soft actor-critic
#
# About 60 minutes of work; the notebook runs in seconds, or in about a minute where Stable-Baselines3 is installed. Sutton and Barto, 2nd
# edition, chapter 13.7; Haarnoja and others, "Soft actor-critic algorithms and applications" (2018).
#
# SAC maximises the return and, at a price $\alpha$, how random the policy is:
#
# $$J(\pi) = \mathbb{E}\Big[ \sum_t \gamma^t \big( R_{t+1} + \alpha\, \mathcal{H}(\pi(\cdot \mid S_t)) \big) \Big],
# \qquad \mathcal{H}(\pi) = -\mathbb{E}[\log \pi(A)].$$
#
# That keeps it exploring, and keeps all actions alive that are about equally good. You write its parts and use them on a
# problem of one step, where everything can be computed exactly.
#
# **Hand in** this notebook, or a script with `squash`, `soft_targets`, `actor_gradient`, `temperature_step`, `polyak` and `fit`.

# %%
import numpy as np


# %% [markdown]
# ## 1. The squashed Gaussian
#
# Actions have bounds, Gaussians have none. So SAC draws $u = \mu + \sigma \epsilon$ with $\epsilon \sim \mathcal{N}(0, 1)$ and
# takes $a = \tanh u$. That changes the density: where $\tanh$ is flat, much of $u$ falls on little of $a$. By the rule for a change of
# variables, for each number of an action,
#
# $$\log \pi(a) = \log \mathcal{N}(u; \mu, \sigma) - \log \big( 1 - \tanh^2 u \big),$$
#
# and the sum over the numbers for the whole action. For large $|u|$ the last bracket is 0 in floating point, and its
# logarithm infinite. The same without that trouble is $\log (1 - \tanh^2 u) = 2\, \big( \log 2 - u - \log(1 + e^{-2u}) \big)$, with
# `np.logaddexp(0, -2 * u)` for the last logarithm.


# %%
def squash(means, log_deviations, noise):
    """Actions (B, n) in (-1, 1) and their log-probabilities (B,), for means, log deviations, and noise (B, n)."""
    ### BEGIN SOLUTION
    u = means + np.exp(log_deviations) * noise
    normal = -0.5 * noise**2 - log_deviations - 0.5 * np.log(2 * np.pi)
    correction = 2 * (np.log(2) - u - np.logaddexp(0, -2 * u))
    return np.tanh(u), (normal - correction).sum(axis=1)
    ### END SOLUTION


# %% [markdown]
# ## 2. The critics' target
#
# Two critics, of which the lower is believed: a policy that climbs a critic finds its errors upwards, and seldom do both have
# the same. What is ahead is worth its return and its entropy, so with $A' \sim \pi(\cdot \mid S')$
#
# $$y = R + \gamma\,(1 - \text{terminated}) \big[ \min(Q_1(S', A'), Q_2(S', A')) - \alpha \log \pi(A' \mid S') \big].$$


# %%
def soft_targets(rewards, next_q1, next_q2, next_log_probabilities, terminated, alpha, gamma):
    """Targets (B,), of arrays (B,)."""
    ### BEGIN SOLUTION
    ahead = np.minimum(next_q1, next_q2) - alpha * next_log_probabilities
    return rewards + gamma * np.where(terminated, 0.0, ahead)
    ### END SOLUTION


# %% [markdown]
# ## 3. The actor's gradient
#
# The actor makes $L = \mathbb{E}[\alpha \log \pi(a) - Q(a)]$ small. The noise is held fixed, so that $a$ is a function of $\mu$ and
# $\sigma$ (*reparametrisation*), and the chain rule goes through the action into the critic. Per number, with $Q'(a)$ the slope of
# the critic,
#
# $$g = \frac{\partial L}{\partial u} = 2 \alpha \tanh u - Q'(a)\,(1 - \tanh^2 u), \qquad
# \frac{\partial L}{\partial \mu} = \mathbb{E}[g], \qquad
# \frac{\partial L}{\partial \log \sigma} = \mathbb{E}[g\, \sigma \epsilon] - \alpha.$$
#
# (Where does the last $-\alpha$ come from? Look at $\log \mathcal{N}(u; \mu, \sigma)$ for fixed $\epsilon$.)


# %%
def actor_gradient(mean, log_deviation, noise, slopes, alpha):
    """Gradients of L by mean (n,) and log deviation (n,), for noise (B, n) and slopes (B, n) of the critic."""
    ### BEGIN SOLUTION
    deviation = np.exp(log_deviation)
    actions = np.tanh(mean + deviation * noise)
    g = 2 * alpha * actions - slopes * (1 - actions**2)
    return g.mean(axis=0), (g * deviation * noise).mean(axis=0) - alpha
    ### END SOLUTION


# %% [markdown]
# ## 4. The temperature, and slow copies
#
# Instead of $\alpha$ one may choose the entropy $\bar{\mathcal{H}}$ that the policy is to have. Step down the gradient of
#
# $$-\log \alpha \cdot \mathbb{E}\big[ \log \pi(a) + \bar{\mathcal{H}} \big]$$
#
# by $\log \alpha$. Is the entropy too low, does $\alpha$ rise or fall?
#
# The targets' critics are slow copies: $\bar\theta \leftarrow (1 - \tau)\, \bar\theta + \tau\, \theta$ (*Polyak averaging*).


# %%
def temperature_step(log_alpha, log_probabilities, target_entropy, rate):
    """The new log alpha, after a step of size `rate` times the gradient, on a batch of log-probabilities (B,)."""
    ### BEGIN SOLUTION
    return log_alpha + rate * float(np.mean(log_probabilities) + target_entropy)
    ### END SOLUTION


def polyak(slow, fast, tau):
    """The new slow weights: lists of arrays; those that are given stay as they are."""
    ### BEGIN SOLUTION
    return [(1 - tau) * old + tau * new for old, new in zip(slow, fast)]
    ### END SOLUTION


# %% [markdown]
# ## 5. Two actions, equally good
#
# An episode is one step, and an action $a \in (-1, 1)$ is paid for by two bumps, at $\pm p$ and of width $w$. No critic has to be
# learnt: `Bumps` knows the slope.


# %%
class Bumps:
    """What an action is paid."""

    def __init__(self, place, width):
        self.place, self.width = place, width

    def reward(self, actions):
        return sum(np.exp(-((actions - p) ** 2) / (2 * self.width**2)) for p in (-self.place, self.place))

    def slope(self, actions):
        parts = ((p, np.exp(-((actions - p) ** 2) / (2 * self.width**2))) for p in (-self.place, self.place))
        return sum((p - actions) / self.width**2 * part for p, part in parts)


# %% [markdown]
# Find the mean and the log deviation of the best policy for a given $\alpha$ by steps along your gradient. You are graded by
# $\mathbb{E}[R] + \alpha \mathcal{H}$, computed by quadrature. There may be more than one local optimum: a policy that
# serves both bumps and one that serves one of them. More than one start helps, and averages of many samples tell which is best.


# %%
def fit(place, width, alpha):
    """Mean and log deviation, two numbers."""
    ### BEGIN SOLUTION
    rng, bumps, found = np.random.default_rng(0), Bumps(place, width), []
    for start in ((0.0, 0.5), (0.0, -1.0), (1.0, -1.0), (1.5, 0.0)):
        mean, log_deviation = np.array(start[:1]), np.array(start[1:])
        for step in range(1500):
            noise = rng.normal(size=(128, 1))
            slopes = bumps.slope(np.tanh(mean + np.exp(log_deviation) * noise))
            by_mean, by_log = actor_gradient(mean, log_deviation, noise, slopes, alpha)
            rate = 0.1 * (1 - step / 1500)
            mean = mean - rate * np.clip(by_mean, -1, 1)
            log_deviation = np.clip(log_deviation - rate * np.clip(by_log, -1, 1), -5, 2)
        noise = rng.normal(size=(20_000, 1))
        actions, logs = squash(np.tile(mean, (20_000, 1)), np.tile(log_deviation, (20_000, 1)), noise)
        found.append((np.mean(bumps.reward(actions)[:, 0] - alpha * logs), float(mean[0]), float(log_deviation[0])))
    return max(found)[1:]
    ### END SOLUTION


# %% [markdown]
# ## Look at it: what tanh does to a Gaussian
#
# The histograms are drawn, the lines are by your formula. Without the correction, what would the lines be? What becomes of a
# Gaussian that is wide?

# %% tags=["experiment"]
import os

import matplotlib.pyplot as plt

smoke = bool(os.environ.get("RLENVS_SMOKE"))
rng = np.random.default_rng(0)
grid = np.linspace(-0.999, 0.999, 801)


def density(mean, log_deviation):
    """Of actions on the grid: the noise that leads to each is found backwards."""
    noise = (np.arctanh(grid) - mean) / np.exp(log_deviation)
    return np.exp(squash(np.full((801, 1), mean), np.full((801, 1), log_deviation), noise[:, None])[1])


figure, axes = plt.subplots(1, 3, figsize=(14, 4))
for color, deviation in enumerate((0.3, 0.9, 2.0)):
    logs, noise = np.full((20_000, 1), np.log(deviation)), rng.normal(size=(20_000, 1))
    drawn = squash(np.full((20_000, 1), 0.2), logs, noise)[0][:, 0]
    axes[0].hist(drawn, 60, density=True, color=f"C{color}", alpha=0.3)
    axes[0].plot(grid, density(0.2, np.log(deviation)), f"C{color}", label=f"deviation {deviation}")
axes[0].set_ylim(0, 3)
axes[0].set_xlabel("action")
axes[0].set_ylabel("density")
axes[0].legend()

# %% [markdown]
# ## Look at it: what the entropy is for
#
# The best of *all* distributions, not only of squashed Gaussians, is $\pi(a) \propto e^{R(a) / \alpha}$: dashed. At which
# $\alpha$ does the policy give one of the two actions up? What would the other be worth, if the one became impossible one day?

# %% tags=["experiment"]
place, width = 0.85, 0.15
axes[1].plot(grid, Bumps(place, width).reward(grid), "k", lw=0.7, label="reward")
for color, alpha in enumerate((0.05, 0.3, 1.0)):
    mean, log_deviation = fit(place, width, alpha)
    axes[1].plot(grid, density(mean, log_deviation), f"C{color}", label=f"alpha {alpha}")
    best = np.exp(Bumps(place, width).reward(grid) / alpha)
    axes[1].plot(grid, best / (best.mean() * (grid[-1] - grid[0])), f"C{color}--", lw=0.8)
axes[1].set_ylim(0, 5)
axes[1].set_xlabel("action")
axes[1].set_ylabel("density")
axes[1].legend()

# %% [markdown]
# ## Look at it: a temperature that finds itself
#
# The policy and $\alpha$ learn together. The uniform distribution over (-1, 1) has the entropy $\log 2 \approx 0.69$; negative
# entropies are nothing bad, they are narrower.

# %% tags=["experiment"]
for color, target in enumerate((-1.0, 0.0)):
    mean, log_deviation, log_alpha, alphas, entropies = np.array([0.1]), np.array([0.0]), -1.0, [], []
    for _ in range(50 if smoke else 4000):
        noise = rng.normal(size=(128, 1))
        actions, logs = squash(np.tile(mean, (128, 1)), np.tile(log_deviation, (128, 1)), noise)
        slopes = Bumps(place, width).slope(actions)
        by_mean, by_log = actor_gradient(mean, log_deviation, noise, slopes, np.exp(log_alpha))
        mean, log_deviation = mean - 0.02 * by_mean, log_deviation - 0.02 * by_log
        log_alpha = temperature_step(log_alpha, logs, target, 0.01)
        alphas.append(np.exp(log_alpha))
        entropies.append(-logs.mean())
    smooth = np.convolve(entropies, np.ones(25) / 25, mode="valid")
    axes[2].plot(smooth, f"C{color}", lw=0.8, label=f"entropy, target {target:.0f}")
    axes[2].plot(alphas, f"C{color}--", label="its alpha")
axes[2].set_xlabel("step")
axes[2].legend()
plt.show()

# %% [markdown]
# ## Look at it: the pendulum
#
# All parts together, in a library, if it is there: Stable-Baselines3 (`pip install stable-baselines3`) has the same formulas in
# `sac.py`. Can you find them?

# %% tags=["experiment"]
import importlib.util

if importlib.util.find_spec("stable_baselines3") is None:
    print("stable-baselines3 is not installed: nothing to see here")
else:
    import gymnasium
    import rlenvs  # registers the environments
    from stable_baselines3 import SAC

    env = gymnasium.make("rlenvs/Pendulum-v0", render_mode="rgb_array")
    model = SAC("MlpPolicy", env, learning_rate=0.002, policy_kwargs={"net_arch": [64, 64]}, seed=0, device="cpu")
    temperatures, returns = [], []
    for _ in range(1 if smoke else 8):
        model.learn(120 if smoke else 500, reset_num_timesteps=False)
        temperatures.append(float(model.log_ent_coef.exp().detach()))
        played = rlenvs.evaluate("Pendulum-v0", lambda seen: model.predict(seen, deterministic=True)[0], 10)
        returns.append(played.mean)
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 4))
    steps = 500 * np.arange(1, len(returns) + 1)
    left.plot(steps, returns, "o-")
    left.set_xlabel("step")
    left.set_ylabel("mean return of the mean action")
    middle.plot(steps, temperatures, "o-")
    middle.set_xlabel("step")
    middle.set_ylabel("alpha")
    observation = env.reset(seed=0)[0]
    for _ in range(150):
        observation = env.step(model.predict(observation, deterministic=True)[0])[0]
    right.imshow(env.render())
    right.axis("off")
    plt.show()
