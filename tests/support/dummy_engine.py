"""An engine that is none of this package: it speaks both protocols of docs/bridges.md, with sockets and NumPy alone.

    python tests/support/dummy_engine.py godot --port 11008 --agents 16      connects to a trainer
    python tests/support/dummy_engine.py bridge --agents 16                  listens, and prints its port

Agent k has a place x and a count c of its steps. An episode begins with x = seed / 1000 (without a seed, the last one
plus 1). An action is {"jump": 0, 1 or 2, "move": two numbers}; a step adds move[0] / 100 to x and pays jump + x. Agents
of an odd number are terminated by their 20th step, the others truncated by their 30th. All see [x, c / 100, k, 0, ...].
"""

import argparse
import contextlib
import json
import socket
import struct

import numpy as np

NUMBERS = 8  # of an observation
LAST_ODD, LAST_EVEN = 20, 30
HEADER = struct.Struct("<4sIII")
HELLO, WELCOME, REQUEST, ANSWER, ERROR, CLOSE = range(1, 7)


class Dummy:
    """The agents of the engine, each in a world of its own."""

    def __init__(self, agents, seed=0):
        self.seeds = np.arange(agents, dtype=np.int64) + seed - 1
        self.x, self.c = np.zeros(agents), np.zeros(agents, np.int64)
        self.last = np.where(np.arange(agents) % 2, LAST_ODD, LAST_EVEN)
        self.odd = np.arange(agents) % 2 == 1

    def begin(self, mask, seeds=None):
        given = np.full(len(self.x), -1) if seeds is None else seeds
        self.seeds[mask] = np.where(given >= 0, given, self.seeds + 1)[mask]
        self.x[mask], self.c[mask] = self.seeds[mask] / 1000, 0

    def step(self, mask, jump, move):
        """Rewards, terminations and truncations."""
        self.x += np.where(mask, move[:, 0] / 100, 0.0)
        self.c += mask
        over = mask & (self.c == self.last)
        return np.where(mask, jump + self.x, 0.0), over & self.odd, over & ~self.odd

    def seen(self):
        rows = np.zeros((len(self.x), NUMBERS), np.float32)
        rows[:, 0], rows[:, 1], rows[:, 2] = self.x, self.c / 100, np.arange(len(self.x))
        return rows


def read(connection, count):
    found = bytearray(count)
    read_into(connection, memoryview(found))
    return bytes(found)


def read_into(connection, view):
    while len(view):
        count = connection.recv_into(view)
        if not count:
            raise ConnectionError("the trainer is gone")
        view = view[count:]


# --- Godot RL Agents' protocol 0.7: a game ---------------------------------------------------------------------------


def play(port, agents, seed=0, before_send=lambda message: json.dumps(message).encode()):
    """Connect to a trainer, and play until it ends the game."""
    dummy = Dummy(agents, seed)
    connection = socket.create_connection(("127.0.0.1", port), 60)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    dummy.begin(np.ones(agents, bool))
    with connection:
        while (message := json.loads(read(connection, int.from_bytes(read(connection, 4), "little"))))[
            "type"
        ] != "close":
            answer = answered(dummy, message)
            if answer is not None:
                body = before_send(answer)
                connection.sendall(len(body).to_bytes(4, "little") + body)


def answered(dummy, message):
    agents = len(dummy.x)
    if message["type"] == "handshake":
        assert (message["major_version"], message["minor_version"]) == ("0", "7")
        return None
    if message["type"] == "env_info":
        acts = {"jump": {"action_type": "discrete", "size": 3}, "move": {"action_type": "continuous", "size": 2}}
        sees = {"obs": {"space": "box", "size": [NUMBERS], "low": -100.0, "high": 100.0}}
        return {"type": "env_info", "n_agents": agents, "action_space": [acts] * agents, "observation_space": sees}
    if message["type"] == "call":
        return {"type": "call", "returns": [message["method"]] * agents}
    if message["type"] == "reset":
        dummy.begin(np.ones(agents, bool))
        return {"type": "reset", "obs": [{"obs": row} for row in dummy.seen().tolist()], "info": [{}] * agents}
    jump = np.array([action["jump"] for action in message["action"]])
    move = np.array([action["move"] for action in message["action"]])
    rewards, ends, cuts = dummy.step(np.ones(agents, bool), jump, move)
    last, infos = dummy.seen().tolist(), [{} for _ in range(agents)]
    for k in np.flatnonzero(cuts).tolist():
        infos[k] = {"TimeLimit.truncated": True, "terminal_observation": {"obs": last[k]}}
    dummy.begin(ends | cuts)
    seen = [{"obs": row} for row in dummy.seen().tolist()]
    done = (ends | cuts).tolist()
    return {"type": "step", "obs": seen, "reward": rewards.tolist(), "done": done, "info": infos}


# --- the binary protocol: an engine that listens ---------------------------------------------------------------------


class Session:
    """Memory of requests and answers, and the last answer."""

    def __init__(self, key, agents):
        self.key, self.dummy, self.number, self.last = key, Dummy(agents), 0, b""
        slots = [agents, 1]
        self.request = laid_out({
            "do": ("|u1", [agents]), "seeds": ("<i8", [agents]),
            "actions/jump": ("<i8", slots), "actions/move": ("<f4", [*slots, 2]),
        })  # fmt: skip
        self.answer = laid_out({
            "observations": ("<f4", [*slots, NUMBERS]), "rewards": ("<f8", slots), "terminated": ("|u1", slots),
            "truncated": ("|u1", slots), "info/count": ("<i8", slots),
        })  # fmt: skip
        self.bytes, self.arrays = views(self.answer)
        self.asked, self.given = views(self.request)
        self.body = memoryview(self.asked)[16:]

    def welcome(self):
        box = {"space": "box", "type": "<f4", "shape": [NUMBERS], "low": -100, "high": 100}
        move = {"space": "box", "type": "<f4", "shape": [2], "low": -1, "high": 1}
        acts = {"space": "dict", "parts": {"jump": {"space": "discrete", "n": 3}, "move": move}}
        return {
            "protocol": "rlenvs", "version": 2, "engine": "dummy", "name": "Dummy", "session": self.key,
            "number": self.number, "worlds": len(self.dummy.x), "agents": ["agent"], "observation_space": box,
            "action_space": acts, "request": self.request, "answer": self.answer,
        }  # fmt: skip

    def exchange(self, number):
        """The answer to the request in `body`."""
        if number == self.number and self.last:
            return self.last
        dummy, told, given = self.dummy, self.arrays, self.given
        told["rewards"][:, 0], told["terminated"][:, 0], told["truncated"][:, 0] = dummy.step(
            given["do"] == 1, given["actions/jump"][:, 0], given["actions/move"][:, 0]
        )
        dummy.begin(given["do"] == 2, given["seeds"])
        told["observations"][:, 0], told["info/count"][:, 0] = dummy.seen(), dummy.c
        HEADER.pack_into(self.bytes, 0, b"RLB2", len(self.bytes) - 16, number, ANSWER)
        self.number, self.last = number, self.bytes
        return self.bytes


def laid_out(arrays):
    """Fields one after the other, each at a multiple of 8 bytes."""
    fields, offset = [], 16
    for name, (type, shape) in arrays.items():
        fields.append({"name": name, "type": type, "shape": shape, "offset": offset})
        offset += -(-np.dtype(type).itemsize * int(np.prod(shape)) // 8) * 8
    return fields


def views(fields):
    size = max(f["offset"] + np.dtype(f["type"]).itemsize * int(np.prod(f["shape"])) for f in fields)
    memory = bytearray(size)

    def array(type, shape, offset, **rest):
        return np.frombuffer(memory, type, int(np.prod(shape)), offset).reshape(shape)

    return memory, {field["name"]: array(**field) for field in fields}


def json_message(kind, value):
    body = json.dumps(value).encode()
    return HEADER.pack(b"RLB2", len(body), 0, kind) + body


def talk(connection, sessions, agents):
    """One connection."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    magic, length, _, kind = HEADER.unpack(read(connection, 16))
    hello = json.loads(read(connection, length))
    if (magic, kind, hello.get("version")) != (b"RLB2", HELLO, 2):
        told = {"code": "version", "message": "this engine speaks version 2", "fatal": True}
        connection.sendall(json_message(ERROR, told))
        return
    key = hello["session"] or f"session {len(sessions)}"
    if hello["session"] and key not in sessions:
        told = {"code": "session", "message": "there is no such session", "fatal": True}
        connection.sendall(json_message(ERROR, told))
        return
    session = sessions.setdefault(key, Session(key, agents))
    connection.sendall(json_message(WELCOME, session.welcome()))
    while True:
        _, _, number, kind = HEADER.unpack(read(connection, 16))
        if kind == CLOSE:
            return
        read_into(connection, session.body)
        connection.sendall(session.exchange(number))


def serve(server, agents):
    """Answer one trainer after the other."""
    sessions = {}
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection, contextlib.suppress(ConnectionError):
            talk(connection, sessions, agents)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("protocol", choices=["godot", "bridge"])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--agents", type=int, default=16)
    parser.add_argument("--env_seed", type=int, default=0)
    chosen, _ = parser.parse_known_args()
    if chosen.protocol == "godot":
        play(chosen.port or 11008, chosen.agents, chosen.env_seed)
    else:
        server = socket.create_server(("127.0.0.1", chosen.port))
        print(server.getsockname()[1], flush=True)
        serve(server, chosen.agents)


if __name__ == "__main__":
    main()
