"""Leader and followers: the first quadcopter flies to a goal, the others keep a formation around it.

## Description
Several Crazyflies 2.x fly in a room of 4 m x 4 m x 2 m with a floor. Vehicle 0 leads: it has to reach a goal and stay
there. The others have to keep their places in hexagonal rings around it, at its height. After LeaderFollowerAviary of
gym-pybullet-drones (Panerati et al., "Learning to Fly", IROS 2021, branch paper), where followers only keep the
leader's height and vehicles do not observe each other; explicit dynamics, 240 Hz physics and 30 Hz control. Different
from it: positive rewards (with a negative square per step, ending early is an advantage), random starts and goals,
floor, walls and collisions. A lost vehicle is out, and the others continue; if the leader is lost, the first of the
others leads. level="original" has the original's starts and goal.

## Action Space
Per agent. With action="rpm", one number per rotor: speed = hover speed x (1 + action_range x a).

## Observation Space
Position, attitude, velocity, body rates, the vector to the own place (for the leader: the goal), relative position and
velocity of the leader (zero for itself), 1 for the leader and 0 for followers, and positions and velocities of the
nearest others; with `history` also the last actions, newest last.

## Rewards
With the distance d [m] to the own place, `leader` is exp(-d) for the leader, `formation` is exp(-d) for followers.
Weight 0 by default: `original`, minus d^2 for the leader and -(1/N) (z - z of the leader)^2 for a follower, where N is
the number of vehicles; `effort`.

## Costs
Indicators per step and vehicle, see the table. With action="velocity" every vehicle has four barriers [m] for
`BarrierFilter`, which keeps it 0.1 m away from the walls, but not from the ceiling or from others.

## Starting State
Level and at rest, in separate vertical columns at least 0.25 m and four radii of the hull apart (0.54 m for up to 10
vehicles), random in a box of half width 1.8 m and heights 0.4 to 1.6 m. The goal is in the same heights, at most 0.5 m
from the axis of the room along x and y, and nearer if the formation needs the room. With the one-dimensional actions
vehicles start below or above their places. Original: vehicle i starts at (4 L i, 4 L i, 0.1125), L the arm, and the
goal is (0, 0, 0.5).

## Episode End
Termination of a vehicle: |x| or |y| > 2 m, z > 2 m, |roll| or |pitch| > `tilt_limit`, touching another vehicle (with
`collisions_end`). Truncation: 8 s (original: 5 s). Success, the same for all agents: no vehicle was lost and all are
within 0.15 m of their places.

## Parameters
Hover speed and largest speed follow from mass, gravity and the coefficients. With action="velocity" the default
`speed_limit` is too slow for the longest distances.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

from rlenvs.core import block, f8, kernel, maths, term, uniform
from rlenvs.robotics.quadcopter import dynamics, flight, formation

CLOSE, SPREAD, FAR = 0.15, 0.5, 100.0  # m, success; m, of goals; m^2, the largest observed square
ORIGINAL_GOAL = 0.5  # m, height

SPEC = formation.room_task(
    "QuadLeaderFollower-v0",
    doc=__doc__,
    source='gym-pybullet-drones LeaderFollowerAviary (Panerati et al., "Learning to Fly", IROS 2021)',
    state={"goal": f8(3)},
    expert_sees="state",  # followers know the goal of their leader
    observation=formation.observed(
        to_place=block(3, low=-2.0, high=2.0, unit="m", doc="own place minus position"),
        leader_position=block(3, low=-4.0, high=4.0, unit="m", doc="leader minus own position"),
        leader_velocity=block(3, low=-2.0, high=2.0, unit="m/s", doc="leader's minus own velocity"),
        leads=block(low=0.0, high=1.0, doc="1 for the leader", raw=True),
    ),
    terms={
        "leader": term(0.0, 1.0, 1.0, "exp(-d), d the leader's distance to the goal in meters"),
        "formation": term(0.0, 1.0, 1.0, "exp(-d), d a follower's distance to its place in meters"),
        "original": term(-FAR, 0.0, 0.0, "-d^2 for the leader, -(1/N) (z - z of the leader)^2 for a follower"),
        "effort": term(-1.0, 0.0, 0.0, "minus the mean square of the action"),
    },
    horizon=flight.lasting(8.0),
)


@SPEC.reset
def reset(p, s, rng):
    formation.choose_places(p, s, s.position, rng)
    spread = min(SPREAD, p.freedom)
    s.goal[0], s.goal[1] = uniform(rng, -spread, spread), uniform(rng, -spread, spread)
    s.goal[2] = uniform(rng, formation.LOW, formation.HIGH)
    if p.places == formation.ORIGINAL:
        s.goal[0], s.goal[1], s.goal[2] = 0.0, 0.0, ORIGINAL_GOAL
    elif formation.one_dimensional(p):
        for k in range(s.position.shape[0]):
            s.position[k, 0], s.position[k, 1] = s.goal[0] + p.slot[k, 0], s.goal[1] + p.slot[k, 1]
    formation.take_off_all(p, s)


@SPEC.act
def act(p, s, a, rng):
    dynamics.blow(p, s, rng)
    formation.command_all(p, s, a)


@kernel
def to_place(p, s, k, leader):
    """Distance [m] of vehicle k to its place."""
    return flight.distance_to(
        s, k, formation.place_x(p, s, k, leader), formation.place_y(p, s, k, leader), formation.place_z(s, k, leader)
    )


@SPEC.outcome
def outcome(p, s, a, rng, r):
    done = formation.judge_all(p, s, a, r)
    leader, count = formation.leader_of(s), s.position.shape[0]
    for k in range(count):
        if not s.alive[k]:
            continue
        distance = to_place(p, s, k, leader)
        done = done and distance < CLOSE
        if k == leader:
            r.leader[k] = maths.exp(-distance)
            r.original[k] = -min(distance * distance, FAR)
        else:
            r.formation[k] = maths.exp(-distance)
            r.original[k] = -min((s.position[k, 2] - s.position[leader, 2]) ** 2 / count, FAR)
    for k in range(count):
        r.success[k] = done


@SPEC.observe
def observe(p, s, k, o):
    leader = formation.leader_of(s)
    formation.observe_own(p, s, k, o)
    formation.observe_other(s, k, leader, o.leader_position, o.leader_velocity)
    o.to_place[0] = formation.place_x(p, s, k, leader) - s.position[k, 0]
    o.to_place[1] = formation.place_y(p, s, k, leader) - s.position[k, 1]
    o.to_place[2] = formation.place_z(s, k, leader) - s.position[k, 2]
    o.leads = 1.0 if k == leader else 0.0


@SPEC.expert
def expert(p, s, a):
    """Followers fly to where their places will be, around the goal."""
    leader = formation.leader_of(s)
    for k in range(s.position.shape[0]):
        if s.alive[k]:
            x, y = s.goal[0] + p.slot[k, 0], s.goal[1] + p.slot[k, 1]
            if k == leader:
                x, y = s.goal[0], s.goal[1]
            formation.fly_clear(p, s, k, a[k], x, y, s.goal[2], 0.0, 0.0, 0.0)


@SPEC.draw
def draw(canvas, p, s):
    leader, count = formation.leader_of(s), len(s.position)
    there = sum(not s.lost[k] and to_place(p, s, k, leader) < CLOSE for k in range(count))
    formation.draw_swarm(
        canvas,
        p,
        s,
        [s.goal],
        [(leader, k) for k in range(count) if k != leader],
        "leader to followers",
        f"leader is vehicle {leader}; {there} of {count} in place",
    )
