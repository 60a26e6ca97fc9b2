"""What stands before a server: its token, the length of messages, and where it listens."""

import asyncio
import base64

import pytest

from rlenvs.core.declare.errors import ParameterError
from rlenvs.serve.guard import Guard, check_place, is_loopback

TOKEN = "a token of 20 letters"


async def served(scope, receive, send):
    await send({"type": "served"})


def answer(guard, kind="http", **headers):
    told = []

    async def send(message):
        told.append(message)

    names = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    asyncio.run(guard({"type": kind, "headers": names}, None, send))
    return told[0].get("status", told[0]["type"])


def basic(password):
    return "Basic " + base64.b64encode(b"agent:" + password.encode()).decode()


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_who_knows_the_token_is_served(kind):
    refused = {"http": 401, "websocket": "websocket.close"}[kind]
    guard = Guard(served, TOKEN)
    for good in (f"Bearer {TOKEN}", f"bearer {TOKEN}", basic(TOKEN)):
        assert answer(guard, kind, authorization=good) == "served"
    bearers = ("Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}")
    for bad in ("", TOKEN, *bearers, basic("x"), "Basic ///", "é"):
        assert answer(guard, kind, authorization=bad) == refused, bad
    assert answer(guard, kind) == refused
    assert answer(Guard(served), kind) == "served"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content_length": "100"}, "served"),
        ({"content_length": "101"}, 413),
        ({"content_length": "-1"}, 413),
        ({"content_length": "many"}, 413),
        ({"transfer_encoding": "chunked"}, 413),
        ({}, "served"),
    ],
)
def test_long_messages_are_refused(headers, status):
    assert answer(Guard(served, longest=100), **headers) == status


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_pages_of_other_sites_need_the_token(kind):
    refused = {"http": 403, "websocket": "websocket.close"}[kind]
    for origin in ("https://example.org", "null", "http://127.0.0.1.example.org", "file://", "http://[", "x"):
        assert answer(Guard(served), kind, origin=origin) == refused, origin
        assert answer(Guard(served, TOKEN), kind, origin=origin, authorization=f"Bearer {TOKEN}") == "served"
    for origin in ("http://localhost:3000", "http://127.0.0.1:8000", "http://[::1]:8000"):
        assert answer(Guard(served), kind, origin=origin) == "served"


def test_the_start_of_the_server_passes():
    assert answer(Guard(served, TOKEN), "lifespan") == "served"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_this_machine_needs_no_token(host):
    assert is_loopback(host)
    check_place(host, "")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.2", "example.org", "", "127.0.0.1.example.org"])
def test_others_need_one(host):
    with pytest.raises(ParameterError, match="can be reached from other machines"):
        check_place(host, "")
    check_place(host, "0123456789abcdef")
    with pytest.raises(ParameterError, match="at least 16"):
        check_place(host, "0123456789abcde")
