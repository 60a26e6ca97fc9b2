"""No shield that the package offers, and not that of the guide, makes a world less safe than it is without."""

from __future__ import annotations

import pytest

import rlenvs
from benchmarks.shields import POLICIES, SHIELDS, danger_of, ids_with_costs, shielded, shields_for

SAMPLE = ("SafePointGoal-v0", "MarsExplorer-v0", "ParticleTag-v0", "Sokoban-v0")
SOME = [("held", "idle, 20"), ("adversary", "expert, 0")]
WORLDS, STEPS = 12, 100


def is_no_less_safe(id, policy, name, slack=0.0):
    env, _ = shielded(id, SHIELDS[name], WORLDS)
    return danger_of(env, policy, STEPS).within(danger_of(rlenvs.make_vec(id, WORLDS), policy, STEPS), slack)


@pytest.mark.parametrize(("policy", "name"), SOME)
@pytest.mark.parametrize("id", SAMPLE)
def test_a_sample_is_no_less_safe(id, policy, name):
    assert is_no_less_safe(id, policy, name)


@pytest.mark.slow  # but for a step in a hundred: other actions lead to other states, and chance differs there
@pytest.mark.parametrize("id", ids_with_costs())
def test_every_world_is_no_less_safe(id):
    known = shields_for(id)
    policies = [policy for policy in POLICIES if policy != "expert" or len(known) == len(SHIELDS)]
    assert [
        (policy, name) for policy in policies for name in known if not is_no_less_safe(id, policy, name, 0.01)
    ] == []


@pytest.mark.slow
def test_an_expert_whose_own_way_on_is_safe_stays_safe():
    """Idling cars leave the road within the look ahead, so that the fallback hardly ever counts as safe."""
    env, _ = shielded("F1Tenth-v0", SHIELDS["idle, 20"], 8)
    assert danger_of(env, "expert", 60).unsafe == 0.0
