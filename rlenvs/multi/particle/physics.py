"""The common physics of the particle worlds: discs in the plane with forces, damping and soft contacts, and
communication.

The rules are those of mpe2 (Farama's maintained version of Lowe et al., "Multi-Agent Actor-Critic for Mixed
Cooperative-Competitive Environments", 2017). In a step the old velocity moves the body, then damping and forces change
the velocity. The first version of these worlds, and some descendants, change the velocity first: `accelerate` and
`drift` are separate kernels that can be called in either order. All bodies have a mass of 1 kg.

Different from mpe2: the world ends at 100 m in each direction, and no velocity is above 100 m/s along an axis, so that
observations have bounds. Contact forces below 1e-18 of the contact margin are ignored.
"""

import math
from collections.abc import Mapping
from typing import Any

from rlenvs.core import (
    World,
    block,
    choice,
    continuous,
    discrete,
    drop_in,
    f8,
    i8,
    kernel,
    meaning,
    only,
    param,
    published,
    same_as,
    uniform,
    world,
)
from rlenvs.core.declare.drop_in import DropIn, Keyword
from rlenvs.core.declare.inputs import truth
from rlenvs.core.declare.maths import exp, log1p

WORLD = 100.0  # m; positions stay inside
FASTEST = 100.0  # m/s, along each axis
FARTHEST = 300.0  # m; no two points of the world are further apart
SEEN = 2.0 * WORLD  # bounds of what is observed
MOVES = ("none", "left", "right", "down", "up")
SCALED = 2  # numbers that move an agent in the scaled form: to the right, and up
PUSH_RIGHT, PUSH_UP = (0.0, -1.0, 1.0, 0.0, 0.0), (0.0, 0.0, 0.0, -1.0, 1.0)
NEGLIGIBLE = 40.0  # contact margins of distance at which a contact is no longer felt

MOTION = {
    "time_step": param(0.1, 0.02, 0.5, "s", "time per step"),
    "damping": param(0.25, 0.0, 0.95, "1/step", "fraction of the velocity lost per step"),
}
CONTACT = {
    "contact_force": param(100.0, 0.0, 1000.0, "N/m", "force per depth of penetration"),
    "contact_margin": param(0.001, 0.0001, 0.02, "m", "distance over which a contact softens"),
}
BODIES = {
    "position": f8("bodies", 2),
    "velocity": f8("bodies", 2),
    "force": f8("bodies", 2),  # scratch: the sum of the forces in this step
}


def mpe2(name: str) -> Any:
    """The spaces of a world of mpe2."""
    return published(f"mpe2 {name}", low=-math.inf, high=math.inf, state="joined")


def choosing(value: Any) -> dict[str, str]:
    """`continuous_actions` of mpe2."""
    return {"actions": "continuous" if truth("continuous_actions", value) else "discrete"}


def names(**counts: str) -> DropIn:
    """What code for a world of mpe2 finds in it: its keywords.

    Args:
        counts: options by the names of mpe2.
    """
    return drop_in(
        {
            "continuous_actions": meaning('`actions`: True is "continuous", False "discrete"', choosing),
            "dynamic_rescaling": only(False, "images have a fixed view"),
            "benchmark_data": only(False, "the reward terms of a step are in info"),
            **{name: same_as(own) for name, own in counts.items()},
        }
    )


def shares(own: str, others: str) -> Keyword:
    """`local_ratio` of mpe2: the weight of a term for the agent itself, and what is left for one that all share."""

    def read(value: Any) -> dict[str, float]:
        ratio = float(value)
        if not 0.0 <= ratio <= 1.0:
            raise ValueError("needed: a number in [0, 1]")
        return {own: ratio, others: 1.0 - ratio}

    return meaning(f"`weights`: of `{own}`, and 1 minus it of `{others}`", read)


def motion(values: Any) -> int:
    """How many choices, or numbers, of an action move the agent: five as in mpe2, or in the scaled form two numbers."""
    return SCALED if values.actions == "continuous" and getattr(values, "scaled", True) else len(MOVES)


def moving(values: Any, words: int = 0) -> Any:
    """The action of agents that move, and say one of `words` where there are any."""
    if values.actions == "continuous":
        forces = MOVES if motion(values) == len(MOVES) else ("right", "up")
        labels = (*forces, *(f"word {j}" for j in range(words)))
        doc = "force, as fractions of the acceleration" + ("; then the words" if words else "")
        low = (-1.0 if len(forces) == 2 else 0.0,) * len(forces) + (0.0,) * words
        return continuous(*labels, doc=doc, low=low)
    if not words:
        return discrete(*MOVES, doc="direction of the force")
    return discrete(
        *(f"{move}, word {j}" for j in range(words) for move in MOVES), doc="word times 5 plus direction of the force"
    )


def keys(pressed: Any, values: Any) -> Any:
    """The arrow keys move the first agent."""
    right, up = ("right" in pressed) - ("left" in pressed), ("up" in pressed) - ("down" in pressed)
    if motion(values) == SCALED:
        return [float(right), float(up)]
    if values.actions == "continuous":
        return [0.0, *(float(max(push, 0)) for push in (-right, right, -up, up))]
    if right:
        return 2 if right > 0 else 1
    return 0 if up == 0 else 4 if up > 0 else 3


def numbers(size: int | str = "numbers") -> dict[str, Any]:
    """The observation of a scenario: a list of numbers whose text tells what they are."""
    return {"observation": block(size, low=-SEEN, high=SEEN, raw=True, constant=True, doc="see above")}


def scenario(name: str, *, params: Mapping[str, Any], state: Mapping[str, Any], **own: Any) -> World:
    """The world of a scenario: MOTION and BODIES before its own parameters and state, the option `actions`, 25 steps of
    0.1 s; and where agents do nothing but move, the keyboard. Kernels see in `p.motion` what `motion` gives.

    Args:
        name, own: as for `world`.
        params, state: the scenario's own.
    """
    own = {"drop_in": names(), **own} if "published" in own else own
    actions = choice("discrete", "continuous", doc="one of five forces, or numbers")
    made = world(
        name,
        agents=True,
        params={**MOTION, **params},
        options={"actions": actions, **own.pop("options", {})},
        state={**BODIES, **state},
        data={"motion": i8},
        horizon=25,
        fps=10,
        lanes=True,
        **{"observation": numbers(), "action": moving, **own},
    )
    made.make_data(lambda values: {"motion": motion(values)})
    if "action" not in own:
        made.keys(keys)
    return made


@kernel
def thrust(p: Any, a: Any, k: int, axis: int) -> float:
    """The force that agent k asks for along an axis, in [-1, 1]."""
    if a.ndim == 1:
        return PUSH_RIGHT[a[k] % 5] if axis == 0 else PUSH_UP[a[k] % 5]
    if p.motion == SCALED:
        return a[k, axis]
    return a[k, 2 * axis + 2] - a[k, 2 * axis + 1]


@kernel
def push(p: Any, s: Any, a: Any, k: int, acceleration: float) -> None:
    """The first of the forces on body k: its own."""
    s.force[k, 0] = acceleration * thrust(p, a, k, 0)
    s.force[k, 1] = acceleration * thrust(p, a, k, 1)


@kernel
def utter(a: Any, k: int, first: int, words: Any) -> None:
    """What agent k says: the chosen word is 1, the others 0; or a number in [0, 1] for each word. Words come behind the
    `first` numbers (p.motion), or choices, of motion, if the agent moves."""
    if a.ndim == 1:
        word = a[k] // 5 if first > 0 else a[k]
        for j in range(words.size):
            words[j] = 1.0 if j == word else 0.0
    else:
        for j in range(words.size):
            words[j] = a[k, first + j]


@kernel
def distance(points: Any, i: int, others: Any, j: int) -> float:
    """From one point to another, in metres."""
    x, y = points[i, 0] - others[j, 0], points[i, 1] - others[j, 1]
    return math.sqrt(x * x + y * y)


@kernel
def nearest(points: Any, i: int, others: Any, first: int, last: int) -> float:
    """The distance from point i to the nearest of others[first:last]."""
    least = 1e18
    for j in range(first, last):
        x, y = points[i, 0] - others[j, 0], points[i, 1] - others[j, 1]
        least = min(least, x * x + y * y)
    return math.sqrt(least)


@kernel
def contact(p: Any, x: float, y: float, reach: float) -> float:
    """The contact force between two discs whose centres are (x, y) apart and touch at `reach`, per metre of (x, y)."""
    square = x * x + y * y
    felt = reach + NEGLIGIBLE * p.contact_margin
    if square > felt * felt:
        return 0.0
    apart = max(math.sqrt(square), 1e-12)
    depth = (reach - apart) / p.contact_margin
    softened = p.contact_margin * (max(depth, 0.0) + log1p(exp(-abs(depth))))
    return p.contact_force * softened / apart


@kernel
def repel(p: Any, s: Any, k: int, first: int, last: int, reach: float) -> None:
    """Contact forces between body k and the bodies first ... last - 1."""
    position, force = s.position, s.force
    for j in range(first, last):
        x, y = position[k, 0] - position[j, 0], position[k, 1] - position[j, 1]
        strength = contact(p, x, y, reach)
        force[k, 0] += strength * x
        force[k, 1] += strength * y
        force[j, 0] -= strength * x
        force[j, 1] -= strength * y


@kernel
def bounce(p: Any, s: Any, k: int, obstacles: Any, count: int, reach: float) -> None:
    """Contact forces on body k from the first `count` obstacles, which do not move."""
    position, force = s.position, s.force
    for j in range(count):
        x, y = position[k, 0] - obstacles[j, 0], position[k, 1] - obstacles[j, 1]
        strength = contact(p, x, y, reach)
        force[k, 0] += strength * x
        force[k, 1] += strength * y


@kernel
def drift(p: Any, s: Any) -> None:
    """Bodies move by their velocity."""
    position, velocity = s.position, s.velocity
    for k in range(position.shape[0]):
        for axis in range(2):
            there = position[k, axis] + velocity[k, axis] * p.time_step
            position[k, axis] = min(max(there, -WORLD), WORLD)


@kernel
def accelerate(p: Any, s: Any) -> None:
    """Damping and forces change the velocities."""
    velocity, force = s.velocity, s.force
    for k in range(velocity.shape[0]):
        for axis in range(2):
            changed = velocity[k, axis] * (1.0 - p.damping) + force[k, axis] * p.time_step
            velocity[k, axis] = min(max(changed, -FASTEST), FASTEST)


@kernel
def limit_speed(s: Any, first: int, last: int, most: float) -> None:
    """Bodies first ... last - 1 are not faster than `most`."""
    velocity = s.velocity
    for k in range(first, last):
        speed = math.sqrt(velocity[k, 0] * velocity[k, 0] + velocity[k, 1] * velocity[k, 1])
        if speed > most:
            velocity[k, 0] = velocity[k, 0] / speed * most
            velocity[k, 1] = velocity[k, 1] / speed * most


@kernel
def scatter(points: Any, half: float, rng: Any) -> None:
    """Put points uniformly into the square from -half to half."""
    for i in range(points.shape[0]):
        points[i, 0] = uniform(rng, -half, half)
        points[i, 1] = uniform(rng, -half, half)


@kernel
def leaving(x: float) -> float:
    """The penalty for being x away from the middle along an axis: none up to 0.9, 1 at the edge, 10 at most."""
    x = abs(x)
    if x < 0.9:
        return 0.0
    if x < 1.0:
        return (x - 0.9) * 10.0
    return min(exp(2.0 * x - 2.0), 10.0)


# --- what agents see: these write from `at` on and return where the next goes -----------------------------------------


@kernel
def tell(seen: Any, at: int, values: Any) -> int:
    """Numbers as they are."""
    for j in range(values.size):
        seen[at + j] = values[j]
    return at + values.size


@kernel
def show(seen: Any, at: int, s: Any, k: int, points: Any) -> int:
    """All points, relative to agent k."""
    x, y = s.position[k, 0], s.position[k, 1]
    for j in range(points.shape[0]):
        seen[at + 2 * j] = points[j, 0] - x
        seen[at + 2 * j + 1] = points[j, 1] - y
    return at + 2 * points.shape[0]


@kernel
def show_others(seen: Any, at: int, s: Any, k: int) -> int:
    """All other bodies, relative to agent k."""
    position = s.position
    x, y = position[k, 0], position[k, 1]
    for j in range(position.shape[0]):
        if j != k:
            seen[at] = position[j, 0] - x
            seen[at + 1] = position[j, 1] - y
            at += 2
    return at


@kernel
def blank(seen: Any, at: int, last: int) -> int:
    """Zeros up to, not including, `last`."""
    for j in range(at, last):
        seen[j] = 0.0
    return last
