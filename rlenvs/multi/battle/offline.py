"""Named datasets of Battle: joint trajectories after Off-the-Grid MARL, and images after StarCraftImage.

Names and qualities are those of Off-the-Grid MARL (Formanek et al., AAMAS 2023). Their policies are learned; here they
are the player "kiting" with a share of random actions, chosen so that mean returns lie in the bands of the paper, 16 to
20, 9 to 13 and 4 to 8, as far as the player reaches them. Their Replay holds what a training run saw; here it is a
series of such players from random to the best. A learner's sums differ in the last bit between processors, these
players do not.
"""

from typing import Any

import numpy as np

from rlenvs.core import mixed, recipe, windows
from rlenvs.multi.battle.units import KINDS

BEST = "kiting"
EPISODES, REPLAY_EPISODES = 2000, 200  # of a quality, of each player of a replay
SMAC = {"rules": "smac", "observation": "smac"}
# shares of random actions
SHARES = {
    "3m": {"Good": 0.0, "Medium": 0.15, "Poor": 0.45},
    "8m": {"Good": 0.0, "Medium": 0.2, "Poor": 0.5},
    "5m_vs_6m": {"Good": 0.0, "Medium": 0.2, "Poor": 0.4},
    "2s3z": {"Good": 0.0, "Medium": 0.45, "Poor": 0.75},
    "3s5z_vs_3s6z": {"Good": 0.0, "Medium": 0.4, "Poor": 0.7},
}
REPLAYS = ("terran_5_vs_5", "zerg_5_vs_5", "terran_10_vs_10")
FADING = tuple(tenths / 10.0 for tenths in range(10, -1, -1))
# SC2 frames a window: 255; a step is 8 of them
IMAGE_STEPS, IMAGE_EPISODES = 32, 200
IMAGE_CLASSES = ("2s3z", "3s5z", "MMM", "terran_10_vs_10", "protoss_10_vs_10")


def offline_sets():
    """By name."""
    sets = {
        f"{scenario}-{quality}": recipe(
            {mixed(BEST, share): EPISODES} if share else {BEST: EPISODES},
            layout="joint",
            keywords={"scenario": scenario, **SMAC},
            doc=f"after Off-the-Grid MARL's {scenario} {quality}",
        )
        for scenario, shares in SHARES.items()
        for quality, share in shares.items()
    }
    for scenario in REPLAYS:
        sets[f"{scenario}-Replay"] = recipe(
            {mixed(BEST, share): REPLAY_EPISODES for share in FADING},
            layout="joint",
            keywords={"scenario": scenario, **SMAC},
            doc=f"after Off-the-Grid MARL's {scenario} Replay: from random actions to the best player",
        )
    classes = {scenario: {"scenario": scenario, "rules": "smac"} for scenario in IMAGE_CLASSES}
    sets["images"] = recipe(
        {BEST: IMAGE_EPISODES},
        layout=windows(standing_units, (len(KINDS), len(KINDS), 0), IMAGE_STEPS, classes),
        doc="after StarCraftImage: where units were seen last in windows of about 11 s",
    )
    return sets


def standing_units(p: Any, s: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Layers (by side, then kind) and places in [0, 1) of the units that stand."""
    up = np.flatnonzero(s.standing)
    return s.side[up] * len(KINDS) + s.kind[up], s.x[up] / p.width, s.y[up] / p.height
