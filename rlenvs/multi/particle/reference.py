"""Reference: two agents guide each other to goals that only the other one knows.

## Description
Three landmarks of different colors. Each agent has a goal, and only the other knows it; both move, and both say one of
ten words, which the other hears in the next step. It reproduces `simple_reference_v3` of mpe2 (Lowe et al., 2017) step
by step, in positions, velocities, words, observations and rewards. Spaces are the original's. Different: success.
`local_ratio=x` of the original is `weights={"distance": x, "team": 1 - x}`.

## Action Space
`actions="discrete"`: 5 times the word plus the direction of the force. `"continuous"`: an unused number, then the force
to the left, right, down and up as fractions of `acceleration`, then the strength of each of the ten words, all in [0,
1]; with `scaled=True` the force to the right and upwards, then the words, all in [-1, 1].

## Observation Space
In meters and meters per second, not scaled: own velocity (2), the landmarks relative to the agent (2 each), the color
of the other's goal (3), the other's word of the last step (10).

## Rewards
`distance` is minus the distance of the other agent from its goal, which this one knows; `team` is the mean of both
agents' distances. Each has weight 0.5.

## Costs
None.

## Starting State
Agents and landmarks uniformly in the square from -1 to 1, at rest; a goal for each, which may be the same.

## Episode End
Truncation after 25 steps. Success: both agents are within `goal_radius` of their goals in this step.

## Parameters
`goal_radius` affects only success.

## Reference Scores
Mean return of both agents together over seeds 0 to 99.

## Version History
v0: first version.
"""

from rlenvs.core import below, choice, f8, i8, param, term
from rlenvs.multi.particle import physics, scenes, steering

WORDS = 10
COLORS = ("red", "green", "blue")

SPEC = physics.scenario(
    "ParticleReference-v0",
    doc=__doc__,
    source="mpe2 simple_reference_v3 (Lowe et al., NeurIPS 2017)",
    published=physics.mpe2("simple_reference_v3"),
    drop_in=physics.names().but(keywords={"local_ratio": physics.shares("distance", "team")}),
    params={
        "acceleration": param(5.0, 0.1, 20.0, "m/s^2", "of an agent at full force"),
        "goal_radius": param(0.1, 0.01, 1.0, "m", "distance at which the goal is reached"),
    },
    options={"actions": choice("discrete", "continuous", doc="one of fifty pairs of word and force, or numbers")},
    sizes=lambda values: {"agents": 2, "bodies": 2},
    state={
        "landmark": f8(3, 2),
        "goal": i8(2).within(0, 2),  # goal[k] is where the other of agent k has to go
        "words": f8(2, WORDS),
    },
    observation=physics.numbers(11 + WORDS),
    action=lambda values: physics.moving(values, WORDS),
    terms={
        "distance": term(-physics.FARTHEST, 0.0, 0.5, "minus the other agent's distance from its goal"),
        "team": term(-physics.FARTHEST, 0.0, 0.5, "minus the mean of both distances"),
    },
    players=("fluent",),
)


@SPEC.reset
def reset(p, s, rng):
    s.goal[0] = below(rng, 3)
    s.goal[1] = below(rng, 3)
    physics.scatter(s.position, 1.0, rng)
    physics.scatter(s.landmark, 1.0, rng)


@SPEC.step
def step(p, s, a, rng, r):
    for k in range(2):
        physics.push(p, s, a, k, p.acceleration)
    physics.drift(p, s)
    physics.accelerate(p, s)
    for k in range(2):
        physics.utter(a, k, p.motion, s.words[k])
    first, second = (
        physics.distance(s.position, 1, s.landmark, s.goal[0]),
        physics.distance(s.position, 0, s.landmark, s.goal[1]),
    )
    r.distance[0] = -first
    r.distance[1] = -second
    for k in range(2):
        r.team[k] = -(first + second) / 2.0
        r.success[k] = max(first, second) < p.goal_radius


@SPEC.observe
def observe(p, s, k, o):
    seen = o.observation
    at = physics.tell(seen, 0, s.velocity[k])
    at = physics.show(seen, at, s, k, s.landmark)
    for color in range(3):
        seen[at + color] = 0.75 if color == s.goal[k] else 0.25
    physics.tell(seen, at + 3, s.words[1 - k])


@SPEC.player("fluent")
def fluent(p, s, k, a, rng):
    """Say the number of the other's goal; go where one is told, and wait until then."""
    told = steering.loudest(s.words[1 - k])
    known = 0 <= told < 3
    x = s.landmark[told, 0] if known else s.position[k, 0]
    y = s.landmark[told, 1] if known else s.position[k, 1]
    steering.stop_at(p, s, k, x, y, p.acceleration, a)
    steering.say(a, k, p.motion, s.goal[k], WORDS)


@SPEC.draw
def draw(canvas, p, s):
    scenes.draw_reference(canvas, s, p.goal_radius)
