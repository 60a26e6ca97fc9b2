"""Surround: quadcopters gather around a stationary target, and keep apart.

## Description
Several Crazyflies 2.x fly to a stationary target in the air and have to be close to it and at the same time far from
each other. The task is MOMAland's surround-v0 (Felten et al., arXiv 2407.16312), where vehicles are points;
level="point" reproduces it. By default they are this package's quadcopters, explicit dynamics, 240 Hz physics and 30 Hz
control, in a room 8 m wide and 4 m high.

## Action Space
Per agent. With action="velocity" a direction, and a speed relative to `speed_limit`. With action="position" a position
in the room. Level "point": a displacement along each axis, 0.2 m at full action.

## Observation Space
Position, attitude, velocity, body rates, the vector to the target, positions and velocities of the nearest others; with
`history` also the last actions, newest last. Level "point": the positions of the agent, of the target and of the others
in order, 3 (n + 1) numbers for n agents.

## Rewards
Two objectives; with the `mo-` id the reward is their vector. `approach` is how much nearer [m] the vehicle came to the
target's position before the step. `distance` is the mean distance [m] to the other vehicles; its weight makes one meter
between vehicles over a whole episode worth as much as 0.2 m nearer to the target. A vehicle that crashed receives -10
in both. The sum of `approach` is how much nearer a vehicle is at the end than at the start, whatever it did in between.

## Costs
None.

## Starting State
Published, the same in every episode: vehicles 0 to 3 at (0, 0, 1), (1, 1, 1), (0, 1, 1) and (2, 2, 1), further ones on
free points of the same lattice; the target at (1, 1, 2.5). Vehicles are level and at rest.

## Episode End
Termination of all agents when any vehicle crashes: nearer than 0.1 m (`closest`) to another one or to the target, below
0.1 m (`ground`), and for flying vehicles also touching hulls, |x| or |y| > 4 m, z > 4 m, |roll| or |pitch| >
`tilt_limit`. Truncation: 200 steps. Success, the same for all: no vehicle crashed, the vehicles are on average less
than 1 m from the target (with more than six, or wide hulls, 0.6 m more than the radius of a ring with room for all),
and no two of them are within 0.2 m.

## Parameters
Hover speed and largest speed follow from mass, gravity and the coefficients. The vehicle's `speed_limit` is at least
1.5 m/s. At level "point" the vehicle's parameters and effects have no influence, and there is no engine.

## Reference Scores
Mean return over seeds 0 to 99, summed over the vehicles. The expert keeps a horizontal ring of 0.4 m around the target
from the start. That solves the task, but is not the optimum of the published terms: at level "point", a team that waits
in four corners and gathers in the last 20 steps scores 10.8, the expert 6.3.

## Version History
v0: first version.
"""

from rlenvs.robotics.quadcopter import pursuit

SPEC = pursuit.pursuit_task(
    "QuadSurround-v0",
    doc=__doc__,
    published="surround-v0",
    target_motion="stands",
)
