"""Karel in words: what it sees, and replies."""

from typing import Any

import numpy as np

from rlenvs.core.declare.errors import nearest, shortened
from rlenvs.single.karel.language import encode
from rlenvs.single.karel.pictures import grid_text
from rlenvs.single.karel.rules import ACTIONS, PERCEPTIONS, TASK, TURN_LEFT, perceives

TASKS = {
    "maze": "Find the marker.",
    "stair_climber": "Climb the stairs to the marker.",
    "four_corners": "Put one marker in each of the four corners, and none elsewhere.",
    "top_off": "Put a second marker on each one in the bottom row, then go to the end of the row.",
    "clean_house": "Pick the markers that lie about in the house.",
    "harvester": "Pick all markers.",
    "door_key": "Pick the marker in your room, which opens the door; then put one on the marker in the other room.",
    "one_stroke": "Visit all cells. Each cell that you leave becomes a wall.",
    "seeder": "Put one marker on each cell.",
    "snake": "Eat 20 markers, and do not run into your tail.",
}
GRAMMAR = """Reply with a program:
program: DEF run m( statements m)
statement: move, turnLeft, turnRight, pickMarker, putMarker, REPEAT R=n r( statements r), \
WHILE c( condition c) w( statements w), IF c( condition c) i( statements i), \
IFELSE c( condition c) i( statements i) ELSE e( statements e)
condition: frontIsClear, leftIsClear, rightIsClear, markersPresent, noMarkersPresent, not c( condition c)"""


def describe_world(p: Any, s: Any, k: int) -> str:
    """The task, the grid, what Karel perceives, and possible replies."""
    facts = ", ".join(name for j, name in enumerate(PERCEPTIONS) if perceives(s, j))
    way = ("north", "east", "south", "west")[int(s.direction)]
    program = len(s.code) > 0
    replies = f"{GRAMMAR}\nAt most {len(s.code)} tokens." if program else f"Reply with one of: {', '.join(ACTIONS)}."
    legend = "# wall, 1 and 2 markers, ^ > v < you"
    return f"{TASKS[TASK.values[int(p.task)]]}\n{grid_text(p, s)}\n{legend}\nYou face {way}. {facts}.\n{replies}"


def read_reply(text: str, p: Any, s: Any, k: int) -> Any:
    """The action, or the program, that a reply is; ValueError where it is none."""
    if len(s.code) > 0:
        return encode(text, len(s.code)) if text else np.zeros(len(s.code), np.int64)
    if not text:
        return TURN_LEFT
    name, names = text.strip().lower(), [action.lower() for action in ACTIONS]
    if name not in names:
        raise ValueError(f"{shortened(text.strip())} is no action of Karel. {nearest(text.strip(), ACTIONS)}")
    return names.index(name)
