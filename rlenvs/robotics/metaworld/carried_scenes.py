"""What lies and stands on the table in Meta-World's tasks of things that are carried, pushed or swept.

Places, masses and the shapes that are touched have Meta-World's dimensions (package metaworld 3.1.1). The thing has a
free joint. What stands still in all episodes belongs to the world; what a world draws anew is the mocap body `fixture`.
The state field `thing` holds the position that is observed, `mark` another point that a reward needs.
"""

from __future__ import annotations

import math
from typing import Any

from rlenvs.kits.engines.mujoco_parts import add_sensor
from rlenvs.robotics.metaworld.parts import (
    BLUE,
    HARD,
    ORANGE,
    PALE,
    RED,
    TURN,
    UPRIGHT,
    bar,
    coffee_machine,
    fixture,
    observe,
    rod,
    roughen,
    slide,
)
from rlenvs.robotics.metaworld.sawyer import DARK, HIDDEN, METAL, STANDING, WHITE, WOOD, add_box, set_inertia

LIGHT = (0.92, 0.89, 0.83, 1.0)  # of a table that is higher, around a hole
LEVEL = (1e5, 1e5, 1e5)  # kg m^2, of things that the original keeps from turning by huge moments of inertia
ROUND, FLAT, ROUGH = (1.0, 0.1, 0.002), (1.0, 0.005, 0.0001), (2.0, 0.1, 0.002)  # friction: sliding, turning, rolling
WALL = (0.1, 0.75, 0.06), (0.12, 0.01, 0.06)  # m, place and half sizes


def puck(spec: Any, values: Any, radius: float = 0.02, half: float = 0.02) -> Any:
    """A cylinder that lies on the table, 4 cm wide and high unless said otherwise, m."""
    import mujoco

    body = thing(spec, 0.75 * values.mass, (8.80012e-4 * values.mass,) * 3)
    disc = body.add_geom(type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=(radius, half, 0.0), rgba=ORANGE, **HARD)
    disc.condim, disc.friction = 4, (values.friction, 0.1, 0.002)
    return body


def cube(spec: Any, values: Any, mass: float, moments: Any, friction: Any = ROUND, low: float = 0.0) -> Any:
    """A cube of 4 cm; its middle is `low` [m] above the point that is observed."""
    body = thing(spec, mass * values.mass, moments, (0.0, 0.0, low))
    box = add_box(body, (0.0, 0.0, low), (0.02, 0.02, 0.02), ORANGE, condim=4, **HARD)
    box.friction = (friction[0] * values.friction, *friction[1:])
    return body


def ball(spec: Any, values: Any, radius: float, mass: float, color: Any) -> Any:
    """A ball, solid to MuJoCo, m and kg."""
    import mujoco

    body = thing(spec, mass * values.mass, (0.4 * mass * values.mass * radius**2,) * 3)
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=(radius, 0.0, 0.0), rgba=color, **HARD)
    roughen(body, values)
    return body


def thing(spec: Any, mass: float, moments: Any, center: Any = (0.0, 0.0, 0.0)) -> Any:
    """The body with a free joint whose position and attitude are observed; its shapes follow."""
    body = spec.worldbody.add_body(name="thing", pos=(0.0, 0.6, 0.02))
    body.add_freejoint(name="thing")
    set_inertia(body, mass, center, UPRIGHT, moments)
    observe(spec, "thing", "BODY", attitude=True)
    return body


def add_puck(spec: Any, values: Any) -> None:
    """A puck."""
    puck(spec, values)


def add_puck_and_wall(spec: Any, values: Any) -> None:
    """A puck before a low wall."""
    puck(spec, values)
    add_box(spec.worldbody, *WALL, PALE, **HARD)


def add_flat_puck_and_wall(spec: Any, values: Any) -> None:
    """A flat puck before a low wall."""
    puck(spec, values, 0.03, 0.015)
    add_box(spec.worldbody, *WALL, PALE, **HARD)


def add_rough_cube(spec: Any, values: Any) -> None:
    """A cube that does not turn, twice as rough as pucks."""
    cube(spec, values, 0.75, LEVEL, ROUGH)


def add_cube(spec: Any, values: Any) -> None:
    """A cube of which the middle of the bottom is observed."""
    cube(spec, values, 0.1, (2.66667e-5 * values.mass,) * 3, FLAT, 0.02)


def add_cube_and_hole(spec: Any, values: Any) -> None:
    """A light cube that does not turn, on a table that is 5 cm higher and has a hole of 16 cm."""
    cube(spec, values, 0.01, LEVEL)
    for place, size in (
        ((0.0, 0.48, 0.0), (0.08, 0.28, 0.05)),
        ((-0.39, 0.6, 0.0), (0.31, 0.4, 0.05)),
        ((0.39, 0.6, 0.0), (0.31, 0.4, 0.05)),
        ((0.0, 0.96, 0.0), (0.08, 0.04, 0.05)),
    ):
        add_box(spec.worldbody, place, size, LIGHT, **STANDING)


def add_puck_in_pit(spec: Any, values: Any) -> None:
    """A light puck that does not turn, in a pit of the table, 30 cm square and 5 cm deep."""
    import mujoco

    body = thing(spec, 0.01 * values.mass, LEVEL)
    disc = body.add_geom(type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=(0.02, 0.02, 0.0), rgba=ORANGE, **HARD)
    disc.condim, disc.friction = 4, (values.friction, 0.1, 0.002)
    for place, size in (
        ((0.0, 0.425, 0.027), (0.7, 0.225, 0.027)),
        ((0.0, 0.975, 0.027), (0.15, 0.025, 0.027)),
        ((-0.425, 0.825, 0.027), (0.275, 0.175, 0.027)),
        ((0.425, 0.825, 0.027), (0.275, 0.175, 0.027)),
    ):
        add_box(spec.worldbody, place, size, LIGHT, solref=(0.005, 0.1), **STANDING)


def add_cube_and_shelf(spec: Any, values: Any) -> None:
    """A light cube that does not turn, and a shelf with a board 25 cm above the table."""
    cube(spec, values, 0.01, LEVEL, ROUGH)
    shelf = fixture(spec)
    for place, size, color in (
        ((-0.11, 0.0, 0.32), (0.01, 0.1, 0.32), WHITE),
        ((0.11, 0.0, 0.32), (0.01, 0.1, 0.32), WHITE),
        ((0.0, 0.0, 0.65), (0.12, 0.1, 0.01), WHITE),
        ((0.0, -0.015, 0.24), (0.1, 0.095, 0.01), PALE),
        ((0.0, -0.015, 0.05), (0.1, 0.095, 0.01), PALE),
        ((0.0, 0.09, 0.32), (0.1, 0.01, 0.32), WHITE),
        ((0.0, -0.008, 0.021), (0.1, 0.088, 0.021), WHITE),
    ):
        add_box(shelf, place, size, color, contype=0, **HARD)


def add_cube_and_bins(spec: Any, values: Any) -> None:
    """A cube in one of two bins that stand side by side."""
    cube(spec, values, 0.1, (2.66667e-5 * values.mass,) * 3, FLAT)
    open_box(spec.worldbody, -0.12, 0.7, BLUE)
    open_box(spec.worldbody, 0.12, 0.7, PALE)


def add_ball_and_net(spec: Any, values: Any) -> None:
    """A small football and a football goal, open in front, whose back leans forwards."""
    ball(spec, values, 0.026, 0.04, ORANGE)
    net = fixture(spec)
    lean = math.atan2(0.05, 0.165)
    for x in (-0.0965, 0.0965):
        add_box(net, (x, -0.012, 0.0825), (0.0062, 0.052, 0.0825), WHITE, **HARD)
    add_box(net, (0.0, -0.025, 0.1593), (0.0905, 0.0386, 0.0057), WHITE, **HARD)
    back = add_box(net, (0.0, 0.0312, 0.0825), (0.1027, 0.007, 0.086), PALE, **HARD)
    back.quat = (math.cos(0.5 * lean), math.sin(0.5 * lean), 0.0, 0.0)


def add_ball_and_hoop(spec: Any, values: Any) -> None:
    """A basketball, and a hoop on a board."""
    ball(spec, values, 0.03, 0.1, ORANGE)
    board = fixture(spec)
    add_box(board, (0.0, 0.0, 0.29), (0.1, 0.01, 0.07), WHITE, **HARD)
    rod(board, (0.0, 0.0, 0.118), "z", 0.007, 0.108, METAL)
    rod(board, (0.0, 0.0, 0.005), "z", 0.013, 0.005, METAL)
    add_box(board, (0.0, -0.023, 0.25), (0.01, 0.014, 0.004), RED, **HARD)
    for x, y in ring(0.0445, 0.0445):
        dx, dy = -0.36 * y, 0.36 * x
        bar(board, (x - dx, y - 0.083 - dy, 0.249), (x + dx, y - 0.083 + dy, 0.249), 0.01, RED)


def add_mug_and_machine(spec: Any, values: Any) -> None:
    """A mug with a handle on its right, and a coffee machine with a button, which is not needed here."""
    mass = 0.11 * values.mass
    mug = thing(spec, mass, (0.0, 0.0, 0.0))
    set_inertia(
        *(mug, mass, (0.00309, 0.0, 0.03564), (0.69975, 0.10178, 0.1018, 0.69974)),
        tuple(values.mass * each for each in (6.88545e-5, 5.80719e-5, 5.01493e-5)),
    )
    rod(mug, (0.0, 0.0, 0.035), "z", 0.028, 0.033, ORANGE)
    rod(mug, (0.034, 0.0, 0.042), "y", 0.02, 0.005, ORANGE)
    roughen(mug, values)
    machine = coffee_machine(spec, PALE, BLUE)
    rod(machine, (0.0, -0.19, 0.3), "y", 0.032, 0.03, RED)


def add_peg(spec: Any, values: Any) -> None:
    """A peg that does not turn, and a block with a hole."""
    import mujoco

    body = spec.worldbody.add_body(name="peg", pos=(0.0, 0.6, 0.03))
    body.add_joint(name="peg", type=mujoco.mjtJoint.mjJNT_FREE, damping=0.005)
    set_inertia(body, 0.1 * values.mass, (0.0, 0.0, 0.0), UPRIGHT, LEVEL)
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


def add_plug(spec: Any, values: Any) -> None:
    """A plug with a thick head that sticks in a socket; the middle of the head is observed."""
    import mujoco

    mass = 0.08 * values.mass
    body = spec.worldbody.add_body(name="plug", pos=(-0.1, 0.6, 0.131))
    body.add_freejoint(name="plug")
    set_inertia(
        *(body, mass, (-0.01288, 0.0, 0.0), (0.0, 0.70713, 0.0, 0.70709)),
        tuple(values.mass * each for each in (1.304513e-4, 1.304513e-4, 4.415166e-5)),
    )
    sphere = mujoco.mjtGeom.mjGEOM_SPHERE
    body.add_geom(type=sphere, size=(0.03, 0.0, 0.0), pos=(-0.035, 0.0, 0.0), rgba=METAL, **HARD)
    rod(body, (-0.013, 0.0, 0.0), "x", 0.045, 0.007, ORANGE)
    body.add_geom(type=sphere, size=(0.04, 0.0, 0.0), pos=(0.06, 0.0, 0.0), rgba=ORANGE, **HARD)
    add_box(body, (0.025, 0.0, 0.0), (0.035, 0.038, 0.038), ORANGE, **HARD)
    roughen(body, values)
    body.add_site(name="thing", pos=(0.04, 0.0, 0.0), rgba=HIDDEN)
    observe(spec, "thing", "SITE", attitude=True)
    socket = fixture(spec)
    for place, size in (
        ((0.0, 0.061, 0.131), (0.025, 0.039, 0.022)),
        ((0.0, 0.0, 0.176), (0.025, 0.1, 0.023)),
        ((0.0, 0.0, 0.054), (0.025, 0.1, 0.055)),
        ((0.0, 0.056, 0.083), (0.025, 0.045, 0.011)),
        ((0.0, -0.061, 0.131), (0.025, 0.039, 0.022)),
    ):
        add_box(socket, place, size, BLUE, **HARD)


def add_lid_and_box(spec: Any, values: Any) -> None:
    """A lid with a handle, solid below its plate as to the original's contacts, and an open box."""
    mass = 0.25 * values.mass
    body = spec.worldbody.add_body(name="lid", pos=(0.0, 0.6, 0.02))
    body.add_freejoint(name="lid")
    moments = tuple(values.mass * each for each in (1.802774e-3, 1.390524e-3, 1.090102e-3))
    set_inertia(body, mass, (0.0, 0.0, 0.10628), (0.5, 0.5, -0.5, 0.5), moments)
    add_box(body, (0.0, 0.0, 0.0709), (0.115, 0.115, 0.0117), ORANGE)
    add_box(body, (0.0, 0.0, 0.1216), (0.008, 0.058, 0.0424), ORANGE)
    for start, end in (
        ((0.0, -0.05, 0.157), (0.0, 0.05, 0.157)),
        ((0.0, -0.05, 0.083), (0.0, -0.05, 0.153)),
        ((0.0, 0.05, 0.083), (0.0, 0.05, 0.153)),
    ):
        bar(body, start, end, 0.008, DARK, condim=4)
    roughen(body, values)
    body.add_site(name="thing", pos=(0.0, 0.0, 0.075), rgba=HIDDEN)
    observe(spec, "thing", "SITE", attitude=True)
    open_box(fixture(spec), 0.0, 0.0, BLUE)


def add_hammer_and_nail(spec: Any, values: Any) -> None:
    """A hammer with two faces, and a nail that slides into a block."""
    moments = tuple(values.mass * each for each in (5.51808e-3, 3.67168e-3, 2.40685e-3))
    hammer = thing(spec, 1.1 * values.mass, moments, (0.14545, 0.0, 0.0))
    hammer.iquat = (0.0, math.sqrt(0.5), 0.0, math.sqrt(0.5))
    bar(hammer, (-0.14, 0.0, 0.0), (0.14, 0.0, 0.0), 0.02, ORANGE)
    rod(hammer, (0.16, 0.0, 0.0), "x", 0.026, 0.025, METAL)
    for side in (-1.0, 1.0):
        rod(hammer, (0.16, 0.026 * side, 0.0), "y", 0.02, 0.015, METAL)
        rod(hammer, (0.16, 0.056 * side, 0.0), "y", 0.038, 0.016, METAL)
    roughen(hammer, values)
    hammer.add_site(name="mark", pos=(0.16, 0.0, 0.0), rgba=HIDDEN)
    add_sensor(spec, "mark", "FRAMEPOS", "mark", "SITE")
    for place, size in (
        ((0.24, 0.85, 0.172), (0.1, 0.1, 0.048)),
        ((0.298, 0.85, 0.11), (0.042, 0.1, 0.014)),
        ((0.182, 0.85, 0.11), (0.042, 0.1, 0.014)),
        ((0.24, 0.85, 0.048), (0.1, 0.1, 0.048)),
    ):
        add_box(spec.worldbody, place, size, WOOD, **HARD)
    nail = spec.worldbody.add_body(name="second", pos=(0.24, 0.64, 0.11))
    set_inertia(nail, 0.08859, (0.0, 0.02426, 0.0), UPRIGHT, (1.2937e-4, 2.47872e-5, 1.2937e-4))
    slide(nail, values, (0.0, 1.0, 0.0), (0.0, 0.1), 2.0)
    rod(nail, (0.0, 0.057, 0.0), "y", 0.01, 0.06, DARK)
    rod(nail, (0.0, 0.0, 0.0), "y", 0.03, 0.009, RED)
    observe(spec, "second", "BODY", attitude=True)


def add_nut_and_peg(spec: Any, values: Any) -> None:
    """A nut, eight capsules in a ring with a handle, and a peg that stands upright."""
    mass = 0.22 * values.mass
    body = spec.worldbody.add_body(name="nut", pos=(0.1, 0.6, 0.02))
    body.add_freejoint(name="nut")
    moments = tuple(values.mass * each for each in (1.130549e-3, 9.179104e-4, 2.471352e-4))
    set_inertia(body, mass, (0.0, -0.03273, 0.0), (0.5, 0.5, -0.5, 0.5), moments)
    for x, y in ring(0.048, 0.0509):
        length = math.hypot(x, y)
        dx, dy = -0.015 * y / length, 0.015 * x / length
        bar(body, (x - dx, y - dy, 0.0), (x + dx, y + dy, 0.0), 0.019, ORANGE)
    add_box(body, (0.0, -0.13, 0.0), (0.019, 0.038, 0.016), ORANGE, **HARD)
    rod(body, (0.0, -0.1, 0.0), "y", 0.012, 0.05, ORANGE)
    roughen(body, values)
    body.add_site(name="thing", pos=(0.0, -0.13, 0.0), rgba=HIDDEN)
    body.add_site(name="mark", pos=(0.0, 0.0, 0.0), rgba=HIDDEN)
    observe(spec, "thing", "SITE", attitude=True)
    add_sensor(spec, "mark", "FRAMEPOS", "mark", "SITE")
    peg = fixture(spec)
    rod(peg, (0.0, 0.0, 0.0), "z", 0.02, 0.05, BLUE)
    peg.first_geom().solref, peg.first_geom().solimp[:3] = (0.02, 1.0), (0.9, 0.95, 0.001)


def ring(straight: float, slanted: float) -> list[tuple[float, float]]:
    """Eight places around an axis: at these distances along the axes and between them, m."""
    far = [straight, slanted] * 4
    return [(far[k] * math.cos(0.5 * TURN * k), far[k] * math.sin(0.5 * TURN * k)) for k in range(8)]


def open_box(body: Any, x: float, y: float, color: Any) -> None:
    """A box of 20 cm, 6 cm high, without a lid, with its middle there, m."""
    for place, size in (
        ((x, y - 0.095, 0.03), (0.1, 0.005, 0.03)),
        ((x, y + 0.095, 0.03), (0.1, 0.005, 0.03)),
        ((x + 0.095, y, 0.03), (0.005, 0.09, 0.03)),
        ((x - 0.095, y, 0.03), (0.005, 0.09, 0.03)),
        ((x, y, 0.005), (0.1, 0.1, 0.005)),
    ):
        add_box(body, place, size, color, contype=0, **HARD)


def add_stick_and_jug(spec: Any, values: Any, y: float = 0.6, seen: float = 0.0) -> None:
    """A stick, and a jug with a handle that slides over the table from this y; at `seen` along its y lies the point
    that is observed."""
    moments = tuple(values.mass * each for each in (5.33333e-6, 1.93333e-5, 1.93333e-5))
    stick = thing(spec, 0.02 * values.mass, moments)
    box = add_box(stick, (0.0, 0.0, 0.0), (0.05, 0.02, 0.02), ORANGE, condim=4)
    box.solref, box.solimp[:3], box.friction = (0.02, 1.0), (0.998, 0.998, 0.001), (values.friction, 0.005, 0.0001)
    stick.add_site(name="mark", pos=(0.05, 0.0, 0.0), rgba=HIDDEN)
    add_sensor(spec, "mark", "FRAMEPOS", "mark", "SITE")
    jug = spec.worldbody.add_body(name="jug", pos=(0.2, y, 0.0))
    set_inertia(jug, 3.2678 * values.mass, (0.0, -0.00201, 0.14315), UPRIGHT, (0.0286943, 0.0279374, 0.0062796))
    slide(jug, values, (1.0, 0.0, 0.0), (-0.2, 0.2), 1.0)
    slide(jug, values, (0.0, 1.0, 0.0), (0.4 - y, 0.8 - y), 1.0)
    rod(jug, (0.0, 0.0, 0.2422), "z", 0.0515, 0.0022, METAL)
    rod(jug, (0.0, 0.0, 0.2872), "z", 0.0474, 0.0428, METAL)
    rod(jug, (0.0, 0.0, 0.14), "z", 0.06, 0.1, BLUE)
    rod(jug, (0.0, 0.0, 0.02), "z", 0.062, 0.02, METAL)
    add_box(jug, (0.0, -0.135, 0.132), (0.01, 0.005, 0.068), DARK, **HARD)
    add_box(jug, (0.0, -0.09, 0.195), (0.01, 0.04, 0.005), DARK, **HARD)
    add_box(jug, (0.0, -0.09, 0.069), (0.01, 0.04, 0.005), DARK, **HARD)
    jug.add_site(name="second", pos=(0.0, seen, 0.132), rgba=HIDDEN)
    observe(spec, "second", "SITE", attitude=False)


def add_stick_and_hook(spec: Any, values: Any) -> None:
    """The same; the handle is observed."""
    add_stick_and_jug(spec, values, 0.69, -0.09)
