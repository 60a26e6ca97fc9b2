"""Flock: quadcopters fly together behind a leader whose goal moves slowly.

## Description
Several Crazyflies 2.x fly in a room of 4 m x 4 m x 2 m with a floor. Vehicle 0 leads: its goal circles slowly around
the room at a height of 1 m. The others stay with the flock: close, but not too close, and at the same velocity. After
FlockAviary of gym-pybullet-drones (Panerati et al., "Learning to Fly", IROS 2021, branch paper), where each vehicle
keeps the height of the one before it and vehicles do not observe each other; explicit dynamics, 240 Hz physics and 30
Hz control. The terms separation, cohesion and alignment are the three rules of Reynolds, "Flocks, herds and schools",
SIGGRAPH 1987. Also different from the original: rewards that favor staying alive, random starts, floor, walls and
collisions. A lost vehicle is out, and the others continue; if the leader is lost, the first of the others leads.
level="original" has the original's starts and goal, which stays at (0, 0, 1).

## Action Space
Per agent. With action="rpm", one number per rotor: speed = hover speed x (1 + action_range x a).

## Observation Space
Position, attitude, velocity, body rates; for the leader the vector to the goal, for others zero; relative position and
velocity of the vehicle ahead in the chain (the next lower number that still flies; zero for the leader) and of the
middle of all others; 1 for the leader and 0 for followers; positions and velocities of the nearest others; with
`history` also the last actions, newest last.

## Rewards
`leader` is exp(-d) for the leader at distance d [m] from its goal. The others are for all vehicles. `cohesion` is
max(0, 1 - d / 2) at distance d from the middle of the others, `alignment` is max(0, 1 - v) at speed v [m/s] relative to
their mean velocity, `separation` is minus the fraction by which the nearest is closer than 0.4 m. For the last vehicle
in the air, cohesion and alignment are 0. Weight 0 by default: `chain`, the original's reward, minus d^2 for the leader
and minus the squared difference of heights to the one ahead for the others; `effort`.

## Costs
Indicators per step and vehicle, see the table. With action="velocity" every vehicle has four barriers [m] for
`BarrierFilter`, which keeps it 0.1 m away from the walls, but not from the ceiling or from others.

## Starting State
Level and at rest, in separate vertical columns at least 0.25 m and four radii of the hull apart (0.54 m for up to 10
vehicles), random in a box of half width 1.8 m and heights 0.4 to 1.6 m. The goal starts at a random point of its
circle, whose radius is 0.8 m, or less if a flock in hexagonal rings needs the room. With the one-dimensional actions
vehicles start below or above such rings and the goal does not move. Original: vehicle i starts at (4 L i, 4 L i,
0.1125), L the arm.

## Episode End
Termination of a vehicle: |x| or |y| > 2 m, z > 2 m, |roll| or |pitch| > `tilt_limit`, touching another vehicle (with
`collisions_end`). Truncation: 12 s (original: 5 s). Success, the same for all agents: no vehicle was lost, the leader
is within 0.25 m of its goal, every vehicle has another within 0.7 m but none within 0.2 m, is within 0.4 + 0.35 sqrt(N)
m of the middle of the others, and flies within 0.25 m/s of their mean velocity, where N is the number of vehicles.

## Parameters
Hover speed and largest speed follow from mass, gravity and the coefficients.

## Reference Scores
Mean return over seeds 0 to 99. With level="hard", ten vehicles that do nothing score more (4619) than the reference
agent (4309) and less than the expert (5458): they get the full alignment, 3600, since none of them moves, but little
cohesion and no success. The agent flies to the leader and stays there (cohesion 2370, the expert's is 2160), but too
close: it loses 860 in separation, and two of ten vehicles. It was trained by imitating the expert, which assigns a slot
to every vehicle by its number, and vehicles do not observe their number. `weights={"alignment": 0.5}` ranks the three
by their behavior.

## Version History
v0: first version.
"""

import math

from rlenvs.core import block, f8, kernel, maths, param, term, uniform
from rlenvs.robotics.quadcopter import dynamics, flight, formation, top_view

CIRCLE, HEIGHT = 0.8, 1.0  # m, largest radius and height of the goal's circle
APART, BESIDE, CLOSE = 0.4, 2.0, 0.25  # m, separation; m, cohesion; m, of the leader to its goal, for success
TOO_NEAR, NEAR, MATCHED = 0.2, 0.7, 0.25  # m, m, m/s; success
FLOCK, FLOCK_GROWTH = 0.4, 0.35  # m; the radius of a flock, which grows with the square root of its number
FAR = 100.0  # m^2, the largest observed square

SPEC = formation.room_task(
    "QuadFlock-v0",
    doc=__doc__,
    source='gym-pybullet-drones FlockAviary (Panerati et al., "Learning to Fly", IROS 2021)',
    params={"goal_speed": param(0.15, 0.0, 0.5, "m/s", "speed of the leader's goal")},
    state={
        "goal": f8(3),
        "goal_velocity": f8(3),
        "phase": f8,  # rad, of the goal on its circle
        "total_position": f8(3),  # of all that fly
        "total_velocity": f8(3),
        "flying": f8,  # their number
    },
    expert_sees="state",  # the vehicles know where the goal goes
    observation=formation.observed(
        to_goal=block(3, low=-2.0, high=2.0, unit="m", doc="goal minus position; zero for followers"),
        ahead_position=block(3, low=-4.0, high=4.0, unit="m", doc="the vehicle ahead minus own position"),
        ahead_velocity=block(3, low=-2.0, high=2.0, unit="m/s", doc="its minus own velocity"),
        middle_position=block(3, low=-4.0, high=4.0, unit="m", doc="middle of the others minus own position"),
        middle_velocity=block(3, low=-2.0, high=2.0, unit="m/s", doc="their mean minus own velocity"),
        leads=block(low=0.0, high=1.0, doc="1 for the leader", raw=True),
    ),
    terms={
        "leader": term(0.0, 1.0, 1.0, "exp(-d), d the leader's distance to the goal in meters"),
        "cohesion": term(0.0, 1.0, 1.0, "max(0, 1 - d / 2), d the distance to the middle of the others in meters"),
        "alignment": term(0.0, 1.0, 1.0, "max(0, 1 - v), v the speed relative to the others in m/s"),
        "separation": term(-1.0, 0.0, 1.0, "-max(0, 1 - d / 0.4), d the distance to the nearest in meters"),
        "chain": term(-FAR, 0.0, 0.0, "-d^2 for the leader, -(difference of heights to the one ahead)^2 for others"),
        "effort": term(-1.0, 0.0, 0.0, "minus the mean square of the action"),
    },
    horizon=flight.lasting(12.0),
    levels={"original": {**formation.LEVELS["original"], "goal_speed": 0.0}},
)


@kernel
def move_goal(p, s, seconds):
    """Move the goal along its circle."""
    radius = min(CIRCLE, p.freedom)
    if p.places == formation.ORIGINAL:
        radius = 0.0
    speed = 0.0 if formation.one_dimensional(p) or radius <= 0.0 else p.goal_speed
    s.phase += speed * seconds / max(radius, 1e-9)
    cosine, sine = maths.cos(s.phase), maths.sin(s.phase)
    s.goal[0], s.goal[1], s.goal[2] = radius * cosine, radius * sine, HEIGHT
    s.goal_velocity[0], s.goal_velocity[1], s.goal_velocity[2] = -speed * sine, speed * cosine, 0.0


@kernel
def add_up(s):
    """Sum up the flock."""
    s.flying = 0.0
    for i in range(3):
        s.total_position[i], s.total_velocity[i] = 0.0, 0.0
    for k in range(s.position.shape[0]):
        if s.alive[k]:
            s.flying += 1.0
            for i in range(3):
                s.total_position[i] += s.position[k, i]
                s.total_velocity[i] += s.velocity[k, i]


@SPEC.reset
def reset(p, s, rng):
    formation.choose_places(p, s, s.position, rng)
    s.phase = uniform(rng, 0.0, 2.0 * math.pi)
    move_goal(p, s, 0.0)
    if formation.one_dimensional(p) and p.places != formation.ORIGINAL:
        for k in range(s.position.shape[0]):
            s.position[k, 0], s.position[k, 1] = s.goal[0] + p.slot[k, 0], s.goal[1] + p.slot[k, 1]
    formation.take_off_all(p, s)
    add_up(s)


@SPEC.act
def act(p, s, a, rng):
    dynamics.blow(p, s, rng)
    formation.command_all(p, s, a)


@kernel
def middle_offset(s, k, i):
    """The middle of the others minus the place of vehicle k, along axis i [m]; 0 when it is alone."""
    others = s.flying - 1.0
    return (s.total_position[i] - s.position[k, i]) / others - s.position[k, i] if others > 0.0 else 0.0


@kernel
def middle_speed(s, k, i):
    """The others' mean velocity minus that of vehicle k, along axis i [m/s]; 0 when it is alone."""
    others = s.flying - 1.0
    return (s.total_velocity[i] - s.velocity[k, i]) / others - s.velocity[k, i] if others > 0.0 else 0.0


@kernel
def ahead_of(s, k):
    """The next lower number that flies; k itself for the leader."""
    for j in range(k - 1, -1, -1):
        if s.alive[j]:
            return j
    return k


@SPEC.outcome
def outcome(p, s, a, rng, r):
    done = formation.judge_all(p, s, a, r)
    move_goal(p, s, 1.0 / p.control_hz)
    add_up(s)
    count, leader = s.position.shape[0], formation.leader_of(s)
    largest = FLOCK + FLOCK_GROWTH * math.sqrt(count)
    for k in range(count):
        if not s.alive[k]:
            continue
        offset, speed = 0.0, 0.0
        for i in range(3):
            offset += middle_offset(s, k, i) ** 2
            speed += middle_speed(s, k, i) ** 2
        offset, speed, nearest = math.sqrt(offset), math.sqrt(speed), flight.nearest_drone(s, k)
        if s.flying > 1.0:
            r.cohesion[k] = max(0.0, 1.0 - offset / BESIDE)
            r.alignment[k] = max(0.0, 1.0 - speed)
            r.separation[k] = -max(0.0, 1.0 - nearest / APART)
            done = done and nearest > TOO_NEAR and nearest < NEAR and offset < largest and speed < MATCHED
        if k == leader:
            distance = flight.distance_to(s, k, s.goal[0], s.goal[1], s.goal[2])
            r.leader[k] = maths.exp(-distance)
            r.chain[k] = -min(distance * distance, FAR)
            done = done and distance < CLOSE
        else:
            r.chain[k] = -min((s.position[k, 2] - s.position[ahead_of(s, k), 2]) ** 2, FAR)
    for k in range(count):
        r.success[k] = done


@SPEC.observe
def observe(p, s, k, o):
    formation.observe_own(p, s, k, o)
    ahead = ahead_of(s, k)
    formation.observe_other(s, k, ahead, o.ahead_position, o.ahead_velocity)
    o.leads = 1.0 if ahead == k else 0.0
    for i in range(3):
        o.to_goal[i] = s.goal[i] - s.position[k, i] if ahead == k else 0.0
        o.middle_position[i] = middle_offset(s, k, i)
        o.middle_velocity[i] = middle_speed(s, k, i)


@SPEC.expert
def expert(p, s, a):
    """Everybody flies to a slot of hexagonal rings around the goal, and with it."""
    leader, v = formation.leader_of(s), s.goal_velocity
    for k in range(s.position.shape[0]):
        if s.alive[k]:
            slot = 0 if k == leader else k
            x, y = s.goal[0] + p.slot[slot, 0], s.goal[1] + p.slot[slot, 1]
            formation.fly_clear(p, s, k, a[k], x, y, s.goal[2], v[0], v[1], v[2])


@SPEC.draw
def draw(canvas, p, s):
    count = len(s.position)
    shown = range(count) if count <= top_view.FEW else ()  # a longer chain is a tangle
    chain = [(k, ahead_of(s, k)) for k in shown if not s.lost[k] and ahead_of(s, k) != k]
    leader = formation.leader_of(s)
    distance = flight.distance_to(s, leader, *s.goal)
    formation.draw_swarm(
        canvas, p, s, [s.goal], chain, "follows", f"leader (vehicle {leader}) {distance:.2f} m from its goal"
    )
