"""Signal region: one agent sets all signals of a road network, and knows queues from a part of the vehicles.

## Description
The traffic of SignalGrid, with one agent in place of one for each junction, as in regional adaptive control of signals.
It does not see vehicles: a share `probes` of them report where they are, as navigation systems do. From their travel
times follows an estimate of the queue on each lane that leads to a junction: by Little's law, flow times delay is the
mean number of vehicles that have been on the lane for longer than its length takes at the speed limit. So the estimate
is this number over the last step, of vehicles that report, divided by their share.

Networks, demand, incidents, signals and people on foot are those of SignalGrid-v0. The expert chooses the phase with
the highest pressure at each junction ("Max pressure control of a network of signalized intersections", Varaiya, 2013);
it knows all vehicles.

## Action Space
The phase to show, for each junction. Until `min_green` is over, and between phases, another phase has no effect; the
mask says so.

## Observation Space
Of each junction, which phase is shown or comes next, whether it may be changed, and the estimated queue on each lane
that leads there, by direction (south, east, north, west) and from the innermost. Lanes that a junction does not have
are 0.

## Rewards
`estimate` is minus the mean over junctions of the estimated queues, `growth` by how much that has risen, `queue` minus
the mean number of vehicles that wait (below 0.1 m/s), which is not known to the agent. `reward` chooses which of them
counts. With `walk`, `people`, minus the mean number of people who wait to cross, counts as well.

## Costs
`spillback` is the share of junctions to which a lane is full up to its beginning. `red` is the number of vehicles that
passed a closed gate because they could not stop.

## Starting State
Empty roads, the first phase everywhere. Flows differ in each episode by up to `spread`.

## Episode End
Truncation after an hour: 360 steps of 10 s by default. Success is not defined.

## Parameters
A step of the environment is `decision` steps of the engine, of `interval` seconds. `yellow` and `min_green` count steps
of the engine.

## Reference Scores
Mean return over seeds 0 to 99. The expert is max-pressure.

## Version History
v0: first version.
"""

from typing import Any

from rlenvs.core import block, cost, discrete, f8, i4, kernel, multi_discrete, param, term, world
from rlenvs.multi.traffic.diagrams import Queues, TimeSpace
from rlenvs.multi.traffic.engine import advance, empty_roads
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
    allowed,
    best_choice,
    choose,
    chosen,
    first_phases,
    gather,
    is_full,
    may_change,
    show_signals,
    waiting_on,
)

MOST = 10_000.0  # more vehicles than around a junction
TERMS = ("estimate", "growth", "queue")
PARTS = 1024  # in which vehicles are told apart by their priorities, which are random

SPEC = world(
    "SignalRegion-v0",
    doc=__doc__,
    source="CityFlow (Zhang et al., WWW 2019)",
    params={
        **PARAMS,
        **SIGNAL_PARAMS,
        "probes": param(0.2, 0.01, 1.0, "", "share of the vehicles that report where they are"),
    },
    options={
        **OPTIONS,
        **SIGNAL_OPTIONS,
        "reward": counted(*TERMS),
    },
    sizes=network_sizes,
    data={**DATA, **PICTURE, **SIGNAL_DATA},
    state={
        **STATE,
        **SIGNAL_STATE,
        "reported": i4("vehicles").index_of("lanes", low=-1),  # lane on which a vehicle was last
        "since": f8("vehicles"),  # s, when it came there
        "estimate": f8("lanes"),  # vehicles that are late on a lane
        "before_step": f8,  # vehicles, mean estimate of a junction before this step
    },
    observation={
        "phase": block(
            "junctions",
            "phase_choices",
            low=0.0,
            high=1.0,
            raw=True,
            constant=True,
            doc="1 for the phase shown or next",
        ),
        "ready": block("junctions", low=0.0, high=1.0, raw=True, constant=True, doc="1 if it may be changed"),
        "queue": block("junctions", "in_lanes", low=0.0, high=MOST, raw=True, constant=True, doc="estimated vehicles"),
        "people": block("walkers", low=0.0, high=MOST, raw=True, constant=True, doc="people who wait to cross"),
    },
    action=lambda values: multi_discrete(
        {f"junction {j}": discrete(size="phase_choices") for j in range(network_sizes(values)["junctions"])},
        doc="phase to show",
    ),
    terms={
        "estimate": term(-MOST, 0.0, 1.0, "minus the estimated queues, mean of junctions"),
        "growth": term(-MOST, MOST, 0.0, "by how much these have fallen"),
        "queue": term(-MOST, 0.0, 0.0, "minus the vehicles that wait, mean of junctions"),
        "people": term(-MOST, 0.0, 1.0, "minus the people who wait to cross, mean of junctions"),
    },
    costs={
        "spillback": cost(36.0, 1.0, "share of junctions to which a lane is full"),
        "red": cost(144.0, MOST, "vehicles that passed a closed gate"),
    },
    horizon=lambda values: HOUR // values.decision,
    fps=5,
    expert_sees="state",
    quick={"rows": 1, "columns": 1},
    probe=PROBE,
    levels={
        "arterial": {"layout": "arterial", "columns": 6},
        "4x4": {"rows": 4, "columns": 4},
        "few_probes": {"probes": 0.05},
    },
)

SPEC.make_data(data_of)
SPEC.state_fault(fault_of)
SPEC.diagram("queues", Queues)
SPEC.diagram("time_space", TimeSpace)


@SPEC.reset
def reset(p, s, rng):
    empty_roads(p, s, rng)
    first_phases(p, s)
    for v in range(s.reported.size):
        s.reported[v] = -1


@SPEC.step
def step(p, s, a, rng, r):
    for j in range(s.phase.size):
        choose(p, s, j, a[j])
        s.ran_red[j] = 0
        s.burnt[j] = 0.0
    for lane in range(s.estimate.size):
        s.estimate[lane] = 0.0
    for _ in range(p.decision):
        show_signals(s)
        if p.walk > 0:
            gather(p, s, rng)
        advance(p, s, rng)
        listen(p, s)
    for lane in range(s.estimate.size):
        s.estimate[lane] /= p.probes * p.decision
    measure(p, s, r)


@kernel
def listen(p: Any, s: Any) -> None:
    """Add up the vehicles that report and are late on their lanes."""
    now = s.ticks * p.interval
    for lane in range(s.estimate.size):
        if p.toward[lane] < 0:
            continue
        usual = p.length[lane] / p.limit[lane]
        v = s.first[lane]
        while v >= 0:
            if (s.priority[v] & (PARTS - 1)) < p.probes * PARTS:
                if s.reported[v] != lane or s.since[v] < s.entered[v]:
                    s.reported[v] = lane
                    s.since[v] = now
                if now - s.since[v] > usual:
                    s.estimate[lane] += 1.0
            v = s.behind[v]


@kernel
def measure(p: Any, s: Any, r: Any) -> None:
    """Fill the terms and costs."""
    part = 1.0 / s.phase.size
    for j in range(s.phase.size):
        full = False
        for i in range(p.in_lane.shape[1]):
            lane = p.in_lane[j, i]
            if lane >= 0:
                r.estimate -= part * s.estimate[lane]
                r.queue -= part * waiting_on(s, lane)
                full = full or is_full(p, s, lane)
        r.spillback += part if full else 0.0
        r.red += s.ran_red[j]
        r.people -= part * s.people[j]
    r.growth = s.before_step + r.estimate
    s.before_step = -r.estimate


@SPEC.observe
def observe(p, s, o):
    for j in range(s.phase.size):
        for n in range(p.choice.shape[1]):
            o.phase[j, n] = 0.0
        o.phase[j, chosen(p, s, j)] = 1.0
        o.ready[j] = 1.0 if may_change(p, s, j) else 0.0
        for i in range(p.in_lane.shape[1]):
            lane = p.in_lane[j, i]
            o.queue[j, i] = min(s.estimate[lane], MOST) if lane >= 0 else 0.0
        if p.walk > 0:
            o.people[j] = s.people[j]


@SPEC.mask
def mask(p, s, m):
    choices = p.choice.shape[1]
    for j in range(s.phase.size):
        for n in range(choices):
            m[j * choices + n] = 1 if allowed(p, s, j, n) else 0


@SPEC.expert
def expert(p, s, a):
    """The phase with the highest pressure, everywhere."""
    for j in range(s.phase.size):
        a[j] = best_choice(p, s, j, False)


@SPEC.draw
def draw(canvas, p, s):
    draw_network(canvas, p, s)
