"""Generalization over contexts: what a policy is worth on contexts of training, and on others between or beyond them.

The protocols are those of CARL (Benjamins et al., "Contextualize Me", TMLR 2023): contexts are drawn, and split into
those for training and those for testing by `rlenvs.wrappers.split`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlenvs.agents.cluster import spread
from rlenvs.agents.evaluate import Evaluation, Policy, check_policy, episode_seeds, evaluate
from rlenvs.agents.robustness import Robustness, evaluate_worlds, joined
from rlenvs.core.catalogue.registry import world_of
from rlenvs.wrappers.context_lists import Context, sample_contexts, split
from rlenvs.wrappers.contexts import Contexts
from rlenvs.wrappers.curriculum import OneContext

__all__ = ["HEAD", "Generalization", "evaluate_contexts", "generalization", "generalization_rows"]

Visible = bool | Sequence[str]


@dataclass(frozen=True)
class Generalization:
    """What a policy is worth on both parts of a split.

    Attributes:
        mode: of the split. train, test: returns on its parts.
    """

    mode: str
    train: Robustness
    test: Robustness

    @property
    def gap(self) -> float:
        """By how much the mean return is lower on the contexts for testing."""
        return self.train.average - self.test.average

    def to_dict(self) -> dict[str, Any]:
        """The result in JSON types."""
        return {"mode": self.mode, "gap": self.gap, "train": self.train.to_dict(), "test": self.test.to_dict()}


def evaluate_contexts(
    id: str,
    policy: Policy,
    contexts: Sequence[Context],
    n_episodes: int = 10,
    *,
    visible: Visible = False,
    ray: str | None = None,
    **keywords: Any,
) -> Robustness:
    """Play one episode per seed in each context, on the seeds 0 ... n_episodes - 1.

    Args:
        id: the environment. policy: as for `rlenvs.evaluate`.
        contexts: values by parameter, all of the same parameters.
        visible: what of the context is in the observation: True, False or names, as for `rlenvs.wrappers.Contexts`.
        ray: the address of a Ray cluster; see `rlenvs.agents.cluster`.
        keywords: of `rlenvs.make_batch`.

    Raises:
        ParameterError: an unknown parameter, a value outside its range, no seeds.
    """
    names, seeds = tuple(contexts[0]), episode_seeds(n_episodes, None)
    table = np.array([[context[name] for name in names] for context in contexts], np.float64)
    if visible is False:
        return evaluate_worlds(id, policy, names, table, seeds, ray, keywords)
    check_policy(world_of(id), policy)
    pieces = [(id, policy, contexts, number, visible, seeds, keywords) for number in range(len(contexts))]
    return joined(names, table, seeds, list(spread(_evaluated, pieces, ray)))


def _evaluated(
    id: str,
    policy: Policy,
    contexts: Sequence[Context],
    number: int,
    visible: Visible,
    seeds: list[int],
    keywords: Mapping[str, Any],
) -> Evaluation:
    """All seeds in one context that is seen."""
    shown = Contexts(list(contexts), selection=OneContext(number), visible=visible)
    return evaluate(id, policy, seeds=seeds, wrappers=[shown], **keywords)


def generalization(
    id: str,
    policy: Policy,
    features: Mapping[str, Sequence[Any]],
    mode: str = "extrapolation",
    samples: int = 100,
    fraction: float = 0.2,
    seed: int = 0,
    **settings: Any,
) -> Generalization:
    """Draw contexts, split them, and evaluate a policy on both parts.

    Args:
        id: the environment. policy: as for `rlenvs.evaluate`.
        features, samples, seed: as `rlenvs.wrappers.sample_contexts` takes them: {"mass": ("uniform", 0.02, 0.04)}.
        mode, fraction: as `rlenvs.wrappers.split` takes them: "interpolation", "extrapolation" or "combinatorial".
        settings: of `evaluate_contexts`.

    Raises:
        ParameterError: as these functions do.
    """
    ranges = {name: (param.low, param.high) for name, param in world_of(id).params.items()}
    train, test = split(sample_contexts(features, samples, seed, ranges), mode, fraction, seed)
    return Generalization(mode, *(evaluate_contexts(id, policy, part, **settings) for part in (train, test)))


# --- tables -----------------------------------------------------------------------------------------------------------

HEAD = ("Policy", "Contexts for testing", "Training", "95 % interval", "Testing", "95 % interval ", "Gap", "Worst")


def generalization_rows(found: Mapping[str, Sequence[Generalization]]) -> list[tuple[str, ...]]:
    """A row for each policy and split."""
    return [(name, each.mode, *_cells(each)) for name, some in found.items() for each in some]


def _cells(found: Generalization) -> list[str]:
    cells = []
    for part in (found.train, found.test):
        low, high = part.average_interval
        cells += [f"{part.average:.4g}", "" if np.isnan(low) else f"{low:.4g} to {high:.4g}"]
    return [*cells, f"{found.gap:.4g}", f"{found.test.worst:.4g}"]
