"""Barriers of the families: under held and random actions a filter lowers the costs, and never raises them."""

import numpy as np
import pytest

import rlenvs
from rlenvs.core.declare.errors import ActionError, ParameterError
from rlenvs.robotics.landing.lander import HULL
from rlenvs.wrappers import BarrierFilter, wrap

WORLDS, STEPS, HELD = 8, 120, 20
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
        assert touches(wrap(made(), BarrierFilter(rate=rate)), policy) == 0


NEAR = {"obstacles": 6, "side": 1.2}
TEAMS = {  # at the defaults, and where forces are large for the speeds that are allowed
    "navigation": ("ParticleNavigation-v0", NEAR),
    "slow": ("ParticleNavigation-v0", {**NEAR, "acceleration": 10.0, "max_speed": 0.5}),
    "tag": ("ParticleTag-v0", {}),
    "facmac": ("ParticleTag-v0", {"level": "facmac_6a"}),
    "words": ("ParticleWorldComm-v0", {"pad": True}),
}
PUSHED = 0.04  # m, at which contacts are felt


def pushed_by_the_other_side(batch):
    """Whether any body of a hunt is."""
    p, s = batch.records(0)
    if "adversaries" not in batch.world.options:
        return False
    hunts = np.arange(len(s.position)) < p.adversaries
    radius = np.where(hunts, p.adversary_radius, p.good_radius)
    apart = np.hypot(*(s.position[:, None] - s.position[None]).transpose(2, 0, 1))
    near = apart < radius[:, None] + radius[None] + PUSHED
    return (near & (hunts[:, None] != hunts[None])).any()


def costly_steps(env, policy, seeds=10):
    """The steps of all agents that cost before a side has pushed the other, in episodes that begin with all barriers
    kept."""
    found = 0
    for seed in range(seeds):
        env.reset(seed=seed)
        batch, agents = env.unwrapped.batch, env.agents
        kept = np.nanmin(batch.barriers(np.zeros(batch.proposal_shape))["value"]) >= 0.0
        drawn = [actions_of(env.action_space(agent), len(agents), policy)[:, k] for k, agent in enumerate(agents)]
        for step in range(25 * kept):
            if pushed_by_the_other_side(batch):
                break
            *_, infos = env.step({agent: drawn[k][step] for k, agent in enumerate(agents)})
            found += sum(info["cost"] > 0.0 for info in infos.values())
    return found


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("team", TEAMS)
def test_filtered_teams_keep_clear_of_their_own_and_of_obstacles(team, policy):
    pytest.importorskip("daqp")
    id, choices = TEAMS[team]

    def made():
        return rlenvs.parallel_env(id, actions="continuous", **choices)

    assert costly_steps(made(), policy) > 0
    assert costly_steps(wrap(made(), BarrierFilter(rate=1.0)), policy) == 0


PAIRS = {  # two agents of a side, an obstacle, and a speed that forces exceed
    "velocity first": ("ParticleNavigation-v0", {"agents": 2, "obstacles": 1, "acceleration": 10.0, "max_speed": 1.0}),
    "position first": (
        "ParticleTag-v0",
        {"adversaries": 2, "good": 1, "obstacles": 1, "adversary_acceleration": 10.0, "scaled": True},
    ),
}


def standing(states):
    """The field of what stands in the way."""
    return "obstacle" if "obstacle" in states.dtype.names else "landmark"


def pair_of(pair):
    """A world of two agents; all else is elsewhere."""
    id, choices = PAIRS[pair]
    batch = rlenvs.make_batch(id, 1, actions="continuous", horizon=100, **choices)
    batch.seed([0])
    batch.reset()
    batch.states["position"][0], batch.states[standing(batch.states)][0] = [[-40.0, 0.0]], 40.0
    batch.states["position"][0, :2] = [[0.0, 0.0], [0.0, 20.0]]
    return batch


@pytest.mark.parametrize("pair", PAIRS)
def test_what_barriers_allow_loses_no_more_than_they_say(pair):
    """Random states, as fast as may be, and random actions: where all agents keep nine tenths of their barriers by what
    is predicted, nine tenths are left after the step."""
    id, choices = PAIRS[pair]
    count = 10_000
    batch = rlenvs.make_batch(id, count, actions="continuous", **choices)
    batch.seed(np.arange(count))
    batch.reset()
    rng, states = np.random.default_rng(0), batch.states
    states["position"][:, :2] = rng.uniform(-0.4, 0.4, (count, 2, 2))
    states["position"][:, 2:] = 50.0  # prey is elsewhere
    angle, speed = rng.uniform(0.0, 2.0 * np.pi, (count, 2)), rng.choice([0.0, 0.5, 1.0], (count, 2))
    states["velocity"][:, :2] = np.stack([speed * np.cos(angle), speed * np.sin(angle)], axis=-1)
    states[standing(states)][:] = rng.uniform(-0.4, 0.4, (count, 1, 2))
    actions = rng.uniform(-1.0, 1.0, batch.proposal_shape).astype(np.float32)
    before = batch.barriers(actions)[:, :2].copy()
    predicted = before["value"] + before["drift"] + (before["slope"] @ actions[:, :2, :, None])[..., 0]
    batch.actions[...] = actions
    batch.step_inplace()
    after = batch.barriers(actions)["value"][:, :2]
    untouched = (before["value"] >= 0.0).all(axis=(1, 2))
    for index, agents in ((0, (0, 1)), (1, (0,)), (1, (1,))):  # the pair, and each with the obstacle
        value = before["value"][:, agents, index]
        allowed = untouched & (predicted[:, agents, index] >= 0.9 * value).all(axis=1)
        assert np.count_nonzero(allowed) > 500
        left = after[:, agents, index].sum(axis=1) - 0.9 * value.sum(axis=1)
        assert left[allowed].min() >= -1e-9


@pytest.mark.parametrize("ahead", ["agent", "obstacle"])
@pytest.mark.parametrize("pair", PAIRS)
def test_who_glides_comes_to_rest_where_the_barrier_says(pair, ahead):
    """Without a force the barrier stays what it is: the gap that is left in the end, of two agents half of it."""
    batch = pair_of(pair)
    states = batch.states
    states["position"][0, 0], states["velocity"][0, 0] = 0.0, [0.8, 0.0]
    (states["position"][0, 1] if ahead == "agent" else states[standing(states)][0, 0])[...] = [0.8, 0.0]
    nothing, index = np.zeros(batch.proposal_shape), int(ahead == "obstacle")
    first = batch.barriers(nothing)["value"][0, 0, index]
    for _ in range(60):
        assert batch.barriers(nothing)["value"][0, 0, index] == pytest.approx(first, abs=1e-12)
        batch.actions[...] = 0.0
        batch.step_inplace()
    reach = {"velocity first": (0.1, 0.1), "position first": (0.15, 0.275)}[pair][index]
    gap = 0.8 - states["position"][0, 0, 0] - reach - 0.005
    assert first == pytest.approx(gap if ahead == "obstacle" else 0.5 * gap, abs=1e-6)


@pytest.mark.parametrize("pair", PAIRS)
def test_speed_that_is_taken_from_one_who_flees_is_set_aside(pair):
    """Two in a row at the largest speed, and the first pushes aside: what that takes from its way ahead brings the
    second nearer."""
    batch = pair_of(pair)
    batch.states["position"][0, :2], batch.states["velocity"][0, :2] = [[0.3, 0.0], [0.0, 0.0]], [1.0, 0.0]
    actions = np.zeros(batch.proposal_shape, np.float32)
    actions[0, 0, 1] = 1.0
    before = {name: batch.barriers(actions)[name][0, :2, 0].copy() for name in ("value", "drift", "slope")}
    predicted = before["value"] + before["drift"] + (before["slope"] * actions[0, :2]).sum(axis=1)
    batch.actions[...] = actions
    batch.step_inplace()
    left = batch.barriers(actions)["value"][0, :2, 0].sum()
    assert left < before["value"].sum() - 0.001
    assert left >= predicted.sum()


def test_a_barrier_that_an_agent_does_not_have_constrains_nothing():
    """Prey alone has obstacles, and nobody of its side; its other barriers are NaN."""
    pytest.importorskip("daqp")
    env = wrap(rlenvs.parallel_env("ParticleTag-v0", actions="continuous"), BarrierFilter(rate=1.0))
    env.reset(seed=0)
    batch = env.unwrapped.batch
    batch.states["position"][0] = [[-1.0, 1.0], [0.0, 1.0], [1.0, 1.0], [0.0, -1.0]]
    batch.states["landmark"][0] = [[-0.3, -1.0], [0.3, -1.0]]  # the prey rests between two, 0.05 m from each
    found = batch.barriers(np.zeros((1, 4, 5)))[0]["value"]
    assert not np.isnan(found[:3]).any()
    assert np.isnan(found[3]).tolist() == [False, False, True, True]
    right = np.array([0.0, 0.0, 1.0, 0.0, 0.0], np.float32)
    up = np.array([0.0, 0.0, 0.0, 0.0, 1.0], np.float32)
    *_, infos = env.step(dict.fromkeys(env.agents[:3], up) | {"agent_0": right})
    assert infos["agent_0"]["barrier"] == pytest.approx(0.3 - 0.25 - 0.005)
    assert infos["agent_0"]["intervened"]
    _, left, right, _, _ = infos["agent_0"]["action"]
    assert 0.16 * (right - left) == pytest.approx(0.045), "the other obstacle is as near on the left"


def test_words_are_no_part_of_barriers():
    batch = rlenvs.make_batch("ParticleWorldComm-v0", 3, actions="continuous")
    batch.seed([0, 1, 2])
    batch.reset()
    found = batch.barriers(np.zeros(batch.proposal_shape))
    assert found["slope"].shape[-1] == 9
    assert not found["slope"][..., 5:].any()
    env = rlenvs.parallel_env("ParticleWorldComm-v0", actions="continuous", pad=True)
    filtered = wrap(env, BarrierFilter())
    filtered.reset(seed=0)
    said = {agent: np.array([0, 0, 0, 0, 0, 0.25, 1, 0, 0.5], np.float32) for agent in filtered.agents}
    *_, infos = filtered.step(said)
    assert infos["leadadversary_0"]["action"][5:].tolist() == [0.25, 1.0, 0.0, 0.5]
    with pytest.raises(ParameterError, match="the agents' actions differ"):
        wrap(rlenvs.parallel_env("ParticleWorldComm-v0", actions="continuous"), BarrierFilter())


def test_barriers_are_about_actions_as_the_world_takes_them():
    """Words are converted with scaled=True, forces are the world's own form then."""
    assert rlenvs.make_batch("ParticleWorldComm-v0", 1, actions="continuous", scaled=True).barrier_count == 0
    assert rlenvs.make_batch("ParticleTag-v0", 1, actions="continuous", scaled=True).barrier_count == 4
    with pytest.raises(ParameterError, match="no barriers with these options"):
        wrap(rlenvs.parallel_env("ParticleWorldComm-v0", actions="continuous", scaled=True, pad=True), BarrierFilter())


def test_crowds_have_no_barriers():
    assert rlenvs.make_batch("ParticleNavigation-v0", 1, actions="continuous", agents=60).barrier_count == 62
    assert rlenvs.make_batch("ParticleNavigation-v0", 1, actions="continuous", agents=63).barrier_count == 0


@pytest.mark.parametrize("backend", ["numba", "python"])
def test_particles_share_the_room_between_them(backend):
    """At rest it is the gap, and one who pushes away gains for both what the other could have lost."""
    batch = rlenvs.make_batch("ParticleSpread-v0", 2, actions="continuous", scaled=True, backend=backend)
    batch.seed([0, 1])
    batch.reset()
    batch.states["position"][0] = [[0.0, 0.0], [1.0, 0.0], [0.0, -2.0]]
    actions = np.zeros((2, 3, 2))
    found = batch.barriers(actions)[0]
    gaps = np.array([[1.0, 2.0], [1.0, 5.0**0.5], [2.0, 5.0**0.5]]) - 0.305
    np.testing.assert_allclose(found["value"], 0.5 * gaps, rtol=1e-12)
    np.testing.assert_allclose(found["drift"], 0.0, atol=1e-15)
    stride = 5.0 * 0.1**2 / 0.25
    np.testing.assert_allclose(found["slope"][0], [[-stride, 0.0], [0.0, stride]], atol=1e-15)
    np.testing.assert_allclose(found["slope"][1, 0], [stride, 0.0], atol=1e-15)
    with pytest.raises(ActionError, match=r"needed: \(2, 3, 2\)"):
        batch.barriers(actions[:, 0])


def test_who_plays_among_others_is_filtered_alone():
    env = wrap(rlenvs.make("ParticleSpread-v0", actions="continuous", scaled=True, agents=2), BarrierFilter(0.1))
    env.reset(seed=0)
    position = env.unwrapped.batch.states["position"]
    position[0] = [[0.0, 0.0], [0.4, 0.0]]
    info = env.step(np.array([1.0, 0.0], np.float32))[4]
    assert info["intervened"]
    assert info["action"][0] < 0.5
    position[0] = [[0.0, 0.0], [4.0, 0.0]]
    assert not env.step(np.array([1.0, 0.0], np.float32))[4]["intervened"]


def test_barriers_of_particles_are_those_of_actions_that_are_numbers():
    with pytest.raises(ParameterError, match="no barriers with these options"):
        wrap(rlenvs.make("ParticleSpread-v0", agents=1, actions="continuous"), BarrierFilter())
    assert rlenvs.make_batch("ParticleSpread-v0", 1).barrier_count == 0
    assert rlenvs.make_batch("ParticleSpread-v0", 1, actions="continuous", agents=5).barrier_count == 4


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


def behind_walls(env, seeds=4):
    """The vehicles that came within 0.1 m of a wall, of a team that flies about from near the walls."""
    found = 0
    for seed in range(seeds):
        env.reset(seed=seed)
        agents, position = env.possible_agents, env.unwrapped.batch.states["position"][0]
        position[:, :2] *= 1.7 / np.abs(position[:, :2]).max(axis=1, keepdims=True)
        near = np.zeros(len(agents), np.bool_)
        for actions in actions_of(env.action_space(agents[0]), len(agents), "held"):
            env.step({agent: own for agent, own in zip(agents, actions, strict=True) if agent in env.agents})
            near |= np.abs(position[:, :2]).max(axis=1) > 1.9
        found += near.sum()
    return found


def team(*wrappers):
    env = rlenvs.parallel_env("QuadMultiHover-v0", action="velocity", speed_limit=0.5, collisions_end=False)
    return wrap(env, *wrappers) if wrappers else env


def test_every_vehicle_of_a_filtered_team_stays_between_the_walls():
    pytest.importorskip("daqp")
    assert behind_walls(team()) > 3
    assert behind_walls(team(BarrierFilter())) == 0


def test_the_barriers_of_a_vehicle_are_those_of_its_own_action():
    """By the last number of an action, whose first ones say where to: to the right, left, back and up."""
    pytest.importorskip("daqp")
    env = team(BarrierFilter())
    env.reset(seed=0)
    ways = np.array([[1.0, 0.0, 0.0, 1.0], [-1.0, 0.0, 0.0, 1.0], [0.0, -1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]])
    value, _, slope, *_ = env.wrappers[0]._terms(ways)
    wanted = np.array([[-1, 1, 0, 0], [1, -1, 0, 0], [0, 0, 1, -1], [0, 0, 0, 0]])
    np.testing.assert_allclose(slope[:, :, 3], wanted * 0.5 / 30.0, atol=1e-12)
    places = env.unwrapped.batch.states["position"][0]
    np.testing.assert_allclose(value[:, 0] - value[:, 1], -2.0 * places[:, 0], atol=1e-12)


LANDERS, FAST, ASKEW = 12, 2.0, 0.7  # m/s, and rad: what the barriers of landers keep below


def broken_flights(env, policy, steps=260):
    """The share of flights that lean too far, or meet the ground too fast."""
    env.reset(seed=0)
    states, rng = env.unwrapped.batch.states, np.random.default_rng(3)
    broken, flying = np.zeros(LANDERS, np.bool_), np.ones(LANDERS, np.bool_)
    for step in range(steps):
        if step % POLICIES[policy] == 0:
            actions = rng.uniform(-1.0, 1.0, (LANDERS, 2)).astype(np.float32)
        fall, lean = -states["velocity"][:, HULL, 1].copy(), np.abs(states["angle"][:, HULL])
        broken |= flying & (lean > ASKEW)
        *_, terminated, truncated, _ = env.step(actions)
        met = states["leg_touches"].any(axis=1) | (states["hull_touched"] == 1)
        broken |= flying & met & (fall > FAST)
        flying &= ~(met | terminated | truncated)
    return broken.mean()


@pytest.mark.parametrize("policy", POLICIES)
def test_a_filtered_lander_stays_upright_and_falls_softly(policy):
    pytest.importorskip("daqp")
    assert broken_flights(rlenvs.make_vec("LunarLanderContinuous-v0", LANDERS), policy) > 0.6
    assert broken_flights(wrap(rlenvs.make_vec("LunarLanderContinuous-v0", LANDERS), BarrierFilter()), policy) == 0.0


def test_the_envelope_of_a_lander_is_left_to_its_expert():
    pytest.importorskip("daqp")
    env = wrap(rlenvs.make("LunarLanderContinuous-v0"), BarrierFilter(0.5))
    env.reset(seed=0)
    total, over = 0.0, False
    while not over:
        _, reward, terminated, truncated, info = env.step(env.expert_action())
        total, over = total + reward, terminated or truncated
    assert total > 200.0
    assert info["is_success"]


def test_a_step_of_a_lander_is_foreseen():
    """On average over what chance makes of the engines' impulses, and no better than it will be."""
    batch = rlenvs.make_batch("LunarLanderContinuous-v0", 400)
    batch.seed(0)
    batch.reset()
    idle = np.zeros((400, 2))
    for _ in range(10):
        batch.step(idle)
    for action in ([1.0, 1.0], [1.0, -1.0], [0.0, 0.0]):
        actions = np.tile(action, (400, 1))
        found = batch.barriers(actions)
        foreseen = found["value"] + found["drift"] + (found["slope"] * actions[:, None]).sum(axis=2)
        batch.step(actions)
        np.testing.assert_allclose(batch.barriers(idle)["value"].mean(axis=0), foreseen.mean(axis=0), atol=0.02)
