"""Collect mineral shards: command two marines to collect as many shards as possible.

## Description
The mini-game of SC2LE (Vinyals et al., "StarCraft II: A New Challenge for Reinforcement Learning", 2017; repository
deepmind/pysc2) in which the two units are best commanded separately. Rules, sizes and positions are those of the map's
script, unit numbers those of StarCraft II. Agents that give both marines the same orders reach about 100, those that
separate them nearly 200. Different from the original: the player gives orders directly, to both marines or to the one
nearer to a point, without selecting them first; marines turn and accelerate instantly; positions are observed as
numbers, and as a feature map with `pixels`. The map does not define how near a marine must come to a shard: `reach` is
our estimate.

## Action Space
0: no new order. 1 + i: both marines move to point i of the field, counted row by row from the lower left corner.
After these, in the same order: the marine nearer to the point moves there. A step is 8 ticks of the game. With
`orders="headings"` a choice for each marine: 0: no new order; 1 + i: move 4 units in one of eight directions,
counterclockwise from the right.

## Observation Space
Position and goal of each marine, and for each shard whether it exists, and its position (zeros if it does not), from -1
to 1 across the field of 22 by 16 units. With `near`, only the shards nearest to each marine are shown, the nearest
first: 1 (0 if there is none), and the offset to the right and up, in half sides of the field, at most 1. With `pixels`
also a feature map, lowest row first: marines, shards, goals of orders.

## Rewards
1 for each shard that a marine comes within `reach` of.

## Costs
None.

## Starting State
The marines are at random positions, the shards at least 2 units from them and 1 from the border. When all twenty are
collected, twenty new ones appear by the same rule.

## Episode End
Truncation: 120 seconds of 16 ticks, 240 steps of 8 ticks. Success: a score of 103, which SC2LE's best agent reached.

## Parameters
`step_mul` changes the number of steps but not the duration of an episode.

## Reference Scores
Mean return over seeds 0 to 99. SC2LE's random policy: 17, its best agent: 103, a grandmaster: 177, relational agents
(Zambaldi et al., 2019): 196.

## Version History
v0: first version.
"""

from rlenvs.core import b1, block, f8, i4, image, integer, kernel, param, term, uniform, world
from rlenvs.multi.battle.minigames.language import read, report
from rlenvs.multi.battle.minigames.render import draw_shards, order_places
from rlenvs.multi.battle.minigames.squads import (
    FAR,
    HEADINGS,
    NEAR,
    NEAREST,
    SMALL_FIELD,
    SQUAD_DATA,
    SQUAD_OPTIONS,
    SQUAD_PARAMS,
    SQUAD_STATE,
    TRIES,
    choice_of,
    clear_of,
    give,
    heading_to,
    map_steps,
    march_all,
    nearest_marine,
    order_squad,
    orders,
    place_marine,
    point_at,
    point_x,
    point_y,
    squad_data,
    squad_sizes,
    steps_per_second,
)
from rlenvs.multi.battle.minigames.views import (
    across,
    clear_map,
    clear_rows,
    comes_next,
    list_walkers,
    paint,
    paint_marines,
    show_offset,
    upward,
)

SHARDS, MARINES = 20, 2
APART, BORDER = 2.0, 1.0  # of shards: from marines, from the border
SHARD_RADIUS = 0.25  # in images
PUBLISHED = 103.0

SPEC = world(
    "CollectMineralShards-v0",
    doc=__doc__,
    source="pysc2 CollectMineralShards (Vinyals et al., 2017)",
    params={**SQUAD_PARAMS, "reach": param(0.75, 0.1, 4.0, "", "distance at which a marine collects a shard")},
    options={**SQUAD_OPTIONS, "near": integer(0, 0, SHARDS, NEAR)},
    sizes=lambda values: {
        **squad_sizes(values, SMALL_FIELD, marines=MARINES, foes=0, verbs=1, groups=2),
        "shown": 0 if values.near else SHARDS,
        "near": values.near,
    },
    data=SQUAD_DATA,
    state={**SQUAD_STATE, "there": b1(SHARDS), "shard_x": f8(SHARDS), "shard_y": f8(SHARDS), "shards_left": i4},
    observation={
        "marines": block("marines", 4, low=-1.0, high=1.0, raw=True, doc="x, y, x of its goal, y of its goal"),
        "shards": block("shown", 3, low=-1.0, high=1.0, raw=True, doc="1 while it exists, x, y"),
        "near": block("marines", "near", 3, low=-1.0, high=1.0, raw=True, doc="of each marine: 1, offset in x and y"),
    },
    images={"map": image("pixel_rows", "pixel_columns", 3, doc="marines, shards, goals of orders")},
    action=orders(
        "no order, or a point to move to for both marines, or for the nearer one",
        SMALL_FIELD,
        verbs=1,
        groups=2,
        squads=("first", "second"),
    ),
    terms={"shards": term(0.0, SHARDS, 1.0, "1 for each shard collected")},
    horizon=map_steps(120),
    fps=steps_per_second,
    levels={
        "easy": {"reach": 1.5},
        "coarse": {"columns": 11, "reach": 1.5},
        "headings": {"orders": "headings", "near": 3},
    },
)


@SPEC.make_data
def data(values):
    return squad_data(values, SMALL_FIELD)


@kernel
def place_shards(p, s, rng):
    """Twenty shards, none beside a marine."""
    for j in range(SHARDS):
        s.there[j] = True
        for _ in range(TRIES):
            s.shard_x[j] = uniform(rng, BORDER, p.width - BORDER)
            s.shard_y[j] = uniform(rng, BORDER, p.height - BORDER)
            if clear_of(s, 0, MARINES, s.shard_x[j], s.shard_y[j], APART):
                break
    s.shards_left = SHARDS


@SPEC.reset
def reset(p, s, rng):
    for i in range(MARINES):
        place_marine(p, s, i, uniform(rng, 0.0, p.width), uniform(rng, 0.0, p.height))
    place_shards(p, s, rng)


@kernel
def collect(p, s, r):
    """Take the shards that a marine has reached."""
    for j in range(SHARDS):
        if s.there[j] and not clear_of(s, 0, MARINES, s.shard_x[j], s.shard_y[j], p.reach):
            s.there[j] = False
            s.shards_left -= 1
            s.score += 1.0
            r.shards += 1.0


@SPEC.step
def step(p, s, a, rng, r):
    order_squad(p, s, a, 1)
    for _ in range(p.step_mul):
        march_all(p, s, rng)
        collect(p, s, r)
        if s.shards_left == 0:
            place_shards(p, s, rng)
    r.success = s.score >= PUBLISHED


@kernel
def next_shard(s, i, after, last):
    """The nearest shard to marine i among those farther than shard `last` at the squared distance `after`."""
    best, least = -1, FAR
    for j in range(SHARDS):
        if s.there[j]:
            distance = (s.shard_x[j] - s.x[i]) ** 2 + (s.shard_y[j] - s.y[i]) ** 2
            if comes_next(distance, j, least, after, last):
                best, least = j, distance
    return best, least


@kernel
def list_near(p, s, i, rows):
    """The shards that are nearest to marine i, the nearest first."""
    clear_rows(rows)
    last, after = -1, -1.0
    for n in range(rows.shape[0]):
        last, after = next_shard(s, i, after, last)
        if last < 0:
            return
        show_offset(p, rows[n], s.shard_x[last] - s.x[i], s.shard_y[last] - s.y[i])


@SPEC.observe
def observe(p, s, o):
    list_walkers(p, s, o.marines)
    if p.near > 0:
        for i in range(MARINES):
            list_near(p, s, i, o.near[i])
        return
    for j in range(SHARDS):
        o.shards[j, 0] = 1.0 if s.there[j] else 0.0
        o.shards[j, 1] = across(p, s.shard_x[j]) if s.there[j] else 0.0
        o.shards[j, 2] = upward(p, s.shard_y[j]) if s.there[j] else 0.0


@SPEC.observe_images
def observe_images(p, s, i):
    clear_map(i.map)
    for j in range(SHARDS):
        if s.there[j]:
            paint(p, i.map, 1, s.shard_x[j], s.shard_y[j], SHARD_RADIUS, 255)
    paint_marines(p, s, i.map)


@kernel
def best_point(p, s, i):
    """The point of the nearest shard that marine i is the nearest marine of; -1 when there is none."""
    best, least = -1, FAR
    for j in range(SHARDS):
        if s.there[j]:
            point = point_at(p, s.shard_x[j], s.shard_y[j])
            distance = (s.shard_x[j] - s.x[i]) ** 2 + (s.shard_y[j] - s.y[i]) ** 2
            if distance < least and nearest_marine(s, point_x(p, point), point_y(p, point)) == i:
                best, least = point, distance
    return best


@kernel
def is_bound(p, s, i):
    """Whether a shard lies at the point that marine i was sent to."""
    goal, shards = point_at(p, s.goal_x[i], s.goal_y[i]), 0
    for j in range(SHARDS):
        shards += s.there[j] and point_at(p, s.shard_x[j], s.shard_y[j]) == goal
    return shards > 0


@SPEC.expert
def expert(p, s, a):
    """A marine whose goal is no shard any more goes to the nearest one that is not nearer to the other."""
    for i in range(MARINES):
        point = best_point(p, s, i)
        if p.orders == HEADINGS:
            a[i] = 0 if point < 0 else 1 + heading_to(point_x(p, point) - s.x[i], point_y(p, point) - s.y[i])
        elif point >= 0:
            give(p, s, a, choice_of(p, 0, 1, NEAREST, point), 1)
            if not is_bound(p, s, i):
                return


@SPEC.draw
def draw(canvas, p, s):
    draw_shards(canvas, p, s)


@SPEC.places
def places(canvas, p, s):
    return order_places(canvas, p, 2)


@SPEC.describe
def describe(p, s, k):
    shards = [f"a shard at ({s.shard_x[j]:.1f}, {s.shard_y[j]:.1f})" for j in range(SHARDS) if s.there[j]]
    task = f"Collect as many shards as you can; a marine takes those within {p.reach:g}."
    return report(p, s, "CollectMineralShards", shards, task, 1, 2)


@SPEC.parse_action
def parse_action(text, p, s, k):
    return read(text, p, s, 1, 2)
