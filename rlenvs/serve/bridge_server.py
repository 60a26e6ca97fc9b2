"""The engine's side of our protocol: sessions with worlds, for trainers in other processes. See docs/bridges.md."""

from __future__ import annotations

import contextlib
import hmac
import secrets
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from rlenvs.bridge.layout import VERSION, Kind, Message, json_message, places, read_header
from rlenvs.bridge.spaces import arrays_of, described
from rlenvs.bridge.wire import Wire, json_object
from rlenvs.core.declare.errors import BridgeError, LostConnectionError, ParameterError, RlenvsError, shortened
from rlenvs.serve.guard import check_place
from rlenvs.serve.sessions import Limits
from rlenvs.serve.worlds import Worlds
from rlenvs.version import __version__

__all__ = ["BridgeServer", "BridgeSession"]

HELLO_BYTES = 1 << 14
HELLO_SECONDS = 10.0  # to say hello, and to finish a message that was begun
WAITING = 16  # connections beside those of the sessions
PAUSE = 0.05  # seconds, after a connection that could not be taken


class RefusalError(BridgeError):
    """What a trainer is told before its connection ends."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


class BridgeSession:
    """Worlds of one trainer, and the last answer, which is given again to a request that comes again.

    Args:
        worlds: that it plays.

    Attributes:
        number: of the last exchange.
        wire: the connection that it has now; None without one.
        left: when it lost its connection.
    """

    def __init__(self, worlds: Worlds) -> None:
        self.worlds, self.key = worlds, secrets.token_urlsafe(18)
        self.number, self.wire, self.left = 0, None, time.monotonic()  # type: int, Wire | None, float
        self._last: bytes | bytearray = b""
        self.lock = threading.Lock()
        count, slots = worlds.batch.num_envs, (worlds.batch.num_envs, len(worlds.agents))
        asked = {"do": (np.uint8, (count,)), "seeds": (np.int64, (count,))}
        self.request = Message(Kind.REQUEST, places({**asked, **arrays_of("actions", worlds.action_space, slots)}))
        flags = dict.fromkeys(("terminated", "truncated"), (np.bool_, slots))
        told = arrays_of("observations", worlds.observation_space, slots) | {"rewards": (np.float64, slots), **flags}
        told |= {f"info/{name}": (values.dtype, values.shape) for name, values in worlds.infos().items()}
        self.answer = Message(Kind.ANSWER, places(told))

    def welcome(self) -> dict[str, Any]:
        """What a trainer is told first."""
        worlds = self.worlds
        return {
            "protocol": "rlenvs",
            "version": VERSION,
            "engine": f"rlenvs {__version__}",
            "name": worlds.name,
            "session": self.key,
            "number": self.number,
            "worlds": worlds.batch.num_envs,
            "agents": worlds.agents,
            "observation_space": described(worlds.observation_space),
            "action_space": described(worlds.action_space),
            "request": self.request.told(),
            "answer": self.answer.told(),
        }

    def exchange(self, number: int) -> bytes | bytearray:
        """The answer to the request that lies in `request`.

        Raises:
            RefusalError: its number is neither the next nor the last.
        """
        if number == self.number and self._last:
            return self._last
        if number != (self.number + 1) % (1 << 32):
            raise RefusalError(
                "order", f"exchange {number} was asked for; needed: {self.number + 1}, or {self.number} again"
            )
        try:
            self.worlds.exchange(self.request.arrays, self.answer.arrays)
            self._last = self.answer.stamp(number)
        except RlenvsError as error:
            told = {"code": "refused", "message": str(error), "fatal": False}
            self._last = json_message(Kind.ERROR, number, told)
        self.number = number
        return self._last


class BridgeServer:
    """Listens, and gives each trainer a session of its own.

    A session outlasts its connection: a trainer that knows its key goes on where it was, until nobody was connected for
    `limits.idle` seconds, or its place is needed.

    Args:
        make: makes the worlds of a session.
        host, port: where to listen; port 0 for a free one.
        token: that trainers have to send; "" for none, on this machine alone.
        limits: how many sessions, and for how long.

    Attributes:
        port: the one that it listens on.

    Raises:
        ParameterError: others could reach the server without a token.
        BridgeError: the port is taken.
    """

    def __init__(
        self,
        make: Callable[[], Worlds],
        host: str = "127.0.0.1",
        port: int = 0,
        token: str = "",
        limits: Limits | None = None,
    ) -> None:
        check_place(host, token)
        self._make, self._token, self.limits = make, token, limits or Limits()
        self._sessions: dict[str, BridgeSession] = {}
        self._wires: set[Wire] = set()
        self._lock, self._closed = threading.Lock(), False
        try:
            self._server = socket.create_server((host, port), family=_family(host))
        except (OSError, OverflowError) as error:
            raise BridgeError(f"{host}:{port} cannot be listened on ({error}); choose another port") from None
        self.port: int = self._server.getsockname()[1]

    def serve(self) -> None:
        """Answer until `close`."""
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                if self._closed:
                    return
                time.sleep(PAUSE)  # too many files are open, or the trainer has gone already
                continue
            threading.Thread(target=self._talk, args=(Wire(connection, HELLO_SECONDS),), daemon=True).start()

    def close(self) -> None:
        """Stop listening, and end all connections and sessions."""
        self._closed = True
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)  # wakes up `accept`
        self._server.close()
        with self._lock:
            wires, sessions = list(self._wires), list(self._sessions.values())
            self._sessions.clear()
        for wire in wires:
            _shut(wire)
        for session in sessions:
            with session.lock:
                session.worlds.close()

    def __len__(self) -> int:
        return len(self._sessions)

    def _talk(self, wire: Wire) -> None:
        """All of one connection."""
        session = None
        with self._lock:
            crowded = len(self._wires) >= self.limits.sessions + WAITING
            self._wires.add(wire)
        try:
            if crowded:
                raise RefusalError("full", f"{len(self._wires)} connections are open, as many as may be")
            session = self._greet(wire)
            while self._answer(wire, session):
                pass
        except LostConnectionError:
            pass
        except RlenvsError as error:
            code = getattr(error, "code", "format")
            with contextlib.suppress(LostConnectionError):
                wire.send(json_message(Kind.ERROR, 0, {"code": code, "message": str(error), "fatal": True}))
        finally:
            with self._lock:
                self._wires.discard(wire)
                if session is not None and session.wire is wire:
                    session.wire, session.left = None, time.monotonic()
            wire.close(drain=True)

    def _greet(self, wire: Wire) -> BridgeSession:
        """Read a hello and answer it; the session that it asks for."""
        length, _, kind = read_header(wire)
        if kind != Kind.HELLO or length > HELLO_BYTES:
            raise RefusalError(
                "format", f"needed first: a hello of at most {HELLO_BYTES} bytes, not {length} of kind {kind}"
            )
        hello = json_object(wire.read(length))
        if hello.get("protocol") != "rlenvs" or hello.get("version") != VERSION:
            given = f"{shortened(hello.get('protocol'))} {shortened(hello.get('version'))}"
            raise RefusalError("version", f"this engine speaks 'rlenvs' {VERSION}, not {given}")
        token = hello.get("token")
        known = isinstance(token, str) and hmac.compare_digest(token.encode(errors="replace"), self._token.encode())
        if self._token and not known:
            raise RefusalError("token", "needed: the engine's token")
        session = self._new() if hello.get("session") is None else self._known(hello["session"])
        with self._lock:
            before, session.wire = session.wire, wire
        if before is not None:
            _shut(before)  # of a trainer that connects again before the old connection is known to be lost
        with session.lock:
            wire.send(json_message(Kind.WELCOME, session.number, session.welcome()))
        return session

    def _new(self) -> BridgeSession:
        self._sweep()
        session = BridgeSession(self._make())
        with self._lock:
            free = [other for other in self._sessions.values() if other.wire is None]
            gone = None
            if len(self._sessions) >= self.limits.sessions:
                if not free:
                    session.worlds.close()
                    raise RefusalError("full", f"{self.limits.sessions} sessions are open, as many as may be")
                gone = self._sessions.pop(min(free, key=lambda other: other.left).key)
            self._sessions[session.key] = session
        if gone is not None:
            gone.worlds.close()
        return session

    def _known(self, key: Any) -> BridgeSession:
        self._sweep()
        with self._lock:
            session = self._sessions.get(key) if isinstance(key, str) else None
        if session is None:
            raise RefusalError(
                "session",
                f"there is no session of this key; those without a connection end after {self.limits.idle:g} s",
            )
        return session

    def _sweep(self) -> None:
        """End the sessions that had no connection for too long."""
        now = time.monotonic()
        with self._lock:
            late = [s for s in self._sessions.values() if s.wire is None and now - s.left > self.limits.idle]
            for session in late:
                del self._sessions[session.key]
        for session in late:
            session.worlds.close()

    def _answer(self, wire: Wire, session: BridgeSession) -> bool:
        """One exchange; False at the end of the session."""
        length, number, kind = read_header(wire, patient=True)
        if kind == Kind.CLOSE and length == 0:
            with self._lock:  # a connection that lost its session to another one ends nothing
                ended = self._sessions.pop(session.key, None) if session.wire is wire else None
            if ended is not None:
                with session.lock:
                    session.worlds.close()
            return False
        size = len(session.request.body)
        if kind != Kind.REQUEST or length != size:
            code = "size" if kind == Kind.REQUEST else "format"
            raise RefusalError(code, f"needed: a request of {size} bytes, not {length} bytes of kind {kind}")
        body = wire.read(size)  # whole, before the session sees any of it
        with session.lock:
            if session.wire is not wire:
                raise RefusalError("session", "this session goes on over another connection")
            session.request.body[:] = body
            wire.send(session.exchange(number))
        return True


def _shut(wire: Wire) -> None:
    """End a connection that another thread reads."""
    with contextlib.suppress(OSError):
        wire.socket.shutdown(socket.SHUT_RDWR)


def _family(host: str) -> socket.AddressFamily:
    try:
        return socket.getaddrinfo(host, None)[0][0]
    except OSError as error:
        raise ParameterError(f"host={host!r} is no address of this machine: {error}") from None
