"""Mars explorer with continuous motion: drive and turn a rover to reveal a hilly terrain; climbing costs energy.

## Description
Terrain, lidar and rewards are those of `MarsExplorer-v0`; motion and hills are this package's own. The rover is a disc
with a position and a heading; it drives forwards or backwards, slower uphill, and turns. The land has a height, which
is seen with the cells. A rover that would touch an obstacle or the border stays where it is and is penalized; with
`collisions="end"` the episode ends.

## Action Space
`drive`: the speed as a fraction of the top speed; negative is backwards. `turn`: the turning rate; positive turns from
the direction of columns to that of rows.

## Observation Space
For each cell, what is known of it (0 unseen, 0.3 free, 1 obstacle), then its height if seen, else 0; the rover's row,
column, cosine and sine of its heading, and the slope ahead of it. From these 887 numbers it is hard to tell what is
ahead: whether a step would collide depends on a few cells of the map, which differ at every position, and a policy that
fails to recognize them keeps colliding for the rest of the episode. `observation="rays"` shows the known map relative
to the rover's position and heading instead: for each of 24 directions, starting from straight ahead, how near an
obstacle or the border is, and how near the first unseen cell is (1 at the rover, 0 beyond 20 cells or if the other
comes first); then pose, slope and whether the last step collided.

## Rewards
`explore` is 1 for every cell that is seen for the first time, `move` minus the movement cost, `climb` minus the slope
cost times the height gained in a step. `bonus` is given when the terrain is covered, `collision` when the rover
collides. With weight 0: `explored`, the fraction of all cells seen so far, and `path_length`, the distance driven so
far in cells.

## Costs
`collision_cost`: 1 for touching an obstacle or the border.

## Starting State
In the upper left corner, facing along the rows.

## Episode End
Termination: when more than `threshold` of the cells have been seen (a success), or at a collision with
`collisions="end"`. Truncation: 1500 steps.

## Parameters
A height of 0 gives flat terrain.

## Reference Scores
Mean return over seeds 0 to 99. The expert drives along a shortest path over cells to the nearest frontier.

## Version History
v0: first version.
"""

import math

from rlenvs.core import (
    b1,
    below,
    block,
    choice,
    continuous,
    cost,
    f4,
    f8,
    i1,
    i4,
    i8,
    integer,
    kernel,
    param,
    term,
    u1,
    world,
)
from rlenvs.core.declare.maths import atan2, cos, sin
from rlenvs.single.exploration.frontier import path_move
from rlenvs.single.exploration.lidar import (
    FREE,
    LIDAR_DATA,
    LONGEST_RANGE,
    MOST_CHANNELS,
    OBSTACLE,
    UNSEEN,
    cell_at,
    lidar_data,
    lidar_sizes,
    scan,
)
from rlenvs.single.exploration.noise import MASK, noise
from rlenvs.single.exploration.render import draw_driver, terrain_text
from rlenvs.single.exploration.terrain import (
    DOWN,
    LARGEST_MAP,
    RIGHT,
    TERRAIN_OPTIONS,
    TERRAIN_STATE,
    check_terrain,
    fill_padding,
    find_reachable,
    make_terrain,
)

SHADES = (0.0, 0.3, 1.0, 0.3)  # of unseen, free, obstacle, and where the rover is
COLLISIONS = choice("cost", "end", doc="whether a collision is only a cost, or ends the episode")
(END,) = COLLISIONS.codes("end")
RAYS, REACH, SAMPLES = 24, 20.0, 160  # directions; cells that a ray reaches, looked at so many times
HILL = 8.0  # cells, the size of hills


def sizes(values):
    check_terrain(values, [0, 0])
    whole, rays = values.observation == "map", values.observation == "rays"
    return {
        "height": values.height,
        "width": values.width,
        "rows_shown": values.height if whole else 0,
        "columns_shown": values.width if whole else 0,
        "directions": RAYS if rays else 0,
        "bumps_shown": 1 if rays else 0,
        **lidar_sizes(values),
    }


def nearest(values):
    return [0.0, 0.0, -1.0, -1.0]


def farthest(values):
    return [values.height, values.width, 1.0, 1.0]


SPEC = world(
    "MarsExplorerContinuous-v0",
    doc=__doc__,
    source="MarsExplorer (Koutras et al., Electronics 10(22) 2751, 2021), with continuous motion on hills",
    params={
        "top_speed": param(0.5, 0.1, 1.0, "cells/step", "speed on level ground"),
        "turn_rate": param(0.6, 0.1, 1.5, "rad/step", "largest turn in a step"),
        "radius": param(0.35, 0.1, 0.45, "cells", "of the rover"),
        "hill_height": param(1.0, 0.0, 3.0, "cells", "height of hills"),
        "grip": param(0.8, 0.0, 2.0, "", "fraction of the speed that is lost on a slope of 1"),
        "slope_cost": param(1.0, 0.0, 20.0, "1/cell", "cost of a cell of height gained"),
        "movement_cost": param(0.1, 0.0, 10.0, "", "cost of a step"),
        "bonus_reward": param(400.0, 0.0, 10000.0, "", "reward for covering the terrain"),
        "collision_reward": param(-1.0, -10000.0, 0.0, "", "reward of a collision"),
        "threshold": param(
            0.99, 0.1, 0.999, "", "fraction of seen cells above which the terrain counts as covered", limit=True
        ),
    },
    options={
        **TERRAIN_OPTIONS,
        "observation": choice("map", "rays", doc="the known map, or rays over it around the rover"),
        "lidar_range": integer(6, 1, LONGEST_RANGE, "cells that a ray of the lidar reaches"),
        "lidar_channels": integer(32, 4, MOST_CHANNELS, "rays of the lidar"),
        "collisions": COLLISIONS,
    },
    sizes=sizes,
    data=LIDAR_DATA,
    state={
        **TERRAIN_STATE,
        "row": f8,  # of the middle of the rover; the first cell reaches from 0 to 1
        "column": f8,
        "heading": f8,  # rad, 0 along the columns
        "way": f8,
        "bumped": b1,
        "land": i8,  # the number of the hills
        "cell": i4.index_of("area"),
        "known": u1("area").within(0, 3),
        "relief": f4("area"),  # heights of the cells
        "seen": i4,
        "in_reach": i4,
        "lengths": i4("channels"),
        "origin": i1("area"),  # scratch
    },
    scratch=("queue", "origin"),
    observation={
        # constant: around the start all is seen and free from the first step on
        "map": block(
            "rows_shown",
            "columns_shown",
            low=0.0,
            high=1.0,
            raw=True,
            constant=True,
            doc="what is known of each cell",
        ),
        "relief": block(
            "rows_shown", "columns_shown", low=-3.0, high=3.0, unit="cells", doc="heights of the cells that are seen"
        ),
        "blocked": block(
            "directions", low=0.0, high=1.0, raw=True, constant=True, doc="how near an obstacle or the border is"
        ),
        "unseen": block(
            "directions", low=0.0, high=1.0, raw=True, constant=True, doc="how near the first unseen cell is"
        ),
        "bumped": block("bumps_shown", low=0.0, high=1.0, raw=True, doc="whether the last step collided"),
        "pose": block(4, low=nearest, high=farthest, doc="row, column, cosine and sine of the heading"),
        "slope": block(low=-3.0, high=3.0, doc="rise ahead, per cell"),
    },
    action=continuous("drive", "turn"),
    terms={
        "explore": term(0.0, LARGEST_MAP**2, 1.0, "cells that were seen for the first time"),
        "move": term(-10.0, 0.0, 1.0, "minus the movement cost"),
        "climb": term(-100.0, 0.0, 1.0, "minus the cost of the height gained"),
        "bonus": term(0.0, 10000.0, 1.0, "the bonus, when the terrain is covered"),
        "collision": term(-10000.0, 0.0, 1.0, "the penalty for a collision"),
        "explored": term(0.0, 1.0, 0.0, "fraction of all cells seen so far"),
        "path_length": term(0.0, 1e6, 0.0, "distance driven so far, in cells"),
    },
    costs={"collision_cost": cost(0.0, doc="1 for touching an obstacle or the border")},
    horizon=1500,
    fps=12,
    levels={"plain": {"hill_height": 0.0}, "steep": {"hill_height": 2.5}},
)


@SPEC.state_fault
def state_fault(p, s):
    inside = 0.0 <= s.row < p.height and 0.0 <= s.column < p.width
    return "" if inside and s.cell == cell_at(p, int(s.row), int(s.column)) else "the rover is not in its cell"


@SPEC.make_data
def data(values):
    return lidar_data(values)


@kernel
def height_at(p, s, row, column):
    """The height of the land at a place."""
    return p.hill_height * noise(column / HILL, row / HILL, 0, int(s.land))


@kernel
def slope_ahead(p, s):
    """How much the land rises in the direction of the rover, per cell."""
    ahead = height_at(p, s, s.row + 0.5 * sin(s.heading), s.column + 0.5 * cos(s.heading))
    behind = height_at(p, s, s.row - 0.5 * sin(s.heading), s.column - 0.5 * cos(s.heading))
    return min(max(ahead - behind, -3.0), 3.0)


@kernel
def touches(p, s, row, column):
    """Whether the rover at a place would touch an obstacle or the border."""
    top, bottom = row - p.radius, row + p.radius
    left, right = column - p.radius, column + p.radius
    if top < 0.0 or left < 0.0 or bottom > p.height or right > p.width:
        return True
    for i in range(int(top), min(int(bottom), p.height - 1) + 1):
        for j in range(int(left), min(int(right), p.width - 1) + 1):
            down, across = row - min(max(row, i), i + 1.0), column - min(max(column, j), j + 1.0)
            if s.obstacle[cell_at(p, i, j)] and down * down + across * across < p.radius * p.radius:
                return True
    return False


@kernel
def look_around(p, s):
    """What the rover sees; returns how many cells are new."""
    s.known[s.cell] = FREE
    s.cell = cell_at(p, min(int(s.row), p.height - 1), min(int(s.column), p.width - 1))
    fresh, _ = scan(p, s.obstacle, s.known, s.reachable, s.cell, s.lengths)
    s.seen += fresh
    return fresh


@SPEC.reset
def reset(p, s, rng):
    make_terrain(p, s, rng)
    s.land = below(rng, MASK)
    for i in range(p.height):
        for j in range(p.width):
            s.relief[cell_at(p, i, j)] = height_at(p, s, i + 0.5, j + 0.5)
    s.row, s.column = 0.5, 0.5
    s.cell = cell_at(p, 0, 0)
    s.obstacle[s.cell] = 0
    fill_padding(p, s)
    s.in_reach = find_reachable(p, s, s.cell)
    s.seen, _ = scan(p, s.obstacle, s.known, s.reachable, s.cell, s.lengths)


@SPEC.step
def step(p, s, a, rng, r):
    s.heading += p.turn_rate * a[1]
    if s.heading > math.pi:
        s.heading -= 2.0 * math.pi
    elif s.heading < -math.pi:
        s.heading += 2.0 * math.pi
    rise = slope_ahead(p, s) if a[0] >= 0.0 else -slope_ahead(p, s)
    speed = a[0] * p.top_speed * min(max(1.0 - p.grip * max(rise, 0.0), 0.1), 1.0)
    row, column = s.row + speed * sin(s.heading), s.column + speed * cos(s.heading)
    before = height_at(p, s, s.row, s.column)
    bumped = touches(p, s, row, column)
    s.bumped = bumped
    if bumped:
        r.collision = p.collision_reward
        r.collision_cost = 1.0
    else:
        s.row, s.column = row, column
        s.way += abs(speed)
        r.climb = -p.slope_cost * max(height_at(p, s, row, column) - before, 0.0)
    r.explore = look_around(p, s)
    r.move = -p.movement_cost
    covered = s.seen > p.threshold * (p.height * p.width)
    r.bonus = p.bonus_reward if covered else 0.0
    r.explored = s.seen / (p.height * p.width)
    r.path_length = s.way
    r.success = covered
    r.terminated = covered or (bumped and p.collisions == END)


@kernel
def look_along(p, s, direction, o):
    """What ends a ray over the known map, and how near it is."""
    angle = s.heading + direction * (2.0 * math.pi / RAYS)
    down, across = sin(angle), cos(angle)
    o.blocked[direction] = 0.0
    o.unseen[direction] = 0.0
    for k in range(SAMPLES):
        far = k * (REACH / SAMPLES)
        row, column = s.row + far * down, s.column + far * across
        outside = row < 0.0 or column < 0.0 or row >= p.height or column >= p.width
        known = OBSTACLE if outside else s.known[cell_at(p, int(row), int(column))]
        if known in (OBSTACLE, UNSEEN):
            near = 1.0 - math.sqrt(far / REACH)
            if known == UNSEEN:
                o.unseen[direction] = near
            else:
                o.blocked[direction] = near
            break


@SPEC.observe
def observe(p, s, o):
    for direction in range(o.blocked.size):
        look_along(p, s, direction, o)
    for k in range(o.bumped.size):
        o.bumped[k] = 1.0 if s.bumped else 0.0
    for i in range(o.map.shape[0]):
        first = cell_at(p, i, 0)
        for j in range(p.width):
            known = s.known[first + j]
            o.map[i, j] = SHADES[known]
            o.relief[i, j] = 0.0 if known == UNSEEN else s.relief[first + j]
    o.pose[0] = s.row
    o.pose[1] = s.column
    o.pose[2] = cos(s.heading)
    o.pose[3] = sin(s.heading)
    o.slope = slope_ahead(p, s)


@SPEC.expert
def expert(p, s, a):
    """From the middle of a cell to that of the next on the way to a frontier; turn first, then drive."""
    row, column = int(s.row), int(s.column)
    move = path_move(p, s.known, s.queue, s.origin, cell_at(p, row, column))
    down, across = row + 0.5 + DOWN[move] - s.row, column + 0.5 + RIGHT[move] - s.column
    off = row + 0.5 - s.row if DOWN[move] == 0 else column + 0.5 - s.column
    if abs(off) > 0.15:  # back to the middle first
        down, across = row + 0.5 - s.row, column + 0.5 - s.column
    turn = atan2(down, across) - s.heading
    turn = turn - 2.0 * math.pi if turn > math.pi else (turn + 2.0 * math.pi if turn < -math.pi else turn)
    a[1] = min(max(turn / p.turn_rate, -1.0), 1.0)
    left = abs(turn) - p.turn_rate
    a[0] = min(math.sqrt(down * down + across * across) / p.top_speed, 1.0) if left <= 0.0 else 0.0


@SPEC.draw
def draw(canvas, p, s):
    draw_driver(canvas, p, s, lambda row, column: float(height_at(p, s, row, column)))


@SPEC.text
def text(p, s):
    return terrain_text(p, s, [s.cell])


@SPEC.keys
def keys(pressed, values):
    return [float("up" in pressed) - float("down" in pressed), float("right" in pressed) - float("left" in pressed)]
