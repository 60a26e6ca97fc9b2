"""Wrappers with one definition for every API, `wrap(env, Sensor("position", noise=0.02), ...)`.

The names are loaded at first use. docs/wrappers.md describes them, and the order in which to stack them.
"""

from typing import TYPE_CHECKING

from rlenvs.core.declare.lazy import lazy_names

if TYPE_CHECKING:
    from rlenvs.wrappers.action_cost import ActionCost as ActionCost
    from rlenvs.wrappers.action_repeat import ActionRepeat as ActionRepeat
    from rlenvs.wrappers.action_repeat import ActionSequence as ActionSequence
    from rlenvs.wrappers.actuators import Actuator as Actuator
    from rlenvs.wrappers.adversarial_game import AdversarialGame as AdversarialGame
    from rlenvs.wrappers.adversary import ActionAdversary as ActionAdversary
    from rlenvs.wrappers.adversary import ForceAdversary as ForceAdversary
    from rlenvs.wrappers.adversary import ObservationAdversary as ObservationAdversary
    from rlenvs.wrappers.adversary import ParameterAdversary as ParameterAdversary
    from rlenvs.wrappers.banks import SnapshotBuffer as SnapshotBuffer
    from rlenvs.wrappers.barriers import BarrierFilter as BarrierFilter
    from rlenvs.wrappers.barriers import SafeActions as SafeActions
    from rlenvs.wrappers.cameras import CameraNoise as CameraNoise
    from rlenvs.wrappers.context_lists import sample_contexts as sample_contexts
    from rlenvs.wrappers.context_lists import split as split
    from rlenvs.wrappers.contexts import Contexts as Contexts
    from rlenvs.wrappers.contexts import EpisodeDrift as EpisodeDrift
    from rlenvs.wrappers.contexts import LevelCurriculum as LevelCurriculum
    from rlenvs.wrappers.costs import CostBudget as CostBudget
    from rlenvs.wrappers.costs import Lagrangian as Lagrangian
    from rlenvs.wrappers.costs import Saute as Saute
    from rlenvs.wrappers.costs import Simmer as Simmer
    from rlenvs.wrappers.curricula import MBTL as MBTL
    from rlenvs.wrappers.curricula import PrioritizedLevelReplay as PrioritizedLevelReplay
    from rlenvs.wrappers.curricula import SPaCE as SPaCE
    from rlenvs.wrappers.curriculum import OneContext as OneContext
    from rlenvs.wrappers.curriculum import RandomContexts as RandomContexts
    from rlenvs.wrappers.curriculum import RoundRobin as RoundRobin
    from rlenvs.wrappers.distributions import ADR as ADR
    from rlenvs.wrappers.distributions import SelfPaced as SelfPaced
    from rlenvs.wrappers.exploration import StateDependentNoise as StateDependentNoise
    from rlenvs.wrappers.floors import ConservativeExploration as ConservativeExploration
    from rlenvs.wrappers.forms import wrap as wrap
    from rlenvs.wrappers.guides import GuideCurriculum as GuideCurriculum
    from rlenvs.wrappers.guides import JumpStart as JumpStart
    from rlenvs.wrappers.minority import MinorityReward as MinorityReward
    from rlenvs.wrappers.normalization import ClipRewards as ClipRewards
    from rlenvs.wrappers.normalization import NormalizeRewards as NormalizeRewards
    from rlenvs.wrappers.objectives import ChebyshevScalarization as ChebyshevScalarization
    from rlenvs.wrappers.objectives import Lexicographic as Lexicographic
    from rlenvs.wrappers.objectives import LinearScalarization as LinearScalarization
    from rlenvs.wrappers.objectives import chebyshev as chebyshev
    from rlenvs.wrappers.objectives import lexicographically_better as lexicographically_better
    from rlenvs.wrappers.observation_normalization import NormalizeObservations as NormalizeObservations
    from rlenvs.wrappers.presets import camera as camera
    from rlenvs.wrappers.presets import gps as gps
    from rlenvs.wrappers.presets import imu as imu
    from rlenvs.wrappers.presets import joint_encoder as joint_encoder
    from rlenvs.wrappers.presets import lidar as lidar
    from rlenvs.wrappers.presets import noisy as noisy
    from rlenvs.wrappers.presets import pushed as pushed
    from rlenvs.wrappers.presets import stuck as stuck
    from rlenvs.wrappers.reflexes import EmergencyOverride as EmergencyOverride
    from rlenvs.wrappers.reset_free import ResetFree as ResetFree
    from rlenvs.wrappers.robustness import AdversarialAgents as AdversarialAgents
    from rlenvs.wrappers.robustness import DomainRandomization as DomainRandomization
    from rlenvs.wrappers.robustness import UncertaintySet as UncertaintySet
    from rlenvs.wrappers.robustness import uncertainty_set as uncertainty_set
    from rlenvs.wrappers.sensors import HideObservations as HideObservations
    from rlenvs.wrappers.sensors import Sensor as Sensor
    from rlenvs.wrappers.shields import Shield as Shield
    from rlenvs.wrappers.snapshots import SnapshotReset as SnapshotReset
    from rlenvs.wrappers.statistics import EpisodeStatistics as EpisodeStatistics
    from rlenvs.wrappers.weights_shown import AppendEpisodeReturn as AppendEpisodeReturn
    from rlenvs.wrappers.weights_shown import WeightConditioned as WeightConditioned
    from rlenvs.wrappers.wrapper import Wrapper as Wrapper
else:
    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "action_cost": "ActionCost",
            "action_repeat": "ActionRepeat ActionSequence",
            "actuators": "Actuator",
            "adversarial_game": "AdversarialGame",
            "adversary": "ActionAdversary ForceAdversary ParameterAdversary ObservationAdversary",
            "banks": "SnapshotBuffer",
            "barriers": "BarrierFilter SafeActions",
            "context_lists": "sample_contexts split",
            "contexts": "Contexts EpisodeDrift LevelCurriculum",
            "costs": "CostBudget Lagrangian Saute Simmer",
            "curricula": "MBTL PrioritizedLevelReplay SPaCE",
            "curriculum": "OneContext RandomContexts RoundRobin",
            "distributions": "ADR SelfPaced",
            "exploration": "StateDependentNoise",
            "floors": "ConservativeExploration",
            "forms": "wrap",
            "guides": "GuideCurriculum JumpStart",
            "wrapper": "Wrapper",
            "minority": "MinorityReward",
            "normalization": "ClipRewards NormalizeRewards",
            "objectives": "ChebyshevScalarization Lexicographic LinearScalarization lexicographically_better chebyshev",
            "observation_normalization": "NormalizeObservations",
            "cameras": "CameraNoise",
            "presets": "camera gps imu joint_encoder lidar noisy pushed stuck",
            "reset_free": "ResetFree",
            "robustness": "DomainRandomization AdversarialAgents UncertaintySet uncertainty_set",
            "sensors": "HideObservations Sensor",
            "reflexes": "EmergencyOverride",
            "shields": "Shield",
            "snapshots": "SnapshotReset",
            "statistics": "EpisodeStatistics",
            "weights_shown": "AppendEpisodeReturn WeightConditioned",
        },
    )
