"""The random numbers of sensors, and every model of their errors: moments, rates, correlations."""

from statistics import NormalDist

import numpy as np
import pytest
from support.sensors import Still, readings, starts

from rlenvs.core.compiler.loops import compiled
from rlenvs.wrappers import randomness
from rlenvs.wrappers.forms import wrap
from rlenvs.wrappers.randomness import add_normals, bits_at, mix_all, normal_of
from rlenvs.wrappers.sensors import Sensor

# --- random numbers ---------------------------------------------------------------------------------------------------


@compiled()
def normals(bits, out):
    for i in range(bits.size):
        out[i] = normal_of(bits[i])


def test_normal_of_is_the_inverse_of_the_distribution_function_in_the_middle_and_in_the_tail():
    sizes = np.unique(np.r_[0:200, np.geomspace(200, 2**31 - 1, 20_000).astype(np.uint64)]).astype(np.uint64)
    z = np.zeros(sizes.size)
    normals(sizes, z)
    exact = np.array([-NormalDist().inv_cdf((size + 0.5) / 2.0**32) for size in sizes.astype(float)])
    assert np.abs(z - exact).max() < 1e-5
    mirrored = np.zeros(sizes.size)
    normals(sizes | np.uint64(1 << 31), mirrored)
    np.testing.assert_array_equal(mirrored, -z)


def test_normals_have_the_normal_distribution():
    words = mix_all(np.arange(2_000_000, dtype=np.uint64) * np.uint64(randomness.GOLDEN))
    z = np.zeros(words.size)
    normals(words, z)
    z.sort()
    distribution = np.array([NormalDist().cdf(value) for value in z[::40]])
    steps = (np.arange(z.size) + 0.5)[::40] / z.size
    assert np.sqrt(z.size) * np.abs(distribution - steps).max() < 1.36  # Kolmogorov and Smirnov, 5 %
    assert [np.mean(z), np.var(z), np.mean(z**3), np.mean(z**4)] == pytest.approx([0, 1, 0, 3], abs=0.01)


@compiled()
def put_normals(begin, out):
    add_normals(begin, np.uint64(7), np.ones(3), out)


def test_numbers_of_a_step_are_two_from_each_place_and_independent():
    begin = mix_all(np.arange(100_000, dtype=np.uint64))
    out = np.zeros((3, begin.size))
    put_normals(begin, out)
    half = np.zeros(begin.size)
    words = mix_all(begin + np.full(begin.size, randomness.GOLDEN) * np.uint64(7))
    normals(words, half)
    np.testing.assert_allclose(out[0], half, rtol=1e-6)
    normals(words >> np.uint64(32), half)
    np.testing.assert_allclose(out[1], half, rtol=1e-6)
    assert np.abs(np.corrcoef(out) - np.eye(3)).max() < 4 / np.sqrt(begin.size)


@compiled()
def words_of(key, times, places):
    return [bits_at(key, np.uint64(t), np.uint64(p)) for t in range(times) for p in range(places)]


def test_numbers_of_different_steps_places_and_keys_differ():
    words = [word for key in (1, 2, 3) for word in words_of(np.uint64(key), 40, 40)]
    assert len(set(words)) == 4800


# --- every model: moments, rates, correlations ------------------------------------------------------------------------


def test_noise_has_its_standard_deviation_and_is_white():
    x = readings(Sensor(noise=0.3), 1000)  # 200,000 samples
    assert x.std() == pytest.approx(0.3, rel=0.02)
    assert abs(x.mean()) < 0.005
    assert abs((x[1:] * x[:-1]).mean()) < 0.01 * 0.09
    assert abs((x[:, 1:] * x[:, :-1]).mean()) < 0.01 * 0.09


def test_noise_of_each_channel():
    x = readings(Sensor(noise=[0.0, 0.1, 0.2]), 50_000, size=3)
    assert x.std(axis=0) == pytest.approx([0.0, 0.1, 0.2], rel=0.02)
    assert not x[:, 0].any()


def test_noise_density_follows_the_time_between_samples():
    assert readings(Sensor(density=0.1), 1000).std() == pytest.approx(0.1 * np.sqrt(10), rel=0.02)
    assert readings(Sensor(density=0.1, every=4), 1000).std() == pytest.approx(0.1 * np.sqrt(2.5), rel=0.02)
    assert readings(Sensor(density=0.1, dt=1.0), 1000).std() == pytest.approx(0.1, rel=0.02)
    both = readings(Sensor(density=0.1, noise=0.3, dt=1.0), 1000)
    assert both.std() == pytest.approx(np.hypot(0.1, 0.3), rel=0.02)


def test_uniform_noise():
    x = readings(Sensor(uniform=0.5), 1000)
    assert np.abs(x).max() <= 0.5
    assert x.std() == pytest.approx(0.5 / np.sqrt(3), rel=0.02)
    assert abs(x.mean()) < 0.005


def test_bias_lasts_for_an_episode_and_is_drawn_anew():
    x = readings(Sensor(bias=0.2), 5)
    assert (x == x[0]).all()
    first = starts(Sensor(bias=0.2))
    assert first.std() == pytest.approx(0.2, rel=0.02)
    assert abs(np.corrcoef(first[0], first[1])[0, 1]) < 0.05


def test_scale_is_an_error_of_the_factor_about_zero():
    x = readings(Sensor(scale=0.1), 4, size=20_000, pace=2.0)
    assert not x[0].any()  # zero stays zero
    factor = x[1] / 2.0 - 1.0
    assert factor.std() == pytest.approx(0.1, rel=0.02)
    np.testing.assert_allclose(x[4], 8.0 * (1.0 + factor))


def test_walk_spreads_with_the_square_root_of_time():
    x = readings(Sensor(walk=0.3), 400, size=5000)
    assert not x[0].any()
    for step in (10, 100, 400):
        assert x[step].std() == pytest.approx(0.3 * np.sqrt(step / 10.0), rel=0.03)
    increments = np.diff(x, axis=0)
    assert abs((increments[1:] * increments[:-1]).mean()) < 0.01 * increments.var()


def test_drift_is_stationary_with_its_correlation_time():
    x = readings(Sensor(drift=0.4, drift_time=2.0), 300, size=2000)
    assert x[0].std() == pytest.approx(0.4, rel=0.05)
    assert x.std() == pytest.approx(0.4, rel=0.02)
    for lag in (1, 10, 20):
        correlation = (x[lag:] * x[:-lag]).mean() / x.var()
        assert correlation == pytest.approx(np.exp(-lag * 0.1 / 2.0), abs=0.02)


def test_drift_and_walk_do_not_depend_on_the_rate_of_samples():
    x = readings(Sensor(drift=0.4, drift_time=2.0, every=5), 300, size=2000)
    assert (x[20:] * x[:-20]).mean() / x.var() == pytest.approx(np.exp(-1.0), abs=0.03)
    x = readings(Sensor(walk=0.3, every=5), 400, size=5000)
    assert x[400].std() == pytest.approx(0.3 * np.sqrt(40.0), rel=0.03)


def test_outliers_come_at_their_rate_with_their_size():
    x = readings(Sensor(outliers=0.02, outlier_size=3.0, each=True), 1000)
    spikes = x[x != 0.0]
    assert len(spikes) / x.size == pytest.approx(0.02, rel=0.05)
    assert np.abs(spikes).max() <= 3.0
    assert spikes.std() == pytest.approx(3.0 / np.sqrt(3), rel=0.03)
    together = readings(Sensor(outliers=0.02, outlier_size=3.0), 5000, size=4)
    hit = together != 0.0
    assert (hit.all(axis=1) == hit.any(axis=1)).all()
    assert hit.mean() == pytest.approx(0.02, rel=0.3)


@pytest.mark.parametrize("burst", [None, 1.5, 8.0])
def test_dropout_has_its_rate_and_its_mean_length(burst):
    x = readings(Sensor(dropout=0.2, burst=burst, missing="zero", each=True), 3000, size=300, pace=1.0)
    missing = x[1:] == 0.0
    assert missing.mean() == pytest.approx(0.2, rel=0.02)
    assert missing[0].mean() == pytest.approx(0.2, abs=0.08)  # stationary from the first step on
    ends = missing[:-1] & ~missing[1:]
    assert missing[:-1].sum() / ends.sum() == pytest.approx(1.25 if burst is None else burst, rel=0.04)


def test_a_missing_sample_is_held_and_flagged():
    x = readings(Sensor(dropout=0.3, show_missing=True), 2000, size=3, pace=1.0)
    assert x.shape == (2001, 4)
    count, missing = x[:, 0], x[:, 3]
    assert missing.mean() == pytest.approx(0.3, abs=0.03)
    assert not missing[0]
    for step in range(1, 2001):
        assert count[step] == (count[step - 1] if missing[step] else step)
    each = readings(Sensor(dropout=0.3, show_missing=True, each=True), 300, size=3, pace=1.0)
    assert each.shape == (301, 6)
    assert not (each[:, 3] == each[:, 4]).all()


def test_a_failed_sensor_stays_failed():
    x = readings(Sensor(stuck=0.01, each=True), 300, size=3000, pace=1.0)
    failed = np.diff(x, axis=0) == 0.0
    assert (failed[1:] >= failed[:-1]).all()
    for step in (1, 50, 300):
        assert failed[step - 1].mean() == pytest.approx(1.0 - 0.99**step, abs=0.03)
    zero = readings(Sensor(stuck=0.5, stuck_at="zero"), 50, size=2, pace=1.0)
    assert not zero[-1].any()
    noise = readings(Sensor(stuck=0.5, stuck_at="noise", noise=0.1, bias=5.0), 400, size=100, pace=1.0)[20:]
    assert noise.std() == pytest.approx(0.1, rel=0.03)
    repaired = wrap(Still(1, 1.0), Sensor(stuck=0.9))
    for seed in range(5):
        repaired.reset(seed=seed)
        for _ in range(20):
            seen = repaired.step(0)[0]
        assert seen[0] < 20
        assert repaired.reset()[0][0] == 0.0


def test_the_chance_to_fail_is_per_step_whatever_the_rate_of_samples():
    x = readings(Sensor(stuck=0.01, every=5, each=True), 105, size=5000, pace=1.0)
    failed = x[105] < 105
    assert failed.mean() == pytest.approx(1.0 - 0.99**105, abs=0.03)


@pytest.mark.parametrize("delay", [0, 1, 4])
def test_delay_shifts_by_steps_and_repeats_the_first(delay):
    x = readings(Sensor(delay=delay), 20, size=2, pace=1.0)
    np.testing.assert_array_equal(x[:, 0], np.maximum(np.arange(21) - delay, 0))
    np.testing.assert_array_equal(x[:, 1], x[:, 0])


def test_delay_in_seconds_and_rate_in_hertz():
    x = readings(Sensor(latency=0.32), 20, size=1, pace=1.0)  # at 10 steps a second
    np.testing.assert_array_equal(x[:, 0], np.maximum(np.arange(21) - 3, 0))
    x = readings(Sensor(rate=2.5), 20, size=1, pace=1.0)
    np.testing.assert_array_equal(x[:, 0], np.arange(21) // 4 * 4)
    x = readings(Sensor(rate=1000.0), 20, size=1, pace=1.0)
    np.testing.assert_array_equal(x[:, 0], np.arange(21))


def test_random_delay_is_uniform_and_may_come_out_of_order():
    x = readings(Sensor(delay=[2, 5]), 20_000, size=1, pace=1.0)[:, 0]
    ages = (np.arange(20_001) - x)[5:]
    values, counts = np.unique(ages, return_counts=True)
    np.testing.assert_array_equal(values, [2, 3, 4, 5])
    assert counts / ages.size == pytest.approx([0.25] * 4, abs=0.01)
    assert (np.diff(x) < 0).any()


def test_keep_order_reads_the_newest_that_has_arrived():
    free = readings(Sensor(delay=[0, 6]), 3000, size=1, pace=1.0)[:, 0]
    kept = readings(Sensor(delay=[0, 6], keep_order=True), 3000, size=1, pace=1.0)[:, 0]
    np.testing.assert_array_equal(kept, np.maximum.accumulate(free))


def test_a_slow_sensor_holds_its_reading():
    x = readings(Sensor(every=3, noise=0.1, delay=1), 30, size=1, pace=1.0)[:, 0]
    for step in range(31):
        assert x[step] == x[step // 3 * 3]
    expected = np.maximum(np.arange(0, 31, 3) - 1, 0)
    assert np.abs(x[::3] - expected).max() < 0.5
    assert (x[::3] != expected).all()


def test_quantum_dead_band_and_saturation():
    x = readings(Sensor(quantum=0.25), 40, size=1, pace=0.1)[:, 0]
    np.testing.assert_allclose(x, 0.25 * np.rint(0.1 * np.arange(41) / 0.25))
    x = readings(Sensor(dead_band=0.35), 10, size=1, pace=0.1)[:, 0]
    np.testing.assert_allclose(x, [0, 0, 0, 0, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    x = readings(Sensor(low=0.2, high=0.5), 10, size=1, pace=0.1)[:, 0]
    np.testing.assert_allclose(x, np.clip(0.1 * np.arange(11), 0.2, 0.5))
    x = readings(Sensor(noise=3.0), 300, size=2, bound=1.0)
    assert x.min() == -1.0
    assert x.max() == 1.0


def test_the_models_come_in_the_documented_order():
    """Each of two models alone, and both: the one does not commute with the other."""
    alone = readings(Sensor(noise=0.3), 300, size=5)
    np.testing.assert_allclose(readings(Sensor(noise=0.3, quantum=0.5), 300, size=5), 0.5 * np.rint(alone / 0.5))
    scaled = readings(Sensor(scale=0.3, bias=1.0), 3, size=5, pace=1.0)
    bias, both = scaled[0], scaled[2] - scaled[1]
    np.testing.assert_allclose(scaled[3], bias + 3 * both)  # the offset is not scaled
    late = readings(Sensor(delay=3, walk=1.0), 50, size=5)
    np.testing.assert_allclose(late, readings(Sensor(walk=1.0), 50, size=5))  # errors are not delayed
    held = readings(Sensor(dropout=0.5, noise=0.3, quantum=0.5), 300, size=5)
    np.testing.assert_allclose(held, 0.5 * np.rint(held / 0.5))
    np.testing.assert_array_equal(readings(Sensor(noise=9.0, quantum=0.3, high=1.0), 100, size=5).max(), 1.0)
