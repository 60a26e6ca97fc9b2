"""Simple: move one agent to a landmark.

## Description
The smallest particle world, to check that learning works at all. It reproduces `simple_v3` of mpe2 step by step, in
positions, velocities, observations and rewards. Spaces are the original's. Different: success.

## Action Space
`actions="discrete"`: no force, or a force to the left, right, down or up. `"continuous"`: an
unused number, then the force to the left, right, down and up as fractions of `acceleration`, each in [0, 1]; with
`scaled=True` two numbers in [-1, 1], to the right and upwards.

## Observation Space
In meters and meters per second, not scaled: own velocity (2), and the landmark relative to the agent (2).

## Rewards
`distance` is minus the square of the distance to the landmark.

## Costs
None.

## Starting State
Agent and landmark uniformly in the square from -1 to 1, at rest.

## Episode End
Truncation after 25 steps. Success: within `goal_radius` of the landmark in this step.

## Parameters
`goal_radius` affects only success. With discrete actions a push moves the agent by 0.2 m in total, so it cannot come to
rest within 0.1 m of every landmark.

## Reference Scores
Mean return over seeds 0 to 99.

## Version History
v0: first version.
"""

from rlenvs.core import block, f8, param, term
from rlenvs.multi.particle import physics, scenes, steering

SPEC = physics.scenario(
    "ParticleSimple-v0",
    doc=__doc__,
    source="mpe2 simple_v3 (Lowe et al., NeurIPS 2017)",
    published=physics.mpe2("simple_v3"),
    params={
        "acceleration": param(5.0, 0.1, 20.0, "m/s^2", "of the agent at full force"),
        "goal_radius": param(0.1, 0.01, 1.0, "m", "distance at which the landmark is reached"),
    },
    sizes=lambda values: {"agents": 1, "bodies": 1},
    state={"landmark": f8(1, 2)},
    observation={"observation": block(4, low=-physics.SEEN, high=physics.SEEN, raw=True, doc="see above")},
    terms={"distance": term(-(physics.FARTHEST**2), 0.0, 1.0, "minus the squared distance to the landmark")},
    players=("direct",),
)


@SPEC.reset
def reset(p, s, rng):
    physics.scatter(s.position, 1.0, rng)
    physics.scatter(s.landmark, 1.0, rng)


@SPEC.step
def step(p, s, a, rng, r):
    physics.push(p, s, a, 0, p.acceleration)
    physics.drift(p, s)
    physics.accelerate(p, s)
    apart = physics.distance(s.position, 0, s.landmark, 0)
    r.distance[0] = -apart * apart
    r.success[0] = apart < p.goal_radius


@SPEC.observe
def observe(p, s, k, o):
    at = physics.tell(o.observation, 0, s.velocity[k])
    physics.show(o.observation, at, s, k, s.landmark)


@SPEC.player("direct")
def direct(p, s, k, a, rng):
    """To the landmark."""
    steering.stop_at(p, s, k, s.landmark[0, 0], s.landmark[0, 1], p.acceleration, a)


@SPEC.draw
def draw(canvas, p, s):
    scenes.draw_simple(canvas, s, p.goal_radius)
