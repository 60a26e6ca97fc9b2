"""MuJoCo as the engine of a batch: `mujoco.batch.Batch` moves all worlds in one call, kernels do everything else.

The records of the worlds are the truth. A world's state has MuJoCo's whole integration state (`STATE`), warm start of
the solver included, so a restored snapshot goes on bit for bit, in the middle of a contact too.

How a world uses it:

    SPEC = world(..., state={**STATE, "grip": f8(3), ...}, engine=ENGINE, fps=25)

    @SPEC.model
    def model(values): ...          # an MjSpec; parameters of `values` go in where they belong

- The kernels `reset` and `act` write `s.qpos`, `s.qvel`, `s.ctrl`, `s.mocap_pos`, ... Before `reset` they hold the
  first keyframe, or else the initial state, of the model with the batch's common parameters: what depends on parameters
  of its own is for `reset` to write.
- A state field with the name of a sensor holds its reading at the end of the control step (forces and accelerations:
  in its last physics step); a field `grip` also those of the sensors `grip/0`, `grip/1`, ..., one after the other.
  A field with the name of an MjData array holds that array, too, in a world without sensors as `mj_step` leaves it:
  one physics step behind. A field without numbers holds nothing.
- A control step is 1 / fps seconds, in physics steps of the model's time step.
- A world with parameters of its own gets the fields of its own model: `model` is called with its values.
- Images in the observation are named after cameras of the model; `<camera>_depth` is the distance along the camera's
  axis, 255 is DEPTH_RANGE and more. They show what the physics left, before the kernel `outcome`.
- A state field `<camera>_cloud` (n, 3) holds n points [m] that the camera, which has to stand still, sees, in axes of
  the world; no OpenGL is needed. What is farther than CLOUD_RANGE lies at that distance.
"""

from __future__ import annotations

import functools
import gc
import math
import os
import warnings
import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np

from rlenvs.core.batch.loops import cores
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.layout import f8
from rlenvs.core.declare.spec import World
from rlenvs.kits.engines.images import Painter
from rlenvs.kits.engines.mujoco_versions import import_mujoco

ENGINE = "rlenvs.kits.engines.mujoco:MujocoEngine"

# MuJoCo's integration state, in its order
STATE = {
    "time": f8("ntime"),
    "qpos": f8("nq"),
    "qvel": f8("nv"),
    "act": f8("na"),
    "history": f8("nhistory"),
    "warmstart": f8("nv"),
    "ctrl": f8("nu"),
    "qfrc_applied": f8("nv"),
    "xfrc_applied": f8("nbody", 6),
    "eq_active": f8("neq"),
    "mocap_pos": f8("nmocap", 3),
    "mocap_quat": f8("nmocap", 4),
    "userdata": f8("nuserdata"),
    "plugin_state": f8("npluginstate"),
    "plastic": f8("nplastic"),
}
MOST_MODELS = 64  # kept of the last used settings
OVERVIEW = "overview"  # the camera of `render`, where the model has one of that name
DEPTH, CLOUD = "_depth", "_cloud"
DEPTH_RANGE = 2.0  # m, of images of distance
CLOUD_RANGE = 3.0  # m
SPREAD = np.array([0.7548776662466927, 0.5698402909980532])  # R2, Roberts' sequence of evenly spread points


class MujocoEngine:
    """The worlds of a batch as one `mujoco.batch.Batch`.

    Args:
        batch: an EngineBatch of a world with the state fields `STATE`.

    Raises:
        MissingExtraError: mujoco is not installed.
        ParameterError: MuJoCo refuses the model.
    """

    def __init__(self, batch: Any) -> None:
        mujoco = import_mujoco()
        self._mujoco = mujoco
        self.batch = batch
        self.model = compiled(batch.world, batch.setup.values)
        self.steps = _physics_steps(batch.setup.fps, self.model, batch.world)
        self._everyone = np.arange(batch.num_envs)
        self._threads = min(batch.threads or cores(), batch.num_envs)
        self._painters: dict[tuple[int, int, bool], Painter] = {}
        self._data: Any = None
        self._simulate()
        _rows(batch.blank, self.simulations.nstate)[:] = _initial_state(mujoco, self.model)
        self._aim_rays()
        _engines.add(self)

    def _simulate(self) -> None:
        """Make the simulations, all of the common model."""
        batch = self.batch
        self.simulations = self._mujoco.batch.Batch(self.model, batch.num_envs, self._threads)
        self._warnings = self.simulations.warning[:, : int(self._mujoco.mjtWarning.mjWARN_BADCTRL), 1]
        self._rows = _rows(batch.states, self.simulations.nstate)
        self._connect_outputs()
        self._loaded = [batch.setup.params_row().tobytes()] * batch.num_envs  # the parameters of each simulation
        self._own_models = False

    def survive_fork(self) -> None:
        """In a child process: make the simulations anew, since their threads and their images stayed with the parent.

        The old ones are kept: to free them, MuJoCo would wait for threads that are not there.
        """
        _orphans.extend([self.simulations, *self._painters.values()])
        self._painters.clear()
        if self._threads > 1:
            self._simulate()
            self.adopt(self._everyone)

    def _connect_outputs(self) -> None:
        """Where readings go in the state: pairs of views, (field of the record, array of MuJoCo), as few as can be."""
        states, model, readings = self.batch.states, self.model, self.simulations.bind("sensordata")
        runs: list[list[int]] = []  # offset in the record, address in sensordata, numbers
        self._outputs: list[tuple[np.ndarray, np.ndarray]] = []
        for name, (dtype, offset, *_) in states.dtype.fields.items():
            if name in STATE or name in ("elapsed", "over", "alive", "rng"):
                continue
            sensors = [sensor for sensor in (self._sensor(name), *self._numbered(name)) if sensor >= 0]
            if sensors:
                address, size = int(model.sensor_adr[sensors[0]]), int(model.sensor_dim[sensors].sum())
                if dtype.itemsize != 8 * size or dtype.base != np.float64:
                    raise ParameterError(
                        f"{self.batch.world.name}: the state field {name!r} needs f8 and {size} numbers"
                    )
                if runs and runs[-1][0] + 8 * runs[-1][2] == offset and runs[-1][1] + runs[-1][2] == address:
                    runs[-1][2] += size
                else:
                    runs.append([offset, address, size])
            elif name in self._mujoco.batch.DATA_FIELDS and dtype.itemsize:
                self._outputs.append((states[name], self.simulations.bind(name)))
        for offset, address, size in runs:
            field = np.ndarray((len(states), size), np.float64, states.data, offset, (states.dtype.itemsize, 8))
            self._outputs.append((field, readings[:, address : address + size]))
        stage = self._mujoco.mjtStage
        self._stage = int(stage.mjSTAGE_VEL if runs else stage.mjSTAGE_NONE)

    def _sensor(self, name: str) -> int:
        return self._mujoco.mj_name2id(self.model, self._mujoco.mjtObj.mjOBJ_SENSOR, name)

    def _numbered(self, name: str) -> list[int]:
        """The sensors name/0, name/1, ..., which have to follow each other in the model."""
        sensors: list[int] = []
        while self._sensor(f"{name}/{len(sensors)}") >= 0:
            sensors.append(self._sensor(f"{name}/{len(sensors)}"))
        return sensors

    # --- what the batch calls -----------------------------------------------------------------------------------------

    def place(self, worlds: np.ndarray, begun: bool) -> None:
        """Take over states and parameters of some worlds; fill the readings of new episodes."""
        if not len(worlds):
            return
        self.adopt(worlds)
        if begun:
            ids = self._select(worlds)
            self.simulations.state[ids] = self._rows[ids]
            self.simulations.forward(None if len(worlds) == len(self._rows) else worlds)
            self._rows[ids] = self.simulations.state[ids]
            self._read(ids)

    def move(self, worlds: np.ndarray) -> dict[int, str]:
        """Advance some worlds by a control step; returns why a world could not be moved, by world."""
        if not len(worlds):
            return {}
        simulations, ids = self.simulations, self._select(worlds)
        simulations.state[ids] = self._rows[ids]
        failed: dict[int, str] = {}
        try:
            simulations.step(None if len(worlds) == len(self._rows) else worlds, self.steps, self._stage)
        except self._mujoco.batch.SimulationError as error:
            failed = {int(i): simulations.error(int(i)) for i in error.ids}
        if self._warnings.any():
            failed |= self._diverged()
        if failed:
            ids = np.array([i for i in worlds.tolist() if i not in failed], np.int64)
        self._rows[ids] = simulations.state[ids]
        self._read(ids)
        return failed

    def _select(self, worlds: np.ndarray) -> Any:
        return slice(None) if len(worlds) == len(self._rows) else worlds

    def _read(self, ids: Any) -> None:
        for field, readings in self._outputs:
            field[ids] = readings[ids]
        if self._rays:
            self._scan(self._everyone[ids])

    def _diverged(self) -> dict[int, str]:
        """Why worlds with warnings could not go on; the counters start anew."""
        kinds = [
            "the inertia matrix is singular",
            "there are too many contacts for the allocated memory",
            "there are too many constraints for the allocated memory",
            "a position is not finite or too large",
            "a velocity is not finite or too large",
            "an acceleration is not finite or too large",
        ]
        reasons = {
            int(i): f"MuJoCo: {kinds[int(np.argmax(self._warnings[i] > 0))]}; the simulation is unstable"
            for i in np.flatnonzero(self._warnings.any(axis=1))
        }
        self._warnings[:] = 0
        return reasons

    # --- parameters ---------------------------------------------------------------------------------------------------

    def adopt(self, worlds: np.ndarray) -> None:
        """Give worlds whose parameters changed the fields of their own models.

        Raises:
            ParameterError: MuJoCo refuses the model of a world, or it is of another shape.
        """
        rows = self.batch.param_rows
        if len(rows) < self.batch.num_envs:  # all have those of the setup
            return
        before = b""
        own: tuple[dict[str, np.ndarray], set[str]] = {}, set()
        for i in worlds.tolist():
            row = rows[i].tobytes()
            if row != self._loaded[i]:
                if row != before:  # worlds with the same parameters share the work of compiling
                    before, own = row, self._own_model(rows[i])
                self._load_model(i, *own)
                self._loaded[i] = row

    def _own_model(self, row: Any) -> tuple[dict[str, np.ndarray], set[str]]:
        """The fields of the MjModel for a row of parameters, and the names of those that differ from the common one.

        Raises:
            ParameterError: MuJoCo refuses the model, or it is of another shape.
        """
        values = SimpleNamespace(**vars(self.batch.setup.values))
        for name in self.batch.world.params:
            setattr(values, name, float(row[name]))
        own = _compile(self.batch.world, values)
        fields = {name: _field(own, name) for name in self._mujoco.batch.MODEL_FIELDS}
        different = set()
        for name, value in fields.items():
            common = self._common[name]
            if value.shape != common.shape:
                raise ParameterError(f"{self.batch.world.name}: parameters may not change the shape of {name}")
            if value.tobytes() != common.tobytes() and not np.array_equal(value, common, equal_nan=True):
                different.add(name)
        return fields, different

    @functools.cached_property
    def _common(self) -> dict[str, np.ndarray]:
        """The fields of the common model."""
        return {name: _field(self.model, name) for name in self._mujoco.batch.MODEL_FIELDS}

    def _load_model(self, i: int, fields: dict[str, np.ndarray], different: set[str]) -> None:
        """Write the fields that differ between world i's own model and the common one into its simulation, and those in
        which another world differs."""
        self._own_models = True
        for name, value in fields.items():
            if name in different or self.simulations.expanded(name) is not None:
                target = self.simulations.expand(name)[i : i + 1]  # a view, of single numbers too
                target[...] = value[: target.shape[1]] if target.ndim > 1 else value

    # --- images -----------------------------------------------------------------------------------------------------

    def observe_images(self, worlds: np.ndarray) -> None:
        """Fill the images of some worlds."""
        for i in worlds.tolist():
            model, data = self._posed(i)
            for name, images in self.batch.images.items():
                painter = self._painter(images.shape[3], images.shape[2], False)
                camera = name.removesuffix(DEPTH)
                if camera == name:
                    images[i, 0] = painter.colors(model, data, camera)
                else:
                    near = np.minimum(painter.distances(model, data, camera) / DEPTH_RANGE, 1.0)
                    images[i, 0, :, :, 0] = np.round(255.0 * near)

    def camera_image(self, i: int, width: int, height: int) -> np.ndarray:
        """The image of world i by the camera `overview`, uint8 (height, width, 3)."""
        return self._painter(width, height, True).colors(*self._posed(i), OVERVIEW).copy()

    def _posed(self, i: int) -> tuple[Any, Any]:
        """The model of world i, and data in which all bodies are where its state says."""
        mujoco, simulations = self._mujoco, self.simulations
        simulations.state[i] = self._rows[i]
        if self._data is None:
            self._data = mujoco.MjData(self.model)
        model = simulations.get_model(i) if self._own_models else self.model
        data = simulations.get_data(i, self._data)
        for place in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_camlight, mujoco.mj_tendon):
            place(model, data)
        return model, data

    def _painter(self, *kind: Any) -> Painter:
        if kind not in self._painters:
            self._painters[kind] = Painter(self.model, *kind)
        return self._painters[kind]

    def close(self) -> None:
        """Free the memory of images. Can be called twice."""
        while self._painters:
            self._painters.popitem()[1].close()

    # --- clouds of points ---------------------------------------------------------------------------------------------

    def _aim_rays(self) -> None:
        """The rays of the state fields <camera>_cloud: field, eye and directions, as far apart in the image as can
        be."""
        self._rays: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for name in self.batch.states.dtype.names:
            field = self.batch.states[name]
            if not name.endswith(CLOUD) or not field.size:
                continue
            camera = self._mujoco.mj_name2id(self.model, self._mujoco.mjtObj.mjOBJ_CAMERA, name.removesuffix(CLOUD))
            if camera < 0 or self.model.cam_bodyid[camera]:
                raise ParameterError(
                    f"{self.batch.world.name}: {name} needs a camera {name.removesuffix(CLOUD)!r} that stands still"
                )
            across = np.arange(field.shape[1])[:, None] * SPREAD % 1.0 * 2.0 - 1.0
            slope = math.tan(0.5 * math.radians(self.model.cam_fovy[camera]))
            directions = np.hstack([across * slope, -np.ones((len(across), 1))])
            turn = self.model.cam_mat0[camera].reshape(3, 3)
            self._rays.append((field, self.model.cam_pos0[camera].copy(), directions @ turn.T))

    def _scan(self, worlds: np.ndarray) -> None:
        """Fill the clouds of some worlds; what is farther than CLOUD_RANGE, or nothing, lies at that distance."""
        for field, eye, directions in self._rays:
            distances, _ = self.simulations.ray(eye, directions, ids=worlds)
            far = CLOUD_RANGE / np.linalg.norm(directions, axis=1)
            distances = np.where((distances < 0.0) | (distances > far), far, distances)
            field[worlds] = eye + distances[:, :, None] * directions

    @staticmethod
    def sizes(world: World, values: Any) -> dict[str, int]:
        """The named sizes of a world's model."""
        return _model_sizes(import_mujoco(), compiled(world, values))


# --- forks ------------------------------------------------------------------------------------------------------------

_engines: weakref.WeakSet[MujocoEngine] = weakref.WeakSet()
_orphans: list[Any] = []


_forking = 0  # threads that are about to fork
_collecting = False  # whether garbage was collected before


def _hold_garbage() -> None:
    """No collection before `_survive_fork`: it would free simulations that nobody uses any more, and wait for their
    threads, which are not in the child."""
    global _forking, _collecting
    if not _forking:
        _collecting = gc.isenabled()
    _forking += 1
    gc.disable()


def _release_garbage() -> None:
    global _forking
    _forking -= 1
    if not _forking and _collecting:
        gc.enable()


def _survive_fork() -> None:
    global _forking
    for engine in list(_engines):
        engine.survive_fork()
    _forking = 1
    _release_garbage()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_garbage, after_in_parent=_release_garbage, after_in_child=_survive_fork)


# --- models -----------------------------------------------------------------------------------------------------------

_models: dict[str, Any] = {}


def compiled(world: World, values: Any) -> Any:
    """The MjModel of a world for the given values of parameters and options. Treat it as a constant.

    Raises:
        MissingExtraError: mujoco is not installed.
        ParameterError: MuJoCo refuses the model.
    """
    key = repr((world.name, id(world.functions.get("model")), sorted(vars(values).items())))
    if key not in _models:
        while len(_models) >= MOST_MODELS:
            del _models[next(iter(_models))]
        _models[key] = _compile(world, values)
    return _models[key]


def _compile(world: World, values: Any) -> Any:
    mujoco = import_mujoco()
    try:
        with warnings.catch_warnings():  # models of other packages may use what is going out of use
            warnings.filterwarnings("ignore", "compiler attribute")
            return world.functions["model"](values).compile()
    except ParameterError:
        raise
    except (ValueError, mujoco.FatalError) as error:
        raise ParameterError(f"{world.name}: MuJoCo refuses the model of these parameters: {error}") from error


def _field(model: Any, name: str) -> np.ndarray:
    """An array of an MjModel, or of its options where the name begins with "opt."."""
    return np.asarray(getattr(model.opt, name[4:]) if name.startswith("opt.") else getattr(model, name))


def _model_sizes(mujoco: Any, model: Any) -> dict[str, int]:
    """The named sizes of the fields of STATE."""
    state = mujoco.mjtState
    counts = {
        "ntime": state.mjSTATE_TIME,
        "nq": state.mjSTATE_QPOS,
        "nv": state.mjSTATE_QVEL,
        "na": state.mjSTATE_ACT,
        "nhistory": state.mjSTATE_HISTORY,
        "nu": state.mjSTATE_CTRL,
        "neq": state.mjSTATE_EQ_ACTIVE,
        "nuserdata": state.mjSTATE_USERDATA,
        "npluginstate": state.mjSTATE_PLUGIN,
        "nplastic": state.mjSTATE_PLASTIC,
    }
    sizes = {name: int(mujoco.mj_stateSize(model, int(part))) for name, part in counts.items()}
    return {**sizes, "nbody": int(model.nbody), "nmocap": int(model.nmocap)}


def _initial_state(mujoco: Any, model: Any) -> np.ndarray:
    """The integration state of the first keyframe, or else of fresh data."""
    data, whole = mujoco.MjData(model), int(mujoco.mjtState.mjSTATE_INTEGRATION)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    state = np.zeros(mujoco.mj_stateSize(model, whole))
    mujoco.mj_getState(model, data, state, whole)
    return state


def _rows(states: np.ndarray, size: int) -> np.ndarray:
    """The integration states in the records, as a view (worlds, size)."""
    fields = states.dtype.fields
    assert fields is not None
    start = fields["time"][1]
    ends = [fields[name][1] + fields[name][0].itemsize for name in STATE]
    assert max(ends) - start == 8 * size, "STATE is not MuJoCo's integration state"
    return np.ndarray((len(states), size), np.float64, states.data, start, (states.dtype.itemsize, 8))


def _physics_steps(fps: float, model: Any, world: World) -> int:
    """Physics steps per control step."""
    steps = 1.0 / (fps * model.opt.timestep)
    if round(steps) < 1 or abs(steps - round(steps)) > 1e-6:
        raise ParameterError(
            f"{world.name}: {fps:g} control steps per second do not give an integer number of physics steps of "
            f"{model.opt.timestep:g} s"
        )
    return round(steps)
