"""Record steps of the planar robots of huangwl18/modular-rl (MIT license), for tests/robotics/test_limb_bodies.py.

    python -m venv old && old/bin/pip install mujoco==2.3.2 numpy       (it still reads coordinate="global")
    old/bin/python benchmarks/parity/record_modular_rl.py CHECKOUT tests/data/modular_rl.npz

The models are the checkout's files, with "0.13/2" in the hoppers' read as 0.065. The original needs mujoco-py, so
its formulas are here, on readings after the step and on places that are not overwritten; the page of PlanarWalkers-v0
says what else differs.
"""

import re
import sys
from pathlib import Path

import mujoco
import numpy as np

STEPS, EVERY, SKIP = 40, 8, 4  # control steps, of which every eighth is kept; physics steps of each
TYPES = {
    "walker": lambda name: 0 if name == "torso" else int(name[-1]),
    "humanoid": lambda name: {"thigh": 0, "shin": 1, "upper_arm": 2, "lower_arm": 3}.get(name.partition("_")[2], -1),
    "cheetah": lambda name: 0 if name == "torso" else {"thigh": 1, "shin": 2, "foot": 3}[name[1:]],
    "hopper": lambda name: {"torso": 0, "thigh": 1, "leg": 2, "lower_leg": 2, "foot": 3}[name],
}


def rotation(q):
    half = np.linalg.norm(q[1:])
    angle = 2.0 * np.arctan2(half, q[0]) % (2.0 * np.pi)
    axis = q[1:] / (half + np.finfo(np.float32).eps)
    return axis * angle if angle <= np.pi else -axis * (2.0 * np.pi - angle)


def limb(model, data, kind, i):
    velocity = np.zeros(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, i, velocity, 0)
    place = data.xpos[i] - [data.xpos[1, 0], 0.0, 0.0]
    one = np.eye(4)[kind] if kind >= 0 else np.zeros(4)
    joint = np.zeros(3)
    if i > 1:
        j = model.body_jntadr[i]
        low, high = np.degrees(model.jnt_range[j])
        joint[:] = (np.degrees(data.qpos[j]) - low) / (high - low), (180.0 + low) / 360.0, (180.0 + high) / 360.0
    return np.concatenate([place, np.clip(velocity[3:], -10, 10), velocity[:3], rotation(data.xquat[i]), one, joint])


def record(model, family, seed):
    rng, data = np.random.default_rng(seed), mujoco.MjData(model)
    data.qpos[:] += rng.uniform(-0.005, 0.005, model.nq)
    data.qvel[:] = rng.uniform(-0.005, 0.005, model.nv)
    found = {"qpos": [data.qpos.copy()], "qvel": [data.qvel.copy()], "limbs": [], "forward": []}
    actions = rng.uniform(-1.0, 1.0, (STEPS, model.nu))
    for k in range(STEPS):
        before = data.qpos[0]
        data.ctrl[:] = actions[k]
        for _ in range(SKIP):
            mujoco.mj_step(model, data)
        found["forward"].append((data.qpos[0] - before) / (SKIP * model.opt.timestep))
        if k % EVERY == EVERY - 1:
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_comVel(model, data)
            names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, i) for i in range(1, model.nbody)]
            seen = [limb(model, data, TYPES[family](name), i + 1) for i, name in enumerate(names)]
            found["qpos"].append(data.qpos.copy())
            found["qvel"].append(data.qvel.copy())
            found["limbs"].append(np.float32(seen))
    masses = {"mass": model.body_mass[1:], "inertia": model.body_inertia[1:], "gear": model.actuator_gear[:, 0]}
    return {"actions": actions, **masses, **{name: np.array(rows) for name, rows in found.items()}}


def main(checkout, out):
    found = {}
    for path in sorted((Path(checkout) / "src" / "environments" / "xmls").glob("*.xml")):
        if path.stem.endswith("flipped"):
            continue
        fixed = path.with_name("fixed.xml")
        fixed.write_text(re.sub(r"0\.13/2", "0.065", path.read_text()))
        model = mujoco.MjModel.from_xml_path(str(fixed))
        fixed.unlink()
        name = path.stem.removesuffix("_main")
        for key, rows in record(model, name.partition("_")[0], 0).items():
            found[f"{name}/{key}"] = rows
    np.savez_compressed(out, **found)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(f"usage: {sys.argv[0]} CHECKOUT OUT.npz; see the docstring of this script")
    main(*sys.argv[1:])
