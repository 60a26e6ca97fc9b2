"""Push: an agent tries to reach a landmark while its adversary pushes it away.

## Description
One of two landmarks is the goal. The agent is rewarded for being near it, the adversary for the agent being farther
from it than itself; the adversary does not know which landmark it is. The agents collide. It reproduces
`simple_push_v3` of mpe2 (keep-away of Lowe et al., 2017) step by step, in positions, velocities, observations and
rewards. Spaces are the original's. Different: success.

## Action Space
`actions="discrete"`: no force, or a force to the left, right, down or up. `"continuous"`: an
unused number, then the force to the left, right, down and up as fractions of `acceleration`, each in [0, 1]; with
`scaled=True` two numbers in [-1, 1], to the right and upwards.

## Observation Space
In meters and meters per second, not scaled. The agent sees its velocity (2), the goal relative to itself (2), its own
color (3), both landmarks relative to itself (4), their colors (6) and the adversary (2). The goal has the agent's
color. The adversary sees its velocity, both landmarks and the agent; in batches its observation is padded with zeros.

## Rewards
`distance` is minus the own distance from the goal; `push`, for the adversary, is the agent's distance from it.

## Costs
None.

## Starting State
Both agents and both landmarks uniformly in the square from -1 to 1, at rest. The goal is one of the landmarks.

## Episode End
Truncation after 25 steps. Success: being nearer to the goal than the other agent.

## Parameters
Both agents have the same properties.

## Reference Scores
Mean return of both agents together over seeds 0 to 99.

## Version History
v0: first version.
"""

from rlenvs.core import below, f8, i8, param, role, term
from rlenvs.multi.particle import physics, scenes, steering

ADVERSARY, AGENT = 0, 1
NUMBERS = 19


def roles(values):
    actions = physics.motion(values)
    return [role("adversary_0", 8, actions), role("agent_0", NUMBERS, actions)]


SPEC = physics.scenario(
    "ParticlePush-v0",
    doc=__doc__,
    source="mpe2 simple_push_v3 (Lowe et al., NeurIPS 2017)",
    published=physics.mpe2("simple_push_v3"),
    params={
        **physics.CONTACT,
        "acceleration": param(5.0, 0.1, 20.0, "m/s^2", "of an agent at full force"),
        "radius": param(0.05, 0.01, 0.5, "m", "of an agent"),
    },
    sizes=lambda values: {"agents": 2, "bodies": 2, "numbers": NUMBERS},
    roles=roles,
    teams=lambda values: [0, 1],
    state={"landmark": f8(2, 2), "goal": i8.within(0, 1)},
    terms={
        "distance": term(-physics.FARTHEST, 0.0, 1.0, "minus the own distance from the goal"),
        "push": term(0.0, physics.FARTHEST, 1.0, "for the adversary: the agent's distance from the goal"),
    },
    players=("blocking", "direct"),
)


@SPEC.reset
def reset(p, s, rng):
    s.goal = below(rng, 2)
    physics.scatter(s.position, 1.0, rng)
    physics.scatter(s.landmark, 1.0, rng)


@SPEC.step
def step(p, s, a, rng, r):
    physics.push(p, s, a, ADVERSARY, p.acceleration)
    physics.push(p, s, a, AGENT, p.acceleration)
    physics.repel(p, s, AGENT, ADVERSARY, AGENT, 2.0 * p.radius)
    physics.drift(p, s)
    physics.accelerate(p, s)
    mine, yours = (
        physics.distance(s.position, AGENT, s.landmark, s.goal),
        physics.distance(s.position, ADVERSARY, s.landmark, s.goal),
    )
    r.distance[AGENT] = -mine
    r.distance[ADVERSARY] = -yours
    r.push[ADVERSARY] = mine
    r.success[AGENT] = mine < yours
    r.success[ADVERSARY] = yours < mine


@SPEC.observe
def observe(p, s, k, o):
    seen = o.observation
    at = physics.tell(seen, 0, s.velocity[k])
    if k == AGENT:
        for axis in range(2):
            seen[at + axis] = s.landmark[s.goal, axis] - s.position[k, axis]
        for color in range(3):
            seen[at + 2 + color] = 0.75 if color == s.goal + 1 else 0.25
        at += 5
    at = physics.show(seen, at, s, k, s.landmark)
    if k == AGENT:
        for j in range(2):
            for color in range(3):
                seen[at] = 0.9 if color == j + 1 else 0.1
                at += 1
    at = physics.show_others(seen, at, s, k)
    physics.blank(seen, at, seen.size)


@SPEC.player("blocking")
def blocking(p, s, k, a, rng):
    """The agent goes to the goal; the adversary to the landmark that the agent is nearest to."""
    j = s.goal
    if k == ADVERSARY:
        near = physics.distance(s.position, AGENT, s.landmark, 0) < physics.distance(s.position, AGENT, s.landmark, 1)
        j = 0 if near else 1
    steering.stop_at(p, s, k, s.landmark[j, 0], s.landmark[j, 1], p.acceleration, a)


@SPEC.player("direct")
def direct(p, s, k, a, rng):
    """The agent goes to the goal; the adversary runs into the agent."""
    if k == AGENT:
        steering.stop_at(p, s, k, s.landmark[s.goal, 0], s.landmark[s.goal, 1], p.acceleration, a)
    else:
        steering.stop_at(p, s, k, s.position[AGENT, 0], s.position[AGENT, 1], p.acceleration, a)


@SPEC.draw
def draw(canvas, p, s):
    scenes.draw_push(canvas, p, s)
