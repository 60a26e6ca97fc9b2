"""Games of Godot RL Agents as environments: the trainer's side of its protocol 0.7 (arXiv 2112.03636).

The trainer listens on this machine and the game connects to it. A message is a length of 4 bytes (little-endian) and
JSON text; the game answers one request at a time. What this protocol lacks cannot be added from here: seeds at a
reset, and the last observation of an episode; `done` means terminated, unless the game tells "TimeLimit.truncated" in
its infos.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from rlenvs.bridge.actions import checked_actions
from rlenvs.bridge.spaces import WHOLE
from rlenvs.bridge.teams import Team
from rlenvs.bridge.wire import Wire, json_object, seconds_of, text_bytes
from rlenvs.core.declare.errors import BridgeError, ParameterError, shortened
from rlenvs.core.declare.inputs import first_seed_of, positive

__all__ = ["GodotGame", "GodotParallelEnv", "GodotVectorEnv"]

VERSION = ("0", "7")
PORT = 11008
LONGEST = 1 << 26  # bytes of a message
IMAGE = "2d"  # in the name of an observation: an image, sent as hexadecimal text
MOST_AGENTS = 1 << 16
LARGEST = sys.float_info.max


def send_json(wire: Wire, message: Mapping[str, Any]) -> None:
    """Send a message; LostConnectionError where the other side is gone."""
    body = text_bytes(message)
    wire.send(len(body).to_bytes(4, "little") + body)


def read_json(wire: Wire) -> dict[str, Any]:
    """The next message.

    Raises:
        BridgeError: it is too long, or no JSON object.
        LostConnectionError: the other side is gone.
    """
    length = int.from_bytes(wire.read(4), "little")
    if length > LONGEST:
        raise BridgeError(f"a message of {length} bytes was announced; at most {LONGEST} are read")
    return json_object(wire.read(length))


class GodotGame:
    """A connection to one game. After an error it is closed: nobody knows then what the game has done.

    Args:
        port: of this machine, to which the game connects.
        path: of the game's program, which is started; None waits for a game that somebody else starts.
        seed: for the program: `--env_seed`.
        timeout: seconds that the game may take to connect and to answer.
        flags: of the program, such as speedup=8 or action_repeat=4; True for one without a value.

    Attributes:
        observed, acted: by agent, the spaces of its observations and actions by name.
        policies: by agent, the name of the policy that the game wants for it.

    Raises:
        BridgeError: the port is taken, no game connects, or it tells something else than the protocol says.
    """

    def __init__(
        self, port: int = PORT, path: str | Path | None = None, seed: int = 0, timeout: float = 60.0, **flags: Any
    ) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._ended, self._waits = False, False
        timeout = seconds_of("timeout", timeout)
        with _listening(port) as server:
            server.settimeout(timeout)
            if path is not None:
                self._process = _started(path, server.getsockname()[1], seed, flags)
            try:
                connection, _ = server.accept()
            except OSError:
                self._end_process()
                raise BridgeError(f"no game connected to port {port} within {timeout:g} s") from None
        self._wire = Wire(connection, timeout)
        with self._talking():
            send_json(self._wire, {"type": "handshake", "major_version": VERSION[0], "minor_version": VERSION[1]})
            self._take(self._ask({"type": "env_info"}, "env_info"))

    def _take(self, told: Mapping[str, Any]) -> None:
        count: Any = told.get("n_agents")
        if type(count) not in (int, float) or not 1 <= count <= MOST_AGENTS or count != int(count):
            raise BridgeError(f"n_agents={shortened(count)} must be a count from 1 to {MOST_AGENTS}")
        self.agents = int(count)
        self.observed = [_spaces(part, _observed) for part in self._each(told, "observation_space")]
        self.acted = [_spaces(part, _acted) for part in self._each(told, "action_space")]
        self.policies = ["shared_policy"] * self.agents
        if "agent_policy_names" in told:
            self.policies = list(map(str, self._each(told, "agent_policy_names")))

    def _each(self, told: Mapping[str, Any], name: str) -> list[Any]:
        """An entry for each agent; one dictionary is all agents' own."""
        found = told.get(name)
        if isinstance(found, dict):
            return [found] * self.agents
        if not isinstance(found, list) or len(found) != self.agents:
            raise BridgeError(f"{name}={shortened(found)} must be a list of {self.agents}, one for each agent")
        return found

    @contextlib.contextmanager
    def _talking(self) -> Iterator[None]:
        """An exchange; the end of the game where it is lost, or says something else than the protocol does."""
        if self._ended:
            raise BridgeError("this game has ended; make another environment")
        try:
            yield
        except BaseException:  # also where somebody interrupts it: the next answer would be taken for another
            self.close()
            raise

    def _ask(self, message: Mapping[str, Any], kind: str) -> dict[str, Any]:
        self._say(message)
        return self._read(kind)

    def _say(self, message: Mapping[str, Any]) -> None:
        if self._waits:
            raise BridgeError("the last exchange was interrupted, and its answer is still to come")
        self._waits = True
        send_json(self._wire, message)

    def _read(self, kind: str) -> dict[str, Any]:
        told = read_json(self._wire)
        self._waits = False
        if told.get("type", kind) != kind:
            raise BridgeError(f"the game answers {shortened(told.get('type'))}; needed: {kind!r}")
        return told

    def reset(self) -> list[dict[str, np.ndarray]]:
        """Start episodes; returns the observations of all agents."""
        with self._talking():
            return self._observations(self._ask({"type": "reset"}, "reset"))

    def send(self, actions: Sequence[Mapping[str, np.ndarray]]) -> None:
        """Send an action of each agent, by names; `receive` is to follow."""
        rows = [{name: values.tolist() for name, values in one.items()} for one in actions]
        with self._talking():
            self._say({"type": "action", "action": rows})

    def receive(self) -> tuple[list[dict[str, np.ndarray]], list[float], list[bool], list[dict[str, Any]]]:
        """Observations, rewards, whether an episode is over, and infos, of all agents.

        Raises:
            BridgeError: the game was lost, or its answer has another form.
        """
        with self._talking():
            told = self._read("step")
            rewards, dones = self._each(told, "reward"), self._each(told, "done")
            if not all(type(reward) in (int, float) and abs(reward) <= LARGEST for reward in rewards):
                raise BridgeError(f"reward={shortened(rewards)} must be finite numbers")
            if not all(done in (True, False) for done in dones):
                raise BridgeError(f"done={shortened(dones)} must be true or false")
            infos = self._each(told, "info") if "info" in told else [{}] * self.agents
            infos = [info if isinstance(info, dict) else {} for info in infos]
            return self._observations(told), [float(reward) for reward in rewards], list(map(bool, dones)), infos

    def _observations(self, told: Mapping[str, Any]) -> list[dict[str, np.ndarray]]:
        rows = zip(self._each(told, "obs"), self.observed, strict=True)
        return [elements(seen, own) for seen, own in rows]

    def call(self, method: str) -> Any:
        """Call a method of the game's agents; returns what each returned."""
        with self._talking():
            return self._ask({"type": "call", "method": method}, "call").get("returns")

    def close(self) -> None:
        """End the game. Can be called twice."""
        if self._ended:
            return
        self._ended = True
        with contextlib.suppress(BridgeError):
            send_json(self._wire, {"type": "close"})
        self._wire.close(drain=True)
        self._end_process()

    def _end_process(self) -> None:
        if self._process is None:
            return
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _listening(port: int) -> socket.socket:
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server.bind(("127.0.0.1", port))
        server.listen(1)
    except (OSError, OverflowError, TypeError) as error:
        server.close()
        raise BridgeError(f"port={shortened(port)} cannot be listened on ({error}); choose another") from None
    return server


def _started(path: str | Path, port: int, seed: int, flags: Mapping[str, Any]) -> subprocess.Popen[bytes]:
    """The game's program, without a window."""
    if not isinstance(path, (str, Path)) or not os.access(path, os.X_OK) or Path(path).is_dir():
        raise ParameterError(f"path={shortened(str(path))} must be the game's program, a file that may be run")
    given = [f"--{name}" if value is True else f"--{name}={value}" for name, value in flags.items()]
    command = [str(Path(path).resolve()), f"--port={port}", f"--env_seed={seed}", *given]
    return subprocess.Popen([*command, "--disable-render-loop", "--headless"], start_new_session=True)


def _spaces(told: Any, make: Any) -> dict[str, spaces.Space]:
    """Spaces by name, as the game tells them."""
    try:
        found = {str(name): make(str(name), part) for name, part in told.items()}
        if not found:
            raise ValueError("it has no parts")
        return found
    except (AttributeError, KeyError, TypeError, ValueError, AssertionError, OverflowError) as error:
        raise BridgeError(f"no space is {shortened(told, 200)}: {error}") from None


def _count(value: Any) -> int:
    if type(value) not in (int, float) or not 1 <= value <= LONGEST or value != int(value):
        raise ValueError(f"size {shortened(value)} is none")
    return int(value)


def _acted(name: str, told: Mapping[str, Any]) -> spaces.Space:
    if told["action_type"] == "discrete":
        return spaces.Discrete(_count(told["size"]))
    if told["action_type"] == "continuous":
        return spaces.Box(-1.0, 1.0, (_count(told["size"]),), np.float32)
    raise ValueError(f"action_type {shortened(told['action_type'])} is neither 'discrete' nor 'continuous'")


def _observed(name: str, told: Mapping[str, Any]) -> spaces.Space:
    if told["space"] == "discrete":
        return spaces.Discrete(_count(told["size"]))
    if told["space"] != "box":
        raise ValueError(f"space {shortened(told['space'])} is neither 'box' nor 'discrete'")
    shape = tuple(_count(n) for n in told["size"])
    if np.prod(shape, dtype=float) > LONGEST:
        raise ValueError(f"size {shape} is too large")
    if IMAGE in name:
        return spaces.Box(0, 255, shape, np.uint8)
    with np.errstate(over="ignore"):  # what is too large is no bound
        low, high = np.float32(told.get("low", -1.0)), np.float32(told.get("high", 1.0))
    if not low < high:
        raise ValueError(f"low={low} is not below high={high}")
    return spaces.Box(low, high, shape, np.float32)


def elements(told: Any, own: Mapping[str, spaces.Space]) -> dict[str, np.ndarray]:
    """What an agent sees, as its spaces have it; BridgeError where it is something else."""
    if not isinstance(told, dict) or not told.keys() >= own.keys():
        raise BridgeError(f"an observation must have {', '.join(map(repr, own))}, and is {shortened(told, 200)}")
    return {name: _element(told[name], space, name) for name, space in own.items()}


def _element(told: Any, space: spaces.Space, name: str) -> np.ndarray:
    try:
        if space.dtype == np.uint8:
            return np.frombuffer(bytes.fromhex(told), np.uint8).reshape(space.shape).copy()
        with np.errstate(over="ignore", invalid="ignore"):  # what does not fit is looked at below
            found = np.asarray(told, np.float64).astype(space.dtype)
    except (TypeError, ValueError, OverflowError):
        found = np.empty(0)
    fits = found.shape == space.shape and np.isfinite(found).all() and found.size > 0
    if not fits or (isinstance(space, spaces.Discrete) and (found != told or not 0 <= found < space.n)):
        raise BridgeError(f"observation {name!r} must be in {space}, and is {shortened(told)}")
    return found


def _joined(own: Mapping[str, spaces.Space]) -> spaces.Space:
    """One space of an agent: a sole part by itself."""
    return next(iter(own.values())) if len(own) == 1 else spaces.Dict(list(own.items()))


def _parts(taken: Mapping[str, np.ndarray], own: Mapping[str, spaces.Space], at: Any = ()) -> dict[str, np.ndarray]:
    """Actions by the game's names."""
    return {name: taken[WHOLE if len(own) == 1 else name][at] for name in own}


def _truncated(done: bool, info: Mapping[str, Any]) -> bool:
    return done and info.get("TimeLimit.truncated") is True


def _refuse_seed(seed: Any) -> None:
    if seed is not None:
        warnings.warn(
            f"seed={shortened(seed)} has no effect: protocol 0.7 knows no seeds at a reset. Give the game its seed "
            "when it starts (seed=, --env_seed), or use RemoteVectorEnv",
            stacklevel=3,
        )


class GodotVectorEnv(gymnasium.vector.VectorEnv):
    """The agents of one or more games as a Gymnasium vector environment, each agent as a world of its own.

    Games begin new episodes by themselves, in the step that ended the last one (AutoresetMode.SAME_STEP);
    info["final_obs"] is there where a game tells "terminal_observation". What else agents tell lies in info["agents"],
    an array of dictionaries.

    Args:
        port: of the first game; the others follow.
        games: how many.
        path, timeout, flags: as for `GodotGame`.
        seed: of the first game's program; the others follow.

    Raises:
        ParameterError: agents differ in their spaces.
        BridgeError: see `GodotGame`.
    """

    def __init__(self, port: int = PORT, games: int = 1, *, seed: int = 0, **game: Any) -> None:
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}
        self.games: list[GodotGame] = []
        port, seed, games = positive("port", port), first_seed_of(seed), positive("games", games)
        try:
            for i in range(games):
                self.games.append(GodotGame(port + i, seed=seed + i, **game))
            self._observed, self._acted = self.games[0].observed[0], self.games[0].acted[0]
            for one in self.games:
                if any(own != self._observed for own in one.observed) or any(own != self._acted for own in one.acted):
                    raise ParameterError("agents differ in their spaces: GodotParallelEnv gives each its own")
        except Exception:
            self.close_extras()
            raise
        self.num_envs = sum(one.agents for one in self.games)
        self.single_observation_space, self.single_action_space = _joined(self._observed), _joined(self._acted)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Start episodes in all games. The protocol knows no seeds: one that is given is warned about."""
        _refuse_seed(seed)
        return self._stacked([seen for one in self.games for seen in one.reset()]), {}

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Advance all games by one step.

        Raises:
            ActionError: wrong shape or type, not finite, or no choice. No game has moved then.
            BridgeError: a game was lost, or answers something else.
        """
        taken = checked_actions(self.single_action_space, actions, (self.num_envs,))
        first = 0
        for one in self.games:
            one.send([_parts(taken, self._acted, first + k) for k in range(one.agents)])
            first += one.agents
        told = [one.receive() for one in self.games]
        seen, rewards, dones, infos = (
            [entry for part in column for entry in part] for column in zip(*told, strict=True)
        )
        cuts = np.array([_truncated(done, info) for done, info in zip(dones, infos, strict=True)], np.bool_)
        ends = np.array(dones, np.bool_) & ~cuts
        return self._stacked(seen), np.array(rewards, np.float64), ends, cuts, self._infos(dones, infos)

    def _stacked(self, seen: list[dict[str, np.ndarray]]) -> Any:
        found = {name: np.stack([one[name] for one in seen]) for name in self._observed}
        return found if len(found) > 1 else next(iter(found.values()))

    def _infos(self, dones: list[bool], told: list[dict[str, Any]]) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        if any(told):
            infos["agents"] = np.array(told, object)
            infos["_agents"] = np.ones(self.num_envs, np.bool_)
        last = [info.get("terminal_observation") if done else None for done, info in zip(dones, told, strict=True)]
        if any(one is not None for one in last):
            infos["final_obs"], infos["_final_obs"] = (
                np.full(self.num_envs, None, object),
                np.zeros(self.num_envs, np.bool_),
            )
            for i, one in enumerate(last):
                if one is not None:
                    parts = elements(one, self._observed)
                    infos["final_obs"][i] = parts if len(parts) > 1 else next(iter(parts.values()))
                    infos["_final_obs"][i] = True
        return infos

    def call_games(self, method: str) -> list[Any]:
        """Call a method of the agents in all games; returns what each returned."""
        return [entry for one in self.games for entry in one.call(method) or []]

    def close_extras(self, **kwargs: Any) -> None:
        """End the games."""
        for one in self.games:
            one.close()


class GodotParallelEnv(Team):
    """The agents of one game as a team: a PettingZoo parallel environment. Agents are "agent_0", "agent_1", ...

    Args:
        port, game: as for `GodotGame`.

    Attributes:
        policies: by agent, the name of the policy that the game wants for it.

    Raises:
        BridgeError: see `GodotGame`.
    """

    def __init__(self, port: int = PORT, **game: Any) -> None:
        self.game = GodotGame(port, **game)
        names = [f"agent_{k}" for k in range(self.game.agents)]
        self.policies = dict(zip(names, self.game.policies, strict=True))
        super().__init__("godot", names, list(map(_joined, self.game.observed)), list(map(_joined, self.game.acted)))

    def _begin(self, seed: int | None) -> None:
        _refuse_seed(seed)
        self._last = self.game.reset()
        self._rest: Any = None

    def _advance(self, actions: dict[int, dict[str, np.ndarray]]) -> None:
        rows = []
        for k, own in enumerate(self.game.acted):
            idle = {name: np.zeros(space.shape or (), space.dtype) for name, space in own.items()}
            rows.append(_parts(actions[k], own) if k in actions else idle)
        self.game.send(rows)
        self._last, *self._rest = self.game.receive()

    def _seen(self, k: int) -> Any:
        found = self._last[k]
        return dict(found) if len(found) > 1 else next(iter(found.values()))

    def _outcome(self, k: int) -> tuple[float, bool, bool]:
        rewards, dones, infos = self._rest
        cut = _truncated(dones[k], infos[k])
        return rewards[k], dones[k] and not cut, cut

    def _info(self, k: int) -> dict[str, Any]:
        return {} if self._rest is None else dict(self._rest[2][k])

    def close(self) -> None:
        """End the game."""
        self.game.close()
