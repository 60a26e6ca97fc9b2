"""Highway: drive fast in dense traffic, keep to the right, and avoid collisions.

## Description
A straight road with four lanes and fifty drivers that follow (IDM) and change lanes (MOBIL) like humans. It reproduces
highway-env's highway-v0 (Leurent, "An environment for autonomous driving decision-making", 2018; version 1.12): the
same cars, drivers, starts, rewards and observations, step by step. `level="fast"` is its highway-fast-v0;
`rlenvs/mo-Highway-v0` has vector rewards, with `level="vector"` those of MO-Gymnasium's mo-highway. Different: the
bounds of observations are finite; all APIs use the same option names; an empty road and a road without drivers are
allowed; the road is 1000 km long, where highway-env's ends after 10 km; the reward space allows a `collision` up to 1,
which the default reward needs (mo-highway's: up to 0). The exact match has a limit: as there, the steering of a car
below 0.69 m/s (with simulation steps of 1/15 s; 2.1 m/s with steps of 1/5 s) overshoots, so rounding errors grow, and
episodes diverge once there is such a car.

## Action Space
Meta-actions: aim at the lane to the left or to the right, or at the next of the speeds 20, 25 and 30 m/s above or below
the present speed, or keep both. Or, with `actions="continuous"`, acceleration (5 m/s^2 at 1) and steering (45 degrees
at 1).

## Observation Space
With `observation="kinematics"` five rows, the ego car and the next four cars ahead of it: presence, position and
velocity, in units of 200 m along the road, 4 m times the number of lanes across it (16 m with four lanes), and 80 m/s;
those of other cars relative to the ego car. Other observation types: times to collision, at three speeds on three
lanes; a grid of 11 x 11 cells of 5 m; sixteen beams of 60 m; an image.

## Rewards
`speed` is 0 at 20 m/s and 1 at 30 m/s along the road, `right_lane` 0 on the leftmost lane and 1 on the rightmost one,
`collision` -1 in a crash and 0 otherwise; the default weights give a reward in [0, 1], for which 1 is added to
`collision` (`reward="plain"` does not add it). All terms are 0 off the road.

## Costs
None.

## Starting State
The ego car is on a random lane at 25 m/s; each further car is placed ahead of all previous ones, on a random lane, at
21 to 24 m/s, at distances that depend on `density` and the number of lanes. Exponents of IDM are uniform in [3.5, 4.5].

## Episode End
Termination: a crash; with `offroad_terminal` also off the road. Truncation: 40 steps, a second each. Success: no crash.

## Parameters
Lengths are in meters, times in seconds.

## Reference Scores
Mean return over seeds 0 to 99. The return says little about overtaking: the published weights reward the right lane and
the absence of crashes more than speed, and always choosing "slower" has a return of 28.2 and never crashes.

## Version History
v0: first version.
"""

from rlenvs.core import below, choice, data_option, integer, maths, meaning, only, param, same_as, term, uniform
from rlenvs.kits.roads.lanes import LIMIT, PLACE, lane_count
from rlenvs.kits.roads.network import highway
from rlenvs.kits.traffic.cars import TRACKER, put_on_lane
from rlenvs.kits.traffic.drivers import become_driver
from rlenvs.kits.traffic.lane_lists import locate
from rlenvs.robotics.driving import originals
from rlenvs.robotics.driving.driving import begin, driving_world, on_road, own_car, share, simulate

BEST = 1.5  # what the weighted terms add up to at most, with 1 for no crash
CHECKS = choice("all", "ego", doc="which collisions count: all, or those of the ego car")
(ALL,) = CHECKS.codes("all")
PUBLISHED = {"speed": 0.4, "right_lane": 0.1, "collision": 1.0}
REWARD = choice("normalized", "plain", doc="in [0, 1], or with the published weights", sets={"plain": PUBLISHED})
(PLAIN,) = REWARD.codes("plain")
REWARDS = {"high_speed_reward": "speed", "right_lane_reward": "right_lane", "collision_reward": "collision"}
FIRST_SPEED = 25.0  # m/s, of the ego car
SLOWEST, QUICKEST = 0.7, 0.8  # of other cars at the start, in parts of the speed limit
SPACE, SPACE_PER_SPEED = 12.0, 1.0  # m, s: usual distance between cars at the start

SPEC = driving_world(
    "Highway-v0",
    doc=__doc__,
    source="highway-env 1.12.1, highway-v0 (Leurent 2018)",
    road=lambda values: highway(values.lane_count),
    cars=lambda values: values.cars + 1,
    params={
        "density": param(1.0, 0.2, 4.0, "", "of other cars at the start"),
        "ego_spacing": param(2.0, 0.5, 10.0, "", "gap behind the first cars, as a fraction of the usual distance"),
        "low_speed": param(20.0, 0.0, 29.0, "m/s", "speed along the road at which `speed` is 0"),
        "high_speed": param(30.0, 29.5, 40.0, "m/s", "speed along the road at which `speed` is 1"),
    },
    options={
        "lane_count": data_option(integer(4, 1, 10, "lanes")),
        "cars": integer(50, 0, 200, "other cars"),
        "first_lane": integer(-1, -1, 9, "lane in which the ego car starts, 0 the leftmost; -1 for a random one"),
        "checks": CHECKS,
        "reward": REWARD,
    },
    terms={
        "speed": term(0.0, 1.0, 0.4 / BEST, "0 at 20 m/s, 1 at 30 m/s"),
        "right_lane": term(0.0, 1.0, 0.1 / BEST, "position of the target lane, 0 leftmost, 1 rightmost"),
        "collision": term(-1.0, 1.0, 1.0 / BEST, "0 in a crash, 1 otherwise; plain: -1 and 0"),
    },
    horizon=40,
    original=originals.Config(
        duration=40,
        keys={
            "lanes_count": same_as("lane_count"),
            "vehicles_count": same_as("cars"),
            "vehicles_density": same_as("density"),
            "ego_spacing": same_as("ego_spacing"),
            "initial_lane_id": meaning("`first_lane`; None: any", originals.lane_of),
            "reward_speed_range": same_as("low_speed", "high_speed"),
            "lane_change_reward": only(0, "changing lanes is not rewarded, as in highway-env"),
            "normalize_reward": only(True, '`reward="plain"` has the published weights'),
        },
        rewards={"high_speed_reward": 0.4, "right_lane_reward": 0.1, "collision_reward": -1.0},
        paid=originals.normalized(REWARDS, ("high_speed_reward", "right_lane_reward")),
    ),
    quick={"cars": 12},
    levels={
        "fast": {"simulation_hz": 5, "lane_count": 3, "cars": 20, "ego_spacing": 1.5, "horizon": 30, "checks": "ego"},
        "vector": {"reward": "plain"},
        "empty": {"cars": 0},
    },
)


@SPEC.reset
def reset(p, s, rng):
    begin(p, s, p.cars + 1, p.cars + 1, 0)
    lanes = p.lane.shape[0]
    crowd = maths.exp(-5.0 / 40.0 * lanes)
    farthest = 0.0
    for i in range(p.cars + 1):
        k = below(rng, lanes)
        if i == 0 and p.first_lane >= 0:
            k = min(p.first_lane, lanes - 1)
        speed = FIRST_SPEED if i == 0 else uniform(rng, SLOWEST * p.lane[k, LIMIT], QUICKEST * p.lane[k, LIMIT])
        room = (SPACE + SPACE_PER_SPEED * speed) * crowd * (p.ego_spacing if i == 0 else 1.0 / p.density)
        if i == 0:
            farthest = 3.0 * room
        farthest += room * uniform(rng, 0.9, 1.1)
        put_on_lane(p, s, i, k, farthest, speed)
        if i > 0:
            become_driver(p.drivers, s, i, 0, rng)
            s.checked[i] = p.checks == ALL
    own_car(p, s)
    locate(p, s)


@SPEC.step
def step(p, s, a, rng, r):
    simulate(p, s, a)
    ego = s.ego
    on = 1.0 if on_road(p, s) else 0.0
    lane = s.target_lane[ego] if s.driver[ego] == TRACKER else s.lane_of[ego]
    r.speed = on * share(s.speed[ego] * s.cosine[ego], p.low_speed, p.high_speed)
    r.right_lane = on * p.lane_at[lane, PLACE] / max(lane_count(p, s.lane_of[ego]) - 1, 1)
    r.collision = on * ((0.0 if p.reward == PLAIN else 1.0) - (1.0 if s.crashed[ego] else 0.0))
    r.terminated = s.crashed[ego] or (p.offroad_terminal == 1 and on == 0.0)
    r.success = not r.terminated and s.elapsed + 1 >= p.horizon
