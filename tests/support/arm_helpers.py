"""What the tests of the arm's tasks share."""

from functools import partial

import numpy as np
from gymnasium.vector import AutoresetMode

from rlenvs.agents.evaluate import evaluate
from rlenvs.kits.engines.mujoco import STATE
from support.batches import begun

LEVELS = ("easy", "medium", "hard")


batch = partial(begun, autoreset=AutoresetMode.DISABLED)


def states(worlds):
    """The records of all worlds."""
    return [worlds.records(i)[1] for i in range(worlds.num_envs)]


def simulation(worlds, i=0):
    """MuJoCo's data of world i, with contacts and places."""
    import mujoco

    model = worlds.engine.model
    data = mujoco.MjData(model)
    state = np.concatenate([np.ravel(worlds.states[name][i]) for name in STATE])
    mujoco.mj_setState(model, data, state, int(mujoco.mjtState.mjSTATE_INTEGRATION))
    mujoco.mj_forward(model, data)
    return data


def played(worlds, steps, action=None):
    """The same worlds after some steps of one action in all of them, or else of the expert's."""
    for _ in range(steps):
        if action is None:
            worlds.expert_actions()
            worlds.step_inplace()
        else:
            worlds.step(np.tile(np.float32(action), (worlds.num_envs, 1)))
    return worlds


def success(id, seeds, policy="expert", **keywords):
    """The share of episodes whose last step is a success."""
    return evaluate(id, policy, seeds=seeds, **keywords).success_rate
