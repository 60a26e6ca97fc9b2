"""What a learnt agent computes, in NumPy alone: an observation in, the action without exploration out.

An architecture is a dictionary of JSON's types, and its numbers are arrays by name:

    {
        "observation": [{"name": null, "shape": [15], "normalised": true, "image": false}],   a part each of a
                                                                              dictionary, in order
        "normalisation": {"epsilon": 1e-8, "clip": 10.0},                     null where no part is normalised
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

    normalisation.<part>.mean, .var                             float64, the part's shape; <part> is 0, 1, ...;
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

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rlenvs.agents.kinds import blocks_width, in_blocks, in_words, kind_of
from rlenvs.core.declare.errors import ParameterError, nearest

State = tuple[np.ndarray, ...]
GATES = 4  # of an LSTM: input, forget, cell, output
LARGEST_SIZE = 1 << 24
LARGEST_KERNEL = 15
BOARD = 3  # axes of what convolutions look at
PLACES = 2  # planes that tell cells where they are
WHITE = 255  # the largest value of an image


@functools.cache
def _blas() -> Any:
    """What multiplies matrices for NumPy. Convolutions are many small products: threads that wait for each other take
    longer for these than one, and many times as long on a busy machine."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return np.float32(0.5) * (np.tanh(np.float32(0.5) * x) + np.float32(1.0))  # does not overflow


ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "identity": lambda x: x,
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, np.float32(0.0)),
    "leaky_relu": lambda x: np.where(x > 0, x, np.float32(0.01) * x),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, np.float32(0.0)))),
    "silu": lambda x: x * _sigmoid(x),
    "sigmoid": _sigmoid,
}


def parts_of(space: Any) -> dict[Any, Any]:
    """The parts of an observation space by name; None for one that is no dictionary."""
    return dict(getattr(space, "spaces", None) or {None: space})


def form_of(space: Any) -> tuple[int, ...] | int:
    """The shape of a part; n where it is one of n whole numbers, of a Discrete space that begins with 0."""
    discrete = type(space).__name__ == "Discrete" and space.start == 0
    return int(space.n) if discrete else tuple(space.shape or ())


def is_image(space: Any) -> bool:
    """Whether a part is an image: three axes of bytes."""
    return len(space.shape or ()) == BOARD and space.dtype == np.uint8


def places_of(height: int, width: int) -> np.ndarray:
    """The row and column of every cell, from -1 to 1: float32 (2, height, width)."""
    sides = (np.linspace(-1.0, 1.0, size, dtype=np.float32) for size in (height, width))
    return np.stack(np.meshgrid(*sides, indexing="ij"))


def _convolve(board: np.ndarray, kernel: np.ndarray, stride: int) -> np.ndarray:
    """A convolution with zeros around: (rows, height, width, inputs), (size, size, inputs, channels)."""
    rows, height, width, inputs = board.shape
    size, edge = len(kernel), len(kernel) // 2
    shape = (rows, height + 2 * edge, width + 2 * edge)
    # all boards with their zeros one behind the other: a shift of the kernel is a slice, and one product of matrices
    count, beyond = math.prod(shape), (size - 1) * (shape[2] + 1)
    line = np.zeros((count + beyond, inputs), np.float32)
    line[:count].reshape(*shape, inputs)[:, edge : edge + height, edge : edge + width] = board
    found = np.zeros((count, kernel.shape[3]), np.float32)
    for y in range(size):
        for x in range(size):
            start = y * shape[2] + x
            found += line[start : start + count] @ kernel[y, x]
    return found.reshape(*shape, kernel.shape[3])[:, :height:stride, :width:stride]


def _one_hot(label: str, numbers: np.ndarray, choices: int) -> np.ndarray:
    """(rows,) -> (rows, choices): 1 at the place of each number."""
    for row in np.flatnonzero((numbers < 0) | (numbers >= choices))[:1]:
        raise ParameterError(f"row {row} of {label} is {numbers[row]}; needed: a whole number from 0 to {choices - 1}")
    return (numbers[:, None] == np.arange(choices)).astype(np.float32)


class Network:
    """A policy network.

    Args:
        architecture: as above.
        tensors: exactly the arrays that the architecture asks for.

    Attributes:
        parts: name (None for an observation that is one array) and shape of each part of an observation.
        forms: the form of each part by name, as `form_of` says it of a space.
        kinds: of agents, by name: how many numbers of a row they see; empty where the network knows none.
        choices: how many choices an action has, all its dimensions together; 0 where it is numbers.
        counts: how many choices each dimension of an action of several choices has; empty otherwise.
        numbers: how many numbers an action has; 0 where it is a choice.
        masked: whether it was trained with masks of the allowed choices.
        memory_shape: of what is remembered of each row: (layers, units) of the LSTM, or (frames - 1, numbers); (0, 0)
            where the present observation is all that counts.

    Raises:
        ParameterError: an architecture that is none, or arrays of other names, types or shapes, or not finite.
    """

    def __init__(self, architecture: Mapping[str, Any], tensors: Mapping[str, np.ndarray]) -> None:
        self.architecture = check_architecture(architecture)
        self.tensors = dict(tensors)
        self.parts = [(part["name"], tuple(part["shape"])) for part in architecture["observation"]]
        self.forms = {part["name"]: part.get("choices", tuple(part["shape"])) for part in architecture["observation"]}
        self.kinds: dict[str, int] = {kind["name"]: kind["size"] for kind in architecture.get("kinds", ())}
        memory, action = architecture["memory"], architecture["action"]
        self.memory_shape = (memory["layers"], memory["units"]) if memory else (0, 0)
        self.frames: int = architecture.get("frames", 1)
        if self.frames > 1:
            self.memory_shape = (self.frames - 1, _width(architecture["observation"][0]))
        self.counts: tuple[int, ...] = tuple(action.get("counts", ()))
        self.choices: int = action.get("choices", sum(self.counts))
        self.numbers = len(action.get("low", ()))
        self.masked: bool = action.get("masked", False)
        _check_tensors(architecture, tensors)
        self._scales = {j: self._scale(j) for j, part in enumerate(architecture["observation"]) if part["normalised"]}
        self._kernels = self._kernel_arrays() if architecture["convolutions"] else []
        if self._kernels:
            self._board = architecture["observation"].index(_boards(architecture["observation"])[0])
            self._places = places_of(*_sides(architecture["observation"][self._board])).transpose(1, 2, 0)
        layers = memory["layers"] if memory else 0
        self._cells = [tuple(tensors[f"memory.{k}.{name}"] for name in CELL) for k in range(layers)]
        self._layers = [
            (tensors[f"layers.{k}.weight"].T, tensors[f"layers.{k}.bias"], ACTIVATIONS[layer["activation"]])
            for k, layer in enumerate(architecture["layers"])
        ]
        if self.numbers:
            self._low, self._high = (np.array(action[name], np.float32) for name in ("low", "high"))

    def __reduce__(self) -> tuple[type[Network], tuple[Any, ...]]:
        return Network, (self.architecture, self.tensors)

    def _kernel_arrays(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Kernels (height, width, inputs, channels) and biases."""
        names = [f"convolutions.{k}" for k in range(len(self.architecture["convolutions"]["channels"]))]
        return [
            (np.ascontiguousarray(self.tensors[f"{name}.weight"].transpose(2, 3, 1, 0)), self.tensors[f"{name}.bias"])
            for name in names
        ]

    def _scale(self, part: int) -> tuple[np.ndarray, np.ndarray]:
        mean, var = (self.tensors[f"normalisation.{part}.{name}"] for name in ("mean", "var"))
        return mean, np.sqrt(var + self.architecture["normalisation"]["epsilon"])

    def act(
        self,
        observations: np.ndarray | Mapping[str, np.ndarray],
        masks: np.ndarray | None = None,
        state: State | None = None,
        starts: np.ndarray | None = None,
        kinds: np.ndarray | None = None,
        noise: np.ndarray | None = None,
    ) -> tuple[np.ndarray, State | None]:
        """The actions without exploration: means, or the choices that are rated highest.

        Args:
            observations: (rows, *shape), or a dictionary of such arrays. Values as the world gives them; normalisation
                happens here.
            masks: (rows, choices), nonzero where a choice is allowed. A row that allows nothing gets choice 0.
            state: from the call before; None at the beginning. Of an LSTM two arrays (layers, rows, units), of frames
                one, (frames - 1, rows, numbers).
            starts: (rows,), true where an episode begins and the state is to be forgotten.
            kinds: (rows,), the number of each row's kind of agent, as `kinds_of` gives it; None where the network knows
                none.
            noise: (rows, choices), added to the ratings, which are logits; None for none.

        Returns:
            actions, float32 (rows, numbers) inside the action space, int64 (rows,), or int64 (rows, dimensions) of
            several choices, and the next state (None where nothing is remembered).

        Raises:
            ParameterError: arrays of other shapes, observations that are not finite, masks for numbers, or no kinds
                where they are needed.
        """
        columns = self._columns(observations, kinds)
        if self.frames > 1:
            columns[0], state = self._recall(columns[0], state, starts)
        features, board = self._features(columns)
        ratings = None
        if board is not None:
            with _blas().limit(limits=1):
                features, ratings = self._look(features, board)
        if self._cells:
            features, state = self._remember(features, state, starts)
        for weight, bias, activation in self._layers:
            features = activation(features @ weight + bias)
        if ratings is None:
            outputs = features
        else:
            outputs = np.concatenate((features, ratings), axis=1) if self._layers else ratings
        outputs = outputs if noise is None else outputs + noise
        return self._decide(outputs, masks), state if self.memory_shape[0] else None

    def kinds_of(self, agents: Sequence[str]) -> np.ndarray | None:
        """The number of each agent's kind by the agents' names, int64 (agents,); None where the network knows no kinds.

        Raises:
            ParameterError: an agent of a kind that the network does not know.
        """
        if not self.kinds:
            return None
        known, found = list(self.kinds), [kind_of(name) if isinstance(name, str) else name for name in agents]
        for name, kind in zip(agents, found, strict=True):
            if kind not in known:
                raise ParameterError(
                    f"agent={name!r} is of no kind that this agent was trained for: {in_words(self.kinds)}. Give a "
                    f"name such as '{known[0]}_0'"
                )
        return np.array([known.index(kind) for kind in found], np.int64)

    def _columns(self, observations: Any, kinds: Any) -> list[np.ndarray]:
        """The parts as the world gives them, all of the same number of rows, and finite."""
        columns = [self._column(j, name, shape, observations, kinds) for j, (name, shape) in enumerate(self.parts)]
        rows = {len(column) for column in columns}
        if len(rows) > 1:
            raise ParameterError(f"the parts of the observations have different numbers of rows: {sorted(rows)}")
        for column in (column.reshape(len(column), math.prod(column.shape[1:])) for column in columns):
            if not np.isfinite(column).all():
                row, place = np.argwhere(~np.isfinite(column))[0].tolist()
                place = place % (self.parts[0][1][0] + 1) if self.kinds else place
                raise ParameterError(f"row {row} of the observations is not finite: number {place} is NaN or infinite")
        return columns

    def _features(self, columns: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray | None]:
        """The parts, normalised, float32: numbers side by side (rows, n), and what convolutions look at, if there are
        any, (rows, height, width, channels)."""
        columns = [self._scaled(j, column) for j, column in enumerate(columns)]
        flat = [column.reshape(len(column), math.prod(column.shape[1:])) for column in columns]
        board = None
        if self._kernels:
            board, flat[self._board] = columns[self._board], flat[self._board][:, :0]
            if not self.architecture["observation"][self._board]["image"]:
                board = board.transpose(0, 2, 3, 1)
            places = np.broadcast_to(self._places, (*board.shape[:3], PLACES))
            board = np.concatenate((board, places), axis=3)
        return flat[0] if len(flat) == 1 else np.concatenate(flat, axis=1), board

    def _column(
        self, index: int, name: str | None, shape: tuple[int, ...], observations: Any, kinds: Any
    ) -> np.ndarray:
        if (name is not None) != isinstance(observations, Mapping) or (name is not None and name not in observations):
            given = sorted(observations) if isinstance(observations, Mapping) else type(observations).__name__
            wanted = "one array" if name is None else f"a dictionary with {[part for part, _ in self.parts]}"
            raise ParameterError(f"observations of this agent are {wanted}; {given} was given")
        array = np.asarray(observations if name is None else observations[name])
        label = "observations" if name is None else f"observations[{name!r}]"
        choices = self.architecture["observation"][index].get("choices")
        if (
            array.dtype.kind not in ("iu" if choices else "fiub")
            or array.ndim != len(shape) + 1
            or array.shape[1:] != shape
        ):
            raise ParameterError(
                f"{label} of shape {array.shape} and type {array.dtype} were given; needed: "
                f"{'whole ' if choices else ''}numbers (rows{''.join(f', {n}' for n in shape)})"
            )
        if choices:
            return _one_hot(label, array, choices)
        array = array.astype(np.float32) if array.dtype == np.float64 else array  # what a float32 world would show
        return in_blocks(array, self._check_kinds(kinds, len(array)), len(self.kinds)) if self.kinds else array

    def _scaled(self, index: int, array: np.ndarray) -> np.ndarray:
        """A part, normalised, float32."""
        if index in self._scales:
            mean, deviation = self._scales[index]
            clip = self.architecture["normalisation"]["clip"]
            array = np.clip((array - mean) / deviation, -clip, clip)
        array = array.astype(np.float32)
        return array / np.float32(WHITE) if self.architecture["observation"][index]["image"] else array

    def _check_kinds(self, kinds: Any, rows: int) -> np.ndarray:
        found = np.asarray(kinds)
        fine = found.shape == (rows,) and found.dtype.kind in "iu" and np.isin(found, np.arange(len(self.kinds))).all()
        _wants(
            bool(fine), "kinds", kinds, f"{rows} whole numbers below {len(self.kinds)}, the kind of each row's agent"
        )
        return found

    def _look(self, numbers: np.ndarray, board: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """The convolutions: what the layers see, and how they rate the choices of the planes (None without)."""
        found, rows = self.architecture["convolutions"], len(board)
        activation = ACTIVATIONS[found["activation"]]
        for k, (kernel, bias) in enumerate(self._kernels):
            board = _convolve(board, kernel, found["stride"]) + bias
            if k == 0 and numbers.shape[1]:
                board += (numbers @ self.tensors["convolutions.numbers"].T)[:, None, None]
            board = activation(board)
        if not found["planes"]:
            seen = board.transpose(0, 3, 1, 2).reshape(rows, math.prod(board.shape[1:]))
            return np.concatenate((seen, numbers), axis=1), None
        planes = board @ self.tensors["planes.weight"].T + self.tensors["planes.bias"]
        ratings = planes.transpose(0, 3, 1, 2).reshape(rows, math.prod(planes.shape[1:]))
        return np.concatenate((board.mean(axis=(1, 2)), numbers), axis=1), ratings

    def _remember(self, features: np.ndarray, state: State | None, starts: Any) -> tuple[np.ndarray, State]:
        """A step of the LSTM (Hochreiter and Schmidhuber 1997, with forget gates), layer by layer."""
        units = self.memory_shape[1]
        hidden, cell = self._check_state(state, len(features))
        if starts is not None:
            kept = (~self._check_starts(starts, len(features))).astype(np.float32)[None, :, None]
            hidden, cell = hidden * kept, cell * kept
        next_hidden, next_cell = np.empty_like(hidden), np.empty_like(cell)
        for k, (from_input, from_hidden, bias) in enumerate(self._cells):
            gates = features @ from_input.T + hidden[k] @ from_hidden.T + bias
            enter, forget, new, leave = (gates[:, g * units : (g + 1) * units] for g in range(GATES))
            next_cell[k] = _sigmoid(forget) * cell[k] + _sigmoid(enter) * np.tanh(new)
            next_hidden[k] = _sigmoid(leave) * np.tanh(next_cell[k])
            features = next_hidden[k]
        return features, (next_hidden, next_cell)

    def _recall(self, column: np.ndarray, state: State | None, starts: Any) -> tuple[np.ndarray, State]:
        """The last observations side by side, (rows, frames numbers), and those that count at the next call."""
        rows = column.reshape(len(column), -1).astype(np.float32)
        fresh = np.full(len(rows), state is None)
        if starts is not None:
            fresh |= self._check_starts(starts, len(rows))
        (before,) = self._check_state(state, len(rows))
        before = np.where(fresh[None, :, None], rows, before)
        seen = np.concatenate((before, rows[None]))
        return seen.transpose(1, 0, 2).reshape(len(rows), -1), (seen[1:],)

    def _check_starts(self, starts: Any, rows: int) -> np.ndarray:
        fresh = np.asarray(starts)
        if fresh.shape != (rows,):
            raise ParameterError(f"starts of shape {fresh.shape} were given; needed: ({rows},)")
        return fresh.astype(np.bool_)

    def _check_state(self, state: Any, rows: int) -> State:
        shape = (self.memory_shape[0], rows, self.memory_shape[1])
        wanted = [shape] if self.frames > 1 else [shape, shape]
        if state is None:
            return tuple(np.zeros(shape, np.float32) for _ in wanted)
        given = [np.shape(part) for part in state] if isinstance(state, (tuple, list)) else type(state).__name__
        if given != wanted:
            count = "one array" if self.frames > 1 else "two arrays"
            raise ParameterError(f"a state of shapes {given} was given; needed: {count} {shape}, or None")
        return tuple(np.asarray(part, np.float32) for part in state)

    def _decide(self, outputs: np.ndarray, masks: Any) -> np.ndarray:
        """Actions from what the last layer gives."""
        if self.numbers:
            if masks is not None:
                raise ParameterError("masks are for choices; this agent's actions are numbers")
            return self._bounded(outputs)
        if masks is None:
            return self._highest(outputs)
        allowed = np.asarray(masks)
        if allowed.shape != outputs.shape or allowed.dtype.kind not in "biu":
            raise ParameterError(
                f"masks of shape {allowed.shape} and type {allowed.dtype} were given; needed: {outputs.shape}, 0 or 1"
            )
        return self._highest(np.where(allowed != 0, outputs, -np.inf))

    def _highest(self, ratings: np.ndarray) -> np.ndarray:
        """The choices that are rated highest, in each dimension."""
        if not self.counts:
            return np.argmax(ratings, axis=1)
        parts = np.split(ratings, np.cumsum(self.counts)[:-1], axis=1)
        return np.stack([np.argmax(part, axis=1) for part in parts], axis=1)

    def _bounded(self, outputs: np.ndarray) -> np.ndarray:
        action = self.architecture["action"]
        if not action["squashed"]:
            return np.clip(outputs, self._low, self._high)
        if action["limit"] is not None:
            outputs = np.clip(outputs, np.float32(-action["limit"]), np.float32(action["limit"]))
        return self._low + np.float32(0.5) * (np.tanh(outputs) + np.float32(1.0)) * (self._high - self._low)


# --- what fits together -----------------------------------------------------------------------------------------------

CELL = ("input", "hidden", "bias")
ENTRIES = ("observation", "normalisation", "convolutions", "memory", "layers", "action")
ACTIONS = {
    "numbers": ("kind", "low", "high", "squashed", "limit"),
    "choice": ("kind", "choices", "masked"),
    "choices": ("kind", "counts", "masked"),
}


def check_architecture(found: Any) -> dict[str, Any]:
    """The architecture, if it is one; ParameterError names the entry that is wrong."""
    found = _entries("architecture", found, ENTRIES, optional=("kinds", "frames"))
    parts = _some("architecture: observation", found["observation"])
    for j, part in enumerate(parts):
        label = f"architecture: observation {j}"
        _entries(label, part, ("name", "shape", "normalised", "image"), optional=("choices",))
        for entry in ("normalised", "image"):
            _wants(isinstance(part[entry], bool), f"{label}: {entry}", part[entry], "true or false")
        _wants(not (part["normalised"] and part["image"]), label, part, "an image that is not normalised")
        named = part["name"] is None if len(parts) == 1 else False
        _wants(
            named or isinstance(part["name"], str), f"{label}: name", part["name"], "a text (null for the only part)"
        )
        _wants(isinstance(part["shape"], (list, tuple)), f"{label}: shape", part["shape"], "a list of sizes")
        for size in part["shape"]:
            _size(f"{label}: shape", size)
        if "choices" in part:
            _size(f"{label}: choices", part["choices"])
            plain = not (part["shape"] or part["normalised"] or part["image"])
            _wants(plain, label, part, "choices of shape [], neither normalised nor an image")
    names = [part["name"] for part in parts]
    _wants(len(set(names)) == len(names), "architecture: observation", names, "parts with different names")
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
            raise ParameterError(f"{label} has {layer['inputs']} inputs; what comes before it gives {width}")
        width = _size(f"{label}: units", layer["units"])
        _check_activation(label, layer["activation"])
    outputs = _check_action(found["action"])
    if outputs != width + rated:
        planes = f" and the planes {rated}" if rated else ""
        raise ParameterError(
            f"architecture: the last layer has {width} units{planes}, the action {outputs} numbers or choices"
        )
    return found


def _check_kinds(found: Mapping[str, Any]) -> None:
    if "kinds" not in found:
        return
    label, parts = "architecture: kinds", found["observation"]
    kinds = _some(label, found["kinds"])
    for kind in kinds:
        _entries(label, kind, ("name", "size"))
        fine = isinstance(kind["name"], str) and kind["name"] != "" and kind["name"].isprintable()
        _wants(fine, f"{label}: name", kind["name"], "a printable text")
        _size(f"{label}: size", kind["size"])
    names = [kind["name"] for kind in kinds]
    _wants(1 < len(names) == len(set(names)), label, names, "at least two of different names")
    row = len(parts) == 1 and len(parts[0]["shape"]) == 1
    _wants(row, "architecture: observation", parts, "one part that is a row of numbers, with kinds")
    sizes, size = [kind["size"] for kind in kinds], parts[0]["shape"][0]
    _wants(max(sizes) == size, f"{label}: size", sizes, f"{size}, the length of a row, as the largest")


def _check_frames(found: Mapping[str, Any]) -> None:
    if "frames" not in found:
        return
    _wants(_size("architecture: frames", found["frames"]) > 1, "architecture: frames", found["frames"], "at least 2")
    _wants(len(found["observation"]) == 1, "architecture: observation", found["observation"], "one part, with frames")
    for name in ("convolutions", "memory"):
        _wants(found[name] is None, f"architecture: {name}", found[name], "null, with frames")
    _wants("kinds" not in found, "architecture: kinds", found.get("kinds"), "left out, with frames")


def _inputs(found: Mapping[str, Any]) -> int:
    """How many numbers the network sees of all parts."""
    width = sum(map(_width, found["observation"])) * found.get("frames", 1)
    return blocks_width(width, len(found["kinds"])) if "kinds" in found else width


def _check_convolutions(found: Mapping[str, Any]) -> tuple[int, int]:
    """How much the layers see, and how many choices the planes rate."""
    label, parts = "architecture: convolutions", found["observation"]
    entries = _entries(label, found["convolutions"], ("channels", "kernel", "stride", "activation", "planes"))
    for size in _some(f"{label}: channels", entries["channels"]):
        _size(f"{label}: channels", size)
    _wants(len(_boards(parts)) == 1, "architecture: observation", parts, "one part with three axes, with convolutions")
    odd = _size(f"{label}: kernel", entries["kernel"]) % 2 == 1 and entries["kernel"] <= LARGEST_KERNEL
    _wants(odd, f"{label}: kernel", entries["kernel"], f"an odd number up to {LARGEST_KERNEL}")
    stride = _size(f"{label}: stride", entries["stride"])
    _check_activation(label, entries["activation"])
    planes = 0 if entries["planes"] == 0 else _size(f"{label}: planes", entries["planes"])
    channels, cells, numbers = _seen(found)
    if not planes:
        return channels * cells + numbers, 0
    _wants(stride == 1, f"{label}: stride", stride, "1, with planes")
    _wants(found["memory"] is None, "architecture: memory", found["memory"], "null, with planes")
    return channels + numbers, planes * cells


def _width(part: Mapping[str, Any]) -> int:
    """How many numbers the network sees of a part."""
    return part.get("choices") or math.prod(part["shape"])


def _boards(parts: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [part for part in parts if len(part["shape"]) == BOARD]


def _sides(part: Mapping[str, Any]) -> Sequence[int]:
    """Height and width."""
    return part["shape"][:2] if part["image"] else part["shape"][1:]


def _seen(architecture: Mapping[str, Any]) -> tuple[int, int, int]:
    """Channels and cells that the last convolution gives, and the numbers beside."""
    found, parts = architecture["convolutions"], architecture["observation"]
    (part,) = _boards(parts)
    sides = _sides(part)
    for _ in found["channels"]:
        sides = [-(-side // found["stride"]) for side in sides]
    numbers = sum(_width(other) for other in parts if other is not part)
    return found["channels"][-1], math.prod(sides), numbers


def _check_activation(label: str, found: Any) -> None:
    if not isinstance(found, str) or found not in ACTIVATIONS:
        raise ParameterError(f"{label}: there is no activation {found!r}. {nearest(str(found), ACTIVATIONS)}")


def _check_normalisation(found: Any, needed: bool) -> None:
    label = "architecture: normalisation"
    if found is None:
        _wants(not needed, label, None, "an epsilon and a clip, since parts are normalised")
        return
    _entries(label, found, ("epsilon", "clip"))
    for name in ("epsilon", "clip"):
        _wants(_is_number(found[name]) and found[name] > 0, f"{label}: {name}", found[name], "a positive number")


def _check_action(found: Any) -> int:
    """How many outputs an action needs."""
    label = "architecture: action"
    kind = found.get("kind") if isinstance(found, dict) else None
    if kind not in ACTIONS:
        raise ParameterError(f"{label}: {found!r} is of no kind that is known; known: {', '.join(ACTIONS)}")
    _entries(label, found, ACTIONS[kind])
    if kind != "numbers":
        _wants(isinstance(found["masked"], bool), f"{label}: masked", found["masked"], "true or false")
    if kind == "choice":
        return _size(f"{label}: choices", found["choices"])
    if kind == "choices":
        return sum(_size(f"{label}: counts", count) for count in _some(f"{label}: counts", found["counts"]))
    low, high, limit = _some(f"{label}: low", found["low"]), _some(f"{label}: high", found["high"]), found["limit"]
    fine = len(low) == len(high) and all(map(_is_number, [*low, *high]))
    _wants(fine and all(map(float.__lt__, map(float, low), map(float, high))), label, found, "numbers low < high")
    _wants(isinstance(found["squashed"], bool), f"{label}: squashed", found["squashed"], "true or false")
    _wants(limit is None or (_is_number(limit) and limit > 0), f"{label}: limit", limit, "null or a positive number")
    return len(low)


def _entries(label: str, found: Any, names: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Any]:
    if not isinstance(found, dict) or set(found) - set(optional) != set(names):
        given = sorted(map(str, found)) if isinstance(found, dict) else repr(found)
        perhaps = f", and perhaps {', '.join(optional)}" if optional else ""
        raise ParameterError(f"{label} must have exactly the entries {', '.join(names)}{perhaps}; given: {given}")
    return found


def _some(label: str, found: Any) -> Sequence[Any]:
    _wants(isinstance(found, (list, tuple)) and len(found) > 0, label, found, "a list of at least one")
    return found


def _size(label: str, found: Any) -> int:
    whole = isinstance(found, int) and not isinstance(found, bool)
    _wants(whole and 1 <= found <= LARGEST_SIZE, label, found, f"a whole number from 1 to {LARGEST_SIZE}")
    return found


def _is_number(found: Any) -> bool:
    return isinstance(found, (int, float)) and not isinstance(found, bool) and abs(found) < 1e30


def _wants(fine: bool, label: str, found: Any, wanted: str) -> None:
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
        channels, cells, numbers = _seen(architecture)
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
    (part,) = _boards(architecture["observation"])
    inputs, size = part["shape"][-1 if part["image"] else 0] + PLACES, found["kernel"]
    for k, channels in enumerate(found["channels"]):
        yield f"convolutions.{k}.weight", (channels, inputs, size, size), "float32"
        yield f"convolutions.{k}.bias", (channels,), "float32"
        inputs = channels
    numbers = _seen(architecture)[2]
    if numbers:
        yield "convolutions.numbers", (found["channels"][0], numbers), "float32"
    if found["planes"]:
        yield "planes.weight", (found["planes"], inputs), "float32"
        yield "planes.bias", (found["planes"],), "float32"


def _check_tensors(architecture: Mapping[str, Any], tensors: Mapping[str, np.ndarray]) -> None:
    wanted: set[str] = set()
    for name, shape, dtype in expected_tensors(architecture):
        wanted.add(name)
        if name not in tensors:
            raise ParameterError(f"the architecture needs the array {name!r}, which is missing")
        array = tensors[name]
        if array.shape != shape or array.dtype != dtype:
            raise ParameterError(f"{name!r} is {array.dtype} {array.shape}; the architecture needs {dtype} {shape}")
        if not np.isfinite(array).all():
            raise ParameterError(f"{name!r} holds NaN or infinite numbers")
        if name.endswith(".var") and (array < 0).any():
            raise ParameterError(f"{name!r} holds negative variances")
    if set(tensors) - wanted:
        raise ParameterError(f"the architecture knows nothing of the arrays {sorted(set(tensors) - wanted)}")
