"""DriveTogether: every car in a town is an agent that drives to its own goal.

## Description
Cars drive through a town of two-lane streets, each on its own route to its own goal. All are agents, up to 64, and one
policy can drive them all, as in GPUDrive (Kazemkhani et al., "GPUDrive: Data-driven, multi-agent driving simulation at
1 million FPS", 2024) and PufferDrive. There are no traffic lights and no rules except those that agents learn. A car is
highway-env's bicycle model of 5 m x 2 m. A car that reaches its goal, hits another car or leaves the road is out and is
removed; with `mishaps="count"` collisions and driving off the road are counted, and the car continues. Streets have a
limit of 8.3, 11.1 or 13.9 m/s, which is observed but not enforced.

## Action Space
Per agent. Acceleration (5 m/s^2 at 1) and steering (45 degrees at 1, to the right). With `actions="discrete"` two
choices: one of five accelerations, and one of nine angles.

## Observation Space
Per agent, in the car's own frame (x ahead, y to the right): speed, distance to the right of the lane of its route, sine
and cosine of the angle to it, its speed limit, distance left, the goal; six points of the route ahead; the nearest cars
within 40 m: presence, position, direction and speed.

## Rewards
`progress` is the new distance covered along the route in this step, in units of 10 m. `goal` is 1 for reaching the
goal.

## Costs
`collision` is 1 in each step in which the car overlaps another, `offroad` in each step in which its center is off all
lanes.

## Starting State
Cars are at rest at distinct places on the streets, which are 8 m apart, with a random offset of up to 1 m along the
street. Each has a random route over two to four streets, with its goal on the last of them.

## Episode End
Termination of an agent: its goal; with `mishaps="end"` also a collision or leaving the road. Truncation: 600 steps of
0.1 s. Success of an agent: it reached its goal without a collision and without leaving the road.

## Parameters
Lengths are in meters, times in seconds.

## Reference Scores
Mean return of all agents together over seeds 0 to 99. With 64 experts (`level="crowd"`), 0.6 % of them collide, and a
tenth wait for each other until the time limit.

## Version History
v0: first version.
"""

import functools

import numpy as np

from rlenvs.core import (
    b1,
    below,
    block,
    choice,
    continuous,
    cost,
    data_option,
    discrete,
    f8,
    i8,
    integer,
    kernel,
    maths,
    multi_discrete,
    param,
    term,
    uniform,
    world,
)
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.roads.lanes import (
    END,
    FIRST,
    LENGTH,
    LIMIT,
    OUT,
    RADIUS,
    ROAD,
    ROAD_DATA,
    heading_on,
    point_on,
)
from rlenvs.kits.roads.towns import Town
from rlenvs.kits.traffic.cars import CAR_LENGTH, CAR_WIDTH
from rlenvs.kits.traffic.lane_lists import sort_by_x
from rlenvs.robotics.driving.courtesy import ACTIONS, CONTINUOUS, drive, fill_path
from rlenvs.robotics.driving.render import GLASS, GRASS, draw_lanes, rectangle
from rlenvs.robotics.driving.town_cars import (
    DT,
    FASTEST,
    FORCE,
    advance,
    collide,
    metres_left,
    on_road,
    point_ahead,
)

MOST = 64  # agents
MISSING = 0.1  # of the streets of a full grid, at most
LEGS = 9  # lanes of the longest route: four streets, and what leads to them
SLOT = 8.0  # m, of a street for one car at the start
NEAR_GOAL = 3.0  # m
ON_ROUTE = 4.0  # m beside its lane where progress counts
AHEAD = (4.0, 8.0, 14.0, 22.0, 32.0, 45.0)  # m, of the points of the route that are seen
FAR = 40.0  # m, how far cars are seen
ACCELERATIONS, ANGLES = (-1.0, -0.4, 0.0, 0.4, 1.0), (-1.0, -0.5, -0.25, -0.1, 0.0, 0.1, 0.25, 0.5, 1.0)
PATH = 18  # points of an expert's path


@functools.lru_cache(maxsize=16)
def town(seed, columns, rows):
    """The lanes of a town, and the places on its streets: lane and meter."""
    network = Town(seed, columns, rows, missing=MISSING).network
    slots = []
    for k, lane in enumerate(network.lanes):
        if lane.numbers[RADIUS] == 0.0 and lane.numbers[LENGTH] > 40.0:
            count = int((lane.numbers[LENGTH] - 4.0) // SLOT)
            slots += [(float(k), 4.0 + SLOT * (n + 0.5)) for n in range(count)]
    return network, np.array(slots)


def town_of(values):
    return town(values.town, values.columns, values.rows)


def sizes(values):
    network, slots = town_of(values)
    if values.agents > len(slots):
        raise ParameterError(f"{values.agents} agents do not fit into a town with {len(slots)} places")
    return {**network.sizes, "agents": values.agents, "slots": len(slots), "seen": values.seen_cars}


def action(values):
    if values.actions == "continuous":
        return continuous(
            "acceleration", "steering", doc="5 m/s^2 and 45 degrees at 1; steering to the right is positive"
        )
    force = discrete(*(f"{FORCE * a:+.0f} m/s^2" for a in ACCELERATIONS), idle=2)
    angle = discrete(*(f"{45.0 * a:+.1f} degrees" for a in ANGLES), idle=4)
    return multi_discrete({"acceleration": force, "steering": angle})


MISHAPS = choice(
    "end", "count", doc="whether a collision or leaving the road ends the agent's episode, or is only counted"
)
(ENDS,) = MISHAPS.codes("end")

SPEC = world(
    "DriveTogether-v0",
    doc=__doc__,
    source="GPUDrive (Kazemkhani et al. 2024) and PufferDrive, on towns of our own; cars of highway-env 1.12",
    agents=True,
    params={
        "grip": param(1.0, 0.3, 1.0, "", "fraction of the commanded acceleration that takes effect"),
    },
    options={
        "agents": integer(16, 1, MOST, "cars"),
        "columns": data_option(integer(4, 2, 6, "junctions along x")),
        "rows": data_option(integer(3, 2, 6, "junctions along y")),
        "town": data_option(integer(0, 0, 1_000_000, "seed of the town")),
        "seen_cars": data_option(integer(8, 0, 16, "cars in an observation")),
        "actions": ACTIONS,
        "mishaps": MISHAPS,
    },
    state={
        "x": f8("agents"),
        "y": f8("agents"),
        "heading": f8("agents"),
        "cosine": f8("agents"),
        "sine": f8("agents"),
        "speed": f8("agents"),
        "here": b1("agents"),  # whether the car is on the road
        "route": i8("agents", LEGS).index_of("lanes"),  # lanes
        "legs": i8("agents").within(1, LEGS),
        "stage": i8("agents").index_of(LEGS),
        "station": f8("agents"),  # m along its lane
        "aside": f8("agents"),  # m to the right of its middle
        "goal_at": f8("agents"),  # m along the last lane
        "goal": f8("agents", 2),
        "left": f8("agents"),  # m to the goal, the least so far
        "order": i8("agents").index_of("agents"),  # cars by x
        "rank": i8("agents").index_of("agents"),
        "taken": b1("slots"),
        "hit": b1("agents"),
        "faults": i8("agents"),  # steps with a collision or off the road
        "path": f8("agents", PATH, 2),  # of experts
    },
    scratch=("path",),
    data={**ROAD_DATA, "slot": f8("slots", 2), "forces": f8(len(ACCELERATIONS)), "angles": f8(len(ANGLES))},
    sizes=sizes,
    observation={
        "speed": block(low=-20.0, high=20.0, unit="m/s", doc="speed"),
        "aside": block(low=-10.0, high=10.0, unit="m", doc="to the right of the route"),
        "angle": block(2, low=-1.0, high=1.0, raw=True, doc="sine and cosine of the angle to the route"),
        "limit": block(low=0.0, high=20.0, unit="m/s", doc="speed limit"),
        "left": block(low=0.0, high=400.0, unit="m", doc="to the goal along the route"),
        "goal": block(2, low=-200.0, high=200.0, unit="m", doc="the goal, ahead and to the right"),
        "route": block(
            len(AHEAD), 2, low=-50.0, high=50.0, unit="m", doc="points of the route, ahead and to the right"
        ),
        "cars": block(
            "seen",
            6,
            low=-1.0,
            high=1.0,
            raw=True,
            constant=True,
            doc="presence, ahead and to the right (40 m), cosine and sine between headings, speed (20 m/s)",
        ),
    },
    action=action,
    terms={
        "progress": term(0.0, 0.3, 1.0, "new distance covered along the route, in units of 10 m"),
        "goal": term(0.0, 1.0, 1.0, "reaching the goal"),
    },
    costs={
        "collision": cost(0.0, doc="1 while overlapping another car"),
        "offroad": cost(0.0, doc="1 while off all lanes"),
    },
    fps=1.0 / DT,
    horizon=600,
    expert_sees="state",
    quick={"agents": 6},
    players=("courteous",),
    levels={"crowd": {"agents": 64}, "alone": {"agents": 1}},
)


@SPEC.make_data
def make_data(values):
    network, slots = town_of(values)
    return {**network.arrays(), "slot": slots, "forces": np.array(ACCELERATIONS), "angles": np.array(ANGLES)}


# --- starts -----------------------------------------------------------------------------------------------------------


@kernel
def choose_route(p, s, k, lane, rng):
    """A random way over two to four streets, with the goal on the last one."""
    legs = 3 + 2 * below(rng, 3)
    s.legs[k] = legs
    s.route[k, 0] = lane
    for n in range(1, legs):
        node, count = p.road[p.lane_at[lane, ROAD], END], 0
        for m in range(p.branch.shape[2]):
            if p.branch[node, OUT, m] >= 0:
                count += 1
        lane = p.road[p.branch[node, OUT, below(rng, count)], FIRST]
        s.route[k, n] = lane
    s.goal_at[k] = p.lane[lane, LENGTH] * uniform(rng, 0.3, 0.9)
    s.goal[k, 0], s.goal[k, 1] = point_on(p, lane, s.goal_at[k], 0.0)


@kernel
def put(p, s, k, lane, station):
    """Car k stands in the middle of a lane."""
    s.x[k], s.y[k] = point_on(p, lane, station, 0.0)
    s.heading[k] = heading_on(p, lane, station)
    s.sine[k], s.cosine[k] = maths.sin_cos(s.heading[k])
    s.speed[k], s.stage[k], s.station[k], s.aside[k] = 0.0, 0, station, 0.0


@SPEC.reset
def reset(p, s, rng):
    slots = p.slot.shape[0]
    for k in range(p.agents):
        n = below(rng, slots)
        while s.taken[n]:
            n = (n + 1) % slots
        s.taken[n] = True
        lane = int(p.slot[n, 0])
        choose_route(p, s, k, lane, rng)
        put(p, s, k, lane, p.slot[n, 1] + uniform(rng, -1.0, 1.0))
        s.here[k] = True
        s.left[k] = metres_left(p, s, k)
        s.order[k] = k
    sort_by_x(s, p.agents)


@SPEC.step
def step(p, s, a, rng, r):
    for k in range(p.agents):
        if s.alive[k] and s.here[k]:
            move(p, s, k, a[k])
    sort_by_x(s, p.agents)
    collide(p, s)
    for k in range(p.agents):
        if s.alive[k] and s.here[k]:
            judge(p, s, k, r)


@kernel
def move(p, s, k, one):
    """Move car k by its action."""
    if p.actions == CONTINUOUS:
        advance(p, s, k, one[0], one[1])
    else:
        advance(p, s, k, p.forces[int(one[0])], p.angles[int(one[1])])


@kernel
def judge(p, s, k, r):
    """Terms, costs and end of an agent."""
    left = metres_left(p, s, k)
    if abs(s.aside[k]) <= ON_ROUTE and left < s.left[k]:
        r.progress[k] = min(0.1 * (s.left[k] - left), 0.3)
        s.left[k] = left
    if s.hit[k]:
        r.collision[k] = 1.0
    fault = s.hit[k]
    if not on_road(p, s, k):
        r.offroad[k] = 1.0
        fault = True
    s.faults[k] += 1 if fault else 0
    right, down = s.goal[k, 0] - s.x[k], s.goal[k, 1] - s.y[k]
    arrived = s.stage[k] == s.legs[k] - 1 and right * right + down * down < NEAR_GOAL * NEAR_GOAL
    ended = fault and p.mishaps == ENDS
    if arrived and not ended:
        r.goal[k] = 1.0
        r.success[k] = s.faults[k] == 0
        ended = True
    if ended:
        r.terminated[k] = True
        s.here[k] = False


# --- what agents see --------------------------------------------------------------------------------------------------


@SPEC.observe
def observe(p, s, k, o):
    x, y, cosine, sine = s.x[k], s.y[k], s.cosine[k], s.sine[k]
    lane = s.route[k, s.stage[k]]
    o.speed, o.aside, o.limit, o.left = s.speed[k], s.aside[k], p.lane[lane, LIMIT], max(metres_left(p, s, k), 0.0)
    lane_sine, lane_cosine = maths.sin_cos(heading_on(p, lane, s.station[k]))
    o.angle[0] = sine * lane_cosine - cosine * lane_sine
    o.angle[1] = cosine * lane_cosine + sine * lane_sine
    right, down = s.goal[k, 0] - x, s.goal[k, 1] - y
    o.goal[0], o.goal[1] = right * cosine + down * sine, down * cosine - right * sine
    for n in range(len(AHEAD)):
        there_x, there_y = point_ahead(p, s, k, AHEAD[n])
        right, down = there_x - x, there_y - y
        o.route[n, 0], o.route[n, 1] = right * cosine + down * sine, down * cosine - right * sine
    see_cars(p, s, k, o.cars)


@kernel
def see_cars(p, s, k, rows):
    """The nearest cars, the nearest first. Until all are found, rows hold squares of distances and numbers of cars."""
    count, room = 0, rows.shape[0]
    if room == 0:
        return
    for side in (-1, 1):
        n = s.rank[k] + side
        while 0 <= n < p.agents:
            j = s.order[n]
            n += side
            right, down = s.x[j] - s.x[k], s.y[j] - s.y[k]
            if abs(right) > FAR:
                break
            far = right * right + down * down
            if not s.here[j] or far > FAR * FAR or (count == room and far >= rows[room - 1, 0]):
                continue
            m = count if count < room else room - 1
            while m > 0 and rows[m - 1, 0] > far:
                rows[m, 0], rows[m, 1] = rows[m - 1, 0], rows[m - 1, 1]
                m -= 1
            rows[m, 0], rows[m, 1] = far, j
            count = min(count + 1, room)
    for m in range(room):
        if m < count:
            fill_row(s, k, int(rows[m, 1]), rows, m)
        else:
            for column in range(6):
                rows[m, column] = 0.0


@kernel
def fill_row(s, k, j, rows, m):
    """What agent k sees of car j."""
    right, down, cosine, sine = s.x[j] - s.x[k], s.y[j] - s.y[k], s.cosine[k], s.sine[k]
    rows[m, 0] = 1.0
    rows[m, 1], rows[m, 2] = (right * cosine + down * sine) / FAR, (down * cosine - right * sine) / FAR
    rows[m, 3] = min(max(cosine * s.cosine[j] + sine * s.sine[j], -1.0), 1.0)
    rows[m, 4] = min(max(cosine * s.sine[j] - sine * s.cosine[j], -1.0), 1.0)
    rows[m, 5] = s.speed[j] / FASTEST


@SPEC.player("courteous")
def courteous(p, s, k, a, rng):
    """Follows its route, and yields to who is nearer to the place where ways meet."""
    for j in range(p.agents):
        if s.here[j]:
            fill_path(p, s, j)
    drive(p, s, k, a[k])


@SPEC.expert
def expert(p, s, a):
    for k in range(p.agents):
        if s.here[k]:
            fill_path(p, s, k)
    for k in range(p.agents):
        if s.here[k]:
            drive(p, s, k, a[k])


# --- image ------------------------------------------------------------------------------------------------------------


@SPEC.draw
def draw(canvas, p, s):
    """The whole town; routes and goals of the first cars that are on the road."""
    canvas.legend(
        ("blue", "car"), ("orange", "car whose route is shown"), ("green", "its goal", "ring"), ("red", "hit")
    )
    xs = [float(point_on(p, k, 0.0, 0.0)[0]) for k in range(len(p.lane))]
    ys = [float(point_on(p, k, 0.0, 0.0)[1]) for k in range(len(p.lane))]
    left, right, low, high = min(xs) - 12.0, max(xs) + 12.0, -max(ys) - 12.0, -min(ys) + 12.0
    canvas.view(left, right, low, high)
    canvas.rectangle(left - 500.0, low - 500.0, right + 500.0, high + 500.0, GRASS)
    draw_lanes(canvas, p, 0.5 * (left + right), -0.5 * (low + high), 2.0 * (right - left), lines=False)
    present = [k for k in range(int(p.agents)) if s.here[k]]
    shown = present[:3]
    for k in shown:
        ahead = [point_ahead(p, s, k, 5.0 * n) for n in range(1 + int(max(metres_left(p, s, k), 0.0) / 5.0))]
        points = [(float(s.x[k]), -float(s.y[k])), *((float(x), -float(y)) for x, y in ahead[1:])]
        if len(points) > 1:
            canvas.line(points, "orange", 2.5)
        canvas.circle((float(s.goal[k, 0]), -float(s.goal[k, 1])), 5.0, "green", 3.0)
    for k in present:
        x, y, heading = float(s.x[k]), float(s.y[k]), float(s.heading[k])
        color = "red" if s.hit[k] else "orange" if k in shown else "blue"
        canvas.polygon(rectangle(x, y, heading, 1.5 * CAR_LENGTH, 1.6 * CAR_WIDTH), color)
        canvas.polygon(rectangle(x, y, heading, 1.4, 2.6, 1.2), GLASS)
    canvas.caption(f"{len(present)} of {int(p.agents)} cars drive", f"{int((s.faults > 0).sum())} with a fault")
