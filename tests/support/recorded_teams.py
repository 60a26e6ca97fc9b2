"""Recorded walks of PettingZoo's multiwalker_v9, and how to start ours from them."""

import numpy as np

import rlenvs
from rlenvs.multi.planar.walkers import FIRST, PARTS
from support.places import DATA

RECORDED = np.load(DATA / "multi_walker.npz")
CASES, WALKERS = len(RECORDED["case"]), RECORDED["rows"].shape[2]


def case_of(i):
    """Actions (steps, walkers, 4), observations (steps, walkers, 31), rewards (steps, walkers), whether it ended."""
    _, length, ended = RECORDED["case"][i]
    rows = RECORDED["rows"][i, : int(length)]
    return rows[..., :4], rows[..., 4:35], rows[..., 35], bool(ended)


def start(i, **keywords):
    """A batch of one world on the ground of case i, pushed as there, without noise."""
    batch = rlenvs.make_batch("MultiWalker-v0", position_noise=0.0, angle_noise=0.0, **keywords)
    batch.seed(0)
    batch.reset()
    s = batch.states
    ground, edges = RECORDED["ground"][i], len(RECORDED["ground"][i]) - 1
    s["ground"][0] = ground
    first = s["shape_first"][0, :edges]
    s["vertex"][0, first], s["vertex"][0, first + 1] = ground[:-1], ground[1:]
    s["shape_box"][0, :edges, 1] = np.minimum(ground[:-1, 1], ground[1:, 1]) - 0.2  # flat boxes that are wide enough
    s["shape_box"][0, :edges, 3] = np.maximum(ground[:-1, 1], ground[1:, 1]) + 0.2
    s["force"][0, FIRST::PARTS, 0] = RECORDED["case"][i, 0]
    return batch
