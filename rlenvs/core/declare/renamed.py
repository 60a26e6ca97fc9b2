"""Names that were changed. The old ones go on working, with a DeprecationWarning that names the new one."""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Made = TypeVar("Made", bound=Callable[..., Any])

# what was called how, by the module or the class that has it
NAMES: Mapping[str, Mapping[str, str]] = {
    "rlenvs": {
        "LiveCurve": "LiveCurveCallback",
        "Simulator": "PlanRollouts",
        "check": "check_env",
        "show": "show_episode",
        "simulate": "rollout_plans",
        "solve": "solve_mdp",
    },
    "rlenvs.core": {"for_data": "data_option", "free": "json_option"},
    "rlenvs.wrappers": {
        "AccruedRewards": "AppendEpisodeReturn",
        "Bank": "SnapshotBuffer",
        "ConservativeFloor": "ConservativeExploration",
        "Levels": "LevelCurriculum",
        "Mask": "HideObservations",
        "PrioritizedLevels": "PrioritizedLevelReplay",
        "RandomParameters": "DomainRandomization",
        "Reflex": "EmergencyOverride",
        "StateAdversary": "ObservationAdversary",
        "Takeover": "AdversarialAgents",
        "better": "lexicographically_better",
    },
    "rlenvs.pareto": {
        "Plan": "TreePolicy",
        "Replay": "PolicyReturns",
        "Route": "OpenLoopPolicy",
        "Schedule": "TabularPolicy",
        "replay": "play_policy",
    },
    "rlenvs.agents.export": {"agent_from": "agent_from_sb3"},
    "rlenvs.agents.imitate": {"cloning": "bc_class", "dagger": "dagger_class"},
    "rlenvs.agents.lagrangian": {"lagrangian": "ppo_lagrangian_class"},
    "rlenvs.agents.mappo": {"mappo": "mappo_class"},
    "rlenvs.agents.plain": {"agent_of": "agent_from_torch"},
    "rlenvs.core.batch.kernel_batch.KernelBatch": {
        "advice": "expert_buffer",
        "advise": "expert_actions",
        "leave_resets": "disable_autoreset",
        "load_first": "set_first_agent_action",
        "num_worlds": "num_envs",
        "observe": "recompute_observations",
        "observed": "get_observations",
        "play": "player_actions",
        "refresh": "sync_from_state",
        "roll": "rollout",
        "step_loaded": "step_inplace",
    },
    "rlenvs.core.forms.gym_env.Env": {"refresh": "sync_from_state"},
    "rlenvs.core.forms.parallel_env.ParallelEnv": {"refresh": "sync_from_state"},
    "rlenvs.core.forms.vector_env.VectorEnv": {"step_loaded": "step_inplace"},
    "rlenvs.wrappers.curriculum.Curriculum": {"refuse": "setting_error"},
    "rlenvs.wrappers.wrapper.Wrapper": {
        "ask": "call_policy",
        "keep": "allocate",
        "keeps": "accepts_state",
        "refuse": "setting_error",
        "told": "info_mask",
    },
}
KEYWORDS: Mapping[str, Mapping[str, str]] = {
    "rlenvs.core.batch.kernel_batch.KernelBatch": {"num_worlds": "num_envs"},
    "rlenvs.core.batch.simulate.PlanRollouts": {"num_sequences": "num_plans"},
    "rlenvs.core.catalogue.make.make_batch": {"num_worlds": "num_envs"},
    "rlenvs.integrations.torchrl.BatchEnv": {"num_worlds": "num_envs"},
    "rlenvs.pareto.learning.ParetoQ": {"worlds": "num_envs"},
    "rlenvs.wrappers.cameras.CameraNoise": {"colours_first": "channels_first"},
    "rlenvs.wrappers.robustness.AdversarialAgents": {"agents_taken": "adversaries"},
    "rlenvs.wrappers.snapshots.SnapshotReset": {
        "cut": "max_steps",
        "exact": "restore_rng",
        "until": "disable_after_steps",
    },
}
TAGS: Mapping[str, str] = {"safe": "constrained"}


def warn_renamed(old: str, new: str, level: int) -> None:
    """Say that a name was changed, as from the caller so many calls above."""
    warnings.warn(f"{old} was renamed: use {new}", DeprecationWarning, stacklevel=level + 1)


def new_name(module: str, name: str, level: int = 2) -> str:
    """What a name of a module is called now, with a warning where that is something else."""
    new = NAMES.get(module, {}).get(name)
    if new is None:
        return name
    warn_renamed(f"{module}.{name}", f"{module}.{new}", level + 1)
    return new


def old_names(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module some of whose names were changed."""

    def get(name: str) -> Any:
        new = new_name(module, name)
        if new == name:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(sys.modules[module], new)

    return get


class _OldMember:
    """An attribute of instances that has another name now."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        warn_renamed(f"{owner.__name__}.{self.old}", f"{owner.__name__}.{self.new}", 2)
        return getattr(instance, self.new)


def renamed(made: Made) -> Made:
    """A class or function with attributes and keywords under their old names, too."""
    if not inspect.isclass(made):
        translating: Made = _translating(made, made)
        return translating
    target: Any = made
    for old, new in NAMES.get(_address(target), {}).items():
        setattr(target, old, _OldMember(old, new))
    if _address(target) in KEYWORDS:
        target.__init__ = _translating(target.__init__, target)
    return made


def _address(made: Any) -> str:
    return f"{made.__module__}.{made.__qualname__}"


def new_keywords(made: Any, keywords: Mapping[str, Any], level: int = 2) -> dict[str, Any]:
    """Keywords of a function or class as they are called now, with warnings where they had other names."""
    names = KEYWORDS.get(_address(made), {})
    for old in names.keys() & keywords.keys():
        warn_renamed(f"{made.__name__}({old}=)", f"{made.__name__}({names[old]}=)", level + 1)
    return {names.get(name, name): value for name, value in keywords.items()}


def _translating(function: Any, made: Any) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        return function(*args, **new_keywords(made, keywords))

    return call
