"""The common declaration of tasks: a vehicle, its options, engines and camera. A task adds its own parts."""

from collections.abc import Callable, Mapping
from typing import Any

from rlenvs.core import World, world
from rlenvs.robotics.quadcopter import dynamics, flight, swarm, vehicle

NOTHING: dict[str, Any] = {}


def solo(name: str, *, state: Mapping[str, Any] = NOTHING, **own: Any) -> World:
    """The world of a task with one vehicle: parameters, options, data, state, sizes and probe of `flight` with the
    task's own after them, its action, images, frame rate and engines, and the kernels `before_physics`, `move` and
    `observe_images`.

    Args:
        name, own: as for `world`.
        state: what the task keeps beside the vehicle.
    """
    made = _declare(name, {**flight.flight_state(1), **state}, own)
    made.before_physics(dynamics.load)
    made.move(dynamics.fly)
    made.observe_images(flight.observe_images)
    return made


def team(name: str, *, state: Mapping[str, Any] = NOTHING, **own: Any) -> World:
    """The same for a task with a vehicle per agent. `own["sizes"]` gives their number, "agents"."""
    made = _declare(name, {**flight.flight_state("agents"), **state}, {"agents": True, **own})
    made.before_physics(swarm.load_swarm)
    made.move(swarm.fly_swarm)
    made.observe_images(flight.look_from)
    return made


def _declare(name: str, state: Mapping[str, Any], own: dict[str, Any]) -> World:
    made = world(
        name,
        state=state,
        params={**flight.PARAMS, **own.pop("params", NOTHING)},
        options={**flight.OPTIONS, **own.pop("options", NOTHING)},
        sizes=_with_flight_sizes(own.pop("sizes", lambda values: NOTHING)),
        data={**flight.DATA, **own.pop("data", NOTHING)},
        probe={**flight.PROBE, **vehicle.SHOWN_BY, **own.pop("probe", NOTHING)},
        images=flight.IMAGES,
        action=own.pop("action", flight.flight_action),
        fps=flight.flight_fps,
        engines=flight.ENGINES,
        constraints=vehicle.CONSTRAINTS,
        lanes=True,
        **own,
    )
    made.make_data(flight.flight_data)
    made.keys(flight.fly_by_keys)
    return made


def _with_flight_sizes(sizes: Callable[[Any], Mapping[str, int]]) -> Callable[[Any], Mapping[str, int]]:
    return lambda values: {**flight.flight_sizes(values), **sizes(values)}
