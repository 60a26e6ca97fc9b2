"""Barriers of the families: under held and random actions a filter lowers the costs, and never raises them."""

import numpy as np
import pytest

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers import BarrierFilter, wrap

WORLDS, STEPS, HELD = 8, 120, 20
APART = "rlenvs.multi.particle.barrier:keep_apart"
POLICIES = {"random": 1, "held": HELD}
FILTERED = {  # unsafe steps of the filtered world as a share of those of the bare one, at most
    "MicroRacer-v0": 0.6,
    "PandaSafeReach-v0": 0.5,
}


def actions_of(space, count, policy):
    """Random actions for many steps, (steps, count, m), each for as long as the policy keeps it."""
    rng = np.random.default_rng(3)
    drawn = rng.uniform(space.low, space.high, (STEPS // POLICIES[policy] + 1, count, *space.shape))
    return np.repeat(drawn, POLICIES[policy], axis=0)[:STEPS].astype(np.float32)


def unsafe_share(env, policy):
    """Of the steps of a vector environment."""
    env.reset(seed=100)
    unsafe = made = 0
    over = np.zeros(WORLDS, np.bool_)
    for actions in actions_of(env.single_action_space, WORLDS, policy):
        *_, terminated, truncated, info = env.step(actions)
        unsafe, made = unsafe + np.count_nonzero((info["cost"] > 0.0) & ~over), made + np.count_nonzero(~over)
        over = terminated | truncated
    return unsafe / made


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("id", FILTERED)
def test_the_filter_lowers_costs(id, policy):
    if id.startswith("Panda"):
        pytest.importorskip("mujoco")
    pytest.importorskip("daqp")
    bare = unsafe_share(rlenvs.make_vec(id, WORLDS), policy)
    assert bare > 0.02
    assert unsafe_share(wrap(rlenvs.make_vec(id, WORLDS), BarrierFilter()), policy) <= FILTERED[id] * bare


def touches(env, policy, seeds=8):
    """The steps of all agents in which they touch others, after a start where none do."""
    found = 0
    for seed in range(seeds):
        env.reset(seed=seed)
        agents, space = env.agents, env.action_space(env.agents[0])
        before = started_apart(env)
        for actions in actions_of(space, len(agents), policy)[:25]:
            *_, infos = env.step(dict(zip(agents, actions, strict=True)))
            found += before * sum(info["cost"] > 0.0 for info in infos.values())
    return found


def started_apart(env):
    batch = env.unwrapped.batch
    spots, least = batch.states["position"][0], 2.0 * float(batch.param_rows["radius"][0]) + 0.005
    return all(np.hypot(*(a - b)) > least for k, a in enumerate(spots) for b in spots[:k])


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("policy", POLICIES)
def test_filtered_particles_that_start_apart_never_touch(policy, scaled):
    pytest.importorskip("daqp")

    def made():
        return rlenvs.parallel_env("ParticleSpread-v0", actions="continuous", scaled=scaled, acceleration=10.0)

    assert touches(made(), policy) > 0
    for rate in (0.1, 1.0):
        assert touches(wrap(made(), BarrierFilter(rate=rate, barrier=APART)), policy) == 0


def test_particles_of_other_worlds_are_refused():
    with pytest.raises(ParameterError, match="keep_apart is for two or more agents of ParticleSpread-v0"):
        wrap(rlenvs.make("ParticleSpread-v0", agents=1, actions="continuous"), BarrierFilter(barrier=APART)).reset()


def test_a_safe_arm_may_stand_still():
    """Without an action the target stays: the filter never has to brake, and says so."""
    pytest.importorskip("mujoco")
    env = wrap(rlenvs.make("PandaSafeReach-v0"), BarrierFilter())
    env.reset(seed=2)
    for _ in range(10):
        *_, info = env.step(np.zeros(3, np.float32))
        assert not info["intervened"]
    assert info["barrier"] > 0.0
    assert rlenvs.make_batch("PandaSafeReach-v0", 1, control="joints").barrier_count == 0
