"""CarRacingDuel: up to eight cars race on one track; the first car on a tile is rewarded most.

## Description
The race of MultiCarRacing (Schwarting, Seyde, Gilitschenski, Liebenwein, Sander, Karaman and Rus, "Deep Latent
Competition: Learning to Race Using Visual Control Policies in Latent Space", CoRL 2020;
igilitschenski/multi_car_racing) with the cars, tracks and vehicles of CarRacing-v0: the first car on a tile receives
1000 / N, and later cars less, by a fraction of 1 / `cars` for each car that was there before. Cars start in random
order in rows of two, 3 m to either side of the middle, with five tiles between rows. `direction="cw"` mirrors the
track.

Different: cars touch as capsules around their hulls, by one impulse without friction (there polygons of hulls and
wheels); a car that leaves the playfield is out, and the others continue (there the episode ends); if several cars reach
a tile in the same step, the tie is broken in rotation (there by the order of Box2D's contacts); rows are perpendicular
to the road (there the offset from the middle has another direction if the road is not along the y axis). `contact`,
`backwards` and the observation of other cars are added by this package.

Scripted players: "racer" drives CarRacing's line as fast as braking allows, and overtakes slower cars; "steady" drives
at four fifths, "rookie" at three fifths of its speed.

## Action Space
Steering (1 is right), gas and brake, as in CarRacing-v0.

## Observation Space
The vector of CarRacing-v0; then, for the `neighbours` nearest other cars, their position to the right and ahead, their
velocity relative to the own car, and sine and cosine of the relative angle (zeros if there is none); then whether the
car drives backwards, more than 90 degrees from the road's direction. The level "pixels" has CarRacing's image, with the
other cars in blue; a blue square in its corner means that the car drives backwards.

## Rewards
Per car. `tiles`, `time` and `out` as in CarRacing-v0, with tiles shared as above. `backwards` (weight 0) is -1 while
driving backwards, `contact` (weight 0) -1 in a step with a contact.

## Costs
`off_road`: 1 while all four wheels are on grass. `touch`: 1 in a step in which the car touches another one.

## Starting State
At rest on a new track; half of all tracks turn left, half turn right.

## Episode End
Termination: of all cars when one of them has visited all tiles; of a car that leaves the playfield. Truncation: 1000
steps (20 s). Success: all tiles are visited, or more than by any other car when the episode ends. At `level="lap"` the
race is also won by touching the first tile again with more than 90 % of the tiles visited.

## Parameters
Those of CarRacing-v0, and `bounce`.

## Reference Scores
Mean return over seeds 0 to 99 of both cars together, each seed from both sides, against "racer".

## Version History
v0: first version.
"""

import math
from typing import Any

from rlenvs.core import (
    b1,
    below,
    block,
    choice,
    continuous,
    cost,
    f8,
    i8,
    image,
    integer,
    kernel,
    maths,
    param,
    term,
    uniform,
    world,
)
from rlenvs.robotics.racing.car import (
    ANGLE,
    HULL,
    SHAPES,
    VX,
    VY,
    X,
    Y,
    move_car,
    place_car,
    push_wheels,
    shapes_of,
    speed_along,
    touch_tiles,
)
from rlenvs.robotics.racing.car_contacts import CAPSULE, capsule_of, collide
from rlenvs.robotics.racing.car_pictures import COLORS, draw_drive
from rlenvs.robotics.racing.car_racing import (
    BLOCKS,
    OPTIONS,
    PARAMS,
    is_home,
    is_off_road,
    is_out,
    pressed_keys,
    state_of,
    vector_blocks,
)
from rlenvs.robotics.racing.car_senses import REACH, SLIDE, SPEED, plan, sense, unit
from rlenvs.robotics.racing.car_track import make_track, mirror_road, nearest_gate
from rlenvs.robotics.racing.car_view import PLAIN, SCRATCH, SIDE, show

MOST_CARS = 8
OBSERVATION = choice("vector", "pixels", doc="numbers, or the published image")
(PIXELS,) = OBSERVATION.codes("pixels")
DIRECTION = choice("random", "ccw", "cw", doc="direction of the track")
RANDOM, CLOCKWISE = DIRECTION.codes("random", "cw")
LINES, ASIDE = 5, 3.0  # tiles from line to line of the start; m from the middle of the road
PACES = (1.0, 0.8, 0.6)  # of the players
SEEN_AHEAD, SEEN_ASIDE, SWERVE = 16.0, 3.2, 0.12  # m, m, rad: whom players drive around, and how hard
FLAG, BLUE = 8, (0, 0, 255)  # pixels, colour of the flag


def sizes(values: Any) -> dict[str, Any]:
    seen = values.observation == "vector"
    return {
        "agents": values.cars,
        "cars": values.cars,
        "side": 0 if seen else SIDE,
        "rivals": values.neighbours if seen else 0,
        "one": int(seen),
        **{f"of_{name}": row[0] if seen else 0 for name, row in BLOCKS.items()},
    }


SPEC = world(
    "CarRacingDuel-v0",
    doc=__doc__,
    source="MultiCarRacing (Schwarting et al., CoRL 2020); Gymnasium CarRacing-v3; CARL (Benjamins et al., TMLR 2023)",
    agents=True,
    params={**PARAMS, "bounce": param(0.0, 0.0, 1.0, "", "restitution between cars")},
    options={
        "cars": integer(2, 1, MOST_CARS, "number of cars"),
        "observation": OBSERVATION,
        "direction": DIRECTION,
        "neighbours": integer(1, 0, MOST_CARS - 1, "number of other cars in the observation"),
        **OPTIONS,
    },
    sizes=sizes,
    teams=lambda values: list(range(values.cars)),
    players=("racer", "steady", "rookie"),
    data={**SHAPES, **CAPSULE},
    state={
        **state_of("cars"),
        "gone": b1("cars"),
        "touched": b1("cars"),  # another car, in this step
        "earned": f8("cars"),
        "grid": i8("cars"),  # its place at the start
        "backward": b1("cars"),
    },
    scratch=(*SCRATCH, "line"),
    expert_sees="state",
    observation={
        **vector_blocks(),
        "rivals": block(
            *("rivals", 6),
            low=-1.0,
            high=1.0,
            doc="of the nearest cars: right and ahead [70 m], velocity [50 and 100 m/s], sine and cosine of the angle",
            constant=True,
        ),
        "backwards": block("one", low=0.0, high=1.0, doc="whether the own car drives backwards", constant=True),
    },
    images={"screen": image("side", "side", 3, doc="the picture")},
    action=continuous("steer", "gas", "brake", low=(-1.0, 0.0, 0.0), high=(1.0, 1.0, 1.0)),
    terms={
        "tiles": term(0.0, 1000.0, 1.0, "1000 / N for a new tile, less for each car that was there before"),
        "time": term(-0.1, 0.0, 1.0, "-0.1"),
        "out": term(-100.0, 0.0, 1.0, "-100 outside the playfield"),
        "backwards": term(-1.0, 0.0, 0.0, "-1 while driving backwards"),
        "contact": term(-1.0, 0.0, 0.0, "-1 in a step with a contact"),
    },
    costs={
        "off_road": cost(25.0, doc="1 while all wheels are on grass"),
        "touch": cost(5.0, doc="1 in a step in which the car touches another one"),
    },
    horizon=1000,
    probe={
        "grass_friction": {"road_friction": 0.3},
        "playfield": {"observation": "pixels"},
        "zoom": {"observation": "pixels"},
    },
    fps=50,
    levels={
        "pixels": {"observation": "pixels"},
        "lap": {"close_lap": True, "lap_complete_percent": 0.9},
        "pack": {"cars": 8, "neighbours": 3},
        "bumpy": {"bounce": 0.8, "cars": 4, "neighbours": 3},
    },
)


@SPEC.make_data
def data(values):
    shapes = shapes_of(values.vehicle)
    return {**shapes, "capsule": capsule_of(shapes["part"])}


# --- the race ---------------------------------------------------------------------------------------------------------


@SPEC.reset
def reset(p, s, rng):
    for j in range(9):
        s.color[j] = PLAIN[j]
    make_track(p, s, rng)
    if p.direction == CLOCKWISE or (p.direction == RANDOM and uniform(rng, 0.0, 1.0) < 0.5):
        mirror_road(p, s)
    cars = s.gone.size
    for c in range(cars):
        s.grid[c] = c
    for c in range(cars - 1, 0, -1):
        other = below(rng, c + 1)
        s.grid[c], s.grid[other] = s.grid[other], s.grid[c]
    for c in range(cars):
        line_up(p, s, c)
        push_wheels(p, s, c, 0.0, 0.0)
    touch_road(p, s)
    for c in range(cars):
        roll(p, s, c, 0.0)


@kernel
def line_up(p, s, c):
    """Put a car into its place at the start."""
    g = (-LINES * (s.grid[c] // 2)) % max(s.tiles, 1)
    aside = 0.0
    if s.gone.size > 1:
        aside = ASIDE if s.grid[c] % 2 == 1 else -ASIDE
    sn, cs = maths.sin_cos(s.gate[g, 2])
    place_car(p, s, c, s.gate[g, 0] + aside * cs, s.gate[g, 1] + aside * sn, s.gate[g, 2])
    s.place[c] = g


@kernel
def touch_road(p, s):
    """Which tiles cars are on; who is asked first changes from step to step."""
    cars = s.gone.size
    for i in range(cars):
        c = (s.elapsed + i) % cars
        if not s.gone[c]:
            s.owed[c] += touch_tiles(p, s, c) * 1000.0 / max(s.tiles, 1)


@kernel
def roll(p, s, c, steer):
    """Move a car, with its wheels turned to the left by `steer` [rad]."""
    move_car(p, s, c, steer)
    s.place[c] = nearest_gate(s, s.place[c], s.body[c, HULL, X], s.body[c, HULL, Y])


@SPEC.step
def step(p, s, a, rng, r):
    cars = s.gone.size
    for c in range(cars):
        s.touched[c] = False
        if not s.gone[c]:
            push_wheels(p, s, c, a[c, 1], a[c, 2])
    touch_road(p, s)
    for c in range(cars):
        if not s.gone[c]:
            roll(p, s, c, -a[c, 0])
    for c in range(cars):
        for d in range(c + 1, cars):
            if not s.gone[c] and not s.gone[d] and collide(p, s, c, d):
                s.touched[c], s.touched[d] = True, True
    won = False
    for c in range(cars):
        if not s.gone[c]:
            s.backward[c] = drives_backwards(s, c)
            won = won or (is_home(s, c) and not is_out(p, s, c))
    for c in range(cars):
        if not s.gone[c]:
            judge(p, s, c, won, r)


@kernel
def drives_backwards(s, c):
    """Whether a car moves more than a quarter of a turn from the road's direction; below 0.5 m/s, whether it looks
    so."""
    sn, cs = maths.sin_cos(s.gate[s.place[c], 2])
    vx, vy = s.body[c, HULL, VX], s.body[c, HULL, VY]
    if vx * vx + vy * vy <= 0.25:
        hull_sn, hull_cs = maths.sin_cos(s.body[c, HULL, ANGLE])
        vx, vy = -hull_sn, hull_cs
    return vy * cs - vx * sn < 0.0


@kernel
def leads(s, c):
    """Whether a car has visited more tiles than every other one that is still there."""
    others, behind = 0, 0
    for d in range(s.gone.size):
        if d != c and not s.gone[d]:
            others += 1
            behind += s.visits[d] < s.visits[c]
    return behind == others and s.gone.size > 1


@kernel
def judge(p, s, c, won, r):
    """What a car gains and spends in a step; `won` says that the race is over."""
    out = is_out(p, s, c)
    if out:
        r.out[c] = -100.0
        s.earned[c] -= 100.0
    else:
        r.tiles[c], r.time[c] = s.owed[c], -0.1
        s.earned[c] += s.owed[c] - 0.1
    s.owed[c] = 0.0
    r.backwards[c] = -1.0 if s.backward[c] else 0.0
    r.contact[c] = -1.0 if s.touched[c] else 0.0
    r.off_road[c] = is_off_road(s, c)
    r.touch[c] = 1.0 if s.touched[c] else 0.0
    r.success[c] = not out and (is_home(s, c) or leads(s, c))
    r.terminated[c] = out or won
    s.gone[c] = out


# --- what drivers see -------------------------------------------------------------------------------------------------


@SPEC.observe
def observe(p, s, k, o):
    if p.observation == PIXELS:
        return
    sense(p, s, k, o)
    show_rivals(s, k, o.rivals)
    o.backwards[0] = 1.0 if s.backward[k] else 0.0


@kernel
def show_rivals(s, k, out):
    """The nearest other cars, the nearest first."""
    sn, cs = maths.sin_cos(s.body[k, HULL, ANGLE])
    last, chosen = -1.0, -1
    for n in range(out.shape[0]):
        best, found = 1e18, -1
        for j in range(s.gone.size):
            dx, dy = s.body[j, HULL, X] - s.body[k, HULL, X], s.body[j, HULL, Y] - s.body[k, HULL, Y]
            away = dx * dx + dy * dy
            later = away > last or (away == last and j > chosen)
            if j != k and not s.gone[j] and later and away < best:
                best, found = away, j
        for m in range(6):
            out[n, m] = 0.0
        if found < 0:
            continue
        last, chosen = best, found
        dx, dy = s.body[found, HULL, X] - s.body[k, HULL, X], s.body[found, HULL, Y] - s.body[k, HULL, Y]
        vx, vy = s.body[found, HULL, VX] - s.body[k, HULL, VX], s.body[found, HULL, VY] - s.body[k, HULL, VY]
        out[n, 0], out[n, 1] = unit((dx * cs + dy * sn) / REACH), unit((dy * cs - dx * sn) / REACH)
        out[n, 2], out[n, 3] = unit((vx * cs + vy * sn) / SLIDE), unit((vy * cs - vx * sn) / SPEED)
        out[n, 4], out[n, 5] = maths.sin_cos(s.body[found, HULL, ANGLE] - s.body[k, HULL, ANGLE])


@SPEC.observe_images
def observe_images(p, s, k, i):
    if p.observation != PIXELS:
        return
    show(p, s, k, s.earned[k], i.screen)
    if s.backward[k]:
        for y in range(FLAG):
            for x in range(SIDE - FLAG, SIDE):
                for c in range(3):
                    i.screen[y, x, c] = BLUE[c]


# --- players ----------------------------------------------------------------------------------------------------------


@kernel
def swerve(s, c):
    """How much more to the right [rad] a car has to steer to pass the one before it."""
    sn, cs = maths.sin_cos(s.body[c, HULL, ANGLE])
    more = 0.0
    for j in range(s.gone.size):
        dx, dy = s.body[j, HULL, X] - s.body[c, HULL, X], s.body[j, HULL, Y] - s.body[c, HULL, Y]
        right, ahead = dx * cs + dy * sn, dy * cs - dx * sn
        if j != c and not s.gone[j] and 0.0 < ahead < SEEN_AHEAD and abs(right) < SEEN_ASIDE:
            more += (-SWERVE if right > 0.0 else SWERVE) * (1.0 - ahead / SEEN_AHEAD)
    return more


@kernel
def drive(p, s, c, pace, out):
    """Steering, gas and brake at a share of the speed that the line allows."""
    if s.gone[c]:
        out[0] = out[1] = out[2] = 0.0
        return
    right, faster = plan(p, s, c)
    along, _ = speed_along(s, c)
    change = pace * (along + faster) - along
    out[0] = min(max(right + swerve(s, c), -1.0), 1.0)
    out[1] = min(max(0.03 * change, 0.0), 1.0)
    out[2] = min(max(-0.04 * change, 0.0), 1.0)


@SPEC.player("racer")
def racer(p, s, k, a, rng):
    drive(p, s, k, PACES[0], a[k])


@SPEC.player("steady")
def steady(p, s, k, a, rng):
    drive(p, s, k, PACES[1], a[k])


@SPEC.player("rookie")
def rookie(p, s, k, a, rng):
    drive(p, s, k, PACES[2], a[k])


# --- for people -------------------------------------------------------------------------------------------------------


def leader_of(s: Any) -> int:
    """The car with the most tiles that is still there."""
    there = [c for c in range(len(s.gone)) if not s.gone[c]] or [0]
    return max(there, key=lambda c: int(s.visits[c]))


@SPEC.draw
def draw(canvas, p, s):
    c = leader_of(s)
    names = [(COLORS[k % len(COLORS)], f"car {k}", "disc") for k in range(len(s.gone))]
    canvas.legend(*names)
    draw_drive(canvas, p, s, c)
    told = ", ".join(f"{int(n)}" for n in s.visits)
    canvas.caption(f"{math.hypot(*(float(v) for v in s.body[c, HULL, 3:5])):.0f} m/s", f"tiles {told}")


@SPEC.keys
def keys(pressed, values):
    right, left, gas, brake = pressed_keys(pressed)
    return [float(right) - float(left), 1.0 if gas else -1.0, 0.8 if brake else -1.0]
