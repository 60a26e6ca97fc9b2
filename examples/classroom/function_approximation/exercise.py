# %% [markdown]
# # Function approximation
#
# About 60 minutes of work; the notebook runs in seconds. Sutton and Barto, 2nd edition, chapters 9 to 11.
#
# Where states are many, or not even countable, a table is of no use. Describe a state by features $x(s)$ and let the value
# be linear in weights,
#
# $$\hat v(s) = w^\top x(s), \qquad
# w \leftarrow w + \alpha\,\big[R + \gamma\, \hat v(S') - \hat v(S)\big]\, x(S).$$
#
# This is *semi-gradient* TD(0): the target depends on $w$ too, but is taken for a constant.
#
# **Hand in** this notebook, or a script with `tiles`, `td_update`, `expected_update`, `fixed_point` and `learn`.

# %%
import numpy as np


# %% [markdown]
# ## 1. Tile coding
#
# A *tiling* cuts the space into equal boxes, and a state lies in one box of each tiling. The tilings are shifted against each other, so
# near states share most of their boxes, far ones none.
#
# Each of the $n$ dimensions is scaled to $u_i = B\,(x_i - low_i) / (high_i - low_i)$, from 0 to $B$, the number of `bins`. Tiling $k$ of
# $K$, from 0 to $K - 1$, is shifted by $k / K$ of a box: the box has the coordinates
#
# $$c_i = \lfloor u_i + k / K \rfloor, \qquad \text{from } 0 \text{ to } B.$$
#
# There is one box more than bins, because of the shift. What lies outside the space, if only by rounding, belongs to the box at the
# border: clip $c_i$ to 0 to $B$. The number of the box within its tiling has $c_1$ as its highest digit in base $B + 1$, and tiling $k$
# begins at $k\,(B + 1)^n$.


# %%
def tiles(state, low, high, tilings, bins):
    """Numbers (tilings,) of the boxes that a state (n,) lies in; `low` and `high` (n,) are the corners of the space."""
    ### BEGIN SOLUTION
    scaled = bins * (np.asarray(state, float) - low) / (np.asarray(high, float) - low)
    boxes = np.floor(scaled + np.arange(tilings)[:, None] / tilings).clip(0, bins).astype(int)
    digits = (bins + 1) ** np.arange(len(scaled))[::-1]
    return boxes @ digits + np.arange(tilings) * (bins + 1) ** len(scaled)
    ### END SOLUTION


# %% [markdown]
# ## 2. Semi-gradient TD(0)
#
# With any features. At a termination nothing is ahead.


# %%
def td_update(weights, features, reward, next_features, terminated, alpha, gamma):
    """The new weights (d,) after a step between states with features (d,); the array that is given stays as it is."""
    ### BEGIN SOLUTION
    ahead = 0.0 if terminated else weights @ next_features
    return weights + alpha * (reward + gamma * ahead - weights @ features) * features
    ### END SOLUTION


# %% [markdown]
# ## 3. Where does it go?
#
# Let rows of $X$ be the features of the states, $P$ the matrix of transitions under the policy to be judged, $r$ the mean rewards, and
# $D$ the diagonal matrix of how often each state is *updated*. On average an update is
#
# $$w \leftarrow w + \alpha\, X^\top D\, \big[ r + \gamma P X w - X w \big],$$
#
# and rests where $A w = b$ with $A = X^\top D (I - \gamma P) X$ and $b = X^\top D r$: the *TD fixed point*.


# %%
def expected_update(weights, X, P, r, d, alpha, gamma):
    """The weights (f,) after the average update, for X (s, f), P (s, s), r (s,), and shares d (s,) of the updates."""
    ### BEGIN SOLUTION
    errors = r + gamma * P @ X @ weights - X @ weights
    return weights + alpha * X.T @ (d * errors)
    ### END SOLUTION


def fixed_point(X, P, r, d, gamma):
    """The weights (f,) that the average update leaves as they are; A can be inverted."""
    ### BEGIN SOLUTION
    weighted = X.T * d
    return np.linalg.solve(weighted @ (X - gamma * P @ X), weighted @ r)
    ### END SOLUTION


# %% [markdown]
# ## 4. Control: out of the valley
#
# The engine of the car is too weak for the slope; it has to swing. `env` shows the position, from -1.2 to 0.6, and the
# velocity, from -0.07 to 0.07; the actions 0, 1, 2 push left, not, right; each step costs 1 until the car is out; after 200
# steps an episode is *truncated*. You may take `env.budget` steps: `env.reset()` gives `(observation, info)`,
# `env.step(action)` gives `(observation, reward, terminated, truncated, info)`.
#
# Learn by semi-gradient SARSA (or otherwise) with 8 tilings of 8 bins, so that
# $\hat q(s, a) = \sum_{j \in \text{tiles}(s)} w_{a j}$. What is graded is the return of the best action by your weights. Weights that
# begin at 0 are optimistic here: why, and what is it good for? And take care of $\alpha$: eight boxes learn at once. The last
# weights are a matter of luck; the mean of the weights over many episodes, early ones left out, is steadier.
#
# In hidden tests the two numbers may be exchanged or mirrored, within the same bounds, and actions have other numbers: weights
# that were learnt at home are of no use there.

# %%
LOW, HIGH, TILINGS, BINS = np.array([-1.2, -0.07]), np.array([0.6, 0.07]), 8, 8


def learn(env):
    """Weights (3, 648): 8 tilings of 9 x 9 boxes for each action."""
    ### BEGIN SOLUTION
    weights, steps, kept = np.zeros((3, TILINGS * (BINS + 1) ** 2)), 0, []
    while steps < env.budget:
        active = tiles(env.reset()[0], LOW, HIGH, TILINGS, BINS)
        action, over = int(weights[:, active].sum(axis=1).argmax()), False
        while not over and steps < env.budget:
            observation, reward, terminated, truncated, _ = env.step(action)
            next_active = tiles(observation, LOW, HIGH, TILINGS, BINS)
            values = weights[:, next_active].sum(axis=1)
            next_action = int(values.argmax())
            target = reward + (0.0 if terminated else values[next_action])
            weights[action, active] += 0.3 / TILINGS * (target - weights[action, active].sum())
            active, action = next_active, next_action
            over, steps = terminated or truncated, steps + 1
        if steps > env.budget / 2:
            kept.append(weights.copy())
    return np.mean(kept, axis=0)
    ### END SOLUTION


# %% [markdown]
# ## Look at it: the hill
#
# The cost to go, $-\max_a \hat q(s, a)$, over position and velocity. Where is the car nearly out, and where has it far to go? The
# spiral is the way of an episode.

# %% tags=["experiment"]
import os

import gymnasium
import matplotlib.pyplot as plt
import rlenvs  # registers the environments

smoke = bool(os.environ.get("RLENVS_SMOKE"))
env = gymnasium.make("rlenvs/MountainCar-v0", render_mode="rgb_array")


class Budgeted:
    """What `learn` is graded with."""

    def __init__(self):
        self.budget, self.reset, self.step = 500 if smoke else 40_000, env.reset, env.step


env.reset(seed=0)
weights = learn(Budgeted())


def values_of(state):
    return weights[:, tiles(state, LOW, HIGH, TILINGS, BINS)].sum(axis=1)


observation, way, pictures, over = env.reset(seed=1)[0], [], [], False
while not over:
    way.append(observation)
    observation, _, terminated, truncated, _ = env.step(int(values_of(observation).argmax()))
    over = terminated or truncated
    if len(way) % 10 == 1:
        pictures.append(env.render())
print(f"out after {len(way)} steps" if terminated else "not out")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
positions, velocities = np.linspace(LOW[0], HIGH[0], 60), np.linspace(LOW[1], HIGH[1], 60)
cost = [[-values_of(np.array([x, v])).max() for x in positions] for v in velocities]
image = left.imshow(cost, origin="lower", aspect="auto", extent=[LOW[0], HIGH[0], LOW[1], HIGH[1]])
figure.colorbar(image, ax=left, label="cost to go")
left.plot(*np.transpose(way), "w")
left.set_xlabel("position")
left.set_ylabel("velocity")
right.imshow(pictures[-1])
right.axis("off")
plt.show()

# %% [markdown]
# ## Look at it: the deadly triad
#
# Function approximation, bootstrapping and updates off the policy are harmless two by two. Together they can make the weights grow
# without end. Baird's counterexample has seven states; the policy to be judged goes to the seventh, always, and all rewards are
# 0, so $w = 0$ is right; $\gamma = 0.95$. There are eight weights: the first six states are worth $2 w_i + w_8$, the seventh $w_7 + 2
# w_8$. All states are updated equally often, though the policy would stay in the seventh. Take away one of the three at a time:
#
# - *on the policy*: only the seventh state is updated,
# - *a table*: each state has a weight of its own,
# - *no bootstrapping*: the target is the true return, which is 0 here.
#
# Nothing is drawn: these are average updates. So what makes the weights grow is not noise.

# %% tags=["experiment"]
X = np.hstack([2 * np.eye(7), np.ones((7, 1))])
X[6] = [0, 0, 0, 0, 0, 0, 1, 2]
P = np.zeros((7, 7))
P[:, 6] = 1.0
r, equally, on_policy = np.zeros(7), np.full(7, 1 / 7), np.eye(7)[6]
first = np.array([1.0, 1, 1, 1, 1, 1, 10, 1])
cases = {
    "all three": (X, equally, 0.95, first),
    "on the policy": (X, on_policy, 0.95, first),
    "a table": (np.eye(7), equally, 0.95, X @ first),
    "no bootstrapping": (X, equally, 0.0, first),  # a target of 0 is what gamma = 0 makes here
}
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
for name, (features, shares, gamma, w) in cases.items():
    errors = []
    for _ in range(100 if smoke else 4000):
        errors.append(np.sqrt(shares @ (features @ w) ** 2))
        w = expected_update(w, features, P, r, shares, 0.1, gamma)
    left.semilogy(np.maximum(errors, 1e-3), label=name)
left.set_xlabel("average update")
left.set_ylabel("error of the values, where they are updated")
left.legend()

# %% [markdown]
# Eigenvalues tell it beforehand: the updates converge for small $\alpha$ when all eigenvalues of $A$ have a positive real part
# (or leave what makes no difference alone, where one is 0). Two of Baird's have a negative one.

# %% tags=["experiment"]
for name, shares in {"all three": equally, "on the policy": on_policy}.items():
    A = X.T @ (shares[:, None] * (X - 0.95 * P @ X))
    right.plot(np.sort(np.linalg.eigvals(A).real), "o", label=name)
right.axhline(0.0, color="gray")
right.set_xlabel("number of the eigenvalue")
right.set_ylabel("real part")
right.legend()
plt.show()
