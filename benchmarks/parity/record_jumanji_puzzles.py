"""Record random episodes of Jumanji's cube, 2048, sliding tiles, Minesweeper and Sokoban.

Installed as: the package jumanji from the registry, in an environment of its own. The arrays are described in
tests/data/README.md.
"""

import argparse
from importlib.metadata import version
from pathlib import Path

try:
    import jax
    import jumanji
    import numpy as np
    from jumanji.environments import Minesweeper, RubiksCube, Sokoban
    from jumanji.environments.logic.rubiks_cube.generator import ScramblingGenerator
    from jumanji.environments.routing.sokoban.generator import SimpleSolveGenerator
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None


def roll(env: object, look: object, actions: object, seed: int) -> dict[str, list]:
    """What `look` sees of the states of an episode, with actions, rewards and ends."""
    step = jax.jit(env.step)
    state, timestep = jax.jit(env.reset)(jax.random.PRNGKey(seed))
    record: dict[str, list] = {"seen": [look(state)], "actions": [], "rewards": [], "ends": []}
    for action in actions(state):
        state, timestep = step(state, action)
        record["seen"].append(look(state))
        record["actions"].append(np.array(action))
        record["rewards"].append(float(timestep.reward))
        record["ends"].append(bool(timestep.last()))
        if timestep.last():
            break
    return record


def main() -> None:
    """Play and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    output = parser.parse_args().output
    rng = np.random.default_rng(0)
    moves = rng.integers(4, size=400)
    record: dict[str, object] = {"version": version("jumanji")}

    for size in (2, 3, 4):
        generator = ScramblingGenerator(cube_size=size, num_scrambles_on_reset=0)
        env = RubiksCube(generator=generator, time_limit=1000)
        turns = np.stack([rng.integers(6, size=60), rng.integers(size // 2, size=60), rng.integers(3, size=60)], axis=1)
        found = roll(env, lambda state: np.array(state.cube, np.int8), lambda _, t=turns: t, 0)
        for name in ("seen", "actions", "rewards"):
            record[f"cube{size}_{name}"] = np.array(found[name])

    found = roll(jumanji.make("Game2048-v1"), lambda state: np.array(state.board, np.int8), lambda _: moves, 1)
    tiles = roll(
        jumanji.make("SlidingTilePuzzle-v0"), lambda state: np.array(state.puzzle, np.int8), lambda _: moves, 2
    )
    sokoban = roll(
        Sokoban(generator=SimpleSolveGenerator()),
        lambda state: np.stack([np.array(state.fixed_grid), np.array(state.variable_grid)]).astype(np.int8),
        lambda _: np.concatenate([moves[:60], [0] * 5]),
        3,
    )
    for name, each in (("2048", found), ("tiles", tiles), ("sokoban", sokoban)):
        for field in ("seen", "actions", "rewards", "ends"):
            record[f"{name}_{field}"] = np.array(each[field])

    for game in range(4):
        env = Minesweeper()
        mines: list[np.ndarray] = []

        def cells(state: object, mines: list = mines, game: int = game) -> list:
            mines.append(np.array(state.flat_mine_locations))
            order = [cell for cell in rng.permutation(100) if cell not in set(mines[0].tolist())]
            order = order[:30] + [int(mines[0][0])] if game else order
            return [np.array([cell // 10, cell % 10]) for cell in order]

        found = roll(env, lambda state: np.array(state.board, np.int8), cells, game)
        record[f"mines{game}_mines"] = mines[0]
        for field in ("seen", "actions", "rewards", "ends"):
            record[f"mines{game}_{field}"] = np.array(found[field])
    np.savez_compressed(output, **record)
    print({name: np.shape(array) for name, array in record.items()})


if __name__ == "__main__":
    main()
