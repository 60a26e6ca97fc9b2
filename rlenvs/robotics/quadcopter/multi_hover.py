"""Multi hover: every quadcopter flies to its own goal and keeps clear of the others.

## Description
Several Crazyflies 2.x fly in a room of 4 m x 4 m x 2 m with a floor, each from a start to a goal, where it has to stay.
The task, the vehicle and the term `hover` are MultiHoverAviary's of gym-pybullet-drones (Panerati et al., "Learning to
Fly", IROS 2021), explicit dynamics, 240 Hz physics and 30 Hz control. Different from the original, which is one
environment with one summed reward: every vehicle is an agent with its own reward, its goal and the nearest others are
in its observation, starts and goals are random and paths may cross, vehicles that touch are out and the others
continue, and reaching the goals does not end the episode. level="original" has the original's starts and goals, all
straight above, and its tilt limit.

## Action Space
Per agent. With action="rpm", one number per rotor: speed = hover speed x (1 + action_range x a).

## Observation Space
Position, attitude, velocity, body rates, the vector to the goal, positions and velocities of the nearest other
vehicles; with `history` also the last actions, newest last.

## Rewards
`hover` is max(0, 2 - d^4) at distance d [m] from the own goal; the original's reward is its sum over all vehicles.
`team` is its mean over the vehicles still flying. Beyond 1.2 m `hover` is 0, so `goal`, exp(-d), guides learning there;
weights={"goal": 0} gives the original's reward. `team`, `distance` and `effort` have weight 0 by default;
weights={"hover": 0, "goal": 0, "team": 1} makes the task fully cooperative.

## Costs
Indicators per step and vehicle, see the table. With action="velocity" every vehicle has four barriers [m] for
`BarrierFilter`, which keeps it 0.1 m away from the walls, but not from the ceiling or from others.

## Starting State
Level and at rest. Starts and goals are in separate vertical columns at least 0.25 m and four radii of the hull apart
(0.54 m for up to 10 vehicles), random in a box of half width 1.8 m and heights 0.4 to 1.6 m. With the one- dimensional
actions a goal is straight above or below the start. Original: vehicle i starts at (4 L i, 4 L i, 0.1125), L the arm,
and its goal is 1 / (i + 1) m above.

## Episode End
Termination of a vehicle: |x| or |y| > 2 m, z > 2 m, |roll| or |pitch| > `tilt_limit`, touching another vehicle (with
`collisions_end`). Truncation: 8 s. Success, the same for all agents: no vehicle was lost and all are within 0.1 m of
their goals.

## Parameters
Hover speed and largest speed follow from mass, gravity and the coefficients. With action="velocity" the default
`speed_limit` is too slow for the longest distances.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

from rlenvs.core import block, f8, kernel, maths, term
from rlenvs.robotics.quadcopter import dynamics, flight, formation

CLOSE, FAR = 0.1, 10.0  # m, success; m, the largest observed distance

SPEC = formation.room_task(
    "QuadMultiHover-v0",
    doc=__doc__,
    source='gym-pybullet-drones MultiHoverAviary (Panerati et al., "Learning to Fly", IROS 2021)',
    state={"goal": f8("agents", 3)},
    observation=formation.observed(to_goal=block(3, low=-2.0, high=2.0, unit="m", doc="goal minus position")),
    terms={
        "hover": term(0.0, 2.0, 1.0, "max(0, 2 - d^4), d the distance to the goal in meters"),
        "goal": term(0.0, 1.0, 1.0, "exp(-d)"),
        "team": term(0.0, 2.0, 0.0, "mean of `hover` over the vehicles that fly"),
        "distance": term(-FAR, 0.0, 0.0, "minus the distance to the goal in meters"),
        "effort": term(-1.0, 0.0, 0.0, "minus the mean square of the action"),
    },
    horizon=flight.lasting(8.0),
)


@SPEC.reset
def reset(p, s, rng):
    formation.choose_places(p, s, s.position, rng)
    formation.choose_places(p, s, s.goal, rng)
    for k in range(s.goal.shape[0]):
        if p.places == formation.ORIGINAL:
            s.goal[k, 2] += 1.0 / (k + 1)
        elif formation.one_dimensional(p):
            s.goal[k, 0], s.goal[k, 1] = s.position[k, 0], s.position[k, 1]
    formation.take_off_all(p, s)


@SPEC.act
def act(p, s, a, rng):
    dynamics.blow(p, s, rng)
    formation.command_all(p, s, a)


@kernel
def to_goal(s, k):
    """Distance [m] of vehicle k to its goal."""
    return flight.distance_to(s, k, s.goal[k, 0], s.goal[k, 1], s.goal[k, 2])


@SPEC.outcome
def outcome(p, s, a, rng, r):
    done = formation.judge_all(p, s, a, r)
    total, flying = 0.0, 0
    for k in range(s.goal.shape[0]):
        if s.alive[k]:
            distance = to_goal(s, k)
            r.hover[k] = max(0.0, 2.0 - distance**4)
            r.goal[k] = maths.exp(-distance)
            r.distance[k] = -min(distance, FAR)
            total += r.hover[k]
            flying += 1
            done = done and distance < CLOSE
    for k in range(s.goal.shape[0]):
        r.team[k] = total / max(flying, 1)
        r.success[k] = done


@SPEC.observe
def observe(p, s, k, o):
    formation.observe_own(p, s, k, o)
    for j in range(3):
        o.to_goal[j] = s.goal[k, j] - s.position[k, j]


@SPEC.expert
def expert(p, s, a):
    for k in range(s.goal.shape[0]):
        if s.alive[k]:
            formation.fly_clear(p, s, k, a[k], s.goal[k, 0], s.goal[k, 1], s.goal[k, 2], 0.0, 0.0, 0.0)


@SPEC.draw
def draw(canvas, p, s):
    count = len(s.goal)
    there = sum(not s.lost[k] and to_goal(s, k) < CLOSE for k in range(count))
    formation.draw_swarm(canvas, p, s, s.goal, (), "", f"{there} of {count} at their goals")
