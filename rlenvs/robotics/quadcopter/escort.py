"""Escort: quadcopters accompany a target that moves away, and keep apart.

## Description
Several Crazyflies 2.x go to a target and accompany it on its straight way from (1, 1, 2.5) to (-2, -2, 3), close to it
and far from each other at the same time. The task is MOMAland's escort-v0 (Felten et al., arXiv 2407.16312), where
vehicles are points, which level="point" keeps: the target goes by a 52nd of its way a step, and stops after 51. By
default they are this package's quadcopters, explicit dynamics, 240 Hz physics and 30 Hz control, in a room 8 m wide and
4 m high, and the target flies at `target_speed`, a third of it at level="slow".

## Action Space
Per agent. With action="velocity": a direction, and a speed relative to `speed_limit`. With action="position" a place in
the room. Level "point": a way along each axis, 0.2 m at full action.

## Observation Space
Position, attitude, velocity, body rates, the vector to the target and its velocity, places and velocities of the
nearest others; with `history`, the last actions too, newest last. Level "point": the places of itself, of the target
and of the others by number, 3 (n + 1) numbers, for n agents.

## Rewards
Two objectives; the reward of the id with `mo-` is their vector. `approach` is the way [m] by which the vehicle came
nearer to where the target was before the step. `distance` is the mean distance [m] to the other vehicles; its weight
makes a metre between vehicles over a whole episode worth 0.2 m nearer to the target. A vehicle that crashed has -10 in
both. How far the target itself moves away is in no term.

## Costs
None.

## Starting State
Published, the same in every episode: vehicles 0 to 3 at (0, 0, 1), (1, 1, 1), (0, 1, 1) and (2, 2, 1), further ones on
free places of the same lattice; the target at (1, 1, 2.5). Vehicles are level and at rest.

## Episode End
Termination, of all at once, when anybody crashed: nearer than 0.1 m (`closest`) to another one or to the target, below
0.1 m (`ground`), and where vehicles fly also touching hulls, |x| or |y| > 4 m, z > 4 m, |roll| or |pitch| >
`tilt_limit`. Truncation: 200 steps. Success, the same for all: nobody crashed, the vehicles are less than 1 m from the
target in the mean (with more than six, or wide hulls, 0.6 m more than the radius of a ring with room for all), and no
two of them within 0.2 m.

## Parameters
Hover speed and largest speed follow from mass, gravity and the coefficients. The vehicle's `speed_limit` is 1.5 m/s at
least. In level "point" none of the vehicle's parameters and effects matters, and there is no engine.

## Reference Scores
Mean return over seeds 0 to 99, summed over the vehicles. The expert keeps a level ring of 0.4 m around the target from
the start on. That is the task, but not the most that the published terms pay: in level "point", a team that waits in
four corners and gathers in the last 25 steps earns 13.6, the expert 7.4.

## Version History
v0: first version.
"""

from rlenvs.robotics.quadcopter import pursuit

SPEC = pursuit.pursuit_task(
    "QuadEscort-v0",
    doc=__doc__,
    published="escort-v0",
    target_motion="moves",
)
