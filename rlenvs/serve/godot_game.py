"""The game's side of Godot RL Agents' protocol 0.7: an environment that its Python package takes for a game.

A game connects to the trainer and answers one request at a time. Each agent of each world is an agent of the game. An
observation is called "obs", an image "camera_2d"; actions are "action", or "action_0", "action_1", ... of several
choices. Worlds begin anew in the step that ends their episode. What the protocol has no place for is in the infos of
that step, where Stable-Baselines3 finds it: "terminal_observation" and "TimeLimit.truncated".
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from rlenvs.bridge.godot import IMAGE, PORT, VERSION, read_json, send_json
from rlenvs.bridge.spaces import WHOLE
from rlenvs.bridge.wire import Wire
from rlenvs.core.declare.errors import BridgeError, LostConnectionError, RlenvsError, shortened
from rlenvs.core.declare.inputs import first_seed_of
from rlenvs.serve.worlds import Worlds

__all__ = ["GodotSide", "as_game", "play_game"]

LARGEST = float(np.finfo(np.float32).max)  # stands for no bound: JSON has no infinity


class GodotSide:
    """Worlds that answer the messages of a trainer. A message that is refused changes nothing.

    Args:
        id: of the environment.
        num: how many worlds.
        seed: world i is seeded with seed + i.
        keywords: of `rlenvs.make_batch`.

    Raises:
        UnknownNameError, UnknownKeywordError, ParameterError: as for `rlenvs.make_batch`.
    """

    def __init__(self, id: str, num: int = 1, seed: int = 0, **keywords: Any) -> None:
        self.worlds = worlds = Worlds(id, num, autoreset=AutoresetMode.SAME_STEP, **keywords)
        self.batch = worlds.batch
        self.slots = self.batch.num_envs * len(worlds.agents)
        self._observed, self._shown = _observation_entries(worlds.observation_space)
        self._acted = _action_entries(worlds.action_space)
        self._alive = np.ones(self.batch.rewards.shape, np.bool_)  # before the step
        worlds.begin(np.arange(self.batch.num_envs) + first_seed_of(seed))

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """What the game says to a message; None to a handshake.

        Raises:
            BridgeError: the message is none of the protocol, or asks for what cannot be done.
        """
        kind = message.get("type")
        if kind == "handshake":
            self._check_version(message)
            return None
        if kind == "env_info":
            return self.env_info()
        if kind == "reset":
            return self._reset()
        if kind == "action":
            return self._step(message.get("action"))
        if kind == "call":
            return self._call(message.get("method"))
        known = "'handshake', 'env_info', 'reset', 'action', 'call', 'close'"
        raise BridgeError(f"a message of type {shortened(kind)} is none of {known}")

    @staticmethod
    def _check_version(message: Mapping[str, Any]) -> None:
        given = message.get("major_version"), message.get("minor_version")
        if given != VERSION:
            raise BridgeError(
                f"the trainer speaks version {shortened(given)} of Godot RL Agents' protocol; needed: {VERSION}"
            )

    def env_info(self) -> dict[str, Any]:
        """Agents and spaces, the same for all agents."""
        policies = [name for _ in range(self.batch.num_envs) for name in self.worlds.agents]
        shared = len(self.worlds.agents) == 1
        return {
            "type": "env_info",
            "n_agents": self.slots,
            "observation_space": [self._observed] * self.slots,
            "action_space": [{name: entry for name, entry, _ in self._acted}] * self.slots,
            "agent_policy_names": ["shared_policy"] * self.slots if shared else policies,
        }

    def _reset(self) -> dict[str, Any]:
        self.worlds.begin(np.full(self.batch.num_envs, -1))
        self._alive[:] = True
        return {"type": "reset", "obs": self._seen(), "info": [{}] * self.slots}

    def _step(self, given: Any) -> dict[str, Any]:
        batch = self.batch
        if not isinstance(given, list) or len(given) != self.slots:
            raise BridgeError(f"action={shortened(given)} must be a list with an entry for each of {self.slots} agents")
        actions = np.array([[read(_value(one, name)) for name, _, read in self._acted] for one in given])
        shape = (batch.num_envs, len(self.worlds.agents), *(self.worlds.action_space.shape or ()))
        try:
            self.worlds.step(actions.reshape(shape))
        except RlenvsError as error:
            raise BridgeError(f"the step is refused: {error}") from None
        ended = batch.terminated | batch.truncated
        restarted = np.broadcast_to(batch.at_start[:, None], ended.shape)
        infos: list[dict[str, Any]] = [{} for _ in range(self.slots)]
        for world, agent in np.argwhere(ended).tolist():
            infos[world * len(self.worlds.agents) + agent] = self._ending(world, agent, bool(restarted[world, agent]))
        for slot in np.flatnonzero(~self._alive).tolist():
            infos[slot]["idle"] = True
        self._alive = (self._alive & ~ended) | restarted
        rewards, dones = batch.rewards.reshape(-1).tolist(), (ended | restarted).reshape(-1).tolist()
        return {"type": "step", "obs": self._seen(), "reward": rewards, "done": dones, "info": infos}

    def _ending(self, world: int, agent: int, final: bool) -> dict[str, Any]:
        """How an agent's episode ended; `final` where its world has begun the next one in the same step."""
        batch = self.batch
        cut = bool(batch.truncated[world, agent] and not batch.terminated[world, agent])
        success = (batch.final_success if final else batch.success)[world, agent]
        told: dict[str, Any] = {"TimeLimit.truncated": cut, "is_success": bool(success)}
        if self.batch.world.costs:
            told["cost"] = float((batch.final_costs if final else batch.costs)[world, agent])
        if not any(IMAGE in name for name in self._shown):  # Stable-Baselines3 reads no texts there
            last = batch.get_observations((world, agent), final=final)
            told["terminal_observation"] = self._named(last if isinstance(last, dict) else {WHOLE: last})
        return told

    def _call(self, method: Any) -> dict[str, Any]:
        batch = self.batch
        masks = batch.masks.reshape(self.slots, -1)
        known: dict[str, Callable[[], list[Any]]] = {
            "action_masks": masks.tolist,
            "is_success": batch.success.reshape(-1).tolist,
        }
        if not isinstance(method, str) or method not in known:
            raise BridgeError(f"method={shortened(method)} is not one of {', '.join(map(repr, known))}")
        return {"type": "call", "returns": known[method]()}

    def _seen(self) -> list[dict[str, Any]]:
        """The observations of all agents."""
        found = self.batch.get_observations(copy=False)
        parts = found if isinstance(found, dict) else {WHOLE: found}
        columns = {part: rows.reshape(self.slots, *rows.shape[2:]) for part, rows in parts.items()}
        return [self._named({part: rows[slot] for part, rows in columns.items()}) for slot in range(self.slots)]

    def _named(self, parts: Mapping[str, np.ndarray]) -> dict[str, Any]:
        return {
            name: np.ascontiguousarray(parts[part]).tobytes().hex()
            if IMAGE in name
            else np.asarray(parts[part]).tolist()
            for name, part in self._shown.items()
        }

    def close(self) -> None:
        """Release what the worlds hold outside Python."""
        self.worlds.close()


def _observation_entries(space: spaces.Space) -> tuple[dict[str, Any], dict[str, str]]:
    """What the protocol is told of observations, by name, and which part of the space each is."""
    parts = space.spaces if isinstance(space, spaces.Dict) else {WHOLE: space}
    told: dict[str, Any] = {}
    shown = {}
    for part, own in parts.items():
        image = isinstance(own, spaces.Box) and own.dtype == np.uint8 and len(own.shape) == 3
        name = part.replace(IMAGE, "2_d") or ("camera" if image else "obs")
        shown[f"{name}_{IMAGE}" if image else name] = part
    for name, part in shown.items():
        own = parts[part]
        if isinstance(own, spaces.Discrete):
            told[name] = {"space": "discrete", "size": int(own.n)}
            continue
        low, high = (
            (own.low.min(), own.high.max()) if isinstance(own, spaces.Box) else (0, np.max(getattr(own, "nvec", 2)) - 1)
        )
        bounds = {"low": max(float(low), -LARGEST), "high": min(float(high), LARGEST)}
        told[name] = {"space": "box", "size": list(own.shape or ()), **bounds}
    return told, shown


def _value(one: Any, name: str) -> Any:
    if not isinstance(one, dict) or name not in one:
        raise BridgeError(f"an agent's action {shortened(one)} lacks {name!r}")
    return one[name]


def _action_entries(space: spaces.Space) -> list[tuple[str, dict[str, Any], Callable[[Any], Any]]]:
    """Name, description and reader of each part of an action."""
    if isinstance(space, spaces.Box):
        size = space.low.size
        return [("action", {"action_type": "continuous", "size": size}, partial(_numbers, space=space, size=size))]
    if isinstance(space, spaces.Discrete):
        counts, names = [int(space.n)], ["action"]
    else:
        counts = space.nvec.tolist() if isinstance(space, spaces.MultiDiscrete) else [2] * (space.shape or (0,))[0]
        names = [f"action_{i}" for i in range(len(counts))]
    return [
        (name, {"action_type": "discrete", "size": count}, partial(_choice, count=count))
        for name, count in zip(names, counts, strict=True)
    ]


def _choice(value: Any, count: int) -> int:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if type(value) not in (int, float) or not 0 <= value < count or value != int(value):
        raise BridgeError(f"action {shortened(value)} must be a whole number from 0 to {count - 1}")
    return int(value)


def _numbers(value: Any, space: spaces.Box, size: int) -> np.ndarray:
    """An action in [-1, 1], clipped, in the bounds of the space."""
    numbers = isinstance(value, list) and len(value) == size and all(type(number) in (int, float) for number in value)
    if not numbers or not all(abs(number) < LARGEST for number in value):  # NaN is not below either
        raise BridgeError(f"action {shortened(value)} must be {size} finite numbers")
    low, high = space.low.reshape(-1).astype(np.float64), space.high.reshape(-1).astype(np.float64)
    taken = np.clip(np.array(value, np.float64), -1.0, 1.0)
    return np.where((low == -1.0) & (high == 1.0), taken, low + (taken + 1.0) / 2.0 * (high - low))


def play_game(game: GodotSide, port: int = PORT, patience: float = 60.0) -> None:
    """Connect to a trainer on this machine, and answer until it ends the game.

    Args:
        game: what is played.
        port: on which the trainer listens.
        patience: seconds to wait for it.

    Raises:
        BridgeError: there is no trainer, or it says what the protocol does not know.
        LostConnectionError: it was lost without ending the game.
    """
    wire = Wire.to("127.0.0.1", port, patience, patience)
    wire.socket.settimeout(None)  # it may learn for as long as it likes
    try:
        while (message := read_json(wire)).get("type") != "close":
            answer = game.answer(message)
            if answer is not None:
                send_json(wire, answer)
    finally:
        wire.close(drain=True)


def as_game(id: str, num: int = 1, **keywords: Any) -> None:
    """Be the program of a game: for a file that Godot RL Agents starts, several times beside each other.

    Of its arguments `--port=` and `--env_seed=` count; those of windows and frames mean nothing here.

    Args:
        id, num, keywords: as for `GodotSide`.

    Raises:
        BridgeError: as for `play_game`.
    """
    given = dict(part[2:].split("=", 1) for part in sys.argv[1:] if part.startswith("--") and "=" in part)
    try:
        port, seed = int(given.get("port", PORT)), int(given.get("env_seed", 0))
    except ValueError:
        raise BridgeError(f"--port and --env_seed must be whole numbers, not {shortened(given)}") from None
    game = GodotSide(id, num, seed, **keywords)
    try:
        play_game(game, port)
    except LostConnectionError:
        pass  # the trainer ended without saying so
    finally:
        game.close()
