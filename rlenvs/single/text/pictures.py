"""Text adventures as pictures: the rooms around the player, and what is there in words."""

from __future__ import annotations

from typing import Any

from rlenvs.single.text.game import AT
from rlenvs.single.text.rule_set import HELD
from rlenvs.single.text.rules import OPEN
from rlenvs.single.text.words import name_of, named, objective, spelled

RADIUS = 2  # rooms in each direction
SIDE = 2 * RADIUS + 1
WIDE = 1.66  # of a room and its surroundings; they are 1 high
RIGHT, DOWN = (0, 0, 1, -1), (-1, 1, 0, 0)  # of north, south, east, west
FLOOR, UNSEEN, GROUND = (247, 238, 218), (222, 222, 214), (206, 212, 204)
MOST_LINES = 5


def nearby_rooms(s: Any) -> list[int]:
    """1 + the room in each cell of a square around the player, row by row; 0 where there is none. Of rooms that would
    lie in the same cell the nearest is there."""
    cells = [0] * (SIDE * SIDE)
    start = RADIUS * SIDE + RADIUS
    cells[start] = int(s.here) + 1
    queue = [start]
    placed = [int(s.here)]
    for cell in queue:
        room = cells[cell] - 1
        for d in range(4):
            there = int(s.exit[room, d]) - 1
            row, column = cell // SIDE + DOWN[d], cell % SIDE + RIGHT[d]
            if there < 0 or there in placed or row < 0 or row >= SIDE or column < 0 or column >= SIDE:
                continue
            if cells[row * SIDE + column] == 0:
                cells[row * SIDE + column] = there + 1
                placed.append(there)
                queue.append(row * SIDE + column)
    return cells


def draw_rooms(canvas: Any, p: Any, s: Any) -> None:
    """The rooms around the player, their ways and doors."""
    cells = nearby_rooms(s)
    canvas.view(0.0, WIDE * SIDE, -float(SIDE), 0.0, (0.0, 0.0, 1.0, 0.68))
    canvas.rectangle(0.0, -float(SIDE), WIDE * SIDE, 0.0, GROUND)
    for cell in range(SIDE * SIDE):
        if cells[cell] > 0:
            draw_ways(canvas, s, cells[cell] - 1, WIDE * (cell % SIDE + 0.5), -(cell // SIDE) - 0.5)
    for cell in range(SIDE * SIDE):
        if cells[cell] > 0:
            draw_room(canvas, p, s, cells[cell] - 1, WIDE * (cell % SIDE + 0.5), -(cell // SIDE) - 0.5)


def draw_ways(canvas: Any, s: Any, room: int, x: float, y: float) -> None:
    """The ways out of a room: half of the distance to its neighbours, and a bar where a door is closed."""
    for d in range(4):
        if s.exit[room, d] == 0:
            continue
        right, up = 0.5 * WIDE * RIGHT[d], -0.5 * DOWN[d]
        canvas.line([(x, y), (x + right, y + up)], FLOOR, 14.0)
        door = int(s.door[room, d]) - 1
        if door >= 0:
            color = "green" if s.bits[door] & OPEN else "red"
            wide, high = 0.07 + 0.16 * abs(DOWN[d]), 0.07 + 0.16 * abs(RIGHT[d])
            canvas.rectangle(x + right - wide, y + up - high, x + right + wide, y + up + high, color)


def draw_room(canvas: Any, p: Any, s: Any, room: int, x: float, y: float) -> None:
    """A room with its name, and a mark where the target is."""
    here = room == int(s.here)
    color = FLOOR if s.visited[room] or here else UNSEEN
    canvas.rectangle(x - 0.68, y - 0.3, x + 0.68, y + 0.3, color, rounded=0.06)
    if here:
        canvas.rectangle(x - 0.68, y - 0.3, x + 0.68, y + 0.3, "blue", 4.0, 0.06)
    if wanted_room(p, s) == room:
        canvas.circle((x, y - 0.12), 0.13, "green")
    canvas.text((x, y + 0.1), spelled(p.name[room]), "black", 13, "centre")


def wanted_room(p: Any, s: Any) -> int:
    """The room with the first thing of which a quest is open, or -1 where nothing but the player has it."""
    for row in range(len(p.fact)):
        quest = int(p.fact[row, 0])
        if s.done[quest] == 0 and p.quest_fails[quest] == 0 and p.fact[row, 1] != AT:
            thing = int(p.fact[row, 2])
            place = int(s.place[thing if thing >= 0 else int(s.target)])
            while place >= len(s.exit) and place < len(s.exit) + len(s.place):
                place = int(s.place[place - len(s.exit)])
            return place if place < len(s.exit) else -1
    return -1


def short(text: str, most: int) -> str:
    """A text, cut where it is too long for a line."""
    return text if len(text) <= most else text[: most - 3] + "..."


def draw_words(canvas: Any, p: Any, s: Any, last: str) -> None:
    """The last command, what is in the room, and what is carried."""
    here = int(s.here)
    held = [name_of(p, s, x) for x in range(len(s.place)) if s.near[x] == HELD]
    things = [named(p, s, x) for x in range(len(s.place)) if int(s.place[x]) == here and s.near[x] < 8]
    lines = [
        f"> {last}",
        f"In the {spelled(p.name[here])}: {', '.join(things) or 'nothing'}",
        f"You carry: {', '.join(held) or 'nothing'}",
        objective(p, s),
    ]
    canvas.view(0.0, 10.0, -4.4, 0.0, (0.0, 0.68, 1.0, 1.0))
    for k in range(len(lines)):
        canvas.text((-1.5, -0.6 - k), short(lines[k], 72), "blue" if k == 0 else "black", 13)
