"""Images of MuJoCo worlds, drawn off screen by OpenGL: EGL, or OSMesa where there is none."""

from __future__ import annotations

import importlib
import os
import sys
import threading
import weakref
from typing import Any

import numpy as np

from rlenvs.core.declare.errors import RenderError

OFF = ("disable", "disabled", "off", "false", "0")
ON = ("", "enable", "enabled", "on", "true", "1")
MOST_SHAPES = 2000  # in an image
# of fine images, so that 25 per second can be drawn without a graphics card: shadow maps and round bodies no finer
# than one sees at 512 pixels; several samples per pixel would double the time, so edges are smoothed afterwards
SHADOW_SIZE, SLICES, STACKS = 1024, 20, 12
EDGE = 16  # difference of brightness between neighbours, of 255


class Painter:
    """Draws what cameras of a model see, in one size. `close` frees its memory, as does being forgotten.

    Args:
        model: an MjModel; others that differ in numbers only may be drawn as well.
        width, height: pixels.
        fine: with shadows and smooth edges, for people.

    Raises:
        RenderError: there is no OpenGL.
    """

    def __init__(self, model: Any, width: int, height: int, fine: bool) -> None:
        import mujoco

        self._mujoco = mujoco
        self._fine = fine
        self._context = gl_context(width, height)
        _use(self._context)
        self._paint = self._painting(model, width, height)
        self.close = weakref.finalize(self, _free, self._paint, self._context)  # may be called twice
        self.close.atexit = False
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._paint)
        self._scene, self._options = mujoco.MjvScene(model, MOST_SHAPES), mujoco.MjvOption()
        self._frame = mujoco.MjrRect(0, 0, width, height)
        self._colors, self._depths = np.zeros((height, width, 3), np.uint8), np.zeros((height, width), np.float32)
        self._camera = mujoco.MjvCamera()

    def _painting(self, model: Any, width: int, height: int) -> Any:
        """OpenGL's side of the model, for images of this size."""
        size, quality = model.vis.global_, model.vis.quality
        wanted: list[tuple[Any, str, int]] = [(size, "offwidth", width), (size, "offheight", height)]
        wanted.append((quality, "offsamples", 0))
        if self._fine:
            most = {"shadowsize": SHADOW_SIZE, "numslices": SLICES, "numstacks": STACKS}
            wanted += [(quality, name, min(getattr(quality, name), limit)) for name, limit in most.items()]
        usual = [(record, name, getattr(record, name)) for record, name, _ in wanted]
        try:
            for setting in wanted:
                setattr(*setting)
            return self._mujoco.MjrContext(model, self._mujoco.mjtFontScale.mjFONTSCALE_100.value)
        finally:
            for setting in usual:
                setattr(*setting)

    def colors(self, model: Any, data: Any, camera: str) -> np.ndarray:
        """What a camera sees, uint8 (height, width, 3); a view from the side where the model has no such camera."""
        self._look(model, data, camera)
        flags = self._scene.flags
        flags[self._mujoco.mjtRndFlag.mjRND_SHADOW] = self._fine
        flags[self._mujoco.mjtRndFlag.mjRND_REFLECTION] &= not self._fine  # it would draw everything once more
        self._mujoco.mjr_render(self._frame, self._scene, self._paint)
        self._mujoco.mjr_readPixels(self._colors, None, self._frame, self._paint)
        image = self._colors[::-1]  # OpenGL begins at the bottom
        return smoothed(image) if self._fine else image

    def distances(self, model: Any, data: Any, camera: str) -> np.ndarray:
        """The distances along the camera's axis, float32 (height, width), m; infinite where nothing is."""
        self._look(model, data, camera)
        self._scene.flags[self._mujoco.mjtRndFlag.mjRND_SHADOW] = False
        self._mujoco.mjr_render(self._frame, self._scene, self._paint)
        self._mujoco.mjr_readPixels(None, self._depths, self._frame, self._paint)
        near, far = (model.stat.extent * end for end in (model.vis.map.znear, model.vis.map.zfar))
        depths = self._depths[::-1].astype(np.float64)  # 0 near, 1 far
        with np.errstate(divide="ignore"):
            found = near * far / (far - depths * (far - near))
        return np.where(depths < 1.0, found, np.inf).astype(np.float32)

    def _look(self, model: Any, data: Any, name: str) -> None:
        mujoco, camera = self._mujoco, self._camera
        camera.fixedcamid = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_CAMERA, name)
        if camera.fixedcamid >= 0:
            camera.type = mujoco.mjtCamera.mjCAMERA_FIXED.value
        else:
            mujoco.mjv_defaultFreeCamera(model, camera)
        everything = mujoco.mjtCatBit.mjCAT_ALL.value
        _use(self._context)
        if self._fine:  # endless floors are laid around the camera, which would be that of the image before
            mujoco.mjv_updateCamera(model, data, camera, self._scene)
        mujoco.mjv_updateScene(model, data, self._options, None, camera, everything, self._scene)


_current = threading.local()  # `context`: the one in which this thread draws


def _use(context: Any) -> None:
    context.make_current()
    _current.context = context


def _free(paint: Any, context: Any) -> None:
    """Free what belongs to a painter.

    In its own context: in another one the same numbers stand for what another painter draws with. And back to where it
    was then, since Python may collect the painter of a forgotten environment while another one draws.
    """
    before = getattr(_current, "context", None)
    context.make_current()
    paint.free()
    context.free()
    if before is context:
        _current.context = None
    elif before is not None:
        before.make_current()


def smoothed(image: np.ndarray) -> np.ndarray:
    """An image, uint8 (height, width, 3), whose edges are softened and whose surfaces stay as they are."""
    light = image[:, :, 1].astype(np.int16)
    edge = np.zeros(light.shape, np.bool_)
    across, down = np.abs(np.diff(light, axis=1)) > EDGE, np.abs(np.diff(light, axis=0)) > EDGE
    edge[:, 1:] |= across
    edge[:, :-1] |= across
    edge[1:] |= down
    edge[:-1] |= down
    wide = image.astype(np.uint16)
    rows = 2 * wide[1:-1] + wide[:-2] + wide[2:]
    mean = (2 * rows[:, 1:-1] + rows[:, :-2] + rows[:, 2:]) >> 4
    soft = image.copy()
    np.copyto(soft[1:-1, 1:-1], mean.astype(np.uint8), where=edge[1:-1, 1:-1, None])
    return soft


def gl_context(width: int, height: int) -> Any:
    """A new context of OpenGL without a window, made current.

    The environment variable MUJOCO_GL chooses egl, osmesa or glfw; without it the first that works is taken.

    Raises:
        RenderError: none works.
    """
    wanted = os.environ.get("MUJOCO_GL", "").lower().strip()
    reasons = []
    for backend in _backends(wanted):
        try:
            context = importlib.import_module(f"mujoco.{backend}").GLContext(width, height)
            context.make_current()
        except Exception as error:
            reasons.append(f"{backend}: {error or type(error).__name__}")
            _forget_opengl()
        else:
            return context
    why = "; ".join(reasons) or f"it is disabled by MUJOCO_GL={wanted}"
    raise RenderError(
        "images of MuJoCo worlds need OpenGL, which does not work here; install EGL or OSMesa (Debian, Ubuntu: apt "
        "install "
        f"libegl1, or libosmesa6). {' '.join(why.split())}"
    )


def _backends(wanted: str) -> tuple[str, ...]:
    if wanted in OFF:
        return ()
    if wanted not in ON:
        return ({"glx": "glfw", "wgl": "glfw"}.get(wanted, wanted),)
    if sys.platform == "linux":
        return ("egl", "osmesa", *(("glfw",) if os.environ.get("DISPLAY") else ()))
    return ("cgl", "glfw") if sys.platform == "darwin" else ("glfw",)


_platform = os.environ.get("PYOPENGL_PLATFORM")


def _forget_opengl() -> None:
    """PyOpenGL serves one backend in a process; after a failure the next one has to load it anew."""
    for name in [name for name in sys.modules if name.split(".")[0] == "OpenGL"]:
        del sys.modules[name]
    for name in [name for name in sys.modules if name.startswith(("mujoco.egl", "mujoco.osmesa"))]:
        del sys.modules[name]
    if _platform is None:
        os.environ.pop("PYOPENGL_PLATFORM", None)
