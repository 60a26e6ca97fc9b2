"""Convert a custom PyTorch policy network to an agent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlenvs.agents.agent import Agent
from rlenvs.agents.card import AgentScore
from rlenvs.agents.export import Tensors, add_layer, agent_with, layers_of, part_of
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.renamed import old_names
from rlenvs.core.declare.setup import Setup

__all__ = ["agent_from_torch"]
if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)


def agent_from_torch(
    actor: Iterable[Any],
    id: str,
    *,
    algorithm: str,
    settings: Mapping[str, Any],
    steps: int,
    seeds: Sequence[int],
    seconds: float,
    keywords: Mapping[str, Any] | None = None,
    score: AgentScore | None = None,
) -> Agent:
    """Convert a policy network to an agent, for `rlenvs.agents.files.save_agent`, `rlenvs.evaluate` and tournaments.

    Args:
        actor: a `torch.nn.Sequential` of linear layers and activations, from flat observations, as a batch has them
            (those of a Discrete space one-hot: 1 at the place of the number, 0 elsewhere), to means in the units of the
            action space (clipped to [-1, 1]), or to a rating of each choice. With several agents all share it.
        id: the environment it is for.
        algorithm, settings, steps, seeds, seconds, keywords, score: for the card, as in `agent_from_sb3`.

    Raises:
        ParameterError: a layer that is not known, a network of other sizes than the world's, observations with
            images or goals, settings or keywords that JSON does not know.
    """
    keywords = dict(keywords or {})
    world, setup = world_of(id), Setup(world_of(id), **keywords)
    if setup.in_parts:
        raise ParameterError(
            f"{world.name}: observations are dictionaries with {keywords}; a plain network requires arrays"
        )
    if setup.alone:
        raise ParameterError(
            f"{world.name}: observations are {setup.observation_space}; a plain network requires vectors"
        )
    masked = "mask" in world.kernels
    action: dict[str, Any] = {"kind": "choice", "choices": setup.action_size, "masked": masked}
    if setup.action_kind == "multi":
        action = {"kind": "choices", "counts": list(setup.choices), "masked": masked}
    if setup.continuous:
        low, high = [-1.0] * setup.action_size, [1.0] * setup.action_size
        action = {"kind": "numbers", "low": low, "high": high, "squashed": False, "limit": None}
    tensors: Tensors = {}
    architecture = {
        "observation": [{"name": None, **part_of(setup.observation_space)}],
        "normalisation": None,
        "convolutions": None,
        "memory": None,
        "layers": [add_layer(tensors, k, *layer) for k, layer in enumerate(layers_of(actor))],
        "action": action,
    }
    return agent_with(
        *(architecture, tensors, id),
        algorithm=algorithm,
        keywords=keywords,
        settings=settings,
        steps=steps,
        seeds=seeds,
        seconds=seconds,
        score=score,
    )
