"""What stands before a server: a token, the length of messages, and where it may listen."""

from __future__ import annotations

import base64
import binascii
import hmac
import ipaddress
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from rlenvs.core.declare.errors import ParameterError

Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]
App = Callable[[Any, Any, Any], Awaitable[None]]

TOKEN = "RLENVS_TOKEN"  # in the environment: what clients have to know
SHORTEST = 16  # characters of a token


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a server there."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_place(host: str, token: str) -> None:
    """ParameterError where others could reach a server without a token, or with a short one."""
    if token and len(token) < SHORTEST:
        raise ParameterError(f"{TOKEN} has {len(token)} characters; needed: at least {SHORTEST}")
    if not token and not is_loopback(host):
        raise ParameterError(
            f"host={host!r} can be reached from other machines: set {TOKEN} to a secret of at least {SHORTEST} "
            "characters, which clients send as a bearer token, or serve on 127.0.0.1"
        )


class Guard:
    """An ASGI application in front of another: strangers and long messages get an answer of their own.

    Without a token, pages of other sites that a browser on this machine shows are refused.

    A client sends the token as `Authorization: Bearer TOKEN`, or, where it takes an address alone, as the password in
    http://agent:TOKEN@host.

    Args:
        app: what is served.
        token: that clients have to send; "" for none.
        longest: bytes of the body of a request.
    """

    def __init__(self, app: App, token: str = "", longest: int = 100_000) -> None:
        self.app, self.token, self.longest = app, token.encode(), longest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        kind = scope["type"]
        if kind not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        if self.token and not hmac.compare_digest(_token_in(headers.get(b"authorization", b"")), self.token):
            await self._refuse(kind, send, 401, "needed: the server's token")
            return
        if not self.token and not _from_here(headers.get(b"origin", b"").decode("latin-1")):
            await self._refuse(kind, send, 403, "pages of other sites need the server's token")
            return
        length = headers.get(b"content-length", b"0")
        chunked = kind == "http" and b"transfer-encoding" in headers
        if chunked or not length.isdigit() or int(length) > self.longest:
            await self._refuse(kind, send, 413, f"a message may have {self.longest} bytes, and says how many it has")
            return
        await self.app(scope, receive, _forgiving(send) if kind == "websocket" else send)

    @staticmethod
    async def _refuse(kind: str, send: Send, status: int, why: str) -> None:
        if kind == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": why})
            return
        head = [(b"content-type", b"text/plain; charset=utf-8")]
        await send({"type": "http.response.start", "status": status, "headers": head})
        await send({"type": "http.response.body", "body": why.encode()})


def _from_here(origin: str) -> bool:
    """Whether a request comes from no page, or from one of this machine."""
    try:
        return not origin or is_loopback(urlsplit(origin).hostname or "")
    except ValueError:
        return False


def _forgiving(send: Send) -> Send:
    """The same; but a connection that its client has closed may be closed once more, as OpenEnv does."""

    async def sent(message: Mapping[str, Any]) -> None:
        try:
            await send(message)
        except OSError:
            if message["type"] != "websocket.close":
                raise

    return sent


def _token_in(header: bytes) -> bytes:
    """The token of an authorization header; b"" where it has none."""
    scheme, _, given = header.partition(b" ")
    if scheme.lower() == b"bearer":
        return given.strip()
    if scheme.lower() == b"basic":
        try:
            return base64.b64decode(given.strip(), validate=True).partition(b":")[2]
        except binascii.Error:
            return b""
    return b""
