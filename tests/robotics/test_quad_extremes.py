"""Quadcopters at the ends of what may be set: refused where it contradicts itself, finite and in bounds elsewhere."""

import numpy as np
import pytest

import rlenvs
from rlenvs.core import block, constraint, continuous, f8, flag, integer, param, term, world
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.setup import Setup
from rlenvs.robotics.quadcopter.flight import COMMANDS
from rlenvs.robotics.quadcopter.hover import SPEC as HOVER
from rlenvs.robotics.quadcopter.vehicle import VEHICLES

ALONE = ["QuadHover-v0", "QuadTakeoff-v0", "QuadTrack-v0", "QuadGate-v0", "QuadRace-v0", "QuadObstacles-v0"]
TOGETHER = ["QuadMultiHover-v0", "QuadLeaderFollower-v0", "QuadFlock-v0", "QuadMeetup-v0", "QuadSwarmRace-v0"]
AIR = {"ground_effect": True, "drag": True, "rotor_lag": True, "battery": True, "wind": True}


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        (
            {"inertia_x": 0.0214},
            r"inertia_x=0.0214, inertia_y=1.4e-05, .* violate a constraint: none may exceed 3 times",
        ),
        ({"inertia_z": np.array([2e-5, 4e-4])}, r"inertia_z=0.0004 violate a constraint"),
        ({"randomize": {"inertia_z": (1e-6, 0.05)}}, r"inertia_z=0.05 violate a constraint"),
        ({"randomize": {"inertia_x": (1e-6, 2e-6), "inertia_y": (1e-6, 2e-6)}}, "violate a constraint"),
        ({"torque_coefficient": 7e-8}, r"torque_coefficient=7e-08, thrust_coefficient=3.16e-10 violate a constraint"),
        ({"thrust_coefficient": 1e-11, "torque_coefficient": 2e-11}, "at most 1 m x its thrust"),
    ],
)
@pytest.mark.parametrize("id", ["QuadHover-v0", "QuadSwarmRace-v0"])
def test_vehicles_that_cannot_exist_are_refused(id, keywords, message):
    world = rlenvs.core.catalogue.registry.world_of(id)
    with pytest.raises(ParameterError, match=message):
        Setup(world, **{"vehicle": "cf2x", **keywords})


def test_worlds_of_a_batch_are_not_given_what_contradicts_itself():
    """By the values that each world has, and nothing is changed."""
    batch = rlenvs.make_batch("QuadHover-v0", 3, backend="python")
    only = np.array([False, True, False])
    batch.set_params({"inertia_x": 6e-5, "inertia_y": 6e-5}, only)
    batch.set_params({"inertia_z": np.array([2e-5, 3e-4, 2e-5])}, only)
    before = [batch.get_params(i) for i in range(3)]
    with pytest.raises(ParameterError, match=r"inertia_x=1.4e-05, .* inertia_z=0.0003 violate a constraint"):
        batch.set_params({"mass": 0.03, "inertia_z": 3e-4})
    with pytest.raises(ParameterError, match=r"inertia_z=0.0005 violate a constraint"):
        batch.set_params({"inertia_z": 5e-4}, only)
    assert [batch.get_params(i) for i in range(3)] == before


@pytest.mark.parametrize("vehicle", VEHICLES)
def test_usual_randomisation_is_not_refused(vehicle):
    names = ("inertia_x", "inertia_y", "inertia_z", "torque_coefficient", "thrust_coefficient")
    ranges = {name: (0.6 * VEHICLES[vehicle][name], 1.4 * VEHICLES[vehicle][name]) for name in names}
    Setup(HOVER, vehicle=vehicle, randomize=ranges)


def test_a_constraint_names_parameters_of_the_world():
    parts = {"state": {"x": f8}, "observation": {"x": block(low=0.0, high=1.0)}, "terms": {"t": term(0.0, 1.0)}}
    rule = constraint("low", "top", holds=lambda low, top: low <= top, doc="low is at most top")
    numbers = {name: param(0.5, 0.0, 1.0) for name in ("low", "top")}
    made = world("Own-v0", doc=None, action=continuous("a"), horizon=1, params=numbers, constraints=[rule], **parts)
    Setup(made, low=0.5)
    with pytest.raises(ParameterError, match=r"low=0.7, top=0.5 violate a constraint: low is at most top"):
        Setup(made, low=0.7)
    with pytest.raises(ParameterError, match=r"Own-v0: a constraint names \['low', 'top'\], which are no parameters"):
        world("Own-v0", doc=None, action=continuous("a"), horizon=1, constraints=[rule], **parts)


def test_a_constraint_names_whole_number_options_too():
    """Parameters that are set later are held to them as well."""
    parts = {"state": {"x": f8}, "observation": {"x": block(low=0.0, high=1.0)}, "terms": {"t": term(0.0, 1.0)}}
    numbers = {"params": {"low": param(1.0, 0.0, 9.0)}, "options": {"top": integer(3, 0, 9), "on": flag(False)}}
    rule = constraint("low", "top", holds=lambda low, top: low <= top, doc="low is at most top")
    made = world("Own-v0", doc=None, action=continuous("a"), horizon=1, constraints=[rule], **numbers, **parts)
    Setup(made, low=3.0)
    with pytest.raises(ParameterError, match="low=4, top=3 violate a constraint: low is at most top"):
        Setup(made, low=4.0)
    with pytest.raises(ParameterError, match="low=1, top=0 violate a constraint"):
        Setup(made, top=0)
    with pytest.raises(ParameterError, match="low=5, top=3 violate a constraint"):
        Setup(made, randomize={"low": (0.0, 5.0)})
    rule = constraint("low", "on", holds=lambda low, on: True, doc="nothing")
    with pytest.raises(ParameterError, match=r"a constraint names \['on'\], which are no parameters or options"):
        world("Own-v0", doc=None, action=continuous("a"), horizon=1, constraints=[rule], **numbers, **parts)


# --- what stays finite ------------------------------------------------------------------------------------------------


def at_corners(batch, rng, share=0.3):
    """Write ends of their ranges into a share of all parameters, of every world others, whether allowed or not."""
    batch.set_params({"mass": np.full(batch.num_envs, 0.027)})  # a record for every world
    for i in range(batch.num_envs):
        p, _ = batch.records(i)
        for name, declared in batch.world.params.items():
            if rng.random() < share:
                p[name] = declared.low if rng.random() < 0.5 else declared.high


def everything_finite(batch):
    fields = [name for name, kind in batch.world.state.items() if kind.code.startswith("f")]
    states = all(np.isfinite(batch.records(i)[1][name]).all() for i in range(batch.num_envs) for name in fields)
    return states and np.isfinite(batch.terms).all() and np.isfinite(batch.observations).all()


@pytest.mark.parametrize("rates", [(240, 30), (30, 1), (4000, 1000)])
@pytest.mark.parametrize("action", COMMANDS)
def test_nothing_that_may_be_declared_gives_numbers_that_are_not_finite(action, rates):
    rng = np.random.default_rng(sum(rates))
    rates = dict(zip(("physics_hz", "control_hz"), rates, strict=True))
    batch = rlenvs.make_batch("QuadHover-v0", 200, action=action, horizon=10**6, **rates, **AIR)
    at_corners(batch, rng)
    batch.seed(range(200))
    batch.reset()
    for step in range(30):
        if step < 10:
            batch.actions[:] = rng.uniform(-1.0, 1.0, batch.actions.shape)
        elif step < 20:
            batch.actions[:] = np.sign(batch.actions)
        else:
            batch.expert_actions()
            assert np.isfinite(batch.actions).all()
        batch.step_inplace()
    assert everything_finite(batch)


def test_a_rotor_that_turns_its_vehicle_too_fast():
    """One seed in ten or so became NaN."""
    batch = rlenvs.make_batch("QuadHover-v0", 50, horizon=10**6)
    batch.seed(range(50))
    batch.set_params({"mass": np.full(50, 0.027)})
    rng = np.random.default_rng(0)
    for i in range(50):
        p, _ = batch.records(i)
        p.inertia_x, p.torque_coefficient = 0.0214, 7e-8
    batch.reset()
    for _ in range(60):
        batch.step(rng.uniform(-1.0, 1.0, (50, 4)))
        assert everything_finite(batch)


def test_drag_slows_down_and_never_throws_back():
    """Where its coefficient would take more than all the speed in a physics step."""
    batch = rlenvs.make_batch("QuadHover-v0", 1, drag=True, drag_xy=1e-3, physics_hz=30, mass=0.01, horizon=10**6)
    batch.seed([0])
    batch.reset()
    _, s = batch.records(0)
    s.velocity[0] = 1.0, 0.0, 0.0
    batch.step(np.zeros((1, 4)))
    assert abs(s.velocity[0, 0]) < 1e-9


# --- what stays in bounds ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", [*ALONE, *TOGETHER])
def test_terms_stay_in_their_bounds_where_a_step_is_long(id):
    """A step of a second at ten times the weight takes a vehicle tens of metres away."""
    few = {"agents": 2} if id in TOGETHER else {}
    options = {"control_hz": 1, "physics_hz": 30, "thrust_to_weight": 10.0, "action_range": 1.0, "action": "one_d_rpm"}
    batch = rlenvs.make_batch(id, 1, backend="python", vehicle="cf2x", gravity=25.0, **options, **few)
    for action in (1.0, -1.0):
        batch.seed([0])
        batch.reset()
        for k in range(batch.agents):
            batch.actions[0, k] = action if k == 0 else -action
        batch.step_inplace()
        for name, values in zip((*batch.world.terms, *batch.world.costs), batch.terms[0], strict=True):
            bounds = batch.world.terms.get(name)
            low, high = (bounds.low, bounds.high) if bounds else (0.0, batch.world.costs[name].high)
            assert low <= values.min(), name
            assert values.max() <= high, name
