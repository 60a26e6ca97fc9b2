"""Battles as tests set them up."""

import numpy as np
from gymnasium.vector import AutoresetMode

import rlenvs
from support.places import DATA

RECORDED = DATA / "smax.npz"
NORTH, EAST, SOUTH, WEST, STOP, ATTACK = range(6)
SMAC_NOOP, SMAC_STOP, SMAC_NORTH, SMAC_SOUTH, SMAC_EAST, SMAC_WEST, SMAC_ATTACK = range(7)
MARINES = "1 marine vs 1 marine"


def make(n=1, **choices):
    return rlenvs.make_batch("Battle-v0", n, autoreset=AutoresetMode.DISABLED, threads=1, **choices)


def begun(n=1, seed=0, **choices):
    batch = make(n, **choices)
    batch.seed(range(seed, seed + n))
    batch.reset()
    return batch


def placed(scenario, places, **choices):
    """A battle of one world with the units where the test requires them; enemies, all agents, do as they are told."""
    batch = begun(scenario=scenario, **{"opponent": "self", **choices})
    s = batch.records(0)[1]
    s.x[:], s.y[:] = np.transpose(places)
    see_again(batch)
    return batch, *batch.records(0)


def see_again(batch):
    batch.set_state(batch.get_state())


def idle(batch):
    p = batch.records(0)[0]
    return np.full((1, batch.agents), p.stop)


def play(batch, *choices):
    """A step in which the first agents choose, and the others stop (the dead do what they may)."""
    actions = idle(batch)
    actions[0, : len(choices)] = choices
    batch.step(actions)


def episodes(scenario, player, n=400, seed=0, **choices):
    """Mean return of the first agent, share of wins and mean length of n episodes."""
    batch = begun(n, seed, scenario=scenario, **choices)
    returns, lengths, won = np.zeros(n), np.zeros(n), np.zeros(n, bool)
    while not batch.over.all():
        going = ~batch.over
        actions = player(batch) if callable(player) else batch.player_actions(player)
        returns += batch.rollout(actions.reshape(n, 1, batch.agents, 1).copy())[0][:, 0, 0]
        lengths += going
        won |= batch.success[:, 0] & going
    return returns.mean(), won.mean(), lengths.mean()
