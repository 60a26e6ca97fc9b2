"""Messages that nobody should send, to both sides of both protocols of docs/bridges.md.

Each function sends `count` of them, and returns how often each answer or error came. Anything but an error of this
package is raised.
"""

import contextlib
import json
import socket
import threading
from collections import Counter

from rlenvs.bridge.godot import GodotGame, read_json
from rlenvs.bridge.layout import HEADER, Kind, json_message
from rlenvs.bridge.remote import RemoteEngine
from rlenvs.bridge.wire import Wire
from rlenvs.core.declare.errors import BridgeError
from support import dummy_engine

HELLO = {"protocol": "rlenvs", "version": 2, "token": "", "session": None}
VALUES = [None, 0, 1, -1, 2, 2**70, 1e308, True, "", "x" * 300, "box", [], {}, [[]], [1, 2], {"a": 1}, "|u1", "<f4"]


def to_servers(port, rng, count):
    """To the engine's side of the binary protocol, each over a connection of its own."""
    told = Counter()
    for _ in range(count):
        with socket.create_connection(("127.0.0.1", port), 20) as connection, contextlib.suppress(OSError):
            greeted = rng.random() < 0.5
            if greeted:
                connection.sendall(json_message(Kind.HELLO, 0, HELLO))
            connection.sendall(_stray(rng))
            connection.shutdown(socket.SHUT_WR)
            answer = _all_of(connection)
            while len(answer) >= 16:
                _, length, _, kind = HEADER.unpack(answer[:16])
                body, answer = answer[16 : 16 + length], answer[16 + length :]
                told[json.loads(body)["code"] if kind == Kind.ERROR else Kind(kind).name] += 1
    return told


def _stray(rng):
    if rng.random() < 0.6:
        body = rng.randbytes(rng.choice([0, 1, 7, 56, 56, 56, 200]))
        length = rng.choice([len(body), len(body), 0, 2**31, 2**32 - 1])
        number, kind = (
            rng.choice([0, 1, 1, 1, 2, 2**32 - 1]),
            rng.choice([0, 1, 2, 3, 3, 3, 3, 3, 4, 5, 6, 7, 2**32 - 1]),
        )
        return HEADER.pack(rng.choice([b"RLB2", b"RLB2", b"RLB1"]), length, number, kind) + body
    if rng.random() < 0.5:
        return json_message(
            Kind.HELLO, 0, {**HELLO, **{name: rng.choice(VALUES) for name in rng.sample(list(HELLO), 2)}}
        )
    return rng.randbytes(rng.randrange(100))


def _all_of(connection):
    found = b""
    with contextlib.suppress(OSError):
        while part := connection.recv(1 << 16):
            found += part
    return found


def to_games(game, rng, count):
    """To the game's side of protocol 0.7, as bytes that a trainer has sent."""
    told = Counter()
    kinds = ["handshake", "action", "call", "other", None]
    for _ in range(count):
        near, far = socket.socketpair(socket.AF_UNIX)
        wire = Wire.__new__(Wire)  # this pair knows no options of TCP
        wire.socket = near
        actions = [{"action": rng.choice(VALUES)} for _ in range(rng.choice([0, 1, 2, 2, 2]))] + [{"action": None}]
        message = {"type": rng.choice(kinds), rng.choice(["method", "major_version"]): rng.choice(VALUES)}
        message["action"] = rng.choice([*VALUES, actions, actions])
        body = json.dumps(message).encode() if rng.random() < 0.7 else rng.randbytes(rng.randrange(60))
        length = len(body) if rng.random() < 0.8 else rng.choice([0, 3, len(body) + 5, 2**31, 2**32 - 1])
        far.sendall(length.to_bytes(4, "little") + body)
        far.shutdown(socket.SHUT_WR)
        try:
            told["answered" if game.answer(read_json(wire)) else "heard"] += 1
        except BridgeError as error:
            told[type(error).__name__] += 1
        near.close()
        far.close()
    return told


def changed(value, rng, depth=0):
    """JSON with something else at one place."""
    if isinstance(value, (dict, list)) and value and (depth == 0 or rng.random() < 0.8):
        key = rng.choice(list(value) if isinstance(value, dict) else range(len(value)))
        other = changed(value[key], rng, depth + 1)
        return {**value, key: other} if isinstance(value, dict) else [*value[:key], other, *value[key + 1 :]]
    return rng.choice(VALUES)


def to_trainers(rng, count):
    """Welcomes and answers to the trainer's side of the binary protocol."""
    session, told = dummy_engine.Session("key", 2), Counter()

    def talk(connection):
        connection.recv(1 << 16)
        if rng.random() < 0.7:
            connection.sendall(dummy_engine.json_message(2, changed(session.welcome(), rng)))
        else:
            connection.sendall(dummy_engine.json_message(2, session.welcome()))
        connection.recv(1 << 16)
        connection.sendall(_stray(rng))

    with _listening(talk) as port:
        for _ in range(count):
            try:
                engine = RemoteEngine(port, patience=0.0, timeout=5)
                engine.request["do"][:] = 2
                engine.send()
                engine._patience = -1  # it is not looked for again
                engine.receive()
                told["answered"] += 1
            except BridgeError as error:
                told[type(error).__name__] += 1
    return told


@contextlib.contextmanager
def _listening(talk):
    """The port of an engine that talks to one trainer after the other."""
    server = socket.create_server(("127.0.0.1", 0))

    def accept():
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError):
                talk(connection)

    threading.Thread(target=accept, daemon=True).start()
    yield server.getsockname()[1]
    server.shutdown(socket.SHUT_RDWR)
    server.close()


def to_trainers_of_games(port, rng, count):
    """Answers to the trainer's side of protocol 0.7, over a port that is free."""
    told = Counter()

    def play():
        while True:
            try:
                dummy_engine.play(port, 2, before_send=answered)
                return
            except ConnectionRefusedError:
                threading.Event().wait(0.001)
            except (OSError, TypeError, KeyError, AssertionError):
                return

    def answered(right):
        if rng.random() < 0.4:
            return json.dumps(right).encode()
        return json.dumps(changed(right, rng)).encode() if rng.random() < 0.8 else rng.randbytes(rng.randrange(60))

    for _ in range(count):
        thread = threading.Thread(target=play, daemon=True)
        thread.start()
        try:
            game = GodotGame(port, timeout=5)
            game.reset()
            game.close()
            told["answered"] += 1
        except BridgeError as error:
            told[type(error).__name__] += 1
        thread.join(10)
    return told
