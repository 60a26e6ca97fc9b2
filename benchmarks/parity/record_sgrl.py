"""Record steps of the robots of alpc91/SGRL (MIT license), for tests/robotics/test_limb_bodies_3d.py.

    python benchmarks/parity/record_sgrl.py CHECKOUT tests/data/sgrl.npz

The models are the checkout's files, in MuJoCo 4.0.1: places of coordinate="global", which it does not read, are made
local, "0.13/2" in the hoppers' is read as 0.065, and margins are halved, since it adds up those of two shapes. The
original needs mujoco-py, so its formulas are here, on readings after the step; the page of SpatialWalkers-v0 says what
else differs.
"""

import sys
import xml.etree.ElementTree as Xml
from pathlib import Path

import mujoco
import numpy as np

STEPS, EVERY, SKIP = 24, 8, 4  # control steps, of which every eighth is kept; physics steps of each
TARGET = np.array([30.0, -40.0])
TYPES = (("thigh", 1), ("shin", 2), ("foot", 3))


def heading(q):
    w, x, y, z = q
    found = np.array([1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z)])
    return found / np.linalg.norm(found)


def limb(model, data, i):
    name, velocity = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, i), np.zeros(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, i, velocity, 0)
    seen, away = np.zeros(41), TARGET - data.xpos[1, :2]
    seen[:3], seen[5], seen[6:8] = data.xpos[i] - data.xpos[1], -9.81, away / np.linalg.norm(away)
    seen[9:12], seen[12:15], seen[27:36] = np.clip(velocity[3:], -10, 10), velocity[:3], 0.5
    if i > 1:
        joints = model.body_jntadr[i] + np.arange(3)
        low, high = np.degrees(model.jnt_range[joints]).T
        angles = data.qpos[model.jnt_qposadr[joints]]
        seen[15:24], seen[24:27] = data.xaxis[joints].ravel(), angles
        seen[27:36:3] = (np.degrees(angles) - low) / (high - low)
        seen[28:36:3], seen[29:36:3] = (180.0 + low) / 360.0, (180.0 + high) / 360.0
    kinds = [0] if name == "torso" else [kind for part, kind in TYPES if part in name]
    seen[[36 + kind for kind in kinds]], seen[40] = 1.0, data.xpos[i, 2]
    return seen


def record(model, seed):
    rng, data = np.random.default_rng(seed), mujoco.MjData(model)
    turn = rng.uniform(-np.pi, np.pi) / 2.0
    data.qpos[3], data.qpos[6] = np.cos(turn), np.sin(turn)
    data.qpos[7:] += rng.uniform(-0.1, 0.1, model.nq - 7)
    data.qvel[:] = rng.uniform(-0.1, 0.1, model.nv)
    found = {"qpos": [data.qpos.copy()], "qvel": [data.qvel.copy()], "limbs": [], "paid": []}
    actions = rng.uniform(-1.0, 1.0, (STEPS, model.nu))
    for k in range(STEPS):
        before, facing = data.qpos[:2].copy(), heading(data.qpos[3:7])
        data.ctrl[:] = actions[k]
        for _ in range(SKIP):
            mujoco.mj_step(model, data)
        after, dt = data.qpos[:2], SKIP * model.opt.timestep
        nearer = np.linalg.norm(TARGET - before) - np.linalg.norm(TARGET - after)
        found["paid"].append((nearer / dt, (after - before) @ facing / dt))
        if k % EVERY == EVERY - 1:
            mujoco.mj_fwdPosition(model, data)
            mujoco.mj_fwdVelocity(model, data)
            found["qpos"].append(data.qpos.copy())
            found["qvel"].append(data.qvel.copy())
            found["limbs"].append(np.float32([limb(model, data, i) for i in range(1, model.nbody)]))
    masses = {"mass": model.body_mass[1:], "inertia": model.body_inertia[1:], "gear": model.actuator_gear[:, 0]}
    return {"actions": actions, **masses, **{name: np.array(rows) for name, rows in found.items()}}


def numbers(text):
    return np.array([0.065 if part == "0.13/2" else float(part) for part in text.split()])


def written(values):
    return " ".join(f"{value:.17g}" for value in values)


def make_local(body, origin):
    """Make the places in a body local, and in those that hang at it."""
    place = numbers(body.get("pos"))
    body.set("pos", written(place - origin))
    for part in body.iter():
        if part in list(body) and part.tag in ("geom", "joint"):
            for name in ("pos", "fromto"):
                if part.get(name):
                    found = numbers(part.get(name))
                    part.set(name, written(found - np.tile(place, len(found) // 3)))
    for child in body.findall("body"):
        make_local(child, place)


def model_of(path):
    root = Xml.parse(path).getroot()
    for tag in ("include", "size", "visual"):
        for part in root.findall(tag):
            root.remove(part)
    for part in root.iter():
        part.attrib.pop("material", None)
        if part.get("margin"):
            part.set("margin", written(0.5 * numbers(part.get("margin"))))
    if root.find("compiler").attrib.pop("coordinate", "local") == "global":
        for body in root.find("worldbody").findall("body"):
            make_local(body, np.zeros(3))
    return mujoco.MjModel.from_xml_string(Xml.tostring(root, encoding="unicode"))


def main(checkout, out):
    found, environments = {}, Path(checkout) / "src" / "environments"
    for kind in ("3d_walkers", "3d_humanoids", "3d_cheetahs", "3d_hoppers", "zero_shot"):
        for path in sorted((environments / kind).glob("*.xml")):
            found |= {f"{path.stem}/{key}": rows for key, rows in record(model_of(path), 0).items()}
    np.savez_compressed(out, **found)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(f"usage: {sys.argv[0]} CHECKOUT OUT.npz; see the docstring of this script")
    main(*sys.argv[1:])
