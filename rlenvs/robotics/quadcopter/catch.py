"""Catch: quadcopters pursue a target that flees from them, and keep apart.

## Description
Several Crazyflies 2.x pursue a target that flees straight away from the middle of all vehicles. If that is within 0.2 m
of it, the target is surrounded and only jitters: a step a tenth as long, in a random direction. The task is MOMAland's
catch-v0 (Felten et al., arXiv 2407.16312), where vehicles are points. level="point" reproduces it: the target flees by
0.1 m per step and jitters by up to 0.01 m along each axis, never back, in a box of |x| and |y| up to 3 m and heights
from 0.2 to 3 m. By default vehicles are this package's quadcopters, explicit dynamics, 240 Hz physics and 30 Hz
control, in a room 8 m wide and 4 m high; the target flees at `target_speed` (a third of it at level="slow"), at least
0.5 m above the floor. It moves simultaneously with the vehicles, based on their previous positions.

## Action Space
Per agent. With action="velocity" a direction, and a speed relative to `speed_limit`. With action="position" a position
in the room. Level "point": a displacement along each axis, 0.2 m at full action.

## Observation Space
Position, attitude, velocity, body rates, the vector to the target and its velocity, positions and velocities of the
nearest others; with `history` also the last actions, newest last. Level "point": the positions of the agent, of the
target and of the others in order, 3 (n + 1) numbers for n agents.

## Rewards
Two objectives; with the `mo-` id the reward is their vector. `approach` is how much nearer [m] the vehicle came to the
target's position before the step. `distance` is the mean distance [m] to the other vehicles; its weight makes one meter
between vehicles over a whole episode worth as much as 0.2 m nearer to the target. A vehicle that crashed receives -10
in both. The target's own motion does not enter any term. Chasing is rewarded, too: when the target flees and a vehicle
follows, it approaches the target's previous position.

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
in four corners and gathers in the last 35 steps scores 15.1, the expert 8.2.

## Version History
v0: first version.
"""

from rlenvs.robotics.quadcopter import pursuit

SPEC = pursuit.pursuit_task(
    "QuadCatch-v0",
    doc=__doc__,
    published="catch-v0",
    target_motion="flees",
)
