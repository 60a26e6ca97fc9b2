"""Record SocialNet's search in NK landscapes: landscapes, solutions, who sees whom, scores and rewards, and how its
baselines do.

Needs a checkout of https://github.com/nokpil/SocialNet (commit 8f0d94a), torch, scipy, networkx and nkmodel 0.0.7;
recorded with Python 3.11 and numpy 2.4. The arrays are described in tests/data/README.md.
"""

import argparse
import random
import sys
from pathlib import Path
from typing import Any

try:
    import networkx as nx
    import nkmodel.nk
    import numpy as np
    import scipy  # noqa: F401 (of the original)
    import torch  # noqa: F401 (of the original)
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

AGENTS, STEPS = 16, 30
OWN, SELECTIVE = {"reward_type": "indv_raw_full", "corr_type": "FF"}, {"corr_type": "TT"}
GAMES: dict[str, dict[str, Any]] = {  # N: loci, K: links, exp: sharpness
    "default": {"N": 12, "K": 5, "exp": 8, "neighbor_num": 3, **OWN},
    "published": {"N": 15, "K": 7, "exp": 8, "neighbor_num": 3, **OWN},
    "selective": {"N": 10, "K": 3, "exp": 4, "neighbor_num": 5, **OWN, **SELECTIVE},
    "group": {"N": 8, "K": 0, "exp": 2, "neighbor_num": 2, **OWN, "reward_type": "pop_raw_full"},
}
BASELINES = ("IndvLearning", "RandomCopy", "FollowBest_indv")
LANDSCAPES, COPIES, LENGTH = 20, 4, 40  # under baselines; in each; steps
SMALL = {"N": 8, "K": 3, "exp": 8, "neighbor_num": 3, **OWN, **SELECTIVE}


class Numbers:
    """Random numbers for nkmodel, whose landscapes sample sets, which Python 3.11 no longer does; float32, so that they
    can be stored as they are."""

    @staticmethod
    def sample(population: Any, k: int) -> list[int]:
        return random.sample(sorted(population), k)

    @staticmethod
    def random() -> float:
        return float(np.float32(random.random()))


def game(copies: int, keywords: dict[str, Any]) -> Any:
    """The original after its reset, with a new landscape."""
    from envs import SL_NK_total

    complete = {"graph": nx.complete_graph, "graph_dict": {"n": AGENTS}}
    env = SL_NK_total(E=copies, M=AGENTS, extra_type="SI", **complete, **keywords)
    env.reset(base=True)
    return env


def landscape(env: Any) -> dict[str, np.ndarray]:
    """Which bits a locus depends on, and its contributions, by their number: the first bit counts 1, the next 2 ..."""
    found = env.landscape
    entries = [tuple(entry >> i & 1 for i in range(env.K + 1)) for entry in range(2 ** (env.K + 1))]
    worth = np.array([[values[entry] for entry in entries] for values in found.values])
    return {"links": np.array(found.dependence, np.uint8), "worth": worth.astype(np.float32)}


def watched(env: Any) -> tuple[np.ndarray, np.ndarray]:
    """An observation, and who is seen in it, which the original draws and forgets."""
    before = np.random.get_state()  # noqa: NPY002 (the original's generator)
    seen = env.get_obs()
    after = np.random.get_state()  # noqa: NPY002
    np.random.set_state(before)  # noqa: NPY002
    others = [np.random.permutation(list(env.graph.neighbors(k)))[: env.neighbor_num] for k in range(AGENTS)]  # noqa: NPY002
    np.random.set_state(after)  # noqa: NPY002
    return seen, np.array(others)


def chosen(dice: np.random.Generator, seen: np.ndarray) -> np.ndarray:
    """Solutions at random, copies of the first one that is seen, or the own one with another bit."""
    own, first = seen[0, :, 0, :-2].astype(int), seen[0, :, 1, :-2].astype(int)
    changed = own ^ np.eye(own.shape[1], dtype=int)[dice.integers(own.shape[1], size=AGENTS)]
    anything = dice.integers(2, size=own.shape)
    which = dice.integers(3, size=(AGENTS, 1))
    return np.select([which == 0, which == 1], [anything, first], changed)


def played(keywords: dict[str, Any], seed: int) -> dict[str, np.ndarray]:
    """One game with all that it shows."""
    np.random.seed(seed)  # noqa: NPY002 (the original's generator)
    random.seed(seed)
    env, dice = game(1, keywords), np.random.default_rng(seed)
    names = ("solutions", "scores", "watched", "seen", "actions", "rewards")
    rows: dict[str, list] = {name: [] for name in names}
    for step in range(STEPS + 1):
        seen, others = watched(env)
        for name, value in zip(names[:4], (env.states[0], env.scores[0, :, 0], others, seen[0]), strict=True):
            rows[name].append(np.array(value))
        if step < STEPS:
            actions = chosen(dice, seen)
            rows["actions"].append(actions)
            rows["rewards"].append(env.step(actions[None])[1][0])
    small = {"solutions": np.uint8, "watched": np.uint8, "actions": np.uint8, "seen": np.float32}
    return landscape(env) | {name: np.array(values, small.get(name)) for name, values in rows.items()}


def baselines() -> dict[str, np.ndarray]:
    """The mean score of agents that follow baselines, (baselines, landscapes, steps + 1), and the landscapes."""
    import ppo.core

    fields: list[dict[str, np.ndarray]] = []
    means = np.zeros((len(BASELINES), LANDSCAPES, LENGTH + 1))
    for number in range(LANDSCAPES):
        random.seed(100 + number)
        np.random.seed(100 + number)  # noqa: NPY002
        env = game(COPIES, SMALL)
        fields.append(landscape(env))
        for row, name in enumerate(BASELINES):
            seen, _ = env.reset(states=env.observation_space.sample(), state_only=True)
            player = getattr(ppo.core, name)(env, "total", "SI", "TT")
            for step in range(LENGTH + 1):
                means[row, number, step] = env.scores.mean()
                seen, _, _ = env.step(player.step(seen).astype(int))
    return {"means": means, **{name: np.array([field[name] for field in fields]) for name in fields[0]}}


def main() -> None:
    """Write all to one file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clone", required=True, help="the checkout")
    parser.add_argument("--out", type=Path, default=Path("tests/data/social_net.npz"))
    options = parser.parse_args()
    sys.path.insert(0, options.clone)
    nkmodel.nk.random = Numbers
    games = {name: played(keywords, seed) for seed, (name, keywords) in enumerate(GAMES.items())}
    games["baselines"] = baselines()
    np.savez_compressed(
        options.out, **{f"{game}_{name}": array for game, rows in games.items() for name, array in rows.items()}
    )


if __name__ == "__main__":
    main()
