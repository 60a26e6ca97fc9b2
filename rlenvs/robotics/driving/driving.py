"""The common parts of the driving worlds: cars and roads in state and data, the simulation of a step, observations, an
expert.

A world calls `driving_world(name, doc=..., road=..., ...)`, which merges its own parts with the shared ones, and
registers `reset` and `step` on the result. Its `step` calls `simulate`, which moves all cars, and then fills its reward
terms.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rlenvs.core import block, choice, continuous, discrete, f8, flag, i8, image, integer, kernel, world
from rlenvs.kits.roads.lanes import (
    ROAD_DATA,
    is_on,
)
from rlenvs.kits.roads.network import Network
from rlenvs.kits.traffic.cars import (
    CARS,
    FASTER,
    IDLE,
    LANE_LEFT,
    LANE_RIGHT,
    RAW,
    SLOWER,
    TRACKER,
    car_sizes,
    choose,
    slip_of,
    speed_index,
)
from rlenvs.kits.traffic.drivers import DRIVER_DATA, NORMAL, act_all, driver_table
from rlenvs.kits.traffic.priorities import FORECAST, MOMENTS
from rlenvs.kits.traffic.simulation import move_all
from rlenvs.kits.traffic.soundness import state_fault
from rlenvs.robotics.driving import observations as seen
from rlenvs.robotics.driving import originals
from rlenvs.robotics.driving.experts import expert, junction_expert
from rlenvs.robotics.driving.render import draw_traffic
from rlenvs.robotics.driving.steering import ACTIONS, FORCE, STEERING, steers, steps_per_action

OBSERVATION = choice(
    "kinematics",
    "times",
    "grid",
    "lidar",
    "pixels",
    doc="rows of cars, times to collision, occupancy grid, lidar, or an image from above",
)
KINEMATICS, TIMES, OCCUPANCY, LIDAR, PIXELS = OBSERVATION.codes("kinematics", "times", "grid", "lidar", "pixels")
META = ("lane left", "idle", "lane right", "faster", "slower")
FEATURES = {  # columns of `kinematics`
    "presence": seen.PRESENCE,
    "x": seen.RIGHT,
    "y": seen.DOWN,
    "vx": seen.RIGHT_SPEED,
    "vy": seen.DOWN_SPEED,
    "cos_h": seen.COSINE,
    "sin_h": seen.SINE,
    "long_off": seen.ALONG,
    "lat_off": seen.ACROSS,
    "ang_off": seen.TURN,
}
STATE = {**CARS, "ego": i8.index_of("cars")}
DATA = {
    **ROAD_DATA,
    **DRIVER_DATA,
    "speeds": f8("speeds"),
    "moves": i8("moves"),
    "features": i8("features"),
    "ranges": f8("features"),
    "absolute": i8,
    "see_behind": i8,
    "pixels_per_metre": f8,
    "ego_at": f8,
    "most": f8,
    "landmark": i8,
    "layer": i8("layers"),
    "cell": f8,
    "turns": i8,
}


def action(values: Any, moves: Sequence[int], throttle: bool = True) -> Any:
    """Meta-actions, or acceleration and steering, or steering alone."""
    if values.actions == "meta":
        return discrete(*(META[j] for j in moves), doc="target lane, target speed", idle=tuple(moves).index(IDLE))
    if not throttle:
        return continuous("steering", doc="45 degrees at 1; to the right is positive")
    return continuous("acceleration", "steering", doc="5 m/s^2 and 45 degrees at 1; steering to the right is positive")


def usual_features(network: Network) -> dict[str, float]:
    """Highway-env's columns of `kinematics` with what is 1 there, 0 for as it is: across, 4 m for each lane of the road
    on which the ego car starts, the first one."""
    first, *_ = network.roads.values()
    return {"presence": 0.0, "x": 200.0, "y": 4.0 * len(first), "vx": 80.0, "vy": 80.0}


def shared_options(observation: str, actions: str, rows: int, hz: tuple[int, int]) -> dict[str, Any]:
    """The options of all driving worlds, with the defaults of one; for the arguments see `driving_world`."""
    return {
        "observation": OBSERVATION.defaulting(observation),
        "actions": ACTIONS.defaulting(actions),
        "seen_cars": integer(rows, 1, 64, "rows of `kinematics`, including the ego car"),
        "see_behind": flag(False, "whether `kinematics` shows cars behind"),
        "linked": flag(False, "whether drivers see cars on lanes before and after their own, as in highway-env's -v1"),
        "simulation_hz": integer(hz[0], 1, 60, "simulation steps per second"),
        "policy_hz": integer(hz[1], 1, 60, "decisions per second"),
        "offroad_terminal": flag(False, "whether leaving the road ends the episode"),
    }


def shared_blocks(most: float) -> dict[str, Any]:
    """The blocks of all observations; those that an observation does not have are empty."""
    numbers = functools.partial(block, raw=True, constant=True)
    return {
        "rows": numbers("rows", "features", low=-most, high=most, doc="cars, the nearest first"),
        "grid": numbers("layers", "cells", "cells", low=-1.0, high=1.0, doc="cells"),
        "times": numbers("speed_rows", 3, "time_steps", low=0.0, high=1.0, doc="collisions"),
        "beams": numbers("beams", 2, low=-1.0, high=1.0, doc="distance, relative speed"),
    }


def shared_sizes(
    values: Any, grid: tuple[Sequence[int], int, float, bool], time_span: int, picture: tuple[int, int, float, float]
) -> dict[str, int]:
    """The sizes of these blocks and of the picture."""
    kind = values.observation
    return {
        "rows": values.seen_cars if kind == "kinematics" else 0,
        "layers": len(grid[0]) if kind == "grid" else 0,
        "cells": grid[1],
        "speed_rows": 3 if kind == "times" else 0,
        "time_steps": time_span * values.policy_hz,
        "beams": seen.BEAMS if kind == "lidar" else 0,
        "pixel_rows": picture[0] if kind == "pixels" else 0,
        "pixel_columns": picture[1] if kind == "pixels" else 0,
    }


def driving_world(  # 30 parameters: those of a declaration, by name; a world gives those in which it differs
    name: str,
    *,
    road: Callable[[Any], Network],
    cars: Callable[[Any], int],
    stages: int = 1,
    speeds: Sequence[float] = (20.0, 25.0, 30.0),
    drivers: Sequence[tuple[float, ...]] = (NORMAL,),
    features: Mapping[str, float] | None = None,
    absolute: bool = False,
    moves: Sequence[int] = range(5),
    junctions: bool = False,
    scratch: Sequence[str] = (),
    rows: int = 5,
    most: float = 1.0,
    landmark: int = -1,
    time_span: int = 10,
    grid: tuple[Sequence[int], int, float, bool] = (seen.LAYERS, 11, 5.0, False),
    observation: str = "kinematics",
    actions: str = "meta",
    throttle: bool = True,
    hz: tuple[int, int] = (15, 1),
    picture: tuple[int, int, float, float] = (64, 192, 1.75, 0.3),
    params: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    state: Mapping[str, Any] | None = None,
    data: Mapping[str, Any] | None = None,
    more_data: Callable[[Any], Mapping[str, Any]] | None = None,
    more_sizes: Callable[[Any], Mapping[str, int]] | None = None,
    quick: Mapping[str, Any] | None = None,
    original: originals.Config = originals.NOTHING,
    **own: Any,
) -> Any:
    """The declaration of a driving world.

    Args:
        name: its id.
        road: function of the values that gives the network; it also bounds what the network may depend on.
        cars: function of the values that gives the number of bodies, at most.
        stages: roads of the longest route.
        speeds: m/s, evenly spaced, between which meta-actions choose.
        drivers: rows of `rlenvs.kits.traffic.drivers`.
        features: what is 1 in columns of `kinematics`, beside or in the place of `usual_features`.
        absolute: whether positions and speeds of others are not relative to the ego car.
        moves: the meta-actions that there are.
        junctions: whether cars meet at junctions: the expert then foresees where others drive.
        rows: cars in `kinematics`. most: what its numbers reach.
        landmark: -1, or the lane at whose beginning x of the ego car is 0 in `kinematics`, which shows no obstacles
        time_span: seconds of `times`.
        grid: of `grid`: layers, cells along each side, their length [m], whether it turns with the ego car.
        observation, actions: the usual ones.
        throttle: whether continuous actions have an acceleration, or keep the speed and steer alone.
        hz: of the simulation, and of decisions.
        picture: of `pixels`: rows, columns, pixels per meter, place of the ego car as a share of the width.
        params, options, state, data, scratch: of the world itself.
        more_data, more_sizes: functions of the values that give its own data and sizes.
        quick: see `world`.
        original: what highway-env's `config` may hold, beside what it holds in all driving worlds.
        own: other keywords of `world`.
    """

    def columns(network: Network) -> dict[str, float]:
        return {**usual_features(network), **(features or {})}

    def sizes(values: Any) -> dict[str, int]:
        network = road(values)
        return {
            **network.sizes,
            **car_sizes(cars(values), stages, len(network.lanes)),
            "driver_types": len(drivers),
            "moves": len(moves),
            "moments": MOMENTS,
            "speeds": len(speeds),
            "features": len(columns(network)),
            **shared_sizes(values, grid, time_span, picture),
            **(more_sizes(values) if more_sizes else {}),
        }

    def make_data(values: Any) -> dict[str, Any]:
        network = road(values)
        seen_as = columns(network)
        return {
            **network.arrays(),
            **driver_table(*drivers),
            "speeds": np.array(speeds, np.float64),
            "moves": np.array(moves, np.int64),
            "features": np.array([FEATURES[key] for key in seen_as], np.int64),
            "ranges": np.array(list(seen_as.values()), np.float64),
            "absolute": int(absolute),
            "see_behind": int(values.see_behind),
            "pixels_per_metre": picture[2],
            "ego_at": picture[3],
            "most": most,
            "landmark": landmark,
            "layer": np.array(grid[0] if values.observation == "grid" else (), np.int64),
            "cell": grid[2],
            "turns": int(grid[3]),
            **(more_data(values) if more_data else {}),
        }

    made = world(
        name,
        drop_in=original.names(features or {}, absolute, speeds, moves, throttle, time_span, hz[1]),
        params=params or {},
        options={**shared_options(observation, actions, rows, hz), **(options or {})},
        state={**STATE, **(FORECAST if junctions else {}), **(state or {})},
        scratch=(*scratch, *(FORECAST if junctions else ())),
        data={**DATA, **(data or {})},
        sizes=sizes,
        observation=shared_blocks(most),
        images={"picture": image("pixel_rows", "pixel_columns", 3, doc="the road from above")},
        action=lambda values: action(values, moves, throttle),
        fps=lambda values: float(values.policy_hz),
        expert_sees="state",
        quick={"simulation_hz": 5, **(quick or {})},
        **own,
    )
    made.make_data(make_data)
    made.keys(keys_for(moves, throttle))
    hang_shared(made, junctions)
    return made


def hang_shared(made: Any, junctions: bool) -> None:
    """Hang the functions that driving worlds share on a declaration."""
    made.observe(observe)
    made.observe_images(observe_images)
    made.expert(junction_expert if junctions else expert)
    made.draw(draw_traffic)
    made.state_fault(state_fault)


# --- kernels ----------------------------------------------------------------------------------------------------------


@kernel
def begin(p, s, movers, bodies, ego):
    """What a reset fills in before it places cars."""
    s.movers, s.bodies, s.ego, s.linked = movers, bodies, ego, p.linked
    for k in range(s.first_on.size):
        s.first_on[k] = -1


@kernel
def command(p, s, a):
    """Tell the ego car what to do."""
    if isinstance(a, (int, np.int64)):
        choose(p, s, s.ego, p.speeds, p.moves[a])
    else:
        s.acceleration[s.ego] = FORCE * a[0] if a.size > 1 else 0.0
        s.slip[s.ego] = slip_of(STEERING * a[a.size - 1])


@kernel
def own_car(p, s):
    """Make the ego car one that is told what to do."""
    s.driver[s.ego] = RAW if steers(p) else TRACKER
    if not steers(p):
        s.target_speed[s.ego] = p.speeds[speed_index(p.speeds, s.speed[s.ego])]
    else:
        s.target_speed[s.ego] = 0.0  # nobody knows what it wants, and drivers keep out of its way


@kernel
def simulate(p, s, a):
    """Move all cars from one decision to the next."""
    command(p, s, a)
    dt = 1.0 / p.simulation_hz
    for _ in range(steps_per_action(p)):
        act_all(p, p.drivers, s)
        move_all(p, s, dt)


@kernel
def on_road(p, s):
    """Whether the ego car is on its lane."""
    return is_on(p, s.lane_of[s.ego], s.station[s.ego], s.aside[s.ego], 0.0)


@kernel
def end(p, s, r, on):
    """The end of an episode: a crash, or off the road where that ends it; success is the time limit without either."""
    r.terminated = s.crashed[s.ego] or (p.offroad_terminal == 1 and not on)
    r.success = not r.terminated and s.elapsed + 1 >= p.horizon


@kernel
def share(value, low, high):
    """Where a value lies between two others, in [0, 1]."""
    return min(max((value - low) / (high - low), 0.0), 1.0)


@kernel
def observe(p, s, o):
    if p.observation == KINEMATICS:
        seen.observe_rows(p, s, o.rows)
    elif p.observation == TIMES:
        seen.observe_times(p, s, o.times)
    elif p.observation == OCCUPANCY:
        seen.observe_grid(p, s, o.grid)
    elif p.observation == LIDAR:
        seen.observe_lidar(p, s, o.beams)


@kernel
def observe_images(p, s, i):
    if p.observation == PIXELS:
        seen.observe_image(p, s, i.picture)


@kernel
def changes_lane(a):
    """Whether an action is a change of lanes."""
    if isinstance(a, (int, np.int64)):
        return a in (LANE_LEFT, LANE_RIGHT)
    return False


def keys_for(moves: Sequence[int], throttle: bool) -> Callable[[Any, Any], Any]:
    """Arrows: lanes and speeds, as far as there are such meta-actions, or steering and acceleration."""

    def keys(pressed: Any, values: Any) -> Any:
        right, up = ("right" in pressed) - ("left" in pressed), ("up" in pressed) - ("down" in pressed)
        if values.actions == "continuous":
            return [float(up), float(right)] if throttle else [float(right)]
        sideways = {-1: LANE_LEFT, 0: IDLE, 1: LANE_RIGHT}[right]
        onwards = {-1: SLOWER, 0: IDLE, 1: FASTER}[up]
        move = sideways if sideways != IDLE and sideways in moves else onwards
        return moves.index(move) if move in moves else moves.index(IDLE)

    return keys
