"""Compatibility with code for highway-env: its `config` dictionary, and the attributes used in its documentation.

A dictionary changes highway-env's default configuration: a key with its default value is ignored here, a key that is an
option, a parameter or a weight here is used as such, and for all others the error names the replacement.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np

from rlenvs.core import drop_in, instead, meaning, only, same_as, view
from rlenvs.core.declare.drop_in import DropIn, Instead, Keyword, View
from rlenvs.core.declare.errors import clipped, nearest, shortened

META = ("LANE_LEFT", "IDLE", "LANE_RIGHT", "FASTER", "SLOWER")
COLUMNS = ("presence", "x", "y", "vx", "vy")  # of kinematics, by default
OWN_IMAGES = "images have a fixed size and view here"
PICTURES = {
    "offscreen_rendering": False,
    "real_time_rendering": False,
    "render_agent": True,
    "show_trajectories": False,
    "lock_window": False,
}
SIZES = ("screen_width", "screen_height", "centering_position", "scaling")
ONE_CAR = only(1, "one car is controlled")
Paid = Callable[[Mapping[str, float]], Mapping[str, float]]


def hz_keys() -> dict[str, Keyword]:
    """What all configurations have."""
    drivers = "the other drivers use IDM and MOBIL"
    return {
        "simulation_frequency": same_as("simulation_hz"),
        "policy_frequency": same_as("policy_hz"),
        "other_vehicles_type": only("highway_env.vehicle.behavior.IDMVehicle", drivers),
        "manual_control": only(False, "use `rlenvs play` for keyboard control"),
        **{name: only(usual, OWN_IMAGES) for name, usual in PICTURES.items()},
        **{name: meaning(OWN_IMAGES, _no_size) for name in SIZES},
    }


def _no_size(value: Any) -> dict[str, Any]:
    raise ValueError(f"{OWN_IMAGES}; leave it out")


def config(
    keys: Mapping[str, Keyword], rewards: Mapping[str, float], paid: Paid, duration: float = 0.0, hz: int = 1
) -> Keyword:
    """The keyword `config`.

    Args:
        keys: what the dictionary may hold, beside the rewards and the duration.
        rewards: highway-env's default of each reward.
        paid: function of all rewards that gives the weights of terms, where one of them changes.
        duration: highway-env's default, s; 0 where it has none.
        hz: decisions per second, by default.
    """
    known = [*keys, *rewards, *(["duration"] if duration else [])]

    def read(value: Any) -> dict[str, Any]:
        given = _mapping(value, "lanes_count")
        found: dict[str, Any] = {}
        for name in given.keys() - set(known):
            raise ValueError(f"there is no {name!r} here. {nearest(str(name), known)}")
        for name in [each for each in given if each in keys]:
            found |= _part(keys, name, given[name])
        own = {name: float(given[name]) for name in given if name in rewards}
        if any(own[name] != rewards[name] for name in own):
            found |= paid({**rewards, **own})
        if duration and ("duration" in given or "policy_hz" in found):
            found["horizon"] = steps_in(given.get("duration", duration), found.get("policy_hz", hz))
        return found

    return meaning(f"a dictionary with any of {', '.join(f'`{name}`' for name in known)}", read)


def _mapping(value: Any, example: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"needed: a dictionary such as {{{example!r}: ...}}")
    return value


def _part(keys: Mapping[str, Keyword], name: str, value: Any) -> Mapping[str, Any]:
    """What a key says, the name of which stands before what is wrong with it."""
    try:
        return keys[name].read(value)
    except (ValueError, TypeError) as error:
        raise ValueError(clipped(f"{name}={shortened(value)}: {error}")) from None


def steps_in(duration: float, hz: int) -> int:
    """The decisions in a duration [s]; highway-env's clock, a sum of 1 / hz, may be one late."""
    return max(math.ceil(duration * hz - 1e-9), 1)


def normalized(names: Mapping[str, str], best: Sequence[str] = (), most: float = 0.0) -> Paid:
    """Weights of rewards that highway-env maps from [collision_reward, the best] to [0, 1].

    Args:
        names: the term of each reward; that of collisions is 1 without one and 0 in a crash.
        best: the rewards that add up to the best, with `most`.
    """

    def paid(rewards: Mapping[str, float]) -> dict[str, float]:
        span = most + sum(rewards[name] for name in best) - rewards["collision_reward"]
        if span <= 0.0:
            raise ValueError(f"the best reward has to exceed collision_reward={rewards['collision_reward']:g}")
        signs = {name: -1.0 if name == "collision_reward" else 1.0 for name in names}
        return {term: signs[name] * rewards[name] / span for name, term in names.items()}

    return paid


def weights(names: Mapping[str, str], negated: Sequence[str] = ()) -> Paid:
    """Weights of rewards that highway-env adds up; those of penalties, whose terms are negative here, `negated`."""
    return lambda rewards: {term: (-1.0 if name in negated else 1.0) * rewards[name] for name, term in names.items()}


def unchanged(rewards: Mapping[str, float]) -> dict[str, float]:
    """For worlds whose rewards have constants that follow from highway-env's defaults."""
    raise ValueError("rewards of other sizes: give `weights` of the terms that the page lists")


def lane_of(value: Any) -> dict[str, Any]:
    """`initial_lane_id`: None is any."""
    return {"first_lane": -1 if value is None else value}


def seen_and_done(
    features: Sequence[str], absolute: bool, speeds: Sequence[float], moves: Sequence[int], throttle: bool, span: int
) -> dict[str, Keyword]:
    """The keys "observation" and "action"; arguments as for `driving_world`."""
    order = "the nearest cars come first"
    kinematics = {
        "vehicles_count": same_as("seen_cars"),
        "see_behind": same_as("see_behind"),
        "features": only(list(features), f"columns are {', '.join(features)}"),
        "absolute": only(absolute, f"positions of others are {'absolute' if absolute else 'relative to the ego car'}"),
        "order": only("sorted", order),
        "normalize": only(True, "numbers are normalized by their ranges"),
        "clip": only(True, "numbers are clipped to their ranges"),
        "flatten": only(False, "rows are not flattened; use gymnasium.wrappers.FlattenObservation"),
        "observe_intentions": only(False, "intentions of others are hidden"),
    }
    observations: dict[str, tuple[str, dict[str, Keyword]]] = {
        "Kinematics": ("kinematics", kinematics),
        "TimeToCollision": ("times", {"horizon": only(span, f"times are those of {span} s")}),
        "OccupancyGrid": ("grid", {}),
        "LidarObservation": ("lidar", {"cells": only(16, "16 beams"), "maximum_range": only(60, "60 m")}),
    }
    steering = {"longitudinal": only(throttle, "as declared"), "lateral": only(True, "as declared")}
    meta = {
        "longitudinal": only(True, "speeds are chosen"),
        "lateral": only(len(moves) == len(META), "lane changes are possible wherever there is an adjacent lane"),
        "target_speeds": only(list(speeds), f"speeds to choose are {', '.join(f'{speed:g}' for speed in speeds)} m/s"),
    }
    actions = {"DiscreteMetaAction": ("meta", meta), "ContinuousAction": ("continuous", steering)}
    return {"observation": _typed("observation", observations), "action": _typed("actions", actions)}


def _typed(option: str, types: Mapping[str, tuple[str, Mapping[str, Keyword]]]) -> Keyword:
    """A dictionary with a "type", which is an option, and more."""

    def read(value: Any) -> dict[str, Any]:
        given = dict(_mapping(value, "type"))
        kind = given.pop("type", None)
        if kind not in types:
            raise ValueError(f"no type {kind!r}. {nearest(str(kind), types)}")
        own, keys = types[kind]
        found: dict[str, Any] = {option: own}
        for name, part in given.items():
            if name not in keys:
                raise ValueError(f"{kind} has no option {name!r} here. {nearest(str(name), keys)}")
            found |= _part(keys, name, part)
        return found

    return meaning(f"`{option}`", read)


@dataclass(frozen=True)
class Config:
    """What the `config` of a world of `driving_world` may hold; attributes as the arguments of `config`."""

    keys: Mapping[str, Keyword] = field(default_factory=dict)
    rewards: Mapping[str, float] = field(default_factory=dict)
    paid: Paid = unchanged
    duration: float = 0.0

    def names(
        self,
        features: Mapping[str, float],
        absolute: bool,
        speeds: Sequence[float],
        moves: Sequence[int],
        throttle: bool,
        span: int,
        hz: int,
    ) -> DropIn:
        """What code for highway-env finds in the world; arguments as for `driving_world`."""
        columns = tuple(dict.fromkeys((*COLUMNS, *features)))
        keys = {
            **hz_keys(),
            **seen_and_done(columns, absolute, speeds, moves, throttle, span),
            "offroad_terminal": same_as("offroad_terminal"),
            "controlled_vehicles": ONE_CAR,
            **self.keys,
        }
        return names(config(keys, self.rewards, self.paid, self.duration, hz), moves)


NOTHING = Config()


def names(keyword: Keyword, moves: Sequence[int] = ()) -> DropIn:
    """What code for highway-env finds in a world of this family."""
    chosen = [META[j] for j in moves]
    views: dict[str, View | Instead] = {
        "vehicle": view(_vehicle, "the ego car: position [m], speed [m/s], heading [rad], velocity [m/s], crashed"),
        "set_record_video_wrapper": view(
            lambda setup, p, s: _record, "does nothing: images show one frame per decision"
        ),
        "config": view(_config, "the part of highway-env's configuration that applies here"),
        "road": instead("cars are in `env.unwrapped.batch.states`: x, y, speed, cosine, sine, crashed"),
        "configure": instead("pass the configuration to `make`, as `config={...}` or under the option names"),
    }
    if moves:
        indexes = {name: number for number, name in enumerate(chosen)}
        kind = SimpleNamespace(actions=MappingProxyType(dict(enumerate(chosen))), actions_indexes=indexes)
        views["action_type"] = view(lambda setup, p, s: kind, "`actions` and `actions_indexes` of meta-actions")
    return drop_in({"config": keyword}, views)


def _record(wrapper: Any) -> None:
    return None


def _vehicle(setup: Any, p: Any, s: Any) -> SimpleNamespace:
    ego = int(s.ego)
    heading = np.array([s.cosine[ego], s.sine[ego]])
    return SimpleNamespace(
        position=np.array([s.x[ego], s.y[ego]]),
        speed=float(s.speed[ego]),
        heading=math.atan2(heading[1], heading[0]),
        velocity=s.speed[ego] * heading,
        crashed=bool(s.crashed[ego]),
    )


CONFIGURED = {
    "simulation_frequency": "simulation_hz",
    "policy_frequency": "policy_hz",
    "lanes_count": "lane_count",
    "vehicles_count": "cars",
    "offroad_terminal": "offroad_terminal",
}


def _config(setup: Any, p: Any, s: Any) -> Mapping[str, Any]:
    values = vars(setup.values)
    found = {name: values[own] for name, own in CONFIGURED.items() if own in values}
    return MappingProxyType({**found, "duration": setup.horizon / values["policy_hz"]})
