"""Half right: tiles are right, updates look behind the end and forget how often states are seen; nothing is learnt."""

import numpy as np


def tiles(state, low, high, tilings, bins):
    scaled = bins * (np.asarray(state, float) - low) / (np.asarray(high, float) - low)
    boxes = np.floor(scaled + np.arange(tilings)[:, None] / tilings).clip(0, bins).astype(int)
    return np.array(
        [
            k * (bins + 1) ** len(scaled) + np.ravel_multi_index(box, [bins + 1] * len(scaled))
            for k, box in enumerate(boxes)
        ]
    )


def td_update(weights, features, reward, next_features, terminated, alpha, gamma):
    return weights + alpha * (reward + gamma * weights @ next_features - weights @ features) * features


def expected_update(weights, X, P, r, d, alpha, gamma):
    return weights + alpha * X.T @ (r + gamma * P @ X @ weights - X @ weights) / len(r)


def fixed_point(X, P, r, d, gamma):
    weighted = X.T * d
    return np.linalg.solve(weighted @ (X - gamma * P @ X), weighted @ r)


def learn(env):
    return np.zeros((3, 648))
