"""What is carried in Meta-World's tasks, and where it is brought, built for MuJoCo in code."""

from __future__ import annotations

import math
from typing import Any

from rlenvs.kits.engines.mujoco_parts import add_sensor
from rlenvs.robotics.metaworld.parts import BLUE, HARD, ORANGE, PALE, RED, TURN, UPRIGHT, fixture, observe
from rlenvs.robotics.metaworld.sawyer import HIDDEN, add_box, set_inertia


def add_puck(spec: Any, values: Any) -> None:
    """A cylinder of 4 cm that lies on the table."""
    import mujoco

    body = spec.worldbody.add_body(name="thing", pos=(0.0, 0.6, 0.02))
    body.add_freejoint(name="thing")
    set_inertia(body, 0.75 * values.mass, (0.0, 0.0, 0.0), UPRIGHT, (8.80012e-4 * values.mass,) * 3)
    disc = body.add_geom(type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=(0.02, 0.02, 0.0), condim=4, rgba=ORANGE, **HARD)
    disc.friction = (values.friction, 0.1, 0.002)
    observe(spec, "thing", "BODY", attitude=True)


def add_peg(spec: Any, values: Any) -> None:
    """A peg that does not turn (its moments of inertia are huge, as in the original), and a block with a hole."""
    import mujoco

    body = spec.worldbody.add_body(name="peg", pos=(0.0, 0.6, 0.03))
    body.add_joint(name="peg", type=mujoco.mjtJoint.mjJNT_FREE, damping=0.005)
    set_inertia(body, 0.1 * values.mass, (0.0, 0.0, 0.0), UPRIGHT, (1e5, 1e5, 1e5))
    add_box(body, (0.0, 0.0, 0.0), (0.12, 0.015, 0.015), ORANGE, friction=(values.friction, 0.005, 0.0001))
    body.add_site(name="thing", pos=(0.03, 0.0, 0.01), rgba=HIDDEN)
    body.add_site(name="mark", pos=(-0.1, 0.0, 0.0), size=(0.006, 0.006, 0.006), rgba=RED)
    observe(spec, "thing", "SITE", attitude=True)
    add_sensor(spec, "mark", "FRAMEPOS", "mark", "SITE")
    block = fixture(spec, (math.cos(0.5 * TURN), 0.0, 0.0, math.sin(0.5 * TURN)))
    for place, size, color in (
        ((0.0, 0.0, 0.195), (0.09, 0.1, 0.005), PALE),
        ((0.0, 0.0, 0.05), (0.09, 0.096, 0.05), BLUE),
        ((-0.06, 0.0, 0.13), (0.03, 0.096, 0.03), BLUE),
        ((0.06, 0.0, 0.13), (0.03, 0.096, 0.03), BLUE),
        ((0.0, 0.0, 0.175), (0.09, 0.096, 0.015), BLUE),
        ((0.095, 0.0, 0.1), (0.005, 0.1, 0.1), PALE),
        ((-0.095, 0.0, 0.1), (0.005, 0.1, 0.1), PALE),
    ):
        add_box(block, place, size, color, **HARD)
