"""Move to beacon: walk a marine to a beacon, which then reappears elsewhere.

## Description
The first of the mini-games of SC2LE (Vinyals et al., "StarCraft II: A New Challenge for Reinforcement Learning",
2017; repository deepmind/pysc2), without the game: one marine, one beacon, 120 seconds of the map's timer. Rules, sizes
and positions are those of the map's script, unit numbers those of StarCraft II. A marine walks 270 units in that time,
so its speed limits the score: people and agents reach 26 to 28. Different from the original: the player gives orders
directly, without selecting the marine first; a marine turns and accelerates instantly; positions are observed as
numbers, and as a feature map with `pixels`.

## Action Space
0: no new order. 1 + i: move to point i of the field, counted row by row from the lower left corner. A step is 8 ticks
of the game.

## Observation Space
Position and goal of the marine, position of the beacon, from -1 to 1 across the field of 22 by 16 units. With `pixels`
also a feature map, lowest row first: marine, beacon, goal of the order.

## Rewards
1 when the center of the marine comes within `reach` of the beacon.

## Costs
None.

## Starting State
The marine is at a random position, the beacon at least 5 units from it (as in the map's script; its description says
4), at least 1.5 units from the border and 4 from the center of the field.

## Episode End
Truncation: 120 seconds of 16 ticks, 240 steps of 8 ticks. Success: a score of 26, which SC2LE's best agent reached.

## Parameters
`step_mul` changes the number of steps but not the duration of an episode.

## Reference Scores
Mean return over seeds 0 to 99. SC2LE's random policy: 1, its best agent: 26, a grandmaster: 28.

## Version History
v0: first version.
"""

from rlenvs.core import block, f8, image, kernel, param, term, uniform, world
from rlenvs.multi.battle.minigames.language import read, report
from rlenvs.multi.battle.minigames.render import draw_beacon, order_places
from rlenvs.multi.battle.minigames.squads import (
    SMALL_FIELD,
    SQUAD_DATA,
    SQUAD_OPTIONS,
    SQUAD_PARAMS,
    SQUAD_STATE,
    TRIES,
    choice_of,
    give,
    map_steps,
    march_all,
    order_squad,
    orders,
    place_marine,
    point_at,
    squad_data,
    squad_sizes,
    steps_per_second,
)
from rlenvs.multi.battle.minigames.views import (
    across,
    clear_map,
    list_walkers,
    paint,
    paint_marines,
    upward,
)

APART, BORDER, HOLE = 5.0, 1.5, 4.0  # of the beacon: from the marine, the border, the centre of the field
PUBLISHED = 26.0

SPEC = world(
    "MoveToBeacon-v0",
    doc=__doc__,
    source="pysc2 MoveToBeacon (Vinyals et al., 2017)",
    params={**SQUAD_PARAMS, "reach": param(1.25, 0.1, 4.0, "", "distance at which the beacon is reached")},
    options=SQUAD_OPTIONS,
    sizes=lambda values: squad_sizes(values, SMALL_FIELD, marines=1, foes=0, verbs=1, groups=1),
    data=SQUAD_DATA,
    state={**SQUAD_STATE, "beacon_x": f8, "beacon_y": f8},
    observation={
        "marine": block("marines", 4, low=-1.0, high=1.0, raw=True, doc="x, y, x of its goal, y of its goal"),
        "beacon": block(2, low=-1.0, high=1.0, raw=True, doc="x, y"),
    },
    images={"map": image("pixel_rows", "pixel_columns", 3, doc="marine, beacon, goal of the order")},
    action=orders("no order, or a point to move to", SMALL_FIELD, verbs=1, groups=1),
    terms={"beacon": term(0.0, 1.0, 1.0, "1 when the marine reaches the beacon")},
    horizon=map_steps(120),
    fps=steps_per_second,
    levels={"easy": {"reach": 2.5}, "coarse": {"columns": 11, "reach": 1.5}},
)


@SPEC.make_data
def data(values):
    return squad_data(values, SMALL_FIELD)


@kernel
def place_beacon(p, s, rng):
    """A place far enough from the marine and from the centre."""
    for _ in range(TRIES):
        s.beacon_x = uniform(rng, BORDER, p.width - BORDER)
        s.beacon_y = uniform(rng, BORDER, p.height - BORDER)
        far = (s.beacon_x - s.x[0]) ** 2 + (s.beacon_y - s.y[0]) ** 2 >= APART * APART
        if far and (s.beacon_x - 0.5 * p.width) ** 2 + (s.beacon_y - 0.5 * p.height) ** 2 >= HOLE * HOLE:
            break


@SPEC.reset
def reset(p, s, rng):
    place_marine(p, s, 0, uniform(rng, 0.0, p.width), uniform(rng, 0.0, p.height))
    place_beacon(p, s, rng)


@SPEC.step
def step(p, s, a, rng, r):
    order_squad(p, s, a, 1)
    for _ in range(p.step_mul):
        march_all(p, s, rng)
        if (s.x[0] - s.beacon_x) ** 2 + (s.y[0] - s.beacon_y) ** 2 <= p.reach * p.reach:
            r.beacon = 1.0
            s.score += 1.0
            place_beacon(p, s, rng)
    r.success = s.score >= PUBLISHED


@SPEC.observe
def observe(p, s, o):
    list_walkers(p, s, o.marine)
    o.beacon[0] = across(p, s.beacon_x)
    o.beacon[1] = upward(p, s.beacon_y)


@SPEC.observe_images
def observe_images(p, s, i):
    clear_map(i.map)
    paint_marines(p, s, i.map)
    paint(p, i.map, 1, s.beacon_x, s.beacon_y, p.reach, 255)


@SPEC.expert
def expert(p, s, a):
    """Straight to the beacon."""
    give(p, s, a, choice_of(p, 0, 1, 0, point_at(p, s.beacon_x, s.beacon_y)), 1)


@SPEC.draw
def draw(canvas, p, s):
    draw_beacon(canvas, p, s)


@SPEC.places
def places(canvas, p, s):
    return order_places(canvas, p, 1)


@SPEC.describe
def describe(p, s, k):
    beacon = f"a beacon at ({s.beacon_x:.1f}, {s.beacon_y:.1f}), reached within {p.reach:g}"
    return report(p, s, "MoveToBeacon", [beacon], "Reach as many beacons as you can.", 1, 1)


@SPEC.parse_action
def parse_action(text, p, s, k):
    return read(text, p, s, 1, 1)
