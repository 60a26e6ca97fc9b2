"""What the tests of the particle worlds share."""

import importlib

import numpy as np
from gymnasium.vector import AutoresetMode

from rlenvs.core.batch.kernel_batch import KernelBatch

MODULES = ("simple", "spread", "tag", "adversary", "push", "speaker_listener", "reference", "crypto", "world_comm")
NONE, LEFT, RIGHT, DOWN, UP = range(5)


def spec_of(module):
    return importlib.import_module(f"rlenvs.multi.particle.{module}").SPEC


def make(module, count=1, **choices):
    batch = KernelBatch(spec_of(module), count, autoreset=AutoresetMode.DISABLED, **choices)
    batch.seed(range(count))
    batch.reset()
    return batch


def state_of(batch, world=0):
    return batch.records(world)[1]


def put(batch, **fields):
    """Set fields of the first world's state, and observe it again."""
    s = state_of(batch)
    for name, value in fields.items():
        s[name] = value
    batch.set_state(batch.get_state())
    return s


def play(batch, *actions):
    for action in actions:
        batch.step(np.array([action]))
    return state_of(batch)


def terms_of(batch):
    """The terms and costs of the last step by name, a number per agent."""
    return dict(zip([*batch.world.terms, *batch.world.costs], batch.terms[0], strict=True))
