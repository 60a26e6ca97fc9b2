"""`rlenvs.check_env` holds wrappers to the rules, and asks nothing of them that they cannot or need not do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import rlenvs
from rlenvs.core.check import check_env
from rlenvs.wrappers import (
    ActionAdversary,
    Actuator,
    AdversarialAgents,
    EpisodeDrift,
    JumpStart,
    ParameterAdversary,
    Sensor,
    Wrapper,
    wrap,
)

CART, TEAM, TAG = "CartPole-v0", "ParticleSpread-v0", "ParticleTag-v0"


@dataclass
class FirstAgentOnly(Wrapper):
    """Breaks the agreement of forms: in the single form alone it turns the action round."""

    def act(self, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
        return actions if self.agents > 1 else np.where(actions == 1, 2, actions)


STACKS = {
    "nominal value outside": (12, lambda: wrap(rlenvs.make(CART), ParameterAdversary({"masscart": (0.8, 1.2)}, 0.1))),
    "drift": (12, lambda: wrap(rlenvs.make(CART), EpisodeDrift("masscart", "walk", scale=0.1, low=0.8, high=1.2))),
    "long guide": (2, lambda: wrap(rlenvs.make(CART), JumpStart("expert", steps=20))),
    "guided team": (7, lambda: wrap(rlenvs.make(TEAM), JumpStart("nearest", steps=3))),
    "adversary of a team": (7, lambda: wrap(rlenvs.parallel_env(TEAM), ActionAdversary(probability=0.3))),
    "random actions of a team": (7, lambda: wrap(rlenvs.make(TEAM), Actuator(random=0.3))),
    "agents taken over": (4, lambda: wrap(rlenvs.parallel_env(TEAM), AdversarialAgents(1, "random"))),
}


@pytest.mark.parametrize("name", STACKS)
def test_legitimate_stacks_pass_the_rule_that_failed_them(name):
    rule, made = STACKS[name]
    report = check_env(made(), only=[rule])
    report.raise_on_failure()
    assert {outcome.number: outcome.status for outcome in report.outcomes}[rule] == "passed"


@pytest.mark.slow
@pytest.mark.parametrize("name", [*STACKS, "worst player"])
def test_legitimate_stacks_conform(name):
    worst = (0, lambda: wrap(rlenvs.parallel_env(TAG), AdversarialAgents(1, "worst", candidates=3), Sensor(noise=0.1)))
    check_env({**STACKS, "worst player": worst}[name][1]()).raise_on_failure()


def test_wrappers_of_agents_alone_are_said_to_be_so():
    report = check_env(wrap(rlenvs.parallel_env(TEAM), AdversarialAgents(1, "random")), only=[8])
    reasons = {outcome.number: outcome.reason for outcome in report.outcomes}
    assert reasons[8] == "these wrappers take the parallel form alone"


def test_teams_whose_forms_differ_still_fail():
    report = check_env(wrap(rlenvs.parallel_env(TEAM), FirstAgentOnly()), only=[7])
    assert [outcome.number for outcome in report.failures] == [7]
