"""What Meta-World's tasks differ by in numbers: a row per task, read by kernels as `p.<name>`.

Boxes of random places, goals and success rules are those of package metaworld 3.1.1; the numbers of the scripted
policy, from `lead` on, are this package's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlenvs.core import choice, f8, i4

Triple = tuple[float, float, float]
SUNK = 0.0194046838  # m, where a puck's middle lies when it has sunk into the table by its weight
FAR = 9.0  # m, farther than anything is from anything

# where the hand starts, m, and what the arm's and the fingers' joints are, and how they move, at the end of the
# original's reset, in which it is still moving: metaworld 3.1.1 with MuJoCo 3.3.0
OVER_TABLE = (
    (0.0, 0.6, 0.2),
    (
        *(1.889288181, -0.5757689062, -0.9766593499, 1.641991494, 0.9428596256, 1.04369624, 2.292833312),
        *(-0.0001719061952, 0.0001717454225),
    ),
    (
        *(0.26100214, 0.42891259, -0.4857705, 0.24403764, 0.82910979, 0.098762268, 1.5894718),
        *(5.8427991e-07, 5.9101601e-07),
    ),
)
NEAR_ARM = (
    (0.0, 0.4, 0.2),
    (
        *(2.167490586, -0.5459568452, -1.234721787, 2.171110868, 1.247809374, 1.019476332, 1.901196017),
        *(-0.0001718607795, 0.0001717896541),
    ),
    (
        *(0.085120354, 0.63275259, -0.21596149, 0.17411748, 0.75852351, 0.40106069, 1.0192005),
        *(2.0543034e-07, 2.0096595e-07),
    ),
)
COFFEE = (NEAR_ARM[0], NEAR_ARM[1], (*NEAR_ARM[2][:3], *[0.0] * 6))  # the original stops some joints with the mug
LATER = (  # five physics steps later
    OVER_TABLE[0],
    (
        *(1.892641561, -0.5702824608, -0.9827674821, 1.644734506, 0.9529431842, 1.045160065, 2.312030634),
        *(-0.0001718979444, 0.0001717536723),
    ),
    (
        *(0.27216817, 0.44448137, -0.489501, 0.20297989, 0.79044522, 0.12900621, 1.4952928),
        *(7.1124611e-07, 7.1070676e-07),
    ),
)
ON_THE_LEFT = (
    (-0.5, 0.6, 0.2),
    (
        *(2.266839821, -0.4993075569, -0.5636216008, 0.9750864355, 0.5295132825, 1.22525731, 3.409188578),
        *(-0.000171851158, 0.0001718003235),
    ),
    (
        *(0.13712123, 0.005388755, -0.38906607, 0.34474605, 0.52423201, -0.15020683, 2.0707593),
        *(1.4326778e-06, 1.462081e-06),
    ),
)
MEASURED = choice("hand", "thing", "mark", "second")  # whose distance from the goal counts
HAND, MARK, SECOND = MEASURED.codes("hand", "mark", "second")
ATTITUDE = choice("none", "xyzw", "wxyz")  # how the thing's attitude is observed
XYZW, WXYZ = ATTITUDE.codes("xyzw", "wxyz")


@dataclass(frozen=True, kw_only=True)
class Task:
    """A row of the table. Lengths in m, vectors in axes of the world."""

    summary: str  # of the page
    thing: str  # its name in images
    scene: Callable[[Any, Any], None]  # adds what stands on the table to a model, for values of parameters
    low: tuple[float, ...]  # least and largest places that are drawn: of the thing, then, where a task draws two, of
    high: tuple[float, ...]  # the goal or the fixture
    first: bool = False  # whether the goal lies at the first of two drawn places
    keep: Triple = (1.0, 1.0, 1.0)  # 0 for coordinates of the goal that do not depend on what is drawn
    goal: Triple = (0.0, 0.0, 0.0)  # from this place, otherwise the last, as far as it is kept, to the goal
    off: Triple = (0.0, 0.0, 0.0)  # from the goal to where the success rule measures
    radius: float  # weighted distance from the goal that is success
    axes: Triple = (1.0, 1.0, 1.0)  # of the axes in this distance
    start: Any = OVER_TABLE
    lowest: Triple = (-0.5, 0.4, 0.05)  # lower bounds of the point to which the hand is welded
    goals: tuple[Triple, Triple] | None = None  # published bounds of goals, where they are not the box that is drawn
    measured: str = "thing"
    attitude: str = "none"
    # "one" of two shapes that overlap, and what moves in a fixture touches it, as in the original's MuJoCo, 3.3.0;
    # "several", and it does not
    contacts: str = "one"
    # the scripted policy: it goes `above` its aim, `lead` from the thing, goes down where it is nearer than `aside`
    # horizontally, and works where it is nearer than `apart` vertically
    lead: Triple = (0.0, 0.0, 0.0)
    above: float = 0.1
    aside: float = 0.02
    apart: float = 0.02
    fingers: float = 1.0  # their effort where they do not hold: 1 closes them


DATA = {
    **dict.fromkeys(("low", "high"), f8(6)),
    **dict.fromkeys(("keep", "goal", "off", "axes", "hand", "lowest", "lead"), f8(3)),
    **dict.fromkeys(("angles", "rates"), f8(9)),
    **dict.fromkeys(("radius", "above", "aside", "apart", "fingers"), f8),
    **dict.fromkeys(("measured", "attitude", "last"), i4),
}


def numbers(task: Task, names: Iterable[str]) -> dict[str, Any]:
    """What kernels see of a row, by these names of data."""
    hand, angles, rates = task.start
    found = {
        **{name: getattr(task, name) for name in names if hasattr(task, name)},
        **{name: np.resize(getattr(task, name), 6) for name in ("low", "high")},  # of one place, both are the same
        "last": 0 if task.first else len(task.low) - 3,
        "measured": MEASURED.code(task.measured),
        "attitude": ATTITUDE.code(task.attitude),
    }
    return found | {"hand": hand, "angles": angles, "rates": rates}
