"""Players from saved models of Stable-Baselines3 and sb3-contrib, checked and without exploration; and the base class
of this package's algorithms."""

from __future__ import annotations

import importlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.agents.network import is_image
from rlenvs.core.declare.errors import MissingExtraError, ParameterError, shortened
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.user_files import open_file, reason

# from observations, masks (None where the world has none) and a generator to actions, a row for each
MaskedPolicy = Callable[[Any, np.ndarray | None, np.random.Generator], Any]

# the algorithm by the module of its policy; two algorithms share the last one
ALGORITHMS = {
    "sb3_contrib.common.maskable.policies": ("sb3_contrib", "MaskablePPO"),
    "stable_baselines3.dqn.policies": ("stable_baselines3", "DQN"),
    "stable_baselines3.sac.policies": ("stable_baselines3", "SAC"),
    "stable_baselines3.td3.policies": ("stable_baselines3", "TD3"),
    "stable_baselines3.common.policies": ("stable_baselines3", "A2C"),
}


def load_model(file: str | Path) -> Any:
    """The model that was saved in a file, whichever algorithm learned it. Loading runs code that the file contains.

    Raises:
        ParameterError: the file does not exist, is no saved model, or of an algorithm that is not known here.
        MissingExtraError: the library that saved it is not installed.
    """
    try:
        opened = open_file(file)
    except OSError as error:
        raise ParameterError(f"the file {shortened(str(file))} cannot be read: {reason(error)}") from None
    path = Path(file)
    try:
        with opened, zipfile.ZipFile(opened) as archive:
            data = json.loads(archive.read("data"))
        module = data["policy_class"]["__module__"]
    except Exception:  # whatever zipfile, its compressors and json raise where a file is damaged
        raise ParameterError(f"{str(path)!r} is not a model saved by Stable-Baselines3") from None
    if module not in ALGORITHMS:
        known = ", ".join(["PPO", *(name for _, name in ALGORITHMS.values())])
        raise ParameterError(f"{str(path)!r} has a policy of {module}; supported are those of {known}")
    library, algorithm = ALGORITHMS[module]
    algorithm = "PPO" if algorithm == "A2C" and "clip_range" in data else algorithm
    try:
        found = getattr(importlib.import_module(library), algorithm)
    except ImportError:
        if library == "sb3_contrib":
            raise ParameterError(f"{str(path)!r} needs sb3-contrib; install it with: pip install sb3-contrib") from None
        raise MissingExtraError("A saved model", "sb3") from None
    try:
        return found.load(path, device="cpu")
    except Exception as error:  # whatever a file may hold that was cut off or written by other versions
        raise ParameterError(f"{str(path)!r} cannot be loaded: {shortened(error, 200)}") from None


def policy_of(model: Any, setup: Setup, label: str) -> MaskedPolicy:
    """A model's policy without exploration, as a function (observations, masks, rng) -> actions.

    Raises:
        ParameterError: the model was trained for other spaces than those of the world's agents.
    """
    for agent in range(setup.agents):
        observed, action = setup.agent_spaces(agent)
        if _form(model.observation_space) != _form(observed) or _form(model.action_space) != _form(action):
            raise ParameterError(
                f"{label} was trained for {model.observation_space} and {model.action_space}; agent {agent} of "
                f"{setup.world.name} has {observed} and {action}"
            )
    if type(model).__name__ == "MaskablePPO":
        return lambda observations, masks, rng: model.predict(observations, deterministic=True, action_masks=masks)[0]
    return lambda observations, masks, rng: model.predict(observations, deterministic=True)[0]


def _form(space: Any) -> Any:
    """What has to be equal for a model to work: shapes, and the number of choices."""
    parts = getattr(space, "spaces", None)
    if parts:
        return {name: _form(part) for name, part in parts.items()}
    if is_image(space):
        return sorted(space.shape)  # Stable-Baselines3 turns images, and takes them both ways
    return getattr(space, "n", None) or (space.nvec.tolist() if hasattr(space, "nvec") else space.shape)


def ppo_class(masked: bool) -> Any:
    """PPO, or MaskablePPO, from which algorithms of this package are derived.

    Raises:
        MissingExtraError: Stable-Baselines3 or sb3-contrib is not installed.
    """
    library, name = ("sb3_contrib", "MaskablePPO") if masked else ("stable_baselines3", "PPO")
    try:
        return getattr(importlib.import_module(library), name)
    except ImportError:
        raise MissingExtraError("Training", "sb3") from None
