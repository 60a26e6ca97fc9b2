"""Lidar navigation: robots drive to their goals among walls and other robots, which they see by lidar.

## Description
Each robot is a rectangle with a differential drive: it goes along its heading and turns in place, with limits on speed,
turning and both accelerations. Walls are cells of a grid. The rules and numbers are those of jaxnav in JaxMARL 0.2.0
(Rutherford et al., "JaxMARL: Multi-Agent RL Environments and Algorithms in JAX", NeurIPS 2024; Rutherford et al., "No
Regrets: Investigating and Improving Regret Approximations for Curriculum Discovery", NeurIPS 2024), with its default
map, of square robots among random walls. A robot that touches a wall or another robot has crashed, and stands still
from then on. One that has reached its goal still moves, can crash, and is in the way of others.

Maps: random walls; `smoothing` makes them caves by a cellular automaton, which the level `caves` has with the cells,
robot and settings of the original's BARN maps (Perille et al., "Benchmarking Metric Ground Navigation", SSRR 2020); or
a text, `map`, with the row of y = 0 last, in which "#" is wall, "." free, and "A" and "a" start and goal of the first
robot, "B" and "b" of the second, and so on. Levels with texts: `cross`, `corridor`, `layby`.

Different from the original: goals can be reached by a way that is wide enough; caves have starts and goals like
those of other maps, in any place and with any heading, where the original chooses corners of cells and four headings;
speeds and turns are shares of their limits, where the original's space of actions ends at 30 degrees per second, which
nothing enforces; observations are twice those of the original, but for turning and the goal's direction; there is no
option with which robots vanish at their goals. Round robots fail in the original, and are left out.

## Action Space
`actions="continuous"`: speed, from 0 to `top_speed`, and turning to the left, in shares of `top_turn`. "discrete":
speeds of 0, 0.5 and 1 m/s, and for each, turning by 0.5, 0.25, 0, -0.25 and -0.5 rad/s.

## Observation Space
`lidar`: for each beam, from 180 degrees to the right to 180 degrees to the left, both included, the distance to what it
meets, in shares of `reach`, cut to the points of which a beam consists, `resolution` apart. Then the own speed and
turning in shares of their limits, the distance of the goal in shares of `reach` (at most 1), its direction relative to
the heading, and `own_share`.

## Rewards
`goal` (weight 4) is 1 when a robot reaches its goal, `progress` (weight 0.25) the distance to it that was gained, until
then; `crash` (weight 4) -1 when it crashes; `time` (weight 0.01) -1 in each step until one of both; `near` (weight 0.1)
-1 in each step in which a beam meets something within `radius` + `near_wall`, also after a crash, so that most crashes
cost that much to the end of the episode. `team` is (1 - `own_share`) times the difference between the mean of these
rewards over all robots and the own one.

## Costs
None.

## Starting State
Random walls: each number from none to less than `density` of the cells within the border is equally likely.
Starts are uniform, 1.5 times `radius` away from walls and thrice from other starts (of large robots half a diagonal
and a diagonal); goals are in a uniform direction and distance, moved onto the map; headings are uniform. Speeds are 0.
Where a map is too small or crowded for that, even without walls, some start too near to others or in walls.

## Episode End
Termination: all robots have reached their goals or crashed. Truncation: 500 steps of 0.1 s. Success: a robot has
reached its goal, and has not crashed.

## Parameters
A `map` overrides `height`, `width`, `density` and `smoothing`.

## Reference Scores
Mean return of all robots together over seeds 0 to 99.

## Version History
v0: first version.
"""

import math

import numpy as np

from rlenvs.core import (
    b1,
    block,
    choice,
    continuous,
    discrete,
    f8,
    i2,
    i4,
    integer,
    json_option,
    kernel,
    maths,
    param,
    term,
    u1,
    world,
)
from rlenvs.robotics.navigation.grid_driver import drive
from rlenvs.robotics.navigation.grid_lidar import fan, last_point, scan
from rlenvs.robotics.navigation.grid_maps import LARGEST, MOST_ROBOTS, make_scene, map_data, map_sizes, parse_map
from rlenvs.robotics.navigation.grid_render import draw_scene, text_scene
from rlenvs.robotics.navigation.grid_walls import bodies_touch, body_hits

MOST_BEAMS, MOST_POINTS = 1000, 2000
SPEEDS, TURNS = (0.0, 0.5, 1.0), (0.5, 0.25, 0.0, -0.25, -0.5)  # m/s, rad/s
BARN = {"cell": 0.15, "height": 33, "width": 33, "smoothing": 4, "body_length": 0.508, "body_width": 0.43}
CROSS = "#######\n#A...B#\n#.....#\n#.....#\n#.....#\n#b...a#\n#######"
CORRIDOR = "##########\n#A..##..b#\n#...##...#\n#........#\n#...##...#\n#B..##..a#\n##########"
LAYBY = "##########\n#..####..#\n#..#.##..#\n#A......B#\n#b.##.#.a#\n#..####..#\n##########"


def actions(values):
    if values.actions == "continuous":
        return continuous("speed", "turn left", low=(0.0, -1.0), doc="shares of the limits")
    return discrete(*(f"{speed:g} m/s, {turn:g} rad/s" for speed in SPEEDS for turn in TURNS), idle=2)


SPEC = world(
    "LidarNavigation-v0",
    doc=__doc__,
    source="jaxnav of JaxMARL 0.2.0 (Rutherford et al., NeurIPS 2024)",
    agents=True,
    params={
        "density": param(0.3, 0.0, 0.8, "", "largest share of cells that are walls"),
        "cell": param(1.0, 0.15, 4.0, "m", "side of a cell"),
        "body_length": param(0.5, 0.1, 1.0, "m", "of a robot"),
        "body_width": param(0.5, 0.1, 1.0, "m", "of a robot"),
        "radius": param(0.3, 0.1, 0.9, "m", "with which robots are placed, and distances to walls begin"),
        "top_speed": param(1.0, 0.1, 2.0, "m/s", "largest speed"),
        "top_turn": param(0.6, 0.1, 3.0, "rad/s", "largest rate of turning"),
        "acceleration": param(1.0, 0.1, 10.0, "m/s^2", "largest change of the speed"),
        "turn_acceleration": param(1.0, 0.1, 10.0, "rad/s^2", "largest change of the rate of turning"),
        "dt": param(0.1, 0.02, 0.1, "s", "time of a step"),
        "reach": param(6.0, 1.0, 20.0, "m", "of the lidar"),
        "resolution": param(0.05, 0.01, 0.1, "m", "of the lidar"),
        "goal_radius": param(0.5, 0.1, 1.0, "m", "distance at which the goal is reached"),
        "near_wall": param(0.1, 0.0, 1.0, "m", "distance from which on it costs to be near to something"),
        "own_share": param(0.5, 0.0, 1.0, "", "share of the own reward; the rest is the mean of all robots"),
    },
    options={
        "agents": integer(2, 1, MOST_ROBOTS, "number of robots"),
        "height": integer(11, 5, LARGEST, "rows of a random map"),
        "width": integer(11, 5, LARGEST, "columns of a random map"),
        "smoothing": integer(0, 0, 10, "rounds of the automaton that makes caves"),
        "map": json_option(None, parse_map, "rows of cells (a string with a line per row, or a list)"),
        "beams": integer(200, 1, MOST_BEAMS, "beams of the lidar"),
        "actions": choice("continuous", "discrete", doc="speed and turning, or 15 choices"),
    },
    sizes=lambda values: {"agents": values.agents, "beams": values.beams, **map_sizes(values)},
    data={
        "plan": u1("cells"),
        "ends": i4("agents", 2),
        "drawn": b1,
        "rows": i4,
        "columns": i4,
        "fan": f8(2, "beams"),
    },
    state={
        "place": f8("agents", 2),
        "heading": f8("agents"),
        "velocity": f8("agents", 2),  # m/s ahead, rad/s to the left
        "goal": f8("agents", 2),
        "arrived": b1("agents"),
        "crashed": b1("agents"),
        "beam": i2("agents", "beams").within(0, MOST_POINTS),  # the point that a beam shows
        "wall": u1("cells").within(0, 1),
        "clear": u1("cells").within(0, 1),  # where a robot can turn
        "steps": i4("cells"),  # scratch of the driver, to the goal
        "queue": i4("cells"),
        "taken": u1("cells"),  # ways of robots with lower numbers
    },
    scratch=("steps", "queue", "taken"),
    observation={
        "lidar": block("beams", low=0.0, high=1.0, doc="distances, in shares of the reach"),
        "velocity": block(2, low=lambda values: [0.0, -1.0], high=lambda values: [1.0, 1.0], doc="shares of limits"),
        "distance": block(low=0.0, high=1.0, doc="of the goal, in shares of the reach"),
        "direction": block(low=-math.pi, high=math.pi, unit="rad", doc="of the goal, relative to the heading"),
        "own_share": block(low=0.0, high=1.0, constant=True, doc="share of the own reward"),
    },
    action=actions,
    terms={
        "goal": term(0.0, 1.0, 4.0, "1 on arrival"),
        "progress": term(-1.0, 1.0, 0.25, "distance to the goal that was gained, in m"),
        "crash": term(-1.0, 0.0, 4.0, "-1 in the step of a crash"),
        "time": term(-1.0, 0.0, 0.01, "-1 until the robot arrives or crashes"),
        "near": term(-1.0, 0.0, 0.1, "-1 near a wall or robot"),
        "team": term(-1e3, 1e3, 1.0, "what the mean of all robots adds to the own reward"),
    },
    horizon=500,
    fps=15,
    expert_sees="state",
    levels={
        "single": {"agents": 1},
        "many": {"agents": 6},
        "discrete": {"actions": "discrete"},
        "cross": {"map": CROSS},
        "corridor": {"map": CORRIDOR},
        "layby": {"map": LAYBY},
        "caves": {"agents": 1, **BARN},
    },
)


@SPEC.state_fault
def state_fault(p, s):
    limit = np.array([p.columns, p.rows]) * p.cell
    inside = ((s.place >= 0.0) & (s.place <= limit) & (s.goal >= 0.0) & (s.goal <= limit)).all()
    return "" if inside else "a robot or a goal is off the map"


@SPEC.make_data
def data(values):
    return {**map_data(values), "fan": fan(values.beams)}


@SPEC.reset
def reset(p, s, rng):
    make_scene(p, s, rng)
    for k in range(s.heading.size):
        scan(p, s, k)


@kernel
def command(p, a, k):
    """The speed and the rate of turning that robot k wants."""
    if a.ndim == 1:
        return SPEEDS[a[k] // 5], TURNS[a[k] % 5]
    return a[k, 0] * p.top_speed, a[k, 1] * p.top_turn


@kernel
def changed(now, wanted, most, low, high):
    """A velocity after a step, in which it changes by `most` at the most."""
    return min(max(now + min(max(wanted - now, -most), most), low), high)


@kernel
def move(p, s, a, k):
    """One step of the differential drive; robots that crashed stand still."""
    if s.crashed[k]:
        s.velocity[k, 0] = 0.0
        s.velocity[k, 1] = 0.0
        return
    speed, turn = command(p, a, k)
    speed = changed(s.velocity[k, 0], speed, p.acceleration * p.dt, 0.0, p.top_speed)
    turn = changed(s.velocity[k, 1], turn, p.turn_acceleration * p.dt, -p.top_turn, p.top_turn)
    s.velocity[k, 0], s.velocity[k, 1] = speed, turn
    s.place[k, 0] += speed * maths.cos(s.heading[k]) * p.dt
    s.place[k, 1] += speed * maths.sin(s.heading[k]) * p.dt
    s.heading[k] = maths.wrapped(s.heading[k] + turn * p.dt)


@kernel
def goal_distance(s, k):
    dx, dy = s.goal[k, 0] - s.place[k, 0], s.goal[k, 1] - s.place[k, 1]
    return math.sqrt(dx * dx + dy * dy)


@kernel
def hits(p, s, k):
    """Whether robot k touches a wall or another robot."""
    touched = body_hits(p, s, k)
    for j in range(s.heading.size):
        touched = touched or (j != k and bodies_touch(p, s, j, k))
    return touched


@kernel
def is_near(p, s, k):
    """Whether a beam of robot k shows something near."""
    nearest = last_point(p)
    for j in range(s.beam.shape[1]):
        nearest = min(nearest, s.beam[k, j])
    return nearest * p.reach / last_point(p) <= p.near_wall + p.radius


@SPEC.step
def step(p, s, a, rng, r):
    agents, over = s.heading.size, True
    for k in range(agents):
        r.progress[k] = 0.0 if s.arrived[k] else goal_distance(s, k)
        r.time[k] = 0.0 if s.arrived[k] or s.crashed[k] else -1.0
        move(p, s, a, k)
    for k in range(agents):
        left = goal_distance(s, k)
        arrives = left <= p.goal_radius and not s.arrived[k]
        crashes = not s.crashed[k] and hits(p, s, k)
        r.goal[k] = 1.0 if arrives else 0.0
        r.progress[k] = 0.0 if arrives or s.arrived[k] else r.progress[k] - left
        r.crash[k] = -1.0 if crashes else 0.0
        s.arrived[k] = s.arrived[k] or arrives
        s.crashed[k] = s.crashed[k] or crashes
        over = over and (s.arrived[k] or s.crashed[k])
    mean = 0.0
    for k in range(agents):
        scan(p, s, k)
        r.near[k] = -1.0 if is_near(p, s, k) else 0.0
        mean += own_reward(p, r, k) / agents
    for k in range(agents):
        r.team[k] = (1.0 - p.own_share) * (mean - own_reward(p, r, k))
        r.success[k] = s.arrived[k] and not s.crashed[k]
        r.terminated[k] = over


@kernel
def own_reward(p, r, k):
    """The reward of robot k without those of the others."""
    mine = p.weights[0] * r.goal[k] + p.weights[1] * r.progress[k] + p.weights[2] * r.crash[k]
    return mine + p.weights[3] * r.time[k] + p.weights[4] * r.near[k]


@SPEC.observe
def observe(p, s, k, o):
    last = float(last_point(p))
    for j in range(o.lidar.size):
        o.lidar[j] = s.beam[k, j] / last
    o.velocity[0] = s.velocity[k, 0] / p.top_speed
    o.velocity[1] = s.velocity[k, 1] / p.top_turn
    o.distance = min(goal_distance(s, k) / p.reach, 1.0)
    dx, dy = s.goal[k, 0] - s.place[k, 0], s.goal[k, 1] - s.place[k, 1]
    o.direction = maths.wrapped(maths.atan2(dy, dx) - s.heading[k])
    o.own_share = p.own_share


@SPEC.expert
def expert(p, s, a):
    """Along shortest ways over cells, waiting for others."""
    for k in range(s.heading.size):
        speed, turn = drive(p, s, k)
        if a.ndim == 1:
            fast = 0 if speed < 0.25 else (1 if speed < 0.75 else 2)
            around = min(max(math.floor(2.5 - 4.0 * turn), 0), 4)
            a[k] = 5 * fast + around
        else:
            a[k, 0], a[k, 1] = speed / p.top_speed, turn / p.top_turn


@SPEC.draw
def draw(canvas, p, s):
    draw_scene(canvas, p, s)


@SPEC.text
def text(p, s):
    return text_scene(p, s)


@SPEC.keys
def keys(pressed, values):
    left = ("left" in pressed) - ("right" in pressed)
    fast = 2 if "up" in pressed else 0
    return [fast / 2.0, float(left)] if values.actions == "continuous" else 5 * fast + 2 - 2 * left
