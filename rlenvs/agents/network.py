"""What a learned agent computes, in NumPy alone: an observation in, the action without exploration out."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rlenvs.agents.architecture import (
    ACTIVATIONS,
    BOARD,
    CELL,
    GATES,
    PLACES,
    boards_of,
    check_architecture,
    check_tensors,
    sides_of,
    sigmoid,
    wants,
    width_of,
)
from rlenvs.agents.kinds import in_blocks, in_words, kind_of
from rlenvs.core.declare.errors import ParameterError

State = tuple[np.ndarray, ...]
WHITE = 255  # the largest value of an image


@functools.cache
def _blas() -> Any:
    """What multiplies matrices for NumPy. Convolutions are many small products: threads that wait for each other take
    longer for these than one, and many times as long on a busy machine."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


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
            self.memory_shape = (self.frames - 1, width_of(architecture["observation"][0]))
        self.counts: tuple[int, ...] = tuple(action.get("counts", ()))
        self.choices: int = action.get("choices", sum(self.counts))
        self.numbers = len(action.get("low", ()))
        self.masked: bool = action.get("masked", False)
        check_tensors(architecture, tensors)
        self._scales = {j: self._scale(j) for j, part in enumerate(architecture["observation"]) if part["normalised"]}
        self._kernels = self._kernel_arrays() if architecture["convolutions"] else []
        if self._kernels:
            self._board = architecture["observation"].index(boards_of(architecture["observation"])[0])
            self._places = places_of(*sides_of(architecture["observation"][self._board])).transpose(1, 2, 0)
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
            observations: (rows, *shape), or a dictionary of such arrays. Values as the world gives them; normalization
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
                    f"agent={name!r} is not a kind that this agent was trained for: {in_words(self.kinds)}. Give a "
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
        """The parts, normalized, float32: numbers side by side (rows, n), and what convolutions look at, if there are
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
        """A part, normalized, float32."""
        if index in self._scales:
            mean, deviation = self._scales[index]
            clip = self.architecture["normalisation"]["clip"]
            array = np.clip((array - mean) / deviation, -clip, clip)
        array = array.astype(np.float32)
        return array / np.float32(WHITE) if self.architecture["observation"][index]["image"] else array

    def _check_kinds(self, kinds: Any, rows: int) -> np.ndarray:
        found = np.asarray(kinds)
        fine = found.shape == (rows,) and found.dtype.kind in "iu" and np.isin(found, np.arange(len(self.kinds))).all()
        wants(bool(fine), "kinds", kinds, f"{rows} whole numbers below {len(self.kinds)}, the kind of each row's agent")
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
            next_cell[k] = sigmoid(forget) * cell[k] + sigmoid(enter) * np.tanh(new)
            next_hidden[k] = sigmoid(leave) * np.tanh(next_cell[k])
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
