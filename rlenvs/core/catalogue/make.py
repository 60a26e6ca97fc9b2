"""Environments in every API form, by id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium

from rlenvs.core.batch.engines import new_batch
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue.registry import entry, form_of
from rlenvs.core.declare.renamed import renamed
from rlenvs.core.declare.spec import load_world

if TYPE_CHECKING:
    from pettingzoo import AECEnv

    from rlenvs.core.forms.parallel_env import ParallelEnv
    from rlenvs.core.forms.text_env import TextEnv, TextParallelEnv


def make(id: str, **keywords: Any) -> gymnasium.Env:
    """`gymnasium.make`, with or without the prefix "rlenvs/"; for an unknown id, the error suggests the closest
    matches."""
    return gymnasium.make(entry(id).id, **keywords)


def make_vec(id: str, num_envs: int, **keywords: Any) -> gymnasium.vector.VectorEnv:
    """`gymnasium.make_vec` with the native vector environment: one batch, no wrapper per environment."""
    return gymnasium.make_vec(entry(id).id, num_envs=num_envs, vectorization_mode="vector_entry_point", **keywords)


@renamed
def make_batch(id: str, num_envs: int = 1, **keywords: Any) -> KernelBatch:
    """Make a `KernelBatch`: arrays with leading world and agent axes. Keywords as for `KernelBatch`."""
    return new_batch(load_world(entry(id).address), num_envs, **keywords)


def parallel_env(id: str, **keywords: Any) -> ParallelEnv:
    """Make an environment with PettingZoo's parallel API."""
    from rlenvs.core.forms.parallel_env import ParallelEnv

    return ParallelEnv(**form_of(entry(id)), **keywords)


def aec_env(id: str, **keywords: Any) -> AECEnv:
    """Make an environment with PettingZoo's AEC API."""
    from rlenvs.core.forms.turn_env import aec_env as convert

    return convert(**form_of(entry(id)), **keywords)


def text_env(id: str, **keywords: Any) -> TextEnv:
    """Make a single-agent environment with text observations and actions, for language agents."""
    from rlenvs.core.forms.text_env import TextEnv

    return TextEnv(entry(id).address, **keywords)


def text_parallel_env(id: str, **keywords: Any) -> TextParallelEnv:
    """Make an environment with PettingZoo's parallel API and text observations and actions, for language agents."""
    from rlenvs.core.forms.text_env import TextParallelEnv

    return TextParallelEnv(entry(id).address, **keywords)
