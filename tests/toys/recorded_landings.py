"""The lander's kernels as a world whose chance is recorded: actions are the powers and what chance drew."""

import numpy as np
from support.places import DATA

from rlenvs.core import block, continuous, f8, i8, integer, term, world
from rlenvs.robotics.landing import lunar_lander
from rlenvs.robotics.landing.lander import HULL, STATE, build, fly, seen, shaping_of

RECORDED = np.load(DATA / "lunar_lander.npz")
CASES = len(RECORDED["heights"])
PARAMS = lunar_lander.SPEC.params

SPEC = world(
    "RecordedLandings-v0",
    doc="Recorded flights of a lander.",
    params=PARAMS,
    options={
        "case": integer(0, 0, CASES - 1, "which"),
        **{
            name: lunar_lander.SPEC.options[name]
            for name in ("enable_wind", "velocity_iterations", "position_iterations")
        },
    },
    data={"all_heights": f8(CASES, 12), "all_forces": f8(CASES, 2), "all_winds": i8(CASES, 2)},
    state=STATE,
    observation={"seen": block(8, low=-10.0, high=10.0, raw=True, doc="the original's")},
    action=continuous("main", "side", "across", "along"),
    terms={"shaping": term(-1e4, 1e4)},
    horizon=10_000,
)


@SPEC.make_data
def data(values):
    return {f"all_{name}s": RECORDED[f"{name}s" if name == "height" else name] for name in ("height", "force", "wind")}


@SPEC.reset
def reset(p, s, rng):
    for i in range(12):
        s.heights[i] = p.all_heights[p.case, i]
    build(p, s)
    s.force[HULL, 0], s.force[HULL, 1] = p.all_forces[p.case, 0], p.all_forces[p.case, 1]
    s.wind_index, s.torque_index = p.all_winds[p.case, 0], p.all_winds[p.case, 1]
    fly(p, s, 0.0, 0.0, 0.0, 0.0)
    s.shaping = shaping_of(p, s)


@SPEC.step
def step(p, s, a, rng, r):
    fly(p, s, a[0], a[1], a[2], a[3])
    r.shaping = shaping_of(p, s) - s.shaping
    s.shaping = shaping_of(p, s)
    r.terminated = s.hull_touched == 1 or s.at_rest == 1 or abs(seen(p, s)[0]) >= 1.0


@SPEC.observe
def observe(p, s, o):
    numbers = seen(p, s)
    for j in range(8):
        o.seen[j] = numbers[j]


def case_of(i):
    """Keywords of a case, its rows and whether it ended."""
    gravity, wind, power, torque, ended, length = RECORDED["case"][i]
    keywords = {"gravity": gravity, "enable_wind": bool(wind), "wind_power": power, "turbulence_power": torque}
    return {"case": i, **keywords}, RECORDED["rows"][i, : int(length)], bool(ended)
