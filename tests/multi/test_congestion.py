"""Congestion: the numbers of the published descriptions, exact fronts whose policies are replayed, invariants."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import rlenvs
from rlenvs import pareto
from rlenvs.core.declare.errors import ParameterError
from rlenvs.multi.congestion import allocations, beach, gem_mining, networks, route_choice

BEACH, MINES, ROUTES = "Beach-v0", "GemMining-v0", "RouteChoice-v0"


def front_of_beach(**keywords):
    env = rlenvs.make(BEACH, **keywords)
    return env, beach.front_of(env.unwrapped.batch.setup.values)


# --- beach ------------------------------------------------------------------------------------------------------------


def test_beach_rewards():
    """c exp(-c / psi) and the smaller type's share, of the team or of the own section, at the end of the day alone."""
    for reward in ("team", "individual"):
        env = rlenvs.make(BEACH, agents=7, sections=3, steps=2, psi=2.0, share=0.4, reward=reward)
        batch = env.unwrapped.batch
        batch.reset()
        batch.states["section"][0] = [0, 0, 0, 1, 1, 1, 1]
        batch.states["kind"][0] = [0, 1, 1, 0, 0, 1, 1]
        batch.step(np.ones((1, 7), int))
        assert not batch.terms.any()
        batch.step(np.array([[1, 1, 1, 1, 1, 1, 2]]))  # the last one walks to the third section
        crowds, shares = np.array([3, 3, 1]), np.array([1 / 3, 1 / 3, 0])
        worth = crowds * np.exp(-crowds / 2.0)
        if reward == "team":
            expected = np.tile([[worth.sum()], [shares.mean()]], 7)
        else:
            expected = np.stack([worth, shares])[:, [0, 0, 0, 1, 1, 1, 2]]
        np.testing.assert_allclose(batch.terms[0], expected, rtol=1e-14)
        assert batch.truncated.all()
        assert not batch.terminated.any()


def team_reward(sections, kinds, count, psi):
    """Occupation and mixture of a beach, from who stands where."""
    people = np.array([[np.sum((sections == j) & (kinds == kind)) for kind in (0, 1)] for j in range(count)])
    crowds = people.sum(axis=1)
    return np.array([(crowds * np.exp(-crowds / psi)).sum(), (people.min(axis=1) / np.maximum(crowds, 1)).mean()])


@pytest.mark.parametrize(("agents", "sections", "psi"), [(7, 3, 2.0), (60, 4, 7.0), (20, 2, 0.5), (1, 2, 5.0)])
def test_difference_rewards_are_what_the_team_lacks_without_an_agent(agents, sections, psi):
    batch = rlenvs.make_batch(BEACH, 1, agents=agents, sections=sections, psi=psi, steps=2, reward="difference")
    batch.seed([3])
    batch.reset()
    stay = np.ones((1, agents), int)
    batch.step(stay)
    assert not batch.terms.any()
    batch.step(stay)
    places, kinds = batch.states["section"][0], batch.states["kind"][0]
    others = [np.arange(agents) != k for k in range(agents)]
    lacking = np.array([team_reward(places[rest], kinds[rest], sections, psi) for rest in others])
    expected = team_reward(places, kinds, sections, psi) - lacking
    np.testing.assert_allclose(batch.terms[0], expected.T, atol=1e-13)
    assert expected.min() < 0.0 or agents == 1  # a crowd has more of those who leave it


def test_nobody_takes_more_from_an_occupation_than_its_bound():
    """c exp(-c / psi) falls fastest at twice the capacity, by exp(-2) a person."""
    people, psi = np.arange(1, 1001), np.geomspace(0.5, 100.0, 200)[:, None]
    lost = people * np.exp(-people / psi) - (people - 1) * np.exp(-(people - 1) / psi)
    assert -beach.STEEPEST <= lost.min() < -0.13
    assert lost.max() <= 1.0


@pytest.mark.parametrize(
    ("level", "agents", "sections", "psi", "first"), [(None, 100, 6, 7.0, 30), ("large", 100, 5, 5.0, 70)]
)
def test_published_set_ups(level, agents, sections, psi, first):
    """100 agents of 30/70 on 6 sections for a capacity of 7; and 70/30 for a capacity of 5."""
    batch = rlenvs.make_batch(BEACH, 1, level=level)
    batch.seed([0])
    batch.reset()
    assert batch.states["section"].shape[1] == agents
    assert batch.states["count"].shape[1] == sections
    assert batch.states["count"][0].sum(axis=0).tolist() == [first, agents - first]
    assert batch.get_params()["psi"] == psi


@pytest.mark.parametrize("steps", [1, 4])
def test_front_of_the_first_published_set_up(steps):
    """50 agents, 5 sections, psi 3, 35 of one type: 12 points, in one step as with all the time one needs."""
    env, front = front_of_beach(level="small", steps=steps)
    values = env.unwrapped.pareto_front()
    assert len(front) == 12
    np.testing.assert_allclose(values[[0, -1]], [[4.4147, 0.3246], [4.1074, 0.4524]], atol=5e-5)
    assert pareto.hypervolume(values, (0.0, 0.0)) == pytest.approx(1.98006, abs=5e-6)
    setup = env.unwrapped.batch.setup
    assert (setup.agents, setup.sizes["sections"], setup.values.psi, setup.horizon) == (50, 5, 3.0, steps)


@pytest.mark.parametrize("level", ["small", "large"])
def test_joint_policies_attain_the_front(level):
    env, front = front_of_beach(level=level)
    env.reset(seed=0)
    batch = env.unwrapped.batch
    assert sorted(np.unique(batch.states["section"][0]).tolist()) == [1, 3]
    assert np.bincount(batch.states["kind"][0]).tolist() == ([35, 15] if level == "small" else [70, 30])
    for point in front:
        route = pareto.OpenLoopPolicy(beach.joint_policy(*batch.records(0), point))
        np.testing.assert_allclose(pareto.play_policy(env, route).mean, point.value, rtol=1e-12)


@pytest.mark.budget(5)
def test_the_front_of_the_defaults_is_attained_from_any_start():
    env, front = front_of_beach()
    assert len(front) == 30
    batch = env.unwrapped.batch
    for seed in range(3):
        env.reset(seed=seed)
        for point in front[:: 7 + seed]:
            moves = beach.joint_policy(*batch.records(0), point)
            copy = batch.clone(1)
            copy.set_state(batch.get_state(0))
            for actions in moves:
                copy.step(actions[None])
            np.testing.assert_allclose(copy.terms[0, :, 5], point.value, rtol=1e-12)
        for _ in range(5):
            batch.step(batch.expert_actions())
        assert batch.terms[0, :, 0].sum() == pytest.approx(max(point.value.sum() for point in front), rel=1e-12)
    paid_in_the_fifth_step = np.array([point.value for point in front]) * 0.9**4
    np.testing.assert_allclose(env.unwrapped.pareto_front(0.9), paid_in_the_fifth_step, rtol=1e-12)


@settings(max_examples=10, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=2, max_size=4),
    st.integers(1, 3),
    st.floats(0.5, 6.0),
)
@example([(3, 2), *[(0, 0)] * 5], 1, 1.0)  # nobody gets further than the second section
def test_the_dynamic_program_finds_what_all_joint_actions_find(starts, steps, psi):
    starts = np.array(starts)
    if not starts.sum():
        return
    reached = [set(spread(starts[:, kind], steps)) for kind in (0, 1)]
    values = [allocations.team_value(np.column_stack(pair), psi) for pair in itertools.product(*reached)]
    values = np.unique(np.round(values, 9), axis=0)  # sums in another order differ in the last bit
    best = values[pareto.nondominated(values)]
    found = np.array([point.value for point in allocations.exact_front(starts, steps, psi)])
    np.testing.assert_allclose(found, best[np.argsort(-best[:, 0])], atol=2e-9)


def spread(counts, steps):
    """All distributions of people of a type after some steps, by walking."""
    reached = {tuple(counts.tolist())}
    for _ in range(steps):
        reached = {after for before in reached for after in walked(before)}
    return reached


def walked(before):
    people = [j for j, count in enumerate(before) for _ in range(count)]
    for walk in itertools.product((-1, 0, 1), repeat=len(people)):
        places = np.clip(np.add(people, walk), 0, len(before) - 1).astype(int)
        yield tuple(np.bincount(places, minlength=len(before)).tolist())


@pytest.mark.parametrize("keywords", [{"level": "small"}, {"level": "large"}, {"psi": 2.5, "share": 0.5, "agents": 60}])
def test_the_expert_attains_the_best_sum(keywords):
    env, front = front_of_beach(**keywords)
    batch = env.unwrapped.batch
    batch.reset()
    for _ in range(batch.setup.horizon):
        batch.step(batch.expert_actions())
    assert batch.terms[0, :, 0].sum() == pytest.approx(max(point.value.sum() for point in front), rel=1e-12)


def test_what_beach_refuses():
    with pytest.raises(ParameterError, match="shares"):
        rlenvs.make(BEACH, sections=4, starts=[1, 2, 3])
    for keywords, reason in (
        ({"reward": "individual"}, "individual"),
        ({"steps": 1}, "shuffled"),
        ({"agents": 400}, "5,000"),
        ({"horizon": 10}, "one day"),
    ):
        with pytest.raises(ParameterError, match=reason):
            rlenvs.make(BEACH, **keywords).unwrapped.pareto_front()


def test_beach_starts_have_their_shares():
    env = rlenvs.make(BEACH, agents=40, sections=4, starts=(1, 2, 0, 1))
    for seed in range(5):
        env.reset(seed=seed)
        assert np.bincount(env.unwrapped.batch.states["section"][0], minlength=4).tolist() == [10, 20, 0, 10]


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 30), st.integers(2, 6), st.floats(0.0, 1.0), st.floats(0.5, 20.0), st.integers(0, 2**31))
def test_nobody_is_lost_on_the_beach(agents, sections, share, psi, seed):
    batch = rlenvs.make_batch(BEACH, 2, agents=agents, sections=sections, share=share, psi=psi)
    batch.seed([seed, seed + 1])
    batch.reset()
    chooser = np.random.default_rng(seed)
    for _ in range(sections - 1):
        batch.step(chooser.integers(3, size=(2, agents)))
        assert (batch.states["count"].sum(axis=(1, 2)) == agents).all()
    assert (batch.terms[:, 0] <= sections * psi / np.e + 1e-9).all()
    assert (batch.terms[:, 1] <= 0.5).all()


def test_hundreds_of_agents_in_all_forms():
    env = rlenvs.parallel_env(BEACH, agents=400)
    observations, _ = env.reset(seed=0)
    assert len(observations) == 400
    assert observations["agent_0"]["observation"].shape == (6,)
    while env.agents:
        _, rewards, _, _, _ = env.step(env.expert_actions())
    assert len(rewards) == 400
    aec = rlenvs.aec_env(BEACH, agents=200, steps=1)
    aec.reset(seed=0)
    for _ in range(200):
        aec.step(1)
    assert not any(not aec.truncations[agent] for agent in aec.agents)


# --- gem mining -------------------------------------------------------------------------------------------------------


def mines(**keywords):
    env = rlenvs.make(MINES, **keywords)
    env.reset(seed=0)
    return env, env.unwrapped.batch, env.unwrapped.batch.setup.values


def test_the_published_mines():
    """20 villages, n + 3 = 23 mines, 1 to 5 workers, 2 to 4 mines in reach, base probabilities in [0.01, 0.5], which of
    correlated mines sum up to 0.5 at most."""
    workers, reach, least = set(), set(), 1.0
    for instance, correlated in itertools.product(range(20), (False, True)):
        _, batch, values = mines(instance=instance, correlated=correlated)
        made = gem_mining.drawn(values)
        assert batch.setup.sizes["mines"] == len(made["seam"]) == 23
        workers, reach = workers | set(made["workers"].tolist()), reach | set(made["reach"].tolist())
        assert made["seam"].min() >= 0.01
        least = min(least, made["seam"].min())
        assert made["seam"].max() <= 0.5
        assert (made["seam"].sum(axis=1).max() <= 0.5) == correlated
    assert least < 0.011  # of 920 draws
    assert workers == {1, 2, 3, 4, 5}
    assert reach == {2, 3, 4}
    env = rlenvs.parallel_env(MINES)
    assert [env.action_space(agent).n for agent in env.possible_agents] == gem_mining.drawn(mines()[2])[
        "reach"
    ].tolist()


def test_something_is_found_with_the_published_probability():
    """min(0.9, base 1.03^(w - 1)), for several crowds of a mine; 0 without workers."""
    p = mines(growth=1.03)[1].records(0)[0]
    for workers in (1, 2, 5, 20):
        assert gem_mining.chance(p, 3, 1, workers) == pytest.approx(
            float(p.seam[3, 1]) * 1.03 ** (workers - 1), rel=1e-12
        )
    assert gem_mining.chance(p, 3, 1, 0) == 0.0
    p = mines(growth=1.2)[1].records(0)[0]
    richest = int(np.argmax(np.asarray(p.seam)[:, 0]))
    assert gem_mining.chance(p, richest, 0, 20) == 0.9
    batch = rlenvs.make_batch(MINES, 3000)
    batch.seed(0)
    batch.reset()
    actions = np.tile(np.arange(20) % 2, (3000, 1))
    batch.step(actions)
    terms = batch.terms[:, :, 0]
    expected = gem_mining.expected(batch.setup.values, actions[0])
    assert (np.abs(terms.mean(axis=0) - expected) < 4 * terms.std(axis=0) / np.sqrt(3000)).all()
    assert expected.min() > 1.0
    assert (batch.terms == batch.terms[:, :, :1]).all()


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6), st.booleans(), st.floats(1.0, 1.2))
def test_variable_elimination_finds_what_all_joint_choices_find(instance, agents, correlated, growth):
    _, batch, values = mines(instance=instance, agents=agents, correlated=correlated, growth=growth)
    reach = gem_mining.drawn(values)["reach"]
    everything = np.array([gem_mining.expected(values, choices) for choices in itertools.product(*map(range, reach))])
    for convex, keep in ((False, pareto.nondominated), (True, pareto.supported)):
        front = gem_mining.front_of(values, convex)
        found = np.array([point.value for point in front])
        best = everything[keep(everything)]
        np.testing.assert_allclose(found, best[np.lexsort((-best[:, 1], -best[:, 0]))], atol=1e-9)
        for point in front:
            np.testing.assert_allclose(gem_mining.expected(values, point.choices), point.value, rtol=1e-12)
    choices = batch.expert_actions()[0, :, 0]
    assert gem_mining.expected(values, choices).sum() == pytest.approx(everything.sum(axis=1).max(), rel=1e-12)


def test_choices_of_the_front_of_the_mines_attain_it():
    env, _, values = mines()
    front = pareto.pareto_front(env)
    np.testing.assert_array_equal(env.unwrapped.pareto_front(), front.values)
    assert len(front) == 89
    assert front.objectives == ("rubies", "sapphires")
    for value, policy in front:
        np.testing.assert_allclose(gem_mining.expected(values, policy.actions[0]), value, rtol=1e-12)
    for value, policy in [*front][::40]:
        played = pareto.play_policy(env, policy, episodes=2000)
        assert (np.abs(played.mean - value) <= 2 * played.half_width).all()
    corners = pareto.coverage_set(env)
    wanted = np.array([point.value for point in gem_mining.front_of(values, convex=True)])
    np.testing.assert_allclose(corners.values, wanted, rtol=1e-12)


def test_the_expert_of_the_mines_follows_the_weights():
    for weights in ((1.0, 1.0), (1.0, 0.1), (0.1, 1.0)):
        env, batch, values = mines(weights={"rubies": weights[0], "sapphires": weights[1]}, agents=60, correlated=True)
        best = max(point.value @ weights for point in gem_mining.front_of(values, convex=True))
        assert gem_mining.expected(values, batch.expert_actions()[0, :, 0]) @ weights == pytest.approx(best, rel=1e-12)
        env.close()


# --- route choice -----------------------------------------------------------------------------------------------------


def routes(**keywords):
    env = rlenvs.make(ROUTES, **keywords)
    env.reset(seed=0)
    return env.unwrapped.batch


def minutes(batch, player):
    """Average minutes when a player has all slots."""
    batch.reset()
    batch.step(batch.player_actions(player).copy())
    return route_choice.metrics(*batch.records(0))["minutes"]


@pytest.mark.parametrize("agents", [420, 4200])
def test_braess(agents):
    """Braess_1_4200: all take 20 minutes over the bypass, 15 without it, which is the best with it as well."""
    batch = routes(agents=agents)
    p, _ = batch.records(0)
    assert float(p.congestion) * p.slope[0] / agents == pytest.approx(10 / agents)  # 1/420 for each of 4200
    batch.step(np.zeros((1, agents), int))
    assert batch.terms[0, 0] == pytest.approx(-20 / 20)
    assert batch.records(0)[1].minutes[0] == 20.0
    assert minutes(batch, "equilibrium") == 20.0
    assert minutes(batch, "optimum") == 15.0
    assert route_choice.lower_bound(*batch.records(0)) == 15.0
    assert minutes(routes(agents=agents, bypass=False), "equilibrium") == 15.0


@pytest.mark.parametrize("degree", range(1, 8))
def test_braess_networks_of_all_sizes(degree):
    """k + 1 units with bypasses, (k^2 + k + 1) / (k + 1) without: a paradox for every k."""
    agents = 840  # divisible by 1, ..., 8
    batch = routes(degree=degree, agents=agents)
    assert batch.setup.sizes["routes"] == 2 * degree + 1
    assert minutes(batch, "equilibrium") == pytest.approx(10 * (degree + 1))
    without = routes(degree=degree, agents=agents, bypass=False)
    least = 10 * (degree**2 + degree + 1) / (degree + 1)
    assert minutes(without, "equilibrium") == pytest.approx(least, rel=1e-4)
    assert route_choice.lower_bound(*without.records(0)) == pytest.approx(least, rel=5e-3)


NETWORKS = [{"level": "two_pairs"}, {"level": "city"}, {"level": "delta"}, {"level": "severe"}]
NETWORKS += [{"level": "city", "instance": 7, "tolls": "random", "weights": {"toll": 0.5}}]


@pytest.mark.parametrize("keywords", NETWORKS)
def test_nobody_gains_by_another_route_in_equilibrium(keywords):
    batch = routes(**keywords)
    actions = batch.player_actions("equilibrium").copy()
    batch.step(actions)
    paid, choices = batch.rewards[0].copy(), batch.setup.own_choices[:, 0]
    for k in range(0, batch.agents, 37):
        for other in range(choices[k]):
            batch.reset()
            changed = actions.copy()
            changed[0, k] = other
            batch.step(changed)
            assert batch.rewards[0, k] <= paid[k] + 1e-9


@pytest.mark.parametrize("keywords", NETWORKS[:4])
def test_the_optimum_is_near_its_proved_bound(keywords):
    batch = routes(**keywords)
    best = minutes(batch, "optimum")
    bound = route_choice.lower_bound(*batch.records(0))
    assert bound - 1e-9 <= best <= 1.02 * bound
    assert best <= minutes(batch, "equilibrium") + 1e-9


@pytest.mark.parametrize("degree", [1, 2])
def test_the_optimum_of_few_agents_is_that_of_all_assignments(degree):
    batch = routes(degree=degree, agents=6 if degree == 1 else 5)
    best = minutes(batch, "optimum")
    p, s = batch.records(0)
    found = []
    for actions in itertools.combinations_with_replacement(range(2 * degree + 1), batch.agents):
        batch.reset()
        batch.step(np.array([actions]))
        found.append(route_choice.metrics(p, s)["minutes"])
    assert best == pytest.approx(min(found), rel=1e-12)


def test_marginal_tolls_make_the_equilibrium_the_best():
    """Pigou: who pays for the time that it takes from others takes the way that is best for all."""
    batch = routes(weights={"toll": 1.0})
    assert minutes(batch, "equilibrium") == 15.0
    s = batch.records(0)[1]
    assert s.minutes[1] == s.minutes[2] == 15.0
    assert s.paid[1] == s.paid[2] == 5.0
    city = routes(level="city", weights={"toll": 1.0})
    assert minutes(city, "equilibrium") == pytest.approx(minutes(routes(level="city"), "optimum"), rel=2e-3)


def test_random_tolls_are_a_tenth_of_the_roads_and_cost_their_time():
    batch = routes(level="city", tolls="random")
    p, s = batch.records(0)
    assert p.tolled.sum() == np.ceil(0.1 * len(p.tolled)) == 5
    batch.step(batch.player_actions("shortest").copy())
    time = float(p.congestion) * p.slope * s.flow / batch.agents + float(p.free_flow) * p.fixed
    for j in range(len(s.minutes)):
        links = p.link[p.begins[j] : p.begins[j + 1]]
        assert s.paid[j] == pytest.approx(time[links][p.tolled[links] > 0].sum())
        assert s.minutes[j] == pytest.approx(time[links].sum())


def test_equilibria_follow_the_parameters():
    """Where roads are fast however many use them, the bypass does no harm; parameters of their own for each world."""
    batch = rlenvs.make_batch(ROUTES, 2, agents=100, congestion=[10.0, 4.0])
    batch.seed(0)
    batch.reset()
    batch.step(batch.player_actions("equilibrium").copy())
    assert [route_choice.metrics(*batch.records(i))["minutes"] for i in (0, 1)] == [20.0, 8.0]
    batch.set_params({"congestion": [4.0, 10.0]})
    batch.reset()
    batch.step(batch.player_actions("equilibrium").copy())
    assert [route_choice.metrics(*batch.records(i))["minutes"] for i in (0, 1)] == [8.0, 20.0]


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(["grid", "series_parallel"]), st.integers(2, 6), st.integers(0, 10**6), st.integers(2, 9))
def test_random_networks_have_shortest_routes(kind, size, instance, count):
    pairs = 2 if kind == "grid" else 1
    made = networks.grid if kind == "grid" else networks.series_parallel
    network = made(size, *([pairs] if kind == "grid" else []), count, instance)
    for (origin, end), ways in zip(network.pairs, network.routes, strict=True):
        assert 2 <= len(ways) <= count
        assert len(set(ways)) == len(ways)
        lengths = []
        for way in ways:
            nodes = [origin, *(network.links[i].head for i in way)]
            assert [network.links[i].tail for i in way] == nodes[:-1]
            assert nodes[-1] == end
            assert len(set(nodes)) == len(nodes)
            lengths.append(sum(network.links[i].fixed for i in way))
        assert lengths == sorted(lengths)
        if size == 2 or (kind == "series_parallel" and size == 3):
            everything = sorted(all_routes(network.links, origin, end))
            np.testing.assert_allclose(lengths, everything[: len(lengths)])
            assert len(lengths) == min(count, len(everything))


def all_routes(links, origin, end, seen=()):
    """Lengths of all routes without a node twice."""
    if origin == end:
        yield 0.0
        return
    for link in links:
        if link.tail == origin and link.head not in seen:
            yield from (link.fixed + rest for rest in all_routes(links, link.head, end, (*seen, origin)))


def test_what_route_choice_refuses():
    for keywords in ({"pairs": 3}, {"network": "series_parallel", "pairs": 2}):
        with pytest.raises(ParameterError, match="pairs"):
            rlenvs.make(ROUTES, **keywords)


def test_thousands_of_drivers_in_the_parallel_form():
    env = rlenvs.parallel_env(ROUTES, level="full")
    env.reset(seed=0)
    _, rewards, terminations, truncations, _ = env.step(env.expert_actions())
    assert len(rewards) == 4200
    assert all(terminations.values())
    assert not any(truncations.values())
    assert np.mean(list(rewards.values())) == pytest.approx(-0.75)
