"""Route choice: drivers choose routes through a network; selfish choices make everyone slower.

## Description
Each agent chooses a route through a network of roads from its origin to its destination. A road takes longer the more
agents are on it: a fixed time plus an equal addition per agent. Some roads have a toll. It is a one-step congestion
game, after MOMAland's route choice. The default network is Braess's: with its bypass, taking the bypass is best for
each driver whatever the others do, and everyone needs 20 minutes; without it (`bypass=False`) they need 15, which is
also the best possible with it. `network="braess"` is available in all sizes, `degree` 1 to 7 (Roughgarden, "On the
severity of Braess's paradox", JCSS 2006); "grid" and "series_parallel" are random networks with the shortest routes
between random places. Time and toll have the same scale, so under equal weights marginal tolls make the equilibrium
optimal in total time (Pigou). Different from MOMAland: there are no city networks; there are 420 agents by default, who
together add as much to a road as 4200, the number at the level "full"; the second pair of places of a Braess network is
ours, not that of its BBraess networks; rewards are divided by the time of the slowest route when all agents are on it,
10 d (d + 1) minutes in a Braess network of degree d, there by the time of the slowest road times the roads of the
longest route, 30 d^2, and tolls by a separate number. `rlenvs.multi.congestion.route_choice.metrics(p, s)` gives
minutes, `lower_bound` a lower bound on them.

## Action Space
One of the routes between the agent's own places.

## Observation Space
A 1, and the agent's index divided by the number of agents. Both are constant: there is nothing to observe.

## Rewards
`time` is minus the time of the agent's route, `toll` minus its tolls, both divided by the time of the slowest route
when all agents are on it. With `tolls="marginal"` an agent pays on each road for the delay that it causes to all others
there; with "random" it pays its own time, on a tenth of all roads. The default weight of the toll is 0.

## Costs
None.

## Starting State
There is only one state.

## Episode End
Termination: after 1 step. Success is not defined.

## Parameters
`instance`, `streets` and `routes` apply to random networks. Agents are assigned to pairs of places in turn.

## Reference Scores
Mean return of all agents together over seeds 0 to 99. The expert is the system optimum, with half of the agents on each
route without the bypass. The bound is proved.

## Version History
v0: first version.
"""

from typing import Any

import numpy as np

from rlenvs.core import (
    Score,
    block,
    choice,
    discrete,
    f8,
    flag,
    i4,
    integer,
    kernel,
    param,
    role,
    term,
    u1,
    world,
)
from rlenvs.multi.congestion.networks import lines_of, network_of, tolled_links
from rlenvs.multi.congestion.render import draw_network

MOST_AGENTS, MOST_PASSES = 5000, 200
MARGINAL, RANDOM = range(2)


def sizes_of(values: Any) -> dict[str, int]:
    network = network_of(values)
    counts = [len(routes) for routes in network.routes]
    return {
        "agents": values.agents,
        "links": len(network.links),
        "routes": sum(counts),
        "ends": sum(counts) + 1,
        "entries": sum(len(route) for routes in network.routes for route in routes),
        "pairs": len(counts),
        "bounds": len(counts) + 1,
        "nodes": len(network.nodes),
        "choices": max(counts[: values.agents]),
    }


def roles_of(values: Any) -> list[Any]:
    counts = [len(routes) for routes in network_of(values).routes]
    return [role(f"agent_{k}", 2, counts[k % len(counts)]) for k in range(values.agents)]


SPEC = world(
    "RouteChoice-v0",
    doc=__doc__,
    source="MOMAland mo-route-choice-v0 (Felten et al., arXiv 2407.16312); Roughgarden, JCSS 2006",
    agents=True,
    params={
        "congestion": param(10.0, 0.0, 100.0, "min", "time that all agents together add to a plain road"),
        "free_flow": param(10.0, 0.1, 100.0, "min", "time of an empty plain road"),
    },
    options={
        "agents": integer(420, 1, MOST_AGENTS, "number of agents"),
        "network": choice("braess", "grid", "series_parallel", doc="roads"),
        "degree": integer(1, 1, 7, "size of a Braess network"),
        "bypass": flag(True, "whether a Braess network has its bypasses"),
        "pairs": integer(
            1, 1, 6, "pairs of origin and destination: 1 or 2 in a Braess network, 1 in a series-parallel one"
        ),
        "streets": integer(4, 2, 8, "streets of a grid in each direction, or the size of a series-parallel network"),
        "routes": integer(5, 2, 12, "routes of each pair in a random network"),
        "instance": integer(0, 0, 2**31 - 1, "random instance of the network and of the random tolls"),
        "tolls": choice("marginal", "random", doc="type of toll"),
    },
    sizes=sizes_of,
    roles=roles_of,
    data={
        "slope": f8("links"),
        "fixed": f8("links"),
        "tolled": u1("links"),
        "begins": i4("ends"),  # where the links of a route begin, and
        "link": i4("entries"),  # these links
        "first": i4("bounds"),  # the first route of each pair
        "line": f8("links", 3, 2),  # for images: roads, crossings, and the places of each pair
        "node": f8("nodes", 2),
        "place": f8("pairs", 2, 2),
    },
    state={
        "route": i4("agents").index_of("routes", low=-1),  # taken; -1 before
        "flow": i4("links"),
        "minutes": f8("routes"),
        "paid": f8("routes"),
    },
    persistent={
        "optimum": i4("agents"),  # routes of the best assignment, and
        "equilibrium": i4("agents"),  # of one in which nobody gains by another route
        "slowest": f8,  # time of the slowest route when all are on it
        "known_for": f8(4),  # parameters and weights for which they are known
        "load": i4("links"),
    },
    observation={
        "number": block(
            2, low=0.0, high=1.0, doc="1, and the own index divided by the number of agents", raw=True, constant=True
        )
    },
    action=lambda values: discrete(
        *(f"route {n + 1}" for n in range(sizes_of(values)["choices"])),
        size="choices",
        doc="one of the routes between the own places",
    ),
    terms={
        "time": term(-1.0, 0.0, 1.0, "minus the time of the own route, as a fraction of the largest"),
        "toll": term(-1.0, 0.0, 0.0, "minus its tolls, on the same scale"),
    },
    horizon=2,  # never reached: the first step is the last
    fps=1,
    same_start=True,
    expert_sees="state",
    players=("optimum", "equilibrium", "shortest"),
    quick={"agents": 42},
    levels={
        "full": {"agents": 4200},
        "severe": {"degree": 7},
        "two_pairs": {"pairs": 2},
        "city": {"network": "grid", "pairs": 4},
        "delta": {"network": "series_parallel", "streets": 5, "routes": 8},
    },
    scores={"bound": Score(-315, 0, "15 of 20 minutes each, which `lower_bound` proves")},
)


@SPEC.make_data
def data(values):
    network = network_of(values)
    routes = [route for pair in network.routes for route in pair]
    tolled = np.zeros(len(network.links), np.uint8)
    if values.tolls == "random":
        tolled[list(tolled_links(network, values.instance))] = 1
    return {
        "slope": np.array([link.slope for link in network.links]),
        "fixed": np.array([link.fixed for link in network.links]),
        "tolled": tolled,
        "begins": np.cumsum([0, *map(len, routes)]).astype(np.int32),
        "link": np.array([number for route in routes for number in route], np.int32),
        "first": np.cumsum([0, *map(len, network.routes)]).astype(np.int32),
        "line": lines_of(network),
        "node": np.array(network.nodes),
        "place": np.array(network.nodes)[np.array(network.pairs)],
    }


@SPEC.reset
def reset(p, s, rng):
    for k in range(s.route.size):
        s.route[k] = -1
    same = s.known_for[0] == p.congestion and s.known_for[1] == p.free_flow
    if same and s.known_for[2] == p.weights[0] and s.known_for[3] == p.weights[1]:
        return
    s.slowest = 0.0
    for j in range(s.minutes.size):
        total = 0.0
        for i in range(p.begins[j], p.begins[j + 1]):
            total += minutes_on(p, p.link[i], s.route.size, s.route.size)
        s.slowest = max(s.slowest, total)
    assign(p, s, s.equilibrium, 1.0)
    assign(p, s, s.optimum, 2.0)
    s.known_for[0] = p.congestion
    s.known_for[1] = p.free_flow
    s.known_for[2] = p.weights[0]
    s.known_for[3] = p.weights[1]


@kernel
def minutes_on(p, i, flow, agents):
    """The time that a road takes with so many agents on it."""
    return p.congestion * p.slope[i] * flow / agents + p.free_flow * p.fixed[i]


@kernel
def toll_on(p, i, flow, agents):
    """What an agent pays for a road with so many agents on it."""
    if p.tolls == MARGINAL:
        return p.congestion * p.slope[i] * flow / agents
    return minutes_on(p, i, flow, agents) if p.tolled[i] else 0.0


@kernel
def joining(p, s, j, care):
    """What a route costs who joins it, under the weights; with care = 2 what that costs all together. A road costs
    a flow + b, so one more agent pays a (flow + 1) + b itself, and makes the others pay a flow more."""
    agents, total = s.route.size, 0.0
    for n in range(p.begins[j], p.begins[j + 1]):
        i = p.link[n]
        empty = p.weights[0] * minutes_on(p, i, 0, agents) + p.weights[1] * toll_on(p, i, 0, agents)
        one = p.weights[0] * minutes_on(p, i, 1, agents) + p.weights[1] * toll_on(p, i, 1, agents)
        total += (one - empty) * (care * s.load[i] + 1.0) + empty
    return total


@kernel
def cheapest(p, s, k, care):
    """The route that is best to join for an agent; the first of equal ones."""
    pair = k % (p.first.size - 1)
    best, least = p.first[pair], 1e300
    for j in range(p.first[pair], p.first[pair + 1]):
        cost = joining(p, s, j, care)
        if cost < least - 1e-9:
            best, least = j, cost
    return best


@kernel
def put(p, s, j, more):
    """Put agents on a route."""
    for n in range(p.begins[j], p.begins[j + 1]):
        s.load[p.link[n]] += more


@kernel
def assign(p, s, routes, care):
    """One agent after the other takes the best route; then all in turn change to better ones, until nobody does. Each
    change lowers a potential of the game (Rosenthal), so that this ends."""
    for i in range(s.load.size):
        s.load[i] = 0
    for k in range(routes.size):
        routes[k] = cheapest(p, s, k, care)
        put(p, s, routes[k], 1)
    for _ in range(MOST_PASSES):
        changed = False
        for k in range(routes.size):
            put(p, s, routes[k], -1)
            best = cheapest(p, s, k, care)
            if joining(p, s, best, care) < joining(p, s, routes[k], care) - 1e-9:
                routes[k] = best
                changed = True
            put(p, s, routes[k], 1)
        if not changed:
            return


@SPEC.step
def step(p, s, a, rng, r):
    agents, pairs = s.route.size, p.first.size - 1
    for i in range(s.flow.size):
        s.flow[i] = 0
    for k in range(agents):
        j = p.first[k % pairs] + a[k]
        s.route[k] = j
        for n in range(p.begins[j], p.begins[j + 1]):
            s.flow[p.link[n]] += 1
    for j in range(s.minutes.size):
        s.minutes[j] = 0.0
        s.paid[j] = 0.0
        for n in range(p.begins[j], p.begins[j + 1]):
            s.minutes[j] += minutes_on(p, p.link[n], s.flow[p.link[n]], agents)
            s.paid[j] += toll_on(p, p.link[n], s.flow[p.link[n]], agents)
    for k in range(agents):
        r.time[k] = -s.minutes[s.route[k]] / s.slowest
        r.toll[k] = -s.paid[s.route[k]] / s.slowest
        r.terminated[k] = True


@SPEC.observe
def observe(p, s, k, o):
    o.number[0] = 1.0
    o.number[1] = (k + 1.0) / s.route.size


@SPEC.expert
def expert(p, s, a):
    """The best assignment for all together, under the weights."""
    for k in range(s.route.size):
        a[k] = s.optimum[k] - p.first[k % (p.first.size - 1)]


@SPEC.player("optimum")
def optimum(p, s, k, a, rng):
    """Its part of the best assignment for all together."""
    a[k] = s.optimum[k] - p.first[k % (p.first.size - 1)]


@SPEC.player("equilibrium")
def equilibrium(p, s, k, a, rng):
    """Its part of an assignment in which nobody gains by another route."""
    a[k] = s.equilibrium[k] - p.first[k % (p.first.size - 1)]


@SPEC.player("shortest")
def shortest(p, s, k, a, rng):
    """The route that is shortest when roads are empty."""
    pair = k % (p.first.size - 1)
    least = 1e300
    for j in range(p.first[pair], p.first[pair + 1]):
        total = 0.0
        for n in range(p.begins[j], p.begins[j + 1]):
            total += p.fixed[p.link[n]]
        if total < least - 1e-12:
            least = total
            a[k] = j - p.first[pair]


def metrics(p: Any, s: Any) -> dict[str, float]:
    """Minutes and tolls of the last step, on average over agents; call it before the next reset.

    Args:
        p, s: parameters and state of a world, for example `env.batch.records(0)`.

    Returns:
        "minutes", "slowest_minutes" of a route that somebody takes, "toll".
    """
    taken = np.asarray(s.route)
    minutes = np.asarray(s.minutes)[taken]
    return {
        "minutes": float(minutes.mean()),
        "slowest_minutes": float(minutes.max()),
        "toll": float(np.asarray(s.paid)[taken].mean()),
    }


def lower_bound(p: Any, s: Any) -> float:
    """Average minutes that no assignment undercuts, not even one of parts of agents.

    The total time is convex in the flows, so it lies nowhere below its tangent at the best assignment that is known,
    and the tangent is least where all take the route of the least marginal time (the gap of Frank and Wolfe).
    """
    agents, pairs = s.route.size, p.first.size - 1
    optimum = np.asarray(s.optimum)
    begins, links = np.asarray(p.begins), np.asarray(p.link)
    members = [links[begins[j] : begins[j + 1]] for j in range(len(begins) - 1)]
    flow = np.zeros(len(p.slope))
    for j in optimum.tolist():
        flow[members[j]] += 1.0
    slope, fixed = float(p.congestion) * np.asarray(p.slope) / agents, float(p.free_flow) * np.asarray(p.fixed)
    marginal = np.array([(2.0 * slope * flow + fixed)[each].sum() for each in members])
    least = [marginal[p.first[pair] : p.first[pair + 1]].min() for pair in range(pairs)]
    gap = sum(marginal[j] - least[k % pairs] for k, j in enumerate(optimum.tolist()))
    return float((flow @ (slope * flow + fixed) - gap) / agents)


@SPEC.draw
def draw(canvas, p, s):
    draw_network(canvas, p, s)


@SPEC.text
def text(p, s):
    taken = np.bincount(s.route[s.route >= 0], minlength=len(s.minutes))
    rows = ["route  agents  minutes    toll"]
    for j, (agents, minutes, paid) in enumerate(zip(taken, s.minutes, s.paid, strict=True)):
        rows.append(f"{j:5d}  {agents:6d}  {minutes:7.2f}  {paid:6.2f}")
    return "\n".join(rows)


@SPEC.keys
def keys(pressed, values):
    return next((n for n in range(9) if str(n + 1) in pressed and n < sizes_of(values)["choices"]), 0)
