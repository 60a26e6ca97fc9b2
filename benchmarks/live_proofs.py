"""Exported environments under Node.js, at all levels: python benchmarks/live_proofs.py --kernels build/kernels [IDS]

A row for each id: kB that its page loads beyond the shared scripts, without and with all networks; milliseconds until
it has been loaded and reset; at how many levels the steps of the proof hash as in Python; whether a link from Python
comes back with the same state; networks whose actions differ from Python's by more than 1e-5, of how many.
"""

import argparse
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from rlenvs.agents.evaluate import chooser
from rlenvs.agents.files import load_agent
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.batch.links import link_text, read_link
from rlenvs.core.catalogue.registry import list_envs, world_of
from rlenvs.core.declare.errors import RlenvsError
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.values import engine_of
from rlenvs.live.export import write_environment, write_static
from rlenvs.live.modules import known_module
from rlenvs.live.translate import TranslationError

STEPS, SEED, CLOSE = 30, 1, 1e-5
SCRIPT = """
import fs from "node:fs";
const { loadEnvironment, fromLink } = await import(process.argv[1]), url = new URL(process.argv[2]);
const read = async u => new Uint8Array(fs.readFileSync(u)), given = JSON.parse(fs.readFileSync(0, "utf8"));
const start = performance.now();
let env = await loadEnvironment(url, { read });
const told = { ms: performance.now() - start, levels: {}, actions: {}, error: "" };
for (const level of Object.keys(env.description.levels)) {
  env = await loadEnvironment(url, { level, read, seed: given.seed });
  told.levels[level] = (await env.proof()).equal;
  for (const { name } of env.description.networks) {
    env.reset(given.seed);
    const choose = await env.policy(`agent:${name}`), all = [];
    for (let step = 0; step < given.steps; step++) {
      const action = choose(env);
      all.push([action].flat(2));
      env.step(action);
    }
    told.actions[`${level}/${name}`] = all;
  }
}
try {
  told.link = await (await fromLink(given.link, url, read)).link();
} catch (error) {
  told.error = String(error);
}
console.log(JSON.stringify(told));
"""


def row_of(name: str, folder: Path, kernels: Path | None) -> list[str]:
    """The cells of an id."""
    own = write_environment(name, folder, kernels)
    description = json.loads((own / "world.json").read_text())
    module = (own / description["module"]).stat().st_size
    weights = sum(path.stat().st_size for path in own.glob("*.safetensors"))
    plain = [path for path in own.iterdir() if path.suffix in (".json", ".js", ".html") or path.name == "world.image"]
    size = sum(path.stat().st_size for path in plain) + module
    script, url = ((folder / path).as_uri() for path in ("static/environment.js", f"{name}/world.json"))
    given = {"steps": STEPS, "seed": SEED, "link": python_link(name)}
    done = subprocess.run(
        ["node", "--input-type=module", "-e", SCRIPT, script, url],
        input=json.dumps(given),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        return [name, f"{size / 1e3:.0f}", f"{weights / 1e3:.0f}", "", failure(done.stderr)]
    told = json.loads(done.stdout)
    equal = sum(told["levels"].values())
    link = told["error"] or ("yes" if read_link(told["link"]) == read_link(given["link"]) else "no")
    wrong = [label for label, actions in told["actions"].items() if not as_in_python(name, label, actions)]
    return [
        *(name, f"{size / 1e3:.0f}", f"{(size + weights) / 1e3:.0f}", f"{told['ms']:.0f}"),
        f"{equal} of {len(told['levels'])}",
        link,
        f"{len(wrong)} of {len(told['actions'])} {' '.join(wrong)}".strip(),
    ]


def failure(text: str) -> str:
    """The line of a report that says what went wrong."""
    return next((line for line in text.splitlines() if "Error" in line), text.strip()[-200:])


def python_link(name: str) -> str:
    """A link to the midst of an episode."""
    batch = KernelBatch(world_of(name))
    batch.seed([SEED])
    batch.reset()
    for _ in range(3):
        batch.step(chooser(batch, "random", [SEED])())
    return link_text(batch, None)


def as_in_python(name: str, label: str, actions: list[list[float]]) -> bool:
    """Whether the actions of a network are those of the agent in Python, in the same episode."""
    level, _, algorithm = label.partition("/")
    agent = load_agent(name, level=level or None, algorithm=algorithm)
    batch = KernelBatch(world_of(name), level=level or None)
    batch.seed([SEED])
    batch.reset()
    choose = chooser(batch, agent, [SEED])
    for given in actions:
        if not np.allclose(np.ravel(choose()), given, rtol=0, atol=CLOSE):
            return False
        batch.step(np.array(given, batch.actions.dtype).reshape(batch.actions.shape))  # or small differences add up
    return True


def all_names() -> list[str]:
    """The environments that no engine moves."""
    names = [id.partition("/")[2] for id in list_envs() if not id.startswith("rlenvs/mo-")]
    return [name for name in names if not engine_of(world_of(name), {})]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("ids", nargs="*", help="environments; by default all whose module is there")
    parser.add_argument("--kernels", type=Path, help="folder of WebAssembly modules")
    parser.add_argument("--folder", type=Path, help="where pages are written; a temporary folder by default")
    chosen = parser.parse_args()
    names = chosen.ids or [name for name in all_names() if known_module(Setup(world_of(name)), chosen.kernels)]
    folder = chosen.folder or Path(tempfile.mkdtemp())
    write_static(folder)
    head = ["id", "kB", "kB, networks", "ms", "proofs equal", "link", "networks that differ"]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}", flush=True)
    for name in names:
        try:
            cells = row_of(name, folder, chosen.kernels)
        except (RlenvsError, TranslationError, OSError) as error:
            cells = [name, "", "", "", str(error)]
        print(f"| {' | '.join(cells)} |", flush=True)
    if chosen.folder is None:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
