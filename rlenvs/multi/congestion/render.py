"""Images of congestion worlds."""

import math
from typing import Any

from rlenvs.core.declare.canvas import Canvas, Color
from rlenvs.core.declare.maths import exp

SAND, SAND_EDGE, SEA, FOAM = (244, 226, 178), (222, 200, 146), (108, 184, 214), (236, 246, 250)
FIRST, SECOND = "blue", "red"
PLATE = (255, 255, 255)


def draw_beach(canvas: Canvas, p: Any, s: Any) -> None:
    """The beach from above, people in rows from the sea on, the first agent with a ring; below each section how many
    are in it and how many enjoy it."""
    counts = s.count.tolist()
    sections, psi = len(counts), float(p.psi)
    canvas.legend((FIRST, "first type", "disc"), (SECOND, "second type", "disc"), ("black", "first agent", "ring"))
    wide, tall = canvas.scene
    height = 10.0 * tall / wide
    canvas.view(0.0, 10.0, 0.0, height)
    canvas.rectangle(0.0, 0.0, 10.0, height, SAND)
    _draw_sea(canvas, height)
    low, high, width = 1.35, height - 1.5, 10.0 / sections
    most = max(max(first + second for first, second in counts), 1)
    side = _side(width - 0.3, high - low, most)
    for j in range(sections):
        left = j * width
        if j:
            canvas.line([(left, 0.0), (left, high + 0.2)], SAND_EDGE, 2.0)
        members = [k for k in range(s.section.size) if s.section[k] == j]
        members.sort(key=lambda k: (int(s.kind[k]), k))
        _draw_people(canvas, s, members, left + 0.15, high, width - 0.3, side)
        _draw_number(canvas, left + width / 2, sum(counts[j]), psi, sections)
    mixtures = [min(pair) / max(sum(pair), 1) for pair in counts]
    occupation = sum(sum(pair) * exp(-sum(pair) / psi) for pair in counts)
    canvas.caption(f"occupation {occupation:.2f}, mixture {sum(mixtures) / sections:.3f}, capacity {psi:g}")


def _draw_sea(canvas: Canvas, height: float) -> None:
    shore = [(0.25 * t, height - 1.0 + 0.12 * math.sin(0.9 * t)) for t in range(41)]
    canvas.polygon([*shore, (10.0, height), (0.0, height)], SEA)
    canvas.line(shore, FOAM, 4.0)
    for row in range(2):
        y = height - 0.35 - 0.3 * row
        canvas.line([(0.25 * t, y + 0.05 * math.sin(1.4 * t + row)) for t in range(41)], FOAM, 1.0)


def _side(width: float, height: float, people: int) -> float:
    """The side of the square that each person gets, so that a section holds so many."""
    side = min(0.55, width)
    while int(width / side + 1e-9) * int(height / side + 1e-9) < people:
        side *= 0.97
    return side


def _draw_people(
    canvas: Canvas, s: Any, members: list[int], left: float, top: float, width: float, side: float
) -> None:
    columns = int(width / side + 1e-9)
    margin = (width - columns * side) / 2
    for n, k in enumerate(members):
        row, column = divmod(n, columns)
        centre = (left + margin + (column + 0.5) * side, top - (row + 0.5) * side)
        canvas.circle(centre, 0.42 * side, FIRST if s.kind[k] == 0 else SECOND)
        if k == 0:
            canvas.circle(centre, max(0.55 * side, 0.14), "black", 2.5)


def _draw_number(canvas: Canvas, x: float, people: int, psi: float, sections: int) -> None:
    """How many are in a section, and, as a bar, how much of what its capacity allows they enjoy."""
    size = 15 if sections <= 8 else 11 if sections <= 14 else 8
    canvas.text((x, 1.05), str(people), "black", size, "centre")
    share = people * exp(-people / psi) / (psi / math.e)
    half = min(0.6, 4.2 / sections)
    color: Color = "green" if share > 0.5 else "orange" if share > 0.15 else "red"
    canvas.rectangle(x - half, 0.42, x + half, 0.68, PLATE, rounded=0.08)
    if share > 0.02:
        canvas.rectangle(x - half, 0.42, x - half + 2.0 * half * min(share, 1.0), 0.68, color, rounded=0.08)
    canvas.rectangle(x - half, 0.42, x + half, 0.68, "grey", 1.0, rounded=0.08)


ROCK, ROCK_EDGE, GRASS, HOUSE = (150, 142, 134), (104, 98, 92), (206, 222, 180), (196, 140, 92)
RUBY, SAPPHIRE = (206, 40, 70), (40, 96, 214)
FAINT: tuple[Color, Color] = (236, 180, 186), (176, 198, 238)
MOST_SHOWN = 24  # villages with numbers


def draw_mines(canvas: Canvas, p: Any, s: Any) -> None:
    """Villages below, mines above, in their order along the road; lines to the mines that each reaches, thick to that
    where it went. Above each mine a bar per kind of gem, as high as the chance of one worker, and dark if one is found.
    """
    canvas.legend(
        (HOUSE, "village, with its workers"),
        ("orange", "first agent's"),
        (ROCK, "mine, with the workers there", "triangle"),
        (FAINT[0], "chance of a ruby"),
        (FAINT[1], "of a sapphire"),
        (RUBY, "ruby found"),
        (SAPPHIRE, "sapphire found"),
    )
    wide, tall = canvas.scene
    height = 10.0 * tall / wide
    canvas.view(0.0, 10.0, 0.0, height)
    canvas.rectangle(0.0, 0.0, 10.0, height, GRASS)
    villages, mines = s.choice.size, s.crowd.size
    step = 9.4 / mines
    size = min(0.4 * step, 0.5)
    place = [0.3 + (j + 0.5) * step for j in range(mines)]
    low, high = 0.14 * height, 0.47 * height
    for k in reversed(range(villages)):
        for choice in range(int(p.reach[k])):
            if s.choice[k] != choice:
                ends = [(place[k], low), (place[k + choice], high)]
                canvas.line(ends, "orange" if k == 0 else (186, 204, 164), 2.5 if k == 0 else 1.0)
    for k in range(villages):
        if s.choice[k] >= 0:
            width = 1.0 + float(p.workers[k]) if villages <= MOST_SHOWN else 2.0
            color: Color = "orange" if k == 0 else HOUSE
            canvas.line([(place[k], low), (place[k + int(s.choice[k])], high)], color, width)
    for k in range(villages):
        _draw_house(canvas, place[k], low, size, int(p.workers[k]), k == 0, villages <= MOST_SHOWN)
    for j in range(mines):
        _draw_mine(canvas, place[j], high, size, int(s.crowd[j]), villages <= MOST_SHOWN)
        for kind, color in enumerate((RUBY, SAPPHIRE)):
            bottom, left = high + 2.0 * size, place[j] + (kind - 1) * 1.1 * size
            top = bottom + (0.9 * height - bottom) * 2.0 * min(float(p.seam[j, kind]), 0.5)
            canvas.rectangle(left, bottom, left + 1.0 * size, top, color if s.found[j, kind] else FAINT[kind])
    canvas.text((0.2, 0.955 * height), "chance that one worker finds a gem in the mine below", "black", 13)
    canvas.text((0.2, 0.03 * height), "each village sends its workers to one of the mines that it reaches", "black", 13)
    found = f"found: {int(s.found[:, 0].sum())} rubies, {int(s.found[:, 1].sum())} sapphires"
    canvas.caption(found if (s.choice >= 0).any() else "nobody has chosen yet")


def _draw_house(canvas: Canvas, x: float, y: float, size: float, workers: int, first: bool, number: bool) -> None:
    canvas.rectangle(x - size, y - 1.6 * size, x + size, y, "orange" if first else HOUSE)
    canvas.polygon([(x - 1.2 * size, y), (x, y + size), (x + 1.2 * size, y)], ROCK_EDGE)
    if number:
        canvas.text((x, y - 0.8 * size), str(workers), "black", 12, "centre")


def _draw_mine(canvas: Canvas, x: float, y: float, size: float, crowd: int, number: bool) -> None:
    outline = [(x - 1.25 * size, y - size), (x, y + 1.5 * size), (x + 1.25 * size, y - size)]
    canvas.polygon(outline, ROCK if crowd else (196, 190, 182))
    canvas.polygon(outline, ROCK_EDGE, 1.0)
    if number and crowd:
        canvas.text((x, y - 0.3 * size), str(crowd), "white", 12, "centre")


NODE, EMPTY = (70, 76, 84), (176, 176, 170)
FAST, HALF, SLOW = (0, 158, 115), (238, 186, 40), (213, 60, 30)
MOST_LABELS, MOST_TIMES = 14, 8  # roads with their number of agents, and with their time as well


def draw_network(canvas: Canvas, p: Any, s: Any) -> None:
    """The roads, the thicker the more agents are on them, from green to red as they get slow; places with letters."""
    canvas.legend(
        (FAST, "fast road", "line"),
        (HALF, "road with half of the agents", "line"),
        (SLOW, "with all", "line"),
        ("orange", "origin", "disc"),
        ("blue", "destination", "disc"),
    )
    wide, tall = canvas.scene
    height = 10.0 * tall / wide
    canvas.view(0.0, 10.0, 0.0, height)
    canvas.rectangle(0.0, 0.0, 10.0, height, (244, 242, 234))
    agents, lines = s.route.size, p.line * (8.6, height - 1.8) + (0.7, 0.9)
    order = sorted(range(len(lines)), key=lambda i: int(s.flow[i]))
    for i in order:
        share = int(s.flow[i]) / agents
        canvas.line([lines[i, 0], lines[i, 1], lines[i, 2]], _color_of(p, i, share), 2.0 + 12.0 * share)
    for i in order:
        said = _said_of(p, i, int(s.flow[i]), agents, len(lines), bool(s.route[0] >= 0))
        if len(lines) <= MOST_LABELS:
            _draw_direction(canvas, lines[i], _color_of(p, i, int(s.flow[i]) / agents))
        if said:
            canvas.text(lines[i, 1], said, "black", 13 if len(lines) <= MOST_LABELS else 10, "centre", ground="white")
    for node in p.node * (8.6, height - 1.8) + (0.7, 0.9):
        canvas.circle(node, 0.12, NODE)
    taken: list[tuple[float, float]] = []
    for pair, places in enumerate(p.place * (8.6, height - 1.8) + (0.7, 0.9)):
        for (x, y), ground, ink in zip(places.tolist(), ("orange", "blue"), ("black", "white"), strict=True):
            x += 0.45 * sum(abs(x - there[0]) < 0.1 and abs(y - there[1]) < 0.1 for there in taken)
            taken.append((x, y))
            canvas.circle((x, y), 0.27, ground)
            canvas.text((x, y), str(pair + 1), ink, 13, "centre")
    if s.route[0] < 0:
        canvas.caption(f"{agents} agents choose their roads")
        return
    minutes, paid = s.minutes[s.route], s.paid[s.route]
    canvas.caption(f"{minutes.mean():.2f} minutes on average, toll {paid.mean():.2f}")


def _said_of(p: Any, i: int, flow: int, agents: int, roads: int, chosen: bool) -> str:
    """What is written on a road: how many are on it, and what it takes; before agents have chosen, from how long to how
    long."""
    empty = float(p.fixed[i]) * float(p.free_flow)
    most = empty + float(p.slope[i]) * float(p.congestion)
    if roads > MOST_TIMES:
        return str(flow) if flow and (roads <= MOST_LABELS or flow * 12 > agents) else ""
    if chosen:
        return f"{flow} agents, {empty + (most - empty) * flow / agents:.3g} min"
    return f"{empty:g} min" if most == empty else f"{empty:g} to {most:g} min, by traffic"


def _draw_direction(canvas: Canvas, line: Any, color: Color) -> None:
    """An arrow on the second half of a road."""
    (x0, y0), (x1, y1) = line[1].tolist(), line[2].tolist()
    start, end = ((x0 + t * (x1 - x0), y0 + t * (y1 - y0)) for t in (0.45, 0.6))
    canvas.arrow(start, end, color, 4.0)


def _color_of(p: Any, i: int, share: float) -> Color:
    """From green to red as a road gets slow; roads that take a fixed time stay green."""
    if share == 0.0:
        return EMPTY
    slow = share if p.slope[i] > 0.0 else 0.0
    ends = (FAST, HALF) if slow < 0.5 else (HALF, SLOW)
    red, green, blue = (round(a + (b - a) * (2.0 * slow % 1.0)) for a, b in zip(*ends, strict=True))
    return (red, green, blue) if slow < 1.0 else SLOW
