"""CarRacing: drive a lap on a random track in a powerful rear-wheel-drive car, seen from above.

## Description
Gymnasium's CarRacing-v3 (1.4, by Oleg Klimov): its tracks, car, rewards, terminations and keywords, without Box2D. The
five bodies of the car are joined at the wheels' centers, so what Box2D approximates with 180 iterations is the solution
of three equations, computed directly in `car.py`. From the same start, 500 steps end within 4 mm of the original, on
the same tiles (benchmarks/car_racing.md). `observation="vector"` (also a level) gives numbers instead of the image.
CarRacingDiscrete-v0 has five choices. The vehicles are those of CARL's garage without trailers; CARL's race car has
`front_brake` 0.4 and `rear_brake` 0.6. Different: images are drawn by this package, averaged from 4 x 4 samples per
pixel; domain_randomize draws from the seeded generator. Unchanged: a lap counts as complete with `lap_complete_percent`
of the tiles only if tile 0, on which the car starts, is new at that moment, so in effect all tiles are needed;
`close_lap` completes it when tile 0 is touched again (`level="lap"`, with the vector).

## Action Space
Steering (1 is right), gas and brake. CarRacingDiscrete-v0: 0 nothing, 1 right, 2 left, 3 gas, 4 brake, which steer by
0.6 rad, give 0.2 gas, brake by 0.8. The motor turns the front wheels to the commanded angle, at up to 3 rad/s, within
`steer_limit`. Brakes of at least 0.9 lock the wheels.

## Observation Space
The image, 96 x 96 x 3: the car from above, heading up; below it score, speed, rotation of each wheel, steering, spin.
The vector: motion, controls and wheels of the car, its position on the road, eleven distances to the road's edges, and
ten points of its middle ahead.

## Rewards
`tiles` is 1000 / N for each of the N tiles that a wheel touches for the first time, `time` is -0.1 in every step; in a
step that ends outside the playfield `out` is -100 and the other terms are 0. A lap of 700 steps gives a return of 930.

## Costs
`off_road`: 1 while all four wheels are on grass.

## Starting State
At rest on the first gate of a new track, with its wheels on the first tiles, which are rewarded in the first step. The
track is generated from twelve points at random angles and distances; a track that does not close is redrawn.

## Episode End
Termination: all tiles are visited (a success); the car leaves the playfield. Truncation: 1000 steps (20 s).

## Parameters
A vehicle sets parameters, and explicit values override them.

## Reference Scores
Mean return over seeds 0 to 99. The expert follows the line of least curvature within the road, as fast as braking
allows.

## Version History
v0: first version.
"""

from typing import Any

from rlenvs.core import (
    block,
    choice,
    continuous,
    cost,
    discrete,
    drop_in,
    f8,
    flag,
    i8,
    image,
    instead,
    kernel,
    only,
    param,
    published,
    term,
    uniform,
    world,
)
from rlenvs.robotics.racing.car import (
    DRIVE,
    GRIP,
    HULL,
    SHAPES,
    VEHICLES,
    WHEELS,
    bodies,
    hull_origin,
    move_car,
    place_car,
    push_wheels,
    shapes_of,
    speed_along,
    touch_tiles,
)
from rlenvs.robotics.racing.car_offline import offline_sets
from rlenvs.robotics.racing.car_pictures import draw_drive
from rlenvs.robotics.racing.car_senses import AHEAD, RAYS, WINDOW, plan, sense
from rlenvs.robotics.racing.car_track import MOST, ROAD, WALK, make_track, marks, nearest_gate
from rlenvs.robotics.racing.car_view import PLAIN, SCRATCH, SIDE, VIEW, show

OBSERVATION = choice("pixels", "vector", doc="the published image, or numbers")
(VECTOR,) = OBSERVATION.codes("vector")
BUILT = {  # what CARL's vehicles have in place of the race car's numbers
    "street car": {
        "engine_power": 4000.0,
        "wheel_inertia": 0.4,
        "friction_limit": 300.0,
        "front_brake": 0.4,
        "rear_brake": 0.6,
    },
    "bus": {
        "engine_power": 20000.0,
        "wheel_inertia": 2.4,
        "friction_limit": 500.0,
        "front_brake": 0.4,
        "rear_brake": 0.6,
        "steer_limit": 0.7,
    },
}
NOTHING, RIGHT, LEFT, GAS, BRAKE = range(5)
STEERED, SOFT_GAS, SOFT_BRAKE = 0.6, 0.2, 0.8  # of the choices
BRIGHTEST, LIGHTER = 210.0, 20.0  # of random colours
BLOCKS = {  # of the vector form: name, size, lowest value, what it is
    "motion": (3, -1.0, "speed ahead [100 m/s] and to the right [50 m/s], spin to the left [10 rad/s]"),
    "controls": (2, -1.0, "angle of the front wheels to the left [rad], gas"),
    "wheels": (
        WHEELS,
        -1.0,
        "angular velocities of the wheels [200 rad/s]: front left, front right, rear left, rear right",
    ),
    "on_road": (WHEELS, 0.0, "whether each of them is on the road"),
    "road": (
        4,
        -1.0,
        "offset to the right of the middle [road widths], sine and cosine of the angle to it, fraction "
        "of tiles visited",
    ),
    "lidar": (RAYS, 0.0, "distances to the road's edges [50 m] over half a turn, from right to left"),
    "ahead": (2 * len(AHEAD), -1.0, "points of the road's middle, to the right and ahead [70 m]"),
}


def state_of(cars):
    """The fields of the state, for so many cars."""
    return {
        **ROAD,
        **marks(cars),
        **bodies(cars),
        "place": i8(cars).index_of(MOST),  # the nearest gate
        "owed": f8(cars),  # for tiles, until the next step pays it
        **VIEW,
        **WALK,
        "line": f8(WINDOW, 5),
    }


PARAMS = {
    "engine_power": param(40000.0, 2000.0, 80000.0, "W", "power of the engine, at each driven wheel"),
    "wheel_inertia": param(1.6, 0.2, 4.0, "kg m^2", "inertia of a rolling wheel"),
    "friction_limit": param(400.0, 100.0, 800.0, "N", "largest friction of a wheel"),
    "road_friction": param(1.0, 0.3, 1.5, "", "fraction of the friction on the road, if more than on grass"),
    "grass_friction": param(0.6, 0.1, 1.0, "", "fraction of the friction on grass"),
    "brake_force": param(15.0, 0.0, 50.0, "rad/s", "decrease of a wheel's angular velocity per step at full brake"),
    "front_brake": param(1.0, 0.0, 1.0, "", "fraction of the brakes at the front wheels"),
    "rear_brake": param(1.0, 0.0, 1.0, "", "fraction of the brakes at the rear wheels"),
    "gas_rise": param(0.1, 0.01, 1.0, "", "largest increase of gas per step"),
    "steer_limit": param(0.4, 0.1, 0.9, "rad", "largest angle of a wheel"),
    "hull_density": param(1.0, 0.5, 2.0, "", "mass of the hull, relative to the vehicle's default"),
    "wheel_density": param(0.1, 0.05, 0.5, "kg/m^2", "mass of a wheel, per area seen from above"),
    "track_radius": param(150.0, 100.0, 160.0, "m", "largest distance of the points through which the road runs"),
    "track_width": param(40.0 / 6.0, 4.0, 8.0, "m", "half the width of the road"),
    "track_turn_rate": param(0.31, 0.2, 0.4, "rad", "largest turn of the road from gate to gate"),
    "playfield": param(2000.0 / 6.0, 250.0, 500.0, "m", "half the side of the playfield; leaving it ends the episode"),
    "lap_complete_percent": param(
        0.95, 0.0, 1.0, "", "fraction of tiles above which tile 0 completes the lap", limit=True
    ),
    "zoom": param(2.7, 1.0, 5.0, "", "of the camera"),
}
OPTIONS: dict[str, Any] = {
    "vehicle": choice(*VEHICLES, doc="of CARL's garage", sets=BUILT),
    "drive": DRIVE,
    "close_lap": flag(False, "whether a lap is complete whenever tile 0 is touched with enough tiles visited"),
}


def sizes(values):
    vector = values.observation == "vector"
    return {"side": 0 if vector else SIDE, **{f"of_{name}": row[0] if vector else 0 for name, row in BLOCKS.items()}}


def vector_blocks():
    return {
        name: block(f"of_{name}", low=low, high=1.0, doc=doc, constant=name == "on_road")
        for name, (_, low, doc) in BLOCKS.items()
    }


CAR = instead("the car and its track are in `env.unwrapped.batch.states`")
DROP_IN = drop_in(
    {
        "continuous": only(True, "rlenvs/CarRacingDiscrete-v0 has five choices"),
        "verbose": only(False, "nothing is printed"),
    },
    dict.fromkeys(("car", "track", "road", "world"), CAR),
)

SPEC = world(
    "CarRacing-v0",
    doc=__doc__,
    source="Gymnasium CarRacing-v3 (Towers et al., arXiv 2407.17032); CARL (Benjamins et al., TMLR 2023)",
    params=PARAMS,
    options={
        "observation": OBSERVATION,
        **OPTIONS,
        "domain_randomize": flag(False, "whether the colors of road and grass change in every episode"),
    },
    sizes=sizes,
    data=SHAPES,
    state=state_of(1),
    scratch=(*SCRATCH, "line"),
    expert_sees="state",
    observation=vector_blocks(),
    images={"screen": image("side", "side", 3, doc="the picture")},
    action=continuous("steer", "gas", "brake", low=(-1.0, 0.0, 0.0), high=(1.0, 1.0, 1.0)),
    terms={
        "tiles": term(0.0, 1000.0, 1.0, "1000 / N for each tile that a wheel touches for the first time"),
        "time": term(-0.1, 0.0, 1.0, "-0.1"),
        "out": term(-100.0, 0.0, 1.0, "-100 outside the playfield"),
    },
    costs={"off_road": cost(25.0, doc="1 while all wheels are on grass")},
    published=published("Gymnasium CarRacing-v3"),
    horizon=1000,
    probe={"grass_friction": {"road_friction": 0.3}},
    quick={"observation": "vector"},
    fps=50,
    drop_in=DROP_IN,
    reward_threshold=900.0,
    levels={
        "vector": {"observation": "vector"},
        "lap": {"observation": "vector", "close_lap": True},
        "randomized": {"domain_randomize": True},
        "street": {"vehicle": "street car"},
        "bus": {"vehicle": "bus"},
    },
)
DISCRETE = SPEC.member(
    "CarRacingDiscrete-v0",
    "CarRacing with five discrete actions: drive a lap on a random track by steering, gas or brake, one at a time.",
    action=discrete("nothing", "right", "left", "gas", "brake"),
    drop_in=DROP_IN.but(keywords={"continuous": only(False, "rlenvs/CarRacing-v0 has continuous actions")}),
    reward_threshold=900.0,
)


@SPEC.make_data
def data(values):
    return shapes_of(values.vehicle)


@kernel
def choose_colors(p, s, rng):
    for j in range(9):
        s.color[j] = PLAIN[j]
    if p.domain_randomize:
        for j in range(6):
            s.color[j] = uniform(rng, 0.0, BRIGHTEST)
        lighter = int(3.0 * uniform(rng, 0.0, 1.0))
        for j in range(3):
            s.color[6 + j] = s.color[3 + j] + (LIGHTER if j == lighter else 0.0)


@SPEC.reset
def reset(p, s, rng):
    choose_colors(p, s, rng)
    make_track(p, s, rng)
    place_car(p, s, 0, s.gate[0, 0], s.gate[0, 1], s.gate[0, 2])
    roll(p, s, 0, 0.0, 0.0, 0.0)


@kernel
def roll(p, s, c, steer, gas, brake):
    """A step of car c: the wheels push, with the friction of the tiles of the step before; then the tiles below the
    wheels are looked for; then the car moves. So does the original."""
    push_wheels(p, s, c, gas, brake)
    s.owed[c] += touch_tiles(p, s, c) * 1000.0 / max(s.tiles, 1)
    move_car(p, s, c, steer)
    s.place[c] = nearest_gate(s, s.place[c], s.body[c, HULL, 0], s.body[c, HULL, 1])


@kernel
def is_out(p, s, c):
    """Whether a car has left the playfield."""
    x, y = hull_origin(p, s, c)
    return abs(x) > p.playfield or abs(y) > p.playfield


@kernel
def is_off_road(s, c):
    """1 while all wheels of a car are on grass."""
    grip = 0.0
    for w in range(WHEELS):
        grip += s.wheel[c, w, GRIP]
    return 1.0 if grip == 0.0 else 0.0


@kernel
def is_home(s, c):
    """Whether a car has visited all tiles, or has closed its lap."""
    return s.visits[c] == s.tiles or s.lap_closed[c] == 1


@kernel
def play(p, s, steer, gas, brake, r):
    """A step with the wheels turned to the left by `steer` [rad]."""
    roll(p, s, 0, steer, gas, brake)
    out = is_out(p, s, 0)
    if out:
        r.out = -100.0
    else:
        r.tiles, r.time = s.owed[0], -0.1
    s.owed[0] = 0.0
    r.success = not out and is_home(s, 0)
    r.terminated = out or r.success
    r.off_road = is_off_road(s, 0)


@SPEC.step
def step(p, s, a, rng, r):
    play(p, s, -a[0], a[1], a[2], r)


@DISCRETE.step
def step_by_choice(p, s, a, rng, r):
    steer = STEERED if a == LEFT else (-STEERED if a == RIGHT else 0.0)
    play(p, s, steer, SOFT_GAS if a == GAS else 0.0, SOFT_BRAKE if a == BRAKE else 0.0, r)


@SPEC.observe
def observe(p, s, o):
    if p.observation == VECTOR:
        sense(p, s, 0, o)


@kernel
def score_shown(s, c):
    """What car c has earned, as its panel says: without the time of the last step."""
    return s.visits[c] * 1000.0 / max(s.tiles, 1) - 0.1 * max(s.elapsed - 1, 0)


@SPEC.observe_images
def observe_images(p, s, i):
    if p.observation != VECTOR:
        show(p, s, 0, score_shown(s, 0), i.screen)


@SPEC.expert
def expert(p, s, a):
    right, faster = plan(p, s, 0)
    a[0] = right
    a[1] = 0.03 * faster
    a[2] = -0.04 * faster


@DISCRETE.expert
def expert_by_choice(p, s, a):
    right, faster = plan(p, s, 0)
    steered = 0.5 * (s.body[0, 1, 2] + s.body[0, 2, 2]) - s.body[0, HULL, 2]
    a[0] = NOTHING
    if abs(right + steered) > 0.04:
        a[0] = RIGHT if right > 0.04 else (LEFT if right < -0.04 else NOTHING)
    elif faster > 0.0:
        a[0] = GAS
    elif faster < -5.0:
        a[0] = BRAKE


@SPEC.draw
def draw(canvas, p, s):
    draw_drive(canvas, p, s)
    along, _ = speed_along(s, 0)
    canvas.caption(f"{along:.0f} m/s", f"{int(s.visits[0])} of {int(s.tiles)} tiles")


def pressed_keys(pressed):
    right, left = pressed.intersection(("right", "d")), pressed.intersection(("left", "a"))
    return bool(right), bool(left), bool(pressed.intersection(("up", "w"))), bool(pressed.intersection(("down", "s")))


@SPEC.keys
def keys(pressed, values):
    right, left, gas, brake = pressed_keys(pressed)
    low = -1.0 if values.scaled else 0.0
    return [float(right) - float(left), 1.0 if gas else low, 0.8 if brake else low]


SPEC.datasets(offline_sets)


@DISCRETE.keys
def keys_of_choices(pressed, values):
    right, left, gas, brake = pressed_keys(pressed)
    return RIGHT if right else LEFT if left else GAS if gas else BRAKE if brake else NOTHING
