"""Tag: slower adversaries chase faster prey between obstacles.

## Description
All adversaries are rewarded whenever one of them touches prey, and the prey is penalized for it, as for leaving the
square. The prey is faster, so the adversaries have to cooperate. It reproduces `simple_tag_v3` of mpe2 (predator and
prey of Lowe et al., 2017) step by step, in positions, velocities, observations and rewards. The levels `facmac_3a`,
`facmac_6a` and `facmac_9a` are the continuous predator-prey tasks of FACMAC (Peng et al., "FACMAC: Factored Multi-Agent
Centralised Policy Gradients", 2021; repository oxwhirl/facmac): only the adversaries are agents, entities farther than
1.5 m away are observed as zeros, velocities change before positions, and the prey is scripted: of 100 random points of
the unit disc around it, it picks the one that is farthest from the nearest adversary and touches none, and uses that
point as its force. Spaces are those of mpe2, at the levels of FACMAC those with `scaled=True`. Different: success and a
cost; no curriculum (`level="easy"` and `"medium"` are its slow prey) and no nearest neighbors. `num_good`,
`num_adversaries` and `num_obstacles` are `good`, `adversaries` and `obstacles`.

## Action Space
`actions="discrete"`: no force, or a force to the left, right, down or up. `"continuous"`: an unused number,
then the force to the left, right, down and up as fractions of the agent's acceleration, each in [0, 1]; with
`scaled=True` two numbers in [-1, 1], to the right and upwards.

## Observation Space
In meters and meters per second, not scaled: own velocity (2) and position (2); relative to the agent, the obstacles and
the other agents (2 each); the velocities (2) of the prey other than itself. The observation of prey is two numbers
shorter; in batches it is padded with zeros.

## Rewards
`tag` is, for each adversary, the number of contacts between all adversaries and all prey, for prey minus the number of
its own contacts (weight 10). `bound`, for prey, is minus a penalty for leaving the square: along each axis zero up to
0.9 m from the middle, 1 at 1 m, then exp(2 x - 2), at most 10.

## Costs
`collision` is 1 in a step in which the agent touches an obstacle or an agent of its own side. With actions="continuous"
each agent has a barrier [m] per agent of its side and per obstacle for `BarrierFilter`, if there are at most 64; it can
still be pushed by the other side.

## Starting State
Adversaries and prey uniformly in the square from -1 to 1, obstacles in the square from -0.9 to 0.9; all at rest.
Obstacles may overlap each other and agents.

## Episode End
Truncation after 25 steps. With `end_on_success` all agents terminate when all prey is touched at the same time.
Success: for the adversaries, all prey has been touched in this episode; for the prey, none has.

## Parameters
`view_radius` hides entities that are farther away; with `prey="scripted"` the prey are scripted and not agents.

## Reference Scores
Mean return of all agents together over seeds 0 to 99.

## Version History
v0: first version.
"""

import math

from rlenvs.core import b1, choice, cost, f8, flag, integer, kernel, maths, param, role, term, uniform
from rlenvs.multi.particle import barrier, physics, scenes, steering

MOST = 64
POINTS = 100  # among which scripted prey chooses


def sizes(values):
    bodies = values.adversaries + values.good
    return {
        "agents": bodies if values.prey == "agents" else values.adversaries,
        "bodies": bodies,
        "landmarks": values.obstacles,
        "kept_clear": barrier.count(values, max(values.adversaries, values.good) - 1, values.obstacles),
        "numbers": 2 + 2 * (bodies + values.obstacles + values.good),
    }


def roles(values):
    length = sizes(values)["numbers"]
    actions = physics.motion(values)
    hunters = [role(f"adversary_{k}", length, actions) for k in range(values.adversaries)]
    if values.prey == "scripted":
        return hunters
    return hunters + [role(f"agent_{k}", length - 2, actions) for k in range(values.good)]


def sides(values):
    return [0] * values.adversaries + [1] * (values.good if values.prey == "agents" else 0)


FACMAC = {"prey": "scripted", "view_radius": 1.5, "first": "velocity", "actions": "continuous", "scaled": True}

FIRST = choice(
    "position",
    "velocity",
    doc="whether a step changes positions first (mpe2's order) or velocities first (the older order)",
)
POSITION, VELOCITY = FIRST.codes("position", "velocity")

SPEC = physics.scenario(
    "ParticleTag-v0",
    doc=__doc__,
    source="mpe2 simple_tag_v3 (Lowe et al., NeurIPS 2017)",
    published=physics.mpe2("simple_tag_v3"),
    drop_in=physics.names(num_good="good", num_adversaries="adversaries", num_obstacles="obstacles"),
    params={
        **physics.CONTACT,
        "adversary_acceleration": param(3.0, 0.1, 20.0, "m/s^2", "of an adversary at full force"),
        "good_acceleration": param(4.0, 0.1, 20.0, "m/s^2", "of prey at full force"),
        "adversary_speed": param(1.0, 0.1, 10.0, "m/s", "largest speed of an adversary"),
        "good_speed": param(1.3, 0.1, 10.0, "m/s", "largest speed of prey"),
        "adversary_radius": param(0.075, 0.01, 0.5, "m", "of an adversary"),
        "good_radius": param(0.05, 0.01, 0.5, "m", "of prey"),
        "obstacle_radius": param(0.2, 0.01, 0.5, "m", "of an obstacle"),
        "view_radius": param(
            physics.FARTHEST,
            0.01,
            physics.FARTHEST,
            "m",
            "distance up to which agents see obstacles and each other",
            limit=True,
        ),
    },
    options={
        "adversaries": integer(3, 1, MOST, "number of adversaries"),
        "good": integer(1, 1, MOST, "number of prey"),
        "obstacles": integer(2, 0, MOST, "number of obstacles"),
        "prey": choice("agents", "scripted", doc="who controls the prey"),
        "first": FIRST,
        "end_on_success": flag(False, "whether the episode ends when all prey is touched at the same time"),
    },
    sizes=sizes,
    roles=roles,
    teams=sides,
    state={"landmark": f8("landmarks", 2), "touched": b1("bodies")},
    terms={
        "tag": term(-MOST, MOST * MOST, 10.0, "contacts of adversaries with prey; for prey minus its own contacts"),
        "bound": term(-20.0, 0.0, 1.0, "for prey: minus the penalty for leaving the square"),
    },
    costs={"collision": cost(1.0, doc="1 while touching an obstacle or an agent of the own side")},
    barriers="kept_clear",
    players=("pursuit",),
    levels={
        "easy": {"good_speed": 0.65, "good_acceleration": 2.0},
        "medium": {"good_speed": 0.975, "good_acceleration": 3.0},
        "hard": {"good": 2, "adversaries": 4},
        "facmac_3a": FACMAC,
        "facmac_6a": {**FACMAC, "adversaries": 6, "good": 2, "obstacles": 4},
        "facmac_9a": {**FACMAC, "adversaries": 9, "good": 3, "obstacles": 6},
    },
)


@SPEC.reset
def reset(p, s, rng):
    physics.scatter(s.position, 1.0, rng)
    physics.scatter(s.landmark, 0.9, rng)


@kernel
def escape(p, s, k, rng):
    """The force of scripted prey."""
    position, hunters = s.position, p.adversaries
    threat, least = 0, 1e18
    for j in range(hunters):
        apart = physics.distance(position, k, position, j)
        if apart < least:
            threat, least = j, apart
    right, up, best = 0.0, 0.0, -1.0
    touching = p.adversary_radius + p.good_radius
    for _ in range(POINTS):
        length, angle = math.sqrt(uniform(rng, 0.0, 1.0)), math.pi * uniform(rng, 0.0, 2.0)
        x, y = length * maths.cos(angle), length * maths.sin(angle)
        score = 0.0
        for j in range(hunters):
            across, along = position[j, 0] - position[k, 0] - x, position[j, 1] - position[k, 1] - y
            apart = math.sqrt(across * across + along * along)
            if apart < touching:
                score = -1e9
            elif j == threat:
                score += apart
        if score > best:
            right, up, best = x, y, score
    s.force[k, 0] = right
    s.force[k, 1] = up


@kernel
def move(p, s):
    """Contacts, then velocities and positions in the chosen order."""
    hunters, bodies = p.adversaries, s.position.shape[0]
    both = p.adversary_radius + p.good_radius
    for k in range(bodies):
        if k < hunters:
            physics.repel(p, s, k, 0, k, 2.0 * p.adversary_radius)
            physics.bounce(p, s, k, s.landmark, p.obstacles, p.adversary_radius + p.obstacle_radius)
        else:
            physics.repel(p, s, k, 0, hunters, both)
            physics.repel(p, s, k, hunters, k, 2.0 * p.good_radius)
            physics.bounce(p, s, k, s.landmark, p.obstacles, p.good_radius + p.obstacle_radius)
    if p.first == POSITION:
        physics.drift(p, s)
    physics.accelerate(p, s)
    physics.limit_speed(s, 0, hunters, p.adversary_speed)
    physics.limit_speed(s, hunters, bodies, p.good_speed)
    if p.first == VELOCITY:
        physics.drift(p, s)


@kernel
def touching(points, i, others, j, reach):
    return physics.distance(points, i, others, j) < reach


@kernel
def count_collisions(p, s, r):
    """Contacts with obstacles and between agents of one side."""
    hunters = p.adversaries
    for k in range(r.tag.size):
        own = p.adversary_radius if k < hunters else p.good_radius
        for j in range(p.obstacles):
            if touching(s.position, k, s.landmark, j, own + p.obstacle_radius):
                r.collision[k] = 1.0
        for j in range(k):
            if (j < hunters) == (k < hunters) and touching(s.position, k, s.position, j, 2.0 * own):
                r.collision[k] = 1.0
                r.collision[j] = 1.0


@SPEC.step
def step(p, s, a, rng, r):
    agents, bodies, hunters = r.tag.size, s.position.shape[0], p.adversaries
    for k in range(bodies):
        if k < agents:
            physics.push(p, s, a, k, p.adversary_acceleration if k < hunters else p.good_acceleration)
        else:
            escape(p, s, k, rng)
    move(p, s)
    contacts, caught, ever = 0, 0, 0
    for k in range(hunters, bodies):
        tags = 0
        for j in range(hunters):
            if touching(s.position, k, s.position, j, p.adversary_radius + p.good_radius):
                tags += 1
        contacts += tags
        caught += tags > 0
        s.touched[k] = s.touched[k] or tags > 0
        ever += s.touched[k]
        if k < agents:
            r.tag[k] = -tags
            r.bound[k] = -physics.leaving(s.position[k, 0]) - physics.leaving(s.position[k, 1])
    for k in range(agents):
        if k < hunters:
            r.tag[k] = contacts
        r.success[k] = ever == p.good if k < hunters else ever == 0
        r.terminated[k] = p.end_on_success == 1 and caught == p.good
    count_collisions(p, s, r)


@SPEC.barrier
def keep_clear(p, s, k, a, b):
    """Of the own side, and of obstacles; not of the other side, which may push the agent."""
    barrier.keep_from_own_side(p, s, k, b, int(p.first == VELOCITY))


@kernel
def glimpse(p, s, k, seen, at, point):
    """A point relative to agent k, zeros when it is out of view."""
    x, y = point[0] - s.position[k, 0], point[1] - s.position[k, 1]
    within = x * x + y * y <= p.view_radius * p.view_radius
    seen[at] = x if within else 0.0
    seen[at + 1] = y if within else 0.0
    return within


@SPEC.observe
def observe(p, s, k, o):
    seen, bodies, hunters = o.observation, s.position.shape[0], p.adversaries
    at = physics.tell(seen, 0, s.velocity[k])
    at = physics.tell(seen, at, s.position[k])
    for j in range(p.obstacles):
        glimpse(p, s, k, seen, at, s.landmark[j])
        at += 2
    speeds = at + 2 * (bodies - 1)
    for j in range(bodies):
        if j == k:
            continue
        within = glimpse(p, s, k, seen, at, s.position[j])
        at += 2
        if j >= hunters:
            seen[speeds] = s.velocity[j, 0] if within else 0.0
            seen[speeds + 1] = s.velocity[j, 1] if within else 0.0
            speeds += 2
    physics.blank(seen, speeds, seen.size)


@SPEC.player("pursuit")
def pursuit(p, s, k, a, rng):
    """Adversaries run to where the nearest prey will be, prey runs from the adversaries."""
    if k < p.adversaries:
        steering.chase(p, s, k, p.adversaries, s.position.shape[0], a)
    else:
        steering.flee(p, s, k, 0, p.adversaries, a)


@SPEC.draw
def draw(canvas, p, s):
    scenes.draw_tag(canvas, p, s)
