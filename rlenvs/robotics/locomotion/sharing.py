"""How a body is shared out among agents: sizes, roles, options and data of a member of the kind of `team.py`."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rlenvs.core import continuous, f8, i4, instead, json_option, published, role, same_as
from rlenvs.core.declare.canvas import AGENT_COLORS, COLORS
from rlenvs.core.declare.drop_in import Instead, Keyword
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.options import data_option
from rlenvs.robotics.locomotion.originals import HEALTHY, NOISE, machines
from rlenvs.robotics.locomotion.partitions import CINERT, CONTACT, PAGE, ROPE, TORQUE, TOUCH, Body, look, parts_of

FRONT, TORSO, CENTER = range(3)  # what is measured as the place: qpos, the torso's place, the center of mass
MOST_JOINTS = 200
SPARE: dict[str, Keyword | Instead] = {  # of MaMuJoCo
    "scenario": instead("the id says which body it is"),
    "agent_conf": same_as("partition"),
    "agent_obsk": same_as("obsk"),
    "agent_factorization": instead("write `partition=[[...], ...]`, names of joints for each agent"),
    "local_categories": instead("they are MaMuJoCo's usual ones"),
    "global_categories": instead("they are MaMuJoCo's usual ones"),
    "gym_env": instead("declare a world of your own"),
}


@dataclass(frozen=True)
class Shared:
    """A body that agents share.

    Attributes:
        body: function of partition and `compat` that gives its joints.
        model: function of the values and the joints that gives MuJoCo's model.
        partition: the usual one.
        frame_skip, dt: physics steps in a control step, and how long that is [s].
        strongest: largest action.
        place: FRONT, TORSO or CENTER.
        second: where the place of a second body is in qpos, whose mean with the first counts.
        height, pitch: where these are in qpos; -1 for the pitch of bodies that move freely.
        normal: whether velocities of the start are normal, not uniform.
        forwards: whether only the velocity forwards has a cost.
        most_number: bound of the healthy state's numbers.
        hardest: to which contact forces are clipped in rewards [N, N m].
    """

    body: Callable[[Any, bool], Body]
    model: Callable[[Any, Body], Any]
    partition: str
    frame_skip: int
    dt: float
    strongest: float = 1.0
    place: int = FRONT
    second: int = 0
    height: int = 1
    pitch: int = 2
    normal: int = 0
    forwards: int = 0
    most_number: float = math.inf
    hardest: float = math.inf

    WHOLE: ClassVar = ("place", "second", "height", "pitch", "normal", "forwards")
    REAL: ClassVar = ("dt", "most_number", "hardest")
    DATA: ClassVar = {**dict.fromkeys(WHOLE, i4), **dict.fromkeys(REAL, f8)}

    def option(self) -> Any:
        """The option `partition`."""
        doc = "which joints each agent has: the name of a partition, or names of joints, [[...], ...]"
        return data_option(json_option(self.partition, self._parsed, doc))

    def _parsed(self, partition: Any) -> Any:
        """A partition, checked."""
        if not isinstance(partition, str):
            partition = [[str(name) for name in names] for names in partition]
        parts_of(self.body(partition, False), partition)
        return partition

    def keywords(self, name: str) -> dict[str, Any]:
        """What the declaration says of this body."""
        return {
            "sizes": self.sizes,
            "roles": self.roles,
            "action": continuous(
                size="moves", doc="torques of the agent's joints", low=-self.strongest, high=self.strongest
            ),
            "fps": 1.0 / self.dt,
            "published": published(f"Gymnasium-Robotics MaMuJoCo {name}", "float64", low=-math.inf, high=math.inf),
            "drop_in": machines(self.frame_skip, SPARE, NOISE, HEALTHY),
        }

    def hang(self, world: Any) -> None:
        """Register data and model on a member."""
        world.make_data(self.data)
        world.model(self.model_of)

    def _agents(self, values: Any) -> tuple[Body, list[tuple[int, ...]], list[tuple[int, ...]]]:
        """The body; what each agent sees and which motors it has."""
        return _shared_out(self.body, json.dumps(values.partition), bool(values.compat), values.obsk)

    def sizes(self, values: Any) -> dict[str, int]:
        """How many numbers there are of everything."""
        body, looks, motors = self._agents(values)
        touched = _entries(body, TOUCH, 6) or _entries(body, CONTACT, 6)
        ropes = int(_entries(body, ROPE, 1) > 0)
        return {
            "agents": len(looks),
            "numbers": max(map(len, looks)),
            "moves": max(map(len, motors)),
            "state_numbers": len(body.state),
            "placed": body.parts if ropes or self.place == TORSO else 0,
            "centered": body.parts if self.place == CENTER else 0,
            "weighed": _entries(body, CINERT, 10),
            "torques": _entries(body, TORQUE, 1),
            "touched": touched,
            "ropes": ropes,
        }

    def roles(self, values: Any) -> list[Any]:
        """The agents, as MaMuJoCo names them."""
        _, looks, motors = self._agents(values)
        return [role(f"agent_{k}", len(looks[k]), len(motors[k])) for k in range(len(looks))]

    def data(self, values: Any) -> Mapping[str, Any]:
        """Arrays for kernels."""
        body, looks, motors = self._agents(values)
        return {
            "look": _padded(looks, 0),
            "motors": _padded(motors, -1),
            "whole": np.array(body.state),
            **{name: getattr(self, name) for name in (*self.WHOLE, *self.REAL)},
        }

    def model_of(self, values: Any) -> Any:
        """MuJoCo's model."""
        body, _, motors = self._agents(values)
        spec = self.model(values, body)
        for k, own in enumerate(motors):
            color = COLORS[AGENT_COLORS[k % len(AGENT_COLORS)]]
            for motor in own:
                for shape in spec.joint(spec.actuators[motor].target).parent.geoms:
                    shape.material, shape.rgba = "", (*(c / 255.0 for c in color), 1.0)
        return spec


@functools.lru_cache(maxsize=64)
def _shared_out(build: Any, partition: str, compat: bool, reach: int) -> tuple[Body, list[Any], list[Any]]:
    """See `Shared._agents`."""
    chosen = json.loads(partition)
    body = build(chosen, compat)
    agents = parts_of(body, chosen)
    motors = [tuple(body.joints[name].motor for name in names) for names in agents]
    return body, [look(body, names, reach) for names in agents], motors


def _entries(body: Body, array: int, each: int) -> int:
    """How many rows of so many numbers an array has, of which the state shows the last; 0 where it shows none."""
    return max((1 + code % PAGE // each for code in body.state if code - code % PAGE == array), default=0)


def _padded(rows: list[tuple[int, ...]], filler: int) -> np.ndarray:
    """Rows of different lengths in one array."""
    made = np.full((len(rows), max(map(len, rows))), filler)
    for i, row in enumerate(rows):
        made[i, : len(row)] = row
    return made


def in_segments(build: Callable[[int, int, bool], Body], joints: int, least: int) -> Callable[[Any, bool], Body]:
    """The body behind a partition such as "10x2": ten agents with two segments each.

    Args:
        build: function of the numbers of agents and segments and of `compat`.
        joints: of a segment.
        least: segments that there have to be.
    """

    def body(partition: Any, compat: bool) -> Body:
        if not isinstance(partition, str):
            return build(1, max(-(-sum(map(len, partition)) // joints), least), compat)
        counts = re.fullmatch(r"([1-9]\d{0,2})x([1-9]\d{0,2})", partition)
        agents, each = map(int, counts.groups()) if counts else (0, 0)
        if not least <= agents * each <= MOST_JOINTS // joints:
            raise ParameterError(
                f"partition={partition!r} must be agents x segments of each, such as '10x2', with {least} to "
                f"{MOST_JOINTS // joints} segments in all; or the names of the joints of each agent, [[...], ...]"
            )
        return build(agents, agents * each, compat)

    return body
