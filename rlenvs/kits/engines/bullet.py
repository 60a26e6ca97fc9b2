"""PyBullet as the engine of a batch: Bullet moves the bodies and finds the contacts, kernels do everything else.

The records of the worlds are the truth. A control step begins by putting Bullet's bodies where the record says and ends
by writing their motion back, so a restored snapshot flies on bit for bit. The exception is a drone that touches
something: Bullet remembers contact points between steps, a record cannot, and `place` forgets them. Restored copies of
one snapshot still agree with each other; they differ a little from the flight that the snapshot was taken of, unless
`exact` is set.

Every drone is one body without links, so Bullet solves for six numbers and not for six bodies. Floor, friction,
damping and solver are those of gym-pybullet-drones (Panerati et al., "Learning to Fly", IROS 2021). Its drone is a
prism with 32 sides and a margin of 1 mm, here it is the cylinder itself. Damping is Bullet's: a body slows down by
c (1 + |v|) v, and its rotation by the same law.
"""

import math
import os
import sys
import weakref
from struct import Struct
from typing import Any

import numpy as np

from rlenvs.core.declare.errors import EngineError, MissingExtraError

MOST_CLIENTS = 1024  # of a process: PyBullet's own limit
MOST_SHAPES = 1000  # made by a client before it is replaced: Bullet keeps some 3 kB of every body that it removes
FARTHEST = 1e9  # m, beyond which, or at NaN, Bullet's list of neighbours is spoilt for good
FLOOR = (100.0, 100.0, 5.0)  # m, half sizes of the box whose upper side is the floor
FLOOR_FRICTION = 1.0
DRONE_COLOR = (0.25, 0.25, 0.28, 1.0)
SPHERE, BOX = 1, 2  # kinds of shapes; 3 is an upright cylinder
DEFAULT_GROUP, ALL_GROUPS = 1, -1  # Bullet's collision groups of moving bodies
CONTACT_BODIES, NORMAL_FORCE = slice(1, 3), 9  # places in a contact point
CAMERA_AXES = [[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]]  # right, up, back, in body axes
ORIGIN = (0.0, 0.0, 0.0)
AWAY = 1000.0  # m, where drones wait that are not alive
pack3, pack4 = Struct("3d").pack_into, Struct("4d").pack_into

# who opened a client last: PyBullet gives the number of one that was closed from outside to the next
_owners: "weakref.WeakValueDictionary[int, BulletWorld]" = weakref.WeakValueDictionary()


class BulletEngine:
    """The worlds of a batch, each a PyBullet client (28 MB, and some 30 ms to open; at most 1024 in a process).

    The parameters p of a world have mass [kg], inertia_x, inertia_y, inertia_z [kg m^2], gravity [m/s^2], damping
    [1/s], hull (2,) (radius and height [m]), physics_hz and control_hz. Its state s has alive (D,), steady, position
    [m] and velocity [m/s] (D, 3) in world axes, attitude (D, 4) x, y, z, w from body to world, and rates [rad/s],
    force [N], torque [N m] (D, 3) in body axes, force and torque at the center of mass. It may have shapes (S, 12),
    and touching (D,): which drones were pressed against anything in the last control step. Drones that are not alive
    are put out of the way. For images p also has lens (3,): vertical field of view [rad], near and far [m].

    Args:
        batch: has num_envs; records(i), which gives (p, s) of world i as NumPy records; before_physics(i), which
            computes force and torque of world i from the rest of its record, and sets s.steady when they will not
            change during
            the control step: then it runs once in it, otherwise before every physics step; and images, the images to
            fill, by name.
        gui: show the first world in PyBullet's window.

    Attributes:
        exact: forget contact points at every control step, so that restored flights are bit-equal in contact, too.
            Drones on the ground then rock by some 0.2 rad/s and sink in by 0.5 mm, or roll on their rim for seconds.

    Raises:
        MissingExtraError: pybullet is not installed.
        EngineError: too many worlds, or no screen for the window.
    """

    def __init__(self, batch: Any, gui: bool = False) -> None:
        self.batch = batch
        self.gui = gui
        self.exact = False
        self._bullet = _import_pybullet()
        self._worlds: dict[int, BulletWorld] = {}
        self._closer = weakref.finalize(self, _close_all, self._worlds)
        if batch.num_envs > MOST_CLIENTS:
            raise EngineError(
                f"{batch.num_envs} worlds were requested; PyBullet supports at most {MOST_CLIENTS} per process. Use "
                f"fewer, or several processes"
            )
        if gui and sys.platform == "linux" and not os.environ.get("DISPLAY"):
            raise EngineError("PyBullet's window needs a display, and DISPLAY is not set; leave out the window")

    def adopt(self, worlds: np.ndarray) -> None:
        """Apply the parameters of some worlds; those that have no bodies yet get them with these.

        Raises:
            EngineError: PyBullet refuses them.
        """
        for i in worlds.tolist():
            if i in self._worlds and self._worlds[i].is_open():
                try:
                    self._worlds[i].set_dynamics(self.batch.records(i)[0])
                except self._bullet.error as error:
                    raise self._failure(i, error) from error

    def place(self, worlds: np.ndarray, begun: bool = False) -> None:
        """Put the bodies of some worlds where their records say, and apply what changed in parameters and shapes.

        Args:
            worlds: indices.
            begun: whether new episodes begin; makes no difference.

        Raises:
            EngineError: the client of a world was closed from outside (the next call opens another), PyBullet has
                no client left, or the engine is closed.
        """
        for i in worlds.tolist():
            self._place(i)

    def _place(self, i: int) -> None:
        p, s = self.batch.records(i)
        world = self._worlds.get(i)
        if world is not None and world.worn_out(p, s):
            self._worlds.pop(i).close()
            world = None
        if world is None:
            world = self._worlds[i] = BulletWorld(self._bullet, self._connect(i), p, s)
        self._check(i, world)
        try:
            world.place(p, s)
        except self._bullet.error as error:
            raise self._failure(i, error) from error

    def move(self, worlds: np.ndarray) -> dict[int, str]:
        """Advance some worlds by a control step; nothing is returned, since Bullet fails with an error.

        Raises:
            EngineError: as `place`.
        """
        for i in worlds.tolist():
            world = self._opened(i)
            try:
                world.move(self.batch.before_physics, i, self.exact)
            except self._bullet.error as error:
                raise self._failure(i, error) from error
        return {}

    def camera_image(self, i: int, width: int, height: int) -> None:
        """None: the worlds draw themselves."""

    def observe_images(self, worlds: np.ndarray) -> None:
        """Fill the images of some worlds.

        Raises:
            EngineError: as `place`.
        """
        for i in worlds.tolist():
            self._look(i)

    def _look(self, i: int) -> None:
        p, s = self.batch.records(i)
        images, (fov, near, far) = self.batch.images, p.lens.tolist()
        height, width = next(iter(images.values())).shape[2:4]
        for k in np.flatnonzero(s.alive):
            colors, distances = self.camera(i, int(k), width, height, math.degrees(fov), near, far)
            if "rgb" in images:
                images["rgb"][i, k] = colors
            if "depth" in images:
                images["depth"][i, k, :, :, 0] = np.round(255.0 * np.minimum(distances / far, 1.0))

    def camera(
        self, i: int, k: int, width: int, height: int, fov: float, near: float, far: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """What a camera at the front of drone k in world i sees, looking along body x with body z upwards.

        Args:
            i, k: world and drone.
            width, height: pixels.
            fov: vertical field of view, degrees.
            near, far: the distances along the line of sight between which things are seen, m.

        Returns:
            Colors, uint8 (height, width, 4), and distance along the line of sight, float32 (height, width), m; it is
            `far` but for rounding where nothing is seen.

        Raises:
            EngineError: as `place`.
        """
        world = self._opened(i)
        try:
            return world.camera(k, width, height, fov, near, far)
        except self._bullet.error as error:
            raise self._failure(i, error) from error

    def close(self) -> None:
        """Disconnect all clients; the engine is of no use after that."""
        self._closer()

    def _connect(self, i: int) -> int:
        if not self._closer.alive:
            raise EngineError(f"world {i} is closed; make the environment again")
        bullet = self._bullet
        try:
            client = bullet.connect(bullet.GUI if self.gui and i == 0 else bullet.DIRECT)
        except bullet.error:
            client = -1
        if client < 0:
            raise EngineError(
                f"PyBullet has no client left for world {i}: it supports at most {MOST_CLIENTS} for all environments "
                f"of a process. Close some, or use several processes"
            )
        return int(client)

    def _opened(self, i: int) -> "BulletWorld":
        if i not in self._worlds:
            self._place(i)
        world = self._worlds[i]
        self._check(i, world)
        return world

    def _check(self, i: int, world: "BulletWorld") -> None:
        if _owners.get(world.client) is not world:
            raise self._failure(i, None)

    def _failure(self, i: int, error: Exception | None) -> EngineError:
        """The error that tells what PyBullet's error means for world i."""
        if self._worlds[i].is_open():
            return EngineError(f"PyBullet refused a command for world {i}: {error}")
        del self._worlds[i]
        return EngineError(f"the PyBullet client of world {i} was closed from outside; reset the environment")


class BulletWindow(BulletEngine):
    """The engine with the first world in PyBullet's window."""

    def __init__(self, batch: Any) -> None:
        super().__init__(batch, gui=True)


class BulletWorld:
    """One world as a PyBullet client: body 0 is the floor, bodies 1 to D are the drones, then come the shapes."""

    def __init__(self, bullet: Any, client: int, p: Any, s: Any) -> None:
        self.bullet = bullet
        self.client = client
        _owners[client] = self
        self.build = _build(p, s)
        self.bodies = range(1, 1 + len(s.position))
        self.dynamics: tuple[float, ...] = ()
        self.shapes: list[int] = []  # bodies, -1 for none
        self.rows: list[list[float]] = []  # what they were made from
        self.made = 0
        self.spoilt = False
        self._add_floor()
        self._add_drones(*p.hull.tolist())

    def is_open(self) -> bool:
        """Whether the client is there and still this world's."""
        return _owners.get(self.client) is self and bool(self.bullet.isConnected(self.client))

    def close(self) -> None:
        """Disconnect, unless the client was closed from outside."""
        if self.is_open():
            self.bullet.disconnect(self.client)

    def worn_out(self, p: Any, s: Any) -> bool:
        """Whether another client must take over."""
        return self.spoilt or self.made > MOST_SHAPES or self.build != _build(p, s)

    # --- bodies -------------------------------------------------------------------------------------------------------

    def _add_floor(self) -> None:
        import pybullet_data

        bullet, client = self.bullet, self.client
        shape = bullet.createCollisionShape(bullet.GEOM_BOX, halfExtents=FLOOR, physicsClientId=client)
        image = bullet.createVisualShape(
            bullet.GEOM_MESH,
            fileName=os.path.join(pybullet_data.getDataPath(), "plane100.obj"),
            visualFramePosition=(0.0, 0.0, FLOOR[2]),
            physicsClientId=client,
        )
        floor = bullet.createMultiBody(0.0, shape, image, (0.0, 0.0, -FLOOR[2]), physicsClientId=client)
        bullet.changeDynamics(floor, -1, lateralFriction=FLOOR_FRICTION, physicsClientId=client)

    def _add_drones(self, radius: float, height: float) -> None:
        bullet, common = self.bullet, {"radius": radius, "physicsClientId": self.client}
        shape = bullet.createCollisionShape(bullet.GEOM_CYLINDER, height=height, **common)
        image = bullet.createVisualShape(bullet.GEOM_CYLINDER, length=height, rgbaColor=DRONE_COLOR, **common)
        for _ in self.bodies:
            bullet.createMultiBody(1.0, shape, image, physicsClientId=self.client)

    def _add_shape(self, row: list[float]) -> int:
        bullet, client = self.bullet, self.client
        kind, a, b, c = row[0], *row[4:7]
        size: dict[str, Any]
        drawn: dict[str, Any]
        if kind == SPHERE:
            form, size, drawn = bullet.GEOM_SPHERE, {"radius": a}, {"radius": a}
        elif kind == BOX:
            form, size, drawn = bullet.GEOM_BOX, {"halfExtents": (a, b, c)}, {"halfExtents": (a, b, c)}
        else:
            form, size, drawn = bullet.GEOM_CYLINDER, {"radius": a, "height": 2.0 * b}, {"radius": a, "length": 2.0 * b}
        shape = bullet.createCollisionShape(form, **size, physicsClientId=client)
        image = bullet.createVisualShape(form, **drawn, rgbaColor=(*row[8:11], 1.0), physicsClientId=client)
        self.made += 1
        return int(bullet.createMultiBody(0.0, shape, image, physicsClientId=client))

    def _set_shapes(self, rows: list[list[float]]) -> None:
        """Move shapes that only moved, make the others again."""
        bullet, client = self.bullet, self.client
        if not self.rows:
            self.rows, self.shapes = [[0.0] * len(row) for row in rows], [-1] * len(rows)
        for j, (before, row) in enumerate(zip(self.rows, rows, strict=True)):
            if row == before:
                continue
            if _look(row) != _look(before):
                if self.shapes[j] >= 0:
                    bullet.removeBody(self.shapes[j], client)
                self.shapes[j] = self._add_shape(row) if row[0] else -1
            if self.shapes[j] >= 0:
                half_yaw = 0.5 * row[7]
                attitude = (0.0, 0.0, math.sin(half_yaw), math.cos(half_yaw))
                bullet.resetBasePositionAndOrientation(self.shapes[j], row[1:4], attitude, client)
        self.rows = rows

    def set_dynamics(self, p: Any) -> None:
        """Parameters of the world; Bullet guesses another inertia when it is given a mass, so both go together."""
        bullet, client = self.bullet, self.client
        names = ("mass", "inertia_x", "inertia_y", "inertia_z", "damping", "gravity", "physics_hz")
        dynamics = tuple(float(getattr(p, name)) for name in names)
        if dynamics == self.dynamics:
            return
        mass, *inertia, damping, gravity, physics_hz = dynamics
        self.dynamics = ()  # until Bullet has taken all of them
        for body in self.bodies:
            bullet.changeDynamics(
                body,
                -1,
                mass=mass,
                localInertiaDiagonal=inertia,
                linearDamping=damping,
                angularDamping=damping,
                physicsClientId=client,
            )
        bullet.setGravity(0.0, 0.0, -gravity, client)
        bullet.setTimeStep(1.0 / physics_hz, client)
        self.dynamics = dynamics

    # --- motion -------------------------------------------------------------------------------------------------------

    def place(self, p: Any, s: Any) -> None:
        """Take over a record: parameters, shapes, motion."""
        self.steps = int(p.physics_hz) // int(p.control_hz)
        self.position, self.attitude, self.velocity, self.rates = s.position, s.attitude, s.velocity, s.rates
        self.force, self.torque, self.alive, self.state = s.force, s.torque, s.alive, s
        self.touching = getattr(s, "touching", None)
        self.set_dynamics(p)
        if hasattr(s, "shapes"):
            self._set_shapes(s.shapes.tolist())
        self.put()
        self.forget_contacts()

    def forget_contacts(self) -> None:
        """Make the next step independent of what touched before; Bullet does so for a body whose filter is set."""
        for body in self.bodies:
            self.bullet.setCollisionFilterGroupMask(body, -1, DEFAULT_GROUP, ALL_GROUPS, self.client)

    def put(self) -> None:
        """Move the drones to where the record says."""
        set_pose, set_velocity = self.bullet.resetBasePositionAndOrientation, self.bullet.resetBaseVelocity
        client = self.client
        motions = self.position.tolist(), self.attitude.tolist(), self.velocity.tolist(), self.rates.tolist()
        flags = self.alive.tolist()
        for body, alive, position, attitude, velocity, rates in zip(self.bodies, flags, *motions, strict=True):
            if alive:
                set_pose(body, position, attitude, client)
                set_velocity(body, velocity, rotate(*attitude, *rates), client)
            else:
                set_pose(body, (AWAY * body, 0.0, AWAY), attitude, client)
                set_velocity(body, ORIGIN, ORIGIN, client)

    def read(self) -> None:
        """Write the motion of the drones into the record."""
        get_pose, get_velocity = self.bullet.getBasePositionAndOrientation, self.bullet.getBaseVelocity
        client = self.client
        positions, attitudes, velocities, rates = self.position, self.attitude, self.velocity, self.rates
        for k, body in enumerate(self.bodies):
            if not self.alive[k]:
                continue
            position, (x, y, z, w) = get_pose(body, client)
            velocity, spin = get_velocity(body, client)
            pack3(positions, 24 * k, *position)
            pack4(attitudes, 32 * k, x, y, z, w)
            pack3(velocities, 24 * k, *velocity)
            pack3(rates, 24 * k, *rotate(-x, -y, -z, w, *spin))
            if not -FARTHEST < sum(position) < FARTHEST:
                self.spoilt = True

    def move(self, before_physics: Any, i: int, exact: bool) -> None:
        """Advance by a control step."""
        bullet, client, bodies = self.bullet, self.client, self.bodies
        apply_force, apply_torque, body_axes = bullet.applyExternalForce, bullet.applyExternalTorque, bullet.LINK_FRAME
        simulate, contact_points = bullet.stepSimulation, bullet.getContactPoints
        watched, touched = self.touching is not None, set()
        loads: list[Any] = []
        self.put()
        if hasattr(self.state, "shapes"):
            self._set_shapes(self.state.shapes.tolist())
        if exact:
            self.forget_contacts()
        for step in range(self.steps):
            if step == 0 or not self.state.steady:
                if step > 0:
                    self.read()
                before_physics(i)
                loads = list(zip(bodies, self.force.tolist(), self.torque.tolist(), strict=True))
                loads = [part for part, alive in zip(loads, self.alive.tolist(), strict=True) if alive]
            for body, force, torque in loads:
                apply_force(body, -1, force, ORIGIN, body_axes, client)
                apply_torque(body, -1, torque, body_axes, client)
            simulate(client)
            if watched:
                for point in contact_points(physicsClientId=client):
                    if point[NORMAL_FORCE] > 0.0:  # Bullet lists points that are still 2 cm apart, too
                        touched.update(point[CONTACT_BODIES])
        self.read()
        if self.touching is not None:
            self.touching[:] = [body in touched for body in bodies]

    # --- images -----------------------------------------------------------------------------------------------------

    def camera(
        self, k: int, width: int, height: int, fov: float, near: float, far: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Colors and distances, as of `BulletEngine.camera`."""
        self.put()
        bullet, attitude = self.bullet, self.attitude[k].tolist()
        right, up, back = (rotate(*attitude, *axis) for axis in CAMERA_AXES)
        radius = self.build[1]
        eye = [x - radius * b for x, b in zip(self.position[k].tolist(), back, strict=True)]
        view = np.eye(4)
        view[:3, :3] = right, up, back
        view[:3, 3] = -view[:3, :3] @ eye
        zoom = 1.0 / math.tan(0.5 * math.radians(fov))
        projection = np.zeros((4, 4))
        projection[0, 0], projection[1, 1] = zoom * height / width, zoom
        projection[2, 2], projection[2, 3] = (near + far) / (near - far), 2.0 * near * far / (near - far)
        projection[3, 2] = -1.0
        _, _, colors, depth, _ = bullet.getCameraImage(
            width,
            height,
            view.T.ravel().tolist(),
            projection.T.ravel().tolist(),
            shadow=0,
            renderer=bullet.ER_TINY_RENDERER,
            flags=bullet.ER_NO_SEGMENTATION_MASK,
            physicsClientId=self.client,
        )
        share = np.reshape(depth, (height, width)).astype(float)  # 0 at `near`, 1 at `far`
        distance = near * far / (far - (far - near) * share)
        return np.reshape(colors, (height, width, 4)).astype(np.uint8), distance.astype(np.float32)


def rotate(qx: float, qy: float, qz: float, qw: float, x: float, y: float, z: float) -> tuple[float, float, float]:
    """The vector (x, y, z) turned by the quaternion q."""
    tx, ty, tz = 2.0 * (qy * z - qz * y), 2.0 * (qz * x - qx * z), 2.0 * (qx * y - qy * x)
    return (
        x + qw * tx + (qy * tz - qz * ty),
        y + qw * ty + (qz * tx - qx * tz),
        z + qw * tz + (qx * ty - qy * tx),
    )


def _build(p: Any, s: Any) -> tuple[float, ...]:
    """What a client cannot change: number and size of the drones."""
    return len(s.position), *p.hull.tolist()


def _look(row: list[float]) -> list[float]:
    """What a body cannot change: kind, sizes and color of a shape."""
    return [row[0], *row[4:7], *row[8:11]]


def _close_all(worlds: dict[int, BulletWorld]) -> None:
    while worlds:
        worlds.popitem()[1].close()


def _import_pybullet() -> Any:
    try:
        import pybullet
    except ImportError as error:
        message = "the PyBullet engine (pybullet has wheels for Linux with CPython 3.11 or older only)"
        raise MissingExtraError(message, "pybullet") from error
    return pybullet
