"""Exit: cross six lanes of traffic to the right to leave the highway at the exit.

## Description
A highway of six lanes whose speed limits decrease to the right, from 26 to 9 m/s. After 400 m a seventh lane begins,
which leads into the exit after another 100 m. It reproduces highway-env's exit-v0 (Leurent 2018; version 1.12) step by
step until a car is slower than 2.1 m/s (see `rlenvs/Highway-v0`); `linked=True` is its exit-v1, whose drivers also see
the cars on the lanes before and after their own. Different: bounds of observations are finite.

## Action Space
Meta-actions: aim at the lane to the left or right, or at the next of the speeds 18, 24 and 30 m/s, or keep both. With
`actions="continuous"` acceleration (5 m/s^2 at 1) and steering (45 degrees at 1).

## Observation Space
With `observation="kinematics"` fifteen rows, the ego car and the next cars ahead of it: presence, position in units of
200 m along and 24 m across the road, velocity in units of 80 m/s, those of other cars relative to the ego car, cosine
and sine of the heading; x of the ego car is measured from the beginning of the exit lane. Not clipped at 1. Other
observation types as in Highway.

## Rewards
`goal` is 1 if the ego car's target is the exit lane, or it is in the exit; otherwise there is `speed`, 0 at 20 m/s and
1 at 30 m/s, with weight 0.1. The reward is in [0, 1]. For training, with weight 0: `rightwards`, by how much the ego
car came nearer to the exit lane, a potential-based shaping reward (Ng, Harada and Russell 1999), and `crash`, -1 in a
crash. With the other terms only, random exploration does not find six lane changes in a row.

## Costs
`collision`: 1 in a crash, which the reward does not penalize.

## Starting State
The ego car is on the leftmost lane at 25 m/s; twenty drivers are ahead of it, more often on lanes further to the right,
at the speed limit; they keep their lanes.

## Episode End
Termination: a crash. Truncation: 18 steps, a second each. Success: on the exit lane at the end.

## Parameters
Lengths are in meters, times in seconds.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

from rlenvs.core import cost, i8, integer, kernel, maths, only, param, same_as, term, uniform
from rlenvs.kits.roads.lanes import LENGTH, LIMIT, PLACE, X
from rlenvs.kits.roads.network import route_rows
from rlenvs.kits.traffic.cars import TRACKER, put_on_lane, set_route
from rlenvs.kits.traffic.lane_lists import locate
from rlenvs.robotics.driving import networks, originals
from rlenvs.robotics.driving.driving import begin, driving_world, end, on_road, own_car, share, simulate
from rlenvs.robotics.driving.experts import exit_expert
from rlenvs.robotics.driving.render import draw_traffic

NETWORK = networks.highway_exit()
LANES, STAGES = 6, 3
SIDE_LANE, EXIT = NETWORK.lane("1", "2", LANES), NETWORK.lane("2", "exit")
SPACE, SPACE_PER_SPEED = 12.0, 1.0  # m, s: usual distance between cars at the start
FIRST_SPEED, ROOM_BEHIND = 25.0, 2.0  # m/s of the ego car; room behind the first cars in parts of the usual distance

SPEC = driving_world(
    "Exit-v0",
    doc=__doc__,
    source="highway-env 1.12.1, exit-v0 (Leurent 2018)",
    road=lambda values: NETWORK,
    cars=lambda values: values.cars + 1,
    stages=STAGES,
    speeds=(18.0, 24.0, 30.0),
    features={"cos_h": 0.0, "sin_h": 0.0},
    rows=15,
    most=10.0,
    landmark=SIDE_LANE,
    hz=(5, 1),
    params={
        "density": param(1.5, 0.3, 4.0, "", "of other cars at the start"),
        "low_speed": param(20.0, 0.0, 29.0, "m/s", "speed at which `speed` is 0"),
        "high_speed": param(30.0, 29.5, 40.0, "m/s", "speed at which `speed` is 1"),
    },
    options={"cars": integer(20, 0, 60, "other cars")},
    data={"plan": i8(STAGES)},
    more_data=lambda values: {"plan": route_rows([NETWORK.route("0", "1", "3")], STAGES)[0]},
    terms={
        "goal": term(0.0, 1.0, 1.0, "1 on the way out"),
        "speed": term(0.0, 1.0, 0.1, "0 at 20 m/s, 1 at 30 m/s; 0 on the exit lane"),
        "rightwards": term(-1.0, 1.0, 0.0, "change of the lane's position, 1 from the leftmost lane to the exit lane"),
        "crash": term(-1.0, 0.0, 0.0, "-1 in a crash"),
    },
    costs={"collision": cost(0.0, 1.0, doc="1 in a crash")},
    horizon=18,
    original=originals.Config(
        duration=18,
        keys={
            "lanes_count": only(6, "six lanes"),
            "vehicles_count": same_as("cars"),
            "vehicles_density": same_as("density"),
            "reward_speed_range": same_as("low_speed", "high_speed"),
            "right_lane_reward": only(0, '`weights={"rightwards": ...}` rewards getting nearer to the exit lane'),
            "normalize_reward": only(True, "rewards are in [0, 1]"),
        },
        rewards={"goal_reward": 1.0, "high_speed_reward": 0.1, "collision_reward": 0.0},
    ),
    quick={"cars": 8, "simulation_hz": 2},
    python_answers=2,
    levels={"linked": {"linked": True}, "empty": {"cars": 0}},
)
SPEC.expert(exit_expert)


@SPEC.draw
def draw(canvas, p, s):
    draw_traffic(canvas, p, s, (SIDE_LANE, EXIT))
    ahead = float(p.lane[SIDE_LANE, X]) - float(s.x[s.ego])
    last = ahead + float(p.lane[SIDE_LANE, LENGTH])
    if last > 0.0:
        begins = f"the lane to the exit begins in {ahead:.0f} m" if ahead > 0.0 else "the lane to the exit is there"
        canvas.caption(f"{float(s.speed[s.ego]) * 3.6:.0f} km/h", begins, f"ends in {last:.0f} m")


@SPEC.reset
def reset(p, s, rng):
    begin(p, s, p.cars + 1, p.cars + 1, 0)
    crowd, farthest = maths.exp(-5.0 / 40.0 * LANES), 0.0
    for i in range(p.cars + 1):
        k = 0 if i == 0 else drawn_lane(rng)
        speed = FIRST_SPEED if i == 0 else p.lane[k, LIMIT]
        room = (SPACE + SPACE_PER_SPEED * speed) * crowd * (ROOM_BEHIND if i == 0 else 1.0 / p.density)
        if i == 0:
            farthest = 3.0 * room
        farthest += room * uniform(rng, 0.9, 1.1)
        put_on_lane(p, s, i, k, farthest, speed)
        if i > 0:
            set_route(s, i, p.plan, p.lane_at[k, PLACE])
            s.driver[i], s.changes[i] = 0, False
    own_car(p, s)
    locate(p, s)


@kernel
def drawn_lane(rng):
    """A lane, the likelier the more to the right: chances are 0, 1, 2, 3, 4 and 5 of 15."""
    drawn, k = uniform(rng, 0.0, 0.5 * LANES * (LANES - 1)), 1
    while k < LANES - 1 and drawn >= k:
        drawn -= k
        k += 1
    return k


@kernel
def own_lane(s):
    """The lane that the ego car aims at; where it only steers, the one it is on."""
    return s.target_lane[s.ego] if s.driver[s.ego] == TRACKER else s.lane_of[s.ego]


@kernel
def way_out(k):
    """Whether a lane leads to the exit."""
    return k in (SIDE_LANE, EXIT)


@kernel
def nearness(p, k):
    """0 on the leftmost lane, 1 on the way out."""
    return 1.0 if way_out(k) else p.lane_at[k, PLACE] / LANES


@SPEC.step
def step(p, s, a, rng, r):
    before = nearness(p, own_lane(s))
    simulate(p, s, a)
    ego, lane = s.ego, own_lane(s)
    out = way_out(lane)
    r.goal = 1.0 if out else 0.0
    r.speed = 0.0 if out else share(s.speed[ego], p.low_speed, p.high_speed)
    r.rightwards = nearness(p, lane) - before
    r.collision = 1.0 if s.crashed[ego] else 0.0
    r.crash = -r.collision
    end(p, s, r, on_road(p, s))
    r.success = out and r.success
