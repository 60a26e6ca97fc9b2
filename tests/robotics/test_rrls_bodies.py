"""The bodies of RRLS (SuReLI/RRLS, 0c43dc9) beside Gymnasium's own, changed as RRLS changes them, and repaired."""

import gymnasium
import numpy as np
import pytest
from support import without_imageio  # noqa: F401 (for Gymnasium)

import rlenvs
from rlenvs.agents.rrls import ROBOTS, robot_of
from rlenvs.core.catalogue.registry import world_of
from rlenvs.wrappers.adversary import FORCED_BODIES, ForceAdversary
from rlenvs.wrappers.forms import wrap
from rlenvs.wrappers.robustness import RRLS_SETS

mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed: its worlds are not tested")
pytestmark = pytest.mark.filterwarnings("ignore:compiler attribute")

# the bodies of RRLS's _change_params, by our parameter; geoms of the floor alone, or all
MASSES = {
    "Ant": {"torso_mass": "torso", "front_left_leg_mass": "front_left_leg", "front_right_leg_mass": "front_right_leg"},
    "HalfCheetah": {"torso_mass": "torso", "back_thigh_mass": "bthigh"},
    "Hopper": {"torso_mass": "torso", "thigh_mass": "thigh"},
    "HumanoidStandup": {"torso_mass": "torso", "right_foot_mass": "right_foot", "left_thigh_mass": "left_thigh"},
    "InvertedPendulum": {"pole_mass": "pole", "cart_mass": "cart"},
    "Walker2d": {"torso_mass": "torso", "thigh_mass": "thigh"},
}
# options by which our robots, and Gymnasium's, go on whatever happens
GO_ON = {"HalfCheetah": {}, "HumanoidStandup": {}, "InvertedPendulum": {"tilt": 1.5}}
GYMNASIUMS_GO_ON = {name: {} for name in GO_ON}
STEPS = {"InvertedPendulum": 8}  # until the pole lies
RUBBED = {"HalfCheetah": slice(None), "Hopper": slice(1), "Walker2d": slice(1)}
LARGEST = {id.removesuffix("-v0"): max(each for each in RRLS_SETS if robot_of(each) == id) for id in ROBOTS.values()}
ENDS = [(name, end) for name in MASSES for end in (0, -1)]


def ends_of(name, end):
    return {parameter: values[end] for parameter, values in RRLS_SETS[LARGEST[name]].ranges.items()}


def as_rrls_has_it(name, values):
    """Gymnasium's robot with RRLS's parameters."""
    own = GYMNASIUMS_GO_ON.get(name, {"terminate_when_unhealthy": False})
    original = gymnasium.make(f"{name}-v5", **own).unwrapped
    change(original, name, values)
    return original


def change(original, name, values):
    """Write parameters into the compiled model, as RRLS does at a reset and in a step."""
    if "friction" in values:
        original.model.geom_friction[RUBBED[name], 0] = values["friction"]
    for parameter, body in MASSES[name].items():
        if parameter in values:
            original.model.body(body).mass = values[parameter]


def play(ours, original, steps, before_step=lambda step: None):
    """Observations of both after random steps from the same state, contact forces left out."""
    shown = {"HumanoidStandup-v0": 45}.get(ours.batch.world.name, 27)
    ours.reset(seed=3)
    original.reset(seed=3)
    s, generator = ours.batch.records(0)[1], np.random.default_rng(3)
    original.set_state(s["qpos"].copy(), s["qvel"].copy())
    for step in range(steps):
        before_step(step)
        action = generator.uniform(-1.0, 1.0, ours.action_space.shape).astype(ours.action_space.dtype)
        seen, *_ = ours.step(action)
        expected, *_ = original.step(action)
        yield seen[:shown], expected[:shown]


def made(name, **values):
    own = GO_ON.get(name, {"ends_when_unhealthy": False})
    return rlenvs.make(f"{name}-v0", **own, **values).unwrapped


@pytest.mark.parametrize(("name", "end"), ENDS)
def test_bodies_of_rrls_move_as_there(name, end):
    values = ends_of(name, end)
    for seen, expected in play(made(name, compat="rrls", **values), as_rrls_has_it(name, values), STEPS.get(name, 50)):
        assert (seen == expected).all()


@pytest.mark.parametrize("name", MASSES)
def test_bodies_of_rrls_change_in_a_step_as_there(name):
    """RRLS's DynamicAdversarial."""
    region = RRLS_SETS[LARGEST[name]]
    ours, original = made(name, compat="rrls"), as_rrls_has_it(name, ends_of(name, 0))
    places = np.random.default_rng(1).uniform(-1.0, 1.0, (10, len(region.names)))

    def before_step(step):
        values = dict(zip(region.names, region.at(places[step]).tolist(), strict=True))
        ours.batch.set_params(values)
        change(original, name, values)

    for seen, expected in play(ours, original, 10, before_step):
        assert (seen == expected).all()


@pytest.mark.parametrize(("name", "end"), ENDS)
def test_repaired_bodies_move_otherwise(name, end):
    """Inertia is proportional to mass."""
    values = ends_of(name, end)
    *_, (seen, expected) = play(made(name, **values), as_rrls_has_it(name, values), STEPS.get(name, 20))
    assert np.abs(seen - expected).max() > 1e-3


def test_bodies_of_rrls_are_gymnasiums_as_long_as_nothing_is_changed():
    """RRLS's own nominal friction, 0.7, changes nothing of hopper and walker: their feet have 2.0 and 1.9."""
    for name in {*MASSES} - {"HumanoidStandup", "InvertedPendulum"}:
        ours = made(name, compat="rrls")
        assert ours.batch.setup.values.friction == {"Ant": 1.0, "HalfCheetah": 0.4}.get(name, 0.7)
        for seen, expected in play(ours, gymnasium.make(f"{name}-v5").unwrapped, 3):
            assert (seen == expected).all()


def test_rrls_exchanges_the_masses_of_cart_and_pole():
    model, original = made("InvertedPendulum", compat="rrls").batch.engine.model, as_rrls_has_it("InvertedPendulum", {})
    assert model.body("pole").mass[0] == original.model.body("cart").mass[0]
    assert model.body("cart").mass[0] == original.model.body("pole").mass[0]


@pytest.mark.parametrize(("name", "foot"), [("Hopper", 2.0), ("Walker2d", 1.9)])
def test_friction_of_the_floor_alone_is_inert_below_that_of_the_feet(name, foot):
    def of_contacts(compat, friction):
        model = made(name, compat=compat, friction=friction).batch.engine.model
        return model.pair_friction[:, 0].max()

    for friction in (0.1, 1.0, 3.0):
        assert of_contacts("rrls", friction) == max(friction, foot)
        assert of_contacts("none", friction) == pytest.approx(friction, rel=1e-12)


# --- what the sets change ---------------------------------------------------------------------------------------------


def after_random_steps(batch, steps):
    generator = np.random.default_rng(0)
    batch.seed([7] * batch.num_envs)
    batch.reset()
    for _ in range(steps):
        batch.step(np.repeat(generator.uniform(-1.0, 1.0, (1, *batch.actions.shape[1:])), batch.num_envs, axis=0))
    return batch.states["qpos"].copy()


@pytest.mark.parametrize("name", RRLS_SETS)
def test_each_parameter_has_an_effect_at_both_ends(name):
    region = RRLS_SETS[name]
    region.check(world_of(robot_of(name)))
    usual = region.nominal({})
    rows = [
        usual,
        *(np.where(region.names == np.array(p), v[e], usual) for p, v in region.ranges.items() for e in (0, -1)),
    ]
    own = {p: np.array(rows)[:, j] for j, p in enumerate(region.names)}
    choices = GO_ON.get(robot_of(name).removesuffix("-v0"), {"ends_when_unhealthy": False})
    steps = STEPS.get(robot_of(name).removesuffix("-v0"), 25)
    places = after_random_steps(rlenvs.make_batch(robot_of(name), len(rows), **choices, **own), steps)
    moved = np.abs(places[1:] - places[0]).max(axis=1)
    at_nominal = [v[e] == v[1] for v in region.ranges.values() for e in (0, -1)]
    assert (moved[~np.array(at_nominal)] > 1e-3).all()


@pytest.mark.parametrize("id", FORCED_BODIES)
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_each_force_has_an_effect_at_both_ends(id, sign):
    alone, env = rlenvs.make_vec(id, 1), wrap(rlenvs.make_vec(id, 1), ForceAdversary(policy="given"))
    count = env.reset(seed=0)[1]["force"].shape[1]
    for j in range(count):
        for each in (alone, env):
            each.reset(seed=0)
        env.wrappers[-1].move[:] = np.where(np.arange(count) == j, sign, 0.0)
        nothing = np.zeros((1, *env.single_action_space.shape))
        env.step(nothing), alone.step(nothing)
        moved = np.abs(env.batch.states["qvel"] - alone.batch.states["qvel"]).max()
        assert moved > 1e-5, (j, moved)  # least along an upright pole
