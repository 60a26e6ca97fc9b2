"""What is played to find out which compiled loops libraries need, and for which types of arguments; and which worlds
outside the catalogue need a library.

Every wrapper on environments of several kinds, in every form; solvers, tables and lines. For developers, who build
libraries of kernels (docs/kernels.md).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np

import rlenvs.wrappers as w
from rlenvs.agents.teacher import collect_snapshots
from rlenvs.core.catalogue.make import make, make_batch, make_vec, parallel_env
from rlenvs.core.compiler.loops import FEWEST
from rlenvs.core.declare.errors import ActionError, DependencyError, MissingExtraError, ParameterError
from rlenvs.core.declare.spec import World
from rlenvs.robotics.driving.logs import ROADS, traffic

STEPS, FEW = 7, 3  # worlds of a batch with few
Made = Callable[[], list[Any]]

HOVER, TEAM, TAG, CAR, RACER = "QuadHover-v0", "ParticleSpread-v0", "ParticleTag-v0", "CarRacing-v0", "F1Tenth-v0"
# continuous actions, discrete ones, masks, costs, teams of either
WORLDS: list[tuple[str, dict[str, Any]]] = [
    (HOVER, {"horizon": 4}),
    ("CartPole-v0", {"horizon": 4}),
    ("Pendulum-v0", {"horizon": 4}),
    ("DeepSeaTreasure-v0", {"horizon": 4}),
    ("SafePointGoal-v0", {"horizon": 4}),
    ("QuadMultiHover-v0", {"horizon": 4}),
    (TEAM, {"horizon": 4}),
]
MASSES = {"mass": (0.025, 0.03), "gravity": (9.5, 10.1)}
FAMILY = [{"mass": 0.025}, {"mass": 0.027}, {"mass": 0.03}]


def further_worlds() -> dict[str, World]:
    """Worlds outside the catalogue in which those of the catalogue make their data, by name."""
    return {each.name: each for each in (traffic(ROADS[0], cars=2),)}


def everything() -> w.Wrapper:
    """A sensor with all of its models."""
    return w.Sensor(
        delay=[1, 3], scale=0.01, bias=0.01, walk=0.01, drift=0.01, drift_time=2.0, noise=0.01, uniform=0.01,
        outliers=0.01, outlier_size=0.1, dropout=0.05, burst=3.0, stuck=0.001, quantum=0.001, dead_band=0.001,
    )  # fmt: skip


def far_out(stage: Any, actions: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """A predicate for shields."""
    return np.arange(len(rows)) % 2 == 0


def five() -> list[Any]:
    """A usual stack."""
    noisy = [w.Actuator(noise=0.02), w.Sensor(noise=0.01)]
    return [*noisy, w.ActionCost(change=0.1), w.CostBudget(limit=1e6), w.NormalizeRewards()]


def nothing() -> list[Any]:
    """No wrappers."""
    return []


# wrappers that are tried on all worlds; what refuses one is left out there
EVERYWHERE: list[Made] = [
    lambda: [w.Wrapper()],
    lambda: [w.Sensor(noise=0.01)],
    lambda: [everything()],
    lambda: [w.Sensor(noise=0.01, every=2, dropout=0.2, each=True, missing="zero", show_missing=True)],
    lambda: [w.Sensor(dropout=0.2, burst=2.0), w.Sensor(noise=0.1)],
    lambda: [w.Actuator(noise=0.02, bias=0.1, scale=0.1, quantum=0.1, dead_band=0.01)],
    lambda: [w.Actuator(delay=2)],
    lambda: [w.Actuator(delay=[1, 2])],
    lambda: [w.Actuator(lag=0.05, rate_limit=0.5, hold=0.1)],
    lambda: [w.Actuator(every=2)],
    lambda: [w.Actuator(random=0.1)],
    lambda: [w.Actuator(blend=0.1)],
    lambda: [w.ActionRepeat(2)],
    lambda: [w.ActionRepeat([1, 3])],
    lambda: [w.ActionRepeat(2, show="max")],
    lambda: [w.ActionSequence(2)],
    lambda: [w.StateDependentNoise()],
    lambda: [w.ActionCost(change=0.1, magnitude=0.1)],
    lambda: [w.ActionCost(change=0.1), w.CostBudget(limit=1.0)],
    lambda: [w.ActionCost(change=0.1), w.Lagrangian(limit=25.0)],
    lambda: [w.ActionCost(change=0.1), w.Saute(limit=25.0)],
    lambda: [w.ActionCost(change=0.1), w.Simmer(limit=25.0, schedule=[[0, 10.0], [10, 25.0]])],
    lambda: [w.ConservativeExploration(baseline=-1e6)],
    lambda: [w.Shield(unsafe=far_out, fallback="idle")],
    lambda: [w.Shield(unsafe=far_out, fallback="idle"), w.EmergencyOverride(unsafe=far_out, times=1)],
    lambda: [w.Shield("idle", "cost", lookahead=1)],
    lambda: [w.EmergencyOverride(unsafe=far_out, times=1)],
    lambda: [w.SafeActions(low=-0.8, high=0.8)],
    lambda: [w.ObservationAdversary(eps=0.02)],
    lambda: [w.ObservationAdversary(eps=0.02, coupling=0.005, policy="walk")],
    lambda: [w.ObservationAdversary(eps=0.02, coupling=0.005, norm="l2")],
    lambda: [w.ActionAdversary(eps=0.02)],
    lambda: [w.ActionAdversary(probability=0.2)],
    lambda: [w.ActionAdversary(eps=0.02, norm="l2", coupling=0.01)],
    lambda: [w.EpisodeStatistics()],
    lambda: [w.NormalizeObservations()],
    lambda: [w.NormalizeObservations(shared=False)],
    lambda: [w.NormalizeRewards()],
    lambda: [w.NormalizeRewards(shared=False)],
    lambda: [w.JumpStart(steps=2)],
    lambda: [w.JumpStart(steps=2, random=True)],
    lambda: [w.ResetFree(backward=None, switch="time")],
    lambda: [w.AdversarialAgents(1, "random")],
    five,
]
# and those for one world: id, wrappers, options
ALONE: list[tuple[str, Made, dict[str, Any]]] = [
    (HOVER, lambda: [w.Sensor("position", noise=0.1), w.Sensor("velocity", bias=0.1)], {}),
    (HOVER, lambda: [w.HideObservations("velocity")], {}),
    (HOVER, lambda: [w.HideObservations("velocity", remove=True)], {}),
    (HOVER, lambda: [w.ObservationAdversary(eps=0.02, channels="position")], {}),
    (HOVER, lambda: [w.ClipRewards(low=[0.0, -1.0, -1.0])], {}),
    ("CartPole-v0", lambda: [w.ClipRewards(high=[1.0])], {}),
    ("CartPole-v0", lambda: [w.Shield("idle", far_out, lookahead=1, mask=True)], {}),
    (HOVER, lambda: [w.SafeActions(normals=[[1.0, 1.0, 1.0, 1.0]], offsets=[2.0])], {}),
    (HOVER, lambda: [w.BarrierFilter()], {"action": "velocity"}),
    (HOVER, lambda: [w.DomainRandomization(MASSES)], {}),
    (HOVER, lambda: [w.ParameterAdversary(MASSES, rate=0.05)], {}),
    (HOVER, lambda: [w.Contexts(FAMILY)], {}),
    (HOVER, lambda: [w.Contexts(FAMILY, visible=True, selection=w.RandomContexts())], {}),
    (HOVER, lambda: [w.Contexts(FAMILY, selection=w.RoundRobin("seed"))], {}),
    (HOVER, lambda: [w.Contexts(FAMILY, visible=True, selection=w.PrioritizedLevelReplay())], {}),
    (HOVER, lambda: [w.Contexts(selection=w.ADR(start={"mass": [0.026, 0.028]}, step={"mass": 0.001}))], {}),
    (HOVER, lambda: [w.Contexts(selection=w.SelfPaced({"mass": [0.027, 1e-3]}, {"mass": [0.028, 1e-3]}))], {}),
    (HOVER, lambda: [w.LevelCurriculum([{}, {"gravity": 11.0}], window=2, threshold=0.5)], {}),
    (HOVER, lambda: [w.EpisodeDrift("mass", "walk", low=0.025, high=0.03, scale=0.0005)], {}),
    (HOVER, lambda: [w.EpisodeDrift("mass", "steps", low=0.025, high=0.03, period=2)], {}),
    (HOVER, lambda: [w.LinearScalarization([1.0, 0.1, 0.1])], {}),
    (HOVER, lambda: [w.ChebyshevScalarization([1.0, 0.1, 0.1], [500.0, 1.0, 1.0])], {}),
    (HOVER, lambda: [w.Lexicographic(["hover", "distance", "effort"], slack=1.0)], {}),
    (HOVER, lambda: [w.WeightConditioned()], {}),
    (HOVER, lambda: [w.NormalizeRewards(), w.WeightConditioned()], {}),
    (HOVER, lambda: [w.ActionRepeat(2), w.WeightConditioned()], {}),
    (HOVER, lambda: [w.ActionRepeat(2), w.LinearScalarization([1.0, 0.1, 0.1])], {}),
    (HOVER, lambda: [w.AppendEpisodeReturn([500.0, 500.0, 500.0])], {}),
    (HOVER, lambda: [w.SnapshotReset(collect_snapshots(HOVER, "expert", episodes=1, every=2))], {}),
    (CAR, lambda: [w.CameraNoise(noise=5.0, brightness=0.1, contrast=0.1, blur=1, shift=2, cutout=8, specks=0.01)], {}),
    (CAR, lambda: [w.CameraNoise(drop=0.2)], {}),
    ("mo-QuadHover-v0", lambda: [w.NormalizeRewards()], {}),
    ("mo-QuadHover-v0", lambda: [w.ClipRewards(low=[0.0, -1.0, -1.0])], {}),
    ("HalfCheetah-v0", lambda: [w.ForceAdversary()], {}),
    ("HalfCheetah-v0", lambda: [w.ForceAdversary(policy="walk", coupling=0.1)], {}),
    (TAG, lambda: [w.MinorityReward(["adversary_0"])], {}),
    (TAG, lambda: [w.AdversarialAgents(1, "worst", candidates=3), w.Sensor(noise=0.1)], {}),
    ("SlidingTiles-v0", lambda: [w.JumpStart("expert", steps=2)], {}),
    ("SlidingTiles-v0", lambda: [w.JumpStart("expert", steps=2)], {"size": 4}),
    ("RubiksCube-v0", lambda: [w.JumpStart("expert", steps=2)], {"size": 2}),
    ("Sokoban-v0", lambda: [w.JumpStart("expert", steps=2)], {}),
    ("PushWorld-v0", lambda: [w.JumpStart("expert", steps=2)], {}),
    (RACER, nothing, {}),
]


def forms(id: str, options: dict[str, Any]) -> Iterator[Any]:
    """An environment in its forms: one world, few, so many that threads share them, the agents in parallel."""
    yield lambda: make(id, **options)
    for count, threads in ((FEW, 1), (FEWEST, 2)):
        yield lambda count=count, threads=threads: make_vec(id, count, threads=threads, **options)
    if make_batch(id, 1, **options).actions.shape[1] > 1:
        yield lambda: parallel_env(id, **options)


def others() -> Iterator[Any]:
    """Environments of Gymnasium."""
    for id in ("CartPole-v1", "Pendulum-v1"):
        yield lambda id=id: gymnasium.make(id, max_episode_steps=4)


def play(make: Callable[[], Any], wrappers: Made) -> bool:
    """Some steps of an environment with wrappers. Whether it takes them.

    Args:
        make: gives the environment.
        wrappers: gives the wrappers.
    """
    try:
        stack = wrappers()
        env = w.wrap(make(), *stack) if stack else make()
        step_through(env)
    except (ParameterError, ActionError, MissingExtraError, DependencyError):
        return False
    return True


def step_through(env: Any) -> None:
    """A reset from a seed, steps, resets of single forms where episodes end."""
    env.reset(seed=0)
    agents = getattr(env, "possible_agents", None)
    spaces = {agent: env.action_space(agent) for agent in agents} if agents else {"": env.action_space}
    for number, space in enumerate(spaces.values()):
        space.seed(number)
    for _ in range(STEPS):
        drawn = {agent: space.sample() for agent, space in spaces.items()}
        if agents:
            live = {agent: drawn[agent] for agent in env.agents}
            over = not live or not env.step(live)[0]
        else:
            over = env.step(drawn[""])[2:4]
            over = getattr(env, "num_envs", None) is None and any(over)
        if over:
            env.reset()


def play_all() -> dict[str, int]:
    """Play everything. By what was played, how many environments took it."""
    played: dict[str, int] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        makes = [*(make for id, options in WORLDS for make in forms(id, options)), *others()]
        for number, wrappers in enumerate(EVERYWHERE):
            played[f"everywhere {number}"] = sum(play(make, wrappers) for make in makes)
        for number, (id, wrappers, options) in enumerate(ALONE):
            played[f"{id} {number}"] = sum(play(make, wrappers) for make in forms(id, options))
        tables()
    return played


def tables() -> None:
    """Learning of fronts."""
    from rlenvs.pareto import pareto_q_learning

    pareto_q_learning("DeepSeaTreasure-v0", steps=2000)
    pareto_q_learning("DeepSeaTreasure-v0", steps=2000, gamma=0.99)
