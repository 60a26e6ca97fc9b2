"""Swarms: the limit of many agents and its known numbers, steps computed again, neighbors, observations, refusals."""

import math
import sys

import numpy as np
import pytest
from support.batches import begun

import rlenvs
from rlenvs.core.declare.errors import MissingExtraError, ParameterError
from rlenvs.multi.swarm import mean_field

AGGREGATION, KURAMOTO, VICSEK, SIS = "SwarmAggregation-v0", "SwarmKuramoto-v0", "SwarmVicsek-v0", "SwarmSIS-v0"
ALL = (AGGREGATION, KURAMOTO, VICSEK, SIS)


def course(batch, steps, player=None):
    """The terms of all steps (steps, worlds, terms, agents), by a scripted player or without doing anything."""
    idle, rows = np.zeros_like(batch.actions), []
    for _ in range(steps):
        batch.step(idle if player is None else batch.player_actions([player] * batch.agents).copy())
        rows.append(batch.terms.copy())
    return np.array(rows)


def order_of(angles):
    return abs(np.exp(1j * angles).mean(axis=-1))


def agreement_of(angles):
    return np.cos(angles - np.angle(np.exp(1j * angles).mean()))


def seen_gap(id, here, there, side):
    """Distances between points, on a torus except in aggregation."""
    gap = there - here
    if id != AGGREGATION:
        gap = gap - side * np.round(gap / side)
    return np.sqrt((gap**2).sum(axis=-1))


# --- known numbers ----------------------------------------------------------------------------------------------------


def test_kuramoto_synchronizes_above_the_critical_coupling():
    """2 / (pi g(0)), with a normal density of the frequencies."""
    critical = mean_field.critical_coupling(1.0)
    density = 1.0 / math.sqrt(2.0 * math.pi)
    assert critical == pytest.approx(2.0 / (math.pi * density))
    couplings = critical * np.array([0.5, 0.8, 1.3, 2.0])
    batch = begun(KURAMOTO, 4, agents=1000, horizon=600, noise=0.0, coupling=couplings)
    orders = course(batch, 500)[-200:, :, 0, 0].mean(axis=0)
    expected = [mean_field.kuramoto_order(coupling, 1.0) for coupling in couplings]
    assert expected[:2] == [0.0, 0.0]
    assert (orders[:2] < 0.15).all(), orders
    np.testing.assert_allclose(orders[2:], expected[2:], atol=0.06)


@pytest.mark.parametrize("spread", [0.5, 2.0])
def test_the_critical_coupling_grows_with_the_spread_of_frequencies(spread):
    couplings = mean_field.critical_coupling(spread) * np.array([0.7, 1.6])
    batch = begun(KURAMOTO, 2, agents=1000, horizon=600, noise=0.0, frequency_spread=spread, coupling=couplings)
    below, above = course(batch, 400)[-150:, :, 0, 0].mean(axis=0)
    assert below < 0.2
    assert above == pytest.approx(mean_field.kuramoto_order(1.6 * mean_field.critical_coupling(1.0), 1.0), abs=0.07)


def test_an_epidemic_settles_at_one_minus_recovery_over_infection():
    infection, recovery = np.array([0.6, 1.0, 0.5, 0.2]), np.array([0.2, 0.2, 0.4, 0.3])
    batch = begun(SIS, 4, agents=1000, horizon=700, infection=infection, recovery=recovery)
    levels = course(batch, 700)[-400:, :, 2, 0].mean(axis=0)
    expected = [mean_field.endemic_level(i, r) for i, r in zip(infection, recovery, strict=True)]
    np.testing.assert_allclose(expected, [2 / 3, 0.8, 0.2, 0.0])
    np.testing.assert_allclose(levels, expected, atol=0.03)
    assert levels[-1] == 0.0


def test_the_order_of_a_flock_falls_with_noise():
    noise = np.array([0.0, 1.0, 2.0, 4.0, 6.0])
    batch = begun(VICSEK, 5, agents=1000, noise=noise, max_turn=math.pi)
    orders = course(batch, 60, "mean")[-30:, :, 0, 0].mean(axis=0)
    expected = [mean_field.vicsek_order(width) for width in noise]
    np.testing.assert_allclose(expected[1:], np.sin(noise[1:] / 2) / (noise[1:] / 2))
    np.testing.assert_allclose(orders[:4], expected[:4], atol=0.03)  # at 6 the mean direction itself is lost
    local = begun(VICSEK, 5, agents=200, noise=noise, max_turn=math.pi, speed=0.03)
    falling = course(local, 90, "vicsek")[-20:, :, 0, 0].mean(axis=0)
    for found in (orders, falling):
        assert (np.diff(found) < 0).all(), found
    assert falling[0] > 0.9
    assert falling[-1] < 0.3


@pytest.mark.parametrize("player", ["mean", "neighbors"])
def test_a_swarm_that_gathers_shrinks(player):
    batch = begun(AGGREGATION, 4, agents=100, radius=1.0)
    distances = -course(batch, 60, player)[:, :, 0, 0]
    assert (distances[-1] < 0.95 * distances[0]).all()  # of neighbors, to several places
    if player == "mean":
        assert (np.diff(distances[:6], axis=0) < 0).all()
        assert (distances[-1] < 0.1).all()


# --- the limit of many agents -----------------------------------------------------------------------------------------

STEPS = 40
LIMITS = {
    AGGREGATION: (
        {"dimensions": 1, "noise": 0.1},
        "mean",
        lambda: -mean_field.aggregation(STEPS, 4.0, 0.2, 0.1)[1:],
    ),
    KURAMOTO: (
        {"coupling": 2.5, "noise": 0.0, "arc": 3.0, "time_step": 0.02},
        None,
        lambda: mean_field.kuramoto(np.arange(STEPS + 1) * 0.02, 2.5, 1.0, 3.0)[1:],
    ),
    VICSEK: (
        {"noise": 2.0, "max_turn": 0.3, "arc": 4.0},
        "mean",
        lambda: mean_field.vicsek(STEPS, 2.0, 0.3, 4.0)[1:],
    ),
    SIS: ({}, None, lambda: -mean_field.sis(STEPS, 0.6, 0.2, 0.5, 0.3)[1:]),
}


@pytest.mark.parametrize("id", ALL)
@pytest.mark.budget(6)
def test_returns_approach_the_limit_as_one_over_the_root_of_the_number(id):
    keywords, player, limit = LIMITS[id]
    target, sizes, errors, biases = limit().sum(), [40, 160, 640], [], []
    for agents in sizes:
        batch = begun(id, 60, agents=agents, **keywords)
        returns = course(batch, STEPS, player)[:, :, 0].mean(axis=2).sum(axis=0)
        errors.append(math.sqrt(((returns - target) ** 2).mean()))
        biases.append(abs(returns.mean() - target))
    scaled = np.array(errors) * np.sqrt(sizes)
    assert scaled.max() < 2.0 * scaled.min(), scaled  # without the root it would differ by a factor of 4
    assert biases[-1] < 0.01 * STEPS, biases


def test_the_limit_agrees_with_itself():
    """Recursions with flows where steps are short, courses with where they settle."""
    times = np.linspace(0.0, 20.0, 5)
    steps = mean_field.sis(20_000, 0.6, 0.2, 0.001, 0.3)[::5000]
    np.testing.assert_allclose(steps, mean_field.sis_flow(times, 0.6, 0.2, 0.3), atol=1e-4)
    assert mean_field.sis_flow(times, 0.6, 0.2, 0.3, protected=1.0)[-1] == pytest.approx(0.3 * math.exp(-4.0), rel=1e-4)
    settled = mean_field.kuramoto(np.array([0.0, 20.0]), 3.0, 1.0, 3.0)
    assert settled[0] == pytest.approx(np.sinc(1.5 / math.pi), abs=1e-3)
    assert settled[1] == pytest.approx(mean_field.kuramoto_order(3.0, 1.0), abs=0.01)
    assert mean_field.vicsek(40, 2.0, math.pi, 3.0)[-1] == pytest.approx(mean_field.vicsek_order(2.0), abs=1e-3)
    assert mean_field.aggregation(1, 4.0, 0.2, 0.05)[0] == pytest.approx(1.0, abs=1e-3)  # uniform in [-2, 2]


@pytest.mark.parametrize(("coupling", "spread"), [(20.0, 0.001), (20.0, 0.1), (3.0, 0.05), (3.0, 1.0), (1.7, 1.0)])
def test_the_order_of_oscillators_solves_its_equation(coupling, spread):
    """Also where few of the phases matter: it once said 0.2 for hardly different frequencies and a strong coupling."""
    order = mean_field.kuramoto_order(coupling, spread)
    width = min(10.0 * spread / (coupling * order), 1.0)  # the density is nothing beyond
    sines = (np.arange(200_000) + 0.5) / 200_000 * width
    density = np.exp(-0.5 * (coupling * order * sines / spread) ** 2) / (spread * math.sqrt(2.0 * math.pi))
    integral = 2.0 * width * np.mean(np.sqrt(1.0 - sines**2) * density)  # cos^2(x) dx = cos(x) d sin(x)
    assert coupling * integral == pytest.approx(1.0, abs=1e-5)


def test_the_limit_at_the_ends_of_its_ranges():
    assert mean_field.kuramoto_order(1.0, 0.0) == 1.0
    assert mean_field.kuramoto_order(0.0, 0.0) == 0.0
    assert mean_field.kuramoto_order(20.0, 1e-9) == pytest.approx(1.0)
    later = mean_field.sis_flow(np.array([0.0, 5.0, 10.0]), 0.6, 0.2, 0.3)
    np.testing.assert_allclose(mean_field.sis_flow(np.array([5.0, 10.0]), 0.6, 0.2, 0.3), later[1:], rtol=1e-5)
    assert mean_field.sis_flow(np.array([0.0]), 0.6, 0.2, 0.3).tolist() == [0.3]
    assert mean_field.kuramoto(np.array([20.0]), 3.0, 1.0, 3.0)[0] == pytest.approx(
        mean_field.kuramoto_order(3.0, 1.0), abs=0.01
    )


def test_without_scipy_the_limit_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.integrate", None)
    with pytest.raises(MissingExtraError, match="exact"):
        mean_field.sis_flow(np.array([0.0, 1.0]), 0.6, 0.2, 0.3)


# --- steps computed again ---------------------------------------------------------------------------------------------


def test_a_step_of_aggregation():
    batch = begun(AGGREGATION, 1, agents=30, noise=0.0, max_speed=0.7)
    before, actions = batch.states["position"][0].copy(), np.random.default_rng(0).uniform(-1, 1, (1, 30, 2))
    batch.step(actions)
    length = np.linalg.norm(actions[0], axis=1, keepdims=True)
    moved = np.clip(before + 0.7 * actions[0] / np.maximum(length, 1.0), -2.0, 2.0)
    np.testing.assert_allclose(batch.states["position"][0], moved, rtol=1e-6)
    off = np.linalg.norm(moved - moved.mean(axis=0), axis=1)
    np.testing.assert_allclose(batch.terms[0, 0], -off.mean(), rtol=1e-6)
    np.testing.assert_allclose(batch.terms[0, 1], -off, rtol=1e-6)
    np.testing.assert_allclose(batch.terms[0, 2], -(off**2).mean(), rtol=1e-6)
    np.testing.assert_allclose(batch.terms[0, 3], -0.7 * np.minimum(length[:, 0], 1.0), rtol=1e-6)
    np.testing.assert_allclose(batch.rewards[0], batch.terms[0, 0] + 0.1 * batch.terms[0, 3], rtol=1e-6)


@pytest.mark.parametrize("contacts", ["all", "radius"])
def test_a_step_of_kuramoto(contacts):
    batch = begun(KURAMOTO, 1, agents=60, noise=0.0, contacts=contacts, coupling=2.0, radius=0.15, max_push=0.5)
    phases, rates = batch.states["angle"][0].copy(), batch.states["frequency"][0].copy()
    places, actions = batch.states["position"][0].copy(), np.random.default_rng(0).uniform(-1, 1, (1, 60, 1))
    near = seen_gap(KURAMOTO, places[:, None], places[None], 1.0) <= 0.15
    linked = near if contacts == "radius" else np.ones((60, 60), bool)
    assert contacts == "all" or 1.5 < linked.sum(axis=1).mean() < 20
    pull = (linked * np.sin(phases[None] - phases[:, None])).sum(axis=1) / linked.sum(axis=1)
    batch.step(actions)
    wanted = phases + 0.1 * (rates + 0.5 * actions[0, :, 0] + 2.0 * pull)
    np.testing.assert_allclose(np.exp(1j * batch.states["angle"][0]), np.exp(1j * wanted), atol=1e-7)
    assert (abs(batch.states["angle"]) <= math.pi).all()
    np.testing.assert_allclose(batch.terms[0, 0], order_of(wanted), rtol=1e-6)
    np.testing.assert_allclose(batch.terms[0, 1], agreement_of(wanted), atol=1e-6)
    np.testing.assert_allclose(batch.terms[0, 2], -((0.5 * actions[0, :, 0]) ** 2), rtol=1e-6)


def test_the_noise_of_kuramoto_grows_with_the_root_of_time():
    for time_step in (0.05, 0.2):
        batch = begun(KURAMOTO, 1, agents=1000, noise=0.5, coupling=0.0, frequency_spread=0.0, time_step=time_step)
        before = batch.states["angle"][0].copy()
        course(batch, 10)
        moved = np.angle(np.exp(1j * (batch.states["angle"][0] - before)))
        assert moved.std() == pytest.approx(0.5 * math.sqrt(10 * time_step), rel=0.1)


@pytest.mark.parametrize("task", ["align", "target", "rotating", "opposite"])
def test_a_step_of_a_flock(task):
    batch = begun(VICSEK, 1, agents=9, noise=0.0, task=task, side=2.0, speed=0.3, max_turn=0.4, rotation=0.1)
    places, headings = batch.states["position"][0].copy(), batch.states["angle"][0].copy()
    target = float(batch.states["target"][0])
    actions = np.random.default_rng(0).uniform(-1, 1, (1, 9, 1))
    batch.step(actions)
    flown = np.stack([np.cos(headings), np.sin(headings)], axis=1)
    np.testing.assert_allclose(batch.states["position"][0], (places + 0.3 * flown) % 2.0, atol=1e-12)
    turned = headings + 0.4 * actions[0, :, 0]
    np.testing.assert_allclose(np.exp(1j * batch.states["angle"][0]), np.exp(1j * turned), atol=1e-7)
    aims = target + 0.1 * (task == "rotating") + math.pi * (np.arange(9) % 2) * (task == "opposite")
    paid = np.zeros(9) if task == "align" else np.cos(turned - aims)
    np.testing.assert_allclose(batch.terms[0, 0], order_of(turned), atol=1e-7)
    np.testing.assert_allclose(batch.terms[0, 1], agreement_of(turned), atol=1e-6)
    np.testing.assert_allclose(batch.terms[0, 2], paid, atol=1e-7)
    np.testing.assert_allclose(batch.terms[0, 3], -abs(0.4 * actions[0, :, 0]), rtol=1e-6)
    earned = batch.terms[0, 0] if task == "align" else batch.terms[0, 2]
    np.testing.assert_allclose(batch.rewards[0], earned + 0.05 * batch.terms[0, 3], rtol=1e-6)


def test_the_noise_of_a_flock_is_uniform():
    batch = begun(VICSEK, 1, agents=1000, noise=1.0, speed=0.0)
    before = batch.states["angle"][0].copy()
    course(batch, 1)
    moved = np.angle(np.exp(1j * (batch.states["angle"][0] - before)))
    assert abs(moved).max() <= 0.5
    assert moved.std() == pytest.approx(1.0 / math.sqrt(12.0), rel=0.1)


@pytest.mark.parametrize("contacts", ["all", "radius"])
def test_frequencies_of_an_epidemic(contacts):
    """Infections and recoveries of one step, over many worlds from one state."""
    worlds, agents = 2000, 12
    batch = begun(SIS, worlds, agents=agents, contacts=contacts, infection=1.2, recovery=0.4, radius=0.3)
    batch.states["position"][:] = batch.states["position"][0]
    infected = np.arange(agents) % 3 == 0
    batch.states["infected"][:] = infected
    protected = np.arange(agents) % 2 == 1
    batch.step(np.tile(protected.astype(int), (worlds, 1)))
    places = batch.states["position"][0]
    near = seen_gap(SIS, places[:, None], places[None], 1.0) <= (0.3 if contacts == "radius" else 10.0)
    share = (near * infected).sum(axis=1) / near.sum(axis=1)
    expected = np.where(infected, 1.0 - 0.4 * 0.5, np.where(protected, 0.0, 1.2 * share * 0.5))
    found = np.asarray(batch.states["infected"]).mean(axis=0)
    assert (abs(found - expected) <= 4.5 * np.sqrt(expected * (1 - expected) / worlds) + 1e-12).all()
    after = np.asarray(batch.states["infected"])
    np.testing.assert_array_equal(batch.terms[:, 0], -after)
    np.testing.assert_array_equal(batch.terms[:, 1], np.tile(-protected.astype(float), (worlds, 1)))
    np.testing.assert_allclose(batch.terms[:, 2], np.tile(after.mean(axis=1, keepdims=True), agents), rtol=1e-6)
    np.testing.assert_allclose(batch.rewards, batch.terms[:, 0] + 0.5 * batch.terms[:, 1])


# --- what agents observe ----------------------------------------------------------------------------------------------


def bins_of(batch, id, k=None, radius=None):
    """The bin of every agent, for agent k where they are relative to it."""
    values, states = batch.setup.values, batch.states
    if id == SIS:
        return np.asarray(states["infected"][0]).astype(int)
    if id in (KURAMOTO, VICSEK):
        return np.floor((states["angle"][0] / (2 * math.pi) + 0.5) * values.bins).astype(int)
    half = 0.5 * values.side if radius is None else radius
    offset = states["position"][0] - (0.0 if radius is None else states["position"][0, k])
    index = np.clip(np.floor((offset / half + 1.0) * 0.5 * values.bins), 0, values.bins - 1).astype(int)
    return index @ values.bins ** np.arange(index.shape[1])


@pytest.mark.parametrize("id", ALL)
@pytest.mark.parametrize(
    ("agents", "part", "more"),
    [(2, 0.1, {}), (40, 0.02, {}), (40, 0.13, {}), (200, 0.07, {}), (40, 0.33, {}), (40, 0.5, {})],
)
def test_histograms_of_neighbors(id, agents, part, more):
    """The neighbors are those whom a search over all pairs finds."""
    side = 3.0
    batch = begun(id, 1, agents=agents, observation="radius", side=side, radius=part * side)
    course(batch, 3)
    places = batch.states["position"][0]
    near = seen_gap(id, places[:, None], places[None], side) <= part * side
    own = batch.observations.shape[-1] - 1
    for k in range(agents):
        bins = bins_of(batch, id, k, part * side)[near[k]]
        count = len(batch.observations[0, k]) - 1
        shown = batch.observations[0, k]
        size = {AGGREGATION: 16, KURAMOTO: 8, VICSEK: 8, SIS: 2}[id]
        np.testing.assert_allclose(shown[own - size : count], np.bincount(bins, minlength=size) / near[k].sum())
        assert shown[-1] == pytest.approx(near[k].mean())


def test_neighbors_on_a_line():
    batch = begun(AGGREGATION, 1, agents=300, dimensions=1, bins=6, observation="radius", radius=0.1)
    places = batch.states["position"][0]
    near = abs(places[:, 0][:, None] - places[:, 0]) <= 0.1
    np.testing.assert_allclose(batch.observations[0, :, -1], near.mean(axis=1), rtol=1e-6)
    assert batch.observations.shape == (1, 300, 1 + 6 + 1)


@pytest.mark.parametrize(
    ("id", "player"),
    [(AGGREGATION, "neighbors"), (KURAMOTO, "neighbors"), (VICSEK, "vicsek"), (SIS, "cautious")],
)
@pytest.mark.parametrize("changed", [{"radius": 0.2}, {"side": 30.0}])
def test_players_look_for_neighbors_by_parameters_that_have_just_changed(id, player, changed):
    """As they do where the same state is observed with these parameters. The lists of neighbors were once those of the
    parameters before: agents were counted several times, beyond the end of the array, or not at all."""
    batch = begun(id, 1, agents=40, observation="radius", side=3.0, radius=1.0)
    batch.set_params({"radius": 1.5})
    course(batch, 20, player)
    batch.set_params(changed)
    found = batch.player_actions(player).copy()
    again = begun(id, 1, agents=40, observation="radius")
    again.set_state(batch.get_state())
    np.testing.assert_array_equal(found, again.player_actions(player))


@pytest.mark.parametrize("id", ALL)
def test_the_histogram_of_all(id):
    batch = begun(id, 1, agents=50)
    course(batch, 2)
    size = {AGGREGATION: 16, KURAMOTO: 8, VICSEK: 8, SIS: 2}[id]
    shares = np.bincount(bins_of(batch, id), minlength=size) / 50
    np.testing.assert_allclose(batch.observations[0, :, -size:], np.tile(shares, (50, 1)), rtol=1e-6)
    alone = begun(id, 1, agents=50, observation="own")
    assert alone.observations.shape[-1] == batch.observations.shape[-1] - size


@pytest.mark.parametrize("id", ALL)
def test_agents_are_exchangeable(id):
    """Another order of the agents and their actions gives the same, in this order."""
    keywords = {"observation": "radius", "agents": 20}
    if id != SIS:
        keywords["noise"] = 0.0
    if id in (KURAMOTO, SIS):
        keywords["contacts"] = "radius"
    if id == SIS:
        keywords |= {"infection": 0.0, "recovery": 0.0}
    first, second = begun(id, 1, **keywords), begun(id, 1, **keywords)
    order = np.random.default_rng(0).permutation(20)
    for name in ("position", "angle", "frequency", "infected"):
        if name in first.states.dtype.names:
            second.states[name][0] = first.states[name][0][order]
    actions = np.random.default_rng(1).uniform(-1, 1, first.actions.shape)
    actions = actions if first.actions.dtype.kind == "f" else (actions > 0).astype(int)
    first.step(actions)
    second.step(actions[:, order])
    np.testing.assert_allclose(second.observations[0], first.observations[0, order], atol=1e-6)
    np.testing.assert_allclose(second.rewards[0], first.rewards[0, order], rtol=1e-6)


@pytest.mark.parametrize("id", ALL)
def test_noise_of_observations(id):
    """Of the given size, the same for the same state, different for agents and steps."""
    exact = begun(id, 1, agents=1000)
    size = {AGGREGATION: 16, KURAMOTO: 8, VICSEK: 8, SIS: 2}[id]
    amount = 0.2
    noisy = begun(id, 1, agents=1000, own_noise=amount, histogram_noise=0.01)
    for name in ("position", "angle", "frequency", "infected"):
        if name in exact.states.dtype.names:
            noisy.states[name] = exact.states[name]
    off = noisy.observations[0].astype(float) - exact.observations[0]
    inside = exact.observations[0, :, -size:] > 0.05
    assert off[:, -size:][inside].std() == pytest.approx(0.01, rel=0.1)
    if id == SIS:
        assert abs(off[:, 0]).mean() == pytest.approx(amount, abs=0.04)
    elif id == AGGREGATION:
        inside = abs(exact.observations[0, :, 0]) < 0.6
        assert off[inside, 0].std() == pytest.approx(amount / 2.0, rel=0.15)
    else:
        first = 0 if id == KURAMOTO else 2
        angles = [np.arctan2(o[0, :, first + 1], o[0, :, first]) for o in (exact.observations, noisy.observations)]
        assert np.angle(np.exp(1j * (angles[1] - angles[0]))).std() == pytest.approx(amount, rel=0.1)
    snapshot, shown = noisy.get_state(0), noisy.observations.copy()
    course(noisy, 1)
    assert (noisy.observations != shown).any()
    noisy.set_state(snapshot)
    np.testing.assert_array_equal(noisy.observations, shown)


# --- players, forms, refusals -----------------------------------------------------------------------------------------


def test_players_of_an_epidemic():
    """Protection pays from a share of infected agents of protection * recovery / infection on: 1/6."""
    batch = begun(SIS, 3, agents=60)
    batch.states["infected"][:] = 0
    for world, count in enumerate((0, 9, 11)):
        batch.states["infected"][world, :count] = 1
    for name, expected in (("never", (0, 0, 0)), ("threshold", (0, 0, 1)), ("cautious", (0, 1, 1))):
        actions = batch.player_actions([name] * 60).reshape(3, 60)
        assert actions[:, 59].tolist() == list(expected)
        assert (actions[2, :11] == 0).all()
    batch = begun(SIS, 1, agents=60, weights={"protection": 0.6})
    batch.states["infected"][:] = np.arange(60) < 11
    assert batch.player_actions(["threshold"] * 60).reshape(60)[59] == 0  # from 1/5 on


@pytest.mark.parametrize("task", ["target", "rotating", "opposite"])
def test_targets_of_a_flock_are_reached(task):
    batch = begun(VICSEK, 2, task=task, noise=0.1)
    assert course(batch, 60, "mean")[-1, :, 2].min() > 0.95


@pytest.mark.parametrize("id", ALL)
def test_order_parameters_are_in_info(id):
    env = rlenvs.parallel_env(id, agents=4, horizon=3)
    env.reset(seed=0)
    assert len(env.agents) == 4
    name = {AGGREGATION: "spread", KURAMOTO: "order", VICSEK: "alignment", SIS: "prevalence"}[id]
    while env.agents:
        infos = env.step(env.expert_actions())[-1]
    assert len({float(info[f"reward_{name}"]) for info in infos.values()}) == 1


@pytest.mark.parametrize(("id", "own"), [(AGGREGATION, 1), (KURAMOTO, 1), (VICSEK, 1)])
def test_the_order_is_the_mean_of_what_agents_have_a_share_in(id, own):
    terms = course(begun(id, 3), 5)
    np.testing.assert_allclose(terms[:, :, own].mean(axis=2), terms[:, :, 0, 0], atol=1e-6)


@pytest.mark.parametrize("id", ALL)
@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        ({"agents": 0}, r"agents=0 must be an integer in \[2, 1000\]"),
        ({"agents": 1}, r"agents=1 must be an integer in \[2, 1000\]"),
        ({"agents": 1001}, r"agents=1001 must be an integer in \[2, 1000\]"),
        ({"radius": 0.0}, "radius"),
        ({"radius": -0.1}, "radius"),
        ({"radius": 0.6, "side": 1.0}, "radius=0.6, side=1 violate a constraint: radius must not exceed half the side"),
        ({"observation": "all"}, "observation='all' is not one of 'global', 'radius', 'own'"),
    ],
)
def test_refusals(id, keywords, said):
    with pytest.raises(ParameterError, match=said):
        rlenvs.make_batch(id, 1, **keywords)


@pytest.mark.parametrize(("id", "most"), [(AGGREGATION, 16), (KURAMOTO, 64), (VICSEK, 64)])
def test_bins_that_make_no_sense_are_refused(id, most):
    for bins in (1, most + 1):
        with pytest.raises(ParameterError, match=rf"bins={bins} must be an integer in \[2, {most}\]"):
            rlenvs.make_batch(id, 1, bins=bins)
