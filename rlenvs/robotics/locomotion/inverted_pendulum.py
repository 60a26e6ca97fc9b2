"""InvertedPendulum: balance a pole on a cart, simulated by MuJoCo.

## Description

InvertedPendulum-v5 of Gymnasium (Farama Foundation, MIT license), the cart and pole of Barto, Sutton and Anderson (IEEE
SMC 1983) with a continuous force: its model, observations, rewards, starts and terminations. Spaces are those of
InvertedPendulum-v5, float64 without bounds; with `scaled=True` observations are float32 and bounded. Different: numbers
beyond 1000 are observed as 1000.

## Action Space

The force on the cart, in [-3, 3], as a multiple of 100 N.

## Observation Space

As in the original: position of the cart and angle of the pole, then their rates: 4 numbers, not scaled.

## Rewards

`healthy`: 1 in every step after which the pole is up.

## Costs

None.

## Starting State

All positions and velocities are uniform within `noise` of 0.

## Episode End

When the pole leans by more than `tilt`, or after 1000 steps (40 s). Success is not defined.

## Parameters

`strength` multiplies the force, `damping` that of the joints. Cart and pole have explicit masses where these are not 0;
their inertia is proportional to them. With `compat="rrls"` inertia stays as it is, and the masses of cart and pole are
exchanged, as RRLS has them.

## Reference Scores

Mean return over fixed seeds. The expert is linear-quadratic control of the model near the upright pole.

## Version History

v0: first version.
"""

import math

from rlenvs.core import block, continuous, param, published, term, world
from rlenvs.kits.engines.mujoco import ENGINE, STATE
from rlenvs.robotics.locomotion.fixed import on_rail
from rlenvs.robotics.locomotion.originals import NOISE, machines
from rlenvs.robotics.locomotion.robots import (
    BOUND,
    DAMPING,
    PARAMS,
    Reweighted,
    as_rrls,
    bounded,
    compat,
    damp,
    start_near,
)

FPS = 25  # two physics steps of 20 ms per control step
STRONGEST = 3.0  # of an action
CART, POLE = 10.47197551196598, 5.018591641363306  # kg, of the model
GAINS = (-0.74, -6.02, -0.87, -1.01)  # of position, angle and their rates; costs 1, 1, 0.1, 0.1, and 1 of the action

SPEC = world(
    "InvertedPendulum-v0",
    doc=__doc__,
    source="Gymnasium InvertedPendulum-v5; Barto, Sutton and Anderson, IEEE SMC 1983",
    params={
        "gravity": PARAMS["gravity"],
        "strength": PARAMS["strength"],
        "noise": param(0.01, 0.0, 0.1, "", "noise of the start: positions and velocities are uniform within it"),
        "cart_mass": param(0.0, 0.0, 31.0, "kg", "of the cart; 0: that of the model, 10.5 kg"),
        "pole_mass": param(0.0, 0.0, 31.0, "kg", "of the pole; 0: that of the model, 5.02 kg"),
        "damping": DAMPING,
        "tilt": param(0.2, 0.05, 1.5, "rad", "angle up to which the pole is up", limit=True),
    },
    state=STATE,
    observation={
        "positions": block(2, low=-BOUND, high=BOUND, unit="m, rad", doc="cart, pole", raw=True),
        "velocities": block(2, low=-BOUND, high=BOUND, unit="m/s, rad/s", doc="cart, pole", raw=True),
    },
    action=continuous("force", low=-STRONGEST, high=STRONGEST),
    terms={"healthy": term(0.0, 1.0, 1.0, "1 while the pole is up")},
    published=published("Gymnasium InvertedPendulum-v5", "float64", low=-math.inf, high=math.inf),
    horizon=1000,
    fps=FPS,
    engine=ENGINE,
    options={"compat": compat(pole_mass=CART, cart_mass=POLE)},
    drop_in=machines(2, NOISE),
    reward_threshold=950.0,
    levels={"easy": {"tilt": 0.5}, "medium": {}, "hard": {"noise": 0.08, "strength": 0.5}},
)


@SPEC.model
def model(values):
    spec, masses = on_rail("inverted_pendulum.xml", values), {"cart": values.cart_mass, "pole": values.pole_mass}
    damp(spec, values.damping)
    if as_rrls(values):
        return Reweighted(spec, **masses)
    for body, own in masses.items():
        if own > 0.0:
            spec.body(body).first_geom().mass = own
    return spec


@SPEC.reset
def reset(p, s, rng):
    start_near(p, s, rng)


@SPEC.act
def act(p, s, a, rng):
    s.ctrl[0] = a[0]


@SPEC.outcome
def outcome(p, s, a, rng, r):
    r.terminated = abs(s.qpos[1]) > p.tilt
    r.healthy = 0.0 if r.terminated else 1.0


@SPEC.observe
def observe(p, s, o):
    for j in range(2):
        o.positions[j], o.velocities[j] = bounded(s.qpos[j]), bounded(s.qvel[j])


@SPEC.expert
def expert(p, s, a):
    force = 0.0
    for j in range(2):
        force -= GAINS[j] * s.qpos[j] + GAINS[j + 2] * s.qvel[j]
    a[0] = min(max(force, -STRONGEST), STRONGEST)


@SPEC.draw
def draw(canvas, p, s):
    canvas.caption(f"pole leans by {math.degrees(s.qpos[1]):.1f} degrees", f"cart at {s.qpos[0]:.2f} m")
