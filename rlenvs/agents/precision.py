"""Layers that multiply in bfloat16, for training on processors with instructions for it."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

__all__ = ["with_bfloat16"]


class InBfloat16(nn.Sequential):
    """Layers whose products are of numbers of 8 bits; their parameters, and what comes out, are float32."""

    def forward(self, features: Any) -> Any:
        """What the layers make of their inputs."""
        with torch.autocast("cpu", torch.bfloat16):
            found = super().forward(features)
        return found.float()


def with_bfloat16(policy: Any) -> Any:
    """The class of an actor-critic policy whose hidden layers are `InBfloat16`; its outputs are computed in float32.

    Args:
        policy: the class for others.
    """

    class Bfloat16Policy(policy):
        def _build_mlp_extractor(self) -> None:
            super()._build_mlp_extractor()
            layers = self.mlp_extractor
            layers.policy_net, layers.value_net = InBfloat16(*layers.policy_net), InBfloat16(*layers.value_net)

    return Bfloat16Policy
