"""HeteroHighway: five learning cars drive fast and safely among fifty drivers of three types.

## Description
A straight road with eight lanes. Most of the other drivers are normal, some aggressive (they keep 0.5 m, brake at up to
9 m/s^2 and let others brake as hard), some defensive (8 m, politeness 0.5); the type of a driver is not observed. After
the heterogeneous highway of iPLAN (Wu et al., "iPLAN: Intent-aware planning in heterogeneous traffic via distributed
multi-agent reinforcement learning", CoRL 2023), a fork of highway-env: cars, controllers, drivers and rewards are those
of `rlenvs/Highway-v0`. The default is its mild traffic, `level="chaotic"` its chaotic one, `level="hostile"` its third
(every other driver aggressive). An agent that crashes is out; its car stays on the road as an obstacle. Different:
driver types are drawn from the seeded generator, where the published code uses NumPy's global one, so that a seed does
not determine the traffic there. Aggressive and defensive drivers follow the car ahead, with their own parameters; in
the published code the output of IDM is overwritten, and they keep their first speed whatever is ahead of them. The row
of the own car contains what the agent needs (`own_row="published"`: the published numbers, nearly always 1). The road
is 1000 km long; the published one ends after 10 km, and beyond it cars see no others and crash.

## Action Space
Per agent. Meta-actions: aim at the lane to the left or to the right, or at the next of the speeds 20, 25 and 30 m/s
above or below the present speed, or keep both. Or, with `actions="continuous"`, acceleration (5 m/s^2 at 1) and
steering (45 degrees at 1).

## Observation Space
Per agent, fifteen rows of five numbers: presence, position (in 100 m) and velocity (in 20 m/s), of others relative to
the agent's, the nearest along the road first; those more than 10 m behind only with `see_behind`. The first row is the
own car's: presence, its target speed, its lateral position, the speed along the road (both speeds minus 20 m/s), and
the lateral speed. The other observation types of `rlenvs/Highway-v0` (times to collision, a grid, a lidar, an image)
are also available.

## Rewards
Those of `rlenvs/Highway-v0` for each car: `speed` is 0 at 20 m/s and 1 at 30 m/s along the road, `right_lane` 0 on the
leftmost lane and 1 on the rightmost one, `collision` 0 in a crash and 1 otherwise; with the usual weights their sum is
in [0, 1]. Off the road all are 0. With `reward="team"` each agent receives the team's sum divided by the number of
agents. Weight 0: `survival`, 1 for each step without a crash, and `pace`, the speed along the road in m/s. Sums over an
episode give the published metrics: survival time, mean speed (`pace` / `survival`), and, with `is_success`, survival.

## Costs
`crash` is 1 in the step of a crash.

## Starting State
In five groups: an agent's car at 25 m/s, and ahead of it ten others in a row, on random lanes, at 21 to 24 m/s, at
distances that depend on `density` and the number of lanes. Exponents of IDM are uniform in the range of the driver
type.

## Episode End
Termination of an agent: a crash; with `offroad_terminal` also off the road. Truncation: 90 steps, a second each.
Success of an agent: no crash until then.

## Parameters
Lengths are in meters, times in seconds.

## Reference Scores
Mean return of all agents together over seeds 0 to 99. Fractions of agents that survive, and their mean speed, over
seeds 1000 to 1149: in mild traffic the expert, which looks ahead, 0.987 and 27.2 m/s, the player `idm` 0.965 and 24.9
m/s; in chaotic traffic 0.983 and 27.5 m/s, 0.951 and 24.9 m/s. PPO that shares parameters, trained for 1.2 million
steps of agents in chaotic traffic, has 0.979 and 27.9 m/s there from `observation="times"`; from rows of cars 0.865 and
22.1 m/s after a million, worse than IDM. Survival by itself is easy: always choosing "slower" means driving at 20 m/s,
with a survival of 0.988 (mild), 0.968 (chaotic) and 0.98 (hostile traffic; seeds 0 to 99) and a return of 312, 307 and
310, compared with 399 for the expert. So report survival together with mean speed, or the return.

## Version History
v0: first version.
"""

import numpy as np

from rlenvs.core import (
    below,
    choice,
    cost,
    data_option,
    integer,
    kernel,
    maths,
    param,
    term,
    uniform,
)
from rlenvs.kits.roads.lanes import LIMIT, PLACE, lane_count
from rlenvs.kits.roads.network import highway
from rlenvs.kits.traffic.cars import TRACKER, put_on_lane
from rlenvs.kits.traffic.drivers import AGGRESSIVE, DEFENSIVE, DELAY, POLITE, act_all, become_driver
from rlenvs.kits.traffic.lane_lists import locate
from rlenvs.kits.traffic.simulation import move_all
from rlenvs.robotics.driving import driving, experts, observations
from rlenvs.robotics.driving.driving import KINEMATICS, begin, driving_world, own_car, share
from rlenvs.robotics.driving.foresight import best_action
from rlenvs.robotics.driving.highway import BEST, FIRST_SPEED, QUICKEST, SLOWEST, SPACE, SPACE_PER_SPEED
from rlenvs.robotics.driving.render import GLASS, GRASS, LINE, draw_lanes, rectangle
from rlenvs.robotics.driving.steering import steps_per_action

NORMAL_ROW, AGGRESSIVE_ROW, DEFENSIVE_ROW = range(3)
SPEED_RANGE = 20.0  # m/s, which is 1 in an observation
REWARD = choice("individual", "team", doc="whether agents receive their own reward, or the mean reward of the team")
OWN_ROW = choice("useful", "published", doc="contents of the row of the own car")
TEAM, USEFUL = REWARD.code("team"), OWN_ROW.code("useful")
KIND_COLORS = ("white", "orange", "sky")  # of normal, aggressive and defensive drivers, in images
NEAR = 72.0  # m, width of the close view

SPEC = driving_world(
    "HeteroHighway-v0",
    doc=__doc__,
    source="iPLAN (Wu et al., CoRL 2023, arXiv 2306.06236), Heterogeneous_Highway_Env highway-hetero-v0 and -H-v0",
    agents=True,
    road=lambda values: highway(values.lane_count),
    cars=lambda values: values.agents + values.cars,
    drivers=(POLITE, AGGRESSIVE, DEFENSIVE),
    features={"x": 100.0, "y": 100.0, "vx": SPEED_RANGE, "vy": SPEED_RANGE},
    rows=15,
    hz=(5, 1),
    more_sizes=lambda values: {"agents": values.agents},
    params={
        "aggressive": param(0.1, 0.0, 1.0, "", "probability that a driver is aggressive"),
        "defensive": param(
            0.1, 0.0, 1.0, "", "probability that a driver is defensive, limited to those that are not aggressive"
        ),
        "density": param(1.0, 0.2, 4.0, "", "of other cars at the start"),
        "ego_spacing": param(2.0, 0.5, 10.0, "", "gap behind agents' cars, as a fraction of the usual distance"),
        "low_speed": param(20.0, 0.0, 29.0, "m/s", "speed along the road at which `speed` is 0"),
        "high_speed": param(30.0, 29.5, 40.0, "m/s", "speed along the road at which `speed` is 1"),
    },
    options={
        "lane_count": data_option(integer(8, 1, 10, "lanes")),
        "agents": integer(5, 1, 20, "number of learning cars"),
        "cars": integer(50, 0, 200, "other cars"),
        "reward": REWARD,
        "own_row": OWN_ROW,
    },
    terms={
        "speed": term(0.0, 1.0, 0.4 / BEST, "0 at 20 m/s, 1 at 30 m/s"),
        "right_lane": term(0.0, 1.0, 0.1 / BEST, "position of the target lane, 0 leftmost, 1 rightmost"),
        "collision": term(0.0, 1.0, 1.0 / BEST, "0 in a crash, 1 otherwise"),
        "survival": term(0.0, 1.0, 0.0, "1 without a crash"),
        "pace": term(-40.0, 40.0, 0.0, "speed along the road in m/s"),
    },
    costs={"crash": cost(0.0, doc="1 in the step of a crash")},
    scratch=("ego",),
    horizon=90,
    quick={"cars": 12, "agents": 3},
    players=("foresight", "idm"),
    levels={
        "chaotic": {"aggressive": 0.3, "defensive": 0.3},
        "hostile": {"aggressive": 0.5, "defensive": 0.0},
        "empty": {"cars": 0},
    },
)


# --- kernels ----------------------------------------------------------------------------------------------------------


@kernel
def draw_kind(p, rng):
    """The row of a driver's kind."""
    chance = uniform(rng, 0.0, 1.0)
    if chance < p.aggressive:
        return AGGRESSIVE_ROW
    return DEFENSIVE_ROW if chance >= 1.0 - p.defensive else NORMAL_ROW


@kernel
def place(p, s, i, farthest, speed, spacing, rng):
    """Put car i on some lane before a place; the new place."""
    room = (SPACE + SPACE_PER_SPEED * speed) * maths.exp(-5.0 / 40.0 * p.lane.shape[0]) * spacing
    if i == 0:
        farthest = 3.0 * room
    farthest += room * uniform(rng, 0.9, 1.1)
    put_on_lane(p, s, i, below(rng, p.lane.shape[0]), farthest, speed)
    return farthest


@SPEC.reset
def reset(p, s, rng):
    """Cars 0 ... agents - 1 are the agents', the others follow in the order of the groups, as even as they can be."""
    agents = p.agents
    begin(p, s, agents + p.cars, agents + p.cars, 0)
    farthest, i = 0.0, agents
    for k in range(agents):
        farthest = place(p, s, k, farthest, FIRST_SPEED, p.ego_spacing, rng)
        s.ego = k
        own_car(p, s)
        for _ in range(p.cars // agents + (1 if k < p.cars % agents else 0)):
            row = draw_kind(p, rng)
            speed = uniform(rng, SLOWEST * p.lane[0, LIMIT], QUICKEST * p.lane[0, LIMIT])
            farthest = place(p, s, i, farthest, speed, 1.0 / p.density, rng)
            become_driver(p.drivers, s, i, row, rng)
            s.timer[i] %= p.drivers[row, DELAY]
            i += 1
    locate(p, s)


@SPEC.step
def step(p, s, a, rng, r):
    for k in range(p.agents):
        if s.alive[k]:
            s.ego = k
            driving.command(p, s, a[k])
    dt = 1.0 / p.simulation_hz
    for _ in range(steps_per_action(p)):
        act_all(p, p.drivers, s)
        move_all(p, s, dt)
    for k in range(p.agents):
        if s.alive[k]:
            judge(p, s, k, r)
    if p.reward == TEAM:
        for values in (r.speed, r.right_lane, r.collision):
            total = 0.0
            for k in range(p.agents):
                total += values[k]
            for k in range(p.agents):
                values[k] = total / p.agents


@kernel
def judge(p, s, k, r):
    """Terms, costs and end of an agent."""
    s.ego = k
    crashed, on = s.crashed[k], driving.on_road(p, s)
    pace = s.speed[k] * s.cosine[k]
    lane = s.target_lane[k] if s.driver[k] == TRACKER else s.lane_of[k]
    if on:
        r.speed[k] = share(pace, p.low_speed, p.high_speed)
        r.right_lane[k] = p.lane_at[lane, PLACE] / max(lane_count(p, lane) - 1, 1)
        r.collision[k] = 0.0 if crashed else 1.0
    if crashed:
        r.crash[k] = 1.0
    else:
        r.survival[k], r.pace[k] = 1.0, min(max(pace, -40.0), 40.0)
    r.terminated[k] = crashed or (p.offroad_terminal == 1 and not on)
    r.success[k] = not r.terminated[k] and s.elapsed + 1 >= p.horizon


@SPEC.observe
def observe(p, s, k, o):
    s.ego = k
    driving.observe(p, s, o)
    if p.observation == KINEMATICS and p.own_row == USEFUL:
        speed = observations.feature_of(s, k, observations.RIGHT_SPEED)
        o.rows[0, 1] = within_one((s.target_speed[k] - SPEED_RANGE) / SPEED_RANGE)
        o.rows[0, 3] = within_one((speed - SPEED_RANGE) / SPEED_RANGE)


@kernel
def within_one(number):
    """The number, clipped to [-1, 1]."""
    return min(max(number, -1.0), 1.0)


@SPEC.observe_images
def observe_images(p, s, k, i):
    s.ego = k
    driving.observe_images(p, s, i)


@SPEC.player("foresight")
def foresight(p, s, k, a, rng):
    """Looks ahead (`foresight.py`); with continuous actions IDM and MOBIL."""
    advise(p, s, k, a, a[k])


@SPEC.player("idm")
def idm(p, s, k, a, rng):
    """Drives as the others do, at the highest speed that is calm: IDM for the speed, MOBIL for the lane."""
    s.ego = k
    follow(p, s, k, a, a[k])


@kernel
def advise(p, s, k, a, one):
    """Write the action of agent k, which is a number or a row of numbers."""
    s.ego = k
    if isinstance(one, (int, np.int64)):
        a[k] = best_action(p, s, k)
    else:
        experts.expert(p, s, one)


@kernel
def follow(p, s, k, a, one):
    """The same for IDM and MOBIL."""
    if isinstance(one, (int, np.int64)):
        experts.expert(p, s, a[k : k + 1])
    else:
        experts.expert(p, s, one)


@SPEC.expert
def expert(p, s, a):
    """Every agent looks ahead."""
    for k in range(p.agents):
        advise(p, s, k, a, a[k])


# --- image ------------------------------------------------------------------------------------------------------------


@SPEC.draw
def draw(canvas, p, s):
    """Close up the first agent that drives; below, the road as far as there are cars, a strip for each part of it."""
    kinds = zip(KIND_COLORS, ("normal", "aggressive", "defensive"), strict=True)
    canvas.legend(("blue", "agent"), *kinds, ("red", "crashed"))
    agents, count = int(p.agents), int(s.bodies)
    driving_on = [k for k in range(agents) if not s.crashed[k]]
    shown = driving_on[0] if driving_on else 0
    width, height = canvas.scene
    tall = 4.0 * len(p.lane)
    parts = ((float(s.x[shown]) - 0.35 * NEAR, NEAR, (0.0, 0.0, 1.0, 0.56)), *_strips(s, count))
    for left, wide, area in parts:
        half = 0.5 * wide * height * (area[3] - area[1]) / width
        middle = 0.5 * tall - 2.0
        canvas.view(left, left + wide, -middle - half, -middle + half, area)
        canvas.rectangle(left - wide, -middle - wide, left + 2.0 * wide, -middle + wide, GRASS)
        draw_lanes(canvas, p, left + 0.5 * wide, middle, wide, lines=wide == NEAR)
        for i in range(count):
            _draw_car(canvas, s, i, agents, i == shown, wide == NEAR)
    paces = [float(s.speed[k]) * 3.6 for k in driving_on]
    mean = f"mean {sum(paces) / len(paces):.0f} km/h" if paces else "nobody drives"
    canvas.caption(f"{len(driving_on)} of {agents} agents drive", mean)


def _strips(s, count):
    """The road between the first and the last car in two parts."""
    first, last = float(s.x[:count].min()) - 20.0, float(s.x[:count].max()) + 20.0
    wide = max(0.5 * (last - first), 200.0)
    return ((first + wide, wide, (0.0, 0.58, 1.0, 0.78)), (first, wide, (0.0, 0.80, 1.0, 1.0)))


def _draw_car(canvas, s, i, agents, shown, near):
    x, y, heading = float(s.x[i]), float(s.y[i]), float(s.heading[i])
    color = "red" if s.crashed[i] else "blue" if i < agents else KIND_COLORS[int(s.driver[i])]
    if not near:
        canvas.circle((x, -y), 6.0 if i < agents else 3.5, color)
        return
    canvas.polygon(rectangle(x, y, heading, 5.0, 2.0), color)
    canvas.polygon(rectangle(x, y, heading, 0.9, 1.6, 0.7), GLASS)
    if shown:
        canvas.polygon(rectangle(x, y, heading, 6.2, 3.0), LINE, 2.0)
