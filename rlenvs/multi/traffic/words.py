"""Signals in words, for language agents: phases by letters, and vehicles by lane and distance."""

from __future__ import annotations

from typing import Any

from rlenvs.core.forms.language import expect, one_of, read_order
from rlenvs.multi.traffic.engine import WAITING
from rlenvs.multi.traffic.incidents import NOWHERE_AHEAD, blocked_at
from rlenvs.multi.traffic.signals import allowed, chosen, is_walk

SIDES = {"E": "east", "W": "west", "N": "north", "S": "south"}
MOVEMENTS = {3: "T", 2: "L", 1: "R"}  # through, left, right, by `gate_kind`
SEGMENTS = 3  # of a lane, of equal length


def side_of(p: Any, lane: int) -> str:
    """The side from which a lane comes to its junction: E, W, N or S."""
    first, last = int(p.line_begins[lane]), int(p.line_begins[lane + 1]) - 1
    x, y = (float(p.line[last, n] - p.line[first, n]) for n in range(2))
    if abs(x) >= abs(y):
        return "W" if x > 0.0 else "E"
    return "S" if y > 0.0 else "N"


def _gates(p: Any, j: int) -> list[str]:
    """Of each gate of a junction, the side from which it comes and its movement, as letters."""
    found = dict[int, str]()
    for link in range(int(p.link_begins[j]), int(p.link_begins[j + 1])):
        gate = int(p.link_gate[link])
        found[gate] = side_of(p, int(p.link_start[link])) + MOVEMENTS[int(p.gate_kind[gate])]
    return [found[gate] for gate in range(int(p.gate_begins[j]), int(p.gate_begins[j + 1]))]


def phase_names(p: Any, j: int) -> list[str]:
    """The names of a junction's choices, by the movements that only some phases open: "ETWT" for through traffic from
    east and west, "NLSL" for left turns from north and south, "WTWL" for both from west, "WALK" for people on foot,
    "STOP" for none. Names that occur twice are numbered."""
    gates, names = _gates(p, j), list[str]()
    phases = [int(phase) for phase in p.choice[j] if phase >= 0]
    rows = []
    for phase in phases:
        begin = int(p.green_begins[int(p.phase_begins[j]) + phase])
        rows.append([int(p.green[begin + n]) for n in range(len(gates))])
    common = [all(row[n] for row in rows if any(row)) for n in range(len(gates))]
    for phase, row in zip(phases, rows, strict=True):
        opened = {name for name, green, always in zip(gates, row, common, strict=True) if green and not always}
        ordered = sorted(opened, key=lambda name: ("TLR".index(name[1]), "EWNS".index(name[0])))
        name = "".join(ordered) or ("WALK" if is_walk(p, j, phase) else "STOP")
        names.append(f"{name}{names.count(name) + 1}" if name in names else name)
    return names


def _lane(p: Any, s: Any, lane: int) -> str:
    """What is on a lane that leads to a junction."""
    waiting, segments, v = 0, [0] * SEGMENTS, int(s.first[lane])
    while v >= 0:
        if s.speed[v] < WAITING:
            waiting += 1
        else:
            share = 1.0 - float(s.position[v]) / float(p.length[lane])
            segments[min(int(share * SEGMENTS), SEGMENTS - 1)] += 1
        v = int(s.behind[v])
    links = range(int(p.leaving_begins[lane]), int(p.leaving_begins[lane + 1]))
    ways = {MOVEMENTS[int(p.gate_kind[p.link_gate[p.leaving[i]]])] for i in links}
    side = side_of(p, lane)
    names = ", ".join(f"{side}{way}" for way in "TLR" if way in ways)
    told = f"{names}: {waiting} waiting, approaching {', '.join(str(n) for n in segments)}"
    at = blocked_at(p, s, lane, 0.0)
    return told if at == NOWHERE_AHEAD else f"{told}, closed {float(p.length[lane]) - at:.0f} m before the line"


def describe(p: Any, s: Any, k: int) -> str:
    """What the agent of a junction observes, and what it may reply."""
    names = phase_names(p, k)
    legal = ", ".join(f"<phase({name})>" for n, name in enumerate(names) if allowed(p, s, k, n))
    changing = " comes next" if s.phase[k] != s.next_phase[k] else f", for {float(s.green_for[k] * p.interval):.0f} s"
    lanes = [_lane(p, s, int(lane)) for lane in p.in_lane[k] if lane >= 0]
    people = [f"People who wait to cross on foot: {int(s.people[k])}."] if p.walk > 0 else []
    return "\n".join(
        [
            f"Traffic signal of junction {k} of {len(s.phase)}, second {float(s.ticks * p.interval):.0f}.",
            f"Phase {names[chosen(p, s, k)]}{changing}.",
            "Letters: the side from which vehicles come (E, W, N, S), and their way (T through, L left, R right).",
            "Of each lane: vehicles that wait, and those that approach, in its near, middle and far third:",
            *lanes,
            *people,
            f"Valid actions: {legal}",
            "Task: keep queues short. Reply with exactly one of the valid actions.",
        ]
    )


def neighbors(p: Any, s: Any, k: int) -> list[int]:
    """The junctions from which roads lead to a junction."""
    coming = {int(lane) for lane in p.in_lane[k] if lane >= 0}
    links = [link for link in range(p.link_end.size) if int(p.link_end[link]) in coming]
    return sorted({int(p.gate_junction[p.link_gate[link]]) for link in links})


def parse_action(text: str, p: Any, s: Any, k: int) -> int:
    """The choice that a reply stands for; ValueError with the reason when it is none. Who says nothing keeps the
    phase."""
    if not text:
        return int(chosen(p, s, k))
    name, arguments = read_order(text)
    if name != "phase":
        raise ValueError(f"there is no command <{name}(...)>; the command is <phase(letters)>")
    expect(name, arguments, 1)
    return one_of(arguments[0], [known.lower() for known in phase_names(p, k)], "phase")
