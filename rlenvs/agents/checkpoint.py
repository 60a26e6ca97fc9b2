"""Checkpoints of training: all that decides how it goes on, in one safetensors file. No pickle, nothing is executed.

Arrays lie in the file as they are; what holds them (dictionaries, lists, numbers) lies as JSON in its header, with a
checksum of all.
"""

from __future__ import annotations

import json
import random
import zlib
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.agents.writing import replace_file
from rlenvs.core.declare.errors import RunError

FORMAT = "rlenvs checkpoint 2"
Arrays = dict[str, np.ndarray]


# --- trees of plain values and arrays ---------------------------------------------------------------------------------


def pack(tree: Any, arrays: Arrays) -> Any:
    """A tree of dictionaries, lists, tuples, numbers, texts, arrays and tensors as JSON; arrays go to `arrays`.

    Raises:
        TypeError: something else is among them.
    """
    if tree is None or (isinstance(tree, (bool, int, float, str)) and not isinstance(tree, np.generic)):
        return tree
    if isinstance(tree, dict):
        return ["dict", [[pack(key, arrays), pack(value, arrays)] for key, value in tree.items()]]
    if isinstance(tree, (list, tuple, deque)):
        return ["tuple" if isinstance(tree, tuple) else "list", [pack(value, arrays) for value in tree]]
    kind = "scalar" if isinstance(tree, np.generic) else "array"
    if type(tree).__module__.startswith("torch"):
        kind, tree = "tensor", tree.detach().cpu().numpy()
    if not isinstance(tree, (np.ndarray, np.generic)):
        raise TypeError(f"a checkpoint cannot hold {type(tree).__name__}")
    name = str(len(arrays))
    arrays[name] = np.asarray(tree, order="C")
    return [kind, name]


def unpack(packed: Any, arrays: Arrays) -> Any:
    """What `pack` packed. Lookup, type or value errors where it is something else."""
    if not isinstance(packed, list):
        return packed
    kind, content = packed
    if kind == "dict":
        return {unpack(key, arrays): unpack(value, arrays) for key, value in content}
    if kind in ("list", "tuple"):
        values = [unpack(value, arrays) for value in content]
        return tuple(values) if kind == "tuple" else values
    array = arrays[content]
    if kind == "tensor":
        import torch

        return torch.from_numpy(array)
    return {"array": lambda: array, "scalar": lambda: array[()]}[kind]()


# --- files ------------------------------------------------------------------------------------------------------------


def write_checkpoint(path: Path, tree: Any) -> None:
    """Write a tree to a file, whole or not at all: what was there before stays until the new one is on the disk.

    Raises:
        OSError: it cannot be written.
    """
    arrays: Arrays = {}
    text = json.dumps(pack(tree, arrays))
    arrays = dict(sorted(arrays.items(), key=lambda item: -item[1].itemsize))  # each begins at a multiple of its size
    header: dict[str, Any] = {"__metadata__": {"format": FORMAT, "tree": text, "sum": _sum_of(text, arrays)}}
    start = 0
    for name, array in arrays.items():
        offsets = [start, start + array.nbytes]
        header[name] = {"dtype": TYPES[array.dtype.str[1:]], "shape": list(array.shape), "data_offsets": offsets}
        start += array.nbytes
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    # safetensors' own writer needs a temporary file of another name each time, which a killed process leaves behind
    replace_file(path, [len(head).to_bytes(8, "little"), head, *(array.data for array in arrays.values())])


def _sum_of(text: str, arrays: Arrays) -> str:
    """A checksum: a damaged file must not go on with other weights, or break down later."""
    total = zlib.crc32(text.encode())
    for name, array in sorted(arrays.items()):
        total = zlib.crc32(array.data, zlib.crc32(f"{name} {array.dtype.str} {array.shape}".encode(), total))
    return str(total)


# numpy's names of types and those of safetensors
TYPES = {"b1": "BOOL", "u1": "U8", "u4": "U32", "u8": "U64", "i4": "I32", "i8": "I64", "f4": "F32", "f8": "F64"}


def read_checkpoint(path: Path) -> Any:
    """The tree in a file.

    Raises:
        RunError: there is no such file, or it is damaged or something else.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            head = file.metadata() or {}
            if head.get("format") != FORMAT:
                raise RunError(f"{path} is not a checkpoint of this version of rlenvs ({FORMAT!r})")
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if head["sum"] != _sum_of(head["tree"], arrays):
            raise RunError(f"{path} is damaged: its checksum does not match")
        return unpack(json.loads(head["tree"]), arrays)
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror or error}") from None
    except (SafetensorError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise RunError(f"{path} is damaged, or not a checkpoint: {error}") from None


# --- what a checkpoint of a model holds -------------------------------------------------------------------------------

# attributes of models that change in training
PLAIN = (
    "num_timesteps",
    "_episode_num",
    "_n_updates",
    "_n_calls",
    "_current_progress_remaining",
    "exploration_rate",
    "rng_state",
)
LAST = ("_last_obs", "_last_episode_starts", "_last_original_obs", "_last_lstm_states")
RECENT = ("ep_info_buffer", "ep_success_buffer")
# and of its replay buffers
STORED = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts", "ep_start", "ep_length")
PLACES = ("pos", "full", "_current_ep_start")
NOISE = ("exploration_mat", "exploration_matrices")  # of state-dependent exploration
STATISTICS = ("mean", "var", "count")


def training_state(model: Any) -> dict[str, Any]:
    """All that decides how a model's training goes on, between two rollouts."""
    parts = {name: getattr(model, name) for name in (*PLAIN, *LAST, *RECENT) if hasattr(model, name)}
    variables = model._get_torch_save_params()[1]  # noqa: SLF001 (its own `save` asks it)
    return {
        "attributes": parts,
        "parameters": model.get_parameters(),
        "variables": {name: getattr(model, name) for name in variables if getattr(model, name) is not None},
        "replay": _replay_state(getattr(model, "replay_buffer", None)),
        "answers": model.answers.state if hasattr(model, "answers") else None,
        "wrappers": [env.state for env in _keeping(model)],
        "normalizer": _normalizer_state(model.get_vec_normalize_env()),
        "environment": model.env.unwrapped.all_states(),
        "random": random_state(model),
    }


def restore_training(model: Any, tree: dict[str, Any]) -> None:
    """Put a new model of the same settings where another one was; `restore_random` belongs behind it.

    Raises:
        RunError: the checkpoint is of other settings.
    """
    try:
        model.set_parameters(tree["parameters"], exact_match=True, device=model.device)
        for name, value in tree["variables"].items():
            getattr(model, name).data[...] = value
        for name, value in tree["attributes"].items():
            setattr(model, name, _like(getattr(model, name), value, model))
        _restore_replay(getattr(model, "replay_buffer", None), tree["replay"])
        if tree["answers"] is not None:
            model.answers.state = tree["answers"]
        for env, state in zip(_keeping(model), tree.get("wrappers", ()), strict=True):
            env.state = state
        _restore_normalizer(model.get_vec_normalize_env(), tree["normalizer"])
        model.env.unwrapped.restore(tree["environment"])
    except (LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        raise RunError(f"the checkpoint does not match the settings of its run: {error}") from None


def wrappers_of(model: Any) -> list[Any]:
    """The wrappers of a model's environments, the outermost first."""
    found, env = [], model.env
    while hasattr(env, "venv"):
        found.append(env)
        env = env.venv
    return found


def _keeping(model: Any) -> list[Any]:
    """Those wrappers that keep something, in their `state`."""
    return [env for env in wrappers_of(model) if hasattr(type(env), "state")]


def _like(present: Any, value: Any, model: Any) -> Any:
    """A loaded value in the type that the attribute has."""
    if hasattr(present, "_fields"):  # the states of an LSTM
        return type(present)(*value)
    window = model._stats_window_size  # noqa: SLF001 (the buffers do not know it before the first rollout)
    return deque(value, maxlen=window) if isinstance(value, list) else value


def _exploration(model: Any) -> Any:
    policy = model.policy
    return getattr(getattr(policy, "actor", None), "action_dist", None) or getattr(policy, "action_dist", None)


def _replay_state(buffer: Any) -> dict[str, Any] | None:
    """A replay buffer as far as it is filled."""
    if buffer is None:
        return None
    size = buffer.size()

    def filled(found: Any) -> Any:
        return {name: array[:size] for name, array in found.items()} if isinstance(found, dict) else found[:size]

    state = {name: filled(getattr(buffer, name)) for name in STORED if hasattr(buffer, name)}
    return {**state, **{name: getattr(buffer, name) for name in PLACES if hasattr(buffer, name)}}


def _restore_replay(buffer: Any, state: dict[str, Any] | None) -> None:
    for name, value in (state or {}).items():
        if name in PLACES:
            setattr(buffer, name, value)
            continue
        own = getattr(buffer, name)
        for key, array in value.items() if isinstance(value, dict) else [(..., value)]:
            (own[key] if key is not ... else own)[: len(array)] = array


def _normalizer_state(normalizer: Any) -> dict[str, Any] | None:
    if normalizer is None:
        return None
    observed = normalizer.obs_rms if normalizer.norm_obs else {}
    observed = observed if isinstance(observed, dict) else {"": observed}
    return {
        "observations": {key: {name: getattr(one, name) for name in STATISTICS} for key, one in observed.items()},
        "rewards": {name: getattr(normalizer.ret_rms, name) for name in STATISTICS},
        "returns": normalizer.returns,
    }


def _restore_normalizer(normalizer: Any, state: dict[str, Any] | None) -> None:
    if normalizer is None or state is None:
        return
    observed = normalizer.obs_rms if normalizer.norm_obs else {}
    for key, values in state["observations"].items():
        _set(observed[key] if isinstance(observed, dict) else observed, values)
    _set(normalizer.ret_rms, state["rewards"])
    normalizer.returns = state["returns"]


def _set(one: Any, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(one, name, value)


def random_state(model: Any) -> dict[str, Any]:
    """The generators that training draws from (torch, NumPy, Python, random actions), and noise drawn for a rollout."""
    import torch

    dist = _exploration(model)
    return {
        "noise": {name: getattr(dist, name) for name in NOISE if hasattr(dist, name)},
        "torch": torch.get_rng_state(),
        "numpy": np.random.get_state(legacy=False),  # noqa: NPY002
        "python": random.getstate(),
        "actions": model.action_space.np_random.bit_generator.state,
    }


def restore_random(model: Any, state: dict[str, Any]) -> None:
    """Put these back just before the next rollout: beginning to learn draws from the generators."""
    import torch

    for name, value in state["noise"].items():
        setattr(_exploration(model), name, value)
    torch.set_rng_state(state["torch"])
    np.random.set_state(state["numpy"])  # noqa: NPY002
    random.setstate(state["python"])
    model.action_space.np_random.bit_generator.state = state["actions"]
