"""The mini-games as tests set them up."""

import numpy as np
from gymnasium.vector import AutoresetMode

import rlenvs
from rlenvs.multi.battle import combat
from rlenvs.multi.battle.minigames.squads import MOVE, choice_of, point_at

BEACON, SHARDS, FIND = "MoveToBeacon-v0", "CollectMineralShards-v0", "FindAndDefeatZerglings-v0"
ROACHES, BANES = "DefeatRoaches-v0", "DefeatZerglingsAndBanelings-v0"
MARINE_STEP = 3.15 * 8 / 22.4


def make(name, n=1, seed=0, **choices):
    batch = rlenvs.make_batch(name, n, autoreset=AutoresetMode.DISABLED, threads=1, **choices)
    batch.seed(range(seed, seed + n))
    batch.reset()
    return batch


def records(batch):
    return [batch.records(i) for i in range(batch.num_envs)]


def step(batch, *actions):
    for action in actions or (0,):
        batch.step(np.full(batch.num_envs, action))


def order(batch, verb, group, x, y, verbs=2):
    p = batch.records(0)[0]
    return int(choice_of(p, verb - MOVE, verbs, group, point_at(p, x, y)))


def apart(x, y):
    """The smallest distance between two of some places."""
    d = np.hypot(np.subtract.outer(x, x), np.subtract.outer(y, y))
    return d[np.triu_indices(len(d), 1)].min()


def foes(s):
    return slice(len(s.order), len(s.x))


def stand_alone(s, *kept):
    """Only some units remain."""
    for i in range(len(s.x)):
        if i not in kept:
            combat.fall(s, i)
    s.marines_left = sum(i < len(s.order) for i in kept)
    s.foes_left = len(kept) - s.marines_left


def put(s, i, x, y):
    s.x[i], s.y[i] = x, y
