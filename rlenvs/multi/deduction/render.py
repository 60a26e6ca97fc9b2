"""Images of the games: the rooms of the ship, the table of the village, and what players say.

A viewer sees the roles that its player knows, and of the ship its own room.
"""

import math
from typing import Any

from rlenvs.core.declare.canvas import Canvas
from rlenvs.multi.deduction.meeting import ACTING, PRESENT, TALKING, VOTING
from rlenvs.multi.deduction.ship import LIES, start_room

FLOOR, ROOM, START, WALL, PANEL = (52, 60, 72), (222, 220, 210), (202, 218, 228), (24, 28, 36), (38, 44, 54)
UNKNOWN, CREW, EVIL, SEER, DOCTOR, DEAD = (
    (246, 246, 242),
    (86, 180, 233),
    (213, 94, 0),
    (240, 228, 66),
    (0, 158, 115),
    (140, 140, 136),
)
ROLES = (CREW, EVIL, SEER, DOCTOR)
NIGHT, DAY, TABLE, VOTE = (30, 36, 60), (150, 190, 216), (150, 112, 76), (250, 250, 247)


def color_of(canvas: Canvas, s: Any, j: int) -> tuple[int, int, int]:
    """The color of a player: of its role, where the viewer may know it."""
    if canvas.viewer is None or s.over:
        return ROLES[int(s.role[j])]
    known = int(s.known[canvas.viewer, j])
    return ROLES[known - 1] if known > 0 else UNKNOWN


def draw_player(canvas: Canvas, s: Any, j: int, x: float, y: float, size: float, dead: bool) -> None:
    """A disc with the player's number, crossed out when it is dead."""
    canvas.circle((x, y), size + 2.0, WALL)
    canvas.circle((x, y), size, DEAD if dead else color_of(canvas, s, j))
    canvas.text((x, y), str(j), "black", 18 if size > 12.0 else 12, "centre")
    if dead:
        ring = color_of(canvas, s, j)
        canvas.circle((x, y), size, ring, 3.0)
        canvas.line([(x - 0.6 * size, y - 0.6 * size), (x + 0.6 * size, y + 0.6 * size)], "black", 2.0)


# --- the ship ---------------------------------------------------------------------------------------------------------


def draw_ship(canvas: Canvas, p: Any, s: Any) -> None:
    told = "walking and working" if s.phase == ACTING else "discussion" if s.phase == TALKING else "vote"
    left = sum(int(n) for k, row in enumerate(s.open) if s.living[k] for n in row)
    canvas.caption(told, f"{left} steps of work left" if canvas.viewer is None or s.over else "")
    canvas.legend((CREW, "crew", "disc"), (EVIL, "impostor", "disc"), (DEAD, "dead", "disc"), (START, "start room"))
    width, height = canvas.scene
    canvas.view(0.0, width, 0.0, height)
    canvas.rectangle(0.0, 0.0, width, height, FLOOR)
    lines = (len(s.role) + 1) // 2
    bottom = 24.0 * lines + 12.0
    draw_rooms(canvas, p, s, width, height, bottom)
    for j in range(len(s.role)):
        x, y = 8.0 + 0.5 * width * (j // lines), bottom - 20.0 - 24.0 * (j % lines)
        draw_line(canvas, s, j, ship_word(s, j), x, y)


def draw_rooms(canvas: Canvas, p: Any, s: Any, width: float, height: float, bottom: float) -> None:
    """The rooms, with all players and bodies, or with those that the viewer sees."""
    columns, rows = int(p.width), int(p.height)
    wide, tall = (width - 12.0) / columns, (height - bottom - 8.0) / rows
    viewer = canvas.viewer
    for room in range(columns * rows):
        left = 6.0 + wide * (room % columns)
        top = height - 4.0 - tall * (room // columns)
        color = START if room == start_room(p) else ROOM
        canvas.rectangle(left + 3.0, top - tall + 3.0, left + wide - 3.0, top - 3.0, color, rounded=8.0)
        canvas.text((left + 12.0, top - 14.0), str(room), WALL, 13)
        if viewer is not None and not s.over and (int(s.room[viewer]) != room or not s.living[viewer]):
            continue
        there = [j for j in range(len(s.role)) if int(s.room[j]) == room and (s.living[j] or s.body[j] == LIES)]
        size = disc_for(len(there), wide - 10.0, tall - 28.0)
        across = max(1, int((wide - 10.0) / (2.3 * size)))
        for i, j in enumerate(there):
            x = left + 8.0 + 2.3 * size * (i % across + 0.5)
            y = top - 24.0 - 2.3 * size * (i // across + 0.5)
            draw_player(canvas, s, j, x, y, size, not s.living[j])


def disc_for(count: int, wide: float, tall: float) -> float:
    """The radius of discs of which so many fit into a rectangle."""
    size = 15.0
    while size > 6.0 and int(wide / (2.3 * size)) * int(tall / (2.3 * size)) < count:
        size -= 0.5
    return size


def ship_word(s: Any, j: int) -> str:
    """What a player said in the last round, in short."""
    players, rooms, word = len(s.role), s.open.shape[1], int(s.said[j]) - 1
    if s.phase == ACTING or word < 0:
        return ""
    if word < 2 * players:
        return f"{'accuses' if word < players else 'vouches for'} {word % players}"
    place = word - 2 * players
    return f"{'was in room' if place < rooms else 'worked in room'} {place % rooms}"


def draw_line(canvas: Canvas, s: Any, j: int, word: str, x: float, y: float) -> None:
    """A player's number, and its word."""
    gone = s.fate[j] != PRESENT
    canvas.circle((x + 10.0, y), 11.0, DEAD if gone else color_of(canvas, s, j))
    canvas.text((x + 10.0, y), str(j), "black", 14, "centre")
    canvas.text((x + 28.0, y), "out of the game" if gone else word, "light" if gone else "white", 14)


# --- the village ------------------------------------------------------------------------------------------------------


def draw_village(canvas: Canvas, p: Any, s: Any) -> None:
    day = f"day {int(s.day)}"
    canvas.caption(
        f"night {int(s.day) + 1}" if s.phase == ACTING else f"{day}, {'vote' if s.phase == VOTING else 'talk'}"
    )
    canvas.legend(
        *((CREW, "villager", "disc"), (EVIL, "werewolf", "disc"), (SEER, "seer", "disc"), (DOCTOR, "doctor", "disc")),
        (DEAD, "dead", "disc"),
    )
    width, height = canvas.scene
    canvas.view(0.0, width, 0.0, height)
    canvas.rectangle(0.0, 0.0, width, height, NIGHT if s.phase == ACTING else DAY)
    middle, high = 0.5 * width, 0.5 * height
    canvas.circle((middle, high), 0.3 * height, TABLE)
    count = len(s.role)
    places = [seat(j, count, middle, high, 0.34 * height) for j in range(count)]
    if s.phase == ACTING:
        for j in range(count):
            if s.vote[j] >= 0:
                draw_vote(canvas, places[j], places[int(s.vote[j])])
    for j, (x, y) in enumerate(places):
        draw_player(canvas, s, j, x, y, 20.0, s.fate[j] != PRESENT)
        word = village_word(s, j)
        if word:
            canvas.text((min(max(x, 76.0), width - 76.0), y - 32.0), word, "black", 14, "centre", VOTE)


def seat(j: int, count: int, x: float, y: float, radius: float) -> tuple[float, float]:
    """Where a player sits."""
    angle = 0.5 * math.pi - 2.0 * math.pi * j / count
    return x + 1.18 * radius * math.cos(angle), y + radius * math.sin(angle)


def draw_vote(canvas: Canvas, start: tuple[float, float], end: tuple[float, float]) -> None:
    """An arrow from who voted to whom it voted for, as far as its disc."""
    across, up = end[0] - start[0], end[1] - start[1]
    part = 1.0 - 26.0 / max(math.hypot(across, up), 26.0)
    canvas.arrow(start, (start[0] + part * across, start[1] + part * up), VOTE, 2.0)


def village_word(s: Any, j: int) -> str:
    """What a player said in the last round, in short."""
    players, word = len(s.role), int(s.said[j]) - 1
    if s.phase == ACTING or word < 0 or s.fate[j] != PRESENT:
        return ""
    subject = word % players
    told = (f"accuses {subject}", f"vouches for {subject}", f"seer: {subject} is a wolf", f"seer: {subject} is good")
    return told[word // players]
