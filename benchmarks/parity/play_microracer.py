"""Play the agents that MicroRacer's repository publishes in this package's world: figures in benchmarks/published.toml.

    python benchmarks/parity/play_microracer.py --clone PATH

Installed as: a clone of asperti/MicroRacer (``--clone``). Its weights are TensorFlow's variables, which are read here
without TensorFlow: an index of names, shapes and places, and the numbers one behind the other.
"""

import argparse
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rlenvs

SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"
FLOAT32 = 1  # TensorFlow's number of the type
FOOTER = 48  # bytes
KERAS = [f"layer_with_weights-{i}" for i in range(6)]
# the towers of each actor: names of layers, and what is between them
ACTORS = {
    "ddpg": ([KERAS[0::2], KERAS[1::2]], "relu"),
    "td3": ([KERAS[:3]], "relu"),
    "sac": ([["d1", "d2", "m"]], "relu"),
    "ppo": ([["d1", "d2", "m"]], "tanh"),
}
Fields = dict[int, list[Any]]


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of 7 bits per byte, and the place behind it."""
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def fields(data: bytes) -> Fields:
    """The fields of a message of protocol buffers, by number."""
    found: Fields = {}
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        value: Any
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = varint(data, at) if tag & 7 == 2 else ({1: 8, 5: 4}[tag & 7], at)
            value, at = data[at : at + size], at + size
        found.setdefault(tag >> 3, []).append(value)
    return found


def block(data: bytes, handle: bytes) -> list[tuple[bytes, bytes]]:
    """Keys and values of a block of the index; keys share beginnings."""
    start, at = varint(handle, 0)
    size, _ = varint(handle, at)
    part = data[start : start + size]
    (restarts,) = struct.unpack("<I", part[-4:])
    found, key, at = [], b"", 0
    while at < len(part) - 4 - 4 * restarts:
        shared, at = varint(part, at)
        own, at = varint(part, at)
        length, at = varint(part, at)
        key = key[:shared] + part[at : at + own]
        found.append((key, part[at + own : at + own + length]))
        at += own + length
    return found


def variables(folder: Path) -> dict[str, np.ndarray]:
    """The arrays of float32 by name."""
    index = (folder / "variables.index").read_bytes()
    numbers = (folder / "variables.data-00000-of-00001").read_bytes()
    footer = index[-FOOTER:]
    at = 0
    for _ in range(2):
        _, at = varint(footer, at)
    found = {}
    for _, handle in block(index, footer[at:]):
        for key, value in block(index, handle):
            entry = fields(value)
            if not key or entry.get(1) != [FLOAT32]:
                continue
            shape = [fields(size)[1][0] for size in fields(entry[2][0]).get(2, [])]
            start, size = entry.get(4, [0])[0], entry[5][0]
            found[key.decode()] = np.frombuffer(numbers[start : start + size], np.float32).reshape(shape)
    return found


def actor(folder: Path, towers: list[list[str]], between: str) -> Callable[[np.ndarray], np.ndarray]:
    """The policy, as a function of our observations: direction, three distances and speed, scaled to [-1, 1]."""
    arrays = variables(folder)
    activation = np.tanh if between == "tanh" else lambda x: np.maximum(x, 0.0)

    def choose(observations: np.ndarray) -> np.ndarray:
        seen = np.concatenate([1.5 * observations[:, :1], 0.5 * (observations[:, 1:] + 1.0)], axis=1)
        parts = []
        for names in towers:
            x = seen
            for i, name in enumerate(names):
                x = x @ arrays[f"{name}/kernel{SUFFIX}"] + arrays[f"{name}/bias{SUFFIX}"]
                x = np.tanh(x) if i == len(names) - 1 else activation(x)
            parts.append(x)
        return np.concatenate(parts, axis=1)

    return choose


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--clone", type=Path, required=True, help="of asperti/MicroRacer")
    given = options.parse_args()
    for name, (towers, between) in ACTORS.items():
        folder = given.clone / "weights" / f"{name}_actor_model_car" / "variables"
        try:
            policy = actor(folder, towers, between)
        except OSError as error:
            raise SystemExit(f"{folder} cannot be read: {error.strerror}; --clone has to be a clone") from None
        print(f"{name}: {rlenvs.evaluate('MicroRacer-v0', policy, observation='reduced')}", flush=True)


if __name__ == "__main__":
    main()
