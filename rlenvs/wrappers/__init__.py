"""Wrappers as layers: one definition for every API form, `wrap(env, Sensor("position", noise=0.02), ...)`.

The names are loaded at first use. docs/wrappers.md tells of them, and in which order to stack them.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlenvs.wrappers.actuators import ActionCost, ActionRepeat, ActionSequence, Actuator
    from rlenvs.wrappers.adversary import (
        ActionAdversary,
        AdversarialGame,
        ForceAdversary,
        ParameterAdversary,
        StateAdversary,
    )
    from rlenvs.wrappers.barriers import BarrierFilter, SafeActions
    from rlenvs.wrappers.contexts import Contexts, EpisodeDrift, Levels, sample_contexts, split
    from rlenvs.wrappers.costs import ConservativeFloor, CostBudget, Lagrangian, Saute, Simmer
    from rlenvs.wrappers.curricula import (
        ADR,
        MBTL,
        OneContext,
        PrioritizedLevels,
        RandomContexts,
        RoundRobin,
        SelfPaced,
        SPaCE,
    )
    from rlenvs.wrappers.forms import wrap
    from rlenvs.wrappers.layer import Layer
    from rlenvs.wrappers.memory import GeneralsMemory
    from rlenvs.wrappers.objectives import (
        AccruedRewards,
        ChebyshevScalarization,
        Lexicographic,
        LinearScalarization,
        NormalizeRewards,
        WeightConditioned,
        better,
        chebyshev,
    )
    from rlenvs.wrappers.pictures import CameraNoise
    from rlenvs.wrappers.presets import camera, gps, imu, joint_encoder, lidar
    from rlenvs.wrappers.robustness import RandomParameters, Takeover, UncertaintySet, uncertainty_set
    from rlenvs.wrappers.sensors import Mask, Sensor
    from rlenvs.wrappers.shields import Reflex, Shield
    from rlenvs.wrappers.snapshots import Bank, GuideCurriculum, JumpStart, ResetFree, SnapshotReset

_HOMES = {
    "actuators": ("ActionCost", "ActionRepeat", "ActionSequence", "Actuator"),
    "adversary": ("ActionAdversary", "AdversarialGame", "ForceAdversary", "ParameterAdversary", "StateAdversary"),
    "barriers": ("BarrierFilter", "SafeActions"),
    "contexts": ("Contexts", "EpisodeDrift", "Levels", "sample_contexts", "split"),
    "costs": ("ConservativeFloor", "CostBudget", "Lagrangian", "Saute", "Simmer"),
    "curricula": (
        "ADR",
        "MBTL",
        "OneContext",
        "PrioritizedLevels",
        "RandomContexts",
        "RoundRobin",
        "SPaCE",
        "SelfPaced",
    ),
    "forms": ("wrap",),
    "layer": ("Layer",),
    "memory": ("GeneralsMemory",),
    "objectives": (
        *(
            "AccruedRewards",
            "ChebyshevScalarization",
            "Lexicographic",
            "LinearScalarization",
            "NormalizeRewards",
            "WeightConditioned",
        ),
        *("better", "chebyshev"),
    ),
    "pictures": ("CameraNoise",),
    "presets": ("camera", "gps", "imu", "joint_encoder", "lidar"),
    "robustness": ("RandomParameters", "Takeover", "UncertaintySet", "uncertainty_set"),
    "sensors": ("Mask", "Sensor"),
    "shields": ("Reflex", "Shield"),
    "snapshots": ("Bank", "GuideCurriculum", "JumpStart", "ResetFree", "SnapshotReset"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = list(_HOME_OF)


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'rlenvs.wrappers' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"rlenvs.wrappers.{_HOME_OF[name]}"), name)
