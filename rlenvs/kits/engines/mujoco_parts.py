"""Parts of MuJoCo models: cameras, sensors, markers of goals."""

from __future__ import annotations

from typing import Any


def add_camera(spec: Any, name: str, eye: tuple[float, ...], focus: tuple[float, ...], fov: float) -> Any:
    """A camera in the world.

    Args:
        eye, focus: where it is and what it looks at, m.
        fov: vertical field of view, degrees.
    """
    import mujoco
    import numpy as np

    back = np.subtract(eye, focus)
    right = np.cross((0.0, 0.0, 1.0), back)
    axes = np.stack([right, np.cross(back, right), back], axis=1)
    attitude = np.zeros(4)
    mujoco.mju_mat2Quat(attitude, (axes / np.linalg.norm(axes, axis=0)).ravel())
    return spec.worldbody.add_camera(name=name, pos=eye, quat=attitude, fovy=fov)


def add_sensor(spec: Any, name: str, kind: str, target: str, of: str = "BODY") -> None:
    """A sensor whose reading goes to the state field `name`.

    Args:
        kind: of `mjtSensor`, without "mjSENS_": FRAMEPOS, FRAMEQUAT, FRAMELINVEL, FRAMEANGVEL, TOUCH, FORCE, ...
        target: what is sensed, a name of the kind `of`: BODY (its frame's origin), SITE, GEOM, ...
    """
    import mujoco

    sensor = spec.add_sensor(name=name, objname=target, type=getattr(mujoco.mjtSensor, f"mjSENS_{kind}"))
    sensor.objtype = getattr(mujoco.mjtObj, "mjOBJ_XBODY" if of == "BODY" else f"mjOBJ_{of}")


def add_contact_sensor(spec: Any, name: str, body: str, other: str = "", of: str = "XBODY") -> None:
    """A sensor of the net contact force, N, world axes, that a body and its children exert on all else, or on `other`.

    Args:
        other: another body, with its children, or a thing of the kind `of`: XBODY, GEOM, ...
    """
    import mujoco

    sensor = spec.add_sensor(name=name, objname=body, type=mujoco.mjtSensor.mjSENS_CONTACT)
    sensor.objtype = mujoco.mjtObj.mjOBJ_XBODY
    if other:
        sensor.refname, sensor.reftype = other, getattr(mujoco.mjtObj, f"mjOBJ_{of}")
    net_force = 3  # how contacts are reduced: to their sum
    sensor.intprm[:3] = (1 << int(mujoco.mjtConDataField.mjCONDATA_FORCE), net_force, 1)


def add_goal(
    spec: Any, name: str, size: float, color: tuple[float, ...] = (0.0, 0.62, 0.45, 0.5), shape: str = "SPHERE"
) -> None:
    """A marker that nothing collides with: a mocap body with a translucent ball of the radius `size`, or with a box of
    that half side."""
    import mujoco

    body = spec.worldbody.add_body(name=name, mocap=True)
    body.add_site(name=name, type=getattr(mujoco.mjtGeom, f"mjGEOM_{shape}"), size=(size, size, size), rgba=color)
