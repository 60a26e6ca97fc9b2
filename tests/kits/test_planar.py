"""Rigid bodies in the plane beside what physics says of them."""

import math

import numpy as np
import pytest
from toys.planar_scenes import RAYS_CAST, corners, crossing, inside, period, scene

from rlenvs.kits.planar import step as planar_step


def body(batch, field, b=1, i=0):
    return batch.states[field][i, b]


def kinetic(batch):
    s = batch.states
    inverse = s["inverse_mass"][0]
    moves = inverse > 0.0
    mass, inertia = 1.0 / inverse[moves], 1.0 / s["inverse_inertia"][0][moves]
    v, w = s["velocity"][0][moves], s["spin"][0][moves]
    return 0.5 * float((mass * (v**2).sum(1) + inertia * w**2).sum())


def test_free_fall_is_the_semi_implicit_parabola():
    batch, step = scene("fall", speed=3.0)
    step(50)
    x, y = body(batch, "centre")
    assert x == pytest.approx(3.0, abs=1e-9)
    assert y == pytest.approx(100.0 - 10.0 * 0.02**2 * 50 * 51 / 2, abs=1e-9)
    assert body(batch, "angle") == pytest.approx(1.0, abs=1e-9)
    assert body(batch, "velocity")[1] == pytest.approx(-10.0, abs=1e-9)


def test_damping_slows_velocity_and_spin_by_rates_of_their_own():
    """Implicitly: by 1 / (1 + rate dt) in each step of 0.02 s, without gravity."""
    batch, step = scene("fall", speed=3.0, gravity=0.0)
    batch.states["damping"][0, 1] = 0.5, 2.0
    spin = body(batch, "spin")
    assert spin > 0.0
    step(10)
    assert body(batch, "velocity")[0] == pytest.approx(3.0 / (1.0 + 0.02 * 0.5) ** 10)
    assert body(batch, "spin") == pytest.approx(spin / (1.0 + 0.02 * 2.0) ** 10)


def test_mass_and_inertia_of_a_box_and_a_disc():
    batch, _ = scene("fall")
    assert 1.0 / body(batch, "inverse_mass") == pytest.approx(1.0)
    assert 1.0 / body(batch, "inverse_inertia") == pytest.approx(1.0 / 6.0)
    batch, _ = scene("pendulum")
    mass = math.pi * 0.01
    assert 1.0 / body(batch, "inverse_mass") == pytest.approx(mass)
    assert 1.0 / body(batch, "inverse_inertia") == pytest.approx(0.5 * mass * 0.01)


def test_a_pendulum_swings_with_its_period():
    """From horizontal: a quarter of the period to the lowest point. The bob's own turning makes it 0.25 % slower."""
    batch, step = scene("pendulum", dt=0.001, gravity=9.81)
    steps = 0
    while body(batch, "centre")[0] > 0.0:
        step()
        steps += 1
    length = math.sqrt(1.0 + 0.5 * 0.01)
    assert 4 * steps * 0.001 == pytest.approx(period(length**2, 9.81, math.pi / 2), rel=0.003)
    distance = np.hypot(*body(batch, "centre"))
    assert distance == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize(("tilt", "slides"), [(0.44, False), (0.48, True)])
def test_a_box_slides_on_slopes_steeper_than_the_angle_of_friction(tilt, slides):
    """arctan 0.5 = 0.4636."""
    batch, step = scene("slope", tilt=tilt, friction=0.5)
    step(150)
    start = body(batch, "centre").copy()
    step(50)
    moved = float(np.hypot(*(body(batch, "centre") - start)))
    if not slides:
        assert moved < 1e-3
    else:
        speed = float(np.hypot(*body(batch, "velocity")))
        assert speed == pytest.approx(10.0 * (math.sin(tilt) - 0.5 * math.cos(tilt)) * 4.0, rel=0.05)


def test_a_stack_of_ten_stands():
    batch, step = scene("stack", count=10)
    step(500)
    before = batch.states["centre"][0, 1:11].copy()
    step(500)
    after = batch.states["centre"][0, 1:11]
    assert np.abs(after - before).max() < 0.02  # they settle into each other by some millimetres
    assert after[-1, 1] == pytest.approx(0.5 + 9 * 1.0, abs=0.2)
    assert np.abs(batch.states["angle"][0, 1:11]).max() < 0.01
    assert batch.states["still"][0, 1:11].min() > 0.5


@pytest.mark.parametrize("speed", [1.0, 10.0, 100.0])
def test_nothing_passes_through_an_edge(speed):
    """At 100 m/s the box, 4 cm thick, moves 2 m in a step."""
    batch, step = scene("bullet", speed=speed, gravity=0.0)
    for _ in range(400):
        step()
        assert body(batch, "centre")[0] < 5.03


def test_energy_and_momentum_in_a_box_of_elastic_balls():
    """Restitution 1: no contact gains energy but by corrections of overlaps; restitution 0 loses it."""
    batch, step = scene("gas", count=30, gravity=0.0, restitution=1.0, friction=0.0)
    start = kinetic(batch)
    step(300)
    assert 0.85 * start < kinetic(batch) < 1.02 * start
    batch, step = scene("gas", count=30, gravity=0.0, restitution=0.0, friction=0.5)
    energies = [kinetic(batch)]
    for _ in range(30):
        step(10)
        energies.append(kinetic(batch))
    assert (np.diff(energies) < 1e-9).all()
    assert energies[-1] < 0.5 * energies[0]


def test_two_bodies_that_meet_keep_their_momentum():
    batch, step = scene("gas", count=16, gravity=0.0, restitution=0.5)
    mass = np.where(batch.states["inverse_mass"][0] > 0, 1 / np.maximum(batch.states["inverse_mass"][0], 1e-9), 0.0)
    wall = 0
    for _ in range(60):
        momentum = mass @ batch.states["velocity"][0]
        step()
        order, count = batch.states["contact_order"][0], int(batch.states["contact_count"][0])
        touched = [c for c in order[:count] if batch.states["contact_touching"][0, c]]
        if any(batch.states["shape_body"][0, batch.states["contact_shapes"][0, c]].min() == 0 for c in touched):
            wall += 1
            continue
        np.testing.assert_allclose(mass @ batch.states["velocity"][0], momentum, atol=1e-9)
    assert wall < 60


def test_joints_hold():
    """A chain of ten hangs from a hinge; the end of each link stays at its neighbour's."""
    batch, step = scene("chain", velocity_iterations=60, position_iterations=20)
    drift = 0.0
    for _ in range(200):
        step()
        frames = batch.states["frame"][0, 1:11]
        ends = frames[:, :2] + 0.5 * frames[:, 2:]
        starts = frames[:, :2] - 0.5 * frames[:, 2:]
        gaps = np.linalg.norm(starts[1:] - ends[:-1], axis=1)
        drift = max(drift, gaps.max(), np.hypot(*starts[0]))
    assert drift < 0.02
    assert batch.states["angle"][0, 1] > -0.5 - 0.1  # its lower limit


def test_a_prismatic_joint_its_motor_and_its_limits():
    batch, step = scene("slider", speed=1.0)
    step(50)
    assert body(batch, "velocity")[1] == pytest.approx(1.0, abs=1e-6)  # 60 N lift 4 kg
    assert body(batch, "centre")[0] == pytest.approx(0.0, abs=1e-9)
    assert body(batch, "angle") == pytest.approx(0.0, abs=1e-9)
    step(150)
    assert body(batch, "centre")[1] == pytest.approx(2.0, abs=0.02)
    batch, step = scene("slider", speed=1.0, gravity=20.0)  # 80 N are too much
    step(200)
    assert body(batch, "centre")[1] == pytest.approx(-1.0, abs=0.02)


def test_a_sensor_has_events_and_stops_nothing():
    batch, step = scene("sensor", speed=2.0, gravity=0.0)
    told = []
    for n in range(200):
        step()
        for e in range(int(batch.states["event_count"][0])):
            told.append((n, *batch.states["events"][0, e].tolist()))
    # touches from -1.25 - skin to 1.25 + skin, at 0.04 m a step from -3
    assert [(k, o, change) for _, k, o, change in told] == [(0, 1, 1), (0, 1, -1)]
    assert told[0][0] == pytest.approx((3.0 - 1.26) / 0.04, abs=1.5)
    assert told[1][0] == pytest.approx((3.0 + 1.26) / 0.04, abs=1.5)
    assert body(batch, "velocity").tolist() == [2.0, 0.0]


def test_a_box_slides_along_a_chain_without_catching():
    batch, step = scene("track", speed=5.0)
    step(200)
    assert body(batch, "velocity")[0] == pytest.approx(5.0, abs=1e-6)
    assert body(batch, "centre")[1] == pytest.approx(0.51, abs=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_rays_hit_what_brute_force_finds(seed):
    batch, _ = scene("rays")
    batch.seed(seed)
    batch.reset()
    s = {name: batch.states[name][0] for name in ("shape_kind", "shape_body", "shape_first", "shape_size", "frame")}
    s["vertex"] = batch.states["vertex"][0]
    for i in range(RAYS_CAST):
        x1, y1, x2, y2 = batch.states["ray"][0, i]
        best = 1.0
        for k in range(30):
            points = corners(s, k)
            if s["shape_kind"][k] == 3:
                (cx, cy), radius = points[0], 0.4
                points = [
                    (cx + radius * math.cos(t), cy + radius * math.sin(t)) for t in np.linspace(0, 2 * math.pi, 721)
                ][:-1]
            if len(points) > 2 and inside((x1, y1), points):
                continue
            for a, b in zip(points, points[1:] + points[:1], strict=True):
                best = min(best, crossing((x1, y1), (x2, y2), a, b))
        assert batch.states["hit"][0, i] == pytest.approx(best, abs=2e-3)


def test_broad_phase_finds_all_pairs_whose_boxes_overlap():
    batch, step = scene("gas", count=40)
    for _ in range(20):
        step(5)
        s = batch.states
        boxes, bodies, n = s["shape_box"][0], s["shape_body"][0], int(s["shape_count"][0])
        count = int(s["contact_count"][0])
        found = {tuple(sorted(s["contact_shapes"][0, c])) for c in s["contact_order"][0, :count]}
        for k in range(n):
            for o in range(k + 1, n):
                near = (boxes[k, :2] <= boxes[o, 2:]).all() and (boxes[o, :2] <= boxes[k, 2:]).all()
                if near and bodies[k] != bodies[o]:
                    assert (k, o) in found
    assert int(s["contacts_left_out"][0]) == 0


@pytest.mark.parametrize("ratio", [0.001, 1000.0])
@pytest.mark.parametrize("name", ["stack", "gas", "chain"])
def test_masses_one_to_a_thousand_stay_finite(name, ratio):
    batch, step = scene(name, ratio=ratio, gravity=0.0 if name == "gas" else 10.0, count=10)
    step(300)
    assert np.isfinite(batch.states["centre"][0]).all()
    assert np.abs(batch.states["velocity"][0]).max() < 100.0


def test_the_same_seed_gives_the_same_world_in_any_batch():
    one, step_one = scene("gas", count=20)
    many, step_many = scene("gas", worlds=3, count=20)
    step_one(100)
    step_many(100)
    assert one.states["centre"][0].tobytes() == many.states["centre"][0].tobytes()
    saved = one.states["centre"][0].copy()
    again, step_again = scene("gas", count=20)
    step_again(100)
    assert again.states["centre"][0].tobytes() == saved.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options", "steps"),
    [
        ("gas", {"count": 6, "restitution": 0.3}, 40),
        ("bullet", {"speed": 100.0, "gravity": 0.0}, 20),
        ("stack", {"count": 3}, 20),
    ],
)
def test_pairs_that_boxes_leave_out_would_not_have_met(monkeypatch, name, options, steps):
    """The same motion, to the bit, when contacts and impacts of all pairs are searched."""
    batch, step = scene(name, backend="python", **options)
    step(steps)
    monkeypatch.setattr(planar_step, "stays_away", lambda s, k, other: False)
    monkeypatch.setattr(planar_step, "boxes_nearer", lambda s, k, other, less: True)
    searched, step_searched = scene(name, backend="python", **options)
    step_searched(steps)
    for field in ("centre", "angle", "velocity", "spin"):
        assert batch.states[field].tobytes() == searched.states[field].tobytes()


def test_plain_python_does_the_same():
    compiled, step_compiled = scene("gas", count=6, restitution=0.3)
    plain, step_plain = scene("gas", count=6, restitution=0.3, backend="python")
    step_compiled(10)
    step_plain(10)
    np.testing.assert_allclose(plain.states["centre"][0], compiled.states["centre"][0], atol=1e-9)
