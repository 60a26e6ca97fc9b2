"""Adversary: a team keeps near a goal that is unknown to its adversary, and deceives it.

## Description
One of the landmarks is the goal. The team is rewarded for having an agent near it and for the adversary being far from
it. The adversary is rewarded for being near, and observes everything except which landmark is the goal. So the team
should spread over all landmarks. It reproduces `simple_adversary_v3` of mpe2 (physical deception of Lowe et al., 2017)
step by step, in positions, velocities, observations and rewards. Spaces are the original's. Different: success; no
partial observation. `N=n` of the original is `good=n`.

## Action Space
`actions="discrete"`: no force, or a force to the left, right, down or up. `"continuous"`: an
unused number, then the force to the left, right, down and up as fractions of `acceleration`, each in [0, 1]; with
`scaled=True` two numbers in [-1, 1], to the right and upwards.

## Observation Space
In meters, not scaled, relative to the agent: for the team the goal (2); for all the landmarks (2 each) and the other
agents (2 each). The adversary's observation is two numbers shorter; in batches it is padded with two zeros.

## Rewards
For the team, `distance` is minus the distance from the goal to the nearest team member, and `adversary` the distance of
the adversary from the goal. For the adversary, `distance` is minus its own distance, and `adversary` is zero.

## Costs
None.

## Starting State
The adversary, the `good` agents and as many landmarks uniformly in the square from -1 to 1, at rest. The goal is one
of the landmarks.

## Episode End
Truncation after 25 steps. Success: for the team while one of its members is nearer to the goal than the adversary, for
the adversary while it is nearest.

## Parameters
There are no collisions.

## Reference Scores
Mean return of the adversary and the team together over seeds 0 to 99.

## Version History
v0: first version.
"""

from rlenvs.core import below, f8, i4, i8, integer, param, role, term
from rlenvs.multi.particle import physics, scenes, steering

MOST = 64  # good agents


def sizes(values):
    return {
        "agents": values.good + 1,
        "bodies": values.good + 1,
        "landmarks": values.good,
        "numbers": 4 * values.good + 2,
    }


def roles(values):
    length, numbers = 4 * values.good, physics.motion(values)
    team = [role(f"agent_{k}", length + 2, numbers) for k in range(values.good)]
    return [role("adversary_0", length, numbers), *team]


SPEC = physics.scenario(
    "ParticleAdversary-v0",
    doc=__doc__,
    source="mpe2 simple_adversary_v3 (Lowe et al., NeurIPS 2017)",
    published=physics.mpe2("simple_adversary_v3"),
    drop_in=physics.names(N="good"),
    params={"acceleration": param(5.0, 0.1, 20.0, "m/s^2", "of an agent at full force")},
    options={
        "good": integer(2, 1, MOST, "number of agents in the team, and of landmarks"),
    },
    sizes=sizes,
    roles=roles,
    teams=lambda values: [0, *[1] * values.good],
    state={
        "landmark": f8("landmarks", 2),
        "goal": i8.index_of("landmarks"),
        "target": i4("bodies"),
    },  # target: of players
    scratch=("target",),
    expert_sees="state",
    terms={
        "distance": term(
            -physics.FARTHEST,
            0.0,
            1.0,
            "minus the distance from the goal: of the nearest team member, or for the adversary its own",
        ),
        "adversary": term(0.0, physics.FARTHEST, 1.0, "for the team: the adversary's distance from the goal"),
    },
    players=("covering", "direct"),
    levels={"easy": {"good": 1}, "hard": {"good": 4}},
)


@SPEC.reset
def reset(p, s, rng):
    s.goal = below(rng, s.landmark.shape[0])
    physics.scatter(s.position, 1.0, rng)
    physics.scatter(s.landmark, 1.0, rng)


@SPEC.step
def step(p, s, a, rng, r):
    agents = s.position.shape[0]
    for k in range(agents):
        physics.push(p, s, a, k, p.acceleration)
    physics.drift(p, s)
    physics.accelerate(p, s)
    best = physics.nearest(s.landmark, s.goal, s.position, 1, agents)
    away = physics.distance(s.position, 0, s.landmark, s.goal)
    r.distance[0] = -away
    r.success[0] = away < best
    for k in range(1, agents):
        r.distance[k] = -best
        r.adversary[k] = away
        r.success[k] = best < away


@SPEC.observe
def observe(p, s, k, o):
    seen, at = o.observation, 0
    if k > 0:
        seen[0] = s.landmark[s.goal, 0] - s.position[k, 0]
        seen[1] = s.landmark[s.goal, 1] - s.position[k, 1]
        at = 2
    at = physics.show(seen, at, s, k, s.landmark)
    at = physics.show_others(seen, at, s, k)
    physics.blank(seen, at, seen.size)


@SPEC.player("covering")
def covering(p, s, k, a, rng):
    """The team takes a landmark each; the adversary goes to the landmark that the team is nearest to."""
    j = 0
    if k > 0:
        steering.assign(s, s.landmark, s.target, 1)
        j = s.target[k]
    else:
        least = 1e18
        for i in range(s.landmark.shape[0]):
            near = physics.nearest(s.landmark, i, s.position, 1, s.position.shape[0])
            if near < least:
                j, least = i, near
    steering.stop_at(p, s, k, s.landmark[j, 0], s.landmark[j, 1], p.acceleration, a)


@SPEC.player("direct")
def direct(p, s, k, a, rng):
    """The team goes to the goal, all of it; the adversary to the middle of the landmarks."""
    if k > 0:
        steering.stop_at(p, s, k, s.landmark[s.goal, 0], s.landmark[s.goal, 1], p.acceleration, a)
    else:
        x, y, count = 0.0, 0.0, s.landmark.shape[0]
        for i in range(count):
            x += s.landmark[i, 0] / count
            y += s.landmark[i, 1] / count
        steering.stop_at(p, s, k, x, y, p.acceleration, a)


@SPEC.draw
def draw(canvas, p, s):
    scenes.draw_adversary(canvas, s)
