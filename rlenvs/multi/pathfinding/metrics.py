"""Metrics of an episode, as defined in the path-finding literature and in POGEMA."""

from typing import Any

import numpy as np

from rlenvs.core import choice

ON_TARGET = choice("finish", "nothing", "restart", doc="what happens to an agent on its goal")
FINISH, NOTHING, RESTART = ON_TARGET.codes("finish", "nothing", "restart")


def metrics(p: Any, s: Any) -> dict[str, float]:
    """Scores of the episode so far; call it when the episode has ended, before the next reset.

    Args:
        p, s: parameters and state of a world, for example `env.unwrapped.batch.records(0)`.

    Returns:
        With on_target "restart": "throughput", goals reached per step, by all agents together. Otherwise:
        "ISR": share of agents that reached their goal ("finish") or stand on it at the end ("nothing").
        "CSR": 1 when all did, else 0.
        "SoC": sum of costs: the step in which each agent settled on its goal for good, summed over agents. Leaving
        the goal and coming back counts from the return; an agent that has not settled counts all steps.
        "makespan": the largest of these.
        "ep_length": their mean ("finish"), or the number of steps ("nothing").
    """
    steps = int(s.elapsed)
    if p.on_target == RESTART:
        return {"throughput": float(np.sum(s.arrivals)) / max(steps, 1)}
    settled = np.asarray(s.settled)
    cost = np.where(settled > 0, settled, steps)
    return {
        "ISR": float(np.mean(settled > 0)),
        "CSR": float(np.all(settled > 0)),
        "SoC": float(np.sum(cost)),
        "makespan": float(np.max(cost)),
        "ep_length": float(np.mean(cost)) if p.on_target == FINISH else float(steps),
    }
