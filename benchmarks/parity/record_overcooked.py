"""Record games of JaxMARL's Overcooked and OvercookedV2: starts, actions, observations, rewards and shaped rewards.

Installed as: jaxmarl 0.2.0 from the registry, with jax 0.10.2 for the CPU and flax 0.12.8, Python 3.11. Cooks go to
stations that suit what they hold, most of the time, so that soups are cooked and served. Items are noted in the code of
rlenvs, which is OvercookedV2's. The arrays are described in tests/data/README.md.
"""

import argparse
from collections import deque
from importlib.metadata import version
from pathlib import Path
from typing import Any

try:
    import jax
    import numpy as np
    from jax import numpy as jnp
    from jaxmarl.environments.overcooked import Overcooked
    from jaxmarl.environments.overcooked.layouts import overcooked_layouts
    from jaxmarl.environments.overcooked_v2.layouts import Layout, overcooked_v2_layouts
    from jaxmarl.environments.overcooked_v2.overcooked import OvercookedV2
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

STEPS = 200
SIDES = ((-1, 0), (1, 0), (0, 1), (0, -1))  # up, down, right, left
STAY, INTERACT = 4, 5
ACTIONS_V2 = (3, 1, 0, 2, 4, 5)  # of up, down, right, left, stay, interact
SOUP = 15  # three onions, cooked, on a plate
ITEMS_V1 = {1: 0, 3: 4, 5: 1, 9: SOUP}
KINDS_V1 = {"wall_idx": "W", "goal_idx": "X", "plate_pile_idx": "B", "onion_pile_idx": "0", "pot_idx": "P"}
CROWD = """
WWPWBWW
0A A  X
W  A  1
R A   L
WW0W1WW
"""
V2 = {
    "cramped_room": {"sample_recipe_on_delivery": True},
    "counter_circuit": {},
    "forced_coord": {"random_reset": True},
    "cramped_room_v2": {"agent_view_size": 1, "start_cooking_interaction": True, "negative_rewards": True},
    "asymm_advantages_recipes_left": {"random_reset": True, "start_cooking_interaction": True},
    "two_rooms_both": {"random_agent_positions": True},
    "more_fun_coordination": {"indicate_successful_delivery": True, "sample_recipe_on_delivery": True},
    "grounded_coord_simple": {
        "agent_view_size": 2,
        "negative_rewards": True,
        "sample_recipe_on_delivery": True,
        "random_agent_positions": True,
    },
    "grounded_coord_ring": {"agent_view_size": 2, "random_reset": True},
    "test_time_wide": {"random_agent_positions": True, "negative_rewards": True},
    "demo_cook_simple": {"random_reset": True, "indicate_successful_delivery": True},
    "crowd": {"sample_recipe_on_delivery": True, "random_reset": True, "negative_rewards": True},
}


# --- states, in the numbers of rlenvs ---------------------------------------------------------------------------------


def start_of_v1(state: Any, layout: Any) -> dict[str, np.ndarray]:
    """A state of Overcooked; a pot's number counts down from 23: 20 and less is a soup that needs so many steps."""
    width, height = int(layout["width"]), int(layout["height"])
    padding = (state.maze_map.shape[0] - height) // 2
    cells = np.asarray(state.maze_map)[padding : padding + height, padding : padding + width].reshape(-1, 3).astype(int)
    items, timer = np.array([ITEMS_V1.get(kind, 0) for kind in cells[:, 0]]), np.zeros(len(cells), int)
    for pot in np.asarray(layout["pot_idx"]).tolist():
        status = cells[pot, 2]
        items[pot] = 4 * min(23 - status, 3) + (2 if status == 0 else 0)
        timer[pot] = status if status <= 20 else 0
    places = np.asarray(state.agent_pos).astype(int)
    return {
        "cell": places[:, 1] * width + places[:, 0],
        "facing": np.asarray(state.agent_dir_idx).astype(int),
        "held": np.array([ITEMS_V1[item] for item in np.asarray(state.agent_inv).astype(int).tolist()]),
        "items": items,
        "timer": timer,
        "recipe": np.array(12),
    }


def start_of_v2(state: Any, layout: Any) -> dict[str, np.ndarray]:
    """A state of OvercookedV2."""
    grid, agents = np.asarray(state.grid), state.agents
    return {
        "cell": np.asarray(agents.pos.y) * grid.shape[1] + np.asarray(agents.pos.x),
        "facing": np.asarray(agents.dir),
        "held": np.asarray(agents.inventory),
        "items": grid[:, :, 1].ravel(),
        "timer": grid[:, :, 2].ravel(),
        "recipe": np.asarray(state.recipe),
    }


def letters_of_v1(layout: Any) -> np.ndarray:
    """The kitchen in letters, without its cooks."""
    cells = np.full(int(layout["width"]) * int(layout["height"]), " ")
    for key, letter in KINDS_V1.items():
        cells[np.asarray(layout[key])] = letter
    return cells.reshape(int(layout["height"]), int(layout["width"]))


def letters_of_v2(layout: Any) -> np.ndarray:
    """The kitchen in letters, without its cooks."""
    codes = {0: " ", 1: "W", 4: "X", 5: "P", 6: "R", 7: "L", 9: "B", **{10 + i: str(i) for i in range(10)}}
    return np.array([[codes[int(code)] for code in row] for row in layout.static_objects])


# --- cooks who get something done -------------------------------------------------------------------------------------


def suited(letter: str, item: int, lies: int, now: dict[str, np.ndarray]) -> bool:
    """Whether a station is of use to a cook that holds an item."""
    if item & 2:
        return letter == "X"
    if item == 1:
        return letter == "P" and lies & 2 != 0
    if item:
        bits = item | item << 1
        return letter == "P" and lies & 2 == 0 and lies & bits < int(now["recipe"]) & bits
    if letter == "B":
        return bool(((now["items"] & 3) == 2).any() or (now["timer"] > 0).any())
    if letter.isdigit():
        return int(now["recipe"]) >> 2 * (int(letter) + 1) & 3 > 0
    return letter == "L" or (letter == "W" and lies != 0) or (letter == "P" and lies > 3 and lies & 2 == 0)


def ways(letters: np.ndarray, here: tuple[int, int]) -> dict[tuple[int, int], int]:
    """The side to which the way to each cell begins, of floor that can be reached and of stations next to it."""
    queue, first = deque([here]), {here: STAY}
    while queue:
        place = queue.popleft()
        for side, (down, right) in enumerate(SIDES):
            near = place[0] + down, place[1] + right
            if near not in first:
                first[near] = side if place == here else first[place]
                if letters[near] == " ":
                    queue.append(near)
    return first


def chosen(rng: np.random.Generator, letters: np.ndarray, now: dict[str, np.ndarray], goals: list[Any], k: int) -> int:
    """The action of cook k: towards its goal, which is drawn anew when it was used; one in ten is random."""
    if rng.random() < 0.1:
        return int(rng.integers(6))
    here = divmod(int(now["cell"][k]), letters.shape[1])
    first, lies = ways(letters, here), now["items"].reshape(letters.shape)
    stations = [place for place in first if letters[place] != " "]
    if goals[k] is None or rng.random() < 0.05:
        wise = [place for place in stations if suited(letters[place], int(now["held"][k]), int(lies[place]), now)]
        free = [place for place in stations if letters[place] == "W"]
        pool = stations if rng.random() < 0.05 else wise or (free if now["held"][k] else stations)
        goals[k] = pool[rng.integers(len(pool))]
    side = first[goals[k]]
    ahead = here[0] + SIDES[side][0], here[1] + SIDES[side][1]
    if ahead != goals[k] or int(now["facing"][k]) != side:
        return side
    goals[k] = None
    return INTERACT


# --- games ------------------------------------------------------------------------------------------------------------


def game(env: Any, step: Any, seed: int, start_of: Any, letters: np.ndarray, order: Any) -> dict[str, np.ndarray]:
    """One game; `order` translates actions."""
    key, dice = jax.random.PRNGKey(seed), np.random.default_rng(seed)
    seen, state = env.reset(key)
    now, goals = start_of(state, env.layout), [None] * len(env.agents)
    made: dict[str, list[Any]] = {name: [] for name in ("actions", "observed", "rewards", "shaped", "recipes")}
    first = now
    for t in range(STEPS + 1):
        made["observed"].append([np.asarray(seen[agent]) for agent in env.agents])
        made["recipes"].append(now["recipe"])
        if t == STEPS:
            break
        actions = [chosen(dice, letters, now, goals, k) for k in range(len(env.agents))]
        key, chance = jax.random.split(key)
        played = {agent: jnp.asarray(order[a]) for agent, a in zip(env.agents, actions, strict=True)}
        seen, state, rewards, ends, info = step(chance, state, played)
        assert bool(ends["__all__"]) == (t + 1 == STEPS)
        made["actions"].append(actions)
        made["rewards"].append([float(rewards[agent]) for agent in env.agents])
        made["shaped"].append([float(info["shaped_reward"][agent]) for agent in env.agents])
        now = start_of(state, env.layout)
    observed = np.array(made.pop("observed"))
    assert np.isin(observed, np.arange(256)).all()
    kinds = {"actions": np.int8, "rewards": np.int16, "shaped": np.int16, "recipes": np.int32}
    arrays = {name: np.array(rows).astype(kinds[name]) for name, rows in made.items()}
    return {
        **arrays,
        "observed": observed.astype(np.uint8),
        **{f"start_{name}": array for name, array in first.items()},
    }


def text_of(letters: np.ndarray, starts: list[int]) -> str:
    """The kitchen as rlenvs reads it, with the cooks in the order of the original."""
    cells = letters.ravel().copy()
    for k, cell in enumerate(starts):
        cells[cell] = "abcdefgh"[k]
    return "/".join("".join(row) for row in cells.reshape(letters.shape))


def record_v1() -> dict[str, np.ndarray]:
    """Two games of each layout: an ordinary start, and a random one."""
    arrays: dict[str, np.ndarray] = {}
    for name, layout in overcooked_layouts.items():
        letters, step = letters_of_v1(layout), None
        for n, random in enumerate((False, True)):
            env = Overcooked(layout=layout, random_reset=random, max_steps=STEPS)
            step = step or jax.jit(env.step_env)
            made = game(env, step, 10 + n, start_of_v1, letters, range(6))
            arrays |= {f"v1_{name}_{n}_{key}": array for key, array in made.items()}
            print(
                "v1", name, n, "soups", (made["rewards"][:, 0] == 20).sum(), "shaped", made["shaped"].sum(), flush=True
            )
        arrays[f"v1_{name}_layout"] = np.array(text_of(letters, np.asarray(layout["agent_idx"]).tolist()))
    return arrays


def record_v2() -> dict[str, np.ndarray]:
    """A game of each of some layouts, between them with all options."""
    arrays: dict[str, np.ndarray] = {}
    overcooked_v2_layouts["crowd"] = Layout.from_string(CROWD)
    for n, (name, options) in enumerate(V2.items()):
        layout = overcooked_v2_layouts[name]
        letters = letters_of_v2(layout)
        env = OvercookedV2(layout=layout, max_steps=STEPS, **options)
        made = game(env, jax.jit(env.step_env), 30 + n, start_of_v2, letters, ACTIONS_V2)
        starts = [y * letters.shape[1] + x for x, y in layout.agent_positions]
        arrays |= {f"v2_{name}_{key}": array for key, array in made.items()}
        arrays[f"v2_{name}_layout"] = np.array(text_of(letters, starts))
        arrays[f"v2_{name}_recipes_possible"] = np.array(layout.possible_recipes)
        for option in ("agent_view_size", "start_cooking_interaction", "indicate_successful_delivery"):
            arrays[f"v2_{name}_{option}"] = np.array(int(options.get(option) or 0))
        arrays[f"v2_{name}_negative"] = np.array(bool(options.get("negative_rewards")))
        rewards = made["rewards"][:, 0]
        print(
            "v2", name, "soups", (rewards > 10).sum(), "wrong", (rewards < -10).sum(), made["shaped"].sum(), flush=True
        )
    return arrays


def main() -> None:
    """Write all games to one file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("tests/data/overcooked.npz"))
    out = parser.parse_args().out
    published = {
        f"published_{name}": np.array(text_of(letters_of_v2(layout), []))
        for name, layout in overcooked_v2_layouts.items()
    }
    arrays = {**record_v1(), **published, **record_v2()}
    np.savez_compressed(out, version=np.array(version("jaxmarl")), **arrays)
    print(out, out.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
