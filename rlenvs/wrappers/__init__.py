"""Wrappers as layers: one definition for every API form, `wrap(env, Sensor("position", noise=0.02), ...)`.

The names are loaded at first use. docs/wrappers.md tells of them, and in which order to stack them.
"""

from typing import TYPE_CHECKING

from rlenvs.core.lazy import lazy_names

if TYPE_CHECKING:
    from rlenvs.wrappers.actuators import ActionCost as ActionCost
    from rlenvs.wrappers.actuators import ActionRepeat as ActionRepeat
    from rlenvs.wrappers.actuators import ActionSequence as ActionSequence
    from rlenvs.wrappers.actuators import Actuator as Actuator
    from rlenvs.wrappers.adversary import ActionAdversary as ActionAdversary
    from rlenvs.wrappers.adversary import AdversarialGame as AdversarialGame
    from rlenvs.wrappers.adversary import ForceAdversary as ForceAdversary
    from rlenvs.wrappers.adversary import ParameterAdversary as ParameterAdversary
    from rlenvs.wrappers.adversary import StateAdversary as StateAdversary
    from rlenvs.wrappers.barriers import BarrierFilter as BarrierFilter
    from rlenvs.wrappers.barriers import SafeActions as SafeActions
    from rlenvs.wrappers.contexts import Contexts as Contexts
    from rlenvs.wrappers.contexts import EpisodeDrift as EpisodeDrift
    from rlenvs.wrappers.contexts import Levels as Levels
    from rlenvs.wrappers.contexts import sample_contexts as sample_contexts
    from rlenvs.wrappers.contexts import split as split
    from rlenvs.wrappers.costs import ConservativeFloor as ConservativeFloor
    from rlenvs.wrappers.costs import CostBudget as CostBudget
    from rlenvs.wrappers.costs import Lagrangian as Lagrangian
    from rlenvs.wrappers.costs import Saute as Saute
    from rlenvs.wrappers.costs import Simmer as Simmer
    from rlenvs.wrappers.curricula import ADR as ADR
    from rlenvs.wrappers.curricula import MBTL as MBTL
    from rlenvs.wrappers.curricula import OneContext as OneContext
    from rlenvs.wrappers.curricula import PrioritizedLevels as PrioritizedLevels
    from rlenvs.wrappers.curricula import RandomContexts as RandomContexts
    from rlenvs.wrappers.curricula import RoundRobin as RoundRobin
    from rlenvs.wrappers.curricula import SelfPaced as SelfPaced
    from rlenvs.wrappers.curricula import SPaCE as SPaCE
    from rlenvs.wrappers.forms import wrap as wrap
    from rlenvs.wrappers.layer import Layer as Layer
    from rlenvs.wrappers.objectives import AccruedRewards as AccruedRewards
    from rlenvs.wrappers.objectives import ChebyshevScalarization as ChebyshevScalarization
    from rlenvs.wrappers.objectives import Lexicographic as Lexicographic
    from rlenvs.wrappers.objectives import LinearScalarization as LinearScalarization
    from rlenvs.wrappers.objectives import NormalizeRewards as NormalizeRewards
    from rlenvs.wrappers.objectives import WeightConditioned as WeightConditioned
    from rlenvs.wrappers.objectives import better as better
    from rlenvs.wrappers.objectives import chebyshev as chebyshev
    from rlenvs.wrappers.pictures import CameraNoise as CameraNoise
    from rlenvs.wrappers.presets import camera as camera
    from rlenvs.wrappers.presets import gps as gps
    from rlenvs.wrappers.presets import imu as imu
    from rlenvs.wrappers.presets import joint_encoder as joint_encoder
    from rlenvs.wrappers.presets import lidar as lidar
    from rlenvs.wrappers.robustness import RandomParameters as RandomParameters
    from rlenvs.wrappers.robustness import Takeover as Takeover
    from rlenvs.wrappers.robustness import UncertaintySet as UncertaintySet
    from rlenvs.wrappers.robustness import uncertainty_set as uncertainty_set
    from rlenvs.wrappers.sensors import Mask as Mask
    from rlenvs.wrappers.sensors import Sensor as Sensor
    from rlenvs.wrappers.shields import Reflex as Reflex
    from rlenvs.wrappers.shields import Shield as Shield
    from rlenvs.wrappers.snapshots import Bank as Bank
    from rlenvs.wrappers.snapshots import GuideCurriculum as GuideCurriculum
    from rlenvs.wrappers.snapshots import JumpStart as JumpStart
    from rlenvs.wrappers.snapshots import ResetFree as ResetFree
    from rlenvs.wrappers.snapshots import SnapshotReset as SnapshotReset
else:
    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "actuators": "ActionCost ActionRepeat ActionSequence Actuator",
            "adversary": "ActionAdversary AdversarialGame ForceAdversary ParameterAdversary StateAdversary",
            "barriers": "BarrierFilter SafeActions",
            "contexts": "Contexts EpisodeDrift Levels sample_contexts split",
            "costs": "ConservativeFloor CostBudget Lagrangian Saute Simmer",
            "curricula": "ADR MBTL OneContext PrioritizedLevels RandomContexts RoundRobin SPaCE SelfPaced",
            "forms": "wrap",
            "layer": "Layer",
            "objectives": "AccruedRewards ChebyshevScalarization Lexicographic LinearScalarization NormalizeRewards "
            "WeightConditioned better chebyshev",
            "pictures": "CameraNoise",
            "presets": "camera gps imu joint_encoder lidar",
            "robustness": "RandomParameters Takeover UncertaintySet uncertainty_set",
            "sensors": "Mask Sensor",
            "shields": "Reflex Shield",
            "snapshots": "Bank GuideCurriculum JumpStart ResetFree SnapshotReset",
        },
    )
