"""Who moves and sees which joints of a body that several agents share: joints, their neighbors, partitions.

Names of joints, neighborhoods, partitions and the order of observed numbers are facts of MaMuJoCo (Peng et al., NeurIPS
2021; de Lazcano et al., Gymnasium-Robotics).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from rlenvs.core.declare.errors import ParameterError

# A number that is seen is a code: which array it is in, and where there.
PAGE = 65536
NOTHING, QPOS, QVEL, SLOW, CINERT, CVEL, TORQUE, CONTACT, TOUCH, ROPE = (PAGE * i for i in range(10))
NUMBERS = {CINERT: 10, CVEL: 6, CONTACT: 6, TOUCH: 6}  # of each part of the body

Codes = tuple[int, ...]


@dataclass(frozen=True)
class Joint:
    """A joint with its motor.

    Attributes:
        motor: its number among the motors.
        seen: codes by category, "qpos", "qvel", ...
        parts: of the body, whose inertia, velocity and contact forces are seen with it.
    """

    motor: int
    seen: Mapping[str, Codes]
    parts: tuple[int, ...] = ()


@dataclass(frozen=True)
class Body:
    """A body whose joints can be shared out among agents.

    Attributes:
        joints: by name.
        neighbors: sets of joints that are next to each other.
        all_see: codes that every agent sees at the end of its observation.
        state: codes of the state of the whole.
        partitions: joints of each agent by the partition's name.
        own, near: categories that an agent sees of its own joints, and of joints nearby.
        per_part: the array behind a category of parts.
        parts: how many there are, the world among them; 0 where none is looked at.
        shadows: more joints by name, which are neighbors but belong to nobody; see `long_ant`.
    """

    joints: Mapping[str, Joint]
    neighbors: Sequence[tuple[str, ...]]
    all_see: Codes
    state: Codes
    partitions: Mapping[str, tuple[tuple[str, ...], ...]]
    own: tuple[str, ...] = ("qpos", "qvel")
    near: tuple[str, ...] = ("qpos",)
    per_part: Mapping[str, int] = field(default_factory=dict)
    parts: int = 0
    shadows: Mapping[str, Joint] = field(default_factory=dict)


def parts_of(body: Body, partition: Any) -> tuple[tuple[str, ...], ...]:
    """The joints of each agent.

    Args:
        body: whose joints.
        partition: a name, or a list of names of joints for each agent.

    Raises:
        ParameterError: an unknown partition or joint; a joint of two agents, or of none; an agent without joints.
    """
    if isinstance(partition, str):
        if partition not in body.partitions:
            raise ParameterError(
                f"partition={partition!r} is not one of {', '.join(map(repr, body.partitions))}; or give the names of "
                f"the joints of each agent, [[...], ...], of {', '.join(body.joints)}"
            )
        return body.partitions[partition]
    agents = tuple(tuple(map(str, names)) for names in partition)
    owner: dict[str, int] = {}
    for k, names in enumerate(agents):
        if not names:
            raise ParameterError(f"partition: agent {k} has no joint; give it one, or leave it out")
        for name in names:
            if name not in body.joints:
                raise ParameterError(f"partition: there is no joint {name!r}; there are {', '.join(body.joints)}")
            if name in owner:
                raise ParameterError(f"partition: joint {name!r} is given twice, to agents {owner[name]} and {k}")
            owner[name] = k
    left = [name for name in body.joints if name not in owner]
    if left:
        raise ParameterError(f"partition: no agent has {', '.join(map(repr, left))}; give every joint to one")
    return agents


def look(body: Body, own: Sequence[str], reach: int) -> Codes:
    """What an agent sees: its joints, then joints ever farther away, up to so many joints; each by name.

    Parts of the body, which joints may have in common, are seen once.
    """
    codes: list[int] = []
    known, ring = set(own), set(own)
    shown: set[tuple[str, int]] = set()
    joints = {**body.joints, **body.shadows}
    for depth in range(reach + 1):
        for name in sorted(ring, key=lambda name: name.lstrip("~")):
            for category in body.near if depth else body.own:
                codes += joints[name].seen.get(category, ())
                if category in body.per_part:
                    codes += _of_parts(body, category, joints[name].parts, shown)
        ring = {other for group in body.neighbors for name in ring if name in group for other in group} - known
        known |= ring
    return (*codes, *body.all_see)


def _of_parts(body: Body, category: str, parts: Sequence[int], shown: set[tuple[str, int]]) -> list[int]:
    """Codes of the parts that were not shown before."""
    array, codes = body.per_part[category], []
    for part in parts:
        if (category, part) not in shown:
            shown.add((category, part))
            codes += span(array, NUMBERS[array] * part, NUMBERS[array] * (part + 1))
    return codes


def span(array: int, first: int, end: int) -> list[int]:
    """Codes of consecutive numbers."""
    return [array + i for i in range(first, end)]


# --- the bodies -------------------------------------------------------------------------------------------------------


def joint(motor: int, position: int, velocity: int, speed: int = QVEL, parts: tuple[int, ...] = ()) -> Joint:
    """A joint of which position, velocity and torque are seen."""
    seen = {"qpos": (QPOS + position,), "qvel": (speed + velocity,), "qfrc_actuator": (TORQUE + velocity,)}
    return Joint(motor, seen, parts)


def planar(names: Sequence[str], chains: Sequence[tuple[str, ...]], speed: int, state_speed: int, **named: Any) -> Body:
    """A flat robot that runs along x: all see height, pitch and their rates.

    Args:
        names: of the joints, in the order of positions and motors.
        chains: joints that follow each other.
        speed, state_speed: QVEL, or SLOW where velocities are clipped, of observations and of the state.
        named: partitions.
    """
    count = 3 + len(names)
    return Body(
        joints={name: joint(i, 3 + i, 3 + i, speed) for i, name in enumerate(names)},
        neighbors=[pair for chain in chains for pair in pairwise(chain)],
        all_see=(*span(QPOS, 1, 3), *span(speed, 0, 3)),
        state=(*span(QPOS, 1, count), *span(state_speed, 0, count)),
        partitions=named["partitions"],
    )


def cheetah() -> Body:
    """HalfCheetah."""
    names = ("bthigh", "bshin", "bfoot", "fthigh", "fshin", "ffoot")
    partitions = {"2x3": (names[:3], names[3:]), "6x1": tuple((name,) for name in names)}
    chain = ("bfoot", "bshin", "bthigh", "fthigh", "fshin", "ffoot")
    return planar(names, [chain], QVEL, QVEL, partitions=partitions)


def hopper() -> Body:
    """Hopper."""
    names = ("thigh_joint", "leg_joint", "foot_joint")
    return planar(names, [names], SLOW, SLOW, partitions={"3x1": tuple((name,) for name in names)})


def walker() -> Body:
    """Walker2d."""
    right, left = (tuple(f"{part}{side}_joint" for part in ("thigh", "leg", "foot")) for side in ("", "_left"))
    chain = (*right[::-1], *left)
    return planar((*right, *left), [chain], QVEL, SLOW, partitions={"2x3": (right[::-1], left[::-1])})


def swimmer() -> Body:
    """Swimmer: with a joint one sees a coordinate of the velocity of the head."""
    joints = {
        name: Joint(i, {"qpos": (QPOS + 3 + i,), "qvel": (QVEL + i, QVEL + 3 + i)})
        for i, name in enumerate(("rot2", "rot3"))
    }
    state = (*span(QPOS, 2, 5), *span(QVEL, 0, 5))
    partitions = {"2x1": (("rot2",), ("rot3",))}
    return Body(joints, [("rot2", "rot3")], (QPOS + 2, QVEL + 2), state, partitions)


FREE = (*span(QPOS, 2, 7), *span(QVEL, 0, 6))  # of a body that moves freely: height, attitude, velocities


def ant() -> Body:
    """Ant: legs 1 to 4, whose motors begin with leg 4."""
    joints = {}
    for leg in range(1, 5):
        thigh, place, motor = 3 * leg - 1, 2 * leg - 2, 2 * leg % 8
        joints[f"hip{leg}"] = joint(motor, 7 + place, 6 + place, parts=(1, thigh))
        joints[f"ankle{leg}"] = joint(motor + 1, 8 + place, 7 + place, parts=(thigh, thigh + 1, thigh + 2))
    legs = {leg: (f"hip{leg}", f"ankle{leg}") for leg in range(1, 5)}
    return Body(
        joints=joints,
        neighbors=[*legs.values(), ("hip1", "hip2", "hip3", "hip4")],
        all_see=FREE,
        state=(*span(QPOS, 2, 15), *span(QVEL, 0, 14), *span(TOUCH, 6, 6 * 14)),
        partitions={
            "2x4": ((*legs[1], *legs[2]), (*legs[3], *legs[4])),
            "2x4d": ((*legs[1], *legs[4]), (*legs[2], *legs[3])),
            "4x2": tuple(legs.values()),
        },
        own=("qpos", "qvel", "cfrc_ext"),
        per_part={"cfrc_ext": TOUCH},
        parts=14,
    )


ABDOMEN = ("abdomen_x", "abdomen_y", "abdomen_z")


def humanoid(compat: bool) -> Body:
    """Humanoid. Positions of the abdomen are in the order z, y, x, its motors in the order y, z, x.

    With `compat`, as in MaMuJoCo, "abdomen_y" sees what "abdomen_z" does, and the other way round."""
    names = ["abdomen_y", "abdomen_z", "abdomen_x"]
    parts: list[tuple[int, ...]] = [(1, 2, 3), (1, 2, 3), (3, 4, 7)]
    for side, thigh in (("right", 4), ("left", 7)):
        names += [f"{side}_hip_{axis}" for axis in "xzy"] + [f"{side}_knee"]
        parts += [(thigh, thigh + 1)] * 3 + [(thigh + 1, thigh + 2)]
    for side, arm in (("right", 10), ("left", 12)):
        names += [f"{side}_shoulder1", f"{side}_shoulder2", f"{side}_elbow"]
        parts += [(1, arm, arm + 1)] * 2 + [(arm + 1,)]
    hips = {side: tuple(f"{side}_hip_{axis}" for axis in "xyz") for side in ("right", "left")}
    arms = {side: (f"{side}_shoulder1", f"{side}_shoulder2") for side in ("right", "left")}
    sides = ("right", "left")
    upper = (*ABDOMEN, *(name for side in sides for name in (*arms[side], f"{side}_elbow")))
    lower = tuple(name for side in sides for name in (*hips[side], f"{side}_knee"))
    places = [0, 1] if compat else [1, 0]
    places += range(2, len(names))
    return Body(
        joints={name: joint(i, 7 + places[i], 6 + places[i], parts=parts[i]) for i, name in enumerate(names)},
        neighbors=[
            ABDOMEN,
            *((*hips[side], f"{side}_knee") for side in sides),
            *((*arms[side], f"{side}_elbow") for side in sides),
            *((*group[side], *ABDOMEN) for group in (hips, arms) for side in sides),
        ],
        all_see=FREE,
        state=(
            *span(QPOS, 2, 24),
            *span(QVEL, 0, 23),
            *span(CINERT, 10, 10 * 14),
            *span(CVEL, 6, 6 * 14),
            *span(TORQUE, 6, 23),
            *span(CONTACT, 6, 6 * 14),
        ),
        partitions={"9|8": (upper, lower)},
        own=("qpos", "qvel", "cinert", "cvel", "qfrc_actuator", "cfrc_ext"),
        per_part={"cinert": CINERT, "cvel": CVEL, "cfrc_ext": CONTACT},
        parts=14,
    )


def coupled(compat: bool) -> Body:
    """Two cheetahs, each with the joints of one, and a rope, seen with the back thigh.

    With `compat` the joints of the first one show what those of the second do, as in MaMuJoCo."""
    one, joints, neighbors, teams = cheetah(), {}, [], []
    for i in range(2):
        shown = 3 + 9 * (1 if compat else i)
        for name, each in one.joints.items():
            joints[f"{name}{i}"] = joint(6 * i + each.motor, shown + each.motor, shown + each.motor)
        thigh = joints[f"bthigh{i}"]
        joints[f"bthigh{i}"] = Joint(thigh.motor, {**thigh.seen, "rope": tuple(span(ROPE, 0, 6))})
        neighbors += [tuple(f"{name}{i}" for name in pair) for pair in one.neighbors]
        teams.append(tuple(f"{name}{i}" for name in one.joints))
    order = [9 * i + j for i in range(2) for j in (0, 2, 1)]
    return Body(
        joints=joints,
        neighbors=neighbors,
        all_see=(*(QPOS + j for j in order if j % 9), *(QVEL + j for j in order)),
        state=(*span(QPOS, 1, 9), *span(QPOS, 10, 18), *span(QVEL, 0, 18), *span(ROPE, 0, 6)),
        partitions={"1p1": (teams[0], teams[1])},
        own=("qpos", "qvel", "rope"),
        parts=15,
    )


def in_turn(groups: Sequence[Sequence[str]], agents: int) -> tuple[tuple[str, ...], ...]:
    """Groups of joints shared out in turn, equally many to each agent."""
    each = len(groups) // agents
    return tuple(tuple(name for group in groups[k * each : (k + 1) * each] for name in group) for k in range(agents))


def long_swimmer(agents: int, joints: int) -> Body:
    """A swimmer with so many joints, in all; nobody sees its heading."""
    names = [f"rot{i}" for i in range(joints)]
    return Body(
        joints={name: joint(i, 3 + i, 3 + i) for i, name in enumerate(names)},
        neighbors=list(pairwise(names)),
        all_see=(),
        state=(*span(QPOS, 2, 3 + joints), *span(QVEL, 0, 3 + joints)),
        partitions={f"{agents}x{joints // agents}": in_turn([(name,) for name in names], agents)},
    )


def long_ant(agents: int, segments: int, compat: bool) -> Body:
    """An ant of so many segments, in all.

    With `compat`, as in MaMuJoCo: joints of all segments but the last show numbers from the beginning of the arrays,
    place and attitude of the head among them; the first two motors of a segment belong to its second leg; and hips see
    those of the segment in front of them, even of their own agent, while those see none behind them.
    """
    joints: dict[str, Joint] = {}
    neighbors: list[tuple[str, ...]] = []
    groups: list[tuple[str, ...]] = []
    for i in range(segments):
        before = [f"{'~' * compat}hip{leg}_{i - 1}" for leg in (1, 2) if i]
        for leg in (1, 2):
            side = 3 * leg - 1 + 7 * i
            motor = 4 * i + 2 * (2 - leg if compat else leg - 1)
            position, velocity = 4 * i + 2 * leg + 5, 4 * i + 2 * leg + 4
            if compat and i < segments - 1:
                position = velocity = 4 * (segments - 2 - i) + 2 * leg - 2
            joints[f"hip{leg}_{i}"] = joint(motor, position, velocity, parts=(1 + 7 * i, side))
            joints[f"ankle{leg}_{i}"] = joint(motor + 1, position + 1, velocity + 1, parts=(side, side + 1, side + 2))
            neighbors.append((f"hip{leg}_{i}", f"ankle{leg}_{i}"))
        neighbors += [(f"hip1_{i}", f"hip2_{i}", *before)]
        groups.append(tuple(joints)[-4:])
    parts = 1 + 7 * segments
    return Body(
        joints=joints,
        neighbors=neighbors,
        all_see=FREE,
        state=(*span(QPOS, 2, 7 + 4 * segments), *span(QVEL, 0, 6 + 4 * segments), *span(TOUCH, 6, 6 * parts)),
        partitions={f"{agents}x{segments // agents}": in_turn(groups, agents)},
        own=("qpos", "qvel", "cfrc_ext"),
        per_part={"cfrc_ext": TOUCH},
        parts=parts,
        shadows={f"~{name}": each for name, each in joints.items() if compat},
    )
