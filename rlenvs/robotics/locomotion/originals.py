"""Compatibility with code for Gymnasium's MuJoCo robots: their keywords and attributes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rlenvs.core import drop_in, instead, meaning, only, same_as
from rlenvs.core.declare.drop_in import DropIn, Instead, Keyword
from rlenvs.kits.engines.mujoco_views import VIEWS

REWARDS = {"forward_reward_weight": same_as("forward"), "ctrl_cost_weight": same_as("control")}
CONTACT = {"contact_cost_weight": same_as("contact")}
HEALTHY = {
    "healthy_reward": same_as("healthy"),
    "terminate_when_unhealthy": same_as("ends_when_unhealthy"),
}
HEIGHTS = {"healthy_z_range": same_as("lowest", "highest")}
OTHERS = {"healthy_state_range": only((-100.0, 100.0), "the other numbers of the state are healthy within (-100, 100)")}
OWN_IMAGE = instead("images have a fixed size and camera; leave it out")
IN_INFO = instead("it is given by the reward term `healthy`, info['reward_healthy']")
NOISE = {"reset_noise_scale": same_as("noise")}
OF_MODELS: dict[str, Keyword | Instead] = {
    "xml_file": instead("the model is Gymnasium's own; its masses, frictions, dampings and torques are parameters"),
    **dict.fromkeys(("default_camera_config", "width", "height", "camera_id", "camera_name"), OWN_IMAGE),
}
OF_WALKERS: dict[str, Keyword | Instead] = {
    **NOISE,
    "exclude_current_positions_from_observation": only(
        True, "the position is not observed; `env.unwrapped.data.qpos` has it"
    ),
}


def _tilt(value: Any) -> dict[str, float]:
    low, high = value
    if low != -high:
        raise ValueError("needed: (-tilt, tilt), a symmetric range")
    return {"tilt": high}


def _above(value: Any) -> dict[str, float]:
    low, high = value
    if high != math.inf:
        raise ValueError("needed: (lowest, inf), without an upper limit")
    return {"lowest": low}


ANGLES = {"healthy_angle_range": meaning("(-`tilt`, `tilt`)", _tilt)}
ABOVE = {"healthy_z_range": meaning("(`lowest`, inf)", _above)}


def always(*parts: str) -> dict[str, Keyword]:
    """The keywords include_..._in_observation of parts that are always observed."""
    return {f"include_{part}_in_observation": only(True, "these numbers are always observed") for part in parts}


def gymnasiums(frame_skip: int, *keywords: dict[str, Keyword]) -> DropIn:
    """What code for one of the walking robots finds.

    Args:
        frame_skip: physics steps per control step.
        keywords: beside those of all of them.
    """
    return machines(frame_skip, REWARDS, *keywords, OF_WALKERS).but(views={"is_healthy": IN_INFO})


def machines(frame_skip: int, *keywords: Mapping[str, Keyword | Instead]) -> DropIn:
    """What code for any of Gymnasium's MuJoCo machines finds; arguments as for `gymnasiums`."""
    steps = {"frame_skip": only(frame_skip, f"a control step has {frame_skip} physics steps")}
    own = {name: each for some in keywords for name, each in some.items()}
    return drop_in({**own, **OF_MODELS, **steps}, VIEWS)
