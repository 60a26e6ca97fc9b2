"""Record games of Overcooked-AI in its five layouts: starts, actions, states, layers, rewards.

Installed as: overcooked-ai 1.1.0 without its dependencies, with gymnasium 1.4.0 (in place of gym), numpy 1.26.4, scipy,
pygame and tqdm from the registry, Python 3.11; and rlenvs, whose planners choose four in five actions, so that soups
are cooked and served. The arrays are described in tests/data/README.md.
"""

import argparse
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import rlenvs

sys.modules["gym"] = gymnasium
try:
    from overcooked_ai_py.mdp.actions import Action, Direction
    from overcooked_ai_py.mdp.overcooked_mdp import OvercookedGridworld
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

STEPS = 300
LAYOUTS = {
    "cramped_room": "cramped_room",
    "asymm_advantages": "asymmetric_advantages",
    "coord_ring": "coordination_ring",
    "forced_coord": "forced_coordination",
    "counter_circuit": "counter_circuit_o_1order",
}
ITEMS = {"onion": 4, "dish": 1}
CELLS = {"X": "W", "D": "B", "S": "X", "1": " ", "2": " "}  # letters that differ from ours


def item_of(thing: Any) -> int:
    """What is held, or lies or cooks somewhere, as a number of ours."""
    if thing.name != "soup":
        return ITEMS[thing.name]
    return 4 * len(thing.ingredients) + (2 if thing.is_ready else 0)


def noted(mdp: Any, state: Any) -> dict[str, np.ndarray]:
    """A state, in the numbers of ours; soups outside pots are on plates."""
    width, height = mdp.shape
    pots = mdp.get_pot_locations()
    items, timer = np.zeros(width * height, int), np.zeros(width * height, int)
    for (x, y), thing in state.objects.items():
        in_pot = (x, y) in pots
        items[y * width + x] = item_of(thing) + (thing.name == "soup" and not in_pot)
        if in_pot and thing.is_cooking:
            timer[y * width + x] = thing.cook_time - thing._cooking_tick
    held = [player.held_object for player in state.players]
    return {
        "cell": np.array([y * width + x for x, y in state.player_positions]),
        "facing": np.array([Direction.DIRECTION_TO_INDEX[way] for way in state.player_orientations]),
        "held": np.array([item_of(thing) + (thing.name == "soup") if thing else 0 for thing in held]),
        "items": items,
        "timer": timer,
    }


def layers(mdp: Any, state: Any) -> np.ndarray:
    """What both cooks see, (cooks, rows, columns, layers)."""
    return np.stack(mdp.lossless_state_encoding(state, horizon=STEPS)).swapaxes(1, 2).astype(np.uint8)


def record(name: str, generator: np.random.Generator) -> dict[str, np.ndarray]:
    """A game in a layout."""
    mdp = OvercookedGridworld.from_layout_name(LAYOUTS[name])
    state = mdp.get_standard_start_state()
    keywords = {"layout": name, "start_cooking": True, "horizon": STEPS + 1}
    batch = rlenvs.make_batch("Overcooked-v0", 1, threads=1, backend="python", **keywords)
    batch.seed([0])
    batch.reset()
    states, seen, actions, rewards = [noted(mdp, state)], [layers(mdp, state)], [], []
    for _ in range(STEPS):
        s = batch.records(0)[1]
        for field, values in states[-1].items():
            getattr(s, field)[:] = values
        planned = batch.player_actions("planner").reshape(2)
        chosen = np.where(generator.random(2) < 0.8, planned, generator.integers(6, size=2))
        state, infos = mdp.get_state_transition(state, [Action.INDEX_TO_ACTION[action] for action in chosen])
        states.append(noted(mdp, state))
        seen.append(layers(mdp, state))
        actions.append(chosen)
        rewards.append(sum(infos["sparse_reward_by_agent"]))
    rows = ["".join(CELLS.get(cell, cell) for cell in row) for row in mdp.terrain_mtx]
    return {
        "layout": np.array("/".join(rows)),
        "actions": np.array(actions, np.uint8),
        "rewards": np.array(rewards, np.uint8),
        "observed": np.array(seen),
        **{field: np.array([each[field] for each in states], np.int16) for field in states[0]},
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("tests/data/overcooked_ai.npz"))
    out = parser.parse_args().out
    arrays = {"version": np.array(version("overcooked-ai"))}
    for number, name in enumerate(LAYOUTS):
        game = record(name, np.random.default_rng(number))
        print(f"{name}: {int((game['rewards'] > 0).sum())} soups")
        arrays |= {f"{name}_{key}": value for key, value in game.items()}
    np.savez_compressed(out, **arrays)
