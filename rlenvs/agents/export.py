"""Convert a model of Stable-Baselines3 or sb3-contrib to an agent that needs neither."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rlenvs.agents.agent import Agent
from rlenvs.agents.card import AgentScore, Card
from rlenvs.agents.network import Network, form_of, is_image, parts_of
from rlenvs.core.batch.loops import cores
from rlenvs.core.catalogue.registry import entry, world_of
from rlenvs.core.declare.action_form import counts_of
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.renamed import old_names
from rlenvs.core.declare.setup import Setup
from rlenvs.version import __version__

__all__ = ["agent_from_sb3"]
if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

PACKAGES = ("rlenvs", "stable-baselines3", "sb3-contrib", "torch", "gymnasium", "numpy")
# torch's modules by name, and the attributes whose other values are not known here
MODULES: dict[str, tuple[str, dict[str, Any]]] = {
    "Tanh": ("tanh", {}),
    "ReLU": ("relu", {}),
    "LeakyReLU": ("leaky_relu", {"negative_slope": 0.01}),
    "ELU": ("elu", {"alpha": 1.0}),
    "SiLU": ("silu", {}),
    "Sigmoid": ("sigmoid", {}),
    "Identity": ("identity", {}),
}
Tensors = dict[str, np.ndarray]


def agent_from_sb3(
    model: Any,
    id: str,
    *,
    keywords: Mapping[str, Any],
    settings: Mapping[str, Any],
    normalizer: Any = None,
    steps: int,
    seeds: Sequence[int],
    seconds: float,
    score: AgentScore | None = None,
) -> Agent:
    """Convert a trained model to an agent.

    Args:
        model: of PPO, A2C, SAC, TD3, DDPG, DQN (Stable-Baselines3), or MaskablePPO, RecurrentPPO, TRPO, TQC,
            QRDQN (sb3-contrib), or of a class derived from one of these, with MlpPolicy or MultiInputPolicy.
        id: the environment it is for.
        keywords: of `make`, with which it is to be evaluated. What was different in training alone, such as weights of
            reward terms, belongs to the settings.
        settings: hyperparameters, for the card; of JSON's types.
        normalizer: the VecNormalize of training; by default that of the model's own environment, if there is one.
        steps, seeds, seconds: of training, for the card: environment steps, seeds, wall time.
        score: what it reached; `rlenvs.agents.scores.measure` gives one.

    Raises:
        ParameterError: a model of another kind, or for other spaces than the world's.
    """
    architecture, tensors = network_of(model, normalizer)
    agent = agent_with(
        *(architecture, tensors, id),
        algorithm=type(model).__name__,
        keywords=keywords,
        settings=settings,
        steps=steps,
        seeds=seeds,
        seconds=seconds,
        score=score,
    )
    agent.check(Setup(world_of(id), **agent.card.keywords), f"the model of {agent.card.algorithm}")
    return agent


def agent_with(
    architecture: dict[str, Any],
    tensors: Tensors,
    id: str,
    *,
    algorithm: str,
    keywords: Mapping[str, Any],
    settings: Mapping[str, Any],
    steps: int,
    seeds: Sequence[int],
    seconds: float,
    score: AgentScore | None,
) -> Agent:
    """A network that was trained here, with its card; what the card cannot hold is refused.

    Args:
        architecture, tensors: as `rlenvs.agents.network.Network` takes them.
        algorithm: its name; id and all others: as for `agent_from_sb3`.
    """
    card = Card(
        id=entry(id).id,
        keywords=dict(keywords),
        algorithm=algorithm,
        settings=dict(settings),
        architecture=architecture,
        steps=int(steps),
        seeds=[int(seed) for seed in seeds],
        seconds=round(float(seconds), 3),
        hardware=hardware(),
        versions=versions(),
        score=score,
    )
    card.to_json()  # what cannot be written is refused now
    return Agent(card, Network(architecture, tensors))


def network_of(model: Any, normalizer: Any = None) -> tuple[dict[str, Any], Tensors]:
    """The architecture of a model's policy and its arrays, as `rlenvs.agents.network.Network` takes them.

    Args:
        model, normalizer: as for `agent_from_sb3`.

    Raises:
        ParameterError: an algorithm, network or space that is not known here.
    """
    names = [cls.__name__ for cls in type(model).__mro__]
    readers = [READERS[name] for name in names if name in READERS]
    if not readers:
        raise ParameterError(
            f"a model of {names[0]} cannot be converted to an agent; supported are {', '.join(READERS)}"
        )
    architecture: dict[str, Any] = {
        "observation": _parts(model),
        "normalisation": None,
        "convolutions": None,
        "memory": None,
    }
    tensors: Tensors = {}
    space = _own_space(model)
    if hasattr(space, "kinds"):
        architecture["kinds"] = [dict(kind) for kind in space.kinds]
    if hasattr(space, "frames"):
        architecture["frames"] = space.frames
    if normalizer is None:
        normalizer = model.get_vec_normalize_env()
    if normalizer is not None and normalizer.norm_obs:
        _add_normalisation(architecture, tensors, normalizer, space)
    action = _action(model)
    _add_convolutions(model, architecture, tensors)
    layers = readers[0](model, architecture, tensors, action)
    architecture["layers"] = [add_layer(tensors, k, *layer) for k, layer in enumerate(layers)]
    if type(model.action_space).__name__ == "MultiBinary" and not action["masked"]:
        _rate_both(architecture["layers"][-1], tensors, len(layers) - 1)
    return {**architecture, "action": action}, tensors


# --- the networks of the algorithms -----------------------------------------------------------------------------------

Layer = tuple[Any, str]  # a Linear module, and the activation behind it


def _actor_critic(model: Any, architecture: dict[str, Any], tensors: Tensors, action: dict[str, Any]) -> list[Layer]:
    policy = model.policy
    if action["kind"] != "numbers":
        action["masked"] = "MaskableActorCriticPolicy" in [cls.__name__ for cls in type(policy).__mro__]
    else:
        action["squashed"] = bool(policy.squash_output)
    if hasattr(policy, "lstm_actor"):
        architecture["memory"] = _add_memory(tensors, policy.lstm_actor)
    last = policy.action_net
    if type(last).__name__ == "PlanesHead":
        architecture["convolutions"]["planes"] = last.planes.out_channels
        tensors["planes.weight"] = _array(last.planes.weight[:, :, 0, 0])
        tensors["planes.bias"] = _array(last.planes.bias)
        last = last.others
    return layers_of([*policy.mlp_extractor.policy_net, *([] if last is None else [last])])


def _squashed_gaussian(
    model: Any, architecture: dict[str, Any], tensors: Tensors, action: dict[str, Any]
) -> list[Layer]:
    actor = model.actor
    last = list(actor.mu) if type(actor.mu).__name__ == "Sequential" else [actor.mu]
    if len(last) == 2:  # with state-dependent exploration the mean is limited by a Hardtanh
        action["limit"] = float(last[1].max_val)
    action["squashed"] = True
    return layers_of([*actor.latent_pi, last[0]])


def _deterministic(model: Any, architecture: dict[str, Any], tensors: Tensors, action: dict[str, Any]) -> list[Layer]:
    action["squashed"] = True
    return layers_of(list(model.actor.mu)[:-1])  # the last one is the tanh that "squashed" stands for


def _values_of_choices(
    model: Any, architecture: dict[str, Any], tensors: Tensors, action: dict[str, Any]
) -> list[Layer]:
    return layers_of(list(model.q_net.q_net))


def _means_of_quantiles(
    model: Any, architecture: dict[str, Any], tensors: Tensors, action: dict[str, Any]
) -> list[Layer]:
    """The greedy policy looks at the mean of each choice's quantiles alone (Dabney et al., "Distributional
    Reinforcement Learning with Quantile Regression", 2018), and the mean of linear outputs is one linear output."""
    from torch import nn

    network = model.quantile_net
    *layers, (last, activation) = layers_of(list(network.quantile_net))
    mean = nn.Linear(last.in_features, action["choices"])
    for name in ("weight", "bias"):
        quantiles = getattr(last, name).data
        getattr(mean, name).data = quantiles.view(network.n_quantiles, -1, *quantiles.shape[1:]).mean(0)
    return [*layers, (mean, activation)]


READERS: dict[str, Callable[[Any, dict[str, Any], Tensors, dict[str, Any]], list[Layer]]] = {
    **dict.fromkeys(("PPO", "A2C", "MaskablePPO", "RecurrentPPO", "TRPO"), _actor_critic),
    **dict.fromkeys(("SAC", "TQC"), _squashed_gaussian),
    **dict.fromkeys(("TD3", "DDPG"), _deterministic),
    "DQN": _values_of_choices,
    "QRDQN": _means_of_quantiles,
}


def layers_of(modules: Iterable[Any]) -> list[Layer]:
    """Linear modules with the activation behind each."""
    layers: list[Layer] = []
    open_layer = False
    for module in modules:
        name = type(module).__name__
        if name == "Linear" and module.bias is not None:
            layers.append((module, "identity"))
        elif name in MODULES and open_layer and all(getattr(module, key) == v for key, v in MODULES[name][1].items()):
            layers[-1] = (layers[-1][0], MODULES[name][0])
        else:
            raise ParameterError(
                f"a network with {module} at this place cannot be converted to an agent; supported are linear layers "
                f"with a bias, each followed by at most one of {', '.join(MODULES)} (without arguments)"
            )
        open_layer = name == "Linear"
    return layers


def add_layer(tensors: Tensors, index: int, module: Any, activation: str) -> dict[str, Any]:
    """Note a linear module's arrays; what the architecture says of it."""
    tensors[f"layers.{index}.weight"], tensors[f"layers.{index}.bias"] = _array(module.weight), _array(module.bias)
    return {"inputs": int(module.in_features), "units": int(module.out_features), "activation": activation}


def _rate_both(layer: dict[str, Any], tensors: Tensors, index: int) -> None:
    """A Bernoulli distribution rates 1 where 0 is rated 0: give the last layer an output for each of both."""
    for part in ("weight", "bias"):
        ones = tensors[f"layers.{index}.{part}"]
        tensors[f"layers.{index}.{part}"] = np.stack([np.zeros_like(ones), ones], axis=1).reshape(-1, *ones.shape[1:])
    layer["units"] *= 2


def _add_memory(tensors: Tensors, lstm: Any) -> dict[str, Any]:
    if lstm.bidirectional or lstm.proj_size or lstm.batch_first or not lstm.bias:
        raise ParameterError(f"{lstm} cannot be converted to an agent; supported are unidirectional LSTMs with biases")
    for k in range(lstm.num_layers):
        parts = {
            name: _array(getattr(lstm, f"{name}_l{k}")) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        }
        tensors[f"memory.{k}.input"], tensors[f"memory.{k}.hidden"] = parts["weight_ih"], parts["weight_hh"]
        tensors[f"memory.{k}.bias"] = parts["bias_ih"] + parts["bias_hh"]
    return {"layers": lstm.num_layers, "units": lstm.hidden_size}


def _array(tensor: Any) -> np.ndarray:
    return np.array(tensor.detach().cpu().numpy(), np.float32)


# --- what goes in and comes out ---------------------------------------------------------------------------------------


def _own_space(model: Any) -> Any:
    """Of what the actor sees; behind it may be what a central critic sees."""
    return getattr(model.policy, "own_space", model.observation_space)


def _parts(model: Any) -> list[dict[str, Any]]:
    """The parts of an observation in the order in which the network takes them."""
    return [
        {"name": name, **_part("observations" if name is None else f"observations[{name!r}]", part, model)}
        for name, part in parts_of(_own_space(model)).items()
    ]


def _part(label: str, space: Any, model: Any) -> dict[str, Any]:
    space = getattr(space, "row_space", space)  # of rows in the blocks of kinds, and of frames, the rows
    found = part_of(space)
    if "choices" in found or (type(space).__name__ == "Box" and space.dtype.kind in "fi"):
        return found
    if _extractor(model) == "BoardFeatures" and is_image(space):
        planes, height, width = space.shape  # as Stable-Baselines3 has turned them
        return {**found, "shape": [height, width, planes], "image": True}
    raise ParameterError(
        f"{label} of {space} are not supported for agents; they must be a Box of floats or integers, Discrete "
        f"starting at 0, or an image with convolutions"
    )


def part_of(space: Any) -> dict[str, Any]:
    """What the architecture says of a part, but for its name."""
    form = form_of(space)
    if isinstance(form, int):
        return {"shape": [], "normalised": False, "image": False, "choices": form}
    return {"shape": list(form), "normalised": False, "image": False}


def _extractor(model: Any) -> str:
    """The name of the class of the features extractor."""
    return type(_actor(model).features_extractor).__name__


def _actor(model: Any) -> Any:
    policy = model.policy
    networks = [getattr(policy, name, None) for name in ("actor", "q_net", "quantile_net")]
    return next((network for network in networks if network is not None), policy)


def _add_convolutions(model: Any, architecture: dict[str, Any], tensors: Tensors) -> None:
    """Those of the features extractor, where it has any; others than are known are refused."""
    extractor, name = _actor(model).features_extractor, _extractor(model)
    if name == "BoardFeatures":
        modules, activation = list(extractor.convolutions), type(extractor.activation).__name__
        if activation not in MODULES:
            raise ParameterError(
                f"convolutions with {activation} cannot be converted to an agent; supported: {', '.join(MODULES)}"
            )
        for k, module in enumerate(modules):
            tensors[f"convolutions.{k}.weight"] = _array(module.weight)
            tensors[f"convolutions.{k}.bias"] = _array(module.bias)
        if extractor.numbers is not None:
            tensors["convolutions.numbers"] = _array(extractor.numbers.weight)
        architecture["convolutions"] = {
            "channels": [module.out_channels for module in modules],
            "kernel": modules[0].kernel_size[0],
            "stride": modules[0].stride[0],
            "activation": MODULES[activation][0],
            "planes": 0,
        }
    elif name not in ("FlattenExtractor", "CombinedExtractor"):
        raise ParameterError(
            f"the features extractor {name} cannot be converted to an agent; supported are FlattenExtractor, "
            "CombinedExtractor (MlpPolicy and MultiInputPolicy) and rlenvs.agents.boards.BoardFeatures"
        )


def _action(model: Any) -> dict[str, Any]:
    space = model.action_space
    kind = type(space).__name__
    if kind == "Discrete" and space.start == 0:
        return {"kind": "choice", "choices": int(space.n), "masked": False}
    if (kind == "MultiDiscrete" and not space.start.any()) or kind == "MultiBinary":
        return {"kind": "choices", "counts": counts_of(space), "masked": False}
    if kind == "Box" and len(space.shape) == 1 and np.isfinite([space.low, space.high]).all():
        low, high = space.low.tolist(), space.high.tolist()
        return {"kind": "numbers", "low": low, "high": high, "squashed": False, "limit": None}
    raise ParameterError(
        f"actions of {space} are not supported for agents; supported are bounded Box spaces (n,), Discrete(n), "
        f"MultiDiscrete and MultiBinary"
    )


def _add_normalisation(architecture: dict[str, Any], tensors: Tensors, normalizer: Any, space: Any) -> None:
    """The statistics of a VecNormalize, as far as they are of the actor's space."""
    statistics = normalizer.obs_rms
    statistics = statistics if isinstance(statistics, dict) else {None: statistics}
    architecture["normalisation"] = {"epsilon": float(normalizer.epsilon), "clip": float(normalizer.clip_obs)}
    for j, part in enumerate(architecture["observation"]):
        found = statistics.get(part["name"])
        if found is None:
            continue
        part["normalised"] = True
        for name, value in (("mean", found.mean), ("var", found.var)):
            own = tuple(map(slice, parts_of(space)[part["name"]].shape))  # what lies behind is for a central critic
            tensors[f"normalisation.{j}.{name}"] = np.array(value, np.float64)[own]


# --- where it was trained ---------------------------------------------------------------------------------------------


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that matter; those that are not installed are left out."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = __version__ if name == "rlenvs" else importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def hardware() -> dict[str, Any]:
    """The processor's name, the kind of it that kernels are compiled for, and how many cores this process may use."""
    return {"cpu": _cpu(), "kind": _kind_of_processor(), "cores": cores()}


def _kind_of_processor() -> str:
    from rlenvs.core.compiler.installed import numba_is_installed
    from rlenvs.core.compiler.ready import targets

    if not numba_is_installed():
        return "".join(targets()[:1])
    from rlenvs.core.compiler.jit import processor

    return str(processor())


def _cpu() -> str:
    table = Path("/proc/cpuinfo")
    if table.exists():
        for line in table.read_text(errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine() or os.name
