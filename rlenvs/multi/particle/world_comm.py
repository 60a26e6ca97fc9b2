"""World with communication: adversaries with a speaking leader chase prey among food and hiding places.

## Description
An extended version of tag: prey is rewarded for being at food, forests hide agents inside them from agents outside, and
the first adversary, the leader, sees all agents and says one of four words to the others. It reproduces
`simple_world_comm_v3` of mpe2 (Lowe et al., 2017) step by step, in positions, velocities, words, observations and
rewards. Spaces are the original's. Different: success and a cost. `num_good`, `num_adversaries`, `num_obstacles`,
`num_food` and `num_forests` are `good`, `adversaries`, `obstacles`, `food` and `forests`.

## Action Space
`actions="discrete"`: no force, or a force to the left, right, down or up; for the leader 5 times the word plus that.
`"continuous"`: an unused number, then the force to the left, right, down and up as fractions of the agent's
acceleration, for the leader followed by the strength of each of the four words, all in [0, 1]; with `scaled=True` the
force to the right and upwards, then the words, all in [-1, 1].

## Observation Space
In meters and meters per second, not scaled: own velocity (2) and position (2); relative to the agent the obstacles,
food and forests and the other agents (2 each). Then, for adversaries, the velocities (2) of the prey, 1 or -1 for being
in each of the forests, and the leader's word of the last step (4); for prey, being in the forests, and the velocities
of the other prey. An agent sees another if both are outside forests or in the same forest, and the leader sees all;
otherwise the numbers are zero. The observation of prey is shorter; in batches it is padded with zeros.

## Rewards
`tag` is, for each adversary, the number of contacts between all adversaries and all prey, for prey minus the number of
its own contacts (weight 5). For prey, `bound` is minus the penalty for leaving the square (see ParticleTag-v0; weight
2), `food` is the number of food places that it is at (weight 2), and `hunger` is minus the distance to the nearest
(weight 0.05). For adversaries, `chase` is minus the distance to the nearest prey (weight 0.1).

## Costs
`collision` is 1 in a step in which the agent touches an obstacle or an agent of its own side. With actions="continuous"
and without `scaled` each agent has a barrier [m] per agent of its side and per obstacle for `BarrierFilter`, if there
are at most 64; it can still be pushed by the other side.

## Starting State
Agents uniformly in the square from -1 to 1, obstacles, food and forests in the square from -0.9 to 0.9; all at rest and
silent.

## Episode End
Truncation after 25 steps. Success: for the adversaries, all prey has been touched in this episode; for the prey, none
has.

## Parameters
Only obstacles block; food and forests do not.

## Reference Scores
Mean return of all agents together over seeds 0 to 99.

## Version History
v0: first version.
"""

from rlenvs.core import b1, choice, cost, f8, integer, kernel, param, role, term
from rlenvs.multi.particle import barrier, physics, scenes, steering

MOST = 64
LEADER, WORDS = 0, 4
AFRAID = 0.5  # m; scripted prey runs from adversaries that are nearer


def lengths(values):
    """Numbers of the observation of an adversary and of prey."""
    agents = values.adversaries + values.good
    shared = 4 + 2 * (values.obstacles + values.food + values.forests) + 2 * (agents - 1) + values.forests
    return shared + 2 * values.good + WORDS, shared + 2 * (values.good - 1)


def sizes(values):
    agents = values.adversaries + values.good
    landmarks = values.obstacles + values.food + values.forests
    side = max(values.adversaries, values.good)
    return {
        "agents": agents,
        "bodies": agents,
        "landmarks": landmarks,
        "numbers": lengths(values)[0],
        "kept_clear": barrier.count(values, side - 1, values.obstacles),
    }


def roles(values):
    adversary, prey = lengths(values)
    actions = physics.motion(values)
    leading = 5 * WORDS if values.actions == "discrete" else actions + WORDS
    return [
        role("leadadversary_0", adversary, leading),
        *(role(f"adversary_{k}", adversary, actions) for k in range(values.adversaries - 1)),
        *(role(f"agent_{k}", prey, actions) for k in range(values.good)),
    ]


SPEC = physics.scenario(
    "ParticleWorldComm-v0",
    doc=__doc__,
    source="mpe2 simple_world_comm_v3 (Lowe et al., NeurIPS 2017)",
    published=physics.mpe2("simple_world_comm_v3"),
    drop_in=physics.names(
        num_good="good",
        num_adversaries="adversaries",
        num_obstacles="obstacles",
        num_food="food",
        num_forests="forests",
    ),
    params={
        **physics.CONTACT,
        "adversary_acceleration": param(3.0, 0.1, 20.0, "m/s^2", "of an adversary at full force"),
        "good_acceleration": param(4.0, 0.1, 20.0, "m/s^2", "of prey at full force"),
        "adversary_speed": param(1.0, 0.1, 10.0, "m/s", "largest speed of an adversary"),
        "good_speed": param(1.3, 0.1, 10.0, "m/s", "largest speed of prey"),
        "adversary_radius": param(0.075, 0.01, 0.5, "m", "of an adversary"),
        "good_radius": param(0.045, 0.01, 0.5, "m", "of prey"),
        "obstacle_radius": param(0.2, 0.01, 0.5, "m", "of an obstacle"),
        "food_radius": param(0.03, 0.01, 0.5, "m", "of food"),
        "forest_radius": param(0.3, 0.01, 0.5, "m", "of a forest"),
    },
    options={
        "adversaries": integer(4, 1, MOST, "number of adversaries, including the leader"),
        "good": integer(2, 1, MOST, "number of prey"),
        "obstacles": integer(1, 0, MOST, "number of obstacles"),
        "food": integer(2, 1, MOST, "number of places with food"),
        "forests": integer(2, 0, MOST, "number of forests"),
        "actions": choice("discrete", "continuous", doc="choices, or numbers"),
    },
    sizes=sizes,
    roles=roles,
    teams=lambda values: [0] * values.adversaries + [1] * values.good,
    state={
        "landmark": f8("landmarks", 2),  # obstacles, then food, then forests
        "words": f8(WORDS),
        "touched": b1("bodies"),
    },
    action=lambda values: physics.moving(values, WORDS),
    terms={
        "tag": term(-MOST, MOST * MOST, 5.0, "contacts of adversaries with prey; for prey minus its own contacts"),
        "bound": term(-20.0, 0.0, 2.0, "for prey: minus the penalty for leaving the square"),
        "food": term(0.0, MOST, 2.0, "for prey: the number of food places that it is at"),
        "hunger": term(-physics.FARTHEST, 0.0, 0.05, "for prey: minus the distance to the nearest food"),
        "chase": term(-physics.FARTHEST, 0.0, 0.1, "for adversaries: minus the distance to the nearest prey"),
    },
    costs={"collision": cost(1.0, doc="1 while touching an obstacle or an agent of the own side")},
    barriers="kept_clear",
    players=("pursuit",),
    levels={"easy": {"good": 1}, "hard": {"adversaries": 6, "good": 4, "food": 3, "forests": 3, "obstacles": 2}},
)


@SPEC.reset
def reset(p, s, rng):
    physics.scatter(s.position, 1.0, rng)
    physics.scatter(s.landmark, 0.9, rng)


@kernel
def radius_of(p, k):
    return p.adversary_radius if k < p.adversaries else p.good_radius


@kernel
def move(p, s):
    hunters, bodies = p.adversaries, s.position.shape[0]
    for k in range(bodies):
        own = radius_of(p, k)
        physics.repel(p, s, k, 0, min(k, hunters), own + p.adversary_radius)
        if k > hunters:
            physics.repel(p, s, k, hunters, k, 2.0 * own)
        physics.bounce(p, s, k, s.landmark, p.obstacles, own + p.obstacle_radius)
    physics.drift(p, s)
    physics.accelerate(p, s)
    physics.limit_speed(s, 0, hunters, p.adversary_speed)
    physics.limit_speed(s, hunters, bodies, p.good_speed)


@kernel
def pay_prey(p, s, k, r):
    """Prey's own terms; returns how many adversaries touch it."""
    tags = 0
    for j in range(p.adversaries):
        tags += physics.distance(s.position, k, s.position, j) < p.adversary_radius + p.good_radius
    eaten, first, last = 0, p.obstacles, p.obstacles + p.food
    for j in range(first, last):
        eaten += physics.distance(s.position, k, s.landmark, j) < p.good_radius + p.food_radius
    r.tag[k] = -tags
    r.bound[k] = -physics.leaving(s.position[k, 0]) - physics.leaving(s.position[k, 1])
    r.food[k] = eaten
    r.hunger[k] = -physics.nearest(s.position, k, s.landmark, first, last)
    return tags


@kernel
def count_collisions(p, s, r):
    """Contacts with obstacles and between agents of one side."""
    hunters = p.adversaries
    for k in range(s.position.shape[0]):
        own = radius_of(p, k)
        for j in range(p.obstacles):
            if physics.distance(s.position, k, s.landmark, j) < own + p.obstacle_radius:
                r.collision[k] = 1.0
        for j in range(0 if k < hunters else hunters, k):
            if physics.distance(s.position, k, s.position, j) < 2.0 * own:
                r.collision[k] = 1.0
                r.collision[j] = 1.0


@SPEC.step
def step(p, s, a, rng, r):
    bodies, hunters = s.position.shape[0], p.adversaries
    for k in range(bodies):
        physics.push(p, s, a, k, p.adversary_acceleration if k < hunters else p.good_acceleration)
    move(p, s)
    physics.utter(a, LEADER, p.motion, s.words)
    contacts, ever = 0, 0
    for k in range(hunters, bodies):
        tags = pay_prey(p, s, k, r)
        contacts += tags
        s.touched[k] = s.touched[k] or tags > 0
        ever += s.touched[k]
    for k in range(bodies):
        if k < hunters:
            r.tag[k] = contacts
            r.chase[k] = -physics.nearest(s.position, k, s.position, hunters, bodies)
        r.success[k] = ever == p.good if k < hunters else ever == 0
    count_collisions(p, s, r)


@SPEC.barrier
def keep_clear(p, s, k, a, b):
    """Of the own side, and of obstacles; not of the other side, which may push the agent."""
    barrier.keep_from_own_side(p, s, k, b, 0)


@kernel
def is_inside(p, s, k, forest):
    """Whether agent k touches a forest."""
    return (
        physics.distance(s.position, k, s.landmark, p.obstacles + p.food + forest) < radius_of(p, k) + p.forest_radius
    )


@kernel
def sees(p, s, k, j):
    """Whether agent k sees agent j."""
    if k == LEADER:
        return True
    hidden = False
    for forest in range(p.forests):
        me, other = is_inside(p, s, k, forest), is_inside(p, s, j, forest)
        if me and other:
            return True
        hidden = hidden or me or other
    return not hidden


@kernel
def tell_forests(p, s, k, seen, at):
    for forest in range(p.forests):
        seen[at + forest] = 1.0 if is_inside(p, s, k, forest) else -1.0
    return at + p.forests


@SPEC.observe
def observe(p, s, k, o):
    seen, bodies, hunters = o.observation, s.position.shape[0], p.adversaries
    at = physics.tell(seen, 0, s.velocity[k])
    at = physics.tell(seen, at, s.position[k])
    at = physics.show(seen, at, s, k, s.landmark)
    speeds = at + 2 * (bodies - 1)
    if k >= hunters:
        speeds = tell_forests(p, s, k, seen, speeds)
    for j in range(bodies):
        if j == k:
            continue
        visible = 1.0 if sees(p, s, k, j) else 0.0
        for axis in range(2):
            seen[at + axis] = visible * (s.position[j, axis] - s.position[k, axis])
        at += 2
        if j >= hunters:
            for axis in range(2):
                seen[speeds + axis] = visible * s.velocity[j, axis]
            speeds += 2
    if k < hunters:
        speeds = tell_forests(p, s, k, seen, speeds)
        speeds = physics.tell(seen, speeds, s.words)
    physics.blank(seen, speeds, seen.size)


@SPEC.player("pursuit")
def pursuit(p, s, k, a, rng):
    """Adversaries run to where the nearest prey will be, and the leader says which prey is nearest to it, modulo 4.
    Prey runs from adversaries that are near, otherwise to the nearest food."""
    hunters, bodies = p.adversaries, s.position.shape[0]
    if k < hunters:
        steering.chase(p, s, k, hunters, bodies, a)
        if k == LEADER:
            prey = hunters
            for j in range(hunters, bodies):
                if physics.distance(s.position, k, s.position, j) < physics.distance(s.position, k, s.position, prey):
                    prey = j
            steering.say(a, k, p.motion, (prey - hunters) % WORDS, WORDS)
    elif physics.nearest(s.position, k, s.position, 0, hunters) < AFRAID:
        steering.flee(p, s, k, 0, hunters, a)
    else:
        meal = p.obstacles
        for j in range(p.obstacles, p.obstacles + p.food):
            if physics.distance(s.position, k, s.landmark, j) < physics.distance(s.position, k, s.landmark, meal):
                meal = j
        steering.stop_at(p, s, k, s.landmark[meal, 0], s.landmark[meal, 1], p.good_acceleration, a)


@SPEC.draw
def draw(canvas, p, s):
    scenes.draw_world_comm(canvas, p, s)
