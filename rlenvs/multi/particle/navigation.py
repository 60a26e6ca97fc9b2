"""Navigation: every agent goes to its own goal, avoiding obstacles and other agents.

## Description
Agents, a goal for each, and obstacles, all discs of one size, on a square. With a graph of nearby entities as
observation, there can be many agents. The rules are InforMARL's (Nayak et al., "Scalable Multi-Agent Reinforcement
Learning through Intelligent Information Aggregation", ICML 2023; repository nsidn98/InforMARL, scenario
navigation_graph), step by step in positions, velocities, observations and rewards: the physics of ParticleSpread-v0
with the older order, velocities before positions, and with static obstacles. Different from the original: success and
costs; with `neighbours`, nodes are only the nearest entities; rows of the edges are the receivers, and only agents
receive, as in the paper (the original's matrix is symmetric); with `end_on_goal`, agents that are done stay in place as
immovable bodies. Contacts and neighbors are found with a grid of cells, so the time of a step grows with the number of
agents and of nearby pairs, not of all pairs. `rlenvs.multi.particle.metrics.metrics(p, s)` gives the paper's scores.

## Action Space
`actions="discrete"`: no force, or a force to the left, right, down or up. `"continuous"`: the force to the right and
upwards, as fractions of `acceleration`.

## Observation Space
In meters and meters per second, not scaled: own velocity (2), position (2), and the goal relative to the agent (2).
With `observation="graph"` these are followed by N nodes of 7 numbers each: velocity, position and goal relative to this
agent (2 each; for goals and obstacles the goal is the position) and the kind: 0 agent, 1 goal, 2 obstacle, -1 nothing.
Then N times N edges: row i, column j is the distance from node j to node i, an agent, when it is within
`connection_radius`, otherwise 0. The nodes are all agents, all goals and all obstacles, in this order; with
`neighbours=K` they are this agent and the K nearest entities within `connection_radius`, the nearest first.
`rlenvs.multi.particle.graph.graph(observation)` extracts these parts from any array of observations.

## Rewards
`goal` (weight 5) is 1 within `goal_radius` of the own goal; `distance` is minus the distance to the goal elsewhere;
`collision` is minus the number of agents touched, `obstacle` is -1 when touching an obstacle, both with weight 5. With
`collaborative` every agent receives the sums over all agents.

## Costs
`contact` is 1 in a step in which the agent touches another or an obstacle. With actions="continuous" each agent has a
barrier [m] per other agent and per obstacle for `BarrierFilter`, if there are at most 64.

## Starting State
Obstacles and goals are uniform in the middle 0.8 of the square, agents in the whole square, all at rest; agents touch
neither obstacles nor each other, goals neither obstacles nor each other. If 100 draws find no such place, the last one
is used.

## Episode End
Truncation after 25 steps. With `end_on_goal` an agent terminates within `goal_radius` of its goal. Success: the agent
has reached its goal in this episode.

## Parameters
`side` should grow with the square root of the number of agents; the level `large` has 1000 agents.

## Reference Scores
Mean return of all agents together over seeds 0 to 99.

## Version History
v0: first version.
"""

import math

from rlenvs.core import block, choice, cost, f8, flag, i4, integer, kernel, param, term, uniform
from rlenvs.core.declare.errors import ParameterError
from rlenvs.multi.particle import barrier, cells, physics, scenes, steering

MOST = 4096
LARGEST_GRAPH = 128  # nodes
TRIES = 100
OBSERVATION = choice("local", "graph", doc="whether agents observe only themselves, or also the graph")
(GRAPH,) = OBSERVATION.codes("graph")
AGENT, GOAL, OBSTACLE, NOTHING = 0, 1, 2, -1
FEATURES = 7


def sizes(values):
    entities = 2 * values.agents + values.obstacles
    nodes = 0
    if values.observation == "graph":
        nodes = values.neighbours + 1 if values.neighbours else entities
    if nodes > LARGEST_GRAPH:
        raise ParameterError(
            f"a graph of all {entities} entities is too large (at most {LARGEST_GRAPH}); give neighbours=8 for the "
            f"nearest eight"
        )
    return {
        "agents": values.agents,
        "bodies": values.agents,
        "obstacles": values.obstacles,
        "entities": entities,
        "cells": cells.cells_along(entities) ** 2,
        "nodes": nodes,
        "kept_clear": barrier.count(values, values.agents - 1, values.obstacles),
    }


SPEC = physics.scenario(
    "ParticleNavigation-v0",
    doc=__doc__,
    source="InforMARL navigation_graph (Nayak et al., ICML 2023)",
    params={
        **physics.CONTACT,
        "acceleration": param(5.0, 0.1, 20.0, "m/s^2", "of an agent at full force"),
        "max_speed": param(2.0, 0.1, 10.0, "m/s", "largest speed of an agent", limit=True),
        "radius": param(0.05, 0.01, 0.5, "m", "of an agent, a goal, an obstacle"),
        "goal_radius": param(0.1, 0.01, 1.0, "m", "distance at which the goal is reached"),
        "connection_radius": param(1.0, 0.05, 10.0, "m", "largest length of an edge of the graph"),
        "side": param(2.0, 0.5, 150.0, "m", "side of the square"),
    },
    options={
        "agents": integer(3, 1, MOST, "number of agents"),
        "obstacles": integer(3, 0, MOST, "number of obstacles"),
        "observation": OBSERVATION,
        "neighbours": integer(0, 0, LARGEST_GRAPH - 1, "nearest entities in the graph; 0 for all"),
        "collaborative": flag(False, "whether every agent receives the sum of all rewards"),
        "end_on_goal": flag(False, "whether an agent's episode ends at its goal"),
    },
    sizes=sizes,
    state={
        "position": f8("bodies", 2),
        "velocity": f8("bodies", 2),
        "force": f8("bodies", 2),  # scratch
        "goal": f8("agents", 2),
        "obstacle": f8("obstacles", 2),
        "arrival": i4("agents"),  # step in which the agent first reached its goal; 0 for not yet
        "contacts": i4("agents"),  # with agents and obstacles, summed over steps
        **cells.CELLS,
        "chosen": i4("nodes"),  # scratch: the nodes of a graph, and how far they are
        "apart": f8("nodes"),
    },
    scratch=(*cells.CELLS, "chosen", "apart"),
    expert_sees="state",
    observation={
        "own": block(
            6, low=-physics.SEEN, high=physics.SEEN, raw=True, doc="velocity, position, goal relative to the agent"
        ),
        "nodes": block(
            "nodes", FEATURES, low=-physics.SEEN, high=physics.SEEN, raw=True, constant=True, doc="see above"
        ),
        "edges": block("nodes", "nodes", low=0.0, high=physics.FARTHEST, raw=True, constant=True, doc="see above"),
    },
    terms={
        "goal": term(0.0, MOST, 5.0, "1 at the goal"),
        "distance": term(-MOST * physics.FARTHEST, 0.0, 1.0, "minus the distance to the goal, elsewhere"),
        "collision": term(-MOST * MOST, 0.0, 5.0, "minus the number of agents touched"),
        "obstacle": term(-MOST, 0.0, 5.0, "-1 when touching an obstacle"),
    },
    costs={"contact": cost(1.0, doc="1 while touching an agent or an obstacle")},
    barriers="kept_clear",
    players=("careful", "direct"),
    levels={
        "easy": {"obstacles": 0},
        "hard": {"agents": 10, "obstacles": 10, "side": 3.0},
        "large": {
            "agents": 1000,
            "obstacles": 1000,
            "side": 36.0,
            "observation": "graph",
            "neighbours": 8,
        },
    },
    probe={"connection_radius": {"observation": "graph"}, "goal_radius": {"end_on_goal": True}},
)


@kernel
def cell_reach(p):
    """How far neighbours are looked for, at most."""
    felt = 2.0 * p.radius + physics.NEGLIGIBLE * p.contact_margin
    return max(felt, p.connection_radius) if p.observation == GRAPH else felt


@kernel
def kind_of(s, entity):
    """AGENT, GOAL or OBSTACLE."""
    agents = s.position.shape[0]
    return AGENT if entity < agents else (GOAL if entity < 2 * agents else OBSTACLE)


@kernel
def neighbours_of(p, s, k):
    """Fill s.near with the entities around agent k, itself included. Returns how many."""
    return cells.gather(p, s, s.position[k, 0], s.position[k, 1], cell_reach(p))


@kernel
def is_free(p, s, x, y, kind):
    """Whether a disc at (x, y) touches no obstacle and no disc of its kind that is placed already."""
    for n in range(cells.gather(p, s, x, y, cell_reach(p))):
        entity = s.near[n]
        across, along = cells.place_of(s, entity, 0) - x, cells.place_of(s, entity, 1) - y
        other = kind_of(s, entity)
        if other in (kind, OBSTACLE) and across * across + along * along < 4.0 * p.radius * p.radius:
            return False
    return True


@kernel
def settle(p, s, points, kind, first, half, rng):
    """Place the discs of a kind, whose entities begin at `first`, in a square."""
    for k in range(points.shape[0]):
        for _ in range(TRIES):
            points[k, 0] = uniform(rng, -half, half)
            points[k, 1] = uniform(rng, -half, half)
            if kind == OBSTACLE or is_free(p, s, points[k, 0], points[k, 1], kind):
                break
        cells.insert(p, s, first + k, cell_reach(p))


@SPEC.reset
def reset(p, s, rng):
    half, agents = p.side / 2.0, s.position.shape[0]
    cells.empty_cells(p, s, cell_reach(p))
    settle(p, s, s.obstacle, OBSTACLE, 2 * agents, 0.8 * half, rng)
    settle(p, s, s.position, AGENT, 0, half, rng)
    settle(p, s, s.goal, GOAL, agents, 0.8 * half, rng)


@kernel
def add_contacts(p, s):
    """Contact forces between agents and from obstacles."""
    position, force = s.position, s.force
    agents = position.shape[0]
    for k in range(agents):
        for n in range(neighbours_of(p, s, k)):
            entity = s.near[n]
            if k <= entity < 2 * agents:  # goals, agent k itself, and pairs that are seen from the other side
                continue
            x, y = position[k, 0] - cells.place_of(s, entity, 0), position[k, 1] - cells.place_of(s, entity, 1)
            strength = physics.contact(p, x, y, 2.0 * p.radius)
            force[k, 0] += strength * x
            force[k, 1] += strength * y
            if entity < k:
                force[entity, 0] -= strength * x
                force[entity, 1] -= strength * y


@kernel
def count_contacts(p, s, k, r):
    """Agents and obstacles that agent k touches."""
    position = s.position
    touched, blocked = 0, 0
    for n in range(neighbours_of(p, s, k)):
        entity = s.near[n]
        x, y = position[k, 0] - cells.place_of(s, entity, 0), position[k, 1] - cells.place_of(s, entity, 1)
        if entity != k and x * x + y * y < 4.0 * p.radius * p.radius:
            kind = kind_of(s, entity)
            touched += kind == AGENT
            blocked |= kind == OBSTACLE
    r.collision[k] = -touched
    r.obstacle[k] = -blocked
    r.contact[k] = 1.0 if touched + blocked > 0 else 0.0
    s.contacts[k] += touched + blocked


@kernel
def share(values):
    """Give everybody the sum."""
    total = 0.0
    for k in range(values.size):
        total += values[k]
    for k in range(values.size):
        values[k] = total


@SPEC.step
def step(p, s, a, rng, r):
    agents = s.position.shape[0]
    for k in range(agents):
        physics.push(p, s, a, k, p.acceleration if s.alive[k] else 0.0)
    add_contacts(p, s)
    physics.accelerate(p, s)
    physics.limit_speed(s, 0, agents, p.max_speed)
    physics.drift(p, s)
    cells.sort_into_cells(p, s, cell_reach(p))
    for k in range(agents):
        apart = physics.distance(s.position, k, s.goal, k)
        arrived = apart < p.goal_radius
        if arrived and s.arrival[k] == 0:
            s.arrival[k] = s.elapsed + 1
        r.goal[k] = 1.0 if arrived else 0.0
        r.distance[k] = 0.0 if arrived else -apart
        r.success[k] = s.arrival[k] > 0
        r.terminated[k] = arrived and p.end_on_goal == 1
        count_contacts(p, s, k, r)
    if p.collaborative:
        share(r.goal)
        share(r.distance)
        share(r.collision)
        share(r.obstacle)


@SPEC.barrier
def keep_clear(p, s, k, a, b):
    reach, agents = 2.0 * p.radius, s.position.shape[0]
    at = barrier.keep_apart(p, s, k, b, 0, 0, agents, reach, p.acceleration, p.max_speed, 1)
    barrier.keep_off(p, s, k, b, at, s.obstacle, s.obstacle.shape[0], reach, p.acceleration, 1)


@kernel
def choose_nearest(p, s, k):
    """Fill s.chosen with agent k and the nearest entities, the nearest first; -1 where there are no more."""
    chosen, apart = s.chosen, s.apart
    for node in range(chosen.size):
        chosen[node] = -1
        apart[node] = p.connection_radius
    chosen[0] = k
    apart[0] = -1.0
    for n in range(neighbours_of(p, s, k)):
        entity, node = s.near[n], chosen.size - 1
        x, y = cells.place_of(s, entity, 0) - s.position[k, 0], cells.place_of(s, entity, 1) - s.position[k, 1]
        away = math.sqrt(x * x + y * y)
        if entity == k or away >= apart[node]:
            continue
        while apart[node - 1] > away:
            apart[node] = apart[node - 1]
            chosen[node] = chosen[node - 1]
            node -= 1
        apart[node] = away
        chosen[node] = entity


@kernel
def fill_node(s, k, entity, features):
    """What agent k sees of an entity."""
    agents = s.position.shape[0]
    for axis in range(2):
        here = cells.place_of(s, entity, axis)
        speed = s.velocity[entity, axis] if entity < agents else 0.0
        target = s.goal[entity, axis] if entity < agents else here
        features[axis] = speed - s.velocity[k, axis]
        features[2 + axis] = here - s.position[k, axis]
        features[4 + axis] = target - s.position[k, axis]
    features[6] = kind_of(s, entity)


@kernel
def fill_graph(p, s, k, nodes, edges):
    chosen, agents = s.chosen, s.position.shape[0]
    for i in range(chosen.size):
        if chosen[i] < 0:
            for feature in range(FEATURES):
                nodes[i, feature] = 0.0
            nodes[i, 6] = NOTHING
        else:
            fill_node(s, k, chosen[i], nodes[i])
        for j in range(chosen.size):
            edges[i, j] = 0.0
            if i != j and chosen[j] >= 0 and 0 <= chosen[i] < agents:
                x = cells.place_of(s, chosen[i], 0) - cells.place_of(s, chosen[j], 0)
                y = cells.place_of(s, chosen[i], 1) - cells.place_of(s, chosen[j], 1)
                if x * x + y * y < p.connection_radius * p.connection_radius:
                    edges[i, j] = math.sqrt(x * x + y * y)


@SPEC.observe
def observe(p, s, k, o):
    if k == 0:
        cells.sort_into_cells(p, s, cell_reach(p))  # somebody may have set the state
    for axis in range(2):
        o.own[axis] = s.velocity[k, axis]
        o.own[2 + axis] = s.position[k, axis]
        o.own[4 + axis] = s.goal[k, axis] - s.position[k, axis]
    if p.observation == GRAPH:
        if p.neighbours > 0:
            choose_nearest(p, s, k)
        else:
            for node in range(s.chosen.size):
                s.chosen[node] = node
        fill_graph(p, s, k, o.nodes, o.edges)


@SPEC.player("careful")
def careful(p, s, k, a, rng):
    """To the goal, and around whoever is in the way."""
    position = s.position
    x, y = s.goal[k, 0] - position[k, 0], s.goal[k, 1] - position[k, 1]
    left = max(math.sqrt(x * x + y * y), 1e-9)
    x, y = x / left, y / left
    turn, near = 0.0, min(left, 5.0 * p.radius)
    for n in range(neighbours_of(p, s, k)):
        entity = s.near[n]
        if entity == k or kind_of(s, entity) == GOAL:
            continue
        across, along = cells.place_of(s, entity, 0) - position[k, 0], cells.place_of(s, entity, 1) - position[k, 1]
        ahead, aside = across * x + along * y, along * x - across * y
        if 0.0 < ahead < near and abs(aside) < 2.5 * p.radius:
            near = ahead
            turn = -1.0 if aside > 0.0 else 1.0
    if turn == 0.0:
        steering.stop_at(p, s, k, s.goal[k, 0], s.goal[k, 1], p.acceleration, a)
    else:
        steering.press(p, a, k, 0.3 * (x - s.velocity[k, 0]) - turn * y, 0.3 * (y - s.velocity[k, 1]) + turn * x)


@SPEC.player("direct")
def direct(p, s, k, a, rng):
    """To the goal, whoever is in the way."""
    steering.stop_at(p, s, k, s.goal[k, 0], s.goal[k, 1], p.acceleration, a)


@SPEC.draw
def draw(canvas, p, s):
    scenes.draw_navigation(canvas, p, s)
