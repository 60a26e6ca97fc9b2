"""RouteDrive: follow a route through a town with traffic lights, stop signs, cars and pedestrians.

## Description
A car follows a route of 400 m through a town of two-lane streets with speed limits of 30, 40 and 50 km/h. At junctions
there are traffic lights, stop signs or right-of-way rules; other cars obey the rules, and pedestrians cross. The task
is that of CaRL (Jaeger et al., "CaRL: Learning Scalable Planning Policies with Simple Rewards", 2025) without CARLA:
its reward, its infractions, its soft factors. Towns are procedural; an episode takes place in one of several. Different
from CaRL: roads are flat, cars are highway-env's bicycle model of 5 m x 2 m; progress is rewarded only once, and not in
the step of an infraction; arriving terminates the episode instead of truncating it; yaw rate and its change are
filtered over 15 steps (there 5), and jerks are computed from unfiltered accelerations (there smoothed over 8 steps).
When a yaw rate starts abruptly, the filter, a parabola evaluated at its end, overshoots to 1.46 of it (1.37 over 5
steps).

## Action Space
Acceleration (5 m/s^2 at 1) and steering (45 degrees at 1, to the right). `memory=0.75` smooths the steering as in
VLM-RL: the new angle is 0.75 of the old one plus 0.25 of the action.

## Observation Space
In the car's own frame (x ahead, y to the right). With `observation="vector"` (default): speed, controls, position and
angle on the lane, speed limit, the remaining fraction of the route; the next light or stop sign of the lane; the soft
factors in effect, and how long the car has stood still; six points of the route ahead; the nearest cars and
pedestrians. With `observation="birdview"`: top-down masks of 64 x 64 pixels, one meter each, with the car 25 pixels
from the bottom: road, route, stop lines, cars, pedestrians; plus the vector without route, cars and pedestrians, as
"state".

## Rewards
`reward="simple"`, CaRL's: `completion` is the increase of the completed part of the route in percent, times four soft
factors in [0, 1]: speeding (0 at 2.23 m/s above the limit), a collision predicted within 0.9 s (0.5, held for 500
steps), comfort (0.5 / 6 less for each of six quantities beyond its limit, also held), distance from the middle of the
lane (0 at its edge). Off the lanes of the route, and in a step with an infraction, it is 0. `crash` is -1 for a
collision and for a red light. `reward="shaped"`, Roach's: `pace` (1 at the target speed), `offset`, `angle`, `turn`,
`end`. `reward="composed"`, VLM-RL's: `synthesis`, in [0, 1], and -10 for an infraction or if an episode ends 3 m from
the middle of the lane or above 35 km/h (in VLM-RL only during training), which the expert then avoids. Both originals
continue with another route after the end of one; here the episode ends there, so these two rewards give 2 for each
remaining step on arrival (`arrived`). Otherwise waiting at a line forever, which gives up to 1 per step, would have a
higher return. All terms are always computed; `reward` sets their weights.

## Costs
Infractions, each 1 when it happens: `red_light`, `stop_sign`, `collision`, `pedestrian`, `offroad` (more than 95 % of
the car), `blocked` (slower than 1 km/h for 90 s, VLM-RL's; CARLA's leaderboard takes 0.1 m/s), `deviation` (30 m from
the route, as in the leaderboard; its second rule, 15 m for 30 % of the route, is left out). The limit of each is 0.

## Starting State
In a random town, on a random street, at rest; the route is a random walk without U-turns. Other cars are at rest or
drive slowly at other places, pedestrians wait at crossings, and traffic lights are at a random point of their cycle.

## Episode End
Termination: the end of the route (a success), or an infraction; with `mishaps="count"` infractions are counted, only
`deviation` ends the episode, and an episode with an infraction is not a success. With `reward="composed"` also its two
additional terminations. Truncation: 2000 steps of 0.1 s.

## Parameters
Lengths are in meters, times in seconds. CaRL trains on routes of 1000 m (`level="long"`).

## Reference Scores
Mean return over seeds 0 to 99. Near collisions and discomfort count for 50 s, so the expert, which brakes late for some
pedestrians, scores 80 of 100. Other cars collide with each other once in 76 s of a town (88 times in 6748 s), always at
a junction.

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
    data_option,
    f8,
    flag,
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
from rlenvs.kits.roads.lanes import LENGTH, LIMIT, ROAD_DATA, along_and_across, distance_to, heading_on
from rlenvs.kits.traffic.cars import CAR_LENGTH, CARS, RAW, car_sizes, slip_of
from rlenvs.kits.traffic.drivers import AT_JUNCTIONS, DRIVER_DATA, act_all, driver_table
from rlenvs.kits.traffic.lane_lists import locate
from rlenvs.kits.traffic.pedestrians import CROSSING_DATA, WALKERS, stop_for_walkers, walk_all, walker_hit
from rlenvs.kits.traffic.priorities import FORECAST, MOMENTS, give_way
from rlenvs.kits.traffic.signals import RAN_RED, RAN_STOP, SIGNAL_DATA, STOPS, crossed, obey_all
from rlenvs.kits.traffic.simulation import move_all
from rlenvs.kits.traffic.soundness import state_fault
from rlenvs.robotics.driving import route_rewards as rewards
from rlenvs.robotics.driving import route_senses as senses
from rlenvs.robotics.driving.route_expert import GUESS, expert
from rlenvs.robotics.driving.route_render import draw
from rlenvs.robotics.driving.route_town import STAGES, choose_way, data_of, go_on, place_cars, place_pedestrians, settle
from rlenvs.robotics.driving.town_cars import BACKWARDS, DT, FASTEST, FORCE, STEERING

SHORTEST, LONGEST = 300, 2000  # m, of a way
SHORT_LEG = 50.0  # m, of a street and what leads to it, from below
DECIDE = 5  # steps between two decisions on who gives way
BLOCKED = 1.0 / 3.6  # m/s
DEVIATION = 30.0  # m
PENALTY = rewards.PENALTY
OBSERVATION = choice("vector", "birdview", doc="numbers, or top-down masks with some numbers")
MISHAPS = choice("end", "count", doc="whether an infraction ends the episode, or is only counted")
(ENDS,) = MISHAPS.codes("end")


def legs_of(values):
    return int(values.route_length // SHORT_LEG) * 2 + 4


def sizes(values):
    data = data_of(values)
    lanes = len(data["lane"])
    vector = values.observation == "vector"
    return {
        "lanes": lanes,
        "roads": len(data["road"]),
        "nodes": len(data["branch"]),
        "branches": data["branch"].shape[2],
        **car_sizes(values.cars + 1, STAGES, lanes),
        "moments": MOMENTS,
        "driver_types": 1,
        "signals": len(data["signal"]),
        "crossings": len(data["crossing"]),
        "walkers": values.walkers,
        "slots": len(data["slot"]),
        "towns": values.towns,
        "legs": legs_of(values),
        "points": len(senses.AHEAD) if vector else 0,
        "seen": values.seen_cars if vector else 0,
        "seen_walkers": values.seen_walkers if vector else 0,
        "pixels": 0 if vector else senses.PIXELS,
        "channels": 0 if vector else senses.CHANNELS,
    }


SPEC = world(
    "RouteDrive-v0",
    doc=__doc__,
    source="CaRL (Jaeger et al. 2025), VLM-RL (Huang et al. 2024), Roach (Zhang et al. 2021), on towns of our own",
    params={
        "grip": param(1.0, 0.3, 1.0, "", "fraction of the commanded acceleration that takes effect"),
        "memory": param(0.0, 0.0, 0.95, "", "weight of the old steering angle in the new one; 0.75 in VLM-RL"),
        "bold": param(0.1, 0.0, 1.0, "", "fraction of pedestrians who do not look before they cross"),
        "grace": param(0.0, 0.0, 1.0, "m", "distance from the middle of the lane up to which the factor is 1"),
        "softener": param(1.0, 0.0, 1.0, "", "reduction of the factor at the edge of the lane"),
        "patience": param(90.0, 5.0, 180.0, "s", "standing still for this long is `blocked`", limit=True),
    },
    options={
        "cars": integer(20, 0, 63, "other cars"),
        "walkers": integer(12, 0, 60, "pedestrians"),
        "route_length": integer(400, SHORTEST, LONGEST, "length of the route, in meters"),
        "town": data_option(integer(0, 0, 1_000_000, "seed of the first town")),
        "towns": integer(4, 1, 8, "number of towns; each episode uses one"),
        "columns": data_option(integer(4, 2, 6, "junctions along x")),
        "rows": data_option(integer(3, 2, 6, "junctions along y")),
        "seen_cars": data_option(integer(8, 0, 16, "cars in an observation")),
        "seen_walkers": data_option(integer(4, 0, 16, "pedestrians in an observation")),
        "signals": flag(True, "whether there are traffic lights and stop signs"),
        "observation": OBSERVATION,
        "reward": rewards.REWARD,
        "mishaps": MISHAPS,
        "comfort": data_option(choice("carla", "nuplan", doc="comfort limits, those of CaRL for either simulator")),
        "held": integer(rewards.HELD, 1, 2000, "steps for which discomfort and near collisions take effect"),
    },
    state={
        **CARS,
        **FORECAST,
        **STOPS,
        **WALKERS,
        **rewards.JUDGED,
        **GUESS,
        "idle": f8("cars"),  # s for which a car has stood
        "taken": b1("slots"),
        "town": i8.index_of("towns"),
        "clock": f8,  # s, of lights
        "way": i8("legs").index_of("lanes", low=-1),  # lanes
        "legs": i8.up_to("legs"),
        "leg": i8.index_of("legs"),
        "start": f8,  # m along the first lane
        "behind": f8,  # m, of the way's lanes that are passed, less `start`
        "along": f8,  # m along the lane of the way
        "aside_of_way": f8,  # m to the right of its middle
        "made": f8,  # m of the way, the most so far
        "goal_at": f8,  # m along the last lane
        "steering": f8,
        "pedal": f8,
        "waited": f8,  # s
        "faults": i8,
    },
    scratch=("forecast", "guess"),
    data={
        **ROAD_DATA,
        **DRIVER_DATA,
        **SIGNAL_DATA,
        **CROSSING_DATA,
        **rewards.SMOOTH_DATA,
        "street": i8("lanes"),  # 1: from one junction to the next, 0: across one
        "slot": f8("slots", 2),
        "slots_of": i8("towns", 2),
        "crossings_of": i8("towns", 2),
    },
    sizes=sizes,
    observation={
        "speed": block(low=-BACKWARDS, high=FASTEST, unit="m/s", doc="speed"),
        "controls": block(2, low=-1.0, high=1.0, raw=True, doc="acceleration and steering of the last step"),
        "aside": block(low=-5.0, high=5.0, unit="m", doc="to the right of the route"),
        "heading": block(2, low=-1.0, high=1.0, raw=True, doc="sine and cosine of the angle to the route"),
        "limit": block(low=0.0, high=FASTEST, unit="m/s", doc="speed limit"),
        "left": block(low=0.0, high=1.0, doc="remaining fraction of the route"),
        "line": block(low=0.0, high=60.0, unit="m", constant=True, doc="to the next light or stop sign of the lane"),
        "shown": block(
            5,
            low=0.0,
            high=1.0,
            raw=True,
            constant=True,
            doc="green, yellow, red, stop sign, stop sign at which the car has halted",
        ),
        "held": block(2, low=0.0, high=1.0, raw=True, constant=True, doc="factors of collision time and comfort"),
        "waited": block(low=0.0, high=180.0, unit="s", doc="time for which the car has stood still"),
        "way": block("points", 2, low=-50.0, high=50.0, unit="m", doc="points of the route, ahead and to the right"),
        "cars": block(
            "seen",
            6,
            low=-1.0,
            high=1.0,
            raw=True,
            constant=True,
            doc="presence, ahead and to the right (50 m), cosine and sine between headings, speed (20 m/s)",
        ),
        "walkers": block(
            "seen_walkers",
            5,
            low=-1.0,
            high=1.0,
            raw=True,
            constant=True,
            doc="presence, ahead and to the right (50 m), velocity ahead and to the right (2 m/s)",
        ),
    },
    images={"birdview": image("pixels", "pixels", "channels", doc="road, route, lines, cars, pedestrians: 0 or 255")},
    action=continuous("acceleration", "steering", doc="5 m/s^2 and 45 degrees at 1; to the right is positive"),
    terms={
        "completion": term(0.0, 1.0, 1.0, "increase of the completed part of the route in percent, times soft factors"),
        "crash": term(-1.0, 0.0, 1.0, "-1 for a collision or a red light"),
        "pace": term(-3.0, 1.0, 0.0, "1 at the target speed, 1 less for each 6 m/s of deviation"),
        "offset": term(-15.0, 0.0, 0.0, "-1 for each 2 m from the lane's middle"),
        "angle": term(-math.pi, 0.0, 0.0, "minus the angle to the lane, in rad"),
        "turn": term(-0.1, 0.0, 0.0, "-0.1 if the steering changes by more than 0.01"),
        "end": term(-21.0, 0.0, 0.0, "-1 for an infraction, minus the speed in m/s for a collision or at a line"),
        "synthesis": term(-PENALTY, 1.0, 0.0, "VLM-RL's synthesis, -10 for an infraction"),
        "arrived": term(
            0.0, 1000.0, 0.0, "at the end of the route without an infraction: remaining steps in thousands"
        ),
    },
    costs={
        "red_light": cost(0.0, doc="a red light was passed"),
        "stop_sign": cost(0.0, doc="a stop sign was passed without a halt"),
        "collision": cost(0.0, doc="the car touches another"),
        "pedestrian": cost(0.0, doc="the car touches a pedestrian"),
        "offroad": cost(0.0, doc="more than 95 % of the car are off the road"),
        "blocked": cost(0.0, doc="the car has stood still for too long"),
        "deviation": cost(0.0, doc="the car is 30 m from its route"),
    },
    fps=1.0 / DT,
    horizon=2000,
    expert_sees="state",
    quick={"cars": 8, "walkers": 4, "towns": 1},
    levels={
        "empty": {"cars": 0, "walkers": 0},
        "dense": {"cars": 40, "walkers": 30},
        "long": {"route_length": 1000, "horizon": 4000},
        "no_signals": {"signals": False},
        "birdview": {"observation": "birdview"},
    },
)


SPEC.state_fault(state_fault)


@SPEC.make_data
def make_data(values):
    data = data_of(values)
    if not values.signals:
        data = {**data, "lane_at": data["lane_at"].copy()}
        data["lane_at"][:, 3] = -1
    return {**data, **driver_table(AT_JUNCTIONS), **rewards.reward_data(values.comfort)}


# --- starts -----------------------------------------------------------------------------------------------------------


@SPEC.reset
def reset(p, s, rng):
    s.movers, s.bodies, s.linked = p.cars + 1, p.cars + 1, 1
    for k in range(s.first_on.size):
        s.first_on[k] = -1
    s.town = below(rng, p.towns)
    s.clock = uniform(rng, 0.0, 60.0)
    place_cars(p, s, rng)
    place_pedestrians(p, s, rng)
    choose_way(p, s, rng)
    s.driver[0], s.changes[0], s.halted[0], s.line_lane[0] = RAW, False, -1, -1
    s.behind, s.along = -s.start, s.start
    locate(p, s)
    for n in range(rewards.LONG):
        s.history[rewards.HEADING, n] = s.heading[0]
    look(p, s)


@kernel
def look(p, s):
    """Fill what follows from where everybody is."""
    s.target_lane[0] = s.way[s.leg]
    rewards.look_ahead(p, s)
    s.time_left = rewards.collision_time(p, s)


# --- a step -----------------------------------------------------------------------------------------------------------


@SPEC.step
def step(p, s, a, rng, r):
    before, old = s.speed[0], s.steering
    command(p, s, a)
    told = simulate(p, s, rng)
    follow_way(p, s)
    look(p, s)
    rewards.remember(s, before)
    judge(p, s, r, told)
    rewards.fill_terms(p, s, r, old)
    if has_arrived(p, s) and not rewards.has_fault(r) and not rewards.is_beyond(p, s):
        r.arrived = min(0.001 * (p.horizon - s.elapsed - 1), 1000.0)
    go_on(p, s, rng)


@kernel
def command(p, s, a):
    """What the ego car does with an action."""
    s.pedal, s.steering = a[0], p.memory * s.steering + (1.0 - p.memory) * a[1]
    force = FORCE * p.grip * a[0]
    s.acceleration[0] = min(max(force, (-BACKWARDS - s.speed[0]) / DT), (FASTEST - s.speed[0]) / DT)
    s.slip[0] = slip_of(STEERING * s.steering)


@kernel
def simulate(p, s, rng):
    """Move everybody; what the ego car did at a line."""
    k = s.way[s.leg]
    s.line_lane[0] = k if s.along + 0.5 * CAR_LENGTH <= p.lane[k, LENGTH] else -1
    act_all(p, p.drivers, s)
    obey_all(p, p.signal, p.drivers, s, s.clock)
    stop_for_walkers(p, p.drivers, s)
    if s.elapsed % DECIDE == 0:
        give_way(p, s)
    settle(p, s)
    move_all(p, s, DT)
    walk_all(p, s, DT, rng)
    s.clock += DT
    return crossed(p, p.signal, s, 0, s.clock)


@kernel
def follow_way(p, s):
    """Fill where on its way the ego car is."""
    x, y = s.x[0], s.y[0]
    s.along, s.aside_of_way = along_and_across(p, s.way[s.leg], x, y)
    while s.along > p.lane[s.way[s.leg], LENGTH] and s.leg < s.legs - 1:
        s.behind += p.lane[s.way[s.leg], LENGTH]
        s.leg += 1
        s.along, s.aside_of_way = along_and_across(p, s.way[s.leg], x, y)


@kernel
def has_arrived(p, s):
    """Whether the ego car is at the end of its way."""
    return s.behind + s.along >= p.route_length


@kernel
def judge(p, s, r, told):
    """Costs, success and the end of the episode."""
    r.red_light = 1.0 if told == RAN_RED else 0.0
    r.stop_sign = 1.0 if told == RAN_STOP else 0.0
    r.collision = 1.0 if s.crashed[0] else 0.0
    r.pedestrian = 1.0 if walker_hit(s, 0) >= 0 else 0.0
    r.offroad = 1.0 if senses.off_road(p, s) else 0.0
    s.waited = s.waited + DT if abs(s.speed[0]) < BLOCKED else 0.0
    if s.waited > p.patience:
        r.blocked, s.waited = 1.0, 0.0
    r.deviation = 1.0 if distance_to(p, s.way[s.leg], s.x[0], s.y[0]) > DEVIATION else 0.0
    fault, beyond = rewards.has_fault(r), rewards.is_beyond(p, s)
    if fault:
        s.faults += 1
    s.crashed[0] = s.crashed[0] and p.mishaps == ENDS
    arrived = has_arrived(p, s)
    r.terminated = arrived or r.deviation > 0.0 or beyond or (fault and p.mishaps == ENDS)
    r.success = arrived and s.faults == 0 and not beyond


# --- observations -----------------------------------------------------------------------------------------------------


@SPEC.observe
def observe(p, s, o):
    k = s.way[s.leg]
    o.speed, o.aside, o.limit = s.speed[0], s.aside_of_way, p.lane[k, LIMIT]
    o.controls[0], o.controls[1] = s.pedal, s.steering
    sine, cosine = maths.sin_cos(heading_on(p, k, s.along))
    o.heading[0] = senses.within_one(s.sine[0] * cosine - s.cosine[0] * sine)
    o.heading[1] = senses.within_one(s.cosine[0] * cosine + s.sine[0] * sine)
    o.left = 1.0 - s.made / p.route_length
    o.waited = s.waited
    o.held[0] = rewards.TOO_CLOSE if s.close_held > 0 else 1.0
    o.held[1] = 1.0
    for n in range(rewards.READINGS):
        if s.comfort_held[n] > 0:
            o.held[1] -= rewards.UNCALM / rewards.READINGS
    senses.observe_line(p, s, o)
    senses.observe_way(p, s, o.way)
    senses.observe_cars(s, o.cars)
    senses.observe_walkers(p, s, o.walkers)


@SPEC.observe_images
def observe_images(p, s, i):
    senses.observe_birdview(p, s, i.birdview)


SPEC.expert(expert)
SPEC.draw(draw)


@SPEC.keys
def keys(pressed, values):
    """Arrows: accelerate and brake, steer."""
    return [("up" in pressed) - ("down" in pressed), 0.5 * (("right" in pressed) - ("left" in pressed))]
