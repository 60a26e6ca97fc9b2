"""Convolutional networks for boards and images, for Stable-Baselines3.

A world on a board, such as Generals-v0, shows planes (planes, height, width); one with a camera shows an image.
Convolutions look at all cells alike, so that what is learned at one place holds at all others. Where most choices of an
action are planes too, a choice for every cell and, say, direction, they can rate them in the same way. Numbers beside
the board are added to every cell, like the non-spatial features of FullyConv (Vinyals et al., "StarCraft II: A New
Challenge for Reinforcement Learning", 2017). Every cell knows its row and column (Liu et al., "An Intriguing Failing of
Convolutional Neural Networks and the CoordConv Solution", 2018), so that the nearest of many things to a place that is
given in numbers is easily found. `rlenvs.agents.network` computes the same in NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from gymnasium import spaces
from gymnasium.spaces.utils import flatdim
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from rlenvs.agents.architecture import BOARD, PLACES
from rlenvs.agents.network import is_image, parts_of, places_of
from rlenvs.core.declare.errors import ParameterError

__all__ = ["BoardFeatures"]

KERNEL = 3  # cells across
FIRST_GAIN = 0.01  # of the ratings at the start, as Stable-Baselines3 has it


class BoardFeatures(BaseFeaturesExtractor):
    """Convolutions: (rows, planes, height, width) -> (rows, channels height width + numbers beside).

    Args:
        observation_space: of planes or an image, or a dictionary with one of these and other parts.
        channels: of each convolution.
        activation: class of the module behind each.
        stride: by which each makes the board smaller.
    """

    places: torch.Tensor

    def __init__(
        self, observation_space: Any, channels: Sequence[int], activation: type[nn.Module], stride: int = 1
    ) -> None:
        parts = parts_of(observation_space)
        (self.board,) = [name for name, part in parts.items() if len(part.shape) == BOARD]
        self.others = [name for name in parts if name != self.board]
        numbers = sum(flatdim(parts[name]) for name in self.others)
        inputs, *size = parts[self.board].shape
        for _ in channels:
            size = [-(-side // stride) for side in size]
        super().__init__(observation_space, channels[-1] * math.prod(size) + numbers)
        self.size, self.channels = size, channels[-1]
        self.register_buffer("places", torch.as_tensor(places_of(*parts[self.board].shape[1:])))
        inputs += PLACES
        self.convolutions, self.activation = nn.ModuleList(), activation()
        for units in channels:
            self.convolutions.append(nn.Conv2d(inputs, units, KERNEL, stride, padding=KERNEL // 2))
            inputs = units
        self.numbers = nn.Linear(numbers, channels[0], bias=False) if numbers else None

    def forward(self, observations: Any) -> torch.Tensor:
        """The output of the last convolution, channel by channel, followed by the numbers."""
        parts = observations if isinstance(observations, dict) else {None: observations}
        board, numbers = parts[self.board], [parts[name].flatten(1) for name in self.others]
        board = torch.cat([board, self.places.expand(len(board), -1, -1, -1)], 1)
        for k, convolution in enumerate(self.convolutions):
            board = convolution(board)
            if k == 0 and self.numbers is not None:
                board = board + self.numbers(torch.cat(numbers, 1))[:, :, None, None]
            board = self.activation(board)
        return torch.cat([board.flatten(1), *numbers], 1)


class PlanesHead(nn.Module):
    """Ratings of choices: a few of the whole board, or none, then planes of the board's size.

    Args:
        features: what it looks at. choices: all together.
    """

    def __init__(self, features: BoardFeatures, choices: int) -> None:
        super().__init__()
        self.shape = (features.channels, *features.size)
        numbers = features.features_dim - math.prod(self.shape)
        planes, others = divmod(choices, math.prod(features.size))
        self.planes = nn.Conv2d(features.channels, planes, 1)
        self.others = nn.Linear(features.channels + numbers, others) if others else None
        for name, parameter in self.named_parameters():
            if name.endswith("weight"):
                nn.init.orthogonal_(parameter, FIRST_GAIN)
            else:
                nn.init.zeros_(parameter)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """(rows, features) -> (rows, choices)."""
        cells = math.prod(self.shape)
        board, numbers = features[:, :cells].view(-1, *self.shape), features[:, cells:]
        planes = self.planes(board).flatten(1)
        if self.others is None:
            return planes
        return torch.cat([self.others(torch.cat([board.mean((2, 3)), numbers], 1)), planes], 1)


def with_planes(policy: Any) -> Any:
    """The class of an actor-critic policy, with a PlanesHead in place of its last layer."""

    class BoardPolicy(policy):
        def _build(self, lr_schedule: Any) -> None:
            super()._build(lr_schedule)
            self.action_net = PlanesHead(self.features_extractor, int(self.action_space.n))
            self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    return BoardPolicy


# --- what they are for ------------------------------------------------------------------------------------------------


def check_board(space: Any) -> None:
    """ParameterError unless an observation has exactly one part with three axes."""
    if sum(len(part.shape or ()) == BOARD for part in parts_of(space).values()) != 1:
        raise ParameterError(
            f"[network] convolutions need observations with planes (planes, height, width) or an image, not {space}"
        )


def check_planes(space: Any, action_space: Any) -> None:
    """ParameterError unless an action is planes of the board's size, or a few choices and planes behind them."""
    (board,) = [part for part in parts_of(space).values() if len(part.shape) == BOARD]
    cells = math.prod(board.shape[:2] if is_image(board) else board.shape[1:])
    choices = int(action_space.n) if isinstance(action_space, spaces.Discrete) else 0
    if choices < cells:
        raise ParameterError(
            f'[network] head = "planes" needs planes of {cells} choices each, one per cell, which others may precede; '
            f'the actions here are {action_space}. head = "flat" fits all'
        )
