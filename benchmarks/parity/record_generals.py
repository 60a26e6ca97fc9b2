"""Record games of generals-bots: boards, actions, armies, owners, observations and what its players would do.

Installed as: generals-bots 2.5.0 (NumPy) from the registry for "paper", 2.6.0 (JAX) from its repository for "current"
and "competition". The arrays are described in tests/data/README.md; actions are numbered as those of Generals-v0.

    python benchmarks/parity/record_generals.py paper tests/data/generals_paper.npz
    python benchmarks/parity/record_generals.py current tests/data/generals_current.npz
    python benchmarks/parity/record_generals.py competition tests/data/generals_competition.npz
"""

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np

GAMES, TICKS = 12, 130
ROWS, COLUMNS = 6, 8
CELLS = ROWS * COLUMNS
DEATHTOUCH = 60
CITIES = "0123456789x"


def draw_board(dice: np.random.Generator) -> list[str]:
    """A random board with two generals and few obstacles."""
    cells = dice.choice(list(".#" + CITIES), (ROWS, COLUMNS), p=[0.8, 0.12, *[0.08 / 11] * 11])
    places = dice.choice(CELLS, 2, replace=False)
    for place, letter in zip(places, "AB", strict=True):
        cells.flat[place] = letter
    return ["".join(row) for row in cells]


def legal_moves(army: np.ndarray, owner: np.ndarray, board: list[str], k: int) -> list[tuple[int, int, int]]:
    """Cells and directions of a player's moves, by the rules."""
    moves = []
    for row, column in np.argwhere((owner == k + 1) & (army > 1)).tolist():
        for d, (down, right) in enumerate([(-1, 0), (1, 0), (0, -1), (0, 1)]):
            i, j = row + down, column + right
            if 0 <= i < ROWS and 0 <= j < COLUMNS and board[i][j] != "#":
                moves.append((row, column, d))
    return moves


def choose(
    dice: np.random.Generator, army: np.ndarray, owner: np.ndarray, board: list[str], k: int, build: bool
) -> int:
    """A random action that likes large armies; sometimes a pass, something impossible, or a castle."""
    fate = dice.random()
    if fate < 0.04:
        return 0
    if fate < 0.1:
        return int(dice.integers(1, (9 if build else 8) * CELLS + 1))
    rich = np.flatnonzero(((owner == k + 1) & (army >= 35)).ravel())
    if build and fate < 0.4 and len(rich):
        return 1 + 8 * CELLS + int(dice.choice(rich))
    moves = legal_moves(army, owner, board, k)
    if not moves:
        return 0
    weights = np.array([float(army[row, column]) ** 2 for row, column, _ in moves])
    row, column, d = moves[dice.choice(len(moves), p=weights / weights.sum())]
    return 1 + (d + 4 * int(dice.random() < 0.3)) * CELLS + row * COLUMNS + column


def five(order: int) -> list[int]:
    """An action as [pass or build, row, column, direction, split]."""
    if order == 0:
        return [1, 0, 0, 0, 0]
    plane, cell = divmod(order - 1, CELLS)
    place = divmod(cell, COLUMNS)
    return [2, *place, 0, 0] if plane == 8 else [0, *place, plane % 4, plane // 4]


class Paper:
    """The NumPy version."""

    def __init__(self, board: list[str]) -> None:
        from generals.core.action import Action
        from generals.core.game import Game
        from generals.core.grid import Grid

        self.action = Action
        self.game = Game(Grid("\n".join(board)), ["A", "B"])

    def board(self) -> tuple[np.ndarray, np.ndarray]:
        """Armies and owners."""
        channels = self.game.channels
        return channels.armies.copy(), channels.ownership["A"] + 2 * channels.ownership["B"]

    def seen(self) -> list[np.ndarray]:
        """The planes of both players."""
        found = []
        for name in "AB":
            told = self.game.agent_observation(name)
            found.append(np.array([np.broadcast_to(told[key], (ROWS, COLUMNS)) for key in list(told.keys())[:14]]))
        return found

    def step(self, orders: list[int]) -> tuple[bool, int]:
        """One tick; whether the game is over, and who won (-1 for nobody)."""
        acts = {name: self.action(bool(o[0]), *o[1:]) for name, o in zip("AB", map(five, orders), strict=True)}
        self.game.step(acts)
        return self.game.is_done(), -1 if self.game.winner is None else "AB".index(self.game.winner)


class Current:
    """The JAX version, with the rules of its competition or without."""

    def __init__(self, board: list[str], competition: bool) -> None:
        from generals.agents import harvester_agent, hunter_agent
        from generals.core import game, rewards
        from generals.modifiers import build_castles, deathtouch
        from jax import numpy as jnp

        value = {".": 0, "#": -2, "A": 1, "B": 2, **{letter: 40 + i for i, letter in enumerate(CITIES)}}
        self.state = game.create_initial_state(jnp.array([[value[cell] for cell in row] for row in board]))
        self.competition = competition
        self.parts = SimpleNamespace(
            game=game, builds=build_castles, touch=deathtouch, rewards=rewards, jnp=jnp,
            hunter=hunter_agent.HunterAgent(), harvester=harvester_agent.HarvesterAgent(),
        )  # fmt: skip

    def board(self) -> tuple[np.ndarray, np.ndarray]:
        """Armies and owners."""
        return np.asarray(self.state.armies), np.asarray(self.state.ownership[0] + 2 * self.state.ownership[1])

    def _observations(self) -> list[Any]:
        return [self.parts.game.get_observation(self.state, k) for k in range(2)]

    def seen(self) -> list[np.ndarray]:
        """The planes of both players."""
        return [np.asarray(told.as_tensor()) for told in self._observations()]

    def advice(self, name: str) -> list[int]:
        """What a scripted player would do in both slots."""
        orders = []
        for told in self._observations():
            passes, row, column, d, half = (int(x) for x in getattr(self.parts, name).act(told, None))
            orders.append(0 if passes else 1 + (d + 4 * half) * CELLS + row * COLUMNS + column)
        return orders

    def step(self, orders: list[int]) -> tuple[bool, int, list[float]]:
        """One tick; whether the game is over, who won, and the shaped rewards."""
        parts, actions = self.parts, self.parts.jnp.array([five(order) for order in orders])
        before = self._observations()
        if self.competition:
            state, actions = parts.builds.apply_build_actions(self.state, actions)
            self.state, info = parts.touch.step(state, actions, DEATHTOUCH)
        else:
            self.state, info = parts.game.step(self.state, actions)
        after = self._observations()
        shaped = [
            float(parts.rewards.composite_reward_fn(b, actions[k], a))
            for k, (b, a) in enumerate(zip(before, after, strict=True))
        ]
        return bool(info.is_done), int(info.winner), shaped


def main() -> None:
    """Record all games of one version."""
    version, path = sys.argv[1:]
    dice = np.random.default_rng({"paper": 1, "current": 2, "competition": 3}[version])
    shape = (GAMES, TICKS + 1, ROWS, COLUMNS)
    kept: dict[str, np.ndarray] = {
        "boards": np.zeros((GAMES, ROWS), f"<U{COLUMNS}"),
        "lengths": np.zeros(GAMES, np.int32),
        "winners": np.full(GAMES, -1, np.int8),
        "actions": np.zeros((GAMES, TICKS, 2), np.int16),
        "armies": np.zeros(shape, np.int16),
        "owners": np.zeros(shape, np.uint8),
        "planes": np.zeros((GAMES, TICKS + 1, 2, 14, ROWS, COLUMNS), np.int16),
    }
    if version != "paper":
        kept["rewards"] = np.zeros((GAMES, TICKS, 2), np.float32)
        kept["hunter"] = np.zeros((GAMES, TICKS, 2), np.int16)
        kept["harvester"] = np.zeros((GAMES, TICKS, 2), np.int16)
    games = 0
    while games < GAMES:
        board = draw_board(dice)
        try:
            world: Any = Paper(board) if version == "paper" else Current(board, version == "competition")
        except ImportError as error:
            raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None
        except Exception as refusal:  # a board whose generals cannot reach each other
            print("refused:", refusal)
            continue
        kept["boards"][games] = board
        over = False
        for t in range(TICKS + 1):
            army, owner = world.board()
            kept["armies"][games, t], kept["owners"][games, t] = army, owner
            kept["planes"][games, t] = world.seen()
            kept["lengths"][games] = t
            if t == TICKS or over:
                break
            for name in ("hunter", "harvester"):
                if name in kept:
                    kept[name][games, t] = world.advice(name)
            orders = [choose(dice, army, owner, board, k, version == "competition") for k in range(2)]
            if name in kept and games % 3 == 2 and dice.random() < 0.7:  # every third game a hunt
                orders = kept["hunter"][games, t].tolist()
            kept["actions"][games, t] = orders
            over, kept["winners"][games], *rest = world.step(orders)
            if rest:
                kept["rewards"][games, t] = rest[0]
        print(games, kept["lengths"][games], kept["winners"][games])
        games += 1
    np.savez_compressed(path, **kept)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        main()
    except ModuleNotFoundError as error:
        raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None
