"""Signals: the phase of every junction, minimum green and the time between phases, and the players that set them."""

from typing import Any

from rlenvs.core import f8, flag, i4, integer, kernel, param, u1, uniform
from rlenvs.multi.traffic.crossing import is_green
from rlenvs.multi.traffic.engine import WAITING
from rlenvs.multi.traffic.fields import ARRIVALS

HOUR, LONG = 3600, 2**30  # steps, of an episode and at most
PROBE: dict[str, dict[str, Any]] = {  # where parameters have an effect that have none by default
    "period": {"peak": 1.0},
    "people_rate": {"walk": 5},
    "incident_chance": {"incidents": [{"road": "road_0_1_0", "at": 50}]},
}
SIGNAL_PARAMS = {"people_rate": param(120.0, 0.0, 3600.0, "1/h", "people who come to a junction to cross it")}
SIGNAL_OPTIONS: dict[str, Any] = {
    "arrivals": ARRIVALS,
    "lane_change": flag(False, "whether vehicles change lanes"),
    "decision": integer(10, 1, 60, "steps of the engine per step"),
    "yellow": integer(5, 0, 30, "steps of the engine between two phases"),
    "all_red": integer(0, 0, 30, "steps of the engine after these in which all gates are closed"),
    "min_green": integer(5, 0, 120, "steps of the engine for which a phase stays at least"),
}
SIGNAL_DATA = {
    "choice": i4("junctions", "phase_choices"),  # phases among which an agent chooses, of its junction; -1 for none
    "choice_time": f8("junctions", "phase_choices"),  # s, in the stored plan
    "serves": u1("junctions", "phase_choices", "in_lanes"),  # 1 where a choice opens a link of a lane that not all open
    "in_lane": i4("junctions", "in_lanes"),  # lanes that lead to a junction, by direction; -1 for none
    "out_lane": i4("junctions", "out_lanes"),  # lanes that lead away
}
SIGNAL_STATE = {
    "clearing": i4("junctions").within(0, LONG),  # steps of the engine until the next phase is shown
    "green_for": i4("junctions").within(0, LONG),  # steps for which the present one has been
    "people": i4("junctions").within(0, LONG),  # who wait to cross on foot
}
FEW_GREEN, MANY_RED = 5, 5  # of self-organizing signals: vehicles that let a green end, and that ask for it
DETECTOR, LONGEST_GREEN = 40.0, 60.0  # of actuated signals: m before the line, and s


@kernel
def first_phases(p: Any, s: Any) -> None:
    """The first choice at every junction, which may be changed at once."""
    for j in range(s.phase.size):
        s.green_for[j] = p.min_green
        s.phase[j] = p.choice[j, 0]
        s.next_phase[j] = p.choice[j, 0]


@kernel
def may_change(p: Any, s: Any, j: int) -> bool:
    """Whether the phase of a junction has been shown for long enough."""
    least = p.walk if is_walk(p, j, s.phase[j]) else p.min_green
    return s.phase[j] == s.next_phase[j] and s.green_for[j] >= least


@kernel
def is_walk(p: Any, j: int, phase: int) -> bool:
    """Whether a phase is that of people on foot: with `walk`, the last one of a junction."""
    return p.walk > 0 and phase == p.phase_begins[j + 1] - p.phase_begins[j] - 1


@kernel
def gather(p: Any, s: Any, rng: Any) -> None:
    """People come to the junctions, and those who wait cross where they have green."""
    for j in range(s.phase.size):
        if uniform(rng, 0.0, 1.0) * 3600.0 < p.people_rate * p.interval:
            s.people[j] += 1
        if s.phase[j] == s.next_phase[j] and is_walk(p, j, s.phase[j]):
            s.people[j] = 0


@kernel
def choose(p: Any, s: Any, j: int, action: int) -> None:
    """Ask for a phase; without effect where it is not allowed now, or is shown already."""
    phase = p.choice[j, action]
    if phase >= 0 and phase != s.phase[j] and may_change(p, s, j):
        s.next_phase[j] = phase
        s.clearing[j] = p.yellow + p.all_red


@kernel
def show_signals(s: Any) -> None:
    """Before a step of the engine: show the next phase where the time between phases is over."""
    for j in range(s.phase.size):
        if s.phase[j] == s.next_phase[j]:
            s.green_for[j] += 1
        elif s.clearing[j] > 0:
            s.clearing[j] -= 1
        else:
            s.phase[j] = s.next_phase[j]
            s.green_for[j] = 1


@kernel
def chosen(p: Any, s: Any, j: int) -> int:
    """The choice that is shown, or comes next."""
    for n in range(p.choice.shape[1]):
        if p.choice[j, n] == s.next_phase[j]:
            return n
    return 0


@kernel
def allowed(p: Any, s: Any, j: int, n: int) -> bool:
    """Whether the agent of a junction may make a choice now."""
    return p.choice[j, n] >= 0 and (n == chosen(p, s, j) or may_change(p, s, j))


@kernel
def waiting_on(s: Any, lane: int) -> int:
    """How many vehicles wait on a lane."""
    total, v = 0, s.first[lane]
    while v >= 0:
        if s.speed[v] < WAITING:
            total += 1
        v = s.behind[v]
    return total


@kernel
def is_full(p: Any, s: Any, lane: int) -> bool:
    """Whether vehicles wait on a lane up to its beginning."""
    tail = s.last[lane]
    if tail < 0 or s.speed[tail] >= WAITING:
        return False
    return s.position[tail] <= p.car_length[s.kind[tail]] + p.car_gap[s.kind[tail]]


# --- players ----------------------------------------------------------------------------------------------------------


@kernel
def next_choice(p: Any, s: Any, j: int) -> int:
    """The choice after the present one, in a circle; that of people on foot only if some wait."""
    n = chosen(p, s, j) + 1
    if n == p.choice.shape[1] or p.choice[j, n] < 0 or (is_walk(p, j, p.choice[j, n]) and s.people[j] == 0):
        return 0
    return n


@kernel
def fixed_choice(p: Any, s: Any, j: int) -> int:
    """One phase after the other, each for the time of the stored plan."""
    now = chosen(p, s, j)
    over = may_change(p, s, j) and s.green_for[j] * p.interval >= p.choice_time[j, now]
    return next_choice(p, s, j) if over else now


@kernel
def pressure_of(p: Any, s: Any, j: int, n: int) -> int:
    """Vehicles before the open links of a choice minus those behind them; of people on foot, those who wait."""
    total = s.people[j] if is_walk(p, j, p.choice[j, n]) else 0
    for link in range(p.link_begins[j], p.link_begins[j + 1]):
        if is_green(p, j, p.choice[j, n], p.link_gate[link]):
            total += s.count[p.link_start[link]] - s.count[p.link_end[link]]
    return total


@kernel
def queue_of(p: Any, s: Any, j: int, n: int) -> int:
    """Vehicles that wait on lanes that a choice serves; or people."""
    total = s.people[j] if is_walk(p, j, p.choice[j, n]) else 0
    for i in range(p.in_lane.shape[1]):
        if p.serves[j, n, i]:
            total += waiting_on(s, p.in_lane[j, i])
    return total


@kernel
def best_choice(p: Any, s: Any, j: int, queues: bool) -> int:
    """The allowed choice with the longest queues, or with the highest pressure; the first of equal ones."""
    best, most = chosen(p, s, j), -LONG
    for n in range(p.choice.shape[1]):
        if allowed(p, s, j, n):
            value = queue_of(p, s, j, n) if queues else pressure_of(p, s, j, n)
            if value > most:
                best, most = n, value
    return best


@kernel
def organized_choice(p: Any, s: Any, j: int) -> int:
    """The next phase once few vehicles are left on lanes with green, and many are on the others."""
    now = chosen(p, s, j)
    green, red = 0, 0
    for i in range(p.in_lane.shape[1]):
        if p.serves[j, now, i]:
            green += s.count[p.in_lane[j, i]]
        elif p.in_lane[j, i] >= 0:
            red += s.count[p.in_lane[j, i]]
    over = may_change(p, s, j) and green <= FEW_GREEN and red > MANY_RED
    return next_choice(p, s, j) if over else now


@kernel
def actuated_choice(p: Any, s: Any, j: int) -> int:
    """The next phase once no vehicle comes near on lanes with green, or after the longest green."""
    now = chosen(p, s, j)
    if not may_change(p, s, j):
        return now
    if s.green_for[j] * p.interval < LONGEST_GREEN:
        for i in range(p.in_lane.shape[1]):
            if p.serves[j, now, i]:
                lane = p.in_lane[j, i]
                v = s.first[lane]
                if v >= 0 and p.length[lane] - s.position[v] < DETECTOR:
                    return now
    return next_choice(p, s, j)
