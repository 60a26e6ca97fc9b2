"""Training with the algorithms of Stable-Baselines3 and sb3-contrib on the native vector environment."""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rlenvs.agents.annealing import annealed
from rlenvs.agents.card import IMITATING
from rlenvs.agents.decisions import decision_buffer, learning_decisions
from rlenvs.agents.export import network_of
from rlenvs.agents.hyperparameters import needs_masks, settings_for
from rlenvs.agents.hyperparameters.settings import ON_POLICY, Settings
from rlenvs.agents.keywords import keywords_of
from rlenvs.agents.normalization import normalized
from rlenvs.core.catalogue.registry import entry, world_of
from rlenvs.core.declare.errors import MissingExtraError, ParameterError, UnknownNameError
from rlenvs.core.declare.inputs import first_seed_of, positive
from rlenvs.core.declare.progress import progress as shown
from rlenvs.core.declare.setup import Setup

__all__ = ["train"]

LIBRARY = {
    **dict.fromkeys(("PPO", "SAC", "TD3", "DDPG", "DQN"), "stable_baselines3"),
    **dict.fromkeys(("MaskablePPO", "RecurrentPPO", "TQC", "QRDQN"), "sb3_contrib"),
}
# the algorithms of this package: module, and the function that makes the class
OWN = {
    "DAgger": ("rlenvs.agents.imitate", "dagger_class"),
    "BC": ("rlenvs.agents.imitate", "bc_class"),
    "PPOLagrangian": ("rlenvs.agents.lagrangian", "ppo_lagrangian_class"),
    "MAPPO": ("rlenvs.agents.mappo", "mappo_class"),
}
OF_NUMBERS = ("SAC", "TQC", "TD3", "DDPG")  # for actions that are numbers alone
OF_CHOICES = ("MaskablePPO", "DQN", "QRDQN")  # for choices alone
OF_ONE_CHOICE = ("DQN", "QRDQN")
REPORT_EVERY = 1000  # steps, or a rollout where that is longer


@dataclass(frozen=True)
class Progress:
    """How far a training run is.

    Attributes:
        steps, total: environment steps done and to do.
        seconds: of wall time, spent on training so far.
        mean_return, success: means over the last 100 episodes, played with exploration; NaN before the first has ended.
        costs, multipliers: by name of a cost, PPOLagrangian's: the mean of the episodes by which it was changed last,
            and the present multiplier. Empty for others.
    """

    steps: int
    total: int
    seconds: float
    mean_return: float
    success: float = float("nan")
    costs: Mapping[str, float] = field(default_factory=dict)
    multipliers: Mapping[str, float] = field(default_factory=dict)


def train(
    id: str,
    settings: Settings | None = None,
    *,
    steps: int | None = None,
    seed: int = 0,
    threads: int = 1,
    progress: Callable[[Progress], Any] | None = None,
    **keywords: Any,
) -> Any:
    """Train an agent in memory. `rlenvs.agents.runs.run` also writes checkpoints, logs and agents.

    Args:
        id: the environment.
        settings: by default those of its file, `settings_for(id)`.
        steps: in place of those of the settings.
        seed: of the environments, the network and the exploration. The same seed on the same machine gives the same
            policy.
        threads: of torch; for small networks one is the fastest.
        progress: called after every rollout, or every 1000 steps where rollouts are shorter. The progress is reported
            on standard error as well, unless RLENVS_QUIET=1.
        keywords: of `make`, in place of those of the settings, in training alone.

    Returns:
        The model; `greedy(model)` is the policy that `rlenvs.evaluate` takes.

    Raises:
        MissingExtraError: Stable-Baselines3 or sb3-contrib is not installed.
        ParameterError: steps is not a positive integer, or a hyperparameter that the algorithm does not take.
        UnknownNameError: an id, keyword or hyperparameter that does not exist.
    """
    entry(id)
    steps = None if steps is None else positive("steps", steps)
    seed = first_seed_of(seed)
    settings = settings or settings_for(id)
    settings = replace(
        settings,
        steps=settings.steps if steps is None else int(steps),
        training={**settings.training, **keywords},
    )
    with torch_threads(threads):
        model = new_model(id, settings, seed)
        learn(model, id, settings.steps, progress)
    return model


def learn(model: Any, id: str, steps: int, progress: Callable[[Progress], Any] | None = None) -> None:
    """Let a model learn, and tell how far it is: on standard error, and to `progress`."""
    with shown(f"training {entry(id).id}", total=steps) as tell:

        def report(now: Progress) -> None:
            tell(min(now.steps, now.total), in_words(now))
            if progress is not None:
                progress(now)

        model.learn(steps, callback=callback_of(Reporter(steps, report)), log_interval=None)


def in_words(now: Progress) -> str:
    """What a training has come to."""
    parts = [] if math.isnan(now.mean_return) else [f"return {now.mean_return:.4g}"]
    parts += [] if math.isnan(now.success) else [f"success {100 * now.success:.0f} %"]
    known = {name: cost for name, cost in now.costs.items() if not math.isnan(cost)}
    parts += [f"{name} {cost:.3g} (x {now.multipliers[name]:.3g})" for name, cost in known.items()]
    return ", ".join(parts)


def train_ppo(
    id: str,
    steps: int,
    *,
    num_envs: int | None = None,
    seed: int = 0,
    threads: int = 1,
    settings: Mapping[str, Any] | None = None,
    progress: Callable[[Progress], Any] | None = None,
    **keywords: Any,
) -> Any:
    """Train PPO: `train` with the settings of the environment where they are of PPO, else with the defaults.

    Args:
        steps, seed, threads, progress, keywords: as for `train`.
        num_envs: parallel environments.
        settings: hyperparameters that replace those of the settings.
    """
    chosen = settings_for(id, algorithm="PPO", num_envs=num_envs, hyperparameters=settings)
    return train(id, chosen, steps=steps, seed=seed, threads=threads, progress=progress, **keywords)


def greedy(model: Any) -> Callable[[np.ndarray], np.ndarray]:
    """The policy of a Stable-Baselines3 model without exploration, as a function from observations to actions."""
    return lambda observations: model.predict(observations, deterministic=True)[0]


# --- the model --------------------------------------------------------------------------------------------------------


def new_model(id: str, settings: Settings, seed: int) -> Any:
    """An untrained model with its environments.

    Raises:
        as `train` does.
    """
    algorithm = _algorithm(id, settings)
    hyperparameters = keywords_of(algorithm, settings)
    envs, algorithm = _environments(id, settings, algorithm)
    hyperparameters["policy_kwargs"] = _network(settings, envs)
    _add_objects(hyperparameters, settings, envs, algorithm)
    if any(settings.normalize.values()):
        envs = normalized(envs, settings, hyperparameters.get("gamma", 0.99))
    try:
        model = algorithm(_policy(algorithm, settings, envs), envs, seed=seed, device="cpu", **hyperparameters)
    except ParameterError:
        raise
    except (AssertionError, TypeError, ValueError) as reason:
        raise ParameterError(f"{settings.algorithm} does not accept these hyperparameters: {reason}") from None
    network_of(model)  # what cannot become an agent is refused before it learns
    return model


def _environments(id: str, settings: Settings, algorithm: Any) -> tuple[Any, Any]:
    """The environments with all that the settings put around them but the normalization, and the algorithm as an expert
    or a league changes it."""
    from rlenvs.integrations.sb3 import sb3_vec_env

    envs: Any = sb3_vec_env(id, settings.num_envs, **settings.train_keywords)
    _check_actions(settings, envs)
    algorithm = learning_decisions(algorithm, envs)
    if settings.expert:
        _check_expert(id, envs.batch)
        algorithm = _guided(algorithm, settings.expert)
    if settings.league:
        from rlenvs.agents.league import League, in_league

        frames = settings.network.get("frames", 1)
        envs, algorithm = League(envs, frames=frames, **settings.league), in_league(algorithm)
    if settings.anneal:
        goal = Setup(world_of(id), **settings.environment).weights
        algorithm = annealed(algorithm, envs.batch, goal, **settings.anneal)
    if settings.network.get("roles"):
        from rlenvs.agents.roles import Roles

        envs = Roles(envs)
    if settings.algorithm == "PPOLagrangian":
        from rlenvs.agents.lagrangian import Penalised

        envs = Penalised(envs, **settings.costs)
    if "frames" in settings.network:
        from rlenvs.agents.frames import Frames

        envs = Frames(envs, settings.network["frames"])
    if settings.algorithm == "MAPPO":
        from rlenvs.agents.mappo import Central

        envs = Central(envs)
    return envs, algorithm


def _add_objects(hyperparameters: dict[str, Any], settings: Settings, envs: Any, algorithm: Any) -> None:
    """Those keywords of the algorithm that are objects: the replay with hindsight, the noise of actions, the buffer."""
    hyperparameters.update(decision_buffer(algorithm, envs, hyperparameters.get("n_steps")))
    if settings.hindsight:
        _check_hindsight(settings, envs)
        from stable_baselines3 import HerReplayBuffer

        hyperparameters["replay_buffer_class"] = HerReplayBuffer
        hyperparameters["replay_buffer_kwargs"] = {"n_sampled_goal": settings.hindsight["goals"]}
    if "action_noise" in hyperparameters:
        from stable_baselines3.common.noise import NormalActionNoise

        size = envs.action_space.shape[0]
        deviation = np.full(size, float(hyperparameters["action_noise"]))
        hyperparameters["action_noise"] = NormalActionNoise(np.zeros(size), deviation)


def _algorithm(id: str, settings: Settings) -> Any:
    module, name = OWN.get(settings.algorithm) or (LIBRARY[settings.algorithm], settings.algorithm)
    try:
        found = getattr(importlib.import_module(module), name)
    except ImportError:
        raise MissingExtraError("Training", "sb3") from None
    return found(needs_masks(Setup(world_of(id), **settings.train_keywords))) if settings.algorithm in OWN else found


def _network(settings: Settings, envs: Any) -> dict[str, Any]:
    from torch import nn

    given = settings.network
    network: dict[str, Any] = {}
    if "layers" in given:
        layers = list(given["layers"])
        values = [] if settings.algorithm in IMITATING else layers if settings.algorithm in ON_POLICY else None
        planes = given.get("head") == "planes"  # between the convolutions and their ratings is nothing
        network["net_arch"] = layers if values is None else {"pi": [] if planes else layers, "vf": values}
    activation = {"tanh": nn.Tanh, "relu": nn.ReLU}[given.get("activation", "tanh")]
    if "activation" in given:
        network["activation_fn"] = activation
    if given.get("convolutions"):
        from rlenvs.agents.boards import BoardFeatures, check_board

        check_board(envs.observation_space)
        network["features_extractor_class"] = BoardFeatures
        network["features_extractor_kwargs"] = {
            "channels": given["convolutions"],
            "activation": activation,
            "stride": given.get("stride", 1),
        }
    if "memory" in given:
        network["lstm_hidden_size"] = given["memory"]
    if "quantiles" in given:
        network["n_quantiles"] = given["quantiles"]
    if given.get("drawn") and hasattr(envs.action_space, "low"):
        raise ParameterError("[network] drawn requires discrete actions; the actions here are continuous")
    if "log_std" in given:
        if not hasattr(envs.action_space, "low"):
            raise ParameterError("[network] log_std requires continuous actions; the actions here are discrete")
        network["log_std_init"] = given["log_std"]
    return network


def _policy(algorithm: Any, settings: Settings, envs: Any) -> Any:
    """The policy: a name that the algorithm knows, or a class."""
    kind = "MultiInput" if hasattr(envs.observation_space, "spaces") else "Mlp"
    name = f"{kind}LstmPolicy" if settings.algorithm == "RecurrentPPO" else f"{kind}Policy"
    policy = name
    if settings.algorithm == "MAPPO":
        from rlenvs.agents.mappo import with_central_critic

        policy = with_central_critic(algorithm.policy_aliases[name], envs.own_space)
    elif settings.network.get("head") == "planes":
        from rlenvs.agents.boards import check_planes, with_planes

        check_planes(envs.observation_space, envs.action_space)
        policy = with_planes(algorithm.policy_aliases[name])
    if settings.network.get("precision") == "bfloat16":
        from rlenvs.agents.precision import with_bfloat16

        policy = with_bfloat16(algorithm.policy_aliases.get(policy, policy))
    return policy


def _check_actions(settings: Settings, envs: Any) -> None:
    numbers = hasattr(envs.action_space, "low")
    name = envs.batch.world.name
    algorithm = settings.algorithm
    if numbers and algorithm in OF_CHOICES:
        fitting = ", ".join(OF_NUMBERS)
        raise ParameterError(
            f"{algorithm} requires discrete actions; actions of {name} are continuous. Use PPO, {fitting}"
        )
    if not numbers and algorithm in OF_ONE_CHOICE and not envs.batch.setup.single_choice:
        raise ParameterError(
            f"{algorithm} requires a single Discrete action; {name} has several. Use PPO, or flat_actions=True"
        )
    if not numbers and algorithm in OF_NUMBERS:
        fitting = ", ".join(OF_ONE_CHOICE)
        raise ParameterError(
            f"{algorithm} requires continuous actions; actions of {name} are discrete. Use PPO, {fitting}"
        )
    alike = len({role.action for role in envs.batch.setup.roles}) == 1
    if not alike and algorithm not in ("MaskablePPO", *OWN):
        raise ParameterError(f"{algorithm} requires equal action spaces; those of {name} differ. Use MaskablePPO")


def _check_hindsight(settings: Settings, envs: Any) -> None:
    """Goals are taken from whole episodes, so one has to be over, and kept, before learning begins."""
    needed = envs.batch.setup.horizon * settings.num_envs
    for name, least in (("learning_starts", needed), ("buffer_size", 2 * needed)):
        given = settings.hyperparameters.get(name)
        if given is not None and given < least:
            raise ParameterError(
                f"{name}={given} is too small for [hindsight]; needed: at least {least}, since {settings.num_envs} "
                f"worlds have episodes of up to {envs.batch.setup.horizon} steps"
            )


# --- the expert's first steps -----------------------------------------------------------------------------------------


def _check_expert(id: str, batch: Any) -> None:
    if not batch.world.has_expert:
        raise UnknownNameError(f"{entry(id).id} has no scripted expert; leave out [expert]")


def _guided(algorithm: Any, expert: Mapping[str, Any]) -> Any:
    """The algorithm, with a scripted expert that decides in the first steps."""
    steps, noise = expert.get("steps", 0), expert.get("noise", 0.0)

    def sample(self: Any, learning_starts: int, action_noise: Any = None, n_envs: int = 1) -> Any:
        if self.num_timesteps >= steps:
            return algorithm._sample_action(self, learning_starts, action_noise, n_envs)  # noqa: SLF001 (its hook)
        batch = self.env.unwrapped.batch
        advice = batch.expert_actions().reshape(n_envs, -1)
        if not batch.setup.continuous:
            return advice[:, 0].copy(), advice[:, 0].copy()
        low, high = self.action_space.low, self.action_space.high
        scatter = np.random.normal(0.0, noise, advice.shape) if noise else 0.0  # noqa: NPY002
        action = np.clip(advice + scatter, low, high).astype(np.float32)
        return action, self.policy.scale_action(action)

    return type(algorithm.__name__, (algorithm,), {"_sample_action": sample})


# --- progress reports ------------------------------------------------------------------------------------------


class Observer:
    """What is called in the course of a training; the model is `self.model`."""

    model: Any = None

    def begin(self) -> None:
        """Before the first rollout."""

    def before_rollout(self) -> None:
        """Between two rollouts."""

    def after_rollout(self) -> None:
        """Behind a rollout, before the model learns from it."""


def callback_of(observer: Observer) -> Any:
    """The observer as a callback of Stable-Baselines3."""
    from stable_baselines3.common.callbacks import BaseCallback

    class Callback(BaseCallback):
        def _on_training_start(self) -> None:
            observer.model = self.model
            observer.begin()

        def _on_rollout_start(self) -> None:
            observer.before_rollout()

        def _on_step(self) -> bool:
            return True

        def _on_rollout_end(self) -> None:
            observer.after_rollout()

    return Callback()


class Reporter(Observer):
    """Tells how far the training is.

    Args:
        total: environment steps to do.
        report: what prints progress; None for nothing.
        seconds: spent before.
    """

    def __init__(self, total: int, report: Callable[[Progress], Any] | None, seconds: float = 0.0) -> None:
        self.total, self.report, self.before = total, report, seconds

    def begin(self) -> None:
        self.start = time.perf_counter()
        self.last = self.model.num_timesteps

    @property
    def seconds(self) -> float:
        """Of wall time, spent on training so far."""
        return self.before + time.perf_counter() - self.start

    def after_rollout(self) -> None:
        if self.report is None or self.model.num_timesteps - self.last < REPORT_EVERY:
            return
        self.last = self.model.num_timesteps
        self.report(self.progress())

    def progress(self) -> Progress:
        """Where the training is now."""
        returns = [episode["r"] for episode in self.model.ep_info_buffer or ()]
        successes = [float(found) for found in self.model.ep_success_buffer or ()]
        now = Progress(self.model.num_timesteps, self.total, self.seconds, _mean(returns), _mean(successes))
        costs = cost_keeper(self.model)
        return now if costs is None else replace(now, **costs.metrics())


def cost_keeper(model: Any) -> Any:
    """What keeps a model's costs within limits, a `Penalised`; None where nothing does."""
    from rlenvs.agents.lagrangian import penalised

    return penalised(model)


def _mean(numbers: list[float]) -> float:
    return float(np.mean(numbers)) if numbers else float("nan")


@contextmanager
def torch_threads(threads: int) -> Iterator[None]:
    """So many threads of torch for a while."""
    try:
        import torch
    except ImportError:
        raise MissingExtraError("Training", "sb3") from None
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
