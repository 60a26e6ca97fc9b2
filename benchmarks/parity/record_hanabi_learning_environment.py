"""Record games of the Hanabi learning environment: decks, moves, and what every player sees before each move.

Installed as: hanabi-learning-environment 0.0.4 from the registry, which is compiled (with cmake 4 after `export
CMAKE_POLICY_VERSION_MINIMUM=3.5`), Python 3.11. In games "random"
players draw any allowed move, in games "simple" they follow the package's SimpleAgent, and in games "mixed" either, as
drawn for each move. The arrays are described in tests/data/README.md.
"""

import argparse
from pathlib import Path

try:
    import numpy as np
    from hanabi_learning_environment.agents.simple_agent import SimpleAgent
    from hanabi_learning_environment.rl_env import HanabiEnv
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

FULL = {"colors": 5, "ranks": 5, "max_information_tokens": 8, "max_life_tokens": 3, "observation_type": 1}
SMALL = {"colors": 2, "ranks": 5, "hand_size": 2, "max_information_tokens": 3, "max_life_tokens": 1}
OTHER = {"colors": 3, "ranks": 4, "hand_size": 3, "max_information_tokens": 5, "max_life_tokens": 2}
GAMES = [
    *(({**FULL, "players": 2}, kind) for kind in ("random", "simple", "mixed", "mixed")),
    *(({**FULL, "players": players}, "mixed") for players in (3, 4, 5)),
    ({**FULL, "players": 2, "observation_type": 0}, "mixed"),
    ({**FULL, "players": 3, "observation_type": 2}, "mixed"),
    ({**SMALL, "players": 2, "observation_type": 1}, "mixed"),
    ({**SMALL, "colors": 1, "players": 2, "observation_type": 1}, "mixed"),
    ({**OTHER, "players": 3, "observation_type": 1}, "simple"),
]


def record(config: dict[str, int], kind: str, seed: int) -> dict[str, np.ndarray]:
    """One game."""
    env = HanabiEnv({**config, "seed": seed})
    seen, agent = env.reset(), SimpleAgent({"information_tokens": config["max_information_tokens"]})
    dice, players = np.random.default_rng(seed), config["players"]
    rows: dict[str, list] = {name: [] for name in ("actions", "rewards", "observed", "legal", "simple")}

    def look() -> None:
        views = [view["vectorized"] for view in seen["player_observations"]]
        rows["observed"].append(np.packbits(np.array(views, bool), axis=1))
        legal = np.zeros((players, env.num_moves()), bool)
        for k, view in enumerate(seen["player_observations"]):
            legal[k, view["legal_moves_as_int"]] = True
        rows["legal"].append(legal)

    over = False
    look()
    while not over:
        mover = seen["current_player"]
        view = seen["player_observations"][mover]
        wanted = agent.act(view)
        simple = next(
            number
            for number, move in zip(view["legal_moves_as_int"], view["legal_moves"], strict=True)
            if move == wanted
        )
        wise = kind == "simple" or (kind == "mixed" and dice.random() < 2 / 3)
        action = simple if wise else int(dice.choice(view["legal_moves_as_int"]))
        seen, reward, over, _ = env.step(action)
        rows["actions"].append(action)
        rows["rewards"].append(reward)
        rows["simple"].append(simple)
        look()
    deals = [item.move() for item in env.state.move_history() if item.move().type() == 5]
    ranks = env.game.num_ranks()
    deck = [move.color() * ranks + move.rank() for move in deals]
    game = env.game
    numbers = [players, game.num_colors(), game.num_ranks(), game.hand_size(), game.max_information_tokens()]
    numbers += [game.max_life_tokens(), config["observation_type"]]
    return {
        "deck": np.array(deck, np.int8),
        "options": np.array(numbers, np.int64),
        **{name: np.array(values) for name, values in rows.items()},
    }


def main() -> None:
    """Write all games to one file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("tests/data/hanabi_learning_environment.npz"))
    out = parser.parse_args().out
    arrays = {
        f"game{n}_{name}": array
        for n, (config, kind) in enumerate(GAMES)
        for name, array in record(config, kind, n).items()
    }
    np.savez_compressed(out, games=np.array(len(GAMES)), **arrays)


if __name__ == "__main__":
    main()
