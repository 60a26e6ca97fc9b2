"""Architectures of learned agents as data: what they may say, and the arrays that they ask for.

An architecture is a dictionary of JSON's types, and its numbers are arrays by name:

    {
        "observation": [{"name": null, "shape": [15], "normalised": true, "image": false}],   a part each of a
                                                                              dictionary, in order
        "normalisation": {"epsilon": 1e-8, "clip": 10.0},                     null where no part is normalized
        "convolutions": {"channels": [32, 32], "kernel": 3, "stride": 1, "activation": "relu", "planes": 0},     or null
        "memory": {"layers": 1, "units": 64},                                 null without an LSTM
        "layers": [{"inputs": 15, "units": 64, "activation": "tanh"}, ...],
        "action": {"kind": "numbers", "low": [-1.0], "high": [1.0], "squashed": false, "limit": null}
    }

or, for choices, "action": {"kind": "choice", "choices": 5, "masked": false}; for several choices at once {"kind":
"choices", "counts": [3, 3], "masked": false}, whose ratings come one after the other.

An observation that is one of n whole numbers, of a Discrete space, is a part of shape [] with one entry more,
"choices": n. The network sees it as n numbers: 1 at its place, 0 elsewhere.

Where several kinds of agents share the network, one entry more, "kinds": [{"name": "adversary", "size": 16}, {"name":
"agent", "size": 14}], says them, and how many numbers of a row each sees; the row of the only part is as long as the
longest. The network sees, kind by kind, the row and behind it a 1 where it is that kind's, else zeros.

Where the network sees several observations at once, one entry more, "frames": 4, says how many. The only part then is
as the world gives it; the network sees the last ones side by side, the present one last, and the first observation of
an episode in place of those that there are not yet.

Convolutions look at one part of the observation: planes (planes, height, width), or an image (height, width, channels)
of bytes, which count as shares of 255. Two more planes, behind these, tell every cell its row and column, from -1 to 1;
around the board are zeros; and the numbers of the other parts, weighted, are added to every cell that the first
convolution gives. The layers see what the last one gives, channel by channel, and the numbers. With n planes, they see
its means over the board, and the numbers, and rate the first choices only; the n height width choices behind these are
rated by a convolution with a kernel of 1, plane by plane. Where there are no others, there are no layers.

    normalization.<part>.mean, .var                             float64, the part's shape; <part> is 0, 1, ...;
                                                                (kinds (numbers of a row + 1),) with kinds;
                                                                (frames numbers,) with frames
    convolutions.<layer>.weight, .bias                          float32 (channels, inputs, kernel, kernel), (channels,)
    convolutions.numbers                                        float32 (channels of the first, numbers), if any
    planes.weight, .bias                                        float32 (planes, channels), (planes,)
    memory.<layer>.input, .hidden                               float32 (4 units, inputs), (4 units, units)
    memory.<layer>.bias                                         float32 (4 units,)
    layers.<layer>.weight, .bias                                float32 (units, inputs), (units,)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rlenvs.agents.kinds import blocks_width
from rlenvs.core.declare.errors import ParameterError, nearest

GATES = 4  # of an LSTM: input, forget, cell, output
LARGEST_SIZE = 1 << 24
LARGEST_KERNEL = 15
BOARD = 3  # axes of what convolutions look at
PLACES = 2  # planes that tell cells where they are
CELL = ("input", "hidden", "bias")
ENTRIES = ("observation", "normalisation", "convolutions", "memory", "layers", "action")
ACTIONS = {
    "numbers": ("kind", "low", "high", "squashed", "limit"),
    "choice": ("kind", "choices", "masked"),
    "choices": ("kind", "counts", "masked"),
}


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x))."""
    return np.float32(0.5) * (np.tanh(np.float32(0.5) * x) + np.float32(1.0))  # does not overflow


ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "identity": lambda x: x,
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, np.float32(0.0)),
    "leaky_relu": lambda x: np.where(x > 0, x, np.float32(0.01) * x),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, np.float32(0.0)))),
    "silu": lambda x: x * sigmoid(x),
    "sigmoid": sigmoid,
}


def check_architecture(found: Any) -> dict[str, Any]:
    """The architecture, if it is one; ParameterError names the entry that is wrong."""
    found = _entries("architecture", found, ENTRIES, optional=("kinds", "frames"))
    parts = _some("architecture: observation", found["observation"])
    for j, part in enumerate(parts):
        _check_part(f"architecture: observation {j}", part, alone=len(parts) == 1)
    names = [part["name"] for part in parts]
    wants(len(set(names)) == len(names), "architecture: observation", names, "parts with different names")
    _check_normalisation(found["normalisation"], any(part["normalised"] for part in parts))
    _check_kinds(found)
    _check_frames(found)
    width, rated = _inputs(found), 0
    if found["convolutions"] is not None:
        width, rated = _check_convolutions(found)
    if found["memory"] is not None:
        _entries("architecture: memory", found["memory"], ("layers", "units"))
        _size("architecture: memory: layers", found["memory"]["layers"])
        width = _size("architecture: memory: units", found["memory"]["units"])
    planes_alone = rated > 0 and found["layers"] == []
    width = 0 if planes_alone else width
    for k, layer in enumerate([] if planes_alone else _some("architecture: layers", found["layers"])):
        label = f"architecture: layer {k}"
        _entries(label, layer, ("inputs", "units", "activation"))
        if _size(f"{label}: inputs", layer["inputs"]) != width:
            raise ParameterError(f"{label} has {layer['inputs']} inputs, but the previous layer has {width} outputs")
        width = _size(f"{label}: units", layer["units"])
        _check_activation(label, layer["activation"])
    outputs = _check_action(found["action"])
    if outputs != width + rated:
        planes = f" and the planes {rated}" if rated else ""
        raise ParameterError(
            f"architecture: the last layer has {width} units{planes}, the action {outputs} numbers or choices"
        )
    return found


def _check_part(label: str, part: Any, alone: bool) -> None:
    _entries(label, part, ("name", "shape", "normalised", "image"), optional=("choices",))
    for entry in ("normalised", "image"):
        wants(isinstance(part[entry], bool), f"{label}: {entry}", part[entry], "true or false")
    wants(not (part["normalised"] and part["image"]), label, part, "an image that is not normalized")
    named = part["name"] is None if alone else False
    wants(named or isinstance(part["name"], str), f"{label}: name", part["name"], "a text (null for the only part)")
    wants(isinstance(part["shape"], (list, tuple)), f"{label}: shape", part["shape"], "a list of sizes")
    for size in part["shape"]:
        _size(f"{label}: shape", size)
    if "choices" in part:
        _size(f"{label}: choices", part["choices"])
        plain = not (part["shape"] or part["normalised"] or part["image"])
        wants(plain, label, part, "choices of shape [], neither normalized nor an image")


def _check_kinds(found: Mapping[str, Any]) -> None:
    if "kinds" not in found:
        return
    label, parts = "architecture: kinds", found["observation"]
    kinds = _some(label, found["kinds"])
    for kind in kinds:
        _entries(label, kind, ("name", "size"))
        fine = isinstance(kind["name"], str) and kind["name"] != "" and kind["name"].isprintable()
        wants(fine, f"{label}: name", kind["name"], "a printable text")
        _size(f"{label}: size", kind["size"])
    names = [kind["name"] for kind in kinds]
    wants(1 < len(names) == len(set(names)), label, names, "at least two of different names")
    row = len(parts) == 1 and len(parts[0]["shape"]) == 1
    wants(row, "architecture: observation", parts, "one part that is a row of numbers, with kinds")
    sizes, size = [kind["size"] for kind in kinds], parts[0]["shape"][0]
    wants(max(sizes) == size, f"{label}: size", sizes, f"{size}, the length of a row, as the largest")


def _check_frames(found: Mapping[str, Any]) -> None:
    if "frames" not in found:
        return
    wants(_size("architecture: frames", found["frames"]) > 1, "architecture: frames", found["frames"], "at least 2")
    wants(len(found["observation"]) == 1, "architecture: observation", found["observation"], "one part, with frames")
    for name in ("convolutions", "memory"):
        wants(found[name] is None, f"architecture: {name}", found[name], "null, with frames")
    wants("kinds" not in found, "architecture: kinds", found.get("kinds"), "left out, with frames")


def _inputs(found: Mapping[str, Any]) -> int:
    """How many numbers the network sees of all parts."""
    width = sum(map(width_of, found["observation"])) * found.get("frames", 1)
    return blocks_width(width, len(found["kinds"])) if "kinds" in found else width


def _check_convolutions(found: Mapping[str, Any]) -> tuple[int, int]:
    """How much the layers see, and how many choices the planes rate."""
    label, parts = "architecture: convolutions", found["observation"]
    entries = _entries(label, found["convolutions"], ("channels", "kernel", "stride", "activation", "planes"))
    for size in _some(f"{label}: channels", entries["channels"]):
        _size(f"{label}: channels", size)
    wants(len(boards_of(parts)) == 1, "architecture: observation", parts, "one part with three axes, with convolutions")
    odd = _size(f"{label}: kernel", entries["kernel"]) % 2 == 1 and entries["kernel"] <= LARGEST_KERNEL
    wants(odd, f"{label}: kernel", entries["kernel"], f"an odd number up to {LARGEST_KERNEL}")
    stride = _size(f"{label}: stride", entries["stride"])
    _check_activation(label, entries["activation"])
    planes = 0 if entries["planes"] == 0 else _size(f"{label}: planes", entries["planes"])
    channels, cells, numbers = what_layers_see(found)
    if not planes:
        return channels * cells + numbers, 0
    wants(stride == 1, f"{label}: stride", stride, "1, with planes")
    wants(found["memory"] is None, "architecture: memory", found["memory"], "null, with planes")
    return channels + numbers, planes * cells


def width_of(part: Mapping[str, Any]) -> int:
    """How many numbers the network sees of a part."""
    return part.get("choices") or math.prod(part["shape"])


def boards_of(parts: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The parts that convolutions may look at."""
    return [part for part in parts if len(part["shape"]) == BOARD]


def sides_of(part: Mapping[str, Any]) -> Sequence[int]:
    """Height and width."""
    return part["shape"][:2] if part["image"] else part["shape"][1:]


def what_layers_see(architecture: Mapping[str, Any]) -> tuple[int, int, int]:
    """Channels and cells that the last convolution gives, and the numbers beside."""
    found, parts = architecture["convolutions"], architecture["observation"]
    (part,) = boards_of(parts)
    sides = sides_of(part)
    for _ in found["channels"]:
        sides = [-(-side // found["stride"]) for side in sides]
    numbers = sum(width_of(other) for other in parts if other is not part)
    return found["channels"][-1], math.prod(sides), numbers


def _check_activation(label: str, found: Any) -> None:
    if not isinstance(found, str) or found not in ACTIVATIONS:
        raise ParameterError(f"{label}: there is no activation {found!r}. {nearest(str(found), ACTIVATIONS)}")


def _check_normalisation(found: Any, needed: bool) -> None:
    label = "architecture: normalisation"
    if found is None:
        wants(not needed, label, None, "an epsilon and a clip, since parts are normalized")
        return
    _entries(label, found, ("epsilon", "clip"))
    for name in ("epsilon", "clip"):
        wants(_is_number(found[name]) and found[name] > 0, f"{label}: {name}", found[name], "a positive number")


def _check_action(found: Any) -> int:
    """How many outputs an action needs."""
    label = "architecture: action"
    kind = found.get("kind") if isinstance(found, dict) else None
    if kind not in ACTIONS:
        raise ParameterError(f"{label}: {found!r} is an unknown kind; known: {', '.join(ACTIONS)}")
    _entries(label, found, ACTIONS[kind])
    if kind != "numbers":
        wants(isinstance(found["masked"], bool), f"{label}: masked", found["masked"], "true or false")
    if kind == "choice":
        return _size(f"{label}: choices", found["choices"])
    if kind == "choices":
        return sum(_size(f"{label}: counts", count) for count in _some(f"{label}: counts", found["counts"]))
    low, high, limit = _some(f"{label}: low", found["low"]), _some(f"{label}: high", found["high"]), found["limit"]
    fine = len(low) == len(high) and all(map(_is_number, [*low, *high]))
    wants(fine and all(map(float.__lt__, map(float, low), map(float, high))), label, found, "numbers low < high")
    wants(isinstance(found["squashed"], bool), f"{label}: squashed", found["squashed"], "true or false")
    wants(limit is None or (_is_number(limit) and limit > 0), f"{label}: limit", limit, "null or a positive number")
    return len(low)


def _entries(label: str, found: Any, names: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Any]:
    if not isinstance(found, dict) or set(found) - set(optional) != set(names):
        given = sorted(map(str, found)) if isinstance(found, dict) else repr(found)
        perhaps = f", and optionally {', '.join(optional)}" if optional else ""
        raise ParameterError(f"{label} must have exactly the entries {', '.join(names)}{perhaps}; given: {given}")
    return found


def _some(label: str, found: Any) -> Sequence[Any]:
    wants(isinstance(found, (list, tuple)) and len(found) > 0, label, found, "a list of at least one")
    return found


def _size(label: str, found: Any) -> int:
    whole = isinstance(found, int) and not isinstance(found, bool)
    wants(whole and 1 <= found <= LARGEST_SIZE, label, found, f"a whole number from 1 to {LARGEST_SIZE}")
    return found


def _is_number(found: Any) -> bool:
    return isinstance(found, (int, float)) and not isinstance(found, bool) and abs(found) < 1e30


def wants(fine: bool, label: str, found: Any, wanted: str) -> None:
    """ParameterError, in words, unless something is fine."""
    if not fine:
        raise ParameterError(f"{label} is {found!r}; needed: {wanted}")


def expected_tensors(architecture: Mapping[str, Any]) -> Iterator[tuple[str, tuple[int, ...], str]]:
    """Name, shape and type of every array that a checked architecture asks for."""
    inputs = _inputs(architecture)
    for j, part in enumerate(architecture["observation"]):
        if part["normalised"]:
            wide = "kinds" in architecture or "frames" in architecture
            shape: tuple[int, ...] = (inputs,) if wide else tuple(part["shape"])
            for name in ("mean", "var"):
                yield f"normalisation.{j}.{name}", shape, "float64"
    if architecture["convolutions"]:
        yield from _expected_convolutions(architecture)
        channels, cells, numbers = what_layers_see(architecture)
        inputs = channels * cells + numbers
    memory = architecture["memory"] or {"layers": 0, "units": 0}
    units = memory["units"]
    for k in range(memory["layers"]):
        shapes = (GATES * units, inputs if k == 0 else units), (GATES * units, units), (GATES * units,)
        for name, shape in zip(CELL, shapes, strict=True):
            yield f"memory.{k}.{name}", shape, "float32"
    for k, layer in enumerate(architecture["layers"]):
        yield f"layers.{k}.weight", (layer["units"], layer["inputs"]), "float32"
        yield f"layers.{k}.bias", (layer["units"],), "float32"


def _expected_convolutions(architecture: Mapping[str, Any]) -> Iterator[tuple[str, tuple[int, ...], str]]:
    found = architecture["convolutions"]
    (part,) = boards_of(architecture["observation"])
    inputs, size = part["shape"][-1 if part["image"] else 0] + PLACES, found["kernel"]
    for k, channels in enumerate(found["channels"]):
        yield f"convolutions.{k}.weight", (channels, inputs, size, size), "float32"
        yield f"convolutions.{k}.bias", (channels,), "float32"
        inputs = channels
    numbers = what_layers_see(architecture)[2]
    if numbers:
        yield "convolutions.numbers", (found["channels"][0], numbers), "float32"
    if found["planes"]:
        yield "planes.weight", (found["planes"], inputs), "float32"
        yield "planes.bias", (found["planes"],), "float32"


def check_tensors(architecture: Mapping[str, Any], tensors: Mapping[str, np.ndarray]) -> None:
    """ParameterError unless the arrays are those that a checked architecture asks for."""
    wanted: set[str] = set()
    for name, shape, dtype in expected_tensors(architecture):
        wanted.add(name)
        if name not in tensors:
            raise ParameterError(f"the architecture needs the array {name!r}, which is missing")
        array = tensors[name]
        if array.shape != shape or array.dtype != dtype:
            raise ParameterError(f"{name!r} is {array.dtype} {array.shape}; the architecture needs {dtype} {shape}")
        if not np.isfinite(array).all():
            raise ParameterError(f"{name!r} contains NaN or infinite numbers")
        if name.endswith(".var") and (array < 0).any():
            raise ParameterError(f"{name!r} contains negative variances")
    if set(tensors) - wanted:
        raise ParameterError(f"the architecture does not contain the arrays {sorted(set(tensors) - wanted)}")
