"""A connection that reads whole messages or none, and JSON that others wrote."""

from __future__ import annotations

import contextlib
import json
import math
import socket
import time
from typing import Any, NoReturn, Self

from rlenvs.core.declare.errors import BridgeError, LostConnectionError, ParameterError, shortened

LONGEST_WAIT = 1e6  # seconds
DRAINED = 1 << 20  # bytes of the other side that are read and dropped at a close


class Wire:
    """A connected socket.

    Args:
        sock: the socket.
        timeout: seconds that nothing may come, and that a header, or a body, may take from its first byte on; None
            forever.
    """

    def __init__(self, sock: socket.socket, timeout: float | None = None) -> None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        sock.settimeout(timeout)
        self.socket = sock

    @classmethod
    def to(cls, host: str, port: int, timeout: float, patience: float = 0.0) -> Self:
        """A connection to a server, tried again for `patience` seconds.

        Raises:
            BridgeError: nobody listens there.
        """
        late = time.monotonic() + patience
        while True:
            try:
                return cls(socket.create_connection((host, port), timeout), timeout)
            except OSError as error:
                if time.monotonic() >= late:
                    raise BridgeError(
                        f"nobody answers at {host}:{port} ({error}); start the other side first"
                    ) from None
                time.sleep(0.05)

    def fill(self, view: memoryview, patient: bool = False) -> None:
        """Read as many bytes as the view has.

        Args:
            view: where they go.
            patient: the first of them may take longer than the timeout.

        Raises:
            LostConnectionError: the connection ended before, or stood still for too long.
        """
        done, late = 0, math.inf
        while done < len(view):
            try:
                count = self.socket.recv_into(view[done:])
            except TimeoutError:
                if patient and done == 0:
                    continue
                self._refuse_late()
            except OSError as error:
                raise LostConnectionError(f"the connection was lost: {error}") from None
            if count == 0:
                raise LostConnectionError("the other side has closed the connection")
            if done == 0 and count < len(view):
                late = time.monotonic() + (self.socket.gettimeout() or math.inf)
            elif time.monotonic() > late:
                self._refuse_late()
            done += count

    def _refuse_late(self) -> NoReturn:
        raise LostConnectionError(f"no whole message came within {self.socket.gettimeout():g} s") from None

    def read(self, count: int, patient: bool = False) -> bytearray:
        """That many bytes, as `fill` gets them."""
        found = bytearray(count)
        self.fill(memoryview(found), patient)
        return found

    def send(self, message: bytes | bytearray | memoryview) -> None:
        """Write a message whole.

        Raises:
            LostConnectionError: the connection is gone, or the other side reads nothing.
        """
        try:
            self.socket.sendall(message)
        except OSError as error:
            raise LostConnectionError(f"the connection was lost: {error}") from None

    def close(self, drain: bool = False) -> None:
        """End the connection. With `drain` what is still on the way is read first: otherwise the system may throw away
        the last message to the other side."""
        with contextlib.suppress(OSError):
            if drain:
                self.socket.shutdown(socket.SHUT_WR)
                self.socket.settimeout(0.5)
                left = DRAINED
                while left > 0 and (got := self.socket.recv(min(left, 1 << 16))):
                    left -= len(got)
        self.socket.close()


def seconds_of(name: str, value: Any, least: float = 0.001) -> float:
    """A time in seconds; ParameterError for anything else, or for less."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= LONGEST_WAIT:
        raise ParameterError(f"{name}={shortened(value)} must be seconds, from {least:g} to {LONGEST_WAIT:g}")
    return float(value)


def json_object(message: bytes | bytearray) -> dict[str, Any]:
    """A message of JSON with an object.

    Raises:
        BridgeError: it is none.
    """
    try:
        found = json.loads(message.decode())
    except (ValueError, RecursionError) as error:
        raise BridgeError(f"a message is not JSON in UTF-8: {str(error) or type(error).__name__}") from None
    if not isinstance(found, dict):
        raise BridgeError(f"a message must be a JSON object, not {type(found).__name__}")
    return found


def text_bytes(value: Any) -> bytes:
    """JSON in ASCII, so that it has as many bytes as characters."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
