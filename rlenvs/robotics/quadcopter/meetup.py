"""Meetup: pairs of quadcopters meet and stay close without touching.

## Description
Several Crazyflies 2.x fly in a room of 4 m x 4 m x 2 m with a floor. Vehicles i and N-1-i are partners, where N is the
number of vehicles: they have to meet and stay together, 0.2 to 0.5 m from center to center. After MeetupAviary of
gym-pybullet-drones (Panerati et al., "Learning to Fly", IROS 2021, branch paper), where partners are rewarded for being
at the same position and do not observe each other; explicit dynamics, 240 Hz physics and 30 Hz control. Different from
it: a distance to keep, positive rewards (with a negative square per step, ending early is an advantage), random starts,
floor, walls and collisions. A lost vehicle is out, and the others continue. With an odd N the middle vehicle has no
partner and has to stay where it started. level="original" has the original's starts, on a line, where all pairs meet in
its middle.

## Action Space
Per agent. With action="rpm", one number per rotor: speed = hover speed x (1 + action_range x a).

## Observation Space
Position, attitude, velocity, body rates, relative position and velocity of the partner (of the start, for the vehicle
without a partner; zero when the partner is lost), and positions and velocities of the nearest others; with `history`
also the last actions, newest last.

## Rewards
`meet` is exp(-|d - 0.35|) at distance d [m] to the partner, and 0 when it is lost; for the vehicle without a partner
exp(-d), where d is the distance to its start. Weight 0 by default: `original`, minus d^2; `effort`.

## Costs
Indicators per step and vehicle, see the table. With action="velocity" every vehicle has four barriers [m] for
`BarrierFilter`, which keeps it 0.1 m away from the walls, but not from the ceiling or from others.

## Starting State
Level and at rest, in separate vertical columns at least 0.25 m and four radii of the hull apart (0.54 m for up to 10
vehicles), random in a box of half width 1.8 m and heights 0.4 to 1.6 m. With the one-dimensional actions partners start
in one column, one at 0.4 to 0.7 m, the other at 1.3 to 1.6 m. Original: vehicle i starts at (4 L i, 4 L i, 0.1125), L
the arm.

## Episode End
Termination of a vehicle: |x| or |y| > 2 m, z > 2 m, |roll| or |pitch| > `tilt_limit`, touching another vehicle (with
`collisions_end`). Truncation: 8 s (original: 5 s). Success, the same for all agents: no vehicle was lost, all partners
are 0.2 to 0.5 m apart, and the vehicle without a partner is within 0.15 m of its start.

## Parameters
Hover speed and largest speed follow from mass, gravity and the coefficients. With action="velocity" the default
`speed_limit` is too slow for the longest distances.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

import math

from rlenvs.core import block, f8, kernel, maths, term, uniform
from rlenvs.robotics.quadcopter import dynamics, flight, formation

NEAREST, MIDDLE, FARTHEST = 0.2, 0.35, 0.5  # m, between partners
CLOSE, FAR = 0.15, 100.0  # m, success of the one without a partner; m^2, the largest observed square
BAND = 0.3  # m, of starting heights in one column

SPEC = formation.room_task(
    "QuadMeetup-v0",
    doc=__doc__,
    source='gym-pybullet-drones MeetupAviary (Panerati et al., "Learning to Fly", IROS 2021)',
    state={"home": f8("agents", 3)},
    observation=formation.observed(
        partner_position=block(3, low=-4.0, high=4.0, unit="m", doc="partner minus own position"),
        partner_velocity=block(3, low=-2.0, high=2.0, unit="m/s", doc="partner's minus own velocity"),
    ),
    terms={
        "meet": term(0.0, 1.0, 1.0, "exp(-|d - 0.35|), d the distance to the partner in meters"),
        "original": term(-FAR, 0.0, 0.0, "-d^2"),
        "effort": term(-1.0, 0.0, 0.0, "minus the mean square of the action"),
    },
    horizon=flight.lasting(8.0),
)


@kernel
def partner_of(s, k):
    """The number of vehicle k's partner; k itself when there is none."""
    return s.position.shape[0] - 1 - k


@SPEC.reset
def reset(p, s, rng):
    formation.choose_places(p, s, s.position, rng)
    if formation.one_dimensional(p) and p.places != formation.ORIGINAL:
        for k in range(s.position.shape[0] // 2):
            j = partner_of(s, k)
            s.position[j, 0], s.position[j, 1] = s.position[k, 0], s.position[k, 1]
            s.position[k, 2], s.position[j, 2] = (
                uniform(rng, formation.LOW, formation.LOW + BAND),
                uniform(rng, formation.HIGH - BAND, formation.HIGH),
            )
    for k in range(s.position.shape[0]):
        for i in range(3):
            s.home[k, i] = s.position[k, i]
    formation.take_off_all(p, s)


@SPEC.act
def act(p, s, a, rng):
    dynamics.blow(p, s, rng)
    formation.command_all(p, s, a)


@kernel
def from_home(s, k):
    """Distance [m] of vehicle k to its start."""
    return flight.distance_to(s, k, s.home[k, 0], s.home[k, 1], s.home[k, 2])


@kernel
def together(s, k):
    """Whether vehicle k is where it shall be."""
    j = partner_of(s, k)
    if j == k:
        return from_home(s, k) < CLOSE
    distance = formation.distance_between(s, k, j)
    return not s.lost[j] and distance > NEAREST and distance < FARTHEST


@SPEC.outcome
def outcome(p, s, a, rng, r):
    done = formation.judge_all(p, s, a, r)
    for k in range(s.position.shape[0]):
        done = done and together(s, k)
        j = partner_of(s, k)
        if j == k:
            distance = from_home(s, k)
            r.meet[k], r.original[k] = maths.exp(-distance), -min(distance * distance, FAR)
        elif s.alive[j]:
            distance = formation.distance_between(s, k, j)
            r.meet[k], r.original[k] = maths.exp(-abs(distance - MIDDLE)), -min(distance * distance, FAR)
    for k in range(s.position.shape[0]):
        r.success[k] = done


@SPEC.observe
def observe(p, s, k, o):
    formation.observe_own(p, s, k, o)
    j = partner_of(s, k)
    formation.observe_other(s, k, j, o.partner_position, o.partner_velocity)
    if j == k:
        for i in range(3):
            o.partner_position[i] = s.home[k, i] - s.position[k, i]
            o.partner_velocity[i] = -s.velocity[k, i]


@SPEC.expert
def expert(p, s, a):
    """Partners fly to both sides of the middle between them, as far apart as they shall be."""
    half = 0.5 * MIDDLE
    for k in range(s.position.shape[0]):
        if not s.alive[k]:
            continue
        j = partner_of(s, k)
        if j == k or not s.alive[j]:
            formation.fly_clear(p, s, k, a[k], s.home[k, 0], s.home[k, 1], s.home[k, 2], 0.0, 0.0, 0.0)
            continue
        x, y = s.position[k, 0] - s.position[j, 0], s.position[k, 1] - s.position[j, 1]
        z = s.position[k, 2] - s.position[j, 2]
        aside = math.sqrt(x * x + y * y)
        middle_x, middle_y = s.position[k, 0] - 0.5 * x, s.position[k, 1] - 0.5 * y
        middle_z = s.position[k, 2] - 0.5 * z
        if formation.one_dimensional(p):
            side = half if z > 0.0 else -half
            formation.fly_clear(p, s, k, a[k], middle_x, middle_y, middle_z + side, 0.0, 0.0, 0.0)
        else:
            x, y = middle_x + half * x / max(aside, 1e-6), middle_y + half * y / max(aside, 1e-6)
            formation.fly_clear(p, s, k, a[k], x, y, middle_z, 0.0, 0.0, 0.0)


@SPEC.draw
def draw(canvas, p, s):
    pairs = [(k, partner_of(s, k)) for k in range(len(s.position) // 2)]
    met = sum(not s.lost[k] and together(s, k) for k, _ in pairs)
    formation.draw_swarm(canvas, p, s, (), pairs, "partners", f"{met} of {len(pairs)} pairs together")
