"""Half right: guesses without predicting, and remembers only as long as the corridor is short."""

import numpy as np


def stack(observations, k):
    places = np.arange(len(observations))[:, None] + np.arange(1 - k, 1)
    return np.asarray(observations)[places.clip(0)].reshape(len(observations), -1)


def belief_update(belief, T, Z, seen):
    weighed = (belief @ T) * Z[:, seen]
    return weighed / weighed.sum()


def filter_guesses(first, T, Z, seen):
    belief, guesses = first, []
    for each in seen:
        belief = belief * Z[:, each]
        belief = belief / belief.sum()
        guesses.append(int(belief.argmax()))
    return np.array(guesses)


def best_memoryless(shares, Z):
    return Z.argmax(axis=0), float(Z.max(axis=0).sum() / len(shares))


def remember(memory, seen):
    return ((memory or []) + [[int(number) for number in seen]])[-4:]


def act(memory):
    if memory[-1] != [0, 1, 0]:
        return 1
    return 2 if memory[0] == [1, 1, 0] else 0
