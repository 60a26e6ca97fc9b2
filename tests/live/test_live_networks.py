"""Trained agents act in pages as they do in Python."""

import numpy as np
import pytest
from support.node import needs_node, run_node

from rlenvs.agents.files import load_agent
from rlenvs.agents.store import read_card, reference_agents, title

pytestmark = needs_node
STEPS = 12
ACT = """
const { architecture, file, rows, masks, kinds, noises } = given[0];
const network = new Network(architecture, tensorsOf(await read(new URL(file))));
const agents = rows[0].length, memories = Array.from({ length: agents }, () => network.start());
tell(rows.map((row, t) => row.map((seen, k) => {
  let at = 0;
  const noise = noises && (() => noises[t][k][at++]);
  return network.act(seen, memories[k], masks && masks[t][k], kinds ? kinds[k] : -1, noise);
})));
"""


def form(stem):
    """What the way in which a network is computed depends on."""
    architecture = read_card(stem).architecture
    parts = architecture["observation"]
    return repr(
        (
            architecture["convolutions"] and {**architecture["convolutions"], "channels": 0},
            architecture["memory"] is not None,
            architecture.get("frames", 1) > 1,
            "kinds" in architecture,
            architecture["normalisation"] is not None,
            {"kind": architecture["action"]["kind"], "squashed": architecture["action"].get("squashed")},
            [(part["name"] is None, "choices" in part, part["image"], len(part["shape"])) for part in parts],
            sorted({layer["activation"] for layer in architecture["layers"]}),
        )
    )


STEMS = list({form(stem): stem for stem in reversed(reference_agents())}.values())


def observed(part, rng, rows):
    if "choices" in part:
        return rng.integers(part["choices"], size=rows)
    if part["image"]:
        return rng.integers(256, size=(rows, *part["shape"])).astype(np.uint8)
    return rng.normal(size=(rows, *part["shape"])).astype(np.float32)


def plain(array):
    return array.ravel().tolist() if array.ndim else array.tolist()


@pytest.mark.parametrize("stem", STEMS, ids=title)
def test_networks_act_as_in_python(stem):
    agent, rng = load_agent(stem), np.random.default_rng(0)
    network = agent.network
    parts, rows = network.architecture["observation"], 3
    kinds = [k % len(network.kinds) for k in range(rows)] if network.kinds else None
    seen = [{part["name"]: observed(part, rng, rows) for part in parts} for _ in range(STEPS)]
    masks = [rng.integers(2, size=(rows, network.choices)) for _ in range(STEPS)] if network.masked else None
    noises = [rng.gumbel(size=(rows, network.choices)) for _ in range(STEPS)] if agent.card.drawn else None
    expected, state = [], None
    for t, row in enumerate(seen):
        given = row.get(None, row)
        mask, noise = masks and masks[t], noises and noises[t]
        actions, state = network.act(given, mask, state, None, kinds and np.array(kinds), noise)
        expected.append(actions)
    rows_of = [
        [plain(row[None][k]) if None in row else {n: plain(v[k]) for n, v in row.items()} for k in range(rows)]
        for row in seen
    ]
    file = stem.with_name(f"{stem.name}.safetensors").resolve().as_uri()
    said = run_node(
        ACT,
        {
            "architecture": network.architecture,
            "file": file,
            "rows": rows_of,
            "masks": masks and [mask.tolist() for mask in masks],
            "kinds": kinds,
            "noises": noises and [noise.tolist() for noise in noises],
        },
        imports=[("Network, tensorsOf", "network")],
    )
    wanted = np.array(expected, float).reshape(STEPS, rows, -1)
    np.testing.assert_allclose(np.array(said), wanted, rtol=0, atol=1e-5)
