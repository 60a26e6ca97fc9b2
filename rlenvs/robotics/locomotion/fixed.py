"""Models of the machines that stay where they are: pendulums on a rail, arms on a table."""

from __future__ import annotations

from typing import Any

from rlenvs.robotics.locomotion.robots import SKY, asset, watch

GREEN, PAPER = (0.16, 0.60, 0.30, 1.0), (0.93, 0.94, 0.92, 1.0)
STEEL, BLUE, ORANGE = (0.45, 0.49, 0.54, 1.0), (0.20, 0.45, 0.70, 1.0), (0.90, 0.55, 0.15, 1.0)


def machine(file: str, values: Any, eye: tuple[float, float, float], down: float) -> Any:
    """One of Gymnasium's models as an `MjSpec`, with a light and a camera that stand still.

    Args:
        file: such as "reacher.xml".
        values: parameters, with `strength`; `gravity` where there is one.
        eye: where the camera is [m].
        down: by how much it looks down [rad].
    """
    import mujoco

    spec = asset(file)
    if hasattr(values, "gravity"):
        spec.option.gravity = (*spec.option.gravity[:2], -values.gravity)
    for motor in spec.actuators:
        motor.gear = motor.gear * values.strength
    for light in spec.lights:
        spec.delete(light)
    sun = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
    spec.worldbody.add_light(type=sun, pos=(0.3, -0.3, 2.0), dir=(-0.3, 0.4, -1.0), diffuse=(0.5, 0.5, 0.5))
    sky = spec.add_texture(name="sky", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, width=64, height=64)
    sky.builtin, (sky.rgb1, sky.rgb2) = mujoco.mjtBuiltin.mjBUILTIN_GRADIENT, SKY
    watch(spec.worldbody, eye, down, follow=False)
    return spec


def disc(body: Any, radius: float, color: tuple[float, ...]) -> None:
    """Mark the place of a body by a disc, which is no part of the physics."""
    import mujoco

    body.add_site(type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=(radius, 0.002, 0.0), rgba=color)


def on_rail(file: str, values: Any) -> Any:
    """A cart with poles."""
    spec = machine(file, values, eye=(0.0, -3.1, 0.75), down=0.12)
    for name, color in (("rail", STEEL), ("cart", BLUE), ("cpole", ORANGE), ("cpole2", (0.80, 0.40, 0.10, 1.0))):
        shape = spec.geom(name)
        if shape is not None:
            shape.rgba = color
    floor = spec.geom("floor")
    if floor is not None:
        floor.rgba = PAPER
    return spec
