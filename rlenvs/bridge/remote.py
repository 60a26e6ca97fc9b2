"""Environments in engines that speak our protocol: seeds, truncations, and sessions that outlast their connection."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from rlenvs.bridge.actions import checked_actions
from rlenvs.bridge.layout import LARGEST, VERSION, Do, Kind, Message, fields_of, json_message, read_header
from rlenvs.bridge.spaces import WHOLE, arrays_of, space_of, told_names
from rlenvs.bridge.teams import Team
from rlenvs.bridge.wire import Wire, json_object, seconds_of
from rlenvs.core.declare.errors import BridgeError, EpisodeOverError, LostConnectionError, ParameterError, shortened
from rlenvs.core.declare.inputs import autoreset_of, reset_mask_of, seeds_of

__all__ = ["RemoteEngine", "RemoteParallelEnv", "RemoteVectorEnv"]

PORT = 11009
MOST_SLOTS = 1 << 20  # worlds x agents


class RemoteEngine:
    """A session with an engine: arrays of a request, which it answers with arrays.

    A connection that is lost is made again, for `patience` seconds, and the request that was under way is sent again;
    the engine takes each request once, so that the session goes on as if nothing had happened.

    Args:
        address: "host:port", or a port of this machine.
        token: the engine's secret, where it has one.
        timeout: seconds that the engine may take for an answer.
        patience: seconds to look for an engine that does not answer.

    Attributes:
        name: of the environment.
        worlds, agents: how many worlds, and the names of the agents of each.
        observation_space, action_space: of an agent.
        request, answer: arrays by name, (worlds, ...) and (worlds, agents, ...); the next exchange overwrites them.

    Raises:
        BridgeError: nobody answers, or with a refusal, another version or a welcome that makes no sense.
    """

    def __init__(
        self, address: str | int = PORT, *, token: str = "", timeout: float = 60.0, patience: float = 10.0
    ) -> None:
        self.address = host, port = _place(address)
        if not isinstance(token, str):
            raise ParameterError(f"token={shortened(token)} must be a text")
        self._token, self._closed = token, False
        self._timeout, self._patience = seconds_of("timeout", timeout), seconds_of("patience", patience, 0.0)
        self._wire = Wire.to(host, port, self._timeout, self._patience)
        self._session: str | None = None
        try:
            told = self._greet()
            self._session, self._number = str(told["session"]), 0
            self._take(told)
        except (BridgeError, KeyError, TypeError, ValueError) as error:
            self._wire.close()
            if isinstance(error, BridgeError):
                raise
            raise BridgeError(f"the engine's welcome makes no sense: {error!r}") from None

    def _greet(self) -> dict[str, Any]:
        """Say who we are; returns the welcome."""
        hello = {"protocol": "rlenvs", "version": VERSION, "token": self._token, "session": self._session}
        self._wire.send(json_message(Kind.HELLO, 0, hello))
        length, _, kind = read_header(self._wire)
        if length > LARGEST:
            raise BridgeError(f"the engine's welcome has {length} bytes; at most {LARGEST} are read")
        told = json_object(self._wire.read(length))
        if kind == Kind.ERROR:
            raise BridgeError(f"the engine refuses: {told.get('message')}")
        if kind != Kind.WELCOME or told.get("version") != VERSION:
            raise BridgeError(f"needed: a welcome of version {VERSION}, not {shortened(told, 200)}")
        return told

    def _take(self, told: dict[str, Any]) -> None:
        """Spaces and arrays, from the welcome."""
        self.name, self.worlds, self.agents = str(told["name"]), told["worlds"], [str(name) for name in told["agents"]]
        if type(self.worlds) is not int or self.worlds < 1 or len(set(self.agents)) != len(self.agents) > 0:
            raise BridgeError(f"there are {shortened(told['worlds'])} worlds with agents {shortened(told['agents'])}")
        if not self.agents or self.worlds * len(self.agents) > MOST_SLOTS:
            raise BridgeError(f"an engine has 1 to {MOST_SLOTS} agents, all worlds together")
        self.observation_space, self.action_space = space_of(told["observation_space"]), space_of(told["action_space"])
        request = Message(Kind.REQUEST, fields_of(told["request"]))
        answer = Message(Kind.ANSWER, fields_of(told["answer"]))
        slots = (self.worlds, len(self.agents))
        flags = dict.fromkeys(("terminated", "truncated"), (np.uint8, slots))
        observed = arrays_of("observations", self.observation_space, slots)
        acted = arrays_of("actions", self.action_space, slots)
        _check(request, {"do": (np.uint8, slots[:1]), "seeds": (np.int64, slots[:1]), **acted}, more=False)
        _check(answer, {**observed, "rewards": (np.float64, slots), **flags}, more=True)
        self._request, self._answer = request, answer
        self.request, self.answer = request.arrays, answer.arrays

    def send(self) -> None:
        """Send the request; `receive` is to follow.

        Raises:
            EpisodeOverError: the session was closed.
        """
        if self._closed:
            raise EpisodeOverError(f"the session of {self.name} is closed; make another environment")
        self._number = (self._number + 1) % (1 << 32)
        self._request.stamp(self._number)
        try:
            self._wire.send(self._request.data)
        except LostConnectionError:
            self._wire.close()  # `receive` finds that out, and sends it again

    def receive(self) -> None:
        """Wait for the answer.

        Raises:
            BridgeError: the engine refuses the request, or cannot be found again; its session is as it was.
        """
        late: float | None = None
        while True:
            try:
                self._read_answer()
                return
            except LostConnectionError:
                late = time.monotonic() + self._patience if late is None else late
                self._connect_again(late)

    def _read_answer(self) -> None:
        length, number, kind = read_header(self._wire)
        if kind == Kind.ERROR and length <= LARGEST:
            told = json_object(self._wire.read(length))
            if told.get("fatal"):
                self._wire.close()
            raise BridgeError(f"the engine refuses: {told.get('message')}")
        if (kind, length, number) != (Kind.ANSWER, len(self._answer.body), self._number):
            self._wire.close()
            needed = f"{Kind.ANSWER:d}, {len(self._answer.body)} and {self._number}"
            raise BridgeError(f"an answer of kind {kind}, {length} bytes and number {number} came; needed: {needed}")
        self._wire.fill(self._answer.body)

    def _connect_again(self, late: float) -> None:
        self._wire.close()
        left = late - time.monotonic()
        if left < 0:
            raise LostConnectionError(f"the engine at {self.address} was lost, and not found for {self._patience:g} s")
        self._wire = Wire.to(*self.address, self._timeout, left)
        try:
            told = self._greet()
            at = told.get("number")
            if told.get("session") != self._session or at not in (self._number, (self._number - 1) % (1 << 32)):
                self._wire.close()
                raise BridgeError(f"the engine has lost the session: it is at {shortened(at)}, not at {self._number}")
            self._wire.send(self._request.data)
        except LostConnectionError:
            time.sleep(0.02)  # `receive` tries again

    def close(self) -> None:
        """End the session. Can be called twice."""
        if not self._closed:
            self._closed = True
            with contextlib.suppress(LostConnectionError):
                self._wire.send(Message(Kind.CLOSE, []).stamp(0))
            self._wire.close(drain=True)  # until the engine has given the place of the session free


def _place(address: Any) -> tuple[str, int]:
    """Host and port of an address."""
    host, _, port = str(address).rpartition(":")
    if not port.isascii() or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise ParameterError(f"address={shortened(address)} must be 'host:port', or a port from 1 to 65535")
    return host.strip("[]") or "127.0.0.1", int(port)


def _check(message: Message, wanted: dict[str, tuple[Any, tuple[int, ...]]], more: bool) -> None:
    """BridgeError where a message lacks arrays, or has others than `more` allows."""
    for name, (type, shape) in wanted.items():
        found = message.arrays.get(name)
        if found is None or found.shape != shape or found.dtype.kind != np.dtype(type).kind.replace("b", "u"):
            has = "nothing" if found is None else f"{found.dtype} {found.shape}"
            raise BridgeError(f"the engine's {name!r} must be {np.dtype(type)} {shape}, and is {has}")
    for name in message.arrays.keys() - wanted.keys():
        if not (more and name.startswith("info/")):
            raise BridgeError(f"the engine declares an array {name!r} that the protocol does not know")


class RemoteVectorEnv(gymnasium.vector.VectorEnv):
    """The worlds of one or more engines as a Gymnasium vector environment: all are asked before the first answers.

    Infos are the arrays that an engine tells under "info/NAME".

    Args:
        addresses: of the engines, see `RemoteEngine`; one, or a list. Each is a session of its own, so an address may
            come twice.
        autoreset_mode: when finished worlds start anew, an AutoresetMode or its name.
        token, timeout, patience: as for `RemoteEngine`.

    Raises:
        ParameterError: the engines differ in their spaces, or their worlds have several agents.
        BridgeError: see `RemoteEngine`.
    """

    def __init__(
        self,
        addresses: str | int | Sequence[str | int] = PORT,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **connection: Any,
    ) -> None:
        self.autoreset_mode = autoreset_of(autoreset_mode)
        self.metadata = {"autoreset_mode": self.autoreset_mode}
        self.engines: list[RemoteEngine] = []
        try:
            for address in [addresses] if isinstance(addresses, (str, int)) else addresses:
                self.engines.append(RemoteEngine(address, **connection))
            self._compare()
        except Exception:
            self.close_extras()
            raise
        first, counts = self.engines[0], [engine.worlds for engine in self.engines]
        self.num_envs = sum(counts)
        starts = np.cumsum([0, *counts]).tolist()
        self._slices = [slice(*ends) for ends in itertools.pairwise(starts)]
        self.single_observation_space, self.single_action_space = first.observation_space, first.action_space
        self.observation_space = batch_space(first.observation_space, self.num_envs)
        self.action_space = batch_space(first.action_space, self.num_envs)
        self._names = told_names("observations", first.observation_space)
        self._actions = told_names("actions", first.action_space)
        self._over = np.ones(self.num_envs, np.bool_)  # before the first reset too
        self._begun = False

    def _compare(self) -> None:
        if not self.engines:
            raise ParameterError("give the address of an engine")
        spaces = [(engine.observation_space, engine.action_space) for engine in self.engines]
        if any(pair != spaces[0] for pair in spaces):
            raise ParameterError(f"the engines differ in their spaces: {shortened(spaces, 400)}")
        for engine in self.engines:
            if len(engine.agents) > 1:
                raise ParameterError(
                    f"{engine.name} has {len(engine.agents)} agents in a world: RemoteParallelEnv shows them all"
                )

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start episodes in all worlds, or in those of options["reset_mask"]; world i is seeded with seed + i, or with
        seed[i].

        Raises:
            ParameterError: a mask, an option or seeds that are none.
        """
        left = dict(options or {})
        mask = reset_mask_of(left.pop("reset_mask", None), self.num_envs)
        if left:
            raise ParameterError(f"engines outside know the option 'reset_mask' alone, not {shortened(list(left))}")
        mask = np.ones(self.num_envs, np.bool_) if mask is None else mask
        do = np.where(mask, Do.BEGIN, Do.WAIT).astype(np.uint8)
        self._exchange(do, seeds_of(seed, self.num_envs))
        self._over[mask], self._begun = False, True
        return self._observations(), self._infos()

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Advance all worlds by one step.

        Raises:
            ActionError: wrong shape or type, not finite, or no choice. No world has moved then.
            EpisodeOverError: there was no reset yet, or autoreset is disabled and an episode is over.
            BridgeError: an engine refuses, or was lost.
        """
        taken = checked_actions(self.single_action_space, actions, (self.num_envs,))
        stopped = self._over if self.autoreset_mode is AutoresetMode.DISABLED else np.full(1, not self._begun)
        if stopped.any():
            raise EpisodeOverError("an episode is over, or never began; call reset() before step()")
        do = np.where(self._over, Do.BEGIN, Do.STEP).astype(np.uint8)
        for engine, part in zip(self.engines, self._slices, strict=True):
            for name, values in taken.items():
                engine.request[self._actions[name]][:, 0] = values[part]
        self._exchange(do, None)
        rewards, ends = self._joined("rewards").astype(np.float64), self._joined("terminated").astype(np.bool_)
        cuts = self._joined("truncated").astype(np.bool_)
        self._over = ends | cuts
        infos: dict[str, Any] = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP and self._over.any():
            infos = self._begin_again()
        return self._observations(), rewards, ends, cuts, {**self._infos(), **infos}

    def _begin_again(self) -> dict[str, Any]:
        """Start the next episodes of the worlds that are over; returns how the last ones ended."""
        over, last = self._over, self._observations()
        final = np.full(self.num_envs, None, object)
        for i in np.flatnonzero(over).tolist():
            final[i] = {name: part[i] for name, part in last.items()} if isinstance(last, dict) else last[i]
        final_info = {name: values for name, values in self._infos().items() if not name.startswith("_")}
        final_info.update({f"_{name}": over for name in tuple(final_info)})
        self._exchange(np.where(over, Do.BEGIN, Do.WAIT).astype(np.uint8), None)
        self._over = np.zeros(self.num_envs, np.bool_)
        return {"final_obs": final, "_final_obs": over, "final_info": final_info, "_final_info": over}

    def _exchange(self, do: np.ndarray, seeds: list[int | None] | None) -> None:
        """A request to every engine, then all answers. Worlds that do not step ignore their actions."""
        given = [-1 if seed is None else _fitting(seed) for seed in seeds or [None] * self.num_envs]
        numbers = np.array(given, np.int64)
        for engine, part in zip(self.engines, self._slices, strict=True):
            engine.request["do"][...], engine.request["seeds"][...] = do[part], numbers[part]
            engine.send()
        refused = None
        for engine in self.engines:
            try:
                engine.receive()
            except BridgeError as error:  # the others' answers are read nevertheless
                refused = refused or error
        if refused is not None:
            raise refused

    def _joined(self, name: str) -> np.ndarray:
        """An array of all worlds, a copy."""
        return np.concatenate([engine.answer[name][:, 0] for engine in self.engines])

    def _observations(self) -> Any:
        found = {name: self._joined(field) for name, field in self._names.items()}
        return found.get(WHOLE, found)

    def _infos(self) -> dict[str, Any]:
        everyone = np.ones(self.num_envs, np.bool_)
        shared = [name for name in self.engines[0].answer if all(name in engine.answer for engine in self.engines)]
        infos = {name.removeprefix("info/"): self._joined(name) for name in shared if name.startswith("info/")}
        return {**infos, **{f"_{name}": everyone for name in infos}}

    def close_extras(self, **kwargs: Any) -> None:
        """End the sessions."""
        for engine in self.engines:
            engine.close()


def _fitting(seed: int) -> int:
    if seed >= 1 << 63:
        raise ParameterError(f"seed={shortened(seed)} must be below 2 ** 63 for an engine outside")
    return seed


class RemoteParallelEnv(Team):
    """The one world of an engine as a PettingZoo parallel environment.

    Args:
        address, connection: as for `RemoteEngine`.

    Raises:
        ParameterError: the engine has several worlds.
        BridgeError: see `RemoteEngine`.
    """

    def __init__(self, address: str | int = PORT, **connection: Any) -> None:
        self.engine = engine = RemoteEngine(address, **connection)
        if engine.worlds > 1:
            engine.close()
            raise ParameterError(f"{engine.name} has {engine.worlds} worlds here: serve one, or use RemoteVectorEnv")
        self._observed = told_names("observations", engine.observation_space)
        self._acted = told_names("actions", engine.action_space)
        count = len(engine.agents)
        super().__init__(engine.name, engine.agents, [engine.observation_space] * count, [engine.action_space] * count)

    def _begin(self, seed: int | None) -> None:
        self._exchange(Do.BEGIN, -1 if seed is None else _fitting(seed))

    def _advance(self, actions: dict[int, dict[str, np.ndarray]]) -> None:
        for name, field in self._acted.items():
            rows = self.engine.request[field][0]
            rows[...] = 0
            for k, parts in actions.items():
                rows[k] = parts[name]
        self._exchange(Do.STEP, -1)

    def _exchange(self, do: int, seed: int) -> None:
        self.engine.request["do"][...], self.engine.request["seeds"][...] = do, seed
        self.engine.send()
        self.engine.receive()

    def _seen(self, k: int) -> Any:
        found = {name: self.engine.answer[field][0, k].copy() for name, field in self._observed.items()}
        return found.get(WHOLE, found)

    def _outcome(self, k: int) -> tuple[float, bool, bool]:
        answer = self.engine.answer
        return answer["rewards"].item(0, k), *(bool(answer[name][0, k]) for name in ("terminated", "truncated"))

    def _info(self, k: int) -> dict[str, Any]:
        answer = self.engine.answer
        return {
            name.removeprefix("info/"): rows[0, k].copy() for name, rows in answer.items() if name.startswith("info/")
        }

    def close(self) -> None:
        """End the session."""
        self.engine.close()
