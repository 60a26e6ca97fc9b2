"""MuJoCo's own WebAssembly build beside the MuJoCo of Python: python benchmarks/live_engine.py NPM_FOLDER [IDS]

NPM_FOLDER is where `npm install @mujoco/mujoco` ran. Both load the same XML, that of the environment's model, and take
the same random controls. A row for each id: the first physics step whose positions differ in a bit; the largest
difference of a position (m or rad) after 1, 100 and 1000 steps; microseconds per step under Node.js. In front the
versions, the size of the module and how long it takes to start.
"""

import argparse
import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.setup import Setup

IDS = ("Hopper-v0", "Ant-v0", "PandaReach-v0", "PandaPickAndPlace-v0")
STEPS, TOLD = 1000, (1, 100, 1000)
SCRIPT = """
import fs from "node:fs";
const begin = performance.now();
const mujoco = await (await import(process.argv[1])).default();
const loaded = performance.now() - begin, told = [];
for (const { xml, controls } of JSON.parse(fs.readFileSync(0, "utf8"))) {
  const model = mujoco.MjModel.from_xml_string(xml), data = new mujoco.MjData(model), positions = [];
  const start = performance.now();
  for (const row of controls) {
    data.ctrl.set(row);
    mujoco.mj_step(model, data);
    positions.push([...data.qpos]);
  }
  told.push({ positions, microseconds: 1000 * (performance.now() - start) / controls.length });
}
console.log(JSON.stringify({ version: mujoco.mj_versionString(), loaded, told }));
"""


def case_of(id: str) -> dict[str, Any]:
    """The model of an environment as XML, and random controls within its bounds."""
    world = world_of(id)
    spec = world.functions["model"](Setup(world).values)
    model = spec.compile()
    low, high = np.where(model.actuator_ctrllimited[:, None], model.actuator_ctrlrange, (-1.0, 1.0)).T
    controls = np.random.default_rng(0).uniform(low, high, (STEPS, model.nu))
    return {"xml": spec.to_xml(), "controls": controls.tolist()}


def positions_in_python(case: dict[str, Any]) -> np.ndarray:
    """The positions after each step."""
    model = mujoco.MjModel.from_xml_string(case["xml"])
    data, found = mujoco.MjData(model), []
    for row in case["controls"]:
        data.ctrl[:] = row
        mujoco.mj_step(model, data)
        found.append(data.qpos.copy())
    return np.array(found)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("ids", nargs="*", default=IDS)
    chosen = parser.parse_args()
    package = (chosen.folder / "node_modules" / "@mujoco" / "mujoco").resolve()
    if not package.exists():
        print(f"not compared: run `npm install @mujoco/mujoco` in {chosen.folder}")
        return
    cases = [case_of(id) for id in chosen.ids]
    command = ["node", "--input-type=module", "-e", SCRIPT, (package / "mujoco.js").as_uri()]
    done = subprocess.run(command, input=json.dumps(cases), capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    module = (package / "mujoco.wasm").read_bytes()
    sizes = f"{len(module) / 1e6:.1f} MB ({len(gzip.compress(module)) / 1e6:.1f} MB compressed)"
    print(f"MuJoCo {mujoco.__version__} in Python; the module is {told['version']}, {sizes}, and")
    print(f"starts within {told['loaded']:.0f} ms\n")
    print("| id | first step that differs | after 1 | 100 | 1000 | us |\n|---|---|---|---|---|---|")
    for id, case, there in zip(chosen.ids, cases, told["told"], strict=True):
        here, other = positions_in_python(case), np.array(there["positions"])
        unequal = np.flatnonzero((here != other).any(axis=1))
        cells = [f"{np.abs(here[n - 1] - other[n - 1]).max():.1e}" for n in TOLD]
        first = str(unequal[0] + 1) if len(unequal) else "none"
        print(f"| {' | '.join([id, first, *cells, format(there['microseconds'], '.0f')])} |", flush=True)


if __name__ == "__main__":
    main()
