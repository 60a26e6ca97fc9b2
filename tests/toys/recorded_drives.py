"""CarRacing's kernels as a world whose track is recorded."""

import numpy as np
from support.places import DATA

from rlenvs.core import block, continuous, f8, image, integer, term, world
from rlenvs.robotics.racing import car_racing
from rlenvs.robotics.racing.car import HULL, SHAPES, hull_origin, place_car, shapes_of
from rlenvs.robotics.racing.car_track import lay_road
from rlenvs.robotics.racing.car_view import SCRATCH, SIDE, show

RECORDED = np.load(DATA / "car_racing.npz")
CASES = len(RECORDED["length"])

SPEC = world(
    "RecordedDrives-v0",
    doc="Recorded drives of a car.",
    params=car_racing.SPEC.params,
    options={
        "case": integer(0, 0, CASES - 1, "which"),
        **{name: part for name, part in car_racing.SPEC.options.items() if name not in ("observation", "scaled")},
    },
    data={"all_points": f8(CASES, 12, 3), **SHAPES},
    state=car_racing.state_of(1),
    observation={"seen": block(13, low=-1e4, high=1e4, raw=True, doc="the original's")},
    images={"screen": image(SIDE, SIDE, 3, doc="the picture")},
    scratch=SCRATCH,
    action=continuous("steer", "gas", "brake", low=(-1.0, 0.0, 0.0), high=(1.0, 1.0, 1.0)),
    terms={"reward": term(-1e4, 1e4)},
    horizon=10_000,
)


@SPEC.make_data
def data(values):
    return {"all_points": RECORDED["points"], **shapes_of(values.vehicle)}


@SPEC.reset
def reset(p, s, rng):
    for i in range(12):
        for j in range(3):
            s.point[i, j] = p.all_points[p.case, i, j]
    car_racing.choose_colors(p, s, rng)
    lay_road(p, s)
    place_car(p, s, 0, s.gate[0, 0], s.gate[0, 1], s.gate[0, 2])
    car_racing.roll(p, s, 0, 0.0, 0.0, 0.0)


@SPEC.step
def step(p, s, a, rng, r):
    car_racing.roll(p, s, 0, -a[0], a[1], a[2])
    r.reward = s.owed[0] - 0.1
    s.owed[0] = 0.0


@SPEC.observe
def observe(p, s, o):
    o.seen[0], o.seen[1] = hull_origin(p, s, 0)
    for j in range(2, 6):
        o.seen[j] = s.body[0, HULL, j]
    for w in range(4):
        o.seen[6 + w] = s.wheel[0, w, 0]
    o.seen[10] = s.body[0, 1, 2] - s.body[0, HULL, 2]
    o.seen[11] = s.visits[0]
    o.seen[12] = s.tiles


@SPEC.observe_images
def observe_images(p, s, i):
    show(p, s, 0, car_racing.score_shown(s, 0), i.screen)


def case_of(i):
    """The rows of a case: actions (3), state (11), reward, tiles."""
    return RECORDED["rows"][i, : int(RECORDED["length"][i])]
