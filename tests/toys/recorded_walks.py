"""The walker's kernels as a world whose ground and push are recorded."""

from types import SimpleNamespace

import numpy as np
from support.places import DATA

from rlenvs.core import block, continuous, f8, i8, integer, term, world
from rlenvs.kits import planar
from rlenvs.robotics.walking import bipedal_walker, terrain, walker
from rlenvs.robotics.walking.walker import HULL, RAYS, build_walker, hull_seen, lean_of, leg_seen, progress_of, walk

RECORDED = np.load(DATA / "bipedal_walker.npz")
CASES, BLOCKS = RECORDED["blocks"].shape[:2]

SPEC = world(
    "RecordedWalks-v0",
    doc="Recorded walks.",
    params=bipedal_walker.SPEC.params,
    options={"case": integer(0, 0, CASES - 1, "which")}
    | {name: option for name, option in bipedal_walker.SPEC.options.items() if name != "scaled"},
    sizes=lambda values: terrain.sizes(SimpleNamespace(terrain_length=200, hardcore=True)),
    data={"all_grounds": f8(CASES, 200, 2), "all_blocks": f8(CASES, BLOCKS, 4), "all_forces": f8(CASES)}
    | {"all_counts": i8(CASES)},
    state={**walker.STATE, **terrain.STATE},
    observation={"seen": block(24, low=-100.0, high=100.0, raw=True, doc="the original's")},
    action=continuous("first hip", "first knee", "second hip", "second knee"),
    terms={"shaping": term(-1e4, 1e4)},
    horizon=10_000,
)


@SPEC.make_data
def data(values):
    found = {f"all_{name}": RECORDED[name] for name in ("blocks",)} | {"all_grounds": RECORDED["ground"]}
    case = RECORDED["case"]
    return {**found, "all_forces": case[:, 1].copy(), "all_counts": case[:, 2].astype(np.int64)}


@SPEC.reset
def reset(p, s, rng):
    ground = planar.add_body(s, planar.STATIC, 0.0, 0.0, 0.0)
    for i in range(p.all_counts[p.case]):
        left, bottom = p.all_blocks[p.case, i, 0], p.all_blocks[p.case, i, 1]
        terrain.add_block(p, s, ground, left, bottom, p.all_blocks[p.case, i, 2], p.all_blocks[p.case, i, 3])
    for i in range(200):
        s.ground[i, 0], s.ground[i, 1] = p.all_grounds[p.case, i, 0], p.all_grounds[p.case, i, 1]
    for i in range(199):
        k = planar.add_edge(s, ground, s.ground[i, 0], s.ground[i, 1], s.ground[i + 1, 0], s.ground[i + 1, 1])
        planar.set_material(s, k, p.friction, 0.0)
    build_walker(p, s)
    s.force[HULL, 0] = p.all_forces[p.case]
    walk(p, s, 0.0, 0.0, 0.0, 0.0)
    s.place, s.lean = progress_of(p, s), lean_of(s)


@SPEC.step
def step(p, s, a, rng, r):
    walk(p, s, a[0], a[1], a[2], a[3])
    place, lean = progress_of(p, s), lean_of(s)
    r.shaping = place - s.place - 5.0 * (lean - s.lean)
    r.terminated = s.hull_touched == 1
    s.place, s.lean = place, lean


@SPEC.observe
def observe(p, s, o):
    hull, first, second = hull_seen(p, s), leg_seen(p, s, 0), leg_seen(p, s, 1)
    for j in range(4):
        o.seen[j] = hull[j]
    for j in range(5):
        o.seen[4 + j], o.seen[9 + j] = first[j], second[j]
    for j in range(RAYS):
        o.seen[14 + j] = s.lidar[j]


def case_of(i):
    """The rows of a case, and whether it ended."""
    _, _, _, ended, length = RECORDED["case"][i]
    return RECORDED["rows"][i, : int(length)], bool(ended)
