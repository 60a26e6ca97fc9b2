"""Signal grid: agents set the signals of a road network so that vehicles spend little time on it.

## Description
Each junction of a road network is an agent, which chooses the phase of its signal: which movements may go. Every
vehicle is simulated, by the rules of CityFlow (Zhang et al., "CityFlow: A Multi-Agent Reinforcement Learning
Environment for Large Scale City Traffic Scenario", WWW 2019): flows emit vehicles, which wait until there is room on
their first lane, follow their leaders, stop at closed gates and behind full lanes, and yield where their way crosses
that of others; with `lane_change` they change lanes where there is more room. With `arrivals="regular"`, `spread=0` and
`draws_seed` the positions are those of CityFlow to the last bit, but for lane changes, whose order there depends on
addresses in memory; the results do not depend on the number of threads.

`incidents` close lanes or roads for some time: `[{"road": "road_1_1_0", "lane": 1, "at": 150, "startTime": 600,
"endTime": 1200}]` lets nobody pass a place 150 m along a lane for 600 s. Without "lane" all lanes are concerned, and
without "at" nobody enters them. Vehicles stop before the place, unless they are too near to stop, or change to another
lane where they may; they look for no other way. Each incident happens with probability `incident_chance`.

The default is a grid of `rows` x `columns` junctions 300 m apart, with a lane for each movement and 16.67 m/s, as
CityFlow's generator makes them; each end of a street emits 400 vehicles per hour, of which 40 % turn once. `network`
and `flows` take files of CityFlow, or their content.

Different from CityFlow: between two phases only gates that are open in both are open, for `yellow` steps, while a
vehicle that cannot stop any more goes on, as it does at a closed gate; for `all_red` steps after that none is; a phase
stays for `min_green` steps at least; with `walk`, each junction has a last phase of that many steps for people on foot,
in which all gates are closed, and `people_rate` of them come per hour; arrivals may be random; and no more than
`vehicles` are there at a time: where all places are taken, vehicles come later.
`rlenvs.multi.traffic.signal_grid.metrics(p, s)` gives travel times, throughput and queues.

Scripted players: "max_pressure" chooses the phase with the most vehicles before its open links minus those behind
them (Varaiya, "Max pressure control of a network of signalized intersections", 2013), "greedy" that with the longest
queues, "actuated" goes on when no vehicle is within 40 m before a green light, or after 60 s, "sotl" when few vehicles
are left at green and many at red (self-organizing traffic lights, as in LibSignal), "fixed" by the stored plan. With
`plan="webster"` that plan, and so the choices, are made for the mean demand by Webster's rule (1958).

## Action Space
The phase to show, one of those of the junction's plan. `phases="green"` leaves out those that only clear the junction.
Until `min_green` is over, and between phases, another phase has no effect; the mask says so.

## Observation Space
Which phase is shown or comes next, and whether it may be changed. `observation="density"` is that of sumo-rl: of each
lane that leads to the junction, by direction (south, east, north, west) and from the innermost, vehicles and waiting
vehicles as shares of what fits there; "count" that of LibSignal: the number of vehicles on these lanes; "pressure" that
of PressLight: also the number on lanes that lead away. Lanes that a junction does not have are 0.

## Rewards
All are of one junction. `queue` is minus the number of waiting vehicles (below 0.1 m/s) on lanes that lead to it (in
LibSignal minus 12 times the mean over lanes, the same with 12 of them), `pressure` the number of vehicles on lanes that
lead away minus those on lanes that lead to it, `waiting` the decrease, in 100 s, of the time that vehicles there have
waited on their lanes (the default of sumo-rl), `speed` the mean speed of vehicles there as a share of the limit,
`fairness` minus the longest time that one of them has waited, and `emissions` minus the carbon dioxide of vehicles on
these lanes and on the junction, by vehicle-specific power (Jimenez-Palacios, 1999), in kg. `reward` chooses which of
them counts. With `walk`, `people`, minus the number of people who wait to cross, counts as well.

## Costs
`spillback` is 1 where a lane that leads to the junction is full up to its beginning. `red` is the number of vehicles
that passed a closed gate because they could not stop.

## Starting State
Empty roads, the first phase everywhere. Flows differ in each episode by up to `spread`.

## Episode End
Truncation after an hour: 360 steps of 10 s by default. Success is not defined.

## Parameters
A step of the environment is `decision` steps of the engine, of `interval` seconds. `yellow` and `min_green` count steps
of the engine.

## Reference Scores
Mean return of all agents together over seeds 0 to 99. The expert is "max_pressure".

## Version History
v0: first version.
"""

from typing import Any

import numpy as np

from rlenvs.core import block, choice, cost, discrete, f8, kernel, term, world
from rlenvs.multi.traffic.diagrams import Queues, TimeSpace
from rlenvs.multi.traffic.engine import WAITING, advance, empty_roads
from rlenvs.multi.traffic.faults import fault_of
from rlenvs.multi.traffic.fields import DATA, PARAMS, PICTURE, STATE
from rlenvs.multi.traffic.render import draw_network
from rlenvs.multi.traffic.scenario import OPTIONS, counted, data_of, network_sizes
from rlenvs.multi.traffic.signals import (
    HOUR,
    PROBE,
    SIGNAL_DATA,
    SIGNAL_OPTIONS,
    SIGNAL_PARAMS,
    SIGNAL_STATE,
    actuated_choice,
    allowed,
    best_choice,
    choose,
    chosen,
    first_phases,
    fixed_choice,
    gather,
    is_full,
    may_change,
    organized_choice,
    show_signals,
    waiting_on,
)
from rlenvs.multi.traffic.words import describe, neighbors, parse_action

__all__ = ["metrics"]

MOST = 10_000.0  # more vehicles than around a junction
OBSERVATION = choice("density", "count", "pressure", doc="that of sumo-rl, of LibSignal, or of PressLight")
DENSITY, PRESSURE = OBSERVATION.codes("density", "pressure")
TERMS = ("queue", "pressure", "waiting", "speed", "fairness", "emissions")


def sizes_of(values: Any) -> dict[str, int]:
    """Those of the network, and of what agents see."""
    sizes, seen = network_sizes(values), values.observation
    return {
        **sizes,
        "agents": sizes["junctions"],
        "densities": sizes["in_lanes"] if seen == "density" else 0,
        "counts": sizes["in_lanes"] if seen != "density" else 0,
        "out_counts": sizes["out_lanes"] if seen == "pressure" else 0,
    }


SPEC = world(
    "SignalGrid-v0",
    doc=__doc__,
    source="CityFlow (Zhang et al., WWW 2019); LibSignal (Mei et al., Machine Learning 2024); sumo-rl (Alegre)",
    agents=True,
    params={**PARAMS, **SIGNAL_PARAMS},
    options={
        **OPTIONS,
        **SIGNAL_OPTIONS,
        "observation": OBSERVATION,
        "reward": counted(*TERMS),
    },
    sizes=sizes_of,
    data={**DATA, **PICTURE, **SIGNAL_DATA},
    state={
        **STATE,
        **SIGNAL_STATE,
        "waited_before": f8("junctions"),  # s, of all vehicles on lanes that lead to a junction
    },
    observation={
        "phase": block(
            "phase_choices", low=0.0, high=1.0, raw=True, constant=True, doc="1 for the phase shown or to come"
        ),
        "ready": block(1, low=0.0, high=1.0, raw=True, constant=True, doc="1 if it may be changed"),
        "density": block("densities", low=0.0, high=1.0, raw=True, constant=True, doc="vehicles, of those that fit"),
        "queue": block("densities", low=0.0, high=1.0, raw=True, constant=True, doc="waiting ones, of those that fit"),
        "count": block("counts", low=0.0, high=MOST, raw=True, constant=True, doc="vehicles on lanes that lead here"),
        "out_count": block("out_counts", low=0.0, high=MOST, raw=True, constant=True, doc="on lanes that lead away"),
        "people": block("walks", low=0.0, high=MOST, raw=True, constant=True, doc="people who wait to cross"),
    },
    action=lambda values: discrete(
        *(f"phase {n + 1}" for n in range(sizes_of(values)["phase_choices"])), size="phase_choices", doc="phase to show"
    ),
    terms={
        "queue": term(-MOST, 0.0, 1.0, "minus the vehicles that wait on lanes to the junction"),
        "pressure": term(-MOST, MOST, 0.0, "vehicles on lanes away from it minus those on lanes to it"),
        "waiting": term(-MOST, MOST, 0.0, "by how much the waiting times on lanes to it fell, in 100 s"),
        "speed": term(0.0, 1.0, 0.0, "mean speed on lanes to it, as a share of the limit; 1 without vehicles"),
        "fairness": term(-MOST, 0.0, 0.0, "minus the longest time that a vehicle there has waited, in 100 s"),
        "emissions": term(-MOST, 0.0, 0.0, "minus the carbon dioxide of vehicles on these lanes and links, in kg"),
        "people": term(-MOST, 0.0, 1.0, "minus the people who wait to cross"),
    },
    costs={
        "spillback": cost(36.0, 1.0, "1 where a lane to the junction is full"),
        "red": cost(36.0, MOST, "vehicles that passed a closed gate"),
    },
    horizon=lambda values: HOUR // values.decision,
    fps=5,
    expert_sees="state",
    players=("max_pressure", "greedy", "actuated", "sotl", "fixed"),
    quick={"rows": 1, "columns": 1},
    probe=PROBE,
    levels={
        "single": {"rows": 1, "columns": 1},
        "arterial": {"layout": "arterial", "columns": 6},
        "city": {"layout": "city", "rows": 4, "columns": 4},
        "4x4": {"rows": 4, "columns": 4},
        "rush_hour": {"peak": 1.0, "demand": 1.2},
    },
)

SPEC.member(
    "SignalSingle-v0",
    "Signal of one junction: an agent sets it so that vehicles, and people on foot, spend little time there.",
    rows=1,
    columns=1,
    levels={
        "walk": {"walk": 10},
        "incident": {"incidents": [{"road": "road_1_1_0", "at": 150, "startTime": 900, "endTime": 1800}]},
        "rush_hour": {"peak": 1.0, "demand": 1.2},
    },
)
SPEC.member(
    "SignalArterial-v0",
    "Signals of a main street: six agents set them so that vehicles spend little time there.",
    layout="arterial",
    columns=6,
    levels={
        "incident": {"incidents": [{"road": "road_3_1_0", "lane": 1, "at": 150, "startTime": 900, "endTime": 1800}]},
        "rush_hour": {"peak": 1.0, "demand": 1.2},
    },
)

SPEC.make_data(data_of)
SPEC.state_fault(fault_of)
SPEC.describe(describe)
SPEC.parse_action(parse_action)
SPEC.hears(neighbors)
SPEC.diagram("queues", Queues)
SPEC.diagram("time_space", TimeSpace)


@SPEC.reset
def reset(p, s, rng):
    empty_roads(p, s, rng)
    first_phases(p, s)


@SPEC.step
def step(p, s, a, rng, r):
    for j in range(s.phase.size):
        choose(p, s, j, a[j])
        s.ran_red[j] = 0
        s.burnt[j] = 0.0
    for _ in range(p.decision):
        show_signals(s)
        if p.walk > 0:
            gather(p, s, rng)
        advance(p, s, rng)
    for j in range(s.phase.size):
        measure(p, s, j, r)
        r.red[j] = s.ran_red[j]
        r.emissions[j] = -s.burnt[j] / 1000.0
        r.people[j] = -s.people[j]


@kernel
def measure(p: Any, s: Any, j: int, r: Any) -> None:
    """Fill the terms and costs of a junction from the vehicles around it."""
    vehicles, shares, waited, longest = 0, 0.0, 0.0, 0.0
    for i in range(p.in_lane.shape[1]):
        lane = p.in_lane[j, i]
        if lane < 0:
            continue
        vehicles += s.count[lane]
        v = s.first[lane]
        while v >= 0:
            r.queue[j] -= 1.0 if s.speed[v] < WAITING else 0.0
            shares += s.speed[v] / p.limit[lane]
            waited += s.waited[v]
            longest = max(longest, s.waited[v])
            v = s.behind[v]
        if is_full(p, s, lane):
            r.spillback[j] = 1.0
    r.pressure[j] = -vehicles
    for i in range(p.out_lane.shape[1]):
        if p.out_lane[j, i] >= 0:
            r.pressure[j] += s.count[p.out_lane[j, i]]
    r.waiting[j] = (s.waited_before[j] - waited) / 100.0
    s.waited_before[j] = waited
    r.fairness[j] = -longest / 100.0
    r.speed[j] = min(shares / vehicles, 1.0) if vehicles > 0 else 1.0


@SPEC.observe
def observe(p, s, k, o):
    for n in range(o.phase.size):
        o.phase[n] = 0.0
    o.phase[chosen(p, s, k)] = 1.0
    o.ready[0] = 1.0 if may_change(p, s, k) else 0.0
    for i in range(p.in_lane.shape[1]):
        lane = p.in_lane[k, i]
        if p.observation == DENSITY:
            o.density[i] = min(s.count[lane] / p.room[lane], 1.0) if lane >= 0 else 0.0
            o.queue[i] = min(waiting_on(s, lane) / p.room[lane], 1.0) if lane >= 0 else 0.0
        else:
            o.count[i] = s.count[lane] if lane >= 0 else 0.0
    if p.observation == PRESSURE:
        for i in range(p.out_lane.shape[1]):
            lane = p.out_lane[k, i]
            o.out_count[i] = s.count[lane] if lane >= 0 else 0.0
    if p.walk > 0:
        o.people[0] = s.people[k]


@SPEC.mask
def mask(p, s, k, m):
    for n in range(p.choice.shape[1]):
        m[n] = 1 if allowed(p, s, k, n) else 0


@SPEC.player("max_pressure")
def max_pressure(p, s, k, a, rng):
    """The phase with the highest pressure."""
    a[k] = best_choice(p, s, k, False)


@SPEC.player("greedy")
def greedy(p, s, k, a, rng):
    """The phase with the longest queues."""
    a[k] = best_choice(p, s, k, True)


@SPEC.player("actuated")
def actuated(p, s, k, a, rng):
    """The next phase once no vehicle comes near at green, or after the longest green."""
    a[k] = actuated_choice(p, s, k)


@SPEC.player("sotl")
def sotl(p, s, k, a, rng):
    """The next phase once few vehicles are left at green and many at red."""
    a[k] = organized_choice(p, s, k)


@SPEC.player("fixed")
def fixed(p, s, k, a, rng):
    """The stored plan."""
    a[k] = fixed_choice(p, s, k)


def metrics(p: Any, s: Any) -> dict[str, float]:
    """How traffic has flowed so far; call it before the next reset.

    Args:
        p, s: parameters and state of a world, for example `env.batch.records(0)`.

    Returns:
        "travel_time", in seconds, the mean over vehicles, as CityFlow's: those that are still there count with their
        time so far, those that wait to enter included; "throughput", vehicles that have arrived; "running", vehicles on
        the roads; "outside", those that wait to enter; "waiting", those on lanes that wait.
    """
    there = (np.asarray(s.drivable) >= 0) & ~np.asarray(s.shadow, bool)
    now, vehicles = s.ticks * p.interval, int(s.finished) + int(there.sum())
    total = s.travelled + float((now - np.asarray(s.entered)[there]).sum())
    return {
        "travel_time": float(total / max(vehicles, 1)),
        "throughput": float(s.finished),
        "running": float(s.running),
        "outside": float(s.present - s.running),
        "waiting": float(sum(waiting_on(s, lane) for lane in range(p.lane_road.size))),
    }


@SPEC.draw
def draw(canvas, p, s):
    draw_network(canvas, p, s)


@SPEC.text
def text(p, s):
    found = metrics(p, s)
    rows = ["junction  phase  green for  waiting"]
    for j in range(s.phase.size):
        waiting = sum(waiting_on(s, lane) for lane in p.in_lane[j].tolist() if lane >= 0)
        rows.append(f"{j:8d}  {int(s.phase[j]):5d}  {int(s.green_for[j]):9d}  {waiting:7d}")
    head = f"{found['running']:.0f} vehicles, {found['throughput']:.0f} arrived, mean time {found['travel_time']:.1f} s"
    return "\n".join([head, *rows])


@SPEC.keys
def keys(pressed, values):
    return next((n for n in range(9) if str(n + 1) in pressed and n < sizes_of(values)["phase_choices"]), 0)
