"""Spread: agents cover all landmarks together without touching each other.

## Description
There are as many landmarks as agents. The team is rewarded for having an agent near every landmark, and each agent is
penalized for touching another. Landmarks are not assigned to agents. It reproduces `simple_spread_v3` of mpe2
(cooperative navigation of Lowe et al., 2017) step by step, in positions, velocities, observations and rewards. Spaces
are the original's. Different: landmarks may be more or fewer than agents; success; a cost; no partial observation and
no curriculum (`weights={"collision": 0.0}` is its first stage). `local_ratio=x` of the original is
`weights={"distance": 1 - x, "collision": x}`, `N=n` is `agents=n`.

## Action Space
`actions="discrete"`: no force, or a force to the left, right, down or up. `"continuous"`: an
unused number, then the force to the left, right, down and up as fractions of `acceleration`, each in [0, 1]; with
`scaled=True` two numbers in [-1, 1], to the right and upwards.

## Observation Space
In meters and meters per second, not scaled: own velocity (2) and position (2), the landmarks (2 each) and the other
agents (2 each) relative to the agent, and two zeros per other agent, where the original has unused communication
channels.

## Rewards
`distance` is minus the sum, over landmarks, of the distance to the nearest agent, the same for all; `collision` is -1
for each other agent that this one touches. Each has weight 0.5.

## Costs
`contact` is 1 in a step in which the agent touches another. With actions="continuous" each agent has a barrier [m] per
other agent for `BarrierFilter`: in the parallel API, agents that start apart then stay apart.

## Starting State
Agents and landmarks uniformly in the square from -1 to 1, at rest.

## Episode End
Truncation after 25 steps. With `end_on_success` all agents terminate once every landmark has an agent within
`capture_radius`. Success: every landmark has an agent within it in this step.

## Parameters
All agents have the same properties.

## Reference Scores
Mean return of all agents together over seeds 0 to 99.

## Version History
v0: first version.
"""

from rlenvs.core import cost, f8, flag, i4, integer, kernel, param, term
from rlenvs.multi.particle import barrier, physics, scenes, steering

MOST = 256  # agents or landmarks


def sizes(values):
    landmarks = values.landmarks or values.agents
    numbers = 4 + 2 * landmarks + 4 * (values.agents - 1)
    return {
        "agents": values.agents,
        "bodies": values.agents,
        "landmarks": landmarks,
        "numbers": numbers,
        "kept_clear": barrier.count(values, values.agents - 1),
    }


SPEC = physics.scenario(
    "ParticleSpread-v0",
    doc=__doc__,
    source="mpe2 simple_spread_v3 (Lowe et al., NeurIPS 2017)",
    published=physics.mpe2("simple_spread_v3"),
    drop_in=physics.names(N="agents").but(keywords={"local_ratio": physics.shares("collision", "distance")}),
    params={
        **physics.CONTACT,
        "acceleration": param(5.0, 0.1, 20.0, "m/s^2", "of an agent at full force"),
        "radius": param(0.15, 0.01, 0.5, "m", "of an agent"),
        "capture_radius": param(0.1, 0.01, 1.0, "m", "distance at which an agent covers a landmark"),
    },
    options={
        "agents": integer(3, 1, MOST, "number of agents"),
        "landmarks": integer(0, 0, MOST, "number of landmarks; 0 for as many as agents"),
        "end_on_success": flag(False, "whether the episode ends when all landmarks are covered"),
    },
    sizes=sizes,
    state={"landmark": f8("landmarks", 2), "target": i4("agents")},  # target: of players
    scratch=("target",),
    terms={
        "distance": term(
            -MOST * physics.FARTHEST, 0.0, 0.5, "minus the distances from landmarks to their nearest agents"
        ),
        "collision": term(-MOST, 0.0, 0.5, "-1 for each agent touched"),
    },
    costs={"contact": cost(1.0, doc="1 while touching another agent")},
    barriers="kept_clear",
    players=("assigned", "nearest"),
    levels={"easy": {"agents": 2}, "hard": {"agents": 6, "radius": 0.1}, "crowd": {"agents": 16, "radius": 0.05}},
    probe={"capture_radius": {"end_on_success": True}},
)


@SPEC.reset
def reset(p, s, rng):
    physics.scatter(s.position, 1.0, rng)
    physics.scatter(s.landmark, 1.0, rng)


@kernel
def count_touches(p, s, r):
    """Agents that touch each other."""
    position = s.position
    touching = 4.0 * p.radius * p.radius
    for k in range(position.shape[0]):
        for j in range(k):
            x, y = position[k, 0] - position[j, 0], position[k, 1] - position[j, 1]
            if x * x + y * y < touching:
                r.collision[k] -= 1.0
                r.collision[j] -= 1.0
                r.contact[k] = 1.0
                r.contact[j] = 1.0


@SPEC.step
def step(p, s, a, rng, r):
    agents = s.position.shape[0]
    for k in range(agents):
        physics.push(p, s, a, k, p.acceleration)
    for k in range(agents):
        physics.repel(p, s, k, 0, k, 2.0 * p.radius)
    physics.drift(p, s)
    physics.accelerate(p, s)
    count_touches(p, s, r)
    total, covered = 0.0, True
    for j in range(s.landmark.shape[0]):
        least = physics.nearest(s.landmark, j, s.position, 0, agents)
        total += least
        covered = covered and least < p.capture_radius
    for k in range(agents):
        r.distance[k] = -total
        r.success[k] = covered
        r.terminated[k] = covered and p.end_on_success == 1


@SPEC.barrier
def keep_apart(p, s, k, a, b):
    barrier.keep_apart(p, s, k, b, 0, 0, s.position.shape[0], 2.0 * p.radius, p.acceleration, physics.FASTEST, 0)


@SPEC.observe
def observe(p, s, k, o):
    seen = o.observation
    at = physics.tell(seen, 0, s.velocity[k])
    at = physics.tell(seen, at, s.position[k])
    at = physics.show(seen, at, s, k, s.landmark)
    at = physics.show_others(seen, at, s, k)
    physics.blank(seen, at, seen.size)


@SPEC.player("assigned")
def assigned(p, s, k, a, rng):
    """To a landmark of its own."""
    steering.assign(s, s.landmark, s.target, 0)
    j = s.target[k]
    steering.stop_at(p, s, k, s.landmark[j, 0], s.landmark[j, 1], p.acceleration, a)


@SPEC.player("nearest")
def to_nearest(p, s, k, a, rng):
    """To the nearest landmark, whoever else is there."""
    goal, least = 0, 1e18
    for j in range(s.landmark.shape[0]):
        x, y = s.landmark[j, 0] - s.position[k, 0], s.landmark[j, 1] - s.position[k, 1]
        if x * x + y * y < least:
            goal, least = j, x * x + y * y
    steering.stop_at(p, s, k, s.landmark[goal, 0], s.landmark[goal, 1], p.acceleration, a)


@SPEC.draw
def draw(canvas, p, s):
    scenes.draw_spread(canvas, p, s)
