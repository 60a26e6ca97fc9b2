"""No shield that the package offers, and not that of the guide, makes a world less safe than it is without, but where
`wrap` warns that no fallback is safe."""

from __future__ import annotations

import pytest

import rlenvs
from benchmarks.shields import POLICIES, SHIELDS, danger_of, ids_with_costs, shielded, shields_for

SAMPLE = [
    ("SafePointGoal-v0", "held", "idle"),
    ("SafePointGoal-v0", "adversary", "expert"),
    ("QuadTrack-v0", "held", "idle"),
    ("QuadTrack-v0", "adversary", "expert"),
    ("F1Tenth-v0", "held", "expert"),
    ("MicroRacer-v0", "held", "idle, 60"),
    ("ParticleTag-v0", "adversary", "idle"),
    ("Sokoban-v0", "held", "expert"),
]


def dangers(id, policy, name, worlds, steps, seed=100):
    """The danger with a shield and without, and whether `wrap` warned of the shield."""
    env, warned = shielded(id, SHIELDS[name], worlds)
    return danger_of(env, policy, steps, seed), danger_of(rlenvs.make_vec(id, worlds), policy, steps, seed), warned


@pytest.mark.parametrize(("id", "policy", "name"), SAMPLE)
def test_a_sample_has_no_more_unsafe_steps(id, policy, name):
    kept, bare, _ = dangers(id, policy, name, 8, 60)
    assert kept.unsafe <= bare.unsafe
    assert kept.ended <= bare.ended


@pytest.mark.slow  # one policy and one shield for each id; benchmarks/shields.py tries all
@pytest.mark.parametrize(("number", "id"), list(enumerate(ids_with_costs())))
def test_every_world_has_no_more_unsafe_steps(number, id):
    known = list(shields_for(id))
    policies = [policy for policy in POLICIES if policy != "expert" or "expert" in known]
    policy, name = policies[number % len(policies)], known[number // len(policies) % len(known)]
    kept, bare, warned = dangers(id, policy, name, 4, 40, seed=300)
    if id.startswith("Signal"):  # no fallback is safe there: queues grow behind a light that is kept
        assert warned, (policy, name)
    else:
        assert kept.unsafe <= bare.unsafe, (policy, name)


@pytest.mark.slow
def test_an_expert_whose_own_way_on_is_safe_stays_safe():
    """Idling cars leave the road within the look ahead, so that the fallback hardly ever counts as safe."""
    kept, _, _ = dangers("F1Tenth-v0", "expert", "idle", 8, 60)
    assert kept.unsafe == 0.0
