"""Engines and games that say what no protocol knows: a trainer raises an error of this package, and nothing else."""

import random
import socket

from support import bridge_fuzz


def test_welcomes_and_answers():
    told = bridge_fuzz.to_trainers(random.Random(0), 300)
    assert told.total() == 300
    assert set(told) <= {"answered", "BridgeError", "LostConnectionError"}


def test_answers_of_games():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    told = bridge_fuzz.to_trainers_of_games(port, random.Random(0), 150)
    assert told.total() == 150
    assert set(told) == {"answered", "BridgeError"}
