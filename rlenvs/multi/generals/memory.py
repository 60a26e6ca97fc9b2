"""Memory: planes of what a player has seen, beside what it sees now.

The paper behind the game names such features, with potential-based rewards, as what made learning work. Wrappers for
every API form append them to the observation; `Memory` does the work for any number of players at once.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from pettingzoo.utils.wrappers import BaseParallelWrapper

from rlenvs.core.errors import ParameterError

# planes of the game's observation
ARMIES, GENERALS, CITIES, MOUNTAINS, OWN, ENEMIES, FOG, HIDDEN, TICK = 0, 1, 2, 3, 5, 6, 7, 8, 13

PLANES = (
    "explored",  # 1 where the cell was in sight once
    "mountains",  # mountains seen
    "cities",  # cities seen
    "generals",  # generals of others, where they were seen last
    "enemies",  # whose owner was an enemy when it was seen last
    "armies",  # armies when they were seen last
    "age",  # ticks since the cell was in sight; the tick where it never was
    "watched",  # cells that an enemy cell in sight can see
)
MOST = 1_000_000.0


class Memory:
    """What `count` players remember of boards of one shape.

    Args:
        count: number of players.
        shape: (height, width) of the planes.
        moves: of how many past moves the source and the target are shown, in planes of their own.
    """

    def __init__(self, count: int, shape: tuple[int, ...], moves: int = 1) -> None:
        if isinstance(moves, bool) or not isinstance(moves, int) or moves < 0:
            raise ParameterError(f"moves={moves!r} must be a whole number, 0 or more")
        self.moves = moves
        self.planes = np.zeros((count, len(PLANES) + 2 * moves, *shape), np.float32)

    def update(self, seen: np.ndarray, actions: np.ndarray | None = None, rows: Any = slice(None)) -> np.ndarray:
        """Take in new observations. Where the tick is 0 a game has begun and all before is forgotten.

        Args:
            seen: float32 (players, planes of the game, height, width).
            actions: int (players,), the last ones; None after a reset.
            rows: which players these are; all by default.

        Returns:
            float32 (players, planes of the memory, height, width), a copy.
        """
        kept = self.planes[rows]
        if actions is not None and self.moves:
            self._shift_moves(kept, np.asarray(actions))
        kept[seen[:, TICK, 0, 0] == 0] = 0.0
        sight = (seen[:, FOG] == 0) & (seen[:, HIDDEN] == 0)
        named = dict(zip(PLANES, np.moveaxis(kept[:, : len(PLANES)], 1, 0), strict=True))
        named["explored"][sight] = 1.0
        enemy = seen[:, ENEMIES] > 0
        for name, now in (
            ("mountains", seen[:, MOUNTAINS]), ("cities", seen[:, CITIES]), ("enemies", enemy),
            ("generals", (seen[:, GENERALS] > 0) & (seen[:, OWN] == 0)), ("armies", seen[:, ARMIES]),
        ):  # fmt: skip
            np.copyto(named[name], now, where=sight, casting="unsafe")
        tick = seen[:, TICK]
        named["age"][:] = np.where(sight, 0.0, np.where(named["explored"] > 0, named["age"] + 1.0, tick))
        named["watched"][:] = _around(enemy)
        self.planes[rows] = kept
        return kept.copy()

    def _shift_moves(self, kept: np.ndarray, actions: np.ndarray) -> None:
        first, (height, width) = len(PLANES), kept.shape[2:]
        cells = height * width
        kept[:, first + 2 :] = kept[:, first:-2].copy()
        kept[:, first : first + 2] = 0.0
        moved = np.flatnonzero((actions > 0) & (actions <= 8 * cells))
        plane, cell = np.divmod(actions[moved] - 1, cells)
        row, column = np.divmod(cell, width)
        down, right = np.array([(-1, 0), (1, 0), (0, -1), (0, 1)])[plane % 4].T
        kept[moved, first, row, column] = 1.0
        row, column = row + down, column + right
        inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
        kept[moved[inside], first + 1, row[inside], column[inside]] = 1.0


def _around(cells: np.ndarray) -> np.ndarray:
    """The cells within one step, also diagonally, of marked ones, bool (players, height, width)."""
    wide = cells.copy()
    wide[:, 1:] |= cells[:, :-1]
    wide[:, :-1] |= cells[:, 1:]
    out = wide.copy()
    out[:, :, 1:] |= wide[:, :, :-1]
    out[:, :, :-1] |= wide[:, :, 1:]
    return out


def _space(space: Any, moves: int) -> spaces.Box:
    """The space of an observation with memory."""
    if not isinstance(space, spaces.Box) or len(space.shape) != 3 or space.shape[0] < TICK + 1:
        raise ParameterError(
            f"observations in {space} are not those of Generals; remember before other wrappers change them"
        )
    more = (len(PLANES) + 2 * moves, *space.shape[1:])
    low, high = np.zeros(more, np.float32), np.ones(more, np.float32)
    high[PLANES.index("armies")] = high[PLANES.index("age")] = MOST
    return spaces.Box(np.concatenate([space.low, low]), np.concatenate([space.high, high]), dtype=np.float32)


class RememberEnv(gymnasium.Wrapper):
    """The Gymnasium form with memory: observations (planes of the game, then of the memory), height, width.

    Args:
        env: Generals in Gymnasium form.
        moves: as for `Memory`.
    """

    def __init__(self, env: gymnasium.Env, moves: int = 1) -> None:
        super().__init__(env)
        assert env.observation_space.shape is not None
        self.memory = Memory(1, env.observation_space.shape[1:], moves)
        self.observation_space = _space(env.observation_space, moves)

    def _with_memory(self, seen: np.ndarray, action: Any = None) -> np.ndarray:
        actions = None if action is None else np.array([action])
        return np.concatenate([seen, self.memory.update(seen[None], actions)[0]])

    def reset(self, **keywords: Any) -> tuple[np.ndarray, dict[str, Any]]:
        """Reset; nothing is remembered."""
        seen, info = self.env.reset(**keywords)
        return self._with_memory(seen), info

    def step(self, action: Any) -> tuple[np.ndarray, Any, bool, bool, dict[str, Any]]:
        """Step, and remember."""
        seen, *rest = self.env.step(action)
        return (self._with_memory(seen, action), *rest)  # type: ignore[return-value]


class RememberVectorEnv(gymnasium.vector.VectorWrapper):
    """The vector form with memory, in every autoreset mode; `infos["final_obs"]` has it too.

    Args:
        env: Generals in vector form.
        moves: as for `Memory`.
    """

    def __init__(self, env: gymnasium.vector.VectorEnv, moves: int = 1) -> None:
        super().__init__(env)
        assert env.single_observation_space.shape is not None
        self.memory = Memory(env.num_envs, env.single_observation_space.shape[1:], moves)
        self._single_observation_space = _space(env.single_observation_space, moves)
        self._observation_space = gymnasium.vector.utils.batch_space(self._single_observation_space, env.num_envs)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Reset all games, or those of options["reset_mask"]."""
        seen, infos = self.env.reset(seed=seed, options=options)
        mask = (options or {}).get("reset_mask", np.ones(self.num_envs, np.bool_))
        self.memory.update(seen[mask], rows=mask)
        return np.concatenate([seen, self.memory.planes], axis=1), infos

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Step all games, and remember."""
        seen, rewards, terminated, truncated, infos = self.env.step(actions)
        actions = np.asarray(actions)
        for i in np.flatnonzero(infos.get("_final_obs", ())):
            last = infos["final_obs"][i]
            planes = self.memory.update(last[None], actions[i : i + 1], [i])[0]
            infos["final_obs"][i] = np.concatenate([last, planes])
        return np.concatenate([seen, self.memory.update(seen, actions)], axis=1), rewards, terminated, truncated, infos


class RememberParallelEnv(BaseParallelWrapper):
    """PettingZoo's parallel form with memory, for each player its own.

    Args:
        env: Generals in parallel form.
        moves: as for `Memory`.
    """

    def __init__(self, env: Any, moves: int = 1) -> None:
        super().__init__(env)
        self._spaces = {
            agent: spaces.Dict(
                {
                    "observation": _space(env.observation_space(agent)["observation"], moves),
                    "action_mask": env.observation_space(agent)["action_mask"],
                }
            )
            for agent in env.possible_agents
        }
        shape = env.observation_space(env.possible_agents[0])["observation"].shape
        self.memory = Memory(len(env.possible_agents), shape[1:], moves)

    def observation_space(self, agent: str) -> spaces.Dict:
        """The observation space of an agent, the same object on every call."""
        return self._spaces[agent]

    def _with_memory(self, seen: dict[str, Any], actions: dict[str, Any] | None = None) -> dict[str, Any]:
        found = {}
        for agent, parts in seen.items():
            action = None if actions is None else np.array([actions[agent]])
            row = [self.env.possible_agents.index(agent)]
            planes = self.memory.update(parts["observation"][None], action, row)[0]
            found[agent] = {**parts, "observation": np.concatenate([parts["observation"], planes])}
        return found

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict, dict]:
        """Reset; nothing is remembered."""
        seen, infos = self.env.reset(seed=seed, options=options)
        return self._with_memory(seen), infos

    def step(self, actions: dict[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        """Step, and remember."""
        seen, *rest = self.env.step(actions)
        return (self._with_memory(seen, actions), *rest)
